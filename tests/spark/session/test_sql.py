"""The SQL functions rdf_query, rdf_ask, rdf_construct and rdf_value, and views of logs."""

import datetime
import json

import pytest
from pyspark.sql import functions as F

import rdfm.spark
from rdfm import OptionError
from rdfm.spark.functions import register_functions, value
from rdfm.spark.schema import QUADS

XSD = "http://www.w3.org/2001/XMLSchema#"
LOG = "# @message\n".join(
    f'<http://e/s{n}> <http://e/value> "{n}.5"^^<{XSD}double> .\n'
    f'<http://e/s{n}> <http://e/at> "2026-06-01T10:00:{n:02}Z"^^<{XSD}dateTime> .\n'
    for n in range(50)
)
SELECT = "SELECT ?s ?v { ?s <http://e/value> ?v FILTER (?v >= 48) }"


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("logs") / "log.nq"
    path.write_text(LOG)
    return path


@pytest.fixture(scope="module", autouse=True)
def functions(spark):
    return register_functions(spark)


@pytest.fixture(scope="module")
def messages(spark, log):
    """A view of the messages and a row without quads."""
    frame = rdfm.spark.read(spark, log).select("quads")
    frame.union(spark.sql(f"SELECT cast(null AS {QUADS.simpleString()})")).createOrReplaceTempView(
        "messages"
    )
    return "messages"


def test_functions_are_registered_by_name(functions):
    assert {"rdf_query", "rdf_ask", "rdf_construct", "rdf_value"} < set(functions)


@pytest.mark.feature("`rdf_query`, `rdf_ask`, `rdf_construct`, `rdf_value`")
def test_nulls_without_a_type_are_nulls_of_any_type(spark, tmp_path):
    quad = (
        "named_struct('subject', '<e:s>', 'predicate', '<e:p>', 'object', '<e:o>', 'graph', NULL)"
    )
    row = spark.sql(
        f"""SELECT to_nq(NULL) AS a, from_nq(NULL) AS b, rdf_ask(NULL, 'ASK {{}}') AS c,
            rdf_construct(NULL, 'CONSTRUCT WHERE {{ ?s ?p ?o }}') AS d,
            rdf_value(NULL, 'e:p') AS e, to_nq(array({quad})) AS f,
            rdf_ask(array({quad}), 'ASK {{ ?s ?p ?o }}') AS g"""
    ).first()
    assert tuple(row) == (None, None, None, None, None, b"<e:s> <e:p> <e:o> .\n", True)
    select = "SELECT ?s { ?s ?p ?o }"
    assert spark.sql(f"SELECT * FROM rdf_query(NULL, '{select}')").collect() == []
    (solution,) = spark.sql(f"SELECT * FROM rdf_query(array({quad}), '{select}')").collect()
    assert solution.s == "<e:s>"
    rows = spark.sql(f"SELECT array({quad}) AS quads")
    assert [row.s for row in rdfm.spark.query(select, rows).collect()] == ["<e:s>"]
    empty = spark.sql("SELECT array() AS quads")
    written = [rdfm.spark.write(frame, tmp_path, "nq").messages for frame in (rows, empty)]
    assert written == [1, 1]
    lengths = [len(row.quads) for row in rdfm.spark.read(spark, tmp_path).collect()]
    assert sorted(lengths) == [0, 1]


@pytest.mark.feature("`rdf_query`, `rdf_ask`, `rdf_construct`, `rdf_value`")
def test_a_table_function_returns_the_solutions_of_each_message(spark, messages):
    found = spark.sql(f"SELECT q.* FROM messages, LATERAL rdf_query(quads, '{SELECT}') AS q")
    assert found.dtypes == [("s", "string"), ("v", "string")]
    assert [tuple(row) for row in found.orderBy("s").collect()] == [
        (f"<http://e/s{n}>", f'"{n}.5"^^<{XSD}double>') for n in (48, 49)
    ]


def test_a_table_function_accepts_query_options(spark, messages):
    text = "SELECT ?s ?v ?t { ?s e:value ?v ; e:at ?t FILTER (?v = 7.5) }"
    options = """map('types', 'v=double,t=dateTime,s=iri', 'prefixes', '{"e": "http://e/"}')"""
    found = spark.sql(f"SELECT q.* FROM messages, LATERAL rdf_query(quads, '{text}', {options}) q")
    assert found.dtypes == [("s", "string"), ("v", "double"), ("t", "timestamp")]
    ((s, v, t),) = found.select("s", "v", F.unix_timestamp("t")).collect()
    time = datetime.datetime(2026, 6, 1, 10, 0, 7, tzinfo=datetime.UTC)
    assert (s, v, t) == ("http://e/s7", 7.5, time.timestamp())


@pytest.mark.feature("`rdf_query`, `rdf_ask`, `rdf_construct`, `rdf_value`")
def test_answers_and_constructed_quads_are_columns(spark, messages):
    ask = "ASK { ?s <http://e/value> ?v FILTER (?v < 3) }"
    found = spark.sql(
        f"SELECT rdf_ask(quads, '{ask}') AS answer, count(*) FROM messages GROUP BY 1"
    )
    assert dict(found.collect()) == {True: 3, False: 47, None: 1}
    text = "CONSTRUCT { ?s <http://e/is> ?v } { ?s <http://e/value> ?v FILTER (?v < 3) }"
    found = spark.sql(f"SELECT rdf_construct(quads, '{text}') AS quads FROM messages")
    assert found.schema["quads"].dataType == QUADS
    rows = found.collect()
    assert sorted(len(row.quads) for row in rows if row.quads is not None) == [0] * 47 + [1] * 3
    assert [row.quads for row in rows].count(None) == 1
    quad = min(row.quads[0] for row in rows if row.quads)
    assert tuple(quad) == ("<http://e/s0>", "<http://e/is>", f'"0.5"^^<{XSD}double>', None)


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("rdf_query(quads, 'ASK { ?s ?p ?o }')", "rdf_query takes SELECT, not ASK; use rdf_ask"),
        ("rdf_query(quads, 'SELECT {')", "line 1"),
        ("rdf_query('x', 'SELECT * { ?s ?p ?o }')", "rdf_query takes a column of type array<"),
        ("rdf_query(quads, x)", "the query of rdf_query must be a literal"),
        ("rdf_query(quads, cast(null AS string))", "the query must be a string, not null"),
        (
            "rdf_query(quads, 'SELECT * { ?s ?p ?o }', map('whole', 'true'))",
            "a query has no option whole",
        ),
    ],
)
def test_invalid_calls_of_the_table_function_are_rejected(spark, messages, call, reason):
    with pytest.raises(Exception, match="FAILED_TO_ANALYZE") as caught:
        spark.sql(f"SELECT q.* FROM (SELECT quads, 'x' AS x FROM messages), LATERAL {call} q")
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("rdf_ask(quads, 'SELECT * { ?s ?p ?o }')", "rdf_ask takes ASK, not SELECT; use rdf_query"),
        ("rdf_ask(quads)", "rdf_ask takes quads, a query and optionally a map of options"),
        (
            "rdf_ask(quads, concat('ASK { ?s ?p ', string(rand()), ' }'))",
            "the query must be the same in all rows",
        ),
        (
            "rdf_construct(quads, 'CONSTRUCT WHERE { ?s ?p ?o }', map('skip_empty', 'true'))",
            "returns a value for each row",
        ),
    ],
)
def test_invalid_calls_of_the_scalar_functions_are_rejected(spark, messages, call, reason):
    with pytest.raises(Exception, match="OptionError") as caught:
        spark.sql(f"SELECT {call} FROM messages").collect()
    assert reason in str(caught.value)


TERMS = [
    "<http://e/o>",
    "<http://e/\\u00E9\\U0001F600>",
    "_:b",
    '"text"',
    '""',
    '"a \\"quote\\", a \\\\ and\\na line"@en--ltr',
    '"\\u00e9\\uFEFF\\\\u0041\\t\\b\\r\\f\\\'"^^<http://e/type>',
    '"\\uD800"',
    '"\\x"',
    '<<( <http://e/s> <http://e/p> "o" )>>',
]


@pytest.mark.feature("`rdf_query`, `rdf_ask`, `rdf_construct`, `rdf_value`")
def test_rdf_value_is_evaluated_without_python(spark):
    rows = [
        (
            n,
            [
                ("_:s", "<http://e/q>", "_:other", None),
                ("_:s", "<http://e/p>", term, "<http://e/g>"),
            ],
        )
        for n, term in enumerate(TERMS)
    ]
    schema = f"n int, quads {QUADS.simpleString()}"
    frame = spark.createDataFrame([*rows, (98, []), (99, None)], schema)
    objects = F.expr("get(filter(quads, q -> q.predicate = '<http://e/p>'), 0).object")
    found = frame.select("*", value(objects).alias("expected")).selectExpr(
        "n",
        "expected",
        "rdf_value(quads, 'http://e/p') AS plain",
        "rdf_value(quads, '<http://e/p>') AS bracketed",
        "rdf_value(quads, 'http://e/none') AS none",
    )
    plan = found._jdf.queryExecution().toString()
    assert "Python" not in plan
    rows = found.orderBy("n").collect()
    assert len(rows) == len(TERMS) + 2
    for row in rows:
        assert row.plain == row.bracketed == row.expected
        assert row.none is None
    assert rows[5].plain == 'a "quote", a \\ and\na line'
    assert rows[6].plain == "é\ufeff\\u0041\t\b\r\f'"
    assert [row.plain for row in rows[7:9]] == [None, None]
    maximum = frame.where("rdf_value(quads, 'http://e/p') = 'b'").selectExpr("max(n)").collect()
    assert maximum == [(2,)]


def test_a_view_reads_logs(spark, log):
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW logs USING rdfm OPTIONS (path '{log}')")
    assert spark.sql("SELECT count(*) FROM logs WHERE size(quads) = 2").collect() == [(50,)]
    settings = json.dumps({"query": SELECT, "types": {"v": "double"}})
    spark.sql(
        f"CREATE OR REPLACE TEMPORARY VIEW hot USING rdfm OPTIONS (path '{log}', query '{settings}')"
    )
    assert sorted(row.v for row in spark.sql("SELECT v FROM hot").collect()) == [48.5, 49.5]
    spark.sql(
        f"CREATE OR REPLACE TEMPORARY VIEW typed USING rdfm OPTIONS (path '{log}', query '{SELECT}', types 'v=double')"
    )
    assert sorted(row.v for row in spark.sql("SELECT v FROM typed").collect()) == [48.5, 49.5]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"types": "v=double"}, "types requires the option query; set it too"),
        (
            {"query": json.dumps({"query": SELECT, "types": {"v": "double"}}), "types": "v=double"},
            "types is given twice",
        ),
        ({"query": SELECT, "types": "v=number"}, "unknown type 'number'"),
        ({"query": SELECT, "types": "v"}, "expected names with types"),
    ],
)
def test_invalid_types_are_rejected(spark, log, options, reason):
    with pytest.raises(OptionError, match=reason):
        rdfm.spark.read(spark, log, **options)
