"""The column layout of Jelly 1.2 with Google's protobuf: an encoder and a decoder.

This module shares no code with rdfm. The decoder follows the text of the definition. The encoder
takes a random generator, and uses every form that the definition allows: frames cut anywhere,
tables that are reused, runs that are not joined, fields in any order and in several pieces.
"""

import functools
import itertools
import operator
from dataclasses import dataclass, field
from random import Random

from jelly_proto import compiled, read_delimited, varint
from nquads import XSD_STRING, literal

KINDS = ("iri", "literal", "bnode", "triple")
# Columns without unbound cells.
BOUND = ("subjects", "predicates", "objects")
POSITIONS = ("subjects", "predicates", "objects", "graphs")
TABLES = {"names": "name", "prefixes": "prefix", "datatypes": "datatype"}
DIRECTIONS = (None, "ltr", "rtl")
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
MAX_ROWS = (1 << 27) - 1

classes = compiled("sparql.proto")  # with those of rdf.proto


@dataclass
class Message:
    """The statements of a message, and what is declared with them."""

    quads: list[tuple] = field(default_factory=list)
    metadata: dict[str, bytes] = field(default_factory=dict)
    namespaces: dict[str, str] = field(default_factory=dict)


class InvalidLogError(Exception):
    """The log violates the definition."""


def require(condition: object, reason: str) -> None:
    if not condition:
        raise InvalidLogError(reason)


class Ids:
    """Infers the ids of IRIs that follow one another."""

    def __init__(self) -> None:
        self.prefix = self.name = 0

    def next(self, prefix: int, name: int) -> tuple[int, int]:
        self.prefix = prefix or self.prefix
        self.name = name or self.name + 1
        return self.prefix, self.name


class Reader:
    """Decodes frames."""

    def __init__(self) -> None:
        self.options = None
        self.tables: dict[str, dict[int, str]] = {}
        self.last: dict[str, int] = {}
        self.messages: list[Message] = []
        self.open: Message | None = None
        # Namespaces of the open message, or of the next one.
        self.declared: dict[str, str] = {}

    def frame(self, frame) -> None:
        require(len(frame.rows) <= 1, "several rows")
        for row in frame.rows:
            require(row.WhichOneof("row") == "options", "a row without options")
            self.restate(row.options)
        require(self.options, "no options")
        was_open = self.open is not None
        begun = self.batch(frame.columns)
        if self.options.stream_type == 0:
            if self.open is None:
                self.open = Message(metadata=dict(frame.metadata))
        elif frame.metadata and not was_open and len(begun) == 1:
            begun[0].metadata = dict(frame.metadata)

    def restate(self, options) -> None:
        require(options.version == 3, "another version")
        require(options.physical_type in (1, 2), "physical_type")
        require(options.stream_type in (0, 1) and options.rdf_version in range(4), "enums")
        forbidden = options.generalized_statements or options.rdf_star or options.logical_type
        require(not forbidden, "options of the row layout")
        require(options.max_name_table_size >= 128, "a small name table")
        if self.options:
            for name in ("physical_type", "stream_type", "version"):
                require(getattr(options, name) == getattr(self.options, name), f"another {name}")
        self.options = options
        self.tables = {name: {} for name in TABLES}
        self.last = dict.fromkeys(TABLES, 0)
        if options.stream_type == 1 and self.open:
            self.end()

    def end(self) -> None:
        self.messages.append(self.open or Message())
        self.open = None

    def batch(self, batch) -> list[Message]:
        """Adds the content of a batch. Returns the messages that begin in it."""
        require(batch.row_count <= MAX_ROWS, "row_count")
        for table, option in TABLES.items():
            size = getattr(self.options, f"max_{option}_table_size")
            for entry in getattr(batch, table):
                number = entry.id or self.last[table] + 1
                for value in entry.values:
                    require(1 <= number <= size, f"{table} entry {number}")
                    self.tables[table][number] = value
                    self.last[table] = number
                    number += 1
        ids = Ids()
        for namespace in batch.namespaces:
            self.declared[namespace.name] = self.iri(ids, namespace.value)[1]
        if self.options.physical_type == 1:
            require(not batch.HasField("graphs"), "graphs in TRIPLES")
        columns = [self.column(getattr(batch, name), batch.row_count, name) for name in POSITIONS]
        quads = list(zip(*columns, strict=True))
        begun: list[Message] = []
        if self.options.stream_type == 0:
            require(not batch.message_lengths, "lengths in FLAT")
            self.open = self.open or Message()
            self.open.quads += quads
            return begun
        require(sum(batch.message_lengths) <= len(quads), "long messages")

        def add(rows: list[tuple]) -> None:
            if self.open is None:
                self.open = Message()
                begun.append(self.open)
            self.open.quads += rows
            self.open.namespaces |= self.declared
            self.declared = {}

        at = 0
        for length in batch.message_lengths:
            add(quads[at : at + length])
            self.end()
            at += length
        if at < len(quads):
            add(quads[at:])
        return begun

    def iri(self, ids: Ids, iri) -> tuple:
        prefix, name = ids.next(iri.prefix_id, iri.name_id)
        return self.named(prefix, name)

    def named(self, prefix: int, name: int) -> tuple:
        require(prefix == 0 or prefix in self.tables["prefixes"], f"prefix {prefix}")
        require(name in self.tables["names"], f"name {name}")
        return ("iri", self.tables["prefixes"].get(prefix, "") + self.tables["names"][name])

    def datatype(self, number: int) -> str:
        require(number in self.tables["datatypes"], f"datatype {number}")
        datatype = self.tables["datatypes"][number]
        require(datatype not in (RDF + "langString", RDF + "dirLangString"), "a datatype of tags")
        return datatype

    def direction(self, number: int) -> str | None:
        require(number in range(3), "a direction")
        require(number == 0 or self.options.rdf_version != 1, "a direction in RDF 1.1")
        return DIRECTIONS[number]

    def column(self, column, rows: int, name: str) -> list:
        values = self.values(column, name)
        cells, at = [], 0
        tokens = iter(column.layouts)
        for token in tokens:
            skip, kind, length = token >> 5, token >> 4 & 1, token & 15
            if length == 15:
                extension = next(tokens, None)
                require(extension is not None, "no extension")
                length += extension
            require(len(cells) + length < rows, "many cells")
            require(at + skip <= len(values), "a long skip")
            cells += values[at : at + skip]
            at += skip
            if kind == 0:
                require(at < len(values), "a repeat without a value")
                cells += [values[at]] * (length + 2)
                at += 1
            else:
                require(name not in BOUND, "an unbound cell")
                cells += [None] * (length + 1)
            require(len(cells) <= rows, "many cells")
        cells += values[at:]
        require(len(cells) <= rows, "many cells")
        if name not in BOUND:
            cells += [None] * (rows - len(cells))
        require(len(cells) == rows, "few cells")
        return cells

    def values(self, column, name: str) -> list:
        """Returns the run values of a column."""
        lists = [self.iris(column), self.literals(column)]
        lists.append([("bnode", label) for label in column.bnodes])
        ids = Ids()
        lists.append([self.triple(ids, triple, 1) for triple in column.triple_terms])
        if column.triple_terms:
            require(self.options.rdf_version in (0, 3), "a triple term in another version")
        allowed = {"subjects": (0, 2), "predicates": (0,), "graphs": (0, 2)}.get(name, range(4))
        for kind, values in enumerate(lists):
            require(not values or kind in allowed, f"{KINDS[kind]} in {name}")
        count = sum(map(len, lists))
        if not column.kinds:
            require(sum(map(bool, lists)) <= 1, "no kinds")
            return functools.reduce(operator.iadd, lists, [])
        require(len(column.kinds) == (count + 3) // 4, "the length of kinds")
        kinds = [column.kinds[at // 4] >> 2 * (at % 4) & 3 for at in range(4 * len(column.kinds))]
        require(not any(kinds[count:]), "unused bits")
        for kind, values in enumerate(lists):
            require(kinds[:count].count(kind) == len(values), "the number of kinds")
        iterators = [iter(values) for values in lists]
        return [next(iterators[kind]) for kind in kinds[:count]]

    def iris(self, column) -> list:
        count, prefixes = len(column.name_ids), column.prefix_ids
        require(len(prefixes) in (0, 1, count), "the number of prefixes")
        ids = Ids()
        found = []
        for at, name in enumerate(column.name_ids):
            prefix = prefixes[at] if len(prefixes) == count else prefixes[0] if prefixes else 0
            found.append(self.named(*ids.next(prefix, name)))
        return found

    def literals(self, column) -> list:
        count, kinds = len(column.lex_values), column.literal_kinds
        require(len(kinds) in (0, 1, count), "the number of literal kinds")
        directions = column.langtag_directions
        require(len(directions) in (0, len(column.langtags)), "the number of directions")
        found = []
        for at, lexical in enumerate(column.lex_values):
            kind = kinds[0 if len(kinds) == 1 else at] if kinds else 0
            if kind == 0:
                found.append(literal(lexical))
            elif kind % 2:
                found.append(literal(lexical, datatype=self.datatype((kind + 1) // 2)))
            else:
                tag = kind // 2 - 1
                require(tag < len(column.langtags), "a tag")
                direction = self.direction(directions[tag]) if directions else None
                found.append(literal(lexical, column.langtags[tag], direction))
        return found

    def triple(self, ids: Ids, triple, depth: int) -> tuple:
        subject, object_ = triple.WhichOneof("subject"), triple.WhichOneof("object")
        require(subject and triple.HasField("p_iri") and object_, "an incomplete triple term")
        terms = []
        for name in (subject, "p_iri", object_):
            value = getattr(triple, name)
            if name.endswith("iri"):
                terms.append(self.iri(ids, value))
            elif name.endswith("bnode"):
                terms.append(("bnode", value))
            elif name == "o_literal":
                terms.append(self.literal(value))
            else:
                terms.append(self.triple(ids, value, depth + 1))
        return ("triple", *terms)

    def literal(self, value) -> tuple:
        kind = value.WhichOneof("literalKind")
        require(value.direction == 0 or kind == "langtag", "a direction without a tag")
        if kind == "langtag":
            return literal(value.lex, value.langtag, self.direction(value.direction))
        if kind == "datatype":
            return literal(value.lex, datatype=self.datatype(value.datatype))
        return literal(value.lex)


def decode(data: bytes) -> list[Message]:
    """Returns the messages of a delimited log."""
    reader = Reader()
    for frame in read_delimited(classes.RdfStreamFrame, data):
        reader.frame(frame)
    if reader.open is not None:
        reader.end()
    return reader.messages


class Table:
    """A lookup table that replaces entries at random, except those of the open frame."""

    def __init__(self, size: int, random: Random) -> None:
        self.size, self.random = size, random
        self.ids: dict[str, int] = {}
        self.last = 0
        self.used: set[int] = set()
        self.entries: list[tuple[int, str]] = []

    def id(self, text: str) -> int:
        """Returns the id of a text, or 0 if the frame uses all entries."""
        if text in self.ids:
            self.used.add(self.ids[text])
            return self.ids[text]
        free = [number for number in range(1, self.size + 1) if number not in self.used]
        if not free:
            return 0
        next_id = self.last + 1
        is_next = next_id in free and self.random.random() < 0.8
        number = next_id if is_next else self.random.choice(free)
        self.ids = {known: other for known, other in self.ids.items() if other != number}
        self.ids[text] = number
        self.used.add(number)
        self.entries.append((number, text))
        return number

    def packed(self) -> list:
        """Returns the entries of the frame, in runs."""
        found: list = []
        for number, text in self.entries:
            follows = number == self.last + 1
            if follows and found and self.random.random() < 0.8:
                found[-1].values.append(text)
            else:
                omits = follows and self.random.random() < 0.7
                entry = classes.RdfLookupEntryPacked(id=0 if omits else number, values=[text])
                found.append(entry)
            if self.random.random() < 0.05:
                found.append(classes.RdfLookupEntryPacked())
            self.last = number
        self.entries = []
        self.used = set()
        return found


class TableFullError(Exception):
    """The statement does not fit in the frame."""


class Writer:
    """Encodes messages in every form."""

    def __init__(self, random: Random, physical: int, stream: int, sizes=(128, 8, 8)) -> None:
        self.random, self.physical, self.stream, self.sizes = random, physical, stream, sizes
        self.out = b""
        self.tables: dict[str, Table] = {}
        self.rows: list[tuple] = []
        self.lengths: list[int] = []
        self.since = 0
        self.namespaces: dict[str, str] = {}
        self.metadata: dict[str, bytes] = {}
        self.states_options = True
        self.begin_tables()

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def begin_tables(self) -> None:
        pairs = zip(TABLES, self.sizes, strict=True)
        self.tables = {name: Table(size, self.random) for name, size in pairs}

    def message(self, message: Message) -> None:
        """Adds a message. One with namespaces or metadata begins a frame."""
        begins = self.chance(0.2) or message.metadata or message.namespaces
        if begins and (self.rows or self.lengths):
            self.end_frame()
        if not self.rows and not self.lengths and self.chance(0.1):
            self.states_options = True
            self.begin_tables()
        if begins:
            self.namespaces, self.metadata = message.namespaces, message.metadata
        for iri in message.namespaces.values():
            self.ids(iri)
        for quad in message.quads:
            try:
                self.reserve(quad)
            except TableFullError:
                self.end_frame()
                self.reserve(quad)
            self.rows.append(quad)
            self.since += 1
            if self.chance(0.05):
                self.end_frame()
        if self.stream == 1:
            self.lengths.append(self.since)
            self.since = 0
        if message.metadata:
            self.end_frame()

    def ids(self, iri: str) -> tuple[int, int]:
        cut = max(iri.rfind("#"), iri.rfind("/")) + 1 if self.sizes[1] else 0
        prefix = self.tables["prefixes"].id(iri[:cut]) if self.sizes[1] else 0
        name = self.tables["names"].id(iri[cut:])
        if not name or (self.sizes[1] and not prefix):
            raise TableFullError
        return prefix, name

    def datatype(self, text: str) -> int:
        number = self.tables["datatypes"].id(text)
        if not number:
            raise TableFullError
        return number

    def reserve(self, terms) -> None:
        """Adds the entries that terms need."""
        for term in terms:
            if term is None or term[0] == "bnode":
                continue
            if term[0] == "iri":
                self.ids(term[1])
            elif term[0] == "triple":
                self.reserve(term[1:])
            elif not term[2] and term[4] != XSD_STRING:
                self.datatype(term[4])

    def put_ids(self, ids: Ids, iri: str) -> tuple[int, int]:
        """Returns the ids as they are written after those of another IRI."""
        prefix, name = self.ids(iri)
        before = (ids.prefix, ids.name + 1)
        ids.prefix, ids.name = prefix, name
        return (
            0 if prefix == before[0] and self.chance(0.8) else prefix,
            0 if name == before[1] and self.chance(0.8) else name,
        )

    def iri(self, ids: Ids, iri: str):
        prefix, name = self.put_ids(ids, iri)
        return classes.RdfIri(prefix_id=prefix, name_id=name)

    def literal(self, term):
        _, lexical, language, direction, datatype = term
        if language:
            number = DIRECTIONS.index(direction)
            return classes.RdfLiteral(lex=lexical, langtag=language, direction=number)
        if datatype == XSD_STRING:
            return classes.RdfLiteral(lex=lexical)
        return classes.RdfLiteral(lex=lexical, datatype=self.datatype(datatype))

    def triple(self, ids: Ids, terms):
        fields: dict = {}
        for position, term in zip("spo", terms, strict=True):
            if term[0] == "iri":
                fields[f"{position}_iri"] = self.iri(ids, term[1])
            elif term[0] == "bnode":
                fields[f"{position}_bnode"] = term[1]
            elif term[0] == "literal":
                fields["o_literal"] = self.literal(term)
            else:
                fields["o_triple_term"] = self.triple(ids, term[1:])
        return classes.RdfTripleTerm(**fields)

    def column(self, cells: list):
        """Returns a column. Equal cells need not be in one run."""
        runs: list[list] = []
        for cell in cells:
            joins = runs and runs[-1][0] == cell and (cell is None or self.chance(0.9))
            if joins:
                runs[-1][1] += 1
            else:
                runs.append([cell, 1])
        if runs and runs[-1][0] is None and self.chance(0.5):
            runs.pop()
        column = classes.RdfColumn()
        skip, kinds, ids, nested = 0, [], Ids(), Ids()
        prefixes, literal_kinds = [], []
        tags: list[tuple] = []
        for term, times in runs:
            kind, length = (1, times - 1) if term is None else (0, times - 2)
            if length < 0:
                skip += 1
            else:
                token = skip << 5 | kind << 4 | min(length, 15)
                column.layouts.extend([token] if length < 15 else [token, length - 15])
                skip = 0
            if term is None:
                continue
            kinds.append(KINDS.index(term[0]))
            if term[0] == "iri":
                prefix, name = self.put_ids(ids, term[1])
                column.name_ids.append(name)
                prefixes.append((prefix, ids.prefix))
            elif term[0] == "bnode":
                column.bnodes.append(term[1])
            elif term[0] == "triple":
                column.triple_terms.append(self.triple(nested, term[1:]))
            else:
                _, lexical, language, direction, datatype = term
                column.lex_values.append(lexical)
                if language:
                    if (language, direction) not in tags:
                        tags.append((language, direction))
                    literal_kinds.append(2 * tags.index((language, direction)) + 2)
                elif datatype == XSD_STRING:
                    literal_kinds.append(0)
                else:
                    literal_kinds.append(2 * self.datatype(datatype) - 1)
        if len({prefix for _, prefix in prefixes}) == 1 and self.chance(0.8):
            column.prefix_ids.extend([prefixes[0][1]] if prefixes[0][1] else [])
        else:
            column.prefix_ids.extend(prefix for prefix, _ in prefixes)
        if len(set(literal_kinds)) == 1 and self.chance(0.8):
            column.literal_kinds.extend(literal_kinds[:1] if literal_kinds[0] else [])
        else:
            column.literal_kinds.extend(literal_kinds)
        column.langtags.extend(language for language, _ in tags)
        if any(direction for _, direction in tags) or self.chance(0.3):
            column.langtag_directions.extend(DIRECTIONS.index(direction) for _, direction in tags)
        if len(set(kinds)) > 1 or (kinds and self.chance(0.2)):
            packed = bytearray((len(kinds) + 3) // 4)
            for at, kind in enumerate(kinds):
                packed[at // 4] |= kind << 2 * (at % 4)
            column.kinds = bytes(packed)
        return column

    def end_frame(self) -> None:
        """Writes the frame."""
        fields: list[bytes] = []
        if self.states_options:
            options = classes.RdfStreamOptions(
                physical_type=self.physical,
                stream_type=self.stream,
                max_name_table_size=self.sizes[0],
                max_prefix_table_size=self.sizes[1],
                max_datatype_table_size=self.sizes[2],
                version=3,
            )
            row = classes.RdfStreamRow(options=options)
            fields.append(classes.RdfStreamFrame(rows=[row]).SerializeToString())
            self.states_options = False
        names = POSITIONS[: 3 if self.physical == 1 else 4]
        columns = {
            name: self.column([quad[at] for quad in self.rows]) for at, name in enumerate(names)
        }
        ids = Ids()
        namespaces = [
            classes.RdfNamespaceDeclaration(name=name, value=self.iri(ids, value))
            for name, value in self.namespaces.items()
        ]
        batch = classes.RdfColumnBatch(
            row_count=len(self.rows),
            namespaces=namespaces,
            message_lengths=self.lengths,
            **columns,
            **{name: table.packed() for name, table in self.tables.items()},
        )
        if not any(quad[3] for quad in self.rows):
            batch.ClearField("graphs")
        if self.rows or self.lengths or namespaces or fields:
            fields += self.pieces(batch)
        if self.metadata:
            frame = classes.RdfStreamFrame(metadata=self.metadata)
            fields.insert(self.random.randint(0, len(fields)), frame.SerializeToString())
        if fields and fields[0][0] != 0x12 and self.chance(0.3):
            fields.append(fields.pop(0))
        frame = b"".join(fields)
        self.out += varint(len(frame)) + frame
        self.rows, self.lengths, self.since = [], [], 0
        self.namespaces, self.metadata = {}, {}

    def pieces(self, batch) -> list[bytes]:
        """Returns the columns field, in pieces and in any order of its fields."""
        fields = cut(batch.SerializeToString())
        if self.chance(0.3):
            fields = shuffled(fields, self.random)
        if self.chance(0.3):
            fields = [part for one in fields for part in self.unusual(*one)]
        ends = [len(fields)]
        if self.chance(0.2):
            ends.insert(0, self.random.randint(0, len(fields)))
        parts, at = [], 0
        for end in ends:
            content = b"".join(bytes_of for _, bytes_of in fields[at:end])
            parts.append(b"\x12" + varint(len(content)) + content)
            at = end
        return parts

    def unusual(self, number: int, data: bytes) -> list[tuple[int, bytes]]:
        """Returns a field of the batch in another encoding."""
        content = payload(data) if data[0] & 7 == 2 else b""
        if number == 15 and content:
            return [(15, b"\x78" + value) for value in varints(content)]
        if number in range(6, 10):
            inner = cut(content)
            inner = [part for one in inner for part in self.unpacked(*one)]
            inner = shuffled(inner, self.random)
            cuts = sorted({0, self.random.randint(0, len(inner)), len(inner)})
            pieces = [
                b"".join(bytes_of for _, bytes_of in inner[a:b])
                for a, b in itertools.pairwise(cuts)
            ]
            tag = bytes([number << 3 | 2])
            return [(number, tag + varint(len(piece)) + piece) for piece in pieces or [b""]]
        return [(number, data)]

    def unpacked(self, number: int, data: bytes) -> list[tuple[int, bytes]]:
        """Returns a field of a column with unpacked numbers."""
        if number in (2, 3, 4, 6, 8) and self.chance(0.5):
            tag = bytes([number << 3])
            return [(number, tag + value) for value in varints(payload(data))]
        return [(number, data)]


def varints(data: bytes) -> list[bytes]:
    """Returns the numbers in packed data, encoded."""
    found, start = [], 0
    for at, byte in enumerate(data):
        if byte < 128:
            found.append(data[start : at + 1])
            start = at + 1
    return found


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Returns a number, and the position after it."""
    number = shift = 0
    while True:
        number |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return number, at


def payload(data: bytes) -> bytes:
    """Returns the content of an encoded string or message, which has a tag of one byte."""
    return data[read_varint(data, 1)[1] :]


def cut(data: bytes) -> list[tuple[int, bytes]]:
    """Returns the encoded fields of a message, with their numbers."""
    found, at = [], 0
    while at < len(data):
        tag, after = read_varint(data, at)
        number, after = read_varint(data, after)
        end = after + number if tag & 7 == 2 else after
        found.append((tag >> 3, data[at:end]))
        at = end
    return found


def shuffled(fields: list[tuple[int, bytes]], random: Random) -> list[tuple[int, bytes]]:
    """Returns fields in another order, in which those of one number keep their order."""
    order = [number for number, _ in fields]
    random.shuffle(order)
    queues: dict[int, list] = {}
    for number, data in fields:
        queues.setdefault(number, []).append(data)
    return [(number, queues[number].pop(0)) for number in order]


def encode(
    messages: list[Message], random: Random, physical: int = 2, stream: int = 1, sizes=(128, 8, 8)
) -> bytes:
    """Returns a delimited log."""
    writer = Writer(random, physical, stream, sizes)
    for message in messages:
        writer.message(message)
    if writer.rows or writer.lengths or writer.states_options:
        writer.end_frame()
    return writer.out


def random_term(random: Random, position: int, depth: int = 0) -> tuple | None:
    """Returns a term that RDF 1.2 allows in a position."""

    def iri() -> tuple:
        prefixes = ("http://a/", "http://b#", "urn:x:", "http://c/d/")
        return ("iri", random.choice(prefixes) + str(random.randrange(60)))

    choice = random.randrange(10)
    if position in (0, 3) and choice == 0:
        return ("bnode", f"b{random.randrange(3)}")
    if position == 3 and choice < 5:
        return None
    if position != 2 or choice > 6:
        return iri()
    if choice == 0:
        return ("bnode", f"b{random.randrange(3)}")
    if choice < 3:
        return literal(f"l{random.randrange(4)}")
    if choice == 3:
        return literal("x", random.choice(("en", "ar")), random.choice(DIRECTIONS))
    if choice < 6 or depth == 2:
        return literal(str(random.randrange(3)), datatype=f"http://d/{random.randrange(5)}")
    return ("triple", *(random_term(random, part, depth + 1) for part in range(3)))


def random_messages(random: Random, count: int, graphs: bool = True) -> list[Message]:
    """Returns messages with repeated terms, metadata and namespaces."""
    found = []
    for number in range(count):
        message = Message()
        for _ in range(random.choice((0, 1, 1, 2, 5, 40))):
            quad = [random_term(random, position) for position in range(4)]
            if not graphs:
                quad[3] = None
            if message.quads:
                for position in range(4):
                    if random.random() < 0.4:
                        quad[position] = message.quads[-1][position]
            message.quads += [tuple(quad)] * random.choice((1, 1, 1, 2, 20))
        if random.random() < 0.2:
            message.metadata = {"k": bytes([number % 256, 255])}
        if random.random() < 0.2:
            message.namespaces = {f"n{random.randrange(3)}": f"http://n/{random.randrange(9)}"}
        found.append(message)
    return found
