"""Arrow arrays that break Arrow's own rules: offsets, indices, buffers."""

import struct

import pytest

from rdfm._core import MessageBatch, PatchBatch, batches_from_arrow, decode_values, encode_values
from rdfm.errors import DecodeError

pa = pytest.importorskip("pyarrow")

DATA = b"<a:s><a:p><a:o>" * 20


def ints(*numbers, layout="i"):
    return pa.py_buffer(struct.pack(f"<{len(numbers)}{layout}", *numbers))


def strings(*offsets, kind=None, data=DATA):
    is_large = kind in (pa.large_string(), pa.large_binary())
    buffers = [None, ints(*offsets, layout="q" if is_large else "i"), pa.py_buffer(data)]
    return pa.Array.from_buffers(kind or pa.string(), len(offsets) - 1, buffers)


def terms(count, text="<a:s>"):
    return pa.array([text] * count)


def quads(count=2, **fields):
    fields = {part: terms(count) for part in ("subject", "predicate", "object")} | fields
    return pa.StructArray.from_arrays(list(fields.values()), list(fields))


def lists(*offsets, items=None):
    items = quads() if items is None else items
    buffers = [None, ints(*offsets)]
    return pa.Array.from_buffers(pa.list_(items.type), len(offsets) - 1, buffers, children=[items])


def rows(column, name="quads", **columns):
    arrays = {name: column, **columns}
    return pa.RecordBatch.from_arrays(list(arrays.values()), list(arrays))


def indices(*keys):
    return pa.DictionaryArray.from_arrays(
        pa.array(keys, pa.int32()), pa.array(["<a:s>"]), safe=False
    )


def maps(offsets, keys=None):
    keys = pa.array(["k", "k"]) if keys is None else keys
    items = pa.StructArray.from_arrays(
        [keys, pa.array([b"v", b"v"])],
        fields=[pa.field("key", pa.string(), False), pa.field("value", pa.binary())],
    )
    kind = pa.map_(pa.string(), pa.binary())
    return pa.Array.from_buffers(kind, len(offsets) - 1, [None, ints(*offsets)], children=[items])


def flat(**columns):
    columns = {
        "message_index": pa.array([0, 1]),
        **{part: terms(2) for part in ("subject", "predicate", "object")},
        **columns,
    }
    return pa.RecordBatch.from_arrays(list(columns.values()), list(columns))


def items(**fields):
    return rows(lists(0, 1, 2, items=quads(**fields)))


# Rows, the index of the invalid row, and a part of the error text.
MALFORMED = [
    (lambda: rows(lists(0, 2, 1, 2)), 1, "quads"),
    (lambda: rows(lists(0, -1, 2)), 0, "quads"),
    (lambda: rows(lists(0, 9, 2)), 0, "quads"),
    (lambda: rows(lists(1, 0, 2)), 0, "quads"),
    (lambda: items(subject=strings(0, 5, 1)), 0, "subject"),
    (lambda: items(object=strings(0, -7, 10)), 0, "object"),
    (lambda: items(object=strings(0, 1 << 20, 10)), 0, "object"),
    (lambda: items(object=strings(0, 5, 1, kind=pa.large_string())), 0, "object"),
    (lambda: items(object=strings(0, 5, 10, data=b"<a:\xff><a:\xff>")), 0, "UTF-8"),
    (lambda: items(predicate=indices(0, 3)), 1, "predicate"),
    (lambda: items(predicate=indices(0, -1)), 1, "predicate"),
    (lambda: items(graph=indices(0, -1)), 1, "graph"),
    (lambda: flat(object=indices(0, 7)), 1, "object"),
    (lambda: flat(object=strings(0, 9000, 10)), 0, "object"),
    (lambda: flat(source=indices(0, 7)), None, "source"),
    (
        lambda: items(
            object=pa.StructArray.from_arrays(
                [indices(0, 9), pa.array(["a", "b"])], ["kind", "value"]
            )
        ),
        None,
        "object",
    ),
    (lambda: rows(lists(0, 1, 2), metadata=maps([0, 2, 1])), 1, "metadata"),
    (lambda: rows(lists(0, 1, 2), metadata=maps([0, -1, 1])), 0, "metadata"),
    (
        lambda: rows(lists(0, 1, 2), metadata=maps([0, 1, 2], keys=strings(0, 99999, 2))),
        0,
        "metadata",
    ),
]


@pytest.mark.parametrize("number", range(len(MALFORMED)))
def test_malformed_arrays_are_errors_in_their_row(number):
    make, row, text = MALFORMED[number]
    for read in (MessageBatch.from_arrow, lambda rows: list(batches_from_arrow(rows))):
        with pytest.raises(DecodeError) as caught:
            read(make())
        assert text in str(caught.value)
        assert caught.value.row is not None
        if row is not None:
            assert caught.value.row == row


def test_malformed_arrays_in_a_stream_are_errors():
    invalid = pa.RecordBatchReader.from_batches(
        rows(lists(0, 1, 2)).schema, [rows(lists(0, 1, 2)), rows(lists(0, 9, 2))]
    )
    with pytest.raises(DecodeError) as caught:
        MessageBatch.from_arrow(invalid)
    assert caught.value.row == 2


def test_malformed_operations_are_errors():
    def operations(**fields):
        invalid = quads(op=terms(2, "A"), **fields)
        return rows(lists(0, 1, 2, items=invalid), "operations")

    assert len(PatchBatch.from_arrow(operations())) == 2
    for fields, text in (
        ({"name": indices(0, 4)}, "name"),
        ({"object": indices(0, 4)}, "object"),
    ):
        with pytest.raises(DecodeError, match=text):
            PatchBatch.from_arrow(operations(**fields))


def test_malformed_values_are_errors():
    from rdfm import formats

    decoder, encoder = formats.find("nt").decoder({}), formats.find("nt").encoder({})
    for values, row in (
        (strings(0, 7, 3, kind=pa.binary()), 0),
        (strings(0, 1 << 20, 3, kind=pa.large_binary()), 0),
        (
            pa.DictionaryArray.from_arrays(
                pa.array([0, 8], pa.int8()), pa.array([b""]), safe=False
            ),
            1,
        ),
    ):
        with pytest.raises(DecodeError) as caught:
            decode_values(decoder, values)
        assert caught.value.row == row
    with pytest.raises(DecodeError) as caught:
        encode_values(encoder, lists(0, 9, 2))
    assert caught.value.row == 0
