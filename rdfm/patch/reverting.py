"""Patches that undo patches: `revert`.

In: patch logs. Out: a patch log that undoes them, beginning with the last patch.
Cost: the operations are stored until the logs have been read completely: up to 64 MiB in memory,
the rest in a temporary file.
Law: a log followed by its reversal changes nothing, if each operation of the log has an effect.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from typing import IO, TYPE_CHECKING, NamedTuple, Self, Unpack, cast

from rdfm import _core, formats
from rdfm._core import PatchBatch
from rdfm.patch.changes import Changes, sum_dropped
from rdfm.patch.patch_options import REVERT
from rdfm.patch.streams import Inputs, Streams, locate_errors, patch_batches

if TYPE_CHECKING:
    from rdfm.formats.options_generated import ChangeOptions
    from rdfm.logs.input.inputs import Readable
    from rdfm.logs.input.progress import ProgressFunction
    from rdfm.logs.write.output import Writable

__all__ = ["revert"]

MEMORY_BYTES = 64 << 20
# Format of the temporary file. It preserves every term. Headers mark the transactions, because a
# transaction may be divided among blocks.
_FORMAT = "jelly-patch"
_OPTIONS = {
    "stream_type": "punctuated",
    "statement_type": "quads",
    "rdf_star": True,
    "generalized": True,
}

# The limits were checked when the patches were read.
_LIMITS = {"max_message_bytes": 3 << 30, "max_depth": 100}


def revert(
    patches: Readable | Sequence[Readable],
    output: Writable,
    *,
    chain: bool = True,
    progress: ProgressFunction = None,
    **options: Unpack[ChangeOptions],
) -> Changes:
    r"""Write the patches that undo patches: the last patch first, its operations in reverse order.

    Adds become deletes, and deletes become adds. A prefix gets the IRI that it had before in the
    log, or is deleted. Transactions that are aborted, or not ended by their patch, are omitted.
    Headers are also omitted, but the first patch written gets a `prev`: the `id` of the last patch
    read.

    A patch does not record whether a quad that it adds already existed, or whether a quad that it
    deletes was missing. The result is therefore exact only for patches in which every add and
    delete has an effect, such as those of `diff`.

    Args:
        patches: One or more patch logs, in the order in which they are applied.
        output: Output that `create_log` accepts, in a patch format.
        chain: Reject a patch whose `prev` is not the `id` of the previous patch.
        progress: True for a progress bar, or a function to call about ten times per second.
        **options: Options of the formats, and `from_format`, `to`, `compression` and the
            other options of `create_log`, as for `convert`.

    Raises:
        DecodeError: If an input is invalid, transactions are not in order, or the chain is broken.
        LimitError: If the prefixes are larger than `max_message_bytes`, or a patch is larger than
            its format allows.
        RdfmError, OSError: As in `convert`, or if the temporary file cannot be written.

    Example:
        >>> import io
        >>> out = io.BytesIO()
        >>> done = revert(b"TX .\nD <a:s> <a:p> <a:o> .\nA <a:s> <a:p> <a:t> .\nTC .\n", out,
        ...               from_format="rdf-patch", to="rdf-patch")
        >>> print(out.getvalue().decode(), end="")
        TX .
        D <a:s> <a:p> <a:t> .
        A <a:s> <a:p> <a:o> .
        TC .
    """
    start = time.perf_counter()
    is_list = isinstance(patches, (list, tuple))
    logs = cast("Sequence[Readable]", patches if is_list else [patches])
    inputs = Inputs(logs, "patches", options.get("from_format"))
    streams = Streams([inputs], output, "patches", {**options, "chain": chain}, REVERT, progress)
    inverse = _core.InversePatches(
        chain=streams.stages["chain"], max_message_bytes=streams.max_message_bytes()
    )
    with streams.create() as writing, _Blocks() as blocks:
        with streams.open(inputs) as log:
            for batch in patch_batches(log):
                with locate_errors(log):
                    steps = inverse.add(batch)
                for step in steps:
                    if isinstance(step, int):
                        blocks.remove_last(step)
                    else:
                        blocks.store(step)
            specs = [log._format.spec] if log._format is not None else []
        done = inverse.done()
        last, backward = inverse.finish(parts=writing.accepts_parts)
        if last is not None:
            blocks.store(last)
        for block in blocks.pop_backward():
            for inverse_batch in backward.add(block):
                writing.log(specs).write_batch(inverse_batch)
        if (rest := backward.finish()) is not None:
            writing.log(specs).write_batch(rest)
    target = writing.log()
    deleted, added = backward.counts()
    return Changes(
        messages=target.messages,
        quads=deleted + added,
        added=added,
        deleted=deleted,
        committed=done["committed"],
        undone=done["undone"],
        dropped=sum_dropped(
            {"headers": done["headers"], "deletions of prefixes": done["prefixes"]}, target.dropped
        ),
        seconds=time.perf_counter() - start,
        notes=streams.notes(target),
    )


class _StoredBlock(NamedTuple):
    """Byte offset and length of a block in the temporary file."""

    start: int
    length: int


class _Blocks:
    """Stack of blocks: in memory up to `MEMORY_BYTES`, then in a temporary file."""

    def __init__(self) -> None:
        self._blocks: list[PatchBatch | _StoredBlock] = []
        self._bytes = 0  # size of the blocks in memory
        self._file: IO[bytes] | None = None
        self._end = 0

    def store(self, block: PatchBatch) -> None:
        """Add a block.

        Raises:
            OSError: If the temporary file cannot be written.
        """
        if self._bytes + block.memory_bytes <= MEMORY_BYTES:
            self._bytes += block.memory_bytes
            self._blocks.append(block)
            return
        encoder = formats.find(_FORMAT).encoder(_OPTIONS)
        data = encoder.encode(block) + encoder.finish()
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix="rdfm-")  # noqa: SIM115 - __exit__ closes it
            self._file.seek(self._end)
            self._file.write(data)
            self._file.flush()
        except OSError as error:
            error.filename = error.filename or tempfile.gettempdir()
            raise
        self._blocks.append(_StoredBlock(self._end, len(data)))
        self._end += len(data)

    def remove_last(self, count: int) -> None:
        for _ in range(count):
            block = self._blocks.pop()
            if isinstance(block, _StoredBlock):
                self._end = block.start
            else:
                self._bytes -= block.memory_bytes

    def pop_backward(self) -> Iterator[PatchBatch]:
        """Yield and remove the blocks, the last one first."""
        while self._blocks:
            block = self._blocks.pop()
            if isinstance(block, _StoredBlock):
                yield from self._read(block)
            else:
                yield block

    def _read(self, block: _StoredBlock) -> Iterator[PatchBatch]:
        """Yield the batches of a block in the file, the last one first."""
        assert self._file is not None
        self._file.seek(block.start)
        data = self._file.read(block.length)
        decoder = formats.find(_FORMAT).decoder(_LIMITS)
        decoder.feed(data)
        decoder.finish()
        batches = []
        while (batch := decoder.next_batch()) is not None:
            batches.append(cast("PatchBatch", batch))
        yield from reversed(batches)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()
