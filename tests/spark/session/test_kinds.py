"""Patches and results in a real session."""

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import functions as F

import rdfm
import rdfm.spark
from rdfm import Iri, Literal
from rdfm.spark.functions import from_rdf, to_rdf

PATCH = "TX .\nA <http://e/s> <http://e/p> {} .\nTC .\n"


@pytest.fixture
def patches(tmp_path):
    """A folder with two logs, each with two patches."""
    folder = tmp_path / "patches"
    folder.mkdir()
    for name in ("a", "b"):
        text = "Z .\n".join(PATCH.format(f'"{name}{number}"') for number in range(2))
        (folder / f"{name}.rdfp").write_text(text)
    return folder


def objects(frame):
    rows = frame.select(F.explode("operations").alias("o")).where("o.op = 'A'")
    return sorted(row[0] for row in rows.select("o.object").collect())


OBJECTS = ['"a0"', '"a1"', '"b0"', '"b1"']


@pytest.mark.parametrize("to", ["jelly-patch", "parquet"])
def test_patches_are_read_and_written(spark, tmp_path, patches, to):
    frame = spark.read.format("rdfm").load(str(patches))
    assert frame.columns == ["source", "byte_offset", "operations", "metadata"]
    assert objects(frame) == OBJECTS
    out = str(tmp_path / "out")
    frame.write.format("rdfm").option("to", to).mode("append").save(out)
    assert objects(spark.read.format("rdfm").load(out)) == OBJECTS
    with rdfm.open_log(out, kind="patches") as log:
        assert sum(len(patch.adds) for patch in log) == 4
    with pytest.raises(
        Exception, match="the column operations contains patches, but N-Quads is for messages"
    ):
        frame.write.format("rdfm").option("to", "nq").mode("append").save(str(tmp_path / "no"))


def test_patches_are_converted_to_values_and_back(spark, patches):
    frame = rdfm.spark.read(spark, patches)
    values = frame.select(to_rdf("operations", "jelly-patch").alias("value"))
    restored = values.select(from_rdf("value", "jelly-patch").alias("operations"))
    assert objects(restored) == OBJECTS


def test_patches_can_be_streamed(spark, tmp_path, patches):
    frame = rdfm.spark.read_stream(spark, patches, format="rdf-patch")
    query = (
        frame.writeStream.format("rdfm")
        .option("to", "rdf-patch")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(tmp_path / "out"))
    )
    query.awaitTermination()
    assert objects(spark.read.format("rdfm").load(str(tmp_path / "out"))) == OBJECTS


def test_result_variables_are_columns(spark, tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    for name, variables in (("1.srj", ["name", "age"]), ("2.srt", ["age", "name"])):
        with rdfm.create_log(folder / name, kind="results", variables=variables) as results:
            results.write([Iri(f"http://e/{variable}") for variable in variables])
            results.write([Literal(variables[0]), None])
    frame = spark.read.format("rdfm").load(str(folder))
    assert frame.schema.simpleString() == "struct<name:string,age:string>"
    rows = sorted(map(tuple, frame.collect()), key=str)
    bound_row = ("<http://e/name>", "<http://e/age>")
    assert rows == sorted([bound_row, ('"name"', None), bound_row, (None, '"age"')], key=str)
    ages = spark.read.format("rdfm").schema("age string").load(str(folder))
    assert ages.where("age is not null").count() == 3
    with pytest.raises(AnalysisException, match="there is no variable 'x' in the results"):
        spark.read.format("rdfm").schema("x string").load(str(folder)).collect()
    with pytest.raises(AnalysisException, match="results cannot be read as a stream"):
        (
            spark.readStream.format("rdfm")
            .option("format", "results-json")
            .option("stateLocation", str(tmp_path / "state"))
            .load(str(folder))
        )
