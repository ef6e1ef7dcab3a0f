"""A log read as Arrow rows.

In: batches as they are read. Out: a pyarrow reader that reads on demand; or the rows of one batch.
Cost: one batch of rows. Law: rows before an error are returned before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from rdfm._core import ArrowBatch, ArrowCoalescer, MessageBatch
from rdfm.errors import OptionError
from rdfm.logs.kinds import wrong_kind_error
from rdfm.logs.read.frames import require_package

if TYPE_CHECKING:
    import pyarrow

    from rdfm.message import AnyBatch

__all__ = ["TableForm", "arrow_reader"]

ROWS = 8192
BYTES = 8 << 20


class TableForm(NamedTuple):
    """The form of the rows in a table.

    Attributes:
        rows: "messages" (also used for patches and result rows) or "quads".
        terms: Representation of terms: "ntriples" or "structs".
        columns: Names of the columns, in order; None for the default columns.
    """

    rows: str = "messages"
    terms: str = "ntriples"
    columns: list[str] | None = None

    @classmethod
    def from_options(
        cls,
        rows: str,
        terms: str,
        columns: Sequence[str] | None = None,
        kind: str = "messages",
    ) -> TableForm:
        """Create the form from the options of `open_log`.

        Raises:
            OptionError: If one of the values is unknown, or a column is named twice.
        """
        from rdfm.formats.rows import ROWS, TERMS  # costly to import

        form = cls(ROWS.value(rows), TERMS.value(terms))
        return form if columns is None else form.select(columns, kind)

    def select(self, columns: Sequence[str], kind: str) -> TableForm:
        """Return the form with only these columns.

        Raises:
            OptionError: If a column is unknown or named twice, none is named, or the kind has no
                such columns.
        """
        if isinstance(columns, str) or not all(isinstance(name, str) for name in columns):
            raise OptionError(f"columns must be a list of names, not {columns!r:.60}")
        if kind == "results":
            raise OptionError(
                "the columns of results are their variables; select columns of the table instead"
            )
        form = self._replace(columns=list(columns))
        form.coalescer(kind)  # which checks the names
        if len(set(columns)) < len(columns) or not columns:
            fault = "names a column twice" if columns else "names no column"
            raise OptionError(f"columns {fault}: {', '.join(columns)}".removesuffix(": "))
        return form

    def coalescer(self, kind: str) -> ArrowCoalescer:
        """Return a builder of evenly sized record batches for a kind of log.

        Raises:
            OptionError: If the kind has no such rows or columns.
        """
        return ArrowCoalescer(
            self.columns,
            kind=kind,
            max_rows=ROWS,
            max_bytes=BYTES,
            rows=self.rows,
            terms=self.terms,
        )

    def batch_rows(self, batch: AnyBatch, source: str) -> ArrowBatch:
        """Return the rows of a batch of a log.

        Raises:
            OptionError: If quad rows are requested, but the batch contains patches or results.
        """
        if self.rows == "messages":
            if batch.kind == "results":
                return batch.to_arrow(terms=self.terms)
            return batch.to_arrow(self.columns, source, terms=self.terms)
        if not isinstance(batch, MessageBatch):
            raise wrong_kind_error(source, batch.kind, "only messages can be read as quad rows")
        return batch.to_arrow(self.columns, source, rows=self.rows, terms=self.terms)


def arrow_reader(
    table: TableForm, head: AnyBatch, source: str, batches: Iterator[tuple[AnyBatch, str | None]]
) -> pyarrow.RecordBatchReader:
    """Return a pyarrow reader over batches.

    It acquires the GIL in whichever thread requests rows. Nothing is read before rows are
    requested, because DuckDB opens one stream for its schema and then another one for the rows.

    Args:
        table: The form of the rows.
        head: A batch of the same kind as `batches`; for results, with the same variables.
        source: The name of the log, for errors.
        batches: The batches, each with the value of its source column.

    Raises:
        MissingExtraError: If pyarrow is not installed.
        OptionError: If quad rows are requested, but the log contains patches or results.
        ValueError: If the log is the answer to an ASK query, or a variable is not a valid column
            name.
    """
    with require_package("pyarrow", "reading a log as an Arrow stream"):
        import pyarrow as pa
    schema = pa.schema(table.batch_rows(head.slice(0, 0), source))

    def rows() -> Iterator[Any]:
        coalescer = table.coalescer(head.kind)
        failure = None
        try:
            for batch, name in batches:
                for columns in coalescer.push(batch, name):
                    yield pa.record_batch(columns)
        except Exception as error:
            failure = error
        if (last_rows := coalescer.finish()) is not None:
            yield pa.record_batch(last_rows)
        if failure is not None:
            raise failure

    reader: pyarrow.RecordBatchReader = pa.RecordBatchReader.from_batches(schema, rows())
    return reader
