"""Runs commands and measures exit code, peak resident memory, standard error and output size."""

import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

RDFM = Path(sys.executable).parent / "rdfm"

# A small intermediate process is needed because the peak memory of a child initially includes the
# memory of its parent.
RUNNER = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[2:])
_, status, usage = os.wait4(process.pid, 0)
with open(sys.argv[1], "w") as file:
    file.write(str(usage.ru_maxrss))
sys.exit(os.waitstatus_to_exitcode(status) % 256)
"""


def measured(*arguments, feed=(), program=RDFM):
    """Runs `rdfm` or another program in a separate process.

    Returns the exit code, peak resident memory in bytes, text on standard error, and number
    of bytes on standard output.
    """
    with tempfile.TemporaryDirectory() as folder:
        memory, errors = Path(folder, "memory"), Path(folder, "errors")
        command = [sys.executable, "-c", RUNNER, memory, program, *arguments]
        with errors.open("wb") as file:
            pipe = subprocess.PIPE
            process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=file)
        written = 0

        def count():
            nonlocal written
            while piece := process.stdout.read(1 << 20):
                written += len(piece)

        reader = threading.Thread(target=count)
        reader.start()
        timer = threading.Timer(300, process.kill)
        timer.start()
        with suppress(BrokenPipeError):
            for piece in feed:
                process.stdin.write(piece)
        with suppress(BrokenPipeError):
            process.stdin.close()
        reader.join()
        process.wait()
        timer.cancel()
        process.stdout.close()
        resident = int(memory.read_text()) * (1 if sys.platform == "darwin" else 1024)
        return process.returncode, resident, errors.read_text("utf-8"), written


def block(size: int, delimiter: bytes = b"# @message\n") -> bytes:
    """Returns at least `size` bytes of N-Quads messages with six quads each."""
    messages, number = [], 0
    total = 0
    while total < size:
        number += 1
        subject = b"<http://example.org/sensor/%d>" % (number % 5000)
        message = b"".join(
            b'%s <http://example.org/p%d> "%d" <http://example.org/g%d> .\n'
            % (subject, at, number, number % 9)
            for at in range(6)
        )
        messages.append(message + delimiter)
        total += len(messages[-1])
    return b"".join(messages)
