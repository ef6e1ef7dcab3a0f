"""Options of the `rdfm patch` commands, except those of the formats."""

from __future__ import annotations

from dataclasses import replace

from rdfm.formats import OptionSpec
from rdfm.logs.options import APPENDING, READING, WRITING, declare

__all__ = ["APPLY", "CHANGING", "DIFF", "FROM_LOG", "REVERT", "SHARED", "TO_LOG"]

_INPUT = "Input"
_CHANGES = "Changes"

CHANGING = declare(
    OptionSpec(
        "patch_format",
        help="Format of the patches, such as rdf-patch (default: from the file suffix).",
        metavar="FORMAT",
        group=_INPUT,
    ),
    OptionSpec(
        "chain",
        "switch",
        "Reject a patch whose prev header is not the id of the previous patch.",
        default=True,
        off="no-chain",
        group=_CHANGES,
    ),
    OptionSpec(
        "separate_blank_nodes",
        "switch",
        "Split a blank node that occurs in several transactions (default: error).",
        default=False,
        group=_CHANGES,
    ),
    OptionSpec(
        "per_message",
        "switch",
        "Compare two logs message by message, with one patch per message.",
        default=False,
        group=_CHANGES,
    ),
    OptionSpec(
        "snapshots",
        "switch",
        "Write the changes from each message of one log to the next.",
        default=False,
        group=_CHANGES,
    ),
    OptionSpec(
        "canonical",
        "switch",
        "Match blank nodes by their properties, not by their labels.",
        default=False,
        group=_CHANGES,
    ),
    OptionSpec(
        "ids",
        "switch",
        "Link the patches with id and prev headers (default: if there may be several).",
        off="no-ids",
        group=_CHANGES,
    ),
)


def _options(*names: str, inputs: str = "inputs") -> dict[str, OptionSpec]:
    """Return the options that all changes share, plus the named options."""
    from_format = {option.name: option for option in READING}["from_format"]
    from_format = replace(from_format, help=from_format.help.replace("inputs", inputs))
    changing = {option.name: option for option in (*APPENDING, *CHANGING)}
    options = (from_format, *WRITING, *(changing[name] for name in names))
    return {option.name: option for option in options}


SHARED = _options()
APPLY = _options("patch_format", "chain", inputs="dataset")
_LINKED = ("append", "sync", "repair", "ids")
FROM_LOG = _options(*_LINKED, inputs="log")
TO_LOG = _options("separate_blank_nodes", inputs="patches")
DIFF = _options(*_LINKED, "per_message", "snapshots", "canonical")
REVERT = _options("chain", inputs="patches")
