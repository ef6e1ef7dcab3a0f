"""A part of a large log of lines, for readers on several cores or machines.

`open_log(path, split=split)` reads the messages of one, wherever it runs; `rdfm.split.plan` makes them.
Law: a message belongs to the split in which the line of the delimiter before it begins.
"""

from __future__ import annotations

from dataclasses import dataclass

from rdfm.errors import OptionError
from rdfm.formats import FormatSpec, Opening

__all__ = ["Split"]


@dataclass(frozen=True)
class Split:
    """A part of a log. Made by `plan`; can be pickled.

    Attributes:
        start: Its first byte.
        stop: The byte after its last one; None for the end of the log.
        first_index: The index of its first message in the log; None where messages were not counted.
            Then messages are numbered from 0 in each split, and errors name none.
        format: The log's format, such as "nq".
        dialect: The log's dialect, as its head shows it; None where the split is the whole log.
    """

    start: int = 0
    stop: int | None = None
    first_index: int | None = None
    format: str | None = None
    dialect: str | None = None

    @property
    def whole(self) -> bool:
        """Whether it is all of a log."""
        return self.start == 0 and self.stop is None

    def opening(self, format: FormatSpec) -> Opening:
        """Give how a decoder of the split is opened.

        Raises:
            OptionError: Logs of the format have no splits.
        """
        if not format.splittable:
            raise OptionError(f"{format.name} logs have no splits; read the log whole")
        part = (self.start, self.stop, self.dialect or "comment")
        return Opening(split=part, first_index=self.first_index)
