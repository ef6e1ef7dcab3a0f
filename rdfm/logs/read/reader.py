"""Reading logs: `open_log` and `LogReader`.

In: the items of the driver. Out: batches and messages, in order.
Cost: one decoder's memory. Law: each message is complete, and all messages before an error are
returned before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Generic, Literal, Self, Unpack, cast, overload

from rdfm._core import MessageBatch, PatchBatch, ResultBatch
from rdfm.errors import OptionError, RdfmError
from rdfm.formats import Format
from rdfm.logs.input.driver import (
    Driver,
    Item,
    ReadBatch,
    ReadError,
    ReadSettings,
    SkippedData,
    Source,
    line_settings,
)
from rdfm.logs.input.inputs import Input, Readable, input_list
from rdfm.logs.input.splits import Split
from rdfm.logs.kinds import check_kind, log_of_other_kind_error, unread_kind_error
from rdfm.logs.read.arrow import TableForm, arrow_reader
from rdfm.logs.read.frames import Tabular
from rdfm.logs.reader_lock import LockedIterator, ReaderLock
from rdfm.logs.stages.criteria import FilterStage, filter_values
from rdfm.logs.stages.selection import (
    count_messages,
    parse_messages,
    parse_sample,
    random_share,
    random_subset,
    select_slice,
    to_slice,
)
from rdfm.logs.stages.stage import SkipErrors, Stage, Tally, run_stages
from rdfm.message import AnyBatch, Message

if TYPE_CHECKING:
    import pyarrow
    from typing_extensions import TypeVar

    from rdfm.formats.options_generated import ReadOptions
    from rdfm.logs.read.results import ResultReader
    from rdfm.message import Patch, Row

    # Without a type argument, `LogReader` is a log of messages.
    M = TypeVar("M", covariant=True, default=Message)
else:
    from typing import TypeVar

    M = TypeVar("M")  # defaults need Python 3.13

__all__ = ["LogReader", "open_log"]

# Functions that create an empty batch, by kind.
_EMPTY: dict[str, Callable[[], AnyBatch]] = {
    "messages": lambda: MessageBatch.from_messages([]),
    "patches": lambda: PatchBatch.from_patches([]),
    "results": lambda: ResultBatch.from_rows([], []),
}


@overload
def open_log(
    source: Readable | Sequence[Readable],
    format: str | None = None,
    *,
    kind: Literal["messages"] = "messages",
    compression: str | None = None,
    split: Split | None = None,
    parts: bool = False,
    messages: str | int | None = None,
    sample: str | int | None = None,
    seed: int = 0,
    rows: Literal["messages", "quads"] = "messages",
    terms: Literal["ntriples", "structs"] = "ntriples",
    columns: Sequence[str] | None = None,
    storage_options: Mapping[str, Any] | None = None,
    on_error: Literal["fail", "skip", "skip-line"] = "fail",
    **options: Unpack[ReadOptions],
) -> LogReader[Message]: ...
@overload
def open_log(
    source: Readable | Sequence[Readable],
    format: str | None = None,
    *,
    kind: Literal["patches"],
    compression: str | None = None,
    parts: bool = False,
    messages: str | int | None = None,
    sample: str | int | None = None,
    seed: int = 0,
    terms: Literal["ntriples", "structs"] = "ntriples",
    columns: Sequence[str] | None = None,
    storage_options: Mapping[str, Any] | None = None,
    on_error: Literal["fail", "skip", "skip-line"] = "fail",
    **options: Unpack[ReadOptions],
) -> LogReader[Patch]: ...
@overload
def open_log(
    source: Readable | Sequence[Readable],
    format: str | None = None,
    *,
    kind: Literal["results"],
    compression: str | None = None,
    messages: str | int | None = None,
    sample: str | int | None = None,
    seed: int = 0,
    terms: Literal["ntriples", "structs"] = "ntriples",
    storage_options: Mapping[str, Any] | None = None,
    on_error: Literal["fail", "skip", "skip-line"] = "fail",
    **options: Unpack[ReadOptions],
) -> ResultReader: ...
def open_log(
    source: Readable | Sequence[Readable],
    format: str | None = None,
    *,
    kind: Literal["messages", "patches", "results"] = "messages",
    compression: str | None = None,
    split: Split | None = None,
    parts: bool = False,
    messages: str | int | None = None,
    sample: str | int | None = None,
    seed: int = 0,
    rows: Literal["messages", "quads"] = "messages",
    terms: Literal["ntriples", "structs"] = "ntriples",
    columns: Sequence[str] | None = None,
    storage_options: Mapping[str, Any] | None = None,
    on_error: Literal["fail", "skip", "skip-line"] = "fail",
    **options: Unpack[ReadOptions],
) -> LogReader[Any]:
    r"""Open a log for reading; for a folder, a glob or a tar archive, all its logs in sequence.

    Args:
        source: A path, a URL (`https://…`, `grpc://host:port/TOPIC`, and others that fsspec
            supports), bytes, a binary file object or an `OpenFile` of fsspec. Files of folders and globs are read in
            natural order, members of archives in archive order. Names that begin with `_` or `.`
            are skipped. A list of these is read in its order.
        format: The format of every file or member, such as "nq". Detected from the suffix, then
            the content, by default.
        kind: The kind of the log: "messages", "patches" or "results" (rows of SPARQL results).
        compression: "gzip", "zstd", "bzip2" or "xz"; "none" to read the bytes as they are. Detected
            from the content by default.
        split: A part of the log, from `rdfm.plan_splits`. Only its messages are read.
        parts: Return a message larger than a batch in parts: batches whose `continues` is true.
        messages: The messages to read, counted from 0 over all inputs: a number ("5000"), or a
            slice as for lists ("100:200", "-10:", "::100"). Large N-Quads files are read from near
            the first selected message.
        sample: A random sample of the messages: a share ("1%"), or a number of messages, for which
            the log is read twice.
        seed: Seed of the sample.
        rows: The content of a row if the log is read as a table, with `batches()` or as an Arrow
            stream: "messages" or "quads". With "quads", messages of any size are read in parts.
        terms: Representation of terms in a table: as canonical N-Triples, or as "structs" of kind,
            value, datatype, language and direction.
        columns: The columns of a table, in order; only these are built. For quads: source,
            message_index, subject, predicate, object and graph, which are the default. For
            messages and patches: source, message_index, byte_offset, quads (operations),
            metadata and namespaces; the default is without byte_offset and namespaces.
        storage_options: Options that fsspec needs to read a URL, such as credentials. For a live
            stream (`grpc://…`): `follow` and `from_end`, whose defaults the server determines;
            `retry`, the maximum number of consecutive attempts to reconnect; `token` and `headers`;
            and the files `tls_ca`, `tls_cert` and `tls_key`. For https and http: `headers`, the
            same files, and the timeouts `connect_seconds`, `first_byte_seconds` and `idle_seconds`.
        on_error: "fail"; "skip" to skip messages with errors; or, for N-Triples and N-Quads,
            "skip-line" to skip only lines that are not statements. The reader counts both, see
            `skipped` and `skipped_lines`. Exceeding a limit is always an error.
        **options: Options of the format's decoder, such as `dialect`, `lenient` or
            `max_message_bytes` (in decoded bytes); see `rdfm.formats.find(name).spec.reads`. With
            several logs, each log uses those that its format supports.

    Returns:
        An iterable of `Message`, of `Patch`, or of the rows of results, which are tuples with a
        term or None for each variable. It is also a context manager. For results, it is a
        `ResultReader`, which has the variables.

    Raises:
        UnknownFormatError: If the format cannot be detected, or the name is unknown.
        OptionError: If the log is of another kind, the format does not support an option or its
            value, or the log cannot be split.
        OSError: If the file cannot be read.
        MissingExtraError: If the URL needs a package that is not installed.

    Example:
        >>> log = b'<http://ex/s> <http://ex/p> "o" .\n'
        >>> with open_log(log, "nq") as messages:
        ...     print([len(message) for message in messages])
        [1]
    """
    check_kind(kind)
    if split is not None and split.whole:
        split = None
    if split is not None and compression not in (None, split.compression or "none"):
        raise OptionError(f"a log compressed with {compression} cannot be split; read all of it")
    format = format or (None if split is None else split.format)
    table = None
    if (rows, terms, columns) != TableForm():
        table = TableForm.from_options(rows, terms, columns, kind)
    in_parts = parts or (table is not None and table.rows == "quads")
    settings = ReadSettings(
        format,
        options,
        compression,
        storage_options,
        split,
        "always" if in_parts else "never",
        **line_settings(on_error),
    )
    reader: type[LogReader[Any]] = LogReader
    if kind == "results":
        from rdfm.logs.read.results import ResultReader  # which imports this module

        reader = ResultReader
    inputs = input_list(source)
    if not inputs:
        raise OptionError("no input is given")
    if split is not None and len(inputs) > 1:
        raise OptionError("a split is a part of a single log; read one log")
    handling = () if on_error == "fail" else (SkipErrors(),)
    if messages is None and sample is None:
        return reader(Driver(inputs, settings), handling, table=table, kind=kind)
    selectors = {"messages": messages, "split": split, "sample": sample}
    first, *others = (name for name, value in selectors.items() if value is not None)
    if others:
        raise OptionError(
            f"{first} and {others[0]} both select a part of the log; use only one of them"
        )
    if sample is not None:
        size = parse_sample(str(sample))
        if isinstance(size, float):
            selection = random_share(size, seed)
        else:
            count = count_messages(inputs, settings, (), skips=on_error != "fail")
            selection = random_subset(size, count, seed)
        if on_error != "fail":
            selection.counts_skipped = False
        return reader(Driver(inputs, settings), (*handling, selection), table=table, kind=kind)
    from rdfm.logs.read.seek import seek  # which imports this module

    chosen = parse_messages(cast("str | int", messages))
    if len(inputs) == 1:
        split = seek(inputs[0], settings, to_slice(chosen), numbered=True)
    index = 0 if split is None else split.first_message_index or 0
    settings = replace(settings, split=split)
    stages = (*handling, select_slice(chosen, first=index))
    return reader(Driver(inputs, settings), stages, table=table, kind=kind)


class LogReader(Tabular, Generic[M]):
    """A log that is being read. Iterate over its messages, patches or rows, or over `batches()`.

    Created by `open_log`. `LogReader[Message]` reads messages, `LogReader[Patch]` patches, and
    `LogReader[Row]` the rows of SPARQL results: tuples with a term or None for each variable. The
    logs of a folder, a glob or an archive are read one after the other.
    If an error ends one of them, `skip_message` continues with the next log.

    As a table, it has the rows of `batches()` with their source. A row is a message, or a quad if
    the log was opened with `rows="quads"`. Only one thread can use a reader at a time; a second
    thread gets a RuntimeError.

    Attributes:
        format: The format's name.
        source: The file's name or URL; for an archive member, a name like `a.tar!000/1.ttl`.
        several: Whether there are several logs, such as those of a folder or an archive. If so,
            `format` and `source` are those of the current log, and messages are counted separately
            in each log.
    """

    def __init__(
        self,
        driver: Driver,
        stages: Sequence[Stage] = (),
        *,
        table: TableForm | None = None,
        kind: str | None = None,
    ) -> None:
        """Initialize with the driver and the stages after it. Called by `open_log`.

        Args:
            driver: Reads the log.
            stages: Stages that process the messages after they are read, in order.
            table: The form of the rows, if the log is read as a table.
            kind: The kind of the log; any kind by default.

        Raises:
            OptionError: If the log is of another kind.
        """
        self._driver = driver
        self._table = table
        self._kind = kind
        self._first: AnyBatch | RdfmError | None = None  # already read, but not yet returned
        self._error: ReadError | None = None
        self._has_begun = self._has_ended = False
        self._tally = Tally()
        self._header: Mapping[str, Any] = {}
        self._input: Input | None = None
        self._format: Format | None = None
        try:
            # A single log is opened now, so that a failure is reported immediately.
            pieces = driver.open_first()
            self.several = driver.several
            self.source = driver.name
            self._lock = ReaderLock(self.source)
            self.format = driver.format or ""
            if driver.first is not None:
                self._begin_log(driver.first)
        except BaseException:
            driver.close()
            raise
        items = chain.from_iterable(driver.decode(pieces))
        self._items = run_stages(items, stages) if stages else items

    @property
    def header(self) -> dict[str, Any]:
        """The header of the log: `dialect`, `version_label`, `options` (its stream options).

        Reads up to the first messages. If that fails, the error is raised when they are requested.
        """
        with self._lock:
            if not self._has_begun:
                self._peek()
        return dict(self._header)

    @property
    def uncommitted_bytes(self) -> int:
        """Bytes at the ends of the logs opened so far that are not read: no run committed them."""
        return sum(self._driver.uncommitted.values())

    @property
    def skipped(self) -> int:
        """Number of messages skipped so far because of an error (`on_error="skip"`).

        With "skip-line", those in which an invalid line may have been a delimiter.
        """
        return self._tally.skipped

    @property
    def skipped_lines(self) -> int:
        """Number of lines skipped so far (`on_error="skip-line"`)."""
        return self._tally.skipped_lines

    @property
    def errors(self) -> tuple[str, ...]:
        """Texts of the first ten skipped errors."""
        return tuple(self._tally.errors)

    @overload
    def batches(self: LogReader[Message]) -> Iterator[MessageBatch]: ...
    @overload
    def batches(self: LogReader[Patch]) -> Iterator[PatchBatch]: ...
    @overload
    def batches(self: LogReader[Row]) -> Iterator[ResultBatch]: ...
    def batches(self) -> Iterator[Any]:
        """Return an iterator over the batches, which are faster than messages and support Arrow.

        Patches have batches of type `PatchBatch`, results `ResultBatch`. A log opened with `rows`,
        `terms` or `columns` has Arrow batches with these rows, for any consumer of Arrow data, such
        as `pyarrow.record_batch(batch)`. Their declared type is that of the log's kind.

        If a loop is exited early, or its error is skipped with `skip_message`, the next loop
        continues after the last batch or the skipped message.

        Raises:
            DecodeError: If the log is invalid. All messages completed before the error have been
                returned.
            OSError: If the file cannot be read.
            ValueError: If the log has already been read to its end or to an error.
            RuntimeError: If another thread is using the reader.
        """
        return LockedIterator(self._lock, self._batches())

    def _batches(self) -> Iterator[Any]:
        self._check_unread()
        table = self._table
        while (batch := self._next()) is not None:
            if table is None:
                yield batch
            elif len(rows := table.batch_rows(batch, self.source)):
                yield rows

    def __iter__(self) -> Iterator[M]:
        """Return an iterator over the messages, patches or rows.

        Raises the same errors as `batches`.

        Raises:
            OptionError: If the log was opened as a table.
        """
        return LockedIterator(self._lock, self._messages())

    def _messages(self) -> Iterator[M]:
        if self._table is not None:
            raise OptionError(
                f"{self.source} was opened as a table; use batches(), or open it without the options rows, terms and columns to get messages"
            )
        self._check_unread()
        while (batch := self._next()) is not None:
            returned = 0
            try:
                for message in batch:
                    returned += 1
                    yield cast("M", message)
            finally:  # if the loop is exited early, the next one continues here
                if returned < len(batch):
                    self._first = batch.slice(returned, len(batch))

    def filter(self, **criteria: Any) -> Self:
        r"""Return a reader of the messages with a quad that matches all criteria.

        Call it before any message is read.

        Args:
            **criteria: Terms for `subject`, `predicate`, `object`, `graph` ("default" is the
                default graph) or `any` (which accepts a list): in N-Triples, as a name with a
                namespace of the log or of `prefixes` (a dict), or a number. `contains` and `regex`
                match the text of a literal object. `after` and `before` are dates or times for the
                object of the predicate `time`, which may be in another quad of the message. `where`
                is an ASK query. `invert=True` keeps the messages that do not match, `quads=True`
                only the matching quads of each message. Messages that are read in parts, or as
                quad rows, need `quads=True`, with criteria that apply to a single quad.

        Raises:
            OptionError: If a criterion is not a valid term, expression or time, or none is given.
                While reading: if the log contains patches or results, or, at its end, if the
                namespace of a name is not declared.
            ValueError: If messages have already been read.

        Example:
            >>> log = open_log(b'<x:a> <x:p> "1" .\n# @message\n<x:b> <x:p> "2" .\n', "nq")
            >>> [message.message_index for message in log.filter(subject="<x:b>")]
            [1]
        """
        return self._with_stages(FilterStage(filter_values(criteria)))

    def _with_stages(self, *stages: Stage) -> Self:
        """Return a reader with additional stages, before any message is read.

        Raises:
            ValueError: If messages have already been read.
        """
        if self._has_begun:
            raise ValueError(
                f"{self.source} has already been read; open it again to filter or query it"
            )
        clone = copy(self)
        clone._items = run_stages(self._items, stages)
        return clone

    def _stage_items(self) -> Iterator[Item]:
        """Return the items as the driver and the stages yield them.

        Raises:
            ValueError: If messages have already been read.
        """
        return self._with_stages()._items

    def _arrow_reader(self) -> pyarrow.RecordBatchReader:
        """Return a pyarrow reader of the rows. Reads up to the first messages."""
        with self._lock:
            self._check_unread()
            head = self._peek()
        if isinstance(head, RdfmError):
            raise head
        kind = self._kind or ("messages" if self._format is None else self._format.spec.kinds[0])
        return arrow_reader(
            self._table or TableForm(),
            _EMPTY[kind]() if head is None else head,
            self.source,
            LockedIterator(self._lock, self._with_sources()),
        )

    def _with_sources(self) -> Iterator[tuple[AnyBatch, str | None]]:
        """Yield the batches, each with the name of its log."""
        self._check_unread()
        while (batch := self._next()) is not None:
            yield batch, self.source

    def _check_unread(self) -> None:
        if self._has_ended:
            raise ValueError(
                f"{self.source} has been read to the end; open it again to read it again"
            )

    def _next(self) -> AnyBatch | None:
        """Return the next batch, or None at the end."""
        self._has_begun = True
        first, self._first = self._first, None
        if first is not None and not isinstance(first, RdfmError):
            return first
        has_ended, self._has_ended = self._has_ended, True  # an error ends the log, too
        if first is not None:
            raise first
        batch = None if has_ended else self._take_batch()
        self._has_ended = batch is None
        return batch

    def _peek(self) -> AnyBatch | RdfmError | None:
        """Return the batch that `_next` will return, or the error that it will raise."""
        self._has_begun = True
        if self._first is None and not self._has_ended:
            try:
                self._first = self._take_batch()
            except RdfmError as error:
                self._first = error
        return self._first

    def _take_batch(self) -> AnyBatch | None:
        """Return the next batch of the driver."""
        for item in self._items:
            self._begin_log(item.source)
            self._tally.count(item)
            if isinstance(item, ReadError):
                self._header, self._error = item.header, item
                raise item.error
            if isinstance(item, ReadBatch):
                self._header = item.header
                if item.batch is not None:
                    if self._kind is not None and self._kind != (kind := item.batch.kind):
                        raise log_of_other_kind_error(item.source.name, kind, self._kind)
                    return item.batch
        return None

    def _begin_log(self, source: Source) -> None:
        """Note the log that is being read.

        Raises:
            OptionError: If the log is of another kind.
        """
        self.source = source.name
        if source.format is not None:  # otherwise, these are results of another library
            spec = source.format.spec
            if self._kind in spec.written_only:
                raise unread_kind_error(source.name, spec, self._kind)
            if self._kind is not None and self._kind not in spec.kinds:
                raise log_of_other_kind_error(source.name, spec.kinds[0], self._kind)
            self.format, self._input, self._format = spec.name, source.input, source.format

    def skip_message(self) -> bytes:
        r"""Skip the message in which an error occurred; the next loop continues after it.

        The skipped message keeps its index.

        Returns:
            The skipped bytes, at most the first MiB. Empty if the rest of one of several logs is
            skipped.

        Raises:
            DecodeError: The same error, if the rest of the log cannot be read because the format is
                not `resumable`, or the compressed data or the archive is corrupt.
            ValueError: If no error has occurred.
            RuntimeError: If another thread is using the reader.

        Example:
            >>> log = open_log(b'oops\n# @message\n<http://ex/s> <http://ex/p> "o" .\n', "nq")
            >>> try:
            ...     list(log)
            ... except RdfmError:
            ...     log.skip_message(), [message.message_index for message in log]
            (b'oops\n', [1])
        """
        with self._lock:
            return self._skip_message()

    def _skip_message(self) -> bytes:
        failure = self._error
        if failure is None:
            raise ValueError(f"{self.source}: there is no error to skip")
        if failure.final or not (failure.resumable or self.several):
            raise failure.error
        skipped = next(self._items, None)
        if isinstance(skipped, ReadError):
            self._error = skipped
            raise skipped.error
        self._error, self._has_ended = None, False
        return skipped.data if isinstance(skipped, SkippedData) else b""

    def close(self) -> None:
        """Close the open files.

        Raises:
            RuntimeError: If another thread is reading; stop it first.
        """
        with self._lock:
            self._driver.close()

    def __enter__(self) -> Self:
        """Return the reader."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the open files."""
        self.close()

    def __repr__(self) -> str:
        """Return a string such as `<LogReader x.nq.gz: nq>`."""
        format = f": {self.format}" if self.format else ""
        return f"<{type(self).__name__} {self.source}{format}>"
