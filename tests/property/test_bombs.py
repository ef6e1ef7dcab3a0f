"""Small files that expand to large data: memory is bounded by the pieces that are read."""

import pytest
from archives import tar
from measured import measured

ROOM = 150_000_000
LINE = b"<http://e/s> <http://e/p> <http://e/o> .\n# @message\n"


def repeated(name, line, count):
    """Returns `line` repeated `count` times and compressed, without storing the expanded text."""
    from rdfm.storage.compression import compressor

    made, block = compressor(name), line * 10_000
    return b"".join([*(made.compress(block) for _ in range(count // 10_000)), made.flush()])


@pytest.mark.parametrize(("name", "suffix"), [("zstd", "zst"), ("gzip", "gz")])
def test_compressed_members_of_archives_are_decompressed_in_pieces(tmp_path, name, suffix):
    pytest.importorskip("backports.zstd" if name == "zstd" else "zlib")
    member = repeated(name, LINE, 5_000_000)
    assert len(member) < 1 << 20  # read as one piece of the archive
    path = tmp_path / "bomb.tar"
    path.write_bytes(tar((f"log.nq.{suffix}", member)))
    code, resident, errors, _ = measured("validate", path, "--quiet")
    assert (code, errors) == (0, "")
    assert resident < ROOM, resident


def test_archive_members_with_expanding_prefixes_are_decoded_in_batches(tmp_path):
    messages = "".join(f"p:{number} p:b p:c .\n# @message\n" for number in range(10_000))
    log = f"@prefix p: <http://e/{'A' * 100_000}> .\n{messages}".encode()
    path = tmp_path / "bomb.tar"
    path.write_bytes(tar(("log.trig", log)))
    code, resident, errors, _ = measured("validate", path, "--quiet")
    assert (code, errors) == (0, "")
    assert resident < ROOM, resident


def values_of_one(text, count):
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(pa.array(bytes(count), pa.int8()), pa.array([text]))


def quads_of(count, objects):
    import pyarrow as pa

    terms = [values_of_one("<a:s>", count), values_of_one("<a:p>", count), objects]
    return pa.StructArray.from_arrays(terms, ["subject", "predicate", "object"])


def lists(quads, each):
    import pyarrow as pa

    offsets = pa.array(range(0, len(quads) + 1, each), pa.int32())
    return pa.table({"quads": pa.ListArray.from_arrays(offsets, quads)})


def pages_of_one_large_text():
    import pyarrow as pa

    large = values_of_one(f'"{"x" * (8 << 20)}"', 200)
    return pa.table({"message": range(200), "subject": large, "predicate": large, "object": large})


def lists_of_one_large_text():
    return lists(quads_of(1000, values_of_one(f'"{"x" * (1 << 20)}"', 1000)), 100)


def a_list_of_50_million_quads():
    count = 50_000_000
    return lists(quads_of(count, values_of_one("<a:o>", count)), count)


def one_huge_text():
    import pyarrow as pa

    quads = {"message": [0], "subject": ["<a:s>"], "predicate": ["<a:p>"]}
    return pa.table({**quads, "object": [f'"{"x" * (700 << 20)}"']})


@pytest.mark.parametrize(
    ("make", "dictionary"),
    [
        (pages_of_one_large_text, True),
        (lists_of_one_large_text, True),
        (a_list_of_50_million_quads, True),
        (one_huge_text, False),
    ],
)
def test_parquet_is_measured_before_it_is_expanded(tmp_path, make, dictionary):
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "bomb.parquet"
    parquet.write_table(
        make(),
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


def a_large_text(path):
    import pyarrow as pa

    large = pa.array([f'"{"x" * (700 << 20)}"'])
    terms = {"message": [0], "subject": ["<a:s>"], "predicate": ["<a:p>"], "object": large}
    save_arrow(path, pa.table(terms))


def save_arrow(path, table):
    from pyarrow import ipc

    options = ipc.IpcWriteOptions(compression="zstd")
    new = ipc.new_stream if path.suffix == ".arrows" else ipc.new_file
    with new(path, table.schema, options=options) as writer:
        writer.write_table(table)


def a_large_dictionary(path):
    import pyarrow as pa

    large = pa.DictionaryArray.from_arrays(pa.array([0]), pa.array([f'"{"x" * (700 << 20)}"']))
    terms = {"message": [0], "subject": ["<a:s>"], "predicate": ["<a:p>"], "object": large}
    save_arrow(path, pa.table(terms))


def indices_of_one_large_text(path):
    large = values_of_one(f'"{"x" * (8 << 20)}"', 200)
    save_arrow(path, lists(quads_of(200, large), 1))


def runs_of_one_text(path):
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

    items = quads_of(100_000, values_of_one("<a:o>", 100_000))
    rows = 200
    sizes = pa.array([100_000] * rows, pa.int32())
    views = pa.ListViewArray.from_arrays(pa.array([0] * rows, pa.int32()), sizes, items)
    save_arrow(path, pa.table({"quads": views}))


@pytest.mark.parametrize("suffix", ["arrow", "arrows"])
@pytest.mark.parametrize(
    "make",
    [
        a_large_text,
        a_large_dictionary,
        indices_of_one_large_text,
        runs_of_one_text,
        nulls,
        views_of_the_same_items,
    ],
)
def test_arrow_is_measured_before_it_is_expanded(tmp_path, make, suffix):
    pytest.importorskip("pyarrow")
    path = tmp_path / f"bomb.{suffix}"
    make(path)
    assert path.stat().st_size < 200_000
    code, resident, errors, _ = measured("convert", path, "/dev/null", "--to", "nq")
    assert code in (0, 1), errors
    assert "bug" not in errors
    assert resident < 500_000_000, resident
