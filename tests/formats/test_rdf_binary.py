"""RDF Protobuf and RDF Thrift: invalid literals, and logs that Jena does not read."""

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
