"""Arrow IPC with one row per message or quad: files (`.arrow`, `.feather`), streams (`.arrows`)."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from rdfm.errors import DecodeError, TruncatedError
from rdfm.formats.rows import (
    CARRIES,
    CONTINUABLE,
    KINDS,
    READS,
    SPOOLED_BYTES,
    WRITES,
    WRITTEN_ONLY,
    RowDecoder,
    RowEncoder,
    RowFormat,
)
from rdfm.formats.spec import FormatSpec, OptionSpec
from rdfm.formats.table_file import TableFile

__all__ = ["FORMAT", "ArrowDecoder", "ArrowEncoder"]

_MAGIC = b"ARROW1"
_FILE_HEAD = 8
_STREAM = OptionSpec(
    "stream",
    "switch",
    "Write an Arrow stream instead of a file. This is the default for file names that end in "
    ".arrows.",
    default=False,
    group="Parquet and Arrow",
)
_STREAM_MAGIC = b"\xff\xff\xff\xff"
# End-of-stream markers. Before Arrow 0.15, they did not have the first four bytes.
_ENDS = (b"\xff\xff\xff\xff\x00\x00\x00\x00", b"\x00\x00\x00\x00")


class ArrowDecoder(RowDecoder):
    """Decodes Arrow files and streams. Options are keyword arguments; see `spec.reads`."""

    format = "arrow"

    def _open(self, file: TableFile) -> Iterator[Any]:
        head = file.read(_FILE_HEAD)
        size = file.size
        if not head.startswith((_MAGIC, _STREAM_MAGIC)):
            # Before Arrow 0.15 a stream began with the length of its first message.
            first = int.from_bytes(head[:4], "little")
            if not 0 < first <= size - 4:
                kind = (
                    "Feather 1, which is not supported"
                    if head.startswith(b"FEA1")
                    else "something else"
                )
                raise DecodeError(
                    f"expected an Arrow file or stream, found {kind}",
                    format=self.format,
                    byte_offset=0,
                )
        file.seek(max(size - len(_MAGIC), 0))
        if head.startswith(_MAGIC) and file.read() == _MAGIC:
            yield from self._file_rows(file)
            return
        # After its first bytes, a truncated file has the structure of a stream.
        if head.startswith(_MAGIC):
            file.seek(_FILE_HEAD)
            yield from self._stream_rows(file)
            raise self._truncated_error("a footer")
        file.seek(0)
        yield from self._stream_rows(file)
        self._check_end(file)

    def _file_rows(self, file: TableFile) -> Iterator[Any]:
        from pyarrow import ipc

        from rdfm.formats.arrow_sizes import ArrowSizeChecker

        size_checks = ArrowSizeChecker(file, self._max_bytes).check_blocks()
        next(size_checks, None)  # before pyarrow reads the footer
        arrow_file = _file_for_pyarrow(file)
        rows = ipc.open_file(arrow_file)
        columns = self._select_columns(rows.schema)
        count = rows.num_record_batches
        for number in range(count):
            if arrow_file is not file:
                # The position of the file is reported as progress.
                file.seek(file.size * (number + 1) // count)
            yield _validate_rows(rows.get_batch(number).select(columns))
            next(size_checks, None)

    def _stream_rows(self, file: TableFile) -> Iterator[Any]:
        from pyarrow import ipc

        from rdfm.formats.arrow_sizes import ArrowSizeChecker

        size_checks = ArrowSizeChecker(file, self._max_bytes).check_messages(file.tell())
        next(size_checks, None)  # before pyarrow reads the schema
        with ipc.open_stream(file) as rows:
            columns = self._select_columns(rows.schema)
            while True:
                try:
                    batch = rows.read_next_batch()
                except StopIteration:
                    break
                yield _validate_rows(batch.select(columns))
                next(size_checks, None)

    def _check_end(self, file: TableFile) -> None:
        position = file.tell()
        file.seek(max(position - len(_ENDS[0]), 0))
        if not file.read(len(_ENDS[0])).endswith(_ENDS):
            raise self._truncated_error("an end-of-stream marker")
        file.seek(position)
        if file.read(1):
            raise DecodeError(
                "there is data after the end-of-stream marker; remove it",
                format=self.format,
                byte_offset=position,
            )

    def _truncated_error(self, missing: str) -> TruncatedError:
        return TruncatedError(
            f"the rows end without {missing}; the file is truncated, so obtain a complete copy",
            format=self.format,
            message_index=self._index,
        )


def _file_for_pyarrow(file: TableFile) -> Any:
    """Return a file for pyarrow, which reads the footer in a separate thread.

    That thread may use the file a little longer than the caller. If the process exits during that
    time and the file is a Python object, the process aborts. Small files are therefore passed as
    memory. For a large file, the thread ends before reading is complete.
    """
    import pyarrow as pa

    if file.size > SPOOLED_BYTES:
        return file
    file.seek(0)
    data = file.read()
    memory = pa.allocate_buffer(len(data))
    memoryview(memory).cast("B")[:] = data
    return pa.BufferReader(memory)


def _validate_rows(rows: Any) -> Any:
    """Check that the offsets of rows are within the data, and return the rows."""
    rows.validate(full=True)
    return rows


class _Sink(io.RawIOBase):
    """An in-memory file. `take` returns and removes the bytes written so far."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        piece = bytes(data)
        self._parts.append(piece)
        self._size += len(piece)
        return len(piece)

    def tell(self) -> int:
        return self._size

    def take(self) -> bytes:
        data, self._parts = b"".join(self._parts), []
        return data


class ArrowEncoder(RowEncoder):
    """Encodes Arrow files or streams. Options are keyword arguments; see `spec.writes`."""

    format = "arrow"

    def __init__(self, *, stream: bool = False, **options: Any) -> None:
        """Create an encoder. `stream` selects an Arrow stream; `RowEncoder` has the other options."""
        self._stream = stream
        super().__init__(**options)

    def _open(self, schema: Any) -> None:
        from pyarrow import ipc

        self._sink = _Sink()
        self._writer = (ipc.new_stream if self._stream else ipc.new_file)(self._sink, schema)

    def _encode_row_group(self, rows: Any) -> bytes:
        self._writer.write(rows)
        return self._sink.take()

    def _encode_end(self) -> bytes:
        self._writer.close()
        return self._sink.take()


FORMAT = RowFormat(
    FormatSpec(
        name="arrow",
        title="Arrow IPC",
        kinds=KINDS,
        written_only=WRITTEN_ONLY,
        suffixes=(".arrow", ".feather", ".arrows"),
        media_types=(
            "application/vnd.apache.arrow.file",
            "application/vnd.apache.arrow.stream",
        ),
        sniff=lambda head, _: head.startswith((_MAGIC, _STREAM_MAGIC)),
        aliases=("arrow-ipc", "ipc"),
        carries=CARRIES,
        binary=True,
        not_appended="a file ends with an index of its content",
        needs="arrow",
        whole_file=True,
        continuable=CONTINUABLE,
        suffix_options={".arrows": {"stream": True}},
        reads=READS,
        writes=(*WRITES, _STREAM),
    ),
    ArrowDecoder,
    ArrowEncoder,
)
