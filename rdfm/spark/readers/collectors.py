"""Collects rows, and rows for errors between them, in Spark's record batches.

In: batches from logs, and errors. Out: Arrow record batches with exactly Spark's schema.
Cost: a batch of `BATCH_ROWS` rows or `BATCH_BYTES` at a time.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from rdfm._core import ArrowCoalescer, ResultBatch
from rdfm.errors import DecodeError, LimitError, OptionError
from rdfm.spark.compat import arrow_schema
from rdfm.spark.queries.evaluation import Evaluation
from rdfm.spark.readers.kinds import check_has_rows

if TYPE_CHECKING:
    from rdfm.message import AnyBatch
    from rdfm.spark.readers.rows import SparkReading

__all__ = ["MessageRows", "QueryRows", "RowCollector"]

# Small enough to stay in the processor's caches from the decoder through the pipe to the JVM.
BATCH_ROWS = 8192
BATCH_BYTES = 2 << 20

_log = logging.getLogger("rdfm.spark")


class RowCollector(ABC):
    """Collects rows, and rows for errors between them, in Spark's record batches."""

    # The columns that identify the message. Other columns are variables, with any names.
    _identifying: tuple[str, ...] = ("source", "message_index", "byte_offset")

    def __init__(self, reading: SparkReading) -> None:
        """Create a collector of the inner columns of a read."""
        self._schema = arrow_schema(reading.inner)
        self._columns = reading.columns
        self._collected: list[pa.RecordBatch] = []
        self._rows = self._bytes = 0

    @abstractmethod
    def add(self, batch: AnyBatch, source: str) -> Iterator[pa.RecordBatch]:
        """Add messages, and return the complete record batches."""

    def add_error(self, source: str, error: DecodeError, text: str) -> Iterator[pa.RecordBatch]:
        """Add a row for a message that could not be read."""
        yield from self._collect_rest()
        position = (source, error.message_index, error.byte_offset)
        values: dict[str | None, Any] = {
            None: text,
            **dict(zip(self._identifying, position, strict=False)),
        }
        columns = [
            pa.array([values.get(name)], field.type)
            for name, field in zip(self._columns, self._schema, strict=True)
        ]
        yield from self._collect(pa.RecordBatch.from_arrays(columns, schema=self._schema))

    def finish(self) -> Iterator[pa.RecordBatch]:
        """Return the remaining rows."""
        yield from self._collect_rest()
        yield from self._flush()

    def _collect_rest(self) -> Iterator[pa.RecordBatch]:
        """Collect the rows that are not collected yet."""
        yield from ()

    def _collect(self, rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Collect rows in Spark's schema, and return the complete record batches."""
        if self._rows + rows.num_rows > BATCH_ROWS or self._bytes + rows.nbytes > BATCH_BYTES:
            yield from self._flush()
        self._collected.append(rows)
        self._rows += rows.num_rows
        self._bytes += rows.nbytes
        if self._rows >= BATCH_ROWS or self._bytes >= BATCH_BYTES:
            yield from self._flush()

    def _flush(self) -> Iterator[pa.RecordBatch]:
        if self._collected:
            table = pa.Table.from_batches(self._collected, self._schema)
            self._collected, self._rows, self._bytes = [], 0, 0
            yield from table.combine_chunks().to_batches()

    def _to_schema(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Convert rows with the core's columns to Spark's schema."""
        columns = [
            pa.nulls(rows.num_rows, type) if name is None else _fit_type(rows[name], type)
            for name, type in zip(self._columns, self._schema.types, strict=True)
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self._schema)


class MessageRows(RowCollector):
    """Collects messages, patches, quads or results."""

    def __init__(self, reading: SparkReading) -> None:
        """Create a collector for a read without a query."""
        super().__init__(reading)
        self._kind = reading.kind
        self._variables = reading.variables
        self._form = {"rows": reading.rows, "terms": reading.terms}
        if self._kind == "results":
            self._identifying = ()
        # The kind of log whose rows are collected; for results, the variables in their order.
        self._collected_kind: object = None
        self._coalescer: ArrowCoalescer | None = None

    def add(self, batch: AnyBatch, source: str) -> Iterator[pa.RecordBatch]:
        """Add messages, and return the complete record batches.

        Raises:
            OptionError: If the kind of the messages does not match the columns, or they are results
                with other variables.
            LimitError: If the strings of a message exceed 2 GiB.
        """
        self._check(batch, source)
        opened = batch.variables if isinstance(batch, ResultBatch) else batch.kind
        if self._coalescer is None or opened != self._collected_kind:
            yield from self._collect_rest()
            self._collected_kind = opened
            self._coalescer = ArrowCoalescer(
                None if batch.kind == "results" else [name for name in self._columns if name],
                kind=batch.kind,
                max_rows=BATCH_ROWS,
                max_bytes=BATCH_BYTES,
                **self._form,
            )
        try:
            pushed = self._coalescer.push(batch, source)
        except LimitError as error:
            error.source = source
            raise
        for complete in pushed:
            yield from self._collect(self._to_schema(pa.record_batch(complete)))

    def _check(self, batch: AnyBatch, source: str) -> None:
        kinds = ("messages", "patches") if self._kind is None else (self._kind,)
        if batch.kind not in kinds:
            raise OptionError(
                f"{source} contains {batch.kind}, but the rows are {' or '.join(kinds)}; read logs of one kind "
                "at a time, for example with the option format or pathGlobFilter"
            )
        if isinstance(batch, ResultBatch) and set(batch.variables) != set(self._variables):
            check_has_rows(batch, source)
            raise OptionError(
                f"{source} has the variables {', '.join(batch.variables) or '(none)'}, but the first file has "
                f"{', '.join(self._variables)}; read results with the same variables"
            )

    def _collect_rest(self) -> Iterator[pa.RecordBatch]:
        rest = None if self._coalescer is None else self._coalescer.finish()
        if rest is not None:
            yield from self._collect(self._to_schema(pa.record_batch(rest)))


class QueryRows(RowCollector):
    """Collects the rows of a query."""

    def __init__(self, reading: SparkReading) -> None:
        """Create a collector for a read with a query."""
        super().__init__(reading)
        assert reading.query is not None
        if reading.query.kind != "construct":
            self._identifying = ("source", "message_index")
        self._mode = reading.mode
        self._evaluation = Evaluation(reading.query, lenient=self._mode != "FAILFAST")

    def add(self, batch: AnyBatch, source: str) -> Iterator[pa.RecordBatch]:
        """Add messages, and return the complete record batches.

        Raises:
            LimitError: If a message exceeds a limit of the query, unless the mode is PERMISSIVE.
            DecodeError: If a value does not match its column's type.
            OptionError: If the batch does not contain messages.
        """
        for table in self._evaluation.tables(batch, source):
            if isinstance(table, LimitError):
                if self._mode != "PERMISSIVE":
                    raise table
                yield from self.add_error(source, table, str(table))
            else:
                yield from self._collect(self._to_schema(table))

    def finish(self) -> Iterator[pa.RecordBatch]:
        """Return the remaining rows."""
        yield from super().finish()
        if self._evaluation.nulls:
            _log.warning(
                "%d values are null because they do not match the types of their columns",
                self._evaluation.nulls,
            )


def _fit_type(array: pa.Array, type: pa.DataType) -> pa.Array:
    """Reduce the structs of an array to the requested fields; its lists must not be null."""
    if array.type == type:
        return array
    if pa.types.is_list(type):
        values = _fit_type(array.values, type.value_type)
        return pa.ListArray.from_arrays(array.offsets, values, type=type)
    if not pa.types.is_struct(type):
        return array.cast(type)
    fields = [_fit_type(array.field(field.name.lower()), field.type) for field in type]
    nulls = array.is_null() if array.null_count else None
    return pa.StructArray.from_arrays(fields, fields=list(type), mask=nulls)
