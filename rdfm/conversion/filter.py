"""Filtering logs by criteria: `rdfm filter`.

In: logs. Out: one log and a `Summary`, or the number of matching messages.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from rdfm.conversion.convert import plan
from rdfm.conversion.convert_options import STAGES
from rdfm.conversion.pipeline import Pipeline
from rdfm.conversion.summary import Summary
from rdfm.errors import OptionError, spelled
from rdfm.logs.input.driver import Driver, Read, Reading
from rdfm.logs.input.inputs import Readable
from rdfm.logs.input.progress import Progress, Reporter, total_bytes
from rdfm.logs.stages.criteria import FILTERING, Filtering
from rdfm.logs.stages.selection import sliced
from rdfm.logs.stages.stage import SkipErrors, Tally, through
from rdfm.logs.write.output import Writable
from rdfm.logs.write.own_input import reject_own_input

__all__ = ["FILTER", "count", "filter_logs"]

# Options of the input and of the output.
_READ = ("from_format", "message_per_file", "take", "on_error")
_WRITTEN = (
    "to_format",
    "compression",
    "split_messages",
    "split_bytes",
    "overwrite",
    "keep_partial",
)
FILTER = {
    **{option.name: option for option in FILTERING},
    **{name: STAGES[name] for name in (*_READ, *_WRITTEN)},
}


def filter_logs(
    inputs: Sequence[Readable],
    output: Writable,
    *,
    progress: Callable[[Progress], None] | None = None,
    **options: Any,
) -> Summary:
    """Write the matching messages of logs to one log, in order.

    Args:
        inputs: Inputs that `open_log` accepts.
        output: As in `convert`.
        progress: As in `convert`.
        **options: Options of `FILTER`, and options of the formats as in `convert`.

    Raises:
        OptionError: If a criterion is not a valid term, expression or time, or if the prefix of a
            name is not declared.
        RdfmError, OSError: As in `convert`.
    """
    reject_own_input(inputs, output, options, FILTER)
    total = None if progress is None else total_bytes(inputs)
    planned = plan(list(inputs), output, options, total, FILTER)
    return Pipeline(planned, Reporter(progress)).run()


def count(inputs: Sequence[Readable], **options: Any) -> Summary:
    """Count the matching messages of logs.

    Args:
        inputs: Inputs that `open_log` accepts.
        **options: Options of `FILTER` except those of the output, and reading options of the
            formats.

    Returns:
        The numbers of matching messages, of their quads, and of skipped errors.

    Raises:
        OptionError: As in `filter_logs`, or if an option applies to the output.
        RdfmError, OSError: As in `open_log`.
    """
    stages = {name: FILTER[name].value(value) for name, value in options.items() if name in FILTER}
    reads = {
        name.removeprefix("from_"): value for name, value in options.items() if name not in FILTER
    }
    for name in stages:
        if name in _WRITTEN:
            raise OptionError(f"{spelled(name)} applies to output, but counting writes no output")
    message_per_file = stages.get("message_per_file", False)
    reading = Reading(
        stages.get("from_format"), reads, message_per_file=message_per_file, needs_logs=True
    )
    driver = Driver(list(inputs), reading)
    limit = stages.get("take")
    line = (
        SkipErrors(skip=stages.get("on_error") == "skip"),
        Filtering(stages),
        sliced(slice(0, limit)),
    )
    tally = Tally()
    found = quads = bytes_in = 0
    start = time.perf_counter()
    try:
        for item in () if limit == 0 else through(driver, line):
            tally.take(item)
            if isinstance(item, Read):
                bytes_in = item.bytes_in
                if item.batch is not None:
                    found += len(item.batch)
                    quads += item.batch.record_count
    finally:
        driver.close()
    return Summary(
        found,
        quads,
        bytes_in,
        0,
        time.perf_counter() - start,
        skipped=tally.skipped,
        errors=tuple(tally.errors),
        abandoned=tuple(tally.abandoned),
        notes=() if found == limit else driver.notes(),
    )
