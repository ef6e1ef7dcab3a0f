"""Where logs lie: files and folders, of this machine or behind any URL that fsspec knows.

In: paths and URLs. Out: the files that stand for an input, in natural order; and for a writer the few
operations of a commit: a file written whole or not at all, and renames.
Cost: one listing of each folder. Law: what was asked for and is not there is an error, never nothing.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from rdfm.errors import MissingExtraError, OptionError

__all__ = ["File", "Storage", "find_files", "local_path", "storage_of"]

_MAGIC = re.compile(r"[*?\[{]")


@dataclass(frozen=True)
class File:
    """A file that was found.

    Attributes:
        path: Its path or URL, as `open_log` takes it.
        size: Its bytes.
        modified: When it was last written, in seconds since 1970; None where that is not known.
    """

    path: str
    size: int
    modified: float | None


class Storage(Protocol):
    """Files and folders of one place. Missing files are `FileNotFoundError`."""

    def find(self, pattern: str) -> list[str]:
        """The paths that match a glob."""

    def status(self, path: str) -> File | None:
        """A file, or None where the path is a folder."""

    def files(self, folder: str, *, recursive: bool = False) -> Iterator[File]:
        """The files in a folder, those in the folders in it too if `recursive`; hidden ones too."""

    def names(self, folder: str) -> list[str]:
        """The names in a folder, in order; nothing where there is no such folder."""

    def exists(self, path: str) -> bool:
        """Whether a file or folder is there."""

    def make_folder(self, path: str) -> None:
        """Make a folder and those above it, where they are not there."""

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

    def find(self, pattern: str) -> list[str]:
        """The paths that match a glob."""
        return [path for one in _alternatives(pattern) for path in glob.glob(one, recursive=True)]  # noqa: PTH207 - of absolute patterns too

    def status(self, path: str) -> File | None:
        """A file, or None where the path is a folder."""
        status = Path(path).stat()
        if Path(path).is_dir():
            return None
        return File(path, status.st_size, status.st_mtime)

    def files(self, folder: str, *, recursive: bool = False) -> Iterator[File]:
        """The files in a folder."""
        with os.scandir(folder) as entries:
            for entry in entries:
                if not entry.is_dir():
                    try:
                        status = entry.stat()
                    except FileNotFoundError:  # gone since, or a link to nothing
                        continue
                    yield File(entry.path, status.st_size, status.st_mtime)
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

    def make_folder(self, path: str) -> None:
        """Make a folder and those above it."""
        Path(path).mkdir(parents=True, exist_ok=True)

    def open_new(self, path: str) -> BinaryIO:
        """Open a file that is not there yet, for writing."""
        return Path(path).open("xb")

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
    """What fsspec reaches. A file put there is whole or not there, in every object store."""

    def __init__(self, url: str, options: Mapping[str, Any]) -> None:
        """Connect to the storage of a URL; `options` are fsspec's, such as credentials."""
        try:
            from fsspec import AbstractFileSystem
            from fsspec.core import url_to_fs
        except ImportError as error:
            raise MissingExtraError(f"{url} needs fsspec: pip install 'rdfm[fsspec]'") from error
        try:
            self._files, _ = url_to_fs(url, **options)
        except ImportError as error:
            raise MissingExtraError(f"{url} needs another package: {error}") from error
        except (ValueError, TypeError) as error:
            raise OptionError(f"cannot reach {url}: {error}") from error
        self._renames = type(self._files).mv is not AbstractFileSystem.mv

    def find(self, pattern: str) -> list[str]:
        """The URLs that match a glob."""
        found = [path for one in _alternatives(pattern) for path in self._files.glob(one)]
        return [self._files.unstrip_protocol(path) for path in found]

    def status(self, path: str) -> File | None:
        """A file, or None where the URL is a folder."""
        return self._file(self._files.info(path))

    def files(self, folder: str, *, recursive: bool = False) -> Iterator[File]:
        """The files in a folder."""
        self._files.invalidate_cache()
        found = self._files.find(folder, maxdepth=None if recursive else 1, detail=True)
        base = self._files._strip_protocol(folder)
        for name, info in found.items():
            if (file := self._file(info)) is not None:
                # As the folder was called, which fsspec may do in another way.
                yield replace(file, path=folder.rstrip("/") + name.removeprefix(base.rstrip("/")))

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

    def make_folder(self, path: str) -> None:
        """Make a folder, where the storage has folders."""
        self._files.makedirs(path, exist_ok=True)

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
        """Write a small file at once."""
        self._files.pipe_file(path, data)

    def create_whole(self, path: str, data: bytes) -> bool:
        """Write a small file at once, unless it is there.

        Storages whose fsspec cannot create a file only where none is may give True to two at a time.
        """
        try:
            self._files.invalidate_cache()
            self._files.pipe_file(path, data, mode="create")
        except FileExistsError:
            return False
        return True

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

    def _file(self, info: Mapping[str, Any]) -> File | None:
        if info["type"] == "directory":
            return None
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
        seconds = float(modified) if isinstance(modified, (int, float)) else None
        return File(self._files.unstrip_protocol(info["name"]), info["size"] or 0, seconds)


def _keep_names(folder: Path) -> None:
    """Put a folder's new names on the disk, where the system can do that."""
    with contextlib.suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def local_path(path: str) -> str | None:
    """Give the path of this machine that a path or `file:` URL means; None for other URLs.

    Example:
        >>> local_path("file:/logs/a.nq"), local_path("s3://bucket/a.nq")
        ('/logs/a.nq', None)
    """
    if re.match(r"file:/", path, re.IGNORECASE):
        from urllib.parse import urlsplit  # costly to import, both
        from urllib.request import url2pathname

        return url2pathname(urlsplit(path).path)
    return None if re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", path) else path


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


def find_files(
    paths: Iterable[str],
    *,
    pattern: str | None = None,
    recursive: bool = False,
    modified_after: float | None = None,
    modified_before: float | None = None,
    ignore_missing: bool = False,
    options: Mapping[str, Any] | None = None,
) -> list[File]:
    """Give the files of paths, globs and folders: paths as they are given, each in natural order.

    A folder stands for the files in it; names that begin with `_` or `.` are passed over there. A path
    that is there is taken as it is, even where it looks like a glob.

    Args:
        paths: Files, folders, globs (`*`, `?`, `[a-z]`, `{a,b}`, `**`) or URLs.
        pattern: A glob that the names of files must match; for named files too.
        recursive: Take the files in folders of folders.
        modified_after: Seconds since 1970; only files written after that.
        modified_before: Seconds since 1970; only files written before that.
        ignore_missing: Pass over a path that is not there.
        options: fsspec's, for URLs.

    Raises:
        FileNotFoundError: A path is not there, or a glob matches nothing.
        MissingExtraError, OptionError: As in `storage_of`.
    """
    found: dict[str, File] = {}
    for path in paths:
        storage, name = storage_of(path, options)
        for file in sorted(_files_of(storage, name, recursive, ignore_missing), key=_natural):
            known = file.modified
            if pattern is not None and not _matches(file.path, pattern):
                continue
            if modified_after is not None and (known is None or known <= modified_after):
                continue
            if modified_before is not None and (known is None or known >= modified_before):
                continue
            found.setdefault(file.path, file)
    return list(found.values())


def _files_of(storage: Storage, path: str, recursive: bool, ignore_missing: bool) -> Iterator[File]:
    """The files of one path, in any order."""
    names = [path]
    if _MAGIC.search(path) and not storage.exists(path):
        names = storage.find(path)
    if not names and not ignore_missing:
        raise FileNotFoundError(errno.ENOENT, "No file matches", path)
    for name in names:
        try:
            file = storage.status(name)
            if file is not None:
                yield file
                continue
            for file in storage.files(name, recursive=recursive):
                inside = file.path.removeprefix(name).replace(os.sep, "/")
                if not any(part.startswith(("_", ".")) for part in inside.split("/") if part):
                    yield file
        except FileNotFoundError:
            if not ignore_missing:
                raise


def _matches(path: str, pattern: str) -> bool:
    name = re.split(r"[/\\]", path)[-1]
    return any(fnmatch(name, one) for one in _alternatives(pattern))


def _alternatives(pattern: str) -> list[str]:
    """A glob with `{a,b}` as globs without."""
    braces = re.search(r"\{([^{}]*)\}", pattern)
    if braces is None:
        return [pattern]
    before, after = pattern[: braces.start()], pattern[braces.end() :]
    each = [_alternatives(before + one + after) for one in braces[1].split(",")]
    return [one for alternatives in each for one in alternatives]


def _natural(file: File) -> list[tuple[int, int | str]]:
    """Orders `part-2` before `part-10`."""
    parts = re.split(r"(\d+)", file.path)
    return [(0, int(part)) if part.isdigit() else (1, part) for part in parts if part]
