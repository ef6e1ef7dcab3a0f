"""Commands take as much memory for ten times as long a log."""

import pytest
from measured import block, measured

ROOM = 20_000_000
COMMANDS = [
    ("cat", "LOG", "-m", "::1000"),
    ("cat", "LOG", "-m", "-10:"),
    ("cat", "LOG.gz", "-m", "-10:"),
    ("cat", "LOG", "--sample", "1%"),
    ("cat", "LOG", "--sample", "100"),
    ("inspect", "LOG", "--stats"),
    ("validate", "LOG", "--quiet"),
    ("diff", "LOG", "LOG.gz", "--quiet"),
    ("query", "SELECT * { ?s ?p ?o }", "LOG", "-q", "-o", "/dev/null", "--to", "results-thrift"),
    ("query", "SELECT * { ?s ?p ?o }", "LOG", "-q", "-o", "OUT.parquet"),
    ("query", "CONSTRUCT { ?o ?p ?s } { ?s ?p ?o }", "LOG", "-q", "-o", "/dev/null", "--to", "nq"),
    ("query", "ASK { ?s ?p ?s }", "LOG", "--quiet"),
    ("filter", "LOG", "--any", "<http://e/none>", "--count"),
    ("filter", "LOG", "--contains", "1", "--quads", "-o", "LOG.jelly", "--quiet"),
]


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """Logs of 50 and of 500 MB, and the same compressed."""
    import gzip

    folder = tmp_path_factory.mktemp("logs")
    piece = block(5_000_000)
    packed = gzip.compress(piece, 1)
    for name, count in (("50", 10), ("500", 100)):
        with (folder / f"{name}.nq").open("wb") as log, (folder / f"{name}.nq.gz").open("wb") as gz:
            for _ in range(count):
                log.write(piece)
                gz.write(packed)
    yield folder
    for path in folder.iterdir():
        path.unlink()


@pytest.mark.slow
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_memory_does_not_grow_with_the_log(logs, words):
    peaks = []
    for name in ("50", "500"):
        given = [
            word.replace("LOG", str(logs / f"{name}.nq")).replace("OUT", str(logs / "out"))
            for word in words
        ]
        code, resident, errors, _ = measured(*given)
        assert (code, errors) == (0, "")
        peaks.append(resident)
    assert abs(peaks[1] - peaks[0]) < ROOM, peaks
