"""Spark's options: text under names without case, taken one by one with their types.

In: what stands in `.option(…)`. Out: values; what nobody took belongs to the format.
Law: an option that nobody knows, or a value that does not fit, is an error that says what does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rdfm.errors import OptionError
from rdfm.formats._options import size

__all__ = ["Options"]


class Options:
    """The options of one read or write.

    Attributes:
        rest: Those that were not taken yet: name in lower case and value.

    Example:
        >>> options = Options({"splitBytes": "64m", "lenient": "true"})
        >>> options.number("splitBytes", 0), options.rest
        (67108864, {'lenient': 'true'})
    """

    def __init__(self, given: Mapping[str, str]) -> None:
        """Take Spark's map."""
        self.rest = {name.lower(): value for name, value in given.items()}

    def text(self, name: str, default: str | None = None) -> str | None:
        """Take a text."""
        return self.rest.pop(name.lower(), default)

    def switch(self, name: str, default: bool) -> bool:
        """Take `true` or `false`."""
        value = self.text(name)
        if value is None:
            return default
        if value.lower() not in ("true", "false"):
            raise OptionError(f"the option {name} is true or false, not '{value[:40]}'")
        return value.lower() == "true"

    def number(self, name: str, default: int, *, least: int = 0) -> int:
        """Take a number, such as `64m` (powers of 1024)."""
        value = self.text(name)
        if value is None:
            return default
        try:
            number = size(value)
        except ValueError:
            number = -1
        if number < least:
            raise OptionError(
                f"the option {name} is a number of at least {least}, such as 1000 or 64m, "
                f"not '{value[:40]}'"
            )
        return number

    def choice(self, name: str, choices: Sequence[str], default: str) -> str:
        """Take one of some words, whatever their case."""
        value = self.text(name)
        if value is None:
            return default
        for choice in choices:
            if choice.lower() == value.lower():
                return choice
        raise OptionError(f"the option {name} is one of {', '.join(choices)}, not '{value[:40]}'")

    def mapping(self, name: str) -> dict[str, Any]:
        """Take a JSON object."""
        value = self.text(name)
        if value is None:
            return {}
        try:
            mapping = json.loads(value)
        except ValueError:
            mapping = None
        if not isinstance(mapping, dict):
            # The value is not shown: it may hold credentials.
            raise OptionError(f'the option {name} is a JSON object, such as {{"key": "value"}}')
        return mapping

    def paths(self) -> list[str]:
        """Take the paths of `load`: one, or several as Spark hands them over.

        Raises:
            OptionError: There is none.
        """
        one, several = self.text("path"), self.text("paths")
        found = [one] if one is not None else []
        if several is not None:
            found += json.loads(several)
        if not found:
            raise OptionError(
                "there is no path: load(path) needs one; a table of the catalog passes no options "
                "to Python sources, so make a view of a load instead"
            )
        return found
