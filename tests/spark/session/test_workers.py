"""Workers whose Python is not the driver's: told before the job, and only where it is so."""

import pickle
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from support import FIXTURES

import rdfm
import rdfm.spark
from rdfm.spark import workers
from rdfm.spark.options import Options
from rdfm.spark.rows import SparkReading

LOG = str(FIXTURES / "nanopubs/log.trig")
WAYS = {
    "register": lambda spark: rdfm.spark.register(spark),
    "read": lambda spark: rdfm.spark.read(spark, LOG),
    "read_stream": lambda spark: rdfm.spark.read_stream(spark, str(FIXTURES / "nanopubs")),
}


@pytest.fixture
def use(spark, monkeypatch):
    """Gives the session another Python for its workers."""

    def use(program):
        monkeypatch.setattr(spark.sparkContext, "pythonExec", str(program))
        return spark

    monkeypatch.setattr(workers, "_right", set())
    yield use
    monkeypatch.undo()
    rdfm.spark.register(spark)


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """A Python without packages."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, symlinks=True)
    return folder / "bin/python"


def script(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o700)
    return path


@pytest.mark.parametrize("way", WAYS)
def test_a_python_without_rdfm_is_told_with_what_to_set(use, bare, way, tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONPATH")
    monkeypatch.chdir(tmp_path)
    says = rf"'{bare}', which cannot import rdfm \(.*No module named '(rdfm|pyarrow)'\); set PYSPARK_PYTHON to {sys.executable} before"
    with pytest.raises(rdfm.MissingExtraError, match=says):
        WAYS[way](use(bare))


def test_a_python_that_is_not_there_or_has_another_rdfm_is_told(use, tmp_path):
    with pytest.raises(rdfm.MissingExtraError, match=r"cannot be started .*PYSPARK_PYTHON"):
        rdfm.spark.register(use("./nowhere/python"))
    other = script(tmp_path / "python", "echo 0.0.0")
    with pytest.raises(
        rdfm.MissingExtraError, match=rf"another version of rdfm .* {rdfm.__version__}"
    ):
        rdfm.spark.register(use(other))


def test_what_spark_finds_by_itself_says_what_its_python_lacks(use, bare):
    from pyspark_rdfm import DefaultSource

    spark = use(bare)  # finds the checkout by its PYTHONPATH, and nothing else
    spark.dataSource.register(DefaultSource)
    with pytest.raises(AnalysisException, match=r"lacks a dependency of rdfm .*set PYSPARK_PYTHON"):
        spark.read.format("rdfm").load(LOG)


def test_other_names_of_a_python_that_has_rdfm_are_no_error(use, tmp_path, monkeypatch):
    wrapped = script(tmp_path / "wrapped", f'exec {sys.executable} "$@"')
    rdfm.spark.register(use(wrapped))
    rdfm.spark.register(use(wrapped))  # asked once
    monkeypatch.setattr(subprocess, "run", None)
    rdfm.spark.register(use(wrapped))
    # The folder of an environment under another name needs no question.
    (tmp_path / "bin").symlink_to(Path(sys.executable).parent)
    rdfm.spark.register(use(tmp_path / "bin/python"))


def test_of_a_cluster_nothing_is_said(use, monkeypatch):
    spark = use("./only/on/the/workers")
    monkeypatch.setattr(spark.sparkContext, "master", "spark://host:7077")
    rdfm.spark.register(spark)


def test_a_worker_with_another_rdfm_says_so(monkeypatch):
    sent = pickle.dumps(SparkReading.of(Options({}), None))
    assert pickle.loads(sent) == SparkReading.of(Options({}), None)
    monkeypatch.setattr(workers, "__version__", "0.0.0")
    with pytest.raises(rdfm.MissingExtraError, match=r"has rdfm 0\.0\.0, .*PYSPARK_PYTHON"):
        pickle.loads(sent)
