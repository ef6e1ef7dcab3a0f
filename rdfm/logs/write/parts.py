"""Writing messages to many logs: files in a folder, or members of an archive.

In: batches, and an encoder for one log. Out: for a folder `Part`s, for an archive its bytes.
Cost: for a folder one batch; for an archive one message. Law: every file or member is a complete
log; the division into batches affects neither names nor bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from rdfm._core import MessageBatch
from rdfm.errors import EncodeError
from rdfm.formats import EncoderLike
from rdfm.logs.write.rotation import Rotation
from rdfm.storage import archive

if TYPE_CHECKING:
    from rdfm.message import AnyBatch

__all__ = ["ArchiveEncoder", "FolderEncoder", "NamespaceCounter", "Part", "part_list"]

_FILES_PER_FOLDER = 1000


class Part(NamedTuple):
    """Encoded bytes of a file.

    Attributes:
        name: Path of the file in the folder; empty if the output is one file.
        data: The next bytes of the file.
        ended: Whether the file ends after these bytes.
        continued: Whether the file was ended before, and is now continued.
        end: How a log that is appended to then ends, as in `Encoder.continue_log`; empty if that is
            unknown, and None if the log cannot end there.
        commit: Whether to commit the log if it can end there.
        event_id: The id of the last event in the file, for a stream of events that is appended.
    """

    name: str
    data: bytes | memoryview
    ended: bool = False
    continued: bool = False
    end: str | None = None
    commit: bool = False
    event_id: str | None = None


def part_list(output: bytes | memoryview | list[Part]) -> list[Part]:
    """Return the output of any encoder as parts."""
    return output if isinstance(output, list) else [Part("", output)]


class NamespaceCounter:
    """Counts the namespaces of a log, each declaration once.

    Each file of a folder begins with the current namespaces, so its encoder counts them again.
    """

    def __init__(self) -> None:
        """Initialize at the start of a log."""
        self._count: int | None = None

    def add(self, batch: AnyBatch) -> None:
        """Count the namespaces of a batch."""
        if not isinstance(batch, MessageBatch) or len(batch) == 0:
            return
        declared = batch.declarations()
        if self._count is None:
            here = {name for message, name, _ in declared if message == 0}
            self._count = len(batch.namespaces(0).keys() - here)
        self._count += len(declared)

    def count_once(self, dropped: Mapping[str, int]) -> dict[str, int]:
        """Return the counts of data dropped from all files, counting each namespace once."""
        counts = dict(dropped)
        if "namespaces" in counts:
            counts["namespaces"] = min(counts["namespaces"], self._count or 0)
        return counts


class FolderEncoder:
    """Encodes messages as many logs, each of one message, or of a limited number or size."""

    def __init__(
        self,
        make: Callable[[], EncoderLike],
        suffix: str,
        messages: int | None = None,
        bytes: int | None = None,
        make_empty: Callable[[], EncoderLike] | None = None,
    ) -> None:
        """Initialize with a function that creates the encoder of a log.

        Args:
            make: Creates an encoder.
            suffix: The suffix of the names.
            messages: Maximum number of messages per log; 1 if neither limit is given.
            bytes: Uncompressed size in bytes after which a log ends, at the end of the message.
            make_empty: Creates the encoder for a log of one empty message, if that encoder differs.
        """
        self._encoder = make()  # reports invalid options early
        self._make_empty = make_empty
        self._suffix = suffix
        self._single = messages is None and bytes is None
        self._rotation = Rotation(1 if self._single else messages, bytes)
        self._number = 0
        self._namespaces = NamespaceCounter()
        self._dropped: Counter[str] = Counter()
        self._notes: dict[str, None] = {}  # each once, in order

    def encode(self, batch: AnyBatch, /, source: str | None = None) -> list[Part]:
        """Return the parts of a batch of the log `source`.

        Raises:
            EncodeError: If a message cannot be written; `completed` contains the parts before it.
        """
        self._namespaces.add(batch)
        parts: list[Part] = []
        for part in self._rotation.split_batch(batch):
            has_content = self._rotation.is_open or part.record_count or part.continues
            if self._single and not has_content and self._make_empty is not None:
                previous, self._encoder = self._encoder, self._make_empty()
                self._encode_slice(part, source, parts)
                self._encoder = previous
            else:
                self._encode_slice(part, source, parts)
        return parts

    def finish(self) -> list[Part]:
        """Return the end of the last log.

        Without messages, one empty log is written, unless each message has a separate log.
        """
        parts: list[Part] = []
        if self._rotation.is_open or (self._number == 0 and not self._single):
            self._end(parts)
        return parts

    def dropped(self) -> dict[str, int]:
        """Return counts of the data dropped so far, by name."""
        return self._namespaces.count_once(self._dropped + Counter(self._encoder.dropped()))

    def notes(self) -> list[str]:
        """Return notes for readers of the logs, without duplicates."""
        return list(self._notes | dict.fromkeys(self._encoder.notes()))

    def _encode_slice(self, batch: AnyBatch, source: str | None, parts: list[Part]) -> None:
        self._rotation.is_open = True
        try:
            data = self._encoder.encode(batch, source)
        except EncodeError as error:
            if not self._single:
                parts.append(Part(self._name(), error.completed, False))
            error.completed = parts  # type: ignore[assignment]  # as `encode` returns them
            self._rotation.is_open = not self._single
            raise
        parts.append(Part(self._name(), data, False))
        if self._rotation.is_full(batch, len(data)):
            self._end(parts)

    def _end(self, parts: list[Part]) -> None:
        parts.append(Part(self._name(), self._encoder.finish(), True))
        self._dropped.update(self._encoder.dropped())
        self._notes |= dict.fromkeys(self._encoder.notes())
        self._encoder.reset()
        self._number += 1
        self._rotation.end()

    def _name(self) -> str:
        if self._single:
            return f"{self._number // _FILES_PER_FOLDER:03}/{self._number:010}{self._suffix}"
        return f"part-{self._number:05}{self._suffix}"


class ArchiveEncoder:
    """Encodes messages as a tar archive; each member is a log of one message."""

    def __init__(
        self,
        make: Callable[[], EncoderLike],
        suffix: str,
        make_empty: Callable[[], EncoderLike] | None = None,
    ) -> None:
        """Initialize with functions that create encoders, and the suffix, as in `FolderEncoder`."""
        self._parts = FolderEncoder(make, suffix, make_empty=make_empty)
        self._written = 0
        self._member: list[bytes | memoryview] = []

    def encode(self, batch: AnyBatch, /, source: str | None = None) -> bytes:
        """Return the members of a batch of the log `source`.

        Raises:
            EncodeError: If a message cannot be written; `completed` contains the members before it.
        """
        try:
            return self._encode_entries(self._parts.encode(batch, source))
        except EncodeError as error:
            error.completed = self._encode_entries(error.completed)  # type: ignore[arg-type]  # of parts
            raise

    def finish(self) -> bytes:
        """Return the end of the archive."""
        members = self._encode_entries(self._parts.finish())
        return members + archive.end(self._written)

    def dropped(self) -> dict[str, int]:
        """Return counts of the data dropped so far, by name."""
        return self._parts.dropped()

    def notes(self) -> list[str]:
        """Return notes for readers of the logs, without duplicates."""
        return self._parts.notes()

    def _encode_entries(self, parts: list[Part]) -> bytes:
        entries = []
        for part in parts:
            self._member.append(part.data)
            if part.ended:
                entries.append(archive.entry(part.name, b"".join(self._member)))
                self._member = []
        data = b"".join(entries)
        self._written += len(data)
        return data
