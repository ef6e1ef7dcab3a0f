"""The type name check reports names that are declared twice in a crate, and no others."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "tools"))

import check_names


def violations(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return list(check_names.violations(root))


@pytest.mark.parametrize(
    "declaration",
    [
        "struct Row;",
        "pub struct Row<'a>(&'a str);",
        "pub(crate) enum Row {}",
        "pub(in crate::a) trait Row: Send {}",
    ],
)
def test_a_name_that_is_declared_twice_is_reported(declaration, tmp_path):
    files = {"a.rs": "pub struct Row {}\n", "b/c.rs": f"/// A row.\n{declaration}\n"}
    assert violations(tmp_path, files) == ["Row is declared more than once: a.rs, b/c.rs"]


def test_a_name_that_is_declared_twice_in_one_file_is_reported(tmp_path):
    text = "struct Row;\nmod inner {\n    struct Row;\n}\n"
    assert violations(tmp_path, {"a.rs": text}) == ["Row is declared more than once: a.rs, a.rs"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("b.rs", "struct Rows;\nuse super::a::Row;\n"),
        ("b.rs", "// struct Row;\n"),
        ("b.rs", "type Row = u8;\nimpl Record for u8 {\n    type Row = u8;\n}\n"),
        ("b.rs", "#[cfg(test)]\nmod tests {\n    struct Row;\n}\n"),
        ("b/tests.rs", "struct Row;\n"),
    ],
)
def test_other_uses_of_a_name_are_allowed(name, text, tmp_path):
    assert violations(tmp_path, {"a.rs": "struct Row;\n", name: text}) == []


def test_crate_type_names_are_unique():
    for crate in check_names.CRATES:
        source = check_names.ROOT / "crates" / crate / "src"
        assert check_names.declared(source)
        assert list(check_names.violations(source)) == []
