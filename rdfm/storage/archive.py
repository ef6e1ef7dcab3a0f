"""Tar archives whose members are logs, often of one message each: `000/0000000000.ttl`.

In: the pieces of an archive, or whole logs with their names. Out: members in the archive's order, or
the archive's bytes.
Cost: a piece, and a member of up to 1 MiB; larger ones come in pieces. Law: nothing is sought or
unpacked; the same members give the same bytes.
"""

from __future__ import annotations

import re
import tarfile
from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rdfm._core import TarMembers

__all__ = ["HEAD_BYTES", "Member", "end", "entry", "is_archive", "members", "stem"]

HEAD_BYTES = 512
_BLOCK = 512
_RECORD = 20 * _BLOCK
_NAME = re.compile(
    r"(.*)\.(?:tar(?:\.(?:gz|gzip|zst|zstd|bz2|xz))?|tgz|tzst|tbz2|txz)", re.IGNORECASE
)
_MAGIC = slice(257, 262)


class Member(NamedTuple):
    """A member of an archive.

    Attributes:
        name: Its path in the archive.
        pieces: Its bytes; to be read before the next member is asked for.
        refusal: Why it is not read; None if it is.
        whole: Whether the bytes are one piece.
    """

    name: str
    pieces: Iterable[bytes]
    refusal: str | None
    whole: bool


def stem(path: str) -> str | None:
    """Give the name of an archive without its suffix; None where the name is of no archive.

    Example:
        >>> stem("stream_full.ttl.tar.gz"), stem("a.nq.gz")
        ('stream_full.ttl', None)
    """
    found = _NAME.fullmatch(path)
    return None if found is None else found[1]


def is_archive(head: bytes) -> bool:
    """Whether a file begins as an archive; its first `HEAD_BYTES` tell."""
    return head[_MAGIC] == b"ustar"


def members(pieces: Iterable[bytes]) -> Iterator[list[Member]]:
    """Give the files of an archive: those that came with a piece together.

    Names that begin with `_` or `.` are passed over, as in folders.

    Raises:
        DecodeError: The archive is broken or cut off; after the members before that.
    """
    parts = _Parts(pieces)
    while parts.more():
        some = []
        while parts.pending and parts.pending[0][2]:
            name, data, _, refusal = parts.pending.popleft()
            if name is not None and (refusal is not None or not _is_hidden(name)):
                some.append(Member(name, (data,), refusal, True))
        if some:
            yield some
        if parts.pending:  # a large one begins
            name = parts.pending.popleft()[0] or ""
            rest = parts.rest()
            if not _is_hidden(name):
                yield [Member(name, rest, None, False)]
            for _ in rest:  # what nobody read of it
                pass


class _Parts:
    """The parts of members, as `TarMembers` cuts them."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self.pending: deque[tuple[str | None, bytes, bool, str | None]] = deque()
        self._cutter = TarMembers()
        self._pieces = iter(pieces)
        self._ended = False

    def more(self) -> bool:
        """Whether there are parts; reads on if none is pending."""
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

    def rest(self) -> Iterator[bytes]:
        """The bytes of a large member."""
        while self.more():
            _, data, ended, _ = self.pending.popleft()
            yield data
            if ended:
                return


def entry(name: str, data: bytes) -> bytes:
    """Give a member as it stands in an archive: always the same for the same bytes."""
    header = tarfile.TarInfo(name)  # of nobody, and of the year 1970
    header.size = len(data)
    header.mode = 0o644
    return header.tobuf(tarfile.USTAR_FORMAT) + data + bytes(-len(data) % _BLOCK)


def end(written: int) -> bytes:
    """Give the end of an archive behind so many bytes."""
    return bytes(2 * _BLOCK + -(written + 2 * _BLOCK) % _RECORD)


def _is_hidden(name: str) -> bool:
    return name[:1] in ("_", ".") or "/_" in name or "/." in name
