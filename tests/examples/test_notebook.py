"""The notebook in examples/ runs, and its pictures are plots."""

import base64
import struct
import zlib
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[2] / "examples/measurements.ipynb"


def size(png):
    """The size of a complete picture with 8-bit RGBA pixels."""
    width, height, depth, kind = struct.unpack_from(">IIBB", png, 16)
    assert (depth, kind) == (8, 6)
    data, at = b"", 8
    while at < len(png):
        (length,) = struct.unpack_from(">I", png, at)
        if png[at + 4 : at + 8] == b"IDAT":
            data += png[at + 8 : at + 8 + length]
        at += length + 12
    assert len(zlib.decompress(data)) == height * (1 + 4 * width)
    return width, height


@pytest.mark.slow
def test_the_notebook_runs_and_shows_tables_and_plots(tmp_path, monkeypatch):
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "MPLCONFIGDIR", "TMPDIR"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(name, str(tmp_path / name))
    notebook = nbformat.read(NOTEBOOK, 4)
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in notebook.cells)
    NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    ).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert {output.output_type for output in outputs} <= {"execute_result", "display_data"}
    shown = [output.data.get("text/html", "") for output in outputs]
    assert sum("<table" in text for text in shown) == 3
    pictures = [output.data["image/png"] for output in outputs if "image/png" in output.data]
    assert len(pictures) == 2
    for picture in pictures:
        width, height = size(base64.b64decode(picture))
        assert width > 700
        assert height > 250
