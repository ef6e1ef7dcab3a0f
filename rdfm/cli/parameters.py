"""Option and parameter types that the commands share."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    _Text = click.ParamType[str]
    _Pair = click.ParamType[tuple[str, str]]
else:  # the class is not generic in older releases of click
    _Text = _Pair = click.ParamType

F = TypeVar("F", bound=Callable[..., Any])

# The first and the last option headings in help. The headings of formats come in between.
_FIRST = (
    "Criteria",
    "Query",
    "Table",
    "Changes",
    "Comparison",
    "Checks",
    "Topics",
    "Address",
    "Access",
    "Events and metrics",
    "Input",
    "Live streams",
    "Dataset",
    "Output",
    "Messages",
)
_LAST = ("Limits that protect memory", "Other formats", "Other options")
# Key in the `meta` of a context whose help lists all options.
COMPLETE = "rdfm.cli.complete"
# Option names of other programs, and the corresponding names in rdfm.
_EQUIVALENT_NAMES = {
    "--first": "--take",
    "--from-format": "--from",
    "--head": "--take",
    "--limit": "--take",
    "--to-format": "--to",
}


class GroupedOption(click.Option):
    """An option under a heading of its command's help.

    Attributes:
        group: The heading.
        of_format: Whether the option belongs to a format or is rarely used. `COMMAND --help` omits
            it.
    """

    def __init__(
        self, *args: Any, group: str = "Options", of_format: bool = False, **kwargs: Any
    ) -> None:
        """Set the attributes; other arguments are passed to click."""
        super().__init__(*args, **kwargs)
        self.group = group
        self.of_format = of_format


class GroupedCommand(click.Command):
    """A command whose help lists options under headings, in the order of their definition."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, and suggest similar options for an unknown one."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            options = [
                name
                for parameter in self.get_params(ctx)
                if isinstance(parameter, click.Option) and not parameter.hidden
                for name in (*parameter.opts, *parameter.secondary_opts)
            ]
            takes_output = any(part == "OUT" for part in self.collect_usage_pieces(ctx))
            if takes_output and error.option_name in ("-o", "--output"):
                advice = f"; use: {self._usage(ctx)}"
            else:
                advice = _advice(error.option_name, options)
            raise click.UsageError(f"No such option '{error.option_name}'{advice}", ctx) from None
        except click.MissingParameter as error:
            if not isinstance(error.param, click.Argument):
                raise
            name = error.param.make_metavar(ctx)
            stream = "output" if name == "OUT" else "input"
            raise click.UsageError(
                f"Missing argument '{name}'; use: {self._usage(ctx)} (- is standard {stream})", ctx
            ) from None

    def _usage(self, ctx: click.Context) -> str:
        """Return the command with its arguments."""
        return " ".join((ctx.command_path, *self.collect_usage_pieces(ctx)[1:]))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in a section for each heading."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            of_format = getattr(parameter, "of_format", False)
            if isinstance(parameter, click.Argument) or (of_format and not ctx.meta.get(COMPLETE)):
                continue
            if (record := parameter.get_help_record(ctx)) is not None:
                sections.setdefault(getattr(parameter, "group", "Other options"), []).append(record)
        for heading in sorted(
            sections, key=_heading_position
        ):  # a stable sort keeps the order of the others
            records = sections[heading]
            with formatter.section(heading):
                formatter.write_dl(records, col_max=28)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the epilog without wrapping, since it contains examples."""
        if self.epilog:
            formatter.write(f"\n{self.epilog}\n")


def _heading_position(heading: str) -> int:
    if heading in _LAST:
        return len(_FIRST) + 1 + _LAST.index(heading)
    return _FIRST.index(heading) if heading in _FIRST else len(_FIRST)


def _advice(name: str, options: list[str]) -> str:
    """Return the end of the error text for an unknown option."""
    if name == "--json" and "--to" in options:
        return "; --to ndjsonld writes messages as JSON-LD, and --to results-json results as JSON"
    if name == "--format" and "--to" in options:
        return "; --from names the format of the input, and --to the format of the output"
    if name in ("-o", "--output") and "--to" in options:
        return "; rdfm convert LOG OUT writes a file"
    if name in ("-o", "--output"):
        return "; > FILE writes the output to a file"
    similar = _find_similar(name, options)
    return f"; did you mean {' or '.join(similar)}?" if similar else ""


def _find_similar(name: str, options: list[str]) -> list[str]:
    """Return the equivalent of an option of other programs, or options with a similar name."""
    from difflib import get_close_matches  # costly to import

    if (equivalent := _EQUIVALENT_NAMES.get(name)) is not None:
        return [equivalent] if equivalent in options else []
    words = {option.lstrip("-"): option for option in options}  # hyphens make names similar
    return [words[word] for word in get_close_matches(name.lstrip("-"), words)]


def option(*names: str, group: str, **settings: Any) -> Callable[[F], F]:
    """Return a decorator that adds an option under a heading."""
    return click.option(*names, cls=GroupedOption, group=group, **settings)


class OutputPath(click.Path):
    """The path of an output. A path of standard output, such as `/dev/stdout`, means `-`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path."""
        from rdfm.storage.pipes import find_descriptor

        return "-" if find_descriptor(os.fspath(value)) == 1 else super().convert(value, param, ctx)


def output_option(help: str, *name: str, metavar: str = "OUT", **settings: Any) -> Callable[[F], F]:
    """Return a decorator that adds `--output`. `name` can rename the parameter of the command."""
    return option(
        "-o",
        "--output",
        *name,
        group="Output",
        metavar=metavar,
        type=OutputPath(readable=False),
        help=help,
        **settings,
    )


def quiet_option(help: str = "Print errors only.") -> Callable[[F], F]:
    """Return a decorator that adds `--quiet`."""
    return option("-q", "--quiet", group="Other options", is_flag=True, help=help)


class FormatName(_Text):
    """A format name. Completed from the registry, and checked when it is used."""

    name = "FORMAT"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the names that begin with `incomplete`."""
        from rdfm import formats

        return [CompletionItem(name) for name in formats.names() if name.startswith(incomplete)]


class Number(click.IntRange):
    """An integer greater than or equal to `min`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the integer."""
        try:
            number = int(value)
        except ValueError:
            self.fail(f"'{value}' is not an integer", param, ctx)
        if self.min is not None and number < self.min:
            self.fail(f"{number} is too small; the minimum is {self.min}", param, ctx)
        return number


class Words(_Text):
    """One of a list of words, checked when it is used."""

    name = "WORD"

    def __init__(self, words: list[str]) -> None:
        self._words = words

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return the words as in `[comment|directive]`."""
        return f"[{'|'.join(self._words)}]"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the words that begin with `incomplete`."""
        return [CompletionItem(word) for word in self._words if word.startswith(incomplete)]


class ContextFile(_Pair):
    """A remote context and a local file with its content: `URL=FILE`."""

    name = "URL=FILE"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """Return the URL and the file, separated by the last `=`."""
        if isinstance(value, tuple):
            return value
        url, equals, file = value.rpartition("=")
        if not equals or not file or ":" not in url:
            self.fail(f"'{value}' is not URL=FILE, such as https://host/c=c.jsonld", param, ctx)
        return url, file


class Prefix(_Pair):
    """A namespace: `name=IRI`."""

    name = "NAME=IRI"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """Return the name and the IRI."""
        if isinstance(value, tuple):
            return value
        name, equals, iri = value.partition("=")
        if not equals or not iri:
            self.fail(f"'{value}' is not NAME=IRI, such as ex=http://example.org/", param, ctx)
        name, iri = name.removesuffix(":"), iri.removeprefix("<").removesuffix(">")
        if re.search(r"[\s:/<>\"'#?]", name):
            self.fail(f"'{name}' is not a prefix; expected letters, digits, - and _", param, ctx)
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|^`\\]*", iri):
            self.fail(f"'{iri}' is not an absolute IRI, such as http://example.org/", param, ctx)
        return name, iri
