"""Receives the requests of clients, within limits that apply before a request is buffered.

gRPC rejects a message from its announced length, but has only one limit for all methods. So calls
other than publications receive their requests here: one at a time per connection, few at a time in
total, and within a deadline.

In: calls. Out: their requests.
Cost: at most `REQUESTS` incomplete requests per method. Each has at most the size of a frame if the
server accepts publications, and at most `MAX_REQUEST_BYTES` otherwise.
Law: a call ends if it waits for longer than `TURN_SECONDS` for its turn, or for longer than
`REQUEST_SECONDS` for its request.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import AsyncIterator
from typing import Any
from weakref import WeakValueDictionary

import grpc

from rdfm.live.status import StatusError, create_status

__all__ = ["MAX_REQUEST_BYTES", "BoundedCalls", "RequestReader"]

MAX_REQUEST_BYTES = 64 << 10
TURN_SECONDS = 5.0
REQUEST_SECONDS = 10.0
REQUESTS = 8
_MAX_CALLS = 100

Status = grpc.StatusCode


class RequestReader:
    """Receives requests: one at a time for each connection, and `REQUESTS` in total."""

    def __init__(self) -> None:
        """Initialize without requests."""
        self._connections: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._requests = asyncio.Semaphore(REQUESTS)

    async def read(self, requests: AsyncIterator[bytes], client: str) -> bytes | None:
        """Return the next request of a call; None if the client has ended its requests.

        Args:
            requests: The requests of the call.
            client: The connection.

        Raises:
            StatusError: If the request is too large, or does not arrive in time.
        """
        connection = self._connections.setdefault(client, asyncio.Lock())
        try:
            async with contextlib.AsyncExitStack() as turn:
                # Shorter than the second deadline. Otherwise, all calls that wait for an incomplete
                # request would start to receive theirs when it ends, just before they end too.
                async with asyncio.timeout(TURN_SECONDS):
                    await turn.enter_async_context(connection)
                    await turn.enter_async_context(self._requests)
                async with asyncio.timeout(REQUEST_SECONDS):
                    request = await anext(requests, None)
        except TimeoutError:
            raise StatusError(
                Status.DEADLINE_EXCEEDED,
                "the request, or earlier ones of other calls, did not arrive in time",
            ) from None
        if request is not None and len(request) > MAX_REQUEST_BYTES:
            raise StatusError(
                Status.RESOURCE_EXHAUSTED,
                f"the request has {len(request):,} bytes; expected at most {MAX_REQUEST_BYTES:,}",
            )
        return request


class BoundedCalls(grpc.aio.ServerInterceptor):  # type: ignore[misc]  # grpcio has no types
    """Limits the requests and the number of calls of other services, such as health checks."""

    def __init__(self, service: str) -> None:
        """Initialize with the name of the service that has its own limits."""
        self._own = f"/{service}/"
        # A call that waits for its next request must not delay those of other methods.
        self._readers: defaultdict[str, RequestReader] = defaultdict(RequestReader)
        self._calls = 0

    async def intercept_service(self, continuation: Any, handler_call_details: Any) -> Any:
        """Return a handler that receives its requests within limits."""
        handler = await continuation(handler_call_details)
        method = handler_call_details.method
        if handler is None or method.startswith(self._own):
            return handler

        async def call(requests: AsyncIterator[bytes], context: Any) -> None:
            parsed = _parse_all(handler, requests, context.peer(), self._readers[method])
            error: StatusError | None = None
            self._calls += 1
            try:
                if self._calls > _MAX_CALLS:
                    raise StatusError(
                        Status.RESOURCE_EXHAUSTED, "the server has too many calls of this kind"
                    )
                await _answer(handler, parsed, context)
            except grpc.aio.BaseError:  # the call has ended
                raise
            except Exception as cause:
                error = create_status(cause, None, "")
            finally:
                self._calls -= 1
            if error is not None:
                await context.abort(error.code, error.reason)

        return grpc.stream_stream_rpc_method_handler(
            call, response_serializer=handler.response_serializer
        )


async def _answer(handler: Any, requests: AsyncIterator[Any], context: Any) -> None:
    """Answer the requests of a call with a handler of another service."""
    if handler.request_streaming:
        async for response in handler.stream_stream(requests, context):
            await context.write(response)
        return
    request = await anext(requests, None)
    if request is None:
        raise StatusError(Status.INVALID_ARGUMENT, "the call has no request")
    if handler.response_streaming:
        await handler.unary_stream(request, context)
    else:
        await context.write(await handler.unary_unary(request, context))


async def _parse_all(
    handler: Any, requests: AsyncIterator[bytes], client: str, reader: RequestReader
) -> AsyncIterator[Any]:
    """Yield the requests of a call, until the client has ended them or sends no more."""
    answered = False
    while True:
        try:
            request = await reader.read(requests, client)
        except StatusError as error:
            if answered and error.code is Status.DEADLINE_EXCEEDED:
                return
            raise
        if request is None:
            return
        try:
            parsed = handler.request_deserializer(request)
        except Exception:  # the exceptions of Protobuf depend on its version
            raise StatusError(Status.INVALID_ARGUMENT, "the request is malformed") from None
        yield parsed
        answered = True
