"""`rdfm formats`: what each format reads, writes and carries."""

from __future__ import annotations

import json
from typing import Any

import click

# What formats of each kind can carry: only what tells them apart.
_CARRIED = {
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
_TITLES = {"messages": "Messages", "patches": "Patches", "results": "Results of SPARQL queries"}
_TRIPLE_TERMS = {"no": "no", "object": "objects", "anywhere": "anywhere"}


@click.command("formats", short_help="List the formats and what each can carry.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool) -> None:
    """List the formats: names, suffixes, and what each can carry.

    A log holds messages, patches or results, and is converted to formats of its kind. What a format
    cannot carry is refused, with the option that would allow it; without boundaries a log is one
    message. Plug-ins are listed too.
    """
    from rdfm import formats

    rows = [_row(format) for format in formats.every()]
    if as_json:
        click.echo(json.dumps(rows, indent=2))
        return
    for kind, carried in _CARRIED.items():
        of_kind = [row for row in rows if kind in row["kinds"]]
        click.echo(f"{_TITLES[kind]}:\n")
        _print([_heads(carried), *(_cells(row, kind, carried) for row in of_kind)])
        click.echo()
    click.echo(
        "Compression by suffix: .gz .zst .bz2 .xz. Other names of a format: rdfm formats --json."
    )


def _row(format: Any) -> dict[str, Any]:
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
        "splittable": spec.splittable,
        "reading_options": sorted(spec.options("read")),
        "writing_options": sorted(spec.options("write")),
    }


def _heads(carried: tuple[str, ...]) -> tuple[str, ...]:
    return ("name", "title", "reads", "writes", "suffixes", *carried)


def _cells(row: dict[str, Any], kind: str, carried: tuple[str, ...]) -> tuple[str, ...]:
    return (
        row["name"],
        row["title"],
        _yes(row["reads"] and kind not in row["written_only"]),
        _yes(row["writes"]),
        " ".join(row["suffixes"]),
        *(_cell(row["carries"].get(name.replace(" ", "_"))) for name in carried),
    )


def _cell(value: object) -> str:
    return _TRIPLE_TERMS[value] if isinstance(value, str) else _yes(value)


def _yes(value: object) -> str:
    return "yes" if value else "no"


def _print(table: list[tuple[str, ...]]) -> None:
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for line in table:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        click.echo("  ".join(cells).rstrip())
