"""The files that a stream has found, in the order they were found: a position says what was read.

In: a folder of its own, and files as they are found. Out: the same file at the same position, always.
Cost: one small file per addition, merged when there are many; the list is held in memory, about
300 bytes a file.
Law: only whole additions count; a kill at any step leaves the list as it was before the addition or
as it is after it.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from rdfm.errors import OptionError
from rdfm.storage.files import File, storage_of

__all__ = ["FileList"]

_VERSION = 1
_HEAD = "list.json"
_SEGMENT = re.compile(r"files-(\d{12})(?:-(\d{12}))?\.json")
_MANY = 64
_TRIES = 3


class _Segment(NamedTuple):
    """Consecutive files of the list in one small file.

    Attributes:
        first: The position of the first.
        files: How many.
        name: The small file's; that of an addition is given by the position alone, so that only
            one can be made there.
    """

    first: int
    files: int
    name: str


class FileList:
    """A list of files that only grows. Who opens it last owns it; earlier owners cannot add any more.

    Attributes:
        name: The list's own name, made with it; a checkpoint holds it, so that it is never read
            with the list of another query.
        files: The files, by position.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     FileList(folder).add([File("a.nq", 7, None)])
        ...     [file.path for file in FileList(folder).files]
        ['a.nq']
    """

    def __init__(self, location: str, options: Mapping[str, Any] | None = None) -> None:
        """Open the list of a folder; make it where there is none.

        Args:
            location: A folder, or a URL that fsspec can write; nothing else is kept there.
            options: fsspec's, for that URL.

        Raises:
            OptionError: What lies there is no list, or the list is damaged.
        """
        self._storage, self._folder = storage_of(location, options)
        self._folder = self._folder.rstrip("/")
        self._owner = os.urandom(8).hex()
        self._storage.make_folder(self._folder)
        here = _HEAD in self._storage.names(self._folder)
        head = self._head() if here else {"version": _VERSION, "name": self._owner}
        self.name = str(head["name"])
        # From here on the owner before fails when it adds: two queries would each miss the other's files.
        content = json.dumps({**head, "owner": self._owner}).encode()
        self._storage.write_whole(self._path(_HEAD), content)
        for _ in range(_TRIES):
            self.files: list[File] = []
            self._positions: dict[str, int] = {}
            self._segments: list[_Segment] = []
            self._left: list[str] = []  # segments that a merge has made useless
            # The owner before may be in a merge, and removes segments that were listed here.
            with contextlib.suppress(FileNotFoundError):
                self._load(self._storage.names(self._folder))
                return
        raise self._foreign()

    def get(self, path: str) -> File | None:
        """Give a file as it was when it was added; None where it is not in the list."""
        at = self._positions.get(path)
        return None if at is None else self.files[at]

    def add(self, found: Iterable[File]) -> None:
        """Add the files that are not in the list yet, in the order given, all or none of them.

        Raises:
            OptionError: Another query has opened the list.
        """
        new = {file.path: file for file in found if file.path not in self._positions}
        if not new:
            return
        self._check_owner()
        first, files = len(self.files), list(new.values())
        name = f"files-{first:012d}.json"
        if not self._storage.create_whole(self._path(name), _packed(files)):
            raise self._foreign()
        self._take(_Segment(first, len(files), name), files)

    def merge(self) -> None:
        """Write the newest segments as one where there are many, and remove those left over.

        Raises:
            OptionError: Another query has opened the list.
        """
        if len(self._segments) >= _MANY:
            self._check_owner()
            # Each is at most as large as those after it, so a file is written again only when
            # its segment doubles.
            total, merged = 0, 0
            for segment in reversed(self._segments):
                if total and segment.files > total:
                    break
                total += segment.files
                merged += 1
            if merged > 1:
                first = len(self.files) - total
                one = _Segment(first, total, f"files-{first:012d}-{total:012d}.json")
                self._storage.write_whole(self._path(one.name), _packed(self.files[first:]))
                self._left += [segment.name for segment in self._segments[-merged:]]
                self._segments[-merged:] = [one]
        while self._left:
            self._storage.remove(self._path(self._left[-1]))
            self._left.pop()

    def end_of(self, start: int, *, files: int | None = None, size: int | None = None) -> int:
        """Give the position after the next files: at most so many, or so many bytes, but at least one.

        Args:
            start: The position of the first.
            files: The most files to take.
            size: The most bytes to take, unless the first file alone is larger.
        """
        end = len(self.files)
        if files is not None:
            end = min(end, start + files)
        if size is not None:
            total = 0
            for at in range(start, end):
                total += self.files[at].size
                if total > size:
                    return max(at, start + 1)
        return end

    def _load(self, names: list[str]) -> None:
        found = [match for match in map(_SEGMENT.fullmatch, names) if match]
        # At each position the longest comes first: what a merge wrote, then what it replaced.
        for match in sorted(found, key=lambda one: (int(one[1]), -int(one[2] or 0))):
            first, name, here = int(match[1]), match[0], len(self.files)
            if first > here:
                raise OptionError(
                    f"{self._folder}: the list of a stream's files lacks those from {here} to "
                    f"{first - 1}; give a new stateLocation and a new checkpoint, and the stream "
                    "begins again"
                )
            files = self._read(name) if first == here else None
            if files is not None and len(files) == int(match[2] or len(files)):
                self._take(_Segment(first, len(files), name), files)
            elif first == here and match[2] is None:
                # Not written to its end, on a storage where that can be, so nobody read by it.
                self._storage.remove(self._path(name))
            else:
                self._left.append(name)

    def _read(self, name: str) -> list[File] | None:
        """The files of a segment; None where it was not written to its end."""
        try:
            rows = json.loads(self._storage.read_whole(self._path(name)))
        except ValueError:
            return None
        return [File(*row) for row in rows]

    def _take(self, segment: _Segment, files: list[File]) -> None:
        self._positions.update((file.path, at) for at, file in enumerate(files, len(self.files)))
        self.files += files
        self._segments.append(segment)

    def _head(self) -> dict[str, Any]:
        try:
            head = json.loads(self._storage.read_whole(self._path(_HEAD)))
        except ValueError:
            head = None
        if not isinstance(head, dict) or head.get("version") != _VERSION or "name" not in head:
            raise OptionError(
                f"{self._path(_HEAD)} is no list of a stream's files that this version of rdfm "
                "reads; give stateLocation a folder of its own"
            )
        return head

    def _check_owner(self) -> None:
        if self._head().get("owner") != self._owner:
            raise self._foreign()

    def _foreign(self) -> OptionError:
        return OptionError(
            f"{self._folder}: another query, or another run of this one, uses this stateLocation "
            "too; give each query its own, and run it once at a time"
        )

    def _path(self, name: str) -> str:
        return f"{self._folder}/{name}"


def _packed(files: list[File]) -> bytes:
    return json.dumps([[file.path, file.size, file.modified] for file in files]).encode()
