"""`rdfm nanopub status`: the states of registries."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from rdfm.cli.headers import header_option
from rdfm.cli.parameters import GroupedCommand, option

if TYPE_CHECKING:
    from rdfm.nanopub import RegistryState

_EPILOG = """Examples:
  rdfm nanopub status https://registry.knowledgepixels.com/
  rdfm nanopub status https://registry.example.org/ https://mirror.example.org/
  rdfm nanopub status https://registry.example.org/ --json | jq .load_counter

Exit status: 0 all registries answered, 1 at least one did not, 2 bad usage."""

_LABELS = {
    "url": "Registry",
    "status": "Status",
    "setup_id": "Setup id",
    "load_counter": "Load counter",
    "nanopub_count": "Nanopublications",
    "test_instance": "Test instance",
    "trust_state_counter": "Trust state counter",
    "trust_state_hash": "Trust state hash",
    "last_trust_state_update": "Trust state time",
    "coverage_types": "Types",
    "coverage_agents": "Agents",
    "version": "Version",
}
# Number of hash digits that are shown, enough to tell trust states apart.
_HASH_DIGITS = 12
# Fields in the table of several registries. Counters are omitted, because they cannot be compared.
_TABLE_FIELDS = (
    "url",
    "status",
    "nanopub_count",
    "trust_state_hash",
    "coverage_types",
    "coverage_agents",
    "version",
)


@click.command(
    "status",
    cls=GroupedCommand,
    epilog=_EPILOG,
    short_help="Show the state of registries.",
)
@click.argument("registries", nargs=-1, required=True, metavar="REGISTRY...")
@option("--json", "as_json", group="Output", is_flag=True, help="Print a JSON object per line.")
@header_option("Requests")
@option(
    "--allow-http",
    group="Requests",
    is_flag=True,
    help="Allow http for any host, for example in a private network.",
)
def command(registries: tuple[str, ...], as_json: bool, allow_http: bool) -> int:
    """Show the state of nanopublication registries, each given by its URL.

    One registry is shown as a list, several as a table. The table has no counters: each registry
    numbers its nanopublications separately.
    """
    from rdfm.cli.stdio import json_line
    from rdfm.errors import render, visible
    from rdfm.nanopub import status

    states: list[RegistryState] = []
    failed = 0
    for registry in registries:
        try:
            states.append(status(registry, allow_http=allow_http))
        except OSError as error:
            if len(registries) == 1:
                raise
            failed += 1
            name = f"{error.filename}: " if error.filename else ""
            click.echo(f"rdfm: error: {visible(name)}{error.strerror or render(error)}", err=True)
    if as_json:
        for state in states:
            click.echo(json_line(asdict(state)))
        return min(failed, 1)
    if len(registries) == 1:
        width = max(map(len, _LABELS.values()))
        for name, label in _LABELS.items():
            click.echo(f"{label:{width}}  {_cell(getattr(states[0], name))}")
        return 0
    rows = [[_LABELS[name] for name in _TABLE_FIELDS]]
    rows += [[_short(name, getattr(state, name)) for name in _TABLE_FIELDS] for state in states]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        line = "  ".join(f"{cell:{size}}" for cell, size in zip(row, widths, strict=True))
        click.echo(line.rstrip())
    return min(failed, 1)


def _short(name: str, value: object) -> str:
    """Return a cell of the table of several registries, short enough for one line."""
    if name == "trust_state_hash" and isinstance(value, str):
        return value[:_HASH_DIGITS]
    if name == "coverage_types" and isinstance(value, str) and len(value.split()) > 1:
        return f"{len(value.split())} types"
    return _cell(value)


def _cell(value: object) -> str:
    from rdfm.cli.stdio import escape_controls

    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if value is None else escape_controls(str(value))
