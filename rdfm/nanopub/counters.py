"""Counters of nanopublications in registry logs.

In: the metadata of a message. Out: its counter, or None.
Cost: the same as reading the metadata.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from rdfm.logs.counters import counter_of

__all__ = ["counter"]


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
    return counter_of(message.metadata)
