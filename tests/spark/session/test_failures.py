"""Crashes while a log is written: no data is lost or duplicated, and no incomplete file is visible.

`RDFM_KILLS` is the number of failure points of each kind to test; `make soak` tests all of them.
"""

import os
import sys
import threading
from functools import partial
from pathlib import Path

import pytest
from parts import LogQuery, Query, messages_in, numbered, numbers_in, remaining_files, visible_files
from spark_processes import Session

from rdfm.spark import remove_orphan_files
from rdfm.spark.writers.commit import find_settled

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("RDFM_KILLS", "2"))
ROWS = 40
MODES = ("append", "overwrite")
# Points of a write, before and after its commit. Each is tested in a batch and in a stream.
WRITE_POINTS = [
    (r"^rename /.*/staging/", 2),
    (r"^finish done .*/staging/.*/part-", 3),
    (r"^create_file done .*/journal/", 1),
    (r"^open_new /.*/staging/.*/part-", 1),
    (r"^create_file /.*/journal/", 1),
    (r"^rename done .*/staging/", 4),
    (r"^open_new /.*/commits/", 1),
    (r"^remove_folder done .*/staging/", 1),
    (r"^remove done .*/journal/", 1),
    (r"^open_new done .*/staging/.*/part-", 4),
    (r"^make_folder /.*/staging/", 2),
    (r"^finish /.*/staging/.*/part-", 1),
    (r"^rename /.*/staging/", 1),
    (r"^rename done .*/staging/", 1),
    (r"^rename /.*/staging/", 3),
    (r"^finish done .*/commits/", 1),
    (r"^remove_folder /.*/staging/", 1),
    (r"^remove /.*/journal/", 1),
    (r"^fsync /", 2),
    (r"^make_folder /.*/commits", 1),
]
BATCH_POINTS = [
    (r"^open_new /.*/_SUCCESS", 1),
    (r"^remove done .*/old-", 1),
    (r"^open_new /.*/open", 1),
    (r"^finish done .*/_SUCCESS", 1),
]


# Points of a stream of logs: its file list, its reads, and the sink.
SOURCE_POINTS = [
    ("format", r"^create_file done .*/files-", 1),
    ("read_stream", r"^status done .*/source/", 4),
    ("format", r"^status done .*/source/", 3),
    ("read_stream", r"^create_file done .*/journal/", 2),
    ("format", r"^create_file /.*/files-", 1),
    ("format", r"^write_file done .*/list\.json", 1),
    ("format", r"^write_file /.*/list\.json", 1),
    ("format", r"^fsync done", 2),
    ("format", r"^open_new done .*/ours$", 1),
    *[("read_stream", r"^status /.*/source/", nth) for nth in (1, 2, 5, 6)],
    *[("format", r"^status /.*/source/", nth) for nth in (1, 2, 5, 6)],
    *[("format", r"^create_file /.*/journal/", nth) for nth in (1, 2)],
    *[("read_stream", r"^rename done .*/staging/", nth) for nth in (1, 3)],
    *[("format", r"^rename done .*/staging/", nth) for nth in (1, 3)],
]


@pytest.fixture
def session(spark_environment, tmp_path):
    return Session(spark_environment, tmp_path / "failures")


def save(rows, folder, mode="append", **options):
    rows.write.format("rdfm").options(to="jelly", **options).mode(mode).save(str(folder))


def read_numbers(folder):
    """Returns the numbers that rdfm reads. Checks that every visible file is complete."""
    if not folder.exists():
        return []
    messages_in(folder)
    find_settled([str(folder)])
    return sorted(numbers_in(folder))


# Cases in which the driver dies. Each yields its step and the point of failure, and checks the
# result afterwards.


def a_batch_write(spark, folder, number):
    """A write to a folder that contains an older part. The write is retried under its id."""
    at, nth = [*WRITE_POINTS, *BATCH_POINTS][number]
    out, mode = folder / "out", MODES[number % 2]
    save(numbered(spark.range(100, 104, 1, 1)), out)
    (old,) = visible_files(out)
    old.rename(old.with_name("old-part.jelly"))
    existing, numbers = [100, 101, 102, 103], list(range(ROWS))
    expected = sorted(existing + numbers) if mode == "append" else numbers
    options = {"mode": mode, "writeId": "the write", "maxRecordsPerFile": 8}
    yield {"kind": "batch", "folder": str(out), "rows": ROWS, **options}, at, nth
    is_committed = any((out / "_rdfm/journal").glob("*.json"))
    found = read_numbers(out)
    assert found in (existing, expected)
    if is_committed:
        assert found == expected
    save(numbered(spark.range(0, ROWS, 1, 4)), out, **options)
    assert read_numbers(out) == expected
    remove_orphan_files(str(out), untouched=0)
    assert remaining_files(out) == []


def a_stream(spark, folder, number):
    """A stream of numbers into logs. The stream continues from its checkpoint."""
    at, nth = WRITE_POINTS[number % len(WRITE_POINTS)]
    query = Query(spark, folder)
    for first in range(0, ROWS, 10):
        query.add(*range(first, first + 10))
    yield {"kind": "stream", "folder": str(folder), "maxRecordsPerFile": 4}, at, nth
    found = read_numbers(query.out)
    assert found == list(range(len(found)))
    assert len(found) % 10 == 0  # batches are complete
    query.run(maxRecordsPerFile=4)
    assert read_numbers(query.out) == list(range(ROWS))
    assert remaining_files(query.out) == []


def a_stream_of_logs(spark, folder, number):
    """A stream of logs into logs, whose source receives one more file."""
    kind, at, nth = SOURCE_POINTS[number % len(SOURCE_POINTS)]
    query = LogQuery(spark, folder, kind)
    for first in range(0, ROWS, 10):
        query.add(*range(first, first + 10))
    yield {"kind": kind, "folder": str(folder)}, at, nth
    found = read_numbers(query.out)
    assert len(found) == len(set(found)) < ROWS
    query.add(*range(ROWS, ROWS + 10))
    query.run()
    assert read_numbers(query.out) == list(range(ROWS + 10))
    assert remaining_files(query.out) == []


@pytest.mark.parametrize("number", range(min(KILLS, len(WRITE_POINTS) + len(BATCH_POINTS))))
def test_a_driver_that_dies_leaves_complete_writes(spark, session, tmp_path, number):
    """The driver dies when each of the three jobs has reached its point."""
    interrupted, steps, failures = [], [], []
    for prepare in (a_batch_write, a_stream, a_stream_of_logs):
        folder = tmp_path / prepare.__name__
        folder.mkdir()
        case = prepare(spark, folder, number)
        step, at, nth = next(case)
        interrupted.append(case)
        steps.append(step)
        failures.append({"at": at, "nth": nth, "in": f"{folder}/", "do": "kill driver"})
    assert session.run({"together": steps, "failures": failures}, master="local[4]") == [], failures
    assert session.happened() == 3
    for case in interrupted:
        assert list(case) == [], failures  # runs the remaining checks


@pytest.mark.parametrize(
    "prepare",
    [
        pytest.param(a_batch_write, marks=pytest.mark.feature("writes whose driver is killed")),
        pytest.param(
            a_stream, marks=pytest.mark.feature("streams whose driver is killed", since=(4, 1))
        ),
    ],
)
def test_a_driver_that_dies_while_renaming_leaves_complete_writes(
    spark, session, tmp_path, prepare
):
    """A small part of the test above, for every version of PySpark."""
    number = next(at for at, (point, _) in enumerate(WRITE_POINTS) if "rename" in point)
    case = prepare(spark, tmp_path, number)
    step, at, nth = next(case)
    failures = [{"at": at, "nth": nth, "in": f"{tmp_path}/", "do": "kill driver"}]
    assert session.run({"together": [step], "failures": failures}, master="local[2]") == []
    assert session.happened() == 1
    assert list(case) == []  # runs the remaining checks


# State of a write, or of the second batch of a stream, when the driver dies. The last two values
# are whether the write or batch is committed, and the number of visible parts, including earlier
# parts.
STATES = {
    "a staged overwrite": ("overwrite", r"^finish done .*/staging/.*/part-", 3, False, 1),
    "a partly visible overwrite": ("overwrite", r"^rename /.*/staging/", 3, True, 3),
    "an overwrite during removal": ("overwrite", r"^remove done .*/old-", 1, True, 8),
    "a committed write": ("append", r"^rename /.*/staging/", 1, True, 1),
    "a recorded write": ("append", r"^finish done .*/commits/write-", 1, True, 9),
    "a log being joined": ("single", r"^finish /.*/staging/.*/single-.*/part-", 1, False, 1),
    "a joined log": ("single", r"^rename /.*/staging/.*/single-", 1, True, 1),
    "a committed batch": ("stream", r"^create_file done .*/journal/", 2, True, 3),
    "a partly visible batch": ("stream", r"^rename done .*/staging/", 5, True, 5),
    "an unrecorded batch": ("stream", r"^open_new /.*/commits/query-", 2, True, 6),
}


def test_a_retry_after_a_crash_finishes_or_undoes_the_first_attempt(spark, session, tmp_path):
    """Nothing reads the folder in between, so the retry itself must finish or undo the attempt."""
    folders, steps, failures = {}, [], []
    write = {"writeId": "the write", "maxRecordsPerFile": 5}
    single = {"writeId": "the write", "single": "true"}
    for name, (kind, at, nth, _, _) in STATES.items():
        folder = folders[name] = tmp_path / name.replace(" ", "-")
        folder.mkdir()
        if kind == "stream":
            query = Query(spark, folder)
            for first in range(0, ROWS, 10):
                query.add(*range(first, first + 10))
            step = {"kind": kind, "folder": str(folder), "maxRecordsPerFile": 4}
        else:
            save(numbered(spark.range(100, 104, 1, 1)), folder / "out")
            (old,) = visible_files(folder / "out")
            old.rename(old.with_name("old-part.jelly"))
            step = {"kind": "batch", "folder": str(folder / "out"), "rows": ROWS}
            step |= {"mode": "append", **single} if kind == "single" else {"mode": kind, **write}
        steps.append(step)
        failures.append({"at": at, "nth": nth, "in": f"{folder}/", "do": "kill driver"})
    assert session.run({"together": steps, "failures": failures}, master="local[8]") == []
    assert session.happened() == len(STATES)
    for name, (kind, _, _, is_committed, parts) in STATES.items():
        folder = folders[name]
        out = folder / "out"
        assert any((out / "_rdfm/journal").glob("*.json")) == is_committed, name
        assert len(visible_files(out)) == parts, name
        if kind == "stream":
            Query(spark, folder).run(maxRecordsPerFile=4)
        elif kind == "single":
            save(numbered(spark.range(0, ROWS, 1, 4)), out, "append", **single)
            assert len(visible_files(out)) == 2, name
        else:
            save(numbered(spark.range(0, ROWS, 1, 4)), out, kind, **write)
        old = [100, 101, 102, 103] if kind in ("append", "single") else []
        assert sorted(numbers_in(out)) == sorted([*range(ROWS), *old]), name
        remove_orphan_files(str(out), untouched=0)
        assert remaining_files(out) == [], name


TASK_POINTS = [
    (r"^open_new done .*/staging/.*/part-", 2),
    (r"^finish done .*/staging/.*/part-", 1),
    *[(r"^make_folder /.*/staging/.*/", nth) for nth in (1, 2, 3, 4)],
    *[(r"^open_new /.*/staging/.*/part-", nth) for nth in (1, 2, 3, 4)],
    *[(r"^finish /.*/staging/.*/part-", nth) for nth in (1, 2, 3, 4)],
    *[(r"^finish done .*/staging/.*/part-", nth) for nth in (2, 3, 4)],
]
STREAM_POINTS = [
    ("stream", r"^finish done .*/staging/.*/part-", 2),
    ("format", r"^status done .*/source/", 3),
    ("read_stream", r"^status done .*/source/", 4),
    *[("stream", at, nth) for at, nth in TASK_POINTS],
]
# Points in the driver: the sink's commit, and the search for files.
DRIVER_POINTS = [
    ("batch", r"^rename /.*/staging/", 2),
    ("stream", r"^rename /.*/staging/", 1),
    ("format", r"^create_file /.*/files-", 1),
]


def step_of(kind, folder, at, nth, do):
    """Returns a step that writes or streams the row numbers, with a failure."""
    folder.mkdir()
    if kind != "batch":
        query = (Query if kind == "stream" else partial(LogQuery, kind=kind))(None, folder)
        for first in range(0, ROWS, 10):
            query.add(*range(first, first + 10))
    step = {"kind": kind, "folder": str(folder), "failures": [{"at": at, "nth": nth, "do": do}]}
    if kind == "batch":
        step.update(folder=str(folder / "out"), rows=ROWS)
    return step


def test_failed_tasks_are_retried_and_a_full_disk_leaves_no_files(session, tmp_path):
    def steps_of(name, points):
        return [step_of(kind, tmp_path / f"{name} {n}", *p) for n, (kind, *p) in enumerate(points)]

    actions = ("kill worker", "fail")
    retried = steps_of(
        "again", [("batch", *point, do) for point in TASK_POINTS[:KILLS] for do in actions]
    )
    retried += steps_of("stream", [(*point, "kill worker") for point in STREAM_POINTS[: KILLS - 1]])
    # Failures outside tasks end the job. The write is committed by then; the stream is restarted.
    driver_steps = steps_of("once", [(*point, "kill worker") for point in DRIVER_POINTS])
    restarted = [{**step, "failures": []} for step in driver_steps if step["kind"] != "batch"]
    fatal = [
        (r"^finish done .*/staging/.*part-00002", "fail", "a failure"),
        (r"^finish /.*/staging/.*part-00002", "full", "No space left on device"),
        (r"^create_file /.*/journal/", "full", "No space left on device"),
    ]
    out = tmp_path / "out"
    step = {"kind": "batch", "folder": str(out), "rows": ROWS}
    failing = [{**step, "failures": [{"at": at, "nth": 0, "do": do}]} for at, do, _ in fatal]
    printed = iter(
        session.run(
            *retried,
            *driver_steps,
            *restarted,
            *failing,
            {**step, "failures": []},
            master="local[2,4]",
        )
    )
    assert [next(printed) for _ in retried] == ["done"] * len(retried)
    assert [next(printed)[:6] for _ in driver_steps] == ["failed"] * len(driver_steps)
    assert [next(printed) for _ in restarted] == ["done"] * len(restarted)
    for _, _, text in fatal:
        line = next(printed)
        assert line.startswith("failed")
        assert text in line
    assert list(printed) == ["done"]
    folders = [Path(step["folder"]) for step in retried + driver_steps]
    folders = [folder if folder.name == "out" else folder / "out" for folder in folders]
    for folder in (*folders, out):
        assert read_numbers(folder) == list(range(ROWS)), folder
        assert remaining_files(folder) == [], folder


@pytest.mark.skipif(sys.platform != "linux", reason="needs a second address of this machine")
def test_only_one_of_two_attempts_of_a_task_is_visible(session, tmp_path):
    out = tmp_path / "out"
    failures = [{"at": r"^open_new done .*/staging/.*part-00002", "nth": 1, "do": "sleep"}]
    step = {"kind": "batch", "folder": str(out), "rows": ROWS, "failures": failures}
    settings = {
        "spark.speculation": "true",
        "spark.speculation.interval": "100ms",
        "spark.speculation.quantile": "0.5",
        "spark.speculation.multiplier": "1.5",
        "spark.executor.memory": "500m",
    }
    with session.cluster() as master:
        printed = session.run(step, master=master, **settings)
    assert printed == ["done"]
    (attempts,) = session.folder.glob("old-count0-*")
    assert len(list(attempts.iterdir())) == 2  # attempts that opened the part
    assert read_numbers(out) == list(range(ROWS))
    assert len(visible_files(out)) == 4
    assert remaining_files(out) == []


def test_a_late_attempt_leaves_no_files(tmp_path):
    """Simulates a speculative attempt that ends after the commit.

    Without this simulation, such attempts occur only on large clusters.
    """
    import pyarrow

    from rdfm.spark.schema import default_schema
    from rdfm.spark.writers.commit import CommitTarget
    from rdfm.spark.writers.writer import LogSourceWriter

    options = {"path": str(tmp_path), "to": "nq"}
    writer = LogSourceWriter(options, default_schema(("quads",)), False)
    quad = {"subject": "_:s", "predicate": "<http://ex/p>", "object": "_:o", "graph": None}
    rows = pyarrow.RecordBatch.from_pylist([{"quads": [quad]}])
    started, committed, errors = threading.Event(), threading.Event(), []

    def slow_rows():
        yield rows
        started.set()
        committed.wait()
        yield rows

    def write_late():
        try:
            writer.write(slow_rows())
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=write_late)
    thread.start()
    started.wait()
    writer.commit([writer.write(iter([rows]))])
    committed.set()
    thread.join()
    assert len(errors) == 1
    assert "committed or aborted" in str(errors[0]) or isinstance(errors[0], FileNotFoundError)
    with pytest.raises(RuntimeError, match="has ended"):
        writer.write(iter([rows]))
    assert len(messages_in(tmp_path)) == 1
    assert remaining_files(tmp_path) == []
    assert not CommitTarget.from_path(str(tmp_path)).is_open(writer.job)


def test_a_full_disk_leaves_no_files(spark, small_disk):
    out = small_disk / "out"
    save(numbered(spark.range(10)), out)
    # The fragments of a single log fit on the disk, but not the log too.
    for rows, single, part in ((20000, "false", "/.*/part-"), (4000, "true", "/single-.*/part-")):
        with pytest.raises(Exception, match=f"No space left on device: .*/staging/.*{part}"):
            save(numbered(spark.range(rows)), out, compression="none", single=single)
        assert read_numbers(out) == list(range(10))
        assert remaining_files(out) == []
    save(numbered(spark.range(10, 20)), out)
    assert read_numbers(out) == list(range(20))
