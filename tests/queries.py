"""Hypothesis strategies for SPARQL queries and messages, and results from other libraries."""

import re
from collections import Counter
from functools import cache
from itertools import count

import pyoxigraph as ox
import rdflib
from hypothesis import strategies as st
from nquads import literal
from oxigraph import from_oxigraph, to_oxigraph

XSD = "http://www.w3.org/2001/XMLSchema#"
IRIS = [("iri", f"http://e/{name}") for name in "abc"]
PREDICATES = [("iri", f"http://e/{name}") for name in "pqr"]
BNODES = [("bnode", "x"), ("bnode", "y")]
LITERALS = [
    *(literal(str(number), datatype=f"{XSD}integer") for number in (1, 2, 10)),
    literal("2.5", datatype=f"{XSD}decimal"),
    literal("text"),
    literal("text", "en"),
    literal("2026-01-01T00:00:00Z", datatype=f"{XSD}dateTime"),
]
GRAPHS = [None, None, None, ("iri", "http://e/g"), ("iri", "http://e/h")]
VARIABLES = ("?a", "?b", "?c", "?d")

quads = st.tuples(
    st.sampled_from(IRIS + BNODES),
    st.sampled_from(PREDICATES),
    st.sampled_from(IRIS + BNODES + LITERALS),
    st.sampled_from(GRAPHS),
)
messages = st.lists(quads, max_size=40) | st.lists(quads, max_size=8)

variables = st.sampled_from(VARIABLES)
constants = st.sampled_from(["<http://e/a>", "<http://e/b>", "1", "2.5", '"text"', '"text"@en'])
predicates = st.sampled_from([f"<{value}>" for _, value in PREDICATES])


def plain_expressions(variable):
    """Returns a strategy for conditions on a variable that all libraries evaluate equally."""
    forms = ["isIRI({})", "isNumeric({0}) && {0} > 1", "!isLiteral({})", "bound({})", "!bound({})"]
    return st.sampled_from(forms).map(lambda form: form.format(variable))


expressions = st.one_of(
    variables.flatmap(plain_expressions),
    st.builds("{} = {}".format, variables, variables | constants),
    st.builds("{} != {} || isBlank({})".format, variables, variables, variables),
    st.builds("{} >= {}".format, variables, variables | constants),
    st.builds("{} IN ({}, {})".format, variables, constants, constants),
    st.builds("{} NOT IN ({}, {})".format, variables, constants, variables),
    variables.map('regex(str({}), "^HTTP", "i")'.format),
    st.builds("coalesce({} + 1, {}) > 2".format, variables, variables),
    st.builds("if(bound({}), isLiteral({}), isIRI({}))".format, variables, variables, variables),
    st.builds('lang({}) = "en" || strlen(str({})) = 1'.format, variables, variables),
    st.builds("EXISTS {{ {} <http://e/p> {} }}".format, variables, variables),
    st.builds("NOT EXISTS {{ {} ?n {} }}".format, variables, variables),
    variables.map(f"<{XSD}integer>({{}}) < 5".format),
    st.builds("sameTerm({}, {})".format, variables, variables | constants),
)
# pyoxigraph removes the duplicate rows of alternatives such as p|q.
paths = st.sampled_from(
    ["<http://e/p>/<http://e/q>", "^<http://e/p>", "<http://e/p>+",
     "(<http://e/p>|<http://e/q>)*", "!<http://e/p>", "<http://e/q>?"]
)  # fmt: skip
triples = st.builds(
    "{} {} {} .".format,
    variables | variables | st.sampled_from(["<http://e/a>", "[]"]),
    predicates | predicates | variables,
    variables | variables | constants,
)


@st.composite
def tables(draw):
    """Draws a VALUES block."""
    names = draw(st.lists(variables | st.just("?e"), min_size=1, max_size=2, unique=True))
    terms = st.lists(constants | st.just("UNDEF"), min_size=len(names), max_size=len(names))
    rows = draw(st.lists(terms, max_size=6))
    lines = " ".join(f"({' '.join(row)})" for row in rows)
    return f"VALUES ({' '.join(names)}) {{ {lines} }}"


def groups(inner, *, plain: bool):
    """Returns a strategy for the content of a group, which may contain other groups."""
    elements = st.one_of(
        inner.map("OPTIONAL {{ {} }}".format),
        inner.map("OPTIONAL {{ {} }}".format),
        st.builds("{{ {} }} UNION {{ {} }}".format, inner, inner),
        st.builds(
            "GRAPH {} {{ {} }}".format,
            st.sampled_from(["?g", "?a", "<http://e/g>", "<http://e/none>"]),
            triples if plain else inner,
        ),
        inner.map("{{ {} }}".format),
    )
    if not plain:
        elements |= st.one_of(
            st.builds("{} {} {} .".format, variables, paths, variables),
            inner.map("MINUS {{ {} }}".format),
            st.builds("BIND({} AS ?new)".format, expressions),
            st.builds("{{ SELECT {} {{ {} }} }}".format, variables, inner),
            tables(),
        )
    # In rdflib, a filter sees values of surrounding groups.
    conditions = plain_expressions("?b") if plain else expressions
    parts = st.lists(triples | triples | elements | conditions.map("FILTER({})".format), max_size=3)
    first = predicates.map("?a {} ?b .".format)
    return st.builds("{} {}".format, first, parts.map(" ".join))


@st.composite
def queries(draw, *, plain: bool = False):
    """Draws a SELECT query.

    Plain queries contain nothing that libraries are known to evaluate differently.
    """
    inner = groups(triples, plain=plain)
    where = draw(groups(groups(inner, plain=plain) | inner, plain=plain))
    number = count()
    where = re.sub(r"AS \?new", lambda found: f"{found[0]}{next(number)}", where)
    form = draw(st.sampled_from(["*", "*", "DISTINCT ?b ?a", "?c ?none ?a", "count"]))
    if form == "count":
        aggregates = ["COUNT(DISTINCT ?b)"]
        if not plain:
            aggregates += [
                "COUNT(*)",
                "COUNT(?c)",
                "SUM(?b)",
                "MIN(?d)",
                "GROUP_CONCAT(DISTINCT ?g)",
            ]
        aggregate = draw(st.sampled_from(aggregates))
        return f"SELECT ?a ({aggregate} AS ?found) {{ {where} }} GROUP BY ?a"
    order = draw(st.sampled_from(["", "", "", " ORDER BY ?a DESC(?b)"]))
    return f"SELECT {form} {{ {where} }}{order}"


def oxigraph_rows(text, message):
    """Returns the rows of pyoxigraph for a message, with their counts."""
    store = ox.Store()
    store.extend(ox.Quad(*map(to_oxigraph, quad)) for quad in message)
    found = store.query(text)
    names = [variable.value for variable in found.variables]
    return Counter(frozenset(bound(names, map(from_oxigraph, row))) for row in found)


def bound(names, row):
    """Returns the bound variables of a row with their values."""
    return [(name, term) for name, term in zip(names, row, strict=True) if term is not None]


@cache
def to_rdflib(term):
    """Converts a tuple to an rdflib term."""
    kind, value, *rest = term
    if kind == "iri":
        return rdflib.URIRef(value)
    if kind == "bnode":
        return rdflib.BNode(value)
    language, _, datatype = rest
    datatype = None if language or datatype == f"{XSD}string" else datatype
    return rdflib.Literal(value, lang=language, datatype=datatype, normalize=False)


def from_rdflib(term):
    """Converts an rdflib term to a tuple."""
    if term is None:
        return None
    if isinstance(term, rdflib.URIRef):
        return ("iri", str(term))
    if isinstance(term, rdflib.BNode):
        return ("bnode", str(term))
    return literal(str(term), term.language, None, term.datatype and str(term.datatype))


def rdflib_rows(text, message):
    """Returns the rows of rdflib for a message, as a set because rdflib joins rows as sets."""
    dataset = rdflib.Dataset()
    for *triple, graph in message:
        context = dataset.default_graph if graph is None else dataset.graph(to_rdflib(graph))
        context.add(tuple(map(to_rdflib, triple)))
    found = dataset.query(text)
    names = [str(name) for name in found.vars]
    rows = (bound(names, map(from_rdflib, row)) for row in found)
    return set(map(frozenset, rows))
