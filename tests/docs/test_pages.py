"""Code blocks in README.md and docs/ print the output shown, and links are valid."""

from __future__ import annotations

import importlib
import importlib.util
import re
from pathlib import Path

import click
import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
WRITTEN_PAGES = [
    page for page in PAGES if page.name not in ("CHANGELOG.md", "options-generated.md")
]


def checker():
    spec = importlib.util.spec_from_file_location("check_docs", ROOT / "tools/check_docs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CHECK = checker()


def test_pages_are_found():
    assert ROOT / "README.md" in PAGES
    assert ROOT / "docs/index.md" in PAGES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_code_blocks_print_what_they_show(page):
    errors = CHECK.block_errors(page, page.read_text("utf-8"))
    assert not errors, "\n".join(errors)


def test_servers_use_ports_that_clients_do_not_get():
    """From 32768, an outgoing connection of another test may have the port."""
    text = "".join(page.read_text("utf-8") for page in PAGES)
    ports = re.findall(r"^\$ .*rdfm serve .*?--(?:grpc|http|metrics) (?:\S+:)?(\d+)", text, re.M)
    assert ports
    assert max(map(int, ports)) < 32768


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_are_valid(page):
    assert not CHECK.link_errors(page, page.read_text("utf-8"))


@pytest.mark.parametrize("page", WRITTEN_PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_lines_of_prose_have_at_most_100_columns(page):
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    lines = [line for line in text.split("\n") if len(line) > 100 and not line.startswith("|")]
    # Code and links cannot be wrapped.
    assert [line for line in lines if " " in re.sub(r"`[^`]*`|\[[^]]*\]\([^)]*\)", "", line)] == []


def test_user_documentation_uses_the_word_error():
    pages = [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]
    texts = {page.name: page.read_text("utf-8") for page in pages}
    for name in (
        "convert",
        "cat",
        "filter",
        "query",
        "validate",
        "diff",
        "hash",
        "inspect",
        "patch",
        "formats",
        "completion",
    ):
        command = importlib.import_module(f"rdfm.cli.{name}").command
        with click.Context(command, info_name=name) as context:
            texts[name] = command.get_help(context)
    for name, text in texts.items():
        prose = re.sub(r"`[^`\n]+`", "", text)  # attribute names are exempt
        assert not re.search(r"\b(faults?|faulty|troubles?)\b", prose, re.I), name


@pytest.mark.parametrize(
    ("expected", "printed", "equal"),
    [
        ("a\n...\nd", "a\nb\nc\nd\n", True),
        ("a\n...\nd", "a\nb\nc\n", False),
        ("found '<http://…'", "found '<http://ex/'", True),
        ("1 quad in 0.01 s", "1 quad in 0.52 s", True),
        ("1 quad", "2 quad", False),
        ("", "\n", True),
    ],
)
def test_outputs_may_differ_only_in_times(expected, printed, equal):
    assert CHECK.output_matches(expected, printed) is equal


def test_a_here_document_belongs_to_its_command():
    block = "$ cat > a <<'END'\nx\nEND\n$ ls\na\n"
    assert CHECK.steps(block) == [("cat > a <<'END'\nx\nEND", ""), ("ls", "a")]


def test_a_difference_is_reported(tmp_path):
    page = ROOT / "page.md"
    errors = CHECK.block_errors(page, "```console\n$ echo a\nb\n```\n\n```python\n>>> 1\n2\n```\n")
    assert len(errors) == 2
    assert "--- printed\na" in errors[0]
