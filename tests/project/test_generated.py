"""Files that are generated from format declarations are up to date."""

import importlib.util
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_generated_files_are_not_stale():
    program = [sys.executable, "tools/generate.py", "--check"]
    run = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_a_stale_file_is_reported(monkeypatch, capsys, tmp_path):
    monkeypatch.syspath_prepend(ROOT / "tools")
    spec = importlib.util.spec_from_file_location("tools_generate", ROOT / "tools/generate.py")
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    (tmp_path / "rdfm").mkdir()
    (tmp_path / "docs").mkdir()
    monkeypatch.setattr(generate, "ROOT", tmp_path)
    monkeypatch.setattr(generate, "SHARE", tmp_path / "share")
    monkeypatch.setattr(sys, "argv", ["generate.py", "--check"])
    assert generate.main() == 1
    assert "docs/options-generated.md is outdated; run make generate" in capsys.readouterr().out
