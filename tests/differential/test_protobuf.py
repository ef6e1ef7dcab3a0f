"""Jelly compared with Google's protobuf and the row semantics of tests/jelly_proto.py."""

import jelly_proto
import pytest
from hypothesis import given
from hypothesis import strategies as st
from logs import logs
from support import assert_same, decode, decoded, encode


@pytest.mark.parametrize(("physical", "number"), [("triples", 1), ("quads", 2), ("graphs", 3)])
@given(data=st.data())
def test_protobuf_reads_the_output_of_rdfm(physical, number, data):
    log = data.draw(logs(graphs=number > 1, generalized=True))
    written = encode("jelly", log, physical_type=physical, generalized=True, rdf_star=True)
    assert_same(jelly_proto.decode(written), log)
    if log:
        first = jelly_proto.read_frames(written)[0].rows[0].options
        assert first.physical_type == number
        assert first.version == 1
        assert (first.max_name_table_size, first.max_prefix_table_size) == (4000, 150)


@pytest.mark.parametrize("physical", [1, 2, 3])
@given(data=st.data())
def test_rdfm_reads_the_output_of_protobuf(physical, data):
    log = data.draw(logs(graphs=physical > 1, generalized=True))
    found, error = decode("jelly", jelly_proto.encode(log, physical))
    assert error is None
    assert_same(found, log)


@given(log=logs(generalized=True))
def test_frames_equal_the_bytes_that_protobuf_writes(log):
    """Field order and varints are canonical: parsing and serializing again gives the same bytes."""
    # Protobuf writes metadata after rows, but restart marks precede the rows.
    written = encode("jelly", log, generalized=True, rdf_star=True, restart_bytes=0)
    assert jelly_proto.delimited(jelly_proto.read_frames(written)) == written


def test_rdfm_and_protobuf_agree_on_namespaces_and_metadata():
    writer = jelly_proto.Writer(1, version=2)
    quad = (("iri", "http://e/s"), ("iri", "http://e/p"), ("iri", "http://e/o"), None)
    writer.message([quad], {"key": b"\x00\xff"}, {"e": "http://e/", "": "http://d/"})
    writer.message([], {"only": b""})
    writer.message([quad], None, {"e": "http://other/"})
    data = jelly_proto.delimited(writer.frames)
    assert_same(decoded("jelly", data), [[quad], [], [quad]])
    from rdfm import formats

    batch = formats.find("jelly").decode(data)
    assert [batch.metadata(at) for at in range(3)] == [{"key": b"\x00\xff"}, {"only": b""}, {}]
    first = {"e": "http://e/", "": "http://d/"}
    last = {"e": "http://other/", "": "http://d/"}
    assert [batch.namespaces(at) for at in range(3)] == [first, first, last]
    written = formats.find("jelly").encode(batch, namespaces=True, restart_bytes=0)
    frames = jelly_proto.read_frames(written)
    assert frames[0].rows[0].options.version == 2
    assert [dict(frame.metadata) for frame in frames] == [{"key": b"\x00\xff"}, {"only": b""}, {}]
    declared = [
        [row.namespace.name for row in frame.rows if row.HasField("namespace")] for frame in frames
    ]
    assert declared == [["e", ""], [], ["e"]]


def test_the_proto_file_has_the_published_numbers():
    """The numbers are those of pyjelly's classes, which are generated from the published file.

    The column layout, which is a draft, adds fields and values.
    """
    from google.protobuf import descriptor_pb2
    from pyjelly.jelly import rdf_pb2

    def numbers(descriptor):
        file = descriptor_pb2.FileDescriptorProto()
        descriptor.CopyToProto(file)
        fields = {
            (message.name, field.name): (field.number, field.type, field.label, field.type_name)
            for message in file.message_type
            for field in message.field
        }
        values = {value.name: value.number for enum in file.enum_type for value in enum.value}
        return file.package, fields, values

    ours = jelly_proto.classes().RdfStreamFrame.DESCRIPTOR.file
    package, fields, values = numbers(ours)
    published, published_fields, published_values = numbers(rdf_pb2.DESCRIPTOR)
    assert package == published
    assert published_fields.items() <= fields.items()
    assert published_values.items() <= values.items()
