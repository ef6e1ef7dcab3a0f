"""Jelly gRPC with a server and a client in Java that use Jelly-JVM."""

import threading
import time

import pytest
from jelly_grpc import TOKEN, message, numbers, options, serve
from jelly_proto import decode, read_frames
from live_logs import GRAPH, messages_in, write
from nquads import isomorphic
from support import as_batch

import rdfm

pytestmark = pytest.mark.peers

BNODE = ("bnode", "b")
TRIPLES = [
    message(0),
    [],
    [(BNODE, ("iri", "http://example.org/p"), BNODE, None)],
    *(message(n) for n in range(3, 60)),
]
QUADS = [*TRIPLES, message(60, GRAPH), [*message(61)[:1], *message(62, GRAPH)]]
PHYSICAL_TYPES = {1: "triples", 2: "quads", 3: "graphs"}


def all_isomorphic(found, expected):
    assert len(found) == len(expected)
    return all(isomorphic(a, b) for a, b in zip(found, expected, strict=True))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    write(folder / "triples.jelly", TRIPLES, physical_type="triples")
    write(folder / "quads.jelly", QUADS)
    write(folder / "graphs.jelly", QUADS, physical_type="graphs")
    write(folder / "text.nq", QUADS)
    write(folder / "many.jelly", [message(n) for n in range(20_000)])
    return folder


@pytest.fixture(scope="module")
def served(folder):
    with serve(folder, "--create-topics", "--gzip") as served:
        yield served


@pytest.mark.parametrize("topic", ["triples", "quads", "graphs", "text"])
@pytest.mark.parametrize("preset", ["SMALL_STRICT", "SMALL_ALL_FEATURES", "BIG_STRICT", None])
@pytest.mark.parametrize("physical", [1, 2, 3])
def test_a_java_client_subscribes(live, jvm, served, tmp_path, topic, preset, physical):
    requested_options = "-" if preset is None else f"{preset}/{physical}"
    out = tmp_path / "out.jelly"
    status, text = live.ask("subscribe", served.port, topic, requested_options, out, -1, 0)
    if preset is not None and physical == 1 and topic != "triples":
        assert (status, "does not allow graph names" in text) == ("FAILED_PRECONDITION", True)
        assert all_isomorphic(decode(out.read_bytes()), QUADS[:60])
        return
    expected = TRIPLES if topic == "triples" else QUADS
    assert (status, text) == ("OK", str(len(expected)))
    data = out.read_bytes()
    assert all_isomorphic(decode(data), expected)
    assert all_isomorphic(jvm.messages(data, "jelly"), expected)
    response = read_frames(data)[0].rows[0].options
    if preset is not None:
        assert response.physical_type == physical
        assert response.max_name_table_size <= (128 if "SMALL" in preset else 4000)
        assert response.max_prefix_table_size <= (16 if "SMALL" in preset else 150)
        assert response.max_datatype_table_size <= (16 if "SMALL" in preset else 32)
        assert response.version <= 2
        if "STRICT" in preset:
            assert not response.rdf_star
            assert not response.generalized_statements


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"stream_name": "mine", "max_name_table_size": 64}, "OK"),
        ({"physical_type": 3}, "OK"),
        ({"generalized_statements": False}, "OK"),
        ({"rdf_star": False}, "OK"),
        ({"max_name_table_size": 8}, "OK"),
        ({"max_prefix_table_size": 0}, "OK"),
        ({"max_datatype_table_size": 0}, "FAILED_PRECONDITION"),
        ({"logical_type": 4, "max_name_table_size": 64}, "OK"),
        ({"version": 1}, "OK"),
        ({"max_name_table_size": 100_000, "physical_type": 3}, "OK"),
        ({"max_name_table_size": 7}, "INVALID_ARGUMENT"),
        ({"version": 3}, "INVALID_ARGUMENT"),
        ({"physical_type": 1, "logical_type": 4}, "INVALID_ARGUMENT"),
    ],
)
def test_responses_respect_the_requested_options(live, served, tmp_path, fields, status):
    requested_options = options(**fields)
    out = tmp_path / "out.jelly"
    request = requested_options.SerializeToString().hex()
    assert live.ask("subscribe", served.port, "quads", request, out, -1, 0)[0] == status
    if status != "OK":
        return
    assert all_isomorphic(decode(out.read_bytes()), QUADS)
    response = read_frames(out.read_bytes())[0].rows[0].options
    assert response.physical_type == (requested_options.physical_type or 2)
    assert response.generalized_statements <= requested_options.generalized_statements
    assert response.rdf_star <= requested_options.rdf_star
    assert response.max_name_table_size <= min(requested_options.max_name_table_size, 4096)
    assert response.max_prefix_table_size <= requested_options.max_prefix_table_size
    assert response.max_datatype_table_size <= requested_options.max_datatype_table_size
    assert response.version <= (requested_options.version or 2)
    assert response.stream_name in ("", requested_options.stream_name)


def test_a_java_client_lists_the_services_by_reflection(live, served):
    status, names = live.ask("services", served.port)
    assert status == "OK"
    assert "eu.ostrzyciel.jelly.core.proto.v1.RdfStreamService" in names.split()


def test_a_slow_java_client_receives_everything(live, served, tmp_path):
    out = tmp_path / "out.jelly"
    assert live.ask("subscribe", served.port, "many", "SMALL_STRICT/2", out, 300, 10)[0] == "OK"
    assert numbers(decode(out.read_bytes())) == list(range(300))


@pytest.mark.parametrize("physical", ["triples", "quads", "graphs"])
def test_a_java_client_reads_encoded_and_then_stored_frames(live, jvm, tmp_path, physical):
    """The server switches to stored frames at a restart frame, which repeats the options."""
    (tmp_path / "logs").mkdir()
    path, out = tmp_path / "logs/a.jelly", tmp_path / "out.jelly"
    graph = None if physical == "triples" else GRAPH
    write(path, [message(0, graph)], physical_type=physical)
    answers = []
    with (
        serve(tmp_path / "logs", "--from-end") as served,
        rdfm.create_log(path, append=True, sync=True, restart_bytes=1500) as log,
    ):
        live.begin("subscribe", served.port, "a", "-", out, 300, 0)
        thread = threading.Thread(target=lambda: answers.append(live.answer()))
        thread.start()
        number = 0
        while thread.is_alive() and number < 20_000:
            number += 1
            log.write_batch(as_batch([message(number, graph)]))
            thread.join(0.001)
        thread.join(20)
    assert answers == [("OK", "300")]
    data = out.read_bytes()
    found = numbers(decode(data))
    assert found == list(range(found[0], found[0] + 300))
    assert numbers(jvm.messages(data, "jelly")) == found
    frames = read_frames(data)
    restarts = [n for n in range(300) if "rdfm.restart" in frames[n].metadata]
    assert restarts
    assert (
        frames[restarts[0] :]
        == read_frames(path.read_bytes())[found[restarts[0]] :][: 300 - restarts[0]]
    )


@pytest.mark.parametrize("physical", [1, 2, 3])
@pytest.mark.parametrize("compression", ["-", "gzip"])
def test_a_java_client_publishes(live, served, folder, tmp_path, jvm, physical, compression):
    messages = TRIPLES if physical == 1 else QUADS
    lines = "".join(f"--- message\n{text}" for text in map(as_text, messages))
    data = jvm.convert(
        lines.encode(), "messages", "jelly", PHYSICAL_TYPES[physical].upper(), "all", 64, 16, 16
    )
    path = tmp_path / "in.jelly"
    path.write_bytes(data)
    topic = f"java{physical}{compression}"
    answer = live.ask("publish", served.port, topic, path, TOKEN, compression)
    assert answer == ("OK", str(len(messages)))
    assert all_isomorphic(messages_in(folder / f"{topic}.jelly"), messages)


def as_text(quads):
    return rdfm.formats.find("nq").encode(as_batch([quads])).decode()


def test_a_java_client_with_a_wrong_token_is_rejected(live, served, folder):
    answer = live.ask("publish", served.port, "quads", folder / "quads.jelly", "wrong", "-")
    assert answer[0] == "UNAUTHENTICATED"


def test_a_java_client_of_a_killed_server_has_only_complete_messages(live, tmp_path):
    write(tmp_path / "a.jelly", [message(n) for n in range(200)])
    out = tmp_path / "out"
    with serve(tmp_path) as served:
        live.begin("subscribe", served.port, "a", "SMALL_STRICT/2", out, 100_000, 1)
        time.sleep(1)
        served.process.kill()
        status, _ = live.answer()
    assert status == "UNAVAILABLE"
    found = numbers(decode(out.read_bytes()))
    assert found == list(range(len(found)))


@pytest.mark.parametrize(
    ("name", "messages"), [("triples", TRIPLES), ("quads", QUADS), ("graphs", QUADS)]
)
def test_rdfm_subscribes_to_a_java_server(live, folder, tmp_path, name, messages):
    status, port = live.ask("serve", folder / f"{name}.jelly", tmp_path)
    assert status == "OK"
    assert all_isomorphic(messages_in(f"grpc://localhost:{port}/any"), messages)
    with pytest.raises(OSError, match="no topic none"):
        messages_in(f"grpc://localhost:{port}/none")


@pytest.mark.parametrize("compression", [None, "gzip"])
def test_rdfm_publishes_to_a_java_server(live, folder, tmp_path, compression):
    _, port = live.ask("serve", folder / "quads.jelly", tmp_path)
    settings = {} if compression is None else {"compression": compression}
    rdfm.convert(folder / "quads.jelly", f"grpc://localhost:{port}/topic", **settings)
    data = (tmp_path / "0").read_bytes()
    assert all_isomorphic(decode(data), QUADS)
    assert read_frames(data)[0].rows[0].options.stream_name == "topic"


def test_a_killed_java_server_ends_a_publication_with_an_error(live, folder, tmp_path):
    _, port = live.ask("serve", folder / "quads.jelly", tmp_path)
    with (
        pytest.raises(OSError, match=r"lost|refused"),
        rdfm.create_log(f"grpc://localhost:{port}/topic") as log,
    ):
        log.write_batch(as_batch(QUADS))
        live.process.kill()
        live.process.wait(20)
        log.write_batch(as_batch(QUADS))
