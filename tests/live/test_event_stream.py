"""Topics as Server-Sent Events."""

import contextlib
import http.client
import queue
import subprocess
import sys
import threading
import time

import pytest
from live_logs import append, messages_in
from processes import wait_for
from sse import Parser, parse
from web_serve import serve_web

import rdfm
from rdfm import formats
from rdfm.live import web_events
from rdfm.live.event_stream import event_formats

pytestmark = pytest.mark.slow

A = '<http://e/s> <http://e/p> "a" .\n'
LOG = f'{A}# @message\n<http://e/s> <http://e/p> "b\\r\\nc" .\n# @message\n# @message\n{A}{A}'
TRIPLES = messages_in(LOG.encode(), format="nq")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    (folder / "a.nq").write_text(LOG)
    (folder / "prefixes.trig").write_text(
        "@prefix e: <http://e/> .\ne:s e:p 1 .\n# @message\n{ e:s e:p 2 } e:g { e:s e:p 3 }\n"
    )
    rdfm.convert(LOG.encode(), folder / "j.jelly", from_format="nq")
    rdfm.convert(LOG.encode(), folder / "packed.trig.zst", from_format="nq")
    rdfm.convert(LOG.encode(), folder / "flat.jelly", from_format="nq", flat=True)
    (folder / "relative.ttl").write_text("<#s> <p> <> .\n")
    (folder / "x.nq").write_text(A)
    (folder / "x").mkdir()
    (folder / "x/events.nq").write_text(A)
    return folder


@pytest.fixture(scope="module")
def server(folder):
    with serve_web(folder) as server:
        yield server


def events_of(server, target, **headers):
    mark = "&" if "?" in target else "?"
    reply = server.get(f"{target}{mark}follow=false", **headers)
    assert reply.status == 200, reply.text
    assert reply.headers["content-type"].startswith("text/event-stream")
    assert b"\r" not in reply.body
    return parse(reply.body)


def decoded(events, format="nq"):
    """Returns the messages of events."""
    found = []
    for event in events:
        assert event.type == "rdf-message"
        messages = messages_in(event.data.encode(), format=format)
        found += messages or [[]]
    return found


class Follower:
    """Reads a stream in a thread.

    Attributes:
        parser: The events so far.
        ended: The error or None, as soon as the stream has ended.
    """

    def __init__(self, server, target, **headers):
        self.parser = Parser()
        self.ended = queue.Queue()
        self.bytes = b""
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        self._connection.request("GET", target, headers=names)
        self.response = self._connection.getresponse()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self):
        try:
            while piece := self.response.read1(65536):
                self.bytes += piece
                self.parser.feed(piece)
            self.ended.put(None)
        except Exception as error:
            self.ended.put(error)

    def wait_for(self, count):
        wait_for(lambda: len(self.parser.events) >= count, 30)
        return self.parser.events

    def close(self):
        with contextlib.suppress(OSError):
            self._connection.sock.shutdown(2)
        self._connection.close()
        self._thread.join(20)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


# --- messages ---


@pytest.mark.parametrize("topic", ["a", "a.nq", "j", "packed"])
@pytest.mark.parametrize("name", [format.name for format in event_formats()])
def test_each_message_is_an_event(server, topic, name):
    events = events_of(server, f"/{topic}/events?format={name}")
    assert decoded(events, name) == TRIPLES
    reply = server.get(f"/{topic}/events?format={name}&follow=false")
    assert reply.headers["rdf-message-content-type"] == formats.find(name).spec.media_types[0]
    assert len({event.id for event in events}) == len(events)


def test_an_event_needs_no_earlier_event(server):
    first, second = events_of(server, "/prefixes/events?format=trig")
    assert len(decoded([second], "trig")[0]) == 2
    assert "PREFIX" in first.data
    assert "PREFIX" in second.data


def test_an_empty_message_has_a_data_line(server):
    assert b"\ndata:\n\n" in server.get("/a/events?follow=false").body
    assert b"\ndata: {}\n\n" in server.get("/a/events?follow=false&format=jsonld").body


def test_a_flat_log_is_one_message(server):
    (event,) = events_of(server, "/flat/events")
    assert decoded([event]) == [[quad for message in TRIPLES for quad in message]]


def test_relative_iris_are_relative_to_the_topic(server):
    (event,) = events_of(server, "/relative/events")
    assert event.data == f"<{server.url}/relative#s> <{server.url}/p> <{server.url}/relative> ."


def test_a_log_may_have_the_name_of_a_stream(server):
    assert len(events_of(server, "/x/events")) == 1
    assert server.get("/x/events.nq").text == A
    assert server.get("/none/events").status == 404


def test_accept_selects_events_and_their_format(server):
    events = events_of(server, "/a", Accept="text/event-stream")
    assert decoded(events) == TRIPLES
    accept = "text/event-stream, application/trig;q=0.5, application/n-quads;q=0.1"
    reply = server.get("/a/events?follow=false", Accept=accept)
    assert reply.headers["rdf-message-content-type"] == "application/trig"
    reply = server.get("/a", Accept="application/n-quads, text/event-stream;q=0.5")
    assert reply.text == LOG
    reply = server.request("/a/events", "HEAD")
    assert (reply.status, reply.body) == (200, b"")
    assert reply.headers["rdf-message-content-type"] == "application/n-quads"
    assert "content-length" not in reply.headers


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("format=jelly", "the format of events must be one of nq"),
        ("format=ndjsonld", "the format of events must be one of nq"),
        ("follow=maybe", "follow must be true or false"),
        ("from=-1", "from must be"),
        ("limit=1", "the parameter 'limit' is unknown"),
        ("last-event-id=5", "'5' is not the id of an event of this server"),
        (f"last-event-id={'9' * 5000}", "is not the id of an event"),
    ],
)
def test_invalid_parameters_are_rejected(server, query, reason):
    reply = server.get(f"/a/events?{query}")
    assert (reply.status, reason in reply.text) == (400, True)


def test_a_message_that_cannot_be_represented_ends_the_stream(folder, server):
    reply = server.get("/prefixes/events?format=ttl&from=1")
    assert (reply.status, "graph names" in reply.text) == (406, True)
    (folder / "broken.nq").write_text(f"{A}# @message\n{A}# @message\noops\n")
    with Follower(server, "/broken/events") as follower:
        assert isinstance(follower.ended.get(timeout=20), http.client.IncompleteRead)
        assert len(follower.parser.events) == 2
    reply = server.get("/broken/events?from=2")
    assert (reply.status, "message 2" in reply.text) == (500, True)
    assert str(folder) not in reply.text


# --- positions ---


@pytest.mark.parametrize("topic", ["a", "j", "packed"])
def test_a_stream_continues_after_every_id(server, topic):
    events = events_of(server, f"/{topic}/events")
    for number, event in enumerate(events):
        rest = events[number + 1 :]
        assert events_of(server, f"/{topic}/events", Last_Event_ID=event.id) == rest
        assert events_of(server, f"/{topic}/events?last-event-id={event.id}") == rest
        assert events_of(server, f"/{topic}/events?from={number + 1}") == rest
    # The header is newer than the URL when a browser reconnects.
    first, last = events[0].id, events[-1].id
    assert events_of(server, f"/{topic}/events?last-event-id={first}", Last_Event_ID=last) == []


def test_ids_remain_valid_while_the_log_grows(folder, server):
    path = folder / "growing.jelly"
    rdfm.convert(LOG.encode(), path, from_format="nq")
    ids = [event.id for event in events_of(server, "/growing/events")]
    append(path, [], [], [])
    for number, id in enumerate(ids):
        rest = events_of(server, "/growing/events", Last_Event_ID=id)
        assert len(rest) == len(ids) + 3 - number - 1


@pytest.mark.parametrize("how", ["replaced", "rewritten", "truncated"])
def test_an_id_of_another_log_is_an_error(folder, server, how):
    path = folder / f"{how}.nq"
    path.write_text(LOG)
    id = events_of(server, f"/{how}/events")[1].id
    if how == "replaced":
        new = folder / "new"
        new.write_text(LOG)
        new.replace(path)
    elif how == "rewritten":
        path.write_text(LOG.replace('"a"', '"z"') + A)
    else:
        path.write_text(A)
    reply = server.get(f"/{how}/events", Last_Event_ID=id)
    assert (reply.status, "was replaced" in reply.text) == (409, True)
    assert str(folder) not in reply.text


# --- following ---


@pytest.mark.parametrize("suffix", ["jelly", "nq", "trig.gz"])
def test_a_stream_follows_appends(folder, server, suffix):
    path = folder / f"follow.{suffix}"
    rdfm.convert(LOG.encode(), path, from_format="nq")
    with Follower(server, f"/follow.{suffix}/events") as follower:
        follower.wait_for(4)
        append(path, [])
        follower.wait_for(5)
        # Another process appends.
        command = [sys.executable, "-m", "rdfm", "convert", "-", "--from", "nq"]
        subprocess.run(
            [*command, "-o", path, "--append", "-q"], input=LOG.encode(), check=True, timeout=60
        )
        events = follower.wait_for(9)
    assert decoded(events) == [*TRIPLES, [], *TRIPLES]
    path.unlink()


def test_a_stream_can_begin_with_new_messages(folder, server):
    path = folder / "new.jelly"
    rdfm.convert(LOG.encode(), path, from_format="nq")
    with Follower(server, "/new/events?from=end") as follower:
        append(path, [])
        events = follower.wait_for(1)
        assert [event.data for event in events] == [""]
        assert events[0].id.endswith("-4")


def test_the_server_decides_by_default(folder):
    with serve_web(folder, follow=False) as server:
        assert len(parse(server.get("/a/events").body)) == 4
    with serve_web(folder, follow=False, from_end=True) as server:
        assert parse(server.get("/a/events").body) == []
        assert len(parse(server.get("/a/events?from=3").body)) == 1


def test_idle_streams_have_heartbeats(server, monkeypatch):
    monkeypatch.setattr(web_events, "HEARTBEAT_SECONDS", 0.1)
    with Follower(server, "/a/events") as follower:
        wait_for(lambda: follower.bytes.count(b"\n:\n\n") >= 2, 20)
        assert len(follower.parser.events) == 4


def test_streams_of_a_replaced_log_are_cut(folder, server):
    path = folder / "gone.nq"
    path.write_text(LOG)
    with Follower(server, "/gone/events") as follower:
        follower.wait_for(4)
        new = folder / "new"
        new.write_text(LOG + A)
        new.replace(path)
        assert isinstance(follower.ended.get(timeout=20), http.client.IncompleteRead)
        assert len(follower.parser.events) == 4


def test_streams_end_with_the_server(folder):
    with serve_web(folder) as server:
        follower = Follower(server, "/a/events")
        follower.wait_for(4)
        start = time.monotonic()
    assert follower.ended.get(timeout=20) is None  # clients reconnect after a normal end
    assert time.monotonic() - start < 5
    follower.close()


def test_many_followers_receive_every_message_once(folder, server):
    path = folder / "many.jelly"
    rdfm.convert(LOG.encode(), path, from_format="nq")
    with contextlib.ExitStack() as stack:
        followers = [
            stack.enter_context(Follower(server, f"/many/events?from={number % 5}"))
            for number in range(30)
        ]
        for _ in range(20):
            append(path, [], [])
        for number, follower in enumerate(followers):
            events = follower.wait_for(44 - number % 5)
            indexes = [int(event.id.rpartition("-")[2]) for event in events]
            assert indexes == list(range(number % 5, 44))
