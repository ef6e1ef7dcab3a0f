"""A log that is read as an Arrow stream, or in Arrow batches.

In: batches as they are read. Out: a capsule of the PyCapsule interface, whose consumer reads on as it takes rows; or
the rows of one batch.
Cost: a batch of rows at a time. Law: rows before an error come first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from rdfm._core import ArrowBatch, ArrowCoalescer, MessageBatch
from rdfm.errors import MissingExtraError
from rdfm.logs.kinds import other_kind

if TYPE_CHECKING:
    from rdfm.message import AnyBatch

__all__ = ["Table", "arrow_stream"]

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
        from rdfm.formats._rows import ROWS, TERMS  # costly to import

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


def arrow_stream(
    table: Table,
    head: AnyBatch,
    source: str,
    batches: Iterator[tuple[AnyBatch, str | None]],
    requested_schema: object,
) -> object:
    """Hand batches over as `__arrow_c_stream__` does.

    The stream is pyarrow's, which takes the interpreter's lock whoever asks for rows, from whichever thread. Nothing is
    read before it is asked for rows: DuckDB asks for a stream just to see its schema, and then for another one.

    Args:
        table: What rows are.
        head: A batch of the kind of the batches, of results with their variables.
        source: The name of the log, for errors.
        batches: The batches, each with the text of its source column.
        requested_schema: As the interface gives it.

    Raises:
        MissingExtraError: pyarrow is not installed.
        OptionError: Rows are to be quads, and the log holds none.
        ValueError: It is the answer of an ASK query.
    """
    try:
        import pyarrow as pa
    except ImportError as error:
        raise MissingExtraError(
            "a log as an Arrow stream needs pyarrow: pip install 'rdfm[arrow]'"
        ) from error
    schema = pa.record_batch(table.of_batch(head.slice(0, 0), source)).schema

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

    return pa.RecordBatchReader.from_batches(schema, rows()).__arrow_c_stream__(requested_schema)
