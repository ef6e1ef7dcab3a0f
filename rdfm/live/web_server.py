"""The HTTP server: its address, TLS, connections and shutdown.

In: an ASGI application and settings. Out: a server that accepts requests.
Cost: at most `OTHER_CONNECTIONS` connections more than calls, and at most half of the files that the
process may open; each buffers at most `MAX_REQUEST_BYTES` of a request's head and about 64 KiB of
the response, besides the current piece.
Law: a client that sends no complete request within `REQUEST_SECONDS`, or does not read for
`STALL_SECONDS`, is disconnected.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Iterator
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from rdfm.live.access import Access
from rdfm.live.addresses import Address, listening_error
from rdfm.live.tls import Tls, TlsContents
from rdfm.live.web_app import WebApp

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

__all__ = ["WebServer"]

MAX_REQUEST_BYTES = 32 << 10
REQUEST_SECONDS = 10.0
STALL_SECONDS = 30.0
IDLE_SECONDS = 60
OTHER_CONNECTIONS = 1000  # connections allowed in addition to one per call
_BACKLOG = 1024
# Connections that are accepted before those that are too many are closed.
_ACCEPTED = 64
_OTHER_FILES = 2 * _ACCEPTED  # open files besides those of connections


class WebServer:
    """Serves an application over HTTP.

    Attributes:
        address: The address. If port 0 was requested, the actual port after the start.
    """

    def __init__(self, app: WebApp, address: Address, tls: Tls | None, max_streams: int) -> None:
        """Initialize without listening."""
        self.address = address
        self._app = app
        self._tls = tls
        self._context: ssl.SSLContext | None = None  # for new connections
        self._max_connections = _allow_files(max_streams + OTHER_CONNECTIONS)
        self._server: _Server | None = None
        self._serving: asyncio.Task[None] | None = None

    @property
    def url(self) -> str:
        """The URL of the server."""
        return f"{'http' if self._tls is None else 'https'}://{self.address}"

    async def start(self) -> None:
        """Accept requests.

        Raises:
            OptionError: If the address is in use, or a TLS file is invalid.
            OSError: If a file cannot be read.
        """
        if self._tls is not None:
            self._tls.read()
            self._context = _create_context(self._tls)
        listeners = _listen(self.address)
        self.address = self.address._replace(port=listeners[0].getsockname()[1])
        config = uvicorn.Config(
            self._app,
            http=_limited(self._max_connections),
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="critical",  # the application has its own log
            access_log=False,
            server_header=False,
            backlog=_ACCEPTED,
            timeout_keep_alive=IDLE_SECONDS,
            h11_max_incomplete_event_size=MAX_REQUEST_BYTES,
            ssl_context_factory=None if self._tls is None else lambda *_: self._outer_context(),
        )
        self._server = _Server(config)
        self._serving = asyncio.create_task(self._server.serve(listeners))
        ready = asyncio.create_task(self._server.ready.wait())
        await asyncio.wait((self._serving, ready), return_when=asyncio.FIRST_COMPLETED)
        ready.cancel()
        if self._serving.done():
            self._serving.result()
        for listener in listeners:
            listener.listen(_BACKLOG)  # connections may wait until they are accepted

    def _outer_context(self) -> ssl.SSLContext:
        """Return a context that uses the current one for each new connection."""
        assert self._tls is not None
        context = _create_context(self._tls)

        def use_current(connection: ssl.SSLObject, _: object, __: object) -> None:
            if self._context is not None:
                connection.context = self._context

        context.sni_callback = use_current
        return context

    def reload(self, access: Access, contents: TlsContents | None) -> None:
        """Use other tokens for new requests, and other certificates for new connections."""
        self._app.access = access
        if contents is not None and self._tls is not None:
            self._context = _create_context(self._tls)

    async def stop(self, grace_seconds: float) -> None:
        """Complete the open responses, or cut them after some time."""
        if self._server is None or self._serving is None:
            return
        self._server.config.timeout_graceful_shutdown = int(grace_seconds)
        self._server.should_exit = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(grace_seconds + 1):
                await self._serving


class _Server(uvicorn.Server):
    """A server that leaves signals to its caller.

    Attributes:
        ready: Set when the server accepts connections.
    """

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept connections."""
        await super().startup(sockets)
        self.ready.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End, and disconnect the clients that are left."""
        await super().shutdown(sockets)
        for connection in list(self.server_state.connections):
            connection.transport.abort()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Do nothing."""
        yield


class _LimitedProtocol(H11Protocol):
    """A connection with deadlines for the client."""

    max_connections = 0
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection, or close it if there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self.max_connections:
            transport.abort()
            return
        self._set_deadline(REQUEST_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the deadlines, which would keep the buffers of the connection in memory."""
        self._set_deadline(None)
        super().connection_lost(exc)
        self._unset_keepalive_if_required()

    def data_received(self, data: bytes) -> None:
        """Receive a part of a request."""
        super().data_received(data)
        if not self._is_answering:
            if self._deadline is None:
                self._set_deadline(REQUEST_SECONDS)
        elif not self.flow.write_paused:
            self._set_deadline(None)

    def on_response_complete(self) -> None:
        """Wait for the next request, of which a part may have arrived already."""
        self._set_deadline(None)
        super().on_response_complete()
        is_idle = self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]
        if not is_idle and not self._is_answering:
            self._set_deadline(REQUEST_SECONDS)

    def pause_writing(self) -> None:
        """Give the client some time to read."""
        super().pause_writing()
        self._set_deadline(STALL_SECONDS)

    def resume_writing(self) -> None:
        """Continue, because the client has read."""
        super().resume_writing()
        self._set_deadline(None)

    @property
    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _set_deadline(self, seconds: float | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = (
            None if seconds is None else self.loop.call_later(seconds, self.transport.abort)
        )


def _limited(max_connections: int) -> type[asyncio.Protocol]:
    """Return a protocol for a server with a maximum number of connections."""
    return type("Connection", (_LimitedProtocol,), {"max_connections": max_connections})


def _allow_files(connections: int) -> int:
    """Let the process open files for a number of connections, and return how many are possible."""
    if resource is None:
        return connections
    # A connection and a log for each, and some more.
    needed = 2 * connections + _OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        return max((soft - _OTHER_FILES) // 2, 1)
    return connections


def _listen(address: Address) -> list[socket.socket]:
    """Return listening sockets for an address.

    Raises:
        OptionError: If the address is in use or does not belong to this machine.
    """
    sockets: list[socket.socket] = []
    try:
        found: list[Any] = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        for family, kind, protocol, _, socket_address in dict.fromkeys(found):
            listener = socket.socket(family, kind, protocol)
            sockets.append(listener)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            port = sockets[0].getsockname()[1] or address.port  # one port for all families
            listener.bind((socket_address[0], port, *socket_address[2:]))
            listener.setblocking(False)
    except OSError as error:
        for listener in sockets:
            listener.close()
        raise listening_error(address, error) from None
    return sockets


def _create_context(tls: Tls) -> ssl.SSLContext:
    """Return the TLS context of a server."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    context.load_cert_chain(tls.certificate, tls.key)
    if tls.client_ca is not None:
        context.load_verify_locations(tls.client_ca)
        context.verify_mode = ssl.CERT_REQUIRED
    return context
