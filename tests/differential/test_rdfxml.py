"""RDF/XML exchanged with pyoxigraph and rdflib in both directions, one document at a time."""

import logging

import pyoxigraph as ox
import pytest
import rdflib
from hypothesis import given
from hypothesis import strategies as st
from logs import logs
from nquads import isomorphic, literal, map_terms
from oxigraph import from_oxigraph, to_oxigraph
from samples import lowercase_languages
from support import as_batch, decoded, encode

# rdflib's own parsers and serializers use deprecated parts of rdflib.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

LOGS = logs(graphs=False, triples=False, any_text=False, plain="terms")
DOCUMENTS = [
    '<r:RDF xmlns:r="{rdf}" xmlns="http://e/"><T r:about="http://e/s" xmlns:e="http://e/" e:p="v" e:q="w"/></r:RDF>',
    '<r:RDF xmlns:r="{rdf}" xmlns="http://e/"><T><p><U><q>x</q></U></p></T></r:RDF>',
    '<r:RDF xmlns:r="{rdf}" xmlns="http://e/"><T><p r:parseType="Resource"><q>1</q></p></T></r:RDF>',
    '<r:RDF xmlns:r="{rdf}" xmlns="http://e/"><T><p r:parseType="Collection"><T/><U/></p></T></r:RDF>',
    '<r:RDF xmlns:r="{rdf}" xmlns="http://e/"><r:Bag><r:li>a</r:li><r:li>b</r:li></r:Bag></r:RDF>',
    '<r:RDF xmlns:r="{rdf}" xmlns="http://e/" xml:base="http://e/a/b#c"><T r:ID="i" r:type=""><p '
    'r:resource="../d"/><q r:ID="j">x</q></T></r:RDF>',
    '<r:RDF xmlns:r="{rdf}" xmlns="http://e/" xml:lang="en"><T xmlns:e="http://f/" e:p="v"><q>x</q><q xml:lang="fr">y</q>'
    '<q r:datatype="http://e/d">z</q></T></r:RDF>',
    '<!DOCTYPE a [<!ENTITY e "http://e/">]><r:RDF xmlns:r="{rdf}" xmlns="&e;"><T r:about="&e;s"><p>'
    "&lt;&#65;&#x42;&e;&amp;</p></T></r:RDF>",
    '<?xml version="1.0" encoding="utf-8"?>\n<!-- a -->\n<T xmlns="http://e/">\n<p>\n x\n</p>\n</T>\n',
]
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
DOCTYPE = (
    "<!DOCTYPE r:RDF [<!ENTITY e \"http://e/\"> <!-- \"'> --> <!ENTITY x 'X &#38;amp; &lt;y'>\n"
    '<?pi ]> ?><!ENTITY w " \n "><!ENTITY x "another"><!ENTITY d "&x;&w;">]>\n'
)
CHARACTERS = [
    "a",
    " ",
    "\n",
    "\r\n",
    "\t",
    "é",
    "&amp;",
    "&lt;",
    "&x;",
    "&w;",
    "&d;",
    "&#10;",
    "&#13;",
]
TEXTS = st.lists(
    st.sampled_from([*CHARACTERS, "<![CDATA[<q>&x;]]>", "<!-- c -->", "<?p i?>", "]]"]), max_size=5
).map("".join)
VALUES = st.lists(st.sampled_from([*CHARACTERS, "&quot;", ">"]), max_size=5).map("".join)
SPACES = st.sampled_from(["", " ", "\n", "<!-- x -->", "<?q?>", "\r\n\t"])
IRIS = st.sampled_from(
    [
        "",
        "#f",
        "a/b",
        "../c",
        "?q=1&amp;r",
        "&e;z",
        "http://e/é",
        "//h/p",
        "urn:x:y",
        "./",
        "g;x=1/../y",
    ]
)
INHERITED = st.sampled_from(
    ["", "", ' xml:lang="en"', ' xml:lang=""', ' xml:base="http://q/r/s?t#u"', ' xml:base="u/"']
)


@st.composite
def nodes(draw, depth=3):
    """Draws a node, and the text before it."""
    name = draw(st.sampled_from(["r:Description", "T", "e:Ué", "r:Seq"]))
    identifier = draw(
        st.sampled_from(["", f' r:about="{draw(IRIS)}"', ' r:nodeID="b1"', ' r:nodeID="b2"'])
    )
    attributes = draw(
        st.sampled_from(["", "", f' e:at="{draw(VALUES)}"', f' r:type="{draw(IRIS)}"'])
    )
    inner = "".join(draw(st.lists(properties(depth), max_size=3))) if depth else ""
    return f"{draw(SPACES)}<{name}{draw(INHERITED)}{identifier}{attributes}>{inner}{draw(SPACES)}</{name}>"


@st.composite
def properties(draw, depth):
    """Draws a property, and the text before it."""
    name = draw(st.sampled_from(["p", "e:q", "r:li", "r:_3", "r:value"]))
    start = f"{draw(SPACES)}<{name}{draw(INHERITED)}"
    end = f"{draw(SPACES)}</{name}>"
    match draw(st.integers(0, 6 if depth else 3)):
        case 0:
            return f"{start}>{draw(TEXTS)}</{name}>"
        case 1:
            return f'{start} r:datatype="&e;d">{draw(TEXTS)}</{name}>'
        case 2:
            return f'{start} r:resource="{draw(IRIS)}"/>'
        case 3:
            return f'{start} e:at="{draw(VALUES)}"/>'
        case 4:
            inner = draw(st.lists(properties(depth - 1), max_size=2))
            return f'{start} r:parseType="Resource">{"".join(inner)}{end}'
        case 5:
            inner = draw(st.lists(nodes(depth - 1), max_size=3))
            return f'{start} r:parseType="Collection">{"".join(inner)}{end}'
        case _:
            return f"{start}>{draw(nodes(depth - 1))}{end}"


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    """Keeps rdflib from changing invalid lexical forms and from warning about them."""
    logging.getLogger("rdflib").setLevel(logging.CRITICAL)
    monkeypatch.setattr(rdflib, "NORMALIZE_LITERALS", False)


def read_with_oxigraph(document):
    return [
        (
            from_oxigraph(quad.subject),
            from_oxigraph(quad.predicate),
            from_oxigraph(quad.object),
            None,
        )
        for quad in ox.parse(document, format=ox.RdfFormat.RDF_XML)
    ]


def read_with_rdflib(document):
    graph = rdflib.Dataset()
    graph.default_graph.parse(data=document, format="xml")
    return [(*tuple(from_rdflib(term) for term in triple), None) for triple in graph.default_graph]


def from_rdflib(term):
    if isinstance(term, rdflib.URIRef):
        return ("iri", str(term))
    if isinstance(term, rdflib.BNode):
        return ("bnode", str(term))
    return literal(str(term), term.language, None, term.datatype and str(term.datatype))


@pytest.mark.parametrize(
    "read", [read_with_oxigraph, read_with_rdflib], ids=["pyoxigraph", "rdflib"]
)
@pytest.mark.parametrize("document", DOCUMENTS)
def test_documents_are_read_as_in_other_libraries(read, document):
    data = document.replace("{rdf}", RDF).encode()
    (message,) = decoded("rdfxml", data)
    assert isomorphic(message, read(data))


@given(inner=st.lists(nodes(), max_size=3).map("".join))
def test_random_documents_are_read_as_in_rdflib(inner):
    root = f'<r:RDF xmlns:r="{RDF}" xmlns="&e;" xmlns:e="http://f/" xml:base="http://b/c/d#e">'
    document = f"{DOCTYPE}{root}{inner}</r:RDF>".encode()
    (message,) = decoded("rdfxml", document)
    assert isomorphic(message, read_with_rdflib(document))


@pytest.mark.parametrize(
    "read", [read_with_oxigraph, read_with_rdflib], ids=["pyoxigraph", "rdflib"]
)
@given(log=LOGS)
def test_other_libraries_read_the_output_of_rdfm(read, log):
    log = lowercase_languages(log, directions=False)
    lines = encode("rdfxml", log).splitlines(keepends=True)
    assert len(lines) == len(log)
    for line, message in zip(lines, log, strict=True):
        assert isomorphic(read(line), message)


def with_letter(term):
    return ("bnode", f"b{term[1]}") if term[0] == "bnode" else term


@given(log=LOGS, data=st.data())
def test_rdfm_reads_the_output_of_other_libraries(log, data):
    # These libraries write labels unchanged, but not all labels are XML names.
    renamed_log = [[map_terms(quad, with_letter) for quad in message] for message in log]
    for message in lowercase_languages(renamed_log, directions=False):
        triples = [ox.Triple(*(to_oxigraph(term) for term in quad[:3])) for quad in message]
        their_quads = ox.serialize(triples, format=ox.RdfFormat.RDF_XML)
        (found,) = decoded("rdfxml", their_quads)
        assert isomorphic(found, message)
        if any("%" in quad[1][1] for quad in message):
            continue  # rdflib writes `%` into XML names
        graph = next(iter(as_batch([message]))).to_rdflib().default_graph
        kind = data.draw(st.sampled_from(["xml", "pretty-xml"]))
        (found,) = decoded("rdfxml", graph.serialize(format=kind).encode())
        assert isomorphic(found, message)
