"""Connections to `rdfm serve`: pings, deadlines, compression, and memory per client."""

import asyncio
import contextlib
import io
import random
import re
import socket
import threading
import time
from pathlib import Path

import grpc
import pytest
from http2 import ACK, GOAWAY, PING, connected
from jelly_grpc import (
    FROM_END,
    LIMITS,
    ONCE,
    PROTO,
    Client,
    frames_of,
    message,
    numbers,
    options,
    serve,
)
from jelly_proto import Reader
from live_logs import append, memory, messages_in, write

import rdfm
from rdfm.live.addresses import Address
from rdfm.live.events import EventLog
from rdfm.live.grpc_server import GrpcSettings
from rdfm.live.server import Server, ServerSettings
from rdfm.live.topics import Topics

pytestmark = pytest.mark.slow

XSD_STRING = "http://www.w3.org/2001/XMLSchema#string"
MIB = 1 << 20


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "a.jelly", [message(n) for n in range(100)])
    return tmp_path


def large(number, size=MIB):
    """Returns a message with a string that cannot be compressed well."""
    text = random.Random(number).randbytes(size // 2).hex()
    return [
        *message(number),
        (*message(number)[0][:2], ("literal", text, None, None, XSD_STRING), None),
    ]


# --- pings ---


@contextlib.contextmanager
def frequent_pings(folder, milliseconds):
    """Runs a server in this process that pings at the given interval. Yields its port."""
    settings = ServerSettings(Address("127.0.0.1", 0), ping_milliseconds=milliseconds)
    log = EventLog(io.StringIO())
    server = Server(Topics(folder), settings, log)
    loop, stop, started = asyncio.new_event_loop(), asyncio.Event(), threading.Event()
    serving = server.run(stop, lambda _: started.set())
    thread = threading.Thread(target=loop.run_until_complete, args=(serving,))
    thread.start()
    try:
        assert started.wait(20)
        yield server.port
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(20)
        loop.close()
        log.close()


def test_the_default_ping_interval_is_ten_seconds():
    assert GrpcSettings(Address("127.0.0.1", 0)).ping_milliseconds == 10_000


def test_the_server_pings_idle_clients(folder):
    with frequent_pings(folder, 100) as port, connected(port) as connection:
        assert connection.listen(1.2)
        assert 5 <= connection.counts[PING, 0] <= 12


def test_a_client_that_does_not_answer_pings_is_disconnected(folder, monkeypatch):
    monkeypatch.setattr("rdfm.live.grpc_server.PING_TIMEOUT_MILLISECONDS", 200)
    with frequent_pings(folder, 100) as port, connected(port) as connection:
        monkeypatch.setattr(connection, "send", lambda *_: None)
        assert not connection.listen(5)


def test_clients_may_ping(folder):
    """By default, gRPC allows one ping every five minutes and tolerates two more."""
    with frequent_pings(folder, 100) as port, connected(port) as connection:
        for _ in range(7):
            connection.send(PING, payload=b"12345678")
            assert connection.listen(0.25)
        assert connection.counts[PING, ACK] >= 6
        assert (GOAWAY, 0) not in connection.counts


def test_clients_that_ping_too_often_are_disconnected(folder):
    with frequent_pings(folder, 10_000) as port, connected(port) as connection:
        for _ in range(12):
            with contextlib.suppress(ConnectionError):
                connection.send(PING, payload=b"12345678")
        assert not connection.listen(5)
        assert connection.counts[GOAWAY, 0] == 1


def test_a_grpc_client_that_pings_keeps_its_subscription(folder):
    """With default server settings, the third ping in five minutes would end the connection."""
    with frequent_pings(folder, 200) as port:
        ping_options = [
            ("grpc.keepalive_time_ms", 200),
            ("grpc.keepalive_permit_without_calls", 1),
            ("grpc.http2.max_pings_without_data", 0),
        ]
        client = Client(port, limits=[*LIMITS, *ping_options])
        call = client.subscribe("a", None, FROM_END)
        call.initial_metadata()
        time.sleep(2)
        append(folder / "a.jelly", message(100))
        assert numbers([Reader().frame(next(call))]) == [100]
        call.cancel()
        client.close()


def test_an_unexpected_error_is_not_described_to_clients(folder, monkeypatch):
    def fail(*_):
        raise RuntimeError("a secret")

    monkeypatch.setattr(Topics, "find", fail)
    with frequent_pings(folder, 10_000) as port:
        client = Client(port)
        with pytest.raises(grpc.RpcError) as failed:
            client.messages("a")
        client.close()
    assert failed.value.code() is grpc.StatusCode.INTERNAL
    assert failed.value.details() == "the server has an internal error; its log says more"


# --- deadlines ---


def open_files(process):
    return sum(1 for _ in Path(f"/proc/{process.pid}/fd").iterdir())


@pytest.mark.parametrize("reads", [True, False])
@pytest.mark.parametrize("requested_options", [None, options(max_name_table_size=64)])
def test_a_deadline_ends_a_subscription_and_releases_its_files(tmp_path, requested_options, reads):
    """The subscriber either waits for messages or does not read them."""
    write(tmp_path / "a.jelly", [large(n) for n in range(1 if reads else 30)])
    with serve(tmp_path, "--max-streams", "1") as served:
        client = Client(served.port)
        client.messages("a", requested_options)
        files_before = open_files(served.process)
        call = client.subscribe("a", requested_options, timeout=0.5)
        next(call)
        if not reads:
            time.sleep(1)
        with pytest.raises(grpc.RpcError) as failed:
            for _ in range(30):
                next(call)
        assert failed.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        deadline = time.monotonic() + 10
        while open_files(served.process) > files_before:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        # The server allows one call at a time, so the call above must have ended.
        assert len(client.messages("a", requested_options)[0]) == (1 if reads else 30)
        client.close()


def test_a_publication_whose_deadline_passes_keeps_its_messages(folder):
    with serve(folder) as served:
        client = Client(served.port)
        release = threading.Event()

        def frames():
            yield from frames_of([message(100), message(101)], "a")
            release.wait(20)

        with pytest.raises(grpc.RpcError) as failed:
            client.publish(frames(), timeout=0.5)
        release.set()
        assert failed.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        client.publish(frames_of([message(102)], "a"))
        client.close()
    assert numbers(messages_in(folder / "a.jelly")) == list(range(103))


# --- compression ---


class Meter:
    """Forwards connections to a port, and counts their bytes in both directions."""

    def __init__(self, port):
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self.sent = self.received = 0
        self._target_port = port
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                server = socket.create_connection(("127.0.0.1", self._target_port))
                for source, target, name in (
                    (client, server, "sent"),
                    (server, client, "received"),
                ):
                    threading.Thread(
                        target=self._forward, args=(source, target, name), daemon=True
                    ).start()

    def _forward(self, source, target, name):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                setattr(self, name, getattr(self, name) + len(data))
                target.sendall(data)
        target.close()

    def close(self):
        self._listening.close()


def repetitive(number):
    text = ("literal", f"{number} " * 5000, None, None, XSD_STRING)
    return [*message(number), (*message(number)[0][:2], text, None)]


@pytest.mark.parametrize("requested_options", [None, options(max_name_table_size=64)])
@pytest.mark.parametrize("accepts", [True, False])
@pytest.mark.parametrize("gzip_enabled", [True, False])
def test_responses_are_compressed_if_requested_and_accepted(
    tmp_path, gzip_enabled, accepts, requested_options
):
    write(tmp_path / "a.jelly", [repetitive(n) for n in range(50)])
    with serve(tmp_path, *(["--gzip"] if gzip_enabled else [])) as served:
        meter = Meter(served.port)
        # A bit set of the algorithms in `grpc-accept-encoding`; the first bit is identity.
        identity_only = [] if accepts else [("grpc.compression_enabled_algorithms_bitset", 1)]
        client = Client(meter.port, limits=[*LIMITS, *identity_only])
        assert numbers(client.messages("a", requested_options)[0]) == list(range(50))
        size = (tmp_path / "a.jelly").stat().st_size
        assert (meter.received < size / 5) == (gzip_enabled and accepts)
        client.close()
        meter.close()


@pytest.mark.parametrize("compressed", [True, False])
def test_requests_may_be_compressed(tmp_path, compressed):
    write(tmp_path / "a.jelly", [message(0)])
    messages = [repetitive(n) for n in range(1, 50)]
    with serve(tmp_path) as served:
        meter = Meter(served.port)
        client = Client(meter.port)
        kind = grpc.Compression.Gzip if compressed else grpc.Compression.NoCompression
        client.publish(frames_of(messages, "a"), compression=kind)
        size = sum(frame.ByteSize() for frame in frames_of(messages, "a"))
        assert (meter.sent < size / 5) == compressed
        client.close()
        meter.close()
    assert numbers(messages_in(tmp_path / "a.jelly")) == list(range(50))


# --- memory ---


def assert_full(error):
    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "more than 4194304 bytes, the limit of the server" in error.details()


@pytest.mark.parametrize("requested_options", [None, options(max_name_table_size=64)])
def test_buffered_frames_of_slow_subscribers_are_limited_per_connection(
    tmp_path, requested_options
):
    write(tmp_path / "a.jelly", [large(n) for n in range(20)])
    with serve(tmp_path, "--max-client-bytes", "4M") as served:
        client, other = Client(served.port), Client(served.port)
        assert len(other.messages("a", requested_options)[0]) == 20
        calls, rejected = [], 0
        for _ in range(90):
            call = client.subscribe("a", requested_options, ONCE)
            try:
                frames = [next(call), next(call)]
            except grpc.RpcError as error:
                assert_full(error)
                rejected += 1
            else:
                calls.append((call, frames))
        assert rejected
        assert len(other.messages("a", requested_options)[0]) == 20
        complete_count = 0
        for call, frames in calls:
            reader = Reader()
            found = numbers(map(reader.frame, frames))
            try:
                for frame in call:
                    found += numbers([reader.frame(frame)])
            except grpc.RpcError as error:
                assert_full(error)
            else:
                complete_count += len(found) == 20
            assert found == list(range(len(found)))
        # Each call that waits for the client keeps a frame of more than 1 MiB.
        assert 1 <= complete_count <= 3
        client.close()
        other.close()


def test_the_open_messages_of_a_connection_are_limited(folder):
    """A flat stream is one message; frames of other streams are kept until they are appended."""
    messages = [large(n) for n in range(100, 120)]
    with serve(folder, "--create-topics", "--max-client-bytes", "12M") as served:
        client = Client(served.port)
        client.publish(frames_of(messages, "a"))
        with pytest.raises(grpc.RpcError) as failed:
            client.publish(frames_of(messages, "flat", physical=1, logical=1))
        assert failed.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        # The server counts the received bytes and the decoded bytes.
        assert re.search("than 12582912 (decoded )?bytes", failed.value.details())
        client.publish(frames_of(messages[:5], "small", physical=1, logical=1))
        client.close()
    assert numbers(messages_in(folder / "a.jelly")) == [*range(100), *range(100, 120)]
    assert not (folder / "flat.jelly").exists()
    assert [len(quads) for quads in messages_in(folder / "small.jelly")] == [10]


def test_a_message_larger_than_64_mib_is_rejected(folder):
    messages = [large(n, 8 * MIB) for n in range(9)]
    with serve(folder, "--create-topics") as served:
        client = Client(served.port)
        with pytest.raises(grpc.RpcError) as failed:
            client.publish(frames_of(messages, "flat", physical=1, logical=1))
        assert failed.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        client.close()
    assert not (folder / "flat.jelly").exists()


def expanding(topic, count, prefix_bytes=128 << 10, logical=0):
    """Returns frames of about 9 kB, each of which decodes to about 60 MB: one long prefix."""
    first = PROTO.RdfStreamFrame()
    requested = {"physical_type": 2, "logical_type": logical, "version": 1, "stream_name": topic}
    first.rows.add().options.CopyFrom(options(**requested))
    first.rows.add().prefix.value = "http://example.org/" + "p" * prefix_bytes
    first.rows.add().name.value = "s"
    quad = first.rows.add().quad
    quad.s_iri.prefix_id = quad.s_iri.name_id = 1
    quad.p_iri.name_id = quad.o_iri.name_id = 1
    quad.g_default_graph.SetInParent()
    frames = [first]
    for number in range(count):
        frame = PROTO.RdfStreamFrame()
        for name in range(450):
            entry = frame.rows.add().name
            entry.id = 2 + (number * 450 + name) % 4000
            entry.value = f"{number * 450 + name:x}"
            quad = frame.rows.add().quad
            if not name:
                quad.s_iri.name_id = quad.p_iri.name_id = 1
                quad.g_default_graph.SetInParent()
            quad.o_iri.name_id = entry.id
        frames.append(frame)
    return frames


def highest_memory(process):
    """Returns the highest resident memory of a process so far, in bytes."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) * 1024


def test_frames_that_expand_are_appended_batch_by_batch(tmp_path):
    """All frames fit in the queue, so that the server could decode all of them at once."""
    frames = expanding("a", 40)
    assert sum(frame.ByteSize() for frame in frames) < MIB
    with serve(tmp_path, "--create-topics") as served:
        memory_before = memory(served.process)
        client = Client(served.port)
        client.publish(frames, timeout=120)
        assert highest_memory(served.process) - memory_before < 600 * MIB
        client.close()
    with rdfm.open_log(tmp_path / "a.jelly") as log:
        assert sum(len(batch) for batch in log.batches()) == 41


@pytest.mark.parametrize("logical", [0, 2])
def test_decoded_bytes_of_a_connection_are_limited(tmp_path, logical):
    frames = expanding("a", 3, logical=logical)
    with serve(tmp_path, "--create-topics", "--max-client-bytes", "4M") as served:
        memory_before = memory(served.process)
        client = Client(served.port)
        with pytest.raises(grpc.RpcError) as failed:
            client.publish(frames)
        assert failed.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert "larger than 4194304 decoded bytes" in failed.value.details()
        assert highest_memory(served.process) - memory_before < 100 * MIB
        client.close()
    counts = [] if logical else [1]  # a flat stream is one message
    path = tmp_path / "a.jelly"
    assert ([len(quads) for quads in messages_in(path)] if path.exists() else []) == counts
