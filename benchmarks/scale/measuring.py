"""Runs a command and measures its time, the memory of its processes, and its temporary files.

- In: a command. Out: a `Measurement`; its standard output goes to a function.
- Cost: the processes are looked at 20 times per second, so a shorter peak of several processes
  together may be missed. The peak of a single process is exact.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

INTERVAL_SECONDS = 0.05
PIECE_BYTES = 1 << 20
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
# Git ignores this folder.
BUILD = Path(__file__).resolve().parents[2] / "build"


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """A temporary folder for large files."""
    BUILD.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=BUILD) as name:
        yield Path(name)


@dataclass(frozen=True)
class Measurement:
    """The cost of a command.

    Attributes:
        seconds: Elapsed time.
        cpu_seconds: CPU time of it and of the processes for which it waited.
        peak_mb: Peak memory of all its processes together, in MB.
        temporary_mb: Peak size of its temporary files, in MB.
        status: Its exit status.
    """

    seconds: float
    cpu_seconds: float
    peak_mb: float
    temporary_mb: float
    status: int


def resident_bytes(process: int) -> int:
    """Return the memory of a process and its descendants."""
    try:
        total = int(Path(f"/proc/{process}/statm").read_text().split()[1]) * PAGE_BYTES
        for thread in Path(f"/proc/{process}/task").iterdir():
            for child in (thread / "children").read_text().split():
                total += resident_bytes(int(child))
    except (OSError, IndexError, ValueError):  # it has ended
        return 0
    return total


def folder_bytes(folder: Path) -> int:
    """Return the size of all files in a folder."""
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                total += Path(path, name).stat().st_size
            except OSError:  # it has been deleted
                continue
    return total


def run_measured(
    command: Sequence[str], folder: Path, on_output: Callable[[bytes], None] | None = None
) -> Measurement:
    """Run a command in a folder."""
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        start = time.perf_counter()
        child = subprocess.Popen(
            command,
            cwd=folder,
            stdout=subprocess.DEVNULL if on_output is None else subprocess.PIPE,
            env={**os.environ, "TMPDIR": temporary},
        )
        peaks = [0, 0]
        is_done = threading.Event()

        def watch() -> None:
            while not is_done.wait(INTERVAL_SECONDS):
                peaks[0] = max(peaks[0], resident_bytes(child.pid))
                peaks[1] = max(peaks[1], folder_bytes(Path(temporary)))

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            if child.stdout is not None and on_output is not None:
                while piece := child.stdout.read1(PIECE_BYTES):
                    on_output(piece)
            _, status, usage = os.wait4(child.pid, 0)
            seconds = time.perf_counter() - start
            child.returncode = os.waitstatus_to_exitcode(status)
        finally:
            is_done.set()
            watcher.join()
    unit = 1 if sys.platform == "darwin" else 1024
    return Measurement(
        seconds,
        usage.ru_utime + usage.ru_stime,
        max(peaks[0], usage.ru_maxrss * unit) / 1e6,
        peaks[1] / 1e6,
        child.returncode,
    )
