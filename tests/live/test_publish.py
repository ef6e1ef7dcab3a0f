"""Publications to `rdfm serve`, with a client that shares no code with rdfm."""

import threading
import time

import grpc
import pytest
from jelly_grpc import ONCE, PROTO, Client, frames_of, message, numbers, options, serve
from jelly_proto import Reader, read_frames
from live_logs import GRAPH, messages_in, write
from nquads import isomorphic
from support import as_batch, encode

import rdfm

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    for name in ("a.jelly", "text.nq", "packed.trig.gz", "busy.jelly"):
        write(folder / name, [message(0)])
    write(folder / "triples.jelly", [message(0)], physical_type="triples")
    return folder


@pytest.fixture(scope="module")
def served(folder):
    with serve(folder, "--create-topics") as served:
        yield served


@pytest.fixture(scope="module")
def client(served):
    client = Client(served.port)
    yield client
    client.close()


def failure(client, frames, **settings):
    with pytest.raises(grpc.RpcError) as failed:
        client.publish(frames, **settings)
    return failed.value.code().name, failed.value.details()


@pytest.mark.parametrize("physical", [1, 2, 3])
def test_messages_are_appended_and_sent_to_subscribers(client, folder, physical):
    topic = f"new{physical}"
    messages = [message(1), [], message(3, GRAPH if physical > 1 else None)]
    client.publish(frames_of(messages, topic, physical))
    client.publish(frames_of(messages, topic, physical))
    expected = messages * 2
    found = messages_in(folder / f"{topic}.jelly")
    assert len(found) == len(expected)
    assert all(map(isomorphic, found, expected))
    assert all(map(isomorphic, client.messages(topic)[0], expected))


@pytest.mark.parametrize(("topic", "file"), [("text", "text.nq"), ("packed", "packed.trig.gz")])
def test_messages_are_appended_to_topics_in_other_formats(client, folder, topic, file):
    client.publish(frames_of([message(1, GRAPH), message(2)], topic))
    assert numbers(messages_in(folder / file)) == [0, 1, 2]


def test_subscribers_receive_messages_while_they_are_published(client):
    received = threading.Semaphore(0)

    def frames():
        for frame in frames_of([message(n) for n in range(1, 20)], "a"):
            yield frame
            received.acquire(timeout=20)

    subscriptions = [client.subscribe("a"), client.subscribe("a", options(max_name_table_size=9))]
    readers = [Reader(), Reader()]
    publication = client.publish_future(frames())
    for expected in range(20):
        for call, reader in zip(subscriptions, readers, strict=True):
            assert numbers([reader.frame(next(call))]) == [expected]
        received.release()
    publication.result(20)
    for call in subscriptions:
        call.cancel()


def test_an_empty_publication_is_invalid(client):
    assert failure(client, []) == (
        "INVALID_ARGUMENT",
        "the stream has no frames; expected at least one",
    )


def test_the_first_row_must_be_the_options(client):
    frame = PROTO.RdfStreamFrame()
    code, reason = failure(client, [frame])
    assert code == "INVALID_ARGUMENT"
    assert "must be the stream options" in reason


@pytest.mark.parametrize("topic", ["../out", "a/../b", ".hidden", "x\0y", "z" * 300])
def test_no_topic_is_created_outside_the_folder(client, folder, topic):
    before = sorted(folder.parent.rglob("*"))
    code, _ = failure(client, frames_of([message(1)], topic))
    assert code == "NOT_FOUND"
    assert sorted(folder.parent.rglob("*")) == before


@pytest.mark.parametrize("topic", ["a\x1b[2Jb", "a\nb", "a\x85b", "a\u202eb", "a\u2028b"])
def test_no_topic_with_control_characters_is_created(client, folder, topic):
    before = sorted(folder.rglob("*"))
    code, reason = failure(client, frames_of([message(1)], topic))
    assert code == "NOT_FOUND"
    assert "contains a control character" in reason
    assert reason.isprintable()
    assert sorted(folder.rglob("*")) == before


def test_logs_with_control_characters_in_their_names_are_served(client, folder):
    write(folder / "odd\tname.jelly", [message(0)])
    client.publish(frames_of([message(1)], "odd\tname"))
    assert numbers(client.messages("odd\tname")[0]) == [0, 1]


def test_an_invalid_frame_ends_the_publication_after_earlier_messages(client, folder):
    frames = frames_of([message(1), message(2), message(3)], "broken")
    frames[2].rows[-1].quad.p_iri.name_id = 99
    code, reason = failure(client, frames)
    assert code == "INVALID_ARGUMENT"
    assert "99" in reason
    assert numbers(messages_in(folder / "broken.jelly")) == [1, 2]


class RawFrame:
    """Bytes to send instead of a frame."""

    def __init__(self, data):
        self.data = data

    def SerializeToString(self):
        return self.data


@pytest.mark.parametrize("pause", [0, 0.3])
@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"\x0a\x05ab", "INVALID_ARGUMENT"),
        (b"\xff" * 20, "INVALID_ARGUMENT"),
        (b"\x0a\x04\x0a\x02\x10\x01", "INVALID_ARGUMENT"),  # other options
        (b"\x00" * ((64 << 20) + 1), "RESOURCE_EXHAUSTED"),
    ],
)
def test_messages_before_an_invalid_frame_are_not_lost(served, folder, data, code, pause):
    topic = f"later{len(data)}{pause}"
    client = Client(served.port, limits=[("grpc.max_send_message_length", -1)])

    def frames():
        yield from frames_of([message(n) for n in range(50)], topic)
        time.sleep(pause)
        yield RawFrame(data)
        yield frames_of([message(50)], topic)[0]

    assert failure(client, frames())[0] == code
    assert numbers(messages_in(folder / f"{topic}.jelly")) == list(range(50))
    client.close()


def test_a_flat_stream_with_a_frame_that_is_too_large_is_not_appended(served, folder):
    client = Client(served.port, limits=[("grpc.max_send_message_length", -1)])
    frames = frames_of([message(n) for n in range(5)], "cutflat", physical=1, logical=1)
    frames.append(RawFrame(b"\x00" * ((64 << 20) + 1)))
    assert failure(client, frames)[0] == "RESOURCE_EXHAUSTED"
    time.sleep(0.5)
    assert not (folder / "cutflat.jelly").exists()
    client.close()


def test_messages_are_not_lost_if_another_publication_is_invalid(client, folder):
    release = threading.Event()

    def frames():
        yield from frames_of([message(n) for n in range(10)], "both")
        release.wait(20)
        yield from frames_of([message(n) for n in range(10, 20)], "both")

    call = client.publish_future(frames())
    deadline = time.monotonic() + 20
    while not (folder / "both.jelly").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    invalid = frames_of([message(1000), message(1001, GRAPH)], "both", physical=2)
    invalid[1].rows[-1].quad.p_iri.name_id = 99
    assert failure(client, invalid)[0] == "INVALID_ARGUMENT"
    release.set()
    call.result(20)
    assert sorted(numbers(messages_in(folder / "both.jelly"))) == [*range(20), 1000]


@pytest.mark.parametrize(
    ("second", "code"),
    [(message(2, GRAPH), "FAILED_PRECONDITION"), (RawFrame(b"\xff"), "INVALID_ARGUMENT")],
)
def test_an_error_ends_a_publication_without_waiting_for_messages(client, folder, second, code):
    write(folder / f"idle{code}.jelly", [message(0)], physical_type="triples")
    release = threading.Event()

    def frames():
        if isinstance(second, RawFrame):
            yield from frames_of([message(1)], f"idle{code}")
            yield second
        else:
            yield from frames_of([message(1), second], f"idle{code}")
        release.wait(30)

    call = client.publish_future(frames())
    with pytest.raises(grpc.RpcError) as failed:
        call.result(10)
    release.set()
    assert failed.value.code().name == code
    assert numbers(messages_in(folder / f"idle{code}.jelly")) == [0, 1]


def test_a_message_that_the_log_cannot_represent_is_rejected(client, folder):
    code, reason = failure(client, frames_of([message(1), message(2, GRAPH)], "triples"))
    assert code == "FAILED_PRECONDITION"
    assert "graph names" in reason
    assert numbers(messages_in(folder / "triples.jelly")) == [0, 1]
    client.publish(frames_of([message(3)], "triples"))
    assert numbers(messages_in(folder / "triples.jelly")) == [0, 1, 3]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("max_name_table_size", 4097),
        ("max_prefix_table_size", 1025),
        ("max_datatype_table_size", 257),
        ("version", 99),
    ],
)
def test_options_beyond_the_limits_are_invalid(client, folder, field, value):
    frames = frames_of([message(1)], "limits")
    setattr(frames[0].rows[0].options, field, value)
    code, reason = failure(client, frames)
    assert code == "INVALID_ARGUMENT"
    assert str(value) in reason
    assert not (folder / "limits.jelly").exists()


def test_a_flat_stream_is_one_message(client, folder):
    rows = [[message(n)[0]] for n in range(5)]
    client.publish(frames_of(rows, "flat", physical=1, logical=1))
    assert [len(quads) for quads in messages_in(folder / "flat.jelly")] == [5]


@pytest.mark.parametrize("logical", [1, 3])
def test_an_aborted_publication_keeps_its_complete_messages(client, folder, logical):
    topic = f"aborted{logical}"
    release = threading.Event()
    frames = frames_of([message(n) for n in range(3)], topic, physical=1, logical=logical)

    def endless():
        yield from frames
        release.wait(20)
        yield frames[-1]

    call = client.publish_future(endless())
    deadline = time.monotonic() + 10
    path = folder / f"{topic}.jelly"
    while logical == 3 and not (path.exists() and len(messages_in(path)) == 3):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    time.sleep(0.2)
    call.cancel()
    release.set()
    time.sleep(0.5)
    assert numbers(messages_in(path)) == [0, 1, 2] if logical == 3 else not path.exists()
    client.publish(frames_of([message(3)], topic, physical=1, logical=3))
    assert numbers(messages_in(path)) == ([0, 1, 2, 3] if logical == 3 else [3])


def test_publications_to_a_log_in_use_are_rejected(client, folder):
    with rdfm.create_log(folder / "busy.jelly", append=True) as log:
        log.write_batch(as_batch([message(1)]))
        code, reason = failure(client, frames_of([message(2)], "busy"))
    assert code == "FAILED_PRECONDITION"
    assert reason.startswith("busy is in use by another process that appends to it")
    client.publish(frames_of([message(3)], "busy"))
    assert numbers(messages_in(folder / "busy.jelly")) == [0, 1, 3]


def test_compressed_publications_are_accepted(client, folder):
    client.publish(
        frames_of([message(n) for n in range(100)], "compressed"),
        compression=grpc.Compression.Gzip,
    )
    assert numbers(messages_in(folder / "compressed.jelly")) == list(range(100))


def test_unknown_topics_are_not_created_unless_requested(tmp_path):
    write(tmp_path / "a.jelly", [message(0)])
    with serve(tmp_path) as served:
        client = Client(served.port)
        code, reason = failure(client, frames_of([message(1)], "b"))
        assert (code, "there is no topic 'b'" in reason) == ("NOT_FOUND", True)
        client.publish(frames_of([message(1)], "a"))
    assert [path.name for path in tmp_path.iterdir()] == ["a.jelly"]


def test_no_topic_is_created_through_a_link_out_of_the_folder(client, folder, tmp_path):
    (folder / "linked").symlink_to(tmp_path)
    (folder / "dangling.jelly").symlink_to(tmp_path / "new.jelly")
    for topic in ("linked/new", "dangling"):
        assert failure(client, frames_of([message(1)], topic))[0] == "NOT_FOUND"
    assert not list(tmp_path.iterdir())


def test_the_empty_topic_is_the_default_topic(tmp_path):
    with serve(tmp_path, "--create-topics", "--default-topic", "main") as served:
        client = Client(served.port)
        client.publish(frames_of([message(1)], ""))
        client.publish(frames_of([message(2)], "main"))
        assert numbers(client.messages("")[0]) == [1, 2]
        client.close()
    assert numbers(messages_in(tmp_path / "main.jelly")) == [1, 2]


def test_without_a_default_topic_the_empty_topic_does_not_exist(client):
    code, reason = failure(client, frames_of([message(1)], ""))
    assert (code, "there is no default topic" in reason) == ("NOT_FOUND", True)


@pytest.mark.parametrize("delay", [0.0, 0.3])
def test_a_killed_server_keeps_committed_messages(tmp_path, delay):
    write(tmp_path / "a.jelly", [message(0)])
    with serve(tmp_path) as served:
        client = Client(served.port)

        def frames():
            for frame in frames_of([message(n) for n in range(1, 3000)], "a"):
                yield frame
                time.sleep(0.001)

        call = client.publish_future(frames())
        reader, received = Reader(), []
        for frame in client.subscribe("a"):
            received.append(reader.frame(frame))
            if len(received) == 20:
                break
        time.sleep(delay)
        served.process.kill()
        with pytest.raises(grpc.RpcError):
            call.result(20)
    found = numbers(messages_in(tmp_path / "a.jelly"))
    assert found == list(range(len(found)))
    assert len(found) >= 20
    with serve(tmp_path) as served:
        client = Client(served.port)
        client.publish(frames_of([message(9999)], "a"))
        assert numbers(client.messages("a")[0]) == [*found, 9999]


def test_a_stopped_server_ends_publications_and_keeps_their_messages(tmp_path):
    write(tmp_path / "a.jelly", [message(0)])
    with serve(tmp_path) as served:
        client = Client(served.port)
        release = threading.Event()

        def frames():
            yield from frames_of([message(1), message(2)], "a")
            release.wait(30)

        call = client.publish_future(frames())
        subscription = client.subscribe("a")
        for _ in range(3):
            next(subscription)
        assert served.stop() == 0
        with pytest.raises(grpc.RpcError):
            call.result(20)
        release.set()
    assert numbers(messages_in(tmp_path / "a.jelly")) == [0, 1, 2]
    assert [path.name for path in tmp_path.iterdir()] == ["a.jelly"]


def test_messages_of_many_publishers_are_not_lost_repeated_or_reordered(tmp_path):
    """100 subscribers and 10 publishers; each publisher numbers its messages."""
    publishers, subscribers, per_publisher = 10, 100, 60
    write(tmp_path / "a.jelly", [message(0)])
    kinds = [None, options(max_name_table_size=128), options(physical_type=3, version=1)]
    total = publishers * per_publisher + 1
    results = [None] * subscribers
    with serve(tmp_path) as served:
        clients = [Client(served.port) for _ in range(10)]

        def read(index):
            call = clients[index % 10].subscribe("a", kinds[index % 3], timeout=120)
            reader, received = Reader(), []
            for frame in call:
                received += numbers([reader.frame(frame)])
                if len(received) == total:
                    break
            call.cancel()
            results[index] = received

        def publish(index):
            messages = [message((index + 1) * 1000 + n) for n in range(per_publisher)]
            clients[index].publish(frames_of(messages, "a"), timeout=120)

        threads = [threading.Thread(target=read, args=(n,)) for n in range(subscribers)]
        threads += [threading.Thread(target=publish, args=(n,)) for n in range(publishers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
        order = numbers(Client(served.port).messages("a", metadata=ONCE)[0])
    assert sorted(order) == [
        0,
        *((p + 1) * 1000 + n for p in range(publishers) for n in range(per_publisher)),
    ]
    for index in range(publishers):
        subsequence = [number for number in order if number // 1000 == index + 1]
        assert subsequence == sorted(subsequence)
    assert results == [order] * subscribers


@pytest.mark.parametrize("flat", [False, True])
def test_publications_in_jelly_1_2_are_accepted_and_served_in_jelly_1_1(client, folder, flat):
    topic = f"columns-{flat}"
    messages = [message(1), [], message(3, GRAPH)]
    written = {"jelly_version": "1.2", "stream_name": topic, "frame_rows": 1, "flat": flat}
    client.publish(read_frames(encode("jelly", messages, **written)))
    expected = [[*messages[0], *messages[2]]] if flat else messages
    found, sent = client.messages(topic)
    assert sent.version == 2
    assert len(found) == len(expected)
    assert all(map(isomorphic, found, expected))


def test_logs_in_jelly_1_2_are_served_and_appended_to(client, folder):
    path = folder / "stored.jelly"
    write(path, [message(1), message(2)], jelly_version="1.2")
    for version in (0, 2, 3):
        found, sent = client.messages("stored", options(version=version))
        assert (numbers(found), sent.version) == ([1, 2], 2)
    client.publish(frames_of([message(3)], "stored"))
    assert numbers(messages_in(path)) == [1, 2, 3]
    with rdfm.open_log(path) as log:
        assert log.header["options"]["jelly_version"] == 3
