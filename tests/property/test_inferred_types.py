"""Inferred column types give the same columns as the same types given, for random values."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import rdfm
from rdfm import BlankNode, Iri, Literal, Quad

XSD = "http://www.w3.org/2001/XMLSchema#"
QUERY = "SELECT ?o { ?s ?p ?o }"


def typed(text, name):
    return Literal(text, datatype=XSD + name)


def assert_same(table, other):
    assert table.schema == other.schema
    assert repr(table.to_pylist()) == repr(other.to_pylist())  # NaN does not equal NaN


TERMS = st.sampled_from(
    [Iri("x:a"), BlankNode("b"), Literal("a"), Literal("a", language="en"), Literal("b", language="DE")]
    + [typed(text, name) for name in ("integer", "decimal", "date", "dateTime", "gYear")
       for text in ("1", "1" * 25, "2026-01-01", "2026-01-01Z", "2026-01-01T00:00:00", "1.25")]
    + [typed(text, name) for name in ("float", "double", "boolean") for text in ("1", "NaN")]
)  # fmt: skip


@given(st.lists(st.lists(TERMS, min_size=1, max_size=3), min_size=1, max_size=4))
def test_inferred_types_equal_the_same_types_given(messages):
    quads = [[Quad(Iri("x:s"), Iri("x:p"), term) for term in message] for message in messages]
    log = rdfm.formats.nq.encode(quads)
    with rdfm.select(QUERY, log, format="nq", batch_messages=1) as solutions:
        inferred = solutions.to_arrow()
    with rdfm.select(QUERY, log, format="nq", types=solutions.types) as solutions:
        assert_same(solutions.to_arrow(types=None), inferred)
    with rdfm.select(QUERY, log, format="nq", types="auto") as solutions:
        assert_same(pa.RecordBatchReader.from_stream(solutions).read_all(), inferred)
