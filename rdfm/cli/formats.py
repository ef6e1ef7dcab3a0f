"""`rdfm formats`: list the formats, or describe one."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import click

from rdfm.cli.parameters import FormatName

if TYPE_CHECKING:
    from rdfm.formats import FormatSpec, OptionSpec
    from rdfm.formats.spec import Side

# Features listed for each kind of log. The formats for that kind differ in these features.
_FEATURES = {
    "messages": (
        "graphs",
        "triple terms",
        "generalized",
        "namespaces",
        "metadata",
        "boundaries",
    ),
    "patches": ("graphs", "triple terms", "generalized", "boundaries"),
    "results": ("triple terms", "directions"),
}
_TITLES = {"messages": "Messages", "patches": "Patches", "results": "SPARQL results"}
_TRIPLE_TERMS = {"no": "no", "object": "objects", "anywhere": "anywhere"}


@click.command("formats", short_help="List the formats, or describe one.")
@click.argument("name", required=False, type=FormatName())
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(name: str | None, as_json: bool) -> None:
    """List the formats: names, suffixes and supported features. With NAME, describe one format.

    A log contains messages, patches or results, and can be converted to formats of the same kind.
    If the output format does not support a feature, the conversion fails with an error that names
    the option to drop the data. The list includes plug-ins.
    """
    from rdfm import formats

    rows = (
        [_create_row(formats.find(name))]
        if name
        else [_create_row(format) for format in formats.all()]
    )
    if as_json:
        click.echo(json.dumps(rows[0] if name else rows, indent=2))
        return
    if name:
        _describe(rows[0], formats.find(name).spec)
        return
    for kind, features in _FEATURES.items():
        of_kind = [row for row in rows if kind in row["kinds"]]
        click.echo(f"{_TITLES[kind]}:\n")
        _print_table([_heads(features), *(_cells(row, kind, features) for row in of_kind)])
        click.echo()
    click.echo(
        "Suffixes of compressed files: .gz .zst .bz2 .xz. Details of a format: rdfm formats NAME."
    )


def _describe(row: dict[str, Any], spec: FormatSpec) -> None:
    """Print a format: names, features and options."""
    from rdfm.cli.specs import help_text

    click.echo(f"{row['title']} ({row['name']}): a format for {_join_words(row['kinds'])}.\n")
    facts = [
        ("Names", " ".join((row["name"], *row["aliases"]))),
        ("Suffixes", " ".join(row["suffixes"])),
        ("Media types", " ".join(row["media_types"])),
        ("Reads", _yes_or_no(row["reads"])),
        ("Writes", _yes_or_no(row["writes"])),
        *((name.replace("_", " ").capitalize(), _cell(of)) for name, of in row["carries"].items()),
        ("Resumes after errors", _yes_or_no(row["resumable"])),
        ("Skips lines", _yes_or_no(row["skips_lines"])),
        ("Can be split", _yes_or_no(row["splittable"])),
    ]
    _print_table([(f"{heading}:", value or "none") for heading, value in facts])
    sides: tuple[tuple[Side, str, str], ...] = (
        ("read", "reading", "from"),
        ("write", "writing", "to"),
    )
    for side, activity, prefix in sides:
        options = [option for option in spec.options(side).values() if not option.python_only]
        if options:
            click.echo(f"\nOptions for {activity}, also available as --{prefix}-NAME:\n")
            formatter = click.HelpFormatter(width=shutil.get_terminal_size().columns)
            with formatter.indentation():
                formatter.write_dl(
                    [(_flag(option), help_text(option)) for option in options], col_max=28
                )
            click.echo(formatter.getvalue(), nl=False)


def _flag(option: OptionSpec) -> str:
    """Return an option in the syntax of help."""
    if option.kind == "switch":
        return f"--{option.option}" + (f" / --{option.off}" if option.off else "")
    if option.choices and not option.metavar:
        return f"--{option.option} [{'|'.join(word.replace('_', '-') for word in option.choices)}]"
    return f"--{option.option} {option.placeholder}"


def _join_words(words: list[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last


def _create_row(format: Any) -> dict[str, Any]:
    spec = format.spec
    return {
        "name": spec.name,
        "title": spec.title,
        "reads": format.is_read,
        "writes": format.is_written,
        "kinds": list(spec.kinds),
        "written_only": list(spec.written_only),
        "suffixes": list(spec.suffixes),
        "media_types": list(spec.media_types),
        "aliases": list(spec.aliases),
        "carries": dict(spec.carries),
        "resumable": spec.resumable,
        "skips_lines": spec.skips_lines,
        "splittable": spec.splittable,
        "reading_options": sorted(spec.options("read")),
        "writing_options": sorted(spec.options("write")),
    }


def _heads(features: tuple[str, ...]) -> tuple[str, ...]:
    return ("name", "title", "reads", "writes", "suffixes", *features)


def _cells(row: dict[str, Any], kind: str, features: tuple[str, ...]) -> tuple[str, ...]:
    return (
        row["name"],
        row["title"],
        _yes_or_no(row["reads"] and kind not in row["written_only"]),
        _yes_or_no(row["writes"]),
        " ".join(row["suffixes"]),
        *(_cell(row["carries"].get(name.replace(" ", "_"))) for name in features),
    )


def _cell(value: object) -> str:
    return _TRIPLE_TERMS[value] if isinstance(value, str) else _yes_or_no(value)


def _yes_or_no(value: object) -> str:
    return "yes" if value else "no"


def _print_table(table: list[tuple[str, ...]]) -> None:
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for line in table:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        click.echo("  ".join(cells).rstrip())
