"""The registry: formats by name, path, media type and content; plug-ins."""

import time
import types

import pytest
from support import encode

from rdfm import OptionError, UnknownFormatError, formats
from rdfm.formats import Format


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("nq", "nq"),
        ("N-Quads", "nq"),
        ("nquads", "nq"),
        (".nt", "nt"),
        ("Turtle", "ttl"),
        ("text/turtle; charset=utf-8", "ttl"),
        ("application/trig", "trig"),
        ("application/x-jelly-rdf", "jelly"),
        ("JELLY", "jelly"),
    ],
)
def test_names_that_people_use(given, name):
    assert formats.find(given).FORMAT.name == name


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(
        UnknownFormatError, match="no format is called 'hdt'; there are nt, nq, ttl"
    ):
        formats.find("hdt")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a.nq", "nq"),
        ("/x.y/A.JELLY.GZ", "jelly"),
        ("https://example.org/a.ttl.zst?x=1.nq#y", "ttl"),
        ("a.trig.xz", "trig"),
        ("C:\\logs\\a.nt.bz2", "nt"),
        ("a.csv", None),
        ("nq", None),
        ("dir.nq/file", None),
        ("", None),
    ],
)
def test_by_path(path, name):
    module = formats.by_path(path)
    assert (module and module.FORMAT.name) == name


# What Jelly writers begin with: options in a delimited frame, in a bare frame.
OPTIONS = (
    b"\x0a\x0b\x0a\x09\x10\x02\x48\x10\x50\x10\x58\x10\x78\x01"[:2]
    + b"\x0a\x09\x10\x02\x48\x10\x50\x10\x58\x10\x78"
)


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"<http://e/s> <http://e/p> <http://e/o> .\n", "nq"),
        (b'# hello\n\n_:a <http://e/p> "x . y"@en <http://e/g> . # end\n', "nq"),
        (b'VERSION "1.2-messages"\nMESSAGE\n<http://e/s> <http://e/p> "x"^^<http://e/d> .\n', "nq"),
        (b"<http://e/s> <http://e/p> <<( <http://e/s> <http://e/p> _:b )>> .", "nq"),
        (b"@prefix ex: <http://e/> .\nex:s a ex:T .", "trig"),
        (b"PREFIX ex: <http://e/>\n", "trig"),
        (b"<http://e/s> a <http://e/T> ; <http://e/p> 1 .", "trig"),
        (b"<http://e/g> { <http://e/s> <http://e/p> 1 }", "trig"),
        (b"\xef\xbb\xbf@base <http://e/> .", "trig"),
        (OPTIONS, "jelly"),
        (bytes([len(OPTIONS)]) + OPTIONS, "jelly"),
        (b"", None),
        (b"\n\n\n", None),
        (b"# only a comment\n", None),
        (b'{"@context": {}}', "ndjsonld"),
        (b'{"@context": {}}\n{"@id": "a:b"}\n', "ndjsonld"),
        (b'{\n  "@id": "a:b"\n}\n', "jsonld"),
        (b'[{"@id": "a:b"}]', "jsonld"),
        (b'{"type": "FeatureCollection"}', None),
        (b"<?xml version='1.0'?>\n<rdf:RDF/>", "rdfxml"),
        (b"<?xml-stylesheet href='x'?>\n<rdf:RDF/>", "rdfxml"),
        (b'<a:B xmlns:a="x" xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/>', "rdfxml"),
        (b"<!DOCTYPE html><html><head>", None),
        (b"s,p,o\n1,2,3\n", None),
        (b"PK\x03\x04\x00\x00", None),
        (b"\x00" * 100, None),
    ],
)
def test_by_content(head, name):
    module = formats.by_content(head)
    assert (module and module.FORMAT.name) == name


STRING = "http://www.w3.org/2001/XMLSchema#string"


def test_text_in_a_binary_log_is_no_directive():
    iri = ("iri", "http://e/a")
    text = ("literal", "\nPREFIX e: <http://e/>\n", None, None, STRING)
    for name in ("jelly", "rdf-protobuf", "rdf-thrift"):
        log = encode(name, [[(iri, iri, text, None)] * 100])
        assert formats.by_content(log[: formats.HEAD_BYTES]).FORMAT.name == name


def test_a_line_cut_by_the_end_of_the_head_does_not_count():
    line = b"<http://e/s> <http://e/p> <http://e/o> .\n"
    head = (line * 200)[: formats.HEAD_BYTES]
    assert formats.by_content(head).FORMAT.name == "nq"


def plug_in(name, **fields):
    return types.SimpleNamespace(
        FORMAT=Format(name, name.title(), **fields), Decoder=None, Encoder=None
    )


def test_a_registered_format_is_found_and_taken_back():
    module = plug_in(
        "lines", suffixes=(".lines",), aliases=("ln",), magic=lambda head: head == b"lines!"
    )
    formats.register(module)
    try:
        assert formats.find("ln") is module
        assert formats.by_path("a.lines.gz") is module
        assert formats.by_content(b"lines!") is module
        assert formats.names()[-1] == "lines"
    finally:
        formats.unregister("lines")
    with pytest.raises(UnknownFormatError):
        formats.find("lines")


@pytest.mark.parametrize("module", [plug_in("nq"), plug_in("mine", aliases=("turtle",))])
def test_plug_ins_never_replace_a_built_in(module):
    with pytest.raises(OptionError, match="cannot replace"):
        formats.register(module)


def test_every_format_module_has_the_same_five_names():
    for module in formats.every():
        assert (
            sorted({"FORMAT", "Decoder", "Encoder", "decode", "encode"} - set(vars(module))) == []
        )
        assert set(module.__all__) >= {"FORMAT", "Decoder", "Encoder", "decode", "encode"}


@pytest.mark.parametrize(
    "line",
    [
        b"<<" * 2000,
        b"<<>>" * 1000,
        b'"' * 4000,
        b"\\" * 4000,
        b"_:" * 2000,
        b"prefix " + b":" * 4000,
    ],
)
def test_hostile_content_is_looked_at_in_no_time(line):
    start = time.process_time()
    formats.by_content(line)
    formats.by_content(b"<http://e/s> " + line)
    assert time.process_time() - start < 1
