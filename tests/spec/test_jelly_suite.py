"""The conformance suite of Jelly-RDF, through the Python API."""

import json

import jelly_proto
import pytest
import suites
from nquads import read_quads
from support import assert_same, decode

import rdfm
from rdfm import formats

SUITE = suites.path("conformance", "jelly")
CASES = json.loads((SUITE / "manifest.json").read_text("utf-8"))["cases"]


def test_the_suite_is_complete():
    assert len(CASES) == 87


def expected(case):
    return [read_quads((SUITE / name).read_text("utf-8")) for name in case["outputs"]]


def cases(direction):
    return [pytest.param(case, id=case["id"]) for case in CASES if case["direction"] == direction]


@pytest.mark.parametrize("case", cases("from_jelly"))
def test_a_case_is_read_as_expected(case):
    (name,) = case["inputs"]
    # The suite compares frame by frame, regardless of the logical type.
    found, error = decode("jelly", (SUITE / name).read_bytes(), frames="message")
    if case["expected"] == "negative":
        assert error is not None
        assert error.startswith("jelly: ")
    else:
        assert error is None
        assert_same(found, expected(case))


def write(case):
    """Writes the inputs, one message each, with the options of another Jelly log."""
    decoder = formats.find("jelly").Decoder()
    decoder.feed((SUITE / case["options"]).read_bytes())
    decoder.finish()
    while decoder.next_batch() is not None:
        pass
    texts = [(SUITE / name).read_bytes() for name in case["inputs"]]
    batches = [formats.find("nq").decode(text, generalized=True) for text in texts]
    messages = [batch.quads(0) if len(batch) else [] for batch in batches]
    batch = rdfm.MessageBatch.from_messages(messages)
    return formats.find("jelly").encode(batch, **decoder.header()["options"])


@pytest.mark.parametrize("case", cases("to_jelly"))
def test_a_case_is_written_as_expected(case):
    if case["expected"] == "negative":
        with pytest.raises((rdfm.DecodeError, rdfm.EncodeError, rdfm.OptionError), match="table"):
            write(case)
        return
    written = write(case)
    assert_same(jelly_proto.decode(written), expected(case))
    options = jelly_proto.read_frames((SUITE / case["options"]).read_bytes())[0].rows[0].options
    assert jelly_proto.read_frames(written)[0].rows[0].options == options
