"""Stages that need the canonical form of messages: canonical output, and distinct messages.

In: complete messages. Out: messages. Cost: see `rdfm.compare.canonical`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rdfm._core import MessageBatch, SeenMessages, canonicalize
from rdfm.compare.canonical import MAX_STEPS
from rdfm.errors import EncodeError, LimitError, OptionError, spell_option
from rdfm.formats import FormatSpec, OptionSpec
from rdfm.logs.input.driver import NOTHING_DROPPED, ReadBatch
from rdfm.logs.kinds import wrong_kind_error
from rdfm.logs.options import declare
from rdfm.logs.stages.stage import Stage

__all__ = ["CANONICAL", "STEPS", "Canonical", "Distinct", "canonical_stages"]

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
# Formats in which the canonical form is defined.
_FORMATS = ("nt", "nq")


def canonical_stages(
    stages: Mapping[str, Any], format: FormatSpec, writes: Mapping[str, Any]
) -> tuple[Stage, ...]:
    """Return the stages for distinct and canonical messages, as far as they are requested.

    Args:
        stages: Options of the stages, as values.
        format: Format of the output.
        writes: Options of the output, as given.

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
        for name in ("flat", "merge_graphs"):
            if name in writes and format.options("write")[name].value(writes[name]):
                raise OptionError(
                    f"{spell_option('canonical', 'true')} cannot be combined with {spell_option(name, 'true', 'write')}, which changes labels or graphs"
                )
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
