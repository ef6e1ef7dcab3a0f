"""Tar archives whose members are logs, often of one message each: `000/0000000000.ttl`.

In: the pieces of an archive, or complete logs with their names. Out: members in the archive's
order, or the archive's bytes.
Cost: memory for a piece, and for a member of up to 1 MiB; larger members are read in pieces.
Law: archives are read sequentially and not unpacked. The same members produce the same bytes.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from rdfm._core import TarMembers

__all__ = ["HEAD_BYTES", "Member", "end", "entry", "is_archive", "members", "stem"]

HEAD_BYTES = 512
_BLOCK = 512
_RECORD = 20 * _BLOCK
_NAME_BYTES = 100
_OCTAL_SIZE = 8**11
_NAME = re.compile(
    r"(.*)\.(?:tar(?:\.(?:gz|gzip|zst|zstd|bz2|xz))?|tgz|tzst|tbz2|txz)", re.IGNORECASE
)
_MAGIC = slice(257, 262)


class Member(NamedTuple):
    """A member of an archive.

    Attributes:
        name: Its path in the archive.
        pieces: Its bytes, which must be read before the next member is requested.
        rejection: The reason why the member cannot be read; None if it can be read.
        whole: Whether the bytes are a single piece.
    """

    name: str
    pieces: Iterable[bytes]
    rejection: str | None
    whole: bool


def stem(path: str) -> str | None:
    """Return the name of an archive without its suffix; None for other names.

    Example:
        >>> stem("stream_full.ttl.tar.gz"), stem("a.nq.gz")
        ('stream_full.ttl', None)
    """
    match = _NAME.fullmatch(path)
    return None if match is None else match[1]


def is_archive(head: bytes) -> bool:
    """Whether a file is an archive, according to its first `HEAD_BYTES`."""
    return head[_MAGIC] == b"ustar"


def members(pieces: Iterable[bytes]) -> Iterator[list[Member]]:
    """Yield the files of an archive; files that end in the same piece are yielded together.

    Names that begin with `_` or `.` are skipped, as in folders.

    Raises:
        DecodeError: If the archive is invalid or truncated. Members before the error are yielded
            first.
    """
    parts = _MemberParts(pieces)
    while parts.has_more():
        complete = []
        while parts.pending and parts.pending[0][2]:
            name, data, _, rejection = parts.pending.popleft()
            if name is not None and (rejection is not None or not _is_hidden(name)):
                complete.append(Member(name, (data,), rejection, True))
        if complete:
            yield complete
        if parts.pending:  # a large member begins
            name = parts.pending.popleft()[0] or ""
            content = parts.read_rest()
            if not _is_hidden(name):
                yield [Member(name, content, None, False)]
            for _ in content:  # skip the unread rest
                pass


class _MemberParts:
    """The parts of members returned by `TarMembers`."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self.pending: deque[tuple[str | None, bytes, bool, str | None]] = deque()
        self._cutter = TarMembers()
        self._pieces = iter(pieces)
        self._ended = False

    def has_more(self) -> bool:
        """Whether there are more parts; reads the next pieces if none is pending."""
        while not self.pending:
            self.pending.extend(self._cutter.parts())
            if self.pending:
                break
            if self._ended:
                return False
            if (piece := next(self._pieces, None)) is not None:
                self._cutter.feed(piece)
            else:
                self._ended = True
                self._cutter.finish()
        return True

    def read_rest(self) -> Iterator[bytes]:
        """Yield the bytes of a large member."""
        while self.has_more():
            _, data, is_last, _ = self.pending.popleft()
            yield data
            if is_last:
                return


def entry(name: str, data: bytes) -> bytes:
    """Return the bytes of a member in an archive, which depend only on its name and data."""
    size = len(data)
    if len(name) <= _NAME_BYTES and name.isascii() and size < _OCTAL_SIZE:
        # The same bytes as from `tarfile`, which takes six times as long.
        start, middle, end, total = _header_template()
        octal = b"%011o" % size
        total += sum(name.encode()) + sum(octal)
        header = b"%b%b%b%b%06o%b" % (
            name.encode().ljust(_NAME_BYTES, b"\0"),
            start,
            octal,
            middle,
            total,
            end,
        )
    else:
        header = _tar_header(name, size)
    return header + data + bytes(-size % _BLOCK)


def _tar_header(name: str, size: int) -> bytes:
    import tarfile  # costly to import

    header = tarfile.TarInfo(name)  # without owner and time
    header.size = size
    header.mode = 0o644
    return header.tobuf(tarfile.USTAR_FORMAT)


@cache
def _header_template() -> tuple[bytes, bytes, bytes, int]:
    """Return the parts of a header between name, size and checksum, and the sum of their bytes."""
    header = _tar_header("", 0)
    start, middle, end = header[_NAME_BYTES:124], header[135:148], header[154:]
    # The checksum counts as eight spaces, of which `end` has the last two bytes.
    return start, middle, end, sum(start) + sum(middle) + sum(end[2:]) + 8 * ord(" ")


def end(size: int) -> bytes:
    """Return the end of an archive, given the number of bytes before it."""
    return bytes(2 * _BLOCK + -(size + 2 * _BLOCK) % _RECORD)


def _is_hidden(name: str) -> bool:
    return name[:1] in ("_", ".") or "/_" in name or "/." in name
