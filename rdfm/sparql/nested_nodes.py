"""Blank nodes that can be nested in the node that refers to them.

In: the triples of messages. Out: for each triple, whether its object can be nested, and how.
Cost: linear in the triples.
Law: the same nodes as in pretty Turtle can be nested, except that the triples of a table have no
graphs. A blank node can be nested if exactly one triple has it as object, nothing else refers to it,
and it is not in a cycle. A collection is a chain of such nodes with one item each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

__all__ = ["COLLECTION", "EMPTY", "NIL", "PLAIN", "STRUCT", "NestedNodes"]

# Kinds of objects: a node with triples; the first cell of a collection; a node without triples;
# rdf:nil; anything else.
STRUCT, COLLECTION, EMPTY, NIL, PLAIN = "struct", "collection", "empty", "nil", "plain"
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_FIRST, _REST = _RDF + "first", _RDF + "rest"
_NIL = _RDF + "nil"


class NestedNodes:
    """The nodes of a batch of triples. Subjects are numbered by first occurrence.

    Attributes:
        kinds: The kind of each triple's object.
        children: The number of each triple's object, if that can be nested; otherwise -1.
        triples: The positions of each subject's triples.
        roots: The subjects that cannot be nested.
    """

    def __init__(
        self,
        subjects: Sequence[int],
        keys: Sequence[str],
        predicates: Sequence[str],
        objects: Sequence[str | None],
        mentioned: Iterable[str],
    ) -> None:
        """Find the nodes.

        Args:
            subjects: The number of each triple's subject.
            keys: The key of each subject: its message and text.
            predicates: The predicate of each triple.
            objects: The key of each triple's object, if that is an IRI or a blank node.
            mentioned: Keys of blank nodes to which something else than a triple's object refers.
        """
        self._subjects, self._predicates = subjects, predicates
        numbers = {key: number for number, key in enumerate(keys)}
        uses = Counter(objects)
        shared = set(mentioned)
        self.kinds = [PLAIN] * len(subjects)
        self.children = [-1] * len(subjects)
        for position, key in enumerate(objects):
            if key is None:
                continue
            text = key.partition(" ")[2]
            if text == _NIL:
                self.kinds[position] = NIL
            elif text.startswith("_:") and uses[key] == 1 and key not in shared:
                self.children[position] = numbers.get(key, -1)
                self.kinds[position] = STRUCT if key in numbers else EMPTY
        self.triples: list[list[int]] = [[] for _ in keys]
        for position, subject in enumerate(subjects):
            self.triples[subject].append(position)
        self._parents = [-1] * len(keys)  # the triple that refers to a node
        for position, child in enumerate(self.children):
            if child >= 0:
                self._parents[child] = position
        self._break_cycles()
        self.roots = [number for number, parent in enumerate(self._parents) if parent < 0]
        self._cells: dict[int, tuple[int, int]] = {}  # positions of the item and of the next cell
        self._find_collections()

    def _break_cycles(self) -> None:
        """Make the nodes of cycles roots."""
        state = bytearray(len(self._parents))  # 1: on the current path; 2: done
        for start in range(len(state)):
            number, path = start, []
            while number >= 0 and not state[number]:
                state[number] = 1
                path.append(number)
                parent = self._parents[number]
                number = -1 if parent < 0 else self._subjects[parent]
            if number >= 0 and state[number] == 1:
                for node in path[path.index(number) :]:
                    position, self._parents[node] = self._parents[node], -1
                    self.children[position], self.kinds[position] = -1, PLAIN
            for node in path:
                state[node] = 2

    def _find_collections(self) -> None:
        """Follow chains of cells from rdf:nil to their first cell."""
        for end, kind in enumerate(self.kinds):
            rest = end if kind == NIL else -1
            while rest >= 0 and self._predicates[rest] == _REST:
                cell = self._subjects[rest]
                positions = self.triples[cell]
                parent = self._parents[cell]
                if len(positions) != 2 or parent < 0:
                    break
                first = positions[positions[0] == rest]
                if self._predicates[first] != _FIRST:
                    break
                self._cells[cell] = (first, rest)
                self.kinds[parent] = COLLECTION
                rest = parent

    def items(self, cell: int) -> Iterator[tuple[int, int]]:
        """Yield each cell of a collection, with the triple of its item."""
        while cell >= 0:
            first, rest = self._cells[cell]
            yield cell, first
            cell = self.children[rest]
