"""Benchmarks compare equal work on both sides."""

import re
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SIZES = {"iot": 20, "osm": 4, "nanopubs": 4}


@pytest.fixture(scope="module")
def tasks():
    sys.path.insert(0, str(BENCHMARKS))
    try:
        import tasks

        yield tasks
    finally:
        sys.path.remove(str(BENCHMARKS))


@pytest.fixture(scope="module")
def data(tasks, tmp_path_factory):
    from generate import generate

    folder = tmp_path_factory.mktemp("logs")
    generate(folder, SIZES)
    return folder


def test_both_sides_of_write_benchmarks_use_the_same_kind_of_file(tasks, data, monkeypatch):
    import work as shared  # the fixture `tasks` puts the benchmarks on the path

    files = []

    class RecordingFile(shared.NullFile):
        def __init__(self):
            super().__init__()
            files.append(self)

    monkeypatch.setattr(shared, "NullFile", RecordingFile)
    rows = [row for row in tasks.rows() if " write" in row.name]
    assert len(rows) > 10
    for row in rows:
        messages = SIZES[re.search(r"\((\w+)\)", row.name)[1]]
        for side in (row.ours, row.peer[1]):
            work = side(data, messages)
            files.clear()
            if work.prepare is not None:
                work.prepare()
            quads = work.run()
            assert quads > 0
            assert [file.size for file in files] == [work.size()], row.name
            assert work.size() > quads, row.name


def test_both_sides_of_read_benchmarks_read_the_same_number_of_quads(tasks, data):
    rows = {row.name: row for row in tasks.rows()}
    for name in ("nq read, batches (iot)", "nq read, Python objects (iot)"):
        row = rows[name]
        ours, theirs = row.ours(data, 0), row.peer[1](data, 0)
        assert ours.run() == theirs.run() == SIZES["iot"] * 6
        assert ours.log_bytes == theirs.log_bytes


@pytest.mark.parametrize(
    ("row", "quads"),
    [
        ("leading context (iot)", 6),
        ("expanded (iot)", 6),
        ("a context in each line (iot)", 6),
        ("scopes and containers (iot)", 8),
        ("several nodes (nanopubs)", 30),
    ],
)
def test_both_sides_of_json_ld_rows_read_the_same_number_of_quads(tasks, data, row, quads):
    found = next(found for found in tasks.rows() if found.name == f"ndjsonld read, {row}")
    messages = SIZES[re.search(r"\((\w+)\)", row)[1]]
    ours, theirs = found.ours(data, messages), found.peer[1](data, messages)
    assert ours.run() == theirs.run() == messages * quads


def test_both_sides_of_patch_and_result_rows_have_equal_counts(tasks, data):
    import kinds

    rows = kinds.rows()
    assert len(rows) == 25
    for row in rows:
        messages = SIZES[re.search(r"\((\w+)\)", row.name)[1]]
        ours, theirs = row.ours(data, messages), row.peer[1](data, messages)
        if theirs.prepare is not None:
            theirs.prepare()
        found, other = ours.run(), theirs.run()
        if "applied" in row.name:  # transaction rows are operations too
            found -= 2 * messages
        assert found == other > 0, row.name


def test_both_sides_of_comparison_rows_have_equal_counts(tasks, data):
    import comparing

    rows = comparing.rows()
    assert len(rows) == 8
    for row in rows:
        messages = SIZES[re.search(r"\((\w+)\)", row.name)[1]]
        works = [row.ours(data, messages), row.peer[1](data, messages)]
        for work in works:
            if work.prepare is not None:
                work.prepare()
        ours, theirs = (work.run() for work in works)
        assert ours == theirs > 0, row.name


def test_both_sides_of_statistics_rows_have_equal_counts(tasks, data):
    import counting

    rows = counting.rows()
    assert len(rows) == 5
    for row in rows:
        messages = SIZES[re.search(r"\((\w+)\)", row.name)[1]]
        assert row.ours(data, messages).run() == row.peer[1](data, messages).run() > 0, row.name


def test_both_sides_of_validation_rows_have_equal_counts(tasks, data):
    import checking

    for row in checking.rows():
        messages = SIZES[re.search(r"\((\w+)\)", row.name)[1]]
        assert row.ours(data, messages).run() == row.peer[1](data, messages).run() > 0, row.name


def test_both_sides_of_packaging_rows_have_equal_counts(tasks, data):
    import distributions

    rows = distributions.rows()
    assert len(rows) == 2
    for row in rows:
        messages = SIZES[re.search(r"\((\w+)\)", row.name)[1]]
        assert row.ours(data, messages).run() == row.peer[1](data, messages).run() > 0, row.name


def test_both_sides_of_rows_of_data_frames_have_equal_counts(tasks, data):
    import frames

    rows = {row.peer[0]: row for row in frames.rows()}
    assert set(rows) == {"rdflib", "pyoxigraph", "maplib"}
    for peer in ("rdflib", "pyoxigraph"):  # maplib is not installed
        works = [side(data, SIZES["iot"]) for side in (rows[peer].ours, rows[peer].peer[1])]
        assert [work.run() for work in works] == [SIZES["iot"] * 6] * 2
        assert works[0].log_bytes == works[1].log_bytes > 0
