"""Trusty URIs: codes, the structure of nanopublications, and codes in IRIs."""

import nanopubs
import pytest
from nanopubs import BASE, NP, PLACEHOLDER, iri, literal, triple

import rdfm
from rdfm.nanopub import trusty

# Artifact code of the specification's example, as computed by the author of the specification.
EXAMPLE = "RAH-UOollyCX32XCS7iHNUded59E3pDpu4wrHPcB-yy-8"


def messages(*quads):
    with rdfm.open_log(nanopubs.nq(*quads), "nq") as log:
        return list(log)


def reason(quads):
    return trusty.verify(messages(quads) if quads else [rdfm.Message([])])[0]


def test_the_example_of_the_specification_has_its_code():
    subject, graph = iri("http://example.org/n/ "), iri("http://example.org/n/ /g")
    objects = [
        iri("http://example.org/n/ /x"),
        literal("1"),
        literal("1", datatype="http://www.w3.org/2001/XMLSchema#integer"),
        literal("a\\b\nc", "EN"),
        literal("1", "en"),
    ]
    quads = [(subject, iri("http://example.org/p"), each, graph) for each in objects]
    assert nanopubs.code_of(quads) == EXAMPLE
    (message,) = messages(nanopubs.with_code(quads, EXAMPLE))
    assert trusty.artifact_code(message, EXAMPLE) == EXAMPLE
    assert trusty.artifact_code(message) != EXAMPLE


def test_a_nanopublication_with_its_own_code_is_valid():
    assert reason(nanopubs.trusty()) is None


def test_batches_and_lists_of_messages_give_the_same_reasons():
    quads = [nanopubs.trusty(), [], nanopubs.with_code(nanopubs.nanopub(), "x")]
    batch = rdfm.MessageBatch.from_messages(messages(*quads))
    reasons = trusty.verify(batch)
    assert reasons == trusty.verify(list(batch))
    assert [each is None for each in reasons] == [True, False, False]


@pytest.mark.parametrize("part", [0, 1])
def test_parts_of_messages_are_rejected(part):
    lines = "".join(f"<http://e/{number}> <http://e/p> <http://e/o> .\n" for number in range(9000))
    with rdfm.open_log(lines.encode(), "nq", parts=True) as log:
        batch = list(log.batches())[part]
    with pytest.raises(ValueError, match="a part of a message, expected complete messages"):
        trusty.verify(batch)


def test_items_that_are_not_messages_are_rejected():
    with pytest.raises(TypeError):
        trusty.verify([1])


@pytest.mark.parametrize(
    ("base", "separator"),
    [(BASE + PLACEHOLDER, "/"), (BASE + PLACEHOLDER, "#"), ("http://e/" + PLACEHOLDER, ".")],
)
def test_the_separator_before_graph_names_does_not_matter(base, separator):
    assert reason(nanopubs.trusty(nanopubs.nanopub(base, separator=separator))) is None


def test_order_and_repetition_do_not_matter():
    quads = nanopubs.trusty()
    assert reason([*reversed(quads), quads[0], quads[3]]) is None


CHANGES = {
    "object": (
        triple("http://e/s", "http://e/p", "http://e/o"),
        ("http://e/s", "http://e/p", "http://e/O"),
    ),
    "language": (
        triple("http://e/s", "http://e/p", literal("a", "en")),
        ("http://e/s", "http://e/p", literal("a", "de")),
    ),
    "datatype": (
        triple("http://e/s", "http://e/p", literal("1")),
        ("http://e/s", "http://e/p", literal("1", datatype="http://e/d")),
    ),
    "line feed": (
        triple("http://e/s", "http://e/p", literal("a\r\nb")),
        ("http://e/s", "http://e/p", literal("a\nb")),
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_invalidates_the_code(name):
    before, after = CHANGES[name]
    quads = nanopubs.trusty(nanopubs.nanopub(assertion=[before]))
    assert reason(quads) is None
    graph = quads[4][3]
    changed = [(*triple(*after), graph) if quad[3] == graph else quad for quad in quads]
    assert reason(changed) == (
        f"the artifact code of the quads is {nanopubs.code_of(changed, nanopubs.own_code(quads))}, "
        f"but the IRI contains {nanopubs.own_code(quads)}"
    )


def test_the_case_of_language_tags_does_not_matter():
    upper = nanopubs.nanopub(assertion=[triple("http://e/s", "http://e/p", literal("a", "EN-gb"))])
    code = nanopubs.code_of(upper)
    lower = nanopubs.nanopub(assertion=[triple("http://e/s", "http://e/p", literal("a", "en-GB"))])
    assert reason(nanopubs.with_code(lower, code)) is None


UNHASHABLE = {
    "there is a blank node _:b, expected only IRIs": "<http://e/s> <http://e/p> _:b .\n",
    "there is a triple term, which RDF 1.1 does not support": (
        "<http://e/s> <http://e/p> <<( <http://e/s> <http://e/p> <http://e/o> )>> .\n"
    ),
    "there is a literal with a base direction, which RDF 1.1 does not support": (
        '<http://e/s> <http://e/p> "a"@en--ltr .\n'
    ),
}


@pytest.mark.parametrize("text", UNHASHABLE)
def test_the_error_explains_why_quads_have_no_code(text):
    with rdfm.open_log(UNHASHABLE[text].encode(), "nq") as log:
        (message,) = log
    with pytest.raises(ValueError) as caught:
        trusty.artifact_code(message)
    assert str(caught.value) == text


def test_iris_with_a_tab_have_no_code():
    quad = rdfm.Quad(rdfm.Iri("http://e/a\tb"), rdfm.Iri("http://e/p"), rdfm.Iri("http://e/o"))
    with pytest.raises(ValueError, match="contains a tab or a line feed"):
        trusty.artifact_code([quad])


def test_blank_nodes_prevent_a_code():
    quads = nanopubs.trusty()
    quads.append((("bnode", "b"), iri("http://e/p"), iri("http://e/o"), quads[4][3]))
    assert reason(quads) == (
        "the artifact code cannot be computed: there is a blank node _:b, expected only IRIs"
    )


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f"http://e/{EXAMPLE}", EXAMPLE),
        (f"http://e/{EXAMPLE}.trig", EXAMPLE),
        (f"http://e/x{EXAMPLE}", f"x{EXAMPLE}"),
        (f"http://e/{EXAMPLE}/head", None),
        (f"http://e/{EXAMPLE[:24]}", None),
        (f"http://e/{EXAMPLE[:25]}", EXAMPLE[:25]),
        (EXAMPLE, None),
    ],
)
def test_codes_are_found_in_iris(text, code):
    assert trusty.find_code(text) == code


# --- structure: each rule has its own message ---

N = BASE + "1"


def nanopub(**parts):
    return nanopubs.nanopub(N, **parts)


def with_object(quads, predicate, object):
    return [
        (s, p, iri(object) if p == iri(predicate) else o, g) if object else (s, p, o, g)
        for s, p, o, g in quads
        if object or p != iri(predicate)
    ]


def without_graph(name):
    return [quad for quad in nanopub() if quad[3] != iri(f"{N}/{name}")]


def with_quad(*quad):
    return [*nanopub(), quad]


STRUCTURE = {
    "the message is empty, expected a nanopublication": [],
    "no quad has rdf:type np:Nanopublication, expected one in the head": [
        quad for quad in nanopub() if quad[2] != iri(NP + "Nanopublication")
    ],
    f"two quads declare an np:Nanopublication, <{N}> and <http://e/other>, expected one": with_quad(
        *triple("http://e/other", nanopubs.RDF_TYPE, NP + "Nanopublication"), iri(N + "/head")
    ),
    "the message contains 2 nanopublications, expected one": [
        *nanopub(),
        *nanopubs.nanopub(BASE + "2"),
    ],
    "the nanopublication _:n is not identified by an IRI": [
        (("bnode", "n") if quad[0] == iri(N) else quad[0], *quad[1:]) for quad in nanopub()
    ],
    "a quad is in the default graph, expected one of the four named graphs": with_quad(
        *triple("http://e/s", "http://e/p", "http://e/o"), None
    ),
    f"<{N}> has no np:hasAssertion in the head, expected one": with_object(
        nanopub(), NP + "hasAssertion", None
    ),
    f"<{N}> has no np:hasProvenance in the head, expected one": with_object(
        nanopub(), NP + "hasProvenance", None
    ),
    f"<{N}> has no np:hasPublicationInfo in the head, expected one": with_object(
        nanopub(), NP + "hasPublicationInfo", None
    ),
    f"np:hasAssertion has the values <{N}/assertion> and <{N}/x>, expected one value": with_quad(
        *triple(N, NP + "hasAssertion", N + "/x"), iri(N + "/head")
    ),
    'the value of np:hasAssertion is "x", expected an IRI': [
        (s, p, literal("x") if p == iri(NP + "hasAssertion") else o, g) for s, p, o, g in nanopub()
    ],
    f"the assertion and the provenance are the same graph <{N}/assertion>": with_object(
        nanopub(), NP + "hasProvenance", N + "/assertion"
    ),
    f"the assertion graph has the IRI of the nanopublication, <{N}>": with_object(
        nanopub(), NP + "hasAssertion", N
    ),
    f"the IRI of the assertion graph, <http://e/a>, does not begin with that of the nanopublication, <{N}>": (
        with_object(nanopub(), NP + "hasAssertion", "http://e/a")
    ),
    f"the graph <{N}/fifth> is not one of the four graphs of the nanopublication": with_quad(
        *triple("http://e/s", "http://e/p", "http://e/o"), iri(N + "/fifth")
    ),
    f"the assertion graph <{N}/assertion> is empty": without_graph("assertion"),
    f"the provenance graph <{N}/provenance> is empty": without_graph("provenance"),
    f"the publication info graph <{N}/info> is empty": without_graph("info"),
    f"no quad of the provenance is about the assertion graph <{N}/assertion>": [
        *without_graph("provenance"),
        (*triple("http://e/s", "http://e/p", "http://e/o"), iri(N + "/provenance")),
    ],
    f"no quad of the publication info is about the nanopublication <{N}>": [
        *without_graph("info"),
        (*triple("http://e/s", "http://e/p", "http://e/o"), iri(N + "/info")),
    ],
    f"<{N}> is not a trusty URI: expected RA and 43 more characters at its end": nanopub(),
}


@pytest.mark.parametrize("text", STRUCTURE)
def test_each_rule_has_its_own_message(text):
    assert reason(STRUCTURE[text]) == text


def test_long_iris_are_shortened_in_messages():
    base = BASE + "a" * 5000
    quads = nanopubs.nanopub(base)
    assert reason(quads) == (
        f"<{BASE}{'a' * (80 - 1 - len(BASE))}…{'a' * 79}> is not a trusty URI: "
        "expected RA and 43 more characters at its end"
    )
