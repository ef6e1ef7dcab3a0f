"""Whether two datasets are the same up to blank node labels.

In: two sets of quads, generalized ones and triple terms included. Out: yes or no, exactly.
Cost: near linear for real data; work is counted and bounded, since the problem has no fast answer
for data made of nothing but symmetric blank nodes.
Method: colour refinement over both datasets at once, then, component by component, one pair of
blank nodes is tried at a time; every answer "yes" is checked against the quads.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from rdfm._core import Bnode, Quad, TripleTerm
from rdfm.errors import LimitError

__all__ = ["isomorphic", "mapping"]

MAX_STEPS = 20_000_000

Node = int
# The terms of a quad in a row; a blank node is a _Ref, a triple term TRIPLE and its three parts.
Pattern = tuple[Any, ...]
TRIPLE = "<<("


def isomorphic(a: Iterable[Quad], b: Iterable[Quad], *, max_steps: int = MAX_STEPS) -> bool:
    """Tell whether two datasets are equal up to blank node labels; order and repetitions do not count.

    Literals are the same if they are written the same, the case of language tags included.

    Args:
        a: The quads of one dataset.
        b: The quads of the other.
        max_steps: Bound of the work, in quads looked at.

    Raises:
        LimitError: The comparison needs more than `max_steps`.
    """
    return mapping(a, b, max_steps=max_steps) is not None


def mapping(
    a: Iterable[Quad], b: Iterable[Quad], *, max_steps: int = MAX_STEPS
) -> dict[Bnode, Bnode] | None:
    """Give the blank node of `b` that each of `a` is, if the datasets are equal up to labels; else None.

    Args:
        a: The quads of one dataset.
        b: The quads of the other.
        max_steps: Bound of the work, in quads looked at.

    Raises:
        LimitError: The comparison needs more than `max_steps`.
    """
    left, right = set(a), set(b)
    if len(left) != len(right):
        return None
    matcher = _Matcher(max_steps)
    ground_left = matcher.add(left, side=0)
    ground_right = matcher.add(right, side=1)
    try:
        same = ground_left == ground_right and matcher.match()
        return matcher.pairs() if same else None
    except RecursionError:
        raise LimitError(
            "the blank nodes need more nested choices than Python's recursion limit allows; "
            "sys.setrecursionlimit raises it"
        ) from None


class _Ref:
    """A blank node in a pattern."""

    __slots__ = ("node",)

    def __init__(self, node: Node) -> None:
        self.node = node


class _Matcher:
    """Both datasets, with a class of blank nodes that look alike so far."""

    def __init__(self, max_steps: int) -> None:
        self._steps = self._max_steps = max_steps
        self._names: list[Bnode] = []
        self._side: list[int] = []
        self._patterns: list[Pattern] = []
        self._pattern_side: list[int] = []
        self._incident: list[list[int]] = []  # patterns of a node
        self._class: list[int] = []
        self._members: dict[int, set[Node]] = {}
        self._next_class = 1

    def add(self, quads: set[Quad], side: int) -> set[Quad]:
        """Take the quads of one side; gives those without blank nodes."""
        nodes: dict[Bnode, Node] = {}
        ground: set[Quad] = set()
        for quad in quads:
            pattern, found = self._pattern(quad, nodes, side)
            if not found:
                ground.add(quad)
                continue
            for node in found:
                self._incident[node].append(len(self._patterns))
            self._patterns.append(pattern)
            self._pattern_side.append(side)
        return ground

    def _pattern(
        self, quad: Quad, nodes: dict[Bnode, Node], side: int
    ) -> tuple[Pattern, set[Node]]:
        """A quad as a pattern, and its nodes. No recursion: triple terms may be deep."""
        found: set[Node] = set()
        pattern: list[Any] = []
        waiting: list[Any] = [quad.graph, quad.object, quad.predicate, quad.subject]
        while waiting:
            term = waiting.pop()
            if isinstance(term, TripleTerm):
                pattern.append(TRIPLE)
                waiting += (term.object, term.predicate, term.subject)
            elif isinstance(term, Bnode):
                node = nodes.get(term)
                if node is None:
                    node = nodes[term] = len(self._side)
                    self._names.append(term)
                    self._side.append(side)
                    self._incident.append([])
                    self._class.append(0)
                found.add(node)
                pattern.append(_Ref(node))
            else:
                pattern.append(term)
        return tuple(pattern), found

    def match(self) -> bool:
        nodes = set(range(len(self._side)))
        return self._solve(nodes)

    def pairs(self) -> dict[Bnode, Bnode]:
        """The blank nodes of the first side with those of the other, after a match."""
        pairs = {}
        for members in self._members.values():
            one, other = sorted(members, key=self._side.__getitem__)
            pairs[self._names[one]] = self._names[other]
        return pairs

    def _solve(self, nodes: set[Node], first: tuple[Node, Node] | None = None) -> bool:
        """Find a mapping between the two sides of some nodes; those around them are mapped already.

        Leaves the classes as they are on success, each a pair; the caller restores them otherwise.
        """
        self._own_classes(nodes)
        if first is None:
            dirty = set(nodes)
        else:
            self._move(first, self._new_class())
            dirty = {other for node in first for other in self._neighbours(node)} & nodes
        self._refine(dirty, nodes)
        classes = {self._class[node] for node in nodes}
        if not all(self._balanced(name) for name in classes):
            return False
        unresolved = {node for node in nodes if len(self._members[self._class[node]]) > 2}
        groups: dict[Any, tuple[list[set[Node]], list[set[Node]]]] = defaultdict(lambda: ([], []))
        for component in self._components(unresolved):
            look = tuple(sorted(self._class[node] for node in component))
            groups[look][self._side[next(iter(component))]].append(component)
        for left, right in groups.values():
            if len(left) != len(right):
                return False
            for component in left:
                if not self._pair(component, right):
                    return False
        return self._verified(nodes)

    def _pair(self, component: set[Node], candidates: list[set[Node]]) -> bool:
        """Map a component to one of those that look alike, and take that one away."""
        for position, candidate in enumerate(candidates):
            both = component | candidate
            saved = [(node, self._class[node]) for node in both]
            counts: dict[int, list[Node]] = defaultdict(list)
            for node in sorted(component):
                counts[self._class[node]].append(node)
            name, nodes = min(counts.items(), key=lambda item: (len(item[1]), item[0]))
            for partner in sorted(node for node in candidate if self._class[node] == name):
                if self._solve(both, (nodes[0], partner)):
                    candidates.pop(position)
                    return True
                for node, former in saved:
                    self._move((node,), former)
        return False

    def _own_classes(self, nodes: set[Node]) -> None:
        """Give some nodes classes of their own, apart from nodes elsewhere that look alike."""
        fresh: dict[int, int] = {}
        for node in nodes:
            name = self._class[node]
            if name not in fresh:
                fresh[name] = self._new_class()
            self._move((node,), fresh[name])

    def _refine(self, dirty: set[Node], nodes: set[Node]) -> None:
        """Split classes by what their nodes' quads look like, until nothing changes."""
        while dirty:
            by_class: dict[int, list[Node]] = defaultdict(list)
            for node in dirty:
                by_class[self._class[node]].append(node)
            changed: list[Node] = []
            moves: list[tuple[Node, int]] = []
            for name, members in sorted(by_class.items()):
                every = self._members[name]
                if len(every) == 1:
                    continue
                looks: dict[int, list[Node]] = defaultdict(list)
                for node in members:
                    looks[self._look(node)].append(node)
                if len(members) < len(every):  # the others still look as they did
                    other = next(node for node in every if node not in dirty)
                    looks.pop(self._look(other), None)
                else:
                    looks.pop(max(looks, key=lambda look: (len(looks[look]), look)))
                for _, group in sorted(looks.items()):
                    fresh = self._new_class()
                    moves.extend((node, fresh) for node in group)
                    changed.extend(group)
            for node, fresh in moves:
                self._move((node,), fresh)
            dirty = {other for node in changed for other in self._neighbours(node)} & nodes

    def _look(self, node: Node) -> int:
        """What a node's quads look like, itself apart."""
        self._spend(len(self._incident[node]))
        return hash(
            tuple(
                sorted(hash(self._shape(self._patterns[at], node)) for at in self._incident[node])
            )
        )

    def _shape(self, pattern: Pattern, node: Node | None = None) -> Pattern:
        """A pattern with classes for blank nodes."""
        return tuple(
            (-1 if term.node == node else self._class[term.node],)
            if isinstance(term, _Ref)
            else term
            for term in pattern
        )

    def _verified(self, nodes: set[Node]) -> bool:
        """Whether the quads of some nodes are the same on both sides, each class being a pair."""
        sides: tuple[set[Pattern], set[Pattern]] = (set(), set())
        for at in {at for node in nodes for at in self._incident[node]}:
            self._spend(1)
            sides[self._pattern_side[at]].add(self._shape(self._patterns[at]))
        return sides[0] == sides[1]

    def _components(self, nodes: set[Node]) -> Iterator[set[Node]]:
        """The nodes that share quads, directly or through others of them."""
        left = set(nodes)
        while left:
            start = left.pop()
            component = {start}
            waiting = [start]
            while waiting:
                for other in self._neighbours(waiting.pop()):
                    if other in left:
                        left.remove(other)
                        component.add(other)
                        waiting.append(other)
            yield component

    def _neighbours(self, node: Node) -> Iterator[Node]:
        for at in self._incident[node]:
            self._spend(1)
            yield from _nodes(self._patterns[at])

    def _balanced(self, name: int) -> bool:
        members = self._members[name]
        return 2 * sum(self._side[node] for node in members) == len(members)

    def _new_class(self) -> int:
        self._next_class += 1
        return self._next_class

    def _move(self, nodes: Iterable[Node], name: int) -> None:
        for node in nodes:
            former = self._members.get(self._class[node])
            if former is not None:
                former.discard(node)
                if not former:
                    del self._members[self._class[node]]
            self._class[node] = name
            self._members.setdefault(name, set()).add(node)

    def _spend(self, steps: int) -> None:
        self._steps -= steps
        if self._steps < 0:
            raise LimitError(
                f"the comparison needs more than {self._max_steps:,} steps; max_steps raises it"
            )


def _nodes(pattern: Pattern) -> Iterator[Node]:
    return (term.node for term in pattern if isinstance(term, _Ref))
