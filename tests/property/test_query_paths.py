"""Property paths agree with rdflib, even between terms that are not in the data."""

import rdflib
from hypothesis import given
from hypothesis import strategies as st
from support import as_batch, as_tuple

from rdfm._core import Query

NODES = [f"http://e/{name}" for name in "abcd"]
steps = st.sampled_from(["<http://e/p>", "<http://e/q>", "^<http://e/p>", "!<http://e/p>"])
paths = st.recursive(
    steps,
    lambda inner: st.one_of(
        st.builds("({})*".format, inner),
        st.builds("({})?".format, inner),
        st.builds("({})+".format, inner),
        st.builds("^({})".format, inner),
        st.builds("({}/{})".format, inner, inner),
        st.builds("({}|{})".format, inner, inner),
    ),
    max_leaves=4,
)
triples = st.tuples(
    st.sampled_from(NODES[:3]),
    st.sampled_from(["http://e/p", "http://e/q"]),
    st.sampled_from(NODES[:3]),
)
constants = st.sampled_from([f"<{node}>" for node in NODES])


def rows(text, graph):
    """Returns the distinct rows of a message."""
    quads = [(*(("iri", term) for term in triple), None) for triple in graph]
    part = Query(text).solutions(as_batch([quads]), 0)
    assert part.error is None
    return {tuple(as_tuple(cell)[1] for cell in row) for row in part.rows}


def rdflib_rows(text, graph):
    data = rdflib.Graph()
    for triple in graph:
        data.add(tuple(map(rdflib.URIRef, triple)))
    return {tuple(map(str, row)) for row in data.query(text)}


@given(st.lists(triples, max_size=5), paths, constants, constants)
def test_paths_from_and_to_constants_agree_with_rdflib(graph, path, first, second):
    for text in (
        f"SELECT ?x {{ {first} {path} ?x }}",
        f"SELECT ?x {{ ?x {path} {first} }}",
        f"SELECT ({first} AS ?x) {{ {first} {path} {second} }}",
        f"SELECT ({first} AS ?x) {{ {first} {path} {first} }}",
        f"SELECT ?x {{ VALUES ?x {{ {first} }} FILTER EXISTS {{ {first} {path} {second} }} }}",
    ):
        assert rows(text, graph) == rdflib_rows(text, graph), text
