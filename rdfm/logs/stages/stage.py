"""Stages: the steps between reading and writing, such as a filter, a query or a selection.

In: items from the driver: messages of a log, its end, errors, and skipped data. Out: items.
Cost: the sum of the costs of the stages; items are processed one at a time, and never collected.
Law: a stage keeps the order of items. The result does not depend on the division into batches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, ClassVar

from rdfm.errors import DecodeError, LimitError, TruncatedError
from rdfm.logs import remedies
from rdfm.logs.input.driver import (
    NOTHING_DROPPED,
    Item,
    ReadBatch,
    ReadError,
    SkippedData,
    SkippedLines,
    Source,
)

__all__ = ["MAX_LISTED_ERRORS", "SkipErrors", "Stage", "Stages", "Tally", "Watcher", "run_stages"]

MAX_LISTED_ERRORS = 10


class Stage:
    """One step between reading and writing.

    Subclasses override `process_batch`, or `process` to see all items.

    Attributes:
        kind: Kind of the batches that the stage yields; None if the stage keeps the kind.
        carries: Features of the batches that the stage yields, if they differ from those of the
            input format. The keys are those of `FormatSpec.carries`.
        done: True once no further item can change the output.
        is_slow: Whether the stage takes longer than decoding, so that decoded items wait for it.
        works_at_end: Whether `finish` does the main work.
    """

    kind: str | None = None
    carries: ClassVar[Mapping[str, Any]] = {}
    done = False
    is_slow = False
    works_at_end = False

    def process(self, item: Item) -> Iterable[Item]:
        """Process an item; items without messages pass through by default.

        Raises:
            RdfmError: As raised by the stage.
        """
        if isinstance(item, ReadBatch) and item.batch is not None:
            return self.process_batch(item)
        return (item,)

    def process_batch(self, item: ReadBatch) -> Iterable[Item]:
        """Process messages; `item.batch` is not None."""
        return (item,)

    def finish(self) -> Iterable[Item]:
        """Yield the items that the stage has buffered.

        Called once, after the last item or once the stage is done.

        Raises:
            RdfmError: As raised by the stage.
        """
        return ()

    def dropped(self) -> dict[str, int]:
        """Return the data dropped so far: counts by name."""
        return {}


class Stages:
    """A sequence of stages, each of which processes the output of the previous one."""

    def __init__(self, stages: Sequence[Stage]) -> None:
        self._stages = stages
        self.kind = next((stage.kind for stage in reversed(stages) if stage.kind is not None), None)
        self.is_slow = any(stage.is_slow for stage in stages)
        self.works_at_end = any(stage.works_at_end for stage in stages)

    @property
    def done(self) -> bool:
        """Whether no further item can change the output."""
        return any(stage.done for stage in self._stages)

    def process(self, item: Item) -> Iterator[Item]:
        """Process an item. Later stages run as the result is consumed."""
        items: Iterator[Item] = iter((item,))
        for stage in self._stages:
            items = chain.from_iterable(map(stage.process, items))
        return items

    def finish(self) -> Iterator[Item]:
        """Yield the items that the stages have buffered.

        Stages before a completed stage are not finished, because their output would have no effect.
        """
        first = max((index for index, each in enumerate(self._stages) if each.done), default=0)
        items: Iterator[Item] = iter(())
        for stage in self._stages[first:]:
            items = chain(chain.from_iterable(map(stage.process, items)), _end(stage))
        return items

    def carries(self) -> dict[str, Any]:
        """Return the features of batches that the stages change."""
        return {name: value for stage in self._stages for name, value in stage.carries.items()}

    def dropped(self) -> Counter[str]:
        """Return the data dropped so far: counts by name."""
        return sum((Counter(stage.dropped()) for stage in self._stages), Counter[str]())


def _end(stage: Stage) -> Iterator[Item]:
    """Finish a stage, but only when the first item is requested."""
    yield from stage.finish()


def run_stages(items: Iterable[Item], stages: Sequence[Stage]) -> Iterator[Item]:
    """Yield the items that result from the stages. Reading stops once a stage is done.

    Raises:
        RdfmError, OSError: As raised by `items` and the stages.
    """
    line = Stages(stages)
    for item in items:
        yield from line.process(item)
        if line.done:
            break
    yield from line.finish()


class SkipErrors(Stage):
    """Raises errors about invalid data, or skips the data.

    If the data is skipped, the `SkippedData` item after the error contains the error. A message of
    which parts have been yielded cannot be skipped.
    """

    def __init__(
        self,
        *,
        skip: bool = True,
        explain: Callable[[ReadError], None] | None = None,
        keeps_data: bool = False,
    ) -> None:
        """Initialize with the handling of errors.

        Args:
            skip: Whether errors are skipped. Errors about limits are always raised, because the
                data is not invalid.
            explain: Called with each error before it is raised or skipped, for example to add
                remedies.
            keeps_data: Whether to keep the skipped bytes.
        """
        self._skip = skip
        self._keeps_data = keeps_data
        self._is_in_message = False  # a part of which has been yielded
        self._explain = explain
        self._error: ReadError | None = None

    def process(self, item: Item) -> Iterable[Item]:
        """Process an item.

        Raises:
            DecodeError: If the item is an error that is not skipped.
        """
        if isinstance(item, ReadError):
            if self._explain is not None:
                self._explain(item)
            if not self._skip or isinstance(item.error, LimitError):
                raise item.error
            if self._is_in_message:
                item.error.reason += "; earlier parts of this message have been processed"
                item.error.remedies += (remedies.SKIP_MESSAGES,)
                raise item.error
            self._error = item
            return ()
        if isinstance(item, ReadBatch) and item.batch is not None:
            self._is_in_message = item.batch.continues
        if self._error is not None and isinstance(item, SkippedData):
            data = item.data if self._keeps_data else b""
            item = item._replace(data=data, errors=1, error=self._error.error)
            self._error = None
        return (item,)


class Watcher(Stage):
    """Calls functions with the items, for progress. Passes the items on unchanged."""

    def __init__(self, on_item: Callable[[ReadBatch], None], end: Callable[[], None]) -> None:
        """Initialize with two functions.

        Args:
            on_item: Called with the messages and the end of each log.
            end: Called at the end of all logs.
        """
        self._on_item = on_item
        self._end = end

    def process(self, item: Item) -> tuple[Item]:
        """Call `on_item`."""
        if isinstance(item, ReadBatch):
            self._on_item(item)
        return (item,)

    def finish(self) -> tuple[()]:
        """Call `end`."""
        self._end()
        return ()


class Tally:
    """Counts the data dropped between reading and writing.

    Attributes:
        skipped: Number of errors that were skipped, without those in skipped lines.
        skipped_lines: Number of lines that were skipped.
        line_messages: Number of messages with such lines, if their indexes are known.
        errors: Texts of the first `MAX_LISTED_ERRORS` of these errors.
        truncated: Names of the logs whose last line was skipped because it is incomplete.
        abandoned: Names of the logs that were not read to the end.
        dropped: Counts of dropped namespaces, metadata entries and JSON-LD keys.
        dropped_key: The first of these keys, quoted.
    """

    def __init__(self) -> None:
        """Initialize all counts to zero."""
        self.skipped = self.skipped_lines = self.line_messages = 0
        self._line_message: tuple[Source, int] | None = None  # of the last skipped line
        self.errors: list[str] = []
        self.truncated: list[str] = []
        self.abandoned: list[str] = []
        self.dropped: Counter[str] = Counter()
        self.dropped_key: str | None = None

    def count(self, item: Item) -> None:
        """Count an item."""
        if isinstance(item, SkippedLines):
            for error, _ in item.lines:
                self.count_line(item.source, error)
        elif isinstance(item, SkippedData):
            self.skipped += item.errors
            if item.error is not None and len(self.errors) < MAX_LISTED_ERRORS:
                self.errors.append(str(item.error))
            if item.abandoned:
                self.abandoned.append(item.source.name)
        elif isinstance(item, ReadBatch) and item.dropped_data is not NOTHING_DROPPED:
            lost = item.dropped_data
            self.dropped["namespaces"] += lost.namespaces
            self.dropped["metadata"] += lost.metadata
            self.dropped["keys"] += lost.keys
            self.dropped_key = self.dropped_key or lost.key

    def count_line(self, source: Source, error: DecodeError) -> None:
        """Count a skipped line."""
        self.skipped_lines += 1
        if len(self.errors) < MAX_LISTED_ERRORS:
            self.errors.append(str(error))
        if error.message_index is not None and self._line_message != (
            message := (source, error.message_index)
        ):
            self._line_message = message
            self.line_messages += 1
        if isinstance(error, TruncatedError):
            self.truncated.append(source.name)

    def notes(self) -> tuple[str, ...]:
        """Return notes on the skipped lines."""
        return tuple(
            f"{name}: the last line is incomplete, so the input may be truncated"
            for name in self.truncated[:MAX_LISTED_ERRORS]
        )
