"""Reads and writes with a double of Amazon S3, which has no renames.

`make test-object-stores` installs the double. `RDFM_KILLS` is the number of drivers to kill, 5 by
default; `make soak` kills 50.
"""

import itertools
import json
import os

import pytest
from parts import NUMBER, numbered
from spark_processes import Session

import rdfm.spark

moto_server = pytest.importorskip("moto.server")
s3fs = pytest.importorskip("s3fs")
pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("RDFM_KILLS", "5"))
TOGETHER = 10  # drivers that die in one session
OLD, NEW = list(range(100, 104)), list(range(40))
KEYS = {"key": "the-key", "secret": "the-secret"}
# Storage calls of a write of four tasks with two parts each.
CALLS = [
    ("create_file", "/journal/", 1),
    *[("rename", "/staging/", nth) for nth in range(1, 9)],
    ("remove", "/journal/", 1),
    *[("finish", "/staging/.*/part-", nth) for nth in range(1, 9)],
    *[("open_new", "/staging/.*/part-", nth) for nth in range(1, 5)],
    ("remove_folder", "/staging/", 1),
    ("finish", "/commits/", 1),
]
# Before and after each call, in both modes.
POINTS = [
    (mode, f"^{call} (?!done ).*{path}" if is_before else f"^{call} done .*{path}", nth)
    for mode, (call, path, nth), is_before in itertools.product(
        ("append", "overwrite"), CALLS, (False, True)
    )
]


@pytest.fixture(scope="module")
def store():
    """The options of fsspec for the double, with the bucket `logs`."""
    server = moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    options = {**KEYS, "endpoint_url": f"http://{host}:{port}"}
    files(options).mkdir("logs")
    yield options
    server.stop()


def files(options):
    s3fs.S3FileSystem.clear_instance_cache()
    return s3fs.S3FileSystem(**options, skip_instance_cache=True)


def numbers(spark, url, **options):
    """The numbers of the messages that rdfm reads."""
    rows = rdfm.spark.read(spark, url, **options).collect()
    found = [quad.object for row in rows for quad in row.quads if quad.predicate == f"<{NUMBER}>"]
    return sorted(int(text.strip('"')) for text in found)


def test_logs_are_read_and_written_in_every_mode(spark, store):
    url = "s3a://logs/modes/a"
    rows = numbered(spark.range(0, 10, 1, 2))

    def write(mode, folder=url):
        return rdfm.spark.write(rows, folder, "jelly", mode=mode, storage_options=store).messages

    assert write("errorifexists") == write("append") == 10
    assert numbers(spark, url, storage_options=store) == sorted([*range(10)] * 2)
    assert write("overwrite") == 10
    with pytest.raises(FileExistsError):
        write("errorifexists")
    assert write("ignore") == 0
    assert write("ignore", "s3://logs/modes/b") == 10
    glob = numbers(spark, "s3://logs/modes/*", storage_options=store)
    assert glob == sorted([*range(10)] * 2)
    names = files(store).find("logs/modes/a")
    parts = [name for name in names if "/_" not in name.removeprefix("logs/modes/a")]
    assert len(parts) == 2  # one of each task
    assert rdfm.spark.count("s3://logs/modes/a", spark=spark, storage_options=store) == 10
    with pytest.raises(FileNotFoundError):
        rdfm.spark.read(spark, "s3://logs/nothing", storage_options=store)


def test_settings_of_hadoop_apply(spark, store):
    """For the bucket or for all; without settings, there is an error."""
    settings = spark._jsc.hadoopConfiguration()
    names = {
        "fs.s3a.bucket.logs.access.key": store["key"],
        "fs.s3a.bucket.logs.secret.key": store["secret"],
        "fs.s3a.endpoint": store["endpoint_url"],
        "fs.s3a.path.style.access": "true",
    }
    for name, value in names.items():
        settings.set(name, value)
    try:
        rows = numbered(spark.range(0, 10, 1, 2))
        assert rdfm.spark.write(rows, "s3a://logs/settings", "nq").messages == 10
        found = rdfm.spark.read(spark, "s3a://logs/settings")
        assert found.count() == 10
        plan = found._jdf.queryExecution().toString()
        assert store["secret"] not in plan
    finally:
        for name in names:
            settings.unset(name)


@pytest.fixture
def session(spark_environment, tmp_path):
    return Session(spark_environment, tmp_path / "failures")


def step_of(store, url, mode):
    options = {"storageOptions": json.dumps(store), "writeId": "the write"}
    return {
        "kind": "batch",
        "folder": url,
        "rows": len(NEW),
        "mode": mode,
        "maxRecordsPerFile": 5,
        **options,
    }


def write_old(spark, store, url):
    rdfm.spark.write(numbered(spark.range(100, 104, 1, 1)), url, "jelly", storage_options=store)
    s3 = files(store)
    (part,) = [name for name in s3.find(url) if name.endswith(".jelly")]
    s3.mv(part, f"{part.rpartition('/')[0]}/old-part.jelly")


@pytest.mark.parametrize("first", range(0, KILLS, TOGETHER))
def test_a_driver_that_dies_leaves_the_old_or_the_new_state(spark, store, session, first):
    chosen = [POINTS[n * len(POINTS) // KILLS] for n in range(first, min(first + TOGETHER, KILLS))]
    steps, failures, urls = [], [], []
    for number, (mode, at, nth) in enumerate(chosen):
        url = f"s3://logs/kills/{first + number}"
        write_old(spark, store, url)
        urls.append(url)
        steps.append(step_of(store, url, mode))
        failures.append(
            {"at": at, "nth": nth, "in": f"kills/{first + number}/", "do": "kill driver"}
        )
    # A driver that waits for the others blocks a task.
    master = f"local[{TOGETHER + 2}]"
    printed = session.run({"together": steps, "failures": failures}, master=master)
    assert printed == [], failures
    assert session.happened() == len(chosen)
    for url, (mode, at, _) in zip(urls, chosen, strict=True):
        expected = sorted([*OLD, *NEW] if mode == "append" else NEW)
        found = numbers(spark, url, storage_options=store)
        assert found in (OLD, expected), (mode, at)
        options = {"mode": mode, "write_id": "the write", "storage_options": store}
        rdfm.spark.write(numbered(spark.range(0, len(NEW), 1, 4)), url, "jelly", **options)
        assert numbers(spark, url, storage_options=store) == expected, (mode, at)


def test_an_executor_that_dies_is_replaced(spark, store, session):
    points = [
        ("^open_new done .*/staging/.*/part-", 2),
        ("^finish (?!done ).*/staging/.*/part-", 1),
        ("^finish done .*/staging/.*/part-", 3),
    ]
    steps = []
    for number, (at, nth) in enumerate(points):
        step = step_of(store, f"s3://logs/executors/{number}", "append")
        steps.append({**step, "failures": [{"at": at, "nth": nth, "do": "kill worker"}]})
    assert session.run(*steps, master="local[2,4]") == ["done"] * len(points)
    for step in steps:
        assert numbers(spark, step["folder"], storage_options=store) == NEW
