"""Log messages and cleanup by the drivers of Spark writes, without a session."""

import re

import pytest

pytest.importorskip("pyspark")
import pyarrow
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructField, StructType

from rdfm import formats
from rdfm.errors import OptionError
from rdfm.spark.schema import default_schema
from rdfm.spark.writers import writer as module
from rdfm.spark.writers.writer import LogSourceStreamWriter, LogSourceWriter

QUAD = {"subject": "_:s", "predicate": "<http://ex/p>", "object": "_:o", "graph": None}


def rows():
    return iter([pyarrow.RecordBatch.from_pylist([{"quads": [QUAD]}])])


def writer_of(path, kind=LogSourceWriter, **options):
    return kind({"path": str(path), "to": "nq", **options}, default_schema(("quads",)), False)


def logs(path):
    return [file.name for file in path.iterdir() if not file.name.startswith("_")]


def staged(path):
    return [folder.name for folder in (path / "_rdfm/staging").iterdir()]


def test_a_repeated_id_is_reported_with_its_time(tmp_path, caplog):
    first, second = (writer_of(tmp_path, writeId="daily") for _ in range(2))
    first.commit([first.write(rows())])
    assert caplog.messages == []
    second.commit([second.write(rows())])
    third = writer_of(tmp_path, writeId="daily")
    third.commit([third.write(rows())])
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
    """Both drivers run the same batch of the same query, because one was presumed dead."""
    monkeypatch.setattr(module.TaskContext, "get", Context)
    options = {"checkpointLocation": "checkpoint"}
    dead, alive = (writer_of(tmp_path, LogSourceStreamWriter, **options) for _ in range(2))
    aborted_part, committed_part = dead.write(rows()), alive.write(rows())
    dead.abort([aborted_part, None], 3)
    dead.abort([None], 3)
    assert staged(tmp_path) == [committed_part.job]
    alive.commit([committed_part], 3)
    assert len(logs(tmp_path)) == 1


def test_a_finished_batch_removes_all_its_staging_folders(tmp_path, monkeypatch):
    monkeypatch.setattr(module.TaskContext, "get", Context)
    dead, alive = (writer_of(tmp_path, LogSourceStreamWriter) for _ in range(2))
    dead.write(rows())
    alive.commit([alive.write(rows())], 3)
    assert len(logs(tmp_path)) == 1
    assert staged(tmp_path) == []


def test_a_note_explains_how_readers_interpret_the_parts(tmp_path, caplog):
    options = {"to": "jelly", "logicalType": "flat_quads"}
    writer = writer_of(tmp_path, **options)
    batch = pyarrow.RecordBatch.from_pylist([{"quads": [QUAD]}] * 2)
    writer.commit([writer.write(iter([batch]))])
    assert len(caplog.messages) == 1
    assert f"{tmp_path}: flat_quads was requested: " in caplog.text


def test_partition_folders_are_found_for_every_column_and_value(tmp_path):
    import pyarrow as pa

    from rdfm.spark.readers.folders import _folders
    from rdfm.spark.writers.row_splitter import RowSplitter
    from rdfm.storage.listing import find_files

    names = ("_c", ".c", "c", "a b", "a=b", "a/b", "é")
    values = (
        "_",
        ".",
        "..",
        " ",
        "-",
        "a=b",
        "a/b",
        "\0",
        "a\0b",
        "con",
        "%",
        "A",
        "a",
        "é",
        "e\u0301",
    )
    splitter = RowSplitter(names, None)
    rows = pa.table({name: list(values) for name in names}).to_batches()[0]
    folders = [folder for folder, _ in splitter._group_rows(rows)]
    for folder in folders:
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "part-00000.nq").touch()
    found, _ = find_files([str(tmp_path)], partitions=True)
    columns = [_folders(file.path.removeprefix(str(tmp_path))) for file in found]
    assert {tuple(name for name, _ in each) for each in columns} == {names}
    assert len(columns) == len(values)


def test_names_of_columns_and_fields_are_compared_like_those_of_spark(tmp_path):
    quad = {name.title(): term for name, term in {**QUAD, "graph": "<a:g>"}.items()}
    batch = pyarrow.RecordBatch.from_pylist([{"other": 1, "QUADS": [quad], "Day": "1"}])
    schema = from_arrow_schema(batch.schema)
    writer = LogSourceWriter(
        {"path": str(tmp_path), "to": "nq", "partitionColumns": "day"}, schema, False
    )
    writer.commit([writer.write(iter([batch]))])
    (log,) = tmp_path.glob("Day=1/*.nq")
    assert log.read_text() == "_:s <http://ex/p> _:o <a:g> .\n"
    both = StructType([*default_schema(("quads",)), StructField("Quads", schema["QUADS"].dataType)])
    assert module.columns_of(both, formats.nq.spec) == ("quads",)  # the equal name
    both = StructType([*schema, StructField("Quads", schema["QUADS"].dataType)])
    with pytest.raises(OptionError, match="QUADS, Quads, which differ only in case"):
        module.columns_of(both, formats.nq.spec)
