"""What was done to a dataset, or to a log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Changes", "all_dropped"]


@dataclass(frozen=True)
class Changes:
    """What was done.

    Attributes:
        messages: Messages or patches written.
        quads: Quads of the dataset that was written; of `diff` those that differ.
        added: Quads that were added.
        deleted: Quads that were deleted.
        without_effect: Adds of what was there, and deletes of what was not.
        committed: Transactions that were committed.
        undone: Transactions that were aborted, or that their patch did not end.
        dropped: What could not be held and was left out, by name and count.
        seconds: Time taken.
        notes: What readers of the logs should know, a sentence each.
    """

    messages: int = 0
    quads: int = 0
    added: int = 0
    deleted: int = 0
    without_effect: int = 0
    committed: int = 0
    undone: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    notes: tuple[str, ...] = ()


def all_dropped(*counts: Mapping[str, int]) -> dict[str, int]:
    """Give what was left out, by name and count, without what was not."""
    together: dict[str, int] = {}
    for each in counts:
        for name, count in each.items():
            if count:
                together[name] = together.get(name, 0) + count
    return together
