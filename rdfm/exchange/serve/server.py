"""The server: its address, TLS, health checks, reflection and shutdown.

In: topics and settings. Out: a running server.
Cost: a thread for gRPC's event loop, and a thread pool for files and codecs.
Law: without TLS the server listens only on the loopback interface, unless `insecure` is set.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import ipaddress
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection, reflection_pb2

from rdfm.errors import OptionError, spelled, visible
from rdfm.exchange.serve.descriptors_generated import DESCRIPTORS
from rdfm.exchange.serve.memory import CLIENT_BYTES
from rdfm.exchange.serve.receiving import MAX_REQUEST_BYTES, BoundedCalls
from rdfm.exchange.serve.service import Access, Streams
from rdfm.exchange.serve.topics import Topics
from rdfm.formats import OptionSpec
from rdfm.logs.options import declare
from rdfm.storage.jelly_wire import MAX_FRAME_BYTES, SERVICE

# Declared here for the errors of `Server`; the command declares the other options.
declare(OptionSpec("insecure", "switch", "Serve other machines even without TLS.", group="Address"))

__all__ = ["Server", "ServerSettings", "Tls", "is_loopback", "parse_address"]

PING_MILLISECONDS = 10_000
PING_TIMEOUT_MILLISECONDS = 20_000
STREAMS_PER_CONNECTION = 256
LOOKAHEAD_BYTES = 256 << 10  # received for a call before the server asks for a message
OTHER_CONNECTIONS = 100  # connections allowed in addition to one per call
GRACE_SECONDS = 5.0
_GZIP_LEVEL = 1
THREADS = 16


@dataclass(frozen=True)
class Tls:
    """PEM files for TLS.

    Attributes:
        certificate: The certificate of the server, with its chain.
        key: The private key of the certificate.
        client_ca: CA certificates; clients need a certificate that one of these CAs has signed.
            None if clients do not need a certificate.
    """

    certificate: Path
    key: Path
    client_ca: Path | None = None

    def credentials(self) -> grpc.ServerCredentials:
        """Return the credentials of the server.

        Raises:
            OptionError: If a file is not a PEM file of the expected kind.
            OSError: If a file cannot be read.
        """
        certificate = _pem(self.certificate, "CERTIFICATE")
        key = _pem(self.key, "PRIVATE KEY")
        authorities = None if self.client_ca is None else _pem(self.client_ca, "CERTIFICATE")
        return grpc.ssl_server_credentials(
            [(key, certificate)], authorities, require_client_auth=authorities is not None
        )


@dataclass(frozen=True)
class ServerSettings:
    """Settings of a server.

    Attributes:
        address: Host and port; port 0 means any free port.
        tls: TLS files; None for a server without TLS.
        insecure: Whether a server without TLS may listen beyond the loopback interface.
        access: The access rules.
        follow: Whether subscriptions continue at the end of a log.
        from_end: Whether subscriptions start at the end of a log.
        compress: Whether responses are compressed with gzip.
        max_streams: Maximum number of simultaneous calls.
        max_client_bytes: Maximum size of the frames buffered for a connection, in bytes.
        ping_milliseconds: Idle time after which the server pings a client, and minimum time
            between pings from a client.
    """

    address: tuple[str, int] = ("127.0.0.1", 9090)
    tls: Tls | None = None
    insecure: bool = False
    access: Access = field(default_factory=Access)
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

    def __init__(self, topics: Topics, settings: ServerSettings) -> None:
        """Check the settings.

        Raises:
            OptionError: If the address is not a loopback address, and neither TLS nor `insecure` is
                set.
        """
        host, port = settings.address
        if settings.tls is None and not settings.insecure and not is_loopback(host):
            raise OptionError(
                f"{host} can be reached from other machines; give {spelled('tls_cert')} and "
                f"{spelled('tls_key')}, or {spelled('insecure')} if the network is trusted"
            )
        self.port = port
        self._topics = topics
        self._settings = settings

    async def run(self, stop: asyncio.Event, started: Callable[[Server], None]) -> None:
        """Serve until an event is set, then end the calls.

        Args:
            stop: The event.
            started: Called when the server accepts calls.

        Raises:
            OptionError: If the address is in use, or a TLS file is invalid.
            OSError: If a file cannot be read.
        """
        settings = self._settings
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS, "rdfm-serve"))
        streams = Streams(
            self._topics,
            settings.access,
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
        await server.start()
        for name in ("", SERVICE):
            await health_service.set(name, health_pb2.HealthCheckResponse.SERVING)
        started(self)
        try:
            await stop.wait()
        finally:
            await health_service.enter_graceful_shutdown()
            streams.stopping.set()
            await server.stop(GRACE_SECONDS)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(GRACE_SECONDS):
                    await streams.finished()

    def _bind(self, server: grpc.aio.Server) -> None:
        host, port = self._settings.address
        shown = f"[{host}]" if ":" in host else host
        address = f"{shown}:{port}"
        try:
            if self._settings.tls is None:
                self.port = server.add_insecure_port(address)
            else:
                self.port = server.add_secure_port(address, self._settings.tls.credentials())
        except RuntimeError:
            self.port = 0
        if not self.port:
            raise OptionError(
                f"cannot listen on {address}: the port is in use, or the address does not belong "
                "to this machine; choose another port"
            )


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


def parse_address(text: str) -> tuple[str, int]:
    """Return the host and port of `HOST:PORT`, `:PORT` or `PORT`. The default host is 127.0.0.1.

    Raises:
        OptionError: If the argument does not have this form.

    Example:
        >>> parse_address("9090"), parse_address("[::1]:9090")
        (('127.0.0.1', 9090), ('::1', 9090))
    """
    found = re.fullmatch(r"(?:(\[[0-9A-Fa-f:.]+\]|[^:\[\]/\s]*):)?([0-9]{1,5})", text)
    if found is None or int(found[2]) > 65535:
        raise OptionError(
            f"{text[:60]!r} is not an address; expected HOST:PORT, such as 127.0.0.1:9090"
        )
    return (found[1] or "127.0.0.1").strip("[]"), int(found[2])


def is_loopback(host: str) -> bool:
    """Whether a host is the loopback interface of this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


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


def _pem(path: Path, kind: str) -> bytes:
    """Return the content of a PEM file."""
    data = path.read_bytes()
    if re.search(rb"-----BEGIN [A-Z0-9 ]*" + kind.encode() + rb"-----", data) is None:
        raise OptionError(f"{visible(str(path))} is not a PEM file with a {kind}")
    return data
