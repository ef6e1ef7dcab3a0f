"""Jelly gRPC messages, compared with those of Google's protobuf and proto/grpc.proto."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jelly_proto import compiled

import rdfm
from rdfm.storage.jelly_wire import (
    MAX_FRAME_BYTES,
    StreamOptions,
    cut_frames,
    delimited,
    has_rows,
    is_marked,
    parse_subscribe,
    stream_options,
    subscribe_message,
    with_options,
)

PROTO = compiled("grpc.proto")
NUMBERS = st.integers(0, 2**32 - 1)
OPTIONS = st.builds(
    StreamOptions,
    st.text(st.characters(exclude_categories=["Cs"])),
    st.integers(0, 3),
    st.booleans(),
    st.booleans(),
    NUMBERS,
    NUMBERS,
    NUMBERS,
    st.sampled_from([0, 1, 2, 3, 4, 13, 14, 114]),
    NUMBERS,
    st.integers(0, 1),
)


def protobuf_options(options):
    return PROTO.RdfStreamOptions(
        stream_name=options.stream_name,
        physical_type=options.physical_type,
        generalized_statements=options.generalized,
        rdf_star=options.rdf_star,
        max_name_table_size=options.name_table,
        max_prefix_table_size=options.prefix_table,
        max_datatype_table_size=options.datatype_table,
        logical_type=options.logical_type,
        version=options.version,
        stream_type=options.stream_type,
    )


@given(OPTIONS)
def test_options_equal_those_of_protobuf(options):
    frame = PROTO.RdfStreamFrame()
    frame.rows.add().options.CopyFrom(protobuf_options(options))
    assert stream_options(frame.SerializeToString()) == options
    assert PROTO.RdfStreamFrame.FromString(with_options(b"", options)) == frame


@given(st.text(st.characters(exclude_categories=["Cs"])), st.none() | OPTIONS)
def test_subscriptions_equal_those_of_protobuf(topic, options):
    subscription = PROTO.RdfStreamSubscribe(topic=topic)
    if options is not None:
        subscription.requested_options.CopyFrom(protobuf_options(options))
    assert PROTO.RdfStreamSubscribe.FromString(subscribe_message(topic, options)) == subscription
    expected = None if options == StreamOptions() else options
    assert parse_subscribe(subscription.SerializeToString()) == (topic, expected)


@given(OPTIONS, st.booleans())
def test_options_are_found_in_the_first_row(options, metadata):
    frame = PROTO.RdfStreamFrame()
    frame.rows.add().options.CopyFrom(protobuf_options(options))
    frame.rows.add().name.value = "n"
    if metadata:
        frame.metadata["key"] = b"value"
    assert stream_options(frame.SerializeToString()) == options


def test_other_rows_are_not_options():
    frame = PROTO.RdfStreamFrame()
    assert stream_options(b"") is None
    frame.metadata["key"] = b"value"
    assert stream_options(frame.SerializeToString()) is None
    frame.rows.add().name.value = "x" * 300
    assert stream_options(frame.SerializeToString()) is None
    frame.rows.add().options.version = 1
    assert stream_options(frame.SerializeToString()) is None


@given(st.lists(st.binary(max_size=300)), st.integers(0, 400))
def test_only_complete_frames_are_returned(frames, missing):
    data = b"".join(map(delimited, frames))
    truncated = data[: max(len(data) - missing, 0)]
    found, end, _ = cut_frames(truncated)
    assert found == frames[: len(found)]
    remaining, end_of_data, _ = cut_frames(data, end)
    assert found + remaining == frames
    assert end_of_data == len(data)


@pytest.mark.parametrize(
    "data",
    [
        b"\x0a\x05ab",  # shorter than its length
        b"\x0b",  # a group
        b"\x02",  # field 0
        b"\x78" + b"\xff" * 11,
        b"\x78\xff",
        b"\x08\x01",  # the name as a number
        b"\x0a\x01\xff",  # not UTF-8
    ],
)
def test_invalid_messages_are_rejected(data):
    row = b"\x0a" + delimited(data)
    with pytest.raises(ValueError):
        stream_options(b"\x0a" + delimited(row))
    with pytest.raises(ValueError):
        parse_subscribe(data)


@given(OPTIONS, st.lists(st.text(max_size=5), max_size=3), st.booleans())
def test_options_are_inserted_before_the_other_rows(options, names, metadata):
    frame = PROTO.RdfStreamFrame()
    for name in names:
        frame.rows.add().name.value = name
    if metadata:
        frame.metadata["key"] = b"value"
    assert has_rows(frame.SerializeToString()) == bool(names)
    encoded = with_options(frame.SerializeToString(), options)
    assert with_options(encoded, StreamOptions()) == encoded
    found = PROTO.RdfStreamFrame.FromString(encoded)
    assert found.rows.pop(0).options == protobuf_options(options)
    assert found == frame


def test_restart_marks_that_rdfm_writes_are_recognized(tmp_path):
    iri = rdfm.Iri("http://example.org/a")
    with rdfm.create_log(tmp_path / "a.jelly", restart_bytes=200) as log:
        for _ in range(200):
            log.write([rdfm.Quad(iri, iri, iri)])
    data = (tmp_path / "a.jelly").read_bytes()
    frames, _, _ = cut_frames(data)
    marked = [frame for frame in frames if is_marked(frame)]
    assert len(marked) == data.count(b"rdfm.restart") > 2
    assert all(stream_options(frame) is not None for frame in marked)
    assert not any(is_marked(frame + b"\x7a\x00") for frame in marked)


def varint(value):
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    return bytes([*encoded, value])


def test_a_frame_larger_than_the_limit_is_rejected():
    length_prefix = varint(MAX_FRAME_BYTES + 1)
    with pytest.raises(ValueError, match="at most 64 MiB"):
        cut_frames(length_prefix)
    # The frames before the oversized frame are returned first.
    frames_before = delimited(b"a") + delimited(b"b")
    assert cut_frames(frames_before + length_prefix) == ([b"a", b"b"], len(frames_before), 0)
    with pytest.raises(ValueError, match="at most 64 MiB"):
        cut_frames(frames_before + length_prefix, len(frames_before))


@given(st.binary(max_size=300), st.integers(0, 310))
def test_missing_bytes_of_a_frame_are_counted(frame, length):
    data = delimited(frame)
    truncated = data[:length]
    has_length = bool(truncated) and not (len(truncated) == 1 and truncated[0] >= 0x80)
    assert cut_frames(truncated)[2] == (max(len(data) - length, 0) if has_length else 0)
