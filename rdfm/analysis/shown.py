"""How messages that differ are told: as lines of what only one of them has.

In: messages of batches. Out: `MessageDifference`.
Cost: that of naming blank nodes, bounded: labels stay as they are where it would be too much.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from rdfm._core import Bnode, MessageBatch, PatchBatch, Quad, common_blocks
from rdfm.analysis.difference import Kind, MessageDifference
from rdfm.compare.alignment import aligned, nodes_of, renamed
from rdfm.compare.canonical import canonical_labels
from rdfm.errors import EncodeError, LimitError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rdfm.message import AnyBatch

__all__ = ["Place", "Shower"]

# Bounds of naming blank nodes, in quads looked at.
MAX_STEPS = 200_000
# Blank nodes of each message that are paired by what they have in common.
MAX_PAIRED = 30
_ANY, _OWN = Bnode("any"), Bnode("own")


@dataclass(frozen=True, slots=True)
class Place:
    """A message.

    Attributes:
        batch: Its batch.
        number: Its number there.
        index: Its index in the log.
        source: The file of the log.
    """

    batch: AnyBatch
    number: int
    index: int
    source: str


class Shower:
    """Makes differences of messages of one kind, and tells them.

    Attributes:
        variables: Of results, the names of the columns.
    """

    def __init__(
        self, kind: str, *, ordered: bool, tell: Callable[[MessageDifference], object]
    ) -> None:
        """Take the kind, whether the order of quads counts, and who is told."""
        self._ordered = ordered or kind != "messages"
        self._tell = tell
        self.variables: list[str] = []

    def pair(
        self,
        one: Place,
        other: Place,
        *,
        records: bool,
        undecided: bool,
        metadata: bool,
        namespaces: Iterable[tuple[str, str | None, str | None]],
    ) -> None:
        """Tell a pair of messages."""
        removed, added = self._differing(one, other) if records else ((), ())
        values = {}
        if metadata:
            ours, theirs = _metadata(one), _metadata(other)
            for key in sorted(ours.keys() | theirs.keys()):
                if ours.get(key) != theirs.get(key):
                    values[key] = (ours.get(key), theirs.get(key))
        self._say(
            "undecided" if undecided else "changed",
            one,
            other,
            removed=removed,
            added=added,
            metadata=values,
            namespaces={name: (a, b) for name, a, b in namespaces},
        )

    def only(self, side: int, place: Place) -> None:
        """Tell a message that one log has."""
        lines = tuple(self._lines(place))
        if side:
            self._say("only_b", None, place, added=lines)
        else:
            self._say("only_a", place, None, removed=lines)

    def undecided(self, side: int, place: Place) -> None:
        """Tell a message whose blank nodes need too much work."""
        self._say("undecided", *((None, place) if side else (place, None)))

    def _say(self, kind: Kind, one: Place | None, other: Place | None, **rest: Any) -> None:
        found = MessageDifference(
            kind,
            None if one is None else one.index,
            None if other is None else other.index,
            None if one is None else one.source,
            None if other is None else other.source,
            **rest,
        )
        self._tell(found)

    def look(self, place: Place) -> set[str]:
        """What is compared of messages to see how much they have in common."""
        batch = place.batch
        if isinstance(batch, MessageBatch):
            return {str(renamed(quad, _Any())) for quad in batch.quads(place.number)}
        return set(self._lines(place))

    def _differing(self, one: Place, other: Place) -> tuple[tuple[str, ...], tuple[str, ...]]:
        if isinstance(one.batch, MessageBatch) and isinstance(other.batch, MessageBatch):
            ours = _labelled(one.batch.quads(one.number))
            theirs = _with_labels(ours, other.batch.quads(other.number))
            if not self._ordered:
                left, right = set(ours), set(theirs)
                return _sorted(left - right), _sorted(right - left)
            return _apart([str(quad) for quad in ours], [str(quad) for quad in theirs])
        return _apart(list(self._lines(one)), list(self._lines(other)))

    def _lines(self, place: Place) -> Iterator[str]:
        """A message as lines."""
        batch = place.batch
        if isinstance(batch, MessageBatch):
            quads = _labelled(batch.quads(place.number))
            yield from map(str, quads) if self._ordered else _sorted(set(quads))
        elif isinstance(batch, PatchBatch):
            for operation in batch.operations(place.number):
                yield _operation(*operation)
        else:
            (row,) = batch.slice(place.number, place.number + 1).rows()
            cells = zip(batch.variables, row, strict=True)
            bound = {name: term for name, term in cells if term is not None}
            yield " ".join(f"?{name}={bound[name]}" for name in self.variables if name in bound)


def _metadata(place: Place) -> dict[str, bytes]:
    return place.batch.metadata(place.number) if isinstance(place.batch, MessageBatch) else {}


def _sorted(quads: Iterable[Quad]) -> tuple[str, ...]:
    return tuple(sorted(map(str, quads)))


def _operation(op: str, name: str | None, *terms: Any) -> str:
    """An operation as a line of RDF Patch."""
    if op in ("PA", "PD", "H") and name is not None:
        name = f'"{name}:"' if op != "H" else name
    return " ".join(str(part) for part in (op, name, *terms, ".") if part is not None)


def _apart(ours: list[str], theirs: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The lines of both that the other has not, where order counts."""
    hashed = [
        b"".join(
            blake2b(line.encode("utf-8", "surrogatepass"), digest_size=16).digest()
            for line in lines
        )
        for lines in (ours, theirs)
    ]
    shared: tuple[set[int], set[int]] = (set(), set())
    for a, b, length in common_blocks(*hashed):
        shared[0].update(range(a, a + length))
        shared[1].update(range(b, b + length))
    removed, added = (
        tuple(line for at, line in enumerate(lines) if at not in known)
        for lines, known in zip((ours, theirs), shared, strict=True)
    )
    return removed, added


class _Any(dict[Bnode, Bnode]):
    """One label for all blank nodes."""

    def __missing__(self, node: Bnode) -> Bnode:
        return _ANY


def _labelled(quads: list[Quad]) -> list[Quad]:
    """Quads with canonical labels, where RDFC-1.0 knows the message and it is not too much work."""
    if not any(True for quad in quads for _ in nodes_of(quad)):
        return quads
    try:
        labels = canonical_labels(quads, max_steps=MAX_STEPS)
    except (EncodeError, LimitError):
        return quads
    names = {Bnode(label): Bnode(name) for label, name in labels.items()}
    return [renamed(quad, names) for quad in quads]


def _with_labels(ours: list[Quad], theirs: list[Quad]) -> list[Quad]:
    """The quads of another message, whose blank nodes get the labels of those of ours that they may be."""
    taken = {node for quad in ours for node in nodes_of(quad)}
    if not any(True for quad in theirs for _ in nodes_of(quad)):
        return theirs
    try:
        theirs = aligned(ours, theirs, max_steps=MAX_STEPS)
    except LimitError:
        return theirs
    found = {node for quad in theirs for node in nodes_of(quad)}
    lone, unnamed = taken - found, found - taken
    if not lone or not unnamed or max(len(lone), len(unnamed)) > MAX_PAIRED:
        return theirs
    names = _paired(ours, theirs, lone, unnamed)
    return [
        renamed(quad, {node: names.get(node, node) for node in nodes_of(quad)}) for quad in theirs
    ]


def _paired(
    ours: list[Quad], theirs: list[Quad], lone: set[Bnode], unnamed: set[Bnode]
) -> dict[Bnode, Bnode]:
    """Blank nodes of both that have most quads in common, a pair after the other."""
    names: dict[Bnode, Bnode] = {}
    while True:
        left = {node for node in lone if node not in names.values()}
        right = {node for node in unnamed if node not in names}
        looks = [
            {node: _look(quads, node, open_nodes, known) for node in sorted(nodes)}
            for quads, nodes, open_nodes, known in (
                (ours, left, left, {}),
                (theirs, right, right, names),
            )
        ]
        shared = [
            (((one[0] & other[0]).total(), (one[1] & other[1]).total()), a, b)
            for a, one in looks[0].items()
            for b, other in looks[1].items()
        ]
        nothing = ((0, 0), _ANY, _ANY)
        most, node, other = max(shared, default=nothing, key=lambda found: found[0])
        if not any(most):
            return names
        names[other] = node


def _look(
    quads: list[Quad], node: Bnode, unpaired: set[Bnode], names: dict[Bnode, Bnode]
) -> tuple[Counter[Quad], Counter[tuple[Any, ...]]]:
    """The quads of a blank node, others that are not paired being any; and these with predicates alone."""
    found: Counter[Quad] = Counter()
    for quad in quads:
        around = list(nodes_of(quad))
        if node in around:
            view = {
                other: _OWN
                if other == node
                else _ANY
                if other in unpaired
                else names.get(other, other)
                for other in around
            }
            found[renamed(quad, view)] += 1
    rough: Counter[tuple[Any, ...]] = Counter()
    for quad, count in found.items():
        rough[(quad.subject == _OWN, quad.predicate, quad.object == _OWN)] += count
    return found, rough
