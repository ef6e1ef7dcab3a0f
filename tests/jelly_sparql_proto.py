"""Jelly-SPARQL with Google's protobuf: an encoder and a decoder.

This module shares no code with rdfm. Columns and tables are those of `jelly_columns_proto`. The
encoder cuts frames anywhere, and uses every form that the definition allows.
"""

from dataclasses import dataclass, field
from random import Random

import jelly_columns_proto
from jelly_columns_proto import MAX_ROWS, TABLES, TableFullError, classes, cut, payload, require
from jelly_columns_proto import shuffled as in_any_order
from jelly_proto import read_delimited, varint

FLAT, PUNCTUATED = 0, 1
OPTIONS, COLUMNS = 1, 7


@dataclass
class ResultSet:
    """Variables and rows, or the answer to an ASK query."""

    variables: list[str] = field(default_factory=list)
    rows: list[tuple] = field(default_factory=list)
    answer: bool | None = None
    links: list[str] = field(default_factory=list)
    error: str = ""


class Reader(jelly_columns_proto.Reader):
    """Decodes frames."""

    def __init__(self) -> None:
        super().__init__()
        self.sets: list[ResultSet] = []
        self.is_open = False

    def frame(self, frame) -> None:
        restates = frame.HasField("options")
        if restates:
            flat = self.options is None or self.options.stream_type == FLAT
            require(flat or not self.is_open, "options inside a result set")
            require(not (self.options and flat and self.sets[0].answer is not None), "after ASK")
            self.restate(frame.options)
        require(self.options, "no options")
        is_first = restates or not self.is_open
        is_flat = self.options.stream_type == FLAT
        require(restates or self.is_open or not is_flat, "a frame after the trailer")
        answer = frame.ask_result.value if frame.HasField("ask_result") else None
        if is_first:
            require(len(set(frame.variables)) == len(frame.variables), "a variable twice")
            require(all(frame.variables), "an empty name")
            content = frame.variables or frame.columns or frame.row_count
            require(answer is None or not content, "content of an ASK result")
            links = bytes(frame.metadata.get("link", b"")).decode().split("\n")
            found = ResultSet(list(frame.variables), [], answer, [link for link in links if link])
            if is_flat and self.sets:
                require(found.variables == self.sets[0].variables, "other variables")
            else:
                self.sets.append(found)
            self.is_open = True
        else:
            require(not frame.variables and answer is None, "a second header")
            require(self.sets[-1].answer is None, "a frame after ASK")
        self.rows(frame)
        if frame.HasField("trailer"):
            self.is_open = False
            self.sets[-1].error = frame.trailer.error

    def restate(self, options) -> None:
        require(options.version == 1, "another version")
        require(options.stream_type in (0, 1) and options.rdf_version in range(4), "enums")
        require(options.max_name_table_size >= 128, "a small name table")
        require(not self.options or options.stream_type == self.options.stream_type, "another type")
        self.options = options
        self.tables = {name: {} for name in TABLES}
        self.last = dict.fromkeys(TABLES, 0)

    def rows(self, frame) -> None:
        require(frame.row_count <= MAX_ROWS, "row_count")
        for table, option in TABLES.items():
            size = getattr(self.options, f"max_{option}_table_size")
            for entry in getattr(frame, table):
                number = entry.id or self.last[table] + 1
                for value in entry.values:
                    require(1 <= number <= size, f"{table} entry {number}")
                    self.tables[table][number] = value
                    self.last[table] = number
                    number += 1
        found = self.sets[-1]
        count = len(found.variables)
        require(
            len(frame.columns) == count or not (frame.columns or frame.row_count), "the columns"
        )
        columns = [self.column(column, frame.row_count, "results") for column in frame.columns]
        rows = zip(*columns, strict=True) if columns else [()] * frame.row_count
        found.rows += rows


def decode(data: bytes) -> list[ResultSet]:
    """Returns the result sets of a complete log."""
    reader = Reader()
    for frame in read_delimited(classes.SparqlResultsFrame, data):
        reader.frame(frame)
    require(reader.sets and not reader.is_open, "no trailer")
    return reader.sets


class Writer(jelly_columns_proto.Writer):
    """Encodes result sets in every form."""

    def result_set(self, found: ResultSet) -> None:
        """Adds a result set. In a FLAT stream, a later one is joined to the first."""
        self.header = list(found.variables)
        if self.states_options or self.stream == FLAT or self.chance(0.3):
            self.states_options = True
            self.begin_tables()
        self.answer, self.is_first = found.answer, True
        self.metadata = {"link": "\n".join(found.links).encode()} if found.links else {}
        for row in found.rows:
            try:
                self.reserve(row)
            except TableFullError:
                self.put_frame()
                self.reserve(row)
            self.rows.append(row)
            if self.chance(0.05):
                self.put_frame()
        if found.answer is None and self.chance(0.3):
            self.put_frame()
        self.put_frame(is_last=True)

    def put_frame(self, is_last: bool = False) -> None:
        """Writes the frame."""
        frame = classes.SparqlResultsFrame(
            row_count=len(self.rows),
            metadata=self.metadata,
            **{name: table.packed() for name, table in self.tables.items()},
        )
        if self.states_options:
            frame.options.CopyFrom(
                classes.SparqlResultsOptions(
                    stream_type=self.stream,
                    max_name_table_size=self.sizes[0],
                    max_prefix_table_size=self.sizes[1],
                    max_datatype_table_size=self.sizes[2],
                    version=1,
                )
            )
            self.states_options = False
        if self.is_first:
            frame.variables.extend(self.header)
            if self.answer is not None:
                frame.ask_result.value = self.answer
        if self.rows or (self.answer is None and self.chance(0.5)):
            for at in range(len(self.header)):
                frame.columns.append(self.column([row[at] for row in self.rows]))
        if is_last:
            frame.trailer.SetInParent()
        fields = cut(frame.SerializeToString(deterministic=True))
        if self.chance(0.3):
            fields = in_any_order(fields, self.random)
        fields = [self.unusual_column(*one) for one in fields]
        data = b"".join(data for _, data in fields)
        self.out += varint(len(data)) + data
        self.rows, self.metadata, self.is_first = [], {}, False

    def unusual_column(self, number: int, data: bytes) -> tuple[int, bytes]:
        """Returns a column with unpacked numbers, and in another order."""
        if number != COLUMNS or self.chance(0.7):
            return number, data
        inner = [part for one in cut(payload(data)) for part in self.unpacked(*one)]
        content = b"".join(part for _, part in in_any_order(inner, self.random))
        return number, data[:1] + varint(len(content)) + content


def encode(sets: list[ResultSet], random: Random, stream: int, sizes=(128, 8, 8)) -> bytes:
    """Returns a complete log."""
    writer = Writer(random, 2, stream, sizes)
    for found in sets:
        writer.result_set(found)
    return writer.out
