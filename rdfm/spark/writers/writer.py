"""Writes messages from Spark to part files, each a complete log, in any format.

In: rows with a column of quads or operations. Out: part files in a folder.
Cost: one batch of messages and one encoder per task.
Law: tasks write parts to the staging folder, and only the commit makes them visible. An encoder
rejects data that its format does not support, and names the option that allows it.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, cast

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    WriterCommitMessage,
)
from pyspark.sql.types import ArrayType, BinaryType, MapType, NullType, StringType, StructType

from rdfm import formats
from rdfm.errors import DecodeError, EncodeError, OptionError
from rdfm.formats.spec import key
from rdfm.logs import remedies
from rdfm.logs.write.keyed import SplitBy, default_max_open
from rdfm.logs.write.rotation import Rotation
from rdfm.logs.write.writer import LogWriter, create_log
from rdfm.spark.compat import StreamArrowWriter, arrow_schema, check_stream_writer
from rdfm.spark.paths import to_absolute, user_path
from rdfm.spark.schema import COLUMNS, LISTS, default_schema, detect_kind, find_name
from rdfm.spark.spark_options import (
    WRITE_ID,
    WRITING,
    Options,
    camel_case,
    compression,
    split_names,
    storage_options,
)
from rdfm.spark.spark_remedies import render_for_spark
from rdfm.spark.workers import DriverObject
from rdfm.spark.writers.commit import CommitTarget, FolderCommit, stream_job
from rdfm.spark.writers.row_splitter import RowSplitter, check_columns, long_name_error
from rdfm.spark.writers.single import Fragment, FragmentWriter, check_single, join_fragments
from rdfm.spark.writers.summary import REPORT, WriteSummary
from rdfm.storage import compression as compressions
from rdfm.storage.paths import is_url, local_target

if TYPE_CHECKING:
    from pyarrow import RecordBatch

    from rdfm.formats import FormatSpec
    from rdfm.message import AnyBatch

__all__ = ["LogSourceStreamWriter", "LogSourceWriter", "TaskParts", "WritePlan"]

_log = logging.getLogger("rdfm.spark")
# Sink options that Spark sets.
_SET_BY_SPARK = ("checkpointlocation", "queryname")


@dataclass(frozen=True)
class WritePlan(DriverObject):
    """The settings of a write, checked once in the driver and used by every task.

    Attributes:
        path: The folder, as a local path or a URL.
        format: The format's name.
        compression: The name of the compression, such as "gzip", or "none".
        suffix: The suffix of the parts' names.
        max_messages: Maximum number of messages in a part; 0 means no limit.
        columns: The columns that are written; the first is the list column.
        partition_columns: The columns whose values become folders.
        split_by: The message key that determines a folder.
        max_open: Maximum number of open files of a task.
        storage: fsspec options for the URL.
        options: Options of the encoder.
        single: Whether the driver joins the parts.
    """

    path: str
    format: str
    compression: str
    suffix: str
    max_messages: int
    columns: tuple[str, ...]
    partition_columns: tuple[str, ...]
    split_by: SplitBy | None
    max_open: int
    storage: Mapping[str, Any] = field(repr=False)
    options: Mapping[str, Any] = field(repr=False)
    single: bool

    def select_columns(self, rows: RecordBatch) -> RecordBatch:
        """Return the columns that are written, with rdfm's names of columns and fields."""
        names = rows.schema.names
        columns = [rows.column(find_name(name, names) or name) for name in self.columns]
        if pa.types.is_null(columns[0].type.value_type):  # lists without elements
            list_type = arrow_schema(default_schema(self.columns[:1], self.kind)).field(0).type
            columns[0] = columns[0].cast(list_type)
        else:
            columns[0] = _with_own_names(columns[0])
        columns += [rows.column(name) for name in self.partition_columns]
        return pa.RecordBatch.from_arrays(columns, [*self.columns, *self.partition_columns])

    @property
    def kind(self) -> Literal["messages", "patches"]:
        """The kind of the logs."""
        return "patches" if self.columns[0] == LISTS["patches"][0] else "messages"

    @classmethod
    def from_options(cls, options: Options, schema: StructType) -> WritePlan:
        """Create a plan from the options of a write and the columns of its rows.

        The caller must have taken the options that apply only to batch writes.

        Raises:
            OptionError: If an option or column is missing or invalid.
            UnknownFormatError: If the format in `to` does not exist.
            MissingExtraError: If the compression or the URL needs a package that is not installed.
        """
        for name in _SET_BY_SPARK:
            options.pop(name)
        path = options.pop_texts(["path"]).get("path")
        if path is None:
            raise OptionError(
                "no path is given; use save(path) or start(path); catalog tables pass no path "
                "to Python sources"
            )
        if not path:  # otherwise an overwrite would empty Spark's working folder
            raise OptionError("the path is empty; write '.' for the working folder")
        values = options.pop_values(WRITING)
        to, storage = values["to"], storage_options(values)
        if to is None:
            names = ", ".join(
                known_format.name
                for known_format in formats.all()
                if known_format.is_written and known_format.spec.kinds[0] in LISTS
            )
            raise OptionError(
                f"the option 'to' is required; set it to the format to write, one of {names}"
            )
        format = formats.find(to).spec
        columns = columns_of(schema, format)
        compression_name = compression(values["compression"]) or "none"
        encoder = options.pop_format_options([format], "write")
        by_column = tuple(split_names(values["partition_columns"]) or ())
        split_by = _create_split_by(values, encoder, compression_name)
        if split_by is not None and columns[0] != "quads":
            raise OptionError("splitBy applies to messages, but the rows are patches")
        by_column = tuple(find_name(name, schema.names) or name for name in by_column)
        check_columns(by_column, schema, split_by)
        if values["max_open"] is not None and not by_column and split_by is None:
            raise OptionError(
                "maxOpen limits the open files of a write with partitionColumns or splitBy; set one of them too"
            )
        # A log is created here, so that invalid values raise an error before a task begins.
        kind: Literal["messages", "patches"] = (
            "patches" if columns[0] == LISTS["patches"][0] else "messages"
        )
        create_log(
            io.BytesIO(), format.name, kind=kind, compression=compression_name, **encoder
        ).discard()
        if values["single"]:
            for name in ("max_records_per_file", "partition_columns", "split_by"):
                if values[name]:
                    raise OptionError(
                        f"single and {camel_case(name)} cannot be combined; remove one of them"
                    )
            check_single(format.name, encoder)
        path = user_path(path)
        local_target(path)  # rejects a URL with one slash
        path = to_absolute(path)
        if not is_url(path) and Path(path).exists() and not Path(path).is_dir():
            raise OptionError(f"{path} is a file; Spark writes a folder of part files")
        suffix = (format.suffixes or (f".{format.name}",))[0]
        return cls(
            path=path,
            format=format.name,
            compression=compression_name,
            suffix=suffix + compressions.compression_suffix(compression_name),
            max_messages=values["max_records_per_file"],
            columns=columns,
            partition_columns=by_column,
            split_by=split_by,
            max_open=values["max_open"] or default_max_open(compression_name),
            storage=storage,
            options=encoder,
            single=values["single"],
        )

    def create_target(self) -> CommitTarget:
        """Return the folder as a commit target."""
        return CommitTarget.from_path(self.path, self.storage)


@dataclass
class TaskParts(WriterCommitMessage):
    """The commit message of one task for the driver.

    Attributes:
        parts: The task's parts, as `ATTEMPT/NAME` in the staging folder of the job.
        job: The job.
        query: The id of the streaming query.
        messages: Number of messages in the parts.
        dropped: Numbers of dropped items that the format does not support, by name.
        notes: Notes for readers of the parts.
        fragments: The same parts, if the driver joins them.
    """

    parts: tuple[str, ...]
    job: str
    query: str | None = None
    messages: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    fragments: tuple[Fragment, ...] = ()


class LogSourceWriter(DataSourceArrowWriter):
    """A batch write: `df.write.format("rdfm").option("to", …).mode(…).save(folder)`."""

    def __init__(self, options: Mapping[str, str], schema: StructType, overwrite: bool) -> None:
        """Check the write, complete earlier commits, and open the job.

        Args:
            options: Spark's options.
            schema: The columns of the rows.
            overwrite: Whether the parts replace the files in the folder.

        Raises:
            OptionError, UnknownFormatError, MissingExtraError: As in `WritePlan.from_options`.
            OSError: If the folder cannot be written to.
        """
        parsed_options = Options(options)
        self.write_id = parsed_options.pop_values(WRITE_ID)["write_id"]
        if self.write_id == "":
            raise OptionError("the option writeId must not be empty")
        self.report = parsed_options.pop(REPORT)
        self.plan = WritePlan.from_options(parsed_options, schema)
        self.overwrite = overwrite
        # Pickled and sent to the tasks: the same for all tasks and for the commit.
        self.job = uuid.uuid4().hex
        target = self.plan.create_target()
        target.clean_up()
        self.is_done = self.write_id is not None and target.is_written(self.write_id)
        if self.is_done:
            self._log_already_written(target)
        else:
            target.begin(self.job)

    def write(self, iterator: Iterator[RecordBatch]) -> TaskParts:
        """Write the rows of one task."""
        if self.is_done:
            return TaskParts((), self.job)
        target = self.plan.create_target()

        def is_wanted() -> bool:
            return target.is_open(self.job)

        if not is_wanted():
            raise RuntimeError(
                f"the write to {self.plan.path} has ended, or this worker cannot see the driver's "
                "folder; use a path on storage that the driver and all workers share"
            )
        task = _WriteTask(self.plan, target, self.job, "part", self.job)
        return task.run(iterator, is_wanted)

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Make all parts visible."""
        if self.is_done:
            return
        target = self.plan.create_target()
        parts = self._join_fragments(target, messages) if self.plan.single else _parts(messages)
        is_complete = target.commit(
            FolderCommit(
                job=self.job,
                parts=parts,
                write_id=self.write_id,
            ),
            replaces=self.overwrite,
        )
        if is_complete:
            summary = WriteSummary.from_tasks(messages)._replace(files=len(parts))
            _log_remarks(self.plan, summary)
            if self.report is not None:
                target.report(self.report, summary.pack())
        else:
            self._log_already_written(target)

    def _join_fragments(
        self, target: CommitTarget, messages: list[WriterCommitMessage | None]
    ) -> tuple[str, ...]:
        """Join the parts of all tasks."""
        of_tasks = [message for message in messages if isinstance(message, TaskParts)]
        return join_fragments(
            target,
            self.job,
            [fragment for message in of_tasks for fragment in message.fragments],
            format=self.plan.format,
            compression=self.plan.compression,
            options=self.plan.options,
        )

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Remove the files that tasks wrote."""
        self.plan.create_target().drop(self.job)

    def _log_already_written(self, target: CommitTarget) -> None:
        _log.warning(
            "%s: nothing was written, since the write with the writeId %s was completed on %s; other rows "
            "need a different writeId",
            self.plan.path,
            self.write_id,
            target.completion_time(self.write_id or ""),
        )


class LogSourceStreamWriter(StreamArrowWriter):
    """A streaming sink: `df.writeStream.format("rdfm").option("to", …).start(folder)`.

    Spark creates one writer for the tasks of each batch, and another writer in a different process
    to commit the batch.
    """

    def __init__(self, options: Mapping[str, str], schema: StructType, overwrite: bool) -> None:
        """Check the write, and complete earlier commits.

        Args:
            options: Spark's options.
            schema: The columns of the rows.
            overwrite: Whether each batch would replace all earlier ones, as in the output mode
                "complete".

        Raises:
            OptionError, UnknownFormatError, MissingExtraError: As in `WritePlan.from_options`.
        """
        check_stream_writer()
        parsed_options = Options(options)
        if overwrite:
            raise OptionError(
                "rdfm supports only the output mode 'append' for streams, not 'complete'"
            )
        if key("writeId") in parsed_options.remaining:
            raise OptionError(
                "writeId applies only to batch writes; the checkpoint identifies the batches of a stream"
            )
        # Pickled and sent to the tasks. Another driver with the same batch has a separate staging
        # folder.
        self.attempt = uuid.uuid4().hex
        self.plan = WritePlan.from_options(parsed_options, schema)
        if self.plan.single:
            raise OptionError(
                "single applies only to batch writes, because each batch of a stream adds logs; omit it, and join the parts "
                "with rdfm convert"
            )
        target = self.plan.create_target()
        target.clean_up()
        target.prepare()

    def write(self, iterator: Iterator[RecordBatch]) -> TaskParts:
        """Write the rows of one task."""
        context = TaskContext.get()
        query = context.getLocalProperty("sql.streaming.queryId") if context else None
        number = context.getLocalProperty("streaming.sql.batchId") if context else None
        if query is None or number is None:
            raise RuntimeError(
                "Spark does not report the streaming query and batch of this task; write in foreachBatch "
                "with a writeId instead"
            )
        target = self.plan.create_target()
        job = stream_job(query, int(number), self.attempt)

        def is_wanted() -> bool:
            return target.last_batch(query) < int(number)

        if not is_wanted():  # done before the last driver died, so the commit would drop the parts
            return TaskParts((), job, query)
        # Sorted by name, the parts of a query are in the order of its batches.
        task = _WriteTask(self.plan, target, job, f"part-{int(number):05d}", query)
        return task.run(iterator, is_wanted, query)

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        """Make the parts of a batch visible, unless the batch was committed before."""
        parts = _parts(messages)
        target = self.plan.create_target()
        of_tasks = [message for message in messages if isinstance(message, TaskParts)]
        for message in of_tasks[:1]:
            if parts:
                commit = FolderCommit(
                    message.job, parts, marks=False, query=message.query, batch=batchId
                )
                target.commit(commit)
                _log_remarks(self.plan, WriteSummary.from_tasks(messages))
                if message.query is not None:
                    target.drop_older(message.query, batchId)
            else:
                target.drop(message.job)

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        """Remove the files of reported tasks. Other files are removed when the query continues."""
        target = self.plan.create_target()
        for job in {message.job for message in messages if isinstance(message, TaskParts)}:
            target.drop(job)


class _OpenPart:
    """A part that a task is writing."""

    def __init__(self, plan: WritePlan, target: CommitTarget, path: str) -> None:
        self._target = target
        # Indexes of messages count within a part, so its name makes them unique in the folder.
        self.source = path.rpartition("/")[2]
        self._file: BinaryIO = target.storage.open_new(path)
        self.log: LogWriter[Any] | FragmentWriter
        if plan.single:
            self.log = FragmentWriter(self._file, plan.format, plan.compression, plan.options)
        else:
            self.log = create_log(
                self._file,
                plan.format,
                kind=plan.kind,
                compression=plan.compression,
                **plan.options,
            )

    def end(self) -> None:
        self.log.close()
        self._target.storage.finish(self._file)

    def discard(self) -> None:
        """Close the part without completing it."""
        with contextlib.suppress(Exception):
            self.log.discard()
        with contextlib.suppress(Exception):
            self._file.close()


class _WriteTask:
    """Writes the parts of one attempt of a task."""

    def __init__(
        self, plan: WritePlan, target: CommitTarget, job: str, stem: str, suffix: str
    ) -> None:
        context = TaskContext.get()
        self.partition = context.partitionId() if context else 0
        self._plan, self._target, self._job = plan, target, job
        self._stem = f"{stem}-{self.partition:05d}-{suffix}"
        # Unique, even among attempts for the same partition.
        self._attempt = f"{self.partition:05d}-{os.urandom(6).hex()}"
        self._folder: str | None = None  # created for the first part
        self._names: list[str] = []
        self._splitter = RowSplitter(plan.partition_columns, plan.split_by)
        self._rotations: dict[str, Rotation] = {}
        # Open parts by their folder, the least recently used first.
        self._open: dict[str, _OpenPart] = {}
        self.messages = 0
        self.dropped: Counter[str] = Counter()
        self.notes: dict[str, None] = {}  # without duplicates, in order
        self._fragments: list[Fragment] = []

    def run(
        self, rows: Iterator[RecordBatch], is_wanted: Callable[[], bool], query: str | None = None
    ) -> TaskParts:
        """Write rows, and return the commit message. Raises the same errors as `write`."""
        parts = self.write(rows, is_wanted)
        return TaskParts(
            parts,
            self._job,
            query,
            self.messages,
            self.dropped,
            tuple(self.notes),
            tuple(self._fragments),
        )

    def write(self, rows: Iterator[RecordBatch], is_wanted: Callable[[], bool]) -> tuple[str, ...]:
        """Write rows in order.

        Raises:
            DecodeError: If a row is null or contains an invalid term; the text names the row in the
                partition, the quad and the term.
            EncodeError: If the format does not support a message; the text names the option that
                allows it.
            RuntimeError: If another attempt was faster and has been committed.
        """
        try:
            for folder, batch in self._batches(rows):
                self._add(folder, batch)
            for folder in list(self._open):
                self._end_part(folder)
            # The job may have ended in the meantime, in which case nothing else removes this
            # attempt.
            if self._names and not is_wanted():
                raise RuntimeError("this attempt finished after the write was committed or aborted")
        except (DecodeError, EncodeError) as error:
            self._discard()
            error.source = f"partition {self.partition} of the rows"
            error.renderer = render_for_spark
            remedies.add(error)
            raise
        except BaseException:
            self._discard()
            raise
        return tuple(f"{self._attempt}/{name}" for name in self._names)

    def _batches(self, rows: Iterator[RecordBatch]) -> Iterator[tuple[str, AnyBatch]]:
        first, name = 0, self._plan.columns[0]
        for record_batch in rows:
            columns = self._plan.select_columns(record_batch)
            lists = columns.column(name)
            if lists.null_count:
                # The null comes from mode PERMISSIVE. Writing an empty message would hide the
                # error.
                raise DecodeError(
                    f"expected {name}, found null; exclude such rows with `where {name} is not null`",
                    row=first + lists.is_null().index(True).as_py(),
                )
            yield from self._splitter.split(columns, first)
            first += columns.num_rows
        self.messages = first
        if first and (undeclared := self._splitter.undeclared()):
            raise OptionError(
                f"splitBy: no row declares the prefix {undeclared[0]}:; write the complete <IRI>"
            )
        for name, count in self._splitter.multiple_key_counts.items():
            if count:
                messages, verb = ("message", "has") if count == 1 else ("messages", "have")
                note = (
                    f"{count:,} {messages} {verb} several values for {name}; the first one is used"
                )
                self.notes[note] = None

    def _add(self, folder: str, batch: AnyBatch) -> None:
        rotation = self._rotations.get(folder)
        if rotation is None:
            rotation = self._rotations[folder] = Rotation(self._plan.max_messages or None)
        for part in rotation.split_batch(batch):
            open_part = self._open.pop(folder, None)
            if open_part is None:
                if len(self._open) >= self._plan.max_open:
                    self._end_part(next(iter(self._open)))
                open_part = self._begin_part(folder)
            self._open[folder] = open_part
            open_part.log.write_batch(part, open_part.source)
            if rotation.is_full(part):
                self._end_part(folder)

    def _begin_part(self, folder: str) -> _OpenPart:
        plan = self._plan
        if self._folder is None:
            self._folder = self._target.create_attempt(self._job, self._attempt)
        name = f"{self._stem}-c{len(self._names):03d}{plan.suffix}"
        if folder:
            try:
                self._target.storage.make_folder(f"{self._folder}/{folder}")
            except OSError as error:
                raise (long_name_error(folder, error) or error) from None
            name = f"{folder}/{name}"
        self._names.append(name)
        return _OpenPart(plan, self._target, f"{self._folder}/{name}")

    def _end_part(self, folder: str) -> None:
        open_part = self._open[folder]
        open_part.end()
        del self._open[folder]
        if isinstance(open_part.log, FragmentWriter):  # a single part
            self._fragments.append(open_part.log.fragment(f"{self._attempt}/{self._names[-1]}"))
        self.dropped.update(open_part.log.dropped)
        self.notes |= dict.fromkeys(open_part.log.notes)
        self._rotations[folder].end()

    def _discard(self) -> None:
        for open_part in self._open.values():
            open_part.discard()
        with contextlib.suppress(Exception):
            if self._folder is not None:
                self._target.drop_attempt(self._job, self._attempt)


def _create_split_by(
    values: Mapping[str, Any], encoder: Mapping[str, Any], compression: str
) -> SplitBy | None:
    """The message key that determines a folder.

    Raises:
        OptionError: If the key is invalid.
    """
    if values["split_by"] is None:
        return None
    try:
        split_by = SplitBy.from_options(
            values["split_by"], values["max_open"], encoder.get("prefixes"), compression
        )
        assert split_by is not None
        split_by.create_splitter()
    except OptionError as error:
        raise OptionError(str(error).replace("split_by", "splitBy")) from None
    return split_by


def columns_of(schema: StructType, format: FormatSpec) -> tuple[str, ...]:
    """Return the columns to write: quads or operations, and other columns of messages.

    Raises:
        OptionError: If there are neither quads nor operations, a column has the wrong type, or the
            format is for another kind of log.
    """
    if format.kinds[0] == "results":
        raise OptionError(
            f"{format.title} is for SPARQL results, which Spark cannot write; collect the rows and write them with "
            "rdfm.create_log"
        )
    kind = detect_kind(schema)
    column_names = ", ".join(schema.names) or "none"
    types: dict[str, Any] = {}  # by rdfm's names
    for name in (*(name for name, _ in LISTS.values()), "metadata", "namespaces"):
        if (found := find_name(name, schema.names)) is not None:
            types[name] = schema[found].dataType
    if kind is None:
        expected = " or ".join(
            f"a column {name} of type {type.simpleString()}"
            for list_kind, (name, type) in LISTS.items()
            if list_kind in format.kinds
        )
        raise OptionError(
            f"the rows need {expected}, with one message per row; their columns are {column_names}"
        )
    name, type = LISTS[kind]
    if not _is_list_of(types[name], type):
        optional = "graph" if kind == "messages" else "name and graph"
        raise OptionError(
            f"the column {name} must be of type {type.simpleString()} ({optional} may be omitted), not "
            f"{types[name].simpleString()}"
        )
    if kind not in format.kinds:
        raise OptionError(
            f"the column {name} contains {kind}, but {format.title} is for {' and '.join(format.kinds)}; use another "
            "format"
        )
    if kind != "messages":
        return (name,)
    # A column with such a name that is not a map is an ordinary column.
    maps = {name: type for name, type in types.items() if isinstance(type, MapType)}
    others = [name for name in ("metadata", "namespaces") if name in maps]
    for optional_column in others:
        if not _is_same_map(maps[optional_column], optional_column):
            raise OptionError(
                f"the column {optional_column} must be of type {COLUMNS[optional_column].simpleString()}, not "
                f"{maps[optional_column].simpleString()}; cast it, or drop it"
            )
    return (name, *others)


def _is_list_of(type: Any, expected: ArrayType) -> bool:
    """Whether a column is a list of messages or patches. Parts of it may be untyped, as SQL's NULL."""
    if isinstance(type, ArrayType) and isinstance(type.elementType, NullType):
        return True
    if not isinstance(type, ArrayType) or not isinstance(type.elementType, StructType):
        return False
    parts = {field.name.lower(): field.dataType for field in type.elementType.fields}
    if len(parts) != len(type.elementType.fields):  # names that differ only in case
        return False
    field_names = cast("StructType", expected.elementType).fieldNames()
    return all(
        isinstance(parts[name], (StringType, NullType))
        if name in parts
        else name in ("name", "graph")
        for name in field_names
    )


def _with_own_names(lists: pa.ListArray) -> pa.ListArray:
    """Return a list column with the names of its fields in lower case, as rdfm has them."""
    structs = lists.values
    names = [field.name for field in structs.type]
    own_names = [name.lower() for name in names]
    if names == own_names:
        return lists
    fields = [structs.field(index) for index in range(len(names))]
    renamed = pa.StructArray.from_arrays(fields, own_names, mask=structs.is_null())
    return pa.ListArray.from_arrays(lists.offsets, renamed)


def _is_same_map(type: MapType, name: str) -> bool:
    expected = COLUMNS[name]
    value = BinaryType if expected == COLUMNS["metadata"] else StringType
    return isinstance(type.keyType, StringType) and isinstance(type.valueType, value)


def _parts(messages: list[WriterCommitMessage | None]) -> tuple[str, ...]:
    return tuple(
        part for message in messages if isinstance(message, TaskParts) for part in message.parts
    )


def _log_remarks(plan: WritePlan, summary: WriteSummary) -> None:
    _log.info("%s: wrote %d messages in %d files", plan.path, summary.messages, summary.files)
    if summary.dropped:
        counts = ", ".join(f"{name} {count}" for name, count in sorted(summary.dropped.items()))
        _log.warning(
            "%s: dropped data that %s does not support: %s", plan.path, plan.format, counts
        )
    for note in summary.notes:
        _log.warning("%s: %s", plan.path, note)
