"""Subscriptions to `rdfm serve`, with a client that shares no code with rdfm."""

import signal
import subprocess
import sys
import threading
import time

import grpc
import pytest
from jelly_grpc import FROM_END, ONCE, PROTO, Client, frames_of, message, numbers, options, serve
from jelly_proto import Reader, delimited, read_frames
from live_logs import GRAPH, append, memory, write
from nquads import isomorphic
from support import as_batch

import rdfm

pytestmark = pytest.mark.slow

MESSAGES = [
    message(0),
    message(1, GRAPH),
    [],
    [(("bnode", "b"), ("iri", "http://example.org/p"), ("bnode", "b"), None)],
    message(4),
]
TRIPLE_TERM = ("triple", ("iri", "http://e/s"), ("iri", "http://e/p"), ("literal", "o", None, None, "http://www.w3.org/2001/XMLSchema#string"))  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    for physical in ("triples", "quads", "graphs"):
        merged = {"merge_graphs": True} if physical == "triples" else {}
        write(folder / f"{physical}.jelly", MESSAGES, physical_type=physical, **merged)
    write(folder / "text.nq", MESSAGES)
    write(folder / "packed.nq.gz", MESSAGES)
    write(folder / "packed.jelly.gz", MESSAGES)
    write(folder / "plain.trig", MESSAGES)
    write(
        folder / "star.jelly",
        [message(0), message(1), [(*TRIPLE_TERM[1:3], TRIPLE_TERM, None)]],
        rdf_star=True,
    )
    write(folder / "many.jelly", [message(n) for n in range(3000)])
    frames = frames_of([[message(n)[0] for n in range(5)], message(5)], physical=1, logical=1)
    (folder / "flat.jelly").write_bytes(delimited(frames))
    (folder / "sub").mkdir()
    write(folder / "sub/a b.jelly", [message(7)])
    return folder


@pytest.fixture(scope="module")
def client(folder):
    with serve(folder, "--default-topic", "quads") as served:
        client = Client(served.port)
        yield client
        client.close()


def as_proto_frames(frames):
    """Returns the frames as instances of the `jelly_proto` classes."""
    return read_frames(delimited(frames))


def all_isomorphic(found, expected, merged=False):
    if merged:
        expected = [[(*quad[:3], None) for quad in quads] for quads in expected]
    assert len(found) == len(expected)
    return all(isomorphic(a, b) for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize("topic", ["quads", "graphs", "text", "packed", "plain", "quads.jelly", ""])
def test_a_topic_is_a_log_in_the_folder(client, topic):
    found, _ = client.messages(topic)
    assert all_isomorphic(found, MESSAGES)


def test_topics_in_subfolders_are_named_by_path(client):
    found, _ = client.messages("sub/a b")
    assert numbers(found) == [7]


def test_without_requested_options_the_frames_are_those_of_the_log(client, folder):
    frames = list(client.subscribe("quads", metadata=ONCE))
    assert as_proto_frames(frames) == read_frames((folder / "quads.jelly").read_bytes())


def test_empty_requested_options_do_not_change_the_frames(client, folder):
    frames = list(client.subscribe("quads", PROTO.RdfStreamOptions(), ONCE))
    assert as_proto_frames(frames) == read_frames((folder / "quads.jelly").read_bytes())


@pytest.mark.parametrize("stored", ["triples", "quads", "graphs"])
@pytest.mark.parametrize("physical", [1, 2, 3])
@pytest.mark.parametrize("tables", [(8, 0, 16), (128, 16, 16), (4096, 1024, 256)])
@pytest.mark.parametrize("version", [1, 2])
def test_each_physical_type_can_be_requested(client, stored, physical, tables, version):
    names, prefixes, datatypes = tables
    requested_options = options(
        physical_type=physical,
        max_name_table_size=names,
        max_prefix_table_size=prefixes,
        max_datatype_table_size=datatypes,
        rdf_star=False,
        generalized_statements=False,
        version=version,
    )
    expected = MESSAGES
    if physical == 1 and stored != "triples":
        with pytest.raises(grpc.RpcError) as failed:
            client.messages(stored, requested_options)
        assert failed.value.code() is grpc.StatusCode.FAILED_PRECONDITION
        return
    found, response = client.messages(stored, requested_options)
    assert all_isomorphic(found, expected, merged=stored == "triples")
    assert response.physical_type == physical
    assert response.max_name_table_size <= names
    assert response.max_prefix_table_size <= prefixes
    assert response.max_datatype_table_size <= datatypes
    assert response.version <= version
    assert not response.rdf_star
    assert not response.generalized_statements


@pytest.mark.parametrize(
    ("requested_options", "reason"),
    [
        (options(max_name_table_size=7), "max_name_table_size is 7; expected 8 or more"),
        (options(version=4), "version 4 is unknown"),
        (options(physical_type=9), "physical type 9 is unknown"),
        (options(physical_type=1, logical_type=2), "not possible with physical type TRIPLES"),
    ],
)
def test_impossible_options_are_rejected(client, requested_options, reason):
    with pytest.raises(grpc.RpcError) as failed:
        client.messages("quads", requested_options)
    assert failed.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert reason in failed.value.details()


@pytest.mark.parametrize(
    ("topic", "requested_options", "delivered", "reason"),
    [
        ("star", options(rdf_star=False), 2, "a triple term"),
        ("quads", options(physical_type=1), 1, "does not allow graph names"),
        ("quads", options(max_datatype_table_size=0), 0, "needs a datatype table"),
    ],
)
def test_data_that_the_options_do_not_allow_ends_the_stream_after_earlier_messages(
    client, topic, requested_options, delivered, reason
):
    call = client.subscribe(topic, requested_options, ONCE)
    reader, found = Reader(), []
    with pytest.raises(grpc.RpcError) as failed:
        for frame in call:
            found.append(reader.frame(frame))
    assert failed.value.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert reason in failed.value.details()
    assert len(found) == delivered


def test_a_flat_log_stays_flat(client):
    _, stored = client.messages("flat")
    found, encoded = client.messages("flat", options(physical_type=2, max_name_table_size=100))
    assert stored.logical_type == 1
    assert encoded.logical_type == 2
    assert [len(quads) for quads in found] == [5, 1]


@pytest.mark.parametrize(
    "topic",
    ["none", "../secret", "/etc/passwd", "sub", "sub/../quads", ".hidden", "a\0b", "x" * 5000],
)
def test_topics_outside_the_folder_do_not_exist(client, folder, topic):
    write(folder.parent / "secret.jelly", [message(1)])
    with pytest.raises(grpc.RpcError) as failed:
        client.messages(topic)
    assert failed.value.code() is grpc.StatusCode.NOT_FOUND


def test_links_out_of_the_folder_are_not_followed(client, folder, tmp_path):
    write(tmp_path / "outside.jelly", [message(1)])
    (folder / "link.jelly").symlink_to(tmp_path / "outside.jelly")
    (folder / "links").symlink_to(tmp_path)
    (folder / "inside.jelly").symlink_to(folder / "quads.jelly")
    for topic in ("link", "links/outside"):
        with pytest.raises(grpc.RpcError) as failed:
            client.messages(topic)
        assert failed.value.code() is grpc.StatusCode.NOT_FOUND
    assert len(client.messages("inside")[0]) == len(MESSAGES)


@pytest.mark.parametrize("suffix", [".jelly", ".nq", ".jelly.gz", ".trig"])
@pytest.mark.parametrize("requested_options", [None, options(max_name_table_size=64)])
def test_a_subscription_follows_its_log(client, folder, suffix, requested_options):
    name = f"grows{suffix}{requested_options is None}"
    path = folder / f"{name}{suffix}"
    write(path, [message(0)])
    reader, found = Reader(), []
    call = client.subscribe(name, requested_options)
    for expected in range(1, 4):
        for frame in call:
            found.append(reader.frame(frame))
            if len(found) == expected:
                break
        append(path, message(expected))
    found.append(reader.frame(next(call)))
    assert numbers(found) == [0, 1, 2, 3]
    call.cancel()


def test_messages_appended_by_another_process_are_sent(client, folder):
    write(folder / "other.jelly", [message(0)])
    code = (
        "import rdfm, sys\n"
        "with rdfm.create_log(sys.argv[1], append=True, sync=True) as log:\n"
        "    for n in range(1, 200):\n"
        "        log.write([rdfm.Quad(rdfm.Iri('http://e/s'), rdfm.Iri('http://e/p'),"
        " rdfm.Literal(str(n)))])\n"
        "        log.flush()\n"
    )
    call = client.subscribe("other")
    reader = Reader()
    found = [reader.frame(next(call))]
    process = subprocess.Popen([sys.executable, "-c", code, str(folder / "other.jelly")])
    found += [reader.frame(next(call)) for _ in range(1, 200)]
    assert process.wait() == 0
    assert numbers(found) == list(range(200))
    call.cancel()


@pytest.mark.parametrize("requested_options", [None, options(max_name_table_size=64)])
def test_a_client_can_request_only_new_messages(client, folder, requested_options):
    name = f"new{requested_options is None}"
    write(folder / f"{name}.jelly", [message(n) for n in range(1000)])
    calls = [client.subscribe(name, requested_options, FROM_END) for _ in range(3)]
    for call in calls:
        call.initial_metadata()
    append(folder / f"{name}.jelly", message(1000))
    readers = [Reader() for _ in calls]
    for call, reader in zip(calls, readers, strict=True):
        assert numbers([reader.frame(next(call))]) == [1000]
    append(folder / f"{name}.jelly", message(1001))
    for call, reader in zip(calls, readers, strict=True):
        assert numbers([reader.frame(next(call))]) == [1001]
        call.cancel()


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("physical", ["triples", "quads", "graphs"])
def test_new_messages_are_sent_as_stored_after_the_next_restart_frame(
    client, folder, physical, closed
):
    """If the log was closed, the next message begins with a restart frame."""
    name = f"restarts-{physical}-{closed}"
    path = folder / f"{name}.jelly"
    settings = {"physical_type": physical, "restart_bytes": 2000, "stream_name": "own"}
    settings |= {"logical_type": "graphs" if physical == "triples" else "datasets"}
    graph = None if physical == "triples" else GRAPH
    write(path, [message(n, graph) for n in range(10)], **settings)
    log = rdfm.create_log(path, append=True, sync=True, restart_bytes=2000)
    log.write_batch(as_batch([message(n, graph) for n in range(10, 110)]))
    log.flush()
    if closed:
        log.close()
        log = rdfm.create_log(path, append=True, sync=True, restart_bytes=2000)
    size = path.stat().st_size
    calls = [client.subscribe(name, None, FROM_END) for _ in range(2)]
    calls.append(client.subscribe(name, options(stream_name="mine"), FROM_END))
    for call in calls:
        call.initial_metadata()
    for n in range(110, 400):
        log.write_batch(as_batch([message(n, graph)]))
        log.flush()
        time.sleep(0.002 if n % 10 == 0 else 0)
    log.close()
    expected = read_frames(path.read_bytes()[size:])
    for call in calls:
        frames = [next(call) for _ in range(290)]
        call.cancel()
        assert numbers(map(Reader().frame, frames)) == list(range(110, 400))
        first = next(n for n in range(290) if expected[n].rows[0].WhichOneof("row") == "options")
        assert (first == 0) == closed
        assert as_proto_frames(frames)[first:] == expected[first:]
        assert frames[0].rows[0].options.stream_name == "own"


def test_messages_of_a_log_without_restart_frames_are_reencoded(client, folder):
    path = folder / "unmarked.jelly"
    write(path, [message(n) for n in range(10)], restart_bytes=0)
    call = client.subscribe("unmarked", None, FROM_END)
    call.initial_metadata()
    append(path, message(10), message(11), restart_bytes=0)
    assert numbers(map(Reader().frame, [next(call), next(call)])) == [10, 11]
    call.cancel()


@pytest.mark.parametrize("requested_options", [None, options(max_name_table_size=64)])
def test_from_end_limits_subscriptions_to_new_messages_by_default(tmp_path, requested_options):
    write(tmp_path / "a.jelly", [message(0)])
    with serve(tmp_path, "--from-end") as served:
        client = Client(served.port)
        subscription = client.subscribe("a", requested_options)
        subscription.initial_metadata()
        assert client.messages("a", requested_options)[0] == []
        first = client.messages("a", requested_options, (*ONCE, ("rdfm-start", "first")))
        assert numbers(first[0]) == [0]
        append(tmp_path / "a.jelly", message(1))
        assert numbers([Reader().frame(next(subscription))]) == [1]
        subscription.cancel()
        client.close()


@pytest.mark.parametrize("suffix", [".jelly", ".nq"])
@pytest.mark.parametrize("metadata", [(), FROM_END])
@pytest.mark.parametrize("requested_options", [None, options(max_name_table_size=64)])
def test_an_empty_log_is_followed(client, folder, suffix, metadata, requested_options):
    name = f"empty{suffix}{len(metadata)}{requested_options is None}"
    (folder / f"{name}{suffix}").write_bytes(b"")
    call = client.subscribe(name, requested_options, metadata)
    call.initial_metadata()
    with (folder / f"{name}{suffix}").open("ab") as log:
        write(folder / "source.nq", [message(5)])
        rdfm.convert(folder / "source.nq", log, to=suffix[1:])
    assert numbers([Reader().frame(next(call))]) == [5]
    call.cancel()


def test_a_late_subscriber_receives_everything(client, folder):
    write(folder / "late.jelly", [message(0)])
    requested_options = options(physical_type=3, max_name_table_size=32)
    readers = [Reader() for _ in range(3)]
    calls, found = [], [[], [], []]
    for number in range(3):
        calls.append(client.subscribe("late", requested_options))
        append(folder / "late.jelly", message(number + 1))
        for call, reader, received in zip(calls, readers, found, strict=False):
            while len(received) < number + 2:
                received.append(reader.frame(next(call)))
    append(folder / "late.jelly", message(4))
    for call, reader, received in zip(calls, readers, found, strict=True):
        received.append(reader.frame(next(call)))
        assert numbers(received) == [0, 1, 2, 3, 4]
        call.cancel()


@pytest.mark.parametrize("requested_options", [None, options(max_name_table_size=64)])
def test_a_log_that_is_replaced_ends_the_subscription(client, folder, requested_options):
    name = f"replaced{requested_options is None}"
    write(folder / f"{name}.jelly", [message(0)])
    call = client.subscribe(name, requested_options)
    next(call)
    write(folder / f"{name}.jelly", [message(1)])
    with pytest.raises(grpc.RpcError) as failed:
        next(call)
    assert failed.value.code() is grpc.StatusCode.ABORTED


@pytest.mark.parametrize("requested_options", [None, options(max_name_table_size=64)])
def test_a_log_that_ends_inside_a_frame_is_an_error(client, folder, requested_options):
    data = (folder / "many.jelly").read_bytes()
    (folder / "cut.jelly").write_bytes(data[:-3])
    reader, found = Reader(), []
    with pytest.raises(grpc.RpcError) as failed:
        for frame in client.subscribe("cut", requested_options, ONCE):
            found.append(reader.frame(frame))
    assert failed.value.code() is grpc.StatusCode.DATA_LOSS
    assert "inside a frame" in failed.value.details()
    assert str(folder) not in failed.value.details()
    assert numbers(found) == list(range(2999))


def test_uncommitted_messages_are_not_sent(client, folder):
    write(folder / "open.jelly", [message(0)])
    call = client.subscribe("open", timeout=2)
    next(call)
    log = rdfm.create_log(folder / "open.jelly", append=True)
    log.write_batch(as_batch([message(1)]))  # written, not committed
    with pytest.raises(grpc.RpcError) as failed:
        next(call)
    assert failed.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    log.discard()
    assert numbers(client.messages("open")[0]) == [0]


@pytest.mark.parametrize("requested_options", [None, options(max_name_table_size=64)])
def test_a_slow_subscriber_receives_everything_and_does_not_delay_others(
    tmp_path, requested_options
):
    count, padding = 3000, "x" * 20_000
    quads = [[(*message(n)[0][:3], ("iri", f"http://e/{n}{padding}"))] for n in range(count)]
    write(tmp_path / "big.jelly", quads, name_table=8, physical_type="graphs")
    del quads
    with serve(tmp_path, "--no-follow") as served:
        slow_client, client = Client(served.port), Client(served.port)
        slow = slow_client.subscribe("big", requested_options, timeout=120)
        reader = Reader()
        received = [reader.frame(next(slow))]
        before = memory(served.process)
        for _ in range(3):
            assert len(client.messages("big", requested_options)[0]) == count
        assert memory(served.process) - before < 30 << 20
        received += [reader.frame(frame) for frame in slow]
        assert numbers(received) == list(range(count))


@pytest.mark.parametrize("kind", [signal.SIGTERM, signal.SIGINT])
def test_the_server_shuts_down_gracefully(tmp_path, kind):
    write(tmp_path / "a.jelly", [message(0)])
    with serve(tmp_path) as served:
        client = Client(served.port)
        calls = [client.subscribe("a"), client.subscribe("a", options(max_name_table_size=64))]
        for call in calls:
            next(call)
        start = time.monotonic()
        assert served.stop(kind) == 0
        assert time.monotonic() - start < 5
        for call in calls:
            with pytest.raises(grpc.RpcError) as failed:
                next(call)
            assert failed.value.code() is grpc.StatusCode.UNAVAILABLE
            assert "shutting down" in failed.value.details()


def test_named_topics_replace_the_folder(tmp_path):
    write(tmp_path / "a.jelly", [message(3)])
    with serve("--topic", f"x/y={tmp_path / 'a.jelly'}", "--default-topic", "x/y") as served:
        client = Client(served.port)
        assert numbers(client.messages("x/y")[0]) == numbers(client.messages("")[0]) == [3]
        with pytest.raises(grpc.RpcError):
            client.messages("a")


def test_responses_are_compressed_if_requested(tmp_path):
    write(tmp_path / "a.jelly", [message(n) for n in range(100)])
    with serve(tmp_path, "--gzip") as served:
        client = Client(served.port, compression=grpc.Compression.Gzip)
        call = client.subscribe("a", metadata=ONCE)
        reader = Reader()
        assert numbers([reader.frame(frame) for frame in call]) == list(range(100))


def test_the_health_and_reflection_services_are_available(client):
    from grpc_health.v1 import health_pb2, health_pb2_grpc
    from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
        ProtoReflectionDescriptorDatabase,
    )

    health = health_pb2_grpc.HealthStub(client.channel)
    service = "eu.ostrzyciel.jelly.core.proto.v1.RdfStreamService"
    for name in ("", service):
        answer = health.Check(health_pb2.HealthCheckRequest(service=name), timeout=10)
        assert answer.status == health_pb2.HealthCheckResponse.SERVING
    database = ProtoReflectionDescriptorDatabase(client.channel)
    assert service in database.get_services()
    file = database.FindFileContainingSymbol(service)
    assert [method.name for method in file.service[0].method] == ["SubscribeRdf", "PublishRdf"]
    assert database.FindFileByName("rdf.proto").package == "eu.ostrzyciel.jelly.core.proto.v1"


def test_the_number_of_streams_is_limited(tmp_path):
    write(tmp_path / "a.jelly", [message(0)])
    with serve(tmp_path, "--max-streams", "2") as served:
        client = Client(served.port)
        calls = [client.subscribe("a") for _ in range(2)]
        for call in calls:
            next(call)
        with pytest.raises(grpc.RpcError) as failed:
            next(client.subscribe("a"))
        assert failed.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        calls[0].cancel()
        deadline = time.monotonic() + 10
        while True:
            try:
                assert len(client.messages("a")[0]) == 1
                break
            except grpc.RpcError:
                assert time.monotonic() < deadline


def test_many_subscribers_are_served_at_once(client):
    results = [None] * 20
    kinds = [None, options(max_name_table_size=64), options(physical_type=3)]

    def read(index):
        results[index] = numbers(client.messages("many", kinds[index % 3])[0])

    threads = [threading.Thread(target=read, args=(index,)) for index in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert results == [list(range(3000))] * 20


@pytest.mark.parametrize("requested", [None, options(max_name_table_size=64)])
def test_paths_of_the_server_are_not_sent_to_clients(tmp_path, requested):
    write(tmp_path / "replaced.jelly", [message(0)])
    write(tmp_path / "truncated.jelly", [message(0), message(1)])
    (tmp_path / "truncated.jelly").write_bytes((tmp_path / "truncated.jelly").read_bytes()[:-3])
    (tmp_path / "invalid.jelly").write_bytes(b"\xff" * 100)
    (tmp_path / "invalid.nq").write_text("invalid\n")
    (tmp_path / "invalid.trig.gz").write_bytes(b"\x1f\x8b\x08broken")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/invalid.ttl").write_text("invalid")
    reasons = []
    with serve(tmp_path) as served:
        client = Client(served.port)
        for topic in (
            "truncated",
            "invalid.jelly",
            "invalid.nq",
            "invalid.trig.gz",
            "sub/invalid",
            "none",
        ):
            with pytest.raises(grpc.RpcError) as failed:
                client.messages(topic, requested)
            reasons.append(failed.value.details())
        call = client.subscribe("replaced", requested)
        next(call)
        write(tmp_path / "new.jelly", [message(0)])
        (tmp_path / "new.jelly").replace(tmp_path / "replaced.jelly")
        with pytest.raises(grpc.RpcError) as failed:
            next(call)
        reasons.append(failed.value.details())
        client.close()
    assert reasons[-1] == "replaced was replaced or removed"
    assert not [reason for reason in reasons if str(tmp_path.parent) in reason or "--" in reason]
