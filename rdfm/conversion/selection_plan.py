"""Selecting the messages that a conversion writes.

In: the options of the stages. Out: a `Selection`, and the split to read if part of the input is
enough.
Cost: for a sample of a given number of messages, the inputs are read twice: first to count the
messages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from rdfm.errors import OptionError, spell_option
from rdfm.logs.input.driver import ReadSettings
from rdfm.logs.input.inputs import Readable
from rdfm.logs.stages.selection import (
    Selection,
    count_messages,
    parse_messages,
    parse_sample,
    random_share,
    random_subset,
    select_slice,
    to_slice,
)
from rdfm.logs.stages.stage import Stage

__all__ = ["select"]

_SELECTORS = ("messages", "sample", "skip", "take")


def select(
    stages: Mapping[str, Any],
    inputs: list[Readable],
    settings: ReadSettings,
    regrouping: Callable[[], tuple[Stage, ...]],
    *,
    numbered: bool = False,
) -> tuple[tuple[Selection, ...], ReadSettings]:
    """Return the stage that selects messages, if needed, and the settings for reading the inputs.

    Args:
        stages: Options of the stages.
        inputs: The inputs.
        settings: Settings for reading the complete inputs.
        regrouping: Creates the stages before the selection that move message boundaries.
        numbered: As in `seek`.

    Raises:
        OptionError: If options conflict or are invalid.
        DecodeError, UnknownFormatError, OSError: If the inputs cannot be read to count messages.
    """
    _reject_conflicts(stages)
    if (sample := stages.get("sample")) is not None:
        size = parse_sample(sample)
        seed = stages.get("seed", 0)
        if isinstance(size, float):
            return (_renumber(random_share(size, seed)),), settings
        skips = stages.get("on_error", "fail") != "fail"
        count = count_messages(inputs, settings, regrouping(), skips=skips)
        return (_renumber(random_subset(size, count, seed)),), settings
    if "seed" in stages:
        raise OptionError(
            f"{spell_option('seed')} applies to a random sample; add an option such as {spell_option('sample', '1%')}"
        )
    if (text := stages.get("messages")) is None:
        skip, take = stages.get("skip", 0), stages.get("take")
        if not skip and take is None:
            return (), settings
        bounds = slice(skip, None if take is None else skip + take)
        return (_renumber(select_slice(bounds)),), settings
    selector = parse_messages(text)
    is_regrouped = bool(regrouping())
    split = None
    if len(inputs) == 1 and not is_regrouped and not settings.message_per_file:
        from rdfm.logs.read.seek import seek  # costly to import

        split = seek(inputs[0], settings, to_slice(selector), numbered=numbered)
    if split is not None:
        settings = replace(settings, split=split)
    selection = select_slice(selector, first=0 if split is None else split.first_message_index or 0)
    return (_renumber(selection) if is_regrouped else selection,), settings


def _renumber(selection: Selection) -> Selection:
    """Exclude skipped messages from the numbering of a selection, and return the selection."""
    selection.counts_skipped = False
    return selection


def _reject_conflicts(stages: Mapping[str, Any]) -> None:
    """Reject combinations of options that select messages, except `skip` with `take`."""
    names = [name for name in _SELECTORS if stages.get(name) is not None]
    if len(names) > 1 and names != ["skip", "take"]:
        raise OptionError(
            f"{spell_option(names[0])} and {spell_option(names[1])} both select messages; use only one of them"
        )
