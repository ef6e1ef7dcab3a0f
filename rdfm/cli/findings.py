"""Output of commands that check logs: findings as text, JSON or annotations, and counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from rdfm.cli.parameters import Words, option

if TYPE_CHECKING:
    from rdfm.analysis.finding import Finding
    from rdfm.analysis.log_check import LogCheck
    from rdfm.formats import OptionSpec

__all__ = ["count_text", "output_options", "run_check"]

F = TypeVar("F", bound=Callable[..., Any])


def output_options(command: F) -> F:
    """Add the output options to a command: `output`, `as_json` and `quiet`."""
    decorators = (
        option(
            "--format",
            "output",
            group="Output",
            type=Words(["text", "json", "github"]),
            default="text",
            help="Output format: text, JSON lines, or GitHub Actions annotations (default: text).",
        ),
        option(
            "--json",
            "as_json",
            group="Output",
            is_flag=True,
            help="Same as --format json. The last line contains the counts.",
        ),
        option(
            "--quiet",
            "-q",
            group="Output",
            is_flag=True,
            help="Do not print the counts at the end.",
        ),
    )
    for decorator in reversed(decorators):
        command = decorator(command)
    return command


def run_check(
    check: Callable[..., LogCheck],
    inputs: tuple[str, ...],
    options: dict[str, Any],
    own_options: Mapping[str, OptionSpec],
    *,
    output: str,
    as_json: bool,
    quiet: bool,
    count_suffix: Callable[[Any], str],
) -> int:
    """Check logs, print the findings and counts, and return the exit status.

    Args:
        check: Function that returns the findings.
        inputs: Names of the inputs; "-" for standard input.
        options: Options of the command line.
        own_options: Declarations of the command's own options, without those of the formats.
        output: "text", "json" or "github".
        as_json: Whether `--json` is given.
        quiet: Whether to print only findings.
        count_suffix: Function that returns additional text for the counts of a check.

    Raises:
        UsageError: If the options cannot be combined.
    """
    from rdfm.cli.bar import Bar
    from rdfm.cli.signals import raise_on_signal
    from rdfm.cli.specs import select_given
    from rdfm.cli.stdio import create_inputs, json_line

    if as_json:
        if output == "github":
            raise click.UsageError("--json and --format github cannot be combined")
        output = "json"
    if output not in ("text", "json", "github"):
        raise click.UsageError(f"--format must be text, json or github, not '{output}'")
    sources = create_inputs(inputs)
    settings = select_given(options)
    settings["format"] = settings.pop("from_format", None)
    settings = {name.removeprefix("from_"): value for name, value in settings.items()}
    write = {"text": _line, "json": _json, "github": _annotation}[output]
    # On a terminal, the progress bar would interfere with the findings.
    bar = Bar.create_if_terminal() if _is_redirected() else None
    try:
        with raise_on_signal():
            log_check = check(sources, progress=bar, **_convert_values(settings, own_options))
            for finding in log_check:
                click.echo(write(finding))
    finally:
        if bar is not None:
            bar.close()
    if output == "json":
        if not quiet:
            click.echo(json_line({"summary": log_check.summary()}))
    elif not quiet:
        for line in _summary(log_check, count_suffix(log_check)):
            click.echo(f"rdfm: {line}", err=True)
    return 0 if log_check.ok else 1


def count_text(count: int, noun: str) -> str:
    """Return a count and its noun, such as `no errors` or `2 errors`."""
    from rdfm.cli.stdio import plural

    return plural(count, noun) if count else f"no {noun}s"


def _convert_values(
    settings: dict[str, Any], own_options: Mapping[str, OptionSpec]
) -> dict[str, Any]:
    """Convert the command's own options to values. Options of formats remain text."""
    return {
        name: own_options[name].value(value) if name in own_options else value
        for name, value in settings.items()
        if value is not None
    }


def _is_redirected() -> bool:
    """Whether standard output is redirected."""
    import sys

    from rdfm.cli.stdio import is_terminal

    return not is_terminal(sys.stdout)


def _line(finding: Finding) -> str:
    """Return a finding as a line in the style of compiler messages, for parsing by editors."""
    from rdfm.cli.stdio import escape_controls

    where = "".join(f":{number}" for number in (finding.line, finding.column) if number is not None)
    return escape_controls(
        f"{finding.source}{where}: {finding.severity}: {_text(finding)} [{finding.rule}]"
    )


def _text(finding: Finding) -> str:
    """Return the text of a finding, with the parts of its position that the line omits."""
    from rdfm.cli.stdio import WORDS

    positions = [
        (WORDS[finding.kind][0], finding.message_index),
        ("frame", finding.frame),
        ("row", finding.row),
    ]
    if finding.line is None:
        positions.append(("byte", finding.byte_offset))
    details = ", ".join(f"{name} {value}" for name, value in positions if value is not None)
    if finding.follows:
        details += ("; " if details else "") + "may be caused by a skipped message"
    return finding.render() + (f" ({details})" if details else "")


def _json(finding: Finding) -> str:
    from rdfm.cli.stdio import json_line

    return json_line(finding.to_dict())


def _annotation(finding: Finding) -> str:
    """Return a finding as a GitHub Actions annotation, which must be a single line."""
    properties = {
        "file": finding.source,
        "line": finding.line,
        "col": finding.column,
        "title": finding.rule,
    }
    properties_text = ",".join(
        f"{name}={_escape(str(value), ':,')}"
        for name, value in properties.items()
        if value is not None
    )
    return f"::{finding.severity} {properties_text}::{_escape(_text(finding))}"


def _escape(text: str, more: str = "") -> str:
    """Escape characters that would end a GitHub Actions command or move the cursor."""
    escaped = "".join(
        f"%{ord(c):02X}" if c in "%\r\n" + more else c if c.isprintable() else f"\\u{ord(c):04x}"
        for c in text
    )
    return escaped


def _summary(log_check: LogCheck, count_suffix: str) -> list[str]:
    """Return the counts as lines of text."""
    from rdfm.cli.stdio import WORDS, plural

    numbers = log_check.summary()
    read = (
        plural(numbers["logs"], "log") + ", " + plural(log_check.messages, WORDS[log_check.kind][0])
    )
    counts_line = (
        f"{count_text(log_check.errors, 'error')}, {count_text(log_check.warnings, 'warning')}"
    )
    lines = [
        f"{read}: {counts_line}" + (", stopped early" if log_check.stopped else "") + count_suffix
    ]
    lines += [
        f"not shown: {count:,} more {'finding' if count == 1 else 'findings'} [{rule}]"
        for rule, count in log_check.omitted.items()
    ]
    return lines
