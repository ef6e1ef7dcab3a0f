"""Operating system errors: one line that names the file, and no temporary files."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import rdfm as package

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs Unix limits and file descriptors")

LINE = "<http://e/s> <http://e/p> <http://e/o> .\n"


def shell(command):
    """Runs a shell command in which `rdfm` is this version. Returns its exit code and error."""
    environment = {**os.environ, "PYTHONPATH": str(Path(package.__file__).parent.parent)}
    command = f'rdfm() {{ "{sys.executable}" -m rdfm "$@"; }}\n{command}'
    completed = subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        text=True,
        env=environment,
        timeout=60,
        check=False,
    )
    assert "Traceback" not in completed.stderr
    assert "Exception ignored" not in completed.stderr
    return completed.returncode, completed.stderr.strip().removeprefix("rdfm: error: ")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")
@pytest.mark.parametrize("arguments", ["/proc/x.nq", "/proc/x.nq.gz", "/proc/x/ --to nq"])
def test_a_folder_that_rejects_files_is_named(rdfm, arguments):
    run = rdfm("convert", "a.nq", *arguments.split())
    assert (run.code, run.error) == (1, f"{arguments.split()[0]}: cannot write to /proc")


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_named(rdfm):
    Path("fixed").mkdir(mode=0o500)
    folder = Path("fixed").resolve()
    for target in ("fixed/x.nq", "fixed/x/"):
        run = rdfm("convert", "a.nq", target, "--to", "nq")
        assert run.error == f"{target}: cannot write to {folder}: Permission denied"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "shown_name"),
    [
        ("out.nq", "out.nq"),
        ("out.nq.gz", "out.nq.gz"),
        ("out.tar", "out.tar"),
        ("out/ --to nq --split-messages 100000", "out/part-00000.nq"),
        ("- --to nq > out.nq", "standard output"),
    ],
)
def test_exceeding_a_file_size_limit_names_the_file(rdfm, target, shown_name):
    text = "".join(
        f"<http://e/{n * n * 7919}> <http://e/p> <http://e/{n}> .\n" for n in range(30_000)
    )
    Path("big.nq").write_text(text)
    code, error = shell(f"ulimit -f 2; rdfm convert big.nq {target}")
    assert (code, error) == (1, f"{shown_name}: File too large")
    Path("big.nq").unlink()
    assert not list(Path().glob(".out*"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "error"),
    [
        ("formats >&-", "standard output: Bad file descriptor"),
        ("convert a.nq - --to nq >&-", "standard output: Bad file descriptor"),
        ("convert a.nq - --to nq 1</dev/null", "standard output: Bad file descriptor"),
        ("convert - out.nq --from nq <&-", "standard input: Bad file descriptor"),
        ("convert - out.nq --from nq 0>out.txt", "standard input: Bad file descriptor"),
        ("inspect - --from nq <&-", "standard input: Bad file descriptor"),
    ],
)
def test_a_closed_standard_stream_is_named(rdfm, command, error):
    assert shell(f"rdfm {command}") == (1, error)
    assert not list(Path().glob("*out.nq*"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("command", ["formats", "--help", "--version", "convert a.nq - --to nq"])
def test_a_full_standard_output_is_named(rdfm, command):
    assert shell(f"rdfm {command} >/dev/full") == (1, "standard output: No space left on device")


def test_files_do_not_replace_closed_streams(rdfm):
    assert shell("rdfm convert a.nq out.nq <&- >&- 2>&-") == (0, "")
    assert Path("out.nq").read_bytes() == Path("a.nq").read_bytes()


@pytest.mark.skipif(
    os.name != "posix" or os.geteuid() != 0 or shutil.which("setpriv") is None,
    reason="needs root and setpriv to drop privileges",
)
@pytest.mark.parametrize("command", ["cat {}", "inspect {}", "diff {} {}", "convert {} -"])
def test_an_unreadable_file_is_named(tmp_path, command):
    folder = Path(tempfile.mkdtemp(dir="/tmp"))  # pytest's folders are closed to other users
    try:
        folder.chmod(0o755)
        path = folder / "a.nq"
        path.write_text("")
        path.chmod(0)
        done = subprocess.run(
            [
                *("setpriv", "--reuid", "65534", "--clear-groups", sys.executable, "-m", "rdfm"),
                *command.format(path, path).split(),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        shutil.rmtree(folder)
    assert done.stderr == f"rdfm: error: {path}: Permission denied\n"
    assert done.returncode == (2 if command.startswith("diff") else 1)
