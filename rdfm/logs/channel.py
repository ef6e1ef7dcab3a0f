"""A bounded queue between two threads, and the thread that fills one.

In: items, their cost, and marks. Out: the same items in order, then the error of the other side, if
any; and the mark of the last item that the consumer has finished.
Cost: memory for the budget plus one item.
Law: an error on either side reaches the other, and cancelling the channel ends all waits.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator
from typing import Any, Generic, TypeVar

__all__ = ["Channel", "ChannelCancelledError", "create_feeding_thread"]

# Interval at which waiting threads check for Ctrl-C, which does not interrupt them on some systems.
WAIT_SECONDS = 0.2

Item = TypeVar("Item")


class ChannelCancelledError(Exception):
    """Raised if the channel was cancelled."""


class Channel(Generic[Item]):
    """A queue between two threads, bounded by the total cost of its items."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._items: deque[tuple[Item, int, Any]] = deque()
        self._cost = 0
        self._closed = False
        self._cancelled = False
        self._idle = True  # the consumer has finished the last item it took
        self._mark: Any = None  # of that item
        self._finished_mark: Any = None
        self._error: BaseException | None = None
        self._changed = threading.Condition()

    def put(
        self,
        item: Item,
        cost: int,
        mark: Any = None,
        on_wait: Callable[[], object] = lambda: None,
    ) -> None:
        """Add an item, with the mark that `last_finished_mark` returns once the item is finished.

        Waits while the queue is full, and calls `on_wait` periodically.

        Raises:
            ChannelCancelledError: If the channel was cancelled.
            BaseException: If the consumer failed; this is its error.
        """
        while True:
            with self._changed:
                if self._cancelled:
                    raise self._error or ChannelCancelledError
                if not self._items or self._cost + cost <= self._budget:
                    self._items.append((item, cost, mark))
                    self._cost += cost
                    self._changed.notify_all()
                    return
                self._changed.wait(WAIT_SECONDS)
            on_wait()

    def close(self, error: BaseException | None = None) -> None:
        """Mark the end of the items; the consumer raises `error` after them."""
        with self._changed:
            self._closed = True
            self._error = self._error or error
            self._changed.notify_all()

    def cancel(self, error: BaseException | None = None) -> None:
        """Stop both sides immediately; the producer raises `error` on its next `put`."""
        with self._changed:
            self._cancelled = True
            self._error = self._error or error
            self._items.clear()
            self._changed.notify_all()

    def __iter__(self) -> Generator[Item, None, None]:
        """Yield the items as they arrive, then raise the error that the channel was closed with."""
        while True:
            with self._changed:
                self._finish_item()
                while not self._items and not self._closed and not self._cancelled:
                    self._changed.wait(WAIT_SECONDS)
                if self._cancelled:
                    raise ChannelCancelledError
                if not self._items:
                    if self._error is not None:
                        raise self._error
                    return
                item, cost, self._mark = self._items.popleft()
                self._cost -= cost
                self._idle = False
                self._changed.notify_all()
            yield item

    def wait(self, condition: Callable[[], bool]) -> bool:
        """Finish the last item. Wait for an item or the end, or until `condition()` is true.

        Returns whether there is an item or the end. `wake` makes it check the condition.
        """
        with self._changed:
            self._finish_item()
            while not self._items and not self._closed and not self._cancelled:
                if condition():
                    return False
                self._changed.wait(WAIT_SECONDS)
            return True

    def _finish_item(self) -> None:
        self._idle, self._finished_mark = True, self._mark
        self._changed.notify_all()

    def wake(self) -> None:
        """Make `wait` check its condition now."""
        with self._changed:
            self._changed.notify_all()

    def last_finished_mark(self) -> Any:
        """Return the mark of the last item that the consumer has finished, or None."""
        with self._changed:
            return self._finished_mark

    def wait_until_drained(self, on_wait: Callable[[], object] = lambda: None) -> None:
        """Wait until the consumer has finished all items or failed.

        Calls `on_wait` periodically.
        """
        while True:
            with self._changed:
                if self._cancelled or (self._idle and not self._items):
                    return
                self._changed.wait(WAIT_SECONDS)
            on_wait()

    def drain(self, on_wait: Callable[[], object] = lambda: None) -> None:
        """Call `wait_until_drained`, then raise the error that the consumer failed with, if any."""
        self.wait_until_drained(on_wait)
        with self._changed:
            if self._cancelled:
                raise self._error or ChannelCancelledError


def create_feeding_thread(
    name: str,
    channel: Channel[Any],
    items: Iterator[tuple[Any, int]],
    upstream: Channel[Any] | None = None,
) -> threading.Thread:
    """Return a thread that puts items into a channel.

    The thread ends when the items end or fail, or when the channel is cancelled.
    """

    def run() -> None:
        try:
            for item, cost in items:
                channel.put(item, cost)
        except ChannelCancelledError:
            pass
        except BaseException as error:
            channel.close(error)
        else:
            channel.close()
        finally:
            if upstream is not None:
                upstream.cancel()

    return threading.Thread(target=run, name=name, daemon=True)
