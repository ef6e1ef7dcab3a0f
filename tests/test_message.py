"""Message: what it holds, and what it refuses."""

import pytest

from rdfm import Bnode, Iri, Literal, Message, Quad

A, B = Iri("http://ex/a"), Iri("http://ex/b")
QUADS = [
    Quad(A, B, Literal("5")),
    Quad(A, B, Literal("x", language="en"), Bnode("g")),
    Quad(A, B, B),
    Quad(B, B, A),
]


def test_a_message_made_by_hand():
    message = Message(QUADS, metadata={"k": b"v"})
    assert (message.index, message.position, len(message)) == (None, None, 4)
    assert (message.metadata, message.namespaces) == ({"k": b"v"}, {})
    assert message != Message(QUADS[:-1])
    assert message != QUADS
    assert Message()
    with pytest.raises(TypeError):
        hash(message)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Message([A]), "the items of a message are Quad, not Iri"),
        (lambda: Message(QUADS[0]), "not a Quad; put it into a list"),
        (lambda: Message(3), "an iterable of Quad, not int"),
        (lambda: Message(metadata={"k": "text"}), "metadata values are bytes, not str"),
        (lambda: Message(metadata={1: b""}), "metadata keys are str, not int"),
        (lambda: Message(namespaces={"ex": A}), "namespace IRIs are str, not Iri"),
        (lambda: Message(namespaces={None: "http://ex/"}), "namespace names are str, not NoneType"),
    ],
)
def test_a_message_of_something_else_is_refused(make, says):
    with pytest.raises(TypeError, match=says):
        make()
