"""`encode` of the formats in `rdfm.formats` with messages instead of a batch."""

import pytest

import rdfm
from rdfm import Iri, Message, Patch, Quad

QUAD = Quad(Iri("x:s"), Iri("x:p"), Iri("x:o"))
MESSAGE = b"<x:s> <x:p> <x:o> .\n"


def test_encode_accepts_messages():
    nq = rdfm.formats.nq
    message = Message([QUAD])
    assert nq.encode(message) == MESSAGE
    for messages in ([message], iter([message]), [[QUAD]], (item for item in [[QUAD]])):
        assert nq.encode(messages) == MESSAGE
    assert nq.encode(nq.decode(MESSAGE)) == MESSAGE
    for data in (MESSAGE, bytearray(MESSAGE), memoryview(MESSAGE)):
        assert list(nq.decode(data)) == [message]


def test_encode_accepts_patches():
    patch = Patch([("A", None, Iri("x:s"), Iri("x:p"), Iri("x:o"))])
    (decoded,) = rdfm.formats.rdf_patch.decode(rdfm.formats.rdf_patch.encode(patch))
    assert decoded.adds == [QUAD]


@pytest.mark.parametrize("value", [[QUAD], QUAD, "text", MESSAGE, 5, None])
def test_encode_names_what_it_accepts(value):
    with pytest.raises(TypeError, match="encode takes a batch, a message or an iterable") as caught:
        rdfm.formats.nq.encode(value)
    assert "ResultBatch" not in str(caught.value)


def test_encode_says_how_quads_become_a_message():
    quad = rdfm.Quad(rdfm.Iri("x:s"), rdfm.Iri("x:p"), rdfm.Literal("a"))
    for value in (quad, [quad]):
        with pytest.raises(TypeError, match=r"the message of quads is Message\(quads\)"):
            rdfm.formats.nq.encode(value)
