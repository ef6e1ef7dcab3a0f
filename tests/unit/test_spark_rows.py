"""How Spark's rows are made of files, without a session."""

import pytest

from rdfm.errors import UnsupportedError
from rdfm.split import Split

pytest.importorskip("pyspark")

from rdfm.spark.options import Options
from rdfm.spark.rows import Reading
from rdfm.spark.schema import default_schema

QUAD = '<http://ex/s> <http://ex/p> "%d" .\n'
COMMENTS = "".join(QUAD % n + "# @message\n" for n in range(20))
DIRECTIVES = "".join(QUAD % n + "MESSAGE\n" for n in range(20, 40))
STAR = "<< <a:s> <a:p> <a:o> >> <a:p> <a:o> .\n# @message\n"
MODES = [
    {"mode": "FAILFAST"},
    {"mode": "FAILFAST", "ignoreCorruptFiles": "true"},
    {"mode": "DROPMALFORMED"},
    {"mode": "PERMISSIVE"},
]


def rows(path, splits, **options):
    """How many rows are made of a log in splits, or in one."""
    columns = [field for field in default_schema() if field.name == "quads"]
    reading = Reading.of(Options(options), type(default_schema())(columns))
    logs = [(str(path), split) for split in reading.splits(str(path), splits)]
    return logs, [quads for batch in reading.read(logs) for quads in batch["quads"].to_pylist()]


@pytest.mark.parametrize("options", MODES)
@pytest.mark.parametrize("broken", ["", "oops\n# @message\n"])
def test_no_mode_goes_over_splits_that_would_lose_messages(tmp_path, options, broken):
    path = tmp_path / "log.nq"
    # The fault before may be that of the message skipped, or one of its own.
    head = COMMENTS + (broken if options["mode"] != "FAILFAST" else "")
    path.write_text(head + 'VERSION "1.2-messages"\n' + DIRECTIVES)
    with pytest.raises(UnsupportedError, match=rf"^{path}: nq: .*read it whole \(splitBytes=0\)"):
        rows(path, 300, **options)
    whole, found = rows(path, 1 << 20, **options)
    assert [split for _, split in whole] == [Split(first_index=0, format="nq")]
    assert len([quads for quads in found if quads is not None]) == 40


def test_a_message_that_is_not_supported_is_skipped_in_splits_too(tmp_path):
    path = tmp_path / "log.nq"
    path.write_text(COMMENTS + STAR + COMMENTS)
    for size in (300, 1 << 20):
        logs, found = rows(path, size, mode="PERMISSIVE")
        assert (len(logs) > 1) == (size == 300)
        assert [quads is None for quads in found] == [False] * 20 + [True] + [False] * 20
        assert len(rows(path, size, mode="DROPMALFORMED")[1]) == 40
        with pytest.raises(UnsupportedError, match=r"generalized=True \S+ accepts|reads both"):
            rows(path, size)
