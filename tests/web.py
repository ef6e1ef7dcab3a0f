"""A web server on a loopback socket that answers requests with given functions."""

from __future__ import annotations

import contextlib
import itertools
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """Answers each request with the next reply for its path; the last reply is repeated."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        site: Site = self.server.site  # type: ignore[attr-defined]
        path, _, _ = self.path.partition("?")
        with site.lock:
            site.requests.append((self.command, self.path, dict(self.headers.items())))
            replies = site.replies.get(path)
            reply = None if not replies else replies[0] if len(replies) == 1 else replies.pop(0)
        with contextlib.suppress(OSError):
            if reply is None:
                send(404)(self)
            else:
                reply(self)

    do_HEAD = do_GET

    def log_message(self, *_: Any) -> None:
        pass


class Server(ThreadingHTTPServer):
    """A server that prints no errors, because clients may close a connection early."""

    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        pass


class Site:
    """A running web server.

    Attributes:
        url: URL of the server, without a trailing slash.
        replies: Replies to requests for each path, in order.
        requests: Method, path and headers of each request.
    """

    def __init__(self, tls: tuple[str, str] | None = None) -> None:
        self.lock = threading.Lock()
        self.replies: dict[str, list[Reply]] = {}
        self.requests: list[tuple[str, str, dict[str, str]]] = []
        self._server = Server(("127.0.0.1", 0), Handler)
        self._server.site = self  # type: ignore[attr-defined]
        if tls is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self._server.socket = context.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        scheme = "http" if tls is None else "https"
        self.url = f"{scheme}://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}
        )
        self._thread.start()

    def on(self, path: str, *replies: Reply) -> str:
        """Sets the replies for a path and returns the URL of the path."""
        self.replies[path] = list(replies)
        return self.url + path

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@contextlib.contextmanager
def site(tls: tuple[str, str] | None = None) -> Iterator[Site]:
    """Runs a server during the block. `tls` contains the paths of a certificate and its key."""
    server = Site(tls)
    try:
        yield server
    finally:
        server.close()


def send(
    status: int = 200,
    body: bytes = b"",
    *,
    chunked: bool = False,
    cut: int | None = None,
    before: Callable[[], Any] = lambda: None,
    between: Callable[[], Any] = lambda: None,
    **headers: str,
) -> Reply:
    """Returns a function that sends a reply.

    Args:
        status: The status.
        body: The body.
        chunked: Whether the body is sent in chunks, without a length.
        cut: The number of bytes after which the connection is closed.
        before: Function that is called before the status is sent.
        between: Function that is called before each piece of the body.
        **headers: Headers; each `_` in a name stands for `-`.
    """

    def reply(handler: Handler) -> None:
        before()
        handler.send_response_only(status)
        handler.send_header("Server", handler.version_string())
        if "Date" not in headers:
            handler.send_header("Date", handler.date_time_string())
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        if chunked:
            handler.send_header("Transfer-Encoding", "chunked")
        else:
            handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        if handler.command == "HEAD":
            return
        data = body if cut is None else body[:cut]
        step = max(len(data) // 4, 1)
        for at in range(0, len(data), step):
            between()
            piece = data[at : at + step]
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece)
            handler.wfile.flush()
        if cut is not None:
            handler.close_connection = True
        elif chunked:
            handler.wfile.write(b"0\r\n\r\n")

    return reply


def ranged(body: bytes, tag: str, **settings: Any) -> Reply:
    """Returns a function that sends the requested range if `If-Range` matches the ETag."""

    def reply(handler: Handler) -> None:
        requested_range = handler.headers.get("Range")
        if requested_range is None or handler.headers.get("If-Range") != tag:
            send(200, body, ETag=tag, **settings)(handler)
            return
        start = int(requested_range.removeprefix("bytes=").rstrip("-"))
        settings.pop("cut", None)
        span = f"bytes {start}-{len(body) - 1}/{len(body)}"
        send(206, body[start:], ETag=tag, Content_Range=span, **settings)(handler)

    return reply


def raw(*pieces: bytes, pause: float = 0.0, forever: bool = False) -> Reply:
    """Returns a function that sends bytes instead of a valid response, and closes the connection.

    Args:
        *pieces: The bytes.
        pause: Seconds before each piece but the first.
        forever: Whether the last piece is repeated until the client closes the connection.
    """

    def reply(handler: Handler) -> None:
        handler.close_connection = True
        for at, piece in enumerate(itertools.chain(pieces, itertools.repeat(pieces[-1]))):
            if at == len(pieces) and not forever:
                return
            if at:
                time.sleep(pause)
            handler.wfile.write(piece)
            handler.wfile.flush()

    return reply


def partial(body: bytes, tag: str, parts: list[tuple[int, int, str]]) -> Reply:
    """Returns a function that answers requests for the rest of a body with parts of it.

    Args:
        body: The body.
        tag: The ETag.
        parts: The next answers: number of bytes in the requested range, number of bytes after which
            the connection is closed, and the form: "total" and "unknown" announce the total as a
            number and as `*`, and "whole" ignores the range. Later answers are complete.
    """
    left = list(parts)

    def reply(handler: Handler) -> None:
        length, cut, form = left.pop(0) if left else (len(body), len(body), "total")
        requested_range = handler.headers.get("Range")
        if requested_range is None or form == "whole":
            end = cut if cut < len(body) else None
            send(200, body, cut=end, chunked=form == "unknown", ETag=tag)(handler)
            return
        start = int(requested_range[6:-1])
        content = body[start : start + length]
        if not content:
            send(416, ETag=tag, Content_Range=f"bytes */{len(body)}")(handler)
            return
        announced = "*" if form == "unknown" else str(len(body))
        span = f"bytes {start}-{start + len(content) - 1}/{announced}"
        end = cut if cut < len(content) else None
        send(206, content, cut=end, chunked=form == "unknown", ETag=tag, Content_Range=span)(
            handler
        )

    return reply
