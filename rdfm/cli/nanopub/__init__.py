"""`rdfm nanopub`: mirror, check and list nanopublications. Each command has a module."""

from __future__ import annotations

import click

from rdfm.cli.nanopub import check, fetch, list, status


@click.group("nanopub", short_help="Mirror, check and list nanopublications.")
def command() -> None:
    """Mirror the nanopublications of a registry, check them, and list them."""


command.add_command(fetch.command)
command.add_command(status.command)
command.add_command(check.command)
command.add_command(list.command)
