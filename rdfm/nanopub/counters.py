"""Counters of nanopublications in registry logs.

In: the metadata of a message. Out: its counter, or None.
Cost: the same as reading the metadata.
Law: a value that is not exactly one 64-bit varint is not a counter.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

__all__ = ["counter", "find_counter"]

_KEY = "c"
_MAX_BYTES = 10
_MAX = (1 << 64) - 1


class _HasMetadata(Protocol):
    @property
    def metadata(self) -> Mapping[str, bytes]: ...


def counter(message: _HasMetadata) -> int | None:
    """Return the number of a nanopublication in the registry that served it.

    The number is the metadata entry `c` of the message, and is valid only within one registry and
    setup id.

    Args:
        message: A message.

    Returns:
        The number; None if the message has no metadata entry `c`, or the entry is not exactly one
        varint.

    Example:
        >>> import rdfm
        >>> counter(rdfm.Message([], metadata={"c": bytes([0xAC, 0x02])}))
        300
    """
    return find_counter(message.metadata)


def find_counter(metadata: Mapping[str, bytes]) -> int | None:
    """Return the counter in the metadata of a message; None if there is none."""
    return _decode_varint(metadata.get(_KEY, b""))


def _decode_varint(data: bytes) -> int | None:
    """Decode a value that consists of exactly one varint; return None for other values.

    Example:
        >>> _decode_varint(bytes([0xAC, 0x02])), _decode_varint(b"")
        (300, None)
    """
    if not data or len(data) > _MAX_BYTES:
        return None
    number = 0
    for index, byte in enumerate(data):
        number |= (byte & 0x7F) << (7 * index)
        if (byte < 0x80) != (index == len(data) - 1):
            return None
    return number if number <= _MAX else None
