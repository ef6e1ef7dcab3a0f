"""Queries, and the rows that Jena's ARQ returns for them. `arq.json` contains 150 stored cases.

A case has the text of a query, a message as N-Quads, and a sorted list of rows. A row is a list of
strings such as "?a <http://e/a>", in the order of the variables.
"""

import json
from decimal import Decimal
from pathlib import Path

from nquads import LineParser, read_quads
from support import as_batch, as_term, as_tuple

from rdfm._core import Query

PATH = Path(__file__).with_name("arq.json")
DECIMAL = "http://www.w3.org/2001/XMLSchema#decimal"


def stored_cases():
    """Returns the stored cases."""
    return json.loads(PATH.read_text())


def to_nquads(message):
    """Returns a message as N-Quads."""
    lines = (" ".join(str(as_term(term)) for term in quad if term) for quad in message)
    return "".join(f"{line} .\n" for line in lines)


def rdfm_rows(text, message):
    """Returns the rows that rdfm returns."""
    query = Query(text)
    part = query.solutions(as_batch([read_quads(message)]), 0)
    assert part.error is None
    return rows_of(query.variables, (map(as_tuple, row) for row in part.rows))


def arq_rows(jvm, text, message):
    """Returns the rows that ARQ returns."""
    data = f"{text}\n--- message\n{message}".encode()
    head, *lines = jvm.convert(data, "query", "table").decode().split("\n")[:-1]
    return rows_of(head.split("\t"), (map(term_of, line.split("\t")) for line in lines))


def term_of(text):
    line = LineParser(text)
    return line.term(line.token()) if text else None


def rows_of(names, rows):
    found = (zip(names, row, strict=False) for row in rows)
    return sorted(
        sorted(f"?{name} {as_term(canonical(term))}" for name, term in row if term) for row in found
    )


def canonical(term):
    """Returns a term with canonical digits, because ARQ writes decimals with more digits."""
    if term[0] == "literal" and term[4] == DECIMAL:
        return (*term[:1], str(Decimal(term[1]).quantize(Decimal("1e-15")).normalize()), *term[2:])
    return term
