r"""File names with bytes that are not UTF-8: commands accept them and show the bytes as `\xNN`."""

import io
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pyarrow.parquet
import pytest

import rdfm as package

UNDECODABLE = os.fsdecode(b"x\xff.nq")
ESCAPED = "x\\xff.nq"
SELECT = "SELECT ?s { ?s ?p ?o }"


@pytest.fixture(autouse=True)
def logs(rdfm):
    """A log with an undecodable name, alone and in a folder."""
    try:
        Path(UNDECODABLE).write_bytes(Path("a.nq").read_bytes())
    except OSError:
        pytest.skip("this file system supports only names in UTF-8")
    Path("d").mkdir()
    Path("d", UNDECODABLE).write_bytes(Path("a.nq").read_bytes())
    Path("d/b.nq").write_bytes(Path("b.nq").read_bytes())


def _undecodable(stem, suffix):
    return os.fsdecode(stem + b"\xfe" + suffix)


@pytest.mark.parametrize(
    "arguments",
    [
        ["convert", UNDECODABLE, "out.trig"],
        ["convert", UNDECODABLE, _undecodable(b"out", b".jelly")],
        ["convert", UNDECODABLE, _undecodable(b"out", b"/"), "--to", "nq"],
        ["convert", UNDECODABLE, _undecodable(b"out", b".tar.gz")],
        ["convert", "d", "out.nq"],
        ["convert", os.fsdecode(b"d/*\xff*"), "out.nq"],
        ["cat", UNDECODABLE],
        ["head", UNDECODABLE],
        ["tail", "d"],
        ["validate", UNDECODABLE],
        ["validate", "d", "--json"],
        ["diff", UNDECODABLE, "a.nq"],
        ["hash", UNDECODABLE],
        ["filter", UNDECODABLE, "--any", "<http://e/o>", "-o", _undecodable(b"out", b".nq")],
        ["filter", "d", "--any", "<http://e/o>", "--count"],
        ["query", SELECT, UNDECODABLE],
        ["query", SELECT, "d", "-o", _undecodable(b"out", b".parquet")],
        ["query", "CONSTRUCT WHERE { ?s ?p ?o }", "d", "-o", "out.nq"],
        ["query", "--whole", "ASK { ?s ?p ?o }", UNDECODABLE],
        ["inspect", UNDECODABLE],
        ["inspect", "--json", "d"],
        ["inspect", "--stats", UNDECODABLE],
        ["inspect", "--rdf", UNDECODABLE],
        ["inspect", "--html", _undecodable(b"page", b".html"), UNDECODABLE],
        ["patch", "from-log", UNDECODABLE, _undecodable(b"out", b".rdfp")],
    ],
    ids=lambda arguments: "-".join(arguments).encode("utf-8", "backslashreplace").decode(),
)
def test_every_command_reads_and_writes_undecodable_names(rdfm, arguments):
    run = rdfm(*arguments)
    assert run.code == 0, run.err
    assert "bug" not in run.err
    assert "udc" not in run.out + run.err


def test_options_accept_undecodable_names(rdfm):
    context, document = _undecodable(b"c", b".json"), _undecodable(b"j", b".jsonld")
    Path(context).write_text('{"@context": {"e": "http://e/"}}')
    Path(document).write_text('{"@context": "http://c/c", "@id": "e:a", "e:p": "x"}')
    query, shapes = _undecodable(b"q", b".rq"), _undecodable(b"s", b".ttl")
    Path(query).write_text(SELECT)
    Path(shapes).write_text(
        "PREFIX sh: <http://www.w3.org/ns/shacl#> [] a sh:NodeShape ; sh:targetNode <http://e/s> ."
    )
    jelly, results = _undecodable(b"o", b".jelly"), _undecodable(b"r", b".srj")
    for arguments in (
        ["convert", document, "o.nq", "--context", f"http://c/c={context}"],
        ["convert", "b.nq", "o.jsonld", "--compact-with", context],
        ["convert", UNDECODABLE, jelly],
        ["convert", UNDECODABLE, "o.jelly", "--options-from", jelly],
        ["validate", jelly, "--options-from", jelly],
        ["validate", UNDECODABLE, "--shapes", shapes],
        ["query", query, UNDECODABLE, "-o", results],
        ["query", "CONSTRUCT { ?s ?s ?s } {}", "--solutions", results, "-o", "o.nq"],
        ["patch", "from-log", "b.nq", _undecodable(b"p", b".rdfp")],
        ["patch", "apply", "b.nq", _undecodable(b"p", b".rdfp"), "-o", _undecodable(b"n", b".nq")],
        ["patch", "to-log", _undecodable(b"p", b".rdfp"), _undecodable(b"m", b".nq")],
        ["patch", "diff", "b.nq", _undecodable(b"n", b".nq"), "-o", _undecodable(b"d", b".rdfp")],
    ):
        run = rdfm(*arguments)
        assert run.code == 0, (arguments, run.err)


def test_names_are_escaped(rdfm):
    Path("d", os.fsdecode(b"bad\xfe.nq")).write_text("oops\n")
    Path("d", UNDECODABLE).unlink()
    line = "d/bad\\xfe.nq:1:1: error: "
    assert rdfm("validate", "d").out.startswith(line)
    github = rdfm("validate", "d", "--format", "github").out
    assert github.startswith("::error file=d/bad\\xfe.nq,line=1,col=1,")
    (finding, _) = map(json.loads, rdfm("validate", "d", "--json").out.splitlines())
    assert finding["source"] == "d/bad\\xfe.nq"
    assert rdfm("convert", "d", "o.nq").error.startswith("d/bad\\xfe.nq: nq: expected ")
    assert rdfm("convert", _undecodable(b"no", b".nq"), "o.nq").error.startswith(
        "no\\xfe.nq: No such"
    )
    assert rdfm("convert", UNDECODABLE, UNDECODABLE).error.startswith(f"{ESCAPED} is also an input")
    assert rdfm("convert", UNDECODABLE, _undecodable(b"o", b"")).error.startswith(
        "o\\xfe: the name does not"
    )
    assert json.loads(rdfm("inspect", "--json", UNDECODABLE).out)["source"] == ESCAPED
    assert rdfm("inspect", UNDECODABLE).out.startswith(f"{ESCAPED}\n")
    assert rdfm("inspect", "--stats", UNDECODABLE).out.startswith(f"{ESCAPED}\n")
    assert '"x\\\\xff.nq"' in rdfm("inspect", "--rdf", UNDECODABLE).out
    assert ESCAPED in rdfm("inspect", "--html", "-", UNDECODABLE).out
    assert f"\n+++ {ESCAPED}\n" in rdfm("diff", "b.nq", UNDECODABLE).out
    run = rdfm("query", "ASK { ?s ?p <http://e/o> }", UNDECODABLE, "b.nq")
    assert run.out == f"{ESCAPED}\t0\nb.nq\t0\n"


def test_sources_of_rows_are_escaped(rdfm):
    Path("d/b.nq").unlink()
    assert rdfm("query", SELECT, "d", "-o", "o.parquet").code == 0
    assert set(pyarrow.parquet.read_table("o.parquet")["source"].to_pylist()) == {f"d/{ESCAPED}"}
    assert rdfm("query", SELECT, "d", "-o", "o.srj").code == 0
    first = json.loads(Path("o.srj").read_text())["results"]["bindings"][0]
    assert first["source"]["value"] == f"d/{ESCAPED}"
    assert rdfm("convert", "d", "terms.parquet").code == 0


def test_members_of_archives_may_have_undecodable_names(rdfm):
    with tarfile.open("in.tar", "w") as archive:
        for name in (b"x\xff.nq", b"\xfe.nq", b"\xff.nq"):
            member = tarfile.TarInfo(os.fsdecode(name))
            member.size = 5
            archive.addfile(member, io.BytesIO(b"oops\n"))
    run = rdfm("validate", "in.tar")
    names = [line.split(":")[0] for line in run.out.splitlines()]
    assert names == ["in.tar!x\\xff.nq", "in.tar!\\xfe.nq", "in.tar!\\xff.nq"]


def test_python_escapes_names_in_the_same_way(rdfm):
    with package.open_log(UNDECODABLE) as log:
        assert log.source == ESCAPED
        assert len(list(log)) == 3
    with pytest.raises(package.UnknownFormatError, match=r"'nope\\xff'") as caught:
        package.open_log(b"", "nope\udcff")
    str(caught.value).encode()


def test_file_urls_may_contain_undecodable_bytes(rdfm):
    assert rdfm("convert", Path("d", UNDECODABLE).resolve().as_uri(), "o.nq").code == 0
    assert Path("o.nq").read_text() == Path("a.nq").read_text()


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["query", "SELECT ?\udcff { ?s ?p ?o }", "a.nq"], "the query"),
        (["query", SELECT, "a.nq", "--types", "\udcff=double"], "--types"),
        (["filter", "a.nq", "--any", '"\udcff"'], "--any"),
        (["filter", "a.nq", "--contains", "\udcff"], "--contains"),
        (["filter", "a.nq", "--subject", "<http://e/\udcff>"], "--subject"),
        (["convert", "a.nq", "o.nq", "-m", "\udcff"], "--messages"),
        (["convert", "a.nq", "o.trig", "--prefix", "ex=http://e/\udcff"], "--prefix"),
        (["convert", "a.nq", "o.nq", "--skolemize", "http://e/\udcff"], "--skolemize"),
        (["convert", "a.nq", "o.jsonld", "--compact-with", '{"\udcff": "x:"}'], "--compact-with"),
    ],
)
def test_values_other_than_file_names_must_be_utf_8(rdfm, arguments, name):
    run = rdfm(*arguments)
    assert run.code == 2
    assert run.error.startswith(f"{name} is not UTF-8 text: found \\xff in ")


@pytest.mark.parametrize(
    "arguments",
    [
        ["convert", "a.nq", "o.nq", "--from", "\udcff"],
        ["cat", "a.nq", "--color", "\udcff"],
        ["cat", "a.nq", "--\udcff"],
        ["inspect", "a.nq", "--top", "\udcff"],
        ["validate", "a.nq", "--format", "\udcff"],
        ["completion", "\udcff"],
        ["\udcff"],
    ],
)
def test_undecodable_choices_numbers_and_commands_are_usage_errors(rdfm, arguments):
    run = rdfm(*arguments)
    assert run.code == 2
    assert "\\xff" in run.error


def _run_in_the_c_locale(*arguments, code=0):
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(package.__file__).parent.parent),
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONWARNINGS": "default",
    }
    run = subprocess.run(
        [sys.executable, *arguments], capture_output=True, env=environment, timeout=60, check=False
    )
    assert b"Traceback" not in run.stderr, run.stderr
    assert b"ignored in" not in run.stderr, run.stderr
    assert run.returncode == code, run.stderr
    return run


@pytest.mark.slow
def test_undecodable_names_work_in_the_c_locale(rdfm):
    name = "caf\u00e9"
    Path(f"{name}.nq").write_bytes(Path("a.nq").read_bytes())
    for output in (f"{name}.trig", f"{name}.tar", f"{name}-out/", os.fsdecode(b"\xc3\xa9\xff.nq")):
        _run_in_the_c_locale("-m", "rdfm", "convert", f"{name}.nq", output, "--to", "nq")
        assert Path(output).exists()
    _run_in_the_c_locale(
        "-m", "rdfm", "convert", "bad.nq", f"{name}.trig", "--keep-partial", code=1
    )
    assert Path(f"{name}.trig.partial").exists()
    query = f'SELECT ("{name}" AS ?x) {{ ?s ?p ?o }}'
    run = _run_in_the_c_locale("-m", "rdfm", "query", query, f"{name}.nq", "-o", "o.srj")
    assert name in Path("o.srj").read_text("utf-8")
    assert f'"{name}.nq"' in Path("o.srj").read_text("utf-8")
    url = Path(f"{name}.nq").resolve().as_uri()
    _run_in_the_c_locale("-m", "rdfm", "convert", url, "o.nq")
    assert run.stdout == b""


def test_finalizers_raise_nothing_in_the_c_locale(rdfm):
    program = (
        "import os, rdfm\n"
        "logs = [rdfm.create_log(os.fsdecode(b'w\\xc3\\xa9\\xff' + end), 'nq') for end in (b'', b'/')]\n"
        "try: rdfm.create_log('\\xe9.nq')\n"
        "except UnicodeEncodeError: pass\n"
    )
    run = _run_in_the_c_locale("-c", program)
    assert run.stderr.count(b"was not closed") + run.stderr.count(b"were not closed") == 2
    assert [name for name in map(str, Path().iterdir()) if name[0] in ".w"] == []
