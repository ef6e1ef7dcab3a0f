"""The rows of an entity table.

In: the triples of messages, as solutions of a query. Out: for each message and subject, a row, with
the values of each predicate.
Cost: memory for a batch of rows.
Law: the values of a row and a predicate are those of `SELECT ?o { <subject> <predicate> ?o }` on the
message, in the same order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from rdfm._core import ResultBatch, TripleTerm
from rdfm.errors import UnsupportedError
from rdfm.sparql.inference import term_structs
from rdfm.sparql.nested_nodes import COLLECTION, PLAIN, NestedNodes
from rdfm.sparql.query_stage import SolutionBatch
from rdfm.sparql.tables import node_texts

if TYPE_CHECKING:
    from rdfm._core import Term

__all__ = ["Entities", "Fields", "Values"]

RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


class Fields(Protocol):
    """The columns of a table or of a struct, or the items of a collection."""

    def accepts(self, kind: str) -> bool:
        """Whether nodes of a kind are nested here."""

    def find(self, predicate: str | None) -> Fields | None:
        """Return the column of a predicate, or of the items with None."""


class Values(NamedTuple):
    """The values of a predicate in a batch.

    Attributes:
        rows: The row of each value.
        positions: The triple of each value.
    """

    rows: list[int]
    positions: list[int]


class Entities:
    """The rows of a batch of solutions for subject, predicate and object.

    Attributes:
        source: Name of the log.
        subjects: The subject of each row: an IRI, or a blank node as `_:label`.
        indexes: The message index of each row.
        values: The values by predicate, in order of first occurrence.
        details: The datatype and language of each triple's object, separated by a line feed.
    """

    def __init__(
        self,
        solutions: SolutionBatch,
        classes: Collection[str] = (),
        fields: Fields | None = None,
    ) -> None:
        """Group the triples.

        Args:
            solutions: Triples.
            classes: Only subjects with one of these classes are rows, if there are any.
            fields: The columns, if nodes may be nested.

        Raises:
            UnsupportedError: If a subject is not an IRI or a blank node.
            MissingExtraError: If pyarrow is not installed.
        """
        self._triples = triples = solutions.rows
        table = term_structs(triples)
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
        numbers: list[int] = keys.indices.to_pylist()
        kinds, texts, datatypes, languages, _ = table.column(2).flatten()
        self._predicates: list[str] = node_texts(table.column(1)).to_pylist()
        self.details: list[str] = pc.binary_join_element_wise(
            pc.fill_null(datatypes, ""), pc.fill_null(languages, ""), "\n"
        ).to_pylist()
        first_positions = _first_positions(numbers)
        excluded: set[int] = set()
        if classes:
            found = pc.and_(pc.equal(kinds, "iri"), pc.is_in(texts, pa.array(list(classes))))
            has_class = {
                number
                for number, predicate, is_class in zip(
                    numbers, self._predicates, found.to_pylist(), strict=True
                )
                if is_class and predicate == RDF_TYPE
            }
            excluded = set(range(len(first_positions))) - has_class
        self._nested: NestedNodes | None = None
        if fields is not None:
            objects = pc.binary_join_element_wise(messages, node_texts(table.column(2)), " ")
            self._nested = NestedNodes(
                numbers,
                keys.dictionary.to_pylist(),
                self._predicates,
                objects.to_pylist(),
                self._mentioned(solutions, kinds.to_pylist()),
            )
            excluded |= self._nest(self._nested, fields, excluded)
        rows: dict[int, int] = {}
        for number in range(len(first_positions)):
            if number not in excluded:
                rows[number] = len(rows)
        self.subjects: list[str] = subjects.take(
            pa.array([first_positions[number] for number in rows], pa.int64())
        ).to_pylist()
        self.indexes = [indexes[first_positions[number]] for number in rows]
        self.values = self._group(
            (rows[number], position) for position, number in enumerate(numbers) if number in rows
        )

    def _mentioned(self, solutions: SolutionBatch, kinds: list[str]) -> Iterator[str]:
        """Yield the keys of blank nodes in triple terms and predicates, and of graph names."""
        for position, kind in enumerate(kinds):
            message = solutions.messages[position]
            if kind == "triple term":
                ((_, _, term),) = self._triples.slice(position, position + 1).rows()
                for label in _labels(term):
                    yield f"{message} {label}"
            if self._predicates[position][:2] == "_:":
                yield f"{message} {self._predicates[position]}"
        batch = solutions.batch
        if batch is None or not batch.has_graphs:
            return
        import pyarrow as pa

        positions = {batch.message_index(message): message for message in range(len(batch))}
        graphs = pa.record_batch(batch.to_arrow(["message_index", "graph"], rows="quads"))
        for index, graph in zip(*(column.to_pylist() for column in graphs.columns), strict=True):
            if graph is not None and graph[:2] == "_:":
                yield f"{positions[index]} {graph}"

    def _nest(self, nested: NestedNodes, fields: Fields, excluded: set[int]) -> set[int]:
        """Decide where nodes are nested, and return the nodes that are.

        A node that is not nested is a row, or excluded.
        """
        inside: set[int] = set()
        # Triples with the column of their values, and subjects that are not nested.
        pending: list[tuple[int, Fields | None]] = []

        def add(number: int, level: Fields | None) -> None:
            for position in nested.triples[number]:
                if nested.children[position] >= 0:
                    pending.append((position, level and level.find(self._predicates[position])))

        for root in nested.roots:
            add(root, None if root in excluded else fields)
        while pending:
            position, field = pending.pop()
            kind, child = nested.kinds[position], nested.children[position]
            if child < 0:
                continue
            if field is None or not field.accepts(kind):
                nested.kinds[position], nested.children[position] = PLAIN, -1
                add(child, None if child in excluded else fields)
            elif kind == COLLECTION:
                for cell, item in nested.items(child):
                    inside.add(cell)
                    pending.append((item, field.find(None)))
            else:
                inside.add(child)
                add(child, field)
        return inside

    def _group(self, triples: Iterable[tuple[int, int]]) -> dict[str, Values]:
        """Return the values of rows by predicate, from pairs of a row and a triple."""
        values: dict[str, Values] = {}
        for row, position in triples:
            predicate = self._predicates[position]
            if predicate not in values:
                values[predicate] = Values([], [])
            values[predicate].rows.append(row)
            values[predicate].positions.append(position)
        return values

    def terms(self, positions: Sequence[int]) -> ResultBatch:
        """Return the objects of triples."""
        return self._triples.cells(2, positions)

    def kinds(self, positions: Sequence[int]) -> list[str]:
        """Return the kind of each triple's object: whether it is nested."""
        if self._nested is None:
            return [PLAIN] * len(positions)
        return [self._nested.kinds[position] for position in positions]

    def struct_values(self, positions: Sequence[int]) -> dict[str, Values]:
        """Return the values of the nodes that are nested in triples, each of which is a row."""
        nested = self._nested
        return (
            {}
            if nested is None
            else self._group(
                (row, inner)
                for row, position in enumerate(positions)
                if nested.children[position] >= 0
                for inner in nested.triples[nested.children[position]]
            )
        )

    def items(self, positions: Sequence[int]) -> Values:
        """Return the items of the collections that are nested in triples, each of which is a row."""
        values = Values([], [])
        if self._nested is not None:
            for row, position in enumerate(positions):
                for _, item in self._nested.items(self._nested.children[position]):
                    values.rows.append(row)
                    values.positions.append(item)
        return values


def _labels(term: Term | None) -> Iterator[str]:
    """Yield the blank nodes of a triple term."""
    parts: list[object] = [term]
    while parts:
        part = parts.pop()
        if isinstance(part, TripleTerm):
            parts += [part.subject, part.predicate, part.object]
        elif str(part).startswith("_:"):
            yield str(part)


def _first_positions(rows: list[int]) -> list[int]:
    """Return the position of the first value of each row. Rows are numbered by first occurrence."""
    positions: list[int] = []
    for position, row in enumerate(rows):
        if row == len(positions):
            positions.append(position)
    return positions
