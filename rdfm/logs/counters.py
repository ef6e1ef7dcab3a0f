"""Counters in the metadata of messages, as registries of nanopublications write them.

In: the metadata of a message. Out: its counter, or None.
Law: a value that is not exactly one varint of 64 bits is not a counter.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["COUNTER_KEY", "counter_of", "varint"]

COUNTER_KEY = "c"
_MAX_BYTES = 10
_MAX = (1 << 64) - 1


def counter_of(metadata: Mapping[str, bytes]) -> int | None:
    """Return the counter in the metadata of a message; None if there is none."""
    return varint(metadata.get(COUNTER_KEY, b""))


def varint(data: bytes) -> int | None:
    """Return the number of a value that is exactly one varint; None for other values.

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
