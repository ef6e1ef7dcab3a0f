"""Messages as Server-Sent Events (WHATWG HTML, section 9.2), as RDF Messages names them.

In: batches. Out: events, one per message, each with an id.
Cost: an encoder.
Law: an event can be read without the events before it, and no raw CR occurs in it, because readers
end a line there. The id contains the generation of the log and the index of the message. After an
event with an id, the next one of the same log is the next message.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from rdfm._core import MessageBatch
from rdfm.errors import EncodeError, OptionError
from rdfm.formats import Format, encode_all
from rdfm.live.accept import MediaRange
from rdfm.live.following import Generation, LogFile, MessageSource, ReplacedError
from rdfm.live.frames import FrameError
from rdfm.live.offers import served_formats

__all__ = [
    "EVENT_STREAM",
    "HEARTBEAT",
    "EventForm",
    "EventId",
    "choose_event_format",
    "event_formats",
]

EVENT_STREAM = "text/event-stream"
EVENT = "rdf-message"
# A comment, which clients ignore.
HEARTBEAT = b":\n\n"
# The formats in which one message is a complete document, the preferred one first.
_NAMES = ("nq", "trig", "jsonld", "nt", "ttl")
_ID = re.compile(r"([0-9a-f]{1,16})-([0-9a-f]{1,16})-([0-9a-f]{8})-([0-9]{1,18})")


class EventId(NamedTuple):
    """The id of an event.

    Attributes:
        generation: The identity of the log when the message was read.
        message_index: The index of the message.
    """

    generation: Generation
    message_index: int

    def __str__(self) -> str:
        """Return the id as text."""
        inode, length, check = self.generation
        return f"{inode:x}-{length:x}-{check:08x}-{self.message_index}"

    @classmethod
    def parse(cls, text: str) -> EventId:
        """Return the id of a text.

        Raises:
            OptionError: If the text is not an id of this server.
        """
        match = _ID.fullmatch(text)
        if match is None:
            raise OptionError(f"{text[:60]!r} is not the id of an event of this server")
        inode, length, check = (int(group, 16) for group in match.groups()[:3])
        return cls(Generation(inode, length, check), int(match[4]))

    def find_next(self, path: Path) -> int:
        """Return the index of the message after this event in a log.

        Raises:
            ReplacedError: If the log is not the one of the event, or was truncated.
            OSError: If the log cannot be opened.
        """
        file = LogFile(path)
        try:
            if not file.continues(self.generation):
                raise ReplacedError(
                    f"{file.name} was replaced since the event with this id; start again without it"
                )
        finally:
            file.close()
        return self.message_index + 1


def event_formats() -> list[Format]:
    """Return the formats of events, the preferred one first."""
    served = {format.name: format for format in served_formats()}
    return [served[name] for name in _NAMES]


def choose_event_format(name: str | None, ranges: list[MediaRange]) -> Format:
    """Return the format of the events for a client.

    Args:
        name: The name of the format, if the client names it.
        ranges: The media ranges that the client accepts. Without one for a format of events, the
            format is N-Quads.

    Raises:
        OptionError: If messages cannot be sent as events in that format.
    """
    if name is not None:
        for format in event_formats():
            if name in (format.name, *format.spec.aliases):
                return format
        names = ", ".join(_NAMES)
        raise OptionError(f"the format of events must be one of {names}, not {name[:40]!r}")
    best, chosen = 0.0, event_formats()[0]
    for format in event_formats():
        for range in ranges:
            named = any(range.match(media_type) == 3 for media_type in format.spec.media_types)
            if named and range.quality > best:
                best, chosen = range.quality, format
    return chosen


@dataclass(frozen=True)
class EventForm:
    """Messages as events.

    Attributes:
        format: The format of each message.
        base: The URL of the log, which relative IRIs are relative to.
        restarts: False: events do not depend on each other.
    """

    format: Format
    base: str | None = None
    restarts: bool = False

    @property
    def key(self) -> Hashable:
        """The format and the base."""
        return "events", self.format.name, self.base

    def create_encoder(self) -> EventEncoder:
        """Return an encoder."""
        return EventEncoder(self.format)


class EventEncoder:
    """Encodes messages as events."""

    def __init__(self, format: Format) -> None:
        """Initialize with the format of each message."""
        options = {"dialect": "comment"} if "dialect" in format.spec.options("write") else {}
        self._encoder = format.encoder({**format.spec.value_options, **options})
        self._empty = b"{}" if format.name == "jsonld" else b""

    def encode(self, batch: MessageBatch, source: MessageSource) -> list[bytes]:
        """Return the events of messages.

        Raises:
            FrameError: If a message cannot be sent.
        """
        generation = source.generation()
        events: list[bytes] = []
        for number in range(len(batch)):
            try:
                data = self._encode_message(batch, number)
            except EncodeError as error:
                raise FrameError(events, error) from None
            lines = b"".join(
                b"data: %b\n" % line if line else b"data:\n" for line in data.split(b"\n")
            )
            event_id = EventId(generation, batch.message_index(number))
            events.append(f"event: {EVENT}\nid: {event_id}\n".encode() + lines + b"\n")
        return events

    def _encode_message(self, batch: MessageBatch, number: int) -> bytes:
        if not batch.quad_count_of(number):
            return self._empty
        self._encoder.reset()
        data = encode_all(self._encoder, batch.slice(number, number + 1)).removesuffix(b"\n")
        if b"\r" in data:
            raise EncodeError("a carriage return cannot be sent in an event")
        return data
