"""Writing logs: `create_log` and `LogWriter`.

In: messages or batches. Out: the files that `rdfm.logs.write.output` writes.
Cost: one encoder's memory, and a few messages that are encoded together. Law: messages are written
completely and in order.
"""

from __future__ import annotations

import contextlib
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Literal, Self, Unpack, overload

from rdfm._core import MessageBatch, PatchBatch, Quad, ResultBatch
from rdfm.errors import EncodeError, OptionError, RdfmError
from rdfm.formats import EncoderLike, Format
from rdfm.formats.format import encode_view
from rdfm.logs.kinds import check_kind, format_of_other_kind_error
from rdfm.logs.write.append import AppendOutput, AppendSettings
from rdfm.logs.write.output import (
    FolderOutput,
    Output,
    OutputShape,
    Writable,
    output_format,
    reject_other_format_names,
    suffix_options,
)
from rdfm.logs.write.own_input import reject_own_input
from rdfm.logs.write.parts import part_list
from rdfm.logs.write.results import check_head, check_row
from rdfm.message import Message, Patch, check_message
from rdfm.storage.paths import is_live
from rdfm.storage.pipes import mark_pipes

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from rdfm._core import Term
    from rdfm.formats.options_generated import WriteOptions
    from rdfm.logs.write.keyed_append import AppendFolder
    from rdfm.message import AnyBatch, OperationParts, Row
    from rdfm.storage.live import LiveTarget

    # Without a type argument, `LogWriter` is a log of messages.
    M = TypeVar("M", contravariant=True, default=Message)
else:
    from typing import TypeVar

    M = TypeVar("M")  # defaults need Python 3.13

__all__ = ["LogWriter", "create_log"]

PENDING_MESSAGES = 1024
PENDING_RECORDS = 8192
# Maximum size of the batch that is kept for the namespaces of the next one.
LAST_BYTES = 1 << 20
_BATCHES = {"messages": MessageBatch, "patches": PatchBatch, "results": ResultBatch}


@overload
def create_log(
    target: Writable,
    format: str | None = None,
    *,
    kind: Literal["messages"] = "messages",
    compression: str | None = None,
    keep_partial: bool = False,
    split_messages: int | None = None,
    split_bytes: int | None = None,
    overwrite: bool = False,
    append: bool = False,
    sync: bool = False,
    repair: bool = False,
    storage_options: Mapping[str, Any] | None = None,
    **options: Unpack[WriteOptions],
) -> LogWriter[Message]: ...
@overload
def create_log(
    target: Writable,
    format: str | None = None,
    *,
    kind: Literal["patches"],
    compression: str | None = None,
    keep_partial: bool = False,
    split_messages: int | None = None,
    split_bytes: int | None = None,
    overwrite: bool = False,
    append: bool = False,
    sync: bool = False,
    repair: bool = False,
    **options: Unpack[WriteOptions],
) -> LogWriter[Patch]: ...
@overload
def create_log(
    target: Writable,
    format: str | None = None,
    *,
    kind: Literal["results"],
    variables: Sequence[str] = (),
    boolean: bool | None = None,
    links: Sequence[str] = (),
    compression: str | None = None,
    keep_partial: bool = False,
    **options: Unpack[WriteOptions],
) -> LogWriter[Row]: ...
def create_log(
    target: Writable,
    format: str | None = None,
    *,
    kind: Literal["messages", "patches", "results"] = "messages",
    variables: Sequence[str] = (),
    boolean: bool | None = None,
    links: Sequence[str] = (),
    compression: str | None = None,
    keep_partial: bool = False,
    split_messages: int | None = None,
    split_bytes: int | None = None,
    overwrite: bool = False,
    append: bool = False,
    sync: bool = False,
    repair: bool = False,
    storage_options: Mapping[str, Any] | None = None,
    **options: Unpack[WriteOptions],
) -> LogWriter[Any]:
    r"""Create a log for writing. The file appears under its name when the writer is closed.

    A folder (`out/`) gets a file for each message, and a tar archive (`out.tar.gz`) a member. With
    `split_messages` or `split_bytes`, the files of a folder have several messages. Each file or
    member is a complete log.

    Args:
        target: A path, a binary file object (which is left open), an `OpenFile` of fsspec (which is
            created when the log is closed), or the URL of a topic to publish to,
            `grpc://host:port/TOPIC`. Messages are sent to a topic as they are written.
        format: A format name such as "trig". Derived from the suffix by default. Archives default
            to `trig`, unless their name includes another suffix, as in `out.ttl.tar.gz`.
        kind: The kind of the log: "messages", "patches" or "results" (rows of SPARQL results).
        variables: For results, the names of the variables, without `?`.
        boolean: For results, the answer to an ASK query, which has neither variables nor rows.
        links: For results, documents with further information: IRI references.
        compression: "gzip", "zstd", "bzip2", "xz" or "none", optionally with a level, such as
            "zstd:19". Derived from the suffix by default. In a folder it applies to each file.
        keep_partial: After an exception, keep the incomplete output as `NAME.partial`.
        split_messages: Maximum number of messages in each file of a folder.
        split_bytes: Uncompressed size in bytes after which a file of a folder ends, at the end of
            the message.
        overwrite: Replace a folder that is not empty, and remove everything in it.
        append: Append to an existing log; create it if it does not exist. Either all messages
            become part of the log when the writer is closed, or none. Other processes cannot append
            in the meantime.
        sync: When appending, make each batch part of the log as soon as it is written, and wait
            until it is on disk; see `LogWriter.flush`.
        repair: When appending to a log that ends inside a message, remove the incomplete message.
        storage_options: Options of a live stream, such as `token`; see `open_log`.
        **options: Options of the format's encoder, such as `dialect` or `prefixes`; see
            `rdfm.formats.find(name).spec.writes`.

    Raises:
        UnknownFormatError: If the format cannot be determined, or the name is unknown.
        OptionError: If the format does not support the kind, an option or its value; or if
            variables are given together with an answer, as a single string, or for another kind.
        EncodeError: If the format does not support the variables or the answer.
        OSError: If the file cannot be written.

    Example:
        >>> import io
        >>> from rdfm import Iri, Quad
        >>> file = io.BytesIO()
        >>> with create_log(file, "nq") as log:
        ...     log.write([Quad(Iri("http://ex/s"), Iri("http://ex/p"), Iri("http://ex/o"))])
        >>> file.getvalue()
        b'<http://ex/s> <http://ex/p> <http://ex/o> .\n'
        >>> from rdfm import Literal
        >>> file = io.BytesIO()
        >>> with create_log(file, "results-tsv", kind="results", variables=["name"]) as results:
        ...     results.write([Literal("Ann")])
        >>> file.getvalue()
        b'?name\n"Ann"\n'
    """
    check_kind(kind)
    if isinstance(variables, str):
        raise OptionError(f"variables must be a list of names, not the string {variables[:40]!r}")
    if kind != "results" and (variables or links or boolean is not None):
        raise OptionError('variables, boolean and links are for SPARQL results; add kind="results"')
    if boolean is not None and variables:
        raise OptionError("the results of an ASK query have no variables")
    head = None
    if kind == "results":
        head = ResultBatch.from_rows([], list(variables), boolean=boolean, links=list(links))
    reject_own_input((), target, options, append=append)
    reject_other_format_names(options, "format")
    log_format = output_format(target, format, kind)
    if kind not in log_format.spec.kinds:
        raise format_of_other_kind_error(log_format.spec, kind)
    encoder_options = mark_pipes({**suffix_options(target, log_format.spec), **options})

    def make(**changes: Any) -> EncoderLike:
        return log_format.encoder({**encoder_options, **changes}, shape.continued_header or None)

    appending = AppendSettings.from_options(log_format, append, sync, repair, keep_partial)
    if storage_options and not is_live(target):
        raise OptionError("storage_options apply to live streams such as grpc://host:9090/topic")
    shape = OutputShape(
        target,
        compression,
        split_messages,
        split_bytes,
        overwrite,
        appending,
        live=storage_options,
    )
    encoder = shape.create_encoder(make, log_format.spec, encoder_options)
    output = shape.open_output()
    if shape.appends:
        try:
            encoder = shape.create_encoder(make, log_format.spec, encoder_options)
        except BaseException:
            output.discard()
            raise
    return LogWriter(output, log_format, encoder, kind, keep_partial=keep_partial, head=head)


class LogWriter(Generic[M]):
    """A log that is being written. Created by `create_log`.

    `LogWriter[Message]` writes messages, `LogWriter[Patch]` patches, and `LogWriter[Row]` the rows
    of SPARQL results: tuples with a term or None for each variable. The file appears under its name
    when the writer is closed.

    Attributes:
        format: The format's name.
        messages: Number of messages, patches or rows written so far.
    """

    def __init__(
        self,
        output: Output | FolderOutput | AppendOutput | AppendFolder | LiveTarget,
        format: Format,
        encoder: Any,
        kind: str,
        *,
        keep_partial: bool = False,
        head: ResultBatch | None = None,
    ) -> None:
        """Initialize with an opened output. Called by `create_log`.

        Args:
            output: Receives the encoder's output.
            format: The format.
            encoder: An encoder of the format.
            kind: The kind of the log.
            keep_partial: As in `create_log`.
            head: The variables or the answer of results, without rows. They are written now, in
                case no row follows.

        Raises:
            EncodeError: If the format does not support the variables or the answer.
        """
        self._output: Any = output  # receives the encoder's output
        self._encoder = encoder
        self._keep_partial = keep_partial
        self._pending: list[Any] = []  # messages, patches or rows
        self._pending_records = 0
        self._last: MessageBatch | None = None
        self._kind = kind
        self._closed = False
        self.format = format.name
        self.messages = 0
        self._head = head
        if head is not None:
            try:
                self._encode(head)
            except BaseException:
                self.discard()
                raise

    @overload
    def write(self: LogWriter[Message], message: Message | Iterable[Quad]) -> None: ...
    @overload
    def write(self: LogWriter[Patch], message: Patch | Iterable[OperationParts]) -> None: ...
    @overload
    def write(self: LogWriter[Row], message: Iterable[Term | None]) -> None: ...
    def write(self, message: Any) -> None:
        """Write one message, one patch, or one row of results.

        Several of them are collected before they are encoded.

        Raises:
            EncodeError: If this message, or one collected before it, cannot be written in the
                format. The error has the index of that message in this log. The messages before it
                are written; the log accepts no further messages.
            TypeError: If the argument is neither a `Message` nor an iterable of `Quad`; for
                patches, neither a `Patch` nor an iterable of operations; for results, if a cell is
                neither a term nor None. The log remains usable.
            ValueError: If an operation of a patch has an unknown `op`, or the number of cells
                differs from the number of variables; the log remains usable. Also if an operation
                lacks a part, which is detected when the patch is encoded.
            PermissionError: If the process that created the log forked this one.
        """
        self._check_open()
        converted = self._convert(message)
        self._pending.append(converted)
        self._pending_records += len(converted)
        if len(self._pending) >= PENDING_MESSAGES or self._pending_records >= PENDING_RECORDS:
            self._flush()

    def _convert(self, message: Any) -> Any:
        """Return a message, patch or row in the form that batches are made of.

        Raises:
            TypeError, ValueError: As in `write`.
        """
        if self._head is not None:
            return check_row(message, self._head)
        if self._kind == "patches":
            if isinstance(message, Message):
                raise TypeError(
                    "the log contains patches, not messages; rdfm.patch.from_log converts messages "
                    "to patches"
                )
            return message if isinstance(message, Patch) else Patch(message)
        if isinstance(message, Patch):
            raise TypeError(
                "the log contains messages, not patches; rdfm.patch.to_log converts patches to "
                "messages, and rdfm.patch.apply to a dataset"
            )
        return check_message(message)

    @overload
    def write_batch(
        self: LogWriter[Message], batch: MessageBatch, source: str | None = None
    ) -> None: ...
    @overload
    def write_batch(
        self: LogWriter[Patch], batch: PatchBatch, source: str | None = None
    ) -> None: ...
    @overload
    def write_batch(
        self: LogWriter[Row], batch: ResultBatch, source: str | None = None
    ) -> None: ...
    def write_batch(self, batch: AnyBatch, source: str | None = None) -> None:
        """Write the messages of a batch of the log's kind.

        Args:
            batch: The messages.
            source: The name of the log that they came from, for formats that store it.

        Raises:
            EncodeError: If a message cannot be written in the format. The error has the index of
                the message in the log that the batch is from. The messages before it are written.
            TypeError: If the argument is not a batch of this kind. The log remains usable.
            ValueError: If the variables or the answer of the batch differ from those of the
                results. The log remains usable.
            PermissionError: If the process that created the log forked this one.
        """
        self._check_open()
        expected = _BATCHES[self._kind]
        if not isinstance(batch, expected):
            raise TypeError(
                f"write_batch requires a {expected.__name__}, not {type(batch).__name__}"
            )
        if self._head is not None and isinstance(batch, ResultBatch):
            check_head(batch, self._head)
        self._flush()
        self._encode(batch, source)

    def _check_open(self) -> None:
        """Check that this process can write to the log.

        Raises:
            ValueError: If the log is closed.
            PermissionError: If the process that created the log forked this one.
        """
        if self._closed:
            raise ValueError("the log is closed")
        self._output.check_process()

    @property
    def dropped(self) -> dict[str, int]:
        """Counts of unsupported data dropped so far, by name."""
        return dict(self._encoder.dropped())

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for readers about the log so far, one sentence each."""
        return tuple(self._encoder.notes())

    @property
    def committed_bytes(self) -> int | None:
        """The committed length of a log that is appended to, in bytes; None for other logs."""
        return self._output.committed_bytes if isinstance(self._output, AppendOutput) else None

    def flush(self) -> None:
        """Encode and write the collected messages.

        They become part of the log only on `close`, unless the log was created with `append` and
        `sync`.

        Raises:
            EncodeError: As in `write`.
        """
        self._check_open()
        self._flush()

    def close(self) -> None:
        """Write the remaining messages and make the file appear under its name."""
        if self._closed:
            return
        try:
            self._flush()
            self._output.write(part_list(self._encoder.finish()))
            self._closed = True
            self._output.commit()
        except BaseException:
            self.discard()
            raise

    def discard(self) -> None:
        """Discard the output; with `keep_partial`, keep it as `NAME.partial` instead."""
        self._closed = True
        if self._keep_partial:
            with contextlib.suppress(RdfmError, OSError):
                self._output.write(part_list(self._encoder.finish()))
            self._output.keep_partial()
        else:
            self._output.discard()

    def __enter__(self) -> Self:
        """Return the writer."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the log, or discard it after an exception."""
        if kind is None:
            self.close()
        elif not self._closed:
            if self._keep_partial:
                with contextlib.suppress(RdfmError, OSError):
                    self._flush()
            self.discard()

    def __repr__(self) -> str:
        """Return a string such as `<LogWriter out.trig: trig>`."""
        return f"<LogWriter {self._output.name}: {self.format}>"

    def _flush(self) -> None:
        messages, self._pending, self._pending_records = self._pending, [], 0
        if not messages:
            return
        try:
            batch = self._batch(messages)
        except Exception:
            # A message was modified and became invalid, or the messages together are too large.
            # Write as many of them as possible.
            for message in messages:
                self._encode(self._batch([message]))
        else:
            self._encode(batch)

    def _batch(self, messages: list[Any]) -> AnyBatch:
        if self._kind == "patches":
            return PatchBatch.from_patches(messages, first_message_index=self.messages)
        if self._head is not None:
            variables, links = list(self._head.variables), list(self._head.links)
            return ResultBatch.from_rows(
                messages, variables, links=links, first_message_index=self.messages
            )
        return MessageBatch.from_messages(
            messages, first_message_index=self.messages, after=self._last
        )

    def _encode(self, batch: AnyBatch, source: str | None = None) -> None:
        if isinstance(batch, MessageBatch):
            # Only the namespaces are needed, so large data is freed.
            is_large = batch.memory_bytes > LAST_BYTES
            self._last = MessageBatch.from_messages([[]], after=batch) if is_large else batch
        try:
            self._output.write(part_list(encode_view(self._encoder)(batch, source)))
        except EncodeError as error:
            self._output.write(part_list(error.completed))
            if error.message_index is not None:
                self.messages += max(_count_before(batch, error.message_index) - batch.continued, 0)
            raise
        self.messages += len(batch) - batch.continued


def _count_before(batch: AnyBatch, index: int) -> int:
    """Return the number of messages of a batch before an index.

    The indexes of filtered logs may have gaps.
    """
    if not isinstance(batch, MessageBatch):
        return index - batch.first_message_index
    return bisect_left(range(len(batch)), index, key=batch.message_index)
