"""Counters of nanopublications in a registry's log.

In: the metadata of a message. Out: its counter, or None.
Law: a value that is not exactly one varint of 64 bits is not a counter.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

__all__ = ["KEY", "counter", "counter_of"]

KEY = "c"
_MAX_BYTES = 10
_MAX = (1 << 64) - 1


class _HasMetadata(Protocol):
    @property
    def metadata(self) -> Mapping[str, bytes]: ...


def counter(message: _HasMetadata) -> int | None:
    """Return the number of a nanopublication in the registry that it comes from.

    The number is the metadata `c` of the message, and is valid within one registry and setup id.

    Args:
        message: A message.

    Returns:
        The number; None if the message has no metadata `c`, or it is not exactly one varint.

    Example:
        >>> import rdfm
        >>> counter(rdfm.Message([], metadata={"c": bytes([0xAC, 0x02])}))
        300
    """
    return counter_of(message.metadata)


def counter_of(metadata: Mapping[str, bytes]) -> int | None:
    """Return the counter in the metadata of a message, as `counter` does."""
    data = metadata.get(KEY)
    if not data or len(data) > _MAX_BYTES:
        return None
    number = 0
    for at, byte in enumerate(data):
        number |= (byte & 0x7F) << (7 * at)
        if (byte < 0x80) != (at == len(data) - 1):
            return None
    return number if number <= _MAX else None
