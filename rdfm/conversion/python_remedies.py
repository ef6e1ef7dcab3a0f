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

__all__ = [
    "as_keyword",
    "find_format_options",
    "find_option",
    "join_alternatives",
    "render_for_python",
]

_SIDES: tuple[Side, ...] = ("read", "write")


def find_format_options(name: str) -> dict[Side, OptionSpec]:
    """Return an option's declarations by side, each from the first format that has the option.

    Plug-ins are searched only if no built-in format has the option.
    """
    for list_formats in (formats.built_in, formats.all):
        options_by_side: dict[Side, OptionSpec] = {}
        for format in list_formats():
            for side in _SIDES:
                if (option := format.spec.options(side).get(name)) is not None:
                    options_by_side.setdefault(side, option)
        if options_by_side:
            return options_by_side
    return {}


def find_option(remedy: Remedy) -> OptionSpec | None:
    """Return the declaration of a remedy's option, or None if there is none."""
    if remedy.side == "stage":
        option = STAGE_OPTIONS.get(remedy.option)
        return option or next(iter(find_format_options(remedy.option).values()), None)
    return find_format_options(remedy.option).get(remedy.side)


def render_for_python(remedy: Remedy) -> str:
    """Return a remedy as a keyword argument with its value.

    Example:
        >>> render_for_python(Remedy("stage", "from_format", "trig", ""))
        'format="trig" (from_format in convert)'
    """
    if not remedy.values:
        return remedy.option
    option = find_option(remedy)
    if option is None:
        return as_keyword(remedy.option, remedy.values)
    keyword = as_keyword(option.keyword or option.name, remedy.values, option.placeholder)
    return f"{keyword} ({option.name} in convert)" if option.keyword else keyword


def as_keyword(name: str, values: list[str], placeholder: str = "") -> str:
    """Return a keyword with its values, quoted except for numbers, switches and the placeholder.

    Example:
        >>> as_keyword("context", ["URL=FILE"], "URL=FILE")
        'context={URL: FILE}'
    """
    if not values:
        return name
    return f"{name}={join_alternatives(_literal(value, placeholder) for value in values)}"


def _literal(value: str, placeholder: str) -> str:
    if value in ("true", "false"):
        return value.capitalize()
    if value == placeholder:
        key, equals, mapped = value.partition("=")
        return f"{{{key}: {mapped}}}" if equals else value
    return value if value.isdigit() else f'"{value}"'


def join_alternatives(values: Iterable[str]) -> str:
    """Return values as alternatives in a sentence.

    Example:
        >>> join_alternatives(["nq", "trig", "jelly"])
        'nq, trig or jelly'
    """
    *others, last = values
    return f"{', '.join(others)} or {last}" if others else last
