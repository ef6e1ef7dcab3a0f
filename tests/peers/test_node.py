"""Text exchanged with N3.js in both directions, and JSON-LD read as in jsonld.js."""

import json
import re

import pytest
from datasets import datasets
from hypothesis import assume, given
from hypothesis import strategies as st
from jsonld_documents import BASE
from jsonld_reading import (
    Outcome,
    batches,
    compare,
    normalized,
    well_formed,
    without_false_protected,
)
from logs import logs
from nquads import isomorphic, relabelled
from samples import log_of, lowercase_languages, merge, text_cases
from support import decoded, encode

pytestmark = pytest.mark.peers


def assert_round_trip(node, log, format):
    """Checks that both sides read each other's output. N3.js reads a log as one document."""
    expected = relabelled(merge(lowercase_languages(log)))
    written = encode(format, log, dialect="comment")
    assert relabelled(merge(lowercase_languages([node.quads(written, format)]))) == expected
    converted = decoded(format, node.convert(written, format, format))
    assert relabelled(merge(lowercase_languages(converted))) == expected


@pytest.mark.parametrize(("name", "format"), [*text_cases("nt", "nq", "ttl", "trig")])
def test_text_round_trips_through_n3(node, name, format):
    assert_round_trip(node, log_of(name), format)


@pytest.mark.parametrize("format", ["nt", "nq", "ttl", "trig"])
@given(data=st.data())
def test_random_text_round_trips_through_n3(node, format, data):
    assert_round_trip(
        node, [merge(data.draw(logs(graphs=format in ("nq", "trig"), plain="terms")))], format
    )


@pytest.mark.parametrize("format", ["ttl", "trig"])
@given(data=st.data())
def test_n3_reads_random_pretty_output(node, format, data):
    graphs = format == "trig"
    message = data.draw(datasets(graphs=graphs))
    # After a triple term, N3.js writes the rest of a collection to the default graph.
    assume(not graphs or all(quad[2][0] != "triple" for quad in message))
    found = node.quads(encode(format, [message], pretty=True), format)
    assert isomorphic(set(found), set(message))


def term(value):
    """Returns a term of jsonld.js as an `nquads` tuple. A missing term becomes an invalid IRI."""
    kind = value["termType"] if value else "NamedNode"
    if kind == "DefaultGraph":
        return None
    if kind == "BlankNode":
        return ("bnode", value["value"])
    if kind == "NamedNode":
        return ("iri", value["value"] if value else "")
    language = value.get("language") or None
    return ("literal", value["value"], language, None, str(value["datatype"]["value"]))


def outcome(line):
    answer = json.loads(line)
    if isinstance(answer, str):
        return Outcome(None, answer, re.search(r"\(JSON-LD: ([^)]*)\)", answer)[1])
    names = ("subject", "predicate", "object", "graph")
    quads = [tuple(term(quad[name]) for name in names) for quad in answer]
    return Outcome(normalized(well_formed(quads)))


@pytest.mark.parametrize("numbers", batches(), ids=str)
def test_rdfm_reads_json_ld_like_jsonld_js(node, numbers):
    def read(documents):
        lines = [json.dumps(without_false_protected(document)) + "\n" for document in documents]
        data = "".join(lines).encode()
        answers = node.convert(data, "jsonld-lines", "json-lines", BASE).decode()
        return [outcome(line) for line in answers.splitlines()]

    compare("jsonld.js", numbers, read)
