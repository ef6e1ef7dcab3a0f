"""The W3C's YAML-LD suite: its quads, and its errors."""

import json

import pytest
import yaml
from nquads import isomorphic, read_quads
from suites import w3c_files
from support import decode

ARCHIVE = "w3c-yaml-ld-tests.tar.gz"

# Not read as the suite has it, and why.
APART = {
    "#cir-scalar-i18n-1-positive": "the extended profile: tags are languages",
    "#cir-scalar-other-1-positive": "the extended profile: tags are datatypes",
    "#cir-scalar-other-2-positive": "the extended profile: tags are datatypes",
}


def of_kind(kind):
    """The cases of a kind: name, test, and the suite's files."""
    files = w3c_files(ARCHIVE)
    for test in json.loads(files["manifest.jsonld"])["sequence"]:
        if f"jld:{kind}" in test["@type"] and test["input"].endswith(".yamlld"):
            yield test["@id"], test, files


def test_what_is_no_yaml_ld_is_an_error():
    count = 0
    for name, test, files in of_kind("NegativeEvaluationTest"):
        _, error = decode("yamlld", files[test["input"]])
        assert error, name
        count += 1
    assert count >= 12


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


@pytest.fixture(scope="session")
def contexts(tmp_path_factory):
    """The suite's contexts, in JSON, by the URLs that its documents resolve."""
    folder, found = tmp_path_factory.mktemp("yaml-ld"), {}
    for name, data in w3c_files(ARCHIVE).items():
        if name.rpartition("/")[2].startswith("context."):
            path = folder / name.replace("/", "_")
            document = yaml.safe_load(data)
            # One of them is the context itself, where a document that holds it is due.
            document = document if "@context" in document else {"@context": document}
            path.write_text(json.dumps(document))
            found[f"http://e/{name}"] = str(path)
    return found


def test_what_is_expanded_is_the_same_dataset(contexts):
    """The suite says what JSON-LD a document expands to; both are read, and say the same."""

    def read(name, data):
        url = f"http://e/{name}"
        messages, error = decode("yamlld", data, base=url, context=contexts, lenient=True)
        assert error is None, (name, error)
        return messages

    count = 0
    for name, test, files in of_kind("ExpandTest"):
        if "jld:NegativeEvaluationTest" in test["@type"] or name in APART:
            continue
        messages = read(test["input"], files[test["input"]])
        if test.get("option", {}).get("extractAllScripts") is False:
            messages = messages[:1]
        wanted = read(test["input"], files[test["expect"]])
        found = [quad for message in messages for quad in message]
        due = [quad for message in wanted for quad in message]
        assert isomorphic(found, due), (name, found, due)
        count += bool(due)
    assert count >= 20
