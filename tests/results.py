"""Hypothesis strategies for SPARQL results, and conversions to logs and back.

Results consist of variables and rows. Each value is an `nquads` tuple or None.
"""

import io
from typing import Any

from hypothesis import strategies as st
from logs import bnodes, in_xml, iris, literals, triple_terms, xml_literals
from support import as_term, as_tuple

import rdfm

names = st.from_regex(r"[A-Za-z0-9_é亀]{1,6}", fullmatch=True) | st.sampled_from(
    ["a b", "?", "a,b", '"', "a'b", "<", "&amp;", "x}"]
)


@st.composite
def results(
    draw, *, any_text: bool = True, generalized: bool = True
) -> tuple[list[str], list[tuple]]:
    """Draws up to four variables and up to six rows, in which terms repeat."""
    texts = literals if any_text else xml_literals
    labels = (
        bnodes
        if any_text
        else bnodes.map(lambda term: ("bnode", in_xml(term[1]))).filter(lambda term: term[1])
    )
    nodes = iris | labels
    plain = nodes | texts
    cells = plain | (
        triple_terms(plain, plain, plain) if generalized else triple_terms(nodes, iris, plain)
    )
    variables = draw(st.lists(names, max_size=4, unique=True))
    pool = [None, *draw(st.lists(cells, min_size=1, max_size=6))]
    row = st.tuples(*(st.sampled_from(pool) for _ in variables))
    return variables, draw(st.lists(row, max_size=6))


def encoded(name: str, variables: list[str], rows: list[tuple], **options: Any) -> bytes:
    """Returns a complete log of results."""
    file = io.BytesIO()
    with rdfm.create_log(file, name, kind="results", variables=variables, **options) as out:
        for row in rows:
            out.write(map(as_term, row))
    return file.getvalue()


def decoded(name: str, data: bytes) -> tuple[list[str], list[tuple]]:
    """Returns the variables and rows of a log."""
    with rdfm.open_log(data, name, kind="results") as found:
        return list(found.variables), [tuple(map(as_tuple, row)) for row in found]
