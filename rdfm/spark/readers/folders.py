"""Partition columns: the names and values of folders `NAME=VALUE` above the files.

In: the paths of files. Out: columns with types, and the values of a file.
Cost: one pass over the paths.
Law: the types are those that Spark infers for its own formats, except for times. These are strings,
because they depend on the session's time zone, which a data source does not know.
"""

from __future__ import annotations

import datetime
import decimal
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeAlias

from pyspark.sql.types import (
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from rdfm.errors import OptionError
from rdfm.spark.writers.dividing import unescape

if TYPE_CHECKING:
    from rdfm.storage.files import File

__all__ = ["PartitionFilter", "PartitionFolders", "root_of", "values_of"]

Value: TypeAlias = "str | int | float | bool | decimal.Decimal | datetime.date | None"

_INTEGER = re.compile(r"[+-]?[0-9]+")
_DOUBLE = re.compile(
    r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|NaN|Infinity)", re.ASCII
)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DIGITS = 38
_BOOLEANS = {"true": True, "false": False}


def _folders(path: str) -> list[tuple[str, str]]:
    """The names and the escaped values of a file's partition folders, outermost first."""
    folders = []
    for part in re.split(r"[/\\]", path)[:-1]:
        name, equals, value = part.partition("=")
        if equals and name and value:
            folders.append((unescape(name) or "", value))
    return folders


def _value_type(text: str) -> DataType | None:
    """The type of a value, as Spark infers it; None for null."""
    value = unescape(text)
    if value is None:
        return None
    if _INTEGER.fullmatch(value):
        number = int(value)
        if -(1 << 31) <= number < 1 << 31:
            return IntegerType()
        if -(1 << 63) <= number < 1 << 63:
            return LongType()
        return _integer_type(str(abs(number)))
    if _DOUBLE.fullmatch(value):
        decimal_value = decimal.Decimal(value)
        exponent = decimal_value.as_tuple().exponent
        # Spark treats 1e3 as a decimal.
        is_whole = isinstance(exponent, int) and 0 <= exponent <= _DIGITS
        return _integer_type(f"{abs(decimal_value):f}") if is_whole else DoubleType()
    if _DATE.fullmatch(value):
        try:
            datetime.date.fromisoformat(value)
        except ValueError:
            return StringType()
        return DateType()
    return StringType()


def _integer_type(digits: str) -> DataType:
    """The type of a large integer."""
    return DecimalType(len(digits), 0) if len(digits) <= _DIGITS else DoubleType()


def _common_type(first: DataType | None, second: DataType | None) -> DataType | None:
    """The type of a column with values of two types."""
    if first is None or second is None or first == second:
        return second if first is None else first
    digits: dict[type[DataType], int] = {IntegerType: 10, LongType: 20}
    types = (first, second)
    if all(isinstance(candidate, (IntegerType, LongType)) for candidate in types):
        return LongType()
    if all(isinstance(candidate, (IntegerType, LongType, DecimalType)) for candidate in types):
        precision = max(
            candidate.precision if isinstance(candidate, DecimalType) else digits[type(candidate)]
            for candidate in types
        )
        return DecimalType(precision, 0)
    if all(isinstance(candidate, (IntegerType, DoubleType)) for candidate in types):
        return DoubleType()
    return StringType()


def _parse(text: str, type: DataType) -> Value:
    """Parse the value of a folder as a type.

    Raises:
        ValueError: If the value is not of that type.
    """
    value = unescape(text)
    if value is None or isinstance(type, StringType):
        return value
    if isinstance(type, BooleanType):
        if value.lower() not in _BOOLEANS:
            raise ValueError
        return _BOOLEANS[value.lower()]
    reader = _READERS.get(type.typeName())
    if reader is None:
        raise ValueError
    return reader(value)


def _decimal(text: str) -> decimal.Decimal:
    try:
        number = decimal.Decimal(text)
    except decimal.InvalidOperation:
        raise ValueError from None
    if number != number.to_integral_value():
        raise ValueError
    return decimal.Decimal(int(number))


_READERS: Mapping[str, Callable[[str], Value]] = {
    "integer": int,
    "long": int,
    "double": float,
    "decimal": _decimal,
    "date": datetime.date.fromisoformat,
}


@dataclass(frozen=True)
class PartitionFolders:
    """The partition columns of a read.

    Attributes:
        types: The types of the columns, by name, the outermost folder first.
    """

    types: Mapping[str, DataType] = field(default_factory=dict)

    @classmethod
    def from_files(cls, files: Iterable[File], roots: Sequence[str]) -> PartitionFolders:
        """Find the columns of files.

        Args:
            files: The files.
            roots: The paths that are read. Folders in these paths are not columns.

        Raises:
            OptionError: If the folders of two files have different names.
        """
        column_types: dict[str, DataType | None] = {}
        values_by_name: dict[str, set[str]] = {}
        first: tuple[list[str], str] | None = None
        for file in files:
            folders = _folders(_relative_path(file.path, roots))
            names = [name for name, _ in folders]
            if first is None:
                first = (names, file.path)
                for name in names:
                    if name.lower() in {value_names.lower() for value_names in values_by_name}:
                        raise OptionError(
                            f"{file.path} has the partition column {name} twice; rename one of the folders"
                        )
                    values_by_name[name] = set()
            elif names != first[0]:
                raise OptionError(
                    f"{first[1]} has the partition columns {', '.join(first[0]) or '(none)'}, but {file.path} has "
                    f"{', '.join(names) or '(none)'}; read the folders separately, or set recursiveFileLookup=true to "
                    "read all files without partition columns"
                )
            for name, value in folders:
                values_by_name[name].add(value)
        for name, values in values_by_name.items():
            column_types[name] = reduce(_common_type, map(_value_type, values), None)
        return cls({name: type or StringType() for name, type in column_types.items()})

    def check(self, known: Iterable[str], corrupt: str) -> None:
        """Check that no partition column has the name of a column of rdfm.

        Raises:
            OptionError: If a partition column has such a name.
        """
        reserved = {name.lower() for name in (*known, corrupt)}
        for name in self.types:
            if name.lower() in reserved:
                raise OptionError(
                    f"the partition column {name} (from the folders {name}=…) has the same name as another column; "
                    "rename the folders, or set recursiveFileLookup=true to read all files without partition columns"
                )

    def select_types(self, schema: StructType) -> dict[str, DataType]:
        """Return the partition columns in a schema, with the names and types from the schema.

        Raises:
            OptionError: If a type is not valid for folder values.
        """
        names = {name.lower() for name in self.types}
        selected_types = {
            field.name: field.dataType for field in schema if field.name.lower() in names
        }
        for name, type in selected_types.items():
            if not isinstance(type, (StringType, BooleanType)) and type.typeName() not in _READERS:
                raise OptionError(
                    f"the partition column {name} can be string, int, bigint, double, decimal, date or boolean, not "
                    f"{type.simpleString()}"
                )
        return selected_types

    @property
    def fields(self) -> list[StructField]:
        """The columns as fields of a schema."""
        return [StructField(name, type) for name, type in self.types.items()]


def root_of(path: str) -> str:
    """Return the part of a path before the first folder with a glob character.

    Folders in this part are not partition columns.

    Example:
        >>> root_of("/logs/day=*/a.nq"), root_of("/logs/day=1")
        ('/logs/', '/logs/day=1')
    """
    glob = re.search(r"[*?\[{]", path)
    return path if glob is None else re.sub(r"[^/\\]*$", "", path[: glob.start()])


def _relative_path(path: str, roots: Sequence[str]) -> str:
    """The part of a path after the longest root that contains it."""
    candidates = [path[len(root) :] for root in roots if path.startswith(root)]
    return min(candidates, key=len, default=path)


def values_of(path: str, types: Mapping[str, DataType]) -> tuple[Value, ...]:
    """Return the values of the partition columns of a file.

    Raises:
        OptionError: If a value is not of the type of its column.
    """
    texts = {name.lower(): value for name, value in _folders(path)}
    values = []
    for name, type in types.items():
        text = texts[name.lower()]
        try:
            values.append(_parse(text, type))
        except ValueError:
            raise OptionError(
                f"{path}: the value in the folder {name}={text} is not of type {type.simpleString()}, the type of the "
                "column; declare the column as string in the schema"
            ) from None
    return tuple(values)


class PartitionFilter:
    """The option `partitions`: values or ranges of partition columns."""

    def __init__(self, criteria: Mapping[str, Any]) -> None:
        """Create a filter from the option: a value, a list of values or a range for each column.

        Raises:
            OptionError: If a range is invalid.
        """
        self._criteria: dict[str, Any] = {}
        for name, criterion in criteria.items():
            if isinstance(criterion, Mapping):
                if not criterion or not set(criterion) <= {"from", "to"}:
                    raise OptionError(
                        f'the option partitions: a range of {name} must be an object with "from", "to" or both; the bounds are inclusive'
                    )
                self._criteria[name] = criterion
            else:
                self._criteria[name] = criterion if isinstance(criterion, list) else [criterion]

    def check(self, column_names: Iterable[str]) -> None:
        """Check that the columns exist.

        Raises:
            OptionError: If a column does not exist.
        """
        names = list(column_names)
        for name in self._criteria:
            if name.lower() not in {column.lower() for column in names}:
                names_text = ", ".join(names) or "none; partition columns are folders NAME=VALUE"
                raise OptionError(
                    f"the option partitions: there is no partition column {name[:40]}; known: {names_text}"
                )

    def accepts(self, path: str, types: Mapping[str, DataType]) -> bool:
        """Whether the values of a file match.

        Raises:
            OptionError: If a value of the option is not of the type of its column.
        """
        names = {name.lower(): name for name in types}
        for column, criterion in self._criteria.items():
            name = names[column.lower()]
            type = types[name]
            (value,) = values_of(path, {name: type})
            if isinstance(criterion, Mapping):
                if value is None:
                    return False
                low = _convert_value(name, criterion.get("from"), type)
                high = _convert_value(name, criterion.get("to"), type)
                column_value: Any = value
                if (low is not None and column_value < low) or (
                    high is not None and column_value > high
                ):
                    return False
            elif value not in [_convert_value(name, choice, type) for choice in criterion]:
                return False
        return True


def _convert_value(name: str, value: Any, type: DataType) -> Value:
    """Convert a value of the option to the type of its column. Null stays null."""
    if value is None:
        return None
    text = ("true" if value else "false") if isinstance(value, bool) else str(value)
    try:
        return text if isinstance(type, StringType) else _parse(text, type)
    except ValueError:
        raise OptionError(
            f"the option partitions: {text[:40]!r} is not of type {type.simpleString()}, the type of the column {name}"
        ) from None
