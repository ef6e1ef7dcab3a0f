"""Connections of the HTTP client, with deadlines for each phase.

In: the address of a server, and timeouts. Out: a urllib3 pool whose connections end each phase
(connecting, headers, a piece of the body) at its deadline.
Law: a server that sends bytes without progress, such as endless headers, interim responses or
trailers, cannot extend a phase. A TLS connection that is cut is never the end of a body.
"""

from __future__ import annotations

import io
import os
import socket
import time
from http.client import HTTPResponse
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import HTTPError, NameResolutionError
from urllib3.util.connection import allowed_gai_family

from rdfm.errors import OptionError, visible
from rdfm.storage.addresses import Address, redact_url
from rdfm.storage.pipes import is_pipe

if TYPE_CHECKING:
    import ssl

__all__ = ["TLS_FILES", "create_pool"]

# Settings that are paths of files.
TLS_FILES = ("tls_ca", "tls_cert", "tls_key")


class _TimedSocket(io.RawIOBase):
    """Reads from a socket until a deadline, however many reads that takes."""

    def __init__(self, raw: Any, connected: Any) -> None:
        """Initialize with the raw file of a socket, and the socket."""
        self._raw = raw
        self._socket = connected
        self.deadline = 0.0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int | None:
        remaining = self.deadline - time.monotonic()
        if remaining <= 0:
            raise TimeoutError("timed out")
        self._socket.settimeout(remaining)
        return cast("int | None", self._raw.readinto(buffer))

    def close(self) -> None:
        self._raw.close()
        super().close()


class _TimedResponse(HTTPResponse):
    """A response whose status and headers must arrive within the timeout of the socket."""

    def __init__(self, sock: Any, *args: Any, **settings: Any) -> None:
        super().__init__(sock, *args, **settings)
        self.timed = _TimedSocket(self.fp.detach(), sock)
        self.extend_deadline(sock.gettimeout())
        self.fp = io.BufferedReader(self.timed)

    def extend_deadline(self, seconds: float) -> None:
        """Set the deadline to a number of seconds from now."""
        self.timed.deadline = time.monotonic() + seconds


class _TimedConnection:
    """A connection with a deadline for connecting, and with timed responses."""

    response: _TimedResponse

    def response_class(self, *args: Any, **settings: Any) -> HTTPResponse:
        """Return the response that http.client reads."""
        self.response = _TimedResponse(*args, **settings)
        return self.response

    def extend_deadline(self, seconds: float) -> None:
        """Set the deadline of the next piece of the body to a number of seconds from now."""
        self.response.extend_deadline(seconds)

    def _new_conn(self) -> socket.socket:
        """Connect to the first address of the host that answers."""
        connection = cast("HTTPConnection", self)
        host, timeout = connection._dns_host, cast("float", connection.timeout)
        deadline = time.monotonic() + timeout
        try:
            results = socket.getaddrinfo(
                host, connection.port, allowed_gai_family(), socket.SOCK_STREAM
            )
        except socket.gaierror as error:
            raise NameResolutionError(host, connection, error) from error
        addresses = list(dict.fromkeys(str(address[4][0]) for address in results))
        try:
            while True:
                connection._dns_host = addresses.pop(0)
                connection.timeout = max(deadline - time.monotonic(), 0.001)
                try:
                    connected: socket.socket = super()._new_conn()  # type: ignore[misc]
                except HTTPError:
                    if not addresses or time.monotonic() >= deadline:
                        raise
                else:
                    # The handshakes of TLS and of a proxy have the same deadline.
                    connected.settimeout(max(deadline - time.monotonic(), 0.001))
                    return connected
        finally:
            connection._dns_host, connection.timeout = host, timeout


class _PlainConnection(_TimedConnection, HTTPConnection):  # type: ignore[misc]  # response_class is a method
    pass


class _SecureConnection(_TimedConnection, HTTPSConnection):  # type: ignore[misc]
    def connect(self) -> None:
        super().connect()
        # Otherwise a connection that is cut looks like the end of a body without a length.
        cast("Any", self.sock).suppress_ragged_eofs = False


class _PlainPool(HTTPConnectionPool):
    ConnectionCls = _PlainConnection


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _SecureConnection


def _tls_context(
    authorities: str | os.PathLike[str] | None,
    certificate: str | os.PathLike[str] | None,
    key: str | os.PathLike[str] | None,
) -> ssl.SSLContext:
    """Return the settings for TLS, with which a connection that is cut is an error.

    Raises:
        OptionError: If a file cannot be read or is not of the expected kind, or the key does not
            match.
    """
    import ssl  # costly to import

    for path in (authorities, certificate, key):
        if path is not None and is_pipe(os.fspath(path)):
            raise OptionError(
                f"{visible(str(path))} is a pipe, but each connection reads it; use a regular file"
            )
        try:  # an error of ssl does not contain the name
            if path is not None:
                Path(path).open("rb").close()
        except OSError as error:
            raise OptionError(f"cannot read {visible(str(path))}: {error.strerror}") from None
    try:
        context = ssl.create_default_context(cafile=authorities)
    except ssl.SSLError:
        raise OptionError(
            f"{visible(str(authorities))} is not a PEM file with certificates"
        ) from None
    if certificate is not None:
        try:
            context.load_cert_chain(certificate, key, password=lambda: "")
        except ssl.SSLError as error:
            mismatch = "MISMATCH" in str(error)
            raise OptionError(
                f"the certificate {visible(str(certificate))} and the key {visible(str(key))} "
                + ("do not match" if mismatch else "must be PEM files, without a password")
            ) from None
    # Some Pythons, such as 3.11.2, set it: a connection that is cut then looks like one that ended.
    context.options &= ~getattr(ssl, "OP_IGNORE_UNEXPECTED_EOF", 0)
    return context


def create_pool(
    address: Address,
    authorities: str | os.PathLike[str] | None = None,
    certificate: str | os.PathLike[str] | None = None,
    key: str | os.PathLike[str] | None = None,
) -> urllib3.PoolManager:
    """Return a pool for a URL, through the proxy that is set in the environment.

    Args:
        address: The URL.
        authorities: File with the CA certificates to trust.
        certificate: File with a client certificate.
        key: File with the private key of the client certificate.

    Raises:
        OptionError: If the proxy or a file is invalid.
    """
    from urllib.request import getproxies, proxy_bypass  # costly to import

    context = _tls_context(authorities, certificate, key) if address.secure else None
    proxies = getproxies()
    proxy = proxies.get(address.origin[0]) or proxies.get("all")
    manager: urllib3.PoolManager
    if not proxy or proxy_bypass(f"{address.host}:{address.origin[2]}"):
        manager = urllib3.PoolManager(num_pools=1, ssl_context=context)
    else:
        if "://" not in proxy:
            proxy = f"http://{proxy}"
        try:
            parsed = Address.parse(proxy)
        except OptionError:
            raise OptionError(
                f"the proxy {redact_url(proxy)} is not supported; expected http://HOST:PORT"
            ) from None
        headers = {"Proxy-Authorization": parsed.credentials} if parsed.credentials else None
        manager = urllib3.ProxyManager(
            parsed.url, num_pools=1, proxy_headers=headers, ssl_context=context
        )
    manager.pool_classes_by_scheme = {"http": _PlainPool, "https": _SecurePool}
    return manager
