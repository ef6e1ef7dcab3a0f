"""Publishing: appends the messages of a publication to the log of its topic.

In: frames of one client. Out: the same messages in the log, committed batch by batch.
Cost: per publication a decoder and at most `QUEUE_BYTES` of frames (or one frame, if it is larger),
and the open message of a flat stream. At most `DECODED_BATCHES` decoded batches exist at a time.
Law: messages are appended completely, once, and in the order of their publication. Concurrent
publications are interleaved only between complete messages. If a publication is aborted, its
complete messages are kept. No other process can append to a log while the server has publications
for it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from pathlib import Path
from typing import Any, cast

from rdfm import formats
from rdfm._core import MessageBatch
from rdfm.errors import RdfmError
from rdfm.live.memory import BufferedFrames
from rdfm.logs.write.writer import LogWriter, create_log
from rdfm.storage.jelly_wire import COLUMNS_VERSION, StreamOptions, delimited

__all__ = ["DECODED_BATCHES", "FrameQueue", "Publication", "TopicWriter"]

QUEUE_BYTES = 4 << 20
DECODED_BATCHES = 4
_PHYSICAL = {1: "triples", 2: "quads", 3: "graphs"}


class FrameQueue:
    """Frames that have been received but not yet appended.

    Attributes:
        complete: Whether the client ended the stream normally.
    """

    def __init__(self, buffered: BufferedFrames) -> None:
        """Initialize without frames.

        Args:
            buffered: Counts the bytes of frames until they are appended.
        """
        self.complete = False
        self._buffered = buffered
        self._frames: deque[bytes] = deque()
        self._bytes = 0  # of the frames in the queue
        self._taken = 0  # bytes of the frames taken but not yet appended
        self._changed = asyncio.Condition()
        self._closed = False

    async def put(self, frame: bytes) -> None:
        """Add a frame; wait while the queue is full. After `close`, frames are discarded.

        Raises:
            MemoryLimitError: If the client exceeds its limit of buffered bytes.
        """
        async with self._changed:
            while self._bytes >= QUEUE_BYTES and not self._closed:
                await self._changed.wait()
            if not self._closed:
                self._buffered.set(self._taken + self._bytes + len(frame))
                self._frames.append(frame)
                self._bytes += len(frame)
                self._changed.notify_all()

    async def take(self) -> list[bytes]:
        """Wait for frames, and return all of them; an empty list at the end."""
        async with self._changed:
            while not self._frames and not self._closed:
                await self._changed.wait()
            frames = list(self._frames)
            self._frames.clear()
            self._taken += self._bytes
            self._bytes = 0
            self._changed.notify_all()
            return frames

    def mark_appended(self) -> None:
        """Record that all messages in the frames taken so far have been appended."""
        self._taken = 0
        self._buffered.set(self._bytes)

    async def close(self, *, complete: bool) -> None:
        """Mark the end of the stream. Later calls have no effect."""
        async with self._changed:
            self.complete = complete if not self._closed else self.complete
            self._closed = True
            self._changed.notify_all()


class TopicWriter:
    """Appends the messages of all publications for a topic to its log.

    Attributes:
        users: Number of publications.
    """

    def __init__(self, path: Path, options: StreamOptions) -> None:
        """Initialize without opening the log.

        Args:
            path: The log, which may be missing.
            options: The options of the first publication, for a new log.
        """
        self.users = 0
        self._path = path
        self._options = options
        self._log: LogWriter | None = None
        self._writing = asyncio.Lock()

    async def open(self) -> None:
        """Open the log and lock it against other processes.

        Raises:
            RdfmError, OSError: If the log cannot be appended to.
        """
        async with self._writing:
            await asyncio.to_thread(self._open)

    def _open(self) -> LogWriter:
        if self._log is None:
            is_new = not self._path.exists() or self._path.stat().st_size == 0
            options = _for_new_log(self._options) if is_new else {}
            self._log = create_log(str(self._path), append=True, sync=True, **options)
        return self._log

    async def write(self, batch: MessageBatch) -> None:
        """Append the messages of a batch, and commit them.

        Raises:
            EncodeError: If the log cannot represent a message. Earlier messages were appended.
            RdfmError, OSError: If the log cannot be appended to.
        """
        async with self._writing:
            await asyncio.to_thread(self._write, batch)

    def _write(self, batch: MessageBatch) -> None:
        log = self._open()
        try:
            log.write_batch(batch)
        except (RdfmError, OSError):
            self._log = None
            log.discard()  # returns to the last commit
            raise

    async def close(self) -> None:
        """Close and unlock the log."""
        async with self._writing:
            if self._log is not None:
                log, self._log = self._log, None
                # A log without messages is not created.
                await asyncio.to_thread(log.close if log.messages else log.discard)


class Publication:
    """The frames of one client, decoded and appended.

    Attributes:
        messages: Number of messages appended so far.
    """

    def __init__(
        self, writer: TopicWriter, decoding: asyncio.Semaphore, max_message_bytes: int
    ) -> None:
        """Initialize without frames.

        Args:
            writer: The writer of the topic.
            decoding: Limits the number of decoded batches of all publications.
            max_message_bytes: Maximum size of a decoded message, in bytes.
        """
        self.messages = 0
        self._writer = writer
        self._decoding = decoding
        self._decoder = formats.find("jelly").decoder(
            {"delimited": True, "max_message_bytes": max_message_bytes}
        )

    async def append(self, frames: list[bytes], *, ended: bool = False) -> None:
        """Append the messages that the frames complete, batch by batch.

        If `ended`, also append the message of a flat stream.

        Raises:
            DecodeError: If a frame is invalid. The messages before it were appended.
            EncodeError, RdfmError, OSError: As in `TopicWriter.write`.
        """
        while True:
            async with self._decoding:
                batch = await asyncio.to_thread(self._next_batch, frames, ended)
                if batch is None:
                    return
                await self._writer.write(batch)
                self.messages += len(batch)
                batch, frames = None, []  # freed before the next batch is decoded

    def _next_batch(self, frames: list[bytes], ended: bool) -> MessageBatch | None:
        if frames:
            self._decoder.feed(b"".join(map(delimited, frames)))
        if ended:
            self._decoder.finish()
        return cast("MessageBatch | None", self._decoder.next_batch())


def _for_new_log(options: StreamOptions) -> dict[str, Any]:
    """Return the options of a log that can represent every message of a publication."""
    logical = options.logical_type
    in_columns = options.version == COLUMNS_VERSION
    return {
        "stream_name": options.stream_name,
        "physical_type": _PHYSICAL.get(options.physical_type, "quads"),
        "generalized": options.generalized,
        "rdf_star": options.rdf_star or in_columns,
        "logical_type": 0 if logical % 10 in (1, 2) else logical,
        "jelly_version": 2 if in_columns else max(options.version, 1),
        "namespaces": options.version >= 2,
    }
