"""A log that is read as Arrow rows.

In: batches as they are read. Out: a reader of pyarrow's, which reads on as rows are taken; or the rows of one batch.
Cost: a batch of rows at a time. Law: rows before an error come first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from rdfm._core import ArrowBatch, ArrowCoalescer, MessageBatch
from rdfm.logs.frames import needed
from rdfm.logs.kinds import other_kind

if TYPE_CHECKING:
    import pyarrow

    from rdfm.message import AnyBatch

__all__ = ["Table", "arrow_reader"]

ROWS = 8192
BYTES = 8 << 20


class Table(NamedTuple):
    """What rows are.

    Attributes:
        rows: "messages", which stands for patches and rows of results too, or "quads".
        terms: How terms stand in them: as "ntriples" or "structs".
    """

    rows: str = "messages"
    terms: str = "ntriples"

    @classmethod
    def of(cls, rows: str, terms: str) -> Table:
        """Check what was asked for.

        Raises:
            OptionError: One of them is no such word.
        """
        from rdfm.formats.rows import ROWS, TERMS  # costly to import

        return cls(ROWS.value(rows), TERMS.value(terms))

    def coalescer(self, kind: str) -> ArrowCoalescer:
        """Give what makes even record batches of a kind of log."""
        return ArrowCoalescer(
            kind=kind, max_rows=ROWS, max_bytes=BYTES, rows=self.rows, terms=self.terms
        )

    def of_batch(self, batch: AnyBatch, source: str) -> ArrowBatch:
        """Give the rows of a batch of a log.

        Raises:
            OptionError: Rows are to be quads, and those of the batch are none.
        """
        if self.rows == "messages":
            if batch.kind == "results":
                return batch.to_arrow(terms=self.terms)
            return batch.to_arrow(source=source, terms=self.terms)
        if not isinstance(batch, MessageBatch):
            raise other_kind(source, batch.kind, "rows of quads are of messages")
        return batch.to_arrow(source=source, rows=self.rows, terms=self.terms)


def arrow_reader(
    table: Table, head: AnyBatch, source: str, batches: Iterator[tuple[AnyBatch, str | None]]
) -> pyarrow.RecordBatchReader:
    """Give pyarrow's reader of batches, which takes the interpreter's lock whichever thread asks it for rows.

    Nothing is read before rows are taken: DuckDB asks for a stream to see its schema, and then for another one.

    Args:
        table: What rows are.
        head: A batch of the kind of the batches, of results with their variables.
        source: The name of the log, for errors.
        batches: The batches, each with the text of its source column.

    Raises:
        MissingExtraError: pyarrow is not installed.
        OptionError: Rows are to be quads, and the log contains none.
        ValueError: It is the answer of an ASK query; or a variable cannot name a column.
    """
    with needed("pyarrow", "a log as an Arrow stream"):
        import pyarrow as pa
    schema = pa.schema(table.of_batch(head.slice(0, 0), source))

    def rows() -> Iterator[Any]:
        coalescer = table.coalescer(head.kind)
        met = None
        try:
            for batch, name in batches:
                for some in coalescer.push(batch, name):
                    yield pa.record_batch(some)
        except Exception as error:
            met = error
        if (rest := coalescer.finish()) is not None:
            yield pa.record_batch(rest)
        if met is not None:
            raise met

    reader: pyarrow.RecordBatchReader = pa.RecordBatchReader.from_batches(schema, rows())
    return reader
