r"""Text of logs on a terminal: in colours, and nothing in it moves the cursor.

In: bytes of text formats. Out: the same lines, for a terminal.
Cost: the last line is held until its end. Law: without the colours, and with each `\uXXXX` undone, it is the text.
"""

from __future__ import annotations

import os
import re
import sys
from typing import BinaryIO, Literal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["Screen", "wants_colours"]

Colours = Literal["auto", "always", "never"]

# What all text formats of RDF, JSON and XML have in common.
_TOKEN = re.compile(
    r"""
    (?P<comment> ^\s*\#.* )
  | (?P<key> "(?:[^"\\]|\\.)*"(?=\s*:) )
  | (?P<string> "(?:[^"\\]|\\.)*"(?:@[A-Za-z0-9-]+)? )
  | (?P<iri> <[^<>"{}|^`\\\s]*> )
  | (?P<bnode> _:[\w.-]*\w )
  | (?P<name> (?<![\w"@])[A-Za-z][\w.-]*:[\w.%:\\-]*\w | (?<![\w"@]):[\w][\w.%:-]* )
  | (?P<word> @(?:prefix|base)\b | \b(?:PREFIX|BASE|VERSION|MESSAGE|GRAPH|true|false|null|a)\b )
  | (?P<number> (?<![\w.:-])[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?\b )
    """,
    re.VERBOSE,
)
_CODES = {
    "comment": "90",
    "key": "36",
    "string": "32",
    "iri": "34",
    "bnode": "33",
    "name": "36",
    "word": "35",
    "number": "33",
}
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def wants_colours(asked: Colours) -> bool:
    """Whether standard output is to be in colours: asked for, or a terminal and not forbidden by NO_COLOR."""
    if asked != "auto":
        return asked == "always"
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout is not None and sys.stdout.isatty()


class Screen:
    """A file that shows text on another one, line by line.

    Attributes:
        name: The other file's, for errors.
    """

    def __init__(self, file: BinaryIO, *, colours: bool) -> None:
        """Take what shows it."""
        self.name = file.name
        self._file = file
        self._colours = colours
        self._rest = b""

    def write(self, data: Buffer) -> int:
        """Show the lines that are complete."""
        data = bytes(data)
        lines, newline, rest = data.rpartition(b"\n")
        if newline:
            self._show(self._rest + lines + newline)
            self._rest = rest
        else:
            self._rest += rest
        return len(data)

    def flush(self) -> None:
        """Do nothing: the end of a line may follow."""

    def end(self) -> None:
        """Show a last line that has no end."""
        rest, self._rest = self._rest, b""
        self._show(rest)

    def _show(self, data: bytes) -> None:
        text = data.decode("utf-8", "replace")
        text = _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04X}", text)
        if self._colours:
            text = "".join(_painted(line) for line in text.splitlines(keepends=True))
        rest = memoryview(text.encode())
        while rest:
            rest = rest[self._file.write(rest) :]


def _painted(line: str) -> str:
    r"""A line in colours.

    Example:
        >>> _painted("true .")
        '\x1b[35mtrue\x1b[0m .'
    """
    return _TOKEN.sub(lambda found: f"\x1b[{_CODES[found.lastgroup or '']}m{found[0]}\x1b[0m", line)
