"""Messages beside other libraries: rdflib, pyoxigraph, notebooks; what compares them.

In: a `Message`, or another library's dataset. Out: the other. Cost: one Python object a term.
Law: what the other side cannot hold is an error that says so, never left out.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from rdfm._core import Bnode, Iri, Literal, Quad, TripleTerm, parse_term
from rdfm.compare import canonical as canonicalization
from rdfm.compare import isomorphism
from rdfm.errors import EncodeError, LimitError, MissingExtraError, UnsupportedError
from rdfm.message import Message

if TYPE_CHECKING:
    from types import ModuleType

    import pyoxigraph
    import rdflib

    from rdfm._core import Term

__all__ = [
    "canonical",
    "from_oxigraph",
    "from_rdflib",
    "isomorphic",
    "to_html",
    "to_oxigraph",
    "to_rdflib",
]

XSD_STRING = "http://www.w3.org/2001/XMLSchema#string"
# What rdflib calls the default graph of a dataset.
RDFLIB_DEFAULT_GRAPH = "urn:x-rdflib:default"
HTML_ROWS = 100


def to_rdflib(message: Message) -> rdflib.Dataset:
    """Give a message as an rdflib dataset, its namespaces bound.

    Raises:
        EncodeError: A triple term, a base direction, or a tag or graph name that rdflib cannot hold.
        MissingExtraError: rdflib is not installed.
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
    """Make a message of the quads of an rdflib graph or dataset, with the namespaces it binds itself.

    Raises:
        UnsupportedError: The graph holds variables or formulas.
        MissingExtraError: rdflib is not installed.
    """
    rdflib = _rdflib()
    if isinstance(graph, rdflib.ConjunctiveGraph):  # a Dataset is one
        found = ((*spo, _rdflib_context(context, graph)) for *spo, context in graph.quads())
    else:
        found = ((*triple, None) for triple in graph)
    quads = [
        Quad(
            _from_rdflib(s),
            _from_rdflib(p),
            _from_rdflib(o),
            None if g is None else _from_rdflib(g),
        )
        for s, p, o, g in found
    ]
    usual = set(rdflib.Graph().namespaces())
    bound = {str(name): str(iri) for name, iri in graph.namespaces() if (name, iri) not in usual}
    return Message(quads, namespaces=bound)


def to_oxigraph(message: Message) -> pyoxigraph.Dataset:
    """Give a message as a pyoxigraph dataset.

    Blank node labels that it refuses are rewritten; it writes language tags in lower case.

    Raises:
        EncodeError: A generalized quad, or an IRI or language tag that pyoxigraph refuses.
        LimitError: Triple terms nest deeper than Python's recursion limit allows.
        MissingExtraError: pyoxigraph is not installed.
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
        except RecursionError:
            raise _too_deep() from None
        except (ValueError, TypeError) as error:
            if isinstance(error, EncodeError):
                raise
            reason = (
                str(error) if isinstance(error, ValueError) else "it holds no generalized quads"
            )
            raise EncodeError(
                f"cannot hold {_cut(str(quad))}: {reason}",
                format="pyoxigraph",
                message_index=message.index,
            ) from error
    dataset: pyoxigraph.Dataset = oxigraph.Dataset(quads)
    return dataset


def from_oxigraph(dataset: Iterable[pyoxigraph.Quad]) -> Message:
    """Make a message of pyoxigraph quads (a dataset, a list, what `pyoxigraph.parse` gives).

    Raises:
        LimitError: Triple terms nest deeper than Python's recursion limit allows.
        MissingExtraError: pyoxigraph is not installed.
    """
    oxigraph = _oxigraph()
    quads = []
    for quad in dataset:
        name = quad.graph_name
        graph = None if isinstance(name, oxigraph.DefaultGraph) else _from_oxigraph(name, oxigraph)
        triple = (quad.subject, quad.predicate, quad.object)
        try:
            s, p, o = (_from_oxigraph(term, oxigraph) for term in triple)
        except RecursionError:
            raise _too_deep() from None
        quads.append(Quad(s, p, o, graph))
    return Message(quads)


def isomorphic(a: Message, b: Message, *, max_steps: int | None = None) -> bool:
    """Tell whether two messages are the same dataset up to blank node labels.

    Order and repetitions of quads, metadata and namespaces do not count; the case of language tags
    does.

    Raises:
        LimitError: The comparison needs more than `max_steps`.
    """
    bound = isomorphism.MAX_STEPS if max_steps is None else max_steps
    return isomorphism.isomorphic(a, b, max_steps=bound)


def canonical(message: Message, *, max_steps: int | None = None) -> str:
    """Give a message as canonical N-Quads (RDFC-1.0, SHA-256), sorted, a line each.

    Isomorphic messages give equal texts, others different ones. Language tags stay as they are
    written.

    Raises:
        EncodeError: A generalized quad, or blank nodes in triple terms, which RDFC-1.0 does not know.
        LimitError: The labels need more than `max_steps`.
    """
    bound = canonicalization.MAX_STEPS if max_steps is None else max_steps
    return canonicalization.canonical(message, max_steps=bound, message_index=message.index)


def to_html(message: Message, rows: int = HTML_ROWS) -> str:
    """Give a message as an HTML table of its first quads; terms are escaped, only http(s) IRIs are links."""
    quads = message.quads
    graphs = any(quad.graph is not None for quad in quads[:rows])
    columns = ["subject", "predicate", "object", *(["graph"] if graphs else [])]
    head = "".join(f"<th>{column}</th>" for column in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{_cell(term)}</td>" for term in list(quad)[: len(columns)]) + "</tr>"
        for quad in quads[:rows]
    )
    more = f"<p>… and {len(quads) - rows:,} more quads</p>" if len(quads) > rows else ""
    caption = html.escape(repr(message).strip("<>"))
    return f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def rdflib_term(bnode: Callable[[str], Any]) -> Callable[[Term], Any]:
    """A function from terms to rdflib's; `bnode` makes blank nodes of labels."""
    rdflib = _rdflib()

    def convert(term: Term) -> Any:
        if isinstance(term, Iri):
            return rdflib.URIRef(term.value)
        if isinstance(term, Bnode):
            return bnode(term.value)
        if isinstance(term, Literal):
            return literal(term)
        raise EncodeError(f"holds no triple terms: {_cut(str(term))}", format="rdflib")

    def literal(term: Literal) -> Any:
        if term.direction is not None:
            raise EncodeError(f"holds no base directions: {_cut(str(term))}", format="rdflib")
        if term.language is not None:
            try:
                return rdflib.Literal(term.value, lang=term.language)
            except ValueError as error:
                raise EncodeError(f"{error}: {_cut(str(term))}", format="rdflib") from error
        datatype = term.datatype.value
        if datatype == XSD_STRING:
            return rdflib.Literal(term.value)
        # The lexical form stays as it is: "01" is not "1".
        return rdflib.Literal(term.value, datatype=rdflib.URIRef(datatype), normalize=False)

    return convert


def rdflib_graph_name(term: Term, convert: Callable[[Term], Any]) -> Any:
    """A graph name of rdflib.

    Raises:
        EncodeError: It is neither an IRI nor a blank node.
    """
    if not isinstance(term, (Iri, Bnode)):
        raise EncodeError(f"holds no such graph name: {_cut(str(term))}", format="rdflib")
    return convert(term)


def _from_rdflib(term: Any) -> Term:
    rdflib = _rdflib()
    if isinstance(term, rdflib.URIRef):
        return Iri(str(term))
    if isinstance(term, rdflib.BNode):
        return Bnode(str(term))
    if isinstance(term, rdflib.Literal):
        if term.language is not None:
            return Literal(str(term), language=term.language)
        return Literal(str(term), datatype=None if term.datatype is None else str(term.datatype))
    raise UnsupportedError(
        f"rdflib's {type(term).__name__} is no term of a dataset: {_cut(str(term))}"
    )


def _rdflib_context(context: Any, graph: Any) -> Any:
    """The graph name of a quad of rdflib; None for the default graph."""
    name = getattr(context, "identifier", context)
    if name is None or str(name) == RDFLIB_DEFAULT_GRAPH:
        return None
    return None if name == _default_graph(graph).identifier else name


def _default_graph(dataset: Any) -> Any:
    """The default graph, by the name that this release of rdflib has for it."""
    return dataset.default_graph if hasattr(dataset, "default_graph") else dataset.default_context


def _to_oxigraph(term: Term, oxigraph: ModuleType) -> Any:
    if isinstance(term, Iri):
        return oxigraph.NamedNode(term.value)
    if isinstance(term, Bnode):
        # The scheme of the text writers: one-to-one, whatever the label.
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
    if isinstance(term, oxigraph.NamedNode):
        return Iri(term.value)
    if isinstance(term, oxigraph.BlankNode):
        escaped = re.fullmatch("_gx[0-9a-f]*", term.value)
        return parse_term(f"_:{term.value}") if escaped else Bnode(term.value)
    if isinstance(term, oxigraph.Triple):
        s, p, o = (
            _from_oxigraph(part, oxigraph) for part in (term.subject, term.predicate, term.object)
        )
        return TripleTerm(s, p, o)
    if isinstance(term, oxigraph.Literal):
        if term.language is not None:
            direction = None if term.direction is None else term.direction.value
            return Literal(term.value, language=term.language, direction=direction)
        return Literal(term.value, datatype=term.datatype.value)
    raise UnsupportedError(f"pyoxigraph's {type(term).__name__} is no term of a dataset")


def _cell(term: Term | None) -> str:
    if term is None:
        return ""
    text = html.escape(str(term))
    if isinstance(term, Iri) and term.value.startswith(("http://", "https://")):
        link = html.escape(term.value, quote=True)
        return f'<a href="{link}" rel="noopener noreferrer">{text}</a>'
    return text


def _too_deep() -> LimitError:
    return LimitError(
        "the triple terms nest deeper than Python's recursion limit allows; "
        "sys.setrecursionlimit raises it"
    )


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
