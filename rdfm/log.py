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
import stat
import warnings
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, Self

from rdfm import compression as compressions
from rdfm import formats
from rdfm._core import MessageBatch, Quad
from rdfm.compression import PIECE_BYTES
from rdfm.errors import (
    DecodeError,
    EncodeError,
    MissingExtraError,
    OptionError,
    RdfmError,
    UnknownFormatError,
)
from rdfm.formats import DecoderLike, EncoderLike, Format, FormatModule
from rdfm.message import Message, checked
from rdfm.paths import is_url, local_path

if TYPE_CHECKING:
    from rdfm.split import Split

__all__ = ["Input", "LogReader", "LogWriter", "Output", "create_log", "open_log"]

Readable = str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO
Writable = str | os.PathLike[str] | BinaryIO
PENDING_MESSAGES = 1024
PENDING_QUADS = 8192
NAME_BYTES = 255


def open_log(
    source: Readable,
    format: str | None = None,
    *,
    compression: str | None = None,
    split: Split | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> LogReader:
    r"""Open a log for reading.

    Args:
        source: A path, a URL (`https://…` and what else fsspec knows), bytes, or a binary file object.
        format: Such as "nq"; found from the suffix, then from the content, unless given.
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
        data, split = Input(source, compression, storage_options=storage_options), None
    try:
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
    **options: Any,
) -> LogWriter:
    r"""Create a log for writing. The file appears under its name when the writer is closed.

    Args:
        target: A path, or a binary file object, which is left open.
        format: Such as "trig"; found from the suffix unless given.
        compression: "gzip", "zstd", "bzip2", "xz" or "none"; found from the suffix unless given.
        keep_partial: After an exception keep what was written, as `NAME.partial`.
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
    encoder = make_codec(module.Encoder, module.FORMAT, module.FORMAT.encode_options, options)
    return LogWriter(Output(target, compression), module, encoder, keep_partial=keep_partial)


class LogReader:
    """A log being read: iterate over its messages, or over `batches()`. Made by `open_log`.

    Attributes:
        format: The format's name.
        source: The file's name or URL.
    """

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


class LogWriter:
    """A log being written. Made by `create_log`; closing it makes the file appear under its name.

    Attributes:
        format: The format's name.
        messages: Messages written so far.
    """

    def __init__(
        self,
        output: Output,
        module: FormatModule,
        encoder: EncoderLike,
        *,
        keep_partial: bool = False,
    ) -> None:
        """Take an opened output; `create_log` does this."""
        self._output = output
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
        return self._encoder.dropped()

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
        fault: What is wrong with the compression, once it was met.
    """

    def __init__(
        self,
        source: Readable,
        compression: str | None = None,
        *,
        start: int = 0,
        storage_options: Mapping[str, Any] | None = None,
    ) -> None:
        """Open a source.

        Args:
            source: As in `open_log`.
            compression: As in `open_log`; "none" where `start` is given.
            start: The first byte to read.
            storage_options: As in `open_log`.

        Raises:
            OptionError: The source cannot be read from the middle, or takes no `storage_options`.
            OSError: It cannot be read.
        """
        self.bytes_read = self.bytes_given = 0
        self.fault: DecodeError | None = None
        self._file, self.name, self.url, self.size, self._owned = _open(source, storage_options)
        self._remote = self._owned and is_url(self.name)
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
        """Give the pieces; each as soon as there is one."""
        try:
            for piece in self._pieces:
                self.bytes_given += len(piece)
                yield piece
        except DecodeError as error:
            self.fault = error
            raise

    def format(self, name: str | None = None) -> FormatModule:
        """Find the format: by its name if given, else by the suffix, else by the content.

        Raises:
            UnknownFormatError: It cannot be told, or has no such name.
        """
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
        known = ", ".join(formats.names())
        reason = (
            "is empty" if not head else "shows its format neither by its name nor by its content"
        )
        raise UnknownFormatError(
            f"{self.name} {reason}; say it with --from (format=…), one of {known}"
        )

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
    pieces = iter(data)
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
    if path is not None and (module := formats.by_path(path)) is not None:
        return module
    shown = path if path is not None else "the output"
    known = ", ".join(formats.names())
    raise UnknownFormatError(
        f"{shown} does not show its format by its suffix; say it with --to (format=…), one of {known}"
    )


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
