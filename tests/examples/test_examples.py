"""The programs in examples/ do what they say."""

import importlib.util
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import processes
import pytest

import rdfm

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
OBSERVATIONS = EXAMPLES / "observations.trig"
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

pytestmark = pytest.mark.slow


def run(*command, **variables):
    done = subprocess.run(
        command, env={**os.environ, "PATH": PATH, **variables}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def messages(log):
    with rdfm.open_log(log) as reader:
        return [{str(quad.subject) for quad in message} for message in reader]


def test_every_example_is_in_the_list():
    page = (ROOT / "docs/examples.md").read_text("utf-8")
    programs = {
        path.name for path in EXAMPLES.iterdir() if path.suffix in (".py", ".sh", ".ipynb", "")
    }
    assert set(re.findall(r"\[`(\w+(?:\.\w+)?)/?`\]", page)) == programs


def test_a_delta_table_contains_the_log(tmp_path):
    output = run(
        sys.executable,
        EXAMPLES / "delta_lake.py",
        OBSERVATIONS,
        tmp_path / "table",
        tmp_path / "copy.jelly",
    )
    assert output == "version 0: 5 messages\nversion 1: 10 messages\nequal\n"
    assert rdfm.diff(OBSERVATIONS, tmp_path / "copy.jelly").equal


def test_the_pipeline_archives_each_nanopublication_once(tmp_path):
    program, archive = EXAMPLES / "nanopub_pipeline.sh", tmp_path / "archive"
    run(program, EXAMPLES / "nanopubs.trig", archive)
    run(program, EXAMPLES / "nanopubs.trig", archive)
    assert len(messages(archive / "all.jelly")) == 4
    assert rdfm.diff(EXAMPLES / "nanopubs.trig", archive / "distinct.jelly").equal
    listed = (archive / "nanopubs.csv").read_text().splitlines()
    assert [line.split(",")[2] for line in listed[1:]] == [
        "http://example.org/np/1",
        "http://example.org/np/2",
    ]
    # A log that is not correct changes nothing.
    before = (archive / "all.jelly").read_bytes()
    done = subprocess.run(
        [program, OBSERVATIONS, archive], env={**os.environ, "PATH": PATH}, capture_output=True
    )
    assert done.returncode == 1
    assert (archive / "all.jelly").read_bytes() == before


def test_the_format_works_in_an_environment_with_its_package(tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    for path in (EXAMPLES / "senml_format").iterdir():
        if path.is_file():
            (source / path.name).write_bytes(path.read_bytes())
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    options = ["--no-index", "--no-deps", "--no-build-isolation", "--target", tmp_path / "site"]
    run(*pip, *options, source)
    search = {"PYTHONPATH": os.pathsep.join([str(tmp_path / "site"), str(ROOT)])}
    log = source / "observations.senmll"
    run("rdfm", "convert", log, tmp_path / "out.nq", "--sensors", "urn:sensor:", **search)
    text = (tmp_path / "out.nq").read_text()
    assert text.count("# @message") == 2
    assert "<urn:sensor:door>" in text
    assert '"2026-11-05T06:00:00+00:00"^^<http://www.w3.org/2001/XMLSchema#dateTime>' in text
    detected = tmp_path / "detected"
    detected.write_bytes(log.read_bytes())
    assert "senml" in run("rdfm", "inspect", detected, **search)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{}", "expected a list of records"),
        (b"[1]", "record 0 is not an object"),
        (b'[{"n":"a","v":"1"}]', "record 0 has an unsupported 'v'"),
        (b'[{"n":"a","v":true}]', "record 0 has an unsupported 'v'"),
        (b'[{"n":"a","vd":"aGk="}]', "record 0 has an unsupported 'vd'"),
        (b'[{"n":"a"}]', "record 0 needs a name and one value"),
        (b'[{"v":1}]', "record 0 needs a name and one value"),
        (b'[{"n":"a","v":1,"t":1e300}]', "out of range"),
        (b"[" * 100_000, "recursion"),
        (b'[{"n":"' + b"a" * 200, "a line is longer than max_message_bytes"),
    ],
)
def test_invalid_lines_of_the_format_are_errors_after_the_messages_before_them(line, reason):
    spec = importlib.util.spec_from_file_location(
        "rdfm_senml", EXAMPLES / "senml_format/rdfm_senml.py"
    )
    senml = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(senml)
    limit = 150 if "longer" in reason else 1 << 20
    data = b'[{"n":"a","v":1}]\n' + line + b"\n"
    for size in {1, len(data)} if len(data) < 1000 else {len(data)}:
        decoder = senml.SENML.Decoder(max_message_bytes=limit)
        found = 0
        with pytest.raises(rdfm.DecodeError, match=re.escape(reason)) as error:
            for start in range(0, len(data), size):
                decoder.feed(data[start : start + size])
                while (batch := decoder.next_batch()) is not None:
                    found += len(batch)
        assert found == 1
        assert (error.value.message_index, error.value.line) == (1, 2)


def test_the_service_publishes_alerts(tmp_path):
    logs = tmp_path / "logs"
    logs.mkdir()
    rdfm.convert(OBSERVATIONS, logs / "observations.jelly")
    environment = {
        **os.environ,
        "PATH": PATH,
        "PYTHONPATH": str(ROOT),
        "RDFM_PUBLISH_TOKEN": "example",
        "RDFM_GRPC_TOKEN": "example",
    }
    command = ["rdfm", "serve", logs, "--grpc", "0", "--allow-publish", "--create-topics"]
    server = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    service = None
    try:
        for line in server.stderr:
            if found := re.search(r"url=(grpc://\S+)", line):
                break
        topics = f"{found[1]}/observations", f"{found[1]}/alerts"
        command = [sys.executable, EXAMPLES / "follow_log.py", *topics, "20"]
        service = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        lines = [service.stdout.readline() for _ in range(5)]
        assert lines[0] == "message 0: [3.5]\n"
        assert lines[3:] == ["message 3: []\n", "message 4: [30.5]\n"]
        rdfm.convert(OBSERVATIONS, logs / "observations.jelly", append=True)
        lines = [service.stdout.readline() for _ in range(5)]
        assert lines[0] == "message 5: [3.5]\n"
        expected = [{"<http://example.org/o4>"}] * 2
        alerts = logs / "alerts.jelly"
        processes.wait_for(lambda: alerts.exists() and messages(alerts) == expected)
        service.send_signal(signal.SIGTERM)
        assert service.wait(30) == 0
    finally:
        for process in (service, server):
            if process is not None:
                process.kill()
                process.communicate()
