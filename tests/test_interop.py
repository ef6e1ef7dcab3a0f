"""Messages and results exchanged with rdflib and pyoxigraph, and shown in notebooks."""

import io

import pyoxigraph
import pytest
import rdflib

import rdfm
from rdfm import (
    BlankNode,
    EncodeError,
    Iri,
    LimitError,
    Literal,
    Message,
    Quad,
    ResultReader,
    TripleTerm,
    UnsupportedError,
)
from rdfm.interop import to_html

S, P, OBJ, G = (Iri(f"http://example.org/{name}") for name in "spog")
XSD = "http://www.w3.org/2001/XMLSchema#"
QUADS = [
    Quad(S, P, OBJ),
    Quad(S, P, Literal("plain")),
    Quad(S, P, Literal("tagged", language="en-gb"), G),
    Quad(BlankNode("a"), P, Literal("01", datatype=XSD + "integer"), G),
    Quad(BlankNode("a"), P, BlankNode("b"), BlankNode("g")),
    Quad(S, P, Literal("not a date", datatype=XSD + "date")),
]


def test_messages_round_trip_through_rdflib():
    message = Message(QUADS, namespaces={"ex": "http://example.org/"})
    dataset = message.to_rdflib()
    assert isinstance(dataset, rdflib.Dataset)
    assert dict(dataset.namespaces())["ex"] == rdflib.URIRef("http://example.org/")
    back = Message.from_rdflib(dataset)
    assert set(back.quads) == set(QUADS)
    assert back.namespaces == {"ex": "http://example.org/"}


def test_an_rdflib_graph_becomes_one_message():
    graph = rdflib.Graph().parse(data="@prefix ex: <http://example.org/> . ex:s ex:p 1 .")
    assert [str(quad) for quad in Message.from_rdflib(graph)] == [
        f'<http://example.org/s> <http://example.org/p> "1"^^<{XSD}integer> .'
    ]


@pytest.mark.parametrize(
    ("quad", "reason"),
    [
        (Quad(S, P, TripleTerm(S, P, OBJ)), "triple terms"),
        (Quad(S, P, Literal("x", language="ar", direction="rtl")), "base directions"),
        (Quad(S, P, OBJ, Literal("g")), "graph name"),
        (Quad(S, P, Literal("x", language="e n")), "language"),
    ],
)
def test_to_rdflib_rejects_unsupported_terms(quad, reason):
    with pytest.raises(EncodeError, match=reason):
        Message([quad]).to_rdflib()


def test_rdflib_variables_are_rejected():
    graph = rdflib.Graph()
    graph.add((rdflib.URIRef("http://e/s"), rdflib.URIRef("http://e/p"), rdflib.Variable("x")))
    with pytest.raises(UnsupportedError, match="Variable"):
        Message.from_rdflib(graph)


def test_messages_round_trip_through_oxigraph():
    rdf12 = [
        Quad(S, P, TripleTerm(S, P, TripleTerm(S, P, BlankNode("a")))),
        Quad(S, P, Literal("x", language="ar", direction="rtl")),
    ]
    dataset = Message(QUADS + rdf12).to_oxigraph()
    assert isinstance(dataset, pyoxigraph.Dataset)
    assert set(Message.from_oxigraph(dataset).quads) == {*QUADS, *rdf12}


def test_labels_that_oxigraph_rejects_are_rewritten_one_to_one():
    labels = ["a b", "a.", "", "_gx612062", "_gx61", "_gx", "a", "é"]
    message = Message([Quad(BlankNode(label), P, Literal(label)) for label in labels])
    back = Message.from_oxigraph(message.to_oxigraph())
    assert len({quad.subject for quad in back}) == len(labels)
    assert {quad.subject.value for quad in back} == set(labels)


@pytest.mark.parametrize(
    "quad",
    [
        Quad(Literal("s"), P, OBJ),
        Quad(S, BlankNode("p"), OBJ),
        Quad(S, P, OBJ, Literal("g")),
        Quad(Iri("a b"), P, OBJ),
    ],
)
def test_to_oxigraph_rejects_unsupported_terms(quad):
    with pytest.raises(EncodeError, match="pyoxigraph: cannot represent"):
        Message([quad]).to_oxigraph()


def test_deep_triple_terms_are_converted_or_rejected_by_rdfm():
    deep, other = BlankNode("a"), BlankNode("b")
    for _ in range(100):
        deep, other = TripleTerm(S, P, deep), TripleTerm(S, P, other)
    message = Message([Quad(S, P, deep)])
    assert message.isomorphic(Message([Quad(S, P, other)]))
    assert not message.isomorphic(Message([Quad(S, P, OBJ)]))
    with pytest.raises(EncodeError, match="does not support blank nodes"):
        message.canonical()
    assert len(list(message.to_oxigraph())) == 1
    assert "TripleTerm" not in to_html(message)
    with pytest.raises(LimitError, match="nested deeper than 100 levels"):
        TripleTerm(S, P, deep)


@pytest.mark.parametrize("depth", [101, 600])
def test_triple_terms_from_pyoxigraph_that_are_too_deep_are_rejected(depth):
    name = pyoxigraph.NamedNode("http://e/p")
    term = pyoxigraph.BlankNode("a")
    for _ in range(depth):
        term = pyoxigraph.Triple(name, name, term)
    with pytest.raises(LimitError, match="nested deeper than 100 levels"):
        Message.from_oxigraph([pyoxigraph.Triple(name, name, term)])


def test_html_escapes_terms_and_links_only_http_iris():
    quads = [
        Quad(Iri("javascript:alert(1)"), P, Literal("<script>alert('x')</script>")),
        Quad(Iri('http://example.org/"onclick="x'), P, OBJ, G),
    ]
    table = to_html(Message(quads))
    assert "<script" not in table
    assert 'href="javascript' not in table
    assert 'href="http://example.org/&quot;onclick=&quot;x"' in table
    assert "<th>graph</th>" in table
    assert Message(quads)._repr_html_() == table


def test_html_shows_the_number_of_omitted_quads():
    table = to_html(Message([Quad(S, P, Literal(str(i))) for i in range(12)]), rows=10)
    assert table.count("<tr>") == 11
    assert "and 2 more quads" in table


# --- SPARQL results ---

VARIABLES = ["a", "b"]
CELLS = [
    (S, None),
    (None, None),
    (BlankNode("x"), Literal("tagged", language="en-gb")),
    (Literal("01", datatype=XSD + "integer"), Literal("")),
]
RDF12_CELLS = [
    (
        TripleTerm(S, P, TripleTerm(S, P, BlankNode("x"))),
        Literal("x", language="ar", direction="rtl"),
    ),
]
GRAPH = [Quad(S, P, OBJ), Quad(S, P, Literal("v"))]


def reader(rows, variables=VARIABLES, boolean=None):
    file = io.BytesIO()
    with rdfm.create_log(
        file, "results-json", kind="results", variables=variables, boolean=boolean
    ) as results:
        for row in rows:
            results.write(row)
    return rdfm.open_log(file.getvalue(), "results-json", kind="results")


def content_of(results):
    return results.variables, results.boolean, list(results)


def test_results_round_trip_through_rdflib():
    result = reader(CELLS).to_rdflib()
    assert isinstance(result, rdflib.query.Result)
    assert (result.type, result.vars) == ("SELECT", [rdflib.Variable("a"), rdflib.Variable("b")])
    rows = list(result)
    assert [row.asdict() for row in rows[:2]] == [{"a": rdflib.URIRef(S.value)}, {}]
    assert rows[2].b == rdflib.Literal("tagged", lang="en-gb")
    assert len(result) == len(CELLS)
    back = ResultReader.from_rdflib(result)
    assert content_of(back) == (("a", "b"), None, CELLS)
    assert repr(back) == "<ResultReader rdflib>"
    parsed = rdflib.query.Result.parse(
        io.BytesIO(reader(CELLS[:3]).to_rdflib().serialize(format="json")), format="json"
    )
    assert content_of(ResultReader.from_rdflib(parsed)) == (("a", "b"), None, CELLS[:3])


def test_results_round_trip_through_oxigraph():
    rows = [*CELLS, *RDF12_CELLS]
    solutions = reader(rows).to_oxigraph()
    assert isinstance(solutions, pyoxigraph.QuerySolutions)
    assert [variable.value for variable in solutions.variables] == VARIABLES
    back = ResultReader.from_oxigraph(solutions)
    assert content_of(back) == (("a", "b"), None, rows)
    assert repr(back) == "<ResultReader pyoxigraph>"


@pytest.mark.parametrize("answer", [True, False])
def test_boolean_answers_round_trip_through_other_libraries(answer):
    result = reader([], (), answer).to_rdflib()
    assert (result.type, result.askAnswer, bool(result)) == ("ASK", answer, answer)
    assert content_of(ResultReader.from_rdflib(result)) == ((), answer, [])
    found = reader([], (), answer).to_oxigraph()
    assert isinstance(found, pyoxigraph.QueryBoolean)
    assert bool(found) is answer
    assert content_of(ResultReader.from_oxigraph(found)) == ((), answer, [])


@pytest.mark.parametrize("rows", [0, 1, 3])
@pytest.mark.parametrize("variables", [[], VARIABLES])
def test_results_may_lack_variables_or_bindings(rows, variables):
    unbound = [(None,) * len(variables)] * rows
    for back in (
        ResultReader.from_rdflib(reader(unbound, variables).to_rdflib()),
        ResultReader.from_oxigraph(reader(unbound, variables).to_oxigraph()),
    ):
        assert content_of(back) == (tuple(variables), None, unbound)
    assert len(list(reader(unbound, variables).to_rdflib())) == rows


def graphs():
    store = pyoxigraph.Store()
    store.extend(Message(GRAPH).to_oxigraph())
    graph = rdflib.Graph().parse(data=Message(GRAPH).canonical(), format="nt")
    return store, graph


SELECT = f"SELECT ?o ?none {{ <{S.value}> <{P.value}> ?o }} ORDER BY ?o"


def test_results_of_other_libraries_are_written(tmp_path):
    store, graph = graphs()
    for number, results in enumerate(
        (
            ResultReader.from_oxigraph(store.query(SELECT)),
            ResultReader.from_rdflib(graph.query(SELECT)),
        )
    ):
        path = tmp_path / f"{number}.srt"
        with rdfm.create_log(path, kind="results", variables=results.variables) as out:
            for batch in results.batches():
                out.write_batch(batch)
        with rdfm.open_log(path, kind="results") as found:
            assert content_of(found) == (("o", "none"), None, [(OBJ, None), (Literal("v"), None)])


def test_boolean_answers_of_other_libraries_are_read():
    store, graph = graphs()
    assert ResultReader.from_oxigraph(store.query("ASK {?s ?p ?o}")).boolean is True
    assert ResultReader.from_rdflib(graph.query("ASK {?s ?s ?o}")).boolean is False


@pytest.mark.parametrize("query", ["CONSTRUCT WHERE {?s ?p ?o}", f"DESCRIBE <{S.value}>"])
def test_graphs_returned_by_queries_are_not_results(query):
    store, graph = graphs()
    with pytest.raises(UnsupportedError, match=r"use rdfm\.Message\.from_oxigraph"):
        ResultReader.from_oxigraph(store.query(query))
    with pytest.raises(
        UnsupportedError,
        match=r"pass the `graph` attribute of the result to rdfm\.Message\.from_rdflib",
    ):
        ResultReader.from_rdflib(graph.query(query))
    assert set(Message.from_oxigraph(store.query(query))) == set(GRAPH)
    assert set(Message.from_rdflib(graph.query(query).graph)) == set(GRAPH)


def test_results_are_not_messages():
    store, graph = graphs()
    for query in (SELECT, "ASK {}"):
        with pytest.raises(UnsupportedError, match=r"rdfm\.ResultReader\.from_oxigraph"):
            Message.from_oxigraph(store.query(query))
        with pytest.raises(UnsupportedError, match=r"rdfm\.ResultReader\.from_rdflib"):
            Message.from_rdflib(graph.query(query))
    with pytest.raises(UnsupportedError, match="use its `graph` attribute"):
        Message.from_rdflib(graph.query("CONSTRUCT WHERE {?s ?p ?o}"))


def test_values_of_other_types_are_rejected():
    for value in ([], None, "x", rdflib.Graph()):
        with pytest.raises(TypeError, match=f"not {type(value).__name__}"):
            ResultReader.from_rdflib(value)
        with pytest.raises(TypeError, match=f"not {type(value).__name__}"):
            ResultReader.from_oxigraph(value)


def test_to_rdflib_rejects_unsupported_cells():
    for cell, reason in (
        (TripleTerm(S, P, OBJ), "triple terms"),
        (Literal("x", language="ar", direction="rtl"), "base directions"),
        (Literal("x", language="e n"), "language"),
    ):
        rows = iter(reader([(S, S), (S, cell)]).to_rdflib())
        assert next(rows).a == rdflib.URIRef(S.value)
        with pytest.raises(EncodeError, match=reason) as caught:
            next(rows)
        assert caught.value.message_index == 1
    with pytest.raises(EncodeError, match="variable"):
        reader([], [""]).to_rdflib()


@pytest.mark.parametrize(
    "cell",
    [
        Iri("a b"),
        Literal("x", language="e n"),
        TripleTerm(Literal("x"), P, OBJ),
        TripleTerm(S, BlankNode("p"), OBJ),
    ],
)
@pytest.mark.parametrize("preceding_rows", [0, 1, 999, 1000, 1001])
def test_to_oxigraph_rejects_unsupported_cells(cell, preceding_rows):
    results = reader([(S, None)] * preceding_rows + [(S, cell), (S, None)])
    rows = 0
    with pytest.raises(EncodeError, match="pyoxigraph: cannot represent") as caught:
        for _ in results.to_oxigraph():
            rows += 1
    assert (rows, caught.value.message_index) == (preceding_rows, preceding_rows)


def test_to_oxigraph_rejects_invalid_variables():
    with pytest.raises(EncodeError, match="variable 'a b'"):
        reader([], ["a b"]).to_oxigraph()


def test_row_labels_that_oxigraph_rejects_are_rewritten_one_to_one():
    labels = ["a b", "a.", "", "_gx612062", "_gx61", "_gx", "a", "é"]
    rows = [(BlankNode(label), TripleTerm(S, P, BlankNode(label))) for label in labels]
    assert content_of(ResultReader.from_oxigraph(reader(rows).to_oxigraph()))[2] == rows


def test_deep_triple_terms_of_rows_are_converted():
    deep = BlankNode("a")
    for _ in range(100):
        deep = TripleTerm(S, P, deep)
    results = ResultReader._of(
        iter([rdfm.ResultBatch.from_rows([[S, deep]], VARIABLES)]), "generated"
    )
    assert len(list(results.to_oxigraph())) == 1


def test_rows_are_read_on_demand():
    read_numbers = []

    def batches():
        for number in range(50):
            read_numbers.append(number)
            yield rdfm.ResultBatch.from_rows([[S, OBJ]] * 1000, VARIABLES)

    for convert in (ResultReader.to_rdflib, ResultReader.to_oxigraph):
        read_numbers.clear()
        rows = iter(convert(ResultReader._of(batches(), "generated")))
        next(rows)
        assert len(read_numbers) <= 3
        assert 1 + sum(1 for _ in rows) == 50_000


def test_rows_before_an_error_reach_other_libraries():
    data = b"?a\n" + b'"x"\n' * 1500 + b"oops\n"
    for convert in (ResultReader.to_rdflib, ResultReader.to_oxigraph):
        rows = 0
        with pytest.raises(rdfm.DecodeError, match="line 1502"):
            for _ in convert(rdfm.open_log(data, "results-tsv", kind="results")):
                rows += 1
        assert rows == 1500


def test_rows_of_other_libraries_before_an_error_are_returned():
    truncated = pyoxigraph.parse_query_results(
        b'{"head":{"vars":["a"]},"results":{"bindings":[{},{},oops',
        pyoxigraph.QueryResultsFormat.JSON,
    )
    rows = []
    with pytest.raises(SyntaxError):
        rows.extend(ResultReader.from_oxigraph(truncated))
    assert rows == [(None,), (None,)]
    result = rdflib.query.Result("SELECT")
    result.vars = [rdflib.Variable("a")]
    result.bindings = [{}, {rdflib.Variable("a"): rdflib.Variable("b")}]
    with pytest.raises(UnsupportedError, match="Variable"):
        rows.extend(ResultReader.from_rdflib(result))
    assert rows == [(None,)] * 3


def test_results_can_be_read_only_once():
    results = reader(CELLS)
    list(results)
    for convert in (results.to_rdflib, results.to_oxigraph):
        with pytest.raises(ValueError, match="read to the end"):
            convert()
