"""Corrupt files: exit code 1, one line with file, error and position, and no output."""

import gzip
import lzma
import tarfile
from pathlib import Path

import pytest

JELLY = bytes.fromhex(
    "0e0a0c0a0a1002180048085008580178010a"
)  # a frame with options, then a truncated frame
LINE = b"<http://e/s> <http://e/p> <http://e/o> .\n"

CORRUPT_FILES = {
    "term.nq": (LINE + b"<http://e/s> <http://e/p> oops .\n", "found 'oops' (line 2, column 27"),
    "dot.nt": (b"<http://e/s> <http://e/p> <http://e/o>\n", "nt: expected"),
    "utf8.nq": (b'<http://e/s> <http://e/p> "\xff" .\n', "UTF-8"),
    "iri.nt": (b"<http://e/s s> <http://e/p> <http://e/o> .\n", "nt: "),
    "graph.nt": (b"<http://e/s> <http://e/p> <http://e/o> <http://e/g> .\n", "nt: expected"),
    "message.nq": (LINE + b"MESSAGE\n" + LINE, "MESSAGE in a log that does not announce messages"),
    "cut.nq.gz": (gzip.compress(LINE * 50)[:-10], "the gzip data ends before its end mark"),
    "crc.nq.gz": (gzip.compress(LINE)[:-8] + b"\0" * 8, "the gzip data is corrupt"),
    "cut.nq.xz": (lzma.compress(LINE)[:-5], "the xz data ends before its end mark"),
    "text.jelly": (
        LINE,
        "jelly: not a Jelly file (or truncated); if it is in another format, name",
    ),
    "cut.jelly": (JELLY, "jelly: "),
    "noise.jelly": (bytes(range(256)), "jelly: "),
    "undeclared.ttl": (b"ex:s ex:p ex:o .\n", "ttl: "),
    "open.trig": (b"<http://e/g> { <http://e/s> <http://e/p> 1", "trig: "),
    "bomb.rdf": (
        b"<!DOCTYPE a [<!ENTITY l0 'lolololol'>"
        + b"".join(
            b"<!ENTITY l%d '%s'>" % (level, b"&l%d;" % (level - 1) * 10) for level in range(1, 11)
        )
        + b"]>\n<a>&l10;</a>\n",
        "the entity 'l7' expands to more than 67108864 bytes, together with those before it; a larger "
        "--max-message-bytes allows it, if the source is trusted",
    ),
    "outside.rdf": (
        b"<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/hostname'>]>\n"
        b"<a xmlns='http://e/'><b>&x;</b></a>\n",
        "the entity 'x' is external, and external entities are never loaded; write its text into "
        "the document (line 2, column 25,",
    ),
    "unclosed.rdf": (
        b"<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>\n<rdf:Description>\n</rdf:RDF>\n",
        "expected the end tag of 'rdf:Description', found the end tag of 'rdf:RDF' (line 3, column 1,",
    ),
    "cut.rdf": (
        b"<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>\n",
        "the log ends before the end tag of 'rdf:RDF' (line 2, column 1,",
    ),
    "latin.rdf": (
        b"<?xml version='1.0' encoding='ISO-8859-1'?>\n<a xmlns='http://e/' b='\xe9'/>\n",
        "the document is in the encoding 'ISO-8859-1'; convert it to UTF-8 first (iconv",
    ),
    "third.ndjsonld": (
        b'{"@id":"http://e/s","http://e/p":1}\n{}\n{"@id": oops}\n{}\n',
        "expected a JSON value, found 'oops' (line 3, column 9, byte 47, message 2)",
    ),
    "blank.ndjsonld": (
        b"{}\n\n{}\n",
        "expected a JSON value, found a blank line; --lenient skips blank lines (line 2,",
    ),
    "context.ndjsonld": (
        b'{"@context":"https://example.org/c","a":1}\n',
        "the context 'https://example.org/c' is not available (JSON-LD: loading remote context failed); --context URL=FILE names its file, or",
    ),
    "cut.jsonld": (
        b'{"@id":\n"http://e/s"',
        "expected ',' or '}', but the JSON text ends (line 2,",
    ),
    "tab.yamlld": (b"a: 1\n\tb: 2\n", "found a tab (line 2, column 1, byte 5, message 0)"),
    "twice.yamlld": (b"a: 1\na: 2\n", "the key 'a' occurs twice in an object"),
    "cycle.yamlld": (b"a: &a [*a]\n", "an alias inside its own value"),
    "bomb.yamlld": (
        b"a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
        + b"".join(
            b"a%d: &a%d [%s]\n" % (level, level, b",".join([b"*a%d" % (level - 1)] * 9))
            for level in range(1, 12)
        ),
        "a larger --max-message-bytes allows it",
    ),
    "text.rpb": (LINE, "rdf-protobuf: not an RDF Protobuf file (or truncated)"),
    "text.rt": (LINE, "rdf-thrift: not an RDF Thrift file (or truncated)"),
    "cut.rpb": (b"\x0b\x1a\x09\x0a", "rdf-protobuf: the log ends inside a"),
    "cut.rt": (b"\x2c\x1c\x1c", "rdf-thrift: the log ends inside a row"),
    "text.parquet": (b"hello, this is not a table", "parquet: expected a Parquet file"),
    "text.arrow": (b"hello, this is not a table", "expected an Arrow file or stream"),
    "cut.tar": (
        tarfile.TarInfo("a.ttl").tobuf(),
        "the archive ends before its end mark; the file is truncated; get a complete copy (byte 512)",
    ),
    "cut.tar.gz": (gzip.compress(bytes(10240))[:-9], "the gzip data ends before its end mark"),
    "text.tar": (
        b"hello" * 200,
        "not a tar archive (or truncated): expected a member header, found other data",
    ),
    "string.ttl": (b'<http://e/s> <http://e/p> "open\n', "ttl: "),
}


@pytest.mark.parametrize("name", CORRUPT_FILES)
def test_corrupt_files_are_errors(rdfm, name):
    data, text = CORRUPT_FILES[name]
    Path(name).write_bytes(data)
    run = rdfm("convert", name, "-o", "out.nq")
    assert run.code == 1
    assert run.error.startswith(f"{name}: ")
    assert text in run.error
    assert not Path("out.nq").exists()


def test_messages_before_an_error_are_kept_on_request(rdfm):
    run = rdfm("convert", "bad.nq", "-o", "out.nq", "--keep-partial")
    assert run.code == 1
    assert run.error.endswith(
        "the output before the error is in " + str(Path("out.nq.partial").resolve())
    )
    assert Path("out.nq.partial").read_text() == "<http://e/1> <http://e/p> <http://e/o> .\n"
    assert not Path("out.nq").exists()


def test_errors_are_skipped_on_request(rdfm):
    run = rdfm("convert", "bad.nq", "-o", "out.nq", "--on-error", "skip")
    assert run.code == 0
    assert "rdfm: skipped: bad.nq: nq: " in run.err
    assert "2 messages, 2 quads" in run.err
    assert "1 error skipped" in run.err
    assert Path("out.nq").read_text().count("<http://e/") == 6


def test_the_rest_of_a_log_that_cannot_resume_is_skipped(rdfm):
    Path("x.jelly").write_bytes(JELLY)
    run = rdfm("convert", "x.jelly", "b.nq", "-o", "out.nq", "--on-error", "skip")
    assert run.code == 0
    assert (
        "rdfm: skipped: the rest of x.jelly, because its format does not support resuming"
        in run.err
    )
    assert Path("out.nq").read_bytes() == Path("b.nq").read_bytes()


def test_inspect_shows_the_first_error(rdfm):
    run = rdfm("inspect", "bad.nq")
    assert run.code == 1
    assert "first error      bad.nq: nq: " in run.out
    assert "messages         1" in run.out


def test_a_missing_context_file_is_named(rdfm):
    Path("log.ndjsonld").write_text('{"@context":"https://e/c","a":1}\n')
    run = rdfm("convert", "log.ndjsonld", "-o", "out.nq", "--context", "https://e/c=none.jsonld")
    assert run.code == 1
    assert (
        "cannot be loaded: none.jsonld: No such file or directory (JSON-LD: loading remote context failed) (line 1,"
        in run.error
    )
