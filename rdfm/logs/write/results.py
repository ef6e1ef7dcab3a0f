"""Writing SPARQL results: `create_results`.

In: rows of terms. Out: a log. Cost: one batch of rows.
Law: a result set has one list of variables. Every row has a cell for each variable: a term, or None
if it is unbound.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self, Unpack

from rdfm._core import BlankNode, Iri, Literal, ResultBatch, TripleTerm
from rdfm.errors import OptionError, RdfmError
from rdfm.logs.write.output import Writable
from rdfm.logs.write.writer import LogWriter, create_log

if TYPE_CHECKING:
    from rdfm._core import Term
    from rdfm.formats.options_generated import WriteOptions

__all__ = ["ResultWriter", "create_results"]

PENDING_ROWS = 4096
_CELLS = {Iri, BlankNode, Literal, TripleTerm, type(None)}


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
        if not log._supports("results"):
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
            first_index=self._log.messages,
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
