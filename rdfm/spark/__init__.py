"""Message logs in Spark: one message a row, every format, batch and streaming.

In: `spark.read.format("rdfm")`, `df.write.format("rdfm")` and their streaming twins, or the functions
here. Out: Spark's contracts only; decoding and encoding are rdfm's own.
Law: no module here names a format.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rdfm.spark.versions import check_pyspark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["register"]


def register(spark: SparkSession) -> None:
    """Make `format("rdfm")` known to a session that does not find it by itself.

    Spark finds it without this where the package `pyspark_rdfm` is installed beside PySpark.

    Args:
        spark: A session, of Spark Connect too.

    Raises:
        MissingExtraError: PySpark is missing or too old.
    """
    check_pyspark()
    from pyspark_rdfm import DefaultSource

    spark.dataSource.register(DefaultSource)
