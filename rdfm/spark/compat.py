"""Differences between PySpark versions, and the private interfaces of PySpark that rdfm uses.

In: PySpark 4.0 or newer. Out: the same functions and base classes in every version, and flags for
missing features.
Law: features are detected, not derived from the version number. If a private interface that only
serves to make errors clearer is missing, the check that uses it is skipped.

Required private interfaces: `pyspark.sql.pandas.types.to_arrow_schema` and `from_arrow_schema`.
Optional private interfaces: `SparkFiles._root_directory`, `SparkContext._python_includes`, and
`_jvm` and `_jsparkSession` of sessions that are not remote.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import pyspark
from pyspark import SparkFiles
from pyspark.sql import datasource
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

from rdfm.errors import OptionError
from rdfm.spark.schema import PARTS

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession
    from pyspark.sql.datasource import DataSource
    from pyspark.sql.types import DataType, StructType

__all__ = [
    "HAS_READ_LIMITS",
    "ReadAllAvailable",
    "ReadLimit",
    "ReadMaxBytes",
    "ReadMaxFiles",
    "StreamArrowWriter",
    "SupportsTriggerAvailableNow",
    "activate",
    "arrow_function",
    "arrow_schema",
    "check_stream_writer",
    "included_files",
    "is_remote",
    "register_source",
    "session_folder",
    "spark_schema",
]

_ALREADY_EXISTS = "DATA_SOURCE_ALREADY_EXISTS"
_HAS_TIMEZONE = "timezone" in inspect.signature(to_arrow_schema).parameters
_HAS_SINK = hasattr(datasource, "DataSourceStreamArrowWriter")

if TYPE_CHECKING:
    from pyspark.sql.datasource import DataSourceStreamArrowWriter as StreamArrowWriter
    from pyspark.sql.streaming.datasource import (
        ReadAllAvailable,
        ReadLimit,
        ReadMaxBytes,
        ReadMaxFiles,
        SupportsTriggerAvailableNow,
    )

    HAS_READ_LIMITS = True
else:
    # Versions without the Arrow writer have no streaming sink; see `check_stream_writer`.
    StreamArrowWriter = getattr(
        datasource, "DataSourceStreamArrowWriter", datasource.DataSourceStreamWriter
    )
    try:
        from pyspark.sql.streaming.datasource import (
            ReadAllAvailable,
            ReadLimit,
            ReadMaxBytes,
            ReadMaxFiles,
            SupportsTriggerAvailableNow,
        )
    except ImportError:
        HAS_READ_LIMITS = False
        ReadLimit = ReadAllAvailable = ReadMaxBytes = ReadMaxFiles = object
        SupportsTriggerAvailableNow = type("SupportsTriggerAvailableNow", (), {})
    else:
        HAS_READ_LIMITS = True


def check_stream_writer() -> None:
    """Check that this version of PySpark can pass Arrow batches to a streaming sink.

    Raises:
        OptionError: If the version cannot do so.
    """
    if not _HAS_SINK:
        raise OptionError(
            f'writing a stream with format("rdfm") needs PySpark 4.1 or newer, but this is {pyspark.__version__}; '
            "write in foreachBatch with a writeId instead"
        )


def arrow_schema(schema: StructType) -> pa.Schema:
    """Return the Arrow schema that Spark expects, with timestamps in UTC."""
    convert: Any = to_arrow_schema
    return cast("pa.Schema", convert(schema, timezone="UTC") if _HAS_TIMEZONE else convert(schema))


def spark_schema(schema: pa.Schema) -> StructType:
    """Return the Spark schema for an Arrow schema."""
    return from_arrow_schema(schema)


def cast_untyped(column: pa.Array, type: DataType) -> pa.Array:
    """Return the column with a type if it or a part of it has none, as SQL's NULL."""
    from pyspark.sql.types import StructType

    if not _is_untyped(column.type):
        return column
    return column.cast(arrow_schema(StructType().add("column", type)).field(0).type)


def _is_untyped(type: pa.DataType) -> bool:
    return str(type) == "null" or any(
        _is_untyped(type.field(index).type) for index in range(type.num_fields)
    )


def arrow_function(
    function: Callable[..., pa.Array], type: DataType, *, deterministic: bool = False
) -> Any:
    """Convert a function on Arrow arrays to a function on columns.

    Spark recomputes a deterministic function for each use of its result. Other functions cannot be
    used in aggregates. Versions before 4.1 pass the values through pandas, which is several times
    slower.
    """
    from pyspark.sql import functions as F

    if not hasattr(F, "arrow_udf"):
        return _through_pandas(function, type, deterministic)
    udf = F.arrow_udf(function, type)
    return udf if deterministic else udf.asNondeterministic()


def _through_pandas(function: Callable[..., pa.Array], type: DataType, deterministic: bool) -> Any:
    import pandas as pd
    import pyarrow as pa
    from pyspark.sql import functions as F
    from pyspark.sql.pandas.functions import pandas_udf
    from pyspark.sql.types import ArrayType, StructType

    # pandas has no null structs, so structs are returned in lists.
    is_struct = isinstance(type, StructType)
    quads = pa.list_(pa.struct([(part, pa.string()) for part in PARTS]))

    def convert(*columns: Any) -> Any:
        values = function(*map(_arrow_array, columns)).to_pylist()
        if is_struct:
            values = [None if value is None else [value] for value in values]
        return pd.Series(values, dtype=object)

    def _arrow_array(column: Any) -> pa.Array:
        """Convert a series to an array. NumPy arrays become lists, and dicts become maps."""
        if isinstance(column, pd.DataFrame):  # a column of structs
            fields = [_arrow_array(field) for _, field in column.items()]
            return pa.StructArray.from_arrays(fields, names=list(column.columns))
        values: list[Any] = [list(value) if hasattr(value, "tolist") else value for value in column]
        if any(isinstance(value, dict) for value in values):
            value_type = pa.infer_type(
                [item for value in values if value for item in value.values()]
            )
            values = [None if value is None else list(value.items()) for value in values]
            return pa.array(values, pa.map_(pa.string(), value_type))
        array = pa.array(values, from_pandas=True)
        # If all lists are empty, the item type is unknown here. The items are quads.
        return pa.array(values, quads) if array.type == pa.list_(pa.null()) else array

    # Spark derives the kind of function from the annotations.
    convert.__annotations__ = {"columns": pd.Series, "return": pd.Series}
    convert.__name__ = function.__name__
    make: Any = pandas_udf
    udf = make(convert, ArrayType(type) if is_struct else type)
    udf = udf if deterministic else udf.asNondeterministic()
    return (lambda *columns: F.get(udf(*columns), 0)) if is_struct else udf


def is_remote(spark: SparkSession) -> bool:
    """Whether this is a Spark Connect session."""
    return type(spark).__module__.startswith("pyspark.sql.connect.")


def register_source(spark: SparkSession, source: type[DataSource]) -> None:
    """Register a data source unless Spark finds it without registration.

    Registering a source twice is an error in some versions, and a warning in others.
    """
    if _finds_source(spark, source.name()):
        return
    try:
        spark.dataSource.register(source)
    except Exception as error:
        if _ALREADY_EXISTS not in str(error):
            raise


def _finds_source(spark: SparkSession, name: str) -> bool:
    """Whether Spark finds a data source without registration; false if this is unknown."""
    if not is_remote(spark):
        with contextlib.suppress(Exception):
            session: Any = spark
            manager = session._jsparkSession.sessionState().dataSourceManager()
            return bool(manager.dataSourceExists(name))
    return False


def activate(spark: SparkSession) -> None:
    """Make a session active in this thread.

    Spark looks up write formats in the active session.
    """
    if not is_remote(spark):
        with contextlib.suppress(AttributeError):
            session: Any = spark
            session._jvm.org.apache.spark.sql.SparkSession.setActiveSession(session._jsparkSession)


def session_folder() -> str | None:
    """Return the session's local folder, or None outside workers. Spark removes the folder."""
    if not getattr(SparkFiles, "_is_running_on_worker", False):
        return None
    return cast("str | None", getattr(SparkFiles, "_root_directory", None))


def included_files(context: Any) -> list[str]:
    """Return the names of the files that Spark adds to the module search path of its workers."""
    return list(getattr(context, "_python_includes", ()))
