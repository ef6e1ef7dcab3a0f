"""The commands of rdfm on the page about other commands run, and have an output."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import rdfm

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/from-commands.md").read_text("utf-8")
ROWS = [row for row in re.findall(r"^\| (.+) \|$", PAGE, flags=re.M) if "`rdfm" in row]
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


@pytest.fixture
def files(tmp_path):
    """The input files, each with one triple."""
    (tmp_path / "a.ttl").write_text("<http://example.org/s> <http://example.org/p> 1 .\n")
    for name in ("a.nt", "a.nq", "b.nq", "a.jelly"):
        rdfm.convert(tmp_path / "a.ttl", tmp_path / name)
    return tmp_path


@pytest.mark.slow
def test_each_command_runs(files):
    assert len(ROWS) > 10
    for row in ROWS:
        cells = row.split(" | ")
        assert len(cells) == 5, row
        command = cells[-1].strip("`")
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=files,
            env={**os.environ, "PATH": PATH},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
        )
        assert done.returncode == 0, (command, done.stderr)
        assert done.stdout or done.stderr, command
