"""Selecting messages: slices as in Python, and samples.

In: messages as they are read. Out: the selected messages, in order.
Cost: a slice of each batch that contains selected messages. If messages are counted from the end,
that many messages are buffered, up to `MAX_BUFFERED_BYTES`.
Law: messages are counted from 0 over all inputs; the division into batches has no effect.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Iterable, Iterator

from rdfm._core import ResultBatch
from rdfm.errors import OptionError, spell_option
from rdfm.formats import OptionSpec
from rdfm.logs.input.driver import NOTHING_DROPPED, Item, Read, Skipped
from rdfm.logs.options import declare
from rdfm.logs.stages.stage import Stage

__all__ = [
    "SELECTING",
    "FromEnd",
    "Selection",
    "as_slice",
    "parse_messages",
    "parse_sample",
    "random_share",
    "random_subset",
    "sliced",
]

MAX_BUFFERED_BYTES = 1 << 30
# Greater than any message number.
_END = 1 << 62

_MESSAGES = "Messages"
SELECTING = declare(
    OptionSpec(
        "messages",
        help="Messages to select, numbered from 0: 5000, 100:200, -10: or ::100.",
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
        self._seen = first  # messages started
        self._range = next(ranges, None)
        self.done = self._range is None
        self.needed: int | None = None
        self.counts_skipped = True

    def take(self, item: Item) -> Iterable[Item]:
        """Process an item.

        A message that was skipped keeps its number, unless `counts_skipped` is False.
        """
        if isinstance(item, Read) and item.batch is not None:
            return self.batch(item)
        if isinstance(item, Skipped) and self.counts_skipped:
            self._seen += 1
        return () if self.done else (item,)

    def batch(self, read: Read) -> Iterator[Read]:
        """Yield the selected messages, in slices.

        Metadata dropped from messages that are not selected is not counted.
        """
        if self.done and not isinstance(read.batch, ResultBatch):
            return
        assert read.batch is not None
        lost = read.lost
        for selected in self._selected(read._replace(lost=NOTHING_DROPPED)):
            yield selected._replace(lost=lost)
            lost = NOTHING_DROPPED
        if lost is not NOTHING_DROPPED:
            yield read._replace(batch=None, lost=lost._replace(metadata=0))

    def _selected(self, read: Read) -> Iterator[Read]:
        assert read.batch is not None
        yield from self._at(self._seen - read.batch.continued, read)

    def _at(self, first: int, read: Read) -> Iterator[Read]:
        """Yield the selected messages of a batch whose first message has the given number."""
        batch = read.batch
        assert batch is not None
        self._seen = first + len(batch)
        # The last message may continue in the next batch.
        complete_end = self._seen - batch.continues
        has_output = False
        while self._range is not None and self._range[0] < self._seen:
            start, end = self._range
            start, stop = max(start - first, 0), min(end - first, len(batch))
            if start < stop:
                has_output = True
                whole = start == 0 and stop == len(batch)
                yield read if whole else read._replace(batch=batch.slice(start, stop))
            if end > complete_end:
                break
            self._range = next(self._ranges, None)
        self.done = self._range is None
        if not has_output and isinstance(batch, ResultBatch):
            # The output contains the variables of results, even if no row is selected.
            yield read._replace(batch=batch.slice(0, 0))

    def finish(self) -> Iterator[Read]:
        """Yield the selected messages that are still buffered.

        Raises:
            OptionError: If the single selected message does not exist.
        """
        self._check()
        return iter(())

    def _check(self) -> None:
        needed, seen = self.needed, self._seen
        if needed is not None and not -seen <= needed < seen:
            last = f"; the last one is message {seen - 1:,}" if seen else ""
            raise OptionError(f"there is no message {needed}{last}")


class FromEnd(Selection):
    """Selects a slice whose bounds are counted from the end, and buffers the last messages."""

    def __init__(self, chosen: slice) -> None:
        """Initialize with the slice."""
        start, stop = chosen.start or 0, chosen.stop
        super().__init__(iter([(0, _END)]))
        self._chosen = chosen
        self._max_count = max(-start, -(stop or 0))
        # Batches with the number of their first message.
        self._buffered: deque[tuple[int, Read]] = deque()
        self._buffered_bytes = 0
        # Messages that leave the buffer precede any position counted from the end.
        self._early = Selection(iter(()) if start < 0 else _ranges(start, _END, chosen.step or 1))

    def _selected(self, read: Read) -> Iterator[Read]:
        """Yield the selected messages that are far enough from the end."""
        batch = read.batch
        assert batch is not None
        first = self._seen - batch.continued
        self._seen = first + len(batch)
        self._buffered.append((first, read))
        self._buffered_bytes += batch.memory_bytes
        while self._buffered:
            first, oldest = self._buffered[0]
            assert oldest.batch is not None
            if first + len(oldest.batch) > self._seen - self._max_count:
                break
            self._buffered.popleft()
            self._buffered_bytes -= oldest.batch.memory_bytes
            yield from self._early._at(first, oldest)
        if self._buffered_bytes > MAX_BUFFERED_BYTES:
            raise OptionError(
                f"the last {self._max_count:,} messages take more than {MAX_BUFFERED_BYTES >> 20} MiB of memory; "
                "count from the start of the log instead"
            )

    def finish(self) -> Iterator[Read]:
        """Yield the selected messages that are still buffered.

        Raises:
            OptionError: If the single selected message does not exist.
        """
        self._check()
        if not self._buffered:
            return
        first, _ = self._buffered[0]
        wanted = range(*self._chosen.indices(self._seen))
        before = max(first - wanted.start, 0)
        start = wanted.start + -(-before // wanted.step) * wanted.step
        last = Selection(_ranges(start, wanted.stop, wanted.step))
        for first, read in self._buffered:
            yield from last._at(first, read)


def _ranges(start: int, stop: int, step: int) -> Ranges:
    """Return the ranges of a slice."""
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


def as_slice(chosen: int | slice) -> slice:
    """Return a message number as a slice; a slice is returned unchanged."""
    return chosen if isinstance(chosen, slice) else slice(chosen, chosen + 1 or None)


def sliced(chosen: int | slice, *, first: int = 0) -> Selection:
    """Return the selection of a message or a slice.

    Args:
        chosen: The number of the message, which must exist, or the slice.
        first: The number of the first message that is read. If all numbers are counted from the
            end, only the last messages need to be read.
    """
    wanted = as_slice(chosen)
    start, stop = wanted.start or 0, wanted.stop
    selection: Selection
    if start < 0 or (stop is not None and stop < 0):
        selection = FromEnd(wanted)
    else:
        ranges = _ranges(start, _END if stop is None else stop, wanted.step or 1)
        selection = Selection(ranges, first=first)
    if isinstance(chosen, int):
        selection.needed = chosen
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
    return Selection(_gaps(part, seed) if part < 1 else _ranges(0, _END, 1))


def _gaps(part: float, seed: int) -> Ranges:
    """Yield message numbers, each drawn independently with probability `part`."""
    import random  # costly to import

    drawn = random.Random(seed)
    scale = math.log1p(-part)
    number = -1
    while True:
        number += 1 + int(math.log(1.0 - drawn.random()) / scale)
        yield number, number + 1


def random_subset(count: int, total: int, seed: int) -> Selection:
    """Return a random selection of `count` of `total` messages. All subsets are equally likely."""
    import random  # costly to import

    numbers = sorted(random.Random(seed).sample(range(total), min(count, total)))
    return Selection((number, number + 1) for number in numbers)
