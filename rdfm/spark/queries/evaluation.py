"""SPARQL queries in Spark, on messages read from logs or on rows that contain messages.

In: a query with its options, and logs or rows. Out: a row per solution, constructed message or
answer.
Cost: memory for one batch of messages and its rows.
Law: the columns depend only on the query and its types, so they are known before anything is read.
Only these columns leave the worker.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.types import (
    BooleanType,
    DataType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from rdfm._core import EvaluationResult, MessageBatch, Query, TypedColumns
from rdfm.errors import DecodeError, LimitError, OptionError
from rdfm.logs.kinds import wrong_kind_error
from rdfm.message import AnyBatch
from rdfm.spark.compat import arrow_schema, spark_schema
from rdfm.spark.schema import QUADS, RowShape, default_schema, is_quads, message_shape
from rdfm.sparql.query_options import QUERY, as_texts, parse_seconds, parse_types
from rdfm.sparql.text import parse_query, read_query_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Evaluation", "SparkQuery", "query_rows"]

# Options of a query besides its text.
_OPTIONS = ("prefixes", "union_graphs", "types", "skip_empty", "timeout", "max_rows")
_METHODS = {"select": "solutions", "construct": "construct", "ask": "answers"}
# Columns of constructed messages.
_CONSTRUCTED = ("source", "message_index", "byte_offset", "quads", "metadata")


@dataclass(frozen=True)
class SparkQuery:
    """A query with its options, in the form that tasks receive.

    Attributes:
        text: The text of the query.
        base: Base for relative IRIs.
        options: Values of the options in `QUERY`.
        kind: "select", "construct" or "ask".
        schema: The columns of its rows; None for CONSTRUCT, whose rows are messages.
    """

    text: str
    base: str | None
    options: Mapping[str, Any]
    kind: str = field(init=False)
    schema: StructType | None = field(init=False)

    def __post_init__(self) -> None:
        """Parse the query.

        Raises:
            QueryError: If the query is invalid or of a form that rdfm does not support.
            OptionError: If an option does not apply to the query.
        """
        query = self.create_query()
        object.__setattr__(self, "kind", query.kind)
        for name, kind in (("types", "select"), ("skip_empty", "construct")):
            if self.options.get(name) and query.kind != kind:
                raise OptionError(
                    f"{name} applies to {kind.upper()}, but the query is {query.kind.upper()}"
                )
        object.__setattr__(self, "schema", _schema(query, self.create_columns(query)))

    @classmethod
    def parse(cls, text_or_json: str | None, types: str | None = None) -> SparkQuery | None:
        """Parse the value of the option `query`: the text, or JSON with the text and its options.

        Args:
            text_or_json: The value.
            types: The value of the option `types`, if it is given separately.

        Raises:
            QueryError: If the query is invalid or of a form that rdfm does not support.
            OptionError: If an option is unknown, or a value is invalid.
            OSError: If the value names a file that cannot be read.
        """
        if text_or_json is None:
            if types is not None:
                raise OptionError("types requires the option query; set it too")
            return None
        options: dict[str, Any] = {"query": text_or_json}
        if text_or_json.lstrip().startswith("{"):
            try:
                options = json.loads(text_or_json)
            except (ValueError, RecursionError):
                raise OptionError(
                    'the option query must be text, or a JSON object such as {"query": "SELECT …", "types": {"n": "double"}}'
                ) from None
        if types is not None:
            if "types" in options:
                raise OptionError(
                    "types is given twice: in the option query and as an option; remove one of them"
                )
            options["types"] = types
        query, base = options.pop("query", None), options.pop("base", None)
        for name in options:
            if name not in _OPTIONS:
                raise OptionError(
                    f"a query has no option {name[:40]}; its options are {', '.join(_OPTIONS)}"
                )
        if not isinstance(query, str):
            raise OptionError(
                "the JSON object in the option query has no key 'query' (the query text)"
            )
        text, _, parsed_base = read_query_text(query)
        values = {name: QUERY[name].value(value) for name, value in as_texts(options).items()}
        return cls(text, base or parsed_base, values)

    def create_query(self) -> Query:
        """Return the query, ready for evaluation."""
        options = self.options
        query = parse_query(
            self.text,
            base=self.base,
            prefixes=options.get("prefixes"),
            union_graphs=options.get("union_graphs", False),
            timeout=parse_seconds(options.get("timeout")),
            max_rows=options.get("max_rows", QUERY["max_rows"].default),
        )
        return query

    def create_columns(self, query: Query) -> TypedColumns | None:
        """Return the converter from solutions to columns; None if the query is not SELECT.

        Raises:
            OptionError: If a type is invalid.
        """
        if query.kind != "select":
            return None
        return TypedColumns(query.variables, parse_types(self.options.get("types"), infers=False))

    def shape(self) -> RowShape:
        """Return the columns of the query's rows."""
        if self.schema is None:
            constructed = default_schema(_CONSTRUCTED)
            types = {field.name: field.dataType for field in constructed}
            default = default_schema()
            return RowShape(types, default, message_shape("messages", "ntriples").core)
        types = {field.name: field.dataType for field in self.schema}
        return RowShape(types, self.schema, self.map_columns)

    def map_columns(self, schema: StructType, corrupt: str) -> list[str | None]:
        """Return the query column for each column of a user's schema.

        The result contains None for the column of corrupt records.

        Raises:
            OptionError: If a column does not exist or has the wrong type.
        """
        assert self.schema is not None
        fields_by_name = {schema_field.name.lower(): schema_field for schema_field in self.schema}
        columns: list[str | None] = []
        for schema_field in schema:
            if schema_field.name.lower() == corrupt.lower():
                columns.append(None)
                continue
            query_field = fields_by_name.get(schema_field.name.lower())
            if query_field is None:
                raise OptionError(
                    f"there is no column '{schema_field.name[:40]}'; the query returns {', '.join(self.schema.names)}"
                )
            if query_field.dataType != schema_field.dataType:
                raise OptionError(
                    f"the column {schema_field.name} is {query_field.dataType.simpleString()}, not "
                    f"{schema_field.dataType.simpleString()}; set other types with the option types"
                )
            columns.append(query_field.name)
        return columns


def _schema(query: Query, columns: TypedColumns | None) -> StructType | None:
    """Return the columns of the rows of a query; None for CONSTRUCT.

    Raises:
        OptionError: If two names differ only in case, because Spark treats them as one column.
    """
    if query.kind == "construct":
        return None
    fields: list[tuple[str, DataType]] = [("source", StringType()), ("message_index", LongType())]
    if columns is None:
        return StructType([StructField(*field) for field in (*fields, ("answer", BooleanType()))])
    schema = spark_schema(pa.schema(columns))
    names: dict[str, str] = {}
    for name in schema.names:
        if (previous := names.setdefault(name.lower(), name)) != name:
            raise OptionError(
                f"Spark treats ?{previous} and ?{name} as one column; rename one of the variables"
            )
    return schema


class Evaluation:
    """Evaluates a query in a task."""

    def __init__(self, spark_query: SparkQuery, *, lenient: bool = False) -> None:
        """Prepare the query. If `lenient`, values that do not match their column type become null."""
        self._query = spark_query.create_query()
        self._evaluate = getattr(self._query, _METHODS[spark_query.kind])
        self._columns = spark_query.create_columns(self._query)
        self._skip_empty = bool(spark_query.options.get("skip_empty"))
        self._lenient = lenient
        self.nulls = 0

    def tables(self, batch: AnyBatch, source: str | None) -> Iterator[pa.RecordBatch | LimitError]:
        """Yield the rows of messages, or the error for a message that exceeds a limit of the query.

        Raises:
            DecodeError: If a value does not match its column's type.
            OptionError: If the batch does not contain messages.
        """
        if not isinstance(batch, MessageBatch):
            raise wrong_kind_error(source or "the log", batch.kind, "only messages can be queried")
        done_count = 0
        while done_count < len(batch):
            result: EvaluationResult = self._evaluate(batch, done_count)
            if result.done > done_count:
                yield self._table(batch, source, range(done_count, result.done), result)
            done_count = result.done
            if result.error is not None:
                yield LimitError(
                    result.error[0], message_index=batch.message_index(done_count), source=source
                )
                done_count += 1

    def _table(
        self, batch: MessageBatch, source: str | None, messages: range, result: EvaluationResult
    ) -> pa.RecordBatch:
        if self._columns is not None:
            rows, nulls = self._columns.of_messages(
                result, batch, source, misfits_are_null=self._lenient
            )
            self.nulls += nulls
            return pa.record_batch(rows)
        indexes = pa.array([batch.message_index(index) for index in messages], pa.int64())
        sources = pa.repeat(pa.scalar(source, pa.string()), len(indexes))
        if result.constructed is None and self._query.kind == "ask":
            answers = pa.array(result.answers, pa.bool_())
            return pa.RecordBatch.from_arrays(
                [sources, indexes, answers], ["source", "message_index", "answer"]
            )
        constructed = result.constructed or MessageBatch.from_messages([[] for _ in messages])
        rows = pa.record_batch(constructed)
        offsets = pa.array([batch.byte_offset(index) for index in messages], pa.int64())
        table = pa.RecordBatch.from_arrays(
            [sources, indexes, offsets, rows["quads"], rows["metadata"]], list(_CONSTRUCTED)
        )
        if not self._skip_empty:
            return table
        return table.filter(pa.array([count > 0 for count in constructed.quad_counts()]))


def _cast(array: pa.Array, type: pa.DataType) -> pa.Array:
    """Cast an array to Spark's type if it differs."""
    return array if array.type == type else array.cast(type)


def evaluate_rows(
    spark_query: SparkQuery, schema: pa.Schema, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Run a query in a task, on rows that contain messages, and yield the rows of the result.

    Args:
        spark_query: The query.
        schema: The columns of the result.
        batches: Rows with a column `quads` and optionally `source`, `message_index` and
            `byte_offset`.

    Raises:
        DecodeError: If a value does not match its column's type, a message exceeds a limit of the
            query, or quads are not valid RDF.
    """
    from rdfm._core import batches_from_arrow

    evaluation = Evaluation(spark_query)
    for rows in batches:
        present = rows.filter(rows["quads"].is_valid()) if rows["quads"].null_count else rows
        arrays = dict(zip(present.schema.names, present.columns, strict=True))
        arrays.setdefault("message_index", pa.nulls(len(present), pa.int64()))
        for batch in batches_from_arrow(present.select(["quads"])):
            try:
                for table in evaluation.tables(batch, None):
                    if isinstance(table, LimitError):
                        raise table
                    computed = table.schema.names[2:]
                    if spark_query.kind == "construct":
                        computed.remove("byte_offset")
                    yield _add_message_columns(table, computed, arrays, schema)
            except DecodeError as error:
                if (row := error.message_index) is not None:
                    error.source = arrays["source"][row].as_py() if "source" in arrays else None
                    error.message_index = arrays["message_index"][row].as_py()
                    error.byte_offset = (
                        arrays["byte_offset"][row].as_py() if "byte_offset" in arrays else None
                    )
                raise


def _add_message_columns(
    table: pa.RecordBatch,
    computed: Container[str],
    message_columns: Mapping[str, pa.Array],
    schema: pa.Schema,
) -> pa.RecordBatch:
    """Replace the row number in the result with the columns that identify the message.

    Args:
        table: The rows of the result.
        computed: Names of the columns that the query computed.
        message_columns: The columns of the messages.
        schema: The columns to return.
    """
    rows = table.column(1)
    columns = []
    for schema_field in schema:
        if schema_field.name in computed:
            column = table[schema_field.name]
        elif schema_field.name in message_columns:
            column = message_columns[schema_field.name].take(rows)
        else:
            column = pa.nulls(table.num_rows, schema_field.type)
        columns.append(_cast(column, schema_field.type))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def query_rows(rows: DataFrame, query: str) -> DataFrame:
    """Run a query on rows that contain messages.

    Args:
        rows: A DataFrame with a column `quads`.
        query: The value of the option `query`.

    Raises:
        QueryError: As in `SparkQuery.parse`.
        OptionError: As in `SparkQuery.parse`, or if there is no column of quads, or a variable has the
            name of a column that identifies the message.
    """
    from pyspark.sql import functions as F

    spark_query = SparkQuery.parse(query)
    assert spark_query is not None
    columns = {field.name.lower(): field for field in rows.schema}
    if "quads" not in columns or not is_quads(columns["quads"].dataType):
        raise OptionError(
            f"the rows need a column quads of type {QUADS.simpleString()}, as returned when reading messages"
        )
    schema = _schema_of_rows(spark_query, columns)
    arrow = arrow_schema(schema)

    def evaluated(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return evaluate_rows(spark_query, arrow, batches)

    names = ("source", "message_index", "byte_offset")
    columns_used = [F.col(name) for name in names if name in columns]
    quads = F.col("quads").cast(QUADS).alias("quads")  # parts of it may be untyped
    return rows.select(*columns_used, quads).mapInArrow(evaluated, schema)


def _schema_of_rows(spark_query: SparkQuery, columns: Container[str]) -> StructType:
    """Return the columns of the result of a query on rows with the given columns.

    Raises:
        OptionError: If a variable has the name of the column `byte_offset`, which identifies the
            message.
    """
    if spark_query.schema is None:
        return default_schema(_CONSTRUCTED if "message_index" in columns else None)
    if "message_index" in columns or "byte_offset" not in columns:
        return spark_query.schema
    first, _, *others = spark_query.schema
    if "byte_offset" in {field.name.lower() for field in others}:
        raise OptionError(
            "?byte_offset has the name of a column that identifies the message; rename the variable"
        )
    return StructType([first, StructField("byte_offset", LongType()), *others])
