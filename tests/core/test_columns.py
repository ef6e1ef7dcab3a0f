"""SELECT rows as typed Arrow columns."""

import datetime

import pyarrow as pa
import pytest

from rdfm import Iri, Literal, OptionError, UnsupportedError, open_log
from rdfm._core import Filter, MessageBatch, Query, ResultBatch, TypedColumns

XSD = "http://www.w3.org/2001/XMLSchema#"
LOG = f"""<x:a> <x:n> "1.5"^^<{XSD}double> ; <x:at> "2026-06-01T10:00:00+02:00"^^<{XSD}dateTime> .
# @message
<x:b> <x:n> "warm" .
# @message
<x:c> <x:n> 2 .
""".encode()
QUERY = Query("SELECT ?s ?n ?at { ?s <x:n> ?n OPTIONAL { ?s <x:at> ?at } }")
TYPES = {"n": "double", "at": "dateTime", "s": "iri"}


def batch():
    with open_log(LOG, "ttl") as log:
        return MessageBatch.from_messages(list(log))


def solutions_and_batch():
    return QUERY.solutions(batch()), batch()


def test_rows_name_their_messages():
    columns = TypedColumns(QUERY.variables, TYPES)
    rows, misfits = columns.of_messages(*solutions_and_batch(), "a.ttl", misfits_are_null=True)
    table = pa.record_batch(rows)
    assert table.schema == pa.schema(columns)
    assert misfits == 1
    assert table.to_pylist() == [
        {
            "source": "a.ttl",
            "message_index": 0,
            "s": "x:a",
            "n": 1.5,
            "at": datetime.datetime(2026, 6, 1, 8, tzinfo=datetime.UTC),
        },
        {"source": "a.ttl", "message_index": 1, "s": "x:b", "n": None, "at": None},
        {"source": "a.ttl", "message_index": 2, "s": "x:c", "n": 2.0, "at": None},
    ]


def test_filtered_messages_keep_their_indexes():
    criteria = Filter({})
    criteria.term("any", "<x:b>")
    (matching,) = criteria.messages(batch(), True)
    assert [matching.message_index(at) for at in range(len(matching))] == [0, 2]
    rows, _ = TypedColumns(QUERY.variables, TYPES).of_messages(QUERY.solutions(matching), matching)
    assert pa.record_batch(rows)["message_index"].to_pylist() == [0, 2]
    assert [matching.slice(1, 2).first_message_index, matching.slice(1, 2).message_index(0)] == [
        2,
        2,
    ]
    with pytest.raises(IndexError, match="message index 2 is out of range"):
        matching.message_index(2)


def test_a_value_of_the_wrong_type_is_an_error():
    columns = TypedColumns(QUERY.variables, TYPES)
    with pytest.raises(UnsupportedError) as caught:
        columns.of_messages(*solutions_and_batch(), "a.ttl")
    assert str(caught.value) == "a.ttl: ?n is '\"warm\"', expected a number (message 1)"
    assert (caught.value.message_index, caught.value.source) == (1, "a.ttl")


def test_rows_can_be_converted_without_their_messages():
    rows = ResultBatch.from_rows([(Iri("x:a"), Literal("5")), (None, None)], ["a", "b"])
    typed, misfits = TypedColumns(["a", "b"], {"b": "string"}, messages=False).of_rows(rows)
    assert misfits == 0
    assert pa.record_batch(typed).to_pylist() == [{"a": "<x:a>", "b": "5"}, {"a": None, "b": None}]
    typed, _ = TypedColumns(["a", "b"]).of_rows(rows, [7, 9], "x.nq")
    assert pa.record_batch(typed)["message_index"].to_pylist() == [7, 9]
    with pytest.raises(UnsupportedError, match=r"\?b is '\"5\"', expected an IRI \(row 0\)"):
        TypedColumns(["a", "b"], {"b": "iri"}, messages=False).of_rows(rows)
    with pytest.raises(
        TypeError, match="number of message indexes differs from the number of rows"
    ):
        TypedColumns(["a", "b"]).of_rows(rows)


@pytest.mark.parametrize(
    ("variables", "types", "text"),
    [
        (
            ["a"],
            {"b": "double"},
            r"cannot set the type of 'b': there is no such variable; the variables are \?a",
        ),
        (["a"], {"a": "number"}, r"unknown type 'number' for \?a; expected one of string, iri"),
        (["source"], {}, r"\?source would be a second column named source"),
        (["a", "a"], {}, "the variable 'a' occurs twice"),
    ],
)
def test_invalid_columns_are_rejected(variables, types, text):
    with pytest.raises(OptionError, match=text):
        TypedColumns(variables, types)


def test_columns_require_a_select_query():
    ask = Query("ASK { ?s ?p ?o }")
    with pytest.raises(OptionError, match="typed columns require the rows of a SELECT query"):
        TypedColumns([]).of_messages(ask.answers(batch()), batch())
