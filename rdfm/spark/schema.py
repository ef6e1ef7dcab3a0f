"""The columns of a message in Spark, and what of them a query asks for.

In: the schema of a user, or none. Out: Spark's and Arrow's types, and names for the core.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
)

__all__ = ["COLUMNS", "PARTS", "QUADS", "default_schema"]

PARTS = ("subject", "predicate", "object", "graph")
QUADS = ArrayType(StructType([StructField(part, StringType()) for part in PARTS]))
COLUMNS: Mapping[str, DataType] = {
    "source": StringType(),
    "offset": LongType(),
    "quads": QUADS,
    "metadata": MapType(StringType(), BinaryType()),
    "position": LongType(),
    "namespaces": MapType(StringType(), StringType()),
}
_DEFAULT = ("source", "offset", "quads", "metadata")


def default_schema(columns: tuple[str, ...] = _DEFAULT) -> StructType:
    """Give the schema of a read without a schema of the user's."""
    return StructType([StructField(name, COLUMNS[name]) for name in columns])
