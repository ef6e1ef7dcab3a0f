"""Reads and writes with a double of Amazon S3, which has no renames.

`make test-object-stores` installs the double.
"""

import pytest
from parts import NUMBER, numbered

import rdfm.spark

moto_server = pytest.importorskip("moto.server")
s3fs = pytest.importorskip("s3fs")
pytestmark = pytest.mark.slow

KEYS = {"key": "the-key", "secret": "the-secret"}


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
