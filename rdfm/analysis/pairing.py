"""Pairs the messages of two logs for comparison.

In: two logs. Out: counts, and the messages that differ, reported in order.
Cost: memory for one batch of each log while the logs agree. After a difference, at most twice
`window` messages of each log, and not much more than `MAX_BUFFERED_BYTES`. If order is ignored, 16
bytes per message.
Method: pairs of messages are compared in order. At the first pair that differs, the signatures of
the following messages are compared as a text diff compares lines, and the messages between matching
blocks are reported.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from rdfm._core import Comparer, ResultBatch, common_blocks
from rdfm.analysis.formatting import BatchMessage, DifferenceFormatter
from rdfm.errors import OptionError
from rdfm.formats import FormatSpec
from rdfm.logs.input.driver import Driver, ReadBatch, ReadError, ReadSettings
from rdfm.logs.input.inputs import Readable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rdfm.message import AnyBatch

__all__ = ["ComparedLog", "Comparison", "pair_in_any_order", "pair_in_order"]

MAX_BUFFERED_BYTES = 1 << 26
# Maximum number of message pairs to compare when a gap has more messages in one log than in the
# other, and the messages are aligned by similarity.
MAX_ALIGNED = 400
SIGNATURE_BYTES = 16
RECORDS, METADATA, NAMESPACES, UNDECIDED = 1, 2, 4, 8


class _BufferedBatch(NamedTuple):
    """A buffered batch, and the name of its log."""

    batch: AnyBatch
    source: str


class ComparedLog:
    """One of the two logs, with its buffered batches and the position of the comparison.

    Attributes:
        driver: The driver that reads the log.
        number: 0 for the first log, 1 for the second.
        message_index: Index of the next message to compare, from 0.
        bytes_in: Number of bytes read.
        kind: The kind of the messages: "messages", "patches" or "results".
        spec: Format of the first log in the input.
        formats: Formats of all logs in the input, by name.
        head: For results, an empty batch with the variables and the answer; otherwise `None`.
    """

    def __init__(self, log: Readable, settings: ReadSettings, number: int) -> None:
        """Prepare a log for comparison. Nothing is read until `open`.

        Args:
            log: The log to read.
            settings: Settings for reading the log.
            number: 0 for the first log, 1 for the second.

        Raises:
            OptionError: If no format supports an option, or its value is invalid.
            UnknownFormatError: If the given format does not exist.
        """
        self._log = log
        self._settings = settings
        self.driver = Driver([log], settings)
        self.number = number
        self.message_index = 0
        self.bytes_in = 0
        self.kind = "messages"
        self.formats: dict[str, FormatSpec] = {}
        self.head: ResultBatch | None = None
        self._items: Iterator[Any] = iter(())
        self._buffer: deque[_BufferedBatch] = deque()
        self._offset = 0  # of the next message in the first buffered batch
        self._ahead = 0  # buffered messages not yet compared
        self._bytes = 0
        self._signatures = b""  # of the next messages
        self.ended = False  # whether the log was read to its end
        self.spec: FormatSpec = None  # type: ignore[assignment]  # set by `open`

    def open(self) -> None:
        """Read up to the first message.

        Raises:
            RdfmError, OSError: If the log cannot be read.
        """
        self._items = iter(self.driver)
        self._fill()

    def close(self) -> None:
        """Close the open files."""
        self.driver.close()

    def restart(self) -> None:
        """Start again from the first message."""
        self.driver.close()
        self.driver = Driver([self._log], self._settings)
        self._buffer.clear()
        self._offset = self._ahead = self._bytes = self.message_index = 0
        self.ended = False
        self._items = iter(self.driver)

    def stop(self, messages: int) -> None:
        """Stop reading the log and discard its buffer.

        Args:
            messages: The number of messages in the log.
        """
        self._buffer.clear()
        self._ahead = 0
        self.message_index = messages
        self.ended = True

    @property
    def messages(self) -> int:
        """Number of messages read so far, including buffered ones."""
        return self.message_index + self._ahead

    def _fill(self) -> bool:
        """Read one more batch. Return whether there was one."""
        while not self.ended:
            item = next(self._items, None)
            if item is None:
                self.ended = True
                break
            spec = item.source.format.spec
            if not self.formats:
                self.spec = spec
                self.kind = spec.kinds[0]
            first_log = not self.formats
            self.formats.setdefault(spec.name, spec)
            if isinstance(item, ReadError):
                raise item.error
            if not isinstance(item, ReadBatch) or item.batch is None:
                continue
            self.bytes_in = item.bytes_in
            self._check_kind(item.source.name, item.batch, first_log)
            if len(item.batch):
                self._buffer.append(_BufferedBatch(item.batch, item.source.name))
                self._ahead += len(item.batch)
                self._bytes += item.batch.memory_bytes
                return True
        if not self.formats:  # an empty folder
            from rdfm import formats

            self.spec = formats.find("nq").spec
        return False

    def _check_kind(self, name: str, batch: AnyBatch, first: bool) -> None:
        if first and self.head is None:
            self.kind = batch.kind
        if batch.kind != self.kind:
            raise OptionError(
                f"{name} contains {batch.kind}, but earlier logs contain {self.kind}; compare logs of the same kind"
            )
        if isinstance(batch, ResultBatch):
            if self.head is None:
                self.head = batch.slice(0, 0)
            elif (batch.variables, batch.boolean) != (self.head.variables, self.head.boolean):
                raise OptionError(
                    f"{name} and earlier logs have different variables or answers; compare the logs one by one"
                )

    def current(self) -> tuple[AnyBatch, int] | None:
        """Return the next message as a batch and a position in it, or `None` at the end."""
        if not self._buffer and not self._fill():
            return None
        return self._buffer[0].batch, self._offset

    def advance(self, count: int) -> None:
        """Skip the next `count` messages, which must be buffered."""
        self.message_index += count
        self._ahead -= count
        self._offset += count
        self._signatures = self._signatures[count * SIGNATURE_BYTES :]
        while self._buffer and self._offset >= len(self._buffer[0].batch):
            batch = self._buffer.popleft().batch
            self._offset -= len(batch)
            self._bytes -= batch.memory_bytes

    def skip_batch(self) -> int:
        """Skip the rest of the first buffered batch. Return the number of messages skipped."""
        count = len(self._buffer[0].batch) - self._offset
        self.advance(count)
        return count

    def message(self, ahead: int = 0) -> BatchMessage:
        """Return the buffered message `ahead` messages after the next one.

        Raises:
            IndexError: If fewer messages are buffered.
        """
        number = self._offset + ahead
        for buffered in self._buffer:
            if number < len(buffered.batch):
                return BatchMessage(
                    buffered.batch, number, self.message_index + ahead, buffered.source
                )
            number -= len(buffered.batch)
        raise IndexError(ahead)

    def signatures(self, comparer: Comparer, count: int) -> bytes:
        """Return the concatenated signatures of the next messages, 16 bytes each.

        The result has fewer than `count` signatures at the end of the log, or if buffering more
        messages would exceed `MAX_BUFFERED_BYTES`.
        """
        while self._ahead < count and self._bytes < MAX_BUFFERED_BYTES and self._fill():
            pass
        requested = min(count, self._ahead)
        known_count = len(self._signatures) // SIGNATURE_BYTES
        parts = [self._signatures]
        start = -self._offset
        for buffered in self._buffer:
            end = start + len(buffered.batch)
            first, last = max(known_count, start), min(requested, end)
            if first < last:
                parts.append(
                    comparer.signatures(self.number, buffered.batch, first - start, last - start)
                )
            start = end
        self._signatures = b"".join(parts)
        return self._signatures[: requested * SIGNATURE_BYTES]


class Comparison:
    """The state of a comparison: both logs, the options, and the counts so far."""

    def __init__(
        self,
        sides: list[ComparedLog],
        values: Mapping[str, Any],
        common_features: Mapping[str, bool],
        formatter: DifferenceFormatter,
        report_progress: Callable[[], None],
    ) -> None:
        """Set up the comparison.

        Args:
            sides: The two logs.
            values: The options of `diff`.
            common_features: Whether both formats support "metadata" and "namespaces".
            formatter: Receives the differences.
            report_progress: Called regularly.
        """
        self.a, self.b = sides
        self.window: int = values["window"]
        self.remaining: int = values["limit"]
        self.counts = dict.fromkeys(
            ("equal", "changed", "only_a", "only_b", "undecided", "records"), 0
        )
        self.only_namespaces = 0  # pairs that differ only in namespaces
        self.report_progress = report_progress
        self.formatter = formatter
        mode = "exact"
        if self.a.kind == "messages":
            mode = "sequences" if values["quads"] == "ordered" else "sets"
        namespaces = "ignored"
        if common_features["namespaces"] and not values["unordered"]:
            namespaces = "compared" if values["namespaces"] else "noticed"
        self.comparer = Comparer(
            mode,
            metadata=common_features["metadata"] and not values["ignore_metadata"],
            namespaces=namespaces,
            max_steps=values["max_steps"],
            max_total_steps=values["max_total_steps"],
        )

    def compare_heads(self) -> tuple[str, ...]:
        """Return the differences in variables or answers, and align the columns by variable name.

        The result is empty unless both logs are results. If the sets of variables or the answers
        differ, it is a line that begins with "-" and one that begins with "+".
        """
        a, b = self.a.head, self.b.head
        if a is None or b is None:
            return ()
        names = list(dict.fromkeys((*a.variables, *b.variables)))
        self.formatter.variables = names
        if a.variables != b.variables:
            columns = [
                [side.variables.index(name) if name in side.variables else None for name in names]
                for side in (a, b)
            ]
            self.comparer.set_columns(*columns)
        lines = [_head_text(side) for side in (a, b)]
        same = set(a.variables) == set(b.variables) and a.boolean == b.boolean
        return () if same else (f"-{lines[0]}", f"+{lines[1]}")

    def count_equal(self, pairs: int, records: int) -> None:
        """Count equal pairs and their records, and skip them."""
        self.counts["equal"] += pairs
        self.counts["records"] += records
        self.a.advance(pairs)
        self.b.advance(pairs)

    def report_pair(self, differences: int) -> None:
        """Report the next messages of both logs as a differing pair, and skip them."""
        undecided = bool(differences & UNDECIDED)
        self.counts["undecided" if undecided else "changed"] += 1
        self.only_namespaces += differences == NAMESPACES
        one, other = self.a.message(), self.b.message()
        if differences & (
            RECORDS | UNDECIDED
        ):  # otherwise the comparer has already compared the rest
            differences |= self.comparer.metadata_and_namespaces(
                one.batch, one.number, other.batch, other.number
            )
        if self.remaining:
            self.remaining -= 1
            self.formatter.report_pair(
                one,
                other,
                records=bool(differences & RECORDS),
                undecided=undecided,
                metadata=bool(differences & METADATA),
                namespaces=self.comparer.redeclared() if differences & NAMESPACES else [],
            )
        self.a.advance(1)
        self.b.advance(1)

    def report_only(self, side: ComparedLog, count: int) -> None:
        """Report the next messages of one log as missing from the other, and skip them."""
        self.counts["only_b" if side.number else "only_a"] += count
        for ahead in range(min(count, self.remaining)):
            self.remaining -= 1
            self.formatter.report_only(side.number, side.message(ahead))
        side.advance(count)


def _head_text(batch: ResultBatch) -> str:
    if batch.boolean is not None:
        return f"answer: {str(batch.boolean).lower()}"
    return "variables: " + (" ".join(f"?{name}" for name in batch.variables) or "none")


def pair_in_order(comparison: Comparison) -> None:
    """Compare messages in the order of the logs."""
    a, b = comparison.a, comparison.b
    while (one := a.current()) is not None and (other := b.current()) is not None:
        max_pairs = min(len(one[0]) - one[1], len(other[0]) - other[1])
        pairs, records, differences = comparison.comparer.run(*one, *other, max_pairs)
        comparison.count_equal(pairs, records)
        comparison.report_progress()
        if differences & RECORDS:
            _resynchronize(comparison)
        elif differences:
            comparison.report_pair(differences)
    for side in (a, b):
        while (current := side.current()) is not None:
            comparison.report_only(side, len(current[0]) - current[1])
            comparison.report_progress()


def _resynchronize(comparison: Comparison) -> None:
    """Report the differences up to the last matching messages in the window.

    If no messages match, both logs advance by the same number of messages, at most `window`, unless
    both end in the window.
    """
    a, b, window = comparison.a, comparison.b, comparison.window
    ours, theirs = (side.signatures(comparison.comparer, 2 * window) for side in (a, b))
    blocks = common_blocks(ours, theirs)
    at_a = at_b = 0
    for start_a, start_b, length in blocks:
        _report_gap(comparison, start_a - at_a, start_b - at_b)
        _compare_block(comparison, length)
        at_a, at_b = start_a + length, start_b + length
        comparison.report_progress()
    if blocks:
        return
    counts = [len(signatures) // SIGNATURE_BYTES for signatures in (ours, theirs)]
    both_ended = a.ended and counts[0] == a.messages - a.message_index and b.ended
    if both_ended and counts[1] == b.messages - b.message_index:
        _report_gap(comparison, *counts)
    else:
        pairs = max(1, min(window, *counts))
        _report_gap(comparison, pairs, pairs)


def _compare_block(comparison: Comparison, count: int) -> None:
    """Compare messages with equal signatures, because different messages can share a signature."""
    while count:
        one, other = comparison.a.current(), comparison.b.current()
        assert one is not None
        assert other is not None
        max_pairs = min(count, len(one[0]) - one[1], len(other[0]) - other[1])
        pairs, records, differences = comparison.comparer.run(*one, *other, max_pairs)
        comparison.count_equal(pairs, records)
        count -= pairs
        if differences:
            comparison.report_pair(differences)
            count -= 1


def _report_gap(comparison: Comparison, ours: int, theirs: int) -> None:
    """Report the messages between two matching blocks. None of them match."""
    pairs = _find_similar_pairs(comparison, ours, theirs)
    at_a = at_b = 0
    for one, other in [*pairs, (ours, theirs)]:
        comparison.report_only(comparison.a, one - at_a)
        comparison.report_only(comparison.b, other - at_b)
        if (one, other) != (ours, theirs):
            comparison.report_pair(RECORDS)
        at_a, at_b = one + 1, other + 1


def _find_similar_pairs(comparison: Comparison, ours: int, theirs: int) -> list[tuple[int, int]]:
    """Return the messages of a gap to report as pairs, as positions in both logs.

    The result has as many pairs as possible, in order. Of all such pairings, it is one
    whose messages share the most lines.
    """
    count = min(ours, theirs)
    if ours == theirs or not count or not comparison.remaining or ours * theirs > MAX_ALIGNED:
        return [(index, index) for index in range(count)]
    features = [
        [comparison.formatter.features(side.message(index)) for index in range(length)]
        for side, length in ((comparison.a, ours), (comparison.b, theirs))
    ]
    # Number of pairs up to this position, and the largest total of lines that they can share.
    best = [[(0, 0)] * (theirs + 1) for _ in range(ours + 1)]
    for i in range(1, ours + 1):
        for j in range(1, theirs + 1):
            diagonal = best[i - 1][j - 1]
            shared = len(features[0][i - 1] & features[1][j - 1])
            best[i][j] = max(
                (diagonal[0] + 1, diagonal[1] + shared), best[i - 1][j], best[i][j - 1]
            )
    pairs = []
    i, j = ours, theirs
    while i and j:
        if best[i][j] == best[i - 1][j]:
            i -= 1
        elif best[i][j] == best[i][j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            pairs.append((i, j))
    return pairs[::-1]


def pair_in_any_order(comparison: Comparison) -> None:
    """Compare the logs as multisets of messages, by signature.

    The logs are read a second time to report the messages that differ.
    """
    sides = (comparison.a, comparison.b)
    comparer, counts = comparison.comparer, comparison.counts
    undecided: list[list[int]] = [[], []]
    total_records = 0
    for side in sides:
        while (current := side.current()) is not None:
            over_limit = comparer.collect(side.number, current[0])
            counts["undecided"] += len(over_limit)
            room = comparison.remaining - len(undecided[side.number])
            undecided[side.number] += [
                side.message_index + number for number in over_limit[: max(room, 0)]
            ]
            if side.number == 0:
                total_records += current[0].record_count
            side.skip_batch()
            comparison.report_progress()
    remaining = comparison.remaining
    counts["equal"], counts["only_a"], counts["only_b"] = comparer.compare_multisets()
    if not (counts["only_a"] or counts["only_b"] or counts["undecided"]):
        counts["records"] = total_records
    if not remaining:
        return
    only = (counts["only_a"], counts["only_b"])
    wanted_a = min(only[0], max(remaining - only[1], (remaining + 1) // 2))
    for side, differing_left in zip(
        sides, (wanted_a, min(only[1], remaining - wanted_a)), strict=True
    ):
        numbers = set(undecided[side.number])
        undecided_left = len(numbers)
        if not (differing_left or undecided_left):
            continue
        messages = side.messages
        side.restart()
        while (differing_left or undecided_left) and (current := side.current()) is not None:
            differs_by_number = dict.fromkeys(
                comparer.surplus(side.number, current[0])[:differing_left], True
            )
            differs_by_number |= {
                number - side.message_index: False
                for number in numbers
                if side.message_index <= number < side.message_index + len(current[0])
            }
            for number, differs in sorted(differs_by_number.items()):
                if differs:
                    differing_left -= 1
                    comparison.formatter.report_only(side.number, side.message(number))
                else:
                    undecided_left -= 1
                    comparison.formatter.report_undecided(side.number, side.message(number))
            side.skip_batch()
        side.stop(messages)
