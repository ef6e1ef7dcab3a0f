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


def test_members_of_archives_whose_prefixes_expand_are_decoded_in_batches(tmp_path):
    messages = "".join(f"p:{number} p:b p:c .\n# @message\n" for number in range(10_000))
    log = f"@prefix p: <http://e/{'A' * 100_000}> .\n{messages}".encode()
    path = tmp_path / "bomb.tar"
    path.write_bytes(tar(("log.trig", log)))
    code, resident, errors, _ = measured("validate", path, "--quiet")
    assert (code, errors) == (0, "")
    assert resident < ROOM, resident
