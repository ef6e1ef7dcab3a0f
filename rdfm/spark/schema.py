"""The columns of a message, of a quad, of a patch and of results in Spark, and what of them a query asks for.

In: the schema of a user, or none. Out: Spark's and Arrow's types, and names for the core.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

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

__all__ = [
    "COLUMNS",
    "LISTS",
    "OPERATIONS",
    "PARTS",
    "QUADS",
    "columns_by_name",
    "columns_of",
    "default_schema",
    "kind_of",
    "result_columns",
    "result_schema",
    "schema_of",
]

PARTS = ("subject", "predicate", "object", "graph")
# A term as a struct.
TERM = StructType(
    [
        StructField(name, StringType())
        for name in ("kind", "value", "datatype", "language", "direction")
    ]
)
QUADS = ArrayType(StructType([StructField(part, StringType()) for part in PARTS]))
OPERATIONS = ArrayType(
    StructType([StructField(part, StringType()) for part in ("op", "name", *PARTS)])
)
COLUMNS: Mapping[str, DataType] = {
    "source": StringType(),
    "offset": LongType(),
    "quads": QUADS,
    "metadata": MapType(StringType(), BinaryType()),
    "position": LongType(),
    "namespaces": MapType(StringType(), StringType()),
}
# The column of lists of each kind of log that has one: the one of quads is replaced by the other.
LISTS = {"messages": ("quads", QUADS), "patches": ("operations", OPERATIONS)}
# What is never null may be asked for as NOT NULL; of rows of quads those of an error have no terms.
_NEVER_NULL = {
    "messages": ("source", "subject", "predicate", "object", "kind", "value"),
    "patches": ("source", "op", "kind", "value"),
    "quads": ("source", "kind", "value"),
}
_DEFAULT = ("source", "offset", "quads", "metadata")


def _columns(of: str, terms: str) -> dict[str, DataType]:
    """The columns of rows that are "messages", "patches" or "quads"."""
    term: DataType = TERM if terms == "structs" else StringType()
    if of == "quads":
        return {"source": StringType(), "message": LongType(), **dict.fromkeys(PARTS, term)}
    name, type = LISTS[of]
    record = cast("StructType", type.elementType)
    parts = [StructField(each.name, term) if each.name in PARTS else each for each in record]
    lists = ArrayType(StructType(parts))
    return {
        name if column == "quads" else column: lists if column == "quads" else known
        for column, known in COLUMNS.items()
    }


def default_schema(
    columns: tuple[str, ...] | None = None, kind: str = "messages", terms: str = "ntriples"
) -> StructType:
    """Give the schema of a read without a schema of the user's.

    Args:
        columns: The columns, as those of messages are called; else the usual ones.
        kind: What rows are: "messages", "patches", which have operations for quads, or "quads".
        terms: How terms stand there: as "ntriples" or "structs".
    """
    fields = [StructField(name, type) for name, type in _columns(kind, terms).items()]
    if kind == "quads":
        return StructType(fields)
    found = dict(zip(COLUMNS, fields, strict=True))
    return StructType([found[column] for column in columns or _DEFAULT])


def schema_of(names: Sequence[str], known: Mapping[str, DataType], corrupt: str) -> StructType:
    """Give the schema of the columns that are asked for by name.

    Raises:
        OptionError: A name is that of no column, or is there twice.
    """
    if not names:
        raise OptionError(f"columns names none; known: {', '.join(known)}")
    types = {**known, corrupt: StringType()}
    for at, name in enumerate(names):
        if name not in types:
            raise OptionError(
                f"there is no column '{name[:40]}' of such rows; known: {', '.join(known)}"
            )
        if name in names[:at]:
            raise OptionError(f"columns names {name} twice")
    return StructType([StructField(name, types[name]) for name in names])


def columns_by_name(of: str, terms: str) -> dict[str, DataType]:
    """Give every column of rows, as `default_schema` takes what they are."""
    return _columns(of, terms)


def result_schema(variables: tuple[str, ...], terms: str = "ntriples") -> StructType:
    """Give the schema of results: a column for each variable.

    Raises:
        OptionError: There is none.
    """
    if not variables:
        raise OptionError("results without variables have no columns, and so no rows in Spark")
    type = TERM if terms == "structs" else StringType()
    return StructType([StructField(name, type) for name in variables])


def kind_of(schema: StructType) -> str | None:
    """Give the kind of log that a schema is of, where a column says it.

    Raises:
        OptionError: It is of two kinds.
    """
    names = {field.name.lower() for field in schema}
    found = [kind for kind, (name, _) in LISTS.items() if name in names]
    if len(found) > 1:
        raise OptionError(
            "there are columns quads and operations, and a row is a message or a patch; leave one of them out"
        )
    return found[0] if found else None


def columns_of(
    schema: StructType, corrupt: str, of: str = "messages", terms: str = "ntriples"
) -> list[str | None]:
    """Give the core's name of each column of a schema; None for the column of corrupt records.

    Names are compared without case, as Spark compares them. Quads and operations may have fewer parts, in any order.

    Args:
        schema: What a user asks for.
        corrupt: The name of the column of corrupt records.
        of: What rows are: "messages", "patches" or "quads".
        terms: How terms stand there.

    Raises:
        OptionError: A column is unknown or of another type; the text lists the known ones.
    """
    columns = _columns(of, terms)
    if corrupt.lower() in columns:
        raise OptionError(
            f"columnNameOfCorruptRecord is '{corrupt}', which is a column of its own; take another name"
        )
    if not schema.fields:
        raise OptionError(f"the schema names no column; known: {', '.join(columns)}")
    known = {**columns, corrupt.lower(): StringType()}
    never_null = _NEVER_NULL[of]
    found = [_column(field, known, never_null) for field in schema]
    return [name if name in columns else None for name in found]


def result_columns(
    schema: StructType, corrupt: str, variables: tuple[str, ...], terms: str = "ntriples"
) -> list[str | None]:
    """Give the variable of each column of a schema for results; None for the column of corrupt records.

    Raises:
        OptionError: A column is that of no variable or of another type, or no column is left.
    """
    if corrupt in variables:
        raise OptionError(
            f"columnNameOfCorruptRecord is '{corrupt}', which is a variable of the results; take another name"
        )
    if not schema.fields:
        raise OptionError(f"the schema names no column; known: {', '.join(variables)}")
    type: DataType = TERM if terms == "structs" else StringType()
    known = {**dict.fromkeys(variables, type), corrupt: StringType()}
    found = []
    for field in schema:
        if field.name not in known:
            listed = ", ".join(variables) or "none"
            raise OptionError(
                f"there is no variable '{field.name[:40]}' in the results; they have {listed}"
            )
        found.append(_column(field, known, ("kind", "value")))
    return [None if name == corrupt else name for name in found]


def _column(field: StructField, known: Mapping[str, DataType], never_null: tuple[str, ...]) -> str:
    name = field.name if field.name in known else field.name.lower()
    if name not in known:
        listed = ", ".join(f"{column} {_shown(type)}" for column, type in known.items())
        raise OptionError(f"there is no column '{field.name[:40]}'; known: {listed}")
    if not _fits(field.dataType, known[name]):
        raise OptionError(
            f"the column {field.name} is {_shown(known[name])}, not {_shown(field.dataType)}"
        )
    if not _may_be_null(field, never_null):
        raise OptionError(
            f"the column {field.name} can be null, or something in it; leave out NOT NULL"
        )
    return name


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


def _may_be_null(field: StructField, never_null: tuple[str, ...]) -> bool:
    """Whether a field may hold what is null, down to the parts of its type."""
    inner = field.dataType
    if isinstance(inner, MapType) and not inner.valueContainsNull:
        return False
    if isinstance(inner, ArrayType):
        inner = inner.elementType
    if isinstance(inner, StructType) and not all(_may_be_null(part, never_null) for part in inner):
        return False
    return field.nullable or field.name.lower() in never_null


def _shown(type: DataType) -> str:
    return type.simpleString()
