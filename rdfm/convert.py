"""Log to log: reading, decoding, encoding and writing overlap in threads.

In: logs in any format. Out: one log in another, and a `Summary`.
Cost: bounded queues between the stages (pieces, batches, bytes), whatever the input; Python works
per batch, never per message. Law: the first error ends all stages, after what came before it.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack

from rdfm import formats, headers, regroup
from rdfm._core import Decoder, MessageBatch, Regrouper
from rdfm.channel import Channel, Stopped, feeding_thread
from rdfm.contexts import context_text
from rdfm.errors import DecodeError, EncodeError, LimitError, OptionError, RdfmError
from rdfm.formats import DecoderLike, EncoderLike, FormatModule
from rdfm.input import Input, MemberInput, Readable, files_of, holds_files
from rdfm.log import Codecs, make_codec
from rdfm.notes import Notes, notes_of
from rdfm.output import FolderOutput, Output, Shape, Writable, output_format, suffix_options
from rdfm.parts import Part
from rdfm.paths import local_path, local_target
from rdfm.storage import find_files, is_glob, matches, storage_of

__all__ = ["ConvertOptions", "Progress", "Summary", "convert"]

# Bounds of the queues, in bytes; one item always passes, however large.
PIECES_BYTES = 4 << 20
BATCHES_BYTES = 24 << 20
OUTPUT_BYTES = 8 << 20
# What small logs, as in archives, give goes on together.
TOGETHER_BYTES = 1 << 20
LISTED_FAULTS = 10
PROGRESS_SECONDS = 0.1

_DECODE_OPTIONS = (
    "max_message_bytes",
    "max_depth",
    "lenient",
    "generalized",
    "dialect",
    "announced",
    "base",
    "rdf_direction",
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
    frames: Literal["message", "flat"] | None
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


@dataclass
class Progress:
    """How far a conversion is.

    Attributes:
        bytes_in: Bytes read of the inputs (compressed).
        bytes_total: Bytes of all inputs; None where one of them does not say.
        messages: Messages written.
        quads: Quads written.
    """

    bytes_in: int = 0
    bytes_total: int | None = None
    messages: int = 0
    quads: int = 0


@dataclass(frozen=True)
class Summary:
    """What a conversion did.

    Attributes:
        messages: Messages written.
        quads: Quads written.
        bytes_in: Bytes read (compressed).
        bytes_out: Bytes written (compressed).
        seconds: Time taken.
        dropped: What the target could not hold and was left out, by name and count.
        skipped: Faults skipped (`on_error="skip"`).
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
            - overwrite: Replace a folder that holds something.
            - options_from: A Jelly file whose stream options to write with.
            - physical_type, logical_type, stream_name, name_table, prefix_table, datatype_table
              (entries), namespaces, frame_rows, delimited: How Jelly is written.
            - frames: "flat" reads a Jelly log as one message and writes one over many frames.
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


@dataclass
class _Source:
    """An input on its way through the stages."""

    data: Input
    module: FormatModule
    header: dict[str, Any] = field(default_factory=dict)
    decoder: DecoderLike | None = None
    handed_over: bool = False  # the decoder reads the file itself
    abandoned: bool = False  # the decoder wants no more of it


@dataclass
class _End:
    """The end of a source; with an error if its bytes could not be decompressed."""

    source: _Source
    error: DecodeError | None = None


# What goes from stage to stage: from reading, logs in memory, or one with its pieces and its end; from
# decoding, a log's batches, and None at its end; from encoding, bytes or files' parts.
_Piece = list[Input] | _Source | bytes | _End
_Read = tuple[_Source, MessageBatch | None]
_Bytes = bytes | list[Part]


class _Conversion:
    """One call of `convert`."""

    def __init__(self, inputs: list[Any], output: Writable, options: ConvertOptions) -> None:
        self._inputs = inputs
        if (given := options.get("compact_with")) is not None:
            # Read once, however many files are written.
            options = {**options, "compact_with": context_text(given)}
        self._options = options
        self._target = output_format(output, options.get("to_format"))
        self._skipping = options.get("on_error") == "skip"
        if options.get("on_error") not in (None, "fail", "skip"):
            raise OptionError("on_error is 'fail' or 'skip'")
        self._skip = options.get("skip") or 0
        self._take = options.get("take")
        if self._skip < 0 or (self._take is not None and self._take < 0):
            raise OptionError("skip and take count messages: 0 or more")
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
        parts = parts and not (self._shape.archive or self._shape.folder)
        # Half a faulty message cannot be taken back, so skipping holds each message whole.
        self._target_parts = parts
        regrouping = options.get("group_by") not in (None, "message")
        self._parts = (parts or regrouping) and not self._skipping
        self._held_whole = (parts or regrouping) and self._skipping
        self._progress = Progress(bytes_total=_total_bytes(inputs))
        self._next_progress = 0.0
        self._opened: list[Input] = []
        self._codecs = Codecs(options.get("from_format"), self._decode_options())
        self._faults: list[str] = []
        self._skipped = 0
        self._abandoned: list[str] = []
        self._seen = 0  # messages begun, those left out included
        self._trailing_namespaces = 0  # declared behind a source's last message
        self._notes = Notes()
        self._output_to = output
        self._regrouper = self._make_regrouper()
        # Whatever the options say wrong is said before anything is read or written.
        self._make_encoder(None, None)

    def run(self) -> Summary:
        start = time.perf_counter()
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
            _put(written, [encoder.finish()])
            written.close()
            written.drained()
            output.commit()
            seconds = time.perf_counter() - start
        except BaseException as error:
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
            self._stop(pieces, batches, written)
            _join(threads)
            for data in self._opened:
                if not threads[0].is_alive():
                    data.close()
        self._report(force=True)
        return Summary(
            messages=self._progress.messages,
            quads=self._progress.quads,
            bytes_in=self._progress.bytes_in,
            bytes_out=output.bytes_written,
            seconds=seconds,
            dropped=self._dropped(encoder),
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
        return {name: count for name, count in dropped.items() if count}

    # --- stage 1: bytes ---

    def _read(self) -> Iterator[tuple[_Piece, int]]:
        for given in self._inputs:
            for data in files_of(given):
                self._opened.append(data)
                if data.is_archive(self._options.get("from_format")):
                    yield from self._read_archive(data)
                else:
                    yield from self._read_log(data)

    def _read_log(self, data: Input) -> Iterator[tuple[_Piece, int]]:
        source = _Source(data, data.format(self._options.get("from_format")))
        source.decoder = self._make_decoder(source)
        source.handed_over = data.hand_over(source.decoder)
        yield source, 0
        if source.handed_over:  # it is read meanwhile
            yield _End(source), 0
            return
        for piece in _pieces(source):
            yield piece, len(piece) if isinstance(piece, bytes) else 0
        data.close()

    def _read_archive(self, data: Input) -> Iterator[tuple[_Piece, int]]:
        try:
            for some in data.members():
                if isinstance(some[0], MemberInput) and not some[0].in_memory:
                    yield from self._read_log(some[0])
                else:
                    yield some, TOGETHER_BYTES
        except DecodeError as error:  # of the archive, which ends here
            source = _Source(data, formats.find("nq"))
            yield source, 0
            yield _End(source, error), 0

    # --- stage 2: batches ---

    def _decode(self, pieces: Iterable[_Piece]) -> Iterator[tuple[list[_Read], int]]:
        stream = iter(pieces)
        for item in stream:
            if isinstance(item, list):
                yield from self._decode_members(item)
            elif isinstance(item, _Source):
                for read, cost in self._decode_log(item, stream):
                    yield [read], cost
            else:
                raise RuntimeError("a source comes before its pieces")

    def _decode_members(self, members: list[Input]) -> Iterator[tuple[list[_Read], int]]:
        """The messages of logs that are there, together."""
        together: list[_Read] = []
        total = 0
        try:
            for data in members:
                decoder, module = self._codecs.decoder(data, reset=False)
                source = _Source(data, module, decoder=decoder)
                if (batches := self._at_once(source)) is not None:
                    together += [(source, batch) for batch in batches]
                    together.append((source, None))
                    total += sum(batch.memory_bytes for batch in batches)
                else:
                    for read, cost in self._decode_log(source, _pieces(source)):
                        together.append(read)
                        total += cost
                if total >= TOGETHER_BYTES:
                    yield together, total
                    together, total = [], 0
        except RdfmError:
            if together:  # comes before the error
                yield together, total
            raise
        if together:
            yield together, total

    def _at_once(self, source: _Source) -> list[MessageBatch] | None:
        """The batches of a small log without faults; else None, and its decoder is at its start."""
        data, decoder = source.data, source.decoder
        native = isinstance(decoder, Decoder) and not self._options.get("message_per_file")
        whole = data.take() if native and isinstance(data, MemberInput) else None
        if whole is not None and isinstance(decoder, Decoder):
            batches, ended = decoder.decode_log(whole)
            if ended:
                source.header = decoder.header()
                self._trailing_namespaces += source.header.get("trailing_namespaces", 0)
                return batches
            data.give_back(whole)  # type: ignore[attr-defined]  # it is a member
        if decoder is not None and hasattr(decoder, "reset"):
            decoder.reset()
        return None

    def _decode_log(self, source: _Source, stream: Iterator[_Piece]) -> Iterator[tuple[_Read, int]]:
        count = 0
        faults = self._skipped
        for batch in self._batches(source, stream):
            count += len(batch) - batch.continued
            if self._options.get("message_per_file") and count > 1:
                raise self._too_many(source)
            yield (source, batch), batch.memory_bytes
        if self._options.get("message_per_file") and count == 0 and faults == self._skipped:
            yield (source, MessageBatch.from_messages([[]])), 0
        else:
            yield (source, None), 0

    def _batches(self, source: _Source, stream: Iterator[_Piece]) -> Iterator[MessageBatch]:
        """The batches of one source; consumes its pieces and its end."""
        decoder = source.decoder or self._make_decoder(source)
        resuming = False
        for item in stream:
            ended = not isinstance(item, bytes)
            if source.abandoned:
                if ended:
                    return
                continue
            if isinstance(item, bytes):
                decoder.feed(item)
            elif isinstance(item, _End) and item.error is None:
                decoder.finish()
            while True:
                try:
                    if resuming and decoder.skip_message() is None:
                        break
                    resuming = False
                    batch = decoder.next_batch()
                except DecodeError as error:
                    self._fault(source, error)
                    if not source.module.FORMAT.resumable:
                        self._abandon(source)
                        break
                    resuming = True
                    continue
                finally:
                    source.header = decoder.header()
                if batch is None:
                    break
                yield batch
            if ended:
                source.data.close()
                self._trailing_namespaces += source.header.get("trailing_namespaces", 0)
                if isinstance(item, _End) and item.error is not None:
                    self._fault(source, item.error)
                    if source.data.refusal is None:  # else nothing of it was read
                        self._abandon(source)
                return

    def _fault(self, source: _Source, error: DecodeError) -> None:
        """Notes a fault to skip; raises it where faults are not skipped."""
        error.source = source.data.name
        if isinstance(error, LimitError) and self._held_whole:
            error.add_note(
                "to skip faults, each message is held whole: without --on-error skip it is not"
            )
        # What is too large for a limit is not broken, and is not left out in silence.
        if not self._skipping or isinstance(error, LimitError):
            raise error
        self._skipped += 1
        if len(self._faults) < LISTED_FAULTS:
            self._faults.append(str(error))

    def _abandon(self, source: _Source) -> None:
        source.abandoned = True
        self._abandoned.append(source.data.name)

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
            source=source.data.name,
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

    def _make_decoder(self, source: _Source) -> DecoderLike:
        known = source.module.FORMAT.decode_options
        options = {name: value for name, value in self._decode_options().items() if name in known}
        if "base" in known and source.data.url is not None:
            options = {"base": source.data.url, **options}
        decoder: DecoderLike = make_codec(
            source.module.Decoder, source.module.FORMAT, known, options
        )
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

    def _noted(self, batches: Iterable[list[_Read]]) -> Iterator[list[_Read]]:
        """The batches; what their sources say about themselves is noted."""
        for some in batches:
            for source, _ in some:
                self._notes.update(source.data, source.header.get("notes", ()))
            yield some

    def _regroup(self, batches: Iterable[list[_Read]]) -> Iterator[list[_Read]]:
        """The batches with the messages that `group_by` asks for."""
        regrouper = self._regrouper
        if regrouper is None:
            yield from batches
            return
        source = None
        try:
            for some in batches:
                for source, batch in some:
                    if batch is not None:
                        regrouper.feed(batch)
                        for made in regroup.taken(regrouper):
                            yield [(source, made)]
            regrouper.finish()
            if source is not None:
                for made in regroup.taken(regrouper):
                    yield [(source, made)]
                yield [(source, None)]
        except EncodeError as error:
            error.source = None if source is None else source.data.name
            raise

    def _choose(self, batch: MessageBatch) -> MessageBatch | None:
        """The messages of a batch that `skip` and `take` leave, or None."""
        first = self._seen - batch.continued
        self._seen = first + len(batch)
        end = None if self._take is None else self._skip + self._take
        start = max(self._skip - first, 0)
        stop = len(batch) if end is None else min(end - first, len(batch))
        if start >= stop:
            return None
        return batch if start == 0 and stop == len(batch) else batch.slice(start, stop)

    def _done(self, batch: MessageBatch | None) -> bool:
        """Whether `take` is met, so that the rest need not be read."""
        if self._take is None:
            return False
        end = self._skip + self._take
        return self._seen > end or (
            self._seen == end and not (batch is not None and batch.continues)
        )

    def _encode_all(self, batches: Channel[list[_Read]], written: Channel[list[_Bytes]]) -> Any:
        """Encode what is decoded; gives the encoder, whose end is still to be written."""
        encoder: Any = None
        source = None
        try:
            for some in self._regroup(self._noted(batches)):
                out: list[_Bytes] = []
                try:
                    for source, batch in some:
                        if encoder is None:
                            encoder = self._make_encoder(source, batch)
                        if batch is not None and (chosen := self._choose(batch)) is not None:
                            self._encode(encoder, source, chosen, out)
                        if done := self._done(batch):
                            break
                finally:
                    if out:
                        _put(written, out)
                if done:
                    break
                self._report()
        except RdfmError:
            if encoder is not None:  # what came before makes a whole log
                with contextlib.suppress(Exception):
                    written.put([encoder.finish()], 0)
            raise
        return self._make_encoder(source, None) if encoder is None else encoder

    def _encode(
        self, encoder: Any, source: _Source, batch: MessageBatch, out: list[_Bytes]
    ) -> None:
        if hasattr(encoder, "source"):
            encoder.source = source.data.name
        try:
            out.append(encoder.encode(batch))
        except EncodeError as error:
            error.source = source.data.name
            out.append(error.completed)
            raise
        self._progress.messages += len(batch) - batch.continued
        self._progress.quads += batch.quad_count

    def _make_encoder(self, source: _Source | None, batch: MessageBatch | None) -> Any:
        """The encoder, once the first messages and what the source says about itself are known."""
        given = self._options
        known = self._target.FORMAT.encode_options
        header = {} if source is None else source.header
        options: dict[str, Any] = {name: given.get(name) for name in _ENCODE_OPTIONS}
        options["dialect"] = headers.dialect(given, header)
        asked = given.get("to_dialect") or given.get("dialect") or given.get("flat")
        if source is not None or asked:  # else the source may say
            headers.refuse_idle_label(given, "comment" if self._jelly else options["dialect"])
        if self._jelly:
            carries = {} if source is None else source.module.FORMAT.carries
            several = source is not None and isinstance(source.data, MemberInput)
            several = several or len(self._inputs) > 1 or any(map(holds_files, self._inputs))
            others = several and self._may_hold_graphs()
            declares = batch is not None and len(batch) > 0 and bool(batch.namespaces(0))
            options |= headers.jelly(
                given,
                template=self._template or header.get("jelly"),
                carries={**carries, "graphs": carries.get("graphs", True) or others},
                declares=declares,
            )
        options = {
            name: value for name, value in options.items() if value is not None and name in known
        }
        options = {**suffix_options(self._output_to, self._target.FORMAT), **options}

        def make() -> EncoderLike:
            made: EncoderLike = make_codec(
                self._target.Encoder, self._target.FORMAT, known, options
            )
            return made

        return self._shape.encoder(make, self._target.FORMAT)

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

    def _report(self, *, force: bool = False) -> None:
        now = time.perf_counter()
        if now < self._next_progress and not force:
            return
        self._next_progress = now + PROGRESS_SECONDS
        self._progress.bytes_in = sum(data.bytes_read for data in self._opened)
        progress = self._options.get("progress")
        if progress is not None:
            progress(self._progress)

    @staticmethod
    def _stop(*channels: Channel[Any]) -> None:
        for channel in channels:
            channel.cancel()


def _pieces(source: _Source) -> Iterator[bytes | _End]:
    """The bytes of a source, then its end."""
    error = None
    try:
        for piece in source.data:
            yield piece
            if source.abandoned:
                break
    except DecodeError as broken:
        error = broken
    yield _End(source, error)


def _put(written: Channel[list[_Bytes]], out: list[_Bytes]) -> None:
    cost = sum(
        len(some) if isinstance(some, bytes) else sum(len(part.data) for part in some)
        for some in out
    )
    written.put(out, cost)


def _write(output: Any, written: Channel[list[_Bytes]]) -> None:
    """The writing thread."""
    try:
        for out in written:
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
    if not isinstance(output, (str, os.PathLike)):
        return
    shown = os.fspath(output)
    target = Path(local_target(shown) or shown)
    for path in _local_paths(inputs):
        if target.exists() and path.samefile(target):
            raise OptionError(f"{shown} is an input too; write to another file")
        if path.is_dir() and path.resolve() in target.resolve().parents:
            raise OptionError(f"{shown} is in the folder {path}, which is read; write elsewhere")
        if target.is_dir() and target.resolve() in path.resolve().parents:
            raise OptionError(f"{path}, which is read, is in the folder {shown}; write elsewhere")


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


def _total_bytes(inputs: list[Any]) -> int | None:
    """Bytes of all inputs, if all are files or bytes."""
    total = 0
    for given in inputs:
        if isinstance(given, (bytes, bytearray, memoryview)):
            total += len(given)
        elif isinstance(given, (str, os.PathLike)) and Path(given).is_file():
            total += Path(given).stat().st_size
        elif isinstance(given, (str, os.PathLike)) and Path(given).is_dir():
            found, _ = find_files([os.fspath(given)], recursive=True)
            total += sum(file.size for file in found)
        else:
            return None
    return total
