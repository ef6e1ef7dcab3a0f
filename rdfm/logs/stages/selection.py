"""Selecting messages: slices as in Python, and samples.

In: messages as they are read. Out: the selected messages, in order.
Cost: a slice of each batch that contains selected messages. If messages are counted from the end,
that many messages are buffered, up to `MAX_BUFFERED_BYTES`.
Law: messages are counted from 0 over all inputs; the division into batches has no effect.
"""

from __future__ import annotations

import math
import os
import re
from collections import deque
from collections.abc import Iterable, Iterator

from rdfm._core import ResultBatch
from rdfm.errors import OptionError, RdfmError, spell_option
from rdfm.formats import OptionSpec
from rdfm.logs.input.driver import (
    NOTHING_DROPPED,
    Driver,
    Item,
    ReadBatch,
    ReadSettings,
    SkippedData,
)
from rdfm.logs.input.inputs import Readable, is_read_once
from rdfm.logs.options import declare
from rdfm.logs.stages.stage import SkipErrors, Stage, run_stages

__all__ = [
    "SELECTING",
    "Selection",
    "SelectionFromEnd",
    "count_messages",
    "parse_messages",
    "parse_sample",
    "random_share",
    "random_subset",
    "select_slice",
    "to_slice",
]

MAX_BUFFERED_BYTES = 1 << 30
# Greater than any message number.
_END = 1 << 62

_MESSAGES = "Messages"
SELECTING = declare(
    OptionSpec(
        "messages",
        help="Messages, from 0: 5000, 100:200, -10: or ::100.",
        metavar="SLICE",
        group=_MESSAGES,
        short="m",
    ),
    OptionSpec("skip", "count", "Skip the first N messages.", group=_MESSAGES),
    OptionSpec("take", "count", "Write at most N messages.", group=_MESSAGES),
    OptionSpec(
        "sample",
        help="Random sample: a share (1%) or a number of messages.",
        metavar="SHARE|N",
        group=_MESSAGES,
    ),
    OptionSpec(
        "seed",
        "count",
        "Seed of the random sample.",
        default=0,
        group=_MESSAGES,
    ),
)

Ranges = Iterator[tuple[int, int]]


class Selection(Stage):
    """Selects messages by their numbers.

    Attributes:
        needed: The number of the single selected message, which must exist; None for a slice or
            sample.
    """

    def __init__(self, ranges: Ranges, *, first: int = 0) -> None:
        """Initialize with the numbers of the messages, as ranges (first, end) in ascending order.

        Args:
            ranges: The ranges.
            first: The number of the first message that is read.
        """
        self._ranges = ranges
        self._message_count = first  # messages started
        self._range = next(ranges, None)
        self.done = self._range is None
        self.needed: int | None = None
        self.counts_skipped = True

    def process(self, item: Item) -> Iterable[Item]:
        """Process an item.

        A message that was skipped keeps its number, unless `counts_skipped` is False.
        """
        if isinstance(item, ReadBatch) and item.batch is not None:
            return self.process_batch(item)
        if isinstance(item, SkippedData) and self.counts_skipped:
            self._message_count += 1
        return () if self.done else (item,)

    def process_batch(self, item: ReadBatch) -> Iterator[ReadBatch]:
        """Yield the selected messages, in slices.

        Metadata dropped from messages that are not selected is not counted.
        """
        if self.done and not isinstance(item.batch, ResultBatch):
            return
        assert item.batch is not None
        dropped_data = item.dropped_data
        for selected in self._select(item._replace(dropped_data=NOTHING_DROPPED)):
            yield selected._replace(dropped_data=dropped_data)
            dropped_data = NOTHING_DROPPED
        if dropped_data is not NOTHING_DROPPED:
            yield item._replace(batch=None, dropped_data=dropped_data._replace(metadata=0))

    def _select(self, item: ReadBatch) -> Iterator[ReadBatch]:
        assert item.batch is not None
        yield from self._select_in_batch(self._message_count - item.batch.continued, item)

    def _select_in_batch(self, first: int, item: ReadBatch) -> Iterator[ReadBatch]:
        """Yield the selected messages of a batch whose first message has the given number."""
        batch = item.batch
        assert batch is not None
        self._message_count = first + len(batch)
        # The last message may continue in the next batch.
        complete_end = self._message_count - batch.continues
        has_output = False
        while self._range is not None and self._range[0] < self._message_count:
            start, end = self._range
            start, stop = max(start - first, 0), min(end - first, len(batch))
            if start < stop:
                has_output = True
                is_entire = start == 0 and stop == len(batch)
                yield item if is_entire else item._replace(batch=batch.slice(start, stop))
            if end > complete_end:
                break
            self._range = next(self._ranges, None)
        self.done = self._range is None
        if not has_output and isinstance(batch, ResultBatch):
            # The output contains the variables of results, even if no row is selected.
            yield item._replace(batch=batch.slice(0, 0))

    def finish(self) -> Iterator[ReadBatch]:
        """Yield the selected messages that are still buffered.

        Raises:
            OptionError: If the single selected message does not exist.
        """
        self._check()
        return iter(())

    def _check(self) -> None:
        needed, count = self.needed, self._message_count
        if needed is not None and not -count <= needed < count:
            last_text = f"; the last one is message {count - 1:,}" if count else ""
            raise OptionError(f"there is no message {needed}{last_text}")


class SelectionFromEnd(Selection):
    """Selects a slice whose bounds are counted from the end, and buffers the last messages."""

    def __init__(self, bounds: slice) -> None:
        start, stop = bounds.start or 0, bounds.stop
        super().__init__(iter([(0, _END)]))
        self._bounds = bounds
        self._max_count = max(-start, -(stop or 0))
        # Batches with the number of their first message.
        self._buffered: deque[tuple[int, ReadBatch]] = deque()
        self._buffered_bytes = 0
        # Messages that leave the buffer precede any position counted from the end.
        self._early = Selection(iter(()) if start < 0 else _ranges(start, _END, bounds.step or 1))

    def _select(self, item: ReadBatch) -> Iterator[ReadBatch]:
        """Yield the selected messages that are far enough from the end."""
        batch = item.batch
        assert batch is not None
        first = self._message_count - batch.continued
        self._message_count = first + len(batch)
        self._buffered.append((first, item))
        self._buffered_bytes += batch.memory_bytes
        while self._buffered:
            first, oldest = self._buffered[0]
            assert oldest.batch is not None
            if first + len(oldest.batch) > self._message_count - self._max_count:
                break
            self._buffered.popleft()
            self._buffered_bytes -= oldest.batch.memory_bytes
            yield from self._early._select_in_batch(first, oldest)
        if self._buffered_bytes > MAX_BUFFERED_BYTES:
            raise OptionError(
                f"the last {self._max_count:,} messages take more than {MAX_BUFFERED_BYTES >> 20} MiB of memory; "
                "count from the start of the log instead"
            )

    def finish(self) -> Iterator[ReadBatch]:
        """Yield the selected messages that are still buffered.

        Raises:
            OptionError: If the single selected message does not exist.
        """
        self._check()
        if not self._buffered:
            return
        first, _ = self._buffered[0]
        numbers = range(*self._bounds.indices(self._message_count))
        before = max(first - numbers.start, 0)
        start = numbers.start + -(-before // numbers.step) * numbers.step
        selection = Selection(_ranges(start, numbers.stop, numbers.step))
        for first, read in self._buffered:
            yield from selection._select_in_batch(first, read)


def _ranges(start: int, stop: int, step: int) -> Ranges:
    if step == 1:
        return iter([(start, stop)] if start < stop else [])
    return ((number, number + 1) for number in range(start, stop, step))


def parse_messages(text: str | int) -> int | slice:
    """Parse a message number or a slice. An integer is returned unchanged.

    Raises:
        OptionError: If the argument is neither a number nor a slice.

    Example:
        >>> parse_messages("5000"), parse_messages("-10:")
        (5000, slice(-10, None, None))
    """
    if isinstance(text, int):
        return text
    if isinstance(text, str) and re.fullmatch(r"-?\d+", text):
        return int(text)
    if not isinstance(text, str) or not re.fullmatch(r"(-?\d+)?:(-?\d+)?(:\d*)?", text):
        raise OptionError(
            f"{spell_option('messages')} must be a number such as 5000, or a slice such as 100:200, -10: or ::100, "
            f"not '{str(text)[:40]}'"
        )
    parts = [int(part) if part else None for part in text.split(":")]
    if len(parts) == 3 and parts[2] == 0:
        raise OptionError(f"the step of {spell_option('messages')} must be at least 1")
    return slice(*parts)


def to_slice(selector: int | slice) -> slice:
    """Return a message number as a slice; a slice is returned unchanged."""
    return selector if isinstance(selector, slice) else slice(selector, selector + 1 or None)


def select_slice(selector: int | slice, *, first: int = 0) -> Selection:
    """Return the selection of a message or a slice.

    Args:
        selector: The number of the message, which must exist, or the slice.
        first: The number of the first message that is read. If all numbers are counted from the
            end, only the last messages need to be read.
    """
    bounds = to_slice(selector)
    start, stop = bounds.start or 0, bounds.stop
    selection: Selection
    if start < 0 or (stop is not None and stop < 0):
        selection = SelectionFromEnd(bounds)
    else:
        ranges = _ranges(start, _END if stop is None else stop, bounds.step or 1)
        selection = Selection(ranges, first=first)
    if isinstance(selector, int):
        selection.needed = selector
    return selection


def parse_sample(text: str) -> float | int:
    """Parse a share of the messages (returned as a float) or a number of messages.

    Raises:
        OptionError: If the argument is neither a percentage nor a number.

    Example:
        >>> parse_sample("1%"), parse_sample("500")
        (0.01, 500)
    """
    if re.fullmatch(r"\d+", text) and int(text) > 0:
        return int(text)
    if match := re.fullmatch(r"(\d+(\.\d*)?|\.\d+)%", text):
        percent = float(match[1])
        if 0 < percent <= 100:
            return percent / 100
        if percent > 100:
            raise OptionError(f"{spell_option('sample')} must be at most 100%, not {text[:40]}")
    raise OptionError(
        f"{spell_option('sample')} must be a percentage such as 1%, or a positive number of messages, not '{text[:40]}'"
    )


def random_share(part: float, seed: int) -> Selection:
    """Return a selection that includes each message independently with probability `part`."""
    return Selection(_random_numbers(part, seed) if part < 1 else _ranges(0, _END, 1))


def _random_numbers(part: float, seed: int) -> Ranges:
    """Yield message numbers, each drawn independently with probability `part`."""
    import random  # costly to import

    generator = random.Random(seed)
    scale = math.log1p(-part)
    number = -1
    while True:
        number += 1 + int(math.log(1.0 - generator.random()) / scale)
        yield number, number + 1


def random_subset(count: int, total: int, seed: int) -> Selection:
    """Return a random selection of `count` of `total` messages. All subsets are equally likely."""
    import random  # costly to import

    numbers = sorted(random.Random(seed).sample(range(total), min(count, total)))
    return Selection((number, number + 1) for number in numbers)


def count_messages(
    inputs: list[Readable], settings: ReadSettings, stages: tuple[Stage, ...], *, skips: bool
) -> int:
    """Return the number of messages after the stages.

    Args:
        inputs: The inputs.
        settings: Settings for reading them.
        stages: The stages.
        skips: Whether invalid data is skipped.

    Raises:
        OptionError: If an input can be read only once.
        RdfmError, OSError: If an input cannot be read.
    """
    for input in inputs:
        if is_read_once(input):
            name = input if isinstance(input, (str, os.PathLike)) else getattr(input, "name", None)
            raise OptionError(
                "sampling a fixed number of messages requires reading the input twice, "
                f"but {name or 'a file object'} can be read only once; use a percentage such as 1%"
            )
    driver = Driver(inputs, settings)
    try:
        return sum(
            len(item.batch) - item.batch.continued
            for item in run_stages(driver, (SkipErrors(skip=skips), *stages))
            if isinstance(item, ReadBatch) and item.batch is not None
        )
    except RdfmError as error:
        if getattr(error, "source", None) is None:
            error.source = driver.name  # type: ignore[attr-defined]
        raise
    finally:
        driver.close()
