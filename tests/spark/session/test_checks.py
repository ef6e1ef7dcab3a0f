"""Validation, statistics and differences of logs, and `resplit`, in Spark."""

import dataclasses
import json

import pytest
from parts import remaining_files, visible_files
from pyspark.sql import functions as F
from samples import generated

import rdfm
import rdfm.spark
from rdfm import OptionError

INVALID_LOG = '<http://e/s> <http://e/p> "x"^^<http://www.w3.org/2001/XMLSchema#integer> .\n# @message\noops\n'


def write(path, kind, count, **options):
    with rdfm.create_log(path, **options) as log:
        for text in generated(kind, count):
            with rdfm.open_log(text.encode(), "nq") as source:
                log.write(next(iter(source)))


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """A log that is split, a small log, and an invalid log."""
    folder = tmp_path_factory.mktemp("logs")
    write(folder / "a.nq", "nanopubs", 60)
    write(folder / "b.jelly", "nanopubs", 20)
    (folder / "c.nt").write_text(INVALID_LOG)
    return folder


@pytest.mark.feature("`validate`, `statistics`, `diff`, `resplit`")
def test_findings_equal_those_of_validate(spark, logs):
    expected = [
        (
            found.source,
            found.severity,
            found.rule,
            found.message_index,
            found.byte_offset,
            found.line,
            found.column,
        )
        for path in sorted(logs.iterdir())
        for found in rdfm.validate(path)
    ]
    rows = rdfm.spark.validate(logs, spark=spark).collect()
    found = [
        (
            row.source,
            row.severity,
            row.rule,
            row.message_index,
            row.byte_offset,
            row.line,
            row["column"],
        )
        for row in rows
    ]
    assert found == expected
    assert {"ill-typed-literal", "syntax"} <= {row.rule for row in rows}
    (text,) = {row.text for row in rows if row.rule == "ill-typed-literal"}
    assert "'x' is not a valid xsd:integer" in text


def test_omitted_warnings_are_counted(spark, tmp_path):
    line = INVALID_LOG.splitlines()[0]
    other = line.replace('"x"', '"y"')
    (tmp_path / "log.nt").write_text(f"{line}\n{other}\n")
    rows = rdfm.spark.validate(tmp_path, spark=spark, max_warnings=1).collect()
    assert [row.severity for row in rows] == ["warning", "warning"]
    assert rows[1].text.startswith("1 more finding of this rule")
    rows = rdfm.spark.validate(tmp_path, spark=spark, max_warnings=1, strict=True).collect()
    assert [(row.severity, row.line) for row in rows] == [("error", 1), ("error", 2)]


def test_rows_are_validated(spark, logs):
    valid = rdfm.spark.read(
        spark, logs / "c.nt", mode="DROPMALFORMED", columns=["source", "byte_offset", "quads"]
    )
    invalid = valid.withColumn("byte_offset", F.lit(7).cast("bigint")).withColumn(
        "quads", F.transform("quads", lambda quad: quad.withField("subject", F.lit("oops")))
    )
    rows = rdfm.spark.validate(invalid.unionAll(valid)).orderBy("byte_offset").collect()
    assert [(row.byte_offset, row.severity, row.rule) for row in rows] == [
        (0, "warning", "ill-typed-literal"),
        (7, "error", "syntax"),
    ]
    assert {row.source for row in rows} == {str(logs / "c.nt")}
    with pytest.raises(OptionError, match="validate needs paths, or rows with a column quads"):
        rdfm.spark.validate(spark.range(3))


def check_equal(found, expected, *, ignored=()):
    """Checks that statistics are equal; ratios may differ in their last digits."""
    found, expected = numbers_of(found), numbers_of(expected)
    for name in ignored:
        del found[name], expected[name]
    density = expected["series"].pop("byte_density")
    assert found["series"].pop("byte_density") == pytest.approx(density)
    assert found == expected


def numbers_of(statistics):
    values = dataclasses.asdict(statistics)
    for name in ("source", "format", "logs", "bytes", "sha256", "notes"):
        del values[name]
    return values


@pytest.mark.feature("`validate`, `statistics`, `diff`, `resplit`")
def test_statistics_equal_those_of_one_process(spark, logs, tmp_path):
    path = logs / "a.nq"
    expected = rdfm.statistics(path, top=None)
    found = rdfm.spark.statistics(path, spark=spark, top=None, split_bytes=4096)
    assert found.bytes == path.stat().st_size
    assert (found.format, found.logs, found.source) == ("nq", 1, str(path))
    check_equal(found, expected)
    from_rows = rdfm.spark.statistics(rdfm.spark.read(spark, path), top=None)
    check_equal(from_rows, expected, ignored=["prefixes"])
    rdfm.convert([path, logs / "b.jelly"], tmp_path / "both.nq")
    combined = rdfm.spark.statistics([path, logs / "b.jelly"], spark=spark)
    assert (combined.format, combined.logs) == ("nq, jelly", 2)
    assert combined.distinct == rdfm.statistics(tmp_path / "both.nq").distinct
    assert combined.quads_per_message == rdfm.statistics(tmp_path / "both.nq").quads_per_message


def test_statistics_report_the_first_error(spark, logs):
    found = rdfm.spark.statistics([logs / "c.nt", logs / "b.jelly"], spark=spark)
    assert found.messages == 21
    assert "c.nt" in found.error
    json.dumps(found.to_dict())


@pytest.mark.feature("`validate`, `statistics`, `diff`, `resplit`")
def test_differing_messages_are_found_in_any_order(spark, logs, tmp_path):
    with rdfm.open_log(logs / "a.nq") as log:
        messages = list(log)
    other_messages = [
        *messages[40:],
        *messages[:39],
        messages[0],
        [rdfm.Quad(*[rdfm.Iri("http://e/new")] * 3)],
    ]
    (tmp_path / "b").mkdir()
    with rdfm.create_log(tmp_path / "b/log.jelly") as log:
        for message in other_messages:
            log.write(message)
    rows = rdfm.spark.diff(logs / "a.nq", tmp_path / "b", spark=spark, split_bytes=4096).collect()
    sides = [row.side for row in rows]
    assert sorted(sides) == ["a", "b", "b"]
    (missing,) = [row for row in rows if row.side == "a"]
    assert missing.source == str(logs / "a.nq")
    rows_of_a = rdfm.spark.read(spark, logs / "a.nq", columns=["byte_offset", "quads"])
    (quads,) = [
        row.quads for row in rows_of_a.where(f"byte_offset = {missing.byte_offset}").collect()
    ]
    assert len(quads) == len(messages[39])
    assert not any(row.undecided for row in rows)
    a, b = rdfm.spark.read(spark, logs / "a.nq"), rdfm.spark.read(spark, tmp_path / "b")
    assert sorted(row.side for row in rdfm.spark.diff(a, b).collect()) == sorted(sides)
    assert rdfm.spark.diff(a, str(logs / "a.nq"), spark=spark).count() == 0


@pytest.mark.feature("`validate`, `statistics`, `diff`, `resplit`")
def test_resplit_writes_logs_that_can_be_split(spark, tmp_path):
    write(tmp_path / "plain.jelly", "nanopubs", 400, restart_bytes=0)
    write(tmp_path / "other.nq.gz", "nanopubs", 10)
    logs = [tmp_path / "other.nq.gz", tmp_path / "plain.jelly"]

    def splits(paths):
        return rdfm.spark.read(
            spark, paths, split_bytes=8192, min_partitions=1
        ).rdd.getNumPartitions()

    assert splits(logs) == 2
    rdfm.spark.resplit(spark, logs, tmp_path / "out", restart_bytes=4096)
    assert len(visible_files(tmp_path / "out")) == 2
    assert remaining_files(tmp_path / "out") == []
    assert splits(tmp_path / "out") > 5
    assert rdfm.spark.diff(logs, tmp_path / "out", spark=spark).count() == 0
    rdfm.spark.resplit(spark, logs[0], tmp_path / "out", to="nq", mode="overwrite")
    (part,) = visible_files(tmp_path / "out")
    assert part.suffix == ".nq"
    with pytest.raises(OptionError, match="Turtle cannot be split; set the option 'to' to one of"):
        rdfm.spark.resplit(spark, logs, tmp_path / "out", to="ttl")
    with pytest.raises(Exception, match=r"c\.nt"):
        (tmp_path / "c.nt").write_text("oops")
        rdfm.spark.resplit(spark, tmp_path / "c.nt", tmp_path / "out")
    assert visible_files(tmp_path / "out") == [part]
    assert remaining_files(tmp_path / "out") == []
