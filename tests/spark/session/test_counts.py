"""Counts of messages, tables of the errors that a read skipped, and summaries of writes."""

import gzip
import threading

import pytest
from members import cut, join
from parts import remaining_files

import rdfm
import rdfm.spark
from rdfm import OptionError, plan_splits
from rdfm.spark import WriteSummary
from rdfm.spark.readers.reader import LogSourceReader

LINE = '<http://e/s> <http://e/p> "{}" .\n'
QUADS = "quads array<struct<subject: string, predicate: string, object: string, graph: string>>"


def log_with_errors(path, count, interval):
    texts = ["oops\n" if n % interval == 1 else LINE.format(n) for n in range(count)]
    path.write_text("# @message\n".join(texts))
    return [n for n in range(count) if n % interval == 1]


@pytest.mark.feature("read logs")
def test_count_equals_the_number_of_rows(spark, tmp_path):
    body = "".join(LINE.format(n) + "# @message\n" for n in range(12_000))
    directives = 'VERSION "1.2-messages"\n' + body.replace("# @message", "MESSAGE")
    logs = {
        "leading.nq": "# @message\n# @message\n" + body,
        "open.nq": body + LINE.format(1),
        "directive.nq": directives,
        "one.nq": LINE.format(1),
        "plain.nt": LINE.format(1) * 9000,
        "small.ttl": "@prefix : <http://e/> .\n:a :b :c .\n",
        "changing.nq": body + directives,
        "empty.nq": "",
    }
    for name, text in logs.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "a.nq.gz").write_bytes(gzip.compress(body.encode()))
    rdfm.convert(tmp_path / "open.nq", tmp_path / "marked.jelly", restart_bytes=2000)
    with rdfm.open_log(tmp_path) as log:
        expected = sum(len(batch) for batch in log.batches())
    for split_bytes in (1 << 26, 100_000):
        assert rdfm.spark.count(tmp_path, spark=spark, split_bytes=split_bytes) == expected
    one = {"spark": spark, "rows": "quads"}
    assert rdfm.spark.count(tmp_path / "plain.nt", **one) == 9000
    assert rdfm.spark.count(tmp_path / "open.nq", spark=spark, filter={"object": '"7"'}) == 1


def test_splits_of_compressed_logs_are_counted(spark, tmp_path):
    text = "# @message\n".join(LINE.format(n) for n in range(5000)).encode()
    for name, log in (("open", text), ("leading", b"# @message\n" + text + b"# @message\n")):
        path = tmp_path / f"{name}.nq.gz"
        path.write_bytes(join("gzip", ["bgzf"], cut(log, 30_000)))
        options = {"spark": spark, "split_bytes": path.stat().st_size // 3}
        assert len(plan_splits(path, split_bytes=options["split_bytes"])) == 3
        assert rdfm.spark.count(path, **options) == 5000


def test_count_of_messages_does_not_decode_them(spark, tmp_path):
    path = tmp_path / "log.nq"
    valid = (LINE.format(1) + "# @message\n") * 10_000
    path.write_text(valid + "oops\n# @message\n" + valid)
    assert rdfm.spark.count(path, spark=spark) == 20_001


def test_a_limit_reads_the_first_few_megabytes(spark, tmp_path):
    path = tmp_path / "log.nq"
    block = "".join(LINE.format(n) + "# @message\n" for n in range(50_000))
    with path.open("w") as file:
        file.write(block * 6 + "oops\n")
    # A task that reads 13 MB would fail.
    frame = rdfm.spark.read(spark, path, split_bytes=0)
    assert len(frame.limit(10).collect()) == 10
    with pytest.raises(Exception, match="expected a statement"):
        frame.count()


def messages(spark, *objects, graph=None):
    rows = [([("<http://e/s>", "<http://e/p>", f'"{each}"', graph)],) for each in objects]
    return spark.createDataFrame(rows, QUADS).coalesce(1)


@pytest.mark.feature("`errorsTo`")
@pytest.mark.parametrize("mode", ["DROPMALFORMED", "PERMISSIVE"])
def test_skipped_errors_are_written_to_a_table(spark, tmp_path, mode):
    logs, errors = tmp_path / "logs", tmp_path / "errors"
    logs.mkdir()
    invalid_indexes = log_with_errors(logs / "a.nq", 300, 7)
    (logs / "b.jelly").write_bytes(b"\x05oops")
    (logs / "good.nq").write_text(LINE.format(1))
    options = {"mode": mode, "errors_to": str(errors), "split_bytes": 2048}
    for _ in range(2):  # a repeated read replaces the files
        frame = rdfm.spark.read(spark, logs, columns=["byte_offset"], **options)
        assert frame.count() == 300 + 1 + (0 if mode == "DROPMALFORMED" else 1) - (
            len(invalid_indexes) if mode == "DROPMALFORMED" else 0
        )
        table = spark.read.parquet(str(errors))
        assert table.columns == ["source", "message_index", "byte_offset", "error"]
        rows = table.collect()
        assert len(rows) == len(invalid_indexes) + 1
        text = (logs / "a.nq").read_text()
        found = sorted(row.byte_offset for row in rows if row.source.endswith("a.nq"))
        assert all(text.startswith("oops", position) for position in found)
        assert len(set(found)) == len(invalid_indexes)
        assert all("expected a statement" in row.error for row in rows if "a.nq" in row.source)
    assert len([*errors.glob("errors-*.parquet")]) > 2  # the large log was split
    # A log without errors no longer has a file.
    (logs / "b.jelly").unlink()
    log_with_errors(logs / "a.nq", 1, 7)
    rdfm.spark.read(spark, logs, **{**options, "split_bytes": 0}).count()
    assert (
        spark.read.parquet(str(errors)).where("source LIKE '%a.nq' AND byte_offset = 0").count()
        == 0
    )


def test_the_ignored_rest_of_a_file_counts_as_one_error(spark, tmp_path):
    logs, errors = tmp_path / "logs", tmp_path / "errors"
    logs.mkdir()
    log_with_errors(logs / "a.nq", 20, 7)
    frame = rdfm.spark.read(
        spark, logs, mode="FAILFAST", ignore_corrupt_files=True, errors_to=str(errors)
    )
    assert frame.count() == 1
    (row,) = spark.read.parquet(str(errors)).collect()
    assert (row.source, row.message_index) == (str(logs / "a.nq"), 1)


def test_an_error_table_requires_a_lenient_mode_and_a_separate_folder(tmp_path):
    (tmp_path / "a.nq").write_text(LINE.format(1))
    for options, reason in (
        ({"errorsTo": str(tmp_path / "_e")}, "in the mode FAILFAST the first error fails"),
        (
            {"errorsTo": str(tmp_path), "mode": "DROPMALFORMED"},
            "errorsTo is .* whose files would be read as logs",
        ),
        ({"errorsTo": "hdfs:/e", "mode": "DROPMALFORMED"}, "has one slash after hdfs:"),
    ):
        with pytest.raises(OptionError, match=reason):
            LogSourceReader({"path": str(tmp_path), **options})


@pytest.mark.feature("`rdfm.spark.write`")
def test_a_write_returns_a_summary(spark, tmp_path):
    frame = messages(spark, *range(10))
    out = tmp_path / "out"
    summary = rdfm.spark.write(frame, out, "nq", max_records_per_file=4, write_id="one")
    assert summary == WriteSummary(10, 3, {}, ())
    assert rdfm.spark.write(frame, out, "nq", write_id="one") == WriteSummary()
    assert spark.read.format("rdfm").load(str(out)).count() == 10
    graphs = messages(spark, 1, 2, graph="<http://e/g>")
    summary = rdfm.spark.write(graphs, out, "nt", mode="overwrite", merge_graphs=True)
    assert (summary.messages, summary.files) == (2, 1)
    assert sum(summary.dropped.values()) == 2
    assert spark.read.format("rdfm").load(str(out)).count() == 2
    by_k = frame.selectExpr("quads", "size(quads) AS k")
    assert rdfm.spark.write(by_k, tmp_path / "k", "nq", partition_columns=["k"]).files == 1
    assert [path.name for path in (tmp_path / "k").glob("k=*")] == ["k=1"]
    assert remaining_files(out) == []


@pytest.mark.feature("`rdfm.spark.write`")
def test_any_thread_can_write(spark, tmp_path):
    frame = messages(spark, 1)
    found = []
    thread = threading.Thread(
        target=lambda: found.append(rdfm.spark.write(frame, tmp_path / "out", "nq"))
    )
    thread.start()
    thread.join()
    assert found == [WriteSummary(1, 1, {}, ())]


def test_invalid_writes_are_rejected_before_any_task(spark, tmp_path):
    frame = messages(spark, 1)
    for options, reason in (
        ({"to": "none"}, "none"),
        ({"to": "nq", "merge_grafs": True}, "there is no option"),
        ({"to": "nq", "partitionBy": "k"}, "cannot pass partitionBy .* use partition_columns"),
    ):
        with pytest.raises(rdfm.RdfmError, match=reason):
            rdfm.spark.write(frame, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_a_folder_without_a_completed_write_is_an_error(spark, tmp_path):
    out = tmp_path / "out"
    with pytest.raises(Exception, match="expected"):
        rdfm.spark.write(
            spark.createDataFrame([([("oops", "<a:p>", "<a:o>", None)],)], QUADS), out, "nq"
        )
    assert out.exists()
    for count_rows in (
        lambda: spark.read.format("rdfm").load(str(out)).count(),
        lambda: rdfm.spark.read(spark, out).count(),
    ):
        with pytest.raises(Exception, match="no logs, since no write to it was completed"):
            count_rows()
    assert rdfm.spark.read(spark, out, ignore_missing_files=True).count() == 0
    # A write without rows is complete.
    rdfm.spark.write(messages(spark, 1).where("false"), out, "nq")
    assert spark.read.format("rdfm").load(str(out)).count() == 0
