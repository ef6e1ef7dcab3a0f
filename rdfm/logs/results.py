"""SPARQL results that are read and written: `open_results` and `create_results`.

In: a log of results, or rows. Out: rows as tuples of terms, or a log. Cost: one batch of rows.
Law: a result set has one list of variables, and every row a cell for each: a term, or None where it is unbound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self, Unpack, cast

from rdfm._core import ResultBatch
from rdfm.errors import OptionError
from rdfm.logs.output import Writable
from rdfm.logs.reader import LogReader, open_log
from rdfm.logs.writer import LogWriter, create_log

if TYPE_CHECKING:
    from rdfm._core import Term
    from rdfm.formats.options_generated import ReadOptions, WriteOptions
    from rdfm.logs.input import Readable

__all__ = ["ResultReader", "ResultWriter", "create_results", "open_results"]

PENDING_ROWS = 4096


def open_results(
    source: Readable, format: str | None = None, **options: Unpack[ReadOptions]
) -> ResultReader:
    r"""Open SPARQL results for reading.

    Args:
        source: What `open_log` takes.
        format: Such as "results-json"; found from the suffix unless given.
        **options: Those of the format's decoder.

    Raises:
        UnknownFormatError: The format cannot be told.
        OptionError: The format is none of results, or takes no such option.
        OSError: The file cannot be read.

    Example:
        >>> with open_results(b"?name\n\"Ann\"\n", "results-tsv") as results:
        ...     results.variables, [str(name) for (name,) in results]
        (('name',), ['"Ann"'])
    """
    log = open_log(source, format, **options)
    kinds = () if log.found is None else log.found.spec.kinds
    if "results" not in kinds:
        log.close()
        raise OptionError(
            f"{log.source} holds {' and '.join(kinds)}, no results; rdfm.open_log reads it"
        )
    return ResultReader(log)


class ResultReader:
    """SPARQL results being read: iterate over the rows, tuples of terms and None. Made by `open_results`."""

    def __init__(self, log: LogReader) -> None:
        """Take the log; `open_results` does this."""
        self._log = log
        self._batches = cast("Iterator[ResultBatch]", log.batches())
        self._first: ResultBatch | None = None

    def _head(self) -> ResultBatch:
        if self._first is None:
            first = next(self._batches, None)  # of no rows, it is false
            self._first = ResultBatch.from_rows([], []) if first is None else first
            self._batches = _behind(self._first, self._batches)
        return self._first

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables, without `?`. Reads as far as the first rows."""
        return self._head().variables

    @property
    def boolean(self) -> bool | None:
        """The answer of an ASK query; None for rows."""
        return self._head().boolean

    @property
    def links(self) -> tuple[str, ...]:
        """Documents that say more: IRI references."""
        return self._head().links

    def batches(self) -> Iterator[ResultBatch]:
        """Give the rows in batches; the first may have none, and all have the variables.

        Raises:
            DecodeError: The log is broken; every row before the error was given.
            OSError: The file cannot be read.
        """
        self._head()
        return self._batches

    def __iter__(self) -> Iterator[tuple[Term | None, ...]]:
        """Give the rows; errors as in `batches`."""
        for batch in self.batches():
            yield from batch

    def close(self) -> None:
        """Close what is open."""
        self._log.close()

    def __enter__(self) -> Self:
        """Give the reader itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close what is open."""
        self.close()

    def __repr__(self) -> str:
        """As in `<ResultReader r.srj: results-json>`."""
        return f"<ResultReader {self._log.source}: {self._log.format}>"


def _behind(first: ResultBatch, rest: Iterator[ResultBatch]) -> Iterator[ResultBatch]:
    yield first
    yield from rest


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
        format: Such as "results-json"; found from the suffix unless given.
        boolean: The answer of an ASK query, which has neither variables nor rows.
        links: Documents that say more: IRI references.
        compression: As `create_log` takes it.
        keep_partial: After an exception keep what was written, as `NAME.partial`.
        **options: Those of the format's encoder.

    Raises:
        UnknownFormatError: The format cannot be told.
        OptionError: The format is none of results, or takes no such option.
        OSError: The file cannot be written.

    Example:
        >>> import io
        >>> from rdfm import Literal
        >>> file = io.BytesIO()
        >>> with create_results(file, ["name"], "results-tsv") as results:
        ...     results.write([Literal("Ann")])
        >>> file.getvalue()
        b'?name\n"Ann"\n'
    """
    log = create_log(target, format, compression=compression, keep_partial=keep_partial, **options)
    try:
        if not log.holds("results"):
            raise OptionError(f"{log.format} is no format of results, such as results-json")
        return ResultWriter(log, variables, boolean, links)
    except BaseException:
        log.discard()
        raise


class ResultWriter:
    """SPARQL results being written. Made by `create_results`; closing it makes the file appear under its name."""

    def __init__(
        self, log: LogWriter, variables: Sequence[str], boolean: bool | None, links: Sequence[str]
    ) -> None:
        """Take the log; `create_results` does this."""
        self._log = log
        self._variables, self._boolean, self._links = list(variables), boolean, list(links)
        self._rows: list[tuple[Term | None, ...]] = []
        log.write_batch(self._batch())  # the variables, though no row may follow

    def _batch(self) -> ResultBatch:
        rows, self._rows = self._rows, []
        return ResultBatch.from_rows(
            rows,
            self._variables,
            boolean=self._boolean,
            links=self._links,
            first_index=self._log.messages,
        )

    def write(self, row: Iterable[Term | None]) -> None:
        """Write one row; a few are gathered before they are encoded.

        Args:
            row: A term or None for each variable, in order.

        Raises:
            ValueError: It has more or fewer, or these are the results of an ASK query.
            EncodeError: A row cannot be written in the format: this one, or one gathered before.
        """
        cells = tuple(row)
        if self._boolean is not None:
            raise ValueError("the results of an ASK query have no rows")
        if len(cells) != len(self._variables):
            raise ValueError(f"{len(cells)} cells, and there are {len(self._variables)} variables")
        self._rows.append(cells)
        if len(self._rows) >= PENDING_ROWS:
            self._log.write_batch(self._batch())

    def close(self) -> None:
        """Write what is left and make the file appear under its name."""
        if self._rows:
            self._log.write_batch(self._batch())
        self._log.close()

    def discard(self) -> None:
        """End without a file."""
        self._log.discard()

    def __enter__(self) -> Self:
        """Give the writer itself."""
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
        else:
            self._log.__exit__(kind, error, traceback)

    def __repr__(self) -> str:
        """As in `<ResultWriter out.srj: results-json>`."""
        return repr(self._log).replace("LogWriter", "ResultWriter")
