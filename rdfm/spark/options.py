"""Spark's options: text under names without case, taken one by one with their types.

In: what stands in `.option(…)`. Out: values; what nobody took belongs to the format.
Law: an option that nobody knows, or a value that does not fit, is an error that says what does.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from rdfm.errors import OptionError
from rdfm.formats._options import key, size
from rdfm.storage import compression as compressions

__all__ = ["COMPRESSIONS", "MODES", "Options", "as_text", "for_spark"]

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


def for_spark(reason: str) -> str:
    """An error's ways out as Spark's users can take them: without those of the command line.

    Example:
        >>> for_spark("raise max_depth (--max-depth) if the source is trusted, or write less")
        'raise the option max_depth if the source is trusted'
        >>> for_spark("split_messages=1 (--split-messages 1) writes one file a message")
        'maxRecordsPerFile=1 writes one file a message'
        >>> for_spark("frames=message (--frames message) reads each as one")
        'frames=message reads each as one'
    """
    # What follows is for who converts.
    reason = re.sub(r"(?<= if the source is trusted), [^;]*", "", reason)
    for pattern, spark in (
        (
            r"(?:a folder as output or )?split_messages=1 \(--split-messages 1\)",
            "maxRecordsPerFile=1",
        ),
        (r"--from \(format=… or from_format=…\)", "the option format"),
        (r", in Python format=… or from_format=…", ""),
        (r"\braise (\w+) \(--[\w-]+\)", r"raise the option \1"),
        (r"\(--from (\w+)\)", r"(format=\1)"),
        (r" \(--[^()]+\)", ""),
    ):
        reason = re.sub(pattern, spark, reason)
    return reason
