"""Conversion of batches to Arrow and back."""

import pytest

from rdfm._core import (
    ArrowCoalescer,
    BlankNode,
    Iri,
    Literal,
    MessageBatch,
    Quad,
    TripleTerm,
    batches_from_arrow,
    coalesce,
)
from rdfm.errors import DecodeError, LimitError, OptionError
from rdfm.message import Message

pa = pytest.importorskip("pyarrow")

A, B = Iri("http://ex/a"), Iri("http://ex/b")
LITERALS = [
    Literal('a"\\\n\té'),
    Literal("5", datatype="http://www.w3.org/2001/XMLSchema#integer"),
    Literal("x", language="en-GB"),
    Literal("x", language="ar", direction="rtl"),
]
MESSAGES = [
    Message(
        [Quad(A, B, term, graph) for term in LITERALS for graph in (None, BlankNode("g"), A)],
        metadata={"k": b"\0\xff", "l": b""},
        namespaces={"ex": "http://ex/"},
    ),
    Message(namespaces={"ex": "http://ex/"}),
    Message(
        [
            Quad(LITERALS[0], BlankNode("b"), TripleTerm(A, B, TripleTerm(A, B, LITERALS[3])), B),
            Quad(A, A, A),
        ],
        namespaces={"ex": "http://ex/", "": "http://other/"},
    ),
]
POSITIONS = ("subject", "predicate", "object", "graph")
SCHEMA = pa.schema(
    [
        ("source", pa.string()),
        ("message_index", pa.int64()),
        ("quads", pa.list_(pa.struct([(name, pa.string()) for name in POSITIONS]))),
        ("metadata", pa.map_(pa.string(), pa.binary())),
    ]
)
ALL = ["source", "message_index", "byte_offset", "quads", "metadata", "namespaces"]


def batch():
    return MessageBatch.from_messages(MESSAGES)


def validated(arrow):
    """Returns the record batch of an Arrow object, after validation by pyarrow."""
    rows = pa.record_batch(arrow)
    rows.validate(full=True)
    return rows


def content(created):
    return [(m.quads, m.metadata, m.namespaces) for m in created]


def test_each_message_is_a_row():
    rows = validated(batch())
    assert rows.schema == SCHEMA == pa.schema(batch())
    quads = rows["quads"].to_pylist()
    assert quads[1] == []
    assert quads[2][1] == {"subject": str(A), "predicate": str(A), "object": str(A), "graph": None}
    assert [list(quad.values()) for quad in quads[0]] == [
        [str(term) if term else None for term in quad] for quad in MESSAGES[0]
    ]
    assert rows["metadata"].to_pylist() == [[("k", b"\0\xff"), ("l", b"")], None, None]
    assert rows["message_index"].to_pylist() == [0, 1, 2]
    assert rows["source"].to_pylist() == [None] * 3


def test_columns_may_be_in_any_order():
    created = batch().slice(1, 3).to_arrow(ALL[::-1], source="a.nq")
    assert created.column_names == ALL[::-1]
    assert len(created) == 2
    rows = validated(created)
    assert rows["source"].to_pylist() == ["a.nq"] * 2
    assert rows["message_index"].to_pylist() == [1, 2]
    assert rows["byte_offset"].to_pylist() == [None, None]
    assert rows["namespaces"].to_pylist()[1] == [("ex", "http://ex/"), ("", "http://other/")]
    assert validated(batch().to_arrow([])).num_rows == 3


def test_an_unknown_column_is_an_error_that_lists_the_known_ones():
    with pytest.raises(
        OptionError,
        match=r"'graph'; expected one of source, message_index, byte_offset, quads, metadata, namespaces",
    ):
        batch().to_arrow(["graph"])


def test_a_requested_schema_is_used():
    large_schema = pa.schema(
        [
            ("quads", pa.list_(pa.struct([(name, pa.large_string()) for name in POSITIONS]))),
            ("byte_offset", pa.int64()),
        ]
    )
    rows = pa.record_batch(batch(), schema=large_schema)
    assert rows.schema == large_schema
    assert pa.table(batch(), schema=SCHEMA).schema == SCHEMA


@pytest.mark.parametrize(
    "make", [batch, lambda: batch().to_arrow(ALL), lambda: pa.table(batch().to_arrow(ALL))]
)
def test_rows_are_read_back(make):
    back = MessageBatch.from_arrow(make())
    assert [m.quads for m in back] == [m.quads for m in MESSAGES]
    assert [m.metadata for m in back] == [m.metadata for m in MESSAGES]


def test_namespaces_are_read_back():
    assert content(MessageBatch.from_arrow(batch().to_arrow(ALL))) == content(MESSAGES)


@pytest.mark.parametrize(
    "text", [pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())], ids=str
)
@pytest.mark.parametrize("list_type", [pa.list_, pa.large_list], ids=["list", "large_list"])
def test_other_string_and_list_types_are_read(text, list_type):
    fields = [(name, text) for name in ("graph", "object", "subject", "predicate")]
    rows = [
        [dict(zip(POSITIONS, quad.values(), strict=True)) for quad in row]
        for row in validated(batch())["quads"].to_pylist()
    ]
    table = pa.table(
        {"quads": pa.array(rows, pa.list_(pa.struct([(n, pa.string()) for n, _ in fields])))}
    )
    try:
        table = table.cast(pa.schema([("quads", list_type(pa.struct(fields)))]))
    except pa.ArrowNotImplementedError:
        pytest.skip("pyarrow cannot create this type")
    assert [m.quads for m in MessageBatch.from_arrow(table)] == [m.quads for m in MESSAGES]


def test_sliced_and_null_rows_are_read():
    rows = pa.record_batch(
        {"quads": pa.array([[], None, [{"subject": "<a>", "predicate": "<b>", "object": "<c>"}]])}
    )
    for part in (rows, rows.slice(1), rows.slice(2)):
        back = MessageBatch.from_arrow(part)
        assert back.quad_counts() == [0, 0, 1][3 - len(part) :]
    assert back.quads(0) == [Quad(Iri("a"), Iri("b"), Iri("c"))]


@pytest.mark.parametrize(
    ("quad", "text"),
    [
        ({"subject": "<a>", "predicate": "<b>", "object": "x"}, r"object: .*'x.*\(row 1\)"),
        ({"subject": None, "predicate": "<b>", "object": "<c>"}, r"subject: .*null.*\(row 1\)"),
        ({"subject": "<a> ", "predicate": "<b>", "object": "<c>"}, r"subject: .*\(row 1\)"),
    ],
)
def test_the_error_for_an_invalid_term_names_its_row(quad, text):
    with pytest.raises(DecodeError, match=text) as caught:
        MessageBatch.from_arrow(pa.record_batch({"quads": [[], [quad]]}))
    assert caught.value.row == 1
    assert caught.value.format == "arrow"


@pytest.mark.parametrize(
    "invalid",
    [
        3,
        pa.record_batch({"x": [1]}),
        pa.record_batch({"quads": [1]}),
        pa.record_batch({"quads": [["x"]]}),
        pa.record_batch({"quads": [[{"subject": "<a>"}]]}),
        pa.record_batch({"quads": [[{"subject": "<a>", "predicate": "<a>", "object": 3}]]}),
        pa.record_batch({"quads": [[]], "metadata": [3]}),
    ],
    ids=repr,
)
def test_other_types_are_rejected(invalid):
    with pytest.raises(TypeError):
        MessageBatch.from_arrow(invalid)


def test_the_error_for_a_null_quad_names_its_row():
    quad = {"subject": "<a:a>", "predicate": "<a:a>", "object": "<a:a>"}
    with pytest.raises(DecodeError, match=r"quad 1 is null \(row 1\)"):
        MessageBatch.from_arrow(pa.record_batch({"quads": [[quad], [quad, None]]}))


def test_the_depth_of_triple_terms_is_limited():
    term = A
    for _ in range(70):
        term = TripleTerm(A, A, term)
    rows = batch = MessageBatch.from_messages([[Quad(A, A, term)]])
    with pytest.raises(DecodeError, match="row 0"):
        MessageBatch.from_arrow(rows)
    assert MessageBatch.from_arrow(rows, max_depth=70).quads(0) == batch.quads(0)
    with pytest.raises(OptionError, match="100"):
        MessageBatch.from_arrow(rows, max_depth=101)


def test_batches_are_merged():
    rows = validated(coalesce([batch(), batch().slice(2, 3), batch()], source="s"))
    assert rows["message_index"].to_pylist() == [0, 1, 2, 2, 0, 1, 2]
    assert rows["quads"].to_pylist()[4:] == validated(batch())["quads"].to_pylist()
    assert coalesce([]).column_names == [
        name for name in ALL if name not in ("byte_offset", "namespaces")
    ]


@pytest.mark.parametrize(("max_rows", "max_bytes", "sizes"), [
    (2, 1 << 20, [2, 2, 2, 2, 1]),
    (4, 1 << 20, [4, 4, 1]),
    (100, 1 << 20, [9]),
    (100, 1, None),
    (100, 1500, None),
])  # fmt: skip
def test_rows_are_regrouped(max_rows, max_bytes, sizes):
    coalescer = ArrowCoalescer(ALL, max_rows=max_rows, max_bytes=max_bytes)
    created = [rows for _ in range(3) for rows in coalescer.push(batch(), "s")]
    created += [rest] if (rest := coalescer.finish()) else []
    if sizes:
        assert [len(rows) for rows in created] == sizes
    regrouped = pa.Table.from_batches([validated(rows) for rows in created]).to_pylist()
    assert regrouped == validated(coalesce([batch()] * 3, ALL, "s")).to_pylist()
    assert coalescer.finish() is None


@pytest.mark.slow
def test_strings_beyond_two_gigabytes_are_rejected_or_split():
    huge = Quad(A, A, Literal("x" * (1 << 20)))
    batch = MessageBatch.from_messages([[huge] * 700] * 3)
    with pytest.raises(LimitError, match="smaller batches"):
        batch.to_arrow()
    coalescer = ArrowCoalescer(["quads"], max_bytes=1 << 40)
    assert [len(rows) for rows in coalescer.push(batch)] == [2]
    assert len(coalescer.finish()) == 1


def rows_of(counts):
    """Returns a record batch with the given numbers of quads per row.

    The subjects in a row contain the number of the row.
    """
    quads = [
        [{"subject": f"<a:{at}>", "predicate": "<a:p>", "object": '"o"'}] * count
        for at, count in enumerate(counts)
    ]
    return pa.record_batch({"quads": pa.array(quads, SCHEMA.field("quads").type)})


def test_batches_from_rows_are_as_large_as_decoded_batches():
    rows = rows_of([3] * 5000 + [20_000, 0, 1] + [0] * 20_000)
    created = list(batches_from_arrow(rows, first_message_index=7))
    assert [batch.first_message_index for batch in created] == [
        7 + sum(map(len, created[:at])) for at in range(len(created))
    ]
    assert sum(map(len, created)) == len(rows)
    assert [batch.quad_count for batch in created] == [8193, 20_000 + 3 * 2269, 1, 0, 0]
    assert max(map(len, created)) == 8192
    joined = [count for batch in created for count in batch.quad_counts()]
    assert joined == [len(row) for row in rows["quads"].to_pylist()]


def test_long_terms_also_end_a_batch():
    quads = [[Quad(A, A, Literal(f"{at}" * 10_000))] for at in range(100_000, 100_100)]
    rows = MessageBatch.from_messages(quads)
    created = list(batches_from_arrow(rows))
    assert len(created) > 1
    assert [m.quads for batch in created for m in batch] == quads


def test_batches_are_built_on_demand():
    def stream():
        yield rows_of([8192])
        consumed.append(True)
        yield rows_of([1])

    consumed = []
    reader = pa.RecordBatchReader.from_batches(rows_of([]).schema, stream())
    batches = batches_from_arrow(reader)
    assert len(next(batches)) == 1
    assert not consumed
    assert [len(batch) for batch in batches] == [1]
    assert consumed
    assert next(batches, None) is None


def test_rows_before_an_error_are_returned_and_the_error_is_repeated():
    invalid = {"subject": "<a>", "predicate": "<b>", "object": "<c"}
    rows = pa.record_batch(
        {"quads": [[], [dict(invalid, object="<c>")], [dict(invalid, object="<c>"), invalid]]}
    )
    batches = batches_from_arrow(rows, first_message_index=10)
    assert next(batches).quad_counts() == [0, 1]
    for _ in range(2):
        with pytest.raises(DecodeError, match=r"quad 1, object: .*\(row 12\)"):
            next(batches)


def test_other_columns_are_ignored():
    rows = rows_of([1, 0])
    rows = pa.record_batch({"x": pa.array([[1], None]), "quads": rows["quads"], "y": ["a", "b"]})
    assert [batch.quad_counts() for batch in batches_from_arrow(rows)] == [[1, 0]]


def test_namespaces_and_metadata_are_kept_across_batches():
    messages = [
        *MESSAGES,
        *([Message([Quad(A, B, A)] * 8192, namespaces=MESSAGES[2].namespaces)] * 2),
    ]
    rows = MessageBatch.from_messages(messages).to_arrow(ALL)
    created = list(batches_from_arrow(rows))
    assert len(created) > 1
    assert [part for batch in created for part in content(batch)] == content(messages)


def test_strings_that_are_not_utf_8_are_an_error():
    for text in (b'"\xff"', b"<a:\xc3>"):
        invalid = pa.array([text]).view(pa.string())
        valid = pa.array(["<a:b>"])
        quads = pa.StructArray.from_arrays([valid, valid, invalid], POSITIONS[:3])
        rows = pa.record_batch({"quads": pa.ListArray.from_arrays([0, 1], quads)})
        with pytest.raises(DecodeError, match=r"object: invalid UTF-8.*\(row 0\)"):
            MessageBatch.from_arrow(rows)
