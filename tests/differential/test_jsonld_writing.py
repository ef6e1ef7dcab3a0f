"""JSON-LD written by rdfm, read by pyoxigraph and PyLD one message at a time."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonld_peers import is_supported_by_pyld, lower, pyld_reads, pyoxigraph_reads, wrapped
from logs import logs
from nquads import isomorphic, literal, map_terms
from support import as_batch, assert_same, decoded, encode

from rdfm import formats

# Prefixes, some of which look like IRI schemes or JSON-LD keywords.
prefix_names = st.sampled_from(["e", "x", "urn", "http", "a.b", "type", "é", "", "id"])
namespaces = st.sampled_from(
    [
        "http://example.org/",
        "http://example.org/a",
        "http://example.org/#",
        "urn:",
        "urn:x",
        "x:",
        "x:#",
        "http://a.b/",
        "e:e:",
    ]
)


@pytest.mark.parametrize("contexts", ["first", "every", "none"])
@pytest.mark.parametrize("reader", [pyoxigraph_reads, pyld_reads])
@given(log=logs(triples=False, plain="tags"), prefixes=st.dictionaries(prefix_names, namespaces))
def test_other_libraries_read_the_same_datasets(reader, contexts, log, prefixes):
    if reader is pyld_reads and not is_supported_by_pyld(log):
        return
    encoder = formats.ndjsonld.Encoder(context_lines=contexts, prefixes=prefixes)
    data = encoder.encode(as_batch(log)) + encoder.finish()
    documents = list(wrapped(data.split(b"\n")[:-1]))
    assert len(documents) == len(log)
    for message, document in zip(log, documents, strict=True):
        assert isomorphic(lower(reader(document)), lower(message)), data.decode()


RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
bnodes = st.sampled_from([("bnode", label) for label in "abcd"])
tangled_lists = st.lists(
    st.tuples(
        bnodes | st.just(("iri", "x:s")),
        st.sampled_from(
            [("iri", f"{RDF}{name}") for name in ("first", "rest", "rest", "type")]
            + [("iri", "x:p")]
        ),
        bnodes | st.sampled_from([("iri", f"{RDF}nil"), literal("x"), ("iri", "x:s")]),
        st.sampled_from([None, None, None, ("iri", "x:g"), ("bnode", "a")]),
    ),
    max_size=9,
)


@pytest.mark.parametrize("contexts", ["first", "none"])
@given(message=tangled_lists)
def test_structures_that_only_resemble_lists_or_nested_nodes_are_kept(contexts, message):
    encoder = formats.ndjsonld.Encoder(context_lines=contexts, prefixes={"rdf": RDF})
    data = encoder.encode(as_batch([message])) + encoder.finish()
    (document,) = wrapped(data.split(b"\n")[:-1])
    assert isomorphic(pyoxigraph_reads(document), message), data.decode()
    assert isomorphic(pyld_reads(document), message), data.decode()


@pytest.mark.parametrize("name", ["ndjsonld", "yamlld"])
def test_a_cyclic_list_is_not_written_as_a_list(name):
    """The cycle is broken within the list, so the cells before the break do not end in rdf:nil."""
    first, rest = (("iri", f"{RDF}{name}") for name in ("first", "rest"))
    a, b, c, nil = ("bnode", "a"), ("bnode", "b"), ("bnode", "c"), ("iri", f"{RDF}nil")
    quads = [
        (b, first, c, None),
        (b, rest, nil, None),
        (a, rest, b, None),
        (a, first, literal("x"), None),
        (c, ("iri", "x:p"), a, None),
    ]
    for rotation in range(len(quads)):
        log = [quads[rotation:] + quads[:rotation]]
        assert_same(decoded(name, encode(name, log)), log, order=False)


@pytest.mark.parametrize("name", ["ndjsonld", "yamlld"])
def test_a_long_key_may_occur_twice(name):
    key = ("iri", "x:" + "k" * 1100)
    log = [[(("iri", f"x:{at}"), key, literal("v"), None) for at in range(3)]]
    assert_same(decoded(name, encode(name, log)), log, order=False)


@pytest.mark.parametrize("length", [1, 2, 40, 3000])
def test_long_lists_are_written_as_lists_and_long_chains_are_split(length):
    cells = [("bnode", f"c{at}") for at in range(length)] + [("iri", f"{RDF}nil")]
    head = (("iri", "x:s"), ("iri", "x:p"), cells[0], None)
    message = [head]
    for at in range(length):
        message.append((cells[at], ("iri", f"{RDF}first"), literal(str(at)), None))
        message.append((cells[at], ("iri", f"{RDF}rest"), cells[at + 1], None))
    data = formats.ndjsonld.Encoder().encode(as_batch([message]))
    assert json.loads(data) == {
        "@id": "x:s",
        "x:p": {"@list": [str(at) for at in range(length)]},
    }
    chain = [head, *((a, ("iri", "x:p"), b, None) for a, b in itertools.pairwise(cells))]
    document = json.loads(formats.jsonld.Encoder().encode(as_batch([chain])))
    assert depth(document) < 64
    assert len(pyoxigraph_reads(document)) == length + 1


def depth(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(depth, inner), default=0)


@given(log=logs(triples=False, plain="tags"), prefixes=st.dictionaries(prefix_names, namespaces))
def test_each_message_is_one_document(log, prefixes):
    for message in log:
        encoder = formats.jsonld.Encoder(prefixes=prefixes)
        data = encoder.encode(as_batch([message])) + encoder.finish()
        assert isomorphic(lower(pyoxigraph_reads(json.loads(data))), lower(message))


@given(log=logs(triples=False, plain="tags"), prefixes=st.dictionaries(prefix_names, namespaces))
def test_merged_messages_keep_distinct_blank_nodes(log, prefixes):
    encoder = formats.jsonld.Encoder(prefixes=prefixes, flat=True)
    data = encoder.encode(as_batch(log)) + encoder.finish()
    if not log:
        assert data == b""
        return
    expected = [
        map_terms(quad, lambda t, at=at: (t[0], f"m{at}-{t[1]}") if t[0] == "bnode" else t)
        for at, message in enumerate(log)
        for quad in message
    ]
    assert isomorphic(lower(pyoxigraph_reads(json.loads(data))), lower(expected))
