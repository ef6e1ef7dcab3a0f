"""The independent judge of the command line, over the conformance suites."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from support import SHARED, needs_shared

JUDGE = SHARED / "judge"
RDFM = Path(sys.executable).parent / "rdfm"
pytestmark = [needs_shared("judge"), pytest.mark.slow]


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
        *("--dialect-directive", "--dialect directive"),
        *("--announce-arg", "--announced {label}", "--context-arg", "--context {url}={file}"),
        *("--only", "^(?!ndjsonld|discovery-mqtt)"),
    )
    passed = re.search(r"^all: passed (\d+) of \1 \(skipped 0\)$", printed, re.MULTILINE)
    assert passed, printed
    assert int(passed[1]) >= 150


def test_files_of_jelly_jvm(tmp_path):
    printed = run(tmp_path, "jena.py", "--formats", "jelly")
    assert printed.splitlines()[0] == "jelly: passed 21 of 21"
