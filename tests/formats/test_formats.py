"""The registry finds formats by name, path, media type and content, and accepts plug-ins."""

import pytest
from support import encode

from rdfm import OptionError, UnknownFormatError, formats
from rdfm.conversion.convert_options import STAGES
from rdfm.formats import Format, FormatSpec, OptionSpec
from rdfm.formats.options_generated import RESERVED
from rdfm.logs.stages.criteria import FILTERING
from rdfm.nanopub.nanopub_options import FETCH
from rdfm.riverbench.names import CHECK, PACKAGE
from rdfm.sparql.query_options import QUERYING


@pytest.mark.parametrize(
    ("alias", "name"),
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
def test_formats_are_found_by_common_names(alias, name):
    assert formats.find(alias).name == name


def test_the_error_for_an_unknown_name_lists_the_formats():
    with pytest.raises(
        UnknownFormatError, match="there is no format 'hdt'; the formats are nt, nq, "
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
        ("a.hdt", None),
        ("nq", None),
        ("dir.nq/file", None),
        ("", None),
    ],
)
def test_formats_are_found_by_path(path, name):
    module = formats.by_path(path)
    assert (module and module.name) == name


# First bytes of a Jelly log without frame lengths: the stream options.
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
def test_formats_are_found_by_content(head, name):
    module = formats.by_content(head)
    assert (module and module.name) == name


STRING = "http://www.w3.org/2001/XMLSchema#string"


def test_text_in_a_binary_log_is_not_a_directive():
    iri = ("iri", "http://e/a")
    literal = ("literal", "\nPREFIX e: <http://e/>\n", None, None, STRING)
    for name in ("jelly", "rdf-protobuf", "rdf-thrift"):
        log = encode(name, [[(iri, iri, literal, None)] * 100])
        assert formats.by_content(log[: formats.HEAD_BYTES]).name == name


def test_a_line_truncated_by_the_end_of_the_head_is_ignored():
    line = b"<http://e/s> <http://e/p> <http://e/o> .\n"
    head = (line * 200)[: formats.HEAD_BYTES]
    assert formats.by_content(head).name == "nq"


def plug_in(name, **fields):
    return Format(FormatSpec(name, name.title(), **fields), None, None)


def test_a_registered_format_is_found_until_unregistered():
    module = plug_in(
        "lines", suffixes=(".lines",), aliases=("ln",), sniff=lambda head, _: head == b"lines!"
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
def test_plug_ins_cannot_replace_built_in_formats(module):
    with pytest.raises(OptionError, match="cannot replace"):
        formats.register(module)


@pytest.mark.parametrize("name", ["skip", "from_base", "to_x", "format"])
def test_plug_in_options_must_not_use_reserved_names(name):
    format = plug_in("mine", reads=[OptionSpec(name)])
    with pytest.raises(OptionError, match=f"has an option named {name}, which is reserved"):
        formats.register(format)


def test_rdfm_option_names_are_reserved():
    assert set(STAGES) <= RESERVED | {name for name in STAGES if name.startswith(("from_", "to_"))}
    # `prefixes` is an option of filters and also of formats.
    assert {option.name for option in FILTERING} - {"prefixes"} <= RESERVED
    assert {option.name for option in QUERYING} - {"prefixes"} <= RESERVED
    assert {name for name in FETCH if not name.startswith("to_")} <= RESERVED
    assert {name for name in (*PACKAGE, *CHECK) if name != "from_format"} <= RESERVED


def test_formats_are_attributes_by_name_or_alias():
    assert formats.nq is formats.find("nq")
    assert formats.rdf_protobuf is formats.find("rdf-protobuf")
    assert formats.turtle is formats.find("ttl")
    with pytest.raises(AttributeError, match="no attribute 'klingon'"):
        _ = formats.klingon


@pytest.mark.parametrize(
    ("line", "format_after_subject"),
    [
        (b"<<" * 2000, None),
        (b"<<>>" * 1000, None),
        (b'"' * 4000, "trig"),
        (b"\\" * 4000, None),
        (b"_:" * 2000, "trig"),
        (b"prefix " + b":" * 4000, None),
    ],
)
def test_hostile_content_is_not_detected(line, format_after_subject):
    assert formats.by_content(line) is None
    found = formats.by_content(b"<http://e/s> " + line)
    assert (found and found.name) == format_after_subject
