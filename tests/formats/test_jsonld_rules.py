"""Quads or errors of small JSON-LD documents, rule by rule.

Each row contains a document and its quads or an error code. Quads are N-Quads in which IRIs without
a scheme are relative to http://e/, and prefixed names are allowed: `<s> <p> "1"^^xsd:integer .`.
Each row is also checked with the algorithms of `jsonld_reference`, which follow the specification
strictly.
"""

import json
import re
from typing import Any

import jsonld_reference as reference
import pytest
from nquads import isomorphic, read_quads
from support import decode, outcome

import rdfm
from rdfm import formats

NAMESPACES = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "i18n": "https://www.w3.org/ns/i18n#",
}
# Remote contexts by URL.
REMOTE = {
    "http://c/vocab": {"@context": {"@vocab": "http://e/"}},
    "http://c/base": {"@context": {"@base": "http://other/", "@vocab": "http://e/"}},
    "http://c/p": {"@context": {"p": {"@id": "http://e/p", "@type": "@id"}, "q": "http://e/q"}},
    "http://c/d/relative": {"@context": ["../vocab", {"p": {"@type": "@id"}}]},
    "http://c/scoped": {"@context": {"p": {"@id": "http://e/p", "@context": "d/relative"}}},
    "http://c/itself": {"@context": {"p": {"@id": "http://e/p", "@context": "itself"}}},
    "http://c/loop": {"@context": ["loop"]},
    "http://c/array": {"@context": [{"@vocab": "http://e/"}]},
    "http://c/list": [],
    "http://c/empty": {},
    "http://c/imports": {"@context": {"@import": "vocab"}},
    "http://c/protected": {"@context": {"@protected": True, "p": "http://e/p"}},
}
# Error codes that can occur when JSON or YAML is read. The others concern HTML, HTTP, JSON-LD 1.0
# and compaction.
CODES = """
colliding keywords, conflicting indexes, context overflow, cyclic IRI mapping, invalid @id value,
invalid @import value, invalid @included value, invalid @index value, invalid @nest value,
invalid @prefix value, invalid @propagate value, invalid @protected value, invalid @reverse value,
invalid @version value, invalid base direction, invalid base IRI, invalid container mapping,
invalid context entry, invalid context nullification, invalid default language, invalid IRI mapping,
invalid keyword alias, invalid language map value, invalid language mapping,
invalid language-tagged string, invalid language-tagged value, invalid local context,
invalid remote context, invalid reverse property, invalid reverse property map,
invalid reverse property value, invalid scoped context, invalid set or list object,
invalid term definition, invalid type mapping, invalid type value, invalid typed value,
invalid value object, invalid value object value, invalid vocab mapping, keyword redefinition,
loading remote context failed, protected term redefinition
"""
ERROR_CODES = [code.strip() for code in CODES.replace("\n", " ").split(",")]


def expected_quads(text: str) -> list[tuple]:
    """Returns the expected quads of a row."""
    text = re.sub(r"<(?![A-Za-z][A-Za-z0-9+.-]*:)([^<>]*)>", r"<http://e/\1>", text)
    for name, namespace in NAMESPACES.items():
        text = re.sub(rf"(?<=[\s^]){name}:(\w+)", rf"<{namespace}\1>", " " + text)
    return read_quads(text.replace(" ;; ", "\n"))


@pytest.fixture(scope="session")
def remote(tmp_path_factory):
    """Paths of files with the remote contexts, by URL."""
    folder = tmp_path_factory.mktemp("contexts")
    files = {}
    for at, (url, document) in enumerate(REMOTE.items()):
        path = folder / str(at)
        path.write_text(json.dumps(document))
        files[url] = str(path)
    return files


def encodings(document: Any) -> list[tuple[str, bytes]]:
    """Returns the document in each format that supports it. A string is used unchanged, as JSON."""
    if isinstance(document, str):
        return [("jsonld", document.encode())]
    text = json.dumps(document, ensure_ascii=False)
    found = [("jsonld", json.dumps(document, indent=1).encode())]
    if isinstance(document, dict) and {*document} not in ({"@context"}, set()):
        found.append(("ndjsonld", f"{text}\n".encode()))
    found.append(("yamlld", text.encode()))
    return found


def name_of(document: Any) -> str:
    return document if isinstance(document, str) else json.dumps(document)


def rows(table: list) -> Any:
    return pytest.mark.parametrize(("document", "expected"), table)


def check(document: Any, expected: str, remote: dict, **options: Any) -> None:
    """Checks that the document has the expected result in each format, at once and in pieces."""
    options = {"base": "http://base/d/doc", "rdf_direction": "none", "context": remote, **options}
    check_reference(document, expected, options)
    for name, data in encodings(document):
        messages, error = decode(name, data, **options)
        if expected in ERROR_CODES:
            assert error is not None, messages
            assert f"(JSON-LD: {expected})" in error
            assert re.search(r"line \d+, column \d+", error)
        else:
            assert error is None, error
            assert isomorphic(messages[0], expected_quads(expected)), messages[0]


def check_reference(document: Any, expected: str, options: dict) -> None:
    """Checks that the algorithms of the specification produce the expected result."""
    expand_context = options.get("expand_context", reference.UNSET)
    direction = options["rdf_direction"]
    found = reference.read(
        document if isinstance(document, str) else json.dumps(document),
        base=options["base"],
        direction=None if direction == "none" else direction,
        documents={url: reference.parse(json.dumps(one)) for url, one in REMOTE.items()},
        expand_context=expand_context,
    )
    if expected in ERROR_CODES:
        assert found.errors == {expected}
    else:
        assert not found.errors
        assert isomorphic(found.quads, expected_quads(expected)), found.quads


# Terms, prefixes and vocabularies.

P = "http://e/p"
IRIS = [
    ({"@context": {"p": P}, "@id": "http://e/s", "p": "x"}, '<s> <p> "x" .'),
    ({"@context": {"p": {"@id": P}}, "@id": "http://e/s", "p": "x"}, '<s> <p> "x" .'),
    ({"@context": {"e": "http://e/"}, "@id": "e:s", "e:p": {"@id": "e:o"}}, "<s> <p> <o> ."),
    # A term is a prefix only if it is a simple term whose IRI ends with a gen-delim, or if its
    # @prefix is true.
    ({"@context": {"e": "http://e/x"}, "@id": "http://e/s", "e:p": "x"}, '<s> <e:p> "x" .'),
    ({"@context": {"e": {"@id": "http://e/"}}, "@id": "e:s", P: "x"}, '<e:s> <p> "x" .'),
    (
        {"@context": {"e": {"@id": "http://e/x", "@prefix": True}}, "@id": "e:s", P: "x"},
        '<xs> <p> "x" .',
    ),
    (
        {"@context": {"e": {"@id": "http://e/", "@prefix": False}}, "@id": "e:s", P: "x"},
        '<e:s> <p> "x" .',
    ),
    *[
        ({"@context": {"e": f"http://e/a{end}"}, "@id": "http://e/s", "e:p": 1}, f'<s> <http://e/a{end}p> "1"^^xsd:integer .')
        for end in ":/?#"
    ],
    ({"@context": {"e": "_:"}, "@id": "e:b", P: {"@id": "_:b"}}, "_:b <p> _:b ."),
    # A prefix is not looked up if the suffix starts with two slashes.
    (
        {"@context": {"http": "http://x/"}, "@id": "http://e/s", P: {"@id": "http:o"}},
        "<s> <p> <http://x/o> .",
    ),
    # A definition of a compact IRI, with and without an @id.
    (
        {"@context": {"e": "http://e/", "e:p": {"@type": "@id"}}, "@id": "e:s", "e:p": "e:o"},
        "<s> <p> <o> .",
    ),
    (
        {"@context": {"e": "http://e/", "e:p": {"@id": P, "@type": "@id"}}, "e:p": "e:o", "@id": "e:s"},
        "<s> <p> <o> .",
    ),
    ({"@context": {"e": "http://e/", "e:p": "http://e/q"}, "e:p": 1}, "invalid IRI mapping"),
    ({"@context": {P: {"@type": "@id"}}, "@id": "http://e/s", P: "http://e/o"}, "<s> <p> <o> ."),
    ({"@context": {"a/b": "http://e/b"}, P: 1}, "invalid IRI mapping"),
    (
        {"@context": {"@vocab": "http://e/", "a/b": {"@type": "@id"}}, "@id": "http://e/s", "a/b": "http://e/o"},
        "<s> <a/b> <o> .",
    ),
    ({"@context": {"p": "q", "q": P}, "@id": "http://e/s", "p": "x"}, '<s> <p> "x" .'),
    ({"@context": {"p": "q", "q": "p"}, P: 1}, "cyclic IRI mapping"),
    ({"@context": {"p": "p:x"}, P: 1}, "cyclic IRI mapping"),
    ({"@context": {"p": "word"}, P: 1}, "invalid IRI mapping"),
    ({"@context": {"p": {}}, P: 1}, "invalid IRI mapping"),
    ({"@context": {"p": {"@id": 1}}, P: 1}, "invalid IRI mapping"),
    ({"@context": {"p": "@context"}, P: 1}, "invalid keyword alias"),
    ({"@context": {"": P}, P: 1}, "invalid term definition"),
    ({"@context": {"p": 1}, P: 1}, "invalid term definition"),
    ({"@context": {"p": {"@id": P, "@foo": 1}}, P: 1}, "invalid term definition"),
    ({"@context": {"p": {"@id": P, "x": 1}}, P: 1}, "invalid term definition"),
    ({"@context": {"@id": P}, P: 1}, "keyword redefinition"),
    ({"@context": {"@context": {"p": P}}, P: 1}, "keyword redefinition"),
    ({"@context": {"@prefix": P}, P: 1}, "keyword redefinition"),
    ({"@context": {"p": {"@id": P, "@prefix": 1}}, P: 1}, "invalid @prefix value"),
    ({"@context": {"a:p": {"@id": "a:p", "@prefix": True}}, P: 1}, "invalid term definition"),
    ({"@context": {"id": {"@id": "@id", "@prefix": True}}, P: 1}, "invalid term definition"),
    ({"@context": {"@version": 1.1, "p": P}, "@id": "http://e/s", "p": 1}, '<s> <p> "1"^^xsd:integer .'),
    ({"@context": {"@version": "1.1"}, P: 1}, "invalid @version value"),
    ({"@context": {"@version": 1}, P: 1}, "invalid @version value"),
    ({"@context": 1, P: 1}, "invalid local context"),
    ({"@context": [[]], P: 1}, "invalid local context"),
    ({"@context": True, P: 1}, "invalid local context"),
    ({"@context": [], "@id": "http://e/s", P: "x"}, '<s> <p> "x" .'),
    # @vocab
    ({"@context": {"@vocab": "http://e/"}, "@id": "http://e/s", "p": "x"}, '<s> <p> "x" .'),
    ({"@context": {"@vocab": "http://e/"}, "@id": "s", "@type": "T"}, "<http://base/d/s> rdf:type <T> ."),
    ({"@context": {"@vocab": "http://e/"}, "@id": "http://e/s", "": "x"}, '<s> <> "x" .'),
    ({"@context": {"@vocab": ""}, "@id": "http://e/s", "p": "x"}, '<s> <http://base/d/docp> "x" .'),
    ({"@context": {"@vocab": "#"}, "@id": "http://e/s", "p": "x"}, '<s> <http://base/d/doc#p> "x" .'),
    ({"@context": {"@vocab": "/v/"}, "@id": "http://e/s", "p": "x"}, '<s> <http://base/v/p> "x" .'),
    ({"@context": {"@base": None, "@vocab": "#"}, P: "x"}, "invalid vocab mapping"),
    # @vocab is expanded with the previously active context.
    ({"@context": {"ex": "http://e/", "@vocab": "ex:v/"}, "@id": "ex:s", "p": "x"}, '<s> <ex:v/p> "x" .'),
    ({"@context": {"@vocab": 1}, P: 1}, "invalid vocab mapping"),
    ({"@context": {"@vocab": "@id"}, P: 1}, "invalid vocab mapping"),
    (
        {"@context": [{"@vocab": "http://e/"}, {"@vocab": "x/"}], "@id": "http://e/s", "p": "x"},
        '<s> <x/p> "x" .',
    ),
    (
        {"@context": [{"ex": "http://e/"}, {"@vocab": "ex:n/"}], "@id": "http://e/s", "p": "x"},
        '<s> <n/p> "x" .',
    ),
    (
        {"@context": [{"ex": "http://e/n#"}, {"@vocab": "ex"}], "@id": "http://e/s", "p": "x"},
        '<s> <n#p> "x" .',
    ),
    ({"@context": [{"@vocab": "http://e/"}, {"@vocab": None}], "p": 1, "@id": "http://e/s"}, ""),
    # Terms mapped to null, and keys that look like keywords.
    ({"@context": {"@vocab": "http://e/", "p": None}, "@id": "http://e/s", "p": 1, "q": "x"}, '<s> <q> "x" .'),
    (
        {"@context": {"@vocab": "http://e/", "p": {"@id": None}}, "@id": "http://e/s", "p": 1, "q": "x"},
        '<s> <q> "x" .',
    ),
    ({"@context": {"@vocab": "http://e/"}, "@id": "http://e/s", "@foo": 1, "p": "x"}, '<s> <p> "x" .'),
    ({"@context": {"@vocab": "http://e/"}, "@id": "http://e/s", "@": "x"}, '<s> <@> "x" .'),
    ({"@context": {"@vocab": "http://e/"}, "@id": "http://e/s", "@a.b": "x"}, '<s> <@a.b> "x" .'),
    ({"@context": {"@foo": P}, "@id": "http://e/s", "@foo": 1, P: "x"}, '<s> <p> "x" .'),
    ({"@context": {"p": "@foo"}, "@id": "http://e/s", "p": 1, P: "x"}, '<s> <p> "x" .'),
    ({"@context": {"p": {"@reverse": "@foo"}}, "@id": "http://e/s", "p": 1, P: "x"}, '<s> <p> "x" .'),
    # Aliases.
    (
        {"@context": {"id": "@id", "a": "@type", "v": "@value"}, "id": "http://e/s", "a": "http://e/T", P: {"v": "x"}},
        '<s> <p> "x" . ;; <s> rdf:type <T> .',
    ),
    ({"@context": {"id": "@id", "i": "id"}, "i": "http://e/s", P: "x"}, '<s> <p> "x" .'),
    ({"@context": {"id": "@id"}, "id": "http://e/s", "@id": "http://e/s", P: 1}, "colliding keywords"),
    ({"@context": {"t": "@type"}, "@id": "http://e/s", "t": "http://e/T", "@type": "http://e/U"}, "<s> rdf:type <T> . ;; <s> rdf:type <U> ."),
    ({"@context": {"@type": {"@container": "@set"}}, "@id": "http://e/s", "@type": ["http://e/T"]}, "<s> rdf:type <T> ."),
    ({"@context": {"@type": {"@protected": True}}, "@id": "http://e/s", P: "x"}, '<s> <p> "x" .'),
    ({"@context": {"@type": {}}, P: 1}, "keyword redefinition"),
    ({"@context": {"@type": {"@container": "@list"}}, P: 1}, "keyword redefinition"),
    ({"@context": {"@type": {"@container": "@set", "@id": P}}, P: 1}, "keyword redefinition"),
    ({"@context": {"@type": P}, P: 1}, "keyword redefinition"),
]  # fmt: skip


@rows(IRIS)
def test_terms_prefixes_and_vocabularies_are_expanded(document, expected, remote):
    check(document, expected, remote)


# References of RFC 3986, section 5.4, resolved against this base.
RFC_BASE = "http://a/b/c/d;p?q"
REFERENCES = {
    "g:h": "g:h",
    "g": "http://a/b/c/g",
    "./g": "http://a/b/c/g",
    "g/": "http://a/b/c/g/",
    "/g": "http://a/g",
    "//g": "http://g",
    "?y": "http://a/b/c/d;p?y",
    "g?y": "http://a/b/c/g?y",
    "#s": "http://a/b/c/d;p?q#s",
    "g#s": "http://a/b/c/g#s",
    "g?y#s": "http://a/b/c/g?y#s",
    ";x": "http://a/b/c/;x",
    "g;x": "http://a/b/c/g;x",
    "g;x?y#s": "http://a/b/c/g;x?y#s",
    "": "http://a/b/c/d;p?q",
    ".": "http://a/b/c/",
    "./": "http://a/b/c/",
    "..": "http://a/b/",
    "../": "http://a/b/",
    "../g": "http://a/b/g",
    "../..": "http://a/",
    "../../": "http://a/",
    "../../g": "http://a/g",
    "../../../g": "http://a/g",
    "../../../../g": "http://a/g",
    "/./g": "http://a/g",
    "/../g": "http://a/g",
    "g.": "http://a/b/c/g.",
    ".g": "http://a/b/c/.g",
    "g..": "http://a/b/c/g..",
    "..g": "http://a/b/c/..g",
    "./../g": "http://a/b/g",
    "./g/.": "http://a/b/c/g/",
    "g/./h": "http://a/b/c/g/h",
    "g/../h": "http://a/b/c/h",
    "g;x=1/./y": "http://a/b/c/g;x=1/y",
    "g;x=1/../y": "http://a/b/c/y",
    "g?y/./x": "http://a/b/c/g?y/./x",
    "g?y/../x": "http://a/b/c/g?y/../x",
    "g#s/./x": "http://a/b/c/g#s/./x",
    "g#s/../x": "http://a/b/c/g#s/../x",
    # IRIs are unchanged, because dot segments are removed only from references.
    "http:g": "http:g",
    "http://a/../g": "http://a/../g",
    "g/é": "http://a/b/c/g/é",
}


@pytest.mark.parametrize("base_from", ["option", "context", "contexts"])
@pytest.mark.parametrize(("text", "iri"), REFERENCES.items())
def test_references_are_resolved_according_to_rfc_3986(text, iri, base_from, remote):
    document: dict = {"@id": "http://e/s", P: {"@id": text}}
    base = RFC_BASE
    if base_from == "context":
        document["@context"], base = {"@base": RFC_BASE}, "http://else/where"
    if base_from == "contexts":
        document["@context"], base = [{"@base": "http://a/b/c/x"}, {"@base": "d;p?q"}], "http://x/"
    check(document, f"<s> <p> <{iri}> .", remote, base=base)


@pytest.mark.parametrize(
    ("base", "text", "iri"),
    [
        ("http://a", "g", "http://a/g"),
        ("http://a", "../g", "http://a/g"),
        ("http://a", "?y", "http://a?y"),
        ("http://a?q", "g", "http://a/g"),
        ("http://a/b/../c/./d", "g", "http://a/c/g"),
        ("http://a/b/../c/./d", "#s", "http://a/b/../c/./d#s"),
        ("http://a/b/../c/./d", "", "http://a/b/../c/./d"),
        ("http://a/b#s", "", "http://a/b"),
        ("http://a/b#s", "?q", "http://a/b?q"),
        ("http://a/b/", "..", "http://a/"),
        ("http://a/b/c", "/", "http://a/"),
        ("http://a/b/c?d/e/f", "g", "http://a/b/g"),
        ("urn:a:b", "g", "urn:g"),
        ("urn:a:b", "#s", "urn:a:b#s"),
        ("urn:a/b/c", "../g", "urn:a/g"),
        ("file:///a/b", "c", "file:///a/c"),
        ("file:///a/b", "/c", "file:///c"),
        ("tag:e,2020:a", "?x", "tag:e,2020:a?x"),
    ],
)
def test_references_are_resolved_against_unusual_bases(base, text, iri, remote):
    check({"@id": "http://e/s", P: {"@id": text}}, f"<s> <p> <{iri}> .", remote, base=base)


BASES = [
    # The @base of a context is relative to the previous base. A null @base removes the base, and a
    # null context restores the original one.
    ({"@context": {"@base": "x/"}, "@id": "s", P: "v"}, '<http://base/d/x/s> <p> "v" .'),
    ({"@context": [{"@base": "x/"}, {"@base": "y/"}], "@id": "s", P: "v"}, '<http://base/d/x/y/s> <p> "v" .'),
    ({"@context": {"@base": "/"}, "@id": "s", P: "v"}, '<http://base/s> <p> "v" .'),
    ({"@context": {"@base": ""}, "@id": "#s", P: "v"}, '<http://base/d/doc#s> <p> "v" .'),
    ({"@context": [{"@base": "http://x/"}, None], "@id": "s", P: "v"}, '<http://base/d/s> <p> "v" .'),
    ({"@context": [{"@base": None}, {"@base": "x/"}], P: "v"}, "invalid base IRI"),
    ({"@context": {"@base": 1}, P: "v"}, "invalid base IRI"),
    ({"@context": {"@base": True}, P: "v"}, "invalid base IRI"),
    (
        {"@context": {"@base": "http://x/"}, "@id": "s", P: {"@context": {"@base": "y/"}, "@id": "o"}},
        "<http://x/s> <p> <http://x/y/o> .",
    ),
    # @base is ignored in remote contexts.
    ({"@context": "http://c/base", "@id": "s", "p": "v"}, '<http://base/d/s> <p> "v" .'),
    # Terms relative to the base, and terms relative to the vocabulary.
    (
        {"@context": {"@vocab": "http://e/", "p": {"@type": "@id"}}, "@id": "s", "p": "o"},
        "<http://base/d/s> <p> <http://base/d/o> .",
    ),
    (
        {"@context": {"@vocab": "http://e/", "p": {"@type": "@vocab"}}, "@id": "s", "p": "o"},
        "<http://base/d/s> <p> <o> .",
    ),
    (
        {"@context": {"p": {"@id": P, "@type": "@vocab"}}, "@id": "s", "p": "o"},
        "<http://base/d/s> <p> <http://base/d/o> .",
    ),
    # A term represents its IRI in @type, and in values with the type @vocab, but not in @id.
    (
        {"@context": {"T": "http://e/T", "p": {"@id": P, "@type": "@vocab"}, "q": {"@id": "http://e/q", "@type": "@id"}}, "@id": "T", "@type": "T", "p": "T", "q": "T"},
        """<http://base/d/T> rdf:type <T> . ;; <http://base/d/T> <p> <T> .
        <http://base/d/T> <q> <http://base/d/T> .""",
    ),
    ({"@id": "http://e/s", "@type": "T"}, "<s> rdf:type <http://base/d/T> ."),
    ({"@context": {"e": "http://e/"}, "@id": "e:s", "@type": "e:T"}, "<s> rdf:type <T> ."),
    # A name with a colon is an IRI even if its scheme is unknown.
    ({"@id": "nope:s", P: {"@id": "a:b:c"}}, "<nope:s> <p> <a:b:c> ."),
    ({"@id": ":s", P: "x"}, '<http://base/d/:s> <p> "x" .'),
]  # fmt: skip


@rows(BASES)
def test_the_base_follows_the_context(document, expected, remote):
    check(document, expected, remote)


# Values.

S = "http://e/s"
VALUES = [
    ({"@id": S, P: True, "http://e/q": False}, '<s> <p> "true"^^xsd:boolean . ;; <s> <q> "false"^^xsd:boolean .'),
    ({"@id": S, P: None, "http://e/q": []}, ""),
    ({"@id": S, P: ["x", None, ["y", ["z"]], {"@set": ["w"]}]}, '<s> <p> "x" . ;; <s> <p> "y" . ;; <s> <p> "z" . ;; <s> <p> "w" .'),
    ({"@id": S, P: {"@value": "x"}}, '<s> <p> "x" .'),
    ({"@id": S, P: {"@value": None}}, ""),
    ({"@id": S, P: {"@value": None, "@language": "en"}}, ""),
    ({"@id": S, P: {"@value": None, "@type": "http://e/D"}}, ""),
    ({"@id": S, P: {"@value": "x", "@language": "en"}}, '<s> <p> "x"@en .'),
    ({"@id": S, P: {"@value": "x", "@index": "i"}}, '<s> <p> "x" .'),
    ({"@id": S, P: {"@value": "x", "@type": "http://e/D"}}, '<s> <p> "x"^^<D> .'),
    ({"@context": {"@vocab": "http://e/"}, "@id": S, "p": {"@value": "x", "@type": "D"}}, '<s> <p> "x"^^<D> .'),
    ({"@id": S, P: {"@value": True, "@type": "http://e/D"}}, '<s> <p> "true"^^<D> .'),
    ({"@id": S, P: {"@language": "en"}}, ""),
    ({"@id": S, P: {}}, "<s> <p> _:b ."),
    ({"@id": S, P: {"@id": "http://e/o"}}, "<s> <p> <o> ."),
    ({"@id": S, P: {"@type": "http://e/T"}}, "<s> <p> _:b . ;; _:b rdf:type <T> ."),
    ({"@id": S, P: ["x", "x", {"@value": "x"}]}, '<s> <p> "x" .'),
    ({"@context": {"p": {"@id": P, "@type": "http://e/D"}}, "@id": S, "p": ["x", True, {"@value": "y"}]}, '<s> <p> "x"^^<D> . ;; <s> <p> "true"^^<D> . ;; <s> <p> "y" .'),
    ({"@context": {"p": {"@id": P, "@type": "@id"}}, "@id": S, "p": ["http://e/o", True, {"@value": "y"}]}, '<s> <p> <o> . ;; <s> <p> "true"^^xsd:boolean . ;; <s> <p> "y" .'),
    ({"@context": {"p": {"@id": P, "@type": "@none"}, "@language": "en"}, "@id": S, "p": ["x", True]}, '<s> <p> "x"@en . ;; <s> <p> "true"^^xsd:boolean .'),
    # In a term definition, @type takes precedence over @language and @direction.
    ({"@context": {"p": {"@id": P, "@type": "@id", "@language": "en"}}, "@id": S, "p": "http://e/o"}, "<s> <p> <o> ."),
    ({"@context": {"p": {"@id": P, "@type": "http://e/D", "@language": "en", "@direction": "ltr"}}, "@id": S, "p": "x"}, '<s> <p> "x"^^<D> .'),
    ({"@context": {"p": {"@id": P, "@type": "http://e/D", "@language": 1, "@direction": 1}}, "@id": S, "p": "x"}, '<s> <p> "x"^^<D> .'),
    # Languages
    ({"@context": {"@language": "en", P: {"@language": "de"}, "http://e/q": {"@language": None}}, "@id": S, P: "x", "http://e/q": "y", "http://e/r": "z"}, '<s> <p> "x"@de . ;; <s> <q> "y" . ;; <s> <r> "z"@en .'),
    ({"@context": {"@language": "en"}, "@id": S, P: {"@value": "x"}}, '<s> <p> "x" .'),
    ({"@context": {"@language": "en"}, "@id": S, P: [1, True]}, '<s> <p> "1"^^xsd:integer . ;; <s> <p> "true"^^xsd:boolean .'),
    ({"@context": [{"@language": "en"}, {"@language": None}], "@id": S, P: "x"}, '<s> <p> "x" .'),
    ({"@context": {"@language": None}, "@id": S, P: "x"}, '<s> <p> "x" .'),
    ({"@context": {"@language": 1}, P: "x"}, "invalid default language"),
    ({"@context": {P: {"@language": 1}}, P: "x"}, "invalid language mapping"),
    ({P: {"@value": "x", "@language": 1}}, "invalid language-tagged string"),
    ({P: {"@value": "x", "@language": None}}, "invalid language-tagged string"),
    ({P: {"@value": 1, "@language": "en"}}, "invalid language-tagged value"),
    ({P: {"@value": True, "@language": "en"}}, "invalid language-tagged value"),
    # Value objects with other entries
    ({P: {"@value": []}}, "invalid value object value"),
    ({P: {"@value": {}}}, "invalid value object value"),
    ({P: {"@value": "x", "@id": S}}, "invalid value object"),
    ({P: {"@value": "x", P: "y"}}, "invalid value object"),
    ({P: {"@value": "x", "@type": "http://e/D", "@language": "en"}}, "invalid value object"),
    ({P: {"@value": "x", "@type": "http://e/D", "@direction": "ltr"}}, "invalid value object"),
    ({"@id": S, P: {"@value": "x", "foo": "y"}}, '<s> <p> "x" .'),
    ({P: {"@value": "x", "@type": ["http://e/D"]}}, "invalid typed value"),
    ({P: {"@value": "x", "@type": "_:b"}}, "invalid typed value"),
    ({P: {"@value": "x", "@type": "http://e/a b"}}, "invalid typed value"),
    ({P: {"@value": "x", "@type": 1}}, "invalid type value"),
    ({"@context": {"p": {"@id": P, "@type": "D"}}, P: 1}, "invalid type mapping"),
    ({"@context": {"p": {"@id": P, "@type": "_:b"}}, P: 1}, "invalid type mapping"),
    ({"@context": {"p": {"@id": P, "@type": "@set"}}, P: 1}, "invalid type mapping"),
    ({"@context": {"p": {"@id": P, "@type": ["@id"]}}, P: 1}, "invalid type mapping"),
    # Values of keywords
    ({"@id": 1, P: "x"}, "invalid @id value"),
    ({"@id": [S], P: "x"}, "invalid @id value"),
    ({"@id": None, P: "x"}, "invalid @id value"),
    ({"@type": 1, P: "x"}, "invalid type value"),
    ({"@type": [1], P: "x"}, "invalid type value"),
    ({"@type": {}, P: "x"}, "invalid type value"),
    ({"@index": 1, P: "x"}, "invalid @index value"),
    ({"@id": S, "@type": [], P: "x"}, '<s> <p> "x" .'),
    ({"@id": S, "@index": "i", P: "x"}, '<s> <p> "x" .'),
    ({"@graph": [{"@id": S, "@index": "i", P: "x"}, {"@id": S, "@index": "i", P: "y"}]}, '<s> <p> "x" . ;; <s> <p> "y" .'),
    ({"@graph": [{"@id": S, "@index": "i", P: "x"}, {"@id": S, "@index": "j", P: "y"}]}, "conflicting indexes"),
    ({"@id": S, "@type": ["http://e/T", "_:t", "_:t"]}, "<s> rdf:type <T> . ;; <s> rdf:type _:b ."),
    # Sets
    ({"@id": S, P: {"@set": ["x", "y"]}}, '<s> <p> "x" . ;; <s> <p> "y" .'),
    ({"@id": S, P: {"@set": "x", "@index": "i"}}, '<s> <p> "x" .'),
    ({"@id": S, P: {"@set": []}}, ""),
    ({P: {"@set": ["x"], "@id": S}}, "invalid set or list object"),
    ({P: {"@set": ["x"], P: "y"}}, "invalid set or list object"),
    ({P: {"@list": ["x"], "@id": S}}, "invalid set or list object"),
    ({P: {"@list": ["x"], "@set": ["y"]}}, "invalid set or list object"),
    ({"@context": {"p": {"@id": P, "@container": "@set"}}, "@id": S, "p": "x"}, '<s> <p> "x" .'),
    # Free-floating values are dropped.
    (["x", 1, None, {"@id": S}, {"@value": "x"}, {"@list": ["x"]}, {}, []], ""),
    ({"@graph": ["x", {"@id": S}, {"@value": "x"}, {"@list": [{"@id": S, P: "y"}]}]}, ""),
    ("[[[]]]", ""),
    ([{"@id": S, P: "x"}, [{"@id": S, P: "y"}]], '<s> <p> "x" . ;; <s> <p> "y" .'),
]  # fmt: skip


@rows(VALUES)
def test_values_become_literals(document, expected, remote):
    check(document, expected, remote)


# Numbers as written, the resulting value, and the value as xsd:double.
NUMBERS = [
    ("0", "0", "0.0E0"),
    ("-0", "0", "0.0E0"),
    ("0.0", "0", "0.0E0"),
    ("-0.0", "0", "0.0E0"),
    ("0e5", "0", "0.0E0"),
    ("1", "1", "1.0E0"),
    ("-1", "-1", "-1.0E0"),
    ("12", "12", "1.2E1"),
    ("1.0", "1", "1.0E0"),
    ("1.50e1", "15", "1.5E1"),
    ("1e2", "100", "1.0E2"),
    ("1E+2", "100", "1.0E2"),
    ("100e-2", "1", "1.0E0"),
    ("-100e-2", "-1", "-1.0E0"),
    ("0.01E2", "1", "1.0E0"),
    ("9007199254740993", "9007199254740993", "9.007199254740992E15"),
    ("-9223372036854775809", "-9223372036854775809", "-9.223372036854776E18"),
    ("18446744073709551616", "18446744073709551616", "1.844674407370955E19"),
    ("100000000000000000000", "100000000000000000000", "1.0E20"),
    ("100000000000000000001", "100000000000000000001", "1.0E20"),
    ("1e20", "100000000000000000000", "1.0E20"),
    ("123456789012345678901", "123456789012345678901", "1.234567890123457E20"),
    ("999999999999999999999", "999999999999999999999", "1.0E21"),
    ("-999999999999999999999", "-999999999999999999999", "-1.0E21"),
    ("9.99999999999999999999e20", None, "1.0E21"),
    ("1000000000000000000000", None, "1.0E21"),
    ("-1000000000000000000000", None, "-1.0E21"),
    ("1000000000000000000001", None, "1.0E21"),
    ("1e21", None, "1.0E21"),
    ("1e22", None, "1.0E22"),
    ("1e23", None, "9.999999999999999E22"),
    ("0.5", None, "5.0E-1"),
    ("-0.5", None, "-5.0E-1"),
    ("5.3", None, "5.3E0"),
    ("5.30", None, "5.3E0"),
    ("0.1", None, "1.0E-1"),
    ("1.1e-7", None, "1.1E-7"),
    ("123.456", None, "1.23456E2"),
    ("1e-1", None, "1.0E-1"),
    ("12345e-6", None, "1.2345E-2"),
    ("0.30000000000000004", None, "3.0E-1"),
    ("0.1234567890123456789", None, "1.234567890123457E-1"),
    ("3.14159265358979323846264338327950288", None, "3.141592653589793E0"),
    ("2.2250738585072011e-308", None, "2.225073858507201E-308"),
    ("2.2250738585072014e-308", None, "2.225073858507201E-308"),
    ("5e-324", None, "4.940656458412465E-324"),
    ("1.7976931348623157e308", None, "1.797693134862316E308"),
    ("1.7976931348623159e308", None, "INF"),
    ("1.0E400", None, "INF"),
    ("-1e400", None, "-INF"),
    ("1e99999999999999999999", None, "INF"),
    ("9007199254740993.5", "9007199254740994", "9.007199254740994E15"),
    ("8.41e21", None, "8.409999999999999E21"),
    ("2.0e-3", None, "2.0E-3"),
    ("4.35", None, "4.35E0"),
    ("1.7976931348623158e+308", None, "1.797693134862316E308"),
    ("0.07", None, "7.000000000000001E-2"),
    ("123456789012345.678", None, "1.234567890123457E14"),
]  # fmt: skip


def literal(text: str, datatype: str) -> str:
    return f'<s> <p> "{text}"^^{datatype} .'


@pytest.mark.parametrize(("number", "integer", "double"), NUMBERS)
def test_numbers_become_canonical_literals(number, integer, double, remote):
    native = f'{{"@id": "{S}", "{P}": {number}}}'
    expected = literal(double, "xsd:double") if integer is None else literal(integer, "xsd:integer")
    check(native, expected, remote)
    value_object = f'{{"@id": "{S}", "{P}": {{"@value": {number}}}}}'
    check(value_object, expected, remote)
    typed_value = (
        f'{{"@id": "{S}", "{P}": {{"@value": {number}, "@type": "{NAMESPACES["xsd"]}double"}}}}'
    )
    check(typed_value, literal(double, "xsd:double"), remote)
    typed_term = f"""{{"@context": {{"p": {{"@id": "{P}", "@type": "{NAMESPACES["xsd"]}double"}}}},
        "@id": "{S}", "p": [{number}]}}"""
    check(typed_term, literal(double, "xsd:double"), remote)
    for datatype in ("integer", "decimal", "float"):
        document = f'{{"@id": "{S}", "{P}": {{"@value": {number}, "@type": "{NAMESPACES["xsd"]}{datatype}"}}}}'
        check(document, literal(double if integer is None else integer, f"xsd:{datatype}"), remote)


@pytest.mark.parametrize(("number", "integer", "double"), NUMBERS)
def test_numbers_mean_the_same_in_ndjson_and_yaml(number, integer, double):
    data = f'{{"@id": "{S}", "{P}": {number}}}\n'.encode()
    expected = literal(double, "xsd:double") if integer is None else literal(integer, "xsd:integer")
    for name in ("ndjsonld", "yamlld"):
        messages, error = decode(name, data)
        assert error is None
        assert isomorphic(messages[0], expected_quads(expected)), name


# Results of rdfm in cases that the specification leaves open, since it does not define the
# precision of numbers.
UNSPECIFIED_NUMBERS = [
    # A number with a fraction or an exponent is rounded to a double first.
    ("1.00000000000000000001", literal("1", "xsd:integer")),
    ("1e-400", literal("0", "xsd:integer")),
    ("-1e-400", literal("0", "xsd:integer")),
    ("999999999999999999999.9", literal("1.0E21", "xsd:double")),
    ("123456789012345678901.0", literal("123456789012345683968", "xsd:integer")),
    ("1.23456789012345678901e20", literal("123456789012345683968", "xsd:integer")),
    # All digits of a plain integer below 10^21 are kept.
    ("123456789012345678901", literal("123456789012345678901", "xsd:integer")),
]


@pytest.mark.parametrize(("number", "expected"), UNSPECIFIED_NUMBERS)
def test_numbers_with_unspecified_precision_are_read(number, expected, remote):
    messages, error = decode("jsonld", f'{{"@id": "{S}", "{P}": {number}}}'.encode())
    assert error is None
    assert isomorphic(messages[0], expected_quads(expected)), messages[0]


STRINGS = [
    ({"@id": S, P: {"@value": "1", "@type": NAMESPACES["xsd"] + "double"}}, literal("1", "xsd:double")),
    ({"@id": S, P: {"@value": "01", "@type": NAMESPACES["xsd"] + "integer"}}, literal("01", "xsd:integer")),
    ({"@id": S, P: {"@value": True, "@type": NAMESPACES["xsd"] + "double"}}, literal("true", "xsd:double")),
    ({"@context": {"p": {"@id": P, "@type": NAMESPACES["xsd"] + "double"}}, "@id": S, "p": "1"}, literal("1", "xsd:double")),
]  # fmt: skip


@rows(STRINGS)
def test_strings_that_look_like_numbers_are_unchanged(document, expected, remote):
    check(document, expected, remote)


# Containers.


def with_p(definition: dict, value: Any, **context: Any) -> dict:
    """Returns a node whose context defines `p`."""
    return {"@context": {"p": {"@id": P, **definition}, **context}, "@id": S, "p": value}


def contained(container: Any, value: Any, **context: Any) -> dict:
    return with_p({"@container": container}, value, **context)


TWO_ITEM_LIST = """<s> <p> _:1 . ;; _:1 rdf:first "x" . ;; _:1 rdf:rest _:2 .
_:2 rdf:first "y" . ;; _:2 rdf:rest rdf:nil ."""
ONE_ITEM_LIST = '<s> <p> _:1 . ;; _:1 rdf:first "x" . ;; _:1 rdf:rest rdf:nil .'
EMPTY_LIST = "<s> <p> rdf:nil ."
NESTED_LIST = """<s> <p> _:1 . ;; _:1 rdf:first _:2 . ;; _:1 rdf:rest rdf:nil .
_:2 rdf:first "x" . ;; _:2 rdf:rest rdf:nil ."""
GRAPH = '<s> <p> _:g . ;; _:n <q> "x" _:g .'
Q = "http://e/q"
NODE = {Q: "x"}
CONTAINERS = [
    # Lists by keyword and by container; lists of lists.
    ({"@id": S, P: {"@list": ["x", "y"]}}, TWO_ITEM_LIST),
    ({"@id": S, P: {"@list": ["x", None, "y"]}}, TWO_ITEM_LIST),
    ({"@id": S, P: {"@list": "x"}}, ONE_ITEM_LIST),
    ({"@id": S, P: {"@list": ["x"], "@index": "i"}}, ONE_ITEM_LIST),
    ({"@id": S, P: {"@list": []}}, EMPTY_LIST),
    ({"@id": S, P: {"@list": [None]}}, EMPTY_LIST),
    ({"@id": S, P: {"@list": [{"@list": ["x"]}]}}, NESTED_LIST),
    ({"@id": S, P: {"@list": [{"@list": []}]}}, "<s> <p> _:1 . ;; _:1 rdf:first rdf:nil . ;; _:1 rdf:rest rdf:nil ."),
    ({"@id": S, P: {"@list": [["x"], ["y"]]}}, TWO_ITEM_LIST),
    ({"@id": S, P: {"@list": [[], {"@set": ["x", "y"]}]}}, TWO_ITEM_LIST),
    ({"@id": S, P: {"@set": [{"@list": ["x", "y"]}]}}, TWO_ITEM_LIST),
    ({"@id": S, P: [{"@list": []}, {"@list": []}]}, EMPTY_LIST),
    ({"@id": S, P: {"@list": [{"@id": "http://e/o"}]}}, "<s> <p> _:1 . ;; _:1 rdf:first <o> . ;; _:1 rdf:rest rdf:nil ."),
    (contained("@list", ["x", "y"]), TWO_ITEM_LIST),
    (contained(["@list"], ["x", "y"]), TWO_ITEM_LIST),
    (contained("@list", "x"), ONE_ITEM_LIST),
    (contained("@list", []), EMPTY_LIST),
    (contained("@list", None), ""),
    (contained("@list", {"@list": ["x", "y"]}), TWO_ITEM_LIST),
    (contained("@list", [["x"]]), NESTED_LIST),
    (contained("@list", [[[]]]), "<s> <p> _:1 . ;; _:1 rdf:first _:2 . ;; _:1 rdf:rest rdf:nil . ;; _:2 rdf:first rdf:nil . ;; _:2 rdf:rest rdf:nil ."),
    (contained("@list", [{"@list": ["x"]}]), NESTED_LIST),
    (contained("@list", [{"@value": "x"}]), ONE_ITEM_LIST),
    (with_p({"@container": "@list", "@type": "@id"}, ["http://e/o"]), "<s> <p> _:1 . ;; _:1 rdf:first <o> . ;; _:1 rdf:rest rdf:nil ."),
    ({"@id": S, P: {"@list": ["x", "x"]}}, '<s> <p> _:1 . ;; _:1 rdf:first "x" . ;; _:1 rdf:rest _:2 . ;; _:2 rdf:first "x" . ;; _:2 rdf:rest rdf:nil .'),
    # Arrays in a set are lists if the property has @list in the context of the set.
    (with_p({"@container": "@list"}, {"@set": [["x"]]}), NESTED_LIST),
    (with_p({"@container": "@list"}, {"@set": [["x"]]}, **{"@propagate": False}), ONE_ITEM_LIST),
    (with_p({"@container": "@list"}, {"@set": [{"@set": []}]}, **{"@propagate": False}), EMPTY_LIST),
    ({"@context": {"p": P}, "@id": S, "p": {"@context": {"p": {"@id": P, "@container": "@list"}}, "@set": [["x"]]}}, ONE_ITEM_LIST),
    # Index maps
    (contained("@index", {"i": "x", "j": ["y", {"@value": "z"}]}), '<s> <p> "x" . ;; <s> <p> "y" . ;; <s> <p> "z" .'),
    (contained("@index", {"i": {"@id": "http://e/o"}, "@none": {"@id": "http://e/n"}}), "<s> <p> <o> . ;; <s> <p> <n> ."),
    (contained(["@index", "@set"], {"i": None, "j": []}), ""),
    (contained("@index", ["x"]), '<s> <p> "x" .'),
    (contained("@index", "x"), '<s> <p> "x" .'),
    (contained("@index", {"i": {"@id": "http://e/o"}, "j": {"@id": "http://e/o"}}), "conflicting indexes"),
    (contained("@index", {"i": {"@id": "http://e/o", "@index": "k"}, "k": {"@id": "http://e/o"}}), "<s> <p> <o> ."),
    (contained("@index", {"i": {"@list": ["x", "y"]}}), TWO_ITEM_LIST),
    # Property-based index maps
    (with_p({"@container": "@index", "@index": Q}, {"i": {"@id": "http://e/o"}}), '<s> <p> <o> . ;; <o> <q> "i" .'),
    (with_p({"@container": "@index", "@index": Q}, {"@none": {"@id": "http://e/o"}}), "<s> <p> <o> ."),
    (with_p({"@container": "@index", "@index": Q}, {"n": {"@id": "http://e/o"}}, n="@none"), "<s> <p> <o> ."),
    (with_p({"@container": "@index", "@index": "q"}, {"http://e/i": {"@id": "http://e/o"}}, q={"@id": Q, "@type": "@id"}), "<s> <p> <o> . ;; <o> <q> <i> ."),
    (with_p({"@container": "@index", "@index": ""}, {"i": {"@id": "http://e/o"}}, **{"@vocab": Q}), '<s> <p> <o> . ;; <o> <q> "i" .'),
    (with_p({"@container": "@index", "@index": "q"}, {"i": {"@id": "http://e/o", Q: "j"}}, q={"@id": Q, "@language": "en"}), '<s> <p> <o> . ;; <o> <q> "i"@en . ;; <o> <q> "j" .'),
    (with_p({"@container": ["@index", "@set"], "@index": Q}, {"i": [{"@id": "http://e/o"}, {"@id": "http://e/n"}]}), '<s> <p> <o> . ;; <s> <p> <n> . ;; <o> <q> "i" . ;; <n> <q> "i" .'),
    (with_p({"@container": "@index", "@index": Q}, {"i": "x"}), "invalid value object"),
    (with_p({"@container": "@index", "@index": "word"}, {}), "invalid term definition"),
    (with_p({"@container": "@index", "@index": "@index"}, {}), "invalid term definition"),
    (with_p({"@container": "@index", "@index": 1}, {}), "invalid term definition"),
    (with_p({"@container": "@set", "@index": Q}, {}), "invalid term definition"),
    (with_p({"@index": Q}, {}), "invalid term definition"),
    # Language maps
    (contained("@language", {"en": "x", "de": ["y", None, "z"], "fr": None}), '<s> <p> "x"@en . ;; <s> <p> "y"@de . ;; <s> <p> "z"@de .'),
    (contained("@language", {"@none": "x", "n": "y"}, n="@none"), '<s> <p> "x" . ;; <s> <p> "y" .'),
    (contained(["@language", "@set"], {"en": ["x"]}), '<s> <p> "x"@en .'),
    (contained("@language", "x"), '<s> <p> "x" .'),
    (contained("@language", [{"@value": "x", "@language": "en"}]), '<s> <p> "x"@en .'),
    (contained("@language", {"en": 1}), "invalid language map value"),
    (contained("@language", {"en": {"@value": "x"}}), "invalid language map value"),
    (contained("@language", {"en": [["x"]]}), "invalid language map value"),
    # Id maps
    (contained("@id", {"http://e/o": {Q: "x"}}), '<s> <p> <o> . ;; <o> <q> "x" .'),
    (contained("@id", {"o": {Q: "x"}}), '<s> <p> <http://base/d/o> . ;; <http://base/d/o> <q> "x" .'),
    (contained("@id", {"e:o": [{Q: "x"}, {Q: "y"}]}, e="http://e/"), '<s> <p> <o> . ;; <o> <q> "x" . ;; <o> <q> "y" .'),
    (contained("@id", {"@none": {Q: "x"}}), '<s> <p> _:o . ;; _:o <q> "x" .'),
    (contained("@id", {"n": {Q: "x"}}, n="@none"), '<s> <p> _:o . ;; _:o <q> "x" .'),
    ({"@context": {"p": {"@id": P, "@container": "@id"}}, "@graph": [{"p": {"http://e/o": {"@index": "i"}}}, {"@id": "http://e/o", "@index": "j"}]}, "conflicting indexes"),
    (contained("@id", {"http://e/o": {"@index": "i", Q: "x"}, "@none": {"@index": "j"}}), '<s> <p> <o> . ;; <o> <q> "x" . ;; <s> <p> _:b .'),
    (contained("@id", {"http://e/o": {"@id": "http://e/n", Q: "x"}}), '<s> <p> <n> . ;; <n> <q> "x" .'),
    (contained("@id", {"_:b": {Q: {"@id": "_:b"}}}), "<s> <p> _:b . ;; _:b <q> _:b ."),
    (contained(["@id", "@set"], {"http://e/o": []}), ""),
    (contained("@id", {"T": {Q: "x"}}, T="http://e/T"), '<s> <p> <http://base/d/T> . ;; <http://base/d/T> <q> "x" .'),
    # Type maps
    (contained("@type", {"http://e/T": {"@id": "http://e/o"}}), "<s> <p> <o> . ;; <o> rdf:type <T> ."),
    (contained("@type", {"T": {"@id": "http://e/o"}}, T="http://e/T"), "<s> <p> <o> . ;; <o> rdf:type <T> ."),
    (contained("@type", {"T": {"@id": "http://e/o", "@type": "U"}}, **{"@vocab": "http://e/"}), "<s> <p> <o> . ;; <o> rdf:type <T> . ;; <o> rdf:type <U> ."),
    (contained("@type", {"@none": {"@id": "http://e/o"}}), "<s> <p> <o> ."),
    (contained("@type", {"http://e/T": "http://e/o"}), "<s> <p> <o> . ;; <o> rdf:type <T> ."),
    (with_p({"@container": "@type", "@type": "@vocab"}, {"T": "o"}, **{"@vocab": "http://e/"}), "<s> <p> <o> . ;; <o> rdf:type <T> ."),
    (contained(["@type", "@set"], {"http://e/T": [{Q: "x"}]}), '<s> <p> _:o . ;; _:o rdf:type <T> . ;; _:o <q> "x" .'),
    (with_p({"@container": "@type", "@type": "http://e/D"}, {}), "invalid type mapping"),
    (with_p({"@container": "@type", "@type": "@none"}, {}), "invalid type mapping"),
    (contained("@type", {"T": {"q": "x"}}, **{"@vocab": "http://x/", "T": {"@context": {"q": Q}}}), '<s> <p> _:o . ;; _:o rdf:type <http://x/T> . ;; _:o <q> "x" .'),
    # The context of a key applies to its node, even in an array, but not to nested nodes.
    (contained("@type", {"T": {"q": {"q": "x"}}}, **{"@vocab": "http://x/", "T": {"@context": {"q": Q}}}), '<s> <p> _:o . ;; _:o rdf:type <http://x/T> . ;; _:o <q> _:n . ;; _:n <http://x/q> "x" .'),
    (contained("@type", {"T": [{"q": {"q": "x"}}]}, **{"@vocab": "http://x/", "T": {"@context": {"q": Q}}}), '<s> <p> _:o . ;; _:o rdf:type <http://x/T> . ;; _:o <q> _:n . ;; _:n <http://x/q> "x" .'),
    (contained("@type", {"T": {"q": {"q": "x"}}}, **{"@vocab": "http://x/", "T": {"@context": {"@propagate": True, "q": Q}}}), '<s> <p> _:o . ;; _:o rdf:type <http://x/T> . ;; _:o <q> _:n . ;; _:n <q> "x" .'),
    (contained("@type", {"T": {"q": {"@list": "x"}}}, **{"@vocab": "http://x/", "T": {"@context": {"@language": "en", "q": P}}}), '<s> <p> _:o . ;; _:o rdf:type <http://x/T> . ;; _:o <p> _:1 . ;; _:1 rdf:first "x" . ;; _:1 rdf:rest rdf:nil .'),
    # Graph containers
    (contained("@graph", NODE), GRAPH),
    (contained("@graph", [NODE]), GRAPH),
    (contained("@graph", {"@graph": NODE}), '<s> <p> _:g . ;; _:n <q> "x" _:h .'),
    (contained("@graph", {"@id": "http://e/o", Q: "x"}), '<s> <p> _:g . ;; <o> <q> "x" _:g .'),
    (contained("@graph", [NODE, NODE]), '<s> <p> _:g . ;; <s> <p> _:h . ;; _:n <q> "x" _:g . ;; _:m <q> "x" _:h .'),
    (contained(["@graph", "@set"], NODE), GRAPH),
    (contained("@graph", "x"), "<s> <p> _:g ."),
    (contained("@graph", {"@value": "x"}), "<s> <p> _:g ."),
    (contained("@graph", 1), "<s> <p> _:g ."),
    (contained("@graph", []), ""),
    (contained(["@graph", "@index"], {"i": NODE}), GRAPH),
    (contained(["@graph", "@index"], {"i": {"@graph": NODE}}), GRAPH),
    (contained(["@index", "@graph", "@set"], {"i": [NODE], "@none": []}), GRAPH),
    (with_p({"@container": ["@graph", "@index"], "@index": Q}, {"i": {"@id": "http://e/o", Q: "x"}}), '<s> <p> _:g . ;; _:g <q> "i" . ;; <o> <q> "x" _:g .'),
    (contained(["@graph", "@id"], {"http://e/g": NODE}), '<s> <p> <g> . ;; _:n <q> "x" <g> .'),
    (contained(["@graph", "@id"], {"@none": NODE}), GRAPH),
    (contained(["@graph", "@id"], {"g": {"@graph": [NODE]}}), '<s> <p> <http://base/d/g> . ;; _:n <q> "x" <http://base/d/g> .'),
    (contained(["@graph", "@id", "@set"], {"http://e/g": [NODE, {"@id": "http://e/o", Q: "y"}]}), '<s> <p> <g> . ;; _:n <q> "x" <g> . ;; <o> <q> "y" <g> .'),
    # Invalid containers
    *[
        (contained(container, "x"), "invalid container mapping")
        for container in (
            "@foo", "@value", "list", 1, {}, None, [], ["@list", "@set"], ["@list", "@index"],
            ["@index", "@language"], ["@id", "@type"], ["@graph", "@language"], ["@graph", "@type"],
            ["@graph", "@list"], ["@graph", "@id", "@index"], ["@index", "@foo"], [["@set"]], [1],
        )
    ],
]  # fmt: skip


@rows(CONTAINERS)
def test_containers_are_expanded(document, expected, remote):
    check(document, expected, remote)


# Graphs, nests, included blocks and reverse properties.
G = "http://e/g"


def doubly_reversed(entries: dict, value: Any) -> dict:
    """Returns a node with a reverse property in the @reverse of a value."""
    entries = {**entries, "@reverse": {"r": value}}
    return {"@context": {"r": {"@reverse": P}}, "@id": S, P: entries}


STRUCTURE = [
    ({"@graph": [{"@id": S, P: "x"}]}, '<s> <p> "x" .'),
    ({"@context": {}, "@graph": {"@id": S, P: "x"}}, '<s> <p> "x" .'),
    ({"@id": G, "@graph": [{"@id": S, P: "x"}]}, '<s> <p> "x" <g> .'),
    ({"@id": G, "@graph": [{"@id": S, P: "x"}], Q: "y"}, '<s> <p> "x" <g> . ;; <g> <q> "y" .'),
    ({"@graph": [{"@id": S, P: "x"}], Q: "y"}, '<s> <p> "x" _:g . ;; _:g <q> "y" .'),
    ({"@graph": [{"@graph": [{"@id": S, P: "x"}]}]}, '<s> <p> "x" _:g .'),
    ({"@id": "http://e/a", "@graph": [{"@id": G, "@graph": [{"@id": S, P: "x"}]}, {"@id": S, P: "y"}]}, '<s> <p> "x" <g> . ;; <s> <p> "y" <a> .'),
    ({"@id": G, "@graph": []}, ""),
    ([{"@id": "_:b", P: "x"}, {"@id": G, "@graph": [{"@id": "_:b", P: "y"}]}], '_:b <p> "x" . ;; _:b <p> "y" <g> .'),
    ({"@id": "_:g", "@graph": [{"@id": "_:g", P: {"@id": "_:g"}}]}, "_:g <p> _:g _:g ."),
    ({"@context": {"graph": "@graph"}, "graph": {"@id": S, P: "x"}}, '<s> <p> "x" .'),
    # @nest
    ({"@id": S, "@nest": {P: "x"}}, '<s> <p> "x" .'),
    ({"@id": S, "@nest": [{P: "x"}, {P: "y", Q: "z"}], Q: "w"}, '<s> <p> "x" . ;; <s> <p> "y" . ;; <s> <q> "z" . ;; <s> <q> "w" .'),
    ({"@context": {"n": "@nest"}, "n": {"@id": S, "n": {P: "x"}}, Q: "y"}, '<s> <p> "x" . ;; <s> <q> "y" .'),
    ({"@context": {"n": "@nest"}, "@id": S, "n": {P: "x"}, "@nest": {Q: "y"}}, '<s> <p> "x" . ;; <s> <q> "y" .'),
    ({"@id": S, "@nest": {"@type": "http://e/T"}}, "<s> rdf:type <T> ."),
    ({"@id": S, "@nest": {"@reverse": {P: {"@id": "http://e/o"}}}}, "<o> <p> <s> ."),
    ({"@id": S, "@nest": []}, ""),
    ({"@id": S, "@nest": {"@id": S}}, "colliding keywords"),
    ({"@id": S, "@nest": "x"}, "invalid @nest value"),
    ({"@id": S, "@nest": [1]}, "invalid @nest value"),
    ({"@id": S, "@nest": None}, "invalid @nest value"),
    ({"@id": S, "@nest": {"@value": "x"}}, "invalid @nest value"),
    ({"@context": {"v": "@value"}, "@id": S, "@nest": {"v": "x"}}, "invalid @nest value"),
    # A nesting term may have a context, which applies only within the nest.
    ({"@context": {"n": {"@id": "@nest", "@context": {"p": P}}, "p": Q}, "@id": S, "n": {"p": "x"}, "p": "y"}, '<s> <p> "x" . ;; <s> <q> "y" .'),
    ({"@context": {"n": {"@id": "@nest", "@context": {"@base": "http://e/"}}}, "n": {"@id": "s"}, P: {"@id": "o"}}, "<s> <p> <http://base/d/o> ."),
    ({"@context": {"n": {"@id": "@nest", "@context": {"p": P}}}, "@id": G, "n": {"@graph": {"@id": S, "p": "x"}}}, '<s> <p> "x" <g> .'),
    ({"@context": {"n": {"@id": "@nest", "@context": {"p": P}}}, "@id": G, "n": {"@included": {"@id": S, "p": "x"}}}, '<s> <p> "x" .'),
    # A context within a nested value is ignored.
    ({"@context": {"p": P}, "@id": S, "@nest": {"@context": {"p": Q}, "p": "x"}}, '<s> <p> "x" .'),
    (with_p({"@nest": "@nest"}, "x"), '<s> <p> "x" .'),
    (with_p({"@nest": "n"}, "x"), '<s> <p> "x" .'),
    (with_p({"@nest": "@id"}, "x"), "invalid @nest value"),
    (with_p({"@nest": 1}, "x"), "invalid @nest value"),
    # @included
    ({"@included": {"@id": S, P: "x"}}, '<s> <p> "x" .'),
    ({"@id": "http://e/o", Q: "y", "@included": [{"@id": S, P: "x"}, {}]}, '<o> <q> "y" . ;; <s> <p> "x" .'),
    ({"@id": G, "@graph": [{"@id": "http://e/o", "@included": [{"@id": S, P: "x"}]}]}, '<s> <p> "x" <g> .'),
    ({"@id": "http://e/o", P: {"@included": [{"@id": S, P: "x"}], Q: "y"}}, '<o> <p> _:b . ;; _:b <q> "y" . ;; <s> <p> "x" .'),
    ({"@context": {"i": "@included"}, "i": [{"@id": S, P: "x"}], "@included": [{"@id": S, P: "y"}]}, '<s> <p> "x" . ;; <s> <p> "y" .'),
    ({"@included": []}, ""),
    ({"@included": [{"@id": "http://e/o"}]}, ""),
    ({"@included": {}}, "invalid @included value"),
    ({"@included": "x"}, "invalid @included value"),
    ({"@included": {"@id": "http://e/o"}}, "invalid @included value"),
    ({"@included": {"@value": "x"}}, "invalid @included value"),
    ({"@included": {"@id": "http://e/o", "@language": "en"}}, ""),
    ({"@included": {"@language": "en"}}, "invalid @included value"),
    # A @reverse without an IRI adds nothing, so nothing is included.
    ({"@included": {"@reverse": {P: []}}}, ""),
    ({"@included": {"@reverse": {}}}, "invalid @included value"),
    ({"@included": {"@reverse": {"foo": {"@id": S}}}}, "invalid @included value"),
    ({"@included": {"@id": S, "@reverse": {"foo": []}}}, "invalid @included value"),
    ({"@included": [{"@reverse": {"foo": []}}]}, ""),
    # @reverse
    ({"@id": S, "@reverse": {P: {"@id": "http://e/o"}}}, "<o> <p> <s> ."),
    ({"@id": S, "@reverse": {P: [{"@id": "http://e/o", Q: "x"}, {}]}}, '<o> <p> <s> . ;; <o> <q> "x" . ;; _:b <p> <s> .'),
    ({"@id": S, "@reverse": {}}, ""),
    ({"@id": S, "@reverse": {P: None, Q: []}}, ""),
    ({"@id": S, P: {"@set": "x", "@reverse": {}}}, '<s> <p> "x" .'),
    ({"@id": S, P: {"@set": "x", "@reverse": {P: None, "foo": 1}}}, '<s> <p> "x" .'),
    ({"@id": S, P: {"@set": "x", "@reverse": {P: []}}}, "invalid set or list object"),
    ({"@id": S, P: {"@set": "x", "@reverse": {P: {"@id": "http://e/o"}}}}, "invalid set or list object"),
    ({"@id": S, P: {"@list": [], "@reverse": {}}}, "<s> <p> rdf:nil ."),
    ({"@id": S, P: {"@value": "x", "@reverse": {}}}, '<s> <p> "x" .'),
    ({"@id": S, P: {"@value": "x", "@reverse": {P: []}}}, "invalid value object"),
    ({"@id": S, P: {"@language": "en", "@reverse": {}}}, ""),
    # The map of @reverse is expanded before the object is checked.
    ({"@id": S, P: {"@value": "x", "@reverse": {"@value": "y"}}}, "invalid reverse property map"),
    ({"@id": S, P: {"@set": "x", "@reverse": {"@id": S}}}, "invalid reverse property map"),
    ({"@id": S, P: {"@language": "en", "@reverse": {P: {"@value": None, "@id": S}}}}, "invalid value object"),
    ({"@graph": {"@id": S, P: "x"}, "@reverse": {P: {"@value": None, "@id": S}}}, "invalid value object"),
    # The properties of a value are also expanded first.
    ({"@id": S, P: {"@value": "x", Q: {"@value": None}}}, '<s> <p> "x" .'),
    ({"@id": S, P: {"@value": "x", Q: {"@value": None, "@id": S}}}, "invalid value object"),
    # A doubly reversed property adds only its items.
    (doubly_reversed({"@value": "x"}, []), '<s> <p> "x" .'),
    (doubly_reversed({"@value": "x"}, [[], None, {"@set": []}]), '<s> <p> "x" .'),
    (doubly_reversed({"@value": "x"}, {"@id": "http://e/o"}), "invalid value object"),
    (doubly_reversed({"@set": ["x"]}, []), '<s> <p> "x" .'),
    (doubly_reversed({"@set": ["x"]}, {}), "invalid set or list object"),
    ({"@context": {"r": {"@reverse": P}}, "@graph": {"@id": S, P: "x"}, "@reverse": {"r": []}}, '<s> <p> "x" .'),
    ({"@context": {"r": {"@reverse": P, "@container": "@index"}}, "@graph": {"@id": S, P: "x"}, "@reverse": {"r": {"i": []}}}, '<s> <p> "x" .'),
    ({"@context": {"r": {"@reverse": P}}, "@graph": {"@id": S, P: "x"}, "@reverse": {P: []}}, '<s> <p> "x" _:b .'),
    ({"@id": S, "@reverse": {"foo": {"http://e/z": 3}}, "http://e/x": "foo"}, '<s> <x> "foo" .'),
    ({"@id": S, "@reverse": {"foo": "x", P: {"@id": "http://e/o"}}}, "<o> <p> <s> ."),
    ({"@id": G, "@graph": {"@id": S, "@reverse": {P: {"@id": "http://e/o"}}}}, "<o> <p> <s> <g> ."),
    ({"@id": S, "@reverse": "x"}, "invalid @reverse value"),
    ({"@id": S, "@reverse": []}, "invalid @reverse value"),
    ({"@id": S, "@reverse": {"@id": S}}, "invalid reverse property map"),
    ({"@id": S, "@reverse": {"@reverse": {}}}, "invalid reverse property map"),
    ({"@id": S, "@reverse": {"@nest": {}}}, "invalid reverse property map"),
    ({"@id": S, "@reverse": {P: "x"}}, "invalid reverse property value"),
    ({"@id": S, "@reverse": {P: {"@value": "x"}}}, "invalid reverse property value"),
    ({"@id": S, "@reverse": {P: {"@list": []}}}, "invalid reverse property value"),
    ({"@context": {"r": {"@reverse": P}}, "@id": S, "r": {"@id": "http://e/o"}}, "<o> <p> <s> ."),
    ({"@context": {"r": {"@reverse": P}}, "@id": S, "r": [{"@id": "http://e/o"}, {Q: "x"}]}, '<o> <p> <s> . ;; _:b <p> <s> . ;; _:b <q> "x" .'),
    ({"@context": {"r": {"@reverse": P, "@type": "@id"}}, "@id": S, "r": ["http://e/o", "http://e/n"]}, "<o> <p> <s> . ;; <n> <p> <s> ."),
    ({"@context": {"r": {"@reverse": P, "@container": "@set"}}, "@id": S, "r": {"@id": "http://e/o"}}, "<o> <p> <s> ."),
    ({"@context": {"r": {"@reverse": P, "@container": "@index"}}, "@id": S, "r": {"i": {"@id": "http://e/o"}}}, "<o> <p> <s> ."),
    ({"@context": {"r": {"@reverse": P, "@container": "@index", "@index": Q}}, "@id": S, "r": {"i": {"@id": "http://e/o"}}}, '<o> <p> <s> . ;; <o> <q> "i" .'),
    ({"@context": {"r": {"@reverse": P, "@container": ["@set"]}}, "@id": S, "r": {"@id": "http://e/o"}}, "<o> <p> <s> ."),
    ({"@context": {"r": {"@reverse": P, "@container": ["@index"]}}, "@id": S, "r": {"i": {"@id": "http://e/o"}}}, "<o> <p> <s> ."),
    ({"@context": {"r": {"@reverse": P, "@container": None}}, "@id": S, "r": {"@id": "http://e/o"}}, "<o> <p> <s> ."),
    ({"@context": {"r": {"@reverse": P, "@context": {"q": Q}}}, "@id": S, "r": {"@id": "http://e/o", "q": "x"}}, '<o> <p> <s> . ;; <o> <q> "x" .'),
    ({"@context": {"r": {"@reverse": P}}, "@id": S, "r": "x"}, "invalid reverse property value"),
    ({"@context": {"r": {"@reverse": P}}, "@id": S, "r": 1}, "invalid reverse property value"),
    ({"@context": {"q": {"@reverse": Q, "@container": "@index"}}, "@id": S, "q": {"x": {"@value": 1}}}, "invalid reverse property value"),
    ({"@context": {"r": {"@reverse": P, "@container": "@list"}}, P: 1}, "invalid reverse property"),
    ({"@context": {"r": {"@reverse": P, "@container": "@id"}}, P: 1}, "invalid reverse property"),
    ({"@context": {"r": {"@reverse": P, "@container": ["@id"]}}, P: 1}, "invalid reverse property"),
    ({"@context": {"r": {"@reverse": P, "@container": [None]}}, P: 1}, "invalid reverse property"),
    ({"@context": {"r": {"@reverse": P, "@container": []}}, P: 1}, "invalid reverse property"),
    ({"@context": {"r": {"@reverse": P, "@id": P}}, P: 1}, "invalid reverse property"),
    ({"@context": {"r": {"@reverse": P, "@nest": "@nest"}}, P: 1}, "invalid reverse property"),
    ({"@context": {"r": {"@reverse": 1}}, P: 1}, "invalid IRI mapping"),
    ({"@context": {"r": {"@reverse": "word"}}, P: 1}, "invalid IRI mapping"),
    ({"@context": {"r": {"@reverse": P, "@foo": 1}}, P: 1}, "invalid term definition"),
    ({"@context": {"r": {"@reverse": "@id"}}, "@id": S, "r": "x", P: "y"}, '<s> <p> "y" .'),
    # Reversed twice
    ({"@context": {"r": {"@reverse": P}}, "@id": S, "@reverse": {"r": {"@id": "http://e/o"}}}, "<s> <p> <o> ."),
    ({"@context": {"r": {"@reverse": P}}, "@id": S, "@reverse": {"r": {"@id": "http://e/o"}, Q: {"@id": "http://e/n"}}}, "<s> <p> <o> . ;; <n> <q> <s> ."),
    ({"@context": {"r": {"@reverse": P}}, "@id": S, "r": {"@id": "http://e/o"}, "@reverse": {Q: {"@id": "http://e/n"}}}, "<o> <p> <s> . ;; <n> <q> <s> ."),
    # The order of keys is irrelevant.
    ({P: {Q: "x", "@id": "http://e/o"}, "@id": S, "@context": {"p": P}}, '<s> <p> <o> . ;; <o> <q> "x" .'),
    ({"p": "x", "@type": "T", "@id": "s", "@context": {"@base": "http://e/", "@vocab": "http://e/", "T": {"@context": {"p": Q}}}}, '<s> rdf:type <T> . ;; <s> <q> "x" .'),
    # A scalar in a set in a graph, next to a term with @prefix.
    ({"@context": {"a": {"@id": "http://e/a", "@prefix": True}, "name": {"@id": "ex:q", "@container": "@graph"}}, "name": {"@set": "1"}}, "_:a <ex:q> _:b ."),
]  # fmt: skip


@rows(STRUCTURE)
def test_graphs_nests_included_blocks_and_reverse_properties_are_read(document, expected, remote):
    check(document, expected, remote)


def test_either_code_is_reported_for_a_value_with_two_errors():
    reverse = {"@reverse": P, "@container": "@index", "@index": Q}
    text = json.dumps({"@context": {"r": reverse}, "r": {"@none": "x", "i": "x"}})
    errors = reference.read(text, base="http://b/").errors
    assert errors == {"invalid reverse property value", "invalid value object"}
    _, error = decode("jsonld", text.encode())
    assert error is not None
    assert any(f"(JSON-LD: {code})" in error for code in errors)


# JSON literals, in the canonical form of RFC 8785.
JSON_LITERALS = [
    ("null", "null"),
    ("true", "true"),
    ('"x"', '"x"'),
    ("[]", "[]"),
    ("{}", "{}"),
    ('[ 1 , [ ] , { "b" : 2 , "a" : null } ]', '[1,[],{"a":null,"b":2}]'),
    ('{"@id": "x", "@context": {"a": 1}, "@value": []}', '{"@context":{"a":1},"@id":"x","@value":[]}'),
    # Keys are ordered by UTF-16 code units: U+1F600 is D83D DE00, which precedes U+FB33.
    (
        '{"\ufb33": 1, "\U0001f600": 2, "\u20ac": 3, "\\r": 4, "1": 5, "\u0080": 6, "\u00f6": 7}',
        '{"\\r":4,"1":5,"\u0080":6,"\u00f6":7,"\u20ac":3,"\U0001f600":2,"\ufb33":1}',
    ),
    ('{"aa": 1, "a": 2, "": 3, "A": 4, "a\\u0000": 5}', '{"":3,"A":4,"a":2,"a\\u0000":5,"aa":1}'),
    # Only short escapes, and \u00xx for other control characters.
    (r'"\u0000\u0008\u0009\u000a\u000b\u000c\u000d\u001f\u007f"', '"\\u0000\\b\\t\\n\\u000b\\f\\r\\u001f\u007f"'),
    (r'"\/\"\\\u0041\u00e9\ud83d\ude00\u2028"', '"/\\"\\\\A\u00e9\U0001f600\u2028"'),
    # Numbers as ECMAScript writes them.
    ("0", "0"),
    ("-0", "0"),
    ("-0.0", "0"),
    ("1.0", "1"),
    ("-1.50", "-1.5"),
    ("1E2", "100"),
    ("1e20", "100000000000000000000"),
    ("1e21", "1e+21"),
    ("123456789012345678901234", "1.2345678901234569e+23"),
    ("9007199254740993", "9007199254740992"),
    ("0.000001", "0.000001"),
    ("0.0000001", "1e-7"),
    ("1.5e-7", "1.5e-7"),
    ("-1e-7", "-1e-7"),
    ("0.1", "0.1"),
    ("4.50", "4.5"),
    ("2e-3", "0.002"),
    ("333333333.33333329", "333333333.3333333"),
    ("1E30", "1e+30"),
    ("0.000000000000000000000000001", "1e-27"),
    ("5e-324", "5e-324"),
    ("1.7976931348623157e308", "1.7976931348623157e+308"),
    ("295147905179352830000", "295147905179352830000"),
    ("999999999999999900000", "999999999999999900000"),
    ("999999999999999990000", "1e+21"),
    ("9.999999999999997e22", "9.999999999999997e+22"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "canonical"), JSON_LITERALS)
def test_json_literals_are_canonical(text, canonical, remote):
    lexical = canonical.replace("\\", "\\\\").replace('"', '\\"')
    expected = f'<s> <p> "{lexical}"^^rdf:JSON .'
    check(f'{{"@id": "{S}", "{P}": {{"@type": "@json", "@value": {text}}}}}', expected, remote)
    check(f'{{"@id": "{S}", "{P}": {{"@value": {text}, "@type": "@json"}}}}', expected, remote)
    typed_term = (
        f'{{"p": {text}, "@id": "{S}", "@context": {{"p": {{"@id": "{P}", "@type": "@json"}}}}}}'
    )
    check(typed_term, expected, remote)


JSON_POSITIONS = [
    # The container of a term with the type @json does not affect the content of the value.
    (with_p({"@type": "@json", "@container": "@index"}, {"b": 1, "a": []}), '<s> <p> "{\\"a\\":[],\\"b\\":1}"^^rdf:JSON .'),
    (with_p({"@type": "@json", "@container": "@language"}, {"en": 1}), '<s> <p> "{\\"en\\":1}"^^rdf:JSON .'),
    (with_p({"@type": "@json", "@container": "@list"}, [1]), '<s> <p> _:1 . ;; _:1 rdf:first "[1]"^^rdf:JSON . ;; _:1 rdf:rest rdf:nil .'),
    (with_p({"@type": "@json"}, [1, 2]), '<s> <p> "[1,2]"^^rdf:JSON .'),
    (with_p({"@type": "@json"}, None), '<s> <p> "null"^^rdf:JSON .'),
    (with_p({"@type": "j"}, {}, j="@json"), '<s> <p> "{}"^^rdf:JSON .'),
    ({"@context": {"t": "@type", "v": "@value", "j": "@json"}, "@id": S, P: {"t": "j", "v": {}}}, '<s> <p> "{}"^^rdf:JSON .'),
    (with_p({"@type": "@json"}, {"@value": 1, "@type": "@json"}), '<s> <p> "{\\"@type\\":\\"@json\\",\\"@value\\":1}"^^rdf:JSON .'),
    ({P: {"@value": {}, "@type": "@json", "@language": "en"}}, "invalid value object"),
    ({P: {"@value": {}, "@type": "@json", "@direction": "ltr"}}, "invalid value object"),
    ({"@id": S, P: {"@value": {}, "@type": "@json", "@index": "i"}}, '<s> <p> "{}"^^rdf:JSON .'),
    ({"@context": {"r": {"@reverse": P, "@type": "@json"}}, "r": {}}, "invalid reverse property value"),
]  # fmt: skip


@rows(JSON_POSITIONS)
def test_json_literals_may_occur_in_any_position(document, expected, remote):
    check(document, expected, remote)


# Base directions, in the four forms.
DIRECTED_VALUES = [
    ({"@value": "x", "@language": "EN", "@direction": "rtl"}, {
        "none": '<s> <p> "x"@EN .',
        "literal": '<s> <p> "x"@EN--rtl .',
        "i18n-datatype": '<s> <p> "x"^^<https://www.w3.org/ns/i18n#en_rtl> .',
        "compound-literal": '<s> <p> _:b . ;; _:b rdf:value "x" . ;; _:b rdf:language "en" . ;; _:b rdf:direction "rtl" .',
    }),
    ({"@value": "x", "@direction": "ltr"}, {
        "none": '<s> <p> "x" .',
        "i18n-datatype": '<s> <p> "x"^^<https://www.w3.org/ns/i18n#_ltr> .',
        "compound-literal": '<s> <p> _:b . ;; _:b rdf:value "x" . ;; _:b rdf:direction "ltr" .',
    }),
    ([{"@value": "x", "@direction": "ltr"}, {"@value": "x", "@direction": "ltr"}], {
        "compound-literal": '<s> <p> _:b . ;; _:b rdf:value "x" . ;; _:b rdf:direction "ltr" .',
    }),
    ({"@list": [{"@value": "x", "@direction": "ltr"}]}, {
        "compound-literal": """<s> <p> _:1 . ;; _:1 rdf:first _:b . ;; _:1 rdf:rest rdf:nil .
            _:b rdf:value "x" . ;; _:b rdf:direction "ltr" .""",
    }),
]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "direction", "expected"),
    [
        (value, direction, expected)
        for value, forms in DIRECTED_VALUES
        for direction, expected in forms.items()
    ],
)
def test_directions_are_converted_to_four_forms(value, direction, expected, remote):
    check({"@id": S, P: value}, expected, remote, rdf_direction=direction)


def test_equal_values_with_different_indexes_are_distinct(remote):
    two_values = """<s> <p> _:a . ;; _:a rdf:value "x" . ;; _:a rdf:direction "rtl" .
        <s> <p> _:b . ;; _:b rdf:value "x" . ;; _:b rdf:direction "rtl" ."""
    one_value = '<s> <p> _:a . ;; _:a rdf:value "x" . ;; _:a rdf:direction "rtl" .'
    indexed_value = {"@value": "x", "@index": "i", "@direction": "rtl"}
    for value, other, expected in (
        ({"i": "x"}, "x", two_values),
        ({"i": "x", "j": "x"}, [], two_values),
        ({"": "x"}, "x", two_values),
        ({"i": "x"}, indexed_value, one_value),
        ({"j": indexed_value}, indexed_value, one_value),
    ):
        context = {"p": {"@id": P, "@container": "@index"}, "@direction": "rtl"}
        document = {"@context": context, "@id": S, "p": value, P: other}
        check(document, expected, remote, rdf_direction="compound-literal")


EN, DIRECTION = {"@language": "en"}, {"@direction": "rtl"}
DIRECTIONS = [
    ({"@context": {**EN, **DIRECTION}, "@id": S, P: "x"}, '<s> <p> "x"@en--rtl .'),
    ({"@context": {**EN, **DIRECTION}, "@id": S, P: [1, True, {"@value": "x"}]}, '<s> <p> "1"^^xsd:integer . ;; <s> <p> "true"^^xsd:boolean . ;; <s> <p> "x" .'),
    ({"@context": {**EN, **DIRECTION, P: {"@direction": "ltr"}, Q: {"@direction": None}}, "@id": S, P: "x", Q: "y"}, '<s> <p> "x"@en--ltr . ;; <s> <q> "y"@en .'),
    ({"@context": [{**EN, **DIRECTION}, {"@direction": None}], "@id": S, P: "x"}, '<s> <p> "x"@en .'),
    ({"@context": [{**EN, **DIRECTION}, {"@vocab": "http://e/"}], "@id": S, "p": "x"}, '<s> <p> "x"@en--rtl .'),
    ({"@context": {"@direction": None}, "@id": S, P: "x"}, '<s> <p> "x" .'),
    (contained("@language", {"en": "x", "@none": []}, **DIRECTION), '<s> <p> "x"@en--rtl .'),
    (with_p({"@container": "@language", "@direction": "ltr"}, {"en": "x"}, **DIRECTION), '<s> <p> "x"@en--ltr .'),
    (with_p({"@container": "@language", "@direction": None}, {"en": "x"}, **DIRECTION), '<s> <p> "x"@en .'),
    ({"@context": {"@direction": "up"}, P: "x"}, "invalid base direction"),
    ({"@context": {"@direction": 1}, P: "x"}, "invalid base direction"),
    ({"@context": {P: {"@direction": "up"}}, P: "x"}, "invalid base direction"),
    ({P: {"@value": "x", "@direction": "up"}}, "invalid base direction"),
    ({P: {"@value": "x", "@direction": None}}, "invalid base direction"),
    ({P: {"@value": "x", "@direction": ["ltr"]}}, "invalid base direction"),
]  # fmt: skip


@rows(DIRECTIONS)
def test_directions_come_from_values_and_contexts(document, expected, remote):
    check(document, expected, remote, rdf_direction="literal")


# Contexts: scoped, propagated, protected, null, imported and remote.

V = {"@vocab": "http://e/"}
PROTECTED = {"@protected": True, "p": P}
CONTEXTS = [
    # The context of a property applies to its value and nested nodes.
    ({"@context": {"p": {"@id": P, "@context": {"q": Q}}, "q": "http://x/q"}, "@id": S, "p": {"q": "x", "r": 1}, "q": "y"}, '<s> <p> _:b . ;; _:b <q> "x" . ;; <s> <http://x/q> "y" .'),
    ({"@context": {"p": {"@id": P, "@context": {"q": Q}}}, "@id": S, "p": {P: {"q": "x"}}}, '<s> <p> _:b . ;; _:b <p> _:c . ;; _:c <q> "x" .'),
    (with_p({"@context": {"@language": "en"}}, "x"), '<s> <p> "x"@en .'),
    (with_p({"@context": {"@base": "http://b/"}, "@type": "@id"}, "o"), "<s> <p> <http://b/o> ."),
    (with_p({"@context": {"p": {"@id": P, "@type": "@id"}}}, "http://e/o"), "<s> <p> <o> ."),
    (with_p({"@context": {}}, {"p": "x"}), '<s> <p> _:b . ;; _:b <p> "x" .'),
    (with_p({"@context": []}, {"p": "x"}), '<s> <p> _:b . ;; _:b <p> "x" .'),
    (with_p({"@context": None}, {"q": "x", P: "y"}, q=Q), '<s> <p> _:b . ;; _:b <p> "y" .'),
    (with_p({"@context": [None, {"q": Q}]}, {"q": "x"}), '<s> <p> _:b . ;; _:b <q> "x" .'),
    (with_p({"@context": {"@base": "sub/"}}, {"@id": "o"}), "<s> <p> <http://base/d/sub/o> ."),
    (with_p({"@context": {"q": {"@id": Q, "@container": "@list"}}, "@container": "@set"}, [{"q": "x"}]), '<s> <p> _:b . ;; _:b <q> _:1 . ;; _:1 rdf:first "x" . ;; _:1 rdf:rest rdf:nil .'),
    (with_p({"@context": {"p": {"@reverse": Q}}}, {"p": {"@id": "http://e/o"}}), "<s> <p> _:b . ;; <o> <q> _:b ."),
    (with_p({"@context": {"p": Q}}, {"p": {"p": "x"}}), '<s> <p> _:b . ;; _:b <q> _:c . ;; _:c <q> "x" .'),
    # Keys of a map use the outer context.
    (with_p({"@context": {"@base": "http://b/"}, "@container": "@id"}, {"o": {}}), "<s> <p> <http://base/d/o> ."),
    (with_p({"@context": {"@vocab": "http://x/"}, "@container": "@type"}, {"T": {}}, **V), "<s> <p> _:b . ;; _:b rdf:type <T> ."),
    # The context of a type applies to the node, its types and values, but not to nested nodes.
    ({"@context": {**V, "T": {"@context": {"p": Q}}}, "@id": S, "@type": "T", "p": {"p": "x"}}, '<s> rdf:type <T> . ;; <s> <q> _:b . ;; _:b <p> "x" .'),
    ({"@context": {**V, "T": {"@context": {"p": {"@type": "@id"}}}}, "@id": S, "@type": "T", "p": "http://e/o"}, "<s> rdf:type <T> . ;; <s> <p> <o> ."),
    ({"@context": {**V, "T": {"@context": {"@language": "en"}}}, "@id": S, "@type": "T", "p": ["x", {"@value": "y"}, {"p": "z"}]}, '<s> rdf:type <T> . ;; <s> <p> "x"@en . ;; <s> <p> "y" . ;; <s> <p> _:b . ;; _:b <p> "z" .'),
    ({"@context": {**V, "T": {"@context": {"@base": "http://b/"}}}, "@id": "s", "@type": "T", "p": {"@id": "o"}}, "<http://b/s> rdf:type <T> . ;; <http://b/s> <p> <http://b/o> ."),
    ({"@context": {**V, "T": {"@context": {"@vocab": "http://x/"}}}, "@id": S, "@type": "T", "p": "x"}, '<s> rdf:type <T> . ;; <s> <http://x/p> "x" .'),
    # Value objects, and references with only @id, keep the context of the type.
    ({"@context": {**V, "D": "http://e/D", "T": {"@context": {"D": "http://x/D"}}}, "@id": S, "@type": "T", "p": {"@value": "x", "@type": "D", "@index": "i"}}, '<s> rdf:type <T> . ;; <s> <p> "x"^^<http://x/D> .'),
    # Contexts of several types apply in the order of the sorted type names. A context that one of
    # them defines for another of the types does not apply.
    ({"@context": {**V, "A": {"@context": {"p": "http://x/1"}}, "B": {"@context": {"p": Q}}}, "@id": S, "@type": ["B", "A"], "p": "x"}, '<s> rdf:type <A> . ;; <s> rdf:type <B> . ;; <s> <q> "x" .'),
    ({"@context": {**V, "A": {"@context": {"B": {"@id": "http://x/B", "@context": {"p": "http://x/1"}}}}, "B": {"@context": {"q": P}}}, "@id": S, "@type": ["A", "B"], "p": "x", "q": "y"}, '<s> rdf:type <A> . ;; <s> rdf:type <B> . ;; <s> <p> "x" . ;; <s> <p> "y" .'),
    ({"@context": {**V, "t": "@type", "T": {"@context": {"p": Q}}}, "@id": S, "t": "T", "p": "x"}, '<s> rdf:type <T> . ;; <s> <q> "x" .'),
    # The full IRI of a type does not refer to the term.
    ({"@context": {**V, "T": {"@context": {"p": Q}}}, "@id": S, "@type": "http://e/T", "p": "x"}, '<s> rdf:type <T> . ;; <s> <p> "x" .'),
    ({"@context": {**V, "T": {"@context": None}}, "@id": S, "@type": "T", "p": "x", Q: {"p": "y"}}, '<s> rdf:type <T> . ;; <s> <q> _:b . ;; _:b <p> "y" .'),
    # The context of a node applies before those of its types.
    ({"@context": {"p": "http://x/1"}, "@id": S, P: {"@context": {**V, "T": {"@context": {"p": Q}}}, "@type": "T", "p": "x"}}, '<s> <p> _:b . ;; _:b rdf:type <T> . ;; _:b <q> "x" .'),
    # @propagate
    ({"@context": {**V, "T": {"@context": {"@propagate": True, "p": Q}}}, "@id": S, "@type": "T", "p": {"p": "x"}}, '<s> rdf:type <T> . ;; <s> <q> _:b . ;; _:b <q> "x" .'),
    ({"@context": [V, {"@propagate": True, "p": Q}], "@id": S, "p": {"p": "x"}}, '<s> <q> _:b . ;; _:b <q> "x" .'),
    ({"@context": V, "@id": S, "p": {"@context": {"@propagate": False, "p": Q}, "p": {"p": "x"}}}, '<s> <p> _:b . ;; _:b <q> _:c . ;; _:c <p> "x" .'),
    ({"@context": {**V, "q": {"@id": Q, "@context": {"@propagate": False, "p": "http://x/p"}}}, "@id": S, "q": {"p": {"p": "x"}}}, '<s> <q> _:b . ;; _:b <http://x/p> _:c . ;; _:c <p> "x" .'),
    ({"@context": {"@propagate": 1}, P: "x"}, "invalid @propagate value"),
    ({"@context": {"@propagate": None}, P: "x"}, "invalid @propagate value"),
    # An error in a scoped context is reported at its definition, even if the context is unused.
    (with_p({"@context": {"q": "word"}}, 1), "invalid scoped context"),
    (with_p({"@context": 1}, 1), "invalid scoped context"),
    (with_p({"@context": {"@version": 2}}, 1), "invalid scoped context"),
    (with_p({"@context": "http://c/missing"}, 1), "invalid scoped context"),
    # Protected terms
    ({"@context": [PROTECTED, {"p": P}], "@id": S, "p": "x"}, '<s> <p> "x" .'),
    ({"@context": [PROTECTED, {"p": {"@id": P}}], "@id": S, "p": "x"}, '<s> <p> "x" .'),
    ({"@context": [PROTECTED, {"q": Q}], "@id": S, "q": "x"}, '<s> <q> "x" .'),
    ({"@context": [PROTECTED, {"p": Q}], P: 1}, "protected term redefinition"),
    ({"@context": [PROTECTED, {"p": {"@id": P, "@type": "@id"}}], P: 1}, "protected term redefinition"),
    ({"@context": [PROTECTED, {"p": None}], P: 1}, "protected term redefinition"),
    ({"@context": [PROTECTED, {"p": P}, {"p": Q}], P: 1}, "protected term redefinition"),
    ({"@context": [{"p": {"@id": P, "@protected": True}}, {"p": Q}], P: 1}, "protected term redefinition"),
    ({"@context": [{"@protected": True, "p": {"@id": P, "@protected": False}}, {"p": Q}], "@id": S, "p": "x"}, '<s> <q> "x" .'),
    ({"@context": [{"@protected": False, "p": P}, {"p": Q}], "@id": S, "p": "x"}, '<s> <q> "x" .'),
    ({"@context": [{**PROTECTED, "q": "p"}, {"q": Q}], P: 1}, "protected term redefinition"),
    ({"@context": PROTECTED, P: {"@context": {"p": Q}}}, "protected term redefinition"),
    ({"@context": {"@protected": 1}, P: 1}, "invalid @protected value"),
    ({"@context": {"p": {"@id": P, "@protected": 1}}, P: 1}, "invalid @protected value"),
    # A null context removes protected terms only in the scope of a property.
    ({"@context": [PROTECTED, None], P: 1}, "invalid context nullification"),
    ({"@context": PROTECTED, P: {"@context": None}}, "invalid context nullification"),
    ({"@context": {**PROTECTED, "T": {"@id": "http://e/T", "@context": None}}, "@type": "T"}, "invalid context nullification"),
    ({"@context": {**PROTECTED, "q": {"@id": Q, "@context": None}}, "@id": S, "q": {"p": 1, P: "x"}}, '<s> <q> _:b . ;; _:b <p> "x" .'),
    ({"@context": {**PROTECTED, "q": {"@id": Q, "@context": {"p": "http://x/p"}}}, "@id": S, "q": {"p": "x"}}, '<s> <q> _:b . ;; _:b <http://x/p> "x" .'),
    ({"@context": {**PROTECTED, "q": {"@id": Q, "@context": {"p": "http://x/p"}}}, "@id": S, "q": "x"}, '<s> <q> "x" .'),
    ({"@context": {**PROTECTED, "T": {"@id": "http://e/T", "@context": {"p": Q}}}, "@type": "T", P: 1}, "protected term redefinition"),
    ({"@context": [V, None, {"q": Q}], "@id": S, "p": 1, "q": "x"}, '<s> <q> "x" .'),
    ({"@context": V, "@id": S, P: {"@context": None, "q": 1, Q: "x"}}, '<s> <p> _:b . ;; _:b <q> "x" .'),
    # Remote contexts
    ({"@context": "http://c/vocab", "@id": S, "p": "x"}, '<s> <p> "x" .'),
    ({"@context": ["http://c/vocab", "http://c/p"], "@id": S, "p": "http://e/o"}, "<s> <p> <o> ."),
    ({"@context": ["http://c/p", {"p": P}], "@id": S, "p": "x"}, '<s> <p> "x" .'),
    ({"@context": "http://c/array", "@id": S, "p": "x"}, '<s> <p> "x" .'),
    ({"@context": "http://c/d/relative", "@id": S, "p": "http://e/o"}, "<s> <p> <o> ."),
    ({"@context": "http://c/scoped", "@id": S, "p": {"p": "http://e/o"}}, "<s> <p> _:b . ;; _:b <p> <o> ."),
    # A context that refers to itself in the scope of a term is loaded when the term is used.
    ({"@context": "http://c/itself", "@id": S, "p": {"p": {"p": "x"}}}, '<s> <p> _:b . ;; _:b <p> _:c . ;; _:c <p> "x" .'),
    ({"@context": "http://c/loop", P: 1}, "context overflow"),
    ({"@context": "http://c/list", P: 1}, "invalid remote context"),
    ({"@context": "http://c/empty", P: 1}, "invalid remote context"),
    ({"@context": "http://c/missing", P: 1}, "loading remote context failed"),
    ({"@context": ["http://c/protected", {"p": Q}], P: 1}, "protected term redefinition"),
    # @import
    ({"@context": {"@import": "http://c/vocab", "p": {"@type": "@id"}}, "@id": S, "p": "http://e/o", "q": "x"}, '<s> <p> <o> . ;; <s> <q> "x" .'),
    ({"@context": {"@import": "http://c/p", "q": "http://x/q"}, "@id": S, "p": "http://e/o", "q": "x"}, '<s> <p> <o> . ;; <s> <http://x/q> "x" .'),
    ({"@context": {"@import": "http://c/p", "@protected": True}, "@id": S, P: {"@context": {"p": Q}}}, "protected term redefinition"),
    ({"@context": {"@import": "http://c/p", "p": None}, "@id": S, "p": "x", "q": "y"}, '<s> <q> "y" .'),
    ({"@context": {"@import": "http://c/base"}, "@id": "s", "p": "x"}, '<http://other/s> <p> "x" .'),
    ({"@context": {**V, "T": {"@context": {"@import": "http://c/p", "@propagate": True}}}, "@id": S, "@type": "T", "p": "http://e/o"}, "<s> rdf:type <T> . ;; <s> <p> <o> ."),
    ({"@context": {"@import": 1}, P: 1}, "invalid @import value"),
    ({"@context": {"@import": ["http://c/p"]}, P: 1}, "invalid @import value"),
    ({"@context": {"@import": "http://c/array"}, P: 1}, "invalid remote context"),
    ({"@context": {"@import": "http://c/empty"}, P: 1}, "invalid remote context"),
    ({"@context": {"@import": "http://c/list"}, P: 1}, "invalid remote context"),
    ({"@context": {"@import": "http://c/imports"}, P: 1}, "invalid context entry"),
    ({"@context": {"@import": "http://c/missing"}, P: 1}, "loading remote context failed"),
]  # fmt: skip


@rows(CONTEXTS)
def test_contexts_are_processed_as_specified(document, expected, remote):
    check(document, expected, remote)


def test_relative_urls_of_contexts_are_resolved_against_the_document(remote):
    document = {"@context": ["vocab", {"@import": "p"}], "@id": S, "p": "http://e/o", "r": "x"}
    expected = '<s> <p> <o> . ;; <s> <r> "x" .'
    check(document, expected, remote, base="http://c/x")


EXPAND_CONTEXTS = [
    (V, {"@id": S, "p": "x"}, '<s> <p> "x" .'),
    ({"@context": V, "@graph": []}, {"@id": S, "p": "x"}, '<s> <p> "x" .'),
    ({"@context": [V, {"p": {"@type": "@id"}}]}, {"@id": S, "p": "http://e/o"}, "<s> <p> <o> ."),
    ({"@base": "http://e/", **V}, {"@id": "s", "p": "x"}, '<s> <p> "x" .'),
    # The document's contexts apply afterwards; a null context also clears `expand_context`.
    (V, {"@context": {"p": Q}, "@id": S, "p": "x", "r": "y"}, '<s> <q> "x" . ;; <s> <r> "y" .'),
    (V, {"@context": None, "@id": S, "p": "x", Q: "y"}, '<s> <q> "y" .'),
    (PROTECTED, {"@context": {"p": Q}, "p": 1}, "protected term redefinition"),
    (PROTECTED, {"@context": None, "p": 1}, "invalid context nullification"),
    ({"@context": "http://c/vocab"}, {"@id": S, "p": "x"}, '<s> <p> "x" .'),
]  # fmt: skip


@pytest.mark.parametrize(("context", "document", "expected"), EXPAND_CONTEXTS)
def test_expand_context_precedes_other_contexts(context, document, expected, remote, tmp_path):
    check(document, expected, remote, expand_context=context)
    messages, error = decode(
        "jsonld",
        json.dumps(document).encode(),
        expand_context=json.dumps(context),
        base="http://base/d/doc",
        context=remote,
    )
    if error is None:
        assert isomorphic(messages[0], expected_quads(expected))
    else:
        assert f"(JSON-LD: {expected})" in error
    path = tmp_path / "context.jsonld"
    path.write_text(json.dumps(context))
    for argument in (path, str(path)):
        result = decode(
            "jsonld",
            json.dumps(document).encode(),
            expand_context=argument,
            base="http://base/d/doc",
            context=remote,
        )
        assert result == (messages, error)


def test_expand_context_applies_to_every_message():
    lines = b'{"@id":"http://e/a","p":"x"}\n{"@context":{"q":"http://e/q"}}\n{"@id":"http://e/b","q":"y","r":"z"}\n'
    messages, error = decode("ndjsonld", lines, expand_context=V)
    assert error is None
    assert isomorphic(messages[0], expected_quads('<a> <p> "x" .'))
    assert isomorphic(messages[1], expected_quads('<b> <q> "y" . ;; <b> <r> "z" .'))


def test_a_null_context_line_also_clears_expand_context():
    lines = b'{"@context":null}\n{"@id":"http://e/a","p":"x","http://e/q":"y"}\n'
    messages, error = decode("ndjsonld", lines, expand_context=V)
    assert error is None
    assert isomorphic(messages[0], expected_quads('<a> <q> "y" .'))
    _, error = decode("ndjsonld", lines, expand_context=PROTECTED)
    assert "(JSON-LD: invalid context nullification)" in error


@pytest.mark.parametrize(
    ("context", "reason"),
    [
        ("{", "is not valid JSON"),
        ({"p": 1}, "invalid term definition"),
        ({"p": "word"}, "invalid IRI mapping"),
        (1, "expand_context must be a JSON file, JSON text or a dict"),
        ("missing.jsonld", "missing.jsonld: No such file"),
    ],
)
def test_an_invalid_expand_context_is_rejected(context, reason):
    with pytest.raises((rdfm.OptionError, rdfm.DecodeError)) as caught:
        formats.find("jsonld").decode(b"{}", expand_context=context)
    assert reason in str(caught.value)


# Text: escapes, duplicate keys, positions.

ESCAPES = [
    (r'{"\u0040id": "http:\/\/e\/s", "http:\u002f/e/p": "a\u0062\n\"\\\/"}', r'<s> <p> "ab\n\"\\/" .'),
    (r'{"@context": {"\u0070": "http://e/p", "@\u0076ocab": "http://e/"}, "@id": "http://e/s", "p": "x", "\u0071": "y"}', '<s> <p> "x" . ;; <s> <q> "y" .'),
    (r'{"@context": {"p": {"@\u0069d": "http://e/p", "@type": "@\u0069d"}}, "@id": "http://e/s", "p": "http://e/\u006f"}', "<s> <p> <o> ."),
    (r'{"@id": "http://e/s", "http://e/p": {"@val\u0075e": "\ud83d\ude00\u00e9", "@language": "\u0065n"}}', '<s> <p> "\U0001f600\u00e9"@en .'),
    (r'{"@context": {"\u00e9": "http://e/p"}, "@id": "http://e/s", "é": "x"}', '<s> <p> "x" .'),
    ('{"@id": "http://e/s", "http://e/\U0001f600\u00e9": "x"}', '<s> <\U0001f600\u00e9> "x" .'),
    ('\n\t {"@id" :\r\n"http://e/s" , "http://e/p":[ "x" ,\n"y" ] }\n ', '<s> <p> "x" . ;; <s> <p> "y" .'),
]  # fmt: skip


@rows(ESCAPES)
def test_escapes_and_white_space_are_read(document, expected, remote):
    check(document, expected, remote)


DUPLICATES = [
    ('{"@id": "http://e/s", "http://e/p": 1, "http://e/p": "x"}', "http://e/p", '<s> <p> "x" .'),
    ('{"@id": "http://e/a", "http://e/p": "x", "@id": "http://e/s"}', "@id", '<s> <p> "x" .'),
    (r'{"@id": "http://e/s", "http://e/p": 1, "http://e/\u0070": "x"}', "http://e/p", '<s> <p> "x" .'),
    ('{"@context": {"p": "http://e/q", "p": "http://e/p"}, "@id": "http://e/s", "p": "x"}', "p", '<s> <p> "x" .'),
    ('{"@context": {"p": "word"}, "@context": {"p": "http://e/p"}, "@id": "http://e/s", "p": "x"}', "@context", '<s> <p> "x" .'),
    ('{"@id": "http://e/s", "http://e/p": {"@value": {}, "@value": "x"}}', "@value", '<s> <p> "x" .'),
    ('{"@id": "http://e/s", "foo": {"a": 1, "a": 2}, "http://e/p": "x"}', "a", '<s> <p> "x" .'),
    ('{"@id": "http://e/s", "http://e/p": {"@type": "@json", "@value": {"b": 1, "b": 2}}}', "b", '<s> <p> "{\\"b\\":2}"^^rdf:JSON .'),
    ('{"@context": {"p": {"@id": "http://e/q", "@id": "http://e/p"}}, "@id": "http://e/s", "p": "x"}', "@id", '<s> <p> "x" .'),
    ('{"@context": {"p": {"@id": "http://e/p", "@container": "@language"}}, "@id": "http://e/s", "p": {"en": 1, "en": "x"}}', "en", '<s> <p> "x"@en .'),
]  # fmt: skip


@pytest.mark.parametrize(("text", "key", "expected"), DUPLICATES)
def test_duplicate_keys_are_errors_unless_lenient(text, key, expected):
    for name in ("jsonld", "ndjsonld"):
        messages, error = decode(name, f"{text}\n".encode())
        assert error is not None, messages
        assert repr(key) in error
        assert re.search(r"line 1, column \d+", error)
        messages, error = decode(name, f"{text}\n".encode(), lenient=True)
        assert error is None
        assert isomorphic(messages[0], expected_quads(expected)), messages[0]


ERROR_POSITIONS = [
    ('{\n "@id": 1\n}', 2, 9),
    ('{\n "http://e/p": {\n  "@value": "x",\n  "@language": 5}}', 4, 16),
    ('{"@context": {\n "p": {"@id": "http://e/p",\n  "@container": "@foo"}}}', 3, 17),
    ('{"@context": {"p":\n 1}}', 2, 2),
    ('{"http://e/p": [{}, {"@type":\n\n   {}}]}', 3, 4),
    ('{"@reverse":\n {"http://e/p":\n  "x"}}', 3, 3),
    ('{"@graph": [{"@index":\n1}]}', 2, 1),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "column"), ERROR_POSITIONS)
def test_an_error_has_the_position_of_the_value(text, line, column):
    messages, error = decode("jsonld", text.encode())
    assert error is not None, messages
    assert f"(line {line}, column {column}, " in error


def test_an_error_in_a_remote_context_names_the_context(tmp_path):
    path = tmp_path / "c"
    path.write_text('{"@context": {"p": 1}}')
    document = b'{\n"@context": "http://c/wrong"}'
    _, error = decode("jsonld", document, context={"http://c/wrong": str(path)})
    assert error is not None
    assert "(JSON-LD: invalid term definition)" in error
    assert "http://c/wrong" in error


# Data that JSON-LD drops silently, and invalid terms: errors unless lenient.

OMITTED_DATA = [
    ({"@context": {"@base": None}, "@id": "s", P: "x"}, ""),
    ({"@context": {"@base": None}, "@id": S, P: {"@id": "o"}, Q: "x"}, '<s> <q> "x" .'),
    ({"@context": {"@base": None}, "@id": S, "@type": ["T", "http://e/T"]}, "<s> rdf:type <T> ."),
    ({"@context": {"@base": None}, "@id": "g", "@graph": {"@id": S, P: "x"}}, ""),
    ({"@context": {"@base": None}, "@id": "s", P: {"@id": "http://e/o", Q: "x"}}, '<o> <q> "x" .'),
    ({"@id": S, P: {"@id": "http://e/a b"}, Q: "x"}, '<s> <q> "x" .'),
    ({"@id": "http://e/a<b", P: "x"}, ""),
    ({"@id": S, "http://e/a b": "x", Q: "x"}, '<s> <q> "x" .'),
    ({"@id": S, "_:p": "x", Q: "x"}, '<s> <q> "x" .'),
    ({"@context": {"p": "_:p"}, "@id": S, "p": {"@id": "http://e/o", Q: "x"}}, '<o> <q> "x" .'),
    ({"@id": S, P: {"@value": "x", "@language": "a b"}, Q: "x"}, '<s> <q> "x" .'),
    ({"@context": {"@language": "123456789"}, "@id": S, P: "x", Q: 1}, '<s> <q> "1"^^xsd:integer .'),
    # A dropped item keeps its list cell; the cells of a dropped list are dropped too.
    ({"@id": S, P: {"@list": [{"@id": "http://e/a b"}]}}, "<s> <p> _:1 . ;; _:1 rdf:rest rdf:nil ."),
    ({"@context": {"@base": None}, "@id": "s", P: {"@list": ["x"]}}, ""),
    ({"@id": S, "_:p": {"@list": ["x"]}}, ""),
    ({"@context": {"@base": None}, "@id": "g", "@graph": {"@id": S, P: {"@list": ["x"]}}}, ""),
    # A type map key is not relative to the base.
    (contained("@type", {"T": {"@id": "http://e/o"}}), "<s> <p> <o> ."),
    ({"@id": S, P: {"@id": "@foo"}, Q: "x"}, '<s> <q> "x" .'),
    ({"@id": "@foo", P: "x"}, ""),
    ({"@id": S, "@type": ["@foo", "http://e/T"]}, "<s> rdf:type <T> ."),
    ({"@context": {"id": "@id"}, "@id": S, P: {"@id": "id"}, Q: "x"}, '<s> <q> "x" .'),
]  # fmt: skip


@rows(OMITTED_DATA)
def test_invalid_terms_are_errors_unless_lenient(document, expected, remote):
    text = json.dumps(document)
    found = reference.read(text, base="http://base/d/doc")
    assert found.omitted
    assert isomorphic(found.quads, expected_quads(expected)), found.quads
    for name, data in encodings(document):
        messages, error = decode(name, data, base="http://base/d/doc")
        assert error is not None, messages
        assert "lenient=True" in error
        messages, error = decode(name, data, base="http://base/d/doc", lenient=True)
        assert error is None
        assert isomorphic(messages[0], expected_quads(expected)), messages[0]


def test_list_cells_and_nodes_of_dropped_values_are_dropped_too():
    """The node of a compound literal is omitted for a value in a graph or below an invalid IRI."""
    value = {"@value": "x", "@direction": "ltr"}
    for document, expected in [
        (contained("@graph", value), "<s> <p> _:g ."),
        ({"@id": S, "_:p": value}, ""),
        ({"@id": "http://e/a b", P: value}, ""),
        (with_p({"@container": "@index", "@index": Q}, {"i": []}, **DIRECTION), ""),
    ]:
        data = json.dumps(document).encode()
        messages, error = decode("jsonld", data, rdf_direction="compound-literal", lenient=True)
        assert error is None
        assert isomorphic(messages[0], expected_quads(expected)), messages[0]


def test_each_node_has_a_separate_direction():
    index = {"i": [{"@id": "http://e/o"}, {"@id": "http://e/n"}]}
    document = with_p({"@container": "@index", "@index": Q}, index, **DIRECTION)
    messages, error = decode(
        "jsonld", json.dumps(document).encode(), rdf_direction="compound-literal"
    )
    assert error is None
    direction_quads = '_:{0} rdf:value "i" . ;; _:{0} rdf:direction "rtl" .'
    expected = "<s> <p> <o> . ;; <s> <p> <n> . ;; <o> <q> _:1 . ;; <n> <q> _:2 ."
    expected_text = " ;; ".join([expected, direction_quads.format(1), direction_quads.format(2)])
    assert isomorphic(messages[0], expected_quads(expected_text)), messages[0]


def test_invalid_datatype_iris_are_errors_even_with_lenient():
    for datatype in ("http://e/a b", "rel", "_:b"):
        data = json.dumps({"@context": {"@base": None}, P: {"@value": "x", "@type": datatype}})
        for lenient in (False, True):
            _, error = decode("jsonld", data.encode(), lenient=lenient)
            assert error is not None
            assert "(JSON-LD: invalid typed value)" in error


# Keys without an IRI

DROPPED_KEYS = [
    ({P: "x"}, []),
    ({"foo": 1, P: "x", "bar": {"baz": 1, P: 2}}, ["foo", "bar"]),
    ({P: {"foo": 1, Q: [{"foo": 2}, {"bar": 3}]}}, ["foo", "foo", "bar"]),
    ({"@id": S, "@reverse": {"foo": {"bar": 1}, P: {"@id": "http://e/o"}}}, ["foo"]),
    # Keys are counted even in a @reverse that adds nothing to the object.
    ({"@graph": [{P: 1}], "@reverse": {"foo": 1, "bar": []}}, ["foo", "bar"]),
    ({P: {"@value": 1, "@reverse": {"foo": 1}}}, ["foo"]),
    ({P: {"@set": [1], "@reverse": {"foo": 1}}}, ["foo"]),
    ({P: {"@list": [1], "@reverse": {"foo": 1}}}, ["foo"]),
    ({"@language": "en", "@reverse": {"foo": 1}}, ["foo"]),
    ({"@nest": {"foo": 1}, "@included": [{"bar": 1, P: 2}]}, ["foo", "bar"]),
    ({"@graph": [{"foo": 1}, {"foo": 2}]}, ["foo", "foo"]),
    # Terms intentionally mapped to null, and everything below them, are not counted.
    ({"@context": {"foo": None, "bar": {"@id": None}}, "foo": {"baz": 1}, "bar": 1, P: 2}, []),
    ({"@context": {"@vocab": "http://e/"}, "foo": 1}, []),
    # Keys of a JSON literal, a map or a context, which do not belong to a node, are not counted.
    ({P: {"@type": "@json", "@value": {"foo": 1}}}, []),
    (contained("@index", {"foo": {Q: 1}}), []),
    (contained("@language", {"foo": "x"}), []),
    (contained("@id", {"foo": {"bar": 1}}), ["bar"]),
    ({"@context": {"foo": P}, "foo": 1}, []),
    # Content below a dropped key is not inspected.
    ({"foo": {"@id": 1, "@value": {}}, P: 1}, ["foo"]),
    ({"foo": [{"@context": 1}], P: 1}, ["foo"]),
    ({"": 1, P: 2}, [""]),
    ({"": {"en": "a"}, P: 2}, [""]),
]  # fmt: skip


@pytest.mark.parametrize(("document", "keys"), DROPPED_KEYS)
def test_keys_without_an_iri_are_counted(document, keys):
    dropped_keys = reference.read(json.dumps(document), base="http://b/").dropped
    assert sorted(dropped_keys) == sorted(keys)
    for name, data in encodings(document):
        decoder = formats.find(name).Decoder(base="http://b/")
        decoder.feed(data)
        decoder.finish()
        decoder.next_batch()
        header = decoder.header()
        assert header.get("dropped_keys", 0) == len(keys), name
        assert header.get("dropped_key") in (map(repr, keys) if keys else [None]), name


def test_keys_without_an_iri_are_counted_over_all_messages(tmp_path):
    log = tmp_path / "log.ndjsonld"
    lines = [{"@id": S, P: "x", "name": at, "age": at} for at in range(6)]
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    summary = rdfm.convert(log, tmp_path / "log.nq")
    assert summary.dropped == {"keys": 12}
    assert summary.dropped_key == "'name'"
    messages, error = outcome(lambda: formats.find("ndjsonld").Decoder(), log.read_bytes(), 7)
    assert error is None
    assert len(messages) == 6


def test_keys_of_a_message_with_an_error_are_not_counted():
    decoder = formats.find("jsonld").Decoder()
    decoder.feed(json.dumps({"foo": 1, "@id": 1}).encode())
    decoder.finish()
    with pytest.raises(rdfm.DecodeError):
        decoder.next_batch()
    assert decoder.header().get("dropped_keys", 0) == 0


def test_every_error_code_has_a_test_case():
    tables = (IRIS, BASES, VALUES, CONTAINERS, STRUCTURE, JSON_POSITIONS, DIRECTIONS, CONTEXTS)
    codes = {expected for table in tables for _, expected in table if expected in ERROR_CODES}
    assert codes == {*ERROR_CODES}
