"""`rdfm filter`: keep the messages that match."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from rdfm.cli.parameters import option, output_option, quiet_option
from rdfm.cli.specs import SpecCommand, select_given

# Options that select messages.
_CRITERIA = frozenset(
    ("subject", "predicate", "object", "graph", "any", "contains", "regex", "time", "after",
     "before", "where")
)  # fmt: skip

_EPILOG = """Examples:
  rdfm filter birds.jelly --object ex:crane -o cranes.jelly
  rdfm filter nanopubs.trig.gz --any '<https://orcid.org/0000-0002-1267-0234>' | less
  rdfm filter sensors.jelly --time sosa:resultTime --after 2026-06-01 --before 2026-07-01 -o june.jelly
  rdfm filter log.nq --contains error --count"""


@click.command(
    "filter",
    cls=SpecCommand,
    stages="rdfm.conversion.filter:FILTER",
    sides=("read", "write"),
    epilog=_EPILOG,
    short_help="Keep the messages that match.",
)
@click.argument("logs", nargs=-1, required=True, metavar="LOG...", type=click.Path(readable=False))
@output_option("Output file (default: standard output).", default="-")
@option("--count", group="Output", is_flag=True, help="Print only the number of matching messages.")
@quiet_option()
def command(logs: tuple[str, ...], output: str, count: bool, quiet: bool, **options: Any) -> None:
    """Keep the messages of each LOG in which one quad matches all criteria.

    TERM is a term in N-Triples syntax (<http://example.org/a>, "text"@en), a prefixed name
    (ex:crane) whose prefix the log or --prefix declares, or a number.
    """
    from rdfm.cli.bar import Bar
    from rdfm.cli.losses import print_notes, print_skipped, print_summary
    from rdfm.cli.signals import raise_on_signal
    from rdfm.cli.stdio import create_inputs, is_terminal, reject_terminal, standard_output
    from rdfm.conversion import interruption
    from rdfm.conversion.default_format import default_format
    from rdfm.conversion.filter import filter

    options = select_given(options)
    if not _CRITERIA & options.keys():
        _reject_words(logs)
    inputs = create_inputs(logs)
    if count:
        if output != "-":
            raise click.UsageError("--count prints a number instead of writing a log; remove -o")
        with raise_on_signal():
            counted = filter(inputs, **options)
        print_skipped(counted)
        print_notes(() if quiet else counted.notes)
        click.echo(counted.messages)
        return
    if output == "-":
        if "to" not in options:
            options["to"] = default_format(inputs, options.get("from_format"))
        reject_terminal(options)
    completes = bool(options.get("keep_partial") or options.get("append"))
    bar = None if quiet or (output == "-" and is_terminal(sys.stdout)) else Bar.create_if_terminal()
    try:
        with raise_on_signal(interruption.request if completes else None):
            target = standard_output() if output == "-" else output
            summary = filter(inputs, target, progress=bar, **options)
    finally:
        if bar is not None:
            bar.close()
    print_summary(summary, quiet)


def _reject_words(logs: tuple[str, ...]) -> None:
    """Reject a text to search for that is given without an option, as in grep.

    Raises:
        UsageError: If an argument is a single word, and not the name of a file.
    """
    for word in logs:
        if word.isalnum() and not os.path.lexists(word):
            raise click.UsageError(
                f"there is no file {word}, and no criterion is given; --contains {word} selects "
                "messages that contain a text"
            )
