"""Live streams on the command line: serving, reading, publishing, and usage errors."""

import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import pytest
from certificates import Authority
from jelly_grpc import TOKEN, Client, serve
from processes import wait_for

pytestmark = pytest.mark.slow

A = "<http://e/s> <http://e/p> <http://e/o> .\n"


@contextmanager
def serve_topic(folder):
    (folder / "logs").mkdir()
    (folder / "logs/a.nq").write_text(f"{A}# @message\n{A}")
    with serve(folder / "logs", "--create-topics") as server:
        yield server


@pytest.fixture
def topic_server(tmp_path):
    """A server for a folder with one topic, which has two messages."""
    with serve_topic(tmp_path) as server:
        yield server


@pytest.fixture(scope="module")
def shared_topic_server(tmp_path_factory):
    """A `topic_server` for tests that do not change it."""
    with serve_topic(tmp_path_factory.mktemp("topics")) as server:
        yield server


@pytest.fixture
def publisher(monkeypatch):
    """Sets the token with which clients may publish."""
    monkeypatch.setenv("RDFM_GRPC_TOKEN", TOKEN)


@pytest.mark.usefixtures("publisher")
def test_logs_are_read_published_and_read_again(rdfm, topic_server, tmp_path):
    url = f"grpc://localhost:{topic_server.port}"
    run = rdfm("cat", f"{url}/a", "--no-follow", "--to", "nq")
    assert (run.code, run.out) == (0, f"{A}# @message\n{A}")
    assert rdfm("convert", "a.nq", f"{url}/new%20one").code == 0
    assert (tmp_path / "logs/new one.jelly").exists()
    assert rdfm("convert", f"{url}/new%20one", "copy.nq", "--no-follow").code == 0
    assert (tmp_path / "copy.nq").read_text() == (tmp_path / "a.nq").read_text()
    run = rdfm("head", f"{url}/new%20one", "-n", "1", "--to", "nq")
    assert (run.code, run.out) == (0, A)
    assert rdfm("convert", f"{url}/a", f"{url}/b", "--no-follow").code == 0
    assert rdfm("cat", f"{url}/b", "--no-follow", "--to", "nq").out == f"{A}# @message\n{A}"


def test_messages_are_printed_when_they_arrive(topic_server, tmp_path):
    url = f"grpc://localhost:{topic_server.port}/a"
    command = [sys.executable, "-m", "rdfm", "cat", url, "--to", "nq"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert [process.stdout.readline() for _ in range(3)] == [A, "# @message\n", A]
        with (tmp_path / "logs/a.nq").open("a") as log:
            log.write(f"# @message\n{A}")
        assert [process.stdout.readline() for _ in range(2)] == ["# @message\n", A]
        process.terminate()
        assert process.wait(10) == 130


@pytest.mark.usefixtures("publisher")
def test_clients_reconnect_to_a_restarted_server(tmp_path):
    (tmp_path / "a.nq").write_text(f"{A}# @message\n{A}")
    with serve(tmp_path) as server:
        port = server.port
        url = f"grpc://localhost:{port}/a"
        command = [sys.executable, "-m", "rdfm", "cat", url, "--to", "nq", "--retry", "9"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert [process.stdout.readline() for _ in range(3)] == [A, "# @message\n", A]
        server.process.kill()
    with serve(tmp_path, port=port):
        with (tmp_path / "a.nq").open("a") as log:
            log.write(f"# @message\n{A}")
        assert [process.stdout.readline() for _ in range(2)] == ["# @message\n", A]
        process.terminate()
        process.wait(10)
    process.stdout.close()


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        ("", 2, "there is nothing to serve; give a folder, or a log with --topic NAME=LOG"),
        ("missing", 1, "missing: No such folder"),
        ("a.nq", 2, "a.nq is not a folder; serve a single log with --topic NAME=LOG"),
        (". --topic x", 2, "--topic needs NAME=LOG"),
        ("--topic x=none.nq", 1, "none.nq: No such file"),
        ("--topic x=.", 2, ". is not a file"),
        ("--topic x=log.txt", 2, "does not have the suffix of a message format"),
        (". --default-topic none", 2, "the default topic does not exist: there is no topic 'none'"),
        (". --grpc localhost", 2, "'localhost' is not an address; expected HOST:PORT"),
        (". --grpc 99999", 2, "'99999' is not an address"),
        (". --metrics localhost", 2, "'localhost' is not an address; expected HOST:PORT"),
        (". --log-format xml", 2, "'xml' is not one of 'text', 'json'"),
        (". --grpc 0.0.0.0:0", 2, "give --tls-cert and --tls-key, or --insecure"),
        (". --grpc example.org:0", 2, "can be reached from other machines"),
        (". --grpc [::]:0", 2, "can be reached from other machines"),
        (". --grpc 192.0.2.1:1 --insecure", 2, "the address does not belong to this machine"),
        (". --tls-cert a.nq", 2, "--tls-cert and --tls-key must be given together"),
        (". --tls-cert a.nq --tls-key a.nq", 2, "a.nq is not a PEM file with a CERTIFICATE"),
        (". --tls-cert none --tls-key a.nq", 1, "none: No such file"),
        (". --client-ca a.nq", 2, "--client-ca needs TLS"),
        (". --allow-publish", 2, "--allow-publish needs a token"),
        (". --create-topics", 2, "--create-topics needs --allow-publish"),
        (". --publish-token-file a.nq", 2, "--publish-token-file needs --allow-publish"),
        (". --read-token-file none", 1, "none: No such file"),
        (". --read-token-file empty", 2, "empty has no token"),
        (". --read-token-file a.nq", 2, "a.nq has no token; expected printable ASCII"),
        (". --max-streams 0", 2, "the minimum is 1"),
        (
            "--topic x=a.nq --allow-publish --publish-token-file t --create-topics",
            2,
            "--create-topics needs a folder to create topics in",
        ),
    ],
)
def test_invalid_arguments_of_serve_are_rejected_in_one_sentence(
    rdfm, tmp_path, arguments, code, text
):
    (tmp_path / "empty").write_text("\n")
    (tmp_path / "t").write_text("token")
    (tmp_path / "log.txt").write_text("")
    run = rdfm("serve", *arguments.split())
    assert run.code == code
    assert text in run.error


def test_a_port_in_use_is_rejected(rdfm, topic_server, tmp_path):
    identity = Authority(tmp_path, "authority").issue("server")
    tls = ("--tls-cert", identity.certificate, "--tls-key", identity.key)
    expected = f"cannot listen on 127.0.0.1:{topic_server.port}: the port is in use"
    for arguments in ((), tls):
        run = rdfm("serve", ".", "--grpc", topic_server.port, *arguments)
        assert (run.code, expected in run.error) == (2, True)
    run = rdfm("serve", ".", "--grpc", "0", "--metrics", topic_server.port)
    assert (run.code, expected in run.error) == (2, True)


def test_a_certificate_that_does_not_match_its_key_is_rejected(rdfm, tmp_path):
    authority = Authority(tmp_path, "authority")
    one, two = authority.issue("one"), authority.issue("two")
    run = rdfm("serve", ".", "--grpc", "0", "--tls-cert", one.certificate, "--tls-key", two.key)
    assert run.code == 2
    assert "one.pem and " in run.error
    assert "two.key do not belong together" in run.error


def test_quiet_omits_all_events_but_errors(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "rdfm", "serve", tmp_path, "--grpc", str(port), "--quiet"]

    def accepts():
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", port)) == 0

    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        wait_for(accepts)
        process.terminate()
        assert process.wait(20) == 0
        assert process.stderr.read() == ""


def test_sigterm_ends_the_server_with_status_0_while_it_starts(tmp_path):
    program = (
        "import os, signal, sys\n"
        "from rdfm.live import running\n"
        "running.opened_server = lambda *_, **__: os.kill(os.getpid(), signal.SIGTERM)\n"
        "sys.argv[1:] = ['serve', '.']\n"
        "import runpy\n"
        "runpy.run_module('rdfm', run_name='__main__')\n"
    )
    assert subprocess.run([sys.executable, "-c", program], timeout=20, check=False).returncode == 0


@pytest.mark.parametrize("kind", [signal.SIGTERM, signal.SIGINT])
def test_signals_end_the_server_with_status_0_while_calls_are_open(topic_server, kind):
    client = Client(topic_server.port)
    calls = [client.subscribe("a") for _ in range(3)]
    for call in calls:
        next(call)
    assert topic_server.stop(kind) == 0
    client.close()
    assert re.search("info stop", "".join(topic_server.lines))


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        ("cat URL/none --no-follow", 1, "/none: there is no topic 'none'"),
        ("cat URL/../logs/a --no-follow", 1, "there is no topic"),
        ("cat URL --no-follow", 1, "there is no default topic; name a topic"),
        ("cat grpc://localhost/a", 2, "has no port; expected grpc://HOST:PORT/TOPIC"),
        ("cat grpc://t:s@localhost:1/a", 2, "a token does not belong in the URL"),
        ("cat URL/a --from-end --retry 2", 2, "--retry counts messages from the first one"),
        ("cat URL/a --tls-ca a.nq", 2, "write grpcs:// to use it"),
        ("cat a.nq --no-follow", 2, "--no-follow is for live streams"),
        ("convert a.nq b.jelly --retry 2", 2, "--retry is for live streams"),
        ("convert a.nq URL/a", 1, "the token to send in the environment variable RDFM_GRPC_TOKEN"),
        ("convert a.nq URL/a --to nq", 2, "live streams are in Jelly, not nq"),
        ("convert a.nq URL/a --to-dialect comment", 2, "the option --dialect is for writing"),
        ("convert a.nq URL/a --append", 2, "omit --append"),
        ("convert a.nq URL/a --split-messages 2", 2, "is a live stream, not a folder"),
        ("convert a.nq URL/a --compression zstd", 2, "compresses with gzip, not zstd"),
        ("convert a.nq URL/a --stream-name b", 2, "the topic is 'a'"),
        ("convert a.nq URL/a --undelimited", 2, "--to-undelimited is for files"),
    ],
)
def test_invalid_uses_of_live_streams_are_rejected_in_one_sentence(
    rdfm, shared_topic_server, arguments, code, text
):
    run = rdfm(*arguments.replace("URL", f"grpc://localhost:{shared_topic_server.port}").split())
    assert text in run.error
    assert run.code == code


@pytest.mark.parametrize("token", ["guess", "x" * 3000])
def test_a_wrong_token_is_rejected(rdfm, shared_topic_server, token, monkeypatch):
    monkeypatch.setenv("RDFM_GRPC_TOKEN", token)
    run = rdfm("convert", "a.nq", f"grpc://localhost:{shared_topic_server.port}/a")
    assert run.code == 1
    assert "the token is wrong" in run.error
    assert token not in run.err


def test_a_refused_connection_is_explained(rdfm):
    with socket.socket() as unused:
        unused.bind(("localhost", 0))
        port = unused.getsockname()[1]
    run = rdfm("cat", f"grpc://localhost:{port}/a")
    assert run.code == 1
    assert "connection refused; is the server running on that port?" in run.error


def test_a_server_that_does_not_speak_grpc_is_reported(rdfm):
    with socket.socket() as listener:
        listener.bind(("localhost", 0))
        listener.listen(5)

        def answer_with_an_error():
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                connection.recv(1000)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                connection.close()

        threading.Thread(target=answer_with_an_error, daemon=True).start()
        run = rdfm("cat", f"grpc://localhost:{listener.getsockname()[1]}/a")
        listener.close()
    assert run.code == 1
    assert "does not support gRPC; check host and port" in run.error


def test_client_and_server_must_agree_on_tls(rdfm, tmp_path, topic_server):
    run = rdfm("cat", f"grpcs://localhost:{topic_server.port}/a")
    assert run.code == 1
    assert "the TLS handshake failed; a server without TLS needs grpc://" in run.error
    authority = Authority(tmp_path, "authority")
    identity = authority.issue("server")
    arguments = ("--tls-cert", identity.certificate, "--tls-key", identity.key)
    with serve(tmp_path / "logs", *arguments) as server:
        url = f"localhost:{server.port}/a"
        run = rdfm("cat", f"grpc://{url}")
        assert "a server with TLS needs grpcs://" in run.error
        run = rdfm("cat", f"grpcs://{url}")
        assert "is not trusted; --tls-ca names a file with its CA certificate" in run.error
        run = rdfm("cat", f"grpcs://{url}", "--tls-ca", "authority.pem", "--no-follow")
        assert run.code == 0
        run = rdfm("cat", f"grpcs://{url}", "--tls-ca", "none.pem")
        assert "none.pem" in run.error


def test_a_missing_extra_is_named(tmp_path):
    code = "import sys\nsys.modules['grpc'] = None\nfrom rdfm.cli import main\nmain(sys.argv[1:])\n"
    for arguments in (["serve", "."], ["cat", "grpc://localhost:1/a"]):
        run = subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=tmp_path
        )
        assert run.returncode == 1
        assert "pip install 'rdfm[grpc]'" in run.stderr
        assert len(run.stderr.splitlines()) == 1


def test_a_second_signal_ends_the_server_immediately(tmp_path):
    with serve(tmp_path) as server:
        server.process.terminate()
        server.process.terminate()
        start = time.monotonic()
        assert server.process.wait(20) in (0, 130)
        assert time.monotonic() - start < 5
