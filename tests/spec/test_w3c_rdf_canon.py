"""W3C RDF Dataset Canonicalization suite (RDFC-1.0): 84 of its 86 tests, those with SHA-256."""

import json

import pytest
from suites import w3c_files

from rdfm import LimitError, Message, open_log
from rdfm.compare.canonical import canonical_labels

# rdfm does not support other hash algorithms than SHA-256.
WITH_SHA_384 = {"#test075c", "#test075m"}


def files():
    """Returns the suite's files by their path below `tests`."""
    return w3c_files("w3c-rdf-canon.tar.gz", "tests/")


def entries():
    """Yields the tests of the manifest."""
    for entry in json.loads(files()["manifest.jsonld"])["entries"]:
        assert ("hashAlgorithm" in entry) == (entry["id"] in WITH_SHA_384)
        if entry["id"] not in WITH_SHA_384:
            yield pytest.param(entry, id=entry["id"].lstrip("#"))


CASES = list(entries())


def test_the_suite_is_complete():
    assert len(CASES) == 84


@pytest.mark.parametrize("entry", CASES)
def test_a_dataset_has_the_expected_canonical_form(entry):
    with open_log(files()[entry["action"]], "nq") as log:
        message = next(iter(log), Message([]))  # test 1 is empty
    kind = entry["type"].removeprefix("rdfc:")
    if kind == "RDFC10NegativeEvalTest":
        with pytest.raises(LimitError, match="canonical labels need more than"):
            message.canonical()
        return
    result = files()[entry["result"]].decode()
    if kind == "RDFC10MapTest":
        assert canonical_labels(message) == json.loads(result)
    else:
        assert kind == "RDFC10EvalTest"
        assert message.canonical() == result
