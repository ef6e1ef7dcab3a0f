"""Files whose names suggest another format, and truncated files."""

import tarfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import decode, encode, outcome

import rdfm
from rdfm import formats

WRONG_FORMAT_ERRORS = {
    "jelly": "not a Jelly file (or truncated)",
    "rdf-protobuf": "not an RDF Protobuf file (or truncated)",
    "rdf-thrift": "not an RDF Thrift file (or truncated)",
}
IRI = ("iri", "http://example.org/a")
TEXTS = [
    b'<http://example.org/s> <http://example.org/p> "o" .\n',
    b"@prefix ex: <http://example.org/> .\nex:s ex:p ex:o .\n",
    b"hello\n",
    b"# a comment, then nothing\n",
    b"\n\n<http://example.org/s> <http://example.org/p> 1 .\n",
    '{"é": 1}\n'.encode(),
    "<a>".encode("utf-16"),
    b"PK\x03\x04\x14\x00\x00\x00",
]


def read(path):
    with rdfm.open_log(path) as log:
        list(log)


@pytest.mark.parametrize("name", WRONG_FORMAT_ERRORS)
@pytest.mark.parametrize("text", [*TEXTS, TEXTS[0] * 100])
def test_text_is_detected_in_binary_formats(name, text):
    messages, error = decode(name, text)
    assert messages == []
    assert WRONG_FORMAT_ERRORS[name] in error


@pytest.mark.parametrize("name", WRONG_FORMAT_ERRORS)
@settings(max_examples=60)
@given(data=st.text(max_size=80).map(str.encode) | st.binary(max_size=40))
def test_detection_does_not_depend_on_piece_sizes(name, data):
    decode(name, data)


@pytest.mark.parametrize("name", WRONG_FORMAT_ERRORS)
def test_a_truncated_log_is_reported_as_truncated(name):
    log = encode(name, [[(IRI, IRI, IRI, None)]])
    for end in range(1, len(log)):
        _, error = outcome(formats.find(name).Decoder, log[:end], end)
        if end > 4:  # the log contains the start of the first row
            assert error is None or " the log ends inside " in error
            assert error is None or "not a" not in error
        assert error is None or "another format" not in error


def test_the_error_has_a_class_and_a_position(tmp_path):
    for suffix, offset in (("jelly", 3), ("rpb", 0), ("rt", 0)):
        path = tmp_path / f"log.{suffix}"
        path.write_bytes(TEXTS[0] * 2)
        with pytest.raises(rdfm.DecodeError, match="name that format") as caught:
            read(path)
        assert not isinstance(caught.value, rdfm.TruncatedError)
        assert (caught.value.byte_offset, caught.value.message_index) == (offset, 0)
        path.write_bytes(TEXTS[0][:1])
        with pytest.raises(rdfm.TruncatedError, match=r"\(or truncated\): the log ends inside"):
            read(path)


@pytest.mark.parametrize("text", [TEXTS[0], TEXTS[0] * 100])
def test_text_is_not_an_archive(tmp_path, text):
    path = tmp_path / "log.tar"
    path.write_bytes(text)
    with pytest.raises(rdfm.DecodeError, match=r"not a tar archive \(or truncated\): .*\(byte 0\)"):
        read(path)
    path.write_bytes(tarfile.TarInfo("a.nq").tobuf() + text)
    with pytest.raises(rdfm.DecodeError) as caught:
        read(path)
    assert "not a tar archive" not in str(caught.value)
