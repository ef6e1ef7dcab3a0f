"""Small files that expand to large data are read in pieces or rejected, in bounded memory."""

import gzip
import struct

import pytest
from archives import tar
from measured import measured

MAX_RESIDENT_BYTES = 150_000_000
LINE = b"<http://e/s> <http://e/p> <http://e/o> .\n# @message\n"


def repeated(name, line, count):
    """Returns `line` repeated `count` times and compressed, without storing the expanded text."""
    from rdfm.storage.compression import compressor

    encoder, block = compressor(name), line * 10_000
    return b"".join([*(encoder.compress(block) for _ in range(count // 10_000)), encoder.flush()])


@pytest.mark.parametrize(("name", "suffix"), [("zstd", "zst"), ("gzip", "gz")])
def test_compressed_members_of_archives_are_decompressed_in_pieces(tmp_path, name, suffix):
    pytest.importorskip("backports.zstd" if name == "zstd" else "zlib")
    member = repeated(name, LINE, 3_500_000)
    assert len(member) < 1 << 20  # read as one piece of the archive
    path = tmp_path / "bomb.tar"
    path.write_bytes(tar((f"log.nq.{suffix}", member)))
    code, resident, errors, _ = measured("validate", path, "--quiet")
    assert (code, errors) == (0, "")
    assert resident < MAX_RESIDENT_BYTES, resident


def test_archive_members_with_expanding_prefixes_are_decoded_in_batches(tmp_path):
    messages = "".join(f"p:{number} p:b p:c .\n# @message\n" for number in range(10_000))
    log = f"@prefix p: <http://e/{'A' * 100_000}> .\n{messages}".encode()
    path = tmp_path / "bomb.tar"
    path.write_bytes(tar(("log.trig", log)))
    code, resident, errors, _ = measured("validate", path, "--quiet")
    assert (code, errors) == (0, "")
    assert resident < MAX_RESIDENT_BYTES, resident


def repeated_value(text, count):
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(pa.array(bytes(count), pa.int8()), pa.array([text]))


def quads_of(count, objects):
    import pyarrow as pa

    terms = [repeated_value("<a:s>", count), repeated_value("<a:p>", count), objects]
    return pa.StructArray.from_arrays(terms, ["subject", "predicate", "object"])


def list_table(quads, list_size):
    import pyarrow as pa

    offsets = pa.array(range(0, len(quads) + 1, list_size), pa.int32())
    return pa.table({"quads": pa.ListArray.from_arrays(offsets, quads)})


def pages_with_one_large_string():
    import pyarrow as pa

    large = repeated_value(f'"{"x" * (8 << 20)}"', 200)
    return pa.table(
        {"message_index": range(200), "subject": large, "predicate": large, "object": large}
    )


def lists_of_one_large_string():
    return list_table(quads_of(1000, repeated_value(f'"{"x" * (1 << 20)}"', 1000)), 100)


def a_list_of_50_million_quads():
    count = 50_000_000
    return list_table(quads_of(count, repeated_value("<a:o>", count)), count)


def one_huge_string():
    import pyarrow as pa

    quads = {"message_index": [0], "subject": ["<a:s>"], "predicate": ["<a:p>"]}
    return pa.table({**quads, "object": [f'"{"x" * (700 << 20)}"']})


@pytest.mark.parametrize(
    ("create", "dictionary"),
    [
        (pages_with_one_large_string, True),
        (lists_of_one_large_string, True),
        (a_list_of_50_million_quads, True),
        (one_huge_string, False),
    ],
)
def test_parquet_is_measured_before_it_is_expanded(tmp_path, create, dictionary):
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "bomb.parquet"
    parquet.write_table(
        create(),
        path,
        compression="zstd",
        use_dictionary=dictionary,
        dictionary_pagesize_limit=64 << 20,
        store_schema=False,
        write_statistics=False,
    )
    assert path.stat().st_size < 100_000
    code, resident, errors, _ = measured("inspect", path)
    assert code in (0, 1), errors
    assert resident < 500_000_000, resident


def a_large_string(path):
    import pyarrow as pa

    large = pa.array([f'"{"x" * (700 << 20)}"'])
    terms = {"message_index": [0], "subject": ["<a:s>"], "predicate": ["<a:p>"], "object": large}
    save_arrow(path, pa.table(terms))


def save_arrow(path, table):
    from pyarrow import ipc

    options = ipc.IpcWriteOptions(compression="zstd")
    new_writer = ipc.new_stream if path.suffix == ".arrows" else ipc.new_file
    with new_writer(path, table.schema, options=options) as writer:
        writer.write_table(table)


def a_large_dictionary(path):
    import pyarrow as pa

    large = pa.DictionaryArray.from_arrays(pa.array([0]), pa.array([f'"{"x" * (700 << 20)}"']))
    terms = {"message_index": [0], "subject": ["<a:s>"], "predicate": ["<a:p>"], "object": large}
    save_arrow(path, pa.table(terms))


def indices_of_one_large_string(path):
    large = repeated_value(f'"{"x" * (8 << 20)}"', 200)
    save_arrow(path, list_table(quads_of(200, large), 1))


def runs_of_one_string(path):
    import pyarrow as pa

    count = 2_000_000_000
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([count], pa.int32()), pa.array(["<a:s>"]))
    quads = pa.StructArray.from_arrays([runs] * 3, ["subject", "predicate", "object"])
    offsets = pa.array([0, count], pa.int32())
    save_arrow(path, pa.table({"quads": pa.ListArray.from_arrays(offsets, quads)}))


def nulls(path):
    import pyarrow as pa

    count = 2_000_000_000
    quads = pa.StructArray.from_arrays([pa.nulls(count)] * 3, ["subject", "predicate", "object"])
    offsets = pa.array([0, count], pa.int32())
    save_arrow(path, pa.table({"quads": pa.ListArray.from_arrays(offsets, quads)}))


def views_of_the_same_items(path):
    import pyarrow as pa

    items = quads_of(100_000, repeated_value("<a:o>", 100_000))
    rows = 200
    sizes = pa.array([100_000] * rows, pa.int32())
    views = pa.ListViewArray.from_arrays(pa.array([0] * rows, pa.int32()), sizes, items)
    save_arrow(path, pa.table({"quads": views}))


@pytest.mark.parametrize("suffix", ["arrow", "arrows"])
@pytest.mark.parametrize(
    "create",
    [
        a_large_string,
        a_large_dictionary,
        indices_of_one_large_string,
        runs_of_one_string,
        nulls,
        views_of_the_same_items,
    ],
)
def test_arrow_is_measured_before_it_is_expanded(tmp_path, create, suffix):
    pytest.importorskip("pyarrow")
    path = tmp_path / f"bomb.{suffix}"
    create(path)
    assert path.stat().st_size < 200_000
    code, resident, errors, _ = measured("convert", path, "/dev/null", "--to", "nq")
    assert code in (0, 1), errors
    assert "bug" not in errors
    assert resident < 500_000_000, resident


def thrift_list(count, item, kind=12):
    """Returns a list in Thrift's compact protocol."""
    size, digits = b"", count
    while digits > 127:
        size, digits = size + bytes([digits & 127 | 128]), digits >> 7
    return bytes([0xF0 | kind]) + size + bytes([digits]) + item * count


GROUP = b"\x16\0\x16\0\0"  # the sizes of a row group, and its end
COLUMN = b"\x15\2\x25\2\x18\1a\0"  # of the schema
FOOTERS = {
    "row groups": (thrift_list(1, COLUMN), thrift_list(4_000_000, b"\0")),
    "columns": (
        thrift_list(1, COLUMN),
        thrift_list(1, b"\x19" + thrift_list(990_000, b"\x26\0\0") + GROUP),
    ),
    "schema": (thrift_list(990_000, COLUMN), thrift_list(0, b"")),
    "large footer": (thrift_list(3_000_000, COLUMN), thrift_list(0, b"")),
}


@pytest.mark.parametrize("name", FOOTERS)
def test_parquet_footers_are_checked_before_they_are_expanded(tmp_path, name):
    pytest.importorskip("pyarrow")
    schema, groups = FOOTERS[name]
    footer = b"\x15\2\x19" + schema + b"\x16\0\x19" + groups + b"\0"
    path = tmp_path / "bomb.parquet"
    path.write_bytes(b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    code, resident, errors, _ = measured("convert", path, "/dev/null", "--to", "nq")
    assert code == 1, errors
    assert "footer" in errors
    assert resident < 300_000_000, resident


def schema_with_one_field(count, name):
    """Returns an Arrow stream whose schema contains the same field `count` times."""
    end = 48 + 4 * count  # of the vector of fields
    message = struct.pack("<I6HiHBxI", 16, 12, 12, 4, 6, 8, 0, 12, 4, 1, 36 - 24)
    schema = struct.pack("<4HiI", 8, 8, 0, 4, 8, 4)
    fields = struct.pack(f"<I{count}I", count, *(end + 16 - at for at in range(48, end, 4)))
    field = struct.pack("<8HiIBxxxII", 16, 20, 4, 0, 8, 12, 0, 16, 16, 28, 5, 12, 12)
    type_and_children = struct.pack("<2HiI", 4, 4, 4, 0)
    data = message + schema + fields + field + type_and_children
    data += struct.pack("<I", len(name)) + name
    data += bytes(8 - len(data) % 8)
    return b"\xff" * 4 + len(data).to_bytes(4, "little") + data + b"\xff" * 4 + bytes(4)


def test_the_schema_in_a_small_arrow_file_is_small():
    ipc = pytest.importorskip("pyarrow.ipc")
    with ipc.open_stream(schema_with_one_field(3, b"quads")) as rows:
        assert rows.schema.names == ["quads"] * 3


@pytest.mark.parametrize(("count", "length"), [(2_000_000, 1), (2_000, 1 << 20)])
def test_arrow_schemas_are_checked_before_they_are_expanded(tmp_path, count, length):
    pytest.importorskip("pyarrow")
    path = tmp_path / "bomb.arrows"
    path.write_bytes(schema_with_one_field(count, b"x" * length))
    code, resident, errors, _ = measured("convert", path, "/dev/null", "--to", "nq")
    assert (code, "the schema" in errors) == (1, True), errors
    assert resident < 300_000_000, resident


def test_uncompressed_arrow_batches_are_limited(tmp_path):
    pa = pytest.importorskip("pyarrow")
    path = tmp_path / "bomb.arrows.gz"
    batch = pa.record_batch({"quads": pa.nulls(1), "x": pa.array([bytes(400 << 20)])})
    with gzip.open(path, "wb", 1) as file, pa.ipc.new_stream(file, batch.schema) as writer:
        writer.write_batch(batch)
    code, resident, errors, _ = measured("convert", path, "/dev/null", "--to", "nq")
    assert code == 1
    assert "a larger --max-message-bytes allows it" in errors
    assert resident < 300_000_000, resident
