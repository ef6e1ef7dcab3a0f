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
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import grpc

from rdfm.errors import DecodeError, LimitError, RdfmError
from rdfm.live.access import Access
from rdfm.live.calls import OpenCalls, run_until
from rdfm.live.events import EventLog
from rdfm.live.feeds import Member, TopicLog, TopicLogs
from rdfm.live.following import StoredFrames
from rdfm.live.memory import BufferedFrames, ClientMemory
from rdfm.live.metrics import Metrics
from rdfm.live.publishing import DECODED_BATCHES, FrameQueue, Publication, TopicWriter
from rdfm.live.receiving import RequestReader
from rdfm.live.requests import (
    LogOptions,
    RequestError,
    Response,
    check_published,
    respond,
)
from rdfm.live.sentences import describe_error, describe_os_error
from rdfm.live.status import StatusError, create_status
from rdfm.live.topics import TopicError, Topics
from rdfm.storage.jelly_wire import (
    PUBLISH,
    SERVICE,
    SUBSCRIBE,
    StreamOptions,
    parse_subscribe,
    stream_options,
)

__all__ = ["Streams"]

# Metadata keys with which a client sets where its subscription starts and ends.
START = "rdfm-start"
FOLLOW = "rdfm-follow"

# Time to wait for the cancellation of a call after its last frame.
ABORT_SECONDS = 0.1

# Codes for errors that the operator of the server should know about.
_SERVER_ERRORS = (
    grpc.StatusCode.INTERNAL,
    grpc.StatusCode.DATA_LOSS,
    grpc.StatusCode.ABORTED,
    grpc.StatusCode.UNAVAILABLE,
)

Context = Any  # grpc.aio.ServicerContext
Status = grpc.StatusCode


@dataclass
class Call:
    """A call that was accepted.

    Attributes:
        buffered: Counts the frames kept for the call.
        topic: The name of the topic; empty if it is not known yet.
        path: The log of the topic.
        frames: Number of frames sent or received.
        frame_bytes: Their size.
        messages: Number of messages appended.
    """

    buffered: BufferedFrames
    topic: str = ""
    path: Path | None = None
    frames: int = 0
    frame_bytes: int = 0
    messages: int | None = None

    def count_frames(self, count: int, size: int) -> None:
        """Count frames with a total size in bytes."""
        self.frames += count
        self.frame_bytes += size


class Receiver:
    """The client of a subscription."""

    def __init__(self, context: Context, call: Call, metrics: Metrics) -> None:
        self._context = context
        self._accept_call = call
        self._metrics = metrics

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
        size = remaining_bytes = sum(map(len, frames))
        count = 0
        try:
            for frame in frames:
                self._accept_call.buffered.set(remaining_bytes)
                await self._context.write(frame)
                remaining_bytes -= len(frame)
                count += 1
                if sent is not None:
                    sent()
        finally:
            self._accept_call.count_frames(count, size - remaining_bytes)
            self._metrics.add("rdfm_sent_frames_total", count)
            self._metrics.add("rdfm_sent_bytes_total", size - remaining_bytes)
        self._accept_call.buffered.set(0)


class Streams(grpc.GenericRpcHandler):  # type: ignore[misc]  # grpcio has no types
    """The handlers of the service.

    Attributes:
        access: The access rules for new calls.
    """

    def __init__(
        self,
        topics: Topics,
        access: Access,
        log: EventLog,
        metrics: Metrics,
        calls: OpenCalls,
        logs: TopicLogs,
        stopping: asyncio.Event,
        *,
        follow: bool = True,
        from_end: bool = False,
        max_client_bytes: int,
    ) -> None:
        """Initialize with the topics.

        Args:
            topics: The topics.
            access: The access rules.
            log: The event log.
            metrics: The metrics.
            calls: Counts the calls.
            logs: The logs that are in use.
            stopping: Set when the server shuts down.
            follow: Whether subscriptions continue at the end of a log by default.
            from_end: Whether subscriptions start at the end of a log by default.
            max_client_bytes: Maximum size of the frames buffered for a connection, in bytes.
        """
        self._stopping = stopping
        self._topics = topics
        self._log = log
        self._metrics = metrics
        self.access = access
        self._follow = follow
        self._from_end = from_end
        self._calls = calls
        self._memory = ClientMemory(max_client_bytes)
        metrics.read_from("rdfm_buffered_bytes", lambda: sum(self._memory.buffered.values()))
        self._requests = RequestReader()
        self._decoding = asyncio.Semaphore(DECODED_BATCHES)
        self._logs = logs
        self._writers: dict[Path, TopicWriter] = {}
        self._writers_changing = asyncio.Lock()
        self._handlers = {
            SUBSCRIBE: grpc.stream_stream_rpc_method_handler(self._subscribe),
            PUBLISH: grpc.stream_unary_rpc_method_handler(self._publish),
        }

    def service(self, handler_call_details: Any) -> Any:
        """Return the handler of a method, or None."""
        return self._handlers.get(handler_call_details.method)

    def service_name(self) -> str:
        """Return the name of the service."""
        return SERVICE

    # --- subscriptions ---

    async def _subscribe(self, requests: AsyncIterator[bytes], context: Context) -> None:
        async with self._accept_call(context, publishing=False) as call:
            # Handled as a stream of requests, because gRPC would buffer a single request before
            # this method could check the token.
            request = await self._requests.read(requests, context.peer())
            if request is None:
                raise StatusError(Status.INVALID_ARGUMENT, "the call has no request")
            topic, requested = _parse_request(request)
            start, follow = self._parse_range(context)
            call.topic = self._topics.resolve(topic)
            try:
                call.path = self._topics.find(topic)
            except TopicError as error:
                raise StatusError(Status.NOT_FOUND, str(error)) from None
            self._log.write(
                "info",
                "subscription",
                client=_client_address(context),
                topic=call.topic,
                from_end=start,
                follow=follow,
            )
            receiver = Receiver(context, call, self._metrics)
            with self._logs.share(call.path) as log:
                await self._send(log, requested, start, follow, receiver)

    async def _send(
        self,
        topic: TopicLog,
        requested: StreamOptions | None,
        from_end: bool,
        follow: bool,
        receiver: Receiver,
    ) -> None:
        """Send the messages of a topic."""
        log_options = await topic.options()
        try:
            response = respond(requested, log_options)
        except RequestError as error:
            raise StatusError(Status.INVALID_ARGUMENT, str(error)) from None
        if not response.stored:
            position = await topic.count(log_options) if from_end else 0
            await receiver.accept()
            await self._send_encoded(topic, response, log_options, position, follow, receiver)
            return
        source = await asyncio.to_thread(
            StoredFrames, topic.path, log_options.options, from_end=from_end
        )
        try:
            await receiver.accept()
            if from_end:
                # The frames before the next restart frame depend on frames that are not sent.
                full_response = respond(None, log_options)
                number = source.number
                if not await self._send_encoded(
                    topic, full_response, log_options, number, follow, receiver, source
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
            await self._run_until_stopped(
                topic.wait_for_growth(lambda: source.size() > source.reached)
            )

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
        sent_options: StreamOptions | None = None
        restarted = False
        try:
            while True:
                frames = await member.next_frames()
                if frames is None:
                    member = _move(topic, member, response, log)
                    continue
                if stored is not None and frames:
                    end = member.position + len(frames)
                    restarted = await asyncio.to_thread(stored.find_restart, end)
                    frames = frames[: stored.number - member.position]
                    if (
                        frames
                        and sent_options is None
                        and (sent_options := stream_options(frames[0])) != log.options
                    ):
                        stored = None  # the options of a stream must not change
                await receiver.send(frames, member.mark_frame_sent)
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
                await self._run_until_stopped(topic.wait_for_growth(member.is_ready))
                if len(topic.feeds) > 1 and topic.feeds[0] is not member.feed:
                    member = _move(topic, member, response, log)
        finally:
            member.leave()

    def _parse_range(self, context: Context) -> tuple[bool, bool]:
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

    async def _run_until_stopped(self, waiting: Any) -> None:
        """Wait for an operation, or until the server shuts down.

        Raises:
            StatusError: If the server shuts down.
        """
        if not await run_until(waiting, self._stopping):
            raise StatusError(Status.UNAVAILABLE, "the server is shutting down")

    # --- publications ---

    async def _publish(self, frames: AsyncIterator[bytes], context: Context) -> bytes:
        async with self._accept_call(context, publishing=True) as call:
            first = await anext(frames, None)
            if first is None:
                raise StatusError(
                    Status.INVALID_ARGUMENT, "the stream has no frames; expected at least one"
                )
            try:
                options = stream_options(first)
            except ValueError as error:
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
            call.topic = self._topics.resolve(options.stream_name)
            try:
                call.path = self._topics.find_or_create(options.stream_name)
            except TopicError as error:
                raise StatusError(
                    Status.NOT_FOUND, f"{error} (the stream name is the topic of a publication)"
                ) from None
            self._log.write(
                "info", "publication", client=_client_address(context), topic=call.topic
            )
            await self._receive(call, call.path, options, first, frames)
        return b""  # an RdfStreamReceived

    async def _receive(
        self,
        call: Call,
        path: Path,
        options: StreamOptions,
        first: bytes,
        frames: AsyncIterator[bytes],
    ) -> None:
        """Append the messages of a publication. If it is aborted, append those received so far."""
        queue = FrameQueue(call.buffered)
        is_flat = options.is_flat
        appending = asyncio.ensure_future(self._append(call, path, options, queue, is_flat))
        reading = asyncio.ensure_future(self._read(call, first, frames, queue, is_flat))
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

    async def _read(
        self,
        call: Call,
        first: bytes,
        frames: AsyncIterator[bytes],
        queue: FrameQueue,
        is_flat: bool,
    ) -> None:
        """Put the frames of a publication into its queue.

        Raises:
            MemoryLimitError: If the client exceeds its limit of buffered bytes.
        """
        frame: bytes | None = first
        while frame is not None:
            call.count_frames(1, len(frame))
            self._metrics.add("rdfm_received_frames_total")
            self._metrics.add("rdfm_received_bytes_total", len(frame))
            await queue.put(frame)
            frame = await anext(frames, None)
        if is_flat:
            # An aborted call can at first seem complete, shortly before it is cancelled. The
            # difference matters only for a flat stream.
            await asyncio.sleep(ABORT_SECONDS)

    async def _append(
        self, call: Call, path: Path, options: StreamOptions, queue: FrameQueue, is_flat: bool
    ) -> None:
        async with self._share_writer(path, options) as writer:
            try:
                await writer.open()
            except RdfmError as error:
                raise StatusError(Status.FAILED_PRECONDITION, describe_error(error)) from None
            publication = Publication(writer, self._decoding, self._memory.max_frame_bytes)
            topic = self._logs.find(path)
            try:
                while frames := await queue.take():
                    await publication.append(frames)
                    if not is_flat:
                        queue.mark_appended()
                    if (topic := self._logs.find(path)) is not None:
                        topic.wake()
                if queue.complete:
                    await publication.append([], ended=True)
            except LimitError:
                raise
            except DecodeError as error:
                raise StatusError(Status.INVALID_ARGUMENT, describe_error(error)) from None
            finally:
                call.messages = publication.messages
                self._metrics.add("rdfm_appended_messages_total", publication.messages)
                await queue.close(complete=False)
                if topic is not None:
                    topic.wake()

    @contextlib.asynccontextmanager
    async def _share_writer(self, path: Path, options: StreamOptions) -> AsyncIterator[TopicWriter]:
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

    @contextlib.asynccontextmanager
    async def _accept_call(self, context: Context, *, publishing: bool) -> AsyncIterator[Call]:
        """Check the token of a call, count the call and its frames, and turn errors into statuses.

        All of this precedes the first request or frame, which gRPC does not buffer before.
        """
        client = context.peer()
        name = "publication" if publishing else "subscription"
        start = time.monotonic()
        call: Call | None = None
        failure: Exception | None = None
        status = StatusError(Status.CANCELLED, "")
        self._metrics.add("rdfm_calls_open", 1, name)
        try:
            self._authorize(context, publishing=publishing)
            with contextlib.ExitStack() as counted:
                counted.enter_context(self._calls.counted())
                call = Call(counted.enter_context(self._memory.call(client)))
                if publishing:
                    counted.enter_context(self._memory.publication(client))
                yield call
            status = StatusError(Status.OK, "")
        except grpc.aio.BaseError:  # the client has ended the call
            raise
        except Exception as error:
            path, topic = (None, "") if call is None else (call.path, call.topic)
            failure, status = error, create_status(error, path, topic)
        finally:
            self._metrics.add("rdfm_calls_open", -1, name)
            self._metrics.add("rdfm_calls_total", 1, name, status.code.name)
            self._report(name, context, call, status, failure, time.monotonic() - start)
        if failure is not None:
            await context.abort(status.code, status.reason)

    def _report(
        self,
        name: str,
        context: Context,
        call: Call | None,
        status: StatusError,
        failure: Exception | None,
        seconds: float,
    ) -> None:
        """Write the end of a call to the event log."""
        client = _client_address(context)
        if status.code is Status.UNAUTHENTICATED:
            self._metrics.add("rdfm_wrong_tokens_total")
            self._log.write(
                "warning", "wrong-token", client=client, call=name, reason=status.reason
            )
            return
        if status.code in _SERVER_ERRORS and not isinstance(failure, StatusError | None):
            reason = describe_os_error(failure)
            if status.code is Status.INTERNAL:
                reason = f"{type(failure).__name__}: {reason}"
            topic = call.topic if call is not None else None
            self._log.write("error", "error", client=client, topic=topic, reason=reason)
        outcome = {"status": status.code.name, "reason": status.reason or None}
        if call is None or call.path is None:
            self._log.write("warning", "rejected", client=client, call=name, **outcome)
            return
        self._log.write(
            "info",
            f"{name}-end",
            client=client,
            topic=call.topic,
            frames=call.frames,
            bytes=call.frame_bytes,
            messages=call.messages,
            seconds=round(seconds, 3),
            **outcome,
        )

    def _authorize(self, context: Context, *, publishing: bool) -> None:
        """Check the token of a call.

        Raises:
            StatusError: If the token is missing or wrong, or nobody may publish.
        """
        if publishing and self.access.publish_token is None:
            raise StatusError(Status.PERMISSION_DENIED, "this server does not accept publications")
        metadata = dict(context.invocation_metadata() or ())
        reason = self.access.check(metadata.get("authorization"), publishing=publishing)
        if reason is not None:
            raise StatusError(Status.UNAUTHENTICATED, reason)


def _move(topic: TopicLog, member: Member, response: Response, log: LogOptions) -> Member:
    """Return a member at the same position, in a feed with other members if possible."""
    moved = topic.join(response, log, member.position)
    member.leave()
    return moved


def _parse_request(request: bytes) -> tuple[str, StreamOptions | None]:
    try:
        return parse_subscribe(request)
    except ValueError as error:
        raise StatusError(
            Status.INVALID_ARGUMENT, f"the subscription is malformed: {error}"
        ) from None


def _client_address(context: Context) -> str:
    """Return the address of a client, such as `127.0.0.1:50000`."""
    return unquote(context.peer()).removeprefix("ipv4:").removeprefix("ipv6:")


def _forget_result(task: asyncio.Task[None]) -> None:
    """Retrieve the error of an aborted publication, so that asyncio does not report it."""
    if not task.cancelled():
        task.exception()
