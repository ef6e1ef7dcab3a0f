"""Parquet files (`.parquet`) with one row per message or quad, read and written with pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rdfm._core import ParquetJoiner
from rdfm.errors import LimitError, Remedy
from rdfm.formats.rows import (
    CARRIES,
    CONTINUABLE,
    KINDS,
    READ_BYTES,
    READ_ROWS,
    READS,
    WRITES,
    WRITTEN_ONLY,
    RowDecoder,
    RowEncoder,
    RowFormat,
)
from rdfm.formats.spec import FormatSpec
from rdfm.formats.table_file import TableFile
from rdfm.storage.pool import MAX_JOBS

__all__ = ["FORMAT", "ParquetDecoder", "ParquetEncoder"]

_BUFFER_BYTES = 1 << 20
# Each column of each row group gets its own Zstandard context, which takes 40 µs. For results with
# many variables, this is two thirds of the time. Files with more than `WIDE_COLUMNS` columns are
# therefore compressed with Snappy, which does not need a context.
WIDE_COLUMNS = 1024


class ParquetDecoder(RowDecoder):
    """Decodes Parquet files. Options are keyword arguments; see `spec.reads`."""

    format = "parquet"

    def _open(self, file: TableFile) -> Iterator[Any]:
        from pyarrow import parquet

        from rdfm.formats.parquet_sizes import plans, read_footer

        footer = read_footer(file, self._max_bytes)
        # Without read-ahead, a row group is read on demand, however large it is.
        rows = parquet.ParquetFile(file, pre_buffer=False, buffer_size=_BUFFER_BYTES)
        columns = self._select_columns(rows.schema_arrow)
        self._rows = rows.metadata.num_rows
        max_rows = _rows_at_once(rows.metadata, READ_ROWS[self._row_kind])
        start = 0
        for plan in plans(file, rows.metadata, footer, columns, self._max_bytes):
            batches = rows.iter_batches(
                batch_size=min(READ_ROWS[self._row_kind], plan.rows) if plan.rows else max_rows,
                row_groups=plan.groups,
                columns=columns,
                use_threads=False,
            )
            if plan.too_large is not None:
                yield from _batches_before(batches, plan.too_large)
                raise self._too_large_error(start + plan.too_large)
            yield from batches
            start += sum(rows.metadata.row_group(group).num_rows for group in plan.groups)

    def _too_large_error(self, row: int) -> LimitError:
        return LimitError(
            f"row {row} has more than {self._max_bytes} bytes",
            remedies=[Remedy("read", "max_message_bytes", None, "if the source is trusted")],
            format=self.format,
            message_index=self._index if self._row_kind == "quads" else row,
        )


def _batches_before(batches: Iterator[Any], row: int) -> Iterator[Any]:
    """Yield the batches before a row that begins a batch. That batch itself is not read."""
    row_count = 0
    while row_count < row:
        batch = next(batches)
        row_count += batch.num_rows
        yield batch


def _rows_at_once(metadata: Any, max_rows: int) -> int:
    """The number of rows that take about `READ_BYTES`, if the file declares row group sizes."""
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    max_row_bytes = max(
        (group.total_byte_size / max(group.num_rows, 1) for group in groups), default=0
    )
    return max(1, min(max_rows, int(READ_BYTES / max(max_row_bytes, 1))))


class ParquetEncoder(RowEncoder):
    """Encodes Parquet files. Options are keyword arguments; see `spec.writes`.

    Each row group is written as a separate file, so that threads can write several at once.
    """

    format = "parquet"
    counts_rows = False
    max_threads = MAX_JOBS

    def _open(self, schema: Any) -> None:
        self._schema = schema
        self._joiner = ParquetJoiner()
        self._is_empty = True

    def _encode_row_group(self, rows: Any | None) -> bytes:
        """Write a file with one row group, or without row groups if there are no rows."""
        import pyarrow as pa
        from pyarrow import parquet

        file = pa.BufferOutputStream()
        compression = "zstd" if len(self._schema) <= WIDE_COLUMNS else "snappy"
        with parquet.ParquetWriter(file, self._schema, compression=compression) as writer:
            if rows is not None:
                writer.write(rows)
        return bytes(file.getvalue())

    def _append(self, group: bytes) -> bytes:
        self._is_empty = False
        return self._joiner.add(group)

    def _encode_end(self) -> bytes:
        start = self._append(self._encode_row_group(None)) if self._is_empty else b""
        return start + self._joiner.finish()


FORMAT = RowFormat(
    FormatSpec(
        name="parquet",
        title="Parquet",
        kinds=KINDS,
        written_only=WRITTEN_ONLY,
        suffixes=(".parquet",),
        media_types=("application/vnd.apache.parquet",),
        sniff=lambda head, _: head.startswith(b"PAR1"),
        aliases=("pq",),
        carries=CARRIES,
        binary=True,
        not_appended="a file ends with an index of its content",
        needs="arrow",
        whole_file=True,
        continuable=CONTINUABLE,
        reads=READS,
        writes=WRITES,
    ),
    ParquetDecoder,
    ParquetEncoder,
)
