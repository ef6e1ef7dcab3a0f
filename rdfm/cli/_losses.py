"""What a conversion left out, on standard error."""

from __future__ import annotations

from typing import Any

import click

from rdfm.cli._io import all_dropped, safe

__all__ = ["say_dropped", "say_skipped"]


def say_skipped(summary: Any) -> None:
    """Say which errors were skipped, and what was given up."""
    for error in summary.errors:
        click.echo(f"rdfm: skipped: {safe(error)}", err=True)
    if summary.skipped > len(summary.errors):
        click.echo(f"rdfm: skipped: and {summary.skipped - len(summary.errors):,} more", err=True)
    for name in summary.abandoned:
        click.echo(
            f"rdfm: skipped: the rest of {safe(name)}, since its format cannot resume", err=True
        )


def say_dropped(summary: Any) -> None:
    """Say what the output cannot hold."""
    if summary.dropped:
        dropped = all_dropped(summary.dropped)
        if summary.dropped_key is not None:
            dropped += f" without an IRI, such as {safe(summary.dropped_key)}"
        click.echo(f"rdfm: dropped: {dropped}", err=True)
