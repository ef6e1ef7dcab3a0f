"""Entity tables: rows, names, lists, types and errors."""

import io

import pyarrow as pa
import pytest

import rdfm
from rdfm import OptionError, UnsupportedError

LOG = b"""
PREFIX ex: <http://ex/>
ex:a a ex:C ; ex:n 1 ; ex:tag "x", "y" .
# @message
# @message
PREFIX ex: <http://other/>
<http://ex/a> <http://ex/n> 2 ; <http://other/n> 5 ; <http://other/label> "eins"@de .
_:b <http://ex/n> 3 .
"""
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


def table(**options):
    return rdfm.table(LOG, format="trig", **options)


def test_rows_are_subjects_of_messages_in_order():
    rows = table().to_arrow()
    assert rows["message_index"].to_pylist() == [0, 2, 2]
    assert rows["subject"].to_pylist() == ["http://ex/a", "http://ex/a", "_:b"]
    assert rows["source"].to_pylist() == ["bytes"] * 3
    # The first declaration of a prefix counts.
    assert rows.column_names[3:] == [TYPE, "ex:n", "ex:tag", "http://other/n", "http://other/label"]
    assert rows["ex:tag"].to_pylist() == [["x", "y"], None, None]
    fields = {name: rows.schema.field(name).metadata for name in rows.column_names[3:]}
    assert fields["http://other/label"] == {
        b"rdfm.predicate": b"http://other/label",
        b"rdfm.datatype": b"http://www.w3.org/1999/02/22-rdf-syntax-ns#langString",
        b"rdfm.language": b"de",
    }
    assert fields[TYPE] == {b"rdfm.predicate": TYPE.encode()}


def test_a_table_can_be_read_again_and_converted():
    entities = table()
    assert entities.schema == entities.to_arrow().schema
    assert entities.to_pandas()["ex:n"].tolist() == [1, 2, 3]
    assert entities.to_polars()["ex:n"].to_list() == [1, 2, 3]
    assert sum(batch.num_rows for batch in entities.batches()) == 3
    assert sum(batch.num_rows for batch in entities) == 3
    assert repr(entities) == "<EntityTable of bytes>"


def test_local_names_that_are_not_unique_are_prefixed():
    assert list(table(names="local").types) == ["type", "ex:n", "tag", "http://other/n", "label"]
    other = table(names="local", prefixes={"o": "http://other/"})
    assert list(other.types) == ["type", "ex:n", "tag", "o:n", "label"]
    taken = b"<x:s> <x:subject> 1 ; <x:v> 2 ; <x:V> 3 ; <x:> 4 ."
    names = list(rdfm.table(taken, format="trig", names="local").types)
    assert names == ["x:subject", "x:v", "x:V", "x:"]


def test_predicates_and_classes_select_columns_and_rows():
    chosen = table(predicates=["ex:tag", "<http://ex/n>"])
    assert chosen.types == {"ex:tag": "string[]", "ex:n": "integer"}
    assert table(predicates="o:n", prefixes={"o": "http://other/"}).types == {"o:n": "integer"}
    rows = table(classes="http://ex/C").to_arrow()
    assert rows.select(["message_index", "subject"]).to_pylist() == [
        {"message_index": 0, "subject": "http://ex/a"}
    ]
    assert table(classes="http://ex/D").to_arrow().num_rows == 0


def test_lists_are_determined_by_the_data_or_the_options():
    assert table(lists="always").types["ex:n"] == "integer[]"
    first = table(first=True)
    assert first.types["ex:tag"] == "string"
    assert first.to_arrow()["ex:tag"].to_pylist() == ["x", None, None]


def test_given_types_determine_the_columns_and_need_one_pass():
    given = {"ex:n": float, "ex:none": "string", "ex:tag": "terms[]"}
    rows = rdfm.table(io.BytesIO(LOG), format="trig", types=given).to_arrow()
    assert rows.column_names[3:] == list(given)
    assert rows["ex:n"].to_pylist() == [1.0, 2.0, 3.0]
    assert rows["ex:none"].null_count == 3
    assert rows["ex:tag"].to_pylist()[0] == ['"x"', '"y"']
    others = table(types="auto,ex:n=double")
    assert (others.types["ex:n"], others.types["ex:tag"]) == ("double", "string[]")
    with pytest.raises(OptionError, match="a pipe or stream can be read only once"):
        rdfm.table(io.BytesIO(LOG), format="trig")


NESTED = b"""PREFIX ex: <http://ex/>
ex:a ex:r [ ex:v 1 ; ex:l (1 2) ], [ ex:v 2 ] ; ex:s _:x ; ex:e () , [] .
ex:b ex:s _:x ; ex:t <<( _:t ex:p ex:o )>> ; ex:u _:t ; ex:l (3) .
_:x ex:v 9 . _:t ex:v 8 . _:c ex:c _:d . _:d ex:c _:c .
"""


def nested(depth, data=NESTED, **options):
    return rdfm.table(data, format="trig", depth=depth, **options)


def test_blank_nodes_are_nested_up_to_a_depth():
    assert nested(0).types["ex:r"] == "node[]"
    one, two = nested(1), nested(2)
    assert one.types["ex:r"] == "{ex:v=integer,ex:l=node}[]"
    assert (two.types["ex:r"], two.types["ex:l"]) == (
        "{ex:v=integer,ex:l=(integer)}[]",
        "(integer)",
    )
    rows = two.to_arrow()
    assert rows["ex:r"].to_pylist()[0] == [
        {"ex:v": 1, "ex:l": [1, 2]},
        {"ex:v": 2, "ex:l": None},
    ]
    assert rows["ex:l"].to_pylist() == [None, [3], None, None, None, None]
    metadata = rows.schema.field("ex:r").type.value_type.field("ex:v").metadata
    assert metadata[b"rdfm.predicate"] == b"http://ex/v"
    # A table of the types that were found has the same rows.
    assert nested(0, types=two.types).to_arrow().to_pylist() == rows.to_pylist()


def test_shared_nodes_and_cycles_have_rows():
    rows = nested(9).to_arrow()
    assert rows["subject"].to_pylist() == [
        "http://ex/a", "http://ex/b", "_:x", "_:t", "_:c", "_:d"
    ]  # fmt: skip
    assert rows["ex:s"].to_pylist()[:2] == ["_:x", "_:x"]
    # Only an empty node and an empty collection: nothing is nested.
    assert nested(9).types["ex:e"] == "node[]"
    graph = b"PREFIX ex: <x:> ex:a ex:p _:g . _:g ex:q 1 . _:g { ex:b ex:p ex:c }"
    assert nested(9, graph).types == {"ex:p": "node", "ex:q": "integer"}


def test_a_column_with_nested_and_other_objects_is_not_nested():
    data = b"""PREFIX ex: <http://ex/>
    ex:a ex:r [ ex:v [ ex:w 1 ] ] .
    # @message
    ex:b ex:r ex:c ; ex:v 5 ."""
    table = nested(9, data)
    assert table.types == {"ex:r": "node", "ex:v": "terms", "ex:w": "integer"}
    assert table.to_arrow().num_rows == 4
    first, second = table.notes[:2]
    assert first == (
        "ex:r is not nested, because it contains a nested blank node (message 0) and "
        "'<http://ex/c>' (message 1)"
    )
    assert second.startswith("ex:v is not nested")


def test_only_columns_and_rows_that_are_selected_contain_nested_nodes():
    data = b"""PREFIX ex: <http://ex/>
    ex:a a ex:C ; ex:r [ a ex:D ; ex:v 1 ] . ex:b ex:r [ a ex:D ; ex:v 2 ] ."""
    assert nested(1, data, predicates="ex:v").to_arrow()["ex:v"].to_pylist() == [None, 1, None, 2]
    rows = nested(1, data, classes="http://ex/D").to_arrow()
    assert rows["ex:v"].to_pylist() == [1, 2]
    rows = nested(1, data, classes=["http://ex/C", "http://ex/D"]).to_arrow()
    assert rows["ex:v"].to_pylist() == [None, 2]


def test_a_value_that_is_not_nested_does_not_fit_a_struct():
    types = "ex:r={ex:v=integer}"
    data = b"PREFIX ex: <http://ex/> ex:a ex:r ex:b . ex:c ex:r [ ex:v 1 ; ex:w 2 ] ."
    table = rdfm.table(data, format="trig", types=types)
    with pytest.raises(UnsupportedError, match="ex:r is '<http://ex/b>', expected a blank node"):
        table.to_arrow()
    table = rdfm.table(data, format="trig", types=types, on_error="skip")
    assert table.to_arrow()["ex:r"].to_pylist() == [None, {"ex:v": 1}]
    assert table.skipped == 1
    with pytest.raises(UnsupportedError, match="expected a collection"):
        rdfm.table(data, format="trig", types="ex:r=(integer)").to_arrow()


def test_nested_columns_count_as_columns():
    with pytest.raises(UnsupportedError, match="more columns than the maximum of 5"):
        nested(2, max_columns=5).to_arrow()


def test_notes_name_the_column():
    mixed = rdfm.table(b"PREFIX e: <x:> e:a e:v 1 . e:b e:v 1e0 .", format="trig")
    (note,) = mixed.notes
    assert note.startswith('e:v contains terms as N-Triples, because of \'"1"')
    assert "auto,e:v=double" in note


def test_an_empty_table_has_the_fixed_columns():
    rows = rdfm.table(b"", format="nq").to_arrow()
    assert rows.column_names == ["source", "message_index", "subject"]
    assert rows.num_rows == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"types": {"ex:tag": "string"}}, "http://ex/a has several values of ex:tag"),
        ({"types": {"ex:n": "boolean"}}, 'ex:n is \'"1".*expected an xsd:boolean'),
        ({"types": {"http://other/n": "node"}}, "http://other/n is .*expected an IRI"),
        ({"max_columns": 2}, "the table has more columns than the maximum of 2"),
    ],
)
def test_errors_name_the_message_and_a_remedy(options, message):
    with pytest.raises(UnsupportedError, match=message) as raised:
        table(**options).to_arrow()
    assert raised.value.message_index == (2 if "http://other/n" in str(options) else 0)
    assert raised.value.source == "bytes"
    assert raised.value.remedies


def test_values_of_the_wrong_type_are_skipped_on_request():
    entities = table(types={"ex:n": "integer", "ex:tag": "boolean[]"}, on_error="skip")
    rows = entities.to_arrow()
    assert rows["ex:tag"].to_pylist()[0] == [None, None]
    assert entities.skipped == 2


def test_a_literal_is_not_a_subject():
    with pytest.raises(UnsupportedError, match='the subject "a" is not an IRI or a blank node'):
        rdfm.table(b'"a" <x:p> <x:o> .\n', format="nq", generalized=True).to_arrow()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"types": {"ex:n": "int"}}, "unknown type 'int' for ex:n"),
        ({"types": {"ex:n": "integer"}, "predicates": ["ex:n"]}, "both select columns"),
        ({"types": {"ex:n": "{ex:v=int}"}}, "unknown type 'int' for ex:v"),
        ({"types": {"ex:n": "(int)"}}, "unknown type 'int' for the items of a collection"),
        ({"types": {"ex:n": "(string[])"}}, "unknown type"),
        ({"types": {"ex:n": "{}"}}, "unknown type '{}' for ex:n; expected .* a struct such as"),
        ({"types": {"ex:n": "({ex:v={}})"}}, "unknown type '{}' for ex:v"),
        ({"depth": -1}, "depth"),
        ({"names": "short"}, "names must be one of"),
        ({"max_columns": 0}, "max_columns"),
    ],
)
def test_invalid_options_are_rejected_before_reading(options, message):
    with pytest.raises(OptionError, match=message):
        table(**options)


def test_a_table_is_written_to_a_file():
    output = io.BytesIO()
    entities = table()
    entities.add({"to": "arrow"})
    written = entities.write(output)
    assert pa.ipc.open_file(output.getvalue()).read_all().num_rows == 3
    assert written.summary.messages == 3
