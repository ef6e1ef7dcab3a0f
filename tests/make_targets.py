"""Make targets that tests need, each run once even if several processes share the tests."""

import fcntl
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def make(target: str) -> None:
    """Run a target of the Makefile that depends on `build`, which the tests already have."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    folder = ROOT / "build"
    folder.mkdir(exist_ok=True)
    with (folder / ".tests.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = folder / f".tests.{target}"
        if stamp.exists() and stamp.read_text() == run:
            return
        # Without -o, make would build the core.
        command = ["make", "--silent", "-o", "build", target]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        stamp.write_text(run)
