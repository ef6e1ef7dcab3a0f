"""The metrics of a server, in the text format of Prometheus, over HTTP.

In: counts, and requests for `/metrics`. Out: the text.
Cost: a number for each metric and label. At most `MAX_CONNECTIONS` connections, with at most
`MAX_REQUEST_BYTES` each.
Law: a connection ends after `REQUEST_SECONDS`, whatever the client sends or does not read. Labels
have a fixed set of values, so that clients cannot add metrics.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from http import HTTPStatus
from typing import NamedTuple

from rdfm.live.addresses import Address, listening_error

__all__ = ["METRICS", "Metric", "Metrics", "MetricsServer"]

MAX_CONNECTIONS = 16
MAX_REQUEST_BYTES = 8 << 10
REQUEST_SECONDS = 5.0
_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metric(NamedTuple):
    """A metric.

    Attributes:
        name: The name, with unit.
        kind: "counter" or "gauge".
        help: The meaning.
        labels: Names of the labels.
    """

    name: str
    kind: str
    help: str
    labels: tuple[str, ...] = ()


METRICS = {
    metric.name: metric
    for metric in (
        Metric("process_start_time_seconds", "gauge", "Start of the server, as Unix time."),
        Metric("rdfm_calls_open", "gauge", "Calls in progress.", ("call",)),
        Metric("rdfm_calls_total", "counter", "Calls that have ended.", ("call", "status")),
        Metric("rdfm_sent_frames_total", "counter", "Frames sent to subscribers."),
        Metric("rdfm_sent_bytes_total", "counter", "Bytes of frames and HTTP bodies sent."),
        Metric("rdfm_received_frames_total", "counter", "Frames received from publishers."),
        Metric("rdfm_received_bytes_total", "counter", "Bytes of frames received from publishers."),
        Metric("rdfm_appended_messages_total", "counter", "Messages appended to logs."),
        Metric("rdfm_buffered_bytes", "gauge", "Bytes of frames buffered for all connections."),
        Metric("rdfm_wrong_tokens_total", "counter", "Calls without a token or with a wrong one."),
        Metric("rdfm_reloads_total", "counter", "Reloads of tokens and certificates.", ("result",)),
        Metric("rdfm_log_lines_dropped_total", "counter", "Event log lines that were dropped."),
    )
}


class Metrics:
    """The values of the metrics."""

    def __init__(self) -> None:
        """Initialize all metrics with 0."""
        self._values: Counter[tuple[str, tuple[str, ...]]] = Counter()
        self._sources: dict[str, Callable[[], float]] = {}
        start = time.time()
        self.read_from("process_start_time_seconds", lambda: start)

    def add(self, name: str, amount: int = 1, *labels: str) -> None:
        """Add to a metric, for the values of its labels."""
        self._values[name, labels] += amount

    def read_from(self, name: str, source: Callable[[], float]) -> None:
        """Read a metric from a function whenever it is requested."""
        self._sources[name] = source

    def render(self) -> str:
        """Return all metrics in the text format."""
        lines = []
        for name, metric in METRICS.items():
            lines += [f"# HELP {name} {metric.help}", f"# TYPE {name} {metric.kind}"]
            if (source := self._sources.get(name)) is not None:
                lines.append(f"{name} {source()}")
            elif not metric.labels:
                lines.append(f"{name} {self._values[name, ()]}")
            for (metric_name, values), value in sorted(self._values.items()):
                if metric_name == name and metric.labels:
                    pairs = zip(metric.labels, values, strict=True)
                    labels = ",".join(f'{label}="{text}"' for label, text in pairs)
                    lines.append(f"{name}{{{labels}}} {value}")
        return "\n".join(lines) + "\n"


class MetricsServer:
    """Serves metrics over HTTP.

    Attributes:
        address: The address. If port 0 was requested, the actual port after the start.
    """

    def __init__(self, metrics: Metrics, address: Address) -> None:
        """Initialize without listening."""
        self.address = address
        self._metrics = metrics
        self._server: asyncio.Server | None = None
        self._connections = 0

    async def start(self) -> None:
        """Accept connections.

        Raises:
            OptionError: If the address is in use or does not belong to this machine.
        """
        host, port = self.address
        try:
            self._server = await asyncio.start_server(
                self._serve, host, port, limit=MAX_REQUEST_BYTES, backlog=MAX_CONNECTIONS
            )
        except OSError as error:
            raise listening_error(self.address, error) from None
        self.address = Address(host, self._server.sockets[0].getsockname()[1])

    def close(self) -> None:
        """Stop accepting connections."""
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections += 1
        try:
            if self._connections <= MAX_CONNECTIONS:
                async with asyncio.timeout(REQUEST_SECONDS):
                    writer.write(await self._answer(reader))
                    writer.close()
                    await writer.wait_closed()
        except (TimeoutError, OSError, asyncio.IncompleteReadError):
            pass
        finally:
            self._connections -= 1
            writer.transport.abort()  # has no effect if everything was sent

    async def _answer(self, reader: asyncio.StreamReader) -> bytes:
        """Read a request and return the response."""
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            return _response(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        parts = head.partition(b"\r\n")[0].split(b" ")
        if len(parts) != 3 or not parts[2].startswith(b"HTTP/1."):
            return _response(HTTPStatus.BAD_REQUEST)
        method, target = parts[:2]
        if target.partition(b"?")[0] != b"/metrics":
            return _response(HTTPStatus.NOT_FOUND)
        if method not in (b"GET", b"HEAD"):
            return _response(HTTPStatus.METHOD_NOT_ALLOWED)
        return _response(HTTPStatus.OK, self._metrics.render(), with_body=method == b"GET")


def _response(status: HTTPStatus, text: str | None = None, *, with_body: bool = True) -> bytes:
    body = (f"{status.phrase}\n" if text is None else text).encode()
    head = (
        f"HTTP/1.1 {status.value} {status.phrase}\r\n"
        f"Content-Type: {_CONTENT_TYPE}\r\nContent-Length: {len(body)}\r\n"
    )
    if status is HTTPStatus.METHOD_NOT_ALLOWED:
        head += "Allow: GET, HEAD\r\n"
    return f"{head}Connection: close\r\n\r\n".encode() + (body if with_body else b"")
