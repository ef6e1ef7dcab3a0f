"""Summary of a conversion."""

from __future__ import annotations

from dataclasses import dataclass, field

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
            `comments` is the number of comments in Turtle and TriG, and `keys` is the number of
            JSON-LD keys that no context maps to an IRI; they are dropped with their values. These
            numbers cover all data read. With `take` or `skip`, that includes messages that are not
            converted.
        dropped_key: The first dropped JSON-LD key, quoted, or None.
        skipped: Number of errors skipped (`on_error="skip"`).
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
        changed: With `check` and `in_place`, whether the output differs from the input.
    """

    messages: int
    quads: int
    bytes_in: int
    bytes_out: int
    seconds: float
    dropped: dict[str, int] = field(default_factory=dict)
    dropped_key: str | None = None
    skipped: int = 0
    errors: tuple[str, ...] = ()
    abandoned: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    kind: str = "messages"
    counters: tuple[int, int] | None = None
    uncommitted_bytes: int = 0
    changed: bool = False
