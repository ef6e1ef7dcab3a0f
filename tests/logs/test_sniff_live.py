"""Format detection for live logs before they end, and reading logs over HTTP."""

import functools
import http.server
import os
import threading
import types

import pytest

import rdfm
from rdfm.logs.input.inputs import Input

QUAD = b"<http://e/s> <http://e/p> <http://e/o> <http://e/g> .\n"
TRIPLE = b"<http://e/s> <http://e/p> <http://e/o> .\n"


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (QUAD, "nq"),
        (TRIPLE + QUAD + b"<http://e/", "nq"),
        (b"@prefix e: <http://e/> .\ne:a e:", "trig"),
        (rdfm.formats.find("jelly").encode(rdfm.MessageBatch.from_messages([[]])), "jelly"),
    ],
)
def test_the_format_of_a_live_log_is_detected_from_its_first_lines(data, name):
    read_end, write_end = os.pipe()
    try:
        os.write(write_end, data)
        with os.fdopen(read_end, "rb", buffering=0) as file:
            assert Input(file).detect_format().name == name
    finally:
        os.close(write_end)


def test_detection_waits_for_more_input_after_triples():
    """Turtle may follow, and the format must not depend on how the log arrives."""

    pieces = [TRIPLE, b"@prefix e: <http://e/> .\n", b""]

    class Slow:
        def read(self, size):
            return pieces.pop(0)

    assert Input(Slow()).detect_format().name == "trig"


TYPE_TRIPLE = b"<urn:a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:b> .\n"


@pytest.mark.parametrize(
    ("log", "name"),
    [
        (TYPE_TRIPLE, "nq"),
        (TYPE_TRIPLE + b"@prefix a: <urn:a> .\n", "trig"),
        (QUAD + b"no quad\n", "nq"),
        (b'{"@id": "a:b"}\nno object\n', "ndjsonld"),
    ],
)
def test_a_format_does_not_depend_on_how_a_log_arrives(log, name):
    for size in (1, 20, len(log)):
        pieces = [log[at : at + size] for at in range(0, len(log), size)] + [b""]
        file = types.SimpleNamespace(read=lambda _, pieces=pieces: pieces.pop(0))
        assert Input(file).detect_format().name == name


def test_a_server_without_ranges_is_read(tmp_path):
    pytest.importorskip("aiohttp")
    (tmp_path / "a.nq").write_bytes(QUAD * 100_000)
    handler = functools.partial(SilentHandler, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            with rdfm.open_log(f"http://127.0.0.1:{server.server_port}/a.nq") as log:
                assert sum(batch.quad_count for batch in log.batches()) == 100_000
        finally:
            server.shutdown()


class SilentHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


def test_errors_while_reading_over_http_name_the_url(monkeypatch):
    fsspec = pytest.importorskip("fsspec")
    from fsspec.implementations.memory import MemoryFile

    fsspec.filesystem("memory").pipe("/log.nq", QUAD)

    def read(self, size=-1):
        raise ValueError("no ranges here")

    monkeypatch.setattr(MemoryFile, "read", read)
    monkeypatch.setattr(MemoryFile, "read1", read, raising=False)
    with (
        pytest.raises(OSError, match="reading failed: no ranges here") as caught,
        rdfm.open_log("memory://log.nq"),
    ):
        pass
    assert caught.value.filename == "memory://log.nq"
