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
from rdfm.storage.members import MemberPosition

__all__ = ["Split"]


@dataclass(frozen=True)
class Split:
    """A part of a log. Created by `plan_splits`; can be pickled.

    Attributes:
        start: Offset of its first byte, decompressed.
        stop: Offset after its last byte, decompressed; None for the end of the log.
        first_message_index: The index of its first message in the log; None if messages were not
            counted.
            In that case, messages are numbered from 0 in each split, and errors have no message
            index.
        format: The log's format, such as "nq".
        dialect: The dialect of a text log, from its head; None if the split is the entire log. With
            "plain", the split contains lines of the log's only message.
        compression: The log's compression, or None.
        first_member: Position of the first member to decompress, if the log is compressed. Its
            data begins with the byte before `start`, or at 0.
        next_member: Position of the first member of the next split, if there is one.
    """

    start: int = 0
    stop: int | None = None
    first_message_index: int | None = None
    format: str | None = None
    dialect: str | None = None
    compression: str | None = None
    first_member: MemberPosition | None = None
    next_member: MemberPosition | None = None

    @property
    def whole(self) -> bool:
        """Whether the split is the entire log."""
        return self.start == 0 and self.stop is None

    @property
    def has_lines(self) -> bool:
        """Whether the split contains lines of the log's only message."""
        return self.dialect == "plain"

    @property
    def file_offset(self) -> int:
        """Offset in the file of the first byte to read, which is the one before `start`."""
        return (
            max(self.start - 1, 0) if self.first_member is None else self.first_member.file_offset
        )

    def opening(self, format: FormatSpec) -> Opening:
        """Return the settings for a decoder of the split.

        Raises:
            OptionError: If logs of the format cannot be split.
        """
        if not format.splittable:
            raise OptionError(f"{format.name} logs cannot be split; read all of the log")
        part = (self.start, self.stop, self.dialect)
        return Opening(split=part, first_message_index=self.first_message_index)
