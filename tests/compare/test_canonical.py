"""RDFC-1.0: one string for isomorphic messages, rejection of unsupported terms, and limits."""

import itertools

import pytest

from rdfm import BlankNode, EncodeError, Iri, LimitError, Literal, Message, Quad, TripleTerm

S, P, G = (Iri(f"http://example.org/{name}") for name in "spg")


def test_isomorphic_messages_have_the_same_canonical_form():
    first = Message(
        [Quad(BlankNode("a"), P, BlankNode("b")), Quad(BlankNode("b"), P, Literal('"\n'), G)]
    )
    second = Message(
        [Quad(BlankNode("y"), P, Literal('"\n'), G), Quad(BlankNode("x"), P, BlankNode("y"))]
    )
    assert first.canonical() == second.canonical()
    assert first.canonical() == (
        f'_:c14n0 <{P.value}> "\\"\\n" <{G.value}> .\n_:c14n1 <{P.value}> _:c14n0 .\n'
    )


@pytest.mark.parametrize(
    ("quad", "reason"),
    [
        (
            Quad(S, P, TripleTerm(S, P, BlankNode("a"))),
            "does not support blank nodes in triple terms",
        ),
        (
            Quad(S, P, TripleTerm(S, P, TripleTerm(S, P, BlankNode("a")))),
            "does not support blank nodes",
        ),
        (Quad(S, P, TripleTerm(Literal("x"), P, S)), "does not support generalized triple terms"),
        (Quad(Literal("x"), P, S), "does not support generalized quads"),
        (Quad(S, BlankNode("p"), S), "does not support generalized quads"),
        (Quad(S, P, S, Literal("g")), "does not support generalized quads"),
    ],
)
def test_canonical_rejects_terms_that_rdfc_does_not_support(quad, reason):
    with pytest.raises(EncodeError, match=rf"RDFC-1\.0: {reason}"):
        Message([quad]).canonical()


def test_canonical_and_isomorphic_agree_on_language_tags():
    lowercase, uppercase = (
        Message([Quad(BlankNode("a"), P, Literal("x", language=tag))]) for tag in ("en", "EN")
    )
    assert not lowercase.isomorphic(uppercase)
    assert lowercase.canonical() != uppercase.canonical()
    assert '"x"@EN' in uppercase.canonical()


def test_exceeding_max_steps_is_an_error_that_names_the_option():
    nodes = [BlankNode(f"b{i}") for i in range(9)]
    message = Message([Quad(a, P, b) for a in nodes for b in nodes if a is not b])
    with pytest.raises(
        LimitError, match="labels need more than 10000 steps; a larger max_steps allows it"
    ):
        message.canonical(max_steps=10_000)
    other_nodes = [BlankNode(f"x{i}") for i in range(9)]
    relabelled = Message([Quad(a, P, b) for a in other_nodes for b in other_nodes if a is not b])
    with pytest.raises(LimitError, match="needs more than 50 steps; a larger max_steps allows it"):
        message.isomorphic(relabelled, max_steps=50)
    assert message.isomorphic(relabelled)


def test_canonical_labels_are_found_at_any_depth():
    """Two identical chains: each is followed to its end, deeper than Python's recursion limit."""
    chains = [[BlankNode(f"{name}{i}") for i in range(1500)] for name in "ab"]
    quads = [Quad(a, P, b) for chain in chains for a, b in itertools.pairwise(chain)]
    quads += [Quad(node, P, Literal(str(at))) for chain in chains for at, node in enumerate(chain)]
    lines = Message(quads).canonical()
    assert lines == Message([*reversed(quads)]).canonical()
    assert "_:c14n2999 " in lines
