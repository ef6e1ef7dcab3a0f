"""Each phase of a request has a deadline, whatever the server sends meanwhile."""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import threading
import time

import pytest
import web
from certificates import Authority

from rdfm.storage.http import HttpError, HttpSettings, open_url

HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
SETTINGS = HttpSettings(connect_seconds=0.4, first_byte_seconds=0.4, idle_seconds=0.4, tries=1)


@contextlib.contextmanager
def within(seconds):
    start = time.monotonic()
    yield
    assert time.monotonic() - start < seconds


@pytest.fixture
def site():
    with web.site() as opened:
        yield opened


@pytest.mark.parametrize(
    "reply",
    [
        web.raw(b"HTTP/1.1 200", b" ", pause=0.05, forever=True),
        web.raw(b"HTTP/1.1 200 OK\r\nA: b", b"b", pause=0.05, forever=True),
        web.raw(b"HTTP/1.1 100 Continue\r\n\r\n", pause=0.01, forever=True),
        web.raw(b"HTTP/1.1 100 Continue\r\n\r\n" * 100, forever=True),
    ],
    ids=["status", "header", "interim responses", "fast interim responses"],
)
def test_the_headers_have_a_deadline(site, reply):
    with pytest.raises(HttpError, match=r"no response within 0\.4 s"), within(5):
        open_url(site.on("/a", reply), SETTINGS)


@pytest.mark.parametrize(
    "pieces",
    [
        (b"0\r\n", b"A: b\r\n"),
        (b"1;a=", b"b"),
        (b"0", b"0"),
    ],
    ids=["trailers", "chunk extension", "chunk size"],
)
@pytest.mark.parametrize("content", [b"", b"1\r\nx\r\n"], ids=["first", "later"])
def test_a_piece_of_the_body_has_a_deadline(site, pieces, content):
    reply = web.raw(HEAD + content + pieces[0], pieces[1], pause=0.05, forever=True)
    error = "no data for" if content else "no response within"
    with (
        within(5),
        open_url(site.on("/a", reply), SETTINGS) as response,
        pytest.raises(HttpError, match=rf"{error} 0\.4 s"),
    ):
        response.read()


def test_a_slow_body_with_progress_has_no_deadline(site):
    reply = web.raw(HEAD, *[b"1\r\nx\r\n"] * 10, b"0\r\n\r\n", pause=0.1)
    with open_url(site.on("/a", reply), SETTINGS) as response:
        assert response.read() == b"x" * 10


@pytest.fixture
def silent():
    """A port whose server accepts connections, and does not answer."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


def test_the_handshake_has_a_deadline(silent):
    with pytest.raises(HttpError, match=r"no (connection|response) within 0\.4 s"), within(5):
        open_url(f"https://127.0.0.1:{silent}/", SETTINGS)


def resolve_to(monkeypatch, port, *addresses):
    """Makes many.example the name of addresses."""
    real = socket.getaddrinfo

    def resolve(host, *args, **settings):
        if host != "many.example":
            return real(host, *args, **settings)
        kind = (socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "")
        return [(*kind, (address, port)) for address in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)


def test_all_addresses_of_a_host_have_one_deadline(monkeypatch):
    with socket.create_server(("", 0), backlog=0) as listening, contextlib.ExitStack() as waiting:
        port = listening.getsockname()[1]
        for _ in range(4):  # fills the queue of the server, so that the next connection waits
            client = waiting.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(("127.0.0.1", port))
        resolve_to(monkeypatch, port, *(f"127.0.0.{number}" for number in range(1, 9)))
        with pytest.raises(HttpError, match=r"no connection within 0\.4 s"), within(1.5):
            open_url(f"http://many.example:{port}/", SETTINGS)


def test_the_next_address_of_a_host_is_tried(site, monkeypatch):
    port = int(site.url.rpartition(":")[2])
    resolve_to(monkeypatch, port, "127.0.0.2", "127.0.0.1")
    site.on("/a", web.send(200, b"x"))
    with open_url(f"http://many.example:{port}/a", SETTINGS) as response:
        assert response.read() == b"x"


def test_the_answer_of_a_proxy_has_a_deadline(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer():
            with listening.accept()[0] as connected, contextlib.suppress(OSError):
                connected.sendall(b"HTTP/1.1 200 OK\r\n")
                while True:
                    connected.sendall(b"A: b\r\n")
                    time.sleep(0.05)

        threading.Thread(target=answer, daemon=True).start()
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{listening.getsockname()[1]}")
        with pytest.raises(HttpError, match=r"within 0\.4 s"), within(5):
            open_url("https://example.org/", SETTINGS)


@contextlib.contextmanager
def encrypted(tmp_path, monkeypatch):
    """Runs a server with TLS whose certificate is trusted.

    The default settings of TLS ignore cut connections, as in some versions of Python.
    """
    create = ssl.create_default_context

    def create_as_in_old_versions(*arguments, **settings):
        context = create(*arguments, **settings)
        context.options |= getattr(ssl, "OP_IGNORE_UNEXPECTED_EOF", 0)
        return context

    monkeypatch.setattr(ssl, "create_default_context", create_as_in_old_versions)
    authority = Authority(tmp_path, "own")
    identity = authority.issue("server")
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    with web.site(tls=(str(identity.certificate), str(identity.key))) as opened:
        yield opened


def end_connection(handler, end):
    """Ends a connection with TLS, or cuts it with a TCP segment."""
    if end == "close_notify":
        with contextlib.suppress(OSError):
            handler.connection.unwrap()
    elif end == "RST":
        linger = struct.pack("ii", 1, 0)
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        handler.connection.close()
    handler.close_connection = True


@pytest.mark.parametrize("end", ["close_notify", "FIN", "RST"])
def test_an_encrypted_body_without_a_length_ends_with_the_encryption(tmp_path, monkeypatch, end):
    received = threading.Event()

    def reply(handler):
        web.raw(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 1000)(handler)
        received.wait(60)
        end_connection(handler, end)

    cut = pytest.raises(HttpError, match="closed early after 1000 bytes")
    with (
        encrypted(tmp_path, monkeypatch) as site,
        open_url(site.on("/a", reply), HttpSettings(tries=1)) as response,
    ):
        assert response.read(1000) == b"x" * 1000
        received.set()
        with contextlib.nullcontext() if end == "close_notify" else cut:
            assert response.read() == b""


@pytest.mark.parametrize("end", ["FIN", "RST"])
def test_a_request_is_repeated_if_an_encrypted_connection_is_cut(tmp_path, monkeypatch, end):
    with encrypted(tmp_path, monkeypatch) as site:
        site.on("/a", lambda handler: end_connection(handler, end), web.send(200, b"x"))
        with open_url(site.url + "/a", HttpSettings(tries=2, backoff_seconds=0)) as response:
            assert response.read() == b"x"
        site.on("/b", lambda handler: end_connection(handler, end))
        with pytest.raises(HttpError, match=r"connection was closed early \(2 attempts\)"):
            open_url(site.url + "/b", HttpSettings(tries=2, backoff_seconds=0))
