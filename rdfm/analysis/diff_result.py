"""The results of `diff`: single differences, and the counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from rdfm.errors import Remedy
from rdfm.logs.notebook import MAX_ROWS, html_fields, html_rows, summary_line

__all__ = ["Kind", "LogDiff", "MessageDiff"]

Kind = Literal["changed", "only_a", "only_b", "undecided"]


@dataclass(frozen=True)
class MessageDiff:
    """A message that only one log contains, or a pair of messages that differ.

    Attributes:
        kind: "changed" for a pair at the same point of both logs, or "only_a" or "only_b" for a
            message of one log. "undecided" means that the blank nodes of a pair (with `unordered`,
            of a message) need more work than `max_steps` and `max_total_steps` allow.
        message_index_a: Index of the message in the first log, from 0, counted across all logs of
            the input. `None` if only the second log has the message.
        message_index_b: Index of the message in the second log, counted in the same way.
        source_a: File of the first message.
        source_b: File of the second message.
        removed: Content that only the first message has: quads as lines of canonical N-Quads,
            operations as lines of RDF Patch, or a row as `?name=term` for each bound variable.
        added: Content that only the second message has. A blank node that is in both messages has
            the same label here and in `removed`.
        metadata: Keys whose values differ, with the first and the second value. A missing value is
            `None`.
        namespaces: Prefixes whose IRIs differ from this message on, with the first and the second
            IRI. A missing IRI is `None`.
    """

    kind: Kind
    message_index_a: int | None
    message_index_b: int | None
    source_a: str | None = None
    source_b: str | None = None
    removed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    metadata: Mapping[str, tuple[bytes | None, bytes | None]] = field(default_factory=dict)
    namespaces: Mapping[str, tuple[str | None, str | None]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary that can be serialized as JSON. Metadata values are hexadecimal."""

        def hexadecimal(value: bytes | None) -> str | None:
            return None if value is None else value.hex()

        fields: dict[str, Any] = {
            "difference": self.kind,
            "message_index_a": self.message_index_a,
            "message_index_b": self.message_index_b,
            "source_a": self.source_a,
            "source_b": self.source_b,
            "removed": list(self.removed),
            "added": list(self.added),
        }
        if self.metadata:
            fields["metadata"] = {
                key: [hexadecimal(one), hexadecimal(other)]
                for key, (one, other) in self.metadata.items()
            }
        if self.namespaces:
            fields["namespaces"] = {name: list(pair) for name, pair in self.namespaces.items()}
        return fields


@dataclass
class LogDiff:
    """The result of `diff`. Iteration yields the first differences, up to `limit`.

    Attributes:
        source_a: Name of the first log.
        source_b: Name of the second log.
        kind: The kind of the messages: "messages", "patches" or "results".
        messages_a: Number of messages of the first log.
        messages_b: Number of messages of the second log.
        equal: Number of pairs of equal messages.
        changed: Number of differing pairs at the same point of both logs.
        only_a: Number of messages that only the first log has.
        only_b: Number of messages that only the second log has.
        undecided: Number of pairs whose blank nodes need more work than `max_steps` and
            `max_total_steps` allow. With `unordered`, the number of such messages.
        records: Number of quads in equal messages; for patches, operations; for results, rows. With
            `unordered`, they are counted only if all messages are equal.
        head: For results, the difference in the variables or the answer: a line that begins with
            `-`, and one that begins with `+`.
        differences: The first differences, up to `limit`.
        notes: Notes on data that was not compared, and other information; one sentence each.
        remedies: Options that would compare more: namespaces, or larger limits for undecided pairs.
        seconds: Elapsed time, in seconds.
    """

    source_a: str = ""
    source_b: str = ""
    kind: str = "messages"
    messages_a: int = 0
    messages_b: int = 0
    equal: int = 0
    changed: int = 0
    only_a: int = 0
    only_b: int = 0
    undecided: int = 0
    records: int = 0
    head: tuple[str, ...] = ()
    differences: list[MessageDiff] = field(default_factory=list)
    notes: tuple[str, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    seconds: float = 0.0

    @property
    def same(self) -> bool:
        """Whether the logs are the same. False if some pairs are undecided."""
        return not (self.count or self.undecided or self.head)

    @property
    def count(self) -> int:
        """Number of differences, including those beyond `limit` but excluding undecided pairs."""
        return self.changed + self.only_a + self.only_b

    def __iter__(self) -> Iterator[MessageDiff]:
        """Iterate over the first differences."""
        return iter(self.differences)

    def __len__(self) -> int:
        """Return the length of `differences`."""
        return len(self.differences)

    def __bool__(self) -> bool:
        """Return True, even if there are no differences. See `same`."""
        return True

    def __repr__(self) -> str:
        """Return a string such as `<LogDiff of a.nq and b.nq: 2 equal, 1 changed>`."""
        names = ("equal", "changed", "only_a", "only_b", "undecided")
        counts = [f"{getattr(self, name):,} {name}" for name in names if getattr(self, name)]
        if self.head:
            counts.append("other variables or answers")
        return summary_line("LogDiff", (self.source_a, self.source_b), counts or ["no messages"])

    def _repr_html_(self) -> str:
        """HTML tables for notebooks: the counts, and the first differences."""
        hidden = ("differences", "remedies")
        counts = {name: value for name, value in vars(self).items() if name not in hidden}
        tables = html_fields("LogDiff: the logs are the same" if self.same else "LogDiff", counts)
        if not self.differences:
            return tables
        rows = [
            (each.kind, each.message_index_a, each.message_index_b, each.removed, each.added)
            for each in self.differences[:MAX_ROWS]
        ]
        columns = ("difference", "message of a", "message of b", "removed", "added")
        return tables + html_rows("Differences", columns, rows, self.count + self.undecided)

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as a dictionary that can be serialized as JSON."""
        excluded = ("differences", "head", "notes", "remedies", "seconds")
        counts = {name: value for name, value in vars(self).items() if name not in excluded}
        return {"same": self.same, **counts, "head": list(self.head), "notes": list(self.notes)}
