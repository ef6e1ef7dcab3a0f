"""Three processes are killed at random points: one appends, one serves, and one follows.

`RDFM_KILLS` is the number of kills of each; `make soak` sets it to 50.
"""

import os
import random
import signal
import socket
import subprocess
import sys
import time

import pytest
from processes import wait_for

import rdfm

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("RDFM_KILLS", "3"))
LOGS = [("a.jelly", "copy.nq"), ("a.nq", "copy.jelly.gz")][: 2 if "RDFM_KILLS" in os.environ else 1]
# Appends messages with the numbers after those in the log, until it is killed.
WRITER = """
import sys, time
import rdfm
path = sys.argv[1]
subject, predicate = rdfm.Iri("http://e/s"), rdfm.Iri("http://e/p")
with rdfm.create_log(path, append=True, sync=True) as log:
    with rdfm.open_log(path) as written:
        number = sum(len(batch) for batch in written.batches())
    while True:
        log.write([rdfm.Quad(subject, predicate, rdfm.Literal(str(number)))])
        log.flush()
        number += 1
        time.sleep(0.02)
"""


class Process:
    """A process that is started again when it has ended."""

    def __init__(self, *command):
        self._command = [sys.executable, *map(str, command)]
        self._process = None
        self.kills = 0
        self.keep_running()

    def keep_running(self):
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )

    def kill(self):
        self.end(signal.SIGKILL)
        self.kills += 1
        self.keep_running()

    def end(self, number):
        self._process.send_signal(number)
        self._process.wait(30)


def keep_running(processes):
    for process in processes:
        process.keep_running()
    return True


def size_of(path):
    return path.stat().st_size if path.exists() else 0


def numbers(path):
    if not path.exists():
        return []
    with rdfm.open_log(path) as log:
        return [int(message.quads[0].object.value) for message in log]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.mark.parametrize(("source", "copy"), LOGS)
def test_nothing_is_lost_or_repeated(tmp_path, source, copy):
    log, copied = tmp_path / "logs" / source, tmp_path / copy
    log.parent.mkdir()
    rdfm.create_log(log).close()
    port = free_port()
    url = f"http://127.0.0.1:{port}/a/events"
    writer = Process("-c", WRITER, log)
    server = Process("-m", "rdfm", "serve", log.parent, "--http", port)
    options = ("--append", "--commit-seconds", 1) if "gz" in copy else ("--append", "--sync")
    follower = Process("-m", "rdfm", "convert", url, "-o", copied, *options)
    processes = [writer, server, follower]
    generator = random.Random(copy)
    try:
        victims = [process for process in processes for _ in range(KILLS)]
        generator.shuffle(victims)
        for victim in victims:
            # Most are killed while all three work; the others perhaps while they start.
            if generator.random() < 0.7:
                size = size_of(copied)
                wait_for(lambda size=size: keep_running(processes) and size_of(copied) != size)
            time.sleep(generator.random() * 0.3)
            victim.kill()
        # Each process gets time to do something between its last kill and the end.
        size = size_of(log)
        wait_for(lambda: keep_running(processes) and size_of(log) != size)
        writer.end(signal.SIGKILL)
        found = numbers(log)

        wait_for(
            lambda: keep_running([server, follower]) and len(numbers(copied)) >= len(found), 300
        )
        time.sleep(0.5)  # for messages that must not follow
        follower.end(signal.SIGTERM)
    finally:
        for process in processes:
            process.end(signal.SIGKILL)
    assert [process.kills for process in processes] == [KILLS] * 3
    assert found == list(range(len(found)))
    assert numbers(copied) == found
