"""Alignment: blank nodes of a dataset get the labels of similar nodes in another dataset."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nquads import isomorphic, labels, read_quads, with_labels
from support import as_batch, quads_of

import rdfm
from rdfm.compare import alignment


def quads(text):
    return read_quads(text.replace("'", '"'))


def align(old, new):
    """Returns the aligned quads as tuples."""
    batches = [as_batch([each]).quads(0) for each in (old, new)]
    batch = rdfm.MessageBatch.from_messages([alignment.align(*batches)])
    return quads_of(batch, 0)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("_:a <a:p> '1' .", "_:z <a:p> '1' .", "_:a <a:p> '1' ."),
        # One of two indistinguishable nodes is removed.
        ("_:a <a:p> '1' .\n_:b <a:p> '1' .", "_:z <a:p> '1' .", "_:a <a:p> '1' ."),
        # A new node does not get a label that is in use.
        (
            "_:a <a:p> '1' .",
            "_:a <a:p> '2' .\n_:z <a:p> '1' .",
            "_:a_1 <a:p> '2' .\n_:a <a:p> '1' .",
        ),
        ("_:a <a:p> '1' .\n_:a_1 <a:p> '3' .", "_:a <a:p> '2' .", "_:a_2 <a:p> '2' ."),
        ("<a:s> <a:p> '1' .", "_:z <a:p> _:y .", "_:z <a:p> _:y ."),
        ("", "_:a <a:p> _:a .", "_:a <a:p> _:a ."),
        ("_:a <a:p> _:a .", "", ""),
        # Blank nodes may occur in each position, and in triple terms.
        (
            "_:a <a:p> <<( _:b <a:p> '1' )>> _:c .",
            "_:c <a:p> <<( _:a <a:p> '1' )>> _:b .",
            "_:a <a:p> <<( _:b <a:p> '1' )>> _:c .",
        ),
    ],
)
def test_equal_parts_keep_the_old_labels(old, new, expected):
    assert align(quads(old), quads(new)) == quads(expected)


@given(seed=st.integers(0, 10_000), count=st.integers(0, 9), added=st.integers(0, 3))
def test_random_datasets_are_aligned(seed, count, added):
    """Uses few nodes and predicates, so that many nodes are similar."""
    generator = random.Random(seed)
    node = lambda: ("bnode", generator.choice("abcdefg"))  # noqa: E731
    quad = lambda: (node(), ("iri", f"a:{generator.randrange(2)}"), node(), None)  # noqa: E731
    old = [quad() for _ in range(count)]
    found = sorted(set(labels(old)))
    new_labels = dict(zip(found, generator.sample("abcdefghij", len(found)), strict=True))
    relabelled = [with_labels(each, new_labels.__getitem__) for each in old]
    generator.shuffle(relabelled)
    assert set(align(old, relabelled)) == set(old)
    new = relabelled[added:] + [quad() for _ in range(added)]
    aligned_quads = align(old, new)
    assert isomorphic(aligned_quads, new)
    assert len(aligned_quads) == len(new)


def test_alignment_takes_bounded_time():
    """Uses many nodes, all indistinguishable."""
    ring = [
        (("bnode", str(a)), ("iri", "a:p"), ("bnode", str(b)), None)
        for a in range(12)
        for b in range(12)
        if a != b
    ]
    other = [with_labels(quad, lambda label: f"x{label}") for quad in ring]
    with pytest.raises(rdfm.LimitError):
        alignment.align(as_batch([ring]).quads(0), as_batch([other]).quads(0), max_steps=50)
