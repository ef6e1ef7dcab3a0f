"""Spark's batch reader: which files a query reads, in which tasks.

In: the options and the schema of a query. Out: partitions, and their rows (`rdfm.spark.rows`).
Cost: a listing of the paths, once a query, and once more where neither format nor schema says the kind of log. Law: partitions stand in the order of the files, and so
do the rows of a query that does not shuffle; a path that is not there is an error.
"""

from __future__ import annotations

import errno
import logging
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark import SparkFiles
from pyspark.sql.datasource import DataSourceReader, InputPartition

from rdfm.errors import OptionError
from rdfm.logs.plan import MAX_THREADS
from rdfm.spark.commit import find_settled, settle_around
from rdfm.spark.options import FILES, Options
from rdfm.spark.packing import pack
from rdfm.spark.rows import Reading
from rdfm.storage.files import File, storage_of
from rdfm.storage.listing import matches
from rdfm.storage.paths import local_path

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

    from rdfm.logs.split import Split

__all__ = ["LogSourceReader", "absolute", "real", "s3_as_s3"]

_log = logging.getLogger("rdfm.spark")


class LogSourceReader(DataSourceReader):
    """Reads logs, one message a row. Everything is opened in tasks, but the first file where only it says the kind.

    Attributes:
        reading: How.
    """

    def __init__(
        self,
        given: Mapping[str, str] | Options,
        schema: StructType | None = None,
        *,
        by_one_name: bool = False,
    ) -> None:
        """Take a query's options, or what is left of them, and the schema of its user; check both.

        Args:
            given: The options.
            schema: The schema of the user.
            by_one_name: Whether `..`, links and kinds of S3 URLs are resolved, so that a file has
                the same name however the path is written.

        Raises:
            OptionError: An option is unknown, or a value or the schema does not fit.
            UnknownFormatError: No format has the name that was given.
        """
        options = given if isinstance(given, Options) else Options(given)
        named = real if by_one_name else absolute
        self._paths = [named(path) for path in options.paths()]
        values = options.take(FILES)
        self._pattern = values["path_glob_filter"]
        self._recursive = values["recursive_file_lookup"]
        after, before = values["modified_after"], values["modified_before"]
        self._after = None if after is None else after.timestamp()
        self._before = None if before is None else before.timestamp()
        self._split_bytes = values["split_bytes"] or sys.maxsize
        self._pack_bytes = values["pack_bytes"]
        self._open_cost = values["open_cost_bytes"]
        self._least = values["min_partitions"]
        # Streams do not look at files before they read them.
        self.reading = Reading.of(options, schema, None if by_one_name else self._first)
        if self.reading.mode == "FAILFAST" and self.reading.ignore_corrupt:
            # An error would end its split, and what is left would depend on splitBytes.
            self._split_bytes = sys.maxsize

    def _first(self, reading: Reading) -> str | None:
        """The first file with something in it."""
        self.reading = reading
        return next((file.path for file in self.files() if file.size != 0), None)

    @property
    def paths(self) -> list[str]:
        """The paths, which mean the same in every process of this machine."""
        return self._paths

    @property
    def schema(self) -> StructType:
        """The columns of the rows."""
        return self.reading.schema

    def check_paths(self) -> None:
        """Look whether the paths are there, without listing them.

        Raises:
            FileNotFoundError: One is not.
        """
        if self.reading.ignore_missing:
            return
        for path in self._paths:
            # It may be decided and not shown yet.
            if not self._is_there(path) and not (
                settle_around(path, self.reading.storage) and self._is_there(path)
            ):
                raise FileNotFoundError(errno.ENOENT, "No such file or folder", path)

    def _is_there(self, path: str) -> bool:
        storage, name = storage_of(path, self.reading.storage)
        return storage.exists(name) or bool(matches(storage, name))

    def keep_apart(self, folder: str, option: str) -> None:
        """Refuse a folder whose files would be taken for logs.

        Raises:
            OptionError: It is a folder that is read, or lies in one with its folders.
        """
        for path in self._paths:
            inside = f"{folder}/".removeprefix(f"{path.rstrip('/')}/")
            hidden = any(part.startswith(("_", ".")) for part in inside.split("/"))
            if inside != f"{folder}/" and (self._recursive or not inside) and not hidden:
                raise OptionError(
                    f"{option} is {folder}, whose files would be read as logs; take another "
                    "folder, or one whose name begins with _"
                )

    def files(self, *, whole: bool = True) -> list[File]:
        """Find the files.

        Args:
            whole: As in `find_settled`.

        Raises:
            FileNotFoundError: A path is not there.
            OSError: A file is a pipe, device or socket.
        """
        try:
            files = find_settled(
                self._paths,
                whole=whole,
                pattern=self._pattern,
                recursive=self._recursive,
                modified_after=self._after,
                modified_before=self._before,
                ignore_missing=self.reading.ignore_missing,
                options=self.reading.storage,
            )
        except FileNotFoundError as error:
            raise FileNotFoundError(
                errno.ENOENT,
                "No such file or folder, or it is gone since the query was made; ignoreMissingFiles "
                "passes over it",
                error.filename or ", ".join(self._paths),
            ) from error
        for file in files:
            _check_plain(file)
        return files

    def partitions(self) -> list[InputPartition]:
        """Give the work of each task. Runs once a query, at the driver."""
        files = self.files()
        if not files:
            _log.warning(
                "%s: no file is read; names that begin with _ or . are passed over, and folders in "
                "folders unless recursiveFileLookup=true",
                ", ".join(self._paths),
            )
        return [
            InputPartition([(file.path, split) for file, split in task])
            for task in self.work(files)
        ]

    def work(self, files: Iterable[File]) -> Iterator[list[tuple[File, Split | None]]]:
        """Divide files among tasks: small ones are put together, large ones split."""
        pack_bytes = min(self._pack_bytes, self._split_bytes)
        packs = list(pack(files, pack_bytes, self._open_cost, self._least or _cores()))
        # Those to be split are alone.
        large = [some[0].path for some in packs if some[0].size > self._split_bytes]
        # Planning waits for the storage.
        with ThreadPoolExecutor(MAX_THREADS) as pool:
            planned = pool.map(lambda path: self.reading.splits(path, self._split_bytes), large)
            for packed in packs:
                if packed[0].size > self._split_bytes:
                    yield from ([(packed[0], split)] for split in next(planned))
                else:
                    yield [(file, None) for file in packed]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Give a partition's rows. Runs in a task."""
        # Without partitions Spark makes one of its own, of nothing.
        return self.reading.read(partition.value or ())


def _cores() -> int:
    """The cores that this process may use: Spark does not tell a source how many it has."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # a system without
        return os.cpu_count() or 1


def _check_plain(file: File) -> None:
    """Refuse what a task might wait for without end.

    Raises:
        OSError: It is a pipe, device or socket.
    """
    if not file.plain:
        raise OSError(
            errno.EINVAL,
            "a pipe, device or socket, which is not read in Spark; leave it out with pathGlobFilter",
            file.path,
        )


def absolute(path: str) -> str:
    """A path that means the same in every task, whatever folder it runs in.

    Raises:
        OptionError: The path is relative to a folder that Spark removes.
    """
    local = local_path(path)
    if local is None:
        return path
    _keep_out_of_session(local)
    return str(Path(local).absolute())


def real(path: str) -> str:
    """The one name of a path, as far as this machine can tell; patterns stay as they are.

    Example:
        >>> real("/logs/../logs/*.nq"), real("s3a://bucket/logs")
        ('/logs/*.nq', 's3://bucket/logs')
    """
    local = local_path(path)
    if local is None:
        return s3_as_s3(path)
    _keep_out_of_session(local)
    return str(Path(local).resolve())


def _keep_out_of_session(local: str) -> None:
    """Refuse a relative path where the process stands in a folder of its session's, as with Spark Connect."""
    folder = SparkFiles._root_directory if SparkFiles._is_running_on_worker else None
    if folder and not Path(local).is_absolute() and Path(folder).resolve() == Path.cwd():
        raise OptionError(
            f"the path {local} is relative, and this Spark works in a folder that goes with the "
            "session, as Spark Connect does; give the whole path"
        )


def s3_as_s3(url: str) -> str:
    """A URL by which Hadoop names an object of S3, as fsspec does."""
    return re.sub("^s3[an]://", "s3://", url)
