"""Solutions as rows of tables, and as rows of SPARQL results.

In: solutions as they are found. Out: record batches of Arrow, or batches of results.
Cost: a batch of rows. Law: what says whose a row is stands before the variables, but not where all is one dataset.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rdfm._core import Query, ResultBatch, TypedColumns
from rdfm.errors import MissingExtraError, OptionError
from rdfm.formats._spec import listed
from rdfm.sparql.querying import Found

if TYPE_CHECKING:
    import pyarrow

__all__ = ["Cells", "Columns", "Rows", "TableEncoder"]

_OWN = ("source", "message")


def _check_names(variables: Sequence[str]) -> None:
    """Refuse variables that are called as the columns before them.

    Raises:
        OptionError: There are some.
    """
    for name in variables:
        if name in _OWN:
            raise OptionError(
                f"a variable is called {name}, and so is the column that says whose a row is; call it otherwise, such "
                f"as ?the_{name}"
            )


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
            _check_names(query.variables)
        self._variables = [*(() if whole else _OWN), *query.variables]

    @property
    def head(self) -> ResultBatch:
        """The variables, without rows."""
        return ResultBatch.from_rows([], self._variables)

    def __call__(self, found: Found) -> ResultBatch:
        """Give the rows."""
        if self._whole:
            return found.rows
        return found.rows.labelled(found.source or "", found.messages, found.first)


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
    """Makes record batches of solutions: a column for each variable.

    Attributes:
        nulls: Values that are not of their column's type, and are null therefore.
    """

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
        self.nulls = 0
        self._whole = whole
        self._skips = skips
        if not whole:
            _check_names(query.variables)
        for name in types:
            if name not in query.variables:
                raise OptionError(
                    f"types name {name[:40]}, and the query gives {_names(query.variables)}"
                )
        self._columns = TypedColumns(query.variables, types, messages=not whole)

    @cached_property
    def schema(self) -> pyarrow.Schema:
        """The names and types of the columns.

        Raises:
            MissingExtraError: pyarrow is not installed.
        """
        return _pyarrow().schema(self._columns)

    def __call__(self, found: Found) -> pyarrow.RecordBatch:
        """Give the rows.

        Raises:
            DecodeError: A value is not of its column's type.
        """
        pa = _pyarrow()
        messages = None if self._whole else found.messages
        rows, nulls = self._columns.of_rows(
            found.rows, messages, found.source, misfits_are_null=self._skips
        )
        self.nulls += nulls
        return pa.record_batch(rows)


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


def _names(variables: Sequence[str]) -> str:
    return listed(list(variables)) if variables else "no variables"


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise MissingExtraError(
            "a table of solutions needs pyarrow: pip install 'rdfm[arrow]'"
        ) from error
    return pyarrow
