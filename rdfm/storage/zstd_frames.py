"""Reads Zstandard frames without compressed blocks (RFC 8878 §3.1), without a decompressor.

In: bytes at the start of a frame. Out: its end and its content, or None if the decompressor must
read the frame.
Cost: 2 µs per frame. Creating a decompressor takes 40 µs, and a file may consist of empty 9-byte
frames.
Law: the content is the same as from the decompressor. Invalid frames are left to the decompressor,
which reports the error.
"""

from __future__ import annotations

__all__ = ["read_plain_frame"]

_MAGIC = b"\x28\xb5\x2f\xfd"
_SKIPPABLE = b"\x2a\x4d\x18"  # after a byte from 0x50 to 0x5F
_EMPTY_CHECKSUM = b"\x99\xe9\xd8\x51"
# The smallest window, which bounds the blocks of a frame.
_MAX_BLOCK = 1 << 10
_MAX_CONTENT = 1 << 16
_RAW, _RLE = 0, 1
# A window of 128 MiB, the maximum of the decompressor.
_MAX_WINDOW = (27 - 10) << 3


def read_plain_frame(data: memoryview, position: int) -> tuple[int, bytes] | None:
    """Read a frame that is complete in `data` and has no compressed blocks.

    Args:
        data: The bytes.
        position: Offset of the frame.

    Returns:
        The end of the frame, and its content of at most 64 KiB; None if the decompressor must read
        the frame.
    """
    magic = data[position : position + 4]
    if magic[1:] == _SKIPPABLE and magic[0] >> 4 == 5:
        end = position + 8 + int.from_bytes(data[position + 4 : position + 8], "little")
        return (end, b"") if position + 8 <= len(data) and end <= len(data) else None
    if magic != _MAGIC or len(data) < position + 9:
        return None
    flags = data[position + 4]
    position += 5
    single, checksum = flags & 0x20, flags & 0x04
    if flags & 0x0B:  # a dictionary, or the reserved bit
        return None
    if not single:
        if data[position] > _MAX_WINDOW:
            return None
        position += 1
    kind = flags >> 6
    width = (1 if single else 0) if kind == 0 else 1 << kind
    content_bytes = int.from_bytes(data[position : position + width], "little") + (
        256 if kind == 1 else 0
    )
    blocks = _read_blocks(data, position + width)
    if blocks is None:
        return None
    position, content = blocks
    if width and content_bytes != len(content):
        return None
    if checksum:
        if content or data[position : position + 4] != _EMPTY_CHECKSUM:
            return None
        position += 4
    return position, content


def _read_blocks(data: memoryview, position: int) -> tuple[int, bytes] | None:
    """Return the end and content of raw and repeated blocks; None if there are other blocks."""
    parts: list[bytes] = []
    total = is_last = 0
    while not is_last:
        if position + 3 > len(data):
            return None
        header = int.from_bytes(data[position : position + 3], "little")
        is_last, kind, size = header & 1, header >> 1 & 3, header >> 3
        position += 3
        stored = size if kind == _RAW else 1
        total += size
        if (
            kind not in (_RAW, _RLE)
            or size > _MAX_BLOCK
            or total > _MAX_CONTENT
            or position + stored > len(data)
        ):
            return None
        parts.append(bytes(data[position : position + stored]) * (1 if kind == _RAW else size))
        position += stored
    return position, b"".join(parts)
