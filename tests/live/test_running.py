"""`rdfm.serve`: the server of `rdfm serve`, in a thread."""

import queue
import threading

import pytest

import rdfm

pytest.importorskip("grpc")

LINE = '<http://e/s> <http://e/p> "%d" .\n'


@pytest.fixture
def serve():
    """Returns a function that starts a server and returns its port. All servers are ended."""
    stop, servers = threading.Event(), []

    def start(*args, **options):
        ports = queue.Queue()
        options |= {"grpc": 0, "quiet": True, "started": ports.put, "stop": stop}
        servers.append(threading.Thread(target=rdfm.serve, args=args, kwargs=options))
        servers[-1].start()
        return ports.get(timeout=60)

    yield start
    stop.set()
    for server in servers:
        server.join(60)
        assert not server.is_alive()


def messages(port, topic):
    with rdfm.open_log(
        f"grpc://127.0.0.1:{port}/{topic}", storage_options={"follow": False}
    ) as log:
        return list(log)


def test_a_folder_and_further_logs_are_served_until_the_event_is_set(serve, tmp_path):
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs/a.nq").write_text(LINE % 0 + "# @message\n" + LINE % 1)
    (tmp_path / "b.nq").write_text(LINE % 2)
    port = serve(tmp_path / "logs", topic={"other": tmp_path / "b.nq"}, default_topic="a")
    assert [len(messages(port, topic)) for topic in ("a", "", "other")] == [2, 2, 1]


def test_messages_are_accepted_with_a_token(serve, tmp_path, monkeypatch):
    (tmp_path / "token").write_text("secret")
    monkeypatch.setenv("RDFM_GRPC_TOKEN", "secret")
    options = {"allow_publish": True, "publish_token_file": tmp_path / "token"}
    port = serve(tmp_path, create_topics=True, **options)
    rdfm.convert((LINE % 0).encode(), f"grpc://127.0.0.1:{port}/new", from_format="nq")
    assert len(messages(port, "new")) == 1
    assert (tmp_path / "new.jelly").exists()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "there is nothing to serve; give a folder, or a log with topic"),
        ({"folder": "."}, "tls_cert and tls_key, or insecure if the network is trusted"),
        ({"folder": ".", "tls_cert": "a"}, "tls_cert and tls_key must be given together"),
        ({"folder": ".", "client_ca": "a"}, "client_ca needs TLS; give tls_cert and tls_key"),
        ({"folder": ".", "create_topics": True}, "create_topics needs allow_publish"),
        ({"folder": ".", "allow_publish": True}, "allow_publish needs a token"),
    ],
)
def test_options_that_cannot_be_combined_are_rejected(options, text):
    address = "0.0.0.0:0" if "insecure" in text else 0
    with pytest.raises(rdfm.OptionError, match=text):
        rdfm.serve(grpc=address, **options)
