"""Parquet files with a row for each message (`.parquet`); read and written by pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

from rdfm._core import MessageBatch
from rdfm.formats._base import Format, encode_all
from rdfm.formats._rows import (
    CARRIES,
    DECODE_OPTIONS,
    ENCODE_OPTIONS,
    READ_BYTES,
    READ_ROWS,
    RowDecoder,
    RowEncoder,
    decode_rows,
)

__all__ = ["FORMAT", "Decoder", "Encoder", "decode", "encode"]

_BUFFER_BYTES = 1 << 20

FORMAT = Format(
    name="parquet",
    title="Parquet",
    suffixes=(".parquet",),
    media_types=("application/vnd.apache.parquet",),
    magic=lambda head: head.startswith(b"PAR1"),
    aliases=("pq",),
    decode_options=DECODE_OPTIONS,
    encode_options=ENCODE_OPTIONS,
    carries=CARRIES,
    binary=True,
)


class Decoder(RowDecoder):
    """Decodes Parquet files of rows; options as keywords, see `FORMAT.decode_options`."""

    format = "parquet"

    def _open(self, file: BinaryIO) -> Iterator[Any]:
        from pyarrow import parquet

        # Without read-ahead a group of rows is read as it is needed, however large it is.
        rows = parquet.ParquetFile(file, pre_buffer=False, buffer_size=_BUFFER_BYTES)
        columns = self._wanted(rows.schema_arrow)
        self._rows = rows.metadata.num_rows
        yield from rows.iter_batches(
            batch_size=_rows_at_once(rows.metadata), columns=columns, use_threads=False
        )


def _rows_at_once(metadata: Any) -> int:
    """As many rows as take about `READ_BYTES`, as far as a file says how large its rows are."""
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    largest = max((group.total_byte_size / max(group.num_rows, 1) for group in groups), default=0)
    return max(1, min(READ_ROWS, int(READ_BYTES / max(largest, 1))))


class Encoder(RowEncoder):
    """Encodes Parquet files of rows; options as keywords, see `FORMAT.encode_options`."""

    format = "parquet"

    def _open(self, sink: Any, schema: Any) -> Any:
        from pyarrow import parquet

        return parquet.ParquetWriter(sink, schema, compression="zstd")


def decode(data: bytes, **options: Any) -> MessageBatch:
    """Decode a whole log held in memory; for files use `rdfm.open_log`.

    Args:
        data: The log.
        **options: Those of `FORMAT.decode_options`.

    Raises:
        DecodeError: `data` is no Parquet file of messages; no message is returned.
        LimitError: A message is larger than `max_message_bytes` (in bytes of Arrow).
        MissingExtraError: pyarrow is not installed.
    """
    return decode_rows(Decoder(**options), data)


def encode(batch: MessageBatch, **options: Any) -> bytes:
    """Encode a batch as a whole log; for files use `rdfm.create_log`.

    Args:
        batch: The messages.
        **options: Those of `FORMAT.encode_options`.

    Raises:
        MissingExtraError: pyarrow is not installed.
    """
    return encode_all(Encoder(**options), batch)
