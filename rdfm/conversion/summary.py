"""What a conversion did."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Summary"]


@dataclass(frozen=True)
class Summary:
    """What a conversion did.

    Attributes:
        messages: Messages written: patches, rows of results.
        quads: Quads written; of patches operations, of results rows.
        bytes_in: Bytes read for what was written (compressed); a file that was given up counts whole.
        bytes_out: Bytes written (compressed).
        seconds: Time taken.
        dropped: What the target could not hold and was left out, by name and count; under `keys`, those
            of JSON-LD that no context maps to an IRI, which are dropped with their values, in all
            that was read: with `take` or `skip` also beside the messages that were converted.
        dropped_key: The first of these keys, quoted; None where there is none.
        skipped: Errors skipped (`on_error="skip"`).
        errors: The texts of the first ten of them.
        abandoned: Inputs whose rest was given up, since their format cannot resume.
        notes: What whoever reads the inputs or the output should know, a sentence each: ten about the
            inputs, and the number of the others.
        kind: What the messages are: "messages", "patches" or "results".
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
