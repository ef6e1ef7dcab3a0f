"""Filtering logs by criteria: `filter`.

In: logs. Out: one log and a `ConversionSummary`, or the number of matching messages.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from rdfm.conversion.convert import plan
from rdfm.conversion.convert_options import STAGES
from rdfm.conversion.pipeline import Pipeline
from rdfm.conversion.skipping import Skipping, check_skipping
from rdfm.conversion.summary import ConversionSummary
from rdfm.errors import OptionError, spell_option
from rdfm.logs.input.driver import Driver, ReadBatch, ReadSettings, line_settings
from rdfm.logs.input.inputs import Readable, input_list
from rdfm.logs.input.progress import ProgressFunction, Reporter, total_bytes
from rdfm.logs.stages.criteria import FILTERING, FilterStage
from rdfm.logs.stages.selection import select_slice
from rdfm.logs.stages.stage import SkipErrors, Tally, run_stages
from rdfm.logs.write.output import Writable
from rdfm.logs.write.own_input import reject_own_input

if TYPE_CHECKING:
    from rdfm.formats.options_generated import FilterOptions

__all__ = ["FILTER", "filter"]

# Options of the input and of the output.
_READ = ("from_format", "message_per_file", "take", "on_error", "max_errors", "rejects")
_WRITTEN = (
    "to",
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


def filter(
    inputs: Readable | Sequence[Readable],
    output: Writable | None = None,
    *,
    progress: ProgressFunction = None,
    **options: Unpack[FilterOptions],
) -> ConversionSummary:
    r"""Write the messages of logs with a quad that matches all criteria to one log, in order.

    `LogReader.filter` does the same for a log that is being read.

    Args:
        inputs: Inputs that `open_log` accepts, or a list of them.
        output: As in `convert`. By default, the messages are only counted.
        progress: True for a progress bar, or a function to call about ten times per second. Ignored
            if messages are only counted.
        **options: The criteria of `LogReader.filter`; and `from_format`, `to`, `message_per_file`,
            `take`, `on_error`, `max_errors`, `rejects`, `compression`, `split_messages`, `split_bytes`, `overwrite`,
            `keep_partial` and the options of the formats, as in `convert`.

    Returns:
        The numbers of matching messages and of their quads, as for a conversion.

    Raises:
        OptionError: If a criterion is not a valid term, expression or time; if the prefix of a name
            is not declared; or if an option applies to the output, and there is none.
        RdfmError, OSError: As in `convert`.

    Example:
        >>> log = b'<x:a> <x:p> "1" .\n# @message\n<x:b> <x:p> "2" .\n'
        >>> filter(log, from_format="nq", subject="<x:b>").messages
        1
    """
    sources = input_list(inputs)
    if not sources:
        raise OptionError("no input is given")
    filter_options: dict[str, Any] = dict(options)
    if output is None:
        return _count_matches(
            sources, {name: value for name, value in filter_options.items() if value is not None}
        )
    reject_own_input(sources, output, filter_options, FILTER)
    total = None if progress is None else total_bytes(sources)
    return Pipeline(plan(sources, output, filter_options, total, FILTER), Reporter(progress)).run()


def _count_matches(inputs: list[Readable], options: Mapping[str, Any]) -> ConversionSummary:
    """Count the matching messages of logs.

    Raises:
        OptionError: As in `filter`, or if an option applies to the output.
        RdfmError, OSError: As in `open_log`.
    """
    stages = {name: FILTER[name].value(value) for name, value in options.items() if name in FILTER}
    reads = {
        name.removeprefix("from_"): value for name, value in options.items() if name not in FILTER
    }
    for name in stages:
        if name in _WRITTEN:
            raise OptionError(
                f"{spell_option(name)} applies to output, but counting writes no output"
            )
    message_per_file = stages.get("message_per_file", False)
    filtering = FilterStage(stages)
    on_error = stages.get("on_error", "fail")
    # Quads of a message that turns out to be invalid must not be counted.
    in_parts = filtering.accepts_parts and on_error != "skip"
    settings = ReadSettings(
        stages.get("from_format"),
        reads,
        parts="always" if in_parts else "never",
        message_per_file=message_per_file,
        needs_logs=True,
        **line_settings(on_error, rejects="rejects" in stages),
    )
    driver = Driver(inputs, settings)
    limit = stages.get("take")
    check_skipping(inputs, None, stages)
    tally = Tally()
    skipping = Skipping(tally, stages.get("max_errors"), stages.get("rejects"))
    line = (
        SkipErrors(skip=on_error != "fail", keeps_data="rejects" in stages),
        skipping,
        filtering,
        select_slice(slice(0, limit)),
    )
    message_count = quads = bytes_in = 0
    start = time.perf_counter()
    try:
        with skipping:
            for item in () if limit == 0 else run_stages(driver, line):
                tally.count(item)
                if isinstance(item, ReadBatch):
                    bytes_in = item.bytes_in
                    if item.batch is not None:
                        message_count += len(item.batch) - item.batch.continued
                        quads += item.batch.record_count
    finally:
        driver.close()
    return ConversionSummary(
        message_count,
        quads,
        bytes_in,
        0,
        time.perf_counter() - start,
        skipped=tally.skipped,
        skipped_lines=tally.skipped_lines,
        line_messages=tally.line_messages,
        errors=tuple(tally.errors),
        abandoned=tuple(tally.abandoned),
        notes=(*(() if message_count == limit else driver.notes()), *tally.notes()),
    )
