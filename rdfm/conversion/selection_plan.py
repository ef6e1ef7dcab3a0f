"""Selecting the messages that a conversion writes.

In: the options of the stages. Out: a `Selection`, and the split to read if part of the input is
enough.
Cost: for a sample of a given number of messages, the inputs are read twice: first to count the
messages.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from rdfm.errors import OptionError, RdfmError, spell_option
from rdfm.logs.input.driver import Driver, Read, Reading
from rdfm.logs.input.inputs import Readable, reads_once
from rdfm.logs.stages.selection import (
    Selection,
    as_slice,
    parse_messages,
    parse_sample,
    random_share,
    random_subset,
    sliced,
)
from rdfm.logs.stages.stage import SkipErrors, Stage, through

__all__ = ["select"]

_SELECTORS = ("messages", "sample", "skip", "take")


def select(
    stages: Mapping[str, Any],
    inputs: list[Readable],
    reading: Reading,
    regrouping: Callable[[], tuple[Stage, ...]],
) -> tuple[tuple[Selection, ...], Reading]:
    """Return the stage that selects messages, if needed, and the settings for reading the inputs.

    Args:
        stages: Options of the stages.
        inputs: The inputs.
        reading: Settings for reading the complete inputs.
        regrouping: Creates the stages before the selection that move message boundaries.

    Raises:
        OptionError: If options conflict or are invalid.
        DecodeError, UnknownFormatError, OSError: If the inputs cannot be read to count messages.
    """
    _reject_conflicts(stages)
    if (sample := stages.get("sample")) is not None:
        size = parse_sample(sample)
        seed = stages.get("seed", 0)
        if isinstance(size, float):
            return (_renumbered(random_share(size, seed)),), reading
        skips = stages.get("on_error") == "skip"
        count = _count(inputs, reading, regrouping(), skips=skips)
        return (_renumbered(random_subset(size, count, seed)),), reading
    if "seed" in stages:
        raise OptionError(
            f"{spell_option('seed')} applies to a random sample; add an option such as {spell_option('sample', '1%')}"
        )
    if (text := stages.get("messages")) is None:
        skip, take = stages.get("skip", 0), stages.get("take")
        if not skip and take is None:
            return (), reading
        bounds = slice(skip, None if take is None else skip + take)
        return (_renumbered(sliced(bounds)),), reading
    selector = parse_messages(text)
    is_regrouped = bool(regrouping())
    split = None
    if len(inputs) == 1 and not is_regrouped and not reading.message_per_file:
        from rdfm.logs.read.seek import seek  # costly to import

        split = seek(inputs[0], reading, as_slice(selector))
    if split is not None:
        reading = replace(reading, split=split)
    selection = sliced(selector, first=0 if split is None else split.first_message_index or 0)
    return (_renumbered(selection) if is_regrouped else selection,), reading


def _renumbered(selection: Selection) -> Selection:
    """Exclude skipped messages from the numbering of a selection, and return the selection."""
    selection.counts_skipped = False
    return selection


def _reject_conflicts(stages: Mapping[str, Any]) -> None:
    """Reject combinations of options that select messages, except `skip` with `take`."""
    given = [name for name in _SELECTORS if stages.get(name) is not None]
    if len(given) > 1 and given != ["skip", "take"]:
        raise OptionError(
            f"{spell_option(given[0])} and {spell_option(given[1])} both select messages; use only one of them"
        )


def _count(
    inputs: list[Readable], reading: Reading, stages: tuple[Stage, ...], *, skips: bool
) -> int:
    """Return the number of messages after the stages."""
    for given in inputs:
        if reads_once(given):
            name = given if isinstance(given, (str, os.PathLike)) else getattr(given, "name", None)
            raise OptionError(
                "sampling a fixed number of messages requires reading the input twice, "
                f"but {name or 'a file object'} can be read only once; use a percentage such as 1%"
            )
    driver = Driver(inputs, reading)
    try:
        return sum(
            len(item.batch) - item.batch.continued
            for item in through(driver, (SkipErrors(skip=skips), *stages))
            if isinstance(item, Read) and item.batch is not None
        )
    except RdfmError as error:
        if getattr(error, "source", None) is None:
            error.source = driver.name  # type: ignore[attr-defined]
        raise
    finally:
        driver.close()
