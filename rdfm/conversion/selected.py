"""Which messages a conversion writes: what its options say as a selection.

In: the options of the stages. Out: a `Selection`, and the split to read where it need not read all.
Cost: a number of messages to sample is drawn of all, which are counted first: the inputs are read twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from rdfm._core import MessageBatch, Regrouper
from rdfm.conversion import regroup
from rdfm.errors import OptionError, RdfmError
from rdfm.logs.driver import Broken, Driver, Read, Reading
from rdfm.logs.input import Readable
from rdfm.logs.seek import seek
from rdfm.logs.selection import (
    Selection,
    as_slice,
    parse_messages,
    parse_sample,
    share,
    sliced,
    some,
)

__all__ = ["select"]

_WAYS = ("messages", "sample", "skip", "take")


def select(
    stages: Mapping[str, Any],
    inputs: list[Readable],
    reading: Reading,
    make_regrouper: Callable[[], Regrouper | None],
) -> tuple[Selection, Reading]:
    """Give what is written of that which is read, and how it is read for that.

    Args:
        stages: The options of the stages.
        inputs: What is read.
        reading: How all of it is read.
        make_regrouper: Gives what moves the boundaries of messages, if anything is to.

    Raises:
        OptionError: Options do not fit.
        DecodeError, UnknownFormatError, OSError: The inputs cannot be read, where that is done first.
    """
    _refuse_two(stages)
    if (sample := stages.get("sample")) is not None:
        drawn = parse_sample(sample)
        seed = stages.get("seed", 0)
        if isinstance(drawn, float):
            return share(drawn, seed), reading
        skips = stages.get("on_error") == "skip"
        return some(drawn, _count(inputs, reading, make_regrouper(), skips=skips), seed), reading
    if "seed" in stages:
        raise OptionError("seed is for a sample; ask for one, such as 1%")
    if (text := stages.get("messages")) is None:
        skip, take = stages.get("skip", 0), stages.get("take")
        return sliced(slice(skip, None if take is None else skip + take)), reading
    chosen = parse_messages(text)
    split = None
    if len(inputs) == 1 and make_regrouper() is None and not reading.message_per_file:
        split = seek(inputs[0], reading, as_slice(chosen))
    if split is None:
        return sliced(chosen), reading
    first = split.first_index or 0
    return sliced(chosen, first=first), replace(reading, split=split)


def _refuse_two(stages: Mapping[str, Any]) -> None:
    """Refuse two ways of saying which messages; skip and take go together."""
    ways = [name for name in _WAYS if stages.get(name) is not None]
    if len(ways) > 1 and ways != ["skip", "take"]:
        raise OptionError(
            f"{ways[0]} and {ways[1]} both say which messages to write; leave one of them out"
        )


def _count(
    inputs: list[Readable], reading: Reading, regrouper: Regrouper | None, *, skips: bool
) -> int:
    """The number of messages."""
    for given in inputs:
        if hasattr(given, "read"):
            name = getattr(given, "name", "a file object")
            raise OptionError(
                f"a sample of so many messages is drawn of all, and {name} cannot be read twice; "
                "give a share, such as 1%"
            )
    count = 0
    driver = Driver(inputs, reading)

    def add(batches: Any) -> None:
        nonlocal count
        for batch in batches:
            count += len(batch) - batch.continued

    try:
        for item in driver:
            if isinstance(item, Broken) and not skips:
                raise item.error
            if isinstance(item, Read) and item.batch is not None:
                if regrouper is not None and isinstance(item.batch, MessageBatch):
                    regrouper.feed(item.batch)
                    add(regroup.taken(regrouper))
                else:
                    add([item.batch])
        if regrouper is not None:
            regrouper.finish()
            add(regroup.taken(regrouper))
    except RdfmError as error:
        if getattr(error, "source", None) is None:
            error.source = driver.name  # type: ignore[attr-defined]
        raise
    finally:
        driver.close()
    return count
