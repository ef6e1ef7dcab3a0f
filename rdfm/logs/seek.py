"""Where in a log to begin for messages of its middle or end.

In: a log, and the slice of its messages that is wanted. Out: the split to read instead of the log, where logs of the
format have splits.
Cost: the bytes before the wanted messages, or those behind them, are searched for delimiters and not decoded.
"""

from __future__ import annotations

from dataclasses import replace

from rdfm.formats import FormatSpec
from rdfm.logs.driver import Driver, Reading
from rdfm.logs.input import Readable, holds_files
from rdfm.logs.plan import count_delimiters, divisible
from rdfm.logs.reader import LogReader
from rdfm.logs.split import Split

__all__ = ["seek"]

# Of what is searched at once: forward, and at first from the end.
FORWARD_BYTES = 8 << 20
BACKWARD_BYTES = 256 << 10


def seek(
    source: Readable, reading: Reading, chosen: slice, *, numbered: bool = False
) -> Split | None:
    """Give the split in which the first message of a slice is; None where the log is read from its start.

    Args:
        source: The log.
        reading: How it is read.
        chosen: The slice.
        numbered: Whether the numbers of its messages have to be known. Those of a slice that is counted from the end
            are not, without reading the log.

    Returns:
        The split; its `first_index` is the number of its first message, or None where that is not known.

    Raises:
        UnknownFormatError, OptionError, OSError, MissingExtraError: As `open_log`.
    """
    start, stop = chosen.start or 0, chosen.stop
    from_end = start < 0 and (stop is None or stop < 0)
    from_start = start > 0 and (stop is None or stop >= 0)
    if not from_start and (numbered or not from_end):
        return None
    if hasattr(source, "read") or holds_files(source, reading.storage_options):
        return None
    with LogReader(Driver([source], reading)) as log:
        size = 0 if log.input is None else log.input.size or 0
        if log.found is None or size <= BACKWARD_BYTES:
            return None
        dialect = divisible(log, reading)
        found = log.found.spec
    if dialect is None:
        return None
    log_whole = Split(0, None, 0, found.name, dialect)
    if from_end:
        return _from_end(source, reading, found, log_whole, size, -start)
    return _forward(source, reading, found, log_whole, size, start)


def _forward(
    source: Readable, reading: Reading, format: FormatSpec, whole: Split, size: int, wanted: int
) -> Split | None:
    """The last split before a message; None for the first one, and where there are none."""
    best, index, first = whole, 0, False
    for start in range(0, size, FORWARD_BYTES):
        end = start + FORWARD_BYTES
        part = replace(whole, start=start, stop=end if end < size else None)
        counter = count_delimiters(source, part, format, reading)
        if counter.strayed:
            return None
        # Whether a message stands before the log's first delimiter.
        first = first or (index == 0 and counter.content_first)
        index += counter.delimiters
        if index + first > wanted or end >= size:
            break
        best = replace(whole, start=end, first_index=index + first)
    return None if best.whole else best


def _from_end(
    source: Readable, reading: Reading, format: FormatSpec, whole: Split, size: int, wanted: int
) -> Split | None:
    """The last split that holds so many messages; None where that is the log, or there are none."""
    stop, step, found = size, BACKWARD_BYTES, 0
    while stop > step:
        start = stop - step
        part = replace(whole, start=start, stop=stop if stop < size else None, first_index=None)
        counter = count_delimiters(source, part, format, reading)
        if counter.strayed:
            return None
        found += counter.delimiters
        if found > wanted:  # what follows the last delimiter may be no message
            return replace(part, stop=None)
        stop, step = start, min(2 * step, FORWARD_BYTES)
    return None
