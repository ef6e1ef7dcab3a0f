"""An entity table equals one query per predicate, typed in the same way, for random datasets."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import rdfm

XSD = "http://www.w3.org/2001/XMLSchema#"
# Sets of objects: those of one set often have a common type.
OBJECTS = [
    ["<x:o>", "_:b", "<x:s>"],
    [f'"{number}"^^<{XSD}integer>' for number in ("1", "01", "9223372036854775808")],
    [f'"1"^^<{XSD}integer>', f'"1.50"^^<{XSD}decimal>'],
    [f'"1e0"^^<{XSD}double>', f'"2"^^<{XSD}float>', f'"x"^^<{XSD}double>'],
    [f'"2026-01-0{day}T00:00:00Z"^^<{XSD}dateTime>' for day in (1, 2)],
    ['"a"', '"b"', '"a"@en', '"b"@EN'],
    [f'"true"^^<{XSD}boolean>', '"<>"^^<x:datatype>'],
]
PREDICATES = ["<x:p>", "<x:q>", "<x:P>", "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"]


@st.composite
def logs(draw):
    objects = {name: draw(st.sampled_from(OBJECTS)) for name in PREDICATES}
    quads = st.sampled_from(PREDICATES).flatmap(
        lambda name: st.tuples(
            st.sampled_from(["<x:s>", "<x:t>", "_:b"]),
            st.just(name),
            st.sampled_from(objects[name]),
            st.sampled_from(["", "", "<x:g>"]),
        )
    )
    messages = draw(st.lists(st.lists(quads, max_size=6), min_size=1, max_size=4))
    lines = [[f"{' '.join(filter(None, quad))} .\n" for quad in message] for message in messages]
    first = [] if messages[0] else [""]  # an empty first message needs one more delimiter
    text = "# @message\n".join([*first, *map("".join, lines), ""])
    return messages, text.encode()


@given(log=logs(), union_graphs=st.booleans(), size=st.sampled_from([1, 100]))
def test_a_table_equals_a_query_per_predicate(log, union_graphs, size):
    messages, data = log
    options = {"format": "nq", "union_graphs": union_graphs, "batch_messages": size}
    table = rdfm.table(data, **options)
    rows = table.to_arrow()
    keys = list(zip(rows["message_index"].to_pylist(), rows["subject"].to_pylist(), strict=True))
    expected_keys = {
        (index, subject.strip("<>")): None
        for index, message in enumerate(messages)
        for subject, _, _, graph in message
        if union_graphs or not graph
    }
    if union_graphs:
        assert sorted(keys) == sorted(expected_keys)
    else:
        assert keys == list(expected_keys)
    predicates = {
        rows.schema.field(name).metadata[b"rdfm.predicate"].decode(): name
        for name in rows.column_names[3:]
    }
    used = {p for message in messages for _, p, _, graph in message if union_graphs or not graph}
    assert set(predicates) == {predicate.strip("<>") for predicate in used}
    for predicate, name in predicates.items():
        query = f"SELECT ?s ?o {{ ?s <{predicate}> ?o }}"
        found = rdfm.select(query, data, **options).to_arrow()
        values = {}
        for row in found.to_pylist():
            values.setdefault((row["message_index"], row["s"].strip("<>")), []).append(row["o"])
        type = found.schema.field("o").type
        if max(map(len, values.values())) > 1:
            assert rows.schema.field(name).type == pa.list_(type)
            expected = [values.get(key) for key in keys]
        else:
            assert rows.schema.field(name).type == type
            expected = [values.get(key, [None])[0] for key in keys]
        assert rows[name].to_pylist() == expected
    # With the types that were found, one pass gives the same rows.
    if table.types:
        assert (
            rdfm.table(data, types=table.types, **options)
            .to_arrow()
            .equals(rows.replace_schema_metadata())
        )
