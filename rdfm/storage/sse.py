"""Server-Sent Events, as the WHATWG HTML standard defines them (section 9.2.6).

In: bytes of a stream, in pieces of any size. Out: events.
Cost: linear; memory for one event, which is bounded.
Law: how the stream is cut into pieces does not change the events. An event that is not complete at
the end of the stream is discarded.
"""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

from rdfm.errors import LimitError

__all__ = ["MAX_EVENT_BYTES", "Event", "EventParser"]

MAX_EVENT_BYTES = 64 << 20
_LINE_END = re.compile(rb"\r\n|\n|\r")


class Event(NamedTuple):
    """An event.

    Attributes:
        type: Its type.
        data: Its data, in UTF-8.
        id: The last event id, as text; empty if there is none.
    """

    type: str
    data: bytes
    id: str


class EventParser:
    """Parses a stream.

    Attributes:
        last_id: The last event id, which a client sends when it reconnects.
        retry_seconds: The pause before reconnecting; None if the server did not set it.
    """

    def __init__(self, last_id: str = "") -> None:
        """Start at the beginning of a stream, after an event with the given id."""
        self.last_id = last_id
        self.retry_seconds: float | None = None
        self._id = last_id  # of the next event
        self._line = bytearray()  # the incomplete line
        self._follows_cr = False  # whether a line feed at the start belongs to the last line end
        self._is_first = True
        self._type = ""
        self._data: list[bytes] = []
        self._data_bytes = 0

    def feed(self, piece: bytes) -> list[Event]:
        """Return the events that are complete.

        Raises:
            LimitError: If an event is larger than `MAX_EVENT_BYTES`.
        """
        if self._follows_cr and piece.startswith(b"\n"):
            piece = piece[1:]
        if not piece:
            return []
        self._follows_cr = piece.endswith(b"\r")
        events: list[Event] = []
        start = 0
        for end in _LINE_END.finditer(piece):
            self._line += piece[start : end.start()]
            line, start = bytes(self._line), end.end()
            self._line.clear()
            if self._is_first:
                line, self._is_first = line.removeprefix(codecs.BOM_UTF8), False
            if line:
                self._process(line)
            elif (event := self._dispatch()) is not None:
                events.append(event)
        self._line += piece[start:]
        if len(self._line) + self._data_bytes > MAX_EVENT_BYTES:
            raise LimitError(f"an event has more than {MAX_EVENT_BYTES >> 20} MiB")
        return events

    def _process(self, line: bytes) -> None:
        """Process a field or a comment."""
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            # Invalid UTF-8 is replaced, as the standard requires.
            self._data.append(value.decode("utf-8", "replace").encode())
            self._data_bytes += len(value) + 1
        elif name == b"event":
            self._type = value.decode("utf-8", "replace")
        elif name == b"id":
            if b"\0" not in value:
                self._id = value.decode("utf-8", "replace")
        elif name == b"retry" and re.fullmatch(rb"[0-9]{1,9}", value):
            self.retry_seconds = int(value) / 1000

    def _dispatch(self) -> Event | None:
        """Return the event that ends here; None if it has no data."""
        self.last_id = self._id
        event = None
        if self._data:
            event = Event(self._type or "message", b"\n".join(self._data), self.last_id)
        self._type, self._data, self._data_bytes = "", [], 0
        return event
