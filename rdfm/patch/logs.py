"""Logs of messages as logs of patches, and back: `from_log`, `to_log`.

In: a log of the one kind. Out: a log of the other.
Cost: a batch; on the way back a transaction, and the labels of blank nodes unless they are to be separate.
Law: there and back gives the same messages, up to the labels of blank nodes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Unpack

from rdfm import _core, formats
from rdfm.errors import EncodeError
from rdfm.patch.changes import Changes, all_dropped
from rdfm.patch.options import FROM_LOG, TO_LOG
from rdfm.patch.streams import Inputs, Streams, message_batches, of_log, patch_batches

if TYPE_CHECKING:
    from rdfm.formats.options_generated import ChangeOptions
    from rdfm.logs.input import Readable
    from rdfm.logs.output import Writable
    from rdfm.logs.progress import Progress

__all__ = ["from_log", "to_log"]


def from_log(
    log: Readable,
    output: Writable,
    *,
    progress: Callable[[Progress], None] | None = None,
    **options: Unpack[ChangeOptions],
) -> Changes:
    """Make a log of patches of a log of messages: each message a patch, of one transaction of adds.

    The labels of blank nodes are set apart by message, since those of patches are the whole log's.

    Args:
        log: A log of messages.
        output: What `create_log` takes.
        progress: Called about ten times a second with what was read.
        **options: Those of the formats, and `from_format`, `to_format`, `compression` and the others of `create_log`,
            as `convert` takes them.

    Raises:
        RdfmError, OSError: As `convert`.
    """
    start = time.perf_counter()
    inputs = Inputs([log], "messages", options.get("from_format"))
    streams = Streams([inputs], output, "patches", options, FROM_LOG, progress)
    made = _core.ToPatches()
    with (
        streams.create() as writing,
        streams.open(inputs, parts=writing.takes_parts) as source,
    ):
        for batch in message_batches(source):
            with of_log(source):
                found = made.patches(batch)
                if found is not None:
                    writing.log([source.found.spec] if source.found else []).write_batch(found)
    target = writing.log()
    return Changes(
        messages=target.messages,
        dropped=all_dropped({"metadata": made.dropped()}, target.dropped),
        seconds=time.perf_counter() - start,
        notes=streams.notes(target),
    )


def to_log(
    patches: Readable,
    output: Writable,
    *,
    separate_blank_nodes: bool = False,
    progress: Callable[[Progress], None] | None = None,
    **options: Unpack[ChangeOptions],
) -> Changes:
    """Make a log of messages of a log of patches: each transaction that is committed is a message.

    What is added outside of transactions is a message too, up to the next transaction or the end of its patch.

    Args:
        patches: A log of patches that delete nothing.
        output: What `create_log` takes.
        separate_blank_nodes: A blank node that occurs in several transactions becomes several, since labels of
            messages are their own; without, it is refused.
        progress: Called about ten times a second with what was read.
        **options: Those of the formats, and `from_format`, `to_format`, `compression` and the others of `create_log`,
            as `convert` takes them.

    Raises:
        EncodeError: A patch deletes something, or a blank node occurs in several transactions.
        RdfmError, OSError: As `convert`.
    """
    start = time.perf_counter()
    inputs = Inputs([patches], "patches", options.get("from_format"))
    streams = Streams(
        [inputs],
        output,
        "messages",
        {**options, "separate_blank_nodes": separate_blank_nodes},
        TO_LOG,
        progress,
    )
    most = streams.reads.get("max_message_bytes")
    largest = formats.nq.spec.options("read")["max_message_bytes"]
    made = _core.ToMessages(
        separate=streams.stages["separate_blank_nodes"],
        **({} if most is None else {"max_message_bytes": int(largest.value(most))}),
    )
    with streams.create() as writing, streams.open(inputs) as source:

        def write(batch: _core.MessageBatch | None) -> None:
            if batch is not None:
                specs = [source.found.spec] if source.found else []
                log = writing.log(specs, namespaces=bool(batch.declarations()))
                log.write_batch(batch)

        for batch in patch_batches(source):
            with of_log(source):
                try:
                    found = made.messages(batch)
                except EncodeError:
                    write(made.take())  # what came before, for those who keep it
                    raise
                write(found)
    target = writing.log()
    return Changes(
        messages=target.messages,
        dropped=all_dropped(made.dropped(), target.dropped),
        seconds=time.perf_counter() - start,
        notes=streams.notes(target),
    )
