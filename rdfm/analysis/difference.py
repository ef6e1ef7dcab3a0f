"""What `diff` finds: a pair of messages, or a message, at a time; and the counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from rdfm.errors import Remedy

__all__ = ["Difference", "Kind", "MessageDifference"]

Kind = Literal["changed", "only_a", "only_b", "undecided"]


@dataclass(frozen=True)
class MessageDifference:
    """A message that one log has and the other lacks, or a pair of messages that differ.

    Attributes:
        kind: "changed", a pair at the same point of both logs; "only_a", "only_b"; or "undecided", a pair whose blank
            nodes need more work than `max_steps` and `max_total_steps` allow.
        a: The message's index in the first log, from 0; of several logs, counted over all. None where it has none.
        b: That in the second log.
        source_a: The file of the first message.
        source_b: That of the second.
        removed: What only the first message has: quads as lines of canonical N-Quads, operations as lines of RDF
            Patch, a row as `?name=term` of its variables.
        added: What only the second one has. A blank node that is in both has one label.
        metadata: The keys whose values differ: the first value and the second, None where there is none.
        namespaces: The names whose IRIs differ from this message on, in the same way.
    """

    kind: Kind
    a: int | None
    b: int | None
    source_a: str | None = None
    source_b: str | None = None
    removed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    metadata: Mapping[str, tuple[bytes | None, bytes | None]] = field(default_factory=dict)
    namespaces: Mapping[str, tuple[str | None, str | None]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Give it as what JSON can hold; bytes of metadata as hexadecimal digits."""

        def shown(value: bytes | None) -> str | None:
            return None if value is None else value.hex()

        found: dict[str, Any] = {
            "difference": self.kind,
            "a": self.a,
            "b": self.b,
            "source_a": self.source_a,
            "source_b": self.source_b,
            "removed": list(self.removed),
            "added": list(self.added),
        }
        if self.metadata:
            found["metadata"] = {
                key: [shown(one), shown(other)] for key, (one, other) in self.metadata.items()
            }
        if self.namespaces:
            found["namespaces"] = {name: list(pair) for name, pair in self.namespaces.items()}
        return found


@dataclass
class Difference:
    """What `diff` found. Iterating gives the differences that are held, up to its `limit`.

    Attributes:
        source_a: The name of the first log.
        source_b: That of the second.
        kind: What the messages are: "messages", "patches" or "results".
        messages_a: Number of messages of the first log.
        messages_b: Number of messages of the second.
        equal: Pairs of messages that are the same.
        changed: Pairs at the same point of both logs that differ.
        only_a: Messages that only the first log has.
        only_b: Messages that only the second log has.
        undecided: Pairs whose blank nodes need more work than `max_steps` and `max_total_steps` allow; with `unordered`
            messages.
        records: Quads of the messages that are the same; of patches operations, of results rows. With `unordered` they are
            counted where all messages are the same.
        head: Of results, what differs in the variables or the answer: a line beginning with - and one with +.
        differences: The first of them.
        notes: What was not compared.
        remedies: Options that compare it: namespaces, or larger limits for undecided pairs.
        seconds: How long it took.
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
    differences: list[MessageDifference] = field(default_factory=list)
    notes: tuple[str, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    seconds: float = 0.0

    @property
    def same(self) -> bool:
        """Whether the logs are the same; False where that is not known."""
        return not (self.count or self.undecided or self.head)

    @property
    def count(self) -> int:
        """The number of differences, shown or not; what is undecided is none."""
        return self.changed + self.only_a + self.only_b

    def __iter__(self) -> Iterator[MessageDifference]:
        """The first differences."""
        return iter(self.differences)

    def __len__(self) -> int:
        """The number of differences that are held."""
        return len(self.differences)

    def __bool__(self) -> bool:
        """True: a difference of nothing is one, too. See `same`."""
        return True

    def to_dict(self) -> dict[str, Any]:
        """Give the counts as what JSON can hold."""
        left_out = ("differences", "head", "notes", "remedies", "seconds")
        found = {name: value for name, value in vars(self).items() if name not in left_out}
        return {"same": self.same, **found, "head": list(self.head), "notes": list(self.notes)}
