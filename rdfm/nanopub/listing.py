"""Lists of nanopublications: the implementation of `list`.

In: logs. Out: a row for each nanopublication, as a table or as SPARQL results.
Cost: one pass over the log. With `latest`, all rows are in memory.
Law: rows are in the order of the log. Nothing is verified; use `check` for that.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from rdfm._core import (
    Iri,
    MessageBatch,
    ResultBatch,
    artifact_code_of_iri,
    batches_from_arrow,
    describe_nanopubs,
)
from rdfm._core import Literal as LiteralTerm
from rdfm.conversion.convert_options import input_formats, split_options
from rdfm.conversion.pipeline import ConversionPlan, Pipeline
from rdfm.conversion.summary import ConversionSummary
from rdfm.conversion.tables import TableBatch, create_computed_output
from rdfm.errors import OptionError
from rdfm.logs.input.driver import NO_LOG, NOTHING_DROPPED, Driver, Item, ReadBatch, ReadSettings
from rdfm.logs.input.inputs import Readable, input_list
from rdfm.logs.input.progress import ProgressFunction, Reporter, total_bytes
from rdfm.logs.kinds import wrong_kind_error
from rdfm.logs.read.frames import require_package
from rdfm.logs.read.reader import LogReader
from rdfm.logs.read.rows import ComputedBatch, RowReader
from rdfm.logs.reader_lock import LockedIterator
from rdfm.logs.stages.stage import SkipErrors, Stage
from rdfm.logs.write.output import Writable, output_format
from rdfm.logs.write.own_input import reject_own_input
from rdfm.nanopub.nanopub_options import LIST

if TYPE_CHECKING:
    import pyarrow

    from rdfm._core import Term

__all__ = [
    "COLUMNS",
    "NanopubList",
    "NanopubLog",
    "NanopubRow",
    "describe_column",
    "record_batch",
]

_PURPOSE = "a table of nanopublications"
# Separates multiple values of a cell in result formats. Neither IRIs nor dates contain it.
_SEPARATOR = " | "
_ARTIFACT_CODE = re.compile("RA[A-Za-z0-9_-]{43}")
_INTEGER = "http://www.w3.org/2001/XMLSchema#integer"


class NanopubRow(NamedTuple):
    """A nanopublication in a list. Multiple values are in the order of the quads.

    Attributes:
        source: Name of the log.
        message_index: Index of the message in its log, from 0.
        nanopub: The IRI of the nanopublication.
        creators: `dcterms:creator`, `dc:creator`, `pav:createdBy` and `prov:wasAttributedTo`, as
            IRIs or names.
        created: `dcterms:created`, `prov:generatedAtTime` or `pav:createdOn`, as written.
        license: `dcterms:license` or `cc:license`, otherwise `dcterms:rights` or `dc:rights`.
        types: Types, as assigned by the Java library `nanopub`.
        introduces: `npx:introduces`.
        retracts: `npx:retracts`.
        supersedes: `npx:supersedes`.
        pubkey_hash: SHA-256 of the text of the public key, in hexadecimal, as used by registries.
    """

    source: str
    message_index: int
    nanopub: str
    creators: list[str]
    created: str | None
    license: str | None
    types: list[str]
    introduces: list[str]
    retracts: list[str]
    supersedes: list[str]
    pubkey_hash: str | None


COLUMNS = NanopubRow._fields
_LISTS = ("creators", "types", "introduces", "retracts", "supersedes")


def schema() -> pyarrow.Schema:
    """Return the names and types of the columns.

    Raises:
        MissingExtraError: If pyarrow is not installed.
    """
    with require_package("pyarrow", _PURPOSE):
        import pyarrow as pa
    types = {"message_index": pa.int64(), **{name: pa.list_(pa.string()) for name in _LISTS}}
    return pa.schema([(name, types.get(name, pa.string())) for name in COLUMNS])


def record_batch(rows: Sequence[NanopubRow]) -> pyarrow.RecordBatch:
    """Return rows as a record batch.

    Raises:
        MissingExtraError: If pyarrow is not installed.
    """
    columns = schema()
    import pyarrow as pa

    values = list(zip(*rows, strict=True)) if rows else [()] * len(COLUMNS)
    arrays = [
        pa.array(column_values, field.type)
        for column_values, field in zip(values, columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=columns)


def describe_column(quads: pyarrow.Array) -> pyarrow.Array:
    """Describe each message of a column of quads, for example in Spark.

    Args:
        quads: Messages as lists of quads, in canonical N-Triples.

    Returns:
        Structs with the fields of `NanopubRow` except `source` and `message_index`. Null for a
        null message, and for a message that is not exactly one nanopublication.

    Raises:
        DecodeError: If a message is not valid RDF.
    """
    import pyarrow as pa

    positions = [
        index for index, is_present in enumerate(quads.is_valid().to_pylist()) if is_present
    ]
    messages = pa.record_batch([quads.take(pa.array(positions, pa.int64()))], names=["quads"])
    rows: list[list[Any] | None] = [None] * len(quads)
    for batch in batches_from_arrow(messages):
        assert isinstance(batch, MessageBatch)
        numbered_rows = [
            (batch.message_index(row[0]), list(row[1:])) for row in describe_nanopubs(batch)
        ]
        counts = Counter(index for index, _ in numbered_rows)
        for index, values in numbered_rows:
            if counts[index] == 1:
                rows[positions[index]] = values
    fields = list(schema())[2:]
    columns = [
        [None if row is None else row[position] for row in rows] for position in range(len(fields))
    ]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, fields, strict=True)]
    mask = pa.array([row is None for row in rows])
    return pa.StructArray.from_arrays(arrays, fields=fields, mask=mask)


def cells(row: NanopubRow) -> list[str | None]:
    """Return the cells of a row as strings; multiple values are separated by ` | `."""
    return [_cell(value) for value in row]


def _cell(value: str | int | list[str] | None) -> str | None:
    if isinstance(value, list):
        return _SEPARATOR.join(value) or None
    return None if value is None else str(value)


@dataclass(frozen=True, slots=True)
class RowBatch(ComputedBatch):
    """Rows as a batch.

    Attributes:
        rows: The rows.
    """

    rows: list[NanopubRow]

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.rows)

    @property
    def memory_bytes(self) -> int:
        """Approximate size of the rows in bytes."""
        return 1000 * len(self.rows)


class _DescribeStage(Stage):
    """Converts messages to rows.

    Attributes:
        others: Number of messages that are not nanopublications.
    """

    kind = "results"

    def __init__(self) -> None:
        self.others = 0

    def process_batch(self, item: ReadBatch) -> Iterator[Item]:
        """Yield the rows of the messages.

        Raises:
            OptionError: If the log does not contain messages.
        """
        batch, name = item.batch, item.source.name
        if not isinstance(batch, MessageBatch):
            raise wrong_kind_error(
                name, batch.kind if batch else "", "nanopublications are messages"
            )
        descriptions = describe_nanopubs(batch)
        self.others += len(batch) - len({row[0] for row in descriptions})
        rows = [NanopubRow(name, batch.message_index(row[0]), *row[1:]) for row in descriptions]
        row_batch: Any = RowBatch(rows)
        yield item._replace(batch=row_batch)


class _SelectLatest(Stage):
    """Omits rows that are superseded or retracted by another row with the same public key."""

    kind = "results"
    works_at_end = True

    def __init__(self) -> None:
        self._rows: list[NanopubRow] = []
        self._invalid: set[tuple[str, str]] = set()
        self._last = ReadBatch(NO_LOG, None, {}, 0)

    def process_batch(self, item: ReadBatch) -> Iterator[Item]:
        """Keep the rows for the end."""
        batch: Any = item.batch
        self._last = item._replace(batch=None, dropped_data=NOTHING_DROPPED)
        for row in batch.rows:
            self._rows.append(row)
            if row.pubkey_hash is not None:
                identity = _identity(row.nanopub)
                targets = {_identity(iri) for iri in (*row.retracts, *row.supersedes)} - {identity}
                self._invalid.update((row.pubkey_hash, target) for target in targets)
        yield item._replace(batch=None)

    def finish(self) -> Iterator[Item]:
        """Yield the rows that remain."""
        remaining: Any = RowBatch(
            [
                row
                for row in self._rows
                if row.pubkey_hash is None
                or (row.pubkey_hash, _identity(row.nanopub)) not in self._invalid
            ]
        )
        self._rows = []
        yield self._last._replace(batch=remaining)


def _identity(iri: str) -> str:
    """Return the artifact code of a trusty URI (independent of its base IRI), or the IRI."""
    code = artifact_code_of_iri(iri)
    return code if code is not None and _ARTIFACT_CODE.fullmatch(code) else iri


class _ToTable(Stage):
    """Converts rows to record batches."""

    kind = "results"

    def process_batch(self, item: ReadBatch) -> Iterator[Item]:
        batch: Any = item.batch
        table: Any = TableBatch(record_batch(batch.rows))
        yield item._replace(batch=table)


class _ToResults(Stage):
    """Converts rows to SPARQL results. The first batch is a header with the column names."""

    kind = "results"

    def __init__(self) -> None:
        self._begun = False

    def process(self, item: Item) -> Iterator[Item]:
        """Yield the header once, then the rows."""
        if isinstance(item, ReadBatch):
            if not self._begun:
                yield self._create_header(item)
            batch: Any = item.batch
            if batch is not None:
                rows = [_terms(row) for row in batch.rows]
                item = item._replace(batch=ResultBatch.from_rows(rows, list(COLUMNS)))
        yield item

    def finish(self) -> Iterator[Item]:
        """Yield the header if there was no log."""
        if not self._begun:
            yield self._create_header(ReadBatch(NO_LOG, None, {}, 0))

    def _create_header(self, item: ReadBatch) -> ReadBatch:
        self._begun = True
        return item._replace(
            batch=ResultBatch.from_rows([], list(COLUMNS)), dropped_data=NOTHING_DROPPED
        )


def _terms(row: NanopubRow) -> list[Term | None]:
    terms_of_row: list[Term | None] = [
        None if text is None else LiteralTerm(text) for text in cells(row)
    ]
    terms_of_row[1] = LiteralTerm(str(row.message_index), datatype=_INTEGER)
    terms_of_row[2] = Iri(row.nanopub)
    return terms_of_row


class NanopubList(RowReader):
    """The rows of a list: a table for pyarrow, pandas, Polars and DuckDB.

    Returned by `list`. Rows are computed on demand and can be read only once. Only one
    thread can use them at a time; a concurrent call raises RuntimeError.
    """

    _AGAIN = "list the log again"

    def __init__(
        self,
        describe: _DescribeStage,
        stages: Sequence[Stage],
        driver: Driver | LogReader,
    ) -> None:
        """Open the input. Use `list` instead."""
        super().__init__(driver, stages)
        self._describe = describe

    @property
    def schema(self) -> pyarrow.Schema:
        """Names and types of the columns.

        Raises:
            MissingExtraError: If pyarrow is not installed.
        """
        return schema()

    @property
    def others(self) -> int:
        """Number of messages read so far that are not nanopublications."""
        return self._describe.others

    @property
    def skipped(self) -> int:
        """Number of errors skipped so far (`on_error="skip"`)."""
        return self._tally.skipped

    def rows(self) -> Iterator[NanopubRow]:
        """Yield the rows, without pyarrow.

        Raises:
            DecodeError: If a log is invalid. Earlier rows have been yielded.
            OptionError: If a log contains patches or results.
            ValueError: If the rows have already been read to the end or to an error.
            RuntimeError: If another thread is using the rows.
        """
        return LockedIterator(self._lock, (row for batch in self._batches() for row in batch.rows))

    __iter__ = rows

    def batches(self) -> Iterator[pyarrow.RecordBatch]:
        """Yield the rows as record batches.

        Raises:
            RdfmError, ValueError, RuntimeError: As in `rows`.
            MissingExtraError: If pyarrow is not installed.
        """
        return LockedIterator(self._lock, (record_batch(batch.rows) for batch in self._batches()))

    def _batches(self) -> Iterator[RowBatch]:
        self._check_unread()
        self._ended = True
        yield from self._staged_batches

    def _arrow_reader(self) -> pyarrow.RecordBatchReader:
        self._check_unread()
        columns = self.schema
        import pyarrow as pa

        reader: pyarrow.RecordBatchReader = pa.RecordBatchReader.from_batches(
            columns, self.batches()
        )
        return reader

    def __repr__(self) -> str:
        """Return a short description, such as `<NanopubList of x.jelly>`."""
        return f"<NanopubList of {self._name}>"


class NanopubLog:
    """Nanopublication logs with validated options."""

    def __init__(
        self,
        logs: Readable | LogReader | Sequence[Readable],
        options: Mapping[str, Any],
        storage: Mapping[str, Any] | None = None,
    ) -> None:
        """Check the options.

        Args:
            logs: As in `list`.
            options: Options of `LIST` and of the formats.
            storage: Compression of the inputs and their storage options, as in `open_log`.

        Raises:
            OptionError: If an option does not apply.
        """
        self._options = {name: value for name, value in options.items() if value is not None}
        self._list_options = {
            name: LIST[name].value(value) for name, value in self._options.items() if name in LIST
        }
        self._storage = dict(storage or {})
        self._skips = self._list_options.get("on_error") == "skip"
        self._log = logs if isinstance(logs, LogReader) else None
        self._inputs = [] if isinstance(logs, LogReader) else input_list(logs)
        if self._log is not None:
            stage_options = ("latest", "on_error")
            reading = {**self._options, **self._storage}
            if unsupported := [
                name for name, value in reading.items() if value and name not in stage_options
            ]:
                raise OptionError(
                    f"the log is already open; pass {unsupported[0].removeprefix('from_')} to rdfm.open_log"
                )
        elif not self._inputs:
            raise OptionError("there is nothing to list; name a log")

    def rows(self) -> NanopubList:
        """Return the rows."""
        describe = _DescribeStage()
        stages = (SkipErrors(skip=self._skips), *self._stages(describe))
        options = self._options.items()
        reading_options = {name.removeprefix("from_"): v for name, v in options if name not in LIST}
        return NanopubList(describe, stages, self._log or self._driver(reading_options))

    def _stages(self, describe: _DescribeStage) -> tuple[Stage, ...]:
        return (describe, _SelectLatest()) if self._list_options.get("latest") else (describe,)

    def _driver(self, reads: Mapping[str, Any], hints: Mapping[str, Any] | None = None) -> Driver:
        reading = ReadSettings(
            self._list_options.get("from_format"),
            reads,
            parts="never",
            message_per_file=self._list_options.get("message_per_file", False),
            hints=hints or {},
            needs_logs=True,
            **self._storage,
        )
        return Driver(self._inputs, reading)

    def write(
        self, output: Writable, *, progress: ProgressFunction = None
    ) -> tuple[ConversionSummary, int]:
        """Write the rows to a table or to SPARQL results.

        Args:
            output: As in `convert`.
            progress: As in `convert`.

        Returns:
            A summary, and the number of messages that are not nanopublications.

        Raises:
            OptionError: If the format does not support rows, or an option does not apply.
            RdfmError, OSError: As in `convert`.
        """
        options = self._list_options
        format = output_format(output, options.get("to"), "results")
        spec = format.spec
        if "results" not in spec.kinds:
            raise OptionError(
                f"a list has rows, but {spec.title} supports only {' and '.join(spec.kinds)}; "
                "write a table such as out.parquet, or SPARQL results such as out.csv"
            )
        reject_own_input(self._inputs, output, self._options, LIST)
        options_by_component = split_options(
            self._options, input_formats(self._inputs, options.get("from_format")), spec, LIST
        )
        is_table = "results" in spec.written_only
        shape, target = create_computed_output(
            output, format, options, options_by_component.writes, schema if is_table else None
        )
        describe = _DescribeStage()
        stages = (*self._stages(describe), _ToTable() if is_table else _ToResults())
        plan = ConversionPlan(
            inputs=self._inputs,
            driver=self._driver(options_by_component.reads, options_by_component.hints),
            stages=stages,
            target=target,
            shape=shape,
            from_format=options.get("from_format"),
            on_error=self._list_options.get("on_error", "fail"),
            keep_partial=options.get("keep_partial", False),
            buffers_messages=False,
            bytes_total=None if progress is None else total_bytes(self._inputs),
        )
        summary = Pipeline(plan, Reporter(progress)).run()
        return summary, describe.others
