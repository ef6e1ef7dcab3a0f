"""rdfm cat, head and tail: print the selected messages as text that is safe on a terminal."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
import suites
from fixture_logs import LOGS, reading_options
from nquads import relabelled
from support import as_tuple, decoded

import rdfm as library
from rdfm.cli.screen import Screen

QUAD = "<http://e/s> <http://e/p> <http://e/o> ."


def test_all_messages_are_printed_as_trig(rdfm):
    run = rdfm("cat", "a.nq")
    assert run.code == 0
    assert run.err == ""
    assert run.out == (
        f"{QUAD}\n# @message\n"
        '<http://e/g> {\n    <http://e/s> <http://e/p> "2" .\n}\n'
        "# @message\n_:x <http://e/p> _:x .\n"
    )


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["cat", "a.nq", "-m", "0"], [0]),
        (["cat", "a.nq", "--messages", "-1"], [2]),
        (["cat", "a.nq", "-m", "1:"], [1, 2]),
        (["cat", "a.nq", "-m", "::2"], [0, 2]),
        (["cat", "a.nq", "-m", "7:"], []),
        (["cat", "a.nq", "--sample", "3"], [0, 1, 2]),
        (["head", "a.nq", "-n", "2"], [0, 1]),
        (["head", "a.nq", "--count", "0"], []),
        (["head", "a.nq"], [0, 1, 2]),
        (["tail", "a.nq", "-n", "1"], [2]),
        (["tail", "a.nq", "-n", "0"], []),
        (["tail", "a.nq"], [0, 1, 2]),
    ],
)
def test_the_selected_messages_are_printed(rdfm, arguments, expected):
    run = rdfm(*arguments, "--to", "nq")
    assert (run.code, run.err) == (0, "")
    messages = rdfm("cat", "a.nq", "--to", "nq").out.split("# @message\n")
    assert run.out == "# @message\n".join(messages[at] for at in expected)


def test_messages_are_numbered_across_logs(rdfm):
    assert (
        rdfm("cat", "a.nq", "b.nq", "-m", "3").out == "<http://e/b> <http://e/p> <http://e/o> .\n"
    )


@pytest.mark.parametrize("name", ["a.jelly", "a.nq.gz", "a.tar", "folder/"])
def test_cat_reads_any_log(rdfm, name):
    assert rdfm("convert", "a.nq", name, "--to", "jelly" if name == "a.jelly" else "nq").code == 0
    assert rdfm("cat", name, "-m", "2").out == "_:x <http://e/p> _:x .\n"


def test_each_kind_of_log_is_shown_in_its_default_format(rdfm):
    patch = "TX .\nA <http://e/s> <http://e/p> <http://e/o> .\nTC .\n"
    Path("p.rdfp").write_text(patch)
    Path("r.tsv").write_text("?x\n<http://e/1>\n<http://e/2>\n")
    assert rdfm("cat", "p.rdfp").out == patch
    assert rdfm("cat", "r.tsv", "-m", "1").out == "?x\n<http://e/2>\n"
    Path("folder").mkdir()
    Path("folder/p.rdfp").write_text(patch)
    assert rdfm("cat", "folder").out == patch
    library.convert("p.rdfp", "p.parquet")
    assert rdfm("cat", "p.parquet").out == patch


def test_the_default_graph_can_be_named(rdfm):
    run = rdfm("cat", "a.nq", "-m", "0:2", "--default-graph-as", "http://e/d", "--to", "nq")
    assert run.out == (
        "<http://e/s> <http://e/p> <http://e/o> <http://e/d> .\n# @message\n"
        '<http://e/s> <http://e/p> "2" <http://e/g> .\n'
    )
    Path("p.rdfp").write_text("TX .\nTC .\n")
    run = rdfm("cat", "p.rdfp", "--default-graph-as", "http://e/d")
    assert "p.rdfp contains patches, but --default-graph-as applies to messages" in run.error
    assert run.code == 2


def quads(message):
    return [tuple(map(as_tuple, quad)) for quad in message]


def assert_cat_shows_the_messages(rdfm, path, options):
    """Checks that `cat`, `head` and `tail` print the messages that `open_log` reads."""
    with library.open_log(path, **options) as log:
        messages = [relabelled(quads(message)) for message in log]
    arguments = ["--generalized"] if options else []

    def messages_shown(command, *selection):
        run = rdfm(command, path, *selection, *arguments, "--to", "nq")
        assert run.code == 0, run.err
        return [
            relabelled(message) for message in decoded("nq", run.out.encode(), generalized=True)
        ]

    assert messages_shown("cat", "-m", "::3") == messages[::3]
    assert messages_shown("head", "-n", "2") == messages[:2]
    assert messages_shown("tail", "-n", "1") == messages[-1:]


@pytest.mark.slow
@pytest.mark.parametrize("folder", LOGS)
def test_fixtures_are_shown(rdfm, folder):
    for path in LOGS[folder]:
        assert_cat_shows_the_messages(rdfm, path, reading_options(path))


@pytest.mark.suites
@pytest.mark.parametrize(
    "folder", ["jelly", "logs", "nanopubs", "riverbench/nanopubs", "riverbench/officegraph"]
)
def test_real_logs_are_shown(rdfm, folder):
    paths = sorted(suites.path("data", folder).iterdir())
    assert len(paths) > 1
    for path in paths:
        assert_cat_shows_the_messages(rdfm, path, {})


def test_skipped_messages_are_reported(rdfm):
    run = rdfm("cat", "bad.nq", "--on-error", "skip", "--to", "nq")
    assert run.code == 0
    assert run.out == (
        "<http://e/1> <http://e/p> <http://e/o> .\n# @message\n"
        "<http://e/3> <http://e/p> <http://e/o> .\n"
    )
    assert run.err.startswith("rdfm: skipped: bad.nq: nq: ")
    run = rdfm("cat", "a.nq", "--to", "nt", "--merge-graphs")
    assert run.err == "rdfm: dropped: 1 graph name\n"


def test_skipped_messages_keep_their_indexes(rdfm):
    for slice_ in ("2", "-1", "1:", "-2:"):
        run = rdfm("cat", "bad.nq", "-m", slice_, "--on-error", "skip", "--to", "nq")
        assert run.out == "<http://e/3> <http://e/p> <http://e/o> .\n", slice_
    with library.open_log("bad.nq", messages="2") as log:
        with pytest.raises(library.DecodeError):
            list(log)
        log.skip_message()
        assert [message.message_index for message in log] == [2]


def test_messages_before_an_error_are_printed(rdfm):
    run = rdfm("cat", "bad.nq", "--to", "nq")
    assert run.code == 1
    assert run.out.startswith("<http://e/1> <http://e/p> <http://e/o> .\n")
    assert "bad.nq: nq: " in run.error


def test_an_error_after_the_selection_is_not_reached(rdfm):
    assert rdfm("cat", "bad.nq", "-m", "0", "--to", "nq").code == 0


def test_colours_are_printed_on_request(rdfm):
    run = rdfm("cat", "a.nq", "-m", "1", "--color", "always")
    assert '\x1b[32m"2"\x1b[0m' in run.out
    assert "\x1b[34m<http://e/g>\x1b[0m" in run.out
    assert "\x1b" not in rdfm("cat", "a.nq", "--color", "auto").out
    assert "\x1b" not in rdfm("cat", "a.nq", "--color", "never").out


def on_terminal(*arguments, **environment):
    """Returns the output of a command on a terminal."""
    parent_end, child_end = pty.openpty()
    variables = {
        name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "rdfm", *arguments],
        stdout=child_end,
        stderr=subprocess.STDOUT,
        env={**variables, "TERM": "xterm", **environment},
    )
    os.close(child_end)
    output = b""
    while True:
        try:
            piece = os.read(parent_end, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        output += piece
    assert process.wait(60) == 0
    os.close(parent_end)
    return output.decode().replace("\r\n", "\n")


def test_a_terminal_shows_colours_unless_disabled(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.nq").write_text('<http://e/s> <http://e/p> "\\u001B[2J\u009b" .\n')
    plain = '<http://e/s> <http://e/p> "\\u001B[2J\\u009B" .\n'
    coloured = on_terminal("cat", "a.nq")
    assert coloured.startswith("\x1b[34m<http://e/s>\x1b[0m ")
    assert "\u009b" not in coloured
    assert on_terminal("cat", "a.nq", NO_COLOR="1") == plain
    assert on_terminal("cat", "a.nq", TERM="dumb") == plain
    assert on_terminal("cat", "a.nq", "--color", "never") == plain


@pytest.mark.parametrize(
    "arguments",
    [
        ["cat", "a.nq", "--color", "never"],
        ["convert", "a.nq", "-", "--to", "ttl"],
        ["convert", "a.nq", "/dev/stdout", "--to", "ndjsonld"],
        ["filter", "a.nq", "--any", "<http://e/p>", "--to", "nq"],
        ["query", "SELECT ?o {?s ?p ?o}", "a.nq"],
        ["query", "SELECT ?o {?s ?p ?o}", "a.nq", "--to", "results-csv"],
        ["query", "CONSTRUCT WHERE {?s ?p ?o}", "a.nq"],
        ["patch", "from-log", "a.nq", "-"],
        ["inspect", "a.nq"],
        ["inspect", "a.nq", "--rdf"],
        ["inspect", "a.nq", "--html", "-"],
    ],
    ids=" ".join,
)
def test_a_terminal_gets_no_control_or_bidirectional_characters(tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    text = '<http://e/s> <http://e/p> "\\u001B[2Jx\u202e\u2066\u200f\u061c" .\n'
    Path("a.nq").write_text(text.replace("\u202e", "\u202eé"), encoding="utf-8")
    output = on_terminal(*arguments, NO_COLOR="1")
    assert not set(output) & set("\x1b\u202e\u2066\u200f\u061c")


def test_colours_do_not_change_the_text(rdfm):
    import re

    for name in ("nq", "trig", "ndjsonld", "yamlld", "rdfxml"):
        arguments = ["cat", "b.nq", "--to", name]
        coloured = rdfm(*arguments, "--color", "always").out
        assert "\x1b" in coloured
        assert re.sub("\x1b\\[[0-9]*m", "", coloured) == rdfm(*arguments).out


def test_colours_do_not_depend_on_the_piece_size(tmp_path):
    text = 'a:b a:c "é" .\n# @message\n[] a 5 .'.encode()
    outputs = []
    for size in (1, 3, len(text)):
        with (tmp_path / "out").open("w+b", buffering=0) as file:
            screen = Screen(file, colours=True)
            for at in range(0, len(text), size):
                screen.write(text[at : at + size])
            screen.end()
            file.seek(0)
            outputs.append(file.read())
    assert len(set(outputs)) == 1
    assert b'\x1b[32m"\xc3\xa9"\x1b[0m' in outputs[0]


def test_json_lines_are_self_contained(rdfm):
    run = rdfm("cat", "a.nq", "--to", "ndjsonld", "-m", "0:1")
    assert json.loads(run.out)["@id"] == "http://e/s"


def test_a_closed_pipe_ends_cat(tmp_path):
    log = tmp_path / "big.nq"
    log.write_text(f"{QUAD}\n# @message\n" * 200_000)
    command = f"{sys.executable} -m rdfm cat {log} | head -n 1"
    completed = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
    assert (completed.stdout, completed.stderr) == (f"{QUAD}\n", "")


@pytest.mark.parametrize("command", ["head", "tail"])
def test_a_count_may_be_written_as_in_coreutils(rdfm, command):
    assert rdfm(command, "-2", "a.nq").out == rdfm(command, "-n", "2", "a.nq").out
    assert (
        rdfm(command, "a.nq", "-1", "--to", "nq").out
        == rdfm(command, "-n", "1", "a.nq", "--to", "nq").out
    )
    assert rdfm(command, "-2", "a.nq").out != rdfm(command, "-1", "a.nq").out
