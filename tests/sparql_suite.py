"""The evaluation tests of the W3C SPARQL suites, with queries and expected results."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import pyoxigraph as ox
from suites import w3c_files

import rdfm

BASE = "https://w3c.github.io/rdf-tests/"
MF = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
QT = "http://www.w3.org/2001/sw/DataAccess/tests/test-query#"
RS = "http://www.w3.org/2001/sw/DataAccess/tests/result-set#"
SD = "http://www.w3.org/ns/sparql-service-description#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
TEST_TYPES = {MF + "QueryEvaluationTest", MF + "CSVResultFormatTest"}


def files() -> dict[str, bytes]:
    """Returns the suite's files by path, such as `sparql/sparql10/ask/data.ttl`."""
    return w3c_files("w3c-sparql-eval.tar.gz", "./")


@dataclass
class Case:
    """A test.

    Attributes:
        name: Folder and name of the test.
        query: Path of the query.
        result: Path of the expected result.
        data: Paths of the files that form the default graph.
        graphs: Names of the named graphs, with the paths of their files.
        reduced: Whether rows may occur less often than expected, but at least once (REDUCED).
        reason: Unsupported feature that the test requires ("SERVICE" or "entailment"), or None.
    """

    name: str
    query: str
    result: str
    data: list[str] = field(default_factory=list)
    graphs: list[tuple[str, str]] = field(default_factory=list)
    reduced: bool = False
    reason: str | None = None


def cases() -> list[Case]:
    """Returns every evaluation test of every manifest, without duplicates."""
    found: dict[str, Case] = {}
    for path, content in files().items():
        if re.search(r"/[a-z-]*manifest[a-z0-9-]*\.ttl$", path):
            store = ox.Store()
            store.load(content, format=ox.RdfFormat.TURTLE, base_iri=BASE + path)
            for quad in store.quads_for_pattern(None, ox.NamedNode(RDF + "type"), None):
                if quad.object.value in TEST_TYPES:
                    case = _case(store, quad.subject, path)
                    found.setdefault(f"{case.name} {case.query} {case.result}", case)
    return sorted(found.values(), key=lambda case: case.name)


def _values(store: ox.Store, subject: object, predicate: str) -> list:
    return [q.object for q in store.quads_for_pattern(subject, ox.NamedNode(predicate), None)]


def _path(node: ox.NamedNode) -> str:
    return node.value.removeprefix(BASE)


def _case(store: ox.Store, test: object, manifest: str) -> Case:
    (action,) = _values(store, test, MF + "action")
    (result,) = _values(store, test, MF + "result")
    folder = manifest.removeprefix("sparql/").rpartition("/")[0]
    local = re.split(r"[#/]", test.value)[-1]
    name = f"{folder}/{local}"
    if isinstance(action, ox.NamedNode):
        return Case(name, _path(action), _path(result))
    (query,) = _values(store, action, QT + "query")
    case = Case(name, _path(query), _path(result))
    case.reduced = bool(_values(store, test, MF + "resultCardinality"))
    case.data = [_path(data) for data in _values(store, action, QT + "data")]
    for graph in _values(store, action, QT + "graphData"):
        if isinstance(graph, ox.NamedNode):
            case.graphs.append((graph.value, _path(graph)))
        else:
            (data,) = _values(store, graph, QT + "graph")
            (label,) = _values(store, graph, RDFS + "label")
            case.graphs.append((label.value, _path(data)))
    text = files()[case.query].decode()
    if _values(store, action, QT + "serviceData") or re.search(r"\bSERVICE\b", text):
        case.reason = "SERVICE"
    if _values(store, action, SD + "entailmentRegime") or _values(
        store, test, SD + "entailmentRegime"
    ):
        case.reason = "entailment"
    for iri in re.findall(r"\bFROM\s+(?:NAMED\s+)?<([^>]+)>", text):
        path = case.query.rpartition("/")[0] + "/" + iri
        if path in files() and not any(path == data for _, data in case.graphs):
            case.graphs.append((BASE + path, path))
    return case


# --- results ---


@dataclass
class Results:
    """Rows, or a boolean answer.

    Attributes:
        variables: Names of the variables.
        rows: Bindings of each row.
        boolean: Answer to an ASK query.
        ordered: Whether the file specifies an order.
    """

    variables: list[str]
    rows: list[dict[str, object]]
    boolean: bool | None = None
    ordered: bool = False


def read_results(content: bytes, path: str) -> Results:
    """Reads expected results, in a results format or in RDF."""
    if not path.endswith((".ttl", ".rdf")):
        suffix = path.rpartition(".")[2]
        format = {"srx": "xml", "srj": "json", "tsv": "tsv", "csv": "csv"}[suffix]
        with rdfm.open_log(content, f"results-{format}", kind="results") as results:
            names = results.variables
            rows = [
                {name: term for name, term in zip(names, row, strict=True) if term is not None}
                for row in results
            ]
            if suffix == "csv":  # CSV does not mark blank nodes
                rows = [
                    {
                        name: rdfm.BlankNode(term.value[2:])
                        if term.value.startswith("_:")
                        else term
                        for name, term in row.items()
                    }
                    for row in rows
                ]
            return Results(list(names), rows, results.boolean, True)
    return _from_rdf(content, "rdfxml" if path.endswith(".rdf") else "ttl", path)


def is_result_set(content: bytes, path: str) -> bool:
    """Whether a file contains rows or a boolean answer, rather than a CONSTRUCT result."""
    return not path.endswith((".ttl", ".rdf", ".nt", ".trig")) or RS.encode() in content


def _from_rdf(content: bytes, format: str, path: str) -> Results:
    with rdfm.open_log(content, format, base=BASE + path) as log:
        quads = [quad for message in log for quad in message]

    def values(subject: object, name: str) -> list:
        return [q.object for q in quads if q.subject == subject and q.predicate.value == RS + name]

    (top,) = {
        q.subject
        for q in quads
        if q.predicate.value == RDF + "type" and q.object.value == RS + "ResultSet"
    }
    if answers := values(top, "boolean"):
        return Results([], [], answers[0].value == "true")
    solutions = values(top, "solution")
    indexes = {s: int(values(s, "index")[0].value) for s in solutions if values(s, "index")}
    rows = []
    for solution in sorted(solutions, key=lambda s: indexes.get(s, 0)):
        row = {}
        for binding in values(solution, "binding"):
            (name,), (value,) = values(binding, "variable"), values(binding, "value")
            row[name.value] = value
        rows.append(row)
    names = [variable.value for variable in values(top, "resultVariable")]
    return Results(names, rows, None, bool(indexes) and len(indexes) == len(solutions))


def as_message(results: Results, *, ordered: bool) -> rdfm.Message:
    """Returns rows as a dataset, so that equal rows result in isomorphic datasets.

    Numbers are compared by value, and the case of language tags is ignored.

    Args:
        results: The rows.
        ordered: Whether the order of rows is compared.
    """
    quads = []
    for number, row in enumerate(results.rows):
        subject = rdfm.BlankNode(f"_row{number}")
        index = rdfm.Literal(str(number) if ordered else "")
        quads.append(rdfm.Quad(subject, rdfm.Iri("x:row"), index))
        for name, term in row.items():
            quads.append(rdfm.Quad(subject, rdfm.Iri("x:" + name), _normalized(term)))
    return rdfm.Message(quads)


def _normalized(term: object) -> object:
    """Normalizes the lexical form of a number and the case of a language tag."""
    if not isinstance(term, rdfm.Literal):
        return term
    if term.language is not None:
        return rdfm.Literal(term.value, language=term.language.lower(), direction=term.direction)
    name = term.datatype.value.removeprefix("http://www.w3.org/2001/XMLSchema#")
    if name not in ("decimal", "double", "float"):
        return term
    try:
        return rdfm.Literal(repr(float(term.value)), datatype=term.datatype)
    except ValueError:
        return term
