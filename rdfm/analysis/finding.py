"""Findings in logs: errors, and data that is legal but suspicious.

Law: rule names are stable.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple

from rdfm.errors import DecodeError, RdfmError, Renderer, recommendations, spell_options

__all__ = ["READING_RULES", "Finding", "Rule", "reason"]


class Rule(NamedTuple):
    """A rule that an input can violate.

    Attributes:
        severity: "error" or "warning", unless a finding overrides it.
        text: A sentence that describes a violation.
    """

    severity: Literal["error", "warning"]
    text: str


# Rules for problems found while reading a log, common to all checks.
READING_RULES: dict[str, Rule] = {
    "syntax": Rule("error", "The data violates its format."),
    "truncated": Rule("error", "The input ends inside a message."),
    "limit": Rule("error", "A message, or the memory that it needs, exceeds a limit."),
    "unsupported": Rule(
        "error", "The data is valid, but rdfm does not support it, or requires an option for it."
    ),
    "unreadable": Rule("error", "A file cannot be read."),
    "unknown-format": Rule("error", "Neither the name nor the content of a file shows its format."),
    "no-logs": Rule("warning", "A folder or an archive contains no logs."),
    "uncommitted": Rule("warning", "The end of a log is not read, because no run committed it."),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """An error in an input, or data that is legal but suspicious.

    Attributes:
        source: The file, URL or member of an archive.
        severity: "error" or "warning".
        rule: Name of the rule, such as "syntax"; see `RULES`.
        text: The data found, and what was expected.
        message_index: Index of the message, patch or row in its log, from 0, or `None` if the
            finding is not about a message.
        byte_offset: The offset of the error or the term, if known, otherwise of the message. It
            counts bytes of the decompressed log, from 0.
        line: The line of that byte, from 1, in a text log.
        column: The character in the line, from 1.
        frame: For an error in a binary log, the index of the frame, from 0.
        row: The row in the frame, from 0.
        follows: Whether the error may be a consequence of a skipped message.
        focus: For `shacl`, the node that does not conform. `focus`, `path` and `value` are in
            Turtle.
        path: For `shacl`, the property path.
        value: For `shacl`, the value.
        shape: For `shacl`, the IRI of the shape, or of the shape that contains it, if one of them
            has an IRI.
        constraint: For `shacl`, the IRI of the constraint component.
        kind: The kind of the log: "messages", "patches" or "results".
        error: The reported exception, if there is one.
    """

    source: str
    severity: Literal["error", "warning"]
    rule: str
    text: str
    message_index: int | None = None
    byte_offset: int | None = None
    line: int | None = None
    column: int | None = None
    frame: int | None = None
    row: int | None = None
    follows: bool = False
    focus: str | None = None
    path: str | None = None
    value: str | None = None
    shape: str | None = None
    constraint: str | None = None
    kind: str = "messages"
    error: RdfmError | None = field(default=None, repr=False, compare=False)

    def render(self, renderer: Renderer | None = None) -> str:
        """Return the text and its remedies, spelled for one interface (Python by default)."""
        if self.error is None:
            return self.text
        return reason(self.source, self.error) + recommendations(self.error.remedies, renderer)

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as a dictionary that can be serialized as JSON."""
        values = asdict(self)
        del values["error"]
        return values


def reason(source: str, error: RdfmError) -> str:
    """Return the text of an error without its source, position and remedies."""
    text = error.reason if isinstance(error, DecodeError) else str(error.args[0])
    return spell_options(text).removeprefix(source).removeprefix(":").lstrip()
