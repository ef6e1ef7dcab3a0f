"""Read, write and convert RDF message logs.

A log is a sequence of messages, a message an RDF dataset with its own blank nodes. Formats: N-Triples,
N-Quads, Turtle, TriG, Jelly, RDF Protobuf, RDF Thrift, RDF/XML, NDJSON-LD, JSON-LD, YAML-LD, Parquet and
Arrow IPC.

    with rdfm.open_log("nanopubs.jelly.gz") as log:
        for message in log:
            for quad in message:
                print(quad.subject, quad.graph)

    with rdfm.create_log("out.trig") as out:
        out.write(message)

    rdfm.convert("in.jelly", "out.nq.zst")

Batches (`log.batches()`, `MessageBatch`) hand whole columns to Arrow; `rdfm.formats` lists the
formats and finds them; `rdfm.errors` has every exception.
"""

from rdfm import errors, formats
from rdfm._core import (
    Bnode,
    Iri,
    Literal,
    MessageBatch,
    Quad,
    TripleTerm,
    __version__,
    debug_build,
    parse_term,
)
from rdfm.convert import ConvertOptions, Progress, Summary, convert
from rdfm.errors import (
    DecodeError,
    EncodeError,
    InternalError,
    LimitError,
    MissingExtraError,
    OptionError,
    RdfmError,
    TruncatedError,
    UnknownFormatError,
    UnsupportedError,
)
from rdfm.inspect import Report, inspect
from rdfm.log import LogReader, LogWriter, create_log, open_log
from rdfm.message import Message

__all__ = [
    "Bnode",
    "ConvertOptions",
    "DecodeError",
    "EncodeError",
    "InternalError",
    "Iri",
    "LimitError",
    "Literal",
    "LogReader",
    "LogWriter",
    "Message",
    "MessageBatch",
    "MissingExtraError",
    "OptionError",
    "Progress",
    "Quad",
    "RdfmError",
    "Report",
    "Summary",
    "TripleTerm",
    "TruncatedError",
    "UnknownFormatError",
    "UnsupportedError",
    "__version__",
    "convert",
    "create_log",
    "errors",
    "formats",
    "inspect",
    "open_log",
    "parse_term",
]

if debug_build:
    import warnings

    warnings.warn(
        "rdfm is built without optimizations and is slow; build it with --release",
        RuntimeWarning,
        stacklevel=2,
    )
