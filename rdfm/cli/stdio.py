"""Standard input and output as bytes, and human-readable numbers."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable
from typing import Any, BinaryIO, cast

from rdfm.errors import visible
from rdfm.logs.kinds import MESSAGE_WORDS

STANDARD_OUTPUT = "standard output"
# The nouns for a message and a record, by kind of log. In results, both are rows.
WORDS = {
    kind: (MESSAGE_WORDS[kind], record)
    for kind, record in (("messages", "quad"), ("patches", "operation"), ("results", "row"))
}
# Singular nouns of dropped data that differ from the name without its final s.
_DROPPED = {
    "boundaries": "boundary",
    "metadata": "metadata entry",
    "keys": "JSON-LD key",
    "deletions of prefixes": "deletion of a prefix",
}


def standard_input() -> BinaryIO:
    """Return standard input, unbuffered: a read returns the available bytes."""
    return _standard_stream(0, "rb", "standard input")


def create_inputs(names: Iterable[str]) -> list[Any]:
    """Return the inputs with these names; `-` is standard input.

    Raises:
        UsageError: If standard input, or another pipe, is named twice.
    """
    import click

    from rdfm.storage.pipes import pipe_identity

    used_names = set()
    for name in names:
        identity = pipe_identity("/dev/stdin") or name if name == "-" else pipe_identity(name)
        if identity is not None and identity in used_names:
            shown_name = "standard input (-)" if name == "-" else name
            raise click.UsageError(f"{shown_name} can be read only once")
        used_names.add(identity)
    return [standard_input() if name == "-" else name for name in names]


def standard_output(*, colours: bool = False) -> BinaryIO:
    """Return standard output, unbuffered, after flushing printed text.

    On a terminal, or with colours, it is a `Screen`, which escapes control characters.
    """
    if sys.stdout is not None:
        sys.stdout.flush()
    file = _standard_stream(1, "wb", STANDARD_OUTPUT)
    if not (colours or is_terminal(sys.stdout)):
        return file
    from rdfm.cli.screen import Screen  # most outputs are redirected

    return cast("BinaryIO", Screen(file, colours=colours))


def print_text(text: str) -> None:
    """Print text that ends with a line break. On a terminal, control characters are escaped."""
    import click

    if is_terminal(sys.stdout):
        from rdfm.cli.screen import escape_text

        text = escape_text(text)
    click.echo(text, nl=False)


def _standard_stream(number: int, mode: str, name: str) -> BinaryIO:
    """Return a standard stream as an unbuffered file, with a name for errors."""
    try:
        file = io.FileIO(number, mode, closefd=False)
    except OSError as error:
        error.filename = name
        raise
    file.name = name
    return cast("BinaryIO", file)


def is_terminal(stream: Any) -> bool:
    """Whether a standard stream is a terminal. A closed stream is None."""
    return stream is not None and bool(stream.isatty())


def add_stdout_defaults(options: dict[str, Any]) -> dict[str, Any]:
    """Add the defaults for standard output that differ from those for files."""
    from rdfm import formats

    writes = formats.find(options["to"]).spec.options("write")
    printed = {
        f"to_{name}": option.printed
        for name, option in writes.items()
        if option.printed is not None and name not in options
    }
    return {**printed, **options}


def reject_terminal(options: dict[str, Any]) -> None:
    """Reject binary output to a terminal.

    Raises:
        UsageError: If standard output is a terminal, and the format is binary or compressed.
    """
    import click

    from rdfm import formats

    reason = None
    if formats.find(options["to"]).spec.binary:
        reason = f"{options['to']} is binary"
    elif options.get("compression", "none") != "none":
        reason = "compressed output is binary"
    if reason is not None and is_terminal(sys.stdout):
        raise click.UsageError(
            f"{reason}, but standard output is a terminal; write to a file or a pipe"
        )


def size_text(count: float) -> str:
    """Format a number of bytes, such as `1.2 MB` (powers of 1000).

    Example:
        >>> size_text(1234567)
        '1.2 MB'
    """
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    raise AssertionError


def plural(count: int, noun: str) -> str:
    """Return a count with its noun, such as `1 message` or `2,000 quads`.

    Example:
        >>> plural(1, "entry"), plural(3, "entry")
        ('1 entry', '3 entries')
    """
    return f"{count:,} {noun if count == 1 else plural_noun(noun)}"


def plural_noun(noun: str) -> str:
    """Return the plural of a noun.

    Example:
        >>> plural_noun("quad"), plural_noun("patch"), plural_noun("boundary")
        ('quads', 'patches', 'boundaries')
    """
    if noun.endswith(("ary", "try")):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith("ch") else f"{noun}s"


def message_counts_text(kind: str, messages: int, records: int) -> str:
    """Return the numbers of messages and records, with the nouns of their kind.

    Example:
        >>> message_counts_text("messages", 1, 2000), message_counts_text("patches", 2, 1), message_counts_text("results", 3, 3)
        ('1 message, 2,000 quads', '2 patches, 1 operation', '3 rows')
    """
    message, record = WORDS[kind]
    return plural(messages, message) + ("" if record == message else f", {plural(records, record)}")


def dropped_text(dropped: dict[str, int]) -> str:
    """Format the counts of dropped data, such as `2 graph names, 1 boundary`.

    Example:
        >>> dropped_text({"graph_names": 2, "boundaries": 1})
        '2 graph names, 1 boundary'
    """
    return ", ".join(
        plural(count, _DROPPED.get(name, name.removesuffix("s").replace("_", " ")))
        for name, count in dropped.items()
    )


def escape_controls(text: str) -> str:
    """Return a string with escaped control characters, so that it cannot move the cursor."""
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in visible(text))


def json_line(value: Any) -> str:
    r"""Return JSON with escaped control characters, so that it cannot move the cursor.

    Example:
        >>> print(json_line({"é": "\x9b"}))
        {"é": "\u009b"}
    """
    import json  # costly, and only some commands print JSON

    text = json.dumps(value, ensure_ascii=False)
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)
