r"""Log text on a terminal, with colours and escaped control characters.

In: bytes of text formats. Out: the same lines, for a terminal.
Cost: with colours, an incomplete last line is buffered.
Law: without the colours, and with each `\uXXXX` unescaped, the output is the input.
"""

from __future__ import annotations

import codecs
import os
import re
import sys
from typing import BinaryIO, Literal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["Screen", "escape_text", "wants_colours"]

Colours = Literal["auto", "always", "never"]

# Tokens of the RDF text formats, JSON and XML.
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
# Control characters, and characters that change the direction of text.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def wants_colours(choice: Colours) -> bool:
    """Whether to print colours.

    With "auto", true if standard output is a terminal, `NO_COLOR` is not set and `TERM` is not
    "dumb".
    """
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout is not None and sys.stdout.isatty()


def escape_text(text: str) -> str:
    r"""Return text in which control and bidirectional characters are escaped.

    Example:
        >>> escape_text("a\x1b[2J\u202eb")
        'a\\u001B[2J\\u202Eb'
    """
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04X}", text)


class Screen:
    """A file that writes text to a terminal, with colours line by line.

    Attributes:
        name: Name of the terminal's file, for errors.
    """

    def __init__(self, file: BinaryIO, *, colours: bool) -> None:
        self.name = file.name
        self._file = file
        self._colours = colours
        self._rest = b""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def write(self, data: Buffer) -> int:
        """Write the text; with colours the complete lines, and buffer the rest."""
        data = bytes(data)
        if not self._colours:
            self._show(data)
            return len(data)
        lines, newline, rest = data.rpartition(b"\n")
        if newline:
            self._show(self._rest + lines + newline)
            self._rest = rest
        else:
            self._rest += rest
        return len(data)

    def flush(self) -> None:
        """Do nothing, since the buffered line may continue."""

    def end(self) -> None:
        """Write the last line if it has no line break."""
        rest, self._rest = self._rest, b""
        self._show(rest)

    def _show(self, data: bytes) -> None:
        text = escape_text(self._decoder.decode(data))
        if self._colours:
            text = "".join(_paint(line) for line in text.splitlines(keepends=True))
        rest = memoryview(text.encode())
        while rest:
            rest = rest[self._file.write(rest) :]


def _paint(line: str) -> str:
    r"""Return a line with colours.

    Example:
        >>> _paint("true .")
        '\x1b[35mtrue\x1b[0m .'
    """
    return _TOKEN.sub(lambda match: f"\x1b[{_CODES[match.lastgroup or '']}m{match[0]}\x1b[0m", line)
