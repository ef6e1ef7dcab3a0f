"""Prepares a release: writes the version and its date, then commits and tags. Nothing is pushed.

`release.py VERSION` refuses uncommitted changes, a changelog without changes, and a version that
docs/compatibility.md does not allow after the newest tag. `release.py --notes VERSION` changes
nothing: it prints the section of the changelog, and fails if the sources have another version.
"""

import argparse
import datetime
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FIXES = {"Fixed", "Security"}
# Where the version and the date are written: a pattern and its replacement for each file.
LOCK = (r'^(name = "rdfm-(?!fuzz").*"\nversion = )".*"', r'\g<1>"{version}"')
EDITS = {
    "Cargo.toml": (r'^(\[workspace\.package\]\nversion = )".*"', r'\g<1>"{version}"'),
    "Cargo.lock": LOCK,
    "fuzz/Cargo.lock": LOCK,
    "CITATION.cff": (
        r"^version: .*\n(date-released: .*\n)?",
        "version: {version}\ndate-released: {date}\n",
    ),
    "CHANGELOG.md": (r"^## \[Unreleased\]\n", r"\g<0>\n## [{version}] - {date}\n"),
}


def git(root: Path, *arguments: str) -> str:
    command = ["git", "-C", root, *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def section(root: Path, heading: str) -> str:
    """The text of a section of the changelog, such as "0.1.0"; empty if there is none."""
    pattern = rf"^## \[{re.escape(heading)}\].*\n((?:(?!## ).*\n?)*)"
    found = re.search(pattern, (root / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    return found[1].strip() if found else ""


def numbers(version: str) -> tuple[int, ...]:
    if not re.fullmatch(r"0\.(0|[1-9]\d*)\.(0|[1-9]\d*)", version):
        raise SystemExit(f"'{version[:40]}' is not a version of the form 0.MINOR.PATCH")
    return tuple(map(int, version.split(".")))


def current_version(root: Path) -> str:
    manifest = tomllib.loads((root / "Cargo.toml").read_text("utf-8"))
    return manifest["workspace"]["package"]["version"]


def check_version(version: str, released: list[str], current: str, changes: str) -> None:
    """Refuse a version that docs/compatibility.md does not allow.

    Args:
        version: The new version.
        released: The versions that have tags.
        current: The version in the sources.
        changes: The changelog since the last release.
    """
    numbers(version)
    if not released:
        if version != current:
            raise SystemExit(f"the first release must be {current}, the version in Cargo.toml")
        return
    _, minor, patch = max(map(numbers, released))
    next_patch, next_minor = f"0.{minor}.{patch + 1}", f"0.{minor + 1}.0"
    if version not in (next_patch, next_minor):
        raise SystemExit(f"after 0.{minor}.{patch} comes {next_patch} or {next_minor}")
    others = set(re.findall(r"^### (.+)$", changes, re.MULTILINE)) - FIXES
    if version == next_patch and others:
        listed = ", ".join(sorted(others))
        raise SystemExit(
            f"a patch release only fixes errors, but the changelog has '{listed}'; "
            f"the next version is {next_minor}"
        )


def release(root: Path, version: str) -> None:
    if changed := git(root, "status", "--porcelain"):
        raise SystemExit(f"commit these files first:\n{changed.rstrip()}")
    changes = section(root, "Unreleased")
    if not changes:
        raise SystemExit("CHANGELOG.md has no changes under [Unreleased]")
    released = [tag.removeprefix("v") for tag in git(root, "tag", "--list", "v*").split()]
    check_version(version, released, current_version(root), changes)
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    edited = {}
    for name, (pattern, text) in EDITS.items():
        before = (root / name).read_text("utf-8")
        new = text.format(version=version, date=date)
        edited[name], count = re.subn(pattern, new, before, flags=re.MULTILINE)
        if not count:
            raise SystemExit(f"{name} has no version")
    for name, after in edited.items():
        (root / name).write_text(after, "utf-8")
    git(root, "commit", "--quiet", "--message", f"Release {version}", *EDITS)
    git(root, "tag", "--annotate", "--message", f"rdfm {version}", f"v{version}")
    print(f"Committed and tagged. To publish: git push --atomic origin HEAD v{version}")


def notes(root: Path, version: str) -> str:
    if (current := current_version(root)) != version:
        raise SystemExit(f"the sources have version {current}, not {version}")
    if not (text := section(root, version)):
        raise SystemExit(f"CHANGELOG.md has no section [{version}]")
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("version")
    parser.add_argument("--notes", action="store_true")
    parser.add_argument("--root", type=Path, default=ROOT)
    arguments = parser.parse_args()
    if arguments.notes:
        sys.stdout.write(notes(arguments.root, arguments.version) + "\n")
    else:
        release(arguments.root, arguments.version)


if __name__ == "__main__":
    main()
