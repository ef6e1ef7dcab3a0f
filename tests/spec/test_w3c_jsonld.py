"""The suites of the W3C that turn JSON-LD into RDF: each document is one message.

Read with `lenient`, since the suites expect what is no term to be left out, where rdfm says so.
"""

import json

import pytest
from nquads import isomorphic, read_quads
from support import needs_shared, outcome, w3c_files

from rdfm import formats

SUITES = {
    "api": ("w3c-json-ld-api-rdf.tar.gz", "toRdf-manifest.jsonld", 467),
    "streaming": ("w3c-json-ld-streaming.tar.gz", "stream-toRdf-manifest.jsonld", 483),
}
pytestmark = needs_shared("conformance", "w3c")

# Deviations by the test's name in either suite, each with its reason.
_BASE = "oxiri keeps the dot segments of a base"
_STREAMING = "the order of keys matters to streaming readers only"
KNOWN = {
    "t0122": _BASE,
    "t0123": _BASE,
    "te062": _BASE,
    "te091": _BASE,
    "tc013": "oxjsonld does not take up the context of a type that is a key of a type map",
    "ter23": "oxjsonld checks it only where it drops what is wrong without a word",
    "ter50": "oxjsonld checks it only where it drops what is wrong without a word",
    "te077": "there is no option for a context beside the document",
    **{f"tse{number:02}": _STREAMING for number in range(1, 10)},
}


def files(suite):
    """The suite's files by name."""
    return w3c_files(SUITES[suite][0])


def cases():
    for suite, (_, manifest, _) in SUITES.items():
        if manifest not in files(suite):
            continue
        described = json.loads(files(suite)[manifest])
        for case in described["sequence"]:
            options = case.get("option", {})
            if "json-ld-1.0" in (options.get("specVersion"), options.get("processingMode")):
                continue  # what 1.1 replaced
            if case["input"] not in files(suite):
                continue  # published for another suite only
            name = case["@id"].removeprefix("#")
            yield pytest.param(suite, described["baseIri"], case, id=f"{suite}-{name}")


CASES = list(cases())


def test_the_suites_are_whole():
    for suite, (_, manifest, count) in SUITES.items():
        assert len(json.loads(files(suite)[manifest])["sequence"]) == count
    assert len(CASES) == 911


@pytest.fixture(scope="session")
def contexts(tmp_path_factory):
    """The URLs of each suite's documents and the files that hold them."""
    found = {}
    for suite, (_, manifest, _) in SUITES.items():
        folder = tmp_path_factory.mktemp(suite)
        base = json.loads(files(suite)[manifest])["baseIri"]
        for name, data in files(suite).items():
            if name.endswith(".jsonld"):
                path = folder / name.replace("/", "_")
                path.write_bytes(data)
                found[base + name] = str(path)
    return found


def read(suite, base, case, contexts):
    """The messages and the error of a case."""
    options = case.get("option", {})
    lenient = "jld:NegativeEvaluationTest" not in case["@type"]
    chosen = {"lenient": lenient, "base": options.get("base", base + case["input"])}
    chosen["rdf_direction"] = options.get("rdfDirection", "none")
    data = files(suite)[case["input"]]
    if b"context" in data:
        chosen["context"] = contexts
    found, error = outcome(lambda: formats.find("jsonld").Decoder(**chosen), data, len(data))
    return [message[0] for message in found], error


@pytest.mark.parametrize(("suite", "base", "case"), CASES)
def test_case(suite, base, case, contexts, request):
    if reason := KNOWN.get(case["@id"].removeprefix("#")):
        request.applymarker(pytest.mark.xfail(reason=reason, strict=True))
    messages, error = read(suite, base, case, contexts)
    if "jld:NegativeEvaluationTest" in case["@type"]:
        assert error is not None
        return
    assert error is None
    assert len(messages) == 1
    if "expect" in case:
        assert isomorphic(messages[0], read_quads(files(suite)[case["expect"]].decode()))
