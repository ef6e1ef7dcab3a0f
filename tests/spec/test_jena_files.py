"""Files from Jelly-JVM (Jelly) and Jena (RDF Protobuf and Thrift), some intentionally invalid."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
import suites
from nquads import map_terms, read_quads, relabelled
from support import decode

from rdfm import formats

FOLDER = suites.path("conformance", "jena")
FILES = json.loads((FOLDER / "manifest.json").read_text("utf-8"))["files"]
JELLY = [entry for entry in FILES if entry["format"] == "jelly"]
FORMAT_BY_SUFFIX = {"rpb": "rdf-protobuf", "rt": "rdf-thrift"}
BINARY = [entry for entry in FILES if entry["format"] in FORMAT_BY_SUFFIX]
ROW_OPTIONS = {"rpb": {"framing": "rows"}, "rt": {}}
# Files with rows that rdfm does not write: a base, prefixed names in Protobuf, declarations between
# quads, IRIs that represent a blank node or the default graph, quads without a graph.
WRITTEN_DIFFERENTLY = {
    *(
        "prefixes-base.rpb",
        "prefixes-base.rt",
        "prefixes-only.rpb",
        "prefixes-base-prefixnames.rpb",
    ),
    *("prefixes-base-values.rpb", "prefixes-base-values.rt"),
    *("quads-basic.rpb", "wire-bnode-iri.rpb", "wire-quad-without-graph.rpb"),
}
# Doubles stored by value: Jena reads them in other lexical forms, and rdfm writes lexical forms.
WRITTEN_DIFFERENTLY |= {"numbers-values.rpb", "numbers-values.rt"}
DOUBLE = "http://www.w3.org/2001/XMLSchema#double"


def test_the_folder_is_complete():
    assert len(JELLY) == 21
    assert len(BINARY) == 46


def by_value(quads):
    """Normalizes the case of language tags, and doubles, because Java writes them differently."""

    def normalized(term):
        if term[0] != "literal":
            return term
        _, lexical, language, direction, datatype = term
        if datatype == DOUBLE:
            with suppress(ValueError):
                lexical = repr(float(lexical.replace("Infinity", "INF").replace("INF", "inf")))
        return ("literal", lexical, language and language.lower(), direction, datatype)

    return [map_terms(quad, normalized) for quad in quads]


@pytest.mark.parametrize("entry", JELLY, ids=lambda entry: entry["file"])
def test_a_jena_file_is_read_as_expected(entry):
    data = (FOLDER / entry["file"]).read_bytes()
    messages, error = decode("jelly", data, frames="message")
    if "error" in entry:
        assert error is not None
    else:
        assert error is None
        assert [len(message) for message in messages] == entry["frames"]
        # The logical type decides whether the frames are one message.
        found, _ = decode("jelly", data)
        merged = [quad for message in messages for quad in message]
        assert found in (messages, [merged])
        assert (len(found) == 1) or "flat" not in entry["file"]
    if "expected" in entry:
        expected = by_value(read_quads((FOLDER / entry["expected"]).read_text("utf-8")))
        found = by_value(quad for message in messages for quad in message)
        assert relabelled(found) == relabelled(expected)


@pytest.mark.parametrize("entry", BINARY, ids=lambda entry: entry["file"])
def test_a_binary_jena_file_is_read_as_expected(entry):
    name, options = FORMAT_BY_SUFFIX[entry["format"]], ROW_OPTIONS[entry["format"]]
    data = (FOLDER / entry["file"]).read_bytes()
    detected, error = decode(name, data)
    messages, rows_error = decode(name, data, **options)
    if "error" in entry:
        assert error is not None
        assert rows_error is not None
        return
    assert (error, rows_error) == (None, None)
    # The framing can be detected except in an empty file.
    assert detected == ([] if entry["file"] == "empty.rpb" else messages)
    (quads,) = messages
    expected = by_value(read_quads((FOLDER / entry["expected"]).read_text("utf-8")))
    assert relabelled(by_value(quads)) == relabelled(expected)
    assert len(quads) == entry["quads"]


@pytest.mark.parametrize("entry", BINARY, ids=lambda entry: entry["file"])
def test_output_equals_jenas_files(entry):
    if "error" in entry:
        pytest.skip("rdfm cannot read the file")
    module, options = formats.find(FORMAT_BY_SUFFIX[entry["format"]]), ROW_OPTIONS[entry["format"]]
    data = (FOLDER / entry["file"]).read_bytes()
    values = Path(entry["file"]).stem.endswith("-values")
    output = module.encode(module.decode(data, **options), values=values, **options)
    assert (output == data) == (entry["file"] not in WRITTEN_DIFFERENTLY)


@pytest.mark.parametrize("format", FORMAT_BY_SUFFIX)
def test_prefix_declarations_become_namespaces(format):
    entry = next(entry for entry in BINARY if entry["file"] == f"prefixes-only.{format}")
    assert entry["declarations"][-2:] == ["prefix ex <http://example.org/>", "prefix  <urn:x>"]
    data = (FOLDER / entry["file"]).read_bytes()
    batch = formats.find(FORMAT_BY_SUFFIX[format]).decode(data)
    assert batch.namespaces(0) == {"ex": "http://example.org/", "": "urn:x"}


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ("wire-error-literal-kind.rpb", "the kind of a literal is not set"),
        ("wire-error-langdir-value.rpb", "--ltr or --rtl"),
        ("wire-error-undef.rpb", "UNDEF in place of a term"),
        ("wire-error-prefix-unknown.rpb", "the prefix 'ex' is not declared"),
        ("wire-error-empty-row.rpb", "the row is not set"),
        ("wire-variables-any.rpb", "a variable in place of a term"),
        ("wire-thrift-error-undef.rt", "UNDEF in place of a term"),
        ("wire-thrift-error-prefix-unknown.rt", "is not declared"),
    ],
)
def test_errors_describe_the_cause(file, reason):
    _, error = decode(FORMAT_BY_SUFFIX[file.rpartition(".")[2]], (FOLDER / file).read_bytes())
    assert reason in error
    assert "message 0" in error
