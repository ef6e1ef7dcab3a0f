"""The rows of a SELECT query, as a stream of Arrow record batches.

In: a query, and a driver or an open log. Out: record batches, computed on demand.
Cost: memory for a batch of messages and its rows.
Law: rows before an error are returned before the error is raised.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from types import EllipsisType
from typing import TYPE_CHECKING, Any, Literal

from rdfm.conversion.skipping import Skipping
from rdfm.errors import OptionError, RdfmError
from rdfm.logs.input.driver import Driver
from rdfm.logs.notebook import MAX_ROWS, html_rows
from rdfm.logs.read.frames import require_package
from rdfm.logs.read.reader import LogReader
from rdfm.logs.read.rows import RowReader, run_row_stages
from rdfm.logs.reader_lock import LockedIterator
from rdfm.logs.stages.stage import SkipErrors, Stage, Tally
from rdfm.sparql.query_stage import QueryStage, SolutionBatch
from rdfm.sparql.tables import Columns

if TYPE_CHECKING:
    import pandas
    import polars
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
    skipping: Skipping | None = None,
) -> Generator[Any, None, None]:
    """Yield the results of a query in batches, and close the input at the end.

    Args:
        querying: Stage that evaluates the query.
        driver: Driver that reads the logs, or an open log.
        tally: Counter of skipped data.
        skips: Whether to skip invalid messages.
        stages_before: Stages to run before the query.
        skipping: Handles the skipped data.

    Raises:
        RdfmError, OSError: If a log cannot be read, or the query fails.
    """
    if skipping is None:
        yield from run_row_stages(driver, (*stages_before, SkipErrors(skip=skips), querying), tally)
        return
    stages = (*stages_before, SkipErrors(skip=skips, keeps_data=True), skipping, querying)
    with skipping:
        yield from run_row_stages(driver, stages, tally)


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
        infers: bool = False,
        stages_before: Sequence[Stage] = (),
    ) -> None:
        """Open the input. Use `rdfm.select` instead.

        Args:
            querying: Stage that evaluates the query.
            columns: Converter of solutions to record batches.
            driver: Driver that reads the logs, or an open log.
            skips: Whether to skip invalid messages.
            infers: Whether `to_arrow`, `to_pandas` and `to_polars` infer types by default.
            stages_before: Stages to run before the query.
        """
        super().__init__(driver, (*stages_before, SkipErrors(skip=skips), querying))
        self.variables = tuple(querying.query.variables)
        self._columns = columns
        self._nulls = 0
        self._infers = infers
        # Rows that were converted to find their types.
        self._converted: list[pyarrow.RecordBatch] = []
        self._is_buffered = False

    @property
    def schema(self) -> pyarrow.Schema:
        """Names and types of the columns.

        They are available before anything is read. With `types="auto"`, this reads the first
        10,000 rows, which the next method that returns rows returns.

        Raises:
            MissingExtraError: If pyarrow is not installed.
            RdfmError, OSError: As in `batches`, if rows are read.
        """
        with self._lock:
            while not self._columns.is_decided and not self._ended:
                self._is_buffered = False
                self._convert_next()
                self._is_buffered = True
        return self._columns.schema

    @property
    def types(self) -> dict[str, str]:
        """The type of each variable's column, as in the argument `types` of `select`.

        Inferred types are known once rows have been returned, or after `schema`.
        """
        return self._columns.types

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the types of the rows so far: lost language tags, and values without a type."""
        return tuple(self._columns.notes())

    @property
    def skipped(self) -> int:
        """Number of errors skipped so far (`on_error="skip"`).

        Counts invalid messages, messages that exceeded a limit, and ill-typed values.
        """
        return self._tally.skipped + self._nulls

    @property
    def skipped_lines(self) -> int:
        """Number of lines skipped so far (`on_error="skip-line"`)."""
        return self._tally.skipped_lines

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
            while self._converted:
                yield self._converted.pop(0)
            if self._ended:
                self._is_buffered = False
                return
            try:
                self._convert_next()
            except RdfmError:
                while self._converted:  # rows before the error
                    yield self._converted.pop(0)
                raise

    def _convert_next(self) -> None:
        """Convert the rows of the next batch; at the end, those that waited for their types."""
        self._ended = True  # an error ends the rows, too
        solutions: SolutionBatch | None = next(self._staged_batches, None)
        columns = self._columns
        for table, nulls in columns.end() if solutions is None else columns.convert(solutions):
            self._nulls += nulls
            self._converted.append(table)
        self._ended = solutions is None

    def _check_unread(self) -> None:
        if not self._is_buffered:
            super()._check_unread()

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
        if self._is_buffered:
            raise ValueError("rows were read to find their types; use batches, or types=None")
        self._check_unread()
        self._ended = True
        for solutions in self._staged_batches:
            indexes = solutions.indexes or [None] * len(solutions.rows)
            for index, row in zip(indexes, solutions.rows, strict=True):
                yield solutions.source, index, row

    def _arrow_reader(self) -> pyarrow.RecordBatchReader:
        self._check_unread()
        schema = self.schema
        with require_package("pyarrow", "a table of solutions"):
            import pyarrow as pa
        reader: pyarrow.RecordBatchReader = pa.RecordBatchReader.from_batches(
            schema, self.batches()
        )
        return reader

    def to_arrow(self, *, types: Literal["auto"] | EllipsisType | None = ...) -> pyarrow.Table:
        r"""Read all rows into a `pyarrow.Table` (extra: arrow).

        Args:
            types: "auto" to infer the types of columns without a type from all rows, or None for
                terms as N-Triples. Defaults to "auto", unless `types` of the query is None.

        Raises:
            MissingExtraError, RdfmError, OSError, ValueError: As in `batches`.

        Example:
            >>> import rdfm
            >>> log = b'<x:a> <x:p> 1 .\n# @message\n<x:b> <x:p> 2 .\n'
            >>> with rdfm.select("SELECT ?s ?o { ?s ?p ?o }", log, format="trig") as found:
            ...     found.to_arrow().select(["s", "o"]).to_pylist()
            [{'s': 'x:a', 'o': 1}, {'s': 'x:b', 'o': 2}]
        """
        if not isinstance(types, EllipsisType) and types not in ("auto", None):
            raise OptionError(
                f"types is {types!r}, expected 'auto' or None; pass other types to the query"
            )
        infers = self._infers if isinstance(types, EllipsisType) else types == "auto"
        with require_package("pyarrow", "a table of solutions"):
            import pyarrow  # noqa: F401 - before anything is read
        if infers and not self._is_buffered:
            self._columns = self._columns.for_all_rows()
        return super().to_arrow()

    def to_pandas(self, *, types: Literal["auto"] | EllipsisType | None = ...) -> pandas.DataFrame:
        r"""Read all rows into a pandas data frame, as `LogReader.to_pandas` does.

        Args:
            types: As in `to_arrow`.

        Raises:
            MissingExtraError, RdfmError, OSError, ValueError: As in `to_arrow`.

        Example:
            >>> import rdfm
            >>> log = b'<x:a> <x:p> 1 .\n# @message\n<x:b> <x:p> 2 .\n'
            >>> with rdfm.select("SELECT ?s ?o { ?s ?p ?o }", log, format="trig") as found:
            ...     found.to_pandas()[["s", "o"]]
                 s  o
            0  x:a  1
            1  x:b  2
        """
        return self._to_pandas(lambda: self.to_arrow(types=types))

    def to_polars(self, *, types: Literal["auto"] | EllipsisType | None = ...) -> polars.DataFrame:
        r"""Read all rows into a Polars data frame.

        Args:
            types: As in `to_arrow`.

        Raises:
            MissingExtraError, RdfmError, OSError, ValueError: As in `to_arrow`.

        Example:
            >>> import rdfm
            >>> log = b'<x:a> <x:p> 1 .\n# @message\n<x:b> <x:p> 2 .\n'
            >>> with rdfm.select("SELECT ?o { ?s ?p ?o }", log, format="trig") as found:
            ...     found.to_polars()["o"].sum()
            3
        """
        return self._to_polars(lambda: self.to_arrow(types=types))

    def __repr__(self) -> str:
        """Return a short description, such as `<Solutions of x.nq: s, time>`."""
        return f"<Solutions of {self._name}: {', '.join(self.variables)}>"

    def _repr_html_(self) -> str:
        """An HTML table for notebooks: the rows that are already buffered. Reads nothing."""
        if not self._converted:
            return html_rows(f"{self!r}: not read", self.variables, (), 0)
        rows = self._converted[0].slice(0, MAX_ROWS)
        cells = [list(row.values()) for row in rows.to_pylist()]
        return html_rows(repr(self), rows.schema.names, cells)
