"""A session in a process of its own: `session.py MASTER SETTINGS STEP…`, all but the master as JSON."""

import json
import os
import sys
from pathlib import Path

from parts import LogQuery, Query, numbered


def main(master, settings, *steps):
    from pyspark.sql import SparkSession

    builder = (
        SparkSession.builder.master(master)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.driver.memory", "1g")
        # A short life: no time for the second compiler.
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    )
    for name, value in json.loads(settings).items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    folder = Path(os.environ["RDFM_TEST_FAULTS"])
    jvm = spark._jvm.java.lang.ProcessHandle.current().pid()
    (folder / "driver.json").write_text(json.dumps([jvm, os.getpid()]))
    for step in map(json.loads, steps):
        (folder / "spec.json").write_text(json.dumps(step.pop("faults")))
        try:
            run(spark, **step)
        except Exception as error:
            print("failed", str(error).replace("\n", " ")[-2000:], flush=True)
        else:
            print("done", flush=True)
        for path in folder.glob("count*"):
            path.rename(path.with_name(f"old-{path.name}-{os.urandom(3).hex()}"))
    spark.stop()


def run(spark, kind, folder, rows=0, **options):
    if kind == "stream":
        Query(spark, Path(folder)).run(**options)
        return
    if kind in ("read_stream", "format"):
        LogQuery(spark, Path(folder), kind).run(**options)
        return
    mode = options.pop("mode", "append")
    frame = numbered(spark.range(0, rows, 1, 4))
    frame.write.format("rdfm").options(to="jelly", **options).mode(mode).save(folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
