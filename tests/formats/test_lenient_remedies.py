"""An error suggests `lenient` only if lenient reading gets past it."""

import json

import pytest

from rdfm import formats
from rdfm.errors import DecodeError

IRIS = [
    *("a", "", "#a", "//e/a", "?a", ":a", "1:a", "_:a", "http://e/a[1]", "http://[::1", "urn:a^b"),
    *("http://e/a b", "http://e/%zz", "http://e/{a}", 'http://e/"a"', "http://e/a|b", "http://e/`"),
    *(r"http://e/\u0020x", r"http://e/\u003Ex", r"http://e/\u0000", r"http://e/\uD800"),
    *(r"http://e/\u00e9", r"http://e/\U00110000", r"http://e/\x", r"\u0020", r"a\u0020b"),
    *("http://e/\\", "http://e/\x7f", "http://e/\u00a0", "http://e/\ufffe", "http://e/\U000e0000"),
]
LANGUAGES = ["en", "1en", "en-", "-en", "toolonglanguage", "en-toolonglanguage", "en_US", ""] + [
    f"en--{direction}" for direction in ("ltr", "LTR", "xyz", "")
]
TEXTS = ["a", r"\u00", r"\uD800", r"\uD83D\uDE00", r"\x", "\n", "\r", "\x00", "\ufffe", r"\u0000"]
LABELS = ["a", "a.", ".a", "-a", "·a", "1a", "a b", "", "a:b", "a/b", "é", "a\u00d7"]
DATATYPES = [
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString",
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#dirLangString",
    "http://www.w3.org/2001/XMLSchema#string",
]

TRIPLES = [
    *(("<{}> <http://e/p> <http://e/o> .\n", IRIS), ("<http://e/s> <{}> <http://e/o> .\n", IRIS)),
    ("<http://e/s> <http://e/p> <{}> .\n", IRIS),
    ('<http://e/s> <http://e/p> "a"^^<{}> .\n', [*IRIS, *DATATYPES]),
    ('<http://e/s> <http://e/p> "a"@{} .\n', LANGUAGES),
    ('<http://e/s> <http://e/p> "{}" .\n', TEXTS),
    ("_:{} <http://e/p> <http://e/o> .\n", LABELS),
    ("<http://e/s> <http://e/p> <<( <{}> <http://e/p> <http://e/o> )>> .\n", IRIS),
    ("<http://e/s> <http://e/p> <http://e/o>\n", [""]),
    ('VERSION "{}"\n', ["1.1", "2", "1.2-messages", "x"]),
    ("# @message\nMESSAGE\n", [""]),
]
GRAPHS = [("<http://e/s> <http://e/p> <http://e/o> <{}> .\n", IRIS)]
TURTLE = [
    *TRIPLES,
    ("@prefix e: <{}> .\n", IRIS),
    ("PREFIX e: <{}>\n", IRIS),
    ("@base <{}> .\n", IRIS),
    ("BASE <{}>\n<a> <b> <c> .\n", IRIS),
    ("@prefix {}: <http://e/> .\n", LABELS),
    ("@prefix e: <http://e/> .\n<http://e/s> <http://e/p> e:{} .\n", [*LABELS, "%z", r"\x", r"\~"]),
    ('@version "{}" .\n', ["1.1", "2", "1.2-messages", "x"]),
    ("@message .\n", [""]),
    ("<http://e/s> <http://e/p> {} .\n", ["1.", "+", "1e", ".5", "01", "'a'", "true1", "a", "(1"]),
]
PATCH = [
    *((f"A {text}", values) for text, values in [*TRIPLES[:8], *GRAPHS]),
    ("H key <{}> .\n", IRIS),
    ("PA e <{}> .\n", IRIS),
    ("PA {} <http://e/> .\n", LABELS),
    ("TX .\nTX .\n", [""]),
    ("TC .\n", [""]),
]
XML = [
    (
        f'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">{text}'
        "</rdf:RDF>",
        values,
    )
    for text, values in [
        ('<rdf:Description rdf:about="{}"><e:p>a</e:p></rdf:Description>', IRIS),
        ('<rdf:Description><e:p rdf:resource="{}"/></rdf:Description>', IRIS),
        ('<rdf:Description><e:p rdf:datatype="{}">a</e:p></rdf:Description>', [*IRIS, *DATATYPES]),
        ('<rdf:Description xml:base="{}" rdf:about="a"><e:p>a</e:p></rdf:Description>', IRIS),
        ('<rdf:Description xml:lang="{}"><e:p>a</e:p></rdf:Description>', LANGUAGES),
        ('<rdf:Description rdf:nodeID="{}"><e:p>a</e:p></rdf:Description>', LABELS),
        ('<rdf:Description rdf:ID="{}"><e:p>a</e:p></rdf:Description>', LABELS),
        ('<rdf:Description e:{}="a"/>', LABELS),
        ('<rdf:Description xmlns:f="{}"><f:p>a</f:p></rdf:Description>', IRIS),
    ]
]
LOGS = {
    "nt": TRIPLES,
    "nq": [*TRIPLES, *GRAPHS],
    "ttl": TURTLE,
    "trig": [*TURTLE, ("<{}> { <http://e/s> <http://e/p> <http://e/o> }\n", IRIS)],
    "rdf-patch": PATCH,
    "rdfxml": [(text, [v for v in values if not set(v) & set('<"&')]) for text, values in XML],
}


def json_documents():
    for value in [*IRIS, *LANGUAGES, *TEXTS, *LABELS]:
        for document in (
            {"@id": value, "http://e/p": "a"},
            {"@id": "http://e/s", "@type": value},
            {"http://e/p": {"@value": "a", "@type": value}},
            {"http://e/p": {"@value": "a", "@language": value}},
            {"http://e/p": {"@value": value, "@type": DATATYPES[0]}},
            {"@context": {"@base": value}, "@id": "a", "http://e/p": "a"},
            {"@context": {"@vocab": value}, "p": "a"},
            {"@context": {"e": value}, "e:p": "a"},
            {"@context": {"@language": value}, "http://e/p": "a"},
            {"@graph": [{"http://e/p": "a"}], "@id": value},
            {value: "a"},
        ):
            yield json.dumps(document)


def error_of(format, text, **options):
    try:
        format.decode(text.encode(), **options)
    except DecodeError as error:
        return error
    return None


@pytest.mark.parametrize("name", [*LOGS, "jsonld", "ndjsonld", "yamlld"])
def test_lenient_reading_gets_past_errors_that_suggest_it(name):
    format = formats.find(name)
    logs = LOGS.get(name)
    texts = (
        json_documents()
        if logs is None
        else (text.replace("{}", value) for text, values in logs for value in values)
    )
    suggested = 0
    for text in texts:
        strict = error_of(format, text)
        if strict is None or all(remedy.option != "lenient" for remedy in strict.remedies):
            continue
        suggested += 1
        lenient = error_of(format, text, lenient=True)
        assert lenient is None or (lenient.line, lenient.column) > (strict.line, strict.column), (
            text,
            str(strict),
            str(lenient),
        )
    assert suggested or name == "ndjsonld"
