"""Parquet files that declare something other than what they contain.

A Thrift struct is a dict of fields: `{number: (type, value)}`. A list is a tuple of the type of its
items and a list of them.
"""

import io
from collections.abc import Callable
from typing import Any

LIST, STRUCT, BINARY = 9, 12, 8
DATA_PAGE, DICTIONARY_PAGE = 0, 2
Struct = dict[int, tuple[int, Any]]


class Reader:
    """Reads Thrift's compact protocol."""

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data, self.at = data, at

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def varint(self) -> int:
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def struct(self) -> Struct:
        fields: Struct = {}
        number = 0
        while head := self.byte():
            number = number + (head >> 4) if head >> 4 else self.value(6)
            fields[number] = (head & 15, self.value(head & 15))
        return fields

    def value(self, kind: int) -> Any:
        if kind in (1, 2):
            return None
        if kind == STRUCT:
            return self.struct()
        if kind == BINARY:
            size = self.varint()
            self.at += size
            return self.data[self.at - size : self.at]
        if kind == LIST:
            head = self.byte()
            count = head >> 4 if head < 0xF0 else self.varint()
            return head & 15, [self.value(head & 15) for _ in range(count)]
        if kind == 3:
            return self.byte()
        value = self.varint()
        return value >> 1 ^ -(value & 1)


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def encoded(kind: int, value: Any) -> bytes:
    """Returns a value in Thrift's compact protocol."""
    if value is None:
        return b""
    if kind == STRUCT:
        out, before = b"", 0
        for number, (field_kind, field) in sorted(value.items()):
            out += bytes([(number - before) << 4 | field_kind]) + encoded(field_kind, field)
            before = number
        return out + b"\0"
    if kind == BINARY:
        return varint(len(value)) + value
    if kind == LIST:
        item, items = value
        return bytes([0xF0 | item]) + varint(len(items)) + b"".join(encoded(item, i) for i in items)
    return bytes([value]) if kind == 3 else varint(value << 1 ^ value >> 63)


def rewritten(
    file: bytes,
    page: Callable[[int, Struct, bytes], bytes] = lambda column, header, data: data,
    footer: Callable[[Struct], Any] = lambda footer: None,
) -> bytes:
    """Returns a file with other pages or another footer.

    Args:
        file: A file whose pages are not compressed.
        page: Changes the header of a page, and returns the data after it.
        footer: Changes the footer, after its offsets were adjusted.
    """
    length = int.from_bytes(file[-8:-4], "little")
    metadata = Reader(file[-8 - length : -8]).struct()
    out = io.BytesIO()
    out.write(b"PAR1")
    for group in metadata[4][1][1]:
        for column, chunk in enumerate(group[1][1][1]):
            place = chunk[3][1]
            at = min(place[field][1] for field in (9, 11) if field in place)
            end = at + place[7][1]
            begin = out.tell()
            while at < end:
                reader = Reader(file, at)
                header = reader.struct()
                at = reader.at + header[3][1]
                field = 11 if header[1][1] == DICTIONARY_PAGE else 9
                place[field] = (6, out.tell())
                data = page(column, header, file[reader.at : at])
                out.write(encoded(STRUCT, header) + data)
            place[7] = (6, out.tell() - begin)
    footer(metadata)
    packed = encoded(STRUCT, metadata)
    return out.getvalue() + packed + len(packed).to_bytes(4, "little") + b"PAR1"


def run(value: int, count: int, width: int) -> bytes:
    """Returns a run of the same level or index."""
    return varint(count << 1) + value.to_bytes((width + 7) // 8, "little")


def levels(*runs: tuple[int, int], width: int) -> bytes:
    """Returns the levels of a data page from values and their counts."""
    data = b"".join(run(value, count, width) for value, count in runs)
    return len(data).to_bytes(4, "little") + data
