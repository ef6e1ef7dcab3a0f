"""What a driver gives, decoded in a thread of its own while somebody works on what came before.

In: a driver. Out: its items, in order, then its error if there is one.
Cost: a thread, and batches of `AHEAD_BYTES` that wait. Law: what is given does not depend on who is how far.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable

from rdfm.logs.channel import Channel, feeding_thread
from rdfm.logs.driver import Driver, Item, Piece, cost

__all__ = ["ahead"]

AHEAD_BYTES = 4 << 20
# How long a thread is waited for whose file gives nothing.
_PATIENCE_SECONDS = 0.5


def ahead(driver: Driver, pieces: Iterable[Piece] | None = None) -> Generator[Item, None, None]:
    """Give what a driver gives. Close it only behind the iterator.

    Args:
        driver: The driver.
        pieces: What its first half gives, where that has begun.

    Raises:
        RdfmError, OSError: As the driver.
    """
    waiting: Channel[list[Item]] = Channel(AHEAD_BYTES)
    begun = driver.pieces() if pieces is None else pieces
    decoded = ((items, sum(map(cost, items))) for items in driver.decode(begun))
    thread = feeding_thread("rdfm-decode", waiting, decoded)
    thread.start()
    try:
        for items in waiting:
            yield from items
    finally:
        waiting.cancel()
        thread.join(_PATIENCE_SECONDS)
