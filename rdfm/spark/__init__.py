"""Message logs in Spark: one row per message or quad, in every format, for batch and streaming.

In: `spark.read.format("rdfm")`, `df.write.format("rdfm")`, the same for streams, and the functions
of this module. Out: implementations of Spark's interfaces, which use the rest of rdfm to decode and
encode.
Law: no module in this package names a format, except in the default of `resplit`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast
from weakref import WeakSet

from rdfm.errors import OptionError
from rdfm.formats.spec import key
from rdfm.spark.versions import check_pyspark
from rdfm.spark.workers import check_workers
from rdfm.spark.writers.summary import WriteSummary
from rdfm.storage.paths import describe_invalid_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from rdfm import Statistics
    from rdfm.spark import functions as functions

__all__ = [
    "WriteSummary",
    "count",
    "diff",
    "functions",
    "query",
    "read",
    "read_stream",
    "register",
    "remove_orphan_files",
    "resplit",
    "statistics",
    "validate",
    "write",
]


def __getattr__(name: str) -> ModuleType:
    """Import `rdfm.spark.functions` on first use, since it needs PySpark."""
    if name != "functions":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    check_pyspark()
    return import_module("rdfm.spark.functions")


Paths: TypeAlias = "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]"
Logs: TypeAlias = "DataFrame | Paths"


def register(spark: SparkSession) -> None:
    """Register `format("rdfm")` in a session that does not find it automatically.

    Spark finds it automatically if the package `pyspark_rdfm` is installed in the same environment.
    Call this function in each additional thread before it writes: Spark looks up the format of a
    write in the thread's active session, and a thread started in Python has none.

    Args:
        spark: A session; Spark Connect is supported.

    Raises:
        MissingExtraError: If PySpark is missing or too old, or the workers' Python lacks this
            version of rdfm.
    """
    check_pyspark()
    from pyspark_rdfm import DefaultSource
    from rdfm.spark.compat import activate, register_source

    if not _is_remote(spark):
        check_workers(spark)
    register_source(spark, DefaultSource)
    activate(spark)


# Spark warns if a source is registered twice.
_registered: WeakSet[SparkSession] = WeakSet()


def _register_once(spark: SparkSession) -> None:
    if spark not in _registered:
        register(spark)
        _registered.add(spark)


def read(
    spark: SparkSession,
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
    *,
    files: DataFrame | None = None,
    schema: StructType | str | None = None,
    columns: Sequence[str] | None = None,
    **options: Any,
) -> DataFrame:
    """Read logs into a DataFrame with one row per message or quad.

    This is equivalent to `spark.read.format("rdfm")`, but takes Python values and checks them
    immediately.

    Args:
        spark: A session; Spark Connect is supported.
        paths: Files, folders, globs or URLs.
        files: Instead of paths, a DataFrame that lists the logs, with the columns `path`, `length`
            and, if known, `modificationTime`, like those of Spark's `binaryFile` source. It may be
            streaming. The workers divide large files; `split_bytes`, `min_partitions` and
            `changed_files` apply.
        schema: The columns to return, as a schema or as DDL text. Defaults to source, byte_offset,
            quads and metadata; for patches, operations instead of quads; for results, the variables
            of the first file; with `rows="quads"`, source, message_index, subject, predicate,
            object and graph. Partition columns of folders come last. The byte_offset of rows from
            Parquet and Arrow is null: request message_index to identify them.
        columns: The names of the columns to return, with their standard types. Other columns are
            not computed.
        **options: Options of the reader and of the formats, as Python values, such as
            `rows="quads"`, `mode="PERMISSIVE"`, `lenient=True` or `split_bytes=1 << 26`. None means
            that an option is not set.

    Raises:
        OptionError: If an option is unknown, a value or the schema is invalid, or both or neither
            of `paths` and `files` are given.
        FileNotFoundError: If a path does not exist (with Spark Connect, the server reports this).
        UnknownFormatError: If the given format does not exist.
        MissingExtraError: If PySpark is missing or too old, or the workers' Python lacks this
            version of rdfm.

    Example:
        `rdfm.spark.read(spark, "logs/", columns=["byte_offset", "quads"])`
    """
    check_pyspark()
    from rdfm.spark.hadoop import add_hadoop_settings
    from rdfm.spark.readers.reader import LogSourceReader
    from rdfm.spark.spark_options import as_text

    if (files is None) == (paths is None):
        raise OptionError(
            "pass either paths, as in read(spark, paths), or files, a DataFrame that lists the logs"
        )
    text_options = as_text({**options, **_columns_option(columns)})
    if files is not None:
        from rdfm.spark.streams.listed import read_listed

        if not _is_remote(spark):
            check_workers(spark)
        return read_listed(spark, files, _parse_schema(schema), text_options)
    path_list = [_path_text(path) for path in _iter_paths(paths)]
    text_options = add_hadoop_settings(spark, path_list, text_options)
    reader = LogSourceReader(
        {**text_options, "paths": json.dumps(path_list)}, _parse_schema(schema)
    )
    if not _is_remote(spark):
        check_workers(spark)
        reader.check_paths()
        path_list = reader.paths  # Spark's own process may have a different working folder
        # Spark does not pass the number of cores to the source.
        if key("minPartitions") not in map(key, text_options):
            text_options["minPartitions"] = str(spark.sparkContext.defaultParallelism)
    _register_once(spark)
    return spark.read.format("rdfm").schema(reader.schema).options(**text_options).load(path_list)


def write(
    df: DataFrame,
    path: str | os.PathLike[str],
    to: str,
    *,
    mode: Literal["append", "overwrite", "errorifexists", "ignore"] = "append",
    **options: Any,
) -> WriteSummary | None:
    """Write messages to a folder of logs, and return a summary.

    This is equivalent to `df.write.format("rdfm")`, but takes Python values. It also works in
    threads that were started in Python.

    Args:
        df: Messages, with a column quads, or patches, with a column operations.
        path: The folder, as a path or URL.
        to: The format, such as "jelly".
        mode: `append` adds logs; `overwrite` replaces all files in the folder. If the folder
            exists, `errorifexists` raises an error and `ignore` writes nothing; the folder is
            checked once, before the write. Spark Connect supports only the first two.
        **options: Options of the writer and of the format, as Python values, such as
            `compression="zstd"`, `partition_columns=["day"]` or `write_id="2026-11-01"`. None means
            that an option is not set.

    Returns:
        The numbers of messages, files and dropped items, and notes; zeros if nothing was written
        because of `ignore`, or because the write with this `write_id` was already done. None with
        Spark Connect, because the client might not see the folder.

    Raises:
        OptionError: If an option, the mode or a column is invalid.
        FileExistsError: If the folder exists, with the mode `errorifexists`.
        MissingExtraError: If PySpark is missing or too old, or the workers' Python lacks this
            version of rdfm.
        PySparkException: If the write fails.

    Example:
        `rdfm.spark.write(df, "logs/", "jelly", compression="zstd").messages`
    """
    check_pyspark()
    import errno
    import uuid

    from rdfm.spark.compat import activate
    from rdfm.spark.hadoop import add_hadoop_settings
    from rdfm.spark.paths import to_absolute
    from rdfm.spark.spark_options import WRITE_MODE, Options, as_text
    from rdfm.spark.writers.commit import CommitTarget
    from rdfm.spark.writers.summary import REPORT
    from rdfm.spark.writers.writer import WritePlan

    spark = df.sparkSession
    checks_folder = WRITE_MODE.value(mode) in ("errorifexists", "ignore")
    if "partitionby" in map(key, options):
        raise OptionError("Spark cannot pass partitionBy to a Python source; use partition_columns")
    columns = options.get("partition_columns")
    if columns is not None and not isinstance(columns, str):
        options["partition_columns"] = ",".join(columns)
    folder = _path_text(path)
    text_options = add_hadoop_settings(spark, [folder], as_text({**options, "to": to}))
    _register_once(spark)
    if _is_remote(spark):
        if checks_folder:
            raise OptionError(
                f"mode={mode} cannot be used with Spark Connect, because the client might not see the folder; use "
                "append or overwrite"
            )
        df.write.format("rdfm").mode(mode).options(**text_options).save(folder)
        return None
    folder = to_absolute(folder)  # Spark's own process may have a different working folder
    name = uuid.uuid4().hex
    checked = {**text_options, "path": folder}
    checked = {option: value for option, value in checked.items() if key(option) != key("writeId")}
    plan = WritePlan.from_options(Options(checked), df.schema)
    target = CommitTarget.from_path(plan.path, plan.storage)
    if checks_folder:
        if target.storage.exists(target.folder):
            if mode == "ignore":
                return WriteSummary()
            raise FileExistsError(errno.EEXIST, "The folder already exists", folder)
        mode = "append"
    activate(spark)
    df.write.format("rdfm").mode(mode).options(**text_options, **{REPORT: name}).save(folder)
    report = target.take_report(name)
    return WriteSummary() if report is None else WriteSummary.unpack(report)


def query(
    query: str | os.PathLike[str],
    logs: DataFrame | str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    types: Mapping[str, str] | str | None = None,
    prefixes: Mapping[str, str] | None = None,
    union_graphs: bool = False,
    skip_empty: bool = False,
    timeout: float | None = None,
    max_rows: int | None = None,
    spark: SparkSession | None = None,
    **options: Any,
) -> DataFrame:
    """Run a SPARQL query on each message and return its results as rows.

    SELECT returns a row per solution: source, message_index, and a column for each variable, in
    order. CONSTRUCT returns a row per message, as `read` does. ASK returns a row per message:
    source, message_index, answer.

    Args:
        query: The text of a query, or the path or URL of a file that contains it.
        logs: Files, folders, globs or URLs, as in `read`; the reader then evaluates the query. Or a
            DataFrame, which may be streaming, with a column quads and optionally source,
            message_index and byte_offset.
        types: Types of SELECT columns by variable, such as
            `{"time": "dateTime", "value": "double"}`. Other columns contain terms as N-Triples.
        prefixes: Namespaces by prefix, which the query need not declare.
        union_graphs: Use the union of all graphs as the default graph.
        skip_empty: Omit messages for which CONSTRUCT returns no triples.
        timeout: Maximum time of the query for a message, in seconds.
        max_rows: Maximum number of solutions for a message.
        spark: A session; Spark Connect is supported. Defaults to the active one.
        **options: Options of `read`, if `logs` are paths.

    Raises:
        QueryError: If the query is invalid, is DESCRIBE or an update, or needs SERVICE.
        OptionError: If an option is invalid, or the logs are passed before the query.
        FileNotFoundError: If a path does not exist.
        MissingExtraError: If PySpark is missing or too old, or the workers' Python lacks this
            version of rdfm.

    Example:
        `rdfm.spark.query("SELECT ?s ?n { ?s <http://e/n> ?n }", "logs/", types={"n": "double"})`
    """
    check_pyspark()
    from rdfm.sparql.text import check_order, read_query_text

    check_order(query, logs)
    text, _, base = read_query_text(query)
    query_options = {
        "query": text,
        "base": base,
        "types": types,
        "prefixes": prefixes,
        "union_graphs": union_graphs or None,
        "skip_empty": skip_empty or None,
        "timeout": timeout,
        "max_rows": max_rows,
    }
    query_json = json.dumps(
        {name: value for name, value in query_options.items() if value is not None}
    )
    if hasattr(logs, "mapInArrow"):
        from rdfm.spark.queries.evaluation import query_rows

        _reject_options(options)
        return query_rows(cast("DataFrame", logs), query_json)
    return read(_session(spark), cast("str", logs), query=query_json, **options)


def read_stream(
    spark: SparkSession,
    folder: str | os.PathLike[str],
    *,
    schema: StructType | str | None = None,
    columns: Sequence[str] | None = None,
    **options: Any,
) -> DataFrame:
    """Read the existing and future logs of a folder as a stream, each once.

    Spark's file source finds the files. The query's checkpoint records which files were read, and
    Spark's options and triggers work as for Spark's own formats. Files must be complete when they
    appear, like those written by rdfm. `spark.readStream.format("rdfm")` finds the files itself and
    detects more problems.

    Args:
        spark: A session; Spark Connect is supported.
        folder: A folder or a glob, in any storage that both Spark and fsspec can access.
        schema: The columns to return, as in `read`.
        columns: The names of the columns to return, as in `read`.
        **options: Options of Spark's file source (`maxFilesPerTrigger`, `latestFirst` …) and of
            `read`, as Python values. Files that change after Spark planned the batch are an
            error, unless `changedFiles` is "read", its only value here. Spark itself skips files
            that were deleted before that.

    Raises:
        OptionError: If an option is unknown, or a value or the schema is invalid.
        UnknownFormatError: If the given format does not exist.
        MissingExtraError: If PySpark is missing or too old, or the workers' Python lacks this
            version of rdfm.

    Example:
        `rdfm.spark.read_stream(spark, "logs/", maxFilesPerTrigger=100).writeStream…`
    """
    check_pyspark()
    from rdfm.spark.hadoop import add_hadoop_settings
    from rdfm.spark.spark_options import as_text
    from rdfm.spark.streams import stream

    if not _is_remote(spark):
        check_workers(spark)
    text_options = as_text({**options, **_columns_option(columns)})
    text_options = add_hadoop_settings(spark, [_path_text(folder)], text_options)
    return stream.read_stream(spark, _path_text(folder), _parse_schema(schema), text_options)


def validate(
    logs: Logs,
    *,
    strict: bool = False,
    max_warnings: int = 20,
    shapes: str | os.PathLike[str] | None = None,
    spark: SparkSession | None = None,
    **options: Any,
) -> DataFrame:
    """Check logs like `rdfm.validate`, with one task per file, or check messages in a DataFrame.

    Args:
        logs: Files, folders, globs or URLs, as in `read`. Or a DataFrame with a column quads or
            operations, and optionally source, message_index and byte_offset: the terms of each
            row are checked.
        strict: Report all warnings, as errors.
        max_warnings: Number of warnings to return for each rule and file. An additional row counts
            the others.
        shapes: A file of SHACL shapes, readable by each worker.
        spark: A session; Spark Connect is supported. Defaults to the active one.
        **options: Options of `read` for finding and decoding files.

    Returns:
        A row for each finding: source, severity ("error" or "warning"), rule, text, message_index,
        byte_offset, line, column, frame and row.

    Raises:
        OptionError: If an option is invalid, or a DataFrame has no messages.
        FileNotFoundError: If a path does not exist.
        MissingExtraError: As in `read`.

    Example:
        `rdfm.spark.validate("logs/").where("severity = 'error'").show()`
    """
    check_pyspark()
    from rdfm.spark.checks import validate_logs, validate_rows

    if hasattr(logs, "mapInArrow"):
        row_options = {"strict": strict, "shapes": shapes} if strict or shapes else {}
        _reject_options({**row_options, **options})
        return validate_rows(cast("DataFrame", logs))
    return validate_logs(
        _session(spark),
        _path_list(logs),
        options,
        strict=strict,
        max_warnings=max_warnings,
        shapes=None if shapes is None else _path_text(shapes),
    )


def statistics(
    logs: Logs, *, top: int | None = 10, spark: SparkSession | None = None, **options: Any
) -> Statistics:
    """Return the combined statistics of all logs, like `rdfm.statistics` for one log.

    The counts of the tasks are merged in the driver. Exact numbers are the same as in a single
    process. Estimates, which are used above 65,536 distinct terms, may differ within their bounds.

    Args:
        logs: Files, folders, globs or URLs, as in `read`. Or a DataFrame with a column quads or
            operations.
        top: Number of names to return in each list, or None for all that are counted.
        spark: A session; Spark Connect is supported. Defaults to the active one.
        **options: Options of `read` for finding and decoding files.

    Returns:
        The statistics. A file with an error is counted up to that error, and `error` contains the
        first such error.

    Raises:
        OptionError: If an option is invalid, the logs are of several kinds, or a DataFrame has no
            messages.
        FileNotFoundError: If a path does not exist.
        MissingExtraError: As in `read`.

    Example:
        `rdfm.spark.statistics("logs/").predicates.counts`
    """
    check_pyspark()
    from rdfm.spark.checks import find_statistics, find_statistics_of_rows

    if hasattr(logs, "mapInArrow"):
        _reject_options(options)
        return find_statistics_of_rows(cast("DataFrame", logs), top)
    return find_statistics(_session(spark), _path_list(logs), options, top)


def count(logs: Paths, *, spark: SparkSession | None = None, **options: Any) -> int:
    """Return the number of messages, or of rows with `rows="quads"`, `filter` or `query`.

    Messages are counted without decoding them if the format can be read from the middle:
    uncompressed N-Triples and N-Quads with delimiters, and Jelly with restart marks. Invalid
    messages of such logs are counted too.

    Args:
        logs: Files, folders, globs or URLs, as in `read`.
        spark: A session; Spark Connect is supported. Defaults to the active one.
        **options: Options of `read`.

    Raises:
        OptionError: If an option is invalid.
        FileNotFoundError: If a path does not exist.
        MissingExtraError: As in `read`.

    Example:
        `rdfm.spark.count("logs/")`
    """
    check_pyspark()
    from rdfm.spark.counting import count_messages

    session = _session(spark)
    messages = count_messages(session, _path_list(logs), options)
    if messages is not None:
        return messages
    return read(session, cast("str", logs), **options).count()


def diff(
    a: Logs,
    b: Logs,
    *,
    metadata: bool = False,
    spark: SparkSession | None = None,
    **options: Any,
) -> DataFrame:
    """Find the messages that only one of two sides contains, regardless of their order.

    Messages are compared as datasets, up to blank node labels, using 128-bit hashes with a random
    key. Patches are compared with their labels and the order of their operations. Equal messages
    are matched one to one.

    Args:
        a: Files, folders, globs or URLs, as in `read`. Or a DataFrame with a column quads or
            operations, and optionally source, message_index and byte_offset.
        b: The other side, like `a`.
        metadata: Also compare the metadata of messages. Requires that both sides are paths.
        spark: A session; Spark Connect is supported. Defaults to the active one.
        **options: Options of `read` for finding and decoding files, on both sides.

    Returns:
        A row for each message that the other side lacks: side ("a" or "b"), source,
        message_index (of rows from Parquet and Arrow, otherwise null unless a DataFrame has it),
        byte_offset, and undecided, which is true if the blank nodes of the message are too
        symmetric to compare.

    Raises:
        OptionError: If an option is invalid, or a DataFrame has no messages.
        FileNotFoundError: If a path does not exist.
        MissingExtraError: As in `read`.

    Example:
        `rdfm.spark.diff("old/", "new/").groupBy("side").count().show()`
    """
    check_pyspark()
    from rdfm.spark.checks import diff_sides

    rows = [hasattr(side, "mapInArrow") for side in (a, b)]
    if all(rows):
        _reject_options(options)
    if any(rows) and metadata:
        raise OptionError("metadata can be compared only if both sides are paths")
    sides = [side if hasattr(side, "mapInArrow") else _path_list(side) for side in (a, b)]
    session = None if all(rows) else _session(spark)
    return diff_sides(sides, session, options, metadata=metadata)


def resplit(
    spark: SparkSession,
    paths: Paths,
    out: str | os.PathLike[str],
    *,
    to: str = "jelly",
    mode: Literal["append", "overwrite"] = "append",
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> None:
    """Rewrite large logs so that later reads can split them.

    This applies to compressed logs, and to Jelly logs from other writers. Each log is converted in
    one task, and becomes one log in the folder. Message order is kept. The logs appear together
    once all are complete, with the same guarantees as other writes.

    Args:
        spark: A session; Spark Connect is supported.
        paths: Files, folders, globs or URLs, as in `read`.
        out: The folder to write to, on storage that the driver and all workers share.
        to: A format that can be split: jelly, nt or nq.
        mode: "append", or "overwrite" to replace the files in the folder.
        storage_options: fsspec options, for URLs.
        **options: `format`, the format of the logs, and options of `rdfm.convert` such as
            `frames="message"` (which divides a flat Jelly log), `restart_bytes` or
            `max_message_bytes`.

    Raises:
        OptionError: If the format cannot be split, or an option is invalid.
        UnknownFormatError: If a format does not exist.
        FileNotFoundError: If a path does not exist.
        OSError: If the folder cannot be written to.
        MissingExtraError: As in `read`.

    Example:
        `rdfm.spark.resplit(spark, "dumps/*.jelly", "logs/")`
    """
    check_pyspark()
    from rdfm.spark.paths import to_absolute, user_path
    from rdfm.spark.resplitting import rewrite

    rewrite(
        spark,
        _path_list(paths),
        to_absolute(user_path(_path_text(out))),
        to=to,
        mode=mode,
        options=options,
        storage=storage_options,
    )


def _session(spark: SparkSession | None) -> SparkSession:
    """The given session, or the active one."""
    from pyspark.sql import SparkSession

    session = spark or SparkSession.getActiveSession()
    if session is None:
        raise OptionError("there is no active Spark session; pass one as spark")
    return session


def _reject_options(options: Mapping[str, Any]) -> None:
    if options:
        raise OptionError(
            f"the option {next(iter(options))} applies to reading logs, not to a DataFrame"
        )


def _path_list(logs: object) -> list[str]:
    return [_path_text(path) for path in _iter_paths(logs)]


def _is_remote(spark: SparkSession) -> bool:
    """Whether this is a Spark Connect session."""
    return type(spark).__module__.startswith("pyspark.sql.connect.")


def _columns_option(columns: Sequence[str] | None) -> dict[str, str]:
    """The option `columns`, if columns are given."""
    if columns is None:
        return {}
    if isinstance(columns, str) or not all(isinstance(name, str) for name in columns):
        raise OptionError(f"columns must be a list of names, not {describe_invalid_path(columns)}")
    return {"columns": ",".join(columns)}


def _iter_paths(paths: object) -> Iterable[object]:
    """One path or several, as an iterable."""
    if isinstance(paths, (str, bytes, os.PathLike)) or not isinstance(paths, Iterable):
        return [paths]
    return paths


def _path_text(value: object) -> str:
    """A path or URL as text."""
    path = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(path, str):
        raise OptionError(f"a path must be a string or a Path, not {describe_invalid_path(value)}")
    return path


def _parse_schema(schema: StructType | str | None) -> StructType | None:
    """A schema given as DDL text or as a type."""
    from pyspark.sql.types import DataType, StructType

    parsed = DataType.fromDDL(schema) if isinstance(schema, str) else schema
    if parsed is not None and not isinstance(parsed, StructType):
        description = (
            parsed.simpleString() if isinstance(parsed, DataType) else describe_invalid_path(parsed)
        )
        raise OptionError(f"the schema must have columns with types, but it is {description}")
    return parsed


def remove_orphan_files(
    path: str, *, untouched: float = 7 * 24 * 3600.0, options: Mapping[str, Any] | None = None
) -> list[str]:
    """Remove staging files of writes whose driver died before the commit.

    Readers never see such files. Every write removes files that have not been modified for a week.

    Args:
        path: The folder to which logs were written.
        untouched: Minimum age of the youngest file of such a write, in seconds. The value 0 removes
            all files; use it only while no write is in progress.
        options: fsspec options, for URLs.

    Returns:
        The names of the removed jobs.
    """
    from rdfm.spark.writers.commit import CommitTarget

    return CommitTarget.from_path(path, options).remove_orphan_files(untouched)
