"""The tables of the documentation name what is there: formats, options, commands, errors."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

import rdfm
from rdfm import errors, formats
from rdfm.cli.app import app

ROOT = Path(__file__).parents[2]
BUILT_IN = tuple(formats.names())
PAGE_OF = {
    "nt": "nt-nq.md",
    "nq": "nt-nq.md",
    "ttl": "ttl-trig.md",
    "trig": "ttl-trig.md",
    "jelly": "jelly.md",
    "rdf-protobuf": "rdf-binary.md",
    "rdf-thrift": "rdf-binary.md",
    "rdfxml": "rdfxml.md",
    "ndjsonld": "jsonld.md",
    "jsonld": "jsonld.md",
    "yamlld": "yamlld.md",
    "parquet": "tables.md",
    "arrow": "tables.md",
}
# Explained once, in docs/limits.md: options of how messages are cut into batches.
BATCHING = {"batch_quads", "batch_bytes", "batch_messages"}
TRIPLE_TERMS = {"no": "no", "object": "as objects", "anywhere": "anywhere"}


def read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def section(text: str, heading: str) -> str:
    """The text under a heading, up to the next of its level."""
    found = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, heading
    return found[1]


def rows(text: str) -> list[list[str]]:
    """The cells of the tables in a text, heads left out."""
    cells = [
        [cell.strip() for cell in line.strip("|\n").split(" | ")]
        for line in re.findall(r"^\|.*\|$", text, re.MULTILINE)
    ]
    return [row for row in cells if not set("".join(row)) <= set("-| ")]


def carries_row(name: str) -> list[str]:
    """The row of the formats table, as the registry would write it."""
    format = formats.find(name).FORMAT
    carries = format.carries

    def yes(key: str) -> str:
        return "yes" if carries[key] else "no"

    return [
        f"`{name}`",
        format.title,
        f"`{format.suffixes[0]}`",
        yes("graphs"),
        TRIPLE_TERMS[carries["triple_terms"]],
        yes("directions"),
        yes("generalized"),
        yes("namespaces"),
        yes("metadata"),
        yes("boundaries"),
        yes("order"),
    ]


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_formats_table_is_what_the_registry_says(name):
    cells = [
        cell.strip()
        for row in rows(read("README.md"))
        if row[0].strip("| ") == f"`{name}`"
        for cell in row
    ]
    assert [cell.strip("| ") for cell in cells] == carries_row(name)


@pytest.mark.parametrize("name", BUILT_IN)
@pytest.mark.parametrize(
    ("heading", "kind"), [("Reading options", "decode"), ("Writing options", "encode")]
)
def test_a_formats_page_names_every_option(name, heading, kind):
    page = section(read(f"docs/formats/{PAGE_OF[name]}"), heading)
    named = {found for row in rows(page) for found in re.findall(r"`(\w+)`", row[0])}
    format = formats.find(name).FORMAT
    options = set(format.decode_options if kind == "decode" else format.encode_options) - BATCHING
    assert options <= named
    others = {
        option
        for other, other_page in PAGE_OF.items()
        if other_page == PAGE_OF[name]
        for option in getattr(formats.find(other).FORMAT, f"{kind}_options")
    }
    assert named <= others


def test_the_batching_options_are_on_the_page_of_limits():
    page = read("docs/limits.md")
    assert not {option for option in BATCHING if f"`{option}`" not in page}


def commands(group: click.Group) -> list[tuple[str, click.Command]]:
    """The program and its commands, by name."""
    context = click.Context(group)
    found: list[tuple[str, click.Command]] = [("rdfm", group)]
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        found.append((f"rdfm {name}", command))
    return found


@pytest.mark.parametrize(("name", "command"), commands(app), ids=lambda value: str(value))
def test_the_page_of_the_command_line_names_every_option(name, command):
    page = read("docs/cli.md") if name == "rdfm" else section(read("docs/cli.md"), name)
    missing = [
        option
        for parameter in command.params
        if isinstance(parameter, click.Option) and not parameter.hidden
        for option in (*parameter.opts, *parameter.secondary_opts)
        if f"`{option}`" not in page
    ]
    assert not missing


def test_the_page_of_errors_draws_every_error():
    page = read("docs/errors.md")
    assert not [name for name in errors.__all__ if not re.search(rf"\b{name}\b", page)]


def test_the_docs_name_every_public_name():
    pages = "".join(
        path.read_text("utf-8") for path in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]
    )
    assert not [name for name in rdfm.__all__ if not re.search(rf"\b{name}\b", pages)]
