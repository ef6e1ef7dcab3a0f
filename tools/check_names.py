"""Checks that each type name has one meaning within a crate.

In: the sources of the crates in `CRATES`. Comments and items under `#[cfg(test)]` are ignored.
Out: one line per struct, enum, trait or union name that is declared more than once, with its files.
Type aliases and associated types are not checked. The exit status is 1 if there is a violation.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from check_imports import without_tests

ROOT = Path(__file__).resolve().parent.parent
CRATES = sorted(path.name for path in (ROOT / "crates").iterdir() if path.is_dir())
DECLARATION = re.compile(
    r"^[ \t]*(?:pub(?:\([\w: ]+\))? )?(?:unsafe )?(?:struct|enum|trait|union) (\w+)", re.MULTILINE
)


def declared(source: Path) -> dict[str, list[str]]:
    """The files that declare each type name, relative to `source`, once per declaration."""
    files: dict[str, list[str]] = defaultdict(list)
    for path in sorted(source.rglob("*.rs")):
        if path.name == "tests.rs":
            continue
        for name in DECLARATION.findall(without_tests(path.read_text())):
            files[name].append(path.relative_to(source).as_posix())
    return files


def violations(source: Path) -> Iterator[str]:
    """The names that are declared more than once."""
    for name, files in sorted(declared(source).items()):
        if len(files) > 1:
            yield f"{name} is declared more than once: {', '.join(files)}"


def main() -> None:
    """Prints the violations."""
    found = [
        f"{crate}: {line}"
        for crate in CRATES
        for line in violations(ROOT / "crates" / crate / "src")
    ]
    print(*found, sep="\n", end="\n" if found else "")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
