"""A log that is read as an Arrow stream.

In: batches as they are read. Out: a capsule of the PyCapsule interface, whose consumer reads on as it takes rows.
Cost: a batch of rows at a time. Law: rows before an error come first.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

from rdfm._core import ArrowCoalescer, MessageBatch, PatchBatch, ResultBatch
from rdfm.errors import MissingExtraError

if TYPE_CHECKING:
    from rdfm.message import AnyBatch

__all__ = ["arrow_stream"]

ROWS = 8192
BYTES = 8 << 20


def arrow_stream(
    batches: Iterator[tuple[AnyBatch, str | None]], kind: str, requested_schema: object
) -> object:
    """Hand batches over as `__arrow_c_stream__` does.

    The stream is pyarrow's, which takes the interpreter's lock whoever asks for rows, from whichever thread.

    Args:
        batches: Of one kind, each with the text of its source column.
        kind: What the rows are where there is no batch.
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
    first = next(batches, None)
    if first is None:
        empty: dict[str, AnyBatch] = {
            "messages": MessageBatch.from_messages([]),
            "patches": PatchBatch.from_patches([]),
            "results": ResultBatch.from_rows([], []),
        }
        first = empty[kind], None
    schema = pa.record_batch(first[0].slice(0, 0).to_arrow()).schema

    def rows() -> Iterator[Any]:
        coalescer = ArrowCoalescer(kind=first[0].kind, max_rows=ROWS, max_bytes=BYTES)
        met = None
        try:
            for batch, source in chain([first], batches):
                for some in coalescer.push(batch, source):
                    yield pa.record_batch(some)
        except Exception as error:
            met = error
        if (rest := coalescer.finish()) is not None:
            yield pa.record_batch(rest)
        if met is not None:
            raise met

    return pa.RecordBatchReader.from_batches(schema, rows()).__arrow_c_stream__(requested_schema)
