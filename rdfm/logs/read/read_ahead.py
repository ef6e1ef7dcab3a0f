"""Decoding in a separate thread, ahead of the consumer.

In: a driver. Out: its items, in order, then its error if there is one.
Cost: a thread, and up to `AHEAD_BYTES` of batches that wait for the consumer. Law: the items do not
depend on the relative speed of the two threads.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable

from rdfm.logs.channel import Channel, create_feeding_thread
from rdfm.logs.input.driver import Driver, Item, Piece, cost

__all__ = ["read_ahead"]

AHEAD_BYTES = 4 << 20
# Timeout for joining the thread, which may be blocked on a file that delivers no data.
_JOIN_TIMEOUT_SECONDS = 0.5


def read_ahead(
    driver: Driver, pieces: Iterable[Piece] | None = None
) -> Generator[Item, None, None]:
    """Yield the items of a driver. The iterator must be closed before the driver.

    Args:
        driver: The driver.
        pieces: Iterator over the driver's pieces, if `driver.pieces()` has already been called.

    Raises:
        RdfmError, OSError: As raised by the driver.
    """
    waiting: Channel[list[Item]] = Channel(AHEAD_BYTES)
    stream = driver.pieces() if pieces is None else pieces
    items_and_costs = ((items, sum(map(cost, items))) for items in driver.decode(stream))
    thread = create_feeding_thread("rdfm-decode", waiting, items_and_costs)
    thread.start()
    try:
        for items in waiting:
            yield from items
    finally:
        waiting.cancel()
        thread.join(_JOIN_TIMEOUT_SECONDS)
