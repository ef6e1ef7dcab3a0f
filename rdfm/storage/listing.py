"""Finds files by paths, globs and folders.

In: paths and URLs from users. Out: the matching files, in natural order.
Cost: one listing of each folder. Law: a path without files is an error, never an empty result.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatch, fnmatchcase
from typing import Any

from rdfm.storage.files import File, Storage, find_storage
from rdfm.storage.paths import JOURNAL_SUFFIX, STATE_SUFFIX

__all__ = ["find_files", "find_matches", "is_glob", "parent_folders"]

_MAGIC = re.compile(r"[*?\[{]")
_HIDDEN = ("_", ".")
_PARTITION = re.compile(r"[^=_.][^=]*=.+", re.DOTALL)


def find_files(
    paths: Iterable[str],
    *,
    pattern: str | None = None,
    recursive: bool = False,
    modified_after: float | None = None,
    modified_before: float | None = None,
    ignore_missing: bool = False,
    partitions: bool = False,
    options: Mapping[str, Any] | None = None,
) -> tuple[list[File], list[str]]:
    """Find the files of paths, globs and folders, in the order of the paths.

    The files of each path are in natural order.

    A folder represents the files in it, except those whose names begin with `_` or `.`. An existing
    path is used unchanged, even if it looks like a glob. Globs match names that begin with `_` or
    `.` as described in `find_matches`.

    Args:
        paths: Files, folders, globs (`*`, `?`, `[a-z]`, `{a,b}`, `**`) or URLs.
        pattern: A glob that file names must match, including those of files given by path.
        recursive: Include files in subfolders.
        modified_after: Include only files modified after this time, in seconds since 1970.
        modified_before: Include only files modified before this time, in seconds since 1970.
        ignore_missing: Skip paths that do not exist.
        partitions: Include files in subfolders named `KEY=VALUE`, recursively.
        options: Options of fsspec, for URLs.

    Returns:
        The files, and the folders: those among the paths and matches, and their subfolders that
        contain hidden names.

    Raises:
        FileNotFoundError: If a path does not exist, or a glob matches nothing.
        MissingExtraError, OptionError: As in `find_storage`.
    """
    found: dict[str, File] = {}
    folders: dict[str, None] = {}
    for path in paths:
        storage, location = find_storage(path, options)
        files: list[File] = []
        for name, file in _matching_paths(storage, location, ignore_missing).items():
            if file is None:
                folders[name] = None
                has_partitions = partitions and not recursive and _has_partitions(storage, name)
                for inner in _exclude_journals(
                    _list_folder(storage, name, recursive or has_partitions, ignore_missing)
                ):
                    relative_path = inner.path.removeprefix(name)
                    if has_partitions and not _is_in_partitions(relative_path):
                        continue
                    hidden = re.search(r"(?:^|[/\\])[_.]", relative_path)
                    if hidden is None:
                        files.append(inner)
                    else:
                        folders[name + relative_path[: hidden.start()]] = None
            else:
                files.append(file)
        for file in sorted(files, key=_natural_key):
            modified = file.modified
            if pattern is not None and not _matches(file.path, pattern):
                continue
            if modified_after is not None and (modified is None or modified <= modified_after):
                continue
            if modified_before is not None and (modified is None or modified >= modified_before):
                continue
            found.setdefault(file.path, file)
    return list(found.values()), list(folders)


def is_glob(path: str) -> bool:
    """Whether a path contains glob characters. A file with exactly this name takes precedence."""
    return _MAGIC.search(path) is not None


def find_matches(storage: Storage, pattern: str) -> dict[str, File | None]:
    """Return the matches of a glob, by path: files, and None for folders.

    A name that begins with `_` or `.` matches only a part of the pattern that begins with the same
    character. This applies from the first part with a glob character on.
    """
    paths: dict[str, File | None] = {}
    for glob in _expand_pattern(pattern):
        parts = _path_parts(glob)
        first = next((index for index, part in enumerate(parts) if _MAGIC.search(part)), len(parts))
        hidden_in_pattern = [part for part in parts[first:] if part.startswith(_HIDDEN)]
        for path, file in storage.find(glob).items():
            hidden = [part for part in _path_parts(path)[first:] if part.startswith(_HIDDEN)]
            if all(any(fnmatchcase(part, name) for name in hidden_in_pattern) for part in hidden):
                paths[path] = file
    return paths


def _matching_paths(storage: Storage, path: str, ignore_missing: bool) -> dict[str, File | None]:
    """Return the path, or its matches if it is a glob; the value is None for folders."""
    if is_glob(path) and not storage.exists(path):
        paths = find_matches(storage, path)
        if not paths and not ignore_missing:
            raise FileNotFoundError(errno.ENOENT, "No file matches", path)
        return paths
    try:
        return {path: storage.status(path)}
    except FileNotFoundError:
        if not ignore_missing:
            raise
        return {}


def parent_folders(path: str, options: Mapping[str, Any] | None = None) -> list[str]:
    """Return the folders that contain, or would contain, a path or the matches of a glob.

    Args:
        path: A path, glob or URL.
        options: Options of fsspec, for URLs.
    """
    storage, location = find_storage(path, options)
    folders: dict[str, None] = {}
    for glob in _expand_pattern(location):
        parent = glob.rstrip("/\\").removesuffix(_path_parts(glob)[-1]) or "."
        if is_glob(parent) and not storage.exists(parent):
            folders.update(
                (name, None) for name, file in find_matches(storage, parent).items() if not file
            )
        else:
            folders[parent] = None
    return list(folders)


def _list_folder(
    storage: Storage, folder: str, recursive: bool, ignore_missing: bool
) -> list[File]:
    """Return the files in a folder, including hidden ones."""
    try:
        return list(storage.list_files(folder, recursive=recursive))
    except FileNotFoundError:
        if not ignore_missing:
            raise
        return []


def _has_partitions(storage: Storage, folder: str) -> bool:
    """Whether a folder contains subfolders named `KEY=VALUE`."""
    return any(
        _PARTITION.fullmatch(name) is not None and storage.status(_join(folder, name)) is None
        for name in storage.list_names(folder)
    )


def _is_in_partitions(relative_path: str) -> bool:
    """Whether all folders in a relative path are named `KEY=VALUE`, or hidden (commit folders)."""
    return all(
        _PARTITION.fullmatch(part) is not None or part.startswith(_HIDDEN)
        for part in _path_parts(relative_path)[:-1]
    )


def _join(folder: str, name: str) -> str:
    return f"{folder.rstrip('/')}/{name}"


def _exclude_journals(files: list[File]) -> list[File]:
    """Return the files without the journals and mirror states of logs."""
    paths = {file.path for file in files}

    def belongs_to_log(path: str) -> bool:
        return any(
            path.endswith(suffix) and path.removesuffix(suffix) in paths
            for suffix in (JOURNAL_SUFFIX, STATE_SUFFIX)
        )

    return [file for file in files if not belongs_to_log(file.path)]


def _matches(path: str, pattern: str) -> bool:
    return any(fnmatch(_path_parts(path)[-1], glob) for glob in _expand_pattern(pattern))


def _path_parts(path: str) -> list[str]:
    """Return the names in a path, without `.` and `..`."""
    return [part for part in re.split(r"[/\\]", path) if part not in ("", ".", "..")]


def _expand_pattern(pattern: str) -> list[str]:
    """Convert a Spark glob to Python globs, without `{a,b}` and with `[!a]` for `[^a]`."""
    braces = re.search(r"\{([^{}]*)\}", pattern)
    if braces is None:
        return [pattern.replace("[^", "[!")]
    prefix, suffix = pattern[: braces.start()], pattern[braces.end() :]
    choices = braces[1].split(",")
    return [glob for choice in choices for glob in _expand_pattern(prefix + choice + suffix)]


def _natural_key(file: File) -> list[tuple[int, int | str]]:
    """Return a sort key that orders `part-2` before `part-10`."""
    parts = re.split(r"([0-9]+)", file.path)
    # Every second part is a number.
    return [(0, int(part)) if index % 2 else (1, part) for index, part in enumerate(parts) if part]
