"""Scans of which a part is read equal the same selection of all rows, for random logs and queries."""

import duckdb
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import rdfm
from rdfm.logs.read.scan_polars import Requirements, read_requirements

IRIS = ["<x:a>", "<x:b>", "<x:c>"]
OBJECTS = [
    *IRIS,
    "_:b",
    '"x"',
    '"x"@en',
    '"1"^^<http://www.w3.org/2001/XMLSchema#integer>',
    '"\\n"',
]
TERMS = ["subject", "predicate", "object", "graph"]
COLUMNS = ["source", "message_index", *TERMS]
QUADS = st.tuples(
    st.sampled_from([*IRIS, "_:b"]),
    st.sampled_from(IRIS),
    st.sampled_from(OBJECTS),
    st.sampled_from(["", *IRIS[:2]]),
)
LOGS = st.lists(st.lists(QUADS, max_size=4), max_size=8)
# Values that are compared with terms; not all of them are terms.
VALUES = st.sampled_from(
    [*OBJECTS, "<x:missing>", "x:a", "default", "5", '"\\u0078"', '"x"@EN', '"', ""]
)
INDEXES = st.integers(-1, 8)


def text_of(log):
    lines = [[f"{' '.join(filter(None, quad))} .\n" for quad in message] for message in log]
    return "# @message\n".join(["".join(message) for message in lines] + [""]).encode()


@st.composite
def comparisons(draw):
    """Draws a condition as an expression of Polars and in SQL."""
    if draw(st.booleans()):
        value, op = draw(INDEXES), draw(st.sampled_from(["==", "!=", "<", "<=", ">", ">="]))
        column, sql = pl.col("message_index"), f"message_index {op.replace('==', '=')} {value}"
        expression = {
            "==": column == value,
            "!=": column != value,
            "<": column < value,
            "<=": column <= value,
            ">": value < column,
            ">=": column >= value,
        }[op]
        return expression, sql
    name = draw(st.sampled_from(TERMS))
    column = pl.col(name)
    kind = draw(st.sampled_from(["==", "is_in", "is_null", "contains", "!=", "==v"]))
    if kind == "is_null":
        return column.is_null(), f"{name} IS NULL"
    if kind == "is_in":
        values = draw(st.lists(VALUES, min_size=1, max_size=3))
        texts = ", ".join(map(quoted, values))
        return column.is_in(values), f"{name} IN ({texts})"
    value = draw(VALUES)
    if kind == "contains":
        return column.str.contains(value, literal=True), f"contains({name}, {quoted(value)})"
    if kind == "==v":
        return column.eq_missing(value), f"{name} IS NOT DISTINCT FROM {quoted(value)}"
    if kind == "!=":
        return column != value, f"{name} <> {quoted(value)}"
    if draw(st.booleans()):
        return pl.lit(value) == column, f"{quoted(value)} = {name}"
    return column == value, f"{name} = {quoted(value)}"


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


PREDICATES = st.recursive(
    comparisons(),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(
            lambda two: (two[0][0] & two[1][0], f"({two[0][1]} AND {two[1][1]})")
        ),
        st.tuples(inner, inner).map(
            lambda two: (two[0][0] | two[1][0], f"({two[0][1]} OR {two[1][1]})")
        ),
        inner.map(lambda one: (~one[0], f"(NOT {one[1]})")),
    ),
    max_leaves=4,
)


@given(
    log=LOGS,
    predicate=PREDICATES,
    columns=st.lists(st.sampled_from(COLUMNS), min_size=1, unique=True),
    head=st.none() | st.integers(0, 5),
    before=st.none() | st.integers(0, 5),
)
def test_queries_with_pushdown_equal_queries_of_all_rows(log, predicate, columns, head, before):
    data = text_of(log)
    expression, sql = predicate
    everything = rdfm.scan(data, "nq").to_polars()

    def query(frame):
        if before is not None:
            frame = frame.head(before)
        frame = frame.filter(expression).select(columns)
        return frame if head is None else frame.head(head)

    expected = query(everything)
    lazy = rdfm.scan_polars(data, "nq")
    for engine in ("in-memory", "streaming"):
        assert_frame_equal(query(lazy).collect(engine=engine), expected)
        counted = lazy.filter(expression).select(pl.len()).collect(engine=engine).item()
        assert counted == everything.filter(expression).height
    quads = rdfm.scan(data, "nq")  # noqa: F841 - DuckDB finds it by its name
    names = ", ".join(columns)
    found = duckdb.sql(f"SELECT {names} FROM quads WHERE {sql}").pl()
    assert_frame_equal(found, everything.filter(expression).select(columns))


@given(log=LOGS, columns=st.permutations(COLUMNS), first=INDEXES)
def test_selected_columns_equal_columns_of_all_rows(log, columns, first):
    data = text_of(log)
    for terms in ("ntriples", "structs"):
        everything = rdfm.scan(data, "nq", terms=terms).to_arrow()
        for count in (1, 3, 6):
            some = rdfm.scan(data, "nq", terms=terms, columns=columns[:count]).to_arrow()
            assert some.equals(everything.select(columns[:count]))
    lazy = rdfm.scan_polars(data, "nq", rows="messages")
    messages = rdfm.scan(data, "nq", rows="messages").to_polars()
    later = pl.col("message_index") >= first
    assert_frame_equal(lazy.filter(later).collect(), messages.filter(later))


@given(log=LOGS, name=st.sampled_from(TERMS), value=VALUES)
def test_criteria_equal_a_comparison_of_terms(log, name, value):
    data = text_of(log)
    everything = rdfm.scan(data, "nq").to_polars()
    if not value.startswith(("<", '"')) or value in ('"', '"x"@EN', '"\\u0078"'):
        return
    found = rdfm.scan(data, "nq", **{name: value}).to_polars()
    assert_frame_equal(found, everything.filter(pl.col(name) == value))


@pytest.mark.parametrize(
    ("predicate", "required"),
    [
        (pl.col("subject") == "<x:a>", Requirements((("subject", ("<x:a>",)),))),
        (pl.col("graph").is_null(), Requirements(is_default_graph=True)),
        (pl.col("object").is_in(['"1"', "<b>"]), Requirements((("object", ('"1"', "<b>")),))),
        (pl.col("message_index") < 3, Requirements(stop=3)),
        (pl.col("message_index").is_between(2, 3), Requirements(start=2, stop=4)),
        (pl.lit(4) == pl.col("message_index"), Requirements(start=4, stop=5)),
    ],
)
def test_polars_passes_known_structures(predicate, required):
    """Fails if a version of Polars serializes expressions differently, so nothing is pushed down."""
    seen = []

    def source(with_columns, predicate, n_rows, batch_size):
        seen.append(predicate)
        yield rdfm.scan(b"", "nq").to_polars()

    schema = rdfm.scan(b"", "nq").to_polars().schema
    lazy = pl.io.plugins.register_io_source(source, schema=schema)
    lazy.filter(predicate).collect()
    assert read_requirements(seen[0]) == required
    both = predicate & (pl.col("predicate") == "<x:p>")
    lazy.filter(both).collect()
    assert ("predicate", ("<x:p>",)) in read_requirements(seen[1]).terms
    assert read_requirements(predicate | (pl.col("source") == "x")) == Requirements()
    assert read_requirements(~predicate) == Requirements()
