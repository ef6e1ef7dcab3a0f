"""A part of a large log, for readers on several cores or machines.

`rdfm.plan_splits` creates the splits, and `open_log(path, split=split)` reads the messages of one,
on any machine.
Law: a message belongs to the split that contains the start of the delimiter line before it. In
Jelly it belongs to the split that contains the start of the last restart frame at or before it. A
line of a plain log belongs to the split that contains its start.
"""

from __future__ import annotations

from dataclasses import dataclass

from rdfm.errors import OptionError
from rdfm.formats import FormatSpec, Opening

__all__ = ["Split"]


@dataclass(frozen=True)
class Split:
    """A part of a log. Created by `plan_splits`; can be pickled.

    Attributes:
        start: Offset of its first byte.
        stop: Offset after its last byte; None for the end of the log.
        first_message_index: The index of its first message in the log; None if messages were not
            counted.
            In that case, messages are numbered from 0 in each split, and errors have no message
            index.
        format: The log's format, such as "nq".
        dialect: The dialect of a text log, from its head; None if the split is the entire log. With
            "plain", the split contains lines of the log's only message.
    """

    start: int = 0
    stop: int | None = None
    first_message_index: int | None = None
    format: str | None = None
    dialect: str | None = None

    @property
    def whole(self) -> bool:
        """Whether the split is the entire log."""
        return self.start == 0 and self.stop is None

    @property
    def has_lines(self) -> bool:
        """Whether the split contains lines of the log's only message."""
        return self.dialect == "plain"

    def opening(self, format: FormatSpec) -> Opening:
        """Return the settings for a decoder of the split.

        Raises:
            OptionError: If logs of the format cannot be split.
        """
        if not format.splittable:
            raise OptionError(f"{format.name} logs cannot be split; read all of the log")
        part = (self.start, self.stop, self.dialect)
        return Opening(split=part, first_message_index=self.first_message_index)
