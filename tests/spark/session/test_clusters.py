"""Sessions with worker processes and with Spark Connect, each in a separate process."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from parts import lines_of, messages_in, remaining_files

import rdfm
from rdfm import formats

pytestmark = pytest.mark.slow
SCRIPT = Path(__file__).with_name("elsewhere.py")
LINE = '<http://e/s> <http://e/p> "{}" .\n'


def run_elsewhere(kind, folder, environment):
    """Returns the results of `elsewhere.py`."""
    completed = subprocess.run(
        [sys.executable, str(SCRIPT), kind, str(folder)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert completed.returncode == 0, completed.stderr[-4000:]
    return json.loads(completed.stdout.splitlines()[-1])


def expected_rows(path):
    with rdfm.open_log(path) as log:
        return [
            [
                str(path),
                message.message_index,
                [[part and str(part) for part in quad] for quad in message],
                {key: [*value] for key, value in message.metadata.items()},
            ]
            for message in log
        ]


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("cluster", marks=pytest.mark.feature("workers in other processes")),
        pytest.param("connect", marks=pytest.mark.feature("Spark Connect")),
    ],
)
def test_logs_and_values_are_read_and_written_in_other_sessions(kind, tmp_path, spark_environment):
    logs = tmp_path / "logs"
    logs.mkdir()
    count = 500
    text = "# @message\n".join(LINE.format(number) for number in range(count))
    (logs / "1.nq").write_text(text)
    for name in ("2.jelly", "3.trig.gz"):
        rdfm.convert(logs / "1.nq", logs / name)
    paths = sorted(logs.iterdir())
    result = run_elsewhere(kind, tmp_path, spark_environment)
    expected = [[str(path), offset] for path in paths for offset in range(count)]
    assert result["stream"] == {"read_stream": expected, "format": expected}
    quad = ["<http://e/s>", "<http://e/p>", '"o"@en', None]
    names = [each.name for each in formats.all() if each.spec.kinds[0] == "messages"]
    assert result["values"] == {name: [[[quad, quad], [], None]] * 2 for name in names}
    found = result["read"]
    assert found["rows"] == [row for path in paths for row in expected_rows(path)]
    assert [offset for offset, _ in found["keys"]] == [*range(count)] * 3
    assert result["terms"] == {
        "values": sorted([str(number) for number in range(count)] * 3),
        "messages": [row[:3] for path in paths for row in expected_rows(path)],
    }
    assert result["sql"] == {
        "query": [1, '"7"'],
        "counts": [1, count],
        "findings": 0,
        "messages": count,
        "differences": 0,
    }
    positions = [text.index(LINE.format(number)) for number in range(count)]
    assert [position for _, position in found["keys"][:count]] == positions
    assert "No such file or folder" in found["error"]
    assert "nothing" in found["error"]
    written = lines_of(messages_in(tmp_path / "written"))
    assert sorted(written) == sorted([[LINE.format(number).strip()] for number in range(count)] * 3)
    assert sorted(lines_of(messages_in(tmp_path / "streamed"))) == sorted(written)
    assert remaining_files(tmp_path / "written") == remaining_files(tmp_path / "streamed") == []
    assert "found 'oops'" in result["write"]["error"]
