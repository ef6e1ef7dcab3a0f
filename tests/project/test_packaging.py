"""Lock files, notices, make targets and the wheel."""

import json
import re
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


def test_the_third_party_notices_are_current():
    completed = subprocess.run(
        [sys.executable, ROOT / "tools/notices.py", "--check"], capture_output=True, text=True
    )
    assert completed.returncode == 0, completed.stdout + completed.stderr


@pytest.mark.parametrize("group", ["", "-checks"])
def test_the_lock_file_has_exact_versions_hashes_and_no_host(group):
    lock = (ROOT / f"requirements{group}.lock").read_text("utf-8")
    assert "://" not in lock
    assert not re.search(r"^-", lock, re.MULTILINE)
    entries = re.split(r"\n(?=\S)", lock.strip())
    assert len(entries) > (10 if group else 30)
    for entry in entries:
        assert re.match(r"[\w.-]+==\S+( ; .+)? \\\n    --hash=sha256:", entry), entry


def test_the_lock_file_of_the_node_peer_has_hashes_and_no_registry():
    lock = json.loads((ROOT / "tests/peers/node/package-lock.json").read_text("utf-8"))
    packages = [entry for path, entry in lock["packages"].items() if path]
    assert len(packages) > 5
    assert all(entry["integrity"].startswith("sha512-") for entry in packages)
    assert not any("resolved" in entry for entry in packages)


def test_make_help_lists_the_commands():
    completed = subprocess.run(
        ["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    listed = set(re.findall(r"^make ([a-z-]+)", completed.stdout, re.MULTILINE))
    assert listed >= {"demo", "test", "help", "build", "test-fast", "lint", "fmt", "types"}
    assert listed >= {"bench", "fuzz", "docs", "soak", "peers", "clean"}


def versions_in(text, pattern):
    """Returns the versions in the sentence or table cell that `pattern` finds."""
    (found,) = re.findall(pattern, text)
    return re.findall(r"\b[34]\.\d+\b", found)


def test_every_file_names_the_same_python_versions():
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    supported = re.findall(r"Python :: (3\.\d+)", "\n".join(pyproject["classifiers"]))
    assert len(supported) > 2
    assert pyproject["requires-python"] == f">={supported[0]}"
    tested, installed = (
        json.loads(re.findall(r"python: (\[.*\])", workflow.read_text("utf-8"))[0])
        for workflow in sorted(ROOT.glob(".github/workflows/*.yml"))
    )
    assert tested == supported
    assert installed == [supported[0], supported[-1]]
    for name, pattern in {
        "README.md": r"All tests pass with Python ([^;]*)",
        "CONTRIBUTING.md": r"The tests pass with Python ([\d., and]*)",
        "docs/compatibility.md": r"\| Python \| (3[^|]*)\|",
    }.items():
        assert versions_in((ROOT / name).read_text("utf-8"), pattern) == supported, name
    candidates = (ROOT / "tools/prerequisites.sh").read_text("utf-8")
    assert set(re.findall(r"python(3\.\d+)", candidates)) == set(supported)


def test_every_file_names_the_same_pyspark_versions():
    page = (ROOT / "docs/compatibility.md").read_text("utf-8")
    supported = versions_in(page, r"\| PySpark \| (4[^|]*)\|")
    tool = (ROOT / "tools/spark_versions.py").read_text("utf-8")
    (versions,) = re.findall(r"^VERSIONS = (\{.*\})$", tool, re.MULTILINE)
    assert list(json.loads(versions)) == supported
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert f"pyspark[sql]>={supported[0]},<5" in extras["optional-dependencies"]["spark"]


@pytest.mark.slow
def test_the_wheel_is_small_complete_and_runs_outside_the_checkout():
    completed = subprocess.run(
        [sys.executable, ROOT / "tools/check_wheel.py", "release"], capture_output=True, text=True
    )
    assert completed.returncode == 0, completed.stdout + completed.stderr


def test_no_crate_can_be_published():
    manifests = [*ROOT.glob("crates/*/Cargo.toml"), ROOT / "fuzz/Cargo.toml"]
    packages = [tomllib.loads(manifest.read_text("utf-8"))["package"] for manifest in manifests]
    assert len(packages) > 5
    assert [package["name"] for package in packages if package.get("publish") is not False] == []


def test_the_citation_has_the_version_and_licence_of_the_project():
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    project = tomllib.loads((ROOT / "Cargo.toml").read_text("utf-8"))["workspace"]["package"]
    assert f"\nversion: {project['version']}\n" in citation
    assert f"\nlicense: {project['license']}\n" in citation


def test_the_sdist_has_what_a_build_needs(tmp_path):
    maturin = Path(sys.executable).parent / "maturin"
    command = [maturin, "sdist", "--out", tmp_path]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (path,) = tmp_path.iterdir()
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert names >= {"Cargo.lock", "Cargo.toml", ".cargo/config.toml", "pyproject.toml"}
    assert names >= {"README.md", "LICENSE", "THIRD_PARTY_NOTICES.txt"}
    for folder in ("wheel", "rdfm", "pyspark_rdfm", "crates/rdfm-core/src"):
        files = subprocess.run(
            ["git", "ls-files", folder], cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout.split()
        assert names >= set(files), folder
    assert not [name for name in names if name.startswith(("tests/", "docs/", "tools/"))]
