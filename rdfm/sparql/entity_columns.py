"""The columns of an entity table.

In: rows of entities. Out: Arrow record batches.
Cost: one conversion for each column of a batch.
Law: the types that are printed for columns give the same columns again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from rdfm._core import MessageBatch
from rdfm.errors import OptionError, Remedy, UnsupportedError, spell_option
from rdfm.sparql.entities import Entities, Values
from rdfm.sparql.inference import term_structs
from rdfm.sparql.nested_nodes import COLLECTION, EMPTY, NIL, STRUCT
from rdfm.sparql.query_options import TYPES, parse_types
from rdfm.sparql.query_stage import SolutionBatch
from rdfm.sparql.tables import Columns, node_texts

if TYPE_CHECKING:
    import pyarrow

__all__ = ["FIXED", "Column", "EntityColumns", "Namer", "parse_column"]

FIXED = ("source", "message_index", "subject")
LIST = "[]"
_FIRST = Remedy("stage", "first", "true", "keeps the first value")
_SKIP = Remedy("stage", "on_error", "skip", "makes such values null")
# Local names that need no escapes in Turtle.
_LOCAL = re.compile(r"(?:[\w:](?:[\w:.-]*[\w:-])?)?")


class Namer:
    """Names of predicates, with the namespaces of the logs."""

    def __init__(self, prefixes: Mapping[str, str], *, local: bool) -> None:
        """Initialize with namespaces.

        Args:
            prefixes: Namespaces by prefix. They precede those of the logs.
            local: Whether names are local parts, if these are unique.
        """
        self._namespaces = {iri: prefix for prefix, iri in reversed(list(prefixes.items()))}
        self._prefixes = set(prefixes)
        self._local = local

    def observe(self, batch: MessageBatch | None) -> None:
        """Take the declarations of messages into account. The first one of a prefix counts."""
        for _, prefix, iri in () if batch is None else batch.declarations():
            if prefix not in self._prefixes:
                self._prefixes.add(prefix)
                self._namespaces.setdefault(iri, prefix)

    def candidates(self, predicate: str) -> list[str]:
        """Return the names of a predicate, the shortest first."""
        names = [predicate]
        for end in range(len(predicate), 0, -1):
            prefix = self._namespaces.get(predicate[:end])
            if prefix is not None and _LOCAL.fullmatch(predicate[end:]):
                names.insert(0, f"{prefix}:{predicate[end:]}")
                break
        if self._local:
            names.insert(0, re.split("[#/:]", predicate)[-1])
        return names

    def names(self, predicates: Iterable[str]) -> dict[str, str]:
        """Return a name for each predicate. They differ even if case is ignored, if possible."""
        candidates = {predicate: self.candidates(predicate) for predicate in predicates}
        while True:
            users: dict[str, list[str]] = {name: [""] for name in ("", *FIXED)}
            for predicate, names in candidates.items():
                users.setdefault(names[0].casefold(), []).append(predicate)
            shared = [
                predicate
                for predicates in users.values()
                if len(predicates) > 1
                for predicate in predicates
                if predicate and len(candidates[predicate]) > 1
            ]
            if not shared:
                return {predicate: names[0] for predicate, names in candidates.items()}
            for predicate in shared:
                del candidates[predicate][0]


class Column(NamedTuple):
    """A column of a table, a field of a struct, or the items of a collection.

    Attributes:
        name: Its name; empty for items.
        type: The type of its values, as in the option `types` of queries; "struct"; or "collection".
        is_list: Whether its cells are lists of such values.
        predicate: IRI of the predicate; empty if it is not known before the first row.
        datatype: IRI of the datatype of all values, or empty.
        language: Language tag of all values, or empty.
        fields: The fields of a struct, or the items of a collection.
    """

    name: str
    type: str
    is_list: bool
    predicate: str = ""
    datatype: str = ""
    language: str = ""
    fields: tuple[Column, ...] = ()

    @property
    def spelled_type(self) -> str:
        """The type as text: `{name=type,…}` is a struct, `(type)` a collection, `type[]` a list."""
        text = self.type
        if text == COLLECTION:
            text = f"({self.fields[0].spelled_type})"
        elif text == STRUCT:
            fields = (f"{field.name}={field.spelled_type}" for field in self.fields)
            text = f"{{{','.join(fields)}}}"
        return text + LIST * self.is_list


def parse_column(name: str, type: str) -> Column:
    """Return the column with a name and a type as text.

    Raises:
        OptionError: If the type is unknown.

    Example:
        >>> parse_column("ex:result", "{ex:value=double,ex:unit=node}[]").spelled_type
        '{ex:value=double,ex:unit=node}[]'
    """
    text = type.removesuffix(LIST)
    is_list = text != type
    if text[:1] + text[-1:] == "{}" and text != "{}":
        fields = parse_types(text[1:-1], infers=False)
        return Column(
            name, STRUCT, is_list, fields=tuple(map(parse_column, fields, fields.values()))
        )
    if text[:1] + text[-1:] == "()" and not text.endswith(f"{LIST})"):
        return Column(name, COLLECTION, is_list, fields=(parse_column("", text[1:-1]),))
    if text not in TYPES:
        raise OptionError(
            f"unknown type '{type[:40]}' for {name or 'the items of a collection'}; expected one of "
            f"{', '.join(TYPES)}, a list such as string[], a struct such as {{n=integer}}, or a "
            "collection such as (string)"
        )
    return Column(name, text, is_list)


class ColumnFields:
    """Finds the columns of a table or a struct by predicate. Implements `Fields`."""

    def __init__(self, column: Column, namer: Namer) -> None:
        """Initialize with a struct, or a column whose fields are those of a table."""
        self._type = column.type
        self._namer = namer
        self._fields = {field.predicate or field.name: field for field in column.fields}
        self._found: dict[str | None, ColumnFields] = {}

    def accepts(self, kind: str) -> bool:
        """Whether nodes of a kind are nested here."""
        return kind == self._type

    def find(self, predicate: str | None) -> ColumnFields | None:
        """Return the fields of a predicate's column, or of the items with None."""
        if predicate not in self._found:
            column = self._fields.get("") if predicate is None else self.column(predicate)
            if column is None:
                return None
            self._found[predicate] = ColumnFields(column, self._namer)
        return self._found[predicate]

    def column(self, predicate: str) -> Column | None:
        """Return the column that has the predicate, or one of its names."""
        if predicate not in self._fields:
            names = (*self._namer.candidates(predicate), f"<{predicate}>")
            found = (self._fields[name] for name in names if name in self._fields)
            column = next((column for column in found if not column.predicate), None)
            if column is None:
                return None
            self._fields[predicate] = column
        return self._fields[predicate]


class EntityColumns:
    """Converts rows to record batches.

    Attributes:
        columns: The columns.
        fields: The columns by predicate.
        omitted: Number of values of other predicates.
        later: Number of values after the first one of a subject, which were dropped.
        nulls: Number of values that are null because they do not have the type of their column.
    """

    def __init__(
        self,
        columns: Sequence[Column],
        namer: Namer,
        *,
        first: bool = False,
        skips: bool = False,
        as_texts: bool = False,
    ) -> None:
        """Set up the columns.

        Args:
            columns: The columns.
            namer: Names of predicates, for columns without a predicate.
            first: Whether values after the first one are dropped. Otherwise, a second value of a
                column without lists is an error.
            skips: Whether values of the wrong type become null.
            as_texts: Whether values are converted to their lexical form, as in CSV.

        Raises:
            OptionError: If `as_texts` is true and a column has lists or structs.
        """
        self.columns = columns
        self.first = first
        self.skips = skips
        self.as_texts = as_texts
        self.fields = ColumnFields(Column("", STRUCT, False, fields=tuple(columns)), namer)
        self._converters = [_ColumnConverter(column, self, namer) for column in columns]
        if as_texts:
            for column in columns:
                _check_text(column)
        self.omitted = self.later = self.nulls = 0

    @property
    def nests(self) -> bool:
        """Whether a column has nested nodes."""
        return any(column.fields for column in self.columns)

    @property
    def schema(self) -> pyarrow.Schema:
        """Names and types of the columns, with their predicates as metadata of the fields.

        Raises:
            MissingExtraError: If pyarrow is not installed.
        """
        fields = [converter.field for converter in self._converters]
        import pyarrow as pa

        return pa.schema(
            [
                pa.field("source", pa.string()),
                pa.field("message_index", pa.int64()),
                pa.field("subject", pa.string()),
                *fields,
            ]
        )

    def convert(self, entities: Entities) -> pyarrow.RecordBatch:
        """Return rows.

        Raises:
            UnsupportedError: If a value does not have the type of its column, or a subject has
                several values in a column without lists.
        """
        schema = self.schema
        import pyarrow as pa

        row_count = len(entities.subjects)
        arrays = [
            pa.array([entities.source] * row_count, pa.string()),
            pa.array(entities.indexes, pa.int64()),
            pa.array(entities.subjects, pa.string()),
            *self.arrays(
                self.fields, self._converters, entities, entities.values, list(range(row_count))
            ),
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    def arrays(
        self,
        fields: ColumnFields,
        converters: Sequence[_ColumnConverter],
        entities: Entities,
        values_by_predicate: Mapping[str, Values],
        owners: Sequence[int],
    ) -> list[Any]:
        """Return the columns of a table or a struct.

        Args:
            fields: The columns by predicate.
            converters: Converters of the columns.
            entities: The batch.
            values_by_predicate: The values.
            owners: The row of the table for each row of the result.
        """
        by_name = {}
        for predicate, values in values_by_predicate.items():
            column = fields.column(predicate)
            if column is None:
                self.omitted += len(values.rows)
            else:
                by_name[column.name] = values
        return [
            converter.convert(by_name.get(converter.column.name), entities, owners)
            for converter in converters
        ]


def _check_text(column: Column) -> None:
    """Reject a column that CSV cannot represent."""
    if column.is_list or column.fields:
        content = "lists" if column.is_list or column.type == COLLECTION else "structs"
        advice = "" if column.fields else f"{spell_option('first')} keeps the first value, or "
    elif column.type == "langString":
        content = "strings with language tags"
        advice = f"{spell_option('types', f'auto,{column.name}=string')} omits the tags, or "
    else:
        return
    raise OptionError(
        f"{column.name} contains {content}, which CSV cannot represent; {advice}write a table such as "
        "out.parquet"
    )


class _ColumnConverter:
    """Converts the values of a column, and of the columns that are nested in it."""

    def __init__(self, column: Column, table: EntityColumns, namer: Namer) -> None:
        self.column = column
        self._table = table
        self._fields = ColumnFields(column, namer)
        self._converters = [_ColumnConverter(field, table, namer) for field in column.fields]
        self._typed = (
            None
            if column.fields or column.type == STRUCT
            else Columns(["o"], {"o": column.type}, whole=True, skips=table.skips)
        )

    @property
    def _item_type(self) -> Any:
        if self._typed is not None:
            type = self._typed.schema.field("o").type
        import pyarrow as pa

        if self._table.as_texts:
            return pa.string()
        fields = [converter.field for converter in self._converters]
        if self.column.type == COLLECTION:
            return pa.list_(fields[0].type)
        return type if self._typed is not None else pa.struct(fields)

    @property
    def field(self) -> Any:
        """The Arrow field, with the predicate as metadata."""
        type = self._item_type
        import pyarrow as pa

        return pa.field(
            self.column.name,
            pa.list_(type) if self.column.is_list else type,
            metadata={
                f"rdfm.{key}": value
                for key in ("predicate", "datatype", "language")
                if (value := getattr(self.column, key))
            },
        )

    def convert(self, values: Values | None, entities: Entities, owners: Sequence[int]) -> Any:
        """Return the cells of the column.

        Args:
            values: The values.
            entities: The batch.
            owners: The row of the table for each cell.
        """
        import pyarrow as pa

        if values is None:
            return pa.nulls(len(owners), self.field.type)
        if self.column.is_list:
            order = sorted(range(len(values.rows)), key=values.rows.__getitem__)
            items = self._items(values, entities, owners).take(pa.array(order, pa.int64()))
            return _list_array(sorted(values.rows), [False] * len(owners), items, empty=False)
        positions: dict[int, int] = {}
        for position, row in enumerate(values.rows):
            if positions.setdefault(row, position) != position:
                if not self._table.first:
                    raise self._several_error(entities, owners[row])
                self._table.later += 1
        kept = [positions.get(row) for row in range(len(owners))]
        return self._items(values, entities, owners).take(pa.array(kept, pa.int64()))

    def _several_error(self, entities: Entities, row: int) -> UnsupportedError:
        name, type = self.column.name, self.column.spelled_type
        return UnsupportedError(
            f"{entities.subjects[row]:.60} has several values of {name}, whose type is {type}",
            message_index=entities.indexes[row],
            source=entities.source,
            remedies=(
                Remedy("stage", "types", f"{name}={type}{LIST}", "makes the column a list"),
                _FIRST,
            ),
        )

    def _items(self, values: Values, entities: Entities, owners: Sequence[int]) -> Any:
        """Return values with the type of the column."""
        if self._typed is not None:
            return self._typed_items(self._typed, values, entities, owners)
        import pyarrow as pa

        kinds = entities.kinds(values.positions)
        is_struct = self.column.type == STRUCT
        fitting = (STRUCT, EMPTY) if is_struct else (COLLECTION, NIL)
        misfits = [kind not in fitting for kind in kinds]
        if any(misfits):
            if not self._table.skips:
                raise self._misfit(values, entities, owners, misfits.index(True))
            self._table.nulls += sum(misfits)
        inner_owners = [owners[row] for row in values.rows]
        if is_struct:
            arrays = self._table.arrays(
                self._fields,
                self._converters,
                entities,
                entities.struct_values(values.positions),
                inner_owners,
            )
            fields = [converter.field for converter in self._converters]
            return pa.StructArray.from_arrays(arrays, fields=fields, mask=pa.array(misfits))
        inner = entities.items(values.positions)
        items = self._converters[0]._items(inner, entities, inner_owners)
        return _list_array(inner.rows, misfits, items, empty=True)

    def _misfit(
        self, values: Values, entities: Entities, owners: Sequence[int], position: int
    ) -> UnsupportedError:
        ((term,),) = entities.terms([values.positions[position]]).rows()
        expected = "a collection" if self.column.type == COLLECTION else "a blank node"
        return UnsupportedError(
            f"{self.column.name or 'an item'} is '{str(term)[:40]}', expected {expected} to which "
            "nothing else refers",
            message_index=entities.indexes[owners[values.rows[position]]],
            source=entities.source,
            remedies=(_SKIP,),
        )

    def _typed_items(
        self, columns: Columns, values: Values, entities: Entities, owners: Sequence[int]
    ) -> Any:
        terms = entities.terms(values.positions)
        name = self.column.name or "an item"
        try:
            rows, nulls = next(columns.convert(SolutionBatch(terms)))
        except UnsupportedError as error:
            skipping = Columns(["o"], {"o": self.column.type}, whole=True, skips=True)
            typed, _ = next(skipping.convert(SolutionBatch(terms)))
            row = owners[values.rows[typed.column(0).to_pylist().index(None)]]
            raise UnsupportedError(
                error.reason.replace("?o is", f"{name} is", 1),
                message_index=entities.indexes[row],
                source=entities.source,
                remedies=(_SKIP,),
            ) from None
        self._table.nulls += nulls
        cells = rows.column(0)
        if not self._table.as_texts or self.column.type == "terms":
            return cells
        import pyarrow.compute as pc

        structs = term_structs(terms).column(0)
        texts = pc.coalesce(node_texts(structs), structs.flatten()[1])
        return pc.if_else(pc.is_valid(cells), texts, None)


def _list_array(rows: Sequence[int], nulls: Sequence[bool], items: Any, *, empty: bool) -> Any:
    """Return a list for each row.

    Args:
        rows: The row of each item, in ascending order.
        nulls: Whether a row is null.
        items: The items.
        empty: Whether a row without items is an empty list. Otherwise, it is null.
    """
    import pyarrow as pa

    counts = [0] * len(nulls)
    for row in rows:
        counts[row] += 1
    ends = accumulate(counts, initial=0)
    missing = [
        is_null or not (count or empty) for is_null, count in zip(nulls, counts, strict=True)
    ]
    offsets = [
        None if is_missing else end for end, is_missing in zip(ends, [*missing, False], strict=True)
    ]
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), items)
