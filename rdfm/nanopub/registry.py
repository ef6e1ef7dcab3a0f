"""The HTTP interface of a nanopublication registry.

In: the URL of a registry. Out: `RegistryState`, from the headers of `HEAD /`, and the responses of
`GET /nanopubs.jelly`.
Cost: one request for each state or response.
Law: a missing status, setup id or counter is an error; the string `null` means None.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING

from rdfm.errors import OptionError, Remedy
from rdfm.storage.addresses import Address, HttpError, is_web, redact_url, remove_credentials

if TYPE_CHECKING:
    from rdfm.storage.http import HttpSettings, Response

__all__ = ["Registry", "RegistryState"]

_HEADER = "Nanopub-Registry-"
_MEDIA_TYPE = "application/x-jelly-rdf"
# In these states all nanopublications are served.
_READY = ("ready", "updating")
_MAX_COUNTER = (1 << 63) - 1


@dataclass(frozen=True)
class RegistryState:
    """The state of a registry.

    Attributes:
        url: The URL of the registry.
        status: `launching`, `coreLoading`, `coreReady`, `ready` or `updating`; None while the
            registry starts.
        setup_id: The id of the database, which changes when the registry is set up again.
        load_counter: The highest counter; None if the registry is empty.
        nanopub_count: The estimated number of nanopublications.
        test_instance: Whether the registry is a test instance.
        trust_state_counter: The number of the trust state.
        trust_state_hash: The hash of the trust state.
        last_trust_state_update: The time of the trust state.
        coverage_types: The IRIs of the covered types, or `all`.
        coverage_agents: The covered agents, such as `viaSetting`.
        version: The software version.
    """

    url: str
    status: str | None
    setup_id: str | None
    load_counter: int | None
    nanopub_count: int | None = None
    test_instance: bool = False
    trust_state_counter: int | None = None
    trust_state_hash: str | None = None
    last_trust_state_update: str | None = None
    coverage_types: str | None = None
    coverage_agents: str | None = None
    version: str | None = None

    @classmethod
    def of(cls, url: str, headers: Mapping[str, str]) -> RegistryState:
        """Return the state in the headers of a response.

        Raises:
            HttpError: If a header is missing or has an invalid value.
        """

        def text(name: str) -> str | None:
            value = headers.get(_HEADER + name, "").strip()
            return None if value in ("", "null") else value

        def number(name: str) -> int | None:
            value = text(name)
            if value is None:
                return None
            if not re.fullmatch("[0-9]{1,19}", value) or int(value) > _MAX_COUNTER:
                raise HttpError(
                    url, f"the header {_HEADER}{name} is '{value[:40]}', expected a number"
                )
            return int(value)

        for name in ("Status", "Setup-Id", "Load-Counter"):
            if headers.get(_HEADER + name) is None:
                raise HttpError(
                    url,
                    f"the response has no header {_HEADER}{name}; expected the URL of a "
                    "nanopublication registry, such as https://registry.knowledgepixels.com/",
                )
        setup_id = number("Setup-Id")
        return cls(
            url,
            text("Status"),
            None if setup_id is None else str(setup_id),
            number("Load-Counter"),
            number("Nanopub-Count"),
            text("Test-Instance") == "true",
            number("Trust-State-Counter"),
            text("Trust-State-Hash"),
            text("Last-Trust-State-Update"),
            text("Coverage-Types"),
            text("Coverage-Agents"),
            text("Version"),
        )

    @property
    def wait_reason(self) -> str | None:
        """The reason why nanopublications cannot be fetched yet; None if they can."""
        if self.status not in _READY:
            return f"its status is {self.status or 'null'}, expected ready or updating"
        if self.setup_id is None:
            return "it has no setup id yet"
        if self.load_counter is None:
            return "it is empty"
        return None


class Registry:
    """A registry.

    Attributes:
        url: URL of the registry, without credentials and with a slash at the end.
    """

    def __init__(
        self, url: str, settings: HttpSettings | None = None, *, allow_http: bool = False
    ) -> None:
        """Initialize with the URL.

        Args:
            url: The URL.
            settings: Settings of the requests.
            allow_http: Allow http for any host. By default only loopback addresses may use http.

        Raises:
            OptionError: If the URL is not the URL of a registry, or is not allowed.
        """
        if not isinstance(url, str) or not is_web(url):
            raise OptionError(
                f"{str(url)[:80]!r} is not the URL of a registry; expected https://HOST/"
            )
        parts = Address.parse(url)
        if "?" in parts.url:
            raise OptionError(f"{redact_url(url)}: expected the URL of a registry without a query")
        if re.search(r"/(nanopubs|np)(\.\w+)*/?$", parts.url):
            raise OptionError(
                f"{redact_url(url)} is a page of a registry; expected the URL of the registry, such as "
                "https://HOST/"
            )
        self._base = url.partition("#")[0].rstrip("/") + "/"
        self.url = remove_credentials(self._base)
        self._settings = settings
        self._allow_http = allow_http
        self._check_secure(self.url)

    def state(self) -> RegistryState:
        """Request the state.

        Raises:
            HttpError: If the response is not from a registry.
            OSError: If the request fails.
        """
        from rdfm.storage.http import open_url  # costly to import

        with open_url(self._base, self._settings, method="HEAD") as response:
            self._check_secure(response.url)
            return RegistryState.of(self.url, response.headers)

    def nanopubs(self, after: int) -> Response:
        """Request the nanopublications with a counter greater than `after`.

        Raises:
            HttpError: If the response is not a Jelly log.
            OSError: If the request fails.
        """
        from rdfm.storage.http import open_url  # costly to import

        response = open_url(
            f"{self._base}nanopubs.jelly?afterCounter={after}", self._settings, accept=_MEDIA_TYPE
        )
        try:
            self._check_secure(response.url)
            found, _ = response.media_type
            if found != _MEDIA_TYPE:
                raise HttpError(
                    response.url,
                    f"the media type of the response is {found[:60] or 'missing'}, "
                    f"expected {_MEDIA_TYPE}; check that the URL is that of a registry",
                )
        except BaseException:
            response.close()
            raise
        return response

    def _check_secure(self, url: str) -> None:
        """Reject http, except for loopback addresses."""
        address = Address.parse(url)
        if not (address.secure or self._allow_http or _is_loopback(address.host)):
            raise OptionError(
                f"{redact_url(url)} is not encrypted; use https",
                remedies=[Remedy("stage", "allow_http", "true", "allows it in a private network")],
            )


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
