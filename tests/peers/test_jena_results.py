"""SPARQL results exchanged with Jena in both directions, in each result format of Jena."""

import pytest
from hypothesis import assume, given
from nquads import LineParser, literal, map_terms
from results import decoded, encoded, results

pytestmark = pytest.mark.peers

FORMATS = {
    "srj": "results-json",
    "srx": "results-xml",
    "tsv": "results-tsv",
    "srt": "results-thrift",
    "srp": "results-protobuf",
}


def read_with_jena(jvm, name, data):
    """Returns the variables and rows that Jena reads."""
    head, *lines = jvm.convert(data, name, "table").decode().split("\n")[:-1]
    if not head:
        return [], [()] * len(lines)
    cells = (line.split("\t") for line in lines)
    rows = [tuple(term_of(cell) if cell else None for cell in row) for row in cells]
    return head.split("\t"), rows


def term_of(text):
    line = LineParser(text)
    return line.term(line.token())


def normalized(found):
    """Normalizes labels, language tags and base directions, which Jena changes."""
    variables, rows = found
    labels = {}

    def change(term):
        if term[0] == "bnode":
            return ("bnode", labels.setdefault(term[1], f"b{len(labels)}"))
        if term[0] == "literal" and term[2]:
            return literal(term[1], term[2].lower())
        return term

    return variables, [map_terms(row, change) for row in rows]


def without_directions(rows):
    """Removes base directions, which Jena's formats do not support."""

    def change(term):
        return literal(term[1], term[2]) if term[0] == "literal" and term[2] else term

    return [map_terms(row, change) for row in rows]


@pytest.mark.parametrize("name", FORMATS)
@given(given_results=results(any_text=False, generalized=False))
def test_results_round_trip_through_jena(jvm, name, given_results):
    variables = [
        f"v{number}" for number in range(len(given_results[0]))
    ]  # names that are valid in queries
    rows = without_directions(given_results[1])
    # Jena writes triple terms to TSV, but does not read them.
    assume(name != "tsv" or "triple" not in {term[0] for row in rows for term in row if term})
    written = encoded(FORMATS[name], variables, rows)
    expected = normalized((variables, rows))
    assert normalized(read_with_jena(jvm, name, written)) == expected
    for other, format in FORMATS.items():
        assert normalized(decoded(format, jvm.convert(written, name, other))) == expected


@pytest.mark.parametrize("answer", [True, False])
@pytest.mark.parametrize("name", ["srj", "srx"])
def test_boolean_answers_round_trip_through_jena(jvm, name, answer, tmp_path):
    import rdfm

    path = tmp_path / f"answer.{name}"
    with rdfm.create_log(path, kind="results", boolean=answer):
        pass
    assert jvm.convert(path.read_bytes(), name, "table").decode() == f"{answer}\n".lower()
    converted = jvm.convert(path.read_bytes(), name, name)
    with rdfm.open_log(converted, FORMATS[name], kind="results") as found:
        assert found.boolean is answer
