"""`decode` and `encode` of every format module, with complete logs in memory."""

import pytest

from rdfm import (
    BlankNode,
    DecodeError,
    EncodeError,
    Iri,
    Literal,
    MessageBatch,
    OptionError,
    Quad,
    formats,
)

QUADS = [
    Quad(Iri("http://e/s"), Iri("http://e/p"), Literal("x", language="en")),
    Quad(BlankNode("b"), Iri("http://e/p"), BlankNode("b")),
]
MODULES = [
    pytest.param(module, id=module.name)
    for module in formats.all()
    if "messages" in module.spec.kinds
]
WITH_BOUNDARIES = [each for each in MODULES if each.values[0].spec.carries["boundaries"]]
WITHOUT_BOUNDARIES = [each for each in MODULES if each not in WITH_BOUNDARIES]


@pytest.mark.parametrize("module", WITH_BOUNDARIES)
def test_messages_are_read_back(module):
    batch = MessageBatch.from_messages([QUADS, [], QUADS[:1]])
    decoded = module.decode(module.encode(batch))
    assert [message.quads for message in decoded] == [QUADS, [], QUADS[:1]]


@pytest.mark.parametrize("module", WITHOUT_BOUNDARIES)
def test_formats_without_boundaries_reject_or_merge_several_messages(module):
    (single,) = module.decode(module.encode(MessageBatch.from_messages([QUADS])))
    assert single.quads == QUADS
    messages = MessageBatch.from_messages([QUADS, [], QUADS[1:]])
    with pytest.raises(EncodeError, match=r"flat=True makes them one.*\(message 1\)") as caught:
        module.encode(messages)
    assert [each.quads for each in module.decode(caught.value.completed)] == [QUADS]
    encoder = module.Encoder(flat=True)
    data = encoder.encode(messages) + encoder.finish()
    assert encoder.dropped() == {"boundaries": 2}
    (merged,) = module.decode(data)
    assert len(merged.quads) == 3
    assert (
        len({quad.subject for quad in merged.quads}) == 3
    )  # labels of different messages stay distinct


@pytest.mark.parametrize("module", MODULES)
def test_bytes_like_objects_are_decoded(module):
    data = module.encode(MessageBatch.from_messages([QUADS]))
    spaced = memoryview(b"".join(bytes([byte, 0]) for byte in data))[::2]  # not contiguous
    for given in (data, bytearray(data), memoryview(data), spaced):
        (message,) = module.decode(given)
        assert message.quads == QUADS
    with pytest.raises(TypeError, match=r"^decode takes bytes, not a string; for text, use "):
        module.decode("text")


@pytest.mark.parametrize("module", WITH_BOUNDARIES)
def test_an_empty_log_has_no_messages(module):
    assert len(module.decode(b"")) == 0


@pytest.mark.parametrize("module", WITH_BOUNDARIES)
def test_many_messages_are_decoded_into_one_batch(module):
    batch = MessageBatch.from_messages([QUADS] * 20_000)
    assert len(module.decode(module.encode(batch))) == 20_000


@pytest.mark.parametrize("module", MODULES)
def test_an_invalid_log_is_an_error(module):
    data = module.encode(MessageBatch.from_messages([QUADS]))
    with pytest.raises(DecodeError):
        module.decode(data + b"\x01oops")


@pytest.mark.parametrize("module", MODULES)
def test_unknown_options_are_rejected(module):
    with pytest.raises(OptionError):
        module.decode(b"", frobnicate=1)
    with pytest.raises(OptionError):
        module.encode(MessageBatch.from_messages([]), frobnicate=1)
    assert "max_message_bytes" in module.spec.reads


@pytest.mark.parametrize("module", MODULES)
def test_graph_names_are_supported_or_rejected(module):
    batch = MessageBatch.from_messages([[Quad(*list(QUADS[0])[:3], Iri("http://e/g"))]])
    if module.spec.carries["graphs"]:
        assert module.decode(module.encode(batch)).has_graphs
        return
    with pytest.raises(EncodeError, match="merge_graphs"):
        module.encode(batch)
    assert not module.decode(module.encode(batch, merge_graphs=True)).has_graphs
