"""Where logs lie: files and folders, of this machine or behind any URL that fsspec knows.

In: paths and URLs. Out: what is there; and for a writer the few operations of a commit: a file written whole
or not at all, and renames.
"""

from __future__ import annotations

import contextlib
import glob
import os
import re
import shutil
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from rdfm.errors import MissingExtraError, OptionError
from rdfm.storage.paths import local_path

__all__ = ["File", "LocalStorage", "RemoteStorage", "Storage", "storage_of", "without_library"]


@dataclass(frozen=True)
class File:
    """A file that was found.

    Attributes:
        path: Its path or URL, as `open_log` takes it.
        size: Its bytes.
        modified: When it was last written, in seconds since 1970; None where that is not known.
        plain: Whether it is no pipe, device or socket, which may wait for ever when it is opened.
    """

    path: str
    size: int
    modified: float | None
    plain: bool = field(default=True, repr=False)


class Storage(Protocol):
    """Files and folders of one place. Missing files are `FileNotFoundError`."""

    def find(self, pattern: str) -> dict[str, File | None]:
        """What matches a glob without `{a,b}`, by path: a file, or None for a folder."""

    def status(self, path: str) -> File | None:
        """A file, or None where the path is a folder."""

    def files(self, folder: str, *, recursive: bool = False) -> Iterator[File]:
        """The files in a folder, those in the folders in it too if `recursive`; hidden ones too."""

    def names(self, folder: str) -> list[str]:
        """The names in a folder, in order; nothing where there is no such folder."""

    def exists(self, path: str) -> bool:
        """Whether a file or folder is there."""

    def folder_time(self, path: str) -> float | None:
        """When names in a folder last changed, in seconds since 1970; None where that is not known."""

    def make_folder(self, path: str, above: bool = True) -> None:
        """Make a folder where it is not there, and if `above` those above it: else they must be there."""

    def open_new(self, path: str) -> BinaryIO:
        """Open a file that is not there yet, for writing."""

    def finish(self, file: BinaryIO) -> None:
        """Close a file of `open_new` when its bytes are where they stay."""

    def read_whole(self, path: str) -> bytes:
        """A small file's bytes."""

    def write_whole(self, path: str, data: bytes) -> None:
        """Write a small file so that it is there whole or not at all, whatever happens meanwhile."""

    def create_whole(self, path: str, data: bytes) -> bool:
        """Write a small file as `write_whole` does, unless it is there: True for the one who wrote it."""

    def rename(self, old: str, new: str) -> None:
        """Give a file another name in the same storage; a file of that name is replaced."""

    def remove(self, path: str) -> None:
        """Remove a file; nothing happens where there is none."""

    def remove_folder(self, path: str) -> None:
        """Remove a folder and what is in it; nothing happens where there is none."""


class LocalStorage:
    """Files and folders of this machine, and of the disks it shares with others."""

    def find(self, pattern: str) -> dict[str, File | None]:
        """What matches a glob."""
        found: dict[str, File | None] = {}
        for path in glob.iglob(pattern, recursive=True):  # noqa: PTH207 - of absolute patterns too
            with contextlib.suppress(FileNotFoundError):  # gone since, or a link to nothing
                found[path] = self.status(path)
        return found

    def status(self, path: str) -> File | None:
        """A file, or None where the path is a folder."""
        status = Path(path).stat()
        return None if stat.S_ISDIR(status.st_mode) else _local(path, status)

    def files(self, folder: str, *, recursive: bool = False) -> Iterator[File]:
        """The files in a folder."""
        with os.scandir(folder) as entries:
            for entry in entries:
                if not entry.is_dir():
                    try:
                        status = entry.stat()
                    except FileNotFoundError:  # gone since, or a link to nothing
                        continue
                    yield _local(entry.path, status)
                elif recursive and not entry.is_symlink():
                    with contextlib.suppress(FileNotFoundError):  # gone since
                        yield from self.files(entry.path, recursive=True)

    def names(self, folder: str) -> list[str]:
        """The names in a folder, in order."""
        try:
            return sorted(path.name for path in Path(folder).iterdir())
        except FileNotFoundError:
            return []

    def exists(self, path: str) -> bool:
        """Whether a file or folder is there."""
        return Path(path).exists()

    def folder_time(self, path: str) -> float | None:
        """When names in a folder last changed."""
        with contextlib.suppress(FileNotFoundError):
            return Path(path).stat().st_mtime
        return None

    def make_folder(self, path: str, above: bool = True) -> None:
        """Make a folder."""
        Path(path).mkdir(parents=above, exist_ok=True)

    def open_new(self, path: str) -> BinaryIO:
        """Open a file that is not there yet, for writing."""
        # Unbuffered: a process forked meanwhile holds nothing that it would write.
        return Path(path).open("xb", buffering=0)

    def finish(self, file: BinaryIO) -> None:
        """Close a file when its bytes are on the disk."""
        with file:
            file.flush()
            os.fsync(file.fileno())

    def read_whole(self, path: str) -> bytes:
        """A small file's bytes."""
        return Path(path).read_bytes()

    def write_whole(self, path: str, data: bytes) -> None:
        """Write a small file beside its place, and rename it when it is on the disk."""
        with self._beside(path, data) as temporary:
            temporary.replace(path)
        _keep_names(Path(path).parent)

    def create_whole(self, path: str, data: bytes) -> bool:
        """Write a small file beside its place, and link it there when it is on the disk."""
        with self._beside(path, data) as temporary:
            try:
                Path(path).hardlink_to(temporary)
            except FileExistsError:
                return False
            except OSError:  # a file system without links
                if self.exists(path):
                    return False
                temporary.replace(path)
        _keep_names(Path(path).parent)
        return True

    @contextlib.contextmanager
    def _beside(self, path: str, data: bytes) -> Iterator[Path]:
        """A file with these bytes in the folder of a path, for the time of the block."""
        final = Path(path)
        temporary = final.with_name(f".{final.name}.{os.urandom(6).hex()}.tmp")
        try:
            with temporary.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            yield temporary
        finally:
            temporary.unlink(missing_ok=True)

    def rename(self, old: str, new: str) -> None:
        """Give a file another name."""
        os.replace(old, new)  # noqa: PTH105 - both are plain strings here

    def remove(self, path: str) -> None:
        """Remove a file."""
        Path(path).unlink(missing_ok=True)

    def remove_folder(self, path: str) -> None:
        """Remove a folder and what is in it."""
        shutil.rmtree(path, ignore_errors=True)


class RemoteStorage:
    """What fsspec reaches.

    A file put into an object store is whole or not there. Elsewhere it is written beside its place, and
    renamed.
    """

    def __init__(self, url: str, options: Mapping[str, Any]) -> None:
        """Connect to the storage of a URL; `options` are fsspec's, such as credentials."""
        try:
            from fsspec import AbstractFileSystem
            from fsspec.core import url_to_fs
        except ImportError as error:
            raise MissingExtraError(f"{url} needs fsspec: pip install 'rdfm[fsspec]'") from error
        try:
            self._files, path = url_to_fs(url, **options)
        except ImportError as error:
            raise MissingExtraError(f"{url} needs another package: {error}") from error
        except (ValueError, TypeError) as error:
            raise OptionError(f"cannot reach {url}: {error}") from error
        except OSError as error:
            raise without_library(url, error) from error
        self._renames = type(self._files).mv is not AbstractFileSystem.mv
        # What fsspec leaves out of its paths, such as scheme and host; None where that is not clear.
        before = url.rstrip("/").removesuffix(path.strip("/"))
        self._before = before if before.endswith("/") else None

    def find(self, pattern: str) -> dict[str, File | None]:
        """What matches a glob."""
        found: dict[str, File | None] = {}
        for name, info in self._files.glob(pattern, detail=True).items():
            url = self._url(name)
            known = info["type"] == "directory" or info.get("size") is not None
            found[url] = self._file(info, url) if known else self.status(url)
        return found

    def status(self, path: str) -> File | None:
        """A file, or None where the URL is a folder."""
        return self._file(self._files.info(path), path)

    def files(self, folder: str, *, recursive: bool = False) -> Iterator[File]:
        """The files in a folder."""
        self._files.invalidate_cache()
        found = self._files.find(folder, maxdepth=None if recursive else 1, detail=True)
        base = self._files._strip_protocol(folder)
        for name, info in found.items():
            # As the folder was called, which fsspec may do in another way.
            url = folder.rstrip("/") + name.removeprefix(base.rstrip("/"))
            if (file := self._file(info, url)) is not None:
                yield file

    def names(self, folder: str) -> list[str]:
        """The names in a folder, in order."""
        self._files.invalidate_cache()
        try:
            found = self._files.ls(folder, detail=False)
        except FileNotFoundError:
            return []
        return sorted(path.rstrip("/").rsplit("/", 1)[-1] for path in found)

    def exists(self, path: str) -> bool:
        """Whether a file or folder is there."""
        self._files.invalidate_cache()
        there: bool = self._files.exists(path)
        return there

    def folder_time(self, path: str) -> float | None:
        """When names in a folder last changed, where the storage has folders."""
        with contextlib.suppress(FileNotFoundError):
            return _modified(self._files.info(path))
        return None

    def make_folder(self, path: str, above: bool = True) -> None:
        """Make a folder, where the storage has folders."""
        if above or not self._renames:
            self._files.makedirs(path, exist_ok=True)
        else:  # there are real folders
            with contextlib.suppress(FileExistsError):
                self._files.mkdir(path, create_parents=False)

    def open_new(self, path: str) -> BinaryIO:
        """Open a file for writing; it is there when it is closed."""
        file: BinaryIO = self._files.open(path, "wb")
        return file

    def finish(self, file: BinaryIO) -> None:
        """Close a file, which puts it there."""
        file.close()

    def read_whole(self, path: str) -> bytes:
        """A small file's bytes."""
        data: bytes = self._files.cat_file(path)
        return data

    def write_whole(self, path: str, data: bytes) -> None:
        """Write a small file at once, or beside its place and rename it."""
        if not self._renames:
            self._files.pipe_file(path, data)
            return
        with self._beside(path, data) as temporary:
            self._files.mv(temporary, path)

    def create_whole(self, path: str, data: bytes) -> bool:
        """Write a small file as `write_whole` does, unless it is there.

        Storages with renames, and those whose fsspec cannot create a file only where none is, may give
        True to two at a time.
        """
        if not self._renames:
            self._files.invalidate_cache()
            try:
                self._files.pipe_file(path, data, mode="create")
            except FileExistsError:
                return False
            return True
        with self._beside(path, data) as temporary:
            if self.exists(path):
                return False
            self._files.mv(temporary, path)
        return True

    @contextlib.contextmanager
    def _beside(self, path: str, data: bytes) -> Iterator[str]:
        """A file with these bytes in the folder of a path, for the time of the block."""
        folder, _, name = path.rpartition("/")
        temporary = f"{folder}/.{name}.{os.urandom(6).hex()}.tmp"
        try:
            self._files.pipe_file(temporary, data)
            yield temporary
        finally:
            with contextlib.suppress(Exception):  # it has another name now
                self._files.rm_file(temporary)

    def rename(self, old: str, new: str) -> None:
        """Give a file another name: a copy and a removal where the storage has no renames."""
        if self._renames:
            self._files.mv(old, new)
        else:  # the general mv takes names for globs
            self._files.cp_file(old, new)
            self._files.rm_file(old)

    def remove(self, path: str) -> None:
        """Remove a file."""
        with contextlib.suppress(FileNotFoundError):
            self._files.rm_file(path)

    def remove_folder(self, path: str) -> None:
        """Remove a folder and what is in it."""
        with contextlib.suppress(FileNotFoundError):
            self._files.rm(path, recursive=True)

    def _url(self, name: str) -> str:
        """The URL of what fsspec calls so."""
        if self._before is None:
            url: str = self._files.unstrip_protocol(name)
            return url
        return self._before + name.lstrip("/")

    def _file(self, info: Mapping[str, Any], url: str) -> File | None:
        if info["type"] == "directory":
            return None
        return File(url, info["size"] or 0, _modified(info), info["type"] != "other")


def _local(path: str, status: os.stat_result) -> File:
    return File(path, status.st_size, status.st_mtime, stat.S_ISREG(status.st_mode))


def _modified(info: Mapping[str, Any]) -> float | None:
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


def _keep_names(folder: Path) -> None:
    """Put a folder's new names on the disk, where the system can do that."""
    with contextlib.suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def without_library(url: str, error: OSError) -> Exception:
    """Give the error to raise where pyarrow could not reach a URL: a sentence where it lacks a library.

    Its own text then lists every place that it looked at.
    """
    missing = re.match(r"Unable to load (\w+)\n", str(error))
    if missing is None:
        return error
    return MissingExtraError(
        f"{url} needs the native library {missing[1]}, which is not found; install Hadoop and Java here, "
        "and set HADOOP_HOME, JAVA_HOME, and CLASSPATH to what `hadoop classpath --glob` prints; "
        "webhdfs://HOST:PORT/PATH needs none of these"
    )


def storage_of(path: str, options: Mapping[str, Any] | None = None) -> tuple[Storage, str]:
    """Give the storage of a path or URL, and the path as it is called there.

    Args:
        path: A path or URL.
        options: fsspec's for that kind of URL, such as credentials.

    Raises:
        MissingExtraError: The URL needs a package that is not installed.
        OptionError: fsspec does not know the URL or an option.
    """
    local = local_path(path)
    if local is not None:
        return LocalStorage(), local
    return RemoteStorage(path, options or {}), path
