"""The import check reports forbidden imports, and no others."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "tools"))

import check_imports


def violations(root, files, layers, *, rust):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    edges = check_imports.rust_edges(root) if rust else check_imports.python_edges(root)
    return sorted(check_imports.violations(edges, root, layers))


@pytest.mark.parametrize(
    "line",
    [
        "use crate::formats::a::One;",
        "use crate::{formats::{a::One, b}, model};",
        "fn f() { crate::formats::a::one() }",
        "use super::super::formats::a as other;",
    ],
)
def test_an_import_of_a_higher_layer_in_the_core_is_reported(line, tmp_path):
    files = {
        "model/mod.rs": "pub mod term;",
        "model/term.rs": f"{line}\n// use crate::lib;\n",
        "formats/mod.rs": "pub mod a;",
        "formats/a.rs": "use crate::model::term;",
    }
    layers = [{"model"}, {"formats"}]
    found = violations(tmp_path, files, layers, rust=True)
    assert "model/term.rs -> formats/a.rs" in found
    assert "cycle: formats/a.rs, model/term.rs" in found


def test_format_families_must_not_import_each_other(tmp_path):
    files = {
        "formats/mod.rs": "pub mod a;",
        "formats/a/mod.rs": "use super::b::One;\n#[cfg(test)] mod tests { use crate::formats::c; }",
        "formats/b/mod.rs": "pub struct One;",
        "formats/c/mod.rs": "",
    }
    found = violations(tmp_path, files, [{"formats"}], rust=True)
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
def test_an_import_of_a_higher_layer_in_the_package_is_reported(line, tmp_path):
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
    layers = [{"low"}, {"high"}, {"__init__"}]
    found = sorted(check_imports.violations(check_imports.python_edges(root), root, layers))
    assert found == ["low.py -> high.py", "new.py is not in a layer"]


def test_code_after_a_test_module_is_checked(tmp_path):
    files = {
        "model/mod.rs": (
            "#[cfg(test)]\nuse crate::formats::a;\n"
            "#[cfg(test)]\nmod tests { fn f() { use crate::formats::b; } }\n"
            "use crate::formats::c;\n"
        ),
        "formats/mod.rs": "",
        "formats/a.rs": "",
        "formats/b.rs": "",
        "formats/c.rs": "",
    }
    found = violations(tmp_path, files, [{"model"}, {"formats"}], rust=True)
    assert found == ["model/mod.rs -> formats/c.rs"]


@pytest.mark.parametrize(
    "line", ["import pk", "from pk import something", "from pk import __version__"]
)
def test_only_surfaces_may_import_the_top_level_package(line, tmp_path):
    files = {"__init__.py": "", "low.py": line, "cli.py": line}
    for name, text in files.items():
        (tmp_path / "pk").mkdir(exist_ok=True)
        (tmp_path / "pk" / name).write_text(text)
    root = tmp_path / "pk"
    layers = [{"low"}, {"cli"}, {"__init__"}]
    found = list(check_imports.violations(check_imports.python_edges(root), root, layers))
    assert found == ["low.py -> __init__.py"]


def test_layers_within_a_folder_are_checked(tmp_path):
    files = {
        "pk/top.py": "from pk.logs.write import w",
        "pk/logs/read/r.py": "from pk.logs.write import w\nfrom pk.logs import kinds",
        "pk/logs/write/w.py": "",
        "pk/logs/kinds.py": "from pk.logs.write.w import x",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    logs = tmp_path / "pk" / "logs"
    edges = check_imports.within(check_imports.python_edges(tmp_path / "pk"), logs)
    found = sorted(check_imports.violations(edges, logs, [{"kinds"}, {"read", "write"}]))
    assert found == ["kinds.py -> write/w.py", "read/r.py -> write/w.py"]


@pytest.mark.parametrize(
    ("call", "is_seen"),
    [
        ("import_module('pk.low.a')", True),
        ("import_module(f'pk.low.{name}')", True),
        ("import_module(f'pk.{name}')", False),
        ("import_module(f'{package}.low')", False),
        ("import_module(name)", False),
        ("importlib.import_module('pk.' + name)", False),
    ],
)
def test_import_module_calls_must_name_their_modules(call, is_seen, tmp_path):
    (tmp_path / "pk" / "low").mkdir(parents=True)
    (tmp_path / "pk" / "low" / "b.py").write_text(call)
    (tmp_path / "pk" / "cli.py").write_text("import_module(name)")
    found = list(check_imports.opaque_imports(tmp_path / "pk"))
    assert found == (
        [] if is_seen else ["low/b.py: line 1 calls import_module with an unknown target"]
    )


def test_a_crate_that_opens_files_is_reported(tmp_path):
    (tmp_path / "lib.rs").write_text(
        "// std::fs\nuse std::{fmt, mem};\nfn f() { std::fs::read(x) }\n"
    )
    (tmp_path / "own.rs").write_text("use std::fmt;\n#[cfg(test)]\nmod tests { use std::env; }\n")
    assert list(check_imports.outside_uses(tmp_path)) == ["lib.rs uses std::fs"]
