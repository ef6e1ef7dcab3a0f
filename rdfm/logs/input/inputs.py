"""Sources of logs: files, folders, archives, URLs, file objects and bytes, compressed or not.

In: the source that a user names. Out: `Input`, the pieces of one log, and the inputs in folders and
archives.
Cost: pieces of 1 MiB. Law: an input is read once, from start to end; every error names it.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, cast

from rdfm import formats
from rdfm.errors import (
    DecodeError,
    MissingExtraError,
    OptionError,
    RdfmError,
    Remedy,
    UnknownFormatError,
    UnsupportedError,
    visible,
)
from rdfm.formats import DecoderLike, FileDecoder, Format
from rdfm.logs import remedies
from rdfm.logs.file_advice import has_unread_suffix, reading_advice
from rdfm.logs.input.announced import (
    NOTHING_ANNOUNCED,
    AnnouncedFormat,
    accept_header,
    announced_format,
    announced_json,
    context_options,
)
from rdfm.logs.input.event_messages import announced_messages
from rdfm.logs.input.splits import Split
from rdfm.logs.journal import committed_length
from rdfm.storage import archive as archives
from rdfm.storage import compression as compressions
from rdfm.storage.addresses import is_web, redact_url, remove_credentials
from rdfm.storage.compression import PIECE_BYTES
from rdfm.storage.event_source import EVENT_STREAM, EventSource
from rdfm.storage.files import access_error, find_storage
from rdfm.storage.listing import find_files, find_matches, is_glob
from rdfm.storage.members import MemberPosition, find_members
from rdfm.storage.open_file import OpenFile, is_open_file, open_file_name
from rdfm.storage.paths import describe_invalid_path, is_live, is_url, local_path
from rdfm.storage.pipes import is_pipe, open_to_read

__all__ = [
    "Input",
    "MemberInput",
    "Readable",
    "input_list",
    "is_folder_or_glob",
    "is_read_once",
    "may_be_endless",
    "open_inputs",
]

NOT_PLAIN_FILE = "a pipe, device or socket, which rdfm reads only if it is named explicitly"

# Minimum size of the steps in which the bytes of a compressed file are counted.
COUNTED_BYTES = 1 << 16

Readable = str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO


class Input:
    """The bytes of a log, decompressed, in pieces as they arrive.

    Attributes:
        name: The file's name or URL for display (`rdfm.errors.visible`).
        url: The file's URL, the base of its relative IRIs; None if there is none.
        size: Size of the file in bytes (compressed), if known.
        bytes_read: Bytes of the file read so far (compressed).
        bytes_given: Bytes of the log yielded so far (decompressed).
        compression: The compression detected, or None.
        error: The compression error, if one has occurred, or the reason why the file is not read.
        rejection: The reason why this file, one of several, is not read; None if it is read.
        rejection_remedies: Remedies for the rejection.
        unreadable: Whether the file is rejected because it cannot be read, not because of its
            content.
        uncommitted_bytes: Number of bytes at the end of the file that are not read, because the run
            that appended them had not committed them when the file was opened.
        watch: Called with the log and each piece before the piece is decoded.
        announced: The format and options that the headers of a response announce.
        events: The stream, if the messages arrive as events.
        may_be_endless: Whether the input may have no end: its length is unknown, or it is a pipe.
    """

    uncommitted_bytes = 0
    may_be_endless = False
    rejection: str | None = None
    rejection_remedies: tuple[Remedy, ...] = ()
    unreadable = False
    watch: Callable[[Input, bytes], None] | None = None
    announced: AnnouncedFormat = NOTHING_ANNOUNCED
    events: EventSource | None = None
    _reader: FileDecoder | None = None  # a decoder that reads the file directly
    _path: str | None = None  # of a regular file on this machine
    _cut = False  # whether the rest of the file is not committed
    _archive_format: str | None = None  # the format of the archive that contains the input

    def __init__(
        self,
        source: Readable,
        compression: str | None = None,
        *,
        split: Split | None = None,
        storage_options: Mapping[str, Any] | None = None,
        one_of_many: bool = False,
    ) -> None:
        """Open a source.

        Args:
            source: As in `open_log`.
            compression: As in `open_log`; ignored if `split` is given.
            split: The part to read, from the byte before its start to the end of the source.
            storage_options: As in `open_log`.
            one_of_many: Whether the source is one of many. If so, an unknown format rejects only
                this source.

        Raises:
            OptionError: If the source cannot be read from the middle, or does not support
                `storage_options`.
            OSError: If the source cannot be read.
        """
        self.bytes_read = self.bytes_given = 0
        self.error: DecodeError | None = None
        self._file, name, self.url, self.size, self._owned = _open(source, storage_options)
        self.name = visible(name)
        self._path = name if self._owned and self.url is not None and not is_url(name) else None
        start = 0 if split is None else split.file_offset
        self._file_offset = start
        if self._path is not None:
            length = committed_length(self._path, self._file.fileno())
            if length is not None and self.size is not None:
                self.uncommitted_bytes = self.size - length
                self.size = length
        self._remote = self._owned and is_url(self.name)
        is_response = self._remote and is_web(self.name) and not is_open_file(source)
        self.may_be_endless = may_be_endless(source) or (self._remote and self.size is None)
        if isinstance(self._file, EventSource):
            self.events, compression = self._file, "none"
            self.announced = AnnouncedFormat(None, context_options(*self._file.link))
        elif is_response:
            response: Any = self._file
            media_type, parameters = response.media_type
            link = response.headers.get("Link", "")
            self.announced = announced_json(media_type, link, response.url) or announced_format(
                media_type, parameters
            )
            self.may_be_endless = not self._file.has_length  # type: ignore[attr-defined]
        if self._remote and is_live(name):
            self.announced, compression = AnnouncedFormat(formats.find("jelly")), "none"
        self._one_of_many = one_of_many
        try:
            if start:
                if not self.seekable:
                    raise OptionError(
                        f"{self.name} does not support random access; read it from the start"
                    )
                self._file.seek(start)
            raw = self._read_raw()
            # Nothing is read ahead of a stream, which may wait for its next message.
            is_stream = self.events is not None
            head = b"" if is_stream else _read_head(raw, compressions.MAGIC_BYTES)
            if split is not None:
                compression = split.compression or "none"
            detected = compressions.by_content(head) if compression is None else compression
            self.compression = None if detected == "none" else detected
            pieces = self._count_pieces(_prepend(head, raw))
            if split is not None and split.first_member is not None:
                pieces = compressions.decompress_members(
                    detected or "none", pieces, split.first_member, split.next_member, self.name
                )
            elif self.compression is not None:
                pieces = compressions.decompress(self.compression, pieces, self.name)
            self._pieces = pieces
        except BaseException:
            self.close()
            raise

    def __iter__(self) -> Iterator[bytes]:
        """Yield the pieces, each as soon as it arrives.

        Raises:
            DecodeError: If the compressed data is corrupt.
            UnsupportedError: If the input is rejected.
        """
        if self.rejection is not None:
            self.error = UnsupportedError(
                self.rejection,
                format=self._archive_format,
                source=self.name,
                remedies=self.rejection_remedies,
            )
            raise self.error
        try:
            for piece in self._pieces:
                self.bytes_given += len(piece)
                if self.watch is not None:
                    self.watch(self, piece)
                yield piece
        except DecodeError as error:
            self.error = error
            raise

    def detect_format(self, name: str | None = None) -> Format:
        """Find the format: by name if given, then by media type, suffix and content.

        For a rejected input, the format is arbitrary.

        Raises:
            UnknownFormatError: If the format cannot be detected, or the name is unknown.
        """
        if self.rejection is not None:
            return formats.find(name or "nq")
        if self.events is not None:
            return announced_messages(self.events, name)
        if name is not None:
            return formats.find(name)
        if self.announced.format is not None:
            return self.announced.format
        if (format := formats.by_path(self.name)) is not None:
            return format
        head = _read_head(
            self._pieces,
            formats.HEAD_BYTES,
            lambda head: formats.by_clear_content(head) is not None,
        )
        self._pieces = _prepend(head, self._pieces)
        start = head[: formats.HEAD_BYTES]
        # Unambiguous content takes precedence, because the last line may be truncated.
        clear = formats.by_clear_content(start) if len(head) < formats.HEAD_BYTES else None
        # Compressed bytes can look like a binary format.
        guess = None if has_unread_suffix(self.name) else formats.by_content(start)
        if (detected := clear or guess) is not None:
            return detected
        if self._one_of_many:
            return self._reject(start)
        if (advice := reading_advice(self.name, start)) is not None:
            raise UnknownFormatError(f"{self.name}: {advice.text}", remedies=advice.remedies)
        reason = (
            "is empty, so its format cannot be detected"
            if not head
            else "has an unknown format: neither its name nor its content identifies it"
        )
        raise UnknownFormatError(
            f"{self.name} {reason}",
            remedies=[remedies.format_remedy("from_format", formats.names())],
        )

    def _reject(self, head: bytes) -> Format:
        """Reject one of many inputs because its format cannot be detected."""
        if archives.stem(self.name) is not None or archives.is_archive(head):
            self.rejection = (
                "an archive inside an archive, which rdfm does not read; extract it first"
            )
        elif (advice := reading_advice(self.name, head)) is not None:
            self.rejection, self.rejection_remedies = advice.text, advice.remedies
        else:
            reason = (
                "neither its name nor its content identifies its format"
                if head
                else "it is empty, and its name does not identify its format"
            )
            self.rejection = reason
            format_remedy = remedies.format_remedy(
                "from_format", formats.names(), "sets the format of all inputs"
            )
            self.rejection_remedies = (format_remedy, remedies.SKIP_INVALID)
        return self.detect_format()

    def is_archive(self, format: str | None = None) -> bool:
        """Return whether the input is a tar archive, by its name or its content.

        Args:
            format: The name of the logs' format, if known. If so, only the first piece is examined,
                so that reading a live log does not wait for more data.
        """
        if self.events is not None:
            return False
        if archives.stem(self.name) is not None:
            return True
        if format is None and (self.announced.format or formats.by_path(self.name)) is not None:
            return False
        is_enough = formats.by_clear_content if format is None else bool
        head = _read_head(self._pieces, archives.HEAD_BYTES, lambda head: bool(is_enough(head)))
        self._pieces = _prepend(head, self._pieces)
        return archives.is_archive(head)

    def read_members(self) -> Iterator[list[Input]]:
        """Yield the logs in the archive in groups, as they become available; then close the file.

        Each log must be read before the next group is requested, unless it is `whole`.

        Raises:
            DecodeError: If the archive is corrupt after the members that were returned.
        """
        try:
            for members in archives.members(self):
                yield [MemberInput(self, member) for member in members]
        except DecodeError as error:
            error.source = self.name
            raise
        finally:
            self.close()

    def hand_over(self, decoder: DecoderLike) -> bool:
        """Pass the file to the decoder, if both support random access.

        Returns whether the decoder now reads the file.
        """
        if (
            not isinstance(decoder, FileDecoder)
            or self.compression is not None
            or not self.seekable
        ):
            return False
        decoder.feed_file(self._file)
        self.bytes_read = self.bytes_given = self.size or 0
        self._reader = decoder
        return True

    def find_members(self) -> Iterator[MemberPosition]:
        """Yield the positions of the members of a compressed input on this machine.

        The input cannot be read afterwards. An input that was read to its end has none.
        """
        if self.compression is None or self._remote or self._file.closed:
            return
        if self.seekable:
            yield from find_members(self.compression, self._file, self.size or 0)

    @property
    def seekable(self) -> bool:
        """Whether the file can be opened again and read from the middle."""
        return self._owned and self.size is not None and self._file.seekable()

    @property
    def file_offset(self) -> int:
        """Offset reached in the (compressed) file, even if a decoder reads it directly."""
        return self.bytes_read if self._reader is None else self._reader.bytes_read

    @property
    def local_path(self) -> str | None:
        """Path of a regular file on this machine; None for other inputs."""
        return self._path

    def close(self) -> None:
        """Close the file, unless the caller opened it."""
        if self._owned:
            self._file.close()
            # The generators of the pieces have buffers and a decompressor, and refer to this object.
            self._pieces = self._read_raw()

    def _read_raw(self) -> Iterator[bytes]:
        """Yield the file's bytes as they arrive, without waiting for full pieces."""
        read: Callable[[int], bytes] = getattr(self._file, "read1", self._file.read)
        position = self._file_offset
        while piece := self._truncate_to_commit(self._read(read)):
            if not isinstance(piece, bytes):
                raise OptionError(
                    f"{self.name} is open in text mode; open it in binary mode ('rb')"
                )
            position += len(piece)
            yield piece
        if self._remote and not is_web(self.name) and position < (self.size or 0):
            raise OSError(
                errno.EIO,
                f"the file ended after {position} of {self.size} bytes, so it changed while it was "
                "read; read it again",
                self.name,
            )

    def _truncate_to_commit(self, piece: bytes) -> bytes:
        """Truncate a piece at the committed end of a log to which another process appends."""
        if self._cut:
            return b""
        if self._path is None or self.size is None or not isinstance(piece, bytes):
            return piece
        self._file_offset += len(piece)
        excess = self._file_offset - self.size
        if excess <= 0:
            return piece
        # `size` was determined when the file was opened, and a writer may have started since. A
        # writer creates its journal before it writes.
        length = committed_length(self._path, self._file.fileno())
        if length is None:
            return piece
        excess = min(self._file_offset - max(length, self.size), len(piece))
        if excess <= 0:
            return piece
        self._cut = True  # even if the writer commits more before the next read
        return piece[: len(piece) - excess]

    def _count_pieces(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """Yield and count the file's bytes. Compressed data is split to make progress visible."""
        step = PIECE_BYTES
        if self.compression is not None and self.size is not None:
            step = min(step, max(self.size // 100, COUNTED_BYTES))
        for piece in pieces:
            for start in range(0, len(piece), step):
                part = piece if len(piece) <= step else piece[start : start + step]
                self.bytes_read += len(part)
                yield part

    def _read(self, read: Callable[[int], bytes]) -> bytes:
        try:
            return read(PIECE_BYTES)
        except OSError as error:
            if error.filename is None and error.errno is not None:
                error.filename = self.name
            raise
        except RdfmError:  # of a content encoding
            raise
        except Exception as error:
            if not self._remote:
                raise
            # The exceptions of fsspec and of the packages that it uses are not always `OSError`.
            reason = str(error) or type(error).__name__
            raise OSError(errno.EIO, f"reading failed: {reason}", self.name) from error


class MemberInput(Input):
    """A member of an archive. It has no URL: relative IRIs in it need a base.

    Attributes:
        whole: Whether the entire member is in memory, uncompressed.
        in_memory: Whether the entire member is in memory, possibly compressed.
    """

    _archive_format = "tar"

    def __init__(self, archive: Input, member: archives.Member) -> None:
        """Initialize with a member. Called by `Input.read_members`."""
        self.name = f"{archive.name}!{visible(member.name)}"
        self.url = None
        self.size = None
        self.bytes_read = self.bytes_given = 0
        self.error = None
        self.compression = None
        self._owned = False
        self._one_of_many = True
        self.rejection = member.rejection
        self.whole = False
        self.in_memory = member.whole
        pieces = iter(member.pieces)
        head = next(pieces, b"") if member.whole else _read_head(pieces, compressions.MAGIC_BYTES)
        self._pieces = _prepend(head, pieces)
        if (detected := compressions.by_content(head)) is not None:
            self.compression = detected
            self._pieces = compressions.decompress(detected, self._pieces, self.name)
        elif member.whole:
            self.whole = True

    def take_data(self) -> bytes | None:
        """Return all the data at once if it is in memory uncompressed; no pieces remain."""
        if not self.whole or self.rejection is not None:
            return None
        data = next(self._pieces, b"")
        self.bytes_given = len(data)
        if self.watch is not None:
            self.watch(self, data)
        return data

    def give_back(self, data: bytes) -> None:
        """Undo `take_data`, so that the data can be read in pieces."""
        self._pieces = iter((data,))
        self.bytes_given = 0
        self.watch = None  # has already been called with the data

    def close(self) -> None:
        """Do nothing, since the archive is closed instead."""


class _RejectedInput(Input):
    """One of several files that is not opened."""

    unreadable = True

    def __init__(self, name: str, rejection: str) -> None:
        """Initialize with the file's name and the reason why it is not read."""
        self.name = visible(name)
        self.url = self.size = self.error = self.compression = None
        self.bytes_read = self.bytes_given = 0
        self.rejection = rejection
        self.rejection_remedies = (remedies.SKIP_INVALID,)
        self._owned = False

    def is_archive(self, format: str | None = None) -> bool:
        """Return False, regardless of the name."""
        return False

    def close(self) -> None:
        """Do nothing, since no file is open."""


def input_list(source: Readable | Iterable[Readable]) -> list[Any]:
    """Return a list of inputs, from one input or several.

    Raises:
        OptionError: If the argument is not an input or a list of inputs.
    """
    is_path_or_bytes = isinstance(source, (str, os.PathLike, bytes, bytearray, memoryview))
    if is_path_or_bytes or hasattr(source, "read") or is_open_file(source):
        return [source]
    if not isinstance(source, Iterable):
        raise OptionError(
            f"cannot read {repr(source)[:40]} ({type(source).__name__}); "
            "expected a path, a URL, bytes, a binary file object, or a list of these"
        )
    return list(source)


def may_be_endless(source: Readable) -> bool:
    """Whether a source is a live stream, pipe, FIFO, socket or device, which may have no end.

    For a URL, only the opened `Input` knows.
    """
    if isinstance(source, (str, os.PathLike)):
        return is_read_once(source)
    try:
        return is_pipe(source.fileno())  # type: ignore[union-attr]  # or AttributeError
    except (AttributeError, OSError, ValueError):  # not a file on this machine
        return False


def is_folder_or_glob(source: object, storage_options: Mapping[str, Any] | None = None) -> bool:
    """Return whether a source is a folder, or a glob of files."""
    if not isinstance(source, (str, os.PathLike)):
        return False
    path = os.fspath(source)
    local = local_path(path)
    if local is None:  # the web has no folders, and `?` is not a glob character there
        if is_web(path) or is_live(path):
            return False
        return path.endswith("/") or is_glob(path)
    if Path(local).exists() or not is_glob(local):
        return Path(local).is_dir()
    return bool(find_matches(*find_storage(local)))  # without matches, it names a missing file


def is_read_once(source: object) -> bool:
    """Return whether a source can be opened or read only once.

    True for file objects, live streams, and local paths of pipes, FIFOs, sockets and devices.
    """
    if isinstance(source, (bytes, bytearray, memoryview)) or is_open_file(source):
        return False
    if not isinstance(source, (str, os.PathLike)):
        return True
    local = local_path(os.fspath(source))
    return is_live(source) if local is None else is_pipe(local)


def open_inputs(
    source: Readable,
    compression: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    *,
    reject_unreadable: bool = False,
) -> Iterator[Input]:
    """Open the files that a source refers to: those of a folder or glob, or the source itself.

    Args:
        source: As in `open_log`.
        compression: As in `open_log`.
        storage_options: As in `open_log`.
        reject_unreadable: Whether one of many files is rejected if it cannot be opened. By default,
            such a file is an error.
    """
    if not is_folder_or_glob(source, storage_options):
        yield Input(source, compression, storage_options=storage_options)
        return
    path = os.fspath(source)  # type: ignore[arg-type]  # it is a path
    files, _ = find_files([path], recursive=True, options=storage_options)
    for file in files:
        if not file.plain:
            yield _RejectedInput(file.path, NOT_PLAIN_FILE)
            continue
        options = storage_options if is_url(file.path) else None
        try:
            data = Input(file.path, compression, storage_options=options, one_of_many=True)
        except OSError as error:
            if not reject_unreadable:
                raise
            data = _RejectedInput(file.path, error.strerror or str(error))
        yield data


def _open(
    source: Readable, storage_options: Mapping[str, Any] | None = None
) -> tuple[BinaryIO, str, str | None, int | None, bool]:
    """Return a source's file, name, URL, size, and whether `Input` must close it."""
    path = os.fspath(source) if isinstance(source, (str, os.PathLike)) else None
    if path is not None:
        local = local_path(path)
        if local is None:
            return _open_url(path, storage_options or {})
        path = local
    if storage_options:
        raise OptionError("storage_options apply to URLs such as s3://bucket/log.nq; remove them")
    if isinstance(source, (bytes, bytearray, memoryview)):
        import io

        return io.BytesIO(source), "bytes", None, len(source), True
    if is_open_file(source):
        return _open_remote(source)
    if not isinstance(source, (str, os.PathLike)):
        name = getattr(source, "name", None)
        if not hasattr(source, "read"):
            raise OptionError(
                f"cannot read {describe_invalid_path(source)}; expected a path, a URL, bytes or a binary file object"
            )
        return source, name if isinstance(name, str) else "input", None, None, False
    path = os.fspath(source) if path is None else path
    # Unbuffered: a read returns the bytes that are available.
    try:
        file = cast("BinaryIO", open_to_read(path))
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENAMETOOLONG) and _is_text(path):
            error.strerror = f"{error.strerror}; pass bytes to read text"
        raise
    status = os.fstat(file.fileno())
    regular = stat.S_ISREG(status.st_mode)
    url = Path(path).resolve().as_uri() if regular else None
    return file, path, url, status.st_size if regular else None, True


def _open_remote(source: OpenFile) -> tuple[BinaryIO, str, str | None, int | None, bool]:
    """Open a file through fsspec."""
    name = open_file_name(source)
    try:
        file = source.open()
    except FileNotFoundError as error:  # fsspec's error contains only the URL or a path
        raise FileNotFoundError(errno.ENOENT, "not found", name) from error
    except OSError as error:
        raise access_error(name, error) from error
    # The size of compressed data is not that of the pieces, which are decompressed by fsspec.
    size = getattr(file, "size", None) if source.compression is None else None
    return file, name, name, size if isinstance(size, int) else None, True


def _is_text(path: str | bytes) -> bool:
    """Whether the name of a missing file looks like RDF."""
    text = os.fsdecode(path)
    return any(map(str.isspace, text)) and any(character in text for character in '<"{@:')


def _open_url(
    url: str, storage_options: Mapping[str, Any]
) -> tuple[BinaryIO, str, str | None, int | None, bool]:
    if is_live(url):
        from rdfm.storage.live import LiveSettings, Subscription  # costly to import

        live = Subscription(url, LiveSettings.from_options(storage_options))
        return cast("BinaryIO", live), live.name, None, None, True
    if is_web(url):
        from rdfm.storage.http import HttpSettings, open_url  # costly to import

        settings = HttpSettings.from_options(storage_options)
        response = open_url(url, settings, accept=accept_header())
        name = redact_url(url)
        if response.media_type[0] == EVENT_STREAM:
            events = EventSource(response, url, settings)
            return cast("BinaryIO", events), name, remove_credentials(url), None, True
        return cast("BinaryIO", response), name, remove_credentials(url), response.size, True
    try:
        import fsspec
    except ImportError as error:
        raise MissingExtraError(
            f"reading {redact_url(url)} needs fsspec: pip install 'rdfm[fsspec]'"
        ) from error
    try:
        file = fsspec.open(url, "rb", **storage_options).open()
    except ImportError as error:
        raise MissingExtraError(
            f"reading {redact_url(url)} needs another package: {error}"
        ) from error
    except (ValueError, TypeError) as error:
        raise OptionError(f"cannot read {redact_url(url)}: {error}") from error
    except FileNotFoundError as error:  # fsspec's error contains only the URL or a path
        raise FileNotFoundError(
            errno.ENOENT, "not found, or its host is unreachable", redact_url(url)
        ) from error
    except OSError as error:
        raise access_error(url, error) from error
    size = getattr(file, "size", None)
    return (
        file,
        redact_url(url),
        remove_credentials(url),
        size if isinstance(size, int) else None,
        True,
    )


def _read_head(
    pieces: Iterator[bytes], count: int, is_enough: Callable[[bytes], bool] | None = None
) -> bytes:
    """Return pieces until `is_enough` is true, `count` bytes have been read, or the input ends."""
    head = b""
    while (
        len(head) < count
        and not (is_enough and is_enough(head))
        and (piece := next(pieces, None)) is not None
    ):
        head += piece
    return head


def _prepend(head: bytes, pieces: Iterator[bytes]) -> Iterator[bytes]:
    if head:
        yield head
    yield from pieces
