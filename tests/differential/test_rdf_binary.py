"""RDF Protobuf and RDF Thrift compared with Google's protobuf and thriftpy2."""

import pytest
import rdf_binary
from hypothesis import given
from hypothesis import strategies as st
from logs import logs
from nquads import literal
from support import assert_same, decode, decoded, encode

import rdfm
from rdfm import formats

SINGLE_MESSAGES = logs(generalized=True, boundaries=False)
XSD = "http://www.w3.org/2001/XMLSchema#"
S, P, OBJECT = (("iri", f"http://e/{name}") for name in "spo")


def rows(kinds, quads, **options):
    return rdf_binary.rows_of(kinds, quads, **options)


@given(log=logs(generalized=True))
def test_messages_round_trip_through_protobuf(log):
    written = encode("rdf-protobuf", log)
    assert written == rdf_binary.protobuf_messages(log)
    assert rdf_binary.decode_protobuf_messages(written) == log
    found, error = decode("rdf-protobuf", written)
    assert error is None
    assert_same(found, log)


@given(log=SINGLE_MESSAGES)
def test_rows_round_trip_through_protobuf(log):
    written = encode("rdf-protobuf", log, framing="rows")
    assert written == rdf_binary.protobuf_rows(rows(rdf_binary.protobuf(), log[0]))
    assert rdf_binary.decode_protobuf_rows(written) == log[0]
    found, error = decode("rdf-protobuf", written, framing="rows")
    assert error is None
    assert_same(found, log)
    if written:
        assert decoded("rdf-protobuf", written) == found


@given(log=SINGLE_MESSAGES)
def test_rows_round_trip_through_thrift(log):
    written = encode("rdf-thrift", log)
    assert written == rdf_binary.thrift_rows(rows(rdf_binary.thrift(), log[0]))
    assert rdf_binary.decode_thrift(written) == log[0]
    found, error = decode("rdf-thrift", written)
    assert error is None
    assert_same(found, log)


PREFIXES = {"": "http://example.org/", "x": "http://example.org/a/", "xsd": XSD}


@pytest.mark.parametrize("values", [False, True])
@given(log=SINGLE_MESSAGES)
def test_prefixed_names_and_values_denote_the_same_terms(values, log):
    options = {"prefixes": PREFIXES, "values": values}
    protobuf = encode("rdf-protobuf", log, framing="rows", **options)
    thrift = encode("rdf-thrift", log, **options)
    assert_same(decoded("rdf-protobuf", protobuf), log)
    assert_same(decoded("rdf-thrift", thrift), log)
    if not values or "double" not in repr(log):
        assert rdf_binary.decode_protobuf_rows(protobuf) == log[0]
        assert rdf_binary.decode_thrift(thrift) == log[0]


@pytest.mark.parametrize("name", ["rdf-protobuf", "rdf-thrift"])
def test_a_prefix_rebound_to_an_unusable_namespace_is_not_used(name):
    log = b"PREFIX x: <http://e/>\nx:s x:p x:o .\nPREFIX x: <http://e:port/>\n<http://e/s> x:p x:o .\n"
    decoder = formats.find("ttl").Decoder(lenient=True)
    decoder.feed(log)
    decoder.finish()
    options = {"framing": "rows"} if name == "rdf-protobuf" else {}
    encoder = formats.find(name).Encoder(flat=True, **options)
    written = encoder.encode(decoder.next_batch()) + encoder.finish()
    decoders = {
        "rdf-protobuf": rdf_binary.decode_protobuf_rows,
        "rdf-thrift": rdf_binary.decode_thrift,
    }
    iris = [("iri", f"http://e{port}/{local}") for port in ("", ":port") for local in "spo"]
    expected = [(*iris[:3], None), (iris[0], *iris[4:], None)]
    assert decoders[name](written) == expected
    assert decoded(name, written) == [expected]


VALUES = [
    ({"valInteger": 42}, "42", "integer"),
    ({"valInteger": -(1 << 63)}, "-9223372036854775808", "integer"),
    ({"valInteger": 0}, "0", "integer"),
    ({"valDouble": 1e7}, "1.0E7", "double"),
    ({"valDouble": -0.0}, "-0.0E0", "double"),
    ({"valDouble": float("inf")}, "INF", "double"),
    ({"valDouble": float("nan")}, "NaN", "double"),
    ({"value": 150, "scale": 2}, "1.50", "decimal"),
    ({"value": -5, "scale": 0}, "-5", "decimal"),
    ({"value": 5, "scale": -3}, "5000", "decimal"),
    ({"value": 5, "scale": 3}, "0.005", "decimal"),
]


@pytest.mark.parametrize(("value", "lexical", "datatype"), VALUES, ids=lambda each: str(each))
@pytest.mark.parametrize("name", ["rdf-protobuf", "rdf-thrift"])
def test_numbers_stored_by_value_are_read_as_canonical_literals(name, value, lexical, datatype):
    kinds = rdf_binary.protobuf() if name == "rdf-protobuf" else rdf_binary.thrift()
    if "scale" in value:
        value = {"valDecimal": kinds.RDF_Decimal(**value)}
    row = statement(kinds, O=kinds.RDF_Term(**value))
    assert decoded(name, write(name, [row])) == [
        [(S, P, literal(lexical, datatype=XSD + datatype), None)]
    ]


def statement(kinds, **fields):
    """Returns a triple with the given fields instead of the default ones."""
    parts = rdf_binary.parts_of(kinds, (S, P, OBJECT)) | fields
    return kinds.RDF_StreamRow(triple=kinds.RDF_Triple(**parts))


def write(name, rows):
    return (
        rdf_binary.protobuf_rows(rows) if name == "rdf-protobuf" else rdf_binary.thrift_rows(rows)
    )


def kinds_of(name):
    """Returns the generated classes for a format."""
    return rdf_binary.protobuf() if name == "rdf-protobuf" else rdf_binary.thrift()


@pytest.mark.parametrize("name", ["rdf-protobuf", "rdf-thrift"])
def test_prefixes_apply_from_their_declaration(name):
    kinds = kinds_of(name)

    def declare(prefix, iri):
        return kinds.RDF_StreamRow(prefixDecl=kinds.RDF_PrefixDecl(prefix=prefix, uri=iri))

    def prefixed_name(prefix, local):
        return kinds.RDF_PrefixName(prefix=prefix, localName=local)

    typed = kinds.RDF_Literal(lex="1", dtPrefix=prefixed_name("e", "d"))
    triple = statement(
        kinds,
        S=kinds.RDF_Term(prefixName=prefixed_name("e", "x")),
        O=kinds.RDF_Term(literal=typed),
        P=kinds.RDF_Term(prefixName=prefixed_name("", "")),
    )
    data = write(name, [declare("e", "a:"), declare("", "b:"), triple, declare("e", "c:é"), triple])
    first = (("iri", "a:x"), ("iri", "b:"), literal("1", datatype="a:d"), None)
    second = (("iri", "c:éx"), ("iri", "b:"), literal("1", datatype="c:éd"), None)
    assert decoded(name, data) == [[first, second]]
    batch = formats.find(name).decode(data)
    assert batch.namespaces(0) == {"e": "c:é", "": "b:"}
    _, error = decode(name, write(name, [triple]))
    assert "the prefix 'e' is not declared" in error


def test_relative_iris_are_resolved_with_the_base():
    kinds = rdf_binary.protobuf()

    def base(iri):
        return kinds.RDF_StreamRow(base=kinds.RDF_IRI(iri=iri))

    triple = statement(kinds, S=kinds.RDF_Term(iri=kinds.RDF_IRI(iri="x?y")))
    absolute = statement(kinds)
    data = write(
        "rdf-protobuf", [triple, base("http://a/b/c"), triple, absolute, base("../d/"), triple]
    )
    found = [quad[0][1] for quad in decoded("rdf-protobuf", data)[0]]
    assert found == ["x?y", "http://a/b/x?y", "http://e/s", "http://a/d/x?y"]
    _, error = decode("rdf-protobuf", write("rdf-protobuf", [base("no base")]))
    assert "the base 'no base' is not an IRI" in error


@pytest.mark.parametrize("name", ["rdf-protobuf", "rdf-thrift"])
def test_variables_and_placeholder_terms_are_errors(name):
    kinds = kinds_of(name)
    for term, reason in (
        (
            {"variable": (kinds.RDF_Var if name == "rdf-protobuf" else kinds.RDF_VAR)(name="v")},
            "variable",
        ),
        ({"any": kinds.RDF_ANY()}, "ANY"),
        ({"undefined": kinds.RDF_UNDEF()}, "UNDEF"),
        ({"repeat": kinds.RDF_REPEAT()}, "REPEAT"),
    ):
        data = write(name, [statement(kinds), statement(kinds, O=kinds.RDF_Term(**term))])
        messages, error = decode(name, data)
        assert messages == []
        assert f"{reason} in place of a term" in error


@pytest.mark.parametrize("name", ["rdf-protobuf", "rdf-thrift"])
def test_iris_that_readers_would_misread_are_rejected(name):
    kinds = kinds_of(name)
    row = statement(kinds, S=kinds.RDF_Term(iri=kinds.RDF_IRI(iri="_:b")))
    assert decoded(name, write(name, [row])) == [[(("bnode", "b"), P, OBJECT, None)]]
    with pytest.raises(rdfm.EncodeError, match="read the IRI '_:b' as a blank node"):
        encode(name, [[(("iri", "_:b"), P, OBJECT, None)]])
    graph = ("iri", "urn:x-arq:DefaultGraph")
    quad = kinds.RDF_Quad(**rdf_binary.parts_of(kinds, (S, P, OBJECT, graph)))
    assert decoded(name, write(name, [kinds.RDF_StreamRow(quad=quad)])) == [[(S, P, OBJECT, None)]]
    with pytest.raises(rdfm.EncodeError, match="as the default graph"):
        encode(name, [[(S, P, OBJECT, graph)]])
    assert decoded(name, encode(name, [[(graph, P, OBJECT, None)]])) == [[(graph, P, OBJECT, None)]]


@pytest.mark.parametrize("data", [b"\xff" * 11, b"\x05\x12", b"\x02\x12\x7f", b"\x03\x13\x00\x00"])
def test_invalid_protobuf_is_an_error_in_both_libraries(data):
    _, error = decode("rdf-protobuf", data, framing="rows")
    assert error is not None
    with pytest.raises(Exception):  # noqa: B017 - of any kind
        rdf_binary.read_delimited(rdf_binary.protobuf().RDF_StreamRow, data)


def nested(depth, name):
    term = OBJECT
    for _ in range(depth):
        term = ("triple", S, P, term)
    return write(name, rows(kinds_of(name), [(S, P, term, None)]))


@pytest.mark.parametrize("name", ["rdf-protobuf", "rdf-thrift"])
def test_depth_is_limited(name):
    assert decode(name, nested(5, name), max_depth=5)[1] is None
    assert "a larger max_depth" in decode(name, nested(6, name), max_depth=5)[1]


@pytest.mark.parametrize(
    "data",
    [
        b"\x2c\x1c\x1c\x18\xff\xff\xff\xff\x0f",  # a string of -1 bytes
        b"\x1c\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",  # a length beyond 64 bits
        b"\xf9\xfc\xff\xff\xff\xff\x1f",  # an unknown list of -1 structs
        b"\x28\x01x",  # a triple that is a string
        b"\x1e",  # an undefined type
        b"\x00",  # an empty union
    ],
    ids=lambda data: data.hex(),
)
def test_invalid_thrift_is_rejected_immediately(data):
    decoder = formats.find("rdf-thrift").Decoder()
    decoder.feed(data)
    with pytest.raises(rdfm.DecodeError, match=r"byte 0, message 0") as caught:
        decoder.next_batch()
    assert type(caught.value) is rdfm.DecodeError


@pytest.mark.parametrize("name", ["rdf-protobuf", "rdf-thrift"])
def test_a_huge_declared_length_does_not_allocate_memory(name):
    """A missing string of 2 GiB is reported as a truncated log or exceeds the limit."""
    huge = b"\xff\xff\xff\xff\x07"
    data = b"\x2c\x1c\x1c\x18" + huge if name == "rdf-thrift" else huge + b"\x12"
    decoder = formats.find(name).Decoder()
    decoder.feed(data)
    decoder.finish()
    with pytest.raises(rdfm.DecodeError) as caught:
        decoder.next_batch()
    assert isinstance(caught.value, (rdfm.TruncatedError, rdfm.LimitError))


@pytest.mark.parametrize("name", ["rdf-protobuf", "rdf-thrift"])
def test_a_decimal_with_a_huge_scale_exceeds_the_limit(name):
    kinds = kinds_of(name)
    for scale in (-(1 << 31), (1 << 31) - 1):
        value = kinds.RDF_Decimal(value=1, scale=scale)
        row = statement(kinds, O=kinds.RDF_Term(valDecimal=value))
        assert "a larger max_message_bytes" in decode(name, write(name, [row]))[1]


def test_unknown_fields_are_skipped():
    # Field 15 with each wire type in Protobuf, and fields of each type in Thrift, before the row
    # and inside the term.
    unknown = b"\x78\x05\x79" + bytes(8) + b"\x7a\x02xx\x7d" + bytes(4) + b"\x7b\x78\x01\x7c"
    iri = b"\x0a\x05\x0a\x03a:b"
    term = bytes([len(unknown) + len(iri)]) + unknown + iri
    triple = b"".join(tag + term for tag in (b"\x0a", b"\x12", b"\x1a"))
    row = unknown + b"\x12" + bytes([len(triple) & 127 | 128, len(triple) >> 7]) + triple
    data = bytes([len(row) & 127 | 128, len(row) >> 7]) + row
    quad = (("iri", "a:b"),) * 3 + (None,)
    assert rdf_binary.decode_protobuf_rows(data) == [quad]
    assert decoded("rdf-protobuf", data) == [[quad]]
    stream = unknown + b"\x0a" + data + unknown
    message = bytes([len(stream) & 127 | 128, len(stream) >> 7]) + stream
    assert rdf_binary.decode_protobuf_messages(message) == [[quad]]
    assert decoded("rdf-protobuf", message, framing="messages") == [[quad]]
    # Fields from 14: boolean, byte, number, double, string, list of booleans, map, struct.
    unknown = (
        b"\xe1\x13\x07\x15\x01\x17" + bytes(8) + b"\x18\x01x\x19\x21\x01\x02"
        b"\x1b\x01\x55\x02\x02\x1c\x15\x02\x00\x0c"
    )
    back = b"\x02"  # field 1 again, in its long form
    term = unknown + back + b"\x18\x03a:b\x00\x00"
    data = b"\x2c" + (b"\x1c" + term) * 3 + b"\x00\x00"
    assert rdf_binary.decode_thrift(data) == [quad]
    assert decoded("rdf-thrift", data) == [[quad]]


@given(missing_bytes=st.integers(1, 200), log=SINGLE_MESSAGES)
def test_a_truncated_row_is_an_error(missing_bytes, log):
    """Jena reads a truncated RDF Thrift file without an error."""
    complete = encode("rdf-thrift", log)
    data = complete[:-missing_bytes]
    messages, error = decode("rdf-thrift", data)
    if error is None:
        ((*_, quads),) = [messages]
        assert data == encode("rdf-thrift", [log[0][: len(quads)]])
    else:
        assert "the log ends inside a row" in error


@pytest.mark.parametrize("name", ["rdf-protobuf", "rdf-thrift"])
def test_an_empty_language_is_ignored(name):
    kinds = rdf_binary.protobuf() if name == "rdf-protobuf" else rdf_binary.thrift()
    iri = rdf_binary.term_of(kinds, ("iri", "http://e/s"))
    empty = kinds.RDF_Term(literal=kinds.RDF_Literal(lex="o", langtag=""))
    row = kinds.RDF_StreamRow(triple=kinds.RDF_Triple(S=iri, P=iri, O=empty))
    if name == "rdf-protobuf":
        data, options = rdf_binary.protobuf_rows([row]), {"framing": "rows"}
    else:
        data, options = rdf_binary.thrift_rows([row]), {}
    batch = formats.find(name).decode(data, **options)
    assert [str(quad.object) for quad in batch.quads(0)] == ['"o"']


@pytest.mark.parametrize("name", ["rdf-protobuf", "rdf-thrift"])
def test_only_doubles_in_javas_lexical_form_are_written_by_value(name):
    lexical_forms = ["1.0E7", "NaN", "-1.5E0", "0.0E0", "INF", "-INF", "2.0E23", "5.0E-324"]
    quad = "<http://e/s> <http://e/p> '{}'^^<http://www.w3.org/2001/XMLSchema#double> .\n"
    log = "".join(map(quad.format, lexical_forms)).encode()
    batch = formats.find("ttl").decode(log)
    data = formats.find(name).encode(batch, values=True)
    assert [text for text in lexical_forms if text.encode() not in data] == ["1.0E7", "NaN"]
    assert [q.object.value for q in formats.find(name).decode(data).quads(0)] == lexical_forms
