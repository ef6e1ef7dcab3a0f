"""Changes of datasets: patches applied to a dataset, made of logs and of differences.

In: datasets and logs of messages or patches, as `open_log` takes them. Out: a dataset, or a log.
Cost: a dataset that is changed or compared is held in memory, some 60 bytes a quad beside its terms; the rest holds a
batch. Law: blank nodes of a dataset and of the patches to it are known by their labels.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Unpack, cast

from rdfm import _core, formats
from rdfm._core import MessageBatch, PatchBatch
from rdfm.errors import DecodeError, EncodeError, OptionError
from rdfm.logs.chain import Chain
from rdfm.logs.output import Writable, output_format, suffix_options
from rdfm.logs.reader import LogReader, open_log
from rdfm.logs.writer import LogWriter, create_log
from rdfm.message import Message

if TYPE_CHECKING:
    from rdfm.formats.options_generated import WriteOptions
    from rdfm.logs.input import Readable

__all__ = ["Changes", "apply", "diff", "from_log", "to_log"]


@dataclass(frozen=True)
class Changes:
    """What was done.

    Attributes:
        messages: Messages or patches written.
        quads: Quads of the dataset that was written; of `diff` those that differ.
        added: Quads that were added.
        deleted: Quads that were deleted.
        without_effect: Adds of what was there, and deletes of what was not.
        committed: Transactions that were committed.
        undone: Transactions that were aborted, or that their patch did not end.
        dropped: What could not be held and was left out, by name and count.
        seconds: Time taken.
    """

    messages: int = 0
    quads: int = 0
    added: int = 0
    deleted: int = 0
    without_effect: int = 0
    committed: int = 0
    undone: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0


def apply(
    dataset: Readable,
    patches: Readable | Sequence[Readable],
    output: Writable,
    *,
    from_format: str | None = None,
    patch_format: str | None = None,
    to_format: str | None = None,
    chain: bool = True,
    **options: Unpack[WriteOptions],
) -> Changes:
    r"""Apply patches to a dataset, in order, and write what it is then.

    What a transaction changed that is aborted, or that its patch does not end, is undone. Prefixes are left alone.

    Args:
        dataset: A log of one message.
        patches: A log of patches, or several.
        output: What `create_log` takes.
        from_format: The format of the dataset; found from the suffix, then from the content, unless given.
        patch_format: That of the patches; found from the suffix unless given.
        to_format: That of the output; found from the suffix unless given.
        chain: Refuse a patch whose `prev` is not the `id` of the patch before.
        **options: Those of the output's format.

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
    state = _core.Dataset()
    _fill(state, dataset, from_format)
    links = Chain()
    several = isinstance(patches, (list, tuple))
    for given in cast("Sequence[Readable]", patches if several else [patches]):
        with open_log(given, patch_format, parts=True) as log:
            for batch in _of_kind(log, PatchBatch):
                links.add(batch)
                if chain and links.first is not None:
                    raise DecodeError(
                        f"{links.first}; the chain is broken", source=log.source
                    ) from None
                try:
                    state.apply(batch)
                except DecodeError as error:
                    error.source = log.source
                    raise
    with _created(output, to_format, options) as (log_out, parts):
        state.batches(log_out.write_batch, parts=parts)
    done = Changes(messages=1, quads=len(state), dropped=log_out.dropped, **state.applied())
    return replace(done, seconds=time.perf_counter() - start)


def from_log(
    log: Readable,
    output: Writable,
    *,
    from_format: str | None = None,
    to_format: str | None = None,
    **options: Unpack[WriteOptions],
) -> Changes:
    """Make a log of patches of a log of messages: each message a patch, of one transaction of adds.

    The labels of blank nodes are set apart by message, since those of patches are the whole log's.

    Args:
        log: A log of messages.
        output: What `create_log` takes.
        from_format: The format of the log; found from the suffix, then from the content, unless given.
        to_format: That of the output; found from the suffix unless given.
        **options: Those of the output's format.

    Raises:
        RdfmError, OSError: As `convert`.
    """
    start = time.perf_counter()
    made = _core.ToPatches()
    with (
        open_log(log, from_format) as source,
        _created(output, to_format, options) as (target, _),
    ):
        for batch in _of_kind(source, MessageBatch):
            try:
                patches = made.patches(batch)
            except EncodeError as error:
                error.source = source.source
                raise
            if patches is not None:
                target.write_batch(patches)
    dropped = {"metadata": made.dropped(), **target.dropped}
    dropped = {name: count for name, count in dropped.items() if count}
    seconds = time.perf_counter() - start
    return Changes(messages=target.messages, dropped=dropped, seconds=seconds)


def to_log(
    patches: Readable,
    output: Writable,
    *,
    from_format: str | None = None,
    to_format: str | None = None,
    separate_blank_nodes: bool = False,
    **options: Unpack[WriteOptions],
) -> Changes:
    """Make a log of messages of a log of patches: each transaction that is committed is a message.

    What is added outside of transactions is a message too, up to the next transaction or the end of its patch.

    Args:
        patches: A log of patches that delete nothing.
        output: What `create_log` takes.
        from_format: The format of the patches; found from the suffix unless given.
        to_format: That of the output; found from the suffix unless given.
        separate_blank_nodes: A blank node that stands in several transactions becomes several, since labels of
            messages are their own; without, it is refused.
        **options: Those of the output's format.

    Raises:
        EncodeError: A patch deletes something, or a blank node stands in several transactions.
        RdfmError, OSError: As `convert`.
    """
    start = time.perf_counter()
    made = _core.ToMessages(separate=separate_blank_nodes)
    with (
        open_log(patches, from_format) as source,
        _created(output, to_format, options) as (target, _),
    ):
        for batch in _of_kind(source, PatchBatch):
            try:
                messages = made.messages(batch)
            except EncodeError as error:
                error.source = source.source
                raise
            if messages is not None:
                target.write_batch(messages)
    dropped = {**made.dropped(), **target.dropped}
    seconds = time.perf_counter() - start
    return Changes(messages=target.messages, dropped=dropped, seconds=seconds)


def diff(
    old: Readable,
    new: Readable | None,
    output: Writable,
    *,
    from_format: str | None = None,
    to_format: str | None = None,
    per_message: bool = False,
    canonical: bool = False,
    **options: Unpack[WriteOptions],
) -> Changes:
    """Write the changes that make a dataset another one: a transaction of deletes, then adds.

    Blank nodes are compared by their labels; with `canonical` by structure, and then have canonical labels.

    Args:
        old: A dataset, a log of one message; with `per_message` a log.
        new: The other one. None: of the log `old` the changes from each message to the next, a patch each.
        output: What `create_log` takes, of a format of patches.
        from_format: The format of the inputs; found from the suffix, then from the content, unless given.
        to_format: That of the output; found from the suffix unless given.
        per_message: Compare the messages of both logs one by one, a patch each; where one log is shorter, its messages
            are empty.
        canonical: Compare blank nodes by structure (RDFC-1.0).
        **options: Those of the output's format.

    Raises:
        RdfmError, OSError: As `convert`.
    """
    start = time.perf_counter()
    with _created(output, to_format, options) as (target, parts):
        if new is not None and not per_message and not canonical:
            state = _core.Dataset()
            _fill(state, old, from_format)
            difference = _core.Difference(state)
            with open_log(new, from_format, parts=True) as log:
                for batch in _one_message(log):
                    difference.add(batch)
            pairs: Iterator[_core.Difference] = iter([difference])
        else:
            pairs = _differences(old, new, from_format, per_message, canonical)
        deleted = added = 0
        for index, difference in enumerate(pairs):
            counts = difference.counts()
            deleted, added = deleted + counts[0], added + counts[1]
            _write_patch(difference, target, index, parts)
    return Changes(
        messages=target.messages,
        quads=deleted + added,
        added=added,
        deleted=deleted,
        dropped=target.dropped,
        seconds=time.perf_counter() - start,
    )


def _differences(
    old: Readable, new: Readable | None, from_format: str | None, per_message: bool, canonical: bool
) -> Iterator[_core.Difference]:
    """The differences of pairs of messages."""
    if new is None:
        with open_log(old, from_format) as log:
            before = Message()
            for batch in _of_kind(log, MessageBatch):
                for message in batch:
                    yield _difference(before, message, canonical)
                    before = message
        return
    with open_log(old, from_format) as first, open_log(new, from_format) as second:
        if not per_message:
            yield _difference(_whole(first), _whole(second), canonical)
            return
        for one, other in zip_longest(_messages(first), _messages(second)):
            yield _difference(one or Message(), other or Message(), canonical)


def _difference(old: Message, new: Message, canonical: bool) -> _core.Difference:
    state = _core.Dataset()
    state.add(_batch(old, canonical))
    difference = _core.Difference(state)
    difference.add(_batch(new, canonical))
    return difference


def _batch(message: Message, canonical: bool) -> MessageBatch:
    if canonical:
        decoded: MessageBatch = formats.nq.decode(message.canonical().encode())
        return decoded
    return MessageBatch.from_messages([message])


def _write_patch(difference: _core.Difference, target: LogWriter, index: int, parts: bool) -> None:
    batches = iter(difference.next_batch, None)
    if parts and index == 0:
        for batch in batches:
            target.write_batch(batch)
        return
    operations = [operation for batch in batches for patch in batch for operation in patch]
    target.write_batch(PatchBatch.from_patches([operations], first_index=index))


def _messages(log: LogReader) -> Iterator[Message]:
    for batch in _of_kind(log, MessageBatch):
        yield from batch


def _whole(log: LogReader) -> Message:
    """The one message of a log."""
    found = [message for batch in _one_message(log) for message in batch]
    return found[0] if found else Message()


def _fill(state: _core.Dataset, source: Readable, format: str | None) -> None:
    with open_log(source, format, parts=True) as log:
        for batch in _one_message(log):
            state.add(batch)


def _one_message(log: LogReader) -> Iterator[MessageBatch]:
    """The batches of a log of one message.

    Raises:
        OptionError: There are more: blank nodes of the same label are not the same there.
    """
    for batch in _of_kind(log, MessageBatch):
        if batch.first_index + len(batch) - batch.continued > 1:
            raise OptionError(
                f"{log.source} holds several messages, and a dataset is one; convert makes one of them with"
                " group_by=\"all\""
            )
        yield batch


def _of_kind(log: LogReader, kind: type[Any]) -> Iterator[Any]:
    for batch in log.batches():
        if not isinstance(batch, kind):
            wanted = "patches" if kind is PatchBatch else "messages"
            raise OptionError(f"{log.source} holds {batch.kind}, not {wanted}")
        yield batch


@contextmanager
def _created(
    output: Writable, to_format: str | None, options: Any
) -> Iterator[tuple[LogWriter, bool]]:
    """A log being written, and whether its format takes messages in parts."""
    found = output_format(output, to_format)
    given = {**suffix_options(output, found.spec), **options}
    with create_log(output, to_format, **options) as log:
        yield log, found.spec.takes_parts(given)
