"""The stages of a conversion: slow output reports progress, and stops on request."""

import itertools
import time

import pytest

import rdfm
from rdfm.conversion import pipeline
from rdfm.logs.write.parts import Part
from rdfm.storage import compression as compressions

LINE = b"<http://e/s> <http://e/p> <http://e/%06d> .\n"


class SlowCompressor:
    """A compressor that takes `pause` seconds per megabyte, as slow as xz."""

    def __init__(self, pause):
        self._pause = pause

    def compress(self, data):
        time.sleep(self._pause * len(data) / (1 << 20))
        return data

    def flush(self):
        return b""


@pytest.fixture
def log(tmp_path):
    """Two messages of 2 MB, each of which is encoded at once."""
    path = tmp_path / "log.nq"
    message = b"".join(LINE % number for number in range(50_000))
    path.write_bytes(message + b"# @message\n" + message)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("target", ["out.nq", "out/"])
def test_slow_compression_reports_progress(log, tmp_path, monkeypatch, target):
    monkeypatch.setattr(compressions, "compressor", lambda _: SlowCompressor(1))
    monkeypatch.setattr(compressions, "_block_compressor", lambda _: SlowCompressor(1).compress)
    monkeypatch.setattr(compressions, "BLOCK_BYTES", 1 << 18)
    monkeypatch.setattr(pipeline, "OUTPUT_BYTES", 1 << 20)
    reports = []
    rdfm.convert(
        log,
        f"{tmp_path}/{target}",
        to="nq",
        compression="xz",
        progress=lambda progress: reports.append((time.perf_counter(), progress)),
    )
    times = [seconds for seconds, _ in reports]
    assert max(later - earlier for earlier, later in itertools.pairwise(times)) < 1.2
    steps = [progress.bytes_in for _, progress in reports]
    assert steps == sorted(steps)
    if target == "out.nq":  # each file of a folder is written at once
        assert len(set(steps)) > 5
    last = reports[-1][1]
    assert (last.bytes_in, last.messages) == (log.stat().st_size, 2)


def test_slow_compression_can_be_interrupted(log, tmp_path, monkeypatch):
    monkeypatch.setattr(compressions, "_block_compressor", lambda _: SlowCompressor(3).compress)
    monkeypatch.setattr(compressions, "BLOCK_BYTES", 1 << 18)

    def interrupt(_):
        raise KeyboardInterrupt

    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        rdfm.convert(log, tmp_path / "out.nq", compression="xz", progress=interrupt)
    assert time.perf_counter() - start < 5
    assert [path.name for path in tmp_path.iterdir()] == ["log.nq"]


@pytest.mark.parametrize("size", [1, 10, 100])
def test_output_does_not_depend_on_write_sizes(size, monkeypatch):
    monkeypatch.setattr(pipeline, "WRITTEN_BYTES", size)
    files = [Part("a", b"x" * 25), Part("a", b"y" * 7, True), Part("b", b"", True)]
    for out in (files, files + files[:1]):
        assert [part for piece in pipeline._split_output(out) for part in piece] == out
    for data in ([], [b""], [b"z" * 37], [b"u" * 3, b"v" * 45, b""]):
        pieces = list(pipeline._split_output([Part("", each, end="content") for each in data]))
        assert pieces
        parts = [part for piece in pieces for part in piece]
        assert b"".join(part.data for part in parts) == b"".join(data)
        assert sum(part.end == "content" for part in parts) == len(data)
