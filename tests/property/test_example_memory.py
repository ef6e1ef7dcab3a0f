"""The streaming examples of the pages use less than 300 MB for a large log.

RDFM_EXAMPLE_MB is the size of the log: 5 MB by default, 500 MB in `make soak`.
"""

import os
import sys

import pytest
from measured import block, measured

SIZE_MB = int(os.environ.get("RDFM_EXAMPLE_MB", "5"))
LIMIT_BYTES = 300_000_000

# What each example does with the log `path`. It prints the number of quads or messages.
EXAMPLES = {
    "messages": """
with rdfm.open_log(path) as log:
    print(sum(len(message) for message in log))
""",
    "batches": """
with rdfm.open_log(path) as log:
    print(sum(batch.quad_count for batch in log.batches()))
""",
    "asyncio": """
import asyncio
async def count():
    with rdfm.open_log(path) as log:
        batches, quads = log.batches(), 0
        while (batch := await asyncio.to_thread(next, batches, None)) is not None:
            quads += batch.quad_count
        return quads
print(asyncio.run(count()))
""",
    "Arrow stream": """
import pyarrow as pa
with pa.RecordBatchReader.from_stream(rdfm.scan(path, columns=["subject"])) as batches:
    print(sum(batch.num_rows for batch in batches))
""",
    "Arrow stream of all columns": """
import pyarrow as pa
with pa.RecordBatchReader.from_stream(rdfm.scan(path)) as batches:
    print(sum(batch.num_rows for batch in batches))
""",
    "DuckDB": """
import duckdb
logs = rdfm.scan(path)
print(duckdb.execute("SELECT sum(n) FROM (SELECT predicate, count(*) AS n FROM logs GROUP BY ALL)").fetchone()[0])
""",
    "Polars": """
import polars as pl
lazy = rdfm.scan_polars(path).group_by("predicate").len()
print(lazy.collect(engine="streaming")["len"].sum())
""",
    "solutions": """
import pyarrow as pa
with rdfm.select("SELECT ?s ?o { ?s ?p ?o }", path, types="auto", union_graphs=True) as solutions:
    print(sum(batch.num_rows for batch in pa.RecordBatchReader.from_stream(solutions)))
""",
    "table": """
table = rdfm.table(path, union_graphs=True)
print(sum(batch.num_rows * len(table.types) for batch in table.batches()))
""",
    "rewritten log": """
with rdfm.open_log(path) as log, rdfm.create_log(path + ".jelly") as output:
    for batch in log.batches():
        output.write_batch(batch)
with rdfm.open_log(path + ".jelly") as log:
    print(sum(batch.quad_count for batch in log.batches()))
""",
    "conversion": """
print(rdfm.convert(path, path + ".jelly").quads)
""",
}


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """The log, with the number of its quads."""
    path = tmp_path_factory.mktemp("log") / "log.nq"
    piece = block(5_000_000)
    with path.open("wb") as file:
        for _ in range(SIZE_MB // 5):
            file.write(piece)
    yield path, piece.count(b" .\n") * (SIZE_MB // 5)
    for each in path.parent.iterdir():
        each.unlink()


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_uses_bounded_memory(log, name, tmp_path):
    path, quads = log
    output = tmp_path / "output"
    program = f"import sys, rdfm\npath = sys.argv[1]\nsys.stdout = open(sys.argv[2], 'w')\n{EXAMPLES[name]}"
    code, resident, errors, _ = measured("-c", program, path, output, program=sys.executable)
    assert (code, errors) == (0, "")
    assert int(output.read_text()) == quads
    print(f"{name}: {resident / 1e6:.0f} MB")
    assert resident < LIMIT_BYTES
