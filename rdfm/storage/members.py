"""Finds the members of a gzip file and the frames of a zstd file, without decompressing them.

In: a file that supports random access. Out: the positions at which decompression can begin.
Cost: one read per gzip member or zstd block; a file of tiny members is abandoned early.
Law: a position is a claim of the headers. `compression.decompress_members` verifies that the data
between two positions has the size that they state.

The compressed size of a gzip member is in its extra field (RFC 1952 §2.3.1.1): in the subfield "MZ"
of rdfm and MiGz, or in the subfield "BC" of BGZF.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO, NamedTuple

from rdfm.storage.zstd_frames import find_frame

__all__ = ["MEMBER_COMPRESSIONS", "MemberPosition", "add_size", "choose_positions", "find_members"]

MEMBER_COMPRESSIONS = ("gzip", "zstd")
# Header of a member with only an extra field: XLEN 8, and the subfield "MZ" with 4 bytes.
_EXTRA = 4
_MZ_FIELD = b"\x08\0MZ\x04\0"
_PLAIN_HEADER_BYTES = 10
_TRAILER_BYTES = 8
# Bytes of a header to read; an extra field that is longer is not searched.
_HEAD_BYTES = 128
# Number of reads at any size, and minimum number of file bytes for each further read.
_FREE_READS = 1000
_BYTES_PER_READ = 256

_Read = Callable[[int, int], bytes]


class MemberPosition(NamedTuple):
    """The position of a member in a compressed log.

    Attributes:
        file_offset: Offset of the member in the file.
        byte_offset: Offset of its first byte in the decompressed log.
    """

    file_offset: int
    byte_offset: int


def add_size(member: bytes) -> bytes:
    """Add the compressed size to a gzip member whose header has no optional fields."""
    size = len(member) - _PLAIN_HEADER_BYTES - _TRAILER_BYTES
    head = member[:3] + bytes((_EXTRA,)) + member[4:_PLAIN_HEADER_BYTES]
    return b"".join((head, _MZ_FIELD, size.to_bytes(4, "little"), member[_PLAIN_HEADER_BYTES:]))


def find_members(compression: str, file: BinaryIO, size: int) -> Iterator[MemberPosition]:
    """Yield the positions of members, up to the first one whose size is unknown.

    Empty members are omitted.

    Args:
        compression: One of `MEMBER_COMPRESSIONS`. Other compressions have no such members.
        file: The file.
        size: Number of bytes to read.
    """
    find = {"gzip": _find_gzip_member, "zstd": find_frame}.get(compression)
    if find is None:
        return
    reads = 0

    def read(offset: int, count: int) -> bytes:
        nonlocal reads
        reads += 1
        if reads > _FREE_READS + offset // _BYTES_PER_READ:
            return b""
        file.seek(offset)
        return file.read(min(count, max(size - offset, 0)))

    file_offset = byte_offset = 0
    while file_offset < size:
        member = find(read, file_offset)
        if member is None:
            return
        end, content_bytes = member
        if content_bytes != 0:
            yield MemberPosition(file_offset, byte_offset)
        if content_bytes is None or end > size:
            return
        file_offset, byte_offset = end, byte_offset + content_bytes


def choose_positions(
    positions: Iterable[MemberPosition], size: int, count: int
) -> list[MemberPosition]:
    """Choose at most `count` positions that divide a file of `size` bytes evenly."""
    chosen: list[MemberPosition] = []
    for position in positions:
        if position.file_offset * count >= size * len(chosen):
            chosen.append(position)
            if len(chosen) == count:
                break
    return chosen


def _find_gzip_member(read: _Read, offset: int) -> tuple[int, int | None] | None:
    """Return the end of a member and its content size, which is None if the end is unknown.

    Returns None if no member begins at the offset.
    """
    head = read(offset, _HEAD_BYTES)
    if len(head) < _PLAIN_HEADER_BYTES or not head.startswith(b"\x1f\x8b\x08"):
        return None
    size = _member_bytes(head) if head[3] & _EXTRA else None
    if size is None:
        return offset, None
    trailer = read(offset + size - 4, 4)
    content_bytes = int.from_bytes(trailer, "little") if len(trailer) == 4 else None
    return offset + size, content_bytes


def _member_bytes(head: bytes) -> int | None:
    """Return the size of a member according to its extra field, or None."""
    position = _PLAIN_HEADER_BYTES + 2
    stop = position + int.from_bytes(head[_PLAIN_HEADER_BYTES:position], "little")
    while position + 4 <= min(stop, len(head)):
        name = head[position : position + 2]
        end = position + 4 + int.from_bytes(head[position + 2 : position + 4], "little")
        value = head[position + 4 : end]
        if name == b"BC" and len(value) == 2:
            return max(int.from_bytes(value, "little") + 1, stop + _TRAILER_BYTES)
        # The size is that of the compressed data, without the header and the trailer.
        if name == b"MZ" and len(value) == 4 and head[3] == _EXTRA:
            return stop + int.from_bytes(value, "little") + _TRAILER_BYTES
        position = end
    return None
