"""ORDER BY, MIN and MAX use a total order of all terms that extends SPARQL's operators."""

import pyoxigraph as ox
import rdflib
from hypothesis import given
from hypothesis import strategies as st
from nquads import literal
from oxigraph import to_oxigraph
from support import as_batch, as_tuple

from rdfm._core import Query

XSD = "http://www.w3.org/2001/XMLSchema#"
S, P = ("iri", "http://e/s"), ("iri", "http://e/p")


def typed(*datatypes):
    """Returns a function that maps a text to a strategy for literals with these datatypes."""
    return lambda text: st.sampled_from(datatypes).map(
        lambda name: literal(text, datatype=XSD + name)
    )


def padded(number, width):
    return str(number).rjust(width, "0")


zones = st.sampled_from(["", "", "Z", "+01:00", "-14:00", "+14:00", "-00:30"])
years = st.builds(padded, st.integers(1, 3) | st.integers(1990, 2030), st.just(4))
months = st.builds(padded, st.integers(1, 12), st.just(2))
days = st.builds(padded, st.integers(1, 28), st.just(2))
clocks = st.builds(
    "{:02}:{:02}:{:02}{}".format,
    st.integers(0, 23),
    st.sampled_from([0, 30]),
    st.integers(0, 2),
    st.sampled_from(["", ".5", ".500", ".000001"]),
)
signs = st.sampled_from(["", "", "-", "+"])
integers = st.integers(-20, 20).map(str) | st.integers(-(2**70), 2**70).map(str)
plain_integers = st.builds(
    "{}{}{}".format, signs, st.sampled_from(["", "0", "00"]), st.integers(0, 12)
)
decimals = st.decimals(-100, 100, places=3, allow_nan=False).map(str) | st.sampled_from(
    ["0.1", "0.10", ".1", "-0.0", "0.100000001490116119", "9007199254740993.5", "1.", "1.00"]
)
doubles = st.floats().map(repr).map(
    {"inf": "INF", "-inf": "-INF", "nan": "NaN"}.get
) | st.sampled_from(
    [
        "0.1",
        "1E-1",
        "-0.0",
        "0",
        "1e0",
        "9007199254740992",
        "9007199254740994",
        "INF",
        "-INF",
        "NaN",
    ]
)
durations = st.builds(
    "{}P{}{}".format,
    st.sampled_from(["", "-"]),
    st.sampled_from(["1Y", "12M", "1M", "2M", "30D", "31D", "27D", "365D", "1Y2M3D", "0D"]),
    st.sampled_from(["", "", "T1H", "T60M", "T0.5S"]),
)
day_times = st.sampled_from(["P1D", "PT24H", "PT0S", "-PT1S", "PT1.5S", "PT90M"])
year_months = st.sampled_from(["P1Y", "P12M", "P0M", "-P1M", "P13M"])
TERMS_BY_KIND = {
    "iri": st.sampled_from(["http://e/a", "http://e/b", "http://e/ab", "urn:ä"]).map(lambda iri: ("iri", iri)),
    "bnode": st.sampled_from("abc").map(lambda label: ("bnode", label)),
    "text": st.text(st.sampled_from("aAbé 1\u0001"), max_size=3).map(literal),
    "tagged": st.builds(literal, st.sampled_from(["", "a", "b"]), st.sampled_from(["de", "en", "en-gb"])),
    "boolean": st.sampled_from(["true", "false", "1", "0"]).flatmap(typed("boolean")),
    "integer": (integers | plain_integers).flatmap(typed("integer", "integer", "long", "nonNegativeInteger")),
    "decimal": decimals.flatmap(typed("decimal")),
    "double": doubles.filter(bool).flatmap(typed("double", "float")),
    "dateTime": st.builds("{}-{}-{}T{}{}".format, years, months, days, clocks, zones).flatmap(typed("dateTime")),
    "date": st.builds("{}-{}-{}{}".format, years, months, days, zones).flatmap(typed("date")),
    "time": st.builds("{}{}".format, clocks, zones).flatmap(typed("time")),
    "gYear": st.builds("{}{}".format, years, zones).flatmap(typed("gYear")),
    "gYearMonth": st.builds("{}-{}{}".format, years, months, zones).flatmap(typed("gYearMonth")),
    "gMonth": st.builds("--{}{}".format, months, zones).flatmap(typed("gMonth")),
    "gMonthDay": st.builds("--{}-{}{}".format, months, days, zones).flatmap(typed("gMonthDay")),
    "gDay": st.builds("---{}{}".format, days, zones).flatmap(typed("gDay")),
    "duration": durations.flatmap(typed("duration")),
    "dayTimeDuration": day_times.flatmap(typed("dayTimeDuration", "duration")),
    "yearMonthDuration": year_months.flatmap(typed("yearMonthDuration", "duration")),
    "other": st.sampled_from(["", "1", "a"]).flatmap(typed("hexBinary", "anyURI", "integer", "date")),
}  # fmt: skip
terms = st.one_of(*TERMS_BY_KIND.values())
mixed_terms = st.lists(terms, max_size=30, unique=True)
terms_of_one_kind = st.sampled_from(list(TERMS_BY_KIND)).flatmap(
    lambda kind: st.lists(TERMS_BY_KIND[kind], max_size=12, unique=True)
)


def ordered(objects, text="SELECT ?o { ?s ?p ?o } ORDER BY ?o"):
    """Returns the objects of a message in order, or the result of another query."""
    batch = as_batch([[(S, P, term, None) for term in objects]])
    part = Query(text).solutions(batch, 0)
    assert part.error is None
    return [tuple(None if cell is None else as_tuple(cell) for cell in row) for row in part.rows]


@given(mixed_terms | terms_of_one_kind, st.randoms(use_true_random=False))
def test_the_order_does_not_depend_on_the_order_of_the_data(objects, random):
    found = ordered(objects)
    assert sorted(found, key=repr) == sorted(((term,) for term in objects), key=repr)
    random.shuffle(objects)
    assert ordered(objects) == found
    descending = "SELECT ?o { ?s ?p ?o } ORDER BY DESC(?o)"
    assert ordered(objects, descending) == found[::-1]
    first_two = "SELECT ?o { { SELECT ?o { ?s ?p ?o } ORDER BY ?o LIMIT 2 } }"
    assert sorted(ordered(objects, first_two), key=repr) == sorted(found[:2], key=repr)


@given(st.lists(terms, min_size=3, max_size=3, unique=True))
def test_the_order_of_two_terms_does_not_depend_on_a_third(objects):
    found = [term for (term,) in ordered(objects)]
    for omitted in objects:
        pair = [term for term in found if term != omitted]
        assert [term for (term,) in ordered(pair)] == pair


@given(mixed_terms | terms_of_one_kind)
def test_no_term_precedes_a_smaller_term(objects):
    found = [term for (term,) in ordered(objects) if term[0] != "bnode"]
    rows = [f"({number} {to_oxigraph(term)})" for number, term in enumerate(found)]
    query = (
        f"SELECT ?x ?y {{ VALUES (?i ?x) {{ {' '.join(rows)} }} VALUES (?j ?y) {{ {' '.join(rows)} }} "
        "FILTER(?i < ?j && ?y < ?x) }"
    )
    assert [tuple(map(str, row)) for row in ox.Store().query(query)] == []
    kinds = [
        (term[0] != "bnode", term[0] != "iri") for (term,) in ordered(objects)
    ]  # blank nodes, IRIs, literals
    assert kinds == sorted(kinds)


@given(
    st.lists(st.integers(-(10**30), 10**30), unique=True).map(
        lambda values: [literal(str(value), datatype=f"{XSD}integer") for value in values]
    )
    | st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0")), unique=True).map(
        lambda values: [literal(value) for value in values]
    )
    | st.lists(st.datetimes(), unique=True).map(
        lambda values: [
            literal(value.isoformat() + "Z", datatype=f"{XSD}dateTime") for value in values
        ]
    )
)
def test_rdfm_orders_terms_of_one_kind_like_rdflib(objects):
    values = {
        term: rdflib.Literal(
            term[1], datatype=None if term[4] is None else rdflib.URIRef(term[4])
        ).toPython()
        for term in objects
    }
    found = [values[term] for (term,) in ordered(objects)]
    assert found == sorted(found)


@given(mixed_terms | terms_of_one_kind, st.randoms(use_true_random=False))
def test_min_and_max_are_extremes_for_any_order_of_the_data(objects, random):
    extremes = "SELECT (MIN(?o) AS ?a) (MAX(DISTINCT ?o) AS ?b) { ?s ?p ?o }"
    found = ordered(objects, extremes)
    random.shuffle(objects)
    assert ordered(objects, extremes) == found
    if objects:
        [(minimum, maximum)] = found
        for operator, extreme in (("<", minimum), (">", maximum)):
            rows = " ".join(str(to_oxigraph(term)) for term in objects if term[0] != "bnode")
            if extreme[0] != "bnode":
                query = (
                    f"ASK {{ VALUES ?x {{ {rows} }} FILTER(?x {operator} {to_oxigraph(extreme)}) }}"
                )
                assert not ox.Store().query(query)
