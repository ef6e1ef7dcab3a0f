"""Blank node labels survive writing and reading, even next to generated labels."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import NATIVE, assert_same, decoded, encode, ordered

from rdfm import BlankNode, Iri, Literal, TripleTerm, formats, parse_term

P, END = ("iri", "http://e/p"), ("iri", "http://e/end")
TEXT_FORMATS = tuple(name for name in NATIVE if not formats.find(name).spec.binary)
# In these formats, nodes that occur only once are nested without labels.
NESTING_FORMATS = ("ndjsonld", "jsonld", "yamlld")
LABEL_FORMATS = tuple(name for name in NATIVE if name not in NESTING_FORMATS)


def escaped(label):
    return "_gx" + label.encode().hex()


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
unusual_labels = st.sampled_from(
    ["", "a", "a b", "-", ".", "1", "1a", "a.", "é", "_", "_g", "\n", "_gx6"]
)
generated_like_labels = st.from_regex("_gu{0,3}[0-9]{1,2}", fullmatch=True)
labels = st.recursive(
    texts | unusual_labels | generated_like_labels, lambda inner: inner.map(escaped), max_leaves=4
)
several_labels = st.lists(labels, min_size=1, max_size=8)


def log_of(names):
    """Returns a log of one message that links each label to the next one."""
    nodes = [("bnode", name) for name in names]
    message = [(node, P, other, None) for node, other in zip(nodes, [*nodes[1:], END], strict=True)]
    return [message]


def labels_of(messages):
    return [
        [term[1] for quad in message for term in quad if term and term[0] == "bnode"]
        for message in messages
    ]


@pytest.mark.parametrize("name", LABEL_FORMATS)
@given(names=several_labels)
def test_every_label_is_read_back(name, names):
    log = log_of(names)
    found = decoded(name, encode(name, log))
    assert set(labels_of(found)[0]) == set(names)
    if ordered(name):
        assert found == log


@pytest.mark.parametrize("name", TEXT_FORMATS)
@given(names=several_labels)
def test_a_second_pass_does_not_change_the_output(name, names):
    log = log_of(names)
    first = encode(name, log)
    found = decoded(name, first)
    assert_same(found, log, order=ordered(name))
    assert encode(name, found) == first


@given(names=several_labels, path=st.lists(st.sampled_from(LABEL_FORMATS), max_size=4))
def test_conversions_keep_labels(names, path):
    log = log_of(names)
    for name in path:
        log = decoded(name, encode(name, log))
    assert set(labels_of(log)[0]) == set(names)


written_labels = generated_like_labels | st.from_regex("_gx[0-9a-f]{0,4}|[a-c]", fullmatch=True)
ANONYMOUS = None


def turtle(names):
    return "".join(
        f"{'[]' if name is ANONYMOUS else f'_:{name}'} <http://e/p> {number} .\n"
        for number, name in enumerate(names)
    )


def ndjsonld(names, properties=""):
    nodes = ",".join(
        ('{"http://e/l":{"@list":[1,2]},' if name is ANONYMOUS else f'{{"@id":"_:{name}",')
        + f'{properties}"http://e/p":{number}}}'
        for number, name in enumerate(names)
    )
    return f'{{"@graph":[{nodes}]}}\n'


def reversed_ndjsonld(names):
    """Returns a message whose nodes have a reverse property."""
    return ndjsonld(names, properties='"@reverse":{"http://e/q":{"@id":"http://e/x"}},')


def rdfxml(names):
    nodes = "".join(
        f"<rdf:Description{'' if name is ANONYMOUS else f' rdf:nodeID={name!r}'}>"
        f"<p xmlns='http://e/'>{number}</p></rdf:Description>"
        for number, name in enumerate(names)
    )
    rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    return f"<rdf:RDF xmlns:rdf='{rdf}'>{nodes}</rdf:RDF>\n"


@pytest.mark.parametrize(
    ("name", "document"),
    [("trig", turtle), ("ndjsonld", ndjsonld), ("ndjsonld", reversed_ndjsonld), ("rdfxml", rdfxml)],
)
@given(
    names=st.lists(st.just(ANONYMOUS) | written_labels, max_size=8), target=st.sampled_from(NATIVE)
)
def test_generated_labels_are_unique(name, document, names, target):
    """Each node of a message has a unique label, which later conversions keep."""
    messages = decoded(name, document(names).encode())
    subjects = {
        int(value[1]): subject[1]
        for message in messages
        for subject, predicate, value, _ in message
        if predicate == P
    }
    nodes = {
        (number if label is ANONYMOUS else label, subjects[number])
        for number, label in enumerate(names)
    }
    assert len(nodes) == len({label for _, label in nodes}) == len({name for name, _ in nodes})
    first = encode(target, messages)
    assert encode(target, decoded(target, first)) == first


plain_terms = st.builds(Iri, texts) | st.builds(BlankNode, labels)
tags = (
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=10)
    | st.from_regex("[a-z]{1,9}(-[a-z0-9]{1,9}){0,2}", fullmatch=True)
    | st.sampled_from(["en--ltr", "x-gx", "X-gx", "en_US", "x-gx-656e5f55-53"])
)
tags = st.recursive(
    tags,
    lambda inner: inner.map(
        lambda tag: "-".join(
            ["x-gx", *(tag.encode()[at : at + 4].hex() for at in range(0, len(tag.encode()), 4))]
        )
    ),
    max_leaves=3,
)
literals = (
    st.builds(Literal, texts)
    | st.builds(
        lambda text, tag, direction: Literal(text, language=tag, direction=direction),
        texts,
        tags,
        st.sampled_from([None, "ltr", "rtl"]),
    )
    | st.builds(lambda text, datatype: Literal(text, datatype=datatype), texts, texts)
    | st.builds(
        lambda text, name: Literal(
            text, datatype=f"http://www.w3.org/1999/02/22-rdf-syntax-ns#{name}"
        ),
        texts,
        st.sampled_from(["langString", "dirLangString"]),
    )
)
terms = st.recursive(
    plain_terms | literals, lambda inner: st.builds(TripleTerm, inner, inner, inner), max_leaves=9
)


@given(term=terms)
def test_every_term_can_be_parsed_from_its_string(term):
    assert parse_term(str(term)) == term
