"""Jelly-Patch files of Jelly-JVM."""

import json
import re

import jelly_patch_proto
import pytest
import suites
from patches import decode
from support import PIECES

import rdfm
from rdfm import formats

FOLDER = suites.path("conformance", "jena")
FILES = sorted(FOLDER.rglob("*.jellyp"))
ENTRIES = json.loads((FOLDER / "manifest.json").read_text("utf-8"))["files"]
UNDELIMITED = {entry["file"] for entry in ENTRIES if entry.get("delimited") is False}
# Jelly-JVM reads some of these files, but they violate the specification.
ERRORS = {
    "jellypatch-error-no-options.jellyp": "the log begins with a transaction_start row",
    "jellypatch-error-stream-type-unspecified.jellyp": "stream type 0 is not allowed",
}
XSD = "http://www.w3.org/2001/XMLSchema#"


def translated(line: str) -> str:
    """Converts an RDF Patch line of Jena to the form of `jelly_patch_proto.line`."""
    if line.startswith("Z"):
        return ""
    strings = r'"(?:[^"\\]|\\.)*"(?:@\S+|\^\^<[^>]*>)?'

    def converted(match: re.Match[str]) -> str:
        found = match[0]
        if found.startswith("<_:"):
            return f"_:{found[3:-1]}"
        if re.fullmatch(r"\d+(\.\d+)?", found):
            return f'"{found}"^^<{XSD}{"decimal" if "." in found else "integer"}>'
        return found

    line = re.sub(rf"{strings}|<_:[^>]*>|(?<= )\d+(?:\.\d+)?(?= )", converted, line)
    line = re.sub(r"^H (\S+)", r'H "\1"', line)
    return re.sub(r'^(PA "[^"]*") "([^"]*)"', r"\1 <\2>", line)


def test_the_folder_is_complete():
    assert len(FILES) == 10


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_of_jelly_jvm_is_read_as_expected(path):
    data = path.read_bytes()
    if path.name in ERRORS:
        with pytest.raises(rdfm.DecodeError, match=ERRORS[path.name]):
            decode(data, len(data))
        return
    expected = path.with_suffix(".rdfp").read_text("utf-8").splitlines(keepends=True)
    expected_text = "".join(map(translated, expected))
    found = decode(data, len(data))
    assert (
        "".join(map(jelly_patch_proto.line, (each for patch in found for each in patch)))
        == expected_text
    )
    # An independent reader agrees, including the boundaries.
    assert jelly_patch_proto.decode(data, undelimited=path.name in UNDELIMITED) == found
    for size in PIECES:
        assert decode(data, size) == found
    # A log encoded with the options of the file contains the same patches.
    decoder = formats.find("jelly-patch").Decoder()
    decoder.feed(data)
    decoder.finish()
    batches = list(iter(decoder.next_batch, None))
    options = decoder.header()["options"]
    (batch,) = batches
    encoded = formats.find("jelly-patch").encode(batch, **options)
    assert jelly_patch_proto.decode(encoded) == found
