"""`rdfm riverbench check`: check a package."""

from __future__ import annotations

from typing import Any

import click

from rdfm.cli.findings import output_options, run_check
from rdfm.cli.specs import SpecCommand

_EPILOG = """Examples:
  rdfm riverbench check dataset/
  rdfm riverbench check dataset/ --metadata metadata.ttl --format github

Exit status: 0 no errors, 1 errors found, 2 bad usage."""


@click.command(
    "check",
    cls=SpecCommand,
    stages="rdfm.riverbench.names:CHECK",
    kinds={"read": ("messages",)},
    epilog=_EPILOG,
    short_help="Check files, metadata and messages of a package.",
)
@click.argument("folder", type=click.Path(readable=False))
@output_options
def command(folder: str, output: str, as_json: bool, quiet: bool, **options: Any) -> int:
    """Check the package in FOLDER: checksums, sizes, messages, statistics and metadata.

    All files must have the same messages, each of the declared stream type. FOLDER was written by
    rdfm riverbench package, or is a release of RiverBench. Findings have the same form as those of
    rdfm validate.
    """
    from rdfm.riverbench import check
    from rdfm.riverbench.names import CHECK

    return run_check(
        lambda folders, **settings: check(folders[0], **settings),
        (folder,),
        options,
        CHECK,
        output=output,
        as_json=as_json,
        quiet=quiet,
        count_suffix=lambda _: "",
    )
