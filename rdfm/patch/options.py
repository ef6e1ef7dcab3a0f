"""The options of each change, besides those of the formats."""

from __future__ import annotations

from dataclasses import replace

from rdfm.formats import OptionSpec
from rdfm.logs.options import CHANGING, READING, WRITING

__all__ = ["APPLY", "DIFF", "FROM_LOG", "REVERT", "TO_LOG"]


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
