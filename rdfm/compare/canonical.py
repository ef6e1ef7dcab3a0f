"""Canonical datasets: N-Quads, hashes and blank node labels of RDFC-1.0 with SHA-256.

In: quads. Out: text, hashes or labels, equal for datasets that are equal up to blank node labels.
Cost: near linear if the quads of each blank node identify it, exponential in the worst case. The
work is therefore limited, and Ctrl-C stops it. The algorithm is implemented in the core.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rdfm import _core
from rdfm._core import MAX_CANONICAL_STEPS, MessageBatch
from rdfm.errors import EncodeError, LimitError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rdfm._core import Quad

__all__ = ["MAX_STEPS", "canonical", "canonical_hash", "canonical_labels"]

MAX_STEPS = MAX_CANONICAL_STEPS


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
    with _locate(message_index):
        return _core.canonical_text(_batch(quads), 0, max_steps=max_steps)


def canonical_hash(
    quads: Iterable[Quad], *, max_steps: int = MAX_STEPS, message_index: int | None = None
) -> str:
    """Return the SHA-256 hash of the text that `canonical` returns, as 64 hexadecimal digits.

    Args:
        quads: The dataset; order and repetitions are ignored.
        max_steps: Maximum number of visited quads.
        message_index: Index of the message in its log, for errors.

    Raises:
        EncodeError, LimitError: As in `canonical`.
    """
    with _locate(message_index):
        hashes, error = _core.canonical_hashes(_batch(quads), max_steps=max_steps)
        if error is not None:
            raise error
    return hashes.hex()


def canonical_labels(quads: Iterable[Quad], *, max_steps: int = MAX_STEPS) -> dict[str, str]:
    """Return the canonical label for each blank node label of a dataset.

    Args:
        quads: The dataset; order and repetitions are ignored.
        max_steps: Maximum number of visited quads.

    Raises:
        EncodeError, LimitError: As in `canonical`.
    """
    with _locate(None):
        return dict(_core.canonical_labels(_batch(quads), 0, max_steps=max_steps))


def _batch(quads: Iterable[Quad]) -> MessageBatch:
    return MessageBatch.from_messages([quads])


@contextmanager
def _locate(message_index: int | None) -> Iterator[None]:
    """Set the index of the message in errors."""
    try:
        yield
    except (EncodeError, LimitError) as error:
        error.message_index = message_index
        raise
