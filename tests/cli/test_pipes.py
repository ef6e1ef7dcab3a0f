"""Commands read pipes, FIFOs and descriptors like files, and write to them."""

import builtins
import contextlib
import io
import os
import re
import signal
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

from rdfm.cli.app import _COMMANDS

LINES = [b'<http://e/s%d> <http://e/p> "%d" .\n' % (number, number) for number in range(10)]
MESSAGES = b"# @message\n".join(LINES)
CONTEXT = b'{"@context": {"name": "http://e/name"}}'
SHAPES = b"""@prefix sh: <http://www.w3.org/ns/shacl#> .
<http://e/S> a sh:NodeShape ; sh:targetSubjectsOf <http://e/p> ;
    sh:property [ sh:path <http://e/p> ; sh:maxCount 0 ] ."""
METADATA = b"""@prefix rb: <https://w3id.org/riverbench/schema/metadata#> .
@prefix stax: <https://w3id.org/stax/ontology#> .
<http://e/d> a rb:Dataset ; stax:hasStreamTypeUsage
    [ a stax:RdfStreamTypeUsage ; stax:hasStreamType stax:graphStream ] ."""
NAME = "the_input"
WAYS = ("-", "/dev/stdin", "FIFO", "descriptor")
# Commands that read logs. IN is the input, and FROM the option with its format.
COMMANDS = [
    "cat IN",
    "cat IN FROM",
    "cat IN a.nq FROM",
    "cat IN FROM -m -1",
    "cat IN FROM -m 5",
    "cat IN FROM -m -3:",
    "cat IN FROM -m 2:4",
    "cat IN -m ::3",
    "cat IN FROM --sample 50%",
    "head IN FROM -n 2",
    "head IN",
    "tail IN FROM -n 1",
    "tail IN -n 2",
    "convert IN out.nq FROM",
    "convert IN out.nq",
    "convert IN -",
    "convert IN out.nq FROM --jobs 4",
    "convert IN out.jelly FROM -m 2:4",
    "convert IN out.jelly FROM -m -2:",
    "convert IN out.nq FROM --skip 3 --take 2",
    "convert IN out/ FROM --to nq",
    "inspect IN",
    "inspect IN FROM --json",
    "inspect IN FROM --stats",
    "inspect IN --rdf",
    "inspect IN --html -",
    "validate IN",
    "validate IN FROM --json",
    "diff IN a.nq",
    "diff a.nq IN FROM",
    "diff a.nq IN --unordered --limit 0",
    "hash IN",
    "hash IN FROM -m 2:4",
    "hash IN a.nq FROM --log",
    'filter IN --object "3"',
    'filter IN FROM --object "3" --count',
    "query SELECT*{?s?p?o} IN FROM",
    "query SELECT*{?s?p?o} IN -o out.csv",
    "query CONSTRUCT{?s?p?o}WHERE{?s?p?o} IN",
    "query ASK{?s?p'3'} IN FROM",
    "query --whole SELECT(COUNT(*)AS?n){?s?p?o} IN FROM",
    "patch from-log IN out.rdfp",
    "patch diff a.nq IN -o out.rdfp --per-message",
    "patch diff --snapshots IN -o out.rdfp FROM",
    "nanopub list IN",
    "nanopub check IN FROM",
    "riverbench package IN -o out --stream-type graphs FROM",
]
# Commands without an input, and commands that read only files and folders.
WITHOUT_INPUT = {"serve", "formats", "completion", "help"}
# Its output contains the name of the input.
TABLE = "table IN FROM -o out.parquet"
REFUSED = [
    "cat IN FROM --sample 2",
    "hash IN --sample 2",
    "convert IN out.nq --sample 2",
    "diff IN a.nq --unordered",
    TABLE,
]
# Options that name a file: the content of the file, and the command.
OPTIONS = [
    (CONTEXT, "cat a.ndjsonld b.ndjsonld --expand-context IN"),
    (CONTEXT, "convert folder/ out.nq --jobs 4 --expand-context IN"),
    (CONTEXT, "validate a.ndjsonld b.ndjsonld --expand-context IN"),
    (CONTEXT, "query SELECT*{?s?p?o} folder/ --expand-context IN"),
    (CONTEXT, "diff a.ndjsonld b.ndjsonld --expand-context IN"),
    (CONTEXT, "diff folder/ folder/ --unordered --expand-context IN"),
    (CONTEXT, "hash folder/ --expand-context IN"),
    (CONTEXT, "inspect folder/ --stats --expand-context IN"),
    (CONTEXT, "filter folder/ --predicate <http://e/name> --count --expand-context IN"),
    (CONTEXT, "patch from-log folder/ out.rdfp --expand-context IN"),
    (CONTEXT, "patch diff --per-message a.ndjsonld folder/ -o out.rdfp --expand-context IN"),
    (CONTEXT, "convert folder/ out.ndjsonld --expand-context IN --compact-with IN"),
    (CONTEXT, "nanopub list folder/ --expand-context IN"),
    (CONTEXT, "riverbench package a.ndjsonld -o out --stream-type graphs --expand-context IN"),
    (CONTEXT, "cat remote/ --context http://e/c=IN"),
    (CONTEXT, "cat a.nq --to ndjsonld --compact-with IN"),
    (CONTEXT, "convert a.nq out/ --to ndjsonld --split-messages 1 --compact-with IN"),
    (CONTEXT, "convert a.nq out.ndjsonld --append --compact-with IN"),
    (b"SELECT * { ?s ?p ?o }", "query IN a.nq"),
    (SHAPES, "validate a.nq --shapes IN"),
    (METADATA, "riverbench package a.nq -o out --metadata IN"),
    ("jelly", "convert a.nq out.jelly --options-from IN"),
    ("jelly", "validate a.jelly --options-from IN"),
    (
        b'A <http://e/s> <http://e/p> "9" .\n',
        "patch apply b.nq IN -o out.nq --patch-format rdf-patch",
    ),
]


@contextmanager
def _alarm(seconds=60):
    """Interrupts a command that waits forever."""

    def stop(*_):
        raise TimeoutError("the command waits for a second writer")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _write(write):
    def run():
        with contextlib.suppress(OSError):  # the command has ended without reading everything
            write()

    threading.Thread(target=run, daemon=True).start()


def _write_pipe(descriptor, data):
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)


def _sharing(opening):
    """Returns a function that opens `/dev/fd/N` as on systems where it shares N's position."""

    def opened(path, *arguments, **settings):
        number = re.fullmatch(r"/dev/fd/(\d+)", path if isinstance(path, str) else str(path))
        return opening(path if number is None else os.dup(int(number[1])), *arguments, **settings)

    return opened


@contextmanager
def _given(way, data):
    """Provides an input in one of the ways, and yields its name."""
    if way == "file":
        Path(NAME).write_bytes(data)
        yield NAME
    elif way == "file by descriptor":
        Path(NAME).write_bytes(data)
        with Path(NAME).open("rb") as file, pytest.MonkeyPatch.context() as patches:
            for module, name in ((builtins, "open"), (io, "open"), (io, "FileIO")):
                patches.setattr(module, name, _sharing(getattr(module, name)))
            position = os.lseek(file.fileno(), 7, os.SEEK_SET)
            yield f"/dev/fd/{file.fileno()}"
            assert os.lseek(file.fileno(), 0, os.SEEK_CUR) == position
    elif way == "FIFO":
        os.mkfifo(NAME)
        _write(lambda: Path(NAME).write_bytes(data))
        yield NAME
    else:
        read, write = os.pipe()
        _write(lambda: _write_pipe(write, data))
        stdin = os.dup(0)
        try:
            if way == "descriptor":
                yield f"/dev/fd/{read}"
            else:
                os.dup2(read, 0)
                yield way
        finally:
            os.dup2(stdin, 0)
            os.close(stdin)
            os.close(read)


def _without(name, text):
    """Replaces the name of the input, times, and sizes that depend on the name."""
    shown = r"(?<=[-+]{3} )-(?=\n)|(?<=only in )-" if name == "-" else re.escape(name)
    # Pipes have neither a size nor a checksum.
    text = re.sub(r" ; spdx:checksum \[.*?hexBinary \]", "", text)
    variable = r"\d+\.\d\d s\b|[\d.]+ k?B written|\"bytes_total\": \w+"
    return re.sub(f"{shown}|standard input|{variable}", "…", text)


@pytest.fixture
def outcome(rdfm, tmp_path):
    """Returns a function that runs a command and returns everything that it does."""
    count = 0

    def run(command, way, data):
        nonlocal count
        count += 1
        folder = tmp_path / str(count)
        folder.mkdir()
        os.chdir(folder)
        folder.joinpath("a.nq").write_bytes(LINES[1] + b"# @message\n" + LINES[2])
        folder.joinpath("b.nq").write_bytes(LINES[1])
        for name in ("a.ndjsonld", "b.ndjsonld", "folder/1.ndjsonld", "folder/2.ndjsonld"):
            folder.joinpath(name).parent.mkdir(exist_ok=True)
            folder.joinpath(name).write_text('{"@id": "http://e/s", "name": "x"}\n' * 2)
        folder.joinpath("remote").mkdir()
        for name in ("1.ndjsonld", "2.ndjsonld"):
            line = '{"@context": "http://e/c", "@id": "http://e/s", "name": "x"}\n'
            folder.joinpath("remote", name).write_text(line)
        assert rdfm("convert", "a.nq", "a.jelly", "-q").code == 0
        if data == "jelly":
            data = folder.joinpath("a.jelly").read_bytes()
        before = {path: path.stat() for path in folder.rglob("*") if path.is_file()}
        with _given(way, data) as name, _alarm():
            words = command.replace("FROM", "--from nq").replace("IN", name).split()
            done = rdfm(*words)
        written = {
            path.relative_to(folder).as_posix(): _without(name, path.read_bytes().decode("latin-1"))
            for path in folder.rglob("*")
            if path.is_file() and path not in before and path.name != NAME
        }
        return done.code, _without(name, done.out), _without(name, done.err), written

    return run


def test_every_command_that_reads_logs_is_tested():
    tested = {command.split()[0] for command in (*COMMANDS, *REFUSED)}
    assert tested == set(_COMMANDS) - WITHOUT_INPUT


@pytest.mark.parametrize(
    "command", [*COMMANDS, *(command for command in REFUSED if command != TABLE)]
)
def test_a_file_by_descriptor_is_read_from_its_start(outcome, command):
    assert outcome(command, "file by descriptor", MESSAGES) == outcome(command, "file", MESSAGES)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_pipe_is_read_like_a_file(outcome, command):
    expected = outcome(command, "file", MESSAGES)
    for way in WAYS:
        assert outcome(command, way, MESSAGES) == expected, way


@pytest.mark.parametrize("command", REFUSED)
@pytest.mark.parametrize("way", WAYS)
def test_a_second_pass_over_a_pipe_is_refused(outcome, command, way):
    code, out, err, written = outcome(command, way, MESSAGES)
    assert (code, out, written) == (2, "", {})
    assert "can be read only once" in err


@pytest.mark.parametrize(("data", "command"), OPTIONS, ids=[command for _, command in OPTIONS])
def test_a_pipe_named_by_an_option_is_read_like_a_file(outcome, data, command):
    expected = outcome(command, "file", data)
    assert expected[0] in (0, 1), expected
    for way in ("FIFO", "descriptor", "/dev/stdin", "file by descriptor"):
        assert outcome(command, way, data) == expected, way


@pytest.mark.parametrize("command", ["cat IN", "convert IN -", "patch revert IN"])
def test_patches_in_a_pipe_have_their_default_format(outcome, command):
    patches = b"TX .\nA <http://e/s> <http://e/p> <http://e/o> .\nTC .\n"
    expected = outcome(f"{command} --from rdf-patch", "file", patches)
    assert expected[0] == 0
    for way in WAYS:
        assert outcome(f"{command} --from rdf-patch", way, patches) == expected, way


@pytest.mark.parametrize("command", ["cat", "diff", "validate", "inspect", "patch revert"])
def test_a_pipe_that_is_named_twice_is_an_error(rdfm, command):
    with _given("/dev/stdin", MESSAGES) as name:
        for names in (("-", "-"), ("-", name), (name, "/dev/fd/0")):
            done = rdfm(*command.split(), *names)
            assert done.code == 2
            assert "can be read only once" in done.error


@pytest.mark.parametrize("number", [1, 2, 3])
def test_output_is_added_at_the_position_of_a_descriptor(rdfm, tmp_path, number):
    path = tmp_path / "out.txt"
    out = os.open(path, os.O_WRONLY | os.O_CREAT)
    os.write(out, b"# first\n")
    saved = os.dup(number) if number < 3 else None
    if saved is not None:
        os.dup2(out, number)
    name = {1: "/dev/stdout", 2: "/dev/stderr", 3: f"/dev/fd/{out}"}[number]
    try:
        code = rdfm("convert", "a.nq", name, "--to", "nq", "-q").code
    finally:
        if saved is not None:
            os.dup2(saved, number)
            os.close(saved)
    os.write(out, b"# last\n")
    os.close(out)
    assert code == 0
    expected = b"# first\n" + (tmp_path / "a.nq").read_bytes() + b"# last\n"
    assert path.read_bytes() == expected
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.nq", "b.nq", "bad.nq", "out.txt"]


@pytest.mark.parametrize("command", ["convert a.nq OUT --to nq -q", "inspect a.nq --html OUT"])
def test_a_pipe_can_be_an_output(rdfm, command):
    name = "to.nq" if "convert" in command else "to.html"
    assert rdfm(*command.replace("OUT", name).split()).code == 0
    expected = Path(name).read_bytes()
    read, write = os.pipe()
    got = []

    def drain():
        with os.fdopen(read, "rb") as file:
            got.append(file.read())

    thread = threading.Thread(target=drain)
    thread.start()
    with _alarm():
        assert rdfm(*command.replace("OUT", f"/dev/fd/{write}").split()).code == 0
    os.close(write)
    thread.join()
    assert got[0] == expected
