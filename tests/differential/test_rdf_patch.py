"""Random patches written by rdfm, compared with RDFLib's patch parser and thriftpy2."""

import random

import pytest
from nquads import XSD_STRING, literal
from rdf_binary import thrift_rows
from rdf_patch import patches_of, read_thrift, thrift_row
from rdflib import BNode, Dataset, Literal, URIRef
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID
from support import as_term, as_tuple

import rdfm

XSD = "http://www.w3.org/2001/XMLSchema#"
# RDFLib's patch parser uses deprecated parts of RDFLib.
pytestmark = pytest.mark.filterwarnings("ignore:Dataset:DeprecationWarning")
IRIS = [("iri", f"http://example.org/{name}") for name in ("a", "b#c", "d?e=é", "%20")]
BNODES = [("bnode", label) for label in ("b0", "x_1", "7f3d-1")]
LITERALS = [
    literal("plain"),
    literal('"quotes" \\ and\nlines\t'),
    literal("é 日本 😀"),
    literal("hej", "da"),
    literal("colour", "en-GB"),
    literal("42", datatype=f"{XSD}integer"),
    literal("1.50", datatype=f"{XSD}decimal"),
    literal("x", datatype="http://example.org/dt"),
    literal(""),
]


def random_quad(random):
    """Returns a random quad."""
    subject = random.choice(IRIS + BNODES)
    graph = random.choice([None, None, *IRIS])
    return (subject, random.choice(IRIS), random.choice(IRIS + BNODES + LITERALS), graph)


def changes(random, count):
    """Yields rows that add random quads, or delete quads that were added before."""
    added = []
    for _ in range(count):
        if added and random.random() < 0.3:
            yield ("D", None, *added.pop(random.randrange(len(added))))
        else:
            added.append(random_quad(random))
            yield ("A", None, *added[-1])


def patch(random, count=30):
    empty = (None,) * 4
    return [
        ("H", "id", None, None, ("iri", f"uuid:{random.random()}"), None),
        ("TX", None, *empty),
        *changes(random, count),
        ("TC", None, *empty),
    ]


def write(path, patches):
    with rdfm.create_log(path, kind="patches") as log:
        for rows in patches:
            log.write([(*row[:2], *(as_term(term) for term in row[2:])) for row in rows])


def read(path):
    with rdfm.open_log(path, kind="patches") as log:
        return [
            [(*row[:2], *(as_tuple(term) for term in row[2:])) for row in patch.operations]
            for patch in log
        ]


def to_rdflib(term):
    """Converts a tuple to an RDFLib term."""
    kind, value = term[:2]
    if kind == "iri":
        return URIRef(value)
    if kind == "bnode":
        return BNode(value)
    _, value, language, _, datatype = term
    if language:
        return Literal(value, lang=language)
    return Literal(
        value, datatype=None if datatype == XSD_STRING else URIRef(datatype), normalize=False
    )


@pytest.mark.parametrize("seed", range(20))
def test_rdflib_reads_the_output_of_rdfm(seed, tmp_path):
    rows = patch(random.Random(seed))
    path = tmp_path / "one.rdfp"
    write(path, [rows])
    store = Dataset()
    store.parse(path, format="patch")
    expected = set()
    for code, _, subject, predicate, object_, graph in rows[2:-1]:
        quad = (subject, predicate, object_, graph)
        change = expected.add if code == "A" else expected.discard
        change(quad)
    assert len(store) > 0

    def key(quad):
        return tuple("" if term is None else term.n3() for term in quad)

    default = DATASET_DEFAULT_GRAPH_ID
    found = {
        key((*triple, None if graph in (None, default) else graph))
        for *triple, graph in store.quads()
    }
    assert found == {
        key((*map(to_rdflib, quad[:3]), quad[3] and to_rdflib(quad[3]))) for quad in expected
    }


def test_rdflib_reads_prefixes(tmp_path):
    path = tmp_path / "one.rdfp"
    iri = ("iri", "http://example.org/ns#")
    write(
        path,
        [
            [
                ("PA", "gone", None, None, iri, None),
                ("PA", "kept", None, None, iri, None),
                ("PD", "gone", None, None, None, None),
            ]
        ],
    )
    store = Dataset()
    store.parse(path, format="patch")
    assert dict(store.namespaces())["kept"] == URIRef(iri[1])


def test_rdfm_reads_the_output_of_rdflib(tmp_path):
    store = Dataset()
    store.add((URIRef("http://e/s"), URIRef("http://e/p"), Literal("o"), URIRef("http://e/g")))
    store.add((BNode("b"), URIRef("http://e/p"), Literal(1)))
    text = store.serialize(
        format="patch", operation="add", header_id="uuid:2", header_prev="uuid:1"
    )
    path = tmp_path / "one.rdfp"
    path.write_text(text, "utf-8")
    (rows,) = read(path)
    assert [row[:2] for row in rows[:3]] == [("H", "id"), ("H", "prev"), ("TX", None)]
    found = {row[2:] for row in rows if row[0] == "A"}
    assert found == {
        (("iri", "http://e/s"), ("iri", "http://e/p"), literal("o"), ("iri", "http://e/g")),
        (("bnode", "b"), ("iri", "http://e/p"), literal("1", datatype=f"{XSD}integer"), None),
    }


@pytest.mark.parametrize("seed", range(20))
def test_thrift_agrees_with_thriftpy2(seed, tmp_path):
    rng = random.Random(seed)
    patches = [patch(rng, rng.randrange(40)) for _ in range(rng.randrange(1, 4))]
    path = tmp_path / "one.trp"
    write(path, patches)
    data = path.read_bytes()
    rows = read_thrift(data)
    assert patches_of(rows) == patches == read(path)
    assert thrift_rows(map(thrift_row, rows)) == data
