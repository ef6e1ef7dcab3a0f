"""Canonical hashes of messages: `hash`, and `hash_column` for columns of quads.

In: logs that `open_log` accepts. Out: a hash for each message, or one hash of all messages.
Cost: decoding runs ahead in a thread. Memory for a batch of messages and its canonical text.
Law: messages have equal hashes if and only if they are equal up to blank node labels, order and
repetition of quads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Unpack

from rdfm._core import MessageBatch, batches_from_arrow, canonical_hashes
from rdfm.compare.canonical import MAX_STEPS
from rdfm.conversion.canonical_stage import STEPS, HashBatch, Hashes
from rdfm.conversion.selection_plan import select
from rdfm.errors import OptionError
from rdfm.logs.input.driver import Driver, ReadBatch, ReadSettings
from rdfm.logs.input.inputs import Readable, input_list
from rdfm.logs.input.progress import Progress, ProgressFunction, Reporter, total_bytes
from rdfm.logs.options import READING, SKIP_MESSAGES
from rdfm.logs.read.frames import require_package
from rdfm.logs.read.rows import RowReader
from rdfm.logs.reader_lock import LockedIterator
from rdfm.logs.stages.selection import SELECTING
from rdfm.logs.stages.stage import SkipErrors, Tally, Watcher

if TYPE_CHECKING:
    import pyarrow

    from rdfm.formats.options_generated import ReadOptions

__all__ = ["HASH", "MessageHash", "MessageHashes", "hash", "hash_column"]

_SELECTING = ("messages", "sample", "seed")
HASH = {
    option.name: option
    for option in (
        *READING,
        SKIP_MESSAGES,
        *(option for option in SELECTING if option.name in _SELECTING),
        STEPS,
    )
}


class MessageHash(NamedTuple):
    """The hash of a message.

    Attributes:
        source: Name of the log.
        message_index: Index of the message in its log, from 0.
        hash: SHA-256 of the canonical N-Quads (RDFC-1.0) of the message, as 64 hexadecimal digits.
    """

    source: str
    message_index: int
    hash: str


class MessageHashes(RowReader):
    """The hashes of messages: an iterable, and a table for pyarrow, pandas, Polars and DuckDB.

    Returned by `hash`. Hashes are computed on demand and can be read only once. Only one thread can
    use them at a time; a concurrent call raises RuntimeError.

    Attributes:
        tally: Counts of skipped data.
    """

    _AGAIN = "hash the log again"

    def __init__(self, driver: Driver, stages: Sequence[Any]) -> None:
        """Open the input. Use `hash` instead."""
        super().__init__(driver, stages)
        self.tally: Tally = self._tally

    @property
    def skipped(self) -> int:
        """Number of errors skipped so far (`on_error="skip"`)."""
        return self._tally.skipped

    def notes(self) -> tuple[str, ...]:
        """Return notes on the inputs. They are complete once all hashes have been read."""
        return self._driver.notes() if isinstance(self._driver, Driver) else ()

    def log_hash(self) -> str:
        """Return the SHA-256 of the hashes of all messages in order, in hexadecimal.

        It is computed over 32 bytes for each message.

        Raises:
            RdfmError, OSError: As in a loop over the hashes.
            ValueError: If the hashes have already been read.
        """
        total = sha256()
        with self._lock:
            for batch in self._batches():
                total.update(batch.hashes)
        return total.hexdigest()

    def __iter__(self) -> Iterator[MessageHash]:
        """Return an iterator over the hashes.

        Raises:
            DecodeError: If a log is invalid. Earlier hashes have been returned.
            EncodeError: If RDFC-1.0 does not support a message.
            LimitError: If a message needs more than `max_steps`.
            OptionError: If a log contains patches or results, or the selected message does not
                exist.
            ValueError: If the hashes have already been read.
            RuntimeError: If another thread is using the hashes.
        """
        return LockedIterator(self._lock, chain.from_iterable(self._lists()))

    def batches(self) -> Iterator[list[MessageHash]]:
        """Return an iterator over lists of hashes, one for each batch of messages.

        Raises:
            RdfmError, ValueError, RuntimeError: As in a loop over the hashes.
        """
        return LockedIterator(self._lock, self._lists())

    def _lists(self) -> Iterator[list[MessageHash]]:
        for batch in self._batches():
            yield [MessageHash(batch.source, index, digest.hex()) for index, digest in batch.rows()]

    def _batches(self) -> Iterator[HashBatch]:
        self._check_unread()
        self._ended = True
        yield from self._staged_batches

    def _arrow_reader(self) -> pyarrow.RecordBatchReader:
        self._check_unread()
        with require_package("pyarrow", "a table of hashes"):
            import pyarrow as pa
        schema = pa.schema(
            [("source", pa.string()), ("message_index", pa.int64()), ("hash", pa.string())]
        )

        def record_batch(rows: list[MessageHash]) -> pyarrow.RecordBatch:
            return pa.RecordBatch.from_pylist([row._asdict() for row in rows], schema=schema)

        reader: pyarrow.RecordBatchReader = pa.RecordBatchReader.from_batches(
            schema, map(record_batch, self.batches())
        )
        return reader

    def __repr__(self) -> str:
        """Return a short description, such as `<MessageHashes of x.jelly>`."""
        return f"<MessageHashes of {self._name}>"


def hash(
    logs: Readable | Sequence[Readable],
    format: str | None = None,
    *,
    messages: str | int | None = None,
    sample: str | None = None,
    seed: int | None = None,
    max_steps: int = MAX_STEPS,
    on_error: Literal["fail", "skip"] = "fail",
    message_per_file: bool = False,
    compression: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    progress: ProgressFunction = None,
    **options: Unpack[ReadOptions],
) -> MessageHashes:
    r"""Compute the hash of each message: SHA-256 of its canonical N-Quads (RDFC-1.0).

    Messages that are equal up to blank node labels, and order and repetition of quads, have equal
    hashes. `Message.canonical_hash` returns the same hash.

    Args:
        logs: An input that `open_log` accepts, or a list of inputs.
        format: Format of the logs. Detected for each input by default.
        messages: The messages to hash, counted from 0 over all inputs: a number ("5000"), or a
            slice as for lists ("100:200", "-10:", "::100").
        sample: Random sample: a share of the messages ("1%"), or a number ("500"; reads the inputs
            twice).
        seed: Number that determines the sample. 0 by default.
        max_steps: Maximum work to label the blank nodes of a message, in quads visited.
        on_error: "fail", or "skip" to omit invalid messages. Exceeding a limit still fails.
        message_per_file: Read each input as one message, even if it is empty.
        compression: As in `open_log`.
        storage_options: As in `open_log`.
        progress: As in `convert`.
        **options: Options of the formats' decoders. Each log uses those that its format supports.

    Returns:
        The hashes: an iterable of `MessageHash`. Its method `log_hash` returns one hash of all
        messages.

    Raises:
        OptionError: If an option does not apply, or there is no input.
        RdfmError, OSError: As in `open_log`, including while the hashes are read.

    Example:
        >>> log = b'_:a <x:p> "1" .\n# @message\n_:b <x:p> "1" .\n'
        >>> [(each.message_index, each.hash[:8]) for each in hash(log, "nq")]
        [(0, '6fccb61f'), (1, '6fccb61f')]
    """
    inputs = input_list(logs)
    if not inputs:
        raise OptionError("there is nothing to hash; name a log")
    given = {
        "from_format": format,
        "message_per_file": message_per_file,
        "on_error": on_error,
        "messages": None if messages is None else str(messages),
        "sample": sample,
        "seed": seed,
        "max_steps": max_steps,
    }
    stages = {name: HASH[name].value(value) for name, value in given.items() if value is not None}
    reads: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    settings = ReadSettings(
        stages.get("from_format"),
        reads,
        compression,
        storage_options,
        message_per_file=stages["message_per_file"],
        needs_logs=True,
    )
    selection, settings = select(stages, inputs, settings, tuple, numbered=True)
    skipping = SkipErrors(skip=stages["on_error"] == "skip")
    watcher = _create_watcher(inputs, progress)
    hashing = Hashes(stages["max_steps"])
    return MessageHashes(Driver(inputs, settings), (*watcher, skipping, *selection, hashing))


def hash_column(quads: pyarrow.Array, max_steps: int = MAX_STEPS) -> pyarrow.Array:
    """Hash each message of a column of quads, for example in Spark.

    Args:
        quads: Messages as lists of quads, in canonical N-Triples.
        max_steps: As in `hash`.

    Returns:
        Strings as in `MessageHash.hash`; null for null.

    Raises:
        DecodeError: If a message is not valid RDF.
        EncodeError, LimitError: As in a loop over the hashes.
    """
    import pyarrow as pa

    is_given = quads.is_valid()
    digests: list[str] = []
    for batch in batches_from_arrow(pa.record_batch([quads.filter(is_given)], names=["quads"])):
        assert isinstance(batch, MessageBatch)
        hashes, error = canonical_hashes(batch, max_steps=max_steps)
        if error is not None:
            raise error
        digests += [digest.hex() for _, digest in HashBatch(hashes, batch, "").rows()]
    values = iter(digests)
    column = [next(values) if given else None for given in is_given.to_pylist()]
    return pa.array(column, pa.string())


def _create_watcher(inputs: Sequence[Readable], progress: ProgressFunction) -> tuple[Watcher, ...]:
    """Return a stage that reports the progress of reading, if there is a function for it."""
    if progress is None:
        return ()
    report, total = Reporter(progress), total_bytes(inputs)
    bytes_in = messages = quads = 0

    def current() -> Progress:
        return Progress(bytes_in, total, messages, quads)

    def count(item: ReadBatch) -> None:
        nonlocal bytes_in, messages, quads
        bytes_in = item.bytes_in
        if item.batch is not None:
            messages += len(item.batch)
            quads += item.batch.record_count
        report(current)

    return (Watcher(count, lambda: report(current, force=True)),)
