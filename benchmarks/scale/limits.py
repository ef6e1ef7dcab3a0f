"""Measures the work that one process does for many files, parts and splits.

Run it after `make build`. Each row is measured at a number of items and at twice that number. Times
are CPU seconds of one process, and include the operating system's. The row of the object store needs
the packages of `make test-object-stores`, whose server is another process.

    .venv/bin/python benchmarks/scale/limits.py [--items N] [--only REGEX]
"""

from __future__ import annotations

import argparse
import atexit
import contextlib
import os
import pickle
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from measuring import BUILD, scratch
from scale_logs import DELIMITER, write_log

LINE = '<https://ex.example/s> <https://ex.example/p> "1" .\n'


def write_files(folder: Path, names: Iterator[str]) -> None:
    """Writes small files, as links to a few, because writing many takes long."""
    for number, name in enumerate(names):
        if number % 10_000 == 0:
            first = folder / name
            first.write_text(LINE)
        else:
            os.link(first, folder / name)


def list_folder(folder: Path, items: int) -> Callable[[], object]:
    """Plans the tasks of a Spark query over small files."""
    from rdfm.spark.readers.reader import LogSourceReader

    (folder / "logs").mkdir()
    write_files(folder / "logs", (f"{number:06}.nq" for number in range(items)))
    return lambda: LogSourceReader({"path": str(folder / "logs"), "format": "nq"}).partitions()


def read_files(folder: Path, items: int) -> Callable[[], object]:
    """Reads small files in one task."""
    import rdfm

    list_folder(folder, items)

    def read() -> None:
        with rdfm.open_log(folder / "logs") as log:
            assert sum(map(len, log.batches())) == items

    return read


def read_one_file(folder: Path, items: int) -> Callable[[], object]:
    """Reads the same messages from one file."""
    import rdfm

    (folder / "log.nq").write_text(DELIMITER.join([LINE] * items))

    def read() -> None:
        with rdfm.open_log(folder / "log.nq") as log:
            assert sum(map(len, log.batches())) == items

    return read


def commit_parts(folder: Path, items: int) -> Callable[[], object]:
    """Commits parts that tasks have written to the same local disk."""
    from rdfm.spark.writers.commit import CommitTarget, FolderCommit

    target = CommitTarget.from_path(str(folder / "out"))
    target.begin("job")
    attempt = target.create_attempt("job", "attempt")
    names = [f"part-{number:06}-job.nq" for number in range(items)]
    write_files(Path(attempt), iter(names))
    parts = tuple(f"attempt/{name}" for name in names)
    return lambda: target.commit(FolderCommit("job", parts))


def commit_objects(folder: Path, items: int) -> Callable[[], object]:
    """Commits parts that tasks have written to a double of Amazon S3."""
    import s3fs

    from rdfm.spark.writers.commit import CommitTarget, FolderCommit

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = (folder / "requests").open("w")
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(command, stdout=log, stderr=log)
    atexit.register(server.kill)
    options = {"key": "k", "secret": "s", "endpoint_url": f"http://127.0.0.1:{port}"}
    for _ in range(600):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            break
        time.sleep(0.1)
    store = s3fs.S3FileSystem(**options)
    store.mkdir("logs")
    target = CommitTarget.from_path("s3://logs/out", options)
    target.begin("job")
    attempt = target.create_attempt("job", "attempt").removeprefix("s3://")
    names = [f"part-{number:06}-job.nq" for number in range(items)]
    store.pipe({f"{attempt}/{name}": LINE.encode() for name in names})
    parts = tuple(f"attempt/{name}" for name in names)
    return lambda: target.commit(FolderCommit("job", parts))


def plan_splits(folder: Path, items: int) -> Callable[[], object]:
    """Plans splits of a sparse N-Quads file, and pickles them for the tasks."""
    import rdfm

    path = folder / "log.nq"
    path.write_text((LINE + DELIMITER) * 20_000)
    with path.open("r+b") as file:
        file.truncate(items << 16)

    def plan() -> None:
        splits = rdfm.plan_splits(path, split_bytes=1 << 16)
        assert len(splits) == items
        pickle.dumps(splits)

    return plan


def plan_members(suffix: str) -> Callable[[Path, int], Callable[[], object]]:
    """Finds the members of a compressed file; the items are its members of 4 MiB."""

    def prepare(folder: Path, items: int) -> Callable[[], object]:
        import rdfm

        write_log(folder / "log.nq", "officegraph", 5_000)
        path = folder / f"log.nq.{suffix}"
        rdfm.convert(folder / "log.nq", path)
        member = path.read_bytes()
        with path.open("wb") as file:
            for _ in range(items):
                file.write(member)

        def plan() -> None:
            assert len(rdfm.plan_splits(path, split_bytes=1)) == items

        return plan

    return prepare


ROWS = {
    "list and pack small files": list_folder,
    "read small files": read_files,
    "read the same messages from one file": read_one_file,
    "commit parts by renames": commit_parts,
    "commit objects": commit_objects,
    "plan and pickle splits": plan_splits,
    "find gzip members": plan_members("gz"),
    "find zstd frames": plan_members("zst"),
}
# Rows whose items take long to prepare.
FEWER = ("commit objects", "find gzip members", "find zstd frames")
OBJECT_STORES = BUILD / "object-stores"


def resident_kb() -> int:
    """Return the peak memory of this process."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def measure(row: str, items: int) -> None:
    """Measures a row, and prints its CPU seconds and additional memory."""
    with scratch() as folder:
        work = ROWS[row](folder, items)
        before = resident_kb()
        start = time.process_time()
        kept = work()
        seconds = time.process_time() - start
        print(seconds, resident_kb() - before)
        del kept


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--only", default="", metavar="REGEX", help="rows to measure")
    parser.add_argument("--row", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.row:
        measure(arguments.row, arguments.items)
        return
    print("| work | items | µs per item | at half the items | bytes per item |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for row in ROWS:
        if not re.search(arguments.only, row):
            continue
        if row == "commit objects" and not OBJECT_STORES.is_dir():
            print(f"{row}: needs `make test-object-stores`", file=sys.stderr)
            continue
        items = arguments.items // 50 if row in FEWER else arguments.items
        figures = []
        for count in (items // 2, items):
            command = [sys.executable, __file__, "--row", row, "--items", str(count)]
            output = subprocess.run(
                command,
                stdout=subprocess.PIPE,
                text=True,
                check=True,
                env={**os.environ, "PYTHONPATH": str(OBJECT_STORES)},
            ).stdout
            figures.append([float(number) for number in output.split()])
        (half, _), (seconds, kilobytes) = figures
        print(
            f"| {row} | {items:,} | {seconds / items * 1e6:.0f} | {half / (items // 2) * 1e6:.0f} "
            f"| {kilobytes * 1024 / items:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
