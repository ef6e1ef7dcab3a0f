"""SPARQL results compared with pyoxigraph, Google's protobuf and thriftpy2.

The files come from spec-fixtures and the W3C suites.
"""

import importlib.util
import json
from collections import Counter
from pathlib import Path

import pyoxigraph as ox
import pytest
import rdf_binary
from nquads import XSD_STRING
from suites import w3c_files
from support import FIXTURES, as_tuple

import rdfm
from rdfm.errors import EncodeError

OXIGRAPH_FORMATS = {
    "results-json": ox.QueryResultsFormat.JSON,
    "results-xml": ox.QueryResultsFormat.XML,
    "results-tsv": ox.QueryResultsFormat.TSV,
}
SUITE = "w3c-sparql-results.tar.gz"
FORMATS = {".srj": "results-json", ".srx": "results-xml", ".tsv": "results-tsv"}


def load_module(name: str):
    module_spec = importlib.util.spec_from_file_location(name, FIXTURES / f"{name}.py")
    module = importlib.util.module_from_spec(module_spec)
    module_spec.loader.exec_module(module)
    return module


GENERATOR = load_module("results")


def files(name: str) -> list[Path]:
    found = sorted((FIXTURES / name).iterdir())
    assert len(found) >= 13
    return found


def read(data: bytes, name: str):
    """Returns variables, boolean answer and rows as tuples."""
    with rdfm.open_log(data, name, kind="results") as log:
        batches = list(log.batches())
    assert batches
    rows = [tuple(map(as_tuple, row)) for batch in batches for row in batch]
    return list(batches[0].variables), batches[0].boolean, rows


def from_oxigraph(term):
    """Converts a pyoxigraph term to a tuple of `nquads`."""
    match term:
        case None:
            return None
        case ox.NamedNode():
            return ("iri", term.value)
        case ox.BlankNode():
            return ("bnode", term.value)
        case ox.Triple():
            return ("triple", *map(from_oxigraph, (term.subject, term.predicate, term.object)))
    direction = term.direction.value if term.direction else ""
    return ("literal", term.value, term.language or "", str(direction), term.datatype.value)


def read_with_oxigraph(data: bytes, name: str):
    found = ox.parse_query_results(data, format=OXIGRAPH_FORMATS[name])
    if isinstance(found, ox.QueryBoolean):
        return [], bool(found), []
    variables = [variable.value for variable in found.variables]
    return variables, None, [tuple(map(from_oxigraph, row)) for row in found]


def comparable(result, name=""):
    """Makes results comparable with pyoxigraph, which lowercases languages and trims literals."""
    variables, boolean, rows = result

    def normalized(term):
        if term is None or term[0] in ("iri", "bnode"):
            return term
        if term[0] == "triple":
            return ("triple", *map(normalized, term[1:]))
        _, lexical, language, direction, datatype = term
        lexical = lexical.strip() if name == "results-xml" else lexical
        if language:
            return ("literal", lexical, language.lower(), (direction or "").lower())
        return ("literal", lexical, datatype)

    return variables, boolean, [tuple(map(normalized, row)) for row in rows]


def standard_json(data: bytes) -> bytes:
    """Removes members that SPARQL does not define, because pyoxigraph rejects them."""
    document = json.loads(data)
    if "results" in document:
        document["results"] = {"bindings": document["results"]["bindings"]}
    return json.dumps(document).encode()


@pytest.mark.parametrize("name", OXIGRAPH_FORMATS)
def test_rdfm_reads_fixtures_like_pyoxigraph(name):
    rejected = []
    for path in files(name):
        data = path.read_bytes()
        try:
            expected = read_with_oxigraph(
                standard_json(data) if name == "results-json" else data, name
            )
        except (SyntaxError, ValueError):
            rejected.append(path.stem)
            continue
        assert comparable(read(data, name), name) == comparable(expected, name), path
    assert rejected == ["odd-names"]  # pyoxigraph validates variable names


@pytest.mark.suites
@pytest.mark.parametrize("name", OXIGRAPH_FORMATS)
def test_rdfm_reads_w3c_files_like_pyoxigraph(name):
    suffix = {format: suffix for suffix, format in FORMATS.items()}[name]
    logs = [data for path, data in w3c_files(SUITE).items() if path.endswith(suffix)]
    equal_count = 0
    for data in logs:
        try:
            expected = read_with_oxigraph(data, name)
        except (SyntaxError, ValueError):
            continue  # pyoxigraph does not support all of RDF 1.2
        assert comparable(read(data, name), name) == comparable(expected, name), data
        equal_count += 1
    assert equal_count * 10 >= len(logs) * 8 > 0, (equal_count, len(logs))


@pytest.mark.parametrize("name", OXIGRAPH_FORMATS)
def test_pyoxigraph_reads_the_output(name):
    outcomes = Counter()
    for path in files("results-json"):
        data = path.read_bytes()
        expected = read(data, "results-json")
        if expected[1] is not None and name == "results-tsv":
            continue
        written = write(data, "results-json", name)
        try:
            found = read_with_oxigraph(written, name)
        except (SyntaxError, ValueError):
            outcomes["rejected"] += 1
            continue
        assert comparable(found, name) == comparable(expected, name), written
        outcomes["equal"] += 1
    assert outcomes["equal"] >= 11, outcomes


def write(data: bytes, source: str, target: str, **options) -> bytes:
    with rdfm.open_log(data, source, kind="results") as log:
        encoder = rdfm.formats.find(target).encoder(options)
        return b"".join([*(encoder.encode(batch) for batch in log.batches()), encoder.finish()])


@pytest.mark.parametrize("name", ["results-thrift", "results-protobuf"])
@pytest.mark.parametrize("case", GENERATOR.RESULT_SETS)
def test_rdfm_and_other_libraries_agree_on_binary_results(name, case):
    variables, rows = GENERATOR.RESULT_SETS[case]
    suffix, pack = {
        "results-thrift": (".srt", rdf_binary.thrift_rows),
        "results-protobuf": (".srp", rdf_binary.protobuf_rows),
    }[name]
    classes = rdf_binary.thrift() if suffix == ".srt" else rdf_binary.protobuf()
    data = (FIXTURES / name / f"{case}{suffix}").read_bytes()
    assert data == pack(GENERATOR.tuples(classes, variables, rows))
    expected = (variables, None, [tuple(row) for row in rows])
    assert comparable(read(data, name)) == comparable(expected)
    written = write(data, name, name)
    if variables:
        assert written == data
    elif suffix == ".srt":
        # Jena omits an empty list, but thriftpy2 does not.
        assert written == b"\x19\x0c\0" + b"\0" * len(rows)


def test_generated_fixtures_are_current():
    generated = dict(GENERATOR.generated_files())
    assert generated == {path: path.read_bytes() for path in generated}
    assert XSD_STRING == GENERATOR.STRING


def test_csv_is_written_only_on_request():
    data = (FIXTURES / "results-json" / "basic.srj").read_bytes()
    with pytest.raises(EncodeError) as caught:
        write(data, "results-json", "results-csv")
    assert [remedy.option for remedy in caught.value.remedies] == ["lossy"]
    found = write(data, "results-json", "results-csv", lossy=True)
    assert found == (FIXTURES / "results-csv" / "basic.csv").read_bytes() + b"\r\n"


def test_the_number_of_unbound_cells_is_limited():
    """In JSON and XML an unbound cell takes no bytes."""
    names = [f"v{number}" for number in range(2000)]
    head = {"head": {"vars": names}, "results": {"bindings": [{}] * 600}}
    log = json.dumps(head).encode()
    with rdfm.open_log(log, "results-json", kind="results") as rows:
        assert len(list(rows)) == 600
    rows = rdfm.open_log(log, "results-json", kind="results", max_message_bytes=100_000)
    with rows, pytest.raises(rdfm.LimitError, match="cells in the first") as caught:
        list(rows)
    assert [each.option for each in caught.value.remedies] == ["max_message_bytes"]


@pytest.mark.parametrize(
    "log", ['x,y\na"b,c\nd,e\n', 'x,y\na"b",c\n', 'x,y\na"",c\nd,"\n', 'x,y\na"']
)
def test_a_quotation_mark_in_an_unquoted_csv_field_is_an_error_at_the_mark(log):
    rows = rdfm.open_log(log.encode(), "results-csv", kind="results")
    with (
        rows,
        pytest.raises(rdfm.DecodeError, match="a quotation mark in an unquoted field") as caught,
    ):
        list(rows)
    assert (caught.value.line, caught.value.column, caught.value.byte_offset) == (2, 2, 5)
