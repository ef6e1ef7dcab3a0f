"""Summaries of results: one line for `repr`, and a table for notebooks.

In: names with values, or rows. Out: text, or HTML without styles of its own, so that it has the
colors of a light or a dark notebook.
Law: the size is bounded, whatever the data is. All text is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from rdfm.errors import visible

__all__ = ["MAX_ROWS", "html_fields", "html_rows", "log_line", "summary_line"]

MAX_ROWS = 20
_MAX_COLUMNS = 30
_MAX_TEXT = 200
_MAX_ITEMS = 10
_MAX_LINE = 160
_MAX_NAME = 80


def summary_line(type_name: str, sources: Iterable[str], counts: Iterable[str]) -> str:
    """Return a string such as `<Inspection of a.nq: 3 messages>`.

    Args:
        type_name: Name of the type.
        sources: Names of logs, which are shortened at their start.
        counts: Texts after the colon; empty ones are omitted.
    """
    names = " and ".join(
        name if len(name) <= _MAX_NAME else f"…{name[-_MAX_NAME:]}"
        for name in map(visible, sources)
    )
    subject = " ".join(f"{type_name} of {names}".split()) if names else type_name
    details = _shorten(", ".join(filter(None, counts)), _MAX_LINE)
    return _printable(f"<{subject}: {details}>")


def log_line(type_name: str, report: Any) -> str:
    """Return the summary of a report on a log: its format and counts.

    Args:
        type_name: Name of the type of the report.
        report: An object with `source`, `format`, `kind`, `messages`, `quads` and `error`.
    """
    is_table = report.kind == "results"
    counts = (
        report.format,
        f"{report.messages:,} {'rows' if is_table else report.kind}",
        "" if is_table else f"{report.quads:,} quads",
        "an error" if report.error else "",
    )
    return summary_line(type_name, (report.source,), counts)


def html_fields(title: str, fields: Mapping[str, Any]) -> str:
    """Return a table with a row for each field that is set."""
    rows = [
        (name.replace("_", " "), value)
        for name, value in fields.items()
        if value not in (None, "", 0, False, (), [], {})
    ]
    body = "".join(
        f"<tr><th>{_escape(name)}</th><td>{_cell(value)}</td></tr>"
        for name, value in rows[: 2 * MAX_ROWS]
    )
    return f"<table><caption>{_escape(title)}</caption><tbody>{body}</tbody></table>"


def html_rows(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], count: int | None = None
) -> str:
    """Return a table of the first rows.

    Args:
        title: Caption.
        columns: Names of the columns.
        rows: The rows.
        count: Number of rows, including those that are not in `rows`; None if it is not known.
    """
    shown = rows[:MAX_ROWS]
    head = "".join(f"<th>{_escape(name)}</th>" for name in columns[:_MAX_COLUMNS])
    body = "".join(
        "<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row[:_MAX_COLUMNS]) + "</tr>"
        for row in shown
    )
    hidden = "and more" if count is None else f"and {count - len(shown):,} more"
    more = f"<p>… {hidden}</p>" if count is None or count > len(shown) else ""
    return f"<table><caption>{_escape(title)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _cell(value: Any) -> str:
    """Return a value as HTML; a list or a dictionary as lines."""
    if isinstance(value, Mapping):
        lines = [f"{name}: {_text(each)}" for name, each in islice(value.items(), _MAX_ITEMS)]
    elif isinstance(value, (list, tuple)):
        lines = [_text(each) for each in value[:_MAX_ITEMS]]
    else:
        return _escape(_text(value))
    if len(value) > _MAX_ITEMS:
        lines.append(f"… and {len(value) - _MAX_ITEMS:,} more")
    return "<br>".join(map(_escape, lines))


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"


def _shorten(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def _printable(text: str) -> str:
    """Replace control characters, and those that change the direction of other text."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)


def _escape(text: str) -> str:
    import html  # slow to import, and only notebooks need it

    return html.escape(_printable(_shorten(visible(text), _MAX_TEXT)))
