"""Spark continues from the checkpoints and output folders of released versions."""

import shutil

import pytest
from released_files import PLACE, RELEASES, replace_paths, run_stream, write_log, write_once

VERSIONS = [path for path in RELEASES.iterdir() if path.name[0].isdigit()]


@pytest.fixture(params=VERSIONS, ids=lambda path: path.name)
def folder(request, tmp_path):
    copy = tmp_path / "spark"
    shutil.copytree(request.param / "spark", copy)
    replace_paths(copy, PLACE, str(copy))
    return copy


def numbers(spark, folder):
    rows = spark.read.format("rdfm").load(str(folder)).collect()
    return sorted(row.quads[0].object for row in rows)


def test_a_stream_reads_only_new_logs(folder, spark):
    write_log(folder, 2)
    run_stream(spark, folder)
    assert numbers(spark, folder / "out") == ['"0"', '"1"', '"2"']


def test_a_write_with_the_same_id_is_not_repeated(folder, spark):
    write_once(spark, folder)
    assert numbers(spark, folder / "batch") == ['"0"']
