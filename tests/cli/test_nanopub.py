"""`rdfm nanopub check` and `rdfm nanopub list`: findings, tables, exit codes, usage errors."""

import csv
import json
import re

import nanopubs
import pytest
from nanopubs import BASE, DCTERMS, NPX, iri, literal, triple

N = BASE + "1"


@pytest.fixture
def logs(rdfm, tmp_path):
    """The command line, in a folder with a valid log and a log with an invalid nanopublication."""
    untrusted = nanopubs.nanopub(N, info=[triple(N, DCTERMS + "creator", "https://orcid.org/1")])
    (tmp_path / "good.nq").write_bytes(nanopubs.nq(nanopubs.trusty(), untrusted))
    invalid = [quad for quad in nanopubs.nanopub(N) if quad[3] != iri(N + "/assertion")]
    (tmp_path / "wrong.nq").write_bytes(nanopubs.nq(nanopubs.trusty(), invalid))
    return rdfm


# --- check ---


def test_valid_nanopublications_have_no_findings(logs):
    run = logs("nanopub", "check", "good.nq")
    assert (run.code, run.out) == (0, "")
    assert run.err == "rdfm: 1 log, 2 messages: no errors, no warnings; 1 trusty, 0 signed\n"
    assert logs("nanopub", "check", "good.nq", "--quiet").err == ""


def test_findings_are_printed_as_in_validate(logs):
    run = logs("nanopub", "check", "good.nq", "wrong.nq")
    assert run.code == 1
    assert run.out == (
        f"wrong.nq:10:73: error: the assertion graph <{N}/assertion> is empty (message 1) "
        "[nanopub-empty-graph]\n"
    )
    assert run.err == "rdfm: 2 logs, 4 messages: 1 error, no warnings; 2 trusty, 0 signed\n"


def test_json_lines_end_with_the_counts(logs):
    run = logs("nanopub", "check", "wrong.nq", "--json")
    found, last = map(json.loads, run.out.splitlines())
    assert (run.code, run.err) == (1, "")
    assert (found["rule"], found["message_index"], found["line"]) == ("nanopub-empty-graph", 1, 10)
    assert last["summary"]["trusty"] == 1
    assert last["summary"]["rules"] == {"nanopub-empty-graph": 1}


def test_findings_can_be_github_annotations(logs):
    run = logs("nanopub", "check", "wrong.nq", "--format", "github")
    assert run.out.startswith(
        "::error file=wrong.nq,line=10,col=73,title=nanopub-empty-graph::the "
    )


def test_requirements_are_checked(logs):
    run = logs("nanopub", "check", "good.nq", "--require", "trusty")
    assert (run.code, run.out.count("[not-trusty]")) == (1, 1)
    run = logs("nanopub", "check", "good.nq", "--require", "signed")
    assert (run.out.count("[not-trusty]"), run.out.count("[not-signed]")) == (1, 2)


def test_signatures_can_be_left_unchecked(logs):
    run = logs("nanopub", "check", "good.nq", "--no-signatures")
    assert "1 trusty, signatures not checked" in run.err


def test_every_format_is_checked(logs):
    for target in ("good.jelly", "good.trig", "good.ndjsonld.gz"):
        logs("convert", "good.nq", target)
        assert logs("nanopub", "check", target).code == 0


def test_the_error_for_a_missing_extra_names_an_option(logs, monkeypatch):
    import builtins

    original_import = builtins.__import__

    def import_without_cryptography(name, *args, **kwargs):
        if name.startswith("cryptography"):
            raise ImportError(name)
        return original_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", import_without_cryptography)
    run = logs("nanopub", "check", "good.nq")
    assert run.error == (
        "checking signatures needs cryptography: pip install 'rdfm[nanopub]', "
        "or leave signatures unchecked with --no-signatures"
    )


# --- list ---


def test_lists_are_written_as_csv(logs, tmp_path):
    run = logs("nanopub", "list", "good.nq", "-o", "out.csv")
    assert run.code == 0
    first, second = csv.DictReader((tmp_path / "out.csv").read_text().splitlines())
    assert first["nanopub"].startswith(BASE + "RA")
    assert (second["message_index"], second["nanopub"]) == ("1", N)
    assert (second["creators"], second["created"]) == ("https://orcid.org/1", "2026-11-01")


def test_standard_output_is_tsv(logs):
    run = logs("nanopub", "list", "good.nq")
    assert run.out.startswith("?source\t?message_index\t?nanopub\t?creators\t")
    assert len(run.out.splitlines()) == 3


def test_creators_are_lists_in_parquet(logs, tmp_path):
    import pyarrow.parquet

    assert logs("nanopub", "list", "good.nq", "-o", "out.parquet").code == 0
    table = pyarrow.parquet.read_table(tmp_path / "out.parquet")
    assert table["creators"].to_pylist() == [[], ["https://orcid.org/1"]]


def test_messages_that_are_not_nanopublications_are_counted(logs):
    run = logs("nanopub", "list", "good.nq", "a.nq", "--to", "results-csv")
    assert "rdfm: note: 3 messages that are not nanopublications are left out\n" in run.err
    run = logs("nanopub", "list", "b.nq", "-o", "out.csv")
    assert "rdfm: note: 1 message that is not a nanopublication is left out\n" in run.err


def test_latest_omits_superseded_nanopublications(logs, tmp_path):
    def signed_nanopub(name, *superseded):
        base = BASE + name
        info = [
            triple(base + "/sig", NPX + "hasSignatureTarget", base),
            triple(base + "/sig", NPX + "hasPublicKey", literal("key")),
            *(triple(base, NPX + "supersedes", each) for each in superseded),
        ]
        return nanopubs.nanopub(base, info=info)

    (tmp_path / "two.nq").write_bytes(
        nanopubs.nq(signed_nanopub("a"), signed_nanopub("b", BASE + "a"))
    )
    assert len(logs("nanopub", "list", "two.nq").out.splitlines()) == 3
    lines = logs("nanopub", "list", "two.nq", "--latest").out.splitlines()
    assert len(lines) == 2
    assert f"<{BASE}b>" in lines[1]


def test_lists_are_tables_on_a_terminal(logs, monkeypatch):
    monkeypatch.setattr("rdfm.cli.stdio.is_terminal", lambda stream: True)
    monkeypatch.setenv("COLUMNS", "400")
    run = logs("nanopub", "list", "good.nq", "a.nq")
    head, *rows = run.out.splitlines()
    assert re.split(r"\s{2,}", head)[:4] == ["source", "message_index", "nanopub", "creators"]
    assert f"<{N}>" in rows[1]
    assert run.err == (
        "rdfm: 2 rows\nrdfm: note: 3 messages that are not nanopublications are left out\n"
    )


# --- usage errors: one sentence each ---

USAGE_ERRORS = {
    "check": "Missing argument 'LOG...'",
    "list": "Missing argument 'LOG...'",
    "check missing.nq --require all": "--require must be one of 'trusty', 'signed', not 'all'",
    "check good.nq --format xml": "--format must be text, json or github, not 'xml'",
    "check good.nq --json --format github": "--json and --format github cannot be combined",
    "check - -": "standard input (-) can be read only once",
    "list - -": "standard input (-) can be read only once",
    "check good.nq --from x": "'x'",
    "check good.nq --max-errors 0": "--max-errors must be a number >= 1, not '0'",
    "check good.nq --max-warnings few": "--max-warnings",
    "check good.nq --frames frame": "--frames",
    "check good.nq --lates": "No such option '--lates'",
    "list missing.nq": "missing.nq: No such file or directory",
    "list good.nq -o out.jelly": "a list has rows, but Jelly supports only messages",
    "list good.nq -o out.nq": "a list has rows, but N-Quads supports only messages",
    "list good.nq -o out.xyz": "out.xyz",
    "list p.rdfp": "p.rdfp contains patches, but nanopublications are messages",
    "list good.nq --on-error ignore": "--on-error",
    "list good.nq --split-messages 2 -o out.parquet/": "a table must be a single file",
    "lst good.nq": "No such command 'lst'",
}


@pytest.mark.parametrize("arguments", USAGE_ERRORS)
def test_usage_errors_are_one_sentence(logs, tmp_path, arguments):
    (tmp_path / "p.rdfp").write_text("TX .\nTC .\n")
    run = logs("nanopub", *arguments.split())
    assert run.code in (1, 2)
    assert USAGE_ERRORS[arguments] in run.error
    assert not (tmp_path / "out.parquet").exists()


def test_checking_patches_is_rejected(logs, tmp_path):
    (tmp_path / "p.rdfp").write_text("TX .\nTC .\n")
    run = logs("nanopub", "check", "p.rdfp")
    assert run.code == 2
    assert "p.rdfp contains patches, but nanopublications are messages" in run.error


def test_missing_files_are_findings(logs):
    run = logs("nanopub", "check", "missing.nq")
    assert (run.code, run.out) == (
        1,
        "missing.nq: error: No such file or directory [unreadable]\n",
    )
