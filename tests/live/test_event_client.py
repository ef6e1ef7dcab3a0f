"""Streams of events as inputs: `open_log`, `convert` and `cat` of a URL."""

import json
import re
import threading

import pytest
from live_logs import append, messages_in
from sse import encode_event as event
from web import send, site
from web_serve import serve_web

import rdfm
from rdfm.errors import DecodeError, OptionError, UnsupportedError
from rdfm.live.event_stream import event_formats
from rdfm.storage import event_source
from rdfm.storage.addresses import HttpError

pytestmark = pytest.mark.slow

A = '<http://e/s> <http://e/p> "a" .'
B = '<http://e/s> <http://e/p> "b" .'
LOG = f"{A}\n# @message\n{B}\n# @message\n# @message\n{A}\n{B}\n".encode()
MESSAGES = messages_in(LOG, format="nq")
ONCE = {"storage_options": {"follow": False}}
STREAM = {"Content_Type": "text/event-stream", "RDF_Message_Content_Type": "application/n-quads"}


@pytest.fixture(autouse=True)
def _fast(monkeypatch):
    monkeypatch.setattr(event_source, "DEFAULT_RETRY_SECONDS", 0.01)
    monkeypatch.setattr(event_source, "MAX_RETRY_SECONDS", 0.05)


def read(url, **options):
    return messages_in(url, **{**ONCE, **options})


def streamed(body, **options):
    with site() as web:
        return read(web.on("/events", send(200, body, **STREAM)), **options)


# --- the server of rdfm ---


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    (folder / "a.nq").write_bytes(LOG)
    return folder


@pytest.fixture(scope="module")
def server(folder):
    with serve_web(folder) as server:
        yield server


@pytest.mark.parametrize("name", [format.name for format in event_formats()])
def test_every_format_of_events_is_read(server, name):
    assert read(f"{server.url}/a/events?format={name}") == MESSAGES


def test_a_stream_is_followed_by_default(folder, server):
    path = folder / "follow.jelly"
    rdfm.convert(LOG, path, from_format="nq")
    with rdfm.open_log(f"{server.url}/follow/events") as log:
        messages = iter(log)
        assert [len(next(messages)) for _ in range(4)] == [1, 1, 0, 2]
        append(path, [])
        message = next(messages)
        assert (len(message), message.message_index) == (0, 4)


def test_a_stream_can_begin_with_new_messages(folder, server):
    path = folder / "end.jelly"
    rdfm.convert(LOG, path, from_format="nq")
    options = {"from_end": True, "follow": False}
    assert messages_in(f"{server.url}/end/events", storage_options=options) == []


def test_a_stream_is_converted(server, tmp_path):
    rdfm.convert(f"{server.url}/a/events", tmp_path / "a.jelly", follow=False)
    assert messages_in(tmp_path / "a.jelly") == MESSAGES
    with pytest.raises(OptionError, match="is for live streams"):
        rdfm.convert(tmp_path / "a.jelly", tmp_path / "b.jelly", follow=False)


def test_reading_continues_when_the_server_was_restarted(folder, tmp_path):
    path = folder / "restart.jelly"
    rdfm.convert(LOG, path, from_format="nq")
    with serve_web(folder) as server:
        port = server.port
        log = rdfm.open_log(f"{server.url}/restart/events", storage_options={"retry": 20})
        messages = iter(log)
        found = [next(messages) for _ in range(4)]
    append(path, [], [])
    with serve_web(folder, http=port):
        found += [next(messages) for _ in range(2)]
    assert [len(message) for message in found] == [1, 1, 0, 2, 0, 0]
    assert [message.message_index for message in found] == list(range(6))
    log.close()


def test_a_replaced_log_is_an_error(folder):
    path = folder / "replaced.nq"
    path.write_bytes(LOG)
    with serve_web(folder) as server, rdfm.open_log(f"{server.url}/replaced/events") as log:
        messages = iter(log)
        for _ in range(4):
            next(messages)
        (folder / "new").write_bytes(LOG + LOG)
        (folder / "new").replace(path)
        with pytest.raises(HttpError, match="the log of this stream was replaced"):
            next(messages)


# --- what the standard allows ---


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_comments_other_events_and_byte_order_marks_are_skipped(end):
    body = (
        b"\xef\xbb\xbf"
        + f": comment{end}retry: 5{end}{end}".encode()
        + event(A, 1, end=end)
        + event("ignored", 2, "other", end=end)
        + event("ignored", 3, None, end=end)
        + event("", 4, end=end)
        + event(f"{A}\n{B}", 5, end=end)
        + event(A, 6, end=end)[:-1].removesuffix(b"\r")  # is not complete
    )
    assert streamed(body) == [MESSAGES[0], [], MESSAGES[3]]


@pytest.mark.parametrize("size", [1, 2, 7])
def test_text_may_be_split_anywhere(size):
    data = '<http://e/s> <http://e/p> "é€😀" .'
    body = event(data, 1) * 3

    def reply(handler):
        handler.send_response(200)
        for name, value in STREAM.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Connection", "close")
        handler.end_headers()
        for start in range(0, len(body), size):
            handler.wfile.write(body[start : start + size])
            handler.wfile.flush()
        handler.close_connection = True

    with site() as web:
        assert read(web.on("/", reply)) == messages_in(data.encode(), format="nq") * 3


def test_a_delimiter_in_an_event_is_a_comment():
    assert streamed(event(f"{A}\n# @message\n{B}")) == [MESSAGES[3]]


def test_blank_nodes_belong_to_their_message():
    body = event("_:a <http://e/p> _:b .") * 2
    assert len(streamed(body)) == 2


# --- reconnecting ---


def replies(*bodies):
    """Returns replies; each but the last is cut or ends."""
    return [send(200, body, chunked=True, **STREAM) for body in bodies]


def requested_ids(web):
    return [headers.get("Last-Event-ID") for _, _, headers in web.requests]


def test_the_client_continues_after_the_last_event():
    with site() as web:
        url = web.on(
            "/",
            send(200, event(A, "x-1") + event(B, "x-2") + event(A, "x-3")[:20], **STREAM, cut=80),
            *replies(event(B, "x-2") + event("", "ü")),
            send(204),
        )
        found = messages_in(url)
    assert found == MESSAGES[:3]
    assert requested_ids(web)[0] is None
    assert requested_ids(web)[1] == "x-1"
    assert len(web.requests) == 3


def test_an_end_is_followed_by_a_new_request_until_there_is_no_content():
    with site() as web:
        url = web.on("/", *replies(event(A, 1), event(B, 2), b"", event("", 3)), send(204))
        assert messages_in(url) == MESSAGES[:3]
    assert requested_ids(web) == [None, "1", "2", "2", "3"]
    with site() as web:
        url = web.on("/", *replies(event(A, 1), event(B, 2)))
        assert read(url) == MESSAGES[:1]  # --no-follow
    assert len(web.requests) == 1


def test_without_ids_events_arrive_at_least_once():
    with site() as web:
        url = web.on("/", *replies(event(A), event(A) + event(B)), send(204))
        assert messages_in(url) == [MESSAGES[0], MESSAGES[0], MESSAGES[1]]
    assert requested_ids(web) == [None, None, None]


def test_the_position_can_be_given():
    with site() as web:
        url = web.on("/", *replies(event(A, "b")))
        options = {"follow": False, "last_event_id": "a"}
        assert messages_in(url, storage_options=options) == MESSAGES[:1]
    assert requested_ids(web) == ["a"]


def test_the_pause_is_that_of_the_server(monkeypatch):
    pauses = []
    monkeypatch.setattr(event_source.time, "sleep", pauses.append)
    with site() as web:
        url = web.on("/", *replies(b"retry: 20\n\n" + event(A, 1), event(B, 2)), send(204))
        messages_in(url)
    assert pauses == [0.02, 0.02]


def test_the_format_must_not_change():
    other = {**STREAM, "RDF_Message_Content_Type": "application/trig"}
    with site() as web:
        url = web.on("/", *replies(event(A, 1)), send(200, event(A, 2), **other))
        with pytest.raises(UnsupportedError, match="after reconnecting, the server sends"):
            messages_in(url)


def test_a_refused_reconnection_is_an_error():
    with site() as web:
        url = web.on("/", *replies(event(A, 1)), send(403))
        with pytest.raises(HttpError, match="403"):
            messages_in(url)


# --- formats ---


@pytest.mark.parametrize(
    ("media_type", "reason"),
    [
        ("application/x-jelly-rdf", "application/x-jelly-rdf, which cannot be sent as events"),
        ("application/x-ld+ndjson", "cannot be sent as events"),
        ("", "does not name the format of its messages"),
    ],
)
def test_other_formats_are_rejected(media_type, reason):
    headers = {**STREAM, "RDF_Message_Content_Type": media_type}
    with site() as web:
        url = web.on("/", send(200, event(A), **headers))
        with pytest.raises(UnsupportedError, match=re.escape(reason)):
            rdfm.open_log(url)
        assert messages_in(url, format="nq", **ONCE) == MESSAGES[:1]
        with pytest.raises(UnsupportedError, match="messages in jelly cannot be sent as events"):
            rdfm.open_log(url, format="jelly")


def test_errors_name_the_message_and_can_be_skipped(tmp_path):
    body = event(A) + event("oops") + event(B)
    with site() as web:
        url = web.on("/", send(200, body, **STREAM))
        with rdfm.open_log(url, **ONCE) as log:
            found = []
            with pytest.raises(DecodeError, match="message 1") as caught:
                found.extend(log)
            assert caught.value.source == url
            assert len(found) == 1
            assert log.skip_message() == b"oops"
            assert [message.message_index for message in log] == [2]
        rdfm.convert(url, tmp_path / "a.nq", follow=False, on_error="skip")
    assert len(messages_in(tmp_path / "a.nq")) == 2
    two = event('{"@id": "http://e/s"}\n{"@id": "http://e/s"}')
    with pytest.raises(DecodeError):
        streamed(two, format="jsonld")


# --- contexts in a header ---

CONTEXT = json.dumps({"@context": {"p": "http://e/p"}}).encode()
LINK = '</context.jsonld>; rel="http://www.w3.org/ns/json-ld#context"; type="application/ld+json"'
OBJECT = '{"@id": "http://e/s", "p": "a"}'


@pytest.mark.parametrize(
    ("media_type", "applies"),
    [
        ("application/json", True),
        ("application/geo+json", True),
        ("application/ld+json", False),
    ],
)
def test_a_context_in_a_header_applies_to_json(media_type, applies):
    with site() as web:
        web.on("/context.jsonld", send(200, CONTEXT, Content_Type="application/ld+json"))
        other = "<http://e/other>; rel=next, " + LINK
        url = web.on("/a", send(200, OBJECT.encode(), Content_Type=media_type, Link=other))
        found = messages_in(url, allow_network=True)
        assert found == ([MESSAGES[0]] if applies else [[]])
        if applies:
            # Fetching needs the same permission as for other remote contexts.
            with pytest.raises(OptionError, match="is not available"):
                messages_in(url)


def test_a_context_in_a_header_applies_to_events(tmp_path):
    (tmp_path / "context.jsonld").write_bytes(CONTEXT)
    headers = {**STREAM, "RDF_Message_Content_Type": "application/ld+json", "Link": LINK}
    with site() as web:
        url = web.on("/a", send(200, event(OBJECT), **headers))
        context = {f"{web.url}/context.jsonld": str(tmp_path / "context.jsonld")}
        assert read(url, context=context) == MESSAGES[:1]


def test_a_context_of_ndjsonld_needs_an_option(tmp_path):
    (tmp_path / "context.jsonld").write_bytes(CONTEXT)
    body = f"{OBJECT}\n{OBJECT}\n".encode()
    with site() as web:
        url = web.on("/a", send(200, body, Content_Type="application/x-ld+ndjson", Link=LINK))
        assert messages_in(url) == [[], []]
        options = {"expand_context": str(tmp_path / "context.jsonld")}
        assert messages_in(url, **options) == [MESSAGES[0]] * 2


def test_several_contexts_are_an_error():
    with site() as web:
        headers = {"Content_Type": "application/json", "Link": f"{LINK}, {LINK}"}
        url = web.on("/a", send(200, OBJECT.encode(), **headers))
        with pytest.raises(UnsupportedError, match="several JSON-LD contexts"):
            rdfm.open_log(url)


def test_documents_are_requested_in_the_directive_dialect_too(server):
    with site() as web:
        url = web.on("/a", send(200, A.encode(), Content_Type="application/n-quads"))
        messages_in(url)
        accept = web.requests[0][2]["Accept"]
    assert "application/n-quads;version=1.2-messages" in accept
    assert "text/event-stream;q=0.2" in accept
    assert messages_in(f"{server.url}/a") == MESSAGES


def test_closing_ends_the_connection(server):
    before = threading.active_count()
    log = rdfm.open_log(f"{server.url}/a/events")
    next(iter(log))
    log.close()
    assert threading.active_count() <= before + 1
