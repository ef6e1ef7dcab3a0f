"""Parquet and Arrow IPC: logs as tables that other programs read and write."""

import contextlib
import gzip
import io
import random
import struct
import threading

import pyarrow as pa
import pytest
from pyarrow import ipc, parquet
from support import TABLES

import rdfm
from rdfm import DecodeError, Iri, LimitError, Literal, Message, Quad, TruncatedError, formats
from rdfm.formats.rows import RowDecoder

S, P = Iri("http://e/s"), Iri("http://e/p")
ROW = {"subject": "<http://e/s>", "predicate": "<http://e/p>", "object": '"x"@en', "graph": None}


QUAD = pa.struct([(name, pa.string()) for name in ROW])


def quads(*values):
    return [Quad(S, P, Literal(value)) for value in values]


def table(path):
    """Reads a file with pyarrow."""
    if path.suffix == ".parquet":
        return parquet.read_table(path)
    data = path.read_bytes()
    return (ipc.open_stream if path.suffix == ".arrows" else ipc.open_file)(data).read_all()


def save(path, rows):
    """Writes a file with pyarrow."""
    if path.suffix == ".parquet":
        parquet.write_table(rows, path, row_group_size=2)
        return
    new_writer = ipc.new_stream if path.suffix == ".arrows" else ipc.new_file
    with new_writer(str(path), rows.schema) as writer:
        writer.write_table(rows, max_chunksize=2)


def read(source, *format, into=None, **options):
    """Returns the messages of a log. On an error, `into` contains the earlier messages."""
    found = [] if into is None else into
    with rdfm.open_log(source, *format, **options) as log:
        found.extend(log)
    return found


EACH_SUFFIX = pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".feather", ".arrows"])


@EACH_SUFFIX
def test_pyarrow_reads_the_output(tmp_path, suffix):
    path = tmp_path / f"log{suffix}"
    with rdfm.create_log(path) as log:
        log.write(Message(quads("a", "b"), metadata={"k": b"v"}))
        log.write([])
    rows = table(path).to_pylist()
    assert [row["message_index"] for row in rows] == [0, 1]
    assert [quad["object"] for quad in rows[0]["quads"]] == ['"a"', '"b"']
    assert rows[0]["metadata"] == [("k", b"v")]
    assert rows[1]["quads"] == []
    assert "namespaces" not in rows[0]


@EACH_SUFFIX
def test_files_written_by_pyarrow_are_read(tmp_path, suffix):
    path = tmp_path / f"log{suffix}"
    save(path, pa.table({"other": range(5), "quads": [[ROW], [], None, [ROW, ROW], [ROW]]}))
    with rdfm.open_log(path) as log:
        assert [len(message) for message in log] == [1, 0, 0, 2, 1]
    with rdfm.open_log(path) as log:
        assert [message.message_index for message in log] == list(range(5))


@EACH_SUFFIX
def test_tables_without_messages_are_rejected(tmp_path, suffix):
    path = tmp_path / f"log{suffix}"
    for columns in ({"a": [1], "b": ["x"]}, {"a": [1], "b": ["x"], "quads": ["text"]}):
        save(path, pa.table(columns))
        with pytest.raises(DecodeError, match=r"expected a column quads.*found a int64, b string"):
            read(path)


@EACH_SUFFIX
def test_rows_before_an_error_are_returned(tmp_path, suffix):
    path = tmp_path / f"log{suffix}"
    save(path, pa.table({"quads": [[ROW], [ROW], [{**ROW, "object": "oops"}], [ROW]]}))
    found = []
    with pytest.raises(DecodeError, match=r"quad 0, object: .*message 2") as raised:
        read(path, into=found)
    assert len(found) == 2
    assert raised.value.format == formats.by_path(str(path)).name


@EACH_SUFFIX
def test_a_null_quad_is_an_error(tmp_path, suffix):
    path = tmp_path / f"log{suffix}"
    save(path, pa.table({"quads": [[ROW], [ROW, None], [ROW]]}))
    found = []
    with pytest.raises(DecodeError, match=r"quad 1 is null \(message 1\)"):
        read(path, into=found)
    assert len(found) == 1


@pytest.mark.parametrize("name", ["metadata", "namespaces"])
def test_maps_written_by_pandas_are_rejected(tmp_path, name):
    path = tmp_path / "log.parquet"
    save(path, pa.table({"quads": [[ROW]], name: [[["ex", "http://e/"]]]}))
    with pytest.raises(DecodeError, match=rf"column {name}: expected a map of .*omit the column"):
        read(path)


@pytest.mark.parametrize("offsets", [(0, 1, 2_000_000_000), (0, 1, -1), (0, -2, 2)])
def test_offsets_outside_an_arrow_log_are_an_error(offsets):
    sink = io.BytesIO()
    rows = pa.table({"quads": [[ROW], [ROW]]})
    with ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows)
    data = sink.getvalue()
    valid_offsets = struct.pack("<3i", 0, 1, 2)
    assert data.count(valid_offsets) == 1
    with pytest.raises(DecodeError, match=r"the file is corrupt: .*[oO]ffset"):
        read(data.replace(valid_offsets, struct.pack("<3i", *offsets)), "arrow")


@pytest.mark.slow
@EACH_SUFFIX
def test_random_bytes_in_a_table_cause_only_decode_errors(tmp_path, suffix):
    path = tmp_path / f"log{suffix}"
    save(path, pa.table({"quads": [[ROW], [ROW] * 3, []], "metadata": [[("k", b"v")], [], None]}))
    data = path.read_bytes()
    generator = random.Random(5)
    patterns = [b"\xff" * 4, b"\xff\xff\xff\x7f", bytes(4), b"\x80", b"\x01"]
    for _ in range(300):
        pattern, at = generator.choice(patterns), generator.randrange(len(data) - 4)
        path.write_bytes(data[:at] + pattern + data[at + len(pattern) :])
        with contextlib.suppress(DecodeError):
            read(path)


@EACH_SUFFIX
def test_a_duplicate_column_is_an_error(tmp_path, suffix):
    path = tmp_path / f"log{suffix}"
    column = pa.array([[ROW]])
    save(path, pa.Table.from_arrays([column, column], names=["quads", "quads"]))
    with pytest.raises(DecodeError, match="the column quads occurs twice"):
        read(path)


@pytest.mark.parametrize("data", [b"abc", b"Hello, this is text.", b"FEA1" + bytes(40)])
def test_data_other_than_a_table_is_an_error(data):
    with pytest.raises(DecodeError, match="expected an Arrow file or stream, found"):
        read(data, "arrow")
    with pytest.raises(DecodeError, match="expected a Parquet file, found"):
        read(data, "parquet")


@EACH_SUFFIX
def test_a_row_above_the_limit_is_an_error(tmp_path, suffix):
    path = tmp_path / f"log{suffix}"
    save(path, pa.table({"quads": [[ROW], [ROW] * 1000, [ROW]]}))
    found = []
    with pytest.raises(LimitError, match="a larger max_message_bytes allows it"):
        read(path, into=found, max_message_bytes=10_000)
    assert len(found) == 1


@EACH_SUFFIX
@pytest.mark.parametrize("missing", [1, 7, 8, 9, 100])
def test_a_truncated_file_is_an_error(tmp_path, suffix, missing):
    path = tmp_path / f"log{suffix}"
    save(path, pa.table({"quads": [[ROW], [ROW], [ROW]]}))
    path.write_bytes(path.read_bytes()[:-missing])
    with pytest.raises(DecodeError, match=r"truncated|broken"):
        read(path)


@pytest.mark.parametrize("suffix", [".arrow", ".arrows"])
def test_rows_of_a_truncated_arrow_log_are_returned(tmp_path, suffix):
    path = tmp_path / f"log{suffix}"
    save(path, pa.table({"quads": [[ROW], [ROW], [ROW]]}))
    data = path.read_bytes()
    path.write_bytes(data[:-8] if suffix == ".arrows" else data[: data.rindex(b"\xff\xff\xff\xff")])
    found = []
    with pytest.raises(TruncatedError):
        read(path, into=found)
    assert len(found) == 3


@EACH_SUFFIX
@pytest.mark.parametrize("codec", [None, "lz4", "zstd"])
def test_files_are_read_in_the_calling_thread(suffix, codec):
    """A pyarrow thread that still has references to Python objects at exit aborts the process."""
    rows, file = pa.table({"quads": [[ROW], [ROW], [ROW]]}), io.BytesIO()
    if suffix == ".parquet":
        parquet.write_table(rows, file, compression=codec or "none")
    else:
        new_writer = ipc.new_stream if suffix == ".arrows" else ipc.new_file
        with new_writer(
            file, rows.schema, options=ipc.IpcWriteOptions(compression=codec)
        ) as writer:
            writer.write_table(rows)
    threads = set()

    class RecordingFile(io.BytesIO):
        def read(self, *size):
            threads.add(threading.get_native_id())
            return super().read(*size)

    decoder = formats.by_path(f"log{suffix}").decoder({})
    decoder.feed_file(RecordingFile(file.getvalue()))
    decoder.finish()
    assert len(decoder.next_batch()) == 3
    assert threads == {threading.get_native_id()}


@pytest.mark.parametrize("name", TABLES)
def test_namespaces_have_a_column_if_the_first_message_has_namespaces(name, tmp_path):
    path = tmp_path / "log"
    with_namespace = Message(quads("a"), namespaces={"e": "http://e/"})
    with rdfm.create_log(path, name) as log:
        log.write(with_namespace)
    with rdfm.open_log(path, name) as log:
        assert [message.namespaces for message in log] == [{"e": "http://e/"}]
    with rdfm.create_log(path, name) as log:
        log.write(quads("a"))
        log.write(with_namespace)
        log.close()
        assert log.dropped == {"namespaces": 1}
    with rdfm.create_log(path, name, namespaces=True) as log:
        log.write(quads("a"))
        log.write(with_namespace)
    with rdfm.open_log(path, name) as log:
        assert [message.namespaces for message in log] == [{}, {"e": "http://e/"}]


@EACH_SUFFIX
def test_conversions_keep_the_source_of_messages(tmp_path, suffix):
    sources = [tmp_path / "a.nq", tmp_path / "b.nq"]
    for source in sources:
        source.write_text("<a:s> <a:p> <a:o> .\n# @message\n<a:s> <a:p> <a:o> .\n")
    path = tmp_path / f"log{suffix}"
    rdfm.convert(sources, path)
    found = [(row["source"], row["message_index"]) for row in table(path).to_pylist()]
    assert found == [(str(source), index) for source in sources for index in (0, 1)]


@EACH_SUFFIX
def test_pieces_files_and_pipes_yield_the_same_messages(tmp_path, suffix):
    path = tmp_path / f"log{suffix}"
    with rdfm.create_log(path) as log:
        for number in range(3000):
            log.write(quads(str(number)))

    class Pipe(io.RawIOBase):
        def __init__(self, data):
            self.data = io.BytesIO(data)

        def readable(self):
            return True

        def readinto(self, target):
            return self.data.readinto(memoryview(target)[:1000])

    expected = [message.quads for message in read(path)]
    assert len(expected) == 3000
    name = formats.by_path(str(path)).name
    assert [message.quads for message in read(Pipe(path.read_bytes()))] == expected
    assert [message.quads for message in read(path.read_bytes(), name)] == expected
    from_file = io.BytesIO()
    rdfm.convert(path, from_file, to="nq")
    from_pipe = io.BytesIO()
    rdfm.convert(Pipe(path.read_bytes()), from_pipe, to="nq", from_format=name)
    assert from_file.getvalue() == from_pipe.getvalue()


@pytest.mark.parametrize("name", TABLES)
def test_the_error_for_a_missing_pyarrow_names_the_extra(name, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    for codec in (formats.find(name).Decoder, formats.find(name).Encoder):
        with pytest.raises(rdfm.MissingExtraError, match=r"pip install 'rdfm\[arrow\]'"):
            codec()


@EACH_SUFFIX
def test_a_log_truncated_anywhere_is_an_error(tmp_path, suffix):
    path = tmp_path / f"log{suffix}"
    save(path, pa.table({"quads": [[ROW], [ROW]]}))
    data = path.read_bytes()
    name = formats.by_path(str(path)).name
    for end in range(1, len(data), 7):
        with pytest.raises(DecodeError):
            formats.find(name).decode(data[:end])


@pytest.mark.parametrize("name", TABLES)
def test_large_strings_and_lists_are_read(name, tmp_path):
    quads_type = pa.large_list(pa.struct([(part, pa.large_string()) for part in ROW]))
    rows = pa.table(
        {
            "quads": pa.array([[ROW], []], quads_type),
            "metadata": pa.array([None, [("k", b"v")]], pa.map_(pa.string(), pa.binary())),
        }
    )
    path = tmp_path / f"log.{name}"
    save(path, rows)
    with rdfm.open_log(path) as log:
        assert [message.metadata for message in log] == [{}, {"k": b"v"}]


@pytest.mark.slow
def test_large_parquet_rows_are_read_in_smaller_batches(tmp_path, monkeypatch):
    path = tmp_path / "log.parquet"
    rows_written = [[{**ROW, "object": f'"{at}{"x" * (4 << 20)}"'}] for at in range(20)]
    parquet.write_table(pa.table({"quads": rows_written}), path, use_dictionary=False)
    batch_sizes = []
    original = RowDecoder.record_batches

    def record(self):
        for rows in original(self):
            batch_sizes.append(rows.num_rows)
            yield rows

    monkeypatch.setattr(RowDecoder, "record_batches", record)
    assert len(read(path)) == 20
    assert max(batch_sizes) < 10


@EACH_SUFFIX
def test_short_reads_are_continued(suffix, tmp_path):
    """One read of a file returns at most 2 GiB."""
    path = tmp_path / f"log{suffix}"
    save(path, pa.table({"quads": [[ROW], [ROW] * 1000, []]}))

    class ShortReads(io.FileIO):
        def read(self, size=-1):
            return super().read(min(size, 100) if size >= 0 else 100)

    decoder = formats.by_path(str(path)).decoder({})
    with ShortReads(path) as file:
        decoder.feed_file(file)
        decoder.finish()
        assert sum(len(batch) for batch in iter(decoder.next_batch, None)) == 3


@EACH_SUFFIX
def test_a_spooled_table_above_the_limit_is_an_error(tmp_path, suffix):
    path = tmp_path / f"log{suffix}.gz"
    save(tmp_path / f"log{suffix}", pa.table({"quads": [[ROW], [ROW]]}))
    data = (tmp_path / f"log{suffix}").read_bytes()
    path.write_bytes(gzip.compress(data + bytes(64 << 20)))
    with pytest.raises(LimitError, match="a larger max_spool_bytes allows it"):
        read(path, max_spool_bytes=len(data))
    path.write_bytes(gzip.compress(data))
    assert len(read(path, max_spool_bytes=len(data))) == 2
    assert len(read(tmp_path / f"log{suffix}", max_spool_bytes=1)) == 2


@pytest.mark.parametrize("suffix", [".arrow", ".arrows"])
def test_false_arrow_metadata_does_not_end_a_validation(tmp_path, suffix):
    """False sizes and offsets at any place."""
    good, bad = tmp_path / f"b{suffix}", tmp_path / f"a{suffix}"
    save(good, pa.table({"quads": [[ROW], [ROW]]}))
    data = good.read_bytes()
    for number in (-1, -(2**63), 2**62, 2**31 - 1):
        for at in range(0, len(data) - 8, 8):
            bad.write_bytes(data[:at] + struct.pack("<q", number) + data[at + 8 :])
            checked = rdfm.validate([bad, good])
            assert all(found.source == str(bad) for found in checked), at
            assert checked.logs == 2


@EACH_SUFFIX
@pytest.mark.parametrize("counts", [(1, 1), (5, 2), (2, 5), (0, 3), (3, 0), (300, 1)])
def test_joined_files_are_an_error(tmp_path, suffix, counts):
    """The footer of the last file leads to the rows of the first file."""
    path, joined = tmp_path / f"log{suffix}", b""
    for number, count in enumerate(counts):
        rows = [[{**ROW, "object": f'"{number} {row}"'}] for row in range(count)]
        save(path, pa.table({"quads": pa.array(rows, pa.list_(QUAD))}))
        joined += path.read_bytes()
    for name, data in ((f"c{suffix}", joined), (f"c{suffix}.gz", gzip.compress(joined))):
        (tmp_path / name).write_bytes(data)
        found = []
        with pytest.raises(DecodeError, match=r"joined|after the end-of-stream marker"):
            read(tmp_path / name, into=found)
        assert all(next(iter(message)).object.value.startswith("0 ") for message in found)
