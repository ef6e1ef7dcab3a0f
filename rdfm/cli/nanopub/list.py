"""`rdfm nanopub list`: list nanopublications."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from rdfm.cli.parameters import output_option, quiet_option
from rdfm.cli.specs import SpecCommand, select_given

if TYPE_CHECKING:
    from rdfm.nanopub.listing import NanopubLog

_EPILOG = """Examples:
  rdfm nanopub list nanopubs.jelly
  rdfm nanopub list --latest mirror.jelly.gz -o latest.parquet
  rdfm nanopub list mirror.jelly --to results-csv | head

Exit status: 0 done, 1 bad data, 2 bad usage."""


@click.command(
    "list",
    cls=SpecCommand,
    stages="rdfm.nanopub.nanopub_options:LIST",
    sides=("read", "write"),
    kinds={"read": ("messages",), "write": ("results",)},
    epilog=_EPILOG,
    short_help="List creators, times, types and links.",
)
@click.argument("logs", nargs=-1, required=True, metavar="LOG...", type=click.Path(readable=False))
@output_option("Output file, or - for standard output.")
@quiet_option("Print rows and errors only.")
def command(logs: tuple[str, ...], output: str | None, quiet: bool, **options: Any) -> None:
    """List the nanopublications in each LOG: IRI, creators, time, license, types and links.

    Writes a row for each nanopublication to .parquet, .arrow, .csv, .tsv or .srj, or prints a table
    on a terminal. Nothing is verified: run rdfm nanopub check first.
    """
    from rdfm.cli.signals import raise_on_signal
    from rdfm.cli.stdio import create_inputs, is_terminal
    from rdfm.logs.options import WRITING
    from rdfm.nanopub.listing import NanopubLog

    options = select_given(options)
    inputs = create_inputs(logs)
    writes_file = output is not None or any(option.name in options for option in WRITING)
    with raise_on_signal():
        if writes_file or not is_terminal(sys.stdout):
            _write(inputs, options, output or "-", quiet)
        else:
            _show(NanopubLog(inputs, options), quiet)


def _write(inputs: list[Any], options: dict[str, Any], output: str, quiet: bool) -> None:
    """Write the rows to a file or to standard output."""
    from rdfm.cli.bar import Bar
    from rdfm.cli.losses import print_summary
    from rdfm.cli.stdio import add_stdout_defaults, is_terminal, reject_terminal, standard_output
    from rdfm.logs.kinds import DEFAULT_FORMATS
    from rdfm.nanopub.listing import NanopubLog

    if output == "-":
        options.setdefault("to", DEFAULT_FORMATS["results"])
        reject_terminal(options)
        options = add_stdout_defaults(options)
    bar = None if quiet or (output == "-" and is_terminal(sys.stdout)) else Bar.create_if_terminal()
    try:
        log = NanopubLog(inputs, options)
        target = standard_output() if output == "-" else output
        summary, others = log.write(target, progress=bar)
    finally:
        if bar is not None:
            bar.close()
    print_summary(summary, quiet)
    _print_others(others, quiet)


def _show(log: NanopubLog, quiet: bool) -> None:
    """Print the rows as a table."""
    from rdfm.cli.stdio import plural
    from rdfm.cli.terminal_table import TerminalTable
    from rdfm.nanopub.listing import COLUMNS, cells

    table = TerminalTable(COLUMNS)
    with log.rows() as rows:
        for row in rows.rows():
            table.add([[_bracket_iri(cell) for cell in cells(row)]])
    table.end()
    if rows.skipped:
        click.echo(f"rdfm: skipped: {plural(rows.skipped, 'error')}", err=True)
    if not quiet:
        click.echo(f"rdfm: {plural(table.count, 'row')}", err=True)
    _print_others(rows.others, quiet)


def _bracket_iri(cell: str | None) -> str | None:
    """Put an IRI in brackets, so that a table without enough space still shows its end."""
    is_iri = cell is not None and "://" in cell and " " not in cell
    return f"<{cell}>" if is_iri else cell


def _print_others(others: int, quiet: bool) -> None:
    """Print a note about messages that are not in the list."""
    if others and not quiet:
        from rdfm.cli.stdio import plural

        verb = "is" if others == 1 else "are"
        rest = "is not a nanopublication" if others == 1 else "are not nanopublications"
        click.echo(f"rdfm: note: {plural(others, 'message')} that {rest} {verb} left out", err=True)
