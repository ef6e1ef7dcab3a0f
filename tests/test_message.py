"""Message and Patch: their contents, and the values that they reject."""

import pickle
import re
from collections.abc import Sequence
from itertools import product

import pytest

from rdfm import (
    BlankNode,
    Iri,
    Literal,
    Message,
    MessageBatch,
    Operation,
    Patch,
    PatchBatch,
    Quad,
    TripleTerm,
)

A, B = Iri("http://ex/a"), Iri("http://ex/b")
QUADS = [
    Quad(A, B, Literal("5")),
    Quad(A, B, Literal("x", language="en"), BlankNode("g")),
    Quad(A, B, B),
    Quad(B, B, A),
]


def test_messages_are_created_from_quads():
    message = Message(QUADS, metadata={"k": b"v"})
    assert (message.message_index, message.byte_offset, len(message)) == (None, None, 4)
    assert (message.metadata, message.namespaces) == ({"k": b"v"}, {})
    assert message != Message(QUADS[:-1])
    assert message != QUADS
    assert Message()
    with pytest.raises(TypeError):
        hash(message)


@pytest.mark.parametrize("view", [False, True])
def test_messages_and_patches_are_sequences(view):
    operations = [Operation("TX"), Operation("A", None, A, B, A), Operation("TC")]
    message, patch = Message(QUADS), Patch(operations)
    if view:
        (message,), (patch,) = (
            MessageBatch.from_messages([message]),
            PatchBatch.from_patches([patch]),
        )
    for found, items in ((message, QUADS), (patch, operations)):
        assert isinstance(found, Sequence)
        for index in range(-len(items), len(items)):
            assert found[index] == items[index]
        for begin, end, step in product([None, 0, 1, -1], [None, 2, -1], [None, 2, -1]):
            assert found[begin:end:step] == items[begin:end:step]
        for index in (len(items), -len(items) - 1):
            with pytest.raises(IndexError):
                found[index]
        assert list(reversed(found)) == items[::-1]
        assert (found.index(items[1]), found.count(items[1])) == (1, 1)
        assert (items[1] in found, A in found) == (True, False)
        first, *others = found
        assert [first, *others] == items
        with pytest.raises(TypeError):
            found["a"]
    match message:
        case [first, *_]:
            assert first == QUADS[0]


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Message([A]), "each item of a message must be a Quad, not Iri"),
        (lambda: Message(QUADS[0]), "not a Quad; put it in a list"),
        (lambda: Message(3), "an iterable of Quad, not int"),
        (lambda: Message(metadata={"k": "text"}), "metadata values must be bytes, not str"),
        (lambda: Message(metadata={1: b""}), "metadata keys must be str, not int"),
        (lambda: Message(namespaces={"ex": A}), "namespace IRIs must be str, not Iri"),
        (
            lambda: Message(namespaces={None: "http://ex/"}),
            "namespace names must be str, not NoneType",
        ),
    ],
)
def test_arguments_of_the_wrong_type_are_rejected(make, text):
    with pytest.raises(TypeError, match=text):
        make()


def test_patches_are_created_from_operations():
    rows = [
        Operation("H", "ID", object=A),
        ("H", "prev", None, None, B),
        ("H", "prev", None, None, A),
        ("TX",),
        ("PA", "ex", None, None, A),
        ("A", None, A, B, Literal("x", language="en", direction="rtl")),
        ("D", None, A, B, TripleTerm(A, B, BlankNode("b")), BlankNode("g")),
        ("PD", "ex"),
        ("TC",),
    ]
    patch = Patch(rows)
    assert (patch.message_index, patch.byte_offset, len(patch)) == (None, None, 9)
    assert patch.header == {"ID": [A], "prev": [B, A]}
    assert (patch.id, patch.previous) == (A, B)
    assert patch.adds == [Quad(A, B, Literal("x", language="en", direction="rtl"))]
    assert patch.deletes == [Quad(A, B, TripleTerm(A, B, BlankNode("b")), BlankNode("g"))]
    assert [operation.op for operation in patch] == [
        "H",
        "H",
        "H",
        "TX",
        "PA",
        "A",
        "D",
        "PD",
        "TC",
    ]
    assert patch == Patch(patch)
    assert patch == pickle.loads(pickle.dumps(patch))
    assert patch != Patch(rows[:-1])
    assert patch != rows
    assert (repr(patch), repr(Patch([("TX",)]))) == (
        "<Patch: 9 operations>",
        "<Patch: 1 operation>",
    )
    empty = Patch()
    assert empty
    assert (empty.id, empty.previous, empty.header, empty.adds, len(empty)) == (
        None,
        None,
        {},
        [],
        0,
    )
    with pytest.raises(TypeError):
        hash(patch)


def test_patches_are_views_of_their_batch():
    rows = [[("TX",), ("A", None, A, B, A), ("TC",)], [], [("H", "id", None, None, A)]]
    batch = PatchBatch.from_patches([Patch(row) for row in rows], first_message_index=7)
    assert repr(batch) == "<PatchBatch: 3 patches, 4 operations>"
    assert repr(PatchBatch.from_patches([Patch([("TX",)])])) == "<PatchBatch: 1 patch, 1 operation>"
    assert (len(batch), batch.record_count, batch.first_message_index, batch.kind) == (
        3,
        4,
        7,
        "patches",
    )
    assert (batch.continues, batch.continued, batch.has_graphs) == (False, False, False)
    assert batch.memory_bytes > 0
    assert batch.operation_counts() == [3, 0, 1]
    assert batch.headers() == [(2, "id", A)]
    assert dict(batch.code_counts()) == {"TX": 1, "TC": 1, "A": 1, "H": 1}
    first, second, third = batch
    assert [patch.message_index for patch in (first, second, third)] == [7, 8, 9]
    assert (len(first), repr(third)) == (3, "<Patch 9: 1 operation>")
    assert [first, second, third] == [Patch(row) for row in rows]
    copy = pickle.loads(pickle.dumps(first))
    assert (copy, copy.message_index) == (first, None)
    assert PatchBatch.from_patches(batch.slice(1, 3)).operation_counts() == [0, 1]
    assert next(iter(batch.slice(2, 3))).message_index == 9
    assert third.id == A
    with pytest.raises(IndexError):
        batch.operations(3)


@pytest.mark.parametrize(
    ("rows", "error", "text"),
    [
        (3, TypeError, "expected an iterable of Operation, not int"),
        (["TX"], TypeError, "expected an Operation or a tuple of its parts, not 'TX'"),
        ([()], TypeError, "expected an Operation or a tuple of its parts, not ()"),
        ([QUADS[0]], TypeError, "('A', None, *quad) adds a quad"),
        ([("A", None, A, A, A, A, A)], TypeError, "expected an Operation"),
        (
            [("A", None, "a:s", A, A)],
            TypeError,
            "a term must be an Iri, BlankNode, Literal or TripleTerm",
        ),
        (
            [("XX",)],
            ValueError,
            "'XX' is not an operation; expected one of H, TX, TC, TA, PA, PD, A, D",
        ),
        ([("A", None, A, A)], ValueError, "A: an added or deleted quad must have a subject"),
        ([("D", "x", A, A, A)], ValueError, "D: an added or deleted quad must have a subject"),
        ([("H", "id")], ValueError, "H: a header must have a name, and a value as its object"),
        ([("H", None, None, None, A)], ValueError, "H: a header must have a name"),
        ([("H", "id", None, None, A, A)], ValueError, "H: a header must have a name"),
        ([("TX", "x")], ValueError, "TX: the start and end of a transaction must not"),
        ([("TC", None, A)], ValueError, "TC: the start and end of a transaction must not"),
        ([("PA", "x")], ValueError, "PA: an added prefix must have a name, and"),
        ([("PA", "x", None, None, Literal("a"))], ValueError, "PA: an added prefix"),
        ([("PD",)], ValueError, "PD: a deleted prefix must have a name, and no terms"),
        ([("PD", "x", None, None, A)], ValueError, "PD: a deleted prefix must have a name"),
    ],
)
def test_invalid_operations_are_rejected(rows, error, text):
    with pytest.raises(error, match=re.escape(text)):
        PatchBatch.from_patches([Patch(rows)])


def test_unknown_operations_are_rejected_by_the_constructor():
    for code in ("XX", "", None, []):
        with pytest.raises(ValueError, match="is not an operation; expected one of H, TX, TC"):
            Patch([(code,)])
        with pytest.raises(ValueError, match="is not an operation; expected one of H, TX, TC"):
            Patch([Operation(code)])
