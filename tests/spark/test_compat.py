"""Features that some versions of PySpark lack."""

import pytest
from pyspark.sql.types import StructField, StructType

from rdfm import OptionError
from rdfm.spark import compat
from rdfm.spark.schema import QUADS
from rdfm.spark.streams import stream
from rdfm.spark.streams.stream import LogSourceStreamReader
from rdfm.spark.writers.writer import LogSourceStreamWriter


def test_limits_per_trigger_are_rejected_if_spark_does_not_support_them(tmp_path, monkeypatch):
    monkeypatch.setattr(stream, "HAS_READ_LIMITS", False)
    options = {"path": str(tmp_path), "stateLocation": str(tmp_path / "_state")}
    for name in ("maxFilesPerTrigger", "maxBytesPerTrigger"):
        with pytest.raises(OptionError, match=r"need PySpark 4\.2 or newer.*read_stream"):
            LogSourceStreamReader({**options, name: "1"})
    (tmp_path / "a.nq").write_text('<a:s> <a:p> "1" .\n')
    reader = LogSourceStreamReader(options)
    # PySpark before 4.2 passes neither the start nor a limit.
    assert reader.latestOffset() == reader.latestOffset(reader.initialOffset())
    assert reader.latestOffset()["files"] == 1


def test_a_sink_is_rejected_if_spark_cannot_pass_arrow_batches(tmp_path, monkeypatch):
    monkeypatch.setattr(compat, "_HAS_SINK", False)
    schema = StructType([StructField("quads", QUADS)])
    with pytest.raises(OptionError, match=r"needs PySpark 4\.1 or newer.*foreachBatch"):
        LogSourceStreamWriter({"path": str(tmp_path / "out"), "to": "nq"}, schema, False)
    assert not (tmp_path / "out").exists()


def test_other_registration_errors_are_not_hidden():
    class Registration:
        def register(self, source):
            raise RuntimeError(self.text)

    class Session:
        dataSource = Registration()

    Session.dataSource.text = "[DATA_SOURCE_ALREADY_EXISTS] Data source 'rdfm' already exists"
    from pyspark_rdfm import DefaultSource

    compat.register_source(Session(), DefaultSource)
    Session.dataSource.text = "no connection"
    with pytest.raises(RuntimeError, match="no connection"):
        compat.register_source(Session(), DefaultSource)
