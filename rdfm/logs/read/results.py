"""Reading SPARQL results: `open_results`.

In: a log of results. Out: rows as tuples of terms. Cost: one batch of rows.
Law: a result set has one list of variables. Every row has a cell for each variable: a term, or None
if it is unbound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Self, Unpack, cast
from typing import Literal as OneOf

from rdfm import interop
from rdfm._core import ResultBatch
from rdfm.errors import OptionError
from rdfm.logs.read.arrow import TableForm, arrow_reader
from rdfm.logs.read.frames import Tabular
from rdfm.logs.read.reader import open_log
from rdfm.logs.turns import Loop, Turn

if TYPE_CHECKING:
    import pyarrow
    import pyoxigraph
    import rdflib.query

    from rdfm._core import Term
    from rdfm.formats.options_generated import ReadOptions
    from rdfm.logs.input.inputs import Readable

__all__ = ["ResultReader", "open_results"]

PENDING_ROWS = 4096


def open_results(
    source: Readable,
    format: str | None = None,
    *,
    terms: OneOf["ntriples", "structs"] = "ntriples",
    **options: Unpack[ReadOptions],
) -> ResultReader:
    r"""Open SPARQL results for reading.

    Args:
        source: As in `open_log`.
        format: A format name such as "results-json". Derived from the suffix by default.
        terms: Representation of terms if the reader is used as an Arrow stream, as in `open_log`.
        **options: Options of the format's decoder.

    Raises:
        UnknownFormatError: If the format cannot be detected.
        OptionError: If the format is not a result format, or does not support an option.
        OSError: If the file cannot be read.

    Example:
        >>> with open_results(b"?name\n\"Ann\"\n", "results-tsv") as results:
        ...     results.variables, [str(name) for (name,) in results]
        (('name',), ['"Ann"'])
    """
    table = TableForm.of("messages", terms)
    log = open_log(source, format, **options)
    kinds = () if log._format is None else log._format.spec.kinds
    if "results" not in kinds:
        log.close()
        raise OptionError(
            f"{log.source} contains {' and '.join(kinds)}, not results; open it with rdfm.open_log"
        )
    if log._format is not None and "results" in log._format.spec.written_only:
        log.close()
        raise OptionError(
            f"{log.source}: results in {log._format.spec.title} cannot be read back, because "
            "nothing marks the values of the table as terms; store results in a result format, such "
            "as results-thrift (.srt)"
        )
    return ResultReader(
        cast("Iterator[ResultBatch]", log.batches()),
        f"{log.source}: {log.format}",
        log.close,
        table,
    )


class ResultReader(Tabular):
    """SPARQL results that are being read. Iterate over the rows: tuples of terms and None.

    Created by `open_results`, or from results of other libraries by `from_oxigraph` and
    `from_rdflib`. As a table it has a column of N-Triples for each variable. Only one thread can use
    a reader at a time; a second thread gets a RuntimeError.
    """

    def __init__(
        self,
        batches: Iterator[ResultBatch],
        name: str,
        close: Callable[[], object] | None = None,
        table: TableForm = TableForm(),  # noqa: B008 - immutable
    ) -> None:
        """Initialize with the batches, the name of their log and the form of rows in a table.

        Called by `open_results`.
        """
        self._table = table
        self._batches = batches
        self._name = name
        self._turn = Turn(name)
        self._close = close
        self._head: ResultBatch | None = None  # the variables, without rows
        self._first: ResultBatch | None = None  # already read, but not yet returned
        self._ended = False
        self._error: Exception | None = None

    def _begin(self) -> ResultBatch:
        """Read up to the first rows."""
        with self._turn:
            if self._head is None:
                first = self._take()  # a batch without rows is false
                self._first = ResultBatch.from_rows([], []) if first is None else first
                self._head = self._first.slice(0, 0)
            return self._head

    def _take(self) -> ResultBatch | None:
        """Return the next batch of the log, or None at its end. Raises an earlier error again."""
        if self._error is not None:
            raise self._error
        try:
            return next(self._batches, None)
        except Exception as error:
            self._error = error
            raise

    def _next(self) -> ResultBatch | None:
        self._begin()
        first, self._first = self._first, None
        if first is not None:
            return first
        batch = self._take()
        self._ended = batch is None
        return batch

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

    def batches(self) -> Iterator[ResultBatch]:
        """Return an iterator over batches of rows. All have the variables; the first may be empty.

        If a loop is exited early, the next loop continues where it stopped.

        Raises:
            DecodeError: If the log is invalid. All rows before the error have been returned.
            OSError: If the file cannot be read.
            ValueError: If the results have already been read to their end.
            RuntimeError: If another thread is using the reader.
        """
        return Loop(self._turn, self._unread_batches())

    def _unread_batches(self) -> Iterator[ResultBatch]:
        self._check_unread()
        while (batch := self._next()) is not None:
            yield batch

    def __iter__(self) -> Iterator[tuple[Term | None, ...]]:
        """Return an iterator over the rows. Raises the same errors as `batches`."""
        return Loop(self._turn, self._rows())

    def _rows(self) -> Iterator[tuple[Term | None, ...]]:
        self._check_unread()
        while (batch := self._next()) is not None:
            given = 0
            try:
                for row in batch:
                    given += 1
                    yield row
            finally:  # if the loop is exited early, the next one continues here
                if given < len(batch):
                    self._first = batch.slice(given, len(batch))

    def _check_unread(self) -> None:
        if self._ended:
            raise ValueError(
                f"{self._name} has been read to the end; open it again to read it again"
            )

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
        return cls(_batches(interop.results_from_rdflib(result)), "rdflib")

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
        return cls(_batches(interop.results_from_oxigraph(results)), "pyoxigraph")

    def _results(self) -> interop.Results:
        self._check_unread()
        return interop.Results(self.variables, self.boolean, iter(self))

    def _arrow_reader(self) -> pyarrow.RecordBatchReader:
        self._check_unread()
        return arrow_reader(
            self._table, self._begin(), self._name, ((batch, None) for batch in self.batches())
        )

    def close(self) -> None:
        """Close the open files.

        Raises:
            RuntimeError: If another thread is reading; stop it first.
        """
        with self._turn:
            if self._close is not None:
                self._close()

    def __enter__(self) -> Self:
        """Return the reader."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the open files."""
        self.close()

    def __repr__(self) -> str:
        """Return a string such as `<ResultReader r.srj: results-json>`."""
        return f"<ResultReader {self._name}>"


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
            yield ResultBatch.from_rows(pending, variables, first_index=done)
            done += len(pending)
        elif failed is None:
            return
    raise failed
