"""Checks of SPARQL results that are written: the rows of `create_log(…, kind="results")`.

Law: a result set has one list of variables. Every row has a cell for each variable: a term, or None
if it is unbound.
"""

from __future__ import annotations

from typing import Any

from rdfm._core import BlankNode, Iri, Literal, ResultBatch, TripleTerm

__all__ = ["check_head", "check_row"]

_CELLS = {Iri, BlankNode, Literal, TripleTerm, type(None)}


def check_row(row: Any, head: ResultBatch) -> tuple[Any, ...]:
    """Return the cells of a row.

    Args:
        row: An iterable of cells.
        head: The variables or the answer of the results, without rows.

    Raises:
        ValueError: If the results are an answer, or the number of cells is wrong.
        TypeError: If a cell is neither a term nor None.
    """
    cells = tuple(row)
    if head.boolean is not None:
        raise ValueError("the results of an ASK query have no rows")
    if len(cells) != len(head.variables):
        raise ValueError(
            f"the row has {len(cells)} cells, but there are {len(head.variables)} variables"
        )
    if invalid := set(map(type, cells)) - _CELLS:
        raise TypeError(f"a cell must be a term or None, not {invalid.pop().__name__}")
    return cells


def check_head(batch: ResultBatch, head: ResultBatch) -> None:
    """Check that a batch has the variables or the answer of the results.

    Raises:
        ValueError: If they differ.
    """
    if batch.variables != head.variables or batch.boolean != head.boolean:
        raise ValueError(
            f"the batch has {_description(batch)}, but the results have {_description(head)}"
        )


def _description(head: ResultBatch) -> str:
    """Describe the variables or the answer of a batch, for errors."""
    if head.boolean is not None:
        return f"the answer {str(head.boolean).lower()}"
    return f"the variables {', '.join(head.variables)}" if head.variables else "no variables"
