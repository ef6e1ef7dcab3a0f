"""Name lists of `inspect` are bounded, cut off at `top`, and do not depend on batch boundaries."""

import io

import pytest

import rdfm
from rdfm import Iri, Literal, Message, Quad

TABLE_SIZE = 16_384


def quads(numbers):
    return "".join(f'<urn:s> <urn:p{n}> "x"^^<urn:d{n}> .\n' for n in numbers).encode()


def test_the_most_frequent_names_are_listed():
    log = quads([*range(30), 3, 3, 20])
    report = rdfm.inspect(log, "nq", top=2)
    assert report.predicates == {"urn:p3": 3, "urn:p20": 2}
    assert report.datatypes == {"urn:d3": 3, "urn:d20": 2}
    assert (report.more, report.others) == ({"predicates": 28, "datatypes": 28}, {})
    assert rdfm.inspect(log, "nq", top=0).more["predicates"] == 30
    with pytest.raises(rdfm.OptionError, match="top is -1, expected 0 or more"):
        rdfm.inspect(log, "nq", top=-1)


@pytest.mark.parametrize("batch", [1, 100, 8192])
def test_names_beyond_the_table_size_are_counted_together(batch):
    log = quads([*range(TABLE_SIZE + 100), *range(50)])
    report = rdfm.inspect(log.replace(b".\n", b".\n# @message\n"), "nq", batch_messages=batch)
    assert set(report.predicates.values()) == {2}
    assert report.more["predicates"] == TABLE_SIZE - 10
    assert report.others["predicates"] == 100


def test_the_number_of_header_keys_is_bounded():
    lines = [f"H key{n} <urn:v> .\n" for n in range(TABLE_SIZE + 5)]
    log = "".join([*lines, "H id <urn:1> .\n", "TX .\nTC .\n"]).encode()
    report = rdfm.inspect(log, "rdf-patch")
    assert len(report.headers) == 10
    assert (report.more["headers"], report.others["headers"]) == (TABLE_SIZE - 10, 6)
    assert (report.links, report.broken_links) == (0, 0)


def test_metadata_keys_are_counted_once_per_message():
    file = io.BytesIO()
    with rdfm.create_log(file, "jelly") as out:
        for n in range(40):
            metadata = {"every": b"1", f"key{n % 20}": b"2"}
            out.write(Message([Quad(Iri("urn:s"), Iri("urn:p"), Literal("o"))], metadata=metadata))
    report = rdfm.inspect(file.getvalue(), "jelly", top=3)
    assert report.metadata == {"every": 40, "key0": 2, "key1": 2}
    assert report.more["metadata"] == 18
