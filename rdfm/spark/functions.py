"""Functions on columns: messages in binary values, terms and their parts, quads as rows.

In: columns, or their names. Out: columns, like those of Spark's own functions.
Cost: `from_rdf`, `to_rdf`, `rdf_hash` and `nanopub` pass Arrow data through Python workers; the
others are plain expressions.
Law: each value is one message, and its result does not depend on other values.

`from_rdf`, `to_rdf` and `nanopub` are marked as nondeterministic, although they are deterministic,
because Spark would otherwise recompute the result for each filter on it. They therefore cannot be
used inside an aggregate function; create a column with `select` or `withColumn` first. Apply
filters on other columns before you call these functions.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

import pyarrow as pa
from pyspark.sql.types import BinaryType, DataType, StringType, StructType

from rdfm import MessageBatch, formats
from rdfm._core import PatchBatch
from rdfm.analysis.hash import hash_column
from rdfm.compare.canonical import MAX_STEPS
from rdfm.conversion.canonical_stage import STEPS
from rdfm.conversion.values import ValueDecoder, ValueEncoder
from rdfm.errors import DecodeError, EncodeError, LimitError, OptionError
from rdfm.formats import Format
from rdfm.formats.spec import key
from rdfm.nanopub.listing import describe_column
from rdfm.spark.compat import arrow_function, cast_untyped
from rdfm.spark.queries.sql import register_queries
from rdfm.spark.schema import LISTS, NANOPUB, QUADS
from rdfm.spark.spark_options import MODE, Options, as_text
from rdfm.spark.spark_remedies import NULL_VALUE, render_for_function
from rdfm.spark.terms import (
    datatype,
    direction,
    explode_quads,
    iri,
    is_blank,
    language,
    messages,
    term_kind,
    value,
)

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession

__all__ = [
    "datatype",
    "direction",
    "explode_quads",
    "from_rdf",
    "iri",
    "is_blank",
    "language",
    "messages",
    "nanopub",
    "rdf_hash",
    "register_functions",
    "term_kind",
    "to_rdf",
    "value",
]

Function: TypeAlias = "Callable[[Column | str], Column]"

_MODE = replace(MODE, choices=MODE.choices[:2])

_log = logging.getLogger("rdfm.spark")


def from_rdf(
    col: Column | str,
    format: str,
    *,
    mode: Literal["FAILFAST", "PERMISSIVE"] = "FAILFAST",
    row_key: Column | str | None = None,
    with_error: bool = False,
    **options: Any,
) -> Column:
    """Decode binary values, such as Kafka records. Each value is a complete log of one message.

    Args:
        col: The column of values, or its name.
        format: The format's name.
        mode: `FAILFAST` fails the query at an invalid value. `PERMISSIVE` returns null instead.
        row_key: A column, or its name, that identifies the row of an invalid value in the error,
            such as `struct(topic, partition, offset)` of Kafka. By default, the error has the
            position of the value in its Arrow batch.
        with_error: Return structs of `quads` (or `operations`) and `error`, the text of the error
            in an invalid value; requires `PERMISSIVE`.
        **options: Options of the format's decoder; limits apply to each value.

    Returns:
        Quads as in the column `quads` of a read: an empty array for a value without a message, null
        for null. In a patch format, operations as in the column `operations`. With `with_error`,
        structs.

    Raises:
        UnknownFormatError: If the format does not exist.
        OptionError: If the format does not support an option, the mode is invalid, or `with_error`
            is set without `PERMISSIVE`.

    Example:
        >>> quads = from_rdf("value", "nq", mode="PERMISSIVE")  # doctest: +SKIP
        >>> records.select("key", quads.alias("quads"))  # doctest: +SKIP
    """
    decode = _create_decoding(formats.find(format), mode, with_error, options)
    return decode(col) if row_key is None else decode(col, row_key)


def to_rdf(col: Column | str, format: str, *, max_depth: int = 64, **options: Any) -> Column:
    """Encode quads: each row becomes a binary value that is a complete log of one message.

    Args:
        col: The column of quads, of the type of `quads` in a read, or its name; in a patch format,
            the column of operations.
        format: The format's name.
        max_depth: Maximum nesting depth of triple terms.
        **options: Options of the format's encoder. In formats with length-prefixed frames, a value
            is one frame, without the prefix unless `delimited=True`.

    Returns:
        Binary values; null for null.

    Raises:
        UnknownFormatError: If the format does not exist.
        OptionError: If the format does not support an option.

    Example:
        >>> value = to_rdf("quads", "nq")  # doctest: +SKIP
        >>> messages.select(value.alias("value"))  # doctest: +SKIP
    """
    encode = _create_encoding(formats.find(format), max_depth, options)
    return encode(col)


def rdf_hash(col: Column | str, *, max_steps: int = MAX_STEPS) -> Column:
    """Compute the hash of each message, as `rdfm.hash` does.

    Messages that are equal up to blank node labels, and order and repetition of quads, have equal
    hashes. The function can be used in aggregate functions and `groupBy`.

    Args:
        col: The column of quads, of the type of `quads` in a read, or its name.
        max_steps: Maximum work to label the blank nodes of a message, in quads visited.

    Returns:
        SHA-256 of the canonical N-Quads (RDFC-1.0), as 64 hexadecimal digits; null for null. A
        message without a canonical form fails the query.

    Raises:
        OptionError: If `max_steps` is not a positive number.

    Example:
        >>> messages.groupBy(rdf_hash("quads").alias("hash")).count()  # doctest: +SKIP
    """
    return _create_hashing(STEPS.value(max_steps))(col)


def nanopub(col: Column | str) -> Column:
    """Describe the nanopublication in each row: creators, creation time, license, types and links.

    Args:
        col: The column of quads, of the type of `quads` in a read, or its name.

    Returns:
        Structs with the fields `nanopub`, `creators`, `created`, `license`, `types`, `introduces`,
        `retracts`, `supersedes` and `pubkey_hash`, which `rdfm.nanopub.NanopubRow`
        describes. Null for a null message, and for a message that is not exactly one
        nanopublication. Nothing is verified.

    Example:
        >>> messages.select(nanopub("quads").alias("n")).select("n.nanopub", "n.creators")  # doctest: +SKIP
    """

    def nanopub(quads: pa.Array) -> pa.Array:
        with _spark_remedies():
            return describe_column(cast_untyped(quads, QUADS))

    return _compute_once(nanopub, NANOPUB)(col)


def register_functions(spark: SparkSession) -> list[str]:
    """Register SQL functions for the formats and for queries.

    These are `from_NAME` and `to_NAME` for each format except result formats, and `rdf_hash`,
    `rdf_query`, `rdf_ask`, `rdf_construct` and `rdf_value`. In a name, `-` becomes `_`. The functions for
    formats take the column and, optionally, a map of options that is the same for all rows:
    `from_NAME(value, map('mode', 'PERMISSIVE'))`. If Spark has a function with the same name, such
    as `from_json`, the function is skipped with a warning.

    Args:
        spark: A session; Spark Connect is supported.

    Returns:
        The names of the functions.
    """
    spark_functions = {row[0] for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect()}
    names = []
    for format in formats.all():
        if format.spec.kinds[0] not in LISTS:
            continue
        name = format.name.replace("-", "_")
        for function, make in (
            (f"from_{name}", _create_sql_decoding),
            (f"to_{name}", _create_sql_encoding),
        ):
            if function in spark_functions:
                _log.warning(
                    "%s is a built-in function of Spark, so it is not registered for the format",
                    function,
                )
                continue
            spark.udf.register(function, make(format))
            names.append(function)
    spark.udf.register("rdf_hash", _create_hashing(MAX_STEPS))
    return [*names, "rdf_hash", *register_queries(spark)]


def _create_decoding(
    format: Format, mode: str, with_error: bool, options: Mapping[str, Any]
) -> Callable[..., Column]:
    name = format.name
    on_error = _on_error_value(mode)
    if with_error and on_error == "raise":
        raise OptionError('with_error requires mode="PERMISSIVE"')
    kind = ValueDecoder(format, **options).kind  # invalid options raise here, not in a task
    column, type = LISTS[kind]

    def from_rdf(values: pa.Array, *keys: pa.Array) -> pa.Array:
        with _spark_remedies():
            values = cast_untyped(values, BinaryType())
            decoder = ValueDecoder(name, **options)
            if not keys and not with_error:
                return pa.array(decoder(values, on_error=on_error))
            decoded = pa.array(decoder(values, on_error="null"))
            texts: list[str | None] = [None] * len(values)
            for index, error in _errors(decoder, values, decoded):
                error.source = _row_name(keys[0][index].as_py()) if keys else None
                if on_error == "raise":
                    raise error
                error.renderer = render_for_function
                texts[index] = str(error)
            if not with_error:
                return decoded
            return pa.StructArray.from_arrays(
                [decoded, pa.array(texts, pa.string())], names=[column, "error"]
            )

    returned = StructType().add(column, type).add("error", StringType()) if with_error else type
    return _compute_once(from_rdf, returned)


def _errors(
    decoder: ValueDecoder, values: pa.Array, decoded: pa.Array
) -> Iterator[tuple[int, DecodeError]]:
    """Yield the indexes and errors of values that were decoded to null."""
    for index, (is_given, is_decoded) in enumerate(
        zip(values.is_valid().to_pylist(), decoded.is_valid().to_pylist(), strict=True)
    ):
        if is_given and not is_decoded:
            try:
                decoder(values.slice(index, 1))
            except DecodeError as error:
                yield index, error


def _row_name(key: Any) -> str:
    """Describe a row by its key."""
    if isinstance(key, Mapping):
        return "row " + ", ".join(f"{name} {part}" for name, part in key.items())
    return f"row {key}"


def _create_encoding(format: Format, max_depth: int, options: Mapping[str, Any]) -> Function:
    name = format.name
    encoder = ValueEncoder(format, **options)
    empty = MessageBatch.from_messages([]), PatchBatch.from_patches([])
    column, type = LISTS[encoder.kind]
    none = pa.record_batch(empty[encoder.kind == "patches"])[column]
    encoder(none, max_depth=max_depth)  # invalid options raise here

    def to_rdf(quads: pa.Array) -> pa.Array:
        with _spark_remedies():
            encoder = ValueEncoder(name, **options)
            return pa.array(encoder(cast_untyped(quads, type), max_depth=max_depth))

    return _compute_once(to_rdf, BinaryType())


def _create_sql_decoding(format: Format) -> Function:
    name = format.name

    def from_rdf(*columns: pa.Array) -> pa.Array:
        values, options = _split_arguments(columns)
        mode = options.pop("mode", "FAILFAST")
        keywords = Options(options).pop_format_options([formats.find(name).spec], "read")
        with _spark_remedies():
            decode = ValueDecoder(name, **keywords)
            typed_values = cast_untyped(values, BinaryType())
            return pa.array(decode(typed_values, on_error=_on_error_value(mode)))

    return _compute_once(from_rdf, LISTS[format.spec.kinds[0]][1])


def _create_sql_encoding(format: Format) -> Function:
    name = format.name

    def to_rdf(*columns: pa.Array) -> pa.Array:
        quads, options = _split_arguments(columns)
        keywords = Options(options).pop_format_options([formats.find(name).spec], "write")
        with _spark_remedies():
            encoder = ValueEncoder(name, **keywords)
            return pa.array(encoder(cast_untyped(quads, LISTS[encoder.kind][1])))

    return _compute_once(to_rdf, BinaryType())


def _create_hashing(max_steps: int) -> Function:
    def rdf_hash(quads: pa.Array) -> pa.Array:
        return hash_column(cast_untyped(quads, QUADS), max_steps)

    return cast("Function", arrow_function(rdf_hash, StringType(), deterministic=True))


def _compute_once(function: Callable[..., pa.Array], type: DataType) -> Function:
    """Return a function on columns that Spark computes once, even if it is used repeatedly."""
    return cast("Function", arrow_function(function, type))


def _on_error_value(mode: str) -> Literal["raise", "null"]:
    return "raise" if _MODE.value(mode) == "FAILFAST" else "null"


def _split_arguments(columns: tuple[pa.Array, ...]) -> tuple[pa.Array, dict[str, str]]:
    """The column and the options of an SQL call.

    Raises:
        OptionError: If there are other arguments, or the options differ between rows.
    """
    is_options = [
        pa.types.is_map(column.type) or pa.types.is_null(column.type) for column in columns
    ]
    if not 1 <= len(columns) <= 2 or not all(is_options[1:]):
        raise OptionError(
            "this function takes a column and optionally a map of options: map('name', 'value')"
        )
    if len(columns) == 1 or not len(columns[1]):
        return columns[0], {}
    maps = columns[1]
    if not maps[1:].equals(maps[:-1]):
        raise OptionError("options must be the same in all rows; pass a map of literals")
    options = as_text(dict(maps[0].as_py() or []))
    return columns[0], {
        "mode" if key(name) == "mode" else name: text for name, text in options.items()
    }


@contextmanager
def _spark_remedies() -> Iterator[None]:
    """Replace the remedies in errors with Spark remedies."""
    try:
        yield
    except TypeError as error:
        raise TypeError(
            f"{error}; decoding takes binary columns, so cast text with cast(text AS binary); encoding takes columns "
            "of the type of quads"
        ) from None
    except EncodeError as error:
        error.renderer = render_for_function
        raise
    except DecodeError as error:
        error.renderer = render_for_function
        if isinstance(error, LimitError) and error.source is None:
            error.reason += " (spark.sql.execution.arrow.maxRecordsPerBatch)"
        elif error.source is not None:
            error.remedies += (NULL_VALUE,)
        raise
