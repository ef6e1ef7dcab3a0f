"""Benchmarks of filters, compared with decoding and with a Python loop over pyoxigraph quads."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from counting import decoding, log_data
from work import Row, Task, Work, sample

SENSOR = "<https://iot.example/sensor/7>"
SOSA = "http://www.w3.org/ns/sosa/"
DAY = {"time": f"<{SOSA}resultTime>", "after": "2026-06-03", "before": "2026-06-04"}


def filtering(log: str, criteria: dict[str, Any], folder: Path, messages: int) -> Work:
    """Filters a log in memory. Rates count all quads that are read."""
    import rdfm

    data, format = log_data(log, folder, messages)
    quads = decoding(log, folder, messages).run()

    def run() -> int:
        with rdfm.open_log(data, format) as opened:
            for _ in opened.filter(**criteria).batches():
                pass
        return quads

    return Work(run, len(data))


def reading(log: str, folder: Path, messages: int) -> Work:
    """Reads a log in memory like `filtering`, but without a filter."""
    import rdfm

    data, format = log_data(log, folder, messages)

    def run() -> int:
        with rdfm.open_log(data, format) as opened:
            return sum(batch.quad_count for batch in opened.batches())

    return Work(run, len(data))


def oxigraph_filter(log: str, folder: Path, messages: int) -> Work:
    """Filters N-Quads, one message at a time. The search in a message stops at the first match."""
    import pyoxigraph as ox

    data = sample(folder, log, messages)
    term = ox.NamedNode(SENSOR[1:-1])

    def run() -> int:
        quads = 0
        for text in data.split(b"# @message\n"):
            message_quads = list(ox.parse(text, ox.RdfFormat.N_QUADS))
            quads += len(message_quads)
            any(term in quad for quad in message_quads)
        return quads

    return Work(run, len(data))


def rows() -> list[Row[Task]]:
    """Returns the rows that compare filters with decoding and with pyoxigraph."""
    found = []
    for title, log, criteria in (
        ("a term", "iot.jelly", {"any": SENSOR}),
        ("a term", "iot.nq", {"any": SENSOR}),
        ("a quad", "iot.jelly", {"predicate": f"<{SOSA}madeBySensor>", "object": SENSOR}),
        ("a day", "iot.jelly", DAY),
        ("a string", "iot.jelly", {"contains": "39.99"}),
        ("a regex", "iot.jelly", {"regex": "^39[.]9"}),
        ("every other message", "iot.jelly", {"regex": "[13579]$"}),
        ("matching quads", "iot.jelly", {"predicate": f"<{SOSA}madeBySensor>", "quads": True}),
        ("a term", "nanopubs.trig", {"any": "<https://orcid.org/0000-0002-1267-0234>"}),
    ):
        name, _, format = log.partition(".")
        peer = ("rdfm, decoding only", partial(reading, log))
        task = partial(filtering, log, criteria)
        found.append(Row(f"filter {format} by {title} and decoding ({name})", task, peer, 0.8))
    by_term = partial(filtering, "iot.nq", {"any": SENSOR})
    objects = ("pyoxigraph", partial(oxigraph_filter, "iot.nq"))
    return [*found, Row("filter nq by a term (iot)", by_term, objects, 4)]
