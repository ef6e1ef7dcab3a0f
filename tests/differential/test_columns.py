"""Jelly 1.2 compared with the encoder and the decoder of tests/jelly_columns_proto.py."""

from random import Random

import jelly_columns_proto
import pytest
from jelly_columns_proto import Message, random_messages
from support import decode, encode

from rdfm import formats

TRIPLES, QUADS = 1, 2
FLAT, MESSAGES = 0, 1
# Sizes of the tables for names, prefixes and datatypes.
SIZES = [(128, 8, 8), (200, 0, 6), (128, 5, 5)]


def merged(messages: list[Message]) -> list[list[tuple]]:
    """Returns the statements of all messages as one message."""
    return [[quad for message in messages for quad in message.quads]]


@pytest.mark.parametrize("seed", range(100))
def test_rdfm_reads_every_form(seed):
    random = Random(seed)
    physical = random.choice((TRIPLES, QUADS))
    messages = random_messages(random, random.randrange(12), physical == QUADS)
    sizes = random.choice(SIZES)
    data = jelly_columns_proto.encode(messages, random, physical, MESSAGES, sizes)
    assert jelly_columns_proto.decode(data) == messages
    found, error = decode("jelly", data)
    assert error is None
    assert found == [message.quads for message in messages]
    if messages:
        batch = formats.find("jelly").decode(data)
        assert [batch.metadata(at) for at in range(len(messages))] == [
            message.metadata for message in messages
        ]


@pytest.mark.parametrize("seed", range(30))
def test_a_flat_log_is_one_message(seed):
    random = Random(seed)
    messages = [Message(message.quads) for message in random_messages(random, 6)]
    data = jelly_columns_proto.encode(messages, random, QUADS, FLAT, random.choice(SIZES))
    found, error = decode("jelly", data)
    assert error is None
    assert found == merged(messages)


@pytest.mark.parametrize("seed", range(100))
def test_the_output_of_rdfm_is_read(seed):
    random = Random(seed)
    messages = [message.quads for message in random_messages(random, random.randrange(12))]
    names, prefixes, datatypes = random.choice(SIZES)
    data = encode(
        "jelly",
        messages,
        jelly_version="1.2",
        name_table=names,
        prefix_table=prefixes,
        datatype_table=datatypes,
        frame_rows=random.choice((1, 7, 8192)),
    )
    found = jelly_columns_proto.decode(data)
    assert [message.quads for message in found] == messages
