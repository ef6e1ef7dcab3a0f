"""Compressed logs with many members: with known sizes, without them, and mixed."""

import gzip
import struct
import sys
import zlib

from rdfm.storage.compression import BlockCompressor

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

SKIPPABLE_FRAME = b"\x5a\x2a\x4d\x18\x02\0\0\0ab"


def bgzf_member(data):
    """Returns a BGZF block, as the SAM specification describes it."""
    deflate = zlib.compressobj(wbits=-15)
    body = deflate.compress(data) + deflate.flush()
    head = struct.pack("<4BI2BH2B2H", 31, 139, 8, 4, 0, 0, 255, 6, 66, 67, 2, len(body) + 25)
    return head + body + struct.pack("<2I", zlib.crc32(data), len(data))


def rdfm_member(compression):
    def compress(data):
        blocks = BlockCompressor(compression)
        return blocks.compress(data) + blocks.flush()

    return compress


def unsized_frame(data):
    compressor = zstd.ZstdCompressor()
    return compressor.compress(data) + compressor.flush()


def checksum_frame(data):
    return zstd.compress(data, options={zstd.CompressionParameter.checksum_flag: 1})


MEMBERS = {
    "gzip": {"rdfm": rdfm_member("gzip"), "bgzf": bgzf_member, "unsized": gzip.compress},
    "zstd": {
        "rdfm": rdfm_member("zstd"),
        "checksum": checksum_frame,
        "unsized": unsized_frame,
        "skippable": lambda data: SKIPPABLE_FRAME + zstd.compress(data) + SKIPPABLE_FRAME,
    },
}


def join(compression, kinds, pieces):
    """Compresses pieces of data, each as a member of one of the kinds in turn."""
    makers = [MEMBERS[compression][kind] for kind in kinds]
    return b"".join(makers[number % len(makers)](piece) for number, piece in enumerate(pieces))


def cut(data, size):
    return [data[at : at + size] for at in range(0, len(data), size)]
