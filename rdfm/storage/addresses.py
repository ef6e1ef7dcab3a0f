"""Web URLs: their parts, their form in error messages, and request errors.

In: an http or https URL. Out: the URL to request, its origin, its credentials, and a string for
errors.
Law: no user-visible text contains credentials.
"""

from __future__ import annotations

import errno
import re
from typing import Any, NamedTuple

from rdfm.errors import OptionError, visible

__all__ = ["Address", "HttpError", "is_web", "redact_url", "remove_credentials"]

_WEB = re.compile(r"https?://", re.IGNORECASE)
# Characters that are kept in a URL; all others are percent-encoded.
_UNQUOTED = "%/:?#[]@!$&'()*+,;=~"
_SECRET = re.compile(
    r"([?&][^=&#]*(?:token|key|secret|signature|sig|password|credential|auth)[^=&#]*=)[^&#]+",
    re.IGNORECASE,
)
# The part before `@` in a URL of Azure is a container, not a user.
# A password may contain an unescaped `/`, `?` or `#`: what follows a colon is then not a port.
_USER = re.compile(
    r"^(?!(?:abfs|wasb)s?://[^/?#:@]*@)([A-Za-z][A-Za-z0-9+.-]*://)(?:[^/?#]*@|[^/?#@:\[]*:(?![0-9]*(?:[/?#]|$)).*@)",
    re.DOTALL,
)
_PORTS = {"http": 80, "https": 443}


def is_web(url: str) -> bool:
    """Whether a path is an http or https URL."""
    return _WEB.match(url) is not None


def redact_url(url: str) -> str:
    """Return a URL for errors and names, without user name, password and secret parameters.

    Example:
        >>> redact_url("https://me:pw@example.org/log.nq?token=abc&n=1")
        'https://example.org/log.nq?token=…&n=1'
        >>> redact_url("https://me:p/w@example.org/log.nq"), redact_url("http://host:80/@x")
        ('https://example.org/log.nq', 'http://host:80/@x')
    """
    return visible(_SECRET.sub(r"\1…", remove_credentials(url)))


def remove_credentials(url: str) -> str:
    """Return a URL without user name and password."""
    return _USER.sub(r"\1", url)


class HttpError(OSError):
    """The error of a failed HTTP request.

    Attributes:
        reason: The reason, without the remedy.
        status: The status of the response; None if there was none.
        remedy: The remedy; empty if there is none.
        transient: Whether the same request may succeed later.
    """

    def __init__(
        self,
        url: str,
        reason: str,
        status: int | None = None,
        *,
        remedy: str = "",
        transient: bool = False,
    ) -> None:
        """Initialize with the URL, which is shown without credentials, and a reason."""
        super().__init__(errno.EIO, f"{reason}; {remedy}" if remedy else reason, redact_url(url))
        self.reason = reason
        self.status = status
        self.remedy = remedy
        self.transient = transient

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arguments."""
        return _http_error, (
            self.filename,
            self.reason,
            self.status,
            self.remedy,
            self.transient,
        )


def _http_error(
    url: str, reason: str, status: int | None, remedy: str, transient: bool
) -> HttpError:
    return HttpError(url, reason, status, remedy=remedy, transient=transient)


class Address(NamedTuple):
    """An http or https URL.

    Attributes:
        url: The URL to request: ASCII, without credentials and fragment.
        host: The host name, in lower case.
        origin: Scheme, host and port.
        credentials: The value of the header Authorization, from the user name and password; None if
            there are none.
    """

    url: str
    host: str
    origin: tuple[str, str, int]
    credentials: str | None

    @classmethod
    def parse(cls, url: str) -> Address:
        """Parse a URL.

        Raises:
            OptionError: If the text is not a valid http or https URL.

        Example:
            >>> Address.parse("https://me:pw@example.org/é#top").url
            'https://example.org/%C3%A9'
        """
        from urllib.parse import quote, urlsplit, urlunsplit  # costly to import

        try:
            parts = urlsplit(url)
            host = (parts.hostname or "").encode("ascii" if url.isascii() else "idna").decode()
            port = parts.port
        except ValueError as error:  # also UnicodeError
            # The error may quote a part of the password.
            is_port = str(error).startswith("Port could not")
            reason = (
                "its port is not a number (in a password, write / as %2F)" if is_port else error
            )
            raise OptionError(f"{redact_url(url)} is not a valid URL: {reason}") from None
        scheme = parts.scheme.lower()
        if scheme not in _PORTS:
            raise OptionError(f"only http and https URLs are fetched, not {redact_url(url)[:200]}")
        if not host or re.search(r"[\0-\x20\x7f]", url):
            problem = "contains a space or control character" if host else "has no host"
            raise OptionError(f"{redact_url(url)[:200]!r} is not a valid URL: it {problem}")
        bracketed_host = f"[{host}]" if ":" in host else host
        host_and_port = (
            bracketed_host if port in (None, _PORTS[scheme]) else f"{bracketed_host}:{port}"
        )
        user, at_sign, _ = parts.netloc.rpartition("@")
        path = quote(parts.path or "/", safe=_UNQUOTED)
        query = quote(parts.query, safe=_UNQUOTED)
        return cls(
            urlunsplit((scheme, host_and_port, path, query, "")),
            host,
            (scheme, host, port or _PORTS[scheme]),
            _basic_authorization(user) if at_sign else None,
        )

    @property
    def secure(self) -> bool:
        """Whether the scheme is https."""
        return self.origin[0] == "https"

    def resolve(self, location: str) -> Address:
        """Return the target of a redirect or link.

        Raises:
            OptionError: If the target is not a valid http or https URL.
        """
        from urllib.parse import urljoin

        try:
            target = urljoin(self.url, location)
        except ValueError as error:
            raise OptionError(f"{redact_url(location)[:200]} is not a valid URL: {error}") from None
        return Address.parse(target)


def _basic_authorization(user: str) -> str:
    """Return the Authorization value for `name:password`, which may be percent-encoded."""
    import base64
    from urllib.parse import unquote

    return f"Basic {base64.b64encode(unquote(user).encode()).decode()}"
