"""The server: its address, TLS, health checks, reflection, metrics, reload and shutdown.

In: topics and settings. Out: a running server.
Cost: a thread for gRPC's event loop, and a thread pool for files and codecs.
Law: without TLS the server listens only on the loopback interface, unless `insecure` is set.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection, reflection_pb2

from rdfm.errors import OptionError, RdfmError, spell_option
from rdfm.formats import OptionSpec
from rdfm.live.addresses import Address, is_loopback, listening_error, try_address
from rdfm.live.descriptors_generated import DESCRIPTORS
from rdfm.live.events import EventLog
from rdfm.live.memory import CLIENT_BYTES
from rdfm.live.metrics import Metrics, MetricsServer
from rdfm.live.receiving import MAX_REQUEST_BYTES, BoundedCalls
from rdfm.live.service import Access, Streams
from rdfm.live.status import describe_os_error
from rdfm.live.tls import Tls, TlsContents
from rdfm.live.topics import Topics
from rdfm.logs.options import declare
from rdfm.storage.jelly_wire import MAX_FRAME_BYTES, SERVICE

# Declared here for the errors of `Server`; the command declares the other options.
declare(OptionSpec("insecure", "switch", "Serve other machines even without TLS.", group="Address"))

__all__ = ["Server", "ServerSettings"]

DEFAULT_ADDRESS = Address("127.0.0.1", 9090)
PING_MILLISECONDS = 10_000
PING_TIMEOUT_MILLISECONDS = 20_000
HANDSHAKE_MILLISECONDS = 10_000
STREAMS_PER_CONNECTION = 256
LOOKAHEAD_BYTES = 256 << 10  # received for a call before the server asks for a message
OTHER_CONNECTIONS = 100  # connections allowed in addition to one per call
GRACE_SECONDS = 5.0
_GZIP_LEVEL = 1
THREADS = 16


@dataclass(frozen=True)
class ServerSettings:
    """Settings of a server.

    Attributes:
        address: The address.
        metrics: The address for metrics; None if they are not served.
        tls: TLS files; None for a server without TLS.
        insecure: Whether a server without TLS may listen beyond the loopback interface.
        access: The access rules.
        load_access: Returns the access rules again, for a reload.
        follow: Whether subscriptions continue at the end of a log.
        from_end: Whether subscriptions start at the end of a log.
        compress: Whether responses are compressed with gzip.
        max_streams: Maximum number of simultaneous calls.
        max_client_bytes: Maximum size of the frames buffered for a connection, in bytes.
        ping_milliseconds: Idle time after which the server pings a client, and minimum time
            between pings from a client.
    """

    address: Address = DEFAULT_ADDRESS
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
    ping_milliseconds: int = PING_MILLISECONDS


class Server:
    """A server for topics.

    Attributes:
        port: The port. If port 0 was requested, the actual port after the server has started.
    """

    def __init__(self, topics: Topics, settings: ServerSettings, log: EventLog) -> None:
        """Check the settings.

        Raises:
            OptionError: If the address is not a loopback address, and neither TLS nor `insecure` is
                set.
        """
        host, port = settings.address
        if settings.tls is None and not settings.insecure and not is_loopback(host):
            raise OptionError(
                f"{host} can be reached from other machines; give {spell_option('tls_cert')} and "
                f"{spell_option('tls_key')}, or {spell_option('insecure')} if the network is trusted"
            )
        self.port = port
        self._topics = topics
        self._settings = settings
        self._log = log
        self._metrics = Metrics()
        self._metrics.read_from("rdfm_log_lines_dropped_total", lambda: log.dropped)
        self._streams: Streams | None = None  # None until the server runs
        self._certificates: Any = None

    def reload(self) -> None:
        """Read the tokens and TLS files again. If this fails, log the error and keep the old ones.

        New tokens apply to new calls, and new certificates to new connections.
        """
        settings = self._settings
        try:
            access = settings.access if settings.load_access is None else settings.load_access()
            certificates = None if settings.tls is None else _certificates(settings.tls.read())
        except (RdfmError, OSError) as error:
            self._log.write("error", "reload", reason=describe_os_error(error))
            self._metrics.add("rdfm_reloads_total", 1, "error")
            return
        self._certificates = certificates
        if self._streams is not None:
            self._streams.access = access
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
        self._streams = streams = Streams(
            self._topics,
            settings.access,
            self._log,
            self._metrics,
            follow=settings.follow,
            from_end=settings.from_end,
            max_streams=settings.max_streams,
            max_client_bytes=settings.max_client_bytes,
        )
        server = grpc.aio.server(interceptors=(BoundedCalls(SERVICE),), options=_options(settings))
        server.add_generic_rpc_handlers((streams,))
        health_service = health.aio.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(health_service, server)
        names = (SERVICE, health.SERVICE_NAME, reflection.SERVICE_NAME)
        reflection.enable_server_reflection(names, server, pool=_descriptors())
        self._bind(server)
        metrics_server: MetricsServer | None = None
        if settings.metrics is not None:
            metrics_server = MetricsServer(self._metrics, settings.metrics)
            await metrics_server.start()
        await server.start()
        for name in ("", SERVICE):
            await health_service.set(name, health_pb2.HealthCheckResponse.SERVING)
        scheme = "grpc" if settings.tls is None else "grpcs"
        self._log.write(
            "info",
            "start",
            topics=self._topics.count(),
            url=f"{scheme}://{settings.address._replace(port=self.port)}",
            metrics=None if metrics_server is None else f"http://{metrics_server.address}/metrics",
        )
        started(self)
        try:
            await stop.wait()
        finally:
            self._log.write("info", "stop")
            await health_service.enter_graceful_shutdown()
            streams.stopping.set()
            await server.stop(GRACE_SECONDS)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(GRACE_SECONDS):
                    await streams.finished()
            if metrics_server is not None:
                metrics_server.close()

    def _bind(self, server: grpc.aio.Server) -> None:
        address, tls = self._settings.address, self._settings.tls
        credentials = None
        if tls is not None:
            self._certificates = _certificates(tls.read())
            credentials = grpc.dynamic_ssl_server_credentials(
                self._certificates,
                lambda: self._certificates,
                require_client_authentication=tls.client_ca is not None,
            )
        try:
            if credentials is None:
                self.port = server.add_insecure_port(str(address))
            else:
                self.port = server.add_secure_port(str(address), credentials)
        except RuntimeError:
            self.port = 0
        if not self.port:
            error = try_address(address)
            if error is None and credentials is not None:
                raise OptionError("gRPC does not accept the certificate or the private key")
            raise listening_error(address, error)


def _certificates(contents: TlsContents) -> Any:
    """Return the certificates in the form that gRPC expects."""
    key, certificate, authorities = contents
    return grpc.ssl_server_certificate_configuration([(key, certificate)], authorities)


def _options(settings: ServerSettings) -> list[tuple[str, int]]:
    """Return the gRPC options of the server."""
    ping_milliseconds = settings.ping_milliseconds
    return [
        # A compression level, unlike an algorithm, applies only to clients that accept compression.
        ("grpc.default_compression_level", _GZIP_LEVEL if settings.compress else 0),
        ("grpc.max_receive_message_length", _max_received_bytes(settings)),
        ("grpc.max_send_message_length", MAX_FRAME_BYTES),
        ("grpc.max_concurrent_streams", STREAMS_PER_CONNECTION),
        ("grpc.max_allowed_incoming_connections", settings.max_streams + OTHER_CONNECTIONS),
        ("grpc.server_handshake_timeout_ms", HANDSHAKE_MILLISECONDS),
        # gRPC otherwise enlarges the buffer of each call to the speed of the connection.
        ("grpc.http2.bdp_probe", 0),
        ("grpc.http2.lookahead_bytes", LOOKAHEAD_BYTES),
        ("grpc.keepalive_time_ms", ping_milliseconds),
        ("grpc.http2.ping_timeout_ms", PING_TIMEOUT_MILLISECONDS),
        ("grpc.http2.max_pings_without_data", 0),
        # Clients may ping as often as the server, even without calls. Network delays can bring
        # pings closer together.
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.min_ping_interval_without_data_ms", ping_milliseconds * 9 // 10),
        ("grpc.so_reuseport", 0),
    ]


def _max_received_bytes(settings: ServerSettings) -> int:
    """Return the maximum size of a message from a client; gRPC checks the announced size."""
    if settings.access.publish_token is None:
        return MAX_REQUEST_BYTES
    return max(min(MAX_FRAME_BYTES, settings.max_client_bytes), MAX_REQUEST_BYTES)


def _descriptors() -> descriptor_pool.DescriptorPool:
    """Return the descriptors of all services, in a separate pool.

    Other packages, such as pyjelly, register an `rdf.proto` with the same names in the default
    pool.
    """
    pool = descriptor_pool.DescriptorPool()
    files = descriptor_pb2.FileDescriptorSet.FromString(base64.b64decode(DESCRIPTORS))
    for file in files.file:
        pool.Add(file)
    for module in (health_pb2, reflection_pb2):
        copied = descriptor_pb2.FileDescriptorProto()
        module.DESCRIPTOR.CopyToProto(copied)
        pool.Add(copied)
    return pool
