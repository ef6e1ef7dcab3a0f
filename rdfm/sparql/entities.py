"""The rows and columns of an entity table.

In: the triples of messages, as solutions of a query. Out: for each message and subject, a row; for
each predicate, a column.
Cost: memory for a batch of rows, and for the columns.
Law: the values of a row and a column are those of `SELECT ?o { <subject> <predicate> ?o }` on the
message, in the same order.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, count
from typing import TYPE_CHECKING, Any, NamedTuple

from rdfm._core import MessageBatch, ResultBatch
from rdfm.errors import Remedy, UnsupportedError
from rdfm.sparql.inference import TypeInference, term_structs
from rdfm.sparql.query_stage import SolutionBatch
from rdfm.sparql.tables import Columns, node_texts

if TYPE_CHECKING:
    import pyarrow

__all__ = ["FIXED", "Column", "ColumnFinder", "Entities", "EntityColumns", "Namer"]

FIXED = ("source", "message_index", "subject")
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
LIST = "[]"
_FIRST = Remedy("stage", "first", "true", "keeps the first value")
_PREDICATES = Remedy("stage", "predicates", "IRI", "selects columns")
_MAX_COLUMNS = Remedy("stage", "max_columns", None, "")
# Local names that need no escapes in Turtle.
_LOCAL = re.compile(r"(?:[\w:](?:[\w:.-]*[\w:-])?)?")


class _Values(NamedTuple):
    """The values of a predicate in a batch: the terms, and the row of each term."""

    terms: ResultBatch
    rows: list[int]
    datatypes: set[str]


class Entities:
    """The rows of a batch of solutions for subject, predicate and object.

    Attributes:
        source: Name of the log.
        subjects: The subject of each row: an IRI, or a blank node as `_:label`.
        indexes: The message index of each row.
        values: The values by predicate, in order of first occurrence.
    """

    def __init__(self, solutions: SolutionBatch, classes: Collection[str] = ()) -> None:
        """Group the triples.

        Args:
            solutions: Triples.
            classes: Only subjects with one of these classes are rows, if there are any.

        Raises:
            UnsupportedError: If a subject is not an IRI or a blank node.
            MissingExtraError: If pyarrow is not installed.
        """
        table, triples = term_structs(solutions.rows), solutions.rows
        import pyarrow as pa
        import pyarrow.compute as pc

        self.source = solutions.source
        indexes = solutions.indexes
        subjects = node_texts(table.column(0))
        if subjects.null_count:
            row = pc.index(pc.is_null(subjects), True).as_py()
            raise UnsupportedError(
                f"the subject {str(triples.slice(row, row + 1).rows()[0][0])[:60]} is not an IRI or a blank node",
                message_index=indexes[row],
                source=self.source,
            )
        messages = pc.cast(pa.array(solutions.messages), pa.string())
        keys = pc.dictionary_encode(pc.binary_join_element_wise(messages, subjects, " "))
        rows: list[int] = keys.indices.to_pylist()
        kinds, texts, datatypes, languages, _ = table.column(2).flatten()
        positions: dict[str, list[int]] = {}
        for position, predicate in enumerate(node_texts(table.column(1)).to_pylist()):
            positions.setdefault(predicate, []).append(position)
        first_positions = _first_positions(rows)
        if classes:
            found = pc.and_(pc.equal(kinds, "iri"), pc.is_in(texts, pa.array(list(classes))))
            has_class = found.to_pylist()
            kept = sorted({rows[at] for at in positions.get(RDF_TYPE, ()) if has_class[at]})
            renumbered = dict(zip(kept, count()))
            first_positions = [first_positions[row] for row in kept]
            rows = [renumbered.get(row, -1) for row in rows]
            positions = {
                predicate: remaining
                for predicate, all_positions in positions.items()
                if (remaining := [at for at in all_positions if rows[at] >= 0])
            }
        self.subjects: list[str] = subjects.take(pa.array(first_positions, pa.int64())).to_pylist()
        self.indexes = [indexes[position] for position in first_positions]
        details = pc.binary_join_element_wise(
            pc.fill_null(datatypes, ""), pc.fill_null(languages, ""), "\n"
        ).to_pylist()
        self.values = {
            predicate: _Values(
                triples.cells(2, found), [rows[at] for at in found], {details[at] for at in found}
            )
            for predicate, found in positions.items()
        }


def _first_positions(rows: list[int]) -> list[int]:
    """Return the position of the first value of each row. Rows are numbered by first occurrence."""
    positions: list[int] = []
    for position, row in enumerate(rows):
        if row == len(positions):
            positions.append(position)
    return positions


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
    """A column of a table.

    Attributes:
        name: Its name.
        type: The type of its values, as in the option `types` of queries.
        is_list: Whether its cells are lists.
        predicate: IRI of the predicate; empty if it is not known before the first row.
        datatype: IRI of the datatype of all values, or empty.
        language: Language tag of all values, or empty.
    """

    name: str
    type: str
    is_list: bool
    predicate: str = ""
    datatype: str = ""
    language: str = ""


class ColumnFinder:
    """Finds the columns of a table from all its rows."""

    def __init__(
        self, namer: Namer, predicates: Sequence[str], types: Mapping[str, str], max_columns: int
    ) -> None:
        """Begin without columns.

        Args:
            namer: Names of predicates.
            predicates: Names or IRIs of the predicates that have columns, in order; all by default.
            types: Given types by name or IRI.
            max_columns: Maximum number of columns.
        """
        self._namer = namer
        self._predicates = list(predicates)
        self._types = types
        self._max_columns = max_columns
        self._inferences: dict[str, TypeInference] = {}
        self._lists: set[str] = set()
        self._datatypes: dict[str, set[str]] = {}

    def observe(self, entities: Entities) -> None:
        """Take rows into account.

        Raises:
            UnsupportedError: If there are too many columns.
        """
        for predicate, (terms, rows, datatypes) in entities.values.items():
            if predicate not in self._inferences:
                if self._predicates and self._position(predicate) is None:
                    continue
                if len(self._inferences) == self._max_columns:
                    raise UnsupportedError(
                        f"the table has more columns than the maximum of {self._max_columns:,}",
                        message_index=entities.indexes[rows[0]],
                        source=entities.source,
                        remedies=(_PREDICATES, _MAX_COLUMNS),
                    )
                self._inferences[predicate] = TypeInference(["o"])
                self._datatypes[predicate] = set()
            self._inferences[predicate].observe(terms, [entities.indexes[row] for row in rows])
            self._datatypes[predicate] |= datatypes
            if len(set(rows)) < len(rows):
                self._lists.add(predicate)

    def _position(self, predicate: str) -> int | None:
        names = {*self._namer.candidates(predicate), f"<{predicate}>"}
        found = (at for at, name in enumerate(self._predicates) if name in names)
        return next(found, None)

    def columns(self, *, lists: str, first: bool) -> list[Column]:
        """Return the columns.

        Args:
            lists: "always" for lists in all columns, "auto" where a subject has several values.
            first: Whether only the first value is kept, so that there are no lists.
        """
        found = list(self._inferences)
        if self._predicates:
            found.sort(key=lambda predicate: self._position(predicate) or 0)
        columns = []
        for predicate, name in self._namer.names(found).items():
            given = [
                self._types[n] for n in (name, predicate, f"<{predicate}>") if n in self._types
            ]
            type = given[0] if given else self._inferences[predicate].types["o"]
            is_list = type.endswith(LIST) or (
                not given and not first and (lists == "always" or predicate in self._lists)
            )
            datatypes = self._datatypes[predicate]
            datatype, _, language = next(iter(datatypes)).partition("\n")
            if len(datatypes) > 1:
                datatype = language = ""
            columns.append(
                Column(name, type.removesuffix(LIST), is_list, predicate, datatype, language)
            )
        return columns

    def notes(self, columns: Iterable[Column]) -> Iterator[str]:
        """Yield notes about columns without a common type."""
        for column in columns:
            if column.name not in self._types and column.predicate not in self._types:
                for note in self._inferences[column.predicate].notes():
                    renamed = note.replace("?o contains", f"{column.name} contains", 1)
                    yield renamed.replace("auto,o=", f"auto,{column.name}=", 1)


class EntityColumns:
    """Converts rows to record batches.

    Attributes:
        columns: The columns.
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
    ) -> None:
        """Set up the columns.

        Args:
            columns: The columns.
            namer: Names of predicates, for columns without a predicate.
            first: Whether values after the first one are dropped. Otherwise, a second value of a
                column without lists is an error.
            skips: Whether values of the wrong type become null.

        Raises:
            OptionError: If a type is unknown.
        """
        self.columns = columns
        self._namer = namer
        self._first = first
        self._skips = skips
        self._by_predicate = {column.predicate: column for column in columns if column.predicate}
        self._by_name = {column.name: column for column in columns if not column.predicate}
        self._converters = [
            Columns(["o"], {"o": column.type}, whole=True, skips=skips) for column in columns
        ]
        self.omitted = self.later = self.nulls = 0

    @property
    def schema(self) -> pyarrow.Schema:
        """Names and types of the columns, with their predicates as metadata of the fields.

        Raises:
            MissingExtraError: If pyarrow is not installed.
        """
        fields = [converter.schema.field("o").type for converter in self._converters]
        import pyarrow as pa

        return pa.schema(
            [
                pa.field("source", pa.string()),
                pa.field("message_index", pa.int64()),
                pa.field("subject", pa.string()),
                *(
                    pa.field(
                        column.name,
                        pa.list_(type) if column.is_list else type,
                        metadata={
                            f"rdfm.{key}": value
                            for key in ("predicate", "datatype", "language")
                            if (value := getattr(column, key))
                        },
                    )
                    for column, type in zip(self.columns, fields, strict=True)
                ),
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

        by_column = {}
        for predicate, values in entities.values.items():
            column = self._by_predicate.get(predicate) or self._find(predicate)
            if column is None:
                self.omitted += len(values.rows)
            else:
                by_column[column.name] = values
        row_count = len(entities.subjects)
        arrays = [
            pa.array([entities.source] * row_count, pa.string()),
            pa.array(entities.indexes, pa.int64()),
            pa.array(entities.subjects, pa.string()),
        ]
        for number, column in enumerate(self.columns):
            found = by_column.get(column.name)
            if found is None:
                arrays.append(pa.nulls(row_count, schema.field(len(FIXED) + number).type))
            elif column.is_list:
                arrays.append(self._lists(number, found, entities))
            else:
                arrays.append(self._singles(number, found, entities))
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _find(self, predicate: str) -> Column | None:
        """Return the column without a predicate that has a name of this predicate."""
        if not self._by_name:
            return None
        names = (*self._namer.candidates(predicate), f"<{predicate}>")
        found = (self._by_name[name] for name in names if name in self._by_name)
        column = next(found, None)
        if column is not None:
            self._by_predicate[predicate] = column
        return column

    def _singles(self, number: int, values: _Values, entities: Entities) -> Any:
        import pyarrow as pa

        positions: dict[int, int] = {}
        for position, row in enumerate(values.rows):
            if positions.setdefault(row, position) != position:
                if not self._first:
                    raise UnsupportedError(
                        f"{entities.subjects[row]:.60} has several values of {self.columns[number].name}, whose type "
                        f"is {self.columns[number].type}",
                        message_index=entities.indexes[row],
                        source=entities.source,
                        remedies=(
                            Remedy(
                                "stage",
                                "types",
                                f"{self.columns[number].name}={self.columns[number].type}{LIST}",
                                "makes the column a list",
                            ),
                            _FIRST,
                        ),
                    )
                self.later += 1
        kept = [positions.get(row) for row in range(len(entities.subjects))]
        return self._typed(number, values, entities).take(pa.array(kept, pa.int64()))

    def _lists(self, number: int, values: _Values, entities: Entities) -> Any:
        import pyarrow as pa

        order = sorted(range(len(values.rows)), key=values.rows.__getitem__)
        counts = [0] * len(entities.subjects)
        for row in values.rows:
            counts[row] += 1
        ends = [0, *accumulate(counts)]
        offsets = [end if has else None for end, has in zip(ends, [*counts, 1], strict=True)]
        items = self._typed(number, values, entities).take(pa.array(order, pa.int64()))
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), items)

    def _typed(self, number: int, values: _Values, entities: Entities) -> Any:
        """Return values with the type of their column."""
        try:
            rows, nulls = next(self._converters[number].convert(SolutionBatch(values.terms)))
        except UnsupportedError as error:
            column = self.columns[number]
            skipping = Columns(["o"], {"o": column.type}, whole=True, skips=True)
            typed, _ = next(skipping.convert(SolutionBatch(values.terms)))
            row = values.rows[typed.column(0).to_pylist().index(None)]
            raise UnsupportedError(
                error.reason.replace("?o is", f"{column.name} is", 1),
                message_index=entities.indexes[row],
                source=entities.source,
                remedies=(Remedy("stage", "on_error", "skip", "makes such values null"),),
            ) from None
        self.nulls += nulls
        return rows.column(0)
