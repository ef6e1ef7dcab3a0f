"""The options of commands that answer questions about logs, besides those of the formats."""

from __future__ import annotations

from dataclasses import replace

from rdfm.compare.isomorphism import MAX_STEPS
from rdfm.formats import OptionSpec
from rdfm.logs.options import READING

__all__ = ["DIFF"]

_FORMATS = "Formats"
_SAME = "What is the same"
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
            "Metadata do not count; else they do where both formats have them.",
            default=False,
            group=_SAME,
        ),
        OptionSpec(
            "ignore_namespaces",
            "switch",
            "Namespaces do not count; else they do where both formats have them.",
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
    )
}
