"""The W3C YAML-LD suite: quads and errors."""

import json

import pytest
import yaml
from nquads import isomorphic, read_quads
from suites import w3c_files
from support import decode

ARCHIVE = "w3c-yaml-ld-tests.tar.gz"

# Cases whose results differ from the suite, with the reason.
DEVIATIONS = {
    "#cir-scalar-i18n-1-positive": "the extended profile: tags are languages",
    "#cir-scalar-other-1-positive": "the extended profile: tags are datatypes",
    "#cir-scalar-other-2-positive": "the extended profile: tags are datatypes",
}


def of_kind(kind):
    """Yields the cases of a kind: name, test, and the suite's files."""
    files = w3c_files(ARCHIVE)
    for test in json.loads(files["manifest.jsonld"])["sequence"]:
        if f"jld:{kind}" in test["@type"] and test["input"].endswith(".yamlld"):
            yield test["@id"], test, files


def test_invalid_yaml_ld_is_an_error():
    count = 0
    for name, test, files in of_kind("NegativeEvaluationTest"):
        _, error = decode("yamlld", files[test["input"]])
        assert error, name
        count += 1
    assert count >= 12


def test_quads_equal_those_of_the_suite():
    count = 0
    for name, test, files in of_kind("ToRDFTest"):
        messages, error = decode("yamlld", files[test["input"]])
        if name in DEVIATIONS:
            assert "the tag" in error, (name, DEVIATIONS[name])
            continue
        assert error is None, name
        expected = read_quads(files[test["expect"]].decode())
        assert isomorphic(messages[0], expected), name
        count += 1
    assert count >= 2


@pytest.fixture(scope="session")
def contexts(tmp_path_factory):
    """Paths of the suite's contexts, converted to JSON, by URL."""
    folder, found = tmp_path_factory.mktemp("yaml-ld"), {}
    for name, data in w3c_files(ARCHIVE).items():
        if name.rpartition("/")[2].startswith("context."):
            path = folder / name.replace("/", "_")
            document = yaml.safe_load(data)
            # One file lacks the required @context key around the context.
            document = document if "@context" in document else {"@context": document}
            path.write_text(json.dumps(document))
            found[f"http://e/{name}"] = str(path)
    return found


def test_expanded_documents_have_the_same_dataset(contexts):
    """Compares the dataset of each document with that of its expanded JSON-LD in the suite."""

    def read(name, data):
        url = f"http://e/{name}"
        messages, error = decode("yamlld", data, base=url, context=contexts, lenient=True)
        assert error is None, (name, error)
        return messages

    count = 0
    for name, test, files in of_kind("ExpandTest"):
        if "jld:NegativeEvaluationTest" in test["@type"] or name in DEVIATIONS:
            continue
        messages = read(test["input"], files[test["input"]])
        if test.get("option", {}).get("extractAllScripts") is False:
            messages = messages[:1]
        expected = read(test["input"], files[test["expect"]])
        found = [quad for message in messages for quad in message]
        expected_quads = [quad for message in expected for quad in message]
        assert isomorphic(found, expected_quads), (name, found, expected_quads)
        count += bool(expected_quads)
    assert count >= 20
