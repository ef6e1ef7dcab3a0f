"""A pickled batch equals the batch: messages, places in the log, namespaces and metadata."""

import pickle

from hypothesis import given, settings
from hypothesis import strategies as st
from logs import logs
from support import as_batch

from rdfm import Message, MessageBatch, formats
from rdfm.formats import Opening


def content(batch):
    """Returns what a batch contains, as Python objects."""
    messages = range(len(batch))
    return {
        "quads": [batch.quads(message) for message in messages],
        "metadata": [batch.metadata(message) for message in messages],
        "namespaces": [batch.namespaces(message) for message in messages],
        "declarations": batch.declarations(),
        "message_indexes": [batch.message_index(message) for message in messages],
        "byte_offsets": [batch.byte_offset(message) for message in messages],
        "first": batch.first_message_index,
        "parts": (batch.continued, batch.continues),
        "graphs": batch.has_graphs,
        "counts": batch.quad_counts(),
    }


def assert_pickled(batch):
    for protocol in (2, pickle.HIGHEST_PROTOCOL):
        copy = pickle.loads(pickle.dumps(batch, protocol))
        assert isinstance(copy, MessageBatch)
        assert content(copy) == content(batch)


names = st.dictionaries(
    st.sampled_from(["", "a", "b", "c"]), st.sampled_from(["http://a/", "http://b/"]), max_size=3
)
metadata = st.dictionaries(st.text(max_size=5), st.binary(max_size=5), max_size=2)


@given(log=logs(), data=st.data())
@settings(max_examples=40)
def test_random_batches_and_their_slices_are_pickled(log, data):
    messages = [
        Message(quads, metadata=data.draw(metadata), namespaces=data.draw(names))
        for quads in (list(message) for message in as_batch(log))
    ]
    start = MessageBatch.from_messages([Message((), namespaces=data.draw(names))])
    first = data.draw(st.integers(0, 1 << 40))
    batch = MessageBatch.from_messages(messages, first_message_index=first, after=start)
    assert_pickled(batch)
    begin = data.draw(st.integers(0, len(batch)))
    assert_pickled(batch.slice(begin, data.draw(st.integers(begin, len(batch)))))


def test_batches_that_are_read_keep_their_places():
    text = b"PREFIX a: <http://a/>\na:s a:p a:o .\n# @message\nPREFIX b: <http://b/>\n# @message\nb:s a:p 5 .\n"
    decoder = formats.trig.Decoder(batch_messages=2)
    decoder.feed(text)
    decoder.finish()
    batches = list(iter(decoder.next_batch, None))
    assert len(batches) == 2
    for batch in batches:
        assert_pickled(batch)


def test_parts_of_a_message_and_filtered_messages_are_pickled():
    import rdfm

    data = b"".join(b'<x:s> <x:p> "%d" <x:g> .\n' % number for number in range(100))
    decoder = formats.nq.decoder({}, Opening("always", batches={"batch_quads": 30}))
    decoder.feed(data)
    decoder.finish()
    parts = list(iter(decoder.next_batch, None))
    assert any(batch.continues for batch in parts)
    with rdfm.open_log(data.replace(b".\n", b".\n# @message\n"), "nq") as log:
        filtered = list(log.filter(regex="7$").batches())
    for batch in (*parts, *filtered):
        assert_pickled(batch)
