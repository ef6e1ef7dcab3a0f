"""The gRPC server: its address, TLS, health checks and reflection.

In: topics and settings. Out: a server that accepts calls.
Cost: a thread for gRPC's event loop.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection, reflection_pb2

from rdfm.errors import OptionError
from rdfm.live.access import Access
from rdfm.live.addresses import Address, listening_error, try_address
from rdfm.live.descriptors_generated import DESCRIPTORS
from rdfm.live.memory import CLIENT_BYTES
from rdfm.live.receiving import MAX_REQUEST_BYTES, BoundedCalls
from rdfm.live.service import Streams
from rdfm.live.tls import Tls, TlsContents
from rdfm.storage.jelly_wire import MAX_FRAME_BYTES, SERVICE

__all__ = ["GrpcServer", "GrpcSettings"]

PING_MILLISECONDS = 10_000
PING_TIMEOUT_MILLISECONDS = 20_000
HANDSHAKE_MILLISECONDS = 10_000
STREAMS_PER_CONNECTION = 256
LOOKAHEAD_BYTES = 256 << 10  # received for a call before the server asks for a message
OTHER_CONNECTIONS = 100  # connections allowed in addition to one per call
_GZIP_LEVEL = 1


@dataclass(frozen=True)
class GrpcSettings:
    """Settings of a gRPC server.

    Attributes:
        address: The address.
        tls: TLS files; None for a server without TLS.
        publishes: Whether clients may publish.
        compress: Whether responses are compressed with gzip.
        max_streams: Maximum number of simultaneous calls.
        max_client_bytes: Maximum size of the frames buffered for a connection, in bytes.
        ping_milliseconds: Idle time after which the server pings a client, and minimum time
            between pings from a client.
    """

    address: Address
    tls: Tls | None = None
    publishes: bool = False
    compress: bool = False
    max_streams: int = 1000
    max_client_bytes: int = CLIENT_BYTES
    ping_milliseconds: int = PING_MILLISECONDS


class GrpcServer:
    """Serves topics over gRPC.

    Attributes:
        address: The address. If port 0 was requested, the actual port after the start.
    """

    def __init__(self, streams: Streams, settings: GrpcSettings) -> None:
        """Initialize without listening. Needs a running event loop."""
        self.address = settings.address
        self._streams = streams
        self._settings = settings
        self._certificates: Any = None
        self._server = grpc.aio.server(
            interceptors=(BoundedCalls(SERVICE),), options=_options(settings)
        )
        self._health = health.aio.HealthServicer()

    @property
    def url(self) -> str:
        """The URL of the server."""
        return f"{'grpc' if self._settings.tls is None else 'grpcs'}://{self.address}"

    async def start(self) -> None:
        """Accept calls.

        Raises:
            OptionError: If the address is in use, or a TLS file is invalid.
            OSError: If a file cannot be read.
        """
        server = self._server
        server.add_generic_rpc_handlers((self._streams,))
        health_pb2_grpc.add_HealthServicer_to_server(self._health, server)
        names = (SERVICE, health.SERVICE_NAME, reflection.SERVICE_NAME)
        reflection.enable_server_reflection(names, server, pool=_descriptors())
        self._bind()
        await server.start()
        for name in ("", SERVICE):
            await self._health.set(name, health_pb2.HealthCheckResponse.SERVING)

    def reload(self, access: Access, contents: TlsContents | None) -> None:
        """Use other tokens for new calls, and other certificates for new connections."""
        self._streams.access = access
        if contents is not None:
            self._certificates = _certificates(contents)

    async def stop(self, grace_seconds: float) -> None:
        """End the calls, after some time if they do not end earlier."""
        await self._health.enter_graceful_shutdown()
        await self._server.stop(grace_seconds)

    def _bind(self) -> None:
        address, tls, server = self.address, self._settings.tls, self._server
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
                port = server.add_insecure_port(str(address))
            else:
                port = server.add_secure_port(str(address), credentials)
        except RuntimeError:
            port = 0
        if not port:
            error = try_address(address)
            if error is None and credentials is not None:
                raise OptionError("gRPC does not accept the certificate or the private key")
            raise listening_error(address, error)
        self.address = address._replace(port=port)


def _certificates(contents: TlsContents) -> Any:
    """Return the certificates in the form that gRPC expects."""
    key, certificate, authorities = contents
    return grpc.ssl_server_certificate_configuration([(key, certificate)], authorities)


def _options(settings: GrpcSettings) -> list[tuple[str, int]]:
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


def _max_received_bytes(settings: GrpcSettings) -> int:
    """Return the maximum size of a message from a client; gRPC checks the announced size."""
    if not settings.publishes:
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
