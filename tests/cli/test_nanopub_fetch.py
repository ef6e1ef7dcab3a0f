"""Output and one-line usage errors of `rdfm nanopub fetch` and `status`, and of `--header`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import registry_double
import web

from rdfm import Message, create_log


@pytest.fixture
def registry(rdfm):
    with registry_double.registry(20) as double:
        yield double


def test_fetch_reports_the_number_of_appended_nanopublications(rdfm, registry):
    first = rdfm("nanopub", "fetch", registry.url, "-o", "m.trig")
    assert first.err.startswith(
        "rdfm: 20 nanopublications appended, 20 metadata entries dropped; up to date at counter 20"
    )
    registry.add(1)
    assert rdfm("nanopub", "fetch", registry.url, "-o", "m.trig", "-q").err == ""
    last = rdfm("nanopub", "fetch", registry.url, "-o", "m.trig")
    assert last.err.startswith("rdfm: 0 nanopublications appended; up to date at counter 21 in ")
    assert rdfm("inspect", "m.trig", "--json").out.count('"messages": 21')


def test_fetch_reports_retries(rdfm, registry):
    registry.faults = [registry.truncated(0.5)]
    run = rdfm("nanopub", "fetch", registry.url, "-o", "m.jelly")
    note, result = run.err.splitlines()
    assert note.startswith("rdfm: note: ")
    assert note.endswith("; trying again in 0.5 s")
    assert result.startswith("rdfm: 20 nanopublications appended")


def test_options_of_the_format_are_accepted(rdfm, registry):
    run = rdfm(
        "nanopub", "fetch", registry.url, "-o", "m.log", "--to", "jelly", "--name-table", "64"
    )
    assert run.code == 0
    run = rdfm("inspect", "m.log", "--from", "jelly", "--json")
    assert '"name_table": 64' in run.out


def test_status_describes_a_registry(rdfm, registry):
    run = rdfm("nanopub", "status", registry.url)
    assert run.code == 0
    assert "Load counter         20\n" in run.out
    assert "Test instance        no\n" in run.out
    assert json.loads(rdfm("nanopub", "status", registry.url, "--json").out)["load_counter"] == 20


def test_status_shows_no_counters_for_several_registries(rdfm, registry):
    registry.headers["Coverage-Types"] = "http://e/a http://e/b"
    run = rdfm("nanopub", "status", registry.url, registry.url)
    header, row, _ = run.out.splitlines()
    assert "ounter" not in header
    assert row.split() == [
        registry.url,
        "ready",
        "20",
        "abc123",
        "2",
        "types",
        "viaSetting",
        "1.11.5",
    ]


def test_status_reports_registries_that_do_not_answer(rdfm, registry):
    registry.site.replies["/x/"] = [web.send(404)]
    run = rdfm("nanopub", "status", registry.url, f"{registry.url}x/", "--json")
    assert run.code == 1
    assert len(run.out.splitlines()) == 1
    assert run.error == f"{registry.url}x/: not found (404 Not Found)"
    assert rdfm("nanopub", "status", f"{registry.url}x/").code == 1


def test_counters_are_shown_as_numbers(rdfm, registry):
    rdfm("nanopub", "fetch", registry.url, "-o", "m.jelly", "-q")
    assert "  counters         1 to 20\n" in rdfm("inspect", "m.jelly").out
    run = rdfm("cat", "m.jelly")
    assert run.err == "rdfm: dropped: 20 metadata entries (counters 1 to 20)\n"
    run = rdfm("cat", "-m", "4", "m.jelly")
    assert run.err == "rdfm: dropped: 1 metadata entry (counter 5)\n"
    for name, value in (("a", b"\xac\x02"), ("b", b"\xac")):
        with create_log(f"{name}.jelly") as log:
            log.write(Message([], metadata={"c": value}))
    run = rdfm("diff", "a.jelly", "b.jelly")
    assert "-METADATA c 300\n+METADATA c 0xac\n" in run.out
    assert "counters" not in rdfm("inspect", "b.jelly").out
    assert rdfm("cat", "b.jelly").err == "rdfm: dropped: 1 metadata entry\n"
    assert '"counters": [300, 300]' in rdfm("inspect", "a.jelly", "--json").out


def test_exit_codes_distinguish_the_causes(rdfm, registry):
    def fetch(*arguments):
        return rdfm("nanopub", "fetch", registry.url, "-o", "m.jelly", *arguments)

    assert fetch("--check").code == 3
    assert fetch("--check", "--rejects", "wrong.jelly").code == 0
    Path("wrong.jelly").unlink()
    Path("wrong.nq").write_text("<a:s> <a:p> <a:o> .\n")
    assert fetch().code == 0
    registry.headers["Setup-Id"] = "7"
    assert fetch().code == 4
    del registry.headers["Setup-Id"]
    del registry.stored[20]
    assert fetch().code == 4
    registry.add(1)
    with create_log("m.jelly", append=True):
        run = fetch()
        assert (run.code, "in use by another process" in run.error) == (5, True)
        assert rdfm("convert", "wrong.nq", "m.jelly", "--append").code == 1
    assert fetch().code == 0
    Path("m.jelly").write_bytes(b"")
    run = fetch()
    assert (run.code, "restore the log, or remove the state" in run.error) == (1, True)
    assert fetch("--nothing").code == 2


def test_following_prints_a_line_for_each_poll_with_new_nanopublications(registry):
    command = [sys.executable, "-m", "rdfm", "nanopub", "fetch", registry.url, "-o", "m.jelly"]
    process = subprocess.Popen(
        [*command, "--follow", "--interval", "0"], stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr.readline().startswith("rdfm: 20 nanopublications appended; up to")
        registry.add(2)
        assert process.stderr.readline().startswith("rdfm: 2 nanopublications appended; up to")
        registry.faults = [registry.with_status(400)]
        registry.add(1)
        assert "400" in process.stderr.readline()
        assert process.wait(20) == 1
    finally:
        process.kill()
        process.stderr.close()


# --- usage errors ---

USAGE_ERRORS = [
    ("fetch", "Missing argument 'REGISTRY'"),
    ("fetch {url}", "Missing option '-o'"),
    ("fetch {url} -o -", "a mirror must be a file, because later runs append to it"),
    (
        "fetch {url} -o out.parquet",
        "cannot append to out.parquet: in Parquet, a file ends with an index",
    ),
    ("fetch {url} -o out.jsonld", "cannot append to out.jsonld: in JSON-LD, a document is one"),
    ("fetch {url} -o out.nq/", "name a file in it"),
    ("fetch {url} -o out.tar", "an archive has an end mark"),
    (
        "fetch {url} -o s3://bucket/m.jelly",
        "a mirror must be a local file, not s3://bucket/m.jelly",
    ),
    ("fetch {url} -o out.foo", "the name does not identify a format; --to nt, nq"),
    ("fetch {url} -o out.jelly --interval 5", "--interval has no effect without polling; --follow"),
    ("fetch {url} -o out.nq --check --rejects r.nt", "nt does not support named graphs, which"),
    (
        "fetch {url} -o out.ttl",
        "ttl does not support named graphs, which every nanopublication has; write jelly, trig",
    ),
    ("fetch {url} -o out.jelly --dialect comment", "--dialect is for writing N-Triples"),
    (
        "fetch {url} -o out.jelly --rejects r.nq",
        "--rejects is for nanopublications that fail the check",
    ),
    ("fetch {url} -o out.nq --check --rejects out.nq", "--rejects must be a different file"),
    ("fetch {url} -o out.nq --check --rejects r.foo", "the name does not identify a format"),
    ("fetch {url} -o out.jelly --overlap x", "--overlap must be a number >= 0, not 'x'"),
    ("fetch {url} -o out.jelly --wait -5", "--wait must be a number >= 0, not '-5'"),
    (
        "fetch {url} -o out.jelly --first-byte-timeout 0",
        "--first-byte-timeout must be a number >= 1",
    ),
    ("fetch {url} -o out.jelly --folow", "No such option '--folow'; did you mean --follow?"),
    (
        "fetch example.org -o out.jelly",
        "'example.org' is not the URL of a registry; expected https",
    ),
    ("fetch http://example.org/ -o out.jelly", "is not encrypted; use https; --allow-http allows"),
    ("fetch {url}nanopubs.jelly -o out.jelly", "is a page of a registry; expected the URL of the"),
    ("fetch {url}?a=b -o out.jelly", "expected the URL of a registry without a query"),
    ("fetch {url}page/ -o out.jelly", "has no header Nanopub-Registry-Status; expected the URL of"),
    ("fetch {url}gone/ -o out.jelly", "gone/: not found (404 Not Found)"),
    ("fetch {url} -o out.jelly --header X", "--header needs NAME:VALUE, NAME:@FILE or NAME:$VARI"),
    ("fetch {url} -o out.jelly --header X:$NONE", "the environment variable NONE is not set"),
    ("fetch {url} -o out.jelly --header X:@none", "--header X: none: No such file or directory"),
    ("fetch {url} -o out.jelly --header a@b:c", "'a@b' is not the name of a header"),
    ("fetch {url} -o out.jelly --header Host:c", "the header Host is set by rdfm; remove it"),
    (
        "fetch {url} -o out.jelly --header X-Api-Key:s3cret",
        "--header X-Api-Key: other users can read the command line; put the value into a file",
    ),
    ("status", "Missing argument 'REGISTRY...'"),
    ("status {url}page/", "has no header Nanopub-Registry-Status"),
    ("status ftp://example.org/", "'ftp://example.org/' is not the URL of a registry"),
    ("mirror {url}", "No such command 'mirror'"),
]


@pytest.mark.parametrize(
    ("arguments", "text"), USAGE_ERRORS, ids=[arguments for arguments, _ in USAGE_ERRORS]
)
def test_usage_errors_are_one_sentence(rdfm, registry, arguments, text):
    registry.site.replies["/page/"] = [web.send(200, b"<html>")]
    before = {path: path.read_bytes() for path in Path().iterdir()}
    run = rdfm("nanopub", *arguments.format(url=registry.url).split())
    assert text in run.error
    assert "s3cret" not in run.err
    assert run.code in (1, 2)
    assert {path: path.read_bytes() for path in Path().iterdir()} == before


# --- headers ---


@pytest.fixture
def site(rdfm):
    with web.site() as server:
        server.on("/log.nq", web.send(200, b"<a:s> <a:p> <a:o> .\n"))
        yield server


def test_headers_come_from_files_and_the_environment(rdfm, site, monkeypatch):
    Path("token").write_text("Bearer abc\n")
    monkeypatch.setenv("KEY", "xyz")
    arguments = [
        "--header",
        "Authorization:@token",
        "--header",
        "X-Key: $KEY",
        "--header",
        "A:b: c",
    ]
    assert rdfm("cat", f"{site.url}/log.nq", *arguments).code == 0
    assert rdfm("convert", f"{site.url}/log.nq", "out.nq", *arguments).code == 0
    for _, _, headers in site.requests:
        assert headers["Authorization"] == "Bearer abc"
        assert headers["X-Key"] == "xyz"
        assert headers["A"] == "b: c"
    site.requests.clear()
    assert rdfm("cat", f"{site.url}/log.nq").code == 0
    assert "X-Key" not in site.requests[0][2]


def test_headers_are_not_sent_for_contexts(rdfm, site, monkeypatch):
    monkeypatch.setenv("KEY", "xyz")
    monkeypatch.setenv("XDG_CACHE_HOME", os.fspath(Path.cwd()))
    context = {"@context": {"p": "a:p"}}
    with web.site() as other:
        url = other.on("/c", web.send(200, json.dumps(context).encode()))
        log = f'{{"@context": "{url}"}}\n{{"p": "o"}}\n'.encode()
        site.on("/log.ndjsonld", web.send(200, log))
        arguments = ["--allow-network", "--header", "X-Key:$KEY"]
        assert rdfm("cat", f"{site.url}/log.ndjsonld", *arguments).code == 0
        assert "X-Key" in site.requests[0][2]
        assert "X-Key" not in other.requests[0][2]


def test_url_errors_are_one_sentence(rdfm, site):
    host = site.url.removeprefix("http://")
    run = rdfm("cat", f"http://me:pw@{host}/none.nq?token=s3cret")
    assert run.error == f"{site.url}/none.nq?token=…: not found (404 Not Found)"
