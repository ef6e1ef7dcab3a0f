"""Spark's options: text under names without case, taken one by one with their types.

In: what stands in `.option(…)`. Out: values; what nobody took belongs to the format.
Law: an option that nobody knows, or a value that does not fit, is an error that says what does.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

from rdfm import formats
from rdfm._core import option_value
from rdfm.errors import OptionError
from rdfm.formats import FormatSpec, OptionSpec, key
from rdfm.storage import compression as compressions

__all__ = ["COMPRESSIONS", "MODES", "Options", "as_text"]

MODES = ("FAILFAST", "PERMISSIVE", "DROPMALFORMED")
# What users say, and how `open_log` and `create_log` take it.
COMPRESSIONS = {
    **{name: name for name in (*compressions.COMPRESSIONS, "none")},
    "uncompressed": "none",
}


class Options:
    """The options of one read or write. Names are compared without case and underscores.

    Attributes:
        rest: Those that were not taken yet: name as it is compared, and value.
        taken: The names that were asked for, given or not.

    Example:
        >>> options = Options({"splitBytes": "64m", "lenient": "true"})
        >>> options.number("splitBytes", 0), options.rest
        (67108864, {'lenient': 'true'})
    """

    def __init__(self, given: Mapping[str, str]) -> None:
        """Take Spark's map.

        Raises:
            OptionError: An option is given twice.
        """
        self.rest: dict[str, str] = {}
        self.taken: list[str] = []
        for name, value in given.items():
            if key(name) in self.rest:
                raise OptionError(f"the option {name} is given twice; leave one out")
            self.rest[key(name)] = value

    def text(self, name: str, default: str | None = None) -> str | None:
        """Take a text."""
        self.taken.append(name)
        return self.rest.pop(key(name), default)

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
        most = (1 << 63) - 1
        number: int = option_value(f"the option {name}", "bytes", least, most, [], value)
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

    def of_formats(self, specs: list[FormatSpec], side: Literal["read", "write"]) -> dict[str, Any]:
        """Take what is left: options of formats, as text that fits.

        Raises:
            OptionError: None of the formats takes one of them, or not that value.
        """
        known: dict[str, OptionSpec] = {}
        for spec in specs:
            for name, option in spec.options(side).items():
                if not option.python_only:
                    known.setdefault(key(name), option)
        values = {}
        for written, text in self.rest.items():
            if written not in known:
                raise OptionError(self._refusal(written, specs, side))
            option = known[written]
            values[option.name] = option.value(text)
        return values

    def _refusal(
        self, written: str, specs: list[FormatSpec], side: Literal["read", "write"]
    ) -> str:
        """Say that there is no such option, and what there is."""
        for spec in formats.specs():
            for name in spec.options(side):
                if key(name) == written and len(specs) == 1:
                    return specs[0].refusal(side, name)
        names = sorted(
            {
                name
                for spec in specs
                for name, option in spec.options(side).items()
                if not option.python_only
            }
        )
        doing = "reading" if side == "read" else "writing"
        whose = f"the format {specs[0].name}" if len(specs) == 1 else "the formats"
        takers = ", ".join(names) or "none"
        return (
            f"there is no option '{written[:40]}'; {doing} takes {', '.join(sorted(self.taken))}, and "
            f"{whose} {takers}"
        )

    def moment(self, name: str) -> float | None:
        """Take a date and time, in UTC unless it says a zone; gives seconds since 1970."""
        value = self.text(name)
        if value is None:
            return None
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            raise OptionError(
                f"the option {name} is a date and time, such as 2026-06-01T13:00:00 (UTC) or "
                f"2026-06-01T13:00:00+02:00, not '{value[:40]}'"
            ) from None
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()

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
            OptionError: There is none, or it is empty, which would mean the process's own folder.
        """
        one = self.rest.pop("path", None)
        several: Any = self.rest.pop("paths", None)
        found = [one] if one is not None else []
        if several is not None:
            with contextlib.suppress(ValueError):
                several = json.loads(several)
            if not isinstance(several, list):
                raise OptionError(
                    "the option paths is Spark's own, a JSON array; give load(path) or load([path, …])"
                )
            found += several
        # Where a table is made Spark shows its properties, but where it is read nothing at all.
        if not found or {"owner", "provider"} <= self.rest.keys():
            raise OptionError(
                "there is no path: load(path) needs one; a table of the catalog passes no options "
                "to Python sources, so make a view instead: "
                "CREATE TEMPORARY VIEW name USING rdfm OPTIONS (path '...')"
            )
        if "" in found:
            raise OptionError("the path is an empty text; a folder of this machine is '.' at least")
        return found


def as_text(given: Mapping[str, Any]) -> dict[str, str]:
    """Give typed options as Spark takes them; those that are None are left out.

    Example:
        >>> as_text({"lenient": True, "split_bytes": 1000, "base": None})
        {'lenient': 'true', 'split_bytes': '1000'}
    """
    return {name: _as_text(value) for name, value in given.items() if value is not None}


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return json.dumps(dict(value))
    return value.isoformat() if isinstance(value, datetime) else str(value)
