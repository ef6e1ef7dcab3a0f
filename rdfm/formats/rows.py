"""The shared part of the row formats: messages as Arrow rows, read and written with pyarrow.

In: files with one row per message and a column of quads or operations, or with one row per quad.
Out: batches. Encoders do the reverse. Results can only be written, with a column for each variable.
Cost: memory for one row group. Bytes that arrive in pieces are spooled, on disk from 16 MiB, since
these formats are read from their end.
Law: rows before an error are returned first; the division of messages into batches does not change
the bytes.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any, BinaryIO, cast

from rdfm._core import (
    ArrowBatch,
    ArrowCoalescer,
    MessageBatch,
    PatchBatch,
    QuadRows,
    Regrouper,
    ResultBatch,
    batches_from_arrow,
)
from rdfm.errors import (
    DecodeError,
    EncodeError,
    LimitError,
    MissingExtraError,
    OptionError,
    Remedy,
)
from rdfm.formats.format import DecoderLike, Encoder, FileDecoder, Format, Opening
from rdfm.formats.native import native
from rdfm.formats.spec import OptionSpec
from rdfm.formats.table_file import TableFile
from rdfm.storage.pool import Pool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rdfm.message import AnyBatch

__all__ = [
    "CARRIES",
    "CONTINUABLE",
    "KINDS",
    "READS",
    "ROWS",
    "TERMS",
    "WRITES",
    "WRITTEN_ONLY",
    "RowDecoder",
    "RowEncoder",
    "RowFormat",
    "require_pyarrow",
]

# Like Jelly, rows can store everything that batches contain. The options for limits and namespaces
# are those of Jelly.
_JELLY = native("jelly").spec
CARRIES = _JELLY.carries
_MAX_SPOOL = OptionSpec(
    "max_spool_bytes",
    "bytes",
    "Maximum decompressed size of a table that is compressed or not a file. It is stored in a "
    "temporary file first.",
    default=4 << 30,
    group=_JELLY.options("read")["max_message_bytes"].group,
)
READS = (
    *(_JELLY.options("read")[name] for name in ("max_message_bytes", "max_depth")),
    _MAX_SPOOL,
)
ROWS = OptionSpec(
    "rows",
    "choice",
    "One row per message, or one per quad with columns source, message_index, subject, predicate, "
    "object and graph.",
    choices=("messages", "quads"),
    default="messages",
    group="Parquet and Arrow",
)
TERMS = OptionSpec(
    "terms",
    "choice",
    "Terms as canonical N-Triples, or as structs of kind, value, datatype, language and direction.",
    choices=("ntriples", "structs"),
    default="ntriples",
    group="Parquet and Arrow",
)
WRITES = (
    *(_JELLY.options("write")[name] for name in ("namespaces", "flat")),
    READS[0],
    ROWS,
    TERMS,
)
# Options with which a message may be written in parts.
CONTINUABLE = ((ROWS.name, "quads"),)
KINDS = ("messages", "patches", "results")
WRITTEN_ONLY = ("results",)
COLUMNS = ("source", "message_index", "quads", "metadata")
# The columns of quad rows. When reading, the first and the last are optional.
QUAD_COLUMNS = ("source", "message_index", "subject", "predicate", "object", "graph")
NAMESPACES = "namespaces"
# For each readable kind, the batch class and the columns. The first column is required.
_READ: dict[str, tuple[Any, tuple[str, ...]]] = {
    "messages": (MessageBatch, ("quads", "metadata", NAMESPACES)),
    "patches": (PatchBatch, ("operations",)),
}
_UNREADABLE_RESULTS = (
    "a table of results cannot be read, because its values are not marked as terms; store results "
    "in a results format, such as results-thrift (.srt)"
)
_LISTED_COLUMNS = 20
SPOOLED_BYTES = 16 << 20
READ_ROWS = {"messages": 1024, "patches": 1024, "quads": 8192}
READ_BYTES = 32 << 20
WRITE_ROWS = 1 << 16
# A conversion has three row groups in memory by default. Row groups of 32 MiB make files about 8 %
# smaller.
WRITE_BYTES = 6 << 20


def require_pyarrow(format: str) -> Any:
    """Return the module pyarrow.

    Raises:
        MissingExtraError: If pyarrow is not installed.
    """
    try:
        import pyarrow
    except ImportError as error:
        raise MissingExtraError(f"{format} needs pyarrow: pip install 'rdfm[arrow]'") from error
    return pyarrow


class RowDecoder(FileDecoder):
    """Reads files that consist of rows. Subclasses open the files of a format.

    Attributes:
        format: The format's name.
        bytes_read: The approximate part of the file that the returned rows take, in bytes.
    """

    format: str

    def __init__(
        self,
        *,
        max_message_bytes: int = int(READS[0].default or 0),
        max_depth: int = int(READS[1].default or 0),
        max_spool_bytes: int = int(READS[2].default or 0),
        parts: bool = False,
    ) -> None:
        """Set the limits.

        Args:
            max_message_bytes: Maximum decoded size of a message. In Parquet, also of one column in
                a row.
            max_depth: Maximum nesting depth of triple terms.
            max_spool_bytes: Maximum size of a log that is fed in pieces.
            parts: Return a large message that spans several rows in parts.
        """
        require_pyarrow(self.format)
        self._parts = parts
        self._spool: BinaryIO | None = None
        self._max_bytes = max_message_bytes
        self._max_depth = max_depth
        self._max_spool_bytes = max_spool_bytes
        self.reset()

    def reset(self) -> None:
        """Prepare for another log."""
        self._close_spool()
        self._file: BinaryIO | None = None  # the caller's, or spooled
        self._spool_error: OSError | LimitError | None = None
        self._ended = False
        self._index = 0  # of the next message
        self._row = 0  # number of the next row
        self._row_kind = "messages"  # the kind of rows: "messages", "patches" or "quads"
        self.bytes_read = 0
        self._size = 0  # of the file
        self._rows: int | None = None  # of the file, if it declares their number first
        self._batches: Iterator[AnyBatch] | None = None
        self._error: Exception | None = None

    def feed(self, piece: bytes, /) -> None:
        """Accept a piece of the log, cut anywhere."""
        if self._file is None:
            import tempfile  # costly to import

            spool = tempfile.SpooledTemporaryFile(SPOOLED_BYTES)  # noqa: SIM115 - see _close_spool
            self._file = self._spool = cast("BinaryIO", spool)
        if self._spool_error is not None:
            return
        try:
            if self._file.tell() + len(piece) > self._max_spool_bytes:
                raise LimitError(
                    f"a compressed or piped table is stored in a temporary file, but it has more than "
                    f"{self._max_spool_bytes} bytes; decompress it first",
                    remedies=[Remedy("read", _MAX_SPOOL.name, None, "")],
                    format=self.format,
                )
            self._file.write(piece)
        except (OSError, LimitError) as error:  # such as a full disk; reported by next_batch
            self._spool_error = error
            self._close_spool()

    def _close_spool(self) -> None:
        if self._spool is not None:
            self._spool.close()
            self._spool = None

    def __del__(self) -> None:
        """Remove the spooled data of a log that was not read to its end."""
        if hasattr(self, "_spool"):
            self._close_spool()

    def feed_file(self, file: BinaryIO) -> None:
        """Use a seekable file as the log. The file must stay open."""
        self._file = file

    def finish(self) -> None:
        """Mark the end of the log."""
        self._ended = True

    def next_batch(self) -> AnyBatch | None:
        """Return the next batch; None if more input is needed or, after `finish`, at the end."""
        if self._error is not None:
            raise self._error
        if not self._ended and self._spool_error is None:
            return None
        try:
            if self._spool_error is not None:
                raise self._spool_error
            if self._batches is None:
                self._batches = self._read()
            return next(self._batches, None)
        except Exception as error:
            self._error = error
            raise

    def record_batches(self) -> Iterator[Any]:
        """Yield the rows as pyarrow record batches, with the columns of messages.

        Raises:
            DecodeError: If the file is invalid or lacks these columns.
        """
        if self._file is None:
            return
        file = TableFile(self._file, self.format)
        self._size = file.size
        if self._size == 0:
            return
        pa = require_pyarrow(self.format)
        try:
            yield from self._open(file)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            text = str(error).strip().split("\n")[0][:200]
            raise DecodeError(
                f"the file is corrupt: {text}", format=self.format, message_index=self._index
            ) from error
        finally:
            self._close_spool()

    @abstractmethod
    def _open(self, file: TableFile) -> Iterator[Any]:
        """Return the record batches of a file."""

    def _select_columns(self, schema: Any) -> list[str]:
        """The columns to read.

        Raises:
            DecodeError: If the file has neither a column of quads or operations nor all columns of
                quad rows, if it has columns of both quads and operations, or if a column has
                the wrong type.
        """
        kind = "patches" if "operations" in schema.names else "messages"
        if kind == "messages" and "quads" not in schema.names:
            if all(name in schema.names for name in QUAD_COLUMNS[1:-1]):
                return self._select_quad_columns(schema)
            description = _list_columns(schema)
            raise DecodeError(
                "expected a column quads with lists of structs (subject, predicate, object and graph, with terms as "
                "N-Triples); or a column operations, whose structs also have op and name; or the columns "
                f"message_index, subject, predicate and object of quad rows; found {description}; {_UNREADABLE_RESULTS}",
                format=self.format,
            )
        if kind == "patches" and "quads" in schema.names:
            raise DecodeError(
                "there are columns quads and operations, but a row is either a message or a patch; drop one of them",
                format=self.format,
            )
        batch, columns = _READ[kind]
        self._row_kind = kind
        names = self._check_columns(schema, columns)
        pa = require_pyarrow(self.format)
        empty_columns = [pa.array([], schema.field(name).type) for name in names]
        try:
            batch.from_arrow(pa.RecordBatch.from_arrays(empty_columns[:1], names[:1]))
        except TypeError as error:
            raise DecodeError(
                "expected a column quads with lists of structs (subject, predicate, object and graph, with terms as "
                "N-Triples or structs); or a column operations, whose structs also have op and name; found "
                f"{_list_columns(schema)}; {_UNREADABLE_RESULTS}",
                format=self.format,
            ) from error
        try:
            batch.from_arrow(pa.RecordBatch.from_arrays(empty_columns, names))
        except TypeError as error:
            raise DecodeError(
                f"{error}; write it as a map, as rdfm and Arrow do, or omit the column",
                format=self.format,
            ) from error
        return names

    def _select_quad_columns(self, schema: Any) -> list[str]:
        """The columns to read from quad rows."""
        self._row_kind = "quads"
        names = self._check_columns(schema, QUAD_COLUMNS)
        pa = require_pyarrow(self.format)
        empty_columns = [pa.array([], schema.field(name).type) for name in names]
        try:
            MessageBatch.from_arrow(pa.RecordBatch.from_arrays(empty_columns, names))
        except TypeError as error:
            raise DecodeError(
                f"expected quad rows, with an integer column message_index and terms as N-Triples or structs: {error}; "
                f"found {_list_columns(schema)}",
                format=self.format,
            ) from error
        return names

    def _check_columns(self, schema: Any, columns: tuple[str, ...]) -> list[str]:
        """Return the given columns that exist in the schema.

        Raises:
            DecodeError: If a column occurs twice.
        """
        names = [name for name in columns if name in schema.names]
        for name in names:
            if schema.names.count(name) > 1:
                raise DecodeError(f"the column {name} occurs twice", format=self.format)
            _check_names(schema.field(name).type)
        return names

    def _read(self) -> Iterator[AnyBatch]:
        quads = QuadRows(
            max_depth=self._max_depth, max_message_bytes=self._max_bytes, parts=self._parts
        )
        for rows in self.record_batches():
            if self._row_kind == "quads":
                yield from self._read_quads(quads, rows)
                continue
            start, returned = self.bytes_read, 0
            with _row_errors(self.format, self._row_kind):
                for batch in batches_from_arrow(
                    rows,
                    first_message_index=self._row,
                    max_depth=self._max_depth,
                    max_message_bytes=self._max_bytes,
                ):
                    returned += len(batch)
                    self.bytes_read = self._bytes_up_to(start, returned, rows.num_rows)
                    yield batch
            self._index = self._row = self._row + rows.num_rows
        if self._row_kind == "quads":
            quads.finish()
            yield from self._read_quads(quads)

    def _read_quads(self, quads: QuadRows, rows: Any = None) -> Iterator[AnyBatch]:
        """Yield the messages that quad rows complete or, without rows, the remaining messages."""
        start, count = self.bytes_read, 0 if rows is None else rows.num_rows
        with _row_errors(self.format, "messages"):
            if rows is not None:
                quads.feed(rows)
            while (batch := quads.next_batch()) is not None:
                returned = count if quads.row is None else quads.row
                if count:
                    self.bytes_read = self._bytes_up_to(start, returned, count)
                self._index = batch.first_message_index + len(batch) - batch.continues
                yield batch
        if count:
            self.bytes_read = self._bytes_up_to(start, count, count)
            self._row += count

    def _bytes_up_to(self, start: int, returned: int, count: int) -> int:
        """Return the approximate offset in the file after `returned` of `count` rows from `start`."""
        if self._rows:
            return self._size * (self._row + returned) // self._rows
        end = self._size if self._file is None else self._file.tell()
        return start + max(end - start, 0) * returned // count


def _list_columns(schema: Any) -> str:
    """The columns of a schema, for errors."""
    columns = [f"{field.name[:60]} {field.type}"[:60] for field in islice(schema, _LISTED_COLUMNS)]
    if len(schema) > _LISTED_COLUMNS:
        columns.append(f"and {len(schema) - _LISTED_COLUMNS:,} more columns")
    return ", ".join(columns) or "no column"


def _check_names(type: Any) -> None:
    """Read the names in a nested type, to raise an error if one is not valid text."""
    for number in range(type.num_fields if hasattr(type, "field") else 0):
        field = type.field(number)
        if field.name is not None:
            _check_names(field.type)


class _row_errors:
    """Adds the format, the kind and the message to errors about rows."""

    def __init__(self, format: str, kind: str) -> None:
        self._format = format
        self._kind = kind

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        if isinstance(
            error, TypeError
        ):  # values that do not have the declared type of their column
            raise DecodeError(f"the file is corrupt: {error}", format=self._format) from error
        if isinstance(error, DecodeError):
            error.format, error.kind = self._format, self._kind
            if error.message_index is None:
                error.message_index, error.row = error.row, None


class RowEncoder(Encoder):
    """Writes files that consist of rows. Subclasses write the row groups of a format.

    Attributes:
        format: The format's name.
        counts_rows: Whether a file of rows without columns stores the number of rows.
        max_threads: Maximum number of row groups that can be written at the same time.
    """

    format: str
    counts_rows = True
    max_threads = 1

    def __init__(
        self,
        *,
        namespaces: bool | None = None,
        flat: bool = False,
        max_message_bytes: int = int(READS[0].default or 0),
        rows: str = "messages",
        terms: str = "ntriples",
    ) -> None:
        """Create an encoder with the options of the format.

        Args:
            namespaces: Whether to write a column of namespaces. By default, there is such a
                column if the first message has namespaces.
            flat: Write all messages as one, keeping their blank nodes distinct.
            max_message_bytes: With `flat`, maximum size of the message in decoded bytes, if rows
                are messages.
            rows: The unit of a row: "messages" or "quads".
            terms: The form of terms: "ntriples" or "structs".

        Raises:
            OptionError: If namespaces are requested for quad rows.
        """
        require_pyarrow(self.format)
        if rows == "quads" and namespaces:
            raise OptionError("namespaces applies to message rows; quad rows have no namespaces")
        self._quads = rows == "quads"
        self._terms = terms
        self._namespaces_option = namespaces
        self._flat = flat
        self._max_message_bytes = max_message_bytes
        self.reset()

    def reset(self) -> None:
        """Prepare for another log."""
        self._pool: Pool[bytes] = Pool("rdfm-rows", 0)
        self._rows: ArrowCoalescer | None = None
        self._namespaces = False
        self._lost: dict[str, str] = {}
        self._dropped = 0
        self._table: list[Any] | None = None  # rows of a table that does not contain messages
        self._table_rows = self._table_bytes = 0
        limit = self._max_message_bytes
        self._regrouper = (
            Regrouper("all", max_message_bytes=limit, parts=self._quads) if self._flat else None
        )
        self._source: str | None = None

    def encode(self, batch: AnyBatch, /, source: str | None = None) -> bytes:
        """Encode a batch, and return the bytes that are complete. Rows are buffered first.

        Args:
            batch: Messages, patches or results; a log has only one kind.
            source: The value of the column `source`: the name of the log that the batch came from.

        Raises:
            EncodeError: If the kind differs from earlier batches, or results do not form a table.
        """
        self._source = source
        if self._regrouper is None:
            self._add(batch)
        elif isinstance(batch, MessageBatch):
            self._regrouper.feed(batch)
            self._add_regrouped(self._regrouper)
        else:
            raise self._encode_error(
                batch, f"the option flat applies to messages, not {batch.kind}"
            )
        return self._take_written()

    def use_threads(self, threads: int) -> None:
        """Write row groups in background threads. This must be called before `encode`."""
        self._pool = Pool("rdfm-rows", min(threads, self.max_threads), queue=0)

    def close(self) -> None:
        """End the threads."""
        self._pool.close()

    def _add(self, batch: AnyBatch) -> None:
        if not len(batch) and batch.kind != "results":
            return
        if (
            isinstance(batch, ResultBatch)
            and not batch.variables
            and len(batch)
            and not self.counts_rows
        ):
            raise self._encode_error(
                batch,
                "the results have no variables, and the file cannot store the number of rows without columns",
            )
        try:
            coalescer = self._begin(batch)
            if not self._namespaces and isinstance(batch, MessageBatch):
                self._count((name, iri) for _, name, iri in batch.declarations())
            # A message with quads of several logs has no source.
            source = None if self._flat and self._quads else self._source
            complete = coalescer.push(batch, source)
        except ValueError as error:
            if isinstance(error, EncodeError):
                raise
            raise self._encode_error(batch, str(error)) from None
        self._write(complete)
        if coalescer.dropped()[2]:
            raise self._encode_error(
                batch,
                "a message has the same source and index as the previous one, so their rows would form one message; "
                "write logs with the same name to separate files",
            )

    def _encode_error(self, batch: AnyBatch, reason: str) -> EncodeError:
        error = EncodeError(reason, format=self.format, message_index=batch.first_message_index)
        error.kind = batch.kind
        return error

    def _add_regrouped(self, regrouper: Regrouper) -> None:
        while (batch := regrouper.next_batch()) is not None:
            self._add(batch)

    def begin_table(self, schema: Any) -> None:
        """Begin a file with arbitrary columns. `encode_table` accepts its rows.

        Raises:
            OptionError: If an option that applies only to messages is set.
        """
        requested = {
            "flat": self._flat,
            "namespaces": self._namespaces_option,
            "rows": self._quads,
            "terms": self._terms != "ntriples",
        }
        for name, value in requested.items():
            if value:
                raise OptionError(
                    f"the option {name} applies to logs, not to the results of a query"
                )
        if not schema.names and not self.counts_rows:
            raise OptionError(
                "the query has no variables, and a file without columns cannot store the number of rows"
            )
        self._table = []
        self._open(schema)

    def encode_table(self, rows: Any) -> bytes:
        """Encode a record batch of a table, and return the bytes that are complete."""
        assert self._table is not None
        self._table.append(rows)
        self._table_rows += rows.num_rows
        self._table_bytes += rows.nbytes
        if self._table_rows >= WRITE_ROWS or self._table_bytes >= WRITE_BYTES:
            self._write_table()
        return self._take_written()

    def _write_table(self) -> None:
        if self._table:
            table = require_pyarrow(self.format).Table.from_batches(self._table).combine_chunks()
            self._pool.submit(partial(self._encode_row_group, table))
            self._table, self._table_rows, self._table_bytes = [], 0, 0

    def finish(self) -> bytes:
        """Return the bytes at the end of the log."""
        if self._table is not None:
            self._write_table()
        else:
            if self._regrouper is not None:
                self._regrouper.finish()
                self._add_regrouped(self._regrouper)
            data = self._begin(None).finish()
            self._write([data] if data is not None else [])
        groups = self._take_written(all=True)
        self._pool.close()
        return groups + self._encode_end()

    def dropped(self) -> dict[str, int]:
        """Return the numbers of dropped namespaces, empty messages and metadata."""
        empty, metadata, _ = (0, 0, 0) if self._rows is None else self._rows.dropped()
        dropped = {"namespaces": self._dropped, "empty messages": empty, "metadata": metadata}
        if self._regrouper is not None:
            # Data that the regrouper drops is not in its batches.
            dropped |= self._regrouper.dropped()
        return {name: count for name, count in dropped.items() if count}

    @abstractmethod
    def _open(self, schema: Any) -> None:
        """Begin a file with the columns of a schema."""

    @abstractmethod
    def _encode_row_group(self, rows: Any) -> bytes:
        """Write a table or record batch as a row group; called in up to `max_threads` threads."""

    def _append(self, group: bytes) -> bytes:
        """Return the bytes of the next row group in the file."""
        return group

    @abstractmethod
    def _encode_end(self) -> bytes:
        """Return the bytes after the last row group."""

    def _begin(self, first: AnyBatch | None) -> ArrowCoalescer:
        if self._rows is None:
            empty = MessageBatch.from_messages([]) if first is None else first.slice(0, 0)
            columns = None
            layout: Any = {"terms": self._terms}
            if self._quads:
                layout["rows"] = "quads"
                if isinstance(empty, MessageBatch):
                    self._count_before(cast("MessageBatch | None", first))
                    schema = empty.to_arrow(**layout)
            elif isinstance(empty, MessageBatch):
                columns = self._message_columns(cast("MessageBatch | None", first))
                schema = empty.to_arrow(columns, **layout)
            elif self._namespaces_option:
                raise self._encode_error(
                    empty,
                    f"the option namespaces applies to messages; {empty.kind} have no such column",
                )
            else:
                schema = empty.to_arrow(**layout)
            self._rows = ArrowCoalescer(
                columns, kind=empty.kind, max_rows=WRITE_ROWS, max_bytes=WRITE_BYTES, **layout
            )
            self._open(require_pyarrow(self.format).schema(schema))
        return self._rows

    def _message_columns(self, first: MessageBatch | None) -> list[str]:
        declares = first is not None and first.has_namespaces(0)
        self._namespaces = declares if self._namespaces_option is None else self._namespaces_option
        if not self._namespaces:
            self._count_before(first)
        return [*COLUMNS, NAMESPACES] if self._namespaces else [*COLUMNS]

    def _count_before(self, first: MessageBatch | None) -> None:
        """Count the namespaces that are in scope before the first message."""
        if first is not None and len(first) and first.has_namespaces(0):
            declared_names = {name for number, name, _ in first.declarations() if number == 0}
            self._count(
                (name, iri)
                for name, iri in first.namespaces(0).items()
                if name not in declared_names
            )

    def _write(self, batches: list[ArrowBatch]) -> None:
        pa = require_pyarrow(self.format)
        for rows in batches:
            self._pool.submit(partial(self._encode_row_group, pa.record_batch(rows)))

    def _take_written(self, *, all: bool = False) -> bytes:
        """Return the bytes of the row groups that are complete, or wait for all of them."""
        return b"".join(map(self._append, self._pool.take(all=all)))

    def _count(self, declared: Iterable[tuple[str, str]]) -> None:
        for name, iri in declared:
            if self._lost.get(name) != iri:
                self._lost[name] = iri
                self._dropped += 1


class RowFormat(Format):
    """A row format, in which a message that spans several rows may be read in parts."""

    is_slow = True

    def _make_decoder(self, values: dict[str, Any], opening: Opening) -> DecoderLike:
        parts = {"parts": True} if opening.parts == "always" else {}
        return super()._make_decoder(values | parts, opening)
