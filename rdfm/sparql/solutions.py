"""The rows of a SELECT query, as a stream of Arrow record batches.

In: a query, and a driver or an open log. Out: record batches, computed on demand.
Cost: a batch of messages and its rows. Law: rows before an error are returned before it is raised.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

from rdfm.logs.ahead import ahead
from rdfm.logs.driver import Driver, Piece, Read
from rdfm.logs.frames import Tabular, needed
from rdfm.logs.reader import LogReader
from rdfm.logs.stages import SkipBroken, Stage, Tally, through
from rdfm.logs.turns import Loop, Turn
from rdfm.sparql.querying import QueryStage
from rdfm.sparql.tables import Columns

if TYPE_CHECKING:
    import pyarrow

    from rdfm._core import Term

__all__ = ["Solutions", "solve"]


def solve(
    querying: QueryStage,
    driver: Driver | LogReader,
    tally: Tally,
    *,
    skips: bool = False,
    pieces: Iterable[Piece] | None = None,
    before: Sequence[Stage] = (),
) -> Generator[Any, None, None]:
    """Yield the results of a query in batches, and close the input at the end.

    Args:
        querying: Stage that evaluates the query.
        driver: Driver that reads the logs, or an open log.
        tally: Counter of skipped data.
        skips: Whether to skip broken messages.
        pieces: Pieces of a driver that has opened its input already; by default its own.
        before: Stages to run before the query.

    Raises:
        RdfmError, OSError: As the driver and the query.
    """
    items = driver.items() if isinstance(driver, LogReader) else ahead(driver, pieces)
    stages = (*before, SkipBroken(skip=skips), querying)
    try:
        for item in through(items, stages):
            tally.take(item)
            if isinstance(item, Read) and item.batch is not None:
                yield item.batch
    finally:
        if isinstance(items, Generator):
            items.close()
        driver.close()


class Solutions(Tabular):
    """The rows of a SELECT query: a table for pyarrow, pandas, Polars and DuckDB.

    Returned by `rdfm.select`. Rows are computed on demand and can be read only once. Only one
    thread can use them at a time; a concurrent call raises RuntimeError.

    Attributes:
        variables: Names of the query's variables, without `?`.
    """

    def __init__(
        self,
        querying: QueryStage,
        columns: Columns,
        driver: Driver | LogReader,
        *,
        skips: bool = False,
    ) -> None:
        """Open the input. Use `rdfm.select` instead.

        Args:
            querying: Stage that evaluates the query.
            columns: Converter of solutions to record batches.
            driver: Driver that reads the logs, or an open log.
            skips: Whether to skip broken messages.
        """
        self.variables = tuple(querying.query.variables)
        self._tally = Tally()
        self._columns = columns
        self._driver = driver
        self._ended = False
        self._nulls = 0
        self._name = driver.source if isinstance(driver, LogReader) else driver.name
        self._turn = Turn(self._name)
        pieces = None
        if not isinstance(driver, LogReader):
            try:
                pieces = driver.opened_first()
            except BaseException:
                driver.close()
                raise
        self._solved = solve(querying, driver, self._tally, skips=skips, pieces=pieces)

    @property
    def schema(self) -> pyarrow.Schema:
        """Names and types of the columns, available before anything is read.

        Raises:
            MissingExtraError: If pyarrow is not installed.
        """
        return self._columns.schema

    @property
    def skipped(self) -> int:
        """Number of errors skipped so far (`on_error="skip"`).

        Counts broken messages, messages that exceeded a limit, and ill-typed values.
        """
        return self._tally.skipped + self._nulls

    def batches(self) -> Iterator[pyarrow.RecordBatch]:
        """Yield the rows as record batches.

        After a loop that ended early, the next loop continues from there.

        Raises:
            DecodeError: If a log is broken, a message exceeds a limit, or a value does not have the
                type of its column. Earlier rows have been yielded.
            OptionError: If a log contains patches or results.
            ValueError: If the rows have already been read to the end or to an error.
            RuntimeError: If another thread is using the rows.
        """
        return Loop(self._turn, self._batches())

    def _batches(self) -> Iterator[pyarrow.RecordBatch]:
        self._check_unread()
        while True:
            self._ended = True  # also after an error
            batch = next(self._solved, None)
            if batch is None:
                return
            table, nulls = self._columns(batch)
            self._nulls += nulls
            self._ended = False
            yield table

    __iter__ = batches

    def rows(self) -> Iterator[tuple[str | None, int | None, tuple[Term | None, ...]]]:
        """Yield the rows one by one, without pyarrow: source, index of the message, and the cells.

        Source and index are None if all logs are one dataset. Blank nodes keep the labels of their
        message.

        Raises:
            RdfmError, ValueError, RuntimeError: As `batches`.
        """
        return Loop(self._turn, self._rows())

    def _rows(self) -> Iterator[tuple[str | None, int | None, tuple[Term | None, ...]]]:
        self._check_unread()
        self._ended = True
        for batch in self._solved:
            indexes = batch.indexes or [None] * len(batch.rows)
            for index, row in zip(indexes, batch.rows, strict=True):
                yield batch.source, index, row

    def _arrow_reader(self) -> pyarrow.RecordBatchReader:
        self._check_unread()
        schema = self._columns.schema
        with needed("pyarrow", "a table of solutions"):
            import pyarrow as pa
        reader: pyarrow.RecordBatchReader = pa.RecordBatchReader.from_batches(
            schema, self.batches()
        )
        return reader

    def close(self) -> None:
        """Close the query and its input.

        Raises:
            RuntimeError: If another thread is reading; stop it first.
        """
        with self._turn:
            self._ended = True
            self._solved.close()
            self._driver.close()

    def __enter__(self) -> Self:
        """Return the object itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the query and its input."""
        self.close()

    def __repr__(self) -> str:
        """Return a short description, such as `<Solutions of x.nq: s, time>`."""
        return f"<Solutions of {self._name}: {', '.join(self.variables)}>"

    def _check_unread(self) -> None:
        if self._ended:
            raise ValueError("the rows have already been read; run the query again")
