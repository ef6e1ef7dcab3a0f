"""The HTTP client: for logs, contexts and registries.

In: a URL and settings. Out: a `Response`, whose decoded body is read in pieces as they arrive.
Cost: memory for one piece, and for the window of the decompressor, which is bounded.
Law: a body that ends early is resumed or is an error; it never appears complete. The user's headers
are sent only to the origin of the URL. Errors are `HttpError` or `FileNotFoundError`, with one
sentence and the URL without credentials.

urllib3 is used because it is maintained and synchronous and has no dependencies; aiohttp needs an
event loop, and httpx has had no release since 2024. Redirects, retries, decompression and resumed
transfers are implemented here, because they have to satisfy the law above.
"""

from __future__ import annotations

import errno
import io
import os
import re
import socket
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC
from email.utils import parsedate_to_datetime
from http.client import HTTPException, IncompleteRead, RemoteDisconnected
from http.client import responses as REASONS
from typing import Any, NoReturn

import urllib3
from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    InvalidHeader,
    LocationValueError,
    NameResolutionError,
    NewConnectionError,
    ProtocolError,
    ProxyError,
    ReadTimeoutError,
    SSLError,
)

from rdfm._core import __version__
from rdfm.errors import OptionError, RdfmError, spell_option
from rdfm.storage import compression
from rdfm.storage.addresses import Address, HttpError, redact_url
from rdfm.storage.connections import TLS_FILES, create_pool

__all__ = [
    "HttpError",
    "HttpSettings",
    "Response",
    "check_header",
    "content_length",
    "date_seconds",
    "open_url",
    "set_defaults",
]

MAX_RETRY_AFTER_SECONDS = 120.0
MAX_BACKOFF_SECONDS = 30.0
_PIECE_BYTES = 1 << 18
_REDIRECTS = {301, 302, 303, 307, 308}
_RETRIED_STATUSES = {408, 425, 429, 500, 502, 503, 504}
_ENCODINGS = {"gzip": "gzip", "x-gzip": "gzip", "zstd": "zstd"}
_MAX_ENCODINGS = 2
# OpenSSL codes for certificates that are self-signed or whose issuer is unknown.
_UNKNOWN_ISSUER = (18, 19, 20, 21)
# Maximum number of attempts for a host name that does not exist.
_NAME_TRIES = 2
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
# A parameter of a media type (RFC 9110, section 5.6.6): name, and a quoted or plain value.
_PARAMETER = re.compile(
    rf""";[\t ]*({_NAME.pattern})=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))""", re.DOTALL
)
_VALUE = re.compile(r"[\t\x20-\x7e\xa0-\xff]*")
_STRONG_TAG = re.compile(r'"[\x21\x23-\x7e\xa0-\xff]*"')
_LENGTH = re.compile("[0-9]{1,18}")
_RANGE = re.compile(r"bytes ([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18}|\*)")
# Causes of errors: a response that is not HTTP, and one that was cut.
_INVALID = (HTTPException, InvalidHeader)
_EARLY_ENDS = (RemoteDisconnected, IncompleteRead)
# Headers that the client sets itself.
_RESERVED_HEADERS = {
    "accept-encoding",
    "connection",
    "content-length",
    "host",
    "if-range",
    "range",
    "te",
    "transfer-encoding",
}


@dataclass(frozen=True)
class HttpSettings:
    """Settings of requests.

    Attributes:
        headers: Headers to send to the origin of the URL, such as credentials.
        connect_seconds: Deadline for a connection, including all addresses of the host.
        first_byte_seconds: Deadline for the status and the headers, and for the first byte of the
            body after them.
        idle_seconds: Deadline for each further piece of the body.
        tries: Maximum number of consecutive failed attempts; the count is reset when data arrives.
        backoff_seconds: Pause before the second attempt; it doubles with each further attempt.
        max_redirects: Maximum number of redirects.
        tls_ca: File with CA certificates that replace the default ones; None means the default ones.
        tls_cert: File with the client certificate, which is sent to the origin of the URL.
        tls_key: File with the private key of the certificate.
        follow: Whether a stream of events is continued after its end; None means that it is.
        from_end: Whether a stream of events begins with the next new one. None leaves this to the
            server.
        retry: Maximum number of consecutive attempts to reconnect; None means `tries`.
        last_event_id: The id of the event after which a stream begins; empty for the first event.
    """

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    connect_seconds: float = 30.0
    first_byte_seconds: float = 60.0
    idle_seconds: float = 60.0
    tries: int = 5
    backoff_seconds: float = 0.5
    max_redirects: int = 5
    tls_ca: str | os.PathLike[str] | None = None
    tls_cert: str | os.PathLike[str] | None = None
    tls_key: str | os.PathLike[str] | None = None
    follow: bool | None = None
    from_end: bool | None = None
    retry: int | None = None
    last_event_id: str | None = None

    def __post_init__(self) -> None:
        """Check the headers and numbers.

        Raises:
            OptionError: If a header or number is invalid.
        """
        for name, value in self.headers.items():
            check_header(name, value)
        for name in ("connect_seconds", "first_byte_seconds", "idle_seconds"):
            if not getattr(self, name) > 0:
                raise OptionError(f"{name} must be a number above 0, not {getattr(self, name)}")
        if (self.tls_cert is None) != (self.tls_key is None):
            raise OptionError(
                f"{spell_option('tls_cert')} and {spell_option('tls_key')} must be used together"
            )
        if self.retry is not None:
            object.__setattr__(self, "tries", self.retry + 1)
        if self.last_event_id is not None and re.search("[\0\r\n]", self.last_event_id):
            raise OptionError(
                f"{spell_option('last_event_id')} contains characters that cannot be sent"
            )

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> HttpSettings:
        """Return settings from `storage_options`.

        Raises:
            OptionError: If an option is unknown, or its value is invalid.
        """
        known = {"headers", *_NUMBERS, *TLS_FILES, *_STREAM_OPTIONS}
        for name, value in options.items():
            if name not in known:
                raise OptionError(
                    f"storage_options of http and https URLs are {', '.join(sorted(known))}, "
                    f"not {str(name)[:40]!r}"
                )
            if name in _NUMBERS and (
                isinstance(value, bool) or not isinstance(value, (int, float))
            ):
                raise OptionError(f"{name} must be a number, not {value!r}")
            if name in _STREAM_OPTIONS:
                kind = _STREAM_OPTIONS[name]
                is_number = isinstance(value, int) and not isinstance(value, bool) and value >= 0
                if not (is_number if kind is int else isinstance(value, kind)):
                    raise OptionError(f"{name} has an invalid value: {value!r}"[:200])
            if name in TLS_FILES and not isinstance(value, (str, os.PathLike)):
                raise OptionError(f"{name} must be a path, not {value!r}"[:200])
        headers = options.get("headers", {})
        if not isinstance(headers, Mapping):
            raise OptionError("headers must be a dict mapping names to values")
        headers = {**_defaults.get("headers", {}), **headers}
        return cls(**{**_defaults, **options, "headers": headers})


# Settings of the command line for all inputs and registries.
_defaults: dict[str, Any] = {}


def set_defaults(options: Mapping[str, Any]) -> None:
    """Set options for later calls of `HttpSettings.from_options`. Only for programs, not for libraries."""
    _defaults.clear()
    _defaults.update(options)


# Options of streams of events, with their types.
_STREAM_OPTIONS = {"follow": bool, "from_end": bool, "retry": int, "last_event_id": str}
_NUMBERS = ("connect_seconds", "first_byte_seconds", "idle_seconds")


def check_header(name: object, value: object) -> None:
    """Reject a header that cannot be sent. Errors do not show the value, which may be a secret.

    Raises:
        OptionError: If the name or the value is invalid, or rdfm sets the header itself.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise OptionError(f"{str(name)[:40]!r} is not the name of a header")
    if name.lower() in _RESERVED_HEADERS:
        raise OptionError(f"the header {name} is set by rdfm; remove it")
    if not isinstance(value, str) or not _VALUE.fullmatch(value):
        raise OptionError(f"the value of the header {name} contains characters that cannot be sent")


def open_url(
    url: str,
    settings: HttpSettings | None = None,
    *,
    method: str = "GET",
    accept: str = "*/*",
) -> Response:
    """Request a URL, and return the response after redirects and retries.

    Args:
        url: An http or https URL. A user name and password in it are sent with basic
            authentication.
        settings: The settings.
        method: "GET" or "HEAD".
        accept: The value of the header Accept.

    Raises:
        OptionError: If the URL or the proxy is invalid.
        FileNotFoundError: If the status is 404 or 410.
        HttpError: If no response arrives, or its status is neither 200 nor 204.
    """
    return Response(Address.parse(url), settings or HttpSettings(), method, accept)


class Response(io.BufferedIOBase):
    """A response, and its decoded body as a binary file without random access.

    Attributes:
        url: The URL of the response after redirects, without credentials.
        name: The requested URL, for errors.
        headers: The headers of the response, with case-insensitive names.
        size: The size of the body in bytes, if known.
        has_length: Whether the headers announce where the body ends; otherwise it may be endless.
    """

    def __init__(self, address: Address, settings: HttpSettings, method: str, accept: str) -> None:
        """Send the request. Use `open_url` instead of calling this."""
        super().__init__()
        self.name = redact_url(address.url)
        self._address = address
        self._settings = settings
        self._method = method
        self._secrets = dict(settings.headers)
        if address.credentials is not None:
            self._secrets.setdefault("Authorization", address.credentials)
        self._origin = address.origin
        self._accept = accept
        self._received = 0  # encoded bytes of the body
        self._skip = 0  # bytes of the current response that were already received
        self._total: int | None = None  # encoded bytes of the complete body, if announced
        self._end: int | None = None  # the end of the range that the current response contains
        self._requested_from = 0  # the position that the last request asked for
        self._failures = 0  # consecutive
        self._manager: urllib3.PoolManager | None = None
        self._raw: urllib3.BaseHTTPResponse | None = None
        self._waiting = True  # for the first byte of the body
        try:
            self._raw = self._request({})
            self.url = self._address.url
            self.headers: Mapping[str, str] = self._raw.headers
            encodings = self._content_encodings()
            has_body = method == "GET" and self._raw.status != 204
            self._total = self._announced_length() if has_body else None
            self.size = None if encodings or method != "GET" else self._total
            self.has_length = self._total is not None or not has_body
            pieces = self._read_encoded()
            for encoding in reversed(encodings):
                pieces = compression.decompress(encoding, pieces, redact_url(self.url))
            self._pieces = pieces
        except BaseException:
            self.close()
            raise
        self._rest = b""

    @property
    def media_type(self) -> tuple[str, dict[str, str]]:
        """The media type in lower case, and its parameters; an empty string if there is none."""
        kind, _, parameters = self.headers.get("Content-Type", "").partition(";")
        values = {
            match[1].lower(): match[3] if match[2] is None else re.sub(r"\\(.)", r"\1", match[2])
            for match in _PARAMETER.finditer(";" + parameters)
        }
        return kind.strip().lower(), values

    @property
    def is_empty(self) -> bool:
        """Whether the response has no content, which ends a stream of events."""
        return self._raw is not None and self._raw.status == 204

    def readable(self) -> bool:
        """Return True."""
        return True

    def read1(self, size: int = -1, /) -> bytes:
        """Return the next bytes of the decoded body as soon as they arrive; empty at its end.

        Raises:
            HttpError: If the body ends early and cannot be continued.
            DecodeError: If the compressed body is corrupt.
        """
        data = self._rest or next(self._pieces, b"")
        if 0 <= size < len(data):
            data, self._rest = data[:size], data[size:]
        else:
            self._rest = b""
        return data

    def read(self, size: int | None = -1, /) -> bytes:
        """Return the next `size` bytes of the decoded body; all if `size` is None or negative."""
        parts: list[bytes] = []
        remaining = -1 if size is None else size
        while remaining and (piece := self.read1(remaining)):
            parts.append(piece)
            remaining -= len(piece) if remaining > 0 else 0
        return b"".join(parts)

    def close(self) -> None:
        """Close the connection."""
        raw, self._raw = self._raw, None
        if raw is not None:
            raw.close()
        if self._manager is not None:
            self._manager.clear()
        super().close()

    # --- the request ---

    def _request(self, extra_headers: Mapping[str, str]) -> urllib3.BaseHTTPResponse:
        """Return the response to the request, after redirects and retries.

        Args:
            extra_headers: Headers of this request, in addition to the usual ones.
        """
        redirects = 0
        while True:
            try:
                raw = self._send(extra_headers)
            except (HTTPError, OSError) as error:
                self._handle_failure(error)
                continue
            if raw.status in _REDIRECTS and (location := raw.headers.get("Location")):
                raw.close()
                redirects += 1
                if redirects > self._settings.max_redirects:
                    self._raise(f"more than {self._settings.max_redirects} redirects")
                self._follow(location)
            elif raw.status in _RETRIED_STATUSES:
                self._failures += 1
                pause = self._pause_seconds(raw)
                raw.close()
                if self._failures >= self._settings.tries:
                    self._raise(
                        f"{_status_text(raw.status)}{self._attempts_text()}",
                        raw.status,
                        remedy="try again later",
                        transient=True,
                    )
                time.sleep(pause)
            elif raw.status in (200, 204) or (
                raw.status in (206, 416) and "Range" in extra_headers
            ):
                return raw
            else:
                raw.close()
                self._reject(raw.status)

    def _send(self, extra_headers: Mapping[str, str]) -> urllib3.BaseHTTPResponse:
        """Send the request once."""
        settings = self._settings
        headers = urllib3.HTTPHeaderDict(
            {
                "User-Agent": f"rdfm/{__version__}",
                "Accept": self._accept,
                "Accept-Encoding": "gzip, zstd",
            }
        )
        is_origin = self._address.origin == self._origin
        secrets = self._secrets if is_origin else {}
        if settings.last_event_id:
            # In UTF-8, as browsers send it.
            headers["Last-Event-ID"] = settings.last_event_id.encode().decode("latin-1")
        if settings.follow is not None:
            headers["RDFM-Follow"] = str(settings.follow).lower()
        if settings.from_end is not None:
            headers["RDFM-Start"] = "end" if settings.from_end else "first"
        for name, value in {**secrets, **extra_headers}.items():
            headers[name] = value  # replaces a header with different capitalization
        self._manager = create_pool(
            self._address,
            settings.tls_ca,
            settings.tls_cert if is_origin else None,
            settings.tls_key if is_origin else None,
        )
        return self._manager.request(
            self._method,
            self._address.url,
            headers=headers,
            timeout=urllib3.Timeout(
                connect=settings.connect_seconds, read=settings.first_byte_seconds
            ),
            redirect=False,
            retries=False,
            preload_content=False,
            decode_content=False,
        )

    def _follow(self, location: str) -> None:
        """Use the target of a redirect as the address."""
        try:
            target = self._address.resolve(location)
        except OptionError as error:
            self._raise(f"the server redirects to an invalid URL: {error}")
        if self._address.secure and not target.secure:
            self._raise(f"redirects from https to http are not followed: {redact_url(target.url)}")
        self._address = target

    def _pause_seconds(self, raw: urllib3.BaseHTTPResponse | None = None) -> float:
        """Return the seconds to wait before the next attempt."""
        requested_wait = None if raw is None else _retry_after(raw.headers.get("Retry-After", ""))
        if requested_wait is not None:
            if raw is not None and requested_wait > MAX_RETRY_AFTER_SECONDS:
                raw.close()
                self._raise(
                    f"{_status_text(raw.status)}; the server requests a wait of {requested_wait:.0f} s",
                    raw.status,
                    transient=True,
                )
            return requested_wait
        pause = self._settings.backoff_seconds * 2.0 ** (self._failures - 1)
        return min(pause, MAX_BACKOFF_SECONDS)

    def _handle_failure(self, error: Exception) -> None:
        """Wait after a failed attempt.

        Raises:
            HttpError: If this was the last attempt, or another attempt would also fail.
        """
        self._failures += 1
        reason = _reason(error, self._settings, waiting=self._waiting)
        final = _is_permanent(error)
        tries = self._settings.tries
        if _is_unknown_name(error):
            tries = min(tries, _NAME_TRIES)
        if final or self._failures >= tries:
            raise HttpError(
                self._address.url,
                f"{reason}{'' if final else self._attempts_text()}",
                remedy=_trust_remedy() if _is_unknown_issuer(error) else "",
                transient=not final,
            ) from error
        time.sleep(self._pause_seconds())

    def _attempts_text(self) -> str:
        return f" ({self._failures} attempts)" if self._failures > 1 else ""

    def _reject(self, status: int) -> NoReturn:
        """Raise the error for a status that is not retried."""
        if status in (404, 410):
            raise FileNotFoundError(
                errno.ENOENT, f"not found ({_status_text(status)})", redact_url(self._address.url)
            )
        remedy = ""
        if status in (401, 403, 407):
            remedy = "check the credentials, which are sent as a header"
        self._raise(f"the server answered {_status_text(status)}", status, remedy=remedy)

    def _raise(
        self,
        reason: str,
        status: int | None = None,
        *,
        remedy: str = "",
        transient: bool = False,
    ) -> NoReturn:
        raise HttpError(self._address.url, reason, status, remedy=remedy, transient=transient)

    # --- the body ---

    def _content_encodings(self) -> list[str]:
        """Return the compressions of the body, in the order in which they were applied."""
        encodings = self.headers.get("Content-Encoding", "").lower().split(",")
        names = [name.strip() for name in encodings if name.strip() not in ("", "identity")]
        for name in names:
            if name not in _ENCODINGS:
                self._raise(f"the content encoding is {name[:40]}, expected gzip or zstd")
        if len(names) > _MAX_ENCODINGS:
            self._raise(f"more than {_MAX_ENCODINGS} content encodings")
        return [_ENCODINGS[name] for name in names]

    def _announced_length(self) -> int | None:
        """Return the announced number of encoded bytes of the body; None if it is unknown.

        Raises:
            HttpError: If the length or the transfer encoding is invalid.
        """
        headers = self._raw.headers if self._raw is not None else {}
        encoding = headers.get("Transfer-Encoding")
        if encoding is not None:
            if encoding.strip().lower() != "chunked":
                self._raise(f"the transfer encoding is {encoding[:40]!r}, expected chunked")
            return None
        text = headers.get("Content-Length")
        if text is None:
            return None
        lengths = {part.strip() for part in text.split(",")}
        if len(lengths) > 1 or not _LENGTH.fullmatch(length := lengths.pop()):
            self._raise(f"the header Content-Length is {text[:40]!r}, expected one number")
        return int(length)

    def _read_encoded(self) -> Iterator[bytes]:
        """Yield the body as it is transferred, and request missing bytes again."""
        while self._raw is not None:
            try:
                self._extend_deadline(
                    self._settings.first_byte_seconds
                    if self._waiting
                    else self._settings.idle_seconds
                )
                piece = self._raw.read1(_PIECE_BYTES, decode_content=False)
            except SSLError as error:  # after the handshake, which is checked before
                self._resume(ProtocolError("the connection was closed early", error))
                continue
            except (HTTPError, OSError) as error:
                self._resume(error)
                continue
            if not piece:
                if self._is_complete():
                    break
                self._resume()
                continue
            self._waiting = False
            skipped = min(self._skip, len(piece))
            self._skip -= skipped
            if skipped == len(piece):
                continue
            self._received += len(piece) - skipped
            if self._end is not None and self._received > self._end:
                self._raise_changed()
            self._failures = 0
            yield piece[skipped:]

    def _is_complete(self) -> bool:
        """Whether all bytes arrived, at the end of a response."""
        if self._skip:
            self._raise_changed()
        if self._total is None:
            return self._end is None  # a range of a file of unknown length may be followed by more
        return self._received >= self._total

    def _extend_deadline(self, seconds: float) -> None:
        """Set the deadline of the next piece."""
        connection: Any = None if self._raw is None else self._raw.connection
        if connection is not None:
            connection.extend_deadline(seconds)

    def _resume(self, error: Exception | None = None) -> None:
        """Request the rest of the body, or all of it if nothing arrived.

        A server that does not support ranges sends the entire body again; its start is skipped.

        Args:
            error: The error that ended the response; None if it ended too early without one.

        Raises:
            HttpError: If the rest cannot be requested.
        """
        assert self._raw is not None
        self._raw.close()
        if self._received == self._total:  # a repeated body was cut while it was skipped
            self._raw = None
            return
        validator = _find_validator(self.headers)
        failure = error or ProtocolError("the response ended early")
        if self._received and validator is None:
            reason = _reason(failure, self._settings, waiting=False)
            self._raise(
                f"{reason} after {self._received} bytes",
                remedy="the server does not support resuming; try again",
                transient=True,
            )
        # A server may send less than the requested range; that is not a failure.
        if error is not None or self._received == self._requested_from:
            self._handle_failure(failure)
        self._waiting = True
        self._skip, self._end, self._requested_from = 0, None, self._received
        if validator is None or not self._received:
            self._raw = self._request({})
            self._total = self._announced_length()
        else:
            self._raw = self._request(
                {"Range": f"bytes={self._received}-", "If-Range": self.headers[validator]}
            )
            if self._raw.status == 416:
                self._accept_end(self._raw)
                return
            self._check_resumed(self._raw, validator)
        encoding = self.headers.get("Content-Encoding")
        if self._raw.headers.get("Content-Encoding") != encoding:
            self._raise(
                "the content encoding changed while the file was read",
                remedy="try again",
                transient=True,
            )
        if not self._received:
            self.headers = self._raw.headers

    def _accept_end(self, raw: urllib3.BaseHTTPResponse) -> None:
        """Accept the answer that no bytes are missing, if the length was unknown."""
        raw.close()
        match = re.fullmatch(r"bytes \*/([0-9]{1,18})", raw.headers.get("Content-Range", ""))
        if self._total is not None or (match and int(match[1]) != self._received):
            self._raise_changed()
        self._raw = None

    def _check_resumed(self, raw: urllib3.BaseHTTPResponse, validator: str) -> None:
        """Check that a response continues the body, and set the number of its bytes to skip."""
        value = self.headers[validator]
        if raw.status == 206:
            match = _RANGE.fullmatch(raw.headers.get("Content-Range", ""))
            if raw.headers.get(validator, value) != value:
                self._raise_changed()
            if match is None or int(match[1]) != self._received or int(match[2]) < int(match[1]):
                self._raise(
                    "the server resumed the transfer at the wrong position",
                    remedy="try again",
                    transient=True,
                )
            self._announced_length()  # rejects other invalid headers
            self._end = int(match[2]) + 1
            self._check_total(None if match[3] == "*" else int(match[3]))
            if self._total is not None and self._end > self._total:
                self._raise_changed()
        elif _find_validator(raw.headers) == validator and raw.headers[validator] == value:
            self._skip = self._received
            self._check_total(self._announced_length())
        else:
            self._raise_changed()

    def _check_total(self, total: int | None) -> None:
        """Compare the total length of a file with the length announced before."""
        if total is not None and self._total not in (None, total):
            self._raise_changed()
        self._total = self._total if total is None else total

    def _raise_changed(self) -> NoReturn:
        self._raise("the file changed while it was read", remedy="read it again", transient=True)


def _find_validator(headers: Mapping[str, str]) -> str | None:
    """Return the name of the header that identifies the bytes of a body; None if there is none.

    A modification date identifies them if the response has no entity tag and was sent at least one
    second after that date (RFC 9110, sections 8.8.2.2 and 13.1.5).
    """
    tag = headers.get("ETag", "")
    if tag:
        return "ETag" if _STRONG_TAG.fullmatch(tag) else None
    text = headers.get("Last-Modified", "")
    modified, sent = date_seconds(text), date_seconds(headers.get("Date", ""))
    if modified is None or sent is None or not _VALUE.fullmatch(text):
        return None
    return "Last-Modified" if sent - modified >= 1 else None


def date_seconds(text: str) -> float | None:
    """Return the seconds since 1970 of a date in a header; None if it is not a valid date."""
    try:
        date = parsedate_to_datetime(text)
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None


def content_length(headers: Mapping[str, str]) -> int | None:
    """Return the header Content-Length; None if it is missing or invalid."""
    text = headers.get("Content-Length", "")
    return int(text) if _LENGTH.fullmatch(text) else None


def _trust_remedy() -> str:
    option = RdfmError(spell_option("tls_ca"))  # spelled for the interface in use
    return f"{option} or the environment variable SSL_CERT_FILE names a file with certificates to trust"


def _status_text(status: int) -> str:
    return f"{status} {REASONS.get(status, '')}".rstrip()


def _retry_after(text: str) -> float | None:
    """Return the seconds in a Retry-After header; None if it is missing or invalid."""
    if re.fullmatch(r"[0-9]{1,9}", text.strip()):
        return float(text)
    date = date_seconds(text)
    return None if date is None else max(date - time.time(), 0.0)


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = getattr(cause, "original_error", None) or cause.__cause__ or cause.__context__


def _is_permanent(error: Exception) -> bool:
    """Whether another attempt would fail too."""
    causes = list(_causes(error))
    kinds = {type(cause).__name__ for cause in causes}
    # The connection was cut. In Python 3.11.2, only the reason says so.
    if "SSLEOFError" in kinds or any(
        getattr(cause, "reason", None) == "UNEXPECTED_EOF_WHILE_READING" for cause in causes
    ):
        return False
    return isinstance(error, (SSLError, LocationValueError)) or "SSLCertVerificationError" in kinds


def _is_unknown_issuer(error: Exception) -> bool:
    """Whether the issuer of a certificate is not trusted."""
    codes = {getattr(cause, "verify_code", None) for cause in _causes(error)}
    return not codes.isdisjoint(_UNKNOWN_ISSUER)


def _is_unknown_name(error: Exception) -> bool:
    """Whether the error means that a host name does not exist."""
    return any(
        isinstance(cause, socket.gaierror) and cause.errno != socket.EAI_AGAIN
        for cause in _causes(error)
    )


def _reason(error: Exception, settings: HttpSettings, *, waiting: bool) -> str:
    """Return the text for a urllib3 error."""
    if isinstance(error, LocationValueError):
        return "the URL is invalid"
    if _is_permanent(error):
        texts = [getattr(cause, "verify_message", "") for cause in _causes(error)]
        verify_message = next((text for text in texts if text), None)
        if verify_message is None:
            return "the connection cannot be encrypted; does the server use http?"
        return f"the server's certificate is not accepted: {verify_message}"
    if isinstance(error, ProxyError):
        return f"cannot connect through the proxy: {_system_text(error)}"
    if isinstance(error, NameResolutionError):
        problem = "is unknown" if _is_unknown_name(error) else "cannot be resolved"
        return f"the host name {problem}"
    if isinstance(error, NewConnectionError):
        return f"no connection: {_system_text(error)}"
    if isinstance(error, ConnectTimeoutError):
        return f"no connection within {settings.connect_seconds:g} s"
    if isinstance(error, ReadTimeoutError):
        if waiting:
            return f"no response within {settings.first_byte_seconds:g} s"
        return f"no data for {settings.idle_seconds:g} s"
    if any(isinstance(cause, _INVALID) for cause in _causes(error)) and not any(
        isinstance(cause, _EARLY_ENDS) for cause in _causes(error)
    ):
        return "the response is not valid HTTP"
    return "the connection was closed early"


def _system_text(error: Exception) -> str:
    """Return the operating system's text for the cause of an error."""
    texts = [cause.strerror for cause in _causes(error) if isinstance(cause, OSError)]
    return next((text.lower() for text in texts if text), "the reason is unknown")
