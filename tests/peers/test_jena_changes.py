"""Patches exchanged with Jena in both directions, as text and as Thrift."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from logs import logs
from rdf_patch import patches_of, rows_of_text
from samples import lowercase_languages
from support import as_term, as_tuple

from rdfm import formats
from rdfm._core import PatchBatch

pytestmark = pytest.mark.peers

FORMATS = {"rdfp": "rdf-patch", "trp": "rdf-patch-thrift"}
NO_TERMS = (None,) * 4


@st.composite
def patches(draw):
    """Draws patch logs that Jena supports.

    Each patch begins with a header and is one transaction. Prefixes have no graph.
    """
    found = []
    for number, message in enumerate(draw(logs(graphs=True, plain="terms"))):
        rows = [("H", "id", None, None, ("iri", f"uuid:{number}"), None), ("TX", None, *NO_TERMS)]
        for quad in message:
            rows.append((draw(st.sampled_from("AD")), None, *quad))
        rows.append((draw(st.sampled_from(["TC", "TA"])), None, *NO_TERMS))
        found.append(rows)
    return found


def encoded(name, log):
    rows = [[(*row[:2], *map(as_term, row[2:])) for row in patch] for patch in log]
    return formats.find(FORMATS[name]).encode(PatchBatch.from_patches(rows))


def decoded(name, data):
    batch = formats.find(FORMATS[name]).decode(data)
    return [
        [(*row[:2], *map(as_tuple, row[2:])) for row in batch.operations(at)]
        for at in range(len(batch))
    ]


def read_with_jena(jvm, name, data):
    """Returns the patches that Jena reads."""
    return patches_of(rows_of_text(jvm.convert(data, name, "rows").decode()))


def as_jena_changes(log):
    """Changes a log as Jena does.

    Jena lowercases language tags, and its Thrift format lacks base directions.
    """
    return [
        [
            (*row[:2], *terms)
            for row, terms in zip(
                patch,
                lowercase_languages([[row[2:] for row in patch]], directions=False)[0],
                strict=True,
            )
        ]
        for patch in log
    ]


@pytest.mark.parametrize("name", FORMATS)
@given(log=patches())
def test_patches_round_trip_through_jena(jvm, name, log):
    expected = as_jena_changes(log)
    written = encoded(name, expected)
    assert as_jena_changes(read_with_jena(jvm, name, written)) == expected
    for other in FORMATS:
        assert as_jena_changes(decoded(other, jvm.convert(written, name, other))) == expected
