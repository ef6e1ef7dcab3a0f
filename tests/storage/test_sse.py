"""Parsing of Server-Sent Events: the same events as the steps of the WHATWG standard give."""

import pytest
import sse
from hypothesis import given
from hypothesis import strategies as st

from rdfm.errors import LimitError
from rdfm.storage import sse as module
from rdfm.storage.sse import EventParser

# Parts of streams that are likely to be confused.
PARTS = [
    *(b"data", b"id", b"event", b"retry", b":", b" ", b"\n", b"\r", b"\r\n", b"\n\n", b"\0"),
    *(b"\xef\xbb\xbf", "é€😀".encode(), b"\xff", b"\xc3", b"1500", b"-1", b"rdf-message", b"x"),
    *(b"data: a\n\n", b"id: 7\n", b"id\n", b"data\n", b"data:\n", b"retry: 20\n", b"event: e\r\n"),
]
streams = st.lists(st.sampled_from(PARTS), max_size=30).map(b"".join)


def parsed(data, cuts=()):
    parser, events, start = EventParser(), [], 0
    for cut in (*cuts, len(data)):
        events += parser.feed(data[start:cut])
        start = cut
    return [(event.type, event.data.decode(), event.id) for event in events], parser


@given(streams, st.data())
def test_events_are_those_of_the_standard_however_the_stream_is_cut(data, choices):
    reference = sse.Parser().feed(data, ended=True)
    expected = [tuple(event) for event in reference.events]
    cuts = sorted(choices.draw(st.lists(st.integers(0, len(data)), max_size=8)))
    events, parser = parsed(data, cuts)
    assert events == expected
    assert parser.last_id == reference.last_id
    retry = None if reference.retry is None else reference.retry / 1000
    assert parser.retry_seconds == retry
    assert parsed(data, range(1, len(data)))[0] == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"data: a\n\n", [("message", "a", "")]),
        (b"data:a\rdata: b\r\r", [("message", "a\nb", "")]),
        (b"data\r\n\r\n", [("message", "", "")]),
        (b"data\ndata\n\n", [("message", "\n", "")]),
        (b": comment\n\ndata: a\n\n", [("message", "a", "")]),
        (b"id: 1\ndata: a\n\nid\ndata: b\n\n", [("message", "a", "1"), ("message", "b", "")]),
        (b"id: 1\0\ndata: a\n\n", [("message", "a", "")]),
        (b"event: x\n\ndata: a\n\n", [("message", "a", "")]),
        (b"event: rdf-message\nid: 5\ndata:  a\n\n", [("rdf-message", " a", "5")]),
        (b"\xef\xbb\xbfdata: a\n\n", [("message", "a", "")]),
        (b"data: \xff\n\n", [("message", "\ufffd", "")]),
        (b"data: a\n", []),
        (b"Data: a\n\n", []),
    ],
)
def test_examples(data, expected):
    assert parsed(data)[0] == expected
    assert [tuple(event) for event in sse.parse(data)] == expected


def test_an_event_is_returned_as_soon_as_its_end_arrives():
    parser = EventParser()
    assert len(parser.feed(b"data: a\r\r")) == 1
    assert parser.feed(b"\ndata: b\r\n\r") != []
    assert parser.feed(b"\n") == []


def test_events_are_limited(monkeypatch):
    monkeypatch.setattr(module, "MAX_EVENT_BYTES", 100)
    with pytest.raises(LimitError, match="an event has more than"):
        parsed(b"data: " + b"x" * 101)
    with pytest.raises(LimitError):
        parsed(b"data: x\n" * 200)
    assert len(parsed(b"data: x\n\n" * 200)[0]) == 200
