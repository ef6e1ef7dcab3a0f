"""The commands of `rdfm`. Each is imported when it is called or its help is printed."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

import rdfm

_COMMANDS = {
    "convert": "Convert logs to another format.",
    "cat": "Print messages as text.",
    "head": "Print the first messages.",
    "tail": "Print the last messages.",
    "inspect": "Describe a log: format, counts, sizes, predicates, first error.",
    "validate": "Check logs for errors and suspicious data.",
    "diff": "Compare two logs message by message.",
    "hash": "Print a hash of each message that ignores blank node labels.",
    "filter": "Keep the messages that match.",
    "query": "Run a SPARQL query on each message, or on all of them.",
    "table": "Write a table with a row for each subject.",
    "patch": "Apply, revert and create patches.",
    "serve": "Serve logs as live streams over gRPC.",
    "nanopub": "Mirror, check and list nanopublications.",
    "riverbench": "Package and check datasets for RiverBench.",
    "formats": "List the formats, or describe one.",
    "completion": "Print the completion script for a shell.",
    "help": "Print the complete help of a command.",
}
# Commands that are defined in another command's module, with their names in that module.
SHORT_FORMS = {"head": ("cat", "head"), "tail": ("cat", "tail")}


def describe_unknown_command(name: str) -> str:
    """Return the error text for a name that is not a command."""
    from difflib import get_close_matches  # costly to import

    if similar := get_close_matches(name, _COMMANDS):
        return f"No such command '{name}'; did you mean {' or '.join(similar)}?"
    if name == "version":
        return "No such command 'version'; rdfm --version prints the version"
    if Path(name).exists():
        return f"No such command '{name}'; rdfm cat {name} prints this log, and rdfm inspect {name} describes it"
    return f"No such command '{name[:40]}'; the commands are {', '.join(_COMMANDS)}"


class ClosedPipe(Exception):
    """Wraps a BrokenPipeError, which click would otherwise handle itself.

    Attributes:
        error: The original error.
    """

    def __init__(self, error: BrokenPipeError) -> None:
        super().__init__(str(error))
        self.error = error


@contextlib.contextmanager
def _wrap_closed_pipes() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise ClosedPipe(error) from error


class _LazyGroup(click.Group):
    """A group that imports a command's module when it is needed."""

    def make_context(self, *args: Any, **settings: Any) -> click.Context:
        with _wrap_closed_pipes():  # may print help
            return super().make_context(*args, **settings)

    def invoke(self, ctx: click.Context) -> Any:
        with _wrap_closed_pipes():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        name, attribute = SHORT_FORMS.get(cmd_name, (cmd_name, "command"))
        command: click.Command = getattr(importlib.import_module(f"rdfm.cli.{name}"), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in _COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            raise click.UsageError(describe_unknown_command(name), ctx)
        return super().resolve_command(ctx, args)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from rdfm import formats

        super().format_help_text(ctx, formatter)
        messages = [spec.name for spec in formats.specs() if "messages" in spec.kinds]
        others = [spec.name for spec in formats.specs() if "messages" not in spec.kinds]
        formatter.write("\n  Example:\n    rdfm convert nanopubs.jelly.gz nanopubs.trig\n")
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(f"Message formats: {', '.join(messages)}.")
            formatter.write_text(f"Patch and result formats: {', '.join(others)}.")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(rdfm.__version__, message="rdfm %(version)s")
@click.option("--debug", is_flag=True, help="Show Python's traceback after an error.")
def app(debug: bool) -> None:
    """Convert, inspect and query logs of RDF messages.

    A log is a sequence of messages, and a message is a small RDF dataset. Logs can also contain
    patches or SPARQL results.
    """
