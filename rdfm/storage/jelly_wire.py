"""The messages of the Jelly gRPC protocol as bytes: subscriptions, stream options, frames.

In: bytes of Protobuf messages. Out: their fields, and bytes.
Cost: only a few bytes of each frame are read in Python, not the rows.
Law: the names and numbers are those of `proto/grpc.proto` and `proto/rdf.proto`. Only the Jelly
codec decodes frames; `delimited` prepares frames for that codec.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

__all__ = [
    "MAX_FRAME_BYTES",
    "PUBLISH",
    "SERVICE",
    "SUBSCRIBE",
    "StreamOptions",
    "WireError",
    "cut_frames",
    "delimited",
    "has_rows",
    "is_marked",
    "missing_bytes",
    "parse_subscribe",
    "stream_options",
    "subscribe_message",
    "with_options",
]

SERVICE = "eu.ostrzyciel.jelly.core.proto.v1.RdfStreamService"
SUBSCRIBE = f"/{SERVICE}/SubscribeRdf"
PUBLISH = f"/{SERVICE}/PublishRdf"

# Maximum size of a frame, in both directions.
MAX_FRAME_BYTES = 64 << 20

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_ROW = 0x0A  # tag of a row in a frame, and of the options in a row (both: field 1)
# The beginning of a restart mark; the length of the frame follows. See docs/formats/jelly.md.
_MARK = b"\x7a\x28\x0a\x0crdfm.restart\x12\x18\xff\xferdfm restart\x00\x01"
_MARK_BYTES = len(_MARK) + 8


class WireError(ValueError):
    """A Protobuf message is malformed."""


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

    @classmethod
    def parse(cls, data: bytes) -> StreamOptions:
        """Parse a message.

        Raises:
            WireError: If the message is malformed.
        """
        values: dict[str, Any] = {}
        for number, value in _fields(data):
            name = _OPTION_FIELDS.get(number)
            if name is None:
                continue
            if isinstance(value, bytes) != (name == "stream_name"):
                raise WireError(f"field {number} of the stream options has the wrong wire type")
            if isinstance(value, bytes):
                values[name] = _text(value, "the stream name")
            elif name in ("generalized", "rdf_star"):
                values[name] = value != 0
            else:
                values[name] = value & 0xFFFFFFFF
        return cls(**values)

    def encode(self) -> bytes:
        """Return the message."""
        out = b""
        for number, name in _OPTION_FIELDS.items():
            value = getattr(self, name)
            if isinstance(value, str):
                data = value.encode()
                out += _tag(number, _LENGTH) + _varint(len(data)) + data if data else b""
            elif value:
                out += _tag(number, _VARINT) + _varint(int(value))
        return out


_OPTION_FIELDS = {
    1: "stream_name",
    2: "physical_type",
    3: "generalized",
    4: "rdf_star",
    9: "name_table",
    10: "prefix_table",
    11: "datatype_table",
    14: "logical_type",
    15: "version",
}


def subscribe_message(topic: str, options: StreamOptions | None = None) -> bytes:
    """Return an `RdfStreamSubscribe`."""
    name = topic.encode()
    out = _tag(1, _LENGTH) + _varint(len(name)) + name if name else b""
    if options is not None:
        data = options.encode()
        out += _tag(2, _LENGTH) + _varint(len(data)) + data
    return out


def parse_subscribe(data: bytes) -> tuple[str, StreamOptions | None]:
    """Return the topic and the requested options of an `RdfStreamSubscribe`.

    Options without values are also returned as None.

    Raises:
        WireError: If the message is malformed.
    """
    topic, options = "", b""
    for number, value in _fields(data):
        if number not in (1, 2):
            continue
        if not isinstance(value, bytes):
            raise WireError(f"field {number} of the subscription has the wrong wire type")
        if number == 1:
            topic = _text(value, "the topic")
        else:
            options += value  # Protobuf merges repeated messages
    parsed = StreamOptions.parse(options)
    return topic, None if parsed == StreamOptions() else parsed


def stream_options(frame: bytes) -> StreamOptions | None:
    """Return the options in the first row of a frame; None if that row contains something else.

    Raises:
        WireError: If the frame is malformed.
    """
    # In most frames the first row is a lookup entry or a statement with a short length.
    if len(frame) > 2 and frame[0] == _ROW and frame[1] < 0x80 and frame[2] != _ROW:
        return None
    at = 0
    while at < len(frame):
        number, kind, at = _read_tag(frame, at)
        value, at = _read_value(frame, at, kind)
        if number == 1:
            if not isinstance(value, bytes):
                raise WireError("a row of the frame has the wrong wire type")
            if not value or value[0] != _ROW:
                return None
            _, _, start = _read_tag(value, 0)
            options, _ = _read_value(value, start, _LENGTH)
            assert isinstance(options, bytes)
            return StreamOptions.parse(options)
    return None


def has_rows(frame: bytes) -> bool:
    """Whether a frame has rows.

    Raises:
        WireError: If the frame is malformed.
    """
    return any(number == 1 for number, _ in _fields(frame))


def is_marked(frame: bytes) -> bool:
    """Whether a frame has a restart mark with the length of the frame."""
    return frame.startswith(_MARK) and len(frame) == int.from_bytes(
        frame[len(_MARK) : _MARK_BYTES], "little"
    )


def with_options(frame: bytes, options: StreamOptions) -> bytes:
    """Return a frame whose first row is an options row.

    Args:
        frame: The frame. Returned unchanged if its first row is an options row.
        options: The options to insert otherwise.

    Raises:
        WireError: If the frame is malformed.
    """
    if stream_options(frame) is not None:
        return frame
    data = options.encode()
    row = _tag(1, _LENGTH) + _varint(len(data)) + data
    return _tag(1, _LENGTH) + _varint(len(row)) + row + frame


def delimited(frame: bytes) -> bytes:
    """Return a frame preceded by its length, as in a file."""
    return _varint(len(frame)) + frame


def cut_frames(data: bytes, start: int = 0) -> tuple[list[bytes], int]:
    """Return the complete frames in bytes with length prefixes, and the offset after the last one.

    If the length after a complete frame is invalid, the frames before it are returned, and the next
    call raises the error.

    Args:
        data: The bytes.
        start: Offset of the first frame.

    Raises:
        WireError: If the first length is not a valid varint, or is larger than `MAX_FRAME_BYTES`.
    """
    frames: list[bytes] = []
    at, size = start, len(data)
    while at < size:
        length = data[at]
        begin = at + 1
        if length >= 0x80:
            try:
                found = _frame_length(data, at)
            except WireError:
                if frames:
                    break
                raise
            if found is None:
                break
            length, begin = found
        end = begin + length
        if end > size:
            break
        frames.append(data[begin:end])
        at = end
    return frames, at


def missing_bytes(data: bytes) -> int:
    """Return the number of bytes missing from the first frame; 0 if its length is incomplete.

    Raises:
        WireError: If the length is not a number, or is larger than `MAX_FRAME_BYTES`.
    """
    found = _frame_length(data, 0)
    return 0 if found is None else max(sum(found) - len(data), 0)


def _frame_length(data: bytes, at: int) -> tuple[int, int] | None:
    """Return the length of a frame and the offset of its first byte; None if it is incomplete."""
    found = _try_varint(data, at)
    if found is not None and found[0] > MAX_FRAME_BYTES:
        raise WireError(
            f"a frame has {found[0]} bytes, and Jelly gRPC frames have at most "
            f"{MAX_FRAME_BYTES >> 20} MiB"
        )
    return found


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield the numbers and values of the fields of a message."""
    at = 0
    while at < len(data):
        number, kind, at = _read_tag(data, at)
        value, at = _read_value(data, at, kind)
        yield number, value


def _read_tag(data: bytes, at: int) -> tuple[int, int, int]:
    """Return the number and the wire type of a field, and the offset of its value."""
    tag, at = _read_varint(data, at)
    if tag >> 3 == 0:
        raise WireError("a field has the number 0")
    return tag >> 3, tag & 7, at


def _read_value(data: bytes, at: int, kind: int) -> tuple[int | bytes, int]:
    """Return the value of a field and the offset after it."""
    if kind == _VARINT:
        return _read_varint(data, at)
    if kind == _LENGTH:
        length, at = _read_varint(data, at)
    elif kind in (_FIXED64, _FIXED32):
        length = 8 if kind == _FIXED64 else 4
    else:
        raise WireError(f"wire type {kind} is unknown")
    if at + length > len(data):
        raise WireError("the message ends inside a field")
    return data[at : at + length], at + length


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    found = _try_varint(data, at)
    if found is None:
        raise WireError("the message ends inside a number")
    return found


def _try_varint(data: bytes, at: int) -> tuple[int, int] | None:
    """Return a number and the offset after it; None if the number is incomplete."""
    value = shift = 0
    for index in range(at, min(at + 10, len(data))):
        byte = data[index]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, index + 1
        shift += 7
    if len(data) - at >= 10:
        raise WireError("a number has more than 10 bytes")
    return None


def _tag(number: int, kind: int) -> bytes:
    return _varint(number << 3 | kind)


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*out, number))


def _text(data: bytes, what: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise WireError(f"{what} is not valid UTF-8") from None
