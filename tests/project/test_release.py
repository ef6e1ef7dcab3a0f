"""Releases: workflows, the version rules, the files that are edited, and the notes."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import make_targets
import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = ("Cargo.toml", "Cargo.lock", "fuzz/Cargo.lock", "CITATION.cff", "CHANGELOG.md")


def git(root, *arguments):
    identity = ["-c", "user.name=a", "-c", "user.email=a@b.example"]
    command = ["git", *identity, "-C", root, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def repository(tmp_path, monkeypatch):
    for name in FILES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    for kind in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{kind}_NAME", "a")
        monkeypatch.setenv(f"GIT_{kind}_EMAIL", "a@b.example")
    write_changes(tmp_path, "### Added\n\n- One.\n")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "First")
    return tmp_path


def write_changes(root, text):
    (root / "CHANGELOG.md").write_text(f"# Changelog\n\n## [Unreleased]\n\n{text}")


def change(root, text):
    changelog = root / "CHANGELOG.md"
    before = changelog.read_text()
    changelog.write_text(before.replace("## [Unreleased]\n", f"## [Unreleased]\n\n{text}"))
    git(root, "commit", "--quiet", "--all", "--message", "Change")


def run(root, *arguments):
    command = [sys.executable, ROOT / "tools/release.py", "--root", root, *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def released(root, version):
    done = run(root, version)
    assert (done.returncode, done.stderr) == (0, "")
    assert git(root, "status", "--porcelain") == ""
    assert git(root, "describe", "--tags").strip() == f"v{version}"


def refused(root, version):
    before = git(root, "log", "--format=%H")
    done = run(root, version)
    assert done.returncode == 1
    assert git(root, "log", "--format=%H") == before
    return done.stderr


def test_a_release_writes_the_version_everywhere(repository):
    released(repository, "0.1.0")
    change(repository, "### Added\n\n- Two.\n")
    released(repository, "0.2.0")
    manifest = tomllib.loads((repository / "Cargo.toml").read_text())
    assert manifest["workspace"]["package"]["version"] == "0.2.0"
    for lock in ("Cargo.lock", "fuzz/Cargo.lock"):
        packages = tomllib.loads((repository / lock).read_text())["package"]
        ours = {p["name"]: p["version"] for p in packages if p["name"].startswith("rdfm-")}
        assert ours.pop("rdfm-fuzz", "0.0.0") == "0.0.0"
        assert set(ours.values()) == {"0.2.0"}
        original = tomllib.loads((ROOT / lock).read_text())["package"]
        assert [p for p in packages if p["name"] not in ours] == [
            p for p in original if p["name"] not in ours
        ]
    citation = (repository / "CITATION.cff").read_text()
    assert citation.count("\nversion: 0.2.0\ndate-released: 2") == citation.count("date-") == 1
    headings = [
        line.split(" - ")[0]
        for line in (repository / "CHANGELOG.md").read_text().splitlines()
        if line.startswith("## ")
    ]
    assert headings == ["## [Unreleased]", "## [0.2.0]", "## [0.1.0]"]
    assert run(repository, "--notes", "0.2.0").stdout == "### Added\n\n- Two.\n"


def test_a_changed_file_is_refused(repository):
    (repository / "new").write_text("")
    assert "?? new" in refused(repository, "0.1.0")


def test_a_changelog_without_changes_is_refused(repository):
    released(repository, "0.1.0")
    assert refused(repository, "0.1.1") == "CHANGELOG.md has no changes under [Unreleased]\n"


@pytest.mark.parametrize("version", ["0.2.0", "0.1", "v0.1.0", "1.0.0", "0.1.0rc1", "0.01.0", ""])
def test_the_first_release_has_the_version_of_the_sources(version, repository):
    assert "0.1.0" in (error := refused(repository, version)) or "0.MINOR.PATCH" in error


@pytest.mark.parametrize("version", ["0.1.0", "0.1.2", "0.3.0", "0.0.9", "0.2.1"])
def test_versions_follow_each_other(version, repository):
    released(repository, "0.1.0")
    change(repository, "### Fixed\n\n- Two.\n")
    assert refused(repository, version) == "after 0.1.0 comes 0.1.1 or 0.2.0\n"


def test_a_patch_release_only_fixes_errors(repository):
    released(repository, "0.1.0")
    change(repository, "### Fixed\n\n- Two.\n")
    released(repository, "0.1.1")
    change(repository, "### Removed\n\n- One.\n")
    assert "the next version is 0.2.0" in refused(repository, "0.1.2")
    released(repository, "0.2.0")


def test_notes_of_another_version_are_refused(repository):
    assert run(repository, "--notes", "0.3.0").returncode == 1
    assert "no section [0.1.0]" in run(repository, "--notes", "0.1.0").stderr


@pytest.mark.slow
def test_the_workflows_are_safe():
    make_targets.make("checks")


def test_every_action_is_pinned_by_hash_with_one_version():
    pins = {}
    for workflow in ROOT.glob(".github/workflows/*.yml"):
        for line in workflow.read_text("utf-8").splitlines():
            if "uses:" in line:
                name, pin = line.split("uses: ")[1].split("@")
                assert re.fullmatch(r"[0-9a-f]{40} # v\d+\.\d+\.\d+", pin), line
                assert pins.setdefault(name, pin) == pin, line
    assert len(pins) > 5
