"""Writing messages from Spark: a log a part, in any format.

In: rows with a column of quads, or of operations. Out: part files in a folder, every one a whole log.
Cost: one batch of messages and one encoder a task. Law: a part is staged by its task and appears by the
commit alone; what a format cannot hold is refused by its encoder, which names the option.
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
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from pyspark import TaskContext
from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)
from pyspark.sql.types import ArrayType, BinaryType, MapType, StringType, StructType

from rdfm import formats
from rdfm._core import batches_from_arrow
from rdfm.errors import DecodeError, EncodeError, OptionError
from rdfm.formats.spec import key
from rdfm.logs import remedies
from rdfm.logs.rotation import Rotation
from rdfm.logs.writer import LogWriter, create_log
from rdfm.spark.commit import Commit, Target, stream_job
from rdfm.spark.options import WRITE_ID, WRITING, Options, compression
from rdfm.spark.reader import absolute
from rdfm.spark.remedies import in_spark
from rdfm.spark.schema import COLUMNS, LISTS, kind_of
from rdfm.spark.workers import FromDriver
from rdfm.storage import compression as compressions
from rdfm.storage.paths import is_url, local_target

if TYPE_CHECKING:
    from pyarrow import RecordBatch

    from rdfm.formats import FormatSpec
    from rdfm.message import AnyBatch

__all__ = ["LogSourceStreamWriter", "LogSourceWriter", "Parts", "Plan"]

_log = logging.getLogger("rdfm.spark")
# Set by Spark itself in the options of a sink.
_OF_SPARK = ("checkpointlocation", "queryname")


@dataclass(frozen=True)
class Plan(FromDriver):
    """What is written and how: made once in the driver, checked there, and used by every task.

    Attributes:
        path: The folder, as a path of this machine or a URL.
        format: The format's name.
        compression: "gzip" and so on; "none".
        suffix: The ending of the parts' names.
        max_messages: Most messages of a part; 0 for any number.
        columns: The columns of the rows that are used; the first is that of the lists.
        storage: fsspec's options for the URL.
        options: The encoder's options.
    """

    path: str
    format: str
    compression: str
    suffix: str
    max_messages: int
    columns: tuple[str, ...]
    storage: Mapping[str, Any] = field(repr=False)
    options: Mapping[str, Any] = field(repr=False)

    @classmethod
    def of(cls, options: Options, schema: StructType) -> Plan:
        """Take a write's options, all but those of its kind, and the columns of its rows.

        Raises:
            OptionError: An option or column is missing or does not fit.
            UnknownFormatError: No format has the name in `to`.
            MissingExtraError: The compression or the URL needs a package that is not installed.
        """
        for name in _OF_SPARK:
            options.pop(name)
        path = options.texts(["path"]).get("path")
        if path is None:
            raise OptionError(
                "there is no path: save(path) or start(path) needs one; a table of the catalog passes "
                "none to Python sources"
            )
        if not path:  # an overwrite would empty the folder that Spark was started in
            raise OptionError("the path is an empty text; a folder of this machine is '.' at least")
        values = options.take(WRITING)
        to, storage = values["to"], values["storage_options"] or {}
        if to is None:
            names = ", ".join(formats.names())
            raise OptionError(f"the option to says the format to write, one of {names}")
        format = formats.find(to).spec
        columns = columns_of(schema, format)
        packed = compression(values["compression"]) or "none"
        encoder = options.of_formats([format], "write")
        # Made once here, so that a value that does not fit is told before a task begins.
        create_log(io.BytesIO(), format.name, compression=packed, **encoder).discard()
        local_target(path)  # a URL with one slash is no folder to make
        path = absolute(path)
        if not is_url(path) and Path(path).exists() and not Path(path).is_dir():
            raise OptionError(f"{path} is a file; Spark writes a folder of part files")
        suffix = (format.suffixes or (f".{format.name}",))[0]
        return cls(
            path=path,
            format=format.name,
            compression=packed,
            suffix=suffix + compressions.suffix_of(packed),
            max_messages=values["max_records_per_file"],
            columns=columns,
            storage=storage,
            options=encoder,
        )

    def target(self) -> Target:
        """Give the folder."""
        return Target.of(self.path, self.storage)


@dataclass
class Parts(WriterCommitMessage):
    """What one task tells the driver.

    Attributes:
        parts: Its parts, as `ATTEMPT/NAME` in the staging of its job.
        job: That job.
        query: The id of the streaming query.
        dropped: What the format could not hold and was left out, by name and count.
        notes: What whoever reads the parts should know.
    """

    parts: tuple[str, ...]
    job: str
    query: str | None = None
    dropped: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class LogSourceWriter(DataSourceArrowWriter):
    """A batch write: `df.write.format("rdfm").option("to", …).mode(…).save(folder)`."""

    def __init__(self, options: Mapping[str, str], schema: StructType, overwrite: bool) -> None:
        """Check everything that can be checked, finish what was cut short, and open the job.

        Args:
            options: Spark's.
            schema: The columns of the rows.
            overwrite: Whether what is in the folder goes when the parts come.

        Raises:
            OptionError, UnknownFormatError, MissingExtraError: As in `Plan.of`.
            OSError: The folder cannot be written to.
        """
        given = Options(options)
        self.write_id = given.take(WRITE_ID)["write_id"]
        if self.write_id == "":
            raise OptionError("the option writeId is a name for this write, not an empty text")
        self.plan = Plan.of(given, schema)
        self.overwrite = overwrite
        # Pickled to the tasks: the same for all of them and for the commit.
        self.job = uuid.uuid4().hex
        target = self.plan.target()
        target.clean()
        self.is_done = self.write_id is not None and target.is_written(self.write_id)
        if self.is_done:
            self._tell_done(target)
        else:
            target.begin(self.job)

    def write(self, iterator: Iterator[RecordBatch]) -> Parts:
        """Write the rows of one task."""
        if self.is_done:
            return Parts((), self.job)
        target = self.plan.target()

        def is_wanted() -> bool:
            return target.is_open(self.job)

        if not is_wanted():
            raise RuntimeError(
                f"the write to {self.plan.path} is over, or this worker does not see the driver's "
                "folder: give a path of storage that all share"
            )
        task = _Task(self.plan, target, self.job, "part", self.job)
        return Parts(
            task.write(iterator, is_wanted), self.job, None, task.dropped, tuple(task.notes)
        )

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Make all parts appear."""
        if self.is_done:
            return
        target = self.plan.target()
        done = target.commit(
            Commit(
                job=self.job,
                parts=_parts(messages),
                write_id=self.write_id,
            ),
            replaces=self.overwrite,
        )
        if done:
            _tell_remarks(self.plan, messages)
        else:
            self._tell_done(target)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Remove what tasks wrote."""
        self.plan.target().drop(self.job)

    def _tell_done(self, target: Target) -> None:
        _log.warning(
            "%s: nothing is written, since the write with the writeId %s was done on %s; other rows "
            "need another writeId",
            self.plan.path,
            self.write_id,
            target.written_at(self.write_id or ""),
        )


class LogSourceStreamWriter(DataSourceStreamArrowWriter):
    """A streaming sink: `df.writeStream.format("rdfm").option("to", …).start(folder)`.

    Spark makes one for the tasks of each batch and another one to commit it, in another process.
    """

    def __init__(self, options: Mapping[str, str], schema: StructType, overwrite: bool) -> None:
        """Check everything that can be checked, and finish what was cut short.

        Args:
            options: Spark's.
            schema: The columns of the rows.
            overwrite: Whether each batch would replace all before, as in the output mode "complete".

        Raises:
            OptionError, UnknownFormatError, MissingExtraError: As in `Plan.of`.
        """
        given = Options(options)
        if overwrite:
            raise OptionError("rdfm streams in the output mode 'append' only, not 'complete'")
        if key("writeId") in given.rest:
            raise OptionError(
                "writeId is for batch writes; a stream knows its batches by its checkpoint"
            )
        # Pickled to the tasks: another driver at the same batch, dead or alive, has its own staging.
        self.attempt = uuid.uuid4().hex
        self.plan = Plan.of(given, schema)
        target = self.plan.target()
        target.clean()
        target.prepare()

    def write(self, iterator: Iterator[RecordBatch]) -> Parts:
        """Write the rows of one task."""
        context = TaskContext.get()
        query = context.getLocalProperty("sql.streaming.queryId") if context else None
        number = context.getLocalProperty("streaming.sql.batchId") if context else None
        if query is None or number is None:
            raise RuntimeError(
                "Spark does not tell the streaming query and batch of this task; write in foreachBatch "
                "with a writeId instead"
            )
        target = self.plan.target()
        job = stream_job(query, int(number), self.attempt)

        def is_wanted() -> bool:
            return target.last_batch(query) < int(number)

        if not is_wanted():  # done before the last driver died: the commit drops it anyway
            return Parts((), job, query)
        # By their names the parts of a query stand in the order of its batches.
        task = _Task(self.plan, target, job, f"part-{int(number):05d}", query)
        return Parts(task.write(iterator, is_wanted), job, query, task.dropped, tuple(task.notes))

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        """Make the parts of a batch appear, unless they did before."""
        parts = _parts(messages)
        target = self.plan.target()
        told = [message for message in messages if isinstance(message, Parts)]
        for message in told[:1]:
            if parts:
                commit = Commit(message.job, parts, marks=False, query=message.query, batch=batchId)
                target.commit(commit)
                _tell_remarks(self.plan, messages)
                if message.query is not None:
                    target.drop_older(message.query, batchId)
            else:
                target.drop(message.job)

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        """Remove what tasks wrote, as far as they told where; the rest goes when the query goes on."""
        target = self.plan.target()
        for job in {message.job for message in messages if isinstance(message, Parts)}:
            target.drop(job)


class _Task:
    """The parts that one attempt of a task writes."""

    def __init__(self, plan: Plan, target: Target, job: str, stem: str, behind: str) -> None:
        context = TaskContext.get()
        self.partition = context.partitionId() if context else 0
        self._plan, self._target, self._job = plan, target, job
        self._stem = f"{stem}-{self.partition:05d}-{behind}"
        # Nobody else's, another attempt at the same partition included.
        self._attempt = f"{self.partition:05d}-{os.urandom(6).hex()}"
        self._folder: str | None = None  # made for the first part
        self._names: list[str] = []
        self._rotation = Rotation(plan.max_messages or None)
        self.dropped: Counter[str] = Counter()
        self.notes: dict[str, None] = {}  # each once, in order
        self._log: LogWriter | None = None
        self._file: BinaryIO | None = None

    def write(self, rows: Iterator[RecordBatch], is_wanted: Callable[[], bool]) -> tuple[str, ...]:
        """Write rows, in their order.

        Raises:
            DecodeError: A row holds null, or what is no term; says which row of the partition, quad
                and term.
            EncodeError: The format cannot hold a message; the text names the option that allows it.
            RuntimeError: Another attempt was faster and is committed.
        """
        try:
            for batch in self._batches(rows):
                self._add(batch)
            self._end_part()
            # The job's end may have come between: then nobody else removes this attempt.
            if self._names and not is_wanted():
                raise RuntimeError("this attempt came too late: the write is over")
        except (DecodeError, EncodeError) as error:
            self._discard()
            error.source = f"partition {self.partition} of the rows"
            error.renderer = in_spark
            remedies.add(error)
            raise
        except BaseException:
            self._discard()
            raise
        return tuple(f"{self._attempt}/{name}" for name in self._names)

    def _batches(self, rows: Iterator[RecordBatch]) -> Iterator[AnyBatch]:
        first, name = 0, self._plan.columns[0]
        for some in rows:
            used = some.select(list(self._plan.columns))
            lists = used.column(name)
            if lists.null_count:
                # Read or decoded with the mode PERMISSIVE: an empty message would hide the error.
                raise DecodeError(
                    f"expected {name}, found null; write `where {name} is not null` to leave such rows out",
                    row=first + lists.is_null().index(True).as_py(),
                )
            yield from batches_from_arrow(used, first_index=first)
            first += used.num_rows

    def _add(self, batch: AnyBatch) -> None:
        for part in self._rotation.parts(batch):
            (self._log or self._begin_part()).write_batch(part)
            if self._rotation.is_full(part):
                self._end_part()

    def _begin_part(self) -> LogWriter:
        plan = self._plan
        if self._folder is None:
            self._folder = self._target.attempt(self._job, self._attempt)
        name = f"{self._stem}-c{len(self._names):03d}{plan.suffix}"
        self._file = self._target.storage.open_new(f"{self._folder}/{name}")
        self._names.append(name)
        self._log = create_log(
            self._file, plan.format, compression=plan.compression, **plan.options
        )
        return self._log

    def _end_part(self) -> None:
        if self._log is not None and self._file is not None:
            self._log.close()
            self._target.storage.finish(self._file)
            self.dropped.update(self._log.dropped)
            self.notes |= dict.fromkeys(self._log.notes)
            self._log = self._file = None
            self._rotation.end()

    def _discard(self) -> None:
        with contextlib.suppress(Exception):
            if self._log is not None:
                self._log.discard()
        with contextlib.suppress(Exception):
            if self._file is not None:
                self._file.close()
        with contextlib.suppress(Exception):
            if self._folder is not None:
                self._target.drop_attempt(self._job, self._attempt)


def columns_of(schema: StructType, format: FormatSpec) -> tuple[str, ...]:
    """Give the columns of rows that are used: the quads or operations, and what else belongs to a message.

    Raises:
        OptionError: There are neither, or not such, or a map that would be lost in silence; or the format is of
            another kind of log.
    """
    if format.kinds[0] == "results":
        raise OptionError(
            f"SPARQL results are not written from Spark, and {format.title} holds nothing else; collect the rows and "
            "write them with rdfm.create_results"
        )
    types = {field.name: field.dataType for field in schema.fields}
    kind = kind_of(schema)
    listed_here = ", ".join(types) or "none"
    if kind is None or LISTS[kind][0] not in types:
        wanted = " or ".join(
            f"a column {name} of the type {type.simpleString()}"
            for of, (name, type) in LISTS.items()
            if of in format.kinds
        )
        raise OptionError(
            f"the rows need {wanted}, a message a row; their columns are {listed_here}"
        )
    name, type = LISTS[kind]
    if not _are_lists(types[name], type):
        left_out = "graph" if kind == "messages" else "name and graph"
        raise OptionError(
            f"the rows need a column {name} of the type {type.simpleString()} ({left_out} may be left out); "
            f"here it is {types[name].simpleString()}"
        )
    if kind not in format.kinds:
        raise OptionError(
            f"the column {name} holds {kind}, and {format.title} {' and '.join(format.kinds)}; take another format"
        )
    if kind != "messages":
        return (name,)
    # Of a type that is no map it is a column like any other, which only has the name.
    maps = {name: type for name, type in types.items() if isinstance(type, MapType)}
    others = [name for name in ("metadata", "namespaces") if name in maps]
    for other in others:
        if not _is_same_map(maps[other], other):
            raise OptionError(
                f"the column {other} is {COLUMNS[other].simpleString()}, and here it is "
                f"{maps[other].simpleString()}; cast it to be written, or drop it"
            )
    return (name, *others)


def _are_lists(found: Any, wanted: ArrayType) -> bool:
    if not isinstance(found, ArrayType) or not isinstance(found.elementType, StructType):
        return False
    parts = {field.name: field.dataType for field in found.elementType.fields}
    known = cast("StructType", wanted.elementType).fieldNames()
    return all(
        isinstance(parts[name], StringType) if name in parts else name in ("name", "graph")
        for name in known
    )


def _is_same_map(found: MapType, name: str) -> bool:
    wanted = COLUMNS[name]
    value = BinaryType if wanted == COLUMNS["metadata"] else StringType
    return isinstance(found.keyType, StringType) and isinstance(found.valueType, value)


def _parts(messages: list[WriterCommitMessage | None]) -> tuple[str, ...]:
    return tuple(
        part for message in messages if isinstance(message, Parts) for part in message.parts
    )


def _tell_remarks(plan: Plan, messages: list[WriterCommitMessage | None]) -> None:
    dropped: Counter[str] = Counter()
    notes: dict[str, None] = {}
    for message in messages:
        if isinstance(message, Parts):
            dropped.update(message.dropped)
            notes |= dict.fromkeys(message.notes)
    if dropped:
        counts = ", ".join(f"{name} {count}" for name, count in sorted(dropped.items()))
        _log.warning("%s: left out what %s cannot hold: %s", plan.path, plan.format, counts)
    for note in notes:
        _log.warning("%s: %s", plan.path, note)
