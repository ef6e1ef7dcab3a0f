"""Tables of entities: `table`, also used by `rdfm table`.

In: logs of messages. Out: a table with one row per message and subject, and one column per predicate.
Cost: the first pass finds the columns, the second one returns the rows: memory for one message.
Law: Python and the command line return the same rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Unpack

from rdfm import formats
from rdfm._core import Literal as RdfLiteral
from rdfm._core import Query, ResultBatch
from rdfm.conversion.convert_options import input_formats, split_options
from rdfm.conversion.pipeline import ConversionPlan, Pipeline
from rdfm.conversion.skipping import check_skipping
from rdfm.conversion.tables import TableBatch, create_computed_output
from rdfm.errors import DecodeError, OptionError, Remedy, spell_option
from rdfm.logs.input.driver import (
    NO_LOG,
    NOTHING_DROPPED,
    Driver,
    Item,
    ReadBatch,
    ReadSettings,
    SkippedData,
    line_settings,
)
from rdfm.logs.input.inputs import Readable, input_list, may_be_endless
from rdfm.logs.input.progress import ProgressFunction, Reporter, total_bytes
from rdfm.logs.read.frames import Tabular, require_package
from rdfm.logs.read.rows import run_row_stages
from rdfm.logs.stages.stage import SkipErrors, Stage, Tally
from rdfm.logs.write.output import Writable, output_format
from rdfm.logs.write.own_input import reject_own_input
from rdfm.sparql.column_finder import ColumnFinder
from rdfm.sparql.entities import Entities
from rdfm.sparql.entity_columns import FIXED, Column, EntityColumns, Namer, parse_column
from rdfm.sparql.query import QueryOutput
from rdfm.sparql.query_options import ANY, ColumnTypes, as_texts, parse_types
from rdfm.sparql.query_remedies import SPLIT_BY_SUBJECT, UNION_GRAPHS
from rdfm.sparql.query_stage import QueryStage, SolutionBatch
from rdfm.sparql.table_options import TABLE

if TYPE_CHECKING:
    import pyarrow

    from rdfm.formats.options_generated import ReadOptions

__all__ = ["EntityTable", "table"]

_TRIPLES = "SELECT ?s ?p ?o { ?s ?p ?o }"


def table(
    logs: Readable | Sequence[Readable],
    *,
    predicates: Sequence[str] | str | None = None,
    classes: Sequence[str] | str | None = None,
    names: Literal["prefixed", "local"] = "prefixed",
    types: ColumnTypes | None = None,
    lists: Literal["auto", "always"] = "auto",
    first: bool = False,
    depth: int | str | None = None,
    max_columns: int | str | None = None,
    union_graphs: bool = False,
    prefixes: Mapping[str, str] | None = None,
    on_error: Literal["fail", "skip", "skip-line"] = "fail",
    message_per_file: bool = False,
    format: str | None = None,
    compression: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Unpack[ReadOptions],
) -> EntityTable:
    r"""Return a table with a row per message and subject, and a typed column per predicate.

    The first method that needs the columns reads the logs to find them. Each method that returns
    rows reads the logs again.

    Args:
        logs: An input that `open_log` accepts, or a list of inputs.
        predicates: IRIs or prefixed names of the predicates with columns, in this order. All
            predicates by default, in order of first occurrence.
        classes: IRIs of classes. Only subjects with one of them as rdf:type are rows.
        names: "prefixed" for column names such as `ex:value`, with the prefixes of the logs and
            `prefixes`; "local" for the part after the last `#`, `/` or `:`, if it is unique.
        types: Types by column name, such as `{"ex:value": "double", "ex:tag": "string[]"}`, where
            `[]` is a list, `{name=type,…}` a struct and `(type)` a collection. If given, only these columns; with "auto", the others are inferred. The
            logs are then read only once, so that they may be pipes.
        lists: "auto" for lists if a subject has several values for the predicate in a message, or
            "always" for lists in all inferred columns.
        first: Keep the first value of a subject instead of a list.
        depth: Maximum depth of nested blank nodes, 0 by default. A blank node to which only one
            subject refers becomes a struct instead of a row, and a collection becomes a list.
        max_columns: Maximum number of columns, 1,000 by default.
        union_graphs: Use the triples of all graphs, not only of the default graph.
        prefixes: Namespaces by prefix, for names.
        on_error: "fail"; "skip" to omit messages with invalid data, and values of the wrong type; or
            "skip-line", as in `convert`.
        message_per_file: Read each log as one message.
        format: Format of the logs. Detected for each input by default.
        compression: As in `open_log`.
        storage_options: As in `open_log`.
        **options: Options of the formats' decoders.

    Raises:
        OptionError: If an option is invalid, or a pipe is read without `types`.

    Example:
        >>> log = b'PREFIX ex: <http://ex/> ex:a ex:n 1 . ex:b ex:n 2 ; ex:tag "x", "y" .'
        >>> rows = table(log, format="trig")
        >>> rows.types
        {'ex:n': 'integer', 'ex:tag': 'string[]'}
        >>> rows.to_arrow().select(["subject", "ex:n", "ex:tag"]).to_pylist()[1]
        {'subject': 'http://ex/b', 'ex:n': 2, 'ex:tag': ['x', 'y']}
    """
    table_options = {
        "predicates": predicates,
        "classes": classes,
        "names": names,
        "types": types,
        "lists": lists,
        "first": first,
        "depth": depth,
        "max_columns": max_columns,
        "union_graphs": union_graphs,
        "prefixes": prefixes,
        "on_error": on_error,
        "message_per_file": message_per_file,
        "from_format": format,
        **options,
    }
    storage = {"compression": compression, "storage_options": storage_options}
    return EntityTable(logs, table_options, storage)


class _Found(NamedTuple):
    """The columns, and what is known after the first pass.

    Attributes:
        columns: The columns.
        namer: Names of predicates.
        notes: Notes about the columns.
        hint: Option that may be missing, if no row was found.
    """

    columns: list[Column]
    namer: Namer
    notes: list[str]
    hint: Remedy | None


class EntityTable(Tabular):
    """A table with a row per message and subject: for pyarrow, pandas, Polars and DuckDB.

    Returned by `rdfm.table`. It can be read any number of times, unless a log is a pipe.
    """

    def __init__(
        self,
        logs: Readable | Sequence[Readable],
        options: Mapping[str, Any],
        storage: Mapping[str, Any] | None = None,
    ) -> None:
        """Check the options. Nothing is read. Use `rdfm.table` instead.

        Args:
            logs: The logs.
            options: Options of `TABLE` and of the formats.
            storage: Compression and storage options of the inputs, as in `open_log`.

        Raises:
            OptionError: If an option is invalid.
        """
        self._inputs: list[Any] = input_list(logs)
        if not self._inputs:
            raise OptionError("no input is given")
        self._options = as_texts(options)
        self._stages = stages = {
            name: TABLE[name].value(value) for name, value in self._options.items() if name in TABLE
        }
        self._storage = dict(storage or {})
        self._first: bool = stages.get("first", False)
        self._on_error: str = stages.get("on_error", "fail")
        self._skips = self._on_error == "skip"  # messages, and ill-typed values
        self._prefixes: Mapping[str, str] = stages.get("prefixes") or {}
        self._types = parse_types(stages.get("types"))
        self._infers = not self._types or self._types.pop(ANY, None) is not None
        self._given = [parse_column(name, type) for name, type in self._types.items()]
        self._predicates = self._resolve("predicates")
        self._classes = self._resolve("classes")
        if not self._infers and self._predicates:
            raise OptionError(
                f"{spell_option('types')} and {spell_option('predicates')} both select columns; use only one of them"
            )
        if self._infers and any(
            hasattr(each, "read") or may_be_endless(each) for each in self._inputs
        ):
            raise OptionError(
                f"the columns are found before the rows are read, but a pipe or stream can be read only once; specify {spell_option('types')}, or read a file"
            )
        self._found: _Found | None = None
        self._tally = Tally()

    def _resolve(self, option: str) -> list[str]:
        """Return IRIs or names; names with a prefix of `prefixes` and `<IRI>` as IRIs."""
        resolved = []
        for text in self._stages.get(option) or ():
            prefix, _, local = text.partition(":")
            if prefix in self._prefixes:
                text = self._prefixes[prefix] + local
            resolved.append(text.removeprefix("<").removesuffix(">") if text[:1] == "<" else text)
        return resolved

    def _query_stage(self) -> QueryStage:
        union_graphs = self._stages.get("union_graphs", False)
        return QueryStage(
            Query(_TRIPLES, prefixes={}, union_graphs=union_graphs), skips=self._skips
        )

    def _driver(self, reads: Mapping[str, Any], hints: Mapping[str, Any] | None = None) -> Driver:
        settings = ReadSettings(
            self._stages.get("from_format"),
            reads,
            message_per_file=self._stages.get("message_per_file", False),
            hints=hints or {},
            needs_logs=True,
            **line_settings(self._on_error, rejects="rejects" in self._stages),
            **self._storage,
        )
        return Driver(self._inputs, settings)

    def _solutions(self, querying: QueryStage, tally: Tally) -> Iterator[SolutionBatch]:
        """Yield the triples of the logs."""
        reads = {n.removeprefix("from_"): v for n, v in self._options.items() if n not in TABLE}
        stages = (SkipErrors(skip=self._on_error != "fail"), querying)
        with _complete_messages():
            yield from run_row_stages(self._driver(reads), stages, tally)

    def _find(self) -> _Found:
        """Find the columns, once.

        Raises:
            UnsupportedError: If there are too many columns, or a subject is a literal.
            RdfmError, OSError: As in `open_log`.
        """
        if self._found is None:
            namer = Namer(self._prefixes, local=self._stages.get("names") == "local")
            if not self._infers:
                self._found = _Found(self._given, namer, [], None)
            else:
                self._found = self._find_columns(namer)
        return self._found

    def _find_columns(self, namer: Namer) -> _Found:
        max_columns: Any = self._stages.get("max_columns", TABLE["max_columns"].default)
        depth: int = self._stages.get("depth", 0)
        flat: dict[Any, str] = {}
        while True:
            finder = ColumnFinder(namer, self._predicates, self._types, max_columns, depth, flat)
            querying = self._query_stage()
            with closing(self._solutions(querying, Tally())) as batches:  # type: ignore[type-var]
                for solutions in batches:
                    namer.observe(solutions.batch)
                    fields = finder if finder.nests else None
                    finder.observe(Entities(solutions, self._classes, fields))
            # A node that is not nested is a row. Its values may change other columns.
            mixed = finder.mixed()
            if not mixed:
                break
            flat |= mixed
        columns = finder.columns(lists=self._stages.get("lists", "auto"), first=self._first)
        is_missing = querying.graphs and not querying.has_results
        return _Found(
            columns,
            namer,
            list(finder.notes()),
            UNION_GRAPHS if is_missing and not self._stages.get("union_graphs") else None,
        )

    @property
    def types(self) -> dict[str, str]:
        """The type of each column, as in the argument `types`; `[]` is a list. May read the logs.

        Raises:
            RdfmError, OSError: As in `open_log`.
        """
        return {column.name: column.spelled_type for column in self._find().columns}

    @property
    def schema(self) -> pyarrow.Schema:
        """Names and types of the columns. May read the logs.

        The metadata of a field has `rdfm.predicate`, and `rdfm.datatype` or `rdfm.language` if it is
        the same for all values.

        Raises:
            MissingExtraError: If pyarrow is not installed.
            RdfmError, OSError: As in `open_log`.
        """
        return self._converter().schema

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes about columns whose values have no common type. May read the logs."""
        return tuple(self._find().notes)

    @property
    def skipped(self) -> int:
        """Number of errors skipped when rows were read last (`on_error="skip"`)."""
        return self._tally.skipped

    @property
    def skipped_lines(self) -> int:
        """Number of lines skipped when rows were read last (`on_error="skip-line"`)."""
        return self._tally.skipped_lines

    def _converter(self, *, as_texts: bool = False) -> EntityColumns:
        with require_package("pyarrow", "a table of entities"):
            import pyarrow  # noqa: F401 - before anything is read
        found = self._find()
        return EntityColumns(
            found.columns, found.namer, first=self._first, skips=self._skips, as_texts=as_texts
        )

    def batches(self) -> Iterator[pyarrow.RecordBatch]:
        """Yield the rows as record batches.

        Raises:
            UnsupportedError: If a value does not have the type of its column, or a subject is a
                literal.
            RdfmError, OSError: As in `open_log`.
        """
        converter, self._tally = self._converter(), Tally()
        stage = _EntityRows(converter, self._find().namer, self._classes)
        for solutions in self._solutions(self._query_stage(), self._tally):
            rows = stage.convert(solutions)
            if rows.num_rows:
                yield rows
        self._tally.skipped += converter.nulls

    def __iter__(self) -> Iterator[pyarrow.RecordBatch]:
        """Yield the rows as record batches, as `batches` does."""
        return self.batches()

    def _arrow_reader(self) -> pyarrow.RecordBatchReader:
        schema = self.schema
        import pyarrow as pa

        reader: pyarrow.RecordBatchReader = pa.RecordBatchReader.from_batches(
            schema, self.batches()
        )
        return reader

    def add(self, options: Mapping[str, Any]) -> None:
        """Add options of the output."""
        self._options |= options
        self._stages["to"] = options["to"]

    def write(self, output: Writable, *, progress: ProgressFunction = None) -> QueryOutput:
        """Write the rows.

        Args:
            output: As in `convert`.
            progress: As in `convert`.

        Raises:
            OptionError: If the format is not a table, or an option does not apply.
            RdfmError, OSError: As in `convert`.
        """
        format = output_format(output, self._stages.get("to"), "results")
        spec = format.spec
        is_text = format.name == formats.csv.name
        if not is_text and "results" not in spec.written_only:
            raise OptionError(
                f"{spec.title} is not a table; write a table such as out.parquet, out.arrow or out.csv"
            )
        reject_own_input(self._inputs, output, self._options, TABLE)
        check_skipping(self._inputs, output, self._stages)
        options = split_options(
            self._options, input_formats(self._inputs, self._stages.get("from_format")), spec, TABLE
        )
        converter = self._converter(as_texts=is_text)
        found = self._find()
        rows = (_EntityTexts if is_text else _EntityRows)(converter, found.namer, self._classes)
        shape, target = create_computed_output(
            output,
            format,
            self._stages,
            options.writes,
            None if is_text else lambda: converter.schema,
            lambda: [*found.notes, *rows.notes()],
        )
        querying = self._query_stage()
        plan = ConversionPlan(
            inputs=self._inputs,
            driver=self._driver(options.reads, options.hints),
            stages=(querying, rows),
            target=target,
            shape=shape,
            from_format=self._stages.get("from_format"),
            on_error=self._on_error,
            max_errors=self._stages.get("max_errors"),
            rejects=self._stages.get("rejects"),
            keep_partial=self._stages.get("keep_partial", False),
            bytes_total=None if progress is None else total_bytes(self._inputs),
        )
        with _complete_messages():
            summary = Pipeline(plan, Reporter(progress)).run()
        if is_text:
            summary = replace(summary, notes=(*summary.notes, *found.notes, *rows.notes()))
        return QueryOutput(summary, found.hint)

    def __repr__(self) -> str:
        """Return a string such as `<EntityTable of a.trig>`. Nothing is read."""
        names = ", ".join(
            "bytes" if isinstance(each, bytes) else str(each) for each in self._inputs
        )
        return f"<EntityTable of {names:.60}>"


@contextmanager
def _complete_messages() -> Iterator[None]:
    """Add a remedy to an error about a message that is too large."""
    try:
        yield
    except DecodeError as error:
        if error.missing_feature == "parts":
            error.remedies += (SPLIT_BY_SUBJECT,)
        raise


class _EntityRows(Stage):
    """Converts triples to the rows of a table."""

    kind = "results"

    def __init__(self, columns: EntityColumns, namer: Namer, classes: Sequence[str]) -> None:
        self._columns = columns
        self._namer = namer
        self._classes = classes

    def process_batch(self, item: ReadBatch) -> Iterator[Item]:
        """Yield the rows. Values that are null because of their type count as skipped errors."""
        solutions: Any = item.batch
        nulls = self._columns.nulls
        batch: Any = TableBatch(self.convert(solutions))
        if self._columns.nulls > nulls:
            yield SkippedData(item.source, errors=self._columns.nulls - nulls)
        yield item._replace(batch=batch)

    def convert(self, solutions: SolutionBatch) -> pyarrow.RecordBatch:
        """Return the rows of triples."""
        self._namer.observe(solutions.batch)
        fields = self._columns.fields if self._columns.nests else None
        return self._columns.convert(Entities(solutions, self._classes, fields))

    def notes(self) -> Iterator[str]:
        """Yield notes about values without a column or a cell."""
        if self._columns.omitted:
            yield f"{_values(self._columns.omitted)} of predicates without a column omitted"
        if self._columns.later:
            yield f"{_values(self._columns.later)} after the first one of their subject omitted"


class _EntityTexts(_EntityRows):
    """Converts triples to rows of strings: a header, then rows."""

    def __init__(self, columns: EntityColumns, namer: Namer, classes: Sequence[str]) -> None:
        super().__init__(columns, namer, classes)
        self._names = [*FIXED, *(column.name for column in columns.columns)]
        self._has_header = False

    def process(self, item: Item) -> Iterator[Item]:
        """Yield the header once, then rows."""
        if isinstance(item, ReadBatch):
            yield from self._begin(item)
        for processed in super().process(item):
            if isinstance(processed, ReadBatch) and processed.batch is not None:
                table: Any = processed.batch
                texts = map(_as_literals, table.table.columns)
                rows: Any = ResultBatch.from_rows(zip(*texts, strict=True), self._names)
                yield processed._replace(batch=rows)
            else:
                yield processed

    def finish(self) -> Iterator[Item]:
        """Yield the header if there was no log."""
        yield from self._begin(ReadBatch(NO_LOG, None, {}, 0))

    def _begin(self, item: ReadBatch) -> Iterator[ReadBatch]:
        if not self._has_header:
            self._has_header = True
            header: Any = ResultBatch.from_rows([], self._names)
            yield item._replace(batch=header, dropped_data=NOTHING_DROPPED)


def _as_literals(column: Any) -> list[RdfLiteral | None]:
    values = column.to_pylist()
    return [None if value is None else RdfLiteral(str(value)) for value in values]


def _values(count: int) -> str:
    return f"{count:,} value{'' if count == 1 else 's'}"
