"""`validate` reports an error in every negative W3C syntax test, and none in a positive one."""

import json

import pyoxigraph as ox
import pytest
from suites import w3c_files

import rdfm
from rdfm.cli.cli_remedies import render_for_command_line

MF = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
TYPE = ox.NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
SITE = "https://w3c.github.io/rdf-tests/rdf/"
FORMATS = {".nt": "nt", ".nq": "nq", ".ttl": "ttl", ".trig": "trig", ".rdf": "rdfxml"}
ARCHIVES = ("w3c-rdf-tests.tar.gz", "w3c-rdf-xml-tests.tar.gz")
# Number of valid and invalid documents in each format.
COUNTS = {
    "nt": (89, 51),
    "nq": (101, 54),
    "ttl": (289, 127),
    "trig": (290, 126),
    "rdfxml": (155, 42),
}


def syntax_cases():
    """Yields format, path, document and whether it is invalid."""
    for archive in ARCHIVES:
        files = w3c_files(archive, "rdf/")
        for manifest, data in files.items():
            if not manifest.endswith("manifest.ttl"):
                continue
            store = ox.Store()
            store.load(data, format=ox.RdfFormat.TURTLE, base_iri=SITE + manifest)
            for quad in store.quads_for_pattern(None, ox.NamedNode(MF + "action"), None):
                if not isinstance(quad.object, ox.NamedNode):
                    continue
                kind = next(store.quads_for_pattern(quad.subject, TYPE, None)).object.value
                path = quad.object.value.removeprefix(SITE)
                format = FORMATS.get(path[path.rfind(".") :])
                if format is not None and path in files:
                    yield format, path, files[path], "Negative" in kind


CASES = sorted(syntax_cases(), key=lambda case: case[1])


@pytest.mark.parametrize("format", list(COUNTS))
def test_only_invalid_documents_are_reported(format):
    valid = invalid = 0
    for document_format, path, data, is_invalid in CASES:
        if document_format != format:
            continue
        base = {} if format in ("nt", "nq") else {"base": SITE + path}
        checked = rdfm.validate(data, format, **base)
        findings = list(checked)
        errors = [each for each in findings if each.severity == "error"]
        assert bool(errors) == is_invalid, (path, findings)
        assert checked.errors == len(errors)
        assert all(each.line is not None for each in errors), path
        valid, invalid = valid + (not is_invalid), invalid + is_invalid
    assert (valid, invalid) == COUNTS[format]


def json_ld_cases():
    """Yields path, document and whether it is invalid.

    Cases that need another document or an option are excluded.
    """
    files = w3c_files("w3c-json-ld-api-rdf.tar.gz")
    for case in json.loads(files["toRdf-manifest.jsonld"])["sequence"]:
        options = case.get("option", {})
        is_1_0 = "json-ld-1.0" in (options.get("specVersion"), options.get("processingMode"))
        is_self_contained = set(options) <= {"specVersion", "processingMode", "base"}
        if not is_1_0 and is_self_contained and case["input"] in files:
            invalid = "jld:NegativeEvaluationTest" in case["@type"]
            yield case["@id"].removeprefix("#"), files[case["input"]], invalid


def test_only_invalid_json_ld_documents_are_reported():
    # Accepted only with `lenient`: documents with invalid IRIs, or with relative IRIs but no base.
    lenient = {"te060", "te068", "te111", "te112", "te122", "tli12", "tli14"}
    lenient |= {"twf01", "twf02", "twf03", "twf04", "twf05", "twf07"}
    valid = invalid = 0
    for name, data, is_invalid in json_ld_cases():
        base = "https://w3c.github.io/json-ld-api/tests/"
        checked = rdfm.validate(data, "jsonld", base=base, rdf_direction="none")
        errors = [each for each in checked if each.severity == "error"]
        if any("--context" in each.render(render_for_command_line) for each in errors):
            continue  # needs another document
        assert bool(errors) == (is_invalid or name in lenient), (name, errors)
        valid, invalid = valid + (not is_invalid), invalid + is_invalid
    assert valid > 250
    assert invalid > 70


def test_only_invalid_yaml_ld_documents_are_reported():
    files = w3c_files("w3c-yaml-ld-tests.tar.gz")
    invalid = 0
    for case in json.loads(files["manifest.jsonld"])["sequence"]:
        if not case["input"].endswith(".yamlld"):
            continue
        if "jld:NegativeEvaluationTest" in case["@type"]:
            assert rdfm.validate(files[case["input"]], "yamlld").run().errors, case["@id"]
            invalid += 1
        elif "jld:ToRDFTest" in case["@type"] and "scalar" not in case["@id"]:
            assert rdfm.validate(files[case["input"]], "yamlld").run().ok, case["@id"]
    assert invalid >= 12
