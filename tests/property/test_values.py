"""Random messages converted to values and back, in each message format."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from logs import logs
from support import NATIVE, TABLES, as_batch, assert_same, ordered, quads_of

import rdfm
from rdfm import decode_values, encode_values, formats

pa = pytest.importorskip("pyarrow")


@pytest.mark.parametrize("name", [*NATIVE, *TABLES])
@given(data=st.data())
def test_values_round_trip(name, data):
    format = formats.find(name).spec
    carries = format.carries
    log = data.draw(
        logs(
            graphs=carries["graphs"],
            generalized=False,
            triples=carries["triple_terms"] != "no",
            any_text=carries["any_text"],
        )
    )
    all_options = {"generalized": True, "rdf_star": True}
    writing = {key: value for key, value in all_options.items() if key in format.writes}
    reading = {key: value for key, value in all_options.items() if key in format.reads}
    quads = pa.record_batch(as_batch(log))["quads"]
    values = encode_values(name, quads, **writing)
    table = pa.record_batch({"quads": pa.array(decode_values(name, values, **reading))})
    batch = rdfm.MessageBatch.from_arrow(table)
    found = [quads_of(batch, at) for at in range(len(batch))]
    assert_same(found, log, order=ordered(name))
