"""Counters of messages, which a service that numbers messages writes to their metadata.

In: the metadata of messages. Out: the counter of a message, or those of the first and the last one.
Law: only the package of the service knows how the metadata represents a counter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rdfm.message import AnyBatch

__all__ = ["CounterRange", "counter_of", "set_counter_reader"]


def _no_counter(_: Mapping[str, bytes]) -> int | None:
    return None


_read_counter: Callable[[Mapping[str, bytes]], int | None] = _no_counter


def set_counter_reader(reader: Callable[[Mapping[str, bytes]], int | None]) -> None:
    """Set the function that reads a counter. Called by higher layers, which know the services.

    Args:
        reader: Returns the counter in the metadata of a message; None if there is none. It is not
            called for empty metadata.
    """
    global _read_counter
    _read_counter = reader


def counter_of(metadata: Mapping[str, bytes]) -> int | None:
    """Return the counter in the metadata of a message; None if there is none."""
    return _read_counter(metadata) if metadata else None


class CounterRange:
    """The counters of the first and the last message of a sequence of batches."""

    def __init__(self) -> None:
        """Start without messages."""
        self._has_messages = False
        self._first: int | None = None
        self._last: int | None = None

    def add(self, batch: AnyBatch) -> None:
        """Add a batch."""
        if batch.kind != "messages" or not len(batch):
            return
        if not self._has_messages:
            self._has_messages, self._first = True, counter_of(batch.metadata(0))
        if self._first is not None:
            self._last = counter_of(batch.metadata(len(batch) - 1))

    @property
    def bounds(self) -> tuple[int, int] | None:
        """The counters of the first and the last message; None if one of them has none."""
        return None if self._first is None or self._last is None else (self._first, self._last)
