"""Read, write and convert RDF message logs.

A log is a sequence of messages. Each message is an RDF dataset with its own blank nodes. A log can
also contain patches (changes to a dataset) or SPARQL result rows.

Message formats: N-Triples, N-Quads, Turtle, TriG, Jelly, RDF Protobuf, RDF Thrift, RDF/XML,
NDJSON-LD, JSON-LD, YAML-LD, Parquet and Arrow IPC. Patch formats: Jelly-Patch, RDF Patch, RDF Patch
Thrift, Parquet and Arrow IPC. Result formats: SPARQL results in RDF Thrift, SPARQL results in RDF
Protobuf, SPARQL results in JSON, SPARQL results in XML, SPARQL results in TSV, SPARQL results in
CSV, Jelly-SPARQL (draft), Parquet and Arrow IPC.

    with rdfm.open_log("nanopubs.jelly.gz") as log:
        for message in log:
            for quad in message:
                print(quad.subject, quad.graph)

    with rdfm.create_log("out.trig") as out:
        out.write(message)

    rdfm.convert("in.jelly", "out.nq.zst")

Batches (`log.batches()`, `MessageBatch`) pass entire columns to Arrow. `rdfm.formats` lists and
finds the formats, and `rdfm.errors` contains every exception.
"""

from rdfm import errors
from rdfm.logs.counters import set_counter_reader as _set_counter_reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from rdfm import formats
    from rdfm import nanopub as nanopub
    from rdfm import patch as patch
    from rdfm import riverbench as riverbench
    from rdfm._core import (
        BlankNode,
        Iri,
        Literal,
        MessageBatch,
        PatchBatch,
        Quad,
        ResultBatch,
        TripleTerm,
        __version__,
        parse_term,
    )
    from rdfm.analysis.diff import diff
    from rdfm.analysis.diff_result import LogDiff, MessageDiff
    from rdfm.analysis.finding import Finding
    from rdfm.analysis.hash import MessageHash, MessageHashes, hash
    from rdfm.analysis.inspect import Inspection, inspect
    from rdfm.analysis.statistics import Statistics, statistics
    from rdfm.analysis.validate import Validation, validate
    from rdfm.conversion.convert import convert
    from rdfm.conversion.filter import filter
    from rdfm.conversion.regroup import regroup
    from rdfm.conversion.summary import ConversionSummary
    from rdfm.conversion.values import ValueDecoder, ValueEncoder, decode_values, encode_values
    from rdfm.errors import (
        DecodeError,
        EncodeError,
        InternalError,
        LimitError,
        LogBusyError,
        MissingExtraError,
        OptionError,
        QueryError,
        RdfmError,
        TruncatedError,
        UnknownFormatError,
        UnsupportedError,
    )
    from rdfm.formats.options_generated import (
        ConvertOptions,
        FilterOptions,
        ReadOptions,
        WriteOptions,
    )
    from rdfm.live.running import serve
    from rdfm.logs.input.progress import Progress
    from rdfm.logs.input.splits import Split
    from rdfm.logs.read.plan import plan_splits
    from rdfm.logs.read.reader import LogReader, open_log
    from rdfm.logs.read.results import ResultReader
    from rdfm.logs.read.scan import LogScan, scan
    from rdfm.logs.read.scan_polars import scan_polars
    from rdfm.logs.write.writer import LogWriter, create_log
    from rdfm.message import Message, Operation, Patch, Row
    from rdfm.sparql.entity_table import EntityTable, table
    from rdfm.sparql.query import ask, construct, query, select
    from rdfm.sparql.solutions import Solutions

__all__ = [
    "BlankNode",
    "ConversionSummary",
    "ConvertOptions",
    "DecodeError",
    "EncodeError",
    "EntityTable",
    "FilterOptions",
    "Finding",
    "Inspection",
    "InternalError",
    "Iri",
    "LimitError",
    "Literal",
    "LogBusyError",
    "LogDiff",
    "LogReader",
    "LogScan",
    "LogWriter",
    "Message",
    "MessageBatch",
    "MessageDiff",
    "MessageHash",
    "MessageHashes",
    "MissingExtraError",
    "Operation",
    "OptionError",
    "Patch",
    "PatchBatch",
    "Progress",
    "Quad",
    "QueryError",
    "RdfmError",
    "ReadOptions",
    "ResultBatch",
    "ResultReader",
    "Row",
    "Solutions",
    "Split",
    "Statistics",
    "TripleTerm",
    "TruncatedError",
    "UnknownFormatError",
    "UnsupportedError",
    "Validation",
    "ValueDecoder",
    "ValueEncoder",
    "WriteOptions",
    "__version__",
    "ask",
    "construct",
    "convert",
    "create_log",
    "decode_values",
    "diff",
    "encode_values",
    "errors",
    "filter",
    "formats",
    "hash",
    "inspect",
    "open_log",
    "parse_term",
    "plan_splits",
    "query",
    "regroup",
    "scan",
    "scan_polars",
    "select",
    "serve",
    "statistics",
    "table",
    "validate",
]

# Public names by module. They are imported on first use, so that the command line can install its
# signal handlers first.
_NAMES_BY_MODULE = {
    "_core": [
        "BlankNode",
        "Iri",
        "Literal",
        "MessageBatch",
        "PatchBatch",
        "Quad",
        "ResultBatch",
        "TripleTerm",
        "__version__",
        "parse_term",
    ],
    "conversion.convert": ["convert"],
    "conversion.filter": ["filter"],
    "conversion.regroup": ["regroup"],
    "conversion.summary": ["ConversionSummary"],
    "errors": [
        "DecodeError",
        "EncodeError",
        "InternalError",
        "LimitError",
        "LogBusyError",
        "MissingExtraError",
        "OptionError",
        "QueryError",
        "RdfmError",
        "TruncatedError",
        "UnknownFormatError",
        "UnsupportedError",
    ],
    "analysis.diff": ["diff"],
    "analysis.diff_result": ["LogDiff", "MessageDiff"],
    "analysis.finding": ["Finding"],
    "analysis.hash": ["MessageHash", "MessageHashes", "hash"],
    "analysis.inspect": ["Inspection", "inspect"],
    "analysis.statistics": ["Statistics", "statistics"],
    "analysis.validate": ["Validation", "validate"],
    "conversion.values": ["ValueDecoder", "ValueEncoder", "decode_values", "encode_values"],
    "live.running": ["serve"],
    "logs.input.progress": ["Progress"],
    "logs.input.splits": ["Split"],
    "logs.read.plan": ["plan_splits"],
    "logs.read.reader": ["LogReader", "open_log"],
    "logs.read.results": ["ResultReader"],
    "logs.read.scan": ["LogScan", "scan"],
    "logs.read.scan_polars": ["scan_polars"],
    "logs.write.writer": ["LogWriter", "create_log"],
    "sparql.entity_table": ["EntityTable", "table"],
    "sparql.query": ["ask", "construct", "query", "select"],
    "sparql.solutions": ["Solutions"],
    "message": ["Message", "Operation", "Patch", "Row"],
    "formats.options_generated": ["ConvertOptions", "FilterOptions", "ReadOptions", "WriteOptions"],
}
_MODULE_BY_NAME = {name: module for module, names in _NAMES_BY_MODULE.items() for name in names}
_MODULES = ["analysis", "errors", "formats", "nanopub", "patch", "riverbench"]


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES})


def _load(name: str) -> object:
    if name not in _MODULE_BY_NAME and name not in _MODULES:
        raise AttributeError(f"module 'rdfm' has no attribute {name!r}")
    from importlib import import_module

    module = import_module(f"rdfm.{_MODULE_BY_NAME.get(name, name)}")
    from rdfm._core import debug_build

    if debug_build:
        import warnings

        warnings.warn(
            "rdfm is built without optimizations and is slow; build it with --release",
            RuntimeWarning,
            stacklevel=2,
        )
    value: object = getattr(module, name) if name in _MODULE_BY_NAME else module
    globals()[name] = value
    return value


def _render_for_python(remedy: "errors.Remedy") -> str:
    from rdfm.conversion.python_remedies import render_for_python

    return render_for_python(remedy)


def _message_word(format: "str | None") -> str:
    from rdfm.errors import UnknownFormatError
    from rdfm.formats import find
    from rdfm.logs.kinds import MESSAGE_WORDS

    if format in MESSAGE_WORDS:  # a kind of log, in errors without a format
        return MESSAGE_WORDS[format]
    try:
        kind = "messages" if format is None else find(format).spec.kinds[0]
    except UnknownFormatError:
        kind = "messages"
    return MESSAGE_WORDS[kind]


def _registry_counter(metadata: "Mapping[str, bytes]") -> "int | None":
    from rdfm.nanopub.counters import find_counter

    return find_counter(metadata)


errors.set_surface(_render_for_python, _message_word)
_set_counter_reader(_registry_counter)

if not TYPE_CHECKING:  # type checkers would accept any attribute
    __getattr__ = _load
