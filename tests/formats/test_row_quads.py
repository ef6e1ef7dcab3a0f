"""Parquet and Arrow IPC with one row per quad, and with terms as structs."""

import io
from pathlib import Path

import pyarrow as pa
import pyoxigraph
import pytest
from hypothesis import given
from logs import logs
from pyarrow import ipc, parquet
from support import FIXTURES, TABLES, as_tuple, decoded, encode

import rdfm
from rdfm import (
    DecodeError,
    EncodeError,
    Iri,
    LimitError,
    Literal,
    Message,
    MessageBatch,
    OptionError,
    Quad,
    formats,
)
from rdfm._core import PatchBatch, ResultBatch
from rdfm.message import Operation, Patch

COLUMNS = ["source", "message_index", "subject", "predicate", "object", "graph"]
STRUCT_FIELDS = ["kind", "value", "datatype", "language", "direction"]
S, P = Iri("http://e/s"), Iri("http://e/p")
LOGS = sorted(path for path in FIXTURES.glob("*/*.nq") if path.parent.name != "results")
EACH_TABLE_FORMAT = pytest.mark.parametrize("name", TABLES)


def table(data, name):
    """Reads a log with pyarrow."""
    if name == "parquet":
        return parquet.read_table(io.BytesIO(data))
    return ipc.open_file(data).read_all()


def save(path, rows, step=2):
    """Writes a file with pyarrow."""
    if path.suffix == ".parquet":
        parquet.write_table(rows, path, row_group_size=step)
        return
    with ipc.new_file(str(path), rows.schema) as writer:
        writer.write_table(rows, max_chunksize=step)


def read(path, into=None, **options):
    """Returns the messages of a log. On an error, `into` contains the earlier messages."""
    found = [] if into is None else into
    with rdfm.open_log(path, **options) as log:
        found.extend(list(message) for message in log)
    return found


def flat_log(count, length=8):
    """Returns a flat log with the given number of quads."""
    lines = (f'<a:s{at}> <a:p> "{at:0{length}}" .\n' for at in range(count))
    return "".join(lines).encode()


@EACH_TABLE_FORMAT
def test_each_row_is_a_quad(name):
    log = [Message([Quad(S, P, Literal("a")), Quad(S, P, Literal("b"), S)]), Message([])]
    log.append(Message([Quad(S, P, Literal("c"))]))
    data = formats.find(name).encode(MessageBatch.from_messages(log), rows="quads")
    rows = table(data, name)
    assert rows.schema.names == COLUMNS
    assert rows.schema.field("message_index").type == pa.int64()
    assert rows["message_index"].to_pylist() == [0, 0, 2]
    assert rows["object"].to_pylist() == ['"a"', '"b"', '"c"']
    assert rows["graph"].to_pylist() == [None, "<http://e/s>", None]
    assert rows["source"].to_pylist() == [None] * 3


@EACH_TABLE_FORMAT
@pytest.mark.parametrize("terms", ["ntriples", "structs"])
@given(log=logs(generalized=True))
def test_quad_rows_are_read_back(name, terms, log):
    data = encode(name, log, rows="quads", terms=terms)
    assert decoded(name, data) == [message for message in log if message]


@EACH_TABLE_FORMAT
@given(log=logs(generalized=True))
def test_messages_with_structs_are_read_back(name, log):
    data = encode(name, log, terms="structs")
    assert decoded(name, data) == log
    type = table(data, name).schema.field("quads").type
    assert [field.name for field in type.value_type.field("object").type] == STRUCT_FIELDS


@EACH_TABLE_FORMAT
@pytest.mark.parametrize("rows", ["messages", "quads"])
@pytest.mark.parametrize("path", LOGS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_structs_equal_the_terms(tmp_path, path, name, rows):
    out = tmp_path / "log"
    rdfm.convert(path, out, to=name, rows=rows, terms="structs", from_generalized=True)
    found = table(out.read_bytes(), name)
    quads = found.to_pylist()
    if rows == "messages":
        quads = [quad for row in quads for quad in row["quads"]]
    with rdfm.open_log(path, generalized=True) as log:
        expected = [quad for message in log for quad in message]
    assert len(quads) == len(expected)
    for row, quad in zip(quads, expected, strict=True):
        for part in COLUMNS[2:]:
            assert_struct(row[part], getattr(quad, part))


def assert_struct(struct, term):
    if term is None:
        assert struct is None
        return
    found = [struct[detail] for detail in STRUCT_FIELDS]
    kind = as_tuple(term)[0]
    if isinstance(term, Iri):
        assert found == ["iri", term.value, None, None, None]
    elif isinstance(term, Literal):
        datatype = term.datatype.value
        assert found == ["literal", term.value, datatype, term.language, term.direction]
    elif isinstance(term, rdfm.BlankNode):
        assert found == ["blank node", str(term).removeprefix("_:"), None, None, None]
    else:
        assert found == ["triple term", str(term), None, None, None], kind


def test_structs_agree_with_pyoxigraph(tmp_path):
    path, out = FIXTURES / "literals" / "comment.nq", tmp_path / "log.parquet"
    rdfm.convert(path, out, rows="quads", terms="structs")
    found = [row["object"] for row in parquet.read_table(out).to_pylist()]
    expected = [quad.object for quad in pyoxigraph.parse(path=path)]
    assert len(found) == len(expected) > 10
    for struct, term in zip(found, expected, strict=True):
        if isinstance(term, pyoxigraph.Literal):
            assert struct["value"] == term.value
            assert struct["datatype"] == term.datatype.value
            assert (struct["language"] or "").lower() == (term.language or "")
        else:
            assert (struct["kind"], struct["value"]) == ("iri", term.value)


@EACH_TABLE_FORMAT
def test_data_dropped_from_quad_rows_is_counted(tmp_path, name):
    log = [
        Message([Quad(S, P, S)], metadata={"k": b"v"}, namespaces={"e": "http://e/"}),
        Message([]),
        Message([Quad(S, P, P)]),
        Message([], metadata={"k": b"v", "l": b""}),
    ]
    source, target = tmp_path / "log.jelly", tmp_path / f"log.{name}"
    with rdfm.create_log(source, namespaces=True) as out:
        for message in log:
            out.write(message)
    summary = rdfm.convert(source, target, rows="quads")
    assert summary.dropped == {"namespaces": 1, "empty messages": 2, "metadata": 3}
    assert (summary.messages, summary.quads) == (4, 2)
    assert table(target.read_bytes(), name)["message_index"].to_pylist() == [0, 2]
    assert read(target) == [[Quad(S, P, S)], [Quad(S, P, P)]]


@EACH_TABLE_FORMAT
def test_options_and_kinds_without_quad_rows_are_rejected(tmp_path, name):
    format = formats.find(name)
    with pytest.raises(OptionError, match="namespaces applies to message rows"):
        format.Encoder(rows="quads", namespaces=True)
    patches = PatchBatch.from_patches([Patch([Operation("TX")])])
    results = ResultBatch.from_rows([[S]], ["a"])
    for batch, kind in ((patches, "patches"), (results, "results")):
        with pytest.raises(EncodeError, match=f"quad rows require messages, not {kind}"):
            format.encode(batch, rows="quads")
    path = tmp_path / "log.nt"
    path.write_text("<a:s> <a:p> <a:o> .\n")
    with pytest.raises(EncodeError, match="their rows would form one message"):
        rdfm.convert([path, path], tmp_path / "out", to=name, rows="quads")
    assert not (tmp_path / "out").exists()


@EACH_TABLE_FORMAT
def test_patch_and_result_terms_may_be_structs(tmp_path, name):
    log = [Patch([Operation("TX"), Operation("A", None, S, P, Literal("x", language="en"), S)])]
    with rdfm.create_log(tmp_path / "log", name, kind="patches", terms="structs") as out:
        for patch in log:
            out.write(patch)
    with rdfm.open_log(tmp_path / "log", name, kind="patches") as patches:
        assert list(patches) == log
    results = ResultBatch.from_rows([[S, None], [Literal("x"), S]], ["a", "b"])
    rows = table(formats.find(name).encode(results, terms="structs"), name)
    assert [row and row["value"] for row in rows["b"].to_pylist()] == [None, S.value]
    assert rows["a"].to_pylist()[1] == {
        "kind": "literal",
        "value": "x",
        "datatype": "http://www.w3.org/2001/XMLSchema#string",
        "language": None,
        "direction": None,
    }


@EACH_TABLE_FORMAT
def test_consecutive_rows_with_equal_source_and_message_form_a_message(tmp_path, name):
    path = tmp_path / f"log.{name}"
    terms = {part: ["<a:b>"] * 6 for part in ("object", "predicate", "subject")}
    numbers = pa.array([4, 4, 4, 2, 2, 4], pa.int16())
    save(path, pa.table({**terms, "message_index": numbers, "other": range(6)}))
    assert [len(message) for message in read(path)] == [3, 2, 1]
    sources = ["a", "a", None, None, "a", "a"]
    save(path, pa.table({**terms, "message_index": numbers, "source": sources}))
    assert [len(message) for message in read(path)] == [2, 1, 1, 1, 1]
    with rdfm.open_log(path) as log:
        assert [message.message_index for message in log] == list(range(5))


@EACH_TABLE_FORMAT
def test_invalid_quad_rows_are_reported_after_earlier_rows(tmp_path, name):
    path = tmp_path / f"log.{name}"
    terms = {part: ["<a:b>"] * 5 for part in ("subject", "predicate")}
    objects = ['"a"', '"b"', '"c"', "oops", '"d"']
    save(path, pa.table({"message_index": [0, 1, 2, 2, 3], **terms, "object": objects}))
    found = []
    with pytest.raises(DecodeError, match=r"quad 1, object: expected an IRI.*message 2") as raised:
        read(path, into=found)
    assert len(found) == 2
    assert raised.value.format == name
    save(path, pa.table({"message_index": ["0"] * 5, **terms, "object": ['"a"'] * 5}))
    with pytest.raises(DecodeError, match="column message_index: expected integers, found Utf8"):
        read(path)
    save(path, pa.table({**terms, "object": ['"a"'] * 5}))
    with pytest.raises(DecodeError, match="the columns message_index, subject"):
        read(path)
    column = pa.array(["<a:b>"])
    columns = [pa.array([0]), column, column, column, column]
    names = ["message_index", "subject", "predicate", "object", "object"]
    save(path, pa.Table.from_arrays(columns, names=names))
    with pytest.raises(DecodeError, match="the column object occurs twice"):
        read(path)


@EACH_TABLE_FORMAT
def test_a_large_message_is_read_in_parts_or_exceeds_the_limit(tmp_path, name):
    path, output = tmp_path / f"log.{name}", tmp_path / "back.nt"
    data = flat_log(30_000)
    assert rdfm.convert(data, path, from_format="nt", rows="quads").messages == 1
    with pytest.raises(LimitError, match="a larger max_message_bytes allows it"):
        read(path, max_message_bytes=1 << 20)
    with rdfm.open_log(path, parts=True, max_message_bytes=1 << 20) as log:
        batches = list(log.batches())
    assert len(batches) > 2
    assert [batch.first_message_index for batch in batches] == [0] * len(batches)
    assert all(batch.continues for batch in batches[:-1])
    rdfm.convert(path, output, from_max_message_bytes=1 << 20)
    assert output.read_bytes() == data


@EACH_TABLE_FORMAT
def test_parts_of_a_flat_log_are_written_as_they_arrive(name):
    """With one row per message, the complete message would have to be buffered."""
    data = flat_log(30_000)
    options = {"from_format": "nt", "to": name, "from_max_message_bytes": 1 << 20}
    out = io.BytesIO()
    assert rdfm.convert(data, out, rows="quads", **options).quads == 30_000
    rows = table(out.getvalue(), name)
    assert rows["message_index"].unique().to_pylist() == [0]
    assert rows["object"][29_999].as_py() == '"00029999"'
    with pytest.raises(LimitError, match="rows"):
        rdfm.convert(data, io.BytesIO(), **options)


@EACH_TABLE_FORMAT
def test_flat_quad_rows_are_one_message(tmp_path, name):
    paths = [tmp_path / "a.nq", tmp_path / "b.nq"]
    for path in paths:
        path.write_text("_:a <a:p> <a:o> .\n# @message\n_:a <a:p> <a:o> .\n")
    out = tmp_path / f"log.{name}"
    rdfm.convert(paths, out, rows="quads", flat=True)
    rows = table(out.read_bytes(), name)
    assert rows["message_index"].to_pylist() == [0] * 4
    assert len(set(rows["subject"].to_pylist())) == 4
    assert [len(message) for message in read(out)] == [4]


@EACH_TABLE_FORMAT
def test_conversions_keep_the_source_of_quads(tmp_path, name):
    folder = tmp_path / "logs"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.nq").write_text("<a:s> <a:p> <a:o> .\n# @message\n" * 2)
    out = tmp_path / f"log.{name}"
    assert rdfm.convert(folder, out, rows="quads").messages == 6
    rows = table(out.read_bytes(), name).to_pylist()
    found = [(Path(row["source"]).name, row["message_index"]) for row in rows]
    assert found == [(f"{number}.nq", at) for number in range(3) for at in (0, 1)]
    assert len(read(out)) == 6


@EACH_TABLE_FORMAT
def test_a_log_without_quads_has_its_columns(name):
    for batch in (MessageBatch.from_messages([]), MessageBatch.from_messages([[], []])):
        data = formats.find(name).encode(batch, rows="quads")
        assert table(data, name).schema.names == COLUMNS
        assert len(formats.find(name).decode(data)) == 0


def test_arrow_batches_have_one_row_per_quad():
    batch = MessageBatch.from_messages([[Quad(S, P, S)], [Quad(S, P, P), Quad(S, P, S, S)]])
    rows = pa.record_batch(batch.to_arrow(rows="quads", source="a"))
    assert rows.schema.names == COLUMNS
    assert rows["message_index"].to_pylist() == [0, 1, 1]
    graphs = pa.record_batch(
        batch.to_arrow(["graph", "message_index"], rows="quads", terms="structs")
    )
    assert graphs.schema.names == ["graph", "message_index"]
    assert [each and each["value"] for each in graphs["graph"].to_pylist()] == [None, None, S.value]
    decoded = MessageBatch.from_arrow(rows)
    assert [list(message) for message in decoded] == [list(message) for message in batch]
    for options, reason in (
        ({"rows": "quad"}, "rows must be 'messages' or 'quads', not 'quad'"),
        ({"terms": "text"}, "terms must be 'ntriples' or 'structs', not 'text'"),
        (
            {"columns": ["byte_offset"], "rows": "quads"},
            "unknown column 'byte_offset'; expected one of source, m",
        ),
    ):
        with pytest.raises(OptionError, match=reason):
            batch.to_arrow(**options)
    with pytest.raises(OptionError, match="not patches"):
        rdfm._core.ArrowCoalescer(kind="patches", rows="quads")


@pytest.mark.parametrize("terms", ["ntriples", "structs"])
def test_tables_written_by_duckdb_and_polars_are_read(tmp_path, terms):
    """Tables that other programs filtered or rewrote are still logs."""
    import duckdb
    import polars

    source, rewritten = tmp_path / "log.parquet", tmp_path / "rewritten.parquet"
    log = FIXTURES / "nanopubs" / "log.trig"
    rdfm.convert(log, source, rows="quads", terms=terms)
    expected = [message for message in read(log) if message]
    polars.read_parquet(source).write_parquet(rewritten)
    assert read(rewritten) == expected
    duckdb.sql(f"COPY (FROM '{source}' WHERE message_index = 1) TO '{rewritten}' (FORMAT parquet)")
    assert read(rewritten) == [expected[1]]
    polars.read_parquet(source).write_ipc(tmp_path / "rewritten.arrow", compat_level=None)
    assert read(tmp_path / "rewritten.arrow") == expected
