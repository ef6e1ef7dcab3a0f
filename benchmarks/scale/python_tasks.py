"""Operations that need Python: appends, DuckDB and Spark. `operations.py` runs them as processes."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "tools"))


def append(path: str, count: str) -> None:
    """Append messages to a log, each in a separate run."""
    import rdfm

    for number in range(int(count)):
        with rdfm.create_log(path, append=True) as log:
            line = f'<https://ex.example/{number}> <https://ex.example/value> "{number}" .\n'
            log.write(next(iter(rdfm.open_log(line.encode(), "nq"))))


def duckdb(log: str, answer: str) -> None:
    """Count the messages and quads of a Parquet file."""
    import duckdb

    query = f"select count(*), sum(len(quads)) from '{log}'"
    messages, quads = duckdb.sql(query).fetchall()[0]
    Path(answer).write_text(f"{messages} {quads}")


def spark(log: str, answer: str) -> None:
    """Count the messages and quads of a log in two tasks."""
    import spark_environment

    os.environ.update(spark_environment.environment(Path(tempfile.gettempdir())))
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as F

    builder = SparkSession.builder.master("local[2]")
    for name, value in spark_environment.SHORT_SESSION.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    split_bytes = Path(log).stat().st_size // 2 + 1
    frame = session.read.format("rdfm").option("splitBytes", str(split_bytes)).load(log)
    if (tasks := frame.rdd.getNumPartitions()) != 2:
        raise ValueError(f"{tasks} tasks")
    row = frame.agg(F.count("*"), F.sum(F.size("quads"))).collect()[0]
    Path(answer).write_text(f"{row[0]} {row[1]}")
    session.stop()


if __name__ == "__main__":
    {"append": append, "duckdb": duckdb, "spark": spark}[sys.argv[1]](*sys.argv[2:])
