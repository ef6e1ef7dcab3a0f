"""Nanopublications in Spark: the function `nanopub`, which returns a struct for each row."""

import nanopubs
import pytest
from nanopubs import BASE, DCTERMS, NPX, iri, triple
from pyspark.sql import functions as F

import rdfm.spark
from rdfm import nanopub
from rdfm.nanopub.listing import NanopubRow
from rdfm.spark import functions as R

NANOPUB_IRI = BASE + "1"
OTHER_MESSAGE = [(*triple("http://e/s", "http://e/p", "http://e/o"), iri("http://e/g"))]


@pytest.fixture
def path(tmp_path):
    info = [
        triple(NANOPUB_IRI, DCTERMS + "creator", "https://orcid.org/1"),
        triple(NANOPUB_IRI, DCTERMS + "creator", "https://orcid.org/2"),
        triple(NANOPUB_IRI, NPX + "supersedes", BASE + "0"),
    ]
    two_nanopubs = [*nanopubs.nanopub(BASE + "2"), *nanopubs.nanopub(BASE + "3")]
    log = [nanopubs.nanopub(NANOPUB_IRI, info=info), OTHER_MESSAGE, two_nanopubs, nanopubs.trusty()]
    path = tmp_path / "log.nq"
    path.write_bytes(nanopubs.nq(*log))
    return path


@pytest.mark.feature("`nanopub`")
def test_structs_equal_the_rows_of_nanopub_list(spark, path):
    frame = spark.read.format("rdfm").load(str(path))
    found = (
        frame.select("byte_offset", R.nanopub("quads").alias("n")).orderBy("byte_offset").collect()
    )
    with nanopub.list(path) as rows:
        expected = {row.message_index: row for row in rows}
    assert [each.n is None for each in found] == [False, True, True, False]
    for index in (0, 3):
        assert found[index].n.asDict() == {
            name: value
            for name, value in zip(NanopubRow._fields, expected[index], strict=True)
            if name not in ("source", "message_index")
        }


def test_null_quads_remain_null(spark, path):
    frame = rdfm.spark.read(spark, path, columns=["message_index", "quads"])
    quads = F.when(F.col("message_index") == 3, F.col("quads")).alias("quads")
    found = (
        frame.select(R.nanopub(quads).alias("n"), "message_index")
        .orderBy("message_index")
        .collect()
    )
    assert [each.n is None for each in found] == [True, True, True, False]


def test_creators_can_be_counted(spark, path):
    frame = spark.read.format("rdfm").load(str(path))
    creators = frame.select(R.nanopub("quads").alias("n")).select(
        F.explode("n.creators").alias("c")
    )
    found = {row.c: row["count"] for row in creators.groupBy("c").count().collect()}
    assert found == {"https://orcid.org/1": 1, "https://orcid.org/2": 1}
