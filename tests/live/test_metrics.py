"""The metrics of `rdfm serve`."""

import asyncio
import re
import time
import urllib.request
from pathlib import Path

import grpc
import pytest
from jelly_grpc import Client, frames_of, message, serve
from live_logs import write

from rdfm.errors import OptionError
from rdfm.live import metrics as module
from rdfm.live.addresses import Address
from rdfm.live.metrics import METRICS, Metrics, MetricsServer

LINE = r'[a-z_]+(\{[a-z]+="[A-Za-z_]+"(,[a-z]+="[A-Za-z_]+")*\})? -?[0-9.e+]+'


def values(text):
    """Returns the values by name and labels, and checks the form of every line."""
    found = {}
    for line in text.splitlines():
        if not line.startswith("# "):
            assert re.fullmatch(LINE, line), line
            name, _, value = line.rpartition(" ")
            found[name] = float(value)
    return found


def test_every_metric_has_a_description_and_a_type():
    text = Metrics().render()
    for metric in METRICS.values():
        assert f"# HELP {metric.name} {metric.help}\n# TYPE {metric.name} {metric.kind}\n" in text
        assert (metric.kind == "counter") == metric.name.endswith("_total")


def test_every_metric_is_documented():
    page = Path(__file__).parents[2] / "docs/service.md"
    names = re.findall(r"`((?:rdfm|process)_\w+)(?:\{[\w,]+\})?`", page.read_text())
    assert set(names) - {"rdfm_calls_total"} == set(METRICS) - {"rdfm_calls_total"}


def exchange(*requests):
    """Sends bytes to a server, each over a connection, and returns the responses."""

    async def main():
        server = MetricsServer(Metrics(), Address("127.0.0.1", 0))
        await server.start()
        connections = [await asyncio.open_connection(*server.address) for _ in requests]
        responses = []
        for request, (_, writer) in zip(requests, connections, strict=True):
            writer.write(request)
        for reader, writer in connections:
            try:
                responses.append(await reader.read())
            except ConnectionError:
                responses.append(b"")
            writer.close()
        server.close()
        return responses

    return asyncio.run(asyncio.wait_for(main(), 20))


@pytest.mark.parametrize(
    ("request_line", "status"),
    [
        ("GET /metrics HTTP/1.1", 200),
        ("GET /metrics?x=1 HTTP/1.0", 200),
        ("HEAD /metrics HTTP/1.1", 200),
        ("POST /metrics HTTP/1.1", 405),
        ("GET / HTTP/1.1", 404),
        ("GET /metrics", 400),
        ("\x16\x03\x01", 400),
        (f"GET /{'x' * 70_000} HTTP/1.1", 431),
    ],
)
def test_responses(request_line, status):
    (response,) = exchange(f"{request_line}\r\nHost: x\r\n\r\n".encode("latin-1"))
    if status == 431 and not response:  # the connection was reset before the client read it
        return
    head, _, body = response.partition(b"\r\n\r\n")
    assert head.startswith(f"HTTP/1.1 {status} ".encode())
    length = int(re.search(rb"Content-Length: (\d+)", head)[1])
    assert len(body) == (0 if request_line.startswith("HEAD") else length)
    if request_line.startswith("GET") and status == 200:
        values(body.decode())


def test_incomplete_requests_end(monkeypatch):
    monkeypatch.setattr(module, "REQUEST_SECONDS", 0.2)
    assert exchange(b"GET /metrics HTTP/1.1\r\n", b"") == [b"", b""]


def test_connections_are_limited(monkeypatch):
    monkeypatch.setattr(module, "REQUEST_SECONDS", 1)
    complete = b"GET /metrics HTTP/1.1\r\n\r\n"
    responses = exchange(*[b"GET"] * module.MAX_CONNECTIONS, complete)
    assert not any(responses)
    assert all(exchange(*[complete] * module.MAX_CONNECTIONS))


def test_an_address_in_use_is_rejected():
    async def main():
        first = MetricsServer(Metrics(), Address("127.0.0.1", 0))
        await first.start()
        with pytest.raises(OptionError, match="the port is in use"):
            await MetricsServer(Metrics(), first.address).start()
        first.close()

    asyncio.run(main())


@pytest.mark.slow
def test_metrics_count_calls_frames_and_messages(tmp_path):
    write(tmp_path / "a.jelly", [message(n) for n in range(3)])
    with serve(tmp_path, "--metrics", "0") as served:
        (line,) = served.wait_for("metrics=")
        url = re.search(r"metrics=(\S+)", line)[1]

        def read():
            with urllib.request.urlopen(url, timeout=20) as response:
                assert response.headers["Content-Type"].startswith("text/plain; version=0.0.4")
                return values(response.read().decode())

        client = Client(served.port)
        assert len(client.messages("a")[0]) == 3
        frames = frames_of([message(3), message(4)], "a")
        client.publish(frames)
        for metadata in ((), (("authorization", "Bearer x"),)):
            with pytest.raises(grpc.RpcError):
                client.publish(frames, metadata)
        with pytest.raises(grpc.RpcError):
            client.messages("none")
        call = client.subscribe("a")
        next(call)
        served.wait_for(" subscription ", 2)
        deadline = time.monotonic() + 20
        while (found := read())["rdfm_sent_frames_total"] < 4:
            assert time.monotonic() < deadline
        assert found['rdfm_calls_open{call="subscription"}'] == 1
        assert found['rdfm_calls_total{call="subscription",status="OK"}'] == 1
        assert found['rdfm_calls_total{call="subscription",status="NOT_FOUND"}'] == 1
        assert found['rdfm_calls_total{call="publication",status="OK"}'] == 1
        assert found['rdfm_calls_total{call="publication",status="UNAUTHENTICATED"}'] == 2
        assert found["rdfm_wrong_tokens_total"] == 2
        assert found["rdfm_received_frames_total"] == 2
        assert found["rdfm_received_bytes_total"] == sum(frame.ByteSize() for frame in frames)
        assert found["rdfm_appended_messages_total"] == 2
        assert found["rdfm_log_lines_dropped_total"] == 0
        call.cancel()
        served.wait_for("subscription-end.*CANCELLED")
        assert read()['rdfm_calls_open{call="subscription"}'] == 0
        client.close()
