"""Benchmarks of queries per message, compared with decoding and with pyoxigraph stores."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from counting import decoding, log_data
from work import Row, Task, Work, batches, sample

PREFIXES = """PREFIX sosa: <http://www.w3.org/ns/sosa/>
PREFIX om: <http://www.ontology-of-units-of-measure.org/resource/om-2/>
"""
PATTERN = """?observation sosa:madeBySensor ?sensor ; sosa:resultTime ?time ; sosa:hasResult ?result .
  ?result om:hasNumericalValue ?value"""
QUERIES = {
    "a pattern": f"SELECT ?sensor ?time ?value {{ {PATTERN} }}",
    "a pattern with a filter": f"SELECT ?sensor ?time ?value {{ {PATTERN} FILTER(?value > 20) }}",
    "BIND": f"SELECT ?sensor ?time ?double {{ {PATTERN} BIND(?value * 2 AS ?double) }}",
    "GROUP BY": f"SELECT ?sensor (AVG(?value) AS ?mean) {{ {PATTERN} }} GROUP BY ?sensor",
}


def query(name: str, log: str, folder: Path, messages: int) -> Work:
    """Queries a log in memory. The result is an Arrow stream."""
    import rdfm

    data, format = log_data(log, folder, messages)
    quads = sum(batch.quad_count for batch in batches(format, data))
    text = PREFIXES + QUERIES[name]

    def run() -> int:
        row_count(rdfm.query(text, data, format=format))
        return quads

    return Work(run, len(data))


def row_count(stream: Any) -> int:
    """Reads an Arrow stream to its end, and returns the number of rows."""
    import pyarrow as pa

    found: int = sum(batch.num_rows for batch in pa.RecordBatchReader.from_stream(stream))
    return found


def oxigraph_query(name: str, log: str, folder: Path, messages: int) -> Work:
    """Queries N-Quads, with each message in a separate store. Rows are tuples of strings."""
    import pyoxigraph as ox

    data = sample(folder, log, messages)
    text, format = PREFIXES + QUERIES[name], ox.RdfFormat.N_QUADS

    def run() -> int:
        quads = 0
        rows: list[tuple[Any, ...]] = []
        for index, message in enumerate(data.split(b"# @message\n")):
            store = ox.Store()
            store.extend(ox.parse(message, format))
            found: Any = store.query(text)
            rows += [(index, *map(str, row)) for row in found]
            quads += len(store)
        return quads

    return Work(run, len(data))


def rows() -> list[Row[Task]]:
    """Queries compared with decoding only and with pyoxigraph stores."""
    found: list[Row[Task]] = []
    for name in ("a pattern", "a pattern with a filter"):
        peer = ("rdfm, decoding only", partial(decoding, "iot.jelly"))
        title = f"query of jelly, {name}, and decoding (iot)"
        found.append(Row(title, partial(query, name, "iot.jelly"), peer))
    for name in QUERIES:
        stores = ("pyoxigraph, stores", partial(oxigraph_query, name, "iot.nq"))
        found.append(Row(f"query of nq, {name} (iot)", partial(query, name, "iot.nq"), stores, 4))
    return found
