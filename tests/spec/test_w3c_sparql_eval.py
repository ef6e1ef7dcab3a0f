"""Evaluation tests of the W3C SPARQL suites (1.0, 1.1, 1.2), through `rdfm query --whole`."""

import re
from pathlib import Path

import pytest
from sparql_suite import BASE, as_message, cases, files, is_result_set, read_results

import rdfm
from rdfm.cli import main

CASES = cases()
_LEXICAL = "the evaluator stores numbers by value, so STR returns their canonical form"
_CONCAT = "GROUP_CONCAT keeps the common language of all values"
# Skipped tests, each with the way in which the evaluator, Oxigraph, deviates.
SKIPPED = {
    "sparql10/expr-builtin/case-insensitive-booleans": "true and false are only recognized in lower case",
    "sparql10/expr-builtin/dawg-str-1": _LEXICAL,
    "sparql10/expr-builtin/dawg-str-2": _LEXICAL,
    "sparql10/graph/graph-variable-scope": "filters of a group in GRAPH ?g see ?g",
    "sparql10/open-world/date-2": "dates are compared according to XSD 1.1, including those without a time zone",
    "sparql10/optional-filter/dawg-optional-filter-005-simplified": "one of two interpretations of a query; the other one, "
    "dawg-optional-filter-005-not-simplified, is kept",
    "sparql10/sort/dawg-sort-11": "in RDF 1.1, a literal without a datatype is an xsd:string, so the order of both is undefined",
    "sparql11/aggregates/agg-groupconcat-04": _CONCAT,
    "sparql11/aggregates/agg-groupconcat-06": _CONCAT,
    "sparql11/functions/bnode01": "BNODE with a string returns a new node for each row and each call",
    "sparql12/grouping/select-variable-reuse": "with aggregates, an expression of SELECT does not see the variable "
    "of an earlier expression",
}


def test_the_suites_are_complete():
    assert len(CASES) == 660
    assert {case.reason for case in CASES} == {None, "SERVICE", "entailment"}
    assert sum(case.reason is None for case in CASES) == 583
    assert set(SKIPPED) <= {case.name for case in CASES if case.reason is None}


def base(name, path):
    """Returns the base of a file as an option, if its format supports one."""
    return {} if path.endswith((".nt", ".nq")) else {name: BASE + path}


def logs(case):
    """Yields the data as logs of one message each; named graphs are N-Quads."""
    sources = [(None, path) for path in case.data] + case.graphs
    for number, (graph, path) in enumerate(sources):
        source = Path(f"{number}.{path.rpartition('.')[2]}")
        source.write_bytes(files()[path])
        log = f"log{number}.nq"
        options = {} if graph is None else {"default_graph_as": graph}
        rdfm.convert(source, log, message_per_file=True, **options, **base("from_base", path))
        yield log
    if not sources:
        Path("empty.nq").write_bytes(b"")
        yield "empty.nq"


def run(capfd, *arguments):
    with pytest.raises(SystemExit) as exit:
        main(list(arguments))
    captured = capfd.readouterr()
    assert exit.value.code in (0, None), captured.err
    return captured.out


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_query_has_the_expected_results(case, capfd, tmp_path, monkeypatch):
    if case.reason is not None:
        pytest.skip(f"needs {case.reason}")
    if case.name in SKIPPED:
        pytest.skip(SKIPPED[case.name])
    monkeypatch.chdir(tmp_path)
    text = files()[case.query].decode()
    Path("query.rq").write_text(f"BASE <{BASE}{case.query}>\n{text}")
    arguments = ["query", "query.rq", *logs(case), "--whole", "--quiet"]
    expected = files()[case.result]
    if not is_result_set(expected, case.result):
        run(capfd, *arguments, "-o", "output.nq")
        with (
            rdfm.open_log("output.nq") as output,
            rdfm.open_log(
                expected, case.result.rpartition(".")[2], **base("base", case.result)
            ) as log,
        ):
            found = rdfm.Message({quad for message in output for quad in message})
            assert found.isomorphic(rdfm.Message({quad for message in log for quad in message}))
        return
    expected_results = read_results(expected, case.result)
    if expected_results.boolean is not None:
        assert run(capfd, *arguments) == f"{str(expected_results.boolean).lower()}\n"
        return
    suffix = "csv" if case.result.endswith(".csv") else "srt"
    run(capfd, *arguments, "-o", f"output.{suffix}")
    if suffix == "csv":
        output = read_results(Path("output.csv").read_bytes(), "output.csv")
    else:
        rdfm.convert("output.srt", "output.srj")
        output = read_results(Path("output.srj").read_bytes(), "output.srj")
    assert set(output.variables) == set(expected_results.variables)
    if case.reduced:
        output.rows, expected_results.rows = distinct(output.rows), distinct(expected_results.rows)
    # An ORDER BY in a subquery does not apply to the rows.
    ordered = (
        expected_results.ordered and re.search(r"\bORDER\s+BY\b[^}]*$", text, re.I) is not None
    )
    found, expected_message = (
        as_message(each, ordered=ordered) for each in (output, expected_results)
    )
    assert len(output.rows) == len(expected_results.rows)
    assert found.isomorphic(expected_message), (output.rows, expected_results.rows)


def distinct(rows):
    return [row for at, row in enumerate(rows) if row not in rows[:at]]
