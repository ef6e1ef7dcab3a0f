"""Options of queries, except those of the formats."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rdfm.errors import OptionError, spell_option
from rdfm.formats import OptionSpec
from rdfm.logs.options import READING, WRITING, declare

__all__ = ["QUERY", "QUERYING", "as_texts", "parse_seconds", "parse_types"]

_QUERY = "Query"

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
        help="Column types, such as time=dateTime,n=integer.",
        metavar="NAME=TYPE,...",
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
    help="Stop at invalid data, exceeded query limits and ill-typed values, or skip them.",
)
QUERY = {**_QUERY_OPTIONS, **_READING, **{option.name: option for option in WRITING}}


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


def parse_types(text: str | None) -> dict[str, str]:
    """Parse column types, and return them by variable name.

    Raises:
        OptionError: If the text is malformed or repeats a name. Type names are checked later.

    Example:
        >>> parse_types("time=dateTime, ?value=double")
        {'time': 'dateTime', 'value': 'double'}
    """
    types: dict[str, str] = {}
    for part in re.split(r"[,\s]+", (text or "").strip()):
        if not part:
            continue
        name, equals, type = part.partition("=")
        name = name.lstrip("?$")
        if not (name and equals and type):
            raise OptionError(
                f"{spell_option('types')} contains '{part[:40]}', expected names with types, "
                "such as time=dateTime,value=double"
            )
        if name in types:
            raise OptionError(f"{spell_option('types')} contains {name} twice; remove one of them")
        types[name] = type
    return types


def as_texts(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that are not None, with `types` and `timeout` as on the command line."""
    set_options = {name: value for name, value in options.items() if value is not None}
    if isinstance(types := set_options.get("types"), Mapping):
        set_options["types"] = ",".join(f"{name}={type}" for name, type in types.items())
    if isinstance(timeout := set_options.get("timeout"), (int, float)):
        set_options["timeout"] = str(timeout)
    return set_options
