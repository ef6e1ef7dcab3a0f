"""Divides the rows of a task among folders `NAME=VALUE`, by columns and message keys.

In: record batches of rows. Out: batches of messages, each with the folder that it belongs to.
Cost: one copy of the rows for each folder in a record batch.
Law: the messages in a folder stay in row order.
"""

from __future__ import annotations

import errno
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from pyspark.sql.types import (
    BooleanType,
    ByteType,
    DataType,
    DateType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructType,
)

from rdfm._core import MessageBatch, batches_from_arrow
from rdfm.errors import DecodeError, OptionError, visible
from rdfm.logs.kinds import wrong_kind_error

if TYPE_CHECKING:
    import pyarrow as pa

    from rdfm.logs.write.keyed import SplitBy
    from rdfm.message import AnyBatch

__all__ = [
    "NULL",
    "RowDivider",
    "check_columns",
    "column_folder",
    "escape",
    "key_column",
    "long_name_error",
    "unescape",
]

# The folder value for a null partition column, as in Hive and Spark.
NULL = "__HIVE_DEFAULT_PARTITION__"
# Characters that Spark escapes in the names of partition folders, and NUL.
_ESCAPED = re.compile(r"[\x00-\x1f\x7f\"#%'*/:=?\\{\[\]^]")
_TYPES: tuple[type[DataType], ...] = (
    StringType,
    ByteType,
    ShortType,
    IntegerType,
    LongType,
    BooleanType,
    DateType,
)


def escape(text: str) -> str:
    """Return a value as a folder name, escaped as in Spark. The text of `NULL` is escaped too.

    Example:
        >>> escape("a/b=1"), escape(NULL)
        ('a%2Fb%3D1', '%5F_HIVE_DEFAULT_PARTITION__')
    """
    if not text:
        return NULL
    escaped = _ESCAPED.sub(_escaped, text)
    return _escape_first(escaped) if escaped == NULL else escaped


def column_folder(name: str, value: str) -> str:
    """Return the name of a partition folder, which must not be hidden.

    Example:
        >>> column_folder("_day", "1"), column_folder("a.b", "1")
        ('%5Fday=1', 'a.b=1')
    """
    escaped = escape(name)
    return f"{_escape_first(escaped) if escaped.startswith(('_', '.')) else escaped}={value}"


def _escaped(found: re.Match[str]) -> str:
    return f"%{ord(found[0]):02X}"


def _escape_first(text: str) -> str:
    return re.sub(".", _escaped, text, count=1, flags=re.DOTALL)


def unescape(text: str) -> str | None:
    """Return the value in a folder name; None for null."""
    return None if text == NULL else unquote(text)


def key_column(split_by: SplitBy) -> str:
    """Return the name of the partition column for message keys.

    It is never the name of a column of messages or quads.
    """
    return "named_graph" if split_by.kind == "graph" else split_by.kind


def check_columns(names: Sequence[str], schema: StructType, split_by: SplitBy | None) -> None:
    """Check the columns whose values become folders.

    Raises:
        OptionError: If a column does not exist, is repeated, or has the wrong type.
    """
    types = {field.name: field.dataType for field in schema}
    used_names = set() if split_by is None else {key_column(split_by)}
    for name in names:
        if name not in types:
            raise OptionError(
                f"partitionColumns contains {name[:40]}, which is not a column; the columns are {', '.join(types)}"
            )
        if name.lower() in used_names:
            raise OptionError(
                f"partitionColumns and splitBy use the name {name} twice; rename the column"
            )
        used_names.add(name.lower())
        if not isinstance(types[name], _TYPES):
            raise OptionError(
                f"the partition column {name} is {types[name].simpleString()}; cast it to string, an integer type, "
                "boolean or date"
            )


def long_name_error(folder: str, error: OSError) -> OptionError | None:
    """Return the error for a partition folder whose name is too long; None for other errors."""
    if error.errno != errno.ENAMETOOLONG:
        return None
    column, _, value = max(folder.split("/"), key=len).partition("=")
    size = len(os.fsencode(value))
    return OptionError(
        f"a value of the partition column {visible(column[:40])} is too long for the name of a "
        f"folder ({size} bytes): {visible(value[:40])}…; partition by a shorter value, such as a "
        "hash"
    )


class RowDivider:
    """Divides the rows of one task.

    Attributes:
        several: Number of messages with several keys, by column. The first key is used.
    """

    def __init__(self, columns: tuple[str, ...], split_by: SplitBy | None) -> None:
        """Create a divider from the columns and the message key whose values become folders."""
        self._columns = columns
        self._key = None if split_by is None else key_column(split_by)
        self._splitter = None if split_by is None else split_by.create_splitter()
        is_graph = split_by is not None and split_by.kind == "graph"
        # The keys for null: no key, and the default graph.
        self._nulls = (b"", b"default") if is_graph else (b"",)
        self.several: Counter[str] = Counter()

    def divide(self, rows: pa.RecordBatch, first: int) -> Iterator[tuple[str, AnyBatch]]:
        """Yield the messages of rows in batches, each with its folder ("" for none).

        Args:
            rows: The columns that are written, and the partition columns.
            first: The number of the first row, for errors.

        Raises:
            DecodeError: If a row is not a message.
        """
        written = rows.drop_columns([*self._columns]) if self._columns else rows
        for folder, numbers in self._groups(rows):
            if numbers is None:
                yield from self._by_key(
                    folder, batches_from_arrow(written, first_message_index=first)
                )
            else:
                with _renumbering_errors(numbers, first):
                    selected = batches_from_arrow(written.take(numbers), first_message_index=first)
                    yield from self._by_key(folder, selected)

    def undeclared(self) -> list[str]:
        """Return the prefixes that the predicate of the key uses, but no row declared."""
        return [] if self._splitter is None else list(self._splitter.undeclared())

    def _groups(self, rows: pa.RecordBatch) -> Iterator[tuple[str, pa.Array | None]]:
        """Yield each folder of the rows with its row numbers; None means all rows."""
        if not self._columns:
            yield "", None
            return
        import pyarrow as pa

        found: dict[tuple[Any, ...], list[int]] = {}
        values = [rows.column(name).to_pylist() for name in self._columns]
        for number, key in enumerate(zip(*values, strict=True)):
            found.setdefault(key, []).append(number)
        for key, numbers in found.items():
            names = (
                column_folder(name, _text(value))
                for name, value in zip(self._columns, key, strict=True)
            )
            whole = len(numbers) == rows.num_rows
            yield "/".join(names), None if whole else pa.array(numbers, pa.int64())

    def _by_key(self, folder: str, batches: Iterator[AnyBatch]) -> Iterator[tuple[str, AnyBatch]]:
        splitter = self._splitter
        for batch in batches:
            if splitter is None:
                yield folder, batch
                continue
            if not isinstance(batch, MessageBatch):
                raise wrong_kind_error("the rows", batch.kind, "only messages can be split by key")
            keys, several = splitter.begin(batch)
            self.several[self._key or ""] += several
            splitter.live_run(b"\1" * len(keys), len(keys))
            for number, slice in splitter.slices(len(batch)):
                key, text = keys[number]
                value = NULL if key in self._nulls else escape(text)
                name = column_folder(self._key or "", value)
                yield f"{folder}/{name}" if folder else name, slice


def _text(value: Any) -> str:
    """The value of a partition column as a folder name."""
    if value is None:
        return NULL
    return ("true" if value else "false") if isinstance(value, bool) else escape(str(value))


@contextmanager
def _renumbering_errors(numbers: pa.Array, first: int) -> Iterator[None]:
    """Convert row numbers in errors from positions in the group to positions in the rows."""
    try:
        yield
    except DecodeError as error:
        if error.row is not None:
            error.row = first + numbers[error.row - first].as_py()
        raise
