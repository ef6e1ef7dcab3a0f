"""The format and the dialect of a log, as announced by response headers.

In: a media type and its parameters. Out: the format, and options for its decoder.
Law: a media type that does not belong to a format, such as text/plain, announces nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import urljoin

from rdfm import formats
from rdfm.errors import UnsupportedError
from rdfm.formats import Format
from rdfm.storage.event_source import EVENT_STREAM

__all__ = [
    "NOTHING_ANNOUNCED",
    "AnnouncedFormat",
    "accept_header",
    "announced_format",
    "announced_json",
    "context_options",
]

# Suffix of version labels that announce messages.
_MESSAGES_SUFFIX = "-messages"
_NEWEST_LABEL = "1.2-messages"
# A link with the relation `http://www.w3.org/ns/json-ld#context`.
_CONTEXT_LINK = re.compile(
    r"""<([^<>]*)>(?=[^<>]*?;\s*rel\s*=\s*"?http://www\.w3\.org/ns/json-ld#context(?:["\s;,]|$))""",
    re.IGNORECASE,
)


class AnnouncedFormat(NamedTuple):
    """The format and decoder options that a response announces.

    Attributes:
        format: The format; None if the media type does not identify it.
        options: Options of the decoder that the parameters of the media type imply.
    """

    format: Format | None = None
    options: Mapping[str, Any] = {}


NOTHING_ANNOUNCED = AnnouncedFormat()


def context_options(link: str, url: str) -> dict[str, Any]:
    """Return the option for the JSON-LD context that a header `Link` names; empty if there is none.

    The context is loaded with the same permission as other remote contexts.

    Args:
        link: The header.
        url: The URL of the response, which relative URLs are relative to.

    Raises:
        UnsupportedError: If there are several contexts.
    """
    found = _CONTEXT_LINK.findall(link)
    if len(found) > 1:
        raise UnsupportedError("the header Link has several JSON-LD contexts")
    return {"expand_context": {"@context": urljoin(url, found[0])}} if found else {}


def announced_json(media_type: str, link: str, url: str) -> AnnouncedFormat | None:
    """Return the format of JSON with a context in the header `Link` (JSON-LD 1.1, section 6.1).

    None for other responses. In JSON-LD, the header is ignored.

    Raises:
        UnsupportedError: If there are several contexts.
    """
    is_json = media_type == "application/json" or media_type.endswith("+json")
    if not is_json or media_type == "application/ld+json":
        return None
    options = context_options(link, url)
    return AnnouncedFormat(formats.find("jsonld"), options) if options else None


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
        if "version_label" in spec.options("write"):
            ranked[f"{spec.media_types[0]};version={_NEWEST_LABEL}"] = rank
        ranked.update(dict.fromkeys(spec.media_types, rank))
    types = sorted(ranked.items(), key=lambda item: -item[1])
    return ", ".join(
        [
            *(f"{name};q={rank:g}" if rank < 1 else name for name, rank in types),
            f"{EVENT_STREAM};q=0.2",
            "*/*;q=0.1",
        ]
    )
