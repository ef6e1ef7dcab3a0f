"""`rdfm riverbench package` and `rdfm riverbench check` on the command line."""

import json
import re
from pathlib import Path

import pytest

SUMMARY = (
    r"rdfm: 3 messages, 3 quads: 3 distributions, 131 B read, [\d.]+ kB written to out in [\d.]+ s"
)


def package(rdfm, *arguments):
    run = rdfm(
        "riverbench", "package", "a.nq", "--stream-type", "datasets", "-o", "out", *arguments
    )
    assert run.code == 0, run.err
    return run


def test_a_package_is_written_and_checked(rdfm):
    run = package(rdfm)
    assert run.out == ""
    assert re.fullmatch(SUMMARY + "\n", run.err), run.err
    run = rdfm("riverbench", "check", "out")
    assert (run.code, run.out) == (0, "")
    assert run.err == "rdfm: 3 logs, 3 messages: no errors, no warnings\n"


def test_quiet_prints_nothing(rdfm):
    assert package(rdfm, "-q").err == ""
    assert rdfm("riverbench", "check", "out", "-q").err == ""


def test_options_of_the_input_apply(rdfm):
    Path("log").write_bytes(Path("a.nq").read_bytes())
    arguments = ("--stream-type", "datasets", "--from", "nq", "--lenient", "-o", "out/")
    assert rdfm("riverbench", "package", "log", *arguments).code == 0
    assert (Path("out") / "flat_full.nq.gz").exists()


def test_findings_have_the_formats_of_validate(rdfm):
    package(rdfm)
    Path("out/sample_0000000000.trig").unlink()
    run = rdfm("riverbench", "check", "out")
    text = "the sample does not exist"
    assert run.code == 1
    assert run.out == f"out/sample_0000000000.trig: error: {text} [missing-file]\n"
    assert run.err == "rdfm: 3 logs, 3 messages: 1 error, no warnings\n"
    run = rdfm("riverbench", "check", "out", "--format", "github")
    assert run.out == f"::error file=out/sample_0000000000.trig,title=missing-file::{text}\n"
    found, summary = map(json.loads, rdfm("riverbench", "check", "out", "--json").out.splitlines())
    assert (found["rule"], found["severity"], found["text"]) == ("missing-file", "error", text)
    assert summary["summary"]["errors"] == 1
    assert summary["summary"]["messages"] == 3


def test_strict_counts_warnings_as_errors(rdfm):
    package(rdfm)
    Path("out/notes").write_text("notes")
    assert rdfm("riverbench", "check", "out").code == 0
    run = rdfm("riverbench", "check", "out", "--strict")
    assert run.code == 1
    assert run.out == "out/notes: error: the file is not in the metadata [unlisted-file]\n"


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (
            "package a.nq --stream-type graphs -o out",
            1,
            "a.nq: the message has the named graph 'http://e/g', expected only a default graph, since the stream "
            "type is graphs; --stream-type datasets accepts messages with any graphs (message 1)",
        ),
        (
            "package a.nq -o out",
            2,
            "the stream type is not given, and it cannot be inferred; --stream-type graphs, subject-graphs, datasets, "
            "named-graphs or timestamped-named-graphs declares it, or --metadata FILE reads it from the dataset's "
            "metadata",
        ),
        ("package bad.nq --stream-type graphs -o out", 1, "bad.nq: nq: expected an IRI"),
        ("package a.nq --stream-type datasets -o .", 2, "the input a.nq is in the output folder ."),
        (
            "package a.nq --stream-type datasets -o a.nq",
            2,
            "a.nq is also an input; write to a folder",
        ),
        ("package a.nq --stream-type datasets -o b.nq", 2, "b.nq/ is a file, not a folder"),
        ("package nope.nq --stream-type datasets -o out", 1, "nope.nq: No such file or directory"),
        ("package a.nq --stream-type datasets -o no/out", 1, "no: No such folder"),
        ("package a.nq --metadata nope.ttl -o out", 1, "nope.ttl: No such file or directory"),
        ("package a.nq --metadata b.nq -o out", 1, "b.nq: describes no datasets (rb:Dataset)"),
        ("package a.nq --stream-type datasets --frames flat -o out", 2, "--frames"),
        ("check a.nq", 2, "expected the folder of a package, but a.nq is not a folder"),
        ("check nope", 2, "expected the folder of a package, but nope is not a folder"),
        ("check . --max-errors 0", 2, "--max-errors must be a number >= 1, not '0'"),
        ("check . --json --format github", 2, "--json and --format github cannot be combined"),
        ("unpack", 2, "No such command 'unpack'"),
    ],
)
def test_errors_are_one_line(rdfm, arguments, code, text):
    before = {path: path.read_bytes() for path in Path().iterdir()}
    run = rdfm("riverbench", *arguments.split())
    assert text in run.error
    assert run.code == code
    assert {path: path.read_bytes() for path in Path().iterdir()} == before


def test_commands_options_and_values_are_completed(rdfm, monkeypatch):
    def completions(arguments):
        monkeypatch.setenv("_RDFM_COMPLETE", "bash_complete")
        monkeypatch.setenv("COMP_WORDS", arguments)
        monkeypatch.setenv("COMP_CWORD", str(len(arguments.split(" ")) - 1))
        return [line.rpartition(",")[2] for line in rdfm().out.splitlines()]

    assert completions("rdfm river") == ["riverbench"]
    assert completions("rdfm riverbench ") == ["check", "package"]
    assert completions("rdfm riverbench package a.nq --stream-type sub") == ["subject-graphs"]
    assert "--plain-flat" in completions("rdfm riverbench package --pl")
