"""Start positions for reading messages from the middle or end of a log.

In: a log, and the slice of its messages to read. Out: the split to read instead of the log, if the
format supports splits.
Cost: the bytes before the selected messages, or after their start, are searched for delimiters but
not decoded. In Jelly, the frame lengths are read.
"""

from __future__ import annotations

from dataclasses import replace

from rdfm.formats import FormatSpec
from rdfm.logs.input.driver import Driver, ReadSettings
from rdfm.logs.input.inputs import Readable, is_folder_or_glob, is_read_once
from rdfm.logs.input.splits import Split
from rdfm.logs.read.plan import count_delimiters, plan_whole_split
from rdfm.logs.read.reader import LogReader

__all__ = ["seek"]

# Bytes to search at once: forward, and initially from the end.
FORWARD_BYTES = 8 << 20
BACKWARD_BYTES = 256 << 10


def seek(
    source: Readable, settings: ReadSettings, selection: slice, *, numbered: bool = False
) -> Split | None:
    """Return the split that contains the first message of a slice; None to read from the start.

    Args:
        source: The log.
        settings: Settings for reading the log.
        selection: The slice.
        numbered: Whether the message numbers are needed. For a slice counted from the end, they are
            known only after reading the log.

    Returns:
        The split; its `first_message_index` is the number of its first message, or None if unknown.

    Raises:
        UnknownFormatError, OptionError, OSError, MissingExtraError: As in `open_log`.
    """
    start, stop = selection.start or 0, selection.stop
    from_end = start < 0 and (stop is None or stop < 0)
    from_start = start > 0 and (stop is None or stop >= 0)
    if not from_start and (numbered or not from_end):
        return None
    if is_read_once(source) or is_folder_or_glob(source, settings.storage_options):
        return None
    with LogReader(Driver([source], settings)) as log:
        size = 0 if log._input is None else log._input.size or 0
        if log._format is None or log._input is None or size <= BACKWARD_BYTES:
            return None
        if log._input.compression is not None:
            return None
        whole_split = plan_whole_split(log, settings)
        format = log._format.spec
    if whole_split is None:
        return None
    if from_end:
        return _find_split_from_end(source, settings, format, whole_split, size, -start)
    return _find_split_forward(source, settings, format, whole_split, size, start)


def _find_split_forward(
    source: Readable,
    settings: ReadSettings,
    format: FormatSpec,
    whole_split: Split,
    size: int,
    message_index: int,
) -> Split | None:
    """Return the split that starts as late as possible before a message and ends with the log.

    None if that is the entire log, or if the log has no splits.
    """
    split, index, first = whole_split, 0, False
    for start in range(0, size, FORWARD_BYTES):
        end = start + FORWARD_BYTES
        part = replace(whole_split, start=start, stop=end if end < size else None)
        counter = count_delimiters(source, part, format, settings)
        if counter.indivisible:
            return None
        # Whether there is a message before the log's first delimiter.
        first = first or (index == 0 and counter.content_first)
        index += counter.delimiters
        if index + first > message_index or end >= size:
            break
        split = replace(whole_split, start=end, first_message_index=index + first)
    return None if split.whole else split


def _find_split_from_end(
    source: Readable,
    settings: ReadSettings,
    format: FormatSpec,
    whole_split: Split,
    size: int,
    message_count: int,
) -> Split | None:
    """Return the smallest split at the end that contains the wanted number of messages.

    None if that is the entire log, or if the log has no splits.
    """
    stop, step, delimiter_count = size, BACKWARD_BYTES, 0
    while stop > step:
        start = stop - step
        part = replace(
            whole_split, start=start, stop=stop if stop < size else None, first_message_index=None
        )
        counter = count_delimiters(source, part, format, settings)
        if counter.indivisible:
            return None
        delimiter_count += counter.delimiters
        if delimiter_count > message_count:  # there may be no message after the last delimiter
            return replace(part, stop=None)
        stop, step = start, min(2 * step, FORWARD_BYTES)
    return None
