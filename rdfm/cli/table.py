"""`rdfm table`: a table with a row for each subject."""

from __future__ import annotations

import sys
from typing import Any

import click

from rdfm.cli.parameters import output_option, quiet_option
from rdfm.cli.specs import SpecCommand, select_given

_EPILOG = """Examples:
  rdfm table sensors/ -o sensors.parquet
  rdfm table sensors.jelly --class http://www.w3.org/ns/sosa/Observation -o observations.parquet
  rdfm table sensors.jelly --columns
  rdfm table - --from jelly --types ex:time=dateTime,ex:value=double -o sensors.arrow

Exit status: 0 done, 1 bad data or a value of the wrong type, 2 bad usage."""


@click.command(
    "table",
    cls=SpecCommand,
    stages="rdfm.sparql.table_options:TABLE",
    sides=("read", "write"),
    epilog=_EPILOG,
    short_help="Write a table with a row for each subject.",
)
@click.argument("logs", nargs=-1, required=True, metavar="LOG...", type=click.Path(readable=False))
@output_option("Output file, such as out.parquet, or - for standard output.")
@click.option("--columns", is_flag=True, help="Print the columns as --types accepts them.")
@quiet_option("Print results and errors only.")
def command(
    logs: tuple[str, ...], output: str | None, columns: bool, quiet: bool, **options: Any
) -> None:
    """Write a table with a row for each message and subject of each LOG, and a column for each predicate.

    The columns source, message_index and subject are followed by the predicates, with types from
    their values. A predicate for which a subject has several values is a column of lists. The logs
    are read twice, unless --types gives the columns.
    """
    from rdfm.cli.signals import raise_on_signal
    from rdfm.cli.stdio import create_inputs
    from rdfm.sparql.entity_table import EntityTable

    if columns == (output is not None):
        raise click.UsageError(
            "--columns prints to standard output; remove -o"
            if columns
            else "name an output: -o out.parquet"
        )
    table = EntityTable(create_inputs(logs), select_given(options))
    with raise_on_signal():
        if columns:
            click.echo(",".join(f"{name}={type}" for name, type in table.types.items()))
        else:
            _write(table, output or "-", select_given(options), quiet)


def _write(table: Any, output: str, options: dict[str, Any], quiet: bool) -> None:
    """Write the rows."""
    from rdfm.cli.bar import Bar
    from rdfm.cli.losses import print_summary
    from rdfm.cli.query import print_hint
    from rdfm.cli.stdio import add_stdout_defaults, is_terminal, reject_terminal, standard_output

    if output == "-":
        options.setdefault("to", "arrow")
        reject_terminal(options)
        table.add(add_stdout_defaults(options))
    bar = None if quiet or (output == "-" and is_terminal(sys.stdout)) else Bar.create_if_terminal()
    try:
        written = table.write(standard_output() if output == "-" else output, progress=bar)
    finally:
        if bar is not None:
            bar.close()
    print_summary(written.summary, quiet)
    print_hint(written.hint, quiet)
