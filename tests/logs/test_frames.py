"""Conversion of readers to pyarrow tables and to pandas and Polars data frames."""

import datetime
import sys

import pandas
import polars
import pyarrow as pa
import pytest

import rdfm

LOG = b"""<x:a> <x:n> 9007199254740993 ; <x:b> true ; <x:t> "2026-06-01T06:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> .
# @message
<x:c> <x:n> 2 .
# @message
"""
SELECT = "SELECT ?s ?n ?b ?t { ?s <x:n> ?n OPTIONAL { ?s <x:b> ?b ; <x:t> ?t } }"
TYPES = {"s": "iri", "n": "integer", "b": "boolean", "t": "dateTime"}
TSV = b'?a\t?b\n"x"\t<x:y>\n"z"\t\n'


def solutions(**options):
    return rdfm.select(SELECT, LOG, format="trig", **options)


READERS = {
    "messages": lambda: rdfm.open_log(LOG, "trig"),
    "quads": lambda: rdfm.open_log(LOG, "trig", rows="quads"),
    "structs": lambda: rdfm.open_log(LOG, "trig", rows="quads", terms="structs"),
    "filtered": lambda: rdfm.open_log(LOG, "trig").filter(subject="<x:c>"),
    "constructed": lambda: rdfm.construct(
        "CONSTRUCT { ?s <x:q> ?o } { ?s ?p ?o }", LOG, format="trig"
    ),
    "results": lambda: rdfm.open_log(TSV, "results-tsv", kind="results"),
    "solutions": lambda: solutions(types=None),
    "inferred": lambda: solutions(types="auto"),
    "typed": lambda: solutions(types=TYPES),
    "no rows": lambda: rdfm.select("SELECT ?x { ?x <x:none> ?y }", LOG, format="trig"),
    "no messages": lambda: rdfm.open_log(b"", "nq"),
}


@pytest.mark.parametrize("name", READERS)
def test_tables_and_frames_have_the_same_rows_and_columns(name):
    open_reader = READERS[name]
    table = open_reader().to_arrow()
    assert isinstance(table, pa.Table)
    assert table.equals(pa.table(open_reader()))
    frame = open_reader().to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert (list(frame.columns), len(frame)) == (table.column_names, table.num_rows)
    polars_frame = open_reader().to_polars()
    assert isinstance(polars_frame, polars.DataFrame)
    assert (polars_frame.columns, polars_frame.height) == (table.column_names, table.num_rows)
    for column in table.column_names:
        if not pa.types.is_nested(table.schema.field(column).type):
            expected = table.column(column).to_pylist()
            assert polars_frame[column].to_list() == expected
            found = frame[column].astype(object)
            assert found.where(found.notna(), None).tolist() == expected


def test_integers_and_booleans_are_exact_in_columns_with_nulls():
    frame = solutions(types=TYPES).to_pandas()
    assert frame["n"].tolist() == [9007199254740993, 2]
    assert frame["b"].tolist() == [True, pandas.NA]
    assert [str(frame[name].dtype) for name in ("message_index", "n", "b")] == [
        "Int64",
        "Int64",
        "boolean",
    ]
    assert frame["t"][0] == datetime.datetime(2026, 6, 1, 6, tzinfo=datetime.UTC)
    assert frame["t"].isna().tolist() == [False, True]
    frame = rdfm.select(
        "SELECT ?n { { ?s <x:n> ?n } UNION { ?n <x:n> 2 } }",
        LOG,
        format="trig",
        types={"n": "integer"},
        on_error="skip",
    ).to_pandas()
    assert frame["n"].tolist() == [9007199254740993, 2, pandas.NA]


@pytest.mark.parametrize("name", READERS)
def test_passing_a_reader_to_pandas_is_an_error_that_recommends_to_pandas(name):
    reader = READERS[name]()
    with pytest.raises(TypeError, match=r"is not an array; call its to_pandas\(\)"):
        pandas.DataFrame(reader)
    assert len(reader.to_pandas()) == READERS[name]().to_arrow().num_rows


@pytest.mark.parametrize("method", ["to_arrow", "to_pandas", "to_polars"])
def test_rows_can_be_read_only_once(method):
    with solutions() as found:
        getattr(found, method)()
        with pytest.raises(ValueError, match="have already been read"):
            getattr(found, method)()


@pytest.mark.parametrize("method", ["to_arrow", "to_pandas", "to_polars"])
def test_errors_are_raised_unchanged(method):
    with pytest.raises(rdfm.DecodeError) as raised:
        getattr(rdfm.open_log(LOG + b"<x:a> oops .", "trig"), method)()
    assert (raised.value.line, raised.value.message_index) == (5, 2)
    with pytest.raises(rdfm.UnsupportedError, match=r"message 0|\?s"):
        getattr(solutions(types={"s": "integer"}), method)()


@pytest.mark.parametrize(
    ("method", "package", "install"),
    [
        ("to_arrow", "pyarrow", r"pip install 'rdfm\[arrow\]'"),
        ("to_pandas", "pandas", "pip install pandas"),
        ("to_pandas", "pyarrow", r"pip install 'rdfm\[arrow\]'"),
        ("to_polars", "polars", "pip install polars"),
        ("to_polars", "pyarrow", r"pip install 'rdfm\[arrow\]'"),
    ],
)
@pytest.mark.parametrize("name", ["messages", "results", "solutions", "inferred"])
def test_a_missing_package_is_named_and_nothing_is_read(
    monkeypatch, name, method, package, install
):
    reader = READERS[name]()
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, package, None)
        with pytest.raises(rdfm.MissingExtraError, match=install):
            getattr(reader, method)()
    assert reader.to_arrow().num_rows > 0


def test_a_boolean_answer_is_not_a_table():
    answer = b'{"head": {}, "boolean": true}'
    with pytest.raises(ValueError, match="answer to an ASK query is not a table"):
        rdfm.open_log(answer, "results-json", kind="results").to_pandas()
