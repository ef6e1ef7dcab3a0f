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

    rows = [_row(module) for module in formats.every()]
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


def _row(module: Any) -> dict[str, Any]:
    format = module.FORMAT
    return {
        "name": format.name,
        "title": format.title,
        "reads": module.Decoder is not None,
        "writes": module.Encoder is not None,
        "suffixes": list(format.suffixes),
        "media_types": list(format.media_types),
        "aliases": list(format.aliases),
        "carries": dict(format.carries),
        "resumable": format.resumable,
        "splittable": format.splittable,
        "decode_options": sorted(format.decode_options),
        "encode_options": sorted(format.encode_options),
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
