"""Converts solutions to rows of tables, or to rows of SPARQL results.

In: solutions as they are found. Out: Arrow record batches, or batches of results.
Cost: memory for a batch of rows.
Law: the columns `source` and `message_index` precede the variables, unless all logs are one dataset.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rdfm._core import Query, ResultBatch, TypedColumns
from rdfm.conversion.tables import TableBatch
from rdfm.errors import UnsupportedError
from rdfm.logs.input.driver import NO_LOG, NOTHING_DROPPED, Item, ReadBatch, SkippedData
from rdfm.logs.read.frames import require_package
from rdfm.logs.stages.stage import Stage
from rdfm.sparql.query_remedies import NULLS
from rdfm.sparql.query_stage import SolutionBatch

if TYPE_CHECKING:
    import pyarrow

__all__ = ["Columns", "LabelledRows", "TableRows"]

_MESSAGE_COLUMNS = ("source", "message_index")
_PURPOSE = "a table of solutions"


class LabelledRows(Stage):
    """Converts solutions to results: a header with the variables, then labelled rows.

    Rows begin with `source` and `message_index`. Blank nodes of different messages get different labels.
    """

    kind = "results"

    def __init__(self, query: Query, *, whole: bool) -> None:
        """Set up the header.

        Args:
            query: The query.
            whole: Whether all logs are one dataset, so that rows have no `source` and `message_index`.

        Raises:
            OptionError: If a variable has the name of one of these columns.
        """
        self._whole = whole
        if not whole:
            TypedColumns(query.variables)  # raises OptionError if a name conflicts
        variables = [*(() if whole else _MESSAGE_COLUMNS), *query.variables]
        self._header: ResultBatch | None = ResultBatch.from_rows([], variables)

    def process(self, item: Item) -> Iterator[Item]:
        """Yield the header once, then the rows of solutions."""
        if isinstance(item, ReadBatch):
            yield from self._begin(item)
            solutions: Any = item.batch
            if solutions is not None:
                item = item._replace(batch=self._labelled(solutions))
        yield item

    def finish(self) -> Iterator[Item]:
        """Yield the header if there was no log."""
        yield from self._begin(ReadBatch(NO_LOG, None, {}, 0))

    def _begin(self, item: ReadBatch) -> Iterator[ReadBatch]:
        if self._header is not None:
            yield item._replace(batch=self._header, dropped_data=NOTHING_DROPPED)
            self._header = None

    def _labelled(self, solutions: SolutionBatch) -> ResultBatch:
        if self._whole:
            return solutions.rows
        return solutions.rows.labelled(
            solutions.source or "", solutions.indexes, solutions.number_offset
        )


class Columns:
    """Converts solutions to record batches.

    The columns `source` and `message_index`, if any, precede a column for each variable.
    """

    def __init__(
        self, query: Query, types: Mapping[str, str], *, whole: bool, skips: bool = False
    ) -> None:
        """Set up the columns.

        Args:
            query: The query.
            types: Column types by variable name. Other columns contain terms as N-Triples.
            whole: Whether all logs are one dataset.
            skips: Whether a value that does not have the type of its column becomes null;
                otherwise it is an error.

        Raises:
            OptionError: If a variable is named "source" or "message_index" (without `whole`), or `types`
                has an unknown variable or type.
        """
        self._columns = TypedColumns(query.variables, types, messages=not whole)
        self._skips = skips

    @cached_property
    def schema(self) -> pyarrow.Schema:
        """Names and types of the columns.

        Raises:
            MissingExtraError: If pyarrow is not installed.
        """
        with require_package("pyarrow", _PURPOSE):
            import pyarrow as pa
        return pa.schema(self._columns)

    def __call__(self, found: SolutionBatch) -> tuple[pyarrow.RecordBatch, int]:
        """Return the rows, and the number of values that are null because they have the wrong type.

        Raises:
            UnsupportedError: If a value does not have the type of its column, and `skips` is false.
        """
        if found.evaluated is None or found.batch is None:
            rows, nulls = self._columns.of_rows(found.rows, misfits_are_null=self._skips)
        else:
            rows, nulls = self._columns.of_messages(
                found.evaluated, found.batch, found.source, misfits_are_null=self._skips
            )
        with require_package("pyarrow", _PURPOSE):
            import pyarrow as pa
        return pa.record_batch(rows), nulls


class TableRows(Stage):
    """Converts solutions to rows of a table."""

    kind = "results"

    def __init__(self, columns: Columns) -> None:
        """Set up the columns."""
        self._columns = columns

    def process_batch(self, item: ReadBatch) -> Iterator[Item]:
        """Yield the rows. Values that are null because of their type count as skipped errors.

        Raises:
            UnsupportedError: If a value does not have the type of its column, and `skips` is false.
        """
        solutions: Any = item.batch
        try:
            table, nulls = self._columns(solutions)
        except UnsupportedError as error:
            error.remedies = (NULLS,)
            raise
        if nulls:
            yield SkippedData(item.source, errors=nulls)
        rows: Any = TableBatch(table)
        yield item._replace(batch=rows)
