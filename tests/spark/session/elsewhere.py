"""Runs a Spark session of a kind that the other tests do not use, in a separate process.

Usage: `elsewhere.py KIND FOLDER`, where KIND is `cluster` or `connect`.

Reads the logs in FOLDER/logs in each way, and writes them to FOLDER/written and, as a stream, to
FOLDER/streamed. Also converts quads to values of each format and to rows, and back. Prints the
results as JSON.
"""

import json
import sys
from pathlib import Path

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession, datasource
from pyspark.sql.types import LongType, StructField, StructType

# The session is short, so the JVM's optimizing compiler does not pay off.
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
SETTINGS = {
    "spark.driver.extraJavaOptions": JAVA,
    "spark.executor.extraJavaOptions": JAVA,
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.driver.memory": "1g",
    "spark.log.level": "ERROR",
}
QUAD = ("<http://e/s>", "<http://e/p>", '"o"@en', None)
KINDS = {
    "cluster": lambda builder: builder.master("local-cluster[2,1,1024]"),
    "connect": lambda builder: builder.remote("local[2]"),
}


def rows_of(frame):
    """Returns the rows of a frame as lists, with bytes as numbers."""
    return [
        [
            row.source,
            row.message_index,
            row.quads,
            {key: [*value] for key, value in (row.metadata or {}).items()},
        ]
        for row in frame.collect()
    ]


def read(spark, folder):
    """Returns the results of two ways of reading, and the error for a missing folder."""
    import rdfm.spark

    logs = str(folder / "logs")
    columns = "source, message_index, quads, metadata"
    rows = spark.read.format("rdfm").options(splitBytes="2k", columns=columns).load(logs)
    keys = rdfm.spark.read(
        spark, [logs], schema="message_index bigint, byte_offset bigint", split_bytes=2048
    )
    try:
        spark.read.format("rdfm").load(str(folder / "nothing")).collect()
        error = None
    except AnalysisException as raised:
        error = str(raised)
    return {"rows": rows_of(rows), "keys": [[*row] for row in keys.collect()], "error": error}


def stream(spark, folder):
    """Returns the source and message index of each row of two streams."""
    import rdfm.spark

    logs, state = str(folder / "logs"), str(folder / "state")
    streams = {
        "read_stream": rdfm.spark.read_stream(
            spark, logs, schema="source string, message_index bigint"
        ),
        "format": spark.readStream.format("rdfm")
        .options(stateLocation=state, columns="source, message_index")
        .load(logs),
    }
    found = {}
    for name, rows in streams.items():
        out = str(folder / name)
        writer = rows.select("source", "message_index").writeStream.format("parquet")
        writer = writer.option("checkpointLocation", str(folder / f"{name} checkpoint"))
        writer.trigger(availableNow=True).start(out).awaitTermination()
        found[name] = sorted([*row] for row in spark.read.parquet(out).collect())
    return found


def values(spark):
    """Returns quads converted to values and back for each format, by functions and by SQL."""
    from rdfm import formats
    from rdfm.spark.functions import from_rdf, register_functions, to_rdf
    from rdfm.spark.schema import QUADS

    register_functions(spark)
    schema = StructType([StructField("id", LongType()), StructField("quads", QUADS)])
    frame = spark.createDataFrame([(1, [QUAD, QUAD]), (2, []), (3, None)], schema)
    names = [each.name for each in formats.all() if each.spec.kinds[0] == "messages"]
    functions = [from_rdf(to_rdf("quads", name), name).alias(name) for name in names]
    calls = [
        f"from_{f}(to_{f}(quads)) AS `{name}`" for name in names if (f := name.replace("-", "_"))
    ]
    frames = (
        frame.select("id", *functions),
        spark.sql(f"SELECT id, {', '.join(calls)} FROM {{frame}}", frame=frame),
    )
    results = [each.orderBy("id").collect() for each in frames]
    return {name: [[row[name] for row in rows] for rows in results] for name in names}


def terms(spark, folder):
    """Returns the values of all objects, and the messages rebuilt from rows of quads."""
    from rdfm.spark.functions import explode_quads, messages, value

    logs = spark.read.format("rdfm").option("columns", "source, message_index, quads")
    quads = explode_quads(logs.load(str(folder / "logs")))
    values = quads.select(value("object").alias("value")).collect()
    return {
        "values": sorted(row.value for row in values),
        "messages": sorted([*row] for row in messages(quads).collect()),
    }


def sql(spark, folder):
    """Returns the results of SQL functions and of functions that check and compare logs."""
    import rdfm.spark
    from rdfm.spark.functions import register_functions

    register_functions(spark)
    log = str(folder / "logs/1.nq")
    spark.read.format("rdfm").load(log).createOrReplaceTempView("messages")
    query = "SELECT ?o { ?s ?p ?o FILTER (?o = '7') }"
    found = spark.sql(
        f"""SELECT count(*) AS found, min(o) AS minimum FROM messages, LATERAL rdf_query(quads, "{query}")"""
    )
    ask = "ASK { ?s ?p ?o FILTER (?o = '7') }"
    counts = spark.sql(
        f"""SELECT count_if(rdf_ask(quads, "{ask}")), count(rdf_value(quads, 'http://e/p')) FROM messages"""
    )
    rdfm.spark.resplit(spark, log, str(folder / "resplit"))
    return {
        "query": [*found.first()],
        "counts": [*counts.first()],
        "findings": rdfm.spark.validate(log, spark=spark).count(),
        "messages": rdfm.spark.statistics(log, spark=spark).messages,
        "differences": rdfm.spark.diff(log, str(folder / "resplit"), spark=spark).count(),
    }


def write(spark, folder):
    """Writes messages twice under one id, and once as a stream.

    Returns the error of an invalid term.
    """
    import rdfm.spark

    logs = rdfm.spark.read(spark, str(folder / "logs"))
    for _ in range(2):
        writer = logs.write.format("rdfm").option("to", "jelly").option("writeId", "one")
        writer.mode("append").save(str(folder / "written"))
    streamed = rdfm.spark.read_stream(spark, str(folder / "logs"))
    if hasattr(datasource, "DataSourceStreamArrowWriter"):
        stream = streamed.writeStream.format("rdfm").option("to", "nq")
        stream = stream.option("path", str(folder / "streamed"))
    else:
        stream = streamed.writeStream.foreachBatch(
            lambda rows, number: (
                rdfm.spark.write(rows, folder / "streamed", "nq", write_id=str(number)) and None
            )
        )
    stream = stream.option("checkpointLocation", str(folder / "checkpoint"))
    stream.trigger(availableNow=True).start().awaitTermination()
    invalid = "array(struct('oops' AS subject, '_:p' AS predicate, '_:o' AS object)) AS quads"
    try:
        writer = spark.range(1).selectExpr(invalid).write.format("rdfm").option("to", "nq")
        writer.mode("append").save(str(folder / "written"))
    except Exception as raised:
        return {"error": str(raised)}


def main(kind, folder):
    """Creates the session and runs everything in it."""
    builder = KINDS[kind](SparkSession.builder.appName("rdfm elsewhere"))
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    builder = builder.config("spark.sql.warehouse.dir", str(folder / "warehouse"))
    spark = builder.getOrCreate()
    try:
        found = {
            "read": read(spark, folder),
            "stream": stream(spark, folder),
            "values": values(spark),
            "terms": terms(spark, folder),
            "sql": sql(spark, folder),
            "write": write(spark, folder),
        }
        print("\n" + json.dumps(found))
    finally:
        spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
