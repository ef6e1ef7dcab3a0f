"""Stages: the steps between reading and writing, such as a filter, a query or a selection.

In: items as the driver yields them: messages of a log, its end, errors, and what was skipped. Out: items again.
Cost: that of the stages; items go through one by one, and are never collected.
Law: a stage keeps the order of items. The result does not depend on how messages are cut into batches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, ClassVar

from rdfm.errors import LimitError
from rdfm.logs.driver import NOTHING, Broken, Item, Read, Skipped

__all__ = ["MAX_LISTED_ERRORS", "SkipBroken", "Stage", "Stages", "Tally", "Watching", "through"]

MAX_LISTED_ERRORS = 10


class Stage:
    """One step between reading and writing. Subclasses override `batch`, or `take` to see all items.

    Attributes:
        kind: Kind of the batches that it yields; None if it keeps the kind.
        carries: Features of the batches that it yields, if they differ from those of the format read: keys as
            in `FormatSpec.carries`.
        done: True once no further item can change what it yields.
        is_slow: Whether it takes longer than decoding, so that items wait for it.
        works_at_end: Whether `finish` does the main work.
    """

    kind: str | None = None
    carries: ClassVar[Mapping[str, Any]] = {}
    done = False
    is_slow = False
    works_at_end = False

    def take(self, item: Item) -> Iterable[Item]:
        """Process an item; items without messages pass through by default.

        Raises:
            RdfmError: As the stage.
        """
        if isinstance(item, Read) and item.batch is not None:
            return self.batch(item)
        return (item,)

    def batch(self, read: Read) -> Iterable[Item]:
        """Process messages; `read.batch` is not None."""
        return (read,)

    def finish(self) -> Iterable[Item]:
        """Yield what the stage held back. Called once, after the last item or once it is done.

        Raises:
            RdfmError: As the stage.
        """
        return ()

    def dropped(self) -> dict[str, int]:
        """Return what it dropped so far: counts by name."""
        return {}


class Stages:
    """Stages in a row, each of which takes what the one before it yields."""

    def __init__(self, stages: Sequence[Stage]) -> None:
        """Take the stages in order."""
        self._stages = stages
        self.kind = next((each.kind for each in reversed(stages) if each.kind is not None), None)
        self.is_slow = any(each.is_slow for each in stages)
        self.works_at_end = any(each.works_at_end for each in stages)

    @property
    def done(self) -> bool:
        """Whether no further item can change what is yielded."""
        return any(each.done for each in self._stages)

    def take(self, item: Item) -> Iterator[Item]:
        """Process an item; later stages run as the result is consumed."""
        items: Iterator[Item] = iter((item,))
        for stage in self._stages:
            items = chain.from_iterable(map(stage.take, items))
        return items

    def finish(self) -> Iterator[Item]:
        """Yield what the stages held back. Stages before one that is done have nothing to add."""
        first = max((at for at, each in enumerate(self._stages) if each.done), default=0)
        items: Iterator[Item] = iter(())
        for stage in self._stages[first:]:
            items = chain(chain.from_iterable(map(stage.take, items)), _end(stage))
        return items

    def carries(self) -> dict[str, Any]:
        """Return what they change about the features of batches."""
        return {name: value for each in self._stages for name, value in each.carries.items()}

    def dropped(self) -> Counter[str]:
        """Return what they dropped so far: counts by name."""
        return sum((Counter(each.dropped()) for each in self._stages), Counter[str]())


def _end(stage: Stage) -> Iterator[Item]:
    """The end of a stage, which begins only when the first item is asked for."""
    yield from stage.finish()


def through(items: Iterable[Item], stages: Sequence[Stage]) -> Iterator[Item]:
    """Yield the items that stages make of items; stops reading once a stage is done.

    Raises:
        RdfmError, OSError: As `items` and the stages.
    """
    line = Stages(stages)
    for item in items:
        yield from line.take(item)
        if line.done:
            break
    yield from line.finish()


class SkipBroken(Stage):
    """Raises the errors of broken data, or skips it: then each error is in the `Skipped` item after it."""

    def __init__(
        self, *, skip: bool = True, explain: Callable[[Broken], None] | None = None
    ) -> None:
        """Take what to do with errors.

        Args:
            skip: Whether errors are skipped. Data that meets a limit is not broken, so its error is always raised.
            explain: Called with each error before it is raised or skipped, for example to add remedies.
        """
        self._skip = skip
        self._explain = explain
        self._broken: Broken | None = None

    def take(self, item: Item) -> Iterable[Item]:
        """Process an item.

        Raises:
            DecodeError: The item is an error that is not skipped.
        """
        if isinstance(item, Broken):
            if self._explain is not None:
                self._explain(item)
            if not self._skip or isinstance(item.error, LimitError):
                raise item.error
            self._broken = item
            return ()
        if self._broken is not None and isinstance(item, Skipped):
            item = item._replace(data=b"", errors=1, error=self._broken.error)
            self._broken = None
        return (item,)


class Watching(Stage):
    """Calls functions with what is read, for progress; changes nothing."""

    def __init__(self, see: Callable[[Read], None], end: Callable[[], None]) -> None:
        """Take the functions: `see` for messages and ends of logs, `end` for the end of all."""
        self._see = see
        self._end = end

    def take(self, item: Item) -> tuple[Item]:
        """Call `see`."""
        if isinstance(item, Read):
            self._see(item)
        return (item,)

    def finish(self) -> tuple[()]:
        """Call `end`."""
        self._end()
        return ()


class Tally:
    """Counts what was left out between reading and writing.

    Attributes:
        skipped: Number of errors that were skipped.
        errors: The first of these errors.
        abandoned: Names of the logs whose rest was given up.
        dropped: Counts of dropped namespaces, metadata entries and JSON-LD keys.
        dropped_key: The first of these keys, quoted.
    """

    def __init__(self) -> None:
        """Start at zero."""
        self.skipped = 0
        self.errors: list[str] = []
        self.abandoned: list[str] = []
        self.dropped: Counter[str] = Counter()
        self.dropped_key: str | None = None

    def take(self, item: Item) -> None:
        """Count an item."""
        if isinstance(item, Skipped):
            self.skipped += item.errors
            if item.error is not None and len(self.errors) < MAX_LISTED_ERRORS:
                self.errors.append(str(item.error))
            if item.abandoned:
                self.abandoned.append(item.source.name)
        elif isinstance(item, Read) and item.lost is not NOTHING:
            lost = item.lost
            self.dropped["namespaces"] += lost.namespaces
            self.dropped["metadata"] += lost.metadata
            self.dropped["keys"] += lost.keys
            self.dropped_key = self.dropped_key or lost.key
