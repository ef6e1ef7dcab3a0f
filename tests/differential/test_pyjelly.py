"""Jelly exchanged with pyjelly in both directions."""

import io

import jelly_proto
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from logs import logs
from nquads import literal
from pyjelly import jelly
from pyjelly.integrations.generic import generic_sink as generic
from pyjelly.integrations.generic.parse import parse_jelly_grouped
from pyjelly.integrations.generic.serialize import grouped_stream_to_file
from pyjelly.options import StreamParameters
from pyjelly.serialize.streams import SerializerOptions
from support import assert_same, decode, encode

import rdfm
from rdfm import EncodeError, formats

XSD_STRING = "http://www.w3.org/2001/XMLSchema#string"
TABLES = {
    "default": {},
    "small": {"name_table": 8, "prefix_table": 4, "datatype_table": 2},
    "no-prefixes": {"name_table": 8, "prefix_table": 0},
}


def to_pyjelly(term):
    if term is None:
        return generic.DefaultGraph
    kind = term[0]
    if kind == "iri":
        return generic.IRI(term[1])
    if kind == "bnode":
        return generic.BlankNode(term[1])
    if kind == "triple":
        return generic.Triple(*(to_pyjelly(part) for part in term[1:]))
    _, lexical, language, direction, datatype = term
    if language:
        return generic.Literal(
            lexical, langtag=f"{language}--{direction}" if direction else language
        )
    return generic.Literal(lexical, datatype=None if datatype == XSD_STRING else datatype)


def from_pyjelly(term):
    if term is generic.DefaultGraph:
        return None
    if isinstance(term, generic.IRI):
        return ("iri", term._iri)
    if isinstance(term, generic.BlankNode):
        return ("bnode", term._identifier)
    if isinstance(term, tuple):
        return ("triple", *(from_pyjelly(part) for part in term))
    language, _, direction = (term._langtag or "").partition("--")
    return literal(term._lex, language, direction or None, term._datatype)


def read(data):
    found = []
    for sink in parse_jelly_grouped(io.BytesIO(data)):
        quads = [tuple(from_pyjelly(term) for term in statement) for statement in sink]
        found.append([quad if len(quad) == 4 else (*quad, None) for quad in quads])
    return found


@pytest.mark.parametrize("physical", ["triples", "quads", "graphs"])
@given(data=st.data())
def test_pyjelly_reads_the_output_of_rdfm(physical, data):
    log = data.draw(logs(graphs=physical != "triples", generalized=True))
    assume(log)
    encoded = encode("jelly", log, physical_type=physical, generalized=True, rdf_star=True)
    assert_same(read(encoded), log)


@pytest.mark.parametrize("graphs", [False, True])
@given(data=st.data())
def test_rdfm_reads_the_output_of_pyjelly(graphs, data):
    # pyjelly infers the log type from the first message, so no message is empty.
    log = [message for message in data.draw(logs(graphs=graphs, generalized=True)) if message]
    assume(log)

    def to_sink(message):
        found = generic.GenericStatementSink()
        for quad in message:
            terms = [to_pyjelly(term) for term in quad]
            found.add(generic.Quad(*terms) if graphs else generic.Triple(*terms[:3]))
        return found

    kind = jelly.LOGICAL_STREAM_TYPE_DATASETS if graphs else jelly.LOGICAL_STREAM_TYPE_GRAPHS
    params = StreamParameters(generalized_statements=True, rdf_star=True)
    out = io.BytesIO()
    options = SerializerOptions(logical_type=kind, params=params)
    grouped_stream_to_file((to_sink(message) for message in log), out, options=options)
    found, error = decode("jelly", out.getvalue())
    assert error is None
    assert_same(found, log)


def encoded(log, **options):
    """Returns a log as Jelly, unless a statement needs more entries than the tables have."""
    try:
        return encode("jelly", log, generalized=True, rdf_star=True, **options)
    except EncodeError:
        return assume(False)


@pytest.mark.parametrize("tables", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("physical", ["triples", "quads", "graphs"])
@settings(max_examples=max(settings.default.max_examples // 3, 2))
@given(data=st.data())
def test_other_libraries_read_logs_with_restarts_and_joined_logs(physical, tables, data):
    first, second = (
        data.draw(logs(graphs=physical != "triples", generalized=True)) for _ in range(2)
    )
    assume(first and second)
    options = {"physical_type": physical, **tables}
    restarts = encoded(first, restart_bytes=1, **options)
    joined = restarts + encoded(second, **options)
    assert_same(read(joined), first + second)
    assert_same(jelly_proto.decode(joined), first + second)
    found, error = decode("jelly", joined)
    assert error is None
    assert_same(found, first + second)


def test_other_libraries_read_restarts_after_an_empty_message():
    quad = (("iri", "http://e/s"), ("iri", "http://e/p"), ("iri", "http://e/o"), None)
    for log in ([[], [quad], [quad]], [[], []], [[quad], [], [quad]]):
        restarts = encode("jelly", log, restart_bytes=1)
        assert_same(read(restarts + restarts), log + log)


@pytest.mark.filterwarnings("ignore:Dataset.*:DeprecationWarning")
def test_rdflib_reads_restarts_with_namespaces():
    """pyjelly's generic parser does not support namespace declarations."""
    from rdflib import Dataset

    text = (
        "@prefix e: <http://e/> . e:s e:p e:o .\n# @message\n@prefix f: <http://f/> . f:s e:p e:o ."
    )
    batch = formats.find("trig").decode(text.encode())
    data = formats.find("jelly").encode(batch, namespaces=True, restart_bytes=1)
    assert data.count(b"rdfm.restart") == 2
    found = Dataset()
    found.parse(data=data + data, format="jelly")
    assert {tuple(str(term) for term in quad[:3]) for quad in found.quads()} == {
        ("http://e/s", "http://e/p", "http://e/o"),
        ("http://f/s", "http://e/p", "http://e/o"),
    }
    assert dict(found.namespaces())["f"].toPython() == "http://f/"


def test_restart_marks_from_other_writers_are_dropped(tmp_path):
    """A program that merges logs may copy the mark of a frame."""
    quad = (("iri", "http://e/s"), ("iri", "http://e/p"), ("iri", "http://e/o"), None)
    metadata = jelly_proto.read_frames(encode("jelly", [[quad]]))[0].metadata
    assert list(metadata) == ["rdfm.restart"]
    writer = jelly_proto.Writer(1)
    writer.message([quad], {**metadata, "key": b"value"})
    writer.message([quad], metadata)
    path = tmp_path / "log.jelly"
    path.write_bytes(jelly_proto.delimited(writer.frames))
    with rdfm.open_log(path) as log:
        assert [message.metadata for message in log] == [{"key": b"value"}, {}]
