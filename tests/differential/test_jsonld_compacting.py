"""JSON-LD written with a user's context, read by rdfm, pyoxigraph and PyLD."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonld_peers import is_supported_by_pyld, lower, pyld_reads, pyoxigraph_reads, wrapped
from logs import logs
from nquads import isomorphic, literal
from support import as_batch, decode

from rdfm import formats

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XSD = "http://www.w3.org/2001/XMLSchema#"
V = "http://v/"
# Contexts that use each supported feature, and names that are easy to confuse.
CONTEXTS = [
    {"@vocab": V, "id": "@id", "type": "@type", "graph": "@graph"},
    {"v": V, "p": {"@id": "v:p", "@type": "@id"}, "q": {"@id": "v:q", "@type": "v:T"}},
    {
        "@version": 1.1,
        "@language": "en",
        "p": {"@id": f"{V}p", "@container": "@list"},
        "q": {"@id": f"{V}q", "@container": "@language"},
        "r": {"@id": f"{V}r", "@container": "@set", "@language": None},
        "value": "@value",
        "language": "@language",
        "list": "@list",
    },
    {
        "@vocab": V,
        "xsd": XSD,
        "p": {"@type": "@vocab"},
        "q": {"@type": "xsd:integer", "@container": "@set"},
        "r": {"@id": "q", "@language": "de"},
        "s": {"@id": "r", "@type": "xsd:string"},
        "T": {"@id": "T", "@context": {"p": "x:other"}},
        "urn": "x:",
        "http": {"@id": "x:", "@prefix": True},
    },
    [
        {"@protected": True, "p": {"@id": f"{V}p", "@type": "@id", "@container": "@list"}},
        {"x": "urn:x:", "urn": {"@id": "http://u/", "@prefix": True}, "@base": "http://b/"},
    ],
    {"@vocab": V, "p": None, "x:q": None, "q": {"@reverse": "r"}, "r": {"@id": "r", "@nest": "n"}},
]

names = st.sampled_from([("iri", f"{V}{name}") for name in "pqrsT"])
other_iris = st.sampled_from(
    [("iri", iri) for iri in ("x:p", "urn:x:y", "http://b/p", f"{V}p:q", f"{V}@id", f"{V}p/q#r", V)]
)
bnodes = st.sampled_from([("bnode", label) for label in "abc"])
literals = st.sampled_from(
    [literal(text) for text in ("x", "@id", "1")]
    + [literal("x", language=tag) for tag in ("en", "de", "EN")]
    + [literal("x", datatype=f"{V}T"), literal("x", datatype=f"{XSD}integer")]
    + [literal("7", datatype=f"{XSD}{name}") for name in ("integer", "double", "date")]
    + [literal("1.5E0", datatype=f"{XSD}double"), literal("true", datatype=f"{XSD}boolean")]
)
cells = st.sampled_from([("iri", f"{RDF}{name}") for name in ("first", "rest", "type")])
nodes = names | other_iris | bnodes | st.just(("iri", f"{RDF}nil"))
quads = st.tuples(
    names | other_iris | bnodes,
    names | names | other_iris | cells,
    nodes | literals,
    st.none() | st.none() | other_iris | bnodes,
)


@st.composite
def lists(draw):
    """Draws a property whose values are lists."""
    found = []
    subject = draw(names)
    for number in range(draw(st.integers(1, 2))):
        items = draw(st.lists(nodes | literals, max_size=3))
        links = [("bnode", f"l{number}{at}") for at in range(len(items))] + [("iri", f"{RDF}nil")]
        found.append((subject, ("iri", f"{V}p"), links[0], None))
        for at, item in enumerate(items):
            found.append((links[at], ("iri", f"{RDF}first"), item, None))
            found.append((links[at], ("iri", f"{RDF}rest"), links[at + 1], None))
    return found


confusable_logs = st.lists(st.lists(quads, max_size=7) | lists(), max_size=3)


def encoded(format, log, context, **options):
    encoder = formats.find(format).Encoder(compact_with=context, **options)
    return encoder.encode(as_batch(log)) + encoder.finish()


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("lines", ["first", "every"])
@given(log=confusable_logs | logs(triples=False, plain="tags"))
def test_all_libraries_read_the_same_datasets(lines, context, log):
    data = encoded("ndjsonld", log, context, context_lines=lines)
    found, error = decode("ndjsonld", data)
    assert error is None, data.decode()
    documents = list(wrapped(data.split(b"\n")[:-1]))
    assert len(found) == len(documents) == len(log)
    for message, ours, document in zip(log, found, documents, strict=True):
        assert isomorphic(ours, message), data.decode()
        assert isomorphic(lower(pyoxigraph_reads(document)), lower(message)), data.decode()
        if is_supported_by_pyld([message]):
            assert isomorphic(lower(pyld_reads(document)), lower(message)), data.decode()


@pytest.mark.parametrize("context", CONTEXTS)
@given(log=confusable_logs)
def test_json_and_yaml_documents_are_read_back(context, log):
    data = encoded("yamlld", log, context)
    found, error = decode("yamlld", data)
    assert error is None, data.decode()
    assert all(isomorphic(*pair) for pair in zip(found, log, strict=True)), data.decode()
    for message in log:
        data = encoded("jsonld", [message], context)
        found, error = decode("jsonld", data)
        assert error is None, data.decode()
        assert isomorphic(found[0], message), data.decode()
