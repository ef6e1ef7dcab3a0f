"""Remedies as Python's users write them; and what is declared about the option of a remedy.

In: a remedy. Out: its option with its value, such as `merge_graphs=True`.
Law: what an option is called, and what stands for a value that is to be filled in, is its declaration's.
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
    """Give what the sides that have an option declare about it, as their first format does; plug-ins come last."""
    for found in (formats.built_in, formats.every):
        declared: dict[Side, OptionSpec] = {}
        for format in found():
            for side in _SIDES:
                if (option := format.spec.options(side).get(name)) is not None:
                    declared.setdefault(side, option)
        if declared:
            return declared
    return {}


def declared(remedy: Remedy) -> OptionSpec | None:
    """Give what is declared about a remedy's option, if anything is."""
    if remedy.side == "stage":
        found = STAGE_OPTIONS.get(remedy.option)
        return found or next(iter(of_formats(remedy.option).values()), None)
    return of_formats(remedy.option).get(remedy.side)


def in_python(remedy: Remedy) -> str:
    """Give the keyword of a call, with the value.

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
    """Give a keyword with its values: texts, but for numbers, switches and the placeholder.

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
    """Give values as a choice in a sentence.

    Example:
        >>> any_of(["nq", "trig", "jelly"])
        'nq, trig or jelly'
    """
    *most, last = values
    return f"{', '.join(most)} or {last}" if most else last
