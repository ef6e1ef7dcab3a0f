"""Man pages and completion scripts, from the same declarations as the help of the commands.

A wheel installs them in `share`, where `man` and the shells look for those of an environment's
prefix. The pages contain what `COMMAND --help` prints.
"""

import re
import textwrap
from collections.abc import Iterable, Iterator

import click
from click.shell_completion import get_completion_class

from rdfm.cli.app import app
from rdfm.cli.completion import SHELLS

COMPLETIONS = {
    "bash": "bash-completion/completions/rdfm",
    "zsh": "zsh/site-functions/_rdfm",
    "fish": "fish/vendor_completions.d/rdfm.fish",
}


def escape(text: str) -> str:
    """Text in which roff finds no requests."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)


def paragraphs(text: str) -> Iterator[str]:
    """Text whose line breaks matter, such as examples with their heading."""
    for paragraph in re.split(r"\n\s*\n", textwrap.dedent(text.strip("\n"))):
        head, *lines = paragraph.splitlines()
        if lines and head.endswith(":"):
            body = "".join(f"{escape(line[2:])}\n" for line in lines)
            yield f".SH {escape(head[:-1]).upper()}\n.nf\n{body}.fi\n"
        elif match := re.match(r"Exit status: ", paragraph):
            yield f".SH EXIT STATUS\n{escape(paragraph[match.end() :])}\n"
        else:
            yield f".PP\n{escape(paragraph)}\n"


class ManualFormatter(click.HelpFormatter):
    """Writes the help of a command as a man page."""

    def write(self, string: str) -> None:
        self.buffer += paragraphs(string)

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        self.buffer.append(f".SH SYNOPSIS\n.B {escape(prog)}\n{escape(args)}\n.SH DESCRIPTION\n")

    def write_heading(self, heading: str) -> None:
        self.buffer.append(f".SH {escape(heading).upper()}\n")

    def write_paragraph(self) -> None:
        self.buffer.append(".PP\n")

    def write_text(self, text: str) -> None:
        for paragraph in re.split(r"\n\s*\n", text):
            self.buffer.append(f".PP\n{escape(' '.join(paragraph.split()))}\n")

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        for name, text in rows:
            self.buffer.append(f".TP\n.B {escape(name)}\n{escape(text)}\n")


def page(context: click.Context) -> str:
    """The man page of a command."""
    command = context.command
    name = escape(context.command_path.replace(" ", "-"))
    formatter = ManualFormatter()
    for write in (command.format_usage, command.format_help_text, command.format_options):
        write(context, formatter)
    command.format_epilog(context, formatter)
    text = re.sub(
        r"(\.PP\n)+(?=\.SH|\.PP|\Z)|(?<=\.SH DESCRIPTION\n)\.PP\n", "", formatter.getvalue()
    )
    title = escape(command.get_short_help_str(1000).rstrip("."))
    return f'.TH {name.upper()} 1 "" rdfm rdfm\n.SH NAME\n{name} \\- {title}\n{text}'


def contexts(*names: str) -> Iterator[click.Context]:
    """A context for each command below `rdfm NAMES`, and for that command itself.

    Contexts share what they store with their parents, so each one gets new parents.
    """
    context = click.Context(app, info_name="rdfm", **app.context_settings)
    for name in names:
        assert isinstance(context.command, click.Group)
        inner = context.command.get_command(context, name)
        assert inner is not None
        context = click.Context(inner, info_name=name, parent=context)
    yield context
    if isinstance(context.command, click.Group):
        for name in context.command.list_commands(context):
            yield from contexts(*names, name)


def files() -> dict[str, str]:
    """All files, by their path in `share`."""
    made = {
        f"man/man1/{context.command_path.replace(' ', '-')}.1": page(context)
        for context in contexts()
    }
    for shell in SHELLS:
        shell_class = get_completion_class(shell)
        assert shell_class is not None
        script = shell_class(app, {}, "rdfm", "_RDFM_COMPLETE")
        made[COMPLETIONS[shell]] = script.source_template % script.source_vars() + "\n"
    return made
