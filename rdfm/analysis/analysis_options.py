"""Options of `diff` and `validate`, except those of the formats."""

from __future__ import annotations

from dataclasses import replace

from rdfm.compare.isomorphism import MAX_STEPS
from rdfm.formats import OptionSpec
from rdfm.logs.options import CHECKING, READING, declare

__all__ = ["DIFF", "MAX_TOTAL_STEPS", "VALIDATE"]

# About 20 s of search on one core.
MAX_TOTAL_STEPS = 50 * MAX_STEPS

_INPUT = "Input"
_COMPARISON = "Comparison"
_CHECKS = "Checks"
_OUTPUT = "Output"
_LIMITS = "Limits that protect memory"

_FORMAT = {option.name: option for option in READING}["from_format"]

DIFF: dict[str, OptionSpec] = {
    option.name: option
    for option in declare(
        replace(_FORMAT, help=_FORMAT.help.replace("the inputs", "both logs")),
        OptionSpec(
            "from_format_a",
            help="Format of A, if it differs from B's.",
            metavar="FORMAT",
            group=_INPUT,
            flag="from-a",
        ),
        OptionSpec(
            "from_format_b",
            help="Format of B.",
            metavar="FORMAT",
            group=_INPUT,
            flag="from-b",
        ),
        OptionSpec(
            "quads",
            "choice",
            "Compare quads as a set, or also compare their order and repetition.",
            choices=("set", "ordered"),
            default="set",
            group=_COMPARISON,
        ),
        OptionSpec(
            "unordered",
            "switch",
            "Ignore the order of messages, but not how often each occurs.",
            default=False,
            group=_COMPARISON,
        ),
        OptionSpec(
            "ignore_metadata",
            "switch",
            "Do not compare metadata (default: compared if both formats support it).",
            default=False,
            group=_COMPARISON,
        ),
        OptionSpec(
            "namespaces",
            "switch",
            "Also compare namespaces, if both formats support them.",
            default=False,
            group=_COMPARISON,
        ),
        OptionSpec(
            "limit",
            "count",
            "Show the first N differences and count the others.",
            default=10,
            group=_OUTPUT,
        ),
        OptionSpec(
            "window",
            "count",
            "After a difference, number of messages to search for the next match.",
            minimum=1,
            maximum=100_000,
            default=1000,
            group=_OUTPUT,
        ),
        OptionSpec(
            "max_steps",
            "count",
            "Maximum work to compare two messages with blank nodes, in quads visited.",
            minimum=1,
            default=MAX_STEPS,
            group=_LIMITS,
        ),
        OptionSpec(
            "max_total_steps",
            "count",
            "Maximum work for the entire comparison, in quads visited, in addition to 64 per quad.",
            default=MAX_TOTAL_STEPS,
            group=_LIMITS,
        ),
    )
}
VALIDATE: dict[str, OptionSpec] = {
    option.name: option
    for option in declare(
        _FORMAT,
        *CHECKING,
        OptionSpec(
            "chain",
            "switch",
            "Require that patches continue the chain of ids across logs.",
            default=False,
            group=_CHECKS,
        ),
        OptionSpec(
            "options_from",
            "log",
            "Jelly log whose stream options the inputs must not exceed.",
            group=_CHECKS,
        ),
        OptionSpec(
            "shapes",
            "file",
            "SHACL shapes for each message, with its graphs merged. Requires rdfm[shacl].",
            group=_CHECKS,
        ),
    )
}
