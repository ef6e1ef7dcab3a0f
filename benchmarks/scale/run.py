"""Runs rdfm on logs of any size: time and memory at one size and at twice that size.

Run it with `make scale SIZE=0.01`. SIZE is the share of the real datasets: at 1, these are 14.9 M
messages of 6 triples, 5 M messages of 30 quads, and 20,000 messages of 15,000 triples. The result
of each operation is checked by a count that does not use rdfm, and is then deleted. The exit status
is 1 if a result is wrong, if a command other than Spark needs more than `MEMORY_MB`, or if twice
the size takes more than `GROWTH` times the CPU time (for Spark: the elapsed time).

    .venv/bin/python benchmarks/scale/run.py --size 0.01 [--disk GB] [--only REGEX] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from dataclasses import asdict
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from measuring import Measurement, run_measured, scratch
from operations import SPARK, difference, steps
from scale_logs import KINDS, write_log

MEMORY_MB = 250
GROWTH = 2.1
# Space for a log, a changed copy of it, and the output of an operation, in sizes of the log.
DISK_FACTOR = 2.6


def main() -> int:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=float, required=True, help="share of the real datasets")
    parser.add_argument("--disk", type=float, default=40, metavar="GB", help="disk space to use")
    parser.add_argument("--only", default="", metavar="REGEX", help="kinds of log to measure")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures here")
    arguments = parser.parse_args()
    kinds = [name for name in KINDS if re.search(arguments.only, name)]
    full_bytes = max(KINDS[name].full_bytes for name in kinds)
    needed_gb = full_bytes * arguments.size * 2 * DISK_FACTOR / 1e9
    if needed_gb > arguments.disk:
        parser.error(f"needs about {needed_gb:.0f} GB of disk; set --disk, or a smaller --size")
    failures: list[str] = []
    figures = []
    print("| log | operation | s | s, twice | ratio | MB | MB, twice | temporary MB |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name in kinds:
        once, twice = (measure(name, arguments.size, times, failures) for times in (1, 2))
        for operation, first in once.items():
            second = twice[operation]
            is_spark = operation == SPARK
            ratio = (
                second.seconds / first.seconds
                if is_spark
                else second.cpu_seconds / first.cpu_seconds
            )
            if ratio > GROWTH:
                failures.append(f"{name}, {operation}: {ratio:.2f} times the time")
            print(
                f"| {name} | {operation} | {first.seconds:.1f} | {second.seconds:.1f} "
                f"| {ratio:.2f} | {first.peak_mb:.0f} | {second.peak_mb:.0f} "
                f"| {second.temporary_mb:.0f} |",
                flush=True,
            )
            figures.append(
                {
                    "log": name,
                    "operation": operation,
                    "once": asdict(first),
                    "twice": asdict(second),
                }
            )
    for failure in failures:
        print(failure, file=sys.stderr)
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(figures, indent=1))
    return 1 if failures else 0


def measure(name: str, size: float, times: int, failures: list[str]) -> dict[str, Measurement]:
    """Generate a log, run all operations on it, and return their costs by name."""
    results = {}
    with scratch() as folder:
        count = int(KINDS[name].full * size) * times
        expected = write_log(folder / "log.nq", name, count)
        log_bytes = (folder / "log.nq").stat().st_size
        report = (
            f"{name}: {expected.messages:,} messages, {expected.quads:,} quads, {log_bytes:,} B"
        )
        print(report, file=sys.stderr, flush=True)
        for step in steps(folder, name, times, expected):
            measured = run_measured(step.command, folder, step.on_output)
            results[step.name] = measured
            error = difference(measured.status, step.status)
            error = f"exit status {error}" if error else step.check()
            if error is None and step.name != SPARK and measured.peak_mb > MEMORY_MB:
                error = f"{measured.peak_mb:.0f} MB of memory"
            if error:
                failures.append(f"{name}, {step.name}: {error}")
            print(f"  {step.name}: {measured} {error or ''}", file=sys.stderr, flush=True)
    return results


if __name__ == "__main__":
    sys.exit(main())
