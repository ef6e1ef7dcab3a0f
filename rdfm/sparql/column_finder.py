"""Finds the columns of an entity table.

In: the rows of all messages. Out: columns with types.
Cost: memory for the columns.
Law: the columns do not depend on how the rows are split into batches. Nested nodes and other objects
do not meet in a column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rdfm.errors import Remedy, UnsupportedError
from rdfm.sparql.entities import Entities, Fields, Values
from rdfm.sparql.entity_columns import Column, ColumnFields, Namer, parse_column
from rdfm.sparql.inference import MAX_SHOWN, TypeInference
from rdfm.sparql.nested_nodes import COLLECTION, EMPTY, NIL, STRUCT

__all__ = ["ColumnFinder"]

_PREDICATES = Remedy("stage", "predicates", "IRI", "selects columns")
_MAX_COLUMNS = Remedy("stage", "max_columns", None, "")
_EMPTY_ITEMS = Column("", "terms", False)
_NOUNS = {STRUCT: "a nested blank node", COLLECTION: "a collection"}
# Kinds of objects that are nested in the same column as another kind.
_FITTING = {STRUCT: {STRUCT, EMPTY}, COLLECTION: {COLLECTION, NIL}}

# Predicates from the table to a nested column; None is a step to the items of a collection.
_Path = tuple[str | None, ...]


class _Found:
    """A column that has been found. Implements `Fields`.

    Attributes:
        inference: The type of the values that are not nested.
        details: Datatypes and languages of these values.
        is_list: Whether a row has several values.
        examples: The first value of each kind, with its message.
        number: Position among the columns with values, from 1; 0 without values.
        fields: The nested columns.
    """

    def __init__(self, finder: ColumnFinder, path: _Path) -> None:
        self._finder = finder
        self.path = path
        self.inference = TypeInference(["o"])
        self.details: set[str] = set()
        self.is_list = False
        self.examples: dict[str, str] = {}
        self.number = 0
        self.fields: dict[str | None, _Found] = {}

    def accepts(self, kind: str) -> bool:
        """Whether nodes of a kind are nested here."""
        return len(self.path) <= self._finder.depth and self.path not in self._finder.flat

    def find(self, predicate: str | None) -> Fields | None:
        """Return the column of a predicate, or of the items with None."""
        if predicate not in self.fields:
            self.fields[predicate] = _Found(self._finder, (*self.path, predicate))
        return self.fields[predicate]

    @property
    def nesting(self) -> str | None:
        """The kind of nodes that are nested here."""
        return next((kind for kind in _FITTING if kind in self.examples), None)

    @property
    def is_mixed(self) -> bool:
        """Whether nested nodes meet other objects."""
        return self.nesting is not None and not set(self.examples) <= _FITTING[self.nesting]


class ColumnFinder:
    """Finds the columns of a table from all its rows. Implements `Fields`.

    Attributes:
        depth: Maximum depth of nested nodes.
        flat: Paths of columns without nested nodes.
    """

    def __init__(
        self,
        namer: Namer,
        predicates: Sequence[str],
        types: Mapping[str, str],
        max_columns: int,
        depth: int = 0,
        flat: Mapping[_Path, str] | None = None,
    ) -> None:
        """Begin without columns.

        Args:
            namer: Names of predicates.
            predicates: Names or IRIs of the predicates that have columns, in order; all by default.
            types: Given types by name or IRI.
            max_columns: Maximum number of columns, including those in structs.
            depth: Maximum depth of nested nodes.
            flat: Paths of columns without nested nodes, with notes.
        """
        self._namer = namer
        self._predicates = list(predicates)
        self._types = types
        self._max_columns = max_columns
        self.depth = depth
        self.flat = dict(flat or {})
        self._root = _Found(self, ())
        self._given: dict[str, Fields] = {}
        self._count = 0

    def accepts(self, kind: str) -> bool:
        """Return False: the table is not nested."""
        return False

    def find(self, predicate: str | None) -> Fields | None:
        """Return the column of a predicate, or None if it is not selected."""
        if predicate is None or not self._is_selected(predicate):
            return None
        if self._types and predicate not in self._given and (type := self._given_type(predicate)):
            column = parse_column(predicate, type)
            self._given[predicate] = ColumnFields(column, self._namer)
        return self._given.get(predicate) or self._root.find(predicate)

    @property
    def nests(self) -> bool:
        """Whether nodes may be nested."""
        return self.depth > 0 or any("{" in type or "(" in type for type in self._types.values())

    def observe(self, entities: Entities) -> None:
        """Take rows into account.

        Raises:
            UnsupportedError: If there are too many columns.
        """
        self._observe(self._root, entities, entities.values, range(len(entities.subjects)))

    def _observe(
        self,
        level: _Found,
        entities: Entities,
        values_by_predicate: Mapping[str, Values],
        owners: Sequence[int],
    ) -> None:
        for predicate, values in values_by_predicate.items():
            if level is not self._root or self._is_selected(predicate):
                self._observe_values(level, predicate, entities, values, owners)

    def _observe_values(
        self,
        level: _Found,
        predicate: str | None,
        entities: Entities,
        values: Values,
        owners: Sequence[int],
    ) -> None:
        level.find(predicate)
        column = level.fields[predicate]
        owners = [owners[row] for row in values.rows]
        if not column.number:
            self._count += predicate is not None
            if self._count > self._max_columns:
                raise UnsupportedError(
                    f"the table has more columns than the maximum of {self._max_columns:,}",
                    message_index=entities.indexes[owners[0]],
                    source=entities.source,
                    remedies=(_PREDICATES, _MAX_COLUMNS),
                )
            column.number = self._count or 1
        if predicate is not None and len(set(values.rows)) < len(values.rows):
            column.is_list = True
        kinds = entities.kinds(values.positions)
        triples = list(zip(kinds, values.positions, owners, strict=True))
        if column.accepts(kinds[0]):
            for kind in set(kinds) - set(column.examples):
                position = kinds.index(kind)
                text = _NOUNS.get(kind) or self._text(entities, values.positions[position])
                index = entities.indexes[owners[position]]
                column.examples[kind] = f"{text} (message {index})"
        for kind in _FITTING:
            nested = [triple[1:] for triple in triples if triple[0] == kind]
            if not nested:
                continue
            inner, inner_owners = map(list, zip(*nested, strict=True))
            if kind == STRUCT:
                self._observe(column, entities, entities.struct_values(inner), inner_owners)
            elif (items := entities.items(inner)).rows:
                self._observe_values(column, None, entities, items, inner_owners)
            triples = [triple for triple in triples if triple[0] != kind]
        if triples:
            plain = [position for _, position, _ in triples]
            indexes = [entities.indexes[owner] for *_, owner in triples]
            column.inference.observe(entities.terms(plain), indexes)
            column.details.update(entities.details[position] for position in plain)

    def _text(self, entities: Entities, position: int) -> str:
        ((term,),) = entities.terms([position]).rows()
        text = str(term)
        return f"'{text}'" if len(text) <= MAX_SHOWN else f"'{text[: MAX_SHOWN - 1]}…'"

    def _is_selected(self, predicate: str) -> bool:
        return not self._predicates or self._position(predicate) is not None

    def _position(self, predicate: str) -> int | None:
        names = {*self._namer.candidates(predicate), f"<{predicate}>"}
        found = (at for at, name in enumerate(self._predicates) if name in names)
        return next(found, None)

    def _given_type(self, predicate: str) -> str | None:
        names = (*self._namer.candidates(predicate), f"<{predicate}>")
        return next((self._types[name] for name in names if name in self._types), None)

    def mixed(self) -> dict[_Path, str]:
        """Return the paths of columns where nested nodes meet other objects, with notes."""
        mixed, pending = {}, [(self._root, "")]
        while pending:
            level, name = pending.pop()
            for predicate, column in level.fields.items():
                inner = name + (
                    "()" if predicate is None else f".{self._namer.candidates(predicate)[0]}"
                )
                pending.append((column, inner))
                if column.is_mixed:
                    nesting = column.nesting or STRUCT
                    other = next(k for k in column.examples if k not in _FITTING[nesting])
                    mixed[column.path] = (
                        f"{inner[1:]} is not nested, because it contains "
                        f"{column.examples[nesting]} and {column.examples[other]}"
                    )
        return mixed

    def columns(self, *, lists: str, first: bool) -> list[Column]:
        """Return the columns.

        Args:
            lists: "always" for lists in all columns, "auto" where a subject has several values.
            first: Whether only the first value is kept, so that there are no lists.
        """
        found = self._columns(self._root, lists, first)
        if self._predicates:
            found.sort(key=lambda column: self._position(column.predicate) or 0)
        return found

    def _columns(self, level: _Found, lists: str, first: bool) -> list[Column]:
        found = {
            predicate: column
            for predicate, column in level.fields.items()
            if predicate is not None and column.number
        }
        ordered = sorted(found, key=lambda predicate: found[predicate].number)
        columns = []
        for predicate, name in self._namer.names(ordered).items():
            type = self._given_type(predicate) if level is self._root else None
            if type is not None:
                column = parse_column(name, type)._replace(predicate=predicate)
            else:
                column = self._column(name, found[predicate], lists, first)
                is_list = not first and (lists == "always" or found[predicate].is_list)
                column = column._replace(is_list=is_list, predicate=predicate)
            columns.append(column)
        return columns

    def _column(self, name: str, found: _Found, lists: str, first: bool) -> Column:
        nesting = None if found.is_mixed else found.nesting
        if nesting == COLLECTION:
            items = found.fields.get(None)
            inner = _EMPTY_ITEMS if items is None else self._column("", items, lists, first)
            return Column(name, COLLECTION, False, fields=(inner,))
        if nesting == STRUCT:
            return Column(name, STRUCT, False, fields=tuple(self._columns(found, lists, first)))
        details = found.details
        datatype, _, language = (
            next(iter(details)).partition("\n") if len(details) == 1 else ("",) * 3
        )
        return Column(name, found.inference.types["o"], False, "", datatype, language)

    def notes(self) -> Iterator[str]:
        """Yield notes about columns without a common type, and columns that are not nested."""
        yield from self.flat.values()
        pending = [(self._root, "")]
        while pending:
            level, prefix = pending.pop()
            names = self._namer.names(filter(None, level.fields))
            for predicate, column in level.fields.items():
                name = "()" if predicate is None else names[predicate]
                if not prefix and predicate is not None and self._given_type(predicate):
                    continue
                if column.number and column.nesting is None:
                    for note in column.inference.notes():
                        renamed = note.replace("?o contains", f"{prefix}{name} contains", 1)
                        if prefix:  # types of nested columns are parts of a longer text
                            renamed = renamed.partition("; ")[0]
                        yield renamed.replace("auto,o=", f"auto,{name}=", 1)
                pending.append((column, f"{prefix}{name}."))
