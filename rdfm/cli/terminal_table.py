"""Rows as a table on a terminal.

In: rows of terms and strings. Out: lines with aligned columns that fit the width of the terminal.
Cost: the first rows are buffered until the widths of the columns are known.
Law: cells cannot move the cursor.
"""

from __future__ import annotations

import shutil
import time
import unicodedata
from collections.abc import Iterable, Sequence

import click

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rdfm._core import Term

__all__ = ["TerminalTable", "widths"]

# Number of rows that determine the column widths, and the maximum wait for them.
_SAMPLE_ROWS = 1000
_MAX_WAIT_SECONDS = 1.0
_GAP = "  "
_MIN_WIDTH = 8


class TerminalTable:
    """Prints rows as a table.

    Attributes:
        count: Number of rows so far.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.count = 0
        self._names = list(names)
        self._buffered: list[list[str]] = []
        self._widths: list[int] | None = None
        self._begun = time.monotonic()

    def add(self, rows: Iterable[Iterable[Term | str | None]]) -> None:
        """Print rows, or buffer them until the column widths are known."""
        from rdfm.cli.stdio import escape_controls

        for row in rows:
            self.count += 1
            cells = [escape_controls("" if cell is None else str(cell)) for cell in row]
            if self._widths is None:
                self._buffered.append(cells)
                if len(self._buffered) >= _SAMPLE_ROWS:
                    self._begin()
            else:
                self._print(cells)
        if self._widths is None and time.monotonic() - self._begun > _MAX_WAIT_SECONDS:
            self._begin()

    def end(self) -> None:
        """Print the buffered rows."""
        if self._widths is None:
            self._begin()

    def _begin(self) -> None:
        buffered, self._buffered = self._buffered, []
        columns = shutil.get_terminal_size().columns
        self._widths = widths([self._names, *buffered], columns)
        self._print(self._names)
        for cells in buffered:
            self._print(cells)

    def _print(self, cells: list[str]) -> None:
        assert self._widths is not None
        padded = [_fit(cell, width) for cell, width in zip(cells, self._widths, strict=True)]
        click.echo(_GAP.join(padded).rstrip())


def widths(rows: Sequence[Sequence[str]], room: int) -> list[int]:
    """Return the widths of columns. If they do not fit, the widest columns are narrowed.

    Example:
        >>> widths([["s", "name"], ["<http://example.org/a>", "one"]], 20)
        [14, 4]
    """
    column_widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    room -= len(_GAP) * (len(column_widths) - 1)
    while sum(column_widths) > room and max(column_widths) > _MIN_WIDTH:
        widest = max(column_widths)
        others = max([width for width in column_widths if width < widest] + [_MIN_WIDTH])
        count = column_widths.count(widest)
        reduction = min(-(-(sum(column_widths) - room) // count), widest - others)
        column_widths = [width - reduction if width == widest else width for width in column_widths]
    return column_widths


def _width(text: str) -> int:
    """Return the number of terminal columns that a string takes up."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def _fit(text: str, width: int) -> str:
    """Pad or truncate a string to the width of its column.

    Long strings are truncated at the end, IRIs at the start, because their
    beginnings are less informative.

    Example:
        >>> _fit("<http://example.org/crane>", 9), _fit('"a pair, calling"', 8), _fit("a", 3)
        ('<…/crane>', '"a pair…', 'a  ')
    """
    size = _width(text)
    if size <= width:
        return text + " " * (width - size)
    if text.startswith("<") and text.endswith(">"):
        suffix = _longest_suffix(text[1:], width - 2)
        return f"<…{suffix}" + " " * (width - 2 - _width(suffix))
    suffix = _longest_suffix(text[::-1], width - 1)[::-1]
    return f"{suffix}…" + " " * (width - 1 - _width(suffix))


def _longest_suffix(text: str, width: int) -> str:
    """Return the longest suffix of a string that fits into `width`."""
    suffix = text[-width:] if width > 0 else ""
    while _width(suffix) > width:
        suffix = suffix[1:]
    return suffix
