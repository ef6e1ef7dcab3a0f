"""Whether two datasets are the same up to blank node labels.

In: two sets of quads, generalized ones and triple terms included. Out: yes or no, exactly.
Cost: near linear for real data; work is counted and bounded, since the problem has no fast answer
for data made of nothing but symmetric blank nodes. The search is the core's.
"""

from __future__ import annotations

from collections.abc import Iterable

from rdfm import _core
from rdfm._core import Bnode, MessageBatch, Quad

__all__ = ["MAX_STEPS", "isomorphic", "mapping"]

MAX_STEPS = 20_000_000


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
    return _pairs(a, b, max_steps) is not None


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
    pairs = _pairs(a, b, max_steps)
    return None if pairs is None else {Bnode(one): Bnode(other) for one, other in pairs}


def _pairs(a: Iterable[Quad], b: Iterable[Quad], max_steps: int) -> list[tuple[str, str]] | None:
    one, other = (MessageBatch.from_messages([quads]) for quads in (a, b))
    return _core.isomorphism(one, other, max_steps=max_steps)
