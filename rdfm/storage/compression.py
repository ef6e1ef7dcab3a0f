"""Compression of logs: gzip, zstd, bzip2 and xz, in pieces.

In: pieces of compressed bytes. Out: pieces of at most `PIECE_BYTES` decompressed bytes, or the
reverse.
Cost: memory for one piece and for the codec's window, which is bounded (zstd 128 MiB, xz 512 MiB).
Compression in blocks needs memory for `jobs` + 2 blocks and their codecs.
Law: several members or frames are read as one. Truncated input is an error, after its data has been
returned.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from types import ModuleType
from typing import Any, Protocol, cast

from rdfm.errors import DecodeError, LimitError, MissingExtraError, OptionError, TruncatedError
from rdfm.storage.members import MemberPosition, add_size
from rdfm.storage.pool import Pool
from rdfm.storage.zstd_frames import read_plain_frame

__all__ = [
    "BLOCK_BYTES",
    "COMPRESSIONS",
    "LEVELS",
    "BlockCompressor",
    "Compressor",
    "by_content",
    "compression_suffix",
    "compressor",
    "decompress",
    "decompress_members",
    "find_by_suffix",
]

PIECE_BYTES = 1 << 20
# Uncompressed size of a block: a gzip member, a zstd frame, or a bzip2 or xz stream.
BLOCK_BYTES = 4 << 20
SLICE_BYTES = 1 << 12
MAGIC_BYTES = 10
ZSTD_WINDOW_LOG = 27
XZ_MEMORY_BYTES = 512 << 20
# The lowest level at which the xz dictionary is larger than a block.
XZ_LARGE_LEVEL = 5
COMPRESSIONS = ("gzip", "zstd", "bzip2", "xz")
# The lowest and the highest level of each compression.
LEVELS = {"gzip": (1, 9), "zstd": (-7, 22), "bzip2": (1, 9), "xz": (0, 9)}
_SUFFIXES = {
    ".gz": "gzip",
    ".gzip": "gzip",
    ".zst": "zstd",
    ".zstd": "zstd",
    ".bz2": "bzip2",
    ".xz": "xz",
    ".tgz": "gzip",
    ".tzst": "zstd",
    ".tbz2": "bzip2",
    ".txz": "xz",
}
_BEGINNINGS = {
    "gzip": (b"\x1f\x8b\x08",),
    "zstd": (
        b"\x28\xb5\x2f\xfd",
        *(bytes([0x50 + number]) + b"\x2a\x4d\x18" for number in range(16)),
    ),
    "bzip2": (b"BZh",),
    "xz": (b"\xfd7zXZ\x00",),
}
_ZEROS = re.compile(rb"\0*")


class Compressor(Protocol):
    """The common interface of the standard library's compressors."""

    def compress(self, data: bytes | memoryview, /) -> bytes:
        """Take a piece, and return the available output."""

    def flush(self) -> bytes:
        """Return the remaining output."""


def find_by_suffix(path: str) -> str | None:
    """Return the compression of a file name by its suffix, or None.

    Example:
        >>> find_by_suffix("log.nq.zst")
        'zstd'
    """
    lower = path.lower()
    return next((name for suffix, name in _SUFFIXES.items() if lower.endswith(suffix)), None)


def compression_suffix(name: str) -> str:
    """Return the preferred suffix of a compression, with or without a level; empty for "none".

    Example:
        >>> compression_suffix("zstd"), compression_suffix("zstd:19"), compression_suffix("none")
        ('.zst', '.zst', '')
    """
    name, _, _ = name.partition(":")
    return next((suffix for suffix, compression in _SUFFIXES.items() if compression == name), "")


def by_content(head: bytes) -> str | None:
    """Return the compression detected from the first `MAGIC_BYTES` bytes of a log, or None."""
    if head.startswith(b"\x1f\x8b\x08"):
        return "gzip"
    # Zstandard frames, and skippable frames before them.
    if head.startswith(b"\x28\xb5\x2f\xfd") or (head[1:4] == b"\x2a\x4d\x18" and head[0] >> 4 == 5):
        return "zstd"
    if head.startswith(b"BZh") and head[4:10] in (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90"):
        return "bzip2"
    if head.startswith(b"\xfd7zXZ\x00"):
        return "xz"
    return None


def decompress(name: str, pieces: Iterable[bytes], source: str | None = None) -> Iterator[bytes]:
    """Decompress pieces, with bounded memory.

    Args:
        name: One of `COMPRESSIONS`.
        pieces: The compressed log.
        source: The file's name, for errors.

    Raises:
        TruncatedError: If the input ends before the compressed data does.
        DecodeError: If the compressed data is invalid.
        LimitError: If decompression needs too much memory.
        MissingExtraError: If zstd requires backports.zstd (on Python before 3.14), which is not
            installed.
    """
    create_decompressor, error_types = _find_decompressor(name)
    decoder: Any = None  # created when a member begins
    members = step = 0
    head = b""  # of the member
    for piece in pieces:
        view, position = memoryview(piece), 0
        while position < len(view) or (decoder is not None and not decoder.needs_input):
            if decoder is None:
                if members and name in ("gzip", "xz"):  # zeros between or after members
                    position = _skip_zeros(piece, position)
                    if position == len(view):
                        break
                if (
                    name == "zstd"
                    and (uncompressed := read_plain_frame(view, position)) is not None
                ):
                    position, out = uncompressed
                    members += 1
                    if out:
                        yield out
                    continue
                decoder, step, head = create_decompressor(), SLICE_BYTES, b""
            # At the end of a member, the decompressor copies the data after it, so slices begin
            # small and grow with the member.
            data = view[position : position + step] if decoder.needs_input else view[:0]
            position += len(data)
            step = min(2 * step, PIECE_BYTES)
            if len(head) < MAGIC_BYTES:
                head += bytes(data[:MAGIC_BYTES])
            try:
                out = decoder.decompress(data, PIECE_BYTES)
            except error_types as error:
                if members and not _may_begin_member(name, head):
                    raise _garbage_error(name, source) from error
                raise _decode_error(name, error, source) from error
            if out:
                yield out
            if decoder.eof:
                position -= len(decoder.unused_data)
                decoder = None
                members += 1
    if decoder is not None:
        if members and not _may_begin_member(name, head):
            raise _garbage_error(name, source)
        raise TruncatedError(
            f"the {name} data ends before its end mark; the file is truncated, so obtain a complete copy",
            source=source,
        )


def decompress_members(
    name: str,
    pieces: Iterable[bytes],
    first: MemberPosition,
    stop: MemberPosition | None,
    source: str | None = None,
) -> Iterator[bytes]:
    """Decompress a file from a member on, and verify the position of a later one.

    Args:
        name: As in `decompress`.
        pieces: The file from the first member on.
        first: Position of the first member.
        stop: Position of the later member, if any. Decompression continues after it.
        source: As in `decompress`.

    Raises:
        DecodeError: If `stop` is wrong, or as in `decompress`.
    """
    stream = iter(pieces)
    if stop is not None:
        members = _Range(stream, stop.file_offset - first.file_offset)
        missing = stop.byte_offset - first.byte_offset
        for data in decompress(name, members, source):
            missing -= len(data)
            if missing < 0:
                break
            yield data
        if missing:
            raise DecodeError(
                f"the sizes in the headers of the {name} data are wrong; decompress the file, and "
                "compress it again",
                source=source,
            )
        stream = chain(members.excess, stream)
    yield from decompress(name, stream, source)


class _Range:
    """The first bytes of a stream.

    Attributes:
        excess: The rest of the last piece, once all bytes of the range have been read.
    """

    def __init__(self, stream: Iterator[bytes], size: int) -> None:
        self._stream = stream
        self._size = size
        self.excess: tuple[bytes, ...] = ()

    def __iter__(self) -> Iterator[bytes]:
        while self._size and (piece := next(self._stream, None)) is not None:
            if len(piece) > self._size:
                self.excess = (piece[self._size :],)
                piece = piece[: self._size]
            self._size -= len(piece)
            yield piece


def compressor(compression: str) -> Compressor:
    """Return a compressor whose output depends only on its input (no timestamp, no file name).

    Args:
        compression: One of `COMPRESSIONS`, optionally with a level of `LEVELS`, such as "zstd:19".

    Raises:
        MissingExtraError: If zstd requires backports.zstd (on Python before 3.14), which is not
            installed.
        OptionError: If the compression or the level does not exist.
    """
    name, level = _parse_compression(compression)
    if name == "gzip":
        import zlib

        return zlib.compressobj(6 if level is None else level, zlib.DEFLATED, 31)
    if name == "bzip2":
        import bz2

        return bz2.BZ2Compressor(9 if level is None else level)
    if name == "xz":
        import lzma

        return lzma.LZMACompressor(preset=level)
    zstd_compressor: Compressor = _import_zstd().ZstdCompressor(level)
    return zstd_compressor


class BlockCompressor:
    """Compresses in blocks of a fixed size, several at once.

    Each block is compressed separately, so the output depends only on the input, not on how the
    input is divided or on the number of threads.
    """

    def __init__(self, compression: str, jobs: int = 1, block_bytes: int | None = None) -> None:
        """Initialize with a compression as in `compressor`, and the number of threads.

        Raises:
            MissingExtraError, OptionError: As in `compressor`.
        """
        self._block_compressor = _block_compressor(compression)
        self._block_bytes = block_bytes or BLOCK_BYTES
        self._pieces: list[bytes | memoryview] = []
        self._size = 0  # of the pieces
        self._is_empty = True
        self._pool: Pool[bytes] = Pool("rdfm-compress", jobs if jobs > 1 else 0)

    def compress(self, data: bytes | memoryview, /) -> bytes:
        """Take a piece, and return the blocks that have been compressed."""
        while self._size + len(data) >= self._block_bytes:
            room = self._block_bytes - self._size
            self._pieces.append(data[:room])
            self._compress()
            data = data[room:]
        if data:
            self._pieces.append(data)
            self._size += len(data)
        return b"".join(self._pool.take())

    def flush(self) -> bytes:
        """Return the remaining blocks."""
        if self._size or self._is_empty:
            self._compress()
        blocks = b"".join(self._pool.take(all=True))
        self._pool.close()
        return blocks

    def close(self) -> None:
        """Stop compressing."""
        self._pool.close()

    def _compress(self) -> None:
        block = b"".join(self._pieces)
        self._pieces, self._size, self._is_empty = [], 0, False
        compress = self._block_compressor
        self._pool.submit(lambda: compress(block))


def _block_compressor(compression: str) -> Callable[[bytes], bytes]:
    """Return a function that compresses a block."""
    name, level = _parse_compression(compression)
    if name == "zstd":
        zstd = _import_zstd()
        return lambda block: cast("bytes", zstd.compress(block, level))
    if name == "xz":
        import lzma

        preset = lzma.PRESET_DEFAULT if level is None else level
        filters: list[dict[str, Any]] = [{"id": lzma.FILTER_LZMA2, "preset": preset}]
        if preset >= XZ_LARGE_LEVEL:  # a dictionary larger than a block is useless
            filters[0]["dict_size"] = BLOCK_BYTES
        return lambda block: lzma.compress(block, filters=filters)

    def compress(block: bytes) -> bytes:
        block_compressor = compressor(compression)
        member = block_compressor.compress(block) + block_compressor.flush()
        return add_size(member) if name == "gzip" else member

    return compress


def _parse_compression(compression: str) -> tuple[str, int | None]:
    """Return the name of a compression, and its level if one is given."""
    name, colon, text = compression.partition(":")
    if name not in LEVELS:
        raise _unknown_error(name)
    if not colon:
        return name, None
    lowest, highest = LEVELS[name]
    level = int(text) if re.fullmatch("-?[0-9]{1,9}", text) else highest + 1
    if not lowest <= level <= highest:
        raise OptionError(
            f"the level of {name} must be an integer from {lowest} to {highest}, not '{text[:40]}'"
        )
    return name, level


def _unknown_error(name: str) -> OptionError:
    return OptionError(
        f"the compression '{name[:40]}' is not supported; choose one of {', '.join(COMPRESSIONS)}"
    )


class _GzipDecompressor:
    """One gzip member, with the interface of the other decompressors."""

    def __init__(self) -> None:
        import zlib

        self._inner = zlib.decompressobj(31)

    def decompress(self, data: bytes, max_length: int) -> bytes:
        unconsumed = self._inner.unconsumed_tail
        return self._inner.decompress(unconsumed + data if unconsumed else data, max_length)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def needs_input(self) -> bool:
        return not self._inner.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data


def _find_decompressor(name: str) -> tuple[Callable[[], Any], tuple[type[Exception], ...]]:
    """Return a function that creates decompressors, and their exceptions for invalid data."""
    if name == "gzip":
        import zlib

        return _GzipDecompressor, (zlib.error,)
    if name == "bzip2":
        import bz2

        return bz2.BZ2Decompressor, (OSError, ValueError)
    if name == "xz":
        import lzma

        def begin() -> Any:
            return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY_BYTES)

        return begin, (lzma.LZMAError,)
    if name == "zstd":
        zstd = _import_zstd()
        options = {zstd.DecompressionParameter.window_log_max: ZSTD_WINDOW_LOG}
        return lambda: zstd.ZstdDecompressor(options=options), (zstd.ZstdError,)
    raise _unknown_error(name)


def _skip_zeros(piece: bytes, position: int) -> int:
    match = _ZEROS.match(piece, position)
    return position if match is None else match.end()


def _may_begin_member(name: str, head: bytes) -> bool:
    """Whether bytes may be the beginning of a member in a compression format."""
    return any(head.startswith(magic) or magic.startswith(head) for magic in _BEGINNINGS[name])


def _garbage_error(name: str, source: str | None) -> DecodeError:
    return DecodeError(
        f"unexpected data after the {name} data; remove it, or obtain a new copy of the file",
        source=source,
    )


def _decode_error(name: str, error: Exception, source: str | None) -> DecodeError:
    text = str(error)
    if name == "xz" and "emory" in text:
        return LimitError(
            f"the xz data needs more than {XZ_MEMORY_BYTES >> 20} MiB of memory to decompress; "
            "decompress it first (xz -dc FILE)",
            source=source,
        )
    if name == "zstd" and "memory" in text:
        return LimitError(
            f"the zstd data needs a window of more than {1 << (ZSTD_WINDOW_LOG - 20)} MiB; "
            "decompress it first (zstd -dc --long=31 FILE)",
            source=source,
        )
    return DecodeError(f"the {name} data is corrupt: {text}", source=source)


def _import_zstd() -> ModuleType:
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd
    except ImportError as error:
        raise MissingExtraError(
            "zstd needs backports.zstd on this Python: pip install backports.zstd"
        ) from error
    module: ModuleType = zstd
    return module
