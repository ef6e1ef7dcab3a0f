"""Measures the speed of `rdfm serve` for one subscriber, with stored and with encoded frames.

The subscriber is a minimal client in another process, which counts frames. With java, javac and
mvn, a server in Java sends the same frames to the same client.

    .venv/bin/python benchmarks/live.py [--quick]

The program prints a table. The targets are 8,000 frames/s, 1 M quads/s encoded and 2 M quads/s
stored.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jvm import java_classpath

import rdfm
from rdfm.storage.jelly_wire import SUBSCRIBE, StreamOptions, subscribe_message

QUADS = 250
# The Java server keeps all frames in memory, as objects.
JAVA_MESSAGES = 8_000
REQUESTS = {
    "stored": None,
    "encoded": StreamOptions("", 2, False, False, 128, 16, 16, 0, 1),  # SMALL_STRICT of Jelly-JVM
}


def write(path: Path, messages: int) -> None:
    """Writes a log of messages of 250 quads, about 8 kB each."""
    iri, literal = rdfm.Iri, rdfm.Literal
    with rdfm.create_log(path) as log:
        for number in range(messages):
            graph = iri(f"http://example.org/g/{number}")
            log.write(
                rdfm.Quad(
                    iri(f"http://example.org/s/{(number * 7 + at) % 5000}"),
                    iri(f"http://example.org/p/{at % 11}"),
                    literal(f"value {number * at % 9973} of sensor {at}"),
                    graph,
                )
                for at in range(QUADS)
            )


def count_frames(port: int, request: str) -> None:
    """Subscribes, and prints the number of frames, their size, and the time since the first one."""
    import grpc

    limit = [("grpc.max_receive_message_length", -1)]
    with grpc.insecure_channel(f"127.0.0.1:{port}", options=limit) as channel:
        call = channel.unary_stream(SUBSCRIBE)(
            subscribe_message("log", REQUESTS[request]), metadata=[("rdfm-follow", "false")]
        )
        size = len(next(call))
        frames, start = 1, time.perf_counter()
        for frame in call:
            frames += 1
            size += len(frame)
    print(frames, size, time.perf_counter() - start)


@contextmanager
def rdfm_server(folder: Path) -> Iterator[int]:
    """Runs `rdfm serve`."""
    command = [sys.executable, "-m", "rdfm", "serve", str(folder), "--grpc", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        found = re.search(r":(\d+)$", process.stderr.readline().strip())
        assert found is not None
        yield int(found[1])
        process.terminate()


@contextmanager
def java_server(folder: Path) -> Iterator[int]:
    """Runs the server of tests/peers/jvm/Live.java."""
    classpath = java_classpath("jvm")
    assert classpath is not None
    command = ["java", "-XX:+UseSerialGC", "-Xmx2g", "-cp", classpath, "Live"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"serve\t{folder / 'java.jelly'}\t{folder}\n")
        process.stdin.flush()
        yield int(process.stdout.readline().split()[1])
        process.kill()


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--quick", action="store_true")
    arguments.add_argument("--count", nargs=2, help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.count:
        count_frames(int(given.count[0]), given.count[1])
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        messages = 4_000 if given.quick else 40_000
        write(folder / "log.jelly", messages)
        write(folder / "java.jelly", min(messages, JAVA_MESSAGES))
        rows = [("rdfm", rdfm_server, request) for request in REQUESTS]
        if java_classpath("jvm") is not None:
            rows.append(("Java", java_server, "stored"))
        print(
            "| server | frames | frames/s | M quads/s | MB/s |\n| --- | --- | ---: | ---: | ---: |"
        )
        for server, run, request in rows:
            with run(folder) as port:
                command = [sys.executable, __file__, "--count", str(port), request]
                runs = [
                    list(map(float, subprocess.check_output(command, text=True).split()))
                    for _ in range(3)
                ]
            frames, size, seconds = min(runs, key=lambda figures: figures[2])
            print(
                f"| {server} | {request} | {frames / seconds:,.0f} | "
                f"{frames * QUADS / seconds / 1e6:.2f} | {size / seconds / 1e6:.0f} |"
            )


if __name__ == "__main__":
    main()
