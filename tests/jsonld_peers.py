"""Reads JSON-LD with pyoxigraph and PyLD, one message at a time."""

import json
import string

import pyoxigraph as ox
from nquads import map_terms, read_quads
from pyld import jsonld


def wrapped(lines):
    """Yields the documents of an NDJSON-LD log, each with the most recent context line."""
    context = None
    for line in lines:
        document = json.loads(line)
        if list(document) == ["@context"]:
            context = document["@context"]
        elif context is None or not document:
            yield document
        else:
            yield {"@context": context, "@graph": document}


def pyoxigraph_reads(document):
    def text(quad):
        quad = str(quad)
        return quad if quad.endswith(".") else f"{quad} ."

    quads = ox.parse(json.dumps(document), format=ox.RdfFormat.JSON_LD)
    return read_quads("\n".join(text(quad) for quad in quads))


def pyld_reads(document):
    text = jsonld.to_rdf(
        document, {"format": "application/n-quads", "processingMode": "json-ld-1.1"}
    )
    return read_quads(text)


def lower(quads):
    """Lowercases language tags, which are case-insensitive (BCP 47)."""

    def fold(term):
        return (*term[:2], term[2].lower(), *term[3:]) if term[0] == "literal" and term[2] else term

    return [map_terms(quad, fold) for quad in quads]


def is_supported_by_pyld(log):
    """Whether PyLD can represent the terms in N-Quads.

    It does not support directions or control characters, and it rewrites doubles.
    """
    visible = set(string.printable[:95] + "éż亀\U0001f422")
    text = "".join(
        str(part)
        for message in log
        for quad in message
        for term in quad
        if term
        for part in term[1:]
        if part
    )
    directed = any(term and term[0] == "literal" and term[3] for m in log for q in m for term in q)
    return set(text) <= visible and not directed and "XMLSchema#double" not in text
