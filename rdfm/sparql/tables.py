"""Converts solutions to rows of tables, or to rows of SPARQL results.

In: solutions as they are found. Out: Arrow record batches, or batches of results.
Cost: memory for a batch of rows.
Law: the columns `source` and `message_index` precede the variables, unless all logs are one dataset.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from rdfm._core import Query, ResultBatch, TypedColumns
from rdfm.conversion.tables import TableBatch
from rdfm.errors import OptionError, UnsupportedError, spell_options
from rdfm.logs.input.driver import NO_LOG, NOTHING_DROPPED, Item, ReadBatch, SkippedData
from rdfm.logs.read.frames import require_package
from rdfm.logs.stages.stage import Stage
from rdfm.sparql.inference import INFERRED_ROWS, XSD, TypeInference, has_zone, term_structs
from rdfm.sparql.query_options import ANY, TYPES
from rdfm.sparql.query_remedies import NULLS, inferred_type_remedy
from rdfm.sparql.query_stage import SolutionBatch

if TYPE_CHECKING:
    import pyarrow

__all__ = ["Columns", "LabelledRows", "TableRows", "node_texts"]

_MESSAGE_COLUMNS = ("source", "message_index")
_PURPOSE = "a table of solutions"


class LabelledRows(Stage):
    """Converts solutions to results: a header with the variables, then labelled rows.

    Rows begin with `source` and `message_index`. Blank nodes of different messages get different labels.
    """

    kind = "results"

    def __init__(self, query: Query, *, whole: bool) -> None:
        """Set up the header.

        Args:
            query: The query.
            whole: Whether all logs are one dataset, so that rows have no `source` and `message_index`.

        Raises:
            OptionError: If a variable has the name of one of these columns.
        """
        self._whole = whole
        if not whole:
            TypedColumns(query.variables)  # raises OptionError if a name conflicts
        variables = [*(() if whole else _MESSAGE_COLUMNS), *query.variables]
        self._header: ResultBatch | None = ResultBatch.from_rows([], variables)

    def process(self, item: Item) -> Iterator[Item]:
        """Yield the header once, then the rows of solutions."""
        if isinstance(item, ReadBatch):
            yield from self._begin(item)
            solutions: Any = item.batch
            if solutions is not None:
                item = item._replace(batch=self._label_rows(solutions))
        yield item

    def finish(self) -> Iterator[Item]:
        """Yield the header if there was no log."""
        yield from self._begin(ReadBatch(NO_LOG, None, {}, 0))

    def _begin(self, item: ReadBatch) -> Iterator[ReadBatch]:
        if self._header is not None:
            yield item._replace(batch=self._header, dropped_data=NOTHING_DROPPED)
            self._header = None

    def _label_rows(self, solutions: SolutionBatch) -> ResultBatch:
        if self._whole:
            return solutions.rows
        return solutions.rows.labelled(
            solutions.source or "", solutions.indexes, solutions.number_offset
        )


class Columns:
    """Converts solutions to record batches.

    The columns `source` and `message_index`, if any, precede a column for each variable.
    """

    def __init__(
        self,
        variables: Sequence[str],
        types: Mapping[str, str],
        *,
        whole: bool,
        skips: bool = False,
        inferred_rows: int = INFERRED_ROWS,
    ) -> None:
        """Set up the columns.

        Args:
            variables: Names of the variables.
            types: Column types by variable name; with `ANY`: "auto", the first `inferred_rows` rows
                decide about the other columns. Otherwise, these contain terms as N-Triples.
            whole: Whether all logs are one dataset.
            skips: Whether a value that does not have the type of its column becomes null;
                otherwise it is an error.
            inferred_rows: Number of rows that decide about types; they are buffered.

        Raises:
            OptionError: If a variable is named "source" or "message_index" (without `whole`), or `types`
                has an unknown variable or type.
        """
        self._variables, self._whole, self._skips = variables, whole, skips
        given = {name: type.removeprefix("xsd:") for name, type in types.items()}
        self._infers = given.pop(ANY, None) is not None
        self._given = given
        self._inferred_rows = inferred_rows
        self._undecided = self._inferred_names()
        self._inference = TypeInference(self._undecided)
        self._rows = self._languages = 0
        self._buffer: list[_Rows] = []
        self._set_types(given)

    def _inferred_names(self) -> list[str]:
        if not self._infers:
            return []
        return [name for name in self._variables if name not in self._given]

    def _set_types(self, types: Mapping[str, str]) -> None:
        """Set the types of all columns."""
        for name, type in types.items():
            if type not in TYPES and name in self._variables:
                raise OptionError(
                    f"unknown type '{type[:40]}' for ?{name}; expected one of {', '.join(TYPES)}"
                )
        self._types = {name: types.get(name, "terms") for name in self._variables}
        core = {name: _CORE_TYPES.get(type, type) for name, type in types.items()}
        self._columns = TypedColumns(
            self._variables,
            {name: type for name, type in core.items() if type is not None},
            messages=not self._whole,
        )

    def for_all_rows(self) -> Columns:
        """Return columns whose types are decided by all rows, at `end`."""
        types = {**self._given, ANY: "auto"}
        return Columns(
            self._variables, types, whole=self._whole, skips=self._skips, inferred_rows=sys.maxsize
        )

    @property
    def is_decided(self) -> bool:
        """Whether the types are known."""
        return not self._undecided

    @property
    def types(self) -> dict[str, str]:
        """The type of each variable's column, as in the option `types`."""
        return dict(self._types)

    @property
    def schema(self) -> pyarrow.Schema:
        """Names and types of the columns, as far as they are decided.

        Raises:
            MissingExtraError: If pyarrow is not installed.
        """
        with require_package("pyarrow", _PURPOSE):
            import pyarrow as pa
        fields = [
            pa.field(field.name, _arrow_type(self._types[field.name]) or field.type)
            if field.name in self._types
            else field
            for field in pa.schema(self._columns)
        ]
        return pa.schema(fields)

    def notes(self) -> list[str]:
        """Return notes about the types, one sentence each."""
        notes = list(map(spell_options, self._inference.notes()))
        if self._languages:
            notes.append(
                f"{self._languages:,} language tag{'' if self._languages == 1 else 's'} "
                "omitted, because the column is a string"
            )
        return notes

    def convert(self, solutions: SolutionBatch) -> Iterator[tuple[pyarrow.RecordBatch, int]]:
        """Yield rows, with the number of values that are null because they have the wrong type.

        Rows are buffered until the types are decided.

        Raises:
            UnsupportedError: If a value does not have the type of its column, and `skips` is false.
        """
        if not self._infers:
            yield self._convert(_Rows(solutions.rows, None, solutions.source), solutions)
            return
        rows = _Rows(solutions.rows, solutions.indexes, solutions.source)
        if self.is_decided:
            self._check(rows)
            yield self._convert(rows)
            return
        count = min(len(rows.rows), self._inferred_rows - self._rows)
        self._rows += count
        first = rows.slice(0, count)
        self._inference.observe(first.rows, first.indexes or ())
        self._buffer.append(rows)
        if self._rows >= self._inferred_rows:
            yield from self.end()

    def end(self) -> Iterator[tuple[pyarrow.RecordBatch, int]]:
        """Decide the types, and yield the buffered rows as in `convert`."""
        if self.is_decided:
            return
        self._set_types({**self._inference.types, **self._given})
        self._undecided = []
        buffered, self._buffer = self._buffer, []
        done = 0
        for rows in buffered:
            observed = min(len(rows.rows), self._inferred_rows - done)
            done += observed
            self._check(rows.slice(observed, len(rows.rows)))
            yield self._convert(rows)

    def _check(self, rows: _Rows) -> None:
        """Check that values after the first rows do not change the types.

        Raises:
            UnsupportedError: If one does, and `skips` is false.
        """
        if self._skips or not len(rows.rows):
            return
        self._inference.observe(rows.rows, rows.indexes or ())
        for name, type in self._inference.types.items():
            decided = self._types[name]
            if type != decided and decided != "terms":
                row, message_index, text = self._inference.example(name)
                raise UnsupportedError(
                    f"row {row}: ?{name} is '{text}', but the type of the first {self._inferred_rows:,} "
                    f"rows is {decided}",
                    message_index=message_index,
                    source=rows.source,
                    remedies=(inferred_type_remedy(name, type),),
                )

    def _convert(
        self, rows: _Rows, solutions: SolutionBatch | None = None
    ) -> tuple[pyarrow.RecordBatch, int]:
        if (
            solutions is not None
            and solutions.evaluated is not None
            and solutions.batch is not None
        ):
            core, nulls = self._columns.of_messages(
                solutions.evaluated, solutions.batch, solutions.source, misfits_are_null=self._skips
            )
        else:
            core, nulls = self._columns.of_rows(
                rows.rows, rows.indexes, rows.source, misfits_are_null=self._skips
            )
        with require_package("pyarrow", _PURPOSE):
            import pyarrow as pa
        table = pa.record_batch(core)
        if not _NOT_IN_CORE.intersection(self._types.values()):
            return table, nulls
        structs = term_structs(rows.rows)
        for name, type in self._types.items():
            if type not in _NOT_IN_CORE:
                continue
            terms, position = structs.column(name), table.schema.get_field_index(name)
            if type == "string":
                self._languages += len(terms) - terms.flatten()[3].null_count
                continue
            core_values = table.column(position)
            values = _CONVERSIONS[type](terms, core_values)
            table = table.set_column(position, pa.field(name, values.type), values)
            misfits = values.null_count - terms.null_count
            if misfits and not self._skips:
                raise self._misfit(name, rows, solutions, values)
            # The core has counted misfits, too.
            counted = core_values.null_count if type == "localDateTime" else terms.null_count
            nulls += values.null_count - counted
        return table, nulls

    def _misfit(
        self, name: str, rows: _Rows, solutions: SolutionBatch | None, values: Any
    ) -> UnsupportedError:
        position = list(self._variables).index(name)
        cells = zip(rows.rows.rows(), values.is_null().to_pylist(), strict=True)
        row, term = next(
            (row, cells[position])
            for row, (cells, is_null) in enumerate(cells)
            if is_null and cells[position] is not None
        )
        indexes = rows.indexes if solutions is None else solutions.indexes
        return UnsupportedError(
            f"?{name} is '{str(term)[:40]}', expected {_EXPECTED[self._types[name]]}",
            message_index=indexes[row] if indexes else None,
            source=rows.source,
        )


class _Rows(NamedTuple):
    """Rows without their messages."""

    rows: ResultBatch
    indexes: list[int] | None
    source: str | None

    def slice(self, start: int, end: int) -> _Rows:
        indexes = None if self.indexes is None else self.indexes[start:end]
        return _Rows(self.rows.slice(start, end), indexes, self.source)


def _arrow_type(type: str) -> Any:
    """Return the Arrow type of a type that the core does not have; otherwise None."""
    import pyarrow as pa

    if type == "langString":
        return pa.struct([("value", pa.string()), ("language", pa.string())])
    return pa.timestamp("us") if type == "localDateTime" else None


def node_texts(terms: Any) -> Any:
    """Return IRIs and blank nodes (`_:label`) as strings, and other terms as null."""
    import pyarrow.compute as pc

    kind, value = terms.flatten()[:2]
    blank = pc.binary_join_element_wise("_:", value, "")
    null = pc.if_else(pc.equal(kind, "iri"), value, None)
    return pc.if_else(pc.equal(kind, "blank node"), blank, null)


def _language_strings(terms: Any, _: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    _, value, datatype, language, direction = terms.flatten()
    plain = pc.equal(datatype, XSD + "string")
    fits = pc.and_(pc.or_(pc.fill_null(plain, False), pc.is_valid(language)), pc.is_null(direction))
    return pa.StructArray.from_arrays(
        [value, language], names=["value", "language"], mask=pc.invert(fits)
    )


def _local_times(terms: Any, times: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    zoned = pc.fill_null(has_zone(terms.flatten()[1]), True)
    return pc.if_else(zoned, None, pc.cast(times, pa.timestamp("us")))


_CONVERSIONS = {
    "node": lambda terms, _: node_texts(terms),
    "langString": _language_strings,
    "localDateTime": _local_times,
}
_EXPECTED = {
    "node": "an IRI or a blank node",
    "langString": "a string with or without a language tag",
    "localDateTime": "an xsd:dateTime without time zone",
}
# Types that need the terms of their column.
_NOT_IN_CORE = {*_CONVERSIONS, "string"}
# The types that the core converts instead, None for terms.
_CORE_TYPES = {"node": None, "langString": None, "terms": None, "localDateTime": "dateTime"}


class TableRows(Stage):
    """Converts solutions to rows of a table."""

    kind = "results"

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._last = ReadBatch(NO_LOG, None, {}, 0)

    def process_batch(self, item: ReadBatch) -> Iterator[Item]:
        """Yield the rows. Values that are null because of their type count as skipped errors.

        Raises:
            UnsupportedError: If a value does not have the type of its column, and `skips` is false.
        """
        solutions: Any = item.batch
        self._last = item
        yield from self._tables(self._columns.convert(solutions), item)

    def finish(self) -> Iterator[Item]:
        """Yield the rows that waited for the types of their columns."""
        yield from self._tables(self._columns.end(), self._last)

    def _tables(
        self, tables: Iterator[tuple[pyarrow.RecordBatch, int]], item: ReadBatch
    ) -> Iterator[Item]:
        try:
            for table, nulls in tables:
                if nulls:
                    yield SkippedData(item.source, errors=nulls)
                rows: Any = TableBatch(table)
                yield item._replace(batch=rows)
        except UnsupportedError as error:
            error.remedies = (*error.remedies, NULLS)
            raise
