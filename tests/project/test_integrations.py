"""The action, the pre-commit hook and the Dockerfile."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from rdfm import formats

ROOT = Path(__file__).resolve().parents[2]
GOOD = b'<http://example.org/a> <http://example.org/b> "1" .\n'
BAD = b"<http://example.org/a> <http://example.org/b> bad .\n"
# Suffixes that files of other kinds usually have.
COMMON = {".tsv", ".csv", ".parquet", ".arrow", ".feather", ".arrows"}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "good.nq").write_bytes(GOOD)
    (tmp_path / "bad one.nq").write_bytes(BAD)
    (tmp_path / "other,2.nq").write_bytes(GOOD.replace(b'"1"', b'"2"'))
    return tmp_path


def run_action(folder, step, **inputs):
    """Run a step of action.yml as a runner does: inputs are only variables of its `env`."""
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    given = {**{name: spec["default"] for name, spec in action["inputs"].items()}, **inputs}
    step = action["runs"]["steps"][step]
    variables = {
        name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda match: given[match[1]], text)
        for name, text in step["env"].items()
    }
    environment = {
        **variables,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "RUNNER_TEMP": str(folder / "temp"),
        "GITHUB_ACTION_PATH": str(ROOT),
    }
    return subprocess.run(
        ["bash", "-ec", step["run"]], cwd=folder, env=environment, capture_output=True, text=True
    )


def test_the_action_annotates_errors(folder):
    done = run_action(folder, 1, validate="good.nq\nbad one.nq\n")
    assert done.returncode == 1
    assert "::error file=bad one.nq,line=1,col=47,title=syntax::" in done.stdout
    done = run_action(folder, 1, validate="good.nq", options="--strict\n--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_names_in_the_inputs_are_not_commands_or_options(folder):
    done = run_action(folder, 1, validate="$(touch created)\n--help")
    assert done.returncode == 1
    assert "title=unreadable::" in done.stdout
    assert not (folder / "created").exists()


def test_the_action_compares_logs(folder):
    done = run_action(folder, 1, diff="good.nq\ngood.nq")
    assert (done.returncode, "::error" in done.stdout) == (0, False)
    done = run_action(folder, 1, diff="good.nq\nother,2.nq")
    assert done.returncode == 1
    assert '+<http://example.org/a> <http://example.org/b> "2" .' in done.stdout
    assert "::error file=other%2C2.nq,title=rdfm diff::This log differs from good.nq" in done.stdout
    done = run_action(folder, 1, diff="good.nq\nbad one.nq")
    assert done.returncode == 2
    assert "::error file=bad one.nq,title=rdfm diff::The logs cannot be compared" in done.stdout


@pytest.mark.parametrize(
    "inputs", [{}, {"diff": "good.nq"}, {"diff": "a\nb", "validate": "good.nq"}]
)
def test_other_inputs_of_the_action_are_errors(inputs, folder):
    done = run_action(folder, 1, **inputs)
    assert done.returncode == 2
    assert done.stdout.startswith("::error title=rdfm::")


@pytest.mark.parametrize("version", ["", "0.9.1"])
def test_the_action_installs_its_own_version_or_the_given_one(version, folder):
    programs = folder / "temp/rdfm/bin"
    programs.mkdir(parents=True)
    for name in ("python3", "python"):
        (programs / name).write_text(f'#!/bin/sh\necho {name} "$@"\n')
        (programs / name).chmod(0o755)
    done = run_action(folder, 0, version=version)
    manifest = (ROOT / "Cargo.toml").read_text("utf-8")
    expected = version or re.findall(r'^version = "(.*)"$', manifest, re.MULTILINE)[0]
    assert done.stdout.splitlines()[-1].endswith(f" rdfm=={expected}"), done.stderr


def test_the_hook_checks_the_files_that_it_selects(folder):
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    suffixes = {suffix for spec in formats.specs() for suffix in spec.suffixes}
    for suffix in suffixes:
        for name in (f"log{suffix}", f"folder/log{suffix}.gz"):
            assert bool(re.search(hook["files"], name)) == (suffix not in COMMON), name
    assert not re.search(hook["files"], "README.md")
    program, *arguments = hook["entry"].split()
    command = [Path(sys.executable).parent / program, *arguments]
    for name, status in {"good.nq": 0, "bad one.nq": 1}.items():
        done = subprocess.run([*command, name], cwd=folder, capture_output=True, text=True)
        assert done.returncode == status, done.stderr


def test_the_image_contains_only_the_wheel_and_does_not_run_as_root():
    lines = (ROOT / "Dockerfile").read_text("utf-8").splitlines()
    assert not any(line.startswith(("COPY", "ADD")) for line in lines)
    assert [line for line in lines if line.startswith("USER")] == ["USER 1000"]
    assert lines.index("USER 1000") > max(i for i, line in enumerate(lines) if "RUN" in line)
    assert (ROOT / ".dockerignore").read_text("utf-8").split() == ["*", "!dist/*.whl"]
