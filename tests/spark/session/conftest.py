"""A real Spark session, shared by all tests in this folder."""

import importlib.metadata
import importlib.util
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def pytest_collection_modifyitems(items):
    """Marks all tests in this folder with `spark`, and skips features that this PySpark lacks."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("spark")
            feature = item.get_closest_marker("feature")
            if feature is not None:
                item.user_properties.append(("feature", feature.args[0]))
                since = feature.kwargs.get("since", (4, 0))
                if version() < since:
                    needed = ".".join(map(str, since))
                    item.add_marker(pytest.mark.skip(reason=f"needs PySpark {needed}"))


def version():
    """Returns the version of PySpark as two numbers."""
    found = importlib.metadata.version("pyspark").split(".")
    return int(found[0]), int(found[1])


def load_tool():
    path = ROOT / "tools/spark_environment.py"
    spec = importlib.util.spec_from_file_location("spark_environment", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def spark_environment(tmp_path_factory):
    """Environment variables that Spark needs on this machine, in this process and in others."""
    return load_tool().environment(tmp_path_factory.mktemp("spark"))


@pytest.fixture(scope="session")
def spark(spark_environment, tmp_path_factory):
    """A session with two cores."""
    from pyspark.sql import SparkSession

    folder = tmp_path_factory.mktemp("warehouse")
    before = {name: os.environ.get(name) for name in spark_environment}
    os.environ.update(spark_environment)
    builder = SparkSession.builder.master("local[2]").appName("rdfm tests")
    builder = builder.config("spark.sql.warehouse.dir", str(folder))
    builder = builder.config("spark.sql.session.timeZone", "UTC")
    session = builder.config(map=load_tool().SHORT_SESSION).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
    for name, value in before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 256 KiB. Skips the test if the disk cannot be mounted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("a disk cannot be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)
