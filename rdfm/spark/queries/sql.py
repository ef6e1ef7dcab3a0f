"""SPARQL in Spark SQL: the functions `rdf_query`, `rdf_ask`, `rdf_construct` and `rdf_value`.

In: messages, as a column of quads, and a query or a predicate that is the same in all rows. Out: a
table for each message, answers, constructed quads, or the value of a term.
Cost: `rdf_query` passes rows one at a time through a Python worker, `rdf_ask` and `rdf_construct`
pass Arrow data, and `rdf_value` is a Spark expression.
Law: the columns of `rdf_query` depend only on its literal arguments, so Spark knows them before it
runs the query.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
from pyspark.sql.types import BooleanType, StructType
from pyspark.sql.udtf import AnalyzeArgument, AnalyzeResult

from rdfm._core import batches_from_arrow
from rdfm.errors import LimitError, OptionError
from rdfm.spark.compat import arrow_function, cast_untyped
from rdfm.spark.queries.evaluation import Evaluation, SparkQuery
from rdfm.spark.schema import PARTS, QUADS, is_quads
from rdfm.spark.terms import ESCAPES, NO_ESCAPE

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession

__all__ = ["RdfQuery", "register_queries"]

_QUADS = pa.list_(pa.struct([(part, pa.string()) for part in PARTS]))
_FUNCTIONS = {"ask": "rdf_ask", "construct": "rdf_construct", "select": "rdf_query"}


def register_queries(spark: SparkSession) -> list[str]:
    """Register the functions in a session, and return their names."""
    from pyspark.sql.functions import udtf

    spark.udtf.register("rdf_query", udtf(RdfQuery))  # type: ignore[arg-type]
    spark.udf.register("rdf_ask", _ask_function())
    spark.udf.register("rdf_construct", _construct_function())
    spark.sql(_value_function())
    return ["rdf_query", "rdf_ask", "rdf_construct", "rdf_value"]


@dataclass
class _AnalyzedQuery(AnalyzeResult):
    """The columns of a query, and the query itself for the tasks."""

    query_option: str = ""


class RdfQuery:
    """The table function `rdf_query(quads, query, options)`, with one row per SELECT solution."""

    def __init__(self, analyzed: _AnalyzedQuery) -> None:
        """Prepare the query in a task."""
        self._create_evaluation = Evaluation(_parse(analyzed.query_option))

    @staticmethod
    def analyze(
        quads: AnalyzeArgument, query: AnalyzeArgument, options: AnalyzeArgument | None = None
    ) -> _AnalyzedQuery:
        """Return the columns of the query's variables.

        Raises:
            OptionError: If an argument has the wrong type, or the query or its options are not
                literals.
            QueryError: If the query is invalid.
        """
        if not is_quads(quads.dataType):
            raise OptionError(
                f"rdf_query takes a column of type {QUADS.simpleString()}, not "
                f"{quads.dataType.simpleString()}"
            )
        for name, argument in (("query", query), ("options", options)):
            if argument is not None and not argument.isConstantExpression:
                raise OptionError(f"the {name} of rdf_query must be a literal")
        query_option = _query_option(query.value, {} if options is None else options.value)
        schema = _parse_checked(query_option, "select").schema
        assert schema is not None
        return _AnalyzedQuery(StructType(schema.fields[2:]), query_option=query_option)

    def eval(
        self, quads: list[tuple[str, ...]] | None, query: str, options: object = None
    ) -> Iterator[tuple[Any, ...]]:
        """Yield the solutions for one message."""
        if quads is None:
            return
        rows = pa.RecordBatch.from_arrays([pa.array([quads], _QUADS)], ["quads"])
        for batch in batches_from_arrow(rows):
            for table in self._create_evaluation.tables(batch, None):
                if isinstance(table, LimitError):
                    raise table
                columns = [column.to_pylist() for column in table.columns[2:]]
                yield from zip(*columns, strict=True)


def _ask_function() -> Callable[..., Column]:
    def rdf_ask(*columns: pa.Array) -> pa.Array:
        return _evaluate_column("ask", "answer", pa.bool_(), columns)

    function: Callable[..., Column] = arrow_function(rdf_ask, BooleanType(), deterministic=True)
    return function


def _construct_function() -> Callable[..., Column]:
    def rdf_construct(*columns: pa.Array) -> pa.Array:
        return _evaluate_column("construct", "quads", _QUADS, columns)

    # Not declared deterministic, because Spark would construct the quads again for each filter.
    function: Callable[..., Column] = arrow_function(rdf_construct, QUADS)
    return function


def _evaluate_column(
    kind: str, name: str, type: pa.DataType, columns: tuple[pa.Array, ...]
) -> pa.Array:
    """Return a column of query results, with null for null quads.

    Raises:
        OptionError: If the arguments are invalid or differ between rows.
        DecodeError: If quads are invalid, or a message exceeds a limit of the query.
    """
    if len(columns) not in (2, 3):
        raise OptionError(
            f"{_FUNCTIONS[kind]} takes quads, a query and optionally a map of options: map('name', 'value')"
        )
    quads, queries = columns[:2]
    if not len(quads):
        return pa.array([], type)
    query_option = _query_option(
        _constant(queries, "query"), _constant(columns[2], "options") if columns[2:] else {}
    )
    evaluation = _create_evaluation(query_option, kind)
    quads = cast_untyped(quads, QUADS)
    valid = quads.is_valid()
    present = pa.RecordBatch.from_arrays([quads.filter(valid)], ["quads"])
    arrays: list[pa.Array] = []
    for batch in batches_from_arrow(present):
        for table in evaluation.tables(batch, None):
            if isinstance(table, LimitError):
                raise table
            arrays.append(table[name].cast(type))
    results = pa.concat_arrays(arrays) if arrays else pa.array([], type)
    if not quads.null_count:
        return results
    rows = iter(range(len(results)))
    return results.take(
        pa.array([next(rows) if is_valid else None for is_valid in valid.to_pylist()], pa.int64())
    )


def _constant(column: pa.Array, name: str) -> Any:
    """The value of a column. It must be the same in all rows."""
    if not column[1:].equals(column[:-1]):
        raise OptionError(f"the {name} must be the same in all rows; pass a literal")
    return column[0].as_py()


def _query_option(query: object, options: object) -> str:
    """Combine a query and its options into a value of the option `query`."""
    if not isinstance(query, str):
        raise OptionError("the query must be a string, not null")
    pairs = options.items() if isinstance(options, Mapping) else options or []
    return json.dumps({**dict(cast("Any", pairs)), "query": query})


@lru_cache(maxsize=64)
def _create_evaluation(query_option: str, kind: str) -> Evaluation:
    return Evaluation(_parse_checked(query_option, kind))


def _parse_checked(query_option: str, kind: str) -> SparkQuery:
    """Return the query, which must be of the given form.

    Raises:
        OptionError: If the query is not of this form, or an option is invalid.
        QueryError: If the query is invalid.
    """
    query = _parse(query_option)
    if query.kind != kind:
        raise OptionError(
            f"{_FUNCTIONS[kind]} takes {kind.upper()}, not {query.kind.upper()}; use "
            f"{_FUNCTIONS[query.kind]}"
        )
    if query.options.get("skip_empty"):
        raise OptionError("rdf_construct returns a value for each row; filter by size(…) > 0")
    return query


def _parse(query_option: str) -> SparkQuery:
    query = SparkQuery.parse(query_option)
    assert query is not None
    return query


def _value_function() -> str:
    """The statement that creates `rdf_value`."""
    predicate = "rdf_value.predicate"
    iri = f"IF(startswith({predicate}, '<'), {predicate}, concat('<', {predicate}, '>'))"
    first = f"get(filter(quads, quad -> quad.predicate = {iri}), 0).object"
    return f"""
        CREATE OR REPLACE TEMPORARY FUNCTION rdf_value(quads {QUADS.simpleString()}, predicate STRING)
        RETURNS STRING
        RETURN {_bind_value(first, "term", _value_expression("term"))}
    """


def _value_expression(term: str) -> str:
    """The SQL expression for the value of a term, as `rdfm.spark.functions.value` computes it."""
    suffix = f"""substring_index({term}, '"', -1)"""
    inside = f"""CASE
        WHEN startswith({term}, '"') AND locate('"', {term}, 2) > 0
            THEN substring({term}, 2, length({term}) - length({suffix}) - 2)
        WHEN startswith({term}, '<') AND endswith({term}, '>') THEN substring({term}, 2, length({term}) - 2)
    END"""
    return f"""CASE
        WHEN startswith({term}, '_:') THEN substr({term}, 3)
        WHEN startswith({term}, '<<') OR NOT contains({term}, r'\') THEN IF(startswith({term}, '<<'), {term}, {inside})
        ELSE {_bind_value(_resolve_letter_escapes(inside), "simple", _resolve_numeric_escapes("simple"))}
    END"""


def _resolve_letter_escapes(text: str) -> str:
    """The SQL expression for a string with one-letter escapes resolved."""
    simple = rf"replace({text}, r'\\', r'\u005C')"
    for letter, character in ESCAPES.items():
        simple = rf"""replace({simple}, concat(r'\', {_literal(letter)}), char({ord(character)}))"""
    return simple


def _resolve_numeric_escapes(simple: str) -> str:
    """The SQL expression for a string with numeric escapes resolved; null if any is invalid."""
    short = "concat(decode(unhex(concat('0000FEFF0000', substring(piece, 2, 4))), 'UTF-32'), substr(piece, 6))"
    long = "concat(decode(unhex(concat('0000FEFF', substring(piece, 2, 8))), 'UTF-32'), substr(piece, 10))"
    piece = f"CASE WHEN i = 0 THEN piece WHEN startswith(piece, 'u') THEN {short} ELSE {long} END"
    pieces = rf"transform(split({simple}, r'\\'), (piece, i) -> {piece})"
    return f"IF({simple} RLIKE r'{NO_ESCAPE}', NULL, array_join({pieces}, ''))"


def _bind_value(value: str, name: str, expression: str) -> str:
    """An SQL expression in which a name refers to a value that Spark computes once."""
    return f"get(transform(array({value}), {name} -> {expression}), 0)"


def _literal(text: str) -> str:
    return '"\'"' if text == "'" else f"'{text}'"
