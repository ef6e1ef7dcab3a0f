"""The open calls of a server, for gRPC and HTTP together.

In: the starts and ends of calls, and of the server. Out: errors if there are too many calls.
Cost: a number for each client with open calls.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager

__all__ = ["CallLimitError", "OpenCalls", "run_until"]

_POLL_SECONDS = 0.01


class CallLimitError(Exception):
    """Raised if a client or the server has too many calls."""


class OpenCalls:
    """Counts calls.

    Attributes:
        count: Number of open calls.
    """

    def __init__(self, limit: int, client_limit: int) -> None:
        """Initialize with the maximum number of calls, and that of a client."""
        self.count = 0
        self._limit = limit
        self._client_limit = client_limit
        self._clients: Counter[str] = Counter()

    @contextmanager
    def counted(self, client: str | None = None) -> Iterator[None]:
        """Count a call during the `with` block.

        Args:
            client: The client; None if its calls are limited by other means.

        Raises:
            CallLimitError: If there are too many calls.
        """
        if self.count >= self._limit:
            raise CallLimitError(f"the server already has {self._limit} streams")
        if client is not None and self._clients[client] >= self._client_limit:
            raise CallLimitError(f"this client already has {self._client_limit} streams")
        self.count += 1
        if client is not None:
            self._clients[client] += 1
        try:
            yield
        finally:
            self.count -= 1
            if client is not None:
                self._clients[client] -= 1
                if not self._clients[client]:
                    del self._clients[client]

    async def finished(self) -> None:
        """Wait until all calls have ended."""
        while self.count:
            await asyncio.sleep(_POLL_SECONDS)


async def run_until(waiting: Awaitable[None], stopping: asyncio.Event) -> bool:
    """Wait for an operation, or until the server shuts down.

    Returns:
        Whether the operation is complete. Otherwise it was cancelled.
    """
    task = asyncio.ensure_future(waiting)
    stopped = asyncio.ensure_future(stopping.wait())
    try:
        await asyncio.wait((task, stopped), return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            return False
        task.result()
        return True
    finally:
        task.cancel()
        stopped.cancel()
