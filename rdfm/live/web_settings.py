"""Settings for HTTP only: the hosts, origins and path prefix under which topics are served.

In: the options of the command. Out: checked settings.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass

from rdfm.errors import OptionError, spell_option
from rdfm.formats import OptionSpec
from rdfm.logs.options import declare

__all__ = ["WebSettings", "parse_web_settings"]

# For the errors below; the command declares these options separately.
declare(
    OptionSpec("allow_host", help="Host name under which the server is reached."),
    OptionSpec("cors", help="Origin whose pages may read the topics."),
    OptionSpec("root_path", help="Path prefix that a reverse proxy adds."),
)

ANY = "*"
_HOST = re.compile(r"[0-9A-Za-z](?:[0-9A-Za-z.-]*[0-9A-Za-z])?")
_ORIGIN = re.compile(r"https?://[0-9A-Za-z.:\[\]-]+")
_ROOT_PATH = re.compile(r"(?:/[0-9A-Za-z._~-]+)+")


@dataclass(frozen=True)
class WebSettings:
    """Settings for HTTP.

    Attributes:
        hosts: Host names under which the server may be reached, besides `localhost` and IP
            addresses; "*" allows any.
        origins: Origins whose pages may read the topics (CORS); "*" allows any.
        root_path: The path prefix of all URLs; empty if there is none.
    """

    hosts: frozenset[str] = frozenset()
    origins: frozenset[str] = frozenset()
    root_path: str = ""

    def allows_host(self, authority: str) -> bool:
        """Whether a request may have a header `Host`.

        A page of another site can make a browser send requests to this server, by letting its own
        host name point to the address of the server. Such requests have that name as their host.
        """
        match = re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[^:\[\]/@\s]+)(?::[0-9]{1,5})?", authority)
        if match is None:
            return False
        host = match[1].lower().rstrip(".")
        if ANY in self.hosts or host in self.hosts or host == "localhost":
            return True
        try:
            ipaddress.ip_address(host.strip("[]"))
        except ValueError:
            return False
        return True

    def allowed_origin(self, origin: str | None) -> str | None:
        """Return the value of `Access-Control-Allow-Origin` for an origin, or None."""
        if ANY in self.origins:
            return ANY
        return origin if origin in self.origins else None


def parse_web_settings(
    hosts: Sequence[str], origins: Sequence[str], root_path: str | None
) -> WebSettings:
    """Check the settings for HTTP.

    Raises:
        OptionError: If a host, an origin or the path is invalid.
    """
    for host in hosts:
        if host != ANY and not _HOST.fullmatch(host):
            raise OptionError(
                f"{spell_option('allow_host')} needs a host name without a port, such as "
                f"logs.example.org, not {host[:60]!r}"
            )
    for origin in origins:
        if origin != ANY and not _ORIGIN.fullmatch(origin):
            raise OptionError(
                f"{spell_option('cors')} needs an origin without a path, such as "
                f"https://example.org, or *, not {origin[:60]!r}"
            )
    path = (root_path or "").rstrip("/")
    if path and not _ROOT_PATH.fullmatch(path):
        raise OptionError(
            f"{spell_option('root_path')} needs a path such as /logs, not {path[:60]!r}"
        )
    return WebSettings(
        frozenset(host.lower().rstrip(".") for host in hosts), frozenset(origins), path
    )
