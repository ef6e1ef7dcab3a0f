"""Jelly-Patch compared with Google's protobuf and the row semantics of `jelly_patch_proto`."""

import jelly_patch_proto
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jelly_patch_proto import FLAT, FRAME, PUNCTUATED, QUADS, TRIPLES, Writer, delimited
from patches import decode, encode, patches

STREAMS = {"frame": FRAME, "flat": FLAT, "punctuated": PUNCTUATED}
ALL_FEATURES = {"generalized": True, "rdf_star": True}


@pytest.mark.parametrize("statements", ["triples", "quads"])
@pytest.mark.parametrize("stream", STREAMS)
@given(data=st.data())
def test_protobuf_reads_the_output_of_rdfm(stream, statements, data):
    log = data.draw(patches(graphs=statements == "quads"))
    if stream == "flat":
        log = log[:1]
    # A generalized statement may need many lookup entries.
    small_tables = {"name_table": 32, "prefix_table": 32, "datatype_table": 32, "frame_rows": 3}
    for options in ({}, small_tables):
        written = encode(
            log, stream_type=stream, statement_type=statements, **ALL_FEATURES, **options
        )
        assert jelly_patch_proto.decode(written) == log
        # Field order and varints are canonical.
        assert delimited(jelly_patch_proto.read_frames(written)) == written
        if log:
            first = jelly_patch_proto.read_frames(written)[0].rows[0].options
            assert first.stream_type == STREAMS[stream]
            assert first.statement_type == (TRIPLES if statements == "triples" else QUADS)
            assert first.version == 1
            sizes = (first.max_name_table_size, first.max_prefix_table_size)
            assert sizes == ((32, 32) if options else (4000, 150))
    if len(log) == 1 or stream == "punctuated":
        undelimited = encode(
            log, stream_type=stream, statement_type=statements, delimited=False, **ALL_FEATURES
        )
        assert not log or jelly_patch_proto.decode(undelimited, undelimited=True) == log


@pytest.mark.parametrize("short", [False, True])
@pytest.mark.parametrize("statements", [TRIPLES, QUADS])
@pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS)
@given(data=st.data())
def test_rdfm_reads_the_output_of_protobuf(stream, statements, short, data):
    log = data.draw(patches(graphs=statements == QUADS))
    if stream == FLAT:
        log = log[:1]
    rows = None if stream == FRAME else data.draw(st.sampled_from([None, 1, 5]))
    writer = Writer(stream, statements, short=short)
    for patch in log:
        writer.patch(patch, rows)
    if writer.rows:
        writer.end_frame()
    written = delimited(writer.frames)
    for size in (len(written) + 1, 7):
        assert decode(written, size) == log


@given(log=patches(graphs=True))
def test_patches_are_read_back(log):
    written = encode(log, statement_type="quads", **ALL_FEATURES)
    assert decode(written, len(written) + 1) == log
