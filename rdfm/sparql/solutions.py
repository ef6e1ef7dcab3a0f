"""The rows of a SELECT query, as a stream of Arrow record batches.

In: a query, and what reads logs. Out: record batches, read on as somebody takes them.
Cost: a batch of messages and its rows. Law: rows before an error come first.
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
from rdfm.sparql.querying import Querying
from rdfm.sparql.tables import Columns

if TYPE_CHECKING:
    import pyarrow

    from rdfm._core import Term

__all__ = ["Solutions", "solve"]


def solve(
    querying: Querying,
    driver: Driver | LogReader,
    tally: Tally,
    *,
    skips: bool = False,
    pieces: Iterable[Piece] | None = None,
    before: Sequence[Stage] = (),
) -> Generator[Any, None, None]:
    """Yield the batches that a query makes of what is read; closes the input at the end.

    Args:
        querying: The query.
        driver: Reads the logs; or a log that is open.
        tally: Counts what is skipped.
        skips: Whether broken messages are skipped.
        pieces: The output of the driver's first half, if it has begun.
        before: Stages before the query.

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
    """The rows of a SELECT query: a table that pyarrow, pandas, Polars and DuckDB take.

    Made by `rdfm.select`. Rows are given once, and read on as they are taken. One thread uses them at a time; a second
    one meanwhile gets a RuntimeError.

    Attributes:
        variables: The names of the query's variables, without `?`.
    """

    def __init__(
        self,
        querying: Querying,
        columns: Columns,
        driver: Driver | LogReader,
        *,
        skips: bool = False,
    ) -> None:
        """Take the query, the columns, the input, and whether broken messages are skipped; `rdfm.select` does this."""
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
        self._found = solve(querying, driver, self._tally, skips=skips, pieces=pieces)

    @property
    def schema(self) -> pyarrow.Schema:
        """The names and types of the columns, known before anything is read.

        Raises:
            MissingExtraError: pyarrow is not installed.
        """
        return self._columns.schema

    @property
    def skipped(self) -> int:
        """Errors that were skipped so far (`on_error="skip"`): broken messages, those that met a limit, and values."""
        return self._tally.skipped + self._nulls

    def batches(self) -> Iterator[pyarrow.RecordBatch]:
        """Give the rows as record batches.

        A loop that was left early is continued by the next one.

        Raises:
            DecodeError: A log is broken, a message met a limit, or a value is not of its column's type; the rows before
                were given.
            OptionError: A log is of patches or results.
            ValueError: The rows were read to their end, or to an error, before.
            RuntimeError: Another thread is using them.
        """
        return Loop(self._turn, self._batches())

    def _batches(self) -> Iterator[pyarrow.RecordBatch]:
        self._check_unread()
        while True:
            self._ended = True  # an error ends it too
            found = next(self._found, None)
            if found is None:
                return
            table, nulls = self._columns(found)
            self._nulls += nulls
            self._ended = False
            yield table

    __iter__ = batches

    def rows(self) -> Iterator[tuple[str | None, int | None, tuple[Term | None, ...]]]:
        """Give the rows one by one, without pyarrow: source, index of the message, and the cells.

        Source and index are None where all logs are one dataset. Blank nodes are those of the message.

        Raises:
            RdfmError, ValueError, RuntimeError: As `batches`.
        """
        return Loop(self._turn, self._rows())

    def _rows(self) -> Iterator[tuple[str | None, int | None, tuple[Term | None, ...]]]:
        self._check_unread()
        self._ended = True
        for found in self._found:
            indexes = found.indexes or [None] * len(found.rows)
            for index, row in zip(indexes, found.rows, strict=True):
                yield found.source, index, row

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
        """Close what is open.

        Raises:
            RuntimeError: Another thread is reading; stop it first.
        """
        with self._turn:
            self._ended = True
            self._found.close()
            self._driver.close()

    def __enter__(self) -> Self:
        """Give the rows themselves."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close what is open."""
        self.close()

    def __repr__(self) -> str:
        """As in `<Solutions of x.nq: s, time>`."""
        return f"<Solutions of {self._name}: {', '.join(self.variables)}>"

    def _check_unread(self) -> None:
        if self._ended:
            raise ValueError("the rows have been read to their end; ask the query again")
