"""Artifact codes of random nanopublications, before and after changes to the quads."""

import nanopubs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nanopubs import PLACEHOLDER, iri, literal

import rdfm
from rdfm.nanopub import trusty

pytestmark = pytest.mark.slow

# Characters with special ordering or escapes: beyond U+FFFF, private use, control characters.
TEXT = st.text(st.sampled_from("ab \\\n\r\t\"'^@é\ue000\uffff\U00010000\U0010fffd€"), max_size=6)
NAMES = st.text(st.sampled_from("abZ09-_.~é\U00010000"), min_size=1, max_size=4)
IRIS = st.one_of(
    NAMES.map(lambda name: iri(f"http://e/{name}")),
    st.sampled_from(
        [iri(nanopubs.BASE + PLACEHOLDER), iri(f"{nanopubs.BASE}{PLACEHOLDER}/x{PLACEHOLDER}")]
    ),
)
TAGS = st.sampled_from(["en", "EN", "en-GB", "de", "x-a"])
LITERALS = st.one_of(
    TEXT.map(literal),
    st.tuples(TEXT, TAGS).map(lambda pair: literal(*pair)),
    st.tuples(TEXT, NAMES).map(lambda pair: literal(pair[0], datatype=f"http://d/{pair[1]}")),
)
TRIPLES = st.lists(st.tuples(IRIS, IRIS, st.one_of(IRIS, LITERALS)), min_size=1, max_size=8)


def reasons(quads):
    with rdfm.open_log(nanopubs.nq(quads), "nq") as log:
        return trusty.verify(log)


@given(TRIPLES, TRIPLES)
def test_generated_codes_are_valid(assertion, info):
    quads = nanopubs.trusty(nanopubs.nanopub(assertion=assertion, info=info))
    assert reasons(quads) == [None]


@given(TRIPLES, st.randoms(use_true_random=False))
def test_quad_order_duplicates_and_language_tag_case_do_not_change_the_code(assertion, random):
    quads = nanopubs.trusty(nanopubs.nanopub(assertion=assertion))
    quads += random.choices(quads, k=3)
    random.shuffle(quads)
    changed = [
        (s, p, (o[0], o[1], o[2].swapcase(), *o[3:]) if o[0] == "literal" and o[2] else o, g)
        for s, p, o, g in quads
    ]
    assert reasons(changed) == [None]


@given(TRIPLES, st.data())
def test_one_changed_character_invalidates_the_code(assertion, data):
    quads = nanopubs.trusty(nanopubs.nanopub(assertion=assertion))
    at = data.draw(st.integers(4, len(quads) - 1))
    subject, predicate, object, graph = quads[at]
    text = data.draw(st.sampled_from("xyz\n\\\U00010001")).join(["", object[1]])
    if object[0] == "iri":
        text = object[1] + "x"
    changed = [
        *quads[:at],
        (subject, predicate, (object[0], text, *object[2:]), graph),
        *quads[at + 1 :],
    ]
    if set(changed) == set(quads):
        return  # the set of quads is the same
    (found,) = reasons(changed)
    assert found is not None


@given(st.lists(TRIPLES, min_size=1, max_size=5))
def test_messages_of_a_batch_are_verified_independently(contents):
    quads = [nanopubs.trusty(nanopubs.nanopub(assertion=each)) for each in contents]
    with rdfm.open_log(nanopubs.nq(*quads), "nq") as log:
        messages = list(log)
    batch = rdfm.MessageBatch.from_messages(messages)
    assert trusty.verify(batch) == [None] * len(quads)
    assert [trusty.verify([message])[0] for message in messages] == [None] * len(quads)
    assert trusty.verify(batch.slice(len(quads) - 1, len(quads))) == [None]


@given(st.lists(st.tuples(IRIS, IRIS, st.one_of(IRIS, LITERALS)), max_size=12))
def test_codes_of_any_quads_follow_the_specification(triples):
    quads = [(*each, graph) for each in triples for graph in (None, iri("http://g/1"))]
    filled = nanopubs.with_code(quads, "C" * 45)
    with rdfm.open_log(nanopubs.nq(filled), "nq") as log:
        messages = list(log) or [rdfm.Message([])]
    assert trusty.artifact_code(messages[0], "C" * 45) == nanopubs.code_of(filled, "C" * 45)
