"""Reads the structure of Zstandard frames (RFC 8878 §3.1), without a decompressor.

In: bytes at the start of a frame. Out: its end and, if it has no compressed blocks, its content; or
None if the decompressor must read the frame.
Cost: 2 µs per frame without compressed blocks. Creating a decompressor takes 40 µs, and a file may
consist of empty 9-byte frames.
Law: the content is the same as from the decompressor. Invalid frames are left to the decompressor,
which reports the error.
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["find_frame", "read_plain_frame"]

_MAGIC = b"\x28\xb5\x2f\xfd"
_SKIPPABLE = b"\x2a\x4d\x18"  # after a byte from 0x50 to 0x5F
_EMPTY_CHECKSUM = b"\x99\xe9\xd8\x51"
# The smallest window, which bounds the blocks of a frame.
_MAX_BLOCK = 1 << 10
_MAX_CONTENT = 1 << 16
_RAW, _RLE, _RESERVED = 0, 1, 3
# Longest header without a dictionary.
_MAX_HEADER = 14
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
    header = _read_header(data, position)
    if header is None:
        return None
    position, content_bytes, has_checksum = header
    blocks = _read_blocks(data, position)
    if blocks is None:
        return None
    position, content = blocks
    if content_bytes is not None and content_bytes != len(content):
        return None
    if has_checksum:
        if content or data[position : position + 4] != _EMPTY_CHECKSUM:
            return None
        position += 4
    return position, content


def find_frame(read: Callable[[int, int], bytes], offset: int) -> tuple[int, int | None] | None:
    """Find the end of a frame from the sizes of its blocks.

    Args:
        read: Function that returns a number of bytes at an offset, or fewer at the end.
        offset: Offset of the frame.

    Returns:
        The end of the frame, and its content size, which is None if the header does not state it or
        the end is unknown; None if no frame begins at the offset.
    """
    head = read(offset, _MAX_HEADER)
    if head[1:4] == _SKIPPABLE and head[0] >> 4 == 5 and len(head) >= 8:
        return offset + 8 + int.from_bytes(head[4:8], "little"), 0
    if not head.startswith(_MAGIC):
        return None
    header = _read_header(head, 0)
    if header is None:
        return offset, None
    size, content_bytes, has_checksum = header
    end, is_last = offset + size, 0
    while content_bytes is not None and not is_last:
        block = read(end, 3)
        fields = int.from_bytes(block, "little")
        is_last, kind, size = fields & 1, fields >> 1 & 3, fields >> 3
        if len(block) < 3 or kind == _RESERVED:
            return offset, None
        end += 3 + (1 if kind == _RLE else size)
    return end + 4 * has_checksum, content_bytes


def _read_header(data: memoryview | bytes, position: int) -> tuple[int, int | None, bool] | None:
    """Return the end of a frame's header, its content size, and whether it has a checksum.

    None if this is not a frame, or the decompressor might reject it.
    """
    if data[position : position + 4] != _MAGIC or len(data) < position + 9:
        return None
    flags = data[position + 4]
    position += 5
    is_single = flags & 0x20
    if flags & 0x0B:  # a dictionary, or the reserved bit
        return None
    if not is_single:
        if data[position] > _MAX_WINDOW:
            return None
        position += 1
    kind = flags >> 6
    width = (1 if is_single else 0) if kind == 0 else 1 << kind
    content_bytes = None
    if width:
        content_bytes = int.from_bytes(data[position : position + width], "little")
        content_bytes += 256 if kind == 1 else 0
    return position + width, content_bytes, bool(flags & 0x04)


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
