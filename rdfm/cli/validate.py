"""`rdfm validate`: check logs for errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rdfm.cli.options import Words, option
from rdfm.cli.specs import SpecCommand, given

if TYPE_CHECKING:
    from rdfm.analysis.findings import Finding
    from rdfm.analysis.validate import Validation

_EPILOG = """Examples:
  rdfm validate log.nq.gz
  rdfm validate --strict --max-errors 10 logs/*.jelly
  rdfm validate logs/ --format github
  rdfm validate log.trig --shapes shapes.ttl
  rdfm validate log.nq --json | jq -r 'select(.rule == "syntax") | .line'

Exit code: 0 if there is no error, 1 if there is one, 2 if the command is wrong."""


@click.command(
    "validate",
    cls=SpecCommand,
    stages="rdfm.analysis.options:VALIDATE",
    epilog=_EPILOG,
    short_help="Check logs: every error, and what is legal and suspicious.",
)
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...", type=click.Path())
@option(
    "--format",
    "output",
    group="What is told",
    type=Words(["text", "json", "github"]),
    default="text",
    help="How findings are written: a line each for people, JSON objects, or annotations of GitHub Actions. (text)",
)
@option(
    "--json",
    "as_json",
    group="What is told",
    is_flag=True,
    help="As --format json: one object a line, and the numbers as the last one.",
)
@option(
    "--quiet",
    "-q",
    group="What is told",
    is_flag=True,
    help="Leave out the numbers at the end.",
)
def command(
    inputs: tuple[str, ...], output: str, as_json: bool, quiet: bool, **options: Any
) -> int:
    """Check each INPUT: say every error with its position, and what is legal and suspicious.

    An INPUT is a file, a folder, a glob, a tar archive, a URL, or - for standard input. After an error the next
    message is read where the format allows that, as in N-Quads or TriG, else the next input. Errors are lines such
    as FILE:LINE:COLUMN: error: TEXT (message 3) [RULE], on standard output.
    """
    from rdfm.analysis.validate import validate
    from rdfm.cli.bar import Bar
    from rdfm.cli.signals import unwinding
    from rdfm.cli.stdio import json_line, standard_input

    if as_json:
        if output == "github":
            raise click.UsageError("--json and --format github: leave one of them out")
        output = "json"
    if output not in ("text", "json", "github"):
        raise click.UsageError(f"--format is text, json or github, not '{output}'")
    if inputs.count("-") > 1:
        raise click.UsageError("standard input (-) can be read only once")
    settings = {name: value for name, value in given(options).items()}
    settings["format"] = settings.pop("from_format", None)
    settings = {name.removeprefix("from_"): value for name, value in settings.items()}
    write = {"text": _line, "json": _json, "github": _annotation}[output]
    # On a terminal, the findings would be mixed with the progress bar.
    bar = Bar.on_terminal() if _is_elsewhere() else None
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


def _is_elsewhere() -> bool:
    """Whether standard output is redirected."""
    import sys

    from rdfm.cli.stdio import is_terminal

    return not is_terminal(sys.stdout)


def _line(found: Finding) -> str:
    """Return a finding as a line of text that editors and `grep` understand."""
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
        place += ("; " if place else "") + "may follow from a skipped message"
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
    found = f"{_none(checked.errors, 'error')}, {_none(checked.warnings, 'warning')}"
    lines = [f"{read}: {found}" + (", stopped there" if checked.stopped else "")]
    if checked.shapes is not None:
        failed = _none(checked.not_conforming, "message")
        verb = "does" if checked.not_conforming == 1 else "do"
        lines[0] += f"; {failed} {verb} not conform to the shapes"
    lines += [
        f"left out: {plural(count, 'finding')} more [{rule}]"
        for rule, count in checked.left_out.items()
    ]
    return lines


def _none(count: int, noun: str) -> str:
    from rdfm.cli.stdio import plural

    return plural(count, noun) if count else f"no {noun}s"
