"""Text formats exchanged with pyoxigraph (RDF 1.2) in both directions, one message at a time."""

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st
from logs import logs
from nquads import map_terms, relabelled
from oxigraph import from_oxigraph, to_oxigraph
from support import decode, encode

from rdfm import formats

FORMATS = {
    "nt": ox.RdfFormat.N_TRIPLES,
    "nq": ox.RdfFormat.N_QUADS,
    "ttl": ox.RdfFormat.TURTLE,
    "trig": ox.RdfFormat.TRIG,
}


def read(data, name):
    found = []
    for quad in ox.parse(data, format=FORMATS[name]):
        graph = None if isinstance(quad, ox.Triple) else from_oxigraph(quad.graph_name)
        found.append(
            (
                from_oxigraph(quad.subject),
                from_oxigraph(quad.predicate),
                from_oxigraph(quad.object),
                graph,
            )
        )
    return found


def lower(message):
    """Lowercases language tags, as pyoxigraph does, and as BCP 47 and RDF 1.2 allow."""

    def fold(term):
        if term[0] == "literal" and term[2]:
            return ("literal", term[1], term[2].lower(), *term[3:])
        return term

    return [map_terms(quad, fold) for quad in message]


@pytest.mark.parametrize("name", FORMATS)
@given(data=st.data())
def test_pyoxigraph_reads_the_output_of_rdfm(name, data):
    log = data.draw(logs(graphs=formats.find(name).spec.carries["graphs"], plain="tags"))
    for message in log:
        found = read(encode(name, [message]), name)
        assert relabelled(lower(found)) == relabelled(lower(message))


@pytest.mark.parametrize("name", FORMATS)
@given(data=st.data())
def test_rdfm_reads_the_output_of_pyoxigraph(name, data):
    graphs = formats.find(name).spec.carries["graphs"]
    log = data.draw(logs(graphs=graphs, plain="terms"))
    for message in log:
        kind = ox.Quad if graphs else ox.Triple
        statements = [
            kind(*(to_oxigraph(term) for term in quad[: 4 if graphs else 3])) for quad in message
        ]
        text = ox.serialize(
            statements,
            format=FORMATS[name],
            **({"prefixes": {"e": "http://example.org/"}} if name in ("ttl", "trig") else {}),
        )
        found, error = decode(name, text)
        assert error is None
        assert len(found) == bool(message)
        assert relabelled(lower(found[0] if found else [])) == relabelled(lower(message))
