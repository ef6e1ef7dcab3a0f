"""rdfm diff: output and exit status."""

import io
import json
from pathlib import Path

import pytest

import rdfm as library

QUAD, DELIMITER = '<http://e/s> <http://e/p> "{}" .', "# @message"


def write(name, *values):
    Path(name).write_text(f"\n{DELIMITER}\n".join(QUAD.format(value) for value in values) + "\n")


def test_equal_logs_exit_with_status_0(rdfm):
    library.convert("a.nq", "a.jelly")
    run = rdfm("diff", "a.nq", "a.jelly")
    assert run.code == 0
    assert run.out == ""
    first, *notes = run.err.splitlines()
    assert first.startswith("rdfm: no differences: 3 messages, 3 quads (")
    assert notes == [
        "rdfm: note: metadata is not compared: N-Quads has none",
    ]


def test_differences_are_printed_in_order_with_their_indexes(rdfm):
    write("one.nq", 1, 2, 3, 4)
    write("two.nq", 1, 9, 3, 5, 4)
    run = rdfm("diff", "one.nq", "two.nq")
    assert run.code == 1
    assert run.out.splitlines() == [
        "--- one.nq",
        "+++ two.nq",
        "@@ message 1 | message 1 @@",
        "-" + QUAD.format(2),
        "+" + QUAD.format(9),
        "@@ - | message 3 @@",
        "+" + QUAD.format(5),
    ]
    assert run.err.startswith("rdfm: 1 changed, 1 only in two.nq; 3 messages equal (")


def test_the_first_differences_are_shown_and_all_are_counted(rdfm):
    write("one.nq", *range(30))
    write("two.nq", *range(100, 130))
    run = rdfm("diff", "one.nq", "two.nq", "--limit", "2")
    assert run.out.count("@@") == 4
    assert "30 changed (2 shown)" in run.err
    assert rdfm("diff", "one.nq", "two.nq", "--quiet").out == ""
    assert rdfm("diff", "one.nq", "two.nq", "--limit", "0").out == ""


def test_json_output_has_one_object_per_line(rdfm):
    write("one.nq", 1, 2, 3)
    write("two.nq", 1, 3, "\x9b")
    run = rdfm("diff", "one.nq", "two.nq", "--json")
    assert (run.code, run.err) == (1, "")
    only_a, only_b, last = map(json.loads, run.out.splitlines())
    assert only_a == {
        "difference": "only_a",
        "message_index_a": 1,
        "message_index_b": None,
        "source_a": "one.nq",
        "source_b": None,
        "removed": [QUAD.format(2)],
        "added": [],
    }
    assert (only_b["difference"], only_b["message_index_b"]) == ("only_b", 2)
    assert "\x9b" not in run.out
    assert last["summary"]["same"] is False
    assert {key: last["summary"][key] for key in ("equal", "only_a", "only_b", "changed")} == {
        "equal": 2,
        "only_a": 1,
        "only_b": 1,
        "changed": 0,
    }


def test_namespaces_and_metadata_are_shown(rdfm):
    Path("one.ttl").write_text("@prefix ex: <http://e/> .\nex:s ex:p 1 .\n")
    Path("two.ttl").write_text(
        "@prefix ex: <http://e/> . @prefix n: <http://n/> .\nex:s ex:p 1 .\n"
    )
    run = rdfm("diff", "one.ttl", "two.ttl", "--namespaces")
    assert run.code == 1
    assert run.out.splitlines()[2:] == ["@@ message 0 | message 0 @@", "+PREFIX n: <http://n/>"]
    run = rdfm("diff", "one.ttl", "two.ttl")
    assert (run.code, run.out) == (0, "")
    assert run.err.splitlines()[1:] == [
        "rdfm: note: namespaces differ but were not compared",
        "rdfm: hint: --namespaces compares them",
    ]
    for name, value in (("one", b"1"), ("two", b"2")):
        with library.create_log(f"{name}.jelly") as out:
            out.write(library.Message([], metadata={"k": value}))
    run = rdfm("diff", "one.jelly", "two.jelly")
    assert run.out.splitlines()[3:] == ["-METADATA k 0x31", "+METADATA k 0x32"]
    assert rdfm("diff", "one.jelly", "two.jelly", "--ignore-metadata").code == 0


def test_standard_input_can_be_compared(rdfm, monkeypatch, tmp_path):
    write("one.nq", 1, 2)
    with Path("one.nq").open("rb") as file:
        monkeypatch.setattr("rdfm.cli.stdio.standard_input", lambda: io.BytesIO(file.read()))
        assert rdfm("diff", "-", "one.nq").code == 0


def test_differences_between_patches_and_between_results_are_printed(rdfm):
    Path("one.rdfp").write_text("TX .\nA <a:s> <a:p> <a:o> .\nTC .\n")
    Path("two.rdfp").write_text("TX .\nD <a:s> <a:p> <a:o> .\nTC .\n")
    run = rdfm("diff", "one.rdfp", "two.rdfp")
    assert run.out.splitlines()[2:] == [
        "@@ patch 0 | patch 0 @@",
        "-A <a:s> <a:p> <a:o> .",
        "+D <a:s> <a:p> <a:o> .",
    ]
    Path("one.tsv").write_text('?a\t?b\n"1"\t\n')
    Path("two.tsv").write_text('?a\t?c\n"1"\t\n"2"\t"3"\n')
    run = rdfm("diff", "one.tsv", "two.tsv")
    assert run.code == 1
    assert run.out.splitlines()[2:] == [
        "-variables: ?a ?b",
        "+variables: ?a ?c",
        "@@ - | row 1 @@",
        '+?a="2" ?c="3"',
    ]
    assert "different variables or answers; 1 row equal" in run.err


def test_invalid_logs_exit_with_status_2(rdfm):
    for arguments in (("a.nq", "bad.nq"), ("bad.nq", "a.nq"), ("nope.nq", "a.nq")):
        assert rdfm("diff", *arguments).code == 2
    run = rdfm("diff", "b.nq", "bad.nq", "--quiet")
    assert run.code == 2
    assert run.error.startswith("bad.nq: nq: expected")
    assert "message 1" in run.error


def test_undecided_pairs_exit_with_status_2(rdfm):
    pairs = [(i, j) for i in range(9) for j in range(9) if i != j]
    for name, each in (("x", pairs), ("y", sorted(pairs, key=lambda pair: pair[::-1]))):
        lines = [f"_:{name}{i} <http://e/p> _:{name}{j} .\n" for i, j in each]
        Path(f"{name}.nq").write_text("".join(lines))
    run = rdfm("diff", "x.nq", "y.nq", "--max-steps", "100")
    assert run.code == 2
    assert "@@ message 0 | message 0 @@ undecided" in run.out
    assert "1 undecided" in run.err
    assert "rdfm: hint: a larger --max-steps may help" in run.err
    assert rdfm("diff", "x.nq", "y.nq").code == 0


@pytest.mark.parametrize("arguments", [("--from-a", "nq"), ("--from", "nq"), ("--from-b", "nq")])
def test_the_format_can_be_set_for_one_or_both_logs(rdfm, arguments):
    Path("one").write_bytes(Path("a.nq").read_bytes())
    Path("two.nq").write_bytes(Path("a.nq").read_bytes())
    names = ("two.nq", "one") if arguments[0] == "--from-b" else ("one", "two.nq")
    assert rdfm("diff", *names, *arguments).code == 0


def test_help_describes_the_exit_status(rdfm):
    run = rdfm("diff", "--help")
    assert "The exit status is 0 if the logs are equal" in " ".join(run.out.split())
    assert "--namespaces" in run.out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            "a.nq rows.tsv",
            "rows.tsv contains results, and a.nq contains messages; compare logs of the same",
        ),
        (
            "p.rdfp a.nq",
            "a.nq contains messages, and p.rdfp contains patches; compare logs of the same kind",
        ),
        (
            "p.rdfp p.rdfp --quads ordered",
            "the logs contain patches, but --quads applies to messages",
        ),
        ("mixed rows.tsv", "contains messages, but earlier logs contain results"),
        ("results rows.tsv", "and earlier logs have different variables or answers"),
        (
            "a.nq noname",
            "noname has an unknown format: neither its name nor its content identifies it; --from",
        ),
        ("a.nq rows.tsv --from nq", "rows.tsv: nq: expected"),
        ("a.nq nowhere/", "nowhere"),
    ],
)
def test_logs_that_cannot_be_compared_exit_with_status_2(rdfm, arguments, text):
    Path("rows.tsv").write_text('?a\n"1"\n')
    Path("p.rdfp").write_text("TX .\nTC .\n")
    Path("noname").write_text("what is this\n")
    for folder, files in (
        ("mixed", {"1.tsv": '?a\n"1"\n', "2.nq": "<a:s> <a:p> <a:o> .\n"}),
        ("results", {"1.tsv": '?a\n"1"\n', "2.tsv": '?b\n"1"\n'}),
    ):
        Path(folder).mkdir()
        for name, content in files.items():
            Path(folder, name).write_text(content)
    run = rdfm("diff", *arguments.split())
    assert text in run.error
    assert run.code == 2
