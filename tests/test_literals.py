"""Python values of literals."""

import math
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rdfm import Literal

XSD = "http://www.w3.org/2001/XMLSchema#"
PLUS_2 = timezone(timedelta(hours=2))


def typed(text, datatype):
    return Literal(text, datatype=XSD + datatype)


@pytest.mark.parametrize(
    ("text", "datatype", "value"),
    [
        (" a\n", "string", " a\n"),
        (" http://ex/ ", "anyURI", "http://ex/"),
        ("+007", "integer", 7),
        (" -1\n", "negativeInteger", -1),
        ("255", "unsignedByte", 255),
        ("12345678901234567890123", "integer", 12345678901234567890123),
        ("1.50", "decimal", Decimal("1.50")),
        ("1e3", "double", 1000.0),
        ("-INF", "float", -math.inf),
        ("true", "boolean", True),
        ("0", "boolean", False),
        ("2026-02-28", "date", date(2026, 2, 28)),
        ("10:00:00.5", "time", time(10, 0, 0, 500_000)),
        ("10:00:00Z", "time", time(10, tzinfo=UTC)),
        ("2026-06-01T10:00:00", "dateTime", datetime(2026, 6, 1, 10)),
        (
            "2026-06-01T10:00:00.1234560+02:00",
            "dateTime",
            datetime(2026, 6, 1, 10, 0, 0, 123456, PLUS_2),
        ),
        ("2026-12-31T24:00:00Z", "dateTime", datetime(2027, 1, 1, tzinfo=UTC)),
        ("2026-06-01T10:00:00Z", "dateTimeStamp", datetime(2026, 6, 1, 10, tzinfo=UTC)),
        ("-P1DT2H0.25S", "dayTimeDuration", -timedelta(days=1, hours=2, milliseconds=250)),
        ("PT36H", "duration", timedelta(hours=36)),
        ("0fB7", "hexBinary", b"\x0f\xb7"),
        ("aGk=", "base64Binary", b"hi"),
    ],
)
def test_a_value_that_python_has(text, datatype, value):
    found = typed(text, datatype).to_python()
    assert (found, type(found)) == (value, type(value))
    if isinstance(value, datetime | time):
        assert found.utcoffset() == value.utcoffset()


def test_not_a_number():
    assert math.isnan(typed("NaN", "double").to_python())


@pytest.mark.parametrize(
    ("text", "datatype"),
    [
        ("one", "integer"),
        ("1.0", "integer"),
        ("١", "integer"),
        ("1_000", "integer"),
        ("256", "unsignedByte"),
        ("0", "positiveInteger"),
        ("9" * 5000, "integer"),
        ("1e3", "decimal"),
        ("inf", "double"),
        ("nan", "double"),
        ("TRUE", "boolean"),
        ("2026-02-29", "date"),
        ("2026-02-28Z", "date"),
        ("12026-02-28", "date"),
        ("-0001-01-01", "date"),
        ("9999-12-31T24:00:00", "dateTime"),
        ("2026-06-01T10:00:00.1234567", "dateTime"),
        ("2026-06-01T24:00:01", "dateTime"),
        ("2026-06-01T10:00:00+14:01", "dateTime"),
        ("2026-06-01T10:00:00", "dateTimeStamp"),
        ("P1M", "duration"),
        ("P", "duration"),
        ("P1DT", "dayTimeDuration"),
        ("P999999999999D", "dayTimeDuration"),
        ("0fb", "hexBinary"),
        ("a", "base64Binary"),
        ("2026", "gYear"),
        ("a", "unknown"),
    ],
)
def test_a_value_that_python_does_not_have_exactly(text, datatype):
    literal = typed(text, datatype)
    assert literal.to_python() is literal


def test_a_language_is_kept():
    for literal in (Literal("a", language="en"), Literal("a", language="en", direction="ltr")):
        assert literal.to_python() is literal
    assert Literal("a").to_python() == "a"
    other = Literal("1", datatype="http://ex/integer")
    assert other.to_python() is other


@given(st.datetimes(timezones=st.none() | st.just(UTC) | st.just(PLUS_2)))
def test_python_writes_what_is_read(moment):
    assert typed(moment.isoformat(), "dateTime").to_python() == moment
    assert typed(moment.date().isoformat(), "date").to_python() == moment.date()
    assert typed(moment.timetz().isoformat(), "time").to_python() == moment.timetz()
