"""The W3C's YAML-LD suite: its quads, and its errors."""

import json
import tarfile

import pytest
from nquads import isomorphic, read_quads
from support import SHARED, decode, needs_shared

ARCHIVE = ("conformance", "w3c", "w3c-yaml-ld-tests.tar.gz")

# Not read as the suite has it, and why.
APART = {
    "#cir-scalar-other-2-positive": "the extended profile: tags are datatypes",
}


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    folder = tmp_path_factory.mktemp("yaml-ld")
    with tarfile.open(SHARED.joinpath(*ARCHIVE)) as archive:
        archive.extractall(folder, filter="data")
    tests = json.loads((folder / "manifest.jsonld").read_text())["sequence"]
    return folder, {test["@id"]: test for test in tests}


def of_kind(suite, kind):
    folder, tests = suite
    for name, test in tests.items():
        if f"jld:{kind}" in test["@type"] and test["input"].endswith(".yamlld"):
            yield name, test, folder


@needs_shared(*ARCHIVE)
def test_what_is_no_yaml_ld_is_an_error(suite):
    count = 0
    for name, test, folder in of_kind(suite, "NegativeEvaluationTest"):
        _, error = decode("yamlld", (folder / test["input"]).read_bytes())
        assert error, name
        count += 1
    assert count >= 12


@needs_shared(*ARCHIVE)
def test_quads_are_those_of_the_suite(suite):
    count = 0
    for name, test, folder in of_kind(suite, "ToRDFTest"):
        messages, error = decode("yamlld", (folder / test["input"]).read_bytes())
        if name in APART:
            assert "the tag" in error, (name, APART[name])
            continue
        assert error is None, name
        wanted = read_quads((folder / test["expect"]).read_text())
        assert isomorphic(messages[0], wanted), name
        count += 1
    assert count >= 2
