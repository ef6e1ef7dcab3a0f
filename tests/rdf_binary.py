"""Reads and writes RDF Protobuf and RDF Thrift with Google's protobuf and thriftpy2.

The definitions are in proto/. This module shares no code with rdfm. Both formats use the same
names, so one writer and one reader serve both.
"""

import tempfile
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from jelly_proto import compiled, delimited, read_delimited
from nquads import XSD_STRING, literal

ROOT = Path(__file__).resolve().parent.parent
XSD = "http://www.w3.org/2001/XMLSchema#"


@cache
def protobuf() -> SimpleNamespace:
    """Returns the message classes by name."""
    return compiled("rdf-binary.proto")


@cache
def thrift() -> Any:
    """Returns the structs by name."""
    import thriftpy2

    with tempfile.TemporaryDirectory() as folder:  # the file name becomes the module name
        path = Path(folder) / "rdf_binary.thrift"
        path.write_text((ROOT / "proto" / "rdf-binary.thrift").read_text("utf-8"), "utf-8")
        return thriftpy2.load(str(path), module_name="rdf_binary_thrift")


def literal_of(kinds, term):
    _, lexical, language, direction, datatype = term
    if kinds is protobuf():
        if direction:
            return kinds.RDF_Literal(lex=lexical, langdir=f"{language}--{direction}")
    elif direction:
        return kinds.RDF_Literal(lex=lexical, langtag=language, langdir=direction)
    if language:
        return kinds.RDF_Literal(lex=lexical, langtag=language)
    if datatype == XSD_STRING:
        plain = {"simple": True} if kinds is protobuf() else {}
        return kinds.RDF_Literal(lex=lexical, **plain)
    return kinds.RDF_Literal(lex=lexical, datatype=datatype)


def term_of(kinds, term):
    kind = term[0]
    if kind == "iri":
        return kinds.RDF_Term(iri=kinds.RDF_IRI(iri=term[1]))
    if kind == "bnode":
        return kinds.RDF_Term(bnode=kinds.RDF_BNode(label=term[1]))
    if kind == "literal":
        return kinds.RDF_Term(literal=literal_of(kinds, term))
    return kinds.RDF_Term(tripleTerm=kinds.RDF_Triple(**parts_of(kinds, term[1:])))


def parts_of(kinds, terms):
    return {name: term_of(kinds, term) for name, term in zip("SPOG", terms, strict=False)}


def rows_of(kinds, quads, namespaces=None):
    """Yields rows: prefix declarations, then one row per triple or quad."""
    for name, iri in (namespaces or {}).items():
        yield kinds.RDF_StreamRow(prefixDecl=kinds.RDF_PrefixDecl(prefix=name, uri=iri))
    for quad in quads:
        if quad[3] is None:
            yield kinds.RDF_StreamRow(triple=kinds.RDF_Triple(**parts_of(kinds, quad[:3])))
        else:
            yield kinds.RDF_StreamRow(quad=kinds.RDF_Quad(**parts_of(kinds, quad)))


def protobuf_messages(messages, namespaces=None) -> bytes:
    """Returns a log with the framing `messages`."""
    names = namespaces or [{}] * len(messages)
    streams = (
        protobuf().RDF_Stream(row=rows_of(protobuf(), quads, declared))
        for quads, declared in zip(messages, names, strict=True)
    )
    return delimited(streams)


def protobuf_rows(rows) -> bytes:
    """Returns a log with the framing `rows`."""
    return delimited(rows)


def thrift_rows(rows) -> bytes:
    """Returns an RDF Thrift log."""
    from thriftpy2.protocol.compact import TCompactProtocol
    from thriftpy2.transport import TMemoryBuffer

    buffer = TMemoryBuffer()
    protocol = TCompactProtocol(buffer)
    for row in rows:
        protocol.write_struct(row)
    return buffer.getvalue()


class ByteSource:
    """A byte source for thriftpy2 that fails if the data ends too early."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def read(self, size: int) -> bytes:
        read = self.data[self.at : self.at + size]
        assert len(read) == size, "the last row is truncated"
        self.at += size
        return read


def read_thrift(data: bytes) -> list:
    """Returns the rows of an RDF Thrift log."""
    from thriftpy2.protocol.compact import TCompactProtocol

    source, found = ByteSource(data), []
    protocol = TCompactProtocol(source)
    while source.at < len(data):
        row = thrift().RDF_StreamRow()
        protocol.read_struct(row)
        found.append(row)
    return found


def set_field(holder) -> tuple[str, Any]:
    """Returns the name and value of the field that is set in a union."""
    if hasattr(holder, "ListFields"):
        ((field, value),) = holder.ListFields()
        return field.name, value
    ((name, value),) = [(name, value) for name, value in vars(holder).items() if value is not None]
    return name, value


class Reader:
    """Converts rows to quads, with the current prefixes."""

    def __init__(self) -> None:
        self.prefixes: dict[str, str] = {}

    def expand(self, name) -> str:
        return self.prefixes[name.prefix] + name.localName

    def literal(self, value):
        if hasattr(value, "ListFields"):
            kind = value.WhichOneof("literalKind")
            if kind == "langdir":
                language, _, direction = value.langdir.rpartition("--")
                return literal(value.lex, language, direction)
            fields = {kind: getattr(value, kind)}
        else:
            fields = {
                name: field_value
                for name, field_value in vars(value).items()
                if field_value is not None
            }
        if "langtag" in fields:
            return literal(value.lex, fields["langtag"], fields.get("langdir"))
        if "datatype" in fields:
            return literal(value.lex, datatype=fields["datatype"])
        if "dtPrefix" in fields:
            return literal(value.lex, datatype=self.expand(fields["dtPrefix"]))
        return literal(value.lex)

    def term(self, term):
        name, value = set_field(term)
        if name == "iri":
            return ("iri", value.iri)
        if name == "bnode":
            return ("bnode", value.label)
        if name == "literal":
            return self.literal(value)
        if name == "prefixName":
            return ("iri", self.expand(value))
        if name == "tripleTerm":
            return ("triple", self.term(value.S), self.term(value.P), self.term(value.O))
        if name == "valInteger":
            return literal(str(value), datatype=XSD + "integer")
        if name == "valDecimal":
            from decimal import Decimal

            return literal(
                f"{Decimal(value.value).scaleb(-value.scale):f}", datatype=XSD + "decimal"
            )
        raise AssertionError(f"{name} is not a data term")

    def quads(self, rows) -> list[tuple]:
        found = []
        for row in rows:
            name, value = set_field(row)
            if name == "prefixDecl":
                self.prefixes[value.prefix] = value.uri
                continue
            terms = [self.term(getattr(value, part)) for part in "SPO"]
            graph = name == "quad" and (
                value.HasField("G") if hasattr(value, "HasField") else value.G is not None
            )
            found.append((*terms, self.term(value.G) if graph else None))
        return found


def decode_protobuf_messages(data: bytes) -> list[list[tuple]]:
    reader = Reader()
    return [reader.quads(s.row) for s in read_delimited(protobuf().RDF_Stream, data)]


def decode_protobuf_rows(data: bytes) -> list[tuple]:
    return Reader().quads(read_delimited(protobuf().RDF_StreamRow, data))


def decode_thrift(data: bytes) -> list[tuple]:
    return Reader().quads(read_thrift(data))
