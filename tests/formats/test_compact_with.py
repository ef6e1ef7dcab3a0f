"""Writing JSON-LD with a user's context: the output, and the contexts that are rejected."""

import json

import pytest
from nquads import isomorphic, read_quads
from support import as_batch, decode

import rdfm
from rdfm import formats

CONTEXT = {
    "@vocab": "http://schema.org/",
    "ex": "http://example.org/",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "id": "@id",
    "type": "@type",
    "knows": {"@type": "@id", "@container": "@set"},
    "born": {"@type": "xsd:date"},
    "names": {"@id": "name", "@container": "@language"},
    "steps": {"@container": "@list", "@type": "@id"},
    "label": {"@id": "ex:label", "@language": "en"},
    "gender": {"@type": "@vocab"},
}
QUADS = """
<http://example.org/a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://schema.org/Person> .
<http://example.org/a> <http://schema.org/knows> <http://example.org/b> .
<http://example.org/a> <http://schema.org/born> "1912-06-23"^^<http://www.w3.org/2001/XMLSchema#date> .
<http://example.org/a> <http://schema.org/name> "Alan"@en .
<http://example.org/a> <http://schema.org/name> "Al"@en .
<http://example.org/a> <http://schema.org/name> "Alain"@fr .
<http://example.org/a> <http://schema.org/name> "A." .
<http://example.org/a> <http://schema.org/steps> _:1 .
_:1 <http://www.w3.org/1999/02/22-rdf-syntax-ns#first> <http://example.org/1> .
_:1 <http://www.w3.org/1999/02/22-rdf-syntax-ns#rest> <http://www.w3.org/1999/02/22-rdf-syntax-ns#nil> .
<http://example.org/a> <http://example.org/label> "x"@en .
<http://example.org/a> <http://example.org/label> "y" .
<http://example.org/a> <http://schema.org/gender> <http://schema.org/Male> .
<http://example.org/a> <http://schema.org/age> "41"^^<http://www.w3.org/2001/XMLSchema#integer> .
<http://example.org/a> <http://other/p> "z" .
"""
NODE = {
    "id": "ex:a",
    "type": "Person",
    "knows": ["ex:b"],
    "born": "1912-06-23",
    "names": {"en": ["Alan", "Al"], "fr": "Alain"},
    "name": "A.",
    "steps": ["ex:1"],
    "label": "x",
    "ex:label": "y",
    "gender": "Male",
    "age": 41,
    "http://other/p": "z",
}


def written(quads, context, format="ndjsonld", **options):
    batch = as_batch([read_quads(text) for text in quads])
    encoder = formats.find(format).Encoder(compact_with=context, **options)
    return encoder.encode(batch) + encoder.finish()


@pytest.mark.parametrize("context", [CONTEXT, {"@context": CONTEXT, "about": "x"}])
def test_terms_are_selected_by_their_values(context):
    first, second = written([QUADS], context).splitlines()
    assert json.loads(first) == {"@context": CONTEXT}
    assert json.loads(second) == NODE
    assert list(json.loads(first)["@context"]) == list(CONTEXT)


def test_every_message_can_contain_the_context():
    lines = written([QUADS, "", QUADS], CONTEXT, context_lines="every").splitlines()
    document = {"@context": CONTEXT, **NODE}
    assert [json.loads(line) for line in lines] == [document, {}, document]
    assert json.loads(written([QUADS], CONTEXT, "jsonld")) == document


def test_a_protected_context_is_reset_by_a_context_message():
    context = {"urn": {"@id": "http://u/", "@prefix": True, "@protected": True}}
    quads = ["<urn:x> <http://u/p> <http://u/o> .", "<http://u/x> <http://u/p> <http://u/o> ."]
    data = written(quads, context)
    assert [json.loads(line) for line in data.splitlines()] == [
        {"@context": context},
        {"@context": None},
        {"@id": "urn:x", "http://u/p": {"@id": "http://u/o"}},
        {"@context": context},
        {"@id": "urn:x", "urn:p": {"@id": "urn:o"}},
    ]
    found, error = decode("ndjsonld", data)
    assert error is None
    assert all(isomorphic(a, read_quads(b)) for a, b in zip(found, quads, strict=True))


def test_messages_in_one_document_reset_the_context_individually():
    quads = ["<urn:x> <http://u/p> <http://u/o> .", "<http://u/x> <http://u/p> <http://u/o> ."]
    context = {"urn": {"@id": "http://u/", "@prefix": True}}
    data = written(quads, context, "jsonld", flat=True)
    found, error = decode("jsonld", data)
    assert error is None
    assert isomorphic(found[0], read_quads("\n".join(quads)))
    context["@protected"] = True
    with pytest.raises(rdfm.OptionError, match="protected terms"):
        written(quads, context, "jsonld", flat=True)


@pytest.mark.parametrize(
    ("context", "reason"),
    [
        ("{", "is not valid JSON"),
        ('{"a": 1, "a": 2}', "occurs twice"),
        ('{"@context": null}', "does not contain a context"),
        ({"@context": "http://c/"}, "refers to the remote context 'http://c/'"),
        ([{"@import": "http://c/"}], "refers to the remote context 'http://c/'"),
        ({"a": 1}, "is not a JSON-LD 1.1 context"),
        ({"a": {"@id": "http://a/", "@type": "@what"}}, "is not a JSON-LD 1.1 context"),
        ({"@direction": "rtl"}, "the entry '@direction' of compact_with"),
        ({"ex": "http://e/", "none": "@none"}, "the entry 'none' of compact_with"),
        ({"@type": {"@container": "@set"}}, "the entry '@type' of compact_with"),
        (1, "compact_with must be a JSON file, JSON text or a dict, not 1"),
        ({"a": object()}, "compact_with cannot be converted to JSON"),
        ("https://schema.org/", "compact_with must be a local file, because it is not fetched"),
        ("missing.jsonld", "the context cannot be read: missing.jsonld: No such file"),
    ],
)
def test_unsuitable_contexts_are_rejected(context, reason):
    with pytest.raises(rdfm.OptionError, match=r"^[^\n]*$") as caught:
        formats.find("ndjsonld").Encoder(compact_with=context)
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"<rdf:RDF/>", "expected a JSON object or array"),
        (b'{"a": "\xff"}', "it is not UTF-8 text"),
    ],
)
def test_the_error_for_a_file_without_a_context_does_not_quote_the_file(data, reason, tmp_path):
    file = tmp_path / "context.json"
    file.write_bytes(data)
    with pytest.raises(rdfm.OptionError) as caught:
        formats.find("ndjsonld").Encoder(compact_with=file)
    assert str(caught.value) == f"the file {file} does not contain a context: {reason}"


def test_compact_with_and_context_lines_none_cannot_be_combined():
    with pytest.raises(rdfm.OptionError, match='context_lines="first" writes it'):
        formats.find("yamlld").Encoder(compact_with={"a": "http://a/"}, context_lines="none")


def test_namespaces_that_the_context_lacks_are_dropped_and_counted():
    encoder = formats.find("ndjsonld").Encoder(
        compact_with={"ex": "http://example.org/"},
        prefixes={"ex": "http://example.org/", "v": "http://v/"},
    )
    encoder.encode(as_batch([[]]))
    assert encoder.dropped()["namespaces"] == 1


def test_a_path_in_a_string_is_read_immediately(tmp_path):
    path = tmp_path / "c.jsonld"
    path.write_bytes(b'\xef\xbb\xbf{"a": "http://a/"}')
    spec = formats.ndjsonld.spec
    assert spec.values("write", {"compact_with": str(path)}) == {
        "compact_with": '{"a": "http://a/"}'
    }
    assert spec.values("write", {"compact_with": "{}"}) == {"compact_with": "{}"}
