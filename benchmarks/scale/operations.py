"""The operations to measure on a log, with the checks of their results.

- In: a folder with `log.nq`, and its counts. Out: commands, in the order in which they must run.
- Law: results are counted as text, by DuckDB, or by Spark; never by the code that wrote them. A
  result is deleted before the next one is written.
"""

from __future__ import annotations

import gzip
import json
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from scale_logs import DELIMITER, Counts, TextCounter, write_log

RDFM = str(Path(sys.executable).with_name("rdfm"))
FORMATS = ("jelly", "trig", "ndjsonld", "parquet")
COMPRESSED = ("nq.gz", "nq.zst", "jelly.zst", "trig.gz", "ndjsonld.zst")
CHANGES = 100
# Appends at one size; twice as many at twice the size.
APPENDS = 5_000
QUERY = "SELECT ?o ?s WHERE { ?o <http://www.w3.org/ns/sosa/madeBySensor> ?s }"
SPARK = "Spark reads Jelly in two tasks"
READ_BYTES = 1 << 20


@dataclass
class Step:
    """A command to measure.

    Attributes:
        name: Its name in the table.
        command: The command.
        check: Returns what is wrong with its result, or None.
        on_output: Called with its standard output.
        status: The expected exit status.
    """

    name: str
    command: list[str]
    check: Callable[[], str | None] = lambda: None
    on_output: Callable[[bytes], None] | None = None
    status: int = 0


@dataclass
class Output:
    """The standard output of a command, in memory."""

    pieces: list[bytes] = field(default_factory=list)

    def last_line(self) -> dict[str, object]:
        line: dict[str, object] = json.loads(b"".join(self.pieces).splitlines()[-1])
        return line


def rdfm(*arguments: str) -> list[str]:
    return [RDFM, *arguments]


def python_task(*arguments: str) -> list[str]:
    return [sys.executable, str(Path(__file__).with_name("python_tasks.py")), *arguments]


def difference(found: object, expected: object) -> str | None:
    """Return what is wrong, or None."""
    return None if found == expected else f"{found} instead of {expected}"


def count_files(paths: Iterable[Path], delimiter: str = DELIMITER) -> Counts:
    """Count the messages and quads of N-Quads files."""
    messages = quads = 0
    for path in paths:
        counter = TextCounter(delimiter)
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            while piece := file.read(READ_BYTES):
                counter.feed(piece)
        counts = counter.counts()
        messages, quads = messages + counts.messages, quads + counts.quads
    return Counts(messages, quads)


def steps(folder: Path, name: str, times: int, expected: Counts) -> Iterator[Step]:
    """Yield all operations for a kind of log; a step must have run before the next is requested.

    Args:
        folder: The folder with the log.
        name: The kind.
        times: 1, or 2 for twice the size.
        expected: The counts of the log.
    """
    yield from conversions(folder, expected)
    if name == "officegraph":
        yield from others(folder, times, expected)


def conversions(folder: Path, expected: Counts) -> Iterator[Step]:
    """Convert the log to each format and back."""
    for suffix in (*FORMATS, *COMPRESSED):
        name = f"out.{suffix}"
        yield Step(f"`nq` to `{suffix}`", rdfm("convert", "-q", "log.nq", name))
        yield read_back(f"`{suffix}` to `nq`", name, expected)
        (folder / name).unlink()


def read_back(title: str, name: str, expected: Counts) -> Step:
    """Convert a log to N-Quads, and count the text."""
    counter = TextCounter()
    return Step(
        title,
        rdfm("convert", "-q", name, "-", "--to", "nq"),
        lambda: difference(counter.counts(), expected),
        counter.feed,
    )


def others(folder: Path, times: int, expected: Counts) -> Iterator[Step]:
    """Run the operations that are measured on one kind of log."""
    yield Step("`nq` to `jelly`, again", rdfm("convert", "-q", "log.nq", "log.jelly"))
    statistics = Output()

    def check_statistics() -> str | None:
        line = statistics.last_line()
        return difference(Counts(line["messages"], line["quads"]), expected)  # type: ignore[arg-type]

    yield Step(
        "statistics",
        rdfm("inspect", "--stats", "--json", "log.jelly"),
        check_statistics,
        statistics.pieces.append,
    )

    write_log(folder / "changed.nq", "officegraph", expected.messages, changes=CHANGES)
    differences = Output()

    def check_differences() -> str | None:
        summary = differences.last_line()["summary"]
        assert isinstance(summary, dict)
        return difference((summary["changed"], summary["messages_b"]), (CHANGES, expected.messages))

    yield Step(
        "diff with 100 changed messages",
        rdfm("diff", "--json", "log.jelly", "changed.nq"),
        check_differences,
        differences.pieces.append,
        status=1,
    )
    (folder / "changed.nq").unlink()

    rows = folder / "rows.tsv"
    yield Step(
        "query of each message",
        rdfm("query", "-q", QUERY, "log.jelly", "-o", rows.name),
        lambda: difference(sum(1 for _ in rows.open("rb")) - 1, expected.messages),
    )
    rows.unlink()

    days = folder / "days"
    yield Step(
        "split by day",
        rdfm("convert", "-q", "log.jelly", "-o", "days/", "--to", "nq", "--split-by", "day"),
        lambda: difference(count_files(days.iterdir()), expected),
    )
    shutil.rmtree(days)

    package = folder / "package"
    yield Step(
        "RiverBench package",
        rdfm(
            "riverbench", "package", "-q", "log.jelly", "--stream-type", "graphs", "-o", "package"
        ),
        lambda: difference(
            # A line with the version precedes the first message.
            count_files([package / "flat_full.nt.gz"], "MESSAGE\n"),
            Counts(expected.messages, expected.quads + 1),
        ),
    )
    yield Step("RiverBench check", rdfm("riverbench", "check", "-q", "package"))
    shutil.rmtree(package)

    appends = APPENDS * times
    yield Step(
        f"appends of one message, {APPENDS:,} and {2 * APPENDS:,}",
        python_task("append", "log.nq", str(appends)),
        lambda: difference(count_files([folder / "log.nq"]).messages, expected.messages + appends),
    )
    (folder / "log.nq").unlink()

    answer = f"{expected.messages} {expected.quads}"
    yield Step("`jelly` to `parquet`", rdfm("convert", "-q", "log.jelly", "log.parquet"))
    yield Step(
        "DuckDB reads Parquet",
        python_task("duckdb", "log.parquet", "duckdb.txt"),
        lambda: difference((folder / "duckdb.txt").read_text(), answer),
    )
    (folder / "log.parquet").unlink()
    yield Step(
        SPARK,
        python_task("spark", "log.jelly", "spark.txt"),
        lambda: difference((folder / "spark.txt").read_text(), answer),
    )
