"""A log read as Arrow rows.

In: batches as they are read. Out: a pyarrow reader that reads on demand; or the rows of one batch.
Cost: one batch of rows. Law: rows before an error are returned before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from rdfm._core import ArrowBatch, ArrowCoalescer, MessageBatch
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
    """

    rows: str = "messages"
    terms: str = "ntriples"

    @classmethod
    def from_options(cls, rows: str, terms: str) -> TableForm:
        """Create the form from the two options.

        Raises:
            OptionError: If one of the values is unknown.
        """
        from rdfm.formats.rows import ROWS, TERMS  # costly to import

        return cls(ROWS.value(rows), TERMS.value(terms))

    def coalescer(self, kind: str) -> ArrowCoalescer:
        """Return a builder of evenly sized record batches for a kind of log."""
        return ArrowCoalescer(
            kind=kind, max_rows=ROWS, max_bytes=BYTES, rows=self.rows, terms=self.terms
        )

    def batch_rows(self, batch: AnyBatch, source: str) -> ArrowBatch:
        """Return the rows of a batch of a log.

        Raises:
            OptionError: If quad rows are requested, but the batch contains patches or results.
        """
        if self.rows == "messages":
            if batch.kind == "results":
                return batch.to_arrow(terms=self.terms)
            return batch.to_arrow(source=source, terms=self.terms)
        if not isinstance(batch, MessageBatch):
            raise wrong_kind_error(source, batch.kind, "only messages can be read as quad rows")
        return batch.to_arrow(source=source, rows=self.rows, terms=self.terms)


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
