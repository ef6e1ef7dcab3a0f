"""Tables in the documentation list the existing formats, options, commands and errors."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from rdfm import errors, formats
from rdfm.cli.app import SHORT_FORMS, app
from rdfm.conversion.convert_options import STAGES
from rdfm.patch.patch_options import APPLY, CHANGING, DIFF, FROM_LOG, TO_LOG

ROOT = Path(__file__).parents[2]
BUILT_IN = tuple(format.name for format in formats.built_in())
OPTIONS = "docs/options-generated.md"
# Options of a plug-in in docs/plugins.md, of spark-submit, of Glue's jobs and of benchmarks/run.py.
OPTIONS_OF_OTHER_PROGRAMS = {
    *("--no-spaces", "--conf", "--archives", "--additional-python-modules", "--quick", "--only"),
    *("--log-opt", "--py-files"),
}
TITLES = {
    "messages": "Messages",
    "patches": "Patches",
    "results": "SPARQL results",
}
# Columns of the tables for these kinds. The table for messages has all columns.
FEATURE_COLUMNS = {
    "patches": ("graphs", "triple_terms", "directions", "generalized", "boundaries"),
    "results": ("triple_terms", "directions"),
}
TRIPLE_TERMS = {"no": "no", "object": "as objects", "anywhere": "anywhere"}


def read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def section(text: str, heading: str) -> str:
    """Returns the text under a heading, up to the next heading of the same level."""
    found = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, heading
    return found[1]


def rows(text: str) -> list[list[str]]:
    """Returns the cells of the tables in a string, without header rows."""
    cells = [
        [cell.strip() for cell in line.strip("|\n").split(" | ")]
        for line in re.findall(r"^\|.*\|$", text, re.MULTILINE)
    ]
    return [row for row in cells if not set("".join(row)) <= set("-| ")]


def feature_row(name: str, kind: str) -> list[str]:
    """Returns the row of a format in the formats table, generated from the registry."""
    format = formats.find(name).spec
    carries = format.carries

    def yes_or_no(key: str) -> str:
        return "yes" if carries[key] else "no"

    cells = {
        "graphs": yes_or_no("graphs"),
        "triple_terms": TRIPLE_TERMS[carries["triple_terms"]],
        "directions": yes_or_no("directions"),
        "generalized": yes_or_no("generalized"),
        "namespaces": yes_or_no("namespaces"),
        "metadata": yes_or_no("metadata"),
        "boundaries": yes_or_no("boundaries"),
        "order": yes_or_no("order"),
    }
    return [
        f"`{name}`",
        format.title,
        f"`{format.suffixes[0]}`",
        *(cell for key, cell in cells.items() if key in FEATURE_COLUMNS.get(kind, cells)),
    ]


@pytest.mark.parametrize("kind", TITLES)
def test_the_formats_table_matches_the_registry(kind):
    table = read("docs/formats.md").partition(f"## {TITLES[kind]}\n")[2]
    cells = [[cell.strip("| ") for cell in row] for row in rows(table.partition("\n#")[0])]
    names = [name for name in BUILT_IN if kind in formats.find(name).spec.kinds]
    assert cells[1:] == [feature_row(name, kind) for name in names]


def formats_of(cell: str) -> set[str]:
    """Returns the formats that a cell in the options table names."""
    names = set(re.findall(r"`([^`]+)`", cell))
    if cell == "all":
        return set(BUILT_IN)
    return set(BUILT_IN) - names if cell.startswith("all but ") else names


@pytest.mark.parametrize(("heading", "side"), [("Reading", "read"), ("Writing", "write")])
def test_the_options_table_lists_every_option_with_its_formats(heading, side):
    documented: dict[str, set[str]] = {}
    for name, _flags, _value, _default, format_cell, _help in rows(section(read(OPTIONS), heading))[
        1:
    ]:
        documented.setdefault(name.strip("`| "), set()).update(formats_of(format_cell))
    declared: dict[str, set[str]] = {}
    for format in formats.built_in():
        for name in format.spec.options(side):
            declared.setdefault(name, set()).add(format.name)
    assert documented == declared


@pytest.mark.parametrize("format", formats.built_in(), ids=lambda format: format.name)
def test_every_format_has_a_list_of_options(format):
    page = section(read(OPTIONS), "By format")
    listed = re.search(
        rf"^### {re.escape(format.spec.title)}\n\n- reading: (.*)\n- writing: (.*)$", page, re.M
    )
    assert listed
    for text, side in zip(listed.groups(), ("read", "write"), strict=True):
        assert set(re.findall(r"`(\w+)`", text)) == set(format.spec.options(side))


@pytest.mark.parametrize("format", formats.built_in(), ids=lambda format: format.name)
def test_a_page_explains_the_options_of_each_format(format):
    anchor = re.sub(r"[^\w\- ]", "", format.spec.title.lower()).replace(" ", "-")
    link = f"](../options-generated.md#{anchor})"
    (page,) = [
        text for path in ROOT.glob("docs/formats/*.md") if link in (text := path.read_text("utf-8"))
    ]
    assert link in section(page, "Options")
    assert f"`{format.name}`" in page


def test_the_index_lists_every_page():
    index = read("docs/index.md")
    pages = [path.relative_to(ROOT / "docs") for path in ROOT.glob("docs/**/*.md")]
    assert not [
        str(page) for page in pages if page.name != "index.md" and f"]({page})" not in index
    ]


@pytest.mark.parametrize(
    "name", ["index.md", "cli.md", "python.md", "spark.md", "spark-reference.md"]
)
def test_other_pages_link_to_the_options(name):
    assert re.search(r"\]\(options-generated\.md[#)]", read(f"docs/{name}"))


def test_the_conversions_table_lists_every_stage_option():
    table = rows(section(read(OPTIONS), "Conversions"))[1:]
    assert {row[0].strip("`| ") for row in table} == set(STAGES)


def test_the_command_line_page_explains_the_stages_of_a_conversion():
    page = section(read("docs/cli.md"), "rdfm convert")
    assert not [
        option.option
        for option in STAGES.values()
        if not re.search(rf"`--{option.option}[` ]", page)
    ]


def test_the_changes_table_lists_every_option():
    table = rows(section(read(OPTIONS), "Changes"))[1:]
    assert [row[0].strip("`| ") for row in table] == [option.name for option in CHANGING]


def test_the_command_line_page_explains_the_stages_of_changes():
    page = section(read("docs/cli.md"), "rdfm patch")
    for stages in (APPLY, DIFF, FROM_LOG, TO_LOG):
        assert not [
            option.option
            for option in stages.values()
            if not re.search(rf"`--{option.option}[` ]", page)
        ]


def commands(group: click.Group, program: str = "rdfm") -> list[tuple[str, click.Command]]:
    """Returns the program and its commands by name, including nested commands."""
    context = click.Context(group)
    found: list[tuple[str, click.Command]] = [(program, group)]
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            found += commands(command, f"{program} {name}")
        else:
            found.append((f"{program} {name}", command))
    return found


@pytest.mark.parametrize(("name", "command"), commands(app), ids=lambda value: str(value))
def test_the_command_line_page_names_every_option_of_each_command(name, command):
    page = read("docs/cli.md")
    if name != "rdfm":
        first = name.split()[1]
        page = section(page, f"rdfm {SHORT_FORMS.get(first, (first,))[0]}")
    missing = [
        option
        for parameter in command.params
        if isinstance(parameter, click.Option) and not parameter.hidden
        for option in (*parameter.opts, *parameter.secondary_opts)
        if f"`{option}`" not in page
    ]
    assert not missing


def test_the_docs_name_only_existing_command_line_options():
    known = {"--help", *OPTIONS_OF_OTHER_PROGRAMS}
    for name, command in commands(app):
        for parameter in command.get_params(click.Context(command, info_name=name)):
            known |= {*parameter.opts, *parameter.secondary_opts}
    for page in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]:
        documented = re.findall(r"`(--[a-z][a-z-]*)(?![\w-])", page.read_text("utf-8"))
        assert set(documented) <= known, page.name


def test_the_errors_page_lists_every_error():
    page = read("docs/errors.md")
    assert not [
        name
        for name in errors.__all__
        if name.endswith("Error") and not re.search(rf"\b{name}\b", page)
    ]


def test_the_validation_page_names_every_rule():
    from rdfm.analysis.validate_rules import RULES

    rows = re.findall(
        r"^\| `([a-z-]+)` \| (\w+)", section(read("docs/validate.md"), "The rules"), re.MULTILINE
    )
    assert rows == [(name, rule.severity) for name, rule in RULES.items()]


def test_the_validation_page_names_every_field_of_a_finding():
    from rdfm.analysis.finding import Finding

    table = section(read("docs/validate.md"), "For programs")
    documented = re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)))
    assert {*documented, "error"} == {*Finding.__dataclass_fields__, "summary", "error"}
