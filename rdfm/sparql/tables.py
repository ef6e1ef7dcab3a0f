"""Solutions as rows of tables, and as rows of SPARQL results.

In: solutions as they are found. Out: record batches of Arrow, or batches of results.
Cost: a batch of rows. Law: what says whose a row is stands before the variables, but not where all is one dataset.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rdfm._core import Query, ResultBatch, TypedColumns
from rdfm.conversion.target import Target
from rdfm.errors import UnsupportedError
from rdfm.logs.driver import NO_LOG, NOTHING, Item, Read, Skipped
from rdfm.logs.frames import needed
from rdfm.logs.stages import Stage
from rdfm.sparql.querying import Solved
from rdfm.sparql.remedies import NULLS

if TYPE_CHECKING:
    import pyarrow

__all__ = ["Columns", "LabelledRows", "Rows", "TableEncoder", "TableRows", "TableTarget"]

_OWN = ("source", "message")
_WHAT = "a table of solutions"


class LabelledRows(Stage):
    """Makes results of solutions: a header with the variables, then rows that begin with `source` and `message`.

    Blank nodes belong to one message each: those of other messages get other labels.
    """

    kind = "results"

    def __init__(self, query: Query, *, whole: bool) -> None:
        """Take the query, and whether all logs are one dataset, so that rows have no source and message.

        Raises:
            OptionError: A variable has the name of one of these columns.
        """
        self._whole = whole
        if not whole:
            TypedColumns(query.variables)  # checks them
        variables = [*(() if whole else _OWN), *query.variables]
        self._header: ResultBatch | None = ResultBatch.from_rows([], variables)

    def take(self, item: Item) -> Iterator[Item]:
        """Yield the rows of solutions; the header first."""
        if isinstance(item, Read):
            yield from self._begin(item)
            solved: Any = item.batch
            if solved is not None:
                item = item._replace(batch=self._labelled(solved))
        yield item

    def finish(self) -> Iterator[Item]:
        """Yield the header, if there was no log."""
        yield from self._begin(Read(NO_LOG, None, {}, 0))

    def _begin(self, read: Read) -> Iterator[Read]:
        if self._header is not None:
            yield read._replace(batch=self._header, lost=NOTHING)
            self._header = None

    def _labelled(self, solved: Solved) -> ResultBatch:
        if self._whole:
            return solved.rows
        return solved.rows.labelled(solved.source or "", solved.indexes, solved.first)


class Rows:
    """Rows of a table as a batch.

    Attributes:
        table: The record batch.
        record_count: Number of rows.
        memory_bytes: Size in bytes.
    """

    kind = "results"
    continued = continues = False
    first_index = 0

    def __init__(self, table: pyarrow.RecordBatch) -> None:
        """Take the record batch."""
        self.table = table
        self.record_count: int = table.num_rows
        self.memory_bytes = table.nbytes

    def __len__(self) -> int:
        """Number of rows."""
        return self.record_count


class Columns:
    """Makes record batches of solutions: a column for each variable, behind those that say whose a row is."""

    def __init__(
        self, query: Query, types: Mapping[str, str], *, whole: bool, skips: bool = False
    ) -> None:
        """Take the query and the types of its columns.

        Args:
            query: The query.
            types: The types by the names of variables; columns of others hold terms as N-Triples.
            whole: Whether all that is read is one dataset.
            skips: Whether a value that is not of its column's type is null; without, it is an error.

        Raises:
            OptionError: A variable is called as a column before it, there is no variable of a name, or no such type.
        """
        self._columns = TypedColumns(query.variables, types, messages=not whole)
        self._skips = skips

    @cached_property
    def schema(self) -> pyarrow.Schema:
        """The names and types of the columns.

        Raises:
            MissingExtraError: pyarrow is not installed.
        """
        with needed("pyarrow", _WHAT):
            import pyarrow as pa
        return pa.schema(self._columns)

    def __call__(self, found: Solved) -> tuple[pyarrow.RecordBatch, int]:
        """Give the rows, and how many values are null since they are not of their column's type.

        Raises:
            UnsupportedError: A value is not of its column's type.
        """
        if found.evaluated is None or found.batch is None:
            made, nulls = self._columns.of_rows(found.rows, misfits_are_null=self._skips)
        else:
            made, nulls = self._columns.of_messages(
                found.evaluated, found.batch, found.source, misfits_are_null=self._skips
            )
        with needed("pyarrow", _WHAT):
            import pyarrow as pa
        return pa.record_batch(made), nulls


class TableRows(Stage):
    """Makes rows of a table of solutions."""

    kind = "results"

    def __init__(self, columns: Columns) -> None:
        """Take the columns."""
        self._columns = columns

    def batch(self, read: Read) -> Iterator[Item]:
        """Yield the rows; values that are null because of their type count as skipped errors.

        Raises:
            UnsupportedError: A value does not have the type of its column.
        """
        solved: Any = read.batch
        try:
            table, nulls = self._columns(solved)
        except UnsupportedError as error:
            error.remedies = (NULLS,)
            raise
        if nulls:
            yield Skipped(read.source, errors=nulls)
        rows: Any = Rows(table)
        yield read._replace(batch=rows)


class TableTarget:
    """Takes the place of a conversion's target if a table is written."""

    takes_parts = False

    def __init__(self, target: Target, columns: Columns) -> None:
        """Take the target and the columns."""
        self.format = target.format
        self._target = target
        self._columns = columns

    def encoder(self, source: object, known: object) -> TableEncoder:
        """Return the encoder; what is known about the input makes no difference."""
        return TableEncoder(self._target.encoder(None, None), self._columns.schema)


class TableEncoder:
    """Encodes rows of tables with the encoder of a format of rows."""

    def __init__(self, encoder: Any, schema: pyarrow.Schema) -> None:
        """Take the encoder and the columns."""
        self._encoder = encoder
        encoder.begin_table(schema)

    def encode(self, batch: Rows, /, source: str | None = None) -> bytes:
        """Give the bytes of rows; they are gathered first."""
        encoded: bytes = self._encoder.encode_table(batch.table)
        return encoded

    def finish(self) -> bytes:
        """Give the bytes at the end of the table."""
        finished: bytes = self._encoder.finish()
        return finished

    def dropped(self) -> dict[str, int]:
        """Give nothing: tables hold all."""
        return {}

    def notes(self) -> list[str]:
        """Give nothing."""
        return []
