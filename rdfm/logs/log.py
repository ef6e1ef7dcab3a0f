"""Logs: `open_log` and `create_log`.

In: what `rdfm.logs.input` reads. Out: `LogReader`, `LogWriter` over what `rdfm.logs.output` writes.
Cost: one decoder's or encoder's memory. Law: messages come and go in order, each whole.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from rdfm import formats
from rdfm._core import Decoder, MessageBatch, Quad
from rdfm.errors import (
    DecodeError,
    EncodeError,
    OptionError,
    RdfmError,
)
from rdfm.formats import DecoderLike, EncoderLike, Format, FormatModule
from rdfm.logs.input import Input, MemberInput, Readable, every_input, holds_files
from rdfm.logs.notes import notes_of
from rdfm.logs.output import FolderOutput, Output, Shape, Writable, output_format, suffix_options
from rdfm.message import Message, checked

if TYPE_CHECKING:
    from rdfm.logs.split import Split


__all__ = ["LogReader", "LogWriter", "create_log", "open_log"]

PENDING_MESSAGES = 1024
PENDING_QUADS = 8192


def open_log(
    source: Readable,
    format: str | None = None,
    *,
    compression: str | None = None,
    split: Split | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> LogReader:
    r"""Open a log for reading; of a folder, a glob or a tar archive all logs, one after the other.

    Args:
        source: A path, a URL (`https://…` and what else fsspec knows), bytes, or a binary file object.
            The files of folders and globs come in natural order, the members of archives in theirs;
            names that begin with `_` or `.` are passed over.
        format: Such as "nq", of every file or member; found from the suffix, then from the content,
            unless given.
        compression: "gzip", "zstd", "bzip2" or "xz"; "none" to take the bytes as they are. Found
            from the content unless given.
        split: A part of the log, from `rdfm.split.plan`: only its messages are read.
        storage_options: What fsspec needs to read a URL, such as credentials.
        **options: Those of the format's decoder, such as `dialect`, `lenient` or
            `max_message_bytes` (in decoded bytes); see `rdfm.formats.find(name).FORMAT.decode_options`.

    Returns:
        An iterable of messages and a context manager.

    Raises:
        UnknownFormatError: The format cannot be told, or has no such name.
        OptionError: The format takes no such option, or not that value; or the log has no splits.
        OSError: The file cannot be read.
        MissingExtraError: The URL needs a package that is not installed.

    Example:
        >>> log = b'<http://ex/s> <http://ex/p> "o" .\n'
        >>> with open_log(log, "nq") as messages:
        ...     print([len(message) for message in messages])
        [1]
    """
    if split is not None and not split.whole:
        if compression not in (None, "none"):
            raise OptionError(f"a log compressed with {compression} has no splits; read it whole")
        data = Input(source, "none", start=max(split.start - 1, 0), storage_options=storage_options)
        format = format or split.format
    else:
        split = None
        if holds_files(source, storage_options):
            logs = every_input(source, compression, storage_options, format)
            return LogsReader(os.fspath(source), logs, format, options)  # type: ignore[arg-type]  # a path
        data = Input(source, compression, storage_options=storage_options)
    try:
        if split is None and data.is_archive(format):
            return LogsReader(data.name, chain.from_iterable(data.members()), format, options, data)
        return LogReader(data, data.format(format), options, split)
    except BaseException:
        data.close()
        raise


def create_log(
    target: Writable,
    format: str | None = None,
    *,
    compression: str | None = None,
    keep_partial: bool = False,
    split_messages: int | None = None,
    split_bytes: int | None = None,
    overwrite: bool = False,
    **options: Any,
) -> LogWriter:
    r"""Create a log for writing. The file appears under its name when the writer is closed.

    A folder (`out/`) gets a file for each message, a tar archive (`out.tar.gz`) a member; with
    `split_messages` or `split_bytes` a folder gets files of several messages. Each is a whole log.

    Args:
        target: A path, or a binary file object, which is left open.
        format: Such as "trig"; found from the suffix unless given. In archives `trig`, unless their
            name says another, as in `out.ttl.tar.gz`.
        compression: "gzip", "zstd", "bzip2", "xz" or "none"; found from the suffix unless given. In a
            folder that of each file.
        keep_partial: After an exception keep what was written, as `NAME.partial`.
        split_messages: Most messages of each file of a folder.
        split_bytes: Bytes, not compressed, after which a file of a folder ends with its message.
        overwrite: Replace a folder that holds something: everything in it is removed.
        **options: Those of the format's encoder, such as `dialect` or `prefixes`; see
            `rdfm.formats.find(name).FORMAT.encode_options`.

    Raises:
        UnknownFormatError: The format cannot be told, or has no such name.
        OptionError: The format takes no such option, or not that value.
        OSError: The file cannot be written.

    Example:
        >>> import io
        >>> from rdfm import Iri, Quad
        >>> file = io.BytesIO()
        >>> with create_log(file, "nq") as log:
        ...     log.write([Quad(Iri("http://ex/s"), Iri("http://ex/p"), Iri("http://ex/o"))])
        >>> file.getvalue()
        b'<http://ex/s> <http://ex/p> <http://ex/o> .\n'
    """
    module = output_format(target, format)
    options = {**suffix_options(target, module.FORMAT), **options}

    def make(**changed: Any) -> EncoderLike:
        made: EncoderLike = make_codec(
            module.Encoder, module.FORMAT, module.FORMAT.encode_options, {**options, **changed}
        )
        return made

    shape = Shape(target, compression, split_messages, split_bytes, overwrite)
    encoder = shape.encoder(make, module.FORMAT, options)
    return LogWriter(shape.output(), module, encoder, keep_partial=keep_partial)


class LogReader:
    """A log being read: iterate over its messages, or over `batches()`. Made by `open_log`.

    Attributes:
        format: The format's name.
        source: The file's name or URL; of a member of an archive as `a.tar!000/1.ttl`.
        several: Whether it is of several logs, as of a folder or an archive. Then `format` and `source`
            are those of the log that is read, and messages are counted in each.
    """

    several = False

    def __init__(
        self,
        data: Input,
        module: FormatModule,
        options: dict[str, Any],
        split: Split | None = None,
    ) -> None:
        """Take an opened input; `open_log` does this."""
        self._input = data
        if "base" in module.FORMAT.decode_options and data.url is not None:
            options = {"base": data.url, **options}
        inner = {} if split is None else split.decoder_options(module.FORMAT)
        self._decoder: DecoderLike = make_codec(
            module.Decoder, module.FORMAT, module.FORMAT.decode_options, options, inner
        )
        self._batches = decode(self._decoder, data)
        self._first: MessageBatch | RdfmError | None = None  # read, not yet given
        self._fault: DecodeError | None = None
        self._begun = False
        self._ended = False
        self._resumable = module.FORMAT.resumable
        self.format = module.FORMAT.name
        self.source = data.name

    @property
    def header(self) -> dict[str, Any]:
        """What the log says about itself: `dialect`, `version_label`, `jelly` (its stream options).

        Reads as far as the first messages. An error there is raised when the messages are read.
        """
        if not self._begun:
            self._begun = True
            try:
                self._first = next(self._batches, None)
            except RdfmError as error:
                self._first = error
        header: dict[str, Any] = self._decoder.header()
        return header

    def batches(self) -> Iterator[MessageBatch]:
        """Give the messages in batches, for Arrow and for speed.

        A loop that was left early is continued by the next one, and so is one that met an error which
        `skip_message` went over.

        Raises:
            DecodeError: The log is broken; every message completed before the error was given.
            OSError: The file cannot be read.
            ValueError: The log was read to its end, or to its fault, before.
        """
        self._check_unread()
        while (batch := self._next()) is not None:
            yield batch

    def __iter__(self) -> Iterator[Message]:
        """Give the messages; errors as in `batches`."""
        self._check_unread()
        while (batch := self._next()) is not None:
            given = 0
            try:
                for message in batch:
                    given += 1
                    yield message
            finally:  # the loop was left: the next one goes on here
                if given < len(batch):
                    self._first = batch.slice(given, len(batch))

    def _check_unread(self) -> None:
        if self._ended:
            raise ValueError(
                f"{self.source} has been read to its end; open it again to read it again"
            )

    def _next(self) -> MessageBatch | None:
        """The next batch, or None at the end."""
        self._begun = True
        first, self._first = self._first, None
        if isinstance(first, MessageBatch):
            return first
        ended, self._ended = self._ended, True  # an error ends it too
        try:
            if isinstance(first, RdfmError):
                raise first
            batch = None if ended else next(self._batches, None)
        except DecodeError as error:
            self._fault = error
            raise
        self._ended = batch is None
        return batch

    def skip_message(self) -> bytes:
        r"""Skip the message in which an error was met; the next loop goes on behind it.

        The message keeps its index.

        Returns:
            The bytes skipped, at most the first MiB of them.

        Raises:
            DecodeError: The error itself, where the rest of the log cannot be read: the format is not
                `resumable`, or the file's compression is broken.
            ValueError: No error was met.

        Example:
            >>> log = open_log(b'oops\n# @message\n<http://ex/s> <http://ex/p> "o" .\n', "nq")
            >>> try:
            ...     list(log)
            ... except DecodeError:
            ...     log.skip_message(), [message.index for message in log]
            (b'oops\n', [1])
        """
        fault = self._fault
        if fault is None:
            raise ValueError(f"{self.source}: there is no error to skip")
        if fault is self._input.fault or not self._resumable:
            raise fault
        try:
            pieces = iter(self._input)
            while (skipped := self._decoder.skip_message()) is None:
                piece = next(pieces, None)
                if piece is None:
                    self._decoder.finish()
                else:
                    self._decoder.feed(piece)
        except DecodeError as error:
            error.source = self.source
            self._fault = error
            raise
        self._fault, self._ended = None, False
        self._batches = decode(self._decoder, self._input)
        return skipped

    def close(self) -> None:
        """Close the file."""
        self._input.close()

    def __enter__(self) -> Self:
        """Give the reader itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self.close()

    def __repr__(self) -> str:
        """As in `<LogReader x.nq.gz: nq>`."""
        return f"<LogReader {self.source}: {self.format}>"


class LogsReader(LogReader):
    """Several logs read one after the other: files of a folder, members of an archive.

    An error that ends one of them can be skipped: `skip_message` goes on with the next one.
    """

    several = True

    def __init__(
        self,
        name: str,
        inputs: Iterable[Input],
        format: str | None,
        options: dict[str, Any],
        archive: Input | None = None,
    ) -> None:
        """Take the logs; `open_log` does this.

        Args:
            name: The folder, glob or archive.
            inputs: What is in it, opened as it is read.
            format: As in `open_log`.
            options: As in `open_log`; each log takes those that its format knows.
            archive: To be closed with the reader.

        Raises:
            OptionError: No format takes one of the options.
        """
        self._codecs = Codecs(format, options)
        if options:
            self._codecs.check()
        self._inputs = iter(inputs)
        self._archive = archive
        self._dead: DecodeError | None = None
        self._first = None
        self._fault = None
        self._begun = self._ended = False
        self._batches = self._each()
        self.format = format or ""
        self.source = name

    @property
    def header(self) -> dict[str, Any]:
        """What the log that is read says about itself."""
        if not self._begun:
            self._begun = True
            try:
                self._first = next(self._batches, None)
            except RdfmError as error:
                self._first = error
        header: dict[str, Any] = self._decoder.header() if hasattr(self, "_decoder") else {}
        return header

    def _each(self) -> Iterator[MessageBatch]:
        """The batches of the logs that are left."""
        while (data := self._next_input()) is not None:
            self._input, self.source = data, data.name
            self._decoder, module = self._codecs.decoder(data, reset=False)
            self.format, self._resumable = module.FORMAT.name, module.FORMAT.resumable
            whole = data.take() if isinstance(data, MemberInput) else None
            if whole is None:
                if hasattr(self._decoder, "reset"):
                    self._decoder.reset()
                yield from decode(self._decoder, data)
                data.close()
            else:
                yield from decode_whole(self._decoder, whole, data.name)

    def _next_input(self) -> Input | None:
        try:
            return next(self._inputs, None)
        except DecodeError as error:  # of the archive itself
            self._dead = error
            raise

    def skip_message(self) -> bytes:
        """Skip the message in which an error was met, or the rest of its log.

        Returns:
            The bytes skipped, at most the first MiB of them; nothing where the rest of a log is left.

        Raises:
            DecodeError: The error itself, where the archive is broken.
            ValueError: No error was met.
        """
        if self._fault is not None and self._fault is self._dead:
            raise self._fault
        skipped = b""
        rest: Iterator[MessageBatch] = iter(())
        if self._fault is None or (self._resumable and self._fault is not self._input.fault):
            skipped = super().skip_message()
            rest = self._batches
        else:
            self._input.close()
            self._fault, self._ended = None, False
        self._batches = chain(rest, self._each())
        return skipped

    def close(self) -> None:
        """Close what is open."""
        for opened in (getattr(self, "_input", None), self._archive):
            if opened is not None:
                opened.close()
        close = getattr(self._inputs, "close", None)
        if close is not None:
            close()


class Codecs:
    """Decoders for many logs: one of each format, which goes from log to log.

    Options are for all of them; each takes what its format knows.
    """

    def __init__(self, format: str | None, options: Mapping[str, Any]) -> None:
        """Take the format of all logs, if it is known, and options."""
        self._format = format
        self._options = options
        self._made: dict[str, tuple[DecoderLike, FormatModule]] = {}
        self._by_suffix: dict[str, FormatModule] = {}

    def check(self) -> None:
        """Refuse options that nobody takes.

        Raises:
            OptionError: No format takes one of them.
        """
        modules = formats.every() if self._format is None else [formats.find(self._format)]
        for name in self._options:
            if not any(name in module.FORMAT.decode_options for module in modules):
                who = "no format takes the" if self._format is None else f"{self._format} takes no"
                raise OptionError(f"{who} option '{name[:40]}' here")

    def decoder(self, data: Input, *, reset: bool = True) -> tuple[DecoderLike, FormatModule]:
        """Give a decoder at the start of a log, and its format.

        Args:
            data: The log.
            reset: Whether the decoder is to be there already; else whoever uses it sees to that.

        Raises:
            UnknownFormatError: The format cannot be told.
        """
        _, _, suffix = data.name.rpartition(".")
        module = self._by_suffix.get(suffix)
        if module is None or data.compression is not None:
            module = data.format(self._format)
            if f".{suffix}" in module.FORMAT.suffixes:
                self._by_suffix[suffix] = module
        name = module.FORMAT.name
        if (found := self._made.get(name)) is not None and data.url is None:
            if reset:
                found[0].reset()  # type: ignore[attr-defined]  # only such decoders are kept
            return found
        known = module.FORMAT.decode_options
        given = {key: value for key, value in self._options.items() if key in known}
        if "base" in known and data.url is not None:
            given = {"base": data.url, **given}
        made: DecoderLike = make_codec(module.Decoder, module.FORMAT, known, given)
        if data.url is None and hasattr(made, "reset"):
            self._made[name] = made, module
        return made, module


class LogWriter:
    """A log being written. Made by `create_log`; closing it makes the file appear under its name.

    Attributes:
        format: The format's name.
        messages: Messages written so far.
    """

    def __init__(
        self,
        output: Output | FolderOutput,
        module: FormatModule,
        encoder: Any,
        *,
        keep_partial: bool = False,
    ) -> None:
        """Take an opened output; `create_log` does this."""
        self._output: Any = output  # takes what the encoder gives
        self._encoder = encoder
        self._keep_partial = keep_partial
        self._pending: list[Message | list[Quad]] = []
        self._pending_quads = 0
        self._last: MessageBatch | None = None
        self._closed = False
        self.format = module.FORMAT.name
        self.messages = 0

    def write(self, message: Message | Iterable[Quad]) -> None:
        """Write one message; a few are gathered before they are encoded.

        Raises:
            EncodeError: A message cannot be written in the format: this one, or one gathered before;
                the error has its index in this log. Those before it are written; the log takes no more.
            TypeError: It is no `Message` and no iterable of `Quad`. The log goes on without it.
        """
        self._check_open()
        one = checked(message)
        self._pending.append(one)
        self._pending_quads += len(one)
        if len(self._pending) >= PENDING_MESSAGES or self._pending_quads >= PENDING_QUADS:
            self._flush()

    def write_batch(self, batch: MessageBatch) -> None:
        """Write the messages of a batch.

        Raises:
            EncodeError: A message cannot be written in the format; the error has its index in the
                log that the batch is of. Those before it are written.
            TypeError: It is no `MessageBatch`. The log goes on without it.
        """
        self._check_open()
        if not isinstance(batch, MessageBatch):
            raise TypeError(f"write_batch takes a MessageBatch, not {type(batch).__name__}")
        self._flush()
        self._encode(batch)

    @property
    def dropped(self) -> dict[str, int]:
        """What the format could not hold and was left out so far, by name and count."""
        dropped: dict[str, int] = self._encoder.dropped()
        return dropped

    @property
    def notes(self) -> tuple[str, ...]:
        """What whoever reads the log should know, as far as it is written, a sentence each."""
        return notes_of(self._encoder)

    def close(self) -> None:
        """Write what is left and make the file appear under its name."""
        if self._closed:
            return
        try:
            self._flush()
            self._output.write(self._encoder.finish())
            self._closed = True
            self._output.commit()
        except BaseException:
            self.discard()
            raise

    def discard(self) -> None:
        """End without a file; with `keep_partial` what was written stays as `NAME.partial`."""
        self._closed = True
        if self._keep_partial:
            with contextlib.suppress(RdfmError, OSError):
                self._output.write(self._encoder.finish())
            self._output.keep_partial()
        else:
            self._output.discard()

    def __enter__(self) -> Self:
        """Give the writer itself."""
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
        """As in `<LogWriter out.trig: trig>`."""
        return f"<LogWriter {self._output.name}: {self.format}>"

    def _check_open(self) -> None:
        if self._closed:
            raise ValueError("the log is closed")

    def _flush(self) -> None:
        messages, self._pending, self._pending_quads = self._pending, [], 0
        if not messages:
            return
        try:
            batch = self._batch(messages)
        except Exception:
            # One of them was spoilt since, or they are too large together: as many as can be.
            for message in messages:
                self._encode(self._batch([message]))
        else:
            self._encode(batch)

    def _batch(self, messages: list[Message | list[Quad]]) -> MessageBatch:
        return MessageBatch.from_messages(messages, first_index=self.messages, after=self._last)

    def _encode(self, batch: MessageBatch) -> None:
        self._last = batch
        try:
            self._output.write(self._encoder.encode(batch))
        except EncodeError as error:
            self._output.write(error.completed)
            if error.message_index is not None:
                self.messages += max(error.message_index - batch.first_index - batch.continued, 0)
            raise
        self.messages += len(batch) - batch.continued


def decode(decoder: DecoderLike, data: Input) -> Iterator[MessageBatch]:
    """Feed a decoder from an input, and give its batches; errors get the input's name."""
    pieces = iter(()) if data.hand_over(decoder) else iter(data)
    try:
        # What was fed before comes first: after a skipped message there may be some.
        while True:
            while (batch := decoder.next_batch()) is not None:
                yield batch
            if getattr(decoder, "done", False):  # of splits alone: the rest is of others
                return
            piece = next(pieces, None)
            if piece is None:
                break
            decoder.feed(piece)
        decoder.finish()
        while (batch := decoder.next_batch()) is not None:
            yield batch
    except DecodeError as error:
        error.source = data.name
        raise


def decode_whole(decoder: DecoderLike, log: bytes, name: str) -> Iterator[MessageBatch]:
    """As `decode`, of a small log that is there, by a decoder wherever it stands."""
    try:
        if isinstance(decoder, Decoder):  # at once
            batches, ended = decoder.decode_log(log)
            yield from batches
            if ended:
                return
        else:
            if hasattr(decoder, "reset"):
                decoder.reset()
            decoder.feed(log)
            decoder.finish()
        while (batch := decoder.next_batch()) is not None:
            yield batch
    except DecodeError as error:
        error.source = name
        raise


def make_codec(
    make: Callable[..., Any],
    format: Format,
    known: Collection[str],
    options: Mapping[str, Any],
    inner: Mapping[str, Any] | None = None,
) -> Any:
    """Make a codec after checking the names of its options; those of `inner` are no user's.

    Raises:
        OptionError: The format takes no such option.
    """
    for name in options:
        if name not in known:
            takes = f"it takes {', '.join(sorted(known))}" if known else "it takes none"
            raise OptionError(f"{format.name} takes no option '{name[:40]}' here; {takes}")
    return make(**options, **(inner or {}))
