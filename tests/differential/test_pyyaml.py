"""YAML-LD written by rdfm, read as JSON structures by PyYAML with YAML 1.1 and the core schema."""

import json
import math
import re

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from logs import logs
from nquads import isomorphic, literal
from support import as_batch, decode

from rdfm import formats


class CoreLoader(yaml.SafeLoader):
    """PyYAML with the core schema of YAML 1.2 instead of the types of YAML 1.1."""

    yaml_implicit_resolvers: dict = {}  # noqa: RUF012 (as PyYAML declares it)


CORE = {
    "null": (r"~|null|Null|NULL|", "~nN\0"),
    "bool": (r"true|True|TRUE|false|False|FALSE", "tTfF"),
    "int": (r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    "float": (
        r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        "-+.0123456789",
    ),
}
for name, (pattern, first) in CORE.items():
    CoreLoader.add_implicit_resolver(
        f"tag:yaml.org,2002:{name}", re.compile(f"^(?:{pattern})$"), [*first.replace("\0", ""), ""]
    )


def integer(loader, node):
    text = node.value
    return int(text, 8 if text.startswith("0o") else 16 if text.startswith("0x") else 10)


CoreLoader.add_constructor("tag:yaml.org,2002:int", integer)
CoreLoader.add_constructor(
    "tag:yaml.org,2002:float",
    lambda _loader, node: float(node.value.lower().replace(".inf", "inf").replace(".nan", "nan")),
)

# Strings that some YAML readers would read as other types.
WORDS = r"""
y Y no NO on Off yes null Null ~ true TRUE .inf .nan -.INF 1_000 012 0o14 0x1F 12:30 12:30:45 1e3 +1 .5 1.
2022-08-08 2001-12-14T21:59:43.10-05:00 = << - ? : | > & * ! % @ ` # , [ ] { } a: a:b :a a# a\ #a -a --- ...
' " a' "a" !!str !a &a *a |a >a %a @a `a
"""
OTHER_STRINGS = (
    *(
        "",
        " ",
        " a",
        "a ",
        "a b",
        "a: b",
        "a #b",
        "a, b",
        "- a",
        "? a",
        "a -b",
        "a {b",
        "Hello (again).",
    ),
    *("a\tb", "a\n b", "\n", "a\n", "\x85", "\ufeff", "\u2028", "\x7f", "é", "x" * 3000),
)
words = st.sampled_from([*WORDS.split(), *OTHER_STRINGS])
strings = st.builds(literal, words | st.text(st.characters(exclude_categories=["Cs"]), max_size=8))


@pytest.mark.parametrize("loader", [yaml.SafeLoader, yaml.CSafeLoader, CoreLoader])
@pytest.mark.parametrize("contexts", ["first", "every", "none"])
@given(log=logs(triples=False), data=st.data())
def test_documents_have_the_structure_of_ndjson_ld(loader, contexts, log, data):
    subject_and_predicate = ("iri", "http://example.org/s"), ("iri", "http://example.org/p")
    log = [
        *log,
        [(*subject_and_predicate, text, None) for text in data.draw(st.lists(strings, max_size=5))],
    ]
    batch = as_batch(log)
    prefixes = {"ex": "http://example.org/", "x": "urn:x", "no": "http://a.b/"}
    outputs = []
    for make in (formats.ndjsonld.Encoder, formats.yamlld.Encoder):
        encoder = make(context_lines=contexts, prefixes=prefixes)
        outputs.append((encoder.encode(batch) + encoder.finish()).decode())
    lines, documents = outputs
    expected = [json.loads(line) for line in lines.split("\n")[:-1]]
    assert list(yaml.load_all(documents, loader)) == expected, documents


def test_blocks_have_the_usual_style():
    ex = "http://example.org/"
    rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

    def iri(local):
        return ("iri", ex + local)

    xsd = "http://www.w3.org/2001/XMLSchema#"
    message = [
        (iri("a"), ("iri", rdf + "type"), iri("T"), None),
        (iri("a"), iri("name"), literal("Alice Smith"), None),
        (iri("a"), iri("answer"), literal("no"), None),
        (iri("a"), iri("age"), literal("42", datatype=xsd + "integer"), None),
        (iri("a"), iri("knows"), ("bnode", "b"), None),
        (iri("a"), iri("knows"), iri("c"), None),
        (("bnode", "b"), iri("name"), literal("Bob", "en"), None),
        (iri("g"), iri("p"), literal("1"), iri("g")),
    ]
    encoder = formats.yamlld.Encoder(prefixes={"ex": ex})
    data = encoder.encode(as_batch([message, [], message[:1]])) + encoder.finish()
    assert (
        data.decode()
        == """\
"@context":
  ex: http://example.org/
---
"@included":
  - "@id": ex:a
    "@type": ex:T
    ex:name: Alice Smith
    ex:answer: "no"
    ex:age: 42
    ex:knows:
      - ex:name:
          "@value": Bob
          "@language": en
      - "@id": ex:c
  - "@id": ex:g
    "@graph":
      - "@id": ex:g
        ex:p: "1"
---
{}
---
"@id": ex:a
"@type": ex:T
...
"""
    )


@pytest.mark.parametrize("length", [900, 990, 1100, 70_000])
def test_long_keys_are_read_back(length):
    subject = ("iri", "http://example.org/s")
    predicate = ("iri", "http://example.org/" + "p" * length)
    message = [(subject, predicate, literal("x"), None), (subject, predicate, subject, None)]
    data = formats.yamlld.Encoder().encode(as_batch([message]))
    expected = {"@id": subject[1], predicate[1]: ["x", {"@id": subject[1]}]}
    assert yaml.safe_load(data) == expected


# U+0085 and U+2028 are line breaks in YAML 1.1, and so in PyYAML. PyYAML ignores the tag `!`.
PYYAML_DIFFERENCES = {"\x85", "\u2028", "!"}


@pytest.mark.parametrize("word", sorted({*WORDS.split(), *OTHER_STRINGS} - PYYAML_DIFFERENCES))
def test_plain_scalars_follow_the_core_schema(word):
    text = f'"@id": http://e/s\nhttp://e/p: {word}\n'
    found, error = decode("yamlld", text.encode())
    try:
        value = yaml.load(text, CoreLoader)
    except yaml.YAMLError:
        return  # libraries accept different inputs
    if isinstance(value["http://e/p"], float) and not math.isfinite(value["http://e/p"]):
        assert "JSON cannot represent the number" in error
        return
    if error:
        assert "tag" in error or "invalid YAML" in error
        return
    expected, _ = decode("jsonld", json.dumps(value).encode())
    assert isomorphic(found[0], expected[0])


@pytest.mark.parametrize("loader", [yaml.SafeLoader, yaml.CSafeLoader])
def test_an_empty_log_is_read_by_all_loaders(loader):
    assert list(yaml.load_all(formats.yamlld.Encoder().finish(), loader)) == [{"@context": {}}]
