"""Folders as output: an interrupt at any line leaves either the old or the new content."""

import shutil
import signal
import subprocess
import sys
import textwrap
from contextlib import suppress
from pathlib import Path

import pytest

import rdfm
from rdfm.logs.write import output
from rdfm.logs.write.output import FolderOutput
from rdfm.logs.write.parts import Part

OLD_FILES = {"a.nq": b"old a", "b.nq": b"old b", "c.nq": b"old c"}
NEW_FILES = {"a.nq": b"new a", "d.nq": b"new d"}
WATCHED_FILES = (output.__file__, shutil.__file__)


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def new_output(target):
    folder_output = FolderOutput(target, None, overwrite=True)
    folder_output.write([Part(name, data, True) for name, data in NEW_FILES.items()])
    return folder_output


def run_interrupted(work, line):
    """Runs `work`, and interrupts it when `line` lines of the watched files have been executed.

    Returns whether that many lines were executed.
    """
    count = 0

    def trace(frame, event, _):
        nonlocal count
        if frame.f_code.co_filename not in WATCHED_FILES:
            return None
        if event == "line":
            count += 1
            if count == line:
                raise KeyboardInterrupt
        return trace

    previous_trace = sys.gettrace()
    sys.settrace(trace)
    try:
        with suppress(KeyboardInterrupt):
            work()
    finally:
        sys.settrace(previous_trace)
    return count >= line


@pytest.mark.parametrize("before", [None, {}, OLD_FILES])
@pytest.mark.parametrize("method", ["commit", "discard", "keep_partial"])
def test_an_interrupt_at_any_line_leaves_the_old_or_the_new_folder(tmp_path, before, method):
    line = 0
    while True:
        line += 1
        parent = tmp_path / str(line)
        parent.mkdir()
        target = parent / "out"
        if before is not None:
            target.mkdir()
            for name, data in before.items():
                (target / name).write_bytes(data)
        folder_output = new_output(target)
        was_interrupted = run_interrupted(getattr(folder_output, method), line)
        folder_output.discard()
        names = {path.name for path in parent.iterdir()}
        assert not any(name.startswith(".") for name in names), (line, names)
        if "out.partial" in names:
            assert (method, content(parent / "out.partial")) == ("keep_partial", NEW_FILES)
            names.remove("out.partial")
        if "out" in names:
            found = content(target)
            assert found == before or (method, found) == ("commit", NEW_FILES), line
        else:
            assert before is None, line
        if not was_interrupted:
            break
    assert line > 10
    if method == "commit":
        assert content(target) == NEW_FILES


# A process that handles SIGTERM like the command, and receives it during a slow call.
SLOW_REMOVAL = """
    import os, shutil, signal, sys, threading, time
    from rdfm.cli import signals
    from rdfm.logs.write.output import FolderOutput
    from rdfm.logs.write.parts import Part

    remove, at, calls = shutil.rmtree, int(sys.argv[2]), []

    def remove_slowly(path, *args, **options):
        calls.append(path)
        if len(calls) == at:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(2)
        remove(path, *args, **options)

    shutil.rmtree = remove_slowly
    signals.begin()
    signals.watch()
    with signals.raise_on_signal():
        output = FolderOutput(sys.argv[1], None, overwrite=True)
        output.write([Part("a.nq", b"new a", True), Part("d.nq", b"new d", True)])
        output.commit()
"""


@pytest.mark.skipif(
    not hasattr(signal, "SIGTERM") or sys.platform == "win32", reason="needs Unix signals"
)
@pytest.mark.parametrize("call", [1, 2])
def test_a_process_terminated_while_removing_the_old_folder_leaves_no_temporary_files(
    tmp_path, call
):
    target = tmp_path / "out"
    target.mkdir()
    for name, data in OLD_FILES.items():
        (target / name).write_bytes(data)
    command = [sys.executable, "-c", textwrap.dedent(SLOW_REMOVAL), str(target), str(call)]
    subprocess.run(command, timeout=60, check=False, stderr=subprocess.DEVNULL)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert content(target) == NEW_FILES


def test_files_that_others_add_to_an_empty_folder_are_kept(tmp_path):
    target = tmp_path / "out"
    target.mkdir()
    folder_output = FolderOutput(target, None, overwrite=False)
    folder_output.write([Part("a.nq", b"new", True)])
    Path(target, "other").write_bytes(b"other")
    with pytest.raises(OSError, match="out"):
        folder_output.commit()
    assert content(target) == {"other": b"other"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize(
    ("target", "options", "marks"),
    [
        ("out/", {}, 0),
        ("out.tar", {}, 0),
        ("out/", {"split_messages": 1}, 0),
        ("out/", {"split_messages": 2}, 1),
        ("out/", {"restart_bytes": 100}, 2),
    ],
)
def test_jelly_files_of_one_message_have_no_restart_mark(tmp_path, target, options, marks):
    log = b"<http://e/s> <http://e/p> 1 .\n# @message\n<http://e/s> <http://e/p> 2 .\n"
    path = f"{tmp_path}/{target}"
    rdfm.convert(log, path, from_format="ttl", to="jelly", **options)
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert sum(file.read_bytes().count(b"rdfm.restart") for file in files) == marks
    with rdfm.open_log(path) as found:
        assert [len(message) for message in found] == [1, 1]
