"""Records the outputs of the command line, to compare two versions of rdfm.

    python tools/record_outputs.py > after.txt
    PYTHONPATH=../other/checkout python tools/record_outputs.py > before.txt
    diff before.txt after.txt

Runs `convert`, `cat`, `filter` and `query` in this process over the logs of `spec-fixtures`: every
log into every format of its kind, and a few logs with every option. Each line has the exit status,
a hash of the files written, a hash of standard output and standard error, and the command.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from rdfm import formats
from rdfm.cli import main
from rdfm.conversion.convert_options import SHOWING, STAGES
from rdfm.conversion.filter import FILTER
from rdfm.formats import OptionSpec
from rdfm.sparql.query_options import QUERY

FIXTURES = Path(__file__).parents[1] / "spec-fixtures"
# Logs that are used with every option: one for each way of reading a format.
SAMPLE_LOGS = (
    "nanopubs/log.trig",
    "prefixes/log.jelly",
    "graphs/comment.nq",
    "metadata/log.jelly",
    "empty-middle/log.rpb",
)
EXAMPLE_VALUES = {
    "group_by": ("subject", "graph", "count=2", "bytes=40", "all", "sentence"),
    "messages": ("0", "1:", "-1:", "::2", "-2:-1", "99", "x"),
    "sample": ("50%", "2", "0%"),
    "skolemize": ("http://e/",),
    "default_graph_as": ("http://e/g",),
    "subject": ("<http://example.org/a>", "ex:a", "oops oops"),
    "predicate": ("rdf:type", "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"),
    "object": ("5", '"a"'),
    "graph": ("default", "<http://example.org/g>"),
    "any": ("<http://example.org/a>",),
    "contains": ("a",),
    "regex": ("^.", "("),
    "where": ("ASK { ?s ?p ?o }", "ASK { GRAPH ?g { ?s ?p ?o } }"),
    "prefixes": ("ex=http://example.org/",),
    "types": ("o=string", "o=integer"),
    "timeout": ("9",),
    "from_format": ("nq", "jelly"),
    "to": ("nq", "trig", "jelly", "srj"),
    "solutions": ("none.srj",),
}
QUERIES = (
    "SELECT ?s ?o { ?s ?p ?o }",
    "SELECT * { GRAPH ?g { ?s ?p ?o } }",
    "CONSTRUCT { ?o ?p ?s } { ?s ?p ?o FILTER (isIRI(?o)) }",
    "ASK { ?s ?p ?o FILTER (isLiteral(?o)) }",
)


def values(name: str, option: OptionSpec) -> Iterator[list[str]]:
    """The arguments for an option with some of its values."""
    flag = f"--{option.option}"
    if option.kind == "switch":
        yield [flag]
        if option.off:
            yield [f"--{option.off}"]
        return
    if option.kind == "choice":
        given: tuple[str, ...] = tuple(str(choice) for choice in option.choices)
    elif option.kind in ("count", "bytes"):
        given = ("0", "1", "3")
    else:
        given = EXAMPLE_VALUES.get(name, ("x",))
    yield from ([flag, value] for value in given)


def logs() -> list[Path]:
    """The logs of the fixtures."""
    found = (path for path in FIXTURES.rglob("*.*") if path.suffix not in (".md", ".py", ".txt"))
    return sorted(path for path in found if formats.by_path(str(path)) is not None)


def outputs(kind: str) -> list[str]:
    """The formats that can be written from logs of this kind."""
    return [
        spec.name
        for spec in formats.specs()
        if kind in spec.kinds and formats.find(spec.name).is_written
    ]


def commands() -> Iterator[list[str]]:
    """The arguments of all commands. OUT is a placeholder for the output."""
    for log in logs():
        format = formats.by_path(str(log))
        assert format is not None
        for kind in format.spec.kinds[:1]:
            for name in outputs(kind):
                yield ["convert", str(log), f"OUT.{name}", "--to", name]
                yield ["convert", str(log), "OUT/", "--to", name]
        yield ["cat", str(log)]
    for name in SAMPLE_LOGS:
        log_name = str(FIXTURES / name)
        for option_name, option in STAGES.items():
            for arguments in values(option_name, option):
                yield ["convert", log_name, "OUT.trig", *arguments]
                yield ["convert", log_name, "OUT.jelly", *arguments]
        for side in ("read", "write"):
            for format_name in ("nq", "trig", "jelly", "rpb", "ndjsonld"):
                for option_name, option in formats.find(format_name).spec.options(side).items():
                    if not option.python_only:
                        for arguments in values(option_name, option):
                            yield [
                                "convert",
                                log_name,
                                f"OUT.{format_name}",
                                "--to",
                                format_name,
                                *arguments,
                            ]
        for option_name, option in SHOWING.items():
            for arguments in values(option_name, option):
                yield ["cat", log_name, *arguments]
        for option_name, option in FILTER.items():
            for arguments in values(option_name, option):
                yield ["filter", log_name, *arguments, "-o", "OUT.nq"]
                yield ["filter", log_name, *arguments, "--any", "rdf:type", "--count"]
        for query in QUERIES:
            yield ["query", query, log_name]
            yield [
                "query",
                query,
                log_name,
                "-o",
                "OUT.trig" if "CONSTRUCT" in query else "OUT.srj",
            ]
            for option_name, option in QUERY.items():
                for arguments in values(option_name, option):
                    yield ["query", query, log_name, *arguments]
                    yield [
                        "query",
                        query,
                        log_name,
                        *arguments,
                        "-o",
                        "OUT.parquet" if "SELECT" in query else "OUT.nq",
                    ]


def run(arguments: list[str], folder: Path, printed: IO[bytes]) -> str:
    """Run a command whose output goes to `printed`, and return its line of the report."""
    printed.seek(0)
    printed.truncate()
    status: object = 0
    try:
        main([word.replace("OUT", str(folder / "out")) for word in arguments])
    except SystemExit as exit:
        status = exit.code
    sys.stdout.flush()
    sys.stderr.flush()
    printed.seek(0)
    text = printed.read().replace(str(folder).encode(), b"FOLDER")
    # Times and rates differ from run to run.
    text = re.sub(rb"in [0-9.]+ m?s.*", b"", text)
    files_hash = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            files_hash.update(str(path.relative_to(folder)).encode() + path.read_bytes())
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    command = " ".join(arguments).replace(str(FIXTURES), "F")
    return (
        f"{status} {files_hash.hexdigest()[:16]} {hashlib.sha256(text).hexdigest()[:16]} {command}"
    )


if __name__ == "__main__":
    os.environ["COLUMNS"] = "100"
    report = os.fdopen(os.dup(1), "w", encoding="utf-8")
    with tempfile.TemporaryDirectory() as name, tempfile.TemporaryFile() as printed:
        os.chdir(name)
        os.dup2(printed.fileno(), 1)
        os.dup2(printed.fileno(), 2)
        target = Path(name) / "files"
        target.mkdir()
        for arguments in commands():
            print(run(arguments, target, printed), file=report)
