"""The columns of a message in Spark, and what of them a query asks for.

In: the schema of a user, or none. Out: Spark's and Arrow's types, and names for the core.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from rdfm.errors import OptionError

__all__ = ["COLUMNS", "PARTS", "QUADS", "columns_of", "default_schema"]

PARTS = ("subject", "predicate", "object", "graph")
QUADS = ArrayType(StructType([StructField(part, StringType()) for part in PARTS]))
COLUMNS: Mapping[str, DataType] = {
    "source": StringType(),
    "offset": LongType(),
    "quads": QUADS,
    "metadata": MapType(StringType(), BinaryType()),
    "position": LongType(),
    "namespaces": MapType(StringType(), StringType()),
}
# What is never null may be asked for as NOT NULL.
_NEVER_NULL = ("source", "subject", "predicate", "object")
_DEFAULT = ("source", "offset", "quads", "metadata")


def default_schema(columns: tuple[str, ...] = _DEFAULT) -> StructType:
    """Give the schema of a read without a schema of the user's."""
    return StructType([StructField(name, COLUMNS[name]) for name in columns])


def columns_of(schema: StructType, corrupt: str) -> list[str | None]:
    """Give the core's name of each column of a schema; None for the column of corrupt records.

    Names are compared without case, as Spark compares them. Quads may have fewer parts, in any order.

    Args:
        schema: What a user asks for.
        corrupt: The name of the column of corrupt records.

    Raises:
        OptionError: A column is unknown or of another type; the text lists the known ones.
    """
    if corrupt.lower() in COLUMNS:
        raise OptionError(
            f"columnNameOfCorruptRecord is '{corrupt}', which is a column of its own; take another name"
        )
    if not schema.fields:
        raise OptionError(f"the schema names no column; known: {', '.join(COLUMNS)}")
    return [_column(field, corrupt) for field in schema]


def _column(field: StructField, corrupt: str) -> str | None:
    name = field.name.lower()
    known = {**COLUMNS, corrupt.lower(): StringType()}
    if name not in known:
        listed = ", ".join(f"{column} {_shown(type)}" for column, type in known.items())
        raise OptionError(f"there is no column '{field.name[:40]}'; known: {listed}")
    if not _fits(field.dataType, known[name]):
        raise OptionError(
            f"the column {field.name} is {_shown(known[name])}, not {_shown(field.dataType)}"
        )
    if not _may_be_null(field):
        raise OptionError(
            f"the column {field.name} can be null, or something in it; leave out NOT NULL"
        )
    return name if name in COLUMNS else None


def _fits(asked: DataType, known: DataType) -> bool:
    """Whether a type is the known one; structs may have fewer fields, in any order and case."""
    if isinstance(asked, ArrayType) and isinstance(known, ArrayType):
        return _fits(asked.elementType, known.elementType)
    if isinstance(asked, MapType) and isinstance(known, MapType):
        return _fits(asked.keyType, known.keyType) and _fits(asked.valueType, known.valueType)
    if isinstance(asked, StructType) and isinstance(known, StructType):
        types = {field.name: field.dataType for field in known}
        names = [field.name.lower() for field in asked]
        return 0 < len(names) == len(set(names)) and all(
            field.name.lower() in types and _fits(field.dataType, types[field.name.lower()])
            for field in asked
        )
    return asked == known


def _may_be_null(field: StructField) -> bool:
    """Whether a field may hold what is null, down to the parts of its type."""
    inner = field.dataType
    if isinstance(inner, MapType) and not inner.valueContainsNull:
        return False
    if isinstance(inner, ArrayType):
        inner = inner.elementType
    if isinstance(inner, StructType) and not all(map(_may_be_null, inner)):
        return False
    return field.nullable or field.name.lower() in _NEVER_NULL


def _shown(type: DataType) -> str:
    return type.simpleString()
