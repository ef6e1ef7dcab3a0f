"""Canonical blank node labels: RDFC-1.0 with SHA-256.

In: quads. Out: canonical N-Quads, equal for datasets that are the same up to blank node labels.
Cost: near linear if the quads of each blank node identify it, exponential in the worst case. The
work is therefore limited, and Ctrl-C stops it. Existing libraries are not used, because they have
no limit and cannot be interrupted.
Method: https://www.w3.org/TR/rdf-canon/, section 4; names in comments refer to its steps.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Generator, Iterable
from hashlib import sha256
from itertools import permutations

from rdfm._core import BlankNode, Iri, Literal, Quad, Term, TripleTerm
from rdfm.errors import EncodeError, LimitError

__all__ = ["canonical", "canonical_labels"]

MAX_STEPS = 2_000_000

Issued = dict[str, str]  # labels and the identifiers issued for them, in order
# Yields requests for the hash and issuer of a related node, and returns the hash and issuer of its
# own node.
Walk = Generator[tuple[str, Issued], tuple[str, Issued] | None, tuple[str, Issued]]


def canonical(
    quads: Iterable[Quad], *, max_steps: int = MAX_STEPS, message_index: int | None = None
) -> str:
    """Return a dataset as canonical N-Quads: sorted lines with the labels c14n0, c14n1 and so on.

    Language tags are kept as written: `@en` and `@EN` differ, as in `isomorphic`.

    Args:
        quads: The dataset; order and repetitions are ignored.
        max_steps: Maximum number of visited quads.
        message_index: Index of the message in its log, for errors.

    Raises:
        EncodeError: If there are generalized quads or blank nodes in triple terms, which RDFC-1.0
            does not support.
        LimitError: If the labels need more than `max_steps`.
    """
    dataset = set(quads)
    issued = canonical_labels(dataset, max_steps=max_steps, message_index=message_index)
    return "".join(sorted(f"{_relabel(quad, issued.__getitem__)}\n" for quad in dataset))


def canonical_labels(
    quads: Iterable[Quad], *, max_steps: int = MAX_STEPS, message_index: int | None = None
) -> dict[str, str]:
    """Return the canonical label for each blank node label of a dataset.

    Args:
        quads: The dataset; order and repetitions are ignored.
        max_steps: Maximum number of visited quads.
        message_index: Index of the message in its log, for errors.

    Raises:
        EncodeError, LimitError: As in `canonical`.
    """
    dataset = set(quads)
    for quad in dataset:
        if (reason := _unsupported_reason(quad)) is not None:
            text = str(quad)
            text = text if len(text) <= 80 else text[:79] + "…"
            raise EncodeError(f"{reason}: {text}", format="RDFC-1.0", message_index=message_index)
    return _CanonicalizationState(dataset, max_steps).issue()


def _unsupported_reason(quad: Quad) -> str | None:
    """Return why RDFC-1.0 does not support a quad, or None if it does."""
    standard = isinstance(quad.subject, (Iri, BlankNode)) and isinstance(quad.predicate, Iri)
    if not standard or not isinstance(quad.graph, (Iri, BlankNode, type(None))):
        return "does not support generalized quads"
    pending: list[Term] = [quad.object]
    while pending:
        term = pending.pop()
        if isinstance(term, TripleTerm):
            if not isinstance(term.predicate, Iri) or isinstance(
                term.subject, (Literal, TripleTerm)
            ):
                return "does not support generalized triple terms"
            if isinstance(term.subject, BlankNode) or isinstance(term.object, BlankNode):
                return "does not support blank nodes in triple terms"
            pending.append(term.object)
    return None


class _CanonicalizationState:
    """The canonicalization state of the specification."""

    def __init__(self, dataset: set[Quad], max_steps: int) -> None:
        self._steps = self._max_steps = max_steps
        self._issued: Issued = {}
        self._quads: dict[str, list[Quad]] = defaultdict(list)
        for quad in dataset:
            for label in {term.value for term in quad if isinstance(term, BlankNode)}:
                self._quads[label].append(quad)
        self._first_degree_hashes: dict[str, str] = {}

    def issue(self) -> Issued:
        """Return the canonical identifiers of all blank nodes."""
        by_hash: dict[str, list[str]] = defaultdict(list)
        for label in self._quads:
            self._first_degree_hashes[label] = self._hash_first_degree(label)
            by_hash[self._first_degree_hashes[label]].append(label)
        groups = [by_hash[name] for name in sorted(by_hash)]
        for group in groups:
            if len(group) == 1:
                _issue(self._issued, "c14n", group[0])
        for group in groups:
            if len(group) == 1:
                continue
            results = []
            for label in group:
                if label not in self._issued:
                    issuer: Issued = {}
                    _issue(issuer, "b", label)
                    results.append(self._run(label, issuer))
            for _, issuer in sorted(results, key=lambda result: result[0]):
                for label in issuer:
                    _issue(self._issued, "c14n", label)
        return self._issued

    def _hash_first_degree(self, label: str) -> str:
        self._spend_steps(len(self._quads[label]))
        lines = sorted(
            f"{_relabel(quad, lambda other: 'a' if other == label else 'z')}\n"
            for quad in self._quads[label]
        )
        return _hash("".join(lines))

    def _run(self, label: str, issuer: Issued) -> tuple[str, Issued]:
        """Hash N-Degree Quads, with an explicit stack: the depth can reach the number of nodes."""
        stack = [self._hash_n_degree(label, issuer)]
        result: tuple[str, Issued] | None = None
        while True:
            try:
                request = stack[-1].send(result)
            except StopIteration as done:
                stack.pop()
                answer: tuple[str, Issued] = done.value
                if not stack:
                    return answer
                result = answer
            else:
                stack.append(self._hash_n_degree(*request))
                result = None

    def _hash_n_degree(self, label: str, issuer: Issued) -> Walk:
        related: dict[str, list[str]] = defaultdict(list)  # "Hn"
        for quad in self._quads[label]:
            for position, term in (("s", quad.subject), ("o", quad.object), ("g", quad.graph)):
                if isinstance(term, BlankNode) and term.value != label:
                    related[self._hash_related(term.value, quad, issuer, position)].append(
                        term.value
                    )
        data = ""  # "data to hash"
        for name in sorted(related):
            chosen = ""
            chosen_issuer = issuer
            for order in permutations(related[name]):
                # The cost of a copy is proportional to its size.
                self._spend_steps(len(order) + len(issuer) // 32)
                copy = dict(issuer)
                path = ""
                unnamed = []
                for other in order:
                    if other in self._issued:
                        path += f"_:{self._issued[other]}"
                    else:
                        if other not in copy:
                            unnamed.append(other)
                        path += f"_:{_issue(copy, 'b', other)}"
                for other in unnamed:
                    if _is_worse(path, chosen):
                        break
                    answer = yield other, copy
                    assert answer is not None
                    digest, related_issuer = answer
                    path += f"_:{_issue(copy, 'b', other)}<{digest}>"
                    copy = related_issuer
                if not chosen or (not _is_worse(path, chosen) and path < chosen):
                    chosen, chosen_issuer = path, copy
            data += name + chosen
            issuer = chosen_issuer
        return _hash(data), issuer

    def _hash_related(self, label: str, quad: Quad, issuer: Issued, position: str) -> str:
        """Hash Related Blank Node."""
        self._spend_steps(1)
        predicate = "" if position == "g" else str(quad.predicate)
        name = self._issued.get(label) or issuer.get(label)
        identifier = self._first_degree_hashes[label] if name is None else f"_:{name}"
        return _hash(f"{position}{predicate}{identifier}")

    def _spend_steps(self, steps: int) -> None:
        self._steps -= steps
        if self._steps < 0:
            raise LimitError(
                f"the canonical labels need more than {self._max_steps:,} steps; a larger max_steps allows it"
            )


def _issue(issuer: Issued, prefix: str, label: str) -> str:
    name = issuer.get(label)
    if name is None:
        name = issuer[label] = f"{prefix}{len(issuer)}"
    return name


def _is_worse(path: str, chosen: str) -> bool:
    return bool(chosen) and len(path) >= len(chosen) and path > chosen


def _relabel(quad: Quad, name: Callable[[str], str]) -> Quad:
    def term(term: Term) -> Term:
        return BlankNode(name(term.value)) if isinstance(term, BlankNode) else term

    graph = None if quad.graph is None else term(quad.graph)
    return Quad(term(quad.subject), quad.predicate, term(quad.object), graph)


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()
