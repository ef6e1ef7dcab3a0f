"""Logs as tables: Arrow streams and batches with one row per message or quad."""

import pyarrow as pa
import pytest
from support import FIXTURES

import rdfm
from rdfm import DecodeError, OptionError, formats
from rdfm._core import ArrowBatch, MessageBatch

LOG = FIXTURES / "nanopubs" / "log.trig"
COLUMNS = {
    "messages": ["source", "message_index", "quads", "metadata"],
    "quads": ["source", "message_index", "subject", "predicate", "object", "graph"],
}
# Number of messages in `log`, each with two quads.
COUNT = 9000


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("logs") / "log.nq"
    message = '<a:s> <a:p> <a:o{0}> .\n<a:s> <a:q> "{0}" <a:g> .\n# @message\n'
    path.write_text("".join(map(message.format, range(COUNT))))
    return path


@pytest.mark.parametrize("terms", ["ntriples", "structs"])
@pytest.mark.parametrize("rows", ["messages", "quads"])
def test_pyarrow_reads_a_log(log, rows, terms):
    table = pa.table(rdfm.open_log(log, rows=rows, terms=terms))
    assert table.schema.names == COLUMNS[rows]
    assert table.num_rows == (COUNT if rows == "messages" else 2 * COUNT)
    assert table["source"].unique().to_pylist() == [str(log)]
    if rows == "quads":
        assert table["message_index"].to_pylist() == [at for at in range(COUNT) for _ in range(2)]
        quads = table.select(COLUMNS["quads"][2:]).slice(2, 2).to_pylist()
    else:
        quads = table["quads"][1].as_py()
    if terms == "structs":
        quads = [{name: term and term["value"] for name, term in quad.items()} for quad in quads]
    assert [quad["object"] for quad in quads] == (
        ["a:o1", "1"] if terms == "structs" else ["<a:o1>", '"1"']
    )
    assert [quad["graph"] for quad in quads] == [None, "a:g" if terms == "structs" else "<a:g>"]


@pytest.mark.parametrize("terms", ["ntriples", "structs"])
@pytest.mark.parametrize("rows", ["messages", "quads"])
def test_polars_reads_a_log(log, rows, terms):
    import polars

    frame = polars.DataFrame(rdfm.open_log(log, rows=rows, terms=terms))
    assert frame.columns == COLUMNS[rows]
    assert frame.height == (COUNT if rows == "messages" else 2 * COUNT)
    objects = frame["object"] if rows == "quads" else frame["quads"].explode().struct["object"]
    if terms == "structs":
        objects = objects.struct["value"]
    assert objects[3] == ("1" if terms == "structs" else '"1"')


@pytest.mark.parametrize("terms", ["ntriples", "structs"])
@pytest.mark.parametrize("rows", ["messages", "quads"])
def test_duckdb_reads_a_log(log, rows, terms):
    import duckdb

    opened = rdfm.open_log(log, rows=rows, terms=terms)  # noqa: F841 - DuckDB finds it by its name
    source = (
        "opened" if rows == "quads" else "(SELECT unnest(quads, recursive := false) q FROM opened)"
    )
    part = ("" if rows == "quads" else "q.") + "graph" + (".value" if terms == "structs" else "")
    found = duckdb.sql(f"SELECT {part} g, count(*) FROM {source} GROUP BY 1 ORDER BY 1").fetchall()
    graph = "a:g" if terms == "structs" else "<a:g>"
    assert sorted(found, key=str) == sorted([(None, COUNT), (graph, COUNT)], key=str)


@pytest.mark.parametrize("rows", ["messages", "quads"])
def test_pandas_reads_a_log(log, rows):
    pandas = pytest.importorskip("pandas")
    if not hasattr(pandas.DataFrame, "from_arrow"):
        pytest.skip(f"pandas {pandas.__version__} has no DataFrame.from_arrow, which came with 3.0")
    frame = pandas.DataFrame.from_arrow(rdfm.open_log(log, rows=rows))
    assert list(frame.columns) == COLUMNS[rows]
    assert len(frame) == (COUNT if rows == "messages" else 2 * COUNT)


@pytest.mark.parametrize("name", [name for name in formats.names() if name not in ("arrow",)])
def test_every_format_has_quad_rows(tmp_path, name):
    if "messages" not in formats.find(name).spec.kinds:
        return
    path = tmp_path / "log"
    with rdfm.create_log(path, name) as out:
        out.write([rdfm.Quad(rdfm.Iri("a:s"), rdfm.Iri("a:p"), rdfm.Literal("x"))] * 2)
    table = pa.table(rdfm.open_log(path, name, rows="quads"))
    assert table["object"].unique().to_pylist() == ['"x"']


def test_table_batches_support_the_arrow_interface(log):
    with rdfm.open_log(log, rows="quads") as opened:
        batches = list(opened.batches())
    assert all(isinstance(batch, ArrowBatch) for batch in batches)
    assert len(batches) > 1
    assert sum(map(len, batches)) == 2 * COUNT
    assert batches[0].column_names == COLUMNS["quads"]
    table = pa.table(rdfm.open_log(log, rows="quads"))
    assert pa.Table.from_batches(map(pa.record_batch, batches)).equals(table)
    with rdfm.open_log(log, terms="structs") as opened:
        first = pa.record_batch(next(opened.batches()))
    assert first.schema.field("quads").type.value_type.field("object").type.num_fields == 5
    # A log without quads has no batches.
    assert list(rdfm.open_log(b"# @message\n# @message\n", "nq", rows="quads").batches()) == []
    # Without `rows="quads"`, reading yields messages.
    with rdfm.open_log(log, rows="messages", terms="ntriples") as opened:
        assert isinstance(next(opened.batches()), MessageBatch)


def test_a_second_loop_over_a_table_continues_the_first(log):
    with rdfm.open_log(log, rows="quads") as opened:
        first = next(opened.batches())
        remaining = sum(map(len, opened.batches()))
    assert len(first) + remaining == 2 * COUNT


def test_rows_of_several_files_name_their_files(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.nq").write_text("<a:s> <a:p> <a:o> .\n" * 2)
    table = pa.table(rdfm.open_log(tmp_path, rows="quads"))
    sources = [str(tmp_path / f"{name}.nq") for name in ("a", "b")]
    assert table["source"].to_pylist() == [sources[0]] * 2 + [sources[1]] * 2
    assert table["message_index"].to_pylist() == [0] * 4


def test_only_selected_messages_have_rows(log):
    with rdfm.open_log(log, rows="quads", messages="100:102") as reader:
        assert pa.table(reader)["message_index"].to_pylist() == [100, 100, 101, 101]
    with rdfm.open_log(log, rows="quads") as opened:
        assert pa.table(opened.filter(object='"7"'))["message_index"].to_pylist() == [7, 7]


def test_a_flat_log_is_read_in_parts():
    data = "".join(f"<a:s> <a:p> <a:o{at}> .\n" for at in range(50_000)).encode()
    options = {"max_message_bytes": 1 << 20}
    table = pa.table(rdfm.open_log(data, "nt", rows="quads", **options))
    assert table["message_index"].unique().to_pylist() == [0]
    assert table["object"].to_pylist() == [f"<a:o{at}>" for at in range(50_000)]
    with (
        rdfm.open_log(data, "nt", **options) as log,
        pytest.raises(ValueError, match="larger than 1048576 decoded bytes"),
    ):
        pa.table(log)


def test_rows_before_an_error_are_returned():
    log = rdfm.open_log(b"<a:s> <a:p> <a:o> .\n# @message\noops\n", "nq", rows="quads")
    found = []
    with pytest.raises(DecodeError):
        for batch in log.batches():
            found.append(batch)
    assert sum(map(len, found)) == 1


def test_invalid_table_options_are_rejected(tmp_path):
    with pytest.raises(OptionError, match="rows must be one of 'messages', 'quads', not 'quad'"):
        rdfm.open_log(LOG, rows="quad")
    with pytest.raises(OptionError, match="terms must be one of 'ntriples', 'structs'"):
        rdfm.open_log(LOG, terms="text")
    with (
        rdfm.open_log(LOG, rows="quads") as log,
        pytest.raises(OptionError, match="opened as a table; use batches"),
    ):
        next(iter(log))
    patches = tmp_path / "log.rdfp"
    patches.write_text("TX .\nTC .\n")
    for consume in (pa.table, lambda log: list(log.batches())):
        with (
            rdfm.open_log(patches, kind="patches", rows="quads") as log,
            pytest.raises(
                OptionError,
                match="contains patches, but only messages can be read as quad rows",
            ),
        ):
            consume(log)
    with rdfm.open_log(patches, kind="patches", terms="structs") as log:
        assert pa.table(log).schema.names[2] == "operations"


def test_results_support_structs(tmp_path):
    path = tmp_path / "r.srj"
    with rdfm.create_log(path, kind="results", variables=["a", "b"]) as results:
        results.write([rdfm.Literal("x", language="en"), None])
    rows = pa.table(rdfm.open_log(path, kind="results", terms="structs")).to_pylist()
    assert (rows[0]["a"]["value"], rows[0]["a"]["language"], rows[0]["b"]) == ("x", "en", None)
    with rdfm.open_log(path, kind="results", terms="structs") as log:
        batches = [pa.record_batch(batch) for batch in log.batches()]
    assert pa.Table.from_batches(batches).to_pylist() == rows


@pytest.mark.parametrize("terms", ["ntriples", "structs"])
@pytest.mark.parametrize("rows", ["messages", "quads"])
def test_a_table_has_the_requested_columns_in_their_order(log, rows, terms):
    with rdfm.open_log(log, rows=rows, terms=terms) as opened:
        everything = opened.to_arrow()
    for columns in (COLUMNS[rows][::-1], COLUMNS[rows][2:3], ["message_index", "source"]):
        with rdfm.open_log(log, rows=rows, terms=terms, columns=columns) as opened:
            assert opened.to_arrow().equals(everything.select(columns))
        with rdfm.open_log(log, rows=rows, terms=terms, columns=tuple(columns)) as opened:
            assert next(opened.batches()).column_names == columns


def test_messages_and_patches_have_more_columns_on_request():
    with rdfm.open_log(LOG, columns=["byte_offset", "namespaces"]) as opened:
        rows = opened.to_arrow().to_pylist()
    with rdfm.open_log(LOG) as opened:
        assert rows[0]["byte_offset"] == next(opened.batches()).byte_offset(0)
    assert "this" in dict(rows[0]["namespaces"])
    with rdfm.open_log(
        b"A <x:s> <x:p> <x:o> .\n", "rdf-patch", kind="patches", columns=["operations"]
    ) as patches:
        assert patches.to_arrow().column_names == ["operations"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": ["subject"]}, "unknown column 'subject'; expected one of source"),
        ({"columns": ["quads"], "rows": "quads"}, "unknown column 'quads'"),
        ({"columns": ["source", "source"]}, "columns names a column twice: source, source"),
        ({"columns": []}, "columns names no column"),
        ({"columns": "source"}, "columns must be a list of names, not 'source'"),
        ({"columns": [1]}, r"columns must be a list of names, not \[1\]"),
        ({"columns": ["x"], "kind": "results"}, "the columns of results are their variables"),
        ({"columns": ["source"], "rows": "quads", "kind": "patches"}, "quad rows require messages"),
    ],
)
def test_invalid_columns_are_rejected_when_a_log_is_opened(options, message):
    with pytest.raises(OptionError, match=message):
        rdfm.open_log(b"", "nq", **options)
