"""Checks the decoded sizes of Arrow schemas, dictionaries and record batches, compressed or not.

In: the file, and the offset of a message. Out: an error if the message would decode to too many
bytes.
Cost: reads the metadata of each message and, if its buffers are compressed, eight bytes of each
buffer.
Law: nothing is read or decompressed before its declared size is checked.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from itertools import chain

from rdfm.errors import DecodeError, LimitError, Remedy
from rdfm.formats.table_file import TableFile

__all__ = ["ArrowSizeChecker"]

# Limit for the decoded bytes of a record batch and the dictionaries, as a multiple of the message
# limit, and the smallest limit. Rows before a message that is too large are returned.
BATCHES_FACTOR = 4
MIN_BATCHES_BYTES = 128 << 20
_CONTINUED = b"\xff\xff\xff\xff"
# The end of one file and the beginning of the next one.
_BORDER = b"ARROW1ARROW1\0\0"
_SCHEMA, _DICTIONARY, _RECORDS = 1, 2, 3  # message kinds
_TIMESTAMP = 10  # the type with a text, its time zone
# Approximate memory of a field or a metadata entry in pyarrow, without its texts.
_FIELD_BYTES = 512
_MAX_METADATA = 64 << 20
# The metadata key for buffer compression before Arrow 1.0.
_BEFORE_1_0 = b"ARROW:experimental_compression"


class ArrowSizeChecker:
    """Checks the decoded sizes of the messages in a file or stream, in order.

    Args:
        file: The file. Its position does not change.
        max_message_bytes: The limit for a message, which determines the limit for decoded sizes.
    """

    def __init__(self, file: TableFile, max_message_bytes: int) -> None:
        self._file = file
        self._max_bytes = max(BATCHES_FACTOR * max_message_bytes, MIN_BATCHES_BYTES)
        self._dictionaries: dict[int, int] = {}

    def check_blocks(self) -> Iterator[None]:
        """Check the dictionaries of a file, then one record batch per step.

        Raises:
            DecodeError: If the footer is corrupt.
            LimitError: If the buffers decode to too many bytes.
        """
        try:
            dictionaries, batches = self._read_footer()
            for block in dictionaries:
                self._check(*block)
        except struct.error as error:
            raise _invalid_error("its footer") from error
        for block in batches:
            self._check_message(*block)
            yield

    def check_messages(self, offset: int) -> Iterator[None]:
        """Check the messages of a stream from an offset on, one record batch per step.

        Raises:
            DecodeError: If a message is invalid.
            LimitError: If the buffers decode to too many bytes.
        """
        position: int | None = offset
        while position is not None:
            position, kind = self._check_message(position)
            if kind == _RECORDS:
                yield

    def _check_message(self, *location: int) -> tuple[int | None, int]:
        try:
            return self._check(*location)
        except struct.error as error:
            raise _invalid_error("a message") from error

    def _read(self, offset: int, size: int) -> bytes:
        position = self._file.tell()
        self._file.seek(offset)
        data = self._file.read(size)
        self._file.seek(position)
        return data

    def _read_footer(self) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """Return the offsets and metadata lengths of dictionaries and record batches."""
        size = self._file.size
        tail = self._read(max(size - 10, 0), 10)
        (length,) = struct.unpack_from("<i", tail)
        if not 0 < length <= min(size - 10, _MAX_METADATA):
            raise _invalid_error("the length of its footer")
        footer = _FlatbufferTable.root(self._read(size - 10 - length, length))
        if (schema := footer.table(1)) is not None:
            self._check_schema(schema, footer.tables(4))
        end = 0
        blocks: tuple[list[tuple[int, int]], list[tuple[int, int]]] = [], []
        for number, block_list in enumerate(blocks, 2):
            for position in footer.vector(number, 24):
                offset, metadata = footer.int64(position), footer.int32(position + 8)
                block_list.append((offset, metadata))
                end = max(end, offset + metadata + footer.int64(position + 16))
        if self._file.is_joined(_BORDER, size - 10 - length - end):
            raise DecodeError(
                "the file is corrupt: it consists of several joined Arrow files; pass them as "
                "separate files",
                format="arrow",
            )
        return blocks

    def _check(self, offset: int, declared: int | None = None) -> tuple[int | None, int]:
        """Check a message.

        Args:
            offset: The offset of the message.
            declared: The length of its metadata according to the footer.

        Returns:
            The offset of the next message (None at the end), and the kind.
        """
        head = self._read(offset, 8)
        prefix = 8 if head.startswith(_CONTINUED) else 4
        if len(head) < prefix:
            return None, 0
        (length,) = struct.unpack_from("<i", head, prefix - 4)
        if length == 0:
            return None, 0
        if not 0 < length <= _MAX_METADATA or declared not in (None, prefix + length):
            raise _invalid_error("the length of a message")
        body = offset + prefix + length
        if body > self._file.size:
            return None, 0
        metadata = self._read(offset + prefix, length)
        message = _FlatbufferTable.root(metadata)
        kind = message.byte(1)
        before_1_0 = _BEFORE_1_0 in metadata
        # pyarrow reports a truncated body.
        size = min(max(message.field_int64(3), 0), self._file.size - body)
        header = message.table(2)
        if header is not None and kind == _SCHEMA:
            self._check_schema(header)
        elif header is not None and kind == _RECORDS:
            self._check_limit(max(size, self._decoded_bytes(header, body, before_1_0)))
        elif header is not None and kind == _DICTIONARY:
            number, data = header.field_int64(0), header.table(1)
            decoded = max(size, 0 if data is None else self._decoded_bytes(data, body, before_1_0))
            if header.byte(2):  # a delta, which adds entries
                decoded += self._dictionaries.get(number, 0)
            self._dictionaries[number] = decoded
            self._check_limit(0)
        return body + size, kind

    def _check_schema(
        self, schema: _FlatbufferTable, metadata: Iterable[_FlatbufferTable] = ()
    ) -> None:
        """Check the memory of a schema, whose fields and texts may be stored once and used often.

        Args:
            schema: The schema.
            metadata: Metadata entries that do not belong to the schema.
        """
        total = 0
        # Iterators of fields, each in a field of the previous one.
        nested = [schema.tables(1)]
        entries = chain(metadata, schema.tables(2))
        while nested:
            for entry in entries:
                total += _FIELD_BYTES + entry.text_length(0) + entry.text_length(1)
                self._check_limit(total, "the schema")
            field = next(nested[-1], None)
            if field is None:
                nested.pop()
                entries = chain()
                continue
            total += _FIELD_BYTES + field.text_length(0)
            if field.byte(2) == _TIMESTAMP and (type := field.table(3)) is not None:
                total += type.text_length(1)
            self._check_limit(total, "the schema")
            nested.append(field.tables(5))
            entries = chain(field.tables(6))

    def _decoded_bytes(self, batch: _FlatbufferTable, body: int, before_1_0: bool) -> int:
        """Return the decoded bytes of the compressed buffers of a batch."""
        if batch.table(3) is None and not before_1_0:
            return 0
        total = 0
        for position in batch.vector(2, 16):
            offset, length = batch.int64(position), batch.int64(position + 8)
            if length < 8:
                continue
            (decoded,) = struct.unpack("<q", self._read(body + offset, 8))
            # Buffers that would not become smaller are not compressed.
            total += length if decoded < 0 else decoded
        return total

    def _check_limit(self, decoded: int, part: str = "a record batch") -> None:
        if (total := decoded + sum(self._dictionaries.values())) > self._max_bytes:
            raise LimitError(
                f"{part} and its dictionaries decode to {total} bytes, more than {self._max_bytes}",
                remedies=[Remedy("read", "max_message_bytes", None, "if the source is trusted")],
                format="arrow",
            )


class _FlatbufferTable:
    def __init__(self, data: bytes, position: int) -> None:
        self._data = data
        self._position = position
        self._fields = position - self._unpack("<i", position)
        self._size = self._unpack("<H", self._fields)

    @classmethod
    def root(cls, data: bytes) -> _FlatbufferTable:
        return cls(data, struct.unpack_from("<I", data)[0])

    def _unpack(self, layout: str, position: int) -> int:
        if position < 0:  # Python would count from the end
            raise struct.error("an offset is negative")
        value: int = struct.unpack_from(layout, self._data, position)[0]
        return value

    def _field(self, number: int) -> int | None:
        """Return the offset of a field; None if it has its default value."""
        entry = 4 + 2 * number
        if entry + 2 > self._size:
            return None
        offset = self._unpack("<H", self._fields + entry)
        return self._position + offset if offset else None

    def byte(self, number: int) -> int:
        position = self._field(number)
        return 0 if position is None else self._unpack("<B", position)

    def int32(self, position: int) -> int:
        return self._unpack("<i", position)

    def int64(self, position: int) -> int:
        return self._unpack("<q", position)

    def field_int64(self, number: int) -> int:
        position = self._field(number)
        return 0 if position is None else self._unpack("<q", position)

    def table(self, number: int) -> _FlatbufferTable | None:
        position = self._field(number)
        return (
            None
            if position is None
            else _FlatbufferTable(self._data, position + self._unpack("<I", position))
        )

    def tables(self, number: int) -> Iterator[_FlatbufferTable]:
        """Yield the tables in a vector."""
        for position in self.vector(number, 4):
            yield _FlatbufferTable(self._data, position + self._unpack("<I", position))

    def text_length(self, number: int) -> int:
        """Return the length of a text in bytes."""
        position = self._field(number)
        return (
            0 if position is None else self._unpack("<I", position + self._unpack("<I", position))
        )

    def vector(self, number: int, size: int) -> range:
        """Return the offsets of the structs in a vector."""
        position = self._field(number)
        if position is None:
            return range(0)
        start = position + self._unpack("<I", position)
        count = self._unpack("<I", start)
        if start + 4 + count * size > len(self._data):
            raise struct.error("a vector is truncated")
        return range(start + 4, start + 4 + count * size, size)


def _invalid_error(part: str) -> DecodeError:
    return DecodeError(f"the file is corrupt: {part} is invalid", format="arrow")
