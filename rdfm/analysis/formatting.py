"""Formats differences between messages: the lines that only one of two messages has.

In: messages in batches. Out: `MessageDiff`.
Cost: mostly the labelling of blank nodes. The work is limited; if the limit is exceeded, labels are
not changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from rdfm._core import BlankNode, MessageBatch, PatchBatch, Quad, common_blocks
from rdfm.analysis.diff_result import Kind, MessageDiff
from rdfm.compare.alignment import align, iter_nodes, relabel
from rdfm.compare.canonical import canonical_labels
from rdfm.errors import EncodeError, LimitError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rdfm.message import AnyBatch

__all__ = ["BatchMessage", "DifferenceFormatter"]

# Maximum work to label the blank nodes of a message, in quads visited.
MAX_STEPS = 200_000
# Blank nodes are paired by similarity only if each message has at most this number of them.
MAX_PAIRED = 30
_ANY, _OWN = BlankNode("any"), BlankNode("own")


@dataclass(frozen=True, slots=True)
class BatchMessage:
    """A message in a batch.

    Attributes:
        batch: The batch.
        number: Position of the message in the batch, from 0.
        message_index: Index of the message in the log, from 0.
        source: File of the log.
    """

    batch: AnyBatch
    number: int
    message_index: int
    source: str


class DifferenceFormatter:
    """Creates and reports differences between messages of one kind.

    Attributes:
        variables: For results, the names of the columns.
    """

    def __init__(
        self, kind: str, *, ordered: bool, report: Callable[[MessageDiff], object]
    ) -> None:
        """Set up the formatter.

        Args:
            kind: The kind of the messages.
            ordered: Whether the order of quads matters.
            report: Called with each difference.
        """
        self._ordered = ordered or kind != "messages"
        self._report = report
        self.variables: list[str] = []

    def report_pair(
        self,
        one: BatchMessage,
        other: BatchMessage,
        *,
        records: bool,
        undecided: bool,
        metadata: bool,
        namespaces: Iterable[tuple[str, str | None, str | None]],
    ) -> None:
        """Report two messages that differ.

        Args:
            one: The message of the first log.
            other: The message of the second log.
            records: Whether quads, operations or rows differ.
            undecided: Whether the comparison exceeded its limit.
            metadata: Whether the metadata differs.
            namespaces: Prefixes whose IRIs differ, with both IRIs.
        """
        removed, added = self._differing_lines(one, other) if records else ((), ())
        values = {}
        if metadata:
            ours, theirs = _decode_metadata(one), _decode_metadata(other)
            for key in sorted(ours.keys() | theirs.keys()):
                if ours.get(key) != theirs.get(key):
                    values[key] = (ours.get(key), theirs.get(key))
        self._add(
            "undecided" if undecided else "changed",
            one,
            other,
            removed=removed,
            added=added,
            metadata=values,
            namespaces={name: (a, b) for name, a, b in namespaces},
        )

    def report_only(self, side: int, message: BatchMessage) -> None:
        """Report a message that only one log has."""
        lines = tuple(self._iter_lines(message))
        if side:
            self._add("only_b", None, message, added=lines)
        else:
            self._add("only_a", message, None, removed=lines)

    def report_undecided(self, side: int, message: BatchMessage) -> None:
        """Report a message that was not compared, because its blank nodes need too much work."""
        self._add("undecided", *((None, message) if side else (message, None)))

    def _add(
        self, kind: Kind, one: BatchMessage | None, other: BatchMessage | None, **rest: Any
    ) -> None:
        difference = MessageDiff(
            kind,
            None if one is None else one.message_index,
            None if other is None else other.message_index,
            None if one is None else one.source,
            None if other is None else other.source,
            **rest,
        )
        self._report(difference)

    def features(self, message: BatchMessage) -> set[str]:
        """Return the lines of a message for comparison, with one label for all blank nodes."""
        batch = message.batch
        if isinstance(batch, MessageBatch):
            return {str(relabel(quad, _SingleLabel())) for quad in batch.quads(message.number)}
        return set(self._iter_lines(message))

    def _differing_lines(
        self, one: BatchMessage, other: BatchMessage
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        if isinstance(one.batch, MessageBatch) and isinstance(other.batch, MessageBatch):
            ours = _label_canonically(one.batch.quads(one.number))
            theirs = _copy_labels(ours, other.batch.quads(other.number))
            if not self._ordered:
                remaining_ours, right = set(ours), set(theirs)
                return _sort_quads(remaining_ours - right), _sort_quads(right - remaining_ours)
            return _line_diff([str(quad) for quad in ours], [str(quad) for quad in theirs])
        return _line_diff(list(self._iter_lines(one)), list(self._iter_lines(other)))

    def _iter_lines(self, message: BatchMessage) -> Iterator[str]:
        batch = message.batch
        if isinstance(batch, MessageBatch):
            quads = _label_canonically(batch.quads(message.number))
            yield from map(str, quads) if self._ordered else _sort_quads(set(quads))
        elif isinstance(batch, PatchBatch):
            for operation in batch.operations(message.number):
                yield _operation_line(*operation)
        else:
            (row,) = batch.slice(message.number, message.number + 1).rows()
            cells = zip(batch.variables, row, strict=True)
            bound = {name: term for name, term in cells if term is not None}
            yield " ".join(f"?{name}={bound[name]}" for name in self.variables if name in bound)


def _decode_metadata(message: BatchMessage) -> dict[str, bytes]:
    return message.batch.metadata(message.number) if isinstance(message.batch, MessageBatch) else {}


def _sort_quads(quads: Iterable[Quad]) -> tuple[str, ...]:
    return tuple(sorted(map(str, quads)))


def _operation_line(op: str, name: str | None, *terms: Any) -> str:
    """Return an operation as a line of RDF Patch."""
    if op in ("PA", "PD", "H") and name is not None:
        name = f'"{name}:"' if op != "H" else name
    return " ".join(str(part) for part in (op, name, *terms, ".") if part is not None)


def _line_diff(ours: list[str], theirs: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the lines that are only in the first list, and those only in the second, in order."""
    hashes = [
        b"".join(
            blake2b(line.encode("utf-8", "surrogatepass"), digest_size=16).digest()
            for line in lines
        )
        for lines in (ours, theirs)
    ]
    shared: tuple[set[int], set[int]] = (set(), set())
    for a, b, length in common_blocks(*hashes):
        shared[0].update(range(a, a + length))
        shared[1].update(range(b, b + length))
    removed, added = (
        tuple(line for index, line in enumerate(lines) if index not in known)
        for lines, known in zip((ours, theirs), shared, strict=True)
    )
    return removed, added


class _SingleLabel(dict[BlankNode, BlankNode]):
    """Maps every blank node to the same one."""

    def __missing__(self, node: BlankNode) -> BlankNode:
        return _ANY


def _label_canonically(quads: list[Quad]) -> list[Quad]:
    """Return quads with canonical labels.

    They are returned unchanged if RDFC-1.0 does not support them or needs too much work.
    """
    if not any(True for quad in quads for _ in iter_nodes(quad)):
        return quads
    try:
        labels = canonical_labels(quads, max_steps=MAX_STEPS)
    except (EncodeError, LimitError):
        return quads
    names = {BlankNode(label): BlankNode(name) for label, name in labels.items()}
    return [relabel(quad, names) for quad in quads]


def _copy_labels(ours: list[Quad], theirs: list[Quad]) -> list[Quad]:
    """Return the quads of the second message, with the labels of matching nodes of the first."""
    our_nodes = {node for quad in ours for node in iter_nodes(quad)}
    if not any(True for quad in theirs for _ in iter_nodes(quad)):
        return theirs
    try:
        theirs = align(ours, theirs, max_steps=MAX_STEPS)
    except LimitError:
        return theirs
    their_nodes = {node for quad in theirs for node in iter_nodes(quad)}
    only_ours, only_theirs = our_nodes - their_nodes, their_nodes - our_nodes
    if not only_ours or not only_theirs or max(len(only_ours), len(only_theirs)) > MAX_PAIRED:
        return theirs
    names = _pair_nodes(ours, theirs, only_ours, only_theirs)
    return [
        relabel(quad, {node: names.get(node, node) for node in iter_nodes(quad)}) for quad in theirs
    ]


def _pair_nodes(
    ours: list[Quad], theirs: list[Quad], only_ours: set[BlankNode], only_theirs: set[BlankNode]
) -> dict[BlankNode, BlankNode]:
    """Pair the blank nodes of both messages, starting with those that share the most quads."""
    names: dict[BlankNode, BlankNode] = {}
    while True:
        left = {node for node in only_ours if node not in names.values()}
        right = {node for node in only_theirs if node not in names}
        features = [
            {node: _count_node_features(quads, node, unpaired, known) for node in sorted(nodes)}
            for quads, nodes, unpaired, known in (
                (ours, left, left, {}),
                (theirs, right, right, names),
            )
        ]
        shared = [
            (((one[0] & other[0]).total(), (one[1] & other[1]).total()), a, b)
            for a, one in features[0].items()
            for b, other in features[1].items()
        ]
        no_pair = ((0, 0), _ANY, _ANY)
        score, node, other = max(shared, default=no_pair, key=lambda candidate: candidate[0])
        if not any(score):
            return names
        names[other] = node


def _count_node_features(
    quads: list[Quad], node: BlankNode, unpaired: set[BlankNode], names: dict[BlankNode, BlankNode]
) -> tuple[Counter[Quad], Counter[tuple[Any, ...]]]:
    """Count the quads of a blank node, for comparison with other nodes.

    The first counter treats all other unpaired nodes as equal. The second one counts the quads by
    predicate, and by whether the node is the subject, the object, or both.
    """
    counts: Counter[Quad] = Counter()
    for quad in quads:
        nodes = list(iter_nodes(quad))
        if node in nodes:
            view = {
                other: _OWN
                if other == node
                else _ANY
                if other in unpaired
                else names.get(other, other)
                for other in nodes
            }
            counts[relabel(quad, view)] += 1
    by_position: Counter[tuple[Any, ...]] = Counter()
    for quad, count in counts.items():
        by_position[(quad.subject == _OWN, quad.predicate, quad.object == _OWN)] += count
    return counts, by_position
