"""Runs functions in threads, and returns their results in order.

In: functions. Out: their results, in the order in which the functions were submitted.
Cost: the threads, which start on demand, and the results that have not been taken.
Law: the number of threads does not change the results. An error is raised in place of a result.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

__all__ = ["MAX_JOBS", "Pool", "PoolClosedError", "usable_cores"]

MAX_JOBS = 8
# Maximum duration of a single wait. On some systems, Ctrl-C takes effect only after a wait.
WAIT_SECONDS = 0.2

Result = TypeVar("Result")


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    import os

    if hasattr(os, "process_cpu_count"):  # Python 3.13
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class PoolClosedError(Exception):
    """Raised if the pool was closed before the work was done."""


class _Slot(Generic[Result]):
    """The result or the error of submitted work."""

    __slots__ = ("error", "is_done", "result")

    def __init__(self) -> None:
        self.is_done = False
        self.error: BaseException | None = None
        self.result: Result | None = None

    def run(self, work: Callable[[], Result]) -> None:
        try:
            self.result = work()
        except BaseException as error:
            self.error = error
        self.is_done = True


class Pool(Generic[Result]):
    """Threads for work of one kind. Without threads, the caller does the work.

    A single thread adds work and takes results. Any thread may close the pool.
    """

    def __init__(
        self, name: str, threads: int, wake: Callable[[], object] = lambda: None, *, queue: int = 1
    ) -> None:
        """Initialize with the name and the number of the threads.

        Args:
            name: The name of the threads.
            threads: Maximum number of threads.
            wake: Called by each thread after it has done some work.
            queue: Number of results that may be pending in addition to one for each thread.
        """
        self._wake = wake
        self._name = name
        self._max_threads = threads
        self._max_pending = threads + queue
        self._threads = 0
        self._slots: deque[_Slot[Result]] = deque()
        self._work: deque[tuple[_Slot[Result], Callable[[], Result]]] = deque()
        self._closed = False
        self._changed = threading.Condition()

    def submit(self, work: Callable[[], Result], *, in_caller: bool = False) -> None:
        """Add work for a thread. If `in_caller`, the caller does the work immediately."""
        slot: _Slot[Result] = _Slot()
        self._slots.append(slot)
        if in_caller or not self._max_threads:
            slot.run(work)
            return
        with self._changed:
            if self._closed:
                raise PoolClosedError
            self._work.append((slot, work))
            self._changed.notify_all()
        if self._threads < min(self._max_threads, len(self._slots)):
            self._threads += 1
            threading.Thread(target=self._run, name=self._name, daemon=True).start()

    def __len__(self) -> int:
        """Return the number of results that have not been taken."""
        return len(self._slots)

    def is_ready(self) -> bool:
        """Return whether the next result is complete."""
        return bool(self._slots) and self._slots[0].is_done

    def take(self, *, all: bool = False) -> Iterator[Result]:
        """Yield the next completed results.

        Waits only if too much work is pending or, with `all`, until all work is done.

        Raises:
            BaseException: If the work raised it. Later work is dropped.
            PoolClosedError: If the pool was closed.
        """
        while self._slots:
            slot = self._slots[0]
            with self._changed:
                if not slot.is_done and not all and len(self._slots) <= self._max_pending:
                    return
                while not slot.is_done:
                    self._changed.wait(WAIT_SECONDS)
            self._slots.popleft()
            if slot.error is not None:
                self.close()
                self._slots.clear()
                raise slot.error
            yield slot.result  # type: ignore[misc]  # the work is done

    def close(self) -> None:
        """End the threads after their current work, and drop all other work."""
        with self._changed:
            self._closed = True
            for slot, _ in self._work:
                slot.error, slot.is_done = PoolClosedError(), True
            self._work.clear()
            self._changed.notify_all()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._work:
                    if self._closed:
                        return
                    self._changed.wait()
                slot, work = self._work.popleft()
            slot.run(work)
            del work
            with self._changed:
                self._changed.notify_all()
            del slot
            self._wake()
