"""Runs a session in a separate process.

Usage: `session.py MASTER SETTINGS STEP…`; the settings and the steps are JSON. The program prints
one line per step: `done` or `failed`, or `done without a failure` if an injected failure did not
happen.
"""

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from parts import LogQuery, Query, numbered

import rdfm.spark

# The session is short, so Java's optimizing compiler would not pay off.
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def main(master, settings, *steps):
    from pyspark.sql import SparkSession

    builder = (
        SparkSession.builder.master(master)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.driver.memory", "1g")
        .config("spark.driver.extraJavaOptions", JAVA)
        .config("spark.executor.extraJavaOptions", JAVA)
    )
    for name, value in json.loads(settings).items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    folder = Path(os.environ["RDFM_TEST_FAILURES"])
    jvm = spark._jvm.java.lang.ProcessHandle.current().pid()
    (folder / "driver.json").write_text(json.dumps([jvm, os.getpid()]))
    for step in map(json.loads, steps):
        failures = step.pop("failures")
        (folder / "spec.json").write_text(json.dumps(failures))
        try:
            for wait_for_end in [begin(spark, **fields) for fields in step.get("together", [step])]:
                wait_for_end()
        except Exception as error:
            print("failed", str(error).replace("\n", " ")[-2000:], flush=True)
        else:
            happened = len(list(folder.glob("happened*"))) == len(failures)
            print("done" if happened else "done without a failure", flush=True)
        for path in [*folder.glob("count*"), *folder.glob("happened*")]:
            path.rename(path.with_name(f"old-{path.name}-{os.urandom(3).hex()}"))
    spark.stop()


def begin(spark, kind, folder, rows=0, mode="append", **options):
    """Starts a stream or a write. Returns a function that waits for its end."""
    if kind == "stream":
        return Query(spark, Path(folder)).start(**options).awaitTermination
    if kind in ("read_stream", "format"):
        return LogQuery(spark, Path(folder), kind).start(**options).awaitTermination
    frame = numbered(spark.range(0, rows, 1, 4))
    writer = frame.write.format("rdfm").options(to="jelly", **options).mode(mode)

    def write():
        rdfm.spark.register(spark)  # each thread must register the source
        writer.save(folder)

    return ThreadPoolExecutor(1).submit(write).result


if __name__ == "__main__":
    main(*sys.argv[1:])
