"""`rdfm cat`, and its short forms `rdfm head` and `rdfm tail`: messages on standard output."""

from __future__ import annotations

import re
from typing import Any

import click

from rdfm.cli.parameters import Number, Words, option
from rdfm.cli.specs import SpecCommand, select_given

_CAT = """Examples:
  rdfm cat nanopubs.jelly.gz -m 5000
  rdfm cat log.nq -m -10:
  rdfm cat stream_full.tar.gz -m ::100 --to ndjson-ld | jq .
  rdfm cat changes.jellyp -m 0"""
_HEAD = """Example:
  rdfm head nanopubs.jelly.gz -n 3"""
_TAIL = """Example:
  rdfm tail sensors.nq -n 3"""
_STAGES = "rdfm.conversion.convert_options:SHOWING"
_logs = click.argument(
    "logs", nargs=-1, required=True, metavar="LOG...", type=click.Path(readable=False)
)
_color = option(
    "--color",
    group="Other options",
    type=Words(["auto", "always", "never"]),
    default="auto",
    help="When to print colours. auto: on a terminal, unless NO_COLOR is set.",
)
_count = option(
    "-n",
    "--count",
    group="Messages",
    type=Number(0),
    metavar="N",
    default=10,
    show_default=True,
    help="Number of messages.",
)


@click.command(
    "cat",
    cls=SpecCommand,
    stages=_STAGES,
    sides=("read", "write"),
    epilog=_CAT,
    short_help="Print messages as text.",
)
@_logs
@_color
def command(logs: tuple[str, ...], color: str, **options: Any) -> None:
    """Print the messages of each LOG as text.

    LOG is a file, folder, glob, tar archive, URL, or - for standard input. By default messages are
    printed as TriG, patches as RDF Patch, and SPARQL results as TSV. Messages are numbered from 0
    over all logs.
    """
    _show(logs, color, options)


class _CountCommand(SpecCommand):
    """A command that accepts `-5` for `-n 5`, like coreutils head and tail."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        counts = (word for word in args if re.fullmatch(r"-\d+", word))
        if (count := next(counts, None)) is not None and "-n" not in args:
            index = args.index(count)
            args = [*args[:index], "-n", count[1:], *args[index + 1 :]]
        return super().parse_args(ctx, args)


@click.command(
    "head",
    cls=_CountCommand,
    stages="rdfm.conversion.convert_options:SHOWING_FIRST",
    sides=("read", "write"),
    epilog=_HEAD,
    short_help="Print the first messages.",
)
@_logs
@_count
@_color
def head(logs: tuple[str, ...], count: int, color: str, **options: Any) -> None:
    """Print the first messages of all LOGs together, like rdfm cat -m :N. `-5` means `-n 5`."""
    _show(logs, color, {**options, "messages": f":{count}"})


@click.command(
    "tail",
    cls=_CountCommand,
    stages="rdfm.conversion.convert_options:SHOWING_FIRST",
    sides=("read", "write"),
    epilog=_TAIL,
    short_help="Print the last messages.",
)
@_logs
@_count
@_color
def tail(logs: tuple[str, ...], count: int, color: str, **options: Any) -> None:
    """Print the last messages of all LOGs together, like rdfm cat -m -N:. `-5` means `-n 5`."""
    _show(logs, color, {**options, "messages": f"-{count}:" if count else "0:0"})


def _show(logs: tuple[str, ...], color: str, options: dict[str, Any]) -> None:
    """Convert to standard output, and report dropped data on standard error."""
    from rdfm import formats
    from rdfm.cli.losses import print_dropped, print_notes, print_skipped
    from rdfm.cli.screen import Screen, wants_colours
    from rdfm.cli.signals import raise_on_signal
    from rdfm.cli.stdio import (
        add_stdout_defaults,
        create_inputs,
        reject_terminal,
        standard_output,
    )
    from rdfm.conversion.convert import convert
    from rdfm.conversion.default_format import default_format
    from rdfm.logs.journal import byte_count

    if color not in ("auto", "always", "never"):
        raise click.UsageError(f"--color must be auto, always or never, not '{color[:40]}'")
    inputs = create_inputs(logs)
    options = select_given(options)
    if "to" not in options:
        options["to"] = default_format(inputs, options.get("from_format"))
    reject_terminal(options)
    options = add_stdout_defaults(options)
    is_text = not formats.find(options["to"]).spec.binary
    colours = is_text and wants_colours(color)  # type: ignore[arg-type]  # checked above
    output = standard_output(colours=colours)
    try:
        with raise_on_signal():
            summary = convert(inputs, output, **options)
    finally:
        if isinstance(output, Screen):
            output.end()
    print_skipped(summary)
    # Namespaces are expected to be dropped if the format cannot represent them.
    summary.dropped.pop("namespaces", None)
    print_dropped(summary)
    if not summary.messages:  # otherwise, the notes are about the output
        print_notes(summary.notes)
    elif summary.uncommitted_bytes:
        print_notes(
            [f"{byte_count(summary.uncommitted_bytes)} after the last commit were not read"]
        )
