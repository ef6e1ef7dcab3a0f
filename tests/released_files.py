"""Writes files of the installed version to tests/upgrade/VERSION, for the tests of upgrades.

Run `python tests/released_files.py` before a release whose files on disk differ from those of the
last one. Folders of released versions are never changed.
"""

import contextlib
import os
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
sys.path.append(str(Path(__file__).resolve().parents[1] / "tools"))

import registry_double
import spark_environment
from pyspark.sql import SparkSession

import rdfm.spark
from rdfm import formats, nanopub
from rdfm.logs import journal

ROOT = Path(__file__).resolve().parents[1]
RELEASES = ROOT / "tests/upgrade"
# A log of each kind, and one for formats that lack what the others have.
SOURCES = {
    "messages": "nanopubs/log.trig",
    "triples": "basic/log.ttl",
    "patches": "rdf-patch/basic.rdfp",
    "results": "results-json/basic.srj",
}
# Replaces the folder in the files of Spark, and the URL in the state of a mirror.
PLACE = "/rdfm-upgrade-place"
REGISTRY = "http://registry.example"


def write_logs(folder: Path) -> None:
    """Write a log in each format, named KIND.SUFFIX or one-KIND.SUFFIX with only one message."""
    for spec in formats.specs():
        # CSV loses the kinds of terms, and tables of results cannot be read.
        unread = {"results-csv": "results", "parquet": "results", "arrow": "results"}
        for kind in set(spec.kinds) - {unread.get(spec.name)}:
            has_graphs = kind != "messages" or spec.carries["graphs"]
            name = kind if has_graphs else "triples"
            one = "" if kind != "messages" or spec.carries["boundaries"] else "one-"
            target = folder / f"{one}{name}{spec.suffixes[0]}"
            options = {"take": 1} if one else {}
            # Tables contain the names of their sources, so these are relative.
            with contextlib.chdir(ROOT / "spec-fixtures"):
                rdfm.convert(SOURCES[name], target, **options)
    source = ROOT / "spec-fixtures" / SOURCES["messages"]
    rdfm.convert(source, folder / "messages-columns.jelly", jelly_version="1.2")
    for suffix in ("gz", "zst", "bz2", "xz"):
        rdfm.convert(source, folder / f"messages.nq.{suffix}")


def stat_without_inode(file: int, fstat=os.fstat) -> os.stat_result:
    """The status of a file as on a file system without inodes: a journal then applies to a copy."""
    status = list(fstat(file))
    status[1] = 0
    return os.stat_result(status)


def message(number: int) -> list[rdfm.Quad]:
    subject, predicate = rdfm.Iri("http://example.org/s"), rdfm.Iri("http://example.org/number")
    return [rdfm.Quad(subject, predicate, rdfm.Literal(str(number)))]


def write_interrupted(folder: Path) -> None:
    """Write logs and journals as a killed program leaves them: message 0, and others uncommitted."""
    journal.os.fstat = stat_without_inode
    journal.os.path.samestat = lambda first, second: True
    for suffix in ("nq", "trig", "jelly", "ndjsonld", "nq.gz"):
        path = folder / f"log.{suffix}"
        with rdfm.create_log(path) as log:
            log.write(message(0))
        log = rdfm.create_log(path, append=True)
        log.write(message(1))
        log.flush()
        journals = Path(f"{path}.append").read_bytes()
        log.write(message(2))
        log.flush()
        data = path.read_bytes()
        log.discard()
        path.write_bytes(data[:-3])
        Path(f"{path}.append").write_bytes(journals)


def write_mirror(folder: Path) -> None:
    """Write a mirror of a registry with 10 nanopublications, and its state."""
    with registry_double.registry(10) as registry:
        nanopub.fetch(registry.url, folder / "mirror.jelly")
        state = folder / "mirror.jelly.state.json"
        state.write_text(state.read_text("utf-8").replace(registry.url, REGISTRY))


def run_stream(spark: SparkSession, folder: Path) -> None:
    """Copy the new logs in `logs` to the folder `out`."""
    query = (
        rdfm.spark.read_stream(spark, str(folder / "logs"))
        .writeStream.format("rdfm")
        .option("to", "nq")
        .option("path", str(folder / "out"))
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()


def write_once(spark: SparkSession, folder: Path) -> None:
    """Write the logs to the folder `batch`; a second call writes nothing."""
    rows = rdfm.spark.read(spark, str(folder / "logs" / "0.nq"))
    rdfm.spark.write(rows, str(folder / "batch"), "jelly", write_id="first")


def write_log(folder: Path, number: int) -> None:
    with rdfm.create_log(folder / "logs" / f"{number}.nq") as log:
        log.write(message(number))


def replace_paths(folder: Path, old: str, new: str) -> None:
    """Replace a path in the files of Spark, whose checksums are then wrong and therefore removed."""
    for path in folder.rglob("*"):
        if path.name.endswith(".crc"):
            path.unlink()
        elif path.is_file() and old.encode() in (data := path.read_bytes()):
            path.write_bytes(data.replace(old.encode(), new.encode()))


def write_spark(folder: Path) -> None:
    """Write the checkpoint and the output of a stream of two logs, and a batch with an id."""
    with tempfile.TemporaryDirectory() as name:
        os.environ.update(spark_environment.environment(Path(name)))
        builder = SparkSession.builder.master("local[1]")
        spark = builder.config(map=spark_environment.SHORT_SESSION).getOrCreate()
        (folder / "logs").mkdir()
        for number in range(2):
            write_log(folder, number)
            run_stream(spark, folder)
        write_once(spark, folder)
        spark.stop()
    replace_paths(folder, str(folder), PLACE)


def main() -> None:
    folder = RELEASES / rdfm.__version__
    shutil.rmtree(folder, ignore_errors=True)
    writers = {
        "logs": write_logs,
        "mirror": write_mirror,
        "spark": write_spark,
        "interrupted": write_interrupted,
    }
    for name, write in writers.items():
        (folder / name).mkdir(parents=True)
        write(folder / name)


if __name__ == "__main__":
    main()
