"""`rdfm patch`, and `rdfm inspect` of patches: output, files, errors and exit codes."""

import io
import json
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import click
import pytest
from patches import as_batch

from rdfm import formats
from rdfm.cli.app import app
from rdfm.logs.options import APPENDING, LIVE, WRITING
from rdfm.patch.patch_options import CHANGING

OLD = '<a:s> <a:p> <a:o> .\n<a:s> <a:p> _:x .\n_:x <a:q> "2"@en--ltr <a:g> .\n'
NEW = "PREFIX a: <a:>\na:s a:p a:o , _:x , <<( a:s a:p _:x )>> .\n"
CHANGES = (
    'TX .\nD <_:x> <a:q> "2"@en--ltr <a:g> .\nA <a:s> <a:p> <<( <a:s> <a:p> <_:x> )>> .\nTC .\n'
)
CHAIN = "H id <a:1> .\nTX .\nTC .\nZ .\nH id <a:2> .\nH prev <a:0> .\nTX .\nTC .\n"
COMMANDS = ("apply", "revert", "from-log", "to-log", "diff")
LINKING = {"ids", "append", "sync", "repair"}


@pytest.fixture
def data(rdfm, tmp_path):
    """The command line, in a folder with datasets and patches."""
    for name, text in {
        "old.nq": OLD,
        "new.trig": NEW,
        "c.rdfp": CHANGES,
        "chain.rdfp": CHAIN,
        "open.rdfp": "TX .\nA <a:s> <a:p> <a:o2> .\n",
        "adds.rdfp": "TX .\nA <a:s> <a:p> <a:o> .\nTC .\nTX .\nA _:b <a:p> _:b .\nTC .\n",
    }.items():
        (tmp_path / name).write_text(text)
    return rdfm


def lines(path):
    return sorted(Path(path).read_text().splitlines())


def without_durations(text):
    """Returns the lines without durations."""
    return [line.rpartition(" in ")[0] or line for line in text.splitlines()]


def test_apply_writes_the_changed_dataset(data):
    result = data("patch", "apply", "old.nq", "c.rdfp", "-o", "now.nq")
    assert (result.code, result.out) == (0, "")
    assert without_durations(result.err) == ["rdfm: 3 quads: 1 added, 1 deleted"]
    assert lines("now.nq") == sorted(
        ["<a:s> <a:p> <a:o> .", "<a:s> <a:p> _:x .", "<a:s> <a:p> <<( <a:s> <a:p> _:x )>> ."]
    )
    result = data("patch", "apply", "old.nq", "c.rdfp", "open.rdfp", "-o", "now.jelly.gz")
    assert without_durations(result.err) == [
        "rdfm: 3 quads: 1 added, 1 deleted, 1 transaction undone"
    ]
    assert data("inspect", "now.jelly.gz").code == 0
    result = data("patch", "apply", "old.nq", "c.rdfp", "-o", "-", "--quiet")
    assert result.out.splitlines()[0] == "<a:s> <a:p> <a:o> ,"
    assert result.err == ""


def test_apply_drops_data_on_request_and_counts_it(data):
    result = data("patch", "apply", "old.nq", "open.rdfp", "-o", "now.ttl")
    assert result.code == 1
    assert result.error.startswith(
        "ttl: the format does not support graph names; found graph '<a:g>'; --merge-graphs"
    )
    assert not Path("now.ttl").exists()
    result = data("patch", "apply", "old.nq", "open.rdfp", "-o", "now.ttl", "--merge-graphs")
    assert without_durations(result.err)[1:] == ["rdfm: dropped: 1 graph name"]


def test_revert_writes_patches_that_undo_changes(data):
    result = data("patch", "revert", "c.rdfp")
    assert (result.code, result.out) == (
        0,
        "TX .\nD <a:s> <a:p> <<( <a:s> <a:p> <_:x> )>> .\n"
        'A <_:x> <a:q> "2"@en--ltr <a:g> .\nTC .\n',
    )
    assert without_durations(result.err) == ["rdfm: 1 patch: 1 add, 1 delete"]
    for name in ("undo.rdfp", "undo.trp", "undo.jellyp.zst"):
        assert data("patch", "revert", "c.rdfp", "-o", name).code == 0
        assert data("patch", "apply", "old.nq", "c.rdfp", name, "-o", "now.nq").code == 0
        assert lines("now.nq") == lines("old.nq")
    result = data("patch", "revert", "chain.rdfp")
    assert result.code == 1
    assert "the chain of patches is broken" in result.error
    result = data("patch", "revert", "chain.rdfp", "open.rdfp", "--no-chain")
    assert result.out == "TX .\nTC .\n".join(["Z .\n", "Z .\n", ""])
    assert without_durations(result.err) == [
        "rdfm: 3 patches: 0 adds, 0 deletes, 1 transaction undone",
        "rdfm: dropped: 3 headers",
    ]


def test_a_terminal_shows_progress(data, monkeypatch):
    """Each command reports progress on a terminal, unless --quiet is given."""
    from rdfm.cli import bar

    reports = []
    monkeypatch.setattr(bar.Bar, "__call__", lambda self, progress: reports.append(progress))
    for arguments in (
        ("apply", "old.nq", "c.rdfp", "-o", "x.nq"),
        ("diff", "old.nq", "new.trig", "-o", "x.rdfp"),
        ("from-log", "a.nq", "x.rdfp"),
        ("to-log", "adds.rdfp", "x.nq"),
        ("revert", "c.rdfp", "-o", "x.rdfp"),
    ):
        for quiet in ((), ("--quiet",)):
            reports.clear()
            with monkeypatch.context() as bar_patch:
                bar_patch.setattr(
                    bar.Bar, "create_if_terminal", classmethod(lambda bar_class: bar_class())
                )
                assert data("patch", *arguments, *quiet).code == 0
            assert bool(reports) == (not quiet)
    assert data("patch", *arguments).code == 0
    assert reports == []  # standard error is not a terminal


def test_diff_writes_a_patch(data):
    result = data("patch", "diff", "old.nq", "new.trig", "-o", "-")
    assert (result.code, result.out) == (0, CHANGES)
    assert without_durations(result.err) == ["rdfm: 1 patch: 1 add, 1 delete"]
    for name in ("c.trp", "c.jellyp", "c.jellyp.zst", "c.rdp"):
        assert data("patch", "diff", "old.nq", "new.trig", "-o", name).code == 0
        assert (
            data("patch", "apply", "old.nq", name, "-o", "-", "--to", "nq", "-q").out.count("\n")
            == 3
        )


def test_diff_matches_blank_nodes_by_structure(data):
    Path("again.nq").write_text(OLD.replace("_:x", "_:y"))
    assert without_durations(data("patch", "diff", "old.nq", "again.nq", "-o", "-").err) == [
        "rdfm: 1 patch: 2 adds, 2 deletes"
    ]
    result = data("patch", "diff", "old.nq", "again.nq", "-o", "-", "--canonical")
    assert result.out == "TX .\nTC .\n"


def test_messages_and_snapshots_are_compared_on_request(data):
    result = data("patch", "diff", "--snapshots", "a.nq", "-o", "s.rdfp")
    assert without_durations(result.err) == ["rdfm: 3 patches: 3 adds, 2 deletes"]
    result = data(
        "patch", "apply", "/dev/null", "--from", "nq", "s.rdfp", "-o", "-", "--to", "nq", "-q"
    )
    assert result.out == "_:x <http://e/p> _:x .\n"
    result = data("patch", "diff", "--per-message", "a.nq", "b.nq", "-o", "p.jellyp")
    assert without_durations(result.err) == ["rdfm: 3 patches: 1 add, 3 deletes"]


def test_from_log_and_to_log_are_inverses(data):
    result = data("patch", "from-log", "a.nq", "a.rdfp", "--no-ids")
    assert without_durations(result.err) == ["rdfm: 3 patches"]
    assert Path("a.rdfp").read_text() == (
        "TX .\nA <http://e/s> <http://e/p> <http://e/o> .\nTC .\nZ .\n"
        'TX .\nA <http://e/s> <http://e/p> "2" <http://e/g> .\nTC .\nZ .\n'
        "TX .\nA <_:_gm2_x> <http://e/p> <_:_gm2_x> .\nTC .\n"
    )
    result = data("patch", "to-log", "a.rdfp", "-")
    assert result.out.count("# @message\n") == 2
    assert without_durations(result.err) == ["rdfm: 3 messages"]
    result = data("patch", "to-log", "adds.rdfp", "-", "--to", "nq")
    assert result.out == "<a:s> <a:p> <a:o> .\n# @message\n_:b <a:p> _:b .\n"
    result = data("patch", "to-log", "open.rdfp", "-", "--to", "nq")
    assert result.out == ""
    assert without_durations(result.err)[1:] == ["rdfm: dropped: 1 undone transaction"]


def test_patches_are_linked_and_appended(data):
    """By default, unless the output is a single patch."""
    ids = lambda name: re.findall(r"H (?:id|prev) <(.*)> \.", Path(name).read_text())  # noqa: E731
    assert data("patch", "from-log", "a.nq", "log.rdfp").code == 0
    first, *pairs = ids("log.rdfp")
    assert len(pairs) == 4
    assert pairs[1::2] == [first, pairs[0]]
    assert data("patch", "diff", "old.nq", "new.trig", "-o", "log.rdfp", "--append").code == 0
    assert ids("log.rdfp")[5:][1:] == [pairs[2]]
    assert data("validate", "--strict", "log.rdfp").err.endswith("no errors, no warnings\n")
    assert data("patch", "apply", "b.nq", "log.rdfp", "-o", "now.nq").code == 0
    before = Path("log.rdfp").read_bytes()
    assert data("patch", "diff", "old.nq", "bad.nq", "-o", "log.rdfp", "--append").code == 1
    assert Path("log.rdfp").read_bytes() == before
    assert data("patch", "diff", "--snapshots", "a.nq", "-o", "x.rdfp", "--no-ids").code == 0
    assert ids("x.rdfp") == []
    assert data("patch", "diff", "old.nq", "new.trig", "-o", "x.rdfp", "--ids").code == 0
    assert len(ids("x.rdfp")) == 1


def test_a_large_patch_with_an_id_is_rejected(data):
    arguments = ("patch", "from-log", "a.nq", "x.rdfp", "--max-message-bytes", "100")
    result = data(*arguments)
    assert result.code == 1
    assert "a larger --max-message-bytes allows it" in result.error
    assert "--no-ids writes patches of any size" in result.error
    assert data(*arguments, "--no-ids").code == 0


def test_blank_nodes_in_two_transactions_are_rejected_or_separated(data):
    Path("s.rdfp").write_text("A _:b <a:p> <a:o> .\nZ .\nA _:b <a:p> <a:o> .\n")
    result = data("patch", "to-log", "s.rdfp", "out.nq")
    assert result.code == 1
    assert result.error == (
        "s.rdfp: rdf-patch: row 0 of the patch: the blank node 'b' is used in two transactions, and would be two nodes in"
        " two messages; --separate-blank-nodes treats it as a separate node in each message (line 3, column 1, byte 24, patch 1)"
    )
    assert data("patch", "to-log", "s.rdfp", "out.nq", "--separate-blank-nodes").code == 0
    assert Path("out.nq").read_text().count("_:b") == 2


def test_a_broken_chain_is_rejected(data):
    result = data("patch", "apply", "old.nq", "chain.rdfp", "-o", "now.nq")
    assert result.code == 1
    assert result.error == (
        "chain.rdfp: rdf-patch: the chain of patches is broken: prev is <a:0>, but the previous patch has the id <a:1>;"
        " --no-chain skips this check (line 6, column 1, byte 40, patch 1)"
    )
    assert not Path("now.nq").exists()
    assert data("patch", "apply", "old.nq", "chain.rdfp", "-o", "now.nq", "--no-chain").code == 0


def test_folders_and_archives_are_read_and_written(data):
    assert data("patch", "from-log", "a.nq", "out/", "--to", "rdf-patch").code == 0
    names = sorted(path.name for path in Path("out/000").iterdir())
    assert names == [f"000000000{n}.rdfp" for n in range(3)]
    result = data("patch", "from-log", "a.nq", "out/", "--to", "rdf-patch")
    assert (result.code, result.error) == (
        2,
        "the folder out/ is not empty; write to another folder; --overwrite deletes everything in that folder",
    )
    options = ("--to", "rdf-patch", "--overwrite", "--split-messages", "2", "--compression", "gzip")
    assert data("patch", "from-log", "a.nq", "out/", *options).code == 0
    assert len(list(Path("out").rglob("*.rdfp.gz"))) == 2
    assert data("patch", "from-log", "a.nq", "out.rdfp.tar.gz").code == 0
    with tarfile.open("out.rdfp.tar.gz") as archive:
        assert len(archive.getnames()) == 3
    # All files of the folder and of the archive are read in order.
    for changes in ("out/", "out.rdfp.tar.gz"):
        result = data(
            "patch",
            "apply",
            "b.nq",
            changes,
            "--patch-format",
            "rdf-patch",
            "-o",
            "-",
            "--to",
            "nq",
            "-q",
        )
        assert (result.code, result.out.count("\n")) == (0, 4)
        result = data("patch", "to-log", changes, "-", "--from", "rdf-patch", "--to", "nq", "-q")
        assert (result.code, result.out.count("\n")) == (0, 5)


def test_an_existing_file_is_replaced(data):
    Path("now.nq").write_text("old content\n")
    assert data("patch", "apply", "old.nq", "c.rdfp", "-o", "now.nq").code == 0
    assert "old content" not in Path("now.nq").read_text()


def run(*arguments, stdin=b""):
    """Runs the command in a separate process, with standard input."""
    command = [sys.executable, "-m", "rdfm", "patch", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, check=False, env=os.environ)


def test_standard_input_and_output_are_supported(data):
    result = run(
        "apply",
        "old.nq",
        "-",
        "--patch-format",
        "rdf-patch",
        "-o",
        "-",
        "--to",
        "nq",
        stdin=CHANGES.encode(),
    )
    assert (result.returncode, result.stdout.count(b"\n")) == (0, 3)
    result = run("apply", "-", "c.rdfp", "-o", "-", "-q", stdin=OLD.encode())
    assert (result.returncode, result.stderr) == (0, b"")
    assert result.stdout.startswith(b"<a:s> <a:p> <a:o> ,\n")
    result = run("diff", "-", "new.trig", "-o", "-", "--to", "jelly-patch", stdin=OLD.encode())
    assert result.returncode == 0
    assert formats.find("jelly-patch").decode(result.stdout).record_count == 4
    result = run("from-log", "-", "-", "--no-ids", stdin=b"<a:s> <a:p> <a:o> .\n")
    assert result.stdout == b"TX .\nA <a:s> <a:p> <a:o> .\nTC .\n"
    result = run("to-log", "-", "-", "--from", "rdf-patch", "--to", "nt", stdin=result.stdout)
    assert result.stdout == b"<a:s> <a:p> <a:o> .\n"


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        ("apply", 2, "Missing argument 'DATASET'"),
        ("apply old.nq -o out.nq", 2, "Missing argument 'PATCH...'"),
        ("apply old.nq c.rdfp", 2, "Missing option '-o'"),
        ("apply - - -o out.nq", 2, "standard input (-) can be read only once"),
        ("apply old.nq c.rdfp -o old.nq", 2, "old.nq is also an input; write to another file"),
        ("apply old.nq c.rdfp -o c.rdfp --to nq", 2, "c.rdfp is also an input"),
        (
            "apply old.nq new.trig -o out.nq",
            2,
            "new.trig contains messages, but patches are expected",
        ),
        (
            "apply c.rdfp c.rdfp -o out.nq",
            2,
            "c.rdfp contains patches, but messages are expected",
        ),
        (
            "apply old.nq c.rdfp -o out.rdfp",
            2,
            "RDF Patch supports only patches, but the output contains messages",
        ),
        (
            "apply a.nq c.rdfp -o out.nq",
            2,
            "a.nq has several messages, but a dataset is one message",
        ),
        ("apply old.nq none.rdfp -o out.nq", 1, "none.rdfp: No such file or directory"),
        ("apply none.nq c.rdfp -o out.nq", 1, "none.nq: No such file or directory"),
        ("apply old.nq c.rdfp -o none/out.nq", 1, "No such folder"),
        ("apply old.nq c.rdfp -o out.what", 2, "the name does not identify a format; --to nt"),
        (
            "apply old.nq old -o out.nq",
            2,
            "cannot detect the format of old from its suffix; --patch-format jelly-patch",
        ),
        (
            "to-log old out.nq",
            2,
            "cannot detect the format of old from its suffix; --from jelly-patch",
        ),
        ("apply old.nq c.rdfp -o out.nq --skip 1", 2, "No such option '--skip'"),
        (
            "apply old.nq c.rdfp -o out.nq --name-table 8",
            2,
            "the option --name-table is for writing Jelly",
        ),
        (
            "apply old.nq c.rdfp -o out.nq --joins warn",
            2,
            "the option --joins is for reading Jelly",
        ),
        ("apply old.nq c.rdfp -o out.nq --patch-format nosuch", 2, "there is no format 'nosuch'"),
        ("apply old.nq c.rdfp -o out.nq --per-message", 2, "No such option '--per-message'"),
        ("diff old.nq -o out.rdfp", 2, "expected OLD and NEW, found 1"),
        ("diff old.nq b.nq a.nq -o out.rdfp", 2, "expected OLD and NEW, found 3"),
        ("diff --snapshots a.nq b.nq -o out.rdfp", 2, "expected one log with --snapshots, found 2"),
        ("diff --snapshots --per-message a.nq -o out.rdfp", 2, "cannot be combined"),
        (
            "diff old.nq a.nq -o out.rdfp",
            2,
            "a.nq has several messages, but a dataset is one message",
        ),
        (
            "diff old.nq new.trig -o out.nq",
            2,
            "N-Quads supports only messages, but the output contains patches",
        ),
        (
            "diff old.nq c.rdfp -o out.rdfp",
            2,
            "c.rdfp contains patches, but messages are expected",
        ),
        ("diff bad.nq old.nq -o out.rdfp", 1, "bad.nq: nq: "),
        ("from-log c.rdfp out.rdfp", 2, "c.rdfp contains patches, but messages are expected"),
        ("from-log a.nq", 2, "Missing argument 'OUT'"),
        ("from-log bad.nq out.rdfp", 1, "bad.nq: nq: "),
        ("from-log a.nq - --append", 2, "cannot append: standard output is a stream"),
        ("from-log a.nq out.trp --append", 2, "cannot append to out.trp: in RDF Patch Thrift"),
        ("from-log a.nq out.rdfp --sync", 2, "--sync applies only when appending; --append"),
        ("diff --snapshots c.rdfp -o c.rdfp --append", 2, "c.rdfp is also an input"),
        ("to-log a.nq out.nq", 2, "a.nq contains messages, but patches are expected"),
        ("to-log c.rdfp out.nq", 1, "c.rdfp: rdf-patch: row 1 of the patch: D deletes a quad"),
        (
            "to-log adds.rdfp out.ttl --max-message-bytes 20",
            1,
            "a larger --max-message-bytes allows it",
        ),
        ("nosuch", 2, "No such command 'nosuch'"),
    ],
)
def test_each_error_is_one_line(data, arguments, code, text):
    Path("old").write_text(OLD)
    before = set(Path().iterdir())
    result = data("patch", *arguments.split())
    assert result.code == code, result.err
    assert text in result.error
    assert set(Path().iterdir()) == before


INVALID_CONTENTS = {
    "rdf-patch": [b"TX .\nA <a:s> <a:p> .\n", b"A <a:s> <a:p> <a:o>", b"oops .\n", b"TX .\nTX .\n"],
}


@pytest.mark.parametrize("name", ["rdf-patch", "rdf-patch-thrift", "jelly-patch"])
@pytest.mark.parametrize("command", ["apply", "to-log"])
def test_invalid_patches_of_each_format_are_errors(data, name, command):
    rows = [
        [
            ("TX",),
            ("A", ("iri", "a:s"), ("iri", "a:p"), ("literal", "x" * 50, None, None, "a:d"), None),
            ("TC",),
        ]
    ]
    complete = formats.find(name).encode(as_batch(rows * 3))
    suffix = formats.find(name).spec.suffixes[0]
    rejected = 0
    invalid = [
        *INVALID_CONTENTS.get(name, []),
        *(complete[:end] for end in range(1, len(complete), 7)),
        complete[:20] + b"\xff\xff" + complete[22:],
    ]
    for content in invalid:
        Path(f"broken{suffix}").write_bytes(content)
        arguments = (
            ("old.nq", f"broken{suffix}", "-o", "out.nq")
            if command == "apply"
            else (f"broken{suffix}", "out.nq")
        )
        result = data("patch", command, *arguments)
        if result.code == 0:  # truncated between rows
            Path("out.nq").unlink()
            continue
        assert result.code == 1
        assert result.error.startswith(f"broken{suffix}: {name}: "), result.err
        assert "(see" not in result.err
        assert not Path("out.nq").exists()
        rejected += 1
    assert rejected > len(invalid) // 2


@pytest.mark.parametrize("name", COMMANDS)
def test_help_names_every_option(data, name):
    result = data("help", "patch", name)
    assert result.code == 0
    common = {"from_format": "--from", "to": "--to"}
    specific = {
        "apply": {"patch_format", "chain"},
        "revert": {"chain"},
        "to-log": {"separate_blank_nodes"},
        "from-log": LINKING,
        "diff": {"per_message", "snapshots", "canonical"} | LINKING,
    }.get(name, set())
    options = (*WRITING, *APPENDING, *CHANGING)
    expected = [option for option in options if option in WRITING or option.name in specific]
    for option in expected:
        assert f"--{option.option}" in result.out
    assert all(flag in result.out for flag in (*common.values(), "--quiet", "--lenient"))
    others = {option.option for option in CHANGING} - {option.option for option in expected}
    assert not any(f"--{other} " in result.out for other in others)
    assert "Example" in result.out


# The log kinds that each command reads and writes.
KINDS = {
    "apply": ({"messages", "patches"}, {"messages"}),
    "from-log": ({"messages"}, {"patches"}),
    "to-log": ({"patches"}, {"messages"}),
    "diff": ({"messages"}, {"patches"}),
    "revert": ({"patches"}, {"patches"}),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_help_omits_options_of_unrelated_formats(data, name):
    shown = set(re.findall(r"--([a-z0-9-]+)", data("help", "patch", name).out))
    all_options, applicable = set(), set()
    for side, kinds in zip(("read", "write"), KINDS[name], strict=True):
        for spec in formats.specs():
            options = {
                option.option for option in spec.options(side).values() if not option.python_only
            }
            all_options |= options
            if kinds & set(spec.kinds):
                applicable |= options
    shown_options = {flag.removeprefix("from-").removeprefix("to-") for flag in shown}
    stages = {"compression", "chain", "canonical", "overwrite"}
    assert (all_options - applicable) & shown_options <= stages
    assert applicable - shown_options == set()
    assert all_options - applicable  # some options are omitted


def test_the_error_for_an_option_of_another_format_names_that_format(data):
    for arguments in (("--stream-type", "flat"), ("--to-stream-type", "flat")):
        result = data("patch", "to-log", "adds.rdfp", "x.nq", *arguments)
        assert result.code == 2
        assert "--stream-type is for writing Jelly" in result.error


def test_every_option_of_the_commands_is_declared():
    """The exceptions belong to the commands themselves: the output, connections and --quiet."""
    group = app.get_command(None, "patch")
    declared = {option.name for option in (*CHANGING, *WRITING, *APPENDING)} | {"from_format"}
    format_options = {
        name
        for format in formats.built_in()
        for side in ("read", "write")
        for option in format.spec.options(side)
        for name in (option, f"from_{option}", f"to_{option}")
    }
    for name in COMMANDS:
        command = group.commands[name]
        options = [
            each
            for each in command.get_params(click.Context(command))
            if isinstance(each, click.Option) and "--help" not in each.opts
        ]
        assert {each.name for each in options} - declared - format_options == (
            {"headers", "quiet"}
            | {option.name for option in LIVE}
            | ({"output"} if name in ("apply", "diff", "revert") else set())
        )


# --- rdfm inspect with patches ---


def test_inspect_describes_patches(data):
    Path("log.rdfp").write_text(
        CHANGES + "Z .\n" + CHAIN + 'Z .\nPA "e" <a:> .\nTX .\nA <a:s> <a:p> <a:o> .\nTA .\nTX .\n'
    )
    result = data("inspect", "--json", "log.rdfp")
    assert result.code == 0
    report = json.loads(result.out)
    assert {
        key: report[key] for key in ("kind", "messages", "quads", "empty_messages", "has_graphs")
    } == {
        "kind": "patches",
        "messages": 4,
        "quads": 3,
        "empty_messages": 0,
        "has_graphs": True,
    }
    assert report["operations"] == {"H": 3, "TX": 5, "TC": 3, "TA": 1, "PA": 1, "A": 2, "D": 1}
    assert report["headers"] == {"id": 2, "prev": 1}
    assert report["broken_links"] == 1
    assert (
        report["broken_link"] == "patch 2: prev is <a:0>, but the previous patch has the id <a:1>"
    )
    assert report["quads_per_message"] == [3, 4.0, 5]
    text = data("inspect", "log.rdfp").out
    for line in (
        "patches          4",
        "operations       3 H, 5 TX, 3 TC, 1 TA, 1 PA, 2 A, 1 D, some in named graphs",
        "transactions     5: 3 committed, 1 aborted, 1 unfinished",
        "chain            1 broken link; patch 2: prev is <a:0>, but the previous patch has the id <a:1>",
        "operations/patch 3 to 5, 4.0 on average",
        "headers                   2  id",
    ):
        assert f"  {line}\n" in text


@pytest.mark.parametrize("suffix", [".trp", ".jellyp", ".rdfp.gz"])
def test_inspect_reports_the_same_for_each_format(data, suffix):
    report = json.loads(data("inspect", "--json", "chain.rdfp").out)
    assert data("convert", "chain.rdfp", f"other{suffix}").code == 0
    other = json.loads(data("inspect", "--json", f"other{suffix}").out)
    common = ("kind", "messages", "quads", "operations", "headers", "broken_links", "broken_link")
    assert {key: other[key] for key in common} == {key: report[key] for key in common}


def test_inspect_stops_at_an_error(data):
    Path("bad.rdfp").write_text(CHANGES + "Z .\noops\n")
    result = data("inspect", "bad.rdfp")
    assert result.code == 1
    assert "patches          1" in result.out
    assert "first error      bad.rdfp: rdf-patch: " in result.out


def test_quiet_prints_no_summary(data):
    for arguments in (
        ("apply", "old.nq", "c.rdfp", "-o", "x.nq"),
        ("diff", "old.nq", "new.trig", "-o", "x.rdfp"),
        ("from-log", "a.nq", "x.rdfp"),
        ("to-log", "adds.rdfp", "x.nq"),
        ("revert", "c.rdfp", "-o", "x.rdfp"),
    ):
        assert data("patch", *arguments).err.startswith("rdfm: ")
        result = data("patch", *arguments, "--quiet")
        assert (result.code, result.out, result.err) == (0, "", "")


def test_binary_output_to_a_terminal_is_rejected(data, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stdout", Terminal())
    result = data("patch", "diff", "old.nq", "new.trig", "-o", "-", "--to", "jelly-patch")
    assert result.code == 2
    assert "jelly-patch is binary, but standard output is a terminal" in result.error
