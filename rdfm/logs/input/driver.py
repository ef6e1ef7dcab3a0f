"""The driver: from inputs to batches, in two halves.

In: the inputs that the user names, and the settings for reading them. Out: from the first half, the
pieces of each log, with its decoder; from the second half, batches with their log and its header,
or an error. Continuing after an error skips the invalid data.
Cost: memory for a piece and a decoder. Small archive members are kept in memory in groups.
Law: the halves share only the pieces passed from one to the other, so a queue can connect them; the
data reported with a batch does not depend on the progress of the other half.
"""

from __future__ import annotations

import codecs
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, cast

from rdfm import formats
from rdfm._core import MessageBatch
from rdfm.errors import (
    DecodeError,
    LimitError,
    OptionError,
    RdfmError,
    TruncatedError,
    spell_option,
    visible,
)
from rdfm.formats import DecoderLike, Format, Opening
from rdfm.logs import remedies
from rdfm.logs.file_advice import unread_content_text
from rdfm.logs.input.inputs import (
    Input,
    MemberInput,
    Readable,
    is_folder_or_glob,
    may_be_endless,
    open_inputs,
)
from rdfm.logs.input.splits import Split
from rdfm.logs.journal import byte_count
from rdfm.logs.notes import MAX_LISTED
from rdfm.storage.addresses import redact_url
from rdfm.storage.event_source import EventSource
from rdfm.storage.open_file import is_open_file, open_file_name, plain_path
from rdfm.storage.paths import is_url
from rdfm.storage.pipes import mark_pipes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rdfm.message import AnyBatch

__all__ = [
    "NOTHING_DROPPED",
    "NO_LOG",
    "Driver",
    "DroppedData",
    "Item",
    "Piece",
    "ReadBatch",
    "ReadError",
    "ReadSettings",
    "SkippedData",
    "SkippedLines",
    "Source",
    "Work",
    "line_settings",
]

# Items of small logs, such as members of archives, are passed on in groups of this size.
GROUP_BYTES = 1 << 20
_SKIP_LINE = spell_option("on_error", "skip-line")
# Approximate memory of an error.
ERROR_BYTES = 1000


@dataclass(frozen=True)
class ReadSettings:
    """Settings for reading logs.

    Attributes:
        format: The format of all logs. Detected for each log by default.
        options: Options of decoders, as values or as text; each format takes those it supports.
        compression: As in `open_log`.
        storage_options: As in `open_log`.
        split: The part of the log to read.
        parts: Which messages may be read in parts, as in `Opening`.
        message_per_file: Whether each log is one message, even if it is empty.
        strict: Whether to reject an option that is not supported by the format of a single log, or
            by any of the formats found.
        checks_marks: Whether to check the restart marks.
        hints: Defaults for options, passed to the formats that support them.
        watch: Called with the pieces of each log before they are decoded, except for a log that its
            decoder reads directly.
        reject_unreadable: Whether to reject a file that cannot be opened, if it is one of many, as
            if it were not a log. By default, such a file ends the run.
        needs_logs: Whether inputs that contain no logs at all, such as an empty folder, are an
            error at the end.
        skip_lines: Whether to skip lines that are not statements and keep the rest of their
            message, in formats that support this.
        needs_lines: An option with its value, as `spell_option` returns it, that requires this of
            the format of each log.
    """

    format: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    compression: str | None = None
    storage_options: Mapping[str, Any] | None = None
    split: Split | None = None
    parts: Literal["never", "frames", "always"] = "never"
    message_per_file: bool = False
    strict: bool = True
    checks_marks: bool = False
    hints: Mapping[str, Any] = field(default_factory=dict)
    watch: Callable[[Input, bytes], None] | None = None
    reject_unreadable: bool = False
    needs_logs: bool = False
    skip_lines: bool = False
    needs_lines: str | None = None

    def __post_init__(self) -> None:
        """Mark the pipes that options name, because each decoder reads them."""
        object.__setattr__(self, "options", mark_pipes(self.options))

    def skips_lines_of(self, format: Format) -> bool:
        """Whether lines are skipped in logs of a format."""
        return self.skip_lines and format.spec.skips_lines


def line_settings(on_error: str, *, rejects: bool = False) -> dict[str, Any]:
    """Return the settings about lines for a value of `on_error`.

    Args:
        on_error: The value.
        rejects: Whether skipped data is written to a file.

    Raises:
        OptionError: If the value is unknown.
    """
    if on_error == "skip-line":
        return {"skip_lines": True, "needs_lines": _SKIP_LINE}
    if on_error not in ("fail", "skip"):
        raise OptionError(f"on_error must be 'fail', 'skip' or 'skip-line', not {on_error!r}")
    return {"needs_lines": spell_option("rejects")} if rejects else {}


class Source(NamedTuple):
    """A log that is being read.

    Attributes:
        name: Its name or URL, for errors.
        format: Its format.
        input: The input that contains its bytes.
        member: Whether the log is a member of an archive.
    """

    name: str
    format: Format
    input: Input
    member: bool


# The source of results that do not come from a log, such as those of an empty folder.
NO_LOG = Source("no log", cast("Any", None), cast("Any", None), member=False)


class OpenedLog(NamedTuple):
    """A log with its decoder, passed from the first half to the second.

    Attributes:
        source: The log.
        decoder: Its decoder, in the initial state.
        unwanted: Set if the second half does not need the rest of the log. The first half then ends
            the log early; this has no other effect.
        handed_over: Whether the decoder reads the file directly.
    """

    source: Source
    decoder: DecoderLike
    unwanted: threading.Event
    handed_over: bool = False


class LogEnd(NamedTuple):
    """The end of a log.

    Attributes:
        error: The error, if the bytes could not be decompressed or the archive is corrupt.
        final: Whether the archive itself is corrupt, so that no log follows.
    """

    error: DecodeError | None = None
    final: bool = False


class Work(NamedTuple):
    """Logs, or a part of one, that a thread can read and decode at any time.

    Attributes:
        begin: Function that reads and decodes the logs with a driver, and returns their items in
            groups.
        part: The part of a log.
    """

    begin: Callable[[Driver], Iterator[list[Item]]]
    part: Any = None


class Piece(NamedTuple):
    """An output of the first half: logs in memory; or a log, followed by its pieces and its end.

    Attributes:
        item: Logs in memory, an opened log, bytes of a log, the end of a log, or work for a thread.
        bytes_in: Bytes of all inputs read so far.
        cost: Bytes of memory that the item uses.
    """

    item: list[Input] | OpenedLog | bytes | LogEnd | Work
    bytes_in: int
    cost: int = 0


class DroppedData(NamedTuple):
    """Data dropped between two items of the second half.

    Attributes:
        namespaces: Number of namespaces declared after a log's last message.
        metadata: Number of metadata entries of messages with many frames.
        keys: Number of JSON-LD keys that no context maps to an IRI.
        key: The first of these keys, quoted.
        comments: Number of comments in Turtle and TriG.
    """

    namespaces: int = 0
    metadata: int = 0
    keys: int = 0
    key: str | None = None
    comments: int = 0


NOTHING_DROPPED = DroppedData()
# Header entries that report dropped data.
_DROPPED_DATA_KEYS = frozenset(
    {"dropped_metadata", "dropped_keys", "dropped_comments", "trailing_namespaces"}
)


class ReadBatch(NamedTuple):
    """The next messages of a log, or its end.

    Attributes:
        source: The log.
        batch: The messages; None at the end of a log, or if a stage kept none of them.
        header: The log's header when the messages were read.
        bytes_in: Bytes of all inputs read up to and including these messages.
        dropped_data: Data dropped before the messages.
    """

    source: Source
    batch: AnyBatch | None
    header: Mapping[str, Any]
    bytes_in: int
    dropped_data: DroppedData = NOTHING_DROPPED


class ReadError(NamedTuple):
    """An error in a log, after all messages that were complete before the error.

    Further iteration skips the invalid data.

    Attributes:
        source: The log.
        error: The error.
        header: The log's header before the error.
        resumable: Whether the log continues after the error.
        final: Whether the archive itself is corrupt, so that no log follows.
    """

    source: Source
    error: DecodeError
    header: Mapping[str, Any]
    resumable: bool
    final: bool = False


class SkippedData(NamedTuple):
    """Skipped data. It follows `ReadError` if the caller continues to read; stages also yield it.

    Attributes:
        source: The log.
        data: The skipped bytes, at most the first MiB.
        cut: Whether bytes are missing in `data`, for N-Triples and N-Quads.
        abandoned: Whether the log was not read to the end.
        errors: Number of errors that a stage skipped.
        error: The first of these errors.
    """

    source: Source
    data: bytes = b""
    cut: bool = False
    abandoned: bool = False
    errors: int = 0
    error: RdfmError | None = None


class SkippedLines(NamedTuple):
    """Lines that were skipped, while the rest of their messages is kept.

    They precede the batch of their messages. Only with `ReadSettings.skip_lines`.

    Attributes:
        source: The log.
        lines: The errors, each with the bytes of its line.
    """

    source: Source
    lines: Sequence[tuple[DecodeError, bytes]]


Item = ReadBatch | ReadError | SkippedData | SkippedLines


class Driver:
    """Reads logs one after the other.

    Attributes:
        several: True unless there is exactly one input, and it is not a folder, glob or archive.
        opened: The open files, for callers that stop early.
        first: The log, if there is only one and it is open.
        name: The name of the input, or of the first of several inputs.
        format: The name of the format of all logs, if it is known.
        uncommitted: Number of bytes at the end of each log that were not read, because no run has
            committed them, by name.
        may_be_endless: Whether an input may be endless. Set by `pieces`, for URLs when they are
            opened.
        stream_error: Raised if an input is a stream of events.
    """

    may_be_endless = False
    stream_error: OptionError | None = None

    def __init__(self, inputs: list[Readable], settings: ReadSettings) -> None:
        """Initialize with the inputs and the settings for reading them.

        Raises:
            OptionError: If no format supports one of the options or its value.
            UnknownFormatError: If no format has that name.
        """
        self._inputs = inputs = [plain_path(each, "rb") for each in inputs]
        self._settings = settings
        self.several = len(inputs) != 1 or is_folder_or_glob(inputs[0], settings.storage_options)
        self.opened: list[Input] = []
        self._bytes_before = 0  # of the inputs before the current one
        self._logs = 0  # started so far
        self._without_logs: list[str] = []
        self._streams: list[EventSource] = []
        self.uncommitted: dict[str, int] = {}
        self._decoders = _Decoders(settings)
        self.first: Source | None = None
        self.format = settings.format
        self.name = _input_name(inputs[0]) if inputs else ""
        if self.several:
            self._decoders.check()
        self._dropped_data = NOTHING_DROPPED  # since the previous item
        # The header that most members of an archive share; this object is not modified.
        self._complete_header: Mapping[str, Any] | None = None

    def __iter__(self) -> Iterator[Item]:
        """Yield the items of both halves, run one after the other."""
        for items in self.decode(self.pieces()):
            yield from items

    def continue_stream(self, last_event_id: str) -> None:
        """Let a stream of events begin after the event with an id. Call it before `pieces`."""
        options = {**(self._settings.storage_options or {}), "last_event_id": last_event_id}
        self._settings = replace(self._settings, storage_options=options)

    def close(self) -> None:
        """Close the open files."""
        for data in self.opened:
            data.close()

    def notes(self) -> tuple[str, ...]:
        """Return notes on the inputs for users. Call it after the last item."""
        uncommitted = [
            f"{name}: {byte_count(count)} after the last commit were not read"
            for name, count in self.uncommitted.items()
        ]
        empty = self._without_logs
        listed = [f"{name} contains no logs" for name in empty[:MAX_LISTED]]
        if len(empty) > MAX_LISTED:
            listed.append(f"{len(empty) - MAX_LISTED:,} more inputs contain no logs")
        repeated = [
            f"{stream.name} sends events without ids, so messages are received at least once: after "
            "an interruption, and in a later run, they are received again"
            for stream in self._streams
            if stream.repeats
        ]
        return (*uncommitted, *listed, *repeated)

    def open_first(self) -> Iterator[Piece]:
        """Return the same as `pieces`, but open a single log immediately and set `first` to it.

        Raises:
            OptionError, UnknownFormatError, OSError: As in `pieces`.
        """
        pieces = self.pieces()
        if self.several:
            return pieces
        piece = next(pieces, None)
        if piece is None:
            return pieces
        if isinstance(piece.item, OpenedLog) and not self.several:
            self.first = piece.item.source
        return chain((piece,), pieces)

    # --- the first half: bytes ---

    def pieces(self) -> Iterator[Piece]:
        """Open the logs one after the other, and yield their pieces.

        Raises:
            OptionError: If a log's format does not support one of the options, or there are no
                logs and `needs_logs` is set.
            UnknownFormatError: If a format cannot be detected.
            OSError: If a file cannot be read.
        """
        self.may_be_endless = any(map(may_be_endless, self._inputs))
        for readable in self._inputs:
            logs_before = self._logs
            for data in self._open_files(readable):
                self.opened.append(data)
                self.may_be_endless = self.may_be_endless or data.may_be_endless
                if data.uncommitted_bytes:
                    self.uncommitted[data.name] = data.uncommitted_bytes
                if self._settings.split is None and data.is_archive(self._settings.format):
                    if not self.several:
                        self.several = True
                        self._decoders.check()
                    yield from self._read_archive(data)
                else:
                    yield from self._read_log(data, data)
                self._bytes_before = self._bytes_in(data, ended=True)
            if self._logs == logs_before:
                self._without_logs.append(_input_name(readable))
        if self._settings.needs_logs and self._inputs and not self._logs:
            more = len(self._inputs) - 1
            others = f" and {more:,} more input{'s' * (more > 1)} contain" if more else " contains"
            raise OptionError(
                f"{self.name}{others} no logs; check the path (names that begin with _ or . are skipped)"
            )

    def _open_files(self, readable: Readable) -> Iterator[Input]:
        """Yield the files that an input refers to."""
        settings = self._settings
        if settings.split is None:
            yield from open_inputs(
                readable,
                settings.compression,
                settings.storage_options,
                reject_unreadable=settings.reject_unreadable,
            )
            return
        yield Input(readable, split=settings.split, storage_options=settings.storage_options)

    def _bytes_in(self, file: Input, *, ended: bool = False) -> int:
        """Return the bytes read from all inputs. An input that ends early counts in full."""
        size = file.size if ended and file.size is not None else 0
        return self._bytes_before + max(file.bytes_read, size)

    def _read_log(self, data: Input, file: Input) -> Iterator[Piece]:
        """Yield the pieces of a log, which is a file or a member of one."""
        if data.events is not None:
            if self.stream_error is not None:
                raise self.stream_error
            self._streams.append(data.events)
        self._logs += 1
        data.watch = self._settings.watch
        format = data.detect_format(self._settings.format)
        decoder = self._decoders.make(
            data, format, strict=self._settings.strict and not self.several
        )
        handed_over = data.hand_over(decoder)
        source = Source(data.name, format, data, isinstance(data, MemberInput))
        opened = OpenedLog(source, decoder, threading.Event(), handed_over)
        yield Piece(opened, self._bytes_before if handed_over else self._bytes_in(file))
        if handed_over:  # the decoder has read and closed it by now
            yield Piece(LogEnd(), self._bytes_in(file))
            return
        for item in _read_pieces(data, opened.unwanted):
            if isinstance(item, LogEnd):
                yield Piece(item, self._bytes_in(file, ended=data is file))
            else:
                yield Piece(item, self._bytes_in(file), len(item))
        if data is file:
            data.close()
            self.opened.remove(data)

    def _read_archive(self, data: Input) -> Iterator[Piece]:
        try:
            for members in data.read_members():
                if isinstance(members[0], MemberInput) and not members[0].in_memory:
                    yield from self._read_log(members[0], data)
                else:
                    self._logs += len(members)
                    yield Piece(members, self._bytes_in(data), GROUP_BYTES)
        except DecodeError as error:  # of the archive, which ends here
            self._logs += 1
            format = formats.find("nq")
            source = Source(data.name, format, data, member=False)
            yield Piece(
                OpenedLog(source, format.Decoder(), threading.Event()), self._bytes_in(data)
            )
            yield Piece(LogEnd(error, final=True), self._bytes_in(data, ended=True))
        self.opened.remove(data)

    # --- the second half: batches ---

    def decode(self, pieces: Iterable[Piece]) -> Iterator[list[Item]]:
        """Yield the items decoded from pieces, grouped as they become available.

        Raises:
            DecodeError: If a log contains more than one message, with `message_per_file`.
            OptionError: If no log has a format that supports one of the options.
        """
        yield from self.decode_all(pieces)
        self._decoders.check_used()

    def decode_all(self, pieces: Iterable[Piece]) -> Iterator[list[Item]]:
        """Yield the items as `decode` does, but accept options that no log has used.

        Raises:
            DecodeError: As in `decode`.
        """
        stream = iter(pieces)
        for piece in stream:
            if isinstance(piece.item, list):
                yield from self._decode_members(piece.item, piece.bytes_in)
            elif isinstance(piece.item, OpenedLog):
                for item in self._decode_log(piece.item, stream, piece.bytes_in):
                    yield [item]
            else:
                raise RuntimeError("received a piece without a log")

    def decode_file(self, data: Input, begin: int) -> Iterator[list[Item]]:
        """Read and decode a file, after `begin` bytes of other inputs; yield its items, grouped."""
        self._bytes_before = begin
        self.opened.append(data)
        yield from self.decode_all(self._read_log(data, data))

    def create_worker_driver(self) -> Driver:
        """Return a driver with the same settings for a part of the inputs, in another thread."""
        driver = Driver([], self._settings)
        driver.several = self.several
        driver._decoders.share(self._decoders)
        return driver

    def _decode_members(self, members: list[Input], bytes_in: int) -> Iterator[list[Item]]:
        """Yield the items of logs that are in memory, grouped."""
        group: list[Item] = []
        total = 0
        try:
            for data in members:
                data.watch = self._settings.watch
                decoder, format = self._decoders.reuse(data)
                source = Source(data.name, format, data, isinstance(data, MemberInput))
                items: Iterable[Item] | None = self._decode_at_once(source, decoder, bytes_in)
                if items is None:
                    opened = OpenedLog(source, decoder, threading.Event())
                    stream = (Piece(item, bytes_in) for item in _read_pieces(data, opened.unwanted))
                    items = self._decode_log(opened, stream, bytes_in)
                for item in items:
                    group.append(item)
                    total += cost(item)
                    # A compressed member may contain any number of items.
                    if isinstance(item, ReadError) or total >= GROUP_BYTES:
                        yield group
                        group, total = [], 0
        except RdfmError:
            if group:  # they precede the error
                yield group
            raise
        if group:
            yield group

    def _decode_at_once(
        self, source: Source, decoder: DecoderLike, bytes_in: int
    ) -> list[Item] | None:
        """Return the items of a small log without errors, or None for other logs.

        If the result is None, the decoder is in its initial state again. The end of the log is
        included only if it carries information.
        """
        data = source.input
        content = None
        if (
            isinstance(data, MemberInput)
            and not self._settings.message_per_file
            and not self._settings.skips_lines_of(source.format)
        ):
            content = data.take_data()
        if content is not None and isinstance(data, MemberInput):
            # Prefixes and lookup tables can greatly expand a small member. If so, the log is read
            # in batches.
            batches, ended = decoder.decode_log(content, GROUP_BYTES)
            if ended:
                header = decoder.header()
                items: list[Item] = [
                    ReadBatch(source, batch, header, bytes_in) for batch in batches
                ]
                if items and header is self._complete_header:
                    return items
                self._record_dropped_data(header, NOTHING_DROPPED)
                if items and self._dropped_data is not NOTHING_DROPPED:
                    items[-1] = self._create_item(source, batches[-1], header, bytes_in)
                self._record_dropped_namespaces(header)
                if not items or self._dropped_data is not NOTHING_DROPPED:
                    items.append(self._create_item(source, None, header, bytes_in))
                elif isinstance(header, MappingProxyType) and _DROPPED_DATA_KEYS.isdisjoint(header):
                    self._complete_header = header
                return items
            data.give_back(content)
        decoder.reset()
        return None

    def _decode_log(self, opened: OpenedLog, stream: Iterator[Piece], begin: int) -> Iterator[Item]:
        """Yield the items of a log.

        With `message_per_file`, raise an error for a second message, and yield an empty message for
        an empty log of a format for messages.
        """
        if not self._settings.message_per_file:
            yield from self._decode_items(opened, stream, begin)
            return
        count = 0
        has_error = False
        for item in self._decode_items(opened, stream, begin):
            has_error = has_error or isinstance(item, ReadError)
            if isinstance(item, ReadBatch):
                if item.batch is not None:
                    count += len(item.batch) - item.batch.continued
                    if count > 1:
                        raise _too_many_messages_error(opened.source)
                elif (
                    count == 0 and not has_error and item.source.format.spec.kinds[0] == "messages"
                ):
                    yield item._replace(batch=MessageBatch.from_messages([[]]))
                    return
            yield item

    def _decode_items(
        self, opened: OpenedLog, stream: Iterator[Piece], begin: int
    ) -> Iterator[Item]:
        """Yield the batches and the end of a log, and consume its pieces and end from `stream`."""
        decoder, source = opened.decoder, opened.source
        resuming = abandoned = False
        skips_lines = self._settings.skips_lines_of(source.format)
        split = self._settings.split is not None
        dropped_data = NOTHING_DROPPED
        head: bytes | None = None if split else b""
        is_given = self._settings.format is not None
        for piece in stream:
            item = piece.item
            if abandoned:
                pass
            elif isinstance(item, bytes):
                head = head or item[: formats.HEAD_BYTES]
                decoder.feed(item)
            elif isinstance(item, LogEnd) and item.error is None:
                decoder.finish()
            while not abandoned:
                failure: DecodeError | None = None
                batch: AnyBatch | None = None
                try:
                    if resuming:
                        skipped = decoder.skip_message()
                        if skipped is None:
                            break
                        resuming = False
                        yield SkippedData(source, skipped, decoder.skip_cut)
                    batch = decoder.next_batch()
                except DecodeError as error:
                    failure = error
                lines = decoder.take_skipped_lines() if skips_lines else ()
                if lines:
                    for reason, _ in lines:
                        reason.source = source.name
                    yield SkippedLines(source, lines)
                if failure is not None:
                    failure.source = source.name
                    if head:
                        _explain(failure, source.format, head, is_given=is_given)
                    # If skipping failed, it would fail again.
                    resuming = source.format.spec.resumable and not resuming
                    yield ReadError(source, failure, decoder.header(), resuming)
                    if not resuming:
                        abandoned = True
                        opened.unwanted.set()
                        yield SkippedData(source, abandoned=True)
                    continue
                if batch is None:
                    if lines:
                        continue
                    break
                bytes_done = (
                    begin + source.input.file_offset if opened.handed_over else piece.bytes_in
                )
                header = decoder.header()
                dropped_data = self._record_dropped_data(header, dropped_data)
                yield self._create_item(source, batch, header, bytes_done)
            if split and decoder.done:  # the rest belongs to other splits
                abandoned = True
                opened.unwanted.set()
            if isinstance(item, LogEnd):
                if opened.handed_over:
                    source.input.close()
                if not abandoned:
                    self._record_dropped_data(decoder.header(), dropped_data)
                    self._record_dropped_namespaces(decoder.header())
                    if item.error is not None:
                        item.error.source = source.name
                        yield ReadError(source, item.error, decoder.header(), False, item.final)
                        # A rejected input was not read at all.
                        yield SkippedData(source, abandoned=source.input.rejection is None)
                yield self._create_item(source, None, decoder.header(), piece.bytes_in)
                return

    def _create_item(
        self,
        source: Source,
        batch: AnyBatch | None,
        header: Mapping[str, Any],
        bytes_in: int,
    ) -> ReadBatch:
        """Return an item with the data lost since the previous one."""
        dropped_data, self._dropped_data = self._dropped_data, NOTHING_DROPPED
        return ReadBatch(source, batch, header, bytes_in, dropped_data)

    def _record_dropped_namespaces(self, header: Mapping[str, Any]) -> None:
        """Record the namespaces that a log declares after its last message."""
        if count := header.get("trailing_namespaces", 0):
            self._dropped_data = self._dropped_data._replace(
                namespaces=self._dropped_data.namespaces + count
            )

    def _record_dropped_data(self, header: Mapping[str, Any], before: DroppedData) -> DroppedData:
        """Record data that a decoder dropped; return the totals of the log so far."""
        metadata, keys = header.get("dropped_metadata", 0), header.get("dropped_keys", 0)
        comments = header.get("dropped_comments", 0)
        if (metadata, keys, comments) == (before.metadata, before.keys, before.comments):
            return before
        self._dropped_data = self._dropped_data._replace(
            metadata=self._dropped_data.metadata + metadata - before.metadata,
            keys=self._dropped_data.keys + keys - before.keys,
            key=self._dropped_data.key or header.get("dropped_key"),
            comments=self._dropped_data.comments + comments - before.comments,
        )
        return DroppedData(metadata=metadata, keys=keys, comments=comments)


class _Decoders:
    """Creates decoders, and reuses those of archive members.

    Each decoder gets the options that its format supports.
    """

    def __init__(self, settings: ReadSettings) -> None:
        self._settings = settings
        self._decoders_by_format: dict[str, tuple[DecoderLike, Format]] = {}
        self._by_suffix: dict[str, Format] = {}
        self._used: dict[str, Format] = {}

    def check(self) -> None:
        """Reject options that no format supports, before anything is read.

        Raises:
            OptionError: If no format supports one of the options or its value.
        """
        if not self._settings.options:
            return
        name = self._settings.format
        candidates = formats.all() if name is None else [formats.find(name)]
        self._check(candidates)

    def share(self, other: _Decoders) -> None:
        """Share the record of found formats with other decoders."""
        self._used = other._used

    def check_used(self) -> None:
        """Reject options that no log used.

        Raises:
            OptionError: If no format that was found supports one of the options.
        """
        if self._used and self._settings.strict:
            self._check(list(self._used.values()))

    def _check(self, candidates: list[Format]) -> None:
        for name, value in self._settings.options.items():
            supporting = [format for format in candidates if name in format.spec.options("read")]
            if not supporting:
                raise OptionError(
                    candidates[0].spec.unsupported_option_text(
                        "read", name, several=len(candidates) > 1
                    )
                )
            if value is not None:
                supporting[0].spec.options("read")[name].value(value)

    def make(self, data: Input, format: Format, *, strict: bool = False) -> DecoderLike:
        """Return a decoder at the start of a log.

        Args:
            data: The log.
            format: Its format.
            strict: Whether its format must support all options.

        Raises:
            OptionError: If the format does not support an option or its value.
        """
        settings = self._settings
        if data.rejection is None:
            self._used[format.name] = format
            if settings.needs_lines is not None and not format.spec.skips_lines:
                raise OptionError(
                    f"{settings.needs_lines} is for N-Triples and N-Quads, but {data.name} is in "
                    f"{format.spec.title}",
                    remedies=(remedies.SKIP_MESSAGES,)
                    if settings.needs_lines == _SKIP_LINE
                    else (),
                )
        supported = format.spec.options("read")
        options = {
            name: value for name, value in settings.options.items() if strict or name in supported
        }
        hints = {**settings.hints, "base": data.url}
        if options.get("dialect") is None and options.get("announced") is None:
            hints |= data.announced.options
        for name, value in hints.items():
            if name in supported and options.get(name) is None:
                options[name] = value
        skip_lines = settings.skips_lines_of(format)
        opening = Opening(settings.parts, checks_marks=settings.checks_marks, skip_lines=skip_lines)
        if settings.split is not None:
            opening = settings.split.opening(format.spec)._replace(
                parts=settings.parts, skip_lines=skip_lines
            )
        elif settings.parts == "frames" and isinstance(data, MemberInput):
            opening = Opening(skip_lines=skip_lines)
        return format.decoder(options, opening)

    def reuse(self, data: Input) -> tuple[DecoderLike, Format]:
        """Return the decoder for a log and the log's format. The decoder may be in any state.

        Raises:
            UnknownFormatError: If the format cannot be detected.
        """
        _, _, suffix = data.name.rpartition(".")
        format = self._by_suffix.get(suffix)
        if format is None or data.compression is not None:
            format = data.detect_format(self._settings.format)
            if f".{suffix}" in format.spec.suffixes:
                self._by_suffix[suffix] = format
        if (
            decoder_and_new := self._decoders_by_format.get(format.name)
        ) is not None and data.url is None:
            return decoder_and_new
        decoder_and_format = self.make(data, format), format
        if data.url is None:
            self._decoders_by_format[format.name] = decoder_and_format
        return decoder_and_format


def cost(item: Item) -> int:
    """Return the memory that an item uses, in bytes."""
    if isinstance(item, ReadBatch):
        return 0 if item.batch is None else item.batch.memory_bytes
    if isinstance(item, SkippedLines):
        return sum(ERROR_BYTES + len(text) for _, text in item.lines)
    return len(item.data) if isinstance(item, SkippedData) else 0


def _read_pieces(data: Input, unwanted: threading.Event) -> Iterator[bytes | LogEnd]:
    """Yield the bytes of a log, then its end."""
    error = None
    try:
        for piece in data:
            yield piece
            if unwanted.is_set():
                break
    except DecodeError as broken:
        error = broken
    yield LogEnd(error)


def _input_name(readable: Readable) -> str:
    """Return the name of an input before it is opened."""
    if isinstance(readable, (str, os.PathLike)):
        path = os.fspath(readable)
        return redact_url(path) if is_url(path) else visible(path)
    if is_open_file(readable):
        return open_file_name(readable)
    return "bytes" if isinstance(readable, (bytes, bytearray, memoryview)) else "input"


def _explain(error: DecodeError, format: Format, head: bytes, *, is_given: bool) -> None:
    """Add what the head of a log shows about an error: other content, or a format that reads it.

    If the user gave the format, only the suffix of a binary format is evidence against it.
    """
    text = None if error.message_index else unread_content_text(head)
    if text is not None and not format.spec.binary:
        error.reason, error.remedies = text, ()
        return
    format_remedy = next(
        (remedy for remedy in error.remedies if remedy.option == "from_format"), None
    )
    if format_remedy is not None:
        if not _can_read(formats.find(str(format_remedy.value)), head, error):
            error.remedies = tuple(remedy for remedy in error.remedies if remedy != format_remedy)
        return
    at_start = error.line in (None, 1) and error.column in (None, 1) and not error.message_index
    if not at_start or head.startswith(codecs.BOM_UTF8):
        return
    if is_given:
        suffix = formats.by_path(error.source or "")
        if suffix is not None and suffix.spec.binary and not format.spec.binary:
            error.reason += f"; the name has the suffix of {suffix.spec.title}"
            error.remedies = (remedies.format_remedy("from_format", [suffix.name], "reads it"),)
        return
    other_format = formats.by_content(head)
    if (
        other_format is not None
        and other_format.name != format.name
        and _can_read(other_format, head, error)
    ):
        error.reason += f"; the content looks like {other_format.spec.title}"
        suggestion = remedies.format_remedy("from_format", [other_format.name], "reads it")
        error.remedies = (suggestion, *error.remedies)


def _can_read(format: Format, head: bytes, error: DecodeError) -> bool:
    """Whether a format reads what caused an error in the head of a log."""
    if isinstance(error, LimitError) or (error.byte_offset or 0) >= len(head):
        return False
    decoder = format.decoder({}, Opening())
    decoder.feed(head)
    decoder.finish()
    try:
        while decoder.next_batch() is not None:
            pass
    except TruncatedError as cut:
        # A binary log is recognized by its first bytes, and its first frame may exceed the head.
        return format.spec.binary or (cut.byte_offset or 0) > (error.byte_offset or 0)
    except DecodeError as other:
        return (other.line or 0) > (error.line or 0)
    return True


def _too_many_messages_error(source: Source) -> DecodeError:
    option = "frames" if "frames" in source.format.spec.options("read") else "dialect"
    value = "flat" if option == "frames" else "plain"
    return DecodeError(
        f"contains more than one message, but {spell_option('message_per_file')} requires one per input; "
        f"remove that option, or read the input as one message with {spell_option(option, value, 'read')}",
        format=source.format.name,
        source=source.name,
    )
