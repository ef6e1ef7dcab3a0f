"""The commands of `rdfm`, each imported when it is called or its help is asked for."""

from __future__ import annotations

import importlib

import click

import rdfm

_COMMANDS = {
    "convert": "Convert message logs from one format to another.",
    "inspect": "Say what is in a log: format, messages, quads, sizes, names, first fault.",
    "formats": "List the formats and what each can carry.",
    "completion": "Print the completion script of a shell.",
}


class _Lazy(click.Group):
    """A group that imports a command's module when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"rdfm.cli.{cmd_name}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(rdfm.__version__, message="rdfm %(version)s")
@click.option("--debug", is_flag=True, help="Show Python's traceback after an error.")
def app(debug: bool) -> None:
    """Convert RDF message logs between Jelly, N-Triples, N-Quads, Turtle and TriG.

    A log is a sequence of messages; a message is an RDF dataset of its own. Each command explains
    itself: rdfm COMMAND --help.
    """
