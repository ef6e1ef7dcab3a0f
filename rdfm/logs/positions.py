"""Positions in a text log: lines and columns, from byte offsets.

In: the pieces of a log. Out: positions. Cost: line feeds are counted once. Pieces are kept as long
as their messages may be looked up, up to `BUFFER_BYTES`.
"""

from __future__ import annotations

from codecs import BOM_UTF16_BE, BOM_UTF16_LE, IncrementalDecoder, getincrementaldecoder
from collections import deque
from typing import NamedTuple

from rdfm._core import count_lines

__all__ = ["Lines"]

BUFFER_BYTES = 16 << 20
_UTF16 = {BOM_UTF16_LE: "utf-16-le", BOM_UTF16_BE: "utf-16-be"}
_LABEL_BYTES = frozenset(b"0123456789_-ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")


class _Piece(NamedTuple):
    start: int
    lines: int  # before the piece
    data: bytes


class Lines:
    """The recent part of a text log, for looking up lines and columns."""

    def __init__(self) -> None:
        """Initialize at the start of a log."""
        self._pieces: deque[_Piece] = deque()
        self._end = self._lines = self._buffered_bytes = 0
        self._utf16: IncrementalDecoder | None = None

    def feed(self, data: bytes) -> None:
        """Add the next piece. UTF-16 becomes UTF-8, to which the offsets of XML decoders refer."""
        if self._end == 0:
            name = _UTF16.get(bytes(data[:2]))
            self._utf16 = None if name is None else getincrementaldecoder(name)("replace")
        if self._utf16 is not None:
            data = self._utf16.decode(data).encode("utf-8", "replace")
        self._pieces.append(_Piece(self._end, self._lines, data))
        self._end += len(data)
        self._lines += count_lines(data)
        self._buffered_bytes += len(data)
        while self._buffered_bytes > BUFFER_BYTES and len(self._pieces) > 1:
            self._drop_oldest()

    def forget(self, offset: int) -> None:
        """Discard the pieces that end before an offset."""
        while len(self._pieces) > 1 and self._pieces[1].start <= offset:
            self._drop_oldest()

    def locate(self, offset: int) -> tuple[int, int] | None:
        """Return the line and the column of an offset, both from 1; None if it was discarded."""
        for index, piece in enumerate(self._pieces):
            if not 0 <= offset - piece.start <= len(piece.data):
                continue
            position = offset - piece.start
            line = piece.lines + piece.data.count(b"\n", 0, position) + 1
            before = piece.data[:position]
            while b"\n" not in before and index > 0:
                index -= 1
                before = self._pieces[index].data + before
            text = before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")
            return line, len(text.removeprefix("\ufeff")) + 1
        return None

    @property
    def last_piece_start(self) -> int:
        """Offset of the first byte of the last piece."""
        return self._pieces[-1].start if self._pieces else self._end

    def message_start(self, offset: int) -> int:
        """Return the first offset at or after `offset` outside white space and comments."""
        text = self._text(offset, self._end)
        position = 0
        while position < len(text):
            if text[position] in b" \t\r\n":
                position += 1
            elif text[position : position + 1] == b"#":
                end = text.find(b"\n", position)
                position = len(text) if end < 0 else end + 1
            else:
                return offset + position
        return offset

    def find(self, name: bytes, start: int, stop: int | None) -> int | None:
        """Return the offset of a string in a range, ignoring prefixes of longer names."""
        if not name:
            return None
        text = self._text(start, self._end if stop is None else stop)
        position = text.find(name)
        while position >= 0:
            following = text[position + len(name) : position + len(name) + 1]
            if name[-1] not in _LABEL_BYTES or not following or following[0] not in _LABEL_BYTES:
                return start + position
            position = text.find(name, position + 1)
        return None

    def _text(self, start: int, stop: int) -> bytes:
        """Return the available bytes in a range."""
        if self._pieces and start < self._pieces[0].start:
            return b""
        return b"".join(
            piece.data[max(start - piece.start, 0) : stop - piece.start]
            for piece in self._pieces
            if piece.start < stop and piece.start + len(piece.data) > start
        )

    def _drop_oldest(self) -> None:
        self._buffered_bytes -= len(self._pieces.popleft().data)
