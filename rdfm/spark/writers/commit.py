"""Atomic commits of part files: all of them appear or none, even if a process dies.

In: a folder, and parts that tasks wrote under `_rdfm/staging`. Out: the parts in the folder, under
their final names.
Cost: a journal with one line per part, and one rename per part; on remote storage, several threads
rename. Reading a folder that uses this protocol lists it twice.
Law: a commit is decided when its journal appears, which is atomic. Before that, none of its parts
is visible. After that, the next read or write of the folder completes the commit; completing it
repeatedly is safe.

    _rdfm/ours                           the folder was written with this protocol
    _rdfm/staging/JOB/ATTEMPT/part…      parts that tasks write
    _rdfm/staging/JOB/open               the job still accepts attempts
    _rdfm/reports/NAME                   a summary that the program has not read yet
    _rdfm/journal/NAME.json              a commit that is decided but not complete
    _rdfm/commits/write-…                a completed batch write with an id
    _rdfm/commits/query-ID/NUMBER        the last completed batch of a streaming query
    _rdfm/commits/overwrites/NUMBER      the last completed overwrite
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from rdfm.logs.read.plan import MAX_THREADS
from rdfm.storage.files import File, Storage, find_storage
from rdfm.storage.listing import find_files, is_glob, parent_folders

__all__ = [
    "ABANDONED_SECONDS",
    "CommitTarget",
    "FolderCommit",
    "find_settled",
    "settle_around",
    "stream_job",
]

# Age from which staging files are considered abandoned by a driver that died.
ABANDONED_SECONDS = 7 * 24 * 3600.0
_ROOT = "_rdfm"
_SUCCESS = "_SUCCESS"
_STREAM = "stream-"
_OVERWRITES = "overwrites"
_VERSION = 1
# Maximum waiting times for a commit that cannot be completed, and for a folder that keeps changing.
_COMMIT_WAIT_SECONDS = 10.0
_LISTING_WAIT_SECONDS = 60.0
_TRIES = 10
# Errors that another process, such as the one that decided the commit, might not get.
_LOCAL_ERRORS = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT})


@dataclass(frozen=True)
class FolderCommit:
    """The content of a commit.

    Attributes:
        job: The staging folder of the parts, which is removed at the end.
        parts: The parts in the staging folder, as `ATTEMPT/NAME`; NAME, which may contain folders,
            is also the final name.
        removals: Files to remove, as paths in the folder.
        marks: Whether to write `_SUCCESS`.
        write_id: The user's id for a batch write, which is done only once.
        query: The id of a streaming query.
        batch: The batch number of the query.
        turn: The number of an overwrite. Its `removals` are the files that existed after the
            previous overwrite.
    """

    job: str
    parts: tuple[str, ...]
    removals: tuple[str, ...] = ()
    marks: bool = True
    write_id: str | None = None
    query: str | None = None
    batch: int | None = None
    turn: int | None = None

    @property
    def name(self) -> str:
        """The name of the journal, which is the same for all drivers with the same commit."""
        if self.turn is not None:
            return f"overwrite-{self.turn}"
        if self.write_id is not None:
            return _write_name(self.write_id)
        if self.query is not None:
            return f"query-{self.query}-{self.batch}"
        return f"job-{self.job}"


def stream_job(query: str, batch: int, attempt: str) -> str:
    """Return the job of one attempt at a batch. Tasks create the job's staging folder on demand."""
    return f"{_STREAM}{query}-{batch}-{attempt}"


class CommitTarget:
    """A folder to which logs are written, with the records of its writes."""

    def __init__(self, storage: Storage, folder: str) -> None:
        """Create a target from a storage and the name of a folder in it."""
        self.storage = storage
        self.folder = folder.rstrip("/") or folder
        # Journals whose parts are all in the folder, even if later steps failed.
        self._visible_journals: set[str] = set()

    @classmethod
    def from_path(cls, path: str, options: Mapping[str, Any] | None = None) -> CommitTarget:
        """Return the target of a path or URL; `options` are for fsspec."""
        return cls(*find_storage(path, options))

    def prepare(self) -> None:
        """Create the permanent files, so that readers know the protocol before the first commit."""
        self.storage.make_folder(self._path("journal"))
        if not self.has_records():
            self._create_empty(self._path("ours"))

    def begin(self, job: str) -> None:
        """Open a job, which accepts attempts until it is dropped."""
        self.prepare()
        self.storage.make_folder(self._path("staging", job))
        self._create_empty(self._path("staging", job, "open"))

    def is_open(self, job: str) -> bool:
        """Whether a job, after `begin`, still accepts attempts."""
        return self.storage.exists(self._path("staging", job, "open"))

    def create_attempt(self, job: str, attempt: str) -> str:
        """Create the folder of one attempt of a task, and return its path.

        Raises:
            FileNotFoundError: If the job has ended, and the storage can detect this.
        """
        path = self._path("staging", job, attempt)
        self.storage.make_folder(path, job.startswith(_STREAM))
        return path

    def drop_attempt(self, job: str, attempt: str) -> None:
        """Remove the files of an attempt."""
        self.storage.remove_folder(self._path("staging", job, attempt))

    def drop(self, job: str) -> None:
        """Remove the files of a job, unless its commit is decided and will be completed later."""
        for name in self._journals():
            commit = self._read(name)
            if commit is not None and commit.job == job:
                return
        self._remove_job(job)

    def drop_older(self, query: str, batch: int) -> None:
        """Remove the files of other attempts at a completed batch and at earlier ones."""
        for job in self.storage.list_names(self._path("staging")):
            match = re.fullmatch(rf"{_STREAM}{re.escape(query)}-(\d+)-.*", job)
            if match and int(match[1]) <= batch:
                self._remove_job(job)

    def visible_files(self) -> list[str]:
        """The files that readers of the folder and its subfolders see, without partial commits."""
        return _list_until_stable(self._visible, lambda _: self.settle(), self.folder, float("inf"))

    def is_written(self, write_id: str) -> bool:
        """Whether a batch write with this id is complete."""
        return self.storage.exists(self._path("commits", _write_name(write_id)))

    def completion_time(self, write_id: str) -> str:
        """The time at which the batch write with this id was completed, for messages."""
        with contextlib.suppress(FileNotFoundError):
            file = self.storage.status(self._path("commits", _write_name(write_id)))
            if file is not None and file.modified is not None:
                return datetime.fromtimestamp(file.modified, UTC).isoformat(" ", "seconds")
        return "an unknown date"

    def last_batch(self, query: str) -> int:
        """The last completed batch of a streaming query; -1 if there is none."""
        return self._last_number(f"query-{query}")

    def commit(self, commit: FolderCommit, *, replaces: bool = False) -> bool:
        """Decide a commit and complete it.

        Args:
            commit: The commit.
            replaces: Also remove all files that are visible when the commit is decided. The job of
                the commit must be open.

        Returns:
            True if this commit was completed. False if the same write or batch was done before, and
            the parts were therefore dropped.

        Raises:
            OSError: If the storage fails. The text says so if the commit was already decided;
                otherwise none of its parts is visible.
        """
        while True:
            self.settle()
            if self._is_done(commit):
                self._remove_job(commit.job)
                return False
            self._check_parts(commit)
            self.prepare()
            if replaces:
                # Get the turn first, so that an overwrite that starts in the meantime gets the same
                # turn.
                turn = self._last_number(_OVERWRITES) + 1
                commit = replace(commit, turn=turn, removals=tuple(self.visible_files()))
            is_decided = self._decide_commit(commit)
            # If the job is still open, another overwrite was decided in the meantime, so the list
            # of removals is outdated.
            if not replaces or not self.is_open(commit.job):
                break
        if not is_decided:
            self._remove_job(commit.job)
        return is_decided

    def _decide_commit(self, commit: FolderCommit) -> bool:
        data = json.dumps({"version": _VERSION, **asdict(commit)}, indent=0).encode()
        is_created = self.storage.create_file(self._journal(commit.name), data)
        try:
            # Another driver with the same commit may have been faster, before or after this driver
            # wrote the journal.
            return self._complete_commit(commit.name) and is_created
        except Exception as error:
            if not is_created and commit.turn is not None:  # the other driver's commit is decided
                raise
            raise OSError(
                errno.EIO,
                "the write is committed but not complete; the next read or write of the folder completes "
                f"it, so do not repeat the write ({error})",
                self.folder,
            ) from error

    def settle(self, *, reads: bool = False) -> bool:
        """Complete decided commits. Several processes may do this at the same time.

        If this process has no permission or no space, it waits a few seconds for another process to
        complete them.

        Args:
            reads: Whether the caller only reads. A reader only needs the visible files to be
                correct; a writer needs all steps.

        Returns:
            Whether files may have changed.

        Raises:
            OSError: If a commit cannot be completed; the text gives the reason.
        """
        return any([self._settle(name, reads) for name in self._journals()])

    def _settle(self, name: str, reads: bool) -> bool:
        was_visible = reads and name in self._visible_journals
        end = time.monotonic() + _COMMIT_WAIT_SECONDS
        while True:
            try:
                self._complete_commit(name)
                return True
            except OSError as error:
                if not isinstance(error, PermissionError) and error.errno not in _LOCAL_ERRORS:
                    raise
                if reads and name in self._visible_journals:
                    return not was_visible
                if time.monotonic() >= end and self.storage.exists(self._journal(name)):
                    raise OSError(
                        error.errno or errno.EACCES,
                        "an earlier write to this folder is not complete and must be completed first; try again "
                        f"later, or with write permission for the folder and enough space ({error})",
                        self.folder,
                    ) from error
            time.sleep(0.1)

    def clean_up(self) -> None:
        """Complete decided commits and remove abandoned staging files, before every write."""
        self.settle()
        self.remove_orphan_files()

    def remove_orphan_files(self, untouched: float = ABANDONED_SECONDS) -> list[str]:
        """Remove the staging files of drivers that died before their commit was decided.

        Args:
            untouched: Minimum age of the youngest file of a job, in seconds. Files without a known
                time are kept unless this is 0.

        Returns:
            The removed jobs.
        """
        decided = {commit.job for name in self._journals() if (commit := self._read(name))}
        removed = []
        for job in self.storage.list_names(self._path("staging")):
            try:
                files = list(self.storage.list_files(self._path("staging", job), recursive=True))
            except (FileNotFoundError, NotADirectoryError):
                continue
            # A job without files may be about to get its first one.
            folder_time = self.storage.folder_time(self._path("staging", job))
            youngest = max(
                map(_modified_time, files),
                default=float("inf") if folder_time is None else folder_time,
            )
            is_old = untouched <= 0 or time.time() - youngest >= untouched
            if (is_old or self._has_late_parts(job, files)) and job not in decided:
                self._remove_job(job)
                if not self.storage.exists(self._path("staging", job)):
                    removed.append(job)
        if self.storage.exists(self._path("journal")):
            for file in list(self.storage.list_files(self._path("journal"))):
                # Left by a process that died before it renamed the journal.
                if file.path.endswith(".tmp") and time.time() - _modified_time(file) >= untouched:
                    self.storage.remove(file.path)
        return removed

    def _has_late_parts(self, job: str, files: list[File]) -> bool:
        """Whether a job that no longer accepts attempts has parts from late attempts."""
        folder = self._path("staging", job) + "/"
        parts = [file for file in files if re.search(r"[/\\]", file.path[len(folder) :])]
        return bool(parts) and not job.startswith(_STREAM) and not self.is_open(job)

    def report(self, name: str, data: bytes) -> None:
        """Write a small file for the program that started a write."""
        self.storage.make_folder(self._path("reports"))
        self.storage.write_file(self._path("reports", name), data)

    def take_report(self, name: str) -> bytes | None:
        """Return and remove the data that `report` wrote; None if there is none."""
        try:
            data = self.storage.read_file(self._path("reports", name))
        except FileNotFoundError:
            return None
        self.storage.remove(self._path("reports", name))
        return data

    def has_records(self) -> bool:
        """Whether the folder was ever written with this protocol."""
        return self.storage.exists(self._path("ours"))

    def has_completed(self) -> bool:
        """Whether a write to the folder was ever completed."""
        return self.storage.exists(f"{self.folder}/{_SUCCESS}") or bool(
            self.storage.list_names(self._path("commits"))
        )

    def _visible(self) -> list[str]:
        paths = []
        for file in self.storage.list_files(self.folder, recursive=True):
            path = file.path.removeprefix(self.folder).replace(os.sep, "/").lstrip("/")
            if path == _SUCCESS or not any(part.startswith(("_", ".")) for part in path.split("/")):
                paths.append(path)
        return sorted(paths)

    def _complete_commit(self, name: str) -> bool:
        """Complete a decided commit. Return False if it was already done under another journal."""
        commit = self._read(name)
        if commit is None:  # another process was faster
            return True
        if self._is_late(commit):
            self._visible_journals.add(name)
            self.storage.remove(self._journal(name))
            return False
        is_done = self._is_done(commit)
        if not is_done:
            self._for_each(partial(self._move_part, name, commit), commit.parts)
            self._for_each(self._remove, [f"{self.folder}/{path}" for path in commit.removals])
        self._visible_journals.add(name)
        if not is_done and commit.marks:
            self._create_empty(f"{self.folder}/{_SUCCESS}")
        # The job is dropped before the commit is recorded. A job that still exists after that
        # belongs to a late overwrite.
        self._remove_job(commit.job)
        if not is_done:
            self._record(commit)
        if commit.turn is not None:  # the last step, because it makes this commit late
            self._record_number(_OVERWRITES, commit.turn)
        self.storage.remove(self._journal(name))
        return not is_done

    def _for_each(self, work: Callable[[str], None], paths: Sequence[str]) -> None:
        """Call `work` for each path, in several threads if each call is a request."""
        if not self.storage.is_remote:
            for path in paths:
                work(path)
            return

        def run(first: int) -> None:
            for path in paths[first::MAX_THREADS]:
                work(path)

        with ThreadPoolExecutor(MAX_THREADS) as pool:
            list(pool.map(run, range(MAX_THREADS)))  # raises the first error

    def _move_part(self, name: str, commit: FolderCommit, part: str) -> None:
        staged_path = self._path("staging", commit.job, part)
        final = f"{self.folder}/{part.partition('/')[2]}"
        folder = final.rpartition("/")[0]
        if folder != self.folder:
            self.storage.make_folder(folder)
        try:
            self.storage.rename(staged_path, final)
        except OSError as error:
            if self.storage.exists(final) and not self.storage.exists(staged_path):
                return  # already renamed
            if not isinstance(error, FileNotFoundError):
                raise
            # Another process may have completed the commit in the meantime.
            if self._read(name) == commit:
                raise FileNotFoundError(
                    errno.ENOENT,
                    "a part of a committed write no longer exists; to abandon the rest of that write, remove "
                    + self._journal(name),
                    final,
                ) from None

    def _remove(self, path: str) -> None:
        try:
            self.storage.remove(path)
        except OSError:
            if self.storage.exists(path):  # on a read-only disk, removing a missing file also fails
                raise

    def _create_empty(self, path: str) -> None:
        """Create an empty file if it does not exist."""
        with contextlib.suppress(FileExistsError):
            self.storage.finish(self.storage.open_new(path))

    def _is_done(self, commit: FolderCommit) -> bool:
        if commit.write_id is not None:
            return self.is_written(commit.write_id)
        if commit.query is not None and commit.batch is not None:
            return self.last_batch(commit.query) >= commit.batch
        return False

    def _is_late(self, commit: FolderCommit) -> bool:
        """Whether an overwrite with this turn or a later one is already complete."""
        return commit.turn is not None and self._last_number(_OVERWRITES) >= commit.turn

    def _last_number(self, folder: str) -> int:
        """The largest number recorded in a folder; -1 if there is none."""
        names = self.storage.list_names(self._path("commits", folder))
        return max((int(name) for name in names if name.isdigit()), default=-1)

    def _record(self, commit: FolderCommit) -> None:
        if commit.write_id is not None:
            self.storage.make_folder(self._path("commits"))
            self._create_empty(self._path("commits", _write_name(commit.write_id)))
        if commit.query is not None and commit.batch is not None:
            self._record_number(f"query-{commit.query}", commit.batch)

    def _record_number(self, name: str, number: int) -> None:
        folder = self._path("commits", name)
        self.storage.make_folder(folder)
        # One file per number. The largest number counts, so a slow process cannot reset it.
        self._create_empty(f"{folder}/{number}")
        last_number = self._last_number(name)
        for old_name in self.storage.list_names(folder):
            if old_name.isdigit() and int(old_name) < last_number:
                self.storage.remove(f"{folder}/{old_name}")

    def _check_parts(self, commit: FolderCommit) -> None:
        """Raise if a part is missing, before the commit is decided."""
        if not commit.parts:
            return
        try:
            files = list(self.storage.list_files(self._path("staging", commit.job), recursive=True))
        except FileNotFoundError:
            files = []
        found_parts = set()
        for file in files:
            names = re.split(r"[/\\]", file.path)
            found_parts.add("/".join(names[names.index(commit.job) + 1 :]))
        missing_parts = [part for part in commit.parts if part not in found_parts]
        # Another driver with the same commit may have completed it in the meantime.
        if missing_parts and not self._is_done(commit):
            raise FileNotFoundError(
                errno.ENOENT,
                f"parts that tasks wrote are missing ({len(missing_parts)} of {len(commit.parts)}), such as "
                f"{missing_parts[0]}; the folder must be on storage that the driver and all workers share",
                self.folder,
            )

    def _remove_job(self, job: str) -> None:
        self.storage.remove(self._path("staging", job, "open"))
        self.storage.remove_folder(self._path("staging", job))

    def _journals(self) -> list[str]:
        names = self.storage.list_names(self._path("journal"))
        return [
            name.removesuffix(".json")
            for name in names
            if name.endswith(".json") and not name.startswith(".")
        ]

    def _read(self, name: str) -> FolderCommit | None:
        """Read a journal; None if it no longer exists."""
        try:
            data = self.storage.read_file(self._journal(name))
        except FileNotFoundError:
            return None
        try:
            content = json.loads(data)
            if content.pop("version") != _VERSION:
                raise ValueError("it was written by a newer version of rdfm")
            parts, removals = tuple(content.pop("parts")), tuple(content.pop("removals"))
            return FolderCommit(parts=parts, removals=removals, **content)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise OSError(
                errno.EIO,
                f"the journal of a write cannot be read ({error}); remove it to abandon the rest of that "
                "write",
                self._journal(name),
            ) from error

    def _journal(self, name: str) -> str:
        return self._path("journal", f"{name}.json")

    def _path(self, *parts: str) -> str:
        return "/".join((self.folder, _ROOT, *parts))


def find_settled(paths: Iterable[str], *, whole: bool = True, **options: Any) -> list[File]:
    """Find the files of paths, globs and folders like `find_files`, without partial commits.

    Decided commits are completed first. Folders that were not written with rdfm are listed once.

    Args:
        paths: As in `find_files`.
        whole: Whether to list the files until no commit is partial. Callers that list the files
            again later do not need this.
        **options: As in `find_files`.

    Raises:
        FileNotFoundError, MissingExtraError, OptionError: As in `find_files`.
        OSError: If a commit cannot be completed, or the folders keep changing.
    """
    paths, storage = list(paths), options.get("options")
    files_found: dict[str, File] = {}
    folders: list[str] = []
    targets: dict[str, CommitTarget] = {}
    # Files that a glob would match may be in a commit that is not complete.
    glob_folders = [
        folder for path in paths if is_glob(path) for folder in parent_folders(path, storage)
    ]

    def names() -> list[str]:
        try:
            files, folders[:] = find_files(paths, **options)
        except FileNotFoundError:
            if not any([settle_around(path, storage) for path in paths]):
                raise
            files, folders[:] = find_files(paths, **options)
        files_found.clear()
        files_found.update((file.path, file) for file in files)
        return list(files_found)

    def settle(names: list[str]) -> bool | None:
        for folder in _folders([*folders, *glob_folders], names):
            if folder not in targets:
                targets[folder] = CommitTarget.from_path(folder, storage)
        # Each check may be a network request, so several run in parallel.
        with ThreadPoolExecutor(MAX_THREADS) as pool:
            checked = zip(
                targets.values(), pool.map(CommitTarget.has_records, targets.values()), strict=True
            )
        busy = [target.settle(reads=True) for target, is_ours in checked if is_ours]
        return any(busy) if busy else None

    if whole:
        _list_until_stable(names, settle, ", ".join(paths), _LISTING_WAIT_SECONDS)
    elif settle(names()):
        names()
    return list(files_found.values())


def settle_around(path: str, options: Mapping[str, Any] | None = None) -> bool:
    """Complete decided commits in the folders that contain a path or the matches of a glob.

    The matches need not exist.

    Args:
        path: A path, glob or URL.
        options: fsspec options, for URLs.

    Returns:
        Whether there were any commits. If so, a missing file may exist now.
    """
    targets = [CommitTarget.from_path(folder, options) for folder in parent_folders(path, options)]
    return any([target.settle(reads=True) for target in targets if target.has_records()])


def _list_until_stable(
    names: Callable[[], list[str]],
    settle: Callable[[list[str]], bool | None],
    location: str,
    max_wait: float,
) -> list[str]:
    """List names until no commit can have changed them during the listing.

    A listing is correct if it equals the previous one and no commit was in progress between the
    two.

    Args:
        names: Lists the names.
        settle: Completes decided commits, and returns whether there were any. Returns None if there
            can be none.
        location: The listed folder, for the error.
        max_wait: Seconds after which a folder that keeps changing is an error.
    """
    before: list[str] | None = None
    end, pause, tries = time.monotonic() + max_wait, 0.001, 0
    while tries < _TRIES or time.monotonic() < end:
        current = names()
        if current == before:
            return current
        busy = settle(current)
        if busy is None:
            return current
        if busy or before is not None:  # the next two listings may be equal
            time.sleep(pause)
            pause = min(pause * 2, 1.0)
            tries += 1
            before = None
        else:
            before = current
    raise OSError(
        errno.EBUSY,
        "the folder changes faster than it can be listed; try again when fewer writes are in progress",
        location,
    )


def _folders(listed_folders: Iterable[str], files: Iterable[str]) -> list[str]:
    """The folders that were listed and the folders of the files found, without duplicates."""
    folders = dict.fromkeys(path.rstrip("/\\") or path for path in listed_folders)
    for path in files:
        name = re.split(r"[/\\]", path)[-1]
        folder = path.removesuffix(name)
        folders[folder.rstrip("/\\") or folder or "."] = None
    return list(folders)


def _write_name(write_id: str) -> str:
    """The file name for a user's id. The id may contain any characters."""
    return f"write-{hashlib.sha256(write_id.encode()).hexdigest()[:32]}"


def _modified_time(file: File) -> float:
    return float("inf") if file.modified is None else file.modified
