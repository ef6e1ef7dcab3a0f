"""`rdfm.query` returns rows as Arrow streams, messages as logs, or indexes of messages."""

import pickle
import threading
from pathlib import Path

import pyarrow as pa
import pytest

import rdfm

LOG = b"""<x:a> <x:p> 1 .
# @message
<x:b> <x:p> 2 ; <x:q> [] .
# @message
# @message
"""
SELECT = "SELECT ?s ?o { ?s <x:p> ?o }"
ILL_FORMED_CONSTRUCT = "CONSTRUCT { ?o <x:of> ?s } { ?s <x:p> ?o }"
CONSTRUCT = "CONSTRUCT { ?s <x:has> ?o } { ?s <x:p> ?o }"
INTEGER = "http://www.w3.org/2001/XMLSchema#integer"


def test_rows_form_a_table():
    found = rdfm.query(SELECT, LOG, format="trig")
    assert found.variables == ("s", "o")
    assert found.schema == pa.schema(
        {"source": pa.string(), "message_index": pa.int64(), "s": pa.string(), "o": pa.string()}
    )
    table = pa.table(found)
    assert table.schema == found.schema
    assert table.to_pylist() == [
        {"source": "bytes", "message_index": 0, "s": "<x:a>", "o": f'"1"^^<{INTEGER}>'},
        {"source": "bytes", "message_index": 1, "s": "<x:b>", "o": f'"2"^^<{INTEGER}>'},
    ]


def test_each_query_form_has_a_function():
    assert rdfm.select(SELECT, LOG, format="trig").to_arrow().num_rows == 2
    assert [len(each) for each in rdfm.construct(ILL_FORMED_CONSTRUCT, LOG, format="trig")] == [
        0,
        0,
        0,
    ]
    with_triples = rdfm.construct(CONSTRUCT, LOG, format="trig", skip_empty=True)
    assert [len(each) for each in with_triples] == [1, 1]
    assert rdfm.ask("ASK { ?s <x:p> 2 }", LOG, format="trig") == [1]
    assert rdfm.ask("ASK { ?s <x:p> 2 }", [LOG, LOG], format="trig") == [("bytes", 1)] * 2
    assert rdfm.ask("ASK { ?s <x:p> 2 }", LOG, format="trig", whole=True) is True


QUERIES = {"select": SELECT, "construct": CONSTRUCT, "ask": "ASK { ?s ?p ?o }"}


@pytest.mark.parametrize("function", QUERIES)
@pytest.mark.parametrize("form", QUERIES)
def test_the_error_for_another_query_form_names_the_right_function(function, form):
    run = getattr(rdfm, function)
    if function == form:
        assert type(run(QUERIES[form], LOG, format="trig")) is type(
            rdfm.query(QUERIES[form], LOG, format="trig")
        )
        return
    with pytest.raises(rdfm.errors.QueryError, match=f"use rdfm.{form}"):
        run(QUERIES[form], LOG, format="trig")


@pytest.mark.parametrize("function", QUERIES)
def test_options_reach_the_query(function):
    run = getattr(rdfm, function)
    with pytest.raises(rdfm.errors.QueryError, match="e:p"):
        run(QUERIES[function].replace("<x:p>", "e:p").replace("?p", "e:p"), LOG, format="trig")
    text = QUERIES[function].replace("<x:p>", "e:p").replace("?p", "e:p")
    options = {
        "prefixes": {"e": "x:"},
        "whole": True,
        "union_graphs": True,
        "timeout": 5,
        "max_rows": 5,
        "on_error": "skip",
        "compression": "none",
    }
    assert run(text, LOG, format="trig", lenient=True, **options)
    with pytest.raises(rdfm.LimitError):
        list(run(QUERIES[function], LOG, format="trig", max_message_bytes=1) or ())


def test_types_may_be_in_command_line_syntax():
    found = rdfm.query(SELECT, LOG, format="trig", types="o=integer, ?s=iri")
    assert pa.table(found).column("s").to_pylist() == ["x:a", "x:b"]
    found = rdfm.query(SELECT, LOG, format="trig", types="o=integer", whole=True)
    assert sorted(pa.table(found).column("o").to_pylist()) == [1, 2]


def test_rows_are_read_by_arrow_libraries():
    import duckdb
    import polars

    assert polars.DataFrame(rdfm.query(SELECT, LOG, format="trig")).shape == (2, 4)
    rows = rdfm.query(SELECT, LOG, format="trig")  # noqa: F841 - DuckDB finds it by its name
    assert duckdb.sql("SELECT max(message_index) FROM rows").fetchall() == [(1,)]


def test_rows_are_yielded_in_batches():
    with rdfm.query(SELECT, LOG, format="trig") as found:
        first = next(iter(found))
        assert first.schema == found.schema
        rows = first.num_rows + sum(batch.num_rows for batch in found.batches())
        assert rows == 2
        with pytest.raises(ValueError, match="already been read"):
            next(iter(found))


def test_rows_do_not_need_pyarrow():
    with rdfm.query(SELECT, [LOG, LOG], format="trig") as found:
        rows = list(found.rows())
    assert [(source, index, str(s)) for source, index, (s, _) in rows] == [
        ("bytes", 0, "<x:a>"),
        ("bytes", 1, "<x:b>"),
    ] * 2
    with rdfm.query(SELECT, LOG, format="trig", whole=True) as found:
        assert sorted((source, index, str(s)) for source, index, (s, _) in found.rows()) == [
            (None, None, "<x:a>"),
            (None, None, "<x:b>"),
        ]
        assert found.variables == ("s", "o")


def test_unbound_variables_are_null():
    query = "SELECT ?s ?q { ?s <x:p> ?o OPTIONAL { ?s <x:q> ?q } }"
    table = pa.table(rdfm.query(query, LOG, format="trig"))
    assert [value is None for value in table.column("q").to_pylist()] == [True, False]
    assert table.column("q").to_pylist()[1].startswith("_:")


def test_results_over_the_entire_log_have_no_message_columns():
    table = pa.table(rdfm.query(SELECT, [LOG, LOG], format="trig", whole=True))
    assert table.column_names == ["s", "o"]
    assert table.num_rows == 2
    query = "SELECT ?b { ?s <x:q> ?b }"
    table = pa.table(rdfm.query(query, [LOG, LOG], format="trig", whole=True))
    assert len(set(table.column("b").to_pylist())) == 2  # one node per log


def test_constructed_messages_form_a_log():
    with rdfm.query(CONSTRUCT, LOG, format="trig") as constructed:
        assert isinstance(constructed, rdfm.LogReader)
        assert [[str(quad) for quad in message] for message in constructed] == [
            [f'<x:a> <x:has> "1"^^<{INTEGER}> .'],
            [f'<x:b> <x:has> "2"^^<{INTEGER}> .'],
            [],
        ]
    with rdfm.query(CONSTRUCT, LOG, format="trig", skip_empty=True) as constructed:
        assert sum(len(batch) for batch in constructed.batches()) == 2
    with rdfm.query(CONSTRUCT, LOG, format="trig", whole=True) as constructed:
        assert sorted(str(quad) for message in constructed for quad in message) == [
            f'<x:a> <x:has> "1"^^<{INTEGER}> .',
            f'<x:b> <x:has> "2"^^<{INTEGER}> .',
        ]


def test_ill_formed_triples_are_skipped():
    with rdfm.query(ILL_FORMED_CONSTRUCT, LOG, format="trig") as constructed:
        assert [len(message) for message in constructed] == [0, 0, 0]


def test_constructed_messages_can_be_written(tmp_path):
    with (
        rdfm.query(CONSTRUCT, LOG, format="trig") as constructed,
        rdfm.create_log(tmp_path / "out.jelly") as out,
    ):
        for batch in constructed.batches():
            out.write_batch(batch)
    with rdfm.open_log(tmp_path / "out.jelly") as log:
        assert [len(message) for message in log] == [1, 1, 0]
    assert pa.table(rdfm.query(CONSTRUCT, LOG, format="trig")).num_rows == 3


def test_constructed_messages_can_be_filtered():
    with rdfm.query(CONSTRUCT, LOG, format="trig") as constructed:
        assert [message.message_index for message in constructed.filter(subject="<x:b>")] == [1]


def test_construct_reads_solutions():
    rows = b"?s\t?o\n<x:a>\t1\n\t2\n"
    with rdfm.query(CONSTRUCT, solutions=rows, format="results-tsv") as constructed:
        assert [len(message) for message in constructed] == [1, 0]
    with pytest.raises(rdfm.OptionError, match="solutions replaces the logs"):
        rdfm.query(CONSTRUCT, LOG, solutions=rows)
    with pytest.raises(rdfm.OptionError, match="whole applies to logs"):
        rdfm.query(CONSTRUCT, solutions=rows, whole=True)


def test_ask_returns_indexes():
    query = "ASK { ?s <x:p> ?o FILTER(?o > 1) }"
    assert rdfm.query(query, LOG, format="trig") == [1]
    assert rdfm.query(query, [LOG, LOG], format="trig") == [("bytes", 1)] * 2
    assert rdfm.query(query, LOG, format="trig", whole=True) is True
    assert rdfm.query("ASK { ?s <x:none> ?o }", LOG, format="trig", whole=True) is False
    assert rdfm.query("ASK {}", b"", format="trig") == []
    assert rdfm.query("ASK {}", b"", format="trig", whole=True) is True


@pytest.mark.parametrize("query", [SELECT, CONSTRUCT, "ASK { ?s ?p ?o }"])
def test_a_missing_log_is_an_error_at_once(query):
    with pytest.raises(FileNotFoundError):
        rdfm.query(query, "none.nq")


@pytest.mark.parametrize("whole", [False, True])
def test_rows_before_an_error_are_returned(whole):
    log = b"<x:a> <x:p> <x:o> .\n# @message\noops\n# @message\n<x:b> <x:p> <x:o> .\n"
    found = rdfm.query(SELECT, log, format="nq", whole=whole)
    rows = []
    with pytest.raises(rdfm.DecodeError, match="line 3"):
        rows.extend(found)
    assert sum(batch.num_rows for batch in rows) == (0 if whole else 1)
    found = rdfm.query(SELECT, log, format="nq", whole=whole, on_error="skip")
    assert pa.table(found).num_rows == 2
    assert found.skipped == 1


def test_queries_have_limits():
    with pytest.raises(rdfm.LimitError) as raised:
        list(rdfm.query(SELECT.replace("<x:p>", "?p"), LOG, format="trig", max_rows=1))
    assert (raised.value.source, raised.value.message_index) == ("bytes", 1)
    assert "a larger max_rows allows it (message 1)" in str(raised.value)
    found = rdfm.query(
        SELECT.replace("<x:p>", "?p"), LOG, format="trig", max_rows=1, on_error="skip"
    )
    assert (pa.table(found).num_rows, found.skipped) == (1, 1)


def test_invalid_queries_are_rejected():
    with pytest.raises(rdfm.errors.QueryError) as raised:
        rdfm.query("SELECT ?s {\n ?s ?p }", LOG, format="trig")
    error = pickle.loads(pickle.dumps(raised.value))
    assert (error.line, error.column) == (2, 8)
    assert str(error) == str(raised.value)
    with pytest.raises(
        rdfm.OptionError,
        match=r"type of 'x': there is no such variable; the variables are \?s, \?o",
    ):
        rdfm.query(SELECT, LOG, format="trig", types={"x": "double"})
    with pytest.raises(rdfm.OptionError, match="would be a second column named source"):
        rdfm.query("SELECT ?source { ?source ?p ?o }", LOG, format="trig")
    with pytest.raises(rdfm.OptionError, match="there is nothing to query"):
        rdfm.query(SELECT)
    with pytest.raises(rdfm.OptionError, match="cannot read 5"):
        rdfm.query(SELECT, 5)


def test_a_query_is_read_from_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("q.rq").write_text("\ufeffASK { ?s <x:p> 2 }")
    for query in ("q.rq", Path("q.rq")):
        assert rdfm.query(query, LOG, format="trig") == [1]
    with Path("q.rq").open("rb") as file:
        assert rdfm.query(file, LOG, format="trig") == [1]
    Path("q.rq").write_bytes(b"ASK { ?s ?p '\xff' }")
    with pytest.raises(rdfm.OptionError, match=r"q\.rq is not UTF-8 text"):
        rdfm.query("q.rq", LOG, format="trig")


def test_iris_in_a_query_file_are_relative_to_the_file(tmp_path):
    (tmp_path / "q.rq").write_text("ASK { ?s ?p <o> }")
    log = f"<x:a> <x:p> <{(tmp_path / 'o').as_uri()}> .\n".encode()
    assert rdfm.query(tmp_path / "q.rq", log, format="nq") == [0]


def test_prefixes_define_namespaces_of_the_query():
    assert rdfm.query("ASK { ?s e:p 2 }", LOG, format="trig", prefixes={"e": "x:"}) == [1]


def test_rows_may_be_read_in_another_thread():
    found = rdfm.query(SELECT, LOG, format="trig")
    tables = []
    thread = threading.Thread(target=lambda: tables.append(pa.table(found)))
    thread.start()
    thread.join()
    assert tables[0].num_rows == 2


def test_logs_are_closed(tmp_path):
    path = tmp_path / "a.trig"
    path.write_bytes(LOG * 1000)
    threads_before = set(threading.enumerate())
    found = rdfm.query(SELECT, path)
    next(iter(found))
    found.close()
    with pytest.raises(ValueError, match="already been read"):
        next(iter(found))
    for thread in set(threading.enumerate()) - threads_before:
        thread.join(30)
        assert not thread.is_alive()


def test_columns_have_the_requested_types():
    found = rdfm.query(SELECT, LOG, format="trig", types={"o": "integer", "s": "iri"})
    assert found.schema.field("o").type == pa.int64()
    table = pa.table(found)
    assert table.schema == found.schema
    assert table.select(["s", "o"]).to_pylist() == [{"s": "x:a", "o": 1}, {"s": "x:b", "o": 2}]
    with pytest.raises(rdfm.OptionError, match=r"unknown type 'number' for \?o; expected one of"):
        rdfm.query(SELECT, LOG, format="trig", types={"o": "number"})


def test_a_value_of_the_wrong_type_is_an_error_or_null():
    options = {"format": "trig", "types": {"o": "dateTime"}}
    with pytest.raises(rdfm.DecodeError, match=r"\?o is .*, expected an xsd:dateTime") as caught:
        list(rdfm.query(SELECT, LOG, **options).batches())
    assert (caught.value.message_index, caught.value.source) == (0, "bytes")
    found = rdfm.query(SELECT, LOG, on_error="skip", **options)
    assert pa.table(found)["o"].to_pylist() == [None, None]
    assert found.skipped == 2


def test_open_and_filtered_logs_can_be_queried():
    data = b"<x:a> <x:p> 1 .\n# @message\n<x:b> <x:p> 2 .\n# @message\n<x:a> <x:p> 3 .\n"

    def log():
        return rdfm.open_log(data, "trig")

    def filtered():
        return log().filter(subject="<x:a>")

    query = "SELECT ?v { ?s <x:p> ?v }"
    for open_reader, expected in ((log, [0, 1, 2]), (filtered, [0, 2])):
        with rdfm.query(query, open_reader()) as found:
            assert [index for _, index, _ in found.rows()] == expected
        assert rdfm.query("ASK { ?s ?p ?o }", open_reader()) == expected
        with rdfm.query("CONSTRUCT { ?s <x:q> ?v } { ?s <x:p> ?v }", open_reader()) as constructed:
            assert len(list(constructed)) == len(expected)
        assert rdfm.query("ASK { <x:b> ?p ?o }", open_reader(), whole=True) is (len(expected) == 3)
    with pytest.raises(
        rdfm.errors.OptionError, match=r"the log is already open; pass format to rdfm\.open_log"
    ):
        rdfm.query(query, log(), format="nq")
    started = log()
    next(iter(started))
    with pytest.raises(ValueError, match="has already been read"):
        rdfm.query("ASK { ?s ?p ?o }", started)
    found = rdfm.query(query, started)
    with pytest.raises(ValueError, match="has already been read"):
        list(found.rows())


def test_a_query_after_its_logs_is_rejected(tmp_path):
    path = tmp_path / "log.nq"
    path.write_text("<http://e/s> <http://e/p> <http://e/o> .\n")
    text = "SELECT ?s { ?s ?p ?o }"
    with rdfm.open_log(path) as log:
        for logs in (str(path), path, [path], log):
            with pytest.raises(rdfm.OptionError, match="the query comes before the logs"):
                rdfm.query(logs, text)
    assert len(rdfm.query(text, str(path)).to_arrow()) == 1
