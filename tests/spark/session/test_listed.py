"""Reading logs that a DataFrame lists, with `rdfm.spark.read(spark, files=…)`."""

import os

import pytest
from pyspark.sql import functions as F

import rdfm
import rdfm.spark
from rdfm import OptionError

LINE = '<http://e/s> <http://e/p> "{}" .\n'
COUNT = 500


@pytest.fixture
def logs(tmp_path):
    """A large log that is split, a compressed log, and small logs with unusual names."""
    folder = tmp_path / "logs"
    (folder / "sub").mkdir(parents=True)
    (folder / "large.nq").write_text("# @message\n".join(LINE.format(n) for n in range(COUNT)))
    rdfm.convert(folder / "large.nq", folder / "sub/zipped.nq.gz")
    for name in ("a b%20.nq", "é#1.trig"):
        (folder / name).write_text(LINE.format(name))
    return folder


def listing(spark, logs):
    found = spark.read.format("binaryFile").option("recursiveFileLookup", True).load(str(logs))
    return found.select("path", "length", "modificationTime")


def key(row):
    return (row.source, row.byte_offset)


@pytest.mark.feature("`read(files=…)`")
def test_listed_logs_have_the_same_rows_as_a_folder(spark, logs):
    options = {"columns": ["source", "byte_offset", "message_index", "quads"], "split_bytes": 2048}
    expected = rdfm.spark.read(spark, logs, recursive_file_lookup=True, **options)
    found = rdfm.spark.read(spark, files=listing(spark, logs), **options)
    assert found.schema == expected.schema
    rows = found.collect()
    assert sorted(rows, key=key) == sorted(expected.collect(), key=key)
    assert len(rows) == 2 * COUNT + 2
    # The large log was read by several tasks.
    tasks = found.where(F.col("source").endswith("large.nq")).select(F.spark_partition_id())
    assert tasks.distinct().count() > 1


@pytest.mark.feature("`read(files=…)`")
def test_the_list_of_files_may_be_a_stream(spark, logs, tmp_path):
    found = spark.readStream.format("binaryFile").schema(
        "path STRING, modificationTime TIMESTAMP, length BIGINT, content BINARY"
    )
    files = found.load(str(logs)).select("path", "length", "modificationTime")
    rows = rdfm.spark.read(spark, files=files, columns=["source", "byte_offset"], split_bytes=2048)
    query = (
        rows.writeStream.format("parquet")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(tmp_path / "out"))
    )
    query.awaitTermination()
    assert spark.read.parquet(str(tmp_path / "out")).distinct().count() == COUNT + 2


def test_queries_filters_and_modes_apply_to_listed_logs(spark, logs):
    files = listing(spark, logs)
    found = rdfm.spark.read(spark, files=files, query="SELECT ?o { ?s ?p ?o }", min_partitions=3)
    assert found.rdd.getNumPartitions() == 3
    assert found.count() == 2 * COUNT + 2
    filtered = rdfm.spark.read(
        spark, files=files, filter={"object": '"7"'}, columns=["message_index"]
    )
    assert [row.message_index for row in filtered.collect()] == [7, 7]
    (logs / "bad.nq").write_text(LINE.format(1) + "# @message\noops\n")
    files = listing(spark, logs).where("path LIKE '%bad.nq'")
    with pytest.raises(Exception, match="expected a statement"):
        rdfm.spark.read(spark, files=files).count()
    assert rdfm.spark.read(spark, files=files, mode="PERMISSIVE").count() == 2


def test_a_file_that_changed_is_an_error(spark, logs):
    files = listing(spark, logs).where("path LIKE '%large.nq'").persist()
    assert files.count() == 1
    os.utime(logs / "large.nq", (1, 1))
    with pytest.raises(Exception, match="The file changed after it was found"):
        rdfm.spark.read(spark, files=files).count()
    assert rdfm.spark.read(spark, files=files, changed_files="read").count() == COUNT
    without_times = files.select("path", "length")
    assert rdfm.spark.read(spark, files=without_times).count() == COUNT
    files.unpersist()


def test_columns_and_options_are_checked_at_once(spark, logs):
    files = listing(spark, logs)
    for invalid, options, reason in (
        (files.drop("length"), {}, "needs the columns path, length .* columns are path, modif"),
        (files.withColumn("length", F.lit("1")), {}, "length of files is string, not bigint"),
        (files.withColumn("modificationTime", F.lit(1)), {}, "is int, not timestamp"),
        (files, {"path_glob_filter": "*"}, "there is no option 'pathglobfilter'"),
        (files, {"columns": ["sauce"]}, "no column 'sauce'"),
    ):
        with pytest.raises(OptionError, match=reason):
            rdfm.spark.read(spark, files=invalid, **options)
    for invalid in ({}, {"paths": str(logs), "files": files}):
        with pytest.raises(
            OptionError, match=r"pass either paths, as in read\(spark, paths\), or files"
        ):
            rdfm.spark.read(spark, **invalid)
