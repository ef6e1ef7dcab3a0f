"""rdfm query: runs SPARQL on each message, or on all of them."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from processes import wait_until_busy

import rdfm as library

XSD = "http://www.w3.org/2001/XMLSchema#"

LOG = """PREFIX ex: <http://e/>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
ex:s1 ex:species ex:crane ; ex:count 2 .
# @message
ex:s2 ex:species ex:wren ; ex:place [ ex:lat 47.1 ] .
# @message
# @message
ex:s4 ex:species ex:crane, ex:heron ; ex:place [ ex:lat 8.7 ] .
"""
SPECIES = "PREFIX ex: <http://e/> SELECT ?s ?o { ?s ex:species ?o } ORDER BY ?o"
PLACES = "PREFIX ex: <http://e/> SELECT ?s ?b { ?s ex:place ?b }"
SEEN = "PREFIX ex: <http://e/> CONSTRUCT { ?o ex:seen ?s } { ?s ex:species ?o }"
CRANES = "PREFIX ex: <http://e/> ASK { ?s ex:species ex:crane }"
# A query with too many solutions to finish.
BOMB = (
    "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n1 ?o . ?p ?q ?r }"
)
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(library.__file__).parent.parent)}


@pytest.fixture
def log(rdfm):
    Path("log.trig").write_text(LOG)
    library.convert("log.trig", "log.jelly")


def results(path):
    with library.open_log(path, kind="results") as reader:
        return list(reader.variables), [tuple(map(str, row)) for row in reader]


ROWS = [
    ('"log.trig"', f'"{at}"^^<{XSD}integer>', s, o)
    for at, s, o in [
        (0, "<http://e/s1>", "<http://e/crane>"),
        (1, "<http://e/s2>", "<http://e/wren>"),
        (3, "<http://e/s4>", "<http://e/crane>"),
        (3, "<http://e/s4>", "<http://e/heron>"),
    ]
]


@pytest.mark.parametrize("suffix", ["srj", "srx", "tsv", "srt", "srp", "srj.gz"])
@pytest.mark.usefixtures("log")
def test_rows_are_written_to_every_results_format(rdfm, suffix):
    run = rdfm("query", SPECIES, "log.trig", "-o", f"out.{suffix}", "--quiet")
    assert (run.code, run.out, run.err) == (0, "", "")
    assert results(f"out.{suffix}") == (["source", "message_index", "s", "o"], ROWS)


@pytest.mark.usefixtures("log")
def test_rows_on_standard_output_are_tsv(rdfm):
    run = rdfm("query", SPECIES, "log.trig")
    assert run.code == 0
    assert run.err.startswith("rdfm: 4 rows: ")
    Path("out.tsv").write_text(run.out)
    assert results("out.tsv") == (["source", "message_index", "s", "o"], ROWS)


@pytest.mark.usefixtures("log")
def test_csv_output_is_plain_text(rdfm):
    run = rdfm("query", SPECIES, "log.trig", "-o", "out.csv")
    assert run.code == 0
    assert Path("out.csv").read_text().splitlines()[:2] == [
        "source,message_index,s,o",
        "log.trig,0,http://e/s1,http://e/crane",
    ]


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "feather"])
@pytest.mark.usefixtures("log")
def test_tables_are_written(rdfm, suffix):
    import pyarrow as pa
    from pyarrow import ipc, parquet

    assert rdfm("query", SPECIES, "log.trig", "-o", f"out.{suffix}").code == 0
    if suffix == "parquet":
        table = parquet.read_table("out.parquet")
    else:
        table = ipc.open_file(f"out.{suffix}").read_all()
    assert table.schema == pa.schema(
        {"source": pa.string(), "message_index": pa.int64(), "s": pa.string(), "o": pa.string()}
    )
    assert table.column("message_index").to_pylist() == [0, 1, 3, 3]
    assert set(table.column("source").to_pylist()) == {"log.trig"}
    assert [tuple(row.values()) for row in table.select(["s", "o"]).to_pylist()] == [
        row[2:] for row in ROWS
    ]


COUNTS = "PREFIX ex: <http://e/> SELECT ?s ?n { ?s ex:species ?o OPTIONAL { ?s ex:count ?n } }"


@pytest.mark.usefixtures("log")
def test_columns_have_the_requested_types(rdfm):
    import pyarrow as pa
    from pyarrow import parquet

    arguments = ["--types", "?s=iri,n=integer", "-o", "out.parquet"]
    assert rdfm("query", COUNTS, "log.trig", *arguments).code == 0
    table = parquet.read_table("out.parquet")
    assert (table.schema.field("s").type, table.schema.field("n").type) == (pa.string(), pa.int64())
    assert table.column("n").to_pylist() == [2, None, None, None]
    assert table.column("s").to_pylist()[0] == "http://e/s1"
    assert rdfm("query", COUNTS, "log.trig", "--whole", *arguments).code == 0
    assert parquet.read_table("out.parquet").column_names == ["s", "n"]


@pytest.mark.usefixtures("log")
def test_a_value_of_the_wrong_type_is_an_error(rdfm):
    from pyarrow import parquet

    arguments = ["--types", "n=dateTime", "-o", "out.parquet"]
    run = rdfm("query", COUNTS, "log.trig", *arguments)
    assert run.code == 1
    assert run.error.startswith("log.trig: ?n is ")
    assert run.error.endswith("--on-error skip makes such values null (message 0)")
    assert not Path("out.parquet").exists()
    run = rdfm("query", COUNTS, "log.trig", "--on-error", "skip", *arguments)
    assert run.code == 0
    assert ", 1 error skipped" in run.err
    assert parquet.read_table("out.parquet").column("n").null_count == 4


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "srj"])
def test_an_empty_table_has_columns(rdfm, suffix):
    run = rdfm("query", "SELECT ?s { ?s <x:no> ?o }", "a.nq", "-o", f"out.{suffix}")
    assert run.code == 0
    if suffix == "srj":
        assert results("out.srj") == (["source", "message_index", "s"], [])
    elif suffix == "parquet":
        from pyarrow import parquet

        assert parquet.read_table("out.parquet").column_names == ["source", "message_index", "s"]
    else:
        from pyarrow import ipc

        assert ipc.open_file("out.arrow").read_all().column_names == [
            "source",
            "message_index",
            "s",
        ]


@pytest.mark.usefixtures("log")
def test_blank_nodes_of_different_messages_are_distinct(rdfm):
    assert rdfm("query", PLACES, "log.trig", "-o", "out.srj").code == 0
    _, rows = results("out.srj")
    assert len({row[3] for row in rows}) == 2
    assert rdfm("query", PLACES, "log.trig", "--whole", "-o", "whole.srj").code == 0
    variables, rows = results("whole.srj")
    assert variables == ["s", "b"]
    assert len({row[1] for row in rows}) == 2


@pytest.mark.usefixtures("log")
def test_blank_nodes_are_shared_within_a_message(rdfm):
    query = "PREFIX ex: <http://e/> SELECT ?b ?c { ?s ex:place ?b, ?c }"
    assert rdfm("query", query, "log.trig", "-o", "out.srj").code == 0
    _, rows = results("out.srj")
    assert len(rows) == 2
    assert all(row[2] == row[3] for row in rows)


@pytest.mark.usefixtures("log")
def test_a_query_may_cover_the_entire_log(rdfm):
    query = "PREFIX ex: <http://e/> SELECT (COUNT(?s) AS ?n) { ?s ex:species ex:crane }"
    run = rdfm("query", query, "log.trig", "--whole", "--quiet")
    assert run.out == f'?n\n"2"^^<{XSD}integer>\n'
    run = rdfm("query", query, "log.trig", "log.jelly", "--whole", "--quiet", "--to", "results-csv")
    assert run.out.split() == ["n", "2"]  # equal quads are counted once
    assert rdfm(
        "query", query, "b.nq", "--whole", "--quiet", "--to", "results-csv"
    ).out.split() == [
        "n",
        "0",
    ]


@pytest.mark.usefixtures("log")
def test_construct_creates_one_message_per_message(rdfm):
    run = rdfm("query", SEEN, "log.trig", "-o", "out.jelly", "--quiet")
    assert (run.code, run.err) == (0, "")
    with library.open_log("out.jelly") as log:
        constructed = [[str(quad) for quad in message] for message in log]
    assert [len(message) for message in constructed] == [1, 1, 0, 2]
    assert constructed[1] == ["<http://e/wren> <http://e/seen> <http://e/s2> ."]
    run = rdfm("query", SEEN, "log.trig", "--skip-empty", "--to", "nq", "--quiet")
    assert run.out.count("# @message") == 2
    run = rdfm("query", SEEN, "log.trig", "-o", "out/", "--to", "ttl", "--quiet")
    assert len(list(Path("out").rglob("*.ttl"))) == 4


@pytest.mark.usefixtures("log")
def test_messages_on_standard_output_are_trig(rdfm):
    run = rdfm("query", SEEN, "log.jelly")
    assert run.code == 0
    Path("out.trig").write_text(run.out)
    with library.open_log("out.trig") as log:
        assert [len(message) for message in log] == [1, 1, 0, 2]


@pytest.mark.usefixtures("log")
def test_construct_on_the_entire_log_creates_one_message_per_solution(rdfm):
    run = rdfm("query", SEEN, "log.trig", "--whole", "-o", "out.nq", "--quiet")
    assert run.code == 0
    with library.open_log("out.nq") as log:
        constructed = [[str(quad) for quad in message] for message in log]
    assert [len(message) for message in constructed] == [1, 1, 1, 1]


def test_solutions_of_an_endpoint_become_messages(rdfm):
    Path("answer.srj").write_text(
        json.dumps(
            {
                "head": {"vars": ["s", "o"]},
                "results": {
                    "bindings": [
                        {
                            "s": {"type": "uri", "value": "http://e/s1"},
                            "o": {"type": "uri", "value": "http://e/crane"},
                        },
                        {"s": {"type": "uri", "value": "http://e/s2"}},
                        {
                            "s": {"type": "uri", "value": "http://e/s3"},
                            "o": {"type": "literal", "value": "no subject"},
                        },
                        {
                            "s": {"type": "uri", "value": "http://e/s4"},
                            "o": {"type": "bnode", "value": "b"},
                        },
                    ]
                },
            }
        )
    )
    run = rdfm("query", SEEN, "--solutions", "answer.srj", "-o", "out.nq", "--quiet")
    assert (run.code, run.err) == (0, "")
    with library.open_log("out.nq") as log:
        constructed = [[quad.object.value for quad in message] for message in log]
    assert constructed == [["http://e/s1"], [], [], ["http://e/s4"]]
    run = rdfm("query", SEEN, "--solutions", "answer.srj", "--skip-empty", "--to", "nq", "-q")
    assert run.out.count("# @message") == 1


@pytest.mark.usefixtures("log")
def test_ask_prints_the_indexes_of_matching_messages(rdfm):
    run = rdfm("query", CRANES, "log.trig")
    assert (run.code, run.out, run.err) == (0, "0\n3\n", "")
    run = rdfm("query", CRANES, "log.trig", "b.nq", "log.jelly")
    assert run.out == "log.trig\t0\nlog.trig\t3\nlog.jelly\t0\nlog.jelly\t3\n"
    assert rdfm("query", CRANES, "log.trig", "--whole").out == "true\n"
    run = rdfm("query", CRANES, "b.nq", "--whole")
    assert (run.code, run.out) == (0, "false\n")


@pytest.mark.usefixtures("log")
def test_queries_are_read_from_files_and_standard_input(rdfm, monkeypatch):
    Path("q.rq").write_text(CRANES)
    assert rdfm("query", "q.rq", "log.trig").out == "0\n3\n"
    read_end, write_end = os.pipe()
    os.write(write_end, CRANES.encode())
    os.close(write_end)
    original_input = os.dup(0)
    os.dup2(read_end, 0)
    try:
        assert rdfm("query", "-", "log.trig").out == "0\n3\n"
    finally:
        os.dup2(original_input, 0)
        os.close(original_input)
        os.close(read_end)


@pytest.mark.usefixtures("log")
def test_undeclared_prefixes_come_from_an_option(rdfm):
    query = "ASK { ?s ex:species ex:crane }"
    assert rdfm("query", query, "log.trig", "--prefix", "ex=http://e/").out == "0\n3\n"
    assert "ex" in rdfm("query", query, "log.trig").error


def test_a_query_reads_the_default_graph_or_all_graphs(rdfm):
    query = "SELECT ?o { ?s ?p ?o FILTER(?o = '2') }"
    run = rdfm("query", query, "a.nq", "-o", "out.srj")
    assert run.code == 0
    assert run.err.splitlines()[-1] == (
        "rdfm: note: nothing was found in the default graph, but there are named graphs; --union-graphs queries all "
        "graphs together"
    )
    run = rdfm("query", query, "a.nq", "--union-graphs", "-o", "out.srj")
    assert "note" not in run.err
    assert len(results("out.srj")[1]) == 1
    run = rdfm(
        "query", "CONSTRUCT { ?s ?p ?o } { ?s ?p ?o FILTER(?o = '2') }", "a.nq", "-o", "o.nq"
    )
    assert "--union-graphs" in run.err
    assert "note" not in rdfm("query", query, "b.nq", "-o", "out.srj").err  # no graphs
    assert rdfm("query", query, "a.nq", "--quiet", "-o", "out.srj").err == ""


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * { GRAPH ?g { ?s ?p 'none' } }",
        "SELECT * FROM NAMED <http://e/none> { GRAPH ?g { ?s ?p ?o } }",
        "SELECT * FROM <http://e/none> { ?s ?p ?o }",
        "SELECT * { VALUES ?s {} }",
    ],
)
def test_no_note_is_printed_if_merging_the_graphs_has_no_effect(rdfm, query):
    assert "note" not in rdfm("query", query, "a.nq", "-o", "out.srj").err


def test_a_note_is_printed_if_a_part_of_a_query_finds_nothing(rdfm):
    query = "ASK { GRAPH ?g { ?s ?p ?o } FILTER EXISTS { ?s ?p 'none' } }"
    assert "note" in rdfm("query", query, "a.nq").err


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["SELECT ?s { ?s ?p }", "a.nq"], "(line 1, column"),
        (["SELECT ?s {\n ?s ?p ?o .\n oops }", "a.nq"], "(line 3, column"),
        (["DESCRIBE <x:a>", "a.nq"], "DESCRIBE"),
        (["DELETE WHERE { ?s ?p ?o }", "a.nq"], "update"),
        (["CLEAR ALL", "a.nq"], "update"),
        (["SELECT * { SERVICE <x:y> { ?s ?p ?o } }", "a.nq"], "SERVICE"),
        (["ASK { ?s ?p ?o }"], "there is nothing to query; name a log"),
        (["ASK { ?s ?p ?o }", "a.nq", "-o", "out.nq"], "an ASK query prints its result; remove -o"),
        (["ASK { ?s ?p ?o }", "a.nq", "--to", "nq"], "--to applies to output files"),
        (
            ["SELECT ?source { ?source ?p ?o }", "a.nq"],
            "?source would be a second column named source",
        ),
        (
            ["SELECT ?message_index { ?message_index ?p ?o }", "a.nq"],
            "?message_index would be a second column named message_index",
        ),
        (["SELECT * { ?s ?p ?o }", "a.nq", "-o", "out.nq"], "SELECT produces rows"),
        (
            ["CONSTRUCT { ?s ?p ?o } { ?s ?p ?o }", "a.nq", "-o", "out.srj"],
            "but SPARQL results in JSON supports only results",
        ),
        (["SELECT * { ?s ?p ?o }", "a.nq", "--skip-empty"], "--skip-empty applies to CONSTRUCT"),
        (["ASK { ?s ?p ?o }", "a.nq", "--types", "s=iri"], "types applies to SELECT"),
        (["SELECT * { ?s ?p ?o }", "--solutions", "a.srj"], "solutions applies to CONSTRUCT"),
        (
            ["CONSTRUCT { ?s ?p ?o } { ?s ?p ?o }", "a.nq", "--solutions", "a.srj"],
            "--solutions replaces the logs; remove the logs or --solutions",
        ),
        (
            ["SELECT * { ?s ?p ?o }", "a.nq", "--timeout", "soon"],
            "timeout must be a number of seconds",
        ),
        (
            ["SELECT * { ?s ?p ?o }", "a.nq", "--timeout", "0"],
            "timeout must be a number of seconds",
        ),
        (
            ["SELECT * { ?s ?p ?o }", "a.nq", "--max-rows", "0"],
            "--max-rows must be a number >= 1",
        ),
        (
            ["SELECT * { ?s ?p ?o }", "a.nq", "--types", "s", "-o", "out.parquet"],
            "--types contains 's', expected names with types",
        ),
        (
            ["SELECT ?s ?p ?o { ?s ?p ?o }", "a.nq", "--types", "x=double", "-o", "out.parquet"],
            "cannot set the type of 'x': there is no such variable; the variables are ?s, ?p, ?o",
        ),
        (
            ["SELECT * { ?s ?p ?o }", "a.nq", "--types", "o=double"],
            "--types applies only to tables",
        ),
        (
            ["SELECT * { ?s ?p ?o }", "a.nq", "--types", "o=number", "-o", "out.parquet"],
            "unknown type 'number' for ?o; expected one of string, iri",
        ),
        (
            ["SELECT * { ?s ?p ?o }", "a.nq", "--types", "o=double", "-o", "out.srj"],
            "--types applies only to tables",
        ),
        (
            ["SELECT * { ?s ?p ?o }", "a.nq", "-o", "a.nq", "--to", "results-json"],
            "is also an input",
        ),
        (["SELECT * { ?s ?p ?o }", "-", "-"], "standard input (-) can be read only once"),
        (
            ["SELECT * { ?s ?p ?o }", "a.nq", "-o", "out/", "--to", "parquet"],
            "a table must be a single file",
        ),
    ],
)
def test_invalid_commands_are_rejected(rdfm, arguments, text):
    run = rdfm("query", *arguments)
    assert run.code == 2
    assert text in run.error
    assert not list(Path().glob("out*"))


def test_a_missing_query_file_is_named(rdfm):
    run = rdfm("query", "none.rq", "a.nq")
    assert (run.code, run.error) == (1, "none.rq: No such file or directory")


def test_an_error_in_a_query_file_names_the_file(rdfm):
    Path("q.rq").write_text("SELECT *\n{ ?s ?p }")
    assert rdfm("query", "q.rq", "a.nq").error.startswith("q.rq: ")


def test_logs_of_other_kinds_are_rejected(rdfm):
    Path("a.rdfp").write_text("TX .\nA <x:s> <x:p> <x:o> .\nTC .\n")
    Path("a.tsv").write_text("?x\n<x:a>\n")
    for name, kind in (("a.rdfp", "patches"), ("a.tsv", "results")):
        run = rdfm("query", "SELECT * { ?s ?p ?o }", name, "-o", "out.srj")
        assert run.code == 2
        assert f"{name} contains {kind}, but queries need messages" in run.error
        assert not Path("out.srj").exists()
    run = rdfm("query", "CONSTRUCT { ?s ?p ?o } { ?s ?p ?o }", "--solutions", "a.nq", "-o", "o.nq")
    assert "a.nq contains messages, but --solutions requires SPARQL results" in run.error


def test_invalid_messages_are_errors_or_skipped(rdfm):
    run = rdfm("query", "SELECT ?s { ?s ?p ?o }", "bad.nq", "-o", "out.srj")
    assert run.code == 1
    assert "(line 3, column" in run.error
    assert not Path("out.srj").exists()
    run = rdfm("query", "SELECT ?s { ?s ?p ?o }", "bad.nq", "-o", "out.srj", "--on-error", "skip")
    assert run.code == 0
    assert "rdfm: skipped: bad.nq" in run.err
    assert [row[1:] for row in results("out.srj")[1]] == [
        (f'"{at}"^^<{XSD}integer>', f"<http://e/{at + 1}>") for at in (0, 2)
    ]
    run = rdfm("query", "ASK { ?s ?p ?o }", "bad.nq", "--on-error", "skip")
    assert (run.code, run.out) == (0, "0\n2\n")


@pytest.mark.usefixtures("log")
def test_max_rows_limits_the_rows(rdfm):
    run = rdfm("query", SPECIES, "log.trig", "--max-rows", "1", "-o", "out.srj")
    assert run.code == 1
    assert run.error.startswith("log.trig: ")
    assert "a larger --max-rows allows it (message 3)" in run.error
    assert not Path("out.srj").exists()
    run = rdfm("query", SPECIES, "log.trig", "--max-rows", "1", "--on-error", "skip", "-o", "o.srj")
    assert run.code == 0
    assert ", 1 error skipped" in run.err
    assert len(results("o.srj")[1]) == 2
    run = rdfm("query", SPECIES, "log.trig", "--max-rows", "3", "--whole", "-o", "out.srj")
    assert run.code == 1
    assert "a larger --max-rows allows it" in run.error


def write_big_log(name="big.nq", count=300):
    quads = [f'<http://e/s{at}> <http://e/p{at % 7}> "{at}" .\n' for at in range(count)]
    Path(name).write_text("".join(quads) + "# @message\n<http://e/s> <http://e/p> <http://e/o> .\n")


@pytest.mark.slow
@pytest.mark.parametrize("scope", [[], ["--whole"]])
def test_a_query_that_exceeds_the_timeout_is_an_error(rdfm, scope):
    write_big_log()
    start = time.monotonic()
    run = rdfm("query", BOMB, "big.nq", "--timeout", "0.5", "-o", "out.srj", *scope)
    assert time.monotonic() - start < 5
    assert run.code == 1
    assert "a larger --timeout allows it" in run.error
    if not scope:
        assert run.error.startswith("big.nq: ")
        assert run.error.endswith("(message 0)")
    assert not Path("out.srj").exists()
    run = rdfm("query", BOMB, "big.nq", "--timeout", "0.5", "--on-error", "skip", "-o", "out.srj")
    assert run.code == 0
    assert len(results("out.srj")[1]) == 1


NEVER_TRUE = "FILTER(?a = ?i && ?a != ?i)"


@pytest.mark.slow
@pytest.mark.parametrize("scope", [[], ["--whole"]])
@pytest.mark.parametrize(
    "query",
    [
        BOMB,
        "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i %s }",
        "CONSTRUCT { ?a ?b ?f } { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l %s }",
        "ASK { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l FILTER(?a = ?l && ?a != ?l) }",
    ],
)
@pytest.mark.skipif(os.name == "nt", reason="needs Unix signals")
def test_a_query_is_interrupted_within_a_second(tmp_path, monkeypatch, query, scope):
    monkeypatch.chdir(tmp_path)
    write_big_log(count=2000)
    # The rows of a message are buffered; without the filter, they would exceed the memory limit.
    query = query.replace("%s", "" if scope else NEVER_TRUE)
    arguments = ["-m", "rdfm", "query", query, "big.nq", "--max-rows", "10000000000", *scope]
    with Path("out.txt").open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            env=ENVIRONMENT,
            stdout=out,
            stderr=subprocess.PIPE,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        wait_until_busy(process, 0.8)
        process.send_signal(signal.SIGINT)
        start = time.monotonic()
        _, err = process.communicate(timeout=30)
    assert time.monotonic() - start < 1.5
    assert (process.returncode, err.strip()) == (130, b"rdfm: error: interrupted")


@pytest.mark.usefixtures("log")
def test_rows_are_a_table_on_a_terminal(rdfm):
    parent_end, child_end = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "rdfm", "query", SPECIES, "log.trig"],
        env={**ENVIRONMENT, "COLUMNS": "53"},
        stdout=child_end,
        stderr=subprocess.PIPE,
    )
    _, err = process.communicate(timeout=60)
    os.close(child_end)
    output = b""
    while True:
        try:
            piece = os.read(parent_end, 4096)
        except OSError:
            break
        if not piece:
            break
        output += piece
    os.close(parent_end)
    assert (process.returncode, err) == (0, b"rdfm: 4 rows\n")
    assert output.decode().replace("\r\n", "\n") == (
        "source    message_index  s              o\n"
        "log.trig  0              <http://e/s1>  <…://e/crane>\n"
        "log.trig  1              <http://e/s2>  <…p://e/wren>\n"
        "log.trig  3              <http://e/s4>  <…://e/crane>\n"
        "log.trig  3              <http://e/s4>  <…://e/heron>\n"
    )


def test_empty_inputs_have_empty_results(rdfm):
    Path("empty").mkdir()
    Path("empty.nq").touch()
    Path("empty/empty.nq").touch()
    for name in ("empty", "empty.nq"):
        assert rdfm("query", "SELECT ?s { ?s ?p ?o }", name, "-o", "out.srj").code == 0
        assert results("out.srj") == (["source", "message_index", "s"], [])
        query = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"
        assert rdfm("query", query, name, "--whole", "-o", "out.srj").code == 0
        assert results("out.srj") == (["n"], [(f'"0"^^<{XSD}integer>',)])
        assert rdfm("query", "ASK {}", name, "--whole").out == "true\n"
        assert rdfm("query", "ASK {}", name).out == ""
        query = "CONSTRUCT { <x:a> <x:b> 1 } {}"
        assert rdfm("query", query, name, "--whole", "-o", "out.nq").code == 0
        assert Path("out.nq").read_text().startswith("<x:a> <x:b> ")


def test_a_query_without_variables_has_rows(rdfm):
    run = rdfm("query", "SELECT * {}", "a.nq", "--whole", "-o", "out.parquet")
    assert "the query has no variables" in run.error
    assert rdfm("query", "SELECT * {}", "a.nq", "--whole", "-o", "out.arrow").code == 0
    assert rdfm("query", "SELECT * {}", "a.nq", "--whole", "-o", "out.srj").code == 0
    assert results("out.srj") == ([], [()])
    assert rdfm("query", "SELECT * {}", "a.nq", "-o", "out.parquet").code == 0


def test_archives_and_folders_can_be_queried(rdfm):
    Path("in").mkdir()
    for number in (1, 2):
        Path(f"in/{number}.nq").write_text(f"<x:a{number}> <x:p> <x:b> .\n")
    library.convert("in", "in.tar.gz", to="ttl")
    for name in ("in", "in.tar.gz", "in/*.nq"):
        run = rdfm("query", "SELECT ?s { ?s <x:p> ?o }", name, "-o", "out.srj", "--quiet")
        assert (run.code, run.err) == (0, "")
        _, rows = results("out.srj")
        assert [(row[1], row[2]) for row in rows] == [
            (f'"0"^^<{XSD}integer>', f"<x:a{number}>") for number in (1, 2)
        ]
        assert len({row[0] for row in rows}) == 2


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["SELECT", "a.nq"], "'SELECT' is neither a query (it has no {…}) nor a file"),
        (
            ["t.jelly", "SELECT ?s { ?s ?p ?o }"],
            "t.jelly is a log (Jelly), not a query; the query comes",
        ),
        (["INSERT DATA { <a:a> <a:b> 1 }", "a.nq"], "updates are not supported"),
        (["SELECT ?s { ?s ?p }", "a.nq"], "expected an object after ?p (line 1, column 19)"),
        (["SELECT ?s { ?s }", "a.nq"], "expected a predicate after ?s"),
        (
            ["SELECT ?s { ?s ?p ?o }", "a.nq", "-o", "o.xml"],
            "use the suffix .srx; --to results-xml",
        ),
        (
            ["SELECT ?s { ?s ?p ?o }", "a.nq", "-o", "o.json"],
            "use the suffix .srj; --to results-json",
        ),
    ],
)
def test_errors_suggest_corrections(rdfm, arguments, text):
    rdfm("convert", "a.nq", "t.jelly")
    assert text in rdfm("query", *arguments).error


@pytest.mark.usefixtures("log")
def test_types_are_inferred(rdfm):
    query = "SELECT ?o { ?s <http://e/species>|<http://e/count> ?o }"
    run = rdfm("query", query, "log.trig", "--types", "auto", "-o", "out.parquet")
    assert run.code == 0
    assert "note: ?o contains terms as N-Triples, because of '<http://e/crane>' (mess" in run.err
    run = rdfm("query", PLACES, "log.trig", "--types", "auto", "-o", "out.csv")
    assert run.code == 2
    assert "--types applies only to tables" in run.err
