"""Writes the differences between datasets as patches: `diff`.

In: two datasets, two logs, or one log whose messages are successive states. Out: a log of patches.
Cost: memory for both datasets; for logs, for one message of each.
Law: applying the patch to the old dataset produces the new one; with `canonical`, up to blank node
labels.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Unpack

from rdfm import _core
from rdfm._core import MessageBatch, PatchBatch
from rdfm.compare.alignment import align
from rdfm.errors import OptionError, spell_option
from rdfm.message import Message
from rdfm.patch.applying import fill, single_message_batches
from rdfm.patch.changes import Changes, sum_dropped
from rdfm.patch.patch_options import DIFF
from rdfm.patch.streams import Inputs, Streams, locate_errors, message_batches

if TYPE_CHECKING:
    from rdfm.formats.options_generated import ChangeOptions
    from rdfm.logs.input.inputs import Readable
    from rdfm.logs.input.progress import ProgressFunction
    from rdfm.logs.read.reader import LogReader
    from rdfm.logs.write.output import Writable

__all__ = ["diff"]


def diff(
    old: Readable,
    new: Readable | None,
    output: Writable,
    *,
    per_message: bool = False,
    canonical: bool = False,
    ids: bool | None = None,
    append: bool = False,
    sync: bool = False,
    repair: bool = False,
    progress: ProgressFunction = None,
    **options: Unpack[ChangeOptions],
) -> Changes:
    """Write the changes from one dataset to another: a transaction of deletes, then adds.

    Blank nodes are identified by their labels. With `canonical`, they are identified by the quads
    in which they occur: matching blank nodes of the new dataset get the labels of the old one, so
    that a difference in labels alone is not a change. Blank nodes that share quads are then changed
    together or not at all.

    Args:
        old: The old dataset, a log of one message; with `per_message`, a log.
        new: The new dataset or log. If None, write the changes from each message of the log `old`
            to the next, one patch each. The first patch adds the first message.
        output: Output that `create_log` accepts, in a patch format.
        per_message: Compare the messages of both logs one by one, with a patch for each. If one log
            is shorter, its missing messages are treated as empty.
        canonical: Identify blank nodes by their quads instead of their labels.
        ids: Write an `id` for each patch, and a `prev`, the `id` of the previous patch, as in
            `from_log`. By default, true unless the output is a single patch.
        append: Append to an existing log, as in `from_log`.
        sync: As in `create_log`.
        repair: As in `create_log`.
        progress: True for a progress bar, or a function to call about ten times per second.
        **options: Options of the formats, and `from_format`, `to`, `compression` and the
            other options of `create_log`, as for `convert`.

    Raises:
        LimitError: If a message, or a patch with an id, is larger than `max_message_bytes`.
        RdfmError, OSError: As in `convert`.
    """
    start = time.perf_counter()
    snapshots = new is None
    if snapshots and per_message:
        raise OptionError(f"{spell_option('per_message')} requires two logs, but only one is given")
    name = options.get("from_format")
    inputs = [Inputs([log], "messages", name) for log in ((old,) if new is None else (old, new))]
    named_options = {
        **{"per_message": per_message, "snapshots": snapshots, "canonical": canonical},
        **{"ids": ids, "append": append, "sync": sync, "repair": repair},
    }
    streams = Streams(inputs, output, "patches", {**options, **named_options}, DIFF, progress)
    is_single_pair = not (snapshots or per_message)
    has_ids = streams.stages.get("ids", not is_single_pair or streams.stages["append"])
    with streams.create(ids=has_ids) as writing, ExitStack() as stack:
        in_parts = is_single_pair and not canonical
        logs = [
            stack.enter_context(streams.open(log_input, parts=in_parts)) for log_input in inputs
        ]
        difference: _core.DatasetDifference | _core.MessageDifferences
        if in_parts:
            max_bytes = streams.max_message_bytes() if has_ids else None
            difference = _create_difference(*logs, parts=writing.accepts_parts, max_bytes=max_bytes)
            patches = iter(difference.next_batch, None)
        else:
            difference = _core.MessageDifferences(snapshots=snapshots)
            batches = [
                _dataset_batches(log) if is_single_pair else message_batches(log) for log in logs
            ]
            patches = _message_differences(difference, logs, batches, canonical=canonical)
        for batch in patches:
            specs = [log._format.spec for log in logs if log._format is not None]
            writing.write_patches(batch, specs)
        deleted, added = difference.counts()
    target = writing.log()
    return Changes(
        messages=target.messages,
        quads=deleted + added,
        added=added,
        deleted=deleted,
        dropped=sum_dropped(target.dropped),
        seconds=time.perf_counter() - start,
        notes=streams.notes(target),
    )


def _create_difference(
    old: LogReader, new: LogReader, *, parts: bool, max_bytes: int | None
) -> _core.DatasetDifference:
    state = _core.Dataset()
    fill(state, old)
    difference = _core.DatasetDifference(state, parts=parts, max_bytes=max_bytes)
    for batch in single_message_batches(new):
        with locate_errors(new):
            difference.add(batch)
    return difference


def _dataset_batches(log: LogReader) -> Iterator[MessageBatch]:
    """Yield the batches of a log of one message; for an empty log, an empty message."""
    batches = single_message_batches(log)
    yield next(batches, None) or MessageBatch.from_messages([Message()])
    yield from batches


def _message_differences(
    difference: _core.MessageDifferences,
    logs: list[LogReader],
    batches: list[Iterator[MessageBatch]],
    *,
    canonical: bool,
) -> Iterator[PatchBatch]:
    """Yield the patches between messages; for one log, from each message to the next."""
    if canonical:
        batches = _align_logs(batches)
    while (side := difference.next_log()) is not None:
        number = side if len(logs) > 1 else 0
        batch = next(batches[number], None)
        if batch is None:
            difference.end(side)
        else:
            with locate_errors(logs[number]):
                difference.add(side, batch)
        while (patch_batch := difference.next_batch()) is not None:
            yield patch_batch


def _align_logs(batches: list[Iterator[MessageBatch]]) -> list[Iterator[MessageBatch]]:
    """Return the logs, with matching blank nodes in new messages relabelled like the old ones.

    For a single log, the old message is the previous one, with its changed labels.
    """
    *old, new = (_iter_messages(log) for log in batches)
    # Old and new messages are requested alternately.
    previous: deque[Message] = deque([] if old else [Message()], maxlen=1)

    def old_messages() -> Iterator[Message]:
        for message in old[0]:
            previous.append(message)
            yield message

    def new_messages() -> Iterator[Message]:
        for message in new:
            aligned_message = Message(align(previous.popleft() if previous else Message(), message))
            if not old:
                previous.append(aligned_message)
            yield aligned_message

    if not old:
        return [_create_batches(new_messages())]
    return [_create_batches(old_messages()), _create_batches(new_messages())]


def _create_batches(messages: Iterator[Message]) -> Iterator[MessageBatch]:
    for message in messages:
        yield MessageBatch.from_messages([message])


def _iter_messages(batches: Iterator[MessageBatch]) -> Iterator[Message]:
    for batch in batches:
        yield from batch
