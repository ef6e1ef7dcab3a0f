"""Jelly with Google's protobuf and proto/rdf.proto: a simple encoder and decoder.

This module shares no code with rdfm. The classes include those of proto/patch.proto, which imports
rdf.proto. All classes use a separate descriptor pool, because pyjelly's generated classes have the
same names.
"""

import tempfile
from functools import cache
from pathlib import Path
from types import SimpleNamespace

from nquads import XSD_STRING, literal

ROOT = Path(__file__).resolve().parent.parent


@cache
def classes() -> SimpleNamespace:
    """Returns the message classes by name."""
    return compiled("patch.proto")


def compiled(name: str) -> SimpleNamespace:
    """Returns the message classes of a file in proto/ and its imports, by name."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    from grpc_tools import protoc

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "rdf.binpb"
        include = ["--include_imports", f"-I{ROOT / 'proto'}"]
        arguments = ["protoc", *include, f"--descriptor_set_out={out}", name]
        if protoc.main(arguments):
            raise RuntimeError(f"proto/{name} does not compile")
        files = descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    found = {}
    for file in files.file:
        for message in file.message_type:
            descriptor = pool.FindMessageTypeByName(f"{file.package}.{message.name}".lstrip("."))
            found[message.name] = message_factory.GetMessageClass(descriptor)
    return SimpleNamespace(**found)


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def delimited(frames) -> bytes:
    """Returns the bytes of a log of length-prefixed frames."""
    parts = (frame.SerializeToString(deterministic=True) for frame in frames)
    return b"".join(varint(len(part)) + part for part in parts)


def read_delimited(kind, data: bytes) -> list:
    """Returns the messages in a log of length-prefixed messages, parsed as the given class."""
    found, at = [], 0
    while at < len(data):
        length, shift = 0, 0
        while True:
            byte = data[at]
            at += 1
            length |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        if at + length > len(data):
            raise ValueError("the last message is truncated")
        found.append(kind.FromString(data[at : at + length]))
        at += length
    return found


def read_frames(data: bytes) -> list:
    """Returns the frames of a delimited log."""
    return read_delimited(classes().RdfStreamFrame, data)


def physical_type_of(messages) -> int:
    """Returns the physical type: quads if a message has a named graph, otherwise triples."""
    return 2 if any(quad[3] for message in messages for quad in message) else 1


class Writer:
    """Writes explicit ids and complete terms, and numbers table entries from 1."""

    def __init__(self, physical: int, version: int = 1, logical: int | None = None) -> None:
        self.physical, self.version = physical, version
        self.logical = logical or (3 if physical == 1 else 4)
        self.tables: dict[str, dict[str, int]] = {"name": {}, "prefix": {}, "datatype": {}}
        self.frames: list = []
        self.rows: list = []

    def row(self, **content) -> None:
        self.rows.append(classes().RdfStreamRow(**content))

    def entry(self, table: str, value: str) -> int:
        """Returns the id of a value, after writing a table entry if necessary."""
        ids = self.tables[table]
        if value not in ids:
            ids[value] = len(ids) + 1
            kind = getattr(classes(), f"Rdf{table.title()}Entry")
            self.row(**{table: kind(id=ids[value], value=value)})
        return ids[value]

    def iri(self, value: str):
        cut = max(value.rfind("#"), value.rfind("/")) + 1
        prefix, name = self.entry("prefix", value[:cut]), self.entry("name", value[cut:])
        return classes().RdfIri(prefix_id=prefix, name_id=name)

    def literal(self, term):
        _, lexical, language, direction, datatype = term
        if language:
            tag = f"{language}--{direction}" if direction else language
            return classes().RdfLiteral(lex=lexical, langtag=tag)
        if datatype == XSD_STRING:
            return classes().RdfLiteral(lex=lexical)
        return classes().RdfLiteral(lex=lexical, datatype=self.entry("datatype", datatype))

    def field(self, position: str, term) -> dict:
        """Returns the field for a term, after writing the table entries that it needs."""
        if term is None:
            return {f"{position}_default_graph": classes().RdfDefaultGraph()}
        kind = term[0]
        if kind == "iri":
            return {f"{position}_iri": self.iri(term[1])}
        if kind == "bnode":
            return {f"{position}_bnode": term[1]}
        if kind == "literal":
            return {f"{position}_literal": self.literal(term)}
        return {f"{position}_triple_term": classes().RdfTriple(**self.fields(term[1:]))}

    def fields(self, terms) -> dict:
        fields: dict = {}
        for position, term in zip("spog", terms, strict=False):
            fields |= self.field(position, term)
        return fields

    def options(self) -> None:
        self.row(
            options=classes().RdfStreamOptions(
                physical_type=self.physical,
                logical_type=self.logical,
                generalized_statements=True,
                rdf_star=True,
                max_name_table_size=1024,
                max_prefix_table_size=64,
                max_datatype_table_size=64,
                version=self.version,
            )
        )

    def message(self, quads, metadata=None, namespaces=None) -> None:
        """Writes one frame. In GRAPHS logs, consecutive quads of one graph form a graph."""
        if not self.frames:
            self.options()
        for name, value in (namespaces or {}).items():
            iri = self.iri(value)
            self.row(namespace=classes().RdfNamespaceDeclaration(name=name, value=iri))
        graph: object = ()
        for quad in quads:
            if self.physical == 2:
                self.row(quad=classes().RdfQuad(**self.fields(quad)))
                continue
            if self.physical == 3 and quad[3] != graph:
                self.end_graph(graph)
                graph = quad[3]
                start = classes().RdfGraphStart(**self.field("g", graph))
                self.row(graph_start=start)
            self.row(triple=classes().RdfTriple(**self.fields(quad[:3])))
        if self.physical == 3:
            self.end_graph(graph)
        self.frames.append(classes().RdfStreamFrame(rows=self.rows, metadata=metadata or {}))
        self.rows = []

    def end_graph(self, graph: object) -> None:
        if graph != ():
            self.row(graph_end=classes().RdfGraphEnd())


def encode(messages, physical: int | None = None) -> bytes:
    """Returns a delimited log."""
    writer = Writer(physical or physical_type_of(messages))
    for message in messages:
        writer.message(message)
    return delimited(writer.frames)


class Reader:
    """Converts rows to quads, following the text of the specification."""

    def __init__(self) -> None:
        self.tables: dict[str, dict[int, str]] = {"name": {}, "prefix": {}, "datatype": {}}
        self.last_id = {"name": 0, "prefix": 0, "datatype": 0}
        self.last_iri = [0, 0]
        self.last_terms: dict[str, tuple | None] = {}
        self.graph: tuple | None = None
        self.stream_options = None

    def entry(self, table: str, entry) -> None:
        number = entry.id or self.last_id[table] + 1
        size = getattr(self.stream_options, f"max_{table}_table_size")
        assert 1 <= number <= size, f"{table} entry {number} in a table of {size}"
        self.tables[table][number] = entry.value
        self.last_id[table] = number

    def iri(self, iri):
        self.last_iri[0] = iri.prefix_id or self.last_iri[0]
        self.last_iri[1] = iri.name_id or self.last_iri[1] + 1
        prefix = self.tables["prefix"][self.last_iri[0]] if self.last_iri[0] else ""
        return ("iri", prefix + self.tables["name"][self.last_iri[1]])

    def term(self, holder, oneof: str):
        field = holder.WhichOneof(oneof)
        if field is None:
            return self.last_terms[oneof]
        value = getattr(holder, field)
        kind = field[2:]
        if kind == "iri":
            return self.iri(value)
        if kind == "bnode":
            return ("bnode", value)
        if kind == "default_graph":
            return None
        if kind == "triple_term":
            parts = ("subject", "predicate", "object")
            assert all(value.WhichOneof(part) for part in parts), "a quoted triple lacks a term"
            return ("triple", *(self.term(value, part) for part in parts))
        kind_field = value.WhichOneof("literalKind")
        if kind_field == "langtag":
            language, _, direction = value.langtag.partition("--")
            return literal(value.lex, language, direction or None)
        if kind_field == "datatype":
            return literal(value.lex, datatype=self.tables["datatype"][value.datatype])
        return literal(value.lex)

    def statement(self, holder, parts) -> list:
        terms = []
        for part in parts:
            term = self.term(holder, part)
            self.last_terms[part] = term
            terms.append(term)
        return terms

    def frame(self, frame) -> list[tuple]:
        quads = []
        for row in frame.rows:
            kind = row.WhichOneof("row")
            value = getattr(row, kind)
            if kind == "options":
                assert self.stream_options in (None, value), "the options changed"
                self.stream_options = value
            elif kind in self.tables:
                self.entry(kind, value)
            elif kind == "quad":
                parts = ("subject", "predicate", "object", "graph")
                quads.append(tuple(self.statement(value, parts)))
            elif kind == "triple":
                quad = self.statement(value, ("subject", "predicate", "object"))
                quads.append((*quad, self.graph))
            elif kind == "graph_start":
                self.graph = self.term(value, "graph")
            elif kind == "graph_end":
                self.graph = None
            elif kind == "namespace":
                self.iri(value.value)
        return quads


def decode(data: bytes) -> list[list[tuple]]:
    """Returns the messages of a delimited log."""
    reader = Reader()
    return [reader.frame(frame) for frame in read_frames(data)]
