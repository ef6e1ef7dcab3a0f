"""Streams of messages as Server-Sent Events: the client.

In: a response with the media type `text/event-stream`. Out: a binary file with the id and the data
of each message, preceded by their lengths.
Cost: memory for one event and one piece.
Law: after an interruption, the stream continues after the last event that was received, if the
server gave it an id. Otherwise, its events are received at least once.
"""

from __future__ import annotations

import struct
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from rdfm.errors import UnsupportedError
from rdfm.storage.addresses import HttpError
from rdfm.storage.sse import EventParser

if TYPE_CHECKING:
    from rdfm.storage.http import HttpSettings, Response

__all__ = ["EVENT_STREAM", "LENGTHS", "MESSAGE_EVENT", "EventSource"]

EVENT_STREAM = "text/event-stream"
MESSAGE_EVENT = "rdf-message"
MESSAGE_TYPE = "RDF-Message-Content-Type"
# The lengths of the id and the data of a message in the file.
LENGTHS = struct.Struct(">II")
DEFAULT_RETRY_SECONDS = 1.0
MAX_RETRY_SECONDS = 60.0
_PIECE_BYTES = 1 << 16


class EventSource:
    """The messages of a stream as a binary file.

    Attributes:
        name: The URL, for errors.
        size: Always None, because the length is unknown.
        message_type: The header `RDF-Message-Content-Type`; empty if there is none.
        repeats: Whether messages arrived whose events had no id of their own, so that they are
            received again after an interruption.
    """

    size = None
    has_length = False

    def __init__(self, response: Response, url: str, settings: HttpSettings) -> None:
        """Initialize with the response to the first request."""
        self.name = response.name
        self.message_type = response.headers.get(MESSAGE_TYPE, "")
        self._url = url
        self._settings = settings
        self._response = response
        self._parser = EventParser(settings.last_event_id or "")
        self._rest = b""
        self.repeats = False

    @property
    def link(self) -> tuple[str, str]:
        """The header `Link`, and the URL that it is relative to."""
        return self._response.headers.get("Link", ""), self._response.url

    def read1(self, _: int = -1) -> bytes:
        """Wait for messages, and return all that have arrived; empty bytes at the end.

        Raises:
            HttpError: If the stream was interrupted and cannot be continued.
            LimitError: If an event is too large.
        """
        while True:
            try:
                piece = self._response.read1(_PIECE_BYTES)
            except HttpError as error:
                if not error.transient:
                    raise
                if not self._reconnect():
                    return b""
                continue
            if not piece:  # the server has ended the stream
                if self._settings.follow is False or not self._reconnect():
                    return b""
                continue
            before = self._parser.last_id
            parts: list[bytes] = []
            for event in self._parser.feed(piece):
                if event.type == MESSAGE_EVENT:
                    self.repeats = self.repeats or event.id in ("", before)
                    event_id = event.id.encode()
                    parts += (LENGTHS.pack(len(event_id), len(event.data)), event_id, event.data)
                before = event.id
            if parts:
                return b"".join(parts)

    def read(self, size: int = -1) -> bytes:
        """Return at most `size` bytes; by default, all remaining bytes."""
        if size < 0:
            parts = [self._rest]
            self._rest = b""
            while piece := self.read1():
                parts.append(piece)
            return b"".join(parts)
        data = self._rest or self.read1()
        self._rest = data[size:]
        return data[:size]

    def _reconnect(self) -> bool:
        """Continue the stream. Return False if the server says that there is no more.

        Raises:
            HttpError: If the stream cannot be continued.
        """
        from rdfm.storage.http import open_url

        self._response.close()
        parser = self._parser
        pause = DEFAULT_RETRY_SECONDS if parser.retry_seconds is None else parser.retry_seconds
        time.sleep(min(pause, MAX_RETRY_SECONDS))
        settings = replace(self._settings, last_event_id=parser.last_id or None)
        try:
            self._response = open_url(self._url, settings, accept=EVENT_STREAM)
        except HttpError as error:
            if error.status == 409:
                raise HttpError(
                    self._url, "the log of this stream was replaced", 409, remedy="start again"
                ) from None
            raise
        self._parser = EventParser(parser.last_id)
        self._parser.retry_seconds = parser.retry_seconds
        if self._response.is_empty:
            return False
        media_type, _ = self._response.media_type
        message_type = self._response.headers.get(MESSAGE_TYPE, "")
        if (media_type, message_type) != (EVENT_STREAM, self.message_type):
            raise UnsupportedError(
                f"after reconnecting, the server sends {message_type or media_type!r} instead of "
                f"{self.message_type!r}",
                source=self.name,
            )
        return True

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return False."""
        return False

    def close(self) -> None:
        """Close the connection."""
        self._response.close()
