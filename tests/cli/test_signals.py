"""Signals end the command with one line, exit code 130 and no temporary files.

A closed pipe ends the command in the same way as it ends `cat`.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from processes import wait_for, wait_until_idle

import rdfm as package

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs Unix signals")

LINE = "<http://e/s> <http://e/p> <http://e/o> .\n"
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP] if os.name != "nt" else []
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(package.__file__).parent.parent)}


def disposition_setter(disposition):
    """Returns a function that sets the child's signal dispositions, regardless of this process."""

    def set_dispositions():
        for kind in SIGNALS:
            signal.signal(kind, disposition)

    return set_dispositions


def spawn(*arguments, disposition=signal.SIG_DFL, **settings):
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen(
        [sys.executable, *arguments],
        env=ENVIRONMENT,
        preexec_fn=disposition_setter(disposition),
        **{**streams, **settings},
    )


def has_output():
    """Whether a conversion has begun to write."""
    return list(Path().glob(".out*.tmp"))


def start_conversion(target, disposition=signal.SIG_DFL):
    """Starts a conversion. Returns the process once its output exists and it waits for input."""
    process = spawn(
        "-m",
        "rdfm",
        "convert",
        "-",
        "-o",
        target,
        *["--from", "nq", "--to", "nq"],
        disposition=disposition,
    )
    process.stdin.write((LINE + "# @message\n").encode() * 2)
    process.stdin.flush()
    wait_for(has_output)
    wait_until_idle(process)
    return process


@pytest.mark.slow
@pytest.mark.parametrize("kind", SIGNALS)
@pytest.mark.parametrize("target", ["out.nq", "out/"])
def test_a_signal_ends_the_command_and_removes_its_output(tmp_path, monkeypatch, kind, target):
    monkeypatch.chdir(tmp_path)
    process = start_conversion(target)
    process.send_signal(kind)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err.strip()) == (130, b"rdfm: error: interrupted")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("target", ["out.nq.xz", "out.parquet", "out.ndjsonld.gz"])
def test_a_signal_ends_all_threads(tmp_path, monkeypatch, target):
    monkeypatch.chdir(tmp_path)
    Path("big.nq").write_text("# @message\n".join([LINE * 100] * 5000))
    process = spawn("-m", "rdfm", "convert", "big.nq", target, "--jobs", "4")
    wait_for(has_output)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err.strip()) == (130, b"rdfm: error: interrupted")
    assert [path.name for path in tmp_path.iterdir()] == ["big.nq"]


@pytest.mark.parametrize("kind", SIGNALS)
def test_an_ignored_signal_stays_ignored(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    process = start_conversion("out.nq", disposition=signal.SIG_IGN)
    process.send_signal(kind)
    wait_until_idle(process)
    process.communicate(timeout=30)
    assert process.returncode == 0
    assert Path("out.nq").read_text().count(LINE) == 2


def test_many_signals_at_once_count_as_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    process = start_conversion("out/")
    for kind in SIGNALS * 3:
        process.send_signal(kind)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err.strip()) == (130, b"rdfm: error: interrupted")
    assert not list(tmp_path.iterdir())


# Sends SIGINT at the given import, counted from the first one after the signal handlers are set.
AT_IMPORT = """
import os, signal, sys
left = int(sys.argv.pop(1))
counting = False
def hook(event, values):
    global left, counting
    if event == "import":
        counting |= values[0] == "rdfm.cli.signals"
        left -= counting
        if counting and left == 0:
            os.kill(os.getpid(), signal.SIGINT)
sys.addaudithook(hook)
import threading
import atexit
atexit.register(lambda: print("imports", -left))
from rdfm.cli import main
sys.argv[0] = "rdfm"
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("arguments", ["convert a.nq out.nq", "inspect a.nq", "formats", "--help"])
def test_a_signal_during_startup_ends_the_command(tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    Path("a.nq").write_text(LINE)

    def run(at):
        process = spawn("-c", AT_IMPORT, str(at), *arguments.split())
        return process, *process.communicate(timeout=60)

    process, out, err = run(0)
    assert process.returncode == 0, err
    count = int(out.split()[-1])
    assert count > 30
    Path("out.nq").unlink(missing_ok=True)
    for at in [1, 2, 3, 4, 5, *range(8, count, max(count // 5, 1)), count]:
        process, _, err = run(at)
        assert b"Traceback" not in err
        assert b"ignored" not in err
        if process.returncode != 0:  # the command may have finished
            assert (process.returncode, err.strip()) == (130, b"rdfm: error: interrupted"), at
        Path("out.nq").unlink(missing_ok=True)
    assert [path.name for path in tmp_path.iterdir()] == ["a.nq"]


# Simulates a native call that does not react to signals.
STUCK = """
import sys, threading
from pathlib import Path
from rdfm.cli import main
from rdfm.logs.channel import Channel
from rdfm.analysis.inspect import _Counts
def stuck(*_, **__):
    Path("stuck").touch()
    lock = threading.Lock()
    lock.acquire()
    while True:
        try:
            lock.acquire()
        except KeyboardInterrupt:
            pass
Channel.drain = _Counts.add = stuck
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments", ["inspect a.nq", "convert a.nq out.jelly", "convert a.nq out/ --to nq"]
)
def test_a_signal_ends_a_command_whose_main_thread_is_blocked(tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    Path("a.nq").write_text(LINE)
    process = spawn("-c", STUCK, *arguments.split())
    wait_for(Path("stuck").exists)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err.strip()) == (130, b"rdfm: error: interrupted")


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        "convert big.nq - --to nq -q",
        "convert big.nq - --to jelly",
        "convert big.nq - --to nq -q --jobs 8",
        "convert big.nq - --to ndjsonld --compression gzip -q --jobs 3",
        "formats",
        "--help",
        "--version",
    ],
)
def test_a_closed_pipe_ends_the_command_like_cat(tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    Path("big.nq").write_text(LINE * 50_000)
    read_end, write_end = os.pipe()
    os.close(read_end)
    process = spawn("-m", "rdfm", *arguments.split(), stdout=write_end)
    os.close(write_end)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (-signal.SIGPIPE, b"")


def test_errors_name_a_pipe_that_nobody_reads(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("big.nq").write_text(LINE * 50_000)
    os.mkfifo("pipe.nq")
    process = spawn("-m", "rdfm", "convert", "big.nq", "-o", "pipe.nq")
    with Path("pipe.nq").open("rb") as pipe:
        pipe.read(1)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err.strip()) == (1, b"rdfm: error: pipe.nq: Broken pipe")


def test_a_late_watching_thread_does_not_end_the_command_before_its_notes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = """
import os, runpy, time
from rdfm.cli import run, signals

class LateSystem:
    def __getattr__(self, name):
        return getattr(os, name)

    def read(self, *arguments):
        data = os.read(*arguments)
        time.sleep(0.5)
        return data

def handle_slowly(error, handle=run._handle_interrupt):
    time.sleep(1)
    return handle(error)

signals.os, signals.COMPLETING_SECONDS = LateSystem(), 60
run._handle_interrupt = handle_slowly
runpy.run_module("rdfm", run_name="__main__", alter_sys=True)
"""
    arguments = ["-o", "out.nq", "--from", "nq", "--keep-partial"]
    process = spawn("-c", code, "convert", "-", *arguments)
    process.stdin.write((LINE + "# @message\n").encode() * 3)
    process.stdin.flush()
    wait_for(has_output)
    wait_until_idle(process)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"out.nq.partial\nrdfm: error: interrupted" in err


@pytest.mark.slow
@pytest.mark.parametrize("kind", SIGNALS)
@pytest.mark.parametrize("target", ["out.nq", "out.nq.gz", "out.jelly", "out.parquet", "out/"])
def test_a_signal_keeps_the_complete_messages_of_a_partial_output(
    tmp_path, monkeypatch, kind, target
):
    monkeypatch.chdir(tmp_path)
    arguments = ["-o", target, "--from", "nq", "--keep-partial"]
    if target == "out/":
        arguments += ["--to", "nq"]
    # Under load, completing the output can take more than the usual limit.
    code = "import runpy; from rdfm.cli import signals; signals.COMPLETING_SECONDS = 60;"
    code += "runpy.run_module('rdfm', run_name='__main__', alter_sys=True)"
    process = spawn("-c", code, "convert", "-", *arguments)
    process.stdin.write((LINE + "# @message\n").encode() * 3)
    process.stdin.write(LINE.encode())
    process.stdin.flush()
    wait_for(has_output)
    wait_until_idle(process)
    process.send_signal(kind)
    _, err = process.communicate(timeout=30)
    partial = Path(f"{target.rstrip('/')}.partial")
    expected = f"rdfm: note: the output before the error is in {partial.resolve()}\n"
    assert process.returncode == 130
    assert err.decode().lstrip() == f"{expected}rdfm: error: interrupted\n"
    assert [path.name for path in tmp_path.iterdir()] == [partial.name]
    format = None if target == "out/" else target.split(".")[1]
    assert len(list(package.open_log(partial, format))) == 3
