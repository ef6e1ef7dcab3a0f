"""Checks that each type name has one meaning within a crate.

In: the sources of the crates in `CRATES`, except the folders in `UNCHECKED`. Comments and items under `#[cfg(test)]`
are ignored.
Out: one line per struct, enum or trait name that is declared more than once, with its files; one line per unchecked
folder that does not exist. Type aliases and associated types are not checked. The exit status is 1 if there is a
violation.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from check_imports import without_tests

ROOT = Path(__file__).resolve().parent.parent
CRATES = ["rdfm-core"]
DECLARATION = re.compile(
    r"^[ \t]*(?:pub(?:\([\w: ]+\))? )?(?:unsafe )?(?:struct|enum|trait|union) (\w+)", re.MULTILINE
)
# Folders of a crate whose names are not unique yet; they are not checked.
UNCHECKED = {"rdfm-core": ["formats/jelly", "formats/jsonld", "syntax/json"]}


def declared(source: Path, unchecked: Sequence[str] = ()) -> dict[str, list[str]]:
    """The files that declare each type name, relative to `source`; a file occurs once per declaration."""
    files: dict[str, list[str]] = defaultdict(list)
    for path in sorted(source.rglob("*.rs")):
        if path.name == "tests.rs" or any(
            path.is_relative_to(source / folder) for folder in unchecked
        ):
            continue
        for name in DECLARATION.findall(without_tests(path.read_text())):
            files[name].append(path.relative_to(source).as_posix())
    return files


def wrong(source: Path, unchecked: Sequence[str] = ()) -> Iterator[str]:
    """The names that are declared more than once, and the unchecked folders that do not exist."""
    for name, files in sorted(declared(source, unchecked).items()):
        if len(files) > 1:
            yield f"{name} is declared more than once: {', '.join(files)}"
    for folder in unchecked:
        if not (source / folder).is_dir():
            yield f"{folder} is in UNCHECKED and does not exist"


def main() -> None:
    """Prints the violations."""
    found = [
        f"{crate}: {line}"
        for crate in CRATES
        for line in wrong(ROOT / "crates" / crate / "src", UNCHECKED.get(crate, ()))
    ]
    print(*found, sep="\n", end="\n" if found else "")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
