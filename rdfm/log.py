"""Files: `open_log` and `create_log`, and the bytes under them. The only file I/O of rdfm.

In: paths, URLs, file objects or bytes, compressed or not. Out: `LogReader`, `LogWriter`.
Cost: pieces of 1 MiB; one decoder's or encoder's memory. Law: a file that is being written appears
under its name only when it is complete.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import re
import shutil
import stat
import threading
import warnings
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, Self

from rdfm import archive as archives
from rdfm import compression as compressions
from rdfm import formats
from rdfm._core import Decoder, MessageBatch, Quad
from rdfm.compression import PIECE_BYTES
from rdfm.errors import (
    DecodeError,
    EncodeError,
    MissingExtraError,
    OptionError,
    RdfmError,
    UnknownFormatError,
    UnsupportedError,
)
from rdfm.formats import DecoderLike, EncoderLike, Format, FormatModule
from rdfm.message import Message, checked
from rdfm.parts import ArchiveEncoder, FolderEncoder, Part
from rdfm.paths import is_url, local_path
from rdfm.storage import find_files, is_glob, matches, storage_of

if TYPE_CHECKING:
    from rdfm.split import Split

__all__ = ["Input", "LogReader", "LogWriter", "Output", "create_log", "open_log"]

Readable = str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO
Writable = str | os.PathLike[str] | BinaryIO
PENDING_MESSAGES = 1024
PENDING_QUADS = 8192
NAME_BYTES = 255
# What members of an archive are written in, where nothing says another: it holds what RDF 1.2 does.
ARCHIVED_FORMAT = "trig"


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
        overwrite: Replace a folder that holds something.
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

    def make() -> EncoderLike:
        made: EncoderLike = make_codec(
            module.Encoder, module.FORMAT, module.FORMAT.encode_options, options
        )
        return made

    shape = Shape(target, compression, split_messages, split_bytes, overwrite)
    encoder = shape.encoder(make, module.FORMAT)
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

        Reads as far as the first messages. A fault there is raised when the messages are read.
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

        A loop that was left early is continued by the next one, and so is one that met a fault which
        `skip_message` went over.

        Raises:
            DecodeError: The log is broken; every message completed before the fault was given.
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
        r"""Go over the message in which a fault was met; the next loop goes on behind it.

        The message keeps its index.

        Returns:
            The bytes skipped, at most the first MiB of them.

        Raises:
            DecodeError: The fault itself, where the rest of the log cannot be read: the format is not
                `resumable`, or the file's compression is broken.
            ValueError: No fault was met.

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
            raise ValueError(f"{self.source}: no fault was met that could be gone over")
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

    A fault that ends one of them can be gone over: `skip_message` goes on with the next one.
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
        """Go over the message in which a fault was met, or over the rest of its log.

        Returns:
            The bytes skipped, at most the first MiB of them; nothing where the rest of a log is left.

        Raises:
            DecodeError: The fault itself, where the archive is broken.
            ValueError: No fault was met.
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
            batch = MessageBatch.from_messages(messages, first_index=self.messages)
        except Exception:
            # One of them was spoilt since, or they are too large together: as many as can be.
            for message in messages:
                self._encode(MessageBatch.from_messages([message], first_index=self.messages))
        else:
            self._encode(batch)

    def _encode(self, batch: MessageBatch) -> None:
        try:
            self._output.write(self._encoder.encode(batch))
        except EncodeError as error:
            self._output.write(error.completed)
            if error.message_index is not None:
                self.messages += max(error.message_index - batch.first_index - batch.continued, 0)
            raise
        self.messages += len(batch) - batch.continued


class Input:
    """The bytes of a log, decompressed, in pieces as they come.

    Attributes:
        name: The file's name or URL, for errors.
        url: The file's URL, the base of its relative IRIs; None where it has none.
        size: Bytes of the file (compressed), if known.
        bytes_read: Bytes read of it so far (compressed).
        bytes_given: Bytes of the log given so far (decompressed).
        compression: The compression found, or None.
        fault: What is wrong with the compression, once it was met; or why it is not read.
        refusal: Why a file among others is not read; None if it is.
    """

    refusal: str | None = None
    _holder: str | None = None  # the format of what it is in

    def __init__(
        self,
        source: Readable,
        compression: str | None = None,
        *,
        start: int = 0,
        storage_options: Mapping[str, Any] | None = None,
        among: bool = False,
    ) -> None:
        """Open a source.

        Args:
            source: As in `open_log`.
            compression: As in `open_log`; "none" where `start` is given.
            start: The first byte to read.
            storage_options: As in `open_log`.
            among: Whether it is one of many: then it is refused alone where its format cannot be told.

        Raises:
            OptionError: The source cannot be read from the middle, or takes no `storage_options`.
            OSError: It cannot be read.
        """
        self.bytes_read = self.bytes_given = 0
        self.fault: DecodeError | None = None
        self._file, self.name, self.url, self.size, self._owned = _open(source, storage_options)
        self._remote = self._owned and is_url(self.name)
        self._among = among
        try:
            if start:
                if not self.seekable:
                    raise OptionError(f"{self.name} cannot be read from the middle; read it whole")
                self._file.seek(start)
            raw = self._raw()
            head = _gather(raw, compressions.MAGIC_BYTES)
            found = compressions.by_content(head) if compression is None else compression
            self.compression = None if found == "none" else found
            pieces = _chain(head, raw)
            if self.compression is not None:
                pieces = compressions.decompress(self.compression, pieces, self.name)
            self._pieces = pieces
        except BaseException:
            self.close()
            raise

    def __iter__(self) -> Iterator[bytes]:
        """Give the pieces; each as soon as there is one.

        Raises:
            DecodeError: The compression is broken.
            UnsupportedError: It is refused.
        """
        if self.refusal is not None:
            self.fault = UnsupportedError(self.refusal, format=self._holder, source=self.name)
            raise self.fault
        try:
            for piece in self._pieces:
                self.bytes_given += len(piece)
                yield piece
        except DecodeError as error:
            self.fault = error
            raise

    def format(self, name: str | None = None) -> FormatModule:
        """Find the format: by its name if given, else by the suffix, else by the content.

        What is refused has any.

        Raises:
            UnknownFormatError: It cannot be told, or has no such name.
        """
        if self.refusal is not None:
            return formats.find(name or "nq")
        if name is not None:
            return formats.find(name)
        if (module := formats.by_path(self.name)) is not None:
            return module
        head = _gather(
            self._pieces,
            formats.HEAD_BYTES,
            lambda head: formats.by_clear_content(head) is not None,
        )
        self._pieces = _chain(head, self._pieces)
        start = head[: formats.HEAD_BYTES]
        # What is clear comes first: the last line may be cut off.
        clear = formats.by_clear_content(start) if len(head) < formats.HEAD_BYTES else None
        if (module := clear or formats.by_content(start)) is not None:
            return module
        if self._among:
            return self._refuse(start)
        known = ", ".join(formats.names())
        reason = (
            "is empty" if not head else "shows its format neither by its name nor by its content"
        )
        raise UnknownFormatError(
            f"{self.name} {reason}; say it with --from (format=…), one of {known}"
        )

    def _refuse(self, head: bytes) -> FormatModule:
        """Refuse one of many whose format cannot be told."""
        if archives.stem(self.name) is not None or archives.is_archive(head):
            self.refusal = "an archive in an archive, which rdfm does not read; unpack it first"
        else:
            what = (
                "neither its name nor its content shows its format"
                if head
                else ("it is empty, and its name does not show its format")
            )
            self.refusal = (
                f"{what}; say that of all with --from (format=…), or leave out what is no log with "
                "--on-error skip (skip_message())"
            )
        return self.format()

    def is_archive(self, format: str | None = None) -> bool:
        """Whether it is a tar archive, by its name or its content.

        Args:
            format: The name of the logs' format, if given. Then an archive shows in the first piece,
                since a live log need not wait for more.
        """
        if archives.stem(self.name) is not None:
            return True
        if format is None and formats.by_path(self.name) is not None:
            return False
        enough = formats.by_clear_content if format is None else bool
        head = _gather(self._pieces, archives.HEAD_BYTES, lambda head: bool(enough(head)))
        self._pieces = _chain(head, self._pieces)
        return archives.is_archive(head)

    def members(self) -> Iterator[list[Input]]:
        """Give the logs in an archive, those together that are there together; close it at the end.

        Each is to be read before the next is asked for, unless it is `whole`.

        Raises:
            DecodeError: The archive is broken, behind the members that were given.
        """
        try:
            for some in archives.members(self):
                yield [MemberInput(self, member) for member in some]
        except DecodeError as error:
            error.source = self.name
            raise
        finally:
            self.close()

    def hand_over(self, decoder: DecoderLike) -> bool:
        """Give a decoder the file itself, where it reads from the middle and the file can be read so.

        Such a decoder has a method `feed_file`; else, and for other inputs, it is fed pieces.
        """
        feed_file = getattr(decoder, "feed_file", None)
        if feed_file is None or self.compression is not None or not self.seekable:
            return False
        feed_file(self._file)
        self.bytes_read = self.bytes_given = self.size or 0
        return True

    @property
    def seekable(self) -> bool:
        """Whether it can be read from the middle, as often as it is opened."""
        return self._owned and self.size is not None and self._file.seekable()

    def close(self) -> None:
        """Close the file, unless the caller opened it."""
        if self._owned:
            self._file.close()

    def _raw(self) -> Iterator[bytes]:
        """The file's bytes as they come, without waiting for whole pieces."""
        read: Callable[[int], bytes] = getattr(self._file, "read1", self._file.read)
        while piece := self._read(read):
            if not isinstance(piece, bytes):
                raise OptionError(
                    f"{self.name} is open in text mode; open it in binary mode ('rb')"
                )
            self.bytes_read += len(piece)
            yield piece

    def _read(self, read: Callable[[int], bytes]) -> bytes:
        try:
            return read(PIECE_BYTES)
        except OSError as error:
            if error.filename is None and error.errno is not None:
                error.filename = self.name
            raise
        except Exception as error:
            if not self._remote:
                raise
            # What fsspec and the packages under it raise is not always of the system's kind.
            reason = str(error) or type(error).__name__
            raise OSError(errno.EIO, f"reading failed: {reason}", self.name) from error


class MemberInput(Input):
    """A member of an archive. It has no URL: relative IRIs in it need a base.

    Attributes:
        whole: Whether all of it is in memory as it is.
        in_memory: Whether all of it is in memory, perhaps compressed.
    """

    _holder = "tar"

    def __init__(self, archive: Input, member: archives.Member) -> None:
        """Take a member; `Input.members` does this."""
        self.name = f"{archive.name}!{member.name}"
        self.url = None
        self.size = None
        self.bytes_read = self.bytes_given = 0
        self.fault = None
        self.compression = None
        self._owned = False
        self._among = True
        self.refusal = member.refusal
        self.whole = False
        self.in_memory = member.whole
        pieces = iter(member.pieces)
        head = next(pieces, b"") if member.whole else _gather(pieces, compressions.MAGIC_BYTES)
        self._pieces = _chain(head, pieces)
        if (found := compressions.by_content(head)) is not None:
            self.compression = found
            self._pieces = compressions.decompress(found, self._pieces, self.name)
        elif member.whole:
            self.whole = True

    def take(self) -> bytes | None:
        """Give all of it at once, if it is in memory as it is; then no pieces are left."""
        if not self.whole or self.refusal is not None:
            return None
        data = next(self._pieces, b"")
        self.bytes_given = len(data)
        return data

    def give_back(self, whole: bytes) -> None:
        """Take back what `take` gave: it is read in pieces."""
        self._pieces = iter((whole,))
        self.bytes_given = 0

    def close(self) -> None:
        """Do nothing: the archive is closed."""


def holds_files(source: object, storage_options: Mapping[str, Any] | None = None) -> bool:
    """Whether a source is a folder, or a glob of files."""
    if not isinstance(source, (str, os.PathLike)):
        return False
    path = os.fspath(source)
    local = local_path(path)
    if local is None:  # the web has no folders, and `?` is not of a glob there
        if re.match("https?://", path, re.IGNORECASE):
            return False
        return path.endswith("/") or is_glob(path)
    if Path(local).exists() or not is_glob(local):
        return Path(local).is_dir()
    return bool(matches(*storage_of(local)))  # else it is the name of a file that is not there


def every_input(
    source: Readable,
    compression: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    format: str | None = None,
) -> Iterator[Input]:
    """Open the logs that a source stands for, one after the other; each closes with its last byte.

    Args:
        source: As in `open_log`.
        compression: As in `open_log`, of files.
        storage_options: As in `open_log`.
        format: As in `open_log`.

    Raises:
        FileNotFoundError: A path is not there, or a glob matches nothing.
        DecodeError: An archive is broken, behind the members that were given.
    """
    for data in files_of(source, compression, storage_options):
        if data.is_archive(format):
            yield from chain.from_iterable(data.members())
        else:
            yield data


def files_of(
    source: Readable,
    compression: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Iterator[Input]:
    """Open the files that a source stands for: those of a folder or glob, else itself."""
    if not holds_files(source, storage_options):
        yield Input(source, compression, storage_options=storage_options)
        return
    path = os.fspath(source)  # type: ignore[arg-type]  # it is a path
    found, _ = find_files([path], recursive=True, options=storage_options)
    for file in found:
        options = storage_options if is_url(file.path) else None
        yield Input(file.path, compression, storage_options=options, among=True)


class Output:
    """A file that appears under its name when committed; a file object is written as it comes.

    Attributes:
        name: The file's name, for errors.
        bytes_written: Bytes written so far (compressed).
    """

    def __init__(self, target: Writable, compression: str | None = None) -> None:
        """Open a target; `compression` as in `create_log`."""
        self.bytes_written = 0
        self._final: Path | None = None  # where the temporary file goes
        self._temporary: Path | None = None
        self._forgotten: weakref.finalize[..., Output] | None = None
        self._owned = isinstance(target, (str, os.PathLike))
        if isinstance(target, (str, os.PathLike)):
            path = os.fspath(target)
            self.name = path
            if is_url(path):
                raise OptionError(
                    f"{path} is a URL, which rdfm does not write; write a file, then copy it"
                )
            compression = compressions.by_suffix(path) if compression is None else compression
            self._compressor = _compressor(compression)
            try:
                self._file = self._create(Path(path))
            except BaseException:
                self.discard()
                raise
        elif not hasattr(target, "write"):
            raise OptionError(
                f"cannot write to {_kind(target)}; give a path or a binary file object"
            )
        else:
            self.name = str(getattr(target, "name", "output"))
            self._compressor = _compressor(compression)
            self._file = target

    def _create(self, path: Path) -> BinaryIO:
        # Through a link the file it points to is replaced, not the link.
        final = Path(os.path.realpath(path))
        mode: int | None = None
        with contextlib.suppress(FileNotFoundError):
            mode = final.stat().st_mode
        if mode is not None:
            if not stat.S_ISREG(mode):  # a pipe or a device; a folder is refused by open
                return final.open("wb", buffering=0)
            if not os.access(final, os.W_OK):
                raise PermissionError(13, "Permission denied", str(path))
        temporary = final.with_name(f".{_cut(final.name, 100)}.{os.urandom(6).hex()}.tmp")
        opened: list[BinaryIO] = []
        # Both before the file is there: Ctrl-C may come at any time, and a writer be forgotten.
        self._final, self._temporary = final, temporary
        self._forgotten = weakref.finalize(self, _forget, self.name, temporary, opened)
        try:
            file = temporary.open("xb", buffering=0)
        except FileNotFoundError as error:
            raise FileNotFoundError(error.errno, "No such folder", str(final.parent)) from None
        except OSError as error:
            error.filename = str(path)  # nobody knows the temporary name
            raise
        opened.append(file)
        if mode is not None:
            with contextlib.suppress(OSError):
                temporary.chmod(stat.S_IMODE(mode))
        return file

    def write(self, data: bytes) -> None:
        """Compress and write bytes."""
        if self._compressor is not None:
            data = self._compressor.compress(data)
        self._write(data)

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            with self._named():
                written = self._file.write(view)
            # Buffered files take all; raw ones say how much; some file objects say nothing.
            written = len(view) if written is None else written
            self.bytes_written += written
            view = view[written:]

    def commit(self) -> None:
        """End the file and give it its name."""
        try:
            self._end()
            if self._temporary is not None and self._final is not None:
                self._temporary.replace(self._final)
                self._done()
        except BaseException:
            self.discard()
            raise

    def keep_partial(self) -> Path | None:
        """End the file and name it `NAME.partial`, or `NAME.partial.1` and so on where that exists.

        Gives that name; None for file objects and devices.
        """
        try:
            self._end()
            if self._temporary is None or self._final is None:
                return None
            partial = _free_name(self._final)
            self._temporary.replace(partial)
            self._done()
        except BaseException:
            self.discard()
            raise
        return partial

    def discard(self) -> None:
        """Close and remove what was written."""
        if self._owned and hasattr(self, "_file"):
            with contextlib.suppress(OSError):
                self._file.close()
        if self._temporary is not None:
            with contextlib.suppress(OSError):
                self._temporary.unlink()
        self._done()

    def _done(self) -> None:
        """There is no temporary file any more."""
        self._temporary = None
        if self._forgotten is not None:
            self._forgotten.detach()

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        """Errors of the system name the file."""
        try:
            yield
        except OSError as error:
            if error.filename is None and error.errno is not None:
                error.filename = self.name
            raise

    def _end(self) -> None:
        if self._compressor is not None:
            compressor, self._compressor = self._compressor, None
            self._write(compressor.flush())
        with self._named():
            if self._owned:
                self._file.close()
            elif hasattr(self._file, "flush"):
                self._file.flush()


class FolderOutput:
    """A folder that appears under its name, with all its files, when committed.

    Attributes:
        name: The folder's name, for errors.
        bytes_written: Bytes written so far (compressed).
    """

    def __init__(
        self, path: str | os.PathLike[str], compression: str | None, overwrite: bool
    ) -> None:
        """Make a folder beside the target, which gets its name at the end.

        Raises:
            OptionError: The folder is there and holds something, and is not to be overwritten.
            OSError: The folder cannot be made.
        """
        self.name = os.fspath(path)
        self.bytes_written = 0
        self._compression = compression
        self._compressor: compressions.Compressor | None = None
        self._file: BinaryIO | None = None
        self._overwrite = overwrite
        self._writing = threading.RLock()
        self._discarded = False
        self._final = Path(os.path.realpath(path))
        if is_url(self.name):
            raise OptionError(
                f"{self.name} is a URL, which rdfm does not write; write a folder, then copy it"
            )
        _compressor(compression)  # one that is not there is told now
        if self._final.exists() and any(self._final.iterdir()) and not overwrite:
            raise OptionError(
                f"{self.name} holds files; --overwrite (overwrite) replaces them, or name another folder"
            )
        beside = f".{_cut(self._final.name, 100)}.{os.urandom(6).hex()}"
        self._staging = self._final.with_name(f"{beside}.tmp")
        self._old = self._final.with_name(f"{beside}.old")
        self._forgotten = weakref.finalize(self, _forget_folder, self.name, self._staging)
        try:
            self._staging.mkdir()
        except FileNotFoundError as error:
            self._forgotten.detach()
            parent = str(self._final.parent)
            raise FileNotFoundError(error.errno, "No such folder", parent) from None
        except OSError as error:
            self._forgotten.detach()
            error.filename = self.name  # nobody knows the temporary name
            raise

    def write(self, parts: Iterable[Part]) -> None:
        """Write parts of files; nothing any more once they are discarded."""
        for part in parts:
            with self._writing:
                if self._discarded:
                    return
                if self._file is None:
                    path = self._staging / part.name
                    path.parent.mkdir(exist_ok=True)
                    self._file = path.open("xb")
                    self._compressor = _compressor(self._compression)
                self._write(part.data)
                if part.ended:
                    self._end()

    def _write(self, data: bytes) -> None:
        if self._file is not None:
            if self._compressor is not None:
                data = self._compressor.compress(data)
            self.bytes_written += self._file.write(data)

    def _end(self) -> None:
        if self._file is not None:
            file, self._file = self._file, None
            with file:
                if self._compressor is not None:
                    self.bytes_written += file.write(self._compressor.flush())

    def commit(self) -> None:
        """Give the folder its name; one that is overwritten goes then."""
        try:
            self._end()
            self._forgotten.detach()
            if not self._final.exists():
                self._staging.rename(self._final)
                return
            if not self._overwrite:
                self._final.rmdir()
                self._staging.rename(self._final)
                return
            self._final.rename(self._old)
            try:
                self._staging.rename(self._final)
            except BaseException:
                self._old.rename(self._final)
                raise
            shutil.rmtree(self._old, ignore_errors=True)
        except BaseException:
            self.discard()
            raise

    def keep_partial(self) -> Path:
        """Name what was written `NAME.partial`, or `NAME.partial.1` and so on; gives that name."""
        try:
            self._end()
            partial = _free_name(self._final)
            self._staging.rename(partial)
            self._forgotten.detach()
        except BaseException:
            self.discard()
            raise
        return partial

    def discard(self) -> None:
        """Remove what was written."""
        self._forgotten.detach()
        with self._writing:  # another thread may be at it
            self._discarded = True
            with contextlib.suppress(OSError):
                self._end()
            shutil.rmtree(self._staging, ignore_errors=True)


class Shape:
    """What an output is: a file, an archive or a folder.

    Attributes:
        archive: Whether it is a tar archive.
        folder: Whether it is a folder.
    """

    def __init__(
        self,
        target: Writable,
        compression: str | None = None,
        split_messages: int | None = None,
        split_bytes: int | None = None,
        overwrite: bool = False,
    ) -> None:
        """Tell from a target's name, and the options; all as in `create_log`.

        Raises:
            OptionError: Options do not fit together.
        """
        path = os.fspath(target) if isinstance(target, (str, os.PathLike)) else None
        splits = split_messages is not None or split_bytes is not None
        for name, number in (("split_messages", split_messages), ("split_bytes", split_bytes)):
            if number is not None and number < 1:
                raise OptionError(f"{name} is a number from 1, not {number}")
        self.archive = path is not None and archives.stem(path) is not None
        ends = path is not None and (path.endswith("/") or path.endswith(os.sep))
        self.folder = (
            not self.archive and path is not None and (ends or splits or Path(path).is_dir())
        )
        if splits and not self.folder:
            what = (
                "an archive has a member for each message"
                if self.archive
                else "a file is no folder"
            )
            raise OptionError(
                f"--split-messages and --split-bytes (split_messages, split_bytes) are for folders, and "
                f"{what}; name a folder, such as out/"
            )
        if overwrite and not self.folder:
            raise OptionError(
                "--overwrite (overwrite) is for folders; files are replaced without it"
            )
        if self.folder and path is not None and Path(path).is_file():
            raise OptionError(f"{path} is a file; name a folder")
        self._target = target
        self._compression = compression
        self._split = (split_messages, split_bytes)
        self._overwrite = overwrite

    def encoder(self, make: Callable[[], EncoderLike], format: Format) -> Any:
        """Give the encoder of the output, from one that encodes a log of the format."""
        suffix = (format.suffixes or (f".{format.name}",))[0]
        if self.archive:
            return ArchiveEncoder(make, suffix)
        if self.folder:
            suffix += compressions.suffix_of(self._compression or "none")
            return FolderEncoder(make, suffix, *self._split)
        return make()

    def output(self) -> Output | FolderOutput:
        """Give the output, opened."""
        if not self.folder:
            return Output(self._target, self._compression)
        return FolderOutput(os.fspath(self._target), self._compression, self._overwrite)  # type: ignore[arg-type]  # a path


def _forget_folder(name: str, staging: Path) -> None:
    """Remove the folder of a writer that nobody closed."""
    if staging.exists():
        shutil.rmtree(staging, ignore_errors=True)
        warnings.warn(
            f"the logs in {name} were never closed, so what was written is gone; use a with block",
            ResourceWarning,
            stacklevel=2,
        )


def _forget(name: str, temporary: Path, opened: list[BinaryIO]) -> None:
    """Remove the file of a writer that nobody closed, when it is collected or Python ends."""
    for file in opened:
        with contextlib.suppress(OSError):
            file.close()
    with contextlib.suppress(OSError):
        temporary.unlink()
        warnings.warn(
            f"the log {name} was never closed, so what was written is gone; use it in a with block",
            ResourceWarning,
            stacklevel=2,
        )


def _cut(name: str, count: int) -> str:
    """The first bytes of a file name; file systems count bytes, 255 at most."""
    return os.fsencode(name)[:count].decode("utf-8", "ignore")


def _free_name(final: Path) -> Path:
    """The first of `NAME.partial`, `NAME.partial.1` … that does not exist."""
    for count in itertools.count():
        suffix = f".partial.{count}" if count else ".partial"
        name = final.name
        if len(os.fsencode(name)) + len(suffix) > NAME_BYTES:
            name = _cut(name, NAME_BYTES - len(suffix))
        partial = final.with_name(name + suffix)
        if not partial.exists():
            return partial
    raise AssertionError


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


def output_format(target: Writable, name: str | None = None) -> FormatModule:
    """Find the format to write: by its name if given, else by the target's suffix.

    Raises:
        UnknownFormatError: It cannot be told, or has no such name.
    """
    if name is not None:
        return formats.find(name)
    path = os.fspath(target) if isinstance(target, (str, os.PathLike)) else None
    if path is not None and (inner := archives.stem(path)) is not None:
        return formats.by_path(inner) or formats.find(ARCHIVED_FORMAT)
    if path is not None and (module := formats.by_path(path)) is not None:
        return module
    shown = path if path is not None else "the output"
    known = ", ".join(formats.names())
    raise UnknownFormatError(
        f"{shown} does not show its format by its suffix; say it with --to (format=…), one of {known}"
    )


def suffix_options(target: Writable, format: Format) -> Mapping[str, Any]:
    """Give the options of an encoder that a target's suffix stands for."""
    if not format.suffix_options or not isinstance(target, (str, os.PathLike)):
        return {}
    name = os.fspath(target).lower()
    found = (options for suffix, options in format.suffix_options.items() if name.endswith(suffix))
    return next(found, {})


def _open(
    source: Readable, storage_options: Mapping[str, Any] | None = None
) -> tuple[BinaryIO, str, str | None, int | None, bool]:
    """A source's file, name, URL, size, and whether it is ours to close."""
    path = os.fspath(source) if isinstance(source, (str, os.PathLike)) else None
    if path is not None:
        local = local_path(path)
        if local is None:
            return _open_url(path, storage_options or {})
        path = local
    if storage_options:
        raise OptionError(
            "storage_options are for URLs, such as s3://bucket/log.nq; leave them out here"
        )
    if isinstance(source, (bytes, bytearray, memoryview)):
        import io

        return io.BytesIO(source), "bytes", None, len(source), True
    if not isinstance(source, (str, os.PathLike)):
        name = getattr(source, "name", None)
        if not hasattr(source, "read"):
            raise OptionError(
                f"cannot read {_kind(source)}; give a path, a URL, bytes or a binary file object"
            )
        return source, name if isinstance(name, str) else "input", None, None, False
    path = os.fspath(source) if path is None else path
    # Unbuffered: a read gives what is there.
    file = Path(path).open("rb", buffering=0)  # noqa: SIM115 - closed by Input.close
    status = os.fstat(file.fileno())
    regular = stat.S_ISREG(status.st_mode)
    url = Path(path).resolve().as_uri() if regular else None
    return file, path, url, status.st_size if regular else None, True


def _open_url(
    url: str, storage_options: Mapping[str, Any]
) -> tuple[BinaryIO, str, str | None, int | None, bool]:
    try:
        import fsspec
    except ImportError as error:
        raise MissingExtraError(
            f"reading {url} needs fsspec: pip install 'rdfm[fsspec]'"
        ) from error
    try:
        # The web is read from its beginning to its end: no server need know parts of files.
        settings = {"block_size": 0} if re.match("https?://", url, re.IGNORECASE) else {}
        file = fsspec.open(url, "rb", **settings, **storage_options).open()
    except ImportError as error:
        raise MissingExtraError(f"reading {url} needs another package: {error}") from error
    except (ValueError, TypeError) as error:
        raise OptionError(f"cannot read {url}: {error}") from error
    except FileNotFoundError as error:  # fsspec's own holds the URL or a path alone
        raise FileNotFoundError(
            errno.ENOENT, "not found, or its host cannot be reached", url
        ) from error
    size = getattr(file, "size", None)
    return file, url, url, size if isinstance(size, int) else None, True


def _kind(given: object) -> str:
    """What was given instead of a file, as in `5 (int)`."""
    return f"{repr(given)[:40]} ({type(given).__name__})"


def _compressor(name: str | None) -> compressions.Compressor | None:
    return None if name is None or name == "none" else compressions.compressor(name)


def _gather(
    pieces: Iterator[bytes], count: int, enough: Callable[[bytes], bool] | None = None
) -> bytes:
    """The first pieces, until they are enough, there are `count` bytes or no more."""
    head = b""
    while (
        len(head) < count
        and not (enough and enough(head))
        and (piece := next(pieces, None)) is not None
    ):
        head += piece
    return head


def _chain(head: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    if head:
        yield head
    yield from rest
