"""rdfm convert and inspect with patches and results, for each pair of formats."""

import json
import re
import shutil
from pathlib import Path

import pytest
from support import FIXTURES

import rdfm as package
from rdfm import formats
from rdfm.cli.bar import Bar

PATCHES = {"jelly-patch": ".jellyp", "rdf-patch": ".rdfp", "rdf-patch-thrift": ".trp"}
RESULTS = {
    "results-thrift": ".srt",
    "results-protobuf": ".srp",
    "results-json": ".srj",
    "results-xml": ".srx",
    "results-tsv": ".tsv",
    "results-jelly": ".jellys",
}
CHAIN = """H id <urn:1> .
TX .
A _:b <http://e/p> "o" .
D _:b <http://e/p> "o" <http://e/g> .
TC .
Z .
H id <urn:2> .
H prev <urn:1> .
TX .
TA .
Z .
Z .
"""


def pairs(formats):
    return [(first, second) for first in formats for second in formats]


def summary_of(run):
    """Returns the summary without bytes and times."""
    assert run.code == 0, run.err
    return re.sub(r": [^:]*$", "", run.err.splitlines()[0].removeprefix("rdfm: "))


def fields_of(run):
    """Returns the lines of `inspect` by name. A line without a name belongs to the last name."""
    assert run.code == 0, run.err
    rows, name = {}, None
    for line in run.out.splitlines()[1:]:
        name = line[2:18].strip() or name
        rows.setdefault(name, []).append(line[19:].strip())
    return {name: rows[name] if len(rows[name]) > 1 else rows[name][0] for name in rows}


def rows_of(path):
    with package.open_log(path, kind=formats.by_path(str(path)).spec.kinds[0]) as log:
        return list(log)


@pytest.mark.parametrize(("first", "second"), pairs(PATCHES))
def test_patches_round_trip(rdfm, first, second):
    Path("log.rdfp").write_text(CHAIN)
    first_copy, second_copy = f"one{PATCHES[first]}", f"other{PATCHES[second]}"
    for source, target in (
        ("log.rdfp", first_copy),
        (first_copy, second_copy),
        (second_copy, "back.rdfp"),
    ):
        assert summary_of(rdfm("convert", source, target)) == "3 patches, 9 operations"
    assert rows_of(first_copy) == rows_of(second_copy) == rows_of("log.rdfp")
    rdfm("convert", "log.rdfp", "direct.rdfp")
    assert Path("back.rdfp").read_bytes() == Path("direct.rdfp").read_bytes()


@pytest.mark.parametrize(("first", "second"), pairs(RESULTS))
def test_results_round_trip(rdfm, first, second):
    source = FIXTURES / "results-json" / "basic.srj"
    first_copy, second_copy = f"one{RESULTS[first]}", f"other{RESULTS[second]}"
    for input_path, target in ((source, first_copy), (first_copy, second_copy)):
        assert summary_of(rdfm("convert", input_path, target)) == "3 rows"
    assert rows_of(first_copy) == rows_of(second_copy) == rows_of(source)
    with package.open_log(second_copy, kind="results") as results:
        assert results.variables == ("s", "p")


def test_summaries_use_the_singular(rdfm):
    Path("one.rdfp").write_text("TX .\n")
    assert summary_of(rdfm("convert", "one.rdfp", "one.trp")) == "1 patch, 1 operation"
    Path("one.srj").write_text('{"head":{"vars":["a"]},"results":{"bindings":[{}]}}')
    assert summary_of(rdfm("convert", "one.srj", "one.srx")) == "1 row"
    Path("none.srj").write_text('{"head":{"vars":["a"]},"results":{"bindings":[]}}')
    assert summary_of(rdfm("convert", "none.srj", "none.srt")) == "0 rows"
    Path("none.rdfp").write_text("")
    assert summary_of(rdfm("convert", "none.rdfp", "none.jellyp")) == "0 patches, 0 operations"


def test_python_summaries_count_each_kind(tmp_path):
    (tmp_path / "log.rdfp").write_text(CHAIN)
    summary = package.convert(tmp_path / "log.rdfp", tmp_path / "log.trp")
    assert (summary.kind, summary.messages, summary.quads) == ("patches", 3, 9)
    source = FIXTURES / "results-json" / "basic.srj"
    reports = []
    summary = package.convert(source, tmp_path / "r.srt", progress=reports.append)
    assert (summary.kind, summary.messages, summary.quads) == ("results", 3, 3)
    assert (reports[-1].kind, reports[-1].messages, reports[-1].quads) == ("results", 3, 3)
    summary = package.convert(b"", tmp_path / "e.nq", from_format="nq")
    assert (summary.kind, summary.messages) == ("messages", 0)


@pytest.mark.parametrize("format", PATCHES)
def test_inspect_describes_patches(rdfm, format):
    Path("log.rdfp").write_text(CHAIN)
    path = f"one{PATCHES[format]}"
    rdfm("convert", "log.rdfp", path)
    found = fields_of(rdfm("inspect", path))
    assert found["format"] == format
    assert found["patches"] == "3 (1 empty)"
    assert found["operations"] == "3 H, 2 TX, 1 TC, 1 TA, 1 A, 1 D, some in named graphs"
    assert found["transactions"] == "2: 1 committed, 1 aborted"
    assert found["chain"] == "complete: each prev is the id of the previous patch"
    assert found["operations/patch"] == "0 to 5, 3.0 on average"
    assert [line.split() for line in found["headers"]] == [["2", "id"], ["1", "prev"]]
    assert not {"messages", "quads/message", "predicates"} & set(found)
    report = json.loads(rdfm("inspect", "--json", path).out)
    assert (report["kind"], report["messages"], report["empty_messages"]) == ("patches", 3, 1)
    assert report["operations"] == {"H": 3, "TX": 2, "TC": 1, "TA": 1, "A": 1, "D": 1}
    assert (report["headers"], report["broken_links"]) == ({"id": 2, "prev": 1}, 0)
    assert (report["quads"], report["quads_per_message"]) == (2, [0, 3.0, 5])


def test_inspect_reports_a_broken_chain(rdfm):
    text = CHAIN + "H prev <urn:9> .\nZ .\nH prev <urn:2> .\nZ .\n"
    Path("log.rdfp").write_text(text)
    found = fields_of(rdfm("inspect", "log.rdfp"))
    assert found["chain"] == (
        "2 broken links; patch 3: prev is <urn:9>, but the previous patch has no id"
    )
    Path("log.rdfp").write_text("TX .\nTC .\nZ .\n")
    assert "chain" not in fields_of(rdfm("inspect", "log.rdfp"))


@pytest.mark.parametrize("format", RESULTS)
def test_inspect_describes_results(rdfm, format):
    path = f"one{RESULTS[format]}"
    rdfm("convert", FIXTURES / "results-json" / "basic.srj", path)
    found = fields_of(rdfm("inspect", path))
    assert set(found) == {"format", "size", "rows", "variables"}
    assert (found["rows"], found["variables"]) == ("3", "?s ?p")
    report = json.loads(rdfm("inspect", "--json", path).out)
    assert (report["kind"], report["messages"]) == ("results", 3)
    assert (report["variables"], report["boolean"]) == (["s", "p"], None)


def test_inspect_describes_boolean_and_empty_results(rdfm):
    shutil.copy(FIXTURES / "results-json" / "false.srj", "false.srj")
    found = fields_of(rdfm("inspect", "false.srj"))
    assert set(found) == {"format", "size", "answer"}
    assert found["answer"] == "false"
    report = json.loads(rdfm("inspect", "--json", "false.srj").out)
    assert (report["boolean"], report["variables"], report["messages"]) == (False, [], 0)
    Path("none.srj").write_text('{"head":{"vars":[]},"results":{"bindings":[{},{}]}}')
    found = fields_of(rdfm("inspect", "none.srj"))
    assert (found["rows"], found["variables"]) == ("2", "none")
    Path("none.rdfp").write_text("")
    found = fields_of(rdfm("inspect", "none.rdfp"))
    assert (found["patches"], found["operations"]) == ("0", "0")
    assert "transactions" not in found


def test_inspect_of_an_invalid_log_shows_its_kind(rdfm):
    Path("a.rdfp").write_text("oops")
    Path("a.srj").write_text("oops")
    run = rdfm("inspect", "a.rdfp", "a.srj")
    assert run.code == 1
    assert re.findall(r"^  (\w+) +0$", run.out, re.M) == ["patches", "operations", "rows"]
    assert "messages" not in run.out


def test_the_progress_bar_names_the_kind(rdfm, monkeypatch):
    class ImmediateBar(Bar):
        def __init__(self):
            super().__init__()
            self._start = float("-inf")

    monkeypatch.setattr(Bar, "create_if_terminal", classmethod(lambda _: ImmediateBar()))
    monkeypatch.setattr("rdfm.logs.input.progress.PROGRESS_SECONDS", 0)
    Path("log.rdfp").write_text(CHAIN)
    for arguments in (("convert", "log.rdfp", "log.trp"), ("inspect", "log.rdfp")):
        assert "3 patches, 9 operations" in rdfm(*arguments).err
    shutil.copy(FIXTURES / "results-json" / "basic.srj", "r.srj")
    for arguments in (("convert", "r.srj", "r.srt"), ("inspect", "r.srj")):
        assert "3 rows" in rdfm(*arguments).err


def test_conversion_between_kinds_is_rejected(rdfm):
    Path("log.rdfp").write_text(CHAIN)
    shutil.copy(FIXTURES / "results-json" / "basic.srj", "r.srj")
    assert "rdfm patch to-log" in rdfm("convert", "log.rdfp", "out.nq").error
    assert "a result format" in rdfm("convert", "r.srj", "out.nq").error
    assert "rdfm patch from-log" in rdfm("convert", "a.nq", "out.rdfp").error
    assert "contains patches" in rdfm("convert", "log.rdfp", "out.srj").error
    assert not list(Path().glob("out.*"))


def test_patch_commands_count_quads_patches_or_messages(rdfm):
    Path("log.rdfp").write_text("TX .\nA <a:s> <a:p> <a:o> .\nTC .\n")
    Path("empty.nq").write_text("")
    run = rdfm("patch", "apply", "empty.nq", "log.rdfp", "-o", "now.nq")
    assert summary_of(run) == "1 quad"
    run = rdfm("patch", "from-log", "b.nq", "b.rdfp")
    assert re.sub(" in .*", "", run.err.strip()) == "rdfm: 1 patch"
    run = rdfm("patch", "to-log", "log.rdfp", "back.nq")
    assert re.sub(" in .*", "", run.err.strip()) == "rdfm: 1 message"
    run = rdfm("patch", "diff", "empty.nq", "now.nq", "-o", "diff.rdfp")
    assert re.sub(" in .*", "", run.err.strip()) == "rdfm: 1 patch: 1 add, 0 deletes"


def test_inspect_rejects_logs_of_different_kinds(rdfm):
    Path("logs").mkdir()
    Path("logs/1.rdfp").write_text(CHAIN)
    Path("logs/2.nq").write_text("<a:s> <a:p> <a:o> .\n")
    assert (
        "logs/2.nq contains messages, but earlier logs contain patches"
        in rdfm("inspect", "logs").error
    )


def test_inspect_reports_different_variables(rdfm):
    Path("logs").mkdir()
    for name in "ab":
        text = f'{{"head":{{"vars":["{name}"]}},"results":{{"bindings":[{{}}]}}}}'
        Path(f"logs/{name}.srj").write_text(text)
    found = fields_of(rdfm("inspect", "logs"))
    assert (found["rows"], found["variables"]) == ("2", "?a")
    assert found["notes"].endswith("from those of the first log: logs/b.srj")


def test_standard_output_and_archives_keep_the_kind(rdfm):
    Path("log.rdfp").write_text(CHAIN)
    shutil.copy(FIXTURES / "results-json" / "basic.srj", "r.srj")
    assert (
        rdfm("convert", "log.rdfp", "-").out
        == rdfm("convert", "log.rdfp", "-", "--to", "rdf-patch").out
    )
    assert rdfm("convert", "r.srj", "-").out.startswith("?s\t?p\n")
    rdfm("convert", "log.rdfp", "log.tar")
    assert fields_of(rdfm("inspect", "log.tar"))["patches"] == "3 (1 empty)"
    Path("one.nq").write_text("<a:s> <a:p> <a:o> .\n")
    assert rdfm("patch", "apply", "one.nq", "log.tar", "-o", "out.nq").code == 0
    error = rdfm("convert", "log.rdfp", "out/").error
    assert "--to jelly-patch, rdf-patch, rdf-patch-thrift" in error


def test_a_limit_error_names_the_remedy_for_the_kind(rdfm):
    Path("log.rdfp").write_text(CHAIN)
    rdfm("convert", "log.rdfp", "log.trp")
    error = rdfm("convert", "log.trp", "out.rdfp", "--max-message-bytes", "5").error
    assert "a larger --max-message-bytes allows it" in error
    assert "--group-by" not in error
    shutil.copy(FIXTURES / "results-json" / "basic.srj", "r.srj")
    error = rdfm("convert", "r.srj", "out.srt", "--max-message-bytes", "5").error
    assert "a larger --max-message-bytes allows it" in error
    assert "--to" not in error


def test_the_error_for_a_large_row_names_only_the_limit(rdfm):
    Path("rows.tsv").write_text('?a\n"' + "a" * 2000 + '"\n')
    run = rdfm("convert", "rows.tsv", "rows.parquet", "--max-message-bytes", "1000")
    assert run.code == 1
    assert "larger --max-message-bytes" in run.err
    assert "--rows" not in run.err
    assert "--group-by" not in run.err
