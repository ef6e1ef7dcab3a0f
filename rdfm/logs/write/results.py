"""Writing SPARQL results: the rows of `create_log(…, kind="results")`.

In: rows of terms. Out: a log. Cost: one batch of rows.
Law: a result set has one list of variables. Every row has a cell for each variable: a term, or None
if it is unbound.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rdfm._core import BlankNode, Iri, Literal, ResultBatch, TripleTerm
from rdfm.logs.write.writer import LogWriter
from rdfm.message import Row

if TYPE_CHECKING:
    from rdfm.formats import Format
    from rdfm.message import AnyBatch

__all__ = ["ResultWriter"]

_CELLS = {Iri, BlankNode, Literal, TripleTerm, type(None)}


class ResultWriter(LogWriter[Row]):
    """SPARQL results that are being written."""

    def __init__(
        self,
        output: Any,
        format: Format,
        encoder: Any,
        variables: Sequence[str],
        boolean: bool | None,
        links: Sequence[str],
        *,
        keep_partial: bool,
    ) -> None:
        """Initialize with an opened output, and write the variables or the answer.

        Raises:
            EncodeError: If the format does not support them.
        """
        super().__init__(output, format, encoder, "results", keep_partial=keep_partial)
        self._variables, self._boolean, self._links = list(variables), boolean, list(links)
        try:
            self._head = self._batch([])
            self._encode(self._head)  # even if no row follows
        except BaseException:
            self.discard()
            raise

    def _convert(self, message: Any) -> tuple[Any, ...]:
        cells = tuple(message)
        if self._boolean is not None:
            raise ValueError("the results of an ASK query have no rows")
        if len(cells) != len(self._variables):
            raise ValueError(
                f"the row has {len(cells)} cells, but there are {len(self._variables)} variables"
            )
        if invalid := set(map(type, cells)) - _CELLS:
            raise TypeError(f"a cell must be a term or None, not {invalid.pop().__name__}")
        return cells

    def _check_batch(self, batch: AnyBatch) -> None:
        if not isinstance(batch, ResultBatch):
            return
        if list(batch.variables) != self._variables or batch.boolean != self._boolean:
            raise ValueError(
                f"the batch has {_description(batch)}, but the results have {_description(self._head)}"
            )

    def _batch(self, messages: list[Any]) -> ResultBatch:
        return ResultBatch.from_rows(
            messages,
            self._variables,
            boolean=self._boolean,
            links=self._links,
            first_message_index=self.messages,
        )


def _description(head: ResultBatch) -> str:
    """Describe the variables or the answer of a batch, for errors."""
    if head.boolean is not None:
        return f"the answer {str(head.boolean).lower()}"
    return f"the variables {', '.join(head.variables)}" if head.variables else "no variables"
