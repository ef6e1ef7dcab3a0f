"""Checks, describes and compares logs in Spark's workers: `validate`, `statistics` and `diff`.

In: paths, or rows with messages. Out: rows of findings or of differing messages, or statistics.
Cost: one pass. Findings and hashes are small rows; statistics are at most a few MB for each task.
Law: the results equal those of the functions with the same names in `rdfm`, regardless of how the
logs are split.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import Window
from pyspark.sql import functions as F

from rdfm import formats
from rdfm._core import Checker, Comparer, MessageBatch, PatchBatch, batches_from_arrow
from rdfm.analysis.statistics import Collector, Statistics
from rdfm.analysis.validate import validate
from rdfm.analysis.validate_rules import RULES
from rdfm.errors import DecodeError, OptionError, spell_options
from rdfm.logs.input.driver import Driver, ReadBatch, ReadError
from rdfm.spark.hadoop import add_hadoop_settings
from rdfm.spark.readers.reader import LogSourceReader
from rdfm.spark.schema import LISTS, detect_kind
from rdfm.spark.spark_options import as_text
from rdfm.spark.spark_remedies import render_for_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from rdfm.analysis.finding import Finding
    from rdfm.logs.input.splits import Split
    from rdfm.message import AnyBatch

__all__ = [
    "Task",
    "create_reader",
    "diff_sides",
    "find_statistics",
    "find_statistics_of_rows",
    "run_tasks",
    "validate_logs",
    "validate_rows",
]

Rows: TypeAlias = Iterator[pa.RecordBatch]
Task: TypeAlias = Sequence[tuple[str, "Split | None"]]

ROWS = 8192
FINDINGS = (
    "source string, severity string, rule string, text string, message_index bigint, byte_offset bigint, "
    "line bigint, `column` bigint, frame bigint, row bigint"
)
_FINDINGS = pa.schema(
    [
        *((name, pa.string()) for name in ("source", "severity", "rule", "text")),
        *((name, pa.int64()) for name in ("message_index", "byte_offset", "line", "column")),
        *((name, pa.int64()) for name in ("frame", "row")),
    ]
)
_KEY = {"source": "string", "message_index": "bigint", "byte_offset": "bigint"}
HASHES = ", ".join(f"{name} {type}" for name, type in (*_KEY.items(), ("hash", "binary")))
_HASHES = pa.schema(
    [
        ("source", pa.string()),
        ("message_index", pa.int64()),
        ("byte_offset", pa.int64()),
        ("hash", pa.binary()),
    ]
)
# Each task numbers its messages from a multiple of this number.
_NUMBERS_PER_TASK = 1 << 40
_MAX_STEPS = 2_000_000
_MAX_TOTAL_STEPS = 1 << 60


def create_reader(
    spark: SparkSession, paths: Sequence[str], options: Mapping[str, Any]
) -> LogSourceReader:
    """Return a reader of logs after checking its options and paths.

    Raises:
        OptionError: If an option is unknown, or a value is invalid.
        FileNotFoundError: If a path does not exist.
    """
    text_options = add_hadoop_settings(spark, paths, as_text(options))
    reader = LogSourceReader({**text_options, "paths": json.dumps(list(paths))})
    reader.check_paths()
    return reader


def run_tasks(
    spark: SparkSession, tasks: list[Task], run: Callable[[int, Task], Rows], schema: str
) -> DataFrame:
    """Return the rows of tasks, in order, with a separate partition for each task."""

    def run_numbered(batches: Rows) -> Rows:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from run(number, tasks[number])

    return spark.range(0, len(tasks), 1, max(len(tasks), 1)).mapInArrow(run_numbered, schema)


def _tasks(reader: LogSourceReader) -> tuple[list[Task], int, int]:
    """The work of each task, and the number and total size of the files."""
    files = reader.find_files()
    tasks = [[(file.path, split) for file, split in task] for task in reader.plan_tasks(files)]
    return cast("list[Task]", tasks), len(files), sum(file.size for file in files)


def _list_column(rows: DataFrame, function: str) -> str:
    """The name of the list column of messages or patches.

    Raises:
        OptionError: If there is no such column.
    """
    kind = detect_kind(rows.schema)
    if kind is None:
        names = ", ".join(rows.columns) or "none"
        raise OptionError(
            f"{function} needs paths, or rows with a column quads or operations; the columns are {names}"
        )
    return LISTS[kind][0]


def _add_positions(rows: DataFrame, function: str) -> DataFrame:
    """Return the messages with the columns of `_KEY` (null if missing)."""
    messages = _list_column(rows, function)
    columns = [
        (F.col(name) if name in rows.columns else F.lit(None)).cast(type).alias(name)
        for name, type in _KEY.items()
    ]
    return rows.select(*columns, messages)


# --- validate ---


def validate_logs(
    spark: SparkSession,
    paths: Sequence[str],
    options: Mapping[str, Any],
    *,
    strict: bool,
    max_warnings: int,
    shapes: str | None,
) -> DataFrame:
    """Return the findings of `rdfm.validate` in each file.

    Raises:
        OptionError: If an option is unknown, or a value is invalid.
        FileNotFoundError: If a path does not exist.
    """
    reader = create_reader(spark, paths, {**options, "split_bytes": 0})
    reading = reader.reading
    tasks, _, _ = _tasks(reader)

    def run(_: int, task: Task) -> Rows:
        for path, _split in task:
            log_reading = reading.log_reading(path)
            checked = validate(
                path,
                log_reading.format,
                strict=strict,
                max_warnings=max_warnings,
                shapes=shapes,
                compression=log_reading.compression,
                storage_options=log_reading.storage_options,
                **_supported_options(path, reading.options),
            )
            result_rows = [_finding_row(each) for each in checked]
            result_rows += [
                _summary_row(path, rule, count, strict)
                for rule, count in checked.summary()["omitted"].items()
            ]
            yield from _batches(result_rows)

    return run_tasks(spark, tasks, run, FINDINGS)


def _supported_options(path: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options supported by the format that a file name implies."""
    format = formats.by_path(path)
    if format is None:
        return dict(options)
    supported = format.spec.options("read")
    return {name: value for name, value in options.items() if name in supported}


def validate_rows(rows: DataFrame) -> DataFrame:
    """Find suspicious data, and messages that are not valid RDF, in rows with messages.

    Raises:
        OptionError: If there is no column of messages.
    """
    name = _list_column(rows, "validate")

    def run(batches: Rows) -> Rows:
        checker = Checker(sys.maxsize)
        checker.begin_log("")
        for record_batch in batches:
            result_rows: list[dict[str, Any]] = []
            present = record_batch.filter(record_batch[name].is_valid())
            places = present.select(list(_KEY)).to_pylist()
            for row, batch in _valid_messages(present.select([name]), result_rows, places):
                for rule, index, _, text, _ in checker.check(batch, "none"):
                    severity = _severity(rule)
                    result_rows.append(
                        _create_row(
                            places[row + index - batch.first_message_index], severity, rule, text
                        )
                    )
            yield from _batches(result_rows)

    return _add_positions(rows, "validate").mapInArrow(run, FINDINGS)


def _severity(rule: str) -> str:
    return RULES[rule].severity


def _valid_messages(
    rows: pa.RecordBatch, findings: list[dict[str, Any]], positions: list[dict[str, Any]]
) -> Iterator[tuple[int, MessageBatch | PatchBatch]]:
    """Yield batches with the numbers of their first rows, and add an error for each invalid row."""
    start = 0
    while start < rows.num_rows:
        rows_done = start
        try:
            for batch in batches_from_arrow(rows.slice(start)):
                yield rows_done, batch
                rows_done += len(batch)
            return
        except DecodeError as error:
            row = rows_done if error.row is None else start + error.row
            if row > rows_done:  # the rows before it have not been returned
                for batch in batches_from_arrow(rows.slice(rows_done, row - rows_done)):
                    yield rows_done, batch
                    rows_done += len(batch)
            findings.append(
                _create_row(positions[row], "error", "syntax", spell_options(error.reason))
            )
            start = row + 1


def _finding_row(finding: Finding) -> dict[str, Any]:
    return {
        "source": finding.source,
        "severity": finding.severity,
        "rule": finding.rule,
        "text": finding.render(render_for_spark),
        "message_index": finding.message_index,
        "byte_offset": finding.byte_offset,
        "line": finding.line,
        "column": finding.column,
        "frame": finding.frame,
        "row": finding.row,
    }


def _summary_row(source: str, rule: str, count: int, strict: bool) -> dict[str, Any]:
    findings = "finding" if count == 1 else "findings"
    text = f"{count} more {findings} of this rule; max_warnings sets the number of rows per rule"
    position = {**dict.fromkeys(_KEY), "source": source}
    return _create_row(position, "error" if strict else "warning", rule, text)


def _create_row(position: Mapping[str, Any], severity: str, rule: str, text: str) -> dict[str, Any]:
    return {**position, "severity": severity, "rule": rule, "text": text}


def _batches(rows: list[dict[str, Any]]) -> Rows:
    for start in range(0, len(rows), ROWS):
        yield pa.RecordBatch.from_pylist(rows[start : start + ROWS], schema=_FINDINGS)


# --- statistics ---


@dataclass
class _TaskStatistics:
    """The statistics of a task. Each file is counted up to its first error."""

    collector: Collector
    formats: dict[str, None]
    error: str | None = None


def find_statistics(
    spark: SparkSession, paths: Sequence[str], options: Mapping[str, Any], top: int | None
) -> Statistics:
    """Return the statistics of logs.

    Raises:
        OptionError: If an option is unknown, a value is invalid, or the logs are of several kinds.
        FileNotFoundError: If a path does not exist.
    """
    reader = create_reader(spark, paths, options)
    reading = reader.reading
    tasks, count, size = _tasks(reader)

    def run(number: int, task: Task) -> Rows:
        counted = _TaskStatistics(Collector(first=number * _NUMBERS_PER_TASK), {})
        for path, split in task:
            driver = Driver([path], replace(reading.log_reading(path, split), parts="always"))
            source = None
            try:
                for item in driver:
                    if item.source is not source:
                        source = item.source
                        counted.collector.start_log()
                        counted.formats.setdefault(source.format.name)
                    if isinstance(item, ReadError):
                        counted.error = counted.error or str(item.error)
                        break
                    if isinstance(item, ReadBatch) and item.batch is not None:
                        counted.collector.add(item.batch, source.name)
            finally:
                driver.close()
        yield _pickle_counts(counted)

    counted = run_tasks(spark, tasks, run, "counts binary")
    return _merge(counted, top, source=", ".join(paths), logs=count, bytes=size)


def find_statistics_of_rows(rows: DataFrame, top: int | None) -> Statistics:
    """Return the statistics of rows with messages.

    Raises:
        OptionError: If there is no column of messages.
    """
    name = _list_column(rows, "statistics")

    def run(batches: Rows) -> Rows:
        context = TaskContext.get()
        number = 0 if context is None else context.partitionId()
        collector = Collector(first=number * _NUMBERS_PER_TASK)
        for record_batch in batches:
            for batch in batches_from_arrow(record_batch.filter(record_batch[name].is_valid())):
                collector.add(cast("AnyBatch", batch))
        yield _pickle_counts(_TaskStatistics(collector, {}))

    counted = rows.select(name).mapInArrow(run, "counts binary")
    return _merge(counted, top, source="rows", logs=1, bytes=0)


def _pickle_counts(counted: _TaskStatistics) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([pickle.dumps(counted)], pa.binary())], ["counts"])


def _merge(counted: DataFrame, top: int | None, **fields: Any) -> Statistics:
    """The statistics of all tasks, merged in their order."""
    if top is not None and top < 0:
        raise OptionError(f"top is {top}, expected 0 or more")
    collector = Collector()
    format_names: dict[str, None] = {}
    error: str | None = None
    for (data,) in counted.toLocalIterator():
        task_statistics: _TaskStatistics = pickle.loads(data)
        collector.merge(task_statistics.collector, fields["source"])
        format_names |= task_statistics.formats
        error = error or task_statistics.error
    return collector.statistics(top=top, format=", ".join(format_names), error=error, **fields)


# --- diff ---


def diff_sides(
    sides: Sequence[Any], spark: SparkSession | None, options: Mapping[str, Any], *, metadata: bool
) -> DataFrame:
    """Return the messages that only one of two sides contains. Each side is rows or paths.

    Raises:
        OptionError: If an option is unknown, a value is invalid, or rows have no messages.
        FileNotFoundError: If a path does not exist.
    """
    secret = os.urandom(32)  # shared by both sides, but unknown to the authors of the logs
    hashed = [
        _hash_rows(side, secret)
        if hasattr(side, "mapInArrow")
        else _hash_logs(cast("SparkSession", spark), side, options, secret, metadata)
        for side in sides
    ]
    return _unmatched_messages(*hashed)


def _hash_logs(
    spark: SparkSession,
    paths: Sequence[str],
    options: Mapping[str, Any],
    secret: bytes,
    metadata: bool,
) -> DataFrame:
    reader = create_reader(spark, paths, options)
    reading = reader.reading
    tasks, _, _ = _tasks(reader)

    def run(_: int, task: Task) -> Rows:
        for path, split in task:
            driver = Driver([path], reading.log_reading(path, split))
            try:
                for item in driver:
                    if isinstance(item, ReadError):
                        item.error.renderer = render_for_spark
                        raise item.error
                    if isinstance(item, ReadBatch) and item.batch is not None and len(item.batch):
                        yield _hashes(
                            item.batch,
                            secret,
                            metadata,
                            *_message_positions(item.batch, item.source.name),
                        )
            finally:
                driver.close()

    return run_tasks(spark, tasks, run, HASHES)


def _hash_rows(rows: DataFrame, secret: bytes) -> DataFrame:
    name = _list_column(rows, "diff")

    def run(batches: Rows) -> Rows:
        for record_batch in batches:
            present = record_batch.filter(record_batch[name].is_valid())
            places = [present[name].to_pylist() for name in _KEY]
            start = 0
            for batch in batches_from_arrow(present.select([name])):
                stop = start + len(batch)
                of_batch = [values[start:stop] for values in places]
                yield _hashes(cast("AnyBatch", batch), secret, False, *of_batch)
                start = stop

    return _add_positions(rows, "diff").mapInArrow(run, HASHES)


def _message_positions(
    batch: AnyBatch, source: str
) -> tuple[list[str | None], list[int | None], list[int | None]]:
    """The columns of `_KEY`. A message with an offset has no index, because a split may start anywhere."""
    offsets = [batch.byte_offset(number) for number in range(len(batch))]
    indexes = [
        batch.message_index(number) if offset is None else None
        for number, offset in enumerate(offsets)
    ]
    return [source] * len(batch), indexes, offsets


def _hashes(
    batch: AnyBatch,
    secret: bytes,
    metadata: bool,
    sources: list[str | None],
    indexes: list[int | None],
    offsets: list[int | None],
) -> pa.RecordBatch:
    comparer = Comparer(
        "sets" if isinstance(batch, MessageBatch) else "exact",
        metadata=metadata,
        max_steps=_MAX_STEPS,
        max_total_steps=_MAX_TOTAL_STEPS,
        secret=secret,
    )
    hashes = comparer.full_signatures(batch)
    columns = [
        pa.array(sources, pa.string()),
        pa.array(indexes, pa.int64()),
        pa.array(offsets, pa.int64()),
        pa.array(hashes, pa.binary()),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=_HASHES)


def _unmatched_messages(a: DataFrame, b: DataFrame) -> DataFrame:
    """The messages whose nth occurrence on one side has no counterpart on the other."""
    both = a.withColumn("side", F.lit("a")).unionAll(b.withColumn("side", F.lit("b")))
    # A message without a hash equals no other message.
    key = F.coalesce("hash", F.to_json(F.struct("side", *_KEY)).cast("binary"))
    order = Window.partitionBy("side", "key").orderBy(*_KEY)
    numbered = both.withColumn("key", key).withColumn("n", F.row_number().over(order))
    message = F.struct("side", *_KEY, F.col("hash").isNull().alias("undecided"))
    pairs = numbered.groupBy("key", "n").agg(
        F.count("*").alias("sides"), F.first(message).alias("m")
    )
    return pairs.where("sides = 1").select("m.*")
