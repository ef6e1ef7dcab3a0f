"""Options of queries, except those of the formats."""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from rdfm.conversion.skipping import SKIPPING
from rdfm.errors import OptionError, spell_option
from rdfm.formats import OptionSpec
from rdfm.logs.options import READING, WRITING, declare

__all__ = [
    "ANY",
    "QUERY",
    "QUERYING",
    "TYPES",
    "ColumnTypes",
    "as_texts",
    "parse_seconds",
    "parse_types",
]

_QUERY = "Query"

# Key of the type of the columns without a type of their own.
ANY = "*"
TYPES = (
    "string", "iri", "node", "langString", "terms", "boolean", "integer", "decimal", "float",
    "double", "dateTime", "localDateTime", "date", "time", "duration",
)  # fmt: skip
_PYTHON_TYPES: dict[object, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "double",
    decimal.Decimal: "decimal",
    datetime.datetime: "dateTime",
    datetime.date: "date",
    datetime.time: "time",
    datetime.timedelta: "duration",
}

# Types by variable name, as names or Python types, or as text.
ColumnTypes: TypeAlias = Mapping[str, str | type] | str

QUERYING = declare(
    OptionSpec(
        "whole",
        "switch",
        "Query all messages as one dataset, in memory.",
        default=False,
        group=_QUERY,
    ),
    OptionSpec(
        "union_graphs",
        "switch",
        "Query all graphs together as the default graph.",
        default=False,
        group=_QUERY,
    ),
    OptionSpec(
        "prefixes",
        "namespaces",
        "Namespace prefix for the query; may be repeated.",
        group=_QUERY,
        flag="prefix",
    ),
    OptionSpec(
        "types",
        help="Column types, such as time=dateTime,n=integer; auto: by the values.",
        metavar="[auto,]NAME=TYPE,...",
        group=_QUERY,
    ),
    OptionSpec(
        "skip_empty",
        "switch",
        "Omit messages for which no triples are constructed.",
        default=False,
        group=_QUERY,
    ),
    OptionSpec(
        "solutions",
        "file",
        "SPARQL results file to use instead of logs (CONSTRUCT only).",
        group=_QUERY,
    ),
    OptionSpec(
        "timeout",
        help="Time limit per message (with whole: in total).",
        metavar="SECONDS",
        group=_QUERY,
    ),
    OptionSpec(
        "max_rows",
        "count",
        "Maximum number of solutions per message (with whole: in total).",
        minimum=1,
        default=1_000_000,
        group=_QUERY,
    ),
)

_QUERY_OPTIONS = {option.name: option for option in QUERYING}
_READING = {option.name: option for option in READING}
_READING["on_error"] = replace(
    _READING["on_error"],
    help="On invalid data, exceeded query limits and ill-typed values: fail, skip, or skip-line.",
)
QUERY = {
    **_QUERY_OPTIONS,
    **_READING,
    **{option.name: option for option in (*SKIPPING, *WRITING)},
}


def parse_seconds(text: str | None) -> float | None:
    """Parse a number of seconds.

    Raises:
        OptionError: If the text is not a number between 0 and 1e9, exclusive.

    Example:
        >>> parse_seconds("0.5")
        0.5
    """
    if text is None:
        return None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < 1e9:
        raise OptionError(
            f"{spell_option('timeout')} must be a number of seconds, such as 5 or 0.5, not '{str(text)[:40]}'"
        )
    return number


def parse_types(text: str | None, *, infers: bool = True) -> dict[str, str]:
    """Parse column types, and return them by variable name. "auto" has the name `ANY`.

    Args:
        text: The types.
        infers: Whether "auto" is supported.

    Raises:
        OptionError: If the text is malformed or repeats a name. Type names are checked later.

    Example:
        >>> parse_types("time=dateTime, ?value=double")
        {'time': 'dateTime', 'value': 'double'}
    """
    types: dict[str, str] = {}
    for part in _split_types(text or ""):
        name, equals, type = part.partition("=")
        name = name.lstrip("?$")
        if part == "auto":
            if not infers:
                raise OptionError(
                    f"{spell_option('types')} cannot be auto here, because the columns must be known "
                    "before the first row; name their types, such as time=dateTime,value=double"
                )
            name, equals, type = ANY, "=", "auto"
        if not (name and equals and type):
            raise OptionError(
                f"{spell_option('types')} contains '{part[:40]}', expected names with types, "
                "such as time=dateTime,value=double"
            )
        if name in types:
            raise OptionError(f"{spell_option('types')} contains {name} twice; remove one of them")
        types[name] = type
    return types


def _split_types(text: str) -> list[str]:
    """Split types at commas and white space, except in the brackets of a type."""
    parts, depth, in_type = [""], 0, False
    for character in text:
        if depth == 0 and (character == "," or character.isspace()):
            parts.append("")
            in_type = False
            continue
        parts[-1] += character
        if in_type:
            depth += (character in "{(") - (character in "})")
        in_type = in_type or character == "="
    return list(filter(None, parts))


def as_texts(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that are not None, with `types` and `timeout` as on the command line."""
    set_options = {name: value for name, value in options.items() if value is not None}
    if isinstance(types := set_options.get("types"), Mapping):
        set_options["types"] = ",".join(f"{n}={_type_name(n, type)}" for n, type in types.items())
    if isinstance(timeout := set_options.get("timeout"), (int, float)):
        set_options["timeout"] = str(timeout)
    return set_options


def _type_name(name: object, type: object) -> str:
    """Return the name of a type, or of the type for values of a Python type.

    Raises:
        OptionError: If it is neither.
    """
    if isinstance(type, str):
        return type
    try:
        return _PYTHON_TYPES[type]
    except (KeyError, TypeError):
        known = ", ".join(python_type.__name__ for python_type in (str, bool, int, float))
        raise OptionError(
            f"{spell_option('types')} has {repr(type)[:40]} for {str(name)[:40]!r}, expected a name "
            f"such as 'double', or a Python type such as {known}"
        ) from None
