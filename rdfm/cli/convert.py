"""`rdfm convert`: convert logs to another format."""

from __future__ import annotations

import sys
from typing import Any

import click

from rdfm.cli.parameters import OutputPath, output_option, quiet_option
from rdfm.cli.specs import SpecCommand, select_given

_EPILOG = """Examples:
  rdfm convert nanopubs.jelly.gz nanopubs.trig
  rdfm convert --message-per-file sensors/*.ttl -o sensors.jelly
  curl -s https://example.org/log.nq | rdfm convert - - --from nq --to trig

Exit status: 0 done, 1 bad data or --check found a difference, 2 bad usage."""


@click.command(
    "convert",
    cls=SpecCommand,
    stages="rdfm.conversion.convert_options:STAGES",
    sides=("read", "write"),
    epilog=_EPILOG,
    short_help="Convert logs to another format.",
)
@click.argument("files", nargs=-1, metavar="IN... [OUT]", type=click.Path(readable=False))
@output_option("Output. Required for several inputs.")
@quiet_option()
def command(files: tuple[str, ...], output: str | None, quiet: bool, **options: Any) -> int:
    """Convert logs to one log in another format.

    IN is a file, folder, glob, tar archive, URL, or - for standard input. OUT is a file, a folder
    (out/) or tar archive with a file for each message, or - for standard output. OUT appears when
    it is complete, and replaces an existing file.
    """
    from rdfm.cli.bar import Bar
    from rdfm.cli.losses import print_summary
    from rdfm.cli.signals import raise_on_signal
    from rdfm.cli.stdio import (
        add_stdout_defaults,
        create_inputs,
        is_terminal,
        reject_terminal,
        standard_output,
    )
    from rdfm.conversion import interruption
    from rdfm.conversion.convert import convert
    from rdfm.conversion.default_format import default_format

    options = select_given(options)
    if files and (options.get("check") or options.get("in_place")):
        return _rewrite(files, output, quiet, options)
    names, target = _split_arguments(files, output)
    inputs = create_inputs(names)
    if target == "-":
        if "to" not in options:
            options["to"] = default_format(inputs, options.get("from_format"))
        reject_terminal(options)
        options = add_stdout_defaults(options)
    completes = bool(options.get("keep_partial") or options.get("append"))
    bar = None if quiet or (target == "-" and is_terminal(sys.stdout)) else Bar.create_if_terminal()
    try:
        with raise_on_signal(interruption.request if completes else None):
            summary = convert(
                inputs,
                standard_output() if target == "-" else target,
                progress=bar,
                **options,
            )
    finally:
        if bar is not None:
            bar.close()
    print_summary(summary, quiet)
    return 0


def _rewrite(
    files: tuple[str, ...], output: str | None, quiet: bool, options: dict[str, Any]
) -> int:
    """Compare each file with its pretty form, or replace it. Return the exit status."""
    from rdfm.cli.losses import print_dropped
    from rdfm.cli.signals import raise_on_signal
    from rdfm.cli.stdio import create_inputs, escape_controls, message_counts_text, plural
    from rdfm.conversion.convert import convert

    checks = bool(options.get("check"))
    has_changes = False
    for name, input in zip(files, create_inputs(list(files)), strict=True):
        with raise_on_signal(None):
            summary = convert(input, output, **options)
        has_changes = has_changes or summary.changed
        if quiet or not summary.changed:
            continue
        file = escape_controls(name)
        if checks:
            comments = summary.dropped.get("comments", 0)
            reason = f", which has no comments ({plural(comments, 'comment')})" if comments else ""
            click.echo(f"rdfm: {file} differs from its pretty form{reason}", err=True)
        else:
            counts = message_counts_text(summary.kind, summary.messages, summary.quads)
            click.echo(f"rdfm: replaced {file}: {counts}", err=True)
            print_dropped(summary)
    return int(checks and has_changes)


def _split_arguments(files: tuple[str, ...], output: str | None) -> tuple[list[str], str]:
    """Divide the arguments into inputs and output."""
    names = list(files)
    if not names:
        raise click.UsageError("no input or output given; use: rdfm convert IN OUT")
    if output is None:
        if len(names) == 1:
            raise click.UsageError(
                f"no output given; add it after {names[0]}, or use -o FILE (- for standard output)"
            )
        if len(names) > 2:
            raise click.UsageError(
                f"{len(names)} files given without -o; use -o FILE to specify the output for several inputs"
            )
        output = OutputPath(readable=False).convert(names.pop(), None, None)
    return names, output
