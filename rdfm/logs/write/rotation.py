"""File rotation: splitting a log into several files.

In: batches, and the bytes written for each. Out: slices of batches, each for one file.
Law: the division into batches does not affect the files.
"""

from __future__ import annotations

from collections.abc import Iterator

from rdfm._core import MessageBatch, Slices

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rdfm.message import AnyBatch

__all__ = ["Rotation"]


class Rotation:
    """Splits a log into files.

    A file ends after a maximum number of messages, or with the message that reaches a number of
    bytes.

    Attributes:
        is_open: Whether anything was written to the current file.
    """

    def __init__(self, max_messages: int | None = None, max_bytes: int | None = None) -> None:
        """Initialize with the limits of a file; None for no limit."""
        self._max_messages = max_messages
        self._max_bytes = max_bytes
        self._slices = Slices()
        self.is_open = False
        self._messages = self._bytes = 0

    def split_batch(self, batch: AnyBatch) -> Iterator[AnyBatch]:
        """Yield slices of a batch, one after the other. Call `is_full` after each."""
        start = 0
        while start < len(batch):
            stop = start + self._free_messages(len(batch) - start)
            if isinstance(batch, MessageBatch):
                yield from self._slices.take(batch, start, stop, not self.is_open)
            else:
                yield batch.slice(start, stop)
            start = stop

    def is_full(self, part: AnyBatch, size: int = 0) -> bool:
        """Count a slice that was written as `size` bytes. Return whether the file ends here."""
        self.is_open = True
        self._messages += len(part) - part.continued
        self._bytes += size
        return (self._max_messages is not None and self._messages >= self._max_messages) or (
            self._max_bytes is not None and self._bytes >= self._max_bytes
        )

    def end(self) -> None:
        """Start a new file."""
        self.is_open = False
        self._messages = self._bytes = 0

    def _free_messages(self, count: int) -> int:
        """Return the number of messages that can be added to the file at once."""
        if self._max_bytes is not None:
            return 1  # each message may be the last
        return (
            count if self._max_messages is None else min(count, self._max_messages - self._messages)
        )
