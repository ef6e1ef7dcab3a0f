"""A pickled batch equals the batch: content, places in the log, namespaces and metadata."""

import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from logs import logs
from patches import as_operation, patches
from results import results
from support import as_batch, as_term

import rdfm
from rdfm import Message, MessageBatch, PatchBatch, ResultBatch, formats
from rdfm.formats import Opening

# Methods and attributes that return the content of a batch, and those for each message.
COMMON = ["first_message_index", "record_count", "continued", "continues"]
WHOLE = {
    "messages": ["declarations", "has_graphs", "quad_counts"],
    "patches": ["has_graphs", "operation_counts", "headers"],
    "results": ["rows", "variables", "boolean", "links"],
}
EACH = {"messages": ["quads", "metadata", "namespaces"], "patches": ["operations"], "results": []}


def content(batch):
    """Returns what a batch contains, as Python objects."""
    whole = [getattr(batch, name) for name in (*COMMON, *WHOLE[batch.kind])]
    places = [getattr(batch, name) for name in ("message_index", "byte_offset", *EACH[batch.kind])]
    return (
        [value() if callable(value) else value for value in whole],
        [[method(message) for method in places] for message in range(len(batch))],
    )


def assert_pickled(batch):
    for protocol in (2, pickle.HIGHEST_PROTOCOL):
        copy = pickle.loads(pickle.dumps(batch, protocol))
        assert type(copy) is type(batch)
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
    assert_slice_is_pickled(batch, data)


def assert_slice_is_pickled(batch, data):
    assert_pickled(batch)
    begin = data.draw(st.integers(0, len(batch)))
    assert_pickled(batch.slice(begin, data.draw(st.integers(begin, len(batch)))))


@given(log=patches(graphs=True), first=st.integers(0, 1 << 40), data=st.data())
@settings(max_examples=40)
def test_random_patches_are_pickled(log, first, data):
    operations = [list(map(as_operation, patch)) for patch in log]
    batch = PatchBatch.from_patches(operations, first_message_index=first)
    assert_slice_is_pickled(batch, data)


@given(found=results(), first=st.integers(0, 1 << 40), data=st.data())
@settings(max_examples=40)
def test_random_results_are_pickled(found, first, data):
    variables, rows = found
    cells = [tuple(map(as_term, row)) for row in rows]
    links = data.draw(st.lists(st.sampled_from(["more", "http://a/"]), max_size=2))
    batch = ResultBatch.from_rows(cells, variables, links=links, first_message_index=first)
    assert_slice_is_pickled(batch, data)


@pytest.mark.parametrize("answer", [True, False])
def test_answers_are_pickled(answer):
    assert_pickled(ResultBatch.from_rows([], [], boolean=answer, links=["more"]))


def test_patches_and_results_that_are_read_keep_their_places():
    patch = "TX .\n" + 'A <x:s> <x:p> "1" .\n' * 100 + "TC .\n"
    decoder = formats.find("rdf-patch").decoder({}, Opening("always", batches={"batch_quads": 30}))
    decoder.feed((patch * 2).encode())
    decoder.finish()
    parts = list(iter(decoder.next_batch, None))
    assert any(batch.continues for batch in parts)
    assert any(batch.continued for batch in parts)
    with rdfm.open_log(b"?a\n<x:a>\n<x:b>\n", "results-tsv", kind="results") as log:
        rows = list(log.batches())
    for batch in (*parts, *rows):
        assert batch.byte_offset(0) is not None
        assert_pickled(batch)


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
