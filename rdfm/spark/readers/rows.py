"""Decodes logs to Spark rows, one file after another, and handles errors according to the mode.

In: files, and the settings for reading them (`SparkReading`). The settings come from a query's
options and schema. If these do not determine the kind of log, the first file does. Out: Arrow
record batches with exactly Spark's schema.
Cost: as in `rdfm.spark.readers.collectors`; only the requested columns are rendered.
Law: data is omitted only if an option allows it, and then with a warning.
"""

from __future__ import annotations

import contextlib
import errno
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.types import DataType, StructType

from rdfm import formats
from rdfm.errors import (
    DecodeError,
    MissingExtraError,
    OptionError,
    UnknownFormatError,
    spell_option,
)
from rdfm.logs.input.driver import Driver
from rdfm.logs.input.driver import ReadSettings as LogReading
from rdfm.logs.input.splits import Split
from rdfm.logs.read.plan import split_log
from rdfm.logs.read.reader import LogReader
from rdfm.logs.stages.criteria import FilterStage, filter_values
from rdfm.spark.compat import arrow_schema
from rdfm.spark.paths import to_absolute, user_path
from rdfm.spark.queries.evaluation import SparkQuery
from rdfm.spark.readers.collectors import MessageRows, QueryRows, RowCollector
from rdfm.spark.readers.error_handling import ErrorHandler
from rdfm.spark.readers.folders import PartitionFolders, values_of
from rdfm.spark.readers.kinds import KindFinder
from rdfm.spark.schema import RowShape, message_shape, quad_shape, result_shape
from rdfm.spark.spark_options import (
    CORRUPT_RECORD,
    READING,
    Options,
    compression,
    split_names,
    storage_options,
)
from rdfm.spark.spark_remedies import render_for_spark
from rdfm.spark.workers import DriverObject
from rdfm.storage import compression as compressions
from rdfm.storage.files import find_storage
from rdfm.storage.members import MEMBER_COMPRESSIONS
from rdfm.storage.paths import is_url, local_path, local_target

if TYPE_CHECKING:
    from rdfm.message import AnyBatch

__all__ = ["SparkReading"]

_log = logging.getLogger("rdfm.spark")


@dataclass(frozen=True)
class SparkReading(DriverObject):
    """Settings for reading logs, in the form that tasks receive.

    Attributes:
        schema: The columns that Spark expects.
        inner: The columns that come from the files.
        columns: The core's name of each inner column, or the variable for results; None for the
            column of corrupt records.
        partition_columns: The types of the columns that come from folder names.
        kind: "messages", "patches" or "results"; None if the columns fit both messages and patches.
        variables: The variables of results.
        rows: The unit of a row: "messages", which includes patches and rows of results, or "quads".
        terms: The form of terms: "ntriples" or "structs".
        format: The format of every file; None if it is detected for each file.
        options: Options of the decoders. Each decoder uses those of its format.
        compression: As in `open_log`.
        storage: fsspec options.
        mode: The handling of errors, a value of `MODE`.
        skip_lines: Whether only lines are skipped, not their messages.
        filter: Arguments of `LogReader.filter`; None for all messages.
        query: The query to run on each message, if any.
        ignore_missing: Whether to skip files that no longer exist.
        ignore_corrupt: Whether an error in mode FAILFAST ends the file instead of the query.
        errors_to: The folder of the side table of errors; None if there is none.
    """

    schema: StructType
    inner: StructType
    columns: tuple[str | None, ...]
    partition_columns: Mapping[str, DataType]
    kind: str | None
    variables: tuple[str, ...]
    rows: str
    terms: str
    format: str | None
    options: Mapping[str, Any]
    compression: str | None
    storage: Mapping[str, Any] = field(repr=False)
    mode: str
    skip_lines: bool
    filter: Mapping[str, Any] | None
    query: SparkQuery | None
    ignore_missing: bool
    ignore_corrupt: bool
    errors_to: str | None

    @classmethod
    def from_options(
        cls,
        options: Options,
        schema: StructType | None = None,
        first: Callable[[SparkReading], str | None] | None = None,
        folders: Callable[[SparkReading], PartitionFolders] | None = None,
    ) -> SparkReading:
        """Create the settings from the remaining options and the schema of a read.

        Args:
            options: The options, without those that the reader has taken.
            schema: The user's schema. Defaults to the default columns and, in mode PERMISSIVE, the
                column of corrupt records.
            first: Returns the first file. Called if neither the format nor the schema determines
                the kind of log. None if results cannot be read.
            folders: Returns the partition columns. Called if the schema or the option `columns`
                contains columns that are not in the files, or neither is given. None if there are
                no partition columns.

        Raises:
            OptionError: If an option is unknown, or a value or the schema is invalid.
            UnknownFormatError: If the given format does not exist.
        """
        values = options.pop_values(READING)
        mode, format = values["mode"], values["format"]
        if values["skip_lines"] and mode != "DROPMALFORMED":
            raise OptionError(
                f"skipLines skips data, but the mode is {mode}; set the mode DROPMALFORMED"
            )
        corrupt = values["column_name_of_corrupt_record"] or CORRUPT_RECORD
        reading = cls(
            schema=schema or StructType(),
            inner=StructType(),
            columns=(),
            partition_columns={},
            kind="messages",
            variables=(),
            rows=values["rows"],
            terms=values["terms"],
            format=None if format is None else formats.find(format).name,
            options=_decoder_options(options, format),
            compression=compression(values["compression"]),
            storage=storage_options(values),
            mode=mode,
            skip_lines=values["skip_lines"],
            filter=_filter_arguments(values["filter"]),
            query=SparkQuery.parse(values["query"], values["types"]),
            ignore_missing=values["ignore_missing_files"],
            ignore_corrupt=values["ignore_corrupt_files"],
            errors_to=_errors_to(values),
        )
        reading = reading._with_kind(schema, corrupt, first)
        shape = reading._shape()
        names = split_names(values["columns"])
        requested_names = names if schema is None else schema.names
        partition_folders = PartitionFolders()
        if folders is not None and (
            requested_names is None or not shape.knows(requested_names, corrupt)
        ):
            partition_folders = folders(reading)
            partition_folders.check(shape.known, corrupt)
        selected = shape.with_fields(partition_folders.fields).select(
            schema, names, corrupt, with_errors=mode == "PERMISSIVE"
        )
        own_types = partition_folders.select_types(selected)
        inner = StructType([field for field in selected if field.name not in own_types])
        if own_types and not inner.fields:  # one column is enough to count the rows
            inner = StructType(shape.default.fields[:1])
        columns = tuple(shape.core(inner, corrupt))
        return replace(
            reading, schema=selected, inner=inner, columns=columns, partition_columns=own_types
        )

    def _with_kind(
        self,
        schema: StructType | None,
        corrupt: str,
        first: Callable[[SparkReading], str | None] | None,
    ) -> SparkReading:
        """Determine the kind of log. Quad rows and query rows always come from messages.

        Raises:
            OptionError: If an option does not apply to the kind of log, or as in `KindFinder.find`.
            DecodeError: If the first file contains results and is invalid.
        """
        if self.query is not None or self.rows == "quads":
            return self
        finder = KindFinder(
            format=self.format,
            terms=self.terms,
            corrupt=corrupt,
            first=None if first is None else lambda: first(self),
            open=lambda path: LogReader(Driver([path], self.log_reading(path))),
        )
        kind, variables = finder.find(schema)
        if kind in ("patches", "results") and self.filter is not None:
            raise OptionError(f"the option filter selects messages, but the logs contain {kind}")
        return replace(self, kind=kind, variables=variables)

    def _shape(self) -> RowShape:
        """The columns that the rows can have.

        Raises:
            OptionError: If `rows` or `terms` is set with a query, or results have no variables.
        """
        if self.query is not None:
            if (self.rows, self.terms) != ("messages", "ntriples"):
                raise OptionError(
                    "rows and terms cannot be combined with a query, which determines the rows"
                )
            return self.query.shape()
        if self.rows == "quads":
            return quad_shape(self.terms)
        if self.kind == "results":
            return result_shape(self.variables, self.terms)
        return message_shape(self.kind, self.terms)

    def read(self, logs: Iterable[tuple[str, Split | None]]) -> Iterator[pa.RecordBatch]:
        """Return the rows of logs, in order.

        Args:
            logs: Paths, each with a split, or None for the complete log.

        Raises:
            DecodeError: If a file is invalid and the mode does not skip errors.
            FileNotFoundError: If a file no longer exists.
            UnknownFormatError, OSError, MissingExtraError: As in `open_log`.
        """
        rows = self._rows()
        if not self.partition_columns:
            for path, split in logs:
                yield from self._read(path, split, rows)
            yield from rows.finish()
            return
        add: Callable[[pa.RecordBatch], pa.RecordBatch] | None = None
        before: tuple[Any, ...] | None = None
        for path, split in logs:
            values = values_of(path, self.partition_columns)
            if add is None or values != before:
                if add is not None:
                    yield from map(add, rows.finish())
                    rows = self._rows()
                add, before = self._create_adder(values), values
            yield from map(add, self._read(path, split, rows))
        if add is not None:
            yield from map(add, rows.finish())

    def _rows(self) -> RowCollector:
        """Return a collector of rows without partition columns."""
        return (MessageRows if self.query is None else QueryRows)(self)

    def _create_adder(self, values: tuple[Any, ...]) -> Callable[[pa.RecordBatch], pa.RecordBatch]:
        """Return a function that adds the values of partition columns to rows."""
        schema = arrow_schema(self.schema)
        values_by_name = dict(zip(self.partition_columns, values, strict=True))

        def add(batch: pa.RecordBatch) -> pa.RecordBatch:
            columns = [
                pa.repeat(pa.scalar(values_by_name[field.name], field.type), batch.num_rows)
                if field.name in values_by_name
                else batch[field.name]
                for field in schema
            ]
            return pa.RecordBatch.from_arrays(columns, schema=schema)

        return add

    def splits(self, path: str, split_bytes: int) -> Sequence[Split | None]:
        """Split a large log, and count its messages if their indexes are requested.

        Args:
            path: The log.
            split_bytes: Approximate size of a split.

        Returns:
            The splits; None for the complete log.
        """
        if not self._may_split(path):
            return [None]
        try:
            return split_log(
                path,
                self.log_reading(path),
                split_bytes=split_bytes,
                count="message_index" in self.columns,
            )
        except (FileNotFoundError, DecodeError, UnknownFormatError):
            return [None]  # reported when the log is read

    def _may_split(self, path: str) -> bool:
        """Whether a log may have splits, without opening it."""
        packed = compressions.find_by_suffix(path) if self.compression is None else self.compression
        # Finding the members of a remote file would read most of it.
        if packed not in (None, "none") and (
            packed not in MEMBER_COMPRESSIONS or local_path(path) is None
        ):
            return False
        format = formats.by_path(path) if self.format is None else formats.find(self.format)
        return format is None or format.spec.splittable

    def _read(self, path: str, split: Split | None, rows: RowCollector) -> Iterator[pa.RecordBatch]:
        errors = ErrorHandler(self, path, split, rows)
        try:
            log = LogReader(Driver([path], self.log_reading(path, split)), errors.stages)
        except FileNotFoundError as error:
            if not self.ignore_missing:
                raise FileNotFoundError(
                    errno.ENOENT,
                    "The file was deleted after the query was planned; ignoreMissingFiles skips it",
                    path,
                ) from error
            _log.warning("%s was deleted and is skipped (ignoreMissingFiles)", path)
            return
        except OptionError as error:
            error.renderer = render_for_spark
            raise
        except (DecodeError, UnknownFormatError) as error:
            if not (isinstance(error, UnknownFormatError) and self.is_empty(path)):
                yield from errors.handle_unreadable(error)
                errors.finish()
            return
        if self.filter is not None:
            log = log.filter(**self.filter)
        with log:
            batches: Iterator[AnyBatch] = log.batches()
            in_message = False  # a part of which has been returned
            while True:
                try:
                    batch = next(batches, None)
                except DecodeError as error:
                    yield from errors.handle(log, error, in_message=in_message)
                    if errors.ended:
                        break
                    batches = log.batches()
                    continue
                if batch is None:
                    break
                in_message = batch.continues
                yield from rows.add(batch, log.source)
        errors.finish()

    def log_reading(self, path: str, split: Split | None = None) -> LogReading:
        """Return the reading settings for one file."""
        return LogReading(
            format=self.format or (split.format if split is not None else None),
            options=self.options,
            compression=self.compression,
            storage_options=self.storage_for(path),
            split=None if split is None or split.whole else split,
            parts="always" if self._reads_parts else "never",
            strict=False,
            skip_lines=self.skip_lines,
            needs_lines=spell_option("skip_lines", "true") if self.skip_lines else None,
        )

    @property
    def _reads_parts(self) -> bool:
        """Whether to read large messages in parts. Their rows cannot be withdrawn or filtered."""
        skips_messages = self.mode != "FAILFAST" and not self.skip_lines
        whole = skips_messages or self.ignore_corrupt or self.filter is not None
        return self.rows == "quads" and not whole

    def is_empty(self, path: str) -> bool:
        """Whether a file is empty."""
        storage, name = find_storage(path, self.storage_for(path))
        file = storage.status(name)
        return file is not None and file.size == 0

    def storage_for(self, path: str) -> Mapping[str, Any] | None:
        """Return the fsspec options for a path; None for local paths."""
        return self.storage if is_url(path) else None


def _decoder_options(options: Options, format: str | None) -> dict[str, Any]:
    """The remaining options, which belong to the formats that are read."""
    candidates = [formats.find(format)] if format is not None else formats.all()
    values = options.pop_format_options([candidate.spec for candidate in candidates], "read")
    for candidate in candidates:
        supported = {
            name: value for name, value in values.items() if name in candidate.spec.options("read")
        }
        if supported:
            with contextlib.suppress(MissingExtraError):  # reported when such a file is read
                candidate.decoder(supported)
    return values


def _errors_to(values: Mapping[str, Any]) -> str | None:
    """The folder of the side table, as an absolute path or URL.

    Raises:
        OptionError: If no error is skipped, or the path is invalid.
    """
    if values["errors_to"] is None:
        return None
    if values["mode"] == "FAILFAST" and not values["ignore_corrupt_files"]:
        raise OptionError(
            "errorsTo records the errors that a read skips, but in the mode FAILFAST the first error fails the query; "
            "set the mode DROPMALFORMED or PERMISSIVE, or ignoreCorruptFiles"
        )
    local_target(user_path(values["errors_to"]))  # rejects a URL with one slash
    return to_absolute(values["errors_to"])


def _filter_arguments(criteria: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The arguments of the filter, checked early in the driver.

    Raises:
        OptionError: If an argument is invalid.
    """
    if criteria is None:
        return None
    try:
        arguments = filter_values(criteria)
        FilterStage(arguments)
    except OptionError as error:
        raise OptionError(f"the option filter: {error}") from None
    return arguments
