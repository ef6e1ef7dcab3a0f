"""Other boundaries of messages: batches in, batches of the same quads in other messages out.

In: batches of a log, and how to group. Out: batches.
Cost: one copy of the quads; memory holds a batch and the open message, and the labels of a message
that is divided, whatever the input.
Law: the quads and their order stay; no two blank nodes become one, and none becomes two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rdfm._core import MessageBatch, Regrouper, option_value
from rdfm.errors import OptionError

__all__ = ["make", "regrouped"]

_PLAIN = ("message", "subject", "graph", "all")
_NUMBERED = ("count", "bytes")
_MAX_NUMBER = (1 << 63) - 1


def regrouped(
    batches: Iterable[MessageBatch],
    group_by: str,
    *,
    skolemize: str | None = None,
    max_message_bytes: int | None = None,
) -> Iterator[MessageBatch]:
    r"""Yield batches of the same quads in other messages.

    Args:
        batches: Of one log, such as `LogReader.batches()`.
        group_by: "message" (as before), "subject" or "graph" (consecutive quads with the same one),
            "count=N" (N quads a message), "bytes=N" (quads until their terms have N bytes), "all".
        skolemize: Blank nodes become IRIs that begin with this IRI and `/.well-known/genid/`.
        max_message_bytes: The largest message, in decoded bytes; 64 MiB unless given.

    Raises:
        EncodeError: A blank node would stand in two messages, or a message is larger than
            `max_message_bytes`.
        OptionError: `group_by` or `skolemize` says nothing known.

    Example:
        >>> from rdfm import formats
        >>> batch = formats.nq.decode(b"<x:a> <x:p> <x:o> .\n" * 5)
        >>> [len(message.quads) for piece in regrouped([batch], "count=2") for message in piece]
        [2, 2, 1]
    """
    regrouper = make(group_by, skolemize=skolemize, max_message_bytes=max_message_bytes)
    for batch in batches:
        regrouper.feed(batch)
        yield from taken(regrouper)
    regrouper.finish()
    yield from taken(regrouper)


def taken(regrouper: Regrouper) -> Iterator[MessageBatch]:
    """Yield what a regrouper has."""
    while (batch := regrouper.next_batch()) is not None:
        yield batch


def make(
    group_by: str,
    *,
    skolemize: str | None = None,
    parts: bool = False,
    max_message_bytes: int | None = None,
) -> Regrouper:
    """Give the native regrouper of a `group_by`.

    Raises:
        OptionError: It says nothing known.
    """
    if not isinstance(group_by, str):
        raise OptionError(f"group_by is a text, such as 'count=100', not {group_by!r}")
    name, equals, number = group_by.partition("=")
    if name in _NUMBERED and equals:
        count = _count(group_by, number)
    elif group_by in _PLAIN:
        count = 0
    else:
        raise OptionError(
            f"group_by is message, subject, graph, count=N, bytes=N or all, not '{group_by[:40]}'"
        )
    return Regrouper(
        name, count, skolemize=skolemize, parts=parts, max_message_bytes=max_message_bytes
    )


def _count(group_by: str, number: str) -> int:
    name = group_by.partition("=")[0]
    count: int = option_value(f"N of group_by {name}=N", "bytes", 1, _MAX_NUMBER, [], number)
    return count
