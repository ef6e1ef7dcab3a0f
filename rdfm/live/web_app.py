"""The HTTP interface: topics as documents, streams of events and pages.

In: HTTP requests. Out: responses, and lines of the event log.
Cost: a document and its current piece for each request.
Law: every request ends with a status. A rejected request ends with one sentence, and before its
body is read. A response that cannot be completed is cut, so that the client sees that it is not
complete.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from rdfm.live.accept import choose_coding, parse_accept
from rdfm.live.access import Access
from rdfm.live.calls import OpenCalls
from rdfm.live.documents import CODINGS, Document, Parameters, parse_range, parse_tag
from rdfm.live.event_stream import EVENT_STREAM, EventForm, choose_event_format
from rdfm.live.events import EventLog
from rdfm.live.feeds import TopicLogs
from rdfm.live.metrics import Metrics
from rdfm.live.offers import Offer, choose_offer, offer_format, served_formats
from rdfm.live.page_html import PAGE_POLICY
from rdfm.live.sentences import describe_os_error
from rdfm.live.snapshot import Snapshot
from rdfm.live.topics import TopicError, Topics
from rdfm.live.web_errors import WebError, create_web_error
from rdfm.live.web_events import EventParameters, EventSource
from rdfm.live.web_pages import Pages
from rdfm.live.web_settings import WebSettings
from rdfm.live.web_steps import Steps

__all__ = ["WebApp"]

HTML = "text/html"
EVENTS_SUFFIX = "/events"
_METHODS = "GET, HEAD, OPTIONS"
# A log may contain markup, which a browser must not run.
_SAFE_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Referrer-Policy": "no-referrer",
}
_EXPOSED = "Content-Range, ETag, Link, RDF-Message-Content-Type, Retry-After"
_ALLOWED_HEADERS = "Accept, Authorization, If-None-Match, If-Range, Last-Event-ID, Range"
_MAX_AGE_SECONDS = 3600


@dataclass
class _Call:
    """A request that is being answered.

    Attributes:
        client: The address of the client.
        topic: The name of the topic; empty if it is not known yet.
        path: The log of the topic.
        status: The status of the response, once it has begun.
        sent: Number of bytes of the body.
        resources: Files that are closed after the response.
    """

    client: str
    topic: str = ""
    path: Path | None = None
    status: HTTPStatus | None = None
    sent: int = 0
    resources: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)


class WebApp:
    """The ASGI application.

    Attributes:
        access: The access rules for new requests.
    """

    def __init__(
        self,
        topics: Topics,
        access: Access,
        settings: WebSettings,
        log: EventLog,
        metrics: Metrics,
        calls: OpenCalls,
        logs: TopicLogs,
        stopping: asyncio.Event,
        *,
        follow: bool = True,
        from_end: bool = False,
    ) -> None:
        """Initialize with the topics.

        Args:
            topics: The topics.
            access: The access rules.
            settings: The settings.
            log: The event log.
            metrics: The metrics.
            calls: Counts the requests.
            logs: The logs that are in use.
            stopping: Set when the server shuts down.
            follow: Whether streams of events continue at the end of a log by default.
            from_end: Whether streams of events begin at the end of a log by default.
        """
        self.access = access
        self._topics = topics
        self._settings = settings
        self._log = log
        self._metrics = metrics
        self._calls = calls
        self._logs = logs
        self._stopping = stopping
        self._follow = follow
        self._from_end = from_end
        self._pages = Pages(topics, settings.root_path)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        request = Request(scope)
        call = _Call(scope["client"][0] if scope.get("client") else "")
        start = time.monotonic()
        failure: WebError | None = None
        self._metrics.add("rdfm_calls_open", 1, "request")

        async def send_counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                call.status = HTTPStatus(message["status"])
            else:
                size = len(message.get("body", b""))
                call.sent += size
                self._metrics.add("rdfm_sent_bytes_total", size)
            await send(message)

        try:
            try:
                with self._calls.counted(call.client):
                    response = await self._answer(request, call)
                    self._add_headers(request, response)
                    await response(scope, receive, send_counted)
            except Exception as error:
                failure = create_web_error(error, call.path, call.topic)
                self._report_error(call, error, failure)
                if call.status is not None:
                    raise  # the server cuts the response
                response = PlainTextResponse(
                    f"{failure.reason}\n", failure.status, headers=failure.headers
                )
                self._add_headers(request, response)
                await response(scope, receive, send_counted)
        finally:
            call.resources.close()
            status = HTTPStatus.OK if call.status is None else call.status
            self._metrics.add("rdfm_calls_open", -1, "request")
            self._metrics.add("rdfm_calls_total", 1, "request", status.name)
            self._log.write(
                "info" if status < HTTPStatus.BAD_REQUEST else "warning",
                "request",
                client=call.client,
                method=request.method,
                path=request.url.path,
                status=status.value,
                reason=None if failure is None else failure.reason,
                bytes=call.sent,
                seconds=round(time.monotonic() - start, 3),
            )

    def _report_error(self, call: _Call, error: Exception, failure: WebError) -> None:
        """Write an error that the operator of the server should know about to the event log."""
        if failure.status is HTTPStatus.UNAUTHORIZED:
            self._metrics.add("rdfm_wrong_tokens_total")
        if isinstance(error, WebError) or failure.status < HTTPStatus.INTERNAL_SERVER_ERROR:
            return
        reason = f"{type(error).__name__}: {describe_os_error(error)}"
        self._log.write("error", "error", client=call.client, topic=call.topic, reason=reason)

    def _add_headers(self, request: Request, response: Response) -> None:
        """Add the headers that all responses have."""
        for name, value in _SAFE_HEADERS.items():
            response.headers.setdefault(name, value)
        origin = request.headers.get("origin")
        if self._settings.origins:
            response.headers.add_vary_header("Origin")
            if (allowed := self._settings.allowed_origin(origin)) is not None:
                response.headers["Access-Control-Allow-Origin"] = allowed
                response.headers["Access-Control-Expose-Headers"] = _EXPOSED

    async def _answer(self, request: Request, call: _Call) -> Response:
        """Return the response to a request.

        Raises:
            Exception: Any error that `create_web_error` describes.
        """
        hosts = request.headers.getlist("host")
        if len(hosts) != 1 or not self._settings.allows_host(hosts[0]):
            raise WebError(
                HTTPStatus.MISDIRECTED_REQUEST, "the server does not serve the host of this request"
            )
        path = self._relative_path(request)
        if request.method == "OPTIONS":
            return self._answer_options(request)
        if request.method not in ("GET", "HEAD"):
            raise WebError(
                HTTPStatus.METHOD_NOT_ALLOWED, "the server is read only", {"Allow": _METHODS}
            )
        if path == "healthz":
            return PlainTextResponse("ok\n", headers={"Cache-Control": "no-store"})
        reason = self.access.check(request.headers.get("authorization"))
        if reason is not None:
            raise WebError(HTTPStatus.UNAUTHORIZED, reason, {"WWW-Authenticate": "Bearer"})
        if path == "" or path.endswith("/"):
            return await self._answer_index(request, path.rstrip("/"))
        topic = path.removesuffix(EVENTS_SUFFIX)
        is_stream = topic != path
        try:
            call.topic, call.path = topic, self._topics.find(topic)
        except TopicError:
            if not is_stream:
                raise
            # A log may have this name.
            call.topic, call.path, is_stream = path, self._topics.find(path), False
        if is_stream or _prefers(request, EVENT_STREAM):
            return await self._answer_events(request, call)
        if _prefers(request, HTML):
            return await self._answer_page(request, call)
        return await self._answer_document(request, call)

    def _relative_path(self, request: Request) -> str:
        """Return the decoded path of a request, without the prefix of the proxy."""
        path: str = request.scope["path"]
        if not path.startswith("/"):
            raise WebError(HTTPStatus.BAD_REQUEST, "the target of the request is not a path")
        prefix = self._settings.root_path
        if prefix and (path == prefix or path.startswith(f"{prefix}/")):
            path = path[len(prefix) :]
        return path.removeprefix("/")

    def _answer_options(self, request: Request) -> Response:
        """Answer the request that a browser sends before one with unusual headers."""
        headers = {"Allow": _METHODS}
        if self._settings.allowed_origin(request.headers.get("origin")) is not None:
            headers |= {
                "Access-Control-Allow-Methods": _METHODS,
                "Access-Control-Allow-Headers": _ALLOWED_HEADERS,
                "Access-Control-Max-Age": str(_MAX_AGE_SECONDS),
            }
        return Response(status_code=HTTPStatus.NO_CONTENT, headers=headers)

    def _url(self, request: Request, topic: str) -> str:
        """Return the URL of a topic."""
        host = request.headers["host"]
        return f"{request.scope['scheme']}://{host}{self._settings.root_path}/{quote(topic)}"

    # --- pages ---

    async def _answer_index(self, request: Request, folder: str) -> Response:
        if request.query_params:
            raise WebError(HTTPStatus.BAD_REQUEST, "a list of topics has no parameters")
        return _page_response(await asyncio.to_thread(self._pages.index, folder))

    async def _answer_page(self, request: Request, call: _Call) -> Response:
        assert call.path is not None
        query = dict(request.query_params)
        if not query.keys() <= {"from"}:
            return await self._answer_document(request, call)  # a link of the page
        path = f"{self._settings.root_path}/{quote(call.topic)}"
        url = self._url(request, call.topic)
        return _page_response(
            await asyncio.to_thread(self._pages.topic, call.topic, call.path, url, path, query)
        )

    # --- documents ---

    async def _answer_document(self, request: Request, call: _Call) -> Response:
        assert call.path is not None
        parameters = Parameters.parse(dict(request.query_params))
        snapshot, header = await asyncio.to_thread(_open_snapshot, call.path)
        try:
            offer = _find_offer(request, parameters, snapshot, header)
            base = self._url(request, call.topic)
            document = Document(snapshot, header, offer, parameters.selector, base)
            response = await _respond(request, document)
        except BaseException:
            snapshot.close()
            raise
        if not isinstance(response, StreamingResponse):
            snapshot.close()
        return response

    # --- events ---

    async def _answer_events(self, request: Request, call: _Call) -> Response:
        assert call.path is not None
        parameters = EventParameters.parse(
            dict(request.query_params),
            request.headers,
            follow=self._follow,
            from_end=self._from_end,
        )
        ranges = parse_accept(", ".join(request.headers.getlist("accept")) or None)
        format = choose_event_format(parameters.format, ranges)
        headers = {
            "RDF-Message-Content-Type": format.spec.media_types[0],
            "Cache-Control": "no-cache",
            "Vary": "Accept, Last-Event-ID",
            "X-Accel-Buffering": "no",  # for nginx
        }
        if request.method == "HEAD":
            return _head_response({"Content-Type": EVENT_STREAM, **headers})
        topic = call.resources.enter_context(self._logs.share(call.path))
        log = await topic.options()
        if log.options.is_flat:  # the frames are not messages
            log = log._replace(stored=False)
        form = EventForm(format, self._url(request, call.topic))
        source = EventSource(topic, form, log, self._stopping, follow=parameters.follow)
        call.resources.callback(source.close)
        await source.begin(await parameters.find_start(call.path, topic, log))
        return StreamingResponse(source, headers=headers, media_type=EVENT_STREAM)


def _prefers(request: Request, media_type: str) -> bool:
    """Whether the client names a media type, and prefers none to it."""
    ranges = parse_accept(", ".join(request.headers.getlist("accept")) or None)
    quality = max((range.quality for range in ranges if range.match(media_type) == 3), default=0)
    return quality > 0 and quality >= max(range.quality for range in ranges)


def _page_response(page: str) -> Response:
    headers = {
        "Content-Security-Policy": PAGE_POLICY,
        "Cache-Control": "no-cache",
        "Vary": "Accept",
    }
    return HTMLResponse(page, headers=headers)


def _open_snapshot(path: Path) -> tuple[Snapshot, Mapping[str, Any]]:
    """Return the current state of a log, and what it declares about itself."""
    snapshot = Snapshot(path)
    try:
        return snapshot, snapshot.header()
    except BaseException:
        snapshot.close()
        raise


def _find_offer(
    request: Request, parameters: Parameters, snapshot: Snapshot, header: Mapping[str, Any]
) -> Offer:
    """Return the form of a document.

    Raises:
        WebError: If the client accepts none.
        OptionError: If the format is unknown.
    """
    if parameters.format is not None:
        return offer_format(parameters.format)
    ranges = parse_accept(", ".join(request.headers.getlist("accept")) or None)
    offer = choose_offer(ranges, snapshot.format, header)
    if offer is None:
        types = ", ".join(format.spec.media_types[0] for format in served_formats())
        raise WebError(
            HTTPStatus.NOT_ACCEPTABLE,
            f"the log cannot be sent in a form that the client accepts; it can be sent as {types}",
            {"Vary": "Accept"},
        )
    return offer


async def _respond(request: Request, document: Document) -> Response:
    """Return the response with a document, or with a part of it."""
    coding, is_resumed = _choose_coding(request, document)
    tag, length = document.tag(coding), document.snapshot.length
    headers = {
        "Content-Type": document.offer.content_type,
        "ETag": tag,
        "Vary": "Accept, Accept-Encoding",
        "Cache-Control": "no-cache",
    }
    if _matches(request.headers.get("if-none-match"), tag):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    if "if-match" in request.headers and not _matches(request.headers["if-match"], tag):
        raise WebError(HTTPStatus.PRECONDITION_FAILED, "the log has changed", {"ETag": tag})
    if coding != "identity":
        headers["Content-Encoding"] = coding
    status = HTTPStatus.OK
    start, end = 0, length
    if is_stored := coding == document.stored_coding:
        headers["Accept-Ranges"] = "bytes"
        range = None
        if request.method == "GET" and (is_resumed or "if-range" not in request.headers):
            range = parse_range(request.headers.get("range", ""), length)
        if range is not None:
            start, end = range
            if start == end:
                headers = {"Content-Range": f"bytes */{length}"}
                reason = f"the log has {length} bytes"
                raise WebError(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, reason, headers)
            headers["Content-Range"] = f"bytes {start}-{end - 1}/{length}"
            status = HTTPStatus.PARTIAL_CONTENT
        headers["Content-Length"] = str(end - start)
    if request.method == "HEAD":
        return _head_response(headers)
    pieces = document.snapshot.pieces(start, end) if is_stored else document.pieces(coding)
    steps = Steps(pieces, document.snapshot.close)
    await steps.begin()
    return StreamingResponse(steps, status, headers=headers)


def _head_response(headers: Mapping[str, str]) -> Response:
    """Return the response to a HEAD request, without a length if it is unknown."""
    response = Response(headers=headers)
    if "Content-Length" not in headers:
        del response.headers["Content-Length"]
    return response


def _choose_coding(request: Request, document: Document) -> tuple[str, bool]:
    """Return the content coding, and whether the request resumes this document.

    A client that resumes a response gets the log as it was when that response began.

    Raises:
        WebError: If the client accepts no coding.
    """
    accepted = ", ".join(request.headers.getlist("accept-encoding"))
    header = accepted if "accept-encoding" in request.headers else None
    snapshot = document.snapshot
    condition = request.headers.get("if-range", "")
    if (earlier := parse_tag(condition)) is not None and "range" in request.headers:
        current, (tag, coding) = snapshot.tag, earlier
        if snapshot.go_back(tag) and document.tag(coding) == condition:
            return coding, True
        snapshot.tag = current
    stored = document.stored_coding
    available = [*CODINGS, "identity"]
    if stored == "identity" and ("range" in request.headers or document.offer.format.spec.binary):
        available = ["identity"]  # unless the client refuses it
        header = None if choose_coding(header, ("identity",)) else header
        available = ["identity"] if header is None else [*CODINGS]
    elif stored is not None:
        available.sort(key=lambda name: name != stored)
    chosen = choose_coding(header, tuple(available))
    if chosen is None:
        raise WebError(
            HTTPStatus.NOT_ACCEPTABLE,
            "the client accepts no content coding that the server has: zstd, gzip, identity",
        )
    return chosen, False


def _matches(condition: str | None, tag: str) -> bool:
    """Whether a list of entity tags, or "*", contains a tag."""
    if condition is None:
        return False
    tags = [part.strip().removeprefix("W/") for part in condition.split(",")]
    return "*" in tags or tag in tags
