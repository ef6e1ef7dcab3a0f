"""Blocking iterators in an event loop.

In: an iterator that reads files and encodes messages. Out: its items, computed in the thread pool.
Law: the files of the iterator are closed once, and not while a thread uses them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator

__all__ = ["Steps"]


class Steps:
    """The items of an iterator. Each is computed in a thread when it is requested."""

    def __init__(self, items: Iterator[bytes], close: Callable[[], None]) -> None:
        """Initialize with an iterator, and a function that closes its files."""
        self._items = items
        self._close = close
        self._first: bytes | None = None
        self._running: asyncio.Future[bytes | None] | None = None

    async def begin(self) -> None:
        """Compute the first item, so that its error can still be reported."""
        self._first = await self._next()

    async def _next(self) -> bytes | None:
        self._running = asyncio.ensure_future(asyncio.to_thread(next, self._items, None))
        return await asyncio.shield(self._running)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the items after `begin`, and close the files at the end."""
        try:
            piece, self._first = self._first, None
            while piece is not None:
                yield piece
                piece = await self._next()
        finally:
            self.close()

    def close(self) -> None:
        """Close the files, as soon as no thread uses them."""
        close, self._close = self._close, lambda: None
        if self._running is None or self._running.done():
            close()
        else:
            self._running.add_done_callback(lambda done: (done.exception(), close()))
