"""The list of files that a stream has found, in the order of discovery.

A position in the list is the progress of the stream.

In: a separate folder, and files as they are found. Out: files by their fixed positions.
Cost: one small file per addition, merged when there are many. The list is kept in memory, with
about 300 bytes per file.
Law: additions are atomic: if a process is killed at any step, the list contains all files of the
addition or none.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from rdfm.errors import OptionError
from rdfm.storage.files import File, find_storage

__all__ = ["FileList"]

_VERSION = 1
_HEAD = "list.json"
_SEGMENT = re.compile(r"files-(\d{12})(?:-(\d{12}))?\.json")
_MERGE_SEGMENTS = 64
_TRIES = 3


class _Segment(NamedTuple):
    """Consecutive entries of the list, stored in one small file.

    Attributes:
        first: The position of the first entry.
        files: The number of entries.
        name: The name of the small file. The name of an addition depends only on the position, so
            that only one addition is possible at each position.
    """

    first: int
    files: int
    name: str


class FileList:
    """A list of files that only grows.

    The last process that opens the list owns it. Earlier owners can no longer add files.

    Attributes:
        name: The unique name of the list. Checkpoints contain it, so that a query never uses the
            list of another query.
        files: The files, by position.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     FileList(folder).add([File("a.nq", 7, None)])
        ...     [file.path for file in FileList(folder).files]
        ['a.nq']
    """

    def __init__(self, location: str, options: Mapping[str, Any] | None = None) -> None:
        """Open the list of a folder, or create it.

        Args:
            location: A folder, or a URL that fsspec can write to, for this list only.
            options: fsspec options, for URLs.

        Raises:
            OptionError: If the folder contains something else, or the list is damaged.
        """
        self._storage, self._folder = find_storage(location, options)
        self._folder = self._folder.rstrip("/")
        self._owner = os.urandom(8).hex()
        self._storage.make_folder(self._folder)
        exists = _HEAD in self._storage.list_names(self._folder)
        head = self._read_head() if exists else {"version": _VERSION, "name": self._owner}
        self.name = str(head["name"])
        # From now on, the previous owner cannot add files. Otherwise, each of two queries would
        # miss the other's files.
        content = json.dumps({**head, "owner": self._owner}).encode()
        self._storage.write_file(self._file_path(_HEAD), content)
        for _ in range(_TRIES):
            self.files: list[File] = []
            self._positions: dict[str, int] = {}
            self._segments: list[_Segment] = []
            self._obsolete: list[str] = []  # segments that were merged
            # The previous owner may be merging, and may remove segments that were just listed.
            with contextlib.suppress(FileNotFoundError):
                self._load(self._storage.list_names(self._folder))
                return
        raise self._ownership_error()

    def get(self, path: str) -> File | None:
        """Return a file as it was when it was added; None if it is not in the list."""
        position = self._positions.get(path)
        return None if position is None else self.files[position]

    def add(self, files_found: Iterable[File]) -> None:
        """Add the files that are not in the list yet, in this order and atomically.

        Raises:
            OptionError: If another query has opened the list.
        """
        new_files = {file.path: file for file in files_found if file.path not in self._positions}
        if not new_files:
            return
        self._check_owner()
        first, files = len(self.files), list(new_files.values())
        name = f"files-{first:012d}.json"
        if not self._storage.create_file(self._file_path(name), _encode_files(files)):
            raise self._ownership_error()
        self._append_segment(_Segment(first, len(files), name), files)

    def merge(self) -> None:
        """Merge the newest segments if there are many, and remove the merged ones.

        Raises:
            OptionError: If another query has opened the list.
        """
        if len(self._segments) >= _MERGE_SEGMENTS:
            self._check_owner()
            # A segment is merged only with at least as many newer entries, so each time an entry is
            # rewritten, the size of its segment at least doubles.
            total, merged = 0, 0
            for segment in reversed(self._segments):
                if total and segment.files > total:
                    break
                total += segment.files
                merged += 1
            if merged > 1:
                first = len(self.files) - total
                merged_segment = _Segment(first, total, f"files-{first:012d}-{total:012d}.json")
                self._storage.write_file(
                    self._file_path(merged_segment.name), _encode_files(self.files[first:])
                )
                self._obsolete += [segment.name for segment in self._segments[-merged:]]
                self._segments[-merged:] = [merged_segment]
        while self._obsolete:
            self._storage.remove(self._file_path(self._obsolete[-1]))
            self._obsolete.pop()

    def batch_end(self, start: int, *, files: int | None = None, size: int | None = None) -> int:
        """Return the position after the next batch of files. A batch has at least one file.

        Args:
            start: The position of the first file.
            files: Maximum number of files.
            size: Maximum total size in bytes. The first file may be larger.
        """
        end = len(self.files)
        if files is not None:
            end = min(end, start + files)
        if size is not None:
            total = 0
            for index in range(start, end):
                total += self.files[index].size
                if total > size:
                    return max(index, start + 1)
        return end

    def _load(self, names: list[str]) -> None:
        matches = [match for match in map(_SEGMENT.fullmatch, names) if match]
        # At each position, the longest segment comes first: a merged one before those that it
        # replaced.
        for match in sorted(matches, key=lambda match: (int(match[1]), -int(match[2] or 0))):
            first, name, position = int(match[1]), match[0], len(self.files)
            if first > position:
                raise OptionError(
                    f"{self._folder}: the list of a stream's files lacks entries {position} to "
                    f"{first - 1}; set a new stateLocation and a new checkpoint to restart the stream"
                )
            files = self._read(name) if first == position else None
            if files is not None and len(files) == int(match[2] or len(files)):
                self._append_segment(_Segment(first, len(files), name), files)
            elif first == position and match[2] is None:
                # The segment is incomplete (on storage without atomic writes), so no batch used it.
                self._storage.remove(self._file_path(name))
            else:
                self._obsolete.append(name)

    def _read(self, name: str) -> list[File] | None:
        """The files of a segment; None if it is incomplete."""
        try:
            rows = json.loads(self._storage.read_file(self._file_path(name)))
        except (ValueError, RecursionError):
            return None
        return [File(*row) for row in rows]

    def _append_segment(self, segment: _Segment, files: list[File]) -> None:
        self._positions.update(
            (file.path, position) for position, file in enumerate(files, len(self.files))
        )
        self.files += files
        self._segments.append(segment)

    def _read_head(self) -> dict[str, Any]:
        try:
            head = json.loads(self._storage.read_file(self._file_path(_HEAD)))
        except (ValueError, RecursionError):
            head = None
        if not isinstance(head, dict) or head.get("version") != _VERSION or "name" not in head:
            raise OptionError(
                f"{self._file_path(_HEAD)} is not a list of a stream's files that this version of rdfm "
                "can read; set stateLocation to a separate folder"
            )
        return head

    def _check_owner(self) -> None:
        if self._read_head().get("owner") != self._owner:
            raise self._ownership_error()

    def _ownership_error(self) -> OptionError:
        return OptionError(
            f"{self._folder}: another query, or another run of this query, also uses this stateLocation; "
            "set a separate one for each query, and do not run a query twice at the same time"
        )

    def _file_path(self, name: str) -> str:
        return f"{self._folder}/{name}"


def _encode_files(files: list[File]) -> bytes:
    return json.dumps([[file.path, file.size, file.modified] for file in files]).encode()
