"""SHACL of single messages, by pyshacl.

In: a shapes graph, and messages. Out: what does not conform.
Cost: a few milliseconds a message. Law: nothing is fetched: owl:imports and JavaScript are not loaded, and a query that
names another graph or a service is refused, here and again when it is evaluated (`local_graph`).
"""

from __future__ import annotations

import contextlib
import logging
import re
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from rdfm.errors import MissingExtraError, OptionError, RdfmError
from rdfm.interop import rdflib_term
from rdfm.logs.input import Readable
from rdfm.logs.reader import open_log

if TYPE_CHECKING:
    import rdflib

    from rdfm.message import Message

__all__ = ["Result", "Shapes"]

SHACL = "http://www.w3.org/ns/shacl#"
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
# Properties whose values are queries; those of the second kind are never evaluated, and may be in another dialect.
_QUERIES = ("select", "ask")
_UNUSED_QUERIES = ("construct", "update")
# A property path that pyshacl writes into a query; an IRI takes its place when the query is checked.
_PATH = re.compile(r"[?$]PATH\b")


class Result(NamedTuple):
    """A node that does not conform.

    Attributes:
        severity: "Violation", "Warning", "Info" or the IRI of another.
        message: What the shape says, or else pyshacl.
        focus: The node.
        path: The property path, if there is one.
        value: The value, if there is one.
        shape: The shape, where it has a name.
    """

    severity: str
    message: str
    focus: str
    path: str | None
    value: str | None
    shape: str | None


class Shapes:
    """A shapes graph."""

    def __init__(self, source: Readable) -> None:
        """Read the shapes, from a log of any format: all its quads together are the graph.

        Raises:
            OptionError: It cannot be read, or holds no shapes, or some that are broken or would reach other graphs.
            MissingExtraError: pyshacl is not installed.
        """
        try:
            import pyshacl
            import rdflib
        except ImportError as error:
            raise MissingExtraError("shapes need pyshacl: pip install 'rdfm[shacl]'") from error
        from rdfm.analysis import local_graph

        self._local = local_graph
        self._validate = pyshacl.validate
        self._rdflib = rdflib
        self._term = rdflib_term(rdflib.BNode)
        try:
            with open_log(source) as log:
                name = log.source
                self._graph = local_graph.LocalGraph()
                for message in log:
                    with _quiet():
                        self._add(message, self._graph)
        except OSError as error:
            raise OptionError(
                f"shapes cannot be read: {error.filename}: {error.strerror}"
            ) from error
        except OptionError:
            raise
        except RdfmError as error:
            raise OptionError(f"shapes cannot be read: {error}") from error
        self._check(name)

    def results(self, message: Message) -> list[Result]:
        """Give what does not conform in a message, whose data graph is the union of all its graphs.

        Raises:
            EncodeError: The message holds what SHACL does not know, such as triple terms.
            ValueError: The shapes cannot be applied to it.
        """
        data = self._local.LocalGraph()
        with _quiet():
            self._add(message, data)
            return self._results(data)

    def _add(self, message: Message, graph: rdflib.Graph) -> None:
        term = self._term
        for quad in message:
            graph.add((term(quad.subject), term(quad.predicate), term(quad.object)))

    def _check(self, name: str) -> None:
        """Refuse shapes that are none, broken, or would fetch something."""
        graph = self._graph
        if not any(str(predicate).startswith(SHACL) for _, predicate, _ in graph):
            raise OptionError(f"{name} holds no SHACL shapes")
        for word in (*_QUERIES, *_UNUSED_QUERIES):
            for query in graph.objects(None, self._rdflib.URIRef(SHACL + word)):
                self._check_query(name, word, str(query))
        for pattern in graph.objects(None, self._rdflib.URIRef(f"{SHACL}pattern")):
            try:
                re.compile(str(pattern))
            except re.error as error:
                raise OptionError(
                    f"the shapes of {name} are broken: the pattern {_shown(pattern)}: {error}"
                ) from error
        try:
            with _quiet():
                self._results(self._local.LocalGraph(), meta_shacl=True)
        except ValueError as error:
            raise OptionError(f"the shapes of {name} are broken: {error}") from error

    def _check_query(self, name: str, word: str, query: str) -> None:
        """Refuse a query that would read something other than a message, or that cannot be parsed."""
        check = self._local.check_update if word == "update" else self._local.check_query
        try:
            check(_PATH.sub("<path:>", query))
        except self._local.ReachesOutError as error:
            raise OptionError(
                f"a query in the shapes of {name} uses {error.keyword}; queries of shapes may read only the message"
            ) from error
        except Exception as error:  # each kind of mistake has its own
            if word in _QUERIES:
                problem = (
                    "it nests too deep" if isinstance(error, RecursionError) else _line(str(error))
                )
                raise OptionError(
                    f"the shapes of {name} are broken: sh:{word} is not a SPARQL query: {problem}"
                ) from error

    def _results(self, data: rdflib.Graph, *, meta_shacl: bool = False) -> list[Result]:
        try:
            _, report, text = self._validate(
                data,
                shacl_graph=self._graph,
                inference="none",
                do_owl_imports=False,
                meta_shacl=meta_shacl,
            )
        except RecursionError as error:
            raise ValueError("they, or the data, nest too deep") from error
        except Exception as error:  # each constraint has kinds of its own
            raise ValueError(_line(str(error) or type(error).__name__)) from error
        if not isinstance(report, self._rdflib.Graph):
            raise ValueError(_line(text))
        return sorted(_read(report, self._rdflib))


def _read(report: rdflib.Graph, rdflib: Any) -> Iterator[Result]:
    """The results of a report."""

    def iri(name: str) -> rdflib.URIRef:
        return rdflib.URIRef(SHACL + name)

    for result in report.objects(None, iri("result")):
        severity = str(report.value(result, iri("resultSeverity"))).removeprefix(SHACL)
        messages = sorted(_line(str(each)) for each in report.objects(result, iri("resultMessage")))
        path = report.value(result, iri("resultPath"))
        value = report.value(result, iri("value"))
        shape = report.value(result, iri("sourceShape"))
        yield Result(
            severity,
            "; ".join(messages) or "does not conform",
            _shown(report.value(result, iri("focusNode"))),
            None if path is None else _path(report, path, rdflib),
            None if value is None else _shown(value),
            str(shape) if isinstance(shape, rdflib.URIRef) else None,
        )


def _path(report: rdflib.Graph, path: Any, rdflib: Any, depth: int = 0) -> str:
    """A property path as SPARQL writes it."""
    if isinstance(path, rdflib.URIRef) or depth > 20:
        return _shown(path)

    def inner(node: Any) -> str:
        return _path(report, node, rdflib, depth + 1)

    for name, form in _PATHS.items():
        node = report.value(path, rdflib.URIRef(SHACL + name))
        if node is not None:
            return form.format(inner(node))
    steps = report.value(path, rdflib.URIRef(SHACL + "alternativePath"))
    joint = "/" if steps is None else "|"
    listed = [inner(each) for each in _items(report, path if steps is None else steps, rdflib)]
    return f"({joint.join(listed)})"


_PATHS = {
    "inversePath": "^{}",
    "zeroOrMorePath": "{}*",
    "oneOrMorePath": "{}+",
    "zeroOrOnePath": "{}?",
}


def _items(report: rdflib.Graph, node: Any, rdflib: Any) -> Iterator[Any]:
    seen = set()
    while node is not None and node not in seen:
        seen.add(node)
        first = report.value(node, rdflib.URIRef(_RDF + "first"))
        if first is None:
            return
        yield first
        node = report.value(node, rdflib.URIRef(_RDF + "rest"))


def _shown(term: Any) -> str:
    return _line(str(term.n3()))


def _line(text: str) -> str:
    """A text as one line, cut where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= 300 else line[:299] + "…"


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep rdflib and pyshacl from telling of ill-typed literals, which are findings."""
    loggers = [
        logging.getLogger(name) for name in ("rdflib", "rdflib.term", "pyshacl", "pyshacl-validate")
    ]
    # pyshacl sets levels itself.
    before = [each.disabled for each in loggers]
    for each in loggers:
        each.disabled = True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for each, disabled in zip(loggers, before, strict=True):
            each.disabled = disabled
