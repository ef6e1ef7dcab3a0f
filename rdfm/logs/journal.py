"""The journal of a log that is being appended to: a lock, and the committed length.

In: the path of a log. Out: `Journal` for the writer; `committed_length` for readers.
Cost: one write of `SLOT_BYTES` per commit; one failed attempt to open the journal of a log that has
none.
Law: bytes after the committed length are not part of the log. At most one process has the lock at
any time. A journal applies only to the file that was appended to, and only if that file still has
the committed bytes. Another log that gets the same name is not affected, and is never truncated.
If another program changed the log during a run, the journal remains, and appending is rejected.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shlex
import stat
import zlib
from pathlib import Path
from typing import NamedTuple

from rdfm.errors import LogBusyError, OptionError, name_in_errors, visible
from rdfm.storage.paths import JOURNAL_SUFFIX

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = [
    "Commit",
    "Journal",
    "byte_count",
    "checksum_before",
    "committed_length",
    "journal_path",
    "remove_stale",
]

SLOT_BYTES = 128
# Number of bytes before the committed length that identify a log.
CHECKED_BYTES = 4096
_HEAD = "rdfm append"
# Opening must not block if a pipe has the name of the journal.
_JOURNAL_FLAGS = (
    os.O_RDWR
    | os.O_CREAT
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
)
# Attempts to lock a journal while other writers remove it.
_ATTEMPTS = 100


def byte_count(number: int) -> str:
    """Return a number of bytes with its noun.

    Example:
        >>> byte_count(1), byte_count(2)
        ('1 byte', '2 bytes')
    """
    return f"{number} {'byte' if number == 1 else 'bytes'}"


class Commit(NamedTuple):
    """A committed state of a log.

    Attributes:
        length: The length of the log in bytes, from 1.
        end: How the log ends, as in `Encoder.continue_log`; empty if unknown.
    """

    length: int
    end: str = ""


class _Slot(NamedTuple):
    number: int  # of the commit
    check: int  # checksum of the last committed bytes
    inode: int  # of the log; 0 if the file system has none
    commit: Commit


class Journal:
    """The lock and the committed length of a log. Only the owner may write to the log.

    The lock is on the journal file itself, so the kernel releases it when the process ends. The
    file is never replaced while it is locked; otherwise a second writer could lock the new file.
    Each commit overwrites the older of two slots in place. A slot has a checksum, so if a write is
    interrupted, the other slot is still valid and has the previous commit.

    Attributes:
        path: The path of the journal.
        name: The path as text, for errors.
        leftover: The last commit of a writer that did not end cleanly; None if there is none.
    """

    def __init__(self, log: Path) -> None:
        """Lock the journal of a log, and create it if it does not exist.

        Args:
            log: The log, which may be missing; not a symbolic link.

        Raises:
            OptionError: If another writer has the lock; if the system has no file locks; if the
                journal was copied, or belongs to another file that had the name of the log; or if a
                file that is not a journal has its name.
            OSError: If the journal cannot be created.
        """
        if fcntl is None:
            raise OptionError("appending needs file locks, which this system does not have")
        self.path = log.with_name(log.name + JOURNAL_SUFFIX)
        self.name = visible(str(self.path))
        self._number = 0
        self._slot: _Slot | None = None  # the last one
        self._process = os.getpid()
        log_name = visible(str(log))
        with name_in_errors(self.name):
            self._file = self._open_locked(log_name)
        try:
            self.leftover: Commit | None = None
            with name_in_errors(self.name):
                data = os.pread(self._file, 2 * SLOT_BYTES, 0)
            if not data.startswith(_HEAD.encode()[: len(data)]):
                raise self._other_file_error()
            slot = _newest_slot(data)
            if slot is not None:
                self._number = slot.number
                with contextlib.suppress(FileNotFoundError), log.open("rb", buffering=0) as file:
                    if _has_committed_bytes(slot, file.fileno()):
                        _check_same_file(slot, file.fileno(), log_name, self.name)
                        self.leftover, self._slot = slot.commit, slot
                        self._check_not_changed(log_name, os.fstat(file.fileno()).st_size)
            if os.fstat(self._file).st_size > 2 * SLOT_BYTES:  # a change that was repaired
                os.ftruncate(self._file, 2 * SLOT_BYTES)
        except BaseException:
            self.release()
            raise

    def _open_locked(self, log: str) -> int:
        """Open and lock the journal."""
        for _ in range(_ATTEMPTS):
            try:
                file = os.open(self.path, _JOURNAL_FLAGS, 0o666)
            except OSError as error:
                if error.errno in (errno.EISDIR, errno.ELOOP, errno.ENXIO):
                    raise self._other_file_error() from None
                raise
            try:
                if not stat.S_ISREG(os.fstat(file).st_mode):
                    raise self._other_file_error()
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # The last owner may have removed the journal before it was locked here.
                with contextlib.suppress(FileNotFoundError):
                    if os.path.samestat(os.fstat(file), self.path.stat()):
                        return file
            except OSError as error:
                os.close(file)
                if error.errno in (errno.EAGAIN, errno.EACCES):
                    raise LogBusyError(
                        f"{log} is in use by another process that appends to it; try again later"
                    ) from None
                raise
            except BaseException:
                os.close(file)
                raise
            os.close(file)
        raise LogBusyError(f"{log} is in use by other processes that append to it; try again later")

    def _other_file_error(self) -> OptionError:
        return OptionError(
            f"{self.name} is not the journal of a log; rename it, because appending creates a file "
            "with that name"
        )

    def commit(self, commit: Commit, log: int, *, sync: bool = False) -> None:
        """Record that the log has this length.

        Args:
            commit: The state of the log.
            log: The file descriptor of the log.
            sync: Whether to wait until the log and then the journal are on disk.
        """
        if sync:
            os.fsync(log)
        self._number += 1
        slot = _Slot(
            self._number, checksum_before(log, commit.length), os.fstat(log).st_ino, commit
        )
        offset = (self._number - 1) % 2 * SLOT_BYTES
        data = _encode(slot)
        self._slot = slot
        with name_in_errors(self.name):
            while data:
                bytes_written = os.pwrite(self._file, data, offset)
                data, offset = data[bytes_written:], offset + bytes_written
            if sync:
                os.fsync(self._file)

    def report_change(self, log: str, own_length: int, size: int) -> OptionError:
        """Record that another program changed the log, and return the error for it.

        Args:
            log: The name of the log.
            own_length: The length of the log without the bytes of the other program.
            size: The length of the log.
        """
        with contextlib.suppress(OSError):
            os.pwrite(self._file, f"{own_length:020}\n".encode(), 2 * SLOT_BYTES)
        return self._changed_error(log, own_length, size)

    def _check_not_changed(self, log: str, size: int) -> None:
        """Reject a log that another program changed during a run.

        Raises:
            OptionError: If the log was changed, and was not repaired.
        """
        own_length = os.pread(self._file, 20, 2 * SLOT_BYTES)
        if own_length.isdigit() and self.leftover is not None and size > self.leftover.length:
            raise self._changed_error(log, int(own_length), size)

    def _changed_error(self, log: str, own_length: int, size: int) -> OptionError:
        committed = 0 if self._slot is None else self._slot.commit.length
        name = shlex.quote(log)
        remove = f"truncate -s {committed} {name}"
        if size > own_length:
            text = (
                f"{log} was extended by another program during a run. Its bytes {committed} to "
                f"{own_length - 1} are of that run, which is incomplete; the other program wrote those "
                f"after them. To keep the latter: (head -c {committed} {name}; tail -c "
                f"+{own_length + 1} {name}) > NEW && mv NEW {name}; to remove both: {remove}"
            )
        else:
            text = (
                f"{log} was truncated by another program during a run, so its bytes from "
                f"{committed} may be of that run or of the other program. To remove them: {remove}"
            )
        return OptionError(f"{text}. Then delete {self.name}")

    def has_committed(self, log: int) -> bool:
        """Whether a log, given by its file descriptor, still has the committed bytes."""
        return self._slot is not None and _has_committed_bytes(self._slot, log)

    def remove(self) -> None:
        """Remove the journal, since all of the log is committed, and release the lock."""
        if self._process == os.getpid():
            # Removed before the lock is released, so that the next writer creates a new journal.
            with contextlib.suppress(FileNotFoundError), name_in_errors(self.name):
                self.path.unlink()
        self.release()

    def release(self) -> None:
        """Release the lock and keep the journal."""
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)


def journal_path(log: str) -> str:
    """Return the path of the journal of a log, following a symbolic link."""
    return (os.path.realpath(log) if os.path.islink(log) else log) + JOURNAL_SUFFIX  # noqa: PTH114


def committed_length(log: str, file: int) -> int | None:
    """Return the committed length of a log; None if all of it is committed.

    Args:
        log: The path of the log.
        file: The file descriptor of the opened log.
    """
    try:
        journal = os.open(journal_path(log), os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError:  # there is no journal that this user may read
        return None
    try:
        if not stat.S_ISREG(os.fstat(journal).st_mode):
            return None
        slot = _newest_slot(os.read(journal, 2 * SLOT_BYTES))
    finally:
        os.close(journal)
    return slot.commit.length if slot is not None and _matches_log(slot, file) else None


def remove_stale(log: Path) -> None:
    """Remove the journal that a killed writer left, after the log was replaced by another one.

    Otherwise, the journal would apply to the new log if the new log began with the same bytes. A
    journal whose writer is still running is kept: that writer notices that its log was replaced.

    Args:
        log: The log, not a symbolic link.
    """
    if fcntl is None:
        return
    path = log.with_name(log.name + JOURNAL_SUFFIX)
    try:
        file = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:  # usually, there is no journal
        return
    try:
        is_journal = os.pread(file, len(_HEAD), 0) == _HEAD.encode()
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if is_journal and os.path.samestat(os.fstat(file), path.stat()):
            path.unlink()
    except OSError:  # another writer has the lock, or it is not a regular file
        return
    finally:
        os.close(file)


def _matches_log(slot: _Slot, log: int) -> bool:
    """Whether a log is the file that was appended to, and has the committed bytes."""
    return _is_same_file(slot, log) and _has_committed_bytes(slot, log)


def _has_committed_bytes(slot: _Slot, log: int) -> bool:
    """Whether a log has the committed bytes."""
    length = slot.commit.length
    return os.fstat(log).st_size >= length and checksum_before(log, length) == slot.check


def _is_same_file(slot: _Slot, log: int) -> bool:
    """Whether a log is the file that was appended to, according to its inode.

    The inode is compared without the device, whose number changes when a network file system is
    mounted again, and differs between machines. A journal without an inode applies only on a file
    system without inodes.
    """
    return os.fstat(log).st_ino == slot.inode


def _check_same_file(slot: _Slot, log: int, name: str, journal: str) -> None:
    """Reject another file that has the committed bytes and more.

    Raises:
        OptionError: If the file is not the one that was appended to. The last bytes of a copy may
            be uncommitted, but those of a file that replaced the log are messages. rdfm cannot
            distinguish the two cases.
    """
    length = slot.commit.length
    if os.fstat(log).st_size == length or _is_same_file(slot, log):
        return
    raise OptionError(
        f"{journal} was left by a run that appended to another file: {name} was replaced or copied "
        f"since then; if the log was replaced, delete {journal}; if the log was copied or restored "
        f"from a backup, shorten it to its committed length (truncate -s {length})"
    )


def checksum_before(log: int, length: int) -> int:
    """Return the checksum of the last `CHECKED_BYTES` before a length of a log.

    Args:
        log: The file descriptor of the log.
        length: The length.
    """
    start = max(length - CHECKED_BYTES, 0)
    data = b""
    while start + len(data) < length:
        piece = os.pread(log, length - start - len(data), start + len(data))
        if not piece:
            break
        data += piece
    return zlib.crc32(data)


def _encode(slot: _Slot) -> bytes:
    """Encode a slot as a line of text."""
    length, end = slot.commit
    text = (
        f"{_HEAD} {slot.number:020} {length:020} {slot.check:08x} {slot.inode:016x} {end or '-':10}"
    )
    return f"{text} {zlib.crc32(text.encode()):08x}".ljust(SLOT_BYTES - 1).encode() + b"\n"


def _newest_slot(data: bytes) -> _Slot | None:
    """Return the slot with the newest commit; None if neither is valid."""
    slots = [_decode(data[start : start + SLOT_BYTES]) for start in (0, SLOT_BYTES)]
    return max((slot for slot in slots if slot is not None), default=None)


def _decode(data: bytes) -> _Slot | None:
    """Decode a slot; return None if it is empty or incompletely written."""
    text, _, check = data.decode("ascii", "replace").rstrip().rpartition(" ")
    fields = text.removeprefix(_HEAD).split()
    if len(data) < SLOT_BYTES or len(fields) != 5 or not text.startswith(_HEAD):
        return None
    if check != f"{zlib.crc32(text.encode()):08x}":
        return None
    number, length, checksum, inode, end = fields
    commit = Commit(int(length), "" if end == "-" else end)
    return _Slot(int(number), int(checksum, 16), int(inode, 16), commit)
