"""Workers whose Python cannot run this rdfm are reported before the job starts."""

import pickle
import subprocess
import sys
import venv
from pathlib import Path

import pyspark
import pytest
from pyspark.errors import AnalysisException
from support import FIXTURES

import rdfm
import rdfm.spark
from pyspark_rdfm import DefaultSource
from rdfm.spark import workers
from rdfm.spark.readers.rows import SparkReading
from rdfm.spark.spark_options import Options

LOG = str(FIXTURES / "nanopubs/log.trig")
ENTRY_POINTS = {
    "register": lambda spark: rdfm.spark.register(spark),
    "read": lambda spark: rdfm.spark.read(spark, LOG),
    "read_stream": lambda spark: rdfm.spark.read_stream(spark, str(FIXTURES / "nanopubs")),
}


@pytest.fixture
def use_python(spark, monkeypatch):
    """A function that sets another Python for the workers of the session."""

    def use_python(program):
        monkeypatch.setattr(spark.sparkContext, "pythonExec", str(program))
        return spark

    monkeypatch.setattr(workers, "_checked_programs", set())
    yield use_python
    monkeypatch.undo()
    spark.dataSource.register(DefaultSource)  # replaces a source that uses another Python


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory):
    """The path of a Python interpreter without packages."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, symlinks=True)
    return folder / "bin/python"


def script(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o700)
    return path


@pytest.mark.parametrize("entry_point", ENTRY_POINTS)
def test_a_python_without_rdfm_is_an_error_that_names_the_setting(
    use_python, bare_python, entry_point, tmp_path, monkeypatch
):
    monkeypatch.delenv("PYTHONPATH")
    monkeypatch.chdir(tmp_path)
    reason = rf"'{bare_python}', which cannot import rdfm \(.*No module named '(rdfm|pyarrow)'\); set PYSPARK_PYTHON to {sys.executable} before"
    with pytest.raises(rdfm.MissingExtraError, match=reason):
        ENTRY_POINTS[entry_point](use_python(bare_python))


def test_a_missing_python_or_another_rdfm_version_is_an_error(use_python, tmp_path):
    with pytest.raises(rdfm.MissingExtraError, match=r"cannot be started .*PYSPARK_PYTHON"):
        rdfm.spark.register(use_python("./nowhere/python"))
    other_version = script(tmp_path / "python", "echo 0.0.0")
    with pytest.raises(
        rdfm.MissingExtraError, match=rf"a different version of rdfm .* {rdfm.__version__}"
    ):
        rdfm.spark.register(use_python(other_version))


def test_a_source_found_by_spark_reports_missing_packages(use_python, bare_python):
    (packages,) = bare_python.parents[1].glob("lib/python3.*/site-packages")
    (packages / "pyspark").symlink_to(Path(pyspark.__file__).parent)
    spark = use_python(bare_python)  # this Python also finds the checkout, through PYTHONPATH
    spark.dataSource.register(DefaultSource)
    with pytest.raises(AnalysisException, match=r"lacks a dependency of rdfm .*set PYSPARK_PYTHON"):
        spark.read.format("rdfm").load(LOG)


def test_wrappers_and_links_of_a_python_with_rdfm_are_accepted(use_python, tmp_path, monkeypatch):
    wrapper = script(tmp_path / "wrapped", f'exec {sys.executable} "$@"')
    rdfm.spark.register(use_python(wrapper))
    rdfm.spark.register(use_python(wrapper))  # checked once
    monkeypatch.setattr(subprocess, "run", None)
    rdfm.spark.register(use_python(wrapper))
    # A link to the folder of an environment does not need a check.
    (tmp_path / "bin").symlink_to(Path(sys.executable).parent)
    rdfm.spark.register(use_python(tmp_path / "bin/python"))


def test_python_interpreters_of_a_cluster_are_not_checked(use_python, monkeypatch):
    spark = use_python("./only/on/the/workers")
    monkeypatch.setattr(spark.sparkContext, "master", "spark://host:7077")
    rdfm.spark.register(spark)


def test_a_worker_with_another_rdfm_version_raises_an_error(monkeypatch):
    pickled = pickle.dumps(SparkReading.from_options(Options({}), None))
    assert pickle.loads(pickled) == SparkReading.from_options(Options({}), None)
    monkeypatch.setattr(workers, "__version__", "0.0.0")
    with pytest.raises(rdfm.MissingExtraError, match=r"has rdfm 0\.0\.0, .*PYSPARK_PYTHON"):
        pickle.loads(pickled)
