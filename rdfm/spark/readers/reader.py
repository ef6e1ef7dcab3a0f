"""Spark's batch reader: finds the files of a query and splits them into tasks.

In: the options and the schema of a query. Out: partitions, and their rows (`rdfm.spark.readers.rows`).
Cost: one listing of the paths.
Law: partitions are in the order of the files, and so are the rows of a query that does not shuffle;
a path that does not exist is an error.
"""

from __future__ import annotations

import errno
import logging
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSourceReader, InputPartition

from rdfm.errors import OptionError
from rdfm.logs.read.plan import MAX_THREADS
from rdfm.spark.paths import to_absolute, to_canonical
from rdfm.spark.readers.folders import PartitionFilter, PartitionFolders, find_root
from rdfm.spark.readers.packing import OPEN_COST, PACK_BYTES, pack_files
from rdfm.spark.readers.rows import SparkReading
from rdfm.spark.spark_options import FILES, Options
from rdfm.spark.writers.commit import CommitTarget, find_settled, settle_around
from rdfm.storage.addresses import redact_url
from rdfm.storage.files import File, find_storage
from rdfm.storage.listing import find_matches
from rdfm.storage.paths import is_url
from rdfm.storage.pipes import find_descriptor

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

    from rdfm.logs.input.splits import Split

__all__ = ["LogSourceReader"]

_log = logging.getLogger("rdfm.spark")


class LogSourceReader(DataSourceReader):
    """Reads logs with one row per message, quad or solution.

    Files are opened only in tasks, with one exception: the driver opens the first file if only its
    content determines the kind of log.

    Attributes:
        reading: Settings for reading the logs.
    """

    def __init__(
        self,
        source_options: Mapping[str, str] | Options,
        schema: StructType | None = None,
        *,
        by_one_name: bool = False,
    ) -> None:
        """Check the options and the schema of a query.

        Args:
            source_options: The options. Options that an `Options` object has already returned are ignored.
            schema: The user's schema.
            by_one_name: Whether to resolve `..`, links and variants of S3 URLs, so that a file has
                one name, regardless of the spelling of its path.

        Raises:
            OptionError: If an option is unknown, or a value or the schema is invalid.
            UnknownFormatError: If the given format does not exist.
        """
        options = source_options if isinstance(source_options, Options) else Options(source_options)
        normalize = to_canonical if by_one_name else to_absolute
        self._paths = [normalize(path) for path in options.pop_paths()]
        values = options.pop_values(FILES)
        self._pattern = values["path_glob_filter"]
        self._recursive = values["recursive_file_lookup"]
        partitions = values["partitions"]
        self._partition_filter = None if partitions is None else PartitionFilter(partitions)
        self._has_partition_columns = not self._recursive and not by_one_name
        if self._partition_filter is not None and not self._has_partition_columns:
            raise OptionError(
                "the option partitions needs partition columns, which streams and recursiveFileLookup do not have"
            )
        after, before = values["modified_after"], values["modified_before"]
        self._after = None if after is None else after.timestamp()
        self._before = None if before is None else before.timestamp()
        self._split_bytes = values["split_bytes"] or sys.maxsize
        self._min_tasks = values["min_partitions"]
        # Streams do not inspect files before they read them.
        # Found when the columns were determined.
        self._file_list: list[File] | None = None
        self._folders: PartitionFolders | None = None
        self.reading = SparkReading.from_options(
            options,
            schema,
            None if by_one_name else self._first_path,
            self._find_folders if self._has_partition_columns else None,
        )
        if self.reading.errors_to is not None:
            self.check_not_read(self.reading.errors_to, "errorsTo")
        if self.reading.mode == "FAILFAST" and self.reading.ignore_corrupt:
            # An error ends its split, so the number of rows would depend on splitBytes.
            self._split_bytes = sys.maxsize

    def _first_path(self, reading: SparkReading) -> str | None:
        """The path of the first file that is not empty."""
        self.reading = reading
        return next((file.path for file in self._all_files() if file.size != 0), None)

    def _find_folders(self, reading: SparkReading) -> PartitionFolders:
        """The partition columns of all files."""
        self.reading = reading
        try:
            files = self._all_files()
        except FileNotFoundError:  # reported when the file is read
            files = []
        self._folders = PartitionFolders.from_files(files, self._roots())
        return self._folders

    def _all_files(self) -> list[File]:
        """The files of all partitions, listed once."""
        if self._file_list is None:
            self._file_list = self._find_files(whole=True)
        return self._file_list

    def _roots(self) -> list[str]:
        """The part of each path without partition columns; see `find_root`."""
        return [find_root(path) for path in self._paths]

    @property
    def paths(self) -> list[str]:
        """The paths, in a form that is independent of the working folder."""
        return self._paths

    @property
    def schema(self) -> StructType:
        """The columns of the rows."""
        return self.reading.schema

    def check_paths(self) -> None:
        """Check that the paths exist, without listing them.

        Raises:
            FileNotFoundError: If a path does not exist.
        """
        if self.reading.ignore_missing:
            return
        for path in self._paths:
            # The path may be part of a commit that is not complete.
            if not self._exists(path) and not (
                settle_around(path, self.reading.storage) and self._exists(path)
            ):
                raise FileNotFoundError(errno.ENOENT, "No such file or folder", path)

    def _exists(self, path: str) -> bool:
        storage, name = find_storage(path, self.reading.storage)
        return storage.exists(name) or bool(find_matches(storage, name))

    def check_not_read(self, folder: str, option: str) -> None:
        """Check that the files of a folder are not read as logs.

        Raises:
            OptionError: If the folder is read itself, or as a subfolder.
        """
        for path in self._paths:
            relative = f"{folder}/".removeprefix(f"{path.rstrip('/')}/")
            is_hidden = any(part.startswith(("_", ".")) for part in relative.split("/"))
            if relative != f"{folder}/" and (self._recursive or not relative) and not is_hidden:
                raise OptionError(
                    f"{option} is {folder}, whose files would be read as logs; use another "
                    "folder, or one whose name begins with _"
                )

    def find_files(self, *, whole: bool = True) -> list[File]:
        """Find the files.

        Args:
            whole: As in `find_settled`.

        Raises:
            FileNotFoundError: If a path does not exist.
            OSError: If a file is a pipe, device or socket.
            OptionError: If a partition column no longer exists, or the filter of partitions is
                invalid.
        """
        # Used once, so that a later call finds new files.
        files, folders = self._file_list, self._folders
        self._file_list = self._folders = None
        if files is None:
            files, folders = self._find_files(whole=whole), None
        if not self._has_partition_columns:
            return files
        folders = folders or PartitionFolders.from_files(files, self._roots())
        missing_names = [
            name for name in self.reading.partition_columns if name not in folders.types
        ]
        if files and missing_names:
            raise OptionError(
                f"the partition column {missing_names[0]} no longer exists; the partition columns are "
                f"{', '.join(folders.types) or '(none)'}"
            )
        if self._partition_filter is None:
            return files
        # Types from the query or, for columns that it does not read, from the folders.
        types = {**folders.types, **self.reading.partition_columns}
        self._partition_filter.check(types)
        return [file for file in files if self._partition_filter.accepts(file.path, types)]

    def _find_files(self, *, whole: bool) -> list[File]:
        try:
            files = find_settled(
                self._paths,
                whole=whole,
                pattern=self._pattern,
                recursive=self._recursive,
                partitions=self._has_partition_columns,
                modified_after=self._after,
                modified_before=self._before,
                ignore_missing=self.reading.ignore_missing,
                options=self.reading.storage,
            )
        except FileNotFoundError as error:
            raise FileNotFoundError(
                errno.ENOENT,
                "No such file or folder, or it was deleted after the query was planned; ignoreMissingFiles "
                "skips it",
                error.filename or ", ".join(self._paths),
            ) from error
        except Exception as error:
            # The classes of errors of missing credentials depend on fsspec's package.
            is_denied = isinstance(error, PermissionError) or "Credential" in type(error).__name__
            if is_denied and any(map(is_url, self._paths)):
                raise PermissionError(
                    errno.EACCES,
                    "No access, or no credentials; set storageOptions, because Hadoop's settings apply only to the functions "
                    "of rdfm.spark",
                    ", ".join(map(redact_url, self._paths)),
                ) from error
            raise
        for file in files:
            _check_plain(file)
        return files

    def partitions(self) -> list[InputPartition]:
        """Return the work of each task. Runs once per query, in the driver."""
        files = self.find_files()
        if not files:
            self._check_completed()
            self._check_subfolders()
            _log.warning(
                "%s: no files to read; names that begin with _ or . are skipped, and so are subfolders other than "
                "NAME=VALUE unless recursiveFileLookup=true",
                ", ".join(self._paths),
            )
        return [
            InputPartition([(file.path, split) for file, split in task])
            for task in self.plan_tasks(files)
        ]

    def _check_completed(self) -> None:
        """Check that an empty folder is not the result of a write that failed.

        Raises:
            FileNotFoundError: If no write to the folder was completed.
        """
        if self.reading.ignore_missing:
            return
        for path in self._paths:
            target = CommitTarget.from_path(path, self.reading.storage)
            if target.has_records() and not target.has_completed():
                raise FileNotFoundError(
                    errno.ENOENT,
                    "The folder has no logs, since no write to it was completed; set ignoreMissingFiles to read it as empty",
                    path,
                )

    def _check_subfolders(self) -> None:
        """Check that no folder contains only subfolders that are not read.

        Raises:
            OptionError: If there is such a folder.
        """
        if self.reading.ignore_missing:
            return
        for path in self._paths:
            storage, folder = find_storage(path, self.reading.storage)
            if storage.status(folder) is not None or not storage.exists(folder):
                continue
            hidden = ("_", ".")
            names = [name for name in storage.list_names(folder) if not name.startswith(hidden)]
            files = (Path(file.path).name for file in storage.list_files(folder))
            partitioned = any("=" in name for name in names)
            if names and not partitioned and all(name.startswith(hidden) for name in files):
                raise OptionError(
                    f"{path} contains only subfolders, such as {min(names)}; read a subfolder, or set "
                    "recursiveFileLookup=true to read all of them"
                )

    def plan_tasks(self, files: Iterable[File]) -> Iterator[list[tuple[File, Split | None]]]:
        """Distribute files among tasks: combine small ones and split large ones."""
        pack_bytes = min(PACK_BYTES, self._split_bytes)
        packs = list(pack_files(files, pack_bytes, OPEN_COST, self._min_tasks or _cores()))
        # A file that is split gets a separate pack.
        large = [
            pack_files[0].path for pack_files in packs if pack_files[0].size > self._split_bytes
        ]
        # Planning waits for the storage, so several files are planned in parallel.
        with ThreadPoolExecutor(MAX_THREADS) as pool:
            planned = pool.map(lambda path: self.reading.splits(path, self._split_bytes), large)
            for packed in packs:
                if packed[0].size > self._split_bytes:
                    yield from ([(packed[0], split)] for split in next(planned))
                else:
                    yield [(file, None) for file in packed]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Return the rows of a partition. Runs in a task."""
        # If there are no partitions, Spark creates an empty one.
        return self.reading.read(partition.value or ())


def _cores() -> int:
    """The number of cores available to this process. Spark does not pass its own number."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not available on this system
        return os.cpu_count() or 1


def _check_plain(file: File) -> None:
    """Reject files on which a task might wait forever.

    Raises:
        OSError: If a file is a pipe, device or socket.
    """
    if not file.plain or find_descriptor(file.path) is not None:
        raise OSError(
            errno.EINVAL,
            "a pipe, device or socket, which cannot be read in Spark; exclude it with pathGlobFilter",
            file.path,
        )
