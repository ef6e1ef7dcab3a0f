"""A log that is read as an Arrow stream.

In: batches as they are read. Out: a capsule of the PyCapsule interface, whose consumer reads on as it takes rows.
Cost: a batch of rows at a time. Law: rows before an error come first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rdfm._core import ArrowCoalescer
from rdfm.errors import MissingExtraError

if TYPE_CHECKING:
    from rdfm.message import AnyBatch

__all__ = ["arrow_stream"]

ROWS = 8192
BYTES = 8 << 20


def arrow_stream(
    head: AnyBatch, batches: Iterator[tuple[AnyBatch, str | None]], requested_schema: object
) -> object:
    """Hand batches over as `__arrow_c_stream__` does.

    The stream is pyarrow's, which takes the interpreter's lock whoever asks for rows, from whichever thread. Nothing is
    read before it is asked for rows: DuckDB asks for a stream just to see its schema, and then for another one.

    Args:
        head: A batch of the kind of the batches, of results with their variables.
        batches: The batches, each with the text of its source column.
        requested_schema: As the interface gives it.

    Raises:
        MissingExtraError: pyarrow is not installed.
        ValueError: It is the answer of an ASK query.
    """
    try:
        import pyarrow as pa
    except ImportError as error:
        raise MissingExtraError(
            "a log as an Arrow stream needs pyarrow: pip install 'rdfm[arrow]'"
        ) from error
    schema = pa.record_batch(head.slice(0, 0).to_arrow()).schema

    def rows() -> Iterator[Any]:
        coalescer = ArrowCoalescer(kind=head.kind, max_rows=ROWS, max_bytes=BYTES)
        met = None
        try:
            for batch, source in batches:
                for some in coalescer.push(batch, source):
                    yield pa.record_batch(some)
        except Exception as error:
            met = error
        if (rest := coalescer.finish()) is not None:
            yield pa.record_batch(rest)
        if met is not None:
            raise met

    return pa.RecordBatchReader.from_batches(schema, rows()).__arrow_c_stream__(requested_schema)
