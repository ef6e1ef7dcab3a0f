"""Reads a log while it grows: its stored frames, or its messages.

In: the path of a log, and a position. Out: frames or batches, up to the committed length; an empty
result at the end. Reading continues when the log has grown.
Cost: a piece of 256 KiB and a decoder. A log that is not Jelly, or is compressed, is opened again
whenever it has grown, and is read from the start unless its format allows reading from the middle.
Law: uncommitted bytes are never read. A log that was replaced or truncated is an error, because its
messages can no longer be numbered.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast

from rdfm import formats
from rdfm._core import LengthChain, MessageBatch
from rdfm.errors import DecodeError, TruncatedError, visible
from rdfm.formats import DecoderLike, Opening
from rdfm.logs.input.driver import ReadSettings
from rdfm.logs.journal import checksum_before, committed_length
from rdfm.logs.read.reader import LogReader, open_log
from rdfm.logs.read.seek import seek
from rdfm.logs.write.log_end import follow_lengths
from rdfm.storage import compression as compressions
from rdfm.storage.jelly_wire import (
    MAX_FRAME_BYTES,
    StreamOptions,
    cut_frames,
    delimited,
    has_rows,
    is_marked,
    stream_options,
    with_options,
)

__all__ = [
    "Generation",
    "LogFile",
    "LogOptions",
    "MessageSource",
    "ReplacedError",
    "StoredFrames",
    "count_messages",
    "describe",
    "open_messages",
]

PIECE_BYTES = 256 << 10
_HEAD_BYTES = 8 << 20
# Stream options for a log that is not a Jelly log.
_PRESET = StreamOptions(name_table=4000, prefix_table=150, datatype_table=32, version=2)
_TRIPLES, _QUADS = 1, 2
_PHYSICAL_TYPES, _VERSIONS = (1, 2, 3), (1, 2)
_DECODER: dict[str, Any] = {"frames": "message", "max_message_bytes": MAX_FRAME_BYTES}


class LogOptions(NamedTuple):
    """The properties of a log that determine a response.

    Attributes:
        options: The stream options of a Jelly log, or stream options that suit the format of
            another log.
        stored: Whether the frames of the log can be sent unchanged.
    """

    options: StreamOptions
    stored: bool


class Generation(NamedTuple):
    """The identity of a log at some time.

    Attributes:
        inode: The inode number of the file.
        length: The committed length in bytes.
        check: The checksum of the last bytes before the length.
    """

    inode: int
    length: int
    check: int


class ReplacedError(Exception):
    """Raised if the log was replaced by another file, or truncated."""


class LogFile:
    """A log that may grow. Only committed bytes are read.

    Attributes:
        path: Path of the log.
        name: Name of the log in error texts.
        position: Offset of the next byte to read.
    """

    def __init__(self, path: Path, position: int = 0) -> None:
        """Open the file.

        Raises:
            OSError: If the file cannot be opened.
        """
        self.path = path
        self.name = visible(str(path))
        self.position = position
        self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    @property
    def inode(self) -> int:
        """The inode number of the file."""
        return os.fstat(self._file).st_ino

    def size(self) -> int:
        """Return the committed length.

        Raises:
            ReplacedError: If the path refers to another file, or the log is shorter than before.
        """
        size = self._size()
        try:
            is_same = os.path.samestat(os.fstat(self._file), self.path.stat())
        except FileNotFoundError:
            is_same = False
        if not is_same or size < self.position:
            raise ReplacedError(f"{self.name} was replaced or removed")
        return size

    def _size(self) -> int:
        path = str(self.path)
        while True:
            if (length := committed_length(path, self._file)) is not None:
                return length
            size = os.fstat(self._file).st_size
            # In the meantime, a writer may have created its journal and appended data.
            if (length := committed_length(path, self._file)) is not None:
                return length
            if size == os.fstat(self._file).st_size:
                return size

    def read(self, needed: int = 0) -> bytes:
        """Return the next piece; empty bytes at the end.

        Args:
            needed: Size of the piece in bytes, if it is larger than `PIECE_BYTES`.

        Raises:
            ReplacedError: As in `size`.
        """
        count = max(needed, PIECE_BYTES)
        if self.position + count > self._limit:
            self._limit = self.size()
            count = min(count, self._limit - self.position)
        data = os.pread(self._file, count, self.position) if count > 0 else b""
        self.position += len(data)
        return data

    def read_at(self, start: int, count: int) -> bytes:
        """Return bytes at an offset, without changing the position.

        Raises:
            ReplacedError: If the log no longer has these bytes.
        """
        data = os.pread(self._file, count, start)
        if not data and count:
            raise ReplacedError(f"{self.name} was truncated")
        return data

    def checksum_before(self, length: int) -> int:
        """Return the checksum of the last bytes before a length."""
        return checksum_before(self._file, length)

    @property
    def modified(self) -> int:
        """The time of the last change in ns."""
        return os.fstat(self._file).st_mtime_ns

    def generation(self) -> Generation:
        """Return the identity of the log with its committed length.

        Raises:
            ReplacedError: As in `size`.
        """
        length = self.size()
        return Generation(self.inode, length, self.checksum_before(length))

    def continues(self, earlier: Generation) -> bool:
        """Whether the log is the same as at an earlier time, or has grown since then.

        Raises:
            ReplacedError: As in `size`.
        """
        return (
            earlier.inode == self.inode
            and earlier.length <= self.size()
            and earlier.check == self.checksum_before(earlier.length)
        )

    def follow_lengths(self, size: int) -> LengthChain:
        """Follow the lengths of the frames up to a committed size."""
        return follow_lengths(self._file, size)

    _limit = 0  # a committed length that was found earlier

    def close(self) -> None:
        """Close the file."""
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)


class StoredFrames:
    """The frames of a Jelly log as they are stored, starting at a restart frame.

    A log begins with a restart frame. The other restart frames are those with a mark. Because a
    mark may be wrong, the frames from the mark on are decoded before they are returned.

    Attributes:
        number: The number of the next message.
    """

    def __init__(self, path: Path, options: StreamOptions, *, from_end: bool = False) -> None:
        """Open a log at its first message, or at its end.

        Args:
            path: The log.
            options: Stream options of the log.
            from_end: Whether to begin with the next new message. If so, call `find_restart` next.

        Raises:
            OSError: If the log cannot be opened.
            ReplacedError: As in `LogFile.size`.
        """
        self.number = 0
        self._file = LogFile(path)
        self._options = options
        self._rest = b""
        self._frames: deque[bytes] = deque()  # complete frames at `number`
        self._check: DecoderLike | None = None
        self._error: DecodeError | None = None
        if from_end:
            try:
                chain = self._file.follow_lengths(self._file.size())
            except (ReplacedError, OSError):
                self.close()
                raise
            self.number, self._file.position = chain.messages, chain.end

    def find_restart(self, end: int) -> bool:
        """Go to the next restart frame, but not beyond a given message.

        Args:
            end: The number of that message. All messages before it are committed.

        Returns:
            Whether the next frame is a restart frame.

        Raises:
            DecodeError: If the log is invalid.
            ReplacedError: As in `LogFile.size`.
        """
        while self.number < end and self._fill():
            frame = self._frames[0]
            if is_marked(frame) and self._read_options(frame) == self._options:
                self._begin_check()
                return True
            self._frames.popleft()
            self.number += 1
        return False

    def _begin_check(self) -> None:
        """Start decoding frames, from the next frame on. The next frame has a mark."""
        start = self._file.position - len(self._rest) - sum(len(delimited(f)) for f in self._frames)
        opening = Opening(split=(start, None, None), first_message_index=self.number)
        self._check = formats.find("jelly").decoder(_DECODER, opening)
        self._check.feed(b"\0")  # a split is read from the byte before it

    def read(self) -> list[bytes]:
        """Return the next frames; an empty list at the end.

        Raises:
            DecodeError: If the log is invalid, its options change, or a mark is wrong. Earlier
                frames have been returned.
            ReplacedError: As in `LogFile.size`.
        """
        if self._error is not None:
            raise self._error
        if not self._fill():
            return []
        frames: list[bytes] = []
        while self._frames:
            try:
                options = self._read_options(self._frames[0])
                if options not in (None, self._options):
                    raise self._invalid_error("the stream options change")
            except DecodeError:
                if frames:
                    break
                raise
            frames.append(self._frames.popleft())
        if self._check is not None:
            frames = self._check_frames(self._check, frames)
        elif self.number == 0:
            frames[0] = with_options(frames[0], self._options)
        self.number += len(frames)
        return frames

    def _check_frames(self, check: DecoderLike, frames: list[bytes]) -> list[bytes]:
        """Return the frames that can be decoded without the frames before the mark.

        Raises:
            DecodeError: If the first frame is invalid.
        """
        check.feed(b"".join(map(delimited, frames)))
        count = 0
        try:
            while (batch := check.next_batch()) is not None:
                count += len(batch)
        except DecodeError as error:
            self._error = error
            if not count:
                raise
        return frames[:count]

    def _fill(self) -> bool:
        """Read until there is a frame. Return False at the end."""
        while not self._frames:
            try:
                frames, end, missing = cut_frames(self._rest)
            except ValueError as error:
                raise self._invalid_error(str(error)) from None
            if frames:
                self._frames.extend(frames)
                self._rest = self._rest[end:]
                break
            piece = self._file.read(missing)
            if not piece:
                return False
            self._rest += piece
        return True

    def _read_options(self, frame: bytes) -> StreamOptions | None:
        try:
            return stream_options(frame)
        except ValueError as error:
            raise self._invalid_error(str(error)) from None

    def _invalid_error(self, reason: str) -> DecodeError:
        return DecodeError(reason, format="jelly", source=self._file.name)

    def size(self) -> int:
        """Return the committed length of the log."""
        return self._file.size()

    @property
    def reached(self) -> int:
        """Offset of the next byte to read."""
        return self._file.position

    def check_end(self) -> None:
        """Reject a log that ends inside a frame.

        Raises:
            TruncatedError: If the log ends inside a frame.
        """
        if self._rest:
            raise _truncated_frame_error(self._file)

    def close(self) -> None:
        """Close the log."""
        self._file.close()


class MessageSource(Protocol):
    """The messages of a log, starting with a given message."""

    def read(self) -> MessageBatch | None:
        """Return the next batch; None at the end.

        Raises:
            DecodeError: If the log is invalid.
            ReplacedError: As in `LogFile.size`.
        """

    def check_end(self) -> None:
        """Reject a log that ends inside a message.

        Raises:
            TruncatedError: If the log ends inside a message.
        """

    def size(self) -> int:
        """Return the committed length of the log."""

    def generation(self) -> Generation:
        """Return the identity of the log. It covers the messages that were read."""

    @property
    def reached(self) -> int:
        """Offset of the next byte to read."""

    def close(self) -> None:
        """Close the log."""


class _JellyMessages:
    """The messages of a Jelly log with length prefixes: one per frame."""

    def __init__(self, path: Path, first: int) -> None:
        """Open a log at a message."""
        format = formats.find("jelly")
        reading = ReadSettings("jelly", _DECODER, "none")
        split = seek(str(path), reading, slice(first, None), numbered=True) if first else None
        opening = Opening() if split is None else split.opening(format.spec)
        start = 0 if split is None else max(split.start - 1, 0)
        self._first = first
        self._file = LogFile(path, start)
        self._decoder = format.decoder(_DECODER, opening)

    def read(self) -> MessageBatch | None:
        while (batch := self._next_batch()) is None:
            piece = self._file.read()
            if not piece:
                return None
            self._decoder.feed(piece)
        return batch

    def _next_batch(self) -> MessageBatch | None:
        while (next_batch := self._decoder.next_batch()) is not None:
            batch = cast("MessageBatch", next_batch)
            missing = self._first - batch.first_message_index
            if missing <= 0:
                return batch
            if missing < len(batch):
                return batch.slice(missing, len(batch))
        return None

    def check_end(self) -> None:
        if self._file.follow_lengths(self._file.position).end < self._file.position:
            raise _truncated_frame_error(self._file)

    def size(self) -> int:
        return self._file.size()

    def generation(self) -> Generation:
        return self._file.generation()

    @property
    def reached(self) -> int:
        return self._file.position

    def close(self) -> None:
        self._file.close()


class _ReopenedMessages:
    """The messages of any other log. The log is opened again when it has grown."""

    def __init__(self, path: Path, first: int, base: str | None) -> None:
        """Open a log at a message."""
        format = formats.by_path(str(path))
        has_base = format is not None and "base" in format.spec.options("read")
        self._options: dict[str, Any] = {"base": base} if has_base else {}
        self._file = LogFile(path)  # to check its identity and length
        self._next_message = first
        self._log: LogReader | None = None
        self._batches: Iterator[MessageBatch] = iter(())
        self.reached = -1  # the committed length when the log was last opened

    def read(self) -> MessageBatch | None:
        while True:
            if self._log is None:
                size = self._file.size()
                if size == self.reached:
                    return None
                self.reached = size
                selected = f"{self._next_message}:" if self._next_message else None
                # In a text log, the last message is complete when it has been committed.
                self._log = open_log(str(self._file.path), messages=selected, **self._options)
                self._batches = self._log.batches()
            batch = next(self._batches, None)
            if batch is not None:
                self._next_message += len(batch)
                return batch
            self._log.close()
            self._log = None

    def check_end(self) -> None:
        """Do nothing, because reading the log has already checked its end."""

    def size(self) -> int:
        return self._file.size()

    def generation(self) -> Generation:
        return self._file.generation()

    def close(self) -> None:
        self._file.close()
        if self._log is not None:
            self._log.close()
            self._log = None


def _truncated_frame_error(file: LogFile) -> TruncatedError:
    return TruncatedError("the log ends inside a frame", format="jelly", source=file.name)


def open_messages(
    path: Path, log: LogOptions, first: int, base: str | None = None
) -> MessageSource:
    """Open a log at a message.

    Args:
        path: The log.
        log: Its properties.
        first: The number of the message.
        base: The URL that relative IRIs are relative to; that of the file by default.

    Raises:
        DecodeError, OSError: If the log is invalid, or cannot be opened.
    """
    return _JellyMessages(path, first) if log.stored else _ReopenedMessages(path, first, base)


def describe(path: Path) -> LogOptions:
    """Return those properties of a log on which responses depend.

    Raises:
        DecodeError, OSError: If the log is invalid, or cannot be opened.
    """
    format = formats.by_path(str(path))
    assert format is not None
    carries = format.spec.carries
    preset = _PRESET._replace(
        physical_type=_QUADS if carries["graphs"] else _TRIPLES,
        rdf_star=carries["triple_terms"] != "no",
    )
    if format.name != "jelly":
        return LogOptions(preset, stored=False)
    file = LogFile(path)
    try:
        head = b""
        while (piece := file.read()) and len(head) < _HEAD_BYTES:
            head += piece
            first_options = _first_options(head)
            if first_options is not None:
                return LogOptions(first_options, stored=True)
    finally:
        file.close()
    if not head:  # an empty log, to which a writer may add any options
        return LogOptions(preset, stored=False)
    with open_log(str(path), "jelly") as log:
        header = log.header.get("options")
        if header is None:
            for _ in log.batches():
                pass
        return LogOptions(_options_in_header(header or {}, preset), stored=False)


def _first_options(head: bytes) -> StreamOptions | None:
    """Return the options in the first row of a log with length prefixes.

    Returns None for other logs, and for options that the decoder rejects.
    """
    if compressions.by_content(head[: compressions.MAGIC_BYTES]) is not None:
        return None
    try:
        frames, _, _ = cut_frames(head)
        first = next((frame for frame in frames if has_rows(frame)), None)
        options = None if first is None else stream_options(first)
    except ValueError:
        return None
    if options is None or options.physical_type not in _PHYSICAL_TYPES:
        return None
    return options if options.version in _VERSIONS else None


def _options_in_header(header: dict[str, Any], preset: StreamOptions) -> StreamOptions:
    """Return the options in the header of a decoder, for example of a compressed log."""
    physical = {"triples": 1, "quads": 2, "graphs": 3}
    logical = {
        "unspecified": 0,
        "flat_triples": 1,
        "flat_quads": 2,
        "graphs": 3,
        "datasets": 4,
        "subject_graphs": 13,
        "named_graphs": 14,
        "timestamped_named_graphs": 114,
    }
    kind = header.get("logical_type", 0)
    # A log of a flat type is read as one message, and is served without the flat type.
    number = logical.get(kind, 0) if isinstance(kind, str) else int(kind)
    return preset._replace(
        physical_type=physical.get(header.get("physical_type", ""), preset.physical_type),
        generalized=bool(header.get("generalized", False)),
        rdf_star=bool(header.get("rdf_star", preset.rdf_star)),
        logical_type=0 if number % 10 in (1, 2) else number,
        stream_name=header.get("stream_name", ""),
    )


def count_messages(path: Path, log: LogOptions) -> int:
    """Return the number of messages of a log. This is the index of the next message.

    Raises:
        DecodeError, OSError, ReplacedError: If the log is invalid, or cannot be read.
    """
    if log.stored:
        file = LogFile(path)
        try:
            return file.follow_lengths(file.size()).messages
        finally:
            file.close()
    with open_log(str(path)) as reader:
        return sum(len(batch) for batch in reader.batches())
