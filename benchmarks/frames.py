"""Benchmarks of reading a log as a DataFrame, compared with rdflib, pyoxigraph and maplib.

All sides create a Polars DataFrame of subjects, predicates and objects from the same N-Triples file.
maplib is not installed by `make`: `pip install maplib==0.20.*`. It reads N-Triples only.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from work import Row, Task, Work, sample

COLUMNS = ["subject", "predicate", "object"]


def triples_file(folder: Path, messages: int) -> Path:
    """The triples of a log as one message of N-Triples, so that their blank nodes differ."""
    import rdfm

    path = folder / f"iot-{messages}.nt"
    if not path.exists():
        data = sample(folder, "iot.nq", messages)
        rdfm.convert(data, path, from_format="nq", group_by="all")
    return path


def frame_work(read: Callable[[Path], int], most: int, folder: Path, messages: int) -> Work:
    """Reads the first messages of a log, at most `most`. `read` returns the number of rows."""
    path = triples_file(folder, min(messages, most))
    return Work(lambda: read(path), path.stat().st_size)


def rdfm_frame(path: Path) -> int:
    """Reads with rdfm."""
    import rdfm

    return rdfm.scan(path, columns=COLUMNS).to_polars().height


def oxigraph_frame(path: Path) -> int:
    """Reads with pyoxigraph."""
    import polars as pl
    import pyoxigraph as ox

    rows = [
        (str(quad.subject), str(quad.predicate), str(quad.object)) for quad in ox.parse(path=path)
    ]
    return pl.DataFrame(rows, COLUMNS, orient="row").height


def rdflib_frame(path: Path) -> int:
    """Reads with rdflib."""
    import polars as pl
    import rdflib

    graph = rdflib.Graph().parse(path, format="nt")
    rows = [tuple(term.n3() for term in triple) for triple in graph]
    return pl.DataFrame(rows, COLUMNS, orient="row").height


def maplib_frame(path: Path) -> int:
    """Reads with maplib."""
    from maplib import Model

    model = Model()
    model.read(str(path))
    return int(
        model.query("SELECT ?subject ?predicate ?object { ?subject ?predicate ?object }").height
    )


def rows() -> list[Row[Task]]:
    """Returns a row for each peer. Slow peers read fewer messages."""
    return [
        Row(
            f"nt to a DataFrame (iot), with {name}",
            partial(frame_work, rdfm_frame, 200_000),
            (name, partial(frame_work, read, most)),
            target,
        )
        for name, read, most, target in (
            ("rdflib", rdflib_frame, 2_000, 20),
            ("pyoxigraph", oxigraph_frame, 20_000, 3),
            ("maplib", maplib_frame, 20_000, 3),
        )
    ]
