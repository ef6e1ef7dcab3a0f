"""`rdfm validate`: lines, JSON, annotations, totals, exit codes."""

import json
import re

import jelly_proto
import pytest

XSD = "http://www.w3.org/2001/XMLSchema#"


@pytest.fixture
def log_with_findings(tmp_path):
    """A log with an error and a warning."""
    (tmp_path / "odd.nq").write_text(
        f'<http://e/s> <http://e/p> "x"^^<{XSD}int> .\n# @message\n<http://e/s> oops .\n'
    )
    return "odd.nq"


def test_valid_logs_have_no_findings(rdfm):
    run = rdfm("validate", "a.nq", "b.nq")
    assert (run.code, run.out) == (0, "")
    assert run.err == "rdfm: 2 logs, 4 messages: no errors, no warnings\n"
    assert rdfm("validate", "a.nq", "--quiet").err == ""


def test_each_finding_takes_one_line(rdfm, log_with_findings):
    run = rdfm("validate", "b.nq", log_with_findings)
    assert run.code == 1
    assert run.out.splitlines() == [
        "odd.nq:1:27: warning: 'x' is not a valid xsd:int: expected an integer from -2147483648 to 2147483647 (message 0) "
        "[ill-typed-literal]",
        "odd.nq:3:14: error: expected an IRI as the predicate, found 'oops' (message 1) [syntax]",
    ]
    assert run.err == "rdfm: 2 logs, 2 messages: 1 error, 1 warning\n"


def test_warnings_are_errors_with_strict(rdfm, tmp_path):
    (tmp_path / "warned.nq").write_text(f'<http://e/s> <http://e/p> "x"^^<{XSD}int> .\n')
    assert rdfm("validate", "warned.nq").code == 0
    run = rdfm("validate", "warned.nq", "--strict")
    assert run.code == 1
    assert ": error: 'x' is not a valid xsd:int" in run.out


def test_errors_in_binary_logs_have_a_byte_offset(rdfm, tmp_path):
    rdfm("convert", "a.nq", "a.jelly")
    (tmp_path / "cut.jelly").write_bytes((tmp_path / "a.jelly").read_bytes()[:-4])
    run = rdfm("validate", "cut.jelly")
    assert run.code == 1
    assert re.fullmatch(
        r"cut\.jelly: error: .+ \(message \d, .*byte \d+\) \[truncated\]\n", run.out
    )


def test_remedies_name_command_line_options(rdfm, tmp_path):
    (tmp_path / "r.nq").write_text("<a> <http://e/p> <http://e/o> .\n")
    assert "--lenient accepts relative ones" in rdfm("validate", "r.nq").out
    assert rdfm("validate", "r.nq", "--lenient").code == 0


@pytest.mark.parametrize("arguments", [["--json"], ["--format", "json"]])
def test_json_output_has_one_object_per_line(rdfm, log_with_findings, arguments):
    run = rdfm("validate", log_with_findings, "missing.nq", *arguments)
    *found, last = map(json.loads, run.out.splitlines())
    assert (run.code, run.err) == (1, "")
    assert [each["rule"] for each in found] == ["ill-typed-literal", "syntax", "unreadable"]
    assert found[1] == {
        "source": "odd.nq",
        "severity": "error",
        "rule": "syntax",
        "text": "expected an IRI as the predicate, found 'oops'",
        "message_index": 1,
        "byte_offset": 96,
        "line": 3,
        "column": 14,
        "frame": None,
        "row": None,
        "follows": False,
        "focus": None,
        "path": None,
        "value": None,
        "shape": None,
        "constraint": None,
        "kind": "messages",
    }
    assert last["summary"]["rules"] == {"ill-typed-literal": 1, "syntax": 1, "unreadable": 1}


def test_findings_become_github_annotations(rdfm, log_with_findings, tmp_path):
    (tmp_path / "a,b:c%.nq").write_text("oops\n")
    run = rdfm("validate", log_with_findings, "a,b:c%.nq", "--format", "github")
    assert run.code == 1
    warning, error, other = run.out.splitlines()
    assert warning.startswith("::warning file=odd.nq,line=1,col=27,title=ill-typed-literal::'x' is")
    assert error == (
        "::error file=odd.nq,line=3,col=14,title=syntax::expected an IRI as the predicate, found 'oops' (message 1)"
    )
    assert other.startswith("::error file=a%2Cb%3Ac%25.nq,line=1,col=1,title=syntax::")


def test_control_characters_in_findings_are_escaped(rdfm, tmp_path):
    (tmp_path / "esc.nq").write_text(
        f'<http://e/s> <http://e/p> "\x1b[2J\\n::stop"^^<{XSD}int> .\n'
    )
    for arguments in ([], ["--json"], ["--format", "github"]):
        out = rdfm("validate", "esc.nq", *arguments, "--quiet").out
        assert len(out.splitlines()) == 1
        assert "\x1b" not in out


def test_warnings_beyond_the_limit_are_counted(rdfm, tmp_path):
    lines = (f'<http://e/s> <http://e/p> "{n}x"^^<{XSD}int> .\n' for n in range(30))
    (tmp_path / "many.nq").write_text("# @message\n".join(lines))
    run = rdfm("validate", "many.nq")
    assert len(run.out.splitlines()) == 20
    assert run.err.splitlines() == [
        "rdfm: 1 log, 30 messages: no errors, 30 warnings",
        "rdfm: not shown: 10 more findings [ill-typed-literal]",
    ]
    assert len(rdfm("validate", "many.nq", "--max-warnings", "30").out.splitlines()) == 30
    run = rdfm("validate", "many.nq", "--strict", "--max-errors", "2")
    assert len(run.out.splitlines()) == 2
    assert "stopped early" in run.err


def test_stream_options_are_compared_with_those_of_another_log(rdfm):
    rdfm("convert", "a.nq", "given.jelly", "--name-table", "100")
    rdfm("convert", "a.nq", "a.jelly")
    run = rdfm("validate", "a.jelly", "--options-from", "given.jelly")
    assert run.out == (
        "a.jelly: error: the name table is 4000, expected at most 100 [stream-options]\n"
    )
    assert rdfm("validate", "given.jelly", "--options-from", "a.jelly").code == 0


def test_messages_are_checked_against_shapes(rdfm, tmp_path):
    pytest.importorskip("pyshacl", reason="needs pyshacl")
    (tmp_path / "shapes.ttl").write_text(
        "@prefix sh: <http://www.w3.org/ns/shacl#> .\n"
        "<http://e/Shape> a sh:NodeShape ; sh:targetSubjectsOf <http://e/p> ; sh:nodeKind sh:IRI .\n"
    )
    run = rdfm("validate", "a.nq", "--shapes", "shapes.ttl")
    assert run.code == 1
    assert run.out.startswith("a.nq:5:1: error: Value is not of Node Kind sh:IRI; focus node _:x")
    assert run.err == (
        "rdfm: 1 log, 3 messages: 1 error, no warnings; 1 message does not conform to the shapes\n"
    )


def test_standard_input_is_validated(rdfm, monkeypatch, tmp_path):
    from rdfm.cli import stdio

    with (tmp_path / "bad.nq").open("rb") as file:
        monkeypatch.setattr(stdio, "standard_input", lambda: file)
        run = rdfm("validate", "-")
    assert run.code == 1
    assert ":3:27: error: " in run.out


def test_joined_jelly_files_that_rdfm_wrote_are_valid(rdfm, tmp_path):
    assert rdfm("convert", "a.nq", "a.jelly").code == 0
    first = (tmp_path / "a.jelly").read_bytes()
    (tmp_path / "joined.jelly").write_bytes(first + first)
    run = rdfm("validate", "joined.jelly")
    assert run.code == 0, run.out + run.err


def without_ids(*names: str) -> bytes:
    """Returns a flat Jelly log whose lookup entries have no ids."""
    classes = jelly_proto.classes()
    writer = jelly_proto.Writer(1, logical=1)
    writer.options()
    for name in names:
        writer.row(name=classes.RdfNameEntry(value=name))
    terms = dict.fromkeys(("s_iri", "p_iri", "o_iri"), classes.RdfIri())
    writer.row(triple=classes.RdfTriple(**terms))
    writer.frames.append(classes.RdfStreamFrame(rows=writer.rows))
    return jelly_proto.delimited(writer.frames)


def test_joined_jelly_files_from_other_writers_are_an_error(rdfm, tmp_path):
    first = without_ids("a:", "b:", "c:")
    (tmp_path / "joined.jelly").write_bytes(first + without_ids("d:", "e:", "f:"))
    run = rdfm("validate", "joined.jelly")
    assert run.code == 1
    assert f"at byte {len(first)}, which repeats the stream options" in run.out
    assert (
        "were two Jelly files joined there?; --joins new reads each of the joined files separately, "
        "or --joins warn continues the tables"
    ) in run.out
    run = rdfm("validate", "joined.jelly", "--joins", "warn")
    assert run.code == 0, run.out + run.err
    assert rdfm("convert", "joined.jelly", "new.nq", "--joins", "new").code == 0
    assert (tmp_path / "new.nq").read_text().splitlines() == [
        "<a:> <b:> <c:> .", "# @message", "<d:> <e:> <f:> .",
    ]  # fmt: skip


def test_joined_flat_jelly_files_have_a_note(rdfm, tmp_path):
    flat = rdfm("convert", "a.nq", "a.jelly", "--flat")
    assert flat.code == 0, flat.err
    data = (tmp_path / "a.jelly").read_bytes()
    (tmp_path / "joined.jelly").write_bytes(data + data)
    run = rdfm("validate", "joined.jelly")
    assert run.code == 0, run.out + run.err
    assert f"repeats the stream options at byte {len(data)}" in run.out + run.err
    assert "; --joins new reads one message per file" in run.out + run.err


def test_large_frames_are_reported(rdfm, tmp_path):
    small, large = ('<http://e/s> <http://e/p> "%s" .\n' % ("x" * size) for size in (1, 1_000_000))
    (tmp_path / "log.nq").write_text("# @message\n".join([small, large, small, large]))
    assert rdfm("convert", "log.nq", "log.jelly").code == 0
    command = ("patch", "from-log", "log.nq", "log.jellyp", "--stream-type", "frame")
    assert rdfm(*command).code == 0
    for name in ("log.jelly", "log.jellyp"):
        run = rdfm("validate", name)
        assert run.code == 0
        assert run.out.count("is larger than the recommended 1 MB") == 2
        assert "(frame 1, byte " in run.out
        run = rdfm("validate", name, "--max-warnings", "1")
        assert run.out.count("[large-frame]") == 1
        assert "1 more finding [large-frame]" in run.err
    assert "no warnings" in rdfm("validate", "log.nq").err
