"""Summary of a change to a dataset or a log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Changes", "sum_dropped"]


@dataclass(frozen=True)
class Changes:
    """Counts and notes for a change to a dataset or a log.

    Attributes:
        messages: Number of messages or patches written.
        quads: Number of quads in the written dataset; for `diff`, number of quads that differ.
        added: Number of quads added.
        deleted: Number of quads deleted.
        without_effect: Number of adds of existing quads, and of deletes of missing ones.
        committed: Number of transactions committed.
        undone: Number of transactions that were aborted, or not ended by their patch.
        dropped: Number of items dropped because the target format cannot represent them, by name.
        seconds: Elapsed time in seconds.
        notes: Notes for readers of the logs, one sentence each.
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


def sum_dropped(*counts: Mapping[str, int]) -> dict[str, int]:
    """Add up counts of dropped data by name, without names whose count is 0."""
    totals: dict[str, int] = {}
    for mapping in counts:
        for name, count in mapping.items():
            if count:
                totals[name] = totals.get(name, 0) + count
    return totals
