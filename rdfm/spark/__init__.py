"""Message logs in Spark: one message a row, every format, batch and streaming.

In: `spark.read.format("rdfm")`, `df.write.format("rdfm")` and their streaming twins, or the functions
here. Out: Spark's contracts only; decoding and encoding are rdfm's own.
Law: no module here names a format.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rdfm.spark.versions import check_pyspark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["register", "remove_abandoned"]


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
