"""The server: its addresses, metrics, reload and shutdown.

In: topics and settings. Out: a running server, over gRPC, HTTP or both.
Cost: a thread pool for files and codecs.
Law: without TLS the server listens only on the loopback interface, unless `insecure` is set.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Protocol

from rdfm.errors import OptionError, RdfmError, spell_option
from rdfm.formats import OptionSpec
from rdfm.live.access import Access
from rdfm.live.addresses import Address, is_loopback
from rdfm.live.calls import OpenCalls
from rdfm.live.events import EventLog
from rdfm.live.feeds import TopicLogs
from rdfm.live.memory import CLIENT_BYTES
from rdfm.live.metrics import Metrics, MetricsServer
from rdfm.live.sentences import describe_os_error
from rdfm.live.tls import Tls, TlsContents
from rdfm.live.topics import Topics
from rdfm.live.web_settings import WebSettings
from rdfm.logs.options import declare

# Declared here for the errors of `Server`; the command declares the other options.
declare(OptionSpec("insecure", "switch", "Serve other machines even without TLS.", group="Address"))

__all__ = ["Server", "ServerSettings"]

GRACE_SECONDS = 5.0
THREADS = 16
CLIENT_STREAMS = 256


@dataclass(frozen=True)
class ServerSettings:
    """Settings of a server.

    Attributes:
        grpc: The address for gRPC; None if gRPC is not served.
        http: The address for HTTP; None if HTTP is not served.
        web: Settings for HTTP only.
        metrics: The address for metrics; None if they are not served.
        tls: TLS files; None for a server without TLS.
        insecure: Whether a server without TLS may listen beyond the loopback interface.
        access: The access rules.
        load_access: Returns the access rules again, for a reload.
        follow: Whether subscriptions continue at the end of a log.
        from_end: Whether subscriptions start at the end of a log.
        compress: Whether responses over gRPC are compressed with gzip.
        max_streams: Maximum number of simultaneous calls.
        max_client_bytes: Maximum size of the frames buffered for a gRPC connection, in bytes.
        ping_milliseconds: Idle time after which the server pings a gRPC client, and minimum time
            between its pings; None for the default.
    """

    grpc: Address | None = None
    http: Address | None = None
    web: WebSettings = field(default_factory=WebSettings)
    metrics: Address | None = None
    tls: Tls | None = None
    insecure: bool = False
    access: Access = field(default_factory=Access)
    load_access: Callable[[], Access] | None = None
    follow: bool = True
    from_end: bool = False
    compress: bool = False
    max_streams: int = 1000
    max_client_bytes: int = CLIENT_BYTES
    ping_milliseconds: int | None = None


class _Transport(Protocol):
    """A server of one protocol."""

    address: Address

    @property
    def url(self) -> str: ...

    async def start(self) -> None: ...

    def reload(self, access: Access, contents: TlsContents | None) -> None: ...

    async def stop(self, grace_seconds: float) -> None: ...


class Server:
    """A server for topics.

    Attributes:
        port: The port for gRPC or, if gRPC is not served, for HTTP. If port 0 was requested, the
            actual port after the server has started.
    """

    def __init__(self, topics: Topics, settings: ServerSettings, log: EventLog) -> None:
        """Check the settings.

        Raises:
            OptionError: If an address is not a loopback address, and neither TLS nor `insecure` is
                set.
        """
        addresses = [address for address in (settings.grpc, settings.http) if address is not None]
        for host, _ in addresses:
            if settings.tls is None and not settings.insecure and not is_loopback(host):
                raise OptionError(
                    f"{host} can be reached from other machines; give {spell_option('tls_cert')} and "
                    f"{spell_option('tls_key')}, or {spell_option('insecure')} if the network is trusted"
                )
        self.port = addresses[0].port
        self._topics = topics
        self._settings = settings
        self._log = log
        self._metrics = Metrics()
        self._metrics.read_from("rdfm_log_lines_dropped_total", lambda: log.dropped)
        self._transports: list[_Transport] = []  # none until the server runs

    def reload(self) -> None:
        """Read the tokens and TLS files again. If this fails, log the error and keep the old ones.

        New tokens apply to new calls, and new certificates to new connections.
        """
        settings = self._settings
        try:
            access = settings.access if settings.load_access is None else settings.load_access()
            contents = None if settings.tls is None else settings.tls.read()
            for transport in self._transports:
                transport.reload(access, contents)
        except (RdfmError, OSError) as error:
            self._log.write("error", "reload", reason=describe_os_error(error))
            self._metrics.add("rdfm_reloads_total", 1, "error")
            return
        self._log.write("info", "reload")
        self._metrics.add("rdfm_reloads_total", 1, "ok")

    async def run(
        self, stop: asyncio.Event, started: Callable[[Server], None] = lambda _: None
    ) -> None:
        """Serve until an event is set, then end the calls.

        Args:
            stop: The event.
            started: Called when the server accepts calls.

        Raises:
            OptionError: If an address is in use, or a TLS file is invalid.
            OSError: If a file cannot be read.
        """
        settings = self._settings
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS, "rdfm-serve"))
        stopping = asyncio.Event()
        calls = OpenCalls(settings.max_streams, CLIENT_STREAMS)
        metrics_server: MetricsServer | None = None
        try:
            for transport in self._create_transports(stopping, calls):
                await transport.start()
                self._transports.append(transport)
            if settings.metrics is not None:
                metrics_server = MetricsServer(self._metrics, settings.metrics)
                await metrics_server.start()
            self.port = self._transports[0].address.port
            self._log.write(
                "info",
                "start",
                topics=self._topics.count(),
                url=",".join(transport.url for transport in self._transports),
                metrics=None
                if metrics_server is None
                else f"http://{metrics_server.address}/metrics",
            )
            started(self)
            await stop.wait()
            self._log.write("info", "stop")
        finally:
            stopping.set()
            await asyncio.gather(*(transport.stop(GRACE_SECONDS) for transport in self._transports))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(GRACE_SECONDS):
                    await calls.finished()
            if metrics_server is not None:
                metrics_server.close()

    def _create_transports(self, stopping: asyncio.Event, calls: OpenCalls) -> list[_Transport]:
        """Return a server for each protocol, gRPC first."""
        settings, logs = self._settings, TopicLogs()
        transports: list[_Transport] = []
        if settings.grpc is not None:
            from rdfm.live.grpc_server import PING_MILLISECONDS, GrpcServer, GrpcSettings
            from rdfm.live.service import Streams

            streams = Streams(
                self._topics,
                settings.access,
                self._log,
                self._metrics,
                calls,
                logs,
                stopping,
                follow=settings.follow,
                from_end=settings.from_end,
                max_client_bytes=settings.max_client_bytes,
            )
            grpc_settings = GrpcSettings(
                address=settings.grpc,
                tls=settings.tls,
                publishes=settings.access.publish_token is not None,
                compress=settings.compress,
                max_streams=settings.max_streams,
                max_client_bytes=settings.max_client_bytes,
                ping_milliseconds=settings.ping_milliseconds or PING_MILLISECONDS,
            )
            transports.append(GrpcServer(streams, grpc_settings))
        if settings.http is not None:
            from rdfm.live.web_app import WebApp
            from rdfm.live.web_server import WebServer

            app = WebApp(
                self._topics,
                settings.access,
                settings.web,
                self._log,
                self._metrics,
                calls,
                logs,
                stopping,
                follow=settings.follow,
                from_end=settings.from_end,
            )
            transports.append(WebServer(app, settings.http, settings.tls, settings.max_streams))
        return transports
