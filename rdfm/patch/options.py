"""The options of each change, besides those of the formats."""

from __future__ import annotations

from dataclasses import replace

from rdfm.formats import OptionSpec
from rdfm.logs.options import READING, WRITING, declare

__all__ = ["APPLY", "CHANGING", "DIFF", "FROM_LOG", "REVERT", "TO_LOG"]

_FORMATS = "Formats"
_CHANGES = "Changes"

CHANGING = declare(
    OptionSpec(
        "patch_format",
        help="Format of the patches, such as rdf-patch; else as each shows by its suffix.",
        metavar="FORMAT",
        group=_FORMATS,
    ),
    OptionSpec(
        "chain",
        "switch",
        "Refuse a patch whose prev is not the id of the patch before it, or apply it all the same.",
        default=True,
        off="no-chain",
        group=_CHANGES,
    ),
    OptionSpec(
        "separate_blank_nodes",
        "switch",
        "A blank node that is used in several transactions becomes several; else it is refused.",
        default=False,
        group=_CHANGES,
    ),
    OptionSpec(
        "per_message",
        "switch",
        "Compare the messages of two logs one by one, a patch each.",
        default=False,
        group=_CHANGES,
    ),
    OptionSpec(
        "snapshots",
        "switch",
        "Of one log, the changes from each message to the next, a patch each; the first makes the first message.",
        default=False,
        group=_CHANGES,
    ),
    OptionSpec(
        "canonical",
        "switch",
        "Know blank nodes by what is said of them, not by their labels.",
        default=False,
        group=_CHANGES,
    ),
)


def _stages(*names: str, inputs: str = "inputs") -> dict[str, OptionSpec]:
    """What all changes take, and options of their own."""
    reading = {option.name: option for option in READING}["from_format"]
    reading = replace(reading, help=reading.help.replace("inputs", inputs))
    own = {option.name: option for option in CHANGING}
    options = (reading, *WRITING, *(own[name] for name in names))
    return {option.name: option for option in options}


APPLY = _stages("patch_format", "chain", inputs="dataset")
FROM_LOG = _stages(inputs="log")
TO_LOG = _stages("separate_blank_nodes", inputs="patches")
DIFF = _stages("per_message", "snapshots", "canonical")
REVERT = _stages("chain", inputs="patches")
