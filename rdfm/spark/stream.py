"""Logs that keep arriving in a folder, as a stream: each file once, one message a row.

In: a folder in which whole files appear. Out: `read_stream`, where Spark's own file source finds the
files; and the reader of `readStream.format("rdfm")`, which keeps a list of them itself.
Cost: a listing of the folder for each batch, and the names of all files found in the driver's memory.
Law: a file that is no longer as it was found is an error, unless an option says what to do.
"""

from __future__ import annotations

import errno
import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)

from rdfm.errors import OptionError
from rdfm.formats.spec import key
from rdfm.spark.filelist import FileList
from rdfm.spark.options import FILE_SOURCE, FILES, STREAMING, Options
from rdfm.spark.reader import LogSourceReader, real, s3_as_s3
from rdfm.spark.rows import Reading
from rdfm.storage.files import File, storage_of
from rdfm.storage.paths import local_target

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from rdfm.logs.split import Split

__all__ = ["LogSourceStreamReader", "is_stream", "read_stream"]

# The schema that Spark's source of whole files insists on; its content is never asked for.
_WHOLE_FILES = "path STRING, modificationTime TIMESTAMP, length BIGINT, content BINARY"
_GLOB_SIGNS = re.compile(r"[*?\[\]{}\\]")
_SAME_SECONDS = 0.002  # Spark counts milliseconds

_log = logging.getLogger("rdfm.spark")


def read_stream(
    spark: SparkSession, folder: str, schema: StructType | None, given: Mapping[str, str]
) -> DataFrame:
    """Read a folder whose files Spark's own source finds; `rdfm.spark.read_stream` says how.

    Raises:
        OptionError: An option is unknown, or a value or the schema does not fit.
        UnknownFormatError: No format has the name that was given.
    """
    from pyspark.sql import functions as F

    options = Options(given)
    found = spark.readStream.format("binaryFile").schema(_WHOLE_FILES)
    found = found.options(**options.texts(FILE_SOURCE))
    one, other = "changed_files", "recursive_file_lookup"
    values = options.take({one: STREAMING[one], other: FILES[other]})
    changed, recursive = values[one], values[other]
    reading = Reading.of(options, schema)
    found = found.option("recursiveFileLookup", recursive)
    found = found.option("ignoreMissingFiles", reading.ignore_missing)
    # Size and time as they were when the batch was planned; the source's own columns are looked up
    # again in the task.
    files = found.load(folder).select(
        "path",
        F.col("_metadata.file_size").alias("size"),
        F.unix_millis("_metadata.file_modification_time").alias("modified"),
    )

    def rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return reading.read(_as_found(_spark_files(batches, recursive), reading, changed))

    return files.mapInArrow(rows, reading.schema)


class LogSourceStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads logs as they arrive in a folder. Python sources have no place in Spark's checkpoint.

    So the option `stateLocation` names a folder for the list of the files found, and an offset is a
    position in that list. A file is in the list before any offset speaks of it; what is in the list
    beyond the last offset is read next.
    """

    def __init__(self, given: Mapping[str, str], schema: StructType | None = None) -> None:
        """Take a query's options and the schema of its user, and check them.

        Raises:
            OptionError: An option is unknown or missing, or a value or the schema does not fit.
            UnknownFormatError: No format has the name that was given.
        """
        options = Options(given)
        values = options.take(STREAMING)
        location = values["state_location"]
        if not location:
            raise OptionError(
                "a stream needs the option stateLocation, a folder for the list of the files it "
                "has found; give each query its own, and keep it as long as its checkpoint"
            )
        local_target(location)  # a URL with one slash is no folder to make
        self._location = real(location)
        files, size = values["max_files_per_trigger"], values["max_bytes_per_trigger"]
        if files and size:
            raise OptionError("give maxFilesPerTrigger or maxBytesPerTrigger, not both")
        self._limit: ReadLimit = ReadAllAvailable()
        if files or size:
            self._limit = ReadMaxFiles(files) if files else ReadMaxBytes(size)
        self._changed = values["changed_files"]
        self._logs = LogSourceReader(options, schema, by_one_name=True)
        self._logs.keep_apart(self._location, "stateLocation")
        self._opened: FileList | None = None
        self._noticed: dict[str, File] = {}
        self._ends_here = False  # Trigger.AvailableNow: what comes later is for the next run

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what only the driver needs: the list would travel with every task."""
        return {**self.__dict__, "_opened": None, "_noticed": {}}

    @property
    def schema(self) -> StructType:
        """The columns of the rows."""
        return self._logs.schema

    def check_paths(self) -> None:
        """Look whether the folder is there, without listing it.

        Raises:
            FileNotFoundError: It is not.
        """
        self._logs.check_paths()

    def initialOffset(self) -> dict[str, Any]:
        """The position of the first file."""
        return self._offset(0)

    def getDefaultReadLimit(self) -> ReadLimit:
        """How much a batch takes."""
        return self._limit

    def prepareForTriggerAvailableNow(self) -> None:
        """Find the files that this run will read."""
        self._find()
        self._ends_here = True

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        """Find new files, and give the position after the next batch.

        Raises:
            OptionError: The checkpoint is of another list.
            FileNotFoundError: The folder is gone.
        """
        position = self._position(start)
        if not self._ends_here:
            self._find()
        return self._offset(
            self._files.end_of(
                position,
                files=limit.max_files if isinstance(limit, ReadMaxFiles) else None,
                size=limit.max_bytes if isinstance(limit, ReadMaxBytes) else None,
            )
        )

    def reportLatestOffset(self) -> dict[str, Any]:
        """The position after the last file found, for the progress of the query."""
        return self._offset(len(self._files.files))

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """Give the work of each task."""
        files = self._files.files[self._position(start) : self._position(end)]
        return [InputPartition(task) for task in self._logs.work(files)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Give a partition's rows. Runs in a task."""
        return self._logs.reading.read(
            _as_found(partition.value, self._logs.reading, self._changed)
        )

    def commit(self, end: dict[str, Any]) -> None:
        """Keep the list in few files. What was read is Spark's to know: its checkpoint says it."""
        self._files.merge()

    @property
    def _files(self) -> FileList:
        if self._opened is None:
            self._opened = FileList(self._location, self._logs.reading.storage)
        return self._opened

    def _find(self) -> None:
        # Older ones first; where times are equal or not known, in the order of their names.
        found = sorted(self._logs.files(whole=False), key=lambda file: file.modified or 0)
        for file in found:
            known = self._noticed.get(file.path) or self._files.get(file.path)
            if known is not None and not _same(known, file):
                self._noticed[file.path] = file
                _log.warning(
                    "%s is another file than that found before under this name; a stream reads a "
                    "name once, so give new files new names",
                    file.path,
                )
        self._files.add(found)

    def _offset(self, position: int) -> dict[str, Any]:
        # Spark compares the text, so the order of the keys is fixed.
        return {"files": position, "list": self._files.name}

    def _position(self, offset: Mapping[str, Any]) -> int:
        position: int = offset["files"]
        if offset["list"] != self._files.name or position > len(self._files.files):
            raise OptionError(
                f"the checkpoint goes with another list of files than that in {self._location}; "
                "give the stateLocation that the query had, or begin again with a new checkpoint "
                "and a new stateLocation"
            )
        return position


def is_stream(options: Mapping[str, str]) -> bool:
    """Whether options hold one that only a stream has."""
    return not Options(options).rest.keys().isdisjoint(map(key, STREAMING))


def _spark_files(batches: Iterable[pa.RecordBatch], recursive: bool) -> Iterator[tuple[File, None]]:
    """The files that Spark's file source found, each as a whole."""
    for batch in batches:
        for path, size, modified in zip(*(column.to_pylist() for column in batch), strict=True):
            if not recursive and _GLOB_SIGNS.search(path):
                raise OSError(
                    errno.EINVAL,
                    "Spark's file source reads the files beside one with such a name twice; name it "
                    "without * ? [ ] { } or a backslash, or set recursiveFileLookup=true",
                    path,
                )
            yield File(_opened_as(path), size, modified / 1000), None


def _opened_as(path: str) -> str:
    """A path as Spark writes it (nothing is escaped), as `open_log` takes it.

    Example:
        >>> _opened_as("file:/logs/a.nq"), _opened_as("s3a://bucket/a.nq")
        ('/logs/a.nq', 's3://bucket/a.nq')
        >>> _opened_as("dbfs:/logs/a.nq"), _opened_as("dbfs:/Volumes/one/two/a.nq")
        ('/dbfs/logs/a.nq', '/Volumes/one/two/a.nq')
    """
    if re.match("file:/", path):
        return "/" + path[5:].lstrip("/")
    if re.match("dbfs:/(?!/)", path):  # as the machines of Databricks have it among their folders
        return path[5:] if path.startswith("dbfs:/Volumes/") else f"/dbfs{path[5:]}"
    return s3_as_s3(path)


def _as_found(
    logs: Iterable[tuple[File, Split | None]], reading: Reading, changed: str
) -> Iterator[tuple[str, Split | None]]:
    """Logs as `Reading.read` takes them, each checked before it is read and after.

    Raises:
        OSError: A file is not what was found.
    """
    for file, split in logs:
        if _is_as_found(file, reading):
            yield file.path, split
            if _is_as_found(file, reading) or changed == "read":
                continue
            raise OSError(errno.ESTALE, "The file changed while it was read", file.path)
        if changed == "error":
            raise OSError(
                errno.ESTALE,
                "The file changed since it was found, and a stream reads a file once; let files "
                "appear whole, or set changedFiles to skip or read",
                file.path,
            )
        if changed == "read":
            yield file.path, split
        else:
            _log.warning("%s changed since it was found, and is skipped (changedFiles)", file.path)


def _is_as_found(file: File, reading: Reading) -> bool:
    """Whether a file has its size and time still, as far as known; one that is gone has them too."""
    storage, path = storage_of(file.path, reading.storage)
    try:
        now = storage.status(path)
    except FileNotFoundError:
        return True  # whoever opens it says so
    return now is not None and _same(file, now)


def _same(one: File, other: File) -> bool:
    """Whether size and time are the same, as far as known."""
    if one.size != other.size:
        return False
    if one.modified is None or other.modified is None:
        return True
    return abs(one.modified - other.modified) < _SAME_SECONDS
