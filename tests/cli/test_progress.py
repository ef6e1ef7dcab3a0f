"""Progress bar and summary of the commands."""

import gc
import io
import json
from pathlib import Path

import pytest

import rdfm as package
from rdfm.cli.bar import Bar

LINE = "<http://e/s> <http://e/p> <http://e/o> .\n"
DELIMITER = "# @message\n"


@pytest.fixture
def bar(monkeypatch):
    """Replaces the bar with one that does not wait. Returns the reports that it receives."""
    reports = []

    class RecordingBar(Bar):
        def __init__(self):
            super().__init__()
            self._start = float("-inf")

        def __call__(self, progress):
            super().__call__(progress)
            reports.append(progress)

    monkeypatch.setattr(Bar, "create_if_terminal", classmethod(lambda _: RecordingBar()))
    monkeypatch.setattr("rdfm.logs.input.progress.PROGRESS_SECONDS", 0)
    return reports


@pytest.mark.parametrize("arguments", ["convert log.nq out.nq.gz", "inspect log.nq"])
def test_the_bar_reaches_the_end(rdfm, bar, arguments):
    Path("log.nq").write_text((LINE + DELIMITER) * 20_000)
    size = Path("log.nq").stat().st_size
    run = rdfm(*arguments.split())
    assert "20,000 messages, 20,000 quads" in run.err
    assert {progress.bytes_total for progress in bar} == {size}
    assert (bar[-1].bytes_in, bar[-1].messages, bar[-1].quads) == (size, 20_000, 20_000)
    steps = [(progress.bytes_in, progress.messages) for progress in bar]
    assert steps == sorted(steps)
    assert len(set(steps)) > 1


@pytest.mark.parametrize(
    ("query", "arguments"),
    [
        ("SELECT ?s { ?s ?p ?o }", ["-o", "out.srt"]),
        ("CONSTRUCT { ?s ?p ?o } { ?s ?p ?o }", ["-o", "out.nq"]),
        ("SELECT ?s { ?s <x:no> ?o }", ["--whole", "-o", "out.parquet"]),
        ("ASK { ?s <x:no> ?o }", []),
    ],
)
def test_the_bar_of_a_query_reaches_the_end(rdfm, bar, query, arguments):
    Path("log.nq").write_text((LINE + DELIMITER) * 20_000)
    size = Path("log.nq").stat().st_size
    assert rdfm("query", query, "log.nq", *arguments).code == 0
    assert {progress.bytes_total for progress in bar} == {size}
    assert bar[-1].bytes_in == size
    steps = [(progress.bytes_in, progress.messages) for progress in bar]
    assert steps == sorted(steps)
    assert len(set(steps)) > 1


@pytest.mark.parametrize("arguments", [["-o", "out.srt"], []])
def test_the_bar_shows_that_a_query_is_evaluated(rdfm, bar, arguments):
    Path("log.nq").write_text((LINE + DELIMITER) * 20_000)
    size = Path("log.nq").stat().st_size
    query = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"
    run = rdfm("query", query, "log.nq", "--whole", *arguments)
    [evaluating] = [progress for progress in bar if progress.evaluating]
    assert evaluating.bytes_in == evaluating.bytes_total == size
    assert "evaluating" in run.err
    bar.clear()
    rdfm("query", query, "log.nq", *arguments)
    assert not any(progress.evaluating for progress in bar)


def test_the_evaluation_of_a_query_is_shown_immediately(capsys):
    bar = Bar()
    bar(package.Progress(10, 10))
    assert capsys.readouterr().err == ""
    bar(package.Progress(10, 10, evaluating=True))
    bar.close()
    assert "evaluating" in capsys.readouterr().err


@pytest.mark.parametrize("source", ["in", "in/*.nq", "in.tar", "in.parquet", "in.tar.gz"])
def test_inspect_reports_progress(rdfm, bar, source):
    Path("log.nq").write_text((LINE + DELIMITER) * 20_000)
    rdfm("convert", "log.nq", "in/", "--split-messages", "5000", "--to", "nq")
    if "." in source:
        rdfm("convert", "log.nq", source, "--take", "9000") if "*" not in source else None
    bar.clear()
    report = package.inspect(source, progress=bar.append)
    assert len({progress.messages for progress in bar}) > 1
    assert bar[-1].messages == report.messages
    assert bar[-1].bytes_in == bar[-1].bytes_total == report.bytes == report.bytes_total
    steps = [(progress.bytes_in, progress.messages) for progress in bar]
    assert steps == sorted(steps)


@pytest.mark.parametrize(
    "call",
    [
        lambda **options: package.convert("log.nq", "out.jelly", **options),
        lambda **options: package.filter("log.nq", "out.nq", any="<x:s>", **options),
        lambda **options: package.inspect("log.nq", **options),
        lambda **options: package.statistics("log.nq", **options),
        lambda **options: list(package.validate("log.nq", **options)),
        lambda **options: package.diff("log.nq", "log.nq", **options),
        lambda **options: package.patch.from_log("log.nq", "out.rdfp", **options),
        lambda **options: package.ask("ASK { ?s ?p ?o }", "log.nq", **options),
        lambda **options: list(package.select("SELECT * { ?s ?p ?o }", "log.nq", **options)),
        lambda **options: list(
            package.construct("CONSTRUCT WHERE { ?s ?p ?o }", "log.nq", **options)
        ),
        lambda **options: list(package.query("SELECT * { ?s ?p ?o }", "log.nq", **options)),
    ],
)
def test_true_shows_a_bar(rdfm, capfd, call):
    Path("log.nq").write_text((LINE + DELIMITER) * 200)
    size = Path("log.nq").stat().st_size
    call(progress=False)
    call()
    assert capfd.readouterr().err == ""
    call(progress=True)
    gc.collect()  # closes the bar
    shown = capfd.readouterr().err
    assert f"{size / 1000:.3g}"[:3] in shown or "100%" in shown


def test_progress_must_be_a_function(rdfm):
    with pytest.raises(package.OptionError, match="progress must be a function"):
        package.inspect("a.nq", progress="bar")


def test_dropped_data_is_counted_in_singular_and_plural(rdfm):
    log = io.BytesIO()
    with package.create_log(log, "jelly") as writer:
        for metadata in ({"a": b"1", "b": b"2", "c": b"3"}, {}):
            writer.write(package.Message([], metadata=metadata))
    Path("m.jelly").write_bytes(log.getvalue())
    assert "dropped: 3 metadata entries\n" in rdfm("convert", "m.jelly", "m.nq").err
    run = rdfm("convert", "m.jelly", "m.nq", "--group-by", "all")
    assert "dropped: 1 empty message, 3 metadata entries\n" in run.err
    rdfm("convert", "a.nq", "a.jelly")
    run = rdfm("convert", "a.jelly", "out.nt", "--merge-graphs")
    assert "dropped: 1 graph name\n" in run.err
    Path("e.nq").write_text("# @message\n" * 3 + LINE)
    assert (
        "dropped: 2 empty messages\n" in rdfm("convert", "e.nq", "out.nq", "--group-by", "all").err
    )


def test_inspect_counts_the_bytes_read(rdfm):
    rdfm("convert", "a.nq", "a.jelly")
    size = Path("a.jelly").stat().st_size
    report = package.inspect("a.jelly", "nq")
    assert (report.bytes, report.decompressed_bytes, report.bytes_total) == (0, 0, size)
    assert f"read             0 B of {size} B\n" in rdfm("inspect", "--from", "nq", "a.jelly").out
    valid = package.inspect("a.jelly")
    assert (valid.bytes, valid.decompressed_bytes, valid.bytes_total) == (size, size, size)
    invalid = Path("bad.nq").read_bytes()
    valid_bytes = invalid.index(b"oops")
    assert package.inspect("bad.nq").bytes == valid_bytes
    rdfm("convert", "a.nq", "in/0.nq")
    Path("in").mkdir()
    Path("in/0.nq").write_bytes(Path("a.nq").read_bytes())
    Path("in/1.nq").write_bytes(invalid)
    report = package.inspect("in")
    assert report.bytes == report.decompressed_bytes == Path("a.nq").stat().st_size + valid_bytes


def test_json_contains_no_control_characters(rdfm):
    name = "x\x7f\x9b\u202e\u00e9\U000e0001.nq"
    Path(name).write_text(
        'VERSION "1.1\u007f\u009b[31m"\n<http://e/s> <http://e/p\u0085> <http://e/o> .\n'
    )
    run = rdfm("inspect", "--json", "--lenient", name)
    (line,) = run.out.splitlines()
    assert line.isprintable()
    assert "\\u007f\\u009b\\u202e\u00e9" in line
    report = json.loads(line)
    assert report["source"] == name
    assert report["version_label"] == "1.1\x7f\x9b[31m"
