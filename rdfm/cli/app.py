"""The commands of `rdfm`, each imported when it is called or its help is asked for."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from typing import Any

import click

import rdfm

_COMMANDS = {
    "convert": "Convert message logs from one format to another.",
    "cat": "Show messages as text; head and tail show the first and the last ones.",
    "validate": "Check logs: every error, and what is legal and suspicious.",
    "diff": "Compare two logs message by message.",
    "filter": "Keep the messages that hold what is asked for.",
    "query": "Ask a SPARQL query of each message, or of all of them.",
    "inspect": "Say what is in a log: format, messages, quads, sizes, names, first error.",
    "patch": "Apply, make and compare changes of datasets.",
    "formats": "List the formats and what each can carry.",
    "completion": "Print the completion script of a shell.",
}
# Short forms, with the module and the name of the command there.
SHORT_FORMS = {"head": ("cat", "head"), "tail": ("cat", "tail")}
_KINDS = ("messages", "patches", "results")


class ClosedPipe(Exception):
    """What click would answer by itself.

    Attributes:
        error: The error.
    """

    def __init__(self, error: BrokenPipeError) -> None:
        super().__init__(str(error))
        self.error = error


@contextlib.contextmanager
def _pipes_kept() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise ClosedPipe(error) from error


class _Lazy(click.Group):
    """A group that imports a command's module when it is needed."""

    def make_context(self, *words: Any, **settings: Any) -> click.Context:
        with _pipes_kept():  # where help is printed
            return super().make_context(*words, **settings)

    def invoke(self, ctx: click.Context) -> Any:
        with _pipes_kept():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*_COMMANDS, *SHORT_FORMS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS and cmd_name not in SHORT_FORMS:
            return None
        name, attribute = SHORT_FORMS.get(cmd_name, (cmd_name, "command"))
        command: click.Command = getattr(importlib.import_module(f"rdfm.cli.{name}"), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        known = name in _COMMANDS or name in SHORT_FORMS
        if not known and not name.startswith("-") and not ctx.resilient_parsing:
            commands = ", ".join(_COMMANDS)
            raise click.UsageError(f"No such command '{name}'; there are {commands}", ctx)
        return super().resolve_command(ctx, args)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from rdfm import formats

        super().format_help_text(ctx, formatter)
        formatter.write_paragraph()
        with formatter.indentation():
            for kind in _KINDS:
                *titles, last = (spec.title for spec in formats.specs() if kind in spec.kinds)
                formatter.write_text(f"Formats of {kind}: {', '.join(titles)} and {last}.")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(rdfm.__version__, message="rdfm %(version)s")
@click.option("--debug", is_flag=True, help="Show Python's traceback after an error.")
def app(debug: bool) -> None:
    """Convert RDF message logs from one format to another.

    A log is a sequence of messages; a message is an RDF dataset of its own. Logs of patches, which
    are changes of datasets, and of SPARQL results are read and written too. Each command explains
    itself: rdfm COMMAND --help.
    """
