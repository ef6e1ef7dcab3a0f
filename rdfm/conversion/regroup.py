"""Regroups quads into new messages, and renames blank nodes and the default graph.

In: batches of a log, and a value of `group_by`. Out: batches.
Cost: one copy of the quads. Memory is bounded by a batch, the current message, and the labels of a
message that is being divided.
Law: quads keep their order. Different blank nodes stay different, and none becomes several nodes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

from rdfm._core import MessageBatch, Regrouper, option_value
from rdfm.errors import EncodeError, OptionError, spell_option
from rdfm.formats import OptionSpec
from rdfm.logs import remedies
from rdfm.logs.input.driver import NOTHING_DROPPED, Item, ReadBatch
from rdfm.logs.options import declare
from rdfm.logs.stages.stage import Stage

__all__ = ["REGROUPING", "DefaultGraph", "Regrouping", "make_regrouper", "regroup"]

_MESSAGES = "Messages"
_WITHOUT_NUMBER = ("message", "subject", "graph", "cbd", "nanopub", "all")
_WITH_NUMBER = ("count", "bytes")
_MAX_NUMBER = (1 << 63) - 1

REGROUPING = declare(
    OptionSpec(
        "group_by",
        help="Regroup quads: subject, graph, cbd, nanopub, count=N, bytes=N or all.",
        metavar="HOW",
        group=_MESSAGES,
    ),
    OptionSpec(
        "skolemize",
        "iri",
        "Replace blank nodes with IRIs under this IRI.",
        group=_MESSAGES,
    ),
    OptionSpec(
        "default_graph_as",
        "iri",
        "Move the default graph into this graph.",
        group=_MESSAGES,
    ),
)


def regroup(
    batches: Iterable[MessageBatch],
    group_by: str,
    *,
    skolemize: str | None = None,
    max_message_bytes: int | None = None,
) -> Iterator[MessageBatch]:
    r"""Yield batches of the same quads, grouped into new messages.

    Args:
        batches: Batches of one log, such as `LogReader.batches()`.
        group_by: "message" (unchanged), "subject" or "graph" (consecutive quads with the same
            subject or graph), "cbd" (consecutive quads about a subject, or about blank nodes that
            are objects in the group), "nanopub" (consecutive quads of a nanopublication, whose head
            is first), "count=N" (N quads per message), "bytes=N" (N bytes of terms per message), or
            "all".
        skolemize: IRI. Replaces blank nodes with IRIs that begin with this IRI and
            `/.well-known/genid/`. Messages are numbered from 0 in each call, so use another IRI for
            each log.
        max_message_bytes: Size limit of a message, in decoded bytes. Defaults to 64 MiB.

    Raises:
        EncodeError: If a blank node would occur in two messages, a message is larger than
            `max_message_bytes`, or, with "nanopub", a quad is not in a nanopublication.
        OptionError: If `group_by` or `skolemize` has an invalid value.

    Example:
        >>> from rdfm import formats
        >>> batch = formats.nq.decode(b"<x:a> <x:p> <x:o> .\n" * 5)
        >>> [len(message.quads) for piece in regroup([batch], "count=2") for message in piece]
        [2, 2, 1]
    """
    regrouper = make_regrouper(group_by, skolemize=skolemize, max_message_bytes=max_message_bytes)
    for batch in batches:
        regrouper.feed(batch)
        yield from _iter_complete(regrouper)
    regrouper.finish()
    yield from _iter_complete(regrouper)


def _iter_complete(regrouper: Regrouper) -> Iterator[MessageBatch]:
    """Yield the complete batches."""
    while (batch := regrouper.next_batch()) is not None:
        yield batch


class Regrouping(Stage):
    """Moves message boundaries."""

    def __init__(
        self,
        regrouper: Regrouper,
        *,
        buffers_messages: bool = False,
        count_before: Callable[[], int] | None = None,
    ) -> None:
        """Initialize with a regrouper.

        Args:
            regrouper: A regrouper from `make_regrouper`.
            buffers_messages: Whether messages are buffered completely only because errors are
                skipped. Used in remedies.
            count_before: Returns the number of messages in the log that the output continues. The
                IRIs of blank nodes are numbered from there.
        """
        self._regrouper = regrouper
        self._buffers_messages = buffers_messages
        self._count_before = count_before
        self._last: ReadBatch | None = None
        self._fed = self._yielded = 0  # quads
        # Items without quads, with the number of quads before each. The next quad releases them.
        self._waiting: deque[tuple[int, Item]] = deque()

    def process(self, item: Item) -> Iterator[Item]:
        """Process an item.

        Raises:
            EncodeError: As in `regroup`.
            OptionError: If the batch contains patches or results.
        """
        if not isinstance(item, ReadBatch):
            self._waiting.append((self._fed, item))
            return
        self._last = item
        if item.dropped_data is not NOTHING_DROPPED:
            self._waiting.append((self._fed, item._replace(batch=None)))
        batch = item.batch
        if batch is None:
            return
        if not isinstance(batch, MessageBatch):
            raise OptionError(
                f"{item.source.name} contains {batch.kind}, but only messages can be regrouped"
            )
        if self._count_before is not None:
            self._regrouper.number_from(self._count_before())
            self._count_before = None
        with self._explain_errors():
            self._regrouper.feed(batch)
        self._fed += batch.record_count
        yield from self._complete_batches(item)

    def finish(self) -> Iterator[Item]:
        """Yield the last messages, then the items that follow them.

        Raises:
            EncodeError: As in `regroup`.
        """
        with self._explain_errors():
            self._regrouper.finish()
        if self._last is not None:
            yield from self._complete_batches(self._last)
            yield self._last._replace(batch=None, dropped_data=NOTHING_DROPPED)
        for _, item in self._waiting:
            yield item

    def dropped(self) -> dict[str, int]:
        """Return the counts of the regrouper."""
        return self._regrouper.dropped()

    def _complete_batches(self, item: ReadBatch) -> Iterator[Item]:
        """Yield the complete batches, each after the waiting items that precede its last quad."""
        while True:
            with self._explain_errors():
                batch = self._regrouper.next_batch()
            if batch is None:
                return
            self._yielded += batch.record_count
            while self._waiting and self._waiting[0][0] < max(self._yielded, 1):
                yield self._waiting.popleft()[1]
            yield item._replace(batch=batch, dropped_data=NOTHING_DROPPED)

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        """Add the log name and the remedies to an error."""
        try:
            yield
        except EncodeError as error:
            error.source = None if self._last is None else self._last.source.name
            remedies.add(error, buffers_messages=self._buffers_messages)
            raise


class DefaultGraph(Stage):
    """Moves the quads of the default graph to a named graph."""

    carries: ClassVar[Mapping[str, Any]] = {"graphs": True}

    def __init__(self, name: str) -> None:
        """Initialize with the IRI of the graph.

        Raises:
            OptionError: If the name is not an IRI.
        """
        MessageBatch.from_messages([]).with_default_graph(name)
        self._name = name

    def process_batch(self, item: ReadBatch) -> tuple[ReadBatch]:
        """Rename the default graph.

        Raises:
            OptionError: If the batch contains patches or results.
        """
        if not isinstance(item.batch, MessageBatch):
            kind = "messages" if item.batch is None else item.batch.kind
            raise OptionError(
                f"{item.source.name} contains {kind}, but {spell_option('default_graph_as')} applies to messages"
            )
        return (item._replace(batch=item.batch.with_default_graph(self._name)),)


def make_regrouper(
    group_by: str,
    *,
    skolemize: str | None = None,
    parts: bool = False,
    max_message_bytes: int | None = None,
) -> Regrouper:
    """Return the native regrouper for a value of `group_by`.

    Raises:
        OptionError: If the value is invalid.
    """
    if not isinstance(group_by, str):
        raise OptionError(
            f"{spell_option('group_by')} must be a string such as 'count=100', not {group_by!r}"
        )
    name, equals, number = group_by.partition("=")
    if name in _WITH_NUMBER and equals:
        count = _count(group_by, number)
    elif group_by in _WITHOUT_NUMBER:
        count = 0
    else:
        raise OptionError(
            f"{spell_option('group_by')} must be message, subject, graph, cbd, nanopub, count=N, bytes=N or all, not '{group_by[:40]}'"
        )
    return Regrouper(
        name, count, skolemize=skolemize, parts=parts, max_message_bytes=max_message_bytes
    )


def _count(group_by: str, number: str) -> int:
    name = group_by.partition("=")[0]
    count: int = option_value(
        f"N of {spell_option('group_by')} {name}=N", "bytes", 1, _MAX_NUMBER, [], number
    )
    return count
