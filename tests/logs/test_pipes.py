"""Functions open a pipe or a FIFO once, and refuse what needs a second pass."""

import os
import socket
import threading

import pytest

import rdfm
from rdfm import patch, plan_splits
from rdfm.errors import OptionError
from rdfm.logs.input.inputs import is_read_once, may_be_endless
from rdfm.spark.spark_options import Options

LOG = b"# @message\n".join(b'<http://e/s> <http://e/p> "%d" .\n' % index for index in range(5))


@pytest.fixture
def fifo(tmp_path):
    """Returns a FIFO to which another thread writes a log once."""
    path = tmp_path / "log"
    os.mkfifo(path)
    threading.Thread(target=path.write_bytes, args=(LOG,), daemon=True).start()
    return path


def _values(messages):
    return [quad.object.value for message in messages for quad in message]


@pytest.mark.parametrize(
    ("messages", "expected"),
    [(None, "01234"), ("1", "1"), ("-1", "4"), ("-2:", "34"), ("1:3", "12"), ("::2", "024")],
)
@pytest.mark.parametrize("format", ["nq", None])
def test_selected_messages_of_a_fifo_are_read(fifo, messages, expected, format):
    with rdfm.open_log(fifo, format, messages=messages) as log:
        assert _values(log) == list(expected)


EXPAND = '{"@context": {"name": "http://e/%d"}}'
CONSTRUCT = "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }"


def copy(log, out):
    with log, rdfm.create_log(out, "nq") as copied:
        for message in log:
            copied.write(message)


# Functions that read a folder of logs and write a log.
FOLDER_CALLS = {
    "convert": lambda folder, out, **given: rdfm.convert(folder, out, to="nq", **given),
    "sample": lambda folder, out, **given: rdfm.convert(folder, out, to="nq", sample="2", **given),
    "filter": lambda folder, out, **given: rdfm.filter(folder, out, to="nq", any="<a:s>", **given),
    "open_log": lambda folder, out, **given: copy(rdfm.open_log(folder, **given), out),
    "construct": lambda folder, out, **given: copy(rdfm.construct(CONSTRUCT, folder, **given), out),
    "from_log": lambda folder, out, **given: patch.from_log(folder, out, to="rdf-patch", **given),
}


@pytest.mark.parametrize("option", ["expand_context", "context"])
@pytest.mark.parametrize("call", FOLDER_CALLS)
def test_each_call_reads_a_pipe_that_an_option_names(tmp_path, call, option):
    folder, pipe = tmp_path / "in", tmp_path / "pipe"
    folder.mkdir()
    remote = '"@context": "http://e/c", ' if option == "context" else ""
    for name in ("1.ndjsonld", "2.ndjsonld"):
        (folder / name).write_text(f'{{{remote}"@id": "a:s", "name": "x"}}\n')
    os.mkfifo(pipe)
    value = {"http://e/c": pipe} if option == "context" else pipe
    for number in range(3):
        text = EXPAND % number
        threading.Thread(target=pipe.write_text, args=(text,), daemon=True).start()
        out = tmp_path / "out"
        FOLDER_CALLS[call](folder, out, **{option: value})
        text = out.read_text()
        assert text.count("<a:s>") >= 2
        assert text.count(f"<http://e/{number}>") == text.count("<a:s>")


def test_each_call_reads_a_pipe_that_an_option_of_the_output_names(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for number in range(2):
        for append in (False, True):
            text = EXPAND % number
            threading.Thread(target=pipe.write_text, args=(text,), daemon=True).start()
            out = tmp_path / f"{number}-{append}"
            options = {"compact_with": pipe, "append": append}
            with rdfm.create_log(out, "ndjsonld", **options) as log:
                term = rdfm.Iri(f"http://e/{number}")
                log.write([rdfm.Quad(term, term, rdfm.Literal("x"))])
            assert '"name":"x"' in out.read_text().replace(": ", ":")


def test_a_fifo_is_one_split_and_is_not_opened_by_plan(fifo):
    (split,) = plan_splits(fifo, "nq", split_bytes=1, count=True)
    with rdfm.open_log(fifo, "nq", split=split) as log:
        assert _values(log) == list("01234")


def test_a_second_pass_over_a_fifo_is_refused(fifo, tmp_path):
    with pytest.raises(OptionError, match="log can be read only once"):
        rdfm.convert(fifo, tmp_path / "out.nq", from_format="nq", sample="2")
    with pytest.raises(OptionError, match="log can be read only once"):
        rdfm.diff(fifo, LOG, from_format="nq", unordered=True)
    with rdfm.open_log(fifo, "nq") as log:  # nothing was read
        assert _values(log) == list("01234")


def test_a_socket_is_read_by_its_descriptor():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(LOG)
        theirs.shutdown(socket.SHUT_WR)
        with rdfm.open_log(f"/dev/fd/{ours.fileno()}", messages="-1") as log:
            assert _values(log) == ["4"]


def test_sources_that_can_be_read_only_once(fifo, tmp_path):
    (tmp_path / "a.nq").write_bytes(LOG)
    assert is_read_once(fifo)
    assert is_read_once("/dev/null")
    assert is_read_once("grpc://localhost/x")
    assert not any(map(is_read_once, (LOG, tmp_path, tmp_path / "a.nq", tmp_path / "missing")))


@pytest.mark.parametrize("option", ["contexts", "context"])
def test_spark_refuses_a_pipe_that_tasks_would_open(fifo, option):
    value = str(fifo) if option == "contexts" else f'{{"http://e/c": "{fifo}"}}'
    with pytest.raises(OptionError, match=r"names .*log, a pipe"):
        Options({option: value}).pop_format_options([rdfm.formats.find("ndjsonld").spec], "read")


@pytest.mark.parametrize(
    ("name", "expected"), [("a.nq", False), ("fifo", True), ("/dev/null", True), ("none", False)]
)
def test_what_is_not_a_regular_file_may_be_endless(tmp_path, name, expected):
    (tmp_path / "a.nq").touch()
    os.mkfifo(tmp_path / "fifo")
    path = tmp_path / name
    assert may_be_endless(path) is expected
    if path.exists():
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            assert may_be_endless(file) is expected
