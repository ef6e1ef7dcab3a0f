"""Entry point for `format("rdfm")`.

Spark imports every module named `pyspark_*` and registers its `DefaultSource`. A session that uses
any Python data source imports this module, so this module imports rdfm only when the source "rdfm"
is used. The implementation is in `rdfm.spark`.
"""

from __future__ import annotations

import sys
from collections.abc import MutableMapping
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource

if TYPE_CHECKING:
    from pyspark.sql.datasource import DataSourceReader, DataSourceStreamReader
    from pyspark.sql.types import StructType

    from rdfm.spark.writers.writer import LogSourceStreamWriter, LogSourceWriter

__all__ = ["DefaultSource"]


class DefaultSource(DataSource):
    """The data source "rdfm": message logs with one row per message.

    Example:
        `spark.read.format("rdfm").load("logs/")`
    """

    def __init__(self, options: MutableMapping[str, str]) -> None:
        """Check the environment, and store Spark's options.

        Raises:
            ImportError: If Spark's Python lacks a dependency of rdfm, or PySpark is too old. This
                is not checked when the module is imported, because Spark would then report that
                the data source does not exist.
        """
        try:
            import pyarrow  # noqa: F401 - fails first in the wrong Python

            from rdfm.spark.versions import check_pyspark
        except ImportError as error:
            raise ImportError(
                f"Spark runs the Python {sys.executable}, which lacks a dependency of rdfm ({error}); set "
                "PYSPARK_PYTHON to the Python of the driver before the session is created"
            ) from error

        check_pyspark()
        super().__init__(options)

    @classmethod
    def name(cls) -> str:
        """The name for `format(…)`."""
        return "rdfm"

    def schema(self) -> StructType:
        """The columns of a read if the user specifies no schema. Also checks options and paths."""
        from rdfm.spark.readers.reader import LogSourceReader
        from rdfm.spark.streams.stream import LogSourceStreamReader, is_stream

        reader: LogSourceReader | LogSourceStreamReader
        if is_stream(self.options):
            reader = LogSourceStreamReader(self.options)
        else:
            reader = LogSourceReader(self.options)
        reader.check_paths()
        return reader.schema

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return the batch reader."""
        from rdfm.spark.readers.reader import LogSourceReader

        return LogSourceReader(self.options, schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """Return the stream reader."""
        from rdfm.spark.streams.stream import LogSourceStreamReader

        return LogSourceStreamReader(self.options, schema)

    def writer(self, schema: StructType, overwrite: bool) -> LogSourceWriter:
        """Return the batch writer for rows with a column `quads` or `operations`."""
        from rdfm.spark.writers.writer import LogSourceWriter

        return LogSourceWriter(self.options, schema, overwrite)

    def streamWriter(self, schema: StructType, overwrite: bool) -> LogSourceStreamWriter:
        """Return the stream writer for rows with a column `quads` or `operations`."""
        from rdfm.spark.writers.writer import LogSourceStreamWriter

        return LogSourceStreamWriter(self.options, schema, overwrite)
