"""The options of a query, besides those of the formats."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rdfm.errors import OptionError
from rdfm.formats import OptionSpec
from rdfm.logs.options import READING, WRITING, declare

__all__ = ["QUERY", "QUERYING", "as_texts", "seconds", "types_of"]

_QUERY = "The query"

QUERYING = declare(
    OptionSpec(
        "whole",
        "switch",
        "Query all inputs as one dataset, which is held in memory; without, each message by itself.",
        default=False,
        group=_QUERY,
    ),
    OptionSpec(
        "union_graphs",
        "switch",
        "The default graph of the query is all graphs together, those with names too.",
        default=False,
        group=_QUERY,
    ),
    OptionSpec(
        "prefixes",
        "namespaces",
        "A namespace that the query need not declare; may be repeated.",
        group=_QUERY,
        flag="prefix",
    ),
    OptionSpec(
        "types",
        help="Types of columns of a table, such as time=dateTime,value=double; others hold terms as N-Triples.",
        metavar="NAME=TYPE,...",
        group=_QUERY,
    ),
    OptionSpec(
        "skip_empty",
        "switch",
        "Leave out the messages for which CONSTRUCT makes no triple.",
        default=False,
        group=_QUERY,
    ),
    OptionSpec(
        "solutions",
        "file",
        "SPARQL results that CONSTRUCT makes messages of, one of each row, in the place of logs.",
        group=_QUERY,
    ),
    OptionSpec(
        "timeout",
        help="Seconds that the query may take for a message, such as 0.5; with whole for all.",
        metavar="SECONDS",
        group=_QUERY,
    ),
    OptionSpec(
        "max_rows",
        "count",
        "Solutions that a message may have; with whole all together, which have no limit unless this is given.",
        least=1,
        default=1_000_000,
        group=_QUERY,
    ),
)

_OWN = {option.name: option for option in QUERYING}
_READING = {option.name: option for option in READING}
_READING["on_error"] = replace(
    _READING["on_error"],
    help="What to do at broken data, at a message that meets timeout or max_rows, and at a value that is not of its "
    "column's type: stop, or leave it out and go on.",
)
QUERY = {**_OWN, **_READING, **{option.name: option for option in WRITING}}


def seconds(text: str | None) -> float | None:
    """Give the seconds that a text says.

    Raises:
        OptionError: It says none.

    Example:
        >>> seconds("0.5")
        0.5
    """
    if text is None:
        return None
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not 0 < found < 1e9:
        raise OptionError(
            f"timeout is a number of seconds, such as 5 or 0.5, not '{str(text)[:40]}'"
        )
    return found


def types_of(given: str | None) -> dict[str, str]:
    """Give the types of columns by the names of variables.

    Raises:
        OptionError: It says none; the names of the types are for whoever makes the columns.

    Example:
        >>> types_of("time=dateTime, ?value=double")
        {'time': 'dateTime', 'value': 'double'}
    """
    found: dict[str, str] = {}
    for part in re.split(r"[,\s]+", (given or "").strip()):
        if not part:
            continue
        name, equals, type = part.partition("=")
        name = name.lstrip("?$")
        if not (name and equals and type):
            raise OptionError(
                f"types are names and types, such as time=dateTime,value=double, not '{part[:40]}'"
            )
        if name in found:
            raise OptionError(f"types name {name} twice; leave one out")
        found[name] = type
    return found


def as_texts(options: Mapping[str, Any]) -> dict[str, Any]:
    """Give options that are not None; what Python has another type for is a text, as on the command line."""
    made = {name: value for name, value in options.items() if value is not None}
    if isinstance(types := made.get("types"), Mapping):
        made["types"] = ",".join(f"{name}={type}" for name, type in types.items())
    if isinstance(timeout := made.get("timeout"), (int, float)):
        made["timeout"] = str(timeout)
    return made
