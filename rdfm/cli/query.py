"""`rdfm query`: run SPARQL queries on messages."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from rdfm.cli.parameters import output_option, quiet_option
from rdfm.cli.specs import SpecCommand, select_given

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rdfm.cli.bar import Bar
    from rdfm.errors import Remedy
    from rdfm.sparql.query import LogQuery, QueryStream

_EPILOG = """Examples:
  rdfm query 'SELECT ?s { ?s a ?type }' birds.jelly
  rdfm query measurements.rq sensors/ --types time=dateTime,value=double -o measurements.parquet
  rdfm query --whole 'SELECT (COUNT(*) AS ?n) { ?s ?p ?o }' birds.jelly week/

Exit status: 0 done, 1 bad data or a limit exceeded, 2 bad usage."""


@click.command(
    "query",
    cls=SpecCommand,
    stages="rdfm.sparql.query_options:QUERY",
    sides=("read", "write"),
    epilog=_EPILOG,
    short_help="Run a SPARQL query on each message, or on all of them.",
)
@click.argument("query", metavar="QUERY")
@click.argument("logs", nargs=-1, metavar="[LOG...]", type=click.Path(readable=False))
@output_option("Output file, or - for standard output.")
@quiet_option("Print results and errors only.")
def command(
    query: str, logs: tuple[str, ...], output: str | None, quiet: bool, **options: Any
) -> None:
    """Run a SPARQL query on each message of each LOG, or (--whole) on all messages together.

    QUERY is a query (any text with a brace), a file name, or - for standard input. SELECT writes
    solutions with the columns source and message to .parquet, .arrow, .csv, .tsv or .srj, or prints
    a table on a terminal. CONSTRUCT writes one message per input message. ASK prints the indexes of
    the messages for which it is true.
    """
    from rdfm.cli.signals import raise_on_signal
    from rdfm.cli.stdio import create_inputs, is_terminal
    from rdfm.sparql.query import LogQuery

    options = select_given(options)
    solutions = options.pop("solutions", None)
    names = [query, *logs, *(() if solutions is None else (solutions,))]
    query_source, *inputs = create_inputs(names)
    if solutions is not None:
        solutions = inputs.pop()
    log_query = LogQuery(query_source, inputs, options, solutions)
    with raise_on_signal():
        if log_query.query.kind == "ask":
            _reject_output(output, options)
            _print_answer(log_query, quiet)
        elif _is_shown(log_query, output, options) and is_terminal(sys.stdout):
            _show(log_query, quiet)
        else:
            _write(log_query, output or "-", options, quiet)


def _is_shown(log_query: LogQuery, output: str | None, options: dict[str, Any]) -> bool:
    """Whether rows are printed as a table if standard output is a terminal."""
    from rdfm.logs.options import WRITING

    writing_options = [option for option in WRITING if option.name in options]
    return log_query.query.kind == "select" and output is None and not writing_options


def _reject_output(output: str | None, options: dict[str, Any]) -> None:
    """Reject options that apply to output files.

    Raises:
        UsageError: If one is given.
    """
    from rdfm.logs.options import WRITING

    if output is not None:
        raise click.UsageError("an ASK query prints its result; remove -o")
    for option in WRITING:
        if option.name in options:
            raise click.UsageError(
                f"--{option.option} applies to output files, but an ASK query prints its result"
            )


def _write(log_query: LogQuery, output: str, options: dict[str, Any], quiet: bool) -> None:
    """Write rows or messages."""
    from rdfm.cli.bar import Bar
    from rdfm.cli.losses import print_summary
    from rdfm.cli.stdio import add_stdout_defaults, is_terminal, reject_terminal, standard_output
    from rdfm.logs.kinds import DEFAULT_FORMATS

    if output == "-":
        options.setdefault("to", DEFAULT_FORMATS[log_query.output_kind])
        reject_terminal(options)
        log_query.add(add_stdout_defaults(options))
    bar = None if quiet or (output == "-" and is_terminal(sys.stdout)) else Bar.create_if_terminal()
    try:
        query_output = log_query.write(standard_output() if output == "-" else output, progress=bar)
    finally:
        if bar is not None:
            bar.close()
    print_summary(query_output.summary, quiet)
    print_hint(query_output.hint, quiet)


def _print_answer(log_query: LogQuery, quiet: bool) -> None:
    """Print the indexes of the messages for which the query is true; with --whole, the answer."""
    from rdfm.cli.stdio import escape_controls

    bar = _create_bar(quiet)
    stream = log_query.stream(bar)
    answer = False
    for batch in _close_bar_at_end(bar, stream.batches):
        answer = True
        for index in batch.indexes:
            where = f"{escape_controls(batch.source)}\t" if stream.driver.several else ""
            click.echo(f"{where}{index}")
    if log_query.whole:
        click.echo(str(answer).lower())
    _print_end(log_query, stream, quiet)


def _create_bar(quiet: bool) -> Bar | None:
    """Return a progress bar that disappears when output is printed, or None."""
    from rdfm.cli.bar import Bar

    return None if quiet else Bar.create_if_terminal()


def _close_bar_at_end(bar: Bar | None, results: Iterable[Any]) -> Iterator[Any]:
    """Yield the results. If they also go to a terminal, remove the bar at the first one."""
    try:
        for result in results:
            if bar is not None and sys.stdout is not None and sys.stdout.isatty():
                bar.end()
            yield result
    finally:
        if bar is not None:
            bar.close()


def _show(log_query: LogQuery, quiet: bool) -> None:
    """Print rows as a table."""
    from rdfm.cli.terminal_table import TerminalTable

    bar = _create_bar(quiet)
    stream = log_query.stream(bar)
    table = TerminalTable(
        [*(() if log_query.whole else ("source", "message_index")), *log_query.query.variables]
    )
    for batch in _close_bar_at_end(bar, stream.batches):
        rows = batch.rows.rows()
        if log_query.whole:
            table.add(rows)
        else:
            indexed = zip(batch.indexes, rows, strict=True)
            table.add((batch.source, str(index), *row) for index, row in indexed)
    table.end()
    _print_end(log_query, stream, quiet, rows=table.count)


def _print_end(
    log_query: LogQuery, stream: QueryStream, quiet: bool, rows: int | None = None
) -> None:
    """Print the skipped errors, the number of rows, notes, and a hint to standard error."""
    from rdfm.cli.losses import print_notes, skipped_lines_text
    from rdfm.cli.stdio import escape_controls, plural

    tally = stream.tally
    for text in tally.errors:
        click.echo(f"rdfm: skipped: {escape_controls(text)}", err=True)
    if (more := tally.skipped + tally.skipped_lines - len(tally.errors)) > 0:
        click.echo(f"rdfm: skipped: and {more:,} more", err=True)
    if rows is not None and not quiet:
        click.echo(f"rdfm: {plural(rows, 'row')}", err=True)
    if tally.skipped_lines and not quiet:
        click.echo(f"rdfm: {skipped_lines_text(tally)}", err=True)
    print_notes(() if quiet else (*stream.driver.notes(), *tally.notes()))
    print_hint(log_query.hint(stream.querying), quiet)


def print_hint(hint: Remedy | None, quiet: bool) -> None:
    """Print a note about an option that may be missing."""
    if hint is not None and not quiet:
        click.echo(
            "rdfm: note: nothing was found in the default graph, but there are named graphs; "
            f"{hint.render()}",
            err=True,
        )
