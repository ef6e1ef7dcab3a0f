"""Benchmarks of `riverbench package`, compared with a conversion for each of its files."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from work import Row, Task, Work, sample

FLAT = {"to_dialect": "directive", "version_label": "1.1-messages"}
JELLY = {"restart_bytes": 0}


def package(log: str, stream_type: str, folder: Path, messages: int) -> Work:
    """Creates all distributions, statistics and metadata of a dataset in one pass."""
    from rdfm.riverbench import package

    data = sample(folder, log, messages)

    def run() -> int:
        with tempfile.TemporaryDirectory() as out:
            packaged = package(data, f"{out}/package", stream_type=stream_type, format="nq")
        return packaged.statements

    return Work(run, len(data))


def conversions(log: str, stream_type: str, folder: Path, messages: int) -> Work:
    """Creates each distribution with `convert`, without sorting, statistics or metadata."""
    import rdfm
    from rdfm.riverbench.names import Media, create_sizes, file_name

    data = sample(folder, log, messages)
    triples = stream_type == "graphs"
    options: dict[str, dict[str, Any]] = {"flat": FLAT, "stream": {}, "jelly": JELLY}

    def run() -> int:
        quads = 0
        with tempfile.TemporaryDirectory() as folder_name:
            for size, count in create_sizes(data.count(b"# @message\n") + 1).items():
                for kind, format_options in options.items():
                    name = file_name(kind, size, triples=triples)
                    to = Media.for_kind(kind, triples=triples).format
                    done = rdfm.convert(
                        data,
                        f"{folder_name}/{name}",
                        from_format="nq",
                        to=to,
                        take=count,
                        **format_options,
                    )
                    quads = done.quads
        return quads

    return Work(run, len(data))


def rows() -> list[Row[Task]]:
    """The benchmarks of this module."""
    found = []
    for log, stream_type in (("iot.nq", "graphs"), ("nanopubs.nq", "datasets")):
        peer = ("rdfm convert, for each file", partial(conversions, log, stream_type))
        name = log.partition(".")[0]
        found.append(
            Row(f"riverbench package ({name})", partial(package, log, stream_type), peer, 2)
        )
    return found
