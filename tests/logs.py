"""Hypothesis strategies for logs: lists of messages, each a list of quads as `nquads` tuples."""

import re
import string
from functools import cache

from hypothesis import strategies as st
from nquads import literal

from rdfm import formats

# Strings that might end a token, a line or a message prematurely.
TRICKY_STRINGS = (
    "",
    '"',
    "\\",
    '"""',
    "'''",
    "\n# @message\n",
    "MESSAGE\n",
    "@message .",
    "> . <http://evil/s> <http://evil/p> <http://evil/o> .",
    "\r\n",
    "\t \x00\x01\x1f\x7f\x85\xa0",
    "\u2028\u2029\u202e\ufeff",
    "é\u0301\u4e80\U0001f422\U0010ffff",
    "\ufffe\uffff",
    "\\u0041 \\n",
)
SEGMENT_CHARACTERS = string.ascii_letters + string.digits + "é亀-._~"

lexicals = st.sampled_from(TRICKY_STRINGS) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=12
)
segments = st.text(SEGMENT_CHARACTERS, max_size=8)
iris = st.builds(
    lambda path, query, fragment: (
        "iri",
        f"http://example.org/{path}"
        + (f"?{query}" if query else "")
        + (f"#{fragment}" if fragment else ""),
    ),
    st.lists(segments, max_size=3)
    .map("/".join)
    .filter(lambda path: ".." not in path and "./" not in path),
    segments,
    segments,
) | st.sampled_from(
    [
        ("iri", value)
        for value in ("urn:x", "http://example.org/a%20b", "http://a.b/MESSAGE", "x:#@message")
    ]
)
plain_labels = st.from_regex(r"[A-Za-z0-9_]([A-Za-z0-9_.-]{0,6}[A-Za-z0-9_-])?", fullmatch=True)
bnodes = st.builds(
    lambda label: ("bnode", label),
    plain_labels
    | st.sampled_from(
        ["_g0", "_gu1", "_gx", "_gx41", "a b", "é", "-", ".", "x> .", "MESSAGE", "\n", "é\0"]
    ),
)
plain_bnodes = st.builds(lambda label: ("bnode", label), plain_labels)
tags = st.from_regex(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8}){0,2}", fullmatch=True)
directions = st.sampled_from([None, None, "ltr", "rtl"])


# pyoxigraph accepts only language tags that are well-formed according to BCP 47.
well_formed_tags = st.sampled_from(["en", "fr", "en-GB", "de-CH-1996", "zh-Hans", "sl-rozaj-biske"])


def literals_of(strings, tags=tags):
    return (
        st.builds(literal, strings)
        | st.builds(literal, strings, tags, directions)
        | st.builds(lambda lexical, datatype: literal(lexical, datatype=datatype[1]), strings, iris)
        | numbers
    )


numbers = st.sampled_from(
    [
        literal(text, datatype=f"http://www.w3.org/2001/XMLSchema#{name}")
        for name, text in [
            *(("integer", text) for text in ("1", "+01", "-0", "x")),
            *(("decimal", text) for text in ("1.5", "1.", ".5")),
            *(("double", text) for text in ("1e3", "INF", "1.E-1")),
            *(("boolean", text) for text in ("true", "1")),
        ]
    ]
)
literals = literals_of(lexicals)
tagged_literals = literals_of(lexicals, well_formed_tags)
plain_literals = literals_of(
    st.text(st.sampled_from(string.printable[:95] + "éż亀\n\t"), max_size=12), well_formed_tags
)


@cache
def triple_terms(subjects, predicates, objects):
    """Returns a strategy for triple terms (RDF 1.2 or generalized) with up to three leaves."""
    return st.recursive(
        st.builds(lambda s, p, o: ("triple", s, p, o), subjects, predicates, objects),
        lambda inner: st.builds(lambda s, p, o: ("triple", s, p, o), subjects, predicates, inner),
        max_leaves=3,
    )


def in_xml(text: str) -> str:
    """Returns a string without the characters that XML 1.0 forbids."""
    return re.sub("[^\\t\\n\\r -\ufffd\U00010000-\U0010ffff]", "", text)


xml_literals = literals_of(lexicals.map(in_xml))
# Each IRI ends with an XML name.
xml_predicates = iris.map(lambda iri: ("iri", f"{iri[1]}p"))


@cache
def quads(*, graphs: bool, generalized: bool, triples: bool, any_text: bool, plain: str):
    """Returns a strategy for quads that a format supports.

    `plain` restricts the quads to those that other libraries accept: "tags" restricts the language
    tags, and "terms" also the blank node labels and the lexical forms.
    """
    blank_nodes = plain_bnodes if plain == "terms" else bnodes
    texts = {"": literals, "tags": tagged_literals, "terms": plain_literals}[plain]
    texts = texts if any_text or plain == "terms" else xml_literals
    predicate_iris = iris if any_text else xml_predicates
    nodes, terms = iris | blank_nodes, iris | blank_nodes | texts
    if generalized:
        generalized_terms = terms | triple_terms(terms, terms, terms)
        subjects = predicates = objects = generalized_terms
        names = terms
    else:
        subjects, predicates, objects, names = nodes, predicate_iris, terms, nodes
        if triples:
            objects = terms | triple_terms(nodes, predicate_iris, terms)
    graph = st.none() | names if graphs else st.none()
    return st.tuples(subjects, predicates, objects, graph)


@st.composite
def logs(
    draw,
    *,
    graphs: bool = True,
    generalized: bool = False,
    triples: bool = True,
    any_text: bool = True,
    plain: str = "",
    boundaries: bool = True,
):
    """Draws a log of up to five messages or, without `boundaries`, of exactly one.

    Messages may be empty. Quads and terms may occur several times.
    """
    any_quad = quads(
        graphs=graphs, generalized=generalized, triples=triples, any_text=any_text, plain=plain
    )
    pool = draw(st.lists(any_quad, min_size=1, max_size=6))
    mixed = st.builds(
        lambda a, b, c, d: (a[0], b[1], c[2], d[3]),
        *(st.sampled_from(pool) for _ in range(4)),
    )
    message = st.lists(st.sampled_from(pool) | mixed, max_size=6)
    return draw(
        st.lists(message, max_size=5) if boundaries else st.lists(message, min_size=1, max_size=1)
    )


def logs_for(*names, boundaries=None):
    """Returns a strategy for logs that all these formats support.

    If `boundaries` is false, each log has exactly one message. By default, it is false if any of
    the formats has no message boundaries.
    """
    carries = [formats.find(name).spec.carries for name in names]
    return logs(
        graphs=all(each["graphs"] for each in carries),
        generalized=all(each["generalized"] for each in carries),
        triples=all(each["triple_terms"] != "no" for each in carries),
        any_text=all(each["any_text"] for each in carries),
        boundaries=all(each["boundaries"] for each in carries)
        if boundaries is None
        else boundaries,
    )
