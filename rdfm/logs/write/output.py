"""Log targets: files, folders, archives and file objects, with optional compression.

In: the target that a user names, and bytes. Out: `Output`, `FolderOutput`, and `OutputShape`, which
chooses between them.
Cost: nothing is buffered. Law: a file or folder appears under its name only when it is complete.
"""

from __future__ import annotations

import contextlib
import errno
import io
import itertools
import os
import stat
import threading
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

from rdfm import formats
from rdfm.errors import (
    OptionError,
    UnknownFormatError,
    name_in_errors,
    spell_option,
    visible,
)
from rdfm.formats import EncoderLike, Format, FormatSpec
from rdfm.logs import remedies
from rdfm.logs.file_advice import unsupported_suffix_text, writing_advice
from rdfm.logs.journal import remove_stale
from rdfm.logs.kinds import DEFAULT_FORMATS
from rdfm.logs.write.append import COMMIT_SECONDS, AppendOutput, AppendSettings, check_appending
from rdfm.logs.write.keyed import KeyEncoder, SplitBy
from rdfm.logs.write.keyed_append import AppendFolder, KeyAppender
from rdfm.logs.write.parts import ArchiveEncoder, FolderEncoder, Part
from rdfm.storage import archive as archives
from rdfm.storage import compression as compressions
from rdfm.storage.addresses import redact_url
from rdfm.storage.open_file import RemoteFile, is_open_file, open_file_name, plain_path
from rdfm.storage.paths import describe_invalid_path, is_live, local_target
from rdfm.storage.pipes import find_descriptor, open_to_write

if TYPE_CHECKING:
    from rdfm.message import AnyBatch
    from rdfm.storage.live import LiveTarget

__all__ = [
    "FolderOutput",
    "Output",
    "OutputShape",
    "Writable",
    "output_format",
    "reject_other_format_names",
    "remove_unfinished",
    "suffix_options",
]

Writable = str | os.PathLike[str] | BinaryIO
NAME_BYTES = 255
_LIVE_FORMAT = "jelly"
# Open outputs, for `remove_unfinished`. Completed outputs may remain here, and are ignored.
_UNFINISHED: weakref.WeakSet[Output | FolderOutput] = weakref.WeakSet()


class Output:
    """A file that appears under its name when committed; a file object is written directly.

    Attributes:
        name: The file's name, for errors.
        bytes_written: Bytes written so far (compressed).
    """

    def __init__(self, target: Writable, compression: str | None = None, jobs: int = 1) -> None:
        """Open a target. The output is compressed in `jobs` threads.

        `compression` is as in `create_log`.
        """
        self.bytes_written = 0
        self._process = os.getpid()
        self._final: Path | None = None  # the final path
        self._temporary: Path | None = None
        self._finalizer: weakref.finalize[..., Output] | None = None
        target = plain_path(target, "wb")
        self._owned = isinstance(target, (str, os.PathLike)) or is_open_file(target)
        self._remote: RemoteFile | None = None
        if is_open_file(target):
            self.name = open_file_name(target)
            if compression is None and target.compression is None:
                compression = compressions.find_by_suffix(self.name)
            self._compressor = _block_compressor(compression, jobs)
            self._remote = RemoteFile(target)
            self._file = cast("BinaryIO", self._remote)
        elif isinstance(target, (str, os.PathLike)):
            path = os.fspath(target)
            self.name = visible(path)
            compression = compressions.find_by_suffix(path) if compression is None else compression
            self._compressor = _block_compressor(compression, jobs)
            try:
                self._file = self._create(Path(path))
            except BaseException:
                self.discard()
                raise
        elif not hasattr(target, "write"):
            raise OptionError(
                f"cannot write to {describe_invalid_path(target)}; expected a path or a binary file object"
            )
        else:
            self.name = visible(str(getattr(target, "name", "output")))
            if isinstance(target, io.TextIOBase):
                raise OptionError(
                    f"{self.name} is open in text mode; open it in binary mode ('wb')"
                )
            self._compressor = _block_compressor(compression, jobs)
            self._file = target

    def _create(self, path: Path) -> BinaryIO:
        if find_descriptor(os.fspath(path)) is not None:
            return cast("BinaryIO", open_to_write(os.fspath(path)))
        # Replaces the target of a symbolic link, not the link.
        final = Path(os.path.realpath(path))
        mode: int | None = None
        with contextlib.suppress(FileNotFoundError):
            mode = final.stat().st_mode
        if mode is not None:
            if not stat.S_ISREG(mode):  # a pipe or a device; `open` rejects a folder
                return cast("BinaryIO", open_to_write(os.fspath(final)))
            if not os.access(final, os.W_OK):
                raise PermissionError(13, "Permission denied", str(path))
        temporary = final.with_name(f".{_truncate_name(final.name, 100)}.{os.urandom(6).hex()}.tmp")
        open_files: list[BinaryIO] = []
        # These are set before the file exists, because Ctrl-C can arrive at any time, and a writer
        # can be garbage collected.
        self._final, self._temporary = final, temporary
        self._finalizer = weakref.finalize(
            self, _finalize, self._process, self.name, temporary, open_files
        )
        _UNFINISHED.add(self)
        with _explain_creation_errors(self.name, final):
            file = temporary.open("xb", buffering=0)
        open_files.append(file)
        if mode is not None:
            with contextlib.suppress(OSError):
                temporary.chmod(stat.S_IMODE(mode))
        return file

    def check_process(self) -> None:
        """Reject use of a temporary file in a process forked from the one that opened it.

        Raises:
            PermissionError: If another process opened the file.
        """
        if self._temporary is not None:
            _check_process(self._process, self.name)

    def write(self, parts: Sequence[Part]) -> None:
        """Compress and write bytes."""
        # Fewer calls, and no copy of a single part.
        data = parts[0].data if len(parts) == 1 else b"".join(part.data for part in parts)
        if self._compressor is not None:
            data = self._compressor.compress(data)
        self._write(data)

    def end(self) -> None:
        """Compress and write all bytes, so that `commit` only closes the file."""
        if self._compressor is not None:
            compressor, self._compressor = self._compressor, None
            self._write(compressor.flush())

    def _write(self, data: bytes | memoryview) -> None:
        self.check_process()
        with name_in_errors(self.name):
            self.bytes_written += _write_all(self._file, data)

    def commit(self) -> None:
        """Finish the file and rename it to its final name."""
        try:
            self._close_file()
            if self._temporary is not None and self._final is not None:
                with name_in_errors(self.name):
                    self._temporary.replace(self._final)
                self._mark_finished()
                remove_stale(self._final)
        except BaseException:
            self.discard()
            raise

    def keep_partial(self) -> Path | None:
        """Finish the file as `NAME.partial`, or `NAME.partial.1` and so on if that exists.

        Returns the path; None for file objects and devices.
        """
        try:
            self._close_file()
            if self._temporary is None or self._final is None:
                return None
            partial = _find_free_name(self._final)
            with name_in_errors(self.name):
                self._temporary.replace(partial)
            self._mark_finished()
        except BaseException:
            self.discard()
            raise
        return partial

    def discard(self) -> None:
        """Close the file and remove it; in a forked process only close it."""
        if self._compressor is not None and self._process == os.getpid():
            self._compressor.close()
        if self._owned and hasattr(self, "_file"):
            with contextlib.suppress(OSError):
                self._file.close()
        if self._temporary is not None and self._process == os.getpid():
            with contextlib.suppress(OSError, ValueError):  # or an invalid file name
                self._temporary.unlink()
        self._mark_finished()

    def _mark_finished(self) -> None:
        """Record that the temporary file no longer exists."""
        self._temporary = None
        if self._finalizer is not None:
            self._finalizer.detach()

    def _close_file(self) -> None:
        self.check_process()
        self.end()
        with name_in_errors(self.name):
            if self._remote is not None:
                self._remote.copy()
            if self._owned:
                self._file.close()
            elif hasattr(self._file, "flush"):
                self._file.flush()


class _OpenFile(NamedTuple):
    """An open file of a folder.

    Attributes:
        file: The file.
        name: Its name, for errors.
        compressor: Compresses the data.
    """

    file: BinaryIO
    name: str
    compressor: compressions.Compressor | None


class FolderOutput:
    """A folder that appears under its name, with all its files, when committed.

    Attributes:
        name: The folder's name, for errors.
        bytes_written: Bytes written so far (compressed).
    """

    def __init__(
        self, path: str | os.PathLike[str], compression: str | None, overwrite: bool
    ) -> None:
        """Create a temporary folder next to the target. `commit` renames it to the target.

        Raises:
            OptionError: If the folder exists and is not empty, and `overwrite` is false.
            OSError: If the folder cannot be created.
        """
        self.name = visible(os.fspath(path))
        self.bytes_written = 0
        self._process = os.getpid()
        self._compression = compression
        self._files: dict[str, _OpenFile] = {}  # by the name of the part
        self._opened: list[BinaryIO] = []  # the same files, for the finalizer
        self._overwrite = overwrite
        self._writing = threading.RLock()
        self._discarded = False
        self._final = Path(os.path.realpath(path))
        _compressor(compression)  # reports a missing compression package now
        if self._final.exists() and any(self._final.iterdir()) and not overwrite:
            raise OptionError(
                f"the folder {self.name} is not empty; write to another folder",
                remedies=[remedies.OVERWRITE],
            )
        hidden = f".{_truncate_name(self._final.name, 100)}.{os.urandom(6).hex()}"
        self._staging = self._final.with_name(f"{hidden}.tmp")
        self._old = self._final.with_name(f"{hidden}.old")
        self._finalizer = weakref.finalize(
            self,
            _finalize_folder,
            self._process,
            self.name,
            (self._staging, self._final, self._old),
            self._opened,
        )
        _UNFINISHED.add(self)
        try:
            with _explain_creation_errors(self.name, self._final):
                self._staging.mkdir()
        except OSError:
            self._finalizer.detach()
            raise

    def check_process(self) -> None:
        """Reject use of the folder in a process forked from the one that created it.

        Raises:
            PermissionError: If another process created the folder.
        """
        _check_process(self._process, self.name)

    def write(self, parts: Iterable[Part]) -> None:
        """Write parts of files. Does nothing after `discard`."""
        self.check_process()
        for part in parts:
            with self._writing:
                if self._discarded:
                    return
                file = self._files.get(part.name) or self._open(part)
                data = part.data
                if file.compressor is not None:
                    data = file.compressor.compress(data)
                with name_in_errors(file.name):
                    self.bytes_written += _write_all(file.file, data)
                if part.ended:
                    self._close_file(part.name)

    def staged_path(self, name: str) -> Path:
        """Return the path of a file before the folder appears under its name."""
        return self._staging / name

    def copy(self, name: str, copy: str) -> None:
        """Copy the written part of a file to a new file, to which more can be written."""
        import shutil  # costly to import

        self.check_process()
        with name_in_errors(os.path.join(self.name, copy)):  # noqa: PTH118 - keeps ./
            shutil.copyfile(self._staging / name, self._staging / copy)
            self.bytes_written += (self._staging / copy).stat().st_size

    def _open(self, part: Part) -> _OpenFile:
        path = self._staging / part.name
        name = os.path.join(self.name, part.name)  # noqa: PTH118 - keeps ./
        with name_in_errors(name):
            path.parent.mkdir(exist_ok=True)
            # Unbuffered, so that a forked process has no buffered data to write.
            file = path.open("ab" if part.continued else "xb", buffering=0)
        self._opened.append(file)
        open_file = _OpenFile(file, name, _compressor(self._compression))
        self._files[part.name] = open_file
        return open_file

    def _close_file(self, part: str) -> None:
        open_file = self._files.pop(part)
        with name_in_errors(open_file.name), open_file.file:
            self._opened.remove(open_file.file)
            if open_file.compressor is not None:
                self.bytes_written += _write_all(open_file.file, open_file.compressor.flush())

    def _end_all(self) -> None:
        for part in list(self._files):
            self._close_file(part)

    def commit(self) -> None:
        """Rename the folder to its final name, and remove the folder that it replaces."""
        try:
            self.check_process()
            self._end_all()
            with name_in_errors(self.name):
                self._publish()
            self._finalizer.detach()
        except BaseException:
            self.discard()
            raise

    def _publish(self) -> None:
        """Rename the folder to its final name.

        Ctrl-C may interrupt at any line, so `_keep_final_folder` only checks which folders exist.
        """
        if self._final.exists():
            if self._overwrite:
                self._final.rename(self._old)
            elif os.name == "nt":  # on other systems an empty folder is replaced
                self._final.rmdir()
        self._staging.rename(self._final)
        _remove(self._old)

    def keep_partial(self) -> Path:
        """Keep the output as `NAME.partial`, or `NAME.partial.1` and so on; return that path."""
        try:
            self.check_process()
            self._end_all()
            partial = _find_free_name(self._final)
            with name_in_errors(self.name):
                self._staging.rename(partial)
            self._finalizer.detach()
        except BaseException:
            self.discard()
            raise
        return partial

    def discard(self) -> None:
        """Remove the output written so far; in a forked process do nothing."""
        if self._process != os.getpid():  # a forked process may never get the lock
            self._finalizer.detach()
            return
        with self._writing:  # another thread may be writing
            self._discarded = True
            for part in list(self._files):
                with contextlib.suppress(OSError):
                    self._close_file(part)
            _keep_final_folder(self._staging, self._final, self._old)
        # Last, because the finalizer removes the rest if the process ends earlier.
        self._finalizer.detach()


class OutputShape:
    """The kind of an output: a file, an archive or a folder.

    Attributes:
        archive: Whether the output is a tar archive.
        folder: Whether the output is a folder.
        appends: Whether an existing log is continued.
    """

    def __init__(
        self,
        target: Writable,
        compression: str | None = None,
        split_messages: int | None = None,
        split_bytes: int | None = None,
        overwrite: bool = False,
        append: AppendSettings | None = None,
        split_by: SplitBy | None = None,
        jobs: int = 1,
        live: Mapping[str, Any] | None = None,
    ) -> None:
        """Determine the kind from the target's name and the options, as in `create_log`.

        A file is compressed in `jobs` threads. `live` contains the options of a live stream.

        Raises:
            OptionError: If the options conflict.
        """
        target = plain_path(target, "wb")
        self.appends = append is not None
        self._append = append
        self._appended: AppendOutput | None = None
        self._appended_folder: AppendFolder | None = None
        self._split_by = split_by
        splits = split_messages is not None or split_bytes is not None
        split = spell_option("split_bytes" if split_messages is None else "split_messages")
        if append is not None and splits:
            raise OptionError(
                f"{spell_option('append')} and {split} cannot be combined; use one of them"
            )
        if split_by is not None and splits:
            raise OptionError(
                f"{spell_option('split_by')} and {split} cannot be combined; use one of them"
            )
        if append is not None:
            if split_by is not None and split_by.kind not in ("day", "month"):
                raise OptionError(
                    f"with {spell_option('append')}, {spell_option('split_by')} must be day or month, because "
                    "other file names depend on the order of the keys; write each run to a new folder"
                )
            check_appending(target, append, overwrite=overwrite, folder=split_by is not None)
        path = None
        self._live = None
        if is_live(target):
            folder_options = (splits, split_by, overwrite)
            if any(folder_options):
                raise OptionError(
                    f"{target} is a live stream, not a folder; omit the folder options"
                )
            from rdfm.storage.live import LiveSettings  # costly to import

            self._live = LiveSettings.from_options(live)
        elif isinstance(target, (str, os.PathLike)):
            target = path = _require_local_target(os.fspath(target))
        for name, number in (("split_messages", split_messages), ("split_bytes", split_bytes)):
            if number is not None and not (isinstance(number, int) and number >= 1):
                raise OptionError(f"{spell_option(name)} must be an integer >= 1, not {number!r}")
        self.archive = path is not None and archives.stem(path) is not None
        # Only a trailing slash denotes a new folder, because folder names may have suffixes and
        # file names may lack them.
        self.folder = (
            not self.archive
            and path is not None
            and (path.endswith(("/", os.sep)) or Path(path).is_dir())
        )
        if (splits or split_by is not None) and not self.folder:
            if self.archive:
                problem = "an archive has a member for each message; use a folder such as out/"
            elif path is None:
                problem = "the output is a stream; use a folder such as out/"
            elif not Path(path).exists():
                problem = f"{path} is not a folder; write {path}/ to create one"
            else:
                problem = f"{path} is a file; use a folder such as out/"
            if split_by is not None:
                raise OptionError(f"{spell_option('split_by')} requires a folder, but {problem}")
            raise OptionError(f"{split} requires a folder, but {problem}")
        if overwrite and not self.folder:
            raise OptionError(
                f"{spell_option('overwrite')} applies to folders; files are always replaced"
            )
        if self.folder and path is not None and Path(path).is_file():
            raise OptionError(f"{path} is a file, not a folder")
        checks_suffix = path is not None and not self.folder and compression is None
        if (
            checks_suffix
            and path is not None
            and (reason := unsupported_suffix_text(path)) is not None
        ):
            raise OptionError(
                f"{path}: {reason}",
                remedies=[remedies.UNCOMPRESSED],
            )
        implied = None if path is None or self.folder else compressions.find_by_suffix(path)
        if implied is not None and (compression or "none").partition(":")[0] not in (
            implied,
            "none",
        ):
            raise OptionError(
                f"{path} has the suffix of {implied}, but {spell_option('compression', compression)} is given; "
                "change the suffix, or omit the option"
            )
        self._target = target
        self._compression = compression
        self._split = (split_messages, split_bytes)
        self._overwrite = overwrite
        self._jobs = jobs

    def notes(self, format: Format) -> tuple[str, ...]:
        """Return a note if the name of a file has the suffix of a format other than this one."""
        named_format = formats.by_path(self._target) if isinstance(self._target, str) else None
        if named_format is None or named_format.name == format.name or self.folder or self.archive:
            return ()
        return (
            f"{self._target} has the suffix of {named_format.spec.title}, but it contains {format.spec.title}",
        )

    def create_encoder(
        self, make: Callable[..., EncoderLike], format: FormatSpec, options: Mapping[str, Any]
    ) -> Any:
        """Return the encoder of the output, built from encoders of single logs.

        Args:
            make: Creates an encoder with the options, modified by its keyword arguments.
            format: The format.
            options: The options.
        """
        if self._live is not None and options.get("delimited") in (False, "false"):
            raise OptionError(
                f"{spell_option('delimited', 'false', 'write')} is for files, not for live streams; "
                "omit it"
            )
        make_empty = None
        if "dialect" in format.options("write") and not options.get("flat"):
            # Readers that do not support messages reject a log with only `VERSION` and `MESSAGE`.
            make_empty = partial(make, dialect="comment")
        suffix = (format.suffixes or (f".{format.name}",))[0]
        single: Callable[..., EncoderLike] = make
        has_marks = "restart_bytes" in format.options("write")
        is_single = self._split == (None, None) or self._split[0] == 1
        if has_marks and is_single and options.get("restart_bytes") is None:
            # Restart marks, for reading a log from the middle, are useless in files of one message.
            single = partial(make, restart_bytes=0)
        if self.archive:
            return ArchiveEncoder(single, suffix, make_empty)
        if self.folder:
            suffix += compressions.compression_suffix(self._compression or "none")
            if self._split_by is not None and self._appended_folder is not None:
                return KeyAppender(
                    make, format, suffix, self._split_by, self._appended_folder, options
                )
            if self._split_by is not None:
                return KeyEncoder(make, format, suffix, self._split_by)
            return FolderEncoder(single, suffix, *self._split, make_empty)
        if self._appended is not None:
            self._appended.check(options)
            return self._appended.encoder(make())
        return make()

    @property
    def continued_header(self) -> Mapping[str, Any]:
        """The header of the log that is appended to, once it is open."""
        return {} if self._appended is None else self._appended.source

    def commit_seconds(self, *, may_be_endless: bool) -> int:
        """Return the interval of commits during the run, in seconds; 0 to commit only at the end.

        Args:
            may_be_endless: Whether an input may be endless.
        """
        if self._append is None:
            return 0
        default = COMMIT_SECONDS if may_be_endless else 0
        return default if self._append.commit_seconds is None else self._append.commit_seconds

    def commit_each_batch(self) -> None:
        """When appending to a log, commit as with `sync`. Call it before `create_encoder`."""
        if self._appended is not None:
            self._appended.commit_each_batch()

    def continue_stream(self, url: str, last_event_id: str | None) -> str:
        """Return the id of the event after which a stream that is appended begins.

        Raises:
            OptionError: As in `AppendOutput.continue_stream`, or if several logs are appended to.
        """
        if self._appended is None:
            raise OptionError(
                f"a stream of events can be appended to a single log only; omit {spell_option('split_by')}"
            )
        return self._appended.continue_stream(url, last_event_id)

    def count_continued(self) -> int:
        """Return the number of messages in the log that is appended to; 0 for a new log.

        Raises:
            DecodeError: If the log is invalid.
            OSError: If the log cannot be read.
        """
        return 0 if self._appended is None else self._appended.count_messages()

    def continued_batches(self) -> Iterator[AnyBatch]:
        """Yield the messages in the log that is appended to; nothing for a new log.

        Raises:
            DecodeError: If the log is invalid.
            OSError: If the log cannot be read.
        """
        return iter(()) if self._appended is None else self._appended.batches()

    def open_output(self) -> Output | FolderOutput | AppendOutput | AppendFolder | LiveTarget:
        """Return the opened output."""
        if self._live is not None:
            from rdfm.storage.live import LiveTarget

            return LiveTarget(os.fspath(self._target), self._live, self._compression)  # type: ignore[arg-type]  # a URL
        if self._append is not None and self.folder:
            path = os.fspath(self._target)  # type: ignore[arg-type]  # a path
            self._appended_folder = AppendFolder(path, self._compression, self._append)
            return self._appended_folder
        if self._append is not None:
            self._appended = AppendOutput(self._target, self._compression, self._append)
            return self._appended
        if not self.folder:
            return Output(self._target, self._compression, self._jobs)
        return FolderOutput(os.fspath(self._target), self._compression, self._overwrite)  # type: ignore[arg-type]  # a path


def _require_local_target(path: str) -> str:
    """Return the local path of an output's name."""
    local = local_target(path)
    if local is None:
        raise OptionError(
            f"cannot write to the URL {redact_url(path)}; write to a local file or folder, then copy it"
        )
    return local


def _check_process(process: int, name: str) -> None:
    """Reject an output that belongs to the process from which this one was forked."""
    if process != os.getpid():
        raise PermissionError(
            errno.EPERM,
            "opened by the parent process; create the log after the fork",
            name,
        )


@contextlib.contextmanager
def _explain_creation_errors(name: str, final: Path) -> Iterator[None]:
    """Add the name and the reason to errors from creating a file or folder next to `final`."""
    folder = final.parent
    try:
        yield
    except OSError as error:
        reason = error.strerror
        if error.errno == errno.ENOENT:
            if not folder.is_dir():
                raise FileNotFoundError(error.errno, "No such folder", str(folder)) from None
            reason = f"cannot write to {folder}"  # a system folder such as /proc
        elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            reason = f"cannot write to {folder}: {reason}"
        code = errno.EACCES if error.errno == errno.ENOENT else error.errno
        raise OSError(code, reason, name) from None  # without the temporary name


def _write_all(file: BinaryIO, data: bytes | memoryview) -> int:
    """Write all bytes, because a raw file may accept only some of them. Return their number."""
    view = memoryview(data)
    while view:
        count = file.write(view)
        # Buffered files accept all bytes; raw ones return a count; some file objects return None.
        view = view[len(view) if count is None else count :]
    return len(data)


def _keep_final_folder(staging: Path, final: Path, replaced: Path) -> None:
    """Keep the folder that has or had the final name, and remove the others.

    The call can be repeated, for example after an interruption.
    """
    if replaced.exists() and not final.exists():
        with contextlib.suppress(OSError):
            replaced.rename(final)
    else:
        _remove(replaced)
    _remove(staging)


def _remove(folder: Path) -> None:
    """Remove a folder, except files that cannot be removed."""
    import shutil  # costly to import

    # If interrupted while closing a folder, rmtree raises OSError instead of KeyboardInterrupt.
    for _ in range(2):
        with contextlib.suppress(OSError):
            shutil.rmtree(folder, ignore_errors=True)
            return


def _finalize_folder(
    process: int, name: str, folders: tuple[Path, Path, Path], open_files: list[BinaryIO]
) -> None:
    """Remove the folder of an unclosed writer, when it is garbage collected or Python exits."""
    for file in open_files:
        with contextlib.suppress(OSError):
            file.close()
    if process != os.getpid():
        return
    is_unfinished = folders[0].exists()
    _keep_final_folder(*folders)
    if is_unfinished:
        warnings.warn(
            f"the logs in {name} were not closed, so their content is lost; use a with block",
            ResourceWarning,
            stacklevel=2,
        )


def _finalize(process: int, name: str, temporary: Path, open_files: list[BinaryIO]) -> None:
    """Remove the file of an unclosed writer, when it is garbage collected or Python exits."""
    for file in open_files:
        with contextlib.suppress(OSError):
            file.close()
    if process != os.getpid():  # a forked process
        return
    with contextlib.suppress(OSError, ValueError):  # or an invalid file name
        temporary.unlink()
        warnings.warn(
            f"the log {name} was not closed, so its content is lost; use a with block",
            ResourceWarning,
            stacklevel=2,
        )


def remove_unfinished() -> None:
    """Remove incomplete outputs, when a process exits without waiting for its writers."""
    for output in list(_UNFINISHED):
        if output._finalizer is not None:
            with contextlib.suppress(Exception):
                output._finalizer()  # does nothing after commit or discard


def _truncate_name(name: str, count: int) -> str:
    """Return the first `count` bytes of a file name, without an incomplete UTF-8 character.

    File systems allow 255 bytes.
    """
    return os.fsdecode(os.fsencode(name)[:count].decode("utf-8", "ignore").encode())


def _find_free_name(final: Path) -> Path:
    """Return the first of `NAME.partial`, `NAME.partial.1` … that does not exist."""
    for count in itertools.count():
        suffix = f".partial.{count}" if count else ".partial"
        name = final.name
        if len(os.fsencode(name)) + len(suffix) > NAME_BYTES:
            name = _truncate_name(name, NAME_BYTES - len(suffix))
        partial = final.with_name(name + suffix)
        if not partial.exists():
            return partial
    raise AssertionError


def output_format(target: Writable, name: str | None = None, kind: str = "messages") -> Format:
    """Find the format to write: by its name, or by the target's suffix if there is no name.

    Archives without another suffix get the default format of the kind.

    Raises:
        UnknownFormatError: If the format cannot be determined, or the name is unknown.
    """
    if is_live(target):
        if name is not None and formats.find(name).name != _LIVE_FORMAT:
            raise OptionError(f"live streams are in Jelly, not {name}; omit the format")
        return formats.find(_LIVE_FORMAT)
    if name is not None:
        return formats.find(name)
    path = _target_path(target)
    if path is not None and (inner := archives.stem(path)) is not None:
        return formats.by_path(inner) or formats.find(DEFAULT_FORMATS[kind])
    if path is not None and (format := formats.by_path(path.rstrip("/" + os.sep))) is not None:
        return format  # for a folder such as log.nq/, the format of its files
    if path is not None and (advice := writing_advice(path, kind)) is not None:
        raise UnknownFormatError(f"{path}: {advice.text}", remedies=advice.remedies)
    if path is not None and (suffix := formats.similar_suffix(path, kind)) is not None:
        raise UnknownFormatError(
            f"{path}: the name does not identify a format; did you mean {suffix}?"
        )
    names = [spec.name for spec in formats.specs() if kind in spec.kinds]
    if path in names:
        raise UnknownFormatError(
            f"{path} is a format, not the name of a file; write a name such as out{formats.find(path).spec.suffixes[0]}",
            remedies=[remedies.format_remedy("to", [path])],
        )
    raise UnknownFormatError(
        "the output format is not given"
        if path is None
        else f"{path}: the name does not identify a format",
        remedies=[remedies.format_remedy("to", names)],
    )


def _target_path(target: Writable) -> str | None:
    """Return the path or URL of a target; None for a file object."""
    if is_open_file(target):
        return open_file_name(target)
    return os.fspath(target) if isinstance(target, (str, os.PathLike)) else None


def reject_other_format_names(options: Mapping[str, Any], keyword: str) -> None:
    """Reject options that look like the format to write, which is `keyword`.

    Raises:
        OptionError: If there is such an option.
    """
    meant = {"to_format": keyword, "to": keyword, "format": f"from_format or {keyword}"}
    for name in meant.keys() - {keyword}:
        if name in options:
            raise OptionError(f"there is no option '{name}'; did you mean {meant[name]}?")


def suffix_options(target: Writable, format: FormatSpec) -> Mapping[str, Any]:
    """Return encoder options implied by a target's suffix, or by the URL of a live stream."""
    if is_live(target):
        from rdfm.storage.live import LiveAddress

        topic = LiveAddress.parse(os.fspath(target)).topic  # type: ignore[arg-type]  # a URL
        return {"stream_name": topic, "restart_bytes": 0}
    name = (_target_path(target) or "").lower()
    if not format.suffix_options or not name:
        return {}
    matching = (
        options for suffix, options in format.suffix_options.items() if name.endswith(suffix)
    )
    return next(matching, {})


def _block_compressor(name: str | None, jobs: int) -> compressions.BlockCompressor | None:
    return None if name is None or name == "none" else compressions.BlockCompressor(name, jobs)


def _compressor(name: str | None) -> compressions.Compressor | None:
    return None if name is None or name == "none" else compressions.compressor(name)
