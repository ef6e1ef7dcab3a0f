"""An rdflib graph whose queries can read only that graph.

In: a graph, and SPARQL text. Out: rdflib's results, or `ExternalAccessError`.
Law: the check uses the output of rdflib's parser, so escapes, comments and the spelling of keywords
cannot circumvent it. rdflib itself is not modified, so other graphs in the process are unaffected,
in all threads.
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

__all__ = ["ExternalAccessError", "LocalGraph", "check_query", "check_update"]

# Parts of a parsed query or update that name another graph or service, with their keywords.
_EXTERNAL = {
    "ServiceGraphPattern": "SERVICE",
    "DatasetClause": "FROM",
    "UsingClause": "USING",
    "Load": "LOAD",
}
# Size of the query cache. Shapes repeat their queries for each message and focus node.
_PREPARED_QUERIES = 512
# rdflib's parser is not thread-safe.
_PARSING = threading.Lock()


class ExternalAccessError(ValueError):
    """A query would access something other than its graph.

    Attributes:
        keyword: The keyword of the access: "SERVICE", "FROM", "USING", "LOAD" or "UPDATE".
    """

    def __init__(self, keyword: str) -> None:
        super().__init__(f"the query uses {keyword}, but queries may read only the message")
        self.keyword = keyword


def check_query(text: str) -> None:
    """Check that a query reads only its graph. It may use undeclared prefixes.

    Raises:
        ExternalAccessError: If the query names another graph or a service.
        Exception: If the query cannot be parsed. rdflib can raise any exception.
    """
    with _PARSING:
        _check(parseQuery(text))


def check_update(text: str) -> None:
    """Check that an update accesses only its graph. It may use undeclared prefixes.

    Raises:
        ExternalAccessError: If the update names another graph or a service, or loads data.
        Exception: If the update cannot be parsed. rdflib can raise any exception.
    """
    with _PARSING:
        _check(parseUpdate(text))


class LocalGraph(Graph):
    """A graph in memory that rejects updates, and queries that access anything else."""

    def __init__(self) -> None:
        """Create an empty graph without namespaces."""
        super().__init__(bind_namespaces="none")

    def query(self, query_object: Any, *args: Any, **options: Any) -> Result:
        """Evaluate a query like `rdflib.Graph.query`.

        Raises:
            ExternalAccessError: If the query names another graph or a service.
        """
        if isinstance(query_object, str):
            query_object = _prepare(query_object, tuple(self.namespaces()))
        elif not isinstance(query_object, Query):
            raise TypeError(f"expected a query as text, not {type(query_object).__name__}")
        _check(query_object.algebra)
        return super().query(query_object, *args, **options)

    def update(self, *_: Any, **__: Any) -> None:
        """Reject updates.

        Raises:
            ExternalAccessError: Always.
        """
        raise ExternalAccessError("UPDATE")

    def parse(self, *_: Any, **__: Any) -> Graph:
        """Reject attempts to load data.

        Raises:
            ExternalAccessError: Always.
        """
        raise ExternalAccessError("LOAD")


@lru_cache(_PREPARED_QUERIES)
def _prepare(text: str, namespaces: tuple[tuple[str, Any], ...]) -> Query:
    """Return the algebra of a query."""
    with _PARSING:
        parsed = parseQuery(text)
        # Checked before the translation, because the translation drops unsupported parts.
        _check(parsed)
        return translateQuery(parsed, None, dict(namespaces))


def _check(parsed: Any) -> None:
    for name in _iter_parts(parsed):
        if name in _EXTERNAL:
            raise ExternalAccessError(_EXTERNAL[name])


def _iter_parts(parsed: Any) -> Iterator[str]:
    """Yield the names of all parts of a parse tree or an algebra."""
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
