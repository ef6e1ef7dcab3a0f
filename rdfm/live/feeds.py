"""Feeds: the messages of a topic as frames, encoded once for all subscribers at the same position.

In: the log of a topic, the options of an encoder, and the positions of subscribers, as message
numbers. Out: frames, one per message.
Cost: for each feed a decoder, an encoder and a ring buffer. The feeds of a topic share
`RING_BYTES`, but each has at least `MIN_RING_BYTES` (or one group of frames, if that is larger).
There is at most one feed per subscriber.
Law: a subscriber receives each message once and in order. It starts at a frame that can be read
without the frames before it. A slow subscriber delays the others of its feed by at most `MAX_DELAY_SECONDS`
in total, and then continues with a separate feed.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path

from rdfm.live.following import (
    LogFile,
    MessageSource,
    ReplacedError,
    count_messages,
    describe,
    open_messages,
)
from rdfm.live.frames import Form, FrameEncoder, FrameError
from rdfm.live.requests import LogOptions

__all__ = ["Feed", "Member", "TopicLog", "TopicLogs"]

# Total size of the frames that the feeds of a topic keep for slower subscribers, and the minimum
# for each feed.
RING_BYTES = 8 << 20
MIN_RING_BYTES = 1 << 20
MAX_DELAY_SECONDS = 0.2
POLL_SECONDS = 0.05
# Size in bytes at which a group of encoded frames is passed on.
_GROUP_BYTES = 256 << 10


class TopicLog:
    """The log of a topic that has subscribers or publishers.

    Attributes:
        path: The path of the log.
        users: Number of calls that use the log.
        feeds: The feeds that have members.
    """

    def __init__(self, path: Path) -> None:
        """Initialize without opening the log."""
        self.path = path
        self.users = 0
        self.feeds: list[Feed] = []
        self._grown = asyncio.Event()
        self._waiting = 0
        self._polling: asyncio.Task[None] | None = None

    async def options(self) -> LogOptions:
        """Return the properties of the log."""
        return await asyncio.to_thread(describe, self.path)

    async def count(self, log: LogOptions) -> int:
        """Return the current number of messages."""
        return await asyncio.to_thread(count_messages, self.path, log)

    def wake(self) -> None:
        """Let subscribers check for new messages now."""
        self._grown.set()
        self._grown = asyncio.Event()

    async def wait_for_growth(self, ready: Callable[[], bool]) -> None:
        """Wait until there is data to send.

        Args:
            ready: Whether there is data to send; called when the log or a feed may have grown.
        """
        while True:
            grown = self._grown
            if ready():
                return
            self._waiting += 1
            try:
                if self._polling is None or self._polling.done():
                    self._polling = asyncio.create_task(self._poll())
                await grown.wait()
            finally:
                self._waiting -= 1

    async def _poll(self) -> None:
        """While subscribers are waiting, wake them whenever the log has changed.

        Polling works for logs that other processes append to, on every file system.
        """
        previous: tuple[int, int] | None = None
        while self._waiting:
            current = await asyncio.to_thread(_identity, self.path)
            if current != previous:
                previous = current
                self.wake()
            await asyncio.sleep(POLL_SECONDS)

    def join(self, form: Form, log: LogOptions, position: int) -> Member:
        """Return a member at a position, in a feed that accepts the position or in a new feed."""
        for feed in self.feeds:
            if feed.key == form.key and feed.accepts(position):
                return feed.join(position)
        feed = Feed(self, form, log, position)
        self.feeds.append(feed)
        return feed.join(position)


class TopicLogs:
    """The logs that are in use, each shared by its calls."""

    def __init__(self) -> None:
        self._logs: dict[Path, TopicLog] = {}

    def find(self, path: Path) -> TopicLog | None:
        """Return a log that is in use, or None."""
        return self._logs.get(path)

    @contextlib.contextmanager
    def share(self, path: Path) -> Iterator[TopicLog]:
        """Share the state of a log with its other calls during the `with` block."""
        log = self._logs.setdefault(path, TopicLog(path))
        log.users += 1
        try:
            yield log
        finally:
            log.users -= 1
            if not log.users:
                del self._logs[path]


class Member:
    """A subscriber of a feed.

    Attributes:
        position: The number of the next message.
        feed: The feed that the subscriber reads.
    """

    def __init__(self, feed: Feed, position: int) -> None:
        """Initialize at a position that the feed accepts."""
        self.feed = feed
        self.position = position

    async def next_frames(self) -> list[bytes] | None:
        """Return the next frames: an empty list at the end, None if the ring no longer has them.

        Raises:
            DecodeError, EncodeError: If a message is invalid or cannot be sent. Earlier frames have
                been returned.
            ReplacedError: If the log was replaced or shortened.
        """
        feed = self.feed
        if self.position == feed.end:
            await feed.extend()
        if self.position < feed.first:
            return None
        frames = feed.frames_from(self.position)
        if not frames and feed.error is not None:
            raise feed.error
        return frames

    def is_ready(self) -> bool:
        """Whether there are frames to send, or parts of the log that the feed has not read.

        Raises:
            ReplacedError: If the log was replaced or shortened.
        """
        feed, source = self.feed, self.feed.source
        if self.position < feed.end or feed.error is not None:
            return True
        return source is not None and source.size() > source.reached

    def mark_frame_sent(self) -> None:
        """Record that the next frame was sent."""
        self.position += 1

    def resume_feed(self) -> None:
        """Let a feed that waits for this member continue."""
        self.feed.moved.set()

    def leave(self) -> None:
        """Leave the feed, which is closed after its last member."""
        self.feed.leave(self)


class Feed:
    """Frames of a topic, starting at a position. Its members read them from a ring buffer.

    Attributes:
        key: The form of the frames.
        first: The number of the first message in the ring.
        error: The error after the last message in the ring.
        moved: Set when a member has sent frames.
    """

    def __init__(self, topic: TopicLog, form: Form, log: LogOptions, position: int) -> None:
        """Initialize at a position; the log is opened when the first frame is needed."""
        self.key = form.key
        self.first = position
        self.error: Exception | None = None
        self.moved = asyncio.Event()
        self.source: MessageSource | None = None
        self._topic = topic
        self._form = form
        self._log = log
        self._ring: deque[bytes] = deque()
        self._ring_bytes = 0
        self._restarts = {position}
        self._members: list[Member] = []
        self._extension: asyncio.Task[None] | None = None
        self._remaining_delay = MAX_DELAY_SECONDS  # time left to wait for slow members
        self._encoder: FrameEncoder | None = None  # None: the next frame is a restart frame

    @property
    def end(self) -> int:
        """The number of the message after the last one in the ring."""
        return self.first + len(self._ring)

    def accepts(self, position: int) -> bool:
        """Whether a new member can begin at a position."""
        if self.error is not None:
            return False
        if not self._form.restarts:
            return self.first <= position <= self.end
        if position == self.end and not self._is_extending:
            return True
        return self.first <= position < self.end and position in self._restarts

    def join(self, position: int) -> Member:
        """Return a new member at a position that `accepts` allows."""
        member = Member(self, position)
        self._members.append(member)
        if position == self.end and self._form.restarts:
            self._encoder = None
            self._restarts.add(position)
        return member

    def leave(self, member: Member) -> None:
        """Remove a member, and close the feed if it was the last one."""
        self._members.remove(member)
        self.moved.set()
        if not self._members:
            self._topic.feeds.remove(self)
            if not self._is_extending:
                self._close()

    def _close(self) -> None:
        if self.source is not None:
            self.source.close()
            self.source = None

    def frames_from(self, position: int) -> list[bytes]:
        """Return the frames in the ring, starting at a position."""
        frames, total = [], 0
        for number in range(position - self.first, len(self._ring)):
            frame = self._ring[number]
            frames.append(frame)
            total += len(frame)
            if total >= _GROUP_BYTES:
                break
        return frames

    async def extend(self) -> None:
        """Encode more frames, or wait for the encoding that another member has started."""
        if not self._is_extending:
            self._extension = asyncio.create_task(self._extend())
        assert self._extension is not None
        # Shielded, because the frames are for all members, even if this one leaves.
        await asyncio.shield(self._extension)

    @property
    def _is_extending(self) -> bool:
        return self._extension is not None and not self._extension.done()

    async def _extend(self) -> None:
        try:
            if self.error is None:
                await self._make_room()
                self._append(await asyncio.to_thread(self._encode_more))
                self._topic.wake()
        finally:
            if not self._members:
                self._close()

    async def _make_room(self) -> None:
        """Remove frames from the ring, after briefly waiting for members that lag behind."""
        count, size = 0, self._ring_bytes
        share = RING_BYTES // max(len(self._topic.feeds), 1)
        while size > max(share, MIN_RING_BYTES):
            size -= len(self._ring[count])
            count += 1
        end = self.first + count
        start = time.monotonic()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(self._remaining_delay, 0)):
                while count and self._slowest_position() < end:
                    self.moved.clear()
                    await self.moved.wait()
        self._remaining_delay -= time.monotonic() - start
        if self._slowest_position() < end:
            self._remaining_delay = MAX_DELAY_SECONDS  # for members that become slow later
        for _ in range(count):
            self._restarts.discard(self.first)
            self._ring_bytes -= len(self._ring.popleft())
            self.first += 1

    def _slowest_position(self) -> int:
        return min((member.position for member in self._members), default=self.end)

    def _append(self, frames: list[bytes]) -> None:
        self._ring.extend(frames)
        self._ring_bytes += sum(map(len, frames))

    def _encode_more(self) -> list[bytes]:
        """Return the frames of the next messages, and record an error that follows them."""
        frames: list[bytes] = []
        size = 0
        try:
            if self.source is None:
                self.source = open_messages(
                    self._topic.path, self._log, self.first, self._form.base
                )
            while size < _GROUP_BYTES:
                batch = self.source.read()
                if batch is None:
                    break
                if self._encoder is None:
                    self._encoder = self._form.create_encoder()
                new_frames = self._encoder.encode(batch, self.source)
                frames += new_frames
                size += sum(map(len, new_frames))
        except FrameError as error:
            frames += error.frames
            self.error = error.error
        except Exception as error:
            self.error = error
        return frames


def _identity(path: Path) -> tuple[int, int] | None:
    """Return the inode and the committed length of a log; None if it does not exist."""
    try:
        file = LogFile(path)
    except OSError:
        return None
    try:
        return file.inode, file.size()
    except ReplacedError:
        return None
    finally:
        file.close()
