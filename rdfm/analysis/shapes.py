"""SHACL validation of single messages with pyshacl.

In: a shapes graph, and messages. Out: the validation results of each message.
Cost: a few milliseconds per message.
Law: nothing is fetched. owl:imports and JavaScript are not loaded. Queries that name another graph
or a service are rejected, here and again when they are evaluated (`local_graph`).
"""

from __future__ import annotations

import contextlib
import logging
import re
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from rdfm.errors import MissingExtraError, OptionError, RdfmError, spell_option
from rdfm.interop import rdflib_term
from rdfm.logs.input.inputs import Readable
from rdfm.logs.read.reader import open_log

if TYPE_CHECKING:
    import rdflib

    from rdfm.message import Message

__all__ = ["Result", "Shapes"]

SHACL = "http://www.w3.org/ns/shacl#"
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
# Properties whose values are queries. pyshacl never evaluates the unused ones, so their syntax
# errors are ignored.
_QUERIES = ("select", "ask")
_UNUSED_QUERIES = ("construct", "update")
# Placeholder that pyshacl replaces with a property path. The check replaces it with an IRI.
_PATH = re.compile(r"[?$]PATH\b")


class Result(NamedTuple):
    """A validation result: a node that does not conform.

    Attributes:
        severity: "Violation", "Warning", "Info" or the IRI of another severity.
        message: The message of the shape, or the message of pyshacl if the shape has none.
        focus: The focus node.
        path: The property path, if there is one.
        value: The value, if there is one.
        shape: The IRI of the shape, or of the shape that contains it, if one of them has an IRI.
        constraint: The IRI of the constraint component.
    """

    severity: str
    message: str
    focus: str
    path: str | None
    value: str | None
    shape: str | None
    constraint: str

    def text(self) -> str:
        """Return the message with the focus node, path, value, constraint and shape."""
        parts = [f"focus node {self.focus}"]
        parts += [f"path {self.path}"] if self.path else []
        parts += [f"value {self.value}"] if self.value else []
        name = self.constraint
        parts.append(
            f"constraint sh:{name.removeprefix(SHACL)}"
            if name.startswith(SHACL)
            else f"constraint <{name}>"
        )
        parts += [f"shape <{self.shape}>"] if self.shape else []
        return f"{self.message}; {', '.join(parts)}"


class Shapes:
    """A shapes graph."""

    def __init__(self, source: Readable) -> None:
        """Read the shapes from a log in any format. All of its quads form the shapes graph.

        Raises:
            OptionError: If the log cannot be read or contains no shapes, or a shape is invalid,
                requires inference, or would access other graphs.
            MissingExtraError: If pyshacl is not installed.
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
                    with _suppress_warnings():
                        self._add(message, self._graph)
        except OSError as error:
            raise OptionError(
                f"cannot read {spell_option('shapes')}: {error.filename}: {error.strerror}"
            ) from error
        except OptionError:
            raise
        except RdfmError as error:
            raise OptionError(f"cannot read {spell_option('shapes')}: {error}") from error
        self._check(name)

    def results(self, message: Message) -> list[Result]:
        """Return the validation results of a message. Its data graph is the union of its graphs.

        Raises:
            EncodeError: If the message contains data that SHACL does not support, such as triple
                terms.
            ValueError: If the shapes cannot be applied to the message.
        """
        data = self._local.LocalGraph()
        with _suppress_warnings():
            self._add(message, data)
            return self._validate_graph(data)

    def _add(self, message: Message, graph: rdflib.Graph) -> None:
        term = self._term
        for quad in message:
            graph.add((term(quad.subject), term(quad.predicate), term(quad.object)))

    def _check(self, name: str) -> None:
        """Reject a graph without shapes, or with shapes that are invalid, fetch data or infer."""
        graph = self._graph
        if not any(str(predicate).startswith(SHACL) for _, predicate, _ in graph):
            raise OptionError(f"{name} contains no SHACL shapes")
        # SHACL, section 1.5: an unsupported entailment regime is a failure.
        for regime in sorted(
            graph.objects(None, self._rdflib.URIRef(f"{SHACL}entailment")), key=str
        ):
            raise OptionError(
                f"the shapes in {name} require the entailment regime {_turtle_term(regime)}, but messages "
                "are checked without inference; remove sh:entailment, and add the inferred quads to "
                "the messages"
            )
        for word in (*_QUERIES, *_UNUSED_QUERIES):
            for query in graph.objects(None, self._rdflib.URIRef(SHACL + word)):
                self._check_query(name, word, str(query))
        for pattern in graph.objects(None, self._rdflib.URIRef(f"{SHACL}pattern")):
            try:
                re.compile(str(pattern))
            except re.error as error:
                raise OptionError(
                    f"the shapes in {name} are invalid: the pattern {_turtle_term(pattern)}: {error}"
                ) from error
        try:
            with _suppress_warnings():
                self._validate_graph(self._local.LocalGraph(), meta_shacl=True)
        except ValueError as error:
            raise OptionError(f"the shapes in {name} are invalid: {error}") from error

    def _check_query(self, name: str, word: str, query: str) -> None:
        """Reject a query that would read data outside the message, or that cannot be parsed."""
        check = self._local.check_update if word == "update" else self._local.check_query
        try:
            check(_PATH.sub("<path:>", query))
        except self._local.ExternalAccessError as error:
            raise OptionError(
                f"a query in {name} uses {error.keyword}, but queries in shapes may read only the message"
            ) from error
        except Exception as error:  # rdflib raises exceptions of many types
            if word in _QUERIES:
                problem = (
                    "the query is nested too deeply"
                    if isinstance(error, RecursionError)
                    else _single_line(str(error))
                )
                raise OptionError(
                    f"the shapes in {name} are invalid: sh:{word} is not a SPARQL query: {problem}"
                ) from error

    def _validate_graph(self, data: rdflib.Graph, *, meta_shacl: bool = False) -> list[Result]:
        try:
            _, report, text = self._validate(
                data,
                shacl_graph=self._graph,
                inference="none",
                do_owl_imports=False,
                meta_shacl=meta_shacl,
            )
        except RecursionError as error:
            raise ValueError("the shapes or the data are nested too deeply") from error
        except Exception as error:  # pyshacl raises exceptions of many types
            raise ValueError(_single_line(str(error) or type(error).__name__)) from error
        if not isinstance(report, self._rdflib.Graph):
            raise ValueError(_single_line(text))
        results = self._iter_results(report)
        return sorted(results, key=lambda result: tuple(part or "" for part in result))

    def _iter_results(self, report: rdflib.Graph) -> Iterator[Result]:
        """Yield the results in a validation report."""
        rdflib = self._rdflib

        def iri(name: str) -> Any:
            return rdflib.URIRef(SHACL + name)

        for result in report.objects(None, iri("result")):
            severity = str(report.value(result, iri("resultSeverity"))).removeprefix(SHACL)
            messages = sorted(
                _single_line(str(text)) for text in report.objects(result, iri("resultMessage"))
            )
            path = report.value(result, iri("resultPath"))
            value = report.value(result, iri("value"))
            yield Result(
                severity,
                "; ".join(messages) or "does not conform",
                _turtle_term(report.value(result, iri("focusNode"))),
                None if path is None else _path_text(report, path, rdflib),
                None if value is None else _turtle_term(value),
                self._shape_name(report.value(result, iri("sourceShape"))),
                str(report.value(result, iri("sourceConstraintComponent"))),
            )

    def _iris_last(self, node: Any) -> tuple[bool, str]:
        return isinstance(node, self._rdflib.URIRef), str(node)

    def _shape_name(self, shape: Any) -> str | None:
        """Return the IRI of a shape, or of the nearest shape around it."""
        seen = set()
        while isinstance(shape, self._rdflib.BNode) and shape not in seen:
            seen.add(shape)
            around = self._graph.subjects(None, shape)
            shape = max(around, default=None, key=self._iris_last)
        return str(shape) if isinstance(shape, self._rdflib.URIRef) else None


def _path_text(report: rdflib.Graph, path: Any, rdflib: Any, depth: int = 0) -> str:
    """Return a property path in SPARQL syntax."""
    if isinstance(path, rdflib.URIRef) or depth > 20:
        return _turtle_term(path)

    def inner(node: Any) -> str:
        return _path_text(report, node, rdflib, depth + 1)

    for name, form in _PATHS.items():
        node = report.value(path, rdflib.URIRef(SHACL + name))
        if node is not None:
            return form.format(inner(node))
    steps = report.value(path, rdflib.URIRef(SHACL + "alternativePath"))
    separator = "/" if steps is None else "|"
    parts = [inner(item) for item in _items(report, path if steps is None else steps, rdflib)]
    return f"({separator.join(parts)})"


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


def _turtle_term(term: Any) -> str:
    return _single_line(str(term.n3()))


def _single_line(text: str) -> str:
    """Return a string as a single line of at most 300 characters."""
    line = " ".join(text.split())
    return line if len(line) <= 300 else line[:299] + "…"


@contextlib.contextmanager
def _suppress_warnings() -> Iterator[None]:
    """Suppress warnings from rdflib and pyshacl about ill-typed literals; rdfm reports them."""
    loggers = [
        logging.getLogger(name) for name in ("rdflib", "rdflib.term", "pyshacl", "pyshacl-validate")
    ]
    # The loggers are disabled because pyshacl sets their levels itself.
    were_disabled = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, disabled in zip(loggers, were_disabled, strict=True):
            logger.disabled = disabled
