"""Remedies for queries."""

from __future__ import annotations

from rdfm.errors import Remedy

__all__ = ["NULLS", "SPLIT_BY_SUBJECT", "UNION_GRAPHS", "inferred_type_remedy", "limit_remedy"]

UNION_GRAPHS = Remedy("stage", "union_graphs", "true", "queries all graphs together")
SPLIT_BY_SUBJECT = Remedy("stage", "group_by", "subject", "in a conversion splits the message")
NULLS = Remedy("stage", "on_error", "skip", "makes such values null")


def limit_remedy(limit: str) -> Remedy:
    """Return the remedy for an exceeded limit: the option that sets it."""
    return Remedy("stage", limit, None, "")


def inferred_type_remedy(name: str, type: str) -> Remedy:
    """Return the remedy for an inferred type that does not fit: a type for this column."""
    return Remedy("stage", "types", f"auto,{name}={type}", "sets a type for this column")
