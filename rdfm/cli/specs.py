"""Commands whose options are declared by the specs of stages and formats.

In: specs. Out: click options (`--NAME`, `--from-NAME` for the input, `--to-NAME` for the output),
and their help under the headings of the specs.
Cost: the specs of the built-in formats. Plug-ins are imported for complete help and completion, and
if an option is unknown.
Law: values remain text. The component that knows the format checks them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import click
from click.shell_completion import CompletionItem

from rdfm.cli.connections import TLS, connection_options
from rdfm.cli.headers import HeaderOption
from rdfm.cli.parameters import (
    COMPLETE,
    ContextFile,
    FormatName,
    GroupedCommand,
    GroupedOption,
    Prefix,
    Words,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rdfm.formats import FormatSpec, OptionSpec
    from rdfm.formats.spec import Side

__all__ = ["SpecCommand", "help_text", "make_option", "select_given"]

_PARAMETERS = "rdfm.cli.parameters"
_SIDED = "rdfm.cli.sided"
# Option groups that only the complete help shows.
_RARE_GROUPS = ("Live streams", "Skipped data")


class SpecCommand(GroupedCommand):
    """A command with the options of its stages and of the formats that it reads and writes."""

    def __init__(
        self,
        *args: Any,
        stages: str = "",
        sides: Sequence[Side] = ("read",),
        kinds: Mapping[Side, Collection[str]] | None = None,
        **settings: Any,
    ) -> None:
        """Set the sources of the options.

        Args:
            args: Passed to click.
            stages: Location of the stages' options, such as `rdfm.conversion.convert_options:STAGES`.
                Imported when the command is used.
            sides: Sides whose options the command has: "read" or "write", or both.
            kinds: Kinds of logs on each side, such as "patches". All kinds by default. Help omits
                the options of formats for other kinds, and a log of another kind is an error.
            settings: Passed to click.
        """
        super().__init__(*args, **settings)
        self._stages = stages
        self._sides = sides
        self._kinds = kinds or {}

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the command's own parameters, and those of the specs."""
        own_parameters = super().get_params(ctx)
        help_option = [parameter for parameter in own_parameters if parameter not in self.params]
        return [*self.params, *self._create_options(ctx), *help_option]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments. If an option is unknown, try again with the options of plug-ins."""
        arguments = list(args)
        # Options for one side are rare, so they are created only if the command line has some.
        ctx.meta[_SIDED] = any(word.startswith(("--from-", "--to-")) for word in arguments)
        try:
            return super().parse_args(ctx, args)
        except click.UsageError:
            if not self._add_plug_ins(ctx):
                raise
        ctx.params.clear()
        return super().parse_args(ctx, arguments)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write all options, or only those that do not belong to a format."""
        if ctx.meta.get(COMPLETE):
            self._add_plug_ins(ctx)
            super().format_options(ctx, formatter)
            return
        super().format_options(ctx, formatter)
        _, _, path = ctx.command_path.partition(" ")
        formatter.write(
            f"\nOptions of formats and live streams, and limits: rdfm help {path}, rdfm formats NAME\n"
        )

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete options, including one-sided ones that help hides, such as --to-frames."""
        completions = super().shell_complete(ctx, incomplete)
        if not incomplete.startswith(("--from-", "--to-")):
            return completions
        names = {item.value for item in completions}
        for parameter in self._make(with_plug_ins=True, sided=True):
            for name in (*parameter.opts, *parameter.secondary_opts):
                if name.startswith(incomplete) and name not in names:
                    completions.append(CompletionItem(name, help=getattr(parameter, "help", None)))
        return completions

    def _add_plug_ins(self, ctx: click.Context) -> bool:
        """Create the options again, and return whether plug-ins add any."""
        count = len(self._create_options(ctx))
        ctx.meta[_PARAMETERS] = list(self._make(with_plug_ins=True, sided=True))
        return len(self._create_options(ctx)) > count

    def _create_options(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the options of stages and formats, which are created once per command line."""
        if _PARAMETERS not in ctx.meta:
            ctx.meta[_PARAMETERS] = list(self._make(False, sided=ctx.meta.get(_SIDED, True)))
        params: list[click.Parameter] = ctx.meta[_PARAMETERS]
        return params

    def _make(self, with_plug_ins: bool, *, sided: bool) -> Iterable[click.Parameter]:
        from rdfm import formats
        from rdfm.formats.spec import requires_side

        stages = self._stage_options()
        if "read" in self._sides:
            yield HeaderOption("Input", of_format=True)  # only in the complete help
            own = {option.name for option in stages} - {*TLS}
            yield from connection_options(without=own)
        for option in stages:
            is_rare = option.group in _RARE_GROUPS
            if option.name in TLS:
                continue
            yield make_option(option, option.name, option.option, of_format=is_rare)
        known_formats = formats.all() if with_plug_ins else formats.built_in()
        all_options = {
            side: _side_options(side, [format.spec for format in known_formats])
            for side in self._sides
        }
        fitting_options = {
            side: _side_options(
                side, [format.spec for format in known_formats if self._fits(side, format.spec)]
            )
            for side in self._sides
        }
        stage_names = {option.name for option in stages}
        names = dict.fromkeys(name for options in all_options.values() for name in options)
        for name in names:
            if name in stage_names:
                continue
            # The help of the option comes from a format of the right kind if possible.
            specs = {
                side: fitting_options[side].get(name, options[name])
                for side, options in all_options.items()
                if name in options
            }
            specs_by_side = {side: specs[side] for side in specs if name in fitting_options[side]}
            first = next(iter((specs_by_side or specs).values()))
            if first.python_only:
                continue
            is_one_sided = requires_side(specs_by_side.values())
            yield make_option(
                first, name, first.option, hidden=is_one_sided or not specs_by_side, of_format=True
            )
            for side, spec in specs.items() if sided else ():
                prefix = "from" if side == "read" else "to"
                flag = f"{prefix}-{spec.option}"
                hidden = not is_one_sided or side not in specs_by_side
                yield make_option(
                    spec, f"{prefix}_{name}", flag, prefix=prefix, hidden=hidden, of_format=True
                )

    def _fits(self, side: Side, spec: FormatSpec) -> bool:
        """Whether a format is for a kind of logs that the side supports."""
        kinds = self._kinds.get(side)
        return kinds is None or any(kind in kinds for kind in spec.kinds)

    def _stage_options(self) -> Collection[OptionSpec]:
        if not self._stages:
            return ()
        from importlib import import_module

        module, name = self._stages.split(":")
        options: dict[str, OptionSpec] = getattr(import_module(module), name)
        return options.values()


def _side_options(side: Side, specs: list[FormatSpec]) -> dict[str, OptionSpec]:
    """Return the options of one side of all formats, each from the first format that has it."""
    options_by_name: dict[str, OptionSpec] = {}
    for spec in specs:
        for name, option in spec.options(side).items():
            options_by_name.setdefault(name, option)
    return options_by_name


def make_option(
    spec: OptionSpec,
    name: str,
    flag: str,
    *,
    prefix: str = "",
    hidden: bool = False,
    of_format: bool = False,
    callback: Callable[[click.Context, click.Parameter, Any], None] | None = None,
) -> GroupedOption:
    """Return a command-line option from its declaration.

    Args:
        spec: The declaration.
        name: The name of the parameter.
        flag: The name on the command line, without hyphens in front.
        prefix: "from" or "to" for an option of one side.
        hidden: Whether help omits the option.
        of_format: As in `GroupedOption`.
        callback: Function that processes the value, which is then not passed to the command.
    """
    settings: dict[str, Any] = {
        "group": spec.group or "Other formats",
        "help": help_text(spec),
        "hidden": hidden,
        "of_format": of_format,
        "callback": callback,
        "expose_value": callback is None,
    }
    declared = f"--{flag}"
    if spec.kind == "switch":
        if spec.off:
            declared += f"/--{prefix}-{spec.off}" if prefix else f"/--{spec.off}"
        else:
            settings["flag_value"] = True
        settings |= {"is_flag": True, "default": None}
    elif spec.kind == "namespaces":
        settings |= {"multiple": True, "type": Prefix()}
    elif spec.kind == "files":
        settings |= {"multiple": True, "type": ContextFile()}
    elif spec.kind == "texts":
        settings |= {"multiple": True, "metavar": spec.placeholder}
    elif spec.choices:
        settings["type"] = Words([word.replace("_", "-") for word in spec.choices])
        settings["metavar"] = spec.metavar or None
    elif spec.metavar == "FORMAT":
        settings["type"] = FormatName()
    else:
        settings["metavar"] = spec.placeholder
        if spec.kind in ("file", "context", "log"):
            settings["type"] = click.Path(readable=False)
    short = [f"-{spec.short}"] if spec.short and not prefix else []
    return GroupedOption([*short, declared, name], **settings)


def help_text(spec: OptionSpec) -> str:
    """Return the help text of an option, with its default."""
    default = spec.default
    if spec.default_from == "input":
        default_text = "detected"
    elif default is None or isinstance(default, bool):
        return spec.help
    elif spec.kind == "bytes" and isinstance(default, int) and default % (1 << 20) == 0:
        default_text = f"{default >> 20}M"
    else:
        default_text = str(default).replace("_", "-")
    if spec.printed is not None:
        default_text += f"; {spec.printed} on standard output"
    return f"{spec.help} ({default_text})"


def select_given(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were given, with repeatable ones as dicts or as lists of strings."""
    return {
        name: _to_dict_or_list(value) if isinstance(value, tuple) else value
        for name, value in options.items()
        if value is not None and value != ()
    }


def _to_dict_or_list(values: tuple[Any, ...]) -> Any:
    return dict(values) if isinstance(values[0], tuple) else list(values)
