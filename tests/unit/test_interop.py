"""Messages beside rdflib and pyoxigraph, RDFC-1.0, notebooks."""

import itertools

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


def test_canonical_texts_are_equal_for_isomorphic_messages():
    one = Message([Quad(Bnode("a"), P, Bnode("b")), Quad(Bnode("b"), P, Literal('"\n'), G)])
    two = Message([Quad(Bnode("y"), P, Literal('"\n'), G), Quad(Bnode("x"), P, Bnode("y"))])
    assert one.canonical() == two.canonical()
    assert one.canonical() == (
        f'_:c14n0 <{P.value}> "\\"\\n" <{G.value}> .\n_:c14n1 <{P.value}> _:c14n0 .\n'
    )


@pytest.mark.parametrize(
    ("quad", "says"),
    [
        (Quad(S, P, TripleTerm(S, P, Bnode("a"))), "cannot name the blank nodes of a triple term"),
        (Quad(S, P, TripleTerm(S, P, TripleTerm(S, P, Bnode("a")))), "cannot name"),
        (Quad(S, P, TripleTerm(Literal("x"), P, S)), "holds no generalized triple terms"),
        (Quad(Literal("x"), P, S), "holds no generalized quads"),
        (Quad(S, Bnode("p"), S), "holds no generalized quads"),
        (Quad(S, P, S, Literal("g")), "holds no generalized quads"),
    ],
)
def test_canonical_refuses_what_rdfc_does_not_know(quad, says):
    with pytest.raises(EncodeError, match=rf"RDFC-1\.0: {says}"):
        Message([quad]).canonical()


def test_canonical_and_isomorphic_agree_on_language_tags():
    small, large = (
        Message([Quad(Bnode("a"), P, Literal("x", language=tag))]) for tag in ("en", "EN")
    )
    assert not small.isomorphic(large)
    assert small.canonical() != large.canonical()
    assert '"x"@EN' in large.canonical()


def test_hopeless_blank_nodes_are_refused_and_say_what_bounds_them():
    nodes = [Bnode(f"b{i}") for i in range(9)]
    message = Message([Quad(a, P, b) for a in nodes for b in nodes if a is not b])
    with pytest.raises(LimitError, match="labels need more than 10,000 steps; max_steps raises it"):
        message.canonical(max_steps=10_000)
    with pytest.raises(LimitError, match="needs more than 50 steps; max_steps raises it"):
        message.isomorphic(Message(message.quads), max_steps=50)
    assert message.isomorphic(Message(message.quads))


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


def test_canonical_labels_are_found_at_any_depth():
    """Two chains that differ nowhere: each is walked to its end, deeper than Python recurses."""
    chains = [[Bnode(f"{name}{i}") for i in range(1500)] for name in "ab"]
    quads = [Quad(a, P, b) for chain in chains for a, b in itertools.pairwise(chain)]
    quads += [Quad(node, P, Literal(str(at))) for chain in chains for at, node in enumerate(chain)]
    lines = Message(quads).canonical()
    assert lines == Message([*reversed(quads)]).canonical()
    assert "_:c14n2999 " in lines


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
