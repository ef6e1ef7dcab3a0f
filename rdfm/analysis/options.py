"""The options of commands that answer questions about logs, besides those of the formats."""

from __future__ import annotations

from dataclasses import replace

from rdfm.compare.isomorphism import MAX_STEPS
from rdfm.formats import OptionSpec
from rdfm.logs.options import READING

__all__ = ["DIFF", "MAX_TOTAL_STEPS", "VALIDATE"]

# About 20 s of search on one core.
MAX_TOTAL_STEPS = 50 * MAX_STEPS

_FORMATS = "Formats"
_SAME = "What is the same"
_TOLD = "What is told"
_CHECKED = "What else is checked"
_FOUND = "How differences are found"

_FORMAT = {option.name: option for option in READING}["from_format"]

DIFF: dict[str, OptionSpec] = {
    option.name: option
    for option in (
        replace(_FORMAT, help=_FORMAT.help.replace("the inputs", "both logs")),
        OptionSpec(
            "from_format_a",
            help="Format of A, if it is another than B's.",
            metavar="FORMAT",
            group=_FORMATS,
            flag="from-a",
        ),
        OptionSpec(
            "from_format_b",
            help="Format of B.",
            metavar="FORMAT",
            group=_FORMATS,
            flag="from-b",
        ),
        OptionSpec(
            "quads",
            "choice",
            "Whether a message is a set of quads, or their order and repetitions count too.",
            choices=("set", "ordered"),
            default="set",
            group=_SAME,
        ),
        OptionSpec(
            "unordered",
            "switch",
            "The order of the messages does not count, but how often each is there.",
            default=False,
            group=_SAME,
        ),
        OptionSpec(
            "ignore_metadata",
            "switch",
            "Do not compare metadata. By default they are compared if both formats have them.",
            default=False,
            group=_SAME,
        ),
        OptionSpec(
            "namespaces",
            "switch",
            "Compare namespaces too, if both formats have them.",
            default=False,
            group=_SAME,
        ),
        OptionSpec(
            "limit",
            "count",
            "Show the first N differences; the others are counted.",
            default=10,
            group=_FOUND,
        ),
        OptionSpec(
            "window",
            "count",
            "After a difference, look for where the logs meet again among the next N messages of both at least.",
            least=1,
            most=100_000,
            default=1000,
            group=_FOUND,
        ),
        OptionSpec(
            "max_steps",
            "count",
            "Work that two messages with blank nodes may take, in quads looked at; over it they are undecided.",
            least=1,
            default=MAX_STEPS,
            group="Limits that protect memory",
        ),
        OptionSpec(
            "max_total_steps",
            "count",
            "The same for all messages together, except 64 steps for each quad.",
            default=MAX_TOTAL_STEPS,
            group="Limits that protect memory",
        ),
    )
}
VALIDATE: dict[str, OptionSpec] = {
    option.name: option
    for option in (
        _FORMAT,
        OptionSpec(
            "strict",
            "switch",
            "Count warnings as errors.",
            default=False,
            group=_TOLD,
        ),
        OptionSpec(
            "max_errors",
            "count",
            "Stop at so many errors.",
            least=1,
            metavar="N",
            group=_TOLD,
        ),
        OptionSpec(
            "max_warnings",
            "count",
            "Show so many warnings of each rule; the others are counted.",
            default=20,
            metavar="N",
            group=_TOLD,
        ),
        OptionSpec(
            "chain",
            "switch",
            "The first patch of a log has to follow the last patch of the log before: if not, it is an error.",
            default=False,
            group=_CHECKED,
        ),
        OptionSpec(
            "options_from",
            "log",
            "A Jelly log, whose stream options no Jelly log may go beyond: other types, larger tables, a newer version.",
            group=_CHECKED,
        ),
        OptionSpec(
            "shapes",
            "file",
            "SHACL shapes, to which each message has to conform by itself, the union of its graphs taken as one. Needs "
            "rdfm[shacl].",
            group=_CHECKED,
        ),
    )
}
