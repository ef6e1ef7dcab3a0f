"""Remedies for errors in reading and writing logs, including those that a conversion adds.

In: an error of a decoder, an encoder or the regrouper. Out: the same error with more remedies.
Law: a codec names only its own options; its caller adds the other options with this module.
"""

from __future__ import annotations

from collections.abc import Iterable

from rdfm import formats
from rdfm.errors import DecodeError, EncodeError, Remedy
from rdfm.formats import FormatSpec

__all__ = ["add", "format_remedy"]

SKIP_INVALID = Remedy("stage", "on_error", "skip", "skips files that are not logs")
SKIP_MESSAGES = Remedy("stage", "on_error", "skip", "skips complete messages")
OVERWRITE = Remedy("stage", "overwrite", "true", "deletes everything in that folder")
UNCOMPRESSED = Remedy("stage", "compression", "none", "writes uncompressed data to that file")
ANY_TERM = Remedy("stage", "any", "TERM", "selects messages that contain a term, for example")
QUADS = Remedy("stage", "quads", "true", "selects quads, each on its own")
PREFIX = Remedy("stage", "prefixes", "NAME=IRI", "declares it")
TIME = Remedy("stage", "time", "PREDICATE", "specifies the property")
TIMES = (
    Remedy("stage", "after", "TIME", "selects messages at or after TIME"),
    Remedy("stage", "before", "TIME", "selects messages before TIME"),
)
_SPLIT_MESSAGES = Remedy("stage", "group_by", "count=N", "splits messages")
_UNBUFFERED = Remedy("stage", "on_error", "fail", "avoids buffering complete messages")
_SKIP_LINES = Remedy("stage", "on_error", "skip-line", "skips only invalid lines")
_FILES = Remedy("stage", "split_messages", "1", "writes each message to its own file in a folder")


def format_remedy(option: str, names: Iterable[str], text: str = "specifies it") -> Remedy:
    """Return the remedy for an undetected format: the option that specifies it."""
    return Remedy("stage", option, "|".join(names), text)


def add(
    error: DecodeError | EncodeError,
    target: FormatSpec | None = None,
    *,
    buffers_messages: bool = False,
) -> None:
    """Add the remedies of a conversion to an error.

    Args:
        error: The error. Call this function once per error.
        target: The format to write.
        buffers_messages: Whether complete messages are buffered only because errors are skipped.
    """
    if error.missing_feature == "boundaries":
        error.remedies += (_FILES,)
    if error.missing_feature != "parts":
        return
    if buffers_messages:
        skips_lines = error.format is not None and formats.find(error.format).spec.skips_lines
        error.remedies += (_SKIP_LINES, _UNBUFFERED) if skips_lines else (_UNBUFFERED,)
    elif isinstance(error, DecodeError) and target is not None and target.continuable is not True:
        error.remedies += _parts_remedies(target)
    if target is None or "messages" in target.kinds:
        error.remedies += (_SPLIT_MESSAGES,)


def _parts_remedies(target: FormatSpec) -> tuple[Remedy, ...]:
    """Return the remedies that allow a target format to write a message in parts."""
    effect = "allows messages in parts"
    if target.continuable:
        name, value = target.continuable[0]  # type: ignore[index]  # it is not True
        return (Remedy("write", name, value, effect),)
    same_kind = (spec for spec in formats.specs() if set(spec.kinds) & set(target.kinds))
    names = [spec.name for spec in same_kind if spec.continuable is True]
    if not names:
        return ()
    return (format_remedy("to", names, effect),)
