"""Writes EARL reports of the conformance suites of Jelly-RDF and RDF Messages, as Turtle.

In: the results of the tests in tests/spec, which this runs, and the manifests of the suites in
RDFM_SHARED. Out: `jelly.ttl` and `messages.ttl` in the folder FOLDER. A test of RDF Messages that has
cases in several formats is passed if all of its cases are. A test without a case that rdfm runs, such
as one of Kafka, is untested.
"""

import datetime
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping
from pathlib import Path

import rdfm

ROOT = Path(__file__).resolve().parent.parent
JELLY = "https://w3id.org/jelly/dev/tests/rdf/"
MESSAGES = "https://w3c-cg.github.io/rsp/spec/messages-tests#"
# The worst outcome of the cases is that of the test.
OUTCOMES = ("failed", "cantTell", "passed", "untested")
HEAD = """\
@prefix dct: <http://purl.org/dc/terms/> .
@prefix doap: <http://usefulinc.com/ns/doap#> .
@prefix earl: <http://www.w3.org/ns/earl#> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .

<> foaf:primaryTopic <#rdfm> ;
    foaf:maker <#assertor> ;
    dct:issued "{date}"^^xsd:date .

<#rdfm> a doap:Project, earl:Software, earl:TestSubject ;
    doap:name "rdfm" ;
    doap:shortdesc "Converts RDF message logs between formats."@en ;
    doap:programming-language "Rust", "Python" ;
    doap:developer <#assertor> ;
    doap:release [ doap:name "rdfm {version}" ; doap:revision "{version}" ] .

<#assertor> a earl:Assertor, foaf:Group ;
    foaf:name "The rdfm authors" .
"""
ASSERTION = """
[] a earl:Assertion ;
    earl:assertedBy <#assertor> ;
    earl:subject <#rdfm> ;
    earl:test <{test}> ;
    earl:mode earl:automatic ;
    earl:result [ a earl:TestResult ; earl:outcome earl:{outcome} ; dct:date "{date}"^^xsd:date ] .
"""


def tests_by_case(shared: Path) -> dict[str, dict[str, str]]:
    """The IRI of the test of each case, by report and id. Cases of drafts have no test."""
    cases = {
        suite: json.loads((shared / "conformance" / suite / "manifest.json").read_text("utf-8"))
        for suite in ("jelly", "messages")
    }
    return {
        "jelly": {case["id"]: JELLY + case["id"] for case in cases["jelly"]["cases"]},
        "messages": {
            case["id"]: MESSAGES + anchor
            for case in cases["messages"]["cases"]
            for _, found, anchor in [case["source"].partition("messages-tests#")]
            if found
        },
    }


def outcomes(report: Path) -> dict[str, str]:
    """The outcome of each case, by id, from a report of pytest in the format of JUnit."""
    found = {}
    for case in ET.parse(report).iter("testcase"):
        _, bracket, rest = case.get("name", "").partition("[")
        if bracket:
            kinds = {child.tag for child in case}
            failed = "failed" if kinds & {"failure", "error"} else "passed"
            found[rest.removesuffix("]")] = "cantTell" if "skipped" in kinds else failed
    return found


def turtle(tests: Mapping[str, str], results: Mapping[str, str], date: str) -> str:
    """The report of one suite."""
    by_test: dict[str, str] = {}
    for case, test in tests.items():
        both = by_test.get(test, "untested"), results.get(case, "untested")
        by_test[test] = min(both, key=OUTCOMES.index)
    parts = [HEAD.format(date=date, version=rdfm.__version__)]
    parts += [
        ASSERTION.format(test=test, outcome=outcome, date=date) for test, outcome in by_test.items()
    ]
    return "".join(parts)


def run_tests(names: Iterable[str]) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        files = [f"tests/spec/test_{name}_suite.py" for name in names]
        options = ["--quiet", "-p", "no:cacheprovider", f"--junitxml={report}"]
        command = [sys.executable, "-m", "pytest", *options, *files]
        subprocess.run(command, cwd=ROOT, stdout=sys.stderr)  # failed tests are part of the report
        if not report.exists():
            raise SystemExit("the tests did not run")
        return outcomes(report)


def main() -> None:
    if len(sys.argv) != 2 or "RDFM_SHARED" not in os.environ:
        raise SystemExit("usage: RDFM_SHARED=SUITES earl.py FOLDER")
    folder = Path(sys.argv[1])
    tests = tests_by_case(Path(os.environ["RDFM_SHARED"]))
    results = run_tests(tests)
    folder.mkdir(parents=True, exist_ok=True)
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    for name in tests:
        (folder / f"{name}.ttl").write_text(turtle(tests[name], results, date), "utf-8")
        print(folder / f"{name}.ttl")


if __name__ == "__main__":
    main()
