"""Columns of values that each contain one message."""

import io

import pyoxigraph as ox
import pytest
from nquads import read_quads
from pyjelly.integrations.generic.parse import parse_jelly_grouped
from support import NATIVE, TABLES, as_tuple

import rdfm
from rdfm import (
    DecodeError,
    EncodeError,
    LimitError,
    OptionError,
    UnsupportedError,
    ValueDecoder,
    decode_values,
    encode_values,
    formats,
)
from rdfm._core import PatchBatch

pa = pytest.importorskip("pyarrow")

PARTS = ("subject", "predicate", "object", "graph")
QUADS = pa.list_(pa.struct([(part, pa.string()) for part in PARTS]))
OXIGRAPH_FORMATS = {
    "nt": ox.RdfFormat.N_TRIPLES,
    "nq": ox.RdfFormat.N_QUADS,
    "ttl": ox.RdfFormat.TURTLE,
    "trig": ox.RdfFormat.TRIG,
}
SIZES = (5, 900, 40, 300, 1, 300, 90, 900, 0, 5)
TWO_MESSAGES = b"<a:s> <a:p> <a:o> .\n# @message\n<a:s> <a:p> <a:p> .\n"


def quad(*terms):
    return dict(zip(PARTS, (*terms, None), strict=False))


A = quad("<http://e/s>", "<http://e/p>", '"é\\n"@en')
B = quad("_:b", "<http://e/p>", '"1"^^<http://www.w3.org/2001/XMLSchema#integer>')
C = quad("_:b", "<http://e/p>", "<http://e/s>")
ROWS = [[A, B], None, [], [C], [A], None]


def column(rows=ROWS, type=QUADS):
    return pa.array(rows, type)


def python_codecs(name):
    """Returns a native format wrapped in Python codecs, like those of a plug-in."""
    format = formats.find(name)

    class Decoder(formats.Decoder):
        def __init__(self, **options):
            self.decoder = format.Decoder(**options)

        def feed(self, piece):
            self.decoder.feed(piece)

        def finish(self):
            self.decoder.finish()

        def next_batch(self):
            return self.decoder.next_batch()

        def reset(self):
            self.decoder.reset()

    class Encoder(formats.Encoder):
        def __init__(self, **options):
            self.encoder = format.Encoder(**options)

        def encode(self, batch, source=None):
            return self.encoder.encode(batch)

        def finish(self):
            return self.encoder.finish()

        def reset(self):
            self.encoder.reset()

    return formats.Format(format.spec, Decoder, Encoder)


def read(name, value):
    """Returns a value's triples, read by another library."""
    if name == "jelly":
        (sink,) = parse_jelly_grouped(io.BytesIO(value))
        return {tuple(str(term).replace("\n", "\\n") for term in triple)[:3] for triple in sink}
    return {
        tuple(map(str, (q.subject, q.predicate, q.object)))
        for q in ox.parse(value, format=OXIGRAPH_FORMATS[name])
    }


@pytest.mark.parametrize("name", [*NATIVE, *TABLES])
def test_values_are_read_back(name):
    values = pa.array(encode_values(name, column()))
    values.validate(full=True)
    assert values.type == pa.binary()
    assert [value is None for value in values.to_pylist()] == [row is None for row in ROWS]
    back = pa.array(decode_values(name, values))
    back.validate(full=True)
    assert back.type == QUADS == pa.record_batch(rdfm.MessageBatch.from_messages([]))["quads"].type
    assert back.to_pylist() == ROWS


@pytest.mark.parametrize("name", [*OXIGRAPH_FORMATS, "jelly"])
def test_other_libraries_read_each_value(name):
    values = pa.array(encode_values(name, column())).to_pylist()
    for row, value in zip(ROWS, values, strict=True):
        if row:
            assert read(name, value) == {(q["subject"], q["predicate"], q["object"]) for q in row}


@pytest.mark.parametrize("name", NATIVE)
def test_each_value_equals_the_output_of_the_encoder(name):
    module = formats.find(name)
    for row, value in zip(ROWS, pa.array(encode_values(name, column())).to_pylist(), strict=True):
        if row is not None:
            batch = rdfm.MessageBatch.from_arrow(pa.record_batch({"quads": column([row])}))
            assert value == module.encode(batch, **module.spec.value_options)


@pytest.mark.parametrize("name", NATIVE)
def test_python_codecs_produce_the_same_values(name):
    values = encode_values(name, column())
    python = python_codecs(name)
    assert pa.array(encode_values(python, column())).equals(pa.array(values))
    assert pa.array(decode_values(python, values)).to_pylist() == ROWS
    invalid = pa.array([*pa.array(values).to_pylist(), b"<x", None, b"\xff"])
    for decoder in (name, python):
        result = pa.array(decode_values(decoder, invalid, on_error="null")).to_pylist()
        assert result == [*ROWS, None, None, None]
        with pytest.raises(DecodeError, match=rf"^value 6: {name}: "):
            decode_values(decoder, invalid)


def test_jelly_values_are_bare_frames_by_default():
    (frame,) = pa.array(encode_values("jelly", column([[A]]))).to_pylist()
    (delimited,) = pa.array(
        encode_values("jelly", column([[A]]), delimited=True, restart_bytes=0)
    ).to_pylist()
    assert delimited == bytes([len(frame)]) + frame
    assert pa.array(decode_values("jelly", pa.array([frame, delimited]))).to_pylist() == [[A], [A]]


def test_graphs_and_triple_terms_are_kept():
    rows = [[quad("<a:s>", "<a:p>", '<<( <a:s> <a:p> <<( _:b <a:p> "o" )>> )>>', "_:g")]]
    for name in ("nq", "trig"):
        assert pa.array(decode_values(name, encode_values(name, column(rows)))).to_pylist() == rows
    (value,) = pa.array(encode_values("nq", column(rows))).to_pylist()
    assert [as_tuple(rdfm.parse_term(rows[0][0]["object"]))] == [read_quads(value.decode())[0][2]]
    with pytest.raises(EncodeError, match=r"^value 1: nt: .*merge_graphs"):
        encode_values("nt", column([[A], *rows]))
    with pytest.raises(DecodeError, match=r"max_depth.*row 0"):
        encode_values("nq", column(rows), max_depth=1)


@pytest.mark.parametrize("type", [pa.binary(), pa.large_binary(), pa.binary_view()], ids=str)
def test_binary_types_of_any_width_are_accepted(type):
    values = pa.chunked_array(
        [pa.array([b"", None], type), pa.array([b"<a:s> <a:p> <a:o> ."], type)]
    )
    assert pa.array(decode_values("nq", values)).to_pylist() == [
        [], None, [quad("<a:s>", "<a:p>", "<a:o>")],
    ]  # fmt: skip
    assert pa.array(decode_values("nq", values[1:])).to_pylist()[0] is None


@pytest.mark.parametrize("text", [pa.large_string(), pa.string_view()], ids=str)
def test_string_types_of_any_width_are_accepted(text):
    type = pa.large_list(pa.struct([(part, text) for part in reversed(PARTS)]))
    assert pa.array(encode_values("nq", column(type=type))).equals(
        pa.array(encode_values("nq", column()))
    )


def test_a_requested_type_is_used():
    large_type = pa.large_list(pa.struct([(part, pa.large_string()) for part in PARTS]))
    result = pa.array(decode_values("nq", encode_values("nq", column())), type=large_type)
    assert result.type == large_type
    assert result.to_pylist() == ROWS
    assert pa.array(encode_values("nq", column()), type=pa.large_binary()).type == pa.large_binary()


def test_a_value_with_several_messages_is_an_error_with_a_remedy():
    with pytest.raises(UnsupportedError, match=r"^value 1: .*more than one message.*open_log"):
        decode_values("nq", pa.array([b"", TWO_MESSAGES]))
    assert pa.array(decode_values("nq", pa.array([TWO_MESSAGES]), on_error="null")).to_pylist() == [
        None
    ]
    ((first, second),) = pa.array(
        decode_values("nq", pa.array([TWO_MESSAGES]), dialect="plain")
    ).to_pylist()
    assert (first["object"], second["object"]) == ("<a:o>", "<a:p>")
    log = io.BytesIO()
    with rdfm.create_log(log, "jelly") as writer:
        for _ in range(2):
            writer.write(
                [rdfm.Quad(*map(rdfm.parse_term, (A["subject"], A["predicate"], A["object"])))]
            )
    with pytest.raises(UnsupportedError, match="frames"):
        decode_values("jelly", pa.array([log.getvalue()]))
    assert pa.array(
        decode_values("jelly", pa.array([log.getvalue()]), frames="flat")
    ).to_pylist() == [[A, A]]


def flat_value(*objects, delimited=True):
    """Returns Jelly with a flat logical type and one quad per frame."""
    quads = [{**A, "object": each} for each in objects]
    options = {"logical_type": "flat_quads", "frames": "flat", "frame_rows": 1}
    encoded = encode_values("jelly", column([quads]), delimited=delimited, **options)
    return pa.array(encoded).to_pylist()[0], quads


def test_the_logical_type_of_a_value_determines_the_meaning_of_frames():
    value, quads = flat_value("<a:1>", "_:b", "_:b")
    assert pa.array(decode_values("jelly", pa.array([value]))).to_pylist() == [quads]
    with pytest.raises(UnsupportedError, match="more than one message"):
        decode_values("jelly", pa.array([value]), frames="message")
    # A value with one frame, like a queue record, is one message for every setting of `frames`.
    value, quads = flat_value("<a:1>", "_:b", delimited=False)
    for frames in ("auto", "message", "flat"):
        found = decode_values("jelly", pa.array([value]), frames=frames)
        assert pa.array(found).to_pylist() == [quads]


def test_limits_apply_to_each_value():
    line = b'<a:s> <a:p> "%s" .' % (b"x" * 500)
    values = pa.array([line] * 20)
    assert len(decode_values("nq", values, max_message_bytes=1000)) == 20
    with pytest.raises(LimitError, match=r"^value 0: .*max_message_bytes"):
        decode_values("nq", values, max_message_bytes=100)


@pytest.mark.parametrize("name", NATIVE)
def test_an_error_does_not_affect_the_next_value(name):
    valid = pa.array(encode_values(name, column([[A]]))).to_pylist()[0]
    decode = ValueDecoder(name)
    invalid = [valid[:end] for end in range(1, len(valid) - 1)] + [
        b"MESSAGE",
        b"\xff",
        valid + valid[:9],
    ]
    expected = [
        pa.array(decode(pa.array([value]), on_error="null"))[0].as_py() for value in invalid
    ]
    alternating = pa.array([value for each in invalid for value in (each, valid)])
    result = pa.array(decode(alternating, on_error="null")).to_pylist()
    assert result[0::2] == expected
    assert None in expected
    assert result[1::2] == [[A]] * len(invalid)


def test_namespaces_and_versions_apply_to_only_one_value():
    declaring = b"PREFIX e: <http://e/> BASE <http://b/> e:s e:p <o> ."
    undeclared = b"e:s e:p e:o ."
    values = pa.array([declaring, undeclared, b"<s> <p> <o> .", declaring])
    result = pa.array(decode_values("ttl", values, on_error="null")).to_pylist()
    first = [quad("<http://e/s>", "<http://e/p>", "<http://b/o>")]
    assert result == [first, None, None, first]
    announced = b'VERSION "1.2-messages"\n<a:s> <a:p> <a:o> .\n'
    delimited = b"<a:s> <a:p> <a:o> .\nMESSAGE\n"
    result = pa.array(decode_values("nq", pa.array([announced, delimited]), on_error="null"))
    assert [value.is_valid for value in result] == [True, False]


def test_invalid_options_are_rejected():
    with pytest.raises(
        OptionError, match="no option 'parts'; the options for reading N-Quads are announced"
    ):
        decode_values("nq", pa.array([b""]), parts=True)
    with pytest.raises(OptionError, match="the option dialect is for writing N-Triples"):
        encode_values("jelly", column(), dialect="plain")
    with pytest.raises(OptionError, match="'raise' or 'null', not 'ignore'"):
        decode_values("nq", pa.array([b""]), on_error="ignore")
    with pytest.raises(TypeError, match="expected an array of bytes, found Utf8"):
        decode_values("nq", pa.array(["x"]))
    with pytest.raises(TypeError, match="Arrow PyCapsule interface, not list"):
        decode_values("nq", [b""])
    with pytest.raises(TypeError, match="list of structs"):
        encode_values("nq", pa.array([1]))
    with pytest.raises(DecodeError, match=r"quad 1, object: .*\(row 2\)"):
        encode_values("nq", column([[], None, [A, quad("<a:s>", "<a:p>", "o")]]))


def test_many_rows_span_many_batches():
    rows = [[quad("<a:s>", "<a:p>", f'"{i}"')] * (i % 4) for i in range(30_000)]
    rows[7::1000] = [None] * 30
    values = encode_values("nq", column(rows))
    assert pa.array(decode_values("nq", values)).to_pylist() == rows


@pytest.mark.slow
def test_a_result_beyond_two_gigabytes_is_rejected():
    value = b'<a:s> <a:p> "%s" .' % (b"x" * (1 << 20))
    values = pa.chunked_array([pa.array([value] * 50)] * 42)
    with pytest.raises(LimitError, match="2 GiB"):
        decode_values("nq", values)


@pytest.mark.parametrize("name", NATIVE)
def test_limits_do_not_accumulate_over_values(name):
    rows = [
        [quad(f"<a:{at}{'x' * size}>", "<a:p>", f'"{size}"')] * 3 for at, size in enumerate(SIZES)
    ]
    values = pa.array(encode_values(name, column(rows)))
    outcomes = set()
    for limit in range(200, 2600, 150):
        decode = ValueDecoder(name, max_message_bytes=limit)
        in_one_array = pa.array(decode(values, on_error="null")).is_valid().to_pylist()
        in_separate_arrays = [
            pa.array(decode(values[at : at + 1], on_error="null"))[0].is_valid
            for at in range(len(values))
        ]
        assert in_one_array == in_separate_arrays
        outcomes.update(in_one_array)
    assert outcomes == {True, False}


@pytest.mark.parametrize("name", ["jelly-patch", "rdf-patch", "rdf-patch-thrift"])
@pytest.mark.parametrize("plug_in", [False, True])
def test_patches_round_trip_as_values(name, plug_in):
    """Lists of operations round-trip through codecs of the core and of a plug-in."""
    iri = rdfm.Iri("http://e/s")
    patches = [
        [("TX", *[None] * 5), ("A", None, iri, iri, rdfm.Literal("x"), None), ("TC", *[None] * 5)],
        [],
    ]
    operations = pa.record_batch(PatchBatch.from_patches(patches))["operations"]
    lists = pa.concat_arrays([operations, pa.nulls(1, operations.type)])
    format = python_codecs(name) if plug_in else formats.find(name)
    values = pa.array(encode_values(format, lists))
    assert values.to_pylist()[2] is None
    back = pa.array(decode_values(format, values))
    back.validate(full=True)
    assert back.equals(lists)
    invalid = pa.array([b"\xff\xff", values[0].as_py()])
    assert pa.array(decode_values(format, invalid, on_error="null")).to_pylist() == [
        None,
        lists[0].as_py(),
    ]


def test_results_are_rejected_as_values():
    with pytest.raises(OptionError, match="SPARQL results in JSON is a result format"):
        decode_values("results-json", pa.array([b""]))
