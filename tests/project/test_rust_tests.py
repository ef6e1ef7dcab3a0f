"""Every file of Rust tests belongs to a test program."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CRATES = sorted(path.parent for path in ROOT.glob("crates/*/tests"))


@pytest.mark.parametrize("crate", CRATES, ids=lambda path: path.name)
def test_every_file_is_a_program_or_a_module_of_one(crate):
    manifest = tomllib.loads((crate / "Cargo.toml").read_text("utf-8"))
    programs = {each["name"] for each in manifest["test"]}
    modules = set(re.findall(r"^mod (\w+);", (crate / "tests/all.rs").read_text("utf-8"), re.M))
    files = {path.stem for path in (crate / "tests").glob("*.rs")}
    folders = {path.parent.name for path in (crate / "tests").glob("*/mod.rs")}
    assert programs <= files
    assert files | folders <= programs | modules
