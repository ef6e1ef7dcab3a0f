"""Stages that need the canonical form of messages: canonical output, distinct messages and hashes.

In: complete messages. Out: messages or hashes. Cost: see `rdfm.compare.canonical`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rdfm._core import MessageBatch, SeenMessages, canonical_hashes, canonicalize
from rdfm.compare.canonical import MAX_STEPS
from rdfm.errors import EncodeError, LimitError, OptionError, spell_option
from rdfm.formats import FormatSpec, OptionSpec
from rdfm.logs.input.driver import NOTHING_DROPPED, ReadBatch
from rdfm.logs.kinds import wrong_kind_error
from rdfm.logs.options import declare
from rdfm.logs.read.rows import ComputedBatch
from rdfm.logs.stages.stage import Stage

__all__ = [
    "CANONICAL",
    "HASH_BYTES",
    "STEPS",
    "Canonical",
    "Distinct",
    "HashBatch",
    "Hashes",
    "canonical_stages",
]

_MESSAGES = "Messages"

STEPS = OptionSpec(
    "max_steps",
    "count",
    "Maximum work to label blank nodes.",
    minimum=1,
    default=MAX_STEPS,
    group=_MESSAGES,
)
CANONICAL = declare(
    OptionSpec(
        "canonical",
        "switch",
        "Write canonical N-Triples or N-Quads (RDFC-1.0).",
        default=False,
        group=_MESSAGES,
    ),
    OptionSpec(
        "distinct",
        "choice",
        "Keep the first of equal messages: dataset, nanopub.",
        choices=("dataset", "nanopub"),
        metavar="BY",
        group=_MESSAGES,
    ),
    STEPS,
)
# Size of a hash (SHA-256).
HASH_BYTES = 32
# Formats in which the canonical form is defined.
_FORMATS = ("nt", "nq")


def canonical_stages(
    stages: Mapping[str, Any], format: FormatSpec, writes: dict[str, Any]
) -> tuple[Stage, ...]:
    """Return the stages for distinct and canonical messages, as far as they are requested.

    Args:
        stages: Options of the stages, as values.
        format: Format of the output.
        writes: Options of the output, as given. Receives the dialect of canonical output.

    Raises:
        OptionError: If an option conflicts with another one or with the format.
    """
    by, is_canonical = stages.get("distinct"), stages.get("canonical", False)
    max_steps = stages.get("max_steps", MAX_STEPS)
    if by is None and not is_canonical:
        if "max_steps" in stages:
            raise OptionError(
                f"{spell_option('max_steps')} applies to {spell_option('canonical', 'true')} and {spell_option('distinct')}; add one of them"
            )
        return ()
    if by is not None and stages.get("append", False):
        raise OptionError(
            f"{spell_option('append')} cannot be combined with {spell_option('distinct')}, because the messages of the log would not be compared; "
            "write a new log from this log and the new messages"
        )
    if is_canonical:
        if format.name not in _FORMATS:
            raise OptionError(
                f"{spell_option('canonical', 'true')} needs N-Triples or N-Quads as output, not {format.title}"
            )
        for name in ("flat", "merge_graphs", "rdf_star_syntax"):
            if name in writes and format.options("write")[name].value(writes[name]):
                raise OptionError(
                    f"{spell_option('canonical', 'true')} cannot be combined with {spell_option(name, 'true', 'write')}, which changes labels, graphs or terms"
                )
        # The input may be in the directive dialect, whose first line is not canonical.
        writes.setdefault("dialect", "comment")
    first = () if by is None else (Distinct(by, max_steps),)
    return (*first, Canonical(max_steps)) if is_canonical else first


class Canonical(Stage):
    """Brings messages into canonical form."""

    def __init__(self, max_steps: int) -> None:
        """Initialize with the maximum work for each message."""
        self._max_steps = max_steps
        self._repeated = 0

    def process_batch(self, item: ReadBatch) -> Iterator[ReadBatch]:
        """Yield the messages in canonical form.

        Raises:
            EncodeError, LimitError: If a message has no canonical form.
            OptionError: If the batch contains patches or results.
        """
        batch, repeated, error = canonicalize(_messages(item), max_steps=self._max_steps)
        self._repeated += repeated
        yield item._replace(batch=batch)
        _raise(item, error)

    def dropped(self) -> dict[str, int]:
        """Return the number of repeated quads."""
        return {"repeated quads": self._repeated}


class Distinct(Stage):
    """Keeps the first of equal messages."""

    def __init__(self, by: str, max_steps: int) -> None:
        """Initialize with the property that equal messages share, and the work for each message."""
        self._seen = SeenMessages(by)
        self._max_steps = max_steps
        self._repeated = 0

    def process_batch(self, item: ReadBatch) -> Iterator[ReadBatch]:
        """Yield the new messages.

        Raises:
            EncodeError, LimitError: If a message has no canonical form, or there are too many.
            OptionError: If the batch contains patches or results.
        """
        batches, repeated, error = self._seen.add(_messages(item), max_steps=self._max_steps)
        self._repeated += repeated
        for batch in batches:
            yield item._replace(batch=batch, dropped_data=NOTHING_DROPPED)
        yield item._replace(batch=None)
        _raise(item, error)

    def dropped(self) -> dict[str, int]:
        """Return the number of repeated messages."""
        return {"repeated messages": self._repeated}


@dataclass(frozen=True, slots=True)
class HashBatch(ComputedBatch):
    """Hashes of consecutive messages.

    Attributes:
        hashes: The hashes, one after the other.
        batch: A batch that begins with these messages.
        source: Name of the log.
    """

    hashes: bytes
    batch: MessageBatch
    source: str

    def __len__(self) -> int:
        """Number of hashes."""
        return len(self.hashes) // HASH_BYTES

    @property
    def memory_bytes(self) -> int:
        """Size of the hashes and the messages in bytes."""
        return len(self.hashes) + self.batch.memory_bytes

    def rows(self) -> Iterator[tuple[int, bytes]]:
        """Yield the index of each message in its log, and its hash."""
        for position in range(len(self)):
            start = position * HASH_BYTES
            yield (
                self.batch.message_index(position),
                self.hashes[start : start + HASH_BYTES],
            )


class Hashes(Stage):
    """Computes the canonical hash of each message."""

    kind = "results"
    is_slow = True

    def __init__(self, max_steps: int) -> None:
        """Initialize with the maximum work for each message."""
        self._max_steps = max_steps

    def process_batch(self, item: ReadBatch) -> Iterator[ReadBatch]:
        """Yield the hashes of the messages.

        Raises:
            EncodeError, LimitError: If a message has no canonical form.
            OptionError: If the batch contains patches or results.
        """
        messages = _messages(item)
        hashes, error = canonical_hashes(messages, max_steps=self._max_steps)
        batch: Any = HashBatch(hashes, messages, item.source.name)
        yield item._replace(batch=batch)
        _raise(item, error)


def _messages(item: ReadBatch) -> MessageBatch:
    """Return the messages of an item.

    Raises:
        OptionError: If the batch contains patches or results.
    """
    batch = item.batch
    assert batch is not None
    if not isinstance(batch, MessageBatch):
        raise wrong_kind_error(item.source.name, batch.kind, "only messages have a canonical form")
    return batch


def _raise(item: ReadBatch, error: EncodeError | LimitError | None) -> None:
    """Raise an error with the name of its log."""
    if error is not None:
        error.source = item.source.name
        raise error
