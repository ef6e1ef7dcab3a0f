"""Reads logs that arrive in a folder as a stream: each file once, with one row per message.

In: a folder in which complete files appear. Out: `read_stream`, for which Spark's file source finds
the files; and the reader of `readStream.format("rdfm")`, which keeps a separate list of files.
Cost: a listing of the folder for each batch, and the names of all files in the driver's memory.
Law: a file that changed after it was found is an error, unless an option says otherwise.
"""

from __future__ import annotations

import errno
import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from rdfm.errors import OptionError
from rdfm.formats.spec import key
from rdfm.spark.compat import (
    HAS_READ_LIMITS,
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)
from rdfm.spark.paths import spark_path, to_canonical, user_path
from rdfm.spark.readers.reader import LogSourceReader
from rdfm.spark.readers.rows import SparkReading
from rdfm.spark.spark_options import FILE_SOURCE, FILES, STREAMING, Options
from rdfm.spark.streams.filelist import FileList
from rdfm.storage.files import File, find_storage
from rdfm.storage.paths import local_target

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from rdfm.logs.input.splits import Split

__all__ = ["LogSourceStreamReader", "check_unchanged_files", "is_stream", "read_stream"]

# The schema that Spark's binaryFile source requires; its column content is never read.
_WHOLE_FILES = "path STRING, modificationTime TIMESTAMP, length BIGINT, content BINARY"
_GLOB_SIGNS = re.compile(r"[*?\[\]{}\\]")
_SAME_SECONDS = 0.002  # Spark has millisecond timestamps

_log = logging.getLogger("rdfm.spark")


def read_stream(
    spark: SparkSession, folder: str, schema: StructType | None, text_options: Mapping[str, str]
) -> DataFrame:
    """Read a folder whose files are found by Spark's file source; see `rdfm.spark.read_stream`.

    Raises:
        OptionError: If an option is unknown, or a value or the schema is invalid.
        UnknownFormatError: If the given format does not exist.
    """
    from pyspark.sql import functions as F

    options = Options(text_options)
    _check_file_source_options(options)
    file_stream = spark.readStream.format("binaryFile").schema(_WHOLE_FILES)
    file_stream = file_stream.options(**options.pop_texts(FILE_SOURCE))
    changed_option, recursive_option = "changed_files", "recursive_file_lookup"
    values = options.pop_values(
        {changed_option: STREAMING[changed_option], recursive_option: FILES[recursive_option]}
    )
    changed, recursive = values[changed_option], values[recursive_option]
    reading = SparkReading.from_options(options, schema)
    file_stream = file_stream.option("recursiveFileLookup", recursive)
    file_stream = file_stream.option("ignoreMissingFiles", reading.ignore_missing)
    # Size and time when the batch was planned. The source's own columns are looked up again in the
    # task.
    files = file_stream.load(folder).select(
        "path",
        F.col("_metadata.file_size").alias("size"),
        F.unix_millis("_metadata.file_modification_time").alias("modified"),
    )

    def rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return reading.read(
            check_unchanged_files(_spark_files(batches, recursive), reading, changed)
        )

    return files.mapInArrow(rows, reading.schema)


def _check_file_source_options(options: Options) -> None:
    """Check the values that Spark's file source would check only when the query starts.

    Spark lists the files of a batch again when the batch begins. A file that was deleted or
    rewritten before that cannot be noticed, so `changedFiles` cannot promise to report or skip it.

    Raises:
        OptionError: If a value is invalid.
    """
    given = Options(dict(options.remaining))
    values = given.pop_values(
        {**STREAMING, "changed_files": replace(STREAMING["changed_files"], default=None)}
    )
    if values["changed_files"] in ("error", "skip"):
        raise OptionError(
            f"rdfm.spark.read_stream supports only changedFiles=read, not {values['changed_files']}, because "
            "Spark's file source does not report files that were deleted or rewritten before their batch; use "
            'spark.readStream.format("rdfm") with the option stateLocation'
        )


class LogSourceStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads logs as they arrive in a folder.

    Python sources cannot store data in Spark's checkpoint, so the option `stateLocation` names a
    folder for the list of files. An offset is a position in that list. A file is added to the list
    before any offset includes it. Files in the list after the last offset are read next.
    """

    def __init__(self, text_options: Mapping[str, str], schema: StructType | None = None) -> None:
        """Check a query's options and the user's schema.

        Raises:
            OptionError: If an option is unknown or missing, or a value or the schema is invalid.
            UnknownFormatError: If the given format does not exist.
        """
        options = Options(text_options)
        values = options.pop_values(STREAMING)
        location = values["state_location"]
        if not location:
            raise OptionError(
                "a stream needs the option stateLocation, a folder for the list of files that it "
                "has found; use a separate one for each query, and keep it as long as its checkpoint"
            )
        local_target(user_path(location))  # rejects a URL with one slash
        self._location = to_canonical(location)
        files, size = values["max_files_per_trigger"], values["max_bytes_per_trigger"]
        if files and size:
            raise OptionError("set maxFilesPerTrigger or maxBytesPerTrigger, not both")
        if (files or size) and not HAS_READ_LIMITS:
            raise OptionError(
                "limits per trigger need PySpark 4.2 or newer; remove maxFilesPerTrigger and maxBytesPerTrigger, or "
                "use rdfm.spark.read_stream"
            )
        self._limit: ReadLimit = ReadAllAvailable()
        if files or size:
            self._limit = ReadMaxFiles(files) if files else ReadMaxBytes(size)
        self._changed = values["changed_files"]
        self._logs = LogSourceReader(options, schema, by_one_name=True)
        self._logs.check_not_read(self._location, "stateLocation")
        self._opened: FileList | None = None
        self._changed_since_found: dict[str, File] = {}
        self._is_available_now = False  # Trigger.AvailableNow: later files are for the next run

    def __getstate__(self) -> dict[str, Any]:
        """Omit the list of files, which only the driver needs, from the data sent to each task."""
        return {**self.__dict__, "_opened": None, "_changed_since_found": {}}

    @property
    def schema(self) -> StructType:
        """The columns of the rows."""
        return self._logs.schema

    def check_paths(self) -> None:
        """Check that the folder exists, without listing it.

        Raises:
            FileNotFoundError: If the folder does not exist.
        """
        self._logs.check_paths()

    def initialOffset(self) -> dict[str, Any]:
        """The position of the first file."""
        return self._offset(0)

    def getDefaultReadLimit(self) -> ReadLimit:
        """The maximum size of a batch."""
        return self._limit

    def prepareForTriggerAvailableNow(self) -> None:
        """Find the files that this run will read."""
        self._find_new_files()
        self._is_available_now = True

    def latestOffset(  # PySpark before 4.2 passes no arguments
        self, start: dict[str, Any] | None = None, limit: ReadLimit | None = None
    ) -> dict[str, Any]:
        """Find new files, and return the position after the next batch.

        Raises:
            OptionError: If the checkpoint belongs to another list.
            FileNotFoundError: If the folder no longer exists.
        """
        position = 0 if start is None else self._position(start)
        if not self._is_available_now:
            self._find_new_files()
        return self._offset(
            self._files.batch_end(
                position,
                files=getattr(limit, "max_files", None),
                size=getattr(limit, "max_bytes", None),
            )
        )

    def reportLatestOffset(self) -> dict[str, Any]:
        """The position after the last file found, for the progress of the query."""
        return self._offset(len(self._files.files))

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """Return the work of each task."""
        files = self._files.files[self._position(start) : self._position(end)]
        return [InputPartition(task) for task in self._logs.plan_tasks(files)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Return the rows of a partition. Runs in a task."""
        return self._logs.reading.read(
            check_unchanged_files(partition.value, self._logs.reading, self._changed)
        )

    def commit(self, end: dict[str, Any]) -> None:
        """Merge the small files of the list. Spark's checkpoint records the progress."""
        self._files.merge()

    @property
    def _files(self) -> FileList:
        if self._opened is None:
            self._opened = FileList(self._location, self._logs.reading.storage)
        return self._opened

    def _find_new_files(self) -> None:
        # Older files come first. Files with equal or unknown times are sorted by name.
        files = sorted(self._logs.find_files(whole=False), key=lambda file: file.modified or 0)
        for file in files:
            expected = self._changed_since_found.get(file.path) or self._files.get(file.path)
            if expected is not None and not _have_same_status(expected, file):
                self._changed_since_found[file.path] = file
                _log.warning(
                    "%s is not the file first found under this name; a stream reads each "
                    "name only once, so give new files new names",
                    file.path,
                )
        self._files.add(files)

    def _offset(self, position: int) -> dict[str, Any]:
        # Spark compares the JSON text, so the order of the keys is fixed.
        return {"files": position, "list": self._files.name}

    def _position(self, offset: Mapping[str, Any]) -> int:
        position: int = offset["files"]
        if offset["list"] != self._files.name or position > len(self._files.files):
            raise OptionError(
                f"the checkpoint belongs to a different list of files than the one in {self._location}; "
                "set the query's original stateLocation, or start again with a new checkpoint "
                "and a new stateLocation"
            )
        return position


def is_stream(options: Mapping[str, str]) -> bool:
    """Whether the options include one that only streams support."""
    return not Options(options).remaining.keys().isdisjoint(map(key, STREAMING))


def _spark_files(batches: Iterable[pa.RecordBatch], recursive: bool) -> Iterator[tuple[File, None]]:
    """The files that Spark's file source found, without splits."""
    for batch in batches:
        for path, size, modified in zip(*(column.to_pylist() for column in batch), strict=True):
            if not recursive and _GLOB_SIGNS.search(path):
                raise OSError(
                    errno.EINVAL,
                    "because of this file name, Spark's file source reads other files in the folder twice; rename the file to a name "
                    "without * ? [ ] { } or a backslash, or set recursiveFileLookup=true",
                    path,
                )
            yield File(spark_path(path), size, modified / 1000), None


def check_unchanged_files(
    logs: Iterable[tuple[File, Split | None]], reading: SparkReading, changed: str
) -> Iterator[tuple[str, Split | None]]:
    """Yield logs for `SparkReading.read`, and check each log before and after it is read.

    Raises:
        OSError: If a file changed after it was found.
    """
    for file, split in logs:
        if _is_unchanged(file, reading):
            yield file.path, split
            if _is_unchanged(file, reading) or changed == "read":
                continue
            raise OSError(errno.ESTALE, "The file changed while it was read", file.path)
        if changed == "error":
            raise OSError(
                errno.ESTALE,
                "The file changed after it was found, and a stream reads each file once; add only "
                "complete files, or set changedFiles to skip or read",
                file.path,
            )
        if changed == "read":
            yield file.path, split
        else:
            _log.warning("%s changed after it was found and is skipped (changedFiles)", file.path)


def _is_unchanged(file: File, reading: SparkReading) -> bool:
    """Whether a file has the expected size and time (if known); true if it was deleted."""
    storage, path = find_storage(file.path, reading.storage)
    try:
        now = storage.status(path)
    except FileNotFoundError:
        return True  # reported when the file is opened
    return now is not None and _have_same_status(file, now)


def _have_same_status(first: File, second: File) -> bool:
    """Whether two files have the same size and time. Unknown times are ignored."""
    if first.size != second.size:
        return False
    if first.modified is None or second.modified is None:
        return True
    return abs(first.modified - second.modified) < _SAME_SECONDS
