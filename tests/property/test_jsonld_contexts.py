"""The meaning of a message depends only on its current context, not on earlier contexts."""

import json

import hypothesis.strategies as st
from hypothesis import given, settings

import rdfm
from rdfm import formats

# Few names and IRIs, so that consecutive contexts share some of their terms.
IRIS = ("http://a/", "http://b/x#", "http://b/x", "urn:c:", "a:d", "b:", "_:e", "@type", "e")
DEFINITIONS = st.one_of(
    st.sampled_from(IRIS),
    st.sampled_from(
        (
            {"@id": "http://a/", "@prefix": True},
            {"@id": "http://a/"},
            {"@id": "http://b/p", "@type": "@id"},
            {"@id": "http://b/p", "@language": "en"},
            {"@id": "http://b/p", "@protected": True},
            {"@reverse": "http://b/p"},
            {"@id": "http://b/p", "@context": {"q": "http://c/q"}},
            None,
        )
    ),
)
CONTEXTS = st.dictionaries(st.sampled_from("abcq"), DEFINITIONS, max_size=4)
CONTEXTS_WITH_KEYWORDS = st.builds(
    lambda context, keywords: {**context, **keywords},
    CONTEXTS,
    st.sampled_from(({}, {}, {}, {"@vocab": "http://v/"}, {"@base": "http://w/"}, {"a:k": "a:k"})),
)
VALUES = st.sampled_from(
    ({"@id": "a:1"}, {"@id": "b:2"}, "text", {"q": "v"}, {"@type": "b:t", "a:p": 1})
)
MESSAGES = st.dictionaries(
    st.sampled_from(("a", "b", "c", "q", "a:p", "b:p", "a:k", "c:x")),
    VALUES,
    min_size=1,
    max_size=4,
)
LINES = st.lists(
    st.tuples(CONTEXTS_WITH_KEYWORDS, st.lists(MESSAGES, min_size=1, max_size=2)), max_size=6
)


def read(context, messages):
    """Returns the quads and namespaces of the messages that follow a context."""
    lines = [{"@context": context}, *messages]
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    found = formats.find("ndjsonld").decode(data, lenient=True)
    return [description(message) for message in found]


def description(message):
    quads = sorted(f"{quad}" for quad in message.quads)
    return quads, dict(message.namespaces)


@settings(max_examples=400)
@given(LINES)
def test_a_context_does_not_depend_on_earlier_contexts(lines):
    expected, data = [], []
    for context, messages in lines:
        try:
            separate = [read(context, [message])[0] for message in messages]
        except rdfm.DecodeError:
            continue
        expected += separate
        data += [{"@context": context}, *messages]
    text = b"".join(json.dumps(line).encode() + b"\n" for line in data)
    found = [
        description(message) for message in formats.find("ndjsonld").decode(text, lenient=True)
    ]
    assert [quads for quads, _ in found] == [quads for quads, _ in expected]
    for (_, namespaces), (_, expected_namespaces) in zip(found, expected, strict=True):
        assert expected_namespaces.items() <= namespaces.items()
