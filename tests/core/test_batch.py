"""MessageBatch, and the messages that are views of it."""

import pickle
import sys
import threading

import pytest

from rdfm._core import BlankNode, Iri, Literal, MessageBatch, Quad, ResultBatch, TripleTerm
from rdfm.message import Message

A, B = Iri("http://ex/a"), Iri("http://ex/b")
XSD_INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
FIVE = Literal("5", datatype=XSD_INTEGER)
QUADS = [
    Quad(A, B, FIVE),
    Quad(A, B, Literal("x", language="en"), BlankNode("g")),
    Quad(
        FIVE,
        BlankNode("b"),
        TripleTerm(A, B, TripleTerm(A, B, Literal("é", language="ar", direction="rtl"))),
        B,
    ),
    Quad(A, B, FIVE),
]


def batch():
    """Returns a batch of three messages, which have several quads, no quads and one quad."""
    return MessageBatch.from_messages(
        [
            Message(QUADS, metadata={"k": b"\0\xff"}, namespaces={"ex": "http://ex/"}),
            [],
            Message(QUADS[:1], namespaces={"ex": "http://other/", "": "http://none/"}),
        ]
    )


def test_a_batch_has_the_given_messages():
    created = batch()
    assert len(created) == 3
    assert created.quad_count == 5
    assert created.quad_counts() == [4, 0, 1]
    assert created.quads(0) == QUADS
    assert created.quads(-1) == QUADS[:1]
    assert created.metadata(0) == {"k": b"\0\xff"}
    assert created.metadata(2) == {}
    assert created.namespaces(1) == {"ex": "http://ex/"}
    assert created.namespaces(2) == {"ex": "http://other/", "": "http://none/"}
    assert created.has_graphs
    assert not created.continued
    assert not created.continues
    assert created.first_message_index == 0
    assert created.memory_bytes > 0
    assert repr(created) == "<MessageBatch: 3 messages, 5 quads>"


def test_equal_terms_of_a_batch_are_one_object():
    created = batch()
    assert created.quads(0)[0].subject is created.quads(2)[0].subject


def test_terms_that_only_one_message_uses_are_released():
    subjects = [Iri(f"http://ex/{n}") for n in range(1000)]
    created = MessageBatch.from_messages([[Quad(each, B, FIVE)] for each in subjects])
    ((subject, predicate, _, _),) = created.quads(0)
    assert [created.quads(n)[0].subject for n in range(1, 1000)] == subjects[1:]
    assert created.quads(999)[0].predicate is predicate
    unused = Iri("http://ex/unused")
    assert sys.getrefcount(subject) == sys.getrefcount(unused)


def test_an_index_out_of_range_raises_an_index_error():
    for index in (3, -4, 1 << 60):
        with pytest.raises(IndexError):
            batch().quads(index)


def test_slices_are_batches():
    part = batch().slice(1, 9)
    assert (len(part), part.first_message_index) == (2, 1)
    assert part.quads(1) == QUADS[:1]
    assert part.namespaces(0) == {"ex": "http://ex/"}
    assert len(batch().slice(2, 1)) == 0


def test_a_batch_may_have_no_messages():
    created = MessageBatch.from_messages([])
    assert len(created) == created.quad_count == 0
    assert list(created) == []


@pytest.mark.parametrize("invalid", [3, [3], [[3]], [[(A, B, A)]]])
def test_values_other_than_quads_are_rejected(invalid):
    with pytest.raises(TypeError):
        MessageBatch.from_messages(invalid)


def test_views_and_messages_can_be_copied_in_any_order():
    created = batch()
    views = list(created)
    copied = MessageBatch.from_messages(
        [views[2], Message([Quad(B, B, B)]), views[0], *batch(), views[1]]
    )
    assert copied.quad_counts() == [1, 1, 4, 4, 0, 1, 0]
    assert copied.quads(2) == copied.quads(3) == QUADS
    assert copied.metadata(2) == {"k": b"\0\xff"}
    assert copied.namespaces(0) == {"ex": "http://other/", "": "http://none/"}
    assert copied.namespaces(2)["ex"] == "http://ex/"


def test_a_message_is_a_view_of_its_batch():
    view = next(iter(batch().slice(2, 3)))
    assert (view.message_index, view.byte_offset, len(view)) == (2, None, 1)
    assert repr(view) == "<Message 2: 1 quad>"
    assert list(view) == view.quads == QUADS[:1]
    assert view.namespaces["ex"] == "http://other/"
    assert view == Message(QUADS[:1])
    assert pickle.loads(pickle.dumps(view)) == view


def test_changes_to_a_view_are_kept():
    view = next(iter(batch()))
    view.quads.pop()
    view.metadata["new"] = b"1"
    copy = MessageBatch.from_messages([view])
    assert copy.quads(0) == QUADS[:-1]
    assert copy.metadata(0) == {"k": b"\0\xff", "new": b"1"}


def test_a_batch_may_be_used_in_many_threads():
    created = MessageBatch.from_messages(
        [[Quad(Iri(f"http://ex/{at}"), A, B) for at in range(500)]]
    )
    expected = created.slice(0, 1).quads(0)
    found = []
    threads = [
        threading.Thread(
            target=lambda: found.extend(created.quads(0) == expected for _ in range(20))
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 80


def test_messages_are_numbered_from_the_given_index():
    created = MessageBatch.from_messages([QUADS, QUADS], first_message_index=7)
    assert created.first_message_index == 7
    assert [message.message_index for message in created] == [7, 8]


def test_copied_views_keep_their_namespaces_in_any_order():
    created = MessageBatch.from_messages(
        [
            Message(QUADS, namespaces={"a": "http://a/1", "b": "http://b/"}),
            Message(QUADS, namespaces={"a": "http://a/2"}),
            Message(QUADS, namespaces={"c": "http://c/"}),
            Message(QUADS, namespaces={"a": "http://a/1"}),
        ]
    )
    constructed = Message(QUADS, namespaces={"c": "http://other/"})
    views = list(created)
    expected = [created.namespaces(at) for at in range(4)]
    for order in ([0, 1, 2, 3], [0, 3], [3, 0], [2, 1, 1, 3], [1, None, 3], [2, None, 2, 3]):
        messages = [constructed if at is None else views[at] for at in order]
        copied = MessageBatch.from_messages(messages)
        for index, at in enumerate(order):
            namespaces = constructed.namespaces if at is None else expected[at]
            assert namespaces.items() <= copied.namespaces(index).items()


def test_blank_nodes_of_rows_can_be_labelled_by_message():
    node, other = BlankNode("x"), BlankNode("y")
    term = TripleTerm(node, Iri("x:p"), TripleTerm(other, Iri("x:p"), node))
    rows = ResultBatch.from_rows(
        [(node, term), (node, None), (Literal("a", language="en"), other)], ["a", "b"]
    )
    created = rows.labelled("log", [7, 7, 9], 100)
    assert created.variables == ("source", "message_index", "a", "b")
    assert [tuple(map(str, row)) for row in created] == [
        (
            '"log"',
            '"7"^^<http://www.w3.org/2001/XMLSchema#integer>',
            "_:m107_x",
            "<<( _:m107_x <x:p> <<( _:m107_y <x:p> _:m107_x )>> )>>",
        ),
        ('"log"', '"7"^^<http://www.w3.org/2001/XMLSchema#integer>', "_:m107_x", "None"),
        ('"log"', '"9"^^<http://www.w3.org/2001/XMLSchema#integer>', '"a"@en', "_:m109_y"),
    ]
    assert rows.slice(0, 0).labelled("log", [], -5).variables == created.variables
    with pytest.raises(ValueError, match="2 message indexes for 3 rows"):
        rows.labelled("log", [7, 7], 0)
