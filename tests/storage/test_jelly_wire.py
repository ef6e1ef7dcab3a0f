"""Protocol messages, compared with Google's protobuf and proto/grpc.proto."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jelly_proto import compiled

from rdfm.storage.jelly_wire import (
    MAX_FRAME_BYTES,
    StreamOptions,
    WireError,
    cut_frames,
    delimited,
    parse_subscribe,
    stream_options,
    subscribe_message,
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
)


def message(options):
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
    )


@given(OPTIONS)
def test_options_equal_those_of_protobuf(options):
    assert StreamOptions.parse(message(options).SerializeToString()) == options
    assert PROTO.RdfStreamOptions.FromString(options.encode()) == message(options)


@given(st.text(st.characters(exclude_categories=["Cs"])), st.none() | OPTIONS)
def test_subscriptions_equal_those_of_protobuf(topic, options):
    wanted = PROTO.RdfStreamSubscribe(topic=topic)
    if options is not None:
        wanted.requested_options.CopyFrom(message(options))
    assert PROTO.RdfStreamSubscribe.FromString(subscribe_message(topic, options)) == wanted
    expected = None if options == StreamOptions() else options
    assert parse_subscribe(wanted.SerializeToString()) == (topic, expected)


@given(OPTIONS, st.booleans())
def test_options_are_found_in_the_first_row(options, metadata):
    frame = PROTO.RdfStreamFrame()
    frame.rows.add().options.CopyFrom(message(options))
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
    cut = data[: max(len(data) - missing, 0)]
    found, end = cut_frames(cut)
    assert found == frames[: len(found)]
    rest, done = cut_frames(data, end)
    assert found + rest == frames
    assert done == len(data)


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
def test_broken_messages_are_rejected(data):
    with pytest.raises(WireError):
        StreamOptions.parse(data)
    with pytest.raises(WireError):
        parse_subscribe(data)


def test_a_frame_larger_than_the_limit_is_rejected():
    head = delimited(b"")[:0] + (MAX_FRAME_BYTES + 1).to_bytes(4, "big")
    number = bytearray()
    value = int.from_bytes(head, "big")
    while value > 127:
        number.append(value & 127 | 128)
        value >>= 7
    with pytest.raises(WireError, match="at most 64 MiB"):
        cut_frames(bytes([*number, value]))
