"""A graph of rdflib whose queries read nothing but the graph.

In: a graph, and SPARQL text. Out: rdflib's results, or `ReachesOutError`.
Law: the decision is made on what rdflib's parser returns, after its escapes, so that no spelling of a keyword or of a
comment changes it. Nothing of rdflib itself is replaced: other graphs of the process, in any thread, are unaffected.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from rdflib import Graph
from rdflib.plugins.sparql.algebra import translateQuery
from rdflib.plugins.sparql.parser import parseQuery, parseUpdate
from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.plugins.sparql.sparql import Query
from rdflib.query import Result

__all__ = ["LocalGraph", "ReachesOutError", "check_query", "check_update"]

# The parts of a parsed query or update that name another graph or service, with their keywords.
_OUTSIDE = {
    "ServiceGraphPattern": "SERVICE",
    "DatasetClause": "FROM",
    "UsingClause": "USING",
    "Load": "LOAD",
}
# Shapes repeat their queries for each message and focus node.
_PREPARED_QUERIES = 512
# rdflib's parser is not thread-safe.
_PARSING = threading.Lock()


class ReachesOutError(ValueError):
    """A query would read something other than its graph.

    Attributes:
        keyword: The keyword that does: "SERVICE", "FROM", "USING", "LOAD" or "UPDATE".
    """

    def __init__(self, keyword: str) -> None:
        """Take the keyword."""
        super().__init__(f"the query uses {keyword}, and may read only the message")
        self.keyword = keyword


def check_query(text: str) -> None:
    """Check that a query, whose prefixes may be declared elsewhere, reads only its graph.

    Raises:
        ReachesOutError: It names another graph or a service.
        Exception: It cannot be parsed, as rdflib reports that.
    """
    with _PARSING:
        _check(parseQuery(text))


def check_update(text: str) -> None:
    """Check an update as `check_query` does a query.

    Raises:
        ReachesOutError: It loads or names another graph, or a service.
        Exception: It cannot be parsed, as rdflib reports that.
    """
    with _PARSING:
        _check(parseUpdate(text))


class LocalGraph(Graph):
    """A graph in memory; its queries cannot reach anything else, and it loads nothing."""

    def __init__(self) -> None:
        """Make an empty graph without namespaces."""
        super().__init__(bind_namespaces="none")

    def query(self, query_object: Any, *args: Any, **options: Any) -> Result:
        """Evaluate a query as `rdflib.Graph.query` does.

        Raises:
            ReachesOutError: The query names another graph or a service.
        """
        if isinstance(query_object, str):
            query_object = _prepared(query_object, tuple(self.namespaces()))
        elif not isinstance(query_object, Query):
            raise TypeError(f"a query is text, not {type(query_object).__name__}")
        _check(query_object.algebra)
        return super().query(query_object, *args, **options)

    def update(self, *_: Any, **__: Any) -> None:
        """Refuse updates.

        Raises:
            ReachesOutError: Always.
        """
        raise ReachesOutError("UPDATE")

    def parse(self, *_: Any, **__: Any) -> Graph:
        """Refuse to load anything.

        Raises:
            ReachesOutError: Always.
        """
        raise ReachesOutError("LOAD")


@lru_cache(_PREPARED_QUERIES)
def _prepared(text: str, namespaces: tuple[tuple[str, Any], ...]) -> Query:
    """The algebra of a query."""
    with _PARSING:
        parsed = parseQuery(text)
        # Before translation, which drops the parts that it does not know.
        _check(parsed)
        return translateQuery(parsed, None, dict(namespaces))


def _check(parsed: Any) -> None:
    for name in _parts(parsed):
        if name in _OUTSIDE:
            raise ReachesOutError(_OUTSIDE[name])


def _parts(parsed: Any) -> Iterator[str]:
    """The names of all parts of a parse tree or an algebra."""
    pending = [parsed]
    while pending:
        node = pending.pop()
        if isinstance(node, CompValue):
            yield node.name
            # The class's own `values()` evaluates expressions.
            pending.extend(dict.values(node))
        elif isinstance(node, dict):
            pending.extend(node.values())
        elif not isinstance(node, str) and hasattr(node, "__iter__"):
            pending.extend(node)
