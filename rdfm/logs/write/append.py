"""Appending to a log: the output that continues a file, and the encoder for it.

In: the log to append to. Out: `AppendOutput`, which `create_log` and `convert` write to, and
the encoder of its messages.
Cost: finding the end of the log. Law: a log contains the messages of each run that ended cleanly,
exactly once and in order, and nothing else; `sync` commits each batch. Invalid options and logs are
rejected before a byte of the log changes.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import warnings
import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rdfm.errors import EncodeError, OptionError, Remedy, name_in_errors, spell_option, visible
from rdfm.formats import Format, FormatSpec
from rdfm.logs.journal import Commit, Journal, byte_count
from rdfm.logs.write.parts import Part
from rdfm.storage import archive as archives
from rdfm.storage import compression as compressions
from rdfm.storage.paths import JOURNAL_SUFFIX, describe_invalid_path, is_live, local_target

if TYPE_CHECKING:
    from rdfm.logs.write.log_end import Ending, StoredLog
    from rdfm.logs.write.stream_state import StreamState
    from rdfm.message import AnyBatch

# With `O_APPEND`, nothing is written after a gap if another program truncates the log.
_FLAGS = os.O_RDWR | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
# Options that apply to an entire log, in addition to those in its header.
_FIXED = frozenset({"delimited", "dialect", "flat", "frames", "framing"})

# Default interval of commits during a run whose input may have no end, and of the checks whether
# another program has changed the log.
COMMIT_SECONDS = 10

__all__ = [
    "COMMIT_SECONDS",
    "AppendEncoder",
    "AppendOutput",
    "AppendSettings",
    "check_appending",
]


class AppendSettings(NamedTuple):
    """Settings for appending to a log.

    Attributes:
        format: The format to write.
        sync: Whether to commit each batch, and wait until it is on disk.
        repair: Whether to shorten a log that ends inside a message.
        commit_seconds: Interval of commits during the run; 0 to commit only at the end. None means
            `COMMIT_SECONDS` if an input may be endless, otherwise 0.
    """

    format: Format
    sync: bool = False
    repair: bool = False
    commit_seconds: int | None = None

    @classmethod
    def from_options(
        cls,
        format: Format,
        append: bool,
        sync: bool,
        repair: bool,
        keep_partial: bool,
        commit_seconds: int | None = None,
    ) -> AppendSettings | None:
        """Create the settings from the options; None if the log will be replaced.

        Raises:
            OptionError: If an option requires another one, or conflicts with it.
        """
        if append and keep_partial:
            raise OptionError(
                f"{spell_option('keep_partial')} applies only to new files",
                remedies=[Remedy("stage", "sync", "true", "keeps each batch in the log")],
            )
        if append:
            return cls(format, sync, repair, commit_seconds)
        for name, is_given in (
            ("sync", sync),
            ("repair", repair),
            ("commit_seconds", commit_seconds is not None),
        ):
            if is_given:
                raise OptionError(
                    f"{spell_option(name)} applies only when appending",
                    remedies=[Remedy("stage", "append", "true", "continues the log")],
                )
        return None


class AppendEncoder:
    """Encodes the messages that are appended to a log."""

    def __init__(
        self,
        encoder: Any,
        ending: Ending | None,
        *,
        pauses: bool,
        note: str | None,
    ) -> None:
        """Initialize with the encoder of the format.

        Args:
            encoder: An encoder at the start of a log.
            ending: The end of the log; None for a new log.
            pauses: Whether the log may end after each batch.
            note: A note about the log, if any.

        Raises:
            OptionError: If the options do not allow another message in the log.
        """
        self._encoder = encoder
        self._pauses = pauses
        self._note = note
        self._fixed = (
            _FIXED | set(ending.header.get("options", ())) if ending is not None else set()
        )
        self._begun = ending is None
        self._before = b"\n" if ending is not None and ending.line_feed else b""
        if ending is not None:
            encoder.continue_log(ending.end)

    def encode(self, batch: AnyBatch, /, source: str | None = None) -> list[Part]:
        """Encode a batch that was read from the log `source`.

        Raises:
            EncodeError: If a message cannot be written; `completed` contains the messages before
                it.
        """
        if len(batch) == 0:
            return []
        before, self._before, self._begun = self._before, b"", True
        try:
            data = self._encoder.encode(batch, source)
        except EncodeError as error:
            is_inside = batch.continued and error.message_index == batch.first_message_index
            data = before + error.completed if error.completed else b""
            end = None if is_inside else ""
            error.completed = [Part("", data, end=end, commit=self._pauses)]  # type: ignore[assignment]  # as `encode` returns them
            self._drop_header_remedies(error)
            raise
        if not self._pauses:
            return [Part("", before + data)]
        rest, end = self._encoder.pause()
        return [Part("", before + data + rest, end=end, commit=True)]

    def pause(self) -> list[Part]:
        """Return what completes the log, and commits it, if no message is incomplete."""
        if not self._begun:
            return []
        rest, end = self._encoder.pause()
        return [Part("", rest, end=end, commit=True)]

    def _drop_header_remedies(self, error: EncodeError) -> None:
        """Remove remedies that would change the header of the log, and say why in the error."""
        kept = [
            remedy
            for remedy in error.remedies
            if remedy.side != "write" or remedy.option not in self._fixed
        ]
        if len(kept) < len(error.remedies):
            error.remedies = tuple(kept)
            error.reason += (
                "; the options of a log cannot change, so write these messages to a new log"
            )

    def finish(self) -> list[Part]:
        """Return the end of the log; nothing if no message was appended to an existing log."""
        if not self._begun:
            return []
        rest, end = self._encoder.pause()
        return [Part("", rest + self._encoder.finish(), end=end)]

    def dropped(self) -> dict[str, int]:
        """Return counts of the data dropped so far, by name."""
        return dict(self._encoder.dropped())

    def notes(self) -> list[str]:
        """Return notes for readers of the log."""
        return [*([] if self._note is None else [self._note]), *self._encoder.notes()]


class AppendOutput:
    """A log to append to. It is locked until `commit` or `discard`.

    A log that does not exist or is empty is written under a temporary name until its first commit.

    Attributes:
        name: The file's name, for errors.
        bytes_written: Bytes written so far (compressed).
        source: The properties in the header of the log, for the argument `source` of
            `Format.encoder`; empty for a new log.
    """

    def __init__(
        self,
        target: object,
        compression: str | None,
        appending: AppendSettings,
    ) -> None:
        """Lock a log and find its end.

        Args:
            target: As in `create_log`.
            compression: As in `create_log`.
            appending: The settings for appending.

        Raises:
            OptionError: If the log cannot be appended to, or another process appends to it.
            DecodeError: If the log is invalid, or ends inside a message.
            OSError: If the log cannot be opened.
        """
        path = _local_file(target, appending.format.spec)
        self.name = visible(path)
        self.bytes_written = 0
        self.source: Mapping[str, Any] = {}
        self._format = appending.format
        self._sync = appending.sync
        self._ending: Ending | None = None
        self._stored: StoredLog | None = None
        self._end = ""  # how the log ends after the bytes written so far
        self._note: str | None = None
        self._compressor: compressions.Compressor | None = None
        self._stream: StreamState | None = None
        self._event_id: str | None = None  # of the last event that was written
        # Symbolic links are followed.
        final = Path(os.path.realpath(path))
        self._journal_name = visible(str(final) + JOURNAL_SUFFIX)
        with name_in_errors(self.name, keep=self._journal_name):
            self._state = _AppendedFiles(self.name, final, Journal(final))
            self._finalizer = weakref.finalize(self, _roll_back_unclosed, self._state)
            try:
                self._open(compression, appending.repair)
            except BaseException:
                self.discard()
                raise

    def _open(self, compression: str | None, repair: bool) -> None:
        """Open the log, remove data that the last writer did not commit, and find the end."""
        state = self._state
        try:
            size = state.final.stat().st_size
        except FileNotFoundError:
            size = 0
        if size == 0:
            by_suffix = compressions.find_by_suffix(self.name)
            self._compression = by_suffix if compression is None else _compression(compression)
            return
        last_commit = state.journal.leftover
        if last_commit is not None:
            state.uncommitted, state.length = last_commit.length < size, size
            if state.uncommitted:
                removed = byte_count(size - last_commit.length)
                self._note = f"{self.name}: removed {removed} after the last commit"
            size = last_commit.length
        state.committed = size
        file = state.file = os.open(state.final, _FLAGS)
        state.shorten()
        detected = compressions.by_content(os.pread(file, compressions.MAGIC_BYTES, 0))
        self._compression = detected
        if compression is not None:
            requested, _, _ = compression.partition(":")
            if requested != (detected or "none"):
                option = spell_option("compression")
                raise OptionError(
                    f"{option} is {requested}, but {self.name} has {detected or 'none'}, which cannot "
                    f"change; omit {option}"
                )
            self._compression = _compression(compression)
        from rdfm.logs.write.log_end import StoredLog, find_end  # costly to import

        log = StoredLog(file, size, self.name, self._format, detected)
        if log.is_empty():
            state.replace_empty()
            return
        ending = find_end(
            log, repair=repair, known_end="" if last_commit is None else last_commit.end
        )
        if ending.length < size:
            removed = byte_count(size - ending.length)
            self._note = f"{self.name}: removed {removed} of an incomplete message"
            os.ftruncate(file, ending.length)
        state.length = ending.length
        self._ending, self._end, self._stored = ending, ending.end, log
        self.source = _source(ending.header)
        # This end is recorded before the first byte is written, so that readers stop here.
        known = "" if ending.line_feed else ending.end
        state.commit(Commit(ending.length, known), sync=self._sync)
        if self._sync:
            state.sync_folder()

    @property
    def committed_bytes(self) -> int:
        """The committed length of the log; 0 for a new log without a commit."""
        return self._state.committed

    def continue_stream(self, url: str, last_event_id: str | None) -> str:
        """Let each commit save the id of the last event of a stream.

        Args:
            url: The URL of the stream.
            last_event_id: The id of the event after which the stream begins; None means the last
                event in the log.

        Returns:
            The id of the event after which the stream begins; empty for its start.

        Raises:
            OptionError: If the id is not known.
        """
        from rdfm.logs.write.stream_state import StreamState

        state = self._state
        with name_in_errors(self.name, keep=self._journal_name):
            stream = StreamState(
                state.final, self.name, url, state.descriptor, state.length, last_event_id
            )
        self._stream = stream
        return stream.last_event_id

    def commit_each_batch(self) -> None:
        """Commit as with `sync`. Call it before `encoder`."""
        self._sync = True
        if self._ending is not None:
            self._state.sync_folder()

    def count_messages(self) -> int:
        """Return the number of messages in the log before this run.

        Raises:
            DecodeError: If the log is invalid.
            OSError: If the log cannot be read.
        """
        if self._ending is None or self._stored is None:
            return 0
        from rdfm.logs.write.log_end import count_messages  # costly to import

        with name_in_errors(self.name):
            return count_messages(self._stored, self._ending)

    def batches(self) -> Iterator[AnyBatch]:
        """Yield the messages in the log before this run, in parts.

        Raises:
            DecodeError: If the log is invalid.
            OSError: If the log cannot be read.
        """
        if self._ending is not None and self._stored is not None:
            from rdfm.logs.write.log_end import stored_batches  # costly to import

            with name_in_errors(self.name):
                yield from stored_batches(self._stored, self._ending)

    def check(self, options: Mapping[str, Any]) -> None:
        """Reject options that conflict with the header of the log.

        Raises:
            OptionError: If an option conflicts with the header.
        """
        if self._ending is None:
            return
        supported = self._format.spec.options("write")
        flat = options.get("flat")
        if "flat" in supported and flat is not None and supported["flat"].value(flat):
            raise OptionError(
                f"{spell_option('flat')} writes a single message, but {self.name} already has messages; "
                f"omit {spell_option('flat')}"
            )
        if "dialect" not in supported:
            return
        header = self._ending.header
        for name, actual in (
            ("dialect", header.get("dialect") or "comment"),
            ("version_label", header.get("version_label")),
        ):
            requested = options.get(name)
            if requested is not None and requested != actual:
                raise OptionError(
                    f"{spell_option(name)} is {requested}, but {self.name} has {actual or 'none'}, which "
                    f"cannot change; omit {spell_option(name)}"
                )

    def encoder(self, encoder: Any) -> AppendEncoder:
        """Return an encoder that continues the log, based on an encoder at the start of a log.

        Raises:
            OptionError: If the options do not allow another message in the log.
        """
        return AppendEncoder(
            encoder,
            self._ending,
            pauses=self._sync,
            note=self._note,
        )

    def check_process(self) -> None:
        """Reject use of the log in a process forked from the one that opened it.

        Raises:
            PermissionError: If another process opened the log.
        """
        if self._state.process != os.getpid():
            raise PermissionError(
                errno.EPERM,
                "opened by the parent process; open the log after the fork",
                self.name,
            )

    def write(self, parts: list[Part]) -> None:
        """Write bytes. With `sync`, they are committed if the log may end after them."""
        self.check_process()
        with name_in_errors(self.name, keep=self._journal_name):
            for part in parts:
                data = part.data
                if data and self._compression is not None:
                    if self._compressor is None:  # a new member
                        self._compressor = compressions.BlockCompressor(self._compression)
                    data = self._compressor.compress(data)
                self._write(data)
                if part.event_id is not None:
                    self._event_id = part.event_id
                if part.end is not None:
                    self._end = part.end
                    if part.commit:
                        self._commit()

    def check_unchanged(self) -> None:
        """Check that no other program has changed or replaced the log.

        Raises:
            OptionError: If the log was truncated, extended, replaced or removed.
        """
        with name_in_errors(self.name, keep=self._journal_name):
            self._state.check_unchanged()

    def _write(self, data: bytes | memoryview) -> None:
        if data:
            self.bytes_written += self._state.write(data)

    def _commit(self) -> None:
        """Commit everything written so far."""
        if self._compressor is not None:
            compressor, self._compressor = self._compressor, None
            self._write(compressor.flush())
        if self._stream is not None and self._event_id is not None:
            self._stream.save(self._state.descriptor, self._state.length, self._event_id)
        self._state.publish(self._end, sync=self._sync)

    def commit(self) -> None:
        """Commit the rest, and release the log."""
        try:
            self.check_process()
            with name_in_errors(self.name, keep=self._journal_name):
                if self._ending is None and not self.bytes_written and self._compression:
                    self._compressor = self._compressor or compressions.BlockCompressor(
                        self._compression
                    )
                self._commit()
                if self._stream is not None:
                    self._stream.end()
                self._state.close()
        except BaseException:
            self.discard()
            raise
        self._finalizer.detach()

    def discard(self) -> None:
        """Remove uncommitted data, and release the log; in a forked process, only close it.

        Raises:
            OptionError: If another program changed the log during the run. Nothing is removed.
        """
        self._finalizer.detach()
        self._state.roll_back()

    def keep_partial(self) -> None:
        """Discard the output. No partial file is kept."""
        self.discard()


class _AppendedFiles:
    """The files of an appended log, in a separate object that a finalizer can use.

    Attributes:
        name: The name of the log, for errors.
        final: The log.
        journal: Its journal.
        process: The process that opened the log.
        file: The file descriptor that is written to; -1 if there is none.
        committed: The committed length; 0 for a new log.
        length: The length of the file, unless another program changes it.
        uncommitted: Whether the log may have bytes of this run after the committed length.
    """

    _pending: bytes | memoryview = b""  # bytes that are being written

    def __init__(self, name: str, final: Path, journal: Journal) -> None:
        self.name = name
        self.final = final
        self.journal = journal
        self.process = os.getpid()
        self.file = -1
        self.committed = 0
        self.length = 0
        self.uncommitted = False
        self._temporary: Path | None = None  # of a new log
        self._empty_bytes = 0  # size of the log without content that a new log replaces

    @property
    def descriptor(self) -> int | None:
        """The file descriptor that is written to; None if there is no file yet."""
        return None if self.file < 0 else self.file

    def write(self, data: bytes | memoryview) -> int:
        """Write all bytes; return their number.

        Raises:
            OptionError: If another program changed the log.
        """
        if self.file < 0:
            self._create()
        self._check_length()
        self.uncommitted = True
        before, written = self.length, 0
        while written < len(data):
            self._pending = bytes(data[written:]) if written else bytes(data)
            count = os.write(self.file, self._pending)
            self.length += count
            written += count
        self._pending = b""
        size = os.fstat(self.file).st_size
        start = size - len(data)
        if 0 <= start != before and os.pread(self.file, len(data), start) == data:
            # The log was truncated or extended since the check, so these bytes are separate.
            os.ftruncate(self.file, start)
            self.length = before
        self._check_length()
        return len(data)

    def check_unchanged(self) -> None:
        """Check that no other program has changed or replaced the log.

        Raises:
            OptionError: If the log was truncated, extended, replaced or removed.
        """
        if self.file < 0 or self._temporary is not None:
            return
        if not self._is_current():
            raise OptionError(
                f"{self.name} was replaced or removed by another program; append to it again"
            )
        self._check_length()

    def _check_length(self) -> None:
        size = os.fstat(self.file).st_size
        if size != self.length:
            changed = "truncated" if size < self.length else "extended"
            raise OptionError(f"{self.name} was {changed} by another program; append to it again")

    def replace_empty(self) -> None:
        """Prepare to replace this log, which has no content, with a new one."""
        self._empty_bytes = os.fstat(self.file).st_size
        os.close(self.file)
        self.file, self.committed = -1, 0

    def _check_own(self) -> None:
        """Check that only this run has written after the committed length.

        Raises:
            OptionError: If another program changed the log, and may have written there.
        """
        if self.file < 0 or not self.uncommitted or not self.journal.has_committed(self.file):
            return
        size = os.fstat(self.file).st_size
        rest = os.pread(self.file, len(self._pending) + 1, self.length)  # of an interrupted write
        if size not in (self.committed, self.length) and not (
            rest and self._pending[: len(rest)] == rest
        ):
            raise self.journal.report_change(self.name, self.length, size)

    def shorten(self) -> None:
        """Remove uncommitted data from the log."""
        # If another program truncated the log, it has nothing to remove.
        if self.uncommitted and self.journal.has_committed(self.file):
            os.ftruncate(self.file, self.committed)
        self.uncommitted = False

    def _create(self) -> None:
        """Create the temporary file of a new log."""
        mode = 0o666
        with contextlib.suppress(FileNotFoundError):
            mode = stat.S_IMODE(self.final.stat().st_mode)
        name = os.fsdecode(os.fsencode(self.final.name)[:100])
        self._temporary = self.final.with_name(f".{name}.{os.urandom(6).hex()}.tmp")
        self.file = os.open(self._temporary, _FLAGS | os.O_CREAT | os.O_EXCL, mode)
        self.length = 0

    def publish(self, end: str, *, sync: bool) -> None:
        """Commit everything that was written, and give a new log its name."""
        if self.file < 0:
            self._create()
        if self._temporary is not None:
            if sync:
                os.fsync(self.file)
            with contextlib.suppress(FileNotFoundError):
                if self.final.stat().st_size not in (0, self._empty_bytes):
                    raise OptionError(
                        f"{self.name} was written by another program; append to it again"
                    )
            self._temporary.replace(self.final)
            self._temporary = None
            if sync:
                self.sync_folder()
        self.check_unchanged()
        # An empty log is not recorded, because it has no bytes that identify it.
        if self.length > self.committed:
            self.commit(Commit(self.length, end), sync=sync)

    def _is_current(self) -> bool:
        """Whether the path of the log still refers to the file being written."""
        try:
            return os.path.samestat(os.fstat(self.file), self.final.stat())
        except FileNotFoundError:
            return False

    def commit(self, commit: Commit, *, sync: bool) -> None:
        """Record a committed state of the log."""
        self.journal.commit(commit, self.file, sync=sync)
        self.committed = commit.length
        self.uncommitted = False

    def sync_folder(self) -> None:
        """Wait until the names of the files are on disk."""
        folder = os.open(self.final.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def roll_back(self) -> None:
        """Remove uncommitted data, and close the files. May be called again.

        Raises:
            OptionError: If another program changed the log during the run. Nothing is removed.
        """
        if self.process != os.getpid():
            self._close_files()
            return
        try:
            if self._temporary is not None:
                self._temporary.unlink(missing_ok=True)
                self._temporary = None
            else:
                self._check_own()
                self.shorten()
        except OptionError:
            self._close_files()
            raise
        except OSError:  # the journal stays, so that the next writer removes the data
            self._close_files()
        else:
            self.close()

    def close(self) -> None:
        """Close the files and remove the journal, since all of the log is committed."""
        if self.file >= 0:
            file, self.file = self.file, -1
            os.close(file)
        self.journal.remove()

    def _close_files(self) -> None:
        if self.file >= 0:
            file, self.file = self.file, -1
            os.close(file)
        self.journal.release()


def _roll_back_unclosed(state: _AppendedFiles) -> None:
    """Roll back a log that was never closed, when it is garbage collected or Python exits."""
    changed = ""
    try:
        state.roll_back()
    except OptionError as error:
        changed = f". {error}"
    if state.process == os.getpid():
        warnings.warn(
            f"the log {state.name} was not closed, so the messages appended to it are lost; use a "
            f"with block{changed}",
            ResourceWarning,
            stacklevel=2,
        )


def check_appending(
    target: object, appending: AppendSettings, *, overwrite: bool = False, folder: bool = False
) -> None:
    """Reject a target if its name shows that it cannot be appended to.

    If `folder` is true, the logs in it are appended to.

    Raises:
        OptionError: If the target cannot be appended to.
    """
    if overwrite:
        raise OptionError(
            f"{spell_option('overwrite')} replaces a folder, and {spell_option('append')} continues a log; "
            "use one of them"
        )
    _local_file(target, appending.format.spec, folder=folder)


def _local_file(target: object, spec: FormatSpec, *, folder: bool = False) -> str:
    """Return the path of a target that can be appended to.

    Raises:
        OptionError: If the target cannot be appended to.
    """
    if not isinstance(target, (str, os.PathLike)):
        shown = getattr(target, "name", None)
        what = (
            f"{shown} is a stream"
            if isinstance(shown, str)
            else f"{describe_invalid_path(target)} is not a path"
        )
        raise OptionError(f"cannot append: {what}; give the path of a local file")
    path = local_target(os.fspath(target))
    if is_live(path or target):
        raise OptionError(
            f"{os.fspath(target)} is a live stream, to which all messages are appended anyway; "
            f"omit {spell_option('append')}"
        )
    if path is None:
        raise OptionError(
            f"cannot append to the URL {os.fspath(target)}; append to a local file, then copy it"
        )
    shown = visible(path)
    if archives.stem(path) is not None:
        raise OptionError(
            f"cannot append to {shown}: an archive has an end mark; write to a folder, such as out/"
        )
    if not folder and (path.endswith(("/", os.sep)) or Path(path).is_dir()):
        raise OptionError(f"cannot append to {shown}: it is a folder; name a file in it")
    if not folder and Path(path).exists() and not Path(path).is_file():
        raise OptionError(
            f"cannot append to {shown}: it is a pipe or a device; give the path of a file"
        )
    if spec.append == "never":
        reason = spec.not_appended or "the format does not support it"
        raise OptionError(
            f"cannot append to {shown}: in {spec.title}, {reason}; write each run to its own file in "
            "a folder"
        )
    return path


def _source(header: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties in a header, for the encoder that continues the log."""
    source: dict[str, Any] = {"dialect": header.get("dialect") or "comment", "continued": True}
    if "options" in header:
        source |= {"options": dict(header["options"]), "requested": True}
    return source


def _compression(name: str) -> str | None:
    """Check the name of a compression, and return it; None for "none"."""
    if name == "none":
        return None
    compressions.compressor(name)
    return name
