"""Messages into many logs: which message goes into which file of a folder or member of an archive.

In: batches, and an encoder of one log. Out: for a folder `Part`s, for an archive its bytes.
Cost: of a folder one batch; of an archive one message. Law: every part is a whole log; how messages
are cut into batches changes neither names nor bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from rdfm.errors import EncodeError
from rdfm.formats import EncoderLike
from rdfm.logs.rotation import Rotation
from rdfm.storage import archive

if TYPE_CHECKING:
    from rdfm.message import AnyBatch

__all__ = ["ArchiveEncoder", "FolderEncoder", "Part"]

_FILES_A_FOLDER = 1000


class Part(NamedTuple):
    """Bytes of a file.

    Attributes:
        name: Its path in the folder.
        data: What follows of it.
        ended: Whether that is all.
    """

    name: str
    data: bytes
    ended: bool


class FolderEncoder:
    """Encodes messages as many logs: one a message, or several of a number or size."""

    def __init__(
        self,
        make: Callable[[], EncoderLike],
        suffix: str,
        messages: int | None = None,
        bytes: int | None = None,
        make_empty: Callable[[], EncoderLike] | None = None,
    ) -> None:
        """Take how an encoder of one log is made.

        Args:
            make: Gives an encoder at the start of a log.
            suffix: The end of the names.
            messages: Most messages of a log; one where neither is given.
            bytes: Bytes after which a log ends, with its last message (not compressed).
            make_empty: Gives the encoder of a log of one empty message, if that is another.
        """
        self._encoder = make()  # an option that does not fit is told now
        self._make_empty = make_empty
        self._suffix = suffix
        self._single = messages is None and bytes is None
        self._rotation = Rotation(1 if self._single else messages, bytes)
        self._number = 0
        self._dropped: Counter[str] = Counter()
        self._notes: dict[str, None] = {}  # each once, in order

    def encode(self, batch: AnyBatch, /, source: str | None = None) -> list[Part]:
        """Give the parts of a batch, of which `source` is the log.

        Raises:
            EncodeError: A message cannot be written; `completed` holds the parts before it.
        """
        parts: list[Part] = []
        for part in self._rotation.parts(batch):
            holds = self._rotation.is_open or part.record_count or part.continues
            if self._single and not holds and self._make_empty is not None:
                usual, self._encoder = self._encoder, self._make_empty()
                self._put(part, source, parts)
                self._encoder = usual
            else:
                self._put(part, source, parts)
        return parts

    def finish(self) -> list[Part]:
        """Give the end of the last log; of no messages one log, unless each has its own."""
        parts: list[Part] = []
        if self._rotation.is_open or (self._number == 0 and not self._single):
            self._end(parts)
        return parts

    def dropped(self) -> dict[str, int]:
        """Count what was left out so far, by name."""
        return dict(self._dropped + Counter(self._encoder.dropped()))

    def notes(self) -> list[str]:
        """Say what readers of the logs should know, each note once."""
        return list(self._notes | dict.fromkeys(self._encoder.notes()))

    def _put(self, batch: AnyBatch, source: str | None, parts: list[Part]) -> None:
        self._rotation.is_open = True
        try:
            data = self._encoder.encode(batch, source)
        except EncodeError as error:
            if not self._single:
                parts.append(Part(self._name(), error.completed, False))
            error.completed = parts  # type: ignore[assignment]  # as `encode` gives them
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
            return f"{self._number // _FILES_A_FOLDER:03}/{self._number:010}{self._suffix}"
        return f"part-{self._number:05}{self._suffix}"


class ArchiveEncoder:
    """Encodes messages as a tar archive with a log of one message a member."""

    def __init__(
        self,
        make: Callable[[], EncoderLike],
        suffix: str,
        make_empty: Callable[[], EncoderLike] | None = None,
    ) -> None:
        """Take how encoders are made, and the end of the names, as `FolderEncoder` does."""
        self._parts = FolderEncoder(make, suffix, make_empty=make_empty)
        self._written = 0
        self._member: list[bytes] = []

    def encode(self, batch: AnyBatch, /, source: str | None = None) -> bytes:
        """Give the members of a batch, of which `source` is the log.

        Raises:
            EncodeError: A message cannot be written; `completed` holds the members before it.
        """
        try:
            return self._entries(self._parts.encode(batch, source))
        except EncodeError as error:
            error.completed = self._entries(error.completed)  # type: ignore[arg-type]  # of parts
            raise

    def finish(self) -> bytes:
        """Give the end of the archive."""
        members = self._entries(self._parts.finish())
        return members + archive.end(self._written)

    def dropped(self) -> dict[str, int]:
        """Count what was left out so far, by name."""
        return self._parts.dropped()

    def notes(self) -> list[str]:
        """Say what readers of the logs should know, each note once."""
        return self._parts.notes()

    def _entries(self, parts: list[Part]) -> bytes:
        entries = []
        for part in parts:
            self._member.append(part.data)
            if part.ended:
                entries.append(archive.entry(part.name, b"".join(self._member)))
                self._member = []
        data = b"".join(entries)
        self._written += len(data)
        return data
