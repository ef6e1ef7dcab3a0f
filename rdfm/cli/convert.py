"""`rdfm convert`: logs to logs in another format."""

from __future__ import annotations

import sys
from typing import Any

import click

from rdfm.cli.options import option
from rdfm.cli.specs import SpecCommand, given

_EPILOG = """Examples:
  rdfm convert nanopubs.jelly.gz nanopubs.trig
  rdfm convert monday.nq tuesday.nq -o week.jelly
  rdfm convert --message-per-file sensors/*.ttl -o sensors.jelly
  rdfm convert stream_full.tar.gz stream.jelly
  rdfm convert week.jelly week/ --to ttl
  curl -s https://example.org/log.nq | rdfm convert - - --from nq --to trig | less
  rdfm convert --on-error skip dirty.nq clean.nq.zst

Formats are found from the suffix, then from the content; rdfm formats lists them. Compression (.gz .zst .bz2
.xz) is read by content and written by suffix. Exit codes: 0 done, 1 bad data, 2 bad usage."""


@click.command(
    "convert",
    cls=SpecCommand,
    stages="rdfm.conversion.options:STAGES",
    sides=("read", "write"),
    epilog=_EPILOG,
    short_help="Convert message logs from one format to another.",
)
@click.argument("files", nargs=-1, metavar="IN... [OUT]", type=click.Path())
@option(
    "-o",
    "--output",
    group="Formats",
    metavar="OUT",
    type=click.Path(),
    help="The file to write (- for standard output); needed with several inputs. Of exactly two names the second is the output, which is replaced, as by cp.",
)
@option(
    "-q",
    "--quiet",
    group="Other options",
    is_flag=True,
    help="Print errors only: no summary, no progress bar.",
)
def command(files: tuple[str, ...], output: str | None, quiet: bool, **options: Any) -> None:
    """Convert message logs to one log in another format.

    IN is a file, a folder, a glob, a tar archive, a URL, or - for standard input; several are read one
    after the other. OUT is a file; a folder such as out/, which gets a file for each message; a tar
    archive, which gets a member for each; or - for standard output. It appears only when it is complete,
    and replaces a file that is there: of exactly two names the second is OUT, as with cp.

    --from-NAME is for what is read and --to-NAME for what is written, with every option NAME of a format; --NAME
    alone goes to the side that takes it.
    """
    from rdfm.cli.bar import Bar
    from rdfm.cli.losses import say_summary
    from rdfm.cli.signals import unwinding
    from rdfm.cli.stdio import (
        as_printed,
        is_terminal,
        refuse_terminal,
        standard_input,
        standard_output,
    )
    from rdfm.conversion.convert import convert
    from rdfm.conversion.usual import usual_format

    inputs, target = _files(files, output)
    options = given(options)
    if target == "-":
        if "to_format" not in options:
            options["to_format"] = usual_format(inputs, options.get("from_format"))
        refuse_terminal(options)
        options = as_printed(options)
    bar = None if quiet or (target == "-" and is_terminal(sys.stdout)) else Bar.on_terminal()
    try:
        with unwinding():
            summary = convert(
                [standard_input() if name == "-" else name for name in inputs],
                standard_output() if target == "-" else target,
                progress=bar,
                **options,
            )
    finally:
        if bar is not None:
            bar.close()
    say_summary(summary, quiet)


def _files(files: tuple[str, ...], output: str | None) -> tuple[list[str], str]:
    """The inputs and the output of the words on the command line."""
    names = list(files)
    if not names:
        raise click.UsageError(
            "nothing to convert: name an input and an output, as in: rdfm convert IN OUT"
        )
    if output is None:
        if len(names) == 1:
            raise click.UsageError(
                f"no output: name it after {names[0]}, or write -o FILE (- for standard output)"
            )
        if len(names) > 2:
            raise click.UsageError(
                f"{len(names)} files and no -o: with several inputs name the output with -o FILE"
            )
        output = names.pop()
    if names.count("-") > 1:
        raise click.UsageError("standard input (-) can be read only once")
    return names, output
