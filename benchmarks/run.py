"""Compares the speed of rdfm with pyjelly, pyoxigraph and rdflib, on the same data in the same run.

Run it with `make bench`. Every task runs in a separate process, bound to one core, and the figure
is the best of several runs. The program prints a table; its exit status is always 0.

    .venv/bin/python benchmarks/run.py [--quick] [--only REGEX] [--json FILE]
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import re
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from columns import LOGS as COLUMN_LOGS
from columns import relative_sizes
from generate import generate
from jvm import jelly_jvm_rates
from nanopubs import trusty_uris
from tasks import rows
from work import Row, Task, sample

HERE = Path(__file__).parent
SIZES = {"iot": 200_000, "osm": 10_000, "nanopubs": 10_000}
QUICK_SIZES = {"iot": 10_000, "osm": 1_000, "nanopubs": 1_000}
CONVERTED_QUADS = 10_000_000
RDFM = Path(sys.executable).with_name("rdfm")


def best(seconds: list[float]) -> float:
    """The shortest of several times, because noise only adds time."""
    return min(seconds)


def measure(row: str, side: str, quick: bool) -> dict[str, Any]:
    """Runs one side of a row in a separate process."""
    command = [
        sys.executable,
        __file__,
        "--task",
        row,
        "--side",
        side,
        *(["--quick"] if quick else []),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or ["no message"])[-1]}
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def child(row: Row[Task], side: str, quick: bool) -> None:
    """Times one task and prints the figures as JSON."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    sizes = QUICK_SIZES if quick else SIZES
    log = re.search(r"\((\w+)\)", row.name)
    assert log
    if side == "ours":
        task, min_runs, min_seconds = row.ours, 5, 3.0
    else:
        task, min_runs, min_seconds = row.peer[1], 1 if quick else 3, 0.0
    work = task(folder(quick), sizes[log[1]])
    seconds: list[float] = []
    while len(seconds) < min_runs or (sum(seconds) < min_seconds and len(seconds) < 50):
        if work.prepare is not None:
            work.prepare()
        # CPU seconds of all threads, which depend less on other processes than elapsed time.
        start = time.process_time()
        quads = work.run()
        seconds.append(time.process_time() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    figures = {
        "quads": quads,
        "bytes": work.size() if work.size else work.log_bytes,
        "seconds": best(seconds),
        "runs": len(seconds),
        "peak_rss_mb": peak / (1e6 if sys.platform == "darwin" else 1e3),
    }
    print(json.dumps(figures))


def folder(quick: bool) -> Path:
    """The folder that contains the data."""
    return HERE / "data" / ("quick" if quick else "full")


def compared(row: Row[Task], quick: bool, peers: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Measures both sides of a row. A peer that several rows share is measured once."""
    result: dict[str, Any] = {
        "task": row.name,
        "rdfm": measure(row.name, "ours", quick),
        "target": row.target or None,
    }
    name, task = row.peer
    if repr(task) not in peers:
        peers[repr(task)] = {"name": name, **measure(row.name, "peer", quick)}
    result["peer"] = peers[repr(task)]
    if "error" not in result["rdfm"] and "error" not in result["peer"]:
        result["ratio"] = rate(result["rdfm"]) / rate(result["peer"])
        result["met"] = result["ratio"] >= row.target if row.target else None
    return result


def rate(figures: dict[str, Any]) -> float:
    """Quads per second."""
    return float(figures["quads"] / figures["seconds"])


def start_up() -> dict[str, Any]:
    """Elapsed seconds of `rdfm --version`."""
    seconds = []
    for _ in range(15):
        start = time.perf_counter()
        subprocess.run([RDFM, "--version"], capture_output=True, check=True)
        seconds.append(time.perf_counter() - start)
    return {
        "task": "rdfm --version",
        "value": best(seconds),
        "unit": "s",
        "target": 0.15,
        "at_most": True,
    }


def run_command(arguments: list[Any]) -> tuple[float, float, float]:
    """Runs a command. Returns its elapsed seconds, CPU seconds and peak memory in MB."""
    start = time.perf_counter()
    process = subprocess.Popen([RDFM, *arguments])
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, f"rdfm {arguments[0]}")
    peak = usage.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
    return seconds, usage.ru_utime + usage.ru_stime, peak


def small_file(quick: bool) -> dict[str, Any]:
    """CPU milliseconds of `rdfm convert` for one message."""
    source, target = folder(quick) / "small.nq", folder(quick) / "small.jelly"
    source.write_bytes(sample(folder(quick), "iot.nq", 1))
    convert = ["convert", "--quiet", source, target]
    cpu_seconds = [run_command(convert)[1] for _ in range(15)]
    target.unlink()
    return {
        "task": "rdfm convert, one message, nq to jelly, CPU time",
        "value": best(cpu_seconds) * 1e3,
        "unit": "ms",
        "target": 80,
        "at_most": True,
    }


def big_log(quick: bool, suffix: str) -> tuple[Path, int]:
    """A log of about `CONVERTED_QUADS` quads in a format, and its number of quads."""
    source, repeat = folder(quick) / f"iot.{suffix}", 1
    if not quick:
        repeat = -(-CONVERTED_QUADS // (SIZES["iot"] * 6))
        big = folder(quick) / f"big.{suffix}"
        if not big.exists():
            subprocess.run([RDFM, "convert", "--quiet", *[source] * repeat, "-o", big], check=True)
        source = big
    return source, (QUICK_SIZES if quick else SIZES)["iot"] * 6 * repeat


def converted(
    source_format: str, target_format: str, target_rate: float, quick: bool
) -> dict[str, Any]:
    """Quads per second of `rdfm convert`, file to file, on all cores."""
    source, quads = big_log(quick, source_format)
    target = folder(quick) / f"converted.{target_format}"
    runs = []
    for _ in range(3):
        target.unlink(missing_ok=True)
        runs.append(run_command(["convert", "--quiet", source, target]))
    seconds, cpu_seconds, peaks = zip(*runs, strict=True)
    task = f"rdfm convert, {source_format} to {target_format}, {quads / 1e6:.1f} M quads"
    result = {
        "task": f"{task}, file to file, all cores",
        "value": quads / min(seconds) / 1e6,
        "unit": "M quads/s",
        "target": target_rate,
        "at_most": False,
        "processor_s": min(cpu_seconds),
        "mb_per_s": target.stat().st_size / min(seconds) / 1e6,
        "peak_rss_mb": max(peaks),
    }
    target.unlink()
    return result


def relative_to_jelly_jvm(
    log: str, targets: tuple[float, float, float], quick: bool
) -> Iterator[dict[str, Any]]:
    """The rates of reading and writing Jelly, relative to Jelly-JVM."""
    rates = jelly_jvm_rates(folder(quick) / f"{log}.jelly", 1 if quick else 8)
    sides = (
        ("read", "Jelly-JVM"),
        ("read", "the core of Jelly-JVM, to strings"),
        ("write", "Jelly-JVM"),
    )
    for number, (task, peer) in enumerate(sides):
        name = f"jelly {task}, batches ({log})"
        ours = measure(name, "ours", quick)
        if rates is None or "error" in ours:
            reason = ours.get("error", "Jelly-JVM needs java, javac and mvn")
            yield {"task": f"{name} relative to {peer}", "error": reason}
            continue
        value = rate(ours) / rates[number]
        both_rates = f"{rate(ours) / 1e6:.1f} and {rates[number] / 1e6:.2f} M triples/s"
        yield {
            "task": f"{name} relative to {peer}, {both_rates}",
            "value": value,
            "unit": "x",
            "target": targets[number],
            "at_most": False,
            "met": value >= targets[number],
        }


def output_size(quick: bool) -> dict[str, Any]:
    """Bytes per triple when rdfm writes Jelly from text, compared with pyjelly."""
    target = folder(quick) / "osm-ours.jelly"
    subprocess.run(
        [
            RDFM,
            "convert",
            "--quiet",
            folder(quick) / "osm.nq",
            target,
            "--physical-type",
            "triples",
        ],
        check=True,
    )
    triples = (QUICK_SIZES if quick else SIZES)["osm"] * 30
    ours, theirs = (
        target.stat().st_size / triples,
        (folder(quick) / "osm.jelly").stat().st_size / triples,
    )
    target.unlink()
    return {
        "task": f"bytes per triple of jelly (osm); pyjelly {theirs:.2f}",
        "value": ours,
        "unit": "B",
        "target": round(theirs * 1.01, 2),
        "at_most": True,
    }


def run_single(measurement: Any, *arguments: Any) -> dict[str, Any]:
    """Runs a measurement that is not a row of the table, and returns its result or error."""
    try:
        result: dict[str, Any] = measurement(*arguments)
    except (OSError, subprocess.CalledProcessError) as error:
        return {"task": measurement.__name__, "error": str(error)}
    value, target = result["value"], result["target"]
    result["met"] = value <= target if result["at_most"] else value >= target
    return result


def environment(*packages: str) -> dict[str, str]:
    """The environment of the measurements, including the versions of packages."""
    names = ("rdfm", "pyjelly", "pyoxigraph", "rdflib", "pyarrow", "polars", "maplib", *packages)
    versions = {}
    for name in names:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = "absent"
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{processor()}, {os.cpu_count()} cores, {platform.system()}",
        "python": platform.python_version(),
        **versions,
    }


def processor() -> str:
    """The processor's name."""
    try:
        found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    except OSError:
        found = None
    return found[1] if found else platform.processor() or "unknown processor"


def print_compared(result: dict[str, Any]) -> None:
    """Prints a row of the table of rates."""
    ours, peer = result["rdfm"], result["peer"]
    line = f"{result['task']:<44} "
    if "error" in ours:
        line += f"failed: {ours['error']:<18}"
    else:
        megabytes = ours["bytes"] / ours["seconds"] / 1e6
        line += f"{rate(ours) / 1e6:9.2f} {megabytes:8.0f} {ours['peak_rss_mb']:7.0f}"
    line += f"  {peer['name']:<10} "
    if "error" in peer:
        line += f"failed: {peer['error']}"
    else:
        line += f"{rate(peer) / 1e6:9.3f} {peer['peak_rss_mb']:7.0f}"
    if "ratio" in result:
        target = f"{result['target']:g} x" if result["target"] else ""
        met = {True: "yes", False: "no", None: ""}[result["met"]]
        line += f" {result['ratio']:7.1f} x {target:>6} {met}"
    print(line.rstrip(), flush=True)


def print_single(result: dict[str, Any]) -> None:
    """Prints the result of `run_single`."""
    if "error" in result:
        print(f"{result['task']}: failed: {result['error']}", flush=True)
        return
    sign = "≤" if result["at_most"] else "≥"
    other_figures = "".join(
        f", {result[key]:.3g} {unit}"
        for key, unit in (
            ("mb_per_s", "MB/s"),
            ("processor_s", "CPU s"),
            ("peak_rss_mb", "MB RSS"),
        )
        if key in result
    )
    met = "yes" if result["met"] else "no"
    comparison = f"target {sign} {result['target']:g}: {met}"
    print(
        f"{result['task']}: {result['value']:.3g} {result['unit']}{other_figures} ({comparison})",
        flush=True,
    )


def command_line(description: str | None) -> argparse.ArgumentParser:
    """A parser for the arguments that all benchmarks share. Its help begins with a description."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="use less data, to check that everything runs",
    )
    parser.add_argument(
        "--only", metavar="REGEX", default="", help="run only tasks whose names match"
    )
    parser.add_argument(
        "--json", metavar="FILE", type=Path, help="also write the figures to this file"
    )
    return parser


def main() -> None:
    """Creates the data, measures, and prints the table."""
    parser = command_line(__doc__)
    parser.add_argument("--task", help=argparse.SUPPRESS)
    parser.add_argument("--side", choices=("ours", "peer"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.task:
        child(next(row for row in rows() if row.name == options.task), options.side, options.quick)
        return

    details = environment()
    for name, value in details.items():
        print(f"{name}: {value}")
    print("generating the data (kept in benchmarks/data) …", file=sys.stderr)
    generate(folder(options.quick), QUICK_SIZES if options.quick else SIZES)
    ours, theirs = "M quads/s     MB/s  MB RSS", "peer       M quads/s  MB RSS"
    print(f"\n{'one core, best of several':<44} {ours}  {theirs}     ratio target met")
    pattern = re.compile(options.only)
    results: list[dict[str, Any]] = []
    peers: dict[str, dict[str, Any]] = {}
    for row in rows():
        if pattern.search(row.name):
            results.append(compared(row, options.quick, peers))
            print_compared(results[-1])
    print()
    for name, measurement, arguments in (
        ("convert", converted, ("jelly", "nq", 12, options.quick)),
        ("convert parquet", converted, ("nq", "parquet", 2.5, options.quick)),
        ("convert small", small_file, (options.quick,)),
        ("version", start_up, ()),
        ("size", output_size, (options.quick,)),
        ("trusty", trusty_uris, (folder(options.quick), options.quick)),
    ):
        if pattern.search(name):
            results.append(run_single(measurement, *arguments))
            print_single(results[-1])
    if pattern.search("size of jelly 1.2"):
        for log in COLUMN_LOGS:
            sizes = QUICK_SIZES if options.quick else SIZES
            for result in relative_sizes(log, folder(options.quick), sizes[log]):
                results.append(result)
                print_single(result)
    for log, targets in (("osm", (3, 2, 5)), ("iot", (4.5, 2.5, 4.5))):
        if pattern.search("jelly-jvm"):
            for result in relative_to_jelly_jvm(log, targets, options.quick):
                results.append(result)
                print_single(result)
    if options.json:
        options.json.write_text(
            json.dumps({"environment": details, "results": results}, indent=2) + "\n"
        )


if __name__ == "__main__":
    main()
