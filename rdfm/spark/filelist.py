"""The files that a stream has found, in the order they were found: a position says what was read.

In: a folder of its own, and files as they are found. Out: the same file at the same position, always.
Cost: one small file per addition, merged when there are many; the list is held in memory, about
300 bytes a file.
Law: only whole additions count; a kill at any step leaves the list as it was before the addition or
as it is after it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from rdfm.errors import OptionError
from rdfm.storage import File, storage_of

__all__ = ["FileList"]

_VERSION = 1
_HEAD = "list.json"
_SEGMENT = re.compile(r"files-(\d{12})-(\d{12})\.json")
_MANY = 64


class _Segment(NamedTuple):
    first: int
    files: int

    @property
    def name(self) -> str:
        return f"files-{self.first:012d}-{self.files:012d}.json"


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
        ...     FileList(folder).files
        [File(path='a.nq', size=7, modified=None)]
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
        names = self._storage.names(self._folder)
        head = self._head() if _HEAD in names else {"version": _VERSION, "name": self._owner}
        self.name = str(head["name"])
        # From here on the owner before fails when it adds: two queries would each miss the other's files.
        self._write(_HEAD, {**head, "owner": self._owner})
        self.files: list[File] = []
        self._paths: set[str] = set()
        self._segments: list[_Segment] = []
        self._left: list[str] = []  # segments that a merge has made useless
        self._load(names)

    def add(self, found: Iterable[File]) -> None:
        """Add the files that are not in the list yet, in the order given, all or none of them.

        Raises:
            OptionError: Another query has opened the list.
        """
        new = {file.path: file for file in found if file.path not in self._paths}
        if not new:
            return
        self._check_owner()
        segment = _Segment(len(self.files), len(new))
        self._write(segment.name, [[one.path, one.size, one.modified] for one in new.values()])
        self._take(segment, list(new.values()))

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
            one = _Segment(len(self.files) - total, total)
            if merged > 1:
                rows = [[file.path, file.size, file.modified] for file in self.files[one.first :]]
                self._write(one.name, rows)
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
        segments = [
            _Segment(int(match[1]), int(match[2]))
            for match in map(_SEGMENT.fullmatch, names)
            if match
        ]
        # At each position the longest comes first: what a merge wrote, and then what it replaced.
        for segment in sorted(segments, key=lambda one: (one.first, -one.files)):
            here = len(self.files)
            if segment.first < here:
                self._left.append(segment.name)
                continue
            files = self._read(segment) if segment.first == here else None
            if files is not None:
                self._take(segment, files)
            elif segment.first > here:
                raise OptionError(
                    f"{self._folder}: the list of a stream's files lacks those from {here} to "
                    f"{segment.first - 1}; give a new stateLocation and a new checkpoint, and the "
                    "stream begins again"
                )

    def _read(self, segment: _Segment) -> list[File] | None:
        """The files of a segment; None where it was not written to its end, so that nobody saw them."""
        try:
            rows = json.loads(self._storage.read_whole(self._path(segment.name)))
        except ValueError:
            return None
        return [File(*row) for row in rows] if len(rows) == segment.files else None

    def _take(self, segment: _Segment, files: list[File]) -> None:
        self.files += files
        self._paths.update(file.path for file in files)
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
            raise OptionError(
                f"{self._folder}: another query, or another run of this one, has opened this "
                "stateLocation since; give each query its own, and run it once at a time"
            )

    def _write(self, name: str, content: Any) -> None:
        self._storage.write_whole(self._path(name), json.dumps(content).encode())

    def _path(self, name: str) -> str:
        return f"{self._folder}/{name}"
