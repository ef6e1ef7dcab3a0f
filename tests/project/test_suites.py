"""Only tests that have the marker `suites` read files outside the repository."""

import re
import subprocess
import sys

import pytest
import suites
from support import ROOT

HELPERS = {"tests/suites.py", "crates/rdfm-core/tests/support/mod.rs"}


def test_a_test_without_the_marker_cannot_read_suites():
    with pytest.raises(AssertionError, match=r"mark it with pytest\.mark\.suites"):
        suites.path("data")
    with pytest.raises(AssertionError, match=r"mark it with pytest\.mark\.suites"):
        suites.w3c_files("w3c-rdf-tests.tar.gz")


def test_only_two_helpers_refer_to_the_suite_folder():
    sources = [*ROOT.glob("tests/**/*.py"), *ROOT.glob("crates/*/tests/**/*.rs")]
    reference = re.compile(r"""RDFM_SHARED\b|["'/]shared["'/]""")
    found = {
        str(path.relative_to(ROOT)) for path in sources if reference.search(path.read_text("utf-8"))
    }
    assert found == {*HELPERS, "tests/project/test_suites.py"}


def test_every_rust_test_that_reads_suites_is_ignored_by_default():
    count = 0
    for path in ROOT.glob("crates/rdfm-core/tests/**/*.rs"):
        for test in path.read_text("utf-8").split("#[test]\n")[1:]:
            body = test[: test.index("\n}\n")]
            if re.search(r"\bshared(_path)?\(", body):
                assert body.startswith('#[ignore = "reads suites"]\n'), f"{path}: {body[:100]}"
                count += 1
    assert count >= 13


def run(**environment: str) -> subprocess.CompletedProcess[str]:
    """Runs the suite tests with only the given suite variables."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "suites"]
    return subprocess.run(
        [*command, "tests/spec", "tests/formats/test_results.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )


@pytest.mark.parametrize("folder", ["", "missing"])
def test_missing_suites_are_skipped_unless_they_are_required(tmp_path, folder):
    shared = str(tmp_path / folder) if folder else ""
    completed = run(RDFM_SHARED=shared)
    assert completed.returncode == 0, completed.stdout
    assert re.search(r"^\d\d skipped, \d+ deselected", completed.stdout, re.MULTILINE), (
        completed.stdout
    )
    assert ("make test-suites" if not folder else "is missing") in completed.stdout
    required = run(RDFM_SHARED=shared, RDFM_REQUIRE_SHARED="1")
    assert required.returncode == 2, required.stdout
    assert "and RDFM_REQUIRE_SHARED is set" in required.stdout
