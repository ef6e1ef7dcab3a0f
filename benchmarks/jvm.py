"""Runs Jelly-JVM on the benchmark logs: reading with RIOT or its core, and writing.

The program is tests/peers/jvm/Speed.java. If java, javac or mvn is missing, the functions return
None.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

__all__ = ["java_classpath", "jelly_jvm_rates"]

ROOT = Path(__file__).parent.parent


def java_classpath(name: str) -> str | None:
    """Builds the programs in tests/peers/NAME. Returns their classpath, or None on failure."""
    if not all(map(shutil.which, ("java", "javac", "mvn"))):
        return None
    peer, built = ROOT / "tests" / "peers" / name, ROOT / "build" / "benchmarks" / name
    programs = sorted(peer.glob("*.java"))
    newest = max(path.stat().st_mtime for path in (*programs, peer / "pom.xml"))
    if not (built / "classes").exists() or (built / "classes").stat().st_mtime < newest:
        shutil.rmtree(built, ignore_errors=True)
        built.mkdir(parents=True)
        goal = ("dependency:copy-dependencies", "-DincludeScope=runtime")
        maven = ["mvn", "-q", "-B", "-f", peer / "pom.xml", *goal, f"-DoutputDirectory={built}/lib"]
        if subprocess.run(maven, capture_output=True, check=False).returncode:
            return None
        compile = ["javac", "--release", "17", "-cp", f"{built}/lib/*", "-d", built / "classes"]
        subprocess.run([*compile, *programs], capture_output=True, check=True)
    return os.pathsep.join([f"{built}/classes", f"{built}/lib/*"])


def jelly_jvm_rates(log: Path, seconds: float) -> tuple[float, float, float] | None:
    """Triples per CPU second of Jelly-JVM; None if it cannot run.

    Args:
        log: A Jelly log of triples.
        seconds: Duration of each warm-up and of each measurement.

    Returns:
        The rates of reading into a StreamRDF, reading into strings, and writing.
    """
    if (classpath := java_classpath("jvm")) is None:
        return None
    memory = ("-Xms3g", "-Xmx3g", "-XX:+UseParallelGC")
    command = ["java", *memory, "-cp", classpath, "Speed", log, str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    read, read_strings, written = map(float, done.stdout.split())
    return read, read_strings, written
