"""The driver: from inputs to batches, in two halves.

In: what users name, and how it is read. Out of the first half: the pieces of each log, with what decodes them; out
of the second: batches with their log and what it says about itself, or an error, after which going on skips.
Cost: a piece, and what a decoder holds; small logs of archives are there together.
Law: the halves share nothing but what goes from one to the other, so that a queue may stand between them; what is
said about a batch does not depend on how far the other half is.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, cast

from rdfm import formats
from rdfm._core import MessageBatch
from rdfm.errors import DecodeError, OptionError, RdfmError, spelled, visible
from rdfm.formats import DecoderLike, Format, Opening
from rdfm.logs import remedies
from rdfm.logs.input import Input, MemberInput, Readable, files_of, holds_files
from rdfm.logs.notes import MAX_LISTED
from rdfm.logs.split import Split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rdfm.message import AnyBatch

__all__ = [
    "NOTHING",
    "NO_LOG",
    "Broken",
    "Driver",
    "Item",
    "Lost",
    "Piece",
    "Read",
    "Reading",
    "Skipped",
    "Source",
]

# What small logs, as in archives, give goes on together.
TOGETHER_BYTES = 1 << 20


@dataclass(frozen=True)
class Reading:
    """How logs are read.

    Attributes:
        format: The format of all of them; else each shows its own.
        options: Options of decoders, as values or as text; each format takes its own.
        compression: As in `open_log`.
        storage_options: As in `open_log`.
        split: The part of the log to read.
        parts: Which messages may come in parts, as in `Opening`.
        message_per_file: Whether each log is one message, also an empty one.
        strict: Whether an option is refused that the format of the only log lacks, or all formats that are met.
        hints: Options that formats take which know them, where they are not given.
        watch: Is given the pieces of each log before they are decoded, but not of one that its decoder reads itself.
        refuse_unreadable: Whether a file that cannot be opened is refused alone, as what is no log among many.
    """

    format: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    compression: str | None = None
    storage_options: Mapping[str, Any] | None = None
    split: Split | None = None
    parts: Literal["never", "frames", "always"] = "never"
    message_per_file: bool = False
    strict: bool = True
    hints: Mapping[str, Any] = field(default_factory=dict)
    watch: Callable[[Input, bytes], None] | None = None
    refuse_unreadable: bool = False


class Source(NamedTuple):
    """A log that is read.

    Attributes:
        name: Its name or URL, for errors.
        format: Its format.
        input: Where its bytes come from.
        member: Whether it is in an archive.
    """

    name: str
    format: Format
    input: Input
    member: bool


# The log of results that come from no log, as of an empty folder.
NO_LOG = Source("no log", cast("Any", None), cast("Any", None), member=False)


@dataclass(frozen=True, slots=True)
class Opened:
    """A log that the first half gives to the second, with what decodes it.

    Attributes:
        source: The log.
        decoder: At the start of it.
        handed_over: Whether the decoder reads the file itself.
        unwanted: Set by the second half when it wants no more of the log; the first ends it early then, and nothing
            else depends on that.
    """

    source: Source
    decoder: DecoderLike
    handed_over: bool = False
    unwanted: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True, slots=True)
class End:
    """The end of a log; with an error if its bytes could not be decompressed, or of an archive that is broken."""

    error: DecodeError | None = None
    final: bool = False


class Piece(NamedTuple):
    """What the first half gives: logs in memory; or one with its pieces and its end.

    Attributes:
        item: The one or the other.
        bytes_in: Bytes of all inputs read so far.
        cost: Bytes that it holds.
    """

    item: list[Input] | Opened | bytes | End
    bytes_in: int
    cost: int = 0


@dataclass(frozen=True, slots=True)
class Lost:
    """What was left out between two items that the second half gives.

    Attributes:
        namespaces: Declared behind a log's last message.
        metadata: Entries of messages of many frames.
        keys: Keys of JSON-LD that no context maps to an IRI.
        key: The first of them, quoted.
    """

    namespaces: int = 0
    metadata: int = 0
    keys: int = 0
    key: str | None = None


NOTHING = Lost()
# What a header has where something was left out.
_LOSSES = frozenset({"dropped_metadata", "dropped_keys", "trailing_namespaces"})


class Read(NamedTuple):
    """The next messages of a log, or its end.

    Attributes:
        source: The log.
        batch: The messages; None at the end of a log, or if a stage kept none of them.
        header: What the log said about itself when they were read.
        bytes_in: Bytes of all inputs read for everything up to here.
        lost: What was left out before them.
    """

    source: Source
    batch: AnyBatch | None
    header: Mapping[str, Any]
    bytes_in: int
    lost: Lost = NOTHING


class Broken(NamedTuple):
    """An error, after every message that was complete before it. Reading on skips it.

    Attributes:
        source: The log.
        error: The error.
        header: What the log said about itself before.
        resumable: Whether the log continues after it.
        final: Whether the error is one of the archive itself, so that no log follows.
    """

    source: Source
    error: DecodeError
    header: Mapping[str, Any]
    resumable: bool
    final: bool = False


class Skipped(NamedTuple):
    """Data that was left out: what follows `Broken` if the caller reads on, and what stages skip.

    Attributes:
        source: The log.
        data: The bytes skipped, at most the first MiB of them.
        abandoned: Whether the rest of the log was given up.
        errors: Number of errors that a stage skipped.
        error: The first of these errors.
    """

    source: Source
    data: bytes = b""
    abandoned: bool = False
    errors: int = 0
    error: RdfmError | None = None


Item = Read | Broken | Skipped


class Driver:
    """Reads logs one after the other.

    Attributes:
        several: Whether they are of a folder, a glob or an archive, or were named one by one.
        opened: The files that are open, for whoever ends early.
        first: The log, where it is one and opened.
        name: The name of what is read, or of the first input of several.
        format: The name of the format of all logs, if it is known.
    """

    def __init__(self, inputs: list[Readable], reading: Reading) -> None:
        """Take what is read and how.

        Raises:
            OptionError: No format takes one of the options, or not that value.
            UnknownFormatError: No format has that name.
        """
        self._inputs = inputs
        self._reading = reading
        self.several = len(inputs) != 1 or holds_files(inputs[0], reading.storage_options)
        self.opened: list[Input] = []
        self._bytes_before = 0  # of the inputs before the one that is read
        self._logs = 0  # begun
        self._without_logs: list[str] = []
        self._decoders = _Decoders(reading)
        self.first: Source | None = None
        self.format = reading.format
        self.name = _name(inputs[0]) if inputs else ""
        if self.several:
            self._decoders.check()
        self._lost = NOTHING  # since the item before
        # What decoders say of most members of an archive: one object, which does not change.
        self._without_loss: Mapping[str, Any] | None = None

    def __iter__(self) -> Iterator[Item]:
        """Both halves, one behind the other."""
        for items in self.decode(self.pieces()):
            yield from items

    def close(self) -> None:
        """Close what is open."""
        for data in self.opened:
            data.close()

    def notes(self) -> tuple[str, ...]:
        """Give what users should know about the inputs. Call it once all items were taken."""
        empty = self._without_logs
        listed = [f"{name} contains no logs" for name in empty[:MAX_LISTED]]
        if len(empty) > MAX_LISTED:
            listed.append(f"and {len(empty) - MAX_LISTED:,} more inputs contain no logs")
        return tuple(listed)

    def opened_first(self) -> Iterator[Piece]:
        """As `pieces`; a single log is opened before this returns, and is `first` then.

        Raises:
            OptionError, UnknownFormatError, OSError: As in `pieces`.
        """
        pieces = self.pieces()
        if self.several:
            return pieces
        piece = next(pieces, None)
        if piece is None:
            return pieces
        if isinstance(piece.item, Opened) and not self.several:
            self.first = piece.item.source
        return chain((piece,), pieces)

    # --- the first half: bytes ---

    def pieces(self) -> Iterator[Piece]:
        """Open the logs one after the other, and give their pieces.

        Raises:
            OptionError: A log's format lacks one of the options.
            UnknownFormatError: A format cannot be told.
            OSError: A file cannot be read.
        """
        for given in self._inputs:
            logs_before = self._logs
            for data in self._files(given):
                self.opened.append(data)
                if self._reading.split is None and data.is_archive(self._reading.format):
                    if not self.several:
                        self.several = True
                        self._decoders.check()
                    yield from self._archive(data)
                else:
                    yield from self._log(data, data)
                self._bytes_before = self._bytes_in(data, ended=True)
            if self._logs == logs_before:
                self._without_logs.append(_name(given))

    def _files(self, given: Readable) -> Iterator[Input]:
        """The files that something stands for."""
        reading = self._reading
        if reading.split is None:
            yield from files_of(
                given,
                reading.compression,
                reading.storage_options,
                refuse_unreadable=reading.refuse_unreadable,
            )
            return
        start = max(reading.split.start - 1, 0)
        yield Input(given, "none", start=start, storage_options=reading.storage_options)

    def _bytes_in(self, file: Input, *, ended: bool = False) -> int:
        """Bytes read of all inputs. Of one that is not wanted any more all count at its end."""
        size = file.size if ended and file.size is not None else 0
        return self._bytes_before + max(file.bytes_read, size)

    def _log(self, data: Input, file: Input) -> Iterator[Piece]:
        """The pieces of a log, which is a file or in one."""
        self._logs += 1
        data.watch = self._reading.watch
        format = data.format(self._reading.format)
        decoder = self._decoders.make(
            data, format, strict=self._reading.strict and not self.several
        )
        handed_over = data.hand_over(decoder)
        source = Source(data.name, format, data, isinstance(data, MemberInput))
        opened = Opened(source, decoder, handed_over)
        yield Piece(opened, self._bytes_before if handed_over else self._bytes_in(file))
        if handed_over:  # it is read, and closed, meanwhile
            yield Piece(End(), self._bytes_in(file))
            return
        for item in _pieces(data, opened.unwanted):
            if isinstance(item, End):
                yield Piece(item, self._bytes_in(file, ended=data is file))
            else:
                yield Piece(item, self._bytes_in(file), len(item))
        if data is file:
            data.close()
            self.opened.remove(data)

    def _archive(self, data: Input) -> Iterator[Piece]:
        try:
            for some in data.members():
                if isinstance(some[0], MemberInput) and not some[0].in_memory:
                    yield from self._log(some[0], data)
                else:
                    self._logs += len(some)
                    yield Piece(some, self._bytes_in(data), TOGETHER_BYTES)
        except DecodeError as error:  # of the archive, which ends here
            self._logs += 1
            format = formats.find("nq")
            source = Source(data.name, format, data, member=False)
            yield Piece(Opened(source, format.Decoder()), self._bytes_in(data))
            yield Piece(End(error, final=True), self._bytes_in(data, ended=True))
        self.opened.remove(data)

    # --- the second half: batches ---

    def decode(self, pieces: Iterable[Piece]) -> Iterator[list[Item]]:
        """Give what pieces are decoded to; items that are there together come together.

        Raises:
            DecodeError: A log holds more than one message, where each is to be one.
            OptionError: No log was of a format that takes one of the options.
        """
        stream = iter(pieces)
        read = False
        for piece in stream:
            read = True
            if isinstance(piece.item, list):
                yield from self._members(piece.item, piece.bytes_in)
            elif isinstance(piece.item, Opened):
                for item in self._one(piece.item, stream, piece.bytes_in):
                    yield [item]
            else:
                raise RuntimeError("a log comes before its pieces")
        if read:
            self._decoders.check_used()

    def _members(self, members: list[Input], bytes_in: int) -> Iterator[list[Item]]:
        """The messages of logs that are there, together."""
        together: list[Item] = []
        total = 0
        try:
            for data in members:
                data.watch = self._reading.watch
                decoder, format = self._decoders.reused(data)
                source = Source(data.name, format, data, isinstance(data, MemberInput))
                items: Iterable[Item] | None = self._at_once(source, decoder, bytes_in)
                if items is None:
                    opened = Opened(source, decoder)
                    stream = (Piece(item, bytes_in) for item in _pieces(data, opened.unwanted))
                    items = self._one(opened, stream, bytes_in)
                for item in items:
                    together.append(item)
                    total += cost(item)
                    # A compressed member may give any number of items.
                    if isinstance(item, Broken) or total >= TOGETHER_BYTES:
                        yield together
                        together, total = [], 0
        except RdfmError:
            if together:  # comes before the error
                yield together
            raise
        if together:
            yield together

    def _at_once(self, source: Source, decoder: DecoderLike, bytes_in: int) -> list[Item] | None:
        """What a small log without errors gives; None of others, and then the decoder is at its start.

        The end is among that only where it says something.
        """
        data = source.input
        whole = None
        if isinstance(data, MemberInput) and not self._reading.message_per_file:
            whole = data.take()
        if whole is not None and isinstance(data, MemberInput):
            # Prefixes and lookup tables can make much of a small member: the rest is read batch by batch.
            batches, ended = decoder.decode_log(whole, TOGETHER_BYTES)
            if ended:
                header = decoder.header()
                items: list[Item] = [Read(source, batch, header, bytes_in) for batch in batches]
                if items and header is self._without_loss:
                    return items
                self._lose(header, NOTHING)
                if items and (self._lost.metadata or self._lost.keys):
                    items[-1] = self._read(source, batches[-1], header, bytes_in)
                self._lose_namespaces(header)
                if not items or self._lost is not NOTHING:
                    items.append(self._read(source, None, header, bytes_in))
                elif isinstance(header, MappingProxyType) and _LOSSES.isdisjoint(header):
                    self._without_loss = header
                return items
            data.give_back(whole)
        decoder.reset()
        return None

    def _one(self, opened: Opened, stream: Iterator[Piece], begin: int) -> Iterator[Item]:
        """A log, which is one message where that is asked for."""
        if not self._reading.message_per_file:
            yield from self._items(opened, stream, begin)
            return
        count = 0
        broken = False
        for item in self._items(opened, stream, begin):
            broken = broken or isinstance(item, Broken)
            if isinstance(item, Read):
                if item.batch is not None:
                    count += len(item.batch) - item.batch.continued
                    if count > 1:
                        raise _too_many(opened.source)
                elif count == 0 and not broken and item.source.format.spec.kinds[0] == "messages":
                    yield item._replace(batch=MessageBatch.from_messages([[]]))
                    return
            yield item

    def _items(self, opened: Opened, stream: Iterator[Piece], begin: int) -> Iterator[Item]:
        """The batches of a log and its end; consumes its pieces and its end."""
        decoder, source = opened.decoder, opened.source
        resuming = abandoned = False
        split = self._reading.split is not None
        noticed = NOTHING
        head: bytes | None = b"" if self._reading.format is None and not split else None
        for piece in stream:
            item = piece.item
            if abandoned:
                pass
            elif isinstance(item, bytes):
                head = item[: formats.HEAD_BYTES] if head == b"" else head
                decoder.feed(item)
            elif isinstance(item, End) and item.error is None:
                decoder.finish()
            while not abandoned:
                try:
                    if resuming:
                        skipped = decoder.skip_message()
                        if skipped is None:
                            break
                        resuming = False
                        yield Skipped(source, skipped)
                    batch = decoder.next_batch()
                except DecodeError as error:
                    error.source = source.name
                    at_start = error.line in (None, 1) and error.column in (None, 1)
                    if head and at_start and not error.message_index:
                        _suggest(error, source.format, head)
                    resuming = source.format.spec.resumable
                    yield Broken(source, error, decoder.header(), resuming)
                    if not resuming:
                        abandoned = True
                        opened.unwanted.set()
                        yield Skipped(source, abandoned=True)
                    continue
                if batch is None:
                    break
                done = begin + source.input.reached if opened.handed_over else piece.bytes_in
                header = decoder.header()
                noticed = self._lose(header, noticed)
                yield self._read(source, batch, header, done)
            if split and decoder.done:  # the rest is of others
                abandoned = True
                opened.unwanted.set()
            if isinstance(item, End):
                if opened.handed_over:
                    source.input.close()
                if not abandoned:
                    self._lose_namespaces(decoder.header())
                    if item.error is not None:
                        item.error.source = source.name
                        yield Broken(source, item.error, decoder.header(), False, item.final)
                        # Of what is refused nothing was read.
                        yield Skipped(source, abandoned=source.input.refusal is None)
                yield self._read(source, None, decoder.header(), piece.bytes_in)
                return

    def _read(
        self,
        source: Source,
        batch: AnyBatch | None,
        header: Mapping[str, Any],
        bytes_in: int,
    ) -> Read:
        """An item, with what was lost since the one before."""
        lost, self._lost = self._lost, NOTHING
        return Read(source, batch, header, bytes_in, lost)

    def _lose_namespaces(self, header: Mapping[str, Any]) -> None:
        """Notes those that a log declares behind its last message."""
        if count := header.get("trailing_namespaces", 0):
            self._lost = replace(self._lost, namespaces=self._lost.namespaces + count)

    def _lose(self, header: Mapping[str, Any], before: Lost) -> Lost:
        """Notes what a decoder left out of messages; gives how much of the log so far."""
        metadata, keys = header.get("dropped_metadata", 0), header.get("dropped_keys", 0)
        if (metadata, keys) == (before.metadata, before.keys):
            return before
        self._lost = replace(
            self._lost,
            metadata=self._lost.metadata + metadata - before.metadata,
            keys=self._lost.keys + keys - before.keys,
            key=self._lost.key or header.get("dropped_key"),
        )
        return Lost(metadata=metadata, keys=keys)


class _Decoders:
    """Makes decoders; those of members of archives go from log to log.

    Options are for all of them; each takes what its format knows.
    """

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._made: dict[str, tuple[DecoderLike, Format]] = {}
        self._by_suffix: dict[str, Format] = {}
        self._met: dict[str, Format] = {}

    def check(self) -> None:
        """Refuse options that nobody takes, before anything is read.

        Raises:
            OptionError: No format takes one of them, or not that value.
        """
        if not self._reading.options:
            return
        name = self._reading.format
        found = formats.every() if name is None else [formats.find(name)]
        self._check(found)

    def check_used(self) -> None:
        """Refuse options that no log took.

        Raises:
            OptionError: No format that was met takes one of them.
        """
        if self._met and self._reading.strict:
            self._check(list(self._met.values()))

    def _check(self, found: list[Format]) -> None:
        for name, given in self._reading.options.items():
            takers = [format for format in found if name in format.spec.options("read")]
            if not takers:
                raise OptionError(found[0].spec.refusal("read", name, several=len(found) > 1))
            if given is not None:
                takers[0].spec.options("read")[name].value(given)

    def make(self, data: Input, format: Format, *, strict: bool = False) -> DecoderLike:
        """Give a decoder at the start of a log.

        Args:
            data: The log.
            format: Its format.
            strict: Whether its format has to take all options.

        Raises:
            OptionError: It does not, or not those values.
        """
        reading = self._reading
        if data.refusal is None:
            self._met[format.name] = format
        known = format.spec.options("read")
        options = {
            name: value for name, value in reading.options.items() if strict or name in known
        }
        for name, value in {**reading.hints, "base": data.url}.items():
            if name in known and options.get(name) is None:
                options[name] = value
        opening = Opening(reading.parts)
        if reading.split is not None:
            opening = reading.split.opening(format.spec)._replace(parts=reading.parts)
        elif reading.parts == "frames" and isinstance(data, MemberInput):
            opening = Opening()
        return format.decoder(options, opening)

    def reused(self, data: Input) -> tuple[DecoderLike, Format]:
        """Give a decoder, wherever it stands, and a log's format.

        Raises:
            UnknownFormatError: The format cannot be told.
        """
        _, _, suffix = data.name.rpartition(".")
        format = self._by_suffix.get(suffix)
        if format is None or data.compression is not None:
            format = data.format(self._reading.format)
            if f".{suffix}" in format.spec.suffixes:
                self._by_suffix[suffix] = format
        if (found := self._made.get(format.name)) is not None and data.url is None:
            return found
        made = self.make(data, format), format
        if data.url is None:
            self._made[format.name] = made
        return made


def cost(item: Item) -> int:
    """Give the bytes that an item holds."""
    return item.batch.memory_bytes if isinstance(item, Read) and item.batch is not None else 0


def _pieces(data: Input, unwanted: threading.Event) -> Iterator[bytes | End]:
    """The bytes of a log, then its end."""
    error = None
    try:
        for piece in data:
            yield piece
            if unwanted.is_set():
                break
    except DecodeError as broken:
        error = broken
    yield End(error)


def _name(given: Readable) -> str:
    """What an input is called before it is opened."""
    if isinstance(given, (str, os.PathLike)):
        return visible(os.fspath(given))
    return "bytes" if isinstance(given, (bytes, bytearray, memoryview)) else "input"


def _suggest(error: DecodeError, format: Format, head: bytes) -> None:
    """Add to an error at the start of a log the format that the content looks like, if it is another one."""
    found = formats.by_content(head)
    named = any(remedy.option == "from_format" for remedy in error.remedies)
    if found is not None and found.name != format.name and not named:
        error.reason += f"; the content looks like {found.spec.title}"
        error.remedies = (remedies.named_format("from_format", [found.name], "reads it"),)


def _too_many(source: Source) -> DecodeError:
    option = "frames" if "frames" in source.format.spec.options("read") else "dialect"
    value = "flat" if option == "frames" else "plain"
    return DecodeError(
        f"contains more than one message, but {spelled('message_per_file')} reads each input as one; "
        f"leave that out, or read it as one with {spelled(option, value, 'read')}",
        format=source.format.name,
        source=source.name,
    )
