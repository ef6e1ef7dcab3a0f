"""Counters in message metadata, as written by nanopublication registries.

In: the metadata of a message. Out: its counter, or None.
Law: a value that is not exactly one 64-bit varint is not a counter.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rdfm._core import MessageBatch

if TYPE_CHECKING:
    from rdfm.message import AnyBatch

__all__ = ["COUNTER_KEY", "CounterRange", "counter_of", "varint"]

COUNTER_KEY = "c"
_MAX_BYTES = 10
_MAX = (1 << 64) - 1


def counter_of(metadata: Mapping[str, bytes]) -> int | None:
    """Return the counter in the metadata of a message; None if there is none."""
    return varint(metadata.get(COUNTER_KEY, b""))


def varint(data: bytes) -> int | None:
    """Decode a value that consists of exactly one varint; return None for other values.

    Example:
        >>> varint(bytes([0xAC, 0x02])), varint(b"")
        (300, None)
    """
    if not data or len(data) > _MAX_BYTES:
        return None
    number = 0
    for at, byte in enumerate(data):
        number |= (byte & 0x7F) << (7 * at)
        if (byte < 0x80) != (at == len(data) - 1):
            return None
    return number if number <= _MAX else None


class CounterRange:
    """The counters of the first and the last message of a sequence of batches."""

    def __init__(self) -> None:
        """Start without messages."""
        self._begun = False
        self._first: int | None = None
        self._last: int | None = None

    def add(self, batch: AnyBatch) -> None:
        """Add a batch."""
        if not isinstance(batch, MessageBatch) or not len(batch):
            return
        if not self._begun:
            self._begun, self._first = True, counter_of(batch.metadata(0))
        if self._first is not None:
            self._last = counter_of(batch.metadata(len(batch) - 1))

    @property
    def ends(self) -> tuple[int, int] | None:
        """The counters of the first and the last message; None if one of them has none."""
        return None if self._first is None or self._last is None else (self._first, self._last)
