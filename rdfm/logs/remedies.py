"""The remedies of reading and writing logs, and those that a conversion adds to codec errors.

In: an error of a decoder, an encoder or the regrouper. Out: the same error with more remedies.
Law: a codec names only its own options; its caller uses this module for the others.
"""

from __future__ import annotations

from collections.abc import Iterable

from rdfm import formats
from rdfm.errors import DecodeError, EncodeError, Remedy
from rdfm.formats import FormatSpec

__all__ = ["add", "named_format"]

LEFT_OUT = Remedy("stage", "on_error", "skip", "leaves out what is no log")
OVERWRITTEN = Remedy("stage", "overwrite", "true", "removes all that is in it")
NOT_COMPRESSED = Remedy("stage", "compression", "none", "writes it as it is under that name")
ANY_TERM = Remedy("stage", "any", "TERM", "selects by a term, for example")
PREFIX = Remedy("stage", "prefixes", "NAME=IRI", "gives it")
TIME = Remedy("stage", "time", "PREDICATE", "says it")
TIMES = (
    Remedy("stage", "after", "TIME", "asks for this one or a later one"),
    Remedy("stage", "before", "TIME", "asks for an earlier one"),
)
_DIVIDED = Remedy("stage", "group_by", "count=N", "divides messages")
_NOT_HELD = Remedy("stage", "on_error", "fail", "holds no message whole")
_FILES = Remedy("stage", "split_messages", "1", "writes a file for each message, in a folder")


def named_format(option: str, names: Iterable[str], text: str = "says it") -> Remedy:
    """Return the remedy for a format that was not detected: the option that names it."""
    return Remedy("stage", option, "|".join(names), text)


def add(
    error: DecodeError | EncodeError, target: FormatSpec | None = None, *, held: bool = False
) -> None:
    """Add the remedies of a conversion to an error.

    Args:
        error: The error; call this once for each.
        target: The format to write.
        held: Whether complete messages are buffered only because errors are skipped.
    """
    if error.lacks == "boundaries":
        error.remedies += (_FILES,)
    if error.lacks != "parts":
        return
    if held:
        error.remedies += (_NOT_HELD,)
    elif isinstance(error, DecodeError) and target is not None and target.continuable is not True:
        error.remedies += _in_parts(target)
    if target is None or "messages" in target.kinds:
        error.remedies += (_DIVIDED,)


def _in_parts(target: FormatSpec) -> tuple[Remedy, ...]:
    """Return the remedies that allow a target to continue a message in parts."""
    how = "goes on with a message in parts"
    if target.continuable:
        name, value = target.continuable[0]  # type: ignore[index]  # it is not True
        return (Remedy("write", name, value, how),)
    alike = (spec for spec in formats.specs() if set(spec.kinds) & set(target.kinds))
    names = [spec.name for spec in alike if spec.continuable is True]
    if not names:
        return ()
    return (named_format("to_format", names, how),)
