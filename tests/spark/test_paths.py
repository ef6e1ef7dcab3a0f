"""Paths in Spark, on Databricks and in cloud storage, for batches, streams and writes."""

import pytest

from rdfm import MissingExtraError, OptionError
from rdfm.spark import paths
from rdfm.spark.paths import spark_path
from rdfm.spark.readers.reader import LogSourceReader
from rdfm.spark.schema import default_schema
from rdfm.spark.streams.stream import LogSourceStreamReader
from rdfm.spark.writers.writer import LogSourceWriter


@pytest.fixture
def databricks(tmp_path, monkeypatch):
    """Folders that replace those of a Databricks machine."""
    for name, folder in (("_DBFS", "dbfs"), ("_VOLUMES", "Volumes")):
        (tmp_path / folder / "logs").mkdir(parents=True)
        monkeypatch.setattr(paths, name, str(tmp_path / folder))
    return tmp_path / "dbfs"


def test_a_databricks_path_is_the_same_in_batches_streams_and_writes(databricks, tmp_path):
    (databricks / "logs/a.nq").write_text('<a:s> <a:p> "1" .\n')
    path, found = "dbfs:/logs", str(databricks / "logs")
    reader = LogSourceReader({"path": path})
    assert reader.paths == [found]
    assert [file.path for file in reader.find_files()] == [f"{found}/a.nq"]
    stream = LogSourceStreamReader({"path": path, "stateLocation": "dbfs:/state"})
    assert stream.latestOffset(stream.initialOffset())["files"] == 1
    assert (databricks / "state/list.json").exists()
    writer = LogSourceWriter({"path": "dbfs:/out", "to": "nq"}, default_schema(), False)
    assert writer.plan.path == str(databricks / "out")


def test_a_databricks_path_is_rejected_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "_DBFS", str(tmp_path / "none"))
    monkeypatch.setattr(paths, "_VOLUMES", str(tmp_path / "none"))
    text = "this machine has no folder .*none; on Databricks, serverless compute supports only /Volumes"
    for path in ("dbfs:/logs", "dbfs:/Volumes/a/b"):
        with pytest.raises(OptionError, match=text):
            LogSourceReader({"path": path})
        with pytest.raises(OptionError, match=text):
            LogSourceStreamReader({"path": str(tmp_path), "stateLocation": path})
        with pytest.raises(OptionError, match=text):
            LogSourceWriter({"path": path, "to": "nq"}, default_schema(), False)


def test_a_missing_package_for_azure_urls_is_named():
    with pytest.raises(MissingExtraError, match=r"abfss://c@a/logs needs another package.*adlfs"):
        LogSourceReader({"path": "abfss://c@a/logs"}).find_files()


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("file:/logs/a b%20+é.nq", "/logs/a b%20+é.nq"),
        ("file:///logs/a.nq", "/logs/a.nq"),
        ("s3a://bucket/a b%20#.nq", "s3://bucket/a b%20#.nq"),
        ("s3n://bucket/a.nq", "s3://bucket/a.nq"),
        ("hdfs://host:8020/a.nq", "hdfs://host:8020/a.nq"),
        ("gs://bucket/s3a://a.nq", "gs://bucket/s3a://a.nq"),
        ("dbfs:/logs/a b%20.nq", "/dbfs/logs/a b%20.nq"),
        ("dbfs:/Volumes/one/two/three/a.nq", "/Volumes/one/two/three/a.nq"),
        ("dbfs:/VolumesOfMine/a.nq", "/dbfs/VolumesOfMine/a.nq"),
        ("dbfs://host/a.nq", "dbfs://host/a.nq"),
    ],
)
def test_spark_paths_are_translated_without_decoding(path, expected):
    assert spark_path(path) == expected
