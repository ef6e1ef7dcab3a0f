"""Live streams: a Jelly gRPC client that subscribes and publishes.

In: URLs such as `grpc://host:9090/TOPIC`, and settings. Out: a binary file for reading the frames
of a subscription, or one for writing frames, which are published.
Cost: at most `QUEUE_BYTES` of frames that are waiting to be read or sent (or one frame, if it is
larger), and a thread for each subscription.
Law: no frame is lost, repeated or reordered within a connection. After a reconnection, the messages
that were already received are skipped by count, and the first frame after them can be decoded
without them.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

from rdfm._core import Decoder, Encoder
from rdfm.errors import (
    DecodeError,
    MissingExtraError,
    OptionError,
    RdfmError,
    spell_option,
    visible,
)
from rdfm.storage.jelly_wire import (
    COLUMNS_VERSION,
    MAX_FRAME_BYTES,
    PUBLISH,
    SUBSCRIBE,
    StreamOptions,
    cut_frames,
    delimited,
    stream_options,
    subscribe_message,
)
from rdfm.storage.pipes import mark_pipes, read_option_file

__all__ = [
    "LIVE_OPTIONS",
    "LiveAddress",
    "LiveError",
    "LiveSettings",
    "LiveTarget",
    "Subscription",
    "set_defaults",
]

QUEUE_BYTES = 8 << 20
TOKEN_VARIABLE = "RDFM_GRPC_TOKEN"
FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 30.0
PING_MILLISECONDS = 30_000
MAX_PEM_BYTES = 1 << 20
_TLS_PORT = 443


class LiveError(OSError):
    """A live stream cannot be read or written, or was interrupted.

    Attributes:
        code: The name of the gRPC status, such as "NOT_FOUND".
    """

    def __init__(self, url: str, reason: str, code: str) -> None:
        super().__init__(errno.EIO, reason, url)
        self.code = code

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arguments."""
        return LiveError, (self.filename, self.strerror, self.code)


class LiveAddress(NamedTuple):
    """The URL of a live stream.

    Attributes:
        url: The URL, for errors.
        host: The host.
        port: The port.
        topic: The topic, decoded.
        secure: Whether TLS is used.
    """

    url: str
    host: str
    port: int
    topic: str
    secure: bool

    @classmethod
    def parse(cls, url: str) -> LiveAddress:
        """Parse a URL.

        Raises:
            OptionError: If the URL has no host or port, or has a query, a fragment or credentials.

        Example:
            >>> LiveAddress.parse("grpc://localhost:9090/a%20topic").topic
            'a topic'
        """
        from urllib.parse import unquote_to_bytes, urlsplit  # costly to import

        visible_url = visible(re.sub(r"//[^/?#]*@", "//", url))
        try:
            parts = urlsplit(url)
            port, host = parts.port, parts.hostname
        except ValueError as error:
            raise OptionError(f"{visible_url} is not a valid URL: {error}") from None
        secure = parts.scheme.lower() == "grpcs"
        if "@" in parts.netloc:
            raise OptionError(
                f"{visible_url}: a token does not belong in the URL; put it in the environment "
                f"variable {TOKEN_VARIABLE}"
            )
        if not host:
            raise OptionError(f"{visible_url} has no host; expected grpc://HOST:PORT/TOPIC")
        if port is None and not secure:
            raise OptionError(f"{visible_url} has no port; expected grpc://HOST:PORT/TOPIC")
        if parts.query or parts.fragment or url.endswith(("?", "#")):
            raise OptionError(f"{visible_url}: write ? and # in a topic as %3F and %23")
        try:
            topic = unquote_to_bytes(parts.path.removeprefix("/")).decode()
        except UnicodeDecodeError:
            raise OptionError(
                f"{visible_url}: the topic is not valid UTF-8 after decoding"
            ) from None
        return cls(visible_url, host, port or _TLS_PORT, topic, secure)

    @property
    def target(self) -> str:
        """The address for gRPC."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


# Options of `storage_options`, with their types.
LIVE_OPTIONS: dict[str, type | tuple[type, ...]] = {
    "headers": Mapping,
    "token": str,
    "follow": bool,
    "from_end": bool,
    "retry": int,
    "tls_ca": (str, os.PathLike),
    "tls_cert": (str, os.PathLike),
    "tls_key": (str, os.PathLike),
}
# Defaults that the command line sets.
_defaults: dict[str, Any] = {}


def set_defaults(options: Mapping[str, Any]) -> None:
    """Set defaults for all later settings. Only for programs, not for libraries."""
    _defaults.clear()
    _defaults.update(options)


@dataclass(frozen=True)
class LiveSettings:
    """Settings of a live stream.

    Attributes:
        headers: Metadata of the call.
        token: The token to send, if any.
        follow: Whether a subscription waits for new messages at the end of the log. None leaves
            this to the server.
        from_end: Whether a subscription starts at the end. None leaves this to the server.
        retry: Maximum number of consecutive attempts to reconnect.
        tls_ca: File with CA certificates; None means the default ones.
        tls_cert: File with the client certificate.
        tls_key: File with the private key of the certificate.
    """

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    token: str | None = field(default=None, repr=False)
    follow: bool | None = None
    from_end: bool | None = None
    retry: int = 0
    tls_ca: str | os.PathLike[str] | None = None
    tls_cert: str | os.PathLike[str] | None = None
    tls_key: str | os.PathLike[str] | None = None

    @classmethod
    def from_options(cls, options: Mapping[str, Any] | None) -> LiveSettings:
        """Return settings from `storage_options`.

        Raises:
            OptionError: If an option is unknown, or its value is invalid.
        """
        for name, value in {**_defaults, **(options or {})}.items():
            if name == "last_event_id":
                raise OptionError(
                    f"{spell_option(name)} is for streams of events at http and https URLs; remove it"
                )
            if name not in LIVE_OPTIONS:
                raise OptionError(
                    f"storage_options of grpc and grpcs URLs are {', '.join(sorted(LIVE_OPTIONS))}, "
                    f"not {str(name)[:40]!r}"
                )
            wrong_number = LIVE_OPTIONS[name] is int and (isinstance(value, bool) or value < 0)
            if not isinstance(value, LIVE_OPTIONS[name]) or wrong_number:
                raise OptionError(f"{name} has an invalid value: {value!r}"[:200])
        values = mark_pipes({**_defaults, **(options or {})})
        if values.get("retry") and values.get("from_end"):
            raise OptionError(
                f"{spell_option('retry')} counts messages from the first one, so {spell_option('from_end')} "
                "cannot be combined with it; remove one of them"
            )
        if (values.get("tls_cert") is None) != (values.get("tls_key") is None):
            raise OptionError(
                f"{spell_option('tls_cert')} and {spell_option('tls_key')} must be used together"
            )
        return cls(**values)

    def metadata(self) -> list[tuple[str, str]]:
        """Return the metadata of a call."""
        entries = [(name.lower(), value) for name, value in self.headers.items()]
        token = self.token or os.environ.get(TOKEN_VARIABLE)
        if token and all(name != "authorization" for name, _ in entries):
            entries.append(("authorization", f"Bearer {token.strip()}"))
        return entries


def _import_grpc() -> Any:
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # errors are raised, not logged
    try:
        import grpc
    except ImportError as error:
        raise MissingExtraError("grpc:// URLs need grpcio: pip install 'rdfm[grpc]'") from error
    return grpc


def _channel(address: LiveAddress, settings: LiveSettings) -> Any:
    """Open a channel. It connects when the first call is made."""
    grpc = _import_grpc()
    options: list[tuple[str, Any]] = [
        ("grpc.max_receive_message_length", MAX_FRAME_BYTES),
        ("grpc.max_send_message_length", MAX_FRAME_BYTES),
        ("grpc.keepalive_time_ms", PING_MILLISECONDS),
        ("grpc.http2.max_pings_without_data", 0),
        ("grpc.enable_retries", 0),
        ("grpc.use_local_subchannel_pool", 1),
    ]
    if address.host in ("localhost", "::1") or address.host.startswith("127."):
        options.append(("grpc.enable_http_proxy", 0))
    if not address.secure:
        if settings.tls_ca or settings.tls_cert:
            raise OptionError(f"{address.url} does not use TLS; write grpcs:// to use it")
        return grpc.insecure_channel(address.target, options=options)
    files = (settings.tls_ca, settings.tls_key, settings.tls_cert)
    authority, key, certificate = (
        None if file is None else read_option_file(file, MAX_PEM_BYTES) for file in files
    )
    credentials = grpc.ssl_channel_credentials(authority, key, certificate)
    return grpc.secure_channel(address.target, credentials, options=options)


def _live_error(address: LiveAddress, error: Any) -> LiveError:
    code = error.code().name
    details = " ".join((error.details() or "").split())
    if code == "UNAVAILABLE":
        reason = _connection_problem(address, details)
    elif code == "UNIMPLEMENTED":
        reason = "the server has no Jelly gRPC service; check host and port"
    elif code == "UNAUTHENTICATED":
        reason = (
            f"{details or 'the server needs a token'}; put the token to send in the environment "
            f"variable {TOKEN_VARIABLE}"
        )
    elif code == "CANCELLED":
        reason = "the server ended the call" if not details else f"cancelled: {details}"
    else:
        reason = details or f"the call failed with {code}"
    return LiveError(address.url, reason, code)


def _connection_problem(address: LiveAddress, details: str) -> str:
    """Describe why a connection failed or was lost."""
    if "handshake" in details.lower() or "SSL" in details:
        if "CERTIFICATE_VERIFY_FAILED" in details:
            option = RdfmError(spell_option("tls_ca"))  # spelled for the interface in use
            return (
                f"the server's certificate is not trusted; {option} names a file with its CA "
                "certificate"
            )
        return "the TLS handshake failed; a server without TLS needs grpc://"
    if "refused" in details:
        return "connection refused; is the server running on that port?"
    if "http1" in details.lower() or "settings" in details.lower() or "HTTP2" in details:
        return "the server does not support gRPC; check host and port"
    if "shutting down" in details:
        return details
    if "DNS" in details or "name resolution" in details.lower():
        return "the host name cannot be resolved"
    hint = "" if address.secure else "; a server with TLS needs grpcs://"
    return f"the connection failed or was lost: {details}{hint}"


class _FrameBuffer:
    """A queue of frames between two threads, and the error that follows the frames.

    Attributes:
        unsent: Number of frames after which `each` has not been asked for the next one.
    """

    def __init__(self) -> None:
        self.unsent = 0
        self._frames: deque[bytes] = deque()
        self._bytes = 0
        self._changed = threading.Condition()
        self._ended = False
        self._error: BaseException | None = None

    def put(self, frame: bytes) -> bool:
        """Wait while the queue is full, then add a frame. Return False after the end."""
        with self._changed:
            while self._bytes >= QUEUE_BYTES and not self._ended:
                self._changed.wait()
            if self._ended:
                return False
            self._frames.append(frame)
            self._bytes += len(frame)
            self.unsent += 1
            self._changed.notify_all()
            return True

    def end(self, error: BaseException | None = None) -> None:
        """Mark the end; only the first call has an effect."""
        with self._changed:
            if not self._ended:
                self._ended, self._error = True, error
            self._changed.notify_all()

    def take(self) -> list[bytes]:
        """Wait for frames, and return all of them; an empty list at the end.

        Raises:
            BaseException: If `end` was called with an error. That error is raised.
        """
        with self._changed:
            while not self._frames and not self._ended:
                self._changed.wait()
            frames = list(self._frames)
            self._frames.clear()
            self._bytes = 0
            self._changed.notify_all()
        if not frames and self._error is not None:
            raise self._error
        return frames

    def iter_frames(self) -> Iterator[bytes]:
        """Yield the frames one by one."""
        while frames := self.take():
            for frame in frames:
                yield frame
                with self._changed:
                    self.unsent -= 1


class Subscription:
    """The frames of a topic as a binary file of length-prefixed frames.

    Attributes:
        name: The URL.
        size: Always None, because the length is unknown.
    """

    size = None

    def __init__(self, url: str, settings: LiveSettings) -> None:
        """Connect.

        Raises:
            OptionError: If the URL or a setting is invalid.
            MissingExtraError: If grpcio is not installed.
            LiveError: If the server refuses the subscription.
        """
        self._address = LiveAddress.parse(url)
        self.name = self._address.url
        self._settings = settings
        self._received = 0  # frames
        self._failures = 0
        self._options: StreamOptions | None = None
        self._resumed: _ResumedFrames | None = None
        self._channel: Any = None
        self._call: Any = None
        self._frames = _FrameBuffer()
        self._rest = b""
        _import_grpc()
        self._subscribe()

    def _subscribe(self) -> None:
        """Subscribe, in a thread that fills the queue."""
        settings = self._settings
        self._channel = _channel(self._address, settings)
        metadata = settings.metadata()
        if settings.follow is not None:
            metadata.append(("rdfm-follow", str(settings.follow).lower()))
        if settings.from_end is not None:
            metadata.append(("rdfm-start", "end" if settings.from_end else "first"))
        subscribe = self._channel.unary_stream(SUBSCRIBE)
        self._call = subscribe(subscribe_message(self._address.topic), metadata=metadata)
        self._frames = _FrameBuffer()
        threading.Thread(
            target=_receive, args=(self._call, self._frames), name="rdfm-grpc", daemon=True
        ).start()

    def read1(self, _: int = -1) -> bytes:
        """Wait for frames, and return all that have arrived; empty bytes at the end.

        Raises:
            LiveError: If the subscription was refused or interrupted.
            DecodeError: If the stream cannot be continued after a reconnection.
        """
        while True:
            interruption: LiveError | None = None
            try:
                frames = self._frames.take()
            except Exception as error:
                if not hasattr(error, "code"):
                    raise
                interruption = _live_error(self._address, error)
            if interruption is not None:
                self._reconnect(interruption)
                continue
            if not frames:
                if self._resumed is not None:
                    self._resumed.check_end()
                return b""
            self._failures = 0
            if self._options is None:
                self._options = self._first_options(frames[0])
            if self._resumed is None:
                self._received += len(frames)
                return b"".join(map(delimited, frames))
            data, count = self._resumed.skip_received(frames)
            self._received += count
            if data:
                return data

    def read(self, size: int = -1) -> bytes:
        """Return at most `size` bytes; by default, all remaining bytes."""
        if size < 0:
            parts = [self._rest]
            self._rest = b""
            while piece := self.read1():
                parts.append(piece)
            return b"".join(parts)
        data = self._rest or self.read1()
        self._rest = data[size:]
        return data[:size]

    def _first_options(self, frame: bytes) -> StreamOptions:
        try:
            options = stream_options(frame)
        except ValueError as error:
            raise DecodeError(
                f"the first frame is malformed: {error}", format="jelly", source=self.name
            ) from None
        if options is None:
            raise DecodeError(
                "the first frame does not begin with stream options",
                format="jelly",
                source=self.name,
            )
        return options

    def _reconnect(self, error: LiveError) -> None:
        """Subscribe again after an interruption, or raise the error."""
        self.close()
        if error.code != "UNAVAILABLE" or self._failures >= self._settings.retry:
            raise error
        if self._options is not None and (kind := _describe_unresumable(self._options)) is not None:
            raise LiveError(
                self.name, f"{error.strerror}; a {kind} stream cannot be continued", error.code
            )
        time.sleep(min(FIRST_PAUSE_SECONDS * 2**self._failures, LONGEST_PAUSE_SECONDS))
        self._failures += 1
        if self._options is not None:
            self._resumed = _ResumedFrames(self._received, self._options, self.name)
        self._subscribe()

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return False."""
        return False

    def close(self) -> None:
        """End the subscription."""
        if self._channel is not None:
            self._frames.end()
            self._call.cancel()
            self._channel.close()
            self._channel = None


def _describe_unresumable(options: StreamOptions) -> str | None:
    """Return the kind of a stream whose frames are not messages, if it is one."""
    if options.version == COLUMNS_VERSION:
        return "Jelly 1.2"
    return "flat" if options.logical_type % 10 in (1, 2) else None


def _receive(call: Any, frames: _FrameBuffer) -> None:
    """Put the frames of a call into a queue."""
    try:
        for frame in call:
            if not frames.put(frame):
                return
    except Exception as error:
        frames.end(error)
    else:
        frames.end()


class _ResumedFrames:
    """Frames of a new connection, without the messages that were received before.

    The frames are decoded and encoded again, because the first must not depend on skipped frames.
    """

    def __init__(self, skipped: int, options: StreamOptions, name: str) -> None:
        self._skipped = skipped
        self._options = options
        self._name = name
        self._decoder = Decoder("jelly", {"frames": "message", "delimited": True})
        self._encoder: Encoder | None = None

    def skip_received(self, frames: list[bytes]) -> tuple[bytes, int]:
        """Return the bytes of the frames that are new, and their number.

        Raises:
            DecodeError: If a frame is invalid, or the stream options have changed.
        """
        for frame in frames:
            if (options := stream_options(frame)) not in (None, self._options):
                raise DecodeError(
                    f"the stream options after reconnecting are {options}, but previously they were "
                    f"{self._options}",
                    format="jelly",
                    source=self._name,
                )
        self._decoder.feed(b"".join(map(delimited, frames)))
        data, count = b"", 0
        while (batch := self._decoder.next_batch()) is not None:
            skip_count = min(self._skipped, len(batch))
            self._skipped -= skip_count
            if skip_count < len(batch):
                data += self._encode(batch.slice(skip_count, len(batch)))
                count += len(batch) - skip_count
        return data, count

    def check_end(self) -> None:
        """Check that the new stream was not shorter than the old one.

        Raises:
            DecodeError: If it ended before the first new message.
        """
        if self._skipped:
            raise DecodeError(
                f"the stream ended {self._skipped} messages before the point where the connection "
                "was lost, so it changed while it was read",
                format="jelly",
                source=self._name,
            )

    def _encode(self, batch: Any) -> bytes:
        if self._encoder is None:
            header = dict(self._decoder.header()["options"])
            source = {"options": header, "requested": True, "continued": True}
            self._encoder = Encoder("jelly", {"restart_bytes": 0}, source=source)
        return self._encoder.encode(batch)


class LiveTarget:
    """A topic to publish to, as a binary file of length-prefixed frames.

    Attributes:
        name: The URL.
        bytes_written: Bytes of frames so far.
    """

    def __init__(self, url: str, settings: LiveSettings, compression: str | None = None) -> None:
        """Prepare the call, which begins with the first frame.

        Args:
            url: The URL.
            settings: The settings.
            compression: "gzip", or None or "none".

        Raises:
            OptionError: If the URL or a setting is invalid.
            MissingExtraError: If grpcio is not installed.
        """
        grpc = _import_grpc()
        self._address = LiveAddress.parse(url)
        self.name = self._address.url
        self.bytes_written = 0
        if compression not in (None, "none", "gzip"):
            raise OptionError(f"Jelly gRPC compresses with gzip, not {compression}")
        self._process = os.getpid()
        self._rest = b""
        self._frames = _FrameBuffer()
        self._is_first = True
        self._channel: Any = _channel(self._address, settings)
        publish = self._channel.stream_unary(PUBLISH)
        self._call = publish.future(
            self._frames.iter_frames(),
            metadata=settings.metadata(),
            compression=grpc.Compression.Gzip if compression == "gzip" else None,
        )
        # Wakes a writer that is waiting for space in the queue.
        self._call.add_done_callback(lambda _: self._frames.end())

    def check_process(self) -> None:
        """Reject a process forked from the one that opened the stream.

        Raises:
            PermissionError: If another process opened the stream.
        """
        if self._process != os.getpid():
            raise PermissionError(
                errno.EPERM,
                "opened by the parent process; create the log after the fork",
                self.name,
            )

    def write(self, parts: Sequence[Any]) -> None:
        """Send the complete frames, and keep the rest. The parts are as for files.

        Raises:
            LiveError: If the server refuses the stream, or the connection was lost.
            OptionError: If the stream name differs from the topic.
            EncodeError: If a frame is too large.
        """
        self.check_process()
        self._rest += b"".join(part.data for part in parts)
        while True:
            try:
                frames, end, _ = cut_frames(self._rest)
            except ValueError as error:
                raise LiveError(self.name, str(error), "RESOURCE_EXHAUSTED") from None
            if not frames:
                break
            self._rest = self._rest[end:]
            for frame in frames:
                self._send(frame)

    def _send(self, frame: bytes) -> None:
        if self._is_first:
            self._check_name(frame)
            self._is_first = False
        if not self._frames.put(frame):
            self._raise_call_error()
        self.bytes_written += len(frame)

    def _check_name(self, frame: bytes) -> None:
        options = stream_options(frame)
        if options is not None and options.stream_name != self._address.topic:
            raise OptionError(
                f"{spell_option('stream_name')} is {options.stream_name[:60]!r}, but the topic is "
                f"{self._address.topic[:60]!r}, and the server uses the stream name as the topic; "
                f"remove {spell_option('stream_name')}"
            )

    def _raise_call_error(self) -> None:
        """Raise the error of the call.

        Raises:
            LiveError: Always.
        """
        grpc = _import_grpc()
        try:
            self._call.result()
        except grpc.RpcError as error:
            raise _live_error(self._address, error) from None
        except grpc.FutureCancelledError:
            raise LiveError(self.name, "the stream was cancelled", "CANCELLED") from None
        self._raise_early_end()

    def _raise_early_end(self) -> NoReturn:
        raise LiveError(self.name, "the server ended the stream early", "ABORTED")

    def end(self) -> None:
        """Do nothing: frames are sent as they are written."""

    def commit(self) -> None:
        """End the stream, and wait until the server has received it.

        Raises:
            LiveError: If the server has not received the stream.
        """
        self.check_process()
        grpc = _import_grpc()
        self._frames.end()
        try:
            self._call.result()
        except grpc.RpcError as error:
            raise _live_error(self._address, error) from None
        finally:
            self._close()
        if self._frames.unsent:
            self._raise_early_end()

    def discard(self) -> None:
        """Cancel the stream. The server keeps the messages that it has received completely."""
        if self._process == os.getpid():
            self._call.cancel()
            self._frames.end()
            self._close()

    def keep_partial(self) -> None:
        """End the stream normally after the frames written so far."""
        with contextlib.suppress(LiveError):
            self.commit()

    def _close(self) -> None:
        channel, self._channel = self._channel, None
        if channel is not None:
            channel.close()
