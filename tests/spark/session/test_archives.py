"""A job on a cluster whose workers have no rdfm: the job sends an environment to them."""

import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pyspark
import pytest
from spark_processes import standalone_cluster

pytestmark = pytest.mark.slow

JOB = """
import json, sys
from pyspark.sql import SparkSession
import rdfm.spark
spark = SparkSession.builder.getOrCreate()
spark.sparkContext.setLogLevel("OFF")
found = {}
def attempt(name, read):
    try:
        found[name] = read()
    except Exception as error:
        found[name] = str(error)[-3000:]
attempt("format", lambda: spark.read.format("rdfm").load(sys.argv[1]).count())
if len(sys.argv) > 2:
    attempt("query", lambda: rdfm.spark.query(sys.argv[2], rdfm.spark.read(spark, sys.argv[1])).count())
print("found", json.dumps(found))
"""
LINE = "<http://e/s> <http://e/p> <http://e/o> .\n"


@pytest.fixture
def job(tmp_path, spark_environment):
    """A job and, next to it, an environment and its archive, as on the page on platforms."""
    (tmp_path / "job.py").write_text(JOB)
    (tmp_path / "log.nq").write_text(LINE + "# @message\n" + LINE)
    (tmp_path / "env/bin").mkdir(parents=True)
    # A virtual environment, without copying it.
    python = tmp_path / "env/bin/python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    with tarfile.open(tmp_path / "env.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "env", ".")
    # The workers' own Python has no packages.
    (tmp_path / "bin").mkdir()
    base = Path(sys.base_prefix) / "bin/python3"
    for name in ("python", "python3"):
        (tmp_path / "bin" / name).symlink_to(base)
    removed = ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON", "PYTHONPATH", "VIRTUAL_ENV")
    environment = {**os.environ, **spark_environment}
    environment = {name: value for name, value in environment.items() if name not in removed}
    environment["PATH"] = f"{tmp_path / 'bin'}{os.pathsep}{environment['PATH']}"
    environment["SPARK_LOCAL_IP"] = "127.0.0.1"
    environment["SPARK_HOME"] = str(Path(pyspark.__file__).parent)
    return tmp_path, environment


def submit(job, master, *arguments, **variables):
    folder, environment = job
    submit_program = Path(sys.executable).with_name("spark-submit")
    command = [submit_program, "--master", master, "--conf", "spark.executor.memory=500m"]
    command += ["--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.ui.enabled=false"]
    for kind in ("driver", "executor"):
        options = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
        command += ["--conf", f"spark.{kind}.extraJavaOptions={options}"]
    command += ["--archives", "env.tar.gz#env", "job.py", str(folder / "log.nq"), *arguments]
    completed = subprocess.run(
        command,
        cwd=folder,
        env={**environment, **variables},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    lines = [line for line in completed.stdout.splitlines() if line.startswith("found ")]
    assert lines, completed.stderr[-3000:]
    return json.loads(lines[-1].removeprefix("found "))


VARIABLES = {"PYSPARK_PYTHON": "./env/bin/python"}


def test_an_archive_gives_workers_rdfm(job):
    folder, environment = job
    with standalone_cluster(["127.0.0.1"], folder, environment) as master:
        query = "SELECT * { ?s ?p ?o }"
        assert submit(job, master, query, **VARIABLES) == {"format": 2, "query": 2}


@pytest.mark.skipif("RDFM_KILLS" not in os.environ, reason="`make soak` tests behavior of Spark")
def test_workers_use_the_command_of_the_driver(job):
    """Spark's documentation sets another command for the driver, which fails."""
    folder, environment = job
    path = os.pathsep.join([str(Path(sys.executable).parent), environment["PATH"]])
    with standalone_cluster(["127.0.0.1"], folder, environment) as master:
        found = submit(job, master, **VARIABLES, PYSPARK_DRIVER_PYTHON="python", PATH=path)
        assert "ModuleNotFoundError" in found["format"], found
