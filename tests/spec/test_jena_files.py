"""Jelly files written by Jelly-JVM, some of them bad on purpose."""

import json
from contextlib import suppress

import pytest
from nquads import map_terms, read_quads, relabelled
from support import SHARED, decode, needs_shared

FOLDER = SHARED / "conformance" / "jena"
MANIFEST = FOLDER / "manifest.json"
FILES = json.loads(MANIFEST.read_text("utf-8"))["files"] if MANIFEST.exists() else []
JELLY = [entry for entry in FILES if entry["format"] == "jelly"]
DOUBLE = "http://www.w3.org/2001/XMLSchema#double"
pytestmark = needs_shared("conformance", "jena")


def test_the_folder_is_whole():
    assert len(JELLY) == 21


def by_value(quads):
    """Java writes doubles in another way, and its tags in another case."""

    def value(term):
        if term[0] != "literal":
            return term
        _, lexical, language, direction, datatype = term
        if datatype == DOUBLE:
            with suppress(ValueError):
                lexical = repr(float(lexical.replace("INF", "inf")))
        return ("literal", lexical, language and language.lower(), direction, datatype)

    return [map_terms(quad, value) for quad in quads]


@pytest.mark.parametrize("entry", JELLY, ids=lambda entry: entry["file"])
def test_file(entry):
    messages, error = decode("jelly", (FOLDER / entry["file"]).read_bytes())
    if "error" in entry:
        assert error is not None
    else:
        assert error is None
        assert [len(message) for message in messages] == entry["frames"]
    if "expected" in entry:
        expected = by_value(read_quads((FOLDER / entry["expected"]).read_text("utf-8")))
        found = by_value(quad for message in messages for quad in message)
        assert relabelled(found) == relabelled(expected)
