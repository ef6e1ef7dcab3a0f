"""`rdfm help`: print the complete help of a command."""

from __future__ import annotations

import click

from rdfm.cli.parameters import COMPLETE, GroupedCommand

_EPILOG = """Examples:
  rdfm help convert
  rdfm help patch apply"""


@click.command(
    "help",
    cls=GroupedCommand,
    epilog=_EPILOG,
    short_help="Print the complete help of a command.",
)
@click.argument("names", nargs=-1, metavar="[COMMAND...]")
def command(names: tuple[str, ...]) -> None:
    """Print the complete help of a COMMAND, with the options of all formats and the limits."""
    from rdfm.cli.app import app, describe_unknown_command

    target: click.Command = app
    context = click.Context(app, info_name="rdfm")
    for name in names:
        inner = target.get_command(context, name) if isinstance(target, click.Group) else None
        if inner is None:
            if target is app:
                raise click.UsageError(describe_unknown_command(name))
            raise click.UsageError(f"No such command '{' '.join(names)[:40]}'")
        target = inner
        context = click.Context(target, info_name=name, parent=context)
    context.meta[COMPLETE] = True
    click.echo(target.get_help(context))
