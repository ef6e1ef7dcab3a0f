"""A query as a stage between what reads messages and what takes the results.

In: messages as they are read. Out: rows, messages or indexes, in the order of the messages that they are of.
Cost: a batch and its solutions; with `whole` the dataset. Law: what came before an error is given before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rdfm._core import Evaluated, MessageBatch, Query, QueryDataset, ResultBatch
from rdfm.errors import LimitError, OptionError, Remedy
from rdfm.logs.driver import Broken, Item, Read
from rdfm.logs.kinds import other_kind

if TYPE_CHECKING:
    from rdfm.message import AnyBatch

__all__ = ["MAX_LISTED", "Found", "Querying"]

MAX_LISTED = 10
_METHODS = {"select": "solutions", "construct": "construct", "ask": "holds"}


@dataclass(frozen=True)
class Found:
    """Solutions of a query.

    Attributes:
        rows: The rows, without what says whose they are.
        source: The name of the log that they are of; None where all logs are one dataset.
        batch: The messages that were queried.
        evaluated: What the query gave for them.
        first: What is added to the index of a message in its log for its number over all logs.
    """

    rows: ResultBatch
    source: str | None = None
    batch: MessageBatch | None = None
    evaluated: Evaluated | None = None
    first: int = 0

    @property
    def indexes(self) -> list[int]:
        """The index in its log of each row's message."""
        if self.batch is None or self.evaluated is None:
            return []
        return [self.batch.index_of(at) for at in self.evaluated.messages]


class Querying:
    """Evaluates a query over messages as they are read.

    Attributes:
        query: The query.
        kind: What is made: "messages" or "results".
        whole: Whether all that is read is one dataset.
        skipped: Messages that were left out, since they met a limit.
        texts: What was wrong with the first of them.
        found: Whether there was any row or triple.
        graphs: Whether what was queried has named graphs.
        head: What is given before everything else.
        form: Makes of solutions what is given; without, they are given themselves.
    """

    form: Callable[[Found], Any] | None = None
    head: AnyBatch | None = None

    def __init__(
        self,
        query: Query,
        *,
        whole: bool = False,
        skip_empty: bool = False,
        skips: bool = False,
        instantiates: bool = False,
    ) -> None:
        """Take the query and how it is evaluated.

        Args:
            query: The query.
            whole: Whether all that is read is one dataset, which is queried at its end.
            skip_empty: Whether messages for which CONSTRUCT makes no triple are left out.
            skips: Whether messages that meet a limit are left out, and counted.
            instantiates: Whether rows of results are read, each of which CONSTRUCT makes a message of.
        """
        self.query = query
        self.kind = "messages" if query.kind == "construct" else "results"
        self.whole = whole
        self.skipped = 0
        self.texts: list[str] = []
        self.found = self.graphs = False
        self._dataset = QueryDataset() if whole else None
        self._skip_empty = skip_empty
        self._skips = skips
        self._instantiates = instantiates
        self._seen = 0  # messages queried

    def evaluate(self, read: Read) -> Iterator[Any]:
        """Give what the query makes of the next messages.

        Raises:
            OptionError: They are of another kind.
            LimitError: One of them meets a limit.
        """
        batch = read.batch
        if self._instantiates:
            if not isinstance(batch, ResultBatch):
                kind = "results" if batch is None else batch.kind
                raise OptionError(
                    f"{read.source.name} holds {kind}, and solutions are results; name a file of SPARQL results, such as r.srj"
                )
            yield from self._constructed(self.query.instantiate(batch))
            return
        if not isinstance(batch, MessageBatch):
            kind = "messages" if batch is None else batch.kind
            raise other_kind(read.source.name, kind, "messages are queried")
        if self._dataset is not None:
            self._add(batch, read)
            return
        evaluate = getattr(self.query, _METHODS[self.query.kind])
        first, done = self._seen - batch.first_index, 0
        self._seen += len(batch)
        while done < len(batch):
            made: Evaluated = evaluate(batch, done)
            self.graphs = self.graphs or (made.has_named and self.query.asks_default)
            if made.rows is not None and len(made.rows):
                yield self._formed(Found(made.rows, read.source.name, batch, made, first))
            yield from self._constructed(made.constructed)
            for at, holds in enumerate(made.answers, done):
                if holds:
                    self.found = True
                    yield read.source.name, batch.index_of(at)
            done = made.done
            if made.error is not None:
                self._leave_out(read, batch.index_of(done), *made.error)
                done += 1

    def _constructed(self, batch: MessageBatch | None) -> Iterator[MessageBatch]:
        """Messages that CONSTRUCT makes, but the empty ones where these are left out."""
        if batch is None:
            return
        self.found = self.found or batch.quad_count > 0
        if not self._skip_empty:
            yield batch
            return
        start = None
        for at, count in enumerate((*batch.quad_counts(), 0)):
            if count and start is None:
                start = at
            elif not count and start is not None:
                yield batch.slice(start, at)
                start = None

    def _add(self, batch: MessageBatch, read: Read) -> None:
        """Take messages into the dataset."""
        assert self._dataset is not None
        try:
            self._dataset.add(batch)
        except LimitError as error:
            error.source = read.source.name
            raise

    def rest(self) -> Iterator[Any]:
        """Give what the query makes of the dataset of all messages, at the end.

        Raises:
            LimitError: It meets a limit.
        """
        if self._dataset is None:
            return
        self.graphs = self._dataset.has_named and self.query.asks_default
        result = self.query.whole(self._dataset)
        try:
            for made in result:
                if isinstance(made, ResultBatch):
                    if len(made):
                        yield self._formed(Found(made))
                elif isinstance(made, MessageBatch):
                    yield from self._constructed(made)
                else:
                    self.found = made
                    yield made
        finally:
            result.close()

    def _formed(self, found: Found) -> Any:
        self.found = True
        return found if self.form is None else self.form(found)

    def _leave_out(self, read: Read, index: int, reason: str, limit: str | None) -> None:
        """Count a message that meets a limit; raise that where none is left out."""
        error = LimitError(reason, message_index=index, source=read.source.name)
        if not self._skips:
            if limit is not None:
                error.remedies = (Remedy("stage", limit, None, ""),)
            raise error
        self.skipped += 1
        if len(self.texts) < MAX_LISTED:
            self.texts.append(str(error))

    def items(self, items: Iterable[Item]) -> Iterator[Item]:
        """Give what a driver gives, with the messages that CONSTRUCT makes for those that it reads."""
        last: Read | None = None
        for item in items:
            last = item if isinstance(item, Read) else last
            if isinstance(item, Read) and item.batch is not None:
                for made in self.evaluate(item):
                    yield item._replace(batch=made)
            else:
                yield item
        if last is not None:
            for made in self.rest():
                yield last._replace(batch=made)

    def results(self, items: Iterable[Item]) -> Iterator[Any]:
        """Give what the query makes of what a driver gives.

        Raises:
            RdfmError, OSError: As the driver, as `evaluate` and as `rest`.
        """
        for item in items:
            if isinstance(item, Broken):
                if not self._skips or isinstance(item.error, LimitError):
                    raise item.error
                self.skipped += 1
                if len(self.texts) < MAX_LISTED:
                    self.texts.append(str(item.error))
            elif isinstance(item, Read) and item.batch is not None:
                yield from self.evaluate(item)
        yield from self.rest()
