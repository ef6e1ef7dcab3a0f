"""Reads Zstandard frames without compressed blocks (RFC 8878 §3.1), without a decompressor.

In: bytes at the start of a frame. Out: its end and its content, or None if the decompressor must
read the frame.
Cost: 2 µs per frame. Creating a decompressor takes 40 µs, and a file may consist of empty 9-byte
frames.
Law: the content is the same as from the decompressor. Invalid frames are left to the decompressor,
which reports the error.
"""

from __future__ import annotations

__all__ = ["plain_frame"]

_MAGIC = b"\x28\xb5\x2f\xfd"
_SKIPPABLE = b"\x2a\x4d\x18"  # after a byte from 0x50 to 0x5F
_EMPTY_CHECKSUM = b"\x99\xe9\xd8\x51"
# The smallest window, which bounds the blocks of a frame.
_MAX_BLOCK = 1 << 10
_MAX_CONTENT = 1 << 16
_RAW, _RLE = 0, 1
# A window of 128 MiB, the maximum of the decompressor.
_MAX_WINDOW = (27 - 10) << 3


def plain_frame(data: memoryview, at: int) -> tuple[int, bytes] | None:
    """Read a frame that is complete in `data` and has no compressed blocks.

    Args:
        data: The bytes.
        at: Offset of the frame.

    Returns:
        The end of the frame, and its content of at most 64 KiB; None if the decompressor must read
        the frame.
    """
    magic = data[at : at + 4]
    if magic[1:] == _SKIPPABLE and magic[0] >> 4 == 5:
        end = at + 8 + int.from_bytes(data[at + 4 : at + 8], "little")
        return (end, b"") if at + 8 <= len(data) and end <= len(data) else None
    if magic != _MAGIC or len(data) < at + 9:
        return None
    flags = data[at + 4]
    at += 5
    single, checksum = flags & 0x20, flags & 0x04
    if flags & 0x0B:  # a dictionary, or the reserved bit
        return None
    if not single:
        if data[at] > _MAX_WINDOW:
            return None
        at += 1
    kind = flags >> 6
    width = (1 if single else 0) if kind == 0 else 1 << kind
    declared = int.from_bytes(data[at : at + width], "little") + (256 if kind == 1 else 0)
    blocks = _blocks(data, at + width)
    if blocks is None:
        return None
    at, content = blocks
    if width and declared != len(content):
        return None
    if checksum:
        if content or data[at : at + 4] != _EMPTY_CHECKSUM:
            return None
        at += 4
    return at, content


def _blocks(data: memoryview, at: int) -> tuple[int, bytes] | None:
    """Return the end and content of raw and repeated blocks; None if there are other blocks."""
    parts: list[bytes] = []
    total = last = 0
    while not last:
        if at + 3 > len(data):
            return None
        header = int.from_bytes(data[at : at + 3], "little")
        last, kind, size = header & 1, header >> 1 & 3, header >> 3
        at += 3
        stored = size if kind == _RAW else 1
        total += size
        if (
            kind not in (_RAW, _RLE)
            or size > _MAX_BLOCK
            or total > _MAX_CONTENT
            or at + stored > len(data)
        ):
            return None
        parts.append(bytes(data[at : at + stored]) * (1 if kind == _RAW else size))
        at += stored
    return at, b"".join(parts)
