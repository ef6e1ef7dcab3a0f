"""Text formats exchanged with rdflib (RDF 1.1) in both directions, one message at a time."""

import logging
from contextlib import suppress
from decimal import Decimal

import pytest
import rdflib
from hypothesis import given
from hypothesis import strategies as st
from logs import logs
from nquads import LANG_STRING, isomorphic, literal, map_terms
from support import decode, encode

from rdfm import formats

# rdflib's own parsers and serializers use deprecated parts of rdflib.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

FORMATS = {"nt": "nt11", "nq": "nquads", "ttl": "turtle", "trig": "trig"}


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    """Keeps rdflib from changing invalid lexical forms and from warning about them."""
    logging.getLogger("rdflib").setLevel(logging.CRITICAL)
    monkeypatch.setattr(rdflib, "NORMALIZE_LITERALS", False)


def from_rdflib(term):
    if term is None or term == rdflib.graph.DATASET_DEFAULT_GRAPH_ID:
        return None
    if isinstance(term, rdflib.BNode):
        return ("bnode", str(term))
    if isinstance(term, rdflib.URIRef):
        return ("iri", str(term))
    datatype = str(term.datatype) if term.datatype else None
    return literal(str(term), term.language, None, datatype)


def to_rdflib(term):
    if term is None:
        return None
    if term[0] == "iri":
        return rdflib.URIRef(term[1])
    if term[0] == "bnode":
        return rdflib.BNode(term[1])
    _, lexical, language, _, datatype = term
    if language:
        return rdflib.Literal(lexical, lang=language)
    return rdflib.Literal(lexical, datatype=rdflib.URIRef(datatype))


NUMBERS = {"integer": int, "decimal": Decimal, "double": float}


def as_rdf_1_1(message):
    """Removes base directions, lowercases language tags and normalizes numbers, as rdflib does."""

    def plain(term):
        if term[0] != "literal":
            return term
        _, lexical, language, _, datatype = term
        if language:
            return ("literal", lexical, language.lower(), None, LANG_STRING)
        with suppress(ValueError, ArithmeticError):
            lexical = repr(NUMBERS.get(datatype.rpartition("#")[2], str)(lexical))
        return ("literal", lexical, None, None, datatype)

    return [map_terms(quad, plain) for quad in message]


def representable_in_rdflib(message):
    """Removes base directions, which rdflib lacks, and replaces literals that it miswrites.

    In Turtle, rdflib writes the decimal `1.` without quotes, so it is read back as `1` followed by
    a dot. It also writes the booleans `0` and `1` without quotes, so they are read back as
    integers.
    """

    def plain(term):
        if term[0] == "literal" and term[2]:
            return literal(term[1], term[2])
        if term[0] == "literal" and term[1] in ("0", "1") and term[4].endswith("#boolean"):
            return ("literal", "true" if term[1] == "1" else "false", *term[2:])
        return ("literal", "1.0", *term[2:]) if term[1] == "1." else term

    return [map_terms(quad, plain) for quad in message]


def plain_logs(name):
    return logs(graphs=formats.find(name).spec.carries["graphs"], triples=False, plain="terms")


@pytest.mark.parametrize("name", FORMATS)
@given(data=st.data())
def test_rdflib_reads_the_output_of_rdfm(name, data):
    for message in map(representable_in_rdflib, data.draw(plain_logs(name))):
        dataset = rdflib.Dataset()
        dataset.parse(data=encode(name, [message]), format=FORMATS[name])
        found = [tuple(from_rdflib(term) for term in quad) for quad in dataset.quads()]
        assert isomorphic(as_rdf_1_1(found), as_rdf_1_1(message))


@pytest.mark.parametrize("name", FORMATS)
@given(data=st.data())
def test_rdfm_reads_the_output_of_rdflib(name, data):
    for message in map(representable_in_rdflib, data.draw(plain_logs(name))):
        dataset = rdflib.Dataset()
        for quad in message:
            subject, predicate, object_, graph = map(to_rdflib, quad)
            target = dataset.default_graph if graph is None else dataset.graph(graph)
            target.add((subject, predicate, object_))
        target = dataset if name in ("nq", "trig") else dataset.default_graph
        text = target.serialize(format=FORMATS[name], encoding="utf-8")
        found, error = decode(name, text)
        assert error is None
        assert isomorphic(as_rdf_1_1(found[0] if found else []), as_rdf_1_1(message))
