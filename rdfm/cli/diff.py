"""`rdfm diff`: compare two logs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from rdfm.cli.parameters import option, quiet_option
from rdfm.cli.specs import SpecCommand, select_given

if TYPE_CHECKING:
    from rdfm.analysis.diff_result import LogDiff, MessageDiff
    from rdfm.errors import Remedy

_EPILOG = """Examples:
  rdfm diff monday.jelly monday.nq.gz
  rdfm diff a.trig b.trig --limit 100 --namespaces
  rdfm diff --unordered shards/ all.jelly
  rdfm diff --json a.nq b.nq | jq .difference"""

NOT_COMPARED = 2


@click.command(
    "diff",
    cls=SpecCommand,
    stages="rdfm.analysis.analysis_options:DIFF",
    sides=("read",),
    epilog=_EPILOG,
    short_help="Compare two logs message by message.",
)
@click.argument("a", metavar="A", type=click.Path(readable=False))
@click.argument("b", metavar="B", type=click.Path(readable=False))
@option(
    "--json",
    "as_json",
    group="Other options",
    is_flag=True,
    help="Print JSON lines: one object per difference, then one with the counts.",
)
@quiet_option("Print errors only. The exit status shows whether the logs differ.")
def command(a: str, b: str, as_json: bool, quiet: bool, **options: Any) -> int:
    """Compare the logs A and B message by message. Their formats may differ.

    Messages are equal if they have the same quads, in any order. Blank nodes are matched by
    structure, not by label. Patches and result rows are compared in order, and their blank nodes by
    label. Inserted and deleted messages are reported as such, and the messages after them are still
    paired.

    Lines that begin with - are from A, and lines that begin with + are from B. The exit status is 0
    if the logs are equal, 1 if they differ, and 2 if they cannot be compared.
    """
    from rdfm.analysis.analysis_options import DIFF
    from rdfm.analysis.diff import compare
    from rdfm.cli.bar import Bar
    from rdfm.cli.run import CodedError
    from rdfm.cli.stdio import create_inputs

    one, other = create_inputs((a, b))
    given_options = select_given(options)
    diff_options = {name: given_options.pop(name) for name in DIFF if name in given_options}
    decoder_options = {name.removeprefix("from_"): value for name, value in given_options.items()}
    if quiet:
        diff_options["limit"] = 0
    bar = Bar.create_if_terminal()
    printer: _JsonPrinter | _TextPrinter = _JsonPrinter() if as_json else _TextPrinter(a, b)
    try:
        result = compare(
            one,
            other,
            diff_options,
            decoder_options,
            printer.add,
            begin=None if quiet else printer.begin,
            progress=bar,
        )
    except BrokenPipeError:
        raise
    except Exception as error:  # an error does not mean that the logs differ
        raise CodedError(error, NOT_COMPARED) from error
    finally:
        if bar is not None:
            bar.close()
    if not quiet:
        printer.end(result)
    if result.undecided:
        return NOT_COMPARED
    return 0 if result.same else 1


class _JsonPrinter:
    """Prints differences as JSON, one per line."""

    def begin(self, result: LogDiff) -> None:
        """Do nothing, since the counts are printed at the end."""

    def add(self, difference: MessageDiff) -> None:
        from rdfm.cli.stdio import json_line

        click.echo(json_line(difference.to_dict()))

    def end(self, result: LogDiff) -> None:
        """Print the counts."""
        from rdfm.cli.stdio import json_line

        click.echo(json_line({"summary": result.to_dict()}))


class _TextPrinter:
    """Prints differences as text on standard output, and the counts on standard error."""

    def __init__(self, a: str, b: str) -> None:
        self._names = (_escape_text(a), _escape_text(b))
        self._kind = "messages"
        self._shown = 0
        self._begun = False

    def begin(self, result: LogDiff) -> None:
        """Store the kind of the logs, and print differences between their heads."""
        self._kind = result.kind
        if result.head:
            self._print(result.head)

    def add(self, difference: MessageDiff) -> None:
        self._shown += 1
        self._print(_difference_lines(difference, self._kind))

    def _print(self, lines: Iterable[str]) -> None:
        if not self._begun:
            self._begun = True
            click.echo("--- {}\n+++ {}".format(*self._names))
        for line in lines:
            click.echo(_escape_text(line))

    def end(self, result: LogDiff) -> None:
        """Print the counts."""
        for line in self._summary(result):
            click.echo(f"rdfm: {line}", err=True)

    def _summary(self, result: LogDiff) -> list[str]:
        from rdfm.cli.stdio import WORDS, plural

        word, record = WORDS[result.kind]
        same = plural(result.equal, word)
        a, b = self._names
        if result.same:
            records = "" if record == word else f", {plural(result.records, record)}"
            lines = [f"no differences: {same}{records} ({result.seconds:.2f} s)"]
        else:
            parts = [
                f"{result.changed:,} changed" if result.changed else "",
                f"{result.only_a:,} only in {a}" if result.only_a else "",
                f"{result.only_b:,} only in {b}" if result.only_b else "",
                f"{result.undecided:,} undecided" if result.undecided else "",
                "different variables or answers" if result.head else "",
            ]
            counts = ", ".join(part for part in parts if part)
            shown_text = (
                f" ({self._shown:,} shown)" if self._shown < result.count + result.undecided else ""
            )
            lines = [f"{counts}{shown_text}; {same} equal ({result.seconds:.2f} s)"]
        if result.undecided:
            lines.append("undecided: matching the blank nodes exceeds the limits")
        lines += [f"note: {note}" for note in result.notes]
        return lines + [f"hint: {_option_text(remedy)}" for remedy in result.remedies]


def _option_text(remedy: Remedy) -> str:
    """Return the option of a remedy in command-line syntax."""
    from rdfm.analysis.analysis_options import DIFF

    flag = f"--{DIFF[remedy.option].option}"
    return f"a larger {flag} may help" if remedy.value is None else f"{flag} {remedy.text}"


def _escape_text(text: str) -> str:
    from rdfm.cli.stdio import escape_controls

    return escape_controls(text)


def _metadata_text(key: str, value: bytes) -> str:
    """Return a metadata value: a counter as a number, other values in hexadecimal."""
    from rdfm.logs.counters import find_counter

    counter = find_counter({key: value})
    return f"0x{value.hex()}" if counter is None else str(counter)


def _difference_lines(difference: MessageDiff, kind: str) -> list[str]:
    from rdfm.cli.stdio import WORDS

    word = WORDS[kind][0]
    indexes = difference.message_index_a, difference.message_index_b
    names = ["-" if index is None else f"{word} {index}" for index in indexes]
    lines = [f"@@ {names[0]} | {names[1]} @@"]
    if difference.kind == "undecided":
        lines[0] += " undecided: matching the blank nodes exceeds the limits"
    for name, iris in difference.namespaces.items():
        lines += [
            f"{sign}PREFIX {name}: <{iri}>"
            for sign, iri in zip("-+", iris, strict=True)
            if iri is not None
        ]
    for key, values in difference.metadata.items():
        lines += [
            f"{sign}METADATA {key} {_metadata_text(key, value)}"
            for sign, value in zip("-+", values, strict=True)
            if value is not None
        ]
    lines += [f"-{line}" for line in difference.removed]
    lines += [f"+{line}" for line in difference.added]
    return lines
