"""The W3C's YAML-LD suite: its quads, and its errors."""

import json

from nquads import isomorphic, read_quads
from support import decode, needs_shared, w3c_files

ARCHIVE = ("conformance", "w3c", "w3c-yaml-ld-tests.tar.gz")

# Not read as the suite has it, and why.
APART = {
    "#cir-scalar-other-2-positive": "the extended profile: tags are datatypes",
}


def of_kind(kind):
    """The cases of a kind: name, test, and the suite's files."""
    files = w3c_files(ARCHIVE[-1])
    for test in json.loads(files["manifest.jsonld"])["sequence"]:
        if f"jld:{kind}" in test["@type"] and test["input"].endswith(".yamlld"):
            yield test["@id"], test, files


@needs_shared(*ARCHIVE)
def test_what_is_no_yaml_ld_is_an_error():
    count = 0
    for name, test, files in of_kind("NegativeEvaluationTest"):
        _, error = decode("yamlld", files[test["input"]])
        assert error, name
        count += 1
    assert count >= 12


@needs_shared(*ARCHIVE)
def test_quads_are_those_of_the_suite():
    count = 0
    for name, test, files in of_kind("ToRDFTest"):
        messages, error = decode("yamlld", files[test["input"]])
        if name in APART:
            assert "the tag" in error, (name, APART[name])
            continue
        assert error is None, name
        wanted = read_quads(files[test["expect"]].decode())
        assert isomorphic(messages[0], wanted), name
        count += 1
    assert count >= 2
