"""Remedies in Python syntax, and the declarations of their options.

In: a remedy. Out: its option with its value, such as `merge_graphs=True`.
Law: the name of an option and the placeholder for its value come from its declaration.
"""

from __future__ import annotations

from collections.abc import Iterable

from rdfm import formats
from rdfm.errors import Remedy
from rdfm.formats import OptionSpec
from rdfm.formats.spec import Side
from rdfm.logs.options import STAGE_OPTIONS

__all__ = ["any_of", "as_keyword", "declared", "in_python", "of_formats"]

_SIDES: tuple[Side, ...] = ("read", "write")


def of_formats(name: str) -> dict[Side, OptionSpec]:
    """Return an option's declarations by side, each from the first format that has the option.

    Plug-ins are searched only if no built-in format has the option.
    """
    for found in (formats.built_in, formats.all):
        declared: dict[Side, OptionSpec] = {}
        for format in found():
            for side in _SIDES:
                if (option := format.spec.options(side).get(name)) is not None:
                    declared.setdefault(side, option)
        if declared:
            return declared
    return {}


def declared(remedy: Remedy) -> OptionSpec | None:
    """Return the declaration of a remedy's option, or None if there is none."""
    if remedy.side == "stage":
        found = STAGE_OPTIONS.get(remedy.option)
        return found or next(iter(of_formats(remedy.option).values()), None)
    return of_formats(remedy.option).get(remedy.side)


def in_python(remedy: Remedy) -> str:
    """Return a remedy as a keyword argument with its value.

    Example:
        >>> in_python(Remedy("stage", "from_format", "trig", ""))
        'format="trig" (from_format in convert)'
    """
    if not remedy.values:
        return remedy.option
    option = declared(remedy)
    if option is None:
        return as_keyword(remedy.option, remedy.values)
    where = f"{option.name} in convert" if option.keyword else option.instead
    shown = as_keyword(option.keyword or option.name, remedy.values, option.placeholder)
    return f"{shown} ({where})" if where else shown


def as_keyword(name: str, values: list[str], placeholder: str = "") -> str:
    """Return a keyword with its values, quoted except for numbers, switches and the placeholder.

    Example:
        >>> as_keyword("context", ["URL=FILE"], "URL=FILE")
        'context={URL: FILE}'
    """
    if not values:
        return name
    return f"{name}={any_of(_literal(value, placeholder) for value in values)}"


def _literal(value: str, placeholder: str) -> str:
    if value in ("true", "false"):
        return value.capitalize()
    if value == placeholder:
        key, equals, mapped = value.partition("=")
        return f"{{{key}: {mapped}}}" if equals else value
    return value if value.isdigit() else f'"{value}"'


def any_of(values: Iterable[str]) -> str:
    """Return values as alternatives in a sentence.

    Example:
        >>> any_of(["nq", "trig", "jelly"])
        'nq, trig or jelly'
    """
    *others, last = values
    return f"{', '.join(others)} or {last}" if others else last
