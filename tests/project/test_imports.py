"""The check of imports tells what points up, and nothing else."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "tools"))

import check_imports


def told(root, files, floors, *, rust):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    edges = check_imports.rust_edges(root) if rust else check_imports.python_edges(root)
    return sorted(check_imports.wrong(edges, root, floors))


@pytest.mark.parametrize(
    "line",
    [
        "use crate::formats::a::One;",
        "use crate::{formats::{a::One, b}, model};",
        "fn f() { crate::formats::a::one() }",
        "use super::super::formats::a as other;",
    ],
)
def test_a_path_that_points_up_in_the_core_is_told(line, tmp_path):
    files = {
        "model/mod.rs": "pub mod term;",
        "model/term.rs": f"{line}\n// use crate::lib;\n",
        "formats/mod.rs": "pub mod a;",
        "formats/a.rs": "use crate::model::term;",
    }
    floors = [{"model"}, {"formats"}]
    found = told(tmp_path, files, floors, rust=True)
    assert "model/term.rs -> formats/a.rs" in found
    assert "circle: formats/a.rs, model/term.rs" in found


def test_families_of_formats_do_not_know_each_other(tmp_path):
    files = {
        "formats/mod.rs": "pub mod a;",
        "formats/a/mod.rs": "use super::b::One;\n#[cfg(test)] mod tests { use crate::formats::c; }",
        "formats/b/mod.rs": "pub struct One;",
        "formats/c/mod.rs": "",
    }
    found = told(tmp_path, files, [{"formats"}], rust=True)
    assert found == ["formats/a/mod.rs -> formats/b/mod.rs"]


@pytest.mark.parametrize(
    "line",
    [
        "import pk.high",
        "from pk import high",
        "from pk.high import name",
        "def f():\n    from pk.high import name",
        "from importlib import import_module\nimport_module('pk.high')",
    ],
)
def test_an_import_that_points_up_in_the_package_is_told(line, tmp_path):
    files = {
        "pk/__init__.py": "",
        "pk/low.py": line,
        "pk/high.py": "from pk import low",
        "pk/new.py": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    root = tmp_path / "pk"
    floors = [{"low"}, {"high"}, {"__init__"}]
    found = sorted(check_imports.wrong(check_imports.python_edges(root), root, floors))
    assert found == ["low.py -> high.py", "new.py has no floor"]


def test_a_crate_that_opens_files_is_told(tmp_path):
    (tmp_path / "lib.rs").write_text(
        "// std::fs\nuse std::{fmt, mem};\nfn f() { std::fs::read(x) }\n"
    )
    (tmp_path / "own.rs").write_text("use std::fmt;\n#[cfg(test)]\nmod tests { use std::env; }\n")
    assert list(check_imports.outside(tmp_path)) == ["lib.rs uses std::fs"]
