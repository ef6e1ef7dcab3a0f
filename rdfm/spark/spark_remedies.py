"""Renders remedies as options of Spark reads and writes, or as keywords of functions on columns.

In: a remedy. Out: its option and value, such as `.option("mergeGraphs", "true")`; None if Spark has
no such option.
Law: the names are declared in `rdfm.spark.spark_options`.
"""

from __future__ import annotations

from rdfm.conversion.python_remedies import any_of, as_keyword, declared
from rdfm.errors import Remedy
from rdfm.formats import OptionSpec
from rdfm.spark.spark_options import (
    FILES,
    FUNCTION_OPTIONS,
    READING,
    RENAMED,
    STREAMING,
    WRITE_ID,
    WRITING,
    camel_case,
)

__all__ = ["render_for_function", "render_for_spark"]

NULL_VALUE = Remedy("stage", "mode", "PERMISSIVE", "returns null for invalid values")
MODES_OF_ERRORS = (
    Remedy("stage", "mode", "PERMISSIVE", "returns a row with the error"),
    Remedy("stage", "mode", "DROPMALFORMED", "skips the message"),
    Remedy("stage", "ignore_corrupt_files", "true", "skips the rest of the file"),
)
OTHER_FILES = (
    Remedy("stage", "path_glob_filter", "PATTERN", "selects files by their names"),
    Remedy("stage", "ignore_corrupt_files", "true", "skips files that are not logs"),
)
NOT_SPLIT = Remedy("stage", "split_bytes", "0", "reads the file without splits")

# Options of Spark reads and writes, by the names used in remedies.
_SPARK_OPTIONS = {
    spec.name: (name, spec)
    for specs in (READING, FILES, STREAMING, WRITING, WRITE_ID)
    for name, spec in specs.items()
}


def render_for_spark(remedy: Remedy) -> str | None:
    """Return a remedy as a call of `option`.

    Example:
        >>> render_for_spark(Remedy("stage", "to", "nq", ""))
        '.option("to", "nq")'
    """
    if (spark_option := _find_spark_option(remedy)) is None:
        return None
    name, option, values = spark_option
    name = camel_case(name)
    if not values:
        return f"option {name}"
    first, *others = values
    if others:
        return f'.option("{name}", …) with {any_of(values)}'
    url, equals, file = first.partition("=")
    if equals and first == option.placeholder:
        return f""".option("{name}", '{{"{url}": "{file}"}}')"""
    return f'.option("{name}", "{first}")'


def render_for_function(remedy: Remedy) -> str | None:
    """Return a remedy as a keyword of a function on columns.

    Example:
        >>> render_for_function(Remedy("stage", "to", "nq", ""))
        'format="nq"'
    """
    if (spark_option := _find_spark_option(remedy)) is None:
        return None
    _, option, values = spark_option
    if remedy.side == "stage" and option.name not in {spec.name for spec in FUNCTION_OPTIONS}:
        return None
    return as_keyword(option.keyword or option.name, values, option.placeholder)


def _find_spark_option(remedy: Remedy) -> tuple[str, OptionSpec, list[str]] | None:
    """Spark's name of an option, its declaration and its values."""
    if remedy.side != "stage":
        option = declared(remedy)
        if option is None or option.python_only:
            return None
        return option.name, option, remedy.values
    name, value = RENAMED.get((remedy.option, remedy.value or ""), (remedy.option, remedy.value))
    if name not in _SPARK_OPTIONS:
        return None
    return (*_SPARK_OPTIONS[name], [] if value is None else value.split("|"))
