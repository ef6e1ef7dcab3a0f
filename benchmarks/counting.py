"""Benchmarks of statistics, compared with decoding and with a Python loop over pyoxigraph quads."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

from work import Row, Task, Work, batches, sample

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


def log_data(log: str, folder: Path, messages: int) -> tuple[bytes, str]:
    """The bytes of a log, and its format."""
    format = log.rpartition(".")[2]
    data = (folder / log).read_bytes() if format == "jelly" else sample(folder, log, messages)
    return data, format


def decoding(log: str, folder: Path, messages: int) -> Work:
    """Decodes bytes into batches, as `rdfm.statistics` does."""
    data, format = log_data(log, folder, messages)
    return Work(
        lambda: sum(quad_count(batch) for batch in batches(format, data, parts=True)), len(data)
    )


def quad_count(batch: Any) -> int:
    """Number of quads in a batch."""
    count: int = batch.quad_count
    return count


def statistics(log: str, folder: Path, messages: int) -> Work:
    """Computes statistics from bytes."""
    import rdfm

    data, format = log_data(log, folder, messages)
    return Work(lambda: rdfm.statistics(data, format).quads, len(data))


def oxigraph_statistics(log: str, folder: Path, messages: int) -> Work:
    """Computes similar statistics of N-Quads, message by message, with distinct terms in sets."""
    import pyoxigraph as ox

    data = sample(folder, log, messages)
    format = ox.RdfFormat.N_QUADS

    def run() -> int:
        unique: dict[str, set[Any]] = {}
        series: dict[str, list[int]] = {}
        names: Counter[Any] = Counter()
        quads = 0
        for index, text in enumerate(data.split(b"# @message\n")):
            found: dict[str, set[Any]] = {name: set() for name in KINDS}
            message_quads = set(ox.parse(text, format))
            quads += len(message_quads)
            for quad in message_quads:
                for position, term in zip(POSITIONS, quad, strict=True):
                    found[position].add(term)
                    if isinstance(term, ox.NamedNode):
                        found["iris"].add(term)
                        names["space", namespace(term.value)] += 1
                    elif isinstance(term, ox.BlankNode):
                        found["bnodes"].add((index, term))
                    elif isinstance(term, ox.Literal):
                        found["literals"].add(term)
                        kind = term.language or term.datatype
                        found["datatypes"].add(kind)
                        names["kind", kind] += 1
                names["predicate", quad.predicate] += 1
                if quad.predicate.value == TYPE:
                    names["type", quad.object] += 1
            for name, terms in found.items():
                unique.setdefault(name, set()).update(terms)
                series.setdefault(name, []).append(len(terms))
            series.setdefault("statements", []).append(len(message_quads))
        for values in series.values():
            mean = sum(values) / len(values)
            _ = min(values), max(values), sum((value - mean) ** 2 for value in values)
        return quads

    return Work(run, len(data))


POSITIONS = ("subjects", "predicates", "objects", "graphs")
KINDS = (*POSITIONS, "iris", "bnodes", "literals", "datatypes")


def namespace(iri: str) -> str:
    """An IRI up to its last # or /."""
    return iri[: max(iri.rfind("#"), iri.rfind("/")) + 1]


def rows() -> list[Row[Task]]:
    """Statistics, compared with both peers."""
    found = []
    for name, format in (("iot", "jelly"), ("osm", "jelly"), ("iot", "nq"), ("nanopubs", "trig")):
        log = f"{name}.{format}"
        peer = ("rdfm, decoding only", partial(decoding, log))
        title = f"statistics of {format} and decoding ({name})"
        found.append(Row(title, partial(statistics, log), peer, 0.4))
    sets = ("pyoxigraph, sets", partial(oxigraph_statistics, "iot.nq"))
    return [*found, Row("statistics of nq (iot)", partial(statistics, "iot.nq"), sets, 4)]
