"""Rotation of files: which messages of a log go into which of several files.

In: batches, and how much of each was written. Out: parts of batches, each for one file.
Law: how messages are cut into batches changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from rdfm._core import MessageBatch, Slices

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rdfm.message import AnyBatch

__all__ = ["Rotation"]


class Rotation:
    """Divides a log among files that end after so many messages, or with the message that passes so many bytes.

    Attributes:
        is_open: Whether something of the file was written.
    """

    def __init__(self, max_messages: int | None = None, max_bytes: int | None = None) -> None:
        """Take the most of a file; None for any number."""
        self._max_messages = max_messages
        self._max_bytes = max_bytes
        self._slices = Slices()
        self.is_open = False
        self._messages = self._bytes = 0

    def parts(self, batch: AnyBatch) -> Iterator[AnyBatch]:
        """Give the parts of a batch, one after the other; `is_full` is asked after each."""
        start = 0
        while start < len(batch):
            stop = start + self._room(len(batch) - start)
            if isinstance(batch, MessageBatch):
                yield from self._slices.take(batch, start, stop, not self.is_open)
            else:
                yield batch.slice(start, stop)
            start = stop

    def is_full(self, part: AnyBatch, size: int = 0) -> bool:
        """Count a part that was written in so many bytes; gives whether its file ends there."""
        self.is_open = True
        self._messages += len(part) - part.continued
        self._bytes += size
        return (self._max_messages is not None and self._messages >= self._max_messages) or (
            self._max_bytes is not None and self._bytes >= self._max_bytes
        )

    def end(self) -> None:
        """Go on with another file."""
        self.is_open = False
        self._messages = self._bytes = 0

    def _room(self, left: int) -> int:
        """How many messages may go into the file at once."""
        if self._max_bytes is not None:
            return 1  # each may be the last
        return (
            left if self._max_messages is None else min(left, self._max_messages - self._messages)
        )
