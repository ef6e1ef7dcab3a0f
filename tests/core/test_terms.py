"""Terms and quads as Python objects."""

import copy
import gc
import pickle

import pytest

from rdfm import _core
from rdfm._core import BlankNode, Iri, Literal, Quad, TripleTerm, parse_term
from rdfm.errors import DecodeError, LimitError, OptionError

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
A = Iri("http://ex/a")

# Terms with their canonical N-Triples and their repr, in order.
TERMS = [
    (BlankNode("b0"), "_:b0", "BlankNode('b0')"),
    (A, "<http://ex/a>", "Iri('http://ex/a')"),
    (Iri("x> y"), r"<x\u003E\u0020y>", "Iri('x> y')"),
    (
        Literal("5", datatype=XSD + "integer"),
        f'"5"^^<{XSD}integer>',
        f"Literal('5', datatype='{XSD}integer')",
    ),
    (Literal('a"\n'), r'"a\"\n"', "Literal('a\"\\n')"),
    (Literal("x", language="ar"), '"x"@ar', "Literal('x', language='ar')"),
    (Literal("x"), '"x"', "Literal('x')"),
    (
        TripleTerm(A, A, Literal("é😀")),
        '<<( <http://ex/a> <http://ex/a> "é😀" )>>',
        "TripleTerm(Iri('http://ex/a'), Iri('http://ex/a'), Literal('é😀'))",
    ),
]
DIRECTED = Literal("x", language="ar", direction="rtl")


@pytest.mark.parametrize(
    ("term", "text", "representation"), TERMS, ids=[text for _, text, _ in TERMS]
)
def test_str_and_repr_of_terms(term, text, representation):
    assert str(term) == text
    assert repr(term) == representation
    assert eval(representation, vars(_core)) == term


@pytest.mark.parametrize(
    "term", [term for term, _, _ in TERMS] + [DIRECTED, Quad(A, A, A, A)], ids=repr
)
def test_copies_are_equal(term):
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(term, protocol)) == term
    assert copy.deepcopy(term) == term
    assert hash(copy.deepcopy(term)) == hash(term)


def test_objects_in_reused_memory_have_their_own_content():
    for _ in range(3):
        quads = [
            Quad(Iri(f"x:{n}"), A, Literal(f"{n}", datatype=f"x:{n}"), BlankNode(f"b{n}"))
            for n in range(2000)
        ]
        expected = [f'<x:{n}> <http://ex/a> "{n}"^^<x:{n}> _:b{n} .' for n in range(2000)]
        assert list(map(str, quads)) == expected
        del quads
        gc.collect()


def test_terms_have_a_total_order():
    terms = [term for term, _, _ in TERMS]
    assert sorted(reversed(terms)) == sorted(terms) == sorted(terms[::2] + terms[1::2])
    assert [type(term) for term in sorted(terms)] == [
        BlankNode,
        Iri,
        Iri,
        Literal,
        Literal,
        Literal,
        Literal,
        TripleTerm,
    ]
    for at, a in enumerate(sorted(terms)):
        for b in sorted(terms)[at + 1 :]:
            assert a < b <= b > a != b
            assert not a >= b


def test_equal_terms_occur_once_in_a_set():
    assert len({Literal("x"), Literal("x", datatype=XSD + "string")}) == 1
    assert (
        len(
            {
                Literal("x"),
                Literal("x", language="en"),
                Literal("x", datatype=A),
                Iri("x"),
                BlankNode("x"),
            }
        )
        == 5
    )
    assert Literal("x", language="en") != Literal("x", language="EN")
    assert Iri("x") != "x"
    with pytest.raises(TypeError):
        assert Iri("x") < "y"


def test_literals_have_the_expected_datatypes():
    assert Literal("x").datatype == Iri(XSD + "string")
    assert Literal("x", language="en").datatype == Iri(RDF + "langString")
    assert DIRECTED.datatype == Iri(RDF + "dirLangString")
    assert Literal("x", datatype=A).datatype is A
    assert (DIRECTED.value, DIRECTED.language, DIRECTED.direction) == ("x", "ar", "rtl")


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: Iri(3), TypeError),
        (lambda: Iri("\ud800"), UnicodeEncodeError),
        (lambda: Literal("x", language="\udfff"), UnicodeEncodeError),
        (lambda: Literal("x", language=""), ValueError),
        (lambda: Literal("x", language="en", datatype=A), ValueError),
        (lambda: Literal("x", direction="ltr"), ValueError),
        (lambda: Literal("x", language="en", direction="up"), ValueError),
        (lambda: Literal("x", datatype=3), TypeError),
        (lambda: TripleTerm(A, A, None), TypeError),
        (lambda: Quad(A, A, "x"), TypeError),
        (lambda: Quad(A, A, A, 3), TypeError),
    ],
)
def test_invalid_terms_are_rejected(make, error):
    with pytest.raises(error):
        make()


def test_terms_cannot_be_changed_or_subclassed():
    with pytest.raises(AttributeError):
        A.value = "x"
    with pytest.raises(TypeError):
        type("Sub", (Iri,), {})


def test_a_str_subclass_becomes_a_str():
    class Text(str):
        __slots__ = ("extra",)

    assert type(Iri(Text("x")).value) is str


def test_nesting_is_limited():
    term = A
    for _ in range(100):
        term = TripleTerm(A, A, term)
    assert term == pickle.loads(pickle.dumps(TripleTerm(A, A, A))) or term != A
    hash(term), str(term)
    with pytest.raises(LimitError, match="100"):
        TripleTerm(term, A, A)


def test_deep_terms_can_be_copied_and_printed():
    term = BlankNode("no label")
    for _ in range(100):
        term = TripleTerm(term, A, Literal("x"))
    quad = Quad(term, A, term, term)
    for each in (term, quad):
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            assert pickle.loads(pickle.dumps(each, protocol)) == each
        assert copy.copy(each) == copy.deepcopy(each) == each
        assert repr(each).count("TripleTerm(") >= 100


def test_shared_parts_of_triple_terms_are_pickled_once():
    term = TripleTerm(A, A, A)
    for _ in range(12):
        term = TripleTerm(term, A, term)
    assert len(pickle.dumps(term)) < 1000
    assert pickle.loads(pickle.dumps(term)) == term


@pytest.mark.parametrize("steps", [(), (A,), (A, (0, 0, 1)), (A, (0, 0, 0), A), (3, (0, 0, 0))])
def test_steps_that_do_not_form_a_triple_term_are_rejected(steps):
    with pytest.raises((ValueError, TypeError)):
        _core.build_triple_term(steps)


def test_every_term_has_a_value():
    assert [term.value for term in (A, BlankNode("b"), Literal("x"))] == ["http://ex/a", "b", "x"]
    triple = TripleTerm(A, A, Literal("x"))
    assert triple.value == str(triple) == '<<( <http://ex/a> <http://ex/a> "x" )>>'


def test_quads_are_tuples():
    quad, in_graph = Quad(A, A, Literal("x")), Quad(A, A, Literal("x"), BlankNode("g"))
    assert list(in_graph) == [A, A, Literal("x"), BlankNode("g")]
    assert str(quad) == '<http://ex/a> <http://ex/a> "x" .'
    assert str(in_graph) == '<http://ex/a> <http://ex/a> "x" _:g .'
    assert quad.graph is None
    assert sorted([in_graph, quad]) == [quad, in_graph]
    assert len({quad, in_graph, Quad(A, A, Literal("x"), None)}) == 2
    match in_graph:
        case Quad(subject, _, Literal(value), BlankNode()):
            assert (subject, value) == (A, "x")
        case _:
            pytest.fail("the pattern does not match")


@pytest.mark.parametrize("term", [term for term, _, _ in TERMS] + [DIRECTED], ids=repr)
def test_terms_are_parsed_from_their_text(term):
    assert parse_term(str(term)) == term


def test_invalid_strings_are_rejected():
    for text in ("", "x", "<a", '"x', "<a> ", "<a><b>", '"x"@'):
        with pytest.raises(DecodeError):
            parse_term(text)


def test_parsing_limits_the_depth():
    term = A
    for _ in range(70):
        term = TripleTerm(A, A, term)
    with pytest.raises(DecodeError):
        parse_term(str(term))
    assert parse_term(str(term), max_depth=70) == term
    for max_depth in (0, 101):
        with pytest.raises(OptionError, match="100"):
            parse_term("<a>", max_depth=max_depth)
