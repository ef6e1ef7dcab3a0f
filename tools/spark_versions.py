"""Runs the tests marked `feature` with each supported version of PySpark.

The results are written to the table in docs/spark-platforms.md. The environments are in
`build/spark`. Each contains one version of PySpark, and finds all other packages in `.venv`, which
is itself the environment of the version that it contains.

    .venv/bin/python tools/spark_versions.py [4.0 4.1 …]
"""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
import sysconfig
import xml.etree.ElementTree as ET
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build/spark"
VERSIONS = {"4.0": "4.0.5", "4.1": "4.1.4", "4.2": "4.2.1", "4.3": "4.3.0"}
PAGE = ROOT / "docs/spark-platforms.md"
BEGIN = "<!-- made by `make test-spark-versions` -->"
# From best to worst. The table shows the worst result of a feature's tests.
RESULTS = ("yes", "no", "failed")


def python_of(version: str) -> Path:
    """Return the Python interpreter of the environment for a PySpark version.

    The environment is created if necessary.
    """
    if importlib.metadata.version("pyspark") == VERSIONS[version]:
        return Path(sys.executable)
    folder = FOLDER / version
    python = folder / "bin/python"
    marker = folder / f"pyspark-{VERSIONS[version]}"
    if not marker.exists():
        print(f"Installing PySpark {VERSIONS[version]} in {folder}", flush=True)
        run(sys.executable, "-m", "venv", "--clear", "--without-pip", folder)
        pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet")
        run(*pip, f"pyspark=={VERSIONS[version]}")
        (site,) = folder.glob("lib/python3.*/site-packages")
        # The name sorts after the environment's own packages, which therefore take precedence.
        (site / "zz_rdfm.pth").write_text(sysconfig.get_path("purelib") + "\n")
        marker.touch()
    return python


def run(*command: object) -> None:
    """Run a program.

    Raises:
        subprocess.CalledProcessError: If the program fails.
    """
    subprocess.run([str(part) for part in command], check=True)


def results_of(version: str) -> dict[str, str]:
    """Run the tests, and return "yes", "no" (not supported) or "failed" for each feature."""
    report = FOLDER / f"{version}.xml"
    report.unlink(missing_ok=True)
    command = [python_of(version), "-m", "pytest", "--quiet", "-m", "feature", "--junitxml", report]
    command += ["-p", "no:cacheprovider", "-W", "default", "tests/spark/session"]
    subprocess.run([str(part) for part in command], cwd=ROOT, check=False)
    found: dict[str, str] = {}
    for case in ET.parse(report).iter("testcase"):
        feature = case.find("properties/property[@name='feature']")
        if feature is None:
            continue
        if case.find("failure") is not None or case.find("error") is not None:
            result = "failed"
        else:
            result = "yes" if case.find("skipped") is None else "no"
        name = feature.attrib["value"]
        found[name] = max(found.get(name, "yes"), result, key=RESULTS.index)
    return found


def table(results: dict[str, dict[str, str]]) -> str:
    """The table of features and versions."""
    features = dict.fromkeys(name for found in results.values() for name in found)
    rows = [["", *results], ["---"] * (len(results) + 1)]
    rows += [[name, *(found.get(name, "no") for found in results.values())] for name in features]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def main(versions: list[str]) -> int:
    """Run the tests with these versions. With all versions, also update the page."""
    results = {version: results_of(version) for version in versions or VERSIONS}
    table_text = table(results)
    print(table_text)
    if len(results) == len(VERSIONS):
        page = PAGE.read_text("utf-8")
        before, after = re.split(rf"{re.escape(BEGIN)}\n\n(?:\|.*\n)*\n?", page)
        PAGE.write_text(f"{before}{BEGIN}\n\n{table_text}\n{after}", "utf-8")
    return int(any(not found or "failed" in found.values() for found in results.values()))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
