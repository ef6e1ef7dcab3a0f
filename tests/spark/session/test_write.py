"""Batch writes in a real session."""

import threading

import pytest
from parts import lines_of, messages_in, numbered, numbers_in, remaining_files, visible_files
from samples import generated

import rdfm
from rdfm import OptionError, formats
from rdfm.storage.compression import COMPRESSIONS


def save(frame, folder, to="nq", mode="append", **options):
    frame.write.format("rdfm").option("to", to).options(**options).mode(mode).save(str(folder))


@pytest.fixture
def rows(spark):
    """Ten messages in two partitions."""
    return numbered(spark.range(0, 10, 1, 2))


@pytest.mark.parametrize(
    "name", [each.name for each in formats.all() if each.spec.kinds[0] == "messages"]
)
def test_spark_writes_every_format_like_convert_and_reads_it_back(spark, tmp_path, name):
    format = formats.find(name).spec
    source = tmp_path / "source.nq"
    kind = "nanopubs" if format.carries["graphs"] else "iot"
    count = 40 if format.carries["boundaries"] else 1
    with rdfm.create_log(source) as log:
        for text in generated(kind, count):
            with rdfm.open_log(text.encode(), "nq") as message_log:
                log.write(next(iter(message_log)))
    converted = tmp_path / f"converted{format.suffixes[0]}"
    rdfm.convert(source, converted)
    save(spark.read.format("rdfm").load(str(source)), tmp_path / "parts", name)
    (part,) = visible_files(tmp_path / "parts")
    assert part.name.startswith("part-00000-")
    assert part.name.endswith(f"-c000{format.suffixes[0]}")
    with rdfm.open_log(part) as ours, rdfm.open_log(converted) as theirs:
        pairs = list(zip(ours, theirs, strict=True))
    assert len(pairs) == count
    for our, their in pairs:
        assert our.isomorphic(their)
        if format.carries["order"]:
            assert lines_of([our]) == lines_of([their])
    save(spark.read.format("rdfm").load(str(tmp_path / "parts")), tmp_path / "back")
    with rdfm.open_log(source) as log:
        for found, message in zip(messages_in(tmp_path / "back"), log, strict=True):
            assert found.isomorphic(message)


@pytest.mark.feature("write logs")
def test_a_folder_may_be_read_and_replaced_at_once(spark, rows, tmp_path):
    save(rows, tmp_path)
    frame = spark.read.format("rdfm").load(str(tmp_path))
    save(frame, tmp_path, "jelly", "overwrite")
    assert {path.suffix for path in visible_files(tmp_path)} == {".jelly"}
    assert sorted(numbers_in(tmp_path)) == list(range(10))
    save(spark.read.format("rdfm").load(str(tmp_path)), tmp_path, "trig")
    assert sorted(numbers_in(tmp_path)) == sorted([*range(10), *range(10)])


def test_metadata_and_namespaces_are_written_if_present(spark, tmp_path):
    rows = numbered(spark.range(0, 2, 1, 1)).selectExpr(
        "quads",
        "map('key', encode(concat('v', id), 'utf-8')) AS metadata",
        "map('ex', 'http://ex/') AS namespaces",
    )
    save(rows, tmp_path / "jelly", "jelly", jelly_version=2)
    messages = messages_in(tmp_path / "jelly")
    assert [message.metadata for message in messages] == [{"key": b"v0"}, {"key": b"v1"}]
    assert messages[0].namespaces == {"ex": "http://ex/"}
    # With other types, these are ordinary columns.
    save(rows.selectExpr("quads", "1 AS metadata", "quads AS namespaces"), tmp_path / "nq")
    assert numbers_in(tmp_path / "nq") == [0, 1]


def test_messages_are_in_row_order_and_parts_in_partition_order(rows, tmp_path):
    save(rows, tmp_path / "out")
    assert numbers_in(tmp_path / "out") == list(range(10))
    save(rows.sort("id", ascending=False), tmp_path / "sorted")
    assert numbers_in(tmp_path / "sorted") == list(range(9, -1, -1))
    assert remaining_files(tmp_path / "out") == []


def test_parts_are_added_or_replaced_according_to_the_mode(rows, tmp_path):
    save(rows, tmp_path)
    save(rows, tmp_path, "jelly")
    assert len(visible_files(tmp_path)) == 4
    assert sorted(numbers_in(tmp_path)) == sorted([*range(10), *range(10)])
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/old.nq").write_bytes(b"")
    (tmp_path / "_hidden").write_bytes(b"")
    save(rows.where("id < 3"), tmp_path, "trig", "overwrite")
    assert [path.suffix for path in visible_files(tmp_path) if path.is_file()] == [".trig"]
    assert list((tmp_path / "sub").iterdir()) == []
    assert (tmp_path / "_hidden").exists()
    assert (tmp_path / "_SUCCESS").exists()
    assert remaining_files(tmp_path) == []


def test_an_existing_folder_may_be_an_error_or_end_the_write(rows, tmp_path):
    folder = tmp_path / "out"
    assert rdfm.spark.write(rows, folder, "nq", mode="errorifexists").messages == 10
    with pytest.raises(FileExistsError, match="already exists"):
        rdfm.spark.write(rows, folder, "nq", mode="errorifexists")
    assert rdfm.spark.write(rows, folder, "nq", mode="ignore") == rdfm.spark.WriteSummary()
    assert len(numbers_in(folder)) == 10
    assert rdfm.spark.write(rows, tmp_path / "new", "nq", mode="ignore").messages == 10
    with pytest.raises(OptionError, match="one of 'append', 'overwrite', 'errorifexists'"):
        rdfm.spark.write(rows, folder, "nq", mode="replace")


@pytest.mark.parametrize("compression", ["none", *COMPRESSIONS])
def test_compressed_parts_have_a_suffix(rows, tmp_path, compression):
    from rdfm.storage import compression as compressions

    save(rows, tmp_path, "jelly", compression=compression.upper())
    assert numbers_in(tmp_path) == list(range(10))
    for part in visible_files(tmp_path):
        found = compressions.by_content(part.read_bytes())
        assert found == compressions.find_by_suffix(part.name)
        assert (found or "none") == compression


def test_parts_are_limited_to_max_records_per_file(rows, tmp_path):
    save(rows, tmp_path, "jelly", maxRecordsPerFile=2)
    counts = []
    for part in visible_files(tmp_path):
        with rdfm.open_log(part) as log:
            counts.append((part.name.split("-")[1], part.name[-10:-6], len(list(log))))
    assert counts == [
        (partition, f"c00{number}", count)
        for partition in ("00000", "00001")
        for number, count in enumerate((2, 2, 1))
    ]
    assert numbers_in(tmp_path) == list(range(10))


def test_empty_partitions_do_not_write_parts(spark, rows, tmp_path):
    save(rows.where("id < 0"), tmp_path / "none")
    assert visible_files(tmp_path / "none") == []
    assert (tmp_path / "none/_SUCCESS").exists()
    save(rows.where("id > 6"), tmp_path / "half")  # the first partition is empty
    assert [path.name[:10] for path in visible_files(tmp_path / "half")] == ["part-00001"]
    save(rows.where("id < 0"), tmp_path / "half", mode="overwrite")
    assert visible_files(tmp_path / "half") == []


def test_rows_without_quads_become_empty_messages(writer, tmp_path):
    writer.commit([writer.write(iter([as_rows({"quads": []}, {"quads": []})]))])
    assert lines_of(messages_in(tmp_path)) == [[], []]


def test_large_string_types_are_accepted(spark, rows, tmp_path):
    spark.conf.set("spark.sql.execution.arrow.useLargeVarTypes", "true")
    try:
        save(rows, tmp_path)
    finally:
        spark.conf.unset("spark.sql.execution.arrow.useLargeVarTypes")
    assert numbers_in(tmp_path) == list(range(10))


def test_the_graph_field_may_be_omitted(spark, tmp_path):
    rows = spark.sql(
        "SELECT array(struct('<http://ex/o>' AS object, '_:s' AS subject, '<http://ex/p>' AS predicate))"
        " AS quads"
    )
    save(rows, tmp_path)
    assert lines_of(messages_in(tmp_path)) == [["_:s <http://ex/p> <http://ex/o> ."]]


def test_a_write_with_an_id_is_performed_only_once(rows, tmp_path):
    for _ in range(2):
        save(rows, tmp_path, writeId="load of Monday / 1")
    assert numbers_in(tmp_path) == list(range(10))
    save(rows, tmp_path, mode="overwrite", writeId="load of Tuesday")
    save(rows.where("id < 5"), tmp_path)
    save(rows, tmp_path, mode="overwrite", writeId="load of Tuesday")
    assert sorted(numbers_in(tmp_path)) == sorted([*range(10), *range(5)])
    assert remaining_files(tmp_path) == []


def error_of_write(frame, folder, *args, **options):
    """Returns the error text of a write, which must leave no visible files."""
    parts_before = visible_files(folder) if folder.exists() else []
    with pytest.raises(Exception) as error:
        save(frame, folder, *args, **options)
    assert (visible_files(folder) if folder.exists() else []) == parts_before
    assert not folder.exists() or remaining_files(folder) == []
    return str(error.value)


def test_the_error_for_an_invalid_term_names_row_quad_and_part(spark, tmp_path):
    invalid_quad = (
        "named_struct('subject','<http://ex/s>','predicate','no term','object','_:o','graph','_:g')"
    )
    rows = numbered(spark.range(0, 6000, 1, 2)).selectExpr(
        f"if(id = 5500, array(quads[0], {invalid_quad}), quads) AS quads"
    )
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "1000")
    try:
        text = error_of_write(rows, tmp_path / "out")
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
    assert "partition 1 of the rows" in text
    assert "quad 1, predicate" in text
    assert "found 'no'" in text
    assert "row 2500" in text


def test_messages_that_a_format_does_not_support_are_rejected(spark, tmp_path):
    rows = spark.sql(
        "SELECT array(struct('_:s' AS subject, '<http://ex/p>' AS predicate, '_:o' AS object,"
        " '<http://ex/g>' AS graph)) AS quads"
    )
    text = error_of_write(rows, tmp_path / "out", "ttl")
    assert "graph" in text
    assert "message 0" in text
    save(rows, tmp_path / "out", "trig")
    text = error_of_write(numbered(spark.range(2)).coalesce(1), tmp_path / "many", "jsonld")
    assert (
        '; .option("flat", "true") makes them one message, or .option("maxRecordsPerFile", "1")'
        in text
    )


@pytest.mark.parametrize(
    ("columns", "fragments"),
    [
        (["id"], ["column quads", "their columns are id"]),
        (["'text' AS quads"], ["column quads", "not string"]),
        (["array(struct(1 AS subject, 'p' AS predicate, 'o' AS object)) AS quads"], ["int"]),
        (["array(struct('s' AS subject, 'p' AS predicate)) AS quads"], ["object"]),
        (
            ["quads", "map('topic', 'birds') AS metadata"],
            [
                "metadata must be of type map<string,binary>",
                "not map<string,string>",
                "cast it",
                "drop",
            ],
        ),
    ],
)
def test_rows_with_wrong_columns_are_rejected_before_any_task(rows, tmp_path, columns, fragments):
    text = error_of_write(rows.selectExpr(*columns), tmp_path / "out")
    assert "OptionError" in text
    assert all(fragment in text for fragment in fragments)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("to", "options", "fragments"),
    [
        ("klingon", {}, ["klingon", "jelly"]),
        ("nq", {"compression": "rar"}, ["compression", "gzip"]),
        ("nq", {"maxRecordsPerFile": "-1"}, ["maxRecordsPerFile"]),
        ("nq", {"dialekt": "comment"}, ["dialekt", "dialect"]),
        (
            "nq",
            {"maxRecordPerFile": "5"},
            ["no option 'maxrecordperfile'; did you mean maxRecordsPerFile"],
        ),
        ("nq", {"dialect": "klingon"}, ["dialect", "directive"]),
        ("nq", {"writeId": ""}, ["writeId"]),
        ("nq", {"storageOptions": "secret"}, ["storageOptions", "JSON"]),
    ],
)
def test_options_are_checked_before_any_task(rows, tmp_path, to, options, fragments):
    text = error_of_write(rows, tmp_path / "out", to, **options)
    assert all(fragment.lower() in text.lower() for fragment in fragments)
    assert "secret" not in text
    assert not (tmp_path / "out").exists()


def test_another_thread_must_register_before_it_writes(spark, rows, tmp_path):
    from rdfm.spark import register

    errors = []

    def write(prepare):
        try:
            prepare()
            rows.write.format("rdfm").option("to", "nq").mode("append").save(str(tmp_path / "out"))
        except Exception as error:
            errors.append(str(error))

    for prepare in (lambda: None, lambda: register(spark)):
        thread = threading.Thread(target=write, args=[prepare])
        thread.start()
        thread.join()
    assert len(errors) == 1  # without registration, Spark raises an error
    assert "Failed to find the data source" in errors[0]
    assert len(messages_in(tmp_path / "out")) == rows.count()


def test_the_format_and_the_path_are_required(rows, tmp_path):
    with pytest.raises(Exception, match=r"the option 'to' is required.*jelly"):
        rows.write.format("rdfm").mode("append").save(str(tmp_path / "out"))
    with pytest.raises(Exception, match="no path"):
        rows.write.format("rdfm").option("to", "nq").mode("append").save()
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(Exception, match="is a file; Spark writes a folder"):
        save(rows, tmp_path / "file")


def test_an_empty_path_is_not_the_working_directory(tmp_path, monkeypatch):
    from rdfm.spark.readers.reader import LogSourceReader
    from rdfm.spark.schema import default_schema
    from rdfm.spark.streams.stream import LogSourceStreamReader
    from rdfm.spark.writers.writer import LogSourceStreamWriter, LogSourceWriter

    monkeypatch.chdir(tmp_path)
    (tmp_path / "other").mkdir()
    for create in (
        lambda: LogSourceWriter({"path": "", "to": "nq"}, default_schema(), True),
        lambda: LogSourceStreamWriter({"path": "", "to": "nq"}, default_schema(), False),
        lambda: LogSourceReader({"path": ""}),
        lambda: LogSourceReader({"paths": '["other", ""]'}),
        lambda: LogSourceStreamReader({"path": "", "stateLocation": "other"}),
    ):
        with pytest.raises(rdfm.OptionError, match="the path is empty"):
            create()
    for paths in ("other", '"other"'):
        with pytest.raises(rdfm.OptionError, match="the option paths is reserved for Spark"):
            LogSourceReader({"paths": paths})
    with pytest.raises(rdfm.OptionError, match="needs the option stateLocation"):
        LogSourceStreamReader({"path": "other", "stateLocation": ""})
    assert [path.name for path in tmp_path.rglob("*")] == ["other"]


def test_a_url_with_one_slash_is_rejected(spark, rows, tmp_path):
    from rdfm.spark.schema import default_schema
    from rdfm.spark.streams.stream import LogSourceStreamReader
    from rdfm.spark.writers.writer import LogSourceStreamWriter

    text = r"hdfs:/logs has one slash after hdfs:.* write hdfs://host/logs"
    with pytest.raises(Exception, match=text):
        save(rows, "hdfs:/logs")
    with pytest.raises(Exception, match=text):
        spark.read.format("rdfm").load("hdfs:/logs")
    with pytest.raises(rdfm.OptionError, match=text):
        rdfm.spark.read(spark, "hdfs:/logs")
    stream = {"path": str(tmp_path), "stateLocation": "hdfs:/logs"}
    for create in (
        lambda: LogSourceStreamWriter({"path": "hdfs:/logs", "to": "nq"}, default_schema(), False),
        lambda: LogSourceStreamReader(stream),
    ):
        with pytest.raises(rdfm.OptionError, match=text):
            create()


def test_encoder_options_are_strings(rows, tmp_path):
    save(rows, tmp_path, "trig", dialect="directive", PREFIXES='{"ex": "http://ex/"}')
    text = visible_files(tmp_path)[0].read_text()
    assert "PREFIX ex: <http://ex/>" in text or "@prefix ex: <http://ex/>" in text
    assert "MESSAGE" in text


def test_spark_rejects_other_modes_partitioning_and_buckets(rows, tmp_path):
    def write(mode="append"):
        return rows.write.format("rdfm").option("to", "nq").mode(mode)

    for mode, name in (("error", "ErrorIfExists"), ("ignore", "Ignore")):
        with pytest.raises(Exception, match=f'cannot be written in the "{name}" mode'):
            write(mode).save(str(tmp_path / "out"))
    with pytest.raises(Exception, match="partitioning or clustering columns do not match"):
        write().partitionBy("id").save(str(tmp_path / "out"))
    with pytest.raises(Exception, match="does not support bucketBy"):
        write().bucketBy(2, "id").save(str(tmp_path / "out"))
    with pytest.raises(Exception, match="sortBy must be used together with bucketBy"):
        write().sortBy("id").save(str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_urls_are_written_through_fsspec(spark, rows, tmp_path):
    url = f"local://{tmp_path}/out"
    save(rows, url, writeId="once")
    save(rows, url, writeId="once")
    assert numbers_in(tmp_path / "out") == list(range(10))
    save(rows.where("id < 4"), url, "jelly", "overwrite", storageOptions='{"auto_mkdir": true}')
    assert numbers_in(tmp_path / "out") == [0, 1, 2, 3]
    assert remaining_files(tmp_path / "out") == []
    assert spark.read.format("rdfm").load(url).count() == 4


def test_a_file_url_is_a_path(rows, tmp_path):
    save(rows, (tmp_path / "out here").as_uri())
    assert numbers_in(tmp_path / "out here") == list(range(10))


def as_rows(*rows):
    """Returns rows in the form in which tasks receive them."""
    import pyarrow

    string = pyarrow.string()
    parts = ("subject", "predicate", "object", "graph")
    types = {
        "quads": pyarrow.list_(pyarrow.struct([(part, string) for part in parts])),
        "metadata": pyarrow.map_(string, pyarrow.binary()),
        "namespaces": pyarrow.map_(string, string),
    }
    return pyarrow.RecordBatch.from_pylist(list(rows), pyarrow.schema(types))


QUAD = {"subject": "_:s", "predicate": "<http://ex/p>", "object": "_:o", "graph": None}


@pytest.fixture
def writer(tmp_path):
    """A writer without a session."""
    from rdfm.spark.schema import default_schema
    from rdfm.spark.writers.writer import LogSourceWriter

    schema = default_schema(("quads", "metadata", "namespaces"))
    return LogSourceWriter({"path": str(tmp_path), "to": "nq"}, schema, False)


def test_a_warning_reports_dropped_data(writer, tmp_path, caplog):
    row = {"quads": [QUAD], "metadata": [("key", b"v")], "namespaces": [("ex", "http://ex/")]}
    writer.commit([writer.write(iter([as_rows(row, row)])) for _ in range(2)])
    assert caplog.messages == [
        f"{tmp_path}: dropped data that nq does not support: metadata 4, namespaces 2"
    ]


def test_a_path_in_the_temporary_folder_of_a_session_is_rejected(tmp_path, monkeypatch):
    from pyspark import SparkFiles

    from rdfm.spark.readers.reader import LogSourceReader
    from rdfm.spark.schema import default_schema
    from rdfm.spark.streams.stream import LogSourceStreamReader
    from rdfm.spark.writers.writer import LogSourceWriter

    (tmp_path / "logs").mkdir()
    monkeypatch.chdir(tmp_path)
    # As in Spark Connect workers.
    monkeypatch.setattr(SparkFiles, "_is_running_on_worker", True)
    monkeypatch.setattr(SparkFiles, "_root_directory", str(tmp_path))
    for create in (
        lambda: LogSourceWriter({"path": "logs", "to": "nq"}, default_schema(), False),
        lambda: LogSourceReader({"path": "logs"}),
        lambda: LogSourceStreamReader({"path": str(tmp_path), "stateLocation": "state"}),
    ):
        with pytest.raises(rdfm.OptionError, match=r"is relative .* use an absolute path"):
            create()
    assert LogSourceReader({"path": str(tmp_path / "logs")}).find_files() == []
    monkeypatch.setattr(SparkFiles, "_root_directory", str(tmp_path.parent))
    assert LogSourceReader({"path": "logs"}).paths == [str(tmp_path / "logs")]


@pytest.mark.parametrize(
    ("quads", "reason"),
    [
        (None, r"found null; exclude such rows with `where quads is not null`"),
        ([QUAD, None], "quad 1 is null"),
    ],
)
def test_null_quad_errors_name_their_row(writer, tmp_path, quads, reason):
    valid = as_rows({"quads": [QUAD]}, {"quads": []})
    with pytest.raises(rdfm.DecodeError, match=rf"partition 0 of the rows: .*{reason}.*row 3"):
        writer.write(iter([valid, as_rows({"quads": []}, {"quads": quads}, {"quads": quads})]))
    writer.abort([None])
    assert visible_files(tmp_path) == []
    assert remaining_files(tmp_path) == []
