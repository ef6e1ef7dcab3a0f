"""Quad rows, terms as structs, and columns by name, in a real session."""

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StringType
from support import FIXTURES

import rdfm
import rdfm.spark
from rdfm import OptionError
from rdfm.spark import functions as R

LOG = str(FIXTURES / "nanopubs" / "log.trig")
QUAD_COLUMNS = ["source", "message_index", "subject", "predicate", "object", "graph"]
TERM_FIELDS = ["kind", "value", "datatype", "language", "direction"]


@pytest.fixture
def log(tmp_path):
    """A log of 1,000 messages with two quads each."""
    path = tmp_path / "log.nq"
    message = '<a:s{0}> <a:p> _:b .\n<a:s{0}> <a:q> "{0}"@en--ltr <a:g> .\n'
    path.write_text("# @message\n".join(map(message.format, range(1000))))
    return path


def rows_of_log(path, **options):
    """Returns the rows that `open_log` reads."""
    with rdfm.open_log(path, rows="quads", **options) as log:
        return pa.table(log).to_pylist()


def as_dicts(frame):
    return [row.asDict(recursive=True) for row in frame.collect()]


@pytest.mark.parametrize("terms", ["ntriples", "structs"])
@pytest.mark.parametrize("options", [{}, {"splitBytes": "4k"}, {"mode": "PERMISSIVE"}])
def test_quad_rows_equal_those_of_a_table(spark, log, terms, options):
    reader = spark.read.format("rdfm").options(rows="quads", terms=terms, **options)
    frame = reader.load(str(log)).drop("_corrupt_record")
    assert frame.columns == QUAD_COLUMNS
    assert frame.schema["message_index"].dataType == LongType()
    if terms == "structs":
        assert frame.schema["graph"].dataType.names == TERM_FIELDS
    assert as_dicts(frame) == rows_of_log(str(log), terms=terms)


def test_message_terms_may_be_structs(spark, log):
    frame = rdfm.spark.read(spark, log, terms="structs")
    rows = [quad for row in frame.orderBy("byte_offset").collect() for quad in row.quads]
    found = [row.asDict(recursive=True) for row in rows]
    expected = [
        {part: row[part] for part in QUAD_COLUMNS[2:]} for row in rows_of_log(log, terms="structs")
    ]
    assert found == expected
    exploded = frame.select(F.explode("quads").alias("q")).where("q.object.language = 'en'")
    assert exploded.count() == 1000
    with pytest.raises(OptionError, match="explode_quads takes terms as N-Triples"):
        R.explode_quads(frame)


def test_structs_equal_the_results_of_column_functions(spark):
    texts = rdfm.spark.read(spark, LOG, rows="quads")
    structs = rdfm.spark.read(spark, LOG, rows="quads", terms="structs")
    functions = [R.term_kind, R.value, R.datatype, R.language, R.direction]
    details = [
        function("object").alias(name)
        for function, name in zip(functions, TERM_FIELDS, strict=True)
    ]
    assert texts.select(*details).collect() == structs.select("object.*").collect()


@pytest.mark.parametrize("terms", ["ntriples", "structs"])
def test_only_requested_columns_are_built(spark, log, terms):
    expected = rows_of_log(log, terms=terms)
    frame = rdfm.spark.read(spark, log, rows="quads", terms=terms, columns=["graph", "object"])
    assert frame.columns == ["graph", "object"]
    assert as_dicts(frame) == [{part: row[part] for part in frame.columns} for row in expected]
    options = {"rows": "quads", "terms": terms, "columns": " message_index , source"}
    frame = spark.read.format("rdfm").options(**options).load(str(log))
    assert frame.columns == ["message_index", "source"]
    assert frame.distinct().count() == 1000
    messages = rdfm.spark.read(spark, log, columns=["byte_offset", "message_index"])
    assert messages.columns == ["byte_offset", "message_index"]
    assert messages.count() == 1000
    assert rdfm.spark.read(spark, log, columns=["quads"], terms=terms).count() == 1000


def test_a_schema_may_select_fields(spark, log):
    schema = "graph struct<value: string>, Object struct<language: string, KIND: string>"
    frame = rdfm.spark.read(spark, log, rows="quads", terms="structs", schema=schema)
    first, second = frame.limit(2).collect()
    assert first == (None, (None, "blank node"))
    assert second == (("a:g",), ("en", "literal"))
    text = rdfm.spark.read(
        spark, log, rows="quads", schema="predicate string, message_index bigint"
    )
    assert [tuple(row) for row in text.limit(2).collect()] == [("<a:p>", 0), ("<a:q>", 0)]


def test_unknown_columns_and_fields_are_rejected_at_once(spark, log):
    for arguments, reason in (
        (
            {"rows": "quads", "columns": ["byte_offset"]},
            "these rows have no column 'byte_offset'; known",
        ),
        (
            {"columns": ["subject"]},
            "no column 'subject'; known: source, message_index, byte_offset, quads",
        ),
        ({"columns": []}, "columns contains no name"),
        ({"columns": ["message_index", "message_index"]}, "columns contains message_index twice"),
        ({"columns": "message_index"}, "columns must be a list of names, not 'message_index'"),
        ({"columns": ["message_index"], "schema": "byte_offset bigint"}, "remove one of them"),
        ({"rows": "quads", "schema": "quads string"}, "there is no column 'quads'"),
        ({"rows": "quads", "schema": "object string NOT NULL"}, "remove NOT NULL"),
        ({"rows": "quads", "schema": "object struct<kind: string>"}, "is string, not struct"),
        ({"rows": "quad"}, "the option rows must be one of 'messages', 'quads', not 'quad'"),
    ):
        with pytest.raises(OptionError, match=reason):
            rdfm.spark.read(spark, log, **arguments)
    with pytest.raises(AnalysisException, match="no column 'byte_offset'"):
        spark.read.format("rdfm").options(rows="quads", columns="byte_offset").load(str(log))


def test_a_log_of_another_kind_is_rejected(spark, tmp_path):
    (tmp_path / "log.rdfp").write_text("TX .\nTC .\n")
    frame = rdfm.spark.read(spark, tmp_path / "log.rdfp", rows="quads")
    with pytest.raises(Exception, match=r"log\.rdfp contains patches, but the rows are messages"):
        frame.count()


def test_errors_become_rows_among_the_quads(spark, tmp_path):
    path = tmp_path / "log.nq"
    path.write_text("<a:s> <a:p> <a:o> .\n# @message\n<a:x> <a:p> <a:o> .\noops\n# @message\n" * 2)
    frame = rdfm.spark.read(spark, path, rows="quads", mode="PERMISSIVE")
    found = [
        (row.message_index, row.subject, row._corrupt_record is None) for row in frame.collect()
    ]
    assert found == [(0, "<a:s>", True), (1, None, False), (2, "<a:s>", True), (3, None, False)]
    remaining = rdfm.spark.read(
        spark, path, rows="quads", mode="DROPMALFORMED", columns=["message_index"]
    )
    assert [row.message_index for row in remaining.collect()] == [0, 2]
    with pytest.raises(Exception, match="oops"):
        rdfm.spark.read(spark, path, rows="quads").count()


def test_a_flat_log_is_read_in_parts(spark, tmp_path):
    path = tmp_path / "flat.nt"
    path.write_text("".join(f"<a:s> <a:p> <a:o{at}> .\n" for at in range(50_000)))
    options = {"max_message_bytes": 1 << 20, "rows": "quads"}
    frame = rdfm.spark.read(spark, path, **options)
    assert frame.agg(F.count("object"), F.max("message_index")).first() == (50_000, 0)
    with pytest.raises(Exception, match="larger than 1048576 decoded bytes"):
        rdfm.spark.read(spark, path, mode="DROPMALFORMED", **options).count()


@pytest.mark.feature("one row per quad, filters")
def test_quad_rows_are_filtered_and_grouped(spark, log):
    frame = rdfm.spark.read(spark, log, rows="quads", filter={"subject": "<a:s7>"})
    assert [row.message_index for row in frame.collect()] == [7, 7]
    all_quads = rdfm.spark.read(spark, log, rows="quads")
    messages = R.messages(all_quads, by=["source", "message_index"])
    assert messages.count() == 1000


def test_streams_may_have_quad_rows(spark, log, tmp_path):
    options = {"rows": "quads", "columns": "message_index,object"}
    source = spark.readStream.format("rdfm").options(**options)
    frames = [
        source.option("stateLocation", str(tmp_path / "state")).load(str(tmp_path / "log.nq")),
        rdfm.spark.read_stream(
            spark, log.parent, rows="quads", columns=["message_index", "object"]
        ),
    ]
    for number, frame in enumerate(frames):
        assert frame.columns == ["message_index", "object"]
        assert frame.schema["object"].dataType == StringType()
        query = (
            frame.writeStream.format("parquet")
            .option("checkpointLocation", str(tmp_path / f"_checkpoint{number}"))
            .option("path", str(tmp_path / f"_out{number}"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        assert spark.read.parquet(str(tmp_path / f"_out{number}")).count() == 2000


def test_results_support_structs(spark, tmp_path):
    with rdfm.create_log(tmp_path / "r.srj", kind="results", variables=["a", "b"]) as results:
        results.write([rdfm.Literal("x", language="en"), None])
    frame = rdfm.spark.read(spark, tmp_path / "r.srj", terms="structs")
    assert frame.select("a.language", "b").first() == ("en", None)
    selected = rdfm.spark.read(spark, tmp_path / "r.srj", columns=["b"])
    assert selected.columns == ["b"]
    fields = rdfm.spark.read(
        spark, tmp_path / "r.srj", terms="structs", schema="a struct<value: string>"
    )
    assert fields.first() == (("x",),)
