"""Computes how many rows of a Parquet file can be decoded at once.

In: the file, its metadata, and the columns to read. Out: for each set of row groups, the maximum
number of rows per batch and the first row that is too large.
Cost: reads the page headers. Pages are decompressed only if a row group may decode to more than
`GROUP_BYTES`, beginning with those that can be larger than they appear.
Law: a batch never decodes to more than `GROUP_BYTES`, whatever the file declares.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from rdfm._core import ParquetColumn, parquet_columns
from rdfm.errors import DecodeError, LimitError, Remedy
from rdfm.formats.table_file import TableFile

__all__ = ["ColumnChunk", "RowGroupPlan", "plans", "read_footer"]

# A row group of at most this number of decoded bytes is read without inspecting its pages.
GROUP_BYTES = 128 << 20
# Row groups are read together up to this number of decoded bytes. A batch may contain all of them.
COMBINED_BYTES = 32 << 20
# Maximum decoded bytes of a batch from a larger row group, unless a single row is larger.
BATCH_BYTES = 32 << 20
# Limit for the pages that are open at once, as a multiple of the message limit.
PAGES_FACTOR = 4
# Limit for the footer, if the message limit is not larger. pyarrow needs many times this memory.
FOOTER_BYTES = 16 << 20
HEADER_BYTES = 1 << 12
MAX_HEADER_BYTES = 16 << 20
# Bytes per value, for types with a fixed width.
_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8}
_CODECS = {
    0: "none",
    1: "snappy",
    2: "gzip",
    4: "brotli",
    6: "zstd",
    7: "lz4_raw",
}

# Number of values, id of the compression codec, size in bytes, offset of the first data page,
# offset of the dictionary page.
ColumnChunk = tuple[int, int, int, int, "int | None"]


class RowGroupPlan(NamedTuple):
    """Row groups that are read in the same way.

    Attributes:
        groups: Numbers of the row groups.
        rows: Maximum number of rows per batch; None if unlimited.
        too_large: Index, within these row groups, of the first row that is too large.
    """

    groups: list[int]
    rows: int | None = None
    too_large: int | None = None


def plans(
    file: TableFile,
    metadata: Any,
    footer: list[list[ColumnChunk]],
    columns: list[str],
    max_message_bytes: int,
) -> Iterator[RowGroupPlan]:
    """Yield plans for the row groups, in order and on demand.

    Args:
        file: The file.
        metadata: The metadata that pyarrow read.
        footer: The columns of each row group.
        columns: The columns to read.
        max_message_bytes: Maximum decoded size of a message.

    Raises:
        DecodeError: If a page is corrupt.
        LimitError: If the pages of a row group are too large.
    """
    leaves = [
        index
        for index in range(metadata.num_columns)
        if metadata.schema.column(index).path.partition(".")[0] in columns
    ]
    if len(footer) != metadata.num_row_groups:
        raise _parquet_error("its footer is ambiguous")
    small: list[int] = []
    total = 0
    for number in range(metadata.num_row_groups):
        try:
            group = _RowGroup(
                file, metadata.schema, number, footer[number], leaves, max_message_bytes
            )
            bound = group.bound()
        except (DecodeError, LimitError):
            # Rows before an error are returned first.
            if small:
                yield RowGroupPlan(small)
            raise
        if small and (bound is None or total + bound > COMBINED_BYTES):
            yield RowGroupPlan(small)
            small, total = [], 0
        if bound is None:
            yield group.plan()
        else:
            small.append(number)
            total += bound
    if small:
        yield RowGroupPlan(small)


def read_footer(file: TableFile, max_message_bytes: int) -> list[list[ColumnChunk]]:
    """Return the columns of each row group, before pyarrow reads the footer.

    pyarrow needs many times the memory of the footer, and aborts the process if the columns of a
    corrupt file are inconsistent.

    Raises:
        DecodeError: If the footer is corrupt.
        LimitError: If the footer is too large.
    """
    if _read_range(file, 0, 4) != b"PAR1":
        raise DecodeError(
            "expected a Parquet file, found something else", format="parquet", byte_offset=0
        )
    tail = _read_range(file, max(file.size - 8, 0), 8)
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != b"PAR1" or length > file.size - 8:
        raise _parquet_error("it does not end with a complete footer; it may be truncated")
    limit = max(FOOTER_BYTES, max_message_bytes // PAGES_FACTOR)
    if length > limit:
        raise LimitError(
            f"the footer has {length} bytes, more than {limit}",
            remedies=[Remedy("read", "max_message_bytes", None, "if the source is trusted")],
            format="parquet",
        )
    start = file.size - 8 - length
    with _page_errors():
        groups = parquet_columns(_read_range(file, start, length))
    ends = (
        size + min(data, data if dictionary is None else dictionary)
        for group in groups
        for _, _, size, data, dictionary in group
    )
    if file.is_joined(b"PAR1PAR1", start - max(ends, default=0)):
        raise _parquet_error(
            "it consists of several joined Parquet files; pass them as separate files"
        )
    return groups


def _read_range(file: TableFile, offset: int, size: int) -> bytes:
    file.seek(offset)
    return file.read(max(size, 0))


class _RowGroup:
    def __init__(
        self,
        file: TableFile,
        schema: Any,
        number: int,
        chunks: list[ColumnChunk],
        leaves: list[int],
        max_message_bytes: int,
    ) -> None:
        self._file = file
        self._number = number
        self._max_message_bytes = max_message_bytes
        if len(chunks) != len(schema):
            raise _parquet_error(f"row group {number} has {len(chunks)} columns, not {len(schema)}")
        self._columns = [
            self._create_column(chunks[index], schema.column(index)) for index in leaves
        ]
        pages = sum(column.page_bytes for column, _ in self._columns)
        if pages > PAGES_FACTOR * max_message_bytes:
            raise LimitError(
                f"the pages of row group {number} need {pages} bytes at once, "
                f"more than {PAGES_FACTOR} times the message limit of {max_message_bytes}",
                remedies=[Remedy("read", "max_message_bytes", None, "if the source is trusted")],
                format="parquet",
            )

    def _create_column(self, chunk: ColumnChunk, leaf: Any) -> tuple[ParquetColumn, str]:
        values, codec, size, offset, dictionary = chunk
        kind = leaf.physical_type
        width = leaf.length if kind == "FIXED_LEN_BYTE_ARRAY" else _WIDTHS.get(kind)
        column = ParquetColumn(
            max(values, 0),
            max_definition=leaf.max_definition_level,
            max_repetition=leaf.max_repetition_level,
            width=width,
            max_row_bytes=self._max_message_bytes,
        )
        if dictionary is not None and 0 < dictionary < offset:
            offset = dictionary
        end = offset + max(size, 0)
        while not column.complete:
            offset = self._add_page(column, offset, end)
        return column, _CODECS.get(codec, "")

    def _add_page(self, column: ParquetColumn, offset: int, end: int) -> int:
        size = HEADER_BYTES
        while True:
            header = _read_range(self._file, offset, min(size, end - offset))
            with _page_errors():
                next_offset = column.add(offset, header)
            if next_offset is not None:
                if next_offset > self._file.size:
                    raise _parquet_error("a page is truncated")
                return next_offset
            if len(header) < size or size > MAX_HEADER_BYTES:
                raise _parquet_error("a page header is truncated")
            size *= 8

    def _read_page(self, compression: str, page: tuple[int, int, int, int, bool]) -> bytes:
        """Return the decompressed bytes of a page."""
        import pyarrow as pa

        offset, compressed, size, levels, is_compressed = page
        data = _read_range(self._file, offset, compressed)
        if len(data) < compressed:
            raise _parquet_error("a page is truncated")
        if compression == "none" or not is_compressed:
            return data
        head, data = data[:levels], data[levels:]
        if not data:
            return head
        if not compression:
            raise _parquet_error("a page uses an unsupported compression codec")
        try:
            values: bytes = pa.Codec(compression).decompress(data, size - levels, asbytes=True)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise _parquet_error(f"a page cannot be decompressed: {error}") from error
        return head + values if head else values

    def bound(self) -> int | None:
        """Return an upper bound on the decoded bytes; None if the rows must be scanned first."""
        if (bound := self._sum_bounds()) <= GROUP_BYTES:
            return bound
        share = GROUP_BYTES // max(len(self._columns), 1)
        large_columns = [column for column in self._columns if column[0].bound > share]
        for column, compression in large_columns:
            self._scan_dictionary(column, compression)
        if (bound := self._sum_bounds()) <= GROUP_BYTES:
            return bound
        for column, compression in large_columns:
            pages = column.pages
            if not any(may_expand for _, may_expand, _ in pages):
                continue
            column.begin()
            for number, (page, may_expand, _) in enumerate(pages):
                if may_expand:
                    with _page_errors():
                        if not column.scan(number, self._read_page(compression, page)):
                            return None
        return bound if (bound := self._sum_bounds()) <= GROUP_BYTES else None

    def _sum_bounds(self) -> int:
        return sum(column.bound for column, _ in self._columns)

    def _scan_dictionary(self, column: ParquetColumn, compression: str) -> None:
        if (page := column.dictionary) is not None:
            with _page_errors():
                column.scan_dictionary(self._read_page(compression, page))

    def plan(self) -> RowGroupPlan:
        """Scan the rows, and return a plan for reading them."""
        sums: list[int] = []
        too_large: int | None = None
        for column, compression in self._columns:
            self._scan_dictionary(column, compression)
            column.begin()
            for number, (page, _, needs_scan) in enumerate(column.pages):
                if not needs_scan:
                    column.skip(number)
                    continue
                with _page_errors():
                    if not column.scan(number, self._read_page(compression, page)):
                        break
            windows, row = column.finish()
            sums = [a + b for a, b in zip(sums, windows, strict=True)] if sums else windows
            if row is not None and (too_large is None or row < too_large):
                too_large = row
        # A few large rows must not make all batches small.
        batch_limit = max(BATCH_BYTES, min(2 * sums[0], GROUP_BYTES))
        rows = 1
        for level, bytes in enumerate(sums):
            if bytes <= batch_limit:
                rows = 1 << level
        while too_large and too_large % rows:
            rows >>= 1
        return RowGroupPlan([self._number], rows, too_large)


class _page_errors:
    """Converts errors about inconsistent pages to decoding errors."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        if isinstance(error, ValueError) and not isinstance(error, DecodeError):
            raise _parquet_error(str(error)) from error


def _parquet_error(reason: str) -> DecodeError:
    return DecodeError(f"the file is corrupt: {reason}", format="parquet")
