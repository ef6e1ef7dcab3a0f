"""Message logs of spec-fixtures by folder. Each folder is named after a feature."""

from pathlib import Path
from typing import Any

from support import FIXTURES

from rdfm import formats

LOGS: dict[str, list[Path]] = {
    expected.parent.name: [
        path for path in sorted(expected.parent.iterdir()) if formats.by_path(path.name)
    ]
    for expected in sorted(FIXTURES.glob("*/expected.txt"))
}
LOGS["nanopubs"] = [FIXTURES / "nanopubs" / "log.trig"]


def reading_options(path: Path) -> dict[str, Any]:
    """Returns the options required to read a log."""
    return (
        {"generalized": True} if path.parent.name == "generalized" and path.suffix == ".nq" else {}
    )
