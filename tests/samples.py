"""Complete logs for comparison with other programs, from spec-fixtures or generated."""

import importlib.util
from collections.abc import Iterator
from functools import cache

import pytest
from nquads import literal, map_terms, read_expected, read_quads
from support import FIXTURES, ROOT, decoded

FOLDERS = sorted(path.parent.name for path in FIXTURES.glob("*/expected.txt"))
LOG_NAMES = [*FOLDERS, "nanopubs", "iot", "osm"]
WITH_GRAPHS = ("graphs", "nanopubs")


@cache
def log_of(name: str) -> list[list[tuple]]:
    """Returns the messages of the log with a name in `LOG_NAMES`."""
    if name in ("iot", "osm"):
        return [read_quads(text) for text in generated(name, 50)]
    if name == "nanopubs":
        return decoded("trig", (FIXTURES / name / "log.trig").read_bytes())[:30]
    return read_expected(FIXTURES / name / "expected.txt")


def text_cases(*formats: str) -> Iterator:
    """Yields the names of logs, with the text formats in which other programs can read them.

    Generalized logs are excluded.
    """
    for name in LOG_NAMES:
        for format in formats:
            triples_only = format in ("nt", "ttl")
            if name != "generalized" and not (triples_only and name in WITH_GRAPHS):
                yield pytest.param(name, format, id=f"{name}-{format}")


def merge(log: list[list[tuple]]) -> list[tuple]:
    """Merges the log into one dataset, like programs that ignore comment delimiters."""
    return [quad for message in log for quad in message]


def lowercase_languages(log: list[list[tuple]], *, directions: bool = True) -> list[list[tuple]]:
    """Lowercases language tags, as other programs do, and optionally removes base directions."""

    def change(term):
        if term[0] != "literal" or not term[2]:
            return term
        return literal(term[1], term[2].lower(), term[3] if directions else None)

    return [[map_terms(quad, change) for quad in message] for message in log]


@cache
def generator():
    """Returns the module that generates the benchmark logs."""
    spec = importlib.util.spec_from_file_location("generate", ROOT / "benchmarks" / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def generated(name: str, count: int) -> list[str]:
    """Returns the messages of a generated log, `iot`, `osm` or `nanopubs`, as N-Quads."""
    return [
        "".join(" ".join(filter(None, quad)) + " .\n" for quad in message)
        for message in generator().MESSAGES[name](count)
    ]
