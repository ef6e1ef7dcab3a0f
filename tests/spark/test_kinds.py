"""Patches and results as rows for Spark, without a session."""

import pytest

pytest.importorskip("pyspark")

import pyarrow
from pyspark.sql.types import IntegerType, LongType, StringType, StructField, StructType

import rdfm
import rdfm.spark
from rdfm import DecodeError, Iri, Literal, OptionError
from rdfm.spark.readers.reader import LogSourceReader
from rdfm.spark.readers.rows import SparkReading
from rdfm.spark.schema import OPERATIONS, QUADS, default_schema
from rdfm.spark.spark_options import Options
from rdfm.spark.streams.stream import LogSourceStreamReader
from rdfm.spark.writers.writer import LogSourceWriter

PATCH = "TX .\nA <http://e/s> <http://e/p> {} .\nTC .\n"
LINE = "<http://e/s> <http://e/p> <http://e/o> .\n"


def patches(path, *values):
    path.write_text("Z .\n".join(PATCH.format(f'"{value}"') for value in values))
    return path


def results(path, variables, *rows):
    with rdfm.create_log(path, kind="results", variables=variables) as out:
        for row in rows:
            out.write(row)
    return path


def read(path, schema=None, **options):
    """Returns all rows of a read."""
    reader = LogSourceReader({"path": str(path), **options}, schema)
    tasks = reader.partitions()
    batches = [batch for task in tasks for batch in reader.read(task)]
    return [row for batch in batches for row in batch.to_pylist()]


def schema_of(path, **options):
    return LogSourceReader({"path": str(path), **options}).schema


def test_patch_rows_have_operations(tmp_path):
    path = patches(tmp_path / "log.rdfp", 1, 2)
    assert schema_of(path) == default_schema(kind="patches")
    assert schema_of(path).fieldNames() == ["source", "byte_offset", "operations", "metadata"]
    rows = read(path)
    assert [row["byte_offset"] for row in rows] == [0, path.read_bytes().index(b"TX", 1)]
    assert {row["source"] for row in rows} == {str(path)}
    assert [operation["op"] for operation in rows[1]["operations"]] == ["TX", "A", "TC"]
    assert rows[1]["operations"][1]["object"] == '"2"'


@pytest.mark.parametrize("name", ["rdf-patch", "jelly-patch", "rdf-patch-thrift"])
def test_the_format_determines_the_kind_without_opening_files(tmp_path, name):
    reading = SparkReading.from_options(Options({"format": name}))
    assert (reading.kind, reading.schema) == ("patches", default_schema(kind="patches"))


def test_the_columns_of_a_table_determine_its_kind(tmp_path):
    for suffix in ("parquet", "arrow"):
        rdfm.convert(patches(tmp_path / "log.rdfp", 1), tmp_path / f"patches.{suffix}")
        (tmp_path / "log.nq").write_text(LINE)
        rdfm.convert(tmp_path / "log.nq", tmp_path / f"messages.{suffix}")
        assert schema_of(tmp_path / f"patches.{suffix}") == default_schema(kind="patches")
        assert schema_of(tmp_path / f"messages.{suffix}") == default_schema()
        assert len(read(tmp_path / f"patches.{suffix}")[0]["operations"]) == 3


def test_a_schema_selects_columns_and_parts_of_operations(tmp_path):
    path = patches(tmp_path / "log.rdfp", 1)
    parts = StructType([StructField("OBJECT", StringType()), StructField("op", StringType())])
    schema = StructType(
        [
            StructField("Operations", type(OPERATIONS)(parts)),
            StructField("byte_offset", LongType()),
        ]
    )
    [row] = read(path, schema)
    assert row["byte_offset"] == 0
    assert row["Operations"][1] == {"OBJECT": '"1"', "op": "A"}
    offsets = StructType([StructField("message_index", LongType())])
    assert read(path, offsets) == [{"message_index": 0}]


def test_kinds_cannot_be_mixed(tmp_path):
    folder = tmp_path / "logs"
    folder.mkdir()
    patches(folder / "a.rdfp", 1)
    (folder / "b.nq").write_text(LINE)
    with pytest.raises(OptionError, match=r"b\.nq contains messages, but the rows are patches"):
        read(folder)
    with pytest.raises(OptionError, match=r"a\.rdfp contains patches, but the rows are messages"):
        read(folder, default_schema(("quads",)))
    offsets = StructType([StructField("message_index", LongType())])
    assert read(folder, offsets) == [{"message_index": 0}] * 2
    both_columns = StructType([StructField("quads", QUADS), StructField("operations", OPERATIONS)])
    with pytest.raises(OptionError, match="columns quads and operations"):
        LogSourceReader({"path": str(folder)}, both_columns)
    assert len(read(folder, pathGlobFilter="*.nq")) == 1


def test_results_have_a_column_for_each_variable(tmp_path):
    path = results(tmp_path / "r.srj", ["a", "b"], [Iri("http://e/s"), None], [None, Literal("x")])
    assert schema_of(path) == StructType(
        [StructField("a", StringType()), StructField("b", StringType())]
    )
    assert read(path) == [{"a": "<http://e/s>", "b": None}, {"a": None, "b": '"x"'}]
    schema = StructType([StructField("b", StringType())])
    assert read(path, schema) == [{"b": None}, {"b": '"x"'}]
    for field, reason in [
        (StructField("c", StringType()), "no variable 'c' in the results; they have a, b"),
        (StructField("a", IntegerType()), "the column a is string, not int"),
        (StructField("a", StringType(), False), "can be null"),
    ]:
        with pytest.raises(OptionError, match=reason):
            read(path, StructType([field]))


def test_result_files_must_have_the_same_variables(tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    results(folder / "1.srj", ["a", "b"], [Literal("1"), Literal("2")])
    results(folder / "2.srx", ["b", "a"], [Literal("3"), Literal("4")])
    results(folder / "3.srt", ["a", "b"])
    assert read(folder) == [{"a": '"1"', "b": '"2"'}, {"a": '"4"', "b": '"3"'}]
    results(folder / "4.srj", ["a"], [Literal("1")])
    with pytest.raises(
        OptionError, match=r"4\.srj has the variables a, but the first file has a, b"
    ):
        read(folder)
    with rdfm.create_log(folder / "4.srj", kind="results", boolean=True):
        pass
    with pytest.raises(OptionError, match=r"4\.srj is the answer to an ASK query"):
        read(folder)
    with pytest.raises(OptionError, match="is the answer to an ASK query"):
        schema_of(folder / "4.srj")


def test_variables_may_be_named_like_columns_of_messages(tmp_path):
    path = results(tmp_path / "r.srj", ["source", "quads"], [Literal("1"), None])
    assert read(path) == [{"source": '"1"', "quads": None}]


def test_results_without_variables_or_files_are_rejected(tmp_path):
    path = results(tmp_path / "r.srj", [], [])
    with pytest.raises(OptionError, match="without variables have no columns"):
        schema_of(path)
    (tmp_path / "none").mkdir()
    with pytest.raises(OptionError, match="variables of the first file, but there is no file"):
        schema_of(tmp_path / "none", format="results-json")


def test_errors_in_results_are_handled_according_to_the_mode(tmp_path):
    path = results(tmp_path / "r.srj", ["source"], *[[Literal("1")]] * 3)
    path.write_text(path.read_text()[:-20])
    with pytest.raises(DecodeError):
        read(path)
    *rows, last = read(path, mode="PERMISSIVE")
    assert {row["source"] for row in rows} == {'"1"'}
    assert last["source"] is None
    assert "the rest of the file is skipped" in last["_corrupt_record"]
    other = results(tmp_path / "o.srj", ["_corrupt_record"])
    with pytest.raises(OptionError, match="which is a variable of the results"):
        schema_of(other, mode="PERMISSIVE")


def test_streams_of_results_are_rejected(tmp_path):
    options = {"path": str(tmp_path), "stateLocation": str(tmp_path / "_state")}
    with pytest.raises(OptionError, match=r"results cannot be read as a stream; use spark\.read"):
        LogSourceStreamReader({**options, "format": "results-json"})
    reader = LogSourceStreamReader({**options, "format": "rdf-patch"})
    assert reader.schema == default_schema(kind="patches")


def write(path, to, rows, schema):
    writer = LogSourceWriter({"path": str(path), "to": to}, schema, False)
    writer.commit([writer.write(iter([pyarrow.RecordBatch.from_pylist(rows)]))])
    [part] = [file for file in path.iterdir() if not file.name.startswith("_")]
    return part


@pytest.mark.parametrize("to", ["rdf-patch", "jelly-patch", "rdf-patch-thrift", "parquet", "arrow"])
def test_rows_with_operations_are_written_as_patches(tmp_path, to):
    path = patches(tmp_path / "log.rdfp", 1, 2)
    schema = default_schema(("quads",), "patches")
    part = write(tmp_path / "out", to, read(path, schema), schema)
    with (
        rdfm.open_log(part, kind="patches") as log,
        rdfm.open_log(path, kind="patches") as expected,
    ):
        assert list(log) == list(expected)


def test_rows_that_do_not_fit_the_format_are_rejected_before_writing(tmp_path):
    operations = default_schema(("quads",), "patches")
    both_columns = StructType([*operations.fields, StructField("quads", QUADS)])
    other_column = StructType([StructField("a", StringType())])
    wrong_type = StructType([StructField("operations", QUADS)])
    for to, schema, reason in [
        ("nq", operations, "the column operations contains patches, but N-Quads is for messages"),
        (
            "rdf-patch",
            default_schema(),
            "the column quads contains messages, but RDF Patch is for patches",
        ),
        ("nq", both_columns, "columns quads and operations"),
        ("nq", other_column, "the rows need a column quads of type"),
        ("rdf-patch", other_column, "the rows need a column operations of type"),
        ("parquet", other_column, "the rows need a column quads of .* or a column operations of"),
        (
            "rdf-patch",
            wrong_type,
            r"operations must be of type .* \(name and graph may be omitted\)",
        ),
        ("results-json", other_column, "is for SPARQL results, which Spark cannot write"),
    ]:
        with pytest.raises(OptionError, match=reason):
            LogSourceWriter({"path": str(tmp_path / "out"), "to": to}, schema, False)


def test_null_operations_are_an_error(tmp_path):
    schema = default_schema(("quads",), "patches")
    rows = [{"operations": [{part: "TX" if part == "op" else None for part in PARTS}]}]
    with pytest.raises(
        DecodeError,
        match=r"expected operations, found null; exclude such rows with `where operations",
    ):
        write(tmp_path / "out", "rdf-patch", [*rows, {"operations": None}], schema)


PARTS = ("op", "name", "subject", "predicate", "object", "graph")


def test_variables_that_differ_only_in_case_are_refused(tmp_path):
    path = results(tmp_path / "a.srj", ["x", "X", "y"], [Iri("a:1"), Iri("a:2"), Iri("a:3")])
    with pytest.raises(OptionError, match="Spark treats the columns x and X as one"):
        schema_of(path)
    assert read(path, columns="X") == [{"X": "<a:2>"}]
    assert read(path, columns="Y") == [{"Y": "<a:3>"}]
    assert read(path, StructType([StructField("x", StringType())])) == [{"x": "<a:1>"}]


def test_columns_ignore_case(tmp_path):
    path = tmp_path / "a.nq"
    path.write_text(LINE)
    assert read(path, columns="Message_Index, SOURCE") == [
        {"Message_Index": 0, "SOURCE": str(path)}
    ]
    with pytest.raises(OptionError, match="columns contains Source twice"):
        read(path, columns="source, Source")
