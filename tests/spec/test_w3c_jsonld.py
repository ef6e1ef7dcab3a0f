"""W3C suites that convert JSON-LD to RDF; each document is one message.

Cases are read strictly. A few need `lenient`, because the expected datasets omit data that is not
well-formed. Without `lenient`, these cases are rejected.
"""

import json
from functools import partial

import pytest
from nquads import isomorphic, read_quads
from suites import w3c_files
from support import decode_every_way

from rdfm import formats

SUITES = {
    "api": ("w3c-json-ld-api-rdf.tar.gz", "toRdf-manifest.jsonld", 467),
    "streaming": ("w3c-json-ld-streaming.tar.gz", "stream-toRdf-manifest.jsonld", 483),
}

# Positive cases that need `lenient`, by name in either suite, with the omitted data.
LENIENT_CASES = {
    "te060": "a relative IRI while @base is null",
    "te068": "a property that is a blank node",
    "te111": "a property with two '#', which is not an IRI",
    "te112": "a property with two '#', which is not an IRI",
    "te122": "an identifier that looks like a keyword",
    "tli12": "an IRI with '<' and '>'",
    "tli14": "a relative IRI while @base is null",
    "twf01": "a subject with a space",
    "twf02": "a property with a space",
    "twf03": "an object with a space",
    "twf04": "a type with a space",
    "twf05": "a language tag with a space",
    "twf07": "a graph name with a space",
}

# Cases that do not apply. Cases that are specific to JSON-LD 1.0 do not apply either, but the
# manifest marks them. The suites contain no HTML.
ORDER_DEPENDENT = "an error that depends on the order of keys, which JSON-LD leaves open"
NOT_APPLICABLE = {
    "tse01": ORDER_DEPENDENT,
    "tse02": ORDER_DEPENDENT,
    "tse03": ORDER_DEPENDENT,
    "tse04": ORDER_DEPENDENT,
    "tse05": ORDER_DEPENDENT,
    "tse06": ORDER_DEPENDENT,
    "tse07": ORDER_DEPENDENT,
    "tse08": ORDER_DEPENDENT,
    "tse09": ORDER_DEPENDENT,
}
# The manifest names a file of another suite. This suite contains a copy of that file.
INPUTS = {"expand/er56-in.jsonld": "toRdf/er56-in.jsonld"}


def files(suite):
    """Returns the suite's files by name."""
    return w3c_files(SUITES[suite][0])


def name_of(case):
    return case["@id"].removeprefix("#")


def is_1_0_only(case):
    """Whether the case is specific to JSON-LD 1.0, by version or processing mode."""
    options = case.get("option", {})
    return "json-ld-1.0" in (options.get("specVersion"), options.get("processingMode"))


def cases():
    for suite, (_, manifest, _) in SUITES.items():
        manifest_data = json.loads(files(suite)[manifest])
        for case in manifest_data["sequence"]:
            if not is_1_0_only(case) and name_of(case) not in NOT_APPLICABLE:
                yield pytest.param(
                    suite, manifest_data["baseIri"], case, id=f"{suite}-{name_of(case)}"
                )


CASES = list(cases())


def test_the_suites_are_complete():
    for suite, (_, manifest, count) in SUITES.items():
        manifest_data = json.loads(files(suite)[manifest])["sequence"]
        assert len(manifest_data) == count
        cases_of_1_0 = [case for case in manifest_data if is_1_0_only(case)]
        assert len(cases_of_1_0) == 19
        # Generalized RDF, with blank nodes as predicates, is only used in JSON-LD 1.0.
        assert all(
            case in cases_of_1_0 or not case.get("option", {}).get("produceGeneralizedRdf")
            for case in manifest_data
        )
    assert len(CASES) == 467 + 483 - 2 * 19 - len(NOT_APPLICABLE)


@pytest.fixture(scope="session")
def contexts(tmp_path_factory):
    """Paths of the suites' documents, by URL."""
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


def options_of(suite, base, case, contexts):
    """Returns the decoder's options for a case."""
    settings = case.get("option", {})
    options = {
        "lenient": name_of(case) in LENIENT_CASES,
        "base": settings.get("base", base + case["input"]),
        "rdf_direction": settings.get("rdfDirection", "none"),
    }
    if b"context" in files(suite)[document_of(case)]:
        options["context"] = contexts
    if "expandContext" in settings:
        options["expand_context"] = files(suite)[settings["expandContext"]].decode()
    return options


def document_of(case):
    return INPUTS.get(case["input"], case["input"])


@pytest.mark.parametrize(("suite", "base", "case"), CASES)
def test_a_case_is_read_as_expected(suite, base, case, contexts):
    data = files(suite)[document_of(case)]
    options = options_of(suite, base, case, contexts)
    decoder = partial(formats.find("jsonld").Decoder, **options)
    messages, error = decode_every_way(decoder, data)
    if "jld:NegativeEvaluationTest" in case["@type"]:
        assert error is not None, messages
        assert f"(JSON-LD: {case['expectErrorCode']})" in error
        return
    assert error is None
    assert len(messages) == 1
    if "expect" in case:
        assert isomorphic(messages[0], read_quads(files(suite)[case["expect"]].decode()))


@pytest.mark.parametrize(
    ("suite", "base", "case"),
    [param for param in CASES if name_of(param.values[2]) in LENIENT_CASES],
)
def test_omitted_data_is_an_error_unless_lenient(suite, base, case, contexts):
    options = {**options_of(suite, base, case, contexts), "lenient": False}
    decoder = partial(formats.find("jsonld").Decoder, **options)
    _, error = decode_every_way(decoder, files(suite)[document_of(case)])
    assert error is not None
    assert "lenient=True" in error
