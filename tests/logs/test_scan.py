"""Scans: tables of logs that are opened for each query."""

import io
import threading

import duckdb
import pyarrow as pa
import pytest

import rdfm
from rdfm import DecodeError, OptionError
from rdfm.logs.read import scan as scan_module

COLUMNS = ["source", "message_index", "subject", "predicate", "object", "graph"]
COUNT = 30_000


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """A log in which each message has two quads, one of them in a named graph."""
    path = tmp_path_factory.mktemp("logs") / "log.nq"
    message = '<a:s> <a:p> <a:o{0}> .\n<a:s> <a:q> "{0}" <a:g> .\n# @message\n'
    path.write_text("".join(map(message.format, range(COUNT))))
    return path


@pytest.fixture
def opened(monkeypatch):
    """The readers that scans have opened, with the number of batches read and whether closed."""
    readers = []

    class CountingReader(scan_module.LogReader):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            self.batch_count, self.is_closed = 0, False
            readers.append(self)

        def _take_batch(self):
            self.batch_count += 1
            return super()._take_batch()

        def close(self):
            self.is_closed = True
            super().close()

    monkeypatch.setattr(scan_module, "LogReader", CountingReader)
    return readers


def test_a_schema_does_not_open_the_log(opened):
    quads = rdfm.scan("missing.nq", columns=["object", "message_index"])
    assert pa.schema(quads) == quads.schema
    assert quads.schema.names == ["object", "message_index"]
    assert repr(quads) == "<LogScan of missing.nq: object, message_index>"
    assert not opened
    with pytest.raises(FileNotFoundError):
        pa.table(quads)


def test_each_stream_reads_the_log_again(log, opened):
    quads = rdfm.scan(log)
    first = pa.table(quads)
    assert first.num_rows == 2 * COUNT
    assert pa.table(quads).equals(first)
    with rdfm.open_log(log, rows="quads") as reader:
        assert reader.to_arrow().equals(first)
    assert len(opened) == 2
    assert all(reader.is_closed for reader in opened)
    assert quads.to_pandas()["object"].equals(quads.to_polars().to_pandas()["object"])


def test_duckdb_queries_a_scan_any_number_of_times(log):
    quads = rdfm.scan(log)
    connection = duckdb.connect()
    connection.register("logs", quads)
    for _ in range(2):
        counted = connection.sql("SELECT predicate, count(*) FROM logs GROUP BY 1 ORDER BY 1")
        assert counted.fetchall() == [("<a:p>", COUNT), ("<a:q>", COUNT)]
    joined = duckdb.sql(
        "SELECT count(*) FROM quads a JOIN quads b USING (message_index) WHERE a.graph IS NULL AND b.graph = '<a:g>'"
    )
    assert joined.fetchall() == [(COUNT,)]


def test_a_limit_ends_the_reading(log, opened):
    quads = rdfm.scan(log)  # noqa: F841 - DuckDB finds it by its name
    assert len(duckdb.sql("SELECT object FROM quads LIMIT 3").fetchall()) == 3
    with rdfm.open_log(log) as reader:
        batches = sum(1 for _ in reader.batches())
    assert sum(reader.batch_count for reader in opened) < batches
    assert all(reader.is_closed for reader in opened)


def test_a_scan_reads_a_few_batches_ahead(log):
    """DuckDB does not collect the rows: it takes batches while earlier ones are processed."""
    reader = pa.RecordBatchReader.from_stream(rdfm.scan(log))
    sizes = [batch.num_rows for batch in reader]
    assert sum(sizes) == 2 * COUNT
    assert max(sizes) <= 8192


def test_criteria_select_quads_or_messages(log):
    assert rdfm.scan(log, subject="<a:s>", predicate="<a:q>", object='"7"').to_arrow().select(
        COLUMNS[1:]
    ).to_pylist() == [
        {
            "message_index": 7,
            "subject": "<a:s>",
            "predicate": "<a:q>",
            "object": '"7"',
            "graph": "<a:g>",
        }
    ]
    assert rdfm.scan(log, object='"7"', quads=False).to_arrow().num_rows == 2
    messages = rdfm.scan(log, rows="messages", object='"7"', columns=["message_index", "quads"])
    (message,) = messages.to_arrow().to_pylist()
    assert (message["message_index"], len(message["quads"])) == (7, 2)
    assert (
        rdfm.scan(log, where='ASK { GRAPH ?g { ?s ?p "7" } }', quads=False).to_arrow().num_rows == 2
    )


def test_several_logs_are_scanned_in_order(log):
    two = rdfm.scan([log, b'<x:a> <x:p> "1" .\n'], columns=["source", "message_index"])
    table = two.to_arrow()
    assert table.num_rows == 2 * COUNT + 1
    assert table.slice(2 * COUNT).to_pylist() == [{"source": "bytes", "message_index": 0}]


def test_rows_before_an_error_are_returned():
    broken = rdfm.scan(b"<x:a> <x:p> <x:b> .\n# @message\noops\n", "nq")
    rows = []
    with pytest.raises((DecodeError, pa.ArrowInvalid), match=r"oops|expected"):
        rows.extend(pa.RecordBatchReader.from_stream(broken))
    assert sum(batch.num_rows for batch in rows) == 1
    with pytest.raises(duckdb.Error, match="message 1"):
        duckdb.sql("SELECT * FROM broken").fetchall()


def test_threads_scan_at_the_same_time(log):
    quads = rdfm.scan(log, columns=["object"])
    counts = []
    threads = [
        threading.Thread(target=lambda: counts.append(quads.to_arrow().num_rows)) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [2 * COUNT] * 2


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (["grpc://localhost:1/topic"], {}, "grpc://localhost:1/topic can be read only once"),
        ([io.BytesIO(b"")], {}, "BytesIO can be read only once"),
        ([[]], {}, "no input is given"),
        (["a.nq"], {"columns": ["x"]}, "unknown column 'x'"),
        (["a.nq"], {"rows": "rows"}, "rows must be 'messages' or 'quads'|rows"),
        (["a.nq"], {"subject": "nothing"}, "'nothing' is not a term"),
        (["a.nq"], {"time": "ex:at"}, "alone selects nothing"),
        (["a.nq"], {"invert": True}, "no criterion is given"),
    ],
)
def test_invalid_arguments_are_rejected_before_a_query(arguments, options, message):
    with pytest.raises(OptionError, match=message):
        rdfm.scan(*arguments, **options)
