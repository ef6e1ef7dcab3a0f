"""Reads logs that a DataFrame lists, such as files found by Spark, Unity Catalog or Auto Loader.

In: a DataFrame of paths. Out: a DataFrame of the rows of these logs.
Cost: a task reads the first bytes of each large file that may be split, or the complete file if
message indexes are requested. Then the list is shuffled once.
Law: each split is read once, by the same code as in other reads.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql.types import (
    BinaryType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from rdfm.errors import OptionError
from rdfm.spark.compat import arrow_schema, is_remote
from rdfm.spark.paths import spark_path
from rdfm.spark.readers.rows import SparkReading
from rdfm.spark.spark_options import FILES, STREAMING, Options
from rdfm.spark.streams.stream import as_found
from rdfm.storage.files import File

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from rdfm.logs.input.splits import Split

__all__ = ["read_listed"]

_PLANNED = StructType(
    [
        StructField("path", StringType()),
        StructField("length", LongType()),
        StructField("modified", LongType()),
        StructField("split", BinaryType()),
    ]
)


def read_listed(
    spark: SparkSession, files: DataFrame, schema: StructType | None, given: Mapping[str, str]
) -> DataFrame:
    """Read the logs in a DataFrame with columns `path`, `length` and, if known, `modificationTime`.

    Raises:
        OptionError: If a column is missing, an option is unknown, or a value or the schema is
            invalid.
        UnknownFormatError: If the given format does not exist.
    """
    from pyspark.sql import functions as F

    options = Options(given)
    list_options = {name: FILES[name] for name in ("split_bytes", "min_partitions")}
    values = options.pop_values({**list_options, "changed_files": STREAMING["changed_files"]})
    split_bytes, changed = values["split_bytes"], values["changed_files"]
    reading = SparkReading.from_options(options, schema)
    if reading.mode == "FAILFAST" and reading.ignore_corrupt:
        split_bytes = 0  # otherwise an error would end only the split, not the file
    time = F.lit(None).cast("bigint")
    if _check_columns(files):
        time = F.unix_millis(F.col("modificationTime").cast("timestamp"))
    named = files.select("path", F.col("length").cast("bigint"), time.alias("modified"))
    planned_schema = arrow_schema(_PLANNED)

    def plan(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = [
                row for file in batch.to_pylist() for row in _planned(file, reading, split_bytes)
            ]
            yield pa.RecordBatch.from_pylist(rows, schema=planned_schema)

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return reading.read(as_found(_logs(batches), reading, changed))

    # Spark would otherwise combine these few bytes into one task.
    tasks = values["min_partitions"] or 2 * _cores(spark)
    planned = named.mapInArrow(plan, _PLANNED).repartition(tasks)
    return planned.mapInArrow(read, reading.schema)


def _check_columns(files: DataFrame) -> bool:
    """Check the columns, and return whether the times are known.

    Raises:
        OptionError: If a column is missing or has the wrong type.
    """
    types = {field.name: field.dataType for field in files.schema}
    listed = ", ".join(types) or "(none)"
    for name, wanted in (("path", "string"), ("length", "bigint")):
        if name not in types:
            raise OptionError(
                f"files needs the columns path, length and, if known, modificationTime, as in Spark's binaryFile "
                f"source; the columns are {listed}"
            )
        if types[name].simpleString() not in (wanted, "int"):
            raise OptionError(
                f"the column {name} of files is {types[name].simpleString()}, not {wanted}"
            )
    time = types.get("modificationTime")
    if time is not None and not isinstance(time, (TimestampType, TimestampNTZType)):
        raise OptionError(
            f"the column modificationTime of files is {time.simpleString()}, not timestamp"
        )
    return time is not None


def _planned(
    file: Mapping[str, object], reading: SparkReading, split_bytes: int
) -> Iterator[dict[str, object]]:
    """The splits of a file, as rows."""
    path = spark_path(str(file["path"]))
    length = file["length"]
    splits: Iterable[Split | None] = [None]
    if split_bytes and isinstance(length, int) and length > split_bytes:
        splits = reading.splits(path, split_bytes)
    for split in splits:
        packed = None if split is None else pickle.dumps(split)
        yield {"path": path, "length": length, "modified": file["modified"], "split": packed}


def _logs(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[File, Split | None]]:
    for batch in batches:
        for path, length, modified, split in zip(
            *(column.to_pylist() for column in batch), strict=True
        ):
            time = None if modified is None else modified / 1000
            # `_planned` pickled the split.
            yield File(path, length, time), None if split is None else pickle.loads(split)


def _cores(spark: SparkSession) -> int:
    """The number of cores of a session."""
    if is_remote(spark):
        return int(spark.conf.get("spark.sql.shuffle.partitions") or 1)
    return spark.sparkContext.defaultParallelism
