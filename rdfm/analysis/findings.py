"""What `validate` finds, and the rules by which it does.

Law: names of rules are promises; what is an error and what a warning is said here alone.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple

from rdfm.errors import DecodeError, RdfmError, Renderer, recommendations

__all__ = ["RULES", "Finding", "Rule"]


class Rule(NamedTuple):
    """A rule.

    Attributes:
        severity: "error" or "warning"; of `shacl` the shape says which, and a broken `chain` between logs is a warning.
        text: What breaks it, in a sentence.
    """

    severity: Literal["error", "warning"]
    text: str


RULES: dict[str, Rule] = {
    "syntax": Rule("error", "The data breaks its format."),
    "truncated": Rule("error", "The input ends inside a message."),
    "limit": Rule("error", "A message, or what it needs, is larger than a limit."),
    "unsupported": Rule("error", "The data is valid, but rdfm does not read it, or not unasked."),
    "unreadable": Rule("error", "A file cannot be read."),
    "unknown-format": Rule("error", "Neither the name of a file nor its content shows its format."),
    "stream-options": Rule(
        "error", "A Jelly log asks for more than the given stream options allow."
    ),
    "shacl": Rule(
        "error", "A message does not conform to the shapes, which may also call that a warning."
    ),
    "transaction": Rule(
        "error",
        "A patch commits or aborts a transaction that did not begin, or begins one in another.",
    ),
    "chain": Rule(
        "error",
        "The prev of a patch is not the id of the patch before; of the first patch of a log, a warning.",
    ),
    "unfinished-transaction": Rule(
        "warning", "A patch does not end a transaction, which is undone when the patch is applied."
    ),
    "no-logs": Rule("warning", "A folder or an archive holds no log."),
    "joined": Rule("warning", "Jelly logs may have been joined into one message."),
    "look-alike": Rule("warning", "A comment looks like a delimiter of messages and is none."),
    "key-without-iri": Rule(
        "warning", "Keys of JSON-LD that no context maps to an IRI are dropped."
    ),
    "relative-iri": Rule(
        "warning", "An IRI has no scheme, so that what it names depends on where it is read."
    ),
    "ill-typed-literal": Rule("warning", "A literal is no lexical form of its datatype."),
    "language-tag": Rule("warning", "A language tag is not well-formed by BCP 47."),
    "shared-blank-node": Rule(
        "warning", "Messages use the same label, and mean different blank nodes."
    ),
    "redeclared-namespace": Rule(
        "warning", "A prefix is declared with another IRI than before in the log."
    ),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong with an input, or legal and suspicious.

    Attributes:
        source: The file, URL or member of an archive.
        severity: "error" or "warning".
        rule: The name of the rule, such as "syntax"; see `RULES`.
        text: What was found and what was expected.
        message: Index of the message in its log, from 0: the patch, the row of results. None where it is not of one.
        offset: The byte of the decompressed log, from 0, as near as it is known: of the error or the term, else of
            the message.
        line: The line of that, from 1, in text.
        column: The character in the line, from 1.
        frame: The frame of a binary log, from 0, where an error is in one.
        row: The row in the frame, from 0.
        follows: Whether it may only follow from a message that was skipped.
        focus: Of `shacl`: the node that does not conform, as the others in Turtle's terms.
        path: Of `shacl`: the property path.
        value: Of `shacl`: the value.
        shape: Of `shacl`: the shape, where it has a name.
        kind: The kind of the log: "messages", "patches" or "results".
        error: The exception that it stands for, if there is one.
    """

    source: str
    severity: Literal["error", "warning"]
    rule: str
    text: str
    message: int | None = None
    offset: int | None = None
    line: int | None = None
    column: int | None = None
    frame: int | None = None
    row: int | None = None
    follows: bool = False
    focus: str | None = None
    path: str | None = None
    value: str | None = None
    shape: str | None = None
    kind: str = "messages"
    error: RdfmError | None = field(default=None, repr=False, compare=False)

    def render(self, renderer: Renderer | None = None) -> str:
        """Return the text with the options that help, as one surface spells them; Python's by default."""
        if self.error is None:
            return self.text
        return reason(self.source, self.error) + recommendations(self.error.remedies, renderer)

    def to_dict(self) -> dict[str, Any]:
        """Give it as what JSON can hold."""
        told = asdict(self)
        del told["error"]
        return told


def reason(source: str, error: RdfmError) -> str:
    """Return what an error says, without its position and remedies."""
    text = error.reason if isinstance(error, DecodeError) else str(error.args[0])
    return text.removeprefix(source).removeprefix(":").lstrip()
