"""`rdfm hash`: hashes of messages that do not depend on blank node labels."""

from __future__ import annotations

import sys
from typing import Any

import click

from rdfm.cli.parameters import option
from rdfm.cli.specs import SpecCommand, select_given

_EPILOG = """Examples:
  rdfm hash log.nq
  rdfm hash a.jelly b.trig | sort | uniq -w 64 --all-repeated
  rdfm hash --log mirror.jelly.gz"""


@click.command(
    "hash",
    cls=SpecCommand,
    stages="rdfm.analysis.hash:HASH",
    kinds={"read": ("messages",)},
    epilog=_EPILOG,
    short_help="Print a hash of each message that ignores blank node labels.",
)
@click.argument("logs", nargs=-1, required=True, metavar="LOG...", type=click.Path(readable=False))
@option(
    "--log",
    "as_log",
    group="Output",
    is_flag=True,
    help="Print one hash of all messages, in order, instead of a hash of each message.",
)
def command(logs: tuple[str, ...], as_log: bool, **options: Any) -> None:
    """Print the SHA-256 hash of the canonical N-Quads (RDFC-1.0) of each message of each LOG.

    Messages that are equal up to blank node labels, and order and repetition of quads, have equal
    hashes. A line is HASH, two spaces, and LOG#MESSAGE; messages are numbered from 0 in each log.
    LOG is a file, folder, glob, tar archive, URL, or - for standard input.
    """
    from rdfm.analysis.hash import hash
    from rdfm.cli.bar import Bar
    from rdfm.cli.losses import print_notes, print_skipped
    from rdfm.cli.signals import raise_on_signal
    from rdfm.cli.stdio import create_inputs, escape_controls, is_terminal

    given = select_given(options)
    reading = {name.removeprefix("from_"): value for name, value in given.items()}
    # On a terminal, the progress bar would interfere with the hashes.
    bar = Bar.create_if_terminal() if as_log or not is_terminal(sys.stdout) else None
    try:
        with raise_on_signal(), hash(create_inputs(logs), progress=bar, **reading) as hashes:
            if as_log:
                click.echo(hashes.log_hash())
            else:
                for batch in hashes.batches():
                    lines = (
                        f"{row.hash}  {escape_controls(row.source)}#{row.message_index}\n"
                        for row in batch
                    )
                    click.echo("".join(lines), nl=False)
    finally:
        if bar is not None:
            bar.close()
    print_skipped(hashes.tally)
    print_notes(hashes.notes())
