"""Failures at chosen points, injected into storage calls that change or inspect files.

`spec.json` in the folder `RDFM_TEST_FAILURES` is a list of `{"at": a pattern, "nth": number of the
match that counts (0: each match), "in": a folder, "do": …}`. The pattern is matched against `NAME
PATHS` before a change and `NAME done PATHS` after it, such as `rename done
/out/_rdfm/staging/a/0/part /out/part`; `^rename /` matches only before a change. Matches are
counted over all processes. A point that kills the driver waits until all points of the list have
been reached.
"""

import contextlib
import errno
import itertools
import json
import os
import re
import signal
import time
from pathlib import Path

CHANGES = (
    "write_file",
    "create_file",
    "rename",
    "remove",
    "remove_folder",
    "make_folder",
    "open_new",
)
READS = ("status",)


def install():
    from rdfm.storage.files import LocalStorage, RemoteStorage

    for storage in (LocalStorage, RemoteStorage):
        for name in (*CHANGES, *READS, "finish"):
            setattr(storage, name, observed(name, getattr(storage, name)))
    os.fsync = observed("fsync", os.fsync)


def observed(name, function):
    def call(*arguments):
        text = " ".join(path for argument in arguments if (path := path_of(argument)) is not None)
        step(f"{name} {text}")
        result = function(*arguments)
        step(f"{name} done {text}")
        return result

    return call


def path_of(argument):
    if isinstance(argument, int) and not isinstance(argument, bool):  # a file descriptor
        return str(Path(f"/proc/self/fd/{argument}").readlink())
    path = getattr(argument, "name", None) or getattr(argument, "path", argument)
    return path if isinstance(path, str) else None


def step(text):
    folder = Path(os.environ["RDFM_TEST_FAILURES"])
    try:
        failures = json.loads((folder / "spec.json").read_text())
    except (FileNotFoundError, ValueError):
        return
    for index, failure in enumerate(failures):
        if failure.get("in", "") not in text or not re.search(failure["at"], text):
            continue
        if failure["nth"] in (0, count(folder / f"count{index}")):
            (folder / f"happened{index}").write_text(text)
            act(failure["do"], folder, len(failures))


def count(folder):
    """Returns the number of this call, counted over all processes from 1."""
    folder.mkdir(exist_ok=True)
    for number in itertools.count(1):
        try:
            (folder / str(number)).touch(exist_ok=False)
        except FileExistsError:
            continue
        return number


def act(action, folder, failures):
    if action == "kill driver":
        deadline = time.monotonic() + 300
        while len(list(folder.glob("happened*"))) < failures:
            if time.monotonic() > deadline:
                raise RuntimeError("the other points were not reached")
            time.sleep(0.02)
        for pid in json.loads((folder / "driver.json").read_text()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)
    if action == "kill worker":
        os.kill(os.getpid(), signal.SIGKILL)
    if action == "fail":
        raise RuntimeError("a failure")
    if action == "full":
        raise OSError(errno.ENOSPC, "No space left on device")
    if action == "sleep":
        time.sleep(60)
