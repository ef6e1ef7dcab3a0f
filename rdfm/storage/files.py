"""Files and folders on this machine, on web servers, or at any URL that fsspec supports.

In: paths and URLs. Out: the files and folders there; for writers, the operations of a commit
(atomic writes and renames).
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from rdfm.errors import MissingExtraError, OptionError, name_in_errors
from rdfm.storage.addresses import is_web, redact_url
from rdfm.storage.paths import local_path

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["File", "LocalStorage", "RemoteStorage", "Storage", "access_error", "find_storage"]


@dataclass(frozen=True)
class File:
    """A file that was found.

    Attributes:
        path: Its path or URL, in the form that `open_log` accepts.
        size: Its size in bytes.
        modified: The time of its last modification, in seconds since 1970; None if unknown.
        plain: Whether the file is regular. Opening a pipe, device or socket may block forever.
    """

    path: str
    size: int
    modified: float | None
    plain: bool = field(default=True, repr=False)


class Storage(Protocol):
    """Access to the files and folders of one storage. Missing files raise `FileNotFoundError`.

    Attributes:
        is_remote: Whether each call waits for a server. Then several threads may call at once.
    """

    is_remote: bool

    def find(self, pattern: str) -> dict[str, File | None]:
        """Return the files that match a glob without `{a,b}`, by path; None for each folder."""

    def status(self, path: str) -> File | None:
        """Return a file, or None if the path is a folder."""

    def list_files(self, folder: str, *, recursive: bool = False) -> Iterator[File]:
        """Yield the files in a folder, including hidden ones, and in subfolders if `recursive`."""

    def list_names(self, folder: str) -> list[str]:
        """Return the names in a folder, in order; empty if the folder does not exist."""

    def exists(self, path: str) -> bool:
        """Whether a file or folder exists."""

    def folder_time(self, path: str) -> float | None:
        """Return the last modification time of a folder, in seconds since 1970; None if unknown."""

    def make_folder(self, path: str, parents: bool = True) -> None:
        """Create a folder if it does not exist, and its parents if `parents` is true."""

    def open_new(self, path: str) -> BinaryIO:
        """Open a new file for writing."""

    def finish(self, file: BinaryIO) -> None:
        """Close a file from `open_new` once its bytes are durable."""

    def open_existing(self, path: str) -> BinaryIO:
        """Open an existing file for reading."""

    def read_file(self, path: str) -> bytes:
        """Return the bytes of a small file."""

    def write_file(self, path: str, data: bytes) -> None:
        """Write a small file atomically."""

    def create_file(self, path: str, data: bytes) -> bool:
        """Write a small file atomically unless it exists, and return whether it was written."""

    def rename(self, old: str, new: str) -> None:
        """Rename a file in the same storage; an existing file with the new name is replaced."""

    def remove(self, path: str) -> None:
        """Remove a file if it exists."""

    def remove_folder(self, path: str) -> None:
        """Remove a folder and its content if it exists."""


class LocalStorage:
    """Files and folders on local and mounted disks."""

    is_remote = False

    def find(self, pattern: str) -> dict[str, File | None]:
        """Return the matches of a glob."""
        import glob  # costly to import

        matches: dict[str, File | None] = {}
        for path in glob.iglob(pattern, recursive=True):  # noqa: PTH207 - also for absolute patterns
            with contextlib.suppress(FileNotFoundError):  # deleted by now, or a broken link
                matches[path] = self.status(path)
        return matches

    def status(self, path: str) -> File | None:
        """Return a file, or None if the path is a folder."""
        status = Path(path).stat()
        return None if stat.S_ISDIR(status.st_mode) else _local(path, status)

    def list_files(self, folder: str, *, recursive: bool = False) -> Iterator[File]:
        """Yield the files in a folder."""
        with os.scandir(folder) as entries:
            for entry in entries:
                if not entry.is_dir():
                    try:
                        status = entry.stat()
                    except FileNotFoundError:  # deleted by now, or a broken link
                        continue
                    yield _local(entry.path, status)
                elif recursive and not entry.is_symlink():
                    with contextlib.suppress(FileNotFoundError):  # deleted by now
                        yield from self.list_files(entry.path, recursive=True)

    def list_names(self, folder: str) -> list[str]:
        """Return the names in a folder, in order."""
        try:
            return sorted(path.name for path in Path(folder).iterdir())
        except FileNotFoundError:
            return []

    def exists(self, path: str) -> bool:
        """Whether a file or folder exists."""
        return Path(path).exists()

    def folder_time(self, path: str) -> float | None:
        """Return the last modification time of a folder."""
        with contextlib.suppress(FileNotFoundError):
            return Path(path).stat().st_mtime
        return None

    def make_folder(self, path: str, parents: bool = True) -> None:
        """Create a folder."""
        Path(path).mkdir(parents=parents, exist_ok=True)

    def open_new(self, path: str) -> BinaryIO:
        """Open a new file for writing."""
        return _NewFile(path, "x")

    def finish(self, file: BinaryIO) -> None:
        """Close a file after its bytes are on disk."""
        with file, name_in_errors(file.name):
            file.flush()
            os.fsync(file.fileno())

    def open_existing(self, path: str) -> BinaryIO:
        """Open an existing file for reading."""
        return Path(path).open("rb")

    def read_file(self, path: str) -> bytes:
        """Return the bytes of a small file."""
        return Path(path).read_bytes()

    def write_file(self, path: str, data: bytes) -> None:
        """Write a small file under a temporary name, and rename it when it is on disk."""
        with self._temporary_file(path, data) as temporary:
            temporary.replace(path)
        _sync_folder(Path(path).parent)

    def create_file(self, path: str, data: bytes) -> bool:
        """Write a small file under a temporary name, and link it to its name when it is on disk."""
        with self._temporary_file(path, data) as temporary:
            try:
                Path(path).hardlink_to(temporary)
            except FileExistsError:
                return False
            except OSError:  # a file system without links
                if self.exists(path):
                    return False
                temporary.replace(path)
        _sync_folder(Path(path).parent)
        return True

    @contextlib.contextmanager
    def _temporary_file(self, path: str, data: bytes) -> Iterator[Path]:
        """Provide a temporary file with these bytes, in the folder of a path, during the block."""
        final = Path(path)
        temporary = final.with_name(f".{final.name}.{os.urandom(6).hex()}.tmp")
        try:
            with name_in_errors(path), temporary.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            yield temporary
        finally:
            temporary.unlink(missing_ok=True)

    def rename(self, old: str, new: str) -> None:
        """Rename a file."""
        os.replace(old, new)  # noqa: PTH105 - both are plain strings here

    def remove(self, path: str) -> None:
        """Remove a file."""
        Path(path).unlink(missing_ok=True)

    def remove_folder(self, path: str) -> None:
        """Remove a folder and its content."""
        import shutil  # costly to import

        shutil.rmtree(path, ignore_errors=True)


class _NewFile(FileIO):
    """A local file for writing, whose errors name it.

    It is unbuffered, so that a forked process has no buffered data to write.
    """

    def write(self, data: Buffer, /) -> int:
        """Write all bytes, and return their number. The system may write only some, as on a full disk."""
        rest = memoryview(data).cast("B")
        size = len(rest)
        with name_in_errors(str(self.name)):
            while rest:
                rest = rest[super().write(rest) :]
        return size


class RemoteStorage:
    """Files and folders accessed through fsspec.

    Writes to an object store are atomic. On other storages, files are written under a temporary
    name and renamed.
    """

    is_remote = True

    def __init__(self, url: str, options: Mapping[str, Any]) -> None:
        """Connect to the storage of a URL; `options` are those of fsspec, such as credentials."""
        try:
            from fsspec import AbstractFileSystem
            from fsspec.core import url_to_fs
        except ImportError as error:
            raise MissingExtraError(
                f"{redact_url(url)} needs fsspec: pip install 'rdfm[fsspec]'"
            ) from error
        try:
            self._files, path = url_to_fs(url, **options)
        except ImportError as error:
            raise MissingExtraError(f"{redact_url(url)} needs another package: {error}") from error
        except (ValueError, TypeError) as error:
            # fsspec knows this scheme only if its package is installed.
            if url.startswith("abfss://") and "Protocol not known" in str(error):
                raise MissingExtraError(
                    f"{redact_url(url)} needs another package: Install adlfs to access Azure storage"
                ) from error
            raise OptionError(f"cannot reach {redact_url(url)}: {error}") from error
        except OSError as error:
            raise access_error(url, error) from error
        self._renames = type(self._files).mv is not AbstractFileSystem.mv
        # The prefix that fsspec omits from its paths, such as scheme and host; None if ambiguous.
        prefix = url.rstrip("/").removesuffix(path.strip("/"))
        self._prefix = prefix if prefix.endswith("/") else None

    def find(self, pattern: str) -> dict[str, File | None]:
        """Return the matches of a glob."""
        matches: dict[str, File | None] = {}
        for name, info in self._files.glob(pattern, detail=True).items():
            url = self._url(name)
            has_type = info["type"] == "directory" or info.get("size") is not None
            matches[url] = self._file(info, url) if has_type else self.status(url)
        return matches

    def status(self, path: str) -> File | None:
        """Return a file, or None if the path is a folder."""
        return self._file(self._files.info(path), path)

    def list_files(self, folder: str, *, recursive: bool = False) -> Iterator[File]:
        """Yield the files in a folder."""
        self._files.invalidate_cache()
        entries = self._files.find(folder, maxdepth=None if recursive else 1, detail=True)
        base = self._files._strip_protocol(folder)
        for name, info in entries.items():
            # Keeps the given spelling of the folder, because fsspec may return another.
            url = folder.rstrip("/") + name.removeprefix(base.rstrip("/"))
            if (file := self._file(info, url)) is not None:
                yield file

    def list_names(self, folder: str) -> list[str]:
        """Return the names in a folder, in order."""
        self._files.invalidate_cache()
        try:
            paths = self._files.ls(folder, detail=False)
        except FileNotFoundError:
            return []
        return sorted(path.rstrip("/").rsplit("/", 1)[-1] for path in paths)

    def exists(self, path: str) -> bool:
        """Whether a file or folder exists."""
        self._files.invalidate_cache()
        exists: bool = self._files.exists(path)
        return exists

    def folder_time(self, path: str) -> float | None:
        """Return the last modification time of a folder, if the storage has folders."""
        with contextlib.suppress(FileNotFoundError):
            return _modified_time(self._files.info(path))
        return None

    def make_folder(self, path: str, parents: bool = True) -> None:
        """Create a folder, if the storage has folders."""
        if parents or not self._renames:
            self._files.makedirs(path, exist_ok=True)
        else:  # a storage with real folders
            with contextlib.suppress(FileExistsError):
                self._files.mkdir(path, create_parents=False)

    def open_new(self, path: str) -> BinaryIO:
        """Open a file for writing; it appears when it is closed."""
        file: BinaryIO = self._files.open(path, "wb")
        return file

    def finish(self, file: BinaryIO) -> None:
        """Close a file, which makes it appear."""
        file.close()

    def open_existing(self, path: str) -> BinaryIO:
        """Open an existing file for reading."""
        file: BinaryIO = self._files.open(path, "rb")
        return file

    def read_file(self, path: str) -> bytes:
        """Return the bytes of a small file."""
        data: bytes = self._files.cat_file(path)
        return data

    def write_file(self, path: str, data: bytes) -> None:
        """Write a small file directly, or under a temporary name that is then renamed."""
        if not self._renames:
            self._files.pipe_file(path, data)
            return
        with self._temporary_file(path, data) as temporary:
            self._files.mv(temporary, path)

    def create_file(self, path: str, data: bytes) -> bool:
        """Write a small file like `write_file`, unless it exists.

        If the storage has renames, or fsspec does not support exclusive creation for it, two
        concurrent calls may both return True.
        """
        if not self._renames:
            self._files.invalidate_cache()
            try:
                self._files.pipe_file(path, data, mode="create")
            except FileExistsError:
                return False
            return True
        with self._temporary_file(path, data) as temporary:
            if self.exists(path):
                return False
            self._files.mv(temporary, path)
        return True

    @contextlib.contextmanager
    def _temporary_file(self, path: str, data: bytes) -> Iterator[str]:
        """Provide a temporary file with these bytes, in the folder of a path, during the block."""
        folder, _, name = path.rpartition("/")
        temporary = f"{folder}/.{name}.{os.urandom(6).hex()}.tmp"
        try:
            self._files.pipe_file(temporary, data)
            yield temporary
        finally:
            with contextlib.suppress(Exception):  # it was renamed
                self._files.rm_file(temporary)

    def rename(self, old: str, new: str) -> None:
        """Rename a file; if the storage has no renames, copy and remove it."""
        if self._renames:
            self._files.mv(old, new)
        else:  # the generic mv interprets names as globs
            self._files.cp_file(old, new)
            self._files.rm_file(old)

    def remove(self, path: str) -> None:
        """Remove a file."""
        with contextlib.suppress(FileNotFoundError):
            self._files.rm_file(path)

    def remove_folder(self, path: str) -> None:
        """Remove a folder and its content."""
        with contextlib.suppress(FileNotFoundError):
            self._files.rm(path, recursive=True)

    def _url(self, name: str) -> str:
        """Return the URL of an fsspec path."""
        if self._prefix is None:
            url: str = self._files.unstrip_protocol(name)
            return url
        return self._prefix + name.lstrip("/")

    def _file(self, info: Mapping[str, Any], url: str) -> File | None:
        if info["type"] == "directory":
            return None
        return File(url, info["size"] or 0, _modified_time(info), info["type"] != "other")


def _local(path: str, status: os.stat_result) -> File:
    return File(path, status.st_size, status.st_mtime, stat.S_ISREG(status.st_mode))


def _modified_time(info: Mapping[str, Any]) -> float | None:
    modified = next(
        (
            info[key]
            for key in ("mtime", "LastModified", "last_modified", "updated", "created")
            if key in info
        ),
        None,
    )
    if isinstance(modified, datetime):
        modified = modified.timestamp()
    return float(modified) if isinstance(modified, (int, float)) else None


def _sync_folder(folder: Path) -> None:
    """Sync a folder to disk, if the system supports it."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def access_error(url: str, error: OSError) -> Exception:
    """Return the error for a URL that pyarrow cannot access.

    If a library is missing, the error text is short, unlike pyarrow's list of all searched paths.
    """
    missing = re.match(r"Unable to load (\w+)\n", str(error))
    if missing is None:
        return error
    return MissingExtraError(
        f"{redact_url(url)} needs the native library {missing[1]}, which was not found; install Hadoop and Java, "
        "and set HADOOP_HOME, JAVA_HOME, and CLASSPATH to the output of `hadoop classpath --glob`; "
        "webhdfs://HOST:PORT/PATH needs none of these"
    )


def find_storage(path: str, options: Mapping[str, Any] | None = None) -> tuple[Storage, str]:
    """Return the storage of a path or URL, and the path in the form of that storage.

    Args:
        path: A path or URL.
        options: Options of fsspec for that kind of URL, such as credentials.

    Raises:
        MissingExtraError: If the URL needs a package that is not installed.
        OptionError: If fsspec does not support the URL or an option.
    """
    local = local_path(path)
    if local is not None:
        return LocalStorage(), local
    if is_web(path):
        from rdfm.storage.web import WebStorage

        return WebStorage(options or {}), path
    return RemoteStorage(path, options or {}), path
