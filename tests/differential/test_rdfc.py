"""Canonical N-Quads of small random datasets, compared with pyoxigraph's RDFC-1.0."""

import random
from hashlib import sha256

import pyoxigraph
import pytest

from rdfm import BlankNode, Iri, Literal, Message, Quad

XSD = "http://www.w3.org/2001/XMLSchema#"
PREDICATES = [Iri("http://example.org/p"), Iri("http://example.org/q"), Iri("http://example.org/é")]
GROUND = [
    Iri("http://example.org/i"),
    Literal('a"\\\n\t\x7fé'),
    Literal("x", language="en"),
    Literal("5", datatype=XSD + "integer"),
    Literal("x", language="ar", direction="rtl"),
]


def dataset(seed):
    """Returns quads with few blank nodes and predicates, so that many nodes are similar."""
    draw = random.Random(seed)
    nodes = [BlankNode(f"n{i}") for i in range(draw.randint(1, 6))]
    predicates = PREDICATES[: draw.randint(1, 3)]
    return [
        Quad(
            draw.choice([*nodes, GROUND[0]]),
            draw.choice(predicates),
            draw.choice(nodes * 3 + GROUND),
            draw.choice([None, None, PREDICATES[0], *nodes[:1]]),
        )
        for _ in range(draw.randint(1, 9))
    ]


def relabelled_and_shuffled(quads, seed):
    draw = random.Random(seed)
    labels = {term.value for quad in quads for term in quad if isinstance(term, BlankNode)}
    new = {
        label: BlankNode(f"m{at}")
        for at, label in enumerate(draw.sample(sorted(labels), len(labels)))
    }

    def term(value):
        return new[value.value] if isinstance(value, BlankNode) else value

    return [Quad(*map(term, quad)) for quad in draw.sample(quads, len(quads))]


@pytest.mark.parametrize("part", range(4))
def test_canonical_quads_agree_with_pyoxigraph(part):
    for seed in range(part * 100, part * 100 + 100):
        message = Message(dataset(seed))
        theirs = message.to_oxigraph()
        theirs.canonicalize(pyoxigraph.CanonicalizationAlgorithm.RDFC_1_0)
        expected = sorted(f"{quad}\n" for quad in Message.from_oxigraph(theirs))
        assert message.canonical() == "".join(expected)
        assert message.canonical_hash() == sha256("".join(expected).encode()).hexdigest()
        assert (
            Message(relabelled_and_shuffled(message.quads * 2, seed)).canonical()
            == message.canonical()
        )
