"""Rows of queries, matched natively or evaluated, agree with pyoxigraph and rdflib."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queries import bound, messages, oxigraph_rows, queries, rdflib_rows
from support import as_batch, as_tuple

from rdfm._core import Query

logs = st.lists(messages, min_size=1, max_size=4)


def rows(text, batches, **options):
    """Returns the rows of each message, in order."""
    query, found = Query(text, **options), []
    for batch in batches:
        start, position = len(found), 0
        found += [[] for _ in range(len(batch))]
        while position < len(batch):
            part = query.solutions(batch, position)
            assert part.error is None
            for message, row in zip(part.messages, part.rows, strict=True):
                found[start + message].append(bound(query.variables, map(as_tuple, row)))
            position = part.done
    return found


def count_rows(found):
    """Returns how often each row of each message occurs."""
    return [Counter(map(frozenset, message_rows)) for message_rows in found]


@st.composite
def divided(draw, log):
    """Draws a division of a log into batches."""
    ends = draw(st.sets(st.integers(1, len(log))))
    boundaries = [0, *sorted(ends - {len(log)}), len(log)]
    return [as_batch(log[start:end], start) for start, end in pairwise(boundaries)]


@given(queries(), logs, st.booleans(), st.data())
def test_native_and_evaluated_rows_agree_for_any_batch_size(text, log, union_graphs, data):
    one_batch, batches = [as_batch(log)], data.draw(divided(log))
    expected = count_rows(rows(text, one_batch, union_graphs=union_graphs))
    for native in (True, False):
        assert count_rows(rows(text, batches, union_graphs=union_graphs, native=native)) == expected


@given(queries(), logs)
def test_rows_agree_with_pyoxigraph(text, log):
    found = count_rows(rows(text, [as_batch(log)]))
    assert found == [oxigraph_rows(text, message) for message in log]


@pytest.mark.filterwarnings("ignore:Dataset:DeprecationWarning")
@given(queries(plain=True), logs)
def test_rows_agree_with_rdflib(text, log):
    found = [set(counts) - {frozenset()} for counts in count_rows(rows(text, [as_batch(log)]))]
    assert found == [rdflib_rows(text, message) - {frozenset()} for message in log]
