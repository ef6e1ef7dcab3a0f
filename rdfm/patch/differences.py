"""The changes that make a dataset another one: `diff`.

In: two datasets, two logs, or the states of a log. Out: a log of patches.
Cost: both datasets are held in memory, of logs a message of each.
Law: a patch, applied to the old dataset, gives the new one; by structure, gives it up to labels.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import zip_longest
from typing import TYPE_CHECKING, Unpack

from rdfm import _core
from rdfm._core import MessageBatch
from rdfm.compare.alignment import aligned
from rdfm.errors import OptionError
from rdfm.message import Message
from rdfm.patch.applying import fill, of_one_message
from rdfm.patch.changes import Changes, all_dropped
from rdfm.patch.options import DIFF
from rdfm.patch.streams import Inputs, Streams, message_batches, of_log

if TYPE_CHECKING:
    from rdfm.formats.options_generated import ChangeOptions
    from rdfm.logs.input import Readable
    from rdfm.logs.output import Writable
    from rdfm.logs.reader import LogReader

__all__ = ["diff"]


def diff(
    old: Readable,
    new: Readable | None,
    output: Writable,
    *,
    per_message: bool = False,
    canonical: bool = False,
    **options: Unpack[ChangeOptions],
) -> Changes:
    """Write the changes that make a dataset another one: a transaction of deletes, then adds.

    Blank nodes are known by their labels. With `canonical` it is what is said of them: those of the new dataset get
    the labels of the old one, so that what is the same up to labels is not changed. Blank nodes that share quads are
    then changed together, or not at all.

    Args:
        old: A dataset, a log of one message; with `per_message` a log.
        new: The other one. None: of the log `old` the changes from each message to the next, a patch each; the first
            makes the first message.
        output: What `create_log` takes, of a format of patches.
        per_message: Compare the messages of both logs one by one, a patch each; where one log is shorter, its messages
            are empty.
        canonical: Know blank nodes by what is said of them.
        **options: Those of the formats, and `from_format`, `to_format`, `compression` and the others of `create_log`,
            as `convert` takes them.

    Raises:
        RdfmError, OSError: As `convert`.
    """
    start = time.perf_counter()
    snapshots = new is None
    if snapshots and per_message:
        raise OptionError("per_message compares two logs, and there is one")
    name = options.get("from_format")
    inputs = [Inputs([log], "messages", name) for log in ((old,) if new is None else (old, new))]
    given = {"per_message": per_message, "snapshots": snapshots, "canonical": canonical}
    streams = Streams(inputs, output, "patches", {**options, **given}, DIFF)
    deleted = added = 0
    with streams.create() as writing, ExitStack() as opened:
        whole = not (snapshots or per_message)
        in_parts = whole and not canonical
        logs = [opened.enter_context(streams.open(each, parts=in_parts)) for each in inputs]
        if in_parts:
            found = iter([_of_datasets(*logs, parts=writing.takes_parts)])
        else:
            found = _of_messages(_pairs(logs, whole=whole), canonical)
        for difference in found:
            counts = difference.counts()
            deleted, added = deleted + counts[0], added + counts[1]
            specs = [log.found.spec for log in logs if log.found is not None]
            while (batch := difference.next_batch()) is not None:
                writing.log(specs).write_batch(batch)
    target = writing.log()
    return Changes(
        messages=target.messages,
        quads=deleted + added,
        added=added,
        deleted=deleted,
        dropped=all_dropped(target.dropped),
        seconds=time.perf_counter() - start,
    )


def _of_datasets(old: LogReader, new: LogReader, *, parts: bool) -> _core.Difference:
    state = _core.Dataset()
    fill(state, old)
    difference = _core.Difference(state, parts=parts)
    for batch in of_one_message(new):
        with of_log(new):
            difference.add(batch)
    return difference


def _of_messages(
    pairs: Iterator[tuple[Message | None, Message]], canonical: bool
) -> Iterator[_core.Difference]:
    """The differences of messages; of those without one before, from the message that the last pair made."""
    last = Message()
    for index, (old, new) in enumerate(pairs):
        before = last if old is None else old
        last = Message(aligned(before, new)) if canonical else new
        state = _core.Dataset()
        state.add(MessageBatch.from_messages([before]))
        difference = _core.Difference(state, index=index)
        difference.add(MessageBatch.from_messages([last]))
        yield difference


def _pairs(logs: list[LogReader], *, whole: bool) -> Iterator[tuple[Message | None, Message]]:
    """What is compared; without the one before where that is the last."""
    if len(logs) == 1:
        for message in _each(logs[0]):
            yield None, message
    elif whole:
        old, new = ([m for batch in of_one_message(log) for m in batch] for log in logs)
        yield (old or [Message()])[0], (new or [Message()])[0]
    else:
        for one, other in zip_longest(*map(_each, logs)):
            yield one or Message(), other or Message()


def _each(log: LogReader) -> Iterator[Message]:
    for batch in message_batches(log):
        yield from batch
