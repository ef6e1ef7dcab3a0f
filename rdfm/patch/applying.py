"""Patches applied to a dataset: `apply`.

In: a dataset and logs of patches. Out: the dataset that they make of it.
Cost: the dataset is held in memory, each of its terms once, and what an open transaction changed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Unpack

from rdfm import _core
from rdfm._core import MessageBatch
from rdfm.errors import OptionError, Remedy
from rdfm.patch.changes import Changes, all_dropped
from rdfm.patch.options import APPLY
from rdfm.patch.streams import Inputs, Streams, message_batches, of_log, patch_batches

if TYPE_CHECKING:
    from rdfm.formats.options_generated import ChangeOptions
    from rdfm.logs.input import Readable
    from rdfm.logs.output import Writable
    from rdfm.logs.progress import Progress
    from rdfm.logs.reader import LogReader

__all__ = ["apply", "fill", "of_one_message"]

_GROUPED = Remedy("stage", "group_by", "all", "in a conversion before makes one of them")


def apply(
    dataset: Readable,
    patches: Readable | Sequence[Readable],
    output: Writable,
    *,
    patch_format: str | None = None,
    chain: bool = True,
    progress: Callable[[Progress], None] | None = None,
    **options: Unpack[ChangeOptions],
) -> Changes:
    r"""Apply patches to a dataset, in order, and write what it is then.

    What a transaction changed that is aborted, or that its patch does not end, is undone. The prefixes of the dataset
    are kept, and changed as the patches say.

    Args:
        dataset: A log of one message.
        patches: A log of patches, or several.
        output: What `create_log` takes.
        patch_format: The format of the patches; found from the suffix unless given.
        chain: Refuse a patch whose `prev` is not the `id` of the patch before.
        progress: Called about ten times a second with what was read.
        **options: Those of the formats, and `from_format` (of the dataset), `to_format`, `compression` and the others
            of `create_log`, as `convert` takes them.

    Raises:
        DecodeError: An input is broken, transactions are not in order, or the chain is broken.
        EncodeError: The output's format cannot hold the dataset.
        LimitError: The dataset is too large.
        OptionError: The dataset is several messages, or an option does not fit.
        OSError: A file cannot be read or written.

    Example:
        >>> import io
        >>> out = io.BytesIO()
        >>> done = apply(b"<a:s> <a:p> <a:o> .", b"TX .\nA <a:s> <a:p> <a:t> .\nD <a:s> <a:p> <a:o> .\nTC .\n",
        ...              out, from_format="nq", patch_format="rdf-patch", to_format="nq")
        >>> done.added, done.deleted, out.getvalue()
        (1, 1, b'<a:s> <a:p> <a:t> .\n')
    """
    start = time.perf_counter()
    several = isinstance(patches, (list, tuple))
    old = Inputs([dataset], "messages", options.get("from_format"))
    new = Inputs(patches if several else [patches], "patches", patch_format, "patch_format")  # type: ignore[arg-type,list-item]  # as told
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
            specs = [log.found.spec] if log.found is not None else []
        with streams.open(new) as log:
            _apply(state, log, chain=streams.stages["chain"])
            specs += [log.found.spec] if log.found is not None else []
        target = writing.log(specs, namespaces=state.has_namespaces())
        state.batches(target.write_batch, parts=writing.takes_parts)
    return Changes(
        messages=1,
        quads=len(state),
        **state.applied(),
        dropped=all_dropped(target.dropped),
        seconds=time.perf_counter() - start,
        notes=streams.notes(target),
    )


def _apply(state: _core.Dataset, log: LogReader, *, chain: bool) -> None:
    """Apply the patches of logs.

    Raises:
        DecodeError: They are broken.
    """
    for batch in patch_batches(log):
        with of_log(log):
            state.apply(batch, chain=chain)


def fill(state: _core.Dataset, log: LogReader) -> None:
    """Take the dataset of a log.

    Raises:
        OptionError: It is several messages.
    """
    for batch in of_one_message(log):
        with of_log(log):
            state.add(batch)


def of_one_message(log: LogReader) -> Iterator[MessageBatch]:
    """Give the batches of a log of one message.

    Raises:
        OptionError: There are more: there blank nodes of the same label are not the same.
    """
    count = 0
    for batch in message_batches(log):
        count += len(batch) - batch.continued
        if count > 1:
            raise OptionError(
                f"{log.source} is of several messages, and a dataset is one", remedies=[_GROUPED]
            )
        yield batch
