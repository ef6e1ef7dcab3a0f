"""rdfm convert and the other commands behave as their help describes."""

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import tarfile
from pathlib import Path

import click
import pytest

import rdfm as package

RDFM = [sys.executable, "-m", "rdfm"]
A = "<http://e/s> <http://e/p> <http://e/o> .\n"
B = '<http://e/s> <http://e/p> "2" <http://e/g> .\n'
C = "_:x <http://e/p> _:x .\n"
DELIMITER = "# @message\n"
# Modules that take at least a millisecond to import and are not needed to convert a small file.
COSTLY_MODULES = {
    "concurrent.futures",
    "hashlib",
    "json",
    "logging",
    "pyarrow",
    "random",
    "rdfm.formats.arrow_sizes",
    "rdfm.formats.parquet_sizes",
    "rdfm.logs.write.log_end",
    "rdfm.logs.read.plan",
    "rdfm.logs.read.seek",
    "rdfm.sparql",
    "rdfm.storage.contexts",
    "rdfm.storage.http",
    "rdfm.storage.live",
    "shutil",
    "tarfile",
    "tempfile",
    "tqdm",
    "urllib3",
}


def spawn(*arguments, **settings):
    environment = {**os.environ, "PYTHONPATH": str(Path(package.__file__).parent.parent)}
    settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": environment} | settings
    return subprocess.Popen([*RDFM, *arguments], **settings)


def test_version_is_printed(rdfm):
    assert rdfm("--version").out == f"rdfm {package.__version__}\n"


def test_converting_a_small_file_does_not_import_costly_modules(tmp_path):
    (tmp_path / "a.nq").write_text(A)
    program = """
import sys
from rdfm.cli import main
try:
    main(["convert", "a.nq", "a.jelly"])
finally:
    print(*sys.modules)
"""
    command = [sys.executable, "-c", program]
    root = str(Path(package.__file__).parent.parent)
    environment = {**os.environ, "PYTHONPATH": root}
    output = subprocess.check_output(command, cwd=tmp_path, env=environment, text=True, timeout=60)
    imported = set(output.split())
    assert "rdfm.conversion.convert" in imported
    assert imported.isdisjoint(COSTLY_MODULES), imported & COSTLY_MODULES


def test_a_log_is_unchanged_after_conversion_to_jelly_and_back(rdfm):
    run = rdfm("convert", "a.nq", "a.jelly.gz")
    assert run.code == 0
    assert run.out == ""
    assert run.err.startswith("rdfm: 3 messages, 3 quads: ")
    rdfm("convert", "a.jelly.gz", "back.nq")
    assert Path("back.nq").read_text() == A + DELIMITER + B + DELIMITER + C


def test_quiet_prints_nothing(rdfm):
    assert rdfm("convert", "a.nq", "a.jelly", "-q").err == ""


def test_several_inputs_are_one_log(rdfm):
    rdfm("convert", "a.nq", "b.nq", "-o", "all.nq")
    assert (
        Path("all.nq").read_text()
        == A + DELIMITER + B + DELIMITER + C + DELIMITER + Path("b.nq").read_text()
    )


def test_an_existing_output_is_replaced(rdfm):
    for _ in range(2):
        assert rdfm("convert", "a.nq", "-o", "out.nq").code == 0
    for _ in range(2):
        # The formats differ, so the second name is the output.
        assert rdfm("convert", "a.nq", "out.jelly").code == 0


def test_message_per_file_reads_each_input_as_a_message(rdfm):
    Path("empty.nq").write_text("")
    rdfm("convert", "--message-per-file", "b.nq", "empty.nq", "b.nq", "-o", "out.jelly")
    assert "messages         3 (1 empty)" in rdfm("inspect", "out.jelly").out
    run = rdfm("convert", "--message-per-file", "a.nq", "-o", "out.jelly")
    assert run.code == 1
    assert run.error.startswith("a.nq: nq: contains more than one message")
    rdfm("convert", "--message-per-file", "--from-dialect", "plain", "a.nq", "-o", "out.nq")
    assert Path("out.nq").read_text() == A + B + C


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--skip", "1"], B + DELIMITER + C),
        (["--take", "1"], A),
        (["--skip", "1", "--take", "1"], B),
        (["--skip", "9"], ""),
        (["--take", "0"], ""),
    ],
)
def test_skip_and_take_select_output_messages(rdfm, options, expected):
    assert rdfm("convert", "a.nq", "out.nq", *options).code == 0
    assert Path("out.nq").read_text() == expected


def test_messages_beyond_take_are_not_read(rdfm):
    assert rdfm("convert", "bad.nq", "-o", "out.nq", "--take", "1").code == 0


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], A + DELIMITER + A),
        (["--to-dialect", "directive"], f'VERSION "1.2-messages"\n{A}MESSAGE\n{A}'),
        (["--to-dialect", "comment"], A + DELIMITER + A),
        (
            ["--to-dialect", "directive", "--version-label", "1.1-messages"],
            f'VERSION "1.1-messages"\n{A}MESSAGE\n{A}',
        ),
        (["--flat"], A + A),
        (["--from-dialect", "plain"], A + A),
        (["--to-dialect", "plain"], A + A),
        (
            ["--from-dialect", "plain", "--to-dialect", "directive"],
            f'VERSION "1.2-messages"\n{A}{A}',
        ),
    ],
)
def test_a_comment_log_is_written_in_each_dialect(rdfm, options, expected):
    Path("in.nq").write_text(A + DELIMITER + A)
    assert rdfm("convert", "in.nq", "out.nq", *options).code == 0
    assert Path("out.nq").read_text() == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], f'VERSION "1.2-messages"\n{A}MESSAGE\n{A}'),
        (["--to-dialect", "comment"], A + DELIMITER + A),
        (["--from-dialect", "directive", "--to-dialect", "comment"], A + DELIMITER + A),
    ],
)
def test_a_directive_log_is_written_in_each_dialect(rdfm, options, expected):
    Path("in.nq").write_text(f'VERSION "1.1-messages"\n{A}MESSAGE\n{A}')
    assert rdfm("convert", "in.nq", "out.nq", *options).code == 0
    assert Path("out.nq").read_text() == expected


def test_messages_can_be_announced_by_an_option(rdfm):
    Path("in.nq").write_text(f"{A}MESSAGE\n{A}")
    assert rdfm("convert", "in.nq", "out.nq").code == 1
    assert rdfm("convert", "in.nq", "out.nq", "--announced", "1.2-messages").code == 0
    assert Path("out.nq").read_text() == f'VERSION "1.2-messages"\n{A}MESSAGE\n{A}'


def test_graph_names_are_dropped_on_request(rdfm):
    result = rdfm("convert", "a.nq", "out.nt", "--merge-graphs")
    assert result.code == 0
    assert result.err.endswith("rdfm: dropped: 1 graph name\n")
    assert (
        Path("out.nt").read_text() == A + DELIMITER + B.replace(" <http://e/g>", "") + DELIMITER + C
    )


def jelly_options(rdfm, *arguments):
    assert rdfm("convert", *arguments).code == 0
    return json.loads(rdfm("inspect", "--json", "out.jelly").out)["options"]


def test_jelly_options_are_written_to_the_log(rdfm):
    Path("t.nt").write_text(A)
    default = {
        "physical_type": "triples",
        "logical_type": "graphs",
        "jelly_version": 1,
        "rdf_star": True,
    }
    maximum = {"name_table": 4000, "prefix_table": 150, "datatype_table": 32, "generalized": False}
    assert jelly_options(rdfm, "t.nt", "out.jelly").items() >= (default | maximum).items()
    quads = {"physical_type": "quads", "logical_type": "datasets"}
    assert jelly_options(rdfm, "a.nq", "out.jelly").items() >= quads.items()
    custom = jelly_options(
        rdfm, "a.nq", "out.jelly", "--physical-type", "graphs", "--logical-type", "named-graphs",
        "--name-table", "8", "--prefix-table", "0", "--datatype-table", "4", "--stream-name", "x",
    )  # fmt: skip
    assert custom == {
        "stream_name": "x", "physical_type": "graphs", "logical_type": "named_graphs",
        "generalized": False, "rdf_star": True, "name_table": 8, "prefix_table": 0,
        "datatype_table": 4, "jelly_version": 1,
    }  # fmt: skip
    Path("out.jelly").rename("own.jelly")
    assert jelly_options(rdfm, "own.jelly", "-o", "out.jelly") == custom
    assert jelly_options(rdfm, "t.nt", "out.jelly", "--options-from", "own.jelly") == custom
    assert jelly_options(rdfm, "a.nq", "out.jelly", "--namespaces")["jelly_version"] == 2
    assert jelly_options(rdfm, "a.nq", "out.jelly", "--generalized")["generalized"] is True
    flat = jelly_options(rdfm, "b.nq", "out.jelly", "--frames", "flat")
    assert flat["logical_type"] == "flat_quads"


def test_later_inputs_may_contain_graphs(rdfm):
    Path("t.nt").write_text(A)
    assert jelly_options(rdfm, "t.nt", "a.nq", "-o", "out.jelly")["physical_type"] == "quads"


def test_standard_streams_are_read_and_written(rdfm):
    arguments = ["convert", "-", "-", "--from", "nq", "--to", "nq", "-q"]
    process = spawn(*arguments, stdin=subprocess.PIPE)
    out, err = process.communicate((A + DELIMITER + B).encode())
    assert (process.returncode, out.decode(), err) == (0, A + DELIMITER + B, b"")


def test_standard_input_is_converted_as_it_arrives(rdfm):
    process = spawn("convert", "-", "-", "--from", "nq", "--to", "nq", stdin=subprocess.PIPE)
    for byte in (A + DELIMITER + A).encode():
        os.write(process.stdin.fileno(), bytes([byte]))
    # The first message is complete and is written before the end of the input.
    assert os.read(process.stdout.fileno(), 10_000).decode() == A
    process.communicate()
    assert process.returncode == 0


@pytest.mark.skipif(os.name == "nt", reason="needs Unix pipes")
def test_a_closed_pipe_ends_quietly(rdfm):
    Path("big.nq").write_text((A + DELIMITER) * 50_000)
    process = spawn("convert", "big.nq", "-", "--to", "nq", "-q")
    os.read(process.stdout.fileno(), 10)
    process.stdout.close()
    assert process.wait(timeout=30) == -signal.SIGPIPE  # as with cat; 141 in a shell
    assert process.stderr.read() == b""
    process.stderr.close()


def test_formats_are_listed(rdfm):
    run = rdfm("formats")
    tables = [table.splitlines() for table in run.out.split(":\n\n")[1:]]
    for kind, (head, *lines) in zip(("messages", "patches", "results"), tables, strict=True):
        assert head.split()[:5] == ["name", "title", "reads", "writes", "suffixes"]
        specs = [package.formats.find(name).spec for name in package.formats.names()]
        names = [spec.name for spec in specs if kind in spec.kinds]
        assert [line.split()[0] for line in lines[: len(names)]] == names
    rows = json.loads(rdfm("formats", "--json").out)
    assert rows[1]["name"] == "nq"
    assert rows[1]["carries"]["graphs"] is True


def test_inspect_describes_a_log(rdfm):
    Path("a.nq.gz").write_bytes(gzip.compress(Path("a.nq").read_bytes()))
    run = rdfm("inspect", "a.nq.gz", "b.nq")
    assert run.code == 0
    assert "format           nq, gzip" in run.out
    assert "dialect          comment" in run.out
    assert "quads            3, some in named graphs" in run.out
    assert "3  http://e/p" in run.out
    report = json.loads(rdfm("inspect", "--json", "a.nq").out)
    assert report["messages"] == 3
    assert report["quads_per_message"] == [1, 1.0, 1]
    assert report["datatypes"] == {"http://www.w3.org/2001/XMLSchema#string": 1}
    assert report["error"] is None


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_printed(rdfm, shell):
    run = rdfm("completion", shell)
    assert "_RDFM_COMPLETE" in run.out
    assert run.code == 0


def test_completion_offers_input_and_output_options():
    from click.shell_completion import ShellComplete

    from rdfm.cli.app import app

    complete = ShellComplete(app, {}, "rdfm", "_RDFM_COMPLETE")

    def completions(*arguments, incomplete):
        return {item.value for item in complete.get_completions(list(arguments), incomplete)}

    assert {"--to-frames", "--to-dialect"} <= completions("convert", incomplete="--to-")
    assert {"--from-max-depth", "--from-undelimited"} <= completions(
        "convert", incomplete="--from-"
    )
    assert all(name.startswith("--from-fr") for name in completions("cat", incomplete="--from-fr"))
    assert completions("convert", incomplete="--to-frames") == {"--to-frames"}
    assert "--dialect" not in completions("convert", incomplete="--d")


@pytest.mark.parametrize("command", ["convert", "inspect", "formats", "completion", "help"])
def test_each_command_has_help(rdfm, command):
    run = rdfm(command, "--help")
    assert run.code == 0
    assert run.out.startswith(f"Usage: rdfm {command}")
    assert "\\b" not in run.out


def test_the_docstring_names_every_format():
    documented = " ".join(package.__doc__.split())
    specs = [package.formats.find(name).spec for name in package.formats.names()]
    for word, kind in (("Message", "messages"), ("Patch", "patches"), ("Result", "results")):
        listed = re.search(rf"{word} formats: ([^.]*)\.", documented)[1]
        titles = listed.replace(" and ", ", ").split(", ")
        assert titles == [spec.title for spec in specs if kind in spec.kinds]


def test_help_names_every_format_and_command(rdfm):
    help = rdfm("--help").out
    joined = re.sub(r"-\s+", "-", help)  # names may be wrapped at a hyphen
    listed = re.findall(r"[a-z ]+ formats: ([^.]*)\.", joined, re.I)
    names = re.findall(r"[a-z-]+(?=,|$)", ",".join(listed))
    assert sorted(names) == sorted(package.formats.names())
    assert "Example:\n    rdfm convert nanopubs.jelly.gz nanopubs.trig" in help
    for command in ("head", "tail", "convert", "help"):
        assert re.search(rf"^  {command} +[A-Z]", help, re.M)


COMMANDS = [
    *("convert", "cat", "head", "tail", "inspect", "validate", "diff", "filter", "query"),
    *("patch apply", "patch revert", "patch diff", "patch to-log", "patch from-log"),
    *("riverbench package", "riverbench check"),
]


@pytest.mark.parametrize("command", COMMANDS)
def test_short_help_omits_the_format_options_of_complete_help(rdfm, command):
    short, complete = rdfm(*command.split(), "--help"), rdfm("help", *command.split())
    assert (short.code, complete.code) == (0, 0)
    assert len(short.out.splitlines()) <= 60
    assert "Example" in short.out
    assert "--max-message-bytes" not in short.out
    assert "--max-message-bytes" in complete.out
    assert complete.out.startswith(f"Usage: rdfm {command} ")
    if command != "inspect":
        assert f"rdfm help {command}" in short.out


def test_help_rejects_an_unknown_command(rdfm):
    assert "No such command 'frobnicate'" in rdfm("help", "frobnicate").error
    assert "No such command 'convert apply'" in rdfm("help", "convert", "apply").error
    assert rdfm("help").out == rdfm("--help").out


def test_the_help_for_filter_lists_criteria_first(rdfm):
    help = rdfm("filter", "--help").out
    headings = re.findall(r"^([A-Z][a-z ]+):$", help, re.M)
    assert headings[:3] == ["Criteria", "Input", "Output"]
    assert "  -o, --output OUT" in help.partition("Output:")[2].partition("\n\n")[0]


def test_the_convert_command_has_every_option_of_the_python_function():
    from rdfm.cli.convert import command

    parameters = command.get_params(click.Context(command))
    options = {each.name for each in parameters} - {
        "files",
        "headers",
        "output",
        "quiet",
        "_click_default_help",
    }
    accepted = set(package.ConvertOptions.__annotations__)
    assert options == {name for name in accepted if not re.match("(from_|to_)?batch_", name)}


@pytest.mark.parametrize(
    ("options", "physical", "logical"),
    [
        (["--logical-type", "named-graphs"], "quads", "named_graphs"),
        (["--logical-type", "flat-triples"], "triples", "flat_triples"),
        (["--physical-type", "graphs"], "graphs", "datasets"),
        (["--physical-type", "quads", "--frames", "flat"], "quads", "flat_quads"),
        (["--frames", "flat"], "triples", "flat_triples"),
        (["--logical-type", "unspecified"], "triples", "unspecified"),
    ],
)
@pytest.mark.parametrize("source", ["t.nt", "t.jelly"])
def test_the_logical_type_matches_the_physical_type(rdfm, source, options, physical, logical):
    Path("t.nt").write_text(A)
    rdfm("convert", "t.nt", "t.jelly")
    options = [option.replace("--frames", "--to-frames") for option in options]
    found = jelly_options(rdfm, source, "-o", "out.jelly", *options)
    assert (found["physical_type"], found["logical_type"]) == (physical, logical)


def test_namespaces_of_the_input_are_declared(rdfm):
    Path("t.ttl").write_text("PREFIX ex: <http://e/>\nex:s ex:p ex:o .\n")
    assert jelly_options(rdfm, "t.ttl", "out.jelly")["jelly_version"] == 2
    assert jelly_options(rdfm, "out.jelly", "-o", "again.jelly")["jelly_version"] == 2
    assert jelly_options(rdfm, "t.ttl", "-o", "out.jelly", "--no-namespaces")["jelly_version"] == 1
    rdfm("convert", "a.nq", "-o", "out.trig", "--prefix", "e=http://e/")
    assert Path("out.trig").read_text().startswith("PREFIX e: <http://e/>\ne:s e:p e:o .\n")


def test_json_ld_is_compacted_with_a_context_from_a_file(rdfm):
    Path("c.jsonld").write_text(
        '{"@context": {"e": "http://e/", "p": {"@id": "e:p", "@type": "@id"}}}'
    )
    rdfm("convert", "a.nq", "a.ndjsonld", "--compact-with", "c.jsonld")
    lines = Path("a.ndjsonld").read_text().splitlines()
    assert json.loads(lines[0]) == json.loads(Path("c.jsonld").read_text())
    assert json.loads(lines[1]) == {"@id": "e:s", "p": "e:o"}
    rdfm("convert", "a.ndjsonld", "back.nq")
    assert Path("back.nq").read_text() == A + DELIMITER + B + DELIMITER + C
    run = rdfm("convert", "a.nq", "c.nq", "--compact-with", "c.jsonld")
    assert run.code == 2
    assert "the option --compact-with is for writing NDJSON-LD" in run.err
    run = rdfm("convert", "a.nq", "b.ndjsonld", "--compact-with", "none.jsonld")
    assert run.code == 2
    assert "the context cannot be read: none.jsonld" in run.err
    assert not Path("b.ndjsonld").exists()


@pytest.mark.parametrize(
    "arguments", [["convert", "t.ttl", "-"], ["convert", "t.ttl", "-o", "-"], ["cat", "t.ttl"]]
)
def test_json_lines_on_standard_output_are_self_contained(rdfm, arguments):
    text = "PREFIX ex: <http://e/>\nex:s ex:p 1 .\n# @message\n# @message\nex:s ex:p 2 ."
    Path("t.ttl").write_text(text)
    self_contained = rdfm(*arguments, "--to", "ndjsonld").out
    first, empty, last = map(json.loads, self_contained.splitlines())
    assert (first["@context"], first["ex:p"]) == ({"ex": "http://e/"}, 1)
    assert (empty, last["@context"], last["ex:p"]) == ({}, {"ex": "http://e/"}, 2)
    # The option applies in both spellings, and files keep their default.
    rdfm("convert", "t.ttl", "t.ndjsonld")
    for option in ("--context-lines", "--to-context-lines"):
        run = rdfm(*arguments, "--to", "ndjsonld", option, "first")
        assert run.out == Path("t.ndjsonld").read_text()
        assert json.loads(run.out.splitlines()[0]) == {"@context": {"ex": "http://e/"}}
        assert "@context" not in rdfm(*arguments, "--to", "ndjsonld", option, "none").out
    # The output contains the same messages.
    Path("every.ndjsonld").write_text(self_contained)
    for name in ("t", "every"):
        rdfm("convert", f"{name}.ndjsonld", f"{name}.nq")
    assert Path("t.nq").read_text() == Path("every.nq").read_text()
    # Other formats have no special default on standard output.
    assert rdfm(*arguments, "--to", "yamlld").out.startswith('"@context":\n  ex: http://e/\n---\n')
    assert "(first; every on standard output)" in re.sub(
        r"\s+", " ", rdfm("help", arguments[0]).out
    )


@pytest.fixture
def without_logs(rdfm):
    """A folder and an archive that contain no logs; the folder has a hidden file."""
    Path("empty").mkdir()
    Path("empty/_SUCCESS").touch()
    with tarfile.open("empty.tar", "w"):
        pass


@pytest.mark.parametrize("name", ["empty", "empty/", "empty.tar", "[e]mpty"])
@pytest.mark.parametrize(
    "arguments",
    [
        "convert {} out.nq",
        "convert {} out.nq --sample 3",
        "convert {} out.nq --on-error skip",
        "cat {}",
        "head {}",
        "tail {}",
        "filter {} --any <x:a>",
        "filter {} --any <x:a> --count",
        "filter {} --any <x:a> -o out.nq",
        "query ASK{?s?p?o} {}",
        "query SELECT*{?s?p?o} {}",
        "query --whole SELECT*{?s?p?o} {}",
        "query CONSTRUCT{?s?p?o}WHERE{?s?p?o} {} -o out.nq",
        "nanopub list {} -o out.csv",
        "patch from-log {} out.rdfp",
        "patch to-log {} out.nq --from rdf-patch",
        "patch revert {} --from rdf-patch -o out.rdfp",
        "patch apply b.nq {} --patch-format rdf-patch -o out.nq",
        "patch diff {} b.nq -o out.rdfp",
    ],
)
def test_an_input_without_logs_is_an_error_and_replaces_no_output(
    rdfm, without_logs, arguments, name
):
    for old in ("out.nq", "out.rdfp", "out.csv"):
        Path(old).write_text("old")
    run = rdfm(
        *(
            argument if "?" in argument else argument.replace("{}", name)
            for argument in arguments.split()
        )
    )
    assert (run.code, run.out) == (2, "")
    assert f"{name} contains no logs; check the path" in run.error
    assert {Path(old).read_text() for old in ("out.nq", "out.rdfp", "out.csv")} == {"old"}


def test_a_filter_without_matches_and_an_empty_log_replace_the_output(rdfm):
    Path("none.nq").touch()
    for arguments in (("filter", "a.nq", "--any", "<x:a>", "-o"), ("convert", "none.nq")):
        Path("out.nq").write_text("old")
        assert rdfm(*arguments, "out.nq").code == 0
        assert Path("out.nq").read_text() == ""


def test_inputs_without_logs_among_others_are_noted(rdfm, without_logs):
    run = rdfm("convert", "a.nq", "empty", "empty.tar", "b.nq", "-o", "out.nq")
    notes = [line for line in run.err.splitlines() if "note: " in line]
    assert notes == [f"rdfm: note: {name} contains no logs" for name in ("empty", "empty.tar")]
    assert run.err.startswith("rdfm: 4 messages")
    run = rdfm("convert", "a.nq", *["empty"] * 12, "-o", "out.nq")
    assert run.err.splitlines()[-1] == "rdfm: note: 2 more inputs contain no logs"
    run = rdfm("convert", *["empty"] * 12, "-o", "out.nq")
    assert "empty and 11 more inputs contain no logs" in run.error
    assert "note" not in rdfm("convert", "empty", "a.nq", "-o", "out.nq", "-q").err
    run = rdfm("diff", "empty", "empty")
    assert run.err.splitlines().count("rdfm: note: empty contains no logs") == 1
    # A file without messages is a log, and inputs after the last selected message are not opened.
    Path("none.nq").touch()
    assert "note" not in rdfm("convert", "none.nq", "out.nq").err
    assert "note" not in rdfm("convert", "a.nq", "empty", "-o", "out.nq", "--take", "1").err
    Path("empty/README").write_text("hello")
    run = rdfm("convert", "empty", "out.nq")
    assert run.code == 1
    assert "neither its name nor its content identifies its format" in run.error
    run = rdfm("convert", "empty", "out.nq", "--on-error", "skip")
    assert "skipped: empty/README" in run.err
    assert "note" not in run.err


def test_inspect_reports_inputs_without_logs(rdfm, without_logs):
    for arguments in ((), ("--stats",)):
        run = rdfm("inspect", "empty", *arguments)
        assert run.out.splitlines()[-1].split() == ["notes", *["empty", "contains", "no", "logs"]]
    assert json.loads(rdfm("inspect", "--json", "empty.tar").out)["notes"] == [
        "empty.tar contains no logs"
    ]
    assert "empty contains no logs" in rdfm("inspect", "--html", "-", "empty").out
    run = rdfm("validate", "empty")
    assert (run.code, run.out) == (0, "empty: warning: contains no logs [no-logs]\n")
    assert rdfm("validate", "empty", "--strict").code == 1
    assert package.inspect("empty").notes == ("empty contains no logs",)
    assert package.statistics("empty").notes == ("empty contains no logs",)


@pytest.mark.parametrize(
    "arguments",
    [
        "cat log.nq",
        "convert log.nq out.nq",
        "filter log.nq --any <x:a>",
        "filter log.nq --any <x:a> --count",
        "query SELECT*{?s?p?o} log.nq",
        "query CONSTRUCT{?s?p?o}WHERE{?s?p?o} log.nq -o out.nq",
    ],
)
def test_remedies_for_skipped_errors_name_command_line_options(rdfm, arguments):
    Path("log.nq").write_text("<x:s> <x:p> <x:o> .\nMESSAGE\n<x:s> <x:p> <x:o> .\n")
    run = rdfm(*arguments.split(), "--on-error", "skip")
    (line,) = [line for line in run.err.splitlines() if line.startswith("rdfm: skipped: ")]
    assert "; --lenient accepts it, or --announced 1.2-messages announces them" in line


def test_remedies_in_a_report_name_command_line_options(rdfm):
    Path("log.nq").write_text("<x:s> <x:p> <x:o> .\nMESSAGE\n")
    assert "; --lenient accepts it" in rdfm("inspect", "log.nq").out
    assert "; lenient=True accepts it" in package.inspect("log.nq").error


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("a.nq o.csv", "rdfm query writes the results of a query on messages"),
        ("a.nq o --to turtel", "there is no format 'turtel'; did you mean Turtle (ttl)?"),
        ("a.nq o --to json", "JSON-LD (jsonld) or SPARQL results in JSON (results-json)?"),
        ("jelly.nq o.trig", "the content looks like Jelly; --from jelly reads it"),
        ("nq.jelly o.trig", "the content looks like N-Quads; --from nq reads it"),
        ("a.nq o.nq --sample 120%", "--sample must be at most 100%, not 120%"),
        (
            "a.nq o.nq --group-by subjects",
            "--group-by must be message, subject, graph, cbd, nanopub, count=N",
        ),
        (
            "a.nq o.nq --from-dialect foo",
            "--dialect must be one of 'comment', 'directive', 'plain'",
        ),
    ],
)
def test_errors_suggest_corrections(rdfm, arguments, text):
    rdfm("convert", "a.nq", "t.jelly")
    Path("jelly.nq").write_bytes(Path("t.jelly").read_bytes())
    Path("nq.jelly").write_bytes(Path("a.nq").read_bytes())
    assert text in rdfm("convert", *arguments.split()).error


PREFIXED = "PREFIX ex: <http://e/>\nex:s ex:p ex:o .\n"


@pytest.mark.parametrize(
    ("name", "content", "options", "kept", "suggested"),
    [
        ("a.nt", "<x:s> <x:p> <x:o> <x:g> .\n", "", "no graph names", "nq"),
        ("a.nt", "<x:s> <x:p> <x:o> <bad iri> .\n", "", "no graph names", None),
        ("a.nq", PREFIXED, "", "no prefixed names", "trig"),
        ("a.nq", "<x:s> <x:p> ex:o .\n", "", "no prefixed names", None),
        ("a.nq", "<s> <x:p> <x:o> .\n", "", "--lenient accepts relative ones", None),
        ("a.ttl", "<s> <x:p> <x:o> <x:g> .\n", "", "expected '.'", None),
        ("a.ttl", "<x:a\\u0020b> <x:p> <x:o> .\n", "", "--lenient accepts the escape", None),
        (
            "a.nq",
            '<x:s> <x:p> "' + 5000 * "x" + '" .\n',
            "--max-message-bytes 1000",
            "--max-message-bytes",
            None,
        ),
    ],
)
@pytest.mark.parametrize("explicit", [False, True])
def test_another_format_is_suggested_only_if_it_reads_the_statement(
    rdfm, name, content, options, kept, suggested, explicit
):
    Path(name).write_text(content)
    source = ["--from", name.partition(".")[2]] if explicit else []
    error = rdfm("convert", name, "o.jelly", *options.split(), *source).error
    assert kept in error
    if suggested is None:
        assert "--from" not in error
    else:
        assert f"--from {suggested} reads it" in error


def test_relative_iris_are_written_only_if_lenient(rdfm):
    Path("a.nq").write_text("<s> <http://e/p> <> .\n")
    assert rdfm("convert", "a.nq", "a.jelly", "--lenient").code == 0
    for name in ("out.nt", "out.nq", "out.ttl", "out.trig", "out.rdf"):
        error = rdfm("convert", "a.jelly", name).error
        assert "the IRI 's' is relative" in error
        assert "--lenient writes it anyway" in error
        assert not Path(name).exists()
        assert rdfm("convert", "a.jelly", name, "--lenient").code == 0


def test_an_error_in_the_middle_of_a_line_does_not_suggest_another_format(rdfm):
    Path("x.nq").write_text("<http://e/s> <http://e/p> oops .\n")
    assert "looks like" not in rdfm("convert", "x.nq", "o.jelly").error
