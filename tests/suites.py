"""Test suites of specifications and logs of other projects, which are outside the repository.

`RDFM_SHARED` names the folder of these files. If the variable is not set, tests that read the files
are skipped. These tests, which include all of `tests/spec`, have the marker `suites`.
`make test-suites` runs them.
"""

from __future__ import annotations

import contextlib
import os
import tarfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

FOLDER = Path(os.environ["RDFM_SHARED"]).resolve() if os.environ.get("RDFM_SHARED") else None
REQUIRED = os.environ.get("RDFM_REQUIRE_SHARED") == "1"


def environment() -> dict[str, str]:
    """Returns the environment with the folder of the files."""
    return {**os.environ, "RDFM_SHARED": str(FOLDER)}


ABSENT = "not read, because RDFM_SHARED is not set (make test-suites sets it)"
# The running test, or the module that is being collected.
_user: pytest.Item | pytest.Collector | None = None


@contextlib.contextmanager
def used_by(user: pytest.Item | pytest.Collector) -> Iterator[None]:
    """Sets the running test or the collected module for the duration of the block."""
    global _user
    previous_user, _user = _user, user
    try:
        yield
    finally:
        _user = previous_user


def path(*parts: str) -> Path:
    """Returns the path of a file or folder of the suites.

    If the path does not exist, the test or module is skipped. If `RDFM_REQUIRE_SHARED` is 1, the
    test or module fails instead.

    Raises:
        AssertionError: If the test or module has no marker `suites`.
        FileNotFoundError: If the path does not exist but is required.
    """
    marked = _user is not None and _user.get_closest_marker("suites") is not None
    assert marked, f"{_user} reads suites: mark it with pytest.mark.suites"
    if FOLDER is not None and (found := FOLDER.joinpath(*parts)).exists():
        return found
    reason = f"suites: {ABSENT}" if FOLDER is None else f"{found} is missing"
    if REQUIRED:
        raise FileNotFoundError(f"{reason}, and RDFM_REQUIRE_SHARED is set")
    pytest.skip(reason, allow_module_level=True)


def w3c_files(archive: str, below: str = "./") -> dict[str, bytes]:
    """Returns the files of a W3C suite, by path relative to the folder `below` of the archive."""
    return _unpacked(path("conformance", "w3c", archive), below)


@cache
def _unpacked(archive: Path, below: str) -> dict[str, bytes]:
    with tarfile.open(archive) as opened:
        found = [(member.name, opened.extractfile(member)) for member in opened]
        return {name.removeprefix(below): file.read() for name, file in found if file is not None}
