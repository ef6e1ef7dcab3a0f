"""RDF Protobuf and RDF Thrift: invalid literals, and logs that Jena does not read."""

import jelly_proto
import pytest
import rdf_binary
from support import decode

import rdfm

S = ("iri", "http://e/s")
LINE = b"<http://e/s> <http://e/p> <http://e/o> .\n"


def rows(kinds, literal):
    """Returns a row whose object is this literal."""
    subject = rdf_binary.term_of(kinds, S)
    term = kinds.RDF_Term(literal=literal)
    return [kinds.RDF_StreamRow(triple=kinds.RDF_Triple(S=subject, P=subject, O=term))]


def test_a_direction_without_a_language_is_an_error():
    kinds = rdf_binary.protobuf()
    log = rdf_binary.protobuf_rows(rows(kinds, kinds.RDF_Literal(lex="a", langdir="--ltr")))
    messages, error = decode("rdf-protobuf", log, framing="rows")
    assert messages == []
    assert "a base direction without a language" in error


def test_a_thrift_literal_with_two_datatypes_is_an_error():
    kinds = rdf_binary.thrift()
    name = kinds.RDF_PrefixName(prefix="p", localName="d")
    literal = kinds.RDF_Literal(lex="a", datatype="http://e/d", dtPrefix=name)
    messages, error = decode("rdf-thrift", rdf_binary.thrift_rows(rows(kinds, literal)))
    assert messages == []
    assert "the literal is ambiguous" in error


@pytest.mark.parametrize(
    ("log", "options", "noted"),
    [
        (LINE, {}, True),
        (LINE, {"to_framing": "messages"}, False),
        (LINE, {"to_framing": "rows"}, False),
        (LINE + b"# @message\n" + LINE, {}, False),
    ],
)
def test_a_log_that_jena_reads_as_empty_has_a_note(tmp_path, log, options, noted):
    summary = rdfm.convert(log, tmp_path / "log.rpb", from_format="nq", **options)
    assert [note.split(";")[0] for note in summary.notes] == [
        "Apache Jena reads a log with message framing as an empty file"
    ] * noted


def test_a_message_that_is_appended_has_no_note(tmp_path):
    path = tmp_path / "log.rpb"
    rdfm.convert(LINE, path, from_format="nq")
    assert rdfm.convert(LINE, path, from_format="nq", append=True).notes == ()


def framed(rows):
    """Returns the rows in each framing of RDF Protobuf, by name."""
    kinds = rdf_binary.protobuf()
    stream = kinds.RDF_Stream(row=rows)
    logs = {
        "messages": jelly_proto.delimited([stream]),
        "rows": rdf_binary.protobuf_rows(rows),
        "stream": stream.SerializeToString(),
    }
    if all(row.WhichOneof("row") == "triple" for row in rows):
        graph = kinds.RDF_Graph(triple=[row.triple for row in rows])
        logs["graph"] = graph.SerializeToString()
    return logs


def row_lists():
    """Yields lists of rows whose first row has another kind, another term or another size."""
    kinds = rdf_binary.protobuf()
    for size in (*range(40), 100, 120, 126, 130, 200, 2000):
        iri = ("iri", "a:" + size * "x")
        for subject in (iri, ("bnode", "b" + size * "x"), ("triple", iri, iri, iri)):
            for graph in (None, iri):
                rows = list(rdf_binary.rows_of(kinds, [(subject, iri, iri, graph)] * 2))
                yield rows
        name = kinds.RDF_PrefixDecl(prefix=size * "x", uri="a:")
        long = kinds.RDF_PrefixDecl(prefix="", uri=iri[1])
        for each in (name, long):
            yield [kinds.RDF_StreamRow(prefixDecl=each), *rows]
        yield [kinds.RDF_StreamRow(base=kinds.RDF_IRI(iri=iri[1])), *rows]


def test_framings_with_lengths_are_detected_and_all_may_be_given():
    for rows in row_lists():
        logs = framed(rows)
        expected, error = decode("rdf-protobuf", logs["rows"], framing="rows")
        assert (len(expected), error) == (1, None)
        for framing, log in logs.items():
            found = decode("rdf-protobuf", log, framing=framing)
            assert found == (expected, None), (framing, log[:40])
            found, error = decode("rdf-protobuf", log)
            if framing in ("messages", "rows"):
                assert (found, error) == (expected, None), (framing, log[:40])
            else:
                assert not found
                assert f'framing="{framing}" reads it' in str(error), (framing, log[:40])


@pytest.mark.parametrize("framing", ["stream", "graph"])
def test_a_file_without_a_length_prefix_is_read_on_request(framing, tmp_path):
    kinds = rdf_binary.protobuf()
    rows = list(rdf_binary.rows_of(kinds, [(S, S, S, None)] * 3))
    log = framed(rows)[framing]
    with rdfm.open_log(log, framing=framing) as messages:
        assert [len(list(message)) for message in messages] == [3]
        assert messages.format == "rdf-protobuf"
    for end in range(1, len(log)):
        found, error = decode("rdf-protobuf", log[:end], framing=framing)
        assert error or (len(found) == 1 and end % (len(log) // 3) == 0)
    path = tmp_path / "log.rpb"
    path.write_bytes(log)
    with pytest.raises(rdfm.DecodeError, match="the log is a single RDF_"):
        rdfm.convert(LINE, path, from_format="nq", append=True)
    assert path.read_bytes() == log
