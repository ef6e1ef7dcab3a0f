"""Small files that decode to very much: memory is bounded by what is read at once."""

import pytest
from archives import tar
from measured import measured

ROOM = 150_000_000
LINE = b"<http://e/s> <http://e/p> <http://e/o> .\n# @message\n"


def repeated(name, line, count):
    """`line` so often, compressed, without ever being there."""
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


def test_members_of_archives_whose_prefixes_expand_are_decoded_in_batches(tmp_path):
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


def a_list_of_very_many():
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
        (a_list_of_very_many, True),
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
