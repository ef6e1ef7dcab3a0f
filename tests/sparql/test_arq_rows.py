"""Rows of queries with paths, aggregates and subqueries are those of Jena's ARQ."""

import pytest
from arq import rdfm_rows, stored_cases


@pytest.mark.parametrize("case", stored_cases(), ids=lambda case: case["query"][:60])
def test_rows_are_those_of_arq(case):
    assert rdfm_rows(case["query"], case["message"]) == case["rows"]


def test_stored_cases_cover_what_evaluators_get_wrong():
    queries = [case["query"] for case in stored_cases() if case["rows"]]
    for text in ("|", "COUNT(DISTINCT *)", "!(", ")*", "SELECT DISTINCT", "MINUS", "OPTIONAL"):
        assert sum(text in query for query in queries) >= 5, text
