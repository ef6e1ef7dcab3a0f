"""Nested entity tables contain the triples of their log, and nest the nodes that pretty Turtle nests."""

import re
from itertools import count

from hypothesis import given
from hypothesis import strategies as st
from nquads import isomorphic
from support import decoded, encode

import rdfm
from rdfm.sparql.entity_columns import parse_column

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
FIRST, REST, NIL = f"{RDF}first", f"{RDF}rest", f"<{RDF}nil>"
INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
NODES = ["<x:s>", "<x:t>", "_:a", "_:b", "_:c", "_:d", "_:cell0"]
PREDICATES = ["<x:p>", "<x:q>", "<x:r>", f"<{FIRST}>", f"<{REST}>"]


@st.composite
def messages(draw):
    """N-Triples whose objects are often blank nodes and collections."""
    triple = st.tuples(
        st.sampled_from(NODES),
        st.sampled_from(PREDICATES),
        st.sampled_from([*NODES, "_:e", f'"1"^^<{INTEGER}>', NIL]),
    )
    triples = [" ".join(each) for each in draw(st.lists(triple, max_size=6))]
    items = draw(st.lists(st.sampled_from(["_:d", "_:f", f'"2"^^<{INTEGER}>']), max_size=3))
    cells = [*(f"_:cell{number}" for number in range(len(items))), NIL]
    if items or draw(st.booleans()):
        head, predicate = draw(st.sampled_from(NODES[:3])), draw(st.sampled_from(PREDICATES[:3]))
        triples.append(f"{head} {predicate} {cells[0]}")
        for cell, item, rest in zip(cells, items, cells[1:], strict=False):
            triples += [f"{cell} <{FIRST}> {item}", f"{cell} <{REST}> {rest}"]
    return "".join(f"{each} .\n" for each in draw(st.permutations(list(dict.fromkeys(triples)))))


class Triples:
    """The triples of table cells as N-Triples."""

    def __init__(self):
        self.lines = []
        self._numbers = count()

    def add(self, subject, predicate, object):
        self.lines.append(f"{subject} <{predicate}> {object} .\n")

    def add_cell(self, column, cell, subject):
        if cell is not None:
            for value in cell if column.is_list else [cell]:
                self.add(subject, column.name, self.term(column, value))

    def term(self, column, value):
        if column.type == "collection":
            rest = NIL
            for item in reversed(value):
                cell = f"_:new{next(self._numbers)}"
                self.add(cell, FIRST, self.term(column.fields[0], item))
                self.add(cell, REST, rest)
                rest = cell
            return rest
        if column.type == "struct":
            node = f"_:new{next(self._numbers)}"
            for field in column.fields:
                self.add_cell(field, value[field.name], node)
            return node
        if column.type == "integer":
            return f'"{value}"^^<{INTEGER}>'
        return f"<{value}>" if column.type == "node" and value[:2] != "_:" else value


@given(log=st.lists(messages(), min_size=1, max_size=3), depth=st.sampled_from([0, 1, 2, 9]))
def test_a_nested_table_has_the_triples_of_its_log(log, depth):
    data = "# @message\n".join([*log, ""] if log[0] else ["", *log, ""])
    table = rdfm.table(data.encode(), format="nt", depth=depth)
    rows = table.to_arrow().to_pylist()
    columns = [parse_column(name, type) for name, type in table.types.items()]
    for index, text in enumerate(log):
        triples = Triples()
        of_message = [row for row in rows if row["message_index"] == index]
        for row in of_message:
            subject = row["subject"]
            for column in columns:
                triples.add_cell(
                    column, row[column.name], subject if subject[:2] == "_:" else f"<{subject}>"
                )
        ((expected,), (found,)) = (
            decoded("nt", each.encode()) or [[]] for each in (text, "".join(triples.lines))
        )
        assert isomorphic(set(found), set(expected))
        if depth == 9 and not any("not nested" in note for note in table.notes):
            pretty = encode("ttl", [expected], pretty=True).decode()
            assert len(of_message) == len(re.findall(r"(?m)^(?=[<_\[(])", pretty))
    if table.types:
        again = rdfm.table(data.encode(), format="nt", types=table.types)
        assert again.to_arrow().to_pylist() == rows
