"""`rdfm riverbench`: package and check RiverBench datasets. Each command has a module."""

from __future__ import annotations

import click

from rdfm.cli.riverbench import check, package


@click.group("riverbench", short_help="Package and check datasets for RiverBench.")
def command() -> None:
    """Package a log as a dataset for RiverBench, and check such packages."""


command.add_command(package.command)
command.add_command(check.command)
