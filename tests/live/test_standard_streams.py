"""Streams that use everything that the WHATWG standard allows, sent by a server that follows it.

The steps of the standard (`sse.Parser`) say which events a client has received from each response,
and which id it sends when it reconnects.
"""

import random

import pytest
from live_logs import messages_in
from sse import Parser
from web import send, site

from rdfm.storage import event_source

pytestmark = pytest.mark.slow

MESSAGE_TYPE = "application/n-quads"
# White space at the ends is not possible, because HTTP removes it from headers.
IDS = ["1", "é", "€ 😀", "x:y", "0" * 200, '"\\', "id: 7"]


def triple(number, character):
    return f'<http://e/s> <http://e/p> "{number} {character}" .'


class StandardServer:
    """Sends events in every form, and closes the connection at random bytes.

    Attributes:
        received: The data of the messages that the client has received.
        ids: The value of `Last-Event-ID` that each request must have.
    """

    def __init__(self, seed):
        self._random = random.Random(seed)
        count = self._random.randint(3, 12)
        self._messages = [
            "" if self._random.random() < 0.2 else triple(number, self._random.choice("aé€😀"))
            for number in range(count)
        ]
        ids = [f"{self._random.choice(IDS)}{number}" for number in range(count)]
        self._next = {id: number + 1 for number, id in enumerate(ids)} | {"": 0}
        self._ids = ids
        self._last_id = ""
        self.received = []
        self.ids = []

    @property
    def messages(self):
        """All messages of the stream."""
        return [messages_in(text.encode(), format="nq") or [[]] for text in self._messages]

    def reply(self, handler):
        sent_id = handler.headers.get("Last-Event-ID", "").encode("latin-1").decode()
        self.ids.append((sent_id, self._last_id))
        first = self._next[sent_id]
        if first == len(self._messages):
            send(204)(handler)
            return
        body = self._encode(first)
        if self._random.random() < 0.7:
            body = body[: self._random.randrange(len(body) + 1)]
        parser = Parser()
        parser.last_id = parser._id_buffer = self._last_id
        parser.feed(body, ended=True)
        self.received += [event.data for event in parser.events if event.type == "rdf-message"]
        self._last_id = parser.last_id
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream; charset=utf-8")
        handler.send_header("RDF-Message-Content-Type", MESSAGE_TYPE)
        handler.send_header("Connection", "close")
        handler.end_headers()
        while body:
            size = self._random.choice((1, 3, 50, 1000))
            handler.wfile.write(body[:size])
            handler.wfile.flush()
            body = body[size:]
        handler.close_connection = True

    def _encode(self, first):
        lines = [b"retry: 0"]
        for number in range(first, len(self._messages)):
            lines += self._extras()
            fields = [("event", "rdf-message"), ("id", self._ids[number])]
            fields.append(("data", self._messages[number]))
            if self._random.random() < 0.3:
                fields.append(("data", "# a comment of N-Quads"))
            if self._random.random() < 0.3:
                fields.insert(0, ("id", "ignored\0"))
            if self._random.random() < 0.3:
                fields.append(("id", f"{self._ids[number]}\0"))
            lines += [*(self._field(name, value) for name, value in fields), b""]
        data = b"\xef\xbb\xbf" if self._random.random() < 0.5 else b""
        for line in lines:
            # An empty line after a carriage return cannot end with a line feed alone.
            ends = (
                (b"\r", b"\r\n") if not line and data.endswith(b"\r") else (b"\n", b"\r", b"\r\n")
            )
            data += line + self._random.choice(ends)
        return data

    def _extras(self):
        """Returns lines that are not part of a message."""
        choices = [
            [b": a comment"],
            [b":"],
            [b"unknown: field", b""],
            [b"retry: 1x"],
            [b"retry:0"],
            [b"event: other", b"data: not a message", b""],
            [b"data: not a message", b""],
            [b"event: rdf-message", b""],  # is not dispatched, because it has no data
            [b"Event: rdf-message", b"DATA: x", b""],
        ]
        return self._random.choice(choices) if self._random.random() < 0.6 else []

    def _field(self, name, value):
        if not value and self._random.random() < 0.5:
            return name.encode()
        space = " " if value.startswith(" ") or self._random.random() < 0.5 else ""
        return f"{name}:{space}{value}".encode()


@pytest.mark.parametrize("seed", range(25))
def test_each_message_of_a_standard_stream_is_received_once(seed, monkeypatch):
    monkeypatch.setattr(event_source, "DEFAULT_RETRY_SECONDS", 0.0)
    server = StandardServer(seed)
    with site() as web:
        found = messages_in(web.on("/", server.reply))
    assert found == [message for messages in server.messages for message in messages]
    assert len(server.received) == len(found)
    assert [sent for sent, _ in server.ids] == [expected for _, expected in server.ids]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_followed_when_reconnecting(status, monkeypatch):
    monkeypatch.setattr(event_source, "DEFAULT_RETRY_SECONDS", 0.0)
    server = StandardServer(0)
    with site() as web:
        url = web.on("/", send(status, Location="/moved"))
        web.on("/moved", server.reply)
        found = messages_in(url)
        assert len(web.requests) == 2 * len(server.ids)
        assert {headers["Accept"] for _, _, headers in web.requests[2:]} <= {"text/event-stream"}
    assert len(found) == len(server.received) == len(server.messages)
