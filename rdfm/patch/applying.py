"""Applies patches to a dataset: `apply`.

In: a dataset and patch logs. Out: the changed dataset.
Cost: memory for the dataset, with each term stored once, and for changes of an open transaction.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Unpack

from rdfm import _core
from rdfm._core import MessageBatch
from rdfm.errors import OptionError, Remedy
from rdfm.patch.changes import Changes, sum_dropped
from rdfm.patch.patch_options import APPLY
from rdfm.patch.streams import Inputs, Streams, locate_errors, message_batches, patch_batches

if TYPE_CHECKING:
    from rdfm.formats.options_generated import ChangeOptions
    from rdfm.logs.input.inputs import Readable
    from rdfm.logs.input.progress import ProgressFunction
    from rdfm.logs.read.reader import LogReader
    from rdfm.logs.write.output import Writable

__all__ = ["apply", "fill", "single_message_batches"]

_MERGE = Remedy("stage", "group_by", "all", "in rdfm convert merges them")


def apply(
    dataset: Readable,
    patches: Readable | Sequence[Readable],
    output: Writable,
    *,
    patch_format: str | None = None,
    chain: bool = True,
    progress: ProgressFunction = None,
    **options: Unpack[ChangeOptions],
) -> Changes:
    r"""Apply patches to a dataset, in order, and write the result.

    The changes of a transaction that is aborted, or not ended by its patch, are undone. The
    prefixes of the dataset are kept, with the changes that the patches make.

    Args:
        dataset: A log of one message.
        patches: One or more patch logs.
        output: Output that `create_log` accepts.
        patch_format: Format of the patches. Detected from the suffix by default.
        chain: Reject a patch whose `prev` is not the `id` of the previous patch.
        progress: True for a progress bar, or a function to call about ten times per second.
        **options: Options of the formats, and `from_format` (of the dataset), `to`,
            `compression` and the other options of `create_log`, as for `convert`.

    Raises:
        DecodeError: If an input is invalid, transactions are not in order, or the chain is broken.
        EncodeError: If the output format cannot represent the dataset.
        LimitError: If the dataset is too large.
        OptionError: If the dataset has several messages, or an option does not apply.
        OSError: If a file cannot be read or written.

    Example:
        >>> import io
        >>> out = io.BytesIO()
        >>> done = apply(b"<a:s> <a:p> <a:o> .", b"TX .\nA <a:s> <a:p> <a:t> .\nD <a:s> <a:p> <a:o> .\nTC .\n",
        ...              out, from_format="nq", patch_format="rdf-patch", to="nq")
        >>> done.added, done.deleted, out.getvalue()
        (1, 1, b'<a:s> <a:p> <a:t> .\n')
    """
    start = time.perf_counter()
    is_list = isinstance(patches, (list, tuple))
    old = Inputs([dataset], "messages", options.get("from_format"))
    new = Inputs(patches if is_list else [patches], "patches", patch_format, "patch_format")  # type: ignore[arg-type,list-item]  # checked above
    streams = Streams(
        [old, new],
        output,
        "messages",
        {**options, "patch_format": patch_format, "chain": chain},
        APPLY,
        progress,
    )
    with streams.create() as writing:
        state = _core.Dataset()
        with streams.open(old) as log:
            fill(state, log)
            specs = [log._format.spec] if log._format is not None else []
        with streams.open(new) as log:
            _apply(state, log, chain=streams.stages["chain"])
            specs += [log._format.spec] if log._format is not None else []
        target = writing.log(specs, namespaces=state.has_namespaces())
        state.batches(target.write_batch, parts=writing.accepts_parts)
    return Changes(
        messages=1,
        quads=len(state),
        **state.applied(),
        dropped=sum_dropped(target.dropped),
        seconds=time.perf_counter() - start,
        notes=streams.notes(target),
    )


def _apply(state: _core.Dataset, log: LogReader, *, chain: bool) -> None:
    """Apply the patches of logs.

    Raises:
        DecodeError: If a patch is invalid.
    """
    for batch in patch_batches(log):
        with locate_errors(log):
            state.apply(batch, chain=chain)


def fill(state: _core.Dataset, log: LogReader) -> None:
    """Add the quads of a log to a dataset.

    Raises:
        OptionError: If the log has several messages.
    """
    for batch in single_message_batches(log):
        with locate_errors(log):
            state.add(batch)


def single_message_batches(log: LogReader) -> Iterator[MessageBatch]:
    """Yield the batches of a log of one message.

    Raises:
        OptionError: If there are several messages, since equal labels in them are different blank
            nodes.
    """
    count = 0
    for batch in message_batches(log):
        count += len(batch) - batch.continued
        if count > 1:
            raise OptionError(
                f"{log.source} has several messages, but a dataset is one message",
                remedies=[_MERGE],
            )
        yield batch
