"""The command `rdfm table`."""

import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pyarrow.parquet as parquet
import pytest

LOG = """PREFIX ex: <http://ex/>
ex:a ex:n 1 ; ex:tag "x", "y" .
# @message
ex:a ex:n 2 .
"""


NESTED = """PREFIX ex: <http://ex/>
ex:a ex:r [ ex:v 1.50 ; ex:list (1 2) ] ; ex:label "a, b"@en, "c" .
"""


@pytest.fixture
def log(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("log.trig").write_text(LOG)
    Path("nested.ttl").write_text(NESTED)


@pytest.mark.usefixtures("log")
def test_a_table_is_written(rdfm):
    run = rdfm("table", "log.trig", "-o", "out.parquet")
    assert run.err.startswith("rdfm: 2 rows: ")
    table = parquet.read_table("out.parquet")
    assert table["ex:tag"].to_pylist() == [["x", "y"], None]
    assert table.schema.field("ex:n").metadata[b"rdfm.predicate"] == b"http://ex/n"


@pytest.mark.usefixtures("log")
def test_columns_are_printed_as_types_accepts_them(rdfm):
    run = rdfm("table", "log.trig", "--columns")
    assert run.out == "ex:n=integer,ex:tag=string[]\n"
    again = rdfm("table", "log.trig", "--types", run.out.strip(), "-o", "typed.parquet")
    assert again.code == 0
    rdfm("table", "log.trig", "-o", "out.parquet")
    assert parquet.read_table("typed.parquet").equals(parquet.read_table("out.parquet"))


@pytest.mark.usefixtures("log")
def test_nested_columns_are_printed_as_types_accepts_them(rdfm):
    run = rdfm("table", "nested.ttl", "--depth", "2", "--columns")
    assert run.out == "ex:r={ex:v=decimal,ex:list=(integer)},ex:label=langString[]\n"
    rdfm("table", "nested.ttl", "--depth", "2", "-o", "out.parquet")
    rdfm("table", "nested.ttl", "--types", run.out.strip(), "-o", "typed.parquet")
    (row,) = parquet.read_table("typed.parquet").to_pylist()
    assert row["ex:r"] == {"ex:v": Decimal("1.5"), "ex:list": [1, 2]}
    assert parquet.read_table("out.parquet").to_pylist() == [row]


@pytest.mark.usefixtures("log")
def test_csv_contains_lexical_forms(rdfm):
    types = "auto,ex:label=string"
    run = rdfm("table", "nested.ttl", "--first", "--types", types, "-o", "out.csv")
    lines = Path("out.csv").read_text().splitlines()
    assert lines[0].startswith("source,message_index,subject,ex:r,ex:v,ex:list,")
    assert lines[1] == 'nested.ttl,0,http://ex/a,_:_g0,,,,,"a, b"'
    assert lines[2] == "nested.ttl,0,_:_g0,,1.50,_:_g1,,,"
    assert "note: 1 value after the first one" in run.err
    Path("empty.nq").touch()
    assert rdfm("table", "empty.nq", "-o", "empty.csv").code == 0
    assert Path("empty.csv").read_text() == "source,message_index,subject\n"


@pytest.mark.usefixtures("log")
def test_a_message_that_is_too_large_can_be_split(rdfm):
    Path("flat.nt").write_text("".join(f"<x:{n}> <x:p> <x:o> .\n" for n in range(50_000)))
    run = rdfm("table", "flat.nt", "--max-message-bytes", "65536", "-o", "new.parquet")
    assert run.code == 1
    assert "--group-by subject in a conversion splits the message" in run.err


@pytest.mark.usefixtures("log")
def test_omitted_values_are_counted(rdfm):
    run = rdfm("table", "log.trig", "--first", "-o", "out.parquet")
    assert "note: 1 value after the first one of their subject omitted" in run.err
    run = rdfm("table", "log.trig", "--types", "ex:n=integer", "-o", "out.parquet")
    assert "note: 2 values of predicates without a column omitted" in run.err


@pytest.mark.usefixtures("log")
def test_a_graph_that_is_not_read_is_mentioned(rdfm):
    Path("named.nq").write_text("<x:s> <x:p> <x:o> <x:g> .\n")
    run = rdfm("table", "named.nq", "-o", "out.parquet")
    assert "--union-graphs" in run.err
    run = rdfm("table", "named.nq", "--union-graphs", "-o", "out.parquet")
    assert run.err.startswith("rdfm: 1 row: ")


@pytest.mark.usefixtures("log")
def test_a_pipe_needs_types():
    command = [sys.executable, "-m", "rdfm", "table", "-", "--from", "trig", "-o", "out.parquet"]
    run = subprocess.run(command, input=LOG, capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert "--types" in run.stderr
    subprocess.run([*command, "--types", "ex:n=integer"], input=LOG, text=True, check=True)
    assert parquet.read_table("out.parquet")["ex:n"].to_pylist() == [1, 2]


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["log.trig"], 2, "name an output"),
        (["log.trig", "--columns", "-o", "new.parquet"], 2, "remove -o"),
        (["log.trig", "-o", "new.nq"], 2, "N-Quads is not a table"),
        (["log.trig", "-o", "new.csv"], 2, "ex:tag contains lists, which CSV cannot"),
        (["log.trig", "-o", "new.csv"], 2, "--first"),
        (
            ["nested.ttl", "-o", "new.csv", "--depth", "1"],
            2,
            "ex:r contains structs, which CSV cannot represent; write a table such as",
        ),
        (["nested.ttl", "-o", "new.csv", "--first"], 2, "--types auto,ex:label=string"),
        (["log.trig", "-o", "new.parquet", "--types", "ex:n=boolean"], 1, "--on-error skip"),
        (["log.trig", "-o", "new.parquet", "--types", "ex:tag=string"], 1, "--first"),
        (["log.trig", "-o", "new.parquet", "--max-columns", "1"], 1, "--predicate IRI"),
    ],
)
@pytest.mark.usefixtures("log")
def test_errors_name_the_options_that_help(rdfm, arguments, status, message):
    run = rdfm("table", *arguments)
    assert run.code == status
    assert message in run.err
    assert not list(Path().glob("new.*"))
