"""The HTTP server: hosts, access, limits, TLS and shutdown."""

import contextlib
import http.client
import json
import re
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time

import pytest
from certificates import Authority
from jelly_grpc import ONCE, Client
from web_serve import Process, serve_web

import rdfm
from rdfm.errors import OptionError
from rdfm.live import web_server
from rdfm.live.web_settings import parse_web_settings

pytestmark = pytest.mark.slow

A = '<http://e/s> <http://e/p> "a" .\n'
TOKEN = "t0ken"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    (folder / "a.nq").write_text(A)
    (folder / "sub").mkdir()
    (folder / "sub/b c.nq").write_text(A)
    (folder / "big.nq").write_text(A * 300_000)
    (folder.parent / "secret.nq").write_text(A)
    return folder


@pytest.fixture(scope="module")
def server(folder):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(web_server, "IDLE_SECONDS", 1)
        with serve_web(folder) as server:
            yield server


def exchange(server, data, seconds=10):
    """Sends bytes, and returns all bytes of the answer until the server closes the connection."""
    with server.connect() as connection:
        connection.settimeout(seconds)
        received = b""
        with contextlib.suppress(ConnectionResetError, BrokenPipeError):
            connection.sendall(data)
            while piece := connection.recv(65536):
                received += piece
        return received


# --- paths, methods and hosts ---


@pytest.mark.parametrize("target", ["/a", "/a.nq", "/sub/b%20c", "/sub%2Fb%20c", "/%61"])
def test_topics_have_paths(server, target):
    assert server.get(target).text == A


@pytest.mark.parametrize(
    "target",
    [
        *("/none", "/a/", "//a", "/../secret", "/%2e%2e/secret", "/sub/../a", "/.a", "/a%00"),
        *("/%ff", "/a%0d%0aX-Header:%201", "/" + "x" * 3000),
    ],
)
def test_other_paths_are_not_found(server, target):
    reply = server.get(target)
    assert reply.status == 404
    assert "x-header" not in reply.headers


def test_the_server_is_read_only(server):
    for method in ("POST", "PUT", "DELETE", "PATCH", "TRACE"):
        reply = server.request("/a", method, b"x" * 100_000)
        assert (reply.status, reply.headers["allow"]) == (405, "GET, HEAD, OPTIONS")


def test_health_needs_no_token(folder):
    with serve_web(folder, read_token_file=_token_file(folder)) as server:
        assert server.get("/healthz").text == "ok\n"


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("LOCALHOST:80", 200),
        ("127.0.0.1", 200),
        ("10.0.0.7:8080", 200),
        ("[::1]:8080", 200),
        ("logs.example.org", 200),
        ("logs.example.org.:443", 200),
        ("evil.example.org", 421),
        ("localhost.evil.org", 421),
        ("user@localhost", 421),
        ("", 421),
    ],
)
def test_hosts_are_allowed_by_name(folder, host, status):
    with serve_web(folder, allow_host=["Logs.example.org"]) as server:
        assert server.get("/a", Host=host).status == status


def test_any_host_may_be_allowed(folder):
    with serve_web(folder, allow_host=["*"]) as server:
        assert server.get("/a", Host="anything.example").status == 200


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ((["a.org:80"], [], None), "allow_host needs a host name without a port"),
        ((["a/b"], [], None), "allow_host needs"),
        (([], ["a.org"], None), "cors needs an origin"),
        (([], ["https://a.org/"], None), "cors needs an origin without a path"),
        (([], [], "logs"), "root_path needs a path such as /logs"),
        (([], [], '/"'), "root_path needs a path"),
    ],
)
def test_invalid_settings_are_rejected(options, reason):
    with pytest.raises(OptionError, match=reason):
        parse_web_settings(*options)


def test_options_of_http_need_http(folder):
    for option in ({"allow_host": ["a"]}, {"cors": ["*"]}, {"root_path": "/a"}):
        with pytest.raises(OptionError, match="needs http"):
            rdfm.serve(folder, grpc=0, **option)


# --- browsers and proxies ---


def test_other_origins_may_not_read_by_default(server):
    reply = server.get("/a", Origin="https://a.org")
    assert not [name for name in reply.headers if name.startswith("access-control")]
    reply = server.request("/a", "OPTIONS", Origin="https://a.org")
    assert (reply.status, reply.headers["allow"]) == (204, "GET, HEAD, OPTIONS")
    assert "access-control-allow-methods" not in reply.headers


def test_the_given_origins_may_read(folder):
    with serve_web(folder, cors=["https://a.org"]) as server:
        reply = server.get("/a", Origin="https://a.org")
        assert reply.headers["access-control-allow-origin"] == "https://a.org"
        assert "Origin" in reply.headers["vary"]
        reply = server.request("/a", "OPTIONS", Origin="https://a.org")
        assert "Last-Event-ID" in reply.headers["access-control-allow-headers"]
        # Errors can be read too.
        reply = server.get("/none", Origin="https://a.org")
        assert reply.headers["access-control-allow-origin"] == "https://a.org"
        for other in ("https://b.org", "null", "https://a.org.evil"):
            assert "access-control-allow-origin" not in server.get("/a", Origin=other).headers
    with serve_web(folder, cors=["*"]) as server:
        reply = server.get("/a", Origin="https://b.org")
        assert reply.headers["access-control-allow-origin"] == "*"


def test_a_proxy_may_keep_or_remove_the_root_path(folder):
    (folder / "relative.ttl").write_text("<#s> <#p> <#o> .\n")
    with serve_web(folder, root_path="/logs/") as server:
        assert server.get("/logs/a").text == server.get("/a").text == A
        assert server.get("/logsa").status == 404
        reply = server.get("/relative?format=nq", X_Forwarded_Proto="https")
        assert f"<https://127.0.0.1:{server.port}/logs/relative#s>" in reply.text


# --- tokens ---


def _token_file(folder):
    file = folder.parent / "token"
    file.write_text(f"{TOKEN}\n")
    return file


def test_reading_needs_the_token_if_there_is_one(folder):
    with serve_web(folder, read_token_file=_token_file(folder)) as server:
        for header in (None, "Bearer wrong", f"Basic {TOKEN}", "Bearer", f"Bearer {TOKEN}x"):
            headers = {} if header is None else {"Authorization": header}
            for target in ("/a", "/none"):
                reply = server.get(target, **headers)
                assert (reply.status, reply.headers["www-authenticate"]) == (401, "Bearer")
                assert TOKEN not in reply.text
        assert server.get("/a", Authorization=f"Bearer {TOKEN}").text == A
        options = {"headers": {"Authorization": f"Bearer {TOKEN}"}}
        with rdfm.open_log(f"{server.url}/a", storage_options=options) as log:
            assert [len(message) for message in log] == [1]


# --- limits ---


@pytest.mark.parametrize(
    "data",
    [
        b"\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET /a\r\n\r\n",
        b"GET /a HTTP/9.9\r\n\r\n",
        b"GET /a HTTP/1.1\r\n\r\n",  # no host
        b"GET /a HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET /a HTTP/1.1\r\nHost : localhost\r\n\r\n",
        b"GET /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"GET /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /a HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 400_000 + b"\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\0" * 1000,
    ],
)
def test_malformed_requests_are_rejected(server, data, monkeypatch):
    monkeypatch.setattr(web_server, "REQUEST_SECONDS", 0.3)
    answer = exchange(server, data)
    assert answer == b"" or re.match(rb"HTTP/1.1 [24]\d\d ", answer)
    assert server.get("/a").text == A


def test_a_request_must_be_complete_in_time(server, monkeypatch):
    monkeypatch.setattr(web_server, "REQUEST_SECONDS", 0.3)
    start = time.monotonic()
    assert exchange(server, b"") == b""
    assert exchange(server, b"GET /a HTTP/1.1\r\nHo") == b""
    # A second request over the same connection has a deadline of its own.
    first = b"GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n"
    assert exchange(server, first + b"GET /a").count(b"HTTP/1.1 200") == 1
    assert time.monotonic() - start < 5


def test_a_client_that_does_not_read_is_disconnected(server, folder, monkeypatch):
    monkeypatch.setattr(web_server, "STALL_SECONDS", 0.3)
    with server.connect() as connection:
        connection.sendall(b"GET /big HTTP/1.1\r\nHost: localhost\r\n\r\n")
        time.sleep(1.5)
        received = 0
        with contextlib.suppress(ConnectionResetError):
            while piece := connection.recv(65536):
                received += len(piece)
        assert received < (folder / "big.nq").stat().st_size


def test_a_slow_client_receives_everything(server, folder, monkeypatch):
    monkeypatch.setattr(web_server, "STALL_SECONDS", 1.0)
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    connection.request("GET", "/big")
    response = connection.getresponse()
    size = 0
    while piece := response.read(1 << 20):
        size += len(piece)
        time.sleep(0.05)
    assert size == (folder / "big.nq").stat().st_size
    connection.close()


def test_a_client_has_a_limited_number_of_requests(folder):
    with serve_web(folder, max_streams=2) as server:
        waiting = []
        for _ in range(2):
            connection = server.connect()
            connection.sendall(b"GET /big HTTP/1.1\r\nHost: localhost\r\n\r\n")
            waiting.append(connection)
        time.sleep(0.5)
        reply = server.get("/a")
        assert (reply.status, reply.headers["retry-after"]) == (503, "5")
        assert "already has 2 streams" in reply.text
        for connection in waiting:
            connection.close()
        time.sleep(0.5)
        assert server.get("/a").text == A


# --- the process ---


def test_grpc_and_http_run_in_one_process(folder):
    with Process(folder, "--http", 0, "--grpc", 0) as run:
        grpc_port = int(re.search(r"url=grpc://127.0.0.1:(\d+),http://", run.start)[1])
        client = Client(grpc_port)
        assert len(client.messages("a", None, ONCE)[0]) == 1
        assert run.web.get("/a").text == A
        client.close()
        run.process.send_signal(signal.SIGTERM)
        assert run.process.wait(20) == 0


def test_events_have_one_line_each(folder):
    with Process(folder, "--http", 0, "--log-format", "json") as run:
        run.web.get("/none")
        line = json.loads(run.process.stderr.readline())
        assert (line["event"], line["level"], line["status"]) == ("request", "warning", 404)
        assert (line["method"], line["path"], line["client"]) == ("GET", "/none", "127.0.0.1")
        exchange(run.web, b"nonsense\r\n\r\n")
        run.process.terminate()
        assert '"stop"' in run.process.stderr.readline()


def test_open_responses_are_completed_at_the_end(folder):
    with Process(folder, "--http", 0) as run:
        connection = http.client.HTTPConnection("127.0.0.1", run.web.port)
        connection.request("GET", "/big")
        response = connection.getresponse()
        run.process.terminate()
        time.sleep(0.3)
        assert len(response.read()) == (folder / "big.nq").stat().st_size
        assert run.process.wait(20) == 0
        connection.close()


def test_the_address_must_be_free_and_local(folder, server):
    with pytest.raises(OptionError, match=f"cannot listen on 127.0.0.1:{server.port}: the port is"):
        rdfm.serve(folder, http=server.port)
    with pytest.raises(OptionError, match=r"0\.0\.0\.0 can be reached from other machines"):
        rdfm.serve(folder, http="0.0.0.0:0")


def test_tls_files_are_read_again(folder, tmp_path):
    authority = Authority(tmp_path, "authority")
    first, second = authority.issue("first"), authority.issue("second")
    certificate, key = tmp_path / "server.pem", tmp_path / "server.key"

    def use(identity):
        certificate.write_bytes(identity.certificate.read_bytes())
        key.write_bytes(identity.key.read_bytes())

    def subject(port):
        context = ssl.create_default_context(cafile=str(authority.file))
        with (
            socket.create_connection(("127.0.0.1", port)) as plain,
            context.wrap_socket(plain, server_hostname="localhost") as connection,
        ):
            connection.sendall(b"GET /a HTTP/1.0\r\nHost: localhost\r\n\r\n")
            assert A.encode() in b"".join(iter(lambda: connection.recv(4096), b""))
            return dict(part[0] for part in connection.getpeercert()["subject"])["commonName"]

    use(first)
    with Process(folder, "--http", 0, "--tls-cert", certificate, "--tls-key", key) as run:
        assert subject(run.web.port) == "first"
        use(second)
        run.process.send_signal(signal.SIGHUP)
        while "reload" not in run.process.stderr.readline():
            pass
        assert subject(run.web.port) == "second"


def test_a_missing_extra_is_named(tmp_path):
    code = (
        "import sys\nsys.modules['uvicorn'] = None\nfrom rdfm.cli import main\nmain(sys.argv[1:])\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, "serve", ".", "--http", "0"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert (run.returncode, len(run.stderr.splitlines())) == (1, 1)
    assert "pip install 'rdfm[http]'" in run.stderr


def test_http_does_not_need_the_packages_for_grpc(folder):
    code = (
        "import sys, threading\nsys.modules['grpc'] = None\nimport rdfm\nstop = threading.Event()\n"
        f"rdfm.serve({str(folder)!r}, http=0, quiet=True, started=lambda _: stop.set(), stop=stop)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_many_clients_are_served_at_the_same_time(server):
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(server.get("/a?format=trig").status))
        for _ in range(40)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [200] * 40
