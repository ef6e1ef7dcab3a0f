"""Functions for terms agree with rdfm and pyoxigraph; quad rows become messages again."""

import random
from functools import reduce

import nquads
import pyoxigraph
import pytest
from hypothesis import given, settings
from logs import bnodes, iris, literals, logs, triple_terms
from support import as_batch, as_term, as_tuple

import rdfm
from rdfm.errors import OptionError

EXAMPLES = [
    r'"plain"',
    '""',
    r'"\"@en"',
    r'"a\"@en"@fr',
    r'"\"^^<http://a>"^^<http://b>',
    r'"> . <x>"@ar--rtl',
    r'"x"@en-GB--ltr',
    r'"\\"',
    r'"\\\\"',
    r'"\\\""',
    r'"\\n \n \\\n \\u0041 \u0041 \\\u0041 \U0001F600\\U0001F600"',
    r'"\t\b\n\r\f\"\'\\"',
    r'"\u0000\u00E9\uFFFF\U0010FFFF"',
    r'"\\u005C \u005Cn"',
    '"\U0001f422 é raw\ttab"',
    r'"C:\\new\\table"^^<http://ex/a\u003Eb>',
    r'"x"^^<\U0001F422>',
    '"x" @en',
    '"x"\t^^ <http://a>',
    "<>",
    "<http://ex/é>",
    r"<http://ex/\u0020\u003C\U0001F422>",
    "<http://ex/_:a>",
    "_:b0",
    "_:a.b",
    r'<<( <a> <b> "\"@en _:x"@fr )>>',
    r"<<( _:a <p> <<( _:b <q> _:c )>> )>>",
]


def examples_of(strategy, count):
    """Returns examples of a strategy, generated once for one data frame."""
    found = []

    @settings(max_examples=count)
    @given(strategy)
    def collect(example):
        found.append(example)

    collect()
    return found


def with_escapes(text, generator):
    """Returns a canonical literal or IRI with random characters escaped in any allowed way."""
    if text[0] not in '<"' or text.startswith("<<"):
        return text
    end = text.rindex('"') if text[0] == '"' else len(text) - 1
    out, at = [text[0]], 1
    while at < end:
        character, width = text[at], 1
        if character == "\\":
            width = 6 if text[at + 1] == "u" else 2
            character = nquads.unescape(text[at : at + width])
        spellings = [text[at : at + width], f"\\U{ord(character):08X}"]
        if ord(character) < 0x10000:
            spellings.append(f"\\u{ord(character):04x}")
        if character == "'" and text[0] == '"':
            spellings.append("\\'")
        out.append(generator.choice(spellings))
        at += width
    return "".join(out) + text[end:]


def random_terms():
    kinds = iris | bnodes | literals | literals | triple_terms(iris | bnodes, iris, literals)
    canonical = [str(as_term(term)) for term in examples_of(kinds, 1500)]
    generator = random.Random(0)
    return [*canonical, *(with_escapes(text, generator) for text in canonical)]


def columns(functions, term):
    return [
        functions.term_kind(term),
        functions.iri(term),
        functions.value(term),
        functions.language(term),
        functions.direction(term),
        functions.datatype(term),
        functions.is_blank(term),
    ]


def evaluated(spark, texts):
    """Returns each term with the values of the seven functions, from a single query."""
    from pyspark.sql import functions as F

    from rdfm.spark import terms

    frame = spark.createDataFrame([(text,) for text in texts], "term string")
    return [tuple(row) for row in frame.select(F.col("term"), *columns(terms, "term")).collect()]


def values_by_rdfm(text):
    term = rdfm.parse_term(text)
    kind = as_tuple(term)[0]
    literal = kind == "literal"
    values = {"triple": text, "bnode": text.removeprefix("_:")}
    return (
        {"triple": "triple term", "bnode": "blank node"}.get(kind, kind),
        term.value if kind == "iri" else None,
        values.get(kind, term.value),
        term.language if literal else None,
        term.direction if literal else None,
        term.datatype.value if literal else None,
        kind == "bnode",
    )


def values_by_oxigraph(text):
    """Returns the same values from pyoxigraph, or None if they cannot be compared."""
    try:
        (quad,) = pyoxigraph.parse(f"<a:a> <a:a> {text} .", pyoxigraph.RdfFormat.N_TRIPLES)
    except SyntaxError:
        return None
    term = quad.object
    if isinstance(term, pyoxigraph.NamedNode):
        return ("iri", term.value, term.value, None, None, None, False)
    if isinstance(term, pyoxigraph.Literal):
        direction = term.direction and str(term.direction).rpartition(".")[2].lower()
        # pyoxigraph lowercases language tags.
        return ("literal", None, term.value, term.language, direction, term.datatype.value, False)
    return None


@pytest.fixture(scope="module")
def rows(spark):
    texts = [*EXAMPLES, *random_terms()]
    found = evaluated(spark, texts)
    assert [row[0] for row in found] == texts
    return found


@pytest.mark.feature("functions on terms, `explode_quads`, `messages`")
def test_functions_agree_with_rdfm(rows):
    assert len(rows) > 3000
    for text, *values in rows:
        assert tuple(values) == values_by_rdfm(text), text


def test_functions_agree_with_pyoxigraph(rows):
    compared = 0
    for text, *values in rows:
        if (expected := values_by_oxigraph(text)) is not None:
            values[3] = values[3] and values[3].lower()
            assert tuple(values) == expected, text
            compared += 1
    assert compared > 1000


def test_null_remains_null(spark):
    assert evaluated(spark, [None]) == [(None,) * 8]


def test_invalid_strings_do_not_raise_errors(spark):
    """Truncated and invalid terms, with ANSI SQL errors enabled."""
    assert spark.conf.get("spark.sql.ansi.enabled") == "true"
    generator = random.Random(1)
    invalid = [
        "",
        "<",
        "<<",
        ">",
        "_",
        "_:",
        '"',
        '"a',
        'a"',
        "<a",
        "@en",
        '"a"@',
        '"a"^^',
        '"a"^^<',
    ]
    invalid += [rf'"{escape}"' for escape in (r"\x", r"\u12", r"\uD83D", r"\U00110000", "\\")]
    for text in random_terms()[::5]:
        middle = generator.randrange(len(text) + 1)
        invalid += [
            text[:middle],
            text[middle:],
            text[:middle] + generator.choice('\\"<>@^_:') + text[middle:],
        ]
    found = dict((row[0], row[1:]) for row in evaluated(spark, invalid))
    assert len(found) > 800
    assert found[""] == (None, None, None, None, None, None, False)
    assert found[r'"\uD83D"'][2] is None
    assert found[r'"\x"'][2] is None
    assert found['"a'][1:6] == (None,) * 5


def test_result_columns_are_named_after_the_call(spark):
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    from rdfm.spark import terms

    frame = spark.createDataFrame([('"b"@en', 1), ('"a"@en', 2)], "`a term` string, n int")
    term = F.col("a term")
    assert frame.select(*columns(terms, term)).columns[1:4] == [
        "iri(a term)",
        "value(a term)",
        "language(a term)",
    ]
    number = F.row_number().over(
        Window.partitionBy(terms.language(term)).orderBy(terms.value(term))
    )
    rows = frame.where(terms.value(term).isin("a", "b")).orderBy(terms.value(term))
    assert [tuple(row) for row in rows.select("n", number).collect()] == [(2, 1), (1, 2)]
    joined = frame.alias("x").join(
        frame.alias("y"), terms.value("x.a term") == terms.value("y.a term")
    )
    assert joined.count() == 2
    grouped = frame.groupBy(terms.language(term)).agg(F.max(terms.value(term)).alias("last"))
    assert grouped.columns == ["language(a term)", "last"]
    assert grouped.first() == ("en", "b")


def test_no_python_worker_is_used(spark):
    from pyspark.sql import functions as F

    from rdfm.spark import terms

    frame = spark.range(1).select(F.col("id").cast("string").alias("term"))
    explained = plan(frame.select(*columns(terms, F.col("term"))))
    assert "term" in explained
    assert "Python" not in explained
    exploded = terms.explode_quads(messages_frame(spark, [[]]))
    assert "Python" not in plan(terms.messages(exploded)).replace("PythonRDD", "")


def plan(frame):
    return frame._jdf.queryExecution().executedPlan().toString()


def test_long_strings_are_unescaped_completely(spark):
    """Escapes are not processed recursively."""
    from pyspark.sql import functions as F

    from rdfm.spark import terms

    for piece, times in (("\\\\\\n\\u0001", 50_000), ("a", 5_000_000)):
        text = F.concat(F.lit('"\\t'), F.repeat(F.lit(piece), times), F.lit('"@en'))
        expected = F.concat(F.lit("\t"), F.repeat(F.lit(nquads.unescape(piece)), times))
        frame = spark.range(1).select(text.alias("term"), expected.alias("expected"))
        row = frame.select(
            terms.value("term") == F.col("expected"), terms.language("term")
        ).collect()
        assert [tuple(part) for part in row] == [(True, "en")]


# --- quads as rows ---


def messages_frame(spark, log):
    """Returns a log as a data frame of rdfm's data source."""
    from rdfm.spark.schema import QUADS

    rows = [
        ("log", index, [tuple(term and str(as_term(term)) for term in quad) for quad in message])
        for index, message in enumerate(log)
    ]
    return spark.createDataFrame(
        rows, f"source string, message_index bigint, quads {QUADS.simpleString()}"
    )


def as_message(quads):
    return rdfm.Message(
        rdfm.Quad(*(term and rdfm.parse_term(term) for term in quad)) for quad in quads
    )


@pytest.fixture(scope="module")
def random_log():
    return [message for log in examples_of(logs(generalized=True), 300) for message in log]


@pytest.mark.parametrize("keep_empty", [True, False])
def test_quad_rows_become_the_same_messages_again(spark, random_log, keep_empty):
    from rdfm.spark import terms
    from rdfm.spark.schema import QUADS

    frame = messages_frame(spark, random_log)
    exploded = terms.explode_quads(frame, keep_empty=keep_empty)
    assert exploded.columns == [
        "source", "message_index", "quad_index", "subject", "predicate", "object", "graph",
    ]  # fmt: skip
    grouped = terms.messages(exploded.repartition(3))
    assert grouped.schema["quads"].dataType == QUADS
    found = {row.message_index: [tuple(quad) for quad in row.quads] for row in grouped.collect()}
    expected = {i: quads for i, quads in enumerate(random_log) if quads or keep_empty}
    assert sorted(found) == sorted(expected)
    for index, quads in expected.items():
        ours = as_message(found[index])
        theirs = next(iter(as_batch([quads])))
        assert ours.isomorphic(theirs)
        # The order is kept, and only labels change.
        assert nquads.relabelled(map(tuples, ours.quads)) == nquads.relabelled(
            map(tuples, theirs.quads)
        )


def tuples(quad):
    return tuple(map(as_tuple, quad))


@pytest.mark.feature("functions on terms, `explode_quads`, `messages`")
def test_labels_belong_to_one_message_and_are_reproducible(spark, random_log):
    from rdfm.spark import terms

    frame = messages_frame(spark, random_log)
    first, second = (
        sorted(tuple(row) for row in terms.explode_quads(frame).na.fill("").collect())
        for _ in range(2)
    )
    assert first == second
    owners = {}
    for _, offset, _, *texts in first:
        quad = tuple(as_tuple(rdfm.parse_term(text)) if text else None for text in texts)
        for label in nquads.labels([quad]):
            assert owners.setdefault(label, offset) == offset, texts
    assert len(owners) > 50


# Distinct values, by type. Some differ only in details that JSON or a time zone would drop.
DISTINCT_VALUES = {
    "timestamp": [
        f"TIMESTAMP '2026-10-25 0{text}'"
        for text in ("0:30:00.000001Z", "0:30:00.000002Z", "1:30:00.000001Z")
    ],
    "timestamp_ntz": [
        f"TIMESTAMP_NTZ '2026-0{text}'"
        for text in ("3-29 02:30:00.000001", "3-29 03:30:00.000001", "3-29 03:30:00.000002")
    ],
    "string": ["X'ff'", "X'fe'", "X'efbfbd'", "''", "null"],
    "binary": ["X'ff'", "X''", "null"],
    "date": ["DATE '2026-01-01'", "DATE '-2025-01-01'"],
    "double": ["1.0", "1.0000000000000002", "double('NaN')", "null"],
    "array<string>": ["array(X'ff')", "array(X'fe')", "array(null)", "array()", "null"],
    "struct<a: string, b: timestamp>": [
        "struct(X'ff', null)",
        "struct(X'fe', null)",
        "struct(null, TIMESTAMP '2026-01-01 00:00:00.000001Z')",
        "struct(null, TIMESTAMP '2026-01-01 00:00:00.000002Z')",
        "struct(null, null)",
        "null",
    ],
    "map<string, int>": ["map(X'ff', 1)", "map(X'fe', 1)", "map()", "null"],
}

QUADS_WITH_LABEL = (
    "array(named_struct('subject', '_:b', 'predicate', '', 'object', '', 'graph', ''))"
)


def labels_of(spark, zone):
    """Returns the types and labels of messages that differ only in one value."""
    from pyspark.sql import DataFrame

    from rdfm.spark import terms

    settings = {
        "spark.sql.session.timeZone": zone,
        "spark.sql.jsonGenerator.ignoreNullFields": zone == "UTC",
    }
    previous = {name: spark.conf.get(name) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    try:
        found = []
        for kind, values in DISTINCT_VALUES.items():
            rows = ", ".join(f"(cast({value} AS {kind}))" for value in values)
            columns = f"'{kind}' AS kind, {QUADS_WITH_LABEL} AS quads, id"
            frame = spark.sql(f"SELECT {columns} FROM VALUES {rows} AS t(id)")
            found.append(terms.explode_quads(frame, by="id").select("kind", "subject"))
        return sorted(map(tuple, reduce(DataFrame.unionAll, found).collect()))
    finally:
        for name, value in previous.items():
            spark.conf.set(name, value)


def test_labels_differ_for_all_values_and_do_not_depend_on_settings(spark):
    found = labels_of(spark, "UTC")
    assert len(set(found)) == len(found) == sum(map(len, DISTINCT_VALUES.values()))
    assert labels_of(spark, "Europe/Berlin") == found


def test_columns_of_any_name_are_kept(spark):
    from pyspark.sql import functions as F

    from rdfm.spark import terms

    names = ("label", "Quad", "label_", "__label", "__quad")
    frame = messages_frame(spark, [[]]).drop("quads").select("*", *map(F.lit, range(5)))
    frame = frame.toDF("source", "message_index", *names)
    quad = F.struct(
        *(F.lit("_:b").alias(part) for part in ("subject", "predicate", "object", "graph"))
    )
    row = terms.explode_quads(frame.withColumn("quads", F.array(quad))).head()
    assert row.asDict().keys() == {
        "source", "message_index", *names, "quad_index", "subject", "predicate", "object", "graph",
    }  # fmt: skip
    assert [row[name] for name in names] == [0, 1, 2, 3, 4]
    assert row.subject.endswith("_b")


def test_strings_that_look_like_labels_are_unchanged(spark):
    from rdfm.spark import terms

    texts = [
        r'<<( _:a <http://ex/_:a> "_:a \" _:a \\" )>>',
        r'<<( <<( _:a <p> "\\" )>> <p> "> _:a <"@en )>>',
        '<<( <p> "" <<( _:a "" "" )>> )>>',
        '"_:a"',
        "<_:a>",
    ]
    frame = spark.createDataFrame(
        [("s", 0, [(text, "<p>", text, None) for text in texts])],
        "source string, byte_offset bigint, quads array<struct<subject: string, predicate: string, "
        "object: string, graph: string>>",
    )
    found = [row.object for row in terms.explode_quads(frame).orderBy("quad_index").collect()]
    label = found[0][6 : found[0].index(" ", 6) - 1]
    assert len(label) == 34
    assert found == [text.replace("<<( _:a", f"<<( _:{label}a") for text in texts]


def test_quads_of_a_table_become_messages(spark):
    from pyspark.sql import functions as F

    from rdfm.spark import terms

    table = spark.createDataFrame(
        [("a", "<s>", "<p>", '"1"'), ("b", "<s>", "<p>", '"2"'), ("a", "<s>", "<p>", '"3"')],
        "sensor string, subject string, predicate string, object string",
    )
    found = terms.messages(table, by="sensor").orderBy("sensor").collect()
    assert [(row.sensor, sorted(tuple(quad) for quad in row.quads)) for row in found] == [
        ("a", [("<s>", "<p>", '"1"', None), ("<s>", "<p>", '"3"', None)]),
        ("b", [("<s>", "<p>", '"2"', None)]),
    ]
    frame = messages_frame(spark, [[]]).withColumn("a.b", F.lit(1))
    assert terms.explode_quads(frame, by=["a.b"]).columns[2:4] == ["a.b", "quad_index"]


def test_missing_columns_are_named(spark):
    from pyspark.sql import functions as F

    from rdfm.spark import terms

    frame = messages_frame(spark, [[]])
    with pytest.raises(OptionError, match="explode_quads needs the column quads"):
        terms.explode_quads(frame.drop("quads"))
    with pytest.raises(OptionError, match="nor source and message_index are among source, quads"):
        terms.explode_quads(frame.drop("message_index"))
    with pytest.raises(OptionError, match="messages needs the column topic"):
        terms.messages(terms.explode_quads(frame), by="topic")
    with pytest.raises(OptionError, match="adds a column graph"):
        terms.explode_quads(frame.withColumn("graph", F.lit("<g>")))


@pytest.mark.parametrize("format", ["parquet", "arrow"])
def test_rows_without_a_byte_offset_are_identified_by_their_index(spark, tmp_path, format):
    from rdfm.spark import terms

    log, table = tmp_path / "log.nq", tmp_path / f"log.{format}"
    log.write_text("# @message\n".join(f'_:b <http://e/p> "{n}" .\n' for n in range(3)))
    rdfm.convert(log, table)
    columns = ["source", "message_index", "byte_offset", "quads"]
    frame = rdfm.spark.read(spark, table, columns=columns)
    rows = frame.orderBy("message_index").collect()
    assert [(row.message_index, row.byte_offset) for row in rows] == [(n, None) for n in range(3)]
    quads = terms.explode_quads(frame)
    assert quads.select("subject").distinct().count() == 3
    assert terms.messages(quads).count() == 3
    by_default = rdfm.spark.read(spark, table)
    assert by_default.columns == ["source", "byte_offset", "quads", "metadata"]
    for failing in (
        terms.explode_quads(by_default),
        terms.messages(quads.drop("message_index")),
    ):
        with pytest.raises(Exception, match="is identified by its message_index"):
            failing.collect()
    log.write_text("# @message\n".join(f'_:b <http://e/p> "{n}" .\n' for n in (1, 2)))
    other = tmp_path / f"other.{format}"
    rdfm.convert(log, other)
    (row,) = rdfm.spark.diff(table, other, spark=spark).collect()
    assert (row.side, row.message_index, row.byte_offset) == ("a", 0, None)


def test_labels_do_not_depend_on_whether_the_index_is_read(spark, tmp_path):
    from rdfm.spark import terms

    log = tmp_path / "log.nq"
    log.write_text("# @message\n".join(f'_:b <http://e/p> "{n}" .\n' for n in range(3)))
    subjects = [
        sorted(
            row.subject
            for row in terms.explode_quads(
                rdfm.spark.read(spark, log, columns=["source", *columns, "quads"])
            ).collect()
        )
        for columns in (["byte_offset"], ["message_index", "byte_offset"])
    ]
    assert subjects[0] == subjects[1]
