"""Parquet and Arrow IPC: round trips of patches, and results as tables."""

import io
import subprocess
import sys
import time

import pyarrow as pa
import pytest
from hypothesis import given
from patches import as_batch
from patches import patches as patch_logs
from pyarrow import ipc, parquet
from support import TABLES

import rdfm
from rdfm import BlankNode, DecodeError, EncodeError, Iri, Literal, OptionError, formats
from rdfm._core import PatchBatch, ResultBatch
from rdfm.formats.parquet_files import WIDE_COLUMNS
from rdfm.message import Operation, Patch

S = Iri("http://e/s")
PATCH_FORMATS = [each.name for each in formats.built_in() if each.spec.kinds == ("patches",)]
RESULT_FORMATS = [
    each.name
    for each in formats.built_in()
    if each.spec.kinds == ("results",) and each.name != "results-csv"
]
LOG = [
    Patch(
        [
            Operation("H", "id", None, None, Iri("urn:uuid:1"), None),
            Operation("TX"),
            Operation("PA", "ex", None, None, Iri("http://e/"), None),
            Operation("A", None, S, S, Literal("x", language="en"), None),
            Operation("D", None, S, S, BlankNode("b"), S),
            Operation("PD", "ex"),
            Operation("TC"),
        ]
    ),
    Patch([Operation("TX"), Operation("TA")]),
]
ROWS = [(S, None), (Literal("x"), BlankNode("b")), (None, None)]


def table(data, name):
    """Reads a log with pyarrow."""
    if name == "parquet":
        return parquet.read_table(io.BytesIO(data))
    return ipc.open_file(data).read_all()


def save(path, rows):
    """Writes a file with pyarrow."""
    if path.suffix == ".parquet":
        parquet.write_table(rows, path, row_group_size=2)
        return
    with ipc.new_file(str(path), rows.schema) as writer:
        writer.write_table(rows, max_chunksize=2)


def read(path, *format, kind="patches"):
    """Returns all messages of a log."""
    with rdfm.open_log(path, *format, kind=kind) as log:
        return list(log)


def operations_of(batch):
    return [list(patch) for patch in batch]


@pytest.mark.parametrize("name", TABLES)
@given(log=patch_logs(graphs=True))
def test_patches_are_read_back(name, log):
    batch = as_batch(log)
    decoded = formats.find(name).decode(formats.find(name).encode(batch))
    if len(batch):
        assert isinstance(decoded, PatchBatch)
    assert operations_of(decoded) == operations_of(batch)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("other", PATCH_FORMATS)
def test_patches_of_every_format_survive_a_round_trip(tmp_path, name, other):
    first, second, round_trip = (tmp_path / part for part in ("first", "second", "back"))
    with rdfm.create_log(first, other, kind="patches") as log:
        for patch in LOG:
            log.write(patch)
    rdfm.convert(first, second, from_format=other, to=name)
    summary = rdfm.convert(second, round_trip, from_format=name, to=other)
    assert summary.messages == 2
    with rdfm.open_log(round_trip, other, kind="patches") as log:
        assert list(log) == LOG
    sources = table(second.read_bytes(), name)["source"].to_pylist()
    assert sources == [str(first)] * 2


@pytest.mark.parametrize("name", TABLES)
def test_a_log_contains_one_kind(tmp_path, name):
    with rdfm.create_log(tmp_path / "log", name, kind="patches") as log:
        for patch in LOG:
            log.write(patch)
    with rdfm.open_log(tmp_path / "log", name, kind="patches") as log:
        assert list(log) == LOG
    with (
        rdfm.open_log(tmp_path / "log", name) as log,
        pytest.raises(OptionError, match='contains patches, not messages; kind="patches" reads'),
    ):
        list(log)
    encoder = formats.find(name).Encoder()
    encoder.encode(PatchBatch.from_patches(LOG))
    with pytest.raises(EncodeError, match="found messages among patches"):
        encoder.encode(rdfm.MessageBatch.from_messages([[]])) + encoder.finish()


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize(
    ("option", "reason"),
    [
        ("flat", "the option flat applies to messages"),
        ("namespaces", "the option namespaces applies to"),
    ],
)
def test_message_options_are_rejected(name, option, reason):
    batches = PatchBatch.from_patches(LOG), ResultBatch.from_rows(ROWS, ["a", "b"])
    for batch in batches:
        with pytest.raises(EncodeError, match=reason):
            formats.find(name).encode(batch, **{option: True})


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_columns_determine_the_kind(tmp_path, suffix):
    path = tmp_path / f"log{suffix}"
    null_fields = {part: None for part in ("name", "subject", "predicate", "object", "graph")}
    operations = [[{"op": "TX", **null_fields}], None, []]
    # An operation may have fewer fields.
    save(path, pa.table({"other": [1, 2, 3], "operations": pa.array(operations, OPERATIONS)}))
    with rdfm.open_log(path, kind="patches") as log:
        assert [len(patch) for patch in log] == [1, 0, 0]
    quads = pa.array([[], [], []], pa.list_(pa.struct([(part, pa.string()) for part in PARTS])))
    save(path, pa.table({"operations": pa.array(operations, OPERATIONS), "quads": quads}))
    with pytest.raises(DecodeError, match=r"columns quads and operations.*drop one of them"):
        read(path)
    save(path, pa.table({"operations": ["text"]}))
    with pytest.raises(
        DecodeError, match=r"column operations, whose structs.*found operations string"
    ):
        read(path)


PARTS = ("subject", "predicate", "object", "graph")
OPERATIONS = pa.list_(pa.struct([(part, pa.string()) for part in ("op", *PARTS[:3])]))


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_patches_before_an_invalid_operation_are_returned(tmp_path, suffix):
    path = tmp_path / f"log{suffix}"
    operations = [[{"op": "TX"}], [{"op": "TX"}, {"op": "TX", "subject": "<a:s>"}]]
    save(path, pa.table({"operations": pa.array(operations, OPERATIONS)}))
    reason = r"operation 1, subject: expected null \(TX has no subject\).*patch 1"
    with rdfm.open_log(path, kind="patches") as log:
        batches = log.batches()
        assert len(next(batches)) == 1
        with pytest.raises(DecodeError, match=reason):
            next(batches)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("other", RESULT_FORMATS)
def test_results_become_a_column_for_each_variable(tmp_path, name, other):
    with rdfm.create_log(tmp_path / "r", other, kind="results", variables=["a", "b"]) as results:
        for row in ROWS:
            results.write(row)
    with rdfm.create_log(tmp_path / "none", other, kind="results", variables=["a", "b"]):
        pass
    for source, expected in (("r", ROWS), ("none", [])):
        rdfm.convert(tmp_path / source, tmp_path / "t", from_format=other, to=name)
        rows = table((tmp_path / "t").read_bytes(), name)
        assert rows.schema == pa.schema([("a", pa.string()), ("b", pa.string())])
        cells = [tuple(row.values()) for row in rows.to_pylist()]
        assert cells == [
            tuple(None if cell is None else str(cell) for cell in row) for row in expected
        ]


@pytest.mark.parametrize("name", TABLES)
def test_results_are_not_read_back(tmp_path, name):
    with rdfm.create_log(tmp_path / "t", name, kind="results", variables=["a"]) as results:
        results.write([S])
    with pytest.raises(
        DecodeError, match=r"found a string; a table of results cannot be read, .*\(\.srt\)"
    ):
        read(tmp_path / "t", name)
    with pytest.raises(OptionError, match=r"cannot be read back, because nothing.*results-thrift"):
        rdfm.open_log(tmp_path / "t", name, kind="results")
    # Tables of results are not read as messages either, regardless of variable names.
    with rdfm.create_log(tmp_path / "u", name, kind="results", variables=["quads"]) as results:
        results.write([S])
    with pytest.raises(DecodeError, match="found quads string; a table of results"):
        read(tmp_path / "u", name)


@pytest.mark.parametrize("name", TABLES)
def test_results_that_are_not_tables_are_rejected(tmp_path, name):
    encode = formats.find(name).encode
    for batch, reason in [
        (ResultBatch.from_rows([], [], boolean=True), "answer to an ASK query is not a table"),
        (ResultBatch.from_rows([], ["a", "a"]), "the variable 'a' occurs twice"),
        (ResultBatch.from_rows([], ["a\0b"]), r"the variable 'a\\u0000b' contains a NUL"),
    ]:
        with pytest.raises(EncodeError, match=reason):
            encode(batch)
        with pytest.raises(ValueError, match=reason):
            batch.to_arrow()
        with pytest.raises(ValueError, match=reason):
            pa.schema(batch)
    encoder = formats.find(name).Encoder()
    encoder.encode(ResultBatch.from_rows(ROWS, ["a", "b"]))
    with pytest.raises(
        EncodeError, match="not in the same order as in earlier rows: 'b', 'a', not 'a', 'b'"
    ):
        encoder.encode(ResultBatch.from_rows([], ["b", "a"]))


def test_names_with_nul_are_rejected_by_readers_and_writers(tmp_path):
    results = b'{"head": {"vars": ["a\\u0000b"]}, "results": {"bindings": []}}'
    with pytest.raises(ValueError, match="contains a NUL"):
        rdfm.open_log(results, "results-json", kind="results").to_arrow()
    for name in TABLES:
        with pytest.raises(EncodeError, match=f"{name}: the variable .* contains a NUL"):
            rdfm.convert(results, tmp_path / "out", from_format="results-json", to=name)
    assert not list(tmp_path.iterdir())


def test_many_variables_take_linear_time():
    # Comparing each name with all earlier names would take a minute.
    count = 200_000
    batch = ResultBatch.from_rows([[None] * count], list(map(str, range(count))))
    start = time.process_time()
    assert batch.to_arrow().column_names[-1] == str(count - 1)
    assert time.process_time() - start < 15


def test_wide_tables_use_a_codec_with_little_overhead_per_column():
    for count, codec in [(WIDE_COLUMNS, "ZSTD"), (WIDE_COLUMNS + 1, "SNAPPY")]:
        batch = ResultBatch.from_rows([[S] * count], list(map(str, range(count))))
        data = formats.parquet.encode(batch)
        group = parquet.ParquetFile(io.BytesIO(data)).metadata.row_group(0)
        assert group.column(count - 1).compression == codec
        assert table(data, "parquet").to_pylist() == [dict.fromkeys(map(str, range(count)), str(S))]


def test_rows_without_variables_are_counted_or_rejected():
    batch = ResultBatch.from_rows([[], []], [])
    assert table(formats.arrow.encode(batch), "arrow").num_rows == 2
    assert pa.record_batch(batch).num_rows == 2
    with pytest.raises(EncodeError, match="the results have no variables"):
        formats.parquet.encode(batch)
    assert formats.parquet.encode(batch.slice(0, 0))


def test_batches_support_the_arrow_interface():
    batch = PatchBatch.from_patches(LOG)
    rows = pa.record_batch(batch)
    assert rows.schema == pa.schema(batch)
    assert rows.schema.names == ["source", "message_index", "operations", "metadata"]
    assert rows["metadata"].null_count == 2
    assert operations_of(PatchBatch.from_arrow(rows)) == operations_of(batch)
    columns = ["operations", "byte_offset"]
    assert pa.record_batch(batch.to_arrow(columns)).schema.names == columns
    expected = pa.schema([rows.schema.field("operations")])
    assert pa.record_batch(batch, schema=expected).schema.names == ["operations"]
    with pytest.raises(
        OptionError,
        match="unknown column 'quads'; expected one of source, message_index, byte_offset, oper",
    ):
        batch.to_arrow(["quads"])
    results = ResultBatch.from_rows(ROWS, ["a", "b"])
    large_strings = pa.schema([("a", pa.large_string()), ("b", pa.large_string())])
    assert pa.record_batch(results, schema=large_strings).schema == large_strings
    assert pa.schema(results).names == ["a", "b"]


def log_of(tmp_path, kind):
    """Returns a log of a kind, and its number of rows."""
    if kind == "results":
        path = tmp_path / "r.srt"
        with rdfm.create_log(path, kind="results", variables=["a", "b"]) as results:
            for number in range(20_000):
                results.write([Literal(str(number)), None])
        return path, 20_000
    path = tmp_path / ("log.nq" if kind == "messages" else "log.rdfp")
    end, line = ("# @message\n", "") if kind == "messages" else ("Z .\n", "A ")
    path.write_text("".join(f"{line}<a:s> <a:p> <a:o{number}> .\n{end}" for number in range(9000)))
    return path, 9000


@pytest.mark.parametrize("kind", ["messages", "patches", "results"])
def test_readers_are_arrow_streams(tmp_path, kind):
    path, count = log_of(tmp_path, kind)
    with rdfm.open_log(path, kind=kind) as log:
        stream = pa.RecordBatchReader.from_stream(log)
        sizes = [batch.num_rows for batch in stream]
    assert sum(sizes) == count
    assert len(sizes) > 1
    rows = pa.table(rdfm.open_log(path, kind=kind))
    column = {"messages": "quads", "patches": "operations", "results": "a"}[kind]
    assert column in rows.schema.names
    assert rows.num_rows == count
    if kind != "results":
        assert set(rows["source"].to_pylist()) == {str(path)}
        assert rows["message_index"].to_pylist() == list(range(count))


def test_a_stream_without_rows_has_its_columns(tmp_path):
    (tmp_path / "log.nt").write_text("")
    assert pa.table(rdfm.open_log(tmp_path / "log.nt")).schema.names[2] == "quads"
    with rdfm.create_log(tmp_path / "r.srj", kind="results", variables=["a"]):
        pass
    assert pa.table(rdfm.open_log(tmp_path / "r.srj", kind="results")).schema.names == ["a"]


def test_an_error_ends_a_stream_after_the_rows_before_it(tmp_path):
    path, count = log_of(tmp_path, "patches")
    with path.open("a") as file:
        file.write("oops\n")
    rows = 0
    with rdfm.open_log(path, kind="patches") as log:
        stream = pa.RecordBatchReader.from_stream(log)
        with pytest.raises(ValueError, match="oops"):
            for batch in stream:
                rows += batch.num_rows
    assert rows == count
    with rdfm.create_log(tmp_path / "ask.srj", kind="results", boolean=True):
        pass
    with (
        rdfm.open_log(tmp_path / "ask.srj", kind="results") as results,
        pytest.raises(ValueError, match="ASK query is not a table"),
    ):
        pa.table(results)


@pytest.mark.parametrize("kind", ["messages", "patches", "results"])
def test_unread_streams_do_not_consume_the_log(tmp_path, kind):
    """Before it reads a stream, DuckDB requests other streams only for their schema."""
    path, count = log_of(tmp_path, kind)
    with rdfm.open_log(path, kind=kind) as log:
        for _ in range(2):
            assert pa.RecordBatchReader.from_stream(log).schema.names
        assert pa.table(log).num_rows == count
        with pytest.raises(ValueError, match="read to the end"):
            pa.table(log)


def test_a_log_with_different_columns_ends_a_stream(tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    for name, variables in (("1.srj", ["a"]), ("2.srj", ["b"])):
        with rdfm.create_log(folder / name, kind="results", variables=variables) as results:
            results.write([S])

    def stream_error():
        with rdfm.open_log(folder, kind="results") as log:
            stream = pa.RecordBatchReader.from_stream(log)
            assert stream.read_next_batch().to_pylist() == [{"a": "<http://e/s>"}]
            with pytest.raises(ValueError, match="rows") as raised:
                stream.read_next_batch()
        return str(raised.value)

    assert "the variables differ from those of earlier rows" in stream_error()
    (folder / "2.srj").unlink()
    (folder / "3.nq").write_text("<a:s> <a:p> <a:o> .\n")
    assert "contains messages, not results" in stream_error()


def test_a_stream_needs_pyarrow(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with (
        rdfm.open_log(b"<a:s> <a:p> <a:o> .", "nq") as log,
        pytest.raises(rdfm.MissingExtraError, match=r"pip install 'rdfm\[arrow\]'"),
    ):
        log.__arrow_c_stream__()


def test_polars_reads_results(tmp_path):
    import polars

    path, count = log_of(tmp_path, "results")
    frame = polars.DataFrame(rdfm.open_log(path, kind="results"))
    assert frame.shape == (count, 2)
    assert frame["a"][3] == '"3"'


def test_duckdb_reads_results(tmp_path):
    import duckdb

    path, count = log_of(tmp_path, "results")
    results = rdfm.open_log(path, kind="results")  # noqa: F841 - DuckDB finds it by its name
    assert duckdb.sql("SELECT count(a), count(b) FROM results").fetchall() == [(count, 0)]


MEASURE = """
import resource, sys
import pyarrow as pa
import rdfm
rows = 0
for batch in pa.RecordBatchReader.from_stream(rdfm.open_log(sys.argv[1], kind="results")):
    rows += batch.num_rows
print(rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
def test_streams_use_bounded_memory(tmp_path):
    """Ten times as many results need about the same memory."""
    peaks = []
    for count in (20_000, 200_000):
        path = tmp_path / "r.srj"
        with rdfm.create_log(path, kind="results", variables=["a"]) as results:
            for number in range(count):
                results.write([Literal(f"{number} {'x' * 200}")])
        completed = subprocess.run(
            [sys.executable, "-c", MEASURE, path], capture_output=True, text=True, check=True
        )
        rows, peak = map(int, completed.stdout.split())
        assert rows == count
        peaks.append(peak)
    assert peaks[1] - peaks[0] < 20_000  # KiB; the rows alone are 45 MB
