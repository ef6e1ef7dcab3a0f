"""The rows of a SELECT query, as a stream of Arrow record batches.

In: a query, and a driver or an open log. Out: record batches, computed on demand.
Cost: memory for a batch of messages and its rows.
Law: rows before an error are returned before the error is raised.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rdfm.logs.input.driver import Driver
from rdfm.logs.read.frames import require_package
from rdfm.logs.read.reader import LogReader
from rdfm.logs.read.rows import RowReader, run_row_stages
from rdfm.logs.reader_lock import LockedIterator
from rdfm.logs.stages.stage import SkipErrors, Stage, Tally
from rdfm.sparql.query_stage import QueryStage
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
    stages_before: Sequence[Stage] = (),
) -> Generator[Any, None, None]:
    """Yield the results of a query in batches, and close the input at the end.

    Args:
        querying: Stage that evaluates the query.
        driver: Driver that reads the logs, or an open log.
        tally: Counter of skipped data.
        skips: Whether to skip invalid messages.
        stages_before: Stages to run before the query.

    Raises:
        RdfmError, OSError: If a log cannot be read, or the query fails.
    """
    stages = (*stages_before, SkipErrors(skip=skips), querying)
    return run_row_stages(driver, stages, tally)


class Solutions(RowReader):
    """The rows of a SELECT query: a table for pyarrow, pandas, Polars and DuckDB.

    Returned by `rdfm.select`. Rows are computed on demand and can be read only once. Only one
    thread can use them at a time; a concurrent call raises RuntimeError.

    Attributes:
        variables: Names of the query's variables, without `?`.
    """

    _AGAIN = "run the query again"

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
            skips: Whether to skip invalid messages.
        """
        super().__init__(driver, (SkipErrors(skip=skips), querying))
        self.variables = tuple(querying.query.variables)
        self._columns = columns
        self._nulls = 0

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

        Counts invalid messages, messages that exceeded a limit, and ill-typed values.
        """
        return self._tally.skipped + self._nulls

    def batches(self) -> Iterator[pyarrow.RecordBatch]:
        """Yield the rows as record batches.

        If a loop is exited early, the next loop continues at the next batch.

        Raises:
            DecodeError: If a log is invalid, a message exceeds a limit, or a value does not have
                the type of its column. Earlier rows have been yielded.
            OptionError: If a log contains patches or results.
            ValueError: If the rows have already been read to the end or to an error.
            RuntimeError: If another thread is using the rows.
        """
        return LockedIterator(self._lock, self._batches())

    def _batches(self) -> Iterator[pyarrow.RecordBatch]:
        self._check_unread()
        while True:
            self._ended = True  # an error ends the rows, too
            found = next(self._staged_batches, None)
            if found is None:
                return
            table, nulls = self._columns(found)
            self._nulls += nulls
            self._ended = False
            yield table

    __iter__ = batches

    def rows(self) -> Iterator[tuple[str | None, int | None, tuple[Term | None, ...]]]:
        """Yield the rows one by one, without pyarrow: source, message index, and cells.

        Source and index are None if all logs are one dataset. Blank nodes keep the labels of their
        message.

        Raises:
            RdfmError, ValueError, RuntimeError: As in `batches`.
        """
        return LockedIterator(self._lock, self._rows())

    def _rows(self) -> Iterator[tuple[str | None, int | None, tuple[Term | None, ...]]]:
        self._check_unread()
        self._ended = True
        for found in self._staged_batches:
            indexes = found.indexes or [None] * len(found.rows)
            for index, row in zip(indexes, found.rows, strict=True):
                yield found.source, index, row

    def _arrow_reader(self) -> pyarrow.RecordBatchReader:
        self._check_unread()
        schema = self._columns.schema
        with require_package("pyarrow", "a table of solutions"):
            import pyarrow as pa
        reader: pyarrow.RecordBatchReader = pa.RecordBatchReader.from_batches(
            schema, self.batches()
        )
        return reader

    def __repr__(self) -> str:
        """Return a short description, such as `<Solutions of x.nq: s, time>`."""
        return f"<Solutions of {self._name}: {', '.join(self.variables)}>"
