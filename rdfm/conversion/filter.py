"""Logs to a log of the messages that hold what is asked for: `rdfm filter`.

In: logs. Out: one log, and a `Summary`; or how many messages there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rdfm.conversion.convert import plan
from rdfm.conversion.options import STAGES
from rdfm.conversion.own_input import refuse_own_input
from rdfm.conversion.pipeline import Pipeline
from rdfm.conversion.summary import Summary
from rdfm.errors import OptionError
from rdfm.logs.driver import Broken, Driver, Read, Reading
from rdfm.logs.filtering import FILTERING, Filtering
from rdfm.logs.input import Readable
from rdfm.logs.output import Writable
from rdfm.logs.progress import Progress, Reporter, total_bytes

__all__ = ["FILTER", "count", "filter_logs"]

_OTHERS = (
    "from_format",
    "to_format",
    "compression",
    "split_messages",
    "split_bytes",
    "overwrite",
    "message_per_file",
    "take",
    "on_error",
    "keep_partial",
)
FILTER = {
    **{option.name: option for option in FILTERING},
    **{name: STAGES[name] for name in _OTHERS},
}


def filter_logs(
    inputs: Sequence[Readable],
    output: Writable,
    *,
    progress: Callable[[Progress], None] | None = None,
    **options: Any,
) -> Summary:
    """Write the messages of logs that hold what is asked for, in order, as a log.

    Args:
        inputs: What `open_log` takes.
        output: As in `convert`.
        progress: As in `convert`.
        **options: Those of `FILTER`, and those of the formats as in `convert`.

    Raises:
        OptionError: What is asked for is no term, expression or time; nothing declares the namespace of a name.
        RdfmError, OSError: As `convert`.
    """
    refuse_own_input(list(inputs), output)
    total = None if progress is None else total_bytes(inputs)
    made = plan(list(inputs), output, options, total, FILTER)
    return Pipeline(made, Reporter(progress)).run()


def count(inputs: Sequence[Readable], **options: Any) -> int:
    """Give the number of messages of logs that hold what is asked for.

    Args:
        inputs: What `open_log` takes.
        **options: Those of `FILTER` but those of the output, and reading options of the formats.

    Raises:
        OptionError: What is asked for is no term, expression or time; nothing declares the namespace of a name.
        RdfmError, OSError: As `open_log`.
    """
    stages = {name: FILTER[name].value(value) for name, value in options.items() if name in FILTER}
    reads = {
        name.removeprefix("from_"): value for name, value in options.items() if name not in FILTER
    }
    if "to_format" in stages:
        raise OptionError("nothing is written when messages are counted; leave out to_format")
    filtering = Filtering(stages)
    each = stages.get("message_per_file", False)
    driver = Driver(list(inputs), Reading(stages.get("from_format"), reads, message_per_file=each))
    found = 0
    try:
        for item in driver:
            if isinstance(item, Broken) and stages.get("on_error") != "skip":
                raise item.error
            if isinstance(item, Read) and item.batch is not None:
                found += sum(len(kept.batch or ()) for kept in filtering.choose(item))
    finally:
        driver.close()
    filtering.check()
    return found
