"""States of other processes that tests wait for."""

from __future__ import annotations

import array
import fcntl
import subprocess
import termios
import time
from collections.abc import Callable
from pathlib import Path

_PROC = Path("/proc")
_IDLE_SAMPLES = 5


def wait_for(condition: Callable[[], object], seconds: float = 60) -> None:
    """Waits until a condition is true."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the condition did not become true"
        time.sleep(0.02)


def wait_until_idle(process: subprocess.Popen[bytes]) -> None:
    """Waits until a process has read its input, a pipe, and all its threads wait.

    Several samples are taken because a thread may wait for a moment, as for a lock.
    """
    if not _PROC.is_dir():
        time.sleep(3)
        return
    seen = 0

    def is_idle() -> bool:
        nonlocal seen
        assert process.poll() is None, "the process has ended"
        seen = seen + 1 if _is_waiting(process) else 0
        return seen == _IDLE_SAMPLES

    wait_for(is_idle)


def wait_until_busy(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Waits until a process has used the processor for a number of seconds."""
    if not _PROC.is_dir():
        time.sleep(seconds)
        return

    def used() -> float:
        assert process.poll() is None, "the process has ended"
        user, system = _status(_PROC / f"{process.pid}/stat")[11:13]
        return (int(user) + int(system)) / 100

    wait_for(lambda: used() >= seconds)


def _is_waiting(process: subprocess.Popen[bytes]) -> bool:
    """Whether the input of a process is empty, and no thread runs or can run."""
    unread = array.array("i", [0])
    if process.stdin is not None:
        fcntl.ioctl(process.stdin, termios.FIONREAD, unread)
    threads = list((_PROC / f"{process.pid}/task").glob("*/stat"))
    return unread[0] == 0 and bool(threads) and all(_status(each)[0] == "S" for each in threads)


def _status(path: Path) -> list[str]:
    """Returns the fields after the name of a process or thread; its state is the first."""
    try:
        return path.read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):  # the thread has ended
        return ["Z"]
