"""Reports about a conversion and its dropped data on standard error."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from rdfm.cli.stdio import (
    WORDS,
    dropped_text,
    escape_controls,
    message_counts_text,
    plural,
    plural_noun,
    size_text,
)

__all__ = [
    "print_dropped",
    "print_notes",
    "print_skipped",
    "print_summary",
    "skipped_lines_text",
]


def print_skipped(summary: Any) -> None:
    """Print the skipped errors and the abandoned inputs."""
    for error in summary.errors:
        click.echo(f"rdfm: skipped: {escape_controls(error)}", err=True)
    if (more := summary.skipped + summary.skipped_lines - len(summary.errors)) > 0:
        # Skipped errors without text are about ill-typed values.
        what = (
            f"and {more:,} more" if summary.errors else f"{plural(more, 'value')}, replaced by null"
        )
        click.echo(f"rdfm: skipped: {what}", err=True)
    for name in summary.abandoned:
        click.echo(
            f"rdfm: skipped: the rest of {escape_controls(name)}, "
            "because its format does not support resuming",
            err=True,
        )


def skipped_lines_text(counts: Any) -> str:
    """Return text such as `3 lines skipped in 2 messages`, for a summary or a `Tally`."""
    where = f" in {plural(counts.line_messages, 'message')}" if counts.line_messages else ""
    return f"{plural(counts.skipped_lines, 'line')} skipped{where}"


def print_notes(notes: Iterable[str]) -> None:
    """Print notes, which are not errors."""
    for note in notes:
        click.echo(f"rdfm: note: {escape_controls(note)}", err=True)


def print_dropped(summary: Any) -> None:
    """Print the counts of data that the output cannot represent."""
    if summary.dropped:
        dropped = dropped_text(summary.dropped)
        if summary.dropped_key is not None:
            dropped += f" without an IRI, such as {escape_controls(summary.dropped_key)}"
        if summary.counters is not None and "metadata" in summary.dropped:
            first, last = summary.counters
            dropped += f" (counter {first})" if first == last else f" (counters {first} to {last})"
        click.echo(f"rdfm: dropped: {dropped}", err=True)


def print_summary(summary: Any, quiet: bool) -> None:
    """Print a summary, including dropped data and notes, on standard error."""
    print_skipped(summary)
    if quiet:
        return
    speed = ""
    if summary.seconds >= 0.5 and summary.quads >= 10_000:
        record = plural_noun(WORDS[summary.kind][1])
        speed = f" ({summary.quads / summary.seconds / 1e6:.2f} M {record}/s)"
    line = (
        f"{message_counts_text(summary.kind, summary.messages, summary.quads)}: "
        f"{size_text(summary.bytes_in)} read, {size_text(summary.bytes_out)} written in {summary.seconds:.2f} s{speed}"
    )
    if summary.skipped:
        line += f", {plural(summary.skipped, 'error')} skipped"
    if summary.skipped_lines:
        line += f", {skipped_lines_text(summary)}"
    click.echo(f"rdfm: {line}", err=True)
    print_dropped(summary)
    print_notes(summary.notes)
