"""The public nanopublication test suite: each file is valid, or invalid for the expected reason."""

import warnings

import nanopubs
import nquads
import pytest
import rdflib
import suites
from pyoxigraph import RdfFormat, parse, serialize

import rdfm
from rdfm.nanopub import trusty
from rdfm.nanopub.checking import check

ROOT = suites.path("conformance", "nanopub")
FILES = {path.relative_to(ROOT).as_posix(): path for path in sorted(ROOT.glob("*valid/*/*"))}
TRIX = "valid/plain/simple1.xml"  # rdfm does not support TriX
VALID = [name for name in FILES if name.startswith("valid/")]
# The rules that each invalid file violates, and a part of the text of the first finding.
INVALID = {
    "plain/assertion_graph_uri_not_matching.trig": (
        {"nanopub-graph-iri"},
        "the IRI of the assertion graph, ",
    ),
    "plain/provenance_graph_uri_not_matching.trig": (
        {"nanopub-graph-iri"},
        "the IRI of the provenance graph, ",
    ),
    "plain/pubinfo_graph_uri_not_matching.trig": (
        {"nanopub-graph-iri"},
        "the IRI of the publication info graph, ",
    ),
    "plain/emptya.trig": ({"nanopub-empty-graph"}, "the assertion graph "),
    "plain/emptyprov.trig": ({"nanopub-empty-graph"}, "the provenance graph "),
    "plain/emptyinfo.trig": ({"nanopub-empty-graph"}, "the publication info graph "),
    "plain/extragraph.trig": ({"nanopub-extra-graph"}, "foobar> is not one of the four graphs"),
    "plain/graphs_uris_equal.trig": (
        {"nanopub-graph-iri"},
        "the head and the assertion are the same graph ",
    ),
    "plain/noprovlink.trig": (
        {"nanopub-reference"},
        "no quad of the provenance is about the assertion graph ",
    ),
    "plain/noinfolink.trig": (
        {"nanopub-reference"},
        "no quad of the publication info is about the nanopublication ",
    ),
    "plain/illtyped_datatypes_in_assertion.trig": (
        {"ill-typed-literal"},
        "'two' is not a valid xsd:integer",
    ),
    "plain/valid_invalid1.trig": (
        {"nanopub-link"},
        "<http://example.org/mynanopub3#> has no np:hasAssertion",
    ),
    "trusty/trusty1.trig": (
        {"artifact-code"},
        "the artifact code of the quads is RAVQUT_u6lk5aHwnND69RxQ-YxQmxSHA9RULWRKcUy_h4",
    ),
    "trusty/trusty2.trig": ({"nanopub-graph-iri"}, "the IRI of the head graph, "),
    "signed/RA6T-YLqLnYd5XfnqR9PaGUjCzudvHdYjcG4GvOc7fdpA-all-LF.trig": (
        {"artifact-code", "signature"},
        "the artifact code of the quads is RA-Ifndc-Vh3o5V8FbEdwn08pMa0YFO8NalCosa6RV2IE",
    ),
    "signed/simple1-invalid-rsa.trig": (
        {"signature"},
        "the RSA signature does not match the quads and the public key",
    ),
    "signed/simple1-invalid-dsa.trig": (
        {"signature"},
        "the DSA signature does not match the quads and the public key",
    ),
}
FORMATS = [
    spec.name
    for spec in rdfm.formats.specs()
    if "messages" in spec.kinds
    and spec.carries.get("graphs")
    and spec.name not in ("parquet", "arrow")
]


def content(name):
    """Returns the content and format of a file; TriX is converted to N-Quads."""
    data = FILES[name].read_bytes()
    if name != TRIX:
        return data, FILES[name].suffix.removeprefix(".")
    dataset = rdflib.Dataset()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # rdflib calls deprecated functions
        dataset.parse(data=data, format="trix")
        return dataset.serialize(format="nquads").encode(), "nq"


def quads_of(name):
    """Returns the quads of a file, parsed by another library."""
    data, format = content(name)
    format = RdfFormat.TRIG if format == "trig" else RdfFormat.N_QUADS
    lines = serialize(parse(data, format), format=RdfFormat.N_QUADS)
    return nquads.read_quads(lines.decode())


def test_the_suite_is_complete():
    assert len(VALID) == 91
    assert {f"invalid/{name}" for name in INVALID} == FILES.keys() - set(VALID)


def test_trix_is_rejected_in_one_sentence():
    (found,) = check(FILES[TRIX])
    assert (found.rule, found.line, found.text) == (
        "unsupported",
        2,
        "TriX is not supported; convert it to TriG with Apache Jena",
    )


@pytest.mark.parametrize("name", VALID)
def test_valid_files_have_no_errors(name):
    checked = check(*content(name))
    assert [found.text for found in checked if found.severity == "error"] == []
    kind = name.split("/")[1]
    assert (checked.nanopubs, checked.trusty, checked.signed) == (
        1,
        kind != "plain",
        kind == "signed",
    )


@pytest.mark.parametrize("name", INVALID)
def test_invalid_files_have_the_expected_findings(name):
    found = [each for each in check(*content(f"invalid/{name}")) if each.severity == "error"]
    rules, text = INVALID[name]
    assert {each.rule for each in found} == rules
    assert text in found[0].text


@pytest.mark.parametrize("name", [name for name in FILES if "/plain/" not in name])
def test_codes_equal_those_of_an_independent_implementation(name):
    quads = quads_of(name)
    code = nanopubs.own_code(quads)
    with rdfm.open_log(*content(name)) as log:
        (message,) = log
    computed = trusty.artifact_code(message, code)
    assert computed == nanopubs.code_of(quads, code)
    is_code_correct = name.startswith("valid/") or "trusty2" in name or "invalid-" in name
    assert (computed == code) is is_code_correct


@pytest.mark.parametrize("format", FORMATS)
def test_conversions_do_not_change_verdicts(format, tmp_path):
    for name in FILES:
        data, source = content(name)
        rdfm.convert(data, tmp_path / "log", from_format=source, to=format)
        original = [found.rule for found in check(data, source)]
        converted = [found.rule for found in check(tmp_path / "log", format)]
        assert converted == original, name
