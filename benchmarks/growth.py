"""Measures how decoding time grows with the size of hostile JSON-LD.

Run it with `make bench-growth`. Each input is decoded at one size and at twice that size. Every
measurement runs in a separate process, bound to one core, and is the best of several runs in CPU
seconds. A limit that rejects the larger input counts as success. The program prints a table;
its exit status is always 0.

    .venv/bin/python benchmarks/growth.py [--quick] [--only REGEX] [--json FILE]
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from hostile import CASES, Hostile, remote_contexts
from run import best, command_line, environment

MAX_MESSAGE_BYTES = 64 << 20
SIZE, QUICK_SIZE = 1 << 20, 1 << 17
# Maximum factor by which the time may grow when the number of bytes doubles.
TARGET = 2.5
TIMEOUT_SECONDS = 60
# Shorter times are noise, so the input is measured again at larger sizes, up to a quarter of
# `MAX_MESSAGE_BYTES`.
MIN_SECONDS = 0.2
# Seconds after which no new run begins.
MAX_TOTAL_SECONDS = 1


def child(case: Hostile, format: str, size: int) -> None:
    """Decodes an input of the given size, and prints the figures as JSON."""
    from rdfm import DecodeError, LimitError, formats

    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    data = case.text(size, format)
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for number, (url, content) in enumerate(remote_contexts(case, size)):
            files[url] = str(Path(folder, f"{number}.jsonld"))
            Path(files[url]).write_bytes(content)
        options = {
            "max_message_bytes": MAX_MESSAGE_BYTES,
            **case.options,
            **({"context": files} if files else {}),
        }
        seconds: list[float] = []
        while not seconds or (sum(seconds) < MAX_TOTAL_SECONDS and len(seconds) < 20):
            decoder = formats.find(format).Decoder(**options)
            start = time.process_time()
            outcome = "read"
            try:
                decoder.feed(data)
                decoder.finish()
                while decoder.next_batch() is not None:
                    pass
            except LimitError:
                outcome = "limit"
            except DecodeError:
                outcome = "error"
            seconds.append(time.process_time() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    figures = {
        "outcome": outcome,
        "bytes": len(data),
        "seconds": best(seconds),
        "peak_rss_mb": peak / (1e6 if sys.platform == "darwin" else 1e3),
    }
    print(json.dumps(figures))


def measure(case: Hostile, format: str, size: int) -> dict[str, Any]:
    """Decodes an input of the given size in a separate process."""
    command = [sys.executable, __file__, "--task", case.name, "--side", format, "--size", str(size)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=TIMEOUT_SECONDS
        )
    except subprocess.TimeoutExpired:
        return {"error": f"over {TIMEOUT_SECONDS} s"}
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]}
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def growth(case: Hostile, format: str, size: int) -> dict[str, Any]:
    """Measures an input at the given size and at twice that size.

    If the times are too short to compare, both sizes are increased.
    """
    result: dict[str, Any] = {"task": f"{case.name} ({format})", "target": TARGET, "met": False}
    while True:
        half, whole = measure(case, format, size), measure(case, format, 2 * size)
        result |= {"half": half, "whole": whole}
        if "error" in half or "error" in whole:
            return result
        if (
            whole["seconds"] >= MIN_SECONDS
            or whole["outcome"] == "limit"
            or 8 * size > MAX_MESSAGE_BYTES // 4
        ):
            break
        size *= 4
    result["ratio"] = whole["seconds"] / half["seconds"]
    result["met"] = whole["outcome"] == "limit" or result["ratio"] <= TARGET
    return result


def print_growth(result: dict[str, Any]) -> None:
    """Prints a row of the table."""
    line = f"{result['task']:<78} "
    for figures in (result["half"], result["whole"]):
        if "error" in figures:
            line += f"failed: {figures['error']}  "
        else:
            line += (
                f"{figures['bytes'] / 1e6:6.2f} {figures['seconds']:8.4f} {figures['peak_rss_mb']:6.0f} "
                f"{figures['outcome']:<6}"
            )
    if "ratio" in result:
        line += f"{result['ratio']:5.1f} x"
    print(f"{line}  {'yes' if result['met'] else 'no'}", flush=True)


def main() -> None:
    """Measures every case in every format, and prints the table."""
    parser = command_line(__doc__)
    parser.add_argument("--task")
    parser.add_argument("--side")
    parser.add_argument("--size", type=int)
    options = parser.parse_args()
    if options.task:
        case = next(case for case in CASES if case.name == options.task)
        child(case, options.side, options.size)
        return
    details = environment()
    for name, value in details.items():
        print(f"{name}: {value}")
    print(f"\n{'one core, best of several':<78} {'MB        s    RSS outcome ' * 2} ratio  met")
    pattern = re.compile(options.only)
    results = []
    for case in CASES:
        for format in case.formats:
            if pattern.search(f"{case.name} ({format})"):
                results.append(growth(case, format, QUICK_SIZE if options.quick else SIZE))
                print_growth(results[-1])
    met = sum(result["met"] for result in results)
    print(
        f"\ntwice the bytes take at most {TARGET} times as long, or exceed a limit: {met} of {len(results)}"
    )
    if options.json:
        text = json.dumps({"environment": details, "results": results}, indent=2)
        options.json.write_text(text + "\n")


if __name__ == "__main__":
    main()
