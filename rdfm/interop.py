"""Converts messages and SPARQL results to and from rdflib and pyoxigraph.

Also renders messages as HTML, and compares them.

In: a `Message` or another library's dataset, or rows or another library's results.
Out: the converted object.
Cost: one Python object per term. Results need memory for one batch of rows, but rdflib keeps all
rows.
Law: data that the other library does not support is an error. It is never dropped silently.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from rdfm._core import BlankNode, Encoder, Iri, Literal, Quad, ResultBatch, TripleTerm, parse_term
from rdfm.compare import canonical as canonicalization
from rdfm.compare import isomorphism
from rdfm.errors import EncodeError, LimitError, MissingExtraError, UnsupportedError
from rdfm.message import Message

if TYPE_CHECKING:
    from types import ModuleType

    import pyoxigraph
    import rdflib
    import rdflib.query

    from rdfm._core import Term

__all__ = [
    "Results",
    "canonical",
    "canonical_hash",
    "from_oxigraph",
    "from_rdflib",
    "isomorphic",
    "results_from_oxigraph",
    "results_from_rdflib",
    "results_to_oxigraph",
    "results_to_rdflib",
    "to_html",
    "to_oxigraph",
    "to_rdflib",
]

XSD_STRING = "http://www.w3.org/2001/XMLSchema#string"
# rdflib's name for the default graph of a dataset.
RDFLIB_DEFAULT_GRAPH = "urn:x-rdflib:default"
HTML_ROWS = 100
# SPARQL query forms that return a graph.
_GRAPH_QUERIES = ("CONSTRUCT", "DESCRIBE")
# Rows per piece of the document that is generated for pyoxigraph.
ROWS_PER_PIECE = 1000


class Results(NamedTuple):
    """SPARQL results that are exchanged with other libraries.

    Attributes:
        variables: Names of the variables, without `?`.
        boolean: The answer to an ASK query; None for rows.
        rows: The rows. Each has a term or None for each variable.
    """

    variables: Sequence[str]
    boolean: bool | None
    rows: Iterable[Sequence[Term | None]]


def to_rdflib(message: Message) -> rdflib.Dataset:
    """Return a message as an rdflib dataset with its namespaces bound.

    Raises:
        EncodeError: If the message contains a triple term, a base direction, or a language tag or
            graph name that rdflib does not support.
        MissingExtraError: If rdflib is not installed.
    """
    dataset: rdflib.Dataset = _rdflib().Dataset()
    for name, iri in message.namespaces.items():
        dataset.bind(name, iri, override=True, replace=True)
    default = _default_graph(dataset)
    convert = rdflib_term(_rdflib().BNode)
    for quad in message:
        triple = (convert(quad.subject), convert(quad.predicate), convert(quad.object))
        if quad.graph is None:
            default.add(triple)
        else:
            dataset.add((*triple, rdflib_graph_name(quad.graph, convert)))
    return dataset


def from_rdflib(graph: rdflib.Graph) -> Message:
    """Return a message with the quads and bound namespaces of an rdflib graph or dataset.

    Raises:
        UnsupportedError: If the graph contains variables or formulas, or is a query result.
        MissingExtraError: If rdflib is not installed.
    """
    rdflib = _rdflib()
    if isinstance(graph, rdflib.query.Result):
        raise UnsupportedError(
            "a query result is not a graph; use "
            + (
                "its `graph` attribute"
                if graph.type in _GRAPH_QUERIES
                else "rdfm.ResultReader.from_rdflib"
            )
        )
    if isinstance(graph, rdflib.ConjunctiveGraph):  # a Dataset is one
        quad_terms = ((*spo, _rdflib_context(context, graph)) for *spo, context in graph.quads())
    else:
        quad_terms = ((*triple, None) for triple in graph)
    quads = [
        Quad(
            _from_rdflib(s),
            _from_rdflib(p),
            _from_rdflib(o),
            None if g is None else _from_rdflib(g),
        )
        for s, p, o, g in quad_terms
    ]
    predefined = set(rdflib.Graph().namespaces())
    bound = {
        str(name): str(iri) for name, iri in graph.namespaces() if (name, iri) not in predefined
    }
    return Message(quads, namespaces=bound)


def to_oxigraph(message: Message) -> pyoxigraph.Dataset:
    """Return a message as a pyoxigraph dataset.

    Blank node labels that pyoxigraph rejects are rewritten. pyoxigraph converts language tags to
    lower case.

    Raises:
        EncodeError: If the message contains a generalized quad, or an IRI or language tag that
            pyoxigraph rejects.
        MissingExtraError: If pyoxigraph is not installed.
    """
    oxigraph = _oxigraph()
    quads = []
    for quad in message:
        try:
            graph = (
                oxigraph.DefaultGraph()
                if quad.graph is None
                else _to_oxigraph(quad.graph, oxigraph)
            )
            triple = (
                _to_oxigraph(term, oxigraph) for term in (quad.subject, quad.predicate, quad.object)
            )
            quads.append(oxigraph.Quad(*triple, graph))
        except (ValueError, TypeError) as error:
            if isinstance(error, EncodeError):
                raise
            reason = (
                str(error)
                if isinstance(error, ValueError)
                else "generalized quads are not supported"
            )
            raise EncodeError(
                f"cannot represent {_cut(str(quad))}: {reason}",
                format="pyoxigraph",
                message_index=message.message_index,
            ) from error
    dataset: pyoxigraph.Dataset = oxigraph.Dataset(quads)
    return dataset


def from_oxigraph(dataset: Iterable[pyoxigraph.Quad | pyoxigraph.Triple]) -> Message:
    """Return a message with pyoxigraph quads or triples.

    The argument can be a dataset, or the result of `pyoxigraph.parse` or a CONSTRUCT query.

    Raises:
        LimitError: If triple terms are nested deeper than 100 levels.
        UnsupportedError: If the argument is the result of a SELECT or ASK query.
        MissingExtraError: If pyoxigraph is not installed.
    """
    oxigraph = _oxigraph()
    if isinstance(dataset, (oxigraph.QuerySolutions, oxigraph.QueryBoolean)):
        raise UnsupportedError(
            "the results of a query are not a dataset; use rdfm.ResultReader.from_oxigraph"
        )
    quads = []
    for quad in dataset:
        name = getattr(quad, "graph_name", None)  # a triple has none
        default = name is None or isinstance(name, oxigraph.DefaultGraph)
        graph = None if default else _from_oxigraph(name, oxigraph)
        triple = (quad.subject, quad.predicate, quad.object)
        s, p, o = (_from_oxigraph(term, oxigraph) for term in triple)
        quads.append(Quad(s, p, o, graph))
    return Message(quads)


def results_to_rdflib(results: Results) -> rdflib.query.Result:
    """Return SPARQL results as an rdflib result object, which reads rows on demand and keeps them.

    Raises:
        EncodeError: If the results contain a triple term, a base direction, or a language tag or
            variable that rdflib does not support. Errors in a row are raised when the row is
            requested.
        MissingExtraError: If rdflib is not installed.
    """
    library: Any = _rdflib()
    result: rdflib.query.Result = library.query.Result(
        "SELECT" if results.boolean is None else "ASK"
    )
    if results.boolean is not None:
        result.askAnswer = results.boolean
        return result
    result.vars = variables = [_rdflib_variable(name) for name in results.variables]
    convert = rdflib_term(library.BNode)

    def bindings() -> Iterator[dict[Any, Any]]:
        for index, row in enumerate(results.rows):
            pairs = zip(variables, row, strict=True)
            try:
                yield _Binding(
                    (variable, convert(term)) for variable, term in pairs if term is not None
                )
            except EncodeError as error:
                error.message_index = index
                raise

    result.bindings = bindings()
    return result


def results_from_rdflib(result: rdflib.query.Result) -> Results:
    """Return SPARQL results from rdflib, which evaluates all rows when the first one is requested.

    Raises:
        UnsupportedError: If the result is a graph, or a row contains something other than terms.
        TypeError: If the argument is not an rdflib result.
        MissingExtraError: If rdflib is not installed.
    """
    rdflib = _rdflib()
    if not isinstance(result, rdflib.query.Result):
        raise TypeError(f"expected an rdflib.query.Result, not {type(result).__name__}")
    if result.type in _GRAPH_QUERIES:
        raise UnsupportedError(
            f"a {result.type} query returns a graph; pass the `graph` attribute of the result to "
            "rdfm.Message.from_rdflib"
        )
    if result.type == "ASK":
        return Results((), bool(result.askAnswer), ())
    variables = list(result.vars or ())

    def rows() -> Iterator[list[Term | None]]:
        for binding in result.bindings:
            terms = (binding.get(variable) for variable in variables)
            yield [None if term is None else _from_rdflib(term) for term in terms]

    return Results([str(variable) for variable in variables], None, rows())


def results_to_oxigraph(results: Results) -> pyoxigraph.QuerySolutions | pyoxigraph.QueryBoolean:
    """Return SPARQL results as a pyoxigraph result object, which reads rows slightly ahead.

    pyoxigraph creates result objects only from documents, so the rows are encoded as a document.
    Blank node labels that pyoxigraph rejects are rewritten. pyoxigraph converts language tags to
    lower case.

    Raises:
        EncodeError: If pyoxigraph rejects a variable or, when a row is requested, an IRI, a
            language tag or a generalized triple term in that row.
        MissingExtraError: If pyoxigraph is not installed.
    """
    oxigraph = _oxigraph()
    for name in results.variables:
        try:
            oxigraph.Variable(name)
        except ValueError as error:
            raise EncodeError(
                f"does not support the variable '{_cut(name)}': {error}", format="pyoxigraph"
            ) from error
    document = _GeneratedFile(_json_pieces(results, oxigraph))
    result: pyoxigraph.QuerySolutions | pyoxigraph.QueryBoolean = oxigraph.parse_query_results(
        document, format=oxigraph.QueryResultsFormat.JSON
    )
    return result


def results_from_oxigraph(
    results: pyoxigraph.QuerySolutions | pyoxigraph.QueryBoolean,
) -> Results:
    """Return SPARQL results from pyoxigraph, whose rows are evaluated on demand.

    Raises:
        UnsupportedError: If the results are triples.
        LimitError: If a requested row has triple terms that are nested deeper than 100 levels.
        TypeError: If the argument is not a pyoxigraph result.
        MissingExtraError: If pyoxigraph is not installed.
    """
    oxigraph = _oxigraph()
    if isinstance(results, oxigraph.QueryTriples):
        raise UnsupportedError(
            "a CONSTRUCT or DESCRIBE query returns triples; use rdfm.Message.from_oxigraph"
        )
    if isinstance(results, oxigraph.QueryBoolean):
        return Results((), bool(results), ())
    if not isinstance(results, oxigraph.QuerySolutions):
        raise TypeError(f"expected QuerySolutions or a QueryBoolean, not {type(results).__name__}")

    def rows() -> Iterator[list[Term | None]]:
        for solution in results:
            yield [None if term is None else _from_oxigraph(term, oxigraph) for term in solution]

    return Results([variable.value for variable in results.variables], None, rows())


def isomorphic(a: Message, b: Message, *, max_steps: int | None = None) -> bool:
    """Return whether two messages are the same dataset up to blank node labels.

    The order and repetitions of quads are ignored, and so are metadata and namespaces. Language
    tags are compared case-sensitively.

    Raises:
        LimitError: If the comparison needs more than `max_steps` steps.
    """
    bound = isomorphism.MAX_STEPS if max_steps is None else max_steps
    return isomorphism.isomorphic(a, b, max_steps=bound)


def canonical(message: Message, *, max_steps: int | None = None) -> str:
    """Return a message as canonical N-Quads (RDFC-1.0, SHA-256), in sorted lines.

    The results for two messages are equal if and only if the messages are isomorphic. Language tags
    keep their case.

    Raises:
        EncodeError: If the message has generalized quads, or blank nodes in triple terms, which
            RDFC-1.0 does not support.
        LimitError: If labelling the blank nodes needs more than `max_steps` steps.
    """
    bound = canonicalization.MAX_STEPS if max_steps is None else max_steps
    return canonicalization.canonical(message, max_steps=bound, message_index=message.message_index)


def canonical_hash(message: Message, *, max_steps: int | None = None) -> str:
    """Return the SHA-256 hash of the text that `canonical` returns, as 64 hexadecimal digits.

    Raises:
        EncodeError, LimitError: As in `canonical`.
    """
    bound = canonicalization.MAX_STEPS if max_steps is None else max_steps
    return canonicalization.canonical_hash(
        message, max_steps=bound, message_index=message.message_index
    )


def to_html(message: Message, rows: int = HTML_ROWS) -> str:
    """Return an HTML table of the first quads.

    Terms are escaped, and only http(s) IRIs are links.
    """
    quads = message.quads
    graphs = any(quad.graph is not None for quad in quads[:rows])
    columns = ["subject", "predicate", "object", *(["graph"] if graphs else [])]
    head = "".join(f"<th>{column}</th>" for column in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{_cell(term)}</td>" for term in list(quad)[: len(columns)]) + "</tr>"
        for quad in quads[:rows]
    )
    hidden = len(quads) - rows
    hidden_text = (
        f"<p>… and {hidden:,} more {'quad' if hidden == 1 else 'quads'}</p>" if hidden > 0 else ""
    )
    caption = html.escape(repr(message).strip("<>"))
    return f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{hidden_text}"


def rdflib_term(bnode: Callable[[str], Any]) -> Callable[[Term], Any]:
    """Return a function that converts terms to rdflib; `bnode` creates blank nodes from labels."""
    rdflib = _rdflib()

    def convert(term: Term) -> Any:
        if isinstance(term, Iri):
            return rdflib.URIRef(term.value)
        if isinstance(term, BlankNode):
            return bnode(term.value)
        if isinstance(term, Literal):
            return literal(term)
        raise EncodeError(f"does not support triple terms: {_cut(str(term))}", format="rdflib")

    def literal(term: Literal) -> Any:
        if term.direction is not None:
            raise EncodeError(
                f"does not support base directions: {_cut(str(term))}", format="rdflib"
            )
        if term.language is not None:
            try:
                return rdflib.Literal(term.value, lang=term.language)
            except ValueError as error:
                raise EncodeError(
                    f"does not support the language tag of {_cut(str(term))}", format="rdflib"
                ) from error
        datatype = term.datatype.value
        if datatype == XSD_STRING:
            return rdflib.Literal(term.value)
        # Keep the lexical form: "01" is not "1".
        return rdflib.Literal(term.value, datatype=rdflib.URIRef(datatype), normalize=False)

    return convert


def rdflib_graph_name(term: Term, convert: Callable[[Term], Any]) -> Any:
    """Return a graph name as an rdflib term.

    Raises:
        EncodeError: If the name is neither an IRI nor a blank node.
    """
    if not isinstance(term, (Iri, BlankNode)):
        raise EncodeError(
            f"requires an IRI or a blank node as the graph name: {_cut(str(term))}", format="rdflib"
        )
    return convert(term)


def _from_rdflib(term: Any) -> Term:
    rdflib = _rdflib()
    if isinstance(term, rdflib.URIRef):
        return Iri(str(term))
    if isinstance(term, rdflib.BNode):
        return BlankNode(str(term))
    if isinstance(term, rdflib.Literal):
        if term.language is not None:
            return Literal(str(term), language=term.language)
        return Literal(str(term), datatype=None if term.datatype is None else str(term.datatype))
    raise UnsupportedError(
        f"rdflib's {type(term).__name__} is not a term of a dataset: {_cut(str(term))}"
    )


def _rdflib_context(context: Any, graph: Any) -> Any:
    """Return the graph name of an rdflib quad, or None for the default graph."""
    name = getattr(context, "identifier", context)
    if name is None or str(name) == RDFLIB_DEFAULT_GRAPH:
        return None
    return None if name == _default_graph(graph).identifier else name


def _default_graph(dataset: Any) -> Any:
    """Return the default graph. Its attribute name depends on the version of rdflib."""
    return dataset.default_graph if hasattr(dataset, "default_graph") else dataset.default_context


def _to_oxigraph(term: Term, oxigraph: ModuleType) -> Any:
    if isinstance(term, Iri):
        return oxigraph.NamedNode(term.value)
    if isinstance(term, BlankNode):
        # Labels are escaped one-to-one, as in text formats.
        return oxigraph.BlankNode(str(term).removeprefix("_:"))
    if isinstance(term, TripleTerm):
        parts = (term.subject, term.predicate, term.object)
        return oxigraph.Triple(*(_to_oxigraph(part, oxigraph) for part in parts))
    if term.language is not None:
        direction = None if term.direction is None else oxigraph.BaseDirection(term.direction)
        return oxigraph.Literal(term.value, language=term.language, direction=direction)
    if term.datatype.value == XSD_STRING:
        return oxigraph.Literal(term.value)
    return oxigraph.Literal(term.value, datatype=oxigraph.NamedNode(term.datatype.value))


def _from_oxigraph(term: Any, oxigraph: ModuleType) -> Term:
    try:
        return _term_from_oxigraph(term, oxigraph)
    except RecursionError:
        raise LimitError("triple terms are nested deeper than 100 levels") from None


def _term_from_oxigraph(term: Any, oxigraph: ModuleType) -> Term:
    if isinstance(term, oxigraph.NamedNode):
        return Iri(term.value)
    if isinstance(term, oxigraph.BlankNode):
        escaped = re.fullmatch("_gx[0-9a-f]*", term.value)
        return parse_term(f"_:{term.value}") if escaped else BlankNode(term.value)
    if isinstance(term, oxigraph.Triple):
        s, p, o = (
            _term_from_oxigraph(part, oxigraph)
            for part in (term.subject, term.predicate, term.object)
        )
        return TripleTerm(s, p, o)
    if isinstance(term, oxigraph.Literal):
        if term.language is not None:
            direction = None if term.direction is None else term.direction.value
            return Literal(term.value, language=term.language, direction=direction)
        return Literal(term.value, datatype=term.datatype.value)
    raise UnsupportedError(f"pyoxigraph's {type(term).__name__} is not a term of a dataset")


class _Binding(dict[Any, Any]):
    """A row for rdflib. It is always true, because rdflib skips false rows such as empty dicts."""

    def __bool__(self) -> bool:
        return True


def _rdflib_variable(name: str) -> Any:
    variable = _rdflib().Variable(name) if name else name
    if not name or str(variable) != name:  # rdflib removes a "?"
        raise EncodeError(f"does not support the variable '{_cut(name)}'", format="rdflib")
    return variable


class _GeneratedFile:
    """A file-like object that generates its content on demand."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._left = memoryview(b"")

    def read(self, size: int) -> bytes:
        while not self._left:
            piece = next(self._pieces, None)
            if piece is None:
                return b""
            self._left = memoryview(piece)
        data, self._left = self._left[:size], self._left[size:]
        return bytes(data)


def _json_pieces(results: Results, oxigraph: ModuleType) -> Iterator[bytes]:
    """Yield the document for pyoxigraph in pieces, including the rows before an error."""
    encoder = Encoder("results-json", {})
    variables = list(results.variables)
    yield encoder.encode(ResultBatch.from_rows([], variables, boolean=results.boolean))
    rows = enumerate(results.rows)
    failure: Exception | None = None
    while failure is None:
        converted: dict[Term | None, Term | None] = {None: None}
        converted_rows: list[list[Term | None]] = []
        try:
            for index, row in islice(rows, ROWS_PER_PIECE):
                for term in row:
                    if term is not None and term not in converted:
                        converted[term] = _to_parsable_term(term, index, oxigraph)
                converted_rows.append([converted[term] for term in row])
        except Exception as error:
            failure = error
        if converted_rows:
            yield encoder.encode(ResultBatch.from_rows(converted_rows, variables))
        elif failure is None:
            yield encoder.finish()
            return
    raise failure


def _to_parsable_term(term: Term, row: int, oxigraph: ModuleType) -> Term:
    """Return a term with labels that pyoxigraph accepts.

    The pyoxigraph term is also created, so that its errors are raised early.
    """
    try:
        _to_oxigraph(term, oxigraph)
        return _relabel(term)
    except (ValueError, TypeError) as error:
        reason = (
            str(error)
            if isinstance(error, ValueError)
            else "generalized triple terms are not supported"
        )
        raise EncodeError(
            f"cannot represent {_cut(str(term))}: {reason}", format="pyoxigraph", message_index=row
        ) from error


def _relabel(term: Term) -> Term:
    if isinstance(term, BlankNode):
        return BlankNode(str(term).removeprefix("_:"))
    if isinstance(term, TripleTerm):
        return TripleTerm(*map(_relabel, (term.subject, term.predicate, term.object)))
    return term


def _cell(term: Term | None) -> str:
    if term is None:
        return ""
    text = html.escape(str(term))
    if isinstance(term, Iri) and term.value.startswith(("http://", "https://")):
        link = html.escape(term.value, quote=True)
        return f'<a href="{link}" rel="noopener noreferrer">{text}</a>'
    return text


def _cut(text: str, length: int = 80) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def _rdflib() -> ModuleType:
    try:
        import rdflib
    except ImportError as error:
        raise MissingExtraError("this needs rdflib: pip install 'rdfm[rdflib]'") from error
    return rdflib


def _oxigraph() -> ModuleType:
    try:
        import pyoxigraph
    except ImportError as error:
        raise MissingExtraError("this needs pyoxigraph: pip install 'rdfm[oxigraph]'") from error
    module: ModuleType = pyoxigraph
    return module
