"""Where Spark looks for `format("rdfm")`: it imports every module named `pyspark_*` and takes its `DefaultSource`.

Every session that uses a Python data source imports this module, so rdfm itself is imported when a
source is used. What the methods give is written in `rdfm.spark`.
"""

from __future__ import annotations

import sys
from collections.abc import MutableMapping
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource

if TYPE_CHECKING:
    from pyspark.sql.datasource import DataSourceReader, DataSourceStreamReader
    from pyspark.sql.types import StructType

    from rdfm.spark.writer import LogSourceStreamWriter, LogSourceWriter

__all__ = ["DefaultSource"]


class DefaultSource(DataSource):
    """The data source "rdfm": message logs, one message a row.

    Example:
        `spark.read.format("rdfm").load("logs/")`
    """

    def __init__(self, options: MutableMapping[str, str]) -> None:
        """Take Spark's options.

        Raises:
            ImportError: Spark runs a Python that lacks what rdfm needs, or PySpark is too old. An
                error while this module is imported would say that there is no such data source.
        """
        try:
            import pyarrow  # noqa: F401 - the first that a Python other than the driver's lacks

            from rdfm.spark.versions import check_pyspark
        except ImportError as error:
            raise ImportError(
                f"Spark runs the Python {sys.executable}, which lacks what rdfm needs ({error}); set "
                "PYSPARK_PYTHON to the Python of the driver before the session is made"
            ) from error

        check_pyspark()
        super().__init__(options)

    @classmethod
    def name(cls) -> str:
        """The name for `format(…)`."""
        return "rdfm"

    def schema(self) -> StructType:
        """The columns of a read without a schema of the user's. What can be checked early is."""
        from rdfm.spark.reader import LogSourceReader
        from rdfm.spark.stream import LogSourceStreamReader, is_stream

        reader: LogSourceReader | LogSourceStreamReader
        if is_stream(self.options):
            reader = LogSourceStreamReader(self.options)
        else:
            reader = LogSourceReader(self.options)
        reader.check_paths()
        return reader.schema

    def reader(self, schema: StructType) -> DataSourceReader:
        """What reads in batches."""
        from rdfm.spark.reader import LogSourceReader

        return LogSourceReader(self.options, schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """What reads a stream."""
        from rdfm.spark.stream import LogSourceStreamReader

        return LogSourceStreamReader(self.options, schema)

    def writer(self, schema: StructType, overwrite: bool) -> LogSourceWriter:
        """A batch write of rows with a column `quads` or `operations`."""
        from rdfm.spark.writer import LogSourceWriter

        return LogSourceWriter(self.options, schema, overwrite)

    def streamWriter(self, schema: StructType, overwrite: bool) -> LogSourceStreamWriter:
        """A streaming sink for rows with a column `quads` or `operations`."""
        from rdfm.spark.writer import LogSourceStreamWriter

        return LogSourceStreamWriter(self.options, schema, overwrite)
