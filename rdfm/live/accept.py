"""The headers `Accept` and `Accept-Encoding`.

In: the values of the headers. Out: media ranges and the quality of content codings (RFC 9110,
section 12.5).
Cost: linear; headers with more than `MAX_RANGES` ranges are cut.
Law: what cannot be parsed is ignored, as if it were absent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

__all__ = ["MediaRange", "choose_coding", "parse_accept"]

MAX_RANGES = 100
_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_ELEMENT = re.compile(r'(?:[^",]|"(?:[^"\\]|\\.)*")+')
_RANGE = re.compile(rf"({_TOKEN})/({_TOKEN})")
_PARAMETER = re.compile(rf';[\t ]*({_TOKEN})[\t ]*=[\t ]*(?:"((?:[^"\\]|\\.)*)"|({_TOKEN}))')
_QUALITY = re.compile(r"(?:0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)")


class MediaRange(NamedTuple):
    """A media range that a client accepts.

    Attributes:
        type: The type in lower case, or "*".
        subtype: The subtype in lower case, or "*".
        parameters: The parameters, with names in lower case.
        quality: The preference of the client, from 0 (not acceptable) to 1.
    """

    type: str
    subtype: str
    parameters: Mapping[str, str]
    quality: float

    def match(self, media_type: str) -> int:
        """Return how specific the range is for a media type: 1 to 3; 0 if it does not match."""
        if self.type == "*":
            return 1
        type_, _, subtype = media_type.partition("/")
        if self.type != type_:
            return 0
        return 2 if self.subtype == "*" else 3 * (self.subtype == subtype)


def parse_accept(text: str | None) -> list[MediaRange]:
    """Return the media ranges of a header; any type if there is none.

    Example:
        >>> parse_accept("text/turtle;q=0.5")[0].quality
        0.5
    """
    ranges = []
    for element in _ELEMENT.findall(text or "")[:MAX_RANGES]:
        kind, parameters = _RANGE.match(element.strip()), {}
        quality = 1.0
        if kind is None:
            continue
        for match in _PARAMETER.finditer(element):
            name = match[1].lower()
            value = match[3] if match[2] is None else re.sub(r"\\(.)", r"\1", match[2])
            if name == "q":
                quality = float(value) if _QUALITY.fullmatch(value) else 0.0
                break  # extensions follow
            parameters[name] = value
        ranges.append(MediaRange(kind[1].lower(), kind[2].lower(), parameters, quality))
    return ranges or [MediaRange("*", "*", {}, 1.0)]


def choose_coding(text: str | None, available: tuple[str, ...]) -> str | None:
    """Return the content coding for a response.

    Args:
        text: The header `Accept-Encoding`; None if there is none.
        available: The codings that the server has, the preferred one first; "identity" means none.

    Returns:
        One of `available`; None if the client accepts none of them.

    Example:
        >>> choose_coding("gzip;q=0.5, zstd", ("zstd", "gzip", "identity"))
        'zstd'
    """
    if text is None:
        return "identity" if "identity" in available else None
    qualities: dict[str, float] = {}
    for element in text.split(",")[:MAX_RANGES]:
        name, _, parameter = element.partition(";")
        match = re.fullmatch(rf"[\t ]*q=({_QUALITY.pattern})[\t ]*", parameter, re.IGNORECASE)
        if name := name.strip().lower():
            name = "gzip" if name == "x-gzip" else name
            qualities[name] = 1.0 if match is None else float(match[1])
    for name in available:
        # Without a preference, "identity" is acceptable, but any named coding is preferred.
        default = 1e-4 if name == "identity" and "*" not in qualities else 0.0
        qualities.setdefault(name, qualities.get("*", default))
    chosen = max(available, key=lambda name: qualities[name])
    return chosen if qualities[chosen] > 0 else None
