"""Decoder and Encoder: buffers, options, errors, threads."""

import array
import mmap
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from support import NATIVE, option_text

from rdfm import _core, formats
from rdfm._core import Iri, MessageBatch, Quad
from rdfm.errors import DecodeError, EncodeError, OptionError, UnknownFormatError

LOG = b"<http://ex/a> <http://ex/b> <http://ex/c> .\n"
A = Iri("http://ex/a")


def quads(*pieces, make=formats.nq.Decoder):
    decoder = make()
    for piece in pieces:
        decoder.feed(piece)
    decoder.finish()
    found = []
    while (batch := decoder.next_batch()) is not None:
        found += [quad for message in batch for quad in message]
    return found


def test_any_contiguous_buffer_is_accepted(tmp_path):
    path = tmp_path / "log.nq"
    path.write_bytes(LOG)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        for piece in (
            LOG,
            bytearray(LOG),
            memoryview(LOG),
            memoryview(b"x" + LOG)[1:],
            array.array("b", LOG),
            mapped,
        ):
            assert len(quads(piece)) == 1
    assert len(quads(b"", LOG[:7], memoryview(LOG)[7:], bytearray())) == 1


def test_numpy_buffers_are_accepted():
    numpy = pytest.importorskip("numpy")
    bytes_ = numpy.frombuffer(LOG, dtype="u1")
    assert len(quads(bytes_)) == 1
    with pytest.raises(BufferError, match="contiguous"):
        quads(bytes_[::2])


def test_pieces_other_than_contiguous_buffers_are_rejected():
    with pytest.raises(BufferError, match="contiguous"):
        quads(memoryview(LOG)[::2])
    for piece in ("text", 3, None, [1]):
        with pytest.raises(TypeError, match="buffer"):
            quads(piece)


@pytest.mark.parametrize("name", NATIVE)
def test_every_format_has_its_codecs(name):
    spec = _core.format_spec(name)
    for make, options in ((_core.Decoder, spec["reads"]), (_core.Encoder, spec["writes"])):
        assert make(name).format == name
        with pytest.raises(OptionError) as caught:
            make(name, {"no_such": 1})
        known = str(caught.value).split("the options are ")[1].split(", ")
        assert known == [option["name"] for option in options]


def test_unknown_formats_are_rejected():
    for make in (_core.Decoder, _core.Encoder, _core.format_spec, _core.DelimiterCounter):
        with pytest.raises(UnknownFormatError, match="known: nt, nq, "):
            make("hdt")
    with pytest.raises(OptionError, match="trig logs cannot be split"):
        _core.DelimiterCounter("trig")


# Valid values that are empty or at a limit. Any valid value is used for the other options.
VALID_VALUES = {"max_depth": 100, "context": {}}
INVALID_VALUES = {
    "max_message_bytes": [0, -1, (3 << 30) + 1, 1 << 70, 1.5, True, "x"], "max_depth": [0, 101],
    "batch_messages": [0],
    "dialect": ["Comments", 3], "announced": [3, "\ud800"], "base": [3], "frames": ["flats", 3],
    "delimited": ["yes"], "prefixes": [3, {"a": 3}, {3: "a"}, [("a", "b")]], "physical_type": ["triple", 1],
    "framing": ["frames", 3], "flat": ["yes"], "values": [3],
    "logical_type": ["graph", 5, True], "jelly_version": [0, 4, "1.3"], "name_table": [-1, 1 << 40], "frame_rows": [0],
}  # fmt: skip


@pytest.mark.parametrize("name", NATIVE)
@pytest.mark.parametrize("side", ["read", "write"])
def test_options_are_checked(name, side):
    make = _core.Decoder if side == "read" else _core.Encoder
    spec = formats.find(name).spec
    for option, option_spec in spec.options(side).items():
        valid = spec.values(side, {option: option_text(option_spec)})
        make(name, {option: VALID_VALUES.get(option, valid[option])})
        make(name, {option: None})  # the same as omitting it
        for invalid in INVALID_VALUES.get(option, []):
            with pytest.raises(OptionError, match=f"^{option} must be "):
                make(name, {option: invalid})


@pytest.mark.parametrize("name", NATIVE)
@pytest.mark.parametrize("option", ["batch_quads", "batch_bytes"])
def test_internal_options_are_not_public(name, option):
    _core.Decoder(name, {option: 1})
    with pytest.raises(OptionError, match=f"there is no option '{option}'"):
        formats.find(name).Decoder(**{option: 1})


def test_contradictory_options_are_rejected():
    with pytest.raises(OptionError, match=r'flat .*framing="rows"'):
        formats.rdf_protobuf.Encoder(flat=True, framing="messages")


def test_options_that_are_detected_may_be_none():
    formats.rdf_protobuf.Decoder(framing=None)
    formats.rdf_protobuf.Encoder(framing=None)
    formats.nq.Decoder(dialect=None, announced=None)
    formats.jelly.Decoder(delimited=None)


def test_a_decode_error_has_all_attributes():
    decoder = formats.nq.Decoder()
    decoder.feed(LOG + b"<x> y")
    decoder.finish()
    errors = []
    for _ in range(4):
        try:
            decoder.next_batch()
        except DecodeError as error:
            errors.append(error)
    assert len(errors) >= 2
    error = errors[0]
    assert str(error) == str(errors[1])
    assert (error.format, error.line, error.message_index) == ("nq", 2, 0)
    assert error.byte_offset >= len(LOG)
    assert (error.frame, error.row, error.source) == (None, None, None)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert str(error).startswith(
        f"nq: {error.reason}; lenient=True accepts relative ones "
        f"(line 2, column {error.column}, byte {error.byte_offset}, "
    )


def test_an_encode_error_contains_the_completed_output():
    batch = MessageBatch.from_messages([[Quad(A, A, A)], [Quad(A, A, A)], [Quad(A, A, A, A)]])
    encoder = formats.nt.Encoder()
    with pytest.raises(EncodeError, match="merge_graphs") as caught:
        encoder.encode(batch)
    assert caught.value.message_index == 2
    assert caught.value.format == "nt"
    assert caught.value.completed == formats.nt.Encoder().encode(batch.slice(0, 2))
    assert pickle.loads(pickle.dumps(caught.value)).completed == caught.value.completed


def test_decoded_jelly_options_are_valid_encoder_options():
    options = {
        "stream_name": "s", "physical_type": "triples", "logical_type": "graphs", "generalized": True,
        "rdf_star": True, "name_table": 16, "prefix_table": 0, "datatype_table": 8, "jelly_version": 1,
    }  # fmt: skip
    data = bytearray()
    encoder = formats.jelly.Encoder(**options)
    data += encoder.encode(MessageBatch.from_messages([[Quad(A, A, A)]]))
    data += encoder.finish()
    decoder = formats.jelly.Decoder()
    assert "options" not in decoder.header()
    decoder.feed(data)
    decoder.finish()
    decoder.next_batch()
    assert decoder.header()["options"] == options
    formats.jelly.Encoder(**decoder.header()["options"])


def test_the_logical_type_follows_from_other_options():
    def logical_type(**options):
        encoder = formats.jelly.Encoder(**options)
        data = encoder.encode(MessageBatch.from_messages([[Quad(A, A, A)]])) + encoder.finish()
        decoder = formats.jelly.Decoder()
        decoder.feed(data)
        decoder.finish()
        decoder.next_batch()
        return decoder.header()["options"]["logical_type"]

    assert logical_type() == "datasets"
    assert logical_type(physical_type="triples") == "graphs"
    assert logical_type(physical_type="triples", frames="flat") == "flat_triples"
    assert logical_type(frames="flat") == "flat_quads"
    assert logical_type(physical_type="triples", logical_type=13) == "subject_graphs"


def test_a_decoder_used_in_two_threads_works_or_raises_an_error():
    decoder = formats.nq.Decoder()
    errors = []

    def work():
        for _ in range(200):
            try:
                decoder.feed(LOG * 500)
                decoder.next_batch()
            except RuntimeError as error:
                errors.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all("another thread" in error for error in errors)


def test_encode_view_returns_the_same_bytes_as_encode():
    batches = [MessageBatch.from_messages([[Quad(A, A, A)] * count]) for count in (1, 0, 9, 3)]
    encoder, view_encoder = formats.nq.Encoder(), formats.nq.Encoder()
    views = [view_encoder.encode_view(batch) for batch in batches]
    assert [view.tobytes() for view in views] == [encoder.encode(batch) for batch in batches]
    assert all(view.readonly for view in views)
    with pytest.raises(EncodeError) as caught:
        formats.nt.Encoder().encode_view(MessageBatch.from_messages([[Quad(A, A, A, A)]]))
    assert caught.value.completed == b""


def test_encoding_does_not_depend_on_batch_sizes():
    batch = MessageBatch.from_messages([[Quad(A, A, A)], [], [Quad(A, A, A)] * 2])
    encoder = formats.nq.Encoder()
    expected = encoder.encode(batch) + encoder.finish()
    slice_encoder = formats.nq.Encoder()
    separate = (
        b"".join(slice_encoder.encode(batch.slice(at, at + 1)) for at in range(3))
        + slice_encoder.finish()
    )
    assert separate == expected


@pytest.mark.skipif(
    not Path("/proc/self/task").exists(), reason="needs /proc/self/task to count threads"
)
def test_importing_does_not_start_threads():
    code = "import os, rdfm._core; print(len(os.listdir('/proc/self/task')))"
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert process.stdout == "1\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_decoder_continues_after_a_fork():
    code = """
import os
from rdfm._core import Decoder
decoder = Decoder("nq")
decoder.feed(b"<http://ex/a> <http://ex/b> <http://ex/c> .\\n" * 3)
child = os.fork()
decoder.finish()
quads = sum(batch.quad_count for batch in iter(decoder.next_batch, None))
if child == 0:
    os._exit(quads)
print(quads, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert process.stdout == "3 3\n"
