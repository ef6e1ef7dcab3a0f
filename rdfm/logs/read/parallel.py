"""A driver that decodes in several threads: small files, archive members, and splits of logs.

In: inputs, and settings for reading them. Out: the items of `Driver`, in the same order.
Cost: memory for `jobs` + 2 work units. A unit is a file, a split, or 1 MiB of archive members. Of
each unit, about `BUFFERED_BYTES` of batches are decoded ahead, and the rest when its turn comes.
Gain: 1.4 times for splits, if the output is encoded in threads too (`make bench-gains PATHS=splits`).
Law: the items are those of `Driver`, except for the division into batches and the progress within a
split. A split that contains anything but plain messages (an error, a note, a namespace, a large
message) is discarded. Its log is then read again from the start in one thread, without the messages
that were already returned, or without the quads if the splits are parts of one message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

from rdfm._core import MessageBatch
from rdfm.errors import RdfmError
from rdfm.logs.channel import Channel, ChannelCancelledError
from rdfm.logs.input.driver import (
    NOTHING_DROPPED,
    Driver,
    Item,
    LogEnd,
    OpenedLog,
    Piece,
    ReadBatch,
    ReadSettings,
    Source,
    Work,
    cost,
)
from rdfm.logs.input.inputs import Input, Readable
from rdfm.logs.input.splits import Split
from rdfm.storage.compression import PIECE_BYTES
from rdfm.storage.pool import Pool

__all__ = ["ParallelDriver"]

SPLIT_BYTES = 4 << 20
# The same for compressed logs, in compressed bytes.
COMPRESSED_SPLIT_BYTES = 128 << 10
# A larger file is read and decoded by two threads instead.
FILE_BYTES = 4 << 20
# Handing a smaller file to another thread takes longer than decoding it.
MIN_BYTES = 64 << 10
MIN_COMPRESSED_BYTES = 4 << 10
# Total size of a work unit's batches at which decoding pauses until the unit's turn.
BUFFERED_BYTES = 32 << 20
# Maximum size of a message in a split.
MESSAGE_BYTES = 16 << 20
# Memory of a waiting work unit, in addition to the bytes that were read.
WORK_BYTES = 1 << 16

# Header entries that do not depend on single messages.
_PLAIN = frozenset({"dialect", "version_label", "options", "frames", "restarts", "column_bytes"})


TYPE_CHECKING = False
if TYPE_CHECKING:
    from rdfm.message import AnyBatch


class _StartedWork(NamedTuple):
    """A work unit whose decoding has started.

    Attributes:
        items: The first items, in groups.
        remaining: Yields the remaining items, if there are any.
        error: The error after the first items.
        worker: The driver that decodes the items.
        part: The split from which the items come; None if the unit is not a split.
    """

    items: list[list[Item]]
    remaining: Iterator[list[Item]] | None
    error: Exception | None
    worker: Driver
    part: _Part | None


class _SplitLog:
    """A log that is read in splits.

    Attributes:
        path: The file.
        begin: Number of input bytes before the log.
        size: Its size in bytes.
        source: The log, once its first messages have been read.
        header: Its header.
        messages: Number of messages returned so far.
        quads: Number of quads returned so far, if parts of the log's only message were returned.
        discarded: Whether the log is read in one thread instead.
    """

    def __init__(self, path: str, begin: int, size: int) -> None:
        self.path = path
        self.begin = begin
        self.size = size
        self.source: Source | None = None
        self.header: Mapping[str, Any] = {}
        self.messages = 0
        self.quads: int | None = None
        self.discarded = False

    def convert(self, item: Item, part: _Part) -> ReadBatch | None:
        """Convert an item of a split to an item of the log; None if the split must be discarded."""
        if (
            not isinstance(item, ReadBatch)
            or item.dropped_data != NOTHING_DROPPED
            or not _PLAIN.issuperset(item.header)
        ):
            return None
        if part.split.start == 0:
            self.source = self.source or item.source
            self.header = item.header
        elif any(
            item.header.get(name) != self.header.get(name)
            for name in ("options", "frames", "restarts")
        ):
            return None
        bytes_in = self.begin + min(part.split.file_offset + item.bytes_in, self.size)
        log_item = ReadBatch(self.source or item.source, None, self.header, bytes_in)
        batch = item.batch
        if batch is None:
            return log_item
        if not isinstance(batch, MessageBatch):
            return None
        if part.split.has_lines:
            self.quads = (self.quads or 0) + batch.record_count
            return log_item._replace(batch=batch)
        if batch.continued or batch.continues:
            return None
        if len(batch) and (batch.has_namespaces(0) or batch.declarations()):
            return None
        numbered = batch.numbered(self.messages)
        self.messages += len(batch)
        return log_item._replace(batch=numbered)

    def remove_returned(self, item: Item) -> Item:
        """Return an item of the log, read in one thread, without the messages already returned."""
        item = item._replace(source=self.source or item.source)
        if not isinstance(item, ReadBatch) or item.batch is None:
            return item
        if self.quads is not None:
            return self._remove_quads(item, item.batch, self.quads)
        returned_count = self.messages - item.batch.first_message_index
        if returned_count <= 0:
            return item
        if returned_count >= len(item.batch):
            return item._replace(batch=None)
        return item._replace(batch=item.batch.slice(returned_count, len(item.batch)))

    def _remove_quads(self, item: ReadBatch, batch: AnyBatch, returned_count: int) -> ReadBatch:
        if not isinstance(batch, MessageBatch):
            return item
        if batch.record_count <= returned_count and len(batch) == 1 and batch.continues:
            self.quads = returned_count - batch.record_count
            return item._replace(batch=None)
        self.quads = None
        return item._replace(batch=batch.rest_after(returned_count))


class _Part(NamedTuple):
    """A split of a log.

    Attributes:
        log: The log.
        split: The split.
        is_last: Whether the split is the last one of the log.
    """

    log: _SplitLog
    split: Split
    is_last: bool


class ParallelDriver(Driver):
    """A driver that decodes in several threads."""

    def __init__(
        self, inputs: list[Readable], settings: ReadSettings, jobs: int, *, splits: bool
    ) -> None:
        """Initialize with the inputs, the settings for reading and the number of threads.

        Args:
            inputs: The inputs.
            settings: Settings for reading the inputs.
            jobs: The number of threads.
            splits: Whether logs may be read in splits. The progress within them is approximate, so
                this is not for callers that stop early.

        Raises:
            OptionError, UnknownFormatError: As in `Driver`.
        """
        super().__init__(inputs, settings)
        self._splits = (
            splits
            and settings.split is None
            and settings.watch is None
            and not settings.message_per_file
        )
        self._pool: Pool[_StartedWork] = Pool("rdfm-decode", jobs, self._wake)
        self._workers: list[Driver] = []  # idle drivers
        self._in_threads: set[Input] = set()  # files that threads are reading
        self._arriving: Channel[Piece] | None = None

    def close(self) -> None:
        """Close the open files, and end the threads."""
        self._pool.close()
        for data in list(self._in_threads):
            data.close()
        super().close()

    # --- the first half: work that a thread can do on its own ---

    def _read_log(self, data: Input, file: Input) -> Iterator[Piece]:
        if data is not file or not self._is_separate(data):
            yield from super()._read_log(data, file)
            return
        size = data.size or 0
        min_bytes = MIN_BYTES if data.compression is None else MIN_COMPRESSED_BYTES
        if min_bytes <= size <= FILE_BYTES and self.several:
            self._logs += 1
            read_bytes = min(size, PIECE_BYTES)  # to detect the compression
            work = Work(self._file_work(data, self._bytes_before))
            yield Piece(work, self._bytes_before, WORK_BYTES + read_bytes)
            return
        split_bytes = SPLIT_BYTES if data.compression is None else COMPRESSED_SPLIT_BYTES
        parts = self._plan_parts(data, size, split_bytes) if size >= 2 * split_bytes else []
        if not parts:
            yield from super()._read_log(data, file)
            return
        self._logs += 1
        data.close()
        self.opened.remove(data)
        for part in parts:
            yield Piece(Work(self._split_work(part), part), self._bytes_before, WORK_BYTES)

    def _is_separate(self, data: Input) -> bool:
        """Whether another thread can read a file at any time."""
        return (
            data.local_path is not None and self._settings.watch is None and data.rejection is None
        )

    def _file_work(self, data: Input, begin: int) -> Callable[[Driver], Iterator[list[Item]]]:
        """Return a function that decodes a file in a thread."""

        def work(worker: Driver) -> Iterator[list[Item]]:
            yield from worker.decode_file(data, begin)
            self._in_threads.discard(data)

        self.opened.remove(data)
        self._in_threads.add(data)
        return work

    def _plan_parts(self, data: Input, size: int, split_bytes: int) -> list[_Part]:
        """Return the splits of a file; an empty list if the file must be read in one piece."""
        path = data.local_path
        if path is None or not self._splits:
            return []
        from rdfm.logs.read.plan import split_log  # costly to import

        try:
            splits = split_log(path, self._settings, split_bytes=split_bytes, count=False)
        except (RdfmError, OSError):  # reported when the log is read
            return []
        if len(splits) < 2:
            return []
        log = _SplitLog(path, self._bytes_before, size)
        return [_Part(log, split, split is splits[-1]) for split in splits]

    def _split_work(self, part: _Part) -> Callable[[Driver], Iterator[list[Item]]]:
        """Return a function that decodes a split in a thread."""
        options = dict(self._settings.options)
        max_message_bytes = options.get("max_message_bytes")
        if not isinstance(max_message_bytes, int) or max_message_bytes > MESSAGE_BYTES:
            options["max_message_bytes"] = MESSAGE_BYTES
        settings = replace(
            self._settings,
            format=part.split.format,
            options=options,
            split=part.split,
            parts="always" if part.split.has_lines else "never",
        )

        def work(_: Driver) -> Iterator[list[Item]]:
            if part.log.discarded:
                return
            driver = Driver([part.log.path], settings)
            try:
                yield from driver.decode_all(driver.pieces())
            finally:
                driver.close()

        return work

    # --- the second half: decoding in threads ---

    def decode_all(self, pieces: Iterable[Piece]) -> Iterator[list[Item]]:
        """Yield the items decoded from pieces, grouped as they become available."""
        self._arriving = pieces if isinstance(pieces, Channel) else None
        try:
            yield from self._decode(iter(pieces))
        finally:
            self._pool.close()

    def _decode(self, pieces: Iterator[Piece]) -> Iterator[list[Item]]:
        while True:
            while len(self._pool) and not self._has_arrived():
                yield from self._take_finished()
            try:
                piece = next(pieces, None)
            except ChannelCancelledError:
                raise
            except Exception:  # raised after the items of earlier work
                yield from self._take_finished(all=True)
                raise
            if piece is None:
                yield from self._take_finished(all=True)
                return
            if isinstance(piece.item, OpenedLog):
                yield from self._take_finished(all=True)
                yield from super().decode_all(chain((piece,), _log_pieces(pieces)))
                continue
            self._submit(piece)
            yield from self._take_finished()

    def _wake(self) -> None:
        if self._arriving is not None:
            self._arriving.wake()

    def _has_arrived(self) -> bool:
        """Wait for a piece or for finished work. Return whether a piece has arrived."""
        return self._arriving is None or self._arriving.wait(self._pool.is_ready)

    def _submit(self, piece: Piece) -> None:
        worker = self._workers.pop() if self._workers else self.create_worker_driver()
        if isinstance(piece.item, Work):
            items, part = piece.item.begin(worker), piece.item.part
        else:
            items, part = worker.decode_all(iter((piece,))), None

        def begin() -> _StartedWork:
            groups: list[list[Item]] = []
            buffered = 0
            try:
                for group in items:
                    groups.append(group)
                    buffered += sum(map(cost, group))
                    if part is not None and not all(isinstance(item, ReadBatch) for item in group):
                        break  # the split is discarded
                    if buffered >= BUFFERED_BYTES:
                        return _StartedWork(groups, items, None, worker, part)
            except Exception as error:
                return _StartedWork(groups, None, error, worker, part)
            return _StartedWork(groups, None, None, worker, part)

        self._pool.submit(begin)

    def _take_finished(self, *, all: bool = False) -> Iterator[list[Item]]:
        """Yield the items of finished work. With `all`, wait for all work first."""
        for started in self._pool.take(all=all):
            if started.part is None:
                yield from _all_items(started)
            else:
                yield from self._split_items(started, started.part)
            self._workers.append(started.worker)

    def _split_items(self, started: _StartedWork, part: _Part) -> Iterator[list[Item]]:
        """Yield the items of a split, or of the rest of its log if the split is discarded."""
        log = part.log
        if log.discarded:
            return
        try:
            for group in _all_items(started):
                for item in group:
                    log_item = log.convert(item, part)
                    if log_item is None:
                        yield from self._read_again(log)
                        return
                    if log_item.batch is not None:
                        yield [log_item]
        except RdfmError:
            yield from self._read_again(log)
            return
        if part.is_last and log.source is not None:
            yield [ReadBatch(log.source, None, log.header, log.begin + log.size)]

    def _read_again(self, log: _SplitLog) -> Iterator[list[Item]]:
        """Read a log in this thread; yield the items after the messages already returned."""
        log.discarded = True
        worker = self.create_worker_driver()
        data = Input(
            log.path, self._settings.compression, storage_options=self._settings.storage_options
        )
        try:
            for group in worker.decode_file(data, log.begin):
                yield [log.remove_returned(item) for item in group]
        finally:
            worker.close()


def _all_items(started: _StartedWork) -> Iterator[list[Item]]:
    yield from started.items
    if started.remaining is not None:
        yield from started.remaining
    if started.error is not None:
        raise started.error


def _log_pieces(pieces: Iterator[Piece]) -> Iterator[Piece]:
    """Yield the pieces of the log that was opened, up to its end."""
    for piece in pieces:
        yield piece
        if isinstance(piece.item, LogEnd):
            return
