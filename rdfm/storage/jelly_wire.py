"""The messages of the Jelly gRPC protocol as bytes: subscriptions, stream options, frames.

In: bytes of Protobuf messages. Out: their fields, and bytes.
Law: the names and numbers are those of `proto/grpc.proto` and `proto/rdf.proto`. Only the Jelly
codec decodes frames. Malformed messages are errors of the type ValueError.
"""

from __future__ import annotations

from typing import NamedTuple

from rdfm import _core
from rdfm._core import delimited, has_rows, is_marked

__all__ = [
    "MAX_FRAME_BYTES",
    "PUBLISH",
    "SERVICE",
    "SUBSCRIBE",
    "StreamOptions",
    "cut_frames",
    "delimited",
    "has_rows",
    "is_marked",
    "parse_subscribe",
    "stream_options",
    "subscribe_message",
    "with_options",
]

SERVICE = "eu.ostrzyciel.jelly.core.proto.v1.RdfStreamService"
SUBSCRIBE = f"/{SERVICE}/SubscribeRdf"
PUBLISH = f"/{SERVICE}/PublishRdf"

# The version of Jelly 1.2, in which frames are not messages.
COLUMNS_VERSION = 3
# Maximum size of a frame, in both directions.
MAX_FRAME_BYTES = 64 << 20
# Tags of the first two fields of a message, if they are strings or messages.
_FIELD_1, _FIELD_2 = b"\x0a", b"\x12"


class StreamOptions(NamedTuple):
    """The fields of `RdfStreamOptions`, with the numbers of the protocol."""

    stream_name: str = ""
    physical_type: int = 0
    generalized: bool = False
    rdf_star: bool = False
    name_table: int = 0
    prefix_table: int = 0
    datatype_table: int = 0
    logical_type: int = 0
    version: int = 0
    stream_type: int = 0

    @property
    def is_flat(self) -> bool:
        """Whether the stream is one message."""
        if self.version == COLUMNS_VERSION:
            return self.stream_type == 0
        return self.logical_type % 10 in (1, 2)


def subscribe_message(topic: str, options: StreamOptions | None = None) -> bytes:
    """Return an `RdfStreamSubscribe`."""
    message = _FIELD_1 + delimited(topic.encode()) if topic else b""
    return (
        message if options is None else message + _FIELD_2 + delimited(_core.write_options(options))
    )


def parse_subscribe(data: bytes) -> tuple[str, StreamOptions | None]:
    """Return the topic and the requested options of an `RdfStreamSubscribe`.

    Options without values are also returned as None.

    Raises:
        ValueError: If the message is malformed.
    """
    topic, fields = _core.read_subscription(data)
    options = StreamOptions(*fields)
    return topic, None if options == StreamOptions() else options


def stream_options(frame: bytes) -> StreamOptions | None:
    """Return the options in the first row of a frame; None if that row contains something else.

    Raises:
        ValueError: If the row is malformed.
    """
    fields = _core.first_options(frame)
    return None if fields is None else StreamOptions(*fields)


def with_options(frame: bytes, options: StreamOptions) -> bytes:
    """Return a frame whose first row is an options row: `options` unless it already is.

    Raises:
        ValueError: If the first row is malformed.
    """
    if _core.first_options(frame) is not None:
        return frame
    row = _FIELD_1 + delimited(_core.write_options(options))
    return _FIELD_1 + delimited(row) + frame


def cut_frames(data: bytes, start: int = 0) -> tuple[list[bytes], int, int]:
    """Return the complete frames in bytes with length prefixes.

    If the length after a complete frame is invalid, the frames before it are returned, and the next
    call raises the error.

    Args:
        data: The bytes.
        start: Offset of the first frame.

    Returns:
        The frames, the offset after the last one, and the number of bytes missing from the next
        frame (0 if its length is incomplete).

    Raises:
        ValueError: If the first length is not a valid varint, or is larger than `MAX_FRAME_BYTES`.
    """
    return _core.cut_frames(data, start, MAX_FRAME_BYTES)
