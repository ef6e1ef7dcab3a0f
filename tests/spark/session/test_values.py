"""Spark columns whose values contain one message each."""

import dataclasses
import io
import subprocess
import sys

import pyoxigraph as ox
import pytest
from nquads import read_quads, relabelled
from pyjelly.integrations.generic.parse import parse_jelly_grouped
from pyspark.errors import AnalysisException, PythonException
from pyspark.sql import functions as F
from samples import log_of
from support import as_batch

from rdfm import OptionError, UnknownFormatError, convert, formats
from rdfm.spark.functions import from_rdf, nanopub, register_functions, to_rdf

FORMATS = [format.name for format in formats.all() if format.spec.kinds[0] == "messages"]
TWO_MESSAGES = b"<a:s> <a:p> <a:o> .\n# @message\n<a:s> <a:p> <a:p> .\n"


def rows_of(log):
    """Returns the messages of a log as Spark rows: number, and quads as strings."""
    return [
        (at, [tuple(str(term) if term else None for term in quad) for quad in message])
        for at, message in enumerate(as_batch(log))
    ]


def messages_of(rows, column="quads"):
    """Returns the messages in rows as lists of quads with numbered blank nodes."""
    found = []
    for row in rows:
        lines = [" ".join(filter(None, quad)) + " .\n" for quad in row[column]]
        found.append(relabelled(read_quads("".join(lines))))
    return found


@pytest.fixture(scope="module")
def messages(spark):
    """A data frame of messages: number and quads, without graphs."""
    from rdfm.spark.schema import QUADS

    log = [*log_of("iot"), [], *log_of("osm")[:5]]
    schema = spark.createDataFrame([], "id int").schema.add("quads", QUADS)
    frame = spark.createDataFrame(rows_of(log), schema).repartition(3).cache()
    frame.count()
    return frame


@pytest.fixture(scope="module")
def log(messages):
    return messages_of(messages.orderBy("id").collect())


@pytest.mark.feature("`from_rdf`, `to_rdf`, in Python and SQL")
def test_values_of_every_format_round_trip(messages, log):
    values = messages.select("id", *(to_rdf("quads", name).alias(name) for name in FORMATS))
    assert {type for name, type in values.dtypes if name != "id"} == {"binary"}
    restored = values.select("id", *(from_rdf(F.col(name), name).alias(name) for name in FORMATS))
    rows = restored.orderBy("id").collect()
    for name in FORMATS:
        assert restored.schema[name].dataType == messages.schema["quads"].dataType
        assert messages_of(rows, name) == log


def test_other_libraries_read_the_values(messages, log):
    columns = [to_rdf("quads", name).alias(name) for name in ("jelly", "nq")]
    values = messages.select("id", *columns).orderBy("id").collect()
    counts = [
        sum(len(list(sink)) for sink in parse_jelly_grouped(io.BytesIO(row.jelly)))
        for row in values
    ]
    assert counts == [len(message) for message in log]
    for row, message in zip(values, log, strict=True):
        assert len(list(ox.parse(bytes(row.nq), format=ox.RdfFormat.N_QUADS))) == len(message)


def test_null_values_remain_null_and_empty_values_have_no_quads(spark):
    frame = spark.createDataFrame(
        [(1, None), (2, b""), (3, b"<a:s> <a:p> <a:o> .")], "id int, v binary"
    )
    found = frame.select("id", from_rdf("v", "nq").alias("quads")).orderBy("id").collect()
    assert [row.quads for row in found] == [None, [], [("<a:s>", "<a:p>", "<a:o>", None)]]
    restored = (
        frame.select("id", to_rdf(from_rdf("v", "nq"), "nt").alias("v")).orderBy("id").collect()
    )
    assert restored[0].v is None
    assert restored[2].v == b"<a:s> <a:p> <a:o> .\n"


def test_nulls_without_a_type_are_null_values(spark):
    columns = [to_rdf(F.lit(None), "nq"), from_rdf(F.lit(None), "nq"), nanopub(F.lit(None))]
    assert tuple(spark.range(1).select(*columns).first()) == (None, None, None)


@pytest.mark.parametrize(
    ("value", "reason"), [(b"<a:s>", "expected"), (TWO_MESSAGES, "more than one message")]
)
def test_an_invalid_value_fails_the_query_or_becomes_null(spark, value, reason):
    frame = spark.createDataFrame([(1, b"<a:s> <a:p> <a:o> ."), (2, value)], "id int, v binary")
    with pytest.raises(PythonException, match=rf'{reason}.*mode="PERMISSIVE" returns null'):
        frame.select(from_rdf("v", "nq")).collect()
    found = frame.select(from_rdf("v", "nq", mode="PERMISSIVE").alias("quads"), "id").collect()
    assert {row.id: row.quads is None for row in found} == {1: False, 2: True}


@pytest.mark.feature("`from_rdf`, `to_rdf`, in Python and SQL")
def test_errors_name_the_row_and_can_be_returned(spark):
    good, bad = b"<a:s> <a:p> <a:o> .", b"<a:s> oops"
    rows = [(1, good), (2, None), (3, bad), (4, TWO_MESSAGES), (5, b"")]
    frame = spark.createDataFrame(rows, "id int, v binary").coalesce(1)
    for row_key, name in (
        ("id", "row 3"),
        (F.struct("id", F.col("id").alias("n")), "row id 3, n 3"),
    ):
        with pytest.raises(PythonException, match=rf"{name}: nq: expected .*mode=\"PERMISSIVE\""):
            frame.select(from_rdf("v", "nq", row_key=row_key)).collect()
    assert frame.where("id < 3").select(from_rdf("v", "nq", row_key="id")).count() == 2
    decoded = from_rdf("v", "nq", mode="PERMISSIVE", with_error=True, row_key="id").alias("d")
    found = {
        row.id: (row.quads, row.error)
        for row in frame.select("id", decoded).select("id", "d.*").collect()
    }
    assert [found[id][0] and len(found[id][0]) for id in range(1, 6)] == [1, None, None, None, []]
    assert [found[id][1] for id in (1, 2, 5)] == [None] * 3
    assert found[3][1].startswith("row 3: nq: expected")
    assert "more than one message" in found[4][1]
    with pytest.raises(OptionError, match="with_error requires"):
        from_rdf("v", "nq", with_error=True)


def test_the_functions_are_a_part_of_the_package():
    program = "import rdfm.spark; rdfm.spark.functions.from_rdf"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_column_of_another_type_is_an_error_with_a_remedy(spark):
    frame = spark.createDataFrame([("<a:s> <a:p> <a:o> .",)], "v string")
    for function in (from_rdf, to_rdf):
        with pytest.raises(PythonException, match=r"cast text with cast\(text AS binary\)"):
            frame.select(function("v", "nq")).collect()
    assert frame.select(from_rdf(frame.v.cast("binary"), "nq")).head()[0][0].subject == "<a:s>"


def test_options_reach_the_codecs(spark, messages):
    frame = spark.createDataFrame([(TWO_MESSAGES,)], "v binary")
    assert len(frame.select(from_rdf("v", "nq", dialect="plain")).head()[0]) == 2
    value = messages.where("id = 0").select(to_rdf("quads", "jelly", delimited=True)).head()[0]
    assert value[0] == len(value) - 1 or value[0] >= 0x80
    graph = spark.createDataFrame(
        [([("<a:s>", "<a:p>", "<a:o>", "<a:g>")],)], messages.select("quads").schema
    )
    with pytest.raises(PythonException, match="merge_graphs"):
        graph.select(to_rdf("quads", "nt")).collect()
    assert (
        graph.select(to_rdf("quads", "nt", merge_graphs=True)).head()[0] == b"<a:s> <a:p> <a:o> .\n"
    )


def test_invalid_options_are_rejected_at_once(spark):
    with pytest.raises(OptionError, match="the option frames is for reading Jelly"):
        from_rdf("v", "nq", frames="flat")
    with pytest.raises(OptionError, match="max_message_bytes must be a number"):
        from_rdf("v", "nq", max_message_bytes="x")
    with pytest.raises(OptionError, match="'FAILFAST', 'PERMISSIVE', not 'DROPMALFORMED'"):
        from_rdf("v", "nq", mode="DROPMALFORMED")
    with pytest.raises(OptionError, match="the option dialect is for writing N-Triples"):
        to_rdf("v", "jelly", dialect="plain")
    with pytest.raises(OptionError, match="max_depth"):
        to_rdf("v", "jelly", max_depth=0)
    with pytest.raises(UnknownFormatError, match="there is no format 'avro'"):
        from_rdf("v", "avro")


def test_a_filter_on_the_result_decodes_once(spark):
    values = [(at, b'<a:s> <a:p> "%d" .' % at) for at in range(100)]
    frame = spark.createDataFrame(values, "id int, v binary")
    quads = frame.select("id", from_rdf("v", "nq").alias("quads"))
    for query in (
        quads.where(F.size("quads") > 0),
        quads.where("quads[0].object = '\"7\"'").select("quads"),
        quads.select("id", F.explode("quads").alias("quad")).where("quad.object like '%1%'"),
        quads.withColumn("n", F.size("quads")).where("n > 0").select("n", "quads"),
    ):
        assert plan(query).count("ArrowEvalPython") == 1
        assert query.count() > 0
    assert plan(quads.select("id")).count("ArrowEvalPython") == 0
    with pytest.raises(AnalysisException, match=r"(?i)non-?deterministic"):
        frame.agg(F.sum(F.size(from_rdf("v", "nq")))).collect()
    assert quads.agg(F.sum(F.size("quads"))).head()[0] == 100


def plan(frame):
    """Returns the physical plan as a string."""
    return frame._jdf.queryExecution().executedPlan().toString()


@pytest.mark.feature("`from_rdf`, `to_rdf`, in Python and SQL")
def test_sql_has_functions_for_every_format(spark, messages, log):
    names = register_functions(spark)
    values = [spec.name for spec in formats.specs() if spec.kinds[0] != "results"]
    expected = {
        f"{direction}_{name.replace('-', '_')}" for name in values for direction in ("from", "to")
    }
    assert set(names) == expected | {
        "rdf_hash",
        "rdf_query",
        "rdf_ask",
        "rdf_construct",
        "rdf_value",
    }
    messages.createOrReplaceTempView("messages")
    calls = [f"from_{f}(to_{f}(quads)) AS {f}" for name in FORMATS if (f := name.replace("-", "_"))]
    rows = spark.sql(f"SELECT id, {', '.join(calls)} FROM messages ORDER BY id").collect()
    for name in FORMATS:
        assert messages_of(rows, name.replace("-", "_")) == log
    query = "SELECT from_nq(v{}) AS quads FROM VALUES (X'3c'), (null) AS t(v)"
    options = ", map('Mode', 'permissive', 'maxMessageBytes', '1k')"
    assert [row.quads for row in spark.sql(query.format(options)).collect()] == [None, None]
    with pytest.raises(PythonException, match="PERMISSIVE"):
        spark.sql(query.format("")).collect()
    with pytest.raises(PythonException, match="there is no option 'loud'"):
        spark.sql(query.format(", map('loud', '1')")).collect()
    for arguments in (", 'permissive'", ", map('mode', 'permissive'), 1"):
        with pytest.raises(PythonException, match="a column and optionally a map of options"):
            spark.sql(query.format(arguments)).collect()
    relative_query = query.replace("3c", b"<s> <p> <o> .".hex())
    found = spark.sql(relative_query.format(", map('lenient', true)")).first()
    assert found.quads[0].subject == "<s>"
    with pytest.raises(PythonException, match="than 3 "):
        spark.sql(relative_query.format(", map('max_message_bytes', 3)")).collect()
    varying_query = query.format(", map('mode', if(v is null, 'FAILFAST', 'PERMISSIVE'))")
    with pytest.raises(PythonException, match="options must be the same in all rows"):
        spark.sql(
            varying_query.replace("FROM", "FROM (SELECT /*+ COALESCE(1) */ * FROM") + ")"
        ).collect()


def test_sql_reads_jelly_frames_according_to_the_logical_type(spark):
    def value(logical_type):
        lines = b"_:b <http://e/p> <http://e/1> .\n# @message\n_:b <http://e/p> <http://e/2> .\n"
        file = io.BytesIO()
        convert(lines, file, from_format="nq", to="jelly", logical_type=logical_type)
        return file.getvalue()

    rows = [(name, value(name)) for name in ("flat_quads", "datasets")]
    spark.createDataFrame(rows, "type string, v binary").createOrReplaceTempView("framed")
    register_functions(spark)
    query = "SELECT from_jelly(v, map({})) AS quads FROM framed WHERE type = '{}'"
    assert len(spark.sql(query.format("", "flat_quads")).first().quads) == 2
    assert len(spark.sql(query.format("'frames', 'flat'", "datasets")).first().quads) == 2
    for options, type in (("'frames', 'message'", "flat_quads"), ("", "datasets")):
        with pytest.raises(PythonException, match="more than one message"):
            spark.sql(query.format(options, type)).collect()


def test_built_in_functions_of_spark_are_not_replaced(spark, caplog):
    def with_name(name):
        spec = dataclasses.replace(formats.nq.spec, name=name, aliases=(), suffixes=())
        return formats.Format(spec, formats.nq.Decoder, formats.nq.Encoder)

    formats.register(with_name("json"))
    try:
        names = register_functions(spark)
        assert register_functions(spark) == names
    finally:
        formats.unregister("json")
    assert not {"from_json", "to_json"} & set(names)
    assert {"from_nq", "to_nq"} <= set(names)
    assert (
        caplog.messages[0]
        == "from_json is a built-in function of Spark, so it is not registered for the format"
    )
    assert spark.sql("""SELECT from_json('{"a": 1}', 'a int').a AS a""").head().a == 1


@pytest.mark.parametrize("use_large_types", ["true", "false"])
def test_small_and_large_arrow_types_are_accepted(spark, messages, log, use_large_types):
    name = "spark.sql.execution.arrow.useLargeVarTypes"
    previous = spark.conf.get(name)
    spark.conf.set(name, use_large_types)
    try:
        restored = messages.select("id", from_rdf(to_rdf("quads", "jelly"), "jelly").alias("quads"))
        assert messages_of(restored.orderBy("id").collect()) == log
    finally:
        spark.conf.set(name, previous)


def test_streams_of_values_are_decoded_and_encoded(spark, messages, log, tmp_path):
    messages.select("id", to_rdf("quads", "trig").alias("value")).write.parquet(
        str(tmp_path / "in")
    )
    stream = spark.readStream.schema("id int, value binary").parquet(str(tmp_path / "in"))
    query = (
        stream.select("id", from_rdf("value", "trig").alias("quads"))
        .where(F.size("quads") >= 0)
        .writeStream.format("parquet")
        .option("path", str(tmp_path / "out"))
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination(60)
    found = spark.read.parquet(str(tmp_path / "out")).orderBy("id").collect()
    assert messages_of(found) == log
