"""Relabels the blank nodes of a dataset with the labels of matching nodes in another one.

In: two datasets. Out: the second one, in which blank nodes that match nodes of the first have the
same labels.
Cost: mostly the comparison of similar parts. The work is limited.
Method: quads that are connected by blank nodes form a part. A part that both datasets contain, up
to labels, gets the labels from the first. Other parts get labels that the first does not use.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping

from rdfm._core import BlankNode, Quad, Term, TripleTerm
from rdfm.compare.isomorphism import MAX_STEPS, find_mapping

__all__ = ["align", "iter_nodes", "relabel"]

_ANY = BlankNode("x")


def align(old: Iterable[Quad], new: Iterable[Quad], *, max_steps: int = MAX_STEPS) -> list[Quad]:
    """Return the quads of a dataset in order, with the blank node labels of a similar dataset.

    Blank nodes that match no node of the other dataset get labels that the other dataset does not
    use.

    Args:
        old: The dataset from which labels are taken.
        new: The dataset to relabel.
        max_steps: Maximum number of visited quads in each comparison.

    Raises:
        LimitError: If a comparison needs more than `max_steps`.

    Example:
        >>> from rdfm import Iri
        >>> p = Iri("http://example.org/p")
        >>> old = [Quad(BlankNode("a"), p, BlankNode("b"))]
        >>> new = [Quad(BlankNode("b"), p, BlankNode("c")), Quad(BlankNode("a"), p, BlankNode("a"))]
        >>> print(*align(old, new))
        _:a <http://example.org/p> _:b . _:a_1 <http://example.org/p> _:a_1 .
    """
    quads = list(new)
    by_key: dict[Hashable, list[list[Quad]]] = defaultdict(list)
    for part in _split_parts(quads):
        by_key[_key(part)].append(part)
    names: dict[BlankNode, BlankNode] = {}
    used_labels: set[str] = set()
    for part in _split_parts(old):
        used_labels.update(node.value for quad in part for node in iter_nodes(quad))
        candidates = by_key[_key(part)]
        for index, candidate in enumerate(candidates):
            new_names = find_mapping(candidate, part, max_steps=max_steps)
            if new_names is not None:
                names |= new_names
                del candidates[index]
                break
    for quad in quads:
        for node in iter_nodes(quad):
            if node not in names:
                names[node] = BlankNode(_unused_label(node.value, used_labels))
    return [relabel(quad, names) for quad in quads]


def _split_parts(quads: Iterable[Quad]) -> list[list[Quad]]:
    """Return the quads with blank nodes, without repetitions, grouped into connected parts."""
    parent: dict[BlankNode, BlankNode] = {}

    def root(node: BlankNode) -> BlankNode:
        root_node = node
        while (next_node := parent.setdefault(root_node, root_node)) != root_node:
            root_node = next_node
        while node != root_node:  # path compression
            parent[node], node = root_node, parent[node]
        return root_node

    quads_by_node = []
    for quad in dict.fromkeys(quads):
        nodes = list(iter_nodes(quad))
        if nodes:
            quads_by_node.append((nodes[0], quad))
            for other in nodes[1:]:
                parent[root(other)] = root(nodes[0])
    parts: dict[BlankNode, list[Quad]] = defaultdict(list)
    for node, quad in quads_by_node:
        parts[root(node)].append(quad)
    return list(parts.values())


def _key(part: list[Quad]) -> Hashable:
    """Return a key that is equal for isomorphic parts: the quads without their labels."""
    names: dict[BlankNode, BlankNode] = defaultdict(lambda: _ANY)
    return frozenset(Counter(relabel(quad, names) for quad in part).items())


def iter_nodes(quad: Quad) -> Iterator[BlankNode]:
    """Yield the blank nodes of a quad in order.

    Triple terms can be nested deeply, so recursion is not used.
    """
    pending: list[Term | None] = [quad.graph, quad.object, quad.predicate, quad.subject]
    while pending:
        term = pending.pop()
        if isinstance(term, BlankNode):
            yield term
        elif isinstance(term, TripleTerm):
            pending += (term.object, term.predicate, term.subject)


def relabel(quad: Quad, names: Mapping[BlankNode, BlankNode]) -> Quad:
    """Return a quad with its blank nodes relabelled."""

    def term(node: Term) -> Term:
        if isinstance(node, BlankNode):
            return names[node]
        if isinstance(node, TripleTerm):
            return TripleTerm(term(node.subject), term(node.predicate), term(node.object))
        return node

    graph = None if quad.graph is None else term(quad.graph)
    return Quad(term(quad.subject), term(quad.predicate), term(quad.object), graph)


def _unused_label(label: str, used_labels: set[str]) -> str:
    """Return the label, with a number appended if it is used, and mark the result as used."""
    free, number = label, 0
    while free in used_labels:
        number += 1
        free = f"{label}_{number}"
    used_labels.add(free)
    return free
