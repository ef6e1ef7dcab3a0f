"""Remedies as command-line options.

In: a remedy. Out: its flag with its value, such as `--merge-graphs`, or None if the command line
does not have the option.
Law: `SpecCommand` derives the same names from the same declarations.
"""

from __future__ import annotations

from rdfm.conversion.python_remedies import find_format_options, find_option, join_alternatives
from rdfm.errors import Remedy
from rdfm.formats import OptionSpec
from rdfm.formats.spec import requires_side

__all__ = ["render_for_command_line"]

_PREFIXES = {"read": "from", "write": "to"}


def render_for_command_line(remedy: Remedy) -> str | None:
    """Return the flag of a remedy with its value, or None.

    Example:
        >>> render_for_command_line(Remedy("write", "merge_graphs", "true", ""))
        '--merge-graphs'
        >>> render_for_command_line(Remedy("read", "frames", "message", ""))
        '--from-frames message'
    """
    option, prefix = _find_option(remedy)
    if option is None or option.python_only:
        return None
    if remedy.value == "false":
        return f"--{prefix}{option.off}" if option.off else None
    parts = [f"--{prefix}{option.option}"]
    if remedy.value not in (None, "true"):
        parts.append(join_alternatives(remedy.values))
    return " ".join(parts)


def _find_option(remedy: Remedy) -> tuple[OptionSpec | None, str]:
    """Return the declaration of the option, and the prefix that its flag needs to name the side."""
    if remedy.side == "stage":
        return find_option(remedy), ""
    side = _PREFIXES[remedy.side]
    name = remedy.option.removeprefix(f"{side}_")
    sides = find_format_options(name)
    needs_prefix = name != remedy.option or requires_side(sides.values())
    return sides.get(remedy.side), f"{side}-" if needs_prefix else ""
