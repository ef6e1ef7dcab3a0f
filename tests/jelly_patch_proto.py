"""A simple encoder and decoder of Jelly-Patch, with Google's protobuf and proto/patch.proto.

This module shares no code with rdfm. A patch is a list of operations: ("H", key, value), ("TX",),
("TC",), ("TA",), ("PA", prefix, IRI, graph), ("PD", prefix, graph), ("A", s, p, o, graph),
("D", s, p, o, graph). Terms are those of `nquads`; None is the default graph, or no graph.
"""

import jelly_proto
from jelly_proto import classes, delimited, read_delimited
from nquads import XSD_STRING

__all__ = ["FLAT", "FRAME", "PUNCTUATED", "Reader", "Writer", "decode", "delimited", "text"]

FRAME, FLAT, PUNCTUATED = 1, 2, 3
TRIPLES, QUADS = 1, 2
TRANSACTIONS = {
    "TX": ("transaction_start", "RdfPatchTransactionStart"),
    "TC": ("transaction_commit", "RdfPatchTransactionCommit"),
    "TA": ("transaction_abort", "RdfPatchTransactionAbort"),
}
STATEMENTS = {"A": "statement_add", "D": "statement_delete"}
NAMESPACES = {"PA": "namespace_add", "PD": "namespace_delete"}


class Writer(jelly_proto.Writer):
    """Writes explicit ids and complete terms.

    With `short`, it omits ids and repeated terms where possible. If a table is full, a new entry
    replaces the least recently used one.
    """

    def __init__(
        self, stream_type: int, statement_type: int = QUADS, *, short=False, sizes=(1024, 64, 64)
    ) -> None:
        super().__init__(statement_type)
        self.stream_type, self.statement_type, self.short = stream_type, statement_type, short
        self.sizes = dict(zip(("name", "prefix", "datatype"), sizes, strict=True))
        self.last_entry = dict.fromkeys(self.sizes, 0)
        self.last_iri = [0, 0]
        self.last_terms: dict[str, object] = {}

    def row(self, **content) -> None:
        self.rows.append(classes().RdfPatchRow(**content))

    def end_frame(self) -> None:
        self.frames.append(classes().RdfPatchFrame(rows=self.rows))
        self.rows = []

    def options(self) -> None:
        self.row(
            options=classes().RdfPatchOptions(
                statement_type=self.statement_type,
                stream_type=self.stream_type,
                generalized_statements=True,
                rdf_star=True,
                max_name_table_size=self.sizes["name"],
                max_prefix_table_size=self.sizes["prefix"],
                max_datatype_table_size=self.sizes["datatype"],
                version=1,
            )
        )

    def entry(self, table: str, value: str) -> int:
        """Returns the id of a value, after writing a table entry if necessary."""
        ids = self.tables[table]
        if value in ids:
            ids[value] = ids.pop(value)
            return ids[value]
        number = len(ids) + 1
        if number > self.sizes[table]:
            number = ids.pop(next(iter(ids)))
        ids[value] = number
        follows = self.short and number == self.last_entry[table] + 1
        self.last_entry[table] = number
        kind = getattr(classes(), f"Rdf{table.title()}Entry")
        self.row(**{table: kind(id=0 if follows else number, value=value)})
        return number

    def iri(self, value: str):
        iri = super().iri(value)
        if self.short:
            prefix, name = iri.prefix_id, iri.name_id
            iri.prefix_id = 0 if prefix == self.last_iri[0] else prefix
            iri.name_id = 0 if name == self.last_iri[1] + 1 else name
            self.last_iri = [prefix, name]
        return iri

    def statement_fields(self, terms: dict) -> dict:
        """Returns the fields of a statement or graph, without repeated ones."""
        fields: dict = {}
        for position, term in terms.items():
            if not self.short or self.last_terms.get(position, ()) != term:
                fields |= self.field(position, term)
            self.last_terms[position] = term
        return fields

    def operation(self, operation: tuple) -> None:
        code, *rest = operation
        if code in TRANSACTIONS:
            field, kind = TRANSACTIONS[code]
            self.row(**{field: getattr(classes(), kind)()})
        elif code == "H":
            value = self.field("h", rest[1])
            self.row(header=classes().RdfPatchHeader(key=rest[0], **value))
        elif code in NAMESPACES:
            fields = {"name": rest[0]}
            if code == "PA":
                fields["value"] = self.iri(rest[1][1])
            if self.statement_type == QUADS:
                fields |= self.statement_fields({"g": rest[-1]})
            self.row(**{NAMESPACES[code]: classes().RdfPatchNamespace(**fields)})
        else:
            positions = "spog" if self.statement_type == QUADS else "spo"
            fields = self.statement_fields(dict(zip(positions, rest, strict=False)))
            self.row(**{STATEMENTS[code]: classes().RdfQuad(**fields)})

    def mark(self) -> None:
        """Writes the row that ends a patch in a stream of type PUNCTUATED."""
        self.row(punctuation=classes().RdfPatchPunctuation())

    def patch(self, operations, rows: int | None = None) -> None:
        """Writes a patch as the stream type requires.

        A frame ends after `rows` rows or at the end of the patch.
        """
        if not self.frames and not self.rows:
            self.options()
        for operation in operations:
            self.operation(operation)
            if rows and len(self.rows) >= rows:
                self.end_frame()
        if self.stream_type == PUNCTUATED:
            self.mark()
        if self.stream_type == FRAME or not rows:
            self.end_frame()


def read_frames(data: bytes) -> list:
    """Returns the frames of a delimited log."""
    return read_delimited(classes().RdfPatchFrame, data)


class Reader(jelly_proto.Reader):
    """Converts rows to operations, following the text of the specification."""

    def __init__(self) -> None:
        super().__init__()
        self.patches: list[list[tuple]] = []
        self.open: list[tuple] | None = None
        self.last_transaction = "TC"

    def add(self, *operation) -> None:
        if self.open is None:
            self.open = []
        self.open.append(operation)

    def end_patch(self) -> None:
        assert self.last_transaction != "TX", "a patch ends inside a transaction"
        self.patches.append(self.open or [])
        self.open = None

    def graph_of(self, value):
        """Returns the graph of a statement or namespace, which may repeat an earlier graph."""
        if self.stream_options.statement_type == TRIPLES:
            assert value.WhichOneof("graph") is None, "a graph in a log of triples"
            return None
        if not value.WhichOneof("graph") and "graph" not in self.last_terms:
            # Jelly-JVM omits the graph of a namespace before the first graph.
            assert isinstance(value, classes().RdfPatchNamespace), "a statement without a graph"
            return None
        (graph,) = self.statement(value, ["graph"])
        return graph

    def patch_row(self, row) -> None:
        kind = row.WhichOneof("row")
        value = getattr(row, kind)
        assert kind == "options" or self.stream_options, "the log begins without options"
        if kind == "options":
            assert self.stream_options in (None, value), "options change"
            self.stream_options = value
        elif kind in self.tables:
            self.entry(kind, value)
        elif kind == "punctuation":
            assert self.stream_options.stream_type == PUNCTUATED, "an unexpected mark"
            self.end_patch()
        elif kind == "header":
            assert value.WhichOneof("value"), "a header without a value"
            self.add("H", value.key, self.term(value, "value"))
        elif kind.startswith("namespace"):
            code = "PA" if kind == "namespace_add" else "PD"
            assert code == "PD" or value.HasField("value"), "a namespace without an IRI"
            iri = [self.iri(value.value)] if value.HasField("value") else []
            self.add(code, value.name, *iri[: code == "PA"], self.graph_of(value))
        elif kind.startswith("statement"):
            triple = self.statement(value, ["subject", "predicate", "object"])
            self.add("A" if kind == "statement_add" else "D", *triple, self.graph_of(value))
        else:
            (code,) = (code for code, names in TRANSACTIONS.items() if names[0] == kind)
            begins = code == "TX"
            assert begins != (self.last_transaction == "TX"), f"{code} does not match"
            self.last_transaction = code
            self.add(code)

    def log(self, frames) -> list[list[tuple]]:
        for frame in frames:
            for row in frame.rows:
                self.patch_row(row)
            if self.stream_options is None or self.stream_options.stream_type == FRAME:
                self.end_patch()
        kind = self.stream_options.stream_type if self.stream_options else FRAME
        if kind == FLAT:
            # Frames before the options are not patches.
            self.patches = []
        if kind == PUNCTUATED:
            # As above, early frames are not patches. The last mark may be missing.
            first = next(at for at, frame in enumerate(frames) if frame.rows)
            self.patches = self.patches[first:]
        if kind == FLAT or (kind == PUNCTUATED and self.open is not None):
            self.end_patch()
        return self.patches


def decode(data: bytes, *, undelimited: bool = False) -> list[list[tuple]]:
    """Returns the patches of a log."""
    frames = [classes().RdfPatchFrame.FromString(data)] if undelimited else read_frames(data)
    return Reader().log(frames)


ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def ntriples(term: tuple) -> str:
    """Returns a term as canonical N-Triples."""
    kind = term[0]
    if kind == "iri":
        return f"<{term[1]}>"
    if kind == "bnode":
        return f"_:{term[1]}"
    if kind == "triple":
        return f"<<( {' '.join(map(ntriples, term[1:]))} )>>"
    _, lexical, language, direction, datatype = term
    text = '"' + "".join(ESCAPES.get(character, character) for character in lexical) + '"'
    if language:
        return f"{text}@{language}" + (f"--{direction}" if direction else "")
    return text if datatype == XSD_STRING else f"{text}^^<{datatype}>"


def line(operation: tuple) -> str:
    """Returns an operation as a line, with quoted names."""
    code, *rest = operation
    name = (
        [ntriples(("literal", rest.pop(0), None, None, XSD_STRING))]
        if code in ("H", "PA", "PD")
        else []
    )
    terms = [ntriples(term) for term in rest if term is not None]
    return " ".join([code, *name, *terms, "."]) + "\n"


def text(patches) -> str:
    """Returns patches as lines, each patch after `--- patch`."""
    return "".join("--- patch\n" + "".join(map(line, patch)) for patch in patches)
