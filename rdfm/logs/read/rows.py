"""Rows computed from a log on demand: the base of query results and of nanopublication lists.

In: a driver or an open log, and stages that compute rows. Out: the batches of rows.
Cost: a batch of messages and its rows. Law: rows before an error are returned before it is raised.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Sequence
from typing import Any, ClassVar, Self

from rdfm.logs.input.driver import Driver, Piece, ReadBatch
from rdfm.logs.read.frames import Tabular
from rdfm.logs.read.read_ahead import read_ahead
from rdfm.logs.read.reader import LogReader
from rdfm.logs.reader_lock import ReaderLock
from rdfm.logs.stages.stage import Stage, Tally, run_stages

__all__ = ["ComputedBatch", "RowReader", "run_row_stages"]


class ComputedBatch(ABC):
    """Base of batches with computed rows, with the same attributes as batches from the core."""

    __slots__ = ()
    kind = "results"
    continued = continues = False
    first_message_index = 0

    @abstractmethod
    def __len__(self) -> int:
        """Number of rows."""

    @property
    def record_count(self) -> int:
        """Number of rows."""
        return len(self)


def run_row_stages(
    driver: Driver | LogReader,
    stages: Sequence[Stage],
    tally: Tally,
    pieces: Iterable[Piece] | None = None,
) -> Generator[Any, None, None]:
    """Yield the batches that stages produce from the input, and close the input at the end.

    Args:
        driver: Driver that reads the logs, or an open log.
        stages: The stages.
        tally: Counter of skipped data.
        pieces: Iterator over the driver's pieces, if `driver.pieces()` has already been called.

    Raises:
        RdfmError, OSError: As raised by the driver and the stages.
    """
    items = driver._stage_items() if isinstance(driver, LogReader) else read_ahead(driver, pieces)
    try:
        for item in run_stages(items, stages):
            tally.count(item)
            if isinstance(item, ReadBatch) and item.batch is not None:
                yield item.batch
    finally:
        if isinstance(items, Generator):
            items.close()
        driver.close()


class RowReader(Tabular):
    """Rows of a log. They can be read only once, and only by one thread at a time."""

    _AGAIN: ClassVar[str] = "open the log again"

    def __init__(self, driver: Driver | LogReader, stages: Sequence[Stage]) -> None:
        """Open the input.

        Args:
            driver: Driver that reads the logs, or an open log.
            stages: The stages that produce the rows.
        """
        self._tally = Tally()
        self._driver = driver
        self._ended = False
        self._name = driver.source if isinstance(driver, LogReader) else driver.name
        self._lock = ReaderLock(self._name)
        pieces = None
        if not isinstance(driver, LogReader):
            try:
                pieces = driver.open_first()
            except BaseException:
                driver.close()
                raise
        self._staged_batches = run_row_stages(driver, stages, self._tally, pieces)

    def close(self) -> None:
        """Close the input.

        Raises:
            RuntimeError: If another thread is reading; stop it first.
        """
        with self._lock:
            self._ended = True
            self._staged_batches.close()
            self._driver.close()

    def __enter__(self) -> Self:
        """Return the reader."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the input."""
        self.close()

    def _check_unread(self) -> None:
        if self._ended:
            raise ValueError(f"the rows have already been read; {self._AGAIN}")
