"""Commands use the same memory for a log that is four times as long."""

import sys
from contextlib import ExitStack

import pytest
from measured import block, measured

TOLERANCE_BYTES = 20_000_000
# Several row groups are processed at once, but a short log has only a few.
TABLE_TOLERANCE_BYTES = 40_000_000
COMMANDS = [
    ("cat", "LOG", "-m", "::1000"),
    ("cat", "LOG", "-m", "-10:"),
    ("cat", "LOG.gz", "-m", "-10:"),
    ("cat", "LOG", "--sample", "1%"),
    ("cat", "LOG", "--sample", "100"),
    ("inspect", "LOG", "--stats"),
    ("validate", "LOG", "--quiet"),
    ("diff", "LOG", "LOG.gz", "--quiet"),
    ("hash", "LOG", "--log"),
    ("query", "SELECT * { ?s ?p ?o }", "LOG", "-q", "-o", "/dev/null", "--to", "results-thrift"),
    ("query", "SELECT * { ?s ?p ?o }", "LOG", "-q", "-o", "OUT.parquet"),
    ("query", "CONSTRUCT { ?o ?p ?s } { ?s ?p ?o }", "LOG", "-q", "-o", "/dev/null", "--to", "nq"),
    ("query", "ASK { ?s ?p ?s }", "LOG", "--quiet"),
    ("convert", "FLAT", "-", "--to", "parquet", "--rows", "quads", "--quiet"),
    ("filter", "LOG", "--any", "<http://e/none>", "--count"),
    ("filter", "LOG", "--contains", "1", "--quads", "-q", "-o", "/dev/null", "--to", "jelly"),
]


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """Logs of 50 MB and 200 MB, also compressed."""
    import gzip

    folder = tmp_path_factory.mktemp("logs")
    piece, flat = block(5_000_000), block(5_000_000, b"")
    compressed = gzip.compress(piece, 1)
    for name, count in (("50", 10), ("200", 40)):
        files = (folder / f"{name}{suffix}" for suffix in (".nq", ".nq.gz", ".flat.nq"))
        with ExitStack() as stack:
            log, gz, message = (stack.enter_context(file.open("wb")) for file in files)
            for _ in range(count):
                log.write(piece)
                message.write(flat)
                gz.write(compressed)
    yield folder
    for path in folder.iterdir():
        path.unlink()


@pytest.mark.slow
@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_memory_does_not_grow_with_the_log(logs, arguments):
    peaks = []
    for name in ("50", "200"):
        paths = {"LOG": f"{name}.nq", "FLAT": f"{name}.flat.nq", "OUT": "out"}
        command = list(arguments)
        for placeholder, path in paths.items():
            command = [each.replace(placeholder, str(logs / path)) for each in command]
        code, resident, errors, _ = measured(*command)
        assert (code, errors) == (0, "")
        peaks.append(resident)
    tolerance = TABLE_TOLERANCE_BYTES if "parquet" in arguments else TOLERANCE_BYTES
    assert abs(peaks[1] - peaks[0]) < tolerance, peaks


ARROW_STREAM_CODE = """
import sys
import pyarrow as pa
import rdfm
with rdfm.open_log(sys.argv[1], rows="quads") as log:
    print(sum(batch.num_rows for batch in pa.RecordBatchReader.from_stream(log)))
"""


@pytest.mark.slow
def test_a_flat_log_as_an_arrow_stream_uses_bounded_memory(logs):
    peaks = []
    for name in ("50", "200"):
        path = str(logs / f"{name}.flat.nq")
        code, resident, errors, _ = measured("-c", ARROW_STREAM_CODE, path, program=sys.executable)
        assert (code, errors) == (0, "")
        peaks.append(resident)
    assert abs(peaks[1] - peaks[0]) < TOLERANCE_BYTES, peaks
