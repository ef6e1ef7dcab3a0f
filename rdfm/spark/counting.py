"""Counts the messages of logs: `rdfm.spark.count`.

In: logs. Out: the number of their messages.
Cost: delimiters are searched, or frame lengths read, in splits. Logs that cannot be read from the
middle are decoded, but their messages are not converted to rows.
Law: the count of valid logs is the number of rows that `read` returns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from rdfm import formats
from rdfm.errors import DecodeError, UnknownFormatError
from rdfm.logs.input.driver import Driver
from rdfm.logs.read.plan import count_delimiters, plan_whole_split
from rdfm.logs.read.reader import LogReader
from rdfm.logs.read.seek import seek
from rdfm.spark.checks import create_reader, run_tasks
from rdfm.spark.spark_remedies import render_for_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from rdfm.logs.input.splits import Split
    from rdfm.spark.checks import Task
    from rdfm.spark.readers.rows import SparkReading

__all__ = ["count_messages"]

_SCHEMA = "path string, delimiters bigint, content_first boolean, indivisible boolean"


class _Count(NamedTuple):
    """The count of a split.

    Attributes:
        delimiters: Number of delimiters that a message follows, or of decoded messages.
        content_first: Whether a message precedes the first delimiter.
        indivisible: Whether the log cannot be read in splits.
    """

    delimiters: int
    content_first: bool = False
    indivisible: bool = False


def count_messages(
    spark: SparkSession, paths: Sequence[str], options: Mapping[str, Any]
) -> int | None:
    """Return the number of messages; None if the options require that rows are counted.

    Raises:
        OptionError: If an option is unknown, or a value is invalid.
        FileNotFoundError: If a path does not exist.
    """
    reader = create_reader(spark, paths, options)
    reading = reader.reading
    depends_on_content = reading.filter is not None or reading.query is not None
    skips_errors = reading.mode != "FAILFAST" or reading.ignore_corrupt
    if depends_on_content or skips_errors or reading.rows == "quads" or reading.ignore_missing:
        return None
    if reading.kind == "results":
        return None
    files = reader.find_files()
    tasks: list[Task] = [
        [(file.path, split) for file, split in task] for task in reader.plan_tasks(files)
    ]
    counts = _run(spark, reading, tasks, decodes=False)
    indivisible = sorted(path for path, counted in counts.items() if counted.indivisible)
    if indivisible:
        counts |= _run(spark, reading, [[(path, None)] for path in indivisible], decodes=True)
    return sum(counted.delimiters + counted.content_first for counted in counts.values())


def _run(
    spark: SparkSession, reading: SparkReading, tasks: list[Task], *, decodes: bool
) -> dict[str, _Count]:
    """Return the counts by path."""

    def run(_: int, task: Task) -> Iterator[pa.RecordBatch]:
        rows = []
        for path, split in task:
            try:
                counted = _count(reading, path, split, decodes=decodes)
            except DecodeError as error:
                error.renderer = render_for_spark
                raise
            rows.append({"path": path, **counted._asdict()})
        yield pa.RecordBatch.from_pylist(rows)

    totals: dict[str, _Count] = {}
    for row in run_tasks(spark, tasks, run, _SCHEMA).collect():
        total = totals.get(row.path, _Count(0))
        totals[row.path] = _Count(
            total.delimiters + row.delimiters,
            total.content_first or (row.content_first and total.delimiters == 0),
            total.indivisible or row.indivisible,
        )
    return totals


def _count(reading: SparkReading, path: str, split: Split | None, *, decodes: bool) -> _Count:
    """Count the messages of a log, or of a split."""
    settings = reading.log_reading(path, split)
    try:
        log = LogReader(Driver([path], replace(settings, parts="always")))
    except UnknownFormatError:
        if reading.is_empty(path):
            return _Count(0)
        raise
    with closing(log):
        if not decodes and split is None:
            split = plan_whole_split(log, settings)
        if decodes or split is None:
            return _Count(_decode(log))
        is_binary = formats.find(log.format).spec.binary
    whole = replace(settings, split=None)
    counter = count_delimiters(path, split, formats.find(log.format).spec, whole)
    if counter.indivisible:
        return _Count(0, indivisible=True)
    last = None
    if split.stop is None and not is_binary:
        # Whether a message follows the last delimiter.
        last = seek(path, whole, slice(-1, None))
        if last is None:
            return _Count(_decode(LogReader(Driver([path], settings))))
    count = counter.delimiters
    if last is not None:
        tail = count_delimiters(path, last, formats.find(log.format).spec, whole)
        messages = _decode(LogReader(Driver([path], replace(settings, split=last))))
        count -= tail.delimiters - messages
    return _Count(count, counter.content_first)


def _decode(log: LogReader[Any]) -> int:
    """Count the messages of an open log by decoding it."""
    with closing(log):
        return sum(len(batch) - batch.continued for batch in log.batches())
