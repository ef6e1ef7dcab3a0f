"""Rows that Spark reads from files, without a session."""

from types import SimpleNamespace

import pytest

from rdfm import Split
from rdfm.errors import DecodeError, LimitError, UnknownFormatError, UnsupportedError

pytest.importorskip("pyspark")

import rdfm
import rdfm.spark
import rdfm.spark.readers.rows as rows_module
from rdfm.spark.readers import collectors
from rdfm.spark.readers.folders import PartitionFolders
from rdfm.spark.readers.reader import LogSourceReader
from rdfm.spark.readers.rows import SparkReading
from rdfm.spark.schema import default_schema
from rdfm.spark.spark_options import Options

QUAD = '<http://ex/s> <http://ex/p> "%d" .\n'
OFFSETS = default_schema(("message_index",))
COMMENT_LOG = "".join(QUAD % n + "# @message\n" for n in range(20))
DIRECTIVE_LOG = "".join(QUAD % n + "MESSAGE\n" for n in range(20, 40))
QUOTED_TRIPLE = "<< <a:s> <a:p> <a:o> >> <a:p> <a:o> .\n# @message\n"
MODES = [
    {"mode": "FAILFAST"},
    {"mode": "FAILFAST", "ignoreCorruptFiles": "true"},
    {"mode": "DROPMALFORMED"},
    {"mode": "PERMISSIVE"},
]


def rows(path, splits, **options):
    """Returns the splits of a log and the rows read from them."""
    columns = [field for field in default_schema() if field.name == "quads"]
    reading = SparkReading.from_options(Options(options), type(default_schema())(columns))
    logs = [(str(path), split) for split in reading.splits(str(path), splits)]
    return logs, [quads for batch in reading.read(logs) for quads in batch["quads"].to_pylist()]


@pytest.mark.parametrize("options", MODES)
@pytest.mark.parametrize("error", ["", "oops\n# @message\n"])
def test_every_mode_rejects_splits_that_would_lose_messages(tmp_path, options, error):
    path = tmp_path / "log.nq"
    # The log may contain an additional error before the change of dialect.
    start = COMMENT_LOG + (error if options["mode"] != "FAILFAST" else "")
    # The start is longer than the part that planning reads. Otherwise, planning would find the
    # other dialect and not split the log.
    start += QUAD % 0 + "# @message\n" * 10_000
    path.write_text(start + 'VERSION "1.2-messages"\n' + DIRECTIVE_LOG)
    with pytest.raises(
        UnsupportedError, match=rf"^{path}: nq: .*read it in one piece; .*splitBytes., .0"
    ):
        rows(path, 30_000, **options)
    unsplit, found = rows(path, 1 << 20, **options)
    assert [split for _, split in unsplit] == [Split(first_message_index=0, format="nq")]
    assert len([quads for quads in found if quads]) == 41


def test_unsupported_messages_are_skipped_in_splits_too(tmp_path):
    path = tmp_path / "log.nq"
    path.write_text(COMMENT_LOG + QUOTED_TRIPLE + COMMENT_LOG)
    for size in (300, 1 << 20):
        logs, found = rows(path, size, mode="PERMISSIVE")
        assert (len(logs) > 1) == (size == 300)
        assert [quads is None for quads in found] == [False] * 20 + [True] + [False] * 20
        assert len(rows(path, size, mode="DROPMALFORMED")[1]) == 40
        with pytest.raises(
            UnsupportedError, match=r"\"generalized\", \"true\". accepts|reads both"
        ):
            rows(path, size)


def plan(path, **options):
    reader = LogSourceReader({"path": str(path), **options}, OFFSETS)
    return reader, reader.partitions()


def offsets(path, **options):
    reader, partitions = plan(path, **options)
    batches = [batch for partition in partitions for batch in reader.read(partition)]
    return [offset for batch in batches for offset in batch["message_index"].to_pylist()]


def test_the_files_of_a_query_are_listed_once(tmp_path, monkeypatch):
    from rdfm.spark.readers import reader

    for number in range(20):
        (tmp_path / f"k={number % 2}").mkdir(exist_ok=True)
        (tmp_path / f"k={number % 2}/{number}.nq").write_text("<a:s> <a:p> <a:o> .\n")
    calls = []
    for module, name in (
        (reader, "find_settled"),
        (PartitionFolders, "from_files"),
    ):
        original = getattr(module, name)

        def count(*arguments, _name=name, _original=original, **options):
            calls.append(_name)
            return _original(*arguments, **options)

        monkeypatch.setattr(module, name, count)
    for columns in ({}, {"columns": "byte_offset, k"}, {"recursiveFileLookup": "true"}):
        calls.clear()
        source = reader.LogSourceReader({"path": str(tmp_path), **columns})
        assert sum(len(part.value) for part in source.partitions()) == 20
        assert sorted(set(calls)) == sorted(calls)
        calls.clear()
        (tmp_path / "k=0/new.nq").write_text("<a:s> <a:p> <a:o> .\n")
        assert sum(len(part.value) for part in source.partitions()) == 21
        (tmp_path / "k=0/new.nq").unlink()
        assert sorted(set(calls)) == sorted(calls)


def test_a_file_that_ends_at_an_error_is_not_split(tmp_path):
    path = tmp_path / "a.nq"
    path.write_text(COMMENT_LOG + "oops\n# @message\n" + COMMENT_LOG)
    options = {"ignoreCorruptFiles": "true", "splitBytes": "100"}
    assert offsets(path, **options) == list(range(20))
    assert len(plan(path, **options)[1]) == 1
    assert len(plan(path, **options, mode="DROPMALFORMED")[1]) > 1


def test_skipping_the_rest_of_a_file_is_reported_in_every_mode(tmp_path, caplog):
    path = tmp_path / "a.jelly"
    path.write_bytes(rdfm.formats.jelly.encode(rdfm.MessageBatch.from_messages([[]])) + b"\x05oops")
    for mode in ("PERMISSIVE", "DROPMALFORMED"):
        caplog.clear()
        offsets(path, mode=mode)
        assert [text for text in caplog.messages if text.endswith(f"rest of {path} is skipped")]


def test_planning_opens_only_files_that_can_be_split(tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr(
        rows_module, "split_log", lambda path, *_, **__: opened.append(path) or [Split()]
    )
    for name in ("a.ttl", "b.nq", "c.nq.gz", "d", "e.jelly", "f.nq.xz"):
        (tmp_path / name).write_bytes(b"x" * 100)
    assert len(plan(tmp_path, splitBytes="10")[1]) == 6
    assert sorted(opened) == [str(tmp_path / name) for name in ("b.nq", "c.nq.gz", "d", "e.jelly")]


def test_a_stray_file_is_an_error_with_remedies(tmp_path):
    (tmp_path / "a.nq").write_text(COMMENT_LOG)
    (tmp_path / "README.md").write_text("About these files\n")
    with pytest.raises(
        UnknownFormatError, match=r"README.md has an unknown format.*pathGlobFilter.*ignoreCorrupt"
    ):
        offsets(tmp_path)
    assert offsets(tmp_path, pathGlobFilter="*.nq") == list(range(20))
    assert sorted(offsets(tmp_path, ignoreCorruptFiles="true")) == list(range(20))


def test_an_empty_file_without_a_suffix_has_no_messages(tmp_path):
    (tmp_path / "a.nq").write_text(COMMENT_LOG)
    (tmp_path / "empty").write_bytes(b"")
    assert offsets(tmp_path) == list(range(20))
    assert offsets(tmp_path, lenient="true") == list(range(20))


def test_errors_name_remedies_in_the_syntax_of_spark(tmp_path):
    path = tmp_path / "a.nq"
    path.write_text("oops\n")
    with pytest.raises(
        DecodeError, match=r'; .option."mode", "PERMISSIVE". .*"mode", "DROPMALFORMED"'
    ):
        offsets(path)
    path.write_text(COMMENT_LOG)
    with pytest.raises(LimitError, match="a larger option maxMessageBytes allows") as error:
        offsets(path, maxMessageBytes="10")
    assert "--" not in str(error.value)
    path.write_text(
        "<a:s> <a:p> <a:o> .\n" * 20
    )  # a message of short lines, which has a different error text
    with pytest.raises(
        LimitError, match=r"maxMessageBytes allows it, if the source is trusted \(line"
    ):
        offsets(path, maxMessageBytes="100")


def test_relative_paths_become_absolute_when_checked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.nq").write_text(COMMENT_LOG)
    reader, _ = plan("a.nq")
    assert reader.paths == [str(tmp_path / "a.nq")]


def test_a_source_is_registered_once_per_session(tmp_path, monkeypatch):
    calls, loaded, cores = [], [], set()

    class Session:
        # Session of a cluster, whose Python is not checked.
        sparkContext = SimpleNamespace(
            master="spark://host:7077", pythonExec="python3", defaultParallelism=7
        )

        @property
        def read(self):
            return self

        def format(self, _):
            return self

        def schema(self, _):
            return self

        def options(self, **settings):
            cores.add(settings["minPartitions"])
            return self

        def load(self, paths):
            loaded.append(paths)

    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.nq").write_text(COMMENT_LOG)
    monkeypatch.setattr(rdfm.spark, "register", calls.append)
    first, second = Session(), Session()
    for session in (first, first, second):
        rdfm.spark.read(session, "a.nq")
    assert calls == [first, second]
    assert loaded == [[str(tmp_path / "a.nq")]] * 3
    assert cores == {"7"}


@pytest.mark.parametrize("query", [None, "SELECT ?o { ?s ?p ?o }", "CONSTRUCT WHERE { ?s ?p ?o }"])
def test_record_batches_are_limited_and_keep_the_order(tmp_path, monkeypatch, query):
    monkeypatch.setattr(collectors, "BATCH_ROWS", 7)
    path = tmp_path / "log.nq"
    path.write_text((COMMENT_LOG + "oops\n# @message\n") * 3)
    options = {"mode": "PERMISSIVE", "columns": "message_index,_corrupt_record"}
    reading = SparkReading.from_options(Options({**options, **({"query": query} if query else {})}))

    def batches():
        return list(reading.read([(str(path), None)]))

    rows = [row for batch in batches() for row in batch.to_pylist()]
    assert [row["message_index"] for row in rows] == list(range(63))
    assert [n for n, row in enumerate(rows) if row["_corrupt_record"]] == [20, 41, 62]
    assert max(batch.num_rows for batch in batches()) <= (20 if query else 7)
    monkeypatch.setattr(collectors, "BATCH_ROWS", 100)
    assert len(batches()) == 1
    monkeypatch.setattr(collectors, "BATCH_BYTES", 300)
    assert max(batch.nbytes for batch in batches()) < 700
