"""Limits of `rdfm serve` that apply before a request is received."""

import contextlib
import socket
import time

import grpc
import pytest
from http2 import connected
from jelly_grpc import (
    ONCE,
    PROTO,
    SERVICE,
    TOKEN,
    Client,
    frames_of,
    message,
    numbers,
    serve,
)
from live_logs import memory, messages_in, write

pytestmark = pytest.mark.slow

MIB = 1 << 20
SUBSCRIBE = f"/{SERVICE}/SubscribeRdf"
PUBLISH = f"/{SERVICE}/PublishRdf"
OTHERS = [
    "/grpc.health.v1.Health/Check",
    "/grpc.health.v1.Health/Watch",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
    "/grpc.Unknown/Method",
]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "logs").mkdir()
    write(tmp_path / "logs/a.jelly", [message(0)])
    return tmp_path / "logs"


def growth(served, method, token=None, calls=20, size=60 * MIB):
    """Sends incomplete messages to a method, and returns the increase in resident memory."""
    with connected(served.port) as connection:
        connection.listen(0.3)
        before = memory(served.process)
        numbers = [connection.open_call(method, token) for _ in range(calls)]
        connection.send_messages(numbers, size, seconds=4)
        return memory(served.process) - before


@pytest.mark.parametrize("method", [SUBSCRIBE, PUBLISH, *OTHERS])
def test_large_requests_are_not_buffered_if_nobody_may_publish(folder, method):
    with serve(folder, publish=False) as served:
        assert growth(served, method) < 30 * MIB


@pytest.mark.parametrize("method", [SUBSCRIBE, *OTHERS])
def test_one_request_per_connection_is_buffered(folder, method):
    """A server that accepts publications has to accept large messages."""
    with serve(folder) as served:
        assert growth(served, method) < 100 * MIB
        client = Client(served.port)
        assert numbers(client.messages("a")[0]) == [0]
        client.close()


@pytest.mark.parametrize("method", [SUBSCRIBE, PUBLISH])
@pytest.mark.parametrize("token", [None, "wrong"])
def test_the_token_is_checked_before_a_request_is_buffered(folder, tmp_path, method, token):
    (tmp_path / "token").write_text("read-token")
    with serve(folder, "--read-token-file", tmp_path / "token") as served:
        assert growth(served, method, token) < 30 * MIB


@pytest.mark.parametrize("method", [SUBSCRIBE, PUBLISH])
def test_the_number_of_calls_is_checked_before_a_request_is_buffered(folder, method):
    with serve(folder, "--max-streams", "1") as served:
        client = Client(served.port)
        call = client.subscribe("a")
        next(call)
        assert growth(served, method, TOKEN) < 30 * MIB
        call.cancel()
        client.close()


def test_frames_of_publishers_are_limited_before_they_are_buffered(folder):
    with serve(folder, "--max-client-bytes", "128M") as served:
        assert growth(served, PUBLISH, TOKEN) < 200 * MIB


def test_a_frame_above_the_limit_of_a_connection_is_not_buffered(folder):
    with serve(folder, "--max-client-bytes", "1M") as served:
        assert growth(served, PUBLISH, TOKEN) < 30 * MIB


def test_a_connection_has_a_limited_number_of_publications(folder):
    frames = frames_of([message(1)], "a")

    def open_publication(client):
        def endless():
            yield frames[0]
            time.sleep(3)

        return client.publish_future(endless())

    with serve(folder, "--max-client-bytes", "128M") as served:
        client, other = Client(served.port), Client(served.port)
        calls = [open_publication(client) for _ in range(2)]
        deadline = time.monotonic() + 20
        while len(messages_in(folder / "a.jelly")) < 3:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        with pytest.raises(grpc.RpcError) as failed:
            client.publish(frames)
        assert failed.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert "already has 2 publications" in failed.value.details()
        other.publish(frames)
        for call in calls:
            call.result(20)
        client.publish(frames)
        client.close()
        other.close()
    assert numbers(messages_in(folder / "a.jelly")) == [0, *[1] * 4]


@pytest.mark.parametrize("publish", [True, False])
def test_a_subscription_request_has_at_most_64_kib(folder, publish):
    fits, too_large = 64 << 10, (64 << 10) + 1
    with serve(folder, publish=publish) as served:
        client = Client(served.port)
        subscribe = client.channel.unary_stream(SUBSCRIBE)

        def request(size):
            # An unknown field fills the request.
            start = PROTO.RdfStreamSubscribe(topic="a").SerializeToString()
            data = start + b"\xfa\x01" + bytes([0x80 | (size - len(start) - 5) & 0x7F])
            length = size - len(start) - 5
            data += bytes([0x80 | (length >> 7) & 0x7F, length >> 14])
            return data.ljust(size, b"x")

        assert len(request(fits)) == fits
        assert list(subscribe(request(fits), metadata=ONCE))
        with pytest.raises(grpc.RpcError) as failed:
            list(subscribe(request(too_large), metadata=ONCE))
        assert failed.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        client.close()


def test_an_incomplete_request_delays_only_its_connection_and_ends(folder):
    with serve(folder) as served, connected(served.port) as connection:
        connection.listen(0.3)
        calls = [connection.open_call(SUBSCRIBE) for _ in range(20)]
        connection.send_messages(calls, MIB, seconds=1)
        client = Client(served.port)
        assert numbers(client.messages("a")[0]) == [0]
        connection.listen(13)
        assert not connection.windows
        client.close()


def test_connections_are_limited(folder):
    with serve(folder, "--max-streams", "1") as served, contextlib.ExitStack() as opened:
        accepted = 0
        for _ in range(150):
            connection = opened.enter_context(socket.create_connection(("127.0.0.1", served.port)))
            connection.settimeout(20)
            with contextlib.suppress(ConnectionError):
                accepted += bool(connection.recv(1))  # the settings of the server
        assert accepted == 101


def test_connections_without_a_handshake_end(folder):
    with (
        serve(folder) as served,
        socket.create_connection(("127.0.0.1", served.port)) as connection,
        contextlib.suppress(ConnectionError),
    ):
        connection.settimeout(15)
        while connection.recv(100):
            pass


def test_malformed_requests_of_health_checks_are_invalid(folder):
    with serve(folder) as served:
        client = Client(served.port)
        check = client.channel.unary_unary("/grpc.health.v1.Health/Check")
        for request, code in [
            (b"\xff", grpc.StatusCode.INVALID_ARGUMENT),
            (b"\x0a\x01x", grpc.StatusCode.NOT_FOUND),
            (bytes(MIB), grpc.StatusCode.RESOURCE_EXHAUSTED),
        ]:
            with pytest.raises(grpc.RpcError) as failed:
                check(request, timeout=20)
            assert failed.value.code() is code
        assert check(b"", timeout=20) == b"\x08\x01"  # SERVING
        client.close()
