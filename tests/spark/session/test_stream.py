"""Streams of logs: each file is read exactly once, regardless of arrivals and restarts."""

import contextlib
import json
import logging
import os
import pickle
import time
from pathlib import Path

import pyarrow
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import functions
from pyspark.sql.pandas.types import to_arrow_schema

import rdfm
import rdfm.spark
from rdfm import formats
from rdfm.errors import DecodeError, OptionError
from rdfm.spark import read_stream
from rdfm.spark.compat import ReadAllAvailable, ReadMaxBytes, ReadMaxFiles
from rdfm.spark.readers.rows import SparkReading
from rdfm.spark.schema import default_schema
from rdfm.spark.spark_options import Options
from rdfm.spark.streams.stream import LogSourceStreamReader, check_unchanged_files
from rdfm.spark.writers.commit import CommitTarget
from rdfm.spark.writers.writer import LogSourceWriter
from rdfm.storage.files import File

ODD_NAMES = ["a b.nq", "c%20d.nq", "é🙂.nq", "p+q.nq", "h#.nq", "x;y=1.nq", "c:d.nq", "&'.nq"]
GLOB_NAMES = ["q?x.nq", "br[1].nq", "{z}.nq", "s*.nq", "back\\slash.nq"]
S, P = rdfm.Iri("http://ex/s"), rdfm.Iri("http://ex/p")
LINE = '<http://ex/s> <http://ex/p> "{}" .\n'
INVALID_LOG = (
    'VERSION "1.2-messages"\n' + LINE.format(0) + "MESSAGE\nbroken\nMESSAGE\n" + LINE.format(1)
)


class StreamFolder:
    """A folder with logs that streams read, and the output of a query on this folder."""

    def __init__(self, root, spark=None):
        self.spark = spark
        self.root = root
        self.logs = root / "logs"
        self.logs.mkdir()
        self.state = root / "state"
        self.written = 0

    def add_log(self, name, count=3, **options):
        """Writes a log of messages whose only object is a unique number."""
        (self.logs / name).parent.mkdir(exist_ok=True)
        with rdfm.create_log(self.logs / name, **options) as log:
            for _ in range(count):
                number = rdfm.Literal(str(self.written))
                log.write([rdfm.Quad(S, P, number)])
                self.written += 1

    def stream(self, source, **options):
        """Returns the rows of a stream that the given source reads."""
        if source == "read_stream":
            return read_stream(self.spark, str(self.logs), **options)
        reader = self.spark.readStream.format("rdfm").options(stateLocation=self.state, **options)
        return reader.load(str(self.logs))

    def run(self, source, **options):
        """Restarts the query and runs it on the available files.

        Returns the number of rows of each batch.
        """
        query = (
            self.stream(source, **options)
            .writeStream.format("parquet")
            .option("path", str(self.root / "out"))
            .option("checkpointLocation", str(self.root / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        return [
            progress["numInputRows"]
            for progress in query.recentProgress
            if progress["numInputRows"]
        ]

    def rows(self):
        """Returns the rows of the output."""
        return self.spark.read.parquet(str(self.root / "out")).collect()

    def numbers(self):
        """Returns the numbers of the messages in the output, in order."""
        return numbers(row.asDict(recursive=True) for row in self.rows())

    def engine(self, **options):
        """Returns the stream of `format("rdfm")` without Spark."""
        return Engine({"path": str(self.logs), "statelocation": str(self.state), **options})


class Engine:
    """Simulates Spark's side of a stream.

    It stores offsets as strings, and requests batches while there is new data.
    """

    def __init__(self, options, start=None):
        self.options = options
        self.reader = LogSourceStreamReader(options)
        self.offset = start

    def resumed(self):
        """Returns a new run that starts from the checkpoint of this run."""
        return Engine(self.options, self.offset)

    def plan(self, limit=None):
        """Plans the next batch without reading it. Returns the end of the batch."""
        if self.offset is None:
            self.offset = json.dumps(self.reader.initialOffset())
        limit = limit or self.reader.getDefaultReadLimit()
        return json.dumps(self.reader.latestOffset(json.loads(self.offset), limit))

    def read(self, end):
        """Returns the rows of a batch. Each task has a separate reader."""
        parts = self.reader.partitions(json.loads(self.offset), json.loads(end))
        rows = []
        for part in parts:
            task = pickle.loads(pickle.dumps(LogSourceStreamReader(self.options)))
            for batch in task.read(pickle.loads(pickle.dumps(part))):
                rows += batch.to_pylist()
        return rows

    def rows(self):
        """Returns the rows of all new files."""
        return [row for batch in self.run() for row in batch]

    def run(self, limit=None):
        """Returns the rows of each batch."""
        self.reader.prepareForTriggerAvailableNow()
        batches = []
        while (end := self.plan(limit)) != self.offset:
            batches.append(self.read(end))
            self.offset = end
            self.reader.commit(json.loads(end))
        return batches


def numbers(rows):
    """Returns the numbers of messages, in order."""
    return sorted(int(row["quads"][0]["object"].strip('"')) for row in rows)


def sources(rows):
    """Returns the file names in the rows, in order and without repetitions."""
    return list(dict.fromkeys(Path(row["source"]).name for row in rows))


@pytest.fixture
def local_folder(tmp_path):
    """A folder for tests without Spark."""
    return StreamFolder(tmp_path)


@pytest.fixture
def spark_folder(spark, tmp_path):
    """A folder for tests with Spark."""
    return StreamFolder(tmp_path, spark)


both_sources = pytest.mark.parametrize("source", ["read_stream", "format"])


# --- in Spark ---


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("read_stream", marks=pytest.mark.feature("`read_stream`")),
        pytest.param("format", marks=pytest.mark.feature('`readStream.format("rdfm")`')),
    ],
)
def test_each_file_is_read_once_over_many_runs(spark_folder, source):
    for module in formats.all():
        if module.spec.kinds[0] != "messages":
            continue
        options = {} if module.spec.carries["boundaries"] else {"count": 1}
        spark_folder.add_log(f"log{module.spec.suffixes[0]}", format=module.name, **options)
    spark_folder.run(source)
    assert spark_folder.numbers() == list(range(spark_folder.written)) != []
    assert spark_folder.run(source) == []
    for name in ODD_NAMES:
        spark_folder.add_log(name, count=1)
    spark_folder.run(source)
    assert spark_folder.numbers() == list(range(spark_folder.written))
    names = {Path(row.source).name for row in spark_folder.rows()}
    assert sorted(names) == sorted(path.name for path in spark_folder.logs.iterdir())


@pytest.mark.feature("`Trigger.AvailableNow`, restarted after a failure")
@both_sources
def test_a_restarted_query_writes_each_message_once(spark_folder, source):
    """The first attempt fails after it has written its batch. The next one repeats the batch."""
    out = str(spark_folder.root / "written")

    def run(fails=False):
        def save(rows, number):
            rdfm.spark.write(rows, out, "nq", write_id=f"batch {number}")
            if fails:
                raise ValueError("the batch was written")

        query = (
            spark_folder.stream(source)
            .writeStream.foreachBatch(save)
            .option("checkpointLocation", str(spark_folder.root / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()

    spark_folder.add_log("a.nq")
    with pytest.raises(PySparkException, match="the batch was written"):
        run(fails=True)
    spark_folder.add_log("b.jelly")
    run()
    run()
    rows = rdfm.spark.read(spark_folder.spark, out).collect()
    assert numbers(row.asDict(recursive=True) for row in rows) == list(range(6))


@pytest.mark.parametrize(
    "source",
    [
        "read_stream",
        pytest.param(
            "format",
            marks=pytest.mark.feature('limits per trigger of `format("rdfm")`', since=(4, 2)),
        ),
    ],
)
def test_limits_apply_to_the_files_of_a_batch(spark_folder, source):
    for name in range(5):
        spark_folder.add_log(f"{name}.nq", count=3)
    # With `read_stream`, Spark counts the rows of its own source, which are files.
    expected = {"read_stream": [2, 2, 1], "format": [6, 6, 3]}[source]
    assert spark_folder.run(source, maxFilesPerTrigger="2") == expected
    assert spark_folder.numbers() == list(range(15))
    for name in range(5, 8):
        spark_folder.add_log(f"{name}.nq", count=3)
    assert spark_folder.run(source, maxBytesPerTrigger="1") == [expected[-1]] * 3
    assert spark_folder.numbers() == list(range(24))


def test_the_spark_source_accepts_its_options_and_reads_no_content(spark_folder):
    spark_folder.add_log("a.nq", count=1)
    spark_folder.add_log("sub/b.nq", count=1)
    spark_folder.add_log("sub/c.trig", count=1)
    for name in ("_hidden.nq", ".hidden.nq", "sub/empty.nq"):
        (spark_folder.logs / name).write_bytes(b"" if "empty" in name else LINE.format(7).encode())
    rows = spark_folder.stream(
        "read_stream",
        recursive_file_lookup=True,
        pathGlobFilter="*.nq",
        schema="byte_offset bigint, source string",
    )
    assert rows.columns == ["byte_offset", "source"]
    query = (
        rows.writeStream.format("memory")
        .queryName("found")
        .option("checkpointLocation", str(spark_folder.root / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    found = spark_folder.spark.table("found").collect()
    assert sorted((row.byte_offset, Path(row.source).name) for row in found) == [
        (0, "a.nq"),
        (0, "b.nq"),
    ]
    plan = query._jsq.explainInternal(True).partition("== Physical Plan ==")[2]
    schema = plan.partition("ReadSchema: ")[2].splitlines()[0]
    assert schema.startswith("struct<path:string>")


def test_names_that_look_like_globs_are_rejected_or_read_once(spark_folder):
    # Spark's source reads the files next to such a file twice.
    for name in ["a.nq", *GLOB_NAMES]:
        spark_folder.add_log(name, count=1)
    with pytest.raises(PySparkException, match="set recursiveFileLookup=true"):
        spark_folder.run("read_stream")
    spark_folder.run("read_stream", recursiveFileLookup=True)
    assert spark_folder.numbers() == list(range(spark_folder.written))


def test_an_invalid_file_ends_the_query_or_becomes_a_row(spark_folder):
    spark_folder.add_log("a.nq", count=1)
    (spark_folder.logs / "b.nq").write_text(INVALID_LOG)
    with pytest.raises(PySparkException, match=r"b\.nq: nq: .*line 4"):
        spark_folder.run("read_stream")
    spark_folder.run("read_stream", mode="PERMISSIVE")
    texts = [row._corrupt_record for row in spark_folder.rows() if row._corrupt_record is not None]
    assert len(spark_folder.rows()) == 4
    assert [text.strip() for text in texts] == ["broken"]


@both_sources
def test_a_pipe_in_the_folder_is_rejected_or_ignored(spark_folder, source):
    spark_folder.add_log("a.nq", count=1)
    os.mkfifo(spark_folder.logs / "b.nq")
    if source == "read_stream":  # Spark's source ignores empty files
        spark_folder.run(source)
    else:
        with pytest.raises(PySparkException, match=r"a pipe, device or socket.*pathGlobFilter"):
            spark_folder.run(source)
        spark_folder.run(source, pathGlobFilter="a*")
    assert len(spark_folder.rows()) == 1


class Interrupted:
    """A query whose first batch, with the logs a, b and c, is planned, and tried with other options."""

    def __init__(self, folder, source):
        self.folder, self.source, self.read = folder, source, []
        for name in "abc":
            folder.add_log(f"{name}.nq", count=1)
        self.attempt()

    def attempt(self, finish=False, **options):
        """Reads the batch, and fails unless it is to finish. Returns the numbers."""
        found = []

        def collect(rows, number):
            found.extend(row.asDict(recursive=True) for row in rows.collect())
            if not finish:
                raise ValueError("the batch was read")

        query = (
            self.folder.stream(self.source, **options)
            .writeStream.foreachBatch(collect)
            .option("checkpointLocation", str(self.folder.root / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        try:
            query.awaitTermination()
        except PySparkException as error:
            if "the batch was read" not in str(error):
                raise
        return numbers(found)


def test_files_that_changed_since_they_were_found(spark_folder):
    query = Interrupted(spark_folder, "format")
    (spark_folder.logs / "c.nq").write_text(LINE.format(33))
    with pytest.raises(PySparkException, match=r"changed after it was found.*/c\.nq"):
        query.attempt()
    assert query.attempt(changedFiles="skip") == [0, 1]
    assert query.attempt(changedFiles="read") == [0, 1, 33]
    (spark_folder.logs / "b.nq").unlink()
    for changed in ("skip", "read"):
        with pytest.raises(PySparkException, match=r"was deleted after.*/b\.nq"):
            query.attempt(changedFiles=changed)
    options = {"changedFiles": "read", "ignoreMissingFiles": "true"}
    assert query.attempt(finish=True, **options) == [0, 33]
    spark_folder.add_log("d.nq", count=1)
    assert query.attempt(finish=True, **options) == [3]


def test_the_spark_source_lists_the_files_of_a_batch_again(spark_folder):
    query = Interrupted(spark_folder, "read_stream")
    (spark_folder.logs / "b.nq").unlink()
    (spark_folder.logs / "c.nq").write_text(LINE.format(33))
    assert query.attempt(finish=True) == [0, 33]
    spark_folder.add_log("d.nq", count=1)
    assert query.attempt(finish=True) == [3]


@pytest.mark.feature('`readStream.format("rdfm")`')
def test_a_second_query_with_the_same_state_stops_the_first(spark_folder, tmp_path):
    spark_folder.add_log("a.nq", count=1)

    def start(name, **trigger):
        return (
            spark_folder.stream("format")
            .writeStream.format("parquet")
            .option("path", str(tmp_path / name))
            .option("checkpointLocation", str(tmp_path / f"{name}-checkpoint"))
            .trigger(**trigger)
            .start()
        )

    def read(name):
        rows = spark_folder.spark.read.parquet(str(tmp_path / name)).collect()
        return numbers(row.asDict(recursive=True) for row in rows)

    first = start("first", processingTime="100 milliseconds")
    first.processAllAvailable()
    start("second", availableNow=True).awaitTermination()
    spark_folder.add_log("b.nq", count=1)
    with pytest.raises(PySparkException, match=f"{tmp_path}/state: another query"):
        first.awaitTermination()
    for name in ("second", "first"):
        start(name, availableNow=True).awaitTermination()
        assert read(name) == [0, 1]


@pytest.mark.feature('`readStream.format("rdfm")`')
def test_a_full_disk_ends_the_query_and_loses_nothing(spark_folder, small_disk):
    """The disk contains the list of files."""
    spark_folder.state = small_disk / "state"
    spark_folder.add_log("a.nq", count=1)
    spark_folder.run("format")
    filler = small_disk / "filler"
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        while file.write(bytes(1 << 16)):
            pass
    spark_folder.add_log("b.nq", count=1)
    with pytest.raises(PySparkException, match=r"No space left on device: .*/disk/state/"):
        spark_folder.run("format")
    filler.unlink()
    spark_folder.add_log("c.nq", count=1)
    spark_folder.run("format")
    assert spark_folder.numbers() == [0, 1, 2]


def test_values_of_folders_are_taken_from_the_names(spark_folder):
    """The expression is on the page spark-reference.md."""
    for day in ("2026-06-01", "2026-06-02"):
        spark_folder.add_log(f"day={day}/a.nq", count=1)
    rows = spark_folder.stream("read_stream", recursiveFileLookup=True, columns=["source"])
    query = (
        rows.select(functions.regexp_extract("source", "/day=([^/]*)/", 1).alias("day"))
        .writeStream.format("memory")
        .queryName("days")
        .option("checkpointLocation", str(spark_folder.root / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    days = [row.day for row in spark_folder.spark.table("days").orderBy("day").collect()]
    assert days == ["2026-06-01", "2026-06-02"]


def test_the_spark_source_ignores_old_files_and_the_rdfm_source_does_not(spark_folder):
    spark_folder.add_log("a.nq", count=1)
    assert spark_folder.run("read_stream") == [1]
    spark_folder.add_log("b.nq", count=1)
    os.utime(
        spark_folder.logs / "b.nq", (time.time() - 8 * 24 * 3600,) * 2
    )  # as if it had been moved here
    assert spark_folder.run("read_stream") == []
    assert spark_folder.run("read_stream", maxFileAge="9d") == [1]
    engine = spark_folder.engine()
    (spark_folder.logs / "b.nq").rename(spark_folder.logs / "c.nq")
    assert sources(engine.rows()) == ["c.nq", "a.nq"]


def test_a_stream_of_logs_is_written_by_the_sink_and_read_again(spark_folder):
    out = spark_folder.root / "parts"

    def run():
        query = (
            spark_folder.stream("read_stream")
            .writeStream.format("rdfm")
            .option("to", "jelly")
            .option("checkpointLocation", str(spark_folder.root / "checkpoint"))
            .trigger(availableNow=True)
            .start(str(out))
        )
        query.awaitTermination()

    spark_folder.add_log("a.nq")
    spark_folder.add_log("b.trig")
    run()
    engine = spark_folder.engine(path=str(out))
    assert numbers(engine.rows()) == list(range(6))
    spark_folder.add_log("c.jelly")
    run()
    assert numbers(engine.resumed().rows()) == [6, 7, 8]


def test_options_are_checked_before_the_query_starts(spark_folder):
    for options, text in [
        ({"modifiedAfter": "2026-01-01"}, "no option 'modifiedafter'"),
        ({"nonsense": 1}, "there is no option 'nonsense'"),
        ({"changedFiles": "maybe"}, "one of 'error', 'skip', 'read'"),
        ({"changedFiles": "skip"}, "only changedFiles=read"),
        ({"changed_files": "error"}, "only changedFiles=read"),
        ({"max_files_per_trigger": 0}, "maxFilesPerTrigger"),
        ({"maxBytesPerTrigger": -1}, "maxBytesPerTrigger"),
        ({"schema": "subject string"}, "there is no column 'subject'"),
    ]:
        with pytest.raises(OptionError, match=text):
            read_stream(spark_folder.spark, str(spark_folder.logs), **options)
    reader = spark_folder.spark.readStream.format("rdfm")
    with pytest.raises(PySparkException, match="needs the option stateLocation"):
        reader.option("maxFilesPerTrigger", 1).load(str(spark_folder.logs))
    with pytest.raises(PySparkException, match="nowhere"):
        reader.option("stateLocation", str(spark_folder.root / "state")).load(
            str(spark_folder.root / "nowhere")
        )


# --- the reader of format("rdfm") without Spark ---


def test_a_stream_continues_from_its_checkpoint(local_folder):
    local_folder.add_log("a.nq")
    local_folder.add_log("b.trig.gz")
    engine = local_folder.engine()
    assert numbers(engine.rows()) == list(range(6))
    assert engine.run() == []
    local_folder.add_log("c.jelly")
    engine = engine.resumed()
    assert sources(engine.rows()) == ["c.jelly"]
    assert engine.resumed().run() == []


@pytest.mark.parametrize("steps", range(4))
def test_a_stop_at_any_step_neither_loses_nor_duplicates_messages(local_folder, steps):
    local_folder.add_log("a.nq")
    engine = local_folder.engine(maxfilespertrigger="1")
    engine.run()
    checkpoint = engine.offset
    local_folder.add_log("b.nq")
    local_folder.add_log("c.nq")
    # Depending on the number of steps, the batch was planned, read and committed before the stop.
    end = engine.plan() if steps else None
    first_read = engine.read(end) if steps > 1 else []
    if steps > 2:
        engine.reader.commit(json.loads(end))
    local_folder.add_log("d.nq")
    engine = Engine(engine.options, checkpoint)
    replayed = engine.read(end) if end is not None else []
    assert first_read in ([], replayed)
    engine.offset = end or checkpoint
    remaining = engine.rows()
    assert numbers(replayed + remaining) == list(range(3, 12))
    assert sources(replayed + remaining) == ["b.nq", "c.nq", "d.nq"]


def test_files_are_not_read_again_if_the_folder_is_spelled_differently(local_folder):
    local_folder.add_log("a.nq")
    engine = local_folder.engine()
    assert len(engine.rows()) == 3
    (local_folder.root / "link").symlink_to(local_folder.logs)
    for path in ("logs/", "logs/../logs", "link", "link/*.nq"):
        resumed = Engine({**engine.options, "path": f"{local_folder.root}/{path}"}, engine.offset)
        assert resumed.run() == [], path
    resumed = Engine({**engine.options, "path": local_folder.logs.as_uri()}, engine.offset)
    assert resumed.run() == []


def test_the_size_of_a_task_does_not_grow_with_the_list(local_folder):
    engine = local_folder.engine()
    sizes = {len(pickle.dumps(engine.reader))}
    for name in range(3):
        local_folder.add_log(f"{name}.nq", count=1)
        engine.run()
        (local_folder.logs / f"{name}.nq").write_text(LINE.format(77))
        engine.run()  # the file is recognized as a different file
        sizes.add(len(pickle.dumps(engine.reader)))
    assert len(sizes) == 1
    assert len(engine.reader._files.files) == 3


def test_files_that_arrive_during_available_now_are_left_for_the_next_run(local_folder):
    local_folder.add_log("a.nq")
    engine = local_folder.engine()
    engine.reader.prepareForTriggerAvailableNow()
    local_folder.add_log("b.nq")
    end = engine.plan()
    assert sources(engine.read(end)) == ["a.nq"]
    engine.offset = end
    assert engine.plan() == end
    assert sources(engine.resumed().rows()) == ["b.nq"]


def test_limits_count_files_or_bytes_and_spark_may_lift_them(local_folder):
    for name in range(5):
        local_folder.add_log(f"{name}.nq", count=1)
    size = (local_folder.logs / "0.nq").stat().st_size
    assert local_folder.engine().reader.getDefaultReadLimit() == ReadAllAvailable()
    by_files = local_folder.engine(maxfilespertrigger="2")
    assert by_files.reader.getDefaultReadLimit() == ReadMaxFiles(2)
    assert [len(batch) for batch in by_files.run()] == [2, 2, 1]
    by_bytes = local_folder.engine(maxbytespertrigger=str(3 * size))
    assert by_bytes.reader.getDefaultReadLimit() == ReadMaxBytes(3 * size)
    assert [len(batch) for batch in by_bytes.run()] == [3, 2]
    assert [len(batch) for batch in local_folder.engine(maxbytespertrigger="1").run()] == [1] * 5
    assert [
        len(batch) for batch in by_files.__class__(by_files.options).run(ReadAllAvailable())
    ] == [5]
    with pytest.raises(OptionError, match="not both"):
        local_folder.engine(maxbytespertrigger="1", maxfilespertrigger="1")


def test_large_logs_are_split_and_small_logs_are_combined(local_folder):
    for name in ("a.nq", "b.nq", "c.jelly"):
        local_folder.add_log(name, count=200)
    engine = local_folder.engine(splitbytes="2000", columns="message_index, quads")
    end = engine.plan()
    parts = engine.reader.partitions(json.loads(engine.offset), json.loads(end))
    assert len(parts) > 5
    rows = engine.read(end)
    assert [row["message_index"] for row in rows] == [*range(200)] * 3
    assert numbers(rows) == list(range(600))
    one_task = local_folder.engine(minpartitions="1")
    assert len(one_task.reader.partitions(json.loads(engine.offset), json.loads(end))) == 1


def test_files_are_read_oldest_first_and_then_by_name(local_folder):
    for name, age in (("c.nq", 30), ("a.nq", 10), ("b10.nq", 20), ("b9.nq", 20)):
        local_folder.add_log(name, count=1)
        os.utime(local_folder.logs / name, (time.time() // 1 - age,) * 2)
    (rows,) = local_folder.engine().run()
    assert sources(rows) == ["c.nq", "b9.nq", "b10.nq", "a.nq"]


def test_any_name_is_read_and_hidden_files_are_ignored(local_folder):
    for name in ODD_NAMES + GLOB_NAMES:
        local_folder.add_log(name, count=1)
    for name in ("_hidden.nq", ".hidden.nq", "sub/deep.nq"):
        (local_folder.logs / name).parent.mkdir(exist_ok=True)
        (local_folder.logs / name).write_text(LINE.format(7))
    (rows,) = local_folder.engine().run()
    assert sorted(sources(rows)) == sorted(ODD_NAMES + GLOB_NAMES)


def test_a_changed_file_raises_an_error_or_is_skipped_or_read(local_folder, caplog):
    local_folder.add_log("a.nq", count=1)
    local_folder.add_log("b.nq", count=1)
    for changed_files, expected in (("error", None), ("skip", [0]), ("read", [0, 22])):
        (local_folder.logs / "b.nq").write_text(LINE.format(1))
        engine = local_folder.engine(changedfiles=changed_files)
        end = engine.plan()
        (local_folder.logs / "b.nq").write_text(LINE.format(22))
        if expected is None:
            with pytest.raises(OSError, match="set changedFiles to skip or read") as caught:
                engine.read(end)
            assert caught.value.filename == str(local_folder.logs / "b.nq")
        else:
            assert numbers(engine.read(end)) == expected
        # The next setting starts with an empty list.
        for path in (local_folder.root / "state").iterdir():
            path.unlink()
    assert "b.nq changed after it was found" in caplog.text


def test_a_change_is_detected_by_time_alone(local_folder):
    local_folder.add_log("a.nq", count=1)
    engine = local_folder.engine()
    end = engine.plan()
    (local_folder.logs / "a.nq").write_text(LINE.format(5))
    os.utime(local_folder.logs / "a.nq", (1, 1))
    with pytest.raises(OSError, match="changed after it was found"):
        engine.read(end)


def test_a_file_that_grows_while_it_is_read_is_an_error(local_folder):
    local_folder.add_log("a.nq", count=1)
    path = local_folder.logs / "a.nq"
    status = path.stat()
    spark_reading = SparkReading.from_options(Options({}))
    for changed_files in ("error", "skip"):
        paths = check_unchanged_files(
            [(File(str(path), path.stat().st_size, status.st_mtime), None)],
            spark_reading,
            changed_files,
        )
        assert next(paths) == (str(path), None)
        with path.open("a") as file:
            file.write(LINE.format(1))
        with pytest.raises(OSError, match="changed while it was read"):
            next(paths)
        os.utime(path, (status.st_atime, status.st_mtime))


def test_a_missing_file_raises_an_error_or_is_ignored(local_folder, caplog):
    local_folder.add_log("a.nq", count=1)
    local_folder.add_log("b.nq", count=1)
    engine = local_folder.engine()
    end = engine.plan()
    (local_folder.logs / "a.nq").unlink()
    with pytest.raises(FileNotFoundError, match="ignoreMissingFiles"):
        engine.read(end)
    tolerant = Engine({**engine.options, "ignoremissingfiles": "true"}, engine.offset)
    with caplog.at_level(logging.WARNING):
        assert sources(tolerant.read(end)) == ["b.nq"]
    assert "a.nq was deleted" in caplog.text


@pytest.mark.parametrize(
    ("mode", "count"), [("FAILFAST", 0), ("PERMISSIVE", 4), ("DROPMALFORMED", 3)]
)
def test_an_invalid_file_is_handled_as_in_a_batch_read(local_folder, mode, count):
    local_folder.add_log("a.nq", count=1)
    (local_folder.logs / "b.nq").write_text(INVALID_LOG)
    engine = local_folder.engine(mode=mode)
    if mode == "FAILFAST":
        with pytest.raises(DecodeError, match="line 4"):
            engine.run()
        return
    (rows,) = engine.run()
    assert len(rows) == count


def test_the_list_and_the_checkpoint_must_match(local_folder):
    local_folder.add_log("a.nq")
    engine = local_folder.engine()
    engine.run()
    for path in (local_folder.root / "state").iterdir():
        path.unlink()
    with pytest.raises(OptionError, match="a different list of files"):
        engine.resumed().run()
    with pytest.raises(OptionError, match="needs the option stateLocation"):
        LogSourceStreamReader({"path": str(local_folder.logs)})


def test_a_replaced_file_is_skipped_and_reported_once(local_folder, caplog):
    local_folder.add_log("a.nq", count=1)
    engine = local_folder.engine()
    assert len(engine.rows()) == 1
    (local_folder.logs / "a.nq").write_text(LINE.format(77))
    with caplog.at_level(logging.WARNING):
        assert engine.rows() == engine.rows() == []
    assert caplog.text.count("give new files new names") == 1


@pytest.mark.parametrize(
    ("state", "recursive", "accepted"),
    [
        ("logs", "false", False),
        ("logs/", "false", False),
        ("logs/state", "true", False),
        ("logs/state", "false", True),
        ("logs/_state/a", "true", True),
        ("logs2", "true", True),
    ],
)
def test_the_list_must_not_be_among_the_logs(local_folder, state, recursive, accepted):
    local_folder.add_log("a.nq", count=1)
    options = {"statelocation": f"{local_folder.root}/{state}", "recursivefilelookup": recursive}
    if accepted:
        engine = local_folder.engine(**options)
        assert [len(engine.rows()), len(engine.rows())] == [1, 0]
    else:
        with pytest.raises(OptionError, match="would be read as logs"):
            local_folder.engine(**options)


def test_the_error_for_an_unknown_option_lists_the_stream_options(local_folder):
    with pytest.raises(OptionError, match=r"no option 'nonsense'.* splitBytes, stateLocation"):
        local_folder.engine(nonsense="1")


def test_two_queries_cannot_share_a_list(local_folder):
    local_folder.add_log("a.nq")
    first = local_folder.engine()
    first.run()
    second = local_folder.engine()
    second.run()
    local_folder.add_log("b.nq")
    with pytest.raises(OptionError, match="set a separate one for each query"):
        first.run()
    assert sources(second.rows()) == ["b.nq"]


def test_logs_and_list_may_be_urls():
    from fsspec.implementations.memory import MemoryFileSystem

    files = MemoryFileSystem()
    files.store.clear()
    for number, name in enumerate(ODD_NAMES):
        files.pipe_file(f"/logs/{name}", LINE.format(number).encode())
    engine = Engine({"path": "memory://logs", "statelocation": "memory://state"})
    assert numbers(engine.rows()) == list(range(len(ODD_NAMES)))
    files.pipe_file("/logs/late.nq", LINE.format(7).encode())
    engine = engine.resumed()
    end = engine.plan()
    files.pipe_file("/logs/late.nq", LINE.format(77).encode())
    with pytest.raises(OSError, match="changed after it was found"):
        engine.read(end)


def test_an_interrupted_commit_is_finished_before_listing_files(local_folder, monkeypatch):
    columns = {
        "quads": [[{"subject": "_:s", "predicate": "<p:p>", "object": '"0"', "graph": None}]]
    }
    schema = default_schema(("quads",))
    writer = LogSourceWriter({"path": str(local_folder.logs), "to": "nq"}, schema, False)
    batch = pyarrow.RecordBatch.from_pydict(columns, to_arrow_schema(schema))
    results = [writer.write(iter([batch]))]
    engine = local_folder.engine()
    assert engine.rows() == []

    def interrupt(target, name):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(CommitTarget, "_complete_commit", interrupt)
        writer.commit(results)
    assert [path for path in local_folder.logs.iterdir() if path.name[0] != "_"] == []
    assert numbers(engine.resumed().rows()) == [0]


def test_a_missing_folder_is_an_error(local_folder):
    engine = local_folder.engine(path=str(local_folder.root / "nowhere"))
    with pytest.raises(FileNotFoundError, match="nowhere"):
        engine.run()
