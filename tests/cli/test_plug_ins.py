"""The command line finds plug-ins in installed packages through entry points."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs/plugins.md").read_text("utf-8")
MODULE = "\n".join(
    block for block in re.findall(r"```python\n(.*?)```", PAGE, re.S) if not block.startswith(">>>")
)


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Returns a function that installs a package with one module and entry points.

    That function returns another one, which runs commands with the package.
    """
    monkeypatch.chdir(tmp_path)
    site = tmp_path / "site"

    def install(code, **entry_points):
        metadata = site / "my_package-1.0.dist-info"
        metadata.mkdir(parents=True)
        (metadata / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n"
        )
        lines = [f"{name} = {value}" for name, value in entry_points.items()]
        (metadata / "entry_points.txt").write_text("\n".join(["[rdfm.formats]", *lines, ""]))
        (site / "my_package.py").write_text(code)

        def run(*arguments):
            return subprocess.run(
                [sys.executable, "-m", "rdfm", *arguments],
                env=os.environ | {"PYTHONPATH": str(site)},
                capture_output=True,
                text=True,
                timeout=120,
            )

        return run

    return install


@pytest.mark.slow
def test_the_package_in_the_documentation_works(install):
    toml = re.search(r"```toml\n(.*?)```", PAGE, re.S)[1]
    rdfm = install(MODULE, **tomllib.loads(toml)["project"]["entry-points"]["rdfm.formats"])
    listed = rdfm("formats")
    assert re.search(r"^jsonq +JSON quads +yes +yes", listed.stdout, re.M)
    assert listed.stderr == ""
    assert "arrow, jsonq." in " ".join(rdfm("--help").stdout.split())
    assert "JSON quads (jsonq): a format for messages." in rdfm("formats", "jsonq").stdout
    log = '[["_:a", "<http://e/p>", "_:a", null]]\n[]\n'
    Path("a.log").write_text(log)  # detected by content
    assert "2 messages" in rdfm("convert", "a.log", "b.jelly").stderr
    assert "2 messages" in rdfm("convert", "b.jelly", "c.jsonq").stderr
    assert Path("c.jsonq").read_text() == log
    assert "2 messages" in rdfm("convert", "a.log", "d.nq", "--from", "jsonq").stderr
    assert "2 messages" in rdfm("convert", "b.jelly", "e.jsonq", "--no-spaces").stderr
    assert Path("e.jsonq").read_text() == log.replace(", ", ",")
    assert "2 messages" in rdfm("convert", "e.jsonq", "f.jsonq", "--to-quote", "ascii").stderr
    assert "--no-spaces" in rdfm("help", "convert").stdout
    rejected = rdfm("convert", "a.log", "f.nq", "--from", "jsonq", "--quote", "ascii")
    assert (rejected.returncode, rejected.stderr) == (
        2,
        "rdfm: error: the option --quote is for writing JSON quads, not N-Quads\n",
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "value", "reason"),
    [
        ("", "my_package.jsonq", "No module named 'my_package.jsonq'"),
        ("import nowhere", "my_package:jsonq", "No module named 'nowhere'"),
        ("", "my_package", "expected an rdfm.formats.Format, found module"),
        ("jsonq = 1", "my_package:jsonq", "expected an rdfm.formats.Format, found int"),
        (
            "from rdfm.formats import *\n"
            "jsonq = Format(FormatSpec('jsonq', 'J', reads=[OptionSpec('skip')]), None, None)",
            "my_package:jsonq",
            "has an option named skip, which is reserved",
        ),
    ],
)
def test_a_broken_plug_in_is_skipped_with_a_warning(install, code, value, reason):
    rdfm = install(code, jsonq=value)
    listed = rdfm("formats")
    assert listed.returncode == 0
    assert re.search(r"^arrow +Arrow IPC", listed.stdout, re.M)
    assert "jsonq" not in listed.stdout
    (warning,) = listed.stderr.splitlines()
    assert warning.startswith(f"rdfm: warning: the plug-in 'jsonq' ({value}) cannot be loaded: "), (
        warning
    )
    assert reason in warning
    assert warning.endswith("; its format is ignored")
    Path("a.log").write_text("<http://e/s> <http://e/p> <http://e/o> <http://e/g> .\n")
    run = rdfm("convert", "a.log", "b.trig", "--from", "jsonq")
    assert run.returncode == 2
    assert reason in run.stderr.splitlines()[-1]


@pytest.mark.slow
def test_a_broken_plug_in_does_not_affect_other_formats(install):
    rdfm = install("", jsonq="my_package.jsonq")
    Path("a.nq").write_text("<http://e/s> <http://e/p> <http://e/o> <http://e/g> .\n")
    run = rdfm("convert", "a.nq", "b.trig")
    assert (run.returncode, len(run.stderr.splitlines())) == (0, 1)  # plug-ins are not loaded
    Path("a.nq").rename("a.log")
    assert rdfm("convert", "a.log", "c.trig").returncode == 0
    Path("c.log").write_text("something else")
    run = rdfm("convert", "c.log", "d.trig")
    assert run.returncode == 2
    assert "c.log has an unknown format: neither" in run.stderr.splitlines()[-1]
