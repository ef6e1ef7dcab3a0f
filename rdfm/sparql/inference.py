"""Column types from the values of rows.

In: rows of terms. Out: a type for each column, and why columns contain terms.
Cost: each distinct combination of kind, datatype and language of a batch, and one conversion of it.
Law: the types do not depend on the order of rows. Every value fits the type of its column, and no
value is converted with a loss, except the lexical form of numbers, dates and times.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from rdfm._core import ResultBatch, TypedColumns
from rdfm.errors import spell_option
from rdfm.logs.read.frames import require_package

__all__ = ["INFERRED_ROWS", "TypeInference", "has_zone", "term_structs"]

INFERRED_ROWS = 10_000
XSD = "http://www.w3.org/2001/XMLSchema#"
# A time zone at the end of a date or time.
_ZONE = r"(Z|[+-]\d\d:\d\d)\s*$"
_INTEGERS = (
    "integer long int short byte nonNegativeInteger positiveInteger nonPositiveInteger "
    "negativeInteger unsignedLong unsignedInt unsignedShort unsignedByte"
)
_TYPES = {
    **{XSD + name: "integer" for name in _INTEGERS.split()},
    **{XSD + name: name for name in ("decimal", "float", "double", "boolean", "date", "time")},
    XSD + "dateTime": "dateTime",
    XSD + "dateTimeStamp": "dateTime",
    XSD + "dayTimeDuration": "duration",
    XSD + "string": "text",
}
_NUMBERS = {"integer", "decimal", "float", "double"}
# Types for sets of kinds of values. A set of one kind has the type with its name.
_COMBINED = {
    frozenset({"integer", "decimal"}): "decimal",
    frozenset({"float", "double"}): "double",
}
_SINGLE = {
    "node", "boolean", "integer", "decimal", "float", "double", "date", "dateTime",
    "localDateTime", "time", "duration",
}  # fmt: skip
# The type of the core that accepts the values of a kind.
_CHECKED_AS = {"integer": "decimal", "float": "double", "localDateTime": "dateTime"}


class _Example(NamedTuple):
    """The first value of a kind: its row, counted over all batches, its message and its text."""

    row: int
    message_index: int | None
    text: str


class _Column:
    """The kinds of values of a column, each with its first value."""

    def __init__(self) -> None:
        self.kinds: dict[str, _Example] = {}
        self.long: _Example | None = None  # the first integer of more than 64 bits

    @property
    def type(self) -> str:
        kinds = frozenset(self.kinds)
        if len(kinds) == 1:
            (kind,) = kinds
            if kind in _SINGLE:
                return "terms" if kind == "integer" and self.long is not None else kind
            return "string" if kind == "text" or kind.startswith(("@", "<")) else "terms"
        if kinds and all(kind == "text" or kind.startswith("@") for kind in kinds):
            return "langString"
        return _COMBINED.get(kinds, "terms")

    def examples(self) -> list[_Example]:
        found = [*self.kinds.values(), *([] if self.long is None else [self.long])]
        return sorted(found)


class TypeInference:
    """Finds a type for each column."""

    def __init__(self, variables: Sequence[str]) -> None:
        """Begin without rows.

        Args:
            variables: Names of the columns.
        """
        self._columns = {name: _Column() for name in variables}
        self._row = 0

    def observe(self, rows: ResultBatch, indexes: Sequence[int | None] = ()) -> None:
        """Take the values of rows into account.

        Args:
            rows: The rows.
            indexes: The message index of each row, if rows belong to messages.
        """
        if not len(rows):
            return
        structs = term_structs(rows)
        checks: dict[str, str] = {}
        found = {}
        for name, column in self._columns.items():
            if column.type == "terms" and len(column.kinds) > 1:
                continue  # no further value changes the type
            kinds, firsts = _kinds(structs.column(name))
            for kind, row in firsts:
                if kind not in column.kinds:
                    column.kinds[kind] = self._example(rows, indexes, name, row)
            if column.type != "terms" or set(column.kinds) == {"integer"}:
                used = {_CHECKED_AS.get(kind, kind) for kind, _ in firsts}
                used -= {"text", "node", "invalid"}
                used = {kind for kind in used if kind[0] not in "@<"}
                if used:
                    checks[name] = "decimal" if "decimal" in used else used.pop()
                    found[name] = kinds
        self._check(rows, indexes, checks, found)
        integers = {
            name: "integer"
            for name in checks
            if "integer" in self._columns[name].kinds and self._columns[name].long is None
        }
        self._check(rows, indexes, integers, found)
        self._row += len(rows)

    def _check(
        self,
        rows: ResultBatch,
        indexes: Sequence[int | None],
        checks: dict[str, str],
        found: dict[str, Any],
    ) -> None:
        """Find values that do not fit the types of `checks`."""
        if not checks:
            return
        import pyarrow as pa
        import pyarrow.compute as pc

        columns = TypedColumns(rows.variables, checks, messages=False)
        typed = pa.record_batch(columns.of_rows(rows, misfits_are_null=True)[0])
        for name, type in checks.items():
            values, column = typed.column(name), self._columns[name]
            if values.null_count == found[name].null_count:
                continue
            wrong = pc.and_(pc.is_valid(found[name]), pc.is_null(values))
            if type == "integer":
                wrong = pc.and_(wrong, pc.equal(found[name], "integer"))
            row = pc.index(wrong, True).as_py()
            if row < 0:
                continue
            example = self._example(rows, indexes, name, row)
            if type == "integer":
                column.long = example
            else:
                column.kinds["invalid"] = example

    def _example(
        self, rows: ResultBatch, indexes: Sequence[int | None], name: str, row: int
    ) -> _Example:
        term = rows.slice(row, row + 1).rows()[0][list(rows.variables).index(name)]
        return _Example(self._row + row, indexes[row] if indexes else None, str(term)[:40])

    @property
    def types(self) -> dict[str, str]:
        """The type of each column; "terms" if it has no values."""
        return {name: column.type for name, column in self._columns.items()}

    def example(self, name: str) -> tuple[int, int | None, str]:
        """Return the last new kind of value of a column: its row, message index and text."""
        return self._columns[name].examples()[-1]

    def notes(self) -> Iterator[str]:
        """Yield a note for each column whose values have no common type."""
        for name, column in self._columns.items():
            examples = column.examples()
            if column.type != "terms" or not examples:
                continue
            first = {example.row: example for example in examples}.values()  # one per row
            texts = " and ".join(map(_describe, list(first)[:2]))
            note = f"?{name} contains terms as N-Triples, because of {texts}"
            if set(column.kinds) <= _NUMBERS and len(column.kinds) > 1:
                note += f"; {spell_option('types', f'auto,{name}=double')} converts them to numbers"
            yield note


def _describe(example: _Example) -> str:
    where = "" if example.message_index is None else f" (message {example.message_index})"
    return f"'{example.text}'{where}"


def term_structs(rows: ResultBatch) -> Any:
    """Return the terms of rows as structs.

    Raises:
        MissingExtraError: If pyarrow is not installed.
    """
    with require_package("pyarrow", "a table of solutions"):
        import pyarrow as pa
    return pa.record_batch(rows.to_arrow(terms="structs"))


def has_zone(values: Any) -> Any:
    """Return for each date or time whether it ends with a time zone."""
    import pyarrow.compute as pc

    return pc.match_substring_regex(values, _ZONE)


def _kinds(terms: Any) -> tuple[Any, list[tuple[str, int]]]:
    """Return the kind of each term of a column, and each kind with its first row."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind, value, datatype, language, direction = terms.flatten()
    zoned = has_zone(value)
    codes = pc.dictionary_encode(
        pc.binary_join_element_wise(
            kind,
            pc.fill_null(datatype, ""),
            pc.fill_null(language, ""),
            pc.fill_null(direction, ""),
            pc.cast(pc.fill_null(zoned, False), pa.string()),
            "\n",
        )
    )
    names = [_kind_name(code) for code in codes.dictionary.to_pylist()]
    kinds = pc.take(pa.array(names, pa.string()), codes.indices)
    return kinds, [(name, pc.index(kinds, name).as_py()) for name in dict.fromkeys(names)]


def _kind_name(code: str) -> str:
    """Return the kind of value: a type, "text", "@tag", "<datatype>" or "invalid"."""
    kind, rest = code.split("\n", 1)
    datatype, language, direction, zoned = rest.rsplit("\n", 3)
    if kind in ("iri", "blank node"):
        return "node"
    if kind != "literal" or direction:
        return "invalid"
    if language:
        return f"@{language.lower()}"
    type = _TYPES.get(datatype, f"<{datatype}>")
    if type == "dateTime":
        return type if zoned == "true" else "localDateTime"
    return "invalid" if type in ("date", "time") and zoned == "true" else type
