"""Patches computed by rdfm and applied by RDFLib, and the reverse."""

import io
import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from logs import literals_of, well_formed_tags
from support import as_batch, encode

import rdfm
from rdfm import patch

rdflib = pytest.importorskip("rdflib")
# RDFLib's own parser and serializer raise these warnings.
pytestmark = pytest.mark.filterwarnings("ignore:Dataset[.]:DeprecationWarning")

# Terms that RDFLib's parser supports: no base directions, no triple terms, and no blank nodes,
# which it reads differently.
NODES = st.sampled_from([("iri", f"http://example.org/{name}") for name in "abc"])
STRINGS = st.text(st.sampled_from("abc é亀'."), max_size=5)
LITERALS = literals_of(STRINGS, well_formed_tags).filter(
    # RDFLib canonicalizes numbers.
    lambda term: term[3] is None and not re.search("XMLSchema#(?!string)", term[4])
)
QUADS = st.lists(st.tuples(NODES, NODES, NODES | LITERALS, st.none() | NODES), max_size=8)


def dataset(quads):
    """Converts quads given as tuples to an RDFLib dataset."""
    return as_batch([quads]).__iter__().__next__().to_rdflib()


def as_set(graph):
    return {str(quad) for quad in rdfm.Message.from_rdflib(graph)}


def as_lines(quads):
    return {str(quad) for quad in next(iter(as_batch([quads])))}


@settings(max_examples=60)
@given(old=QUADS, new=QUADS)
def test_rdflib_applies_a_difference_computed_by_rdfm(old, new):
    out = io.BytesIO()
    patch.diff(encode("nq", [old]), encode("nq", [new]), out, from_format="nq", to="rdf-patch")
    graph = dataset(old)
    graph.parse(data=out.getvalue().decode(), format="patch")
    assert as_set(graph) == as_lines(new)


@settings(max_examples=60)
@given(old=QUADS, new=QUADS.filter(bool))  # RDFLib treats an empty dataset as missing
def test_rdfm_applies_a_difference_computed_by_rdflib(old, new):
    # RDFLib does not delete a quad if its triple is in another graph of the target.
    graphs = {}
    assume(all(graphs.setdefault(quad[:3], quad[3]) == quad[3] for quad in [*old, *new]))
    before, after = dataset(old), dataset(new)
    text = before.serialize(format="patch", target=after, header_id="urn:1", header_prev="urn:0")
    out = io.BytesIO()
    patch.apply(
        encode("nq", [old]),
        text.encode(),
        out,
        from_format="nq",
        patch_format="rdf-patch",
        to="nq",
    )
    with rdfm.open_log(out.getvalue(), "nq") as log:
        found = {str(quad) for message in log for quad in message}
    assert found == as_lines(new)
