"""Names on the command line: inputs, the output, and their formats."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import rdfm as package

A = "<http://e/s> <http://e/p> <http://e/o> .\n"


def test_the_second_of_two_names_is_the_output_and_is_replaced(rdfm):
    for _ in range(2):
        for target in ("b.nq", "out.jelly", "out.nq.gz"):
            assert rdfm("convert", "a.nq", target).code == 0
        assert rdfm("convert", "out.jelly", "b.jelly").code == 0
    assert Path("b.nq").read_text() == Path("a.nq").read_text()
    assert rdfm("convert", "a.nq", "b.nq", "out.jelly").code == 2


def test_an_output_that_is_also_an_input_is_rejected(rdfm):
    os.link("a.nq", "linked.nq")
    Path("link.nq").symlink_to("a.nq")
    content = Path("a.nq").read_text()
    for arguments in (
        "a.nq a.nq",
        "a.nq linked.nq",
        "a.nq link.nq",
        "link.nq a.nq",
        "a.nq b.nq -o b.nq",
        "b.nq a.nq bad.nq -o ./a.nq",
        "[ab].nq -o a.nq",
        "file:a.nq a.nq",
    ):
        run = rdfm("convert", *arguments.replace("file:", f"file://{Path.cwd()}/").split())
        assert run.error.split("; ")[0] == f"{arguments.split()[-1]} is also an input"
        assert run.code == 2
    assert Path("a.nq").read_text() == content


@pytest.mark.parametrize(
    ("arguments", "stream", "mode"),
    [("- a.nq --from nq", "stdin", "rb"), ("a.nq - --to nq", "stdout", "ab")],
)
def test_an_output_is_rejected_if_the_shell_opened_the_same_file(rdfm, arguments, stream, mode):
    content = Path("a.nq").read_text()
    environment = {**os.environ, "PYTHONPATH": str(Path(package.__file__).parent.parent)}
    with Path("a.nq").open(mode) as file:
        run = subprocess.run(
            [sys.executable, "-m", "rdfm", "convert", *arguments.split()],
            stderr=subprocess.PIPE,
            env=environment,
            timeout=60,
            check=False,
            **{stream: file},
        )
    assert run.returncode == 2
    assert b"is also an input" in run.stderr
    assert Path("a.nq").read_text() == content


def test_standard_output_is_trig_by_default(rdfm):
    rdfm("convert", "a.nq", "a.jelly")
    for arguments in (["-"], ["-o", "-"]):
        run = rdfm("convert", "a.jelly", *arguments, "-q")
        assert (run.code, run.err) == (0, "")
        assert run.out == rdfm("convert", "a.jelly", "-", "--to", "trig", "-q").out
        assert "{" in run.out
    assert rdfm("convert", "a.jelly", "-", "--to", "nt", "--take", "1", "-q").out == A


def test_binary_output_to_a_terminal_is_rejected(rdfm, monkeypatch):
    monkeypatch.setattr("rdfm.cli.stdio.is_terminal", lambda stream: stream is sys.stdout)
    run = rdfm("convert", "a.nq", "-", "--to", "jelly")
    assert run.error.startswith("jelly is binary, but standard output is a terminal")
    run = rdfm("convert", "a.nq", "-", "--compression", "gzip")
    assert run.error.startswith("compressed output is binary, but standard output is a terminal")
    assert rdfm("convert", "a.nq", "-").code == 0


@pytest.mark.parametrize("compression", ["gzip:9", "zstd:19", "zstd:-1", "bzip2:1", "xz:0"])
def test_compression_levels_are_accepted(rdfm, compression):
    assert rdfm("convert", "a.nq", "out.bin", "--to", "nq", "--compression", compression).code == 0
    assert rdfm("convert", "a.nq", "out/", "--to", "nq", "--compression", compression).code == 0
    with package.open_log("out.bin", "nq") as log:
        messages = list(log)
    assert messages == list(package.open_log("a.nq"))
    [file] = Path("out").iterdir()
    assert list(package.open_log(file)) == messages
    with package.create_log("python.bin", "nq", compression=compression) as log:
        for message in messages:
            log.write(message)
    assert Path("python.bin").read_bytes() == Path("out.bin").read_bytes()


@pytest.mark.parametrize(
    ("compression", "text"),
    [
        ("zstd:23", "must be zstd with a level from -7 to 22, such as zstd:22, not 'zstd:23'"),
        ("gzip:0", "must be gzip with a level from 1 to 9, such as gzip:9, not 'gzip:0'"),
        ("xz:", "must be xz with a level from 0 to 9, such as xz:9, not 'xz:'"),
        ("none:1", "must be none without a level, not 'none:1'"),
        ("lz4:1", "must be one of 'gzip', 'zstd', 'bzip2', 'xz', 'none', not 'lz4'"),
    ],
)
def test_invalid_levels_are_rejected(rdfm, compression, text):
    run = rdfm("convert", "a.nq", "out.nq", "--compression", compression)
    assert run.error.startswith(f"--compression {text}")
    assert run.code == 2
    assert not Path("out.nq").exists()
    with pytest.raises(package.OptionError):
        package.create_log("out.nq", compression=compression)
    assert not Path("out.nq").exists()


@pytest.mark.parametrize(
    ("name", "fragments"),
    [
        (
            "out.json",
            ["JSON-LD or NDJSON-LD", "--to jsonld or ndjsonld specifies", "suffix .jsonld"],
        ),
        ("out.json.gz", ["JSON-LD or NDJSON-LD"]),
        ("out.yaml", ["YAML-LD;", "--to yamlld specifies it", "suffix .yamlld"]),
        ("out.yml", ["may mean YAML-LD"]),
        ("out.xml", ["RDF/XML;", "--to rdfxml specifies it", "suffix .rdf"]),
        ("out.n3", ["Turtle;", "--to ttl specifies it"]),
        ("out.zip", ["zip archives are not supported", "out.tar.gz", "out/"]),
        ("out.nq.br", ["Brotli compression (.br) is not supported; rdfm supports gzip"]),
        ("out.nq.LZ4", ["LZ4 compression (.lz4) is not supported"]),
        ("out.foo", ["out.foo: the name does not identify a format; --to nt, nq"]),
        ("out.jely", ["name does not identify a format; did you mean .jelly?"]),
        ("out.turtl.gz", ["name does not identify a format; did you mean .turtle?"]),
    ],
)
def test_outputs_of_unknown_format_are_rejected(rdfm, name, fragments):
    run = rdfm("convert", "a.nq", name)
    assert all(text in run.error for text in fragments), run.error
    assert run.code == 2
    assert not Path(name).exists()


@pytest.mark.parametrize("name", ["out.nq.br", "out.NQ.LZ4", "out.zip", "out.7z"])
def test_an_unsupported_compression_is_rejected_despite_a_format(rdfm, name):
    run = rdfm("convert", "a.nq", name, "--to", "nq")
    assert run.code == 2
    assert "not supported" in run.error
    assert "--compression none writes uncompressed data" in run.error
    assert not Path(name).exists()
    assert rdfm("convert", "a.nq", name, "--to", "nq", "--compression", "none").code == 0
    assert Path(name).read_bytes() == Path("a.nq").read_bytes()
    with pytest.raises(package.OptionError, match="not supported"):
        package.create_log(name, "nq")


def test_errors_name_options_as_the_caller_spells_them(rdfm):
    Path("unknown").write_bytes(b"")
    Path("in.json").write_bytes(b"")
    for arguments, option, python in (
        (["a.nq", "out.foo"], "--to nt, nq, ", '"nt", "nq", '),
        (["a.nq", "out.json"], "--to jsonld or", '"ndjsonld" (to in convert) specifies it'),
        (["unknown", "out.nq"], "--from nt, nq", "(from_format in convert) specifies it"),
        (
            ["in.json", "out.nq"],
            "--from jsonld",
            '"ndjsonld" (from_format in convert) specifies it',
        ),
    ):
        run = rdfm("convert", *arguments)
        assert option in run.error
        with pytest.raises(package.UnknownFormatError) as caught:
            package.convert(*arguments)
        assert python in str(caught.value)


@pytest.mark.parametrize(
    ("name", "data", "fragments"),
    [
        ("in.json", b"", ["it may mean JSON-LD or NDJSON-LD; "]),
        ("in.yaml", b"hello", ["it may mean YAML-LD; "]),
        ("in.zip", b"PK\x03\x04 and so on", ["zip archives are not supported; extract"]),
        ("in", b"PK\x03\x04 and so on", ["zip archives are not supported; extract"]),
        ("in.nq.br", b"\x0b\x02\x80hello\x03", ["Brotli compression (.br)", "decompress the file"]),
        # Starts like a Jelly log.
        ("in.jelly.br", b"\x0a\x08\x0a\x06\x0a\x04\x10\x01\x18\x01", ["Brotli compression"]),
    ],
)
@pytest.mark.parametrize("command", ["convert", "inspect", "folder"])
def test_inputs_of_unknown_format_are_rejected(rdfm, command, name, data, fragments):
    Path("in").mkdir()
    Path("in", name).write_bytes(data)
    arguments = {
        "convert": ["convert", f"in/{name}", "out.nq"],
        "inspect": ["inspect", f"in/{name}"],
        "folder": ["convert", "in", "out.nq"],
    }[command]
    run = rdfm(*arguments)
    assert all(text in run.err for text in fragments), run.err
    assert run.code == 1 if command == "folder" else 2


def _aliases(path):
    """Creates links to a file. Returns its names: relative paths, both links, and its URL."""
    file = Path(path)
    os.link(path, f"hard-{path}")
    Path(f"soft-{path}").symlink_to(path)
    return [path, f"./{path}", f"hard-{path}", f"soft-{path}", file.resolve().as_uri()]


@pytest.mark.parametrize(
    ("file", "arguments"),
    [
        ("q.rq", "query q.rq a.nq --to srj -o {}"),
        ("q.rq", "query q.rq a.nq --to nq -o {}"),
        ("o.jelly", "convert a.nq {} --options-from o.jelly"),
        ("o.jelly", "convert a.nq -o {} --to-options-from o.jelly"),
        ("o.jelly", "filter a.nq --any <http://e/o> -o {} --options-from o.jelly"),
        ("o.jelly", "query q.rq a.nq --options-from o.jelly -o {}"),
        ("c.jsonld", "convert b.nq {} --compact-with c.jsonld"),
        ("c.jsonld", "convert j.jsonld -o {} --context http://c/c=c.jsonld"),
        ("c.jsonld", "convert j.jsonld -o {} --from-context http://c/c=c.jsonld"),
        ("c.jsonld", "convert j.jsonld -o {} --from-expand-context c.jsonld"),
        ("c.jsonld", "patch to-log p.rdfp {} --compact-with c.jsonld"),
        ("r.srj", "query q.rq --solutions r.srj --to nq -o {}"),
        ("page.html", "inspect j.jsonld --context http://c/c=page.html --html {}"),
    ],
)
def test_an_output_that_is_also_the_file_of_an_option_is_rejected(rdfm, file, arguments):
    assert rdfm("convert", "b.nq", "o.jelly").code == 0
    assert rdfm("patch", "from-log", "b.nq", "p.rdfp").code == 0
    Path("c.jsonld").write_text('{"@context": {"e": "http://e/"}}')
    Path("page.html").write_text('{"@context": {"e": "http://e/"}}')
    Path("j.jsonld").write_text('{"@context": "http://c/c", "@id": "e:a", "e:p": "x"}')
    construct = "--to nq" in arguments or "options" in arguments
    Path("q.rq").write_text(f"{'CONSTRUCT' if construct else 'SELECT *'} WHERE {{ ?s ?p ?o }}")
    assert rdfm("query", "SELECT * { ?s ?p ?o }", "b.nq", "-o", "r.srj").code == 0
    content = Path(file).read_bytes()
    for name in _aliases(file):
        run = rdfm(*arguments.format(name).split())
        assert run.error == f"{name} is also an input; write to another file"
        assert run.code == 2
    assert Path(file).read_bytes() == content


def test_an_overwritten_folder_must_not_contain_an_input(rdfm):
    Path("d").mkdir()
    Path("d/a.nq").write_text(A)
    Path("d/c.json").write_text('{"@context": {}}')
    for arguments, text in (
        ("d d/", "d/ is also an input; write to another folder"),
        ("d/a.nq d/", "the input d/a.nq is in the output folder d/; write to another folder"),
        (
            "b.nq d/ --compact-with d/c.json",
            "the input d/c.json is in the output folder d/; write ",
        ),
        ("b.nq d/ --contexts d --from jsonld", "d/ is also an input; write to another folder"),
    ):
        run = rdfm("convert", *arguments.split(), "--overwrite", "--to", "jsonld")
        assert run.error.startswith(text)
        assert run.code == 2
    assert sorted(path.name for path in Path("d").iterdir()) == ["a.nq", "c.json"]


def test_the_output_may_be_in_a_folder_of_contexts(rdfm):
    Path("c.json").write_text('{"@context": {"e": "http://e/"}}')
    Path("index.json").write_text('{"http://c/c": "c.json"}')
    Path("j.jsonld").write_text('{"@context": "http://c/c", "@id": "e:a", "e:p": "x"}')
    for _ in range(2):
        assert rdfm("convert", "j.jsonld", "out.nq", "--contexts", ".").code == 0


def test_python_rejects_the_same_outputs(rdfm):
    Path("c.jsonld").write_text('{"@context": {"e": "http://e/"}}')
    context = Path("c.jsonld")
    with pytest.raises(package.OptionError, match=r"c\.jsonld is also an input"):
        package.convert("b.nq", "c.jsonld", compact_with=context)
    with pytest.raises(package.OptionError, match=r"c\.jsonld is also an input"):
        package.create_log(context, compact_with="./c.jsonld")
    with package.create_log(context, compact_with='{"@context": {}}') as log:
        log.write([])


@pytest.mark.parametrize(
    "arguments",
    [
        "convert a.nq x.nq --split-messages 5",
        "convert b.nq -o x.nq --split-bytes 1M --to ttl",
        "filter a.nq --any <http://e/o> -o x.nq --split-messages 1",
        "query CONSTRUCT{?s?p?o}WHERE{?s?p?o} a.nq -o x.nq --split-messages 1",
        "patch to-log p.rdfp x.nq --split-messages 1",
    ],
)
def test_a_split_log_requires_a_folder_name(rdfm, arguments):
    assert rdfm("patch", "from-log", "b.nq", "p.rdfp").code == 0
    run = rdfm(*arguments.split())
    assert run.code == 2
    assert run.error.endswith(" x.nq is not a folder; write x.nq/ to create one")
    assert not Path("x.nq").exists()
    assert rdfm(*arguments.replace("x.nq", "x.nq/").split()).code == 0
    assert Path("x.nq").is_dir()
