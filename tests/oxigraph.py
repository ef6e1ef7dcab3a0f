"""Converts pyoxigraph terms to `nquads` tuples and back."""

import pyoxigraph as ox
from nquads import literal


def from_oxigraph(term):
    if isinstance(term, ox.NamedNode):
        return ("iri", term.value)
    if isinstance(term, ox.BlankNode):
        return ("bnode", term.value)
    if isinstance(term, ox.Literal):
        direction = {None: None}.get(term.direction, str(term.direction).lower()[-3:])
        return literal(term.value, term.language, direction, term.datatype.value)
    if isinstance(term, ox.Triple):
        return (
            "triple",
            *(from_oxigraph(part) for part in (term.subject, term.predicate, term.object)),
        )
    return None


def to_oxigraph(term):
    if term is None:
        return ox.DefaultGraph()
    kind = term[0]
    if kind == "iri":
        return ox.NamedNode(term[1])
    if kind == "bnode":
        return ox.BlankNode(term[1])
    if kind == "triple":
        return ox.Triple(*(to_oxigraph(part) for part in term[1:]))
    _, lexical, language, direction, datatype = term
    if direction:
        base_direction = ox.BaseDirection.LTR if direction == "ltr" else ox.BaseDirection.RTL
        return ox.Literal(lexical, language=language, direction=base_direction)
    if language:
        return ox.Literal(lexical, language=language)
    return ox.Literal(lexical, datatype=ox.NamedNode(datatype))
