"""Partition columns, read from and written to folders NAME=VALUE."""

import pytest
from parts import remaining_files
from pyspark.sql import functions as F
from pyspark.sql.types import StringType

import rdfm
import rdfm.spark
from rdfm import OptionError
from rdfm.spark.readers.reader import LogSourceReader

LINE = '<http://e/s> <http://e/p> "{}" .\n'
TIME_LINE = '<http://e/s> <http://www.w3.org/ns/sosa/resultTime> "{}"^^<http://www.w3.org/2001/XMLSchema#dateTime> .\n'
VALUES_BY_KIND = {
    "integers": ["0", "-7", "+3", "__HIVE_DEFAULT_PARTITION__"],
    "longs": ["1", "3000000000"],
    "decimals": ["12345678901234567890", "1"],
    "doubles": ["1.5", "2", "-1.5e-3", ".5"],
    "exponents": ["1e3", "2"],
    "double and exponent": ["1.5", "1e3"],
    "very long integers": ["1" * 39],
    "texts": ["a", "1", "b%2Fc%3D1", "true"],
    "dates": ["2026-11-01", "2026-11-02"],
    "invalid dates": ["2026-13-01"],
    "long and double": ["3000000000", "1.5"],
    "date and integer": ["2026-11-01", "1"],
    "nulls": ["__HIVE_DEFAULT_PARTITION__"],
}


def fill(root, folders):
    """Writes a log to each folder. The object of the log's only quad is the folder's name."""
    for folder in folders:
        (root / folder).mkdir(parents=True)
        (root / folder / "a.nq").write_text(LINE.format(folder))


def texts(rows):
    return sorted(row.quads[0].object.strip('"') for row in rows)


@pytest.mark.feature("partition columns")
def test_partition_columns_have_the_same_types_and_values_as_in_spark(spark, tmp_path):
    for name, values in VALUES_BY_KIND.items():
        root = tmp_path / name
        fill(root / "logs", [f"k={value}" for value in values])
        for value in values:
            (root / "text" / f"k={value}").mkdir(parents=True)
            (root / "text" / f"k={value}" / "a.txt").write_text("x\n")
        text_frame = spark.read.text(str(root / "text"))
        frame = spark.read.format("rdfm").load(str(root / "logs"))
        assert frame.columns == ["source", "byte_offset", "quads", "metadata", "k"]
        # In Spark, a column has no type if all its values are null.
        expected = StringType() if name == "nulls" else text_frame.schema["k"].dataType
        assert frame.schema["k"].dataType == expected, name
        found, expected_values = ([row.k for row in each.collect()] for each in (frame, text_frame))
        assert sorted(found, key=str) == sorted(expected_values, key=str), name


def test_nested_folders_are_found_and_can_be_selected(spark, tmp_path):
    folders = [f"day=2026-11-0{day}/k={k}" for day in (1, 2, 3) for k in (0, 1)]
    fill(tmp_path, folders)
    frame = rdfm.spark.read(spark, tmp_path)
    assert frame.dtypes[-2:] == [("day", "date"), ("k", "int")]
    assert texts(frame.collect()) == folders
    assert texts(frame.where("day = DATE'2026-11-02' AND k = 1").collect()) == [folders[3]]
    for partitions, expected in (
        ({"k": 1}, folders[1::2]),
        ({"k": [0], "day": {"from": "2026-11-02"}}, folders[2::2]),
        ({"DAY": {"from": "2026-11-01", "to": "2026-11-02"}}, folders[:4]),
        ({"day": []}, []),
    ):
        read_back = rdfm.spark.read(spark, tmp_path, partitions=partitions)
        assert read_back.dtypes == frame.dtypes
        assert texts(read_back.collect()) == expected
        assert all(f"/k={row.k}/" in row.source for row in read_back.collect())
    selected = rdfm.spark.read(spark, tmp_path, columns=["k", "byte_offset"], min_partitions=1)
    assert sorted(tuple(row) for row in selected.collect()) == [(0, 0)] * 3 + [(1, 0)] * 3
    assert rdfm.spark.read(spark, tmp_path, schema="k string").distinct().count() == 2
    assert rdfm.spark.read(spark, tmp_path, rows="quads").columns[-2:] == ["day", "k"]
    query = rdfm.spark.query("SELECT ?o { ?s ?p ?o }", tmp_path, partitions={"k": 0})
    assert sorted(row.o.strip('"') for row in query.collect()) == folders[::2]
    assert query.columns == ["source", "message_index", "o", "day", "k"]


def test_a_folder_named_in_the_path_is_not_a_column(spark, tmp_path):
    fill(tmp_path, ["k=0/j=0", "k=1/j=0"])
    assert "k" not in spark.read.format("rdfm").load(str(tmp_path / "k=0")).columns
    frame = spark.read.format("rdfm").load(str(tmp_path / "k=*/j=0"))
    assert frame.columns[-2:] == ["k", "j"]
    assert frame.count() == 2
    recursive = rdfm.spark.read(spark, tmp_path, recursive_file_lookup=True)
    assert recursive.columns == ["source", "byte_offset", "quads", "metadata"]
    assert recursive.count() == 2


@pytest.mark.parametrize(
    ("folders", "options", "reason"),
    [
        (
            ["byte_offset=1"],
            {},
            "the partition column byte_offset .* has the same name as another column",
        ),
        (["Source=1"], {}, r"\(from the folders Source=…\) has the same name as another column"),
        (["_corrupt_record=1"], {"columnNameOfCorruptRecord": "bad"}, None),
        (["bad=1"], {"columnNameOfCorruptRecord": "bad"}, "has the same name as another column"),
        (["graph=1"], {"rows": "quads"}, "has the same name as another column"),
        (["k=1", "j=1"], {}, "has the partition columns j, but .* has k"),
        (["k=1", "."], {}, r"has the partition columns \(none\), but .* has k"),
        (["k=1/k=2"], {}, "has the partition column k twice"),
        (["k=1"], {"partitions": '{"j": 1}'}, "there is no partition column j; known: k"),
        (["k=1"], {"partitions": '{"k": "x"}'}, "'x' is not of type int, the type of the column k"),
        (
            ["k=1"],
            {"partitions": '{"k": {"min": 1}}'},
            'must be an object with "from", "to" or both',
        ),
        (
            ["k=1"],
            {"partitions": '{"k": 1}', "recursiveFileLookup": "true"},
            "streams and recursiveFileLookup do not have",
        ),
    ],
)
def test_ambiguous_folders_and_invalid_selections_are_rejected(tmp_path, folders, options, reason):
    for folder in folders:
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / "a.nq").write_text(LINE.format(1))

    def plan():
        return LogSourceReader({"path": str(tmp_path), **options}).partitions()

    if reason is None:
        assert plan() == []  # a hidden folder
        return
    with pytest.raises(OptionError, match=reason):
        plan()


def test_a_folder_value_that_does_not_match_the_schema_is_an_error(spark, tmp_path):
    fill(tmp_path, ["k=x"])
    frame = rdfm.spark.read(spark, tmp_path, schema="byte_offset bigint, k int")
    with pytest.raises(
        Exception, match="the folder k=x is not of type int, the type of the column"
    ):
        frame.collect()


@pytest.mark.feature("partition columns")
def test_columns_are_written_as_folders_and_read_back(spark, tmp_path):
    rows = spark.range(0, 40, 1, 2).select(
        F.expr("CASE WHEN id % 4 = 3 THEN NULL ELSE concat('a/', id % 4) END").alias("name"),
        (F.col("id") % 2 == 0).alias("even"),
        F.expr(
            "array(struct('<http://e/s>' AS subject, '<http://e/p>' AS predicate, "
            "concat('\"', id, '\"') AS object, CAST(NULL AS STRING) AS graph))"
        ).alias("quads"),
    )
    out = tmp_path / "out"
    writer = rows.write.format("rdfm").option("to", "nq").option("partitionColumns", "name, even")
    writer.mode("append").save(str(out))
    folders = sorted({str(path.parent.relative_to(out)) for path in out.rglob("*.nq")})
    assert folders == [
        "name=__HIVE_DEFAULT_PARTITION__/even=false",
        "name=a%2F0/even=true",
        "name=a%2F1/even=false",
        "name=a%2F2/even=true",
    ]
    result = spark.read.format("rdfm").load(str(out))
    assert result.dtypes[-2:] == [("name", "string"), ("even", "string")]
    pairs = {(int(row.quads[0].object.strip('"')) % 4, row.name) for row in result.collect()}
    assert pairs == {(0, "a/0"), (1, "a/1"), (2, "a/2"), (3, None)}
    assert result.count() == 40
    # An overwrite replaces the files in all folders.
    writer.mode("overwrite").save(str(out))
    assert spark.read.format("rdfm").load(str(out)).count() == 40
    assert remaining_files(out) == []


@pytest.mark.feature("partition columns")
def test_messages_are_written_to_folders_by_day(spark, tmp_path):
    log = tmp_path / "log.nq"
    days = [1, 2, 1, 3, 2, 1]
    messages = [TIME_LINE.format(f"2026-11-0{day}T09:00:0{n}Z") for n, day in enumerate(days)]
    log.write_text("# @message\n".join([*messages, LINE.format("none")]))
    frame = rdfm.spark.read(spark, log)
    out = tmp_path / "out"
    writer = frame.write.format("rdfm").options(to="nq", splitBy="day", maxOpen=2)
    writer.mode("append").save(str(out))
    result = rdfm.spark.read(spark, out)
    assert result.dtypes[-1] == ("day", "date")
    found = sorted((str(row.day), len(row.quads)) for row in result.collect())
    assert found == sorted([(f"2026-11-0{day}", 1) for day in days] + [("None", 1)])
    # At most two files were open, so the folder of the first day contains several files.
    assert len(list((out / "day=2026-11-01").iterdir())) == 2
    names = [str(path) for path in out.rglob("*.nq")]
    assert len(names) == len(set(names)) == 6
    for options, reason in (
        ({"splitBy": "week"}, "splitBy must be graph, value:PREDICATE"),
        ({"partitionColumns": "none"}, "contains none, which is not a column"),
        ({"partitionColumns": "quads"}, "the partition column quads is array"),
        ({"maxOpen": "2"}, "maxOpen limits the open files of a write with partitionColumns"),
    ):
        with pytest.raises(Exception, match=reason):
            frame.write.format("rdfm").options(to="nq", **options).mode("append").save(str(out))


def test_errors_name_the_row_and_leave_no_files(spark, tmp_path):
    rows = spark.createDataFrame(
        [(n % 2, [("<a:s>", "<a:p>", "oops" if n == 5 else '"1"', None)]) for n in range(8)],
        "k int, quads array<struct<subject: string, predicate: string, object: string, graph: string>>",
    ).coalesce(1)
    with pytest.raises(Exception, match=r"row 5\b"):
        rows.write.format("rdfm").options(to="nq", partitionColumns="k").mode("append").save(
            str(tmp_path / "out")
        )
    assert not list((tmp_path / "out").rglob("*.nq"))


def test_tasks_keep_few_files_open(spark, tmp_path):
    """A task that kept all files open would exceed the process limit on open files."""
    rows = spark.range(0, 300, 1, 1).select(
        F.col("id").alias("k"),
        F.expr("array(struct('<a:s>' AS subject, '<a:p>' AS predicate, '<a:o>' AS object))").alias(
            "quads"
        ),
    )
    out = tmp_path / "out"
    rows.write.format("rdfm").options(to="jelly", partitionColumns="k", maxOpen=3).mode(
        "append"
    ).save(str(out))
    assert len(list(out.iterdir())) == 302  # also _rdfm and _SUCCESS
    result = rdfm.spark.read(spark, out, columns=["k", "quads"], partitions={"k": {"from": 290}})
    assert sorted(row.k for row in result.collect()) == list(range(290, 300))


def test_spark_does_not_pass_partition_by_to_a_python_source(spark, tmp_path):
    frame = spark.createDataFrame(
        [(1, [])],
        "k int, quads array<struct<subject: string, predicate: string, object: string, graph: string>>",
    )
    with pytest.raises(Exception, match="partition"):
        frame.write.format("rdfm").option("to", "nq").partitionBy("k").mode("append").save(
            str(tmp_path / "out")
        )
    assert not list(tmp_path.iterdir())


NAMES = ["k", "_k", ".k", "a b", "a.b", "k=", "é"]
VALUES = [
    *("_x", ".x", "a b", "A", "a", "x\0y", "é", "e\u0301", "__HIVE_DEFAULT_PARTITION__", None),
    *("a%20b", "a+b", "NUL", "-", "x.", "x ", "~", "$", "a&b", "a|b", "<a>", "%00", "*", "[a]"),
]


@pytest.mark.feature("partition columns")
@pytest.mark.parametrize("name", NAMES)
def test_every_name_and_value_is_read_back(spark, tmp_path, name):
    values = VALUES if name == "k" else VALUES[:3]
    quads = "array<struct<subject string, predicate string, object string, graph string>>"
    rows = [([("<a:s>", "<a:p>", f'"{index}"', None)], value) for index, value in enumerate(values)]
    df = spark.createDataFrame(rows, f"quads {quads}, `{name}` string").coalesce(1)
    rdfm.spark.write(df, tmp_path / "logs", "nq", partition_columns=[name])
    read = rdfm.spark.read(spark, tmp_path / "logs").collect()
    found = {int(row["quads"][0].object.strip('"')): row[name] for row in read}
    assert found == dict(enumerate(values))
    with rdfm.open_log(tmp_path / "logs/**/*.nq") as log:
        assert len(list(log)) == len(values)
    named = tmp_path / "keys"
    key_rows = [[("<a:s>", "<a:p>", f'"{value}"', None)] for value in ("_x", ".x", "a b")]
    rdfm.spark.write(
        spark.createDataFrame([(row,) for row in key_rows], f"quads {quads}"),
        *(named, "nq"),
        split_by="value:<a:p>",
    )
    read = rdfm.spark.read(spark, named).collect()
    assert {row["value"] for row in read} == {"_x", ".x", "a b"}


@pytest.mark.feature("write logs")
@pytest.mark.parametrize("rows", ["messages", "quads"])
def test_source_and_index_identify_a_message_in_all_parts(spark, tmp_path, rows):
    quads = "array<struct<subject string, predicate string, object string, graph string>>"
    given = [([("_:x", "<a:p>", f'"{index}"', None)], index % 2) for index in range(8)]
    df = spark.createDataFrame(given, f"quads {quads}, k int").repartition(3)
    for columns in (None, ["k"]):
        folder = tmp_path / ("keys" if columns else "logs")
        rdfm.spark.write(
            df, folder, "parquet", rows=rows, partition_columns=columns, maxRecordsPerFile=2
        )
        table = spark.read.parquet(str(folder))
        assert table.select("source", "message_index").distinct().count() == 8
        assert table.where("source is null").count() == 0


def test_a_value_that_is_too_long_for_a_folder_is_an_error(spark, tmp_path):
    rows = spark.range(1).selectExpr(
        "repeat('v', 300) AS k", "array(struct('<a:s>' AS subject, '<a:p>' AS predicate, '<a:o>' AS object)) AS quads"
    )  # fmt: skip
    with pytest.raises(Exception, match=r"partition column k is too long .*\(300 bytes\): vvv"):
        rdfm.spark.write(rows, tmp_path / "out", "nq", partition_columns=["k"])
