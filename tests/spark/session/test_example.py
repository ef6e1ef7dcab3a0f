"""The Spark job in examples/ writes its table and its log."""

import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq

import rdfm

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def test_the_job_writes_a_table_and_a_log(spark_environment, tmp_path):
    command = [sys.executable, EXAMPLES / "spark_job.py", EXAMPLES / "observations.trig"]
    done = subprocess.run(
        [*command, tmp_path, "20"],
        env={**os.environ, **spark_environment, "SPARK_CONF_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    rows = sorted(pq.read_table(tmp_path / "sensors").to_pylist(), key=str)
    assert [(row["sensor"], row["observations"], row["mean"]) for row in rows] == [
        ("http://example.org/cellar", 1, 11.0),
        ("http://example.org/cellar", 1, 30.5),
        ("http://example.org/roof", 2, 4.0),
    ]
    with rdfm.open_log(tmp_path / "alerts") as log:
        assert [str(message[0].subject) for message in log] == ["<http://example.org/o4>"]
