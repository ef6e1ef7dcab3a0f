"""Summary of a conversion."""

from __future__ import annotations

from dataclasses import dataclass, field

from rdfm.logs.notebook import html_fields, summary_line

__all__ = ["ConversionSummary"]


@dataclass(frozen=True)
class ConversionSummary:
    """Summary of a conversion.

    Attributes:
        messages: Number of messages, patches or result rows written.
        quads: Number of quads written (operations for patches, rows for results).
        bytes_in: Compressed bytes read for the output. An abandoned file counts in full.
        bytes_out: Compressed bytes written.
        seconds: Elapsed time in seconds.
        dropped: Number of items dropped because the target format cannot represent them, by name.
            `keys` is the number of JSON-LD keys that no context maps to an IRI; they are dropped
            with their values. This number covers all data read. With `take` or `skip`, that
            includes messages that are not converted.
        dropped_key: The first dropped JSON-LD key, quoted, or None.
        skipped: Number of errors skipped (`on_error="skip"`), without those in skipped lines.
        skipped_lines: Number of lines skipped (`on_error="skip-line"`).
        line_messages: Number of messages with skipped lines; the rest of these messages is kept.
        errors: Texts of the first ten skipped errors.
        abandoned: Inputs that were not read to the end after an error, because their format does
            not support resuming.
        notes: Notes about the inputs and the output, one sentence each. Only the first ten notes
            about the inputs are listed, with the number of the others.
        kind: Kind of the log: "messages", "patches" or "results".
        counters: The counters of the first and the last message, if they are nanopublications from
            a registry; None if one of them has no counter.
        uncommitted_bytes: Number of bytes at the end of the inputs that were not read, because the
            runs that appended them have not committed them.
    """

    messages: int
    quads: int
    bytes_in: int
    bytes_out: int
    seconds: float
    dropped: dict[str, int] = field(default_factory=dict)
    dropped_key: str | None = None
    skipped: int = 0
    skipped_lines: int = 0
    line_messages: int = 0
    errors: tuple[str, ...] = ()
    abandoned: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    kind: str = "messages"
    counters: tuple[int, int] | None = None
    uncommitted_bytes: int = 0

    def __repr__(self) -> str:
        """Return a string such as `<ConversionSummary: 3 messages, 2 quads>`."""
        records = {"messages": "quads", "patches": "operations"}.get(self.kind)
        return summary_line(
            "ConversionSummary",
            (),
            (
                f"{self.messages:,} {'rows' if self.kind == 'results' else self.kind}",
                f"{self.quads:,} {records}" if records else "",
                f"{self.bytes_in:,} bytes to {self.bytes_out:,} bytes",
                f"{self.skipped:,} errors skipped" if self.skipped else "",
                f"{sum(self.dropped.values()):,} items dropped"
                if any(self.dropped.values())
                else "",
            ),
        )

    def _repr_html_(self) -> str:
        """An HTML table for notebooks."""
        return html_fields("ConversionSummary", vars(self))
