"""How part files of a write appear: all of them or none, whoever dies meanwhile.

In: a folder, and parts that tasks wrote under `_rdfm/staging`. Out: the parts in the folder, under their names.
Cost: a journal of one line a part, a rename a part; a read lists a folder of ours twice.
Law: a commit is decided by its journal, which is written whole. Before that nothing of it is ever seen;
after that the next read or write of the folder carries it out to its end, however often it is begun.

    _rdfm/ours                           somebody wrote here by this protocol
    _rdfm/staging/JOB/ATTEMPT/part…      what tasks write
    _rdfm/staging/JOB/open               the job still wants attempts
    _rdfm/journal/NAME.json              a commit that is decided and not yet carried out
    _rdfm/commits/write-…                a batch write with an id, done
    _rdfm/commits/query-ID/NUMBER        the last batch of a streaming query that is done
    _rdfm/commits/overwrites/NUMBER      the last overwrite that is done
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

from rdfm.logs.plan import MAX_THREADS
from rdfm.storage.files import File, Storage, storage_of
from rdfm.storage.listing import find_files, holders, is_glob

__all__ = ["ABANDONED_SECONDS", "Commit", "Target", "find_settled", "settle_around", "stream_job"]

# Staging that nobody touched for so long has no driver any more.
ABANDONED_SECONDS = 7 * 24 * 3600.0
_ROOT = "_rdfm"
_SUCCESS = "_SUCCESS"
_STREAM = "stream-"
_OVERWRITES = "overwrites"
_VERSION = 1
# Seconds until it is an error that a write cannot be carried out, or that a folder always changes.
_PATIENCE = 10.0
_UNSTEADY = 60.0
_TRIES = 10
# What hinders one process may not hinder another: the one whose write it is, above all.
_REFUSALS = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT})


@dataclass(frozen=True)
class Commit:
    """What one commit does.

    Attributes:
        job: The folder in the staging that the parts are in; it is removed at the end.
        parts: The parts there, as `ATTEMPT/NAME`; NAME is also the final name.
        removals: Files to remove, by their paths in the folder.
        marks: Whether `_SUCCESS` is written.
        write_id: The user's name for a batch write that is to be done once.
        query: The id of a streaming query.
        batch: The number of its batch.
        turn: The number of an overwrite; its removals are what was there after the one before.
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
        """The journal's name: the same for all who try the same commit."""
        if self.turn is not None:
            return f"overwrite-{self.turn}"
        if self.write_id is not None:
            return _write_name(self.write_id)
        if self.query is not None:
            return f"query-{self.query}-{self.batch}"
        return f"job-{self.job}"


def stream_job(query: str, batch: int, attempt: str) -> str:
    """The job of one attempt at a batch. Nobody begins it: tasks make its staging."""
    return f"{_STREAM}{query}-{batch}-{attempt}"


class Target:
    """A folder that logs are written to, and what is known there about writes."""

    def __init__(self, storage: Storage, folder: str) -> None:
        """Take a folder as its storage calls it."""
        self.storage = storage
        self.folder = folder.rstrip("/") or folder
        # Journals whose parts are all in the folder, even where the rest of their steps is refused.
        self._shown: set[str] = set()

    @classmethod
    def of(cls, path: str, options: Mapping[str, Any] | None = None) -> Target:
        """Take a path or URL; `options` are fsspec's for it."""
        return cls(*storage_of(path, options))

    def prepare(self) -> None:
        """Make what stays for ever, so that readers know the folder as ours before its first commit."""
        self.storage.make_folder(self._at("journal"))
        if not self.is_ours():
            self._touch(self._at("ours"))

    def begin(self, job: str) -> None:
        """Open a job: its attempts are wanted from now on until it is dropped."""
        self.prepare()
        self.storage.make_folder(self._at("staging", job))
        self._touch(self._at("staging", job, "open"))

    def is_open(self, job: str) -> bool:
        """Whether a job that was begun still wants attempts."""
        return self.storage.exists(self._at("staging", job, "open"))

    def attempt(self, job: str, attempt: str) -> str:
        """Make the folder of one attempt of a task, and give its path.

        Raises:
            FileNotFoundError: The job was begun, and is over, where the storage can tell.
        """
        path = self._at("staging", job, attempt)
        self.storage.make_folder(path, job.startswith(_STREAM))
        return path

    def drop_attempt(self, job: str, attempt: str) -> None:
        """Remove what an attempt wrote."""
        self.storage.remove_folder(self._at("staging", job, attempt))

    def drop(self, job: str) -> None:
        """Remove what a job wrote, unless its commit is decided: then that is carried out later."""
        for name in self._journals():
            commit = self._read(name)
            if commit is not None and commit.job == job:
                return
        self._drop(job)

    def drop_older(self, query: str, batch: int) -> None:
        """Remove what other attempts at a batch that is done left, and at those before."""
        for job in self.storage.names(self._at("staging")):
            match = re.fullmatch(rf"{_STREAM}{re.escape(query)}-(\d+)-.*", job)
            if match and int(match[1]) <= batch:
                self._drop(job)

    def visible(self) -> list[str]:
        """What a read of the folder and of those in it may show, with no commit half seen."""
        return _steady(self._visible, lambda _: self.settle(), self.folder, float("inf"))

    def is_written(self, write_id: str) -> bool:
        """Whether a batch write of that id is done."""
        return self.storage.exists(self._at("commits", _write_name(write_id)))

    def written_at(self, write_id: str) -> str:
        """When a batch write of that id was done, as text for people."""
        with contextlib.suppress(FileNotFoundError):
            file = self.storage.status(self._at("commits", _write_name(write_id)))
            if file is not None and file.modified is not None:
                return datetime.fromtimestamp(file.modified, UTC).isoformat(" ", "seconds")
        return "an unknown day"

    def last_batch(self, query: str) -> int:
        """The last batch of a streaming query that is done; -1 where there is none."""
        return self._last(f"query-{query}")

    def commit(self, commit: Commit, *, replaces: bool = False) -> bool:
        """Decide a commit and carry it out.

        Args:
            commit: What it does.
            replaces: Also remove all that is visible when it is decided. Its job has to be open.

        Returns:
            Whether it was this one that was carried out: False where the same write or batch was done
            before, and the parts are dropped.

        Raises:
            OSError: Before the commit was decided nothing of it is seen; after that the text says so.
        """
        while True:
            self.settle()
            if self._is_done(commit):
                self._drop(commit.job)
                return False
            self._check_parts(commit)
            self.prepare()
            if replaces:
                # First the turn: an overwrite that comes between has the same one.
                turn = self._last(_OVERWRITES) + 1
                commit = replace(commit, turn=turn, removals=tuple(self.visible()))
            ours = self._decide(commit)
            # Another overwrite came between, so that what is to be removed is something else now.
            if not replaces or not self.is_open(commit.job):
                break
        if not ours:
            self._drop(commit.job)
        return ours

    def _decide(self, commit: Commit) -> bool:
        data = json.dumps({"version": _VERSION, **asdict(commit)}, indent=0).encode()
        ours = self.storage.create_whole(self._journal(commit.name), data)
        try:
            # Another driver that is at the same commit was first, or did it before the journal was ours.
            return self._carry_out(commit.name) and ours
        except Exception as error:
            if not ours and commit.turn is not None:  # it is the other's that is decided
                raise
            raise OSError(
                errno.EIO,
                "the write is decided but not carried out: the next read or write of the folder does "
                f"that, so do not write it again ({error})",
                self.folder,
            ) from error

    def settle(self, *, reads: bool = False) -> bool:
        """Carry out what is decided. Safe while others do the same.

        Where this process may not, or has no room, it waits some seconds for the one that does.

        Args:
            reads: Be content when the files are as they should be. A writer needs all steps done.

        Returns:
            Whether files may have changed.

        Raises:
            OSError: It cannot be carried out; the text says what is in the way.
        """
        return any([self._settle(name, reads) for name in self._journals()])

    def _settle(self, name: str, reads: bool) -> bool:
        was_shown = reads and name in self._shown
        end = time.monotonic() + _PATIENCE
        while True:
            try:
                self._carry_out(name)
                return True
            except OSError as error:
                if not isinstance(error, PermissionError) and error.errno not in _REFUSALS:
                    raise
                if reads and name in self._shown:
                    return not was_shown
                if time.monotonic() >= end and self.storage.exists(self._journal(name)):
                    raise OSError(
                        error.errno or errno.EACCES,
                        "a write was cut short here, or goes on, and has to be carried out before "
                        "anything is read; come back later, or with the right to write in the folder "
                        f"and room there ({error})",
                        self.folder,
                    ) from error
            time.sleep(0.1)

    def clean(self) -> None:
        """Carry out what is decided, and remove what was abandoned: how every write begins."""
        self.settle()
        self.remove_abandoned()

    def remove_abandoned(self, untouched: float = ABANDONED_SECONDS) -> list[str]:
        """Remove the staging of drivers that died before their commit was decided.

        Args:
            untouched: Seconds since its youngest file was written. What has no known time stays,
                unless this is 0.

        Returns:
            The jobs removed.
        """
        decided = {commit.job for name in self._journals() if (commit := self._read(name))}
        removed = []
        for job in self.storage.names(self._at("staging")):
            try:
                files = list(self.storage.files(self._at("staging", job), recursive=True))
            except (FileNotFoundError, NotADirectoryError):
                continue
            # One without files may be about to get its first.
            own = self.storage.folder_time(self._at("staging", job))
            youngest = max(map(_time, files), default=float("inf") if own is None else own)
            old = untouched <= 0 or time.time() - youngest >= untouched
            if (old or self._is_over(job, files)) and job not in decided:
                self._drop(job)
                if not self.storage.exists(self._at("staging", job)):
                    removed.append(job)
        if self.storage.exists(self._at("journal")):
            for file in list(self.storage.files(self._at("journal"))):
                # What a writer of journals was about to rename when it died.
                if file.path.endswith(".tmp") and time.time() - _time(file) >= untouched:
                    self.storage.remove(file.path)
        return removed

    def _is_over(self, job: str, files: list[File]) -> bool:
        """Whether a job has parts, but does not want them any more: a late attempt left them."""
        above = self._at("staging", job) + "/"
        parts = [file for file in files if re.search(r"[/\\]", file.path[len(above) :])]
        return bool(parts) and not job.startswith(_STREAM) and not self.is_open(job)

    def is_ours(self) -> bool:
        """Whether anything was ever written here by this protocol."""
        return self.storage.exists(self._at("ours"))

    def _visible(self) -> list[str]:
        found = []
        for file in self.storage.files(self.folder, recursive=True):
            path = file.path.removeprefix(self.folder).replace(os.sep, "/").lstrip("/")
            if path == _SUCCESS or not any(part.startswith(("_", ".")) for part in path.split("/")):
                found.append(path)
        return sorted(found)

    def _carry_out(self, name: str) -> bool:
        """Do all steps of a decided commit; False where it was done before under another journal."""
        commit = self._read(name)
        if commit is None:  # somebody else was faster
            return True
        if self._is_late(commit):
            self._shown.add(name)
            self.storage.remove(self._journal(name))
            return False
        done = self._is_done(commit)
        if not done:
            for part in commit.parts:
                self._place(name, commit, part)
            for path in commit.removals:
                self._remove(f"{self.folder}/{path}")
        self._shown.add(name)
        if not done and commit.marks:
            self._touch(f"{self.folder}/{_SUCCESS}")
        # Before it is remembered: an overwrite whose job is there still was late.
        self._drop(commit.job)
        if not done:
            self._remember(commit)
        if commit.turn is not None:  # the last step, since it makes this very commit late
            self._remember_number(_OVERWRITES, commit.turn)
        self.storage.remove(self._journal(name))
        return not done

    def _place(self, name: str, commit: Commit, part: str) -> None:
        staged = self._at("staging", commit.job, part)
        final = f"{self.folder}/{part.rpartition('/')[2]}"
        try:
            self.storage.rename(staged, final)
        except OSError as error:
            if self.storage.exists(final) and not self.storage.exists(staged):
                return  # it is there already
            if not isinstance(error, FileNotFoundError):
                raise
            # Another one may have carried out the whole commit meanwhile.
            if self._read(name) == commit:
                raise FileNotFoundError(
                    errno.ENOENT,
                    "a part of a decided write is gone; to give up what is left of that write, remove "
                    + self._journal(name),
                    final,
                ) from None

    def _remove(self, path: str) -> None:
        try:
            self.storage.remove(path)
        except OSError:
            if self.storage.exists(path):  # a disk that is read-only refuses what is gone too
                raise

    def _touch(self, path: str) -> None:
        """Make an empty file, where it is not there."""
        with contextlib.suppress(FileExistsError):
            self.storage.finish(self.storage.open_new(path))

    def _is_done(self, commit: Commit) -> bool:
        if commit.write_id is not None:
            return self.is_written(commit.write_id)
        if commit.query is not None and commit.batch is not None:
            return self.last_batch(commit.query) >= commit.batch
        return False

    def _is_late(self, commit: Commit) -> bool:
        """Whether another overwrite had the same turn."""
        return commit.turn is not None and self._last(_OVERWRITES) >= commit.turn

    def _last(self, folder: str) -> int:
        """The largest number that is remembered in a folder; -1 where there is none."""
        names = self.storage.names(self._at("commits", folder))
        return max((int(name) for name in names if name.isdigit()), default=-1)

    def _remember(self, commit: Commit) -> None:
        if commit.write_id is not None:
            self.storage.make_folder(self._at("commits"))
            self._touch(self._at("commits", _write_name(commit.write_id)))
        if commit.query is not None and commit.batch is not None:
            self._remember_number(f"query-{commit.query}", commit.batch)

    def _remember_number(self, name: str, number: int) -> None:
        folder = self._at("commits", name)
        self.storage.make_folder(folder)
        # A file each, the largest counts: a slow second one cannot turn it back.
        self._touch(f"{folder}/{number}")
        last = self._last(name)
        for old in self.storage.names(folder):
            if old.isdigit() and int(old) < last:
                self.storage.remove(f"{folder}/{old}")

    def _check_parts(self, commit: Commit) -> None:
        """Refuse before the decision what could not be carried out after it."""
        if not commit.parts:
            return
        try:
            files = list(self.storage.files(self._at("staging", commit.job), recursive=True))
        except FileNotFoundError:
            files = []
        there = {"/".join(re.split(r"[/\\]", file.path)[-2:]) for file in files}
        missing = [part for part in commit.parts if part not in there]
        # Another driver at the same commit may have carried it out meanwhile.
        if missing and not self._is_done(commit):
            raise FileNotFoundError(
                errno.ENOENT,
                f"{len(missing)} parts that tasks wrote are not there, such as {missing[0]}; the folder "
                "has to be storage that the driver and all workers share",
                self.folder,
            )

    def _drop(self, job: str) -> None:
        self.storage.remove(self._at("staging", job, "open"))
        self.storage.remove_folder(self._at("staging", job))

    def _journals(self) -> list[str]:
        names = self.storage.names(self._at("journal"))
        return [
            name.removesuffix(".json")
            for name in names
            if name.endswith(".json") and not name.startswith(".")
        ]

    def _read(self, name: str) -> Commit | None:
        """A journal, or None where there is none any more."""
        try:
            data = self.storage.read_whole(self._journal(name))
        except FileNotFoundError:
            return None
        try:
            content = json.loads(data)
            if content.pop("version") != _VERSION:
                raise ValueError("it was written by a newer rdfm")
            parts, removals = tuple(content.pop("parts")), tuple(content.pop("removals"))
            return Commit(parts=parts, removals=removals, **content)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise OSError(
                errno.EIO,
                f"this is no journal of a write that can be read ({error}); remove it to give up that "
                "write: it is then undone, as far as it was not carried out",
                self._journal(name),
            ) from error

    def _journal(self, name: str) -> str:
        return self._at("journal", f"{name}.json")

    def _at(self, *parts: str) -> str:
        return "/".join((self.folder, _ROOT, *parts))


def find_settled(paths: Iterable[str], *, whole: bool = True, **options: Any) -> list[File]:
    """Give the files of paths, globs and folders as `find_files` does, with no commit half seen.

    What was decided is carried out first. Folders that nobody wrote to with rdfm are listed once.

    Args:
        paths: As in `find_files`.
        whole: List again until no commit is half seen. Who comes back for the rest needs it not.
        **options: As in `find_files`.

    Raises:
        FileNotFoundError, MissingExtraError, OptionError: As in `find_files`.
        OSError: Something decided cannot be carried out, or the folders change all the time.
    """
    paths, storage = list(paths), options.get("options")
    found: dict[str, File] = {}
    folders: list[str] = []
    targets: dict[str, Target] = {}
    # What a glob would match may be decided and not shown yet.
    around = [folder for path in paths if is_glob(path) for folder in holders(path, storage)]

    def names() -> list[str]:
        try:
            files, folders[:] = find_files(paths, **options)
        except FileNotFoundError:
            if not any([settle_around(path, storage) for path in paths]):
                raise
            files, folders[:] = find_files(paths, **options)
        found.clear()
        found.update((file.path, file) for file in files)
        return list(found)

    def settle(names: list[str]) -> bool | None:
        for folder in _folders([*folders, *around], names):
            if folder not in targets:
                targets[folder] = Target.of(folder, storage)
        # Each question is a request: a tree of many folders asks several at a time.
        with ThreadPoolExecutor(MAX_THREADS) as pool:
            ours = zip(targets.values(), pool.map(Target.is_ours, targets.values()), strict=True)
        busy = [target.settle(reads=True) for target, is_ours in ours if is_ours]
        return any(busy) if busy else None

    if whole:
        _steady(names, settle, ", ".join(paths), _UNSTEADY)
    elif settle(names()):
        names()
    return list(found.values())


def settle_around(path: str, options: Mapping[str, Any] | None = None) -> bool:
    """Carry out what is decided in the folders that a path or what a glob matches lies in, or would.

    Args:
        path: A path, glob or URL.
        options: fsspec's, for URLs.

    Returns:
        Whether there was something, so that what was not there may be there now.
    """
    targets = [Target.of(folder, options) for folder in holders(path, options)]
    return any([target.settle(reads=True) for target in targets if target.is_ours()])


def _steady(
    names: Callable[[], list[str]],
    settle: Callable[[list[str]], bool | None],
    place: str,
    patience: float,
) -> list[str]:
    """List names until no commit can have come between.

    A listing is right when one just like it was made before, and no commit was under way between.

    Args:
        names: Lists them.
        settle: Carries out what is decided: whether there was something; None where nothing ever is.
        place: What is listed, for the error.
        patience: Seconds until it is an error that they always change.
    """
    before: list[str] | None = None
    end, pause, tries = time.monotonic() + patience, 0.001, 0
    while tries < _TRIES or time.monotonic() < end:
        found = names()
        if found == before:
            return found
        busy = settle(found)
        if busy is None:
            return found
        if busy or before is not None:  # the next two listings may find a calm moment
            time.sleep(pause)
            pause = min(pause * 2, 1.0)
            tries += 1
            before = None
        else:
            before = found
    raise OSError(
        errno.EBUSY,
        "the folder changes faster than it is listed; come back when less is written",
        place,
    )


def _folders(listed: Iterable[str], found: Iterable[str]) -> list[str]:
    """The folders that were listed and those that the files found are in, each once."""
    folders = dict.fromkeys(path.rstrip("/\\") or path for path in listed)
    for path in found:
        name = re.split(r"[/\\]", path)[-1]
        folder = path.removesuffix(name)
        folders[folder.rstrip("/\\") or folder or "."] = None
    return list(folders)


def _write_name(write_id: str) -> str:
    """The file name of a user's id, whatever characters it has."""
    return f"write-{hashlib.sha256(write_id.encode()).hexdigest()[:32]}"


def _time(file: File) -> float:
    return float("inf") if file.modified is None else file.modified
