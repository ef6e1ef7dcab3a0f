"""The EARL reports are valid RDF, and have one assertion for each test."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "tools"))

import earl
import pytest
import rdflib
import suites
from rdflib.namespace import RDF

EARL = rdflib.Namespace("http://www.w3.org/ns/earl#")
suites.path("conformance", "jelly")
suites.path("conformance", "messages")


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    command = [sys.executable, earl.__file__, folder]
    environment = suites.environment()
    subprocess.run(command, check=True, env=environment, capture_output=True)
    return {path.stem: rdflib.Graph().parse(path) for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("name", "expected"),
    [("jelly", {"passed": 87}), ("messages", {"passed": 20, "untested": 7})],
)
def test_a_report_has_one_assertion_for_each_test(name, expected, reports):
    graph = reports[name]
    assertions = set(graph.subjects(RDF.type, EARL.Assertion))
    assert len(set(graph.objects(None, EARL.test))) == len(assertions) == sum(expected.values())
    results = [graph.value(assertion, EARL.result) for assertion in assertions]
    found = Counter(str(graph.value(result, EARL.outcome)).split("#")[1] for result in results)
    assert found == expected
    for assertion in assertions:
        subject, asserter = (
            graph.value(assertion, EARL.subject),
            graph.value(assertion, EARL.assertedBy),
        )
        assert (subject, RDF.type, EARL.TestSubject) in graph
        assert (asserter, RDF.type, EARL.Assertor) in graph
        assert graph.value(assertion, EARL.mode) == EARL.automatic


def test_a_test_with_a_failed_case_is_failed(tmp_path):
    report = tmp_path / "report.xml"
    report.write_text(
        "<testsuites><testsuite>"
        '<testcase name="test_it[a]"/><testcase name="test_it[b]"><failure/></testcase>'
        '<testcase name="test_it[c]"><skipped/></testcase><testcase name="test_other"/>'
        "</testsuite></testsuites>"
    )
    results = earl.outcomes(report)
    assert results == {"a": "passed", "b": "failed", "c": "cantTell"}
    text = earl.turtle(
        {"a": "urn:1", "b": "urn:1", "c": "urn:2", "d": "urn:3"}, results, "2026-11-29"
    )
    graph = rdflib.Graph().parse(data=text, publicID="urn:report")
    outcome = {
        str(graph.value(assertion, EARL.test)): str(
            graph.value(graph.value(assertion, EARL.result), EARL.outcome)
        ).split("#")[1]
        for assertion in graph.subjects(RDF.type, EARL.Assertion)
    }
    assert outcome == {"urn:1": "failed", "urn:2": "cantTell", "urn:3": "untested"}
