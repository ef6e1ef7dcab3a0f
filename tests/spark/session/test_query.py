"""`rdfm.spark.query` returns solutions, constructed messages or answers, from logs and rows."""

import datetime
import decimal
import json

import pytest
from pyspark.sql import functions as F

import rdfm
import rdfm.spark
from rdfm import OptionError
from rdfm.errors import QueryError

XSD = "http://www.w3.org/2001/XMLSchema#"
COUNT = 300
LOG = "".join(
    f'<http://e/s{n}> <http://e/value> "{n}.5"^^<{XSD}double> .\n'
    f'<http://e/s{n}> <http://e/at> "2026-06-01T10:{n % 60:02}:00+02:00"^^<{XSD}dateTime> .\n'
    "# @message\n"
    for n in range(COUNT)
)
SELECT = "SELECT ?s ?v ?t { ?s <http://e/value> ?v ; <http://e/at> ?t FILTER (?v >= 10) }"
TYPES = {"v": "double", "t": "dateTime", "s": "iri"}
LOG_WITH_INVALID_VALUE = (
    f'<http://e/s> <http://e/value> "warm" .\n# @message\n{LOG[: LOG.index("# @message")]}'
)


@pytest.fixture
def log(tmp_path):
    (tmp_path / "logs").mkdir()
    path = tmp_path / "logs/log.nq"
    path.write_text(LOG)
    return path


@pytest.fixture(params=["logs", "rows"])
def run_query(request, spark, log):
    """Runs a query on the log, given as a path or as a DataFrame."""
    if request.param == "logs":
        return lambda text, **options: rdfm.spark.query(text, log, **options)
    rows = rdfm.spark.read(spark, log, columns=["source", "message_index", "byte_offset", "quads"])
    return lambda text, **options: rdfm.spark.query(text, rows, **options)


@pytest.mark.feature("queries")
def test_solutions_are_typed_columns(run_query, log):
    found = run_query(SELECT, types=TYPES)
    assert found.dtypes == [
        ("source", "string"),
        ("message_index", "bigint"),
        ("s", "string"),
        ("v", "double"),
        ("t", "timestamp"),
    ]
    rows = found.orderBy("message_index").collect()
    assert [row.message_index for row in rows] == list(range(10, COUNT))
    assert {row.source for row in rows} == {str(log)}
    assert [(row.s, row.v) for row in rows[:2]] == [("http://e/s10", 10.5), ("http://e/s11", 11.5)]
    seconds = found.where("message_index = 10").select(F.unix_timestamp("t")).first()[0]
    assert seconds == datetime.datetime(2026, 6, 1, 8, 10, tzinfo=datetime.UTC).timestamp()


def test_constructed_messages_have_the_columns_of_a_read(run_query, spark, tmp_path):
    text = "CONSTRUCT { ?s <http://e/is> ?v } { ?s <http://e/value> ?v FILTER (?v < 3) }"
    found = run_query(text)
    # If the input has the column `message_index`, so does the result.
    columns = [name for name in found.columns if name != "message_index"]
    assert columns == ["source", "byte_offset", "quads", "metadata"]
    rows = found.orderBy("byte_offset").collect()
    assert len(rows) == COUNT
    assert [len(row.quads) for row in rows[:4]] == [1, 1, 1, 0]
    assert rows[1].quads[0].asDict() == {
        "subject": "<http://e/s1>",
        "predicate": "<http://e/is>",
        "object": f'"1.5"^^<{XSD}double>',
        "graph": None,
    }
    non_empty = run_query(text, skip_empty=True)
    positions = [row.byte_offset for row in non_empty.orderBy("byte_offset").collect()]
    assert positions == [row.byte_offset for row in rows[:3]]
    non_empty.write.format("rdfm").mode("append").option("to", "nq").save(str(tmp_path / "out"))
    assert rdfm.spark.read(spark, tmp_path / "out").count() == 3


def test_rows_without_an_index_are_identified_by_their_position(spark, log):
    rows = rdfm.spark.read(spark, log)
    found = rdfm.spark.query("SELECT ?s { ?s <http://e/at> ?t }", rows)
    assert found.columns == ["source", "byte_offset", "s"]
    positions = [row.byte_offset for row in rows.orderBy("byte_offset").collect()]
    assert [row.byte_offset for row in found.orderBy("byte_offset").collect()] == positions
    with pytest.raises(OptionError, match=r"\?byte_offset has the name of a column"):
        rdfm.spark.query("SELECT ?byte_offset { ?byte_offset <http://e/at> ?t }", rows)
    constructed = rdfm.spark.query("CONSTRUCT WHERE { ?s ?p ?o }", rows.drop("byte_offset"))
    assert {row.byte_offset for row in constructed.collect()} == {None}


def test_boolean_answers_are_rows(run_query):
    found = run_query("ASK { ?s <http://e/value> ?v FILTER (?v < 3) }")
    assert found.dtypes == [
        ("source", "string"),
        ("message_index", "bigint"),
        ("answer", "boolean"),
    ]
    assert found.count() == COUNT
    assert [
        row.message_index for row in found.where("answer").orderBy("message_index").collect()
    ] == [0, 1, 2]


def test_a_query_may_be_an_option(spark, log):
    settings = {
        "query": "SELECT ?v { ?s e:value ?v }",
        "prefixes": {"e": "http://e/"},
        "types": {"v": "decimal"},
    }
    for split in ("0", "4k"):
        reader = spark.read.format("rdfm").option("query", "SELECT ?s { ?s <http://e/at> ?t }")
        rows = reader.option("splitBytes", split).load(str(log)).select("message_index", "s")
        assert sorted(rows.collect()) == [(n, f"<http://e/s{n}>") for n in range(COUNT)]
    settings["query"] = "SELECT ?v { ?s e:at ?v }"
    settings["types"] = {"v": "dateTime"}
    frame = spark.read.format("rdfm").option("query", json.dumps(settings)).load(str(log.parent))
    assert frame.dtypes[-1] == ("v", "timestamp")
    solutions = rdfm.spark.read(
        spark, log, query="SELECT ?s { ?s ?p ?o }", schema="S string, message_index bigint"
    )
    assert (solutions.columns, solutions.count()) == (["S", "message_index"], 2 * COUNT)


def test_a_query_may_be_combined_with_a_filter(spark, log):
    found = rdfm.spark.query(SELECT, log, filter={"subject": "<http://e/s42>"})
    assert [(row.message_index, row.s) for row in found.collect()] == [(42, "<http://e/s42>")]


def test_streams_can_be_queried(spark, log, tmp_path):
    messages = rdfm.spark.read_stream(spark, str(log.parent))
    query = json.dumps({"query": SELECT, "types": TYPES})
    reader = spark.readStream.format("rdfm").option("query", query)
    source = reader.option("stateLocation", str(tmp_path / "state")).load(str(log.parent))
    for name, rows in (("one", rdfm.spark.query(SELECT, messages, types=TYPES)), ("other", source)):
        stream = rows.writeStream.format("memory").queryName(f"asked_{name}")
        stream = stream.option("checkpointLocation", str(tmp_path / name)).trigger(
            availableNow=True
        )
        stream.start().awaitTermination()
        assert spark.table(f"asked_{name}").agg(F.sum("v")).first()[0] == sum(
            n + 0.5 for n in range(10, COUNT)
        )


def test_a_value_of_the_wrong_type_is_an_error(spark, tmp_path):
    path = tmp_path / "log.nq"
    path.write_text(LOG_WITH_INVALID_VALUE)
    text = "SELECT ?v { ?s <http://e/value> ?v }"
    for logs, position_kind in ((path, "message"), (rdfm.spark.read(spark, path), "byte")):
        with pytest.raises(
            Exception, match=rf"{path}: \?v is .*, expected a number \({position_kind} 0\)"
        ):
            rdfm.spark.query(text, logs, types={"v": "double"}).collect()
    found = rdfm.spark.query(text, path, types={"v": "double"}, mode="PERMISSIVE")
    assert [(row.v, row._corrupt_record) for row in found.orderBy("message_index").collect()] == [
        (None, None),
        (0.5, None),
    ]


def test_a_message_that_exceeds_the_row_limit_is_an_error(spark, log):
    text = "SELECT ?s ?p ?o { ?s ?p ?o }"
    with pytest.raises(Exception, match=r"log.nq: .*\(message 0\)"):
        rdfm.spark.query(text, log, max_rows=1).collect()
    found = rdfm.spark.query(text, log, max_rows=1, mode="PERMISSIVE").collect()
    assert len([row for row in found if row._corrupt_record]) == COUNT


def test_every_type_has_a_spark_type(spark, tmp_path):
    literals = {
        "string": "x",
        "boolean": "true",
        "integer": "5",
        "decimal": "5.25",
        "float": "0.5",
        "double": "0.25",
        "date": "2026-06-01",
        "time": "10:00:00.5",
        "duration": "PT90S",
    }
    path = tmp_path / "log.nq"
    types = {"duration": "dayTimeDuration"}
    path.write_text(
        "".join(
            f'<http://e/s> <http://e/{name}> "{text}"^^<{XSD}{types.get(name, name)}> .\n'
            for name, text in literals.items()
        )
    )
    pattern = " ; ".join(f"<http://e/{name}> ?{name}" for name in literals)
    found = rdfm.spark.query(
        f"SELECT * {{ ?s {pattern} }}", path, types={name: name for name in literals}
    )
    (row,) = found.select(*literals).collect()
    assert tuple(row) == (
        "x",
        True,
        5,
        decimal.Decimal("5.25"),
        0.5,
        0.25,
        datetime.date(2026, 6, 1),
        datetime.time(10, 0, 0, 500_000),
        datetime.timedelta(seconds=90),
    )


@pytest.mark.parametrize(
    ("text", "options", "error", "reason"),
    [
        ("SELECT {", {}, QueryError, "line 1"),
        ("DESCRIBE <http://e/s>", {}, QueryError, "DESCRIBE"),
        (SELECT, {"types": {"w": "double"}}, OptionError, "cannot set the type of 'w'"),
        (SELECT, {"types": {"v": "number"}}, OptionError, "unknown type 'number'"),
        ("SELECT ?source { ?source ?p ?o }", {}, OptionError, r"\?source would be a second column"),
        ("SELECT ?a ?A { ?a ?p ?A }", {}, OptionError, r"Spark treats \?a and \?A as one column"),
        ("ASK { ?s ?p ?o }", {"types": {"s": "iri"}}, OptionError, "types applies to SELECT"),
        (SELECT, {"skip_empty": True}, OptionError, "skip_empty applies to CONSTRUCT"),
        (SELECT, {"timeout": -1}, OptionError, "timeout must be a number of seconds"),
    ],
)
def test_invalid_queries_are_rejected_before_reading(run_query, text, options, error, reason):
    with pytest.raises(error, match=reason):
        run_query(text, **options)


def test_invalid_rows_options_and_columns_are_rejected(spark, log):
    with pytest.raises(OptionError, match="the rows need a column quads"):
        rdfm.spark.query(SELECT, spark.range(3))
    with pytest.raises(
        OptionError, match="the option mode applies to reading logs, not to a DataFrame"
    ):
        rdfm.spark.query(SELECT, rdfm.spark.read(spark, log), mode="PERMISSIVE")
    with pytest.raises(
        OptionError, match="there is no column 'w'; the query returns source, message_index, s"
    ):
        rdfm.spark.read(spark, log, query=SELECT, schema="w string")
    with pytest.raises(OptionError, match="the column v is string, not double"):
        rdfm.spark.read(spark, log, query=SELECT, schema="v double")
    with pytest.raises(
        OptionError, match=r"a query has no option whole; its options are prefixes, "
    ):
        rdfm.spark.read(spark, log, query=json.dumps({"query": SELECT, "whole": True}))


def test_a_query_after_its_logs_is_rejected(spark, log):
    for logs in (str(log), log, [log], rdfm.spark.read(spark, log)):
        with pytest.raises(OptionError, match="the query comes before the logs"):
            rdfm.spark.query(logs, SELECT)
