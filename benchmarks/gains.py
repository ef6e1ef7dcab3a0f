"""Measures the gain of the fast paths above the codecs: `make bench-gains` runs this program.

Runs with and without a path alternate, and the fastest run of each counts, so that other work on
the machine has little effect. `cargo bench -p rdfm-core --bench gains` measures the other paths.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

from querying import PREFIXES, QUERIES

import rdfm
from rdfm import _core
from rdfm.logs.read import parallel

RUNS = 5
SOSA = "http://www.w3.org/ns/sosa/"
VALUE = "http://www.ontology-of-units-of-measure.org/resource/om-2/hasNumericalValue"


def log(messages: int) -> bytes:
    """N-Quads with four quads per message."""
    lines: list[str] = []
    for n in range(messages):
        subject = f"<http://example.org/observation/{n}>"
        lines += (
            f"{subject} <{SOSA}madeBySensor> <http://example.org/sensor/{n * 7919 % 500}> .\n",
            f'{subject} <{SOSA}resultTime> "2026-01-01T00:{n % 60:02}:00Z" .\n',
            f"{subject} <{SOSA}hasResult> _:r .\n",
            f'_:r <{VALUE}> "{n * 31 % 4000}" .\n# @message\n',
        )
    return "".join(lines).encode()


def native_query(on: bool) -> float:
    """CPU seconds of a query with one pattern per message."""
    query = _core.Query(PREFIXES + QUERIES["a pattern"], native=on)
    with rdfm.open_log(log(5_000), format="nq") as reader:
        batches = list(reader.batches())
    start = time.process_time()
    for batch in batches:
        done = 0
        while done < len(batch):
            done = query.solutions(batch, done).done
    return time.process_time() - start


def splits(on: bool) -> float:
    """CPU seconds of the busiest thread that converts a log, which limits the speed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "log.nq")
        path.write_bytes(log(60_000))
        bytes_per_split = parallel.SPLIT_BYTES if on else 1 << 60
        with patch.object(parallel, "SPLIT_BYTES", bytes_per_split):
            return busiest(lambda: rdfm.convert(path, Path(folder, "log.ndjsonld"), jobs=4))


def busiest(run: Callable[[], object]) -> float:
    """CPU seconds of the thread that needs most of them while a function runs."""
    seconds: dict[str, float] = {}
    first: dict[str, float] = {}
    ended = threading.Event()

    def sample() -> None:
        while not ended.wait(0.002):
            for task in Path("/proc/self/task").iterdir():
                try:
                    used = int((task / "schedstat").read_text().split()[0]) / 1e9
                except OSError:  # the thread has ended
                    continue
                seconds[task.name] = used - first.setdefault(task.name, used)

    sampler = threading.Thread(target=sample)
    sampler.start()
    run()
    ended.set()
    sampler.join()
    seconds.pop(str(sampler.native_id), None)
    return max(seconds.values())


PATHS: dict[str, Callable[[bool], float]] = {"native-query": native_query, "splits": splits}

if __name__ == "__main__":
    for name, measure in PATHS.items():
        if name in sys.argv[1:] or len(sys.argv) == 1:
            runs = [(measure(True), measure(False)) for _ in range(RUNS)]
            fast, general = map(min, zip(*runs, strict=True))
            print(f"{name:20} {general / fast:.2f} times", flush=True)
