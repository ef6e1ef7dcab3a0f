"""Writing one log from several tasks: `option("single", "true")`."""

import pytest
from parts import numbered, numbers_in, remaining_files, visible_files
from pyspark.sql import functions as F

import rdfm
import rdfm.spark


def save(frame, folder, to="nq", mode="append", **options):
    writer = frame.write.format("rdfm").option("to", to).option("single", "true")
    writer.options(**options).mode(mode).save(str(folder))


@pytest.fixture
def rows(spark):
    """Twelve messages in four partitions, of which the first and the third are empty."""
    return numbered(spark.range(0, 24, 1, 4)).where("id between 6 and 11 or id >= 18")


EXPECTED_NUMBERS = [*range(6, 12), *range(18, 24)]


@pytest.mark.parametrize(
    ("to", "options"),
    [
        ("nq", {"dialect": "directive"}),
        ("trig", {"prefixes": '{"ex": "http://ex/"}'}),
        ("jelly", {}),
        ("jelly", {"compression": "gzip"}),
        ("nq", {"compression": "zstd:3", "dialect": "directive"}),
        ("ndjsonld", {}),
        ("yamlld", {}),
    ],
)
def test_all_tasks_write_one_log(spark, rows, tmp_path, to, options):
    save(rows, tmp_path, to, **options)
    (part,) = visible_files(tmp_path)
    assert numbers_in(tmp_path) == EXPECTED_NUMBERS
    assert spark.read.format("rdfm").load(str(part)).count() == len(EXPECTED_NUMBERS)
    assert remaining_files(tmp_path) == []
    if options == {"dialect": "directive"}:
        assert part.read_text().count("VERSION") == 1


@pytest.mark.feature("`single`")
def test_the_log_keeps_the_order_of_sorted_rows(spark, rows, tmp_path):
    save(rows.orderBy(F.desc("id")), tmp_path, "jelly")
    assert len(visible_files(tmp_path)) == 1
    assert numbers_in(tmp_path) == EXPECTED_NUMBERS[::-1]


def test_a_single_log_can_overwrite_or_append(rows, tmp_path):
    save(rows, tmp_path)
    save(rows, tmp_path, mode="append", writeId="one")
    save(rows, tmp_path, mode="append", writeId="one")
    assert numbers_in(tmp_path) == [*EXPECTED_NUMBERS, *EXPECTED_NUMBERS]
    save(rows.where("id < 8"), tmp_path, "jelly", "overwrite")
    assert len(visible_files(tmp_path)) == 1
    assert numbers_in(tmp_path) == [6, 7]
    save(rows.where("id < 0"), tmp_path, "jelly", "overwrite")
    assert visible_files(tmp_path) == []
    assert remaining_files(tmp_path) == []


@pytest.mark.parametrize(
    ("to", "options", "reason"),
    [
        ("parquet", {}, "single=true cannot write parquet: "),
        ("arrow", {}, "single=true cannot write arrow: "),
        ("jsonld", {}, "single=true cannot write jsonld: "),
        ("nq", {"maxRecordsPerFile": 5}, "single and maxRecordsPerFile cannot be combined"),
    ],
)
def test_logs_that_cannot_be_joined_are_rejected(rows, tmp_path, to, options, reason):
    with pytest.raises(Exception, match=reason):
        save(rows, tmp_path, to, **options)
    assert visible_files(tmp_path) == []


def test_streams_with_the_option_single_are_rejected(spark, tmp_path):
    (tmp_path / "in").mkdir()
    rdfm.create_log(tmp_path / "in/log.nq").close()
    stream = rdfm.spark.read_stream(spark, tmp_path / "in").writeStream.format("rdfm")
    stream = stream.option("to", "nq").option("single", "true").trigger(availableNow=True)
    query = stream.option("checkpointLocation", str(tmp_path / "c")).start(str(tmp_path / "out"))
    with pytest.raises(Exception, match="single applies only to batch writes"):
        query.awaitTermination(60)
