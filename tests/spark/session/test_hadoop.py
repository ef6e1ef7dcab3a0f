"""The functions of `rdfm.spark` use a session's Hadoop settings, and Spark shows no credentials."""

import json

import pytest

import rdfm.spark
from rdfm import OptionError
from rdfm.spark.hadoop import add_hadoop_settings, find_storage_options

QUADS = "quads array<struct<subject: string, predicate: string, object: string, graph: string>>"


@pytest.fixture
def settings(spark):
    """The Hadoop settings of the session, with credentials for S3."""
    found = spark.sparkContext._jsc.hadoopConfiguration()
    values = {"access.key": "K1", "secret.key": "hidden-value", "bucket.other.access.key": "K2"}
    for name, value in values.items():
        found.set(f"fs.s3a.{name}", value)
    yield found
    for name in values:
        found.unset(f"fs.s3a.{name}")


@pytest.mark.feature("read logs")
def test_hadoop_settings_are_used_for_urls(spark, settings, tmp_path):
    keys = {"key": "K1", "secret": "hidden-value"}
    assert find_storage_options(spark, ["s3a://bucket/x"], {}) == keys
    assert find_storage_options(spark, [str(tmp_path)], {}) == {}
    assert find_storage_options(spark, ["s3://bucket/x"], {"anon": True}) == {"anon": True}
    assert find_storage_options(spark, ["s3://b/x"], {"use_ssl": False}) == keys | {
        "use_ssl": False
    }
    with pytest.raises(OptionError, match="different Hadoop settings"):
        find_storage_options(spark, ["s3://bucket/x", "s3://other/x"], {})
    options = add_hadoop_settings(spark, ["s3://b/x"], {"to": "nq", "storageOptions": '{"a": 1}'})
    assert json.loads(options.pop("secretStorageOptions")) == keys | {"a": 1}
    assert options == {"to": "nq"}
    spark.conf.set("spark.hadoop.fs.s3a.endpoint.region", "r")
    try:
        assert find_storage_options(spark, ["s3://b/x"], {})["client_kwargs"] == {
            "region_name": "r"
        }
    finally:
        spark.conf.unset("spark.hadoop.fs.s3a.endpoint.region")


@pytest.mark.feature("write logs")
def test_plans_show_no_credentials(spark, tmp_path):
    frame = spark.createDataFrame([([("<a:s>", "<a:p>", "<a:o>", None)],)], QUADS)
    secret = {"storage_options": {"key": "hidden-value"}}
    rdfm.spark.write(frame, tmp_path / "out", "nq", **secret)
    read = rdfm.spark.read(spark, tmp_path / "out", **secret)
    read.collect()
    executions = spark._jsparkSession.sharedState().statusStore().executionsList()
    plans = [executions.apply(n).physicalPlanDescription() for n in range(executions.size())]
    assert any("secretStorageOptions" in plan or "rdfm" in plan for plan in plans)
    plans.append(read._jdf.queryExecution().toString())
    assert not any("hidden-value" in plan for plan in plans)
