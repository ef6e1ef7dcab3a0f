"""`rdfm formats`: what each format reads, writes and carries."""

from __future__ import annotations

import json
from typing import Any

import click

_COLUMNS = (
    "name",
    "title",
    "reads",
    "writes",
    "suffixes",
    "graphs",
    "triple terms",
    "generalized",
    "namespaces",
    "metadata",
    "boundaries",
)


@click.command("formats", short_help="List the formats and what each can carry.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool) -> None:
    """List the formats: names, suffixes, and what each can carry.

    What a format cannot carry is refused, with the option that would allow it; without boundaries a
    log is one message. Plug-ins are listed too.
    """
    from rdfm import formats

    rows = [_row(format) for format in formats.every()]
    if as_json:
        click.echo(json.dumps(rows, indent=2))
        return
    table = [_COLUMNS, *(_cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in table) for column in range(len(_COLUMNS))]
    for line in table:
        click.echo(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        )
    click.echo(
        "\nCompression by suffix: .gz .zst .bz2 .xz. Other names of a format: rdfm formats --json."
    )


def _row(format: Any) -> dict[str, Any]:
    spec = format.spec
    return {
        "name": spec.name,
        "title": spec.title,
        "reads": format.is_read,
        "writes": format.is_written,
        "kinds": list(spec.kinds),
        "suffixes": list(spec.suffixes),
        "media_types": list(spec.media_types),
        "aliases": list(spec.aliases),
        "carries": dict(spec.carries),
        "resumable": spec.resumable,
        "splittable": spec.splittable,
        "reading_options": sorted(spec.options("read")),
        "writing_options": sorted(spec.options("write")),
    }


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    carries = row["carries"]
    triple_terms = {"no": "no", "object": "objects", "anywhere": "anywhere"}
    return (
        row["name"],
        row["title"],
        _yes(row["reads"]),
        _yes(row["writes"]),
        " ".join(row["suffixes"]),
        _yes(carries.get("graphs")),
        triple_terms.get(carries.get("triple_terms", "no"), "no"),
        _yes(carries.get("generalized")),
        _yes(carries.get("namespaces")),
        _yes(carries.get("metadata")),
        _yes(carries.get("boundaries")),
    )


def _yes(value: object) -> str:
    return "yes" if value else "no"
