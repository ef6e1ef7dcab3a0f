"""Hashes of messages in Spark: the function `rdf_hash`, in Python and SQL."""

import pytest
from pyspark.errors import PythonException
from pyspark.sql import functions as F

import rdfm
import rdfm.spark
from rdfm import OptionError
from rdfm.spark.functions import rdf_hash, register_functions
from rdfm.spark.schema import QUADS

LOG = b"""_:a <x:p> _:b .
_:b <x:p> "x"@EN .
# @message
<x:s> <x:p> <x:o> <x:g> .
# @message
# @message
_:z <x:p> "x"@EN .
_:y <x:p> _:z .
"""


@pytest.fixture(scope="module")
def messages(spark, tmp_path_factory):
    """The messages of the log, and a row without quads."""
    path = tmp_path_factory.mktemp("logs") / "log.nq"
    path.write_bytes(LOG)
    register_functions(spark)
    frame = rdfm.spark.read(spark, path, columns=["message_index", "quads"])
    null = spark.sql(f"SELECT bigint(9) AS message_index, cast(null AS {QUADS.simpleString()})")
    return frame.union(null)


def test_hashes_equal_those_of_python(messages):
    expected = {each.message_index: each.hash for each in rdfm.hash(LOG, "nq")} | {9: None}
    for function in (rdf_hash("quads"), F.expr("rdf_hash(quads)")):
        rows = messages.select("message_index", function.alias("hash")).collect()
        assert {row.message_index: row.hash for row in rows} == expected


def test_equal_messages_are_grouped_and_counted(messages):
    counts = messages.groupBy(rdf_hash("quads").alias("hash")).count().collect()
    assert sorted(row["count"] for row in counts) == [1, 1, 1, 2]
    distinct = messages.select(F.count_distinct(rdf_hash("quads"))).first()
    assert tuple(distinct) == (3,)


def test_a_message_that_needs_too_many_steps_fails_the_query(spark, tmp_path):
    clique = "".join(f"_:b{a} <x:p> _:b{b} .\n" for a in range(9) for b in range(9) if a != b)
    (tmp_path / "log.nq").write_text(clique)
    frame = rdfm.spark.read(spark, tmp_path / "log.nq")
    with pytest.raises(PythonException, match="more than 1000 steps; a larger max_steps allows it"):
        frame.select(rdf_hash("quads", max_steps=1000)).collect()
    with pytest.raises(OptionError, match="max_steps must be a number >= 1"):
        rdf_hash("quads", max_steps=0)


def test_only_columns_of_quads_have_hashes(spark):
    with pytest.raises(PythonException, match="column quads: expected a list of structs"):
        spark.sql("SELECT rdf_hash('a')").collect()
