"""Reading and writing SPARQL results: `open_results` and `create_results`.

In: a log of results, or rows. Out: rows as tuples of terms, or a log. Cost: one batch of rows.
Law: a result set has one list of variables. Every row has a cell for each variable: a term, or None
if it is unbound.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from types import TracebackType
from typing import TYPE_CHECKING, Self, Unpack, cast
from typing import Literal as OneOf

from rdfm import interop
from rdfm._core import Bnode, Iri, Literal, ResultBatch, TripleTerm
from rdfm.errors import OptionError, RdfmError
from rdfm.logs.arrow import TableForm, arrow_reader
from rdfm.logs.frames import Tabular
from rdfm.logs.output import Writable
from rdfm.logs.reader import open_log
from rdfm.logs.turns import Loop, Turn
from rdfm.logs.writer import LogWriter, create_log

if TYPE_CHECKING:
    import pyarrow
    import pyoxigraph
    import rdflib.query

    from rdfm._core import Term
    from rdfm.formats.options_generated import ReadOptions, WriteOptions
    from rdfm.logs.input import Readable

__all__ = ["ResultReader", "ResultWriter", "create_results", "open_results"]

PENDING_ROWS = 4096
_CELLS = {Iri, Bnode, Literal, TripleTerm, type(None)}


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
    kinds = () if log.found is None else log.found.spec.kinds
    if "results" not in kinds:
        log.close()
        raise OptionError(
            f"{log.source} contains {' and '.join(kinds)}, not results; open it with rdfm.open_log"
        )
    if log.found is not None and "results" in log.found.spec.written_only:
        log.close()
        raise OptionError(
            f"{log.source}: results in {log.found.spec.title} cannot be read back, because "
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
            yield ResultBatch.from_rows(pending, variables, first_message_index=done)
            done += len(pending)
        elif failed is None:
            return
    raise failed


def create_results(
    target: Writable,
    variables: Sequence[str] = (),
    format: str | None = None,
    *,
    boolean: bool | None = None,
    links: Sequence[str] = (),
    compression: str | None = None,
    keep_partial: bool = False,
    **options: Unpack[WriteOptions],
) -> ResultWriter:
    r"""Create SPARQL results. The file appears under its name when the writer is closed.

    Args:
        target: A path, or a binary file object, which is left open.
        variables: The names of the variables, without `?`.
        format: A format name such as "results-json". Derived from the suffix by default.
        boolean: The answer to an ASK query, which has neither variables nor rows.
        links: Documents with further information: IRI references.
        compression: As in `create_log`.
        keep_partial: After an exception, keep the incomplete output as `NAME.partial`.
        **options: Options of the format's encoder.

    Raises:
        UnknownFormatError: If the format cannot be determined.
        OptionError: If the format is not a result format or does not support an option, or
            variables are given together with an answer or as a single string.
        EncodeError: If the format does not support the variables or the answer.
        OSError: If the file cannot be written.

    Example:
        >>> import io
        >>> from rdfm import Literal
        >>> file = io.BytesIO()
        >>> with create_results(file, ["name"], "results-tsv") as results:
        ...     results.write([Literal("Ann")])
        >>> file.getvalue()
        b'?name\n"Ann"\n'
    """
    if isinstance(variables, str):
        raise OptionError(f"variables must be a list of names, not the string {variables[:40]!r}")
    if boolean is not None and variables:
        raise OptionError("the results of an ASK query have no variables")
    log = create_log(target, format, compression=compression, keep_partial=keep_partial, **options)
    try:
        if not log.supports("results"):
            raise OptionError(f"{log.format} is not a result format; use one such as results-json")
        return ResultWriter(log, variables, boolean, links, keep_partial=keep_partial)
    except BaseException:
        log.discard()
        raise


class ResultWriter:
    """SPARQL results that are being written. Created by `create_results`.

    The file appears under its name when the writer is closed.
    """

    def __init__(
        self,
        log: LogWriter,
        variables: Sequence[str],
        boolean: bool | None,
        links: Sequence[str],
        *,
        keep_partial: bool = False,
    ) -> None:
        """Initialize with the log. Called by `create_results`."""
        self._log = log
        self._keep_partial = keep_partial
        self._closed = False
        self._variables, self._boolean, self._links = list(variables), boolean, list(links)
        self._rows: list[tuple[Term | None, ...]] = []
        self._head = self._batch()
        log.write_batch(self._head)  # the variables, even if no row follows

    def _batch(self) -> ResultBatch:
        rows, self._rows = self._rows, []
        return ResultBatch.from_rows(
            rows,
            self._variables,
            boolean=self._boolean,
            links=self._links,
            first_message_index=self._log.messages,
        )

    def write(self, row: Iterable[Term | None]) -> None:
        """Write one row. Rows are collected and encoded together.

        Args:
            row: A term or None for each variable, in order.

        Raises:
            ValueError: If the number of cells differs from the number of variables, or these are
                the results of an ASK query. The writer remains usable, as after a TypeError.
            TypeError: If a cell is neither a term nor None.
            EncodeError: If this row, or one collected before it, cannot be written in the format.
            PermissionError: If the process that created the results forked this one.
        """
        self._check_open()
        cells = tuple(row)
        if self._boolean is not None:
            raise ValueError("the results of an ASK query have no rows")
        if len(cells) != len(self._variables):
            raise ValueError(
                f"the row has {len(cells)} cells, but there are {len(self._variables)} variables"
            )
        if invalid := set(map(type, cells)) - _CELLS:
            raise TypeError(f"a cell must be a term or None, not {invalid.pop().__name__}")
        self._rows.append(cells)
        if len(self._rows) >= PENDING_ROWS:
            self._flush()

    def write_batch(self, batch: ResultBatch) -> None:
        """Write the rows of a batch, as returned by `ResultReader.batches`.

        Raises:
            ValueError: If the variables or the answer of the batch differ. The writer remains
                usable, as after a TypeError.
            TypeError: If the argument is not a `ResultBatch`.
            EncodeError: If a row cannot be written in the format.
            PermissionError: If the process that created the results forked this one.
        """
        self._check_open()
        if not isinstance(batch, ResultBatch):
            raise TypeError(f"write_batch requires a ResultBatch, not {type(batch).__name__}")
        if list(batch.variables) != self._variables or batch.boolean != self._boolean:
            raise ValueError(
                f"the batch has {_description(batch)}, but the results have {_description(self._head)}"
            )
        self._flush()
        self._log.write_batch(batch)

    @property
    def dropped(self) -> dict[str, int]:
        """Counts of unsupported data dropped so far, by name."""
        return self._log.dropped

    def close(self) -> None:
        """Write the remaining rows and make the file appear under its name."""
        if self._closed:
            return
        try:
            self._flush()
        except BaseException:
            self.discard()
            raise
        self._closed = True
        self._log.close()

    def discard(self) -> None:
        """Discard the output; with `keep_partial`, keep it as `NAME.partial` instead."""
        self._closed = True
        self._log.discard()

    def _check_open(self) -> None:
        if self._closed:
            raise ValueError("the results are closed")
        self._log._check_open()

    def _flush(self) -> None:
        if self._rows:
            self._log.write_batch(self._batch())

    def __enter__(self) -> Self:
        """Return the writer."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the log, or discard it after an exception."""
        if kind is None:
            self.close()
        elif not self._closed:
            if self._keep_partial:
                with contextlib.suppress(RdfmError, OSError):
                    self._flush()
            self.discard()

    def __repr__(self) -> str:
        """Return a string such as `<ResultWriter out.srj: results-json>`."""
        return repr(self._log).replace("LogWriter", "ResultWriter")


def _description(head: ResultBatch) -> str:
    """Describe the variables or the answer of a batch, for errors."""
    if head.boolean is not None:
        return f"the answer {str(head.boolean).lower()}"
    return f"the variables {', '.join(head.variables)}" if head.variables else "no variables"
