"""The independent judge of the command line, over the conformance suites."""

import subprocess
import sys
from pathlib import Path

import pytest
import suites

JUDGE = suites.path("judge")
RDFM = Path(sys.executable).parent / "rdfm"
pytestmark = pytest.mark.slow


def run(tmp_path, script, *arguments):
    report = tmp_path / "failures.txt"
    command = [sys.executable, JUDGE / script, "--rdfm", RDFM, "--report", report, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    failures = report.read_text("utf-8") if report.exists() else ""
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}\n{failures}"
    return done.stdout


def test_jelly_and_messages(tmp_path):
    printed = run(
        tmp_path,
        "cases.py",
        *("--python", sys.executable, "--reading", "mixed"),
        # Among the messages suite is a Jelly file of a flat type, whose frames a live stream sent one by one.
        *("--dialect-directive", "--from-dialect directive --from-frames message"),
        *("--announce-arg", "--announced {label}", "--context-arg", "--context {url}={file}"),
    )
    # The two that are skipped are live streams, which no file stands for.
    assert "all: passed 167 of 167 (skipped 2)" in printed.splitlines()


def test_files_of_jelly_jvm_and_jena(tmp_path):
    printed = run(tmp_path, "jena.py", "--formats", "jelly,rpb,rt")
    counts = ["jelly: passed 21 of 21", "rpb: passed 27 of 27", "rt: passed 19 of 19"]
    assert printed.splitlines() == counts
