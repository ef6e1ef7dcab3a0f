"""Logs as documents: the bytes of a response, and the tag that identifies them.

In: a snapshot of a log, the form that a client prefers, and the selected messages. Out: pieces of
bytes: the stored ones if they have that form, otherwise messages that are decoded and encoded.
Cost: a piece, a decoder, an encoder and a compressor.
Law: equal tags mean equal bytes. A document whose end is missing is not complete: its error is
raised after the bytes of the messages before it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from rdfm._core import __version__
from rdfm.errors import EncodeError, OptionError, RdfmError
from rdfm.live.offers import Offer
from rdfm.live.snapshot import Snapshot, Tag
from rdfm.logs.input.driver import NO_LOG, ReadBatch
from rdfm.logs.stages.selection import parse_messages, select_slice, to_slice
from rdfm.logs.stages.stage import Stages
from rdfm.storage.compression import compressor

__all__ = ["CODINGS", "Document", "Parameters", "parse_number", "parse_range", "parse_tag"]

# Content codings, the preferred one first. The levels are fast ones.
CODINGS = {"zstd": "zstd:3", "gzip": "gzip:1"}
_GROUP_BYTES = 64 << 10
_MAX_NUMBER = 1 << 62
_TAG = re.compile(r'"([0-9a-f-]+)\.([0-9a-f]{16})\.(identity|gzip|zstd)"')
_RANGE = re.compile(r"bytes=(?:([0-9]{1,18})-([0-9]{0,18})|-([0-9]{1,18}))")


class Parameters(NamedTuple):
    """The parameters of a request.

    Attributes:
        selector: The selected messages, as a number or a slice; None for all.
        format: The name of the format; None if `Accept` determines it.
    """

    selector: int | slice | None = None
    format: str | None = None

    @classmethod
    def parse(cls, query: Mapping[str, str]) -> Parameters:
        """Return the parameters of a query.

        Raises:
            OptionError: If a parameter is unknown or invalid.
        """
        for name in query:
            if name not in ("from", "limit", "messages", "format"):
                raise OptionError(
                    f"the parameter {name[:40]!r} is unknown; expected from, limit, messages or format"
                )
        selector: int | slice | None = None
        if "messages" in query:
            if "from" in query or "limit" in query:
                raise OptionError("messages cannot be combined with from and limit")
            selector = parse_messages(query["messages"])
        elif "from" in query or "limit" in query:
            start = parse_number("from", query.get("from", "0"))
            limit = query.get("limit")
            selector = slice(start, None if limit is None else start + parse_number("limit", limit))
        return cls(selector, query.get("format"))


def parse_number(name: str, text: str) -> int:
    """Return the number in a parameter.

    Raises:
        OptionError: If it is not a number of messages.
    """
    if not re.fullmatch("[0-9]{1,18}", text):
        raise OptionError(f"{name} must be a number of messages, not {text[:40]!r}")
    return int(text)


@dataclass(frozen=True)
class Document:
    """A document.

    Attributes:
        snapshot: The log.
        header: Declarations at the start of the log.
        offer: The form of the document.
        selector: The selected messages; None for all.
        base: The URL of the log, the base of its relative IRIs.
    """

    snapshot: Snapshot
    header: Mapping[str, Any]
    offer: Offer
    selector: int | slice | None
    base: str

    @property
    def is_stored(self) -> bool:
        """Whether the stored bytes, decompressed, are the document."""
        return self.selector is None and self.offer.has_stored_form(
            self.snapshot.format, self.header
        )

    @property
    def stored_coding(self) -> str | None:
        """The coding with which the stored bytes are sent unchanged, or None."""
        if not self.is_stored:
            return None
        compression = self.snapshot.compression or "identity"
        return compression if compression in (*CODINGS, "identity") else None

    def tag(self, coding: str) -> str:
        """Return the strong entity tag of the document with a coding."""
        kind = (
            "stored"
            if coding == self.stored_coding
            else (__version__, self.offer.content_type, self.selector, self.base)
        )
        digest = hashlib.sha256(repr(kind).encode()).hexdigest()[:16]
        return f'"{self.snapshot.tag}.{digest}.{coding}"'

    def pieces(self, coding: str) -> Iterator[bytes]:
        """Yield the bytes of the document with a coding.

        Raises:
            DecodeError, ReplacedError: As in `Snapshot.decode`.
            EncodeError: If a message cannot be written in this form.
            OptionError: If the selected message does not exist.
        """
        if coding == self.stored_coding:
            return self.snapshot.pieces()
        pieces = self.snapshot.decompressed() if self.is_stored else self._encoded()
        return pieces if coding == "identity" else _compress(pieces, CODINGS[coding])

    def _encoded(self) -> Iterator[bytes]:
        """Yield the encoded messages."""
        offer, snapshot = self.offer, self.snapshot
        selector = self._positive_selector()
        stages = Stages(() if selector is None else (select_slice(selector),))
        first = 0 if selector is None else to_slice(selector).start or 0
        decoded = snapshot.decode(
            first,
            {"base": self.base},
            parts=offer.format.spec.accepts_parts(offer.options) and not offer.single,
        )
        encoder: Any = None
        count = 0
        waiting: list[bytes] = []
        begun = False
        try:
            for batch, header in decoded:
                self._check_version(header)
                if encoder is None:
                    if selector is not None and batch.first_message_index:
                        first_stage = select_slice(selector, first=batch.first_message_index)
                        stages = Stages((first_stage,))
                    encoder = offer.format.encoder(offer.options, self._describe_source(header))
                for item in stages.process(ReadBatch(NO_LOG, batch, header, 0)):
                    if not isinstance(item, ReadBatch) or item.batch is None:
                        continue
                    count += len(item.batch) - item.batch.continued
                    if offer.single and count > 1:
                        raise self._several_messages_error()
                    waiting.append(bytes(encoder.encode(item.batch)))
                if sum(map(len, waiting)) >= _GROUP_BYTES:
                    yield b"".join(waiting)
                    waiting, begun = [], True
                if stages.done:
                    break
            for _ in stages.finish():  # raises an error if the selected message does not exist
                pass
        except RdfmError as error:
            if begun:  # otherwise, the status reports the error
                completed = error.completed if isinstance(error, EncodeError) else b""
                yield b"".join((*waiting, completed))
            raise
        if encoder is None:
            encoder = offer.format.encoder(offer.options, self._describe_source(self.header))
        yield b"".join((*waiting, bytes(encoder.finish())))

    def _several_messages_error(self) -> EncodeError:
        return EncodeError(
            f"{self.offer.media_type} is one message, but the log has more; select one with the "
            "parameter messages",
            format=self.offer.format.name,
        )

    def _positive_selector(self) -> int | slice | None:
        """Return the selected messages, counted from the start.

        The log is read once more to count its messages. Otherwise, the messages before its end
        would have to be kept in memory.
        """
        if self.selector is None:
            return None
        bounds = to_slice(self.selector)
        numbers = (bounds.start or 0, bounds.stop or 0)
        if min(numbers) >= 0:
            return self.selector
        count = self.snapshot.count()
        if isinstance(self.selector, int):
            if self.selector < -count:
                raise OptionError(f"there is no message {self.selector}")
            return count + self.selector
        return slice(*bounds.indices(count))

    def _describe_source(self, header: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "carries": dict(self.snapshot.format.spec.carries),
            "dialect": None,
            "options": header.get("options", {}),
        }

    def _check_version(self, header: Mapping[str, Any]) -> None:
        """Reject content that the version of the media type does not have."""
        if self.offer.version is None:
            return
        if any(warning[0] == "beyond-version" for warning in header.get("warnings", ())):
            raise EncodeError(
                f"the log has triple terms or base directions, which version {self.offer.version} "
                "does not have",
                format=self.offer.format.name,
            )


def _compress(pieces: Iterator[bytes], compression: str) -> Iterator[bytes]:
    stream = compressor(compression)
    for piece in pieces:
        if data := stream.compress(piece):
            yield data
    yield stream.flush()


def parse_tag(text: str) -> tuple[Tag, str] | None:
    """Return the tag of the snapshot and the coding in an entity tag of a document, or None."""
    match = _TAG.fullmatch(text)
    tag = None if match is None else Tag.parse(match[1])
    return None if match is None or tag is None else (tag, match[3])


def parse_range(text: str, length: int) -> tuple[int, int] | None:
    """Return the start and the end of a range of bytes; None if the range is to be ignored.

    Args:
        text: The header `Range`. Only a single range is supported.
        length: The number of bytes of the document.

    Returns:
        The range. It is empty if it cannot be satisfied.

    Example:
        >>> parse_range("bytes=2-", 10), parse_range("bytes=-3", 10), parse_range("lines=1-2", 10)
        ((2, 10), (7, 10), None)
    """
    match = _RANGE.fullmatch(text.strip())
    if match is None:
        return None
    if match[3] is not None:
        return max(length - int(match[3]), 0), length
    start, end = int(match[1]), int(match[2]) + 1 if match[2] else length
    if match[2] and end <= start:
        return None
    return (start, min(end, length)) if start < length else (length, length)
