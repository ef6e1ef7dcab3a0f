"""Types of columns that are inferred from their values."""

import datetime
from decimal import Decimal

import pyarrow as pa
import pytest

import rdfm
from rdfm import BlankNode, Iri, Literal, OptionError, Quad, UnsupportedError

XSD = "http://www.w3.org/2001/XMLSchema#"
QUERY = "SELECT ?o { ?s ?p ?o }"


def log_of(values):
    quads = [Quad(Iri("x:s"), Iri("x:p"), value) for value in values]
    return rdfm.formats.nq.encode([[quad] for quad in quads])


def select(values, **options):
    return rdfm.select(QUERY, log_of(values), format="nq", **options)


def typed(text, name):
    return Literal(text, datatype=XSD + name)


@pytest.mark.parametrize(
    ("values", "type", "last"),
    [
        ([Iri("x:a"), BlankNode("b")], "node", "_:b"),
        ([typed("01", "integer"), typed("7", "byte")], "integer", 7),
        ([typed("1", "integer"), typed("2.5", "decimal")], "decimal", Decimal("2.5")),
        ([typed("1.5", "float")], "float", 1.5),
        ([typed("1.5", "float"), typed("2", "double")], "double", 2.0),
        ([typed("1", "boolean")], "boolean", True),
        ([typed("2026-01-02", "date")], "date", datetime.date(2026, 1, 2)),
        ([typed("2026-01-02Z", "date")], "terms", f'"2026-01-02Z"^^<{XSD}date>'),
        (
            [typed("2026-01-02T03:00:00+01:00", "dateTime")],
            "dateTime",
            datetime.datetime(2026, 1, 2, 2, tzinfo=datetime.UTC),
        ),
        (
            [typed("2026-01-02T03:00:00", "dateTime")],
            "localDateTime",
            datetime.datetime(2026, 1, 2, 3),
        ),
        (
            [typed("2026-01-02T03:00:00", "dateTime"), typed("2026-01-02T03:00:00Z", "dateTime")],
            "terms",
            f'"2026-01-02T03:00:00Z"^^<{XSD}dateTime>',
        ),
        ([typed("03:00:00", "time")], "time", datetime.time(3)),
        ([typed("PT1S", "dayTimeDuration")], "duration", datetime.timedelta(seconds=1)),
        ([Literal("a")], "string", "a"),
        ([typed("2026", "gYear")], "string", "2026"),
        ([Literal("a", language="en"), Literal("b", language="en")], "string", "b"),
        (
            [Literal("a"), Literal("b", language="en")],
            "langString",
            {"value": "b", "language": "en"},
        ),
        ([typed("1", "integer"), typed("2", "double")], "terms", f'"2"^^<{XSD}double>'),
        ([typed("1" * 20, "integer")], "terms", f'"{"1" * 20}"^^<{XSD}integer>'),
        (
            [typed("1" * 20, "integer"), typed("1.0", "decimal")],
            "decimal",
            Decimal("1"),
        ),
        ([typed("x", "integer")], "terms", f'"x"^^<{XSD}integer>'),
        ([Literal("a"), Iri("x:a")], "terms", "<x:a>"),
    ],
)
def test_values_decide_the_type(values, type, last):
    with select(values) as solutions:
        column = solutions.to_arrow().column("o")
    assert solutions.types == {"o": type}
    assert column.to_pylist()[-1] == last
    # The type does not depend on the order, and can be given.
    with select(values[::-1], types="auto") as reverse:
        assert reverse.to_arrow().column("o").to_pylist()[0] == last
        assert reverse.types == {"o": type}
    with select(values, types={"o": type}) as explicit:
        assert explicit.to_arrow().column("o") == column


def test_a_mixture_of_types_is_noted():
    with select([typed("1", "integer"), typed("2", "double")]) as solutions:
        solutions.to_arrow()
    (note,) = solutions.notes
    assert "(message 0) and" in note
    assert note.endswith('types="auto,o=double" converts them to numbers')
    with select([Literal("a", language="en")], types={"o": str}) as solutions:
        solutions.to_arrow()
    assert solutions.notes == ("1 language tag omitted, because the column is a string",)


def test_types_are_not_inferred_on_request():
    for solutions in (
        select([Iri("x:a")], types=None).to_arrow(),
        select([Iri("x:a")]).to_arrow(types=None),
    ):
        assert solutions.column("o").to_pylist() == ["<x:a>"]


def test_the_first_rows_decide_about_a_stream(tmp_path):
    values = [typed(str(number), "integer") for number in range(10_000)]
    with select([*values, typed("2.5", "decimal")], types="auto") as solutions:
        assert solutions.schema.field("o").type == pa.int64()
        rows = solutions.batches()
        with pytest.raises(UnsupportedError, match=r"row 10000: \?o is '\"2.5\"") as caught:
            sum(batch.num_rows for batch in rows)
    assert 'types="auto,o=decimal"' in str(caught.value)
    with select([*values, typed("2.5", "decimal")], types="auto,o=decimal") as solutions:
        assert solutions.to_arrow().num_rows == 10_001
    with select([*values, Iri("x:a")], types="auto", on_error="skip") as solutions:
        assert solutions.to_arrow(types=None).column("o").null_count == 1
        assert solutions.skipped == 1


def test_python_types_are_accepted():
    with select([typed("1", "integer")], types={"o": float}) as solutions:
        assert solutions.to_arrow().column("o").to_pylist() == [1.0]
    with pytest.raises(OptionError, match="types has 5 for 'o', expected a name"):
        select([], types={"o": 5})
    with pytest.raises(OptionError, match=r"unknown type 'number' for \?o; expected one of string"):
        select([], types={"o": "number"})


def test_given_types_reject_other_values():
    for type, value, expected in (
        ("node", Literal("a"), "an IRI or a blank node"),
        ("langString", Iri("x:a"), "a string with or without a language tag"),
        ("localDateTime", typed("2026-01-02T03:00:00Z", "dateTime"), "without time zone"),
    ):
        with pytest.raises(UnsupportedError, match=expected) as caught:
            select([value], types={"o": type}).to_arrow()
        assert caught.value.message_index == 0
        with select([value], types={"o": type}, on_error="skip") as solutions:
            assert solutions.to_arrow().column("o").to_pylist() == [None]
            assert solutions.skipped == 1


def test_rows_that_were_read_for_their_types_are_returned_once():
    for values, count in (([], 0), ([Iri("x:a")], 1)):
        with select(values, types="auto") as solutions:
            assert solutions.schema.names == ["source", "message_index", "o"]
            with pytest.raises(ValueError, match="rows were read to find their types"):
                list(solutions.rows())
            assert sum(batch.num_rows for batch in solutions) == count
            with pytest.raises(ValueError, match="already been read"):
                list(solutions)
