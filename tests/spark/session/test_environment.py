"""The packaged Java, for machines without Java."""

import importlib.util
import subprocess
from pathlib import Path

TOOL = Path(__file__).resolve().parents[3] / "tools/spark_environment.py"


def test_the_packaged_java_accepts_the_arguments_of_spark(tmp_path):
    spec = importlib.util.spec_from_file_location("spark_environment", TOOL)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    java = str(tool.packaged_java(tmp_path / "a folder") / "bin/java")
    command = [java, "-Dx=a b", tool.OMITTED_ARGUMENT, "-version"]
    completed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stderr
    assert tool.version_of(java) >= tool.OLDEST_JAVA
