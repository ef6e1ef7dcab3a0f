"""Forks of a process that writes a log: the child does not touch the parent's unfinished output."""

import os
import subprocess
import sys

import pytest

import rdfm

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

TARGETS = [
    ("out.nq", {}),
    ("out.nq.gz", {}),
    ("out.tar", {}),
    ("out/", {}),
    ("out/", {"split_messages": 1500}),
    ("out/", {"split_messages": 1500, "compression": "gzip"}),
]

PRELUDE = """
import gc, io, multiprocessing, os, sys, threading
import rdfm
QUAD = rdfm.Quad(rdfm.Iri("http://e/s"), rdfm.Iri("http://e/p"), rdfm.Iri("http://e/o"))
def create():
    log = rdfm.create_log({target!r}, "nq", **{options!r})
    for _ in range(2000):
        log.write([QUAD])
    return log
def end_child(pid):
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
"""

CHILD_ACTIONS = {
    "exits": """
log = create()
if (pid := os.fork()) == 0:
    sys.exit(0)
end_child(pid)
log.write([QUAD])
log.close()
""",
    "leaves the with block": """
pid = None
try:
    with create() as log:
        if (pid := os.fork()) == 0:
            sys.exit(0)
        end_child(pid)
        log.write([QUAD])
finally:
    if pid == 0:
        os._exit(0)
""",
    "deletes the log": """
log = create()
if (pid := os.fork()) == 0:
    del log
    gc.collect()
    os._exit(0)
end_child(pid)
log.write([QUAD])
log.close()
""",
    "closes": """
log = create()
if (pid := os.fork()) == 0:
    try:
        log.close()
    except PermissionError as error:
        assert "create the log after the fork" in str(error) and error.filename == {target!r}
        os._exit(0)
    os._exit(1)
end_child(pid)
log.write([QUAD])
log.close()
""",
    "uses multiprocessing": """
log = create()
process = multiprocessing.get_context("fork").Process(target=print)
process.start()
process.join()
assert process.exitcode == 0
log.write([QUAD])
log.close()
""",
}


# Python 3.12 and newer warn about every fork while other threads run; these tests fork on purpose.
IGNORE_FORK_WARNINGS = ("-W", "ignore:This process:DeprecationWarning")


def run(code, folder, *arguments):
    completed = subprocess.run(
        [sys.executable, "-W", "error::ResourceWarning", *arguments, "-c", code],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (completed.returncode, completed.stderr) == (0, "")


def quad_count(path):
    with rdfm.open_log(path) as log:
        return sum(len(message) for message in log)


@pytest.mark.slow
@pytest.mark.parametrize(("target", "options"), TARGETS)
@pytest.mark.parametrize("child", CHILD_ACTIONS)
def test_a_child_does_not_touch_an_open_log(tmp_path, target, options, child):
    run((PRELUDE + CHILD_ACTIONS[child]).format(target=target, options=options), tmp_path)
    assert quad_count(tmp_path / target) == 2001
    assert len(list(tmp_path.iterdir())) == 1


REJECTION_CODE = """
def rejected(write):
    try:
        write()
    except PermissionError as error:
        assert "create the log after the fork" in str(error) and error.filename == {target!r}
        return True
"""

CHILD_WRITES = {
    "a message": """
log = create()
if (pid := os.fork()) == 0:
    os._exit(0 if rejected(lambda: log.write([QUAD])) else 1)
""",
    "a batch": """
log = create()
if (pid := os.fork()) == 0:
    os._exit(0 if rejected(lambda: log.write_batch(rdfm.MessageBatch.from_messages([[QUAD]]))) else 1)
""",
    "a message in a with block": """
log = create()
if (pid := os.fork()) == 0:
    def write():
        with log:
            log.write([QUAD])
    os._exit(0 if rejected(write) else 1)
""",
}


@pytest.mark.slow
@pytest.mark.parametrize(("target", "options"), TARGETS)
@pytest.mark.parametrize("write", CHILD_WRITES)
def test_the_first_write_of_a_child_raises_an_error(tmp_path, target, options, write):
    code = f"{PRELUDE}{REJECTION_CODE}{CHILD_WRITES[write]}end_child(pid)\nlog.write([QUAD])\nlog.close()\n"
    run(code.format(target=target, options=options), tmp_path)
    assert quad_count(tmp_path / target) == 2001


RESULTS_CODE = """
def row():
    return [rdfm.Literal("a")]
results = rdfm.create_log("r.tsv", kind="results", variables=["x"])
results.write(row())
batch = rdfm.ResultBatch.from_rows([row()], ["x"])
if (pid := os.fork()) == 0:
    wrong = not rejected(lambda: results.write(row())) or not rejected(lambda: results.write_batch(batch))
    os._exit(wrong)
end_child(pid)
results.write(row())
results.close()
"""


def test_the_first_row_that_a_child_writes_raises_an_error(tmp_path):
    code = (
        PRELUDE.format(target="r.tsv", options={})
        + REJECTION_CODE.format(target="r.tsv")
        + RESULTS_CODE
    )
    run(code, tmp_path)
    assert (tmp_path / "r.tsv").read_text() == '?x\n"a"\n"a"\n'


PIPE_CODE = """
read_end, write_end = os.pipe()
file = os.fdopen(write_end, "wb", buffering=0)
log = rdfm.create_log(file, "nq")
if (pid := os.fork()) == 0:
    log.write([QUAD])
    log.close()
    os._exit(0)
end_child(pid)
file.close()
assert os.read(read_end, 100) == b"<http://e/s> <http://e/p> <http://e/o> .\\n"
"""


def test_a_child_may_write_to_a_file_object(tmp_path):
    run(PRELUDE.format(target="", options={}) + PIPE_CODE, tmp_path)


SPARK_PART = """
from rdfm.storage.files import LocalStorage
storage = LocalStorage()
file = storage.open_new("out.nq")
log = rdfm.create_log(file, "nq")
for _ in range(2000):
    log.write([QUAD])
if (pid := os.fork()) == 0:
    file.close()
    sys.exit(0)
end_child(pid)
log.write([QUAD])
log.close()
storage.finish(file)
"""


def test_a_child_does_not_write_to_a_spark_part(tmp_path):
    run(PRELUDE.format(target="out.nq", options={}) + SPARK_PART, tmp_path)
    assert quad_count(tmp_path / "out.nq") == 2001


SLOW_INPUT = """
class Slow(io.RawIOBase):
    remaining = 40
    def readable(self):
        return True
    def read(self, size=-1):
        if self.remaining == 20:
            begun.set()
            resume.wait(60)
        self.remaining -= 1
        return b"<http://e/s> <http://e/p> <http://e/o> .\\n# @message\\n" * 100 if self.remaining >= 0 else b""
begun, resume = threading.Event(), threading.Event()
"""

CONVERSIONS = {
    "in a thread": """
thread = threading.Thread(
    target=lambda: rdfm.convert(Slow(), {target!r}, from_format="nq", to="nq", **{options!r})
)
thread.start()
begun.wait(60)
if (pid := os.fork()) == 0:
    sys.exit(0)
end_child(pid)
resume.set()
thread.join()
""",
    "in the progress callback": """
pids = []
def progress(state):
    if not pids:
        pids.append(os.fork())
        if pids[0] == 0:
            sys.exit(0)
        end_child(pids[0])
        resume.set()
begun.set()
resume.set()
rdfm.convert(Slow(), {target!r}, from_format="nq", to="nq", progress=progress, **{options!r})
assert pids
""",
}


@pytest.mark.slow
@pytest.mark.parametrize(("target", "options"), TARGETS)
@pytest.mark.parametrize("fork", CONVERSIONS)
def test_a_child_does_not_touch_a_conversion(tmp_path, target, options, fork):
    code = (PRELUDE + CONVERSIONS[fork]).format(target=target, options=options)
    run(
        code.replace("def end_child", f"{SLOW_INPUT}\ndef end_child"),
        tmp_path,
        *IGNORE_FORK_WARNINGS,
    )
    assert quad_count(tmp_path / target) == 4000
    assert len(list(tmp_path.iterdir())) == 1
