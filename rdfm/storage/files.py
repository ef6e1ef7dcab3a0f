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
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from fnmatch import fnmatch, fnmatchcase
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from rdfm.errors import MissingExtraError, OptionError
from rdfm.storage.paths import local_path

__all__ = [
    "File",
    "Storage",
    "find_files",
    "holders",
    "is_glob",
    "matches",
    "storage_of",
    "without_library",
]

_MAGIC = re.compile(r"[*?\[{]")
_HIDDEN = ("_", ".")


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


def find_files(
    paths: Iterable[str],
    *,
    pattern: str | None = None,
    recursive: bool = False,
    modified_after: float | None = None,
    modified_before: float | None = None,
    ignore_missing: bool = False,
    options: Mapping[str, Any] | None = None,
) -> tuple[list[File], list[str]]:
    """Give the files of paths, globs and folders: paths as they are given, each in natural order.

    A folder stands for the files in it; names that begin with `_` or `.` are passed over there. A path
    that is there is taken as it is, even where it looks like a glob. Globs match such names only as
    `matches` says.

    Args:
        paths: Files, folders, globs (`*`, `?`, `[a-z]`, `{a,b}`, `**`) or URLs.
        pattern: A glob that the names of files must match; for named files too.
        recursive: Take the files in folders of folders.
        modified_after: Seconds since 1970; only files written after that.
        modified_before: Seconds since 1970; only files written before that.
        ignore_missing: Pass over a path that is not there.
        options: fsspec's, for URLs.

    Returns:
        The files; and the folders among the paths and what they match, with those met in them that
        hold something hidden.

    Raises:
        FileNotFoundError: A path is not there, or a glob matches nothing.
        MissingExtraError, OptionError: As in `storage_of`.
    """
    found: dict[str, File] = {}
    folders: dict[str, None] = {}
    for path in paths:
        storage, called = storage_of(path, options)
        files: list[File] = []
        for name, file in _places(storage, called, ignore_missing).items():
            if file is None:
                folders[name] = None
                for met in _listed(storage, name, recursive, ignore_missing):
                    inside = met.path.removeprefix(name)
                    hidden = re.search(r"(?:^|[/\\])[_.]", inside)
                    if hidden is None:
                        files.append(met)
                    else:
                        folders[name + inside[: hidden.start()]] = None
            else:
                files.append(file)
        for file in sorted(files, key=_natural):
            known = file.modified
            if pattern is not None and not _matches(file.path, pattern):
                continue
            if modified_after is not None and (known is None or known <= modified_after):
                continue
            if modified_before is not None and (known is None or known >= modified_before):
                continue
            found.setdefault(file.path, file)
    return list(found.values()), list(folders)


def is_glob(path: str) -> bool:
    """Whether a path has signs of globs; what is there with such a name is meant all the same."""
    return _MAGIC.search(path) is not None


def matches(storage: Storage, pattern: str) -> dict[str, File | None]:
    """Give what matches a glob, by path: files, and None for folders.

    From the first part of the path with a sign of globs on, names that begin with `_` or `.` match
    only a part that begins so too.
    """
    found: dict[str, File | None] = {}
    for one in _globs(pattern):
        parts = _parts(one)
        first = next((at for at, part in enumerate(parts) if _MAGIC.search(part)), len(parts))
        named = [part for part in parts[first:] if part.startswith(_HIDDEN)]
        for path, file in storage.find(one).items():
            hidden = [part for part in _parts(path)[first:] if part.startswith(_HIDDEN)]
            if all(any(fnmatchcase(part, name) for name in named) for part in hidden):
                found[path] = file
    return found


def _places(storage: Storage, path: str, ignore_missing: bool) -> dict[str, File | None]:
    """What a path stands for: itself, or what it matches; None for folders."""
    if is_glob(path) and not storage.exists(path):
        found = matches(storage, path)
        if not found and not ignore_missing:
            raise FileNotFoundError(errno.ENOENT, "No file matches", path)
        return found
    try:
        return {path: storage.status(path)}
    except FileNotFoundError:
        if not ignore_missing:
            raise
        return {}


def holders(path: str, options: Mapping[str, Any] | None = None) -> list[str]:
    """Give the folders that a path or what a glob matches lies in, or would.

    Args:
        path: A path, glob or URL.
        options: fsspec's, for URLs.
    """
    storage, called = storage_of(path, options)
    found: dict[str, None] = {}
    for one in _globs(called):
        above = one.rstrip("/\\").removesuffix(_parts(one)[-1]) or "."
        if is_glob(above) and not storage.exists(above):
            found.update((name, None) for name, file in matches(storage, above).items() if not file)
        else:
            found[above] = None
    return list(found)


def _listed(storage: Storage, folder: str, recursive: bool, ignore_missing: bool) -> list[File]:
    """The files in a folder, hidden ones too."""
    try:
        return list(storage.files(folder, recursive=recursive))
    except FileNotFoundError:
        if not ignore_missing:
            raise
        return []


def _matches(path: str, pattern: str) -> bool:
    return any(fnmatch(_parts(path)[-1], one) for one in _globs(pattern))


def _parts(path: str) -> list[str]:
    """The names in a path; those of this folder and the one above are none."""
    return [part for part in re.split(r"[/\\]", path) if part not in ("", ".", "..")]


def _globs(pattern: str) -> list[str]:
    """A glob of Spark's as globs of Python's: without `{a,b}`, and with `[!a]` for `[^a]`."""
    braces = re.search(r"\{([^{}]*)\}", pattern)
    if braces is None:
        return [pattern.replace("[^", "[!")]
    before, after = pattern[: braces.start()], pattern[braces.end() :]
    each = [_globs(before + one + after) for one in braces[1].split(",")]
    return [one for alternatives in each for one in alternatives]


def _natural(file: File) -> list[tuple[int, int | str]]:
    """Orders `part-2` before `part-10`."""
    parts = re.split(r"([0-9]+)", file.path)
    # Every second one is a number.
    return [(0, int(part)) if at % 2 else (1, part) for at, part in enumerate(parts) if part]
