"""Log to log: reading, decoding, encoding and writing overlap in threads.

In: logs in any format. Out: one log in another, and a `Summary`.
Cost: bounded queues between the stages (pieces, batches, bytes), whatever the input; Python works
per batch, never per message. Law: the first error ends all stages, after what came before it. What goes
from stage to stage is never changed after, and the stages share nothing else: none sees how far another
is, so the same input gives the same output and summary on every run.
"""

from __future__ import annotations

import contextlib
import math
import os
import stat
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypedDict, Unpack

from rdfm import formats
from rdfm._core import Decoder, MessageBatch, Regrouper
from rdfm.conversion import headers, regroup
from rdfm.conversion.channel import Channel, Stopped, feeding_thread
from rdfm.errors import DecodeError, EncodeError, LimitError, OptionError, RdfmError
from rdfm.formats import DecoderLike, EncoderLike, FormatModule
from rdfm.logs.input import Input, MemberInput, Readable, files_of, holds_files
from rdfm.logs.log import Codecs, make_codec
from rdfm.logs.notes import Notes, notes_of
from rdfm.logs.output import FolderOutput, Output, Shape, Writable, output_format, suffix_options
from rdfm.logs.parts import Part
from rdfm.logs.progress import Progress, Reporter, total_bytes
from rdfm.storage.contexts import context_text
from rdfm.storage.files import storage_of
from rdfm.storage.listing import is_glob, matches
from rdfm.storage.paths import local_path, local_target

__all__ = ["ConvertOptions", "Progress", "Summary", "convert"]

# Bounds of the queues, in bytes; one item always passes, however large.
PIECES_BYTES = 4 << 20
BATCHES_BYTES = 24 << 20
OUTPUT_BYTES = 8 << 20
# What small logs, as in archives, give goes on together.
TOGETHER_BYTES = 1 << 20
LISTED_FAULTS = 10

_DECODE_OPTIONS = (
    "max_message_bytes",
    "max_depth",
    "lenient",
    "generalized",
    "dialect",
    "announced",
    "base",
    "rdf_direction",
    "expand_context",
    "context",
    "contexts",
    "context_cache",
    "allow_network",
    "frames",
    "max_frame_bytes",
    "max_name_table",
    "max_prefix_table",
    "max_datatype_table",
)
_ENCODE_OPTIONS = (
    "lenient",
    "merge_graphs",
    "flat",
    "rdf_star_syntax",
    "version_label",
    "framing",
    "prefixed_names",
    "values",
    "prefixes",
    "context_lines",
    "compact_with",
    "frames",
    "namespaces",
)


class ConvertOptions(TypedDict, total=False):
    """The options of `convert`; each is an option of the command line too, with `-` for `_`."""

    from_format: str | None
    to_format: str | None
    dialect: Literal["comment", "directive", "plain"] | None
    to_dialect: Literal["comment", "directive"] | None
    announced: str | None
    version_label: str | None
    base: str | None
    rdf_direction: Literal["literal", "none", "i18n-datatype", "compound-literal"] | None
    expand_context: str | os.PathLike[str] | Mapping[str, Any] | None
    context: Mapping[str, str] | None
    contexts: str | None
    context_cache: str | None
    allow_network: bool
    lenient: bool
    generalized: bool
    merge_graphs: bool
    flat: bool
    rdf_star_syntax: bool
    prefixes: Mapping[str, str] | None
    context_lines: Literal["first", "every", "none"] | None
    compact_with: str | os.PathLike[str] | Mapping[str, Any] | None
    message_per_file: bool
    group_by: str | None
    skolemize: str | None
    skip: int
    take: int | None
    on_error: Literal["fail", "skip"]
    keep_partial: bool
    split_messages: int | None
    split_bytes: int | None
    compression: str | None
    overwrite: bool
    options_from: str | os.PathLike[str] | None
    physical_type: Literal["triples", "quads", "graphs"] | None
    logical_type: str | int | None
    frames: Literal["auto", "message", "flat"] | None
    frame_rows: int | None
    framing: Literal["messages", "rows"] | None
    from_framing: Literal["messages", "rows"] | None
    prefixed_names: bool | None
    values: bool
    delimited: bool | None
    from_delimited: bool | None
    stream_name: str | None
    name_table: int | None
    prefix_table: int | None
    datatype_table: int | None
    namespaces: bool | None
    max_message_bytes: int | None
    max_depth: int | None
    max_frame_bytes: int | None
    max_name_table: int | None
    max_prefix_table: int | None
    max_datatype_table: int | None
    progress: Callable[[Progress], None] | None


@dataclass(frozen=True)
class Summary:
    """What a conversion did.

    Attributes:
        messages: Messages written.
        quads: Quads written.
        bytes_in: Bytes read for what was written (compressed); a file that was given up counts whole.
        bytes_out: Bytes written (compressed).
        seconds: Time taken.
        dropped: What the target could not hold and was left out, by name and count; under `keys`, those
            of JSON-LD that no context maps to an IRI, which are dropped with their values, in all
            that was read: with `take` or `skip` also beside the messages that were converted.
        dropped_key: The first of these keys, quoted; None where there is none.
        skipped: Errors skipped (`on_error="skip"`).
        faults: The texts of the first ten of them.
        abandoned: Inputs whose rest was given up, since their format cannot resume.
        notes: What whoever reads the inputs or the output should know, a sentence each: ten about the
            inputs, and the number of the others.
    """

    messages: int
    quads: int
    bytes_in: int
    bytes_out: int
    seconds: float
    dropped: dict[str, int] = field(default_factory=dict)
    dropped_key: str | None = None
    skipped: int = 0
    faults: tuple[str, ...] = ()
    abandoned: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def convert(
    inputs: Readable | Sequence[Readable], output: Writable, **options: Unpack[ConvertOptions]
) -> Summary:
    """Convert logs to one log in another format, or to a folder or archive of logs.

    Several inputs are read one after the other. The output appears under its name only when it is
    complete.

    Args:
        inputs: What `open_log` takes, or a list of that: folders, globs and archives too.
        output: A path, or a binary file object. A folder (`out/`) gets a file for each message, or
            several with `split_messages` or `split_bytes`; a tar archive (`out.tar.gz`) a member for
            each message.
        **options: How to read and write:

            - from_format, to_format: Names of formats; else found from suffixes, then content.
            - dialect: How text is read: "comment", "directive" or "plain" (nothing delimits). The
              first two are how it is written too, unless `to_dialect` says otherwise.
            - to_dialect: How text is written; else as the input, else "comment".
            - announced: A version label announced outside the log. version_label: The one written.
            - base: Base IRI of Turtle and TriG; else the file's URL.
            - lenient: Accept and escape the deviations that the formats' pages list.
            - generalized: Read generalized quads and RDF-star in N-Triples and N-Quads.
            - merge_graphs: Drop graph names where the target has none. flat: Write no
              delimiters; where the target has none, all messages become one.
            - rdf_star_syntax: Write triple terms as `<< s p o >>` in N-Triples and N-Quads.
            - context, contexts, context_cache, allow_network: Where remote contexts of JSON-LD come from.
              expand_context: A context in force before any other: its file, its JSON text, or a dict.
              rdf_direction: What its base directions become. context_lines: Where the namespaces stand
              in what is written: "first" (a context before the messages), "every" message, "none".
              compact_with: A context to write with instead: its file, its JSON text, or a dict.
            - prefixes: Names and IRIs to declare at the start.
            - message_per_file: Each input is one message, also an empty one.
            - group_by: Other messages of the same quads: "subject" or "graph" (consecutive quads with
              the same one), "count=N" (N quads each), "bytes=N" (of the terms' text), "all".
            - skolemize: An IRI; blank nodes become IRIs that begin with it and `/.well-known/genid/`.
            - skip, take: Messages to leave out at the start, and to write at most.
            - on_error: "fail", or "skip" to leave out what is broken; what meets a limit still fails.
            - keep_partial: After an error keep what was written, as `NAME.partial` (`NAME.partial.1`
              and so on where that exists).
            - split_messages, split_bytes (not compressed): Most messages of each file of a folder, and
              bytes after which one ends; each is a whole log.
            - compression: "gzip", "zstd", "bzip2", "xz" or "none"; else as the output's suffix says. Of
              each file of a folder.
            - overwrite: Replace a folder that holds something: everything in it is removed.
            - options_from: A Jelly file whose stream options to write with.
            - physical_type, logical_type, stream_name, name_table, prefix_table, datatype_table
              (entries), namespaces, frame_rows, delimited: How Jelly is written.
            - frames: What frames of Jelly are: "message" (each is one), "flat" (a log is one message, read
              and written over many frames), or "auto" (the default: read as the logical type says, and
              written as read).
            - from_delimited: Whether Jelly frames read are length-prefixed; else found out.
            - framing: How RDF Protobuf is written: "messages" (default) or "rows", as Jena has it.
              from_framing: How it is read; else found out.
            - prefixed_names: Abbreviate IRIs in RDF Protobuf, or not in RDF Thrift.
            - values: Write numbers as values in these two where they say the lexical form.
            - max_message_bytes (decoded), max_depth, max_frame_bytes, max_name_table,
              max_prefix_table, max_datatype_table (entries): Limits of the readers.
            - progress: Called about ten times a second.

    Returns:
        What was done.

    Raises:
        DecodeError: An input is broken; nothing is left under the output's name.
        EncodeError: A message cannot be written in the target format; the text says what would help.
        OptionError: Options do not fit, or the output is one of the inputs.
        UnknownFormatError: A format cannot be told.
        OSError: A file cannot be read or written.

    Example:
        >>> import io
        >>> summary = convert(b"<http://ex/s> <http://ex/p> <http://ex/o> .", io.BytesIO(),
        ...                   from_format="nt", to_format="jelly")
        >>> summary.messages, summary.quads
        (1, 1)
    """
    for name in options:
        if name not in ConvertOptions.__annotations__:
            known = ", ".join(sorted(ConvertOptions.__annotations__))
            raise OptionError(f"convert takes no option '{name[:40]}'; it takes {known}")
    single = isinstance(inputs, (str, os.PathLike, bytes, bytearray, memoryview)) or hasattr(
        inputs, "read"
    )
    if not single and not isinstance(inputs, Iterable):
        raise OptionError(
            f"cannot read {repr(inputs)[:40]} ({type(inputs).__name__}); "
            "give a path, a URL, bytes, a binary file object, or a list of these"
        )
    sources: list[Any] = [inputs] if single else list(inputs)  # type: ignore[arg-type]  # a sequence
    if not sources:
        raise OptionError("there is nothing to convert: name an input")
    _refuse_own_input(sources, output)
    return _Conversion(sources, output, options).run()


class _Source(NamedTuple):
    """A log that is read."""

    name: str
    module: FormatModule
    member: bool  # of an archive


@dataclass(frozen=True, slots=True)
class _Opened:
    """A log that reading gives to decoding."""

    source: _Source
    data: Input
    decoder: DecoderLike
    handed_over: bool = False  # the decoder reads the file itself
    # Decoding says that it wants no more of it. Reading ends it early then; nothing else depends on that.
    unwanted: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True, slots=True)
class _End:
    """The end of a log; with an error if its bytes could not be decompressed."""

    error: DecodeError | None = None


@dataclass(frozen=True, slots=True)
class _Lost:
    """What was left out between two items that decoding gives."""

    skipped: int = 0
    faults: tuple[str, ...] = ()
    abandoned: tuple[str, ...] = ()
    namespaces: int = 0  # declared behind a log's last message
    metadata: int = 0  # entries that decoders left out
    keys: int = 0  # of JSON-LD, that no context maps to an IRI
    key: str | None = None  # the first of them


_NOTHING = _Lost()


class _Parts(NamedTuple):
    """How much a decoder has left out of a log's messages so far."""

    metadata: int = 0
    keys: int = 0


class _Read(NamedTuple):
    """What decoding gives: the next messages of a log, or its end.

    Attributes:
        source: The log.
        batch: The messages; None at the log's end.
        header: What the log said about itself when they were read.
        bytes_in: Bytes of all inputs read for everything up to here.
        lost: What was left out before them.
    """

    source: _Source
    batch: MessageBatch | None
    header: Mapping[str, Any]
    bytes_in: int
    lost: _Lost | None


# What goes from stage to stage: from reading, with the bytes of all inputs read so far, logs in memory,
# or one with its pieces and its end; from encoding, bytes or files' parts.
_Piece = tuple[list[Input] | _Opened | bytes | _End, int]
_Bytes = bytes | list[Part]


class _Conversion:
    """One call of `convert`."""

    def __init__(self, inputs: list[Any], output: Writable, options: ConvertOptions) -> None:
        self._inputs = inputs
        # Read once, however many files are read or written.
        if (given := options.get("compact_with")) is not None:
            options = {**options, "compact_with": context_text(given)}
        if (given := options.get("expand_context")) is not None:
            options = {**options, "expand_context": context_text(given, "expand_context")}
        self._options = options
        self._target = output_format(output, options.get("to_format"))
        self._skipping = options.get("on_error") == "skip"
        if options.get("on_error") not in (None, "fail", "skip"):
            raise OptionError("on_error is 'fail' or 'skip'")
        for name in ("skip", "take"):
            if (count := options.get(name)) is not None and not (
                isinstance(count, int) and count >= 0
            ):
                raise OptionError(f"{name} is a number of messages, 0 or more, not {count!r}")
        self._skip = options.get("skip") or 0
        self._take = options.get("take")
        self._jelly = self._target.FORMAT.name == "jelly"
        headers.refuse_jelly_options(options, self._target.FORMAT)
        headers.refuse_idle_options(options, self._target.FORMAT)
        path = options.get("options_from")
        self._template = {} if path is None else headers.read_jelly_options(path)
        self._shape = Shape(
            output,
            options.get("compression"),
            options.get("split_messages"),
            options.get("split_bytes"),
            options.get("overwrite", False),
        )
        target = self._target.FORMAT
        parts = target.continuable or any(
            options.get(name) == value for name, value in target.continuable_with.items()
        )
        one_log = not (self._shape.archive or self._shape.folder)
        parts = parts and one_log
        regrouping = options.get("group_by") not in (None, "message")
        # Whether Jelly read as one message of all frames stays that; its header says whether it is.
        self._may_stay_flat = (
            self._jelly
            and one_log
            and not regrouping
            and len(inputs) == 1
            and not holds_files(inputs[0])
            and headers.may_stay_flat(options, self._template)
        )
        # Half a faulty message cannot be taken back, so skipping holds each message whole.
        self._target_parts = parts or self._may_stay_flat
        self._parts = (parts or regrouping) and not self._skipping
        self._held_whole = (parts or regrouping) and self._skipping
        self._report = Reporter(options.get("progress"))
        self._output_to = output
        # Of the reading thread alone.
        self._opened: list[Input] = []
        self._bytes_before = 0  # of the inputs before the one that is read
        # Of the decoding thread alone.
        self._codecs = Codecs(options.get("from_format"), self._decode_options())
        self._met = 0  # faults skipped
        self._lost = _NOTHING  # since the item before
        # Of the calling thread alone, which encodes.
        self._bytes_total = None if options.get("progress") is None else total_bytes(inputs)
        self._bytes_done = self._messages = self._quads = 0  # up to what was encoded
        self._first: _Read | None = None
        self._seen = 0  # messages begun, those left out included
        self._quads_seen = 0
        self._lost_before: deque[tuple[int, _Lost]] = deque()  # so many quads that are regrouped
        self._skipped = 0
        self._faults: list[str] = []
        self._abandoned: list[str] = []
        self._trailing_namespaces = 0
        self._dropped_metadata = 0
        self._dropped_keys = 0
        self._dropped_key: str | None = None
        self._notes = Notes()
        self._regrouper = self._make_regrouper()
        # Whatever the options say wrong is said before anything is read or written.
        self._make_encoder(None)

    def run(self) -> Summary:
        start = time.perf_counter()
        process = os.getpid()
        output: Output | FolderOutput | None = None
        pieces: Channel[_Piece] = Channel(PIECES_BYTES)
        batches: Channel[list[_Read]] = Channel(BATCHES_BYTES)
        written: Channel[list[_Bytes]] = Channel(OUTPUT_BYTES)
        threads = [
            feeding_thread("rdfm-read", pieces, self._read()),
            feeding_thread("rdfm-decode", batches, self._decode(pieces), pieces),
        ]
        # Ctrl-C may come at any line: whatever is begun is ended below.
        try:
            output = self._shape.output()
            threads.append(
                threading.Thread(
                    target=_write, args=(output, written), name="rdfm-write", daemon=True
                )
            )
            for thread in threads:
                thread.start()
            encoder = self._encode_all(batches, written)
            self._put(written, [encoder.finish()])
            written.close()
            written.drained(lambda: self._tell(written))
            output.commit()
            seconds = time.perf_counter() - start
        except BaseException as error:
            if os.getpid() != process:  # forked in `progress`: the threads and files are not its
                raise
            try:
                if isinstance(error, Exception) and threads[-1].is_alive():
                    written.close()
                    written.wait_drained()
            finally:
                try:
                    self._stop(pieces, batches, written)
                    _join(threads[2:])
                    if self._options.get("keep_partial") and isinstance(error, RdfmError):
                        _keep(output, error)
                finally:
                    if output is not None:
                        output.discard()
            raise
        finally:
            if os.getpid() == process:
                self._stop(pieces, batches, written)
                _join(threads)
                for data in self._opened:
                    if not threads[0].is_alive():
                        data.close()
        self._report(self._progress, force=True)
        return Summary(
            messages=self._messages,
            quads=self._quads,
            bytes_in=self._bytes_done,
            bytes_out=output.bytes_written,
            seconds=seconds,
            dropped=self._dropped(encoder),
            dropped_key=self._dropped_key,
            skipped=self._skipped,
            faults=tuple(self._faults),
            abandoned=tuple(self._abandoned),
            notes=self._notes.texts() + notes_of(encoder),
        )

    def _dropped(self, encoder: Any) -> dict[str, int]:
        dropped = Counter(encoder.dropped())
        dropped["namespaces"] += self._trailing_namespaces
        if self._regrouper is not None:
            dropped.update(self._regrouper.dropped())
        dropped["metadata"] += self._dropped_metadata
        dropped["keys"] += self._dropped_keys
        return {name: count for name, count in dropped.items() if count}

    # --- stage 1: bytes ---

    def _read(self) -> Iterator[tuple[_Piece, int]]:
        for given in self._inputs:
            for data in files_of(given):
                self._opened.append(data)
                if data.is_archive(self._options.get("from_format")):
                    yield from self._read_archive(data)
                else:
                    yield from self._read_log(data, data)
                self._bytes_before = self._bytes_in(data, ended=True)

    def _bytes_in(self, file: Input, *, ended: bool = False) -> int:
        """Bytes read of all inputs. Of one that is not wanted any more all count at its end."""
        size = file.size if ended and file.size is not None else 0
        return self._bytes_before + max(file.bytes_read, size)

    def _read_log(self, data: Input, file: Input) -> Iterator[tuple[_Piece, int]]:
        """The items of a log, which is a file or in one."""
        module = data.format(self._options.get("from_format"))
        decoder = self._make_decoder(data, module)
        handed_over = data.hand_over(decoder)
        source = _Source(data.name, module, isinstance(data, MemberInput))
        opened = _Opened(source, data, decoder, handed_over)
        yield (opened, self._bytes_before if handed_over else self._bytes_in(file)), 0
        if handed_over:  # it is read, and closed, meanwhile
            yield (_End(), self._bytes_in(file)), 0
            return
        for item in _pieces(data, opened.unwanted):
            if isinstance(item, _End):
                yield (item, self._bytes_in(file, ended=data is file)), 0
            else:
                yield (item, self._bytes_in(file)), len(item)
        if data is file:
            data.close()
            self._opened.remove(data)

    def _read_archive(self, data: Input) -> Iterator[tuple[_Piece, int]]:
        try:
            for some in data.members():
                if isinstance(some[0], MemberInput) and not some[0].in_memory:
                    yield from self._read_log(some[0], data)
                else:
                    yield (some, self._bytes_in(data)), TOGETHER_BYTES
        except DecodeError as error:  # of the archive, which ends here
            module = formats.find("nq")
            source = _Source(data.name, module, member=False)
            yield (_Opened(source, data, self._make_decoder(data, module)), self._bytes_in(data)), 0
            yield (_End(error), self._bytes_in(data, ended=True)), 0
        self._opened.remove(data)

    # --- stage 2: batches ---

    def _decode(self, pieces: Iterable[_Piece]) -> Iterator[tuple[list[_Read], int]]:
        stream = iter(pieces)
        for item, bytes_in in stream:
            if isinstance(item, list):
                yield from self._decode_members(item, bytes_in)
            elif isinstance(item, _Opened):
                for read in self._decode_log(item, stream, bytes_in):
                    yield [read], _cost(read)
            else:
                raise RuntimeError("a log comes before its pieces")

    def _decode_members(
        self, members: list[Input], bytes_in: int
    ) -> Iterator[tuple[list[_Read], int]]:
        """The messages of logs that are there, together."""
        together: list[_Read] = []
        total = 0
        try:
            for data in members:
                decoder, module = self._codecs.decoder(data, reset=False)
                source = _Source(data.name, module, isinstance(data, MemberInput))
                reads: Iterable[_Read] | None = self._at_once(source, data, decoder, bytes_in)
                if reads is None:
                    opened = _Opened(source, data, decoder)
                    items = ((item, bytes_in) for item in _pieces(data, opened.unwanted))
                    reads = self._decode_log(opened, items, bytes_in)
                for read in reads:
                    together.append(read)
                    total += _cost(read)
                if total >= TOGETHER_BYTES:
                    yield together, total
                    together, total = [], 0
        except RdfmError:
            if together:  # comes before the error
                yield together, total
            raise
        if together:
            yield together, total

    def _at_once(
        self, source: _Source, data: Input, decoder: DecoderLike, bytes_in: int
    ) -> list[_Read] | None:
        """What a small log without errors gives; None of others, and then the decoder is at its start.

        The end is among that only where it says something.
        """
        native = isinstance(decoder, Decoder) and not self._options.get("message_per_file")
        whole = data.take() if native and isinstance(data, MemberInput) else None
        if whole is not None and isinstance(decoder, Decoder):
            batches, ended = decoder.decode_log(whole)
            if ended:
                header = decoder.header()
                reads = [_Read(source, batch, header, bytes_in, None) for batch in batches]
                if reads and any(self._lose_parts(header, _Parts())):
                    reads[-1] = self._read_to(source, batches[-1], header, bytes_in)
                self._lose_namespaces(header)
                if not reads or self._lost is not _NOTHING:
                    reads.append(self._read_to(source, None, header, bytes_in))
                return reads
            data.give_back(whole)  # type: ignore[attr-defined]  # it is a member
        if hasattr(decoder, "reset"):
            decoder.reset()
        return None

    def _decode_log(self, opened: _Opened, stream: Iterator[_Piece], begin: int) -> Iterator[_Read]:
        count = 0
        met = self._met
        for read in self._reads(opened, stream, begin):
            if read.batch is not None:
                count += len(read.batch) - read.batch.continued
                if self._options.get("message_per_file") and count > 1:
                    raise self._too_many(opened.source)
            elif self._options.get("message_per_file") and count == 0 and met == self._met:
                yield read._replace(batch=MessageBatch.from_messages([[]]))
                return
            yield read

    def _reads(self, opened: _Opened, stream: Iterator[_Piece], begin: int) -> Iterator[_Read]:
        """The batches of a log and its end; consumes its pieces and its end."""
        decoder, source = opened.decoder, opened.source
        resuming = abandoned = False
        left_out = _Parts()
        for item, bytes_in in stream:
            if abandoned:
                pass
            elif isinstance(item, bytes):
                decoder.feed(item)
            elif isinstance(item, _End) and item.error is None:
                decoder.finish()
            while not abandoned:
                try:
                    if resuming and decoder.skip_message() is None:
                        break
                    resuming = False
                    batch = decoder.next_batch()
                except DecodeError as error:
                    self._fault(source, error, flat=decoder.header().get("frames") == "flat")
                    resuming = source.module.FORMAT.resumable
                    abandoned = not resuming
                    continue
                if batch is None:
                    break
                done = begin + opened.data.reached if opened.handed_over else bytes_in
                header = decoder.header()
                left_out = self._lose_parts(header, left_out)
                yield self._read_to(source, batch, header, done)
            if abandoned and not opened.unwanted.is_set():
                self._abandon(opened)
            if isinstance(item, _End):
                if opened.handed_over:
                    opened.data.close()
                if not abandoned:
                    self._lose_namespaces(decoder.header())
                    if item.error is not None:
                        self._fault(source, item.error)
                        if opened.data.refusal is None:  # else nothing of it was read
                            self._abandon(opened)
                yield self._read_to(source, None, decoder.header(), bytes_in)
                return

    def _read_to(
        self,
        source: _Source,
        batch: MessageBatch | None,
        header: Mapping[str, Any],
        bytes_in: int,
    ) -> _Read:
        """An item, with what was lost since the one before."""
        lost, self._lost = self._lost, _NOTHING
        return _Read(source, batch, header, bytes_in, None if lost is _NOTHING else lost)

    def _fault(self, source: _Source, error: DecodeError, *, flat: bool = False) -> None:
        """Notes a fault to skip; raises it where faults are not skipped.

        Args:
            source: Where it is.
            error: The fault.
            flat: Whether the log is one message of many frames.
        """
        error.source = source.name
        stays_flat = flat and self._may_stay_flat and not source.member
        if isinstance(error, LimitError) and (self._held_whole or (stays_flat and self._skipping)):
            error.add_note(
                "to skip errors, each message is held whole: without --on-error skip it is not"
            )
        if flat and "frames=message" in error.reason:
            error.add_note(
                "group_by (--group-by) divides the message too, with skolemize (--skolemize) where blank nodes are in "
                "several frames"
            )
        # What is too large for a limit is not broken, and is not left out in silence.
        if not self._skipping or isinstance(error, LimitError):
            raise error
        self._met += 1
        lost = self._lost
        faults = (*lost.faults, str(error)) if self._met <= LISTED_FAULTS else lost.faults
        self._lost = replace(lost, skipped=lost.skipped + 1, faults=faults)

    def _abandon(self, opened: _Opened) -> None:
        opened.unwanted.set()
        abandoned = (*self._lost.abandoned, opened.source.name)
        self._lost = replace(self._lost, abandoned=abandoned)

    def _lose_namespaces(self, header: Mapping[str, Any]) -> None:
        """Notes those that a log declares behind its last message."""
        if count := header.get("trailing_namespaces", 0):
            self._lost = replace(self._lost, namespaces=self._lost.namespaces + count)

    def _lose_parts(self, header: Mapping[str, Any], before: _Parts) -> _Parts:
        """Notes what a decoder left out of messages; gives how much of the log so far."""
        parts = _Parts(header.get("dropped_metadata", 0), header.get("dropped_keys", 0))
        if parts != before:
            self._lost = replace(
                self._lost,
                metadata=self._lost.metadata + parts.metadata - before.metadata,
                keys=self._lost.keys + parts.keys - before.keys,
                key=self._lost.key or header.get("dropped_key"),
            )
        return parts

    def _too_many(self, source: _Source) -> DecodeError:
        how = (
            "--frames flat"
            if "frames" in source.module.FORMAT.decode_options
            else "--dialect plain"
        )
        return DecodeError(
            "holds more than one message, and --message-per-file takes each input as one; "
            f"leave that out, or read it as one with {how}",
            format=source.module.FORMAT.name,
            source=source.name,
        )

    def _decode_options(self) -> dict[str, Any]:
        """The options of the decoders of all formats."""
        given = self._options
        options: dict[str, Any] = {name: given.get(name) for name in _DECODE_OPTIONS}
        options["delimited"] = given.get("from_delimited")
        options["framing"] = given.get("from_framing")
        options["parts"] = self._parts
        if self._template.get("rdf_star") or self._template.get("generalized"):
            options["generalized"] = True
        return {name: value for name, value in options.items() if value is not None}

    def _make_decoder(self, data: Input, module: FormatModule) -> DecoderLike:
        known = module.FORMAT.decode_options
        options = {name: value for name, value in self._decode_options().items() if name in known}
        if "base" in known and data.url is not None:
            options = {"base": data.url, **options}
        inner = {}
        if module.FORMAT.name == "jelly" and not isinstance(data, MemberInput):
            inner["flat_parts"] = self._may_stay_flat and not self._skipping
        decoder: DecoderLike = make_codec(module.Decoder, module.FORMAT, known, options, inner)
        return decoder

    # --- stage 3: bytes again ---

    def _make_regrouper(self) -> Regrouper | None:
        """What moves the boundaries of messages, if anything is to."""
        given = self._options
        group_by = given.get("group_by") or "message"
        if group_by == "message" and given.get("skolemize") is None:
            return None
        return regroup.make(
            group_by,
            skolemize=given.get("skolemize"),
            parts=self._target_parts,
            max_message_bytes=given.get("max_message_bytes"),
        )

    def _noting(self, batches: Iterable[list[_Read]]) -> Iterator[list[_Read]]:
        """What was decoded; the first of it is noted, and what the logs say about themselves."""
        for some in batches:
            if self._first is None and some:
                self._first = some[0]._replace(batch=None)
            for read in some:
                self._notes.update(read.source, read.header.get("notes", ()))
            yield some

    def _regroup(self, batches: Iterable[list[_Read]]) -> Iterator[list[_Read]]:
        """What was decoded, with the messages that `group_by` asks for."""
        regrouper = self._regrouper
        if regrouper is None:
            yield from batches
            return
        read = None
        fed = 0  # quads
        try:
            for some in batches:
                for read in some:
                    if read.lost is not None:
                        self._lost_before.append((fed, read.lost))
                    if read.batch is not None:
                        regrouper.feed(read.batch)
                        fed += read.batch.quad_count
                        for made in regroup.taken(regrouper):
                            yield [read._replace(batch=made, lost=None)]
            regrouper.finish()
            if read is not None:
                for made in regroup.taken(regrouper):
                    yield [read._replace(batch=made, lost=None)]
                yield [read._replace(batch=None, lost=None)]
        except EncodeError as error:
            error.source = None if read is None else read.source.name
            raise

    def _choose(self, batch: MessageBatch) -> MessageBatch | None:
        """The messages of a batch that `skip` and `take` leave, or None."""
        first = self._seen - batch.continued
        self._seen = first + len(batch)
        end = None if self._take is None else self._skip + self._take
        start = max(self._skip - first, 0)
        stop = len(batch) if end is None else min(end - first, len(batch))
        through = batch if stop == len(batch) else batch.slice(0, stop)
        self._quads_seen += through.quad_count
        if start >= stop:
            return None
        return through if start == 0 else through.slice(start, stop)

    def _done(self, batch: MessageBatch | None) -> bool:
        """Whether `take` is met, so that the rest need not be read."""
        if self._take is None:
            return False
        end = self._skip + self._take
        return self._seen > end or (
            self._seen == end and not (batch is not None and batch.continues)
        )

    def _lose(self, lost: _Lost) -> None:
        """Counts what was left out before what is written."""
        self._skipped += lost.skipped
        self._faults += lost.faults[: LISTED_FAULTS - len(self._faults)]
        self._abandoned += lost.abandoned
        self._trailing_namespaces += lost.namespaces
        self._dropped_metadata += lost.metadata
        self._dropped_keys += lost.keys
        self._dropped_key = self._dropped_key or lost.key

    def _lose_before(self, quads: float) -> None:
        """Counts what was left out before so many quads that are regrouped."""
        while self._lost_before and self._lost_before[0][0] < quads:
            self._lose(self._lost_before.popleft()[1])

    def _encode_all(self, batches: Channel[list[_Read]], written: Channel[list[_Bytes]]) -> Any:
        """Encode what is decoded; gives the encoder, whose end is still to be written."""
        encoder: Any = None
        done = self._take is not None and self._skip + self._take == 0
        try:
            for some in self._regroup(self._noting(batches)):
                out: list[_Bytes] = []
                try:
                    for read in some:
                        if encoder is None:
                            encoder = self._make_encoder(self._first, read.batch)
                        if done:
                            break
                        self._encode(encoder, read, out)
                        if done := self._done(read.batch):
                            break
                finally:
                    if out:
                        self._put(written, out)
                if not out:  # nothing was written, and yet something is done
                    self._put(written, out)
                if done:
                    break
                self._tell(written)
        except RdfmError:
            if encoder is not None:  # what came before makes a whole log
                with contextlib.suppress(Exception):
                    written.put([encoder.finish()], 0)
            raise
        if not done:
            self._lose_before(math.inf)
        return self._make_encoder(self._first) if encoder is None else encoder

    def _encode(self, encoder: Any, read: _Read, out: list[_Bytes]) -> None:
        batch = None if read.batch is None else self._choose(read.batch)
        if read.lost is not None:
            # Of a message that is not wanted nothing is dropped.
            unwanted = batch is None and read.batch is not None
            self._lose(replace(read.lost, metadata=0) if unwanted else read.lost)
        if self._lost_before:
            self._lose_before(max(self._quads_seen, 1))
        if batch is not None:
            if hasattr(encoder, "source"):
                encoder.source = read.source.name
            try:
                out.append(encoder.encode(batch))
            except EncodeError as error:
                error.source = read.source.name
                out.append(error.completed)
                raise
            self._messages += len(batch) - batch.continued
            self._quads += batch.quad_count
        self._bytes_done = read.bytes_in

    def _make_encoder(self, first: _Read | None, batch: MessageBatch | None = None) -> Any:
        """The encoder, once the first messages and what their log says about itself are known."""
        given = self._options
        known = self._target.FORMAT.encode_options
        header = {} if first is None else first.header
        options: dict[str, Any] = {name: given.get(name) for name in _ENCODE_OPTIONS}
        options["dialect"] = headers.dialect(given, header)
        asked = given.get("to_dialect") or given.get("dialect") or given.get("flat")
        if first is not None or asked:  # else the source may say
            headers.refuse_idle_label(given, "comment" if self._jelly else options["dialect"])
        if self._jelly:
            carries = {} if first is None else first.source.module.FORMAT.carries
            several = first is not None and first.source.member
            several = several or len(self._inputs) > 1 or any(map(holds_files, self._inputs))
            others = several and self._may_hold_graphs()
            declares = batch is not None and len(batch) > 0 and batch.has_namespaces(0)
            options |= headers.jelly(
                given,
                template=self._template or header.get("jelly"),
                carries={**carries, "graphs": carries.get("graphs", True) or others},
                declares=declares,
                stays_flat=self._may_stay_flat
                and header.get("frames") == "flat"
                and not (first is not None and first.source.member),
            )
        options = {
            name: value for name, value in options.items() if value is not None and name in known
        }
        options = {**suffix_options(self._output_to, self._target.FORMAT), **options}

        def make(**changed: Any) -> EncoderLike:
            made: EncoderLike = make_codec(
                self._target.Encoder, self._target.FORMAT, known, {**options, **changed}
            )
            return made

        return self._shape.encoder(make, self._target.FORMAT, options)

    def _may_hold_graphs(self) -> bool:
        """Whether an input may hold graphs, as far as names tell."""
        name = self._options.get("from_format")
        for given in self._inputs:
            path = os.fspath(given) if isinstance(given, (str, os.PathLike)) else None
            module = formats.find(name) if name else formats.by_path(path) if path else None
            if module is None or module.FORMAT.carries.get("graphs", True):
                return True
        return False

    # --- around the stages ---

    def _put(self, written: Channel[list[_Bytes]], out: list[_Bytes]) -> None:
        cost = sum(
            len(some) if isinstance(some, bytes) else sum(len(part.data) for part in some)
            for some in out
        )
        written.put(out, cost, self._progress())

    def _tell(self, written: Channel[list[_Bytes]]) -> None:
        """Tells how far the writing thread is."""
        self._report(lambda: written.reached() or Progress(bytes_total=self._bytes_total))

    def _progress(self) -> Progress:
        """How far the encoding is."""
        return Progress(self._bytes_done, self._bytes_total, self._messages, self._quads)

    @staticmethod
    def _stop(*channels: Channel[Any]) -> None:
        for channel in channels:
            channel.cancel()


def _pieces(data: Input, unwanted: threading.Event) -> Iterator[bytes | _End]:
    """The bytes of a log, then its end."""
    error = None
    try:
        for piece in data:
            yield piece
            if unwanted.is_set():
                break
    except DecodeError as broken:
        error = broken
    yield _End(error)


def _cost(read: _Read) -> int:
    return 0 if read.batch is None else read.batch.memory_bytes


def _write(output: Any, written: Channel[list[_Bytes]]) -> None:
    """The writing thread."""
    try:
        for out in written:
            if not out:
                continue
            if len(out) == 1:
                output.write(out[0])
            elif all(isinstance(some, bytes) for some in out):
                output.write(b"".join(some for some in out if isinstance(some, bytes)))
            else:
                for some in out:
                    output.write(some)
    except Stopped:
        pass
    except BaseException as error:
        written.cancel(error)


def _join(threads: Sequence[threading.Thread]) -> None:
    """Waits a little: a reader that waits for a pipe or a network is left behind."""
    for thread in threads:
        if thread.is_alive():
            thread.join(0.5)


def _keep(output: Output | FolderOutput | None, error: BaseException) -> None:
    """Names what was written `NAME.partial`, and says so in the error."""
    partial = None if output is None else output.keep_partial()
    if partial is not None:
        error.add_note(f"what came before is in {partial}")


def _refuse_own_input(inputs: list[Any], output: Writable) -> None:
    """Refuse an output that is, holds or lies in an input."""
    target = None
    if isinstance(output, (str, os.PathLike)):
        shown = os.fspath(output)
        target = Path(local_target(shown) or shown)
    else:
        shown = str(getattr(output, "name", "the output"))
    file = _file_status(target or output)
    opened = [given for given in inputs if not isinstance(given, (str, os.PathLike))]
    for given in (*_local_paths(inputs), *opened):
        other = _file_status(given)
        if file is not None and other is not None and os.path.samestat(file, other):
            raise OptionError(f"{shown} is also an input; write to another file")
    if target is None:
        return
    for path in _local_paths(inputs):
        if path.is_dir() and path.resolve() in target.resolve().parents:
            raise OptionError(f"{shown} is in the folder {path}, which is read; write elsewhere")
        if target.is_dir() and target.resolve() in path.resolve().parents:
            raise OptionError(f"{path}, which is read, is in the folder {shown}; write elsewhere")


def _file_status(given: Any) -> os.stat_result | None:
    """What the system knows about a regular file, by its path or opened."""
    try:
        status = (
            Path(given).stat()
            if isinstance(given, (str, os.PathLike))
            else os.fstat(given.fileno())
        )
    except (AttributeError, OSError, ValueError, TypeError):  # not there, or no file of the system
        return None
    return status if stat.S_ISREG(status.st_mode) else None


def _local_paths(inputs: list[Any]) -> Iterator[Path]:
    """The files and folders among the inputs that are on this machine, those of globs too."""
    for given in inputs:
        if not isinstance(given, (str, os.PathLike)):
            continue
        path = local_path(os.fspath(given))
        if path is None:
            continue
        if Path(path).exists():
            yield Path(path)
        elif is_glob(path):
            yield from map(Path, matches(*storage_of(path)))
