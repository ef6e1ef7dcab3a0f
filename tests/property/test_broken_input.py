"""Truncated and modified logs yield complete messages, then one clear error, and never a crash."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from logs import logs
from nquads import isomorphic, relabelled
from support import NATIVE, decode, encode, ordered, outcome

import rdfm
from rdfm import formats

# An incomplete message or row, by format.
INCOMPLETE_MESSAGES = {
    "jelly": b"\x05\x0a\xff\xff",
    "rdf-protobuf": b"\x05\x0a\xff",
    "rdf-thrift": b"\x2c\x1c",
    "ndjsonld": b'{"@id": "http:',
    "jsonld": b'{"@id": "http:',
    "yamlld": b'---\n"@id": "http:',
    "rdfxml": b"<rdf:RDF xmlns:r",
}


def logs_of(name):
    carries = formats.find(name).spec.carries
    return logs(
        graphs=carries["graphs"],
        boundaries=carries["boundaries"],
        triples=False,
        any_text=carries["any_text"],
    )


@pytest.mark.parametrize("name", NATIVE)
@settings(max_examples=12)
@given(data=st.data())
def test_truncation_at_every_byte_yields_a_prefix_of_the_messages(name, data):
    log = data.draw(logs_of(name))
    text = encode(name, log)
    complete, error = outcome(formats.find(name).Decoder, text, max(len(text), 1))
    assert error is None
    for end in range(len(text)):
        truncated, error = outcome(formats.find(name).Decoder, text[:end], max(end, 1))
        assert error is None or error.startswith(f"{name}: ")
        assert len(truncated) <= len(complete)
        for at, message in enumerate(truncated):
            found, quads = message[0], complete[at][0]
            if not ordered(name):
                # Truncated YAML may be valid, with a different meaning.
                assert at == len(truncated) - 1 or isomorphic(found, quads)
                continue
            if at == len(truncated) - 1:  # the last token may be valid although it is truncated
                found = found[:-1]
                quads = quads[: len(found)]
            assert relabelled(found) == relabelled(quads)


@pytest.mark.parametrize("name", NATIVE)
@settings(max_examples=60)
@given(data=st.data())
def test_flipped_bits_cause_an_error_or_change_the_log(name, data):
    log = data.draw(logs_of(name))
    text = bytearray(encode(name, log))
    if not text:
        return
    for at in data.draw(st.lists(st.integers(0, len(text) * 8 - 1), min_size=1, max_size=4)):
        text[at // 8] ^= 1 << at % 8
    found, error = decode(name, bytes(text))
    if error is None:
        batch = formats.find(name).decode(bytes(text))
        assert len(batch) == len(found)


@pytest.mark.parametrize("name", NATIVE)
@given(data=st.binary(max_size=200))
def test_random_bytes_cause_an_error_or_are_a_log(name, data):
    messages, error = decode(name, data)
    assert error is None or error.startswith(f"{name}: ")
    assert isinstance(messages, list)


@pytest.mark.parametrize("name", NATIVE)
def test_truncation_errors_have_a_class_a_position_and_a_message_index(name):
    module = formats.find(name)
    # If the log is a single message, the error is in that message.
    count = 2 if module.spec.carries["boundaries"] else 0
    quad = (("iri", "http://e/s"), ("iri", "http://e/p"), ("iri", "http://e/o"), None)
    valid = encode(name, [[quad]] * max(count, 1)) if name != "jsonld" else b""
    decoder = module.Decoder()
    decoder.feed(valid + INCOMPLETE_MESSAGES.get(name, b"# @message\n<http://e/s> <"))
    decoder.finish()
    found = 0
    with pytest.raises(rdfm.DecodeError) as caught:
        while (batch := decoder.next_batch()) is not None:
            found += len(batch)
    assert found == count
    error = caught.value
    assert isinstance(error, rdfm.TruncatedError)
    assert error.format == name
    assert error.message_index == count
    assert error.byte_offset >= len(valid)
    assert (error.line is None) == module.spec.binary
