"""The columns of messages, quads, patches and results in Spark, and their selection by a query.

In: the user's schema, or none. Out: Spark and Arrow types, and column names for the core.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    LongType,
    MapType,
    NullType,
    StringType,
    StructField,
    StructType,
)

from rdfm.errors import OptionError

__all__ = [
    "COLUMNS",
    "LISTS",
    "NANOPUB",
    "OPERATIONS",
    "PARTS",
    "QUADS",
    "RowShape",
    "columns_of",
    "default_schema",
    "detect_kind",
    "find_name",
    "is_quads",
    "message_shape",
    "quad_shape",
    "result_shape",
]

PARTS = ("subject", "predicate", "object", "graph")
# The type of a term that is a struct.
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
    "message_index": LongType(),
    "byte_offset": LongType(),
    "quads": QUADS,
    "metadata": MapType(StringType(), BinaryType()),
    "namespaces": MapType(StringType(), StringType()),
}
# The description of a nanopublication, without its source and message index.
NANOPUB = StructType(
    [
        StructField(name, ArrayType(StringType()) if several else StringType())
        for name, several in (
            ("nanopub", False),
            ("creators", True),
            ("created", False),
            ("license", False),
            ("types", True),
            ("introduces", True),
            ("retracts", True),
            ("supersedes", True),
            ("pubkey_hash", False),
        )
    ]
)
# The list column of each kind of log that has one; `operations` replaces `quads`.
LISTS = {"messages": ("quads", QUADS), "patches": ("operations", OPERATIONS)}
# Columns that are never null may be requested as NOT NULL. Terms of quad rows are null for errors.
_NEVER_NULL = {
    "messages": ("source", "subject", "predicate", "object", "kind", "value"),
    "patches": ("source", "op", "kind", "value"),
    "quads": ("source", "kind", "value"),
}
# Message indexes are omitted, because they would require that messages are counted first.
_DEFAULT = ("source", "byte_offset", "quads", "metadata")


def find_name(name: str, names: Iterable[str]) -> str | None:
    """Return the name of a column or field as it is declared; None if there is none.

    An equal name is preferred, so that a session with `spark.sql.caseSensitive` finds the right
    one. Otherwise case is ignored, as in Spark.

    Raises:
        OptionError: If no name is equal, and several differ only in case.

    Example:
        >>> find_name("Quads", ["source", "quads"]), find_name("a", ["A", "a"])
        ('quads', 'a')
    """
    candidates = [candidate for candidate in names if candidate.lower() == name.lower()]
    if name in candidates:
        return name
    if len(candidates) > 1:
        raise OptionError(
            f"'{name[:40]}' may be any of the columns {', '.join(candidates)}, which differ only in case; write the exact name"
        )
    return candidates[0] if candidates else None


def _columns(row_kind: str, terms: str) -> dict[str, DataType]:
    """The columns of rows that are "messages", "patches" or "quads"."""
    term: DataType = TERM if terms == "structs" else StringType()
    if row_kind == "quads":
        return {"source": StringType(), "message_index": LongType(), **dict.fromkeys(PARTS, term)}
    name, type = LISTS[row_kind]
    record = cast("StructType", type.elementType)
    parts = [StructField(field.name, term) if field.name in PARTS else field for field in record]
    lists = ArrayType(StructType(parts))
    return {
        name if column == "quads" else column: lists if column == "quads" else columns
        for column, columns in COLUMNS.items()
    }


def is_quads(type: DataType) -> bool:
    """Whether a column has the type of `quads`. Parts of it may be untyped, as SQL's NULL."""
    if isinstance(type, NullType):
        return True
    quad = type.elementType if isinstance(type, ArrayType) else None
    return isinstance(quad, NullType) or (
        isinstance(quad, StructType)
        and tuple(quad.names) == PARTS
        and all(isinstance(part.dataType, (StringType, NullType)) for part in quad)
    )


def default_schema(
    columns: tuple[str, ...] | None = None, kind: str = "messages", terms: str = "ntriples"
) -> StructType:
    """Return the schema of a read if the user specifies no schema.

    Args:
        columns: The columns, by their names in message rows. Defaults to the standard columns.
        kind: The kind of rows: "messages", "patches" (with operations instead of quads) or "quads".
        terms: The form of terms: "ntriples" or "structs".
    """
    fields = [StructField(name, type) for name, type in _columns(kind, terms).items()]
    if kind == "quads":
        return StructType(fields)
    fields_by_name = dict(zip(COLUMNS, fields, strict=True))
    return StructType([fields_by_name[column] for column in columns or _DEFAULT])


@dataclass(frozen=True)
class RowShape:
    """The columns that one kind of rows can have.

    Attributes:
        known: The types of all columns by name.
        default: The schema of a read that does not select columns.
        core: Returns the core's name of each column of a schema, or None for the column of corrupt
            records, whose name is the second argument. Raises OptionError for an unknown column or
            a wrong type.
    """

    known: Mapping[str, DataType]
    default: StructType
    core: Callable[[StructType, str], list[str | None]]

    def knows(self, names: Iterable[str], corrupt: str) -> bool:
        """Whether all names are columns, ignoring case."""
        return all(find_name(name, (*self.known, corrupt)) is not None for name in names)

    def with_fields(self, fields: Sequence[StructField]) -> RowShape:
        """Return the shape with additional columns, which are also default columns."""
        new_types = {field.name: field.dataType for field in fields}
        default = StructType([*self.default.fields, *fields])
        return replace(self, known={**self.known, **new_types}, default=default)

    def select(
        self,
        schema: StructType | None,
        names: Sequence[str] | None,
        corrupt: str,
        *,
        with_errors: bool,
    ) -> StructType:
        """Return the schema of a read.

        Args:
            schema: The user's schema.
            names: The names of the columns to return, if they are given.
            corrupt: The name of the column of corrupt records.
            with_errors: Whether the default columns include the column of corrupt records.

        Raises:
            OptionError: If a column does not exist, a name is repeated, or the names differ from
                those of the schema. If default columns differ only in case, because Spark treats
                them as one column.
        """
        if names is not None:
            named_columns = self._select_named(names, corrupt)
            # Spark passes back the schema that the source returned.
            if schema is not None and schema.names != named_columns.names:
                raise OptionError(
                    "columns and a schema cannot be combined, because both select columns; remove one of them"
                )
            return schema or named_columns
        if schema is not None:
            return schema
        additional = [StructField(corrupt, StringType())] if with_errors else []
        spellings: dict[str, str] = {}
        for name in self.default.names:
            if (previous := spellings.setdefault(name.lower(), name)) != name:
                raise OptionError(
                    f"Spark treats the columns {previous} and {name} as one; select one of them with columns or a schema"
                )
        return StructType([*self.default.fields, *additional])

    def _select_named(self, names: Sequence[str], corrupt: str) -> StructType:
        if not names:
            raise OptionError(f"columns contains no name; known: {', '.join(self.known)}")
        types = {**self.known, corrupt: StringType()}
        found_names: list[str] = []
        for name in names:
            found = find_name(name, types)
            if found is None:
                raise OptionError(
                    f"these rows have no column '{name[:40]}'; known: {', '.join(self.known)}"
                )
            if found in found_names:
                raise OptionError(f"columns contains {name} twice")
            found_names.append(found)
        return StructType(
            [
                StructField(name, types[found])
                for name, found in zip(names, found_names, strict=True)
            ]
        )


def message_shape(kind: str | None, terms: str) -> RowShape:
    """Return the columns of messages or patches. None means messages."""
    return _shape(kind or "messages", terms)


def quad_shape(terms: str) -> RowShape:
    """Return the columns of quad rows."""
    return _shape("quads", terms)


def _shape(row_kind: str, terms: str) -> RowShape:
    return RowShape(
        known=_columns(row_kind, terms),
        default=default_schema(kind=row_kind, terms=terms),
        core=lambda schema, corrupt: columns_of(schema, corrupt, row_kind, terms),
    )


def result_shape(variables: tuple[str, ...], terms: str) -> RowShape:
    """Return the columns of results: one for each variable.

    Raises:
        OptionError: If there are no variables.
    """
    if not variables:
        raise OptionError(
            "results without variables have no columns, so they cannot be read in Spark"
        )
    type = TERM if terms == "structs" else StringType()
    return RowShape(
        known=dict.fromkeys(variables, type),
        default=StructType([StructField(name, type) for name in variables]),
        core=lambda schema, corrupt: result_columns(schema, corrupt, variables, terms),
    )


def detect_kind(schema: StructType) -> str | None:
    """Return the kind of log that a schema is for, if a column determines it.

    Raises:
        OptionError: If there are columns of both kinds.
    """
    names = {field.name.lower() for field in schema}
    kinds = [kind for kind, (name, _) in LISTS.items() if name in names]
    if len(kinds) > 1:
        raise OptionError(
            "the schema has columns quads and operations, but a row is either a message or a patch; remove one of them"
        )
    return kinds[0] if kinds else None


def columns_of(
    schema: StructType, corrupt: str, row_kind: str = "messages", terms: str = "ntriples"
) -> list[str | None]:
    """Return the core's name of each column of a schema; None for the column of corrupt records.

    Names are compared as in `find_name`. Quads and operations may have fewer fields, in
    any order.

    Args:
        schema: The user's schema.
        corrupt: The name of the column of corrupt records.
        row_kind: The kind of rows: "messages", "patches" or "quads".
        terms: The form of terms.

    Raises:
        OptionError: If a column is unknown or has the wrong type; the text lists the known columns.
    """
    columns = _columns(row_kind, terms)
    if corrupt.lower() in columns:
        raise OptionError(
            f"columnNameOfCorruptRecord is '{corrupt}', which is the name of another column; choose another name"
        )
    if not schema.fields:
        raise OptionError(f"the schema has no columns; known: {', '.join(columns)}")
    types = {**columns, corrupt: StringType()}
    never_null = _NEVER_NULL[row_kind]
    column_names = [_column(field, types, never_null) for field in schema]
    return [name if name in columns else None for name in column_names]


def result_columns(
    schema: StructType, corrupt: str, variables: tuple[str, ...], terms: str = "ntriples"
) -> list[str | None]:
    """Return the variable of each column of a schema for results.

    The result contains None for the column of corrupt records.

    Raises:
        OptionError: If a column is not a variable or has the wrong type, or there are no columns.
    """
    if corrupt in variables:
        raise OptionError(
            f"columnNameOfCorruptRecord is '{corrupt}', which is a variable of the results; choose another name"
        )
    if not schema.fields:
        raise OptionError(f"the schema has no columns; known: {', '.join(variables)}")
    type: DataType = TERM if terms == "structs" else StringType()
    types = {**dict.fromkeys(variables, type), corrupt: StringType()}
    column_names = []
    for field in schema:
        if find_name(field.name, types) is None:
            names_text = ", ".join(variables) or "none"
            raise OptionError(
                f"there is no variable '{field.name[:40]}' in the results; they have {names_text}"
            )
        column_names.append(_column(field, types, ("kind", "value")))
    return [None if name == corrupt else name for name in column_names]


def _column(field: StructField, types: Mapping[str, DataType], never_null: tuple[str, ...]) -> str:
    name = find_name(field.name, types)
    if name is None:
        columns_text = ", ".join(f"{column} {_type_text(type)}" for column, type in types.items())
        raise OptionError(f"there is no column '{field.name[:40]}'; known: {columns_text}")
    if not _type_fits(field.dataType, types[name]):
        raise OptionError(
            f"the column {field.name} is {_type_text(types[name])}, not {_type_text(field.dataType)}"
        )
    if not _may_be_null(field, never_null):
        raise OptionError(
            f"the column {field.name}, or a field in it, can be null; remove NOT NULL"
        )
    return name


def _type_fits(requested: DataType, expected: DataType) -> bool:
    """Whether a type matches a known one. Structs may have fewer fields, in any order and case."""
    if isinstance(requested, ArrayType) and isinstance(expected, ArrayType):
        return _type_fits(requested.elementType, expected.elementType)
    if isinstance(requested, MapType) and isinstance(expected, MapType):
        return _type_fits(requested.keyType, expected.keyType) and _type_fits(
            requested.valueType, expected.valueType
        )
    if isinstance(requested, StructType) and isinstance(expected, StructType):
        types = {field.name: field.dataType for field in expected}
        names = [field.name.lower() for field in requested]
        return 0 < len(names) == len(set(names)) and all(
            field.name.lower() in types and _type_fits(field.dataType, types[field.name.lower()])
            for field in requested
        )
    return requested == expected


def _may_be_null(field: StructField, never_null: tuple[str, ...]) -> bool:
    """Whether a field and the nested fields of its type allow null."""
    inner = field.dataType
    if isinstance(inner, MapType) and not inner.valueContainsNull:
        return False
    if isinstance(inner, ArrayType):
        inner = inner.elementType
    if isinstance(inner, StructType) and not all(_may_be_null(part, never_null) for part in inner):
        return False
    return field.nullable or field.name.lower() in never_null


def _type_text(type: DataType) -> str:
    return type.simpleString()
