"""Batch reads return the same messages as without Spark, for each format, schema and mode."""

import gzip
import io
import json
import os
import pickle
import subprocess
import sys
import tarfile
import threading
from collections import Counter
from datetime import UTC, datetime
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import AnalysisException, PythonException
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import (
    ArrayType,
    LongType,
    StringType,
    StructField,
    StructType,
)
from support import FIXTURES

import rdfm
import rdfm.spark
from pyspark_rdfm import DefaultSource
from rdfm import DecodeError, LimitError, OptionError, UnknownFormatError, formats
from rdfm.spark.readers.reader import LogSourceReader
from rdfm.spark.schema import COLUMNS
from rdfm.spark.spark_options import as_text

# Schemas as strings require a session.
pytestmark = pytest.mark.usefixtures("spark")
FORMATS = [each.name for each in formats.all() if each.spec.kinds[0] == "messages"]
COMPRESSED = {"": bytes, ".gz": gzip.compress}
ALL_COLUMNS = StructType([StructField(name, type) for name, type in COLUMNS.items()])
LINE = '<http://e/s> <http://e/p> "{}" .\n'


def term(number):
    return rdfm.Iri(f"http://example.org/{number}")


def messages_for(format, count=4):
    """Returns messages that a format supports, including an empty one."""
    carries = formats.find(format).spec.carries
    literals = [
        rdfm.Literal('tab\t"quote"\n\\ é\U0001f422'),
        rdfm.Literal("salut", language="fr"),
        rdfm.Literal("2", datatype="http://www.w3.org/2001/XMLSchema#integer"),
    ]
    messages = []
    for index in range(count if carries["boundaries"] else 1):
        graph = term("graph") if carries["graphs"] and index % 2 else None
        objects = [] if index == 2 else [term(index), *literals]
        messages.append([rdfm.Quad(term("s"), term("p"), found, graph) for found in objects])
    return messages


def write_log(path, format, messages):
    """Writes a log to a file whose name need not identify the format."""
    with path.open("wb") as file, rdfm.create_log(file, format) as log:
        for message in messages:
            log.write(message)
    return path


def suffix(format):
    return formats.find(format).spec.suffixes[0]


COLUMNS_WITH_OFFSET = ["source", "message_index", "byte_offset", "quads", "metadata"]


def as_rows(path, format=None, **options):
    """Returns the expected rows of a log, as read by rdfm."""
    with rdfm.open_log(path, format, **options) as log:
        return [
            (
                str(path),
                message.message_index,
                [tuple(part and str(part) for part in quad) for quad in message],
                message.metadata or None,
            )
            for message in log
        ]


def comparable(rows):
    """Converts Spark rows to the form of `as_rows`."""
    return [
        (
            row.source,
            row.message_index,
            [tuple(quad) for quad in row.quads],
            row.metadata and {key: bytes(value) for key, value in row.metadata.items()},
        )
        for row in rows
    ]


def lines(*texts):
    """Returns an N-Quads log with one message per string. A final `!` makes a message invalid."""
    messages = [f"{text}\n" if text.endswith("!") else LINE.format(text) for text in texts]
    return "# @message\n".join(messages)


def partitions(paths, schema=None, **options):
    """Reads in this process, as Spark's workers do. Returns the rows of each partition as dicts."""
    paths = paths if isinstance(paths, list) else [paths]
    if schema is None and not {"columns", "query"} & options.keys():
        names = [
            *COLUMNS_WITH_OFFSET,
            *["_corrupt_record"] * (options.get("mode", "").upper() == "PERMISSIVE"),
        ]
        options["columns"] = ",".join(names)
    source = DefaultSource({"paths": json.dumps([str(path) for path in paths]), **options})
    schema = StructType.fromDDL(schema) if isinstance(schema, str) else schema or source.schema()
    reader = pickle.loads(pickle.dumps(source.reader(schema)))
    expected = to_arrow_schema(schema, timezone="UTC")
    found = []
    for partition in reader.partitions():
        rows = []
        for batch in reader.read(pickle.loads(pickle.dumps(partition))):
            assert isinstance(batch, pa.RecordBatch)
            assert batch.schema.equals(expected)
            batch.validate(full=True)
            rows += batch.to_pylist()
        found.append(rows)
    return found


def read(paths, schema=None, **options):
    return [row for rows in partitions(paths, schema, **options) for row in rows]


def texts(rows):
    """Returns the first object of each message without quotes, or None for null quads."""
    return [row["quads"] and row["quads"][0]["object"].strip('"') for row in rows]


# --- formats ---


@pytest.mark.feature("read logs")
def test_spark_and_open_log_agree_on_a_folder_with_every_format(spark, tmp_path):
    expected = []
    for format in FORMATS:
        for compression_suffix, compress in COMPRESSED.items():
            path = tmp_path / f"log-{format}{suffix(format)}{compression_suffix}"
            write_log(path, format, messages_for(format))
            path.write_bytes(compress(path.read_bytes()))
            expected += as_rows(path)
    (tmp_path / "_SUCCESS").write_bytes(b"")
    (tmp_path / ".hidden.nq").write_text("no log")
    frame = spark.read.format("rdfm").load(str(tmp_path))
    assert frame.columns == ["source", "byte_offset", "quads", "metadata"]
    rows = comparable(rdfm.spark.read(spark, tmp_path, columns=COLUMNS_WITH_OFFSET).collect())
    assert len(rows) > 2 * len(FORMATS)
    assert sorted(rows, key=lambda row: row[:2]) == sorted(expected, key=lambda row: row[:2])
    # Equal terms of different formats form one group.
    objects = frame.select(F.explode("quads.object").alias("term")).groupBy("term").count()
    counted = Counter(quad[2] for row in expected for quad in row[2])
    assert {row.term: row["count"] for row in objects.collect()} == counted


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_has_every_column(tmp_path, format):
    path = write_log(tmp_path / "a", format, messages_for(format))
    rows = read(path, ALL_COLUMNS, format=format)
    with rdfm.open_log(path, format) as log:
        expected = [
            (batch.byte_offset(at), batch.quad_count_of(at), batch.namespaces(at))
            for batch in log.batches()
            for at in range(len(batch))
        ]
    assert len(rows) == len(expected)
    for row, (position, quads, current_namespaces) in zip(rows, expected, strict=True):
        assert (row["byte_offset"], len(row["quads"])) == (position, quads)
        # Namespaces that the message declares or uses.
        namespaces = dict(row["namespaces"])
        assert namespaces.items() <= current_namespaces.items()
        used = {
            (name, iri)
            for name, iri in current_namespaces.items()
            if any(f"<{iri}" in part for quad in row["quads"] for part in quad if part)
        }
        assert used <= namespaces.items()
    assert [row["message_index"] for row in rows] == list(range(len(rows)))
    assert {row["source"] for row in rows} == {str(path)}


def test_the_format_is_detected_by_content(tmp_path):
    path = write_log(tmp_path / "log", "jelly", messages_for("jelly"))
    assert len(read(path)) == len(read(path, format="Jelly")) == 4
    assert len(read(path, maxDepth="5", joins="warn")) == 4
    with pytest.raises(UnknownFormatError, match="the formats are nt, nq"):
        read(path, format="nope")


def test_a_file_of_unknown_format_is_an_error(tmp_path):
    (tmp_path / "notes.txt").write_text("buy milk")
    (tmp_path / "a.nq").write_text(lines("a"))
    with pytest.raises(
        UnknownFormatError,
        match=r"notes.txt has an unknown format: .*; .option.\"format\", …. with nt, nq",
    ):
        read(tmp_path)
    with pytest.raises(UnknownFormatError):
        read(tmp_path, mode="PERMISSIVE")
    assert texts(read(tmp_path, pathGlobFilter="*.nq")) == ["a"]
    assert texts(read(tmp_path, ignoreCorruptFiles="true")) == ["a"]


# --- schema ---


def test_columns_may_be_requested_in_any_order_and_number(spark, tmp_path):
    path = write_log(tmp_path / "a.jelly", "jelly", messages_for("jelly"))
    expected = as_rows(path)
    frame = spark.read.format("rdfm").schema("MESSAGE_INDEX bigint, source string").load(str(path))
    assert [tuple(row) for row in frame.collect()] == [(row[1], row[0]) for row in expected]
    assert frame.columns == ["MESSAGE_INDEX", "source"]
    quads = "quads array<struct<Object:string,subject:string>>"
    frame = spark.read.format("rdfm").schema(f"_corrupt_record string, {quads}").load(str(path))
    found = [(row[0], [tuple(quad) for quad in row.quads]) for row in frame.collect()]
    assert found == [(None, [(quad[2], quad[0]) for quad in row[2]]) for row in expected]


def test_non_nullable_columns_may_be_requested(spark, tmp_path):
    path = write_log(tmp_path / "a.jelly", "jelly", messages_for("jelly"))
    quad = StructType(
        [StructField("graph", StringType()), StructField("subject", StringType(), False)]
    )
    schema = StructType(
        [
            StructField("quads", ArrayType(quad, False), True, {"comment": "terms"}),
            StructField("source", StringType(), False),
        ]
    )
    frame = spark.read.format("rdfm").schema(schema).load(str(path))
    found = [[tuple(quad) for quad in row.quads] for row in frame.collect()]
    assert found == [[(quad[3], quad[0]) for quad in row[2]] for row in as_rows(path)]


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        (
            "sauce string",
            r"no column 'sauce'; known: source string, message_index bigint, byte_offset bigint, quads array<",
        ),
        ("message_index string", r"the column message_index is bigint, not string"),
        ("message_index int", r"the column message_index is bigint, not int"),
        ("quads array<string>", r"the column quads is array<struct<subject:string,"),
        ("quads array<struct<who:string>>", r"the column quads is array<struct<subject:string,"),
        ("metadata map<string,string>", r"the column metadata is map<string,binary>, not"),
        (
            "message_index bigint NOT NULL",
            r"the column message_index, or a field in it, can be null; remove NOT NULL",
        ),
        ("quads array<struct<graph:string NOT NULL>>", r"quads, or a field in it, can be null"),
    ],
)
def test_invalid_schemas_are_rejected(tmp_path, schema, reason):
    (tmp_path / "a.nq").write_text(lines("a"))
    with pytest.raises(OptionError, match=reason):
        read(tmp_path, schema)


def test_a_schema_without_columns_is_rejected(tmp_path):
    (tmp_path / "a.nq").write_text(lines("a"))
    with pytest.raises(
        OptionError, match="has no columns; known: source, message_index, byte_offset"
    ):
        DefaultSource({"path": str(tmp_path)}).reader(StructType([]))


def test_only_requested_columns_are_rendered(tmp_path, monkeypatch):
    from rdfm.spark.readers import collectors

    requested = []

    def record(columns, **options):
        requested.append(columns)
        return original(columns, **options)

    original = collectors.ArrowCoalescer
    monkeypatch.setattr(collectors, "ArrowCoalescer", record)
    path = write_log(tmp_path / "a.jelly", "jelly", messages_for("jelly"))
    assert [
        row["message_index"]
        for row in read(path, StructType([StructField("message_index", LongType())]))
    ]
    assert requested == [["message_index"]]


def test_the_logical_type_determines_the_meaning_of_jelly_frames(tmp_path):
    """Frames have 256 rows, like those of other writers."""
    objects = [rdfm.BlankNode(str(number)) for number in range(300)]
    quads = [rdfm.Quad(rdfm.BlankNode("b"), term("p"), each) for each in objects]
    path = tmp_path / "flat.jelly"
    with rdfm.create_log(path, frames="flat", physical_type="triples") as log:
        log.write(quads)
    (row,) = read(path)
    assert len(row["quads"]) == 300
    assert {quad["subject"] for quad in row["quads"]} == {"_:b"}
    assert len(read(path, frames="auto")) == len(read(path, frames="flat")) == 1
    assert [len(row["quads"]) for row in read(path, frames="message")] == [253, 47]
    with pytest.raises(LimitError) as caught:
        read(path, maxMessageBytes="10k")
    text = str(caught.value)
    assert "its type" in caught.value.reason
    assert "a larger option maxMessageBytes allows it, if the source is trusted, or" in text
    assert (
        '.option("frames", "message") reads each frame as a message, so ' in text
    )  # remedies in Spark syntax
    assert len(read(path, maxMessageBytes="10k", frames="message")) == 2


# --- options ---


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (
            {"lenent": "true"},
            r"no option 'lenent'; did you mean lenient",
        ),
        (
            {"format": "nq", "frames": "flat"},
            r"the option frames is for reading Jelly and Jelly-Patch, not N-Quads",
        ),
        ({"parts": "true"}, "no option 'parts'"),
        ({"lenient": "maybe"}, "lenient must be true or false, not 'maybe'"),
        ({"maxMessageBytes": "lots"}, "max_message_bytes must be a number"),
        ({"dialect": "swabian"}, "dialect"),
        ({"lenient": "true", "frames": "broken"}, "frames"),
        (
            {"mode": "SILENT"},
            "the option mode must be one of 'FAILFAST', 'PERMISSIVE', 'DROPMALFORMED', not 'SILENT'",
        ),
        ({"compression": "zip"}, "the option compression must be one of 'auto', 'gzip', 'zstd'"),
        ({"recursiveFileLookup": "1"}, "recursiveFileLookup must be true or false"),
        ({"modifiedAfter": "yesterday"}, "modifiedAfter must be a date and time, such as 2026"),
        ({"minPartitions": "0"}, "minPartitions must be a number >= 1"),
        (
            {"storageOptions": "key=secret"},
            r'storageOptions must be a JSON object, such as {"key": "value"}$',
        ),
        (
            {"filter": "<http://ex/p>"},
            r'filter must be a JSON object, such as {"predicate": "<IRI>"}$',
        ),
        ({"columnNameOfCorruptRecord": "Quads"}, "'Quads', which is the name of another column"),
        ({"max_depth": "3", "maxDepth": "4"}, "maxDepth is given twice"),
    ],
)
def test_invalid_options_are_rejected(tmp_path, options, reason):
    (tmp_path / "a.nq").write_text(lines("a"))
    with pytest.raises(OptionError, match=reason):
        read(tmp_path, **options)


def test_each_format_receives_only_options_that_it_supports(tmp_path):
    long_text = "x" * 2000
    (tmp_path / "a.nq").write_text(lines(long_text))
    write_log(tmp_path / "b.jelly", "jelly", messages_for("jelly"))
    assert len(read(tmp_path, joins="warn", generalized="true")) == 5
    with pytest.raises(DecodeError, match=r"b.jelly: "):
        read(tmp_path, delimited="false")
    with pytest.raises(LimitError, match=r"a.nq: .*maxMessageBytes"):
        read(tmp_path, max_message_bytes="1k")


def test_files_are_selected_by_name_and_time(tmp_path):
    for name in ("a.nq", "b.nq", "c.nt", "in/d.nq", "_not/e.nq", ".no.nq"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(lines(path.stem))
    modified = datetime(2020, 6, 1, 12, tzinfo=UTC).timestamp()
    os.utime(tmp_path / "a.nq", (modified, modified))
    read_folder = partial(read, tmp_path, schema="quads array<struct<object:string>>")
    assert texts(read_folder()) == ["a", "b", "c"]
    assert texts(read_folder(recursiveFileLookup="true")) == ["a", "b", "c", "d"]
    assert texts(read_folder(pathglobfilter="*.{nt,ttl}")) == ["c"]
    assert texts(read_folder(modifiedBefore="2020-06-01T12:00:01")) == ["a"]
    assert texts(read_folder(modifiedBefore="2020-06-01T12:00:00")) == []
    assert texts(read_folder(modifiedBefore="2020-06-01T13:00:01+02:00")) == []
    assert texts(read_folder(modifiedBefore="2020-06-01T15:00:01+02:00")) == ["a"]
    assert texts(read_folder(modifiedAfter="2020-06-01")) == ["a", "b", "c"]
    assert texts(read_folder(modifiedAfter="2020-06-01 12:00:00Z")) == ["b", "c"]
    assert texts(read([tmp_path / "[bc].n*", tmp_path / "a.nq"])) == ["b", "c", "a"]
    assert texts(read([tmp_path / "b.nq", (tmp_path / "a.nq").as_uri()])) == ["b", "a"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs Unix pipes")
def test_a_pipe_is_rejected_before_a_task_waits_for_it(tmp_path):
    (tmp_path / "a.nq").write_text(lines("1"))
    os.mkfifo(tmp_path / "b.jelly")
    for path in (tmp_path, tmp_path / "*", tmp_path / "b.jelly"):
        with pytest.raises(OSError, match=r"a pipe, device or socket.* pathGlobFilter.*b\.jelly"):
            partitions([path])
    assert len(partitions([tmp_path], pathGlobFilter="*.nq")) == 1


def test_a_folder_with_only_subfolders_is_an_error(tmp_path):
    (tmp_path / "day").mkdir()
    (tmp_path / "day" / "a.nq").write_text(lines("a"))
    (tmp_path / "_b.nq").write_text(lines("b"))
    with pytest.raises(OptionError, match=r"only subfolders, such as day; .*recursiveFileLookup"):
        read(tmp_path)
    assert texts(read(tmp_path, recursiveFileLookup="true")) == ["a"]
    assert read(tmp_path, ignoreMissingFiles="true") == []
    (tmp_path / "day").rename(tmp_path / "day=1")
    assert read(tmp_path, pathGlobFilter="*.trig") == []


def test_a_read_without_files_reports_ignored_files(tmp_path, caplog):
    (tmp_path / "_b.nq").write_text(lines("b"))
    assert read(tmp_path) == []
    assert [message.split("; ")[0] for message in caplog.messages] == [
        f"{tmp_path}: no files to read"
    ]
    assert "recursiveFileLookup" in caplog.text


def test_compression_is_detected_or_specified(tmp_path):
    (tmp_path / "a.nq").write_bytes(gzip.compress(lines("a").encode()))
    assert texts(read(tmp_path / "a.nq")) == ["a"]
    assert texts(read(tmp_path / "a.nq", compression="GZIP")) == ["a"]
    with pytest.raises(DecodeError):
        read(tmp_path / "a.nq", compression="none")


def test_options_of_rdfm_spark_read_are_checked_first(spark, tmp_path):
    (tmp_path / "a.nq").write_text(lines("a", "b!", "c"))
    with pytest.raises(OptionError, match="no option 'modus'"):
        rdfm.spark.read(spark, tmp_path, modus="PERMISSIVE")
    with pytest.raises(OptionError, match="no column 'x'"):
        rdfm.spark.read(spark, tmp_path, schema="x int")
    for schema in ("int", 5):
        with pytest.raises(
            OptionError, match=rf"the schema must have columns with types, but it is {schema}"
        ):
            rdfm.spark.read(spark, tmp_path, schema=schema)
    for path in (5, b"a.nq", [tmp_path, 5]):
        with pytest.raises(OptionError, match=r"a path must be a string or a Path, not .* \("):
            rdfm.spark.read(spark, path)
    with pytest.raises(FileNotFoundError):
        rdfm.spark.read(spark, tmp_path / "nothing")
    frame = rdfm.spark.read(
        spark, [tmp_path / "a.nq"], mode="PERMISSIVE", lenient=True, split_bytes=1 << 20, base=None
    )
    assert frame.columns == ["source", "byte_offset", "quads", "metadata", "_corrupt_record"]
    assert [row._corrupt_record for row in frame.collect()] == [None, "b!\n", None]
    assert (
        rdfm.spark.read(
            spark, tmp_path, schema="message_index bigint", mode="DROPMALFORMED"
        ).count()
        == 2
    )


# --- errors that users see ---


def test_errors_are_raised_by_load(spark, tmp_path):
    reader = spark.read.format("rdfm")
    with pytest.raises(
        AnalysisException, match=r"FileNotFoundError: .*No such file or folder: '.*nothing"
    ):
        reader.load(str(tmp_path / "nothing"))
    with pytest.raises(AnalysisException, match="OptionError: there is no option 'foo'"):
        spark.read.format("rdfm").option("foo", "1").load(str(tmp_path))
    with pytest.raises(AnalysisException, match=r"OptionError: no path is given; .*atalog"):
        reader.load()
    with pytest.raises(AnalysisException, match=r"FileNotFoundError: .*ignoreMissing.*nothing"):
        spark.read.format("rdfm").schema("message_index bigint").load(
            str(tmp_path / "nothing")
        ).count()
    assert reader.load(str(tmp_path)).count() == 0  # a folder without files


def test_a_catalog_table_is_rejected_with_a_remedy(spark, tmp_path):
    (tmp_path / "a.nq").write_text(lines("a", "b"))
    path = f"OPTIONS (path '{tmp_path}/a.nq')"
    with pytest.raises(
        AnalysisException, match=r"OptionError: .*Catalog tables pass no options.*create a view"
    ):
        spark.sql(f"CREATE TABLE tabled USING rdfm {path}")
    spark.sql(f"CREATE TABLE tabled (message_index bigint) USING rdfm {path}")
    try:
        with pytest.raises(
            AnalysisException, match=r"OptionError: .*Catalog tables pass no options.*create a view"
        ):
            spark.sql("SELECT * FROM tabled").collect()
    finally:
        spark.sql("DROP TABLE tabled")
    spark.sql(f"CREATE TEMPORARY VIEW viewed USING rdfm {path}")
    assert spark.sql("SELECT count(*) FROM viewed").first()[0] == 2


def test_an_error_fails_the_query_and_names_its_position(spark, tmp_path):
    (tmp_path / "a.nq").write_text(lines("a", "b", "c!"))
    with pytest.raises(PythonException, match=r"DecodeError: .*a\.nq: nq: .*byte \d+, message 2"):
        spark.read.format("rdfm").load(str(tmp_path)).collect()


# --- modes ---

LOG_WITH_ERRORS = lines("a", "b!", "c", "d!", "e!", "f")


def test_errors_become_rows_at_their_positions(tmp_path):
    (tmp_path / "1.nq").write_text(LOG_WITH_ERRORS)
    (tmp_path / "2.nq").write_text(lines("g!"))
    rows = read(tmp_path, mode="permissive")
    assert texts(rows) == ["a", None, "c", None, None, "f", None]
    assert [row["_corrupt_record"] for row in rows] == [
        *(None, "b!\n", None, "d!\n", "e!\n", None, "g!\n")
    ]
    assert [row["message_index"] for row in rows] == [0, 1, 2, 3, 4, 5, 0]
    assert [Path(row["source"]).name for row in rows] == ["1.nq"] * 6 + ["2.nq"]
    renamed = read(
        tmp_path,
        "bad string, byte_offset bigint",
        mode="PERMISSIVE",
        columnNameOfCorruptRecord="bad",
    )
    assert [row["bad"] for row in renamed] == [row["_corrupt_record"] for row in rows]
    # An invalid message has the position of its error.
    positions = [
        LOG_WITH_ERRORS.index(text)
        for text in (LINE.format("a"), "b!", LINE.format("c"), "d!", "e!", LINE.format("f"))
    ]
    assert [row["byte_offset"] for row in renamed] == [*positions, 0]
    without_text = read(
        tmp_path, "message_index bigint, quads array<struct<object:string>>", mode="PERMISSIVE"
    )
    assert texts(without_text) == texts(rows)


def test_many_errors_do_not_cause_many_batches(tmp_path):
    from rdfm.spark.readers.reader import LogSourceReader

    count = 20_000
    (tmp_path / "a.nq").write_text(lines(*(f"{i}!" if i % 2 else str(i) for i in range(count))))
    columns = "message_index, quads, _corrupt_record"
    reader = LogSourceReader({"path": str(tmp_path), "mode": "PERMISSIVE", "columns": columns})
    batches = [batch for partition in reader.partitions() for batch in reader.read(partition)]
    assert len(batches) < 8
    assert max(batch.num_rows for batch in batches) < 3 * 8192
    table = pa.Table.from_batches(batches)
    assert table["message_index"].to_pylist() == list(range(count))
    assert table["_corrupt_record"].to_pylist() == [
        f"{i}!\n" if i % 2 else None for i in range(count)
    ]


def test_large_errors_are_not_collected_in_memory(tmp_path):
    from rdfm.spark.readers.reader import LogSourceReader

    (tmp_path / "a.nq").write_text(lines(*(f"{i}{'x' * 500_000}!" for i in range(60))))
    reader = LogSourceReader({"path": str(tmp_path), "mode": "PERMISSIVE"})
    batches = list(reader.read(*reader.partitions()))
    assert max(batch.nbytes for batch in batches) < 10 << 20
    found = [text for batch in batches for text in batch["_corrupt_record"].to_pylist()]
    assert [text[:2].rstrip("x") for text in found] == [str(i) for i in range(60)]


def test_errors_are_dropped_with_a_warning(tmp_path, caplog):
    (tmp_path / "a.nq").write_text(LOG_WITH_ERRORS)
    assert texts(read(tmp_path, mode="DROPMALFORMED")) == ["a", "c", "f"]
    (warning,) = caplog.messages
    assert "a.nq: number of invalid messages dropped: 3; first error: " in warning
    assert "message 1" in warning


@pytest.mark.parametrize("format", FORMATS)
def test_a_truncated_log_is_handled_in_every_format_and_mode(tmp_path, caplog, format):
    path = write_log(tmp_path / f"a{suffix(format)}", format, messages_for(format))
    data = path.read_bytes()
    # Truncated YAML is valid unless it ends inside quotes.
    path.write_bytes(data[: data.rindex(b'"') if format == "yamlld" else -3])
    complete = []
    with rdfm.open_log(path) as log:
        try:
            for message in log:
                complete.append(message.message_index)
        except DecodeError as error:
            expected = error
    with pytest.raises(type(expected)) as raised:
        read(path)
    assert '; .option("mode", "PERMISSIVE") returns' in str(raised.value)
    without_remedies = {"renderer": None, "remedies": ()}
    assert vars(raised.value) | without_remedies == vars(expected) | without_remedies
    assert str(path) in str(expected)
    assert [row["message_index"] for row in read(path, ignoreCorruptFiles="true")] == complete
    assert caplog.messages == [f"{expected}; the rest of {path} is skipped"]
    *rows, last = read(path, mode="PERMISSIVE")
    assert [row["message_index"] for row in rows] == complete
    assert last["message_index"] == expected.message_index
    assert last["quads"] is None
    if formats.find(format).spec.resumable:
        assert path.read_text().endswith(last["_corrupt_record"])
    else:
        assert last["_corrupt_record"] == f"{expected}; the rest of the file is skipped"
    assert [row["message_index"] for row in read(path, mode="DROPMALFORMED")] == complete


@pytest.mark.parametrize("name", ["a.ttl", "a.trig", "a.yamlld", "a.ndjsonld"])
def test_reading_resumes_after_an_invalid_message(tmp_path, name):
    data = formats.by_path(name).encode(
        rdfm.MessageBatch.from_messages(
            [[rdfm.Quad(rdfm.Iri("a:s"), rdfm.Iri("a:p"), rdfm.Literal(text))] for text in "123"]
        )
    )
    (tmp_path / name).write_bytes(data.replace(b'"2"', b'"2\x00').replace(b": '2'", b": '2\x00"))
    rows = read(tmp_path / name, mode="PERMISSIVE")
    assert texts(rows) == ["1", None, "3"], data
    assert rows[1]["message_index"] == 1
    assert "2" in rows[1]["_corrupt_record"]
    assert "3" not in rows[1]["_corrupt_record"]
    assert texts(read(tmp_path / name, mode="DROPMALFORMED")) == ["1", "3"]


def test_invalid_compression_ends_the_file(tmp_path, caplog):
    text = "".join(LINE.format(f"{i * 7919 % 65521}") + "# @message\n" for i in range(200_000))
    data = gzip.compress(text.encode())
    (tmp_path / "1.nq.gz").write_bytes(data[: len(data) // 2])
    (tmp_path / "2.nq").write_text(lines("last"))
    with pytest.raises(rdfm.TruncatedError, match=r"1\.nq\.gz: .*truncated"):
        read(tmp_path)
    rows = read(tmp_path, mode="PERMISSIVE")
    assert 1000 < len(rows) < 200_000
    assert texts(rows[-3:]) == [str((len(rows) - 3) * 7919 % 65521), None, "last"]
    assert rows[-2]["_corrupt_record"].endswith("the rest of the file is skipped")
    assert texts(read(tmp_path, ignoreCorruptFiles="true"))[-1] == "last"
    (tmp_path / "0").write_bytes(data[:30])  # not even the format can be detected
    assert "truncated" in read(tmp_path, mode="PERMISSIVE")[0]["_corrupt_record"]


def test_messages_above_a_limit_are_never_dropped_silently(tmp_path):
    (tmp_path / "a.nq").write_text(lines("a", "x" * 3000, "c"))
    limit = {"maxMessageBytes": "1k"}
    for options in ({"mode": "DROPMALFORMED"}, {"ignoreCorruptFiles": "true"}):
        with pytest.raises(LimitError) as error:
            read(tmp_path, **limit, **options)
        assert "a larger option maxMessageBytes allows it, if the source is trusted (line" in str(
            error.value
        )
    rows = read(tmp_path, **limit, mode="PERMISSIVE")
    assert texts(rows) == ["a", None, "c"]
    assert "xxx" in rows[1]["_corrupt_record"]


# --- partitions ---


def test_small_files_share_a_task_in_order(tmp_path, monkeypatch):
    for number in range(25):
        (tmp_path / f"part-{number}.nq").write_text(lines(f"{number}"))
    options = {"minPartitions": "1"}
    assert len(partitions(tmp_path, **options)) == 1
    assert len(partitions(tmp_path, splitBytes="1k")) == 25
    monkeypatch.setattr("rdfm.spark.readers.reader.OPEN_COST", 60)
    found = partitions(tmp_path, splitBytes="1k", **options)
    assert len(found) == 3
    assert [text for rows in found for text in texts(rows)] == [str(number) for number in range(25)]


def test_every_core_gets_a_task_if_there_are_enough_files(spark, tmp_path, monkeypatch):
    for number in range(9):
        (tmp_path / f"part-{number}.nq").write_text(lines(f"{number}"))
    assert [len(rows) for rows in partitions(tmp_path, minPartitions="7")] == [1, 2, 1, 1, 1, 2, 1]
    assert len(partitions(tmp_path, minPartitions="70")) == 9
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(5)))
    assert len(partitions(tmp_path)) == 5
    # From Python, the session provides the number of cores.
    assert rdfm.spark.read(spark, tmp_path).rdd.getNumPartitions() == 2
    assert rdfm.spark.read(spark, tmp_path, min_partitions=3).rdd.getNumPartitions() == 3


@pytest.mark.parametrize("format", ["nt", "nq"])
def test_large_logs_are_split_at_messages(tmp_path, format):
    texts = [f"{i}" * (1 + i % 90) for i in range(400)]
    path = tmp_path / f"a.{format}"
    path.write_text("# @message\n".join(LINE.format(text) for text in texts))
    expected = read(path, ALL_COLUMNS)
    found = partitions(path, ALL_COLUMNS, splitBytes="4k")
    assert len(found) == -(-path.stat().st_size // 4096) > 5
    assert [row for rows in found for row in rows] == expected
    # Messages are counted only on request, but positions are always correct.
    keys = partitions(path, "source string, byte_offset bigint", splitBytes="4k")
    expected_keys = [(row["source"], row["byte_offset"]) for row in expected]
    assert [(row["source"], row["byte_offset"]) for rows in keys for row in rows] == expected_keys
    with_others = partitions(
        [FIXTURES / "basic/log.jelly", path, FIXTURES / "basic/log.trig"], splitBytes="4k"
    )
    assert [len(rows) for rows in with_others] == [2, *map(len, found), 2]
    assert len(partitions(path, splitBytes="0")) == 1
    compressed = tmp_path / "a.gz"
    compressed.write_bytes(gzip.compress(path.read_bytes(), 0))
    assert len(partitions(compressed, format=format, splitBytes="4k")) == 1


def test_indexes_are_counted_only_on_request(tmp_path, monkeypatch):
    from rdfm.spark.readers import rows

    requested = []

    def record(*args, count, **options):
        requested.append(count)
        return original(*args, count=count, **options)

    original = rows.split_log
    monkeypatch.setattr(rows, "split_log", record)
    (tmp_path / "a.nq").write_text(lines(*map(str, range(100))))
    (tmp_path / "small.nq").write_text(lines("1"))
    for schema in (
        "quads array<struct<object:string>>, byte_offset bigint",
        "Message_index bigint",
    ):
        assert len(read(tmp_path, schema, splitBytes="1k")) == 101
    assert requested == [False, True]


def test_errors_in_splits_have_the_positions_of_the_complete_log(tmp_path):
    (tmp_path / "a.nq").write_text(lines(*(f"{i}!" if i % 7 == 3 else f"{i}" for i in range(500))))
    expected = read(tmp_path, mode="PERMISSIVE")
    found = partitions(tmp_path, mode="PERMISSIVE", splitBytes="1k")
    assert len(found) > 9
    assert [row for rows in found for row in rows] == expected
    assert sum(row["quads"] is None for row in expected) == 71
    remaining = read(tmp_path, mode="DROPMALFORMED", splitBytes="1k")
    assert [row["message_index"] for row in remaining] == [i for i in range(500) if i % 7 != 3]
    (tmp_path / "a.nq").write_text(lines(*(f"{i}!" if i == 400 else f"{i}" for i in range(500))))
    with pytest.raises(DecodeError, match=r"byte \d+, message 400\)$"):
        read(tmp_path, splitBytes="1k")
    with pytest.raises(DecodeError, match=r"\(byte \d+\)$"):  # messages are not counted
        read(tmp_path, "quads array<struct<object:string>>", splitBytes="1k")


def test_recorded_errors_in_splits_have_the_byte_and_on_request_the_message(tmp_path):
    path = tmp_path / "a.nq"
    path.write_text(lines(*(f"{i}!" if i == 400 else f"{i}" for i in range(500))))
    options = {"mode": "DROPMALFORMED", "splitBytes": "1k"}
    for columns, message in (("byte_offset bigint", None), ("message_index bigint", 400)):
        errors = tmp_path / "errors" / columns
        assert len(read(path, columns, errorsTo=str(errors), **options)) == 499
        (row,) = pq.read_table(errors).to_pylist()
        assert row["message_index"] == message
        assert b"400!" in path.read_bytes()[row["byte_offset"] :].partition(b"\n")[0]


def test_rows_follow_the_order_of_the_logs(spark, tmp_path):
    expected = []
    for number in range(12):
        texts = [f"{number}.{i}" for i in range(200 if number == 5 else 3)]
        (tmp_path / f"{number}.nq").write_text(lines(*texts))
        expected += texts
    options = {"splitBytes": "2k"}
    frame = spark.read.format("rdfm").options(**options).load(str(tmp_path))
    assert frame.rdd.getNumPartitions() > 10
    rows = frame.collect()
    assert [row.quads[0].object.strip('"') for row in rows] == expected
    positions = [row.byte_offset for row in rows if Path(row.source).name == "5.nq"]
    assert positions == sorted(set(positions))
    assert len(positions) == 200


def test_files_that_disappear_after_planning_raise_errors_or_are_skipped(tmp_path, caplog):
    from rdfm.spark.readers.reader import LogSourceReader

    for name in "ab":
        (tmp_path / f"{name}.nq").write_text(lines(name))
    for ignore in ("false", "true"):
        options = {"ignoreMissingFiles": ignore, "minPartitions": "1"}
        reader = LogSourceReader({"path": str(tmp_path), **options})
        (partition,) = reader.partitions()
        (tmp_path / "a.nq").rename(tmp_path / "away")
        if ignore == "true":
            (batch,) = reader.read(partition)
            assert texts(batch.to_pylist()) == ["b"]
            assert "a.nq was deleted" in caplog.text
        else:
            with pytest.raises(
                FileNotFoundError, match=r"deleted after the query was planned.*a.nq"
            ):
                list(reader.read(partition))
        (tmp_path / "away").rename(tmp_path / "a.nq")
    found = read([tmp_path / "nothing", tmp_path / "b.nq"], ignoreMissingFiles="true")
    assert texts(found) == ["b"]
    for path in (tmp_path / "nothing", tmp_path / "nothing*.nq"):
        with pytest.raises(
            FileNotFoundError, match=r"was deleted after.*ignoreMissingFiles.*nothing"
        ):
            LogSourceReader({"path": str(path)}).partitions()


# --- paths and URLs ---


def test_relative_paths_are_relative_to_the_drivers_folder(spark, tmp_path, monkeypatch):
    (tmp_path / "a.nq").write_text(lines("a"))
    relative = os.path.relpath(tmp_path)
    (row,) = spark.read.format("rdfm").load(relative).collect()
    assert os.path.samefile(row.source, tmp_path / "a.nq")  # noqa: PTH121 - both are strings
    assert Path(row.source).is_absolute()


class KeyHandler(SimpleHTTPRequestHandler):
    """Serves a folder to clients that send a key."""

    def send_head(self):
        if self.headers.get("X-Key") == "secret":
            return super().send_head()
        self.send_error(401)
        return None

    def log_message(self, *_):
        pass


@pytest.mark.feature("read logs")
def test_urls_are_read_with_the_options_of_their_storage(spark, tmp_path):
    path = write_log(tmp_path / "a.jelly", "jelly", messages_for("jelly"))
    storage_options = json.dumps({"headers": {"X-Key": "secret"}})
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(KeyHandler, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_port}/a.jelly"
        reader = spark.read.format("rdfm").option("storageOptions", storage_options)
        reader = reader.option("columns", ", ".join(COLUMNS_WITH_OFFSET))
        rows = comparable(reader.load([url, str(path)]).collect())
    finally:
        server.shutdown()
        server.server_close()
    expected = as_rows(path)
    assert rows == [(url, *row[1:]) for row in expected] + expected


def test_importing_the_data_source_does_not_import_rdfm():
    code = "import sys, pyspark_rdfm; sys.exit('rdfm' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_older_pyspark_is_rejected(monkeypatch):
    import pyspark

    monkeypatch.setattr(pyspark, "__version__", "3.5.2")
    with pytest.raises(rdfm.MissingExtraError, match=r"rdfm needs PySpark 4\.0 or newer.*3\.5\.2"):
        DefaultSource({})


# --- archives ---


def pack_tar(path, members):
    """Writes an archive with tarfile, compressed according to its suffix."""
    with tarfile.open(path, "w:gz" if path.suffix == ".gz" else "w") as out:
        for name, text in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            out.addfile(info, io.BytesIO(text.encode()))
    return path


def test_members_of_an_archive_are_rows_of_one_task(spark, tmp_path):
    members = {f"000/{number:010}.ttl": LINE.format(number) for number in range(50)}
    path = pack_tar(tmp_path / "stream.tar.gz", {**members, "more.nq": lines("a", "b")})
    (rows,) = partitions(path, splitBytes="100")
    assert [row["source"] for row in rows[:50]] == [f"{path}!{name}" for name in members]
    assert [row["message_index"] for row in rows] == [0] * 51 + [1]
    assert texts(rows) == [str(number) for number in range(50)] + ["a", "b"]
    found = rdfm.spark.read(spark, str(tmp_path), max_message_bytes=1 << 20)
    assert sorted(row.source for row in found.collect()) == sorted(row["source"] for row in rows)


@pytest.mark.parametrize("mode", ["PERMISSIVE", "DROPMALFORMED", "FAILFAST"])
def test_errors_in_members_are_handled_according_to_the_mode(tmp_path, mode):
    members = {
        "a.ttl": LINE.format(1),
        "b.rdf": "<oops",
        "c.nq": lines("2", "oops!", "3"),
        "d.ttl": "oops",
    }
    path = pack_tar(tmp_path / "a.tar", members)
    if mode == "FAILFAST":
        with pytest.raises(DecodeError, match=r"a\.tar!b\.rdf: rdfxml: .*PERMISSIVE"):
            read(path, mode=mode)
        return
    rows = read(path, mode=mode)
    if mode == "DROPMALFORMED":
        assert texts(rows) == ["1", "2", "3"]
        return
    names = [row["source"].partition("!")[2] for row in rows]
    assert names == ["a.ttl", "b.rdf", *["c.nq"] * 3, "d.ttl"]
    assert texts(rows) == ["1", None, "2", None, "3", None]
    assert "the rest of" in rows[1]["_corrupt_record"]
    assert rows[5]["_corrupt_record"] == "oops"
    assert rows[3]["_corrupt_record"] == "oops!\n"


def test_a_truncated_archive_yields_the_messages_before_its_end(tmp_path):
    path = pack_tar(tmp_path / "a.tar", {"a.ttl": LINE.format(1), "b.ttl": LINE.format(2)})
    path.write_bytes(path.read_bytes()[:1600])
    with pytest.raises(DecodeError, match=r"the archive ends inside 'b\.ttl'"):
        read(path)
    rows = read(path, mode="PERMISSIVE")
    assert texts(rows) == ["1", None]
    assert "truncated" in rows[1]["_corrupt_record"]


def test_format_and_options_apply_to_the_members(tmp_path):
    path = pack_tar(tmp_path / "a.tar", {"a": "<s> <p> 1 .", "b": "<s> <p> 2 ."})
    rows = read(path, format="ttl", base="http://e/")
    assert [row["quads"][0]["subject"] for row in rows] == ["<http://e/s>"] * 2


def test_only_lines_are_skipped_on_request(tmp_path):
    """With `skipLines`, the rest of a message is kept, and each line has a row in the table."""
    path, errors = tmp_path / "a.nq", tmp_path / "errors"
    messages = [f"{LINE.format(i)}oops{i}\n{LINE.format(-i)}" for i in range(200)]
    path.write_text("# @message\n".join(messages))
    options = {"mode": "DROPMALFORMED", "skipLines": "true", "splitBytes": "1k"}
    rows = read(path, **options, errorsTo=str(errors))
    assert [len(row["quads"]) for row in rows] == [2] * 200
    recorded = pq.read_table(errors).sort_by("byte_offset").to_pylist()
    assert [row["message_index"] for row in recorded] == list(range(200))
    text = path.read_text()
    assert all(text.startswith(f"oops{i}", row["byte_offset"]) for i, row in enumerate(recorded))
    assert len(read(path, rows="quads", columns="object", **options)) == 400


def test_skipped_lines_do_not_limit_the_size_of_a_dump(tmp_path):
    path = tmp_path / "a.nt"
    path.write_text(LINE.format(1) * 2000 + "oops\n" + LINE.format(2) * 20_000)
    options = {
        "mode": "DROPMALFORMED",
        "maxMessageBytes": "100k",
        "rows": "quads",
        "columns": "object",
    }
    with pytest.raises(LimitError):
        read(path, **options)
    for split_bytes in ("64M", "10k"):
        assert len(read(path, skipLines="true", splitBytes=split_bytes, **options)) == 22_000
    path.write_text(path.read_text() + "oops # @message\n")
    with pytest.raises(DecodeError, match="other rows of this message may have been returned"):
        read(path, skipLines="true", **options)
    with pytest.raises(DecodeError, match="other rows of this message may have been returned"):
        read(path, skipLines="true", splitBytes="10k", **options)


def test_skipping_lines_needs_its_mode_and_formats(tmp_path):
    (tmp_path / "a.trig").write_text(LINE.format(1))
    with pytest.raises(OptionError, match="skipLines skips data, but the mode is FAILFAST"):
        read(tmp_path / "a.trig", skipLines="true")
    expected = (
        r'\.option\("skipLines", "true"\) is for N-Triples and N-Quads, but .*a\.trig is in TriG$'
    )
    with pytest.raises(OptionError, match=expected):
        read(tmp_path / "a.trig", skipLines="true", mode="DROPMALFORMED")


@pytest.mark.feature("one row per quad, filters")
def test_plain_dumps_are_split_for_quad_rows(spark, tmp_path):
    path = tmp_path / "dump.nt"
    dump = "".join(f'_:b{n % 9} <http://e/p> "{n}" .\n' for n in range(2000))
    path.write_text(dump)
    options = {"rows": "quads", "split_bytes": 4096}
    frame = rdfm.spark.read(spark, path, **options)
    assert frame.rdd.getNumPartitions() == round(len(dump) / 4096)
    expected = [(0, f"_:b{n % 9}", f'"{n}"') for n in range(2000)]
    assert [(row.message_index, row.subject, row.object) for row in frame.collect()] == expected
    # Rows of other modes cannot be withdrawn, and a filter needs the complete message.
    for unsplit in ({"mode": "PERMISSIVE"}, {"filter": {"object": '"7"'}}, {"rows": "messages"}):
        reader = LogSourceReader(as_text({"path": str(path), **options, **unsplit}))
        assert len(reader.partitions()) == 1
    path.write_text(dump * 50 + "# @message\n" + dump)
    frame = rdfm.spark.read(spark, path, rows="quads", split_bytes=1 << 20)
    with pytest.raises(PythonException, match="delimiter after its head") as caught:
        frame.count()
    assert '.option("splitBytes", "0")' in str(caught.value)
    assert rdfm.spark.read(spark, path, rows="quads", split_bytes=0).count() == 51 * 2000
