"""Messages beside rdflib and pyoxigraph, and in notebooks."""

import pyoxigraph
import pytest
import rdflib

from rdfm import (
    Bnode,
    EncodeError,
    Iri,
    LimitError,
    Literal,
    Message,
    Quad,
    TripleTerm,
    UnsupportedError,
)
from rdfm.interop import to_html

S, P, OBJ, G = (Iri(f"http://example.org/{name}") for name in "spog")
XSD = "http://www.w3.org/2001/XMLSchema#"
PLAIN = [
    Quad(S, P, OBJ),
    Quad(S, P, Literal("plain")),
    Quad(S, P, Literal("tagged", language="en-gb"), G),
    Quad(Bnode("a"), P, Literal("01", datatype=XSD + "integer"), G),
    Quad(Bnode("a"), P, Bnode("b"), Bnode("g")),
    Quad(S, P, Literal("not a date", datatype=XSD + "date")),
]


def test_rdflib_and_back():
    message = Message(PLAIN, namespaces={"ex": "http://example.org/"})
    dataset = message.to_rdflib()
    assert isinstance(dataset, rdflib.Dataset)
    assert dict(dataset.namespaces())["ex"] == rdflib.URIRef("http://example.org/")
    back = Message.from_rdflib(dataset)
    assert set(back.quads) == set(PLAIN)
    assert back.namespaces == {"ex": "http://example.org/"}


def test_a_graph_of_rdflib_is_one_message():
    graph = rdflib.Graph().parse(data="@prefix ex: <http://example.org/> . ex:s ex:p 1 .")
    assert [str(quad) for quad in Message.from_rdflib(graph)] == [
        f'<http://example.org/s> <http://example.org/p> "1"^^<{XSD}integer> .'
    ]


@pytest.mark.parametrize(
    ("quad", "reason"),
    [
        (Quad(S, P, TripleTerm(S, P, OBJ)), "triple terms"),
        (Quad(S, P, Literal("x", language="ar", direction="rtl")), "base directions"),
        (Quad(S, P, OBJ, Literal("g")), "graph name"),
        (Quad(S, P, Literal("x", language="e n")), "language"),
    ],
)
def test_rdflib_refuses_what_it_cannot_hold(quad, reason):
    with pytest.raises(EncodeError, match=reason):
        Message([quad]).to_rdflib()


def test_variables_are_no_terms():
    graph = rdflib.Graph()
    graph.add((rdflib.URIRef("http://e/s"), rdflib.URIRef("http://e/p"), rdflib.Variable("x")))
    with pytest.raises(UnsupportedError, match="Variable"):
        Message.from_rdflib(graph)


def test_oxigraph_and_back():
    rdf12 = [
        Quad(S, P, TripleTerm(S, P, TripleTerm(S, P, Bnode("a")))),
        Quad(S, P, Literal("x", language="ar", direction="rtl")),
    ]
    dataset = Message(PLAIN + rdf12).to_oxigraph()
    assert isinstance(dataset, pyoxigraph.Dataset)
    assert set(Message.from_oxigraph(dataset).quads) == {*PLAIN, *rdf12}


def test_labels_that_oxigraph_refuses_are_rewritten_one_to_one():
    labels = ["a b", "a.", "", "_gx612062", "_gx61", "_gx", "a", "é"]
    message = Message([Quad(Bnode(label), P, Literal(label)) for label in labels])
    back = Message.from_oxigraph(message.to_oxigraph())
    assert len({quad.subject for quad in back}) == len(labels)
    assert {quad.subject.value for quad in back} == set(labels)


@pytest.mark.parametrize(
    "quad",
    [
        Quad(Literal("s"), P, OBJ),
        Quad(S, Bnode("p"), OBJ),
        Quad(S, P, OBJ, Literal("g")),
        Quad(Iri("a b"), P, OBJ),
    ],
)
def test_oxigraph_refuses_what_it_cannot_hold(quad):
    with pytest.raises(EncodeError, match="pyoxigraph: cannot hold"):
        Message([quad]).to_oxigraph()


def test_deep_triple_terms_are_an_answer_or_an_error_of_ours():
    deep, other = Bnode("a"), Bnode("b")
    for _ in range(1000):
        deep, other = TripleTerm(S, P, deep), TripleTerm(S, P, other)
    message = Message([Quad(S, P, deep)])
    assert message.isomorphic(Message([Quad(S, P, other)]))
    assert not message.isomorphic(Message([Quad(S, P, OBJ)]))
    with pytest.raises(EncodeError, match="cannot name"):
        message.canonical()
    with pytest.raises(LimitError, match="nest deeper than Python"):
        message.to_oxigraph()
    assert "TripleTerm" not in to_html(message)


def test_html_escapes_terms_and_links_only_the_web():
    quads = [
        Quad(Iri("javascript:alert(1)"), P, Literal("<script>alert('x')</script>")),
        Quad(Iri('http://example.org/"onclick="x'), P, OBJ, G),
    ]
    table = to_html(Message(quads))
    assert "<script" not in table
    assert 'href="javascript' not in table
    assert 'href="http://example.org/&quot;onclick=&quot;x"' in table
    assert "<th>graph</th>" in table
    assert Message(quads)._repr_html_() == table


def test_html_says_how_much_it_leaves_out():
    table = to_html(Message([Quad(S, P, Literal(str(i))) for i in range(12)]), rows=10)
    assert table.count("<tr>") == 11
    assert "and 2 more quads" in table
