"""`rdfm nanopub check`: check nanopublications."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rdfm.cli.findings import output_options, run_check
from rdfm.cli.specs import SpecCommand

if TYPE_CHECKING:
    from rdfm.nanopub.checking import NanopubCheck

_EPILOG = """Examples:
  rdfm nanopub check nanopubs.jelly
  rdfm nanopub check --require signed mirror/*.jelly.gz
  rdfm nanopub check new.trig --format github

Exit status: 0 no errors, 1 errors found, 2 bad usage."""


@click.command(
    "check",
    cls=SpecCommand,
    stages="rdfm.nanopub.nanopub_options:CHECK",
    kinds={"read": ("messages",)},
    epilog=_EPILOG,
    short_help="Check structure, trusty URIs and signatures.",
)
@click.argument(
    "inputs", nargs=-1, required=True, metavar="LOG...", type=click.Path(readable=False)
)
@output_options
def command(
    inputs: tuple[str, ...], output: str, as_json: bool, quiet: bool, **options: Any
) -> int:
    """Check the nanopublications in each LOG, one per message: structure, trusty URI and signature.

    LOG is a file, folder, glob, tar archive, URL, or - for standard input. A nanopublication
    without a trusty URI or a signature is valid, unless --require is given. Findings have the same
    form as those of rdfm validate.
    """
    from rdfm.nanopub.checking import check
    from rdfm.nanopub.nanopub_options import CHECK

    return run_check(
        check,
        inputs,
        options,
        CHECK,
        output=output,
        as_json=as_json,
        quiet=quiet,
        count_suffix=_counts,
    )


def _counts(log_check: NanopubCheck) -> str:
    """Return the numbers of valid trusty URIs and signatures."""
    signed = f"{log_check.signed:,} signed" if log_check.verifier else "signatures not checked"
    return f"; {log_check.trusty:,} trusty, {signed}"
