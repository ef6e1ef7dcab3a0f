"""The conformance suite of Jelly-RDF, through the Python API."""

import json

import jelly_proto
import pytest
from nquads import read_quads
from support import SHARED, assert_same, decode, needs_shared

import rdfm
from rdfm import formats

SUITE = SHARED / "conformance" / "jelly"
MANIFEST = SUITE / "manifest.json"
CASES = json.loads(MANIFEST.read_text("utf-8"))["cases"] if MANIFEST.exists() else []
pytestmark = needs_shared("conformance", "jelly")


def test_the_suite_is_whole():
    assert len(CASES) == 87


def wanted(case):
    return [read_quads((SUITE / name).read_text("utf-8")) for name in case["outputs"]]


def ids(direction):
    return [pytest.param(case, id=case["id"]) for case in CASES if case["direction"] == direction]


@pytest.mark.parametrize("case", ids("from_jelly"))
def test_reading(case):
    (name,) = case["inputs"]
    found, error = decode("jelly", (SUITE / name).read_bytes())
    if case["expected"] == "negative":
        assert error is not None
        assert error.startswith("jelly: ")
    else:
        assert error is None
        assert_same(found, wanted(case))


@pytest.mark.parametrize("case", ids("to_jelly"))
def test_writing(case):
    options = (SUITE / case["options"]).read_bytes()
    decoder = formats.find("jelly").Decoder()
    decoder.feed(options)
    decoder.finish()
    while decoder.next_batch() is not None:
        pass
    jelly = decoder.header()["jelly"]
    quads = [
        list(rdfm.formats.find("nq").decode((SUITE / name).read_bytes(), generalized=True).quads(0))
        if (SUITE / name).read_text("utf-8").strip()
        else []
        for name in case["inputs"]
    ]

    def write():
        return formats.find("jelly").encode(rdfm.MessageBatch.from_messages(quads), **jelly)

    if case["expected"] == "negative":
        with pytest.raises((rdfm.EncodeError, rdfm.OptionError)):
            write()
        return
    written = write()
    assert_same(jelly_proto.decode(written), wanted(case))
    first = jelly_proto.read_frames(written)[0].rows[0].options
    assert first == jelly_proto.read_frames(options)[0].rows[0].options
