"""Queries over logs: `query`, `select`, `construct` and `ask`; and what `rdfm query` does.

In: a query and logs. Out: rows, a log, or the indexes of messages.
Cost: that of `Querying`; decoding runs ahead in a thread. Law: Python and the command line get the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, Unpack, overload

from rdfm._core import Query
from rdfm.conversion.options import divide, readers
from rdfm.conversion.pipeline import Pipeline, Plan
from rdfm.conversion.summary import Summary
from rdfm.conversion.target import Target
from rdfm.errors import OptionError, QueryError, Remedy, spelled
from rdfm.logs.driver import Driver, Read, Reading
from rdfm.logs.input import Readable, as_inputs
from rdfm.logs.output import Shape, Writable, output_format
from rdfm.logs.own_input import refuse_own_input
from rdfm.logs.progress import Progress, Reporter, total_bytes
from rdfm.logs.reader import LogReader
from rdfm.logs.stages import Stage, Tally, Watching
from rdfm.sparql.options import QUERY, QUERYING, as_texts, seconds, types_of
from rdfm.sparql.querying import Querying, Solved
from rdfm.sparql.remedies import UNION_GRAPHS
from rdfm.sparql.solutions import Solutions, solve
from rdfm.sparql.tables import Columns, LabelledRows, TableRows, TableTarget
from rdfm.sparql.text import QueryLike, is_text, parsed

if TYPE_CHECKING:
    from rdfm.formats.options_generated import ReadOptions

__all__ = ["Asked", "Written", "ask", "construct", "query", "select"]

# Whether the query is true; or the indexes of the messages for which it is, with their sources if there are several.
Answer: TypeAlias = bool | list[int] | list[tuple[str, int]]

_TABLES = f"{spelled('types')} is for the columns of tables; write one, such as out.parquet"
_FORMS = {"select": "a SELECT", "construct": "a CONSTRUCT", "ask": "an ASK"}
_GIVES = {
    "select": ("rows", "a table such as out.parquet, or a format of results such as out.srj"),
    "construct": ("messages", "a log such as out.jelly"),
}


def query(
    query: QueryLike,
    logs: Readable | LogReader | Sequence[Readable] | None = None,
    *,
    whole: bool = False,
    union_graphs: bool = False,
    prefixes: Mapping[str, str] | None = None,
    types: Mapping[str, str] | str | None = None,
    skip_empty: bool = False,
    solutions: Readable | None = None,
    timeout: float | str | None = None,
    max_rows: int | str | None = None,
    on_error: Literal["fail", "skip"] = "fail",
    message_per_file: bool = False,
    format: str | None = None,
    compression: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Unpack[ReadOptions],
) -> Solutions | LogReader | Answer:
    r"""Run a SPARQL query on each message of logs, or on all messages as one dataset.

    `select`, `construct` and `ask` do the same for one form of query each, and have types that say what they give.

    Args:
        query: The text of a query, or the path or URL of a file with one: a text with a brace is a query.
        logs: What `open_log` takes, or a list of that; or what it gives, with its options, `rdfm.open_log(...)` or
            `.filter(...)` of it, before it is read.
        whole: All messages are one dataset, which is held in memory; their blank nodes stay different.
        union_graphs: The default graph of the query is all graphs together.
        prefixes: Names and IRIs of namespaces that the query need not declare.
        types: Types of columns of SELECT by the names of variables, such as `{"time": "dateTime", "value": "double"}`;
            other columns hold terms as N-Triples.
        skip_empty: Leave out messages for which CONSTRUCT makes no triple.
        solutions: SPARQL results, in the place of logs: CONSTRUCT makes a message of each row.
        timeout: Seconds that the query may take for a message; with `whole` for all.
        max_rows: Solutions that a message may have, a million unless given; with `whole` all together, without limit
            unless given.
        on_error: "fail", or "skip" to leave out what is broken and messages that meet `timeout` or `max_rows`; a value
            that is not of its column's type is null then.
        message_per_file: Each log is one message, also an empty one.
        format: The format of the logs, or of `solutions`; else as each shows.
        compression: As in `open_log`.
        storage_options: As in `open_log`.
        **options: Those of the formats' decoders; each log takes those that its format knows.

    Returns:
        Of SELECT `Solutions`, which pyarrow, pandas, Polars and DuckDB take as a table: with columns `source` and `message`
        before those of the variables, unless `whole` is asked for. Of CONSTRUCT a `LogReader` of as many messages. Of
        ASK the indexes of the messages for which it holds, of several logs pairs of source and index; with `whole`
        whether it holds.

    Raises:
        QueryError: The query is none; or it is DESCRIBE, an update, or needs SERVICE.
        OptionError: An option does not fit; while it is read, a log is of patches or results.
        RdfmError, OSError: As `open_log`, also while what is found is read.

    Example:
        >>> log = b'<x:a> <x:p> 1 .\n# @message\n<x:b> <x:p> 2 .\n'
        >>> query("SELECT ?s { ?s <x:p> ?o }", log, format="trig")
        <Solutions of bytes: s>
        >>> query("ASK { ?s <x:p> 2 }", log, format="trig")
        [1]
    """
    given = {
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
    asked = Asked(query, logs, given, solutions, storage)
    if asked.query.kind == "select":
        return asked.solutions()
    if asked.query.kind == "construct":
        return asked.log()
    return asked.answer()


def select(
    query: QueryLike,
    logs: Readable | LogReader | Sequence[Readable] | None = None,
    *,
    whole: bool = False,
    union_graphs: bool = False,
    prefixes: Mapping[str, str] | None = None,
    types: Mapping[str, str] | str | None = None,
    timeout: float | str | None = None,
    max_rows: int | str | None = None,
    on_error: Literal["fail", "skip"] = "fail",
    message_per_file: bool = False,
    format: str | None = None,
    compression: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Unpack[ReadOptions],
) -> Solutions:
    r"""Run a SELECT query on each message of logs, or on all messages as one dataset.

    Args:
        query: As in `query`, a SELECT.
        logs: As in `query`.
        whole: As in `query`, as all that follow.
        union_graphs: The default graph of the query is all graphs together.
        prefixes: Names and IRIs of namespaces that the query need not declare.
        types: Types of columns by the names of variables; other columns contain terms as N-Triples.
        timeout: Seconds that the query may take for a message; with `whole` for all.
        max_rows: Solutions that a message may have.
        on_error: "fail" or "skip".
        message_per_file: Each log is one message, also an empty one.
        format: Format of the logs. Detected for each input by default.
        compression: As in `open_log`.
        storage_options: As in `open_log`.
        **options: Those of the formats' decoders.

    Returns:
        The rows, with `to_pandas`, `to_polars` and `to_arrow`.

    Raises:
        QueryError: The query is not SELECT, or as in `query`.
        OptionError, RdfmError, OSError: As `query`.

    Example:
        >>> log = b'<x:a> <x:p> 1 .\n# @message\n<x:b> <x:p> 2 .\n'
        >>> with select("SELECT ?s ?o { ?s <x:p> ?o }", log, format="trig", types={"o": "integer"}) as found:
        ...     found.to_arrow().select(["message", "s", "o"]).to_pylist()
        [{'message': 0, 's': '<x:a>', 'o': 1}, {'message': 1, 's': '<x:b>', 'o': 2}]
    """
    given = {
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
    return Asked(query, logs, given, storage=storage, kind="select").solutions()


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
    on_error: Literal["fail", "skip"] = "fail",
    message_per_file: bool = False,
    format: str | None = None,
    compression: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Unpack[ReadOptions],
) -> LogReader:
    r"""Run a CONSTRUCT query on each message of logs, or on all messages as one dataset.

    Args:
        query: As in `query`, a CONSTRUCT.
        logs: As in `query`.
        whole: As in `query`, as all that follow.
        union_graphs: The default graph of the query is all graphs together.
        prefixes: Names and IRIs of namespaces that the query need not declare.
        skip_empty: Leave out messages for which the query makes no triple.
        solutions: SPARQL results in place of logs, each row of which makes a message.
        timeout: Seconds that the query may take for a message; with `whole` for all.
        max_rows: Solutions that a message may have.
        on_error: "fail" or "skip".
        message_per_file: Each log is one message, also an empty one.
        format: Format of the logs or of `solutions`. Detected for each input by default.
        compression: As in `open_log`.
        storage_options: As in `open_log`.
        **options: Those of the formats' decoders.

    Returns:
        A log with a message for each message that was read, or for each solution.

    Raises:
        QueryError: The query is not CONSTRUCT, or as in `query`.
        OptionError, RdfmError, OSError: As `query`.

    Example:
        >>> log = b'<x:a> <x:p> 1 .\n# @message\n<x:b> <x:p> 2 .\n'
        >>> with construct("CONSTRUCT { <x:all> <x:has> ?s } { ?s <x:p> 2 }", log, format="trig") as made:
        ...     [[str(quad) for quad in message] for message in made]
        [[], ['<x:all> <x:has> <x:b> .']]
    """
    given = {
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
    return Asked(query, logs, given, solutions, storage, kind="construct").log()


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
    on_error: Literal["fail", "skip"] = "fail",
    message_per_file: bool = False,
    format: str | None = None,
    compression: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
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
    on_error: Literal["fail", "skip"] = "fail",
    message_per_file: bool = False,
    format: str | None = None,
    compression: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
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
    on_error: Literal["fail", "skip"] = "fail",
    message_per_file: bool = False,
    format: str | None = None,
    compression: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
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
    on_error: Literal["fail", "skip"] = "fail",
    message_per_file: bool = False,
    format: str | None = None,
    compression: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Unpack[ReadOptions],
) -> Answer:
    r"""Run an ASK query on each message of logs, or on all messages as one dataset.

    Args:
        query: As in `query`, an ASK.
        logs: As in `query`.
        whole: As in `query`, as all that follow.
        union_graphs: The default graph of the query is all graphs together.
        prefixes: Names and IRIs of namespaces that the query need not declare.
        timeout: Seconds that the query may take for a message; with `whole` for all.
        max_rows: Solutions that a message may have.
        on_error: "fail" or "skip".
        message_per_file: Each log is one message, also an empty one.
        format: Format of the logs. Detected for each input by default.
        compression: As in `open_log`.
        storage_options: As in `open_log`.
        **options: Those of the formats' decoders.

    Returns:
        The indexes of the messages for which the query is true; of several logs, as of a list or a folder, pairs of
        source and index. With `whole` whether the query is true.

    Raises:
        QueryError: The query is not ASK, or as in `query`.
        OptionError, RdfmError, OSError: As `query`.

    Example:
        >>> log = b'<x:a> <x:p> 1 .\n# @message\n<x:b> <x:p> 2 .\n'
        >>> ask("ASK { ?s <x:p> 2 }", log, format="trig")
        [1]
        >>> ask("ASK { ?s <x:p> 2 }", log, format="trig", whole=True)
        True
    """
    given = {
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
    return Asked(query, logs, given, storage=storage, kind="ask").answer()


class Stream(NamedTuple):
    """Solutions as they are found.

    Attributes:
        solved: The solutions.
        querying: The query.
        driver: Reads the logs.
        tally: Counts what is skipped.
    """

    solved: Iterator[Solved]
    querying: Querying
    driver: Driver
    tally: Tally


class Written(NamedTuple):
    """What was written.

    Attributes:
        summary: As of a conversion.
        hint: An option that may be missed, since nothing was found.
    """

    summary: Summary
    hint: Remedy | None


class Asked:
    """A query with logs and options, checked.

    Attributes:
        query: The query.
        makes: What it makes: "messages" or "results".
        whole: Whether all that is read is one dataset.
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
        """Parse the query and check its own options.

        Args:
            query: As in `query`.
            logs: As in `query`.
            options: Those of `QUERY`, and those of the formats.
            solutions: As in `query`; a file may be among the options too.
            storage: The compression of the inputs and their storage options, as in `open_log`.
            kind: The form that the query has to have; any by default.

        Raises:
            QueryError: The query is none, of another form, or one that rdfm does not evaluate.
            OptionError: An option does not fit.
        """
        self._options = as_texts(options)
        self._stages = stages = {
            name: QUERY[name].value(value) for name, value in self._options.items() if name in QUERY
        }
        self._solutions = stages.get("solutions") if solutions is None else solutions
        self._storage = dict(storage or {})
        self.whole: bool = stages.get("whole", False)
        self._skips = stages.get("on_error") == "skip"
        self._query_file = [] if is_text(query) else [query]
        self.query: Query = parsed(
            query,
            prefixes=stages.get("prefixes"),
            union_graphs=stages.get("union_graphs", False),
            timeout=seconds(stages.get("timeout")),
            max_rows=stages.get("max_rows", None if self.whole else QUERY["max_rows"].default),
        )
        if kind is not None and self.query.kind != kind:
            raise QueryError(
                f"rdfm.{kind} takes {_FORMS[kind]} query, and this is {_FORMS[self.query.kind]}; "
                f"rdfm.{self.query.kind} runs it"
            )
        self.makes = "messages" if self.query.kind == "construct" else "results"
        self._types = types_of(stages.get("types"))
        self._refuse_unfit()
        self._log = logs if isinstance(logs, LogReader) else None
        if self._log is not None:
            self._refuse_reading()
        self._inputs = [] if isinstance(logs, LogReader) else self._read(logs)

    def _refuse_unfit(self) -> None:
        """Refuse options that are for other forms of queries.

        Raises:
            OptionError: There are some.
        """
        kind, stages = self.query.kind, self._stages
        for given, name, wanted in (
            (self._types, "types", "select"),
            (stages.get("skip_empty"), "skip_empty", "construct"),
            (self._solutions is not None, "solutions", "construct"),
        ):
            if given and kind != wanted:
                raise OptionError(
                    f"{spelled(name)} is for {wanted.upper()}, and the query is {kind.upper()}"
                )
        if self._solutions is not None:
            for name in ("whole", "union_graphs"):
                if stages.get(name):
                    raise OptionError(
                        f"{spelled(name)} is for logs, and {spelled('solutions')} replaces them"
                    )

    def _refuse_reading(self) -> None:
        """Refuse options of reading for a log that is open.

        Raises:
            OptionError: There are some, or solutions.
        """
        if self._solutions is not None:
            raise OptionError("solutions come in the place of logs; leave one of them out")
        own = {option.name for option in QUERYING} | {"on_error"}
        options = {**self._options, **self._storage}
        given = [name for name, value in options.items() if name not in own and value]
        if given:
            raise OptionError(
                f"the log is open already; give {given[0].removeprefix('from_')} to rdfm.open_log"
            )

    def _read(self, logs: Readable | Sequence[Readable] | None) -> list[Any]:
        """What is read.

        Raises:
            OptionError: There is nothing, or both logs and solutions.
        """
        inputs = [] if logs is None else as_inputs(logs)
        if self._solutions is not None:
            if inputs:
                raise OptionError("solutions come in the place of logs; leave one of them out")
            return [self._solutions]
        if not inputs:
            raise OptionError("there is nothing to query: name a log")
        return inputs

    def _driver(self, reads: Mapping[str, Any], hints: Mapping[str, Any] | None = None) -> Driver:
        """What reads, with options of formats."""
        reading = Reading(
            self._stages.get("from_format"),
            reads,
            # Half a broken message cannot be taken back.
            parts="always" if self.whole and not self._skips else "never",
            message_per_file=self._stages.get("message_per_file", False),
            hints=hints or {},
            **self._storage,
        )
        return Driver(self._inputs, reading)

    def _reader(self) -> Driver:
        """What reads where nothing is written."""
        given = self._options.items()
        return self._driver({n.removeprefix("from_"): v for n, v in given if n not in QUERY})

    def _querying(self) -> Querying:
        return Querying(
            self.query,
            whole=self.whole,
            skip_empty=self._stages.get("skip_empty", False),
            skips=self._skips,
            instantiates=self._solutions is not None,
        )

    def _columns(self) -> Columns:
        return Columns(self.query, self._types, whole=self.whole, skips=self._skips)

    # --- for programs ---

    def solutions(self) -> Solutions:
        """Return the rows of SELECT."""
        reader = self._reader() if self._log is None else self._log
        return Solutions(self._querying(), self._columns(), reader, skips=self._skips)

    def log(self) -> LogReader:
        """Return the messages of CONSTRUCT."""
        if self._log is not None:
            return self._log.staged(self._querying())
        return LogReader(self._reader(), (self._querying(),))

    def answer(self) -> Answer:
        """Return the answer of ASK."""
        reader = self._reader() if self._log is None else self._log
        solved = list(solve(self._querying(), reader, Tally(), skips=self._skips))
        if self.whole:
            return bool(solved)
        if reader.several:
            return [(some.source, index) for some in solved for index in some.indexes]
        return [index for some in solved for index in some.indexes]

    # --- for the command ---

    def stream(self, progress: Callable[[Progress], None] | None = None) -> Stream:
        """Return the solutions of SELECT or ASK, as they are found.

        Args:
            progress: As in `convert`.
        """
        if self._types:
            raise OptionError(_TABLES)
        querying, driver, tally = self._querying(), self._reader(), Tally()
        report = Reporter(progress)
        total = None if progress is None else total_bytes(self._inputs)
        bytes_in = messages = quads = 0

        def see(read: Read) -> None:
            nonlocal bytes_in, messages, quads
            if read.batch is not None:
                messages += len(read.batch) - read.batch.continued
                quads += read.batch.record_count
            bytes_in = read.bytes_in
            report(lambda: Progress(bytes_in, total, messages, quads))

        def end() -> None:
            if self.whole:
                report(
                    lambda: Progress(bytes_in, total, messages, quads, evaluating=True), force=True
                )

        watching = Watching(see, end)
        solved = solve(querying, driver, tally, skips=self._skips, before=(watching,))
        return Stream(solved, querying, driver, tally)

    def add(self, options: Mapping[str, Any]) -> None:
        """Take options of what is written."""
        self._options |= options
        self._stages["to_format"] = options["to_format"]

    def hint(self, querying: Querying) -> Remedy | None:
        """Give the option that may be missed where nothing was found."""
        missed = querying.graphs and not querying.found and not self._stages.get("union_graphs")
        return UNION_GRAPHS if missed else None

    def write(
        self, output: Writable, *, progress: Callable[[Progress], None] | None = None
    ) -> Written:
        """Write the rows of SELECT, or the messages of CONSTRUCT.

        Args:
            output: As in `convert`.
            progress: As in `convert`.

        Raises:
            OptionError: The format holds something else, or options do not fit.
            RdfmError, OSError: As `convert`.
        """
        kind, given = self.makes, self._stages
        format = output_format(output, given.get("to_format"), kind)
        spec = format.spec
        if kind not in spec.kinds:
            gives, such = _GIVES[self.query.kind]
            raise OptionError(
                f"{self.query.kind.upper()} gives {gives}, and {spec.title} holds "
                f"{' and '.join(spec.kinds)}; write {such}"
            )
        refuse_own_input([*self._query_file, *self._inputs], output, self._options, QUERY)
        divided = divide(
            self._options, readers(self._inputs, given.get("from_format")), spec, QUERY
        )
        if "prefixes" in given and "prefixes" in spec.options("write"):
            divided.writes.setdefault("prefixes", given["prefixes"])
        if "lossy" in spec.options("write"):  # who asks for CSV wants the values of a table
            divided.writes.setdefault("lossy", True)
        shape = Shape(
            output,
            given.get("compression"),
            given.get("split_messages"),
            given.get("split_bytes"),
            given.get("overwrite", False),
        )
        target: Any = Target(output, format, divided.writes, shape)
        is_table = kind == "results" and kind in spec.written_only
        if self._types and not is_table:
            raise OptionError(_TABLES)
        querying = self._querying()
        stages: tuple[Stage, ...] = (querying,)
        if is_table:
            if shape.folder or shape.archive:
                raise OptionError("a table is one file; name one, such as out.parquet")
            columns = self._columns()
            target = TableTarget(target, columns)
            stages = (querying, TableRows(columns))
        elif kind == "results":
            stages = (querying, LabelledRows(self.query, whole=self.whole))
        plan = Plan(
            inputs=self._inputs,
            driver=self._driver(divided.reads, divided.hints),
            stages=stages,
            target=target,
            shape=shape,
            from_format=given.get("from_format"),
            skip_errors=self._skips,
            keep_partial=given.get("keep_partial", False),
            held_whole=self.whole and self._skips,
            bytes_total=None if progress is None else total_bytes(self._inputs),
        )
        summary = Pipeline(plan, Reporter(progress)).run()
        return Written(summary, self.hint(querying))
