"""Logs as lazy frames of Polars: `scan_polars`.

In: a log. Out: a LazyFrame that opens the log for each query.
Cost: only the columns and messages that the query needs are converted.
Law: the result is that of the same query on a data frame with all rows. The predicate of a query is
applied to each batch. Its conditions on terms and indexes only reduce the rows before that.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Unpack

from rdfm._core import MessageBatch
from rdfm.errors import OptionError
from rdfm.logs.input.driver import NOTHING_DROPPED, ReadBatch
from rdfm.logs.input.inputs import Readable
from rdfm.logs.read.frames import require_package
from rdfm.logs.read.reader import LogReader
from rdfm.logs.read.scan import LogScan, scan
from rdfm.logs.stages.criteria import FilterStage
from rdfm.logs.stages.stage import Stage

if TYPE_CHECKING:
    import polars

    from rdfm.formats.options_generated import ScanOptions

__all__ = ["Requirements", "read_requirements", "scan_polars"]

_POSITIONS = ("subject", "predicate", "object", "graph")
_INDEX = "message_index"
# Maximum number of terms of `is_in`; each term of a batch is compared with all of them.
_MAX_TERMS = 64
# Greater than any message index.
_END = 1 << 63
_MIRRORED = {"Lt": "Gt", "LtEq": "GtEq", "Gt": "Lt", "GtEq": "LtEq"}


def scan_polars(
    log: Readable | Sequence[Readable],
    format: str | None = None,
    *,
    rows: Literal["messages", "quads"] = "quads",
    terms: Literal["ntriples", "structs"] = "ntriples",
    columns: Sequence[str] | None = None,
    compression: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Unpack[ScanOptions],
) -> polars.LazyFrame:
    r"""Return a log as a LazyFrame of Polars, which opens the log for each query.

    Only the columns that a query needs are built, and reading stops once it has enough rows. These
    parts of filters skip quads and messages before they are converted: `==`, `is_in` and `is_null`
    on the columns subject, predicate, object and graph (as N-Triples), and comparisons of
    message_index; combined by `&`. Polars calls the interface for this unstable.

    Args:
        log: As in `scan`. The same applies to all the following arguments.
        format: The format. Detected by default.
        rows: "quads" or "messages".
        terms: "ntriples" or "structs".
        columns: The columns of the frame, in order.
        compression: As in `open_log`.
        storage_options: As in `open_log`.
        **options: Criteria and options of the format's decoder.

    Raises:
        MissingExtraError: If polars is not installed.
        OptionError: As in `scan`.

    Example:
        >>> import polars as pl
        >>> log = b'<x:a> <x:p> "1" .\n# @message\n<x:b> <x:p> "2" .\n'
        >>> quads = scan_polars(log, "nq")
        >>> quads.filter(pl.col("subject") == "<x:b>").select("object").collect().to_series().to_list()
        ['"2"']
    """
    with require_package("polars", "a LazyFrame"):
        import polars as pl
        from polars.io.plugins import register_io_source
    table = scan(
        log,
        format,
        rows=rows,
        terms=terms,
        columns=columns,
        compression=compression,
        storage_options=storage_options,
        **options,
    )

    def read(
        with_columns: list[str] | None,
        predicate: polars.Expr | None,
        n_rows: int | None,
        batch_size: int | None,
    ) -> Iterator[polars.DataFrame]:
        required = Requirements()
        if predicate is not None and n_rows is None:  # the rows are counted before the predicate
            required = read_requirements(predicate)
        with _open(table, required, with_columns) as opened:
            for batch in opened.batches():
                frame = pl.DataFrame(batch)
                if n_rows is not None:
                    frame = frame.head(n_rows)
                    n_rows -= frame.height
                yield frame if predicate is None else frame.filter(predicate)
                if n_rows == 0:
                    return

    schema = pl.DataFrame(table.empty_rows()).schema
    return register_io_source(read, schema=schema)


class Requirements(NamedTuple):
    """What a predicate requires of rows; rows that satisfy it all may still fail the predicate.

    Attributes:
        terms: Columns with terms in N-Triples, one of which is in the column.
        is_default_graph: Whether the graph is null.
        start: First message index.
        stop: Message index after the last one.
    """

    terms: tuple[tuple[str, tuple[str, ...]], ...] = ()
    is_default_graph: bool = False
    start: int = 0
    stop: int = _END

    def __and__(self, other: Requirements) -> Requirements:
        """Return the requirements of both."""
        return Requirements(
            self.terms + other.terms,
            self.is_default_graph or other.is_default_graph,
            max(self.start, other.start),
            min(self.stop, other.stop),
        )


_NOTHING = Requirements()


def read_requirements(predicate: polars.Expr) -> Requirements:
    """Return what a predicate requires of rows, as far as it is known.

    The structure of expressions may differ between versions of Polars. An unknown structure
    requires nothing.

    Example:
        >>> import polars as pl
        >>> read_requirements((pl.col("subject") == "<x:a>") & (pl.col("message_index") < 5))
        Requirements(terms=(('subject', ('<x:a>',)),), is_default_graph=False, start=0, stop=5)
    """
    try:
        return _requirements(json.loads(predicate.meta.serialize(format="json")))
    except (ValueError, TypeError, AttributeError, KeyError, IndexError, RecursionError):
        return _NOTHING


def _requirements(node: Any) -> Requirements:
    match node:
        case {"BinaryExpr": {"left": left, "op": "And" | "LogicalAnd", "right": right}}:
            return _requirements(left) & _requirements(right)
        case {"BinaryExpr": {"left": {"Column": name}, "op": op, "right": {"Literal": literal}}}:
            return _comparison(name, op, _scalar(literal))
        case {"BinaryExpr": {"left": {"Literal": literal}, "op": op, "right": {"Column": name}}}:
            return _comparison(name, _MIRRORED.get(op, op), _scalar(literal))
        case {
            "Function": {"input": [{"Column": name}, *inputs], "function": {"Boolean": function}}
        }:
            return _function(name, function, [_scalar(each["Literal"]) for each in inputs])
    return _NOTHING


def _scalar(literal: Any) -> Any:
    """Return the value of a literal: a text, an integer, or a list of texts."""
    match literal:
        case {"Dyn": value} | {"Scalar": value}:
            return _scalar(value)
        case {"String": str() as value} | {"Str": str() as value}:
            return value
        case {"List": list() as data}:  # an Arrow stream
            import polars as pl

            return pl.read_ipc_stream(bytes(data)).to_series().to_list()
        case dict() if len(literal) == 1:
            (value,) = literal.values()
            return value if isinstance(value, int) else None
    return None


def _comparison(name: str, op: str, value: Any) -> Requirements:
    if name == _INDEX and isinstance(value, int):
        match op:
            case "Eq" | "EqValidity":
                return Requirements(start=value, stop=value + 1)
            case "Lt":
                return Requirements(stop=value)
            case "LtEq":
                return Requirements(stop=value + 1)
            case "Gt":
                return Requirements(start=value + 1)
            case "GtEq":
                return Requirements(start=value)
    if op in ("Eq", "EqValidity") and isinstance(value, str):
        return _one_of(name, [value])
    return _NOTHING


def _function(name: str, function: Any, values: list[Any]) -> Requirements:
    match function, values:
        case "IsNull", []:
            return Requirements(is_default_graph=True) if name == "graph" else _NOTHING
        case {"IsBetween": {"closed": "Both"}}, [int() as first, int() as last]:
            if name == _INDEX:
                return Requirements(start=first, stop=last + 1)
        case {"IsIn": {"nulls_equal": nulls_equal}}, [list() as texts]:
            if not nulls_equal or None not in texts:
                return _one_of(name, [text for text in texts if text is not None])
    return _NOTHING


def _one_of(name: str, texts: list[Any]) -> Requirements:
    """Return the requirement that a column has one of some texts, if all may be N-Triples."""
    unique = tuple(dict.fromkeys(texts))
    # Blank nodes cannot be matched, and a text that is not a term is left to Polars.
    are_terms = all(isinstance(text, str) and text.startswith(("<", '"')) for text in unique)
    if name in _POSITIONS and are_terms and 0 < len(unique) <= _MAX_TERMS:
        return Requirements(((name, unique),))
    return _NOTHING


def _open(scan: LogScan, required: Requirements, columns: list[str] | None) -> LogReader:
    """Open a log for rows that satisfy the requirements."""
    stages: list[Stage] = []
    if scan.has_quad_terms and (required.terms or required.is_default_graph):
        criteria = {"quads": True, "graph": "default" if required.is_default_graph else None}
        try:
            stages = [FilterStage(criteria, one_of=required.terms)]
        except OptionError:  # a text is not a term
            stages = []
    log = scan.open(*stages, columns=columns)
    if (required.start, required.stop) == (0, _END):
        return log
    return log._with_stages(_IndexRange(required.start, required.stop, ends=not log.several))


class _IndexRange(Stage):
    """Keeps the messages with indexes in a range."""

    def __init__(self, start: int, stop: int, *, ends: bool) -> None:
        """Initialize with the range.

        Args:
            start: First index.
            stop: The index after the last one.
            ends: Whether indexes only increase, so that reading ends at `stop`.
        """
        self._start, self._stop, self._ends = start, stop, ends
        self.done = ends and start >= stop

    def process_batch(self, item: ReadBatch) -> Iterator[ReadBatch]:
        """Yield the messages in the range, then an item without messages."""
        batch = item.batch
        assert isinstance(batch, MessageBatch)
        indexes = range(len(batch))
        first, end = (
            bisect_left(indexes, bound, key=batch.message_index)
            for bound in (self._start, self._stop)
        )
        if first < end:
            yield item._replace(batch=batch.slice(first, end), dropped_data=NOTHING_DROPPED)
        self.done = self.done or (self._ends and end < len(batch))
        yield item._replace(batch=None)
