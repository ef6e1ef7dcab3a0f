"""The columns `source` and `byte_offset` identify a message regardless of how the log is read."""

import gzip
import tarfile

import pytest
from members import cut, join

import rdfm
from rdfm import formats
from rdfm.spark.readers.reader import LogSourceReader

LINE = '<http://e/s> <http://e/p> "{}" .\n'
# Some messages are empty, and some lines have several bytes per character.
MESSAGES = [LINE.format("é" * (n % 5)) * ((n + 1) % 3) for n in range(200)]
TEXT = "# @message\n".join(MESSAGES)
FORMATS = [
    each
    for each in formats.all()
    if each.spec.kinds[0] == "messages" and each.spec.carries["boundaries"]
]


def rows(path, **options):
    reader = LogSourceReader(
        {"path": str(path), "columns": "source, byte_offset, message_index", **options}
    )
    tasks = reader.partitions()
    found = [row for task in tasks for batch in reader.read(task) for row in batch.to_pylist()]
    return found, len(tasks)


def positions(path, **options):
    return [row["byte_offset"] for row in rows(path, **options)[0]]


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.nq"
    path.write_text(TEXT)
    return path


@pytest.mark.parametrize("format", FORMATS, ids=lambda each: each.name)
def test_positions_identify_and_order_the_messages_of_a_file(log, tmp_path, format):
    path = tmp_path / f"other{format.spec.suffixes[0]}"
    rdfm.convert(log, path, to=format.name)
    # Rows of tables have no bytes of their own.
    key = "message_index" if format.name in ("parquet", "arrow") else "byte_offset"
    found = [row[key] for row in rows(path, format=format.name)[0]]
    assert len(found) > 100
    assert found == sorted(set(found))


def test_positions_are_byte_offsets_in_the_file_even_in_splits(log):
    expected, at = [], 0
    for message in MESSAGES:
        expected.append(at)
        at += len(message.encode()) + len("# @message\n")
    unsplit, unsplit_tasks = rows(log, splitBytes="0")
    split, split_tasks = rows(log, splitBytes="1000")
    assert (unsplit_tasks, split_tasks > 3) == (1, True)
    assert split == unsplit
    assert [row["byte_offset"] for row in unsplit] == expected
    # Positions do not require messages to be counted.
    reader = LogSourceReader({"path": str(log), "splitBytes": "1000"})
    assert "message_index" not in reader.schema.names
    assert {task.value[0][1].first_message_index for task in reader.partitions()} == {0, None}


def test_marked_jelly_has_the_same_positions_in_splits(log, tmp_path):
    path = tmp_path / "log.jelly"
    rdfm.convert(log, path, restart_bytes=512)
    split, split_tasks = rows(path, splitBytes="1024")
    assert split_tasks > 1
    assert split == rows(path, splitBytes="0")[0]


@pytest.mark.parametrize(
    ("compression", "kind"), [("gzip", "rdfm"), ("gzip", "bgzf"), ("zstd", "rdfm")]
)
def test_compressed_logs_have_the_same_positions_in_splits(log, tmp_path, compression, kind):
    path = tmp_path / f"packed.nq.{'gz' if compression == 'gzip' else 'zst'}"
    path.write_bytes(join(compression, [kind], cut(log.read_bytes(), 700)))
    unsplit, unsplit_tasks = rows(path, splitBytes="0")
    split, split_tasks = rows(path, splitBytes="500")
    assert (unsplit_tasks, split_tasks > 2) == (1, True)
    assert split == unsplit
    assert [row["byte_offset"] for row in split] == positions(log)


def test_positions_in_a_compressed_file_refer_to_its_content(log, tmp_path):
    path = tmp_path / "log.nq.gz"
    middle = TEXT.index("# @message\n", len(TEXT) // 2)
    # A file with two gzip members.
    path.write_bytes(gzip.compress(TEXT[:middle].encode()) + gzip.compress(TEXT[middle:].encode()))
    assert positions(path) == positions(log)


def test_positions_in_an_archive_restart_in_each_member(log, tmp_path):
    archive = tmp_path / "logs.tar"
    with tarfile.open(archive, "w") as tar:
        for name in ("one.nq", "two.nq"):
            tar.add(log, name)
    found, _ = rows(archive)
    for name in ("one.nq", "two.nq"):
        source = f"{archive}!{name}"
        member = [row["byte_offset"] for row in found if row["source"] == source]
        assert member == positions(log)
    assert len(found) == 2 * len(MESSAGES)


def test_an_invalid_message_has_the_position_of_its_error(tmp_path):
    path = tmp_path / "a.nq"
    path.write_text(f"{LINE.format(1)}# @message\noops\n# @message\n{LINE.format(2)}")
    found = positions(path, mode="PERMISSIVE")
    assert found == [0, path.read_text().index("oops"), path.read_text().rindex("<http://e/s>")]
