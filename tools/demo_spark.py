"""The last part of `make demo`: reads and writes a log in Spark, if a suitable Java exists.

The argument is the folder that contains `build/demo.jelly`. The default is the repository.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from spark_environment import ROOT, environment

# Each step is printed, then run.
STEPS = (
    'logs = spark.read.format("rdfm").load("build/demo.jelly")',
    'logs.selectExpr("byte_offset", "size(quads) AS quads").show()',
    "from rdfm.spark.functions import explode_quads, iri, term_kind, value",
    "quads = explode_quads(logs)",
    'quads.groupBy(term_kind("object").alias("object is")).count().show()',
    'species = quads.where(iri("predicate").endswith("#species"))',
    'species.select("byte_offset", value("object").alias("species")).show(truncate=False)',
    'logs.write.format("rdfm").option("to", "trig").mode("overwrite").save("build/demo-spark")',
)


def start(temporary: Path) -> Any:
    """A local session whose JVM output goes to a file."""
    os.environ.update(environment(temporary))
    from pyspark.sql import SparkSession

    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.warehouse.dir", str(temporary / "warehouse"))
    )
    log = temporary / "spark.log"
    terminal = os.dup(2)
    try:
        with log.open("wb") as file:
            os.dup2(file.fileno(), 2)
        session = builder.getOrCreate()
    except Exception:
        os.write(terminal, log.read_bytes())
        raise
    finally:
        os.dup2(terminal, 2)
    session.sparkContext.setLogLevel("ERROR")
    return session


def main() -> None:
    """Show and run the steps."""
    os.chdir(sys.argv[1] if sys.argv[1:] else ROOT)
    with tempfile.TemporaryDirectory() as temporary:
        try:
            spark = start(Path(temporary))
        except ImportError as error:
            print(f"\nSpark cannot start: {error}. It needs Java 17 or newer, and rdfm[spark].")
            return
        names: dict[str, Any] = {"spark": spark}
        for step in STEPS:
            print(f">>> {step}", flush=True)
            exec(step, names)
        spark.stop()
    for part in sorted(Path("build/demo-spark").glob("part-*")):
        print(f"\n$ head -n 12 {part}")
        print("".join(part.read_text().splitlines(keepends=True)[:12]))


if __name__ == "__main__":
    sys.exit(main())
