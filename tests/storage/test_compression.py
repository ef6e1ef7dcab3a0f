"""Compression: reading in pieces, truncated and invalid data, bombs, and reproducible output."""

import bz2
import gzip
import lzma
import random
import sys
import time

import pytest

from rdfm.errors import DecodeError, LimitError, OptionError, TruncatedError
from rdfm.storage import compression
from rdfm.storage.compression import (
    COMPRESSIONS,
    LEVELS,
    by_content,
    compression_suffix,
    compressor,
    decompress,
    find_by_suffix,
)
from rdfm.storage.zstd_frames import read_plain_frame

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

COMPRESS = {
    "gzip": gzip.compress,
    "zstd": zstd.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
}
DATA = random.Random(1).randbytes(1000) * 2000


def pieces(data, size):
    return (data[at : at + size] for at in range(0, len(data), size))


@pytest.mark.parametrize("name", COMPRESSIONS)
def test_members_are_joined_in_bounded_pieces(name):
    member = COMPRESS[name](DATA)
    log = member + COMPRESS[name](b"") + member
    assert by_content(log[:10]) == name
    for size in (1999, 1 << 20):
        out = list(decompress(name, pieces(log, size)))
        assert b"".join(out) == DATA + DATA
        assert max(map(len, out)) <= 1 << 20


SKIPPABLE_FRAME = b"\x5a\x2a\x4d\x18\x02\0\0\0ab"


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPRESSIONS)
def test_many_empty_members_are_read_quickly(name):
    """Without the fast path, four megabytes of empty members take 36 seconds."""
    members = {
        "zstd": [
            COMPRESS[name](b""),
            zstd.ZstdCompressor().flush(),
            zstd.compress(b"", options={zstd.CompressionParameter.checksum_flag: 1}),
            SKIPPABLE_FRAME,
        ]
    }
    for member in members.get(name, [COMPRESS[name](b"")]):
        log = member * (2_000_000 // len(member)) + COMPRESS[name](b"data")
        start = time.process_time()
        assert b"".join(decompress(name, pieces(log, 1 << 20))) == b"data"
        assert time.process_time() - start < 6


def zstd_frames():
    """Yields frames of raw, repeated and compressed blocks, some with sizes or checksums."""
    generator = random.Random(3)
    kinds = zstd.CompressionParameter
    for size in (0, 1, 5, 255, 256, 300, 1024, 1025, 200_000):
        for data in (generator.randbytes(size), b"a" * size):
            for checksum in (0, 1):
                options = {kinds.checksum_flag: checksum}
                yield zstd.compress(data, options=options)
                streamed = zstd.ZstdCompressor(options=options)
                yield streamed.compress(data) + streamed.flush()
    yield SKIPPABLE_FRAME


def test_plain_frame_agrees_with_the_decompressor():
    generator = random.Random(4)
    limit = {zstd.DecompressionParameter.window_log_max: compression.ZSTD_WINDOW_LOG}
    frames = list(zstd_frames())
    changes = [0, 1, 2, 4, 8, 0x20, 0x50, 0x60, 0x28, 0x88, 0x8F, 0xFF]
    count = 0
    for number in range(20_000):
        frame = bytearray(frames[number % len(frames)])
        if number >= len(frames):
            for _ in range(generator.randrange(3)):
                offset = generator.randrange(min(len(frame), 16))
                frame[offset] = generator.choice([*changes, generator.randrange(256)])
            if not generator.randrange(5):
                del frame[generator.randrange(len(frame)) :]
        log = bytes(frame) + b"more" * generator.randrange(2)
        if (found := read_plain_frame(memoryview(log), 0)) is None:
            continue
        count += 1
        decoder = zstd.ZstdDecompressor(options=limit)
        content = decoder.decompress(log)
        assert decoder.eof
        assert found == (len(log) - len(decoder.unused_data), content)
    assert count > 1000


@pytest.mark.parametrize("name", COMPRESSIONS)
def test_truncated_data_is_an_error_after_its_content(name):
    log = COMPRESS[name](DATA)
    for length in (5, 12, len(log) // 2, len(log) - 1):
        found = []
        with pytest.raises(TruncatedError, match=rf"^f: the {name} data ends before its end mark"):
            found.extend(decompress(name, [log[:length]], "f"))
        assert DATA.startswith(b"".join(found))


@pytest.mark.parametrize("name", COMPRESSIONS)
def test_invalid_data_is_an_error(name):
    log = bytearray(COMPRESS[name](DATA))
    log[len(log) // 2] ^= 0xFF
    log[-6] ^= 0xFF
    with pytest.raises(DecodeError, match=f"f: the {name} data (is corrupt|ends before)"):
        list(decompress(name, [bytes(log)], "f"))


@pytest.mark.parametrize("name", ["gzip", "xz"])
def test_padding_after_the_end_is_ignored(name):
    assert b"".join(decompress(name, [COMPRESS[name](DATA) + b"\0" * 512])) == DATA


def test_skippable_frames_of_zstd_are_skipped():
    skippable = bytes.fromhex("502a4d18") + (4).to_bytes(4, "little") + b"abcd"
    assert by_content(skippable) == "zstd"
    assert b"".join(decompress("zstd", [skippable + zstd.compress(b"hi") + skippable])) == b"hi"


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPRESSIONS)
def test_output_is_reproducible(name):
    def written():
        encoder = compressor(name)
        return b"".join(encoder.compress(piece) for piece in pieces(DATA, 4096)) + encoder.flush()

    assert written() == written()
    assert b"".join(decompress(name, [written()])) == DATA


def test_an_excessive_zstd_window_is_rejected():
    parameter = zstd.CompressionParameter
    encoder = zstd.ZstdCompressor(
        options={parameter.window_log: 30, parameter.enable_long_distance_matching: 1}
    )
    with pytest.raises(LimitError, match="window of more than 128 MiB; decompress it first"):
        list(decompress("zstd", [encoder.compress(b"x" * 1000) + encoder.flush()]))


@pytest.mark.slow
def test_an_excessive_xz_dictionary_is_rejected():
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 30}]
    with pytest.raises(LimitError, match="more than 512 MiB of memory"):
        list(decompress("xz", [lzma.compress(b"x", filters=filters)]))


@pytest.mark.parametrize(
    ("path", "name"),
    [("a.nq.gz", "gzip"), ("A.NQ.ZST", "zstd"), ("a.bz2", "bzip2"), ("a.xz", "xz"), ("a.nq", None)],
)
def test_compression_is_detected_by_suffix(path, name):
    assert find_by_suffix(path) == name


@pytest.mark.parametrize("head", [b"", b"BZh9 is not bzip2", b"\x1f", b"<http://", b"\x28\xb5"])
def test_plain_data_is_not_detected_as_compressed(head):
    assert by_content(head) is None


@pytest.mark.parametrize("name", COMPRESSIONS)
def test_every_level_is_read_back_and_the_highest_level_is_the_smallest(name):
    lowest, highest = LEVELS[name]
    sizes = []
    text = b" ".join(b"%d" % (number % 977) for number in range(20_000))
    for level in (lowest, 1, highest):
        encoder = compressor(f"{name}:{level}")
        log = encoder.compress(text) + encoder.flush()
        assert b"".join(decompress(name, [log])) == text
        sizes.append(len(log))
    assert sizes[2] < sizes[0] or name == "bzip2"
    assert compression_suffix(f"{name}:{highest}") == compression_suffix(name)


@pytest.mark.parametrize("name", COMPRESSIONS)
@pytest.mark.parametrize("level", ["", "x", "1.5", "+1", "23", "-8", "99999999999", " 1"])
def test_levels_out_of_range_are_rejected(name, level):
    lowest, highest = LEVELS[name]
    with pytest.raises(OptionError) as caught:
        compressor(f"{name}:{level}")
    expected = f"the level of {name} must be an integer from {lowest} to {highest}, not '{level}'"
    assert str(caught.value) == expected


def test_unknown_compressions_are_rejected():
    with pytest.raises(OptionError, match="the compression 'lz4' is not supported"):
        compressor("lz4")
    with pytest.raises(OptionError, match="the compression 'lz4' is not supported"):
        list(decompress("lz4", [b"x"]))


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPRESSIONS)
def test_many_small_members_take_linear_time(name, monkeypatch):
    """A decompressor copies the data after a member, so it must not receive all remaining data."""
    new_decompressor, errors = compression._find_decompressor(name)
    received = 0

    class CountingDecompressor:
        def __init__(self):
            self.inner = new_decompressor()

        def decompress(self, data, max_bytes):
            nonlocal received
            received += len(data)
            return self.inner.decompress(data, max_bytes)

        def __getattr__(self, attribute):
            return getattr(self.inner, attribute)

    monkeypatch.setattr(
        compression, "_find_decompressor", lambda name: (CountingDecompressor, errors)
    )
    line = b"ab\n" * 40  # shorter data is not compressed by zstd
    member = COMPRESS[name](line)
    count = (1 << 20) // len(member)
    assert b"".join(decompress(name, [member * count])) == line * count
    assert 0 < received <= count * compression.SLICE_BYTES


@pytest.mark.parametrize("name", COMPRESSIONS)
@pytest.mark.parametrize("garbage", [b"x", b"<http://e/s> <http://e/p> <http://e/o> .\n" * 9])
@pytest.mark.parametrize("size", [1, 1 << 20])
def test_trailing_garbage_is_reported(name, garbage, size):
    log = COMPRESS[name](DATA) + garbage
    found = []
    with pytest.raises(DecodeError, match=f"f: unexpected data after the {name} data"):
        for piece in decompress(name, pieces(log, size), "f"):
            found.append(piece)
    assert b"".join(found) == DATA
