"""Converts message logs to patch logs, and back: `from_log`, `to_log`.

In: a log of one kind. Out: a log of the other kind.
Cost: memory for a batch; for `to_log`, a transaction, and the labels of blank nodes unless
`separate_blank_nodes` is set.
Law: the round trip preserves the messages, up to blank node labels.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Unpack

from rdfm import _core
from rdfm.errors import EncodeError
from rdfm.patch.changes import Changes, sum_dropped
from rdfm.patch.patch_options import FROM_LOG, TO_LOG
from rdfm.patch.streams import Inputs, Streams, locate_errors, message_batches, patch_batches

if TYPE_CHECKING:
    from rdfm.formats.options_generated import ChangeOptions
    from rdfm.logs.input.inputs import Readable
    from rdfm.logs.input.progress import ProgressFunction
    from rdfm.logs.write.output import Writable

__all__ = ["from_log", "to_log"]


def from_log(
    log: Readable,
    output: Writable,
    *,
    ids: bool | None = None,
    append: bool = False,
    sync: bool = False,
    repair: bool = False,
    progress: ProgressFunction = None,
    **options: Unpack[ChangeOptions],
) -> Changes:
    """Convert a message log to a patch log. Each patch has one transaction of adds.

    Blank nodes get different labels in each message, since labels in patches apply to the entire
    log.

    Args:
        log: A log of messages.
        output: Output that `create_log` accepts.
        ids: Write an `id` for each patch, and a `prev`, the `id` of the previous patch. An id is
            derived from `prev` and the other rows of the patch. True by default.
        append: Append to an existing log, as in `create_log`. The first `prev` is the `id` of the
            last patch of that log, if it has one.
        sync: As in `create_log`.
        repair: As in `create_log`.
        progress: True for a progress bar, or a function to call about ten times per second.
        **options: Options of the formats, and `from_format`, `to`, `compression` and the
            other options of `create_log`, as for `convert`.

    Raises:
        LimitError: If a message is larger than `max_message_bytes`. Without `ids`, formats that
            accept patches in parts have no such limit.
        RdfmError, OSError: As in `convert`.
    """
    start = time.perf_counter()
    inputs = Inputs([log], "messages", options.get("from_format"))
    named_options = {"ids": ids, "append": append, "sync": sync, "repair": repair}
    streams = Streams([inputs], output, "patches", {**options, **named_options}, FROM_LOG, progress)
    with (
        streams.create(ids=streams.stages.get("ids", True)) as writing,
        streams.open(inputs, parts=writing.accepts_parts) as source,
    ):
        converter = _core.ToPatches(patches=writing.count_continued())
        for batch in message_batches(source):
            with locate_errors(source):
                patch_batch = converter.patches(batch)
                if patch_batch is not None:
                    writing.write_patches(
                        patch_batch, [source._format.spec] if source._format else []
                    )
    target = writing.log()
    return Changes(
        messages=target.messages,
        dropped=sum_dropped({"metadata": converter.dropped()}, target.dropped),
        seconds=time.perf_counter() - start,
        notes=streams.notes(target),
    )


def to_log(
    patches: Readable,
    output: Writable,
    *,
    separate_blank_nodes: bool = False,
    progress: ProgressFunction = None,
    **options: Unpack[ChangeOptions],
) -> Changes:
    """Convert a patch log to a message log, with one message for each committed transaction.

    Quads that are added outside transactions, up to the next transaction or the end of the patch,
    also form a message.

    Args:
        patches: A patch log without deletes.
        output: Output that `create_log` accepts.
        separate_blank_nodes: Split a blank node that occurs in several transactions into several
            blank nodes, one for each message. By default such a blank node is an error.
        progress: True for a progress bar, or a function to call about ten times per second.
        **options: Options of the formats, and `from_format`, `to`, `compression` and the
            other options of `create_log`, as for `convert`.

    Raises:
        EncodeError: If a patch deletes something, or a blank node occurs in several transactions
            without `separate_blank_nodes`.
        RdfmError, OSError: As in `convert`.
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
    converter = _core.ToMessages(
        separate=streams.stages["separate_blank_nodes"],
        max_message_bytes=streams.max_message_bytes(),
    )
    with streams.create() as writing, streams.open(inputs) as source:

        def write(batch: _core.MessageBatch | None) -> None:
            if batch is not None:
                specs = [source._format.spec] if source._format else []
                log = writing.log(specs, namespaces=bool(batch.declarations()))
                log.write_batch(batch)

        for batch in patch_batches(source):
            with locate_errors(source):
                try:
                    messages = converter.messages(batch)
                except EncodeError:
                    write(converter.take())  # for `keep_partial`
                    raise
                write(messages)
    target = writing.log()
    return Changes(
        messages=target.messages,
        dropped=sum_dropped(converter.dropped(), target.dropped),
        seconds=time.perf_counter() - start,
        notes=streams.notes(target),
    )
