"""Reading SPARQL results: the rows of `open_log(…, kind="results")`.

In: a log of results, or the results of another library. Out: rows as tuples of terms. Cost: one
batch of rows.
Law: a result set has one list of variables. Every row has a cell for each variable: a term, or None
if it is unbound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from rdfm import interop
from rdfm._core import ResultBatch
from rdfm.errors import RdfmError
from rdfm.logs.input.driver import NO_LOG, Item, ReadBatch
from rdfm.logs.read.reader import LogReader
from rdfm.message import Row

if TYPE_CHECKING:
    import pyoxigraph
    import rdflib.query

    from rdfm._core import Term
    from rdfm.message import AnyBatch

__all__ = ["ResultReader"]

PENDING_ROWS = 4096


class ResultReader(LogReader[Row]):
    """SPARQL results that are being read. Iterate over the rows: tuples of terms and None.

    Created by `open_log(…, kind="results")`, or from results of other libraries by `from_oxigraph`
    and `from_rdflib`. As a table it has a column of N-Triples for each variable.
    """

    _head: ResultBatch | None = None  # the variables, without rows

    def _take_batch(self) -> AnyBatch | None:
        batch = super()._take_batch()
        if self._head is None and isinstance(batch, ResultBatch):
            self._head = batch.slice(0, 0)
        return batch

    def _begin(self) -> ResultBatch:
        """Read up to the first rows, and return the variables.

        Raises:
            RdfmError, OSError: As in `batches`.
        """
        with self._lock:
            if self._head is None:
                if self._error is not None:
                    raise self._error.error
                if isinstance(first := self._peek(), RdfmError):
                    raise first
            return ResultBatch.from_rows([], []) if self._head is None else self._head

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables, without `?`. Reads up to the first rows."""
        return self._begin().variables

    @property
    def boolean(self) -> bool | None:
        """The answer to an ASK query; None for rows."""
        return self._begin().boolean

    @property
    def links(self) -> tuple[str, ...]:
        """Documents with further information: IRI references."""
        return self._begin().links

    def to_rdflib(self) -> rdflib.query.Result:
        """Return the results as an rdflib result (extra: rdflib), which reads rows on demand.

        Keep the reader open until the rows have been read. Links are omitted.

        Raises:
            EncodeError: If rdflib does not support a triple term, a base direction, a language tag
                or a variable name. An error in a row is raised when that row is requested.
            MissingExtraError: If rdflib is not installed.
        """
        return interop.results_to_rdflib(self._results())

    @classmethod
    def from_rdflib(cls, result: rdflib.query.Result) -> ResultReader:
        """Read the rows, or the answer, of an rdflib result. rdflib evaluates all rows at once.

        Raises:
            UnsupportedError: If the result is a graph.
            TypeError: If the argument is not an rdflib result.
        """
        return cls._of(_batches(interop.results_from_rdflib(result)), "rdflib")

    def to_oxigraph(self) -> pyoxigraph.QuerySolutions | pyoxigraph.QueryBoolean:
        """Return the results as a pyoxigraph result (extra: oxigraph), which reads rows on demand.

        Keep the reader open until the rows have been read. Links are omitted, blank node labels
        that pyoxigraph rejects are rewritten, and pyoxigraph writes language tags in lower case.

        Raises:
            EncodeError: If pyoxigraph rejects a variable or, when a row is requested, an IRI, a
                language tag or a generalized triple term in the row.
            MissingExtraError: If pyoxigraph is not installed.
        """
        return interop.results_to_oxigraph(self._results())

    @classmethod
    def from_oxigraph(
        cls, results: pyoxigraph.QuerySolutions | pyoxigraph.QueryBoolean
    ) -> ResultReader:
        """Read the rows, or the answer, of a pyoxigraph query, which is evaluated as rows are read.

        Raises:
            UnsupportedError: If the results are triples.
            TypeError: If the argument is not a pyoxigraph result.
        """
        return cls._of(_batches(interop.results_from_oxigraph(results)), "pyoxigraph")

    @classmethod
    def _of(cls, batches: Iterator[ResultBatch], library: str) -> ResultReader:
        driver: Any = _ResultDriver(batches, library)
        return cls(driver, kind="results")

    def _results(self) -> interop.Results:
        self._check_unread()
        return interop.Results(self.variables, self.boolean, iter(self))


class _ResultDriver:
    """Stands for a driver: yields the results of another library as the items of a log."""

    several = False
    first = format = None

    def __init__(self, batches: Iterator[ResultBatch], name: str) -> None:
        self.name = name
        self._batches = batches
        self.uncommitted: Mapping[str, int] = {}

    def open_first(self) -> None:
        """Do nothing: there is no log to open."""

    def decode(self, _pieces: Any) -> Iterator[Iterable[Item]]:
        """Yield the items of the only log."""
        source = NO_LOG._replace(name=self.name)
        yield (ReadBatch(source, batch, {}, 0) for batch in self._batches)

    def close(self) -> None:
        """Do nothing: there are no files."""


def _batches(results: interop.Results) -> Iterator[ResultBatch]:
    """Yield results as batches; the first has no rows."""
    variables = list(results.variables)
    yield ResultBatch.from_rows([], variables, boolean=results.boolean)
    rows = iter(results.rows)
    done = 0
    failed: Exception | None = None
    while failed is None:
        pending: list[Sequence[Term | None]] = []
        try:
            pending.extend(islice(rows, PENDING_ROWS))
        except Exception as error:  # raised after the rows before it
            failed = error
        if pending:
            yield ResultBatch.from_rows(pending, variables, first_message_index=done)
            done += len(pending)
        elif failed is None:
            return
    raise failed
