"""The service `RdfStreamService`: its two calls.

In: gRPC calls, with messages as bytes. Out: frames of topics, and appended messages.
Cost: a feed and about 256 KiB of frames (or one frame, if it is larger) per subscription; a queue
per publication. `ClientMemory` limits the total for a connection.
Law: every rejected call ends with a status and one sentence. Messages before an error are delivered
or appended before the status is sent. Tokens are compared in constant time, and never shown.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc

from rdfm.errors import (
    DecodeError,
    EncodeError,
    LimitError,
    OptionError,
    RdfmError,
    spell_options,
    visible,
)
from rdfm.exchange.serve.feeds import Member, TopicLog
from rdfm.exchange.serve.following import ReplacedError, StoredFrames
from rdfm.exchange.serve.memory import BufferedFrames, ClientMemory, MemoryLimitError
from rdfm.exchange.serve.publishing import FrameQueue, Publication, TopicWriter
from rdfm.exchange.serve.requests import (
    LogOptions,
    RequestError,
    Response,
    check_published,
    respond,
)
from rdfm.exchange.serve.topics import TopicError, Topics
from rdfm.storage.jelly_wire import (
    PUBLISH,
    SERVICE,
    SUBSCRIBE,
    StreamOptions,
    WireError,
    parse_subscribe,
    stream_options,
)

__all__ = ["Access", "Streams"]

# Metadata keys with which a client sets where its subscription starts and ends.
START = "rdfm-start"
FOLLOW = "rdfm-follow"

# Time to wait for the cancellation of a call after its last frame.
ABORT_SECONDS = 0.1

Context = Any  # grpc.aio.ServicerContext
Status = grpc.StatusCode


@dataclass(frozen=True)
class Access:
    """Access rules.

    Attributes:
        read_token: The token for subscriptions; None if everyone may subscribe.
        publish_token: The token for publications, which also permits subscriptions; None if nobody
            may publish.
    """

    read_token: str | None = None
    publish_token: str | None = None


class StatusError(Exception):
    """Raised to end a call with a status.

    Attributes:
        code: The status code.
        reason: The reason, as one sentence.
    """

    def __init__(self, code: grpc.StatusCode, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


class Receiver:
    """The client of a subscription."""

    def __init__(self, context: Context, buffered: BufferedFrames) -> None:
        """Initialize with the call."""
        self._context = context
        self._buffered = buffered

    async def accept(self) -> None:
        """Tell the client that the call was accepted and that its start position is fixed."""
        await self._context.send_initial_metadata(())

    async def send(self, frames: Sequence[bytes], sent: Callable[[], None] | None = None) -> None:
        """Send frames one by one, each when the client has room for it.

        Args:
            frames: The frames.
            sent: Called after each frame.

        Raises:
            MemoryLimitError: If too many frames are waiting for the client.
        """
        remaining_bytes = sum(map(len, frames))
        for frame in frames:
            self._buffered.set(remaining_bytes)
            await self._context.write(frame)
            remaining_bytes -= len(frame)
            if sent is not None:
                sent()
        self._buffered.set(0)


class Streams(grpc.GenericRpcHandler):  # type: ignore[misc]  # grpcio has no types
    """The handlers of the service.

    Attributes:
        stopping: Set when the server shuts down.
    """

    def __init__(
        self,
        topics: Topics,
        access: Access,
        *,
        follow: bool = True,
        from_end: bool = False,
        max_streams: int = 1000,
        max_client_bytes: int,
    ) -> None:
        """Initialize with the topics.

        Args:
            topics: The topics.
            access: The access rules.
            follow: Whether subscriptions continue at the end of a log by default.
            from_end: Whether subscriptions start at the end of a log by default.
            max_streams: Maximum number of simultaneous calls.
            max_client_bytes: Maximum size of the frames buffered for a connection, in bytes.
        """
        self.stopping = asyncio.Event()
        self._topics = topics
        self._access = access
        self._follow = follow
        self._from_end = from_end
        self._max_streams = max_streams
        self._streams = 0
        self._memory = ClientMemory(max_client_bytes)
        self._logs: dict[Path, TopicLog] = {}
        self._writers: dict[Path, TopicWriter] = {}
        self._writers_changing = asyncio.Lock()
        self._handlers = {
            SUBSCRIBE: grpc.unary_stream_rpc_method_handler(self._subscribe),
            PUBLISH: grpc.stream_unary_rpc_method_handler(self._publish),
        }

    def service(self, handler_call_details: Any) -> Any:
        """Return the handler of a method, or None."""
        return self._handlers.get(handler_call_details.method)

    def service_name(self) -> str:
        """Return the name of the service."""
        return SERVICE

    # --- subscriptions ---

    async def _subscribe(self, request: bytes, context: Context) -> None:
        async with self._call(context) as buffered:
            self._authorize(context, publishing=False)
            topic, requested = _parse_request(request)
            start, follow = self._range(context)
            try:
                path = self._topics.find(topic)
            except TopicError as error:
                raise StatusError(Status.NOT_FOUND, str(error)) from None
            async with self._using(path) as log:
                await self._send(log, requested, start, follow, Receiver(context, buffered))

    async def _send(
        self,
        topic: TopicLog,
        requested: StreamOptions | None,
        from_end: bool,
        follow: bool,
        receiver: Receiver,
    ) -> None:
        """Send the messages of a topic."""
        found = await topic.options()
        try:
            response = respond(requested, found)
        except RequestError as error:
            raise StatusError(Status.INVALID_ARGUMENT, str(error)) from None
        if not response.stored:
            position = await topic.count(found) if from_end else 0
            await receiver.accept()
            await self._send_encoded(topic, response, found, position, follow, receiver)
            return
        source = await asyncio.to_thread(StoredFrames, topic.path, found.options, from_end=from_end)
        try:
            await receiver.accept()
            if from_end:
                # The frames before the next restart frame depend on frames that are not sent.
                full_response = respond(None, found)
                number = source.number
                if not await self._send_encoded(
                    topic, full_response, found, number, follow, receiver, source
                ):
                    return
            await self._send_stored(topic, source, follow, receiver)
        finally:
            source.close()

    async def _send_stored(
        self, topic: TopicLog, source: StoredFrames, follow: bool, receiver: Receiver
    ) -> None:
        """Send the frames of a log as they are stored."""
        while True:
            frames = await asyncio.to_thread(source.read)
            await receiver.send(frames)
            if frames:
                continue
            if not follow:
                source.check_end()
                return
            await self._until_stopped(topic.growth(lambda: source.size() > source.reached))

    async def _send_encoded(
        self,
        topic: TopicLog,
        response: Response,
        log: LogOptions,
        position: int,
        follow: bool,
        receiver: Receiver,
        stored: StoredFrames | None = None,
    ) -> bool:
        """Send frames that satisfy a request.

        Args:
            topic: The topic.
            response: Form of the response.
            log: The properties of the log.
            position: The number of the first message.
            follow: Whether to continue at the end of the log.
            receiver: The client.
            stored: The stored frames from the same position, if they satisfy the request too.

        Returns:
            True if `stored` has reached a restart frame; its frames from there continue the stream.
            False if the log has ended.
        """
        member = topic.join(response, log, position)
        sent: StreamOptions | None = None
        restarted = False
        try:
            while True:
                frames = await member.frames()
                if frames is None:
                    member = _move(topic, member, response, log)
                    continue
                if stored is not None and frames:
                    end = member.position + len(frames)
                    restarted = await asyncio.to_thread(stored.find_restart, end)
                    frames = frames[: stored.number - member.position]
                    if (
                        frames
                        and sent is None
                        and (sent := stream_options(frames[0])) != log.options
                    ):
                        stored = None  # the options of a stream must not change
                await receiver.send(frames, member.frame_sent)
                member.resume_feed()
                if stored is not None and restarted:
                    return True
                if frames:
                    continue
                source = member.feed.source
                if source is None:
                    raise RuntimeError("a feed without a source")
                if not follow:
                    await asyncio.to_thread(source.check_end)
                    return False
                await self._until_stopped(topic.growth(member.is_ready))
                if len(topic.feeds) > 1 and topic.feeds[0] is not member.feed:
                    member = _move(topic, member, response, log)
        finally:
            member.leave()

    def _range(self, context: Context) -> tuple[bool, bool]:
        """Return whether a subscription starts at the end, and whether it follows the log."""
        from_end, follow = self._from_end, self._follow
        for key, value in context.invocation_metadata() or ():
            if key == START:
                if value not in ("first", "end"):
                    raise StatusError(Status.INVALID_ARGUMENT, f"{START} must be first or end")
                from_end = value == "end"
            elif key == FOLLOW:
                if value not in ("true", "false"):
                    raise StatusError(Status.INVALID_ARGUMENT, f"{FOLLOW} must be true or false")
                follow = value == "true"
        return from_end, follow

    async def _until_stopped(self, waiting: Any) -> None:
        """Wait for an operation, or until the server shuts down.

        Raises:
            StatusError: If the server shuts down.
        """
        task = asyncio.ensure_future(waiting)
        stopping = asyncio.ensure_future(self.stopping.wait())
        try:
            await asyncio.wait((task, stopping), return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise StatusError(Status.UNAVAILABLE, "the server is shutting down")
            task.result()
        finally:
            task.cancel()
            stopping.cancel()

    # --- publications ---

    async def _publish(self, frames: AsyncIterator[bytes], context: Context) -> bytes:
        async with self._call(context) as buffered:
            self._authorize(context, publishing=True)
            first = await anext(aiter(frames), None)
            if first is None:
                raise StatusError(
                    Status.INVALID_ARGUMENT, "the stream has no frames; expected at least one"
                )
            try:
                options = stream_options(first)
            except WireError as error:
                raise StatusError(
                    Status.INVALID_ARGUMENT, f"the first frame is malformed: {error}"
                ) from None
            if options is None:
                raise StatusError(
                    Status.INVALID_ARGUMENT,
                    "the first row of the first frame must be the stream options",
                )
            try:
                check_published(options)
            except RequestError as error:
                raise StatusError(Status.INVALID_ARGUMENT, str(error)) from None
            try:
                path = self._topics.find_or_create(options.stream_name)
            except TopicError as error:
                raise StatusError(
                    Status.NOT_FOUND, f"{error} (the stream name is the topic of a publication)"
                ) from None
            await self._receive(path, options, first, frames, buffered)
        return b""  # an RdfStreamReceived

    async def _receive(
        self,
        path: Path,
        options: StreamOptions,
        first: bytes,
        frames: AsyncIterator[bytes],
        buffered: BufferedFrames,
    ) -> None:
        """Append the messages of a publication. If it is aborted, append those received so far."""
        queue = FrameQueue(buffered)
        is_flat = options.logical_type % 10 in (1, 2)
        appending = asyncio.ensure_future(self._append(path, options, queue, is_flat))
        reading = asyncio.ensure_future(_read(first, frames, queue, is_flat))
        complete = False
        try:
            # An error while appending ends the call even if the client sends nothing more.
            await asyncio.wait((appending, reading), return_when=asyncio.FIRST_COMPLETED)
            if reading.done():
                reading.result()
                complete = True
        finally:
            reading.cancel()
            # Frames that were received before a cancellation are still appended.
            await asyncio.shield(queue.close(complete=complete))
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.shield(asyncio.wait((appending,)))
            if not complete:
                appending.add_done_callback(_forget_result)
        await appending

    async def _append(
        self, path: Path, options: StreamOptions, queue: FrameQueue, is_flat: bool
    ) -> None:
        async with self._writing(path, options) as writer:
            try:
                await writer.open()
            except RdfmError as error:
                raise StatusError(Status.FAILED_PRECONDITION, str(error)) from None
            publication = Publication(writer)
            topic = self._logs.get(path)
            try:
                while frames := await queue.take():
                    await publication.append(frames)
                    if not is_flat:
                        queue.mark_appended()
                    if (topic := self._logs.get(path)) is not None:
                        topic.wake()
                if queue.complete:
                    await publication.append([], ended=True)
            except LimitError as error:
                raise StatusError(Status.RESOURCE_EXHAUSTED, str(error)) from None
            except DecodeError as error:
                raise StatusError(Status.INVALID_ARGUMENT, str(error)) from None
            finally:
                await queue.close(complete=False)
                if topic is not None:
                    topic.wake()

    @contextlib.asynccontextmanager
    async def _writing(self, path: Path, options: StreamOptions) -> AsyncIterator[TopicWriter]:
        """Share the writer of a log between publications, and close it after the last one."""
        async with self._writers_changing:
            writer = self._writers.setdefault(path, TopicWriter(path, options))
            writer.users += 1
        try:
            yield writer
        finally:
            async with self._writers_changing:
                writer.users -= 1
                if not writer.users:
                    del self._writers[path]
                    await writer.close()

    # --- all calls ---

    async def finished(self) -> None:
        """Wait until all calls have ended and their messages are appended."""
        while self._streams:
            await asyncio.sleep(0.01)

    @contextlib.asynccontextmanager
    async def _using(self, path: Path) -> AsyncIterator[TopicLog]:
        """Share the state of a log between its subscriptions."""
        log = self._logs.setdefault(path, TopicLog(path))
        log.users += 1
        try:
            yield log
        finally:
            log.users -= 1
            if not log.users:
                del self._logs[path]

    @contextlib.asynccontextmanager
    async def _call(self, context: Context) -> AsyncIterator[BufferedFrames]:
        """Count a call and its frames, and turn errors into statuses."""
        code, reason = Status.OK, ""
        if self._streams >= self._max_streams:
            await context.abort(
                Status.RESOURCE_EXHAUSTED, f"the server already has {self._max_streams} streams"
            )
        self._streams += 1
        try:
            with self._memory.call(context.peer()) as buffered:
                yield buffered
        except StatusError as error:
            code, reason = error.code, error.reason
        except MemoryLimitError as error:
            code, reason = Status.RESOURCE_EXHAUSTED, str(error)
        except (RdfmError, OSError, ReplacedError) as error:
            code, reason = _status_of(error)
        finally:
            self._streams -= 1
        if code is not Status.OK:
            await context.abort(code, reason)

    def _authorize(self, context: Context, *, publishing: bool) -> None:
        """Check the token of a call.

        Raises:
            StatusError: If the token is missing or wrong, or nobody may publish.
        """
        access = self._access
        if publishing and access.publish_token is None:
            raise StatusError(Status.PERMISSION_DENIED, "this server does not accept publications")
        if not publishing and access.read_token is None:
            return
        given = _bearer(context.invocation_metadata() or ())
        if given is None:
            raise StatusError(
                Status.UNAUTHENTICATED, "the server needs a token (authorization: Bearer TOKEN)"
            )
        tokens = [access.publish_token] if publishing else [access.read_token, access.publish_token]
        # Compares all tokens, so that the time does not depend on which token matches.
        matches = [
            hmac.compare_digest(given.encode("utf-8", "surrogateescape"), token.encode())
            for token in tokens
            if token is not None
        ]
        if not any(matches):
            raise StatusError(Status.UNAUTHENTICATED, "the token is wrong")


def _move(topic: TopicLog, member: Member, response: Response, log: LogOptions) -> Member:
    """Return a member at the same position, in a feed with other members if possible."""
    moved = topic.join(response, log, member.position)
    member.leave()
    return moved


async def _read(
    first: bytes, frames: AsyncIterator[bytes], queue: FrameQueue, is_flat: bool
) -> None:
    """Put the frames of a publication into its queue.

    Raises:
        MemoryLimitError: If the client exceeds its limit of buffered bytes.
    """
    await queue.put(first)
    async for frame in frames:
        await queue.put(frame)
    if is_flat:
        # An aborted call can at first seem complete, shortly before it is cancelled. The difference
        # matters only for a flat stream.
        await asyncio.sleep(ABORT_SECONDS)


def _parse_request(request: bytes) -> tuple[str, StreamOptions | None]:
    try:
        return parse_subscribe(request)
    except WireError as error:
        raise StatusError(
            Status.INVALID_ARGUMENT, f"the subscription is malformed: {error}"
        ) from None


def _bearer(metadata: Iterable[Any]) -> str | None:
    """Return the token of a call, or None."""
    for key, value in metadata:
        if key == "authorization" and isinstance(value, str):
            scheme, _, token = value.partition(" ")
            if scheme.lower() == "bearer":
                return token.strip()
    return None


def _status_of(error: Exception) -> tuple[grpc.StatusCode, str]:
    """Return the status for an error while reading or writing a log."""
    if isinstance(error, DecodeError):
        error.source = None  # does not reveal the path of the log to clients
    if isinstance(error, EncodeError):
        return Status.FAILED_PRECONDITION, visible(spell_options(error.reason))
    if isinstance(error, LimitError):
        return Status.RESOURCE_EXHAUSTED, str(error)
    if isinstance(error, OptionError):
        return Status.FAILED_PRECONDITION, str(error)
    if isinstance(error, RdfmError):
        return Status.DATA_LOSS, str(error)
    if isinstance(error, ReplacedError):
        return Status.ABORTED, str(error)
    reason = getattr(error, "strerror", None) or str(error)
    return Status.UNAVAILABLE, f"the log cannot be read or written: {reason}"


def _forget_result(task: asyncio.Task[None]) -> None:
    """Retrieve the error of an aborted publication, so that asyncio does not report it."""
    if not task.cancelled():
        task.exception()
