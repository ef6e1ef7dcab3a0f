"""Queries over logs: `query`, `select`, `construct` and `ask`; also used by `rdfm query`.

In: a query and logs. Out: rows, a log, or the indexes of messages.
Cost: as for `QueryStage`; decoding runs ahead in a thread.
Law: Python and the command line return the same results.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, Unpack, overload

from rdfm._core import Query
from rdfm.conversion.convert_options import input_formats, split_options
from rdfm.conversion.pipeline import ConversionPlan, Pipeline
from rdfm.conversion.skipping import SKIPPING, Skipping, check_skipping
from rdfm.conversion.summary import ConversionSummary
from rdfm.conversion.tables import create_computed_output
from rdfm.errors import OptionError, QueryError, Remedy, spell_option
from rdfm.logs.input.driver import Driver, ReadBatch, ReadSettings, line_settings
from rdfm.logs.input.inputs import Readable, input_list
from rdfm.logs.input.progress import Progress, ProgressFunction, Reporter, total_bytes
from rdfm.logs.read.reader import LogReader
from rdfm.logs.stages.stage import Stage, Tally, Watcher
from rdfm.logs.write.output import Writable, output_format
from rdfm.logs.write.own_input import reject_own_input
from rdfm.sparql.query_options import (
    QUERY,
    QUERYING,
    ColumnTypes,
    as_texts,
    parse_seconds,
    parse_types,
)
from rdfm.sparql.query_remedies import UNION_GRAPHS
from rdfm.sparql.query_stage import QueryStage, SolutionBatch
from rdfm.sparql.solutions import Solutions, solve
from rdfm.sparql.tables import Columns, LabelledRows, TableRows
from rdfm.sparql.text import QueryLike, check_order, is_text, parse_query

if TYPE_CHECKING:
    from rdfm.formats.options_generated import ReadOptions

__all__ = ["LogQuery", "QueryOutput", "ask", "construct", "query", "select"]

# Whether the query is true, or the indexes of the messages for which it is true. With several logs,
# each index is paired with its source.
Answer: TypeAlias = bool | list[int] | list[tuple[str, int]]

_ONLY_TABLES = f"{spell_option('types')} applies only to tables; write one, such as out.parquet"
_LOGS_AND_SOLUTIONS = (
    f"{spell_option('solutions')} replaces the logs; remove the logs or {spell_option('solutions')}"
)
_FORMS = {"select": "a SELECT", "construct": "a CONSTRUCT", "ask": "an ASK"}
# The output of each form, and suitable formats.
_OUTPUTS = {
    "select": ("rows", "a table such as out.parquet, or results such as out.srj"),
    "construct": ("messages", "a log such as out.jelly"),
}


def query(
    query: QueryLike,
    logs: Readable | LogReader | Sequence[Readable] | None = None,
    *,
    whole: bool = False,
    union_graphs: bool = False,
    prefixes: Mapping[str, str] | None = None,
    types: ColumnTypes | None = "",
    skip_empty: bool = False,
    solutions: Readable | None = None,
    timeout: float | str | None = None,
    max_rows: int | str | None = None,
    on_error: Literal["fail", "skip", "skip-line"] = "fail",
    message_per_file: bool = False,
    format: str | None = None,
    compression: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    progress: ProgressFunction = None,
    **options: Unpack[ReadOptions],
) -> Solutions | LogReader | Answer:
    r"""Run a SPARQL query on each message of logs, or on all messages as one dataset.

    `select`, `construct` and `ask` do the same for one form of query each, with a precise return
    type.

    Args:
        query: Text of a query, or the path or URL of a query file. A string with a brace is the
            text of a query.
        logs: An input that `open_log` accepts, a list of inputs, or an unread `LogReader`, such as
            the result of `rdfm.open_log(...)` or of its method `filter`.
        whole: Query all messages as one dataset, in memory. Their blank nodes stay distinct.
        union_graphs: Use the union of all graphs as the default graph of the query.
        prefixes: Names and IRIs of namespaces that the query need not declare.
        types: Column types of SELECT by variable name, such as
            `{"time": "dateTime", "value": float}`. Other columns contain terms as N-Triples. "auto"
            infers types from the first 10,000 rows. By default, `to_arrow`, `to_pandas` and
            `to_polars` infer the other types from all rows; None: they do not.
        skip_empty: Omit messages for which CONSTRUCT creates no triples.
        solutions: SPARQL results instead of logs. CONSTRUCT creates a message from each row.
        timeout: Time limit of the query for each message, in seconds; with `whole`, in total.
        max_rows: Maximum number of solutions per message, one million by default; with `whole`,
            in total, unlimited by default.
        on_error: "fail", or "skip" to omit invalid data and messages that exceed `timeout` or
            `max_rows`. With "skip", a value that does not have the type of its column is null.
            "skip-line" omits only invalid lines of N-Triples and N-Quads.
        message_per_file: Read each log as one message, even if it is empty.
        format: Format of the logs or of `solutions`. Detected for each input by default.
        compression: As in `open_log`.
        storage_options: As in `open_log`.
        progress: As in `convert`: True for a progress bar, or a function.
        **options: Options of the formats' decoders. Each log uses those that its format supports.

    Returns:
        For SELECT, `Solutions`: a table for pyarrow, pandas, Polars and DuckDB. Columns `source`
        and `message_index` precede the variables, except with `whole`. For CONSTRUCT, a `LogReader`
        with a message for each message read. For ASK, the indexes of the messages for which the query
        is true, with several logs as pairs of source and index; with `whole`, whether it is true.

    Raises:
        QueryError: If the query is invalid, is DESCRIBE or an update, or needs SERVICE.
        OptionError: If an option does not apply, or, while reading, if a log contains patches or
            results.
        RdfmError, OSError: As in `open_log`, including while the result is read.

    Example:
        >>> log = b'<x:a> <x:p> 1 .\n# @message\n<x:b> <x:p> 2 .\n'
        >>> query("SELECT ?s { ?s <x:p> ?o }", log, format="trig")
        <Solutions of bytes: s>
        >>> query("ASK { ?s <x:p> 2 }", log, format="trig")
        [1]
    """
    query_options = {
        "whole": whole,
        "union_graphs": union_graphs,
        "prefixes": prefixes,
        "types": types,
        "skip_empty": skip_empty,
        "timeout": timeout,
        "max_rows": max_rows,
        "on_error": on_error,
        "message_per_file": message_per_file,
        "from_format": format,
        **options,
    }
    storage = {"compression": compression, "storage_options": storage_options}
    log_query = LogQuery(query, logs, query_options, solutions, storage)
    if log_query.query.kind == "select":
        return log_query.solutions(progress)
    if log_query.query.kind == "construct":
        return log_query.log(progress)
    return log_query.answer(progress)


def select(
    query: QueryLike,
    logs: Readable | LogReader | Sequence[Readable] | None = None,
    *,
    whole: bool = False,
    union_graphs: bool = False,
    prefixes: Mapping[str, str] | None = None,
    types: ColumnTypes | None = "",
    timeout: float | str | None = None,
    max_rows: int | str | None = None,
    on_error: Literal["fail", "skip", "skip-line"] = "fail",
    message_per_file: bool = False,
    format: str | None = None,
    compression: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    progress: ProgressFunction = None,
    **options: Unpack[ReadOptions],
) -> Solutions:
    r"""Run a SELECT query on each message of logs, or on all messages as one dataset.

    Args:
        query: A SELECT query, as in `query`.
        logs: As in `query`.
        whole: As in `query`. The same applies to all the following arguments.
        union_graphs: Use the union of all graphs as the default graph of the query.
        prefixes: Names and IRIs of namespaces that the query need not declare.
        types: Column types by variable name, or "auto".
        timeout: Time limit of the query for each message, in seconds; with `whole`, in total.
        max_rows: Maximum number of solutions per message.
        on_error: "fail", "skip" or "skip-line".
        message_per_file: Read each log as one message, even if it is empty.
        format: Format of the logs. Detected for each input by default.
        compression: As in `open_log`.
        storage_options: As in `open_log`.
        progress: As in `convert`: True for a progress bar, or a function.
        **options: Options of the formats' decoders.

    Returns:
        The rows. Convert them with `to_pandas`, `to_polars` or `to_arrow`.

    Raises:
        QueryError: As in `query`, or if the query is not SELECT.
        OptionError, RdfmError, OSError: As in `query`.

    Example:
        >>> log = b'<x:a> <x:p> 1 .\n# @message\n<x:b> <x:p> 2 .\n'
        >>> with select("SELECT ?s ?o { ?s <x:p> ?o }", log, format="trig", types={"o": "integer"}) as found:
        ...     found.to_arrow().select(["message_index", "s", "o"]).to_pylist()
        [{'message_index': 0, 's': 'x:a', 'o': 1}, {'message_index': 1, 's': 'x:b', 'o': 2}]
    """
    query_options = {
        "whole": whole,
        "union_graphs": union_graphs,
        "prefixes": prefixes,
        "types": types,
        "timeout": timeout,
        "max_rows": max_rows,
        "on_error": on_error,
        "message_per_file": message_per_file,
        "from_format": format,
        **options,
    }
    storage = {"compression": compression, "storage_options": storage_options}
    return LogQuery(query, logs, query_options, storage=storage, kind="select").solutions(progress)


def construct(
    query: QueryLike,
    logs: Readable | LogReader | Sequence[Readable] | None = None,
    *,
    whole: bool = False,
    union_graphs: bool = False,
    prefixes: Mapping[str, str] | None = None,
    skip_empty: bool = False,
    solutions: Readable | None = None,
    timeout: float | str | None = None,
    max_rows: int | str | None = None,
    on_error: Literal["fail", "skip", "skip-line"] = "fail",
    message_per_file: bool = False,
    format: str | None = None,
    compression: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    progress: ProgressFunction = None,
    **options: Unpack[ReadOptions],
) -> LogReader:
    r"""Run a CONSTRUCT query on each message of logs, or on all messages as one dataset.

    Args:
        query: A CONSTRUCT query, as in `query`.
        logs: As in `query`.
        whole: As in `query`. The same applies to all the following arguments.
        union_graphs: Use the union of all graphs as the default graph of the query.
        prefixes: Names and IRIs of namespaces that the query need not declare.
        skip_empty: Omit messages for which the query creates no triples.
        solutions: SPARQL results instead of logs. The query creates a message from each row.
        timeout: Time limit of the query for each message, in seconds; with `whole`, in total.
        max_rows: Maximum number of solutions per message.
        on_error: "fail", "skip" or "skip-line".
        message_per_file: Read each log as one message, even if it is empty.
        format: Format of the logs or of `solutions`. Detected for each input by default.
        compression: As in `open_log`.
        storage_options: As in `open_log`.
        progress: As in `convert`: True for a progress bar, or a function.
        **options: Options of the formats' decoders.

    Returns:
        A log with one message for each message read, or for each solution.

    Raises:
        QueryError: As in `query`, or if the query is not CONSTRUCT.
        OptionError, RdfmError, OSError: As in `query`.

    Example:
        >>> log = b'<x:a> <x:p> 1 .\n# @message\n<x:b> <x:p> 2 .\n'
        >>> with construct("CONSTRUCT { <x:all> <x:has> ?s } { ?s <x:p> 2 }", log, format="trig") as found:
        ...     [[str(quad) for quad in message] for message in found]
        [[], ['<x:all> <x:has> <x:b> .']]
    """
    query_options = {
        "whole": whole,
        "union_graphs": union_graphs,
        "prefixes": prefixes,
        "skip_empty": skip_empty,
        "timeout": timeout,
        "max_rows": max_rows,
        "on_error": on_error,
        "message_per_file": message_per_file,
        "from_format": format,
        **options,
    }
    storage = {"compression": compression, "storage_options": storage_options}
    return LogQuery(query, logs, query_options, solutions, storage, kind="construct").log(progress)


@overload
def ask(
    query: QueryLike,
    logs: Readable | LogReader | Sequence[Readable] | None = None,
    *,
    whole: Literal[True],
    union_graphs: bool = False,
    prefixes: Mapping[str, str] | None = None,
    timeout: float | str | None = None,
    max_rows: int | str | None = None,
    on_error: Literal["fail", "skip", "skip-line"] = "fail",
    message_per_file: bool = False,
    format: str | None = None,
    compression: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    progress: ProgressFunction = None,
    **options: Unpack[ReadOptions],
) -> bool: ...
@overload
def ask(
    query: QueryLike,
    logs: Readable | LogReader | Sequence[Readable] | None = None,
    *,
    whole: Literal[False] = False,
    union_graphs: bool = False,
    prefixes: Mapping[str, str] | None = None,
    timeout: float | str | None = None,
    max_rows: int | str | None = None,
    on_error: Literal["fail", "skip", "skip-line"] = "fail",
    message_per_file: bool = False,
    format: str | None = None,
    compression: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    progress: ProgressFunction = None,
    **options: Unpack[ReadOptions],
) -> list[int] | list[tuple[str, int]]: ...
@overload
def ask(
    query: QueryLike,
    logs: Readable | LogReader | Sequence[Readable] | None = None,
    *,
    whole: bool,
    union_graphs: bool = False,
    prefixes: Mapping[str, str] | None = None,
    timeout: float | str | None = None,
    max_rows: int | str | None = None,
    on_error: Literal["fail", "skip", "skip-line"] = "fail",
    message_per_file: bool = False,
    format: str | None = None,
    compression: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    progress: ProgressFunction = None,
    **options: Unpack[ReadOptions],
) -> Answer: ...
def ask(
    query: QueryLike,
    logs: Readable | LogReader | Sequence[Readable] | None = None,
    *,
    whole: bool = False,
    union_graphs: bool = False,
    prefixes: Mapping[str, str] | None = None,
    timeout: float | str | None = None,
    max_rows: int | str | None = None,
    on_error: Literal["fail", "skip", "skip-line"] = "fail",
    message_per_file: bool = False,
    format: str | None = None,
    compression: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    progress: ProgressFunction = None,
    **options: Unpack[ReadOptions],
) -> Answer:
    r"""Run an ASK query on each message of logs, or on all messages as one dataset.

    Args:
        query: An ASK query, as in `query`.
        logs: As in `query`.
        whole: As in `query`. The same applies to all the following arguments.
        union_graphs: Use the union of all graphs as the default graph of the query.
        prefixes: Names and IRIs of namespaces that the query need not declare.
        timeout: Time limit of the query for each message, in seconds; with `whole`, in total.
        max_rows: Maximum number of solutions per message.
        on_error: "fail", "skip" or "skip-line".
        message_per_file: Read each log as one message, even if it is empty.
        format: Format of the logs. Detected for each input by default.
        compression: As in `open_log`.
        storage_options: As in `open_log`.
        progress: As in `convert`: True for a progress bar, or a function.
        **options: Options of the formats' decoders.

    Returns:
        Indexes of the messages for which the query is true. With several logs, such as a list or a
        folder, pairs of source and index. With `whole`, whether the query is true.

    Raises:
        QueryError: As in `query`, or if the query is not ASK.
        OptionError, RdfmError, OSError: As in `query`.

    Example:
        >>> log = b'<x:a> <x:p> 1 .\n# @message\n<x:b> <x:p> 2 .\n'
        >>> ask("ASK { ?s <x:p> 2 }", log, format="trig")
        [1]
        >>> ask("ASK { ?s <x:p> 2 }", log, format="trig", whole=True)
        True
    """
    query_options = {
        "whole": whole,
        "union_graphs": union_graphs,
        "prefixes": prefixes,
        "timeout": timeout,
        "max_rows": max_rows,
        "on_error": on_error,
        "message_per_file": message_per_file,
        "from_format": format,
        **options,
    }
    storage = {"compression": compression, "storage_options": storage_options}
    return LogQuery(query, logs, query_options, storage=storage, kind="ask").answer(progress)


class QueryStream(NamedTuple):
    """A running query.

    Attributes:
        batches: Iterator over the batches of solutions.
        querying: Stage that evaluates the query.
        driver: Driver that reads the logs.
        tally: Counts of skipped data.
    """

    batches: Iterator[SolutionBatch]
    querying: QueryStage
    driver: Driver
    tally: Tally


class QueryOutput(NamedTuple):
    """Result of writing the output of a query.

    Attributes:
        summary: `ConversionSummary`, as for a conversion.
        hint: Option that may be missing, if nothing was found; otherwise None.
    """

    summary: ConversionSummary
    hint: Remedy | None


class LogQuery:
    """A query with its logs and validated options.

    Attributes:
        query: The query.
        output_kind: Kind of the output: "messages" or "results".
        whole: Whether all messages are queried as one dataset.
    """

    def __init__(
        self,
        query: QueryLike,
        logs: Readable | LogReader | Sequence[Readable] | None,
        options: Mapping[str, Any],
        solutions: Readable | None = None,
        storage: Mapping[str, Any] | None = None,
        kind: Literal["select", "construct", "ask"] | None = None,
    ) -> None:
        """Parse the query and check its options, except those of the formats.

        Args:
            query: As in `query`.
            logs: As in `query`.
            options: Options of `QUERY` and of the formats.
            solutions: As in `query`. The options may also name a file of solutions.
            storage: Compression of the inputs and their storage options, as in `open_log`.
            kind: Required form of the query. Any form by default.

        Raises:
            QueryError: If the query is invalid, has another form, or is not supported.
            OptionError: If an option does not apply.
        """
        check_order(query, logs)
        self._options = as_texts(options)
        self._stages = stages = {
            name: QUERY[name].value(value) for name, value in self._options.items() if name in QUERY
        }
        self._solutions = stages.get("solutions") if solutions is None else solutions
        self._storage = dict(storage or {})
        self.whole: bool = stages.get("whole", False)
        self._on_error = stages.get("on_error", "fail")
        self._skips = self._on_error == "skip"  # messages, and ill-typed values
        self._query_file = [] if is_text(query) else [query]
        self.query: Query = parse_query(
            query,
            prefixes=stages.get("prefixes"),
            union_graphs=stages.get("union_graphs", False),
            timeout=parse_seconds(stages.get("timeout")),
            max_rows=stages.get("max_rows", None if self.whole else QUERY["max_rows"].default),
        )
        if kind is not None and self.query.kind != kind:
            raise QueryError(
                f"rdfm.{kind} requires {_FORMS[kind]} query, but this is {_FORMS[self.query.kind]} "
                f"query; use rdfm.{self.query.kind}"
            )
        self.output_kind = "messages" if self.query.kind == "construct" else "results"
        self._types = parse_types(stages.get("types"))
        self._infers = "types" in self._options
        self._check_form_options()
        self._log = logs if isinstance(logs, LogReader) else None
        if self._log is not None:
            self._check_open_log()
        self._inputs = [] if isinstance(logs, LogReader) else self._input_list(logs)

    def _check_form_options(self) -> None:
        """Reject options that apply only to other query forms.

        Raises:
            OptionError: If there are any.
        """
        kind, stages = self.query.kind, self._stages
        for value, name, form in (
            (self._types, "types", "select"),
            (stages.get("skip_empty"), "skip_empty", "construct"),
            (self._solutions is not None, "solutions", "construct"),
        ):
            if value and kind != form:
                raise OptionError(
                    f"{spell_option(name)} applies to {form.upper()}, but the query is {kind.upper()}"
                )
        if self._solutions is not None:
            for name in ("whole", "union_graphs"):
                if stages.get(name):
                    raise OptionError(
                        f"{spell_option(name)} applies to logs, but {spell_option('solutions')} replaces them"
                    )

    def _check_open_log(self) -> None:
        """Reject reading options for a log that is already open.

        Raises:
            OptionError: If there are any, or if solutions are given.
        """
        if self._solutions is not None:
            raise OptionError(_LOGS_AND_SOLUTIONS)
        query_options = {option.name for option in QUERYING} | {"on_error"}
        options = {**self._options, **self._storage}
        names = [name for name, value in options.items() if name not in query_options and value]
        if self._on_error == "skip-line":
            names.append("on_error")
        if names:
            raise OptionError(
                f"the log is already open; pass {names[0].removeprefix('from_')} to rdfm.open_log"
            )

    def _input_list(self, logs: Readable | Sequence[Readable] | None) -> list[Any]:
        """Return the inputs.

        Raises:
            OptionError: If there is no input, or if both logs and solutions are given.
        """
        inputs = [] if logs is None else input_list(logs)
        if self._solutions is not None:
            if inputs:
                raise OptionError(_LOGS_AND_SOLUTIONS)
            return [self._solutions]
        if not inputs:
            raise OptionError("there is nothing to query; name a log")
        return inputs

    def _create_driver(
        self, reads: Mapping[str, Any], hints: Mapping[str, Any] | None = None
    ) -> Driver:
        """Return a driver for the inputs, with options of their formats."""
        settings = ReadSettings(
            self._stages.get("from_format"),
            reads,
            # If a message is invalid, parts of it that are already in the dataset cannot be removed.
            parts="always" if self.whole and not self._skips else "never",
            message_per_file=self._stages.get("message_per_file", False),
            hints=hints or {},
            needs_logs=True,
            **line_settings(self._on_error, rejects="rejects" in self._stages),
            **self._storage,
        )
        return Driver(self._inputs, settings)

    def _create_reading_driver(self) -> Driver:
        """Return a driver for queries without an output file."""
        values = self._options.items()
        return self._create_driver(
            {n.removeprefix("from_"): v for n, v in values if n not in QUERY}
        )

    def _create_query_stage(self) -> QueryStage:
        return QueryStage(
            self.query,
            whole=self.whole,
            skip_empty=self._stages.get("skip_empty", False),
            skips=self._skips,
            instantiates=self._solutions is not None,
        )

    def _create_columns(self) -> Columns:
        return Columns(self.query.variables, self._types, whole=self.whole, skips=self._skips)

    def _watchers(self, progress: ProgressFunction) -> tuple[Watcher, ...]:
        """Return the stage that reports the progress of reading, if that is requested."""
        report = Reporter(progress)
        if progress is None:
            return ()
        total = total_bytes(self._inputs) if self._inputs else None
        bytes_in = messages = quads = 0

        def count(item: ReadBatch) -> None:
            nonlocal bytes_in, messages, quads
            if item.batch is not None:
                messages += len(item.batch) - item.batch.continued
                quads += item.batch.record_count
            bytes_in = item.bytes_in
            report(lambda: Progress(bytes_in, total, messages, quads))

        def end() -> None:
            report(
                lambda: Progress(bytes_in, total, messages, quads, evaluating=self.whole),
                force=True,
            )

        return (Watcher(count, end),)

    # --- for programs ---

    def _reject_skipping(self) -> None:
        """Reject options of skipped data, which only the command has.

        Raises:
            OptionError: If one is given.
        """
        for option in SKIPPING:
            if option.name in self._stages:
                raise OptionError(
                    f"{spell_option(option.name)} is an option of rdfm.convert, rdfm.filter and the "
                    "command rdfm query; omit it"
                )

    def solutions(self, progress: ProgressFunction = None) -> Solutions:
        """Return the rows of SELECT."""
        self._reject_skipping()
        reader = self._create_reading_driver() if self._log is None else self._log
        return Solutions(
            self._create_query_stage(),
            self._create_columns(),
            reader,
            skips=self._on_error != "fail",
            infers=self._infers,
            stages_before=self._watchers(progress),
        )

    def log(self, progress: ProgressFunction = None) -> LogReader:
        """Return the messages of CONSTRUCT."""
        self._reject_skipping()
        stages = (*self._watchers(progress), self._create_query_stage())
        if self._log is not None:
            return self._log._with_stages(*stages)
        return LogReader(self._create_reading_driver(), stages)

    def answer(self, progress: ProgressFunction = None) -> Answer:
        """Return the answer to an ASK query."""
        self._reject_skipping()
        reader = self._create_reading_driver() if self._log is None else self._log
        solutions = solve(
            self._create_query_stage(),
            reader,
            Tally(),
            skips=self._on_error != "fail",
            stages_before=self._watchers(progress),
        )
        batches = list(solutions)
        if self.whole:
            return bool(batches)
        if reader.several:
            return [(rows.source, index) for rows in batches for index in rows.indexes]
        return [index for rows in batches for index in rows.indexes]

    # --- for the command ---

    def stream(self, progress: ProgressFunction = None) -> QueryStream:
        """Start the query and return the solutions of SELECT or ASK as a stream.

        Args:
            progress: As in `convert`.
        """
        if self._types:
            raise OptionError(_ONLY_TABLES)
        check_skipping([*self._query_file, *self._inputs], None, self._stages)
        stages = self._stages
        querying, driver, tally = self._create_query_stage(), self._create_reading_driver(), Tally()
        batches = solve(
            querying,
            driver,
            tally,
            skips=self._on_error != "fail",
            stages_before=self._watchers(progress),
            skipping=Skipping(tally, stages.get("max_errors"), stages.get("rejects")),
        )
        return QueryStream(batches, querying, driver, tally)

    def add(self, options: Mapping[str, Any]) -> None:
        """Add options of the output."""
        self._options |= options
        self._stages["to"] = options["to"]

    def hint(self, querying: QueryStage) -> Remedy | None:
        """Return the option that may be missing if nothing was found; otherwise None."""
        is_missing = (
            querying.graphs and not querying.has_results and not self._stages.get("union_graphs")
        )
        return UNION_GRAPHS if is_missing else None

    def write(self, output: Writable, *, progress: ProgressFunction = None) -> QueryOutput:
        """Write the rows of SELECT, or the messages of CONSTRUCT.

        Args:
            output: As in `convert`.
            progress: As in `convert`.

        Raises:
            OptionError: If the format does not support the output, or an option does not apply.
            RdfmError, OSError: As in `convert`.
        """
        kind, stage_options = self.output_kind, self._stages
        format = output_format(output, stage_options.get("to"), kind)
        spec = format.spec
        if kind not in spec.kinds:
            output_kind, suggestion = _OUTPUTS[self.query.kind]
            raise OptionError(
                f"{self.query.kind.upper()} produces {output_kind}, but {spec.title} supports only "
                f"{' and '.join(spec.kinds)}; write {suggestion}"
            )
        reject_own_input([*self._query_file, *self._inputs], output, self._options, QUERY)
        check_skipping([*self._query_file, *self._inputs], output, stage_options)
        options_by_component = split_options(
            self._options,
            input_formats(self._inputs, stage_options.get("from_format")),
            spec,
            QUERY,
        )
        if "prefixes" in stage_options and "prefixes" in spec.options("write"):
            options_by_component.writes.setdefault("prefixes", stage_options["prefixes"])
        is_table = kind == "results" and kind in spec.written_only
        columns = self._create_columns() if is_table else None
        shape, target = create_computed_output(
            output,
            format,
            stage_options,
            options_by_component.writes,
            None if columns is None else lambda: columns.schema,
            list if columns is None else columns.notes,
        )
        if self._types and columns is None:
            raise OptionError(_ONLY_TABLES)
        querying = self._create_query_stage()
        stages: tuple[Stage, ...] = (querying,)
        if columns is not None:
            stages = (querying, TableRows(columns))
        elif kind == "results":
            stages = (querying, LabelledRows(self.query, whole=self.whole))
        plan = ConversionPlan(
            inputs=self._inputs,
            driver=self._create_driver(options_by_component.reads, options_by_component.hints),
            stages=stages,
            target=target,
            shape=shape,
            from_format=stage_options.get("from_format"),
            on_error=self._on_error,
            max_errors=stage_options.get("max_errors"),
            rejects=stage_options.get("rejects"),
            keep_partial=stage_options.get("keep_partial", False),
            buffers_messages=self.whole and self._skips,
            bytes_total=None if progress is None else total_bytes(self._inputs),
        )
        summary = Pipeline(plan, Reporter(progress)).run()
        return QueryOutput(summary, self.hint(querying))
