"""Message logs in Spark: one message or quad a row, every format, batch and streaming.

In: `spark.read.format("rdfm")`, `df.write.format("rdfm")` and their streaming twins, or the functions
here. Out: Spark's contracts only; decoding and encoding are rdfm's own.
Law: no module here names a format.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakSet

from rdfm.errors import OptionError
from rdfm.formats.spec import key
from rdfm.spark.versions import check_pyspark
from rdfm.spark.workers import check_workers
from rdfm.storage.paths import no_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

__all__ = ["query", "read", "read_stream", "register", "remove_abandoned"]


def register(spark: SparkSession) -> None:
    """Make `format("rdfm")` known to a session that does not find it by itself.

    Spark finds it without this where the package `pyspark_rdfm` is installed beside PySpark. A
    thread other than the session's own calls this before it writes: Spark looks for the format of a
    write in the thread's active session, and a thread started in Python has none.

    Args:
        spark: A session, of Spark Connect too.

    Raises:
        MissingExtraError: PySpark is missing or too old, or the workers' Python lacks this rdfm.
    """
    check_pyspark()
    from pyspark_rdfm import DefaultSource

    if not _is_remote(spark):
        check_workers(spark)
    spark.dataSource.register(DefaultSource)
    if not _is_remote(spark):
        jvm: Any = spark._jvm
        jvm.org.apache.spark.sql.SparkSession.setActiveSession(spark._jsparkSession)


# Spark warns of a source that is registered again.
_registered: WeakSet[SparkSession] = WeakSet()


def _register_once(spark: SparkSession) -> None:
    if spark not in _registered:
        register(spark)
        _registered.add(spark)


def read(
    spark: SparkSession,
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    schema: StructType | str | None = None,
    columns: Sequence[str] | None = None,
    **options: Any,
) -> DataFrame:
    """Read logs into a DataFrame, one message or quad a row: `spark.read.format("rdfm")`, checked at once.

    Args:
        spark: A session, of Spark Connect too.
        paths: Files, folders, globs or URLs.
        schema: The columns wanted, as a schema or as text; by default source, offset, quads, metadata;
            of patches operations for quads, of results one for each variable of the first file; with `rows="quads"` source,
            message, subject, predicate, object, graph.
        columns: The columns wanted, by name, with the types that they have: only these are made.
        **options: Those of the reader and of the formats, with Python's values, such as `rows="quads"`,
            `mode="PERMISSIVE"`, `lenient=True`, `split_bytes=1 << 26`; None leaves one out.

    Raises:
        OptionError: An option is unknown, or a value or the schema does not fit.
        FileNotFoundError: A path is not there (with Spark Connect the server says so).
        UnknownFormatError: No format has the name that was given.
        MissingExtraError: PySpark is missing or too old, or the workers' Python lacks this rdfm.

    Example:
        `rdfm.spark.read(spark, "logs/", columns=["offset", "position"])`
    """
    check_pyspark()
    from rdfm.spark.options import as_text
    from rdfm.spark.reader import LogSourceReader

    listed = [_path(path) for path in _each(paths)]
    given = as_text({**options, **_named(columns)})
    reader = LogSourceReader({**given, "paths": json.dumps(listed)}, _schema(schema))
    if not _is_remote(spark):
        check_workers(spark)
        reader.check_paths()
        listed = reader.paths  # Spark's own process may have begun in another folder
        # The source itself is not told how many cores there are.
        if key("minPartitions") not in map(key, given):
            given["minPartitions"] = str(spark.sparkContext.defaultParallelism)
    _register_once(spark)
    return spark.read.format("rdfm").schema(reader.schema).options(**given).load(listed)


def query(
    logs: DataFrame | str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    query: str | os.PathLike[str],
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
    """Ask a SPARQL query of each message; the rows are its solutions.

    Of SELECT a row is a solution: source and message (its index), then a column for each variable, in order. Of CONSTRUCT
    it is a message, as in `read`. Of ASK it is the answer of a message: source, message, holds.

    Args:
        logs: Files, folders, globs or URLs, as in `read`: the query is evaluated in the reader. Or a DataFrame with a
            column quads, and source and offset if they are there, a stream's too.
        query: The text of a query, or the path or URL of a file with one.
        types: Types of columns of SELECT by the names of variables, such as `{"time": "dateTime", "value": "double"}`;
            others hold terms as N-Triples.
        prefixes: Names and IRIs of namespaces that the query need not declare.
        union_graphs: The default graph of the query is all graphs together.
        skip_empty: Leave out messages for which CONSTRUCT makes no triple.
        timeout: Seconds that the query may take for a message.
        max_rows: Solutions that a message may have.
        spark: A session, of Spark Connect too; by default the active one.
        **options: Those of `read`, where logs are read.

    Raises:
        QueryError: The query is none; or it is DESCRIBE, an update, or needs SERVICE.
        OptionError: An option does not fit.
        FileNotFoundError: A path is not there.
        MissingExtraError: PySpark is missing or too old, or the workers' Python lacks this rdfm.

    Example:
        `rdfm.spark.query("logs/", "SELECT ?s ?n { ?s <http://e/n> ?n }", types={"n": "double"})`
    """
    check_pyspark()
    from pyspark.sql import SparkSession

    from rdfm.sparql.text import text_of

    text, _, base = text_of(query)
    asked = {
        "query": text,
        "base": base,
        "types": types,
        "prefixes": prefixes,
        "union_graphs": union_graphs or None,
        "skip_empty": skip_empty or None,
        "timeout": timeout,
        "max_rows": max_rows,
    }
    given = json.dumps({name: value for name, value in asked.items() if value is not None})
    if hasattr(logs, "mapInArrow"):
        from rdfm.spark.querying import query_rows

        if options:
            raise OptionError(
                f"the option {next(iter(options))} is for logs, and a DataFrame is read"
            )
        return query_rows(cast("DataFrame", logs), given)
    session = spark or SparkSession.getActiveSession()
    if session is None:
        raise OptionError("there is no session of Spark; give one as spark")
    return read(session, cast("str", logs), query=given, **options)


def read_stream(
    spark: SparkSession,
    folder: str | os.PathLike[str],
    *,
    schema: StructType | str | None = None,
    columns: Sequence[str] | None = None,
    **options: Any,
) -> DataFrame:
    """Read the logs of a folder as a stream: those that are there and those that come, each once.

    Spark's own file source finds the files: the query's checkpoint holds which were read, and Spark's
    options and triggers work as for Spark's own formats. Files must appear whole, as those of every
    writer of rdfm do. `spark.readStream.format("rdfm")` finds the files itself and notices more.

    Args:
        spark: A session, of Spark Connect too.
        folder: A folder or a glob, in any storage that both Spark and fsspec reach.
        schema: The columns wanted, as in `read`.
        columns: The columns wanted by name, as in `read`.
        **options: Those of Spark's file source (`maxFilesPerTrigger`, `latestFirst` …) and those of
            `read`, with Python's values; and `changedFiles`: "error", "skip" or "read", for files
            that changed since the batch was planned.

    Raises:
        OptionError: An option is unknown, or a value or the schema does not fit.
        UnknownFormatError: No format has the name that was given.
        MissingExtraError: PySpark is missing or too old, or the workers' Python lacks this rdfm.

    Example:
        `rdfm.spark.read_stream(spark, "logs/", maxFilesPerTrigger=100).writeStream…`
    """
    check_pyspark()
    from rdfm.spark import stream
    from rdfm.spark.options import as_text

    if not _is_remote(spark):
        check_workers(spark)
    given = as_text({**options, **_named(columns)})
    return stream.read_stream(spark, _path(folder), _schema(schema), given)


def _is_remote(spark: SparkSession) -> bool:
    """Whether a session is of Spark Connect."""
    return type(spark).__module__.startswith("pyspark.sql.connect.")


def _named(columns: Sequence[str] | None) -> dict[str, str]:
    """The option of columns that are wanted."""
    if columns is None:
        return {}
    if isinstance(columns, str) or not all(isinstance(name, str) for name in columns):
        raise OptionError(f"columns is a list of names, not {no_path(columns)}")
    return {"columns": ",".join(columns)}


def _each(paths: object) -> Iterable[object]:
    """Paths, where one or several are given."""
    if isinstance(paths, (str, bytes, os.PathLike)) or not isinstance(paths, Iterable):
        return [paths]
    return paths


def _path(given: object) -> str:
    """A path or URL as text."""
    path = os.fspath(given) if isinstance(given, os.PathLike) else given
    if not isinstance(path, str):
        raise OptionError(f"a path is a text or a Path, not {no_path(given)}")
    return path


def _schema(schema: StructType | str | None) -> StructType | None:
    """The schema that a user gave in either way."""
    from pyspark.sql.types import DataType, StructType

    wanted = DataType.fromDDL(schema) if isinstance(schema, str) else schema
    if wanted is not None and not isinstance(wanted, StructType):
        found = wanted.simpleString() if isinstance(wanted, DataType) else no_path(wanted)
        raise OptionError(f"the schema is {found}; give columns with types")
    return wanted


def remove_abandoned(
    path: str, *, untouched: float = 7 * 24 * 3600.0, options: Mapping[str, Any] | None = None
) -> list[str]:
    """Remove what writes left in a folder whose driver died before their commit; nothing reads it.

    Every write does this for what nobody touched for a week.

    Args:
        path: The folder that was written to.
        untouched: Seconds since the youngest file of such a write; 0 for all, where no write is going on.
        options: fsspec's, for URLs.

    Returns:
        The names of what was removed.
    """
    from rdfm.spark.commit import Target

    return Target.of(path, options).remove_abandoned(untouched)
