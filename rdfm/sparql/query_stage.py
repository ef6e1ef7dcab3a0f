"""A SPARQL query as a stage.

In: messages as they are read. Out: solutions (SELECT and ASK) or messages (CONSTRUCT), in the order
of their input messages.
Cost: memory for a batch and its solutions; with `whole`, for the dataset.
Law: all results that precede an error are yielded before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from rdfm._core import EvaluationResult, MessageBatch, Query, QueryDataset, ResultBatch
from rdfm.errors import LimitError, OptionError, spell_option
from rdfm.logs.input.driver import NO_LOG, NOTHING_DROPPED, Item, ReadBatch, SkippedData
from rdfm.logs.kinds import wrong_kind_error
from rdfm.logs.read.rows import ComputedBatch
from rdfm.logs.stages.stage import Stage
from rdfm.sparql.query_remedies import limit_remedy

__all__ = ["QueryStage", "SolutionBatch"]

_METHODS = {"select": "solutions", "construct": "construct", "ask": "answers"}


@dataclass(frozen=True, slots=True)
class SolutionBatch(ComputedBatch):
    """A batch of solutions.

    An ASK query has one solution, without variables, for each message for which it is true.

    Attributes:
        rows: The rows, without the columns that identify their messages.
        source: Name of the log that the messages are from; None if all logs are one dataset.
        batch: The messages that were queried; None if all logs are one dataset.
        messages: Position in `batch` of each row's message.
        number_offset: Difference between the number of a message over all logs and its index in its
            log.
        evaluated: The result of SELECT, from which typed columns are made.
    """

    rows: ResultBatch
    source: str | None = None
    batch: MessageBatch | None = None
    messages: tuple[int, ...] | list[int] = ()
    number_offset: int = 0
    evaluated: EvaluationResult | None = None

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.rows)

    @property
    def memory_bytes(self) -> int:
        """Size of the rows in bytes."""
        return self.rows.memory_bytes

    @property
    def indexes(self) -> list[int]:
        """For each row, the index of its message in the log; empty if all logs are one dataset."""
        return [] if self.batch is None else [self.batch.message_index(at) for at in self.messages]


class QueryStage(Stage):
    """Evaluates a query over messages as they are read.

    Yields batches of messages, or objects of type `SolutionBatch`.

    Attributes:
        query: The query.
        whole: Whether all messages are one dataset.
        found: Whether any solution or triple has been found.
        graphs: Whether the messages have named graphs, but the query reads only the default graph.
    """

    # CONSTRUCT creates triples, which may contain triple terms in any position.
    carries: ClassVar[Mapping[str, Any]] = {"graphs": False, "triple_terms": "anywhere"}
    is_slow = True

    def __init__(
        self,
        query: Query,
        *,
        whole: bool = False,
        skip_empty: bool = False,
        skips: bool = False,
        instantiates: bool = False,
    ) -> None:
        """Set up the evaluation of a query.

        Args:
            query: The query.
            whole: Whether to query all messages as one dataset, at the end.
            skip_empty: Whether to omit messages for which CONSTRUCT creates no triples.
            skips: Whether to skip messages that exceed a limit.
            instantiates: Whether the input contains results, so that CONSTRUCT creates a message
                from each row.
        """
        self.query = query
        self.kind = "messages" if query.kind == "construct" else "results"
        self.whole = self.works_at_end = whole
        self.found = self.graphs = False
        self._dataset = QueryDataset() if whole else None
        self._skip_empty = skip_empty
        self._skips = skips
        self._instantiates = instantiates
        self._seen = 0  # messages queried
        self._last = ReadBatch(NO_LOG, None, {}, 0)

    def process(self, item: Item) -> Iterator[Item]:
        """Process an item.

        Raises:
            OptionError: If the kind of the batch is wrong.
            LimitError: If a message exceeds a limit.
        """
        if not isinstance(item, ReadBatch):
            yield item
            return
        is_first = self._last.source is NO_LOG
        self._last = item._replace(batch=None, dropped_data=NOTHING_DROPPED)
        if is_first:  # writes a header even if an error follows
            yield self._last
        if item.batch is not None:
            yield from self.process_batch(item)
        yield item._replace(batch=None)

    def process_batch(self, item: ReadBatch) -> Iterator[Item]:
        """Yield the results of the query for the messages of a batch."""
        batch = item.batch
        assert batch is not None
        if self._instantiates:
            if not isinstance(batch, ResultBatch):
                raise OptionError(
                    f"{item.source.name} contains {batch.kind}, but {spell_option('solutions')} requires "
                    "SPARQL results; use a file such as r.srj"
                )
            yield from self._constructed(self.query.instantiate(batch))
            return
        if not isinstance(batch, MessageBatch):
            raise wrong_kind_error(item.source.name, batch.kind, "queries need messages")
        if self._dataset is not None:
            self._add(self._dataset, batch, item)
            return
        evaluate = getattr(self.query, _METHODS[self.query.kind])
        number_offset, done = self._seen - batch.first_message_index, 0
        self._seen += len(batch)
        while done < len(batch):
            evaluated: EvaluationResult = evaluate(batch, done)
            self.graphs = self.graphs or (evaluated.has_named and self.query.uses_default_graph)
            name = item.source.name
            if evaluated.rows is not None:
                yield from self._solved(
                    SolutionBatch(
                        evaluated.rows,
                        name,
                        batch,
                        evaluated.messages,
                        number_offset,
                        evaluated=evaluated,
                    )
                )
            yield from self._constructed(evaluated.constructed)
            true = [at for at, answer in enumerate(evaluated.answers, done) if answer]
            if true:
                yield from self._solved(
                    SolutionBatch(_rows(len(true)), name, batch, true, number_offset)
                )
            done = evaluated.done
            if evaluated.error is not None:
                yield self._skip(item, batch.message_index(done), *evaluated.error)
                done += 1

    def finish(self) -> Iterator[Item]:
        """Yield the results of the query for the dataset of all messages.

        Raises:
            LimitError: If the query exceeds a limit.
        """
        if self._dataset is None:
            return
        self.graphs = self._dataset.has_named and self.query.uses_default_graph
        result = self.query.whole(self._dataset)
        try:
            for part in result:
                if isinstance(part, ResultBatch):
                    yield from self._solved(SolutionBatch(part))
                elif isinstance(part, MessageBatch):
                    yield from self._constructed(part)
                elif part:
                    yield from self._solved(SolutionBatch(_rows(1)))
        finally:
            result.close()

    def _solved(self, solutions: SolutionBatch) -> Iterator[ReadBatch]:
        if len(solutions):
            self.found = True
            batch: Any = solutions
            yield self._last._replace(batch=batch)

    def _constructed(self, batch: MessageBatch | None) -> Iterator[ReadBatch]:
        """Yield the messages of CONSTRUCT. With `skip_empty`, empty messages are omitted."""
        if batch is None:
            return
        self.found = self.found or batch.quad_count > 0
        if not self._skip_empty:
            yield self._last._replace(batch=batch)
            return
        start = None
        for at, count in enumerate((*batch.quad_counts(), 0)):
            if count and start is None:
                start = at
            elif not count and start is not None:
                yield self._last._replace(batch=batch.slice(start, at))
                start = None

    @staticmethod
    def _add(dataset: QueryDataset, batch: MessageBatch, item: ReadBatch) -> None:
        """Add messages to the dataset."""
        try:
            dataset.add(batch)
        except LimitError as error:
            error.source = item.source.name
            raise

    def _skip(self, item: ReadBatch, index: int, reason: str, limit: str | None) -> SkippedData:
        """Skip a message that exceeds a limit, or raise the error if `skips` is false."""
        error = LimitError(reason, message_index=index, source=item.source.name)
        if self._skips:
            return SkippedData(item.source, errors=1, error=error)
        if limit is not None:
            error.remedies = (limit_remedy(limit),)
        raise error


def _rows(count: int) -> ResultBatch:
    """Return `count` rows without variables."""
    return ResultBatch.from_rows([()] * count, [])
