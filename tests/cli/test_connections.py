"""Options of connections work in every command that opens a log."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path

import pytest
import web
from certificates import Authority
from jelly_grpc import serve

import rdfm as library

# URL is the log; PATCH is a log of patches, which live streams cannot contain.
COMMANDS = [
    "cat URL",
    "head URL",
    "tail URL",
    "inspect URL",
    "validate URL",
    "diff URL URL",
    "hash URL",
    "filter --count --any <a:s> URL",
    "query ASK{} URL",
    "query --whole ASK{} URL",
    "convert URL out.nq",
    "patch diff URL URL -o out.rdfp",
    "patch from-log URL out.rdfp",
    "nanopub list URL -o out.csv",
    "riverbench package URL -o package --stream-type graphs",
    "patch apply data.nq PATCH -o out.nq",
    "patch to-log PATCH out.nq",
    "patch revert PATCH -o out.rdfp",
]
LIVE = [command for command in COMMANDS if "PATCH" not in command]


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("tls"), "authority")


@pytest.fixture(scope="module")
def site(authority):
    identity = authority.issue("site")
    with web.site(tls=(str(identity.certificate), str(identity.key))) as opened:
        opened.on("/a.nq", web.send(200, b"<a:s> <a:p> <a:o> .\n"))
        opened.on("/a.rdfp", web.send(200, b"TX .\nA <a:s> <a:p> <a:o> .\nTC .\n"))
        yield opened


@pytest.fixture(scope="module")
def topics(authority, tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    with library.create_log(folder / "a.jelly") as log:
        log.write([library.Quad(*map(library.Iri, ("a:s", "a:p", "a:o")))])
    identity = authority.issue("topics")
    arguments = ("--tls-cert", identity.certificate, "--tls-key", identity.key)
    environment = {**os.environ, "RDFM_READ_TOKEN": "t0ken"}
    with serve(folder, *arguments, publish=False, env=environment) as server:
        yield server


def run_with(rdfm, command, url, *options):
    words = [word.replace("PATCH", f"{url}.rdfp") for word in command.split()]
    return rdfm(*(word.replace("URL", f"{url}.nq") for word in words), *options)


@pytest.mark.parametrize("command", COMMANDS)
def test_certificates_and_headers_work_over_https(rdfm, site, authority, monkeypatch, command):
    monkeypatch.setenv("TOKEN", "Bearer t0ken")
    Path("data.nq").touch()
    run = run_with(rdfm, command, f"{site.url}/a")
    assert run.code != 0
    assert "--tls-ca or the environment variable SSL_CERT_FILE names a file" in run.out + run.err
    site.requests.clear()
    options = ("--tls-ca", authority.file, "--header", "Authorization:$TOKEN")
    run = run_with(rdfm, command, f"{site.url}/a", *options)
    assert run.code == 0, run.err
    assert site.requests
    assert all(headers["Authorization"] == "Bearer t0ken" for _, _, headers in site.requests)


@pytest.mark.parametrize("command", LIVE)
def test_certificates_and_tokens_work_in_live_streams(
    rdfm, topics, authority, monkeypatch, command
):
    url = f"grpcs://localhost:{topics.port}/a"
    command = command.replace("URL", url)
    run = rdfm(*command.split())
    assert "--tls-ca names a file with its CA certificate" in run.out + run.err
    trusted = (*command.split(), "--tls-ca", authority.file, "--no-follow")
    run = rdfm(*trusted)
    assert "RDFM_GRPC_TOKEN" in run.out + run.err
    monkeypatch.setenv("RDFM_GRPC_TOKEN", "t0ken")
    run = rdfm(*trusted)
    assert run.code == 0, run.err
    monkeypatch.delenv("RDFM_GRPC_TOKEN")
    monkeypatch.setenv("TOKEN", "Bearer t0ken")
    shutil.rmtree("package", ignore_errors=True)
    run = rdfm(*trusted, "--header", "Authorization:$TOKEN")
    assert run.code == 0, run.err


def test_several_live_streams_read_a_certificate_from_one_pipe(
    rdfm, topics, authority, monkeypatch
):
    monkeypatch.setenv("RDFM_GRPC_TOKEN", "t0ken")
    os.mkfifo("pipe")
    for command in ("diff URL URL", "convert URL URL -o out.nq", "cat URL"):
        pem = authority.file.read_bytes()
        threading.Thread(target=Path("pipe").write_bytes, args=(pem,), daemon=True).start()
        words = command.replace("URL", f"grpcs://localhost:{topics.port}/a").split()
        run = rdfm(*words, "--tls-ca", "pipe", "--no-follow")
        assert run.code == 0, run.err


def test_options_apply_to_one_command_only(rdfm, site, authority):
    assert rdfm("cat", f"{site.url}/a.nq", "--tls-ca", authority.file).code == 0
    assert rdfm("cat", f"{site.url}/a.nq").code == 1


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ("--tls-ca none.pem", "cannot read none.pem: No such file or directory"),
        ("--tls-ca a.nq", "a.nq is not a PEM file with certificates"),
        ("--tls-ca pipe", "pipe is a pipe, but each connection reads it"),
        ("--tls-cert a.nq", "--tls-cert and --tls-key must be used together"),
        ("--tls-cert a.nq --tls-key a.nq", "a.nq and the key a.nq must be PEM files, without a pa"),
        ("--tls-cert {cert} --tls-key {other}", "do not match"),
    ],
)
def test_wrong_files_are_reported(rdfm, site, authority, options, text):
    identity, other = authority.issue("one"), authority.issue("two")
    os.mkfifo("pipe")
    files = options.format(cert=identity.certificate, other=other.key)
    run = rdfm("inspect", f"{site.url}/a.nq", *files.split())
    assert text in run.error
    assert run.code == 2


def test_storage_options_name_the_files(site, authority):
    options = {"tls_ca": authority.file}
    with library.open_log(f"{site.url}/a.nq", storage_options=options) as log:
        assert len(list(log)) == 1
    with pytest.raises(library.OptionError, match="tls_ca must be a path, not 5"):
        library.open_log(f"{site.url}/a.nq", storage_options={"tls_ca": 5})
