"""Solutions as rows of tables, and as rows of SPARQL results.

In: solutions as they are found. Out: record batches of Arrow, or batches of results.
Cost: a batch of rows. Law: what says whose a row is stands before the variables, but not where all is one dataset.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rdfm._core import Query, ResultBatch, TypedColumns
from rdfm.logs.frames import needed
from rdfm.sparql.querying import Found

if TYPE_CHECKING:
    import pyarrow

__all__ = ["Cells", "Columns", "Rows", "TableEncoder"]

_OWN = ("source", "message")
_WHAT = "a table of solutions"


class Cells:
    """Makes rows of results, which begin with cells for `source` and `message`.

    Blank nodes are of one message each: those of others get other labels.
    """

    def __init__(self, query: Query, *, whole: bool) -> None:
        """Take the query, and whether all that is read is one dataset.

        Raises:
            OptionError: A variable is called as one of the cells.
        """
        self._whole = whole
        if not whole:
            TypedColumns(query.variables)  # checks them
        self._variables = [*(() if whole else _OWN), *query.variables]

    @property
    def head(self) -> ResultBatch:
        """The variables, without rows."""
        return ResultBatch.from_rows([], self._variables)

    def __call__(self, found: Found) -> ResultBatch:
        """Give the rows."""
        if self._whole:
            return found.rows
        return found.rows.labelled(found.source or "", found.indexes, found.first)


class Rows:
    """Rows of a table as they go through a conversion, in the place of a batch.

    Attributes:
        table: The record batch.
        record_count: The number of rows.
        memory_bytes: What it takes.
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
        """The number of rows."""
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

    def __call__(self, found: Found) -> tuple[pyarrow.RecordBatch, int]:
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
