"""Parquet files with a row for each message or quad (`.parquet`); read and written by pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

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

__all__ = ["FORMAT", "Decoder", "Encoder"]

_BUFFER_BYTES = 1 << 20
# Each column of each row group gets its own Zstandard context, which takes 40 µs. For results with many variables that
# is two thirds of the time. Snappy needs no context.
WIDE_COLUMNS = 1024


class Decoder(RowDecoder):
    """Decodes Parquet files of rows; options as keywords, see `spec.reads`."""

    format = "parquet"

    def _open(self, file: BinaryIO) -> Iterator[Any]:
        from pyarrow import parquet

        # Without read-ahead a row group is read on demand, however large it is.
        rows = parquet.ParquetFile(file, pre_buffer=False, buffer_size=_BUFFER_BYTES)
        columns = self._wanted(rows.schema_arrow)
        self._rows = rows.metadata.num_rows
        yield from rows.iter_batches(
            batch_size=_rows_at_once(rows.metadata, READ_ROWS[self._of]),
            columns=columns,
            use_threads=False,
        )


def _rows_at_once(metadata: Any, most: int) -> int:
    """The number of rows that take about `READ_BYTES`, if the file declares the size of its row groups."""
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    largest = max((group.total_byte_size / max(group.num_rows, 1) for group in groups), default=0)
    return max(1, min(most, int(READ_BYTES / max(largest, 1))))


class Encoder(RowEncoder):
    """Encodes Parquet files of rows; options as keywords, see `spec.writes`."""

    format = "parquet"
    counts_rows = False

    def _open(self, sink: Any, schema: Any) -> Any:
        from pyarrow import parquet

        compression = "zstd" if len(schema) <= WIDE_COLUMNS else "snappy"
        return parquet.ParquetWriter(sink, schema, compression=compression)


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
        needs="arrow",
        whole_file=True,
        continuable=CONTINUABLE,
        reads=READS,
        writes=WRITES,
    ),
    Decoder,
    Encoder,
)
