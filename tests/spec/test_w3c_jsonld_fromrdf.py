"""The W3C suite for converting RDF to JSON-LD: inputs are written, expected documents are read.

A dataset has several representations, so the tests compare datasets instead of documents.
"""

import json

import pytest
from nquads import isomorphic, read_quads
from suites import w3c_files
from support import as_batch, decoded

from rdfm import formats

# Data that the expected documents lose, by test name.
KNOWN_LOSSES = {
    "t0016": "the type rdf:List of the cells",
    "t0027": "booleans written as 1 and 0",
    "t0028": "the white space of JSON",
}


def files():
    """Returns the suite's files by name."""
    return w3c_files("w3c-json-ld-api-rdf.tar.gz")


def cases():
    for case in json.loads(files()["fromRdf-manifest.jsonld"])["sequence"]:
        yield pytest.param(case, id=case["@id"].removeprefix("#"))


CASES = list(cases())


def test_the_suite_is_complete():
    assert len(CASES) == 54


@pytest.mark.parametrize(
    "options", [{}, {"context_lines": "none"}, {"compact_with": {"@vocab": "http://example.com/"}}]
)
@pytest.mark.parametrize("case", CASES)
def test_output_is_read_back_as_the_input(case, options):
    quads = read_quads(files()[case["input"]].decode())
    data = formats.find("jsonld").encode(as_batch([quads]), **options)
    assert isomorphic(decoded("jsonld", data)[0], quads), data.decode()


@pytest.mark.parametrize("case", [case for case in CASES if "expect" in case.values[0]])
def test_expected_documents_are_read_as_the_input(case, request):
    if reason := KNOWN_LOSSES.get(case["@id"].removeprefix("#")):
        request.applymarker(pytest.mark.xfail(reason=reason, strict=True))
    quads = read_quads(files()[case["input"]].decode())
    direction = case.get("option", {}).get("rdfDirection", "none")
    data = files()[case["expect"]]
    assert isomorphic(decoded("jsonld", data, rdf_direction=direction)[0], quads)
