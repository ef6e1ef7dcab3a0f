"""W3C RDF/XML suites for RDF 1.1 and 1.2: each document is a log of one message."""

import pyoxigraph as ox
import pytest
from nquads import isomorphic, read_quads
from suites import w3c_files
from support import decode, decoded, encode

MANIFESTS = ("rdf11/rdf-xml/manifest.ttl", "rdf12/rdf-xml/eval/manifest.ttl")
MF = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
TYPE = ox.NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
SITE = "https://w3c.github.io/rdf-tests/rdf/"
# These documents use RDF 1.2 without `rdf:version`. The suite expects that a direction or a triple
# term is then ignored; rdfm reads both.
WITHOUT_VERSION = {
    "rdf12/rdf-xml/eval/rdf12-xml-dir-02.rdf": '"bar"@en--ltr',
    "rdf12/rdf-xml/eval/rdf12-xml-tt-01.rdf": (
        "<<( <http://example.org/stuff/1.0/s> <http://example.org/stuff/1.0/p>"
        " <http://example.org/stuff/1.0/o> )>>"
    ),
}


def files():
    """Returns the suite's files by their path below `rdf`."""
    return w3c_files("w3c-rdf-xml-tests.tar.gz", "rdf/")


def cases():
    """Yields the paths of a document and of its triples (None if the document is invalid)."""
    for manifest in MANIFESTS:
        store = ox.Store()
        base = SITE + manifest
        store.load(files()[manifest], format=ox.RdfFormat.TURTLE, base_iri=base)
        for quad in store.quads_for_pattern(None, ox.NamedNode(MF + "action"), None):
            kind = next(store.quads_for_pattern(quad.subject, TYPE, None)).object.value
            results = store.quads_for_pattern(quad.subject, ox.NamedNode(MF + "result"), None)
            result = next((found.object.value.removeprefix(SITE) for found in results), None)
            action = quad.object.value.removeprefix(SITE)
            assert ("Negative" in kind) == (result is None), action
            yield pytest.param(action, result, id=action.removesuffix(".rdf"))


CASES = sorted(cases(), key=lambda case: case.id)


def test_the_suites_are_complete():
    assert len(CASES) == 197


@pytest.mark.parametrize(("action", "result"), CASES)
def test_a_case_is_read_as_expected(action, result):
    messages, error = decode("rdfxml", files()[action], base=SITE + action)
    if action in WITHOUT_VERSION:
        assert error is None
        assert f" {WITHOUT_VERSION[action]} ." in encode("nq", messages).decode()
        return
    if result is None:
        assert error is not None
        assert messages == []
        return
    assert error is None
    expected = read_quads(files()[result].decode())
    assert len(messages) == 1
    assert isomorphic(messages[0], expected)
    round_trip = decoded("rdfxml", encode("rdfxml", messages))
    assert len(round_trip) == 1
    assert isomorphic(round_trip[0], expected)
