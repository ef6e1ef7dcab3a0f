"""`rdfm validate`: check logs for errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rdfm.cli.findings import count_text, output_options, run_check
from rdfm.cli.specs import SpecCommand

if TYPE_CHECKING:
    from rdfm.analysis.validate import Validation

_EPILOG = """Examples:
  rdfm validate log.nq.gz
  rdfm validate --strict --max-errors 10 logs/*.jelly
  rdfm validate logs/ --format github
  rdfm validate log.trig --shapes shapes.ttl
  rdfm validate log.nq --json | jq -r 'select(.rule == "syntax") | .line'

Exit status: 0 no errors, 1 errors found, 2 bad usage."""


@click.command(
    "validate",
    cls=SpecCommand,
    stages="rdfm.analysis.analysis_options:VALIDATE",
    epilog=_EPILOG,
    short_help="Check logs for errors and suspicious data.",
)
@click.argument(
    "inputs", nargs=-1, required=True, metavar="INPUT...", type=click.Path(readable=False)
)
@output_options
def command(
    inputs: tuple[str, ...], output: str, as_json: bool, quiet: bool, **options: Any
) -> int:
    """Check each INPUT: report every error with its position, and warn about suspicious data.

    INPUT is a file, folder, glob, tar archive, URL, or - for standard input. After an error,
    checking continues with the next line in N-Triples and N-Quads, with the next message if the
    format supports this, as TriG does, and otherwise with the next input. Findings are printed to standard output in the form
    FILE:LINE:COLUMN: error: TEXT (message 3) [RULE].
    """
    from rdfm.analysis.analysis_options import VALIDATE
    from rdfm.analysis.validate import validate

    return run_check(
        validate,
        inputs,
        options,
        VALIDATE,
        output=output,
        as_json=as_json,
        quiet=quiet,
        count_suffix=_details,
    )


def _details(log_check: Validation) -> str:
    return _conformance(log_check) + _columns(log_check)


def _columns(log_check: Validation) -> str:
    """Return text with the stream options and sizes of a log in Jelly 1.2, if it is the only log."""
    from rdfm.cli.stdio import escape_controls, size_text

    if len(log_check.columns) != 1 or log_check.logs != 1:
        return ""
    (log,) = log_check.columns
    options = ", ".join(f"{name} {value}" for name, value in log.options.items())
    sizes = ", ".join(f"{name} {size_text(count)}" for name, count in log.column_bytes.items())
    return f"; {escape_controls(options)}; {sizes}"


def _conformance(log_check: Validation) -> str:
    """Return text with the number of nonconforming messages; empty if there are no shapes."""
    if log_check.shapes is None:
        return ""
    verb = "does" if log_check.not_conforming == 1 else "do"
    failed = count_text(log_check.not_conforming, "message")
    return f"; {failed} {verb} not conform to the shapes"
