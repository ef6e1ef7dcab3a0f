"""A Spark job: tables of a log of observations, and a log of those that exceed a limit.

Needs `rdfm[spark]`. The log can be a file, a folder, a glob or a URL, in any format:

    spark-submit spark_job.py observations.trig OUT 20

`OUT` gets the folders `sensors` (Parquet) and `alerts` (a Jelly log).
"""

import os
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import rdfm.spark

# The Python of the workers, which needs rdfm too.
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)

PREFIXES = "PREFIX sosa: <http://www.w3.org/ns/sosa/> "
OBSERVATIONS = (
    PREFIXES
    + "SELECT ?sensor ?time ?value "
    + "{ ?o sosa:madeBySensor ?sensor ; sosa:resultTime ?time ; sosa:hasSimpleResult ?value }"
)


def main(log: str, out: str, limit: str) -> None:
    """Write the table and the log."""
    spark = SparkSession.builder.appName("observations").getOrCreate()
    types = "sensor=iri,time=dateTime,value=double"
    values = rdfm.spark.query(OBSERVATIONS, log, types=types, spark=spark)
    sensors = values.groupBy("sensor", F.to_date("time").alias("day")).agg(
        F.count("*").alias("observations"), F.avg("value").alias("mean")
    )
    sensors.write.mode("overwrite").parquet(f"{out}/sensors")
    # Messages are selected while the log is read, and stay complete.
    where = f"{PREFIXES} ASK {{ ?o sosa:hasSimpleResult ?value FILTER(?value > {float(limit)}) }}"
    alerts = rdfm.spark.read(spark, log, filter={"where": where})
    rdfm.spark.write(alerts, f"{out}/alerts", "jelly", mode="overwrite")
    sensors.orderBy("sensor", "day").show(truncate=False)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
