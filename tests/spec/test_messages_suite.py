"""Test cases of RDF Messages in both dialects, through the Python API."""

import json

import pytest
import suites
from nquads import isomorphic, read_quads
from support import NATIVE, decode, decoded

from rdfm import formats

SUITE = suites.path("conformance", "messages")
SUITE_DATA = json.loads((SUITE / "manifest.json").read_text("utf-8"))
ALL_CASES = SUITE_DATA["cases"]
SUPPORTED = [case for case in ALL_CASES if case.get("format") in NATIVE]
CASES = [case for case in SUPPORTED if not case["disputed"] and case["kind"] != "discovery"]


def test_the_suite_is_complete():
    assert len(ALL_CASES) == 77
    assert len(CASES) == 69


def options(case):
    arguments = {}
    if case["format"] == "ndjsonld":
        files = SUITE_DATA["contexts"].items()
        return {"context": {url: str(SUITE / name) for url, name in files}}
    if case["dialect"] == "directive":
        arguments["dialect"] = "directive"
    if "announce" in case:
        arguments["announced"] = case["announce"]
    return arguments


def assert_messages(found, texts):
    assert len(found) == len(texts)
    for message, text in zip(found, texts, strict=True):
        assert isomorphic(message, read_quads(text))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_case_is_read_as_expected(case):
    data = (SUITE / case["input"]).read_bytes()
    name = case["format"]
    messages, error = decode(name, data, **({} if name == "jelly" else options(case)))
    expected = case["expected"]
    if expected.get("error"):
        assert error is not None
        assert_messages(messages, expected["delivered_messages"])
        return
    assert error is None
    assert_messages(messages, expected["messages"])
    for via in case.get("via", ()):
        written = formats.find(via).encode(formats.find(name).decode(data, **options(case)))
        assert_messages(decoded(via, written), expected["messages"])
