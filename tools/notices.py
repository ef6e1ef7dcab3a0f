"""Writes THIRD_PARTY_NOTICES.txt: the licences of the Rust crates linked into the wheel.

In: `cargo metadata` of the binding on every platform that wheels are built for, and the licence
files in the sources of the crates. Out: the file, which is the same on every machine. `--check`
writes and fetches nothing. It exits with status 1 if a crate of this platform is missing from the
file, or if a crate in the file is not in Cargo.lock.
"""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOTICES = ROOT / "THIRD_PARTY_NOTICES.txt"
PLATFORMS = (
    "x86_64-unknown-linux-gnu",
    "aarch64-unknown-linux-gnu",
    "aarch64-apple-darwin",
    "x86_64-pc-windows-msvc",
)
RULE = "=" * 80


def crates(platforms: Iterable[str]) -> list[dict]:
    """The linked third-party packages, without build dependencies and procedural macros."""
    command = ["cargo", "metadata", "--format-version=1", "--locked"]
    for platform in platforms:
        command += ["--filter-platform", platform]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE)
    metadata = json.loads(done.stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    edges = {node["id"]: node["deps"] for node in metadata["resolve"]["nodes"]}
    seen: set[str] = set()
    todo = [i for i, package in packages.items() if package["name"] == "rdfm-py"]
    while todo:
        name = todo.pop()
        is_macro = any("proc-macro" in target["kind"] for target in packages[name]["targets"])
        if name in seen or is_macro:
            continue
        seen.add(name)
        for edge in edges[name]:
            if any(kind["kind"] is None for kind in edge["dep_kinds"]):
                todo.append(edge["pkg"])
    third_party = [packages[name] for name in seen if packages[name]["source"]]
    return sorted(third_party, key=lambda package: (package["name"], package["version"]))


def title(package: dict) -> str:
    return f"{package['name']} {package['version']} ({package['license'] or 'see its text'})"


def texts(package: dict) -> list[str]:
    """The licence and notice files of a crate, sorted by name."""
    folder = Path(package["manifest_path"]).parent
    found = [
        path
        for path in folder.iterdir()
        if path.is_file() and re.match(r"(?i)(licen[cs]e|copying|notice|unlicense)", path.name)
    ]
    return [
        "\n".join(line.rstrip() for line in path.read_text("utf-8").strip().splitlines())
        for path in sorted(found, key=lambda path: path.name)
    ]


def notices() -> str:
    users: dict[str, list[str]] = {}
    without_text = []
    for package in crates(PLATFORMS):
        found = texts(package)
        if not found:
            without_text.append(title(package))
        for text in found:
            users.setdefault(text, []).append(title(package))
    parts = [
        "The wheels of rdfm contain these Rust crates. Each crate is listed with each of its licence texts.",
    ]
    if without_text:
        parts.append(
            "The sources of these crates contain no licence text; the licence is given by name:"
        )
        parts.append("\n".join(without_text))
    for text, names in users.items():
        parts += [RULE, "\n".join(names), "-" * 80, text]
    return "\n\n".join(parts) + "\n"


def check() -> list[str]:
    """The errors in the file, one sentence each."""
    host = subprocess.run(["rustc", "-vV"], cwd=ROOT, check=True, capture_output=True, text=True)
    platform = re.search(r"^host: (\S+)", host.stdout, re.MULTILINE)
    assert platform, "rustc -vV did not print the host"
    lines = NOTICES.read_text("utf-8").splitlines()
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text("utf-8"))["package"]
    known = {(package["name"], package["version"]) for package in locked}
    named = {
        match.groups()
        for match in (re.fullmatch(r"([\w-]+) (\d+\.\d+\.\d+\S*) \(.*\)", line) for line in lines)
        if match
    }
    missing = {title(package) for package in crates([platform[1]])} - set(lines)
    obsolete = {" ".join(name) for name in named - known}
    return [f"{name} is missing" for name in sorted(missing)] + [
        f"{name} is not in Cargo.lock" for name in sorted(obsolete)
    ]


def main() -> int:
    if sys.argv[1:] == ["--check"]:
        errors = check()
        for error in errors:
            print(f"THIRD_PARTY_NOTICES.txt: {error}; run make notices")
        return 1 if errors else 0
    NOTICES.write_text(notices(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
