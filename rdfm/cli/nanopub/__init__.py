"""`rdfm nanopub`: mirror, check and list nanopublications. Each command has a module."""

from __future__ import annotations

import click


@click.group("nanopub", short_help="Mirror, check and list nanopublications.")
def command() -> None:
    """Mirror the nanopublications of a registry, check them, and list them."""
