"""Measures the speed of `rdfm serve --http` for one client.

Stored bytes are compared with nginx, if it is installed, and converted logs with `rdfm convert` of
the same log to the same format. The client is curl. The runs of both sides alternate, and the
fastest of each counts.

    .venv/bin/python benchmarks/web.py [--quick]

The program prints a table. The target is half of the speed of the other side in each row.
"""

from __future__ import annotations

import argparse
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from live import write

import rdfm

RUNS = 20
NGINX = """
worker_processes 1; daemon off; pid {folder}/nginx.pid; error_log stderr;
events {{ worker_connections 64; }}
http {{ access_log off; sendfile on; server {{ listen 127.0.0.1:{port}; root {folder}/logs; }} }}
"""


@contextmanager
def rdfm_server(folder: Path) -> Iterator[str]:
    """Runs `rdfm serve`, and yields its URL."""
    command = [sys.executable, "-m", "rdfm", "serve", str(folder / "logs"), "--http", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        found = re.search(r"url=(\S+)", process.stderr.readline())
        assert found is not None
        try:
            yield found[1]
        finally:
            process.terminate()
            process.stderr.read()


@contextmanager
def nginx_server(folder: Path) -> Iterator[str]:
    """Runs nginx, and yields its URL."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    configuration = folder / "nginx.conf"
    configuration.write_text(NGINX.format(folder=folder, port=port))
    command = ["nginx", "-e", "stderr", "-p", str(folder), "-c", str(configuration)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        time.sleep(1)
        assert process.poll() is None, "nginx does not start"
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def fetch(url: str) -> Callable[[], tuple[int, float]]:
    """Returns a function that requests a URL, and returns the size and the time."""
    command = ["curl", "-sf", "-o", "/dev/null", "-w", "%{size_download} %{time_total}", url]

    def run() -> tuple[int, float]:
        size, seconds = subprocess.check_output(command, text=True).split()
        return int(size), float(seconds)

    return run


def convert(log: Path, output: Path) -> Callable[[], tuple[int, float]]:
    """Returns a function that converts a log, and returns the size and the time."""

    def run() -> tuple[int, float]:
        summary = rdfm.convert(log, output)
        return summary.bytes_out, summary.seconds

    return run


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--quick", action="store_true")
    quick = arguments.parse_args().quick
    with tempfile.TemporaryDirectory() as name, ExitStack() as servers:
        folder = Path(name)
        folder.chmod(0o755)  # nginx may read as another user
        log = folder / "logs/log.jelly"
        log.parent.mkdir()
        write(log, 1_000 if quick else 8_000)
        text = log.with_name("text.nq")
        rdfm.convert(log, text)
        rdfm_url = servers.enter_context(rdfm_server(folder))
        rows = []
        if shutil.which("nginx") is not None:
            nginx_url = servers.enter_context(nginx_server(folder))
            rows = [
                (
                    f"stored {format}",
                    "nginx",
                    fetch(f"{nginx_url}/{path.name}"),
                    f"{path.name}?format={format}",
                )
                for path, format in ((text, "nq"), (log, "jelly"))
            ]
        rows += [
            (
                f"Jelly as {format}",
                "rdfm convert",
                convert(log, folder / f"out.{format}"),
                f"log.jelly?format={format}",
            )
            for format in ("nq", "trig", "ndjsonld")
        ]
        print("| sent | MB/s | other side | MB/s | ratio |\n| --- | ---: | --- | ---: | ---: |")
        for title, other, run_other, path in rows:
            run_own = fetch(f"{rdfm_url}/{path}")
            own_runs, other_runs = zip(
                *((run_own(), run_other()) for _ in range(RUNS)), strict=True
            )
            own, best = (
                max(size / seconds / 1e6 for size, seconds in runs)
                for runs in (own_runs, other_runs)
            )
            print(f"| {title} | {own:,.0f} | {other} | {best:,.0f} | {own / best:.2f} |")


if __name__ == "__main__":
    main()
