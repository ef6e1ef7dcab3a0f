"""Options of entity tables, except those of the formats."""

from __future__ import annotations

from rdfm.conversion.skipping import SKIPPING
from rdfm.formats import OptionSpec
from rdfm.logs.options import READING, WRITING, declare
from rdfm.sparql.query_options import QUERYING

__all__ = ["TABLE", "TABLING"]

_TABLE = "Table"
_SHARED = {option.name: option for option in QUERYING}

TABLING = declare(
    OptionSpec(
        "predicates",
        "texts",
        "Only columns for these predicates; may be repeated.",
        metavar="IRI",
        group=_TABLE,
        flag="predicate",
    ),
    OptionSpec(
        "classes",
        "texts",
        "Only subjects with this rdf:type in their message; may be repeated.",
        metavar="IRI",
        group=_TABLE,
        flag="class",
    ),
    OptionSpec(
        "names",
        "choice",
        "Column names: prefixed names, or the local part of IRIs.",
        choices=("prefixed", "local"),
        default="prefixed",
        group=_TABLE,
    ),
    OptionSpec(
        "lists",
        "choice",
        "List columns: if a subject has several values, or always.",
        choices=("auto", "always"),
        default="auto",
        group=_TABLE,
    ),
    OptionSpec(
        "first",
        "switch",
        "Keep the first value of each subject, and count the others.",
        default=False,
        group=_TABLE,
    ),
    OptionSpec(
        "depth",
        "count",
        "Nest blank nodes as structs and lists, up to this depth.",
        minimum=0,
        default=0,
        group=_TABLE,
    ),
    OptionSpec(
        "max_columns",
        "count",
        "Maximum number of columns, including those of nested nodes.",
        minimum=1,
        default=1000,
        group=_TABLE,
    ),
)

TABLE = {
    option.name: option
    for option in (
        *TABLING,
        *(_SHARED[name] for name in ("union_graphs", "prefixes", "types")),
        *READING,
        *SKIPPING,
        *WRITING,
    )
}
