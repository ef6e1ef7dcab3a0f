"""`rdfm validate`: check logs for errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rdfm.cli.options import Words, option
from rdfm.cli.specs import SpecCommand, given

if TYPE_CHECKING:
    from rdfm.analysis.validate import Validation
    from rdfm.logs.findings import Finding

_EPILOG = """Examples:
  rdfm validate log.nq.gz
  rdfm validate --strict --max-errors 10 logs/*.jelly
  rdfm validate logs/ --format github
  rdfm validate log.trig --shapes shapes.ttl
  rdfm validate log.nq --json | jq -r 'select(.rule == "syntax") | .line'

Exit status: 0 no errors, 1 errors found, 2 bad usage."""


@click.command(
    "validate",
    cls=SpecCommand,
    stages="rdfm.analysis.options:VALIDATE",
    epilog=_EPILOG,
    short_help="Check logs for errors and suspicious data.",
)
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...", type=click.Path())
@option(
    "--format",
    "output",
    group="Output",
    type=Words(["text", "json", "github"]),
    default="text",
    help="Format of the findings: lines of text, JSON lines, or GitHub Actions annotations. (text)",
)
@option(
    "--json",
    "as_json",
    group="Output",
    is_flag=True,
    help="Same as --format json; the last line contains the counts.",
)
@option(
    "--quiet",
    "-q",
    group="Output",
    is_flag=True,
    help="Do not print the counts at the end.",
)
def command(
    inputs: tuple[str, ...], output: str, as_json: bool, quiet: bool, **options: Any
) -> int:
    """Check each INPUT: report every error with its position, and warn about suspicious data.

    INPUT is a file, folder, glob, tar archive, URL, or - for standard input. After an error, checking continues with
    the next message if the format supports this, as N-Quads and TriG do, and otherwise with the next input. Findings
    are printed to standard output in the form FILE:LINE:COLUMN: error: TEXT (message 3) [RULE].
    """
    from rdfm.analysis.validate import validate
    from rdfm.cli.bar import Bar
    from rdfm.cli.signals import unwinding
    from rdfm.cli.stdio import json_line, standard_input

    if as_json:
        if output == "github":
            raise click.UsageError("--json and --format github cannot be combined")
        output = "json"
    if output not in ("text", "json", "github"):
        raise click.UsageError(f"--format must be text, json or github, not '{output}'")
    if inputs.count("-") > 1:
        raise click.UsageError("standard input (-) can be read only once")
    settings = {name: value for name, value in given(options).items()}
    settings["format"] = settings.pop("from_format", None)
    settings = {name.removeprefix("from_"): value for name, value in settings.items()}
    write = {"text": _line, "json": _json, "github": _annotation}[output]
    # On a terminal, the findings would be mixed with the progress bar.
    bar = Bar.on_terminal() if _is_redirected() else None
    try:
        with unwinding():
            sources = [standard_input() if name == "-" else name for name in inputs]
            checked = validate(sources, progress=bar, **_values(settings))
            for found in checked:
                click.echo(write(found))
    finally:
        if bar is not None:
            bar.close()
    if output == "json":
        if not quiet:
            click.echo(json_line({"summary": checked.summary()}))
    elif not quiet:
        for line in _summary(checked):
            click.echo(f"rdfm: {line}", err=True)
    return 0 if checked.ok else 1


def _values(settings: dict[str, Any]) -> dict[str, Any]:
    """Convert the command's own options to values. Options of formats remain text."""
    from rdfm.analysis.options import VALIDATE

    return {
        name: VALIDATE[name].value(value) if name in VALIDATE else value
        for name, value in settings.items()
        if value is not None
    }


def _is_redirected() -> bool:
    """Whether standard output is redirected."""
    import sys

    from rdfm.cli.stdio import is_terminal

    return not is_terminal(sys.stdout)


def _line(found: Finding) -> str:
    """Return a finding as a line of text in the form that compilers use, which editors can parse."""
    from rdfm.cli.stdio import safe

    where = "".join(f":{each}" for each in (found.line, found.column) if each is not None)
    return safe(f"{found.source}{where}: {found.severity}: {_text(found)} [{found.rule}]")


def _text(found: Finding) -> str:
    """Return the text of a finding, with the parts of its position that the line omits."""
    from rdfm.cli.stdio import WORDS

    known = [(WORDS[found.kind][0], found.message), ("frame", found.frame), ("row", found.row)]
    if found.line is None:
        known.append(("byte", found.offset))
    place = ", ".join(f"{name} {value}" for name, value in known if value is not None)
    if found.follows:
        place += ("; " if place else "") + "may be caused by a skipped message"
    return found.render() + (f" ({place})" if place else "")


def _json(found: Finding) -> str:
    from rdfm.cli.stdio import json_line

    return json_line(found.to_dict())


def _annotation(found: Finding) -> str:
    """Return a finding as an annotation of GitHub Actions, which must be a single line."""
    properties = {
        "file": found.source,
        "line": found.line,
        "col": found.column,
        "title": found.rule,
    }
    shown = ",".join(
        f"{name}={_escaped(str(value), ':,')}"
        for name, value in properties.items()
        if value is not None
    )
    return f"::{found.severity} {shown}::{_escaped(_text(found))}"


def _escaped(text: str, more: str = "") -> str:
    """Escape characters that would end a command of GitHub Actions, or move the cursor."""
    escaped = "".join(
        f"%{ord(c):02X}" if c in "%\r\n" + more else c if c.isprintable() else f"\\u{ord(c):04x}"
        for c in text
    )
    return escaped


def _summary(checked: Validation) -> list[str]:
    """Return the counts as lines of text."""
    from rdfm.cli.stdio import WORDS, plural

    numbers = checked.summary()
    read = plural(numbers["logs"], "log") + ", " + plural(checked.messages, WORDS[checked.kind][0])
    found = f"{_count(checked.errors, 'error')}, {_count(checked.warnings, 'warning')}"
    lines = [f"{read}: {found}" + (", stopped early" if checked.stopped else "")]
    if checked.shapes is not None:
        failed = _count(checked.not_conforming, "message")
        verb = "does" if checked.not_conforming == 1 else "do"
        lines[0] += f"; {failed} {verb} not conform to the shapes"
    lines += [
        f"not shown: {count:,} more {'finding' if count == 1 else 'findings'} [{rule}]"
        for rule, count in checked.left_out.items()
    ]
    return lines


def _count(count: int, noun: str) -> str:
    from rdfm.cli.stdio import plural

    return plural(count, noun) if count else f"no {noun}s"
