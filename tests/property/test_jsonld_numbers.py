"""JSON-LD numbers are read as in PyLD, and written numbers are read back as the same literals."""

import json
import math
import struct

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyld import jsonld
from support import decode, encode

XSD = "http://www.w3.org/2001/XMLSchema#"
FORMATS = ("ndjsonld", "yamlld", "jsonld")


def double_of_bits(bits: int) -> float:
    return float(struct.unpack("<d", struct.pack("<Q", bits))[0])


EVERY_DOUBLE = st.integers(0, 2**64 - 1).map(double_of_bits).filter(math.isfinite)
FEW_DIGITS = st.builds(
    lambda digits, power: float(f"{digits}e{power}"), st.integers(1, 10**6), st.integers(-12, 12)
)
HALVES = st.integers(10**15, 2**52 - 1).map(lambda number: number + 0.5)
DOUBLES = st.one_of(EVERY_DOUBLE, FEW_DIGITS, HALVES, st.floats(1e-7, 1e10))


def read(name, data, **options):
    messages, error = decode(name, data, **options)
    assert error is None
    ((_, _, literal, _),) = messages[0]
    return literal


@given(DOUBLES)
@example(0.30000000000000004)
@example(0.07)
@example(5e-324)
@example(-1e21)
@example(1000000000000000.5)
def test_rdfm_reads_doubles_like_pyld(number):
    document = {"urn:p": {"@value": number, "@type": f"{XSD}double"}}
    (quad,) = jsonld.to_rdf(document)["@default"]
    for name in FORMATS:
        literal = read(name, json.dumps(document).encode())
        # PyLD keeps the sign of zero, contrary to the specification.
        assert literal[1] == quad["object"]["value"].removeprefix("-" if number == 0 else "~")


@given(DOUBLES)
def test_exact_doubles_keep_all_digits(number):
    data = json.dumps({"urn:p": {"@value": number, "@type": f"{XSD}double"}}).encode()
    for name in FORMATS:
        literal = read(name, data, exact_doubles=True)
        assert float(literal[1]) == number
        assert len(literal[1]) <= len(f"{number:.16E}")


LEXICAL_FORMS = st.one_of(
    DOUBLES.map(lambda number: f"{number:.15E}"),
    DOUBLES.map(lambda number: f"{number!r}"),
    st.builds(
        "{}{}.{}E{}".format,
        st.sampled_from(["", "-"]),
        st.integers(1, 9),
        st.integers(0, 10**15),
        st.integers(-7, 10),
    ),
)


@given(LEXICAL_FORMS, st.sampled_from(FORMATS))
@example("7.0E-2", "ndjsonld")
@example("6.4E-4", "yamlld")
@example("1.5E0", "jsonld")
def test_numbers_are_read_back_as_the_same_literals(text, name):
    literal = ("literal", text, None, None, f"{XSD}double")
    quad = (("iri", "urn:s"), ("iri", "urn:p"), literal, None)
    data = encode(name, [[quad]])
    for exact in (False, True):
        assert read(name, data, exact_doubles=exact) == literal


@pytest.mark.parametrize(("text", "number"), [("1.5E0", b"1.5"), ("-2.5E-1", b"-0.25")])
def test_doubles_unchanged_by_rounding_are_written_as_numbers(text, number):
    literal = ("literal", text, None, None, f"{XSD}double")
    data = encode("ndjsonld", [[(("iri", "urn:s"), ("iri", "urn:p"), literal, None)]])
    assert number in data
    assert b"@value" not in data


def test_doubles_changed_by_rounding_are_written_as_strings():
    literal = ("literal", "7.0E-2", None, None, f"{XSD}double")
    data = encode("ndjsonld", [[(("iri", "urn:s"), ("iri", "urn:p"), literal, None)]])
    assert b'"7.0E-2"' in data


@pytest.mark.parametrize("exact", [False, True])
def test_integers_and_json_literals_keep_all_digits(exact):
    data = b'{"urn:p": 123456789012345678901}'
    assert read("ndjsonld", data, exact_doubles=exact)[1] == "123456789012345678901"
    data = b'{"urn:p": {"@type": "@json", "@value": [0.30000000000000004, 0.07]}}'
    assert read("ndjsonld", data, exact_doubles=exact)[1] == "[0.30000000000000004,0.07]"
