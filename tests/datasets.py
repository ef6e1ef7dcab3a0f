"""Hypothesis strategy for datasets with nested blank nodes, lists and cycles."""

import itertools

from hypothesis import strategies as st
from nquads import literal

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
PREDICATES = [
    ("iri", iri)
    for iri in ("http://example.org/p", "urn:q", f"{RDF}type", f"{RDF}first", f"{RDF}rest")
]
LITERALS = [
    literal("a"),
    literal("a", "en"),
    literal("-5", datatype="http://www.w3.org/2001/XMLSchema#integer"),
    literal('"""\n\\', datatype="http://example.org/d"),
]
names = st.sampled_from([("iri", f"http://example.org/{name}") for name in "abc"])
blank_nodes = st.sampled_from([("bnode", name) for name in "abcdef"])
nodes = names | blank_nodes
leaves = blank_nodes | st.sampled_from([*LITERALS, ("iri", f"{RDF}nil")])
triples = st.builds(lambda s, p, o: ("triple", s, p, o), nodes, st.just(PREDICATES[0]), nodes)


@st.composite
def datasets(draw, *, graphs: bool, with_triples: bool = True):
    """Draws quads with many nested blank nodes, lists and cycles."""
    objects = nodes | leaves | (triples if with_triples else names)
    graph = st.none() | (nodes if graphs else st.none())
    quad = st.tuples(nodes, st.sampled_from(PREDICATES), objects, graph)
    quads = draw(st.lists(quad, max_size=14))
    cells = [("bnode", f"cell{index}") for index in range(draw(st.integers(0, 4)))]
    place = draw(graph)
    for cell, rest in itertools.pairwise([*cells, ("iri", f"{RDF}nil")]):
        quads.append((cell, PREDICATES[3], draw(objects), place))
        quads.append((cell, PREDICATES[4], rest, place))
    if cells:
        quads.append((draw(nodes), draw(st.sampled_from(PREDICATES)), cells[0], place))
    return quads
