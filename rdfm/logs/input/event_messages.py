"""Messages that arrive as events: each event is one document.

In: the id and the data of each message, preceded by their lengths. Out: batches of one message, and
the id of the last event in the header.
Cost: a decoder, and memory for one message.
Law: a message is read as if it were a file with nothing else. Its index is its number in the stream.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rdfm import formats
from rdfm._core import MessageBatch
from rdfm.errors import DecodeError, UnsupportedError
from rdfm.formats import Decoder, DecoderLike, Format, Opening
from rdfm.storage.event_source import LENGTHS, EventSource

__all__ = ["MessageFormat", "announced_messages"]

_NAMES = ("nq", "trig", "jsonld", "nt", "ttl", "rdfxml")


def announced_messages(events: EventSource, format: str | None = None) -> MessageFormat:
    """Return the format of the messages of a stream.

    Args:
        events: The stream.
        format: The name of the format, if the user names it.

    Raises:
        UnsupportedError: If messages in this format cannot be events, or the format is unknown.
    """
    media_type = events.message_type.partition(";")[0].strip().lower()
    for name in _NAMES:
        spec = formats.find(name).spec
        if name == format or (format is None and media_type in spec.media_types):
            return MessageFormat(formats.find(name))
    if format is not None or not media_type:
        reason = (
            "the stream does not name the format of its messages"
            if format is None
            else f"messages in {format} cannot be sent as events"
        )
    else:
        reason = f"the messages have the type {media_type[:60]}, which cannot be sent as events"
    titles = ", ".join(formats.find(name).spec.title for name in _NAMES)
    raise UnsupportedError(f"{reason}; expected one of {titles}", source=events.name)


class MessageFormat(Format[MessageBatch]):
    """A format whose logs arrive message by message."""

    def __init__(self, format: Format) -> None:
        """Initialize with the format of each message."""
        super().__init__(format.spec, None, None)
        self._message_format = format

    def decoder(self, options: Mapping[str, Any], opening: Opening = Opening()) -> DecoderLike:  # noqa: B008 - immutable
        """Return a decoder of messages."""
        values = dict(options)
        if "dialect" in self.spec.options("read"):
            values.setdefault("dialect", "plain")
        return _MessageDecoder(self._message_format.decoder(values), self.spec.name)


class _MessageDecoder(Decoder):
    """Decodes messages one by one."""

    def __init__(self, decoder: DecoderLike, name: str) -> None:
        self._decoder = decoder
        self._name = name
        self._data = bytearray()
        self._count = 0
        self._event_id = ""
        self._error: DecodeError | None = None
        self._failed = b""

    def feed(self, piece: bytes, /) -> None:
        self._data += piece

    def finish(self) -> None:
        pass

    def next_batch(self) -> MessageBatch | None:
        if self._error is not None:
            raise self._error
        if len(self._data) < LENGTHS.size:
            return None
        id_bytes, data_bytes = LENGTHS.unpack_from(self._data)
        start = LENGTHS.size + id_bytes
        end = start + data_bytes
        if len(self._data) < end:
            return None
        self._event_id = self._data[LENGTHS.size : start].decode()
        message = bytes(self._data[start:end])
        del self._data[:end]
        try:
            batch = self._decode(message)
        except DecodeError as error:
            error.message_index = self._count
            self._error, self._failed = error, message
            raise
        self._count += 1
        return batch

    def _decode(self, message: bytes) -> MessageBatch:
        batches, is_complete = self._decoder.decode_log(message)
        if not is_complete:
            self._decoder.next_batch()  # raises the error
        count = sum(len(batch) for batch in batches)
        if count > 1:
            raise DecodeError(f"an event has {count} messages, not one", format=self._name)
        batch = next((batch for batch in batches if len(batch)), None)
        if not isinstance(batch, MessageBatch):
            batch = MessageBatch.from_messages([[]])
        return batch.numbered(self._count)

    def skip_message(self) -> bytes | None:
        if self._error is None:
            raise ValueError("there is no error to skip")
        skipped, self._error, self._failed = self._failed, None, b""
        self._count += 1
        return skipped

    def reset(self) -> None:
        self._data.clear()
        self._count, self._error, self._failed = 0, None, b""
        self._event_id = ""

    def header(self) -> Mapping[str, Any]:
        return {"event_id": self._event_id}
