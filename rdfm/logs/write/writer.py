"""Writing logs: `create_log` and `LogWriter`.

In: messages or batches. Out: the files that `rdfm.logs.write.output` writes.
Cost: one encoder's memory, and a few messages that are encoded together. Law: messages are written
completely and in order.
"""

from __future__ import annotations

import contextlib
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack, overload

from rdfm._core import MessageBatch, PatchBatch, Quad, ResultBatch
from rdfm.errors import EncodeError, OptionError, RdfmError
from rdfm.formats import EncoderLike, Format
from rdfm.formats.format import encode_view
from rdfm.logs.write.append import AppendOutput, AppendSettings
from rdfm.logs.write.output import (
    FolderOutput,
    Output,
    OutputShape,
    Writable,
    output_format,
    suffix_options,
)
from rdfm.logs.write.own_input import reject_own_input
from rdfm.logs.write.parts import parts_of
from rdfm.message import Message, Patch, checked
from rdfm.storage.paths import is_live

if TYPE_CHECKING:
    from rdfm.formats.options_generated import WriteOptions
    from rdfm.logs.write.keyed_append import AppendFolder
    from rdfm.message import AnyBatch, OperationParts
    from rdfm.storage.live import LiveTarget

__all__ = ["LogWriter", "create_log"]

PENDING_MESSAGES = 1024
PENDING_RECORDS = 8192
_BATCHES = {"messages": MessageBatch, "patches": PatchBatch, "results": ResultBatch}


def create_log(
    target: Writable,
    format: str | None = None,
    *,
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
) -> LogWriter:
    r"""Create a log for writing. The file appears under its name when the writer is closed.

    The format determines whether the log contains messages or patches. `create_results` writes
    SPARQL results.

    A folder (`out/`) gets a file for each message, and a tar archive (`out.tar.gz`) a member. With
    `split_messages` or `split_bytes`, the files of a folder have several messages. Each file or
    member is a complete log.

    Args:
        target: A path, a binary file object (which is left open), or the URL of a topic to publish
            to, `grpc://host:port/TOPIC`. Messages are sent to a topic as they are written.
        format: A format name such as "trig". Derived from the suffix by default. Archives default
            to `trig`, unless their name includes another suffix, as in `out.ttl.tar.gz`.
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
        OptionError: If the format does not support an option or its value.
        OSError: If the file cannot be written.

    Example:
        >>> import io
        >>> from rdfm import Iri, Quad
        >>> file = io.BytesIO()
        >>> with create_log(file, "nq") as log:
        ...     log.write([Quad(Iri("http://ex/s"), Iri("http://ex/p"), Iri("http://ex/o"))])
        >>> file.getvalue()
        b'<http://ex/s> <http://ex/p> <http://ex/o> .\n'
    """
    reject_own_input((), target, options, append=append)
    found = output_format(target, format)
    given = {**suffix_options(target, found.spec), **options}

    def make(**changed: Any) -> EncoderLike:
        return found.encoder({**given, **changed}, shape.continued or None)

    appending = AppendSettings.of(found, append, sync, repair, keep_partial)
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
    encoder = shape.encoder(make, found.spec, given)
    output = shape.output()
    if shape.appends:
        try:
            encoder = shape.encoder(make, found.spec, given)
        except BaseException:
            output.discard()
            raise
    return LogWriter(output, found, encoder, keep_partial=keep_partial)


class LogWriter:
    """A log of messages or patches that is being written. Created by `create_log`.

    The file appears under its name when the writer is closed.

    Attributes:
        format: The format's name.
        messages: Number of messages or patches written so far.
    """

    def __init__(
        self,
        output: Output | FolderOutput | AppendOutput | AppendFolder | LiveTarget,
        format: Format,
        encoder: Any,
        *,
        keep_partial: bool = False,
    ) -> None:
        """Initialize with an opened output. Called by `create_log`."""
        self._output: Any = output  # receives the encoder's output
        self._encoder = encoder
        self._keep_partial = keep_partial
        self._pending: list[Any] = []  # messages, or patches
        self._pending_records = 0
        self._last: MessageBatch | None = None
        self._kinds = format.spec.kinds
        self._closed = False
        self.format = format.name
        self.messages = 0

    @overload
    def write(self, message: Message | Iterable[Quad]) -> None: ...
    @overload
    def write(self, message: Patch | Iterable[OperationParts]) -> None: ...
    def write(self, message: Message | Iterable[Quad] | Patch | Iterable[OperationParts]) -> None:
        """Write one message, or one patch in a patch format.

        Several messages are collected before they are encoded.

        Raises:
            EncodeError: If this message, or one collected before it, cannot be written in the
                format. The error has the index of that message in this log. The messages before it
                are written; the log accepts no further messages.
            TypeError: If the argument is neither a `Message` nor an iterable of `Quad`; in a patch
                format, neither a `Patch` nor an iterable of operations. Always in a result format.
                The log remains usable.
            ValueError: If an operation of a patch has an unknown `op`; the patch is then not
                written, and the log remains usable. Also if an operation lacks a part, which
                is detected when the patch is encoded.
            PermissionError: If the process that created the log forked this one.
        """
        self._check_open()
        converted: Any
        if self._kinds == ("results",):
            raise TypeError("result rows require variables; use rdfm.create_results")
        if isinstance(message, Patch) and not self._supports("patches"):
            raise TypeError(
                f"{self.format} is a message format, not a patch format; rdfm.patch.to_log "
                "converts patches to messages, and rdfm.patch.apply to a dataset"
            )
        if isinstance(message, Message) and not self._supports("messages"):
            raise TypeError(
                f"{self.format} is a patch format, not a message format; rdfm.patch.from_log "
                "converts messages to patches"
            )
        if self._kinds == ("patches",) or isinstance(message, Patch):
            converted = message if isinstance(message, Patch) else Patch(message)  # type: ignore[arg-type]  # checked there
        else:
            converted = checked(message)  # type: ignore[arg-type]  # checked there
        if self._pending and type(self._pending[0]) is not type(converted):
            self._flush()
        self._pending.append(converted)
        self._pending_records += len(converted)
        if len(self._pending) >= PENDING_MESSAGES or self._pending_records >= PENDING_RECORDS:
            self._flush()

    def write_batch(self, batch: AnyBatch, source: str | None = None) -> None:
        """Write the messages of a batch of the format's kind.

        Args:
            batch: The messages.
            source: The name of the log that they came from, for formats that store it.

        Raises:
            EncodeError: If a message cannot be written in the format. The error has the index of
                the message in the log that the batch is from. The messages before it are written.
            TypeError: If the argument is not a batch of this kind. The log remains usable.
            PermissionError: If the process that created the log forked this one.
        """
        self._check_open()
        accepted = tuple(_BATCHES[kind] for kind in self._kinds)
        if not isinstance(batch, accepted):
            names = " or a ".join(batch_class.__name__ for batch_class in accepted)
            raise TypeError(f"write_batch requires a {names}, not {type(batch).__name__}")
        self._flush()
        self._encode(batch, source)

    def _supports(self, kind: str) -> bool:
        """Return whether the format supports a kind: "messages", "patches" or "results"."""
        return kind in self._kinds

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
            self._output.write(parts_of(self._encoder.finish()))
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
                self._output.write(parts_of(self._encoder.finish()))
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
        if isinstance(messages[0], Patch):
            return PatchBatch.from_patches(messages, first_index=self.messages)
        return MessageBatch.from_messages(messages, first_index=self.messages, after=self._last)

    def _encode(self, batch: AnyBatch, source: str | None = None) -> None:
        if isinstance(batch, MessageBatch):
            self._last = batch
        try:
            self._output.write(parts_of(encode_view(self._encoder)(batch, source)))
        except EncodeError as error:
            self._output.write(parts_of(error.completed))
            if error.message_index is not None:
                self.messages += max(_count_before(batch, error.message_index) - batch.continued, 0)
            raise
        self.messages += len(batch) - batch.continued


def _count_before(batch: AnyBatch, index: int) -> int:
    """Return the number of messages of a batch before an index.

    The indexes of filtered logs may have gaps.
    """
    if not isinstance(batch, MessageBatch):
        return index - batch.first_index
    return bisect_left(range(len(batch)), index, key=batch.index_of)
