"""Division of a large log into splits, for readers on several cores or machines.

In: a log. Out: splits; `open_log(path, split=split)` reads the messages of one, on any machine.
Cost: the log's head; with `count` all of its bytes, which are searched but not decoded.
Law: the splits of a log together contain every message once, in order.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from itertools import accumulate
from typing import Any, Literal

from rdfm._core import DelimiterCounter
from rdfm.errors import OptionError
from rdfm.formats import Format, FormatSpec
from rdfm.logs.input.driver import Driver, ReadSettings
from rdfm.logs.input.inputs import Input, Readable, is_folder_or_glob, is_read_once
from rdfm.logs.input.splits import Split
from rdfm.logs.read.arrow import TableForm
from rdfm.logs.read.reader import LogReader
from rdfm.storage.members import MEMBER_COMPRESSIONS, MemberPosition, choose_positions

__all__ = ["count_delimiters", "plan_splits", "plan_whole_split", "split_log"]

MAX_THREADS = 8


def plan_splits(
    source: Readable,
    format: str | None = None,
    *,
    split_bytes: int = 64 << 20,
    count: bool = False,
    rows: Literal["messages", "quads"] = "messages",
    compression: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> list[Split]:
    r"""Split a log into splits, if it can be read from the middle.

    The log must be in N-Triples or N-Quads with message delimiters, or in Jelly with restart marks.
    It must be a file, or an uncompressed log at a URL whose storage supports random access (not
    http or https). A compressed file must have gzip members that state their compressed size, as
    rdfm and BGZF write them, or zstd frames that state their content size. Each split begins with
    one of these, and the rest of the log after the last one belongs to the last split. Any other
    log is one split, and so is a folder, an archive, or a log smaller than 1.5 times the size of a
    split.

    With `rows="quads"`, a log in N-Triples or N-Quads without delimiters is split too: at line ends,
    so that each split contains a part of the log's only message. Blank node labels are those of the
    log. A delimiter after the first quads is an error when its split is read.

    Args:
        source: As in `open_log`.
        format: As in `open_log`.
        split_bytes: The approximate size of a split in bytes of the file.
        count: Count the messages, so that every split has the index of its first message. This
            reads the entire log, in threads.
        rows: The rows to read; pass the same value to `open_log`.
        compression: As in `open_log`.
        storage_options: As in `open_log`.
        **options: Options of the format's decoder; open the splits with the same options.

    Returns:
        The splits in the order of the log, at least one.

    Raises:
        UnknownFormatError, OptionError, OSError, MissingExtraError: As in `open_log`.

    Example:
        >>> log = b'<http://ex/s> <http://ex/p> "o" .\n# @message\n' * 100
        >>> splits = plan_splits(log, "nq", split_bytes=1000, count=True)
        >>> [(split.start, split.stop, split.first_message_index) for split in splits[:2]]
        [(0, 900, 0), (900, 1800, 21)]
    """
    form = TableForm.from_options(rows, "ntriples", None, "messages")
    parts: Literal["always", "never"] = "always" if form.rows == "quads" else "never"
    settings = ReadSettings(format, options, compression, storage_options, parts=parts)
    return split_log(source, settings, split_bytes=split_bytes, count=count)


def split_log(
    source: Readable, settings: ReadSettings, *, split_bytes: int, count: bool
) -> list[Split]:
    """Split a log, as `plan_splits` does, with the options of `settings`.

    If messages may be read in parts, a log without delimiters is split at line ends.
    """
    if split_bytes < 1:
        raise OptionError(f"split_bytes must be at least 1, not {split_bytes}")
    if is_read_once(source) or is_folder_or_glob(source, settings.storage_options):
        return [Split(first_message_index=0, format=settings.format)]
    with LogReader(Driver([source], settings)) as log:
        if log._format is None:  # an archive
            return [Split(first_message_index=0, format=settings.format)]
        single = [Split(first_message_index=0, format=log._format.name)]
        size = 0 if log._input is None else log._input.size or 0
        format = log._format.spec
        may_have_lines = _may_have_lines(log, settings)
        whole_split = plan_whole_split(log, settings, allow_compressed=True)
        has_lines = whole_split is None and may_have_lines and _has_lines(log, settings)
        if has_lines:
            whole_split = Split(0, None, 0, format.name, "plain")
        if whole_split is None or 2 * size < 3 * split_bytes:
            return single
        pieces = (2 * size + split_bytes) // (2 * split_bytes)
        if log._input is None or log._input.compression is None:
            starts = [size * piece // pieces for piece in range(pieces)]
            splits = _make_splits(whole_split, starts)
        else:
            positions = choose_positions(log._input.find_members(), size, pieces)
            if len(positions) < 2:
                return single
            splits = _make_member_splits(whole_split, positions, log._input.compression)
    if has_lines:  # the first message is the only one
        return [replace(split, first_message_index=0) for split in splits]
    if not count:
        return splits
    return _number_splits(source, splits, format, settings) or single


def _make_splits(whole_split: Split, starts: list[int]) -> list[Split]:
    """Return the splits with the given starts."""
    return [
        replace(whole_split, start=start, stop=stop, first_message_index=0 if start == 0 else None)
        for start, stop in zip(starts, [*starts[1:], None], strict=True)
    ]


def _make_member_splits(
    whole_split: Split, positions: list[MemberPosition], compression: str
) -> list[Split]:
    """Return the splits of a compressed log whose data begins at the given positions.

    A split is read from the byte before its start. That byte is the first one of a member, so that
    no member before it is decompressed.
    """
    starts = [0, *(position.byte_offset + 1 for position in positions[1:])]
    ranges = zip(positions, [*positions[1:], None], strict=True)
    return [
        replace(split, compression=compression, first_member=first, next_member=following)
        for split, (first, following) in zip(_make_splits(whole_split, starts), ranges, strict=True)
    ]


def plan_whole_split(
    log: LogReader, settings: ReadSettings, *, allow_compressed: bool = False
) -> Split | None:
    """Return one split with the entire log if it can be read from the middle; None otherwise.

    Reads the head of the log if all other conditions are met.
    """
    data, format = log._input, log._format
    if format is None or not _is_splittable(data, format):
        return None
    if data is not None and data.compression is not None and not allow_compressed:
        return None
    if settings.options.get("dialect") == "plain":
        return None
    header = log.header
    split = Split(0, None, 0, format.name)
    if header.get("restarts"):
        return split
    header_dialect: str | None = header.get("dialect")
    # The head has no delimiter, has an error before the first delimiter, or has both dialects.
    if header_dialect is None or header.get("changes_dialect"):
        return None
    dialect: str | None = settings.options.get("dialect")
    return replace(split, dialect=dialect or header_dialect)


def _may_have_lines(log: LogReader, settings: ReadSettings) -> bool:
    """Whether a log can be split at line ends if its head contains no delimiter."""
    format = log._format
    if settings.parts != "always" or format is None or format.spec.binary:
        return False
    return _is_splittable(log._input, format)


def _has_lines(log: LogReader, settings: ReadSettings) -> bool:
    """Whether the head of a log contains quads and no delimiter."""
    is_plain = settings.options.get("dialect") == "plain" or log.header.get("dialect") is None
    return is_plain and log._peek() is not None


def _is_splittable(data: Input | None, format: Format) -> bool:
    return (
        data is not None
        and format.spec.splittable
        and data.compression in (None, *MEMBER_COMPRESSIONS)
        and data.seekable
    )


def count_delimiters(
    source: Readable, split: Split, format: FormatSpec, settings: ReadSettings
) -> DelimiterCounter:
    """Count the delimiters, or in Jelly the messages, of a split without decoding it."""
    supported = format.options("read")
    options = {name: value for name, value in settings.options.items() if name in supported}
    opening = split.opening(format)
    counter = DelimiterCounter(
        format.name,
        format.values("read", options),
        split=opening.split,
        first_message_index=opening.first_message_index,
    )
    data = Input(source, split=split, storage_options=settings.storage_options)
    try:
        for piece in data:
            counter.feed(piece)
            if counter.done:
                return counter
    finally:
        data.close()
    counter.finish()
    return counter


def _number_splits(
    source: Readable,
    splits: list[Split],
    format: FormatSpec,
    settings: ReadSettings,
) -> list[Split] | None:
    """Return the splits with the indexes of their first messages; None if the log has no splits."""
    from concurrent.futures import ThreadPoolExecutor  # costly to import

    threads = min(len(splits), os.cpu_count() or 1, MAX_THREADS)
    with ThreadPoolExecutor(threads) as pool:
        counters = list(
            pool.map(lambda split: count_delimiters(source, split, format, settings), splits)
        )
    if any(counter.indivisible for counter in counters):
        return None
    before = [0, *accumulate(counter.delimiters for counter in counters)]
    # Whether there is a message before the log's first delimiter.
    first = any(
        counter.content_first
        for counter, count in zip(counters, before, strict=False)
        if count == 0
    )
    return [
        replace(split, first_message_index=count + first if split.start else 0)
        for split, count in zip(splits, before, strict=False)
    ]
