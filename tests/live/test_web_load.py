"""Many connections, followers and malformed requests at once.

`RDFM_LOAD` multiplies their numbers; `make soak` sets it to 10.
"""

import contextlib
import gc
import os
import random
import resource
import selectors
import signal
import socket
import struct
import sys
import threading
import time
from pathlib import Path

import pytest
from live_logs import memory, write
from nquads import XSD_STRING
from processes import wait_for
from uvicorn.protocols.http.h11_impl import H11Protocol
from web_serve import Process, serve_web

pytestmark = pytest.mark.slow

LOAD = int(os.environ.get("RDFM_LOAD", "1"))
MIB = 1 << 20
REQUEST = b"GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n"
FOLLOW = b"GET /a/events HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture
def served(tmp_path):
    (tmp_path / "logs").mkdir()
    write(tmp_path / "logs/a.jelly", [message(0)])
    with Process(tmp_path / "logs", "--http", 0) as run:
        run.log = tmp_path / "logs/a.jelly"
        reader = threading.Thread(target=lambda: list(run.process.stderr), daemon=True)
        reader.start()
        run.web.get("/a")  # so that everything is loaded
        yield run
        run.process.kill()
        reader.join(10)


def message(number, size=10):
    text = f"{number:06} " + "x" * size
    return [
        (
            ("iri", "http://e/s"),
            ("iri", "http://e/p"),
            ("literal", text, None, None, XSD_STRING),
            None,
        )
    ]


def open_files(process):
    return len(list(Path(f"/proc/{process.pid}/fd").iterdir()))


def status_of(served):
    return served.web.get("/a").status


# --- malformed requests ---


def malformed(generator):
    """Returns a request that is changed at random places, or random bytes."""
    if generator.random() < 0.1:
        return generator.randbytes(generator.randrange(2000))
    usual = generator.random() < 0.5  # the first line
    lines = [
        b"GET" if usual else generator.choice((b"HEAD", b"POST", b"get", b"G\0T", b"")),
        b" ",
        b"/a"
        if usual
        else generator.choice((b"/a/events?follow=false", b"/%", b"*", b"/\xff", b"")),
        b" ",
        b"HTTP/1.1" if usual else generator.choice((b"HTTP/1.0", b"HTTP/2.0", b"FTP", b"")),
        b"\r\n",
    ]
    for name, values in HEADERS.items():
        is_usual = name == b"Host" and generator.random() < 0.8
        for _ in range(1 if is_usual else generator.choice((0, 0, 0, 0, 1, 1, 2))):
            colon = generator.choice((b": ", b":")) if generator.random() < 0.9 else b" : "
            lines += (name, colon, generator.choice(values), b"\r\n")
    data = bytearray(b"".join(lines) + b"\r\n")
    for _ in range(generator.choice((0, 0, 1, 3))):
        place = generator.randrange(len(data))
        data[place : place + generator.randrange(3)] = generator.randbytes(generator.randrange(3))
    return bytes(data)


HEADERS = {
    b"Host": (b"localhost", b"127.0.0.1:1", b"evil", b"", b"\xff", b"a" * 2000),
    b"Accept": (b"*/*", b"text/html", b"text/event-stream", b'a/b;q="' * 300, b";;,,q=2", b"\x80"),
    b"Accept-Encoding": (b"gzip", b"zstd;q=x", b"," * 3000, b"*;q=0"),
    b"Range": (b"bytes=0-1", b"bytes=9-1", b"bytes=-99999999999999999999", b"bytes=", b"x"),
    b"If-None-Match": (b"*", b'"x"', b'"0-0-0-0.0.identity"', b'"' * 2000),
    b"Last-Event-ID": (b"0-0-00000000-0", b"x", b"\xc3", b"9" * 1000),
    b"Content-Length": (b"0", b"5", b"-1", b"x", b"9" * 30),
    b"Transfer-Encoding": (b"chunked", b"gzip", b"chunked, chunked"),
    b"Connection": (b"close", b"upgrade", b"\0"),
    b"X": (b"x" * 40_000,),
}


def test_malformed_requests_are_survived(served):
    count = 1000 * LOAD
    files, size = open_files(served.process), memory(served.process)
    answers = set()

    def send_some(seed):
        generator = random.Random(seed)
        for _ in range(count // 8):
            with contextlib.suppress(OSError), served.web.connect() as connection:
                connection.sendall(malformed(generator))
                connection.settimeout(0.2)  # some are not complete
                answers.add(connection.recv(12)[9:12])

    threads = [threading.Thread(target=send_some, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert status_of(served) == 200
    assert answers >= {b"200", b"400", b"421"}
    assert not {answer for answer in answers if answer.startswith(b"5")}
    time.sleep(0.5)
    assert open_files(served.process) <= files + 2
    assert memory(served.process) - size < 40 * MIB


# --- connections and followers ---


@contextlib.contextmanager
def connections(served, count, request=b""):
    """Opens connections, and sends a request over each."""
    opened = []
    try:
        for _ in range(count):
            connection = served.web.connect()
            connection.sendall(request)
            opened.append(connection)
        yield opened
    finally:
        for connection in opened:
            connection.close()


def read_until(opened, is_complete, seconds=60):
    """Reads from connections until `is_complete` is true of the bytes from each."""
    received = {connection: bytearray() for connection in opened}
    waiting = set(opened)
    end = time.monotonic() + seconds
    with selectors.DefaultSelector() as selector:
        for connection in opened:
            selector.register(connection, selectors.EVENT_READ)
        while waiting:
            assert time.monotonic() < end, f"{len(waiting)} connections are not complete"
            for key, _ in selector.select(1):
                try:
                    data = key.fileobj.recv(1 << 20)
                except ConnectionResetError:
                    data = b""
                received[key.fileobj] += data
                if is_complete(received[key.fileobj]) or not data:
                    waiting.discard(key.fileobj)
                    selector.unregister(key.fileobj)
    return list(received.values())


def test_idle_connections_cost_little(served):
    count = 100 * LOAD
    size = memory(served.process)
    with contextlib.ExitStack() as stack:
        for _ in range(count // 100):  # a client may have 256 requests at a time
            opened = stack.enter_context(connections(served, 100, REQUEST))
            for data in read_until(opened, lambda data: b"000000" in data):
                assert data.startswith(b"HTTP/1.1 200")
        assert memory(served.process) - size < 15 * MIB + count * 50_000
        assert status_of(served) == 200
        with connections(served, count // 2) as silent:
            assert status_of(served) == 200
            assert memory(served.process) - size < 15 * MIB + count * 100_000
            assert silent


def test_followers_share_the_work(served):
    count = 20 * LOAD
    size = memory(served.process)
    last = b"%06d" % (10 * LOAD)
    with connections(served, count, FOLLOW) as followers:
        read_until(followers, lambda data: b"000000" in data)
        for number in range(1, 10 * LOAD + 1):
            write(served.log, [message(number, 2000)], append=True)
        for data in read_until(followers, lambda data: last in data):
            numbers = [int(part[:6]) for part in data.split(b' <http://e/p> "')[1:]]
            assert numbers == list(range(1, 10 * LOAD + 1))
        assert memory(served.process) - size < 20 * MIB + count * 100_000
        assert status_of(served) == 200


def test_followers_that_do_not_read_are_bounded_and_delay_nobody(served):
    size = memory(served.process)
    with (
        connections(served, 5, FOLLOW) as readers,
        connections(served, 5 * LOAD, FOLLOW) as stalled,
    ):
        read_until(readers, lambda data: b"000000" in data)
        start = time.monotonic()
        count = 20 * LOAD
        writer = threading.Thread(
            target=lambda: [
                write(served.log, [message(number, MIB)], append=True)
                for number in range(1, count + 1)
            ]
        )
        writer.start()
        last = b'"%06d' % count
        for data in read_until(readers, lambda data: data.find(last, -2 * MIB) >= 0, 120):
            assert data.count(b"event: rdf-message") == count
        writer.join()
        assert time.monotonic() - start < 30 + count
        # The ring buffers of the feeds, and what the sockets of each client contain.
        assert memory(served.process) - size < 120 * MIB + len(stalled) * 3 * MIB


def test_a_client_has_a_limited_number_of_followers(served):
    with connections(served, 300, FOLLOW) as followers:
        data = read_until(followers, lambda data: b"\r\n\r\n" in data)
    statuses = [reply[9:12] for reply in data]
    assert statuses.count(b"200") == 256
    assert statuses.count(b"503") == 44
    end = time.monotonic() + 10
    while status_of(served) != 200:
        assert time.monotonic() < end


def test_streams_are_completed_at_the_end(served):
    with connections(served, 20 * LOAD, FOLLOW) as followers:
        read_until(followers, lambda data: b"000000" in data)
        start = time.monotonic()
        served.process.send_signal(signal.SIGTERM)
        for data in read_until(followers, lambda data: data.endswith(b"0\r\n\r\n")):
            assert data.endswith(b"0\r\n\r\n")
        assert served.process.wait(20) == 0
        assert time.monotonic() - start < 10


def test_more_files_can_be_open_than_by_default(tmp_path):
    """Many systems allow 1,024 open files unless a program asks for more."""
    (tmp_path / "a.nq").write_text("")
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, limits[1]))
    try:
        run = Process(tmp_path, "--http", 0)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    with run, connections(run, 300, REQUEST) as opened:
        data = read_until(opened, lambda data: b"\r\n\r\n" in data)
        # A client may have 256 requests at a time.
        assert {bytes(part[9:12]) for part in data} <= {b"200", b"503"}
        assert status_of(run) == 200


def test_the_server_works_with_few_files(tmp_path):
    (tmp_path / "a.nq").write_text("")
    shell = f"ulimit -n 200; exec {sys.executable} -m rdfm serve {tmp_path} --http 0"
    with Process(tmp_path, command=["bash", "-c", shell]) as run:
        with connections(run, 300, REQUEST) as opened:
            data = read_until(opened, lambda data: b"\r\n\r\n" in data, 20)
            assert {bytes(part[9:12]) for part in data} <= {b"200", b"503", b""}
        assert status_of(run) == 200


def test_reset_connections_are_released(tmp_path):
    """The timers of a connection end with it; otherwise they would keep its buffers in memory."""
    (tmp_path / "a.nq").write_text("")
    with serve_web(tmp_path) as web:
        for _ in range(20):
            with web.connect() as connection:
                connection.sendall(REQUEST)
                connection.recv(1000)
                reset = struct.pack("ii", 1, 0)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)

        def count():
            gc.collect()
            return sum(isinstance(each, H11Protocol) for each in gc.get_objects())

        wait_for(lambda: count() == 0, 5)
