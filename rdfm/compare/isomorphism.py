"""Compares two datasets up to blank node labels.

In: two sets of quads, which may be generalized or contain triple terms. Out: an exact answer.
Cost: near linear for real data. The work is limited, since no fast algorithm is known for data with
many symmetric blank nodes. The search is implemented in the core.
"""

from __future__ import annotations

from collections.abc import Iterable

from rdfm import _core
from rdfm._core import BlankNode, MessageBatch, Quad

__all__ = ["MAX_STEPS", "find_mapping", "isomorphic"]

MAX_STEPS = 20_000_000


def isomorphic(a: Iterable[Quad], b: Iterable[Quad], *, max_steps: int = MAX_STEPS) -> bool:
    """Return whether two datasets are equal up to blank node labels.

    Order and repetitions are ignored. Literals are equal if their text is equal, including the case
    of language tags.

    Args:
        a: The quads of one dataset.
        b: The quads of the other.
        max_steps: Maximum number of visited quads.

    Raises:
        LimitError: If the comparison needs more than `max_steps`.
    """
    return _pairs(a, b, max_steps) is not None


def find_mapping(
    a: Iterable[Quad], b: Iterable[Quad], *, max_steps: int = MAX_STEPS
) -> dict[BlankNode, BlankNode] | None:
    """Return a mapping from the blank nodes of `a` to those of `b`, or None if the datasets differ.

    Args:
        a: The quads of one dataset.
        b: The quads of the other.
        max_steps: Maximum number of visited quads.

    Raises:
        LimitError: If the comparison needs more than `max_steps`.
    """
    pairs = _pairs(a, b, max_steps)
    return None if pairs is None else {BlankNode(one): BlankNode(other) for one, other in pairs}


def _pairs(a: Iterable[Quad], b: Iterable[Quad], max_steps: int) -> list[tuple[str, str]] | None:
    one, other = (MessageBatch.from_messages([quads]) for quads in (a, b))
    return _core.isomorphism(one, other, max_steps=max_steps)
