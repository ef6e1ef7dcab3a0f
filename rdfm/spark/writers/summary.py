"""The summary of a batch write, for the program that started it.

In: the commit messages of the tasks. Out: counts and notes. Spark runs the commit in another
process, which stores the summary in the written folder; `rdfm.spark.write` reads and removes it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

__all__ = ["REPORT", "WriteSummary"]

# Option that contains the name of the stored summary. `rdfm.spark.write` sets it.
REPORT = "rdfm_report"


class WriteSummary(NamedTuple):
    """Counts and notes of a batch write.

    Attributes:
        messages: Number of messages.
        files: Number of part files.
        dropped: Numbers of items dropped because the format does not support them, by name.
        notes: Notes for readers of the logs.
    """

    messages: int = 0
    files: int = 0
    dropped: Mapping[str, int] = {}
    notes: tuple[str, ...] = ()

    @classmethod
    def from_tasks(cls, tasks: Iterable[object]) -> WriteSummary:
        """Add up the counts in the commit messages of tasks; other messages are ignored."""
        from rdfm.spark.writers.writer import TaskParts

        task_parts = [task for task in tasks if isinstance(task, TaskParts)]
        dropped: Counter[str] = Counter()
        notes: dict[str, None] = {}
        for task in task_parts:
            dropped.update(task.dropped)
            notes |= dict.fromkeys(task.notes)
        messages = sum(task.messages for task in task_parts)
        files = sum(len(task.parts) for task in task_parts)
        return cls(messages, files, dict(dropped), tuple(notes))

    def pack(self) -> bytes:
        """Return the summary as JSON."""
        return json.dumps(self._asdict()).encode()

    @classmethod
    def unpack(cls, data: bytes) -> WriteSummary:
        """Read a summary that `pack` returned."""
        content = json.loads(data)
        return cls(**{**content, "notes": tuple(content["notes"])})
