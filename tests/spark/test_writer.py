"""Log output and cleanup of write drivers, without a session."""

import re

import pytest

pytest.importorskip("pyspark")
import pyarrow

from rdfm.spark import writer as module
from rdfm.spark.schema import default_schema
from rdfm.spark.writer import LogSourceStreamWriter, LogSourceWriter

QUAD = {"subject": "_:s", "predicate": "<http://ex/p>", "object": "_:o", "graph": None}


def rows():
    return iter([pyarrow.RecordBatch.from_pylist([{"quads": [QUAD]}])])


def writer_of(path, kind=LogSourceWriter, **options):
    return kind({"path": str(path), "to": "nq", **options}, default_schema(("quads",)), False)


def logs(path):
    return [one.name for one in path.iterdir() if not one.name.startswith("_")]


def staged(path):
    return [one.name for one in (path / "_rdfm/staging").iterdir()]


def test_a_repeated_id_is_reported_with_its_time(tmp_path, caplog):
    one, other = (writer_of(tmp_path, writeId="daily") for _ in range(2))
    one.commit([one.write(rows())])
    assert caplog.messages == []
    other.commit([other.write(rows())])
    again = writer_of(tmp_path, writeId="daily")
    again.commit([again.write(rows())])
    text = r"nothing was written, since .* writeId daily was completed on 20\d\d-\d\d-\d\d \d\d:"
    assert len(caplog.messages) == 2
    for message in caplog.messages:
        assert re.search(text, message)
    assert len(logs(tmp_path)) == 1


class Context:
    """A task of batch 3 of the query q."""

    def partitionId(self):
        return 0

    def getLocalProperty(self, name):
        return {"sql.streaming.queryId": "q", "streaming.sql.batchId": "3"}.get(name)


def test_an_aborting_driver_keeps_the_parts_of_another_driver(tmp_path, monkeypatch):
    """Both run the same batch of the same query: one was presumed dead but is alive."""
    monkeypatch.setattr(module.TaskContext, "get", Context)
    options = {"checkpointLocation": "checkpoint"}
    dead, alive = (writer_of(tmp_path, LogSourceStreamWriter, **options) for _ in range(2))
    lost, kept = dead.write(rows()), alive.write(rows())
    dead.abort([lost, None], 3)
    dead.abort([None], 3)
    assert staged(tmp_path) == [kept.job]
    alive.commit([kept], 3)
    assert len(logs(tmp_path)) == 1


def test_a_finished_batch_removes_all_its_staging_folders(tmp_path, monkeypatch):
    monkeypatch.setattr(module.TaskContext, "get", Context)
    dead, alive = (writer_of(tmp_path, LogSourceStreamWriter) for _ in range(2))
    dead.write(rows())
    alive.commit([alive.write(rows())], 3)
    assert len(logs(tmp_path)) == 1
    assert staged(tmp_path) == []


def test_a_driver_notes_how_readers_interpret_the_parts(tmp_path, caplog):
    options = {"to": "jelly", "logicalType": "flat_quads"}
    writer = writer_of(tmp_path, **options)
    two = pyarrow.RecordBatch.from_pylist([{"quads": [QUAD]}] * 2)
    writer.commit([writer.write(iter([two]))])
    assert len(caplog.messages) == 1
    assert f"{tmp_path}: flat_quads was requested: " in caplog.text
