"""The format and the dialect of a log, as announced by response headers.

In: a media type and its parameters. Out: the format, and options for its decoder.
Law: a media type that does not belong to a format, such as text/plain, announces nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from rdfm import formats
from rdfm.formats import Format

__all__ = ["NOTHING_ANNOUNCED", "AnnouncedFormat", "accept_header", "announced_format"]

# Suffix of version labels that announce messages.
_MESSAGES_SUFFIX = "-messages"


class AnnouncedFormat(NamedTuple):
    """The format and decoder options that a response announces.

    Attributes:
        format: The format; None if the media type does not identify it.
        options: Options of the decoder that the parameters of the media type imply.
    """

    format: Format | None = None
    options: Mapping[str, str] = {}


NOTHING_ANNOUNCED = AnnouncedFormat()


def announced_format(media_type: str, parameters: Mapping[str, str]) -> AnnouncedFormat:
    """Return the format and options that a media type announces.

    Args:
        media_type: The media type in lower case, without parameters.
        parameters: Its parameters: `version` is the version label, and `messages=rdfm` means that
            comments delimit messages.

    Example:
        >>> announced_format("application/trig", {"version": "1.2-messages"}).options
        {'announced': '1.2-messages'}
    """
    matching = next((spec for spec in formats.specs() if media_type in spec.media_types), None)
    if matching is None:
        return NOTHING_ANNOUNCED
    options: dict[str, str] = {}
    label = parameters.get("version", "")
    if label.endswith(_MESSAGES_SUFFIX):
        options["announced"] = label
    elif parameters.get("messages") == "rdfm":
        options["dialect"] = "comment"
    return AnnouncedFormat(formats.find(matching.name), options)


@cache
def accept_header() -> str:
    """Return an Accept header for all readable formats, the preferred ones first."""
    ranked: dict[str, float] = {}
    for spec in formats.specs():
        if "messages" not in spec.kinds:
            rank = 0.5
        else:
            rank = 1.0 if spec.carries["graphs"] and spec.carries["order"] else 0.8
        ranked.update(dict.fromkeys(spec.media_types, rank))
    types = sorted(ranked.items(), key=lambda item: -item[1])
    return ", ".join(
        [*(f"{name};q={rank:g}" if rank < 1 else name for name, rank in types), "*/*;q=0.1"]
    )
