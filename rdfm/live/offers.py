"""The forms in which a log can be sent: format, dialect and label.

In: what a client accepts, and what the log declares about itself. Out: an `Offer`: a format, its
options, and a media type.
Law: a media type never promises less than the content. Without a version in `Accept`, text has the
comment dialect, which any RDF parser reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rdfm import formats
from rdfm.errors import OptionError
from rdfm.formats import Format
from rdfm.live.accept import MediaRange

__all__ = ["Offer", "choose_offer", "offer_format", "served_formats"]

# The formats for clients that accept any type. Any RDF parser reads N-Quads.
_PREFERRED = ("nq", "trig", "jelly", "ndjsonld")
_MESSAGES = "-messages"
# Version labels, each with the versions whose content it may have.
_VERSIONS = ("1.1", "1.2-basic", "1.2")
# Media types of logs in formats whose other media types are those of one document.
_LOG_PREFIX = "application/rdfm+"


@dataclass(frozen=True)
class Offer:
    """A form of a log.

    Attributes:
        format: The format.
        media_type: The media type, without parameters.
        parameters: The parameters of the media type.
        options: Options of the encoder.
        single: Whether the media type is that of a document, which has at most one message.
        version: The version of RDF that the content must not exceed; None for any.
    """

    format: Format
    media_type: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    single: bool = False
    version: str | None = None

    @property
    def content_type(self) -> str:
        """The header `Content-Type`."""
        return "; ".join(
            (self.media_type, *(f"{name}={value}" for name, value in self.parameters.items()))
        )

    def has_stored_form(self, format: Format, header: Mapping[str, Any]) -> bool:
        """Whether the stored bytes of a log, decompressed, have this form.

        Args:
            format: The format of the log.
            header: Declarations at the start of the log.
        """
        if format.name != self.format.name or self.single or self.version is not None:
            return False
        if "dialect" not in self.options:
            return True
        dialect, label = header.get("dialect"), header.get("version_label")
        if header.get("changes_dialect") or label not in (None, "1.2", "1.2-messages"):
            return False  # a smaller version is a claim that is not verified
        if self.options["dialect"] == "directive":
            return bool(dialect == "directive")
        return dialect in (None, "comment")


def served_formats() -> list[Format]:
    """Return the formats in which logs are sent: those that are written from front to end."""
    found = [
        formats.find(spec.name)
        for spec in formats.specs()
        if "messages" in spec.kinds and spec.media_types and not spec.whole_file
    ]
    return [format for format in found if format.is_written]


def offer_format(name: str) -> Offer:
    """Return the offer for a format that a client names.

    Raises:
        OptionError: If there is no such format.
    """
    for format in served_formats():
        if name in (format.name, *format.spec.aliases):
            offer = _offer(format, _log_type(format), {}, {})
            assert offer is not None  # nothing was asked for
            return offer
    names = ", ".join(format.name for format in served_formats())
    raise OptionError(f"the format must be one of {names}, not {name[:40]!r}")


def choose_offer(
    ranges: Sequence[MediaRange], stored: Format, header: Mapping[str, Any]
) -> Offer | None:
    """Return the form that a client prefers; None if it accepts none.

    Args:
        ranges: The media ranges that the client accepts.
        stored: The format of the log.
        header: Declarations at the start of the log.
    """
    best: tuple[tuple[float, ...], Offer] | None = None
    for place, (format, media_type) in enumerate(_media_types()):
        matches = [(range.match(media_type), range) for range in ranges]
        level = max(match for match, _ in matches)
        if level == 0 or (level < 3 and media_type != _log_type(format)):
            continue
        if level < 3 and not format.spec.carries["boundaries"]:
            continue  # only for clients that name the format
        for index, (match, range) in enumerate(matches):
            if match != level or range.quality == 0:
                continue
            offer = _offer(format, media_type, range.parameters, header)
            if offer is None:
                continue
            is_stored = level == 3 and offer.has_stored_form(stored, header)
            rank = (range.quality, level, is_stored, -place, -index)
            if best is None or rank > best[0]:
                best = rank, offer
    return None if best is None else best[1]


def _media_types() -> Iterator[tuple[Format, str]]:
    """Yield the formats with their media types, the preferred ones first."""
    served = served_formats()
    served.sort(
        key=lambda format: (
            _PREFERRED.index(format.name) if format.name in _PREFERRED else len(_PREFERRED)
        )
    )
    for format in served:
        for media_type in format.spec.media_types:
            yield format, media_type


def _log_type(format: Format) -> str:
    """Return the media type of logs in a format."""
    types = format.spec.media_types
    return next((name for name in types if name.startswith(_LOG_PREFIX)), types[0])


def _offer(
    format: Format,
    media_type: str,
    parameters: Mapping[str, str],
    header: Mapping[str, Any],
) -> Offer | None:
    """Return the offer for a media type with the parameters that a client asks for, or None."""
    if "dialect" not in format.spec.options("write"):
        single = _log_type(format).startswith(_LOG_PREFIX) and media_type != _log_type(format)
        return Offer(format, media_type, single=single)
    asked = parameters.get("version", "")
    directive = asked.endswith(_MESSAGES)
    version = asked.removesuffix(_MESSAGES) or _VERSIONS[-1]
    if version not in _VERSIONS or parameters.get("messages", "rdfm") != "rdfm":
        return None
    limited = version != _VERSIONS[-1]
    if limited and not _declares(header, version):
        return None
    if directive:
        label = f"{version}{_MESSAGES}"
        options = {"dialect": "directive", "version_label": label}
        return Offer(
            format, media_type, {"version": label}, options, version=version if limited else None
        )
    return Offer(
        format,
        media_type,
        {"version": version, "messages": "rdfm"},
        {"dialect": "comment"},
        version=version if limited else None,
    )


def _declares(header: Mapping[str, Any], version: str) -> bool:
    """Whether a log declares that its content does not exceed a version."""
    declared = str(header.get("version_label") or "").removesuffix(_MESSAGES)
    return declared in _VERSIONS and _VERSIONS.index(declared) <= _VERSIONS.index(version)
