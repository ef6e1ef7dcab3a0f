"""The addresses on which a server listens.

In: addresses as given by users, and errors of the system. Out: hosts and ports, and error texts.
"""

from __future__ import annotations

import errno
import ipaddress
import re
import socket
from typing import NamedTuple

from rdfm.errors import OptionError

__all__ = ["Address", "is_loopback", "listening_error", "parse_address", "try_address"]

_REASONS = {
    errno.EADDRINUSE: "the port is in use; choose another port",
    errno.EADDRNOTAVAIL: "the address does not belong to this machine",
    errno.EACCES: "this port needs privileges; choose a port above 1023",
}


class Address(NamedTuple):
    """A host and a port; port 0 means any free port."""

    host: str
    port: int

    def __str__(self) -> str:
        """Return `HOST:PORT`."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_address(text: str) -> Address:
    """Return the host and port of `HOST:PORT`, `:PORT` or `PORT`. The default host is 127.0.0.1.

    Raises:
        OptionError: If the argument does not have this form.

    Example:
        >>> str(parse_address("9090")), str(parse_address("[::1]:9090"))
        ('127.0.0.1:9090', '[::1]:9090')
    """
    match = re.fullmatch(r"(?:(\[[0-9A-Fa-f:.]+\]|[^:\[\]/\s]*):)?([0-9]{1,5})", text)
    if match is None or int(match[2]) > 65535:
        raise OptionError(
            f"{text[:60]!r} is not an address; expected HOST:PORT, such as 127.0.0.1:9090"
        )
    return Address((match[1] or "127.0.0.1").strip("[]"), int(match[2]))


def is_loopback(host: str) -> bool:
    """Whether a host is the loopback interface of this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def try_address(address: Address) -> OSError | None:
    """Return the error of the system for listening on an address; None if it is possible."""
    try:
        for family, kind, protocol, _, socket_address in socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        ):
            with socket.socket(family, kind, protocol) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(socket_address)
                probe.listen(1)
    except OSError as error:
        return error
    return None


def listening_error(address: Address, error: OSError | None) -> OptionError:
    """Return the error for an address on which a server cannot listen."""
    number, text = (None, None) if error is None else (error.errno, error.strerror)
    reason = _REASONS.get(number or 0) or text or "the system gives no reason"
    return OptionError(f"cannot listen on {address}: {reason}")
